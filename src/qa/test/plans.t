# The comparison of plans: what is read from a server's log, and what counts as
# different.

use strict;
use warnings FATAL => 'all';

use File::Temp ();
use FindBin;
use lib "$FindBin::RealBin/../lib";

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

# A query of two lines, one that another test asks, too, and lines between them.
is_deeply(
	plans(<<'EOT'),
[] LOG:  database system is ready to accept connections
[pg_regress/a] LOG:  duration: 0.024 ms  plan:
	Query Text: select *
	from t where x = 17;
	Index Scan using t_x on public.t  (cost=0.15..8.17 rows=1 width=8)
	  Output: x, y
	  Index Cond: (t.x = 17)
[pg_regress/a] ERROR:  division by zero
	this is no plan
[pg_regress/b] LOG:  duration: 1.5 ms  plan:
	Query Text: select * from t;
	Seq Scan on public.t  (cost=0.00..1.01 rows=1 width=8)
[pg_regress/a] LOG:  duration: 0.5 ms  plan:
	Query Text: select * from t;
	Seq Scan on public.t  (cost=0.00..2.02 rows=2 width=8)
[pg_regress/a] LOG:  duration: 0.5 ms  plan:
	Query Text: select * from t;
	Seq Scan on public.t  (cost=0.00..3.03 rows=3 width=8)
EOT
	{
		"pg_regress/a #1\nQuery Text: select *\nfrom t where x = N;" =>
		  "Index Scan using t_x on public.t  (cost=0.15..8.17 rows=1 width=8)\n"
		  . "  Output: x, y\n  Index Cond: (t.x = 17)",
		"pg_regress/b #1\nQuery Text: select * from t;" =>
		  'Seq Scan on public.t  (cost=0.00..1.01 rows=1 width=8)',
		"pg_regress/a #1\nQuery Text: select * from t;" =>
		  'Seq Scan on public.t  (cost=0.00..2.02 rows=2 width=8)',
		"pg_regress/a #2\nQuery Text: select * from t;" =>
		  'Seq Scan on public.t  (cost=0.00..3.03 rows=3 width=8)',
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
(my $same = $log) =~ s/pg_temp_3/pg_temp_14/g;
$same =~ s/\b17, 'x'/18, 'x'/;
$same =~ s/\(9\)/(10)/;
$same =~ s/2026-01-01/2027-02-02/;
$same =~ s/it''s/ain''t/;
$same =~ s/25kB/26kB/;
is_deeply(plans($log), plans($same),
	'temporary schemas, constants, memory and numbers in output are masked');

for (
	[ 'costs' => sub { s/1\.03/1.04/ } ],
	[ 'rows' => sub { s/rows=4/rows=5/ } ],
	[ 'nodes' => sub { s/Seq Scan/Index Scan/ } ],
	[ 'columns' => sub { s/t\.c1/t.c2/ } ],
	[ 'parameters' => sub { s/\$0/\$1/ } ],
	[ 'conditions' => sub { s/\(t\.x = 17\)/(t.x = 18)/ } ])
{
	my ($what, $edit) = @$_;
	my $other = $log;
	$edit->() for $other;
	die "$what: no change" if $other eq $log;
	isnt(
		join('', values %{ plans($other) }),
		join('', values %{ plans($log) }),
		"$what are not");
}

# A query of which no plan is logged has an empty one.
is_deeply(
	plans("[a] LOG:  duration: 1 ms  plan:\n\tQuery Text: select 1\n"),
	{ "a #1\nQuery Text: select N" => '' },
	'a query without a plan');

# What differs: { build => { key => { plan => 1 } } }, and in how many runs of the
# two builds a key was seen.
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
my %runs = (
	(map { $_ => 4 } qw(same varies differs)),
	gone => 2,
	new => 2,
	rare => 1);
is( join(' ', PgSeries::Plans::disjoint(\%base, \%patched, \%runs, 2)),
	'differs gone new',
	'no plan in common, or planned by one build only in every run');

# The keys that are expected for a build: those of its topics.
{

	package Stub;

	sub new      { my ($class, %self) = @_; return bless \%self, $class; }
	sub config   { my ($self) = @_;         return $self; }
	sub builds   { my ($self) = @_;         return $self; }
	sub top      { my ($self) = @_;         return $self->{top}; }
	sub describe { my ($self) = @_; return { patches => $self->{patches} }; }
}
make_dir("$dir/src/test/data");
write_file(
	"$dir/src/test/data/plans-expected.json",
	'{ "a": ["k1", "k2"], "b": ["k3"] }');
is_deeply(
	PgSeries::Plans::expected_keys(
		Stub->new(
			top => "$dir",
			patches => [ { topic => 'a' }, { topic => 'c' } ]),
		'any'),
	{ k1 => 1, k2 => 1 },
	'what is expected of a topic');

# Patches that make the catalogs larger.
write_file("$dir/$_->[0].patch",
	"--- a/src/$_->[1]\n+++ b/src/$_->[1]\n@@ -1 +1 @@\n-a\n+b\n")
  for [ 'dat', 'include/catalog/pg_proc.dat' ],
  [ 'sql', 'backend/catalog/system_views.sql' ],
  [ 'h', 'include/catalog/pg_index.h' ];
for my $case ([ dat => 1 ], [ sql => 1 ], [ h => 0 ])
{
	my ($name, $changes) = @$case;
	my $stub = Stub->new(
		patches => [
			{ topic => 'a', path => "$dir/h.patch" },
			{ topic => 'a', path => "$dir/$name.patch" }
		]);
	is(!!PgSeries::Plans::changes_catalogs($stub, 'any'),
		!!$changes, "catalogs changed by .$name");
}
ok( PgSeries::Plans::reads_catalogs(
		{
			'Seq Scan on public.t' => 1,
			"Sort\n  ->  Seq Scan on pg_catalog.pg_class c" => 1
		}),
	'a plan that reads a catalog');
ok(!PgSeries::Plans::reads_catalogs({ 'Seq Scan on public.t' => 1 }),
	'a plan that does not');

done_testing();
