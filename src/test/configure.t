# ./configure: options, what is missing, and what it writes.

use strict;
use warnings FATAL => 'all';

use File::Basename qw(basename);
use File::Temp     ();
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

sub script
{
	my ($file, $text) = @_;
	spew($file, "#!/bin/sh\n$text\n");
	chmod 0755, $file or die $!;
	return;
}

# What there is, without some optional tools and with little space; and next to
# nothing.
mkdir "$dir/$_" for qw(all few);
for my $file (map { glob "$_/*" }
	qw(/usr/local/bin /usr/bin /bin /usr/sbin /sbin))
{
	my $name = basename($file);
	next if $name =~ /^(clang|sqlsmith|df)$/ || -l "$dir/all/$name";
	symlink $file, "$dir/all/$name" or die $!;
}
script("$dir/all/df", "echo header; echo '/dev/x 9000000 1 7000000 1% /'");
symlink "$dir/all/$_", "$dir/few/$_"
  or die $!
  for qw(sh id mkdir mv dirname basename cat perl);

my %path = (all => "$dir/all", few => "$dir/few", apt => "$dir/apt:$dir/few");
mkdir "$dir/apt";
script("$dir/apt/apt-get", 'exit 100');
script("$dir/apt/sudo", 'exec "$@"');
my @build = ("--builddir=$dir/b");
for (split /\n/, <<"EOT")
all | --help | 0 | --with-tarball=FILE
all | --nonesuch | 2 | ^configure: unknown option --nonesuch; see
all | --with-tarball=$dir/none | 2 | there is no tarball .*; correct --with-tarball
few | @build | 2 | ^configure: missing:.* meson .*; run .*--install-deps
few | @build --install-deps | 2 | ^configure: cannot install here:.* meson .*; install what
apt | @build --install-deps | 2 | ^configure: apt-get update failed; check
EOT
{
	my ($path, $arguments, $code, $like) = split / \| /;
	my ($status, $out) = configure($path{$path}, split / /, $arguments);
	is($status, $code, "$arguments: exit status");
	like($out, qr/$like/m, "$arguments: $like");
}

# The real thing, in another directory.
spew("$dir/t.tar.bz2", '');
my ($status, $out) =
  configure($path{all}, @build, "--with-tarball=$dir/t.tar.bz2",
	"--workdir=$dir/w");
is($status, 0, 'configure') or diag($out);
is( slurp("$dir/b/pgseries.conf"),
	"tarball = $dir/t.tar.bz2\nworkdir = $dir/w\n",
	'pgseries.conf');
ok(-f "$dir/b/build.ninja", 'the build directory is set up');
like($out, qr/^configure: $_/m, "it says: $_")
  for 'not installed, .*: sqlsmith \(stress sqlsmith\) clang \(build clang\)',
  "only 6 GB are free in \Q$dir\E, and the demo needs 8: .*--workdir\$";
script("$dir/all/$_", '') for qw(sqlsmith clang);
script("$dir/all/df", "echo header; echo '/dev/x 9000000 1 9000000 1% /'");
($status, $out) = configure($path{all}, @build);
is($status, 0, 'configure again') or diag($out);
is(slurp("$dir/b/pgseries.conf"), '', 'replaces the options');
unlike($out, qr/sqlsmith|clang|GB are free/, 'nothing is missing');

done_testing();
