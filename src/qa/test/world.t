# The configurations of pgseries check --world: how results are read and told,
# without a build.

use strict;
use warnings FATAL => 'all';

use File::Path qw(make_path);
use File::Temp ();
use FindBin;
use lib "$FindBin::RealBin/../lib";
use lib "$FindBin::RealBin/lib";

use Fixture qw(slurp spew);
use PgSeries::Test;
use PgSeries::World;
use Test::More;

# What make check-world prints.
my @results = PgSeries::Test::check_world_results(<<'EOT');
make: Entering directory '/x/build'
# +++ tap check in src/bin/initdb +++
t/001_initdb.pl .. ok
All tests successful.

Test Summary Report
-------------------
t/001_initdb.pl (Wstat: 0 Tests: 28 Failed: 0)
  TODO passed:   4-6
Files=1, Tests=28,  3 wallclock secs ( 0.01 usr  0.00 sys +  1.05 cusr  1.10 csys =  2.16 CPU)
Result: PASS
# +++ regress check in src/test/regress +++
# initializing database system by running initdb
ok 1         - test_setup                                420 ms
1..1
# All 1 tests passed.
# +++ regress check in contrib/cube +++
not ok 1     - cube                                      420 ms
1..1
# 1 of 1 tests failed.
# +++ tap check in src/test/ldap +++
t/001_auth.pl .. skipped: LDAP not supported by this build
t/002_bind.pl .. 
Dubious, test returned 29 (wstat 7424, 0x1d00)
Failed 1/3 subtests 
Test Summary Report
-------------------
t/002_bind.pl (Wstat: 7424 (exited 29) Tests: 3 Failed: 1)
Result: FAIL
EOT
is_deeply(
	[ map { "$_->{name} $_->{result}" } @results ],
	[
		'src/bin/initdb: t/001_initdb.pl ok',
		'src/test/regress: pg_regress ok',
		'contrib/cube: pg_regress fail',
		'src/test/ldap: t/001_auth.pl skip',
		'src/test/ldap: t/002_bind.pl fail',
	],
	'what make check-world prints');
is($results[2]{detail}, '# 1 of 1 tests failed.', 'a failure has its line');

# valgrind's logs: only those with an error count.
my $logs = File::Temp->newdir();
spew("$logs/1.log", '');
spew("$logs/2.log", "==2== some notice\n");
is(PgSeries::Test::valgrind_result("$logs")->{result},
	'ok', 'valgrind has found nothing');
spew("$logs/3.log",
	"==3== VALGRINDERROR-BEGIN\n==3== Invalid read of size 8\n");
my $found = PgSeries::Test::valgrind_result("$logs");
is($found->{result}, 'fail', 'valgrind has found an error');
like($found->{detail}, qr{/3\.log:\n.*Invalid read}s, 'and shows it');

# The table has the configurations that were run, in a fixed order.
my %result = (
	date => '2026-01-31',
	ok => 30,
	skip => 2,
	fail => 0,
	minutes => 7);
my $table = PgSeries::World::summary(
	{ valgrind => \%result, clang => { %result, fail => 1 } });
is(scalar(split /\n/, $table), 4, 'two configurations');
like(
	$table,
	qr/^\| clang \| .* \| 2026-01-31 \| 30 \| 2 \| 1 \| 7 \|\n\| valgrind \|/m,
	'their numbers');

# The script that starts the server under valgrind, left by an earlier run.
{
	my $dir = File::Temp->newdir('pgseries-XXXXXX', TMPDIR => 1);
	my $b = { build => "$dir", inst => '/inst' };
	my $bin = "$dir/tmp_install/inst/bin";
	make_path($bin);
	spew("$bin/postgres", 'program');
	PgSeries::Test::take_script_away($b);
	is(slurp("$bin/postgres"), 'program', 'no script: nothing happens');
	rename "$bin/postgres", "$bin/postgres.bin" or die $!;
	spew("$bin/postgres", 'script');
	PgSeries::Test::take_script_away($b);
	is(slurp("$bin/postgres"), 'program', 'the program is put back');
	ok(!-e "$bin/postgres.bin", 'and is there once');
}

done_testing();
