package PgSeries::Stress;

use strict;
use warnings FATAL => 'all';

use List::Util       qw(first min);
use PgSeries::Config ();
use PgSeries::Plans  ();
use PgSeries::Server;
use PgSeries::Stress::Crash ();
use PgSeries::Stress::Generator;
use PgSeries::Util
  qw(fail find_tool in_parallel info make_dir processors progress read_file run_status tail_file write_file);

=pod

=head1 NAME

PgSeries::Stress - random statements and crashes

=head1 DESCRIPTION

Three kinds of tests that look for what nobody has thought of:

  sqlsmith      random statements, mostly nonsense, on the assertion build: it
                must not crash, nor report an internal error that base does not
  differential  random statements with one right answer, on base and patched:
                both must print the same
  crash         kill -9 under a load of writes and index builds: after recovery,
                indexes and tables must be sound, and what was committed there

=cut

# The code of a kind gets the context and build, count, seed and short; it returns
# (true for a finding, what to print).
my %KIND = (
	sqlsmith => {
		count => 500_000,
		short => 2_000,
		build => 'assert',
		code => \&sqlsmith
	},
	differential => {
		count => 20_000,
		short => 500,
		build => 'patched',
		code => \&differential
	},
	crash => {
		count => 100,
		short => 3,
		build => 'assert',
		code => \&PgSeries::Stress::Crash::rounds
	});

# check_arguments($context, @words), command($context, @words):
# The command pgseries stress: the first raises an error if the words or options
# make no sense and fills in the others, the second returns the exit status, 1 for a
# finding.
sub check_arguments
{
	my ($c, $name) = @_;
	my $o = $c->{option};
	my $kind = $KIND{$name} // fail(
		2,
		'stress takes sqlsmith, differential or crash',
		'see: pgseries stress --help');
	$o->{count} //= $kind->{ $o->{short} ? 'short' : 'count' };
	fail(2, "--count=$o->{count} is not positive", 'say how many')
	  if $o->{count} < 1;
	$o->{seed} //= time % 1_000_000;
	fail(
		2,
		"--seed=$o->{seed} is not a seed",
		'choose an integer from 0 to 2147483647'
	) if $o->{seed} < 0 || $o->{seed} > 0x7FFFFFFF;
	$c->builds->describe($o->{build} //= $kind->{build});
	sqlsmith_program() if $name eq 'sqlsmith';
	return;
}

sub command
{
	my ($c, $name) = @_;
	my ($found, $text) = $KIND{$name}{code}->($c, %{ $c->{option} });
	$c->say($text);
	return $found ? 1 : 0;
}

my $CRASH = qr/^TRAP: |PANIC:  |was terminated by signal/;
use constant CRASH_SHOWN => 60;

# Reads a server log whose lines begin with "[PID] SQLSTATE ".  Returns the number of
# errors and the lines that tell of a crash, with those that follow.  Adds the internal
# errors (class XX) to %internal, { text => { count, message, statement } }, with numbers
# and quoted names masked in the text.
sub log_findings
{
	my ($file, $internal) = @_;
	my ($errors, @crash, %last) = (0);
	for (split /\n(?!\t)/, read_file($file))
	{
		push @crash, "$_\n" if /$CRASH/ || @crash && @crash < CRASH_SHOWN;
		my ($pid, $state, $level, $text) = /^\[(\d+)\] (\w{5}) (\w+):  (.*)/s
		  or next;
		if ($level =~ /^(ERROR|FATAL|PANIC)$/)
		{
			$errors++;
			delete $last{$pid};
			next if $state !~ /^XX/;
			$last{$pid} = $internal->{ masked($text) } ||=
			  { message => $text };
			$last{$pid}{count}++;
		}
		elsif ($level eq 'STATEMENT' && $last{$pid})
		{
			$last{$pid}{statement} //= $text =~ s/\n\t/\n/gr;
		}
	}
	return ($errors, @crash);
}

sub masked
{
	my ($text) = @_;
	return $text =~ s/"[^"]*"/"..."/gr =~ s/\d+/N/gr;
}

# sqlsmith.

my %SQLSMITH_SETTINGS = (
	fsync => 'off',
	shared_buffers => '256MB',
	max_wal_size => '4GB',
	temp_file_limit => '1GB',
	log_line_prefix => '[%p] %e ',
	log_checkpoints => 'off',
	track_activity_query_size => '64kB');

# Queries of one run of sqlsmith and all its processes: after it, the server's
# log is read and emptied.
use constant SQLSMITH_SLICE => 10_000;

sub sqlsmith_program
{
	return find_tool('sqlsmith', PgSeries::Config::PATH) // fail(
		2,
		'sqlsmith is missing',
		'install the Debian package sqlsmith: apt-get install sqlsmith');
}

sub sqlsmith
{
	my ($c, %opt) = @_;
	my $server = sqlsmith_server($c, %opt);
	my $processes = processors();
	my (%internal, @crash);
	my ($done, $errors, $seed) = (0, 0, $opt{seed});

	while ($done < $opt{count} && !@crash)
	{
		progress("sqlsmith: $done of $opt{count} queries");
		my $slice = min($opt{count} - $done, SQLSMITH_SLICE);
		my @jobs;
		for my $i (0 .. $processes - 1)
		{
			my $queries = int(($slice + $i) / $processes) or next;
			my $log = "$server->{build}{log}/sqlsmith-$i.log";
			my $own = $seed + $i;
			unlink $log;
			push @jobs, sub { one_sqlsmith($server, $own, $queries, $log); };
		}
		my $ok = eval { in_parallel(@jobs); 1 };
		my $error = $@;
		(my $count, @crash) = log_findings($server->log, \%internal);
		die $error unless $ok || @crash;
		$errors += $count;
		$done   += $slice;
		$seed   += $processes;
		$server->empty_log unless @crash;
	}
	my @internal = map { $internal{$_} } sort keys %internal;
	$server->stop;
	seen_on_base($c, \@internal, %opt) if @internal;
	my $text = join '', "$done queries, $errors errors\n", map {
		sprintf "internal error%s, %d times: %s\n%s\n",
		  $_->{base} ? ' (on base, too)' : '', $_->{count}, $_->{message},
		  $_->{statement} // '(no statement)'
	} @internal;
	$text .= 'crash (see ' . $server->log . "):\n" . join '', @crash
	  if @crash;
	my $found = @crash || grep { !$_->{base} } @internal;
	return ($found, $text);
}

# A server with the database that sqlsmith reads its tables and functions from,
# and the user who it runs as: it may read and write all tables (it does not get to
# know partitions, as there would be little else), but calls nothing that waits, or
# ends other processes, or would change what later queries do, nor the functions that
# upstream's tests define in C.  sqlsmith rolls every query back.
sub sqlsmith_server
{
	my ($c, %opt) = @_;
	my $b = $c->builds->ensure($opt{build});
	my $server = PgSeries::Server->new(
		$c->config, $b,
		name => 'sqlsmith',
		settings => \%SQLSMITH_SETTINGS);
	$server->create;
	$server->start;
	if ($opt{short}) { $server->sql('CREATE DATABASE regression'); }
	else
	{
		info("sqlsmith: running the regression suite on $b->{name}");
		PgSeries::Plans::regression_suite($c, $b, $server,
			"$b->{log}/sqlsmith-regress.log");
	}
	my $setup = PgSeries::Stress::Generator->new($opt{seed})->setup;
	$server->sql( <<"EOT" . $setup . <<'EOT', database => 'regression');
SET client_min_messages = warning;
SET search_path = st, public;
EOT
CREATE ROLE sqlsmith LOGIN;
ALTER ROLE sqlsmith SET statement_timeout = '5s';
ALTER ROLE sqlsmith SET search_path = st, public;
ALTER ROLE sqlsmith SET parallel_setup_cost = 0;
ALTER ROLE sqlsmith SET parallel_tuple_cost = 0;
ALTER ROLE sqlsmith SET min_parallel_table_scan_size = 0;
ALTER ROLE sqlsmith SET enable_partitionwise_join = on;
ALTER ROLE sqlsmith SET enable_partitionwise_aggregate = on;
SELECT format('GRANT USAGE ON SCHEMA %s TO sqlsmith', oid::regnamespace)
FROM pg_namespace WHERE nspname !~ '^pg_|^information_schema$' \gexec
SELECT format('GRANT SELECT, INSERT, UPDATE, DELETE ON %s TO sqlsmith', oid::regclass)
FROM pg_class WHERE relkind IN ('r', 'p', 'v', 'm') AND NOT relispartition
AND relnamespace::regnamespace::text !~ '^pg_|^information_schema$' \gexec
SELECT format('REVOKE EXECUTE ON ROUTINE %s FROM PUBLIC', p.oid::regprocedure)
FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang
WHERE p.proname ~ '^(pg_(terminate|cancel)_backend|pg_sleep.*|pg_(try_)?advisory_.*|pg_notify|set_config|pg_reload_conf|wait_pid)$'
OR p.pronamespace <> 'pg_catalog'::regnamespace AND l.lanname = 'c' \gexec
EOT
	$server->empty_log;
	return $server;
}

sub one_sqlsmith
{
	my ($server, $seed, $queries, $log) = @_;
	my $target = join ' ', 'host=' . $server->socket_dir,
	  'port=5432', 'user=sqlsmith', 'dbname=regression';

	# Few queries take as long as statement_timeout allows, which has to be enough
	# for what sqlsmith asks at its start.
	my $seconds = 600 + 2 * $queries;
	my $status = run_status(
		[
			'timeout', $seconds,
			sqlsmith_program(), "--target=$target",
			"--seed=$seed", "--max-queries=$queries",
			'--exclude-catalog'
		],
		env => $server->{config}->environment,
		user => $server->{config}->user,
		log => $log);
	return if $status == 0;
	fail(
		1,
		"sqlsmith did not end within $seconds s",
		'look for a backend that ignores statement_timeout: see '
		  . $server->log) if $status == 124;
	return fail(2, "sqlsmith ended with status $status",
		"see $log", tail_file($log, 5));
}

# How often base tries a statement that gave an internal error: its sample of a
# table (TABLESAMPLE) may not have the row next time.
use constant TRIES_ON_BASE => 50;

# Marks the internal errors that base has, too.
sub seen_on_base
{
	my ($c, $internal, %opt) = @_;
	my $server = sqlsmith_server($c, %opt, build => 'base');
	for my $error (grep { defined $_->{statement} } @$internal)
	{
		$server->client(
			[qw(psql --no-psqlrc --quiet -U sqlsmith -d regression)],
			in => "BEGIN;\n$error->{statement};\nROLLBACK;\n" x TRIES_ON_BASE,
			out => \my $out,
			err => \my $said);
		$error->{base} = 1
		  if grep { masked($_) eq masked($error->{message}) }
		  $said =~ /^ERROR:  (.*)$/mg;
	}
	$server->stop;
	return;
}

# The comparison of base and patched.

my %DIFFERENTIAL_SETTINGS = (
	fsync => 'off',
	autovacuum => 'off',
	jit => 'off',
	shared_buffers => '128MB',
	max_wal_size => '4GB',
	max_locks_per_transaction => 256,
	max_worker_processes => 16,
	client_min_messages => 'warning',
	statement_timeout => '2min');

# Statements that share a schema, which depends on their seed; and statements
# between two looks at the tables.
use constant BATCH => 250;
use constant LOOK => 50;

sub differential
{
	my ($c, %opt) = @_;
	my @names = ('base', $opt{build});
	my @servers = map {
		PgSeries::Server->new(
			$c->config, $c->builds->ensure($_),
			name => 'differential',
			settings => \%DIFFERENTIAL_SETTINGS)
	} @names;
	for my $server (@servers)
	{
		$server->create;
		$server->start;
		$server->sql('CREATE EXTENSION amcheck');
	}
	my ($done, $errors, $seed, $text) = (0, 0, $opt{seed}, '');
	while ($done < $opt{count} && $text eq '')
	{
		progress("differential: $done of $opt{count} queries");
		my $count = min($opt{count} - $done, BATCH);
		my ($script, @cases) = batch($seed, $count);
		in_parallel(
			map {
				my $server = $_;
				sub { run_script($server, $script); }
			} @servers);
		my @logs = map { log_of($_) } @servers;
		my @printed = map { [ outputs($_) ] } @logs;
		fail(2, "the schema of seed $seed cannot be made",
			"see $logs[0]", tail_file($logs[0], 10))
		  if ($printed[0][0] // '') =~ /^ERROR: /m;
		$errors += grep { /^ERROR: /m } @{ $printed[0] };
		$done   += $count;
		my $ended = "(the session has ended)\n";
		my $i =
		  first { ($printed[0][$_] // $ended) ne ($printed[1][$_] // '') }
		  0 .. @cases;
		if (defined $i)
		{
			my $file = make_dir($c->config->build . '/stress') . "/$seed";
			write_file("$file.sql", $script);
			write_file("$file.$names[$_]", $printed[$_][$i] // $ended)
			  for 0, 1;
			run_status([ 'diff', '-U3', map { "$file.$_" } @names ],
				out => \my $diff);
			my $case = $cases[$i] || { kind => 'end of the session' };
			$text = join '', "difference: $case->{kind}\n",
			  ( map { "$_;\n" }
				map { @$_ } grep { $_ } @$case{qw(settings statements)}),
			  grep { defined } (split /^/, $diff)[ 0 .. 49 ];
			info(
				"pgseries: the whole session is in $file.sql; rerun: src/bin/pgseries stress differential --build=$opt{build} --seed=$seed --count="
				  . BATCH);
		}
		$seed++;
	}
	$_->stop for @servers;
	return (
		$text ne '',
		"$text$done queries, seed $opt{seed}, $errors with an error on base: "
		  . ($text eq '' ? 'no difference' : 'a difference'));
}

sub log_of
{
	my ($server) = @_;
	return "$server->{build}{log}/differential.log";
}

# Returns a script for psql, and what it has: a list of { kind, settings, statements
# }, of which the first makes the schema, $count are random statements and the others
# look at the tables.  The script prints a mark before each, and one at its end.
sub batch
{
	my ($seed, $count) = @_;
	my $generator = PgSeries::Stress::Generator->new($seed);
	my @cases = ({ kind => 'schema', settings => [], statements => [] });
	my $look = {
		kind => 'contents of the tables',
		settings => [],
		statements => [ split /;\n/, $generator->contents ]
	};
	for my $n (1 .. $count)
	{
		push @cases, $generator->next_case;
		push @cases, $look if $n % LOOK == 0 || $n == $count;
	}
	my $script =
	  "\\echo ==== 0\nSET client_min_messages = error;\nDROP SCHEMA IF EXISTS st CASCADE;\n"
	  . $generator->setup
	  . "RESET ALL;\n";
	for my $i (1 .. $#cases)
	{
		$script .= join '', "\\echo ==== $i\n",
		  map { "$_;\n" } @{ $cases[$i]{settings} },
		  @{ $cases[$i]{statements} }, 'RESET ALL';
	}
	return ("$script\\echo ==== " . @cases . "\n", @cases);
}

# Runs psql, whose output and errors get into the log.
sub run_script
{
	my ($server, $script) = @_;
	unlink log_of($server);
	$server->client(
		[
			qw(psql --no-psqlrc --no-align --tuples-only
			  --pset=null=<null> --set=VERBOSITY=sqlstate)
		],
		env => { PGOPTIONS => '-c search_path=st,public' },
		in => $script,
		log => log_of($server));
	return;
}

# Returns what the parts of a batch's script have printed, as a list.
sub outputs
{
	my ($file) = @_;
	my (undef, %output) = split /^==== (\d+)\n/m, read_file($file), -1;
	my @outputs;
	$outputs[$_] = $output{$_} for keys %output;
	return @outputs;
}

1;
