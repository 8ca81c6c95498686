package PgSeries::Bench;

use strict;
use warnings FATAL => 'all';

use File::Basename            qw(basename dirname);
use File::Glob                qw(:bsd_glob);
use JSON::PP                  ();
use List::Util                qw(first shuffle sum uniq);
use POSIX                     qw(strftime);
use PgSeries::Config          ();
use PgSeries::Report::Results qw(figure grouped);
use PgSeries::Server;
use PgSeries::Util
  qw(capture fail find_tool in_parallel info make_dir progress read_file run slurp_json write_file);

=pod

=head1 NAME

PgSeries::Bench - base against patched, in instructions, in time and in what can
be counted

=head1 DESCRIPTION

benchmarks/README.md describes what a benchmark consists of.  Before a case is
measured, EXPLAIN must show the plan node that the measure is about, under its
settings, and the statement must return the same rows, on both builds.

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

=head2 Text

meta.json is decoded, and encoded again at once: all text here is bytes, as it
goes to programs, files and the terminal.

=head1 FUNCTIONS

All raise a L<PgSeries::Error>.

=over

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

=item command($context, @names)

The command C<pgseries bench>.  Takes the context of the command line and names of
benchmarks, or "all".  Writes a result file for each that has cases to measure.
Returns the exit status: 1 if a case could not be measured or C<--gate> is exceeded.
Raises an error for wrong names and options before anything is built.

=cut

sub command
{
	my ($c, @names) = @_;
	my $o = $c->{option};
	check_options($o);
	my %meta = read_metas($c->config->top . '/benchmarks');
	my @meta = map { $meta{$_} } check_names([ sort keys %meta ], @names);
	my $filter = filter($o->{case}, @meta);
	my %databases =
	  map { $_->{name} => [ databases($_, $o->{method}, $filter) ] } @meta;
	check_chosen($o->{gate}, \%databases);

	my $self = PgSeries::Bench->new($c,
		map { $_ => $o->{$_} } qw(pairs seconds seed output));
	my @measured;
	for my $meta (grep { @{ $databases{ $_->{name} } } } @meta)
	{
		push @measured,
		  $self->benchmark($meta, @{ $databases{ $meta->{name} } });
	}
	info("pgseries: $_->{what}: $_->{error}{message}; $_->{error}{remedy}")
	  for @{ $self->{failed} };
	$c->say(join '', map { one_line($_) . "\n" } @measured);
	my $status = defined $o->{gate} ? gate($o->{gate}, @measured) : 0;
	return @{ $self->{failed} } ? 1 : $status;
}

=item new($context, %options)

Builds what is to be compared.  Options: C<pairs>, C<seconds> and C<runs> in place of
the benchmark's own; C<seed> of the order of runs; C<output>, a directory for the
results (BUILD/results).

=cut

sub new
{
	my ($class, $c, %opt) = @_;
	my %build = map { $_ => $c->builds->ensure($_) } @BUILDS;
	$c->builds->extension($build{$_}) for @BUILDS;
	my $config = $c->config;
	my $seed = $opt{seed} // time % 1_000_000;
	return bless {
		%opt,
		config => $config,
		build => \%build,
		base => $c->series->upstream->actual_version,
		patched => $c->series->key($c->series->patches),
		output => make_dir($opt{output} || $config->build . '/results'),
		seed => $seed + 0,
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
	my %remedy = (
		pairs => 'say how many pairs to measure',
		seconds => 'say how long a timed run is to be',
		gate => 'give a share of base, such as --gate=1.01');
	for my $key (sort keys %remedy)
	{
		fail(2, "--$key=$o->{$key} is not positive", $remedy{$key})
		  if defined $o->{$key} && $o->{$key} <= 0;
	}
	fail(
		2,
		"--seed=$o->{seed} is not a seed",
		'choose an integer from 0 to 2147483647'
	) if defined $o->{seed} && ($o->{seed} < 0 || $o->{seed} > 0x7FFFFFFF);
	return;
}

=item read_metas($directory)

Returns the contents of all meta.json below the directory by the benchmark's name,
with C<name>, C<topic> and C<dir> added.  Raises an error if one is not as described
above.

=cut

sub read_metas
{
	my ($dir) = @_;
	my %meta;
	for my $file (sort glob("$dir/*/*/meta.json"))
	{
		my $meta = as_bytes(slurp_json($file));
		fail(2, "$file is not an object", 'correct it')
		  unless ref $meta eq 'HASH';
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

# The data with all strings encoded.
sub as_bytes
{
	my ($data) = @_;
	return JSON::PP->new->decode(JSON::PP->new->utf8->encode($data));
}

# The names of benchmarks, "all" being replaced.
sub check_names
{
	my ($known, @names) = @_;
	fail(2, 'bench needs a name', "choose from: @$known, all") unless @names;
	return @$known if "@names" eq 'all';
	for my $name (@names)
	{
		fail(
			2,
			"there is no benchmark \"$name\"",
			"choose from: @$known, all") unless grep { $_ eq $name } @$known;
	}
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

# What is to be measured of a benchmark: { values, cases => [[measure, case], ..] }
# for each database that is needed.
sub databases
{
	my ($meta, $method, $filter) = @_;
	my @measures = grep { !defined $method || $_->{method} eq $method }
	  @{ $meta->{measures} };
	my @databases;
	for my $values (cross($meta->{values}))
	{
		my @cases;
		for my $m (@measures)
		{
			push @cases, map { [ $m, $_ ] }
			  grep { wanted($_, $filter) && wanted($_, $m->{where} || {}) }
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
		'see the values and methods in benchmarks/TOPIC/NAME/meta.json'
	) if @without == @names;
	info("left out, as no case matches: @without") if @without;
	my $counted = grep { $_->[0]{method} eq 'instructions' }
	  map { @{ $_->{cases} } } map { @$_ } values %$databases;
	fail(
		2,
		'the gate has nothing to judge: no instructions are counted',
		'leave out --method, or choose other cases'
	) if defined $gate && !$counted;
	check_valgrind() if $counted;
	return;
}

sub check_valgrind
{
	fail(2, 'valgrind is missing', 'run: ./configure --install-deps')
	  unless find_tool('valgrind', PgSeries::Config::PATH);
	return;
}

# The exit status.
sub gate
{
	my ($gate, @measured) = @_;
	my $over = grep { $_->{method} eq 'instructions' && $_->{ratio} > $gate }
	  @measured;
	info(
		"pgseries: $over cases need more than $gate of base's instructions; see the lines above"
	) if $over;
	return $over ? 1 : 0;
}

=item benchmark($meta, @databases)

Measures cases of a benchmark: C<< { values, cases => [[measure, case], ..] } >> for
each database.  Writes the result file after each.  Returns what was measured, as in a
result file.  A case that could not be measured is added to the object's list
C<failed>, as C<< { measure, case, what, error } >>.

=cut

sub benchmark
{
	my ($self, $meta, @databases) = @_;
	my @series;
	local $self->{meta} = $meta;
	local $self->{server} = $self->servers;
	for my $database (@databases)
	{
		my ($values, @cases) = ($database->{values}, @{ $database->{cases} });
		my $text = case_text($values);
		progress("$meta->{name}: setting up $text");
		my $ready = $self->attempt("$meta->{name}: setup $text",
			\@cases, sub { $self->set_up($values); 1 });
		for my $case ($ready ? @cases : ())
		{
			my ($m, $of) = @$case;
			$text = "$meta->{name}: $m->{name} " . case_text($of);
			$self->{on_case}->($m) if $self->{on_case};
			progress($text);
			my $s =
			  $self->attempt($text, [$case], sub { $self->measure($m, $of) })
			  or next;
			push @series, $s;
			$self->write_result(@series);
		}
	}
	$_->stop for values %{ $self->{server} };
	return @series;
}

# Runs the code.  An error that is about these cases must not cost the others.
sub attempt
{
	my ($self, $what, $cases, $code) = @_;
	my $value = eval { $code->() };
	return $value if defined $value;
	my $error = $@;
	die $error unless ref $error && $error->{code} != 130;
	info($error->{detail}) if defined $error->{detail};
	push @{ $self->{failed} }, map {
		{
			measure => $_->[0]{name},
			case => $_->[1],
			what => $what,
			error => $error
		}
	} @$cases;
	return;
}

sub case_text
{
	my ($case) = @_;
	return join ' ', map { "$_=$case->{$_}" } sort keys %$case;
}

# Two servers with empty clusters.
sub servers
{
	my ($self) = @_;
	my %server;
	for my $b (@BUILDS)
	{
		$server{$b} = PgSeries::Server->new(
			$self->{config},
			$self->{build}{$b},
			name => 'bench');
		$server{$b}->create;
	}
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
		(map { $_ => $meta->{$_} } qw(title topic source axis)),
		(map { $_ => $self->{$_} } qw(base patched seed)),
		date => strftime('%Y-%m-%dT%H:%M:%SZ', gmtime),
		machine => $self->{machine} ||= machine(),
		series => \@series,
	};
	keep_others($result, $file);
	write_file($file, JSON::PP->new->canonical->pretty->encode($result));
	return;
}

# Figures of an earlier run of the same series on the same machine stay with their
# date and seed, unless they were measured again.
sub keep_others
{
	my ($result, $file) = @_;
	return unless -f $file;
	my $old = as_bytes(slurp_json($file));
	for my $key (qw(format base patched cpu cores compiler valgrind))
	{
		my ($was, $is) =
		  map { $_->{$key} // $_->{machine}{$key} // 'not known' } $old,
		  $result;
		next if $was eq $is;
		rename $file, "$file.old"
		  or fail(2, "cannot rename $file: $!", 'check its permissions');
		info("$file had figures of another $key: $was; it is $file.old now");
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
	my %shown = map { $_ => grouped($case->{$_}) } keys %$case;
	@shown{qw(low high)} = @{ $m->{iterations} || [] };
	$filled{label} = with_values($m->{label}, \%shown);

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

# The text with the case's value for each :NAME.
sub with_values
{
	my ($text, $case) = @_;
	return $text =~ s/(?<!:):(\w+)/$case->{$1} \/\/ ":$1"/ger;
}

# Does the plan on both builds have the node that the measure is about, and are
# their rows the same?
sub check
{
	my ($self, $m) = @_;
	my (%plan, %rows);
	my $sql = check_sql($m);
	for my $b (@BUILDS)
	{
		my $server = $self->{server}{$b};
		$server->start;
		($rows{$b}, $plan{$b}) = split /^QUERY PLAN\n/m,
		  $server->sql($sql, database => 'bench') . "\n";
		$server->stop;
		fail(
			1,
			"the plan of $b has no \"$m->{node}\": "
			  . in_line($m->{explain} // $m->{statement}),
			'correct the setup of the benchmark, or its node',
			$plan{$b}) unless has_node($plan{$b}, $m->{node});
	}
	my $different = difference(@rows{@BUILDS});
	fail(
		1,
		"base and patched return different rows: "
		  . in_line($m->{explain} // $m->{statement}),
		"repeat it on servers of both builds, after $self->{meta}{dir}/$self->{meta}{setup}",
		"$sql\n$different") if defined $different;
	$self->{same_rows}++;
	return;
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
	for my $i (0 .. ($#$base > $#$patched ? $#$base : $#$patched))
	{
		my ($b, $p) = map { $_->[$i] // '(there is none)' } $base, $patched;
		return sprintf "row %d, base: %s\nrow %d, patched: %s", $i + 1, $b,
		  $i + 1, $p
		  if $b ne $p;
	}
	return;
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

sub instructions
{
	my ($self, $m) = @_;
	my ($low, $high) = @{ $m->{iterations} };
	my %figure;
	for (1 .. $self->{runs} || $self->{meta}{runs} || 1)
	{
		my %total = $self->callgrind($m, $low, $high);
		push @{ $figure{$_} },
		  ($total{"$_/$high"} - $total{"$_/$low"}) / ($high - $low)
		  for @BUILDS;
	}
	return { %figure, iterations => [ $low, $high ] };
}

# What the statement returns, in a fresh session.
sub count
{
	my ($self, $m) = @_;
	my %figure;
	for my $b (@BUILDS)
	{
		my $server = $self->{server}{$b};
		$server->start;
		my $out = $server->sql(settings_sql(%{ $m->{set} }) . $m->{statement},
			database => 'bench');
		$server->stop;
		fail(
			1,
			"$b counts nothing for: " . in_line($m->{statement}),
			'let the statement return one positive number on both builds',
			$out) unless $out =~ /^\d+(?:\.\d+)?\z/ && $out > 0;
		$figure{$b} = [ $out + 0 ];
	}
	return \%figure;
}

# Total instructions of a stand-alone backend, { "BUILD/COUNT" => n }.  Both
# builds run at the same time, each in its own process.
sub callgrind
{
	my ($self, $m, @counts) = @_;
	my (%total, %file, @jobs);
	my $set = settings_sql(%{ $m->{set} }) =~ s/;$//mgr;
	$set .= "$m->{before}\n" if defined $m->{before};
	my @counted = map { "--toggle-collect=$_" }
	  @{ $m->{counted} || $COUNTED{ $m->{kind} } };
	for my $b (@BUILDS)
	{
		my $server = $self->{server}{$b};
		$file{"$b/$_"} = $server->data . "/callgrind-$_.out" for @counts;
		push @jobs, sub {
			for my $count (@counts)
			{
				unlink $file{"$b/$count"};
				$server->single_user(
					$set . loop_sql($m, $count) . "\n",
					database => 'bench',
					wrapper => [
						qw(valgrind --tool=callgrind --quiet),
						@counted,
						"--callgrind-out-file=" . $file{"$b/$count"}
					]);
			}
		};
	}
	in_parallel(@jobs);
	for my $key (keys %file)
	{
		($total{$key}) =
			 read_file($file{$key}) =~ /^(?:summary|totals): (\d+)/m
		  or fail(2, "$file{$key} has no total", 'run it again');
	}
	return %total;
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

# One figure from a freshly started server.
sub one_time
{
	my ($self, $b, $m, $case) = @_;
	my $server = $self->{server}{$b};
	$server->start;
	my $value;
	if ($m->{kind} eq 'pgbench')
	{
		$value = $self->pgbench($server, $m, $case);
	}
	else
	{
		my $call = loop_sql($m, $m->{loop} || 1000);
		my $out =
		  $server->sql(settings_sql(%{ $m->{set} }) . "$call;\n$call;",
			database => 'bench');
		my ($n, $ns) = (split /\n/, $out)[-1] =~ /^(\d+)\|(\d+)/
		  or
		  fail(2, 'the loop printed no figures', "see $server->{log}", $out);
		$value = $ns / $n;
	}
	$server->stop;
	return $value + 0;
}

# Transactions per second.  At first, a connection fills its caches and makes its
# plans.  That is not counted: the figure is the mean of the last seconds.
sub pgbench
{
	my ($self, $server, $m, $case) = @_;
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
	run([
			"$server->{build}{bin}/pgbench",
			qw(-n -P 1 -T),
			$warmup + int($seconds + 0.999),
			'-c' => $clients,
			'-j' => $clients,
			'-M' => $case->{protocol} || 'simple',
			@values,
			'-f' => $script,
			'bench'
		],
		env => {
			%{ $server->environment },
			PGOPTIONS => join ' ',
			map { "-c $_=$set{$_}" } sort keys %set
		},
		user => $self->{config}->user,
		out => \my $ignored,
		err => \my $out,
		code => 1,
		what => "pgbench on $server->{build}{name}");
	my @tps = $out =~ /^progress: .*?, ([\d.]+) tps/mg;
	splice @tps, 0, $#tps < $warmup ? $#tps : $warmup;
	fail(1, 'pgbench printed no tps', "see $server->{log}", $out) unless @tps;
	return sum(@tps) / @tps;
}

sub machine
{
	my ($cpuinfo, $meminfo) =
	  map { -f $_ ? read_file($_) : '' } qw(/proc/cpuinfo /proc/meminfo);
	my $env = { PATH => PgSeries::Config::PATH };
	return {
		cpu => first { defined } $cpuinfo =~ /^model name\s*:\s*(.*)$/m,
		'unknown',
		cores => scalar(my @cores = $cpuinfo =~ /^processor\s*:/mg),
		memory_kb => 0 +
		  (first { defined } $meminfo =~ /^MemTotal:\s*(\d+)/m, 0),
		kernel => capture([qw(uname -sr)]),
		compiler =>
		  (split /\n/, capture([qw(gcc --version)], env => $env))[0],
		valgrind => find_tool('valgrind', PgSeries::Config::PATH)
		? capture([qw(valgrind --version)], env => $env)
		: 'none',
	};
}

sub one_line
{
	my ($s) = @_;
	my $figure = figure($s);
	my $line = sprintf '%-20s %-42s %12.0f -> %12.0f %s, ratio %.3f',
	  $s->{measure}, case_text($s->{case}),
	  (map { $figure->{$_}[0] } @BUILDS), $s->{unit}, $figure->{ratio};
	return $line if $s->{method} ne 'time';
	my $interval =
	  defined $figure->{lo}
	  ? sprintf '[%.3f, %.3f]', @{$figure}{qw(lo hi)}
	  : '[too few pairs]';
	return "$line $interval: $figure->{verdict}";
}

=back

=cut

1;
