# The form of the project's own files.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../lib";

use PgSeries::Config;
use PgSeries::Series;
use PgSeries::Util qw(find_tool read_file run_status take_lock);
use Pod::Checker   ();
use Test::More;

my $top = "$FindBin::RealBin/../..";
my @perl = sort("$top/src/bin/pgseries",
	map { glob "$top/src/$_" }
	  qw(lib/PgSeries/*.pm lib/PgSeries/*/*.pm
	  qa/PgSeries/*.pm qa/PgSeries/*/*.pm qa/test/*.t test/*.t test/lib/*.pm)
);
my @shell = ("$top/configure", "$top/.ci/run");

sub short { my ($file) = @_; return substr $file, length("$top/"); }

for my $file (@perl)
{
	like(
		read_file($file),
		qr/^use strict;\nuse warnings FATAL => 'all';$/m,
		short($file) . ': strict, and warnings are fatal');
	my $checker = Pod::Checker->new(-quiet => 1);
	open(my $sink, '>', \my $said) or die $!;
	$checker->parse_from_file($file, $sink);
	cmp_ok($checker->num_errors, '<=', 0, short($file) . ' POD')
	  or diag($said);
}
for my $file (@shell)
{
	my ($first) = read_file($file) =~ /^#!.*\b(sh|bash)$/m;
	my $status = run_status([ $first, '-n', $file ], err => \my $err);
	is($status, 0, short($file) . ": $first can parse it") or diag($err);
}

my $config = PgSeries::Config->new(top => $top);
my $series = PgSeries::Series->new($config);

# Upstream's own profiles, from its source.
take_lock($config->work . '/lock');
my $tree = $series->tree;

SKIP:
{
	my $version = '';
	run_status([ 'perltidy', '-v' ], out => \$version)
	  if find_tool('perltidy');
	skip 'perltidy is not one of the versions that give this form', 1
	  unless $version =~ /v(20220613|20230309)/;
	my $profile = "--profile=$tree/src/tools/pgindent/perltidyrc";
	for my $file (@perl)
	{
		run_status(
			[ 'perltidy', $profile, '-st', '-se', $file ],
			out => \my $out,
			err => \my $err);
		is($out eq read_file($file), 1, short($file) . ': perltidy')
		  or diag("$err\nrerun: perltidy $profile -b $file");
	}
}
SKIP:
{
	skip 'perlcritic is not installed', 1 unless find_tool('perlcritic');
	my $status = run_status(
		[
			'perlcritic', '--quiet', '--program-extensions=t',
			"--profile=$tree/src/tools/perlcheck/perlcriticrc", @perl
		],
		out => \my $out,
		err => \my $err);
	is($status, 0, 'perlcritic') or diag($out);
}

done_testing();
