package PgSeries::Stats;

=pod

=head1 NAME

PgSeries::Stats - the statistics behind the benchmark figures

=head1 DESCRIPTION

Nothing here assumes that run times follow a normal distribution.  They do
not: a run is now and then much slower, never much faster.  So the middle is
the median, and its interval comes from the order of the runs.
src/test/stats.t compares the results with those of scipy and numpy.

=cut

use strict;
use warnings FATAL => 'all';

use Carp       qw(croak);
use Exporter   qw(import);
use List::Util qw(max);

our @EXPORT_OK = qw(median median_interval paired_ratio verdict);

# Differences smaller than this are of no practical interest; see verdict().
use constant EQUIVALENCE => 0.02;

# How probable it is, at least, that an interval covers the true median.
use constant CONFIDENCE => 0.95;

# Returns the middle number, or the mean of the two middle ones.
sub median
{
	my @x = sort { $a <=> $b } @_;
	return ($x[ $#x / 2 ] + $x[ @x / 2 ]) / 2;
}

# Returns the k-th smallest and the k-th largest number, with the largest k for which
# the true median lies between them with a probability of at least 0.95; the empty
# list for fewer than 6 numbers: even the smallest and the largest do not reach 0.95
# then.
#
# The number of values below the true median is binomial (n, 1/2), whatever the
# distribution of the values; see Conover, Practical Nonparametric Statistics,
# section 3.2.
sub median_interval
{
	my @x = sort { $a <=> $b } @_;
	my $n = @x;

	# Widen the tails while both together stay within what the confidence
	# leaves.  The probability of i values is kept as a logarithm, because
	# 2 ** -n is not representable for large n.
	my $log_term = -$n * log(2);
	my ($k, $tail) = (0, 0);
	while ($k < $n / 2)
	{
		$tail += exp($log_term);
		last if 2 * $tail > 1 - CONFIDENCE;
		$log_term += log(($n - $k) / ($k + 1));
		$k++;
	}
	return $k ? ($x[ $k - 1 ], $x[ $n - $k ]) : ();
}

# Takes pairs [base, patched] (for an A/A run, [first, second]).  Returns a hash:
#
#   ratio     median of patched / base over the pairs
#   lo, hi    median_interval() of these ratios; undef if there are too few
#
# Both runs of a pair follow each other closely, so that a slow drift of the machine
# cancels out.  Raises an exception if a number is not positive.
sub paired_ratio
{
	my @ratios = map {
		$_->[0] > 0 && $_->[1] > 0
		  or croak "not two positive numbers: @$_";
		$_->[1] / $_->[0]
	} @_;
	my ($lo, $hi) = median_interval(@ratios);
	return { ratio => median(@ratios), lo => $lo, hi => $hi };
}

# Takes results of paired_ratio(), patched against base, and base against itself on the
# same machine (A/A), and whether "lower" or "higher" is better.  Returns 'better',
# 'worse', 'no difference' or 'inconclusive'.
#
# The noise is the bound of the A/A interval that is farther from 1, as a factor: which
# of two equal builds is called the first is arbitrary, so it has no direction.  The
# first of these rules that fits decides:
#
#   1  too few pairs for one of the intervals: inconclusive
#   2  the interval excludes 1, and the ratio lies outside the noise: better or worse
#   3  the whole interval lies within 2% of 1: no difference; if there is one, it is
#      smaller
#   4  inconclusive: the interval, or the noise, is too wide to tell
#
# Rule 2 asks for the ratio to be outside the noise, not only for a part of the
# interval, because A/A pairs also show what the interval does not know of, such
# as an order of the runs that favours one of them.  Noise alone never yields
# "no difference": a machine with an A/A interval of 0.8 to 1.2 cannot show that
# there is none.
sub verdict
{
	my ($ab, $aa, $better) = @_;
	return 'inconclusive' unless defined $ab->{lo} && defined $aa->{lo};

	my $noise = max(map { abs(log($_)) } @{$aa}{qw(lo hi)});
	if (($ab->{lo} > 1 || $ab->{hi} < 1)
		&& abs(log($ab->{ratio})) > $noise)
	{
		my $is = $ab->{ratio} < 1 ? 'lower' : 'higher';
		return $is eq $better ? 'better' : 'worse';
	}
	return $ab->{lo} >= 1 - EQUIVALENCE
	  && $ab->{hi} <= 1 + EQUIVALENCE ? 'no difference' : 'inconclusive';
}

1;
