# PgSeries::Stats and its rules.

use strict;
use warnings FATAL => 'all';

use PgSeries::Stats qw(median median_interval paired_ratio verdict);
use Test::More;

# median
foreach (
	[ 3, 3 ],
	[ 2, 1, 3 ],
	[ 2, 9, 1, 2 ],
	[ 2.5, 4, 1, 2, 3 ],
	[ 7, 10, 4, 7, 2, 30 ])
{
	my ($want, @values) = @$_;
	is(median(@values), $want, "median of @values");
}

# median_interval, by numbers of values, as scipy 1.17 has them: the rank of the
# lower end, binom.ppf(0.025, n, 0.5); with rank 0, there's no interval.
my %rank = (
	1 => 0,
	5 => 0,
	6 => 1,
	7 => 1,
	8 => 1,
	9 => 2,
	10 => 2,
	12 => 3,
	15 => 4,
	20 => 6,
	25 => 8,
	50 => 18,
	101 => 41,
	2000 => 956);
foreach my $n (sort { $a <=> $b } keys %rank)
{
	is_deeply(
		[ median_interval(reverse 1 .. $n) ],
		[ $rank{$n} ? ($rank{$n}, $n + 1 - $rank{$n}) : () ],
		"interval of the median of $n values");
}

# paired_ratio
my @pairs =
  ([ 10, 20 ], [ 10, 21 ], [ 20, 44 ], [ 10, 19 ], [ 10, 18 ], [ 10, 17 ]);
is_deeply(paired_ratio(@pairs), { ratio => 1.95, lo => 1.7, hi => 2.2 },
	'ratio');
is_deeply(
	paired_ratio([ 4, 2 ], [ 5, 5 ]),
	{ ratio => 0.75, lo => undef, hi => undef },
	'too few pairs for an interval');
ok(!eval { paired_ratio($_); 1 }, "a pair of @$_ is refused")
  foreach [ 0, 1 ], [ 1, 0 ], [ 1, -1 ];

# verdict: every rule, and both sides of its limits.  Columns: ratio, interval,
# A/A interval, verdict where lower is better.
my @rules = (
	[ 0.80, 0.75, 0.85, 0.99, 1.01, 'better', 'clear' ],
	[ 1.25, 1.20, 1.30, 0.99, 1.01, 'worse', 'clear' ],
	[ 0.99, 0.985, 0.995, 0.999, 1.001, 'better', 'small but clear' ],
	[ 0.80, 0.75, 0.85, 0.70, 1.01, 'inconclusive', 'within the noise' ],
	[ 0.80, 0.75, 0.85, 0.99, 1.30, 'inconclusive', 'noise on one side' ],
	[ 0.90, 0.80, 0.95, 0.88, 1.02, 'inconclusive', 'ratio in the noise' ],
	[ 0.87, 0.80, 0.95, 0.88, 1.02, 'better', 'ratio outside the noise' ],
	[ 1.12, 1.05, 1.20, 0.88, 1.02, 'inconclusive', 'the other side, in' ],
	[ 1.14, 1.05, 1.20, 0.88, 1.02, 'worse', 'the other side, outside' ],
	[ 0.99, 0.985, 0.995, 0.98, 1.01, 'no difference', 'small, in noise' ],
	[ 1.00, 0.980, 1.020, 0.99, 1.01, 'no difference', 'just within 2%' ],
	[ 1.00, 0.979, 1.010, 0.99, 1.01, 'inconclusive', 'too wide below' ],
	[ 1.00, 0.990, 1.021, 0.99, 1.01, 'inconclusive', 'too wide above' ],
	[ 1.20, 1.000, 1.400, 0.99, 1.01, 'inconclusive', 'touches 1' ],
	[ 0.80, 0.600, 1.000, 0.99, 1.01, 'inconclusive', 'touches 1 below' ],
	[ 0.80, undef, undef, 0.99, 1.01, 'inconclusive', 'too few pairs' ],
	[ 0.80, 0.75, 0.85, undef, undef, 'inconclusive', 'too few A/A pairs' ]);
my %mirror = (better => 'worse', worse => 'better');
foreach my $rule (@rules)
{
	my ($ratio, $lo, $hi, $aa_lo, $aa_hi, $want, $name) = @$rule;
	my @args = (
		{ ratio => $ratio, lo => $lo, hi => $hi },
		{ ratio => 1, lo => $aa_lo, hi => $aa_hi });
	is(verdict(@args, 'lower'), $want, "verdict: $name");
	is(verdict(@args, 'higher'), $mirror{$want} || $want, 'higher');
}

done_testing();
