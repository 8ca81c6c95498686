# Patches as files and as commits: apply, export, round trip, conflicts, and
# interrupts at any moment.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/lib", "$FindBin::RealBin/../lib";

use File::Path qw(make_path remove_tree);
use Fixture    qw(append refuses slurp spew);
use PgSeries::Config;
use PgSeries::Series;
use PgSeries::Util qw(note_interrupts);
use Test::More;
use Time::HiRes qw(time);

my $f = Fixture->new;
my $dir = $f->dir;
my $tree = "$dir/work/tree";
my $patches = "$dir/patches/18";
my ($status, $out, $err);

sub commit
{
	my ($file, $text, @message) = @_;
	my $path = "$tree/$file";
	spew($path, -e $path ? slurp($path) : '', $text);
	$f->git(qw(add -A));
	$f->git('commit', '-qm', @message);
	return;
}

# Export succeeds and says this; after it, there is nothing to say.
sub exports
{
	my ($said, $what, @options) = @_;
	my ($s, $o, $e) = $f->pgseries('export', @options);
	is($o, $said, "export: $what") or diag($e);
	($s, $o, $e) = $f->pgseries('check', '--round-trip');
	is("$s$e", '0', "round trip: $what") or diag($o);
	return;
}

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

for (7, 'x')
{
	$f->pgseries('apply', $_);
	refuses(2, "no patch $_", "apply $_");
}
my $commit = $f->git('rev-parse', 'series');
$f->pgseries('apply');
$f->pgseries('apply', 1);
is($f->git('rev-parse', 'series'),
	$commit, 'the same patches give the same commit');
$f->pgseries('apply');
exports("patches/ and the worktree agree\n", 'nothing has changed');
($status, $out) = $f->pgseries('status');
like(
	$out,
	qr{^base: \Q$patches\E, for PostgreSQL 18\.6\n(.*\n)*topic two: .*\n +2  two/0001  Change line 20\n}m,
	'status names base, topic and place');

# What is not committed, or not exported, is kept.
spew("$tree/README", map { "line $_\n" } 1 .. 31);
$f->pgseries('apply');
refuses(2, 'uncommitted changes', 'apply on a dirty worktree');
$f->pgseries('export');
refuses(2, 'uncommitted changes', 'export of a dirty worktree');
like(slurp("$tree/README"), qr/line 31/, 'the change is still there');
$f->git(qw(checkout README));
my %before = map { $_ => slurp($_) } glob "$patches/*/*";
commit('src/a.c', "int b = 2;\n", 'Add a variable');
$f->pgseries('apply');
refuses(2, 'not in patches', 'apply over a commit that is not exported');
($status, $out, $err) = $f->pgseries('export', '--dry-run');
is($status, 1, 'export --dry-run: exit status 1 for a difference');
is($out, "new: two/0002-Add-a-variable.patch\n", 'and names it');
$f->pgseries('export', '--topic=my topic');
refuses(2, '"my topic" is no name of a topic', 'export with a bad topic');
is_deeply({ map { $_ => slurp($_) } glob "$patches/*/*" },
	\%before, 'and nothing is written');

# A new topic; the comments stay, also those of one that has no patch yet.
append("$patches/series", "# topic: later\n# It is empty.\n");
exports("new: three/0001-Add-a-variable.patch\n",
	'a new topic', '--topic=three');
is(slurp("$patches/series"), <<'EOT', 'series: comments and groups stay');
# a comment that stays

# topic: one
one/0001-Change-line-3.patch

# topic: two
two/0001-Change-line-20.patch

# topic: three
three/0001-Add-a-variable.patch

# topic: later
# It is empty.
EOT
like(
	slurp("$patches/three/0001-Add-a-variable.patch"),
	qr/\AFrom 0{40} .*\nFrom: A <a\@b>\n.*\nSubject: \[PATCH\] Add a variable\n/,
	'form of an exported patch');
is(slurp($_), $before{$_}, 'a patch that did not change is left as it is')
  for keys %before;

# A commit in front: its neighbour's topic, whose numbers change, and no other's.
$f->git(qw(checkout -q --detach upstream));
commit('src/b.c', "int first;\n", 'Start a file');
$f->git(qw(rebase -q HEAD series));
exports(
	"new: one/0001-Start-a-file.patch\n"
	  . "renamed: one/0001-Change-line-3.patch -> one/0002-Change-line-3.patch\n",
	'a commit in front');
is( slurp("$patches/one/0002-Change-line-3.patch"),
	$before{"$patches/one/0001-Change-line-3.patch"},
	'only the number has changed');

# Between two topics it must be said which.
$f->git(qw(checkout -q --detach series~2));
commit('src/c.c', "int between;\n", 'Stand between');
$f->git(qw(rebase -q HEAD series));
$f->pgseries('export');
refuses(
	2,
	'"Stand between" is new and stands between the topics one two',
	'a commit between two topics');
exports(
	"new: one/0003-Stand-between.patch\n",
	'a commit of the topic named',
	'--topic=one');

# Another order within a topic; not across topics; not the same subject twice.
my $reordered = sub {
	$f->git(qw(checkout -q --detach upstream));
	$f->git('cherry-pick', @_);
	$f->git(qw(checkout -q -B series));
};
my @commits = split /\n/, $f->git(qw(rev-list --reverse upstream..series));
$reordered->(@commits[ 1, 0, 2, 3, 4 ]);
exports(
	"renamed: one/0002-Change-line-3.patch -> one/0001-Change-line-3.patch\n"
	  . "renamed: one/0001-Start-a-file.patch -> one/0002-Start-a-file.patch\n",
	'another order');
$reordered->(@commits[ 0, 1, 3, 2, 4 ]);
$f->pgseries('export', '--topic=one');
refuses(
	2,
	'topic one is opened twice',
	'a commit among those of another topic');
$reordered->(@commits);
commit('src/c.c', "int again;\n", 'Change line 3');
$f->pgseries('export');
refuses(2, 'two commits have the subject "Change line 3"', 'a subject twice');

# A patch that moves to another topic: its file and its line.
$f->git(qw(reset -q --hard), $commits[-1]);
$reordered->(@commits[ 1, 0, 2, 3, 4 ]);
$f->pgseries('apply');
rename "$patches/two/0001-Change-line-20.patch",
  "$patches/one/0004-Change-line-20.patch"
  or die $!;
(my $text = slurp("$patches/series")) =~ s{^two/.*\n}{}m;
$text =~ s{(?<=between\.patch\n)}{one/0004-Change-line-20.patch\n};
spew("$patches/series", $text);
exports("changed: series\n", 'a patch has moved to another topic');
ok(!glob("$patches/two/*"), 'it is there no more');

# After a new subject the old patch must be given up; the directory of a topic without
# patches goes.
append("$tree/src/a.c", "int more;\n");
$f->git(qw(commit -q -a --amend -m), 'Add two');
$f->pgseries('export', '--topic=four');
refuses(2, 'no commit for 1 of the patches', 'a subject that is gone');
ok(-e "$patches/three/0001-Add-a-variable.patch", 'and removes nothing');
exports(
	"new: four/0001-Add-two.patch\nremoved: three/0001-Add-a-variable.patch\n",
	'a patch is given up', '--topic=four', '--remove');
ok(!-e "$patches/three", 'its directory is gone');
like(slurp("$patches/series"), qr/^# It is empty\.$/m, 'comments are not');

# Only offsets, and its number, change in the patch of line 20 when that of line 3
# adds a line.
my $twenty = slurp("$patches/one/0004-Change-line-20.patch");
@commits = split /\n/, $f->git(qw(rev-list --reverse upstream..series));
$f->git(qw(checkout -q --detach upstream));
spew("$tree/README",
	map { $_ == 3 ? "three\nthree and a half\n" : "line $_\n" } 1 .. 30);
$f->git(qw(commit -qam), 'Change line 3', '-m', 'The body of the message.');
$f->git('cherry-pick', @commits[ 1, 3, 2, 4 ]);
$f->git(qw(checkout -q -B series));
exports(
	"changed: one/0001-Change-line-3.patch\n"
	  . "renamed: one/0004-Change-line-20.patch -> one/0003-Change-line-20.patch\n"
	  . "renamed: one/0003-Stand-between.patch -> one/0004-Stand-between.patch\n",
	'one patch has changed');
is(slurp("$patches/one/0003-Change-line-20.patch"),
	$twenty, 'one of which only offsets changed is left as it is');

# The same change at another place where the lines around are the same.
commit('twice', join('', ("same\n") x 30), 'Add a file');
$f->pgseries('export');
for my $line (10, 20)
{
	my @lines = ("same\n") x 30;
	splice @lines, $line, 0, "added\n";
	spew("$tree/twice", @lines);
	$f->git(qw(commit -qam), 'Add a line') if $line == 10;
	$f->pgseries('export') if $line == 10;
}
$f->git(qw(commit -q -a --amend --no-edit));
exports("changed: four/0003-Add-a-line.patch\n", 'a hunk at another place');
is((split /^/, slurp("$tree/twice"))[20], "added\n", 'it is kept');

# With fewer patches applied, export does not drop the others.
$f->pgseries('apply', 1);
commit('src/a.c', "int c = 3;\n", 'Add another variable');
$f->pgseries('export', '--topic=one');
refuses(2, 'no commit for 6 of the patches', 'export after apply 1');
is(() = glob("$patches/*/*.patch"), 7, 'the other patches are still there');

# Work that is not on the branch "series".
$f->git(qw(checkout -q -B series series~1));
$f->git(qw(checkout -q --detach));
commit('src/a.c', "int d = 4;\n", 'Add it elsewhere');
$f->pgseries('export');
refuses(2, 'not on the branch', 'export of a detached HEAD');
($status, $out, $err) = $f->pgseries('apply');
refuses(2, 'not in patches', 'apply over commits of a detached HEAD');
like($err, qr/Add it elsewhere/, 'which are named');
$f->git(qw(checkout -q series));
($status, $out, $err) = $f->pgseries('apply');
is($status, 0, 'apply when they are left') or diag($err);

# A merge cannot be a patch.
$f->git(qw(checkout -q -b side series~1));
commit('side', "side\n", 'Beside it');
$f->git(qw(checkout -q series));
$f->git(qw(merge -q --no-edit side));
$f->pgseries('export');
refuses(2, 'no line of commits on upstream', 'export of a merge');

# A patch that does not apply.
$f = Fixture->new;
$dir = $f->dir;
$tree = "$dir/work/tree";
$patches = "$dir/patches/18";
$f->pgseries('apply', 0);
my $second = "$patches/two/0001-Change-line-20.patch";
my $good = slurp($second);
spew($second, $good =~ s/^-line 20$/-line twenty-one/mr);
($status, $out, $err) = $f->pgseries('apply');
refuses(
	3,
	'two/0001-Change-line-20.patch does not apply',
	'a patch that does not apply');
like(
	$err,
	qr/; run: pgseries apply 1; there: git am -3.*"A new minor release"/,
	'with a remedy');
like($err, qr/README:1[78]/, 'file and line are named');
like($err, qr/^-line twenty-one\n\+twenty$/m, 'the hunk is shown');
is($f->git(qw(status --porcelain)), '', 'the worktree is left alone');
($status, $out, $err) = $f->pgseries('apply', 1);
is($status, 0, 'the patches before it still apply') or diag($err);
$f->git(qw(am -3), $second);
$f->pgseries('apply');
refuses(2, 'in progress', 'apply while git am is in progress');
$f->git(qw(am --abort));
spew($second, $good);
($status) = $f->pgseries('apply');
is($status, 0, 'the mended one applies');

# One that applies only after another topic.
spew($second, $good =~ s/^ line 18$/ line eighteen/mr);
$f->patch('one/0001-Change-line-3.patch', 'README', 18, 'line eighteen');
($status, $out, $err) = $f->pgseries('apply');
is($status, 0, 'all patches in their order apply') or diag($err);
$f->pgseries('check', '--round-trip');
refuses(
	3,
	'two/0001-Change-line-20.patch does not apply',
	'a topic that does not apply alone');
$f->patch('one/0001-Change-line-3.patch', 'README', 3, 'three');
spew($second, $good);

# The list.
%ENV = (%ENV, $f->environment);
my $config = PgSeries::Config->new(top => $dir);
my ($one, $two) =
  qw(one/0001-Change-line-3.patch two/0001-Change-line-20.patch);
for (
	[
		"# topic: one\none/0009-none.patch\n" => ':4: no such patch: one/0009'
	],
	[ "# topic: my topic\n" => ':3: "my topic" is no name' ],
	[ "# topic: one\n$one\n$one\n" => ':5: .* is listed twice' ],
	[ "$one\n" => ':3: bad line' ],
	[ "# topic: two\n$one\n" => ':4: bad line' ],
	[ "# topic: one\n$one # x\n" => ':4: bad line' ],
	[ "# topic: one\n$one\n# topic: one\n" => 'topic one is opened twice' ],
	[ "# topic: one\n# needs: two\n$one\n# topic: two\n" => 'needs "two"' ],
	[ "# topic: one\n# needs: one\n$one\n" => 'needs "one", which is no' ])
{
	my ($list, $like) = @$_;
	$f->series($list);
	$f->pgseries('status');
	refuses(2, "series.*$like", "series: $like");
}
my $alone = sub {
	my ($topic) = @_;
	return join ' ',
	  map { $_->{file} } PgSeries::Series->new($config)->alone($topic);
};
$f->series("# topic: one\n$one\n# topic: two\n$two\n");
is($alone->('two'), $two, 'a topic alone');
$f->series("# topic: one\n$one\n# topic: x\n# needs: one\n"
	  . "# topic: two\n# Words.\n# needs: x\n$two\n");
is($alone->('two'), "$one $two", 'a topic with those that it needs');
is($alone->('one'), $one, 'and without those that need it');
is(PgSeries::Series->new($config)->about('two')->{about},
	'Words.', 'what is said of a topic');

# An interrupt while export writes comes when it has ended.  An error, as of a full
# disk: the patches can still be read, and the next export ends it.
note_interrupts();
for my $try (0 .. 5)
{
	$f = Fixture->new;
	$patches = $f->dir . '/patches/18';
	$tree = $f->dir . '/work/tree';
	%ENV = (%ENV, $f->environment);
	$f->pgseries('apply');
	$f->git(qw(checkout -q --detach upstream));
	commit('src/b.c', "int first;\n", 'Start a file');
	$f->git(qw(rebase -q HEAD series));
	my $s = PgSeries::Series->new(PgSeries::Config->new(top => $f->dir));
	my $writes = $try % 3;
	{
		no warnings qw(redefine);
		local *PgSeries::Series::write_file = sub {
			if ($writes-- == 0)
			{
				die "stopped\n" if $try >= 3;
				kill 'INT', $$;
			}
			return PgSeries::Util::write_file(@_);
		};
		local %SIG = %SIG;
		ok(!eval { $s->export; 1 }, "try $try: export is stopped");
	}
	if ($try < 3) { is($@->{code}, 130, "try $try: by the interrupt"); }
	else
	{
		(undef, $out, $err) = $f->pgseries('status');
		is($err, '', "try $try: the list is whole");
		$f->pgseries('export');
	}
	is( join(' ', map { s{.*/}{}r } glob "$patches/*/*"),
		'0001-Start-a-file.patch 0002-Change-line-3.patch 0001-Change-line-20.patch',
		"try $try: the files");
	exports("patches/ and the worktree agree\n", "try $try: all is written");
}

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
	append($h->dir . "/patches/18/$two", "\n");
	my ($s, $o, $e) = $h->pgseries('apply');
	is($s, 0, 'apply when the repository is gone') or diag($e);
	is(join(' ', glob "$work/b/x/*"),
		'', 'its worktrees are gone, too, and so is what they had built');
	is( `git -C $work/scratch log -1 --format=%s 2>&1`,
		"Change line 20\n",
		'the tool\'s own one is made again');
}

# An interrupt at any moment: exit status 130, no work lost, next run clean.
my $g = Fixture->new;
my $start = time;
$g->pgseries('apply');
my $whole = time - $start;
my $interrupted = 0;
for my $try (0 .. 15)
{
	my $h = Fixture->new;
	my $later = $try >= 8;
	if ($later)
	{
		# As above, but with the repository already made.
		$h->pgseries('apply', 1);
	}
	$h->{interrupt_after} =
	  0.05 + $whole * ($later ? 0.5 : 1) * ($try % 8) / 8;
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
