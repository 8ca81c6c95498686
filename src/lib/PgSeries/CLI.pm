package PgSeries::CLI;

use strict;
use warnings FATAL => 'all';

use Getopt::Long ();
use IO::Handle   ();
use JSON::PP     ();
use POSIX        ();
use PgSeries::Build;
use PgSeries::Config;
use PgSeries::Series;
use PgSeries::Server;
use PgSeries::Test;
use PgSeries::Util
  qw(fail find_tool info note_interrupts run_cleanups take_lock);

=pod

=head1 NAME

PgSeries::CLI - the commands of pgseries

=head1 DESCRIPTION

One table, C<%COMMAND>, holds for every command its usage, summary, options,
example and code.  The code gets the command line's context and the words that
are left, and returns the exit status.  Results go to standard output, or as one
JSON document with C<--json>; all else goes to standard error.

=cut

my %COMMAND = (
	fetch => {
		usage => '',
		summary => 'obtain upstream\'s source and verify its checksum',
		example =>
		  'PGSERIES_TARBALL=~/postgresql-18.6.tar.bz2 pgseries fetch',
		code => sub {
			my ($c) = @_;
			my $file = $c->series->upstream->fetch;
			return $c->say({ tarball => $file }, $file);
		},
	},
	apply => {
		usage => '[N]',
		summary =>
		  'make the worktree: upstream plus the first N patches (all by default)',
		options =>
		  { 'resolve' => 'stop at a conflict and leave it for editing' },
		example => 'pgseries apply 2',
		code => \&apply,
	},
	status => {
		usage => '',
		summary => 'show the patches, the worktree and the builds',
		example => 'pgseries status --json',
		code => \&status,
	},
	export => {
		usage => '',
		summary => 'write the worktree\'s commits to patches/',
		options => {
			'dry-run' => 'write nothing; exit 1 if anything differs',
			'topic=s' => 'topic of commits that are new',
			'remove' => 'drop the patches that have no commit',
		},
		example => 'pgseries export --topic=indexes',
		code => \&export,
	},
	lint => {
		usage => '',
		summary => 'check the form of the patches',
		example => 'pgseries lint',
		code => \&lint,
	},
	check => {
		usage => '[CONFIGURATION...]',
		summary =>
		  'check that the series holds: lint and round trip, or what an option names',
		options => {
			'round-trip' => 'apply, export and compare only',
			'prefix=s' =>
			  'build and test the first K patches, or each prefix from K to L (10-20), or "each"',
			'topic=s' =>
			  'build and test one topic on plain upstream, or "each"',
			'world' =>
			  'test the series in all configurations, or those named: assert, autoconf, exec-backend, sanitize, clang, m32, valgrind',
			'plans' =>
			  'run the regression suite on base and patched (or the topic) and compare all plans',
		},
		example => 'pgseries check --topic=each',
		code => \&check,
	},
	build => {
		usage => '[NAME...]',
		summary =>
		  'build base and patched, or the builds named (base, patched, base-assert, assert, prefix-N, topic-NAME, or one of check --world)',
		options => {
			'prefix=s' => 'build the series for real use and install it here'
		},
		example => 'pgseries build --prefix=/opt/pgsql',
		code => \&build,
	},
	test => {
		usage => '[NAME...]',
		summary =>
		  'run tests on the assertion build: regress, isolation, added, extension, docs, world, or names of upstream\'s tests or suites',
		options => { 'build=s' => 'the build to test (default: assert)' },
		example => 'pgseries test isolation recovery/027_stream_regress',
		code => \&test,
	},
	server => {
		usage => 'start|stop|psql [base|patched]',
		summary =>
		  'run a server of a build (default: patched), or psql on it',
		options => { 'port=i' => 'TCP port (base 15432, patched 15433)' },
		example => 'pgseries server start && pgseries server psql',
		code => \&server,
	},
	stress => {
		usage => 'sqlsmith|differential|crash',
		summary =>
		  'look for crashes and wrong results with random statements, or kill -9',
		options => {
			'seed=i' => 'seed of what is random (default: the time)',
			'short' => 'a minute or two only',
			'queries=i' =>
			  'number of queries (sqlsmith: 500000, differential: 20000)',
			'rounds=i' => 'number of crashes (default: 100)',
			'build=s' =>
			  'the build to test (default: assert; differential: patched)',
		},
		example => 'pgseries stress differential --seed=1 --queries=1000',
		code => \&stress,
	},
	demo => {
		usage => '',
		summary => 'show on one screen what the series does',
		options => {
			'tiny' =>
			  'measure tiny tables, and only once: a test of the demo',
		},
		example => 'pgseries demo',
		code => \&demo,
	},
	bench => {
		usage => 'NAME... | all',
		summary => 'measure base against patched',
		options => {
			'method=s' =>
			  'instructions, count or time only (default: what the benchmark has)',
			'gate=f' =>
			  'exit 1 if patched needs more than this share of base, such as 1.01',
			'case=s@' => 'only cases with NAME=VALUE (repeatable)',
			'pairs=i' => 'number of A/B pairs (default: the benchmark\'s)',
			'seconds=f' => 'length of one timed run',
			'seed=i' => 'seed of the order of the pairs',
			'output=s' =>
			  'directory for the results (default: BUILD/results)',
		},
		example =>
		  'pgseries bench many-indexes --method=instructions --case indexes=60',
		code => \&bench,
	},
	report => {
		usage => '',
		summary =>
		  'write BUILD/report/index.html: plots, worst cases, all figures',
		options => {
			'results=s' =>
			  'directory of results (default: benchmarks/results)',
			'docs' =>
			  'write doc/results.md and the figures in README.md instead',
			'dry-run' =>
			  'with --docs: write nothing; exit 1 if a document differs',
		},
		example => 'pgseries report --results=build/results',
		code => \&report,
	},
	submit => {
		usage => '-vN',
		summary =>
		  'write vN-0001-... patches, cover letter and results, ready to mail; sends nothing',
		options => {
			'v=i' => 'version of the set',
			'topic=s' => 'only the patches of this topic',
		},
		example => 'pgseries submit -v2 --topic=indexes',
		code => \&submit,
	},
	rebase => {
		usage => 'VERSION',
		summary => 'tell which patches need a hand on another minor release',
		options => {
			'tarball=s' => 'its tarball (default: obtain it)',
		},
		example => 'pgseries rebase 18.7',
		code => \&rebase,
	},
	'range-diff' => {
		usage => 'FROM TO',
		summary =>
		  'compare two versions of the series: sets made by submit, tags or commits of this checkout, or "current"',
		example => 'pgseries range-diff v1 current',
		code => sub {
			my ($c, $from, $to, @more) = @_;
			usage_error('range-diff takes two versions', 'range-diff')
			  if !defined $to || @more;
			my $text = $c->series->range_diff(map { $c->series->version($_) }
				  ($from, $to));
			return $c->say({ range_diff => $text }, $text);
		},
	},
	doctor => {
		usage => '',
		summary => 'check tools, disk, user and directories',
		example => 'pgseries doctor',
		lock => 0,
		code => \&doctor,
	},);

=head1 FUNCTIONS

=over

=item main($top, @arguments)

Runs a command; returns its exit status.

=back

=cut

sub main
{
	my ($top, @arguments) = @_;
	note_interrupts();
	local $| = 1;
	my $status = eval {
		my $code = dispatch($top, @arguments);


		# In a pipe whose reader has seen enough there is nothing left to say.
		STDOUT->flush && !STDOUT->error
		  or -p STDOUT
		  or fail(
			2,
			"cannot write standard output: $!",
			'free some space, then run the same command again');
		$code;
	};
	if (!defined $status)
	{
		my $error = $@;
		if (ref $error && $error->isa('PgSeries::Error'))
		{
			info("$error->{detail}") if defined $error->{detail};
			info("pgseries: $error->{message}"
				  . ($error->{remedy} ne '' ? "; $error->{remedy}" : ''));
			$status = $error->{code};
		}
		else
		{
			info("pgseries: $error");
			$status = 2;
		}
	}
	run_cleanups();
	return $status;
}

sub usage_error
{
	my ($message, $command) = @_;
	return fail(2, $message,
		defined $command
		? "see: pgseries $command --help"
		: 'see: pgseries --help');
}

sub dispatch
{
	my ($top, @arguments) = @_;
	my $c = bless { json => 0 }, 'PgSeries::CLI';
	while (@arguments && $arguments[0] =~ /^-/)
	{
		my $option = shift @arguments;
		if    ($option eq '--json')            { $c->{json} = 1; }
		elsif ($option =~ /^(--help|-h|-\?)$/) { print help(); return 0; }
		elsif ($option =~ /^(--version|-V)$/)  { @arguments = ('status'); }
		else { usage_error("unknown option $option"); }
	}
	my $name = shift @arguments;
	if (!defined $name) { print STDERR help(); return 2; }
	if ($name eq 'help')
	{
		print help(@arguments ? known($arguments[0]) : ());
		return 0;
	}
	known($name);
	my $command = $COMMAND{$name};
	my %options = %{ $command->{options} || {} };
	my $parser = Getopt::Long::Parser->new(
		config => [qw(no_auto_abbrev no_ignore_case)]);
	my $said = '';
	local @ARGV = map { /^-v(\d+)$/ ? ('--v', $1) : $_ } @arguments;
	my ($ok, $want_help);
	{
		local $SIG{__WARN__} = sub { $said .= $_[0]; };
		$ok = $parser->getoptions(
			'help|h' => \$want_help,
			'json' => \$c->{json},
			map { ($_ => option_target($c, $_)) } keys %options);
	}
	if ($want_help) { print help($name); return 0; }
	if (!$ok)
	{
		chomp $said;
		$said =~ s/\n.*//s;
		usage_error(lcfirst $said, $name);
	}
	$c->{config} = PgSeries::Config->new(top => $top);
	if (!defined $command->{lock} || $command->{lock})
	{
		take_lock($c->{config}->work . '/lock');
	}
	return $command->{code}->($c, @ARGV);
}

sub option_target
{
	my ($c, $spec) = @_;
	my ($key) = $spec =~ /^([\w-]+)/;
	$key =~ s/-/_/g;
	return \($c->{option}{$key});
}

sub known
{
	my ($name) = @_;
	usage_error("unknown command \"$name\"") unless $COMMAND{$name};
	return $name;
}

sub help
{
	my ($name) = @_;
	my $text = '';
	if (defined $name)
	{
		my $command = $COMMAND{$name};
		my %options = (
			%{ $command->{options} || {} },
			'json' => 'print the result as JSON');
		my $usage = $command->{usage} eq '' ? '' : " $command->{usage}";
		$text = "pgseries $name - $command->{summary}\n\n"
		  . "Usage: pgseries $name [OPTION]...$usage\n\nOptions:\n";
		for my $spec (sort keys %options)
		{
			my ($key, $type) = $spec =~ /^([\w-]+)(?:=(\w))?/;
			my %word = (s => 'TEXT', i => 'N', f => 'NUMBER');
			my $shown =
			  length $key == 1
			  ? "-$key"
			  : "--$key" . ($type ? "=$word{$type}" : '');
			$shown = '-vN' if $key eq 'v';
			$text .= sprintf "  %-18s %s\n", $shown, $options{$spec};
		}
		return "$text\nExample: $command->{example}\n";
	}
	$text =
	  "pgseries - a PostgreSQL patch series: apply, build, test, measure, submit\n\n"
	  . "Usage: pgseries [--json] COMMAND [OPTION]...\n\nCommands:\n";
	for (
		qw(fetch apply status export lint check build test stress server
		demo bench report submit rebase range-diff doctor))
	{
		$text .= sprintf "  %-11s %s\n", $_, $COMMAND{$_}{summary};
	}
	return $text . <<'EOT';

Exit status: 0 success; 1 a finding, a failed test or a regression; 2 trouble
(usage, missing tool, wrong checksum, full disk); 3 a patch does not apply;
130 interrupted.  "pgseries COMMAND --help" tells more; doc/pgseries.md is the
manual.
EOT
}

# The context of a command.

sub config { my ($c) = @_; return $c->{config}; }

sub series
{
	my ($c) = @_;
	return $c->{series} ||= PgSeries::Series->new($c->config);
}

sub builds
{
	my ($c) = @_;
	return $c->{builds} ||= PgSeries::Build->new($c->config, $c->series);
}

sub say
{
	my ($c, $data, $text) = @_;
	if ($c->{json})
	{
		print JSON::PP->new->canonical->pretty->encode($data);
	}
	elsif ($text ne '')
	{
		print $text =~ /\n\z/ ? $text : "$text\n";
	}
	return 0;
}

sub no_words
{
	my ($name, @words) = @_;
	usage_error("$name takes no argument \"$words[0]\"", $name) if @words;
	return;
}

# The commands.

sub apply
{
	my ($c, $n, @more) = @_;
	no_words('apply', @more);
	my $count = $c->series->apply($n, resolve => $c->{option}{resolve});
	my $tree = $c->series->tree;
	return $c->say(
		{ worktree => $tree, patches => $count },
		"$tree: upstream "
		  . $c->series->upstream->actual_version
		  . " and $count patches");
}

sub status
{
	my ($c, @words) = @_;
	no_words('status', @words);
	my $series = $c->series;
	my %data = (
		upstream => $series->upstream->actual_version,
		worktree => $c->config->work . '/tree',
		patches => [
			map {
				{ %$_, subject => $series->subject($_->{path}) }
			} $series->patches
		]);
	my $text = "upstream: PostgreSQL $data{upstream}\n";
	my $topic = '';
	for my $p (@{ $data{patches} })
	{
		$text .= "topic $p->{topic}\n" if $p->{topic} ne $topic;
		$topic = $p->{topic};
		$text .= sprintf "  %4d  %s\n", $p->{number}, $p->{subject};
	}
	if (-d "$data{worktree}/.git")
	{
		my $dirty =
		  $series->in_progress ? undef : scalar(my @d = $series->dirty);
		$data{uncommitted} = $dirty;
		$data{unexported} = [ $series->unexported ];
		$text .= "worktree: $data{worktree}: "
		  . (
			  !defined $dirty ? 'a git am or rebase is in progress'
			: $dirty          ? "$dirty uncommitted changes"
			: @{ $data{unexported} }
			? @{ $data{unexported} } . ' commits not exported'
			: 'clean') . "\n";
	}
	else { $text .= "worktree: not made yet (pgseries apply)\n"; }
	for my $name (qw(base patched base-assert assert))
	{
		my $b = $c->builds->describe($name);
		my $have = -f $b->{stamp} ? 'built' : 'not built';
		$data{builds}{$name} = $have;
		$text .= sprintf "build %-12s %s  %s\n", "$name:", $have, $b->{dir};
	}
	return $c->say(\%data, $text);
}

sub export
{
	my ($c, @words) = @_;
	no_words('export', @words);
	my $dry = $c->{option}{dry_run};
	my @said = $c->series->export(
		dry_run => $dry,
		remove => $c->{option}{remove},
		topic => $c->{option}{topic});
	$c->say({ changes => \@said },
		@said
		? join("\n", @said)
		: 'patches/ and the worktree agree');
	return $dry && @said ? 1 : 0;
}

sub lint
{
	my ($c, @words) = @_;
	no_words('lint', @words);
	my $result = run_lint($c);
	my $found = @{ $result->{findings} };
	$c->say($result,
		PgSeries::Lint::format_text($result)
		  . "$result->{checked} patches checked, $found findings\n");
	return $found ? 1 : 0;
}

sub run_lint
{
	my ($c) = @_;
	require PgSeries::Lint;
	my %tools = (
		pgindent => scalar find_bsdindent($c),
		perltidy => scalar find_tool('perltidy'));
	return PgSeries::Lint->new(
		top => $c->config->top,
		patches => $c->config->patches,
		tree => $c->series->tree,
		user => $c->config->user,
		tools => \%tools)->run;
}

sub find_bsdindent
{
	my ($c) = @_;
	for my $name (qw(assert patched base-assert base))
	{
		my $b = $c->builds->describe($name);
		my $program = "$b->{build}/src/tools/pg_bsd_indent/pg_bsd_indent";
		return $program if -x $program;
	}
	return;
}

sub check
{
	my ($c, @words) = @_;
	my $o = $c->{option};
	my $series = $c->series;
	my @modes = grep { defined $o->{$_} } qw(round_trip prefix world plans);
	push @modes, 'topic' if defined $o->{topic} && !$o->{plans};
	usage_error(
		'check does one thing at a time, not '
		  . join(' and ', map { s/_/-/r } @modes),
		'check') if @modes > 1;
	if ($o->{world})
	{
		require PgSeries::World;
		return PgSeries::World::command($c, @words);
	}
	no_words('check', @words);
	if ($o->{plans})
	{
		usage_error('check --plans takes one topic, not "each"', 'check')
		  if defined $o->{topic} && $o->{topic} eq 'each';
		require PgSeries::Plans;
		my @builds =
		  defined $o->{topic}
		  ? ('base-assert', "topic-$o->{topic}")
		  : ('base', 'patched');
		return PgSeries::Plans::compare($c, @builds);
	}
	my @names = names_to_check($series, $o);
	if (@names)
	{
		my $test = PgSeries::Test->new($c->config, $c->builds);
		my ($place, @results);
		$c->builds->describe($_) for @names;
		for my $name (@names)
		{
			# Prefixes follow each other in one directory, where little is to be
			# compiled from one to the next; that of a failure is left as it is.
			$c->builds->place($name, $place //= $name)
			  if defined $o->{prefix};
			my @of = PgSeries::Test::attempt(
				'src/bin/pgseries check --' . $name =~ s/-/=/r,
				sub {
					my @patches = @{ $c->builds->describe($name)->{patches} };
					my ($suites, $tests) = $test->suites(@patches);
					return $test->run_suites($name, $suites, $tests);
				});
			my %count = PgSeries::Test::count(@of);
			undef $place if $count{fail};
			$_->{name} = "$name: $_->{name}" for @of;
			push @results, @of;

			# An interrupt must not take with it what has been found.
			info(
					join('', map { failure($_) } @of)
				  . "$name: "
				  . counts(%count))
			  if @names > 1;
		}
		return show_results($c, @results);
	}
	my $lint = $o->{round_trip} ? undef : run_lint($c);
	my @said = $series->round_trip;
	if (@said)
	{
		info(
			'pgseries: patches/ does not survive apply and export; run: pgseries apply && pgseries export'
		);
	}
	$c->say(
		{ round_trip => \@said, $lint ? (lint => $lint) : () },
		($lint     ? PgSeries::Lint::format_text($lint) : '')
		  . (@said ? join("\n", @said) : 'round trip: no difference'));
	return @said || $lint && @{ $lint->{findings} } ? 1 : 0;
}

# The builds that --prefix or --topic asks for.
sub names_to_check
{
	my ($series, $o) = @_;
	if (defined(my $prefix = $o->{prefix}))
	{
		my $n = $series->patches;
		my ($first, $last) =
			$prefix eq 'each'          ? (1, $n)
		  : $prefix =~ /^(\d+)-(\d+)$/ ? ($1, $2)
		  :                              ($prefix, $prefix);
		$series->prefix($_) for $first, $last;
		usage_error("--prefix=$prefix: there is nothing from $first to $last",
			'check')
		  if $first > $last;
		return map { "prefix-$_" } $first .. $last;
	}
	return () unless defined $o->{topic};
	return
	  map { "topic-$_" }
	  $o->{topic} eq 'each' ? $series->topics : ($o->{topic});
}

# A failed test as it is printed; nothing for others.
sub failure
{
	my ($r) = @_;
	return '' if $r->{result} ne 'fail';
	return "fail  $r->{name}\n$r->{detail}\nrerun: $r->{rerun}\n";
}

sub counts
{
	my (%count) = @_;
	return "$count{ok} passed, $count{fail} failed, $count{skip} skipped";
}

sub show_results
{
	my ($c, @results) = @_;
	fail(2, 'no test was run', 'name one: see pgseries test --help')
	  unless @results;
	my %count = PgSeries::Test::count(@results);
	my $text = '';
	for my $r (@results)
	{
		$text .= failure($r) || sprintf "%-5s %s\n", $r->{result}, $r->{name};
	}
	$text .= counts(%count) . "\n";
	$c->say({ results => \@results, %count }, $text);
	return $count{fail} ? 1 : 0;
}

sub build
{
	my ($c, @names) = @_;
	if (defined $c->{option}{prefix})
	{
		no_words('build --prefix', @names);
		my $b = $c->builds->install_to($c->{option}{prefix});
		return $c->say({ prefix => $b->{inst} },
			"installed below $b->{inst}");
	}
	@names = qw(base patched) unless @names;
	for my $name (@names) { $c->builds->describe($name); }
	my @built = map { $c->builds->ensure($_) } @names;
	my %where = map { $_->{name} => $_->{inst} } @built;
	return $c->say(\%where,
		join("\n", map { "$_->{name}: $_->{inst}" } @built));
}

sub test
{
	my ($c, @names) = @_;
	my $test = PgSeries::Test->new($c->config, $c->builds);
	my $build = $c->{option}{build} || 'assert';
	@names = qw(regress isolation added extension docs) unless @names;
	my @patches = @{ $c->builds->describe($build)->{patches} };
	my (@suites, @tests, @results);
	for my $name (@names)
	{
		if ($name eq 'added')
		{
			my ($s, $t) = $test->suites(@patches);
			push @suites, grep { !/^(regress|isolation)$/ } @$s;
			push @tests, @$t;
			info('the series adds no tests besides regression and isolation')
			  if "@names" eq 'added' && !@suites && !@tests;
		}
		elsif ($name eq 'extension')
		{
			push @results, $test->extension('base-assert'),
			  $test->extension($build);
		}
		elsif ($name eq 'docs')  { push @results, $test->docs($build); }
		elsif ($name eq 'world') { push @results, $test->world($build); }
		elsif ($name =~ m{/})    { push @tests, $name; }
		else                     { push @suites, $name; }
	}
	push @results, $test->run_suites($build, \@suites, \@tests)
	  if @suites || @tests;
	return show_results($c, @results);
}

sub server
{
	my ($c, $what, $name, @more) = @_;
	no_words('server', @more);
	usage_error('server takes start, stop or psql', 'server')
	  unless defined $what && $what =~ /^(start|stop|psql)$/;
	$name = 'patched' unless defined $name;
	usage_error("there is no server \"$name\"", 'server')
	  unless $name =~ /^(base|patched)$/;
	my $b =
		$what eq 'start'
	  ? $c->builds->ensure($name)
	  : $c->builds->describe($name);
	my $port = $c->{option}{port};
	fail(2, "--port=$port is not a port", 'choose one from 1 to 65535')
	  if defined $port && ($port < 1 || $port > 65535);
	$port ||= ($name eq 'base' ? 15432 : 15433);
	my $server =
	  PgSeries::Server->new($c->config, $b, port => $port, tcp => 1);

	if ($what eq 'start')
	{
		fail(
			2,
			'the data in '
			  . $server->data
			  . " are of an earlier build of $name, whose catalogs may differ",
			"run: src/bin/pgseries server stop $name; remove "
			  . $server->data
			  . ', then start again'
		) if $server->exists && !$server->fits_build;
		if ($server->running && -f $server->passfile)
		{
			return $c->say(
				{ running => 1 },
				"already running; open it with: src/bin/pgseries server psql $name"
			);
		}
		$c->builds->extension($b);
		$server->create unless $server->exists;
		$server->start(keep => 1);
		return $c->say(
			{
				port => $port,
				data => $server->data,
				passfile => $server->passfile
			},
			"$name: open it with: src/bin/pgseries server psql $name; other programs: 127.0.0.1:$port, user postgres, PGPASSFILE="
			  . $server->passfile);
	}
	if ($what eq 'stop')
	{
		my $was = $server->running;
		$server->stop;
		return $c->say({ was_running => $was ? 1 : 0 },
			$was ? "$name: stopped" : "$name: was not running");
	}
	fail(
		2,
		"the server of build $name is not running",
		"start it with: src/bin/pgseries server start $name"
	) unless $server->running;
	my ($running_port) =
	  PgSeries::Util::read_file($server->data . '/postmaster.pid') =~
	  /\A(?:.*\n){3}(\d+)/;
	my %env = (
		%{ $server->environment },
		PGPORT => $running_port,
		PATH => $ENV{PATH},
		LC_ALL => $ENV{LC_ALL});

	# psql is the person's and has the terminal.  Root does not run what the
	# unprivileged user has built: there, psql runs as that user, on a terminal
	# of its own.
	my $user = $c->config->user;
	my @command = ("$b->{bin}/psql");
	if ($user && POSIX::isatty(0))
	{
		unshift @command, qw(runuser --pty -u), $user->{name}, '--';
		$env{HOME} = $user->{home};
		undef $user;
	}
	eval {
		PgSeries::Util::exec_child(\@command,
			{ env => \%env, user => $user, stdin => 1 });
		1;
	};
	return fail(
		2,
		"cannot run $b->{bin}/psql: $@",
		"run: src/bin/pgseries build $name");
}

sub stress
{
	my ($c, @words) = @_;
	require PgSeries::Stress;
	return PgSeries::Stress::command($c, @words);
}

sub demo
{
	my ($c, @words) = @_;
	require PgSeries::Demo;
	return PgSeries::Demo::command($c, @words);
}

sub bench
{
	my ($c, @names) = @_;
	require PgSeries::Bench;
	return PgSeries::Bench::command($c, @names);
}

sub report
{
	my ($c, @words) = @_;
	no_words('report', @words);
	require PgSeries::Report;
	return PgSeries::Report::report_command($c);
}

sub rebase
{
	my ($c, $version, @more) = @_;
	usage_error('rebase takes a version', 'rebase')
	  if !defined $version || @more;
	require PgSeries::Rebase;
	my @results =
	  PgSeries::Rebase::rebase($c->series, $version, $c->{option}{tarball});
	my @conflicts = grep { $_->{result} eq 'conflicts' } @results;
	my @lines =
	  map { join(' ', $_->{result}, $_->{patch}, @{ $_->{files} }) } @results;
	push @lines,
	  @conflicts
	  ? scalar(@conflicts) . ' of ' . scalar(@results) . ' need a hand'
	  : "none of "
	  . scalar(@results)
	  . " needs a hand; branch series-$version has them";
	$c->say({ version => $version, patches => \@results },
		join("\n", @lines));
	return @conflicts ? 3 : 0;
}

sub submit
{
	my ($c, @words) = @_;
	no_words('submit', @words);
	usage_error('submit needs a version', 'submit')
	  unless defined $c->{option}{v};
	require PgSeries::Submit;
	PgSeries::Submit::check_set($c, $c->{option}{v}, $c->{option}{topic});
	my $lint = run_lint($c);
	fail(
		1,
		'lint has findings',
		'correct them, then submit again',
		PgSeries::Lint::format_text($lint)) if @{ $lint->{findings} };
	my @said = $c->series->round_trip;
	fail(
		1,
		'the series does not survive apply and export',
		'run: pgseries apply && pgseries export',
		join("\n", @said)) if @said;
	my $dir =
	  PgSeries::Submit::write_set($c, $c->{option}{v}, $c->{option}{topic});
	return $c->say({ directory => $dir },
		"$dir: read cover-letter, then mail the set");
}

sub doctor
{
	my ($c, @words) = @_;
	no_words('doctor', @words);
	require PgSeries::Doctor;
	my @findings = PgSeries::Doctor::examine($c->config);
	my $bad = grep { $_->{level} eq 'missing' } @findings;
	$c->say(
		{ findings => \@findings },
		join('',
			map { sprintf "%-8s %s\n", $_->{level}, $_->{text} } @findings));
	return $bad ? 2 : 0;
}

1;
