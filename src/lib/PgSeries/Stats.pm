package PgSeries::Stats;

=pod

=head1 NAME

PgSeries::Stats - the statistics behind the benchmark figures

=head1 SYNOPSIS

  use PgSeries::Stats qw(paired_ratio verdict);

  my $ab = paired_ratio([ [ 1000, 1390 ], [ 1010, 1421 ], ... ]);
  my $aa = paired_ratio([ [ 1003, 1001 ], [ 998, 1004 ], ... ]);
  printf "%.3f [%.3f, %.3f] %s\n", @{$ab}{qw(ratio lo hi)},
    verdict($ab, $aa, better => 'higher');

=head1 DESCRIPTION

Nothing here assumes that run times follow a normal distribution.  They do
not: a run is now and then much slower, never much faster.  So the middle is
the median, and its interval comes from the order of the runs.

No function changes its arguments, and none uses perl's C<rand>: the same
input and seed give the same result on every perl.  A wrong argument is a
mistake of the caller and raises an exception with C<croak>.  "Number" below
means a finite number; anything else raises "PROGRAM: not a number: VALUE",
and an empty list raises "FUNCTION: no values".

=head1 FUNCTIONS

=over

=cut

use strict;
use warnings FATAL => 'all';

use Carp         qw(croak);
use Exporter     qw(import);
use List::Util   qw(max min sum);
use Scalar::Util qw(looks_like_number);

our @EXPORT_OK = qw(median quantile median_interval bootstrap_interval
  random_integers signed_rank paired_ratio shuffle verdict);

# Differences smaller than this are of no practical interest; see verdict().
use constant EQUIVALENCE => 0.02;

# The list, checked: at least one value, and numbers only.
sub _numbers
{
	my ($who, @x) = @_;

	croak "$who: no values" unless @x;
	foreach my $v (@x)
	{
		croak "$who: not a number: " . (defined $v ? $v : 'undef')
		  unless looks_like_number($v) && $v - $v == 0;
	}
	return @x;
}

sub _confidence
{
	my ($who, $conf) = @_;

	$conf = 0.95 unless defined $conf;
	croak "$who: confidence must lie between 0 and 1: $conf"
	  unless looks_like_number($conf) && $conf > 0 && $conf < 1;
	return $conf;
}

=item median(@x)

Takes numbers.  Returns the middle one, or the mean of the two middle ones.

=cut

sub median
{
	my @x = sort { $a <=> $b } _numbers('median', @_);

	return ($x[ $#x / 2 ] + $x[ @x / 2 ]) / 2;
}

=item quantile(\@x, $p)

Takes numbers and a share from 0 to 1; another share raises "quantile: share
must lie between 0 and 1".  Returns the value below which that share of the
numbers lies, by linear interpolation between order statistics: type 7 of
Hyndman and Fan, "Sample quantiles in statistical packages", The American
Statistician 50 (1996), which is also what R and numpy use by default.

=cut

sub quantile
{
	my ($values, $p) = @_;
	my @x = sort { $a <=> $b } _numbers('quantile', @$values);

	croak 'quantile: share must lie between 0 and 1'
	  unless looks_like_number($p) && $p >= 0 && $p <= 1;

	my $position = $p * $#x;
	my $below = int($position);
	my $above = min($below + 1, $#x);
	return $x[$below] + ($position - $below) * ($x[$above] - $x[$below]);
}

=item median_interval(\@x, $conf)

Takes numbers and a confidence, 0.95 unless given; one outside 0 to 1 raises
"median_interval: confidence must lie between 0 and 1".  Returns C<($lo, $hi,
$actual)>: the true median lies between the k-th smallest and the k-th largest
number with probability C<$actual>, the smallest possible one that is not
below C<$conf>.  Returns the empty list if even the smallest and the largest
number do not reach C<$conf>; for 0.95 that is so for fewer than 6 numbers.

The number of values below the true median is binomial (n, 1/2), whatever the
distribution of the values; see Conover, Practical Nonparametric Statistics,
section 3.2.

=cut

sub median_interval
{
	my ($values, $conf) = @_;
	my @x = sort { $a <=> $b } _numbers('median_interval', @$values);
	my $n = @x;

	$conf = _confidence('median_interval', $conf);

	# Widen the tails while both together stay within 1 - conf.  The
	# probability of i values is kept as a logarithm, because 2 ** -n is not
	# representable for large n.  The tiny allowance is for rounding, where
	# conf is just what some k gives.
	my $log_term = -$n * log(2);
	my ($k, $tail) = (0, 0);
	while ($k < $n / 2)
	{
		my $wider = $tail + exp($log_term);
		last if 2 * $wider > 1 - $conf + 1e-12;
		$tail = $wider;
		$log_term += log(($n - $k) / ($k + 1));
		$k++;
	}
	return if $k == 0;
	return ($x[ $k - 1 ], $x[ $n - $k ], 1 - 2 * $tail);
}

=item random_integers($who, $seed)

Takes the name of the caller, for messages, and a seed.  Returns a function that
takes a limit and returns an integer from 0 to limit - 1.  Raises "WHO: seed must
be an integer from 0 to 4294967295".

=cut

# Marsaglia's xorshift128 ("Xorshift RNGs", Journal of Statistical Software
# 8(14), 2003) with his start values, the first of them changed by the seed.
# Only shifts and exclusive ors of 32 bits, so that a perl with 32-bit
# integers does the same.  The early numbers of neighbouring seeds resemble
# each other and are discarded.
sub random_integers
{
	my ($who, $seed) = @_;

	croak "$who: seed must be an integer from 0 to 4294967295"
	  unless defined $seed && $seed =~ /^\d{1,10}$/ && $seed <= 0xFFFFFFFF;

	my @state = (123456789 ^ $seed, 362436069, 521288629, 88675123);
	my $next = sub {
		my $t = $state[0] ^ (($state[0] << 11) & 0xFFFFFFFF);
		my $w = $state[3];
		@state = (@state[ 1 .. 3 ], $w ^ ($w >> 19) ^ $t ^ ($t >> 8));
		return $state[3];
	};
	$next->() foreach 1 .. 64;
	return sub { return int($next->() / 4294967296 * $_[0]) };
}

=item bootstrap_interval(\@x, \&stat, $conf, $resamples, $seed)

Takes values of any kind, a function that makes one number of such a list,
and optionally the confidence (0.95), the number of resamples (2000) and the
seed (1).  Returns C<($lo, $hi)>: the percentile interval of Efron and
Tibshirani, An Introduction to the Bootstrap, chapter 13.  Use it for what has
no exact interval, such as a quotient of medians.

Raises "bootstrap_interval: no values", "... resamples must be a positive
integer", "... seed must be an integer from 0 to 4294967295" and the
exceptions of the function.

=cut

sub bootstrap_interval
{
	my ($values, $stat, $conf, $resamples, $seed) = @_;
	my @x = @$values;

	$conf = _confidence('bootstrap_interval', $conf);
	$resamples = 2000 unless defined $resamples;
	croak 'bootstrap_interval: no values' unless @x;
	croak 'bootstrap_interval: resamples must be a positive integer'
	  unless $resamples =~ /^[1-9]\d*$/;

	my $random =
	  random_integers('bootstrap_interval', defined $seed ? $seed : 1);
	my @stats;
	foreach (1 .. $resamples)
	{
		push @stats, $stat->(map { $x[ $random->(scalar @x) ] } @x);
	}
	return map { quantile(\@stats, $_) } (1 - $conf) / 2, (1 + $conf) / 2;
}

# Probability that a standard normal variable is farther from 0 than z >= 0.
# Near 0 the series 26.2.11, farther out the continued fraction 26.2.14 of
# Abramowitz and Stegun, Handbook of Mathematical Functions.
sub _two_sided_normal
{
	my ($z) = @_;
	my $density = exp(-$z * $z / 2) / sqrt(2 * atan2(0, -1));

	if ($z < 3)
	{
		my ($term, $sum) = ($z, $z);
		for (my $i = 3; $term > $sum * 1e-17; $i += 2)
		{
			$term *= $z * $z / $i;
			$sum  += $term;
		}
		return 1 - 2 * $density * $sum;
	}

	my $fraction = $z;
	$fraction = $z + $_ / $fraction foreach reverse 1 .. 100;
	return 2 * $density / $fraction;
}

=item signed_rank(\@differences)

Takes numbers.  Returns the two-sided probability that differences as
one-sided as these, or more so, come up when positive and negative ones are
equally likely: Wilcoxon, "Individual comparisons by ranking methods",
Biometrics Bulletin 1 (1945).  Zeros are dropped, as in that paper; if nothing
else is left, the result is 1.

With at most 25 differences, no two of the same size, the probability is
exact.  Otherwise it is the normal approximation, its variance reduced for
ties, with the continuity correction.

=cut

sub signed_rank
{
	my ($differences) = @_;
	my @d = sort { abs($a) <=> abs($b) }
	  grep { $_ != 0 } _numbers('signed_rank', @$differences);
	my $n = @d;
	my ($positive, $ties) = (0, 0);

	return 1 if $n == 0;

	# Sum of the ranks of the positive differences; those of the same size
	# share the mean of their ranks.
	for (my ($first, $next) = (0, 0); $first < $n; $first = $next)
	{
		$next++ while $next < $n && abs($d[$next]) == abs($d[$first]);
		my $count = $next - $first;
		my $rank = ($first + 1 + $next) / 2;
		$positive += $rank * grep { $_ > 0 } @d[ $first .. $next - 1 ];
		$ties     += $count**3 - $count;
	}

	my $mean = $n * ($n + 1) / 4;

	if ($n <= 25 && $ties == 0)
	{
		# $ways[s]: number of subsets of the ranks seen so far with sum s
		my @ways = (1);
		foreach my $rank (1 .. $n)
		{
			my @with = ((0) x $rank, @ways);
			$with[$_] += $ways[$_] foreach 0 .. $#ways;
			@ways = @with;
		}
		my $smaller = min($positive, 2 * $mean - $positive);
		return min(1, 2 * sum(@ways[ 0 .. $smaller ]) / 2**$n);
	}

	my $variance = $n * ($n + 1) * (2 * $n + 1) / 24 - $ties / 48;
	return _two_sided_normal(
		max(0, abs($positive - $mean) - 0.5) / sqrt($variance));
}

=item paired_ratio(\@pairs, $conf)

Takes pairs C<[base, patched]> of positive numbers (for an A/A run, C<[first,
second]>) and a confidence, 0.95 unless given.  Another pair raises
"paired_ratio: a pair needs two positive numbers".  Returns a hash:

  ratio     median of patched / base over the pairs
  lo, hi    median_interval() of these ratios
  conf      confidence that the interval really has
  n         number of pairs
  p         signed_rank() of the logarithms of the ratios

lo, hi and conf are undef if there are too few pairs.  Both runs of a pair
follow each other closely, so that a slow drift of the machine cancels out.

=cut

sub paired_ratio
{
	my ($pairs, $conf) = @_;
	my @ratios;

	foreach my $pair (@$pairs)
	{
		my ($base, $patched) = _numbers('paired_ratio', @$pair);
		croak 'paired_ratio: a pair needs two positive numbers'
		  unless @$pair == 2 && $base > 0 && $patched > 0;
		push @ratios, $patched / $base;
	}
	my ($lo, $hi, $actual) = median_interval(\@ratios, $conf);
	return {
		ratio => median(@ratios),
		lo => $lo,
		hi => $hi,
		conf => $actual,
		n => scalar @ratios,
		p => signed_rank([ map { log } @ratios ])
	};
}

=item shuffle(\@list, $seed)

Takes a list of anything and a seed.  Returns the list in an order that only
depends on the seed: the shuffle of Fisher and Yates, as in Knuth, The Art of
Computer Programming, volume 2, section 3.4.2, algorithm P.  Raises "shuffle:
seed must be an integer from 0 to 4294967295".

=cut

sub shuffle
{
	my ($list, $seed) = @_;
	my @x = @$list;
	my $random = random_integers('shuffle', $seed);

	foreach my $i (reverse 1 .. $#x)
	{
		my $j = $random->($i + 1);
		@x[ $i, $j ] = @x[ $j, $i ];
	}
	return @x;
}

=item verdict($ratio, $aa, better => 'lower' | 'higher')

Takes two results of paired_ratio(): patched against base, and base against
itself on the same machine (A/A).  Returns 'better', 'worse', 'no difference'
or 'inconclusive'.  Another direction raises "verdict: better must be 'lower'
or 'higher'".

The noise is the bound of the A/A interval that is farther from 1, as a
factor: both [0.97, 1.01] and [1, 1 / 0.97] mean that a ratio between 0.97 and
1 / 0.97 may be due to the measurement alone.  (Which of two equal builds is
called the first is arbitrary, so the noise has no direction.)  Then the first
of these rules that fits decides:

=over

=item 1.

No interval for patched against base, or for A/A, because there are too few
pairs or no A/A pairs: I<inconclusive>.

=item 2.

The interval excludes 1, and the ratio lies outside the noise: I<better> or
I<worse>.

=item 3.

The whole interval lies within 0.98 and 1.02: I<no difference>.  If there is
one, it is smaller than 2%.

=item 4.

Otherwise I<inconclusive>: the interval, or the noise, is too wide to tell.

=back

Rule 2 asks for the ratio to be outside the noise, not only for a part of the
interval, because A/A pairs also show what the interval does not know of, such
as an order of the runs that favours one of them.  Noise alone never yields
"no difference": a machine with an A/A interval of 0.8 to 1.2 cannot show that
there is none.

=cut

sub verdict
{
	my ($ab, $aa, %opt) = @_;
	my $better = defined $opt{better} ? $opt{better} : '';

	croak "verdict: better must be 'lower' or 'higher'"
	  unless $better =~ /^(?:lower|higher)$/;

	return 'inconclusive'
	  unless defined $ab->{lo} && defined $aa && defined $aa->{lo};

	my $noise = max(map { abs(log($_)) } @{$aa}{qw(lo hi)});

	if (($ab->{lo} > 1 || $ab->{hi} < 1)
		&& abs(log($ab->{ratio})) > $noise)
	{
		my $lower = $ab->{ratio} < 1 ? 'lower' : 'higher';
		return $lower eq $better ? 'better' : 'worse';
	}
	return $ab->{lo} >= 1 - EQUIVALENCE
	  && $ab->{hi} <= 1 + EQUIVALENCE ? 'no difference' : 'inconclusive';
}

=back

=head1 TESTS

src/test/stats.t compares the results with those of scipy and numpy.

=cut

1;
