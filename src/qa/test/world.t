# Upstream's tests: how results are read, without a build.

use strict;
use warnings FATAL => 'all';

use File::Temp ();
use FindBin;
use lib "$FindBin::RealBin/..", "$FindBin::RealBin/../../lib";

use PgSeries::Test;
use PgSeries::Util qw(write_file);
use PgSeries::World;
use Test::More;

my $dir = File::Temp->newdir();

# What make check-world prints.
my @results = PgSeries::Test::check_world_results(<<'EOT');
# +++ tap check in src/bin/initdb +++
t/001_initdb.pl .. ok
t/001_initdb.pl (Wstat: 0 Tests: 28 Failed: 0)
  TODO passed:   4-6
# +++ regress check in src/test/regress +++
ok 1         - test_setup                                420 ms
# All 1 tests passed.
# +++ regress check in contrib/cube +++
not ok 1     - cube                                      420 ms
# 1 of 1 tests failed.
# +++ tap check in src/test/ldap +++
t/001_auth.pl .. skipped: LDAP not supported by this build
t/002_bind.pl .. 
Dubious, test returned 29 (wstat 7424, 0x1d00)
t/002_bind.pl (Wstat: 7424 (exited 29) Tests: 3 Failed: 1)
EOT
is( join("\n", map { "$_->{name} $_->{result}" } @results),
	"src/bin/initdb: t/001_initdb.pl ok\nsrc/test/regress: pg_regress ok\n"
	  . "contrib/cube: pg_regress fail\nsrc/test/ldap: t/001_auth.pl skip\n"
	  . 'src/test/ldap: t/002_bind.pl fail',
	'what make check-world prints');

# valgrind's logs: only those with an error count.
ok(!eval { PgSeries::Test::valgrind_result("$dir"); 1 },
	'valgrind without a log is an error');
write_file("$dir/2.log", "==2== some notice\n");
is(PgSeries::Test::valgrind_result("$dir")->{result},
	'ok', 'valgrind has found nothing');
write_file("$dir/3.log", "==3== VALGRINDERROR-BEGIN\n==3== Invalid read\n");
my $found = PgSeries::Test::valgrind_result("$dir");
is($found->{result}, 'fail', 'valgrind has found an error');
like($found->{detail}, qr{/3\.log:\n.*\n.*Invalid read}, 'and shows it');

# Results as they are printed.
my @three = (
	{ name => 'a', result => 'ok' },
	{ name => 'b', result => 'fail', detail => 'why', rerun => 'again' },
	{ name => 'c', result => 'skip' });
my $failure = "fail  b\nwhy\nrerun: again\n";
my $count = '1 passed, 1 failed, 1 skipped';
is(PgSeries::Test::told(1, @three),
	"ok    a\n${failure}skip  c\n$count", 'all');
is(PgSeries::Test::told(0, @three), "$failure$count", 'failures only');

# The tests that patches touch.
write_file(
	"$dir/p", join '',
	map { "+++ b/$_\n" }
	  qw(src/test/regress/sql/a.sql
	  src/test/isolation/specs/b.spec src/test/modules/mod/sql/c.sql contrib/cube/expected/d.out
	  src/test/recovery/t/027_x.pl contrib/amcheck/t/001_y.pl src/bin/psql/psql.c
	  src/test/modules/Makefile));
is_deeply(
	[ PgSeries::Test::suites(undef, { path => "$dir/p" }) ],
	[ [qw(cube isolation mod regress)], [qw(amcheck/001_y recovery/027_x)] ],
	'suites and single tests that patches touch');

done_testing();
