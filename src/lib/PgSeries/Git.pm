package PgSeries::Git;

use strict;
use warnings FATAL => 'all';

use Exporter       qw(import);
use File::Temp     ();
use PgSeries::Util qw(capture fail run run_status);

our @EXPORT_OK =
  qw(commit_id git git_capture git_status patched_tree GIT_ENV);

=pod

=head1 NAME

PgSeries::Git - git with nothing left to a person's configuration

=head1 DESCRIPTION

What the tool writes must not depend on who runs it, so the user's and the
system's configuration and attributes are switched off, and all that decides
the text of a patch is pinned.

=cut

use constant GIT_ENV => {
	GIT_CONFIG_NOSYSTEM => 1,
	GIT_CONFIG_GLOBAL => '/dev/null',
	GIT_ATTR_NOSYSTEM => 1,
	GIT_TERMINAL_PROMPT => 0,

	# What only reads leaves no lock if it is interrupted.
	GIT_OPTIONAL_LOCKS => 0,
	GIT_DIR => undef,
	GIT_WORK_TREE => undef,
	GIT_INDEX_FILE => undef,
	GIT_COMMITTER_NAME => 'pgseries',
	GIT_COMMITTER_EMAIL => 'pgseries@localhost',
	LC_ALL => 'C',
	TZ => 'UTC',
};

my @PINS = map { ('-c', $_) } qw(
  core.abbrev=12 core.autocrlf=false core.fileMode=true core.quotePath=true
  core.fsync=none advice.detachedHead=false
  diff.algorithm=myers diff.renames=true diff.noprefix=false
  diff.mnemonicPrefix=false diff.context=3 diff.interHunkContext=0
  diff.suppressBlankEmpty=false diff.indentHeuristic=true
  format.useAutoBase=false gc.auto=0 maintenance.auto=false
  am.threeWay=false am.keepcr=false rerere.enabled=false
  apply.ignoreWhitespace=no apply.whitespace=nowarn commit.gpgSign=false
  user.useConfigOnly=false init.defaultBranch=upstream
);

# git($dir, @arguments), git_capture(...), git_status($dir, \@arguments, %options):
# Run git in a directory: "git" raises an error when git fails, git_capture
# also returns its output, git_status returns the exit status (options as for
# PgSeries::Util::run_status).
sub git_status
{
	my ($dir, $arguments, %opt) = @_;
	my $env = { %{ GIT_ENV() }, %{ delete $opt{env} || {} } };
	return run_status(
		[ 'git', @PINS, @$arguments ],
		cwd => $dir,
		env => $env,
		out => \my $ignored,
		%opt);
}

sub git
{
	my ($dir, @arguments) = @_;
	run([ 'git', @PINS, @arguments ], options($dir, @arguments));
	return;
}

sub git_capture
{
	my ($dir, @arguments) = @_;
	return capture([ 'git', @PINS, @arguments ], options($dir, @arguments));
}

# Returns the full name of the commit that a branch or another ref has, or undef if
# there is none.
sub commit_id
{
	my ($dir, $name) = @_;
	my $status =
	  git_status($dir, [ qw(rev-parse -q --verify), $name ], out => \my $id);
	return $status == 0 ? $id =~ s/\n//r : undef;
}

# Returns the tree that a patch file makes of a commit's tree, or undef if it does not
# apply as it is.  No worktree is touched.
sub patched_tree
{
	my ($dir, $commit, $patch) = @_;
	my $temp = File::Temp->newdir('pgseries-XXXXXX', TMPDIR => 1);
	my $git = sub {
		my (@arguments) = @_;
		my $status = git_status(
			$dir, \@arguments,
			env => { GIT_INDEX_FILE => "$temp/index" },
			out => \my $out,
			err => \my $err);
		return $out if $status == 0;
		fail(2, "git $arguments[0] failed", 'free some disk space', $err)
		  if $arguments[0] ne 'apply';
		return;
	};
	$git->('read-tree', $commit);
	return unless defined $git->(qw(apply --cached), $patch);
	my $tree = $git->('write-tree');
	chomp $tree;
	return $tree;
}

sub options
{
	my ($dir, @arguments) = @_;
	return (
		cwd => $dir,
		env => GIT_ENV,
		what => "git $arguments[0]",
		remedy => "rerun: git -C $dir @arguments");
}

1;
