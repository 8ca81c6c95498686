package PgSeries::Test;

use strict;
use warnings FATAL => 'all';

use File::Glob qw(:bsd_glob);
use JSON::PP   ();
use List::Util qw(uniq);
use PgSeries::Server;
use PgSeries::Util qw(fail info progress read_file run_status tail_file);

=pod

=head1 NAME

PgSeries::Test - upstream's tests, and those that the patches bring, on a build

=head1 DESCRIPTION

All functions that run tests return a list of results { name, result, detail, rerun
}, where C<result> is C<ok>, C<skip> or C<fail>.

=cut

# $build is a PgSeries::Build.
sub new
{
	my ($class, $config, $build) = @_;
	return bless { config => $config, build => $build }, $class;
}

# Returns the arguments of meson test that select every test that the patches
# touch: [names of suites], [names of single tests].
sub suites
{
	my ($self, @patches) = @_;
	my (%suite, %test);
	for (map { read_file($_->{path}) =~ m{^\+\+\+ b/(\S+)}mg } @patches)
	{
		if (m{^(?:src/(?:test|bin|interfaces|pl)|contrib)/([^/]+)/t/(\S+)\.pl$}
		  )
		{
			$test{"$1/$2"} = 1;
		}
		elsif (m{^src/test/(regress|isolation)/}
			|| m{^src/test/modules/([^/]+)/.}
			|| m{^contrib/([^/]+)/(?:sql|expected|specs)/})
		{
			$suite{$1} = 1;
		}
	}
	return ([ sort keys %suite ], [ sort keys %test ]);
}

# Runs upstream's suites, or single tests ("SUITE/TEST"), on a build.
sub run_suites
{
	my ($self, $name, $suites, $tests) = @_;
	my $b = $self->{build}->ensure($name);
	my @results = $self->meson_test($b, 'setup', qw(--suite setup));
	return @results if grep { $_->{result} eq 'fail' } @results;
	$self->before_tests($b);
	return (
		$self->meson_named(
			$b, $suites,
			join('-', @$suites), map { ('--suite', $_) } @$suites),
		$self->meson_named(
			$b, $tests, 'single', map { "postgresql:$_" } @$tests));
}

# PgSeries::World does something here.
sub before_tests { return; }

# meson says nothing of a test that there isn't if another is named.
sub meson_named
{
	my ($self, $b, $names, @arguments) = @_;
	return unless @$names;
	my @results = $self->meson_test($b, @arguments);
	my %ran =
	  map { ($_->{name} => 1, $_->{name} =~ s{/.*}{}r => 1) } @results;
	my ($none) = grep { !$ran{$_} } @$names;
	fail(
		2,
		"build $b->{name} has no suite or test \"$none\"",
		"see: meson test -C $b->{build} --list") if defined $none;
	return @results;
}

# A function.  Returns the results that the code returns.  What does not build or run
# is a failure as well, for which $rerun names the command; an interrupt is an error.
sub attempt
{
	my ($rerun, $code) = @_;
	my @results;
	return @results if eval { @results = $code->(); 1 };
	my $error = $@;
	die $error if !ref $error || $error->{code} == 130;
	return {
		name => 'build and run',
		result => 'fail',
		detail =>
		  join("\n", grep { defined } $error->{detail}, $error->{message}),
		rerun => $rerun
	};
}

# A function.  Returns the results as they are printed, all of them or failures only,
# and how many there are.
sub told
{
	my ($all, @results) = @_;
	my %count = (ok => 0, fail => 0, skip => 0);
	$count{ $_->{result} }++ for @results;
	my $text = join '', map {
		$_->{result} eq 'fail'
		  ? "fail  $_->{name}\n$_->{detail}\nrerun: $_->{rerun}\n"
		  : $all ? sprintf("%-5s %s\n", $_->{result}, $_->{name})
		  : ''
	} @results;
	return
	  "$text$count{ok} passed, $count{fail} failed, $count{skip} skipped";
}

# Some lines of a text, counted like elements of an array.
sub lines
{
	my ($text, $from, $to) = @_;
	return join '', grep { defined } (split /^/, $text)[ $from .. $to ];
}

# On a build, the suites and tests that its patches touch.
sub touched
{
	my ($self, $name, @more) = @_;
	my ($suites, $tests) =
	  $self->suites(@{ $self->{build}->describe($name)->{patches} });
	return $self->run_suites($name, [ uniq sort @$suites, @more ], $tests);
}

# Upstream's whole suite on a build.
sub world
{
	my ($self, $name) = @_;
	return $self->meson_test($self->{build}->ensure($name), 'world');
}

sub meson_test
{
	my ($self, $b, $what, @arguments) = @_;
	my $json = "$b->{build}/meson-logs/testlog-$what.json";
	my $log = "$b->{log}/meson-test.log";
	unlink $json, $log;
	info("testing $b->{name}: $what") if $what ne 'setup';
	my $status = run_status(
		[
			qw(meson test --no-rebuild),
			"--logbase=testlog-$what",
			'--timeout-multiplier=' . ($b->{slow} // 1),
			'-C',
			$b->{build},
			@arguments
		],
		env => $self->{build}->environment($b),
		user => $self->{config}->user,
		cwd => $b->{build},
		log => $log,
		watch => sub {
			my @done = done($json);
			progress("testing $b->{name}: " . @done . ' tests done');
		});
	my @results;
	for (done($json))
	{
		my $t = JSON::PP->new->utf8->decode($_);
		my $test = $t->{name} =~ s/^.* \/ //r;
		my $result =
			$t->{result} =~ /^(OK|EXPECTEDFAIL)$/ ? 'ok'
		  : $t->{result} eq 'SKIP'                ? 'skip'
		  :                                         'fail';
		push @results,
		  {
			name => $test,
			result => $result,
			detail => $result eq 'fail' ? failure($b, $test, $t) : '',
			rerun => "src/bin/pgseries test --build=$b->{name} $test",
		  };
	}
	fail(
		2,
		"meson test of $what on $b->{name} ended with status $status and "
		  . @results
		  . ' results',
		"see $log",
		tail_file($log, 40))
	  if !@results
	  || $status != 0 && !grep { $_->{result} eq 'fail' } @results;
	return @results;
}

# One line for each test that has ended.
sub done
{
	my ($json) = @_;
	return -f $json ? split(/\n/, read_file($json)) : ();
}

# What a person needs to see of a failed test: the differences, or the end of
# the log.
sub failure
{
	my ($b, $test, $t) = @_;
	my $dir = "$b->{build}/testrun/$test";
	my ($diffs) =
	  grep { -s } glob("$dir/{regression.diffs,output_iso/regression.diffs}");

	# JSON has characters, the rest of what is printed is bytes.
	my $text = ($t->{stdout} // '') . ($t->{stderr} // '');
	utf8::encode($text);
	return "$test: $t->{result} (files: $dir)\n"
	  . (
		defined $diffs
		? tail_file($diffs, 40)
		: lines($text, -40, -1));
}

# contrib/pgseries_bench's own regression test on a build.
sub extension
{
	my ($self, $name) = @_;
	my $config = $self->{config};
	my $b = $self->{build}->ensure($name);
	$self->{build}->extension($b);
	my $server = PgSeries::Server->new(
		$config, $b,
		name => 'extension',
		settings => { fsync => 'off', log_statement => 'all' });
	$server->create;
	$server->start;
	my $log = "$b->{log}/extension-test.log";
	unlink $log;
	my $status = run_status(
		[
			'make', '-C', "$b->{dir}/pgseries_bench",
			"PG_CONFIG=$b->{bin}/pg_config",
			'installcheck'
		],
		env => $server->environment,
		user => $config->user,
		log => $log);
	$server->stop;
	my $diffs = "$b->{dir}/pgseries_bench/regression.diffs";
	return {
		name => "pgseries_bench on $name",
		result => $status == 0 ? 'ok' : 'fail',
		detail => $status == 0
		? ''
		: tail_file(-s $diffs ? $diffs : $log, 40),
		rerun => "src/bin/pgseries test extension",
	};
}

# The documentation check: upstream's SGML pages parse and are valid.
sub docs
{
	my ($self, $name) = @_;
	my $b = $self->{build}->ensure($name);
	return attempt(
		'src/bin/pgseries test docs',
		sub {
			$self->{build}->ninja($b, 'build', 'docs.log',
				'doc/src/sgml/postgres-full.xml');
			return { name => 'documentation', result => 'ok' };
		});
}

1;
