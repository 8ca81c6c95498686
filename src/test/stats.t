# PgSeries::Stats against values computed with scipy 1.17.1 and numpy 2.4.6 by
# src/test/data/stats-golden.py, and its rules.

use strict;
use warnings FATAL => 'all';

use FindBin;
use JSON::PP;
use PgSeries::Stats qw(median median_interval paired_ratio verdict);
use Test::More;

my $file = "$FindBin::RealBin/data/stats-golden.json";
open(my $fh, '<', $file) or die "$file: $!";
my $golden = JSON::PP->new->decode(join '', <$fh>);
close $fh;

# Equal but for rounding
sub near
{
	my ($got, $want) = @_;
	return defined $got && abs($got - $want) <= 1e-10 * abs($want);
}

sub check
{
	my ($name, $cases, $run) = @_;
	my @bad = grep { !$run->($_) } @$cases;

	cmp_ok(scalar @$cases, '>', 0, "$name: there are golden values");
	is(JSON::PP->new->canonical->encode(\@bad), '[]', $name);
	return;
}

check('median', $golden->{median},
	sub { near(median(@{ $_[0]{x} }), $_[0]{value}) });
check(
	'median_interval',
	$golden->{median_interval},
	sub {
		my ($n, $rank) = @{ $_[0] }{qw(n rank)};
		my @want = $rank ? ($rank, $n + 1 - $rank) : ();
		return "@{[ median_interval(reverse 1 .. $n) ]}" eq "@want";
	});

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
