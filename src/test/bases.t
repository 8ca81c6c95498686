# Two bases: upstream's development branch, and topics on both.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/lib";

use File::Path qw(make_path);
use Fixture    qw(slurp spew);
use Test::More;

my $f = Fixture->new;
my $dir = $f->dir;
my $patches = "$dir/patches/master";

# A development branch whose line 20 is another one, as a repository and a tarball.
make_path($patches, "$dir/branch/src");
spew("$dir/branch/$_", slurp("$dir/upstream/$_"))
  foreach qw(src/a.c .gitignore hidden);
spew("$dir/branch/README",
	slurp("$dir/upstream/README") =~ s/line 20/line twenty/r);
my $git = 'git -c user.name=A -c user.email=a@b';
my ($commit, $tree) =
  split /\n/, `cd $dir/branch && $git init -q . && $git add -Af . &&
	$git commit -qm branch && $git rev-parse HEAD HEAD^{tree} &&
	$git archive --prefix=pg/ -o $dir/branch.tar HEAD`;
spew(
	"$patches/BASE",
	"version = 19devel\n",
	"url = file://$dir/none\n",
	"commit = $commit\n",
	"tree = $tree\n");
spew("$patches/series", "# head\n");
my %tarball = (PGSERIES_MASTER_TARBALL => "$dir/branch.tar");

# Obtaining it
$f->refused(2, 'there is no base "17"', 'fetch', '--base=17');
$f->refused(77, 'is skipped', 'fetch', '--base=master');
$f->refused(2, 'there is no tarball',
	'fetch', '--base=master', { PGSERIES_MASTER_TARBALL => "$dir/none.tar" });
$f->refused(2, "unpacks to git tree .*, not $tree",
	'fetch', '--base=master', { PGSERIES_MASTER_TARBALL => $f->tarball });
ok(!-e "$dir/work/master/tree", 'and nothing is left of it');
my ($out) = $f->succeeds('fetch', '--base=master', \%tarball);
is($out, "$dir/work/master/tree\n", 'a tarball');
system("rm -rf $dir/work/master/tree") == 0 or die;
$f->succeeds('fetch', '--base=master');
spew("$patches/BASE",
	slurp("$patches/BASE") =~ s/^url.*/url = file:\/\/$dir\/branch/mr);
system("rm -rf $dir/work/master") == 0 or die;
$f->succeeds('fetch', '--base=master');
is(`git -C $dir/work/master/tree rev-parse upstream^{tree}`,
	"$tree\n", 'a repository');

# One topic merges; the other one is mended by hand.
$f->refused(2, 'needs --from and --to', 'port', 'one', '--from=18');
$f->refused(2, 'no topic "three"',
	'port', 'three', '--from=18', '--to=master');
($out) = $f->succeeds('port', 'one', '--from=18', '--to=master');
like($out, qr{^one/0001-Change-line-3.patch\nnow: pgseries export},
	'port one');
($out) = $f->succeeds('port', 'one', '--from=18', '--to=master');
is($out, "nothing is missing\n", 'once');
$f->succeeds('export', '--base=master', '--topic=one');
is(slurp("$patches/series"),
	"# head\n\n# topic: one\none/0001-Change-line-3.patch\n", 'series');
($out) = $f->succeeds('range-diff', '18', 'master', 'one');
like($out, qr/^1:  \w+ = 1:  \w+ Change line 3$/m, 'range-diff');
$f->refused(3, 'two/0001-Change-line-20.patch of base 18 does not merge',
	'port', 'two', '--from=18', '--to=master');
$f->refused(2, 'is in progress', 'port', 'two', '--from=18', '--to=master');
my $readme = "$dir/work/master/tree/README";
spew($readme, slurp($readme) =~ s/^<<<.*?^>>>>.*?\n/twenty\n/msr);
system(
	"cd $dir/work/master/tree && $git add README && GIT_EDITOR=true $git cherry-pick --continue >/dev/null"
  ) == 0
  or die;
($out) = $f->succeeds('port', 'two', '--from=18', '--to=master');
is($out, "nothing is missing\n", 'mended by hand');

# Lint wants both, or a reason.
sub counterparts
{
	my ($want, $base) = @_;
	my (undef, $said) = $f->pgseries('lint', "--base=$base");
	is(join(' ', $said =~ m{^patches/(\S+):1: counterpart: }mg),
		$want, "base $base: counterparts");
	return;
}
counterparts('18/two/0001-Change-line-20.patch', '18');
counterparts('', 'master');
foreach my $what ('all', '0001-Change-line-20.patch')
{
	$f->series("# topic: one\none/0001-Change-line-3.patch\n\n"
		  . "# topic: two\n# only here: $what: a reason\ntwo/0001-Change-line-20.patch\n"
	);
	counterparts('', '18');
}
($out) = $f->succeeds('port', 'two', '--from=18', '--to=master');
is($out, "nothing is missing\n", 'port: what is only here');
$f->succeeds('export', '--base=master', '--topic=two');
like(
	slurp("$patches/two/0001-Change-line-20.patch"),
	qr/^-line twenty\n\+twenty\n/m,
	'what was mended');
$f->series("# topic: one\none/0001-Change-line-3.patch\n");
unlink "$dir/patches/18/two/0001-Change-line-20.patch";
counterparts('master/two/0001-Change-line-20.patch', 'master');

done_testing();
