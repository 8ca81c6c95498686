package PgSeries::Doctor;

use strict;
use warnings FATAL => 'all';

use PgSeries::Config ();
use PgSeries::Util   qw(find_tool free_bytes run_status);

=pod

=head1 NAME

PgSeries::Doctor - is this machine fit for the other commands?

=head1 FUNCTIONS

=over

=item examine($config)

Returns a list of { level, text }: level C<ok>, C<notice> (something optional is
missing) or C<missing>, whose text names the remedy.

=back

=cut

# Program, what is lost without it (undef: nothing works without it), and the Debian
# package if configure does not install it.
my @TOOLS = (
	(map { [ $_, undef ] } qw(git bzip2 gcc make meson ninja bison flex)),
	[ curl => 'upstream comes from the source package or a tarball only' ],
	[ ccache => 'builds are slower' ],
	[ valgrind => 'no instruction counts' ],
	[ gnuplot => 'no plots in the report' ],
	[ xmllint => 'no documentation check' ],
	[ perltidy => 'no check of Perl\'s form' ],
	[ perlcritic => 'no check of Perl\'s style' ],
	[ sqlsmith => 'no stress sqlsmith', 'sqlsmith' ],
	[ clang => 'no build clang', 'clang' ]);

sub examine
{
	my ($config) = @_;
	my @said;
	for (@TOOLS)
	{
		my ($tool, $loss, $package) = @$_;
		my $remedy =
		  $package
		  ? "apt-get install $package"
		  : './configure --install-deps';
		my $path = find_tool($tool, PgSeries::Config::PATH);
		push @said,
		  defined $path   ? { level => 'ok', text => $path }
		  : defined $loss ? {
			level => 'notice',
			text => "$tool is missing: $loss; run: $remedy"
		  }
		  : {
			level => 'missing',
			text => "$tool is missing; run: $remedy"
		  };
	}
	my $ipc =
	  run_status([ 'perl', '-MIPC::Run', '-e', '1' ], err => \my $err);
	push @said,
	  $ipc == 0
	  ? { level => 'ok', text => 'IPC::Run' }
	  : {
		level => 'missing',
		text =>
		  'the Perl module IPC::Run is missing, which upstream\'s tests need; run: ./configure --install-deps'
	  };
	my $m32 = run_status(
		[qw(gcc -m32 -x c -o /dev/null -)],
		env => { PATH => PgSeries::Config::PATH },
		in => "#include <stdio.h>\nint main(void) { return 0; }\n",
		err => \$err);
	push @said,
	  $m32 == 0
	  ? { level => 'ok', text => 'gcc -m32' }
	  : {
		level => 'notice',
		text =>
		  'gcc cannot make 32-bit programs: no build m32; run: apt-get install gcc-multilib'
	  };
	my $work = $config->work;
	my $free = free_bytes($work) / 1024**3;
	push @said,
	  $free >= 8
	  ? { level => 'ok', text => sprintf('%.0f GB free in %s', $free, $work) }
	  : {
		level => $free < 3 ? 'missing' : 'notice',
		text => sprintf(
			'%.1f GB free in %s, and each build takes 1; free some, or name another directory in PGSERIES_WORKDIR',
			$free, $work)
	  };
	my $user = $config->user;
	push @said,
	  {
		level => 'ok',
		text => 'PostgreSQL runs as '
		  . ($user ? $user->{name} : scalar getpwuid $>)
	  };
	return @said;
}

1;
