package PgSeries::Upstream;

use strict;
use warnings FATAL => 'all';

use Digest::SHA;
use File::Basename qw(basename dirname);
use File::Copy     qw(copy);
use File::Glob     qw(:bsd_glob);
use File::Path     qw(remove_tree);
use PgSeries::Git  qw(git git_capture git_status);
use PgSeries::Util
  qw(fail find_tool info make_dir on_exit read_file run run_status write_file);

=pod

=head1 NAME

PgSeries::Upstream - upstream's source: find, verify, import

=head1 DESCRIPTION

patches/18/BASE names the release: C<version>, C<url>, C<sha256> of the tarball,
C<tree> (the git tree that it unpacks to) and C<package> (the distribution's
source package).  The tarball is looked for, in this order,

  1. where the person says (./configure --with-tarball=FILE, PGSERIES_TARBALL)
  2. in the cache, WORK/upstream
  3. at the release URL (PGSERIES_URL overrides it)
  4. in the distribution's source package, by apt, with lists of the tool's own
     (nothing of the system's configuration is changed)

and is verified against the checksum wherever it comes from.  If 4. has only a
later minor release of the same major version, that one is taken, with a clear
notice: apt has verified it by the archive's signature.

=over

=item new($config)

Reads patches/18/BASE.

=cut

sub new
{
	my ($class, $config) = @_;
	my $base = read_base($config->patches . '/BASE');
	return bless {
		config => $config,
		tarball => $config->tarball,
		option => './configure --with-tarball=FILE or PGSERIES_TARBALL',
		%$base
	}, $class;
}

=item read_base($file)

A function.  Returns what the file says, as a hash; a bad or missing line is an
error.

=cut

sub read_base
{
	my ($file) = @_;
	my %base;
	for (split /\n/, read_file($file))
	{
		next if /^\s*(#|$)/;
		/^(\w+)\s*=\s*(.*?)\s*$/
		  or fail(2, "$file: bad line \"$_\"", 'write "key = value"');
		$base{$1} = $2;
	}
	for my $key (qw(version url sha256 tree package))
	{
		fail(2, "$file: there is no line \"$key = ...\"", 'restore the file')
		  unless defined $base{$key} && $base{$key} ne '';
	}
	fail(
		2,
		"$file: \"version\" is not a minor release",
		'write it as in 18.6') unless $base{version} =~ /^\d+\.\d+\z/;
	fail(
		2,
		"$file: \"tree\" is not the 40 digits of a git tree",
		'restore the file') unless $base{tree} =~ /^[0-9a-f]{40}\z/;
	return \%base;
}

=item version

The version that patches/18/BASE names.

=cut

sub version { my ($self) = @_; return $self->{version}; }

=item actual_version

The version that the worktree holds: another one where a later minor release had
to stand in.

=cut

sub actual_version
{
	my ($self) = @_;
	my $subject = '';
	git_status(
		$self->{config}->work . '/tree',
		[qw(log -1 --format=%s refs/heads/upstream)],
		out => \$subject,
		err => \my $err);
	return $subject =~ /^PostgreSQL (\S+)/ ? $1 : $self->{version};
}

=item fetch

Returns the path of the verified tarball in the cache, having fetched it if
necessary.

=cut

sub fetch
{
	my ($self) = @_;
	my $cache = make_dir($self->{config}->work . '/upstream');
	my $cached = "$cache/postgresql-$self->{version}.tar.bz2";
	my @tried;

	if (defined(my $given = $self->{tarball}))
	{
		fail(2, "there is no tarball $given", "correct $self->{option}")
		  unless -f $given;
		return $given unless defined $self->{sha256};
		$self->verify($given);
		$self->adopt($given, $cached);
		return $cached;
	}
	if (-f $cached)
	{
		return $cached
		  if !defined $self->{sha256} || sha256($cached) eq $self->{sha256};
		info("$cached: wrong checksum, removed");
		unlink $cached;
	}
	for my $way (qw(fetch_url fetch_package))
	{
		my ($file, $why) = $self->$way($cache);
		return $file if defined $file;
		push @tried, $why;
	}
	fail(
		2,
		"cannot obtain PostgreSQL $self->{version} ("
		  . join('; ', @tried) . ')',
		"download it by hand and use $self->{option}");
	return;
}

sub sha256
{
	my ($file) = @_;
	my $sha = eval { Digest::SHA->new(256)->addfile($file, 'b')->hexdigest };
	die $@ if ref $@;
	fail(2, "cannot read $file", 'check its permissions') unless $sha;
	return $sha;
}

sub verify
{
	my ($self, $file) = @_;
	return unless defined $self->{sha256};
	my $got = sha256($file);
	return if $got eq $self->{sha256};
	fail(
		2,
		"$file is not the tarball of PostgreSQL $self->{version}: its sha256 is $got, not $self->{sha256}",
		'download it again (it may be truncated) or correct the path');
	return;
}

# Into the cache in one step, so that an interrupt leaves no half file there.
sub adopt
{
	my ($self, $from, $to) = @_;
	return if -f $to && sha256($to) eq $self->{sha256};
	my $why =
	   !copy($from, "$to.part")               ? "$!"
	  : sha256("$to.part") ne $self->{sha256} ? 'it changed on the way'
	  :                                         undef;
	if (defined $why)
	{
		unlink "$to.part";
		fail(
			2,
			"cannot copy $from to the cache: $why",
			'free some disk space, then run the same command again');
	}
	rename_in_cache("$to.part", $to);
	return;
}

sub rename_in_cache
{
	my ($from, $to) = @_;
	rename($from, $to)
	  or fail(2, "cannot rename $from: $!", "check the permissions of $to");
	return;
}

sub fetch_url
{
	my ($self, $cache) = @_;
	# The variable names the release of patches/18/BASE, not another minor one.
	my $url =
	  defined $self->{sha256} && $ENV{PGSERIES_URL} || $self->{url};
	my $part = "$cache/download.part";
	my $forget = on_exit(sub { unlink $part; });
	my $wanted = $self->{sha256};
	my ($status, $why) = (0, '');
	if (!defined $wanted)
	{
		($status, $why) = download("$url.sha256", $part);
		($wanted) = read_file($part) =~ /^([0-9a-f]{64})\b/ if $status == 0;
	}
	info("fetching $url");
	($status, $why) = download($url, $part) if $status == 0;
	if ($status == 0)
	{
		my $got = sha256($part);
		if (defined $wanted && $got eq $wanted)
		{
			my $kept = "$cache/postgresql-$self->{version}.tar.bz2";
			rename_in_cache($part, $kept);
			$forget->();
			return $kept;
		}
		$why =
			"what came from $url has sha256 $got, not "
		  . ($wanted || 'what is published')
		  . ': truncated or changed';
	}
	unlink $part;
	$forget->();
	info("release URL: $why");
	return (undef, "release URL: $why");
}

# Returns the exit status, and what the program had to say.
sub download
{
	my ($url, $file) = @_;
	return (1, 'curl is not installed') unless find_tool('curl');
	my $status = run_status(
		[
			qw(curl --fail --silent --show-error --location
			  --connect-timeout 10 --retry 1 --max-time 600 -o), $file, $url
		],
		err => \my $why);
	return ($status, $why =~ s/\n.*//sr);
}

# Source entries for the suites that carry the package, derived from the
# machine's own: same mirror, same keys, lists and state of our own.
sub fetch_package
{
	my ($self, $cache) = @_;
	return (undef, 'source package: apt-get is not installed')
	  unless find_tool('apt-get');
	my @entries = apt_entries();
	return (undef, 'source package: no usable apt source is configured')
	  unless @entries;
	my $apt = "$cache/apt";
	my $remove = sub { remove_tree($apt); };
	$remove->();
	my $forget = on_exit($remove);
	make_dir("$apt/$_")
	  for qw(lists/partial cache/archives/partial state parts download);
	write_file("$apt/parts/pgseries.sources", join("\n", @entries));
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
	info("fetching the source package $self->{package}");
	my $status = $run->('apt-get', qw(-qq update))
	  || $run->('apt-cache', 'showsrc', $self->{package});

	# This release, or else the last one if a checksum says which it should be.
	my ($major, $minor) = $self->{version} =~ /^(\d+)\.(\d+)/;
	my %have = map { /\.(\d+)-/ => $_ }
	  ($status ? '' : $said) =~ /^Version:\s*(\Q$major\E\.\d+-\S+)/mg;
	my ($last) = sort { $b <=> $a } grep { $_ >= $minor } keys %have;
	my $pick = $have{$minor};
	$pick ||= $have{$last} if defined $last && defined $self->{sha256};
	$run->(
		'apt-get', qw(-qq source --download-only),
		"$self->{package}=$pick") if $pick;
	my ($file) = glob "$apt/download/*.orig.tar.bz2";

	if (!defined $file)
	{
		$why = 'source package: '
		  . ($why ? $why =~ s/\n.*//sr : 'the archive does not carry it');
		$forget->();
		$remove->();
		info($why);
		return (undef, $why);
	}
	my ($version) = $pick =~ /^([\d.]+)-/;
	my $kept = "$cache/postgresql-$version.tar.bz2";

	# The checksum decides, not the name.
	if ($version eq $self->{version}) { $self->verify($file); }
	else
	{
		info(
			"NOTICE: PostgreSQL $self->{version} cannot be had; using $version,"
			  . ' verified by the archive\'s signature only.  The series is made'
			  . " for $self->{version} and may not apply.");
	}
	rename_in_cache($file, $kept);
	$forget->();
	$remove->();
	return $kept;
}

sub apt_entries
{
	my %key;
	for my $file (glob('/etc/apt/{sources.list,sources.list.d/*}'))
	{
		next unless -f $file && $file =~ /\.(list|sources)$/;
		my $text = read_file($file) =~ s/^#.*\n//mgr;
		for my $stanza (split /\n\s*\n/, $text)
		{
			my %field = $stanza =~ /^([\w-]+):[ \t]*(.*(?:\n[ \t]+.*)*)$/mg;
			$key{$1} ||= $field{'Signed-By'}
			  || ''
			  if ($field{Types} || '') =~ /\bdeb\b/
			  && ($field{Components} || '') =~ /\bmain\b/
			  && ($field{URIs} || '') =~ m{(\S+/debian/?)(?:\s|$)};
		}
		while (
			$text =~ m{^deb\s+(?:\[(.*?)\]\s+)?(\S+/debian/?)\s.*\bmain\b}mg)
		{
			my ($options, $uri) = ($1 || '', $2);
			$key{$uri} ||= $options =~ /signed-by=(\S+)/ ? $1 : '';
		}
	}
	return map {
		"Types: deb-src\nURIs: $_\nSuites: sid forky\nComponents: main\n"
		  . ($key{$_} ne '' ? "Signed-By: $key{$_}\n" : '')
	} sort keys %key;
}

=item import_into($repository)

Makes a git repository whose branch C<upstream> is one commit with the
release, and returns the commit.  The commit is the same on every machine.
Upstream's .gitignore hides one file that is tracked, so everything is added
with C<-f>: only then do the blob ids match those of a clone, which C<git am
-3> needs.

=cut

sub import_into
{
	my ($self, $repository) = @_;
	if (-d "$repository/.git"
		&& git_status($repository,
			[ qw(rev-parse --verify -q), 'refs/heads/upstream' ]) == 0)
	{
		# "wanted" differs from what is there where a later minor release had to
		# stand in.
		my $wanted = '';
		git_status($repository, [qw(config pgseries.wanted)],
			out => \$wanted);
		chomp $wanted;
		if ($wanted eq "$self->{version} $self->{tree}")
		{
			return git_capture($repository, 'rev-parse', 'upstream');
		}
		fail(
			2,
			"$repository holds another upstream than patches/18/BASE names",
			"save your work, then remove $repository and run the same command again"
		);
	}
	my $tarball = $self->fetch;
	my ($version) = basename($tarball) =~ /postgresql-(.*)\.tar/;
	my $temp = "$repository.import";
	my $forget = on_exit(sub { remove_tree($temp); });
	unpack_release($tarball, $version, $temp);
	my $tree = git_capture($temp, 'rev-parse', 'HEAD^{tree}');
	if ($version eq $self->{version} && $tree ne $self->{tree})
	{
		fail(
			2,
			"$tarball unpacks to git tree $tree, not $self->{tree}",
			'correct patches/18/BASE if the release really changed');
	}
	git($temp, qw(config pgseries.wanted), "$self->{version} $self->{tree}");

	# For commits made by hand where the person has set no name.
	git($temp, qw(config user.name), 'pgseries developers');
	git($temp, qw(config user.email pgseries@localhost));

	# Worktrees of a repository that is gone, and what was built from them.
	my $work = dirname($repository);
	unlink glob "$work/b/*/stamp";
	remove_tree("$work/scratch", glob "$work/b/*/src");
	rename $temp, $repository
	  or fail(2, "cannot rename $temp: $!", "remove $repository");
	$forget->();
	return git_capture($repository, 'rev-parse', 'upstream');
}

# A new git repository with one commit, the release.
sub unpack_release
{
	my ($tarball, $version, $temp) = @_;
	remove_tree($temp);
	make_dir($temp);
	info("unpacking $tarball");
	run([
			qw(tar --extract --bzip2 --strip-components=1 --no-same-owner --file),
			$tarball
		],
		cwd => $temp,
		what => "unpacking $tarball",
		remedy => 'install bzip2, free some disk space, or fetch it again');
	git($temp, qw(init -q));
	git($temp, qw(add -A -f .));
	run([ qw(git commit -q -m), "PostgreSQL $version" ],
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

=item import_release($repository, $version, $tarball)

Adds another release to the repository as a commit without parents, and returns
the commit.  The tarball is the one given; if it is undef, that in the cache, at
the release URL (with the checksum published beside it), or of the distribution's
source package.

=back

=cut

sub import_release
{
	my ($self, $repository, $version, $tarball) = @_;
	my $other = bless {
		%$self,
		version => $version,
		url => $self->{url} =~ s/\Q$self->{version}\E/$version/gr,
		sha256 => undef,
		tarball => $tarball,
		option => '--tarball=FILE'
	  },
	  ref $self;
	$tarball = $other->fetch;
	my $temp = "$repository.release";
	my $forget = on_exit(sub { remove_tree($temp); });
	unpack_release($tarball, $version, $temp);
	my ($is) =
	  -f "$temp/meson.build"
	  ? read_file("$temp/meson.build") =~ /^\s*version: '([^']+)'/m
	  : ();
	fail(
		2,
		"$tarball holds PostgreSQL $is, not $version",
		'remove it, or pass the right one as --tarball=FILE'
	) if defined $is && $is ne $version;
	git($repository, qw(fetch -q --no-tags),
		$temp, "+upstream:refs/pgseries-release/$version");
	remove_tree($temp);
	$forget->();
	return git_capture($repository, 'rev-parse',
		"refs/pgseries-release/$version");
}

1;
