# Upstream's tests and other configurations: how results are read, without a build.

use strict;
use warnings FATAL => 'all';

use File::Temp ();
use FindBin;
use lib "$FindBin::RealBin/..", "$FindBin::RealBin/../../lib";

use PgSeries::World;
use PgSeries::Util qw(read_file write_file);
use Test::More;

my $dir = File::Temp->newdir();

# valgrind's logs: only those with an error count.
ok(!eval { PgSeries::World::Test::valgrind_result("$dir"); 1 },
	'valgrind without a log is an error');
write_file("$dir/2.log", "==2== some notice\n");
is(PgSeries::World::Test::valgrind_result("$dir")->{result},
	'ok', 'valgrind has found nothing');
write_file("$dir/3.log", "==3== VALGRINDERROR-BEGIN\n==3== Invalid read\n");
my $found = PgSeries::World::Test::valgrind_result("$dir");
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
my $program = "$dir/tmp_install/inst/bin/postgres";
{

	package Fake;
	sub ensure   { my ($self, $name) = @_; return { %$self, name => $name }; }
	sub describe { my ($self) = @_;        return $self; }
	sub environment { return { PATH => "$dir:$ENV{PATH}" }; }
	sub user        { return 0; }
	sub work        { return '/w'; }
	sub patches     { return; }
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
my $test = PgSeries::World::Test->new($fake, $fake);
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
*"--suite setup"*) cp $dir/setup.json $dir/meson-logs/testlog-setup.json
	mkdir -p $dir/tmp_install/inst/bin; [ -e $program ] || echo server >$program ;;
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

# Under valgrind: the server program is a script, and its logs are a result.
write_file($program, 'the script of an earlier run');
ok(!eval { $test->run_suites('valgrind', ['cube'], []); 1 },
	'valgrind: no server ran');
like($@->{message}, qr/^no server ran under valgrind/, 'which is an error');
is(read_file("$program.bin"), "server\n", 'the server program');
like(
	read_file($program),
	qr{^exec valgrind .*--suppressions=\Q$dir\E/src/tools/valgrind.supp .*--log-file=\Q$dir\E/valgrind/%p.log "\$0.bin" "\$@"$}ms,
	'and the script in its place');

# make check-world: what it printed, and its exit status.
my $printed = <<'EOT';
t/001_initdb.pl .. ok
# All 1 tests passed.
not ok 1     - cube                                      420 ms
t/002_bind.pl (Wstat: 7424 (exited 29) Tests: 3 Failed: 1)
EOT
for (
	[ $printed, 0, 'make check-world, 2 suites and TAP tests passed: ok' ],
	[ $printed, 2, 'make check-world, 2 suites and TAP tests passed: fail' ],
	[ '', 0, 'make check-world, 0 suites and TAP tests passed: fail' ])
{
	my ($text, $status, $want) = @$_;
	write_file("$dir/make", "#!/bin/sh\necho '$text'\nexit $status\n");
	chmod 0755, "$dir/make" or die $!;
	my ($is, @none) = $test->world('autoconf');
	is("$is->{name}: $is->{result}@none", $want, $want);
	like($is->{detail}, qr/^not ok 1 .*\nt\/002_bind.pl .*Wstat: 7424.*\n/m,
		'what failed')
	  if $text;
}

# The builds of the configurations.
my $builds = PgSeries::World->new($fake, $fake);
for (
	[ 'exec-backend', 'gcc -Dc_args=-DEXEC_BACKEND' ],
	[ 'clang', 'clang' ],
	[
		'm32',
		'gcc -Dauto_features=disabled -Dssl=none -Dc_args=-m32 -Dc_link_args=-m32'
	])
{
	my ($name, $want) = @$_;
	my $b = $builds->describe($name);
	my @options =
	  grep { !/cassert|inject|error|ty|llvm|python|tap/ } @{ $b->{options} };
	is("$b->{name}: @{[ $b->{cc}, @options ]}", "$name: $want",
		"build $name");
	is($b->{dir}, "/w/b/$name", 'and its place');
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
