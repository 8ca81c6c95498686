package PgSeries::Bench;

use strict;
use warnings FATAL => 'all';

use Encode                    qw(encode_utf8);
use File::Basename            qw(basename dirname);
use File::Glob                qw(:bsd_glob);
use JSON::PP                  ();
use List::Util                qw(first max min shuffle sum uniq);
use POSIX                     qw(strftime);
use PgSeries::Config          ();
use PgSeries::Report::Results qw(case_text figure fill_label medians
  ratio_text unit with_values);
use PgSeries::Server;
use PgSeries::Util
  qw(capture fail find_tool in_parallel info make_dir progress read_file run slurp_json write_file);

=pod

=head1 NAME

PgSeries::Bench - base against patched, in instructions, in time and in what can
be counted

=head1 DESCRIPTION

benchmarks/README.md describes what a benchmark consists of, doc/measure.md what is
checked before a case is measured, and how instructions and times are.

All raise a PgSeries::Error.

=cut

# Nothing here bears on plans: those are the ones that a user of PostgreSQL gets.
my %SETTINGS = (
	autovacuum => 'off',
	fsync => 'off',
	synchronous_commit => 'off',
	full_page_writes => 'off',
	shared_buffers => '256MB',
	max_wal_size => '4GB',
	checkpoint_timeout => '1h');

my @BUILDS = qw(base patched);

# The functions that callgrind counts in, with all that they call: the work, and
# the release of the locks.  What the loops do besides (copying the query, a
# subtransaction for each execution) is no part of a real statement.
my %COUNTED = (
	plan => [qw(pg_plan_queries ResourceOwnerRelease)],
	execute => [qw(SPI_execute_plan_extended ResourceOwnerRelease)]);

my %METHOD =
  (instructions => \&instructions, count => \&count, time => \&timing);

# The command pgseries bench.  Takes the context of the command line and names of
# benchmarks, or "all".  Writes a result file for each that has cases to measure.
# Returns the exit status: 1 if a case could not be measured or --gate is exceeded.
sub command
{
	my ($c, @names) = @_;
	my $o = $c->{option};
	my @chosen = check_arguments($c, @names);
	my $self = PgSeries::Bench->new($c,
		map { $_ => $o->{$_} } qw(pairs seconds seed output));
	my @measured = map { $self->benchmark(@$_) } @chosen;
	info("pgseries: $_->{what}: $_->{error}{message}; $_->{error}{remedy}")
	  for @{ $self->{failed} };
	$c->say(join '', map { one_line($_) } @measured);
	my $over = grep {
			 defined $o->{gate}
		  && $_->{method} eq 'instructions'
		  && $_->{ratio} > $o->{gate}
	} @measured;
	info(
		"pgseries: $over cases need more than $o->{gate} of base's instructions; see the lines above"
	) if $over;
	return $over || @{ $self->{failed} } ? 1 : 0;
}

# Returns what the command is to measure: [meta, cases], as benchmark() takes them, for
# each benchmark.  Raises an error for wrong names and options.
sub check_arguments
{
	my ($c, @names) = @_;
	my $o = $c->{option};
	check_options($o);
	my %meta = read_metas($c->config->top . '/benchmarks');
	my @meta = map { $meta{$_} } check_names([ sort keys %meta ], @names);
	my $filter = filter($o->{case}, @meta);
	my @chosen = grep { @$_ > 1 }
	  map { [ $_, cases($_, $o->{method}, $filter) ] } @meta;
	fail(
		2,
		'no case of ' . join(' ', map { $_->{name} } @meta) . ' matches',
		'see the values and methods in benchmarks/TOPIC/NAME/meta.json'
	) unless @chosen;
	my $counted = grep { $_->[0]{method} eq 'instructions' }
	  map { @{$_}[ 1 .. $#$_ ] } @chosen;
	fail(
		2,
		'the gate has nothing to judge: no instructions are counted',
		'leave out --method, or choose other cases'
	) if defined $o->{gate} && !$counted;
	check_valgrind() if $counted;
	return @chosen;
}

sub check_valgrind
{
	fail(2, 'valgrind is missing', 'run: ./configure --install-deps')
	  unless find_tool('valgrind', PgSeries::Config::PATH);
	return;
}

# Builds what is to be compared.  Options: "pairs" and "seconds" in place of the
# benchmark's own; "seed" of the order of runs; "output", a directory for the results
# (BUILD/results, for master BUILD/results/master); "scale", for the result (full).
sub new
{
	my ($class, $c, %opt) = @_;
	my %build = map { $_ => $c->builds->ensure($_) } @BUILDS;
	$c->builds->extension($build{$_}) for @BUILDS;
	my $config = $c->config;
	return bless {
		%opt,
		config => $config,
		build => \%build,
		base => $c->series->upstream->version,
		patched => $c->series->key($c->series->patches),
		output => make_dir(
				 $opt{output}
			  || $config->build
			  . '/results'
			  . ($config->base eq '18' ? '' : '/' . $config->base)),
		seed => ($opt{seed} // time % 1_000_000) + 0,
		failed => [],
		same_rows => 0,
	}, $class;
}

sub check_options
{
	my ($o) = @_;
	fail(
		2,
		"there is no method \"$o->{method}\"",
		'choose instructions, count or time'
	) if defined $o->{method} && !$METHOD{ $o->{method} };
	for my $key (qw(pairs seconds gate))
	{
		fail(2, "--$key=$o->{$key} is not positive", 'give a positive number')
		  if defined $o->{$key} && $o->{$key} <= 0;
	}
	fail(2, "cannot write to --output=$o->{output}", 'check its permissions')
	  if defined $o->{output} && !-w make_dir($o->{output});
	return;
}

# Returns the contents of all meta.json below the directory by the benchmark's name,
# with "name", "topic" and "dir" added.  Raises an error if one is not as
# benchmarks/README.md says.
sub read_metas
{
	my ($dir) = @_;
	my %meta;
	for my $file (sort glob("$dir/*/*/meta.json"))
	{
		my $meta = slurp_json($file);
		$meta->{dir} = dirname($file);
		$meta->{name} = basename($meta->{dir});
		$meta->{topic} = basename(dirname($meta->{dir}));
		fail(
			2,
			"two benchmarks are named \"$meta->{name}\"",
			"rename $meta->{dir}") if $meta{ $meta->{name} };
		for my $m (@{ $meta->{measures} })
		{
			fail(
				2,
				"$file: measure \"$m->{name}\" names no plan node",
				'say "node", or "node": null and "why"'
			) unless defined $m->{node} || defined $m->{why};
		}
		$meta{ $meta->{name} } = $meta;
	}
	return %meta;
}

# The names of benchmarks, "all" being replaced.
sub check_names
{
	my ($known, @names) = @_;
	fail(2, 'bench needs a name', "choose from: @$known, all") unless @names;
	return @$known if "@names" eq 'all';
	my %known = map { $_ => 1 } @$known;
	my ($bad) = grep { !$known{$_} } @names;
	fail(2, "there is no benchmark \"$bad\"", "choose from: @$known, all")
	  if defined $bad;
	return uniq @names;
}

# { NAME => [values] } of the option --case.  A misspelt name would filter nothing.
sub filter
{
	my ($cases, @meta) = @_;
	my %known = map { %{ $_->{values} || {} } }
	  map { ($_, @{ $_->{measures} }) } @meta;
	my %filter;
	for my $text (@{ $cases || [] })
	{
		my ($key, $value) = $text =~ /^(\w+)=(.*)$/
		  or fail(
			2,
			"--case=$text is not NAME=VALUE",
			'write, for example, --case=indexes=60');
		fail(
			2,
			"no case has a value named \"$key\"",
			'choose from: ' . join(', ', sort keys %known)
		) unless $known{$key};
		push @{ $filter{$key} }, $value;
	}
	return \%filter;
}

# What is to be measured of a benchmark: [measure, case] for each case, those of one
# database together.
sub cases
{
	my ($meta, $method, $filter) = @_;
	my @measures = grep { !defined $method || $_->{method} eq $method }
	  @{ $meta->{measures} };
	my @cases;
	for my $values (cross($meta->{values}))
	{
		for my $m (@measures)
		{
			push @cases,
			  map { [ $m, { %$values, %$_ } ] } cross($m->{values} || {});
		}
	}
	return grep {
		wanted($_->[1], $filter) && wanted($_->[1], $_->[0]{where} || {})
	} @cases;
}

# Measures cases of a benchmark, [measure, case], and writes the result file after
# each.  Returns what was measured, as in a result file.  A case that could not be
# measured costs no other; it is added to the object's list "failed", as { case,
# what, error }.
sub benchmark
{
	my ($self, $meta, @cases) = @_;
	my ($database, $failure, @series);
	local $self->{meta} = $meta;
	local $self->{server} = $self->servers;
	for (@cases)
	{
		my ($m, $case) = @$_;
		my %values = map { $_ => $case->{$_} } keys %{ $meta->{values} };
		my $what = "$meta->{name}: $m->{name} " . case_text($case);
		if (($database // '-') ne case_text(\%values))
		{
			progress("$what: setting up");
			$failure = eval { $self->set_up(\%values); 1 } ? undef : $@;
			$database = case_text(\%values);
		}
		my $measured = eval {
			die $failure if $failure;
			progress($what);
			push @series, $self->measure($m, $case);
			1;
		};
		if ($measured) { $self->write_result(@series); next; }
		my $error = $@;
		die $error unless ref $error && $error->{code} != 130;
		info($error->{detail}) if defined $error->{detail};
		push @{ $self->{failed} },
		  { case => $case, what => $what, error => $error };
	}
	$_->stop for values %{ $self->{server} };
	return @series;
}

# Two servers with empty clusters.
sub servers
{
	my ($self) = @_;
	my %server = map {
		$_ => PgSeries::Server->new(
			$self->{config},
			$self->{build}{$_},
			name => 'bench')
	} @BUILDS;
	$_->create for values %server;
	return \%server;
}

# Writes the result of the benchmark so far, as PgSeries::Report::Results reads it.
sub write_result
{
	my ($self, @series) = @_;
	my $meta = $self->{meta};
	my $file = "$self->{output}/$meta->{name}.json";
	my $result = {
		format => 1,
		bench => $meta->{name},
		scale => $self->{scale} || 'full',
		(map { $_ => $meta->{$_} } qw(title topic axis)),
		(map { $_ => $self->{$_} } qw(base patched seed)),
		date => strftime('%Y-%m-%dT%H:%M:%SZ', gmtime),
		machine => $self->{machine} ||= machine(),
		series => \@series,
	};
	keep_others($result, $file);
	write_file($file,
		JSON::PP->new->utf8->canonical->pretty->encode($result));
	return;
}

# Figures of an earlier run of the same series on the same machine stay with their
# date and seed, unless they were measured again.
sub keep_others
{
	my ($result, $file) = @_;
	return unless -f $file;
	my $old = slurp_json($file);
	my ($was, $is) = map {
		join "\0",
		  map { $_ // '' } @{$_}{qw(format base patched)},
		  @{ $_->{machine} }{qw(cpu cores compiler valgrind)}
	} $old, $result;
	if ($was ne $is)
	{
		rename $file, "$file.old"
		  or fail(2, "cannot rename $file: $!", 'check its permissions');
		info(
			"$file had figures of another series or machine: it is $file.old now"
		);
		return;
	}
	my $id = sub {
		my ($s) = @_;
		return join "\0", $s->{measure}, $s->{method}, case_text($s->{case});
	};
	my %again = map { $id->($_) => 1 } @{ $result->{series} };
	unshift @{ $result->{series} },
	  map { { date => $old->{date}, seed => $old->{seed}, %$_ } }
	  grep { !$again{ $id->($_) } } @{ $old->{series} };
	return;
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
	for my $name (grep { exists $case->{$_} } keys %$filter)
	{
		return 0
		  unless grep { "$_" eq "$case->{$name}" } @{ $filter->{$name} };
	}
	return 1;
}

# One database at a time, with the same name in both clusters.
sub set_up
{
	my ($self, $values) = @_;
	my $meta = $self->{meta};
	my $sql = read_file("$meta->{dir}/$meta->{setup}");
	my %set = %{ $meta->{settings} || {} };
	$_ = with_values($_, $values) for values %set;
	$_->{settings} = { %SETTINGS, %set } for values %{ $self->{server} };
	in_parallel(
		map {
			my $server = $_;
			sub {
				$server->start;
				$server->sql(
					"drop database if exists bench;\ncreate database bench;");
				$server->sql(
					"create extension pgseries_bench;\n$sql",
					database => 'bench',
					variables => $values);

				# VACUUM may set no hint bit, so mark no page all-visible, if a
				# commit in the same group of transactions is not flushed yet.  The
				# statements would do that later, at a time that depends on chance.
				$server->sql(
					"set synchronous_commit = on;\nvacuum analyze;\ncheckpoint;",
					database => 'bench');
				$server->stop;
			}
		} @{ $self->{server} }{@BUILDS});
	return;
}

# The figure of one case, as in a result file.
sub measure
{
	my ($self, $m, $case) = @_;
	$m = filled($m, $case);
	$self->check($m) if defined $m->{node};
	my %series = (
		measure => $m->{name},
		(map { $_ => $m->{$_} } qw(label method unit better)),
		case => $case,
		%{ $METHOD{ $m->{method} }->($self, $m, $case) });
	return { %series, ratio => figure(\%series)->{ratio} };
}

# The measure with the case's values filled in.
sub filled
{
	my ($m, $case) = @_;
	my %filled = (%$m, set => { %{ $m->{set} || {} } });
	$filled{set}{plan_cache_mode} = $case->{plan_cache_mode}
	  if defined $case->{plan_cache_mode};
	$_ = with_values($_, $case)
	  for grep { defined } @filled{qw(statement before explain)},
	  values %{ $filled{set} };
	my %shown = %$case;
	@shown{qw(low high)} = @{ $m->{iterations} || [] };
	$filled{label} = fill_label($m->{label}, \%shown);

	# What a user of PostgreSQL would not get by default.
	my %forced = %{ $filled{set} };
	delete $forced{plan_cache_mode} if defined $case->{plan_cache_mode};
	$forced{plan_cache_mode} = plan_cache_mode($m) if defined $m->{generic};
	my @forced = map { "$_ = $forced{$_}" } grep { !/\./ } sort keys %forced;
	$filled{label} .= ' (' . join(', ', @forced) . ')' if @forced;
	return \%filled;
}

sub plan_cache_mode
{
	my ($m) = @_;
	return $m->{generic} ? 'force_generic_plan' : 'force_custom_plan';
}

# Does the plan on both builds have the node that the measure is about, and are
# their rows the same?
sub check
{
	my ($self, $m) = @_;
	my (%plan, %rows);
	my $sql = check_sql($m);
	my $statement = in_line($m->{explain} // $m->{statement});
	for my $b (@BUILDS)
	{
		($rows{$b}, $plan{$b}) = split /^QUERY PLAN\n/m,
		  $self->ask($b, $sql) . "\n";
		fail(
			1,
			"the plan of $b has no \"$m->{node}\": $statement",
			'correct the setup of the benchmark, or its node',
			$plan{$b}) unless has_node($plan{$b}, $m->{node});
	}
	my $different = difference(@rows{@BUILDS});
	fail(
		1,
		"base and patched return different rows: $statement",
		"repeat it on servers of both builds, after $self->{meta}{dir}/$self->{meta}{setup}",
		"$sql\n$different") if defined $different;
	$self->{same_rows}++;
	return;
}

# What SQL prints on a freshly started server.
sub ask
{
	my ($self, $b, $sql) = @_;
	my $server = $self->{server}{$b};
	$server->start;
	my $out = $server->sql($sql, database => 'bench');
	$server->stop;
	return $out;
}

# SQL that prints the rows, "QUERY PLAN" and the plan.
sub check_sql
{
	my ($m) = @_;
	my %set = %{ $m->{set} };
	my $statement = $m->{explain} // $m->{statement};
	my $prepare = '';
	my $times = 1;

	# A stand-alone backend has no workers.
	$set{max_parallel_workers_per_gather} = 0
	  if $m->{method} eq 'instructions';
	if ($m->{kind} eq 'execute')
	{
		$prepare = "prepare checked as $statement;\n";
		$statement = 'execute checked';
		$statement .= '(' . quoted(@{ $m->{parameters} }) . ')'
		  if @{ $m->{parameters} || [] };

		# The plan must be the one that plan_cache_mode chooses in the end.
		if (defined $m->{generic})
		{
			$set{plan_cache_mode} = plan_cache_mode($m);
		}
		else { $times = $m->{iterations} ? $m->{iterations}[0] : 7; }
	}
	my $before = defined $m->{before} ? $m->{before} =~ s/$/;/gmr : '';
	return
		settings_sql(%set)
	  . "begin;\n\\o /dev/null\n$before\n\\o\n$prepare"
	  . "$statement;\n" x $times
	  . "\\echo QUERY PLAN\nexplain (costs off) $statement;\nrollback;\n";
}

sub quoted
{
	my (@values) = @_;
	return join ', ', map { "'$_'" } @values;
}

sub settings_sql
{
	my (%set) = @_;
	return join '', map { "set $_ = '$set{$_}';\n" } sort keys %set;
}

# A line of the plan must begin with the node, and its name end there: neither is an
# Append a Merge Append, nor a Gather a Gather Merge.
sub has_node
{
	my ($plan, $node) = @_;
	return ($plan // '') =~ /^\s*(?:->\s+)?\Q$node\E(?!\w| [A-Z])/m;
}

sub in_line
{
	my ($text) = @_;
	return $text =~ s/\s*\n\s*/ /gr;
}

# The first row that differs, or undef.
sub difference
{
	my ($base, $patched) = map { [ split /\n/, $_ // '', -1 ] } @_;
	my $i =
	  first { ($base->[$_] // "\n") ne ($patched->[$_] // "\n") }
	  0 .. max($#$base, $#$patched);
	return unless defined $i;
	my @rows = map { $_->[$i] // '(there is none)' } $base, $patched;
	return sprintf "row %d, base: %s\nrow %1\$d, patched: %3\$s", $i + 1,
	  @rows;
}

# The call of the loop in the backend.
sub loop_sql
{
	my ($m, $iterations) = @_;
	my $text = with_values($m->{statement}, { iterations => $iterations });
	return $text if $m->{kind} eq 'loop';
	return join "\n", ($text) x $iterations if $m->{kind} eq 'repeat';
	my $call =
	  "pgseries_bench_$m->{kind}(\$statement\$$text\$statement\$, $iterations";
	$call .=
		', array['
	  . quoted(@{ $m->{parameters} || [] })
	  . ']::text[], '
	  . (!defined $m->{generic} ? 'null' : $m->{generic} ? 'true' : 'false')
	  if $m->{kind} eq 'execute';
	return "select iterations, nanoseconds from $call)";
}

# The cost of one iteration in stand-alone backends.  Both builds run at the same
# time, each in its own process.
sub instructions
{
	my ($self, $m) = @_;
	my ($low, $high) = @{ $m->{iterations} };
	my $set = settings_sql(%{ $m->{set} }) =~ s/;$//mgr;
	$set .= "$m->{before}\n" if defined $m->{before};
	my @counted = map { "--toggle-collect=$_" }
	  @{ $m->{counted} || $COUNTED{ $m->{kind} } };
	my $file = sub {
		my ($b, $count) = @_;
		return $self->{server}{$b}->data . "/callgrind-$count.out";
	};
	my $total = sub {
		my ($text) = map { read_file($_) } $file->(@_);
		return ($text =~ /^(?:summary|totals): (\d+)/m)[0]
		  // fail(2, $file->(@_) . ' has no total', 'run it again');
	};
	in_parallel(
		map {
			my $b = $_;
			sub {
				for my $count ($low, $high)
				{
					unlink $file->($b, $count);
					$self->{server}{$b}->single_user(
						$set . loop_sql($m, $count) . "\n",
						database => 'bench',
						wrapper => [
							qw(valgrind --tool=callgrind --quiet),
							@counted,
							'--callgrind-out-file=' . $file->($b, $count)
						]);
				}
			}
		} @BUILDS);
	my %figure = map {
		$_ => [ ($total->($_, $high) - $total->($_, $low)) / ($high - $low) ]
	} @BUILDS;
	return { %figure, iterations => [ $low, $high ] };
}

# What the statement returns, in a fresh session.
sub count
{
	my ($self, $m) = @_;
	my %figure;
	for my $b (@BUILDS)
	{
		my $out =
		  $self->ask($b, settings_sql(%{ $m->{set} }) . $m->{statement});
		fail(
			1,
			"$b counts nothing for: " . in_line($m->{statement}),
			'let the statement return one positive number on both builds',
			$out) unless $out =~ /^\d+(?:\.\d+)?\z/ && $out > 0;
		$figure{$b} = [ $out + 0 ];
	}
	return \%figure;
}

sub timing
{
	my ($self, $m, $case) = @_;
	my $rounds = $self->{pairs} || $self->{meta}{pairs};
	my (@pairs, @aa);
	for my $round (1 .. $rounds)
	{
		srand $self->{seed} + $round;
		my @order = shuffle(qw(base patched again));
		my %value;
		for my $which (@order)
		{
			my $b = $which eq 'patched' ? 'patched' : 'base';
			progress("$m->{name}: round $round of $rounds, $b");
			$value{$which} = $self->one_time($b, $m, $case);
		}
		push @pairs,
		  {
			order => join('', map { substr $_, 0, 1 } @order),
			map { $_ => $value{$_} } @BUILDS
		  };
		push @aa, { first => $value{base}, second => $value{again} };
	}
	return { pairs => \@pairs, aa => \@aa };
}

# One figure from a freshly started server: transactions per second, or the
# nanoseconds of an iteration in the second of two calls.
sub one_time
{
	my ($self, $b, $m, $case) = @_;
	return $self->pgbench($b, $m, $case) if $m->{kind} eq 'pgbench';
	my $call = loop_sql($m, $m->{loop} || 1000);
	my $out =
	  $self->ask($b, settings_sql(%{ $m->{set} }) . "$call;\n$call;");
	my ($n, $ns) = $out =~ /^(\d+)\|(\d+)\z/m
	  or
	  fail(2, 'the loop printed no figures', 'correct the statement', $out);
	return $ns / $n;
}

# Transactions per second.  At first, a connection fills its caches and makes its
# plans.  That is not counted: the figure is the mean of the last seconds.
sub pgbench
{
	my ($self, $b, $m, $case) = @_;
	my $server = $self->{server}{$b};
	my $seconds = $self->{seconds} || $self->{meta}{seconds} || 1;
	my $warmup = 2;
	my @values = map { ('-D', "$_=$case->{$_}") }
	  grep { $case->{$_} =~ /^-?\d+$/ } sort keys %$case;
	my $clients = $case->{clients} || 2;
	my %set = %{ $m->{set} };

	# The script is copied: the checkout may be out of the user's reach.
	my $script = "$server->{build}{log}/$m->{name}.sql";
	write_file($script,
		defined $m->{script}
		? read_file("$self->{meta}{dir}/$m->{script}")
		: "$m->{statement};\n");
	$server->start;
	run($server->as_client(
			[
				qw(pgbench -n -P 1 -T),
				$warmup + int($seconds + 0.999),
				'-c' => $clients,
				'-j' => $clients,
				'-M' => $case->{protocol} || 'simple',
				@values,
				'-f' => $script,
				'bench'
			],
			env => {
				PGOPTIONS => join ' ',
				map { "-c $_=$set{$_}" } sort keys %set
			},
			out => \my $summary,
			err => \my $out,
			code => 1,
			what => "pgbench on $server->{build}{name}"));
	my ($latency) = $summary =~ /^latency average = ([\d.]+) ms/m;

	# In a second, a few slow queries end or one more: there the latency is exact.
	my @tps;
	while ($out =~ /^progress: .*?, ([\d.]+) tps, lat ([\d.]+|-?nan) ms/mg)
	{
		my ($tps, $lat) = ($1, $2);
		$tps = 1000 * $clients / $lat if $tps < 1000 && $lat =~ /[1-9]/;
		push @tps, $tps;
	}
	$server->stop;
	splice @tps, 0, min($warmup, $#tps);
	fail(1, 'pgbench printed no tps', "see $server->{log}", $out) unless @tps;

	# In some seconds, none of the slowest queries ends.
	return 1000 * $clients / $latency if $latency && $latency > 1000;
	return sum(@tps) / @tps;
}

sub machine
{
	my ($cpuinfo, $meminfo) =
	  map { read_file($_) } qw(/proc/cpuinfo /proc/meminfo);
	my $env = { PATH => PgSeries::Config::PATH };
	my ($cpu) = $cpuinfo =~ /^model name\s*:\s*(.*)$/m;
	my ($memory) = $meminfo =~ /^MemTotal:\s*(\d+)/m;
	return {
		cpu => $cpu // 'unknown',
		cores => scalar(my @cores = $cpuinfo =~ /^processor\s*:/mg),
		memory_kb => $memory + 0,
		kernel => capture([qw(uname -sr)]),
		compiler =>
		  (split /\n/, capture([qw(gcc --version)], env => $env))[0],
		valgrind => find_tool('valgrind', PgSeries::Config::PATH)
		? capture([qw(valgrind --version)], env => $env)
		: 'none',
	};
}

# A figure for the terminal, with its newline.
sub one_line
{
	my ($s) = @_;
	my $figure = figure($s);
	my ($base, $patched) = medians($s, $figure);
	return encode_utf8(
		sprintf "%s (%s): %s -> %s, %s, ratio %s: %s\n", $s->{measure},
		case_text($s->{case}), $base,
		$patched, unit($s),
		ratio_text($s, $figure), $figure->{verdict});
}

1;
