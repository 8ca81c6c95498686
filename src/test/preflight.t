# pgseries preflight, on a server of the build "base", which takes any setting with a dot.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../lib", "$FindBin::RealBin/lib";

use Base       qw(base_build);
use File::Path qw(remove_tree);
use File::Temp ();
use PgSeries::Server;
use PgSeries::Util qw(read_file run_status write_file);
use Test::More;

my $top = "$FindBin::RealBin/../..";
my ($config, $build) = base_build();
my $temp = File::Temp->newdir('pgseries-test-XXXXXX', TMPDIR => 1);
chmod 0755, "$temp" or die $!;
my ($library) = grep { -f }
  glob("$build->{inst}/lib{,/*}/postgresql/latin2_and_win1250.so");
write_file("$temp/nonesuch.so", read_file($library));
my %settings = (
	fsync => 'off',
	shared_preload_libraries => "auto_explain, $temp/nonesuch");
my $server = PgSeries::Server->new(
	$config, $build,
	name => 'preflight',
	settings => \%settings);

# Runs the command: its exit status and what it prints must be these.
sub check
{
	my ($data, $status, $pattern, $name) = @_;
	my $exit = run_status(
		[ "$top/src/bin/pgseries", 'preflight', $data ],
		env => { PATH => "$build->{bin}:$ENV{PATH}", PGUSER => 'postgres' },
		out => \my $out,
		err => \my $err);
	is($exit, $status, "$name: exit status");
	like("$out$err", $pattern, $name);
	return;
}

my $ready = 'nothing is in the way of an exchange, in either direction';
check(
	$temp, 2,
	qr/is not a data directory.*; name the directory/,
	'no data directory');
write_file("$temp/PG_VERSION", "17\n");
if (my $user = $config->user)
{
	chown $user->{uid}, $user->{gid}, "$temp" or die $!;
}
check($temp, 2, qr/is one of version 17; .* use pg_upgrade/, 'version 17');
$server->create;
check($server->data, 2, qr/no server runs on .*; start it/, 'not running');
$server->start;
check(
	$server->data,
	0,
	qr/\Alibrary nonesuch \(database postgres, database template1\): was not tried\n$ready\n\z/,
	'good');

# The server takes these, however they are spelt.
$server->stop;
$settings{'pgseries.fastpath_lock_slots'} = ' 64';
$settings{'pgseries.Enable_deferred_partition_locks'} = 't';
$server->start;
check(
	$server->data, 0,
	qr/\Alibrary nonesuch .*\n$ready\n\z/,
	'settings that look odd');
$server->stop;
$settings{'pgseries.fastpath_lock_slots'} = 100;
$server->start;
$server->sql($_)
  for 'create database "d	\'"',
  'alter role postgres set pgseries.parallel_btree_load = force',
  q{alter role postgres in database template1 set pgseries.note = E'a\nb\x1e'},
  'alter database "d	\'" set pgseries.parallel_btree_load = sometimes',
  'alter role all set PGSERIES.nonesuch = 1',
  'alter role all set pgseries.fastpath_lock_slots = 64',
  q{create function f() returns int set pgseries.enable_deferred_partition_locks = 'x' return 1};

# What the owner of a database defines is not called.
$server->sql( <<'EOT', database => 'template1');
create function same(oid, int4) returns bool language plpgsql as
  'begin raise exception ''called''; end';
create operator = (leftarg = oid, rightarg = int4, function = same);
EOT
check(
	$server->data,
	1,
	qr/\A\S*\.conf, line \d+: pgseries.fastpath_lock_slots = 100: the patched server does not start with that
all roles, database d\\x09': pgseries.parallel_btree_load = sometimes: not a value that the patched server takes
all roles: pgseries.fastpath_lock_slots = 64: this can be set for the whole server only
database postgres, function public.f\(\): pgseries.enable_deferred_partition_locks = x: not a value .*
all roles: pgseries.nonesuch = 1: there is no such setting
role postgres, database template1: pgseries.note = a\\x0ab\\x1e: there is no such setting
library nonesuch .*
correct the above before the exchange
\z/,
	'settings');
$server->stop;
remove_tree($server->data);
done_testing();
