# Patches as files and as commits: apply, export, round trip, conflicts, and
# interrupts at any moment.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/lib";

use File::Path qw(make_path remove_tree);
use Fixture    qw(append refuses slurp spew);
use Test::More;
use Time::HiRes qw(time);

my $f = Fixture->new;
my $dir = $f->dir;
my $tree = "$dir/work/tree";
my ($status, $out, $err);

# Apply.
($status, $out, $err) = $f->pgseries('apply');
is($status, 0, 'apply') or diag($err);
like(slurp("$tree/README"), qr/^three\n(.*\n)*twenty\n/m, 'both are applied');
is( slurp("$tree/hidden"),
	"tracked, though ignored\n",
	'a tracked file that .gitignore hides is imported');
($status) = $f->pgseries('apply', 1);
is($status, 0, 'apply 1');
unlike(slurp("$tree/README"), qr/twenty/, 'only the first patch is applied');
($status, $out, $err) = $f->pgseries('apply', 7);
refuses(2, 'no patch 7', 'unknown patch number');
($status, $out, $err) = $f->pgseries('apply', 'x');
refuses(2, 'no patch x', 'a number that is none');
my $commit = $f->git('rev-parse', 'series');
$f->pgseries('apply');
$f->pgseries('apply', 1);
is($f->git('rev-parse', 'series'),
	$commit, 'the same patches give the same commit');

# Export.
$f->pgseries('apply');
($status, $out) = $f->pgseries('export', '--dry-run');
is($status, 0, 'export --dry-run finds nothing') or diag($out);
($status, $out) = $f->pgseries('check', '--round-trip');
is($status, 0, 'round trip') or diag($out);

spew("$tree/README", map { "line $_\n" } 1 .. 31);
($status, $out, $err) = $f->pgseries('apply');
refuses(2, 'uncommitted changes', 'apply on a dirty worktree');
($status, $out, $err) = $f->pgseries('export');
refuses(2, 'uncommitted changes', 'export of a dirty worktree');
like(slurp("$tree/README"), qr/line 31/, 'the change is still there');
$f->git(qw(checkout README));

append("$tree/src/a.c", "int b = 2;\n");
$f->git(qw(commit -qam), 'Add a variable');
($status, $out, $err) = $f->pgseries('apply');
refuses(2, 'not in patches', 'apply over a commit that is not exported');
($status, $out, $err) = $f->pgseries('export', '--dry-run');
is($status, 1, 'export --dry-run: exit status 1 for a difference');
is($out, "new: 0003-Add-a-variable.patch\n", 'and names it');
ok(!-e "$dir/patches/0003-Add-a-variable.patch", 'and writes nothing');
my $first = slurp("$dir/patches/0001-Change-line-3.patch");
($status, $out, $err) = $f->pgseries('export', '--topic=my topic');
refuses(2, '"my topic" is no name of a topic', 'export with a bad topic');
ok(!-e "$dir/patches/0003-Add-a-variable.patch", 'writes nothing');
($status, $out, $err) = $f->pgseries('export', '--topic=three');
is($status, 0, 'export') or diag($err);
is(slurp("$dir/patches/series"), <<'EOT', 'series: comments and groups stay');
# a comment that stays

# topic: one
0001-Change-line-3.patch

# topic: two
0002-Change-line-20.patch

# topic: three
0003-Add-a-variable.patch
EOT
like(
	slurp("$dir/patches/0003-Add-a-variable.patch"),
	qr/\AFrom 0{40} .*\nFrom: A <a\@b>\n.*\nSubject: \[PATCH\] Add a variable\n/,
	'form of an exported patch');
is(slurp("$dir/patches/0001-Change-line-3.patch"),
	$first, 'a patch that did not change is left as it is');
($status) = $f->pgseries('check', '--round-trip');
is($status, 0, 'round trip after export');
($status) = $f->pgseries('apply');
is($status, 0, 'apply after export');

# Only offsets change in the second patch when the first one adds a line.
my $second = slurp("$dir/patches/0002-Change-line-20.patch");
$f->git(qw(reset -q --hard upstream));
spew("$tree/README",
	map { $_ == 3 ? "three\nthree and a half\n" : "line $_\n" } 1 .. 30);
$f->git(qw(commit -qam), 'Change line 3', '-m', 'The body of the message.');
my $text = slurp("$tree/README");
$text =~ s/line 20/twenty/;
spew("$tree/README", $text);
$f->git(
	qw(commit -qam), 'Change line 20',
	'-m', 'The body of the message.',
	'--date', '2026-01-01T00:00:00Z');
($status, $out, $err) = $f->pgseries('export');
refuses(
	2,
	'no commit for 1 of the patches',
	'export without a commit for each patch');
like($err, qr/^removed: 0003-Add-a-variable\.patch$/m, 'names the patch');
ok(-e "$dir/patches/0003-Add-a-variable.patch", 'and removes nothing');
($status, $out) = $f->pgseries('export', '--remove');
is( $out,
	"changed: 0001-Change-line-3.patch\nremoved: 0003-Add-a-variable.patch\n",
	'export names what changed and what is gone');
is(slurp("$dir/patches/0002-Change-line-20.patch"),
	$second, 'a patch of which only offsets changed is left as it is');
ok(!-e "$dir/patches/0003-Add-a-variable.patch", 'the removed one is gone');
($status) = $f->pgseries('check', '--round-trip');
is($status, 0, 'round trip with offsets');

# With fewer patches applied, export does not drop the others.
$f->pgseries('apply', 1);
append("$tree/src/a.c", "int c = 3;\n");
$f->git(qw(commit -qam), 'Add another variable');
($status, $out, $err) = $f->pgseries('export', '--topic=two');
refuses(2, 'no commit for 1 of the patches', 'export after apply 1');
is(slurp("$dir/patches/0002-Change-line-20.patch"),
	$second, 'the other patch is still there');

# The same change at another place where the lines around are the same.
{
	my $h = Fixture->new;
	my $worktree = $h->dir . '/work/tree';
	spew($h->dir . '/upstream/twice', ("same\n") x 30);
	$h->make_release;
	my $change = sub {
		my ($line) = @_;
		my @lines = ("same\n") x 30;
		splice @lines, $line, 0, "added\n";
		spew("$worktree/twice", @lines);
		return;
	};
	$h->pgseries('apply');
	$change->(10);
	$h->git(qw(commit -qam), 'Add a line');
	$h->pgseries('export');
	$change->(20);
	$h->git(qw(commit -q -a --amend --no-edit));
	my ($s, $o, $e) = $h->pgseries('export');
	is( $o,
		"changed: 0003-Add-a-line.patch\n",
		'a hunk that has moved to another place is a change') or diag($e);
	$h->pgseries('apply');
	is((split /^/, slurp("$worktree/twice"))[20], "added\n", 'it is kept');
}

# A new subject is not a new patch.
$f->git(qw(checkout -q -B series upstream));
($status, $out, $err) = $f->pgseries('apply');
is($status, 0, 'apply') or diag($err);
$f->git(qw(commit -q --amend -m), 'Change the twentieth line');
($status, $out, $err) = $f->pgseries('export');
is( $out,
	"changed: 0002-Change-line-20.patch -> 0002-Change-the-twentieth-line.patch\n",
	'a patch with another subject keeps its place') or diag($err);
like(
	slurp("$dir/patches/series"),
	qr/topic: two\n0002-Change-the/,
	'and its topic');
$f->git(
	qw(commit -q --amend -m),
	'Change line 20',
	'-m',
	'The body of the message.');
$f->pgseries('export');

# Work that is not on the branch "series".
$f->git(qw(checkout -q --detach));
$f->git(qw(branch -f series series~1));
append("$tree/src/a.c", "int d = 4;\n");
$f->git(qw(commit -qam), 'Add it elsewhere');
($status, $out, $err) = $f->pgseries('export');
refuses(2, 'not on the branch', 'export of a detached HEAD');
($status, $out, $err) = $f->pgseries('apply');
refuses(2, 'not in patches', 'apply over commits of a detached HEAD');
like($err, qr/Add it elsewhere/, 'which are named');
$f->git(qw(checkout -q series));
($status, $out, $err) = $f->pgseries('apply');
is($status, 0, 'apply when they are left') or diag($err);

# What lies in the worktree when an interrupted apply is found is kept.
spew("$tree/.git/pgseries-apply", '');
append("$tree/src/a.c", "int e = 5;\n");
spew("$tree/src/new.c", "int f = 6;\n");
($status, $out, $err) = $f->pgseries('apply');
is($status, 0, 'apply after an interrupted apply') or diag($err);
like($err, qr/is kept; there, git stash show/, 'says so');
is($f->git(qw(status --porcelain)), '', 'the worktree is clean');
like($f->git(qw(show stash:src/a.c)), qr/int e = 5/, 'changes are kept');
like($f->git(qw(show stash^3:src/new.c)),
	qr/int f = 6/, 'new files are kept, too');
$f->git(qw(stash drop -q));

# A patch that does not apply.
my $good = slurp("$dir/patches/0002-Change-line-20.patch");
(my $bad = $good) =~ s/^-line 20$/-line twenty-one/m;
spew("$dir/patches/0002-Change-line-20.patch", $bad);
($status, $out, $err) = $f->pgseries('apply');
refuses(
	3,
	'0002-Change-line-20.patch does not apply',
	'a patch that does not apply');
like($err, qr/; run: pgseries apply --resolve/, 'with a remedy');
like($err, qr/README:1[78]: this hunk is rejected/,
	'file and line are named');
like($err, qr/-line twenty-one\n\s+\+twenty/, 'the hunk is shown');
is($f->git(qw(status --porcelain)), '', 'the worktree is left alone');
($status, $out, $err) = $f->pgseries('apply', 1);
is($status, 0, 'the patches before it still apply') or diag($err);
spew("$dir/patches/0002-Change-line-20.patch", $good);
($status) = $f->pgseries('apply');
is($status, 0, 'and the mended one does');

# --resolve leaves the conflict to the person.
($bad = $good) =~ s/^-line 20$/-line 2o/m;
spew("$dir/patches/0002-Change-line-20.patch", $bad);
($status, $out, $err) = $f->pgseries('apply', '--resolve');
refuses(3, 'git am has stopped', 'apply --resolve');
($status, $out, $err) = $f->pgseries('apply');
refuses(2, 'in progress', 'apply while git am is in progress');
$f->git(qw(am --abort));
spew("$dir/patches/0002-Change-line-20.patch", $good);

# The list.
append("$dir/patches/series", "0009-none.patch\n");
($status, $out, $err) = $f->pgseries('status');
refuses(2, 'series:\d+: no such patch: 0009-none.patch', 'unknown patch');
spew("$dir/patches/series", "# topic: my topic\n");
($status, $out, $err) = $f->pgseries('status');
refuses(2, 'series:1: "my topic" is no name', 'a bad name of a topic');
spew("$dir/patches/series", "0001-Change-line-3.patch\n" x 2);
($status, $out, $err) = $f->pgseries('status');
refuses(2, 'listed twice', 'a patch listed twice');

# What the remedy for a damaged repository says: remove it, and run the same command
# again.
{
	my $h = Fixture->new;
	my $work = $h->dir . '/work';
	$h->pgseries('apply');
	make_path("$work/b/x");
	$h->git(qw(worktree add -q), "$work/b/x/src", 'upstream');
	spew("$work/b/x/stamp", "built\n");
	remove_tree("$work/tree");
	append($h->dir . '/patches/0002-Change-line-20.patch', "\n");
	my ($s, $o, $e) = $h->pgseries('apply');
	is($s, 0, 'apply when the repository is gone') or diag($e);
	is(join(' ', glob "$work/b/x/*"),
		'', 'its worktrees are gone, too, and so is what they had built');
	is( `git -C $work/scratch log -1 --format=%s 2>&1`,
		"Change line 20\n",
		'the tool\'s own one is made again');
}

# A patch that was made from files which the repository does not have cannot be
# merged: then --resolve is no way out.
{
	my $h = Fixture->new;
	my $name = $h->dir . '/patches/0002-Change-line-20.patch';
	$h->pgseries('apply', 0);
	(my $other = slurp($name)) =~ s/^-line 20$/-line xx/m;
	$other =~ s/^index \w{40}/'index ' . '12' x 20/me;
	spew($name, $other);
	my ($s, $o, $e) = $h->pgseries('apply');
	refuses(3, 'does not apply', 'a patch for another release');
	like(
		$e,
		qr/; correct the patch; .*"A new minor release"/,
		'with a remedy');
	unlike($e, qr/--resolve/, 'that leads somewhere');
	($s, $o, $e) = $h->pgseries('apply', '--resolve');
	refuses(
		3,
		'the files that it was made from are not in',
		'apply --resolve of such a patch');
	like($e, qr/; end it: git am --abort; /, 'with a remedy');
}

# An interrupt at any moment: exit status 130, no work lost, next run clean.
my $g = Fixture->new;
my $start = time;
$g->pgseries('apply');
my $whole = time - $start;
my $interrupted = 0;
for my $try (0 .. 19)
{
	my $h = Fixture->new;
	my $later = $try >= 10;
	if ($later)
	{
		# As above, but with the repository already made.
		$h->pgseries('apply', 1);
	}
	$h->{interrupt_after} =
	  0.05 + $whole * ($later ? 0.5 : 1) * ($try % 10) / 10;
	my ($s, $o, $e) = $h->pgseries('apply');
	$h->{interrupt_after} = 0;
	if ($s == 130)
	{
		$interrupted++;
		like(
			$e,
			qr/^pgseries: interrupted by SIGINT; .*same command/m,
			"try $try: says so");
	}
	else { is($s, $s == 258 ? 258 : 0, "try $try: ended before"); }
	($s, $o, $e) = $h->pgseries('apply');
	is($s, 0, "try $try: next run is clean") or diag($e);
	like(slurp($h->dir . '/work/tree/README'),
		qr/^three\n(.*\n)*twenty\n/m, "try $try: and complete");
	my @left = grep { !/\/(tree|scratch|upstream|lock|home)$/ }
	  glob($h->dir . '/work/*');
	is("@left", '', "try $try: nothing is left behind");
}
cmp_ok($interrupted, '>', 3, 'several tries were interrupted');

done_testing();
