# pgseries check --loads: what needs no server.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/..", "$FindBin::RealBin/../../lib";

use POSIX ();
use PgSeries::Loads;
use Test::More;

is_deeply(
	[ PgSeries::Loads::result(<<'EOT') ], [ 5310, '1334.5' ], 'pgbench');
transaction type: <builtin: TPC-B (sort of)>
number of transactions per client: 1
number of transactions actually processed: 5310
latency average = 1.498 ms
initial connection time = 6.205 ms
tps = 1334.5 (without initial connection time)
EOT
is_deeply(
	[ PgSeries::Loads::result(<<'EOT') ], [ 853, '212.96' ], 'sysbench');
SQL statistics:
    queries performed:
        total:                           17060
    transactions:                        853    (212.96 per sec.)
    queries:                             17060  (4259.21 per sec.)
EOT
for (
	[
		'pgbench',
		"number of transactions actually processed: 0\ntps = 0.0\n"
	],
	[ 'sysbench', "    transactions:     0    (0.00 per sec.)\n" ],
	[ 'nothing', '' ])
{
	my ($name, $text) = @$_;
	ok(!eval { PgSeries::Loads::result($text); 1 }, "$name: an error");
	like($@, qr/^no transaction was run; /m, "$name: which");
}

# A name may have anything in it.
my $tick = 1e9 / POSIX::sysconf(POSIX::_SC_CLK_TCK());
is( PgSeries::Loads::ended(
		'7 (a) S 1 (b) S 1 7 7 0 -1 0 0 0 0 0 90 80 5 6 20 0'),
	11 * $tick,
	'CPU time of children that have ended');
cmp_ok(PgSeries::Loads::cpu_time($$), '>', 0, 'CPU time of this process');
my $before = PgSeries::Loads::cpu_time($$);
is(system($^X, '-e', '1 while times < 0.2'), 0, 'a process that works');
my $used = PgSeries::Loads::cpu_time($$) - $before;
cmp_ok($used, '>=', 0.15e9, 'a process that has ended counts');

for (
	[ 'worse', 1.02, 1.0101, 1.05 ],
	[ 'inconclusive', 1.02, 1.01, 1.05 ],
	[ 'no worse', 1, 0.99, 1.01 ],
	[ 'no worse', 0.9, 0.8, 0.95 ],
	[ 'too few pairs', 1.02 ])
{
	my ($verdict, %r) = shift @$_;
	@r{qw(ratio lo hi)} = @$_;
	is(PgSeries::Loads::verdict(\%r),
		$verdict, PgSeries::Loads::ratio_text(\%r) . ": $verdict");
}
is( PgSeries::Loads::ratio_text({ ratio => 1, lo => 0.99951, hi => 1.2 }),
	'1.000 [1.000, 1.200]',
	'a ratio with its interval');

done_testing();
