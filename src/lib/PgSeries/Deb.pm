package PgSeries::Deb;

use strict;
use warnings FATAL => 'all';

use File::Basename qw(dirname);
use File::Path     qw(remove_tree);
use File::Spec     ();
use PgSeries::Config;
use PgSeries::Util
  qw(capture fail find_tool make_dir processors read_file run run_status write_file);

=pod

=head1 NAME

PgSeries::Deb - packages of the series for Debian and Ubuntu

=head1 DESCRIPTION

Takes the source package of the system's own archive for the same release, appends the
series to its patches, and builds it by dpkg-buildpackage, as whoever runs this.  Its version
is that of the archive with C<+pgseriesN>, which is lower than that of a new release.  The
result is a directory that apt takes as a repository, with the files that make apt know and
prefer it; it has what is specific to the server's major version, no libpq.

=cut

my %TOOLS = (
	'apt-ftparchive' => 'apt-utils',
	'dch' => 'devscripts',
	'dpkg-buildpackage' => 'dpkg-dev');

sub check_arguments
{
	my ($c) = @_;
	PgSeries::CLI::usage_error('there are packages for 18 only', 'deb')
	  if $c->config->base ne '18';
	my $o = $c->{option};
	PgSeries::CLI::usage_error("-v$o->{v} is no version", 'deb')
	  if defined $o->{v} && $o->{v} < 1;
	my @missing = grep { !find_tool($_) } sort keys %TOOLS;
	fail(2, "@missing is missing", "run: apt-get install @TOOLS{@missing}")
	  if @missing;
	return;
}

# The command pgseries deb.
sub command
{
	my ($c) = @_;
	my $config = $c->config;
	my $repository =
	  File::Spec->rel2abs($c->{option}{output} // $config->build . '/deb');
	fail(
		2,
		"$repository is there, and no repository of this command",
		'name another directory, or remove it'
	) if -e $repository && !is_ours($repository);
	my $work = $config->work . '/deb';
	remove_tree($work);
	make_dir($work);
	my %as = (
		cwd => $work,
		env => {
			PATH => PgSeries::Config::PATH(),
			LC_ALL => 'C.UTF-8',
			DEBEMAIL => 'pgseries@localhost',
			DEBFULLNAME => 'pgseries developers',
			DEB_BUILD_OPTIONS => 'nocheck parallel=' . processors(),
			DEB_BUILD_PROFILES => 'nocheck'
		});
	my $source = source($c->series->upstream->version);
	run([ 'apt-get', 'source', '--download-only', $source ], %as);
	run([ 'dpkg-source', '--extract', glob("$work/*.dsc"), 'src' ], %as);
	$as{cwd} = "$work/src";
	my $lacking = run_status(['dpkg-checkbuilddeps'], %as, err => \my $said);
	fail(
		2,
		'packages to build with are missing',
		"run: apt-get build-dep $source", $said) if $lacking;
	add_patches("$work/src/debian/patches", $c->series);
	run([
			'dch',
			'--newversion',
			$source =~ s/.*=//r . '+pgseries' . ($c->{option}{v} // 1),
			'--force-distribution',
			'--distribution',
			'unstable',
			'Add the pgseries patches.'
		],
		%as);
	run([qw(dpkg-buildpackage -us -uc -b)], %as,
		what => 'dpkg-buildpackage',
		log => "$work/build.log");
	make_repository("$work/repository",
		grep { m{/[^/_]*-18[^/_]*_[^/]*\z} && !/-dbgsym_/ }
		  glob "$work/*.deb");
	remove_tree($repository);
	run([ 'cp', '-r', "$work/repository", $repository ]);
	return $c->say("$repository: see doc/package.md");
}

# Was a directory made by this command?
sub is_ours
{
	my ($dir) = @_;
	return -f "$dir/Release"
	  && read_file("$dir/Release") =~ /^Origin: pgseries$/m;
}

# Returns NAME=VERSION of the archive's source package of a release.
sub source
{
	my ($release) = @_;
	my $name = 'postgresql-' . $release =~ s/\..*//r;
	run_status(
		[ 'apt-cache', 'showsrc', '--only-source', $name ],
		out => \my $out,
		err => \my $err);
	my ($version) = sort { later($a, $b) ? -1 : 1 }
	  $out =~ /^Version: (\Q$release\E-\S+)$/mg;
	fail(
		2,
		"apt knows no source of $name $release",
		'add the archive that has it as deb-src to its sources, and run: apt-get update'
	) unless defined $version;
	return "$name=$version";
}

sub later
{
	my ($one, $other) = @_;
	return run_status([ 'dpkg', '--compare-versions', $one, 'gt', $other ])
	  == 0;
}

# Appends the series to the patches of a source package.
sub add_patches
{
	my ($dir, $series) = @_;
	my $list = read_file("$dir/series");
	for my $patch ($series->patches)
	{
		my $file = $patch->{file};
		make_dir(dirname("$dir/$file"));
		write_file("$dir/$file", read_file($patch->{path}));
		$list .= "$file\n";
	}
	write_file("$dir/series", $list);
	return;
}

# Makes the directory: the packages, and what apt needs to know of them.
sub make_repository
{
	my ($dir, @packages) = @_;
	make_dir($dir);
	run([ 'cp', @packages, $dir ]);
	my @release = map { ('-o', "APT::FTPArchive::Release::$_=pgseries") }
	  qw(Origin Label);
	write_file("$dir/Packages",
		capture([qw(apt-ftparchive packages .)], cwd => $dir) . "\n");
	write_file("$dir/Release",
		capture([ 'apt-ftparchive', @release, 'release', '.' ], cwd => $dir)
		  . "\n");
	write_file("$dir/pgseries.sources", <<'EOT');
Types: deb
URIs: file:/srv/pgseries
Suites: ./
Trusted: yes
EOT

	# More than 990, which APT::Default-Release gives; less than what allows a downgrade.
	write_file("$dir/pgseries.pref", <<'EOT');
Explanation: prefer what has the series to a higher version that does not
Package: *
Pin: release o=pgseries
Pin-Priority: 995
EOT
	return;
}

1;
