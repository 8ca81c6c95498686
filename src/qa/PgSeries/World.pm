package PgSeries::World;

use strict;
use warnings FATAL => 'all';

use JSON::PP ();
use POSIX    qw(strftime);
use PgSeries::Test;
use PgSeries::Util qw(fail info make_dir slurp_json write_file);

=pod

=head1 NAME

PgSeries::World - the whole series in every configuration that it is tested in

=head1 DESCRIPTION

Each configuration is a build of the whole series (see PgSeries::Build) and some of
the tests of PgSeries::Test.  What came out is kept in WORK/world/NAME.json, so that
configurations may be run one by one.

=over

=item command($context, @names)

The command C<pgseries check --world>: tests the configurations named, or all of
them, and prints a summary of all those whose results are of the series as it is.
Exit status 1 if a test failed, of the configurations that were run.

=cut

my @CONFIGURATIONS = (
	[ 'assert', 'meson, gcc', 'world' ],
	[ 'autoconf', 'autoconf, gcc: make check-world', 'world' ],
	[ 'exec-backend', '-DEXEC_BACKEND', 'suites' ],
	[ 'sanitize', 'address, undefined behavior sanitizers', 'suites' ],
	[ 'clang', 'clang', 'suites' ],
	[ 'm32', '-m32', 'suites' ],
	[ 'valgrind', 'valgrind', 'own' ]);

# What the tests of each kind are called in the summary.
my %TESTS = (
	world => 'the whole suite',
	suites => 'regression, isolation, the suites that the series touches',
	own => 'the tests that the series touches');

sub command
{
	my ($c, @names) = @_;
	my %known = map { $_->[0] => $_ } @CONFIGURATIONS;
	for my $name (@names)
	{
		fail(
			2,
			"there is no configuration \"$name\"",
			'choose among: ' . join(' ', map { $_->[0] } @CONFIGURATIONS)
		) unless $known{$name};
	}
	@names = map { $_->[0] } @CONFIGURATIONS unless @names;

	# All hours of work would be in vain.
	$c->builds->check_tools($c->builds->describe($_)) for @names;
	my $dir = make_dir($c->config->work . '/world');
	my $commit = commit($c);
	my $failed = 0;
	my $text = '';
	for my $i (0 .. $#names)
	{
		my ($name, $title, $kind) = @{ $known{ $names[$i] } };
		info(
			sprintf '%s: configuration %d of %d, %s: %s',
			strftime('%H:%M', localtime),
			$i + 1, scalar @names,
			$title, $TESTS{$kind});
		my ($results, $minutes) = timed($c, $name, $kind);
		my %count = PgSeries::Test::count(@$results);
		my @bad = grep { $_->{result} eq 'fail' } @$results;
		$failed += @bad;
		$text .=
		  "FAILED: $name: $_->{name}\n$_->{detail}\nrerun: $_->{rerun}\n"
		  for @bad;
		info(
			"$names[$i]: $count{ok} passed, $count{skip} skipped, $count{fail} failed, $minutes minutes"
		);
		write_file(
			"$dir/$name.json",
			JSON::PP->new->canonical->pretty->encode(
				{
					date => strftime('%Y-%m-%d', localtime),
					commit => $commit,
					minutes => $minutes,
					%count,
					failed => [ map { $_->{name} } @bad ]
				}));
	}
	my %all = map { $_->[0] => slurp_json("$dir/$_->[0].json") }
	  grep { -f "$dir/$_->[0].json" } @CONFIGURATIONS;
	for (grep { $all{$_}{commit} ne $commit } keys %all)
	{
		delete $all{$_};
	}
	$c->say(\%all, $text . summary(\%all));
	return $failed ? 1 : 0;
}

sub timed
{
	my ($c, $name, $kind) = @_;
	my $test = PgSeries::Test->new($c->config, $c->builds);
	my $start = time;
	my @results = PgSeries::Test::attempt(
		"src/bin/pgseries check --world $name",
		sub {
			return $test->$kind($name) if $kind ne 'suites';
			my ($suites, $tests) = $test->suites($c->series->patches);
			my %suite = map { $_ => 1 } qw(regress isolation), @$suites;
			return $test->run_suites($name, [ sort keys %suite ], $tests);
		});
	return (\@results, int((time - $start) / 60 + 0.5));
}

# What has been tested.
sub commit
{
	my ($c) = @_;
	return $c->series->commit_of($c->series->patches);
}

=item summary(\%results)

Returns a table in Markdown of the results by configuration: { date, ok, skip, fail,
minutes }.

=back

=cut

sub summary
{
	my ($all) = @_;
	my $text =
	  "| Configuration | Tests | Date | Passed | Skipped | Failed | Minutes |\n|---|---|---|---|---|---|---|\n";
	for (@CONFIGURATIONS)
	{
		my ($name, $title, $kind) = @$_;
		my $r = $all->{$name};
		next unless $r;
		$text .= '| '
		  . join(' | ',
			$title, $TESTS{$kind}, @$r{qw(date ok skip fail minutes)})
		  . " |\n";
	}
	return $text;
}

1;
