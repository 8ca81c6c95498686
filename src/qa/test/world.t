# Upstream's tests: how results are read, without a build.

use strict;
use warnings FATAL => 'all';

use File::Temp ();
use FindBin;
use lib "$FindBin::RealBin/..", "$FindBin::RealBin/../../lib";

use PgSeries::Test;
use PgSeries::Util qw(read_file write_file);
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

# meson as a script, which does what the test says.
{

	package Fake;
	sub ensure   { my ($self, $name) = @_; return { %$self, name => $name }; }
	sub describe { my ($self) = @_;        return $self; }
	sub environment { return { PATH => "$dir:$ENV{PATH}" }; }
	sub user        { return 0; }
}
my $fake = bless {
	build => "$dir",
	inst => '/inst',
	log => "$dir",
	slow => 2,
	src => "$dir",
	patches => []
  },
  'Fake';
my $test = PgSeries::Test->new($fake, $fake);
mkdir "$dir/meson-logs" or die $!;

# What meson prints as JSON for the setup and for the tests, and its exit status.
sub meson
{
	my ($setup, $tests, $status) = @_;
	my ($one, $two) = map {
		join '', map {
			my ($name, $result) = split /=/;
			qq({"name": "postgresql:x / $name", "result": "$result"}\n)
		  }
		  split / /
	} $setup, $tests;
	write_file("$dir/setup.json", $one);
	write_file("$dir/tests.json", $two);
	write_file("$dir/meson", <<"EOT");
#!/bin/sh
case "\$*" in
*"--suite setup"*) cp $dir/setup.json $dir/meson-logs/testlog-setup.json ;;
*) echo "\$@" >>$dir/called
	cp $dir/tests.json "$dir/meson-logs/\$(echo "\$3" | cut -c11-).json"
	exit $status ;;
esac
EOT
	chmod 0755, "$dir/meson" or die $!;
	unlink "$dir/called";
	my @of = eval { $test->run_suites('b', ['cube'], ['recovery/027_x']) };
	return ref $@
	  ? "$@->{message}; $@->{remedy}"
	  : join ' ', map { "$_->{name}=$_->{result}$_->{detail}" } @of;
}
my $good = 'cube/regress=OK recovery/027_x=EXPECTEDFAIL';
for (
	[ 'tmp=OK', $good, 0, qr/^(?:cube.regress=ok recovery.027_x=ok ?){2}$/ ],
	[ 'tmp=OK', "$good x=SKIP", 0, qr/ x=skip/ ],
	[ 'tmp=OK', "$good x=TIMEOUT", 1, qr/ x=failx: TIMEOUT .files: / ],
	[ 'tmp=OK', $good, 1, qr/ended with status 1 and 2 results; see/ ],
	[ 'tmp=OK', '', 0, qr/ended with status 0 and 0 results; see/ ],
	[ 'tmp=OK', 'x=OK', 0, qr/^build b has no suite or test "cube"; see/ ],
	[ 'tmp=FAIL', $good, 0, qr/^tmp=fail/ ])
{
	my ($setup, $tests, $status, $like) = @$_;
	like(meson($setup, $tests, $status), $like, "$setup, $tests: $like");
}
ok(!-e "$dir/called", 'nothing runs when the setup has failed');

# What runs for patches: their suites, and two in any case.
write_file("$dir/cube", "+++ b/contrib/cube/sql/cube.sql\n");
$fake->{patches} = [ { path => "$dir/cube" } ];
for ([ 'touched', 'cube' ], [ 'whole', 'cube isolation regress' ])
{
	my ($how, $suites) = @$_;
	meson('tmp=OK', join(' ', map { "$_/x=OK" } split / /, $suites), 0);
	unlink "$dir/called";
	$test->$how('b');
	is(join(' ', read_file("$dir/called") =~ /--suite (\S+)/g),
		$suites, "what runs: $how");
}

# make check-world: what it printed, and its exit status.
for (
	[ '# All 1 tests passed.', 0, '?: pg_regress=ok' ],
	[ '# All 1 tests passed.', 2, '?: pg_regress=ok make check-world=fail' ],
	[ '', 0, 'make check-world ran no test on b' ])
{
	my ($printed, $status, $result) = @$_;
	write_file("$dir/make", "#!/bin/sh\necho '$printed'\nexit $status\n");
	chmod 0755, "$dir/make" or die $!;
	my @of = eval { $test->check_world($fake->ensure('b')) };
	is( ref $@
		? $@->{message}
		: join(' ', map { "$_->{name}=$_->{result}" } @of),
		$result,
		"make check-world: $result");
}

# What does not run is a failure; an interrupt ends everything.
sub attempted
{
	my ($code) = @_;
	my @of = eval {
		PgSeries::Test::attempt('again',
			sub { PgSeries::Util::fail($code, 'no', 'yes'); });
	};
	return @of ? "$of[0]{result}: $of[0]{detail}" : "$@";
}
is(attempted(2), 'fail: no', 'what does not run');
is(attempted(130), 'no; yes', 'an interrupt');

done_testing();
