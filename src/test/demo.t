# The demo: what it says of figures, and the whole list on tiny tables, with the
# builds that are there.

use strict;
use warnings FATAL => 'all';

use Cwd qw(abs_path);
use FindBin;
use PgSeries::CLI;
use PgSeries::Config;
use PgSeries::Demo;
use PgSeries::Util qw(read_file run_status slurp_json take_lock write_file);
use File::Temp;
use Test::More;

my $top = abs_path("$FindBin::RealBin/../..");
my $list = slurp_json("$top/benchmarks/demo.json");
my %metas = PgSeries::Bench::read_metas("$top/benchmarks");

# What it says of a figure
sub says
{
	my ($want, $method, $better, $unit, $base, $patched, %more) = @_;
	my @raw =
	  $method eq 'time'
	  ? (
		pairs => [
			map { { base => $base, patched => $patched * $_ } }
			  @{ $more{spread} }
		],
		aa => [ map { { first => 1, second => 1 } } @{ $more{spread} } ])
	  : (base => [$base], patched => [$patched]);
	is( join(
			' | ',
			PgSeries::Demo::columns(
				{ method => $method, better => $better, unit => $unit, @raw })
		),
		$want, $want);
	return;
}
my @all = (1) x 6;
my @wide = (0.8, 0.9, 1, 1, 1.1, 1.2);
says('676,441 | 215,794 | 3.1x less work | exact',
	'instructions', 'lower', 'x', 676441.2, 215794);
says('200 | 300 | 1.5x more work | exact',
	'instructions', 'lower', 'x', 200, 300);
says('1,000 | 960 | 4.0% less work | exact',
	'instructions', 'lower', 'x', 1000, 960);
says('60 | 1 | 59 fewer | exact', 'count', 'lower', 'x', 60, 1);
says('71.9 | 100 | 28.1 more | exact', 'count', 'higher', 'x', 71.9, 100);
says('5 | 5 | the same | exact', 'count', 'higher', 'x', 5, 5);
says('2,000 ms | 1,000 ms | 2.0x faster | 1.7 to 2.5',
	'time', 'lower', 'ns', 2e9, 1e9, spread => \@wide);
says('2,000 | 1,000 | 2.0x slower | 0.5 to 0.5',
	'time', 'higher', 'tps', 2000, 1000, spread => \@all);
says('100 | 105 | 4.8% faster | 0.8 to 1.3, no',
	'time', 'higher', 'tps', 100, 105, spread => \@wide);
says('1 | 2 | 2.0x faster | too few runs',
	'time', 'higher', 'tps', 1, 2, spread => [1]);
my $bugs = File::Temp->new();
write_file("$bugs",
	"# Faults\n## One\n- Loses rows: yes\n## Two\n- Loses rows: no\n");
is(PgSeries::Demo::faults("$bugs"),
	"Also fixed: 2 faults of 18.6, of which 1 lose rows (doc/bugs.md).\n",
	'faults');

# The list: each topic once or twice, default settings, and nothing that is misspelt
my %topics;
$topics{ $_->{topic} }++ foreach @$list;
is( join(' ', sort keys %topics),
	'fixes indexes locks merge nbtree parallel-sort partitions',
	'seven topics');
is(join(' ', grep { $topics{$_} > 2 } sort keys %topics),
	'', 'one or two cases of each');
my @groups = PgSeries::Demo::groups(\%metas, 0, @$list);
foreach my $case (map { @{ $_->{cases} } } @groups)
{
	my ($m, $values) = @$case;
	my $label = PgSeries::Bench::filled($m, $values)->{label};
	unlike($label, qr/\(\w+ = /, "default settings: $label");
	is($values->{plan_cache_mode} // 'auto', 'auto', 'and plans');
}
foreach my $change (
	[ bench => 'no-such' ],
	[ measure => 'no-such' ],
	[ topic => 'nbtree' ],
	[ case => { indexes => 1 } ],
	[ case => { indexes => 1, populated => 1, x => 1 } ])
{
	ok( !eval {
			PgSeries::Demo::groups(\%metas, 0, { %{ $list->[1] }, @$change });
			1;
		},
		"a wrong $change->[0] is refused");
	like($@->{message}, qr/^benchmarks\/demo\.json: "plan a query/,
		'by name');
}

# All of it
my ($out, $err);
my $status = run_status(
	[ "$top/src/bin/pgseries", 'demo', '--tiny' ],
	out => \$out,
	err => \$err);
is($status, 0, 'exit status') or diag($err);
foreach my $entry (@$list)
{
	my $label = PgSeries::Bench::filled($entry,
		{ %{ $entry->{case} }, %{ $entry->{tiny} || {} } })->{label};
	like(
		$out,
		qr/^  \Q$label\E +[\d,.]+(?: ms)? +[\d,.]+(?: ms)?  \S.* (?:exact|too few runs)$/m,
		"a figure: $label");
}
like(
	$out,
	qr/^  right answers, of 12 racing statements +1 +12  11 more/m,
	'what 18.6 answers wrongly');
like(
	$out,
	qr/^Same rows from both servers: (\d+) of \1 statements\./m,
	'the same rows');
is(join("\n", grep { /.{101}/ } split /\n/, $out), '', 'at most 100 columns');
like($err, qr/^\[$_\/4\] /m, "phase $_") foreach 1 .. 4;

# A plan that is not what the measure is about
my ($entry) = grep { $_->{measure} eq 'plan-instructions' } @$list;
$_->{node} = 'Gather Merge'
  foreach grep { defined $_->{node} }
  @{ $metas{ $entry->{bench} }{measures} };
my $c = bless {
	json => 0,
	option => { tiny => 1 },
	config => PgSeries::Config->new(top => $top)
  },
  'PgSeries::CLI';
take_lock($c->config->work . '/lock');
my $said = File::Temp->new();
{
	# Not a string in memory: programs write to the descriptor.
	open(my $stdout, '>&', \*STDOUT) or die $!;
	open(STDOUT, '>', "$said") or die $!;
	$status = PgSeries::Demo::run($c, \%metas, $entry);
	STDOUT->flush;
	open(STDOUT, '>&', $stdout) or die $!;
}
$out = read_file("$said");
is($status, 1, 'no figure: exit status');
like(
	$out,
	qr/^  plan a query, 3 indexes on the table: no figure: the plan of base has no "Gather Merge"/m,
	'it says which and why');

done_testing();
