# Patches as files and as commits: apply, export, round trip, conflicts, and
# interrupts at any moment.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/lib", "$FindBin::RealBin/../lib";

use File::Path qw(make_path remove_tree);
use Fixture    qw(append slurp spew);
use PgSeries::Config;
use PgSeries::Series;
use PgSeries::Util qw(note_interrupts);
use Test::More;
use Time::HiRes qw(time);

my ($f, $dir, $tree, $patches);
my ($one, $two) =
  qw(one/0001-Change-line-3.patch two/0001-Change-line-20.patch);
my $agree = "patches/ and the worktree agree\n";

# A new project, with all or some patches applied.
sub start
{
	my (@apply) = @_;
	$f = Fixture->new;
	$dir = $f->dir;
	$tree = "$dir/work/tree";
	$patches = "$dir/patches/18";
	$f->succeeds(@apply) if @apply;
	return;
}

sub files
{
	return join ' ', map { s{.*/}{}r } glob "$patches/*/*";
}

# A commit that adds to a file.
sub commit
{
	my ($file, $text, $subject) = @_;
	my $path = "$tree/$file";
	spew($path, -e $path ? slurp($path) : '', $text);
	$f->git(qw(add -A));
	$f->git('commit', '-qm', $subject);
	return;
}

# The branch is upstream and these commits; without any, it is checked out.
sub pick
{
	my (@commits) = @_;
	$f->git(qw(checkout -q --detach upstream));
	$f->git('cherry-pick', @commits);
	$f->git(qw(checkout -q -B series));
	return;
}

sub commits
{
	return split /\n/, $f->git(qw(rev-list --reverse upstream..series));
}

# Export succeeds and says this; after it, there is nothing to say.
sub exports
{
	my ($said, @options) = @_;
	my ($out) = $f->succeeds('export', @options);
	is($out, $said, 'and says what it does');
	$f->succeeds(qw(check --round-trip));
	return;
}

# Apply.
start('apply');
like(slurp("$tree/README"), qr/^three\n(.*\n)*twenty\n/m, 'both are applied');
is( slurp("$tree/hidden"),
	"tracked, though ignored\n",
	'also what .gitignore hides');
$f->succeeds('apply', 1);
unlike(slurp("$tree/README"), qr/twenty/, 'only the first patch is applied');
my $commit = $f->git(qw(rev-parse series));
$f->refused(2, "no patch $_", 'apply', $_) for 7, 'x';
$f->pgseries('apply');
is($f->git(qw(rev-parse series~1)), $commit, 'the same commit');
exports($agree);

# What is not committed, or not exported, is kept.
append("$tree/README", "line 31\n");
$f->refused(2, 'uncommitted changes', 'apply');
$f->refused(2, 'uncommitted changes', 'export');
like(slurp("$tree/README"), qr/line 31/, 'the change is still there');
$f->git(qw(checkout README));
commit('src/a.c', "int b = 2;\n", 'Add a variable');
$f->refused(2, 'not in patches', 'apply');
my %before = map { $_ => slurp($_) } glob "$patches/*/*";
my ($status, $said) = $f->pgseries(qw(export --dry-run));
is( "$status $said",
	"1 new: two/0002-Add-a-variable.patch\n",
	'export --dry-run: exit status 1 for a difference');
$f->refused(2, '"my topic" is no name of a topic',
	'export', '--topic=my topic');
is_deeply({ map { $_ => slurp($_) } glob "$patches/*/*" },
	\%before, 'unchanged');

# A new topic; the comments stay, also those of one that has no patch yet.
append("$patches/series", "# topic: later\n# It is empty.\n");
exports("new: three/0001-Add-a-variable.patch\n", '--topic=three');
is(slurp("$patches/series"), <<"EOT", 'series: comments and groups stay');
# a comment that stays

# topic: one
$one

# topic: two
$two

# topic: three
three/0001-Add-a-variable.patch

# topic: later
# It is empty.
EOT
like(
	slurp("$patches/three/0001-Add-a-variable.patch"),
	qr/\AFrom 0{40} .*\nFrom: A <a\@b>\n.*\nSubject: \[PATCH\] Add a variable\n/,
	'form of an exported patch');
is(slurp($_), $before{$_}, 'left as it is') for keys %before;

# A commit in front: its neighbour's topic, whose numbers change, and no other's.
# Between two topics it must be said which.
my @commits = commits();
$f->git(qw(checkout -q --detach upstream));
commit('src/b.c', "int first;\n", 'Start a file');
$f->git(qw(rebase -q HEAD series));
exports("new: one/0001-Start-a-file.patch\n"
	  . "renamed: $one -> one/0002-Change-line-3.patch\n");
is( slurp("$patches/one/0002-Change-line-3.patch"),
	$before{"$patches/$one"},
	'only its number');
$f->git(qw(checkout -q --detach series~2));
commit('src/c.c', "int between;\n", 'Stand between');
$f->git(qw(rebase -q HEAD series));
$f->refused(2,
	'"Stand between" is new and stands between the topics one two', 'export');
exports("new: one/0003-Stand-between.patch\n", '--topic=one');

# Another order within a topic; not across topics; not the same subject twice; no
# merge.
@commits = commits();
pick(@commits[ 1, 0, 2, 3, 4 ]);
exports("renamed: one/0002-Change-line-3.patch -> $one\n"
	  . "renamed: one/0001-Start-a-file.patch -> one/0002-Start-a-file.patch\n"
);
pick(@commits[ 0, 1, 3, 2, 4 ]);
$f->refused(2, 'topic one is opened twice', qw(export --topic=one));
pick(@commits);
commit('src/c.c', "int again;\n", 'Change line 3');
$f->refused(2, 'two commits have the subject "Change line 3"', 'export');
pick(@commits[ 1, 0, 2, 3, 4 ]);
$f->git(qw(checkout -q -b side series~1));
commit('side', "side\n", 'Beside it');
$f->git(qw(checkout -q series));
$f->git(qw(merge -q --no-edit side));
$f->refused(2, 'no line of commits on upstream', 'export');
$f->git(qw(reset -q --hard series~1));

# A patch that moves to another topic: its file and its line.
rename "$patches/$two", "$patches/one/0004-Change-line-20.patch" or die $!;
spew("$patches/series",
	slurp("$patches/series") =~ s{^two/.*\n}{}mr =~
	  s{(?<=between\.patch\n)}{one/0004-Change-line-20.patch\n}r);
exports("changed: series\n");
ok(!glob("$patches/two/*"), 'it is there no more');

# After a new subject the old patch must be given up; the directory of a topic without
# patches goes.
$f->git(qw(commit -q --amend -m), 'Add two');
$f->refused(2, 'no commit for 1 of the patches', qw(export --topic=four));
ok(-e "$patches/three/0001-Add-a-variable.patch", 'and removes nothing');
exports(
	"new: four/0001-Add-two.patch\nremoved: three/0001-Add-a-variable.patch\n",
	'--topic=four', '--remove');
ok(!-e "$patches/three", 'its directory is gone');
like(slurp("$patches/series"), qr/^# It is empty\.$/m, 'comments are not');

# Only offsets, and its number, change in the patch of line 20 when that of line 3
# adds a line.
my $twenty = slurp("$patches/one/0004-Change-line-20.patch");
@commits = commits();
pick($commits[0]);
spew("$tree/README",
	map { $_ == 3 ? "three\nthree and a half\n" : "line $_\n" } 1 .. 30);
$f->git(qw(commit -qa --amend --no-edit));
$f->git('cherry-pick', @commits[ 1, 3, 2, 4 ]);
exports("changed: $one\n"
	  . "renamed: one/0004-Change-line-20.patch -> one/0003-Change-line-20.patch\n"
	  . "renamed: one/0003-Stand-between.patch -> one/0004-Stand-between.patch\n"
);
is(slurp("$patches/one/0003-Change-line-20.patch"),
	$twenty, 'one of which only offsets changed is left as it is');

# Another message, and the same change at another place where the lines around are the
# same.
$f->git(qw(commit -q --amend -m), 'Add two', '-m', 'Why.');
exports("changed: four/0001-Add-two.patch\n");
my @same = ("same\n") x 30;
commit('twice', join('', @same), 'Add a file');
commit('twice', "last\n", 'Add a line');
for my $line (10, 20)
{
	spew("$tree/twice", @same[ 1 .. $line ], "added\n", @same[ $line .. 29 ]);
	$f->git(qw(commit -q -a --amend --no-edit));
	$f->succeeds('export');
}
$f->succeeds(qw(check --round-trip));
$f->succeeds('apply');
is((split /^/, slurp("$tree/twice"))[20], "added\n", 'it is kept');

# With fewer patches applied, export does not drop the others; nor is work lost that is
# not on the branch "series".
$f->succeeds('apply', 1);
commit('src/a.c', "int c = 3;\n", 'Add another variable');
$f->refused(2, 'no commit for 6 of the patches', qw(export --topic=one));
is(() = glob("$patches/*/*.patch"), 7, 'the other patches are still there');
$f->git(qw(checkout -q -B series series~1));
$f->git(qw(checkout -q --detach));
commit('src/a.c', "int d = 4;\n", 'Add it elsewhere');
$f->refused(2, 'not on the branch', 'export');
$f->refused(2, 'not in patches', 'apply');
like(slurp("$dir/err"), qr/Add it elsewhere/, 'which are named');
$f->git(qw(checkout -q series));
$f->succeeds('apply');

# A patch that does not apply; one that applies only after another topic.
start('apply', 0);
my $good = slurp("$patches/$two");
spew("$patches/$two", $good =~ s/^-line 20$/-line twenty-one/mr);
$f->refused(3,
	"$two does not apply; run: pgseries apply 1; there: git am -3", 'apply');
like(
	slurp("$dir/err"),
	qr/README:1[78]\n(.*\n)*-line twenty-one\n\+twenty$/m,
	'file, line and hunk are shown');
is($f->git(qw(status --porcelain)), '', 'the worktree is left alone');
$f->succeeds('apply', 1);
$f->git(qw(am -3), "$patches/$two");
$f->refused(2, 'in progress', 'apply');
$f->git(qw(am --abort));
spew("$patches/$two", $good =~ s/^ line 18$/ line eighteen/mr);
$f->patch($one, 'README', 18, 'line eighteen');
$f->succeeds('apply');
$f->refused(3, "$two does not apply", qw(check --round-trip));

# The list.
$f->patch($one, 'README', 3, 'three');
spew("$patches/$two", $good);
%ENV = (%ENV, $f->environment);
my $config = PgSeries::Config->new(top => $dir);
for (
	[ "# topic: one\none/0009-no.patch\n" => ':4: no such patch: one/0009' ],
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
	$f->refused(2, "series.*$like", 'status');
}

sub alone
{
	my ($topic) = @_;
	my $series = PgSeries::Series->new($config);
	return join ' ', map { $_->{file} } $series->alone($topic);
}
$f->series("# topic: one\n$one\n# topic: two\n$two\n");
is(alone('two'), $two, 'a topic alone');
$f->series("# topic: one\n$one\n# topic: x\n# needs: one\n"
	  . "# topic: two\n# Words.\n# needs: x\n$two\n");
is(alone('two'), "$one $two", 'a topic with those that it needs');
is(alone('one'), $one, 'and without those that need it');
is(PgSeries::Series->new($config)->about('two')->{about},
	'Words.', 'its words');

# An interrupt while export writes comes when it has ended.  An error, as of a full
# disk: the patches can still be read, and the next export ends it.
note_interrupts();
for my $try (0 .. 5)
{
	start();
	%ENV = (%ENV, $f->environment);
	$f->pgseries('apply');
	$f->git(qw(checkout -q --detach upstream));
	commit('src/b.c', "int first;\n", 'Start a file');
	$f->git(qw(rebase -q HEAD series));
	my $s = PgSeries::Series->new(PgSeries::Config->new(top => $dir));
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
	if ($try < 3) { is($@->{code}, 130, 'by the interrupt'); }
	else
	{
		is(($f->pgseries('status'))[2], '', 'the list is whole');
		$f->pgseries('export');
	}
	is( files(),
		'0001-Start-a-file.patch 0002-Change-line-3.patch 0001-Change-line-20.patch',
		'the files');
	exports($agree);
}

# A message that git am would not give back is refused, and nothing is lost.
foreach my $body ("x\n---\ny", "x\n\nIndex: y\nz", "From: X <x\@y>\n\nx")
{
	start('apply');
	commit('src/b.c', "int first;\n", "Start a file\n\n$body");
	$f->refused(2, '"Start a file" does not survive as a patch',
		'export', '--topic=two');
	is( files(),
		'0001-Change-line-3.patch 0001-Change-line-20.patch',
		'nothing is written');
}
start('apply');
$f->git(qw(commit -q --allow-empty -m Nothing));
$f->refused(2, 'does not survive as a patch', 'export', '--topic=two');

# Patches that somebody else has changed meanwhile
start('apply');
commit('src/b.c', "int first;\n", 'Start a file');
spew("$patches/$one", slurp("$patches/$one") =~ s/The body/Their body/r);
$f->refused(2, 'has changed since apply or export', 'export', '--topic=two');
like(slurp("$patches/$one"), qr/Their body/, 'they stay');
$f->succeeds('export', '--topic=two', '--overwrite');
unlike(slurp("$patches/$one"), qr/Their body/, 'unless they are to go');
exports($agree);

# What a full disk leaves of a checkout is nobody's change.
start('apply', 0);
$f->git(qw(update-ref refs/pgseries-state/checkout upstream));
append("$tree/README", "half\n");
$f->succeeds('apply');
is($f->git(qw(status --porcelain)), '', 'a checkout is completed');

# A branch that is gone, in a tree with work: nothing is unpacked or dropped.
start('apply');
$f->git(qw(branch -m upstream other));
$f->refused(2, 'has no branch "upstream"', 'status');
ok(-e "$dir/work/scratch/.git", 'the scratch tree stays');
$f->git(qw(branch -m other upstream));

# A work directory that was moved
start('apply');
rename "$dir/work", "$dir/moved" or die $!;
spew("$patches/$one", slurp("$patches/$one") =~ s/The body/A body/r);
$f->succeeds('apply', { PGSERIES_WORKDIR => "$dir/moved" });
is( `git -C $dir/moved/scratch rev-parse --path-format=absolute --git-common-dir`,
	"$dir/moved/tree/.git\n",
	'has worktrees of its own');
rename "$dir/moved", "$dir/work" or die $!;

# What the remedy for a damaged repository says: remove it, and run the same command
# again.
my $work = "$dir/work";
make_path("$work/b/x");
$f->git(qw(worktree add -q), "$work/b/x/src", 'upstream');
spew("$work/b/x/stamp", "built\n");
remove_tree($tree);
append("$patches/$two", "\n");
$f->succeeds('apply');
is(join(' ', glob "$work/b/x/*"), '', 'builds are gone, too');
is( `git -C $work/scratch log -1 --format=%s 2>&1`,
	"Change line 20\n",
	'a new scratch tree');

# An interrupt at any moment, without and with the repository already made: exit
# status 130, no work lost, next run clean.
start();
my $begin = time;
$f->pgseries('apply');
my $whole = time - $begin;
my $interrupted = 0;
for my $try (0 .. 15)
{
	start();
	my $made = $try >= 8;
	$f->pgseries('apply', 1) if $made;
	$f->{interrupt_after} =
	  0.05 + $whole * ($made ? 0.5 : 1) * ($try % 8) / 8;
	my ($s, $o, $e) = $f->pgseries('apply');
	$f->{interrupt_after} = 0;
	if ($s == 130)
	{
		$interrupted++;
		like(
			$e,
			qr/^pgseries: interrupted by SIGINT; .*same command/m,
			"try $try: says so");
	}
	else
	{
		is($s, $s == 258 ? 258 : 0, "try $try: ended before")
		  or diag($e);
	}
	$f->succeeds('apply');
	like(slurp("$tree/README"), qr/^three\n(.*\n)*twenty\n/m, 'all is there');
	my @left =
	  grep { !/\/(tree|scratch|upstream|lock|home)$/ } glob("$dir/work/*");
	is("@left", '', 'nothing is left behind');
}
cmp_ok($interrupted, '>', 3, 'several tries were interrupted');

done_testing();
