package PgSeries::World;

use strict;
use warnings FATAL => 'all';

use POSIX qw(strftime);
use PgSeries::Test;
use PgSeries::Util qw(fail info);

=pod

=head1 NAME

PgSeries::World - the whole series in every configuration that it is tested in

=head1 DESCRIPTION

Each configuration is a build of the whole series (see PgSeries::Build) and some of
the tests of PgSeries::Test.

=over

=item configurations($context, @names), command($context, @names)

The command C<pgseries check --world>: the first raises an error if a configuration
does not exist or cannot be built, the second tests those named, or all, and prints
what failed and the numbers of results.  Exit status 1 if a test failed.

=back

=cut

# Name, what it is, and what is tested: "own" are the tests that the series touches,
# "suites" whole suites of these.
my @CONFIGURATIONS = (
	[ 'assert', 'meson, gcc', 'world' ],
	[ 'autoconf', 'autoconf, gcc: make check-world', 'world' ],
	[ 'exec-backend', '-DEXEC_BACKEND', 'suites' ],
	[ 'sanitize', 'address, undefined behavior sanitizers', 'suites' ],
	[ 'clang', 'clang', 'suites' ],
	[ 'm32', '-m32', 'suites' ],
	[ 'valgrind', 'valgrind', 'own' ]);

sub configurations
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
	my @chosen = @names ? @known{@names} : @CONFIGURATIONS;

	# All hours of work would be in vain.
	$c->builds->check_tools($c->builds->describe($_->[0])) for @chosen;
	return @chosen;
}

sub command
{
	my ($c, @names) = @_;
	my $test = PgSeries::Test->new($c->config, $c->builds);
	my $failed = 0;
	for (configurations($c, @names))
	{
		my ($name, $title, $kind) = @$_;
		my $start = time;
		info(strftime('%F %H:%M', localtime) . " $title: $kind");
		my @results = PgSeries::Test::attempt(
			"src/bin/pgseries check --world $name",
			sub {
				return $test->$kind($name) if $kind ne 'suites';
				my ($suites, $tests) = $test->suites($c->series->patches);
				my %suite = map { $_ => 1 } qw(regress isolation), @$suites;
				return $test->run_suites($name, [ sort keys %suite ], $tests);
			});
		$failed = 1 if grep { $_->{result} eq 'fail' } @results;
		$c->say(
			PgSeries::Test::told(0, @results)
			  . sprintf ' (%s: %s, %.0f minutes)',
			$title, $kind, (time - $start) / 60);
	}
	return $failed;
}

1;
