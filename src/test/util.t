# Processes, locks, files: what every command relies on.

use strict;
use warnings FATAL => 'all';

use File::Temp ();
use FindBin;
use IO::Socket::INET ();
use lib "$FindBin::RealBin/../lib";
use lib "$FindBin::RealBin/lib";

use POSIX ();
use PgSeries::Server;
use PgSeries::Util
  qw(capture in_parallel on_exit run run_cleanups run_status take_lock write_file);
use Test::More;
use Time::HiRes qw(usleep);

my $dir = File::Temp->newdir();

# An error of the code, as "code: message; remedy".
sub error_of
{
	my ($code) = @_;
	return eval { $code->(); 1 } ? 'none' : "$@->{code}: $@";
}

is(capture([ 'echo', 'a  b' ]), 'a  b', 'capture');
is(run_status([ 'sh', '-c', 'exit 3' ]), 3, 'exit status');
is(run_status([ 'sh', '-c', 'kill -9 $$' ]), 265, 'ended by a signal');
is(capture(['cat'], in => 'text'), 'text', 'standard input');
is(capture([ 'sh', '-c', 'echo $A' ], env => { A => 'x' }),
	'x', 'environment');
is(capture(['pwd'], cwd => '/'), '/', 'directory');
my ($out, $err);
run_status(
	[ 'sh', '-c', 'yes | head -100000; yes n | head -100000 >&2' ],
	out => \$out,
	err => \$err);
is(length($out) + length($err), 400_000, 'large output on both pipes');

# A command that is watched, with and without a pipe.
my @seen;
my $watch = sub { push @seen, $_[0] };
is( run_status(
		[ 'sh', '-c', 'echo a; sleep 3; echo b; exit 3' ],
		out => \$out,
		watch => $watch),
	3,
	'exit status of a command that is watched');
is($out, "a\nb\n", 'its output');
is($seen[0], "a\n", 'what is seen of it');
@seen = ();
is(run_status([ 'sh', '-c', 'sleep 3; kill -9 $$' ], watch => $watch),
	265, 'one without a pipe, ended by a signal');
is("@seen", '', 'nothing is seen of it');
is(scalar @seen, 1, 'but it is watched');
like(
	error_of(sub { run(['/none/such']) }),
	qr{^2: .*cannot run /none/such},
	'a missing program');
like(
	error_of(
		sub { run([ 'sh', '-c', 'echo why >&2; exit 4' ], what => 'it') }),
	qr/^2: why\nit failed \(exit status 4\); rerun: sh -c/,
	'a failure shows standard error and how to rerun');
like(
	error_of(
		sub {
			run([ 'sh', '-c', 'echo No space left on device >&2; exit 1' ]);
		}),
	qr/^2: the disk is full; free some space/,
	'a full disk is recognised');

# write_file keeps the old contents when the disk is full.
write_file("$dir/f", 'old');
SKIP:
{
	skip 'there is no prlimit', 1
	  if run_status([ 'prlimit', '--version' ], out => \my $version) != 0;
	my $code =
	  q{$SIG{XFSZ} = 'IGNORE'; eval { write_file($ARGV[0], 'x' x 100_000) }; print $@};
	like(
		capture(
			[
				'prlimit', '--fsize=8192', $^X, '-Isrc/lib',
				'-MPgSeries::Util=write_file', '-e', $code, "$dir/f"
			],
			cwd => "$FindBin::RealBin/../.."),
		qr/^cannot write .*File too large; check/,
		'write_file that cannot write all');
}
symlink '/nonesuch', "$dir/f.tmp$$" or die $!;
write_file("$dir/g", 'new');
symlink "$dir/g", "$dir/h" or die $!;
write_file("$dir/h", 'newer');
is(PgSeries::Util::read_file("$dir/g"), 'new', 'write_file follows no link');
is(PgSeries::Util::read_file("$dir/f"), 'old', 'the old contents stay');

# Cleanups run last one first, and not after they are unregistered.
my @ran;
on_exit(sub { push @ran, 'a'; });
my $forget = on_exit(sub { push @ran, 'b'; });
on_exit(sub { push @ran, 'c'; });
$forget->();
run_cleanups();
is("@ran", 'c a', 'cleanups');

# Jobs side by side, and the first error.
in_parallel(sub { write_file("$dir/1", 'x'); },
	sub { write_file("$dir/2", 'x'); });
ok(-f "$dir/1" && -f "$dir/2", 'in_parallel runs all jobs');
like(
	error_of(
		sub {
			in_parallel(sub { }, sub { run([ 'sh', '-c', 'exit 5' ]); });
		}),
	qr/^2: .*exit status 5/,
	'in_parallel raises a job\'s error');
like(
	error_of(
		sub {
			in_parallel(sub { die "oops\n"; });
		}),
	qr/^2: oops\n; .*report it/,
	'and one of the tool itself, with a remedy');
like(
	error_of(
		sub {
			in_parallel(sub { kill 'KILL', $$; });
		}),
	qr/^2: a process of the tool died \(status 9\); see/,
	'and says that a job died');
ok( !eval { PgSeries::Util::fail(2, 'it is broken', ''); 1 }
	  && $@ =~ /^"it is broken" has no remedy at .* line \d+/,
	'an error must have a remedy');
SKIP:
{
	skip 'not root', 3 if $> != 0;
	my ($name, undef, $uid, $gid) = getpwnam 'nobody';
	my %nobody = (name => $name, uid => $uid, gid => $gid, home => '/');
	is(capture([ 'id', '-u' ], user => \%nobody), $uid, 'another user');
	is(capture([ 'id', '-G' ], user => \%nobody), $gid, 'and its group only');
	like(
		error_of(
			sub {
				run(['true'], user => { %nobody, gid => 2**32 - 1 });
			}),
		qr/^2: setgid: /,
		'a group that cannot be set');
}

# A second command waits for the lock.
my $pid = fork();
die "fork: $!" unless defined $pid;
if ($pid == 0)
{
	take_lock("$dir/lock");
	write_file("$dir/locked", '');
	sleep 1;
	write_file("$dir/first", '');
	POSIX::_exit(0);
}
usleep(50000) until -e "$dir/locked";
{
	open(my $save, '>&', \*STDERR) or die $!;
	open(STDERR, '>', "$dir/said") or die $!;
	take_lock("$dir/lock");
	open(STDERR, '>&', $save) or die $!;
}
ok(-e "$dir/first", 'the lock is waited for');
like(
	PgSeries::Util::read_file("$dir/said"),
	qr/waiting for another/,
	'and says so');
waitpid($pid, 0);

# Runs code in a process that notes interrupts, whatever this one ignores.  The
# exit status is the error's code.
sub process
{
	my ($code, %signals) = @_;
	my $process = fork();
	die "fork: $!" unless defined $process;
	return $process if $process;
	$SIG{$_} = $signals{$_} || 'DEFAULT' for qw(INT TERM HUP);
	PgSeries::Util::note_interrupts();
	my $ok = eval { $code->(); 1 };
	my $error = $@;
	write_file("$dir/caught", '') unless $ok;
	usleep(300_000) unless $ok;
	run_cleanups();
	POSIX::_exit($ok ? 0 : ref $error ? $error->{code} : 1);
}

# A process that is gone, or about to be.
sub gone
{
	my ($process) = @_;
	for (1 .. 50)
	{
		return 1
		  if !kill(0, $process)
		  || !-d "/proc/$process"
		  || PgSeries::Util::read_file("/proc/$process/stat") =~ /\) Z/;
		usleep(100_000);
	}
	return 0;
}

# An interrupt ends the child's whole process group.  A second one is late: what
# must be undone is undone, by programs that do not ignore it.
my $says = q(print $SIG{INT} || 'DEFAULT', ' ', $SIG{HUP} || 'DEFAULT');
$pid = process(
	sub {
		on_exit(
			sub {
				write_file("$dir/undone",
					capture([ $^X, '-e', $says ]) . "\n");
			});
		run([ 'sh', '-c', "sleep 60 & echo \$! >$dir/child; wait" ]);
	});
usleep(50000) until -s "$dir/child";
kill 'INT', $pid;
usleep(50000) until -e "$dir/caught";
kill $_, $pid for qw(INT TERM HUP);
waitpid($pid, 0);
is($? >> 8, 130, 'an interrupt gives exit status 130');
ok(gone(PgSeries::Util::read_file("$dir/child") + 0),
	'and ends what the child had started');
is( -e "$dir/undone" && PgSeries::Util::read_file("$dir/undone"),
	"DEFAULT DEFAULT\n",
	'a second one does not skip the cleanups');

# What the caller ignores stays ignored, as under nohup.
$pid = process(
	sub {
		kill 'HUP', $$;
		write_file("$dir/nohup", capture([ $^X, '-e', $says ]));
	},
	HUP => 'IGNORE');
waitpid($pid, 0);
is($?, 0, 'an ignored SIGHUP stays ignored');
is( PgSeries::Util::read_file("$dir/nohup"),
	'DEFAULT IGNORE',
	'in children, too');

# An interrupt of a process with jobs ends these, too; each cleans up after
# itself, and only that.
unlink "$dir/caught";
$pid = process(
	sub {
		on_exit(sub { write_file("$dir/undone-$$", ''); });
		in_parallel(
			map {
				my $i = $_;
				sub {
					on_exit(sub { write_file("$dir/undone-$i-$$", ''); });
					run([ 'sh', '-c', "echo \$\$ >$dir/job$i; sleep 60" ]);
				}
			} 1 .. 2);
	});
usleep(50000) until -s "$dir/job1" && -s "$dir/job2";
kill 'INT', $pid;
waitpid($pid, 0);
is($? >> 8, 130, 'an interrupt while jobs run');
my @undone = map { s{.*/undone-}{}r } sort glob "$dir/undone-*";
is(scalar(grep { /^$pid$/ } @undone), 1, 'the process cleans up');
is(join(' ', map { /^(\d)-/ } @undone), '1 2', 'each job does, before that');
is(scalar @undone, 3, 'and nothing is cleaned up twice');
ok(gone(PgSeries::Util::read_file("$dir/job$_") + 0), "job $_ is gone")
  for 1 .. 2;

# A port in use, and no space for a build.
{

	package NoWork;

	sub new
	{
		my ($class, $work) = @_;
		return bless { work => $work }, $class;
	}
	sub work        { my ($self) = @_; return $self->{work}; }
	sub user        { return; }
	sub environment { return {}; }
}
my $config = NoWork->new("$dir");
mkdir "$dir/data";
mkdir "$dir/log";
mkdir "$dir/data/main";
my $listener = IO::Socket::INET->new(
	LocalAddr => '127.0.0.1',
	LocalPort => 0,
	Listen => 1) or die $!;
my $server = PgSeries::Server->new(
	$config,
	{ name => 'x', dir => "$dir", log => "$dir/log", bin => "$dir/bin" },
	tcp => 1,
	port => $listener->sockport);
like(
	error_of(sub { $server->start }),
	qr/^2: port \d+ is in use; stop what uses it, or choose another with --port=N/,
	'a port in use');

# A cluster is of the build that its stamp names.
my $of = sub {
	my ($stamp, $made_by) = @_;
	write_file("$dir/stamp", $stamp);
	write_file("$dir/data/main.stamp", $made_by) if defined $made_by;
	return PgSeries::Server->new($config,
		{ dir => "$dir", stamp => "$dir/stamp" })->fits_build;
};
ok(!$of->("commit 1\n"), 'a cluster without a stamp');
ok($of->("commit 1\n", "commit 1\n"), 'a cluster of this build');
ok(!$of->("commit 2\n", "commit 1\n"), 'a cluster of an earlier build');

done_testing();
