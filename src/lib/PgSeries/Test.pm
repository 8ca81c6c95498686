package PgSeries::Test;

use strict;
use warnings FATAL => 'all';

use File::Glob qw(:bsd_glob);
use File::Path qw(remove_tree);
use JSON::PP   ();
use PgSeries::Server;
use PgSeries::Util
  qw(fail info make_dir processors progress read_file run_status tail_file write_file);

=pod

=head1 NAME

PgSeries::Test - upstream's tests, and those that the patches bring, on a build

=head1 DESCRIPTION

All functions that run tests return a list of results { name, result, detail, rerun
}, where C<result> is C<ok>, C<skip> or C<fail>.

On the build "valgrind", the server processes that meson's tests start run under
valgrind (Julian Seward and others), with upstream's list of what is no error.

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
			elsif (
				m{^(?:src/(?:test|bin|interfaces|pl)|contrib)/([^/]+)/t/(\S+)\.pl$}
			  )
			{
				$test{"$1/$2"} = 1;
			}
			elsif (m{^contrib/([^/]+)/(?:sql|expected|specs)/})
			{
				$suite{$1} = 1;
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
	return $self->with_setup($b,
		sub { return $self->meson_suites($b, $suites, $tests); });
}

=item attempt($rerun, $code)

A function.  Returns the results that the code returns.  What does not build or run
is a failure as well, for which $rerun names the command; an interrupt is an error.

=cut

sub attempt
{
	my ($rerun, $code) = @_;
	my @results = eval { $code->() };
	return @results if @results;
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

=item count(@results)

A function.  Returns how many there are of each result: ok, fail, skip.

=cut

sub count
{
	my (@results) = @_;
	my %count = (ok => 0, fail => 0, skip => 0);
	$count{ $_->{result} }++ for @results;
	return %count;
}

=item told($all, @results)

A function.  Returns the results as they are printed, all of them or failures only,
and how many there are.

=cut

sub told
{
	my ($all, @results) = @_;
	my %count = count(@results);
	my $text = join '', map {
			$_->{result} eq 'fail'
		  ? "fail  $_->{name}\n$_->{detail}\nrerun: $_->{rerun}\n"
		  : $all ? sprintf("%-5s %s\n", $_->{result}, $_->{name})
		  : ''
	} @results;
	return "$text$count{ok} passed, $count{fail} failed, $count{skip} skipped";
}

# Runs the code that runs tests, between what must be before and after it.
sub with_setup
{
	my ($self, $b, $code) = @_;
	take_script_away($b);
	my @results = $self->meson_test($b, 'setup', [qw(--suite setup)]);
	return @results if grep { $_->{result} eq 'fail' } @results;
	my $logs = $b->{name} eq 'valgrind' ? $self->under_valgrind($b) : undef;
	@results = $code->();
	push @results, valgrind_result($logs) if defined $logs;
	return @results;
}

sub meson_suites
{
	my ($self, $b, $suites, $tests) = @_;
	my @results;
	if (@$suites)
	{
		push @results,
		  $self->meson_test(
			$b,
			join('-', @$suites),
			[ map { ('--suite', $_) } @$suites ]);

		# meson says nothing of a suite that there isn't if another is named.
		my %ran = map { (split m{/}, $_->{name})[0] => 1 } @results;
		my ($none) = grep { !$ran{$_} } @$suites;
		fail(
			2,
			"build $b->{name} has no suite \"$none\"",
			"see: meson test -C $b->{build} --list") if defined $none;
	}
	if (@$tests)
	{
		my @single =
		  $self->meson_test($b, 'single',
			[ map { "postgresql:$_" } @$tests ]);
		my %ran = map { $_->{name} => 1 } @single;
		my ($none) = grep { !$ran{$_} } @$tests;
		fail(
			2,
			"build $b->{name} has no test \"$none\"",
			"see: meson test -C $b->{build} --list") if defined $none;
		push @results, @single;
	}
	return @results;
}

# The server program that tests run.
sub program
{
	my ($b) = @_;
	return "$b->{build}/tmp_install$b->{inst}/bin/postgres";
}

# Undoes what under_valgrind has done.
sub take_script_away
{
	my ($b) = @_;
	my $program = program($b);
	return unless -f "$program.bin";
	rename "$program.bin", $program
	  or fail(2, "cannot rename $program.bin: $!", 'check its permissions');
	return;
}

# Puts a script in the place of the server program that tests run.  Returns the
# directory of valgrind's logs.
sub under_valgrind
{
	my ($self, $b) = @_;
	my $program = program($b);
	my $dir = "$b->{log}/valgrind";
	remove_tree($dir);
	make_dir($dir, $self->{config}->user);
	rename $program, "$program.bin"
	  or fail(2, "cannot rename $program: $!", 'check its permissions');
	write_file($program, <<"EOT");
#!/bin/sh
exec valgrind --quiet --leak-check=no --trace-children=yes \\
	--error-markers=VALGRINDERROR-BEGIN,VALGRINDERROR-END \\
	--suppressions=$b->{src}/src/tools/valgrind.supp \\
	--log-file=$dir/%p.log "\$0.bin" "\$@"
EOT
	chmod 0755, $program
	  or fail(2, "cannot make $program executable: $!", 'check who owns it');
	return $dir;
}

# One result: whether valgrind has found any error.
sub valgrind_result
{
	my ($dir) = @_;
	my @logs = glob("$dir/*.log");
	fail(
		2,
		"no server ran under valgrind: $dir is empty",
		'look for what the tests have run in their logs') unless @logs;
	my @bad = grep { read_file($_) =~ /VALGRINDERROR-BEGIN/ }
	  grep { -s } @logs;
	return {
		name => 'valgrind',
		result => @bad ? 'fail' : 'ok',
		detail => join("\n",
			map { "$_:\n" . join("\n", first_lines($_, 40)) }
			  @bad[ 0 .. ($#bad < 4 ? $#bad : 4) ]),
		rerun => 'src/bin/pgseries check --world valgrind'
	};
}

sub first_lines
{
	my ($file, $count) = @_;
	my @lines = split /\n/, read_file($file);
	splice @lines, $count if @lines > $count;
	return @lines;
}

=item own($name)

On a build, the tests that its patches add or extend: single ones of the regression
and isolation suites, without those before them in the schedule, and all of other
suites.

=cut

sub own
{
	my ($self, $name) = @_;
	my $b = $self->{build}->ensure($name);
	my ($suites, $tests) = $self->suites(@{ $b->{patches} });
	my @others = grep { !/^(regress|isolation)$/ } @$suites;
	my $patches = join '', map { read_file($_->{path}) } @{ $b->{patches} };
	my %file;
	$file{$1}{$2} = 1
	  while $patches =~
	  m{^\+\+\+ b/src/test/(regress|isolation)/(?:sql|specs)/([\w-]+)}mg;
	my @sql = sort keys %{ $file{regress} };
	my @specs = sort keys %{ $file{isolation} };
	return $self->with_setup(
		$b,
		sub {
			return (
				$self->pg_regress($b, 'regress', 'test_setup', @sql),
				$self->pg_regress($b, 'isolation', @specs),
				$self->meson_suites($b, \@others, $tests));
		});
}

# What pg_regress prints of a test.
my $RESULT = qr/^(ok|not ok) \d+\s+[-+] (\S+)\s+(\d+) ms/;

# Single tests of a suite, one after the other, on a server of their own.
sub pg_regress
{
	my ($self, $b, $suite, @names) = @_;
	my $config = $self->{config};
	my $build = "$b->{build}/src/test/$suite";
	my $output = "$b->{build}/added/$suite";
	my $log = "$b->{log}/added-$suite.log";
	info("testing $b->{name}: @names");
	remove_tree($output);
	make_dir("$output/testtablespace");
	make_dir($_, $config->user)
	  for "$output/testtablespace", $output, "$b->{build}/added";
	unlink $log;
	my $bin = "$b->{build}/tmp_install$b->{inst}/bin";
	my $env = $self->{build}->environment($b);
	(my $library = $bin) =~ s{bin$}{lib};
	my $program = $suite eq 'regress' ? 'pg_regress' : "pg_${suite}_regress";
	my $status = run_status(
		[
			"$build/$program",
			"--inputdir=$b->{src}/src/test/$suite",
			"--expecteddir=$b->{src}/src/test/$suite",
			"--outputdir=$output",
			"--temp-instance=$output/tmp_check",
			"--dlpath=$b->{build}/src/test/regress",
			'--bindir=',
			@names
		],
		env => {
			%$env,
			PATH => "$bin:$build:$env->{PATH}",
			LD_LIBRARY_PATH =>
			  join(':', glob("{$library,$library/*-linux-gnu}")),
			INITDB_TEMPLATE => "$b->{build}/tmp_install/initdb-template"
		},
		user => $config->user,
		cwd => $output,
		log => $log,
		watch => sub {
			my $done = () = -f $log ? read_file($log) =~ /$RESULT/mg : ();
			progress("testing $b->{name}: $done/" . @names . " of $suite");
		});
	my @results;

	for my $line (split /\n/, -f $log ? read_file($log) : '')
	{
		next unless $line =~ /$RESULT/;
		my $diffs = "$output/regression.diffs";
		$diffs = "$output/output_iso/regression.diffs" unless -f $diffs;
		push @results,
		  {
			name => "$suite/$2",
			result => $1 eq 'ok' ? 'ok' : 'fail',
			seconds => $3 / 1000,
			detail => $1 eq 'ok'
			? ''
			: "see $diffs\n" . (-f $diffs ? tail_file($diffs, 40) : ''),
			rerun => "src/bin/pgseries test --build=$b->{name} $suite",
		  };
	}
	fail(
		2,
		"$program ran " . @results . ' of ' . @names . " tests on $b->{name}",
		"see $log",
		tail_file($log, 10)) if @results != @names;
	fail(2, "$program ended with status $status on $b->{name}",
		"see $log", tail_file($log, 10))
	  if $status != 0 && !grep { $_->{result} eq 'fail' } @results;
	return @results;
}

=item world($name)

Upstream's whole suite on a build: C<meson test>, or C<make check-world>.

=cut

sub world
{
	my ($self, $name) = @_;
	my $b = $self->{build}->ensure($name);
	return $b->{make}
	  ? $self->check_world($b)
	  : $self->meson_test($b, 'world', []);
}

# One result for each run of pg_regress and each TAP test.
sub check_world
{
	my ($self, $b) = @_;
	my $log = "$b->{log}/check-world.log";
	unlink $log;
	info("testing $b->{name}: check-world (log: $log)");
	my $status = run_status(
		[
			'make', '-C',
			$b->{build}, qw(--keep-going --output-sync -j),
			processors(), 'check-world'
		],
		env => $self->{build}->environment($b),
		user => $self->{config}->user,
		log => $log,
		watch => sub {
			my $done = check_world_results(-f $log ? read_file($log) : '');
			progress("testing $b->{name}: $done tests");
		});
	my @results = check_world_results(read_file($log));
	fail(2, "make check-world ran no test on $b->{name}",
		"see $log", tail_file($log, 10))
	  if $status == 0 && !@results;
	my $rerun = "make -C $b->{build} check-world";
	push @results,
	  {
		name => 'make check-world',
		result => 'fail',
		detail => "exit status $status, see $log\n" . tail_file($log, 20)
	  }
	  if $status != 0 && !grep { $_->{result} eq 'fail' } @results;
	return map {
		{ %$_, rerun => $rerun }
	} @results;
}

=item check_world_results($text)

Returns the results in what C<make check-world> has printed, without C<rerun>.

=cut

sub check_world_results
{
	my ($text) = @_;
	my @results;
	my $dir = '?';
	my @lines = split /\n/, $text;
	for my $i (0 .. $#lines)
	{
		my $line = $lines[$i];
		my ($name, $result);
		if    ($line =~ /^# \+\+\+ .* in (\S+) \+\+\+$/) { $dir = $1; }
		elsif ($line =~ /^# All \d+ tests passed/)
		{
			($name, $result) = ('pg_regress', 'ok');
		}
		elsif ($line =~ /^# \d+ of \d+ tests failed/)
		{
			($name, $result) = ('pg_regress', 'fail');
		}

		# A line of prove for each test, and one of its summary for each failure,
		# but also for a test with a TODO that has passed.
		elsif ($line =~ m{^(t/\S+\.pl) \.+ (ok|skipped)})
		{
			($name, $result) = ($1, $2 eq 'ok' ? 'ok' : 'skip');
		}
		elsif ($line =~ m{^(t/\S+\.pl) +\(Wstat: })
		{
			($name, $result) = ($1, 'fail')
			  unless $line =~ /\(Wstat: 0 .* Failed: 0\)$/
			  && $i < $#lines
			  && $lines[ $i + 1 ] =~ /^ +TODO passed:/;
		}
		push @results,
		  {
			name => "$dir: $name",
			result => $result,
			detail => $result eq 'fail' ? $line : ''
		  }
		  if defined $name;
	}
	return @results;
}

sub meson_test
{
	my ($self, $b, $what, $arguments) = @_;
	my $config = $self->{config};
	fail(
		2,
		"build $b->{name} has no tests for meson",
		'see: pgseries check --help') if $b->{make};
	my $log = "$b->{build}/meson-logs/testlog-$what.json";
	unlink $log;
	info("testing $b->{name}: $what") if $what ne 'setup';
	my $out = '';
	my $status = run_status(
		[
			qw(meson test --no-rebuild), "--logbase=testlog-$what",
			"--timeout-multiplier=$b->{slow}", '-C',
			$b->{build}, @$arguments
		],
		env => $self->{build}->environment($b),
		user => $config->user,
		cwd => $b->{build},
		out => \$out,
		err => \my $err,
		watch => sub {
			my ($done) = reverse $_[0] =~ m{^ *(\d+/\d+) }mg;
			progress("testing $b->{name}: $done tests") if defined $done;
		});
	$out = last_lines("$out$err");
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
			"see $b->{build}/meson-logs", $out);
	}
	if ($status != 0 && !grep { $_->{result} eq 'fail' } @results)
	{
		fail(
			2,
			"meson test of $what on $b->{name} ended with status $status",
			"see $b->{build}/meson-logs", $out);
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

		# JSON has characters, the rest of what is printed is bytes.
		my $text = ($t->{stdout} || '') . ($t->{stderr} || '');
		utf8::encode($text);
		push @said, last_lines($text);
	}
	return join("\n", @said);
}

sub last_lines
{
	my ($text) = @_;
	my @lines = split /\n/, $text;
	splice(@lines, 0, @lines - 40) if @lines > 40;
	return join("\n", @lines);
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
	fail(
		2,
		"build $b->{name} has no documentation to check",
		'choose another: pgseries test docs --build=assert') if $b->{make};
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
