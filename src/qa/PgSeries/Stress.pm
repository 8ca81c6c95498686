package PgSeries::Stress;

use strict;
use warnings FATAL => 'all';

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

=head1 FUNCTIONS

=over

=item command($context, @words)

The command C<pgseries stress>.  Returns the exit status: 1 for a finding.

=cut

my %KIND = (
	sqlsmith => {
		unit => 'queries',
		count => 500_000,
		short => 2_000,
		build => 'assert',
		code => \&sqlsmith
	},
	differential => {
		unit => 'queries',
		count => 20_000,
		short => 500,
		build => 'patched',
		code => \&differential
	},
	crash => {
		unit => 'rounds',
		count => 100,
		short => 3,
		build => 'assert',
		code => \&PgSeries::Stress::Crash::rounds
	});

sub command
{
	my ($c, @words) = @_;
	my $o = $c->{option};
	my $kind = @words == 1 ? $KIND{ $words[0] } : undef;
	fail(
		2,
		'stress takes sqlsmith, differential or crash',
		'see: pgseries stress --help') unless $kind;
	my $unit = $kind->{unit};
	my ($other) = grep { $_ ne $unit } qw(queries rounds);
	fail(
		2,
		"stress $words[0] has no $other",
		"say how many $unit with --$unit=N") if defined $o->{$other};
	my $count =
		defined $o->{$unit} ? $o->{$unit}
	  : $o->{short}         ? $kind->{short}
	  :                       $kind->{count};
	fail(2, "--$unit=$count is not positive", "say how many $unit to run")
	  if $count < 1;
	my $seed = defined $o->{seed} ? $o->{seed} : time % 1_000_000;
	fail(
		2,
		"--seed=$seed is not a seed",
		'choose an integer from 0 to 2147483647'
	) if $seed < 0 || $seed > 0x7FFFFFFF;
	my $build = defined $o->{build} ? $o->{build} : $kind->{build};
	my $result = $kind->{code}->(
		$c,
		build => $build,
		count => $count,
		seed => $seed,
		short => $o->{short});
	$c->say({ %{ $result->{data} }, seed => $seed, build => $build },
		$result->{text});
	return $result->{found} ? 1 : 0;
}

=item log_findings($file, \%errors, \%internal)

Reads a server log whose lines begin with "[PID] SQLSTATE ".  Returns the lines
that tell of a crash, with those that follow.  Adds the errors to %errors,
{ SQLSTATE => { count, messages => { text => count } } }, and the internal ones
(class XX) to %internal, { message => { count, message, statement } }; numbers and
quoted names are masked in the keys.

=cut

my $CRASH =
  qr/^TRAP: |PANIC:  |was terminated by signal|server closed the connection/;
use constant LINES_OF_CRASH => 60;

sub log_findings
{
	my ($file, $errors, $internal) = @_;
	my (@crash, %last, $into);
	open(my $fh, '<', $file)
	  or fail(2, "cannot read $file: $!", 'run it again');
	while (my $line = <$fh>)
	{
		push @crash, $line
		  if $line =~ $CRASH || @crash && @crash < LINES_OF_CRASH;
		if ($line =~ /^\t(.*)/s)
		{
			$$into .= $1 if $into;
			next;
		}
		undef $into;
		next unless $line =~ /^\[(\d+)\] (\w{5}) (\w+):  (.*)/s;
		my ($pid, $state, $level, $text) = ($1, $2, $3, $4);
		if ($level =~ /^(ERROR|FATAL|PANIC)$/)
		{
			chomp $text;
			my $masked = masked($text);
			$errors->{$state}{count}++;
			$errors->{$state}{messages}{$masked}++;
			delete $last{$pid};
			next if $state !~ /^XX/;
			$last{$pid} = $internal->{$masked} ||= { message => $text };
			$last{$pid}{count}++;
		}
		elsif ($level eq 'STATEMENT' && $last{$pid})
		{
			next if defined $last{$pid}{statement};
			$last{$pid}{statement} = $text;
			$into = \$last{$pid}{statement};
		}
	}
	return @crash;
}

sub masked
{
	my ($text) = @_;
	$text =~ s/"[^"]*"/"..."/g;
	$text =~ s/\d+/N/g;
	return $text;
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

sub sqlsmith
{
	my ($c, %opt) = @_;
	my $config = $c->config;
	my $program = find_tool('sqlsmith', PgSeries::Config::PATH);
	fail(
		2,
		'sqlsmith is missing',
		'install the Debian package sqlsmith: apt-get install sqlsmith'
	) unless defined $program;
	my $server = sqlsmith_server($c, %opt);
	my $processes = processors();
	my (%errors, %internal, @crash);
	my ($done, $slice) = (0, 0);

	while ($done < $opt{count} && !@crash)
	{
		progress("sqlsmith: $done of $opt{count} queries");
		my $left = $opt{count} - $done;
		$left = SQLSMITH_SLICE if $left > SQLSMITH_SLICE;
		my @share =
		  map { int(($left + $_) / $processes) } 0 .. $processes - 1;
		my @logs =
		  map { "$server->{build}{log}/sqlsmith-$_.log" } 0 .. $#share;
		unlink @logs;
		my @jobs;
		for my $i (grep { $share[$_] } 0 .. $#share)
		{
			my $seed = $opt{seed} + $slice * $processes + $i;
			push @jobs, sub {
				one_sqlsmith($program, $server, $seed, $share[$i], $logs[$i]);
			};
		}
		my $ok = eval { in_parallel(@jobs); 1 };
		my $error = $@;
		@crash = log_findings($server->log, \%errors, \%internal);
		for my $log (grep { -f } @logs)
		{
			push @crash, grep { /server closed the connection/ } split /^/,
			  read_file($log);
		}
		if (!$ok && !@crash)
		{
			# It may have run for hours.  Whether base has the same internal errors
			# is not known, though.
			my @internal = map { $internal{$_} } sort keys %internal;
			info('sqlsmith: no crash in '
				  . sqlsmith_result($server, $done, \%errors, \@internal, [])
				  ->{text});
			die $error;
		}
		$done += $left;
		$slice++;

		$server->empty_log unless @crash;
	}
	$server->stop;
	my @internal = map { $internal{$_} } sort keys %internal;
	seen_on_base($c, \@internal, %opt) if @internal;
	return sqlsmith_result($server, $done, \%errors, \@internal, \@crash);
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
DO $$
DECLARE n regnamespace; t regclass; f regprocedure;
BEGIN
	FOR n IN SELECT oid FROM pg_namespace WHERE nspname !~ '^pg_|^information_schema$'
	LOOP
		EXECUTE format('GRANT USAGE ON SCHEMA %s TO sqlsmith', n);
	END LOOP;
	FOR t IN SELECT c.oid FROM pg_class c
		WHERE c.relkind IN ('r', 'p', 'v', 'm') AND NOT c.relispartition
		AND c.relnamespace::regnamespace::text !~ '^pg_|^information_schema$'
	LOOP
		EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %s TO sqlsmith', t);
	END LOOP;
	FOR f IN SELECT p.oid FROM pg_proc p
		JOIN pg_language l ON l.oid = p.prolang
		WHERE p.proname ~ '^(pg_(terminate|cancel)_backend|pg_sleep.*|pg_(try_)?advisory_.*|pg_notify|set_config|pg_reload_conf|wait_pid)$'
		OR p.pronamespace <> 'pg_catalog'::regnamespace AND l.lanname = 'c'
	LOOP
		EXECUTE format('REVOKE EXECUTE ON ROUTINE %s FROM PUBLIC', f);
	END LOOP;
END $$;
EOT
	$server->empty_log;
	return $server;
}

sub one_sqlsmith
{
	my ($program, $server, $seed, $queries, $log) = @_;
	my $target =
		'host='
	  . $server->socket_dir
	  . ' port='
	  . $server->port
	  . ' user=sqlsmith dbname=regression';

	# Few queries take as long as statement_timeout allows, which has to be enough
	# for what sqlsmith asks at its start.
	my $seconds = 600 + 2 * $queries;
	my $status = run_status(
		[
			'timeout', $seconds,
			$program, "--target=$target",
			"--seed=$seed", "--max-queries=$queries",
			'--exclude-catalog'
		],
		env => $server->{config}->environment,
		user => $server->{config}->user,
		log => $log);
	fail(
		1,
		"sqlsmith did not end within $seconds s",
		'look for a backend that ignores statement_timeout: see '
		  . $server->log) if $status == 124;
	fail(2, "sqlsmith ended with status $status",
		"see $log", tail_file($log, 5))
	  if $status != 0;
	return;
}

# The build of plain upstream that is made as another one is.
sub base_of
{
	my ($name) = @_;
	return $name eq 'patched' ? 'base' : 'base-assert';
}

# Marks the internal errors that base has, too.
sub seen_on_base
{
	my ($c, $internal, %opt) = @_;
	my $server = sqlsmith_server($c, %opt, build => base_of($opt{build}));
	for my $error (grep { defined $_->{statement} } @$internal)
	{
		my $said = '';
		$server->client(
			[qw(psql --no-psqlrc --quiet -U sqlsmith -d regression)],
			in => "BEGIN;\n$error->{statement};\nROLLBACK;\n",
			out => \my $out,
			err => \$said);
		my ($message) = $said =~ /^ERROR:  (.*)$/m;
		$error->{base} = 1
		  if defined $message
		  && masked($message) eq masked($error->{message});
	}
	$server->stop;
	return;
}

sub sqlsmith_result
{
	my ($server, $done, $errors, $internal, $crash) = @_;
	my $total = 0;
	$total += $_->{count} for values %$errors;
	my @kinds =
	  sort { $errors->{$b}{count} <=> $errors->{$a}{count} || $a cmp $b }
	  keys %$errors;
	my $text = "$done queries, $total errors\n";
	for my $state (@kinds[ 0 .. ($#kinds < 9 ? $#kinds : 9) ])
	{
		my $messages = $errors->{$state}{messages};
		my ($most) =
		  sort { $messages->{$b} <=> $messages->{$a} || $a cmp $b }
		  keys %$messages;
		$text .= sprintf "%8d  %s  such as: %s\n", $errors->{$state}{count},
		  $state, $most;
	}
	for (@$internal)
	{
		$text .= sprintf "internal error%s, %d times: %s\n%s\n",
		  $_->{base} ? ' (on base, too)' : '', $_->{count}, $_->{message},
		  defined $_->{statement} ? $_->{statement} : '(no statement)';
	}
	$text .= 'crash (see ' . $server->log . "):\n" . join('', @$crash)
	  if @$crash;
	return {
		found => @$crash || grep({ !$_->{base} } @$internal) ? 1 : 0,
		data => {
			queries => $done,
			errors => { map { $_ => $errors->{$_}{count} } keys %$errors },
			internal => $internal,
			crash => join('', @$crash)
		},
		text => $text
	};
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

# Lines of output to show of a difference.
use constant SHOWN => 20;

sub differential
{
	my ($c, %opt) = @_;
	my %name = (first => base_of($opt{build}), second => $opt{build});
	my %server;
	for my $which (qw(first second))
	{
		$server{$which} = PgSeries::Server->new(
			$c->config,
			$c->builds->ensure($name{$which}),
			name => "differential-$which",
			settings => \%DIFFERENTIAL_SETTINGS);
	}
	for my $server (@server{qw(first second)})
	{
		$server->create;
		$server->start;
		$server->sql('CREATE EXTENSION amcheck');
	}
	my ($done, $errors, $batch) = (0, 0, 0);
	my $difference;
	while ($done < $opt{count} && !$difference)
	{
		progress("differential: $done of $opt{count} queries");
		my $seed = $opt{seed} + $batch++;
		my $count = $opt{count} - $done;
		$count = BATCH if $count > BATCH;
		my ($script, @cases) = batch($seed, $count);
		my @log = map { "$server{$_}{build}{log}/differential-$_.log" }
		  qw(first second);
		in_parallel(
			sub { run_script($server{first}, $script, $log[0]); },
			sub { run_script($server{second}, $script, $log[1]); });
		my @first = outputs($log[0]);
		my @second = outputs($log[1]);
		fail(2, "the schema of seed $seed cannot be made",
			"see $log[0]", tail_file($log[0], 10))
		  if defined $first[0] && $first[0] =~ /^ERROR: /m;
		my ($i) = grep {
				 !defined $first[$_]
			  || !defined $second[$_]
			  || $first[$_] ne $second[$_]
		} 0 .. @cases;
		$errors += grep { defined && /^ERROR: /m } @first;
		$done   += $count;
		next unless defined $i;
		my $dir = make_dir($c->config->build . '/stress');
		my ($one, $two) = shown($first[$i], $second[$i]);
		write_file("$dir/differential-$seed.sql", $script);
		$difference = {
			seed => $seed,
			script => "$dir/differential-$seed.sql",
			outputs => [ $one, $two ],
			%{ $cases[$i] || { kind => 'end of the session' } }
		};
	}
	$_->stop for @server{qw(first second)};
	my $text = '';
	if ($difference)
	{
		my $d = $difference;
		$text = join '', "difference: $d->{kind}\n",
		  (map { "$_;\n" } @{ $d->{settings} }, @{ $d->{statements} }),
		  "--- $name{first}\n$d->{outputs}[0]--- $opt{build}\n$d->{outputs}[1]";
		info(
			"pgseries: the whole session is in $d->{script}; rerun: src/bin/pgseries stress differential --build=$opt{build} --seed=$d->{seed} --queries="
			  . BATCH);
	}
	$text .=
	  "$done queries, seed $opt{seed}, $errors with an error on base: "
	  . ($difference ? "a difference\n" : "no difference\n");
	return {
		found => $difference ? 1 : 0,
		data => {
			queries => $done,
			errors => $errors,
			difference => $difference
		},
		text => $text
	};
}

=item batch($seed, $count)

Returns a script for psql, and what it has: a list of { kind, settings, statements
}, of which the first makes the schema, $count are random statements and the others
look at the tables.  The script prints a mark before each, and one at its end.

=cut

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
	my $script =
		mark(0)
	  . "SET client_min_messages = error;\nDROP SCHEMA IF EXISTS st CASCADE;\n"
	  . $generator->setup
	  . "RESET ALL;\n";
	for my $n (1 .. $count)
	{
		push @cases, $generator->next_case;
		push @cases, $look if $n % LOOK == 0 || $n == $count;
	}
	for my $i (1 .. $#cases)
	{
		$script .= join '', mark($i),
		  map { "$_;\n" } @{ $cases[$i]{settings} },
		  @{ $cases[$i]{statements} }, 'RESET ALL';
	}
	return ($script . mark(scalar @cases), @cases);
}

sub mark { my ($i) = @_; return "\\echo ==== $i\n"; }

# Runs psql, whose output and errors get into the log.
sub run_script
{
	my ($server, $script, $log) = @_;
	unlink $log;
	$server->client(
		[
			qw(psql --no-psqlrc --no-align --tuples-only
			  --pset=null=<null> --set=VERBOSITY=sqlstate)
		],
		env => { PGOPTIONS => '-c search_path=st,public' },
		in => $script,
		log => $log);
	return;
}

=item outputs($file)

Returns what the parts of a batch's script have printed, as a list.

=back

=cut

sub outputs
{
	my ($file) = @_;
	my (undef, %output) = split /^==== (\d+)\n/m, read_file($file), -1;
	my @outputs;
	$outputs[$_] = $output{$_} for keys %output;
	return @outputs;
}

# What to show of two outputs: some lines of each from where they differ.
sub shown
{
	my ($first, $second) = @_;
	my @lines =
	  map {
		[ split /^/, defined $_ ? $_ : "(nothing: the session has ended)\n" ]
	  } ($first, $second);
	my $from = 0;
	$from++
	  while $from < @{ $lines[0] }
	  && $from < @{ $lines[1] }
	  && $lines[0][$from] eq $lines[1][$from];
	$from = $from < 3 ? 0 : $from - 3;
	return map {
		my @rest = @$_[ $from .. $#$_ ];
		my $more = @rest - SHOWN;
		$#rest = SHOWN - 1 if $more > 0;
		join '', $from ? "(line ${\($from + 1)})\n" : (), @rest,
		  $more > 0    ? "($more more lines)\n"     : ();
	} @lines;
}

1;
