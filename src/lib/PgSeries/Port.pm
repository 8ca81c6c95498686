package PgSeries::Port;

use strict;
use warnings FATAL => 'all';

use PgSeries::Git  qw(commit_id git_capture git_status);
use PgSeries::Util qw(fail progress undisturbed);

=pod

=head1 NAME

PgSeries::Port - a topic's patches on another base

=cut

sub check_arguments
{
	my ($c, $topic) = @_;
	my ($from, $to) = @{ $c->{option} }{qw(from to)};
	PgSeries::CLI::usage_error('port needs --from and --to, two bases',
		'port')
	  if !defined $from || !defined $to || $from eq $to;
	$c->{port} = [ map { $c->series_of($_) } $from, $to ];
	$c->{port}[0]->topic($topic);
	return;
}

# The command pgseries port.
sub command
{
	my ($c, $topic) = @_;
	my @done = port(@{ $c->{port} }, $topic);
	push @done, "now: pgseries export --base=$c->{option}{to} --topic=$topic"
	  if @done;
	return $c->say(@done ? join "\n", @done : 'nothing is missing');
}

# Applies those patches of a topic of $from that $to lacks, told by their subjects and by
# the lines "only here" of single patches, to the branch "series" of $to's worktree with
# git cherry-pick, which merges what has moved.  The commits are those of the topic alone:
# am -3 needs the files that a patch was made from, which other topics may have changed.
# Returns their files.  The first one that does not merge is left there for the person,
# with an error of code 3; the next call goes on with those after it.  Nothing is written
# to patches/: that is what export is for.
sub port
{
	my ($from, $to, $topic) = @_;
	my @patches = $from->topic($topic);
	my $tree = $to->tree;
	my ($base, $other) = map { $_->{config}->base } ($to, $from);
	my $export = "pgseries export --base=$base --topic=$topic";
	$to->apply unless defined commit_id($tree, 'refs/heads/series');
	$to->must_be_on_series('commit or drop them there');
	my $alone = $from->commit_of($from->alone($topic));
	$to->fetch_from($from, $alone);
	my %commit =
	  reverse map { split / /, $_, 2 } split /\n/,
	  git_capture($tree, qw(log --format=%H%x20%s), $alone);
	my %has = map { $_ => 1 } split /\n/,
	  git_capture($tree, qw(log --format=%s), $to->base . '..series');
	my @done;

	my $only = $from->about($topic)->{only};
	for my $patch (
		grep {
				 !$has{ $from->subject($_->{path}) }
			  && !$only->{ $_->{file} =~ s{.*/}{}r }
		} @patches)
	{
		progress("applying $patch->{file}");
		my $err;
		my $status = undisturbed(
			sub {
				return git_status(
					$tree,
					[
						qw(cherry-pick --no-gpg-sign),
						$commit{ $from->subject($patch->{path}) }
					],
					err => \$err);
			});
		fail(
			3,
			"$patch->{file} of base $other does not merge",
			"mend it in $tree (git status; git add; git cherry-pick --continue), run the same command again, at last: $export",
			$err) if $status != 0;
		push @done, $patch->{file};
	}
	return @done;
}

1;
