package PgSeries::Series;

use strict;
use warnings FATAL => 'all';

use Digest::SHA    qw(sha256_hex);
use File::Basename qw(basename dirname);
use File::Glob     qw(:bsd_glob);
use File::Path     qw(remove_tree);
use File::Temp     ();
use PgSeries::Git  qw(commit_id git git_capture git_status patched_tree);
use PgSeries::Upstream;
use PgSeries::Util
  qw(fail make_dir progress read_file undisturbed write_file);

=pod

=head1 NAME

PgSeries::Series - patches as files, and as commits on upstream

=head1 SYNOPSIS

  my $series = PgSeries::Series->new($config);
  my $commit = $series->commit_of($series->patches);

=head1 DESCRIPTION

The file C<series> beside the patches lists them in order, one path a line,
C<TOPIC/NNNN-words.patch>, as quilt reads it.  A line C<# topic: NAME> opens each
topic; what stands above the first one, and the comments of each, are kept.
Numbers are counted within a topic, so that C<git am TOPIC/*.patch> applies it on
plain upstream without the others; only where a line C<# needs: NAME> names another
topic, that one comes first.  A line C<# only here: WHAT: REASON> says why the other base
lacks the patch WHAT (its file name without the topic), or all of the topic.

All git work is done in one repository, WORK/tree:

  upstream             branch: the release, one commit
  series               branch: the person's; "apply" sets it, "export" reads it
  refs/pgseries/KEY    upstream plus some patches, found again by a key made
                       from the contents of these patches

Commits are made with the author's date as the committer's, so the same patches
give the same commit everywhere.

=cut

# The commit whose checkout has begun and not ended.
use constant CHECKOUT => 'refs/pgseries-state/checkout';

# Reads the file "series" of the directory of the patches.
sub new
{
	my ($class, $config) = @_;
	my $dir = $config->patches;
	my $self = bless {
		config => $config,
		dir => $dir,
		upstream => PgSeries::Upstream->new($config),
		list => parse("$dir/series", read_file("$dir/series")),
	}, $class;
	for my $p ($self->patches)
	{
		$p->{path} = "$dir/$p->{file}";
		fail(
			2,
			"$dir/series:$p->{line}: no such patch: $p->{file}",
			'correct the name or restore the file') unless -f $p->{path};
	}
	return $self;
}

# A function.  Returns what the text of a series file says, { head, topics =>
# [ { name, comment, about, needs, only }, ... ], patches => [ { file, topic, number, line },
# ... ] }; $at names it in errors.
sub parse
{
	my ($at, $text) = @_;
	my %list = (head => '', topics => [], patches => []);
	my ($topic, %opened, %listed);
	my $line = 0;
	for (split /^/, $text)
	{
		$line++;
		my $bad = sub { fail(2, "$at:$line: $_[0]", $_[1]); };
		if (/^#\s*topic:\s*(.*?)\s*$/)
		{
			my $name = $1;
			$bad->(
				"\"$name\" is no name of a topic",
				'use letters, digits and hyphens') if $name !~ /^[\w-]+\z/;
			$bad->("topic $name is opened twice", 'keep its patches together')
			  if $opened{$name}++;
			$topic = {
				name => $name,
				comment => '',
				about => '',
				needs => [],
				only => {}
			};
			push @{ $list{topics} }, $topic;
		}
		elsif ($topic && /^#\s*needs:\s*(.*?)\s*$/)
		{
			$bad->(
				"topic $topic->{name} needs \"$1\", which is no topic before it",
				'correct the name, or move the topic'
			) if !$opened{$1} || $1 eq $topic->{name};
			push @{ $topic->{needs} }, $1;
			$topic->{comment} .= $_;
		}
		elsif ($topic && /^#\s*only here:\s*(\S+):\s*\S/)
		{
			$topic->{only}{$1} = $line;
			$topic->{comment} .= $_;
		}
		elsif ($topic && /^#\s*(.*)/)
		{
			$topic->{about} ||= $1;
			$topic->{comment} .= $_;
		}
		elsif (/^#/) { $list{head} .= $_; }
		elsif (/^\s*(\S.*?)\s*$/)
		{
			my $file = $1;
			$bad->(
				"bad line \"$file\"",
				'write one path a line, TOPIC/NNNN-words.patch, below "# topic: TOPIC"'
			  )
			  unless $topic
			  && $file =~ m{^\Q$topic->{name}\E/[^\s/]+\.patch\z};
			$bad->("$file is listed twice", 'remove one of the lines')
			  if $listed{$file}++;
			push @{ $list{patches} },
			  {
				file => $file,
				topic => $topic->{name},
				number => 1 + @{ $list{patches} },
				line => $line
			  };
		}
	}
	return \%list;
}

# patches, topics, about($topic), upstream, tree:
# The list of patches, each { file, path, topic, number }, where the number counts
# from the first patch of the series; the names of the topics in order; what is
# said of one, { about, needs, only }; the PgSeries::Upstream; the repository's path.
sub patches  { my ($self) = @_; return @{ $self->{list}{patches} }; }
sub upstream { my ($self) = @_; return $self->{upstream}; }

sub topics
{
	my ($self) = @_;
	my %has = map { $_->{topic} => 1 } $self->patches;
	return grep { $has{$_} } map { $_->{name} } @{ $self->{list}{topics} };
}

sub about
{
	my ($self, $name) = @_;
	return (grep { $_->{name} eq $name } @{ $self->{list}{topics} })[0];
}

sub tree
{
	my ($self) = @_;
	$self->{base} ||= $self->{upstream}->commit;
	return $self->{upstream}->repository;
}

# The commit of the release.
sub base
{
	my ($self) = @_;
	$self->tree;
	return $self->{base};
}

# topic($name), alone($name), prefix($n):
# The patches of a topic; the same after those of the topics that it needs, if any;
# the first $n patches.  Unknown names raise an error.
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
	$self->topic($name);

	# Those that a topic needs come before it.
	my %in = ($name => 1);
	for my $topic (reverse @{ $self->{list}{topics} })
	{
		next unless $in{ $topic->{name} };
		$in{$_} = 1 for @{ $topic->{needs} };
	}
	return grep { $in{ $_->{topic} } } $self->patches;
}

sub prefix
{
	my ($self, $n) = @_;
	my $all = $self->patches;
	fail(2, "there is no patch $n", "choose a number from 0 to $all")
	  if $n !~ /^\d+$/ || $n > $all;
	return ($self->patches)[ 0 .. $n - 1 ];
}

# The summary line of a patch file, without "[PATCH]".
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

# A short name for these contents on this upstream.
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

# Applies the patches, in this order, on upstream and returns the commit.  Commits
# that an earlier call has made are used again.  The worktree of the person is not
# touched.  A patch that does not apply raises an error with code 3 whose
# detail shows the rejected hunk.
sub commit_of
{
	my ($self, @patches) = @_;
	my $tree = $self->tree;
	my $base = $self->base;
	return $base unless @patches;
	my @keys = map { "refs/pgseries/$_" } $self->keys_of(@patches);
	my $done = @patches;
	my $at;
	$done-- until $done == 0 || defined($at = commit_id($tree, $keys[$done]));
	$at = $base unless $done;
	return $at if $done == @patches;

	my $scratch = $self->scratch($at);
	for my $i ($done .. $#patches)
	{
		progress("applying $patches[$i]{file}");
		$self->apply_one($scratch, $patches[$i]);
		$at = git_capture($scratch, qw(rev-parse HEAD));
		undisturbed(sub { git($tree, 'update-ref', $keys[ $i + 1 ], $at); });
	}
	return $at;
}

# Returns the commits of the first 0, 1, 2, ... patches.
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

# Returns the path of a worktree of the tool's own, at this commit.  Whatever an
# interrupted run has left in it is dropped.
sub scratch
{
	my ($self, $commit) = @_;
	my $tree = $self->tree;
	my $scratch = $self->{config}->work . '/scratch';
	if (!is_worktree($tree, $scratch))
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

# A work directory that was moved or copied has worktrees of the old place.
sub is_worktree
{
	my ($tree, $dir) = @_;
	return
	  unless -e "$dir/.git"
	  && git_status(
		$dir,
		[qw(rev-parse --path-format=absolute --git-common-dir)],
		out => \my $of,
		err => \my $err) == 0;
	chomp $of;
	return $of eq "$tree/.git";
}

sub apply_one
{
	my ($self, $scratch, $patch) = @_;
	my ($out, $err);
	my $status = undisturbed(
		sub {
			return git_status(
				$scratch,
				[
					qw(am -q --reject --keep-cr --committer-date-is-author-date --no-gpg-sign),
					$patch->{path}
				],
				out => \$out,
				err => \$err);
		});
	return if $status == 0;
	fail(
		2,
		'the disk is full',
		'free some space, then run the same command again'
	) if "$out$err" =~ PgSeries::Util::FULL_DISK();

	# What git am says, and the hunks that it has left out.
	my @rejects = split /\n/,
	  git_capture($scratch, qw(ls-files --others -- *.rej));
	my $before = $patch->{number} ? $patch->{number} - 1 : 'N';
	fail(
		3,
		"$patch->{file} does not apply",
		"run: pgseries apply $before; there: git am -3 of this patch and those after it, mend it (git add, git am --continue); pgseries export (for another release see \"A new minor release\" in doc/develop.md)",
		join("\n",
			grep({ /^error: patch/ } split /\n/, $err),
			map { read_file("$scratch/$_") } @rejects)
		  || "$out$err");
	return;
}

# True if a git am, rebase or merge has stopped half way in the person's worktree.
sub in_progress
{
	my ($self) = @_;
	my $git = git_capture($self->tree, qw(rev-parse --absolute-git-dir));
	return
	  scalar grep { -e "$git/$_" }
	  qw(rebase-apply rebase-merge MERGE_HEAD CHERRY_PICK_HEAD REVERT_HEAD);
}

# Returns what git status says of the person's worktree: a list of lines,
# empty if it is clean.  One in progress is an error.
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

sub must_be_clean
{
	my ($self, $remedy) = @_;
	my @dirty = $self->dirty or return;
	splice @dirty, 10;
	fail(2, $self->tree . ' has uncommitted changes',
		$remedy, join("\n", @dirty));
	return;
}

sub must_be_on_series
{
	my ($self, $remedy) = @_;
	my $tree = $self->tree;
	$self->must_be_clean($remedy);
	my $on = '';
	git_status($tree, [qw(symbolic-ref -q HEAD)], out => \$on);
	fail(
		2,
		"$tree is not on the branch \"series\"",
		'run there: git checkout series (your commits are elsewhere? then: git checkout -B series COMMIT)',
		'checked out: ' . git_capture($tree, qw(log -1 --format=%h%x20%s))
	) if $on ne "refs/heads/series\n";
	return;
}

# Sets the branch "series" of WORK/tree to upstream plus the first $n patches (all by
# default), checks it out, and returns their number.  Refuses where uncommitted
# changes, or commits that are not exported yet, would be lost.
sub apply
{
	my ($self, $n) = @_;
	my $tree = $self->tree;
	my @patches = $self->prefix($n // scalar $self->patches);
	$self->complete_checkout;
	$self->must_be_clean(
		'commit them (git commit), or drop them (git stash -u), there');
	my @unexported = $self->unexported;
	fail(
		2,
		"$tree has commits that are not in patches/",
		'run: pgseries export; or leave them, perhaps with a name: git branch NAME COMMIT; git checkout -B series upstream',
		join("\n", @unexported)) if @unexported;
	my $commit = $self->commit_of(@patches);
	undisturbed(
		sub {
			git($tree, 'update-ref', CHECKOUT, $commit);
			git($tree, qw(checkout -q --no-overwrite-ignore -B series),
				$commit);
			git($tree, qw(update-ref -d), CHECKOUT);
			$self->remember;
		});
	return scalar @patches;
}

# What a full disk or a kill -9 has left half done: these are nobody's changes.
sub complete_checkout
{
	my ($self) = @_;
	my $tree = $self->tree;
	my $commit = commit_id($tree, CHECKOUT);
	return unless defined $commit;
	unlink "$tree/.git/index.lock";
	undisturbed(
		sub {
			git($tree, qw(checkout -q -f -B series), $commit);
			git($tree, qw(update-ref -d), CHECKOUT);
		});
	return;
}

# The commit that apply or export left behind: later ones are the person's.
sub remember
{
	my ($self) = @_;
	my $tree = $self->tree;
	git($tree, qw(update-ref refs/pgseries-state/exported refs/heads/series));
	git($tree, qw(config pgseries.patches), $self->key($self->patches));
	return;
}

# Returns the commits of the branch "series", and of what is checked out if that
# is something else, one line each, that neither apply made nor export has written.
sub unexported
{
	my ($self) = @_;
	my $tree = $self->tree;
	my @tips = grep { defined commit_id($tree, $_) } 'HEAD',
	  'refs/heads/series';
	return split /\n/,
	  git_capture($tree, qw(log --format=%h%x20%s),
		@tips, '--not', $self->base,
		qw(--glob=refs/pgseries --glob=refs/pgseries-state));
}

# Writes the commits upstream..series of WORK/tree as patches, and the file "series".
# A commit belongs to the patch with its subject.  A patch that still makes this
# commit, perhaps with other offsets, is left as it is.  Any other commit is a new
# patch, of the topic given as "topic", or that of its neighbours.  A patch that has
# no commit is an error (perhaps only the first N were applied) unless "remove" says
# that it is to go.  Patches that are not those that apply or export left, because of
# a git pull for instance, are an error unless "overwrite" is set, and so is a commit
# that git would not make again from its patch.  With dry_run nothing is written.
# Returns the list of differences, one line each.
sub export
{
	my ($self, %opt) = @_;
	my $tree = $self->tree;
	$self->must_be_on_series('commit them there, then export again');
	my $changes = $self->plan($opt{topic}, $self->format('series'));
	my @said = @{ $changes->{said} };
	return @said if $opt{dry_run};
	my @gone = grep { /^removed: / } @said;
	fail(
		2,
		'the worktree has no commit for ' . @gone . ' of the patches',
		'if only the first were applied, git am the others there; if they are to go, or have a new subject, run: pgseries export --remove',
		join("\n", @gone)) if @gone && !$opt{remove};
	$self->must_not_have_changed unless $opt{overwrite};
	$self->must_survive($_)
	  for grep { defined $changes->{write}{ $_->{file} } }
	  @{ $changes->{texts} };
	undisturbed(
		sub {
			# If that is stopped, the next export completes it.
			git_status($self->tree, [qw(config --unset pgseries.patches)]);
			$self->write_plan($changes);
			PgSeries::Series->new($self->{config})->remember;
		});
	return @said;
}

# Export would take back what somebody else has done to the patches.
sub must_not_have_changed
{
	my ($self) = @_;
	my $tree = $self->tree;
	git_status($tree, [qw(config pgseries.patches)], out => \my $left);
	fail(
		2,
		"$self->{dir} has changed since apply or export",
		"to take that: git branch mine series, git checkout -B series upstream (in $tree), pgseries apply, and git cherry-pick your commits of the branch mine; to write over it: pgseries export --overwrite"
	) if $left ne '' && $left ne $self->key($self->patches) . "\n";
	return;
}

# Some messages don't: git am takes a line for the end of the message, or for the
# author's name.
sub must_survive
{
	my ($self, $new) = @_;
	my $commit = $new->{commit};
	my @what = (qw(log -1 --format=%T%n%an%n%ae%n%ad%n%B --encoding=UTF-8));
	my $scratch = $self->scratch("$commit^");
	my $file = File::Temp->new;
	print $file $new->{text};
	$file->flush;
	my $same = eval {
		$self->apply_one($scratch, { path => "$file", file => $new->{file} });
		git_capture($scratch, @what, 'HEAD') eq
		  git_capture($scratch, @what, $commit);
	};
	die $@ if ref $@ && $@->{code} != 3;
	fail(
		2,
		"the commit \"$new->{subject}\" does not survive as a patch",
		'git rebase -i upstream, there: reword it, as a line of its message looks like the end of it or like a header; or drop it, if it changes nothing'
	) unless $same;
	return;
}

# Applies each topic to upstream, after those that it needs, then all patches,
# exports them and compares.  Returns the differences, one line each: none in a series
# that is well kept.
sub round_trip
{
	my ($self) = @_;
	$self->commit_of($self->alone($_)) for $self->topics;
	my @texts = $self->format($self->commit_of($self->patches));
	return @{ $self->plan(undef, @texts)->{said} };
}

# Returns the patches upstream..$commit, each { name, text, commit }, where the name
# is that of git format-patch.
sub format
{
	my ($self, $commit) = @_;
	my $tree = $self->tree;
	my $range = $self->base . "..$commit";
	my $dir = File::Temp->newdir('pgseries-XXXXXX', TMPDIR => 1);
	fail(
		2,
		"$commit is no line of commits on upstream",
		'make it one there: git rebase upstream')
	  if git_status($tree,
		[ qw(merge-base --is-ancestor), $self->base, $commit ])
	  || git_capture($tree, qw(rev-list --merges), $range) ne '';
	git($tree,
		qw(format-patch -q --zero-commit --full-index --no-signature
		  --no-numbered --no-encode-email-headers --stat=79 -o), "$dir",
		$range);
	my @commits = split /\n/,
	  git_capture($tree, qw(rev-list --reverse --topo-order), $range);
	return map {
		{
			name => basename($_),
			text => read_file($_),
			commit => shift @commits
		}
	} sort glob "$dir/*.patch";
}

# The author and the message.
sub head { my ($text) = @_; return $text =~ s/^---\n.*//msr; }

# True if the patch, as the file is, makes the commit of the one before it.
sub gives
{
	my ($self, $path, $commit) = @_;
	my $tree = patched_tree($self->tree, "$commit^", $path);
	return defined $tree
	  && $tree eq git_capture($self->tree, 'rev-parse', "$commit^{tree}");
}

# Compares texts with the files: { said => [lines], texts, write => {file => text},
# remove => [files], series => text }.
sub plan
{
	my ($self, $topic, @texts) = @_;
	my %patch = map { $self->subject($_->{path}) => $_ } $self->patches;
	my (@said, %write, @files, %kept, %number, %seen);
	for my $new (@texts)
	{
		$new->{subject} = subject_of($new->{text});
		$new->{was} = $patch{ $new->{subject} };
		fail(
			2,
			"two commits have the subject \"$new->{subject}\"",
			'reword one of them there: git rebase -i upstream'
		) if $seen{ $new->{subject} }++;
	}
	for my $i (0 .. $#texts)
	{
		my ($new, $was) = ($texts[$i], $texts[$i]{was});
		my $in = $new->{topic} =
		  $was ? $was->{topic} : new_topic($topic, $i, @texts);
		my ($slug) = $new->{name} =~ /^\d+-(.*)$/;
		my $file = sprintf '%s/%04d-%s', $in, ++$number{$in}, $slug;
		push @files, $new->{file} = $file;
		if (!$was)
		{
			push @said, "new: $file";
			$write{$file} = $new->{text};
			next;
		}
		$kept{ $was->{file} } = 1;
		my $text = read_file($was->{path});
		my $same = $text eq $new->{text}
		  || head($text) eq head($new->{text})
		  && $self->gives($was->{path}, $new->{commit});
		my $moved = $was->{file} ne $file;
		next if $same && !$moved;
		$write{$file} = $same ? $text : $new->{text};
		push @said,
			($same  ? 'renamed: '        : 'changed: ')
		  . ($moved ? "$was->{file} -> " : '')
		  . $file;
	}
	my @all = map { $_->{file} } $self->patches;
	push @said, map { "removed: $_" } grep { !$kept{$_} } @all;
	my $series = $self->series_text(@files);
	parse("$self->{dir}/series, as it would be", $series);
	push @said, 'changed: series'
	  if !@said && $series ne read_file("$self->{dir}/series");
	my %now = map { $_ => 1 } @files;
	return {
		said => \@said,
		texts => \@texts,
		write => \%write,
		remove => [ grep { !$now{$_} } @all ],
		series => $series,
	};
}

# The topic of a new commit.
sub new_topic
{
	my ($topic, $i, @texts) = @_;
	return $topic if defined $topic;
	my ($after) = grep { defined } map { $_->{was} } @texts[ $i .. $#texts ];
	my @topics = $i ? $texts[ $i - 1 ]{topic} : ();
	push @topics, $after->{topic}
	  if $after && "@topics" ne $after->{topic};
	fail(
		2,
		"the commit \"$texts[$i]{subject}\" is new and "
		  . (@topics ? "stands between the topics @topics" : 'has no topic'),
		'name its topic: pgseries export --topic=NAME') if @topics != 1;
	return $topics[0];
}

# The comments stay: those above the first topic, and those of each topic, also of
# one that is still to get its first patch.
sub series_text
{
	my ($self, @files) = @_;
	my %topic = map { $_->{name} => $_ } @{ $self->{list}{topics} };
	my $text = $self->{list}{head};
	my $open = sub {
		my ($name) = @_;
		my $topic = delete $topic{$name};
		$text .= "\n" if $text ne '';
		$text .= "# topic: $name\n" . ($topic ? $topic->{comment} : '');
	};
	my $at = '';
	for my $file (@files)
	{
		my $in = dirname($file);
		$open->($in) if $in ne $at;
		$at = $in;
		$text .= "$file\n";
	}
	delete @topic{ $self->topics };
	$open->($_) for sort keys %topic;
	return $text;
}

# New files first, then the list, then the removals: what a full disk leaves, the
# next export completes.
sub write_plan
{
	my ($self, $changes) = @_;
	my $dir = $self->{dir};
	for my $file (sort keys %{ $changes->{write} })
	{
		make_dir(dirname("$dir/$file"));
		write_file("$dir/$file", $changes->{write}{$file});
	}
	write_file("$dir/series", $changes->{series})
	  if $changes->{series} ne read_file("$dir/series");
	for my $file (@{ $changes->{remove} })
	{
		unlink("$dir/$file")
		  or fail(
			2,
			"cannot remove $dir/$file: $!",
			'check its permissions, then export again');
		rmdir dirname("$dir/$file");
	}
	return;
}

# Makes a commit of another base's repository known in this one.
sub fetch_from
{
	my ($self, $other, $commit) = @_;
	my $base = $other->{config}->base;
	undisturbed(
		sub {
			git($other->tree, 'update-ref', 'refs/pgseries-other/here',
				$commit);
			git($self->tree, qw(fetch -q --no-tags),
				$other->tree,
				"+refs/pgseries-other/here:refs/pgseries-other/$base");
		});
	return;
}

# A function.  Returns git range-diff's output between the patches of a topic on two
# bases, each a PgSeries::Series.
sub topic_diff
{
	my ($from, $to, $topic) = @_;

	# The commits before and after the patches of the topic.
	my @ranges = map {
		my ($series, @all) = ($_, $_->alone($topic));
		[
			map { $series->commit_of(@$_) }
			  [ grep { $_->{topic} ne $topic } @all ],
			\@all
		]
	} $from, $to;
	$from->fetch_from($to, $ranges[1][1]);
	return git_capture(
		$from->tree,
		qw(range-diff --no-color),
		map { "$_->[0]..$_->[1]" } @ranges);
}

1;
