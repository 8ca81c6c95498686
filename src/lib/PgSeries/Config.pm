package PgSeries::Config;

use strict;
use warnings FATAL => 'all';

use Cwd            qw(realpath);
use Digest::SHA    qw(sha256_hex);
use File::Basename qw(dirname);
use PgSeries::Util qw(fail make_dir read_file);

=pod

=head1 NAME

PgSeries::Config - where things are, and who runs PostgreSQL

=head1 DESCRIPTION

A base is a branch of upstream that patches are made for: "18", or "master".  Each has
its directory below patches/ and, but for 18, below the work directory.

The checkout holds only what git tracks.  All that the tool makes lies in two
directories:

  build directory   made by ./configure: meson's files, the report, the logs
  work directory    upstream's source, the worktree, builds and data
                    directories; BUILD/work, a symbolic link where they differ

PostgreSQL and its tests refuse to run as root.  For root the work directory is
therefore below /var/lib/pgseries, which everyone can enter wherever the checkout
lies, and builds, tests and servers run as the user "nobody".  Environment variables
override these choices (doc/develop.md); C<pgseries.conf> in the build directory, which
./configure writes, holds the lasting ones.

=cut

# Reads pgseries.conf, makes nothing.  The base is 18 if none is named.
sub new
{
	my ($class, %args) = @_;
	my $top = realpath($args{top});
	my $base = $args{base} // '18';
	fail(
		2,
		"there is no base \"$base\"",
		'choose one of: ' . join(', ', bases($top))
	) unless grep { $_ eq $base } bases($top);
	my $build = $ENV{PGSERIES_BUILDDIR} || "$top/build";
	my $file = "$build/pgseries.conf";
	my %conf = -f $file ? read_file($file) =~ /^(\w+) = (.*)$/mg : ();
	return bless {
		top => $top,
		build => $build,
		base => $base,
		tarball => $base eq '18'
		? $ENV{PGSERIES_TARBALL} || $conf{tarball}
		: $ENV{PGSERIES_MASTER_TARBALL} || $conf{master_tarball},
		workdir => $ENV{PGSERIES_WORKDIR} || $conf{workdir},
		user => $> == 0 ? find_user() : undef,
	}, $class;
}

# bases, with_base($name):
# The names of the bases that there are; the same configuration for another one.
sub bases
{
	my ($self) = @_;
	my $top = ref $self ? $self->top : $self;
	return grep { -f "$top/patches/$_/BASE" } qw(18 master);
}

sub with_base
{
	my ($self, $name) = @_;
	return PgSeries::Config->new(top => $self->top, base => $name);
}

sub find_user
{
	my $name = $ENV{PGSERIES_USER} || 'nobody';
	my ($login, undef, $uid, $gid) = getpwnam $name;
	fail(
		2,
		"there is no user \"$name\" to run PostgreSQL as",
		'create it, or name another in PGSERIES_USER') if !defined $login;
	fail(
		2,
		"PostgreSQL refuses to run as \"$name\", which is root",
		'name another user in PGSERIES_USER') if $uid == 0;
	return { name => $login, uid => $uid, gid => $gid };
}

# The search path of every build and test: PGSERIES_PATH, or the system's usual
# directories, as an interpreter below root's home is of no use to another user.
use constant PATH => $ENV{PGSERIES_PATH}
  || '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

# top, build, base, patches, tarball:
# The checkout, the build directory, the base, the directory of its patches, and the
# tarball of upstream that the person named (or undef).
sub top     { my ($self) = @_; return $self->{top}; }
sub build   { my ($self) = @_; return make_dir($self->{build}); }
sub base    { my ($self) = @_; return $self->{base}; }
sub patches { my ($self) = @_; return "$self->{top}/patches/$self->{base}"; }
sub tarball { my ($self) = @_; return $self->{tarball}; }

# work, shared_work:
# The work directory of the base, and the one that all bases share; made at the first
# call.
sub work
{
	my ($self) = @_;
	return $self->{base_work} ||=
		$self->{base} eq '18'
	  ? $self->shared_work
	  : make_dir($self->shared_work . "/$self->{base}");
}

sub shared_work
{
	my ($self) = @_;
	return $self->{work} if $self->{work};

	# What the unprivileged user must read is made readable, whatever the
	# caller's umask.
	umask 022;
	my $build = realpath($self->build);
	my $work = $self->{workdir} // (
		$self->{user}
		? '/var/lib/pgseries/' . substr(sha256_hex($build), 0, 12)
		: "$build/work");
	fail(
		2,
		"the work directory $work is not an absolute path without white space",
		'name another in PGSERIES_WORKDIR or ./configure --workdir'
	) unless $work =~ m{^/\S*$};
	my $link = "$build/work";
	unlink $link if $work eq $link && -l $link;
	make_dir($work);

	# The variable may be for one command only: a link stays that leads anywhere.
	if (-l $link ? !-e $link || !$ENV{PGSERIES_WORKDIR} : !-e $link)
	{
		unlink $link;
		symlink($work, $link)
		  or fail(
			2,
			"cannot make the link $link: $!",
			'check the permissions of the build directory');
	}
	$self->{work} = realpath($work);
	if (my $user = $self->{user})
	{
		# HOME of the unprivileged user: psql history, ccache's configuration.
		$user->{home} = make_dir("$self->{work}/home", $user);

		# Every directory above must let "others" through.
		for (my $dir = $self->{work}; $dir ne '/'; $dir = dirname($dir))
		{
			fail(
				2,
				"user \"$user->{name}\" cannot enter $dir, which the work directory lies in",
				'name another directory in PGSERIES_WORKDIR'
			) unless (stat $dir)[2] & 1;
		}
	}
	return $self->{work};
}

# The unprivileged user { name, uid, gid, home } that "run" takes, or undef
# where the tool itself is not run by root.
sub user
{
	my ($self) = @_;
	$self->shared_work;
	return $self->{user};
}

# The owner of what the unprivileged user must not change, in the form that make_dir
# takes: root where "user" is defined, otherwise undef.
sub caller { my ($self) = @_; return $self->user && owner(); }

# Who runs the tool.
sub owner { return { name => 'root', uid => $>, gid => $) + 0 }; }

# The environment variables of every build and test: the search path, ccache's
# settings, and nothing that would point PostgreSQL's programs at another server or
# at a directory of root's.
sub environment
{
	my ($self) = @_;
	my $work = $self->work;
	my %env = (
		PATH => PATH,
		LC_ALL => 'C.UTF-8',
		CCACHE_DIR => !$self->user && $ENV{CCACHE_DIR}
		  || make_dir($self->shared_work . '/ccache', $self->user),

		# All builds lie at WORK/b/NAME/{src,build}: with relative paths and
		# without the directory in the hash they share one cache.
		CCACHE_BASEDIR => $work,
		CCACHE_NOHASHDIR => 1,
		CCACHE_COMPILERCHECK => 'content');
	$env{$_} = undef
	  for (grep { /^PG/ && !/^PGSERIES_/ } keys %ENV),
	  qw(MAKEFLAGS MAKELEVEL DESTDIR CFLAGS LDFLAGS CPPFLAGS),
	  $self->user ? qw(TMPDIR XDG_CACHE_HOME XDG_CONFIG_HOME) : ();
	return \%env;
}

1;
