package PgSeries::Server;

use strict;
use warnings FATAL => 'all';

use Digest::SHA    qw(sha256_hex);
use File::Basename qw(dirname);
use File::Path     qw(remove_tree);
use PgSeries::Util
  qw(fail make_dir on_exit read_file run run_status write_file);

=pod

=head1 NAME

PgSeries::Server - a PostgreSQL server of one of the builds

=head1 DESCRIPTION

The data directory is WORK/b/BUILD/data/NAME.  Every build has its own: data
directories are never shared, so catversion need not change between patches.
The server listens on a Unix socket in a directory that only its user and root
can enter, and trusts who comes that way.  A server that an interrupted command
left behind is stopped by the next C<create> or C<start>.

=cut

# What to do about a file or directory that cannot be changed.
my $OWNER = 'check who owns it, or remove it, then run again';

# Options: "name" of the cluster, "settings" for postgresql.conf.
sub new
{
	my ($class, $config, $build, %opt) = @_;
	my $name = $opt{name} || 'main';
	my $data = "$build->{dir}/data/$name";
	return bless {
		config => $config,
		build => $build,
		name => $name,
		data => $data,
		log => "$data.log",
		made_by => "$data.stamp",
		settings => $opt{settings} || {},
	}, $class;
}

# data, log, socket_dir:
# The data directory, the server's log, the directory of its socket.
sub data { my ($self) = @_; return $self->{data}; }
sub log  { my ($self) = @_; return $self->{log}; }

sub socket_dir
{
	my ($self) = @_;
	return $self->{socket_dir} if $self->{socket_dir};
	my $config = $self->{config};

	# The kernel allows 107 bytes for a socket's path.
	my $dir = $config->work . "/run/$self->{build}{name}-$self->{name}";
	$dir = '/tmp/pgseries-' . substr(sha256_hex($dir), 0, 12)
	  if length($dir) > 85;
	my $uid = $config->user ? $config->user->{uid} : $>;
	make_dir(dirname($dir));
	mkdir $dir, 0700;
	my $owner = (lstat $dir)[4];
	fail(
		2,
		"$dir belongs to another user or is no directory",
		'remove it, then run again'
	) unless defined $owner && -d _ && ($owner == $uid || $owner == $>);
	chmod 0700, $dir or fail(2, "cannot protect $dir: $!", $OWNER);
	make_dir($dir, $config->user);
	return $self->{socket_dir} = $dir;
}

# What a client needs to reach the server: a hash of PGHOST, PGPORT and so on,
# on top of the environment of all builds.
sub environment
{
	my ($self) = @_;
	return {
		%{ $self->program_environment },
		PGHOST => $self->socket_dir,
		PGPORT => 5432,
		PGUSER => 'postgres',
		PGDATABASE => 'postgres',
		PGOPTIONS => '',
	};
}

# The environment of programs that need no server.
sub program_environment
{
	my ($self) = @_;
	return { %{ $self->{config}->environment },
		%{ $self->{build}{env} || {} } };
}

# Makes an empty cluster, replacing an old one.
sub create
{
	my ($self) = @_;
	my $config = $self->{config};
	$self->stop;
	remove_tree($self->{data});
	unlink $self->{made_by};

	# Only the cluster belongs to the unprivileged user, not the directory that
	# holds it: so it is no link to something else.
	make_dir("$self->{build}{dir}/data", $config->caller);
	make_dir($self->{data}, $config->user);
	write_file($self->{log}, '');
	if (my $user = $config->user)
	{
		chown $user->{uid}, $user->{gid}, $self->{log}
		  or fail(2, "cannot give $self->{log} away: $!", $OWNER);
	}
	my $unfinished = on_exit(sub { remove_tree($self->{data}); });
	my $log = "$self->{build}{log}/initdb-$self->{name}.log";
	unlink $log;
	run([
			"$self->{build}{bin}/initdb",
			qw(--no-sync --auth=trust --username=postgres --locale=C
			  --encoding=UTF8 --no-instructions -D), $self->{data}
		],
		env => $self->program_environment,
		user => $config->user,
		log => $log,
		disk => $config->work,
		what => 'initdb');
	write_file($self->{made_by}, read_file($self->{build}{stamp}))
	  if -f $self->{build}{stamp};
	$unfinished->();
	return;
}

# exists, running, fits_build:
# Is there a cluster, does its server run, and was it made by the build as it is now?
# The patches may change the catalogs without changing catversion, so one of an earlier
# build cannot be trusted.
sub exists { my ($self) = @_; return -f "$self->{data}/PG_VERSION"; }

sub running
{
	my ($self) = @_;
	return -f "$self->{data}/postmaster.pid" && $self->pg_ctl('status') == 0;
}

sub fits_build
{
	my ($self) = @_;
	my ($then, $now) = map { -f $_ ? read_file($_) : undef }
	  ($self->{made_by}, $self->{build}{stamp});
	return defined $then && defined $now && $then eq $now;
}

# Runs pg_ctl on the cluster; returns its exit status.
sub pg_ctl
{
	my ($self, @arguments) = @_;
	return run_status(
		[ "$self->{build}{bin}/pg_ctl", @arguments, '-D', $self->{data} ],
		env => $self->program_environment,
		user => $self->{config}->user,
		out => \my $out,
		err => \my $err);
}

# Writes postgresql.auto.conf from the settings.
sub configure
{
	my ($self) = @_;
	my %all = (
		listen_addresses => '',
		unix_socket_directories => $self->socket_dir,
		port => 5432,
		%{ $self->{settings} });
	my $text = join '',
	  map { (my $v = $all{$_}) =~ s/'/''/g; "$_ = '$v'\n" } sort keys %all;
	write_file("$self->{data}/postgresql.auto.conf", $text);
	return;
}

# start(%options), stop:
# Unless "keep" is given, the server is stopped when the command ends, however it
# ends.
sub start
{
	my ($self, %opt) = @_;
	$self->stop;
	$self->configure;
	$self->{forget} = on_exit(sub { $self->stop; }) unless $opt{keep};
	my $status =
	  $self->pg_ctl(qw(start --silent --wait --timeout=120 -l), $self->{log});
	if ($status != 0)
	{
		my ($why) = grep { /FATAL|PANIC|could not/ }
		  reverse split /\n/, read_file($self->{log});
		fail(
			2,
			"the server of build $self->{build}{name} does not start: "
			  . ($why // 'no reason in the log'),
			"see $self->{log}");
	}
	return;
}

sub stop
{
	my ($self) = @_;
	my $file = "$self->{data}/postmaster.pid";

	# A stale file of a server that is gone, or one that does not stop.
	if (-f $file
		&& $self->pg_ctl(qw(stop --silent --mode=fast --timeout=120)) != 0)
	{
		fail(
			2,
			"the server in $self->{data} does not stop",
			"see $self->{log}; pg_ctl -D $self->{data} stop -m immediate"
		) if $self->running;
		unlink $file;
	}

	# Only now: an interrupt while it stops must not leave it running.
	delete($self->{forget})->() if $self->{forget};
	return;
}

# Empties the log.  A running server appends to it.
sub empty_log
{
	my ($self) = @_;
	truncate($self->{log}, 0)
	  or fail(2, "cannot empty $self->{log}: $!", $OWNER);
	return;
}

# client(\@command, %options), as_client(\@command, %options):
# "client" runs a program of the build, or the one whose path is given, as a client of
# the server and returns its exit status.  Options as for PgSeries::Util::run_status;
# "env" comes on top of "environment".  as_client returns what run_status() takes.
sub client
{
	my ($self, $command, %opt) = @_;
	return run_status($self->as_client($command, %opt));
}

sub as_client
{
	my ($self, $command, %opt) = @_;
	my ($program, @arguments) = @$command;
	$program = "$self->{build}{bin}/$program" unless $program =~ m{/};
	return (
		[ $program, @arguments ],
		%opt,
		env => { %{ $self->environment }, %{ $opt{env} || {} } },
		user => $self->{config}->user);
}

# Runs SQL through psql and returns what it prints, unaligned and without
# headers.  Options: "database"; "variables", a hash for psql's -v.
sub sql
{
	my ($self, $text, %opt) = @_;
	my %variables = %{ $opt{variables} || {} };
	run($self->as_client(
			[
				qw(psql --no-psqlrc --quiet --no-align --tuples-only),
				qw(--set=ON_ERROR_STOP=1 -d),
				$opt{database} || 'postgres',
				map { "--set=$_=$variables{$_}" } sort keys %variables
			],
			in => $text,
			out => \my $out,
			code => 1,
			what => "SQL on build $self->{build}{name}",
			remedy => "see $self->{log}"));
	chomp $out;
	return $out;
}

# Runs SQL in a stand-alone backend (one statement a line), the server being
# stopped.  "wrapper" is a command to run it under, such as valgrind.  Returns
# its standard output; standard error goes to "log".
sub single_user
{
	my ($self, $sql, %opt) = @_;
	$self->stop;
	my $status = run_status(
		[
			@{ $opt{wrapper} || [] }, "$self->{build}{bin}/postgres",
			'--single', '-D',
			$self->{data}, qw(-c exit_on_error=on),
			$opt{database} || 'postgres'
		],
		env => $self->program_environment,
		user => $self->{config}->user,
		cwd => $self->{data},
		in => $sql,
		out => \my $out,
		err => \my $err);
	my ($why) = $err =~ /^(.*(?:ERROR|FATAL|PANIC): .*)/m;
	$why = "exit status $status" if !defined $why && $status != 0;
	fail(
		1,
		"a stand-alone backend of build $self->{build}{name} failed: $why",
		'run the statement on a server: pgseries server psql', $err
	) if defined $why;
	return $out;
}

1;
