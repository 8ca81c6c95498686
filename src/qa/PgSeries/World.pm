package PgSeries::World;

use strict;
use warnings FATAL => 'all';

use parent qw(PgSeries::Build);

use PgSeries::Util qw(fail processors run_status);

=pod

=head1 NAME

PgSeries::World - the series in other configurations: pgseries check --world

=head1 DESCRIPTION

A PgSeries::Build that has further builds, all of the whole series with assertions and
injection points, and PgSeries::World::Test, a PgSeries::Test that can test them:

  autoconf       made by configure and make, tested by make check-world
  exec-backend   every process starts anew, as on Windows (-DEXEC_BACKEND)
  sanitize       address and undefined behavior sanitizers; a finding is a crash
  clang          compiled by clang
  m32            a 32-bit program, without any library but the C library
  valgrind       its server runs under valgrind (Julian Seward and others), with
                 upstream's list of what is no error

=cut

# In order: the method that tests each; options of the compiler (of the linker, too?)
# and of meson, environment of the build's programs, how many times as long tests may
# take; and what they need that other builds do not: the Debian package, a header of it.
my @VARIANTS = (
	autoconf => { how => 'world' },
	'exec-backend' =>
	  { how => 'whole', c_args => '-DEXEC_BACKEND', slow => 2 },
	sanitize => {
		how => 'whole',
		c_args =>
		  '-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -O1',
		link => 1,

		# Programs leave their memory to the end of the process.
		env => { ASAN_OPTIONS => 'detect_leaks=0' },
		slow => 5
	},
	clang => { how => 'whole', cc => 'clang', package => 'clang' },
	m32 => {
		how => 'whole',
		c_args => '-m32',
		link => 1,
		options => [qw(-Dauto_features=disabled -Dssl=none)],
		package => 'gcc-multilib'
	},
	valgrind => {
		how => 'own',
		c_args => '-DUSE_VALGRIND -O1',
		env => { PGCTLTIMEOUT => 900, PG_TEST_TIMEOUT_DEFAULT => 1800 },
		slow => 30,
		package => 'valgrind',
		header => 'valgrind/memcheck.h'
	});
my %VARIANT = @VARIANTS;

# The configurations named, or all; the method of PgSeries::World::Test for one.
sub configurations
{
	my (@names) = @_;
	my @all = grep { !ref } @VARIANTS;
	my ($bad) = grep { !$VARIANT{$_} } @names;
	fail(2, "there is no configuration \"$bad\"", "choose among: @all")
	  if defined $bad;
	return @names ? @names : @all;
}

sub how { my ($name) = @_; return $VARIANT{$name}{how}; }

sub describe
{
	my ($self, $name) = @_;
	my $variant = $VARIANT{$name} or return $self->SUPER::describe($name);
	my $b = $self->SUPER::describe('assert');
	my $flags = $variant->{c_args};
	my @options = (
		@{ $b->{options} },
		@{ $variant->{options} || [] },
		defined $flags   ? "-Dc_args=$flags"      : (),
		$variant->{link} ? "-Dc_link_args=$flags" : ());
	@options =
	  qw(--enable-cassert --enable-debug --enable-tap-tests --enable-injection-points
	  --with-ssl=openssl --with-lz4 --with-zstd --with-libxml)
	  if $name eq 'autoconf';
	return { %$b, $self->paths($name), %$variant, options => \@options };
}

sub commands
{
	my ($self, $b) = @_;
	return $self->SUPER::commands($b) if $b->{name} ne 'autoconf';
	my @make = ('make', '-C', $b->{build}, '--silent', '-j', processors());
	return (
		tools => ['make'],
		setup => [ "$b->{src}/configure", '--silent' ],
		made => 'config.status',
		build => [ @make, 'world-bin' ],
		install => [ @make, 'install-world-bin' ]);
}

sub check_tools
{
	my ($self, $b) = @_;
	if (my $package = $b->{package})
	{
		my $header = $b->{header} // 'stdio.h';
		my $status = run_status(
			[
				$b->{cc},
				split(' ', $b->{c_args} // ''),
				qw(-x c -o /dev/null -)
			],
			env => { PATH => PgSeries::Config::PATH },
			in => "#include <$header>\nint main(void) { return 0; }\n",
			err => \my $err);
		fail(
			2,
			"$b->{cc} cannot make the programs of build $b->{name}",
			"install the Debian package $package: apt-get install $package",
			$err) if $status != 0;
	}
	return $self->SUPER::check_tools($b);
}

package PgSeries::World::Test;

use parent qw(PgSeries::Test);

use File::Glob     qw(:bsd_glob);
use File::Path     qw(remove_tree);
use List::Util     qw(uniq);
use PgSeries::Git  qw(git);
use PgSeries::Util qw(fail info make_dir on_exit processors read_file
  run_status tail_file write_file);

# What the patches touch, and two suites in any case.
sub whole
{
	my ($self, $name) = @_;
	return $self->touched($name, qw(regress isolation));
}

# The tests that the patches add or extend: single ones of the regression and isolation
# suites, without those before them in the schedule, and all of other suites.
sub own
{
	my ($self, $name) = @_;
	my $b = $self->{build}->ensure($name);
	my %tests = (parallel => ['test_setup'], isolation => []);
	my $text = join '', map { read_file($_->{path}) } @{ $b->{patches} };
	push @{ $tests{ $1 eq 'regress' ? 'parallel' : $1 } }, $2
	  while $text =~
	  m{^\+\+\+ b/src/test/(regress|isolation)/(?:sql|specs)/([\w-]+)}mg;
	my $restore = sub { git($b->{src}, qw(checkout -q -- src/test)); };
	my $forget = on_exit($restore);
	for my $kind (keys %tests)
	{
		my ($schedule) = glob "$b->{src}/src/test/*/${kind}_schedule";
		write_file($schedule,
			join '', map { "test: $_\n" } uniq @{ $tests{$kind} });
	}
	my @results = $self->touched($name);
	$restore->();
	$forget->();
	return @results;
}

sub run_suites
{
	my ($self, $name, @what) = @_;
	return $self->SUPER::run_suites($name, @what) if $name ne 'valgrind';

	# Its server program may be the script of an earlier run.
	my $b = $self->{build}->ensure($name);
	my $logs = "$b->{log}/valgrind";
	remove_tree("$b->{build}/tmp_install", $logs);
	my @results = $self->SUPER::run_suites($name, @what);
	return (@results, -d $logs ? valgrind_result($logs) : ());
}

# Puts a script in the place of the server program that tests run.
sub before_tests
{
	my ($self, $b) = @_;
	return unless $b->{name} eq 'valgrind';
	my $program = "$b->{build}/tmp_install$b->{inst}/bin/postgres";
	make_dir("$b->{log}/valgrind", $self->{config}->user);
	rename $program, "$program.bin"
	  or fail(2, "cannot rename $program: $!", 'check its permissions');
	write_file($program, <<"EOT");
#!/bin/sh
exec valgrind --quiet --leak-check=no --trace-children=yes \\
	--error-markers=VALGRINDERROR-BEGIN,VALGRINDERROR-END \\
	--suppressions=$b->{src}/src/tools/valgrind.supp \\
	--log-file=$b->{log}/valgrind/%p.log "\$0.bin" "\$@"
EOT
	chmod 0755, $program
	  or fail(2, "cannot make $program executable: $!", 'check who owns it');
	return;
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
	my @bad =
	  grep { /VALGRINDERROR-BEGIN/ } map { "$_:\n" . read_file($_) } @logs;
	return {
		name => 'valgrind',
		result => @bad ? 'fail' : 'ok',
		detail => substr(join('', @bad), 0, 10_000),
		rerun => 'src/bin/pgseries check --world valgrind'
	};
}

# Of the build autoconf, all is one result.
sub world
{
	my ($self, $name) = @_;
	return $self->SUPER::world($name) if $name ne 'autoconf';
	my $b = $self->{build}->ensure($name);
	my $log = "$b->{log}/check-world.log";
	unlink $log;
	info("testing $name: check-world (log: $log)");
	my @make = ('make', '-C', $b->{build}, 'check-world');
	my $status = run_status(
		[ @make, qw(--keep-going --output-sync -j), processors() ],
		env => $self->{build}->environment($b),
		user => $self->{config}->user,
		log => $log);
	my $text = read_file($log);
	my $ran = () = $text =~ /^# All \d+ tests passed|^t\/\S+\.pl \.+ ok/mg;
	return {
		name => "make check-world, $ran suites and TAP tests passed",
		result => $status == 0 && $ran ? 'ok' : 'fail',
		detail => "exit status $status, see $log\n"
		  . join('', $text =~ /^(?:not ok|t\/\S+\.pl +\(Wstat: [1-9]).*\n/mg)
		  . tail_file($log, 30),
		rerun => "@make"
	};
}

1;
