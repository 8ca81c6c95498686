# The demo: what it says of figures, and the whole list on tiny tables, with the
# builds that are there.

use strict;
use warnings FATAL => 'all';

use Cwd qw(abs_path);
use FindBin;
use PgSeries::CLI;
use PgSeries::Config;
use PgSeries::Demo;
use PgSeries::Report::Results qw(fill_label);
use PgSeries::Util            qw(read_file run_status slurp_json take_lock);
use File::Temp;
use Test::More;

my $top = abs_path("$FindBin::RealBin/../..");
my $list = slurp_json("$top/benchmarks/demo.json");
my %metas = PgSeries::Bench::read_metas("$top/benchmarks");

# What it says of a figure; "=" and "~" stand for pairs of runs that all say the same,
# or not
foreach my $line (split /\n/, <<'EOT')
instructions lower x 676441.2 215794 : 676,441 | 215,794 | 3.1x less work | exact
instructions lower x 200 300 : 200 | 300 | 1.50x more work | exact
instructions lower x 1000 960 : 1,000 | 960 | 4.0% less work | exact
count lower x 60 1 : 60 | 1 | 59 fewer | exact
count higher x 71.9 100 : 71.9 | 100 | 28.1 more | exact
count higher x 5 5 : 5 | 5 | the same | exact
time~ lower ns 2e9 1e9 : 2.00 s | 1.00 s | 2.0x faster | 1.67x to 2.5x
time= higher tps 2000 1000 : 2,000 | 1,000 | 2.0x slower | 2.0x to 2.0x
time~ higher tps 100 105 : 100 | 105 | not sure | 0.84x to 1.26x
time= higher tps 1000 1030 : 1,000 | 1,030 | 2.9% faster | 2.9% to 2.9%
time1 higher tps 1 2 : 1.00 | 2.00 | 2.0x faster | too few runs
EOT
{
	my ($figure, $want) = split / : /, $line;
	my ($method, $better, $unit, $base, $patched) = split / /, $figure;
	my $kind = $method =~ s/^time\K(.)$// ? $1 : '';
	my @spread =
	  $kind eq '~'
	  ? (0.8, 0.9, 1, 1, 1.1, 1.2)
	  : (1) x ($kind eq '=' ? 6 : 1);
	my %series = (
		method => $method,
		better => $better,
		unit => $unit,
		base => [$base],
		patched => [$patched],
		pairs =>
		  [ map { { base => $base, patched => $patched * $_ } } @spread ],
		aa => [ map { { first => 1, second => 1 } } @spread ]);
	is(join(' | ', PgSeries::Demo::columns(\%series)), $want, $line);
}

# The list: each topic once or twice, default settings, and nothing that is misspelt
my %topics;
$topics{ $_->{topic} }++ foreach @$list;
is( join(' ', sort keys %topics),
	'fixes indexes local-locks locks merge nbtree parallel-sort partitions',
	'eight topics');
is(join(' ', grep { $topics{$_} > 2 } sort keys %topics),
	'', 'one or two cases of each');
my @groups = PgSeries::Demo::groups(\%metas, 0, @$list);
foreach my $case (map { @{$_}[ 1 .. $#$_ ] } @groups)
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
	[ label => 'plan a query, :index' ],
	[ case => { indexes => 1 } ],
	[ case => { indexes => 1, populated => 1, x => 1 } ])
{
	ok( !eval {
			PgSeries::Demo::groups(\%metas, 0, { %{ $list->[1] }, @$change });
			1;
		},
		"a wrong $change->[0] is refused");
	like($@->{message}, qr/^benchmarks\/demo\.json: "plan a query/, 'named');
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
	my $label = fill_label($entry->{label},
		{ %{ $entry->{case} }, %{ $entry->{tiny} || {} } });
	like(
		$out,
		qr/^  \Q$label\E +[\d,.]+(?: \S?s)? +[\d,.]+(?: \S?s)?  \S.* (?:exact|too few runs)$/m,
		"a figure: $label");
}
like(
	$out,
	qr/^  right answers, of 12 racing statements +1 +12  11 more/m,
	'wrong answers');
like(
	$out,
	qr/^Same rows from both servers: (\d+) of \1 statements\./m,
	'the same rows');
is(join("\n", grep { /.{101}/ } split /\n/, $out), '', 'at most 100 columns');
like($err, qr/^\[$_\/4\] /m, "phase $_") foreach 1 .. 4;

# Runs the demo on a list; returns its exit status and what it prints.
my $c = bless {
	option => { tiny => 1 },
	config => PgSeries::Config->new(top => $top)
  },
  'PgSeries::CLI';
take_lock($c->config->work . '/lock');

sub demo
{
	my (@list) = @_;
	my $said = File::Temp->new();

	# Not a string in memory: programs write to the descriptor.
	open(my $stdout, '>&', \*STDOUT) or die $!;
	open(STDOUT, '>', "$said") or die $!;
	my $code = eval { PgSeries::Demo::run($c, \%metas, @list) };
	STDOUT->flush;
	open(STDOUT, '>&', $stdout) or die $!;
	return ($code // $@->{message}, read_file("$said"));
}

# A topic.json that is wrong: before anything is built, or after the table
my ($entry) = grep { $_->{measure} eq 'plan-instructions' } @$list;
no warnings qw(redefine);
{
	local *PgSeries::Demo::check_figures =
	  sub { PgSeries::Util::fail(2, 'wrong', 'x') };
	local *PgSeries::Demo::phase = sub { die 'too late' };
	is((demo($entry))[0], 'wrong', 'a wrong topic.json is refused at once');
}
{
	local *PgSeries::Demo::read_topics =
	  sub { PgSeries::Util::fail(2, 'wrong', 'x') };
	($status, $out) = demo($entry);
	is($status, 1, 'another topic is broken: exit status');
	like($out, qr/^  plan a query, 3 indexes .* exact$/m, 'and the table');
}

# A plan that is not what the measure is about
$_->{node} = 'Gather Merge'
  foreach grep { defined $_->{node} }
  @{ $metas{ $entry->{bench} }{measures} };
($status, $out) = demo($entry);
is($status, 1, 'no figure: exit status');
like(
	$out,
	qr/^  plan a query, 3 indexes on the table: no figure: the plan of base has no "Gather Merge"/m,
	'it says which and why');

done_testing();
