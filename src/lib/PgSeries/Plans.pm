package PgSeries::Plans;

use strict;
use warnings FATAL => 'all';

use PgSeries::Server;
use PgSeries::Util qw(fail info make_dir read_file run_status write_file);

=pod

=head1 NAME

PgSeries::Plans - does the series change any plan?

=head1 DESCRIPTION

The regression suite of plain upstream runs on base and on patched, one test at
a time, with auto_explain logging every plan, verbose, with costs, those of
nested statements, too.  The logs are compared plan by plan.

What a plan says must not depend on chance: autovacuum and JIT are off, and the
numbers of temporary schemas are masked.  The few plans that still differ
between two runs of base (statistics from random samples) prove nothing; they
are found by running base twice, counted, and left out.

=over

=item compare($context)

The command C<pgseries check --plans>.  Exit status 1 if a plan differs.

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

sub compare
{
	my ($c) = @_;
	my %plans;
	for my $run (qw(base again patched))
	{
		my $name = $run eq 'patched' ? 'patched' : 'base';
		info("plans: regression suite on $name"
			  . ($run eq 'again' ? ', a second time' : ''));
		$plans{$run} = run_suite($c, $name, $run);
	}
	my $count = keys %{ $plans{base} };
	fail(
		2,
		"only $count plans were logged",
		'see WORK/b/base/log/server-plans.log') if $count < 1000;
	my (@differ, $unstable);
	$unstable = 0;
	my %all = map { $_ => 1 } map { keys %{ $plans{$_} } } qw(base patched);
	for my $key (sort keys %all)
	{
		my ($base, $again, $patched) =
		  map { defined $plans{$_}{$key} ? $plans{$_}{$key} : '' }
		  qw(base again patched);
		if    ($base ne $again) { $unstable++; }
		elsif ($base ne $patched)
		{
			push @differ, { at => $key, base => $base, patched => $patched };
		}
	}
	my $text = join '',
	  map { "$_->{at}\n--- base\n$_->{base}\n--- patched\n$_->{patched}\n\n" }
	  @differ;
	my $file = $c->config->build . '/plans.diff';
	write_file($file, $text);
	$c->say(
		{
			plans => $count,
			unstable => $unstable,
			differ => \@differ
		},
		join("\n",
			map { "differs: " . (split /\n/, $_->{at})[0] }
			  @differ[ 0 .. ($#differ < 19 ? $#differ : 19) ])
		  . (@differ ? "\n" : '')
		  . "$count plans compared, $unstable left out that differ between two runs of base, "
		  . scalar(@differ)
		  . " differ between base and patched\n");
	info(
		"pgseries: plans differ: see $file; rerun: src/bin/pgseries check --plans"
	) if @differ;
	return @differ ? 1 : 0;
}

# The plans of one run: { "TEST #n\nquery" => plan }, where n counts equal queries
# of the test.
sub run_suite
{
	my ($c, $name, $run) = @_;
	my $config = $c->config;
	my $b = $c->builds->ensure($name);
	my $base = $c->builds->ensure('base');
	my $server = PgSeries::Server->new(
		$config, $b,
		name => 'plans',
		settings => \%SETTINGS);
	unlink $server->log;
	$server->create;
	$server->start;
	my $regress = "$b->{build}/src/test/regress";
	my $input = "$base->{src}/src/test/regress";
	my $output = make_dir("$b->{dir}/plans-$run", $config->user);
	make_dir("$output/testtablespace", $config->user);
	my $log = "$b->{log}/plans-$run.log";
	unlink $log;

	# Some tests fail because their expected output counts on autovacuum or on
	# an unchanged log; only the plans matter.
	my $status = run_status(
		[
			"$regress/pg_regress",
			"--bindir=$b->{bin}",
			"--dlpath=$regress",
			"--inputdir=$input",
			"--expecteddir=$input",
			"--outputdir=$output",
			'--max-connections=1',
			'--max-concurrent-tests=20',
			'--schedule=' . "$input/parallel_schedule"
		],
		env => { %{ $server->environment }, PGDATABASE => undef },
		user => $config->user,
		log => $log);
	$server->stop;
	my $said = read_file($log);
	fail(
		2,
		"the regression suite did not run to its end on $name",
		"see $log and " . $server->log)
	  unless $said =~
	  /^# .*\d+ tests (?:passed|failed)|All \d+ tests passed|^1\.\.\d+/m;
	return parse_log($server->log);
}

=item parse_log($file)

Returns the plans in a server log written with the settings above.

=back

=cut

sub parse_log
{
	my ($file) = @_;
	my (%plan, %seen, $test, @lines);
	my $flush = sub {
		return unless @lines;
		my $text = join "\n", @lines;
		@lines = ();
		$text =~ s/\b(pg_(?:toast_)?temp)_\d+/$1_N/g;
		my ($query, $rest) =
		  $text =~ /\A(Query Text: .*?)\n((?:[A-Z][\w -]*)?.*\(cost=.*)\z/s;
		($query, $rest) = ($text, '') unless defined $query;
		my $n = ++$seen{"$test\n$query"};
		$plan{"$test #$n\n$query"} = $rest;
	};
	open(my $fh, '<', $file)
	  or fail(2, "cannot read $file: $!", 'run it again');
	while (my $line = <$fh>)
	{
		chomp $line;
		if ($line =~ /^\[([^\]]*)\] LOG:  duration: [\d.]+ ms  plan:$/)
		{
			my $app = $1;
			$flush->();
			$test = $app;
		}
		elsif ($line =~ s/^\t//) { push @lines, $line if defined $test; }
		else                     { $flush->(); $test = undef; }
	}
	$flush->();
	return \%plan;
}

1;
