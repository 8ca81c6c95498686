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

No function changes its arguments.  A wrong argument is a mistake of the caller and
raises an exception with C<croak>.  "Number" below means a finite number; anything
else raises "FUNCTION: not a number: VALUE", and an empty list "FUNCTION: no values".

=head1 FUNCTIONS

=over

=cut

use strict;
use warnings FATAL => 'all';

use Carp         qw(croak);
use Exporter     qw(import);
use List::Util   qw(max);
use Scalar::Util qw(looks_like_number);

our @EXPORT_OK = qw(median median_interval paired_ratio verdict);

# Differences smaller than this are of no practical interest; see verdict().
use constant EQUIVALENCE => 0.02;

# How probable it is, at least, that an interval covers the true median.
use constant CONFIDENCE => 0.95;

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

=item median(@x)

Takes numbers.  Returns the middle one, or the mean of the two middle ones.

=cut

sub median
{
	my @x = sort { $a <=> $b } _numbers('median', @_);

	return ($x[ $#x / 2 ] + $x[ @x / 2 ]) / 2;
}

=item median_interval(\@x)

Takes numbers.  Returns C<($lo, $hi, $actual)>: the true median lies between the
k-th smallest and the k-th largest number with probability C<$actual>, the
smallest possible one that is not below 0.95.  Returns the empty list for fewer
than 6 numbers: even the smallest and the largest do not reach 0.95 then.

The number of values below the true median is binomial (n, 1/2), whatever the
distribution of the values; see Conover, Practical Nonparametric Statistics,
section 3.2.

=cut

sub median_interval
{
	my ($values) = @_;
	my @x = sort { $a <=> $b } _numbers('median_interval', @$values);
	my $n = @x;

	# Widen the tails while both together stay within what the confidence
	# leaves.  The probability of i values is kept as a logarithm, because
	# 2 ** -n is not representable for large n.
	my $log_term = -$n * log(2);
	my ($k, $tail) = (0, 0);
	while ($k < $n / 2)
	{
		my $wider = $tail + exp($log_term);
		last if 2 * $wider > 1 - CONFIDENCE;
		$tail = $wider;
		$log_term += log(($n - $k) / ($k + 1));
		$k++;
	}
	return if $k == 0;
	return ($x[ $k - 1 ], $x[ $n - $k ], 1 - 2 * $tail);
}

=item paired_ratio(\@pairs)

Takes pairs C<[base, patched]> of positive numbers (for an A/A run, C<[first,
second]>).  Another pair raises "paired_ratio: a pair needs two positive
numbers".  Returns a hash:

  ratio     median of patched / base over the pairs
  lo, hi    median_interval() of these ratios
  conf      confidence that the interval really has
  n         number of pairs

lo, hi and conf are undef if there are too few pairs.  Both runs of a pair
follow each other closely, so that a slow drift of the machine cancels out.

=cut

sub paired_ratio
{
	my ($pairs) = @_;
	my @ratios;

	foreach my $pair (@$pairs)
	{
		my ($base, $patched) = _numbers('paired_ratio', @$pair);
		croak 'paired_ratio: a pair needs two positive numbers'
		  unless @$pair == 2 && $base > 0 && $patched > 0;
		push @ratios, $patched / $base;
	}
	my ($lo, $hi, $actual) = median_interval(\@ratios);
	return {
		ratio => median(@ratios),
		lo => $lo,
		hi => $hi,
		conf => $actual,
		n => scalar @ratios
	};
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
