# Processes, locks, files: what every command relies on.

use strict;
use warnings FATAL => 'all';

use File::Temp ();
use FindBin;
use lib "$FindBin::RealBin/../lib", "$FindBin::RealBin/lib";

# The clock of the tool, which can be put forward.
our $ahead;

BEGIN
{
	$ahead = 0;
	*CORE::GLOBAL::time = sub () { CORE::time() + $ahead; };
}

use Fixture qw(fails said);
use POSIX   ();
use PgSeries::Server;
use PgSeries::Util
  qw(capture in_parallel on_exit progress read_file run run_cleanups run_status write_file);
use Test::More;
use Time::HiRes qw(usleep);

my $dir = File::Temp->newdir();

is( capture(
		[ 'sh', '-c', 'cat; echo " $A-$HOME"; pwd' ],
		in => 'a  b',
		env => { A => 'x', HOME => undef },
		cwd => '/'),
	"a  b x-\n/",
	'standard input, environment, directory, output without its last newline'
);
is(run_status([ 'sh', '-c', 'kill -9 $$' ]), 265, 'ended by a signal');
my $loud = 'yes | head -100000; yes n | head -100000 >&2; exit 3';
my ($out, $err);
is(run_status([ 'sh', '-c', $loud ], out => \$out, err => \$err),
	3, 'exit status');
is(length($out) . ' ' . length $err, '200000 200000', 'output of both kinds');
run_status([ 'sh', '-c', 'echo a; echo b >&2' ], log => "$dir/log") for 1, 2;
is(read_file("$dir/log"), "a\nb\na\nb\n", 'a log is appended to');

# A command that is watched; after half a minute without a word it is mentioned.
my @seen;
is( run_status(
		[ 'sh', '-c', 'echo a; sleep 3; echo b; exit 3' ],
		out => \$out,
		watch => sub { push @seen, 'seen'; $? = 1; }),
	3,
	'exit status of a command that is watched');
is("$out@seen", "a\nb\nseen", 'its output, and that it was watched');
is(said(sub { progress('early'); }), '', 'nothing is told so early');
$ahead = 31;
is(said(sub { progress('late'); progress('again'); }),
	"late\n", 'in half a minute');
$ahead = 62;
{
	local $PgSeries::Util::phase = '[1/2] ';
	like(
		said(sub { run_status([ 'sleep', '3' ], what => 'nap'); }),
		qr{^\[1/2\] nap: running for \d+ s\n\z},
		'of what says nothing');
}
# Errors.
my $why = [ 'sh', '-c', 'echo why >&2; exit 4' ];
my $full = [ 'sh', '-c', 'echo No space left on device >&2; exit 1' ];
my %job = (
	good => sub { },
	fails => sub { run($why); },
	dies => sub { die "oops\n"; },
	killed => sub { kill 'KILL', $$; });
fails('2: .*; rerun:.*\ncannot run /none/such', sub { run(['/none/such']) });
fails('2: it failed \(exit status 4\); rerun: sh -c.*\nwhy',
	sub { run($why, what => 'it') });
fails('2: .*; see .*/log\n.*why$', sub { run($why, log => "$dir/log") });
fails('2: the disk is full; free some space, then', sub { run($full) });
fails('2: sh .*\nwhy', sub { in_parallel(@job{qw(good fails)}) });
fails('2: oops; .*report it', sub { in_parallel($job{dies}) });
fails('2: .*died \(status 9\); see', sub { in_parallel($job{killed}) });

# write_file keeps the old contents when the disk is full, and follows no link.
write_file("$dir/f", 'old');
SKIP:
{
	skip 'there is no prlimit', 1
	  if run_status([ 'prlimit', '--version' ], out => \my $version) != 0;
	my $code =
	  q{$SIG{XFSZ} = 'IGNORE'; eval { write_file($ARGV[0], 'x' x 6000) }; print $@};
	my @perl = ($^X, '-Isrc/lib', '-MPgSeries::Util=write_file');
	like(
		capture(
			[ 'prlimit', '--fsize=4096', @perl, '-e', $code, "$dir/f" ],
			cwd => "$FindBin::RealBin/../.."),
		qr/^cannot write .*File too large; check/,
		'write_file that cannot write all');
}
is(read_file("$dir/f"), 'old', 'the old contents stay');
symlink "$dir/f", "$dir/g.tmp$$" or die $!;
symlink "$dir/f", "$dir/g" or die $!;
write_file("$dir/g", 'new');
is(read_file("$dir/f"), 'old', 'write_file follows no link');

# Cleanups run last one first, and not after they are unregistered.
my @ran;
on_exit(sub { push @ran, 'a'; });
my $forget = on_exit(sub { push @ran, 'b'; });
on_exit(sub { push @ran, 'c'; });
$forget->();
run_cleanups();
is("@ran", 'c a', 'cleanups');

SKIP:
{
	skip 'not root', 3 if $> != 0;
	my ($name, undef, $uid, $gid) = getpwnam 'nobody';
	my %user = (name => $name, uid => $uid, gid => $gid, home => '/');
	local $) = '0 0 12';
	is(capture([ 'id', '-u' ], user => \%user), $uid, 'another user');
	is(capture([ 'id', '-G' ], user => \%user), $gid, 'and its group only');
	$user{gid} = 'none';
	fails('2: true .*\nsetpriv: ', sub { run(['true'], user => \%user) });
}

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
		my $stat = eval { read_file("/proc/$process/stat") } // ') Z';
		return 1 if $stat =~ /\) Z/;
		usleep(100_000);
	}
	return 0;
}

# An interrupt ends the child's whole process group.  A second one is late: what
# must be undone is undone, by programs that do not ignore it.
my $says = q(print $SIG{INT} || 'DEFAULT', ' ', $SIG{HUP} || 'DEFAULT');
my $undo = sub { write_file("$dir/undone", capture([ $^X, '-e', $says ])); };
my $spawn = [ 'sh', '-c', "sleep 60 & echo \$! >$dir/child; wait" ];
my $pid = process(sub { on_exit($undo); run($spawn); });
usleep(50000) until -s "$dir/child";
my $start = time;
kill 'INT', $pid;
usleep(50000) until -e "$dir/caught";
cmp_ok(time - $start, '<', 8, 'an interrupt does not wait for SIGKILL');
kill $_, $pid for qw(INT TERM HUP);
waitpid($pid, 0);
is($? >> 8, 130, 'an interrupt gives exit status 130');
ok(gone(read_file("$dir/child") + 0), 'and ends what the child had started');
is(eval { read_file("$dir/undone") }, 'DEFAULT DEFAULT', 'cleanups are made');

# What the caller ignores stays ignored, as under nohup.
$pid = process(sub { kill 'HUP', $$; $undo->(); }, HUP => 'IGNORE');
waitpid($pid, 0);
is($?, 0, 'an ignored SIGHUP stays ignored');
is(read_file("$dir/undone"), 'DEFAULT IGNORE', 'in children, too');

# An interrupt of a process with jobs ends these, too; each cleans up after
# itself, and only that.
my $job = sub {
	my ($i) = @_;
	on_exit(sub { write_file("$dir/undone-$i-$$", ''); });
	run([ 'sh', '-c', "echo \$\$ >$dir/job$i; sleep 60" ]);
};
$pid = process(
	sub {
		on_exit(sub { write_file("$dir/undone-0-$$", ''); });
		in_parallel(sub { $job->(1) }, sub { $job->(2) });
	});
usleep(50000) until -s "$dir/job1" && -s "$dir/job2";
kill 'INT', $pid;
waitpid($pid, 0);
is($? >> 8, 130, 'an interrupt while jobs run');
is(join(' ', map { /undone-(\d)/ } sort glob "$dir/undone-*"),
	'0 1 2', 'the process and its jobs clean up once each');
ok(gone(read_file("$dir/job$_") + 0), "job $_ is gone") for 1, 2;

# A cluster is of the build that its stamp names.
my $server = PgSeries::Server->new(undef,
	{ name => 'x', dir => "$dir", stamp => "$dir/stamp" });
mkdir "$dir/data";
write_file("$dir/stamp", "commit 1\n");
ok(!$server->fits_build, 'a cluster without a stamp');
write_file("$dir/data/main.stamp", "commit 1\n");
ok($server->fits_build, 'a cluster of this build');
write_file("$dir/stamp", "commit 2\n");
ok(!$server->fits_build, 'a cluster of an earlier build');

done_testing();
