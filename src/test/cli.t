# The command line: help, bad input, and the commands that need no build.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib map { "$FindBin::RealBin/$_" } qw(lib ../lib);

use Fcntl      qw(:flock);
use File::Path qw(make_path);
use Fixture    qw(refuses slurp spew);
use Test::More;

my $f = Fixture->new;
my $dir = $f->dir;
my ($status, $out, $err);

# Help of every command, with an example.
($status, $out, $err) = $f->pgseries('--help');
is($status, 0, '--help');
my @commands = $out =~ /^  ([\w-]+) +\w/mg;
is( "@commands",
	'fetch apply status export lint check build deb preflight test server stress hunt demo bench report submit port range-diff',
	'all commands are listed');
for my $command (@commands)
{
	my @said = $f->succeeds($command, '--help');
	like(
		"@said",
		qr/^Usage: pgseries \Q$command\E.*^  --help +show this text\n\n  Example: [^\n]*pgseries \Q$command\E[^\n]*\s+\z/ms,
		'usage, options and example');
}

# A reader that has seen enough, and a full disk.
for ([ '| true', 0, '' ], [ '>/dev/full', 2, 'cannot write standard output' ])
{
	my ($to, $code, $says) = @$_;
	local %ENV = (%ENV, $f->environment);
	system(
		"(sleep 0.3; $^X $dir/src/bin/pgseries --help 2>$dir/err; echo \$? >&2) 2>$dir/out $to"
	  ) == 0
	  or die 'sh failed';
	like(
		slurp("$dir/out") . slurp("$dir/err"),
		qr/^$code\n(?:pgseries: )?\Q$says\E/,
		"the help $to");
}

# The link to the work directory, when the work directory is to be there.
make_path("$dir/elsewhere");
symlink "$dir/elsewhere", "$dir/build/work" or die $!;
$f->succeeds('fetch', { PGSERIES_WORKDIR => "$dir/build/work" });
ok(!-l "$dir/build/work", 'is a directory');
system('rm', '-r', "$dir/build/work") == 0 or die 'rm failed';

# Arguments are checked before the lock is taken, so that nobody waits for a
# refusal; nor for a look at what there is.
make_path("$dir/work");
open(my $lock, '>', "$dir/work/lock") or die $!;
flock($lock, LOCK_EX) or die $!;
is(($f->pgseries())[0], 2, 'no command: exit status 2');
for (split /\n/, <<'EOT')
aply: unknown command "aply"
status --nonesuch: unknown option: nonesuch
--nonesuch status: unknown option --nonesuch
status word: status takes no argument "word"
build nonesuch: no build "nonesuch"
test --build=nonesuch isolation: no build "nonesuch"
stress crash --build=nonesuch: no build "nonesuch"
build prefix-3: no patch 3
build --prefix=/x base: takes no argument "base"
build --prefix=relative: not an absolute path
deb -v0: -v0 is no version
preflight: preflight takes a datadir
check --topic=nonesuch: no topic "nonesuch"
check --prefix=1-3: no patch 3
check --prefix=2-1: nothing from 2 to 1
check --prefix=1 --topic=one: one thing at a time, not prefix and topic
check word: no argument "word"
check --world nonesuch: no configuration "nonesuch"
check --loads nonesuch: no load "nonesuch"
check --short: --short goes with --loads
server restart: start, stop or psql
server: server takes start|stop|psql
server start base x: server takes no argument "x"
server start assert: no server "assert"
bench: bench takes NAME...|all
range-diff 18 master: range-diff takes a base and a base and a topic
apply 3: no patch 3
submit: submit needs a version
submit -v1: submit needs a topic
submit -v1 --topic=nonesuch: no topic "nonesuch"
stress nonesuch: takes sqlsmith, differential or crash
stress crash --count=0: --count=0 is not positive
hunt --kind=nonesuch: no kind "nonesuch"
hunt --topic=nonesuch: no topic "nonesuch"
hunt --minutes=0: --minutes=0 is not positive
hunt --seed=-1: --seed=-1 is not a seed
hunt --patched=/nonesuch: /nonesuch has no bin/postgres
stress crash --seed=-1: --seed=-1 is not a seed
stress crash --count=x: value "x" invalid for option count (number expected)
bench all --gate=x: value "x" invalid for option gate (real number expected)
bench all --pairs: option pairs requires an argument
bench all --case=x: --case=x is not NAME=VALUE
EOT
{
	my ($arguments, $says) = split /: /, $_, 2;
	local $SIG{ALRM} = sub { flock($lock, LOCK_UN) or die $!; };
	alarm 20;
	$f->refused(2, quotemeta $says, split / /, $arguments);
	alarm 0;
	unlike(slurp("$dir/err"), qr/waiting/, 'at once');
}
($out) = $f->succeeds('status');
like(
	$out,
	qr{^base: \Q$dir\E/patches/18, for PostgreSQL 18\.6\n(?:.*\n)*topic two: \n +2  two/0001  Change line 20\nworktree: .*: not made yet \(pgseries apply\)\n.*\nbuild patched: +not built  }m,
	'status while another command runs');
{
	my $released = 0;
	local $SIG{ALRM} = sub { $released = flock($lock, LOCK_UN) or die $!; };
	alarm 1;
	(undef, $err) = $f->succeeds('fetch');
	like($err, qr/^pgseries: waiting for another/, 'another command waits');
	ok($released, 'until the lock is free');
}
$f->refused(2, 'server of build patched is not running', qw(server psql));
$f->refused(2, 'no base "17"', qw(range-diff 18 17 one));
$f->refused(2, 'no benchmark "nonesuch"', qw(bench nonesuch));

# A failure of one does not end the others, and is named at once.
$f->script('meson', 'test "$1" = --version && echo 1; exit 1');
($status, $out, $err) = $f->pgseries('check', '--prefix=1-2');
is($status, 1, 'check --prefix=1-2 of what does not build');
for ([ 1, 'one/0001' ], [ 2, 'two/0001' ])
{
	my ($n, $place) = @$_;
	like(
		$err,
		qr{^prefix-$n \($place\): fail  .*build and run\n(.*\n)*rerun: src/bin/pgseries check --prefix=$n\n.*^0 passed, 1 failed, 0 skipped \(touched, 0 minutes\)$}m,
		"prefix $n is named");
}
like($out, qr/^0 passed, 2 failed, 0 skipped$/m, 'both are counted');
ok(-d "$dir/work/b/prefix-$_", "the build of prefix $_ stays") for 1, 2;
$f->no_script('meson');

# The unprivileged user and the work directory.
SKIP:
{
	skip 'not root', 8 if $> != 0;
	mkdir "$dir/closed";
	chmod 0700, "$dir/closed" or die $!;
	for (
		[ 'no user "none-such"', PGSERIES_USER => 'none-such' ],
		[ 'refuses to run as "root"', PGSERIES_USER => 'root' ],
		[ 'not an absolute path', PGSERIES_WORKDIR => 'work' ],
		[ 'without white space', PGSERIES_WORKDIR => "$dir/a b" ],
		[ 'cannot enter', PGSERIES_WORKDIR => "$dir/closed/work" ])
	{
		my ($says, %env) = @$_;
		$f->refused(2, $says, 'status', \%env);
	}

	# A checkout out of reach is no obstacle.
	mkdir "$dir/closed/build";
	$f->succeeds('apply', { PGSERIES_BUILDDIR => "$dir/closed/build" });
	ok(-l "$dir/closed/build/work", 'links to the work directory');
}

# Missing tools and space.
$f->pgseries('apply');
my %few = (PATH => "$dir/few", PGSERIES_PATH => "$dir/few");
mkdir "$dir/few";
for my $tool (qw(git tar bzip2 df sh bison flex ninja))
{
	my ($path) = grep { -x } map { "$_/$tool" } split /:/, $ENV{PATH};
	symlink $path, "$dir/few/$tool" or die $!;
}
$f->refused(2, 'meson is missing.*--install-deps', qw(build base), {%few});
spew("$dir/few/meson", "#!/bin/sh\necho 1.0.1\n");
chmod 0755, "$dir/few/meson" or die $!;
$f->refused(2, 'gcc is missing', qw(build base), {%few});
$f->refused(
	2,
	'clang cannot make the programs.*apt-get install clang',
	qw(check --world clang), {%few});
spew("$dir/few/gcc", "#!/bin/sh\nexit 1\n");
chmod 0755, "$dir/few/gcc" or die $!;
$f->refused(
	2,
	'gcc cannot make the programs of build m32',
	qw(check --world m32), {%few});
$f->refused(2, 'sqlsmith is missing', qw(stress sqlsmith), {%few});
$f->script('df', "echo header\necho '/dev/x 100 90 10 90% /'");
$f->refused(2, 'less than 3 GB', qw(build base));
$f->no_script('df');

# A build whose meson fails shows the end of its log; nothing is recorded.
$f->refused(2, 'meson setup of base failed', qw(build base));
like(slurp("$dir/err"), qr/meson\.build/, 'shows the end of its log');
ok(!-e "$dir/work/b/base/stamp", 'is not taken for done');

# One that succeeds is made once, and again if anything differs; one that fails is not
# taken for done.
$f->script('meson', <<"EOT");
case \$1 in --version) echo 1 && exit ;; setup) touch build.ninja ;; esac
echo meson \$1 >>$dir/steps
EOT
$f->script('ninja', "echo ninja >>$dir/steps; [ ! -e $dir/broken ]");
my $whole = 'meson setup ninja meson install';
for (
	[ 0, $whole ],
	[ 0, '' ],
	[ 0, $whole, PGSERIES_MESON_ARGS => '-Dx=y' ],
	[ 1, $whole =~ s/ meson install//r ],
	[ 1, 'ninja' ])
{
	my ($code, $steps, %env) = @$_;
	spew("$dir/steps", '');
	chmod 0666, "$dir/steps" or die $!;
	spew("$dir/broken", '') if $code;
	($status, $out, $err) =
	  $f->pgseries('build', 'base',
		{ PGSERIES_PATH => "$dir/bin:/usr/bin:/bin", %env });
	is($status, $code, "a build: exit status $code") or diag($err);
	is(join(' ', split ' ', slurp("$dir/steps")), $steps,
		"its steps: $steps");
	is(-e "$dir/work/b/base/stamp" ? 0 : 1, $code, 'and its stamp');
}
refuses(1, 'ninja -C of base failed', 'a build that fails');

# check finds what lint does, or the round trip.
for ([ 'check', 1 ], [ 'check --round-trip', 0 ])
{
	my ($command, $code) = @$_;
	($status, $out, $err) = $f->pgseries(split / /, $command);
	is($status, $code, "$command: exit status $code") or diag($out, $err);
	is($out =~ /^2 patches checked, [1-9]\d* findings?\n/m ? 1 : 0,
		$code, 'findings');
	like($out, qr/^round trip: no difference$/m, 'and the round trip');
}
my $patch = "$dir/patches/18/one/0001-Change-line-3.patch";
spew($patch, slurp($patch) =~ s/^(?=---$)/With a blank at the end. \n/mr);
($status, $out, $err) = $f->pgseries('check', '--round-trip');
is($status, 1, 'the round trip finds something') or diag($out);
like($err, qr/^pgseries: patches.* does not survive apply and export; run/m,
	'says so');

done_testing();
