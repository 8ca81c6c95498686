# pgseries hunt: what it runs and how it judges it, without a server.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/..", "$FindBin::RealBin/../../lib";

use List::Util qw(first);
use PgSeries::Hunt;
use PgSeries::Hunt::Cases;
use PgSeries::Hunt::Steps;
use Test::More;

# Cases: the seed decides; all kinds come up; texts are whole.
sub cases
{
	my ($seed, $topic) = @_;
	my $g = PgSeries::Hunt::Cases->new($seed, $topic);
	return ([ $g->tables ], map { $g->next_case } 1 .. 300);
}
my ($tables, @cases) = cases(1);
is_deeply(
	[ cases(1) ],
	[ $tables, @cases ],
	'the same seed gives the same cases');
isnt(
	PgSeries::Hunt::in_line($cases[0]),
	PgSeries::Hunt::in_line((cases(2))[1]),
	'another gives others');
my %kind = map { $_->{kind} => 1 } @cases;
is( join(
		' ',
		grep { !$kind{$_} }
		  qw(point list ordered function_limit join few_join exists lateral group
		  distinct window union cte scalar count extremes insert upsert update delete
		  merge churn build)),
	'',
	'all kinds come up');
my @bad;
for my $case (@cases)
{
	my ($prepare, $execute) = PgSeries::Hunt::Cases::commands($case);
	push @bad, grep { /\$\d|  |\bHASH\(|\bCODE\(/ } @$execute
	  if !$case->{prepared} && !$case->{own};
	push @bad, "@$prepare"
	  if $case->{prepared} && @$prepare != 1
	  || !$case->{prepared} && @$prepare;
}
is("@bad", '', 'no parameter without a value');
is( scalar(
		grep { !$_->{by} }
		map  { (cases($_, 'partitions'))[0][0] } 3 .. 12),
	0,
	'partitioned tables for the topic partitions');
my ($partitioned) = grep { $_->{by} =~ /^RANGE/ && $_->{parts} > 2 }
  map { @{ (cases($_))[0] } } 1 .. 9;
like(
	PgSeries::Hunt::Cases::create_table($partitioned),
	qr/MINVALUE\) TO (.*?);.*FROM \1|MINVALUE.*FROM \(timestamp.*TO \(MAXVALUE/s,
	'ranges meet');

# What is made smaller is smaller, and keeps what makes the finding.
my $case =
  first { @{ $_->{where} } >= 2 && @{ $_->{tables}[0]{indexes} } > 2 } @cases;
my $small = PgSeries::Hunt::reduced(
	$case,
	\&PgSeries::Hunt::Cases::smaller,
	sub { @{ $_[0]{where} } >= 1 && @{ $_[0]{tables}[0]{indexes} } >= 1 });
is( join(' ',
		scalar @{ $small->{where} },
		scalar @{ $small->{tail} },
		scalar @{ $small->{tables}[0]{indexes} },
		scalar keys %{ $small->{set} },
		$small->{tables}[0]{parts},
		$small->{prepared} ? 1 : 0),
	'1 0 1 0 0 0',
	'only what matters is left');

# Steps.
my $spec = PgSeries::Hunt::Steps::generate('rows', 5);
is( PgSeries::Hunt::Steps::text($spec),
	PgSeries::Hunt::Steps::text(PgSeries::Hunt::Steps::generate('rows', 5)),
	'the same seed gives the same steps');
like(
	PgSeries::Hunt::Steps::text(
		{
			%$spec,
			set => 'SET enable_seqscan = off;',
			steps => [ { session => 1, kind => 'oracle', sql => 'q' } ]
		}),
	qr/enable_seqscan = on;.*enable_bitmapscan = off; q;/,
	'the oracle scans sequentially, whatever the session has set');
my %seen;
for my $kind (qw(rows locks ddl))
{
	for my $seed (1 .. 60)
	{
		my $s = PgSeries::Hunt::Steps::generate($kind, $seed);
		$seen{ $_->{kind} } = 1 for @{ $s->{steps} };
	}
}
is( join(' ', sort keys %seen),
	'ddl locks oracle use waiting',
	'all kinds of steps come up');

# What is a finding, from what isolationtester prints.
sub judge
{
	my ($steps, @printed) = @_;
	my @results = map { [ PgSeries::Hunt::Steps::results($_) ] } @printed;
	return join '; ', map {
		"$_->{kind} $_->{step} $_->{what}" . ($_->{base} ? ' (base)' : '')
	} PgSeries::Hunt::Steps::findings(
		{
			steps => [
				map {
					{
						kind => $_,
						sql => $_ eq 'ddl' ? 'z' : 'x',
						session => 1
					}
				  }
				  split / /,
				$steps
			]
		},
		@results);
}
my $one = "step s1: x\na\n-\n1\n(1 row)\n\n";
my $two = $one =~ s/1\n/2\n/r;
my $waits = "step s1: x <waiting ...>\n";
my $done = "step s1: <... completed>\na\n-\n1\n(1 row)\n\n";
my $fails = "step s1: x\nERROR:  no 7\n";
my $timeout = "step s1: x\nERROR:  canceling statement due to lock timeout\n";
my $next = "step s2: x\na\n-\n1\n(1 row)\n\n";

for (
	[ 'use', $one, $one, '' ],
	[ 'use', $one, $two, 'rows 0 other rows' ],
	[ 'use use', "$waits$next$done", "$one$next", '' ],
	[ 'use use', "$one$next", "$waits$next$done", 'locks 0 waits' ],
	[ 'use', $one, $fails, 'rows 0 fails: no 7' ],
	[ 'ddl', $one, $fails, 'ddl 0 fails: no 7' ],
	[ 'use', $fails, $one, '' ],
	[ 'use', $fails =~ s/7/OID 7/r, $fails =~ s/7/OID 8/r, '' ],
	[ 'ddl', $timeout, $fails, '' ],
	[ 'ddl', $waits, $fails, '' ],
	[ 'ddl', "step s1: x\nERROR:  deadlock detected\n", $fails, '' ],
	[
		'ddl', $fails,
		"step s1: x\nERROR:  deadlock detected\n",
		'ddl 0 fails: deadlock detected'
	],
	[
		'ddl', $timeout,
		$fails =~ s/no 7/could not open 7/r,
		'ddl 0 fails: could not open 7'
	],
	[ 'use use', "$waits$next$done", "$one" . $next =~ s/1\n/2\n/r, '' ],
	[
		'use oracle',
		"$one$next",
		"$two$next",
		'rows 0 other rows; rows 1 patched: not the rows of a sequential scan'
	],
	[
		'use oracle',
		"$two$next",
		"$two$next",
		'rows 1 patched: not the rows of a sequential scan; rows 1 base: not the rows of a sequential scan (base)'
	],
	[
		'locks',
		"step s1: x\nrelation|mode|relkind\n-+-\nt1  |AccessShareLock|p\n(1 row)\n",
		"step s1: x\nrelation|mode|relkind\n-+-\nt1  |AccessShareLock|p\nt1_2|AccessShareLock|r\n(2 rows)\n",
		'locks 0 holds more: t1_2|AccessShareLock|r'
	],
	[
		'waiting',
		"step s1: x\nquery|behind\n-+-\nREINDEX t|1\n(1 row)\n",
		"step s1: x\nquery|behind\n-+-\nREINDEX t|3\n(1 row)\n",
		'ddl 0 waits after more work: REINDEX t'
	],
	[
		'use oracle', "$two$next", "$one$next",
		'rows 1 base: not the rows of a sequential scan (base)'
	],
	[ 'oracle', $two, $two, '' ],
	[ 'ddl oracle', "$two$next", "$two$next", '' ],
	[ 'use use', "$one$next", $one, 'rows 1 the session ends' ])
{
	my ($steps, $base, $patched, $want) = @$_;
	is(judge($steps, $base, $patched), $want, "judged: $want");
}

done_testing();
