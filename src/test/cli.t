# The command line: help, bad input, and the commands that need no build.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/lib";

use File::Path qw(make_path);
use Fixture    qw(refuses slurp spew);
use JSON::PP   qw(decode_json);
use Test::More;

my $f = Fixture->new;
my $dir = $f->dir;
my ($status, $out, $err);

# Help of every command, with an example.
($status, $out, $err) = $f->pgseries('--help');
is($status, 0, '--help');
my @commands = $out =~ /^  ([\w-]+) +\w/mg;
is( "@commands",
	'fetch apply status export lint check build test stress server bench report submit rebase range-diff doctor',
	'all commands are listed');
for my $command (@commands)
{
	my ($s, $o, $e) = $f->pgseries($command, '--help');
	is($s, 0, "$command --help");
	like($o, qr/^Usage: pgseries \Q$command\E/m, "$command: usage");
	like($o, qr/^Example: .*pgseries \Q$command\E/m, "$command: example");
	is($e, '', "$command: nothing on standard error");
}

# A reader that has seen enough.
{
	local %ENV = (%ENV, $f->environment);
	system(
		"(sleep 0.3; $^X $dir/src/bin/pgseries --help 2>$dir/err; echo \$? >$dir/out) | true"
	  ) == 0
	  or die 'sh failed';
	is(slurp("$dir/out"), "0\n", 'nobody reads the help: no error');
	is(slurp("$dir/err"), '', 'nor a message');
}

# The link to the work directory, when the work directory is to be there.
make_path("$dir/elsewhere");
symlink "$dir/elsewhere", "$dir/build/work" or die $!;
($status, $out, $err) =
  $f->pgseries('fetch', { PGSERIES_WORKDIR => "$dir/build/work" });
is($status, 0, 'a work directory in the place of the link') or diag($err);
ok(!-l "$dir/build/work", 'is a directory');
system('rm', '-r', "$dir/build/work") == 0 or die 'rm failed';

# Usage errors.
($status, $out, $err) = $f->pgseries();
is($status, 2, 'no command: exit status 2');
($status, $out, $err) = $f->pgseries('aply');
refuses(2, 'unknown command "aply"', 'unknown command');
($status, $out, $err) = $f->pgseries('status', '--nonesuch');
refuses(2, 'unknown option: nonesuch', 'unknown option');
($status, $out, $err) = $f->pgseries('--nonesuch', 'status');
refuses(2, 'unknown option --nonesuch', 'unknown option before the command');
($status, $out, $err) = $f->pgseries('status', 'word');
refuses(2, 'no argument "word"', 'a word too many');
($status, $out, $err) = $f->pgseries('build', 'nonesuch');
refuses(2, 'no build "nonesuch"', 'unknown build');
($status, $out, $err) = $f->pgseries('build', 'prefix-3');
refuses(2, 'no patch 3', 'unknown prefix');
($status, $out, $err) = $f->pgseries('check', '--topic=nonesuch');
refuses(2, 'no topic "nonesuch"', 'unknown topic');
($status, $out, $err) = $f->pgseries('check', '--prefix=1-3');
refuses(2, 'no patch 3', 'a range of prefixes that ends too late');
($status, $out, $err) = $f->pgseries('check', '--prefix=2-1');
refuses(2, 'nothing from 2 to 1', 'an empty range of prefixes');

# A failure of one does not end the others, and is named at once.
$f->script('meson', 'test "$1" = --version && echo 1; exit 1');
($status, $out, $err) = $f->pgseries('check', '--prefix=1-2');
is($status, 1, 'check --prefix=1-2 of what does not build');
for my $n (1, 2)
{
	my $rerun = "src/bin/pgseries check --prefix=$n";
	like(
		$err,
		qr/^fail  prefix-$n: build and run\n.*^rerun: \Q$rerun\E\n/ms,
		"prefix $n is named");
}
like($out, qr/^0 passed, 2 failed/m, 'both are counted');
($status, $out, $err) = $f->pgseries('build', '--prefix=relative');
refuses(2, 'not an absolute path', 'a relative prefix');
($status, $out, $err) = $f->pgseries('bench', 'nonesuch');
refuses(2, 'no benchmark "nonesuch"', 'unknown benchmark');
($status, $out, $err) = $f->pgseries('server', 'restart');
refuses(2, 'start, stop or psql', 'unknown server action');
($status, $out, $err) = $f->pgseries('server', 'psql');
refuses(2, 'is not running', 'psql without a server');
($status, $out, $err) = $f->pgseries('submit');
refuses(2, 'needs a version', 'submit without a version');
($status, $out, $err) = $f->pgseries('range-diff', 'v1');
refuses(2, 'takes two versions', 'range-diff with one version');
($status, $out, $err) = $f->pgseries('range-diff', 'v1', 'current');
refuses(2, 'no version "v1"', 'range-diff with an unknown version');
($status, $out, $err) = $f->pgseries('report');
refuses(2, 'no results', 'report without results');
($status, $out, $err) = $f->pgseries('stress', 'nonesuch');
refuses(2, 'takes sqlsmith, differential or crash', 'unknown stress');
($status, $out, $err) = $f->pgseries('stress', 'crash', '--queries=1');
refuses(2, 'crash has no queries', 'an option of another kind');
($status, $out, $err) = $f->pgseries('stress', 'crash', '--rounds=0');
refuses(2, '--rounds=0 is not positive', 'no rounds');
($status, $out, $err) = $f->pgseries('stress', 'crash', '--seed=-1');
refuses(2, '--seed=-1 is not a seed', 'a negative seed');

# The unprivileged user and the work directory.
SKIP:
{
	skip 'not root', 8 if $> != 0;
	($status, $out, $err) =
	  $f->pgseries('status', { PGSERIES_USER => 'none-such' });
	refuses(2, 'no user "none-such"', 'unknown user');
	($status, $out, $err) =
	  $f->pgseries('status', { PGSERIES_USER => 'root' });
	refuses(2, 'refuses to run as "root"', 'root as the user');
	mkdir "$dir/closed";
	chmod 0700, "$dir/closed" or die $!;
	($status, $out, $err) =
	  $f->pgseries('status', { PGSERIES_WORKDIR => "$dir/closed/work" });
	refuses(2, 'cannot enter', 'a work directory out of reach');

	# A checkout out of reach is no obstacle.
	mkdir "$dir/closed/build";
	($status, $out, $err) =
	  $f->pgseries('apply', { PGSERIES_BUILDDIR => "$dir/closed/build" });
	is($status, 0, 'a build directory out of reach') or diag($err);
	ok(-l "$dir/closed/build/work", 'links to the work directory');
}

# Missing tools and space.
$f->pgseries('apply');
spew("$dir/plain", '');
my %few = (PATH => "$dir/few", PGSERIES_PATH => "$dir/few");
mkdir "$dir/few";
my $link_tool = sub {
	my ($tool) = @_;
	my ($path) = grep { -x } map { "$_/$tool" } split /:/, $ENV{PATH};
	symlink $path, "$dir/few/$tool" or die $!;
	return;
};
$link_tool->($_) for qw(git tar bzip2 df sh);
($status, $out, $err) = $f->pgseries('build', 'base', {%few});
refuses(2, 'meson is missing', 'no meson');
spew("$dir/few/meson", "#!/bin/sh\necho 1.0.1\n");
chmod 0755, "$dir/few/meson" or die $!;
$link_tool->($_) for qw(bison flex);
spew("$dir/few/ninja", "#!/bin/sh\n");
chmod 0755, "$dir/few/ninja" or die $!;
($status, $out, $err) = $f->pgseries('build', 'base', {%few});
refuses(2, 'gcc is missing', 'no compiler');
$link_tool->('gcc');
unlink "$dir/few/ninja";
($status, $out, $err) = $f->pgseries('build', 'base', {%few});
refuses(2, 'is missing', 'a missing tool');
like($err, qr/--install-deps/, 'the remedy names the option');
($status, $out, $err) = $f->pgseries('stress', 'sqlsmith', {%few});
refuses(2, 'sqlsmith is missing', 'no sqlsmith');
like($err, qr/the Debian package sqlsmith/, 'the remedy names the package');
($status, $out, $err) = $f->pgseries('doctor', {%few});
is($status, 2, 'doctor: exit status 2 for a missing tool');
like($out, qr/^missing +ninja is missing; run/m, 'and says which');
($status, $out, $err) = $f->pgseries('doctor');
is($status, 0, 'doctor with all tools') or diag($out);
$f->script('df', "echo header\necho '/dev/x 100 90 10 90% /'");
($status, $out, $err) = $f->pgseries('build', 'base');
refuses(2, 'less than 3 GB', 'no space for a build');
$f->no_script('df');

# A build whose meson fails shows the end of its log; nothing is recorded.
($status, $out, $err) = $f->pgseries('build', 'base');
refuses(2, 'meson setup of base failed', 'a build that fails');
ok(!-e "$dir/work/b/base/stamp", 'is not taken for done');

# JSON.
($status, $out, $err) = $f->pgseries('--json', 'status');
my $json = decode_json($out);
is(scalar @{ $json->{patches} }, 2, '--json status');
is($json->{patches}[1]{topic}, 'two', 'with topics');
is($json->{patches}[1]{subject}, 'Change line 20', 'and subjects');

done_testing();
