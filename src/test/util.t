# Processes, locks, files: what every command relies on.

use strict;
use warnings FATAL => 'all';

use File::Temp ();
use FindBin;
use IO::Socket::INET ();
use lib "$FindBin::RealBin/../lib";
use lib "$FindBin::RealBin/lib";

use PgSeries::Build;
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

# An interrupt ends the child's whole process group.
$pid = fork();
die "fork: $!" unless defined $pid;
if ($pid == 0)
{
	PgSeries::Util::note_interrupts();
	eval {
		run([ 'sh', '-c', "sleep 60 & echo \$! >$dir/child; wait" ]);
		1;
	};
	POSIX::_exit(ref $@ ? $@->{code} : 1);
}
usleep(50000) until -s "$dir/child";
kill 'INT', $pid;
waitpid($pid, 0);
is($? >> 8, 130, 'an interrupt gives exit status 130');
my $child = PgSeries::Util::read_file("$dir/child") + 0;
my $gone = 0;
for (1 .. 50)
{
	$gone =
		 !kill(0, $child)
	  || !-d "/proc/$child"
	  || PgSeries::Util::read_file("/proc/$child/stat") =~ /\) Z/;
	last if $gone;
	usleep(100000);
}
ok($gone, 'and ends what the child had started');

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

done_testing();
