package PgSeries::Packages;

use strict;
use warnings FATAL => 'all';

use File::Path qw(remove_tree);
use JSON::PP   ();
use PgSeries::Config;
use PgSeries::Util qw(fail find_tool info make_dir read_file run write_file);
use Text::Wrap     qw(wrap);

=pod

=head1 NAME

PgSeries::Packages - packages exchanged under all extensions: pgseries check --packages

=head1 DESCRIPTION

In chroots of Debian sid, made anew by mmdebstrap: builds the packages by "pgseries deb";
installs the archive's server and every extension that the archive has for it; exchanges the
server by the commands of doc/package.md, and goes back by those that it has for that.

Before each of the two and after, each library of an extension is preloaded, and
src/qa/packages/smoke.sql run, and what there is for it, src/qa/packages/LIBRARY.sql.  The
tests that extensions' sources have are run before and after the exchange; where the archive
has no source, that of WORK/packages/sources/NAME is taken, NAME being that of the source
package.

The results are written to src/qa/extensions.json, and as a table to doc/package.md.

=cut

# Installed for the tests that extensions' packages have.
my $TOOLS =
  'autopkgtest dpkg-dev make perl postgresql-server-dev-18 postgresql-server-dev-all sudo';
my $CLUSTER = 'max_prepared_transactions = 5
fsync = off
autovacuum = off
log_min_messages = warning
';

# What differs, and why it may.
my %KNOWN = map { $_ => 'lists the settings of the planner' }
  ('pg-hint-plan-18: init', 'pg-hint-plan-18: ut-A');

sub check_tools
{
	fail(2, 'mmdebstrap is missing', 'run: apt-get install mmdebstrap')
	  unless find_tool('mmdebstrap');
	fail(2, 'only root can make a chroot', 'run this as root') if $> != 0;
	return;
}

# The command pgseries check --packages.  Exit status 1 if something differs.
sub compare
{
	my ($c) = @_;
	my $self = bless {
		top => $c->config->top,
		work => $c->config->shared_work . '/packages'
	  },
	  'PgSeries::Packages';
	my $release = $c->series->upstream->version;
	my @findings;
	remove_tree("$self->{work}/log");
	make_dir("$self->{work}/log");

	my $build = $self->chroot('build');
	$self->inside($build, 'build',
		'apt-get install -y --no-install-recommends apt-utils devscripts dpkg-dev git && '
		  . "apt-get build-dep -y -P nocheck postgresql-18 && "
		  . '/pgseries/src/bin/pgseries deb');

	my $server = $self->chroot('server');
	$self->install($server);
	run([ 'cp', '-a', "$build/srv/build", "$server/srv" ]);
	my %stock = $self->pass($server, 'stock', 1);
	push @findings, $self->exchange($server, 'Exchange the packages');
	my %patched = $self->pass($server, 'patched', 1);
	push @findings, $self->exchange($server, 'Back to plain 18.6');
	my %back = $self->pass($server, 'back', 0);
	push @findings, differences('patched', \%stock, \%patched),
	  differences('plain again', \%stock, \%back);
	$self->record(\%stock, \%patched);
	$c->say(
		@findings
		? join("\n", @findings)
		: 'no difference under any extension, there and back');
	return @findings ? 1 : 0;
}

# Makes a chroot with nothing but what apt needs, and says where it is.
sub chroot
{
	my ($self, $name) = @_;
	my $dir = "$self->{work}/$name";
	remove_tree($dir);
	info("making the chroot $dir");
	run([    # a mirror may lag behind
			'mmdebstrap', '--aptopt=Acquire::Check-Valid-Until "false"',
			'--variant=apt', 'sid', $dir
		],
		what => 'mmdebstrap',
		log => "$self->{work}/log/$name");
	$self->inside($dir, $name,
		q{sed -i 's/^deb \(.*\)/&\ndeb-src \1/' /etc/apt/sources.list && apt-get update && }
		  . 'mkdir -p /srv/build && apt-get install -y perl');
	return $dir;
}

# Runs a shell script in a chroot, in which the checkout is /pgseries; what it starts ends
# with it.
sub inside
{
	my ($self, $dir, $log, $script) = @_;
	my $mounts =
	  'mkdir -p "$0/pgseries" "$0/dev/shm" && mount -t proc proc "$0/proc" && '
	  . 'mount -t tmpfs tmpfs "$0/dev/shm" && mount --bind "$1" "$0/pgseries" && mount -o remount,bind,ro "$0/pgseries" && '
	  . 'cd "$0/srv" && exec chroot "$0" sh -ec "cd /srv; $2"';
	run([
			qw(unshare --mount --pid --fork --kill-child sh -c),
			$mounts, $dir, $self->{top}, $script
		],
		env => {
			DEBIAN_FRONTEND => 'noninteractive',
			HOME => '/root',
			LC_ALL => 'C.UTF-8',
			PATH => PgSeries::Config::PATH(),
			PGSERIES_BUILDDIR => '/srv/build',
			PGSERIES_WORKDIR => '/var/tmp/pgseries',
			PGSERIES_TARBALL => undef
		},
		what => $log,
		log => "$self->{work}/log/$log");
	return;
}

# Installs the archive's server, all extensions for it, and the sources of these.
sub install
{
	my ($self, $dir) = @_;
	write_file("$dir/srv/cluster.conf", $CLUSTER);
	run([ 'cp', '-a', "$self->{work}/sources", "$dir/srv/sources" ])
	  if -d "$self->{work}/sources";
	$self->inside($dir, 'install', <<"EOT");
apt-get install -y postgresql-18 postgresql-18-jit $TOOLS
apt-get install -y \$(apt-cache pkgnames postgresql-18-)
cp cluster.conf /etc/postgresql/18/main/conf.d/
dpkg-query -W -f '\${source:Package} \${Package} \${Version}\\n' 'postgresql-18*' |
while read -r source package version; do
  dpkg -L \$package |
  sed -n "s,^/usr/lib/postgresql/18/lib/\\([^/]*\\)\\.so\$,\$source \$package \$version \\1,p"
done >libraries
mkdir -p sources
cd sources
for source in \$(cut -d' ' -f1 ../libraries | sort -u | grep -v '^postgresql-18\$'); do
  [ ! -d \$source ] || continue
  mkdir /srv/source
  (cd /srv/source && apt-get source \$source && mv */ /srv/sources/\$source) >/dev/null ||
  echo "no source of \$source"
  rm -r /srv/source
done
EOT
	return;
}

# Runs smoke tests, and the extensions' own if $tests.  Returns what there was to see, a hash
# of libraries ("library NAME") and tests ("SOURCE: TEST").
sub pass
{
	my ($self, $dir, $name, $tests) = @_;
	info("$name: running the smoke tests and those of extensions");
	$self->inside($dir, "pass-$name",
		"sh /pgseries/src/qa/packages/pass.sh $name $tests");
	my %seen;
	for my $file (glob "$dir/srv/pass/$name/library.*")
	{
		$seen{"library $1"} = read_file($file)
		  if $file =~ /library\.(.*)/;
	}
	for my $file (glob "$dir/srv/pass/$name/test.*/log")
	{
		my ($source) = $file =~ m{test\.([^/]*)/log};
		my $log = read_file($file);
		$seen{"$source: $2"} = $1 ? 'fails' : 'passes'
		  while $log =~
		  /^(?:# )?(not )?ok +\d+ +[-+] +(.*?)(?:\s+\d+ ms)?$/mg;
		$seen{"$source: test $1"} = $2
		  while $log =~ /^ *\d+s (\S+) +(PASS|FAIL|SKIP)\b/mg;
	}
	return %seen;
}

# Executes the commands that doc/package.md has under a heading, as root, with the tests of
# data before and after.
sub exchange
{
	my ($self, $dir, $heading) = @_;
	my $text = read_file("$self->{top}/doc/package.md");
	my ($section) = $text =~ /^#+ \Q$heading\E\n(.*?)(?:^#|\z)/ms
	  or fail(
		2,
		"doc/package.md has no \"$heading\"",
		'name it in src/qa/PgSeries/Packages.pm');
	my $log = $heading =~ s/\W+/-/gr;
	write_file("$dir/srv/commands",
		join('', $section =~ /^    (.*\n)/mg) =~
		  s/^apt-get install/$& -y/mgr);
	$self->inside($dir, $log,
		"sh /pgseries/src/qa/packages/data.sh '$heading'");
	my $said = read_file("$self->{work}/log/$log");
	return map { "$heading: $_" }
	  $said =~ /^(The following packages will be REMOVED:.*(?:\n  .*)*)/mg,
	  $said =~ /^(WRONG: .*)/mg;
}

# What of a pass differs from what it was on plain 18.6, of libraries, and of tests if these
# were run.
sub differences
{
	my ($name, $stock, $other) = @_;
	my %all = (%$stock, %$other);
	my $tests = grep { !/^library / } keys %$other;
	return map { "$name: $_ differs" }
	  grep     { !$KNOWN{$_} }
	  grep     { ($stock->{$_} // '') ne ($other->{$_} // '') }
	  grep     { $tests || /^library / } sort keys %all;
}

# Writes the results, and the table of doc/package.md.
sub record
{
	my ($self, $stock, $patched) = @_;
	my (%of, %libraries);
	for (split /\n/, read_file("$self->{work}/server/srv/libraries"))
	{
		my ($source, $package, $version, $library) = split / /;
		my ($before, $after) =
		  map { $_->{"library $library"} // '' } $stock, $patched;
		next if $before eq '';
		my $of = $of{$source} ||= { version => $version };
		my $same = $before eq $after;
		my $how =
			$before =~ /does not start/ ? 'could not be loaded'
		  : $same                       ? 'same'
		  :                               'differs';
		$libraries{$library} = $how;
		$of->{smoke}{$how} = 1;
	}
	delete $of{'postgresql-18'};
	my @same;
	my $table =
	  "| Extension | Smoke test | Its own tests: 18.6 | Patched |\n|---|---|---|---|\n";
	for my $source (sort keys %of)
	{
		my @tests = grep { /^\Q$source\E: / } sort keys %$stock;
		my ($before, $after) = map {
			my $results = $_;
			my $passed = grep { ($results->{$_} // '') =~ /^pass/i } @tests;
			@tests ? "$passed of " . @tests . ' pass' : '-'
		} $stock, $patched;
		my ($smoke) = grep { $of{$source}{smoke}{$_} } 'differs', 'same',
		  'could not be loaded';
		if (!@tests && $smoke eq 'same')
		{
			push @same, "$source $of{$source}{version}";
			next;
		}
		my $differ =
		  grep { !$KNOWN{$_} && $stock->{$_} ne ($patched->{$_} // '') }
		  @tests;
		my @known = sort { $a cmp $b } grep { defined } @KNOWN{@tests};
		$after .= " (what differs $known[0])" if @known;
		$table .= sprintf "| %s %s | %s | %s | %s |\n", $source,
		  $of{$source}{version}, $smoke, $before,
		  $differ ? "$after, **$differ differ**" : $after;
	}
	local $Text::Wrap::columns = 120;
	$table .=
	  wrap('', '',
		"\nThe smoke test's output is the same with: " . join(', ', @same))
	  . ".\n";
	write_file(
		"$self->{top}/src/qa/extensions.json",
		JSON::PP->new->canonical->pretty->encode(
			{ libraries => \%libraries }));
	my $doc = "$self->{top}/doc/package.md";
	write_file($doc,
		read_file($doc) =~ s/^\| Extension \|.*?\n\n.*?\n(?=\n)/$table/msr);
	return;
}

1;
