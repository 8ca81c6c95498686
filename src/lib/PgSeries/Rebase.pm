package PgSeries::Rebase;

use strict;
use warnings FATAL => 'all';

use PgSeries::Git  qw(commit_id git git_capture git_status patched_tree);
use PgSeries::Util qw(fail);

=pod

=head1 NAME

PgSeries::Rebase - does the series fit another minor release, and which patches need a hand?

=head1 DESCRIPTION

The patches are merged one after the other onto the other release, in git's
object store only: no worktree is touched.  A patch that conflicts is taken as it
is, with conflict markers, so that those after it are judged by what they change
themselves.

=over

=item rebase($series, $version, $tarball)

$series is a PgSeries::Series, $version the release, $tarball its tarball, or
undef to obtain it as other() of PgSeries::Upstream does.  Returns a list of hashes, one for
each patch: C<patch> (the file), C<result> (C<applies>, C<merges>, that is, not
as the file is, or C<conflicts>), C<files> (those with conflicts).  If nothing
conflicts, the branch C<series-$version> of the worktree's repository holds the
result.  Raises an error if the release cannot be had.

=back

=cut

sub rebase
{
	my ($series, $version, $tarball) = @_;
	my ($major) = $series->upstream->version =~ /^(\d+)/;
	fail(
		2,
		"$version is not another minor release of PostgreSQL $major",
		"name one, such as $major.7")
	  unless $version =~ /^\Q$major\E\.\d+$/
	  && $version ne $series->upstream->version;

	# The series as commits, and the other release as one more.
	my $repository = $series->tree;
	my @patches = $series->patches;
	my @old = $series->commits_of(@patches);
	my $new = $series->upstream->other($version, $tarball);
	my @results;
	my $conflicts = 0;

	for my $i (0 .. $#patches)
	{
		my $result = 'applies';
		my @files;

		# As the file is?
		my $tree = patched_tree($repository, $new, $patches[$i]{path});
		if (!defined $tree)
		{
			# merge-tree finds the common ancestor from the parents.
			my $ours =
			  git_capture($repository, 'commit-tree', "$new^{tree}", '-p',
				$old[$i], '-m', 'rebase');
			my $status = git_status(
				$repository,
				[
					qw(merge-tree --write-tree --name-only --no-messages),
					$ours, $old[ $i + 1 ]
				],
				out => \my $out);
			fail(
				2,
				"git merge-tree failed for $patches[$i]{file}",
				'it needs git 2.38') if $status > 1;
			($tree, @files) = grep { $_ ne '' } split /\n/, $out;
			$result = $status == 0 ? 'merges' : 'conflicts';
			$conflicts++ if $status == 1;
		}
		$new = commit_like($repository, $old[ $i + 1 ], $tree, $new);
		push @results,
		  {
			patch => $patches[$i]{file},
			result => $result,
			files => \@files
		  };
	}
	set_branch($repository, "series-$version", $new) unless $conflicts;
	return @results;
}

# A branch of that name that holds something else is the person's.
sub set_branch
{
	my ($repository, $branch, $commit) = @_;
	my $is = commit_id($repository, "refs/heads/$branch");
	return if defined $is && $is eq $commit;
	fail(
		2,
		"$repository has a branch $branch already",
		"keep it: git branch -m $branch NAME; or drop it: git branch -D $branch; then run the same command again"
	) if defined $is;
	git($repository, 'branch', $branch, $commit);
	return;
}

# A commit of the tree with the author and message of another; always the same one.
sub commit_like
{
	my ($repository, $like, $tree, $parent) = @_;
	my %env;
	(@env{ map { "GIT_AUTHOR_$_" } qw(NAME EMAIL DATE) }, my $message) =
	  split /\0/,
	  git_capture($repository, qw(log -1 --format=%an%x00%ae%x00%ad%x00%B),
		$like);
	$env{GIT_COMMITTER_DATE} = $env{GIT_AUTHOR_DATE};
	git_status(
		$repository,
		[ 'commit-tree', $tree, '-p', $parent, '-m', $message ],
		env => \%env,
		out => \my $commit) == 0
	  or fail(2, 'git commit-tree failed', 'free some disk space');
	chomp $commit;
	return $commit;
}

1;
