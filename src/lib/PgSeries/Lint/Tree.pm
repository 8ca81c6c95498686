package PgSeries::Lint::Tree;

use strict;
use warnings FATAL => 'all';

use File::Basename qw(dirname);
use File::Temp;
use PgSeries::Git  qw(git_status);
use PgSeries::Util qw(fail write_file);

=pod

=head1 NAME

PgSeries::Lint::Tree - upstream's files with the patches, without a worktree

=head1 SYNOPSIS

  my $tree = PgSeries::Lint::Tree->new($repository, $base);
  my ($patched, $error) = $tree->apply($path_of_patch);
  my $text = $tree->blob($patched, 'src/backend/main/main.c');

=head1 DESCRIPTION

A repository in a temporary directory that borrows the objects of another one
and has an index of its own, so that nothing is written to the other one.

=over

=item new($repository, $base [, $user])

$base is the git tree to start from; an error says if it is not there.  With
$user, that user can read what is checked out.

=cut

sub new
{
	my ($class, $repository, $base, $user) = @_;
	fail(2, "there is no directory $repository", 'run: pgseries apply')
	  unless -d $repository;
	my @where = qw(-c safe.directory=* rev-parse --path-format=absolute
	  --git-path objects);
	my ($objects, $err);
	git_status($repository, \@where, out => \$objects, err => \$err) == 0
	  or
	  fail(2, "$repository is not a git repository", 'run: pgseries apply');
	# Root's TMPDIR may be closed to that user.
	my $dir = File::Temp->newdir('pgseries-lint-XXXXXX',
		$user ? (DIR => dirname($repository)) : (TMPDIR => 1));
	chmod 0755, "$dir" or fail(2, "cannot open $dir: $!", 'free some space');
	my $self = bless { dir => $dir, side => '' }, $class;
	$self->must('init', '--quiet', '--bare', '--template=', "$dir/repo");
	write_file("$dir/repo/objects/info/alternates", $objects);
	fail(
		2,
		"$repository does not hold the tree $base",
		'run: pgseries apply, with the release that patches/18/BASE names'
	) if $self->try('cat-file', '-e', "$base^{tree}");
	$self->must('read-tree', $base);
	return $self;
}

# Runs git; returns its exit status.
sub try
{
	my ($self, @arguments) = @_;
	my $dir = $self->{dir};
	my %env = (
		GIT_DIR => "$dir/repo",
		GIT_WORK_TREE => "$dir/$self->{side}");
	delete $env{GIT_WORK_TREE} if $self->{side} eq '';
	return git_status(
		"$dir", \@arguments,
		env => \%env,
		out => \$self->{out},
		err => \$self->{err});
}

sub must
{
	my ($self, @arguments) = @_;
	fail(2, "git $arguments[0] failed: $self->{err}", 'free some space')
	  if $self->try(@arguments);
	return $self->{out};
}

=item apply($path)

Applies a patch on top of those applied before.  Returns the resulting tree, or
undef and what git says.

=cut

sub apply
{
	my ($self, $path) = @_;
	return (undef, $self->{err}) if $self->try('apply', '--cached', $path);
	chomp(my $tree = $self->must('write-tree'));
	return $tree;
}

=item blob($tree, $path)

The contents of a file, or undef if there is none.

=item lines($tree, $pattern, $path)

The lines below a path that match an extended regular expression.

=item checkout($side, $tree, @paths)

Writes the files to a directory named $side and returns its path, or undef if
one of them is not in the tree.

=back

=cut

sub blob
{
	my ($self, $tree, $path) = @_;
	return $self->try('cat-file', 'blob', "$tree:$path")
	  ? undef
	  : $self->{out};
}

sub lines
{
	my ($self, $tree, $pattern, $path) = @_;
	$self->try('grep', '-h', '-E', $pattern, $tree, '--', $path);
	return split /\n/, $self->{out};
}

sub checkout
{
	my ($self, $side, $tree, @paths) = @_;
	my $dir = "$self->{dir}/$side";
	mkdir $dir;
	local $self->{side} = $side;
	return $self->try('checkout', $tree, '--', @paths) ? undef : $dir;
}

1;
