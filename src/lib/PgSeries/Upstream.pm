package PgSeries::Upstream;

use strict;
use warnings FATAL => 'all';

use Digest::SHA    qw(sha256_hex);
use File::Basename qw(dirname);
use File::Glob     qw(:bsd_glob);
use File::Path     qw(remove_tree);
use File::Temp     ();
use PgSeries::Git  qw(commit_id git git_capture git_status);
use PgSeries::Util
  qw(fail find_tool info make_dir on_exit read_file run run_status write_file);

=pod

=head1 NAME

PgSeries::Upstream - upstream's source: find, verify, import

=head1 DESCRIPTION

The file BASE beside the patches names the C<version>, the C<tree> (the git tree that
it unpacks to), and for a release C<url>, C<sha256> of the tarball and C<package> (the
distribution's source package).  The tarball is looked for, in this order,

  1. where the person says (./configure --with-tarball=FILE, PGSERIES_TARBALL)
  2. in the cache, WORK/upstream
  3. at the release URL, C<url> of BASE
  4. in the distribution's source package, by apt, with lists of the tool's own
     (nothing of the system's configuration is changed)

and is verified against the checksum wherever it comes from.

For a C<commit> of upstream's development branch, C<url> is that of a git repository.
A tarball that the person names is kept in the cache; without one, the commit is
fetched with git.  The tree decides.  Where it cannot be had, the error has code 77, for
which meson skips a test.

=cut

# Reads BASE.
sub new
{
	my ($class, $config) = @_;
	my $file = $config->patches . '/BASE';
	my %base = read_base($file);
	return bless {
		config => $config,
		file => $file,
		tarball => $config->tarball,
		%base
	}, $class;
}

my %KEY = (
	version => qr/^\d+(?:\.\d+|devel)\z/,
	url => qr{^\w+://\S},
	tree => qr/^[0-9a-f]{40}\z/,);
my %RELEASE = (
	sha256 => qr/^[0-9a-f]{64}\z/,
	package => qr/^\S/,);
my %BRANCH = (commit => qr/^[0-9a-f]{40}\z/);

sub read_base
{
	my ($file) = @_;
	my %base = read_file($file) =~ /^(\w+)[ \t]*=[ \t]*(.*?)[ \t]*$/mg;
	my %key = (%KEY, defined $base{commit} ? %BRANCH : %RELEASE);
	for my $key (sort keys %key)
	{
		fail(
			2,
			"$file: there is no line \"$key = ...\", or a bad one",
			'restore the file') unless ($base{$key} // '') =~ $key{$key};
	}
	return %base;
}

# version, repository:
# The version that BASE names, of a development branch with its commit; the path of the
# repository that commit() makes.
sub version
{
	my ($self) = @_;
	my $commit = $self->{commit} // return $self->{version};
	return "$self->{version} (commit " . substr($commit, 0, 12) . ')';
}

sub repository { my ($self) = @_; return $self->{config}->work . '/tree'; }

# Makes sure that upstream's source is there.  Returns the path of what holds it: of the
# verified tarball in the cache, for a development branch of the repository.
sub fetch
{
	my ($self) = @_;
	return $self->release unless defined $self->{commit};
	$self->commit;
	return $self->repository;
}

# The verified tarball of a release.
sub release
{
	my ($self) = @_;
	my $cache = make_dir($self->{config}->work . '/upstream');
	my $cached = "$cache/postgresql-$self->{version}.tar.bz2";
	if (defined(my $given = $self->{tarball}))
	{
		my $why = $self->wrong($given);
		fail(
			2,
			"$given is not the tarball of PostgreSQL $self->{version}: $why",
			'download it again (it may be truncated) or correct the path'
		) if defined $why;
		write_file($cached, read_file($given));
		return $cached;
	}
	return $cached if -f $cached && !defined $self->wrong($cached);
	my $part = "$cache/download.part";
	my @tried;
	for my $way (qw(fetch_url fetch_package))
	{
		my ($from, $why) = $self->$way($part);
		$why //= $self->wrong($part);
		push @tried, "$from: $why" if defined $why;
		next if defined $why;
		rename($part, $cached)
		  or fail(
			2,
			"cannot rename $part: $!",
			"check the permissions of $cache");
		return $cached;
	}
	unlink $part;
	return fail(
		2,
		"cannot obtain PostgreSQL $self->{version} ("
		  . join('; ', @tried) . ')',
		'download it by hand and use ./configure --with-tarball=FILE or PGSERIES_TARBALL'
	);
}

# What is wrong with a tarball, or undef.
sub wrong
{
	my ($self, $file) = @_;
	my $got = sha256_hex(-f $file ? read_file($file) : '');
	return if $got eq $self->{sha256};
	return "its sha256 is $got, not $self->{sha256}: truncated or changed";
}

# These get the file and return its source, and what went wrong.
sub fetch_url
{
	my ($self, $file) = @_;
	my $url = $self->{url};
	info("fetching $url");
	return ($url, 'curl is not installed') unless find_tool('curl');
	my $status = run_status(
		[
			qw(curl --fail --silent --show-error --location
			  --connect-timeout 10 --retry 1 --max-time 600 -o), $file, $url
		],
		err => \my $why);
	return ($url, $status ? $why =~ s/\n.*//sr : undef);
}

# With lists and state of the tool's own.
sub fetch_package
{
	my ($self, $file) = @_;
	my $from = "source package $self->{package}";
	return ($from, 'apt-get is not installed') unless find_tool('apt-get');
	my $source = apt_source()
	  or return ($from, 'no mirror of Debian is configured');
	my $apt = File::Temp->newdir('apt-XXXXXX', DIR => dirname($file));
	make_dir("$apt/$_")
	  for qw(lists/partial cache/archives/partial state parts download);
	write_file("$apt/parts/pgseries.sources", $source);
	write_file("$apt/status", '');
	my @options = map { ('-o', $_) } (
		"Dir::State=$apt/state",
		"Dir::State::lists=$apt/lists",
		"Dir::State::status=$apt/status",
		"Dir::Cache=$apt/cache",
		'Dir::Etc::SourceList=/dev/null',
		"Dir::Etc::SourceParts=$apt/parts",
		'Acquire::Retries=2',
		'APT::Sandbox::User=root');
	my ($said, $why);
	my $run = sub {
		my ($program, @arguments) = @_;
		return run_status(
			[ $program, @options, @arguments ],
			cwd => "$apt/download",
			out => \$said,
			err => \$why,
			env => { LC_ALL => 'C' });
	};
	info("fetching the $from");
	my $status = $run->('apt-get', qw(-qq update))
	  || $run->('apt-cache', 'showsrc', $self->{package});
	my ($have) =
	  !$status && $said =~ /^Version:\s*(\Q$self->{version}\E-\S+)/m;
	$run->(
		'apt-get', qw(-qq source --download-only),
		"$self->{package}=$have") if $have;
	my ($got) = glob "$apt/download/*.orig.tar.bz2";
	return ($from, $why =~ s/\n.*//sr || 'the archive does not carry it')
	  unless defined $got && rename $got, $file;
	return $from;
}

# A source entry for the suites that carry the package, on the machine's own mirror.
sub apt_source
{
	for my $file (glob('/etc/apt/{sources.list,sources.list.d/*}'))
	{
		next unless -f $file && $file =~ /\.(list|sources)$/;
		my ($uri) =
		  read_file($file) =~ m{^(?:URIs:|deb\b).*?(\w+://\S+/debian/?)\s}m;
		return <<"EOT" if defined $uri;
Types: deb-src
URIs: $uri
Suites: sid forky
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
EOT
	}
	return;
}

# Makes a git repository whose branch "upstream" is one commit with the
# release, and returns the commit: the root of the branch, wherever that may be later.
# It is the same on every machine.  Upstream's .gitignore hides one file that is
# tracked, so everything is added with -f: only then do the blob ids match those of
# a clone, which git am -3 needs.
sub commit
{
	my ($self) = @_;
	my $repository = $self->repository;
	my @root = qw(rev-list --max-parents=0 upstream);

	if (-d "$repository/.git"
		&& defined commit_id($repository, 'refs/heads/upstream'))
	{
		my $root = git_capture($repository, @root);
		return $root
		  if git_capture($repository, qw(log -1 --format=%s%x20%T), $root) eq
		  "PostgreSQL $self->{version} $self->{tree}";
		fail(
			2,
			"$repository holds another upstream than $self->{file} names",
			"save your work, then remove $repository and run the same command again"
		);
	}
	fail(
		2,
		"$repository has no branch \"upstream\"",
		'run there: git branch upstream COMMIT, where that is the root of your commits'
	) if -d "$repository/.git";
	my $temp = "$repository.import";
	my $forget = on_exit(sub { remove_tree($temp); });
	my $from =
	  defined $self->{commit}
	  ? $self->import_branch($temp)
	  : $self->unpack_release($self->release, $temp);
	my $tree = git_capture($temp, 'rev-parse', 'HEAD^{tree}');
	fail(
		2,
		"$from unpacks to git tree $tree, not $self->{tree}",
		"correct $self->{file} if the release really changed, or name another tarball"
	) if $tree ne $self->{tree};
	$self->keep($from) if defined $self->{commit} && -f $from;

	# For commits made by hand where the person has set no name.
	git($temp, qw(config user.name), 'pgseries developers');
	git($temp, qw(config user.email pgseries@localhost));

	rename $temp, $repository
	  or fail(2, "cannot rename $temp: $!", "move $repository away");
	$forget->();

	# Worktrees of a repository that is gone, and what was built from them.
	my $work = $self->{config}->work;
	unlink glob "$work/b/*/stamp";
	remove_tree("$work/scratch", glob "$work/b/*/src");
	return git_capture($repository, @root);
}

# Makes the repository, and returns where its contents come from.
sub import_branch
{
	my ($self, $temp) = @_;
	my $commit = $self->{commit};
	my $tarball = $self->{tarball} // $self->cached;
	return $self->unpack_release($tarball, $temp) if -f $tarball;
	fail(2, "there is no tarball $tarball", 'correct PGSERIES_MASTER_TARBALL')
	  if defined $self->{tarball};
	info("fetching $commit from $self->{url}");
	remove_tree($temp);
	make_dir($temp);
	git($temp, qw(init -q));
	my $status = git_status(
		$temp,
		[ qw(fetch -q --depth=1), $self->{url}, $commit ],
		err => \my $why);
	fail(
		77,
		"upstream's development branch cannot be obtained, so what needs it is skipped ("
		  . ($why =~ s/\n.*//sr) . ')',
		'name a tarball of it: ./configure --with-master-tarball=FILE'
	) if $status != 0;
	git($temp, qw(read-tree -u --reset FETCH_HEAD));
	$self->commit_release($temp);
	return "$self->{url} $commit";
}

# Where a tarball of the development branch is kept.
sub cached
{
	my ($self) = @_;
	return
		$self->{config}->work
	  . "/upstream/postgresql-$self->{version}-"
	  . substr($self->{commit}, 0, 8) . '.tar';
}

sub keep
{
	my ($self, $tarball) = @_;
	return if $tarball eq $self->cached;
	make_dir($self->{config}->work . '/upstream');
	write_file($self->cached, read_file($tarball));
	return;
}

# A new git repository with one commit, the release.
sub unpack_release
{
	my ($self, $tarball, $temp) = @_;
	remove_tree($temp);
	make_dir($temp);
	info("unpacking $tarball");
	run([
			qw(tar --extract --strip-components=1 --no-same-owner --file),
			$tarball
		],
		cwd => $temp,
		what => "unpacking $tarball",
		remedy =>
		  'install bzip2 and xz, free some disk space, or fetch it again');
	git($temp, qw(init -q));
	git($temp, qw(add -A -f .));
	$self->commit_release($temp);
	return $tarball;
}

# The same commit everywhere.
sub commit_release
{
	my ($self, $temp) = @_;
	run([ qw(git commit -q -m), "PostgreSQL $self->{version}" ],
		cwd => $temp,
		env => {
			%{ PgSeries::Git::GIT_ENV() },
			map {
				(   "GIT_${_}_NAME" => 'PostgreSQL',
					"GIT_${_}_EMAIL" => 'upstream@localhost',
					"GIT_${_}_DATE" => '2000-01-01T00:00:00Z')
			} qw(AUTHOR COMMITTER)
		});
	return;
}

1;
