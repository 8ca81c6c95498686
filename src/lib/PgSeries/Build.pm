package PgSeries::Build;

use strict;
use warnings FATAL => 'all';

use Digest::SHA      qw(sha256_hex);
use File::Glob       qw(:bsd_glob);
use File::Path       qw(remove_tree);
use PgSeries::Config ();
use PgSeries::Git    qw(git git_capture);
use PgSeries::Util
  qw(capture fail find_tool info make_dir minutes on_exit progress read_file run tail_file write_file);

=pod

=head1 NAME

PgSeries::Build - builds of upstream with none, some or all of the patches

=head1 DESCRIPTION

A build has a name that says what is in it and how it is made:

  base           upstream, optimized, no assertions
  patched        upstream and the whole series, the same way
  base-assert    upstream with assertions and injection points
  assert         the whole series with assertions and injection points
  prefix-N       the first N patches, with assertions and injection points
  topic-NAME     the patches of one topic, with assertions and injection points

and lies in WORK/b/NAME: C<src> (a worktree), C<build> (meson), C<inst> (the
installation), C<log>, and C<stamp>, written last, which says what was built.
All have the same relative paths, so they share ccache's cache.  A build whose
stamp matches is not touched.

=cut

# Assertion builds refuse warnings; a compiler that upstream's own code does
# not compile cleanly with can be told so with PGSERIES_MESON_ARGS=-Dwerror=false.
my @COMMON = qw(-Dbuildtype=debugoptimized -Dllvm=disabled -Dplpython=disabled
  -Dtap_tests=enabled);
my @RELEASE = qw(-Dcassert=false -Dinjection_points=false);
my @ASSERT = qw(-Dcassert=true -Dinjection_points=true -Dwerror=true);

sub new
{
	my ($class, $config, $series) = @_;
	return bless { config => $config, series => $series }, $class;
}

# Returns { name, dir, src, build, inst, bin, log, stamp, patches, options, cc }
# without building anything.  PgSeries::World adds "env", environment variables that the
# build's programs need, and "slow", how many times as long tests may take.
sub describe
{
	my ($self, $name) = @_;
	my $series = $self->{series};
	my @patches =
		$name =~ /^base(-assert)?$/   ? ()
	  : $name =~ /^(patched|assert)$/ ? $series->patches
	  : $name =~ /^prefix-(\d+)$/     ? $series->prefix($1)
	  : $name =~ /^topic-(.+)$/       ? $series->alone($1)
	  : fail(
		2,
		"there is no build \"$name\"",
		'choose base, patched, base-assert, assert, prefix-N, topic-NAME, or one of check --world'
	  );
	my $assert = $name !~ /^(base|patched)$/;
	return {
		$self->paths($name),
		patches => \@patches,
		options => [
			@COMMON,
			$assert ? @ASSERT : @RELEASE,
			split(' ', $ENV{PGSERIES_MESON_ARGS} || '')
		],
		cc => 'gcc',
	};
}

sub paths
{
	my ($self, $name) = @_;
	my $dir =
	  $self->{config}->work . '/b/' . ($self->{place}{$name} // $name);
	return (
		name => $name,
		dir => $dir,
		(map { $_ => "$dir/$_" } qw(src build inst log stamp)),
		bin => "$dir/inst/bin");
}

# How a build is made: the programs, what sets it up and by which file that can be
# told, what compiles and installs it.
sub commands
{
	my ($self, $b) = @_;
	return (
		tools => [qw(meson ninja)],
		setup => [ qw(meson setup), $b->{build}, $b->{src} ],
		made => 'build.ninja',
		build => [ 'ninja', '-C', $b->{build} ],
		install => [ qw(meson install --quiet --no-rebuild -C), $b->{build} ]
	);
}

# Has build $name made in the directory of build $other, in place of that.
sub place
{
	my ($self, $name, $other) = @_;
	$self->{place}{$name} = $other;
	return;
}

# Brings a build up to date, installed below its own directory, and returns its
# description.
sub ensure
{
	my ($self, $name) = @_;
	my $b = $self->describe($name);
	my $config = $self->{config};
	$self->check_tools($b);
	my $commit = $self->{series}->commit_of(@{ $b->{patches} });
	my $want = "$commit @{ $b->{options} } " . $self->toolchain($b) . "\n";
	$b->{commit} = $commit;
	return $b if -f $b->{stamp} && read_file($b->{stamp}) eq $want;

	unlink $b->{stamp};
	$self->make($b, $commit, $name);

	# Nor must tests run what another series has installed.
	make_dir($b->{inst}, $config->user);
	remove_tree($b->{inst}, { keep_root => 1 });
	remove_tree("$b->{build}/tmp_install");
	$self->ninja($b, 'install', 'install.log');
	write_file($b->{stamp}, $want);
	return $b;
}

# Makes all of a build but the installation.
sub make
{
	my ($self, $b, $commit, $what) = @_;
	my $config = $self->{config};
	my $work = $config->work;
	my (undef, $line) = split /\n/, capture([ 'df', '-Pk', $work ]);
	fail(
		2,
		"less than 3 GB are free in $work",
		'free some space there, or name another directory in PGSERIES_WORKDIR'
	) if (split ' ', $line)[3] < 3 * 1024**2;
	make_dir($b->{dir});
	make_dir($b->{build}, $config->user);
	make_dir($b->{log}, $config->caller);
	$self->checkout($b, $commit);

	# Upstream's tests of ecpg write beside their sources.
	my $beside = "$b->{src}/src/interfaces/ecpg/preproc/t";
	make_dir($beside, $config->user) if -d $beside;
	info("building $what (log: $b->{log}/build.log)");
	$self->configure($b);
	$self->ninja($b, 'build', 'build.log');
	return;
}

# Raises an error if a program or library is missing that the build needs.
sub check_tools
{
	my ($self, $b) = @_;
	my %command = $self->commands($b);
	for my $tool (@{ $command{tools} }, qw(bison flex), $b->{cc})
	{
		fail(
			2,
			"$tool is missing in " . PgSeries::Config::PATH,
			'run: ./configure --install-deps, or set PGSERIES_PATH'
		) unless find_tool($tool, PgSeries::Config::PATH);
	}
	return;
}

# The environment variables for the programs of a build, and for making it.
sub environment
{
	my ($self, $b) = @_;
	return { %{ $self->{config}->environment }, %{ $b->{env} || {} } };
}

# What the compiler says of itself, and the program that sets up the build.
sub toolchain
{
	my ($self, $b) = @_;
	my %command = $self->commands($b);
	my $env = { PATH => PgSeries::Config::PATH };
	return join '/',
	  map { capture([ $_, '--version' ], env => $env) =~ s/\n.*//sr }
	  $b->{cc}, $command{tools}[0];
}

sub checkout
{
	my ($self, $b, $commit) = @_;
	my $tree = $self->{series}->tree;
	if (!PgSeries::Series::is_worktree($tree, $b->{src}))
	{
		remove_tree($b->{src});
		git($tree, qw(worktree prune));
		return git($tree, qw(worktree add -q --detach), $b->{src}, $commit);
	}
	unlink glob(
		git_capture($b->{src}, qw(rev-parse --absolute-git-dir)) . '/*.lock');
	git($b->{src}, qw(checkout -q --force --detach), $commit);
	return git($b->{src}, qw(clean -qfd));
}

# Options that changed, or a directory that an interrupt left half made, cost a
# new set-up; ccache makes that cheap.
sub configure
{
	my ($self, $b) = @_;
	my $config = $self->{config};
	my %command = $self->commands($b);
	my $done = "$b->{dir}/configured";
	my $want = "@{ $b->{options} } $b->{inst} " . $self->toolchain($b) . "\n";
	return
		 if -f $done
	  && read_file($done) eq $want
	  && -f "$b->{build}/$command{made}";
	unlink $done;
	remove_tree($b->{build}, { keep_root => 1 });
	my $env = $self->environment($b);
	$env->{CC} =
	  find_tool('ccache', PgSeries::Config::PATH)
	  ? "ccache $b->{cc}"
	  : $b->{cc};
	unlink "$b->{log}/setup.log";
	run([ @{ $command{setup} }, @{ $b->{options} }, "--prefix=$b->{inst}" ],
		env => $env,
		cwd => $b->{build},
		user => $config->user,
		log => "$b->{log}/setup.log",
		disk => $config->work,
		what => "@{ $command{setup} }[0 .. 1] of $b->{name}",
		remedy =>
		  "see $b->{log}/setup.log; ./configure --install-deps installs what is missing"
	);
	write_file($done, $want);
	return;
}

# Runs the step "build" or "install" of a build; an error has code 1 and the end of the
# log.
sub ninja
{
	my ($self, $b, $step, $log, @targets) = @_;
	my $config = $self->{config};
	my %command = $self->commands($b);
	my $command = [ @{ $command{$step} }, @targets ];
	my $file = "$b->{log}/$log";
	unlink $file;
	my $start = time;
	run($command,
		watch => sub {
			my ($done, $all) =
			  tail_file($file, 50) =~ m{.*^\[(\d+)/(\d+)\] }ms
			  or return;
			my $took = time - $start;
			my $left = $done && $took / $done * ($all - $done);
			progress("building $b->{name}: $done/$all"
				  . ($took < 10 ? '' : ', about ' . minutes($left) . ' left')
			);
		},
		env => $self->environment($b),
		user => $config->user,
		log => $file,
		disk => $config->work,
		code => 1,
		what => "@{$command}[0 .. 1] of $b->{name}",
		remedy =>
		  "see $file, correct the patch, then rerun: src/bin/pgseries build "
		  . ($b->{rerun} // $b->{name}));
	return;
}

# Builds the whole series for real use, without assertions, and installs it below
# a directory whose full path the person names.
sub install_to
{
	my ($self, $prefix) = @_;
	my $config = $self->{config};
	my $b = $self->describe('patched');
	%$b = (
		%$b, $self->paths('install'),
		inst => $prefix,
		rerun => "--prefix=$prefix");
	$self->check_tools($b);
	$self->make($b, $self->{series}->commit_of(@{ $b->{patches} }),
		"for $prefix");

	# The user who has built it runs what the build directory holds, and fills a
	# directory beside it; the person's own rights decide whether that can be
	# copied.
	my $stage = "$b->{dir}/stage";
	remove_tree($stage);
	make_dir($stage, $config->user);
	my $forget = on_exit(sub { remove_tree($stage); });
	my %log = (
		env => $config->environment,
		log => "$b->{log}/install.log",
		disk => $prefix,
		what => "installing below $prefix",
		remedy => "see $b->{log}/install.log; is $prefix writable?");
	unlink $log{log};
	my @command = qw(meson install --quiet --no-rebuild);
	run([ @command, "--destdir=$stage", '-C', $b->{build} ],
		%log, user => $config->user);
	make_dir($prefix);
	@command = qw(cp -R --no-dereference --remove-destination);
	run([
			@command, '--preserve=timestamps,links',
			"$stage$prefix/.", $prefix
		],
		%log);
	remove_tree($stage);
	$forget->();
	return $b;
}

# Builds and installs contrib/pgseries_bench into a build, warnings being errors.
sub extension
{
	my ($self, $b) = @_;
	my $config = $self->{config};
	my $from = $config->top . '/contrib/pgseries_bench';
	my @files =
	  grep { -f && !/\.(o|so|bc)$/ } glob("$from/{*,{sql,specs,expected}/*}");
	my $want = sha256_hex(join("\0", map { ($_, read_file($_)) } @files),
		read_file($b->{stamp}));
	my $stamp = "$b->{dir}/extension.stamp";
	return if -f $stamp && read_file($stamp) eq $want;

	# A copy, as the checkout may be out of the unprivileged user's reach, which
	# becomes that user's when it is complete.
	my $dir = "$b->{dir}/pgseries_bench";
	my $log = "$b->{log}/extension.log";
	remove_tree($dir);
	unlink $log;
	run([ 'cp', '-R', $from, $dir ], log => $log);
	my $user = $config->user;
	run([ 'chown', '-R', "$user->{uid}:$user->{gid}", $dir ], log => $log)
	  if $user;
	run([
			'make', '-C',
			$dir, "PG_CONFIG=$b->{bin}/pg_config",
			'PG_CFLAGS=-Werror', qw(clean all install)
		],
		env => $self->environment($b),
		user => $user,
		log => $log,
		code => 1,
		what => "make of contrib/pgseries_bench for $b->{name}");
	write_file($stamp, $want);
	return;
}

1;
