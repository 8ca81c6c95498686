package PgSeries::Bench;

use strict;
use warnings FATAL => 'all';

use File::Basename   qw(basename);
use File::Glob       qw(:bsd_glob);
use JSON::PP         ();
use List::Util       qw(max sum);
use POSIX            qw(strftime);
use PgSeries::Config ();
use PgSeries::Server;
use PgSeries::Stats;
use PgSeries::Util
  qw(capture fail find_tool in_parallel info make_dir progress read_file run slurp_json write_file);
use Time::HiRes qw(time);

=pod

=head1 NAME

PgSeries::Bench - base against patched, in instructions and in time

=head1 DESCRIPTION

A benchmark is a directory benchmarks/NAME with

  meta.json   what is measured, in which cases, at which scales
  *.sql       the setup (run by psql, with the case's values as variables) and
              the pgbench scripts
  *.plot      gnuplot text

C<meta.json> has the keys

  title, topic, source   for the reader
  axis          { name, label }: the value that is varied
  settings      for postgresql.conf, beyond those below; :NAME stands for a value
                of setup_values
  setup         the file, and setup_values: the names of the values it takes;
                there is one database for each combination
  scales        demo, full, original, see below
  measures      a list, see below
  plots, readme for PgSeries::Report::Results

each scale has

  values        { NAME => [..] } for each name of setup_values
  pairs         how many pairs a time is measured with
  seconds       length of one timed run of pgbench
  runs          how many times instructions are counted (1)

and each measure has

  name, label, unit, better
  method        "instructions", "time", or "count": what C<statement> returns, a
                positive number
  kind          "plan": plan C<statement>; "execute": execute it with
                C<parameters> (both by loops in the backend,
                contrib/pgseries_bench); "pgbench": run C<script>; "loop":
                C<statement> is itself a loop of :iterations in the backend and
                returns iterations, nanoseconds (or what is counted, for "count");
                "repeat": C<statement>, a line, again and again
  statement     :NAME stands for the case's value
  parameters    for "execute": a list of values
  generic       for "execute": true, false, or null for plan_cache_mode's choice
  script        for "pgbench": the file
  set           { NAME => value }: settings of the session
  before        SQL that the same session executes first, for "instructions";
                :NAME stands for the case's value
  counted       the C functions that count, for "instructions"; "loop" and
                "repeat" must name them
  iterations    the two counts whose difference is taken, for "instructions"
  loop          iterations of one call in the backend, for "time" (1000)
  values        { NAME => [..] } further values: C<clients>, C<protocol> and
                C<plan_cache_mode> have their meaning for pgbench, and
                C<plan_cache_mode> for statements, too
  scales        the scales that have the measure (all by default)
  where         { NAME => [..] } keeps only the cases with one of these values

=head2 Instructions

A stand-alone backend runs the loop under callgrind, which counts only inside the
functions that do the work and release the locks, with two iteration counts.  What
start-up and setup cost is in both totals, so the difference divided by the
difference of the counts is the cost of one iteration.  It does not depend on the
machine's load, so base and patched are run side by side.

=head2 Time

One round starts a fresh server three times, for base, patched and base again
in random order (the seed is kept), and measures each once.  Patched against
base gives a pair, base against base the A/A noise.  The result is the median
of the paired ratios with a 95% interval; PgSeries::Stats says how it is
judged.

Before a case of kind "plan" or "execute" is measured, the statement must give
the same rows on both builds.

=head2 Text

meta.json is decoded, and encoded again at once: all text here is bytes, as it
goes to programs, files and the terminal.

=head1 FUNCTIONS

=over

=cut

my %SETTINGS = (
	autovacuum => 'off',
	fsync => 'off',
	synchronous_commit => 'off',
	full_page_writes => 'off',
	shared_buffers => '256MB',
	max_wal_size => '4GB',
	checkpoint_timeout => '1h',
	max_connections => 50,
	max_locks_per_transaction => 1024,
	max_parallel_workers_per_gather => 0,
	jit => 'off');

my @BUILDS = qw(base patched);

# How many rows are shown if base and patched do not return the same ones.
use constant SHOWN_ROWS => 3;

# The functions that callgrind counts in, with all that they call: the work, and
# the release of the locks.  What the loops do besides (copying the query, a
# subtransaction for each execution) is no part of a real statement.
my %COUNTED = (
	plan => [qw(pg_plan_queries ResourceOwnerRelease)],
	execute => [qw(SPI_execute_plan_extended ResourceOwnerRelease)]);

=item command($context, @names)

The command C<pgseries bench>.  Takes the context of the command line and names of
benchmarks, or "all".  Writes a result file for each that has cases to measure.
Returns the exit status: 1 if C<--gate> is exceeded.  Raises a L<PgSeries::Error>,
as all functions below: for wrong names and options before anything is built.

=cut

sub command
{
	my ($c, @names) = @_;
	my $config = $c->config;
	my $o = $c->{option};
	my %opt = check_options($o);
	@names = check_names($config->top . '/benchmarks', @names);
	my %meta = map { $_ => read_meta($config, $_) } @names;
	check_filter($opt{filter}, $opt{scale}, map { $meta{$_} } @names);
	my %databases =
	  map { $_ => [ databases($meta{$_}, "benchmarks/$_/meta.json", %opt) ] }
	  @names;
	check_chosen($o->{gate}, \%databases);

	my %build = map { $_ => $c->builds->ensure($_) } @BUILDS;
	$c->builds->extension($build{$_}) for @BUILDS;
	my $output = make_dir($o->{output} || $config->build . '/results');
	my $run = bless {
		%opt,
		config => $config,
		build => \%build,
		base => $c->series->upstream->actual_version,
		patched => $c->series->key($c->series->patches),
		deadline => $o->{minutes} ? time + 60 * $o->{minutes} : undef,
		left_out => 0,
	  },
	  'PgSeries::Bench';
	my (@results, @measured);

	for my $name (grep { @{ $databases{$_} } } @names)
	{
		# Written again and again, so that an error or an interrupt costs little.
		my $write = sub {
			my ($result) = @_;
			keep_others($result, "$output/$name.json");
			write_file("$output/$name.json",
				JSON::PP->new->canonical->pretty->encode($result));
			return $result;
		};
		my ($result, @series) =
		  $run->benchmark($name, $meta{$name}, $write, @{ $databases{$name} })
		  or next;
		push @measured, @series;
		push @results, $result;
	}
	info("$run->{left_out} cases were left out when the time was up")
	  if $run->{left_out};
	my $text = '';
	for my $result (@results)
	{
		$text .= "$result->{bench}\n";
		$text .= '  ' . one_line($_) . "\n" for @{ $result->{series} };
	}
	$c->say({ results => \@results }, $text);
	return defined $o->{gate}
	  ? gate($o->{gate}, $run->{left_out}, @measured)
	  : 0;
}

# The options of a run: scale, method, filter, pairs, seconds and seed.
sub check_options
{
	my ($o) = @_;
	my $scale = defined $o->{scale} ? $o->{scale} : 'full';
	fail(2, "there is no scale \"$scale\"", 'choose demo, full or original')
	  unless $scale =~ /^(demo|full|original)\z/;
	fail(
		2,
		"there is no method \"$o->{method}\"",
		'choose instructions, count or time')
	  if defined $o->{method}
	  && $o->{method} !~ /^(instructions|count|time)\z/;
	my %remedy = (
		pairs => 'say how many pairs to measure',
		seconds => 'say how long a timed run is to be',
		minutes => 'say after how many minutes no case is to be started',
		gate => 'give a share of base, such as --gate=1.01');
	for my $key (sort keys %remedy)
	{
		fail(2, "--$key=$o->{$key} is not positive", $remedy{$key})
		  if defined $o->{$key} && $o->{$key} <= 0;
	}
	my $seed = defined $o->{seed} ? $o->{seed} : int(time) % 1_000_000;
	fail(
		2,
		"--seed=$seed is not a seed",
		'choose an integer from 0 to 2147483647'
	) if $seed < 0 || $seed > 0x7FFFFFFF;
	my %filter;
	for (@{ $o->{case} || [] })
	{
		my ($key, $value) = /^(\w+)=(.*)$/
		  or fail(
			2,
			"--case=$_ is not NAME=VALUE",
			'write, for example, --case=indexes=60');
		push @{ $filter{$key} }, $value;
	}
	return (
		scale => $scale,
		method => $o->{method},
		filter => \%filter,
		pairs => $o->{pairs},
		seconds => $o->{seconds},
		seed => $seed + 0);
}

# The names of benchmarks, "all" being replaced.
sub check_names
{
	my ($dir, @names) = @_;
	my @known = map { basename($_) }
	  grep { -f "$_/meta.json" } sort glob("$dir/*");
	fail(2, 'bench needs a name', "choose from: @known, all") unless @names;
	return @known if "@names" eq 'all';
	for my $name (@names)
	{
		fail(2, "there is no benchmark \"$name\"", "choose from: @known, all")
		  unless grep { $_ eq $name } @known;
	}
	return @names;
}

sub read_meta
{
	my ($config, $name) = @_;
	my $file = $config->top . "/benchmarks/$name/meta.json";
	my $meta = as_bytes(slurp_json($file));
	fail(2, "$file is not an object", 'correct it')
	  unless ref $meta eq 'HASH';
	return $meta;
}

# The data with all strings encoded.
sub as_bytes
{
	my ($data) = @_;
	return JSON::PP->new->decode(JSON::PP->new->utf8->encode($data));
}

# A misspelt name would filter nothing.
sub check_filter
{
	my ($filter, $scale, @meta) = @_;
	my %known;
	for my $meta (@meta)
	{
		for my $values ($meta->{scales}{$scale}{values} || {},
			map { $_->{values} || {} } @{ $meta->{measures} })
		{
			$known{$_} = 1 for keys %$values;
		}
	}
	for my $key (sort keys %$filter)
	{
		fail(
			2,
			"no case has a value named \"$key\"",
			'choose from: ' . join(', ', sort keys %known)
		) unless $known{$key};
	}
	return;
}

# What is to be measured of a benchmark: { values, cases => [[measure, case], ..] }
# for each database that is needed.  The options are scale, method and filter.
sub databases
{
	my ($meta, $file, %opt) = @_;
	my $scale = $meta->{scales}{ $opt{scale} }
	  or fail(
		2,
		"$file has no scale \"$opt{scale}\"",
		'add it, or choose another');
	my @measures = grep {
		my $m = $_;
		(!$m->{scales} || grep { $_ eq $opt{scale} } @{ $m->{scales} })
		  && (!defined $opt{method} || $m->{method} eq $opt{method})
	} @{ $meta->{measures} };
	my %setup;
	for my $name (@{ $meta->{setup_values} })
	{
		$setup{$name} = $scale->{values}{$name}
		  or
		  fail(2, "$file: scale \"$opt{scale}\" has no values of \"$name\"",
			'add them');
	}
	my @databases;
	for my $values (cross(\%setup))
	{
		my @cases;
		for my $m (@measures)
		{
			push @cases, map { [ $m, $_ ] }
			  grep {
				wanted($_, $opt{filter}) && wanted($_, $m->{where} || {})
			  }
			  map {
				{ %$values, %$_ }
			  } cross($m->{values} || {});
		}
		push @databases, { values => $values, cases => \@cases } if @cases;
	}
	return @databases;
}

# Refuses what would come to nothing after a long run.
sub check_chosen
{
	my ($gate, $databases) = @_;
	my @names = sort keys %$databases;
	my @without = grep { !@{ $databases->{$_} } } @names;
	fail(
		2,
		"no case of @names matches",
		'see the values and methods in benchmarks/NAME/meta.json'
	) if @without == @names;
	info("left out, as no case matches: @without") if @without;
	my $counted = grep { $_->[0]{method} eq 'instructions' }
	  map { @{ $_->{cases} } } map { @$_ } values %$databases;
	fail(
		2,
		'the gate has nothing to judge: no instructions are counted',
		'leave out --method, or choose other cases'
	) if defined $gate && !$counted;
	fail(2, 'valgrind is missing', 'run: ./configure --install-deps')
	  if $counted && !find_tool('valgrind', PgSeries::Config::PATH);
	return;
}

# The exit status: the gate is for what this run has measured.
sub gate
{
	my ($gate, $left_out, @measured) = @_;
	my $over = grep { $_->{method} eq 'instructions' && $_->{ratio} > $gate }
	  @measured;
	if ($over)
	{
		info(
			"pgseries: $over cases need more than $gate of base's instructions; see the lines above"
		);
		return 1;
	}
	fail(
		2,
		"the gate has not seen $left_out cases, for which there was no time",
		'allow more with --minutes, or choose cases with --case'
	) if $left_out;
	return 0;
}

# Figures of an earlier run of the same series, at the same scale and on the same
# machine, stay with their date and seed, unless they were measured again.
sub keep_others
{
	my ($result, $file) = @_;
	return unless -f $file;
	my $old = as_bytes(slurp_json($file));
	my $other = sub {
		my ($what, $was, $is) = @_;
		$was = 'not known' unless defined $was;
		return 0 if $was eq $is;
		rename $file, "$file.old"
		  or fail(2, "cannot rename $file: $!", 'check its permissions');
		info("$file had figures of another $what: $was; it is $file.old now");
		return 1;
	};
	for my $key (qw(format base patched scale))
	{
		return if $other->($key, $old->{$key}, $result->{$key});
	}
	for my $key (qw(cpu cores compiler valgrind))
	{
		return
		  if $other->(
			"machine ($key)",
			$old->{machine}{$key},
			$result->{machine}{$key});
	}
	for my $s (@{ $old->{series} })
	{
		for my $key (qw(date seed))
		{
			$s->{$key} = $old->{$key} unless defined $s->{$key};
		}
	}
	my $id = sub {
		my ($s) = @_;
		return join "\0", $s->{measure}, $s->{method},
		  map { ($_, $s->{case}{$_}) } sort keys %{ $s->{case} };
	};
	my %again = map { $id->($_) => 1 } @{ $result->{series} };
	unshift @{ $result->{series} },
	  grep { !$again{ $id->($_) } } @{ $old->{series} };
	return;
}

sub one_line
{
	my ($s) = @_;
	my $case = join ' ',
	  map { "$_=$s->{case}{$_}" } sort keys %{ $s->{case} };
	my ($base, $patched) =
	  $s->{method} ne 'time'
	  ? (map { PgSeries::Stats::median(@{ $s->{$_} }) } @BUILDS)
	  : (
		map {
			my $k = $_;
			PgSeries::Stats::median(map { $_->{$k} } @{ $s->{pairs} })
		} @BUILDS);
	my $line = sprintf '%-20s %-42s %12.0f -> %12.0f %s, ratio %.3f',
	  $s->{measure}, $case, $base, $patched, $s->{unit}, $s->{ratio};
	if ($s->{ci})
	{
		my @interval = map {
			defined $_->[0]
			  ? sprintf('[%.3f, %.3f]', @$_)
			  : '[too few pairs]'
		} @$s{qw(ci aa_ci)};
		$line .= " $interval[0], A/A $interval[1]: $s->{verdict}";
	}
	return $line;
}

# The result of one benchmark, as PgSeries::Report::Results reads it and $write has
# written it, and what was measured for it; nothing if there was no time for any case.
sub benchmark
{
	my ($self, $name, $meta, $write, @databases) = @_;
	local $self->{meta} = $meta;
	local $self->{dir} = $self->{config}->top . "/benchmarks/$name";
	local $self->{of_scale} = $meta->{scales}{ $self->{scale} };
	local $self->{server} = undef;
	my ($result, @series);
	for my $database (@databases)
	{
		my ($values, $cases) = @{$database}{qw(values cases)};
		if ($self->{deadline} && time > $self->{deadline})
		{
			$self->{left_out} += @$cases;
			next;
		}
		info("$name: "
			  . join(', ', map { "$_ $values->{$_}" } sort keys %$values));
		$self->{server} ||= $self->servers;
		$self->set_up($values);
		for my $case (@$cases)
		{
			if ($self->{deadline} && time > $self->{deadline})
			{
				$self->{left_out}++;
				next;
			}
			push @series, $self->measure(@$case);
		}
		$result = $write->($self->result($name, @series)) if @series;
	}
	return unless @series;
	$_->stop for values %{ $self->{server} };
	return ($result, @series);
}

sub result
{
	my ($self, $name, @series) = @_;
	my $meta = $self->{meta};
	return {
		format => 1,
		bench => $name,
		title => $meta->{title},
		topic => $meta->{topic},
		source => $meta->{source},
		scale => $self->{scale},
		base => $self->{base},
		patched => $self->{patched},
		date => strftime('%Y-%m-%dT%H:%M:%SZ', gmtime),
		seed => $self->{seed},
		machine => machine(),
		axis => $meta->{axis},
		series => \@series,
	};
}

# Two servers with empty clusters.
sub servers
{
	my ($self) = @_;
	my %server;
	for my $b (@BUILDS)
	{
		$server{$b} = PgSeries::Server->new(
			$self->{config}, $self->{build}{$b},
			name => 'bench',
			settings => \%SETTINGS);
		$server{$b}->create;
	}
	return \%server;
}

# All combinations of { name => [values] }, the last name varying fastest.
sub cross
{
	my ($values) = @_;
	my @cases = ({});
	for my $name (sort keys %$values)
	{
		@cases = map {
			my $case = $_;
			map {
				{ %$case, $name => $_ }
			} @{ $values->{$name} }
		} @cases;
	}
	return @cases;
}

# True if the case has one of the values listed for each name; names that it
# does not have do not matter.
sub wanted
{
	my ($case, $filter) = @_;
	for my $name (keys %$filter)
	{
		next unless exists $case->{$name};
		return 0
		  unless grep { "$_" eq "$case->{$name}" } @{ $filter->{$name} };
	}
	return 1;
}

# One database at a time, with the same name in both clusters.
sub set_up
{
	my ($self, $values) = @_;
	my $sql = read_file("$self->{dir}/$self->{meta}{setup}");
	my %set = %{ $self->{meta}{settings} || {} };
	$_ = with_values($_, $values) for values %set;
	for my $b (@BUILDS)
	{
		progress("setting up $b");
		my $server = $self->{server}{$b};
		$server->{settings} = { %SETTINGS, %set };
		$server->start;
		$server->sql(
			"drop database if exists bench;\ncreate database bench;");
		$server->sql($sql, database => 'bench', variables => $values);

		# VACUUM may set no hint bit, so mark no page all-visible, if a commit in the
		# same group of transactions is not flushed yet.  The statements would do
		# that later, at a time that depends on chance.
		$server->sql(
			"create extension if not exists pgseries_bench;\nset synchronous_commit = on;\nvacuum analyze;\ncheckpoint;",
			database => 'bench');
		$server->stop;
	}
	return;
}

sub measure
{
	my ($self, $m, $case) = @_;
	progress(
		"$m->{name} " . join(' ', map { "$_=$case->{$_}" } sort keys %$case));
	$m = {%$m};
	for (grep { defined $m->{$_} } qw(statement before))
	{
		$m->{$_} = with_values($m->{$_}, $case);
	}
	$self->same_rows($m, $case)
	  if defined $m->{statement} && $m->{kind} =~ /^(plan|execute)$/;
	my %result = (
		measure => $m->{name},
		map { $_ => $m->{$_} } qw(label method unit better));
	$result{case} = $case;
	my $method =
	  { instructions => 'instructions', count => 'count', time => 'timing' }
	  ->{ $m->{method} };
	return { %result, %{ $self->$method($m, $case) } };
}

# The text with the case's value for each :NAME.
sub with_values
{
	my ($text, $case) = @_;
	$text =~ s/(?<!:):(\w+)/defined $case->{$1} ? $case->{$1} : ":$1"/ge;
	return $text;
}

sub same_rows
{
	my ($self, $m, $case) = @_;
	my %rows;
	my $sql = $m->{statement};
	my @p = @{ $m->{parameters} || [] };
	if (@p)
	{
		$sql = "prepare checked as $sql;\nexecute checked("
		  . join(', ', map { "'$_'" } @p) . ')';
	}
	$sql = settings_sql($m, $case) . "$sql;";
	for my $b (@BUILDS)
	{
		my $server = $self->{server}{$b};
		$server->start;
		$rows{$b} =
		  $server->sql("begin;\n$sql\nrollback;", database => 'bench');
		$server->stop;
	}
	my ($what, $where) = difference(@rows{@BUILDS}) or return;
	my $set = join '',
	  map { "\\set $_ $case->{$_}; " } sort @{ $self->{meta}{setup_values} };
	fail(
		1,
		"base and patched return $what for: " . in_line($m->{statement}),
		'repeat it on both servers (pgseries server start base; pgseries server psql base; then patched): '
		  . "$set\\i $self->{dir}/$self->{meta}{setup}; and the SQL above",
		"$sql\n$where");
	return;
}

sub in_line
{
	my ($text) = @_;
	return $text =~ s/\s*\n\s*/ /gr;
}

# What differs between the rows of base and patched, and the first lines that do;
# nothing if they are equal.
sub difference
{
	my ($base, $patched) = @_;
	return if $base eq $patched;
	my @rows = map { [ split /\n/, $_, -1 ] } $base, $patched;
	my ($all_base, $all_patched) = map { join "\n", sort @$_ } @rows;
	my $lines = '';
	my $shown = 0;
	for my $i (0 .. max(map { $#$_ } @rows))
	{
		my @row = map { $i <= $#$_ ? $_->[$i] : undef } @rows;
		next if defined $row[0] && defined $row[1] && $row[0] eq $row[1];
		last if ++$shown > SHOWN_ROWS;
		for my $k (0, 1)
		{
			$lines .= sprintf "row %d, %-8s %s\n", $i + 1, "$BUILDS[$k]:",
			  defined $row[$k] ? substr($row[$k], 0, 200) : '(there is none)';
		}
	}
	chomp $lines;
	return (
		$all_base eq $all_patched
		? 'the same rows in another order'
		: 'different rows',
		$lines);
}

# "set" lines for plan_cache_mode and what else the measure asks for.
sub settings_sql
{
	my ($m, $case) = @_;
	my %set = %{ $m->{set} || {} };
	$set{plan_cache_mode} = $case->{plan_cache_mode}
	  if defined $case->{plan_cache_mode};
	return join '', map { "set $_ = '$set{$_}';\n" } sort keys %set;
}

# The call of the loop in the backend.
sub loop_sql
{
	my ($m, $iterations) = @_;
	return with_values($m->{statement}, { iterations => $iterations })
	  if $m->{kind} eq 'loop';
	return join "\n", ($m->{statement}) x $iterations
	  if $m->{kind} eq 'repeat';
	my $statement = "\$statement\$$m->{statement}\$statement\$";
	return
	  "select iterations, nanoseconds from pgseries_bench_plan($statement, $iterations)"
	  if $m->{kind} eq 'plan';
	my $parameters = join ', ', map { "'$_'" } @{ $m->{parameters} || [] };
	my $generic =
	  !defined $m->{generic} ? 'null' : $m->{generic} ? 'true' : 'false';
	return
	  "select iterations, nanoseconds from pgseries_bench_execute($statement, $iterations, array[$parameters]::text[], $generic)";
}

sub instructions
{
	my ($self, $m, $case) = @_;
	my $runs = $self->{of_scale}{runs} || 1;
	my ($low, $high) = @{ $m->{iterations} };
	my %figure;
	for (1 .. $runs)
	{
		my %total = $self->callgrind($m, $case, $low, $high);
		for my $b (@BUILDS)
		{
			push @{ $figure{$b} },
			  ($total{"$b/$high"} - $total{"$b/$low"}) / ($high - $low);
		}
	}
	return {
		base => $figure{base},
		patched => $figure{patched},
		iterations => [ $low, $high ],
		ratio => PgSeries::Stats::median(@{ $figure{patched} }) /
		  PgSeries::Stats::median(@{ $figure{base} }),
	};
}

# What the statement returns, in a fresh session.
sub count
{
	my ($self, $m, $case) = @_;
	my %value;
	for my $b (@BUILDS)
	{
		my $server = $self->{server}{$b};
		$server->start;
		my $out = $server->sql($m->{statement}, database => 'bench');
		$server->stop;
		fail(
			1,
			"$b counts nothing for: " . in_line($m->{statement}),
			'let the statement return one positive number on both builds',
			$out) unless $out =~ /^\d+(?:\.\d+)?\z/ && $out > 0;
		$value{$b} = $out + 0;
	}
	return {
		base => [ $value{base} ],
		patched => [ $value{patched} ],
		ratio => $value{patched} / $value{base},
	};
}

# Total instructions of a stand-alone backend, { "BUILD/COUNT" => n }.  Both
# builds run at the same time, each in its own process.
sub callgrind
{
	my ($self, $m, $case, @counts) = @_;
	my %total;
	my %file;
	my @jobs;
	for my $b (@BUILDS)
	{
		my $server = $self->{server}{$b};
		my @steps;
		for my $count (@counts)
		{
			my $file = $server->data . "/callgrind-$count.out";
			unlink $file;
			$file{"$b/$count"} = $file;
			(my $set = settings_sql($m, $case)) =~ s/;$//mg;
			$set .= "$m->{before}\n" if defined $m->{before};
			push @steps, sub {
				$server->single_user(
					$set . loop_sql($m, $count) . "\n",
					database => 'bench',
					wrapper => [
						'valgrind',
						'--tool=callgrind',
						'--quiet',
						(   map { "--toggle-collect=$_" }
							  @{ $m->{counted} || $COUNTED{ $m->{kind} } }),
						"--callgrind-out-file=$file"
					]);
			};
		}
		push @jobs, sub { $_->() for @steps; };
	}
	in_parallel(@jobs);
	for my $key (keys %file)
	{
		my $text = read_file($file{$key});
		($total{$key}) = $text =~ /^(?:summary|totals): (\d+)/m
		  or fail(2, "$file{$key} has no total", 'run it again');
	}
	return %total;
}

sub timing
{
	my ($self, $m, $case) = @_;
	my $rounds = $self->{pairs} || $self->{of_scale}{pairs};
	my (@pairs, @aa);
	for my $round (1 .. $rounds)
	{
		my @order = PgSeries::Stats::shuffle([qw(base patched again)],
			$self->{seed} + $round);
		my %value;
		for my $which (@order)
		{
			my $b = $which eq 'patched' ? 'patched' : 'base';
			progress("$m->{name}: round $round of $rounds, $b");
			$value{$which} = $self->one_time($b, $m, $case);
		}
		my $order = join '', map { substr $_, 0, 1 } @order;
		push @pairs,
		  {
			order => $order,
			base => $value{base},
			patched => $value{patched}
		  };
		push @aa, { first => $value{base}, second => $value{again} };
	}
	my $r = PgSeries::Stats::paired_ratio(
		[ map { [ $_->{base}, $_->{patched} ] } @pairs ]);
	my $aa = PgSeries::Stats::paired_ratio(
		[ map { [ $_->{first}, $_->{second} ] } @aa ]);
	return {
		pairs => \@pairs,
		aa => \@aa,
		ratio => $r->{ratio},
		ci => [ $r->{lo}, $r->{hi} ],
		conf => $r->{conf},
		aa_ratio => $aa->{ratio},
		aa_ci => [ $aa->{lo}, $aa->{hi} ],
		verdict => PgSeries::Stats::verdict($r, $aa, better => $m->{better}),
	};
}

# One figure from a freshly started server.
sub one_time
{
	my ($self, $b, $m, $case) = @_;
	my $server = $self->{server}{$b};
	my $seconds = $self->{seconds} || $self->{of_scale}{seconds};
	$server->start;
	my $value;
	if ($m->{kind} eq 'pgbench')
	{
		my @values = map { ('-D', "$_=$case->{$_}") }
		  grep { $case->{$_} =~ /^-?\d+$/ } sort keys %$case;
		my $clients = $case->{clients} || 2;
		my $options = '';
		$options = "-c plan_cache_mode=$case->{plan_cache_mode}"
		  if defined $case->{plan_cache_mode};

		# The script is copied: the checkout may be out of the user's reach.
		my $script = "$server->{build}{log}/$m->{script}";
		write_file($script, read_file("$self->{dir}/$m->{script}"));
		my $out;

		# At first, a connection fills its caches and makes its plans. That is
		# not counted: the figure is the mean of the last $seconds.
		my $warmup = $seconds < 2 ? 2 : 3;
		my $all = $warmup + int($seconds + 0.999);
		run([
				"$server->{build}{bin}/pgbench",
				'-n',
				'-T',
				$all,
				'-P',
				1,
				'-c',
				$clients,
				'-j',
				$clients,
				'-M',
				$case->{protocol} || 'simple',
				@values,
				'-f',
				$script,
				'bench'
			],
			env => { %{ $server->environment }, PGOPTIONS => $options },
			user => $self->{config}->user,
			out => \my $ignored,
			err => \$out,
			what => "pgbench on $b");
		my @tps = $out =~ /^progress: .*?, ([\d.]+) tps/mg;
		splice @tps, 0, $warmup;
		fail(2, 'pgbench printed no tps', "see $server->{log}", $out)
		  unless @tps;
		$value = sum(@tps) / @tps;
	}
	else
	{
		my $set = settings_sql($m, $case);
		my $call = loop_sql($m, $m->{loop} || 1000);
		my $out = $server->sql("$set$call;\n$call;", database => 'bench');
		my ($n, $ns) = (split /\n/, $out)[-1] =~ /^(\d+)\|(\d+)/
		  or
		  fail(2, 'the loop printed no figures', "see $server->{log}", $out);
		$value = $ns / $n;
	}
	$server->stop;
	return $value + 0;
}

sub machine
{
	my $cpuinfo = -f '/proc/cpuinfo' ? read_file('/proc/cpuinfo') : '';
	my ($cpu) = $cpuinfo =~ /^model name\s*:\s*(.*)$/m;
	my $env = { PATH => PgSeries::Config::PATH };
	my $cores = () = $cpuinfo =~ /^processor\s*:/mg;
	my ($memory) = (-f '/proc/meminfo' ? read_file('/proc/meminfo') : '') =~
	  /^MemTotal:\s*(\d+)/m;
	return {
		cpu => $cpu || 'unknown',
		cores => $cores,
		memory_kb => ($memory || 0) + 0,
		kernel => capture([qw(uname -sr)]),
		compiler =>
		  (split /\n/, capture([qw(gcc --version)], env => $env))[0],
		valgrind => find_tool('valgrind', PgSeries::Config::PATH)
		? capture([qw(valgrind --version)], env => $env)
		: 'none',
	};
}

=back

=cut

1;
