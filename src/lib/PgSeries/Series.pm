package PgSeries::Series;

use strict;
use warnings FATAL => 'all';

use Digest::SHA    qw(sha256_hex);
use File::Basename qw(basename dirname);
use File::Glob     qw(:bsd_glob);
use File::Path     qw(remove_tree);
use File::Temp     ();
use PgSeries::Git  qw(git git_capture git_status patched_tree);
use PgSeries::Upstream;
use PgSeries::Util
  qw(fail info make_dir on_exit progress read_file write_file);

=pod

=head1 NAME

PgSeries::Series - patches as files, and as commits on upstream

=head1 SYNOPSIS

  my $series = PgSeries::Series->new($config);
  my $commit = $series->commit_of($series->patches);

=head1 DESCRIPTION

patches/18/series lists the patches in order, one path a line, C<TOPIC/NNNN-words.patch>,
as quilt reads it.  A line C<# topic: NAME> opens each topic; what stands
above the first one, and the comments below each, are kept.  Numbers are counted
within a topic, so that C<git am TOPIC/*.patch> applies it on plain upstream
without the others; only where a line C<# needs: NAME> names another topic, that
one comes first.

All git work is done in one repository, WORK/tree:

  upstream             branch: the release, one commit
  series               branch: the person's; "apply" sets it, "export" reads it
  refs/pgseries/KEY    upstream plus some patches, found again by a key made
                       from the contents of these patches

Commits are made with the author's date as the committer's, so the same patches
give the same commit everywhere.

=over

=item new($config)

Reads patches/18/series.

=cut

my $TOPIC = qr/^[\w-]+\z/;

sub new
{
	my ($class, $config) = @_;
	my $dir = $config->patches;
	my $self = bless {
		config => $config,
		dir => $dir,
		upstream => PgSeries::Upstream->new($config),
		patches => [],
	}, $class;
	my %seen;
	for my $entry (entries(read_file("$dir/series")))
	{
		my ($file, $topic, $needs) = @$entry{qw(file topic needs)};
		my $at = "$dir/series:$entry->{line}";
		fail(
			2,
			"$at: \"$topic\" is no name of a topic",
			'use letters, digits and hyphens'
		) if defined $topic && $topic !~ $TOPIC;
		fail(
			2,
			"$at: topic $topic needs \"$needs\", which is no topic before it",
			'correct the name, or move the topic'
		) if defined $needs && !grep { $_ eq $needs } $self->topics;
		$self->{needs}{$topic} = $needs if defined $needs;
		next unless defined $file;
		fail(
			2,
			"$at: bad line \"$file\"",
			'write one path a line, TOPIC/NNNN-words.patch, below "# topic: TOPIC"'
		) unless defined $topic && $file =~ m{^\Q$topic\E/[^\s/]+\z};
		fail(
			2,
			"$at: no such patch: $file",
			'correct the name or restore the file') unless -f "$dir/$file";
		fail(2, "$at: $file is listed twice", 'remove one of the lines')
		  if $seen{$file}++;
		push @{ $self->{patches} },
		  {
			file => $file,
			path => "$dir/$file",
			topic => $topic,
			number => scalar @{ $self->{patches} } + 1,
		  };
	}
	return $self;
}

=item entries($text)

A function.  Returns what the text of a series file says, right or wrong: a list
of { line, file, topic }, without C<file> where a line opens the topic, and with
C<needs> instead where it names another one.

=cut

sub entries
{
	my ($text) = @_;
	my (@entries, $topic);
	my $number = 0;
	for my $line (split /\n/, $text)
	{
		$number++;
		my %entry = (line => $number);
		if ($line =~ /^#\s*topic:\s*(.*?)\s*$/)
		{
			$topic = $1;
		}
		elsif (defined $topic && $line =~ /^#\s*needs:\s*(.*?)\s*$/)
		{
			$entry{needs} = $1;
		}
		elsif ($line =~ /^\s*([^#\s].*?)\s*$/)
		{
			$entry{file} = $1;
		}
		else { next; }
		push @entries, { %entry, topic => $topic };
	}
	return @entries;
}

=item patches, topics, upstream, tree

The list of patches, each { file, path, topic, number }; the names of the
topics in order; the PgSeries::Upstream; the repository's path.

=cut

sub patches  { my ($self) = @_; return @{ $self->{patches} }; }
sub upstream { my ($self) = @_; return $self->{upstream}; }

sub topics
{
	my ($self) = @_;
	my %seen;
	return grep { !$seen{$_}++ } map { $_->{topic} } $self->patches;
}

sub tree
{
	my ($self) = @_;
	my $tree = $self->{config}->work . '/tree';
	if (!$self->{imported}++)
	{
		$self->{upstream}->import_into($tree);

		# No other command of the tool is running, and nobody else touches
		# these: an interrupt left them.
		unlink glob("$tree/.git/refs/{pgseries,pgseries-state}/*.lock");
	}
	return $tree;
}

=item topic($name), alone($name), prefix($n)

The patches of a topic; the same after those of the topic that it needs, if any;
the first $n patches.  Unknown names raise an error.

=cut

sub topic
{
	my ($self, $name) = @_;
	my @patches = grep { $_->{topic} eq $name } $self->patches;
	fail(
		2,
		"there is no topic \"$name\"",
		'choose one of: ' . join(', ', $self->topics)) unless @patches;
	return @patches;
}

sub alone
{
	my ($self, $name) = @_;
	my @patches = $self->topic($name);
	my $needs = $self->{needs}{$name};
	return ((defined $needs ? $self->alone($needs) : ()), @patches);
}

sub prefix
{
	my ($self, $n) = @_;
	my $all = $self->patches;
	fail(2, "there is no patch $n", "choose a number from 0 to $all")
	  if $n !~ /^\d+$/ || $n > $all;
	return ($self->patches)[ 0 .. $n - 1 ];
}

=item subject($path)

The summary line of a patch file, without "[PATCH]".

=cut

sub subject
{
	my ($self, $path) = @_;
	return subject_of(read_file($path));
}

sub subject_of
{
	my ($text) = @_;
	my ($subject) = $text =~ /^Subject:[ \t]*((?:.*)(?:\n[ \t].*)*)/m;
	$subject = '(no subject)' unless defined $subject;
	$subject =~ s/\n[ \t]+/ /g;
	$subject =~ s/^\[PATCH[^\]]*\]\s*//;
	return $subject;
}

=item summaries(@patches)

The patches (all by default) as { file, topic, subject }.

=cut

sub summaries
{
	my ($self, @patches) = @_;
	return map {
		{
			file => $_->{file},
			topic => $_->{topic},
			subject => $self->subject($_->{path})
		}
	} @patches ? @patches : $self->patches;
}

=item key(@patches)

A short name for these contents on this upstream.

=cut

sub key
{
	my ($self, @patches) = @_;
	return ($self->keys_of(@patches))[-1];
}

# The keys of the first 0, 1, 2, ... patches.
sub keys_of
{
	my ($self, @patches) = @_;
	my @keys = ($self->{upstream}{tree});
	push @keys, sha256_hex("$keys[-1]\n" . read_file($_->{path}))
	  for @patches;
	return map { substr $_, 0, 12 } @keys;
}

=item base

The commit of the release: the root of the branch C<upstream>, wherever the
branch may be now.

=cut

sub base
{
	my ($self) = @_;
	return $self->{base} ||=
	  git_capture($self->tree, qw(rev-list --max-parents=0 upstream));
}

=item commit_of(@patches)

Applies the patches, in this order, on upstream and returns the commit.  Commits
that an earlier call has made are used again.  The worktree of the person is not
touched.  A patch that does not apply raises an error with code 3 whose
detail shows the rejected hunk.

=cut

sub commit_of
{
	my ($self, @patches) = @_;
	my $tree = $self->tree;
	my $base = $self->base;
	return $base unless @patches;
	my (undef, @keys) = map { "refs/pgseries/$_" } $self->keys_of(@patches);
	my $done = @patches;
	my $at;
	while ($done > 0 && !defined $at)
	{
		my $out;
		if (git_status(
				$tree,
				[ qw(rev-parse -q --verify), $keys[ $done - 1 ] ],
				out => \$out) == 0)
		{
			chomp($at = $out);
		}
		else { $done--; }
	}
	$at = $base unless defined $at;
	return $at if $done == @patches;

	my $scratch = $self->scratch($at);
	for my $i ($done .. $#patches)
	{
		progress("applying $patches[$i]{file}");
		$self->apply_one($scratch, $patches[$i], 0);
		$at = git_capture($scratch, qw(rev-parse HEAD));
		git($tree, 'update-ref', $keys[$i], $at);
	}
	return $at;
}

=item commits_of(@patches)

Returns the commits of the first 0, 1, 2, ... patches.

=cut

sub commits_of
{
	my ($self, @patches) = @_;
	my $commit = $self->commit_of(@patches);
	my $base = $self->base;
	return (
		$base,
		split /\n/,
		git_capture(
			$self->tree, qw(rev-list --topo-order --reverse),
			"$base..$commit"));
}

# A worktree of the tool's own; left over from an interrupted run, it is reset.
sub scratch
{
	my ($self, $commit) = @_;
	my $tree = $self->tree;
	my $scratch = $self->{config}->work . '/scratch';
	if (!-e "$scratch/.git")
	{
		remove_tree($scratch);
		git($tree, qw(worktree prune));
		git($tree, qw(worktree add -q --detach), $scratch, $commit);
	}
	my $git = git_capture($scratch, qw(rev-parse --absolute-git-dir));
	remove_tree("$git/rebase-apply");
	unlink glob("$git/*.lock");
	git($scratch, qw(reset -q --hard), $commit);
	git($scratch, qw(clean -qfdx));
	return $scratch;
}

sub apply_one
{
	my ($self, $dir, $patch, $leave) = @_;
	my ($out, $err);
	my @how = $leave ? ('-3') : ();
	my $status = git_status(
		$dir,
		[
			qw(am -q --keep-cr --committer-date-is-author-date --no-gpg-sign),
			@how,
			$patch->{path}
		],
		out => \$out,
		err => \$err);
	return if $status == 0;

	fail(
		2,
		'the disk is full',
		'free some space, then run the same command again'
	) if "$out$err" =~ /No space left/;
	my $can_merge = $self->has_blobs($dir, $patch);
	my $other_release =
	  'if it was made for another release, doc/operators.md ("A new minor release") says how to rebase it with the files of that release at hand';

	if ($leave)
	{
		fail(
			3,
			"$patch->{file} does not apply, and the files that it was made from are not in $dir to merge it",
			"end it: git am --abort; then correct the patch; $other_release",
			"$out$err") unless $can_merge;
		fail(
			3,
			"$patch->{file} does not apply: git am has stopped in $dir",
			'edit the files with conflict markers, git add them, git am --continue, git am the patches after it, then run: pgseries export',
			"$out$err");
	}
	my $detail = $self->rejected($dir, $patch, "$out$err");
	git_status($dir, [qw(am --abort)], out => \$out, err => \$err);
	git_status($dir, [qw(reset -q --hard)], out => \$out, err => \$err);
	fail(
		3,
		"$patch->{file} does not apply",
		$can_merge
		? 'run: pgseries apply --resolve, which stops at the conflict for you to edit, then: pgseries export'
		: "correct the patch; $other_release",
		$detail);
	return;
}

# Does the repository have the files that the patch was made from?  Without them
# git am -3 leaves nothing to edit.
sub has_blobs
{
	my ($self, $dir, $patch) = @_;
	my @blobs = grep { !/^0+$/ }
	  read_file($patch->{path}) =~ /^index ([0-9a-f]+)\.\./mg;
	git_status(
		$dir,
		[qw(cat-file --batch-check)],
		in => join('', map { "$_\n" } @blobs),
		out => \my $out,
		err => \my $err);
	return $out !~ / missing$/m;
}

# What git apply says, and the text of the first hunk that it rejects.
sub rejected
{
	my ($self, $dir, $patch, $said_by_am) = @_;
	my ($out, $err);
	git_status(
		$dir, [ qw(apply --check --verbose), $patch->{path} ],
		out => \$out,
		err => \$err);
	my ($file, $line) = "$out$err" =~ /^error: patch failed: (.*):(\d+)/m;
	my @said = grep { /^error/ } split /\n/, "$out$err";
	return join("\n", @said ? @said : $said_by_am) unless defined $file;
	my @shown = ("$file:$line: this hunk is rejected:");
	my ($in_file, $in_hunk) = (0, 0);

	for (split /\n/, read_file($patch->{path}))
	{
		if (/^diff --git a\/(\S+)/) { $in_file = $1 eq $file; $in_hunk = 0; }
		elsif (/^@@ -(\d+)/)        { $in_hunk = $in_file && $1 == $line; }
		elsif (/^-- ?$/)            { $in_hunk = 0; }
		push @shown, "    $_" if $in_hunk;
	}
	splice(@shown, 41, @shown - 41, '    ...') if @shown > 42;
	return join("\n", @shown, @said);
}

=item in_progress

True if a C<git am>, rebase or merge has stopped half way in the person's worktree.

=item dirty

Returns what C<git status> says of the person's worktree: a list of lines,
empty if it is clean.  One in progress is an error.

=cut

sub in_progress
{
	my ($self) = @_;
	my $git = git_capture($self->tree, qw(rev-parse --absolute-git-dir));
	return
	  scalar grep { -e "$git/$_" }
	  qw(rebase-apply rebase-merge MERGE_HEAD CHERRY_PICK_HEAD);
}

sub dirty
{
	my ($self) = @_;
	my $tree = $self->tree;
	fail(
		2,
		"a git am, rebase or merge is in progress in $tree",
		'end it there with --continue or --abort') if $self->in_progress;
	return split /\n/, git_capture($tree, qw(status --porcelain));
}

=item apply($n, %options)

Sets the branch C<series> of WORK/tree to upstream plus the first $n patches
and checks it out.  Refuses where uncommitted changes, or commits that are not
exported yet, would be lost.  With C<resolve>, a patch that does not apply is
left half applied, with conflict markers, for a person to end.

=cut

sub apply
{
	my ($self, $n, %opt) = @_;
	my $tree = $self->tree;
	my @patches = $self->prefix(defined $n ? $n : scalar $self->patches);

	# This file exists while the checkout below is under way.  If it is left
	# over, the checkout may be half done; what the person may
	# have done since then is in the same files, so all of it is kept.
	my $underway =
	  git_capture($tree, qw(rev-parse --absolute-git-dir))
	  . '/pgseries-apply';
	if (-e $underway)
	{
		unlink glob(dirname($underway) . '/{*,refs/heads/*}.lock');
		if ($self->dirty)
		{
			git($tree,
				qw(stash push -q --include-untracked -m),
				'left by an interrupted pgseries apply');
			info(
				"$tree: what an interrupted apply left is kept; there, git stash show -p --include-untracked shows it, git stash pop takes it back, git stash drop drops it"
			);
		}
		unlink $underway;
	}
	my @dirty = $self->dirty;
	fail(
		2,
		"$tree has uncommitted changes",
		'commit them (git commit), or drop them (git stash -u), there',
		join("\n", @dirty[ 0 .. ($#dirty < 9 ? $#dirty : 9) ])) if @dirty;
	my @unexported = $self->unexported;
	fail(
		2,
		"$tree has commits that are not in patches/",
		'run: pgseries export; or leave them, perhaps with a name: git branch NAME COMMIT; git checkout -B series upstream',
		join("\n", @unexported)) if @unexported;
	# The commits are made in a worktree of the tool's own, so that what an
	# interrupt can leave half done is short.
	my $commit = $opt{resolve} ? $self->base : $self->commit_of(@patches);
	write_file($underway, '');
	git($tree, qw(checkout -q -B series), $commit);
	unlink $underway;

	if ($opt{resolve})
	{
		for my $patch (@patches)
		{
			info("applying $patch->{file}");
			$self->apply_one($tree, $patch, 1);
			$self->remember;
		}
	}
	$self->remember;
	return scalar @patches;
}

# The commit that apply or export left behind: later ones are the person's.
sub remember
{
	my ($self) = @_;
	git($self->tree,
		qw(update-ref refs/pgseries-state/exported refs/heads/series));
	return;
}

=item unexported

Returns the commits of the branch C<series>, and of what is checked out if that
is something else, one line each, that neither apply made nor export has written.

=cut

sub unexported
{
	my ($self) = @_;
	my $tree = $self->tree;
	my ($out, $err);
	my @tips = ('HEAD');
	push @tips,
	  'refs/heads/series'
	  if git_status(
		$tree,
		[qw(rev-parse -q --verify refs/heads/series)],
		out => \$out) == 0;
	my @known = ($self->base);
	git_status(
		$tree,
		[
			qw(for-each-ref --format=%(objectname) refs/pgseries refs/pgseries-state)
		],
		out => \$out);
	push @known, split /\n/, $out;
	return split /\n/,
	  git_capture($tree, qw(log --format=%h%x20%s), @tips, '--not', @known);
}

=item export(%options)

Writes the commits upstream..series of WORK/tree to patches/18, and the list to
its file C<series>.  A commit belongs to the patch with its subject.  A patch of which only index lines or offsets changed is left
as it is.  A new commit joins the topic of the commit before it, or the topic
given as C<topic>.  A patch that has no commit is an error (perhaps only the
first N were applied) unless C<remove> says that it is to go.  With C<dry_run>
nothing is written.  Returns the list of differences, one line each.

=cut

sub export
{
	my ($self, %opt) = @_;
	fail(
		2,
		"\"$opt{topic}\" is no name of a topic",
		'use letters, digits and hyphens'
	) if defined $opt{topic} && $opt{topic} !~ $TOPIC;
	my $tree = $self->tree;
	my @dirty = $self->dirty;
	fail(
		2,
		"$tree has uncommitted changes",
		'commit them there, then export again',
		join("\n", @dirty[ 0 .. ($#dirty < 9 ? $#dirty : 9) ])) if @dirty;
	my $out;
	fail(2, "$tree has no branch \"series\"", 'run: pgseries apply')
	  if git_status(
		$tree,
		[qw(rev-parse -q --verify refs/heads/series)],
		out => \$out);
	my $on = '';
	git_status($tree, [qw(symbolic-ref -q HEAD)], out => \$on);
	fail(
		2,
		"$tree is not on the branch \"series\"",
		'run there: git checkout series (your commits are elsewhere? then: git checkout -B series COMMIT)',
		'checked out: ' . git_capture($tree, qw(log -1 --format=%h%x20%s))
	) if $on ne "refs/heads/series\n";
	my @texts = $self->format('series');
	my $changes = $self->plan($opt{topic}, @texts);
	my @gone = grep { /^removed: / } @{ $changes->{said} };
	fail(
		2,
		'the worktree has no commit for ' . @gone . ' of the patches',
		'if only the first were applied, git am the others there; if they are to go, or have a new subject, run: pgseries export --remove',
		join("\n", @gone)) if @gone && !$opt{remove} && !$opt{dry_run};
	$self->write_plan($changes) unless $opt{dry_run};
	$self->remember unless $opt{dry_run};
	return @{ $changes->{said} };
}

=item round_trip

Applies all patches, exports them and compares.  Returns the differences, one
line each: none in a series that is well kept.

=cut

sub round_trip
{
	my ($self) = @_;
	my $commit = $self->commit_of($self->patches);
	my @texts = $self->format($commit);
	return @{ $self->plan(undef, @texts)->{said} };
}

# The patch texts of upstream..$commit.
sub format
{
	my ($self, $commit) = @_;
	my $tree = $self->tree;
	my $dir = File::Temp->newdir('pgseries-XXXXXX', TMPDIR => 1);
	fail(
		2,
		"$commit is not based on upstream",
		"rebase it there: git rebase upstream")
	  if git_status($tree,
		[ qw(merge-base --is-ancestor), $self->base, $commit ]);
	my $merges =
	  git_capture($tree, qw(rev-list --merges), $self->base . "..$commit");
	fail(
		2,
		'the branch "series" has a merge commit',
		'make it linear: git rebase upstream') if $merges ne '';
	git($tree,
		qw(format-patch -q --zero-commit --full-index --no-signature
		  --no-numbered --no-thread --no-attach --no-cover-letter --no-base
		  --no-ext-diff --no-textconv --no-color --src-prefix=a/
		  --dst-prefix=b/ --unified=3 --find-renames=50% --no-notes
		  --stat=79 --subject-prefix=PATCH --no-to --no-cc --no-add-header
		  --no-encode-email-headers --suffix=.patch -o), "$dir",
		$self->base . "..$commit");
	my @commits = split /\n/,
	  git_capture(
		$tree,
		qw(rev-list --reverse --topo-order),
		$self->base . "..$commit");
	return map {
		{
			name => basename($_),
			text => read_file($_),
			commit => shift @commits
		}
	} sort glob "$dir/*.patch";
}

# What would be the same patch if it were applied at the same place.  Whether it is
# applied there is another question: the same lines may stand elsewhere, too.
sub without_positions
{
	my ($text) = @_;
	$text =~ s/^index [0-9a-f.]+/index/mg;
	$text =~
	  s/^(@@ )-\d+(,\d+)? \+\d+(,\d+)?( @@).*$/$1.($2||'').($3||'').$4/meg;
	return $text;
}

# True if the patch, as the file is, makes the commit of the one before it.
sub gives
{
	my ($self, $path, $commit) = @_;
	my $tree = patched_tree($self->tree, "$commit^", $path);
	return defined $tree
	  && $tree eq git_capture($self->tree, 'rev-parse', "$commit^{tree}");
}

# Compares texts with the files: { said => [lines], write => {file => text},
# remove => [files], series => text }.  A commit is the patch with its subject.
sub plan
{
	my ($self, $topic, @texts) = @_;
	my %old = map { $self->subject($_->{path}) => $_ } $self->patches;
	my (@said, %write, @files, %kept, %number);
	my $in = $topic;
	for my $new (@texts)
	{
		my $subject = subject_of($new->{text});
		my $was = $old{$subject};
		$was = undef if $was && $kept{ $was->{file} };

		# A new commit joins the topic of the one before it, unless one is named.
		$in = $was ? $was->{topic} : defined $topic ? $topic : $in;
		fail(
			2,
			"\"$subject\" is new and has no topic",
			'name it: pgseries export --topic=NAME') unless defined $in;
		my ($slug) = $new->{name} =~ /^\d+-(.*)$/;
		my $file = sprintf '%s/%04d-%s', $in, ++$number{$in}, $slug;
		push @files, $file;
		if (!$was)
		{
			push @said, "new: $file";
			$write{$file} = $new->{text};
			next;
		}
		$kept{ $was->{file} } = 1;
		my $moved = $was->{file} ne $file;
		my $text = read_file($was->{path});
		if (without_positions($text) ne without_positions($new->{text})
			|| $text ne $new->{text}
			&& !$self->gives($was->{path}, $new->{commit}))
		{
			$text = $new->{text};
			push @said,
			  'changed: ' . ($moved ? "$was->{file} -> " : '') . $file;
			$write{$file} = $text;
		}
		elsif ($moved)
		{
			push @said, "renamed: $was->{file} -> $file";
			$write{$file} = $text;
		}
	}
	my %now = map { $_ => 1 } @files;
	my @all = map { $_->{file} } $self->patches;
	push @said, map { "removed: $_" } grep { !$kept{$_} } @all;
	my $series = $self->series_text(@files);
	push @said, 'changed: series'
	  if !@said && $series ne read_file("$self->{dir}/series");
	return {
		said => \@said,
		write => \%write,
		remove => [ grep { !$now{$_} } @all ],
		series => $series,
	};
}

# The comments stay: those above the first topic, and those of each topic.
sub series_text
{
	my ($self, @files) = @_;
	my ($head, $topic, %comment) = ('', undef);
	for (split /^/, read_file("$self->{dir}/series"))
	{
		if (/^#\s*topic:\s*(\S+)/) { $topic = $1; }
		elsif (!/^#/) { next; }
		elsif (defined $topic) { $comment{$topic} .= $_; }
		else { $head .= $_; }
	}
	my $text = $head;
	my $at = '';
	for my $file (@files)
	{
		my ($in) = $file =~ m{^([^/]+)/};
		if ($in ne $at)
		{
			$text .= "\n" if $text ne '';
			$text .= "# topic: $in\n" . (delete $comment{$in} || '');
			$at = $in;
		}
		$text .= "$file\n";
	}
	return $text;
}

# New files first, then the list, then the removals: an interrupt leaves a
# state that the next export completes.
sub write_plan
{
	my ($self, $changes) = @_;
	for my $file (sort keys %{ $changes->{write} })
	{
		make_dir(dirname("$self->{dir}/$file"));
		write_file("$self->{dir}/$file", $changes->{write}{$file});
	}

	# A file that is in no list would stay for good.
	my $remove = sub {
		unlink map { "$self->{dir}/$_" } @{ $changes->{remove} };
	};
	my $forget = on_exit($remove);
	write_file("$self->{dir}/series", $changes->{series})
	  if $changes->{series} ne read_file("$self->{dir}/series");
	$remove->();
	$forget->();
	return;
}

=item range_diff($from, $to)

Returns git range-diff's output between two versions of the series.  A version
is a list of patches as C<version> returns it.

=item version($name)

Returns the patches of a version: a directory of patches that "submit" wrote
(v2, or v2-TOPIC), or a revision of the checkout (a tag, a commit), or
"current".

=back

=cut

sub range_diff
{
	my ($self, $from, $to) = @_;
	my @tips = map { $self->commit_of(@$_) } ($from, $to);
	return git_capture(
		$self->tree,
		qw(range-diff --no-color),
		map { $self->base . "..$_" } @tips);
}

sub version
{
	my ($self, $name) = @_;
	my $top = $self->{config}->top;
	return [ $self->patches ] if $name eq 'current';
	my $submitted = $self->{config}->build . "/submit/$name";
	if (-d $submitted)
	{
		return [
			map { { file => basename($_), path => $_ } }
			sort glob "$submitted/*.patch"
		];
	}

	# The checkout may be another user's than the tool's.
	my $show = sub {
		my ($file) = @_;
		my $status = git_status(
			$top,
			[
				qw(-c safe.directory=* cat-file blob), "$name:patches/18/$file"
			],
			out => \my $text,
			err => \my $err);
		return $status == 0 ? $text : undef;
	};
	my $series = $show->('series');
	fail(
		2,
		"there is no version \"$name\" of the series",
		'name a set that "pgseries submit" made, a tag or commit of this checkout that has patches/18/series, or "current"'
	) unless defined $series;
	my $dir = make_dir($self->{config}->build . '/versions');
	my @patches;
	for my $file (grep { defined } map { $_->{file} } entries($series))
	{
		my $text = $show->($file);
		fail(
			2,
			"version \"$name\" has no file patches/18/$file, which its series lists",
			'name another version') unless defined $text;
		my $path = "$dir/" . sha256_hex("$name/$file") . '.patch';
		write_file($path, $text);
		push @patches, { file => $file, path => $path };
	}
	return \@patches;
}

1;
