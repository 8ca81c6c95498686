package PgSeries::Bench;

use strict;
use warnings FATAL => 'all';

use Cwd              qw(abs_path);
use File::Basename   qw(basename);
use File::Glob       qw(:bsd_glob);
use JSON::PP         ();
use List::Util       qw(sum);
use POSIX            qw(strftime);
use PgSeries::Config ();
use PgSeries::Report;
use PgSeries::Server;
use PgSeries::Stats;
use PgSeries::Util
  qw(capture fail find_tool in_parallel info make_dir progress read_file run run_status slurp_json write_file);
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
  axis                   { name, label }: the value that is varied
  settings               for postgresql.conf, beyond those below; :NAME stands
                         for a value of setup_values
  setup                  the file, and setup_values: the names of the values it
                         takes; there is one database for each combination
  scales                 demo, full, original: { values => { NAME => [..] },
                         pairs, seconds }
  measures               a list, see below
  plots, readme          for PgSeries::Report

and each measure has

  name, label, unit, better
  method      "instructions", "time", or "count": what C<statement> returns
  statement   :NAME stands for the case's value
  kind        "plan": plan C<statement>; "execute": execute it with
              C<parameters> (both by loops in the backend, contrib/pgseries_bench);
              "pgbench": run C<script>; "loop": C<statement> is itself a loop
              of :iterations in the backend and returns iterations, nanoseconds;
              "repeat": C<statement>, a line, again and again
  counted     for "loop" and "repeat": the C functions that count, for "instructions"
  before      SQL that the same session executes first, for "instructions"
  generic     for "execute": true, false, or null for plan_cache_mode's choice
  iterations  the two counts whose difference is taken, for "instructions"
  values      { NAME => [..] } further values: C<clients>, C<protocol> and
              C<plan_cache_mode> have their meaning for pgbench
  scales      the scales that have the measure (all by default)
  where       { NAME => [..] } keeps only the cases with one of these values
  reached     a C function that the patched build calls and the base build does
              not: checked in the profile, for "instructions"

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

Before any case is measured, the statement must give the same rows on both
builds.

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

# The functions that callgrind counts in, with all that they call: the work, and
# the release of the locks.  What the loops do besides (copying the query, a
# subtransaction for each execution) is no part of a real statement.
my %COUNTED = (
	plan => [qw(pg_plan_queries ResourceOwnerRelease)],
	execute => [qw(SPI_execute_plan_extended ResourceOwnerRelease)]);

=item command($context, @names)

The command C<pgseries bench>.

=cut

sub command
{
	my ($c, @names) = @_;
	my $config = $c->config;
	my $o = $c->{option};
	my @known = map { basename($_) }
	  grep { -f "$_/meta.json" } sort glob($config->top . '/benchmarks/*');
	fail(2, 'bench needs a name', "choose from: @known, all") unless @names;
	@names = @known if "@names" eq 'all';
	for my $name (@names)
	{
		fail(2, "there is no benchmark \"$name\"", "choose from: @known, all")
		  unless grep { $_ eq $name } @known;
	}
	my $scale = $o->{scale} || 'full';
	fail(2, "there is no scale \"$scale\"", 'choose demo, full or original')
	  unless $scale =~ /^(demo|full|original)$/;
	fail(
		2,
		"there is no method \"$o->{method}\"",
		'choose instructions, count or time')
	  if defined $o->{method}
	  && $o->{method} !~ /^(instructions|count|time)$/;
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
	check_filter($config, \%filter, $scale, @names);
	my %build = map { $_ => $c->builds->ensure($_) } @BUILDS;
	$c->builds->extension($build{$_}) for @BUILDS;
	my $output = make_dir($o->{output} || $config->build . '/results');
	my $run = bless {
		config => $config,
		series => $c->series,
		build => \%build,
		scale => $scale,
		filter => \%filter,
		method => $o->{method},
		pairs => $o->{pairs},
		seconds => $o->{seconds},
		seed => defined $o->{seed} ? $o->{seed} : int(time) % 1_000_000,
		deadline => $o->{minutes} ? time + 60 * $o->{minutes} : undef,
		left_out => 0,
	  },
	  'PgSeries::Bench';
	my (@results, @measured);
	for my $name (@names)
	{
		my $result = $run->benchmark($name);
		push @measured, @{ $result->{series} };
		keep_others($result, "$output/$name.json");
		write_file("$output/$name.json",
			JSON::PP->new->utf8->canonical->pretty->encode($result));
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
	return 0 unless defined $o->{gate};

	# The gate is for what this run has measured.
	my @gated = grep { $_->{method} eq 'instructions' } @measured;
	fail(
		2,
		'the gate has nothing to judge: no instructions were counted',
		'leave out --method=time, or choose other cases') unless @gated;
	my $over = grep { $_->{ratio} > $o->{gate} } @gated;
	fail(
		2,
		"the gate has not seen $run->{left_out} cases, for which there was no time",
		'allow more with --minutes, or choose cases with --case'
	) if $run->{left_out} && !$over;
	if ($over)
	{
		info(
			"pgseries: $over cases need more than $o->{gate} of base's instructions; see the lines above"
		);
	}
	return $over ? 1 : 0;
}

# A misspelt name would filter nothing, and a value that no case has, everything.
sub check_filter
{
	my ($config, $filter, $scale, @names) = @_;
	my %known;
	for my $name (@names)
	{
		my $meta = slurp_json($config->top . "/benchmarks/$name/meta.json");
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
			"no case of @names has a value named \"$key\"",
			'choose from: ' . join(', ', sort keys %known)
		) unless $known{$key};
	}
	return;
}

# Figures of an earlier run of the same series, at the same scale and on the same
# machine, stay with their date and seed, unless they were measured again.
sub keep_others
{
	my ($result, $file) = @_;
	return unless -f $file;
	my $old = slurp_json($file);
	for my $key (qw(format base patched scale))
	{
		next if $old->{$key} eq $result->{$key};
		info("$file: replaced; it had figures of another $key, $old->{$key}");
		return;
	}
	for my $key (qw(cpu cores compiler valgrind))
	{
		next if $old->{machine}{$key} eq $result->{machine}{$key};
		info(
			"$file: replaced; it had figures of another machine ($key: $old->{machine}{$key})"
		);
		return;
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

# The result of one benchmark, as PgSeries::Report reads it.
sub benchmark
{
	my ($self, $name) = @_;
	my $dir = $self->{config}->top . "/benchmarks/$name";
	my $meta = slurp_json("$dir/meta.json");
	local $self->{meta} = $meta;
	local $self->{dir} = $dir;
	my $scale = $meta->{scales}{ $self->{scale} }
	  or fail(
		2,
		"$dir/meta.json has no scale \"$self->{scale}\"",
		'add it, or choose another');
	local $self->{of_scale} = $scale;
	my @measures = grep {
		my $m = $_;
		(!$m->{scales} || grep { $_ eq $self->{scale} } @{ $m->{scales} })
		  && (!$self->{method} || $m->{method} eq $self->{method})
	} @{ $meta->{measures} };
	if (grep { $_->{method} eq 'instructions' } @measures)
	{
		fail(2, 'valgrind is missing', 'run: ./configure --install-deps')
		  unless find_tool('valgrind', PgSeries::Config::PATH);
	}

	my %server;
	for my $b (@BUILDS)
	{
		$server{$b} = PgSeries::Server->new(
			$self->{config}, $self->{build}{$b},
			name => 'bench',
			settings => \%SETTINGS);
		$server{$b}->create;
	}
	local $self->{server} = \%server;
	my @series;
	my @setup_names = @{ $meta->{setup_values} };
	my %setup = map { $_ => $scale->{values}{$_} } @setup_names;
	my $number = 0;
	for my $values (cross(\%setup))
	{
		my @todo;
		for my $m (@measures)
		{
			for my $case (cross($m->{values} || {}))
			{
				my %all = (%$values, %$case);
				push @todo, [ $m, \%all ]
				  if wanted(\%all, $self->{filter})
				  && wanted(\%all, $m->{where} || {});
			}
		}
		next unless @todo;
		if ($self->{deadline} && time > $self->{deadline})
		{
			$self->{left_out} += @todo;
			next;
		}
		info("$name: "
			  . join(', ', map { "$_ $values->{$_}" } sort keys %$values));
		my %set = %{ $meta->{settings} || {} };
		$_ = with_values($_, $values) for values %set;
		$_->{settings} = { %SETTINGS, %set } for values %server;
		$self->set_up($values);
		push @series, map { $self->measure(@$_) } @todo;
	}
	$_->stop for values %server;
	fail(
		2,
		"no case of $name matches",
		'see the values in benchmarks/' . $name . '/meta.json'
	) unless @series || $self->{left_out};
	return {
		format => 1,
		bench => $name,
		title => $meta->{title},
		topic => $meta->{topic},
		source => $meta->{source},
		scale => $self->{scale},
		base => $self->{series}->upstream->actual_version,
		patched => $self->{series}->key($self->{series}->patches),
		date => strftime('%Y-%m-%dT%H:%M:%SZ', gmtime),
		seed => $self->{seed},
		machine => machine(),
		axis => $meta->{axis},
		series => \@series,
	};
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
	for my $b (@BUILDS)
	{
		progress("setting up $b");
		my $server = $self->{server}{$b};
		$server->start;
		$server->sql(
			"drop database if exists bench;\ncreate database bench;");
		$server->sql($sql, database => 'bench', variables => $values);
		$server->sql(
			"create extension if not exists pgseries_bench;\nvacuum analyze;\ncheckpoint;",
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
	for my $b (@BUILDS)
	{
		my $server = $self->{server}{$b};
		$server->start;
		$rows{$b} = $server->sql(
			"begin;\n" . settings_sql($m, $case) . "$sql;\nrollback;",
			database => 'bench');
		$server->stop;
	}
	fail(
		1,
		"base and patched return different rows for: $m->{statement}",
		'run it on both servers: pgseries server start base; pgseries server psql base'
	) if $rows{base} ne $rows{patched};
	return;
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
		$value{$b} = $server->sql($m->{statement}, database => 'bench') + 0;
		$server->stop;
	}
	fail(
		1,
		"base counts nothing for: $m->{statement}",
		'let the statement count something that both builds have'
	) if $value{base} == 0;
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
		next unless $m->{reached};
		my $calls = $text =~ /^c?fn=\(\d+\) \Q$m->{reached}\E(?:'\d+)?$/m;
		fail(
			1,
			"the patched build does not call $m->{reached}",
			'the benchmark measures something else than it says'
		) if $key =~ /^patched/ && !$calls;
		fail(
			1,
			"the base build calls $m->{reached}",
			'name a function that only the patch has'
		) if $key =~ /^base/ && $calls;
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

=item read_results($config, @files)

Reads result files.  Which plots and which figures for the README there are is
not a matter of the run: that comes from the benchmark's meta.json.

=cut

sub read_results
{
	my ($config, @files) = @_;
	my @results = map { PgSeries::Report::read_result($_) } @files;
	for my $result (@results)
	{
		my $file = $config->top . "/benchmarks/$result->{bench}/meta.json";
		next unless -f $file;
		my $meta = slurp_json($file);
		$result->{$_} = $meta->{$_} || [] for qw(plots readme);
	}
	return @results;
}

=item report_command($context)

The command C<pgseries report>.

=back

=cut

sub report_command
{
	my ($c) = @_;
	my $config = $c->config;
	my $o = $c->{option};
	my $recorded = $config->top . '/benchmarks/results';
	my $from =
		$o->{readme}
	  ? $recorded
	  : $o->{results} || $config->build . '/results';
	my @files = sort glob "$from/*.json";
	fail(2, "there are no results in $from", 'run: pgseries bench all')
	  unless @files;
	my @results = read_results($config, @files);
	my @patches = $c->series->summaries;
	my $topics =
	  PgSeries::Report::read_topics($config->top . '/benchmarks/topics.json');

	if ($o->{readme})
	{
		PgSeries::Report::check_topics($topics, \@results, \@patches);
		my $file = $config->top . '/README.md';
		my $old = read_file($file);
		my $new = PgSeries::Report::update_readme($old, \@results, \@patches);
		if ($old eq $new)
		{
			return $c->say({ changed => 0 },
				'README.md: the table is current');
		}
		if ($o->{dry_run})
		{
			info(
				"pgseries: README.md: the table is not what benchmarks/results gives; run: pgseries report --readme"
			);
			return 1;
		}
		write_file($file, $new);
		return $c->say({ changed => 1 }, 'README.md: table updated');
	}
	my $text = PgSeries::Report::write_report(
		results => \@results,
		patches => \@patches,
		plots => $config->top . '/benchmarks',
		output => $config->build . '/report',
		source => $from,
		topics => $topics,
		complete => -d $recorded && abs_path($from) eq abs_path($recorded));
	return $c->say({ results => \@results }, $text);
}

1;
