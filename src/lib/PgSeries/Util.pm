package PgSeries::Util;

use strict;
use warnings FATAL => 'all';

use Exporter       qw(import);
use Fcntl          qw(:flock O_CREAT O_EXCL O_WRONLY);
use File::Basename qw(basename);
use File::Path     ();
use File::Spec     ();
use IO::Handle     ();
use JSON::PP       ();
use POSIX          ();
use Time::HiRes    qw(usleep);

our @EXPORT_OK = qw(
  as_error capture fail find_tool in_parallel info make_dir minutes note_interrupts
  on_exit processors progress read_file run run_cleanups run_status slurp_json
  take_lock tail_file undisturbed write_file
);

# What programs say, git among them.
use constant FULL_DISK => qr/No space left on device|Out of diskspace/;

# What to do if there is no temporary file.
my $TEMPORARY = 'free some space in ' . File::Spec->tmpdir;

=pod

=head1 NAME

PgSeries::Util - processes, files and messages

=head1 DESCRIPTION

Results go to standard output, progress to standard error.  Every function raises a
PgSeries::Error, the one exception class of the tool; none prints and exits.

=cut

# Raises an error.  "code" is the exit status that the command ends with: 1 for a
# finding or a failed test, 2 for trouble (usage, missing tool, wrong checksum, full
# disk), 3 for a patch that does not apply, 130 for an interrupt.  "message" says what
# is wrong and "remedy" what to do about it; "detail" may hold more lines, such as a
# rejected hunk.  As a string it is "MESSAGE; REMEDY", with the detail before it.
sub fail
{
	my ($code, $message, $remedy, $detail) = @_;
	die bless {
		code => $code,
		message => $message,
		remedy => $remedy,
		detail => $detail
	  },
	  'PgSeries::Error';
}

package PgSeries::Error
{
	use overload
	  fallback => 1,
	  '""' => sub {
		my ($self) = @_;
		return join "\n", grep { defined } $self->{detail},
		  "$self->{message}; $self->{remedy}";
	  };
}

# Returns the error that was raised; one of Perl's becomes an error of the tool.
sub as_error
{
	my ($raised) = @_;
	return $raised if ref $raised;
	chomp $raised;
	eval { fail(2, $raised, 'this is an error of the tool: report it'); };
	return $@;
}

# Returns a time as "3:05".
sub minutes
{
	my ($seconds) = @_;
	return sprintf '%d:%02d', $seconds / 60, $seconds % 60;
}

our $phase = '';
my $progress_shown = 0;
my $last_line = time;
use constant PROGRESS_SECONDS => 30;

# info($text), progress($text):
# "info" prints a line on standard error.  "progress" does so too, but on a
# terminal the next message overwrites it, and elsewhere it is left out if another
# line came less than 30 seconds ago.  $PgSeries::Util::phase comes before the text
# of "progress": "[3/4] ", say.
sub info
{
	my ($text) = @_;
	print STDERR $progress_shown ? "\r\e[K$text\n" : "$text\n";
	$progress_shown = 0;
	$last_line = time;
	return;
}

sub progress
{
	my ($text) = @_;
	$text = "$phase$text";
	if (!POSIX::isatty(2))
	{
		info($text) if time - $last_line >= PROGRESS_SECONDS;
		return;
	}
	print STDERR "\r\e[K" . substr($text, 0, 78);
	$progress_shown = 1;
	$last_line = time;
	return;
}

our $current_child;
my @INTERRUPTS = qw(INT TERM HUP);
my %ignored;

# From here on SIGINT, SIGTERM and SIGHUP raise an error with code 130, after
# having been passed on to the child process that is running; SIGPIPE is ignored.  One
# that the caller has made this process ignore, as nohup does, stays ignored, here and
# in children.
sub note_interrupts
{
	for my $name (@INTERRUPTS)
	{
		if   (($SIG{$name} || '') eq 'IGNORE') { $ignored{$name} = 1; }
		else { $SIG{$name} = interrupt($name); }
	}

	# Whoever reads what is printed may end first; the cleanups still have to be made.
	$SIG{PIPE} = 'IGNORE';
	return;
}

# What a signal does.
sub interrupt
{
	my ($name) = @_;
	return sub {

		# The next one must disturb neither this nor the cleanups.
		@SIG{@INTERRUPTS} = ('IGNORE') x @INTERRUPTS;
		stop_child($current_child) if defined $current_child;
		fail(
			130,
			"interrupted by SIG$name",
			'nothing is lost: run the same command again');
	};
}

# Interrupts wait from here on.  Returns the signal mask to restore.
sub block_interrupts
{
	my $block =
	  POSIX::SigSet->new(POSIX::SIGINT(), POSIX::SIGTERM(), POSIX::SIGHUP());
	my $mask = POSIX::SigSet->new();
	POSIX::sigprocmask(POSIX::SIG_BLOCK(), $block, $mask);
	return $mask;
}

# Runs the code to its end, and returns its value: an interrupt waits until then.  One
# that ends git while it changes a ref, as git am does, can leave a lock behind.
sub undisturbed
{
	my ($code) = @_;
	my $mask = block_interrupts();
	my $result;
	my $ok = eval { $result = $code->(); 1 };
	my $error = $@;
	POSIX::sigprocmask(POSIX::SIG_SETMASK(), $mask);
	die $error unless $ok;
	return $result;
}

# Forks with interrupts blocked: one between fork and the assignment must not lose
# the child.  Returns the child's process number (0 in the child) and the signal
# mask to restore.
sub fork_blocked
{
	my $mask = block_interrupts();
	my $pid = fork();
	return ($pid, $mask) if defined $pid;
	my $why = "$!";
	POSIX::sigprocmask(POSIX::SIG_SETMASK(), $mask);
	return fail(2, "cannot fork: $why", 'free some memory or processes');
}

# A child leads its own process group, so that an interrupt sent to the tool
# alone ends what the child itself has started, too.  SIGINT first: ninja and
# git clean up then.  SIGTERM is for those that a shell made ignore SIGINT.
sub stop_child
{
	my ($pid) = @_;
	my $gone = 0;
	for my $try (0 .. 100)
	{
		kill 'INT', -$pid if $try == 0;
		kill 'TERM', -$pid if $try == 30 || $gone;
		$gone ||= waitpid($pid, POSIX::WNOHANG()) != 0;
		return if $gone && !kill 0, -$pid;
		usleep(100_000);
	}
	kill 'KILL', -$pid;
	waitpid($pid, 0) unless $gone;
	return;
}

my @cleanups;

# on_exit($code), run_cleanups():
# on_exit registers what must be undone however the command ends and returns
# a handle; calling the handle unregisters it.  run_cleanups runs what is left,
# last one first.
sub on_exit
{
	my ($code) = @_;
	push @cleanups, $code;
	return sub {
		@cleanups = grep { $_ != $code } @cleanups;
		return;
	};
}

sub run_cleanups
{
	local @SIG{@INTERRUPTS} = ('IGNORE') x @INTERRUPTS;
	while (my $code = pop @cleanups)
	{
		eval { $code->(); 1 } or print STDERR "pgseries: $@\n";
	}
	return;
}

use constant WATCH_SECONDS => 2;
our $watch;
my $is_job = 0;

# The timer goes on if an error ends run_status; it must never end this process.
$SIG{ALRM} = sub { $watch->() if $watch; };

# Runs a command and returns its exit status (256 plus the signal number if a
# signal ended it).  After 30 seconds without any message, "progress" says that it
# still runs.  Options:
#
#   cwd    directory to run in
#   env    hash of environment variables; undef removes one
#   user   { name, uid, gid, home }: become that user first
#   log    file that gets standard output and standard error (appended to), unless
#   out, err  are references to scalars for these
#   in     text for standard input, which is empty otherwise
#   watch  code called every two seconds while the command runs
#   what   what is running, for messages
sub run_status
{
	my ($command, %opt) = @_;

	# Files, not pipes: nothing waits for a reader.
	my %file =
	  map { $_ => temporary_file() } 'in', grep { $opt{$_} } qw(out err);
	print { $file{in} } $opt{in} // ''
	  and $file{in}->flush
	  and seek($file{in}, 0, 0)
	  or fail(2, "cannot write a temporary file: $!", $TEMPORARY);
	if (defined $opt{log})
	{
		open(my $log, '>>', $opt{log})
		  or fail(2, "cannot write $opt{log}: $!", 'check its directory');
		$file{$_} //= $log for qw(out err);
	}
	STDOUT->flush;

	my ($pid, $mask) = fork_blocked();
	if ($pid == 0)
	{
		$SIG{$_} = $ignored{$_} ? 'IGNORE' : 'DEFAULT' for @INTERRUPTS;
		POSIX::setpgid(0, 0);
		POSIX::sigprocmask(POSIX::SIG_SETMASK(), $mask);
		eval {
			my %handle = (in => *STDIN, out => *STDOUT, err => *STDERR);
			for (sort keys %file)
			{
				open($handle{$_}, $_ eq 'in' ? '<&' : '>&', $file{$_})
				  or die "std$_: $!\n";
			}
			exec_child($command, \%opt);
			1;
		} or print STDERR $@;
		POSIX::_exit(127);
	}
	local $current_child = $pid;

	# Here, too: whichever process comes first, the handler finds the group.
	POSIX::setpgid($pid, $pid);
	POSIX::sigprocmask(POSIX::SIG_SETMASK(), $mask);
	my $status =
	  wait_for($pid, $opt{what} // basename($command->[0]), $opt{watch});
	for (grep { $opt{$_} } qw(out err))
	{
		${ $opt{$_} } = contents($file{$_});
	}
	return $status & 127 ? 256 + ($status & 127) : $status >> 8;
}

# Returns the status of a child when it has ended.  What takes long is mentioned, but
# not by a process that another one waits for here.
sub wait_for
{
	my ($pid, $what, $code) = @_;
	my $start = time;
	local $watch = sub {
		local ($?, $!);
		$code->() if $code;
		progress("$what: running for " . (time - $start) . ' s')
		  if !$is_job && time - $last_line >= PROGRESS_SECONDS;
		alarm WATCH_SECONDS;
	};
	alarm WATCH_SECONDS;
	waitpid($pid, 0);
	my $status = $?;
	undef $watch;
	alarm 0;
	return $status;
}

# A file without a name, which is written at its end, wherever it was read.
sub temporary_file
{
	open(my $fh, '+>>', undef)
	  or fail(2, "cannot make a temporary file: $!", $TEMPORARY);
	return $fh;
}

sub contents
{
	my ($fh) = @_;
	seek($fh, 0, 0)
	  or fail(2, "cannot read a temporary file: $!", $TEMPORARY);
	local $/ = undef;
	return scalar(<$fh>) // '';
}

# Becomes the command, with "cwd", "env" and "user" of run_status.
sub exec_child
{
	my ($command, $opt) = @_;
	$SIG{PIPE} = 'DEFAULT';
	my @command = @$command;
	if (my $u = $opt->{user})
	{
		unshift @command, 'setpriv', "--reuid=$u->{uid}",
		  "--regid=$u->{gid}", '--clear-groups', '--';
		@ENV{qw(HOME USER LOGNAME)} = @{$u}{qw(home name name)};
	}
	if (defined $opt->{cwd})
	{
		chdir $opt->{cwd} or die "cannot enter $opt->{cwd}: $!\n";
	}
	while (my ($k, $v) = each %{ $opt->{env} || {} })
	{
		if   (defined $v) { $ENV{$k} = $v; }
		else              { delete $ENV{$k}; }
	}
	no warnings qw(exec);
	exec { $command[0] } @command
	  or die "cannot run $command[0]: $!\n";
}

# As run_status, but raises an error unless the status is 0.  "what" names
# the step in the message and "remedy" the way out; the end of the log or of
# standard error is shown as detail.
sub run
{
	my ($command, %opt) = @_;
	my $err = '';
	$opt{err} = \$err unless $opt{err} || defined $opt{log};
	my $status = run_status($command, %opt);
	return if $status == 0;
	my $tail =
	  defined $opt{log}
	  ? tail_file($opt{log}, 30)
	  : ${ $opt{err} };
	chomp $tail;
	fail(
		2,
		'the disk is full',
		'free some space'
		  . (defined $opt{disk} ? " below $opt{disk}" : '')
		  . ', then run the same command again') if $tail =~ FULL_DISK;
	return fail(
		$opt{code} || 2,
		($opt{what} || "@$command") . " failed (exit status $status)",
		$opt{remedy}
		  || (defined $opt{log} ? "see $opt{log}" : "rerun: @$command"),
		$tail eq '' ? undef : $tail);
}

# As "run", and returns standard output without its last newline.
sub capture
{
	my ($command, %opt) = @_;
	my $out;
	run($command, %opt, out => \$out);
	chomp $out;
	return $out;
}

# Runs each code reference in a process of its own and waits for all.  The first
# error of a job is raised again here; what the jobs return is lost.
sub in_parallel
{
	my (@jobs) = @_;
	my (%file, @errors);
	my $forget = on_exit(
		sub {
			kill 'TERM', keys %file;
			waitpid($_, 0) for keys %file;
		});
	for my $job (@jobs)
	{
		my $fh = temporary_file();
		my ($pid, $mask) = fork_blocked();
		run_job($job, $fh, $mask) if $pid == 0;
		$file{$pid} = $fh;
		POSIX::sigprocmask(POSIX::SIG_SETMASK(), $mask);
	}
	for my $pid (keys %file)
	{
		my $status = wait_for($pid, @jobs . ' processes');
		my $text = contents(delete $file{$pid});
		next if $status == 0;
		eval {
			fail(
				2,
				"a process of the tool died (status $status)",
				'see the messages above; free some memory, then run again'
			) if $text eq '';
			die bless JSON::PP->new->utf8->decode($text), 'PgSeries::Error';
		};
		push @errors, $@;
	}
	$forget->();
	die $errors[0] if @errors;
	return;
}

# The life of a job's process: it never gets back to the code that forked it.
sub run_job
{
	my ($job, $fh, $mask) = @_;
	eval {
		@cleanups = ();
		undef $current_child;
		$is_job = 1;

		# This is how the parent ends it.
		$SIG{TERM} = interrupt('TERM');
		my $ok = eval {
			POSIX::sigprocmask(POSIX::SIG_SETMASK(), $mask);
			$job->();
			1;
		};
		my $error = $@;
		@SIG{@INTERRUPTS} = ('IGNORE') x @INTERRUPTS;
		run_cleanups();
		POSIX::_exit(0) if $ok;
		print $fh JSON::PP->new->utf8->encode({ %{ as_error($error) } });
		close $fh;
	};
	POSIX::_exit(1);
	return;
}

# find_tool($name [, $path]), processors():
# The path of a program in the search path, the caller's by default, or undef; the
# number of CPUs that this process may use.
sub find_tool
{
	my ($name, $path) = @_;
	for my $dir (split /:/, defined $path ? $path : $ENV{PATH})
	{
		return "$dir/$name" if -f "$dir/$name" && -x _;
	}
	return;
}

sub processors
{
	return capture(['nproc']);
}

# read_file($file), write_file($file, $text), tail_file($file, $lines):
# write_file replaces the file in one step (write beside it, then rename), so
# that an interrupt or a full disk leaves the old contents.  It follows no link:
# the directory may belong to the unprivileged user.
sub read_file
{
	my ($file) = @_;
	open(my $fh, '<:raw', $file)
	  or fail(2, "cannot read $file: $!", 'check that it exists');
	local $/ = undef;
	my $text = <$fh>;
	close $fh;
	return defined $text ? $text : '';
}

sub write_file
{
	my ($file, $text) = @_;
	my $temp = "$file.tmp$$";
	my $why;
	unlink $temp;
	if (sysopen(my $fh, $temp, O_WRONLY | O_CREAT | O_EXCL))
	{
		binmode $fh;
		print $fh $text or $why = "$!";
		close($fh) or $why ||= "$!";
	}
	else { $why = "$!"; }
	$why = "$!" if !$why && !rename $temp, $file;
	if ($why)
	{
		unlink $temp;
		fail(
			2,
			"cannot write $file: $why",
			'check its directory and the free space');
	}
	return;
}

sub tail_file
{
	my ($file, $lines) = @_;
	my @all = -f $file ? split(/^/, read_file($file)) : ();
	splice(@all, 0, @all - $lines) if @all > $lines;
	return join('', @all);
}

# Returns the decoded contents of a JSON file.
sub slurp_json
{
	my ($file) = @_;
	my $data = eval { JSON::PP->new->utf8->decode(read_file($file)) };
	return $data if defined $data;
	die $@ if ref $@;
	(my $why = "$@") =~ s/ at \S+ line \d+\.?\n.*//s;
	fail(2, "$file is not valid JSON: $why", 'correct or remove the file');
	return;
}

# Makes a directory and its parents, owned by the user if one is given.
sub make_dir
{
	my ($dir, $user) = @_;
	File::Path::make_path($dir, { error => \my $errors });
	if (@$errors)
	{
		my ($why) = values %{ $errors->[0] };
		fail(
			2,
			"cannot make directory $dir: $why",
			'check the permissions and the free space');
	}
	if ($user && (lstat $dir)[4] != $user->{uid})
	{
		fail(2, "$dir is not a directory", 'remove it, then run again')
		  unless -d _;
		chown($user->{uid}, $user->{gid}, $dir)
		  or fail(
			2,
			"cannot give $dir to $user->{name}: $!",
			'check who owns it, or remove it, then run again');
	}
	return $dir;
}

my @locks;

# Waits until no other command holds the lock and takes it until this process
# ends.  The kernel drops it then, however the process ends.
sub take_lock
{
	my ($file) = @_;
	open(my $fh, '>>', $file)
	  or fail(2, "cannot open $file: $!", 'check its directory');
	if (!flock($fh, LOCK_EX | LOCK_NB))
	{
		info("pgseries: waiting for another pgseries that holds $file");
		flock($fh, LOCK_EX)
		  or fail(
			2,
			"cannot lock $file: $!",
			'name a work directory on a local file system in PGSERIES_WORKDIR'
		  );
	}
	push @locks, $fh;
	return;
}

1;
