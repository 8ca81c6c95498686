# The comparison of plans: what is read from a server's log, and what counts as
# different.

use strict;
use warnings FATAL => 'all';

use File::Temp ();
use FindBin;
use lib "$FindBin::RealBin/..", "$FindBin::RealBin/../../lib";

use PgSeries::Plans;
use PgSeries::Util qw(make_dir write_file);
use Test::More;

my $dir = File::Temp->newdir();

sub plans
{
	my ($text) = @_;
	write_file("$dir/log", $text);
	return PgSeries::Plans::parse_log("$dir/log");
}

# A query of two lines, one that another test asks, too, one without a plan, and
# lines between them.
is_deeply(
	plans(<<'EOT'),
[] LOG:  database system is ready to accept connections
[a] LOG:  duration: 0.024 ms  plan:
	Query Text: select *
	from t where x = 17;
	Index Scan using t_x on public.t  (cost=0.15..8.17 rows=1 width=8)
	  Index Cond: (t.x = 17)
[a] ERROR:  division by zero
	this is no plan
[b] LOG:  duration: 1.5 ms  plan:
	Query Text: select * from t;
	Seq Scan on public.t  (cost=0.00..1.01 rows=1 width=8)
[a] LOG:  duration: 0.5 ms  plan:
	Query Text: select * from t;
	Seq Scan on public.t  (cost=0.00..2.02 rows=2 width=8)
[a] LOG:  duration: 0.5 ms  plan:
	Query Text: select * from t;
	Seq Scan on public.t  (cost=0.00..3.03 rows=3 width=8)
[a] LOG:  duration: 1 ms  plan:
	Query Text: select 1
EOT
	{
		"a #1\nQuery Text: select *\nfrom t where x = N;" =>
		  "Index Scan using t_x on public.t  (cost=0.15..8.17 rows=1 width=8)\n"
		  . '  Index Cond: (t.x = 17)',
		"b #1\nQuery Text: select * from t;" =>
		  'Seq Scan on public.t  (cost=0.00..1.01 rows=1 width=8)',
		"a #1\nQuery Text: select * from t;" =>
		  'Seq Scan on public.t  (cost=0.00..2.02 rows=2 width=8)',
		"a #2\nQuery Text: select * from t;" =>
		  'Seq Scan on public.t  (cost=0.00..3.03 rows=3 width=8)',
		"a #1\nQuery Text: select N" => '',
	},
	'plans by test, query and number');

# What chance decides is masked, and nothing else.
my $log = <<'EOT';
[a] LOG:  duration: 0.024 ms  plan:
	Query Text: select pg_temp_3.f(17, 'x')
	Sort  (cost=1.02..1.03 rows=4 width=8)
	  Output: pid, t.c1, (9), $0
	  Sort Key: (t.x < '2026-01-01 00:00:00'::timestamp), ('it''s'::text)
	  Sort Method: quicksort  Memory: 25kB
	  ->  Seq Scan on pg_temp_3.t  (cost=0.00..1.01 rows=4 width=8)
	        Filter: (t.x = 17)
EOT
for (
	[ 1 => 'pg_temp_3', 'pg_temp_14' ],
	[ 1 => '17, ', '18, ' ],
	[ 1 => '(9)', '(10)' ],
	[ 1 => '2026-01-01', '2027-02-02' ],
	[ 1 => q(it''s), q(ain''t) ],
	[ 1 => '25kB', '26kB' ],
	[ 0 => '1.03', '1.04' ],
	[ 0 => 'rows=4', 'rows=5' ],
	[ 0 => 'Seq Scan', 'Index Scan' ],
	[ 0 => 't.c1', 't.c2' ],
	[ 0 => '$0', '$1' ],
	[ 0 => '= 17)', '= 18)' ])
{
	my ($masked, $from, $to) = @$_;
	my $other = $log =~ s/\Q$from\E/$to/gr;
	die "$from: no change" if $other eq $log;
	my ($one, $two) = map { join "\n", %{ plans($_) } } $log, $other;
	is($one eq $two ? 1 : 0,
		$masked, "$from is " . ($masked ? '' : 'not ') . 'masked');
}

# What differs: { key => { plan => 1 } } of both builds, and in how many runs of the
# two a key was seen.
my %base = (
	same => { x => 1 },
	varies => { x => 1, y => 1 },
	differs => { x => 1, y => 1 },
	gone => { x => 1 },
	rare => { x => 1 });
my %patched = (
	same => { x => 1 },
	varies => { y => 1, z => 1 },
	differs => { z => 1 },
	new => { x => 1 });
my %runs =
  (same => 4, varies => 4, differs => 4, gone => 2, new => 2, rare => 1);
is( join(' ', PgSeries::Plans::disjoint(\%base, \%patched, \%runs, 2)),
	'differs gone new',
	'no plan in common, or planned by one build only in every run');

# The keys that are expected, of all topics.
sub Stub::config { return bless {}, 'Stub'; }
sub Stub::top    { return "$dir"; }
make_dir("$dir/src/qa");
write_file("$dir/src/qa/plans-expected.json",
	'{ "a": ["k1", "k2"], "b": ["k3"] }');
is_deeply(
	{ PgSeries::Plans::expected_keys(bless {}, 'Stub') },
	{ map { $_ => 1 } qw(k1 k2 k3) },
	'what is expected');

# Patches that make the catalogs larger.
for (
	[ 1 => 'include/catalog/pg_proc.dat' ],
	[ 1 => 'backend/catalog/system_views.sql' ],
	[ 0 => 'include/catalog/pg_index.h' ])
{
	my ($changes, $file) = @$_;
	write_file("$dir/p", "+++ b/src/nodes.h\n+++ b/src/$file\n@@ -1 +1 @@\n");
	is(PgSeries::Plans::changes_catalogs({ path => "$dir/p" }),
		$changes, "$file: " . ($changes ? '' : 'no ') . 'change of catalogs');
}

done_testing();
