package PgSeries::Plans;

use strict;
use warnings FATAL => 'all';

use File::Path qw(remove_tree);
use PgSeries::Server;
use PgSeries::Util qw(fail info make_dir read_file slurp_json write_file);

=pod

=head1 NAME

PgSeries::Plans - does the series change any plan?

=head1 DESCRIPTION

The regression suite of plain upstream runs on both builds, one test at a time, with
auto_explain logging every plan, verbose, with costs, those of nested statements, too.
The logs are compared plan by plan.  What a plan says must not depend on chance:
autovacuum and JIT are off, and the numbers of temporary schemas and all constants are
masked.  What is left (the sizes of GiST and SP-GiST indexes, and statistics from
samples) varies between runs of the same build, too.  Therefore, where plans differ,
both builds run again, up to six times, and a plan counts as different only if no run
of patched has it as some run of base does.  A statement that one build never planned
counts, too, unless the other did not plan it in every run either.

Plans that a topic changes by intention are listed in src/qa/plans-expected.json, by
test, query, and number among the equal queries of the test.  Queries on the catalogs
get other costs from patches that add rows to them: then, plans that read catalogs are
counted, but not taken for a finding.

=cut

my %SETTINGS = (
	session_preload_libraries => 'auto_explain',
	'auto_explain.log_min_duration' => 0,
	'auto_explain.log_verbose' => 'on',
	'auto_explain.log_nested_statements' => 'on',
	log_line_prefix => '[%a] ',
	log_min_messages => 'log',
	log_checkpoints => 'off',
	log_error_verbosity => 'terse',
	autovacuum => 'off',
	jit => 'off',
	fsync => 'off',
	shared_buffers => '128MB',
	max_wal_size => '8GB',
	checkpoint_timeout => '1h');

use constant ROUNDS => 6;

# The command pgseries check --plans.  Exit status 1 if a plan differs.
sub compare
{
	my ($c) = @_;
	my @builds = qw(base patched);
	my @patches = $c->series->patches;
	my %expected = expected_keys($c);
	my $catalogs = changes_catalogs(@patches);

	# { build => { key => { plan => 1 } } }
	my (%seen, %runs, @differ, @unexpected, @on_catalogs);
	for my $round (1 .. ROUNDS)
	{
		for my $name (@builds)
		{
			info("plans: regression suite on $name, round $round");
			my $plans = run_suite($c, $name);
			for (keys %$plans)
			{
				$seen{$name}{$_}{ $plans->{$_} } = 1;
				$runs{$_}++;
			}
		}
		@differ = disjoint(@seen{@builds}, \%runs, $round);
		@on_catalogs = grep {
			my $key = $_;
			$catalogs && grep { / on pg_catalog\./ }
			  map { keys %{ $_->{$key} || {} } } values %seen;
		} @differ;
		my %left_out = (%expected, map { $_ => 1 } @on_catalogs);
		@unexpected = grep { !$left_out{$_} } @differ;
		last unless @unexpected;
		info(   'plans: '
			  . @unexpected
			  . ' differ so far that are not expected to');
	}
	my $file = $c->config->build . '/plans.diff';
	my $text = '';
	for my $key (@unexpected)
	{
		$text .= "$key\n";
		for my $name (@builds)
		{
			my @plans = sort keys %{ $seen{$name}{$key} || {} };
			$text .= "--- $name\n$_\n"
			  for @plans ? @plans : '(never planned)';
		}
	}
	write_file($file, $text);
	my $base = $seen{ $builds[0] };
	my $unstable = grep { keys %$_ > 1 } values %$base;
	$c->say(
		sprintf
		  '%d plans compared, %d differ between %s and %s: %d that are not expected to, %d that read system catalogs, whose size the patches change (%d vary between runs of the former)',
		scalar keys %$base,
		scalar @differ,
		@builds,
		scalar @unexpected,
		scalar @on_catalogs, $unstable);
	info("pgseries: plans differ: see $file; rerun the same command")
	  if @unexpected;
	return @unexpected ? 1 : 0;
}

# The keys of plans that the patches change by intention, listed by topic.
sub expected_keys
{
	my ($c) = @_;
	my $list = slurp_json($c->config->top . '/src/qa/plans-expected.json');
	return map { $_ => 1 } map { @$_ } values %$list;
}

# Do patches add to the system catalogs as initdb makes them?
sub changes_catalogs
{
	my (@patches) = @_;
	return scalar grep {
		read_file($_->{path}) =~
		  m{^\+\+\+ b/src/(?:include/catalog/\S+\.dat|backend/catalog/\S+\.sql)$}m
	} @patches;
}

# The keys for which no plan of one build was ever seen on the other.  $runs says
# in how many runs, of $rounds on each build, a key was seen.
sub disjoint
{
	my ($x, $y, $runs, $rounds) = @_;
	return grep {
		my $key = $_;
		$x->{$key} && $y->{$key}
		  ? !grep { $y->{$key}{$_} } keys %{ $x->{$key} }
		  : $runs->{$key} >= $rounds
	} sort keys %$runs;
}

# The plans of one run: { "TEST #n\nquery" => plan }, where n counts equal queries
# of the test.
sub run_suite
{
	my ($c, $name) = @_;
	my $b = $c->builds->ensure($name);
	my $server = PgSeries::Server->new(
		$c->config, $b,
		name => 'plans',
		settings => \%SETTINGS);
	$server->create;
	$server->start;
	regression_suite($c, $b, $server, "$b->{log}/plans.log",
		'--max-connections=1');
	$server->stop;
	my $plans = parse_log($server->log);
	my $count = keys %$plans;
	fail(2, "only $count plans were logged on $name", 'see ' . $server->log)
	  if $count < 1000;
	return $plans;
}

# Runs plain upstream's regression suite, by pg_regress with the options, on a running
# server of a build; what it leaves is in the database "regression".  Tests may fail,
# but a suite that does not run to its end raises an error.
sub regression_suite
{
	my ($c, $b, $server, $log, @options) = @_;
	my $config = $c->config;
	my $regress = "$b->{build}/src/test/regress";
	my $input = $c->builds->ensure('base')->{src} . '/src/test/regress';

	# The same paths for all runs: they get into the catalogs, and their length
	# into the size of pg_proc and so into costs.
	my $dir = make_dir($config->work . '/plans', $config->caller);
	remove_tree("$dir/output");
	make_dir("$dir/output/testtablespace");
	make_dir($_, $config->user)
	  for "$dir/output/testtablespace", "$dir/output";
	unlink "$dir/lib";
	symlink $regress,
	  "$dir/lib"
	  or fail(
		2,
		"cannot make the link $dir/lib: $!",
		'check who owns it, or remove it, then run again');
	unlink $log;

	# Some tests fail because their expected output counts on autovacuum or on
	# an unchanged log; that does not matter here.
	$server->client(
		[
			"$regress/pg_regress",
			"--bindir=$b->{bin}",
			"--dlpath=$dir/lib",
			"--inputdir=$input",
			"--expecteddir=$input",
			"--outputdir=$dir/output",
			'--max-concurrent-tests=20',
			"--schedule=$input/parallel_schedule",
			@options
		],
		env => { PGDATABASE => undef },
		log => $log);
	fail(
		2,
		"the regression suite did not run to its end on $b->{name}",
		"see $log and " . $server->log)
	  unless read_file($log) =~
	  /^# .*\d+ tests (?:passed|failed)|All \d+ tests passed|^1\.\.\d+/m;
	return;
}

# Returns the plans in a server log written with the settings above.
sub parse_log
{
	my ($file) = @_;
	my (%plan, %seen);
	for (split /\n(?!\t)/, read_file($file))
	{
		my ($test, $text) =
		  /^\[([^\]]*)\] LOG:  duration: [\d.]+ ms  plan:\n(.*)/s
		  or next;
		$text =~ s/^\t//gm;
		$text =~ s/\b(pg_(?:toast_)?temp)_\d+/$1_N/g;
		my ($query, $plan) = split /\n(?=\S.*\(cost=\d)/, $text, 2;

		# Constants hold times of day and random numbers, and in queries also
		# what psql has put in from a query before; memory is EXPLAIN
		# ANALYZE's; in what a node returns, numbers may be process numbers or drawn
		# by lot.  Nodes, costs, rows, columns and conditions remain.
		$plan //= '';
		$plan =~ s/'[^']*+'(?:'[^']*+')*+/'C'/g;
		$plan =~ s/Memory(?: Usage)?: \d+kB/Memory: N/g;
		$plan =~
		  s/^(\s*Output:.*)$/$1 =~ s{(?<![\w.\$])\d+(?![\w.])}{N}gr/gem;
		$query =~ s/\d+/N/g;
		$query =~ s{'/[^']*/}{'}g;    # directories of the run
		my $n = ++$seen{"$test\n$query"};
		$plan{"$test #$n\n$query"} = $plan;
	}
	return \%plan;
}

1;
