package PgSeries::CLI;

use strict;
use warnings FATAL => 'all';

use Getopt::Long ();
use IO::Handle   ();
use POSIX        ();
use PgSeries::Config;
use PgSeries::Series;
use PgSeries::Server;
use PgSeries::Test;
use PgSeries::Util
  qw(as_error fail info note_interrupts run_cleanups take_lock);
use PgSeries::World;

=pod

=head1 NAME

PgSeries::CLI - the commands of pgseries

=head1 DESCRIPTION

C<$HELP> is both what C<--help> prints and what the command line is parsed by: for every
command the words that it takes (those in brackets may be left out, "..." stands for
more), a line on what it does, its options and an example.  A number is called N or
NUMBER.

A command NAME is the function of that name here, or C<command> of the module that
C<%MODULE> names.  It gets the command line's context and the words, and returns the exit
status; C<check_NAME>, or C<check_arguments> of the module, called in the same way before
the lock is taken, raises an error if they make no sense.  Results go to standard output,
all else to standard error.

=cut

my $HELP = <<'EOT';
fetch
  obtain upstream's source and verify its checksum
  Example: PGSERIES_TARBALL=~/postgresql-18.6.tar.bz2 pgseries fetch
apply [N]
  make the worktree: upstream plus the first N patches, or all
  Example: pgseries apply 2
status
  show the patches, the worktree and the builds
  Example: pgseries status
export
  write the worktree's commits to patches/
  --dry-run          write nothing; exit 1 if anything differs
  --topic=TOPIC      topic of commits that are new
  --remove           drop the patches that have no commit
  --overwrite        write over patches that have changed since apply or export
  Example: pgseries export --topic=indexes
lint
  check the form of the patches
  Example: pgseries lint
check [NAME...]
  check that the series holds: lint and round trip, or one of these
  --round-trip       apply, export and compare only
  --prefix=K         build and test the first K patches, or each prefix from K to L
                     (10-20), or "each"
  --topic=TOPIC      build and test one topic on plain upstream, or "each"
  --world            test the series in all configurations, or those named: autoconf,
                     exec-backend, sanitize, clang, m32, valgrind
  --plans            run the regression suite on base and patched, compare all plans
  --abi              compare what extensions see of the servers base and patched
  --packages         make packages in a chroot, exchange them under all extensions of
                     the archive, and go back; takes an hour
  --loads            standard loads on base and patched, paired, all or those named:
                     pgbench, sysbench, suite, dump; takes more than an hour
  --short            with --loads: one short pair of each: a test of the command
  Example: pgseries check --topic=each
build [NAME...]
  build base and patched, or the builds named
  Others are base-assert, assert, prefix-N, topic-NAME, and those of check --world.
  --prefix=DIR       build the series for real use and install it here
  Example: pgseries build --prefix=/opt/pgsql
deb
  build packages from this system's source package, as an apt repository in BUILD/deb
  -vN                the N of their version, VERSION+pgseriesN (default: 1)
  --output=DIR       the directory instead
  Example: pgseries deb -v2
preflight DATADIR
  tell what is in the way of an exchange of the binaries of a running server
  Example: pgseries preflight /var/lib/postgresql/18/main
test [NAME...]
  run tests on the assertion build
  Names are regress, isolation, added, extension, docs, world, and those of upstream's
  tests and suites.
  --build=NAME       the build to test (default: assert)
  Example: pgseries test isolation recovery/027_stream_regress
server start|stop|psql [base|patched]
  run a server of a build (default: patched), or psql on it
  Example: pgseries server start && pgseries server psql
stress sqlsmith|differential|crash
  look for crashes and wrong results: random statements, kill -9
  --seed=N           seed of what is random (default: the time)
  --short            a minute or two only
  --count=N          of queries (sqlsmith: 500000, differential: 20000) or crashes (100)
  --build=NAME       the build to test (default: assert; differential: patched)
  Example: pgseries stress differential --seed=1 --count=1000
hunt
  look for statements that are worse than on base: time, rows, locks, failing DDL
  --kind=KIND        time, rows, locks or ddl only
  --minutes=NUMBER   how long, for all kinds together (default: 120)
  --seed=N           seed of what is random (default: the time)
  --topic=TOPIC      what a topic is about, more often
  --build=NAME       the build to hunt in (default: patched)
  --patched=DIR      the server installed there instead
  Example: pgseries hunt --kind=time --minutes=30
demo
  show on one screen what the series does
  --tiny             measure tiny tables, and only once: a test of the demo
  Example: pgseries demo
bench NAME...|all
  measure base against patched
  --method=METHOD    instructions, count or time only (default: all that there are)
  --gate=NUMBER      exit 1 if patched needs more than this share of base, such as 1.01
  --case=NAME=VALUE...
                     only cases with this value (repeatable)
  --pairs=N          number of A/B pairs (default: the benchmark's)
  --seconds=NUMBER   length of one timed run
  --seed=N           seed of the order of the pairs
  --output=DIR       directory for the results (default: BUILD/results[/master])
  Example: pgseries bench many-indexes --method=instructions --case indexes=60
report
  write BUILD/report/index.html: plots, worst cases, all figures
  --results=DIR      directory of results (default: benchmarks/results)
  --docs             write doc/results.md and the figures in README.md instead
  --dry-run          with --docs: write nothing; exit 1 if a document differs
  Example: pgseries report --results=build/results
submit
  write a topic's patches and cover letter, ready to mail; sends nothing
  -vN                version of the set; needed, as the topic is
  --topic=TOPIC      the topic, or "each": a set for each
  --author=AUTHOR    NAME <MAIL>, the sender (default: git config pgseries.author)
  Example: pgseries submit -v2 --topic=indexes --author="Ann <ann@example.org>"
port TOPIC
  apply what a base has of a topic to the worktree of the other one
  --from=BASE        where the patches are
  --to=BASE          where they are to go
  Example: pgseries port locks --from=18 --to=master
range-diff BASE BASE TOPIC
  compare the patches of a topic on two bases
  Example: pgseries range-diff 18 master locks
EOT

my %MODULE =
  map { $_ => "PgSeries::\u$_" }
  qw(stress hunt demo bench report submit port deb preflight);
my (@names, %COMMAND);
for (split /\n(?=\w)/, $HELP)
{
	my ($name, $usage, $text) = /^(\S+) ?(\N*)\n(.*)/s;
	push @names, $name;
	$COMMAND{$name} = { usage => $usage, help => $text };
}

# Runs a command; returns its exit status.
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
		my $error = as_error($@);
		info($error->{detail}) if defined $error->{detail};
		info("pgseries: $error->{message}; $error->{remedy}");
		$status = $error->{code};
	}
	run_cleanups();

	# What is done is done: an interrupt of Perl's own end must not look like a failure.
	@SIG{qw(INT TERM HUP)} = ('IGNORE') x 3;
	return $status;
}

sub usage_error
{
	my ($message, @command) = @_;
	return fail(2, $message, "see: pgseries @{[ @command, '--help' ]}");
}

sub dispatch
{
	my ($top, @arguments) = @_;
	my $c = bless {}, 'PgSeries::CLI';
	my $name = shift @arguments // '';
	if ($name eq '')       { print STDERR help(); return 2; }
	if ($name eq '--help') { print help();        return 0; }
	usage_error("unknown option $name") if $name =~ /^-/;
	my $command = $COMMAND{$name} // usage_error("unknown command \"$name\"");
	my $parser = Getopt::Long::Parser->new(
		config => [qw(no_auto_abbrev no_ignore_case)]);
	local @ARGV = map { /^-v(\d+)$/ ? ('--v', $1) : $_ } @arguments;
	local $SIG{__WARN__} =
	  sub { usage_error(lcfirst $_[0] =~ s/\n.*//sr, $name); };
	$parser->getoptions(
		'help' => \my $want_help,
		'base=s' => \my $base,
		options($c->{option} = {}, $command->{help}));
	if ($want_help) { print help($name); return 0; }
	check_words($name, @ARGV);
	$base //= 'master'
	  if $name eq 'submit' && -f "$top/patches/master/BASE";
	$c->{config} = PgSeries::Config->new(top => $top, base => $base);
	my $module = $MODULE{$name} // 'PgSeries::CLI';
	my $function = $name =~ tr/-/_/r;
	my ($check, $code) = ("check_$function", $function);

	if ($MODULE{$name})
	{
		require($module =~ s{::}{/}r . '.pm');
		($check, $code) = qw(check_arguments command);
	}
	$_->($c, @ARGV) for $module->can($check) // ();
	take_lock($c->{config}->shared_work . '/lock')
	  if $name !~ /^(?:status|preflight)$/;
	return $module->can($code)->($c, @ARGV);
}

# Getopt::Long's specifications of the options that a help text has, for a hash.
sub options
{
	my ($hash, $help) = @_;
	my %type = ('' => '', N => '=i', NUMBER => '=f');
	my @options = $help =~ /^  -vN/m ? ('v=i' => \$hash->{v}) : ();
	while ($help =~ /^  --([\w-]+)=?(\S*)/mg)
	{
		my ($name, $value) = ($1, $2);
		my $spec = $name . ($type{$value} // '=s');
		$spec .= '@' if $value =~ /\.\.\.$/;
		push @options, $spec => \$hash->{ $name =~ s/-/_/gr };
	}
	return @options;
}

# As many words as the usage has?
sub check_words
{
	my ($name, @words) = @_;
	my $usage = $COMMAND{$name}{usage};
	my @takes = split ' ', $usage;
	my @must = grep { !/^\[/ } @takes;
	usage_error(
		"$name takes " . join(' and ', map { /^\w+$/ ? "a \L$_" : $_ } @must),
		$name) if @words < @must;
	usage_error("$name takes no argument \"$words[@takes]\"", $name)
	  if @words > @takes && $usage !~ /\.\.\./;
	return;
}

sub help
{
	my ($name) = @_;
	if (defined $name)
	{
		my ($usage, $text) = @{ $COMMAND{$name} }{qw(usage help)};
		return "Usage: pgseries $name [OPTION]... $usage\n\n"
		  . $text =~
		  s/^(?=  Example)/  --base=BASE        18 (default; submit: master) or master\n  --help             show this text\n\n/mr
		  . "\n";
	}
	my $list = join '',
	  map { sprintf "  %-10s%s\n", $_, (split /\n/, $COMMAND{$_}{help})[0] }
	  @names;
	return <<"EOT";
pgseries - a PostgreSQL patch series: apply, build, test, measure, submit

Usage: pgseries COMMAND [OPTION]...

Commands:
$list
Exit status: 0 success; 1 a finding, a failed test or a regression; 2 trouble
(usage, missing tool, wrong checksum, full disk); 3 a patch does not apply;
130 interrupted.  "pgseries COMMAND --help" tells more; doc/develop.md is the
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

# The series of another base.
sub series_of
{
	my ($c, $base) = @_;
	return PgSeries::Series->new($c->config->with_base($base));
}

sub builds
{
	my ($c) = @_;
	return $c->{builds} ||= PgSeries::World->new($c->config, $c->series);
}

sub tests
{
	my ($c) = @_;
	return PgSeries::World::Test->new($c->config, $c->builds);
}

# Prints the last argument.  Returns 0.
sub say
{
	my ($c, $text) = @_;
	print $text =~ /(?:\n|^)\z/ ? $text : "$text\n";
	return 0;
}

# The commands.

sub fetch
{
	my ($c) = @_;
	return $c->say($c->series->upstream->fetch);
}

sub check_apply
{
	my ($c, $n) = @_;
	$c->series->prefix($n) if defined $n;
	return;
}

sub apply
{
	my ($c, $n) = @_;
	my $count = $c->series->apply($n);
	return $c->say($c->series->tree
		  . ': upstream '
		  . $c->series->upstream->version
		  . " and $count patches");
}

sub status
{
	my ($c) = @_;
	my $series = $c->series;
	my $text =
		'base: '
	  . $c->config->patches
	  . ', for PostgreSQL '
	  . $series->upstream->version . "\n";
	for my $topic (map { $series->about($_) } $series->topics)
	{
		$text .=
		  "topic $topic->{name}: "
		  . join('; ', $topic->{about},
			map { "needs $_" } @{ $topic->{needs} })
		  . "\n";
		$text .= sprintf "  %4d  %s  %s\n", $_->{number}, place($_),
		  $series->subject($_->{path})
		  for $series->topic($topic->{name});
	}
	my $tree = $c->config->work . '/tree';
	my $state = 'not made yet (pgseries apply)';
	if (-d "$tree/.git")
	{
		my $busy = $series->in_progress;
		my @dirty = $busy ? () : $series->dirty;
		my @new = $series->unexported;
		$state =
			$busy  ? 'a git am, rebase or cherry-pick is in progress'
		  : @dirty ? @dirty . ' uncommitted changes'
		  : @new   ? @new . ' commits not exported'
		  :          'clean';
	}
	$text .= "worktree: $tree: $state\n";
	for my $name (qw(base patched assert))
	{
		my $b = $c->builds->describe($name);
		$text .= sprintf "build %-12s %s  %s\n", "$name:",
		  -f $b->{stamp} ? 'built' : 'not built', $b->{dir};
	}
	return $c->say($text);
}

# Where a patch is, in few characters.
sub place
{
	my ($patch) = @_;
	return $patch->{file} =~ s{(/\d+).*}{$1}r;
}

sub export
{
	my ($c) = @_;
	my @said =
	  $c->series->export(map { $_ => $c->{option}{$_} }
		  qw(dry_run overwrite remove topic));
	$c->say(
		@said
		? join("\n", @said)
		: 'patches/ and the worktree agree');
	return $c->{option}{dry_run} && @said ? 1 : 0;
}

sub lint
{
	my ($c) = @_;
	my $result = run_lint($c);
	my $found = @{ $result->{findings} };
	$c->say(PgSeries::Lint::format_text($result)
		  . "$result->{checked} patches checked, $found findings\n");
	return $found ? 1 : 0;
}

sub run_lint
{
	my ($c) = @_;
	require PgSeries::Lint;
	my ($indent) =
	  grep { -x }
	  map {
		$c->builds->describe($_)->{build}
		  . '/src/tools/pg_bsd_indent/pg_bsd_indent'
	  } qw(assert patched base);
	return PgSeries::Lint->new($c->series, pgindent => $indent)->run;
}

sub check_check
{
	my ($c, @words) = @_;
	my $o = $c->{option};
	my @modes =
	  grep { defined $o->{$_} }
	  qw(round_trip prefix topic world plans abi packages loads);
	usage_error(
		'check does one thing at a time, not '
		  . join(' and ', map { s/_/-/r } @modes),
		'check') if @modes > 1;
	usage_error('--short goes with --loads', 'check')
	  if $o->{short} && !$o->{loads};
	$c->{names} = [];
	if ($o->{loads})
	{
		require PgSeries::Loads;
		return PgSeries::Loads::check_arguments($c, @words);
	}
	$c->{names} = [ names_to_check($c, @words) ];
	my @builds = map { $c->builds->describe($_) } @{ $c->{names} };

	# All hours of work would be in vain.
	$c->builds->check_tools($_) for @builds;
	if ($o->{abi})
	{
		usage_error('only 18 keeps its binary interface', 'check')
		  if $c->config->base ne '18';
		require PgSeries::Abi;
		PgSeries::Abi::check_tools();
	}
	if ($o->{packages})
	{
		require PgSeries::Packages;
		PgSeries::Packages::check_tools();
	}
	return;
}

sub check
{
	my ($c, @words) = @_;
	my $o = $c->{option};
	return check_builds($c, @{ $c->{names} }) if @{ $c->{names} };
	if ($o->{plans})
	{
		require PgSeries::Plans;
		return PgSeries::Plans::compare($c);
	}
	return PgSeries::Abi::compare($c) if $o->{abi};
	return PgSeries::Packages::compare($c) if $o->{packages};
	return PgSeries::Loads::compare($c, @words) if $o->{loads};
	my $findings = $o->{round_trip} ? 0 : lint($c);
	my @said = $c->series->round_trip;
	info(
		'pgseries: patches/ does not survive apply and export; run: pgseries apply && pgseries export'
	) if @said;
	$c->say(@said ? join("\n", @said) : 'round trip: no difference');
	return @said || $findings ? 1 : 0;
}

# Builds prefixes, topics or configurations, and tests them.
sub check_builds
{
	my ($c, @names) = @_;
	my $test = $c->tests;
	my ($place, @results);
	for my $name (@names)
	{
		my $start = time;
		my ($how, $shown, $option) = ('touched', $name, $name =~ s/-/=/r);
		($how, $option) = (PgSeries::World::how($name), "world $name")
		  if $c->{option}{world};
		if (defined $c->{option}{prefix})
		{
			# Prefixes follow each other in one directory, where little is to be
			# compiled from one to the next; that of a failure is left as it is.
			$c->builds->place($name, $place //= $name);
			my $last = $c->builds->describe($name)->{patches}[-1];
			$shown = "$name (" . place($last) . ')';
		}
		my @of = PgSeries::Test::attempt("src/bin/pgseries check --$option",
			sub { $test->$how($name) });
		undef $place if grep { $_->{result} eq 'fail' } @of;
		$_->{name} = "$shown: $_->{name}" for @of;
		push @results, @of;

		# An interrupt must not take with it what has been found.
		info(
			sprintf '%s: %s (%s, %.0f minutes)',
			$shown, PgSeries::Test::told(0, @of),
			$how, (time - $start) / 60) if @names > 1;
	}
	return show_results($c, @names == 1, @results);
}

# The builds that the options ask for.
sub names_to_check
{
	my ($c, @words) = @_;
	my ($series, $o) = ($c->series, $c->{option});
	return PgSeries::World::configurations(@words) if $o->{world};
	usage_error("check takes no argument \"$words[0]\"", 'check') if @words;
	if (defined(my $prefix = $o->{prefix}))
	{
		my $n = $series->patches;
		my ($first, $last) =
			$prefix eq 'each'          ? (1, $n)
		  : $prefix =~ /^(\d+)-(\d+)$/ ? ($1, $2)
		  :                              ($prefix, $prefix);
		$series->prefix($_) for $first, $last;
		usage_error('--prefix=0 is upstream: build base-assert', 'check')
		  if $first == 0;
		usage_error("--prefix=$prefix: there is nothing from $first to $last",
			'check')
		  if $first > $last;
		return map { "prefix-$_" } $first .. $last;
	}
	return map { "topic-$_" } $c->topics;
}

# The topics that --topic names, "each" being all.
sub topics
{
	my ($c) = @_;
	my $topic = $c->{option}{topic};
	return
		!defined $topic  ? ()
	  : $topic eq 'each' ? $c->series->topics
	  :                    $topic;
}

# Prints all results, or failures only, and how many there are.
sub show_results
{
	my ($c, $all, @results) = @_;
	fail(2, 'no test was run', 'name one: see pgseries test --help')
	  unless @results;
	$c->say(PgSeries::Test::told($all, @results));
	return (grep { $_->{result} eq 'fail' } @results) ? 1 : 0;
}

sub check_build
{
	my ($c, @names) = @_;
	my $prefix = $c->{option}{prefix};
	$c->builds->describe($_) for @names;
	return unless defined $prefix;
	usage_error("build --prefix takes no argument \"$names[0]\"", 'build')
	  if @names;
	fail(
		2,
		"--prefix=$prefix is not an absolute path",
		'name the full path, such as --prefix=/opt/pgsql'
	) unless $prefix =~ m{^/};
	return;
}

sub build
{
	my ($c, @names) = @_;
	return $c->say('installed below '
		  . $c->builds->install_to($c->{option}{prefix})->{inst})
	  if defined $c->{option}{prefix};
	@names = qw(base patched) unless @names;
	return $c->say(
		join "\n",
		map   { "$_->{name}: $_->{inst}" }
		  map { $c->builds->ensure($_) } @names);
}

sub check_test
{
	my ($c) = @_;
	$c->builds->describe($c->{option}{build} //= 'assert');
	return;
}

sub test
{
	my ($c, @names) = @_;
	my $test = $c->tests;
	my $build = $c->{option}{build};
	@names = qw(regress isolation added extension docs) unless @names;
	my (@suites, @tests, @results);
	for my $name (@names)
	{
		if ($name eq 'added')
		{
			my ($s, $t) =
			  $test->suites(@{ $c->builds->describe($build)->{patches} });
			push @suites, grep { !/^(regress|isolation)$/ } @$s;
			push @tests, @$t;
			info('the series adds no tests besides regression and isolation')
			  if "@names" eq 'added' && !@suites && !@tests;
		}
		elsif ($name eq 'extension')
		{
			push @results, $test->extension('base'), $test->extension($build);
		}
		elsif ($name eq 'docs')  { push @results, $test->docs($build); }
		elsif ($name eq 'world') { push @results, $test->world($build); }
		elsif ($name =~ m{/})    { push @tests, $name; }
		else                     { push @suites, $name; }
	}
	push @results, $test->run_suites($build, \@suites, \@tests)
	  if @suites || @tests;
	return show_results($c, 1, @results);
}

sub check_server
{
	my ($c, $what, $name) = @_;
	usage_error('server takes start, stop or psql', 'server')
	  unless $what =~ /^(start|stop|psql)$/;
	usage_error("there is no server \"$name\"", 'server')
	  unless ($name // 'base') =~ /^(base|patched)$/;
	return;
}

sub server
{
	my ($c, $what, $name) = @_;
	$name //= 'patched';
	my $b =
		$what eq 'start'
	  ? $c->builds->ensure($name)
	  : $c->builds->describe($name);
	my $server = PgSeries::Server->new($c->config, $b);
	my $open = "open it with: src/bin/pgseries server psql $name";

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
		return $c->say("already running; $open") if $server->running;
		$c->builds->extension($b);
		$server->create unless $server->exists;
		$server->start(keep => 1);
		return $c->say("$name: $open; for other programs: PGHOST="
			  . $server->socket_dir
			  . ' PGUSER=postgres');
	}
	if ($what eq 'stop')
	{
		my $was = $server->running;
		$server->stop;
		return $c->say("$name: " . ($was ? 'stopped' : 'was not running'));
	}
	fail(
		2,
		"the server of build $name is not running",
		"start it with: src/bin/pgseries server start $name"
	) unless $server->running;
	my %env = (
		%{ $server->environment },
		PATH => $ENV{PATH},
		LC_ALL => $ENV{LC_ALL});

	# psql is the person's and has the terminal.  Root does not run what the
	# unprivileged user has built: there, psql runs as that user, on a terminal
	# of its own.
	my @command = ("$b->{bin}/psql");
	if (my $user = $c->config->user)
	{
		unshift @command, 'runuser', ('--pty') x POSIX::isatty(0), '-u',
		  $user->{name}, '--', 'env', "HOME=$user->{home}";
	}
	return PgSeries::Util::exec_child(\@command, { env => \%env });
}

sub range_diff
{
	my ($c, $from, $to, $topic) = @_;
	my @series = map { $c->series_of($_) } $from, $to;
	return $c->say(PgSeries::Series::topic_diff(@series, $topic));
}

1;
