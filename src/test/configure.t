# ./configure: options, what is missing, and what it writes.

use strict;
use warnings FATAL => 'all';

use File::Temp ();
use FindBin;
use lib "$FindBin::RealBin/lib";

use Fixture qw(slurp spew);
use Test::More;

my $top = "$FindBin::RealBin/../..";
my $dir = File::Temp->newdir();

sub configure
{
	my ($path, @arguments) = @_;
	local $ENV{PATH} = $path;
	my $quoted = join ' ', map { "'$_'" } @arguments;
	my $out = `/bin/sh $top/configure $quoted 2>&1`;
	return ($? >> 8, $out);
}

my $path = '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin';
my ($status, $out) = configure($path, '--help');
is($status, 0, '--help');
like($out, qr/--with-tarball=FILE/, 'lists the options');
($status, $out) = configure($path, '--nonesuch');
is($status, 2, 'unknown option: exit status 2');
like($out, qr/^configure: unknown option --nonesuch; see/, 'and one line');
($status, $out) = configure($path, "--with-tarball=$dir/none");
is($status, 2, 'a tarball that is not there');
like($out, qr/there is no tarball .*; correct --with-tarball/,
	'and one line');

# A machine that has next to nothing.
mkdir "$dir/bin";
for my $tool (qw(sh id mkdir mv dirname basename cat perl))
{
	my ($from) = grep { -x } map { "$_/$tool" } split /:/, $path;
	symlink $from, "$dir/bin/$tool" or die $!;
}
($status, $out) = configure("$dir/bin", "--builddir=$dir/b");
is($status, 2, 'missing tools: exit status 2');
like(
	$out,
	qr/^configure: missing:.* meson .*; run .*--install-deps/,
	'names them and the remedy');
($status, $out) =
  configure("$dir/bin", "--builddir=$dir/b", '--install-deps');
is($status, 2, '--install-deps without apt: exit status 2');
like(
	$out,
	qr/^configure: cannot install here:.* meson .*; install what/,
	'names what is to be installed');
spew("$dir/bin/apt-get", "#!/bin/sh\nexit 100\n");
chmod 0755, "$dir/bin/apt-get" or die $!;

if ($> != 0)
{
	spew("$dir/bin/sudo", "#!/bin/sh\nexec \"\$\@\"\n");
	chmod 0755, "$dir/bin/sudo" or die $!;
}
($status, $out) =
  configure("$dir/bin", "--builddir=$dir/b", '--install-deps');
is($status, 2, 'apt fails: exit status 2');
like($out, qr/^configure: apt-get update failed; check/m, 'and one line');

# The real thing, in another directory.
spew("$dir/t.tar.bz2", '');
($status, $out) =
  configure($path, "--builddir=$dir/b", "--with-tarball=$dir/t.tar.bz2",
	"--workdir=$dir/w");
is($status, 0, 'configure') or diag($out);
is( slurp("$dir/b/pgseries.conf"),
	"tarball = $dir/t.tar.bz2\nworkdir = $dir/w\n",
	'pgseries.conf');
ok(-f "$dir/b/build.ninja", 'the build directory is set up');
($status, $out) = configure($path, "--builddir=$dir/b");
is($status, 0, 'configure again') or diag($out);
is(slurp("$dir/b/pgseries.conf"), '', 'replaces the options');

done_testing();
