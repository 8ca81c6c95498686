package PgSeries::Loads;

use strict;
use warnings FATAL => 'all';

use File::Path       qw(remove_tree);
use List::Util       qw(sum);
use POSIX            ();
use Time::HiRes      qw(time usleep);
use PgSeries::Config ();
use PgSeries::Plans  ();
use PgSeries::Server;
use PgSeries::Stats qw(paired_ratio);
use PgSeries::Util  qw(fail find_tool info make_dir progress read_file run);

=pod

=head1 NAME

PgSeries::Loads - is a standard load worse than on base? pgseries check --loads

=head1 DESCRIPTION

Loads that others have written, on base and patched:

  pgbench    its built-in scripts on tables without and with partitions, simple and
             prepared statements (Tatsuo Ishii and others)
  sysbench   three of its OLTP scripts on 20 tables (Alexey Kopytov)
  suite      upstream's regression suite, one test at a time
  dump       pg_dump of the database that the regression suite leaves, and pg_restore

The data are made by base, and its data directory is copied to patched, so that both have
the same pages.  A pair is a run on each, one directly after the other; which is first
alternates.  Both servers stay up, except for the suite, which needs a fresh cluster for
each run.  Before a run there is a checkpoint, so that no server writes while the other one
is measured, and small tables are vacuumed, because nothing else does that.

There are two figures: transactions per second, and the CPU time of all processes of the
server per transaction.  The second decides, because it depends less on what else the
machine does.  Instructions are not counted: valgrind would change how the processes wait
for each other.

=cut

my %SETTINGS = (fsync => 'off', autovacuum => 'off');
my @BUILDS = qw(base patched);

my $SYSBENCH = find_tool('sysbench', PgSeries::Config::PATH);

# The groups of loads, each a function, in order.
my @GROUPS = qw(pgbench sysbench suite dump);

# Scale of pgbench, rows of sysbench's tables, pairs of runs that take a number of
# seconds, and of those that run to an end.
my %FULL =
  (scale => 10, rows => 10_000, pairs => 15, seconds => 4, whole => 7);
my %SHORT = (scale => 1, rows => 1_000, pairs => 1, seconds => 1, whole => 1);

# More CPU time than this, as a share of base's, is too much.
use constant LIMIT => 1.01;

# Raises an error if the names are not those of loads, or a tool is missing.
sub check_arguments
{
	my ($c, @names) = @_;
	my ($bad) = grep {
		my $name = $_;
		!grep { $_ eq $name } @GROUPS
	} @names;
	fail(2, "there is no load \"$bad\"", "choose among: @GROUPS")
	  if defined $bad;
	fail(
		2,
		'only on 18 can patched take the data of base',
		'leave out --base') if $c->config->base ne '18';
	fail(
		2,
		'sysbench is missing',
		'install the Debian package sysbench: apt-get install sysbench'
	) if !$SYSBENCH && grep { $_ eq 'sysbench' } @names ? @names : @GROUPS;
	for my $file ("/proc/$$/schedstat", "/proc/$$/task/$$/children")
	{
		fail(2, "there is no $file", 'run this on a kernel of Debian')
		  unless -e $file;
	}
	return;
}

# The command pgseries check --loads.  Exit status 1 if a load is worse.
sub compare
{
	my ($c, @names) = @_;
	my $self = bless {
		$c->{option}{short} ? %SHORT : %FULL,
		c => $c,
		build => { map { $_ => $c->builds->ensure($_) } @BUILDS },
		dir => make_dir($c->config->work . '/loads', $c->config->user),
		worse => 0
	  },
	  'PgSeries::Loads';
	my $limit = LIMIT;
	my $settings = join ', ',
	  map { "$_ = $SETTINGS{$_}" } sort keys %SETTINGS;
	$c->say(<<"EOT");
Settings: the defaults, but $settings. Ratios are medians of
patched / base, with a 95% interval; CPU time is that of all processes of the server. A load
is worse if the interval of its CPU time lies above $limit, and no worse if it lies below;
else the runs differ too much to tell. Instructions are not counted.

| Load | Pairs | Transactions per second | CPU time per transaction | Verdict |
|---|---|---|---|---|
EOT
	$self->$_() for @names ? @names : @GROUPS;

	return $self->{worse} ? 1 : 0;
}

# The loads.  What is done on a server is a command, or code that takes the server.  In a
# command, PAIR stands for the number of the pair.  One that ends by itself is run as often
# as "whole" says: long enough for the kernel's ticks (see cpu_time).

sub pgbench
{
	my ($self) = @_;
	my (@data, @loads);
	my @partitions = (0, 10, 200);
	for my $n (@partitions)
	{
		my @by = $n ? ("--partitions=$n", '--partition-method=range') : ();
		push @data, [ 'createdb', "p$n" ],
		  [
			qw(pgbench --initialize --quiet), "--scale=$self->{scale}",
			@by, "p$n"
		  ];
	}

	# pgbench would vacuum by itself, as a part of the load.
	my @before = (
		'vacuum pgbench_branches, pgbench_tellers',
		'truncate pgbench_history',
		'checkpoint');
	for my $script (qw(tpcb-like simple-update select-only))
	{
		for my $n (@partitions)
		{
			push @loads,
			  {
				name => "pgbench $script, $n partitions, $_",
				before => psql("p$n", @before),
				run => [
					qw(pgbench --no-vacuum --client=2 --jobs=2),
					"--builtin=$script",
					"--protocol=$_",
					"--time=$self->{seconds}",
					'--random-seed=PAIR',
					"p$n"
				]
			  }
			  for qw(simple prepared);
		}
	}
	return $self->measure($self->servers('pgbench', @data), @loads);
}

# A command that runs statements, each in a transaction of its own.
sub psql
{
	my ($database, @sql) = @_;
	return [
		qw(psql -Xq --set=ON_ERROR_STOP=1 -d),
		$database,
		map { ('-c', $_) } @sql
	];
}

sub sysbench
{
	my ($self) = @_;

	# An empty name leaves the choice to the environment.
	my @sysbench = (
		$SYSBENCH,
		qw(--db-driver=pgsql --pgsql-host= --pgsql-user=postgres),
		qw(--pgsql-db=sysbench --tables=20 --threads=2),
		"--table-size=$self->{rows}",
		"--time=$self->{seconds}",
		'--rand-seed=PAIR');
	my $server = $self->servers(
		'sysbench', [qw(createdb sysbench)],
		[ @sysbench, qw(oltp_read_write prepare) ],
		[qw(vacuumdb --quiet --analyze sysbench)]);
	return $self->measure(
		$server,
		map {
			{
				name => "sysbench $_",
				before => psql(qw(sysbench vacuum checkpoint)),
				run => [ @sysbench, $_, 'run' ]
			}
		} qw(oltp_read_write oltp_update_index oltp_read_only));
}

sub suite
{
	my ($self) = @_;
	my $server = $self->servers('suite');
	return $self->measure(
		$server,
		{
			name => 'regression suite',
			whole => 1,
			cold => 1,
			before => sub {
				my ($on) = @_;
				$_->stop for values %$server;
				$on->create;
				$on->start;
			},
			run => sub { $self->run_suite(@_); }
		});
}

sub run_suite
{
	my ($self, $on) = @_;
	my $b = $on->{build};
	PgSeries::Plans::regression_suite($self->{c}, $b, $on,
		"$b->{log}/loads-suite.log", '--max-connections=1');
	return '';
}

sub dump
{
	my ($self) = @_;
	my $file = "$self->{dir}/regression.dump";
	my @dump = qw(pg_dump --format=custom regression --file);
	my $server = $self->servers(
		'dump',
		sub { $self->run_suite(@_); },
		[qw(vacuumdb --quiet --analyze regression)],
		[ @dump, $file ]);
	return $self->measure(
		$server,
		{
			name => 'pg_dump of the regression database',
			whole => 10,
			before => psql(qw(regression checkpoint)),
			run => [ @dump, "$file.again" ]
		},
		{
			name => 'pg_restore of it',
			whole => 1,
			before => psql(
				'postgres',
				'drop database if exists restored',
				'create database restored template template0', 'checkpoint'),
			run => [ qw(pg_restore --dbname=restored), $file ]
		});
}

# How they are measured.

# The two servers.  What makes the data is done on base; then both run.
sub servers
{
	my ($self, $name, @data) = @_;
	my $config = $self->{c}->config;
	my ($base, $patched) = map {
		PgSeries::Server->new(
			$config, $self->{build}{$_},
			name => "loads-$name",
			settings => \%SETTINGS)
	} @BUILDS;
	my %server = (base => $base, patched => $patched);
	return \%server unless @data;
	info("loads: making the data of $name");
	$_->create for $base, $patched;
	$base->start;
	act($base, $_, 1) for @data;
	$base->stop;
	remove_tree($patched->data);
	run([ 'cp', '-a', $base->data, $patched->data ], disk => $config->work);
	$_->start for $base, $patched;
	return \%server;
}

# Runs a command, or code, on a server; returns what it prints.
sub act
{
	my ($server, $what, $pair) = @_;
	return $what->($server) if ref $what eq 'CODE';
	run($server->as_client(
			[ map { s/\bPAIR\z/$pair/r } @$what ],
			out => \my $out,
			code => 1,
			what => "$what->[0] on $server->{build}{name}",
			remedy => 'see ' . $server->log));
	return $out;
}

# Measures loads, and prints a row for each.  In a first pair, which does not count, the
# pages are read, and changed for the first time.
sub measure
{
	my ($self, $server, @loads) = @_;
	for my $load (@loads)
	{
		my $pairs = $self->{ $load->{whole} ? 'whole' : 'pairs' };
		my @pairs;
		for my $pair (($load->{cold} ? 1 : 0) .. $pairs)
		{
			my %value;
			for my $b ($pair % 2 ? @BUILDS : reverse @BUILDS)
			{
				progress("loads: $load->{name}: pair $pair of $pairs, $b");
				$value{$b} = measure_one($server->{$b}, $load, $pair);
			}
			push @pairs, \%value if $pair;
		}
		my ($tps, $cpu) = map {
			my $what = $_;
			paired_ratio(
				map {
					[ map { $_->{$what} } @{$_}{@BUILDS} ]
				} @pairs);
		} qw(tps cpu);
		my $verdict = verdict($cpu);
		$self->{worse}++ if $verdict eq 'worse';
		$self->{c}->say(sprintf '| %s | %d | %s | %s | %s |',
			$load->{name}, $pairs, ratio_text($tps), ratio_text($cpu),
			$verdict);
	}
	$_->stop for values %$server;
	return;
}

sub measure_one
{
	my ($server, $load, $pair) = @_;
	act($server, $load->{before}, $pair);
	my ($pid) = read_file($server->data . '/postmaster.pid') =~ /^(\d+)/;
	my $cpu = cpu_time($pid);
	my $start = time;
	my $times = $load->{whole};
	my $text;

	# The seed 0 would be the time.
	$text = act($server, $load->{run}, $pair + 1) for 1 .. $times // 1;
	my $seconds = time - $start;
	$cpu = cpu_time($pid) - $cpu;
	my ($count, $tps) =
	  $times ? ($times, $times / $seconds) : result($text);
	return { tps => $tps, cpu => $cpu / $count };
}

# From what pgbench or sysbench prints: how many transactions, and how many per second.
sub result
{
	my ($text) = @_;
	return ($1, $2)
	  if $text =~
	  /^number of transactions actually processed: ([1-9]\d*).*^tps = ([\d.]+)/ms
	  || $text =~ /^\s*transactions:\s+([1-9]\d*)\s+\(([\d.]+) per sec\.\)/m;
	return fail(1, 'no transaction was run', 'see the output above', $text);
}

# The nanoseconds that the processes of a server have used, also those that have ended.
# Linux has the time of a process that lives exactly, and of those that have ended in
# ticks.
sub cpu_time
{
	my ($pid) = @_;

	# A backend ends a moment after its client.
	usleep(50_000);
	for my $try (1 .. 100)
	{
		my $ended = ended(proc($pid, 'stat'));
		my @used = map { proc($_, 'schedstat') =~ /^(\d+)/ } $pid,
		  split ' ', proc($pid, "task/$pid/children");

		# One that ends just now would count twice, or not at all.
		return sum($ended, @used) if ended(proc($pid, 'stat')) == $ended;
	}
	return fail(
		2,
		'processes of the server end all the time',
		'run the same command again');
}

# What /proc has of a process; nothing if that has ended.
sub proc
{
	my ($pid, $file) = @_;
	return eval { read_file("/proc/$pid/$file") } // '';
}

# From the text of /proc/PID/stat, the nanoseconds of children that have ended.
sub ended
{
	my ($text) = @_;
	my @field = split ' ', $text =~ s/.*\)//sr;
	return ($field[13] + $field[14]) * 1e9 /
	  POSIX::sysconf(POSIX::_SC_CLK_TCK());
}

sub verdict
{
	my ($cpu) = @_;
	return
		!defined $cpu->{lo} ? 'too few pairs'
	  : $cpu->{lo} > LIMIT  ? 'worse'
	  : $cpu->{hi} <= LIMIT ? 'no worse'
	  :                       'inconclusive';
}

sub ratio_text
{
	my ($r) = @_;
	my $text = sprintf '%.3f', $r->{ratio};
	$text .= sprintf ' [%.3f, %.3f]', @{$r}{qw(lo hi)} if defined $r->{lo};
	return $text;
}

1;
