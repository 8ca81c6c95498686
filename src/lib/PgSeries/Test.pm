package PgSeries::Test;

use strict;
use warnings FATAL => 'all';

use File::Glob qw(:bsd_glob);
use JSON::PP   ();
use PgSeries::Server;
use PgSeries::Util
  qw(fail info make_dir on_exit read_file run run_status tail_file);

=pod

=head1 NAME

PgSeries::Test - upstream's tests, and those that the patches bring, on a build

=head1 DESCRIPTION

All functions return a list of results { name, result, detail, rerun }, where
C<result> is C<ok>, C<skip> or C<fail>.

=over

=item new($config, $build)

C<$build> is a PgSeries::Build.

=cut

sub new
{
	my ($class, $config, $build) = @_;
	return bless { config => $config, build => $build }, $class;
}

=item suites(@patches)

Returns the arguments of C<meson test> that select every test that the patches
touch: [names of suites], [names of single tests].

=cut

sub suites
{
	my ($self, @patches) = @_;
	my (%suite, %test);
	for my $patch (@patches)
	{
		for (read_file($patch->{path}) =~ m{^\+\+\+ b/(\S+)}mg)
		{
			if    (m{^src/test/regress/})          { $suite{regress} = 1; }
			elsif (m{^src/test/isolation/})        { $suite{isolation} = 1; }
			elsif (m{^src/test/modules/([^/]+)/.}) { $suite{$1} = 1; }
			elsif (m{^src/test/([^/]+)/t/(\S+)\.pl$}) { $test{"$1/$2"} = 1; }
			elsif (m{^contrib/([^/]+)/(?:sql|expected|specs)/})
			{
				$suite{$1} = 1;
			}
			elsif (m{^(?:contrib|src/bin)/([^/]+)/t/(\S+)\.pl$})
			{
				$test{"$1/$2"} = 1;
			}
		}
	}
	return ([ sort keys %suite ], [ sort keys %test ]);
}

=item run_suites($name, \@suites, \@tests)

Runs upstream's suites, or single tests ("SUITE/TEST"), on a build.  The build is
brought up to date first.

=cut

sub run_suites
{
	my ($self, $name, $suites, $tests) = @_;
	my $b = $self->{build}->ensure($name);
	my @results = $self->meson_test($b, 'setup', [qw(--suite setup)]);
	return @results if grep { $_->{result} eq 'fail' } @results;
	@results = ();
	push @results,
	  $self->meson_test(
		$b,
		join('-', @$suites),
		[ map { ('--suite', $_) } @$suites ]) if @$suites;
	push @results,
	  $self->meson_test(
		$b, 'single',
		[
			map { (my $t = $_) =~ s{/}{ / }; $t =~ s/ //g; "postgresql:$t" }
			  @$tests
		]) if @$tests;
	return @results;
}

=item world($name)

Upstream's whole suite on a build.

=cut

sub world
{
	my ($self, $name) = @_;
	my $b = $self->{build}->ensure($name);
	return $self->meson_test($b, 'world', []);
}

sub meson_test
{
	my ($self, $b, $what, $arguments) = @_;
	my $config = $self->{config};
	my $log = "$b->{build}/meson-logs/testlog-$what.json";
	unlink $log;
	info("testing $b->{name}: $what") if $what ne 'setup';
	my $out = '';
	my $env = $config->environment;
	my $status = run_status(
		[
			qw(meson test --no-rebuild --quiet --print-errorlogs),
			"--logbase=testlog-$what", '-C', $b->{build}, @$arguments
		],
		env => $env,
		user => $config->user,
		cwd => $b->{build},
		out => \$out,
		err => \my $err);
	my @results;
	my $json = JSON::PP->new->utf8;

	for my $line (-f $log ? split(/\n/, read_file($log)) : ())
	{
		my $t = $json->decode($line);
		(my $test = $t->{name}) =~ s/^.* \/ //;
		my $result =
			$t->{result} =~ /^(OK|EXPECTEDFAIL)$/ ? 'ok'
		  : $t->{result} eq 'SKIP'                ? 'skip'
		  :                                         'fail';
		push @results,
		  {
			name => $test,
			result => $result,
			seconds => $t->{duration},
			detail => $result eq 'fail' ? $self->failure($b, $test, $t) : '',
			rerun => "src/bin/pgseries test --build=$b->{name} $test",
		  };
	}
	if (!@results)
	{
		fail(
			2,
			"meson test ran nothing for $what on $b->{name}",
			"see $b->{build}/meson-logs", "$out$err");
	}
	if ($status != 0 && !grep { $_->{result} eq 'fail' } @results)
	{
		fail(
			2,
			"meson test of $what on $b->{name} ended with status $status",
			"see $b->{build}/meson-logs", "$out$err");
	}
	return @results;
}

# What a person needs to see of a failed test: the differences, or the end of
# the log.
sub failure
{
	my ($self, $b, $test, $t) = @_;
	my $dir = "$b->{build}/testrun/$test";
	my @said = ("$test: $t->{result} (files: $dir)");
	my ($diffs) =
	  grep { -s } glob("$dir/{regression.diffs,output_iso/regression.diffs}");
	if (defined $diffs)
	{
		push @said, tail_file($diffs, 40);
	}
	else
	{
		my @lines = split /\n/, ($t->{stdout} || '') . ($t->{stderr} || '');
		splice(@lines, 0, @lines - 40) if @lines > 40;
		push @said, @lines;
	}
	return join("\n", @said);
}

=item extension($name)

contrib/pgseries_bench's own regression test on a build.

=cut

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
		detail => $status == 0 ? ''
		: -s $diffs ? tail_file($diffs, 40)
		: tail_file($log, 40),
		rerun => "src/bin/pgseries test extension",
	};
}

=item docs($name)

The documentation check: upstream's SGML pages parse and are valid.

=back

=cut

sub docs
{
	my ($self, $name) = @_;
	my $b = $self->{build}->ensure($name);
	my $log = "$b->{log}/docs.log";
	my $ok = eval {
		$self->{build}
		  ->ninja($b, ['doc/src/sgml/postgres-full.xml'], 'docs.log');
		1;
	};
	die $@ if !$ok && !(ref $@ && $@->{code} == 1);
	return {
		name => 'documentation',
		result => $ok ? 'ok' : 'fail',
		detail => $ok ? '' : tail_file($log, 30),
		rerun => "src/bin/pgseries test docs",
	};
}

1;
