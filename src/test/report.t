# PgSeries::Report and its modules: what they read, compute, write and refuse.

use strict;
use warnings FATAL => 'all';

use File::Path qw(make_path);
use File::Temp ();
use FindBin;
use JSON::PP;
use PgSeries::Config;
use PgSeries::Report qw(plot_data report_command update_readme write_page);
use PgSeries::Report::Results qw(figure quantity read_results);
use PgSeries::Report::Topics  qw(check_figures filler gain read_topics
  text_table worst);
use PgSeries::Submit;
use PgSeries::Util qw(find_tool read_file write_file);
use Test::More;

my $real = PgSeries::Config->new(top => "$FindBin::RealBin/../..");
my $dir = File::Temp->newdir();
my $json = JSON::PP->new->utf8->canonical;

# A project with three topics and two benchmarks; the numbers are made up.  "times"
# stands for pairs of runs: base, patched and how many.
my $fixture = <<'JSON';
{ "results": {
  "planning": {
    "topic": "indexes",
    "axis": { "name": "indexes" },
    "series": [
      { "measure": "plan", "case": { "indexes": 1, "rows": 9 }, "base": [1000, 1000], "patched": [1010, 1010] },
      { "measure": "plan", "case": { "indexes": 2000, "rows": 9 }, "base": [64000], "patched": [8000] },
      { "measure": "throughput", "case": { "clients": 2 }, "times": [12000, 24000, 8] },
      { "measure": "latency", "case": { "clients": 2 }, "times": [3000, 2970, 8],
        "label": "one query", "unit": "ns per query", "better": "lower" } ] },
  "prepared": {
    "topic": "partitions",
    "series": [
      { "measure": "prepared", "case": { "partitions": 8, "mode": "auto" }, "times": [1000, 1500, 8] },
      { "measure": "prepared", "case": { "partitions": 64, "mode": "auto" }, "times": [1000, 1500, 8] },
      { "measure": "prepared", "case": { "partitions": 64, "mode": "generic" }, "times": [1000, 800, 8],
        "date": "2026-11-20T08:00:00Z" },
      { "measure": "prepared", "case": { "partitions": 0, "mode": "auto" }, "times": [1000, 990, 3] },
      { "measure": "slots", "case": {}, "base": [100], "patched": [99],
        "label": "slots", "unit": "locks", "better": "higher", "method": "count" } ] } },
"meta": { "plots": [ { "file": "plan.plot", "title": "It's \"planning\"", "measure": "plan", "x": "indexes" } ] },
"topics": {
  "fixes": { "title": "Faults", "who": "pruning", "gain": "no rows are lost", "figures": {} },
  "indexes": {
    "title": "Many <indexes>",
    "who": "tables with many_indexes",
    "gain": "planning with {plan:indexes} indexes takes {plan:times} of the instructions, {tps:times} times the speed",
    "plot": { "bench": "planning", "file": "plan.plot" },
    "figures": {
      "plan": { "bench": "planning", "measure": "plan", "case": { "indexes": 2000 }, "label": "plan, :indexes indexes" },
      "one": { "bench": "planning", "measure": "plan", "case": { "indexes": 1 } },
      "tps": { "bench": "planning", "measure": "throughput", "case": {}, "label": "tps, :clients clients" },
      "time": { "bench": "planning", "measure": "latency", "case": {} },
      "all": { "bench": "planning", "measure": ["plan", "throughput"], "case": {}, "all": true },
      "share": { "bench": "planning", "measure": "plan", "case": { "indexes": 2000 }, "of": "plan" } },
    "letter": ["plan", "tps"] },
  "partitions": {
    "title": "Many partitions",
    "who": "partitions",
    "gain": "reaches {auto:times}",
    "figures": {
      "auto": { "bench": "prepared", "measure": "prepared", "case": { "partitions": 64, "mode": "auto" }, "label": "auto", "note": "no" },
      "few": { "bench": "prepared", "measure": "prepared", "case": { "partitions": 0 } },
      "generic": { "bench": "prepared", "measure": "prepared", "case": { "mode": "generic" }, "note": "as expected" } },
    "letter": ["auto"] } } }
JSON
my %common = (
	format => 1,
	scale => 'full',
	base => '18.6',
	patched => '0123456789ab',
	date => '2026-11-21T08:00:00Z',
	machine => { cpu => 'CPU', cores => 2, memory_kb => 8025172 });

# A series with what it has not; the pairs drift apart by 1% from first to last.
sub series
{
	my (%series) = @_;
	my $times = delete $series{times};

	return {
		label => 'plan <&> t_x with :indexes indexes',
		unit => 'instructions per plan',
		better => 'lower',
		method => 'instructions',
		case => {},
		measure => 'm',
		%series
	  }
	  unless $times;
	my ($base, $patched, $n) = @$times;
	my (@pairs, @aa);
	foreach my $i (0 .. $n - 1)
	{
		my $drift = 1 + ($i - ($n - 1) / 2) * 0.01 / $n;
		push @pairs, { base => $base, patched => $patched * $drift };
		push @aa,    { first => $base, second => $base };
	}
	return {
		label => 'point query',
		unit => 'tps',
		better => 'higher',
		method => 'time',
		case => {},
		measure => 'm',
		pairs => \@pairs,
		aa => \@aa,
		%series
	};
}

# Writes the project; the first argument is a path in the data above, such as
# "topics/indexes/gain", and the second the value that is put there (undef: none).
# Returns its Config.
sub project
{
	my ($path, $value) = @_;
	my $data = $json->decode($fixture);
	my $top = "$dir/project";

	foreach my $name (keys %{ $data->{results} })
	{
		my $result = $data->{results}{$name};
		$data->{results}{$name} = {
			%common, %$result,
			bench => $name,
			title => "Title of $name",
			series => [ map { series(%$_) } @{ $result->{series} } ]
		};
	}
	if (defined $path)
	{
		my $at = $data;
		my ($last, @keys) = reverse split m{/}, $path;
		$at = ref $at eq 'ARRAY' ? $at->[$_] : $at->{$_}
		  foreach reverse @keys;
		if   (defined $value) { $at->{$last} = $value; }
		else                  { delete $at->{$last}; }
	}
	make_path(
		"$top/patches/18", "$top/doc/topics",
		"$top/benchmarks/results", "$top/benchmarks/indexes/planning");
	my %file = (
		'patches/18/BASE' => read_file($real->patches . '/BASE'),
		'README.md' =>
		  "top\n<!-- results:begin -->\nold\n<!-- results:end -->\nend\n",
		'doc/topics/indexes.md' => '',
		'benchmarks/indexes/planning/plan.plot' =>
		  "x_label = 'x'\ny_label = 'y'\nload style\neval draw\n",
		'benchmarks/indexes/planning/meta.json' =>
		  $json->encode($data->{meta}),
		map { $_ => read_file($real->top . "/$_") }
		  qw(benchmarks/style.gp benchmarks/report.html));
	foreach my $name (qw(fixes indexes partitions))
	{
		my $topic = $data->{topics}{$name};
		make_path("$top/benchmarks/$name", "$top/patches/18/$name");
		$file{'patches/18/series'} .= "# topic: $name\n$name/0001-a.patch\n";
		$file{"patches/18/$name/0001-a.patch"} = "Subject: [PATCH] A\n";
		$file{"benchmarks/$name/topic.json"} = $json->encode($topic)
		  if $topic;
		unlink "$top/benchmarks/$name/topic.json" unless $topic;
	}
	foreach my $name (keys %{ $data->{results} })
	{
		$file{"benchmarks/results/$name.json"} =
		  $json->encode($data->{results}{$name});
	}
	write_file("$top/$_", $file{$_}) foreach keys %file;
	return PgSeries::Config->new(top => $top);
}

# The lines of a table, each split at its first " | ".
sub cases
{
	my ($text) = @_;
	return map { [ split / \| /, $_, 2 ] } split /\n/, $text;
}

# The error of the function: one line with a remedy, code 2.
sub raises
{
	my ($run, $want, $name) = @_;
	my $error = eval { $run->(); 1 } ? undef : $@;
	my $said =
	  ref $error
	  ? "$error->{code}: $error->{message}; $error->{remedy}"
	  : $error || '';
	like($said, qr/^2: [^\n]*\Q$want\E[^\n]*\z/, $name);
	return;
}

# Runs the function; returns what it says on standard error.
sub said
{
	my ($run) = @_;
	open(my $saved, '>&', \*STDERR) or die $!;
	open(STDERR, '>', "$dir/said") or die $!;
	my $lived = eval { $run->(); 1 };
	open(STDERR, '>&', $saved) or die $!;
	die $@ unless $lived;
	return read_file("$dir/said");
}

my $config = project();
my @results = read_results($config);
my $topics = read_topics($config);
my ($planning, $prepared) = @results;

# What a figure says
foreach my $case (cases(<<'CASES'))
[10000] [9994] lower | better
[10000] [9996] lower | no difference
[10000] [10004] lower | no difference
[10000] [10006] lower | worse
[10000] [10006] higher | better
[10000] [9994] higher | worse
[10000,10100] [10060] lower | worse
CASES
{
	my ($base, $patched, $better) = split / /, $case->[0];
	my $series = series(
		base => $json->decode($base),
		patched => $json->decode($patched),
		better => $better);
	is(figure($series)->{verdict}, $case->[1], "counts: @$case");
}
is_deeply(
	figure(series(base => [ 100, 110, 90 ], patched => [ 200, 220 ])),
	{
		base => [ 100, 90, 110 ],
		patched => [ 210, 200, 220 ],
		gain => 1 / 2.1,
		map({ $_ => 2.1 } qw(ratio lo hi)),
		verdict => 'worse'
	},
	'medians and bounds of counts');
my $figure = figure($prepared->{series}[0]);
is( sprintf('%.3f %.3f %.3f %s', @{$figure}{qw(ratio lo hi verdict)}),
	'1.500 1.493 1.507 better',
	'a time');
is(figure($prepared->{series}[3])->{verdict},
	'inconclusive', 'three pairs are too few');
foreach my $case (cases(<<'CASES'))
instructions x 12345.6 | 12,346
instructions x 7.25 | 7.25
count x 5 | 5
count x 71.9 | 71.9
time tps 12345.6 | 12,300
time tps 123.46 | 123
time ns 999 | 999 ns
time ns 1234567 | 1.23 ms
time ns 2e9 | 2.00 s
CASES
{
	my ($method, $unit, $value) = split / /, $case->[0];
	is(quantity({ method => $method, unit => $unit }, $value),
		$case->[1], "quantity: @$case");
}

# Texts of the cases
is( $planning->{series}[1]{text},
	'plan <&> t_x with 2,000 indexes',
	'a label says its case');
is( $prepared->{series}[1]{text},
	'point query (mode auto, partitions 64)',
	'a case that the label does not say');
is_deeply(
	[ map { $_->{head} } @{ $prepared->{groups} }, $planning->{groups}[0] ],
	[ 'point query, transactions per second', undef, undef ],
	'what a group shares');
is_deeply(
	[ map { $_->{row} } @{ $prepared->{series} }[ 1, 4 ] ],
	[ 'mode auto, partitions 64', 'slots, locks' ],
	'and what it does not');

# Results and topics that cannot be used
foreach my $case (cases(<<'CASES'))
results/planning/format 2 | planning.json is no result of a benchmark: its format is not 1; remove it, or run
results/planning/bench "x" | that of "x" belongs in x.json
results/planning/series/1/base [0] | planning.json is no result of a benchmark: Illegal division by zero; remove
results/planning/series/2/pairs/3/base "x" | planning.json is no result of a benchmark: Argument "x" isn't numeric
results/planning/series/0/unit | planning.json is no result of a benchmark: Use of uninitialized
results/planning/series/1/ratio 8 | its runs give another ratio: plan <&> t_x with 2,000 indexes; remove
topics/indexes | the topic indexes has no
topics/fixes/figures | "figures" is missing
topics/indexes/who | indexes/topic.json: "who" is missing; correct it
topics/indexes/figures/one/case | figure "one" has no "case"
topics/indexes/gain "60 indexes" | the gain has a digit
topics/indexes/figures/plan/label "60 indexes" | the label of plan has a digit
topics/indexes/letter ["one"] | "letter" has "one", which is no figure with a label
topics/indexes/letter ["none"] | "letter" has "none"
topics/indexes/figures/plan/bench "none" | figure "plan": 0 figures of none are plan (indexes 2,000); name exactly one, or run
topics/indexes/figures/all/measure ["no","none"] | figure "all": 0 figures of planning are no or none (); name at least one
topics/indexes/figures/plan/case {} | figure "plan": 2 figures
topics/indexes/figures/share/of "none" | figure "share": 0 figures of planning are none (indexes 2,000, rows 9)
topics/indexes/figures/tps/label ":other" | figure "tps": :other in its label is no value
CASES
{
	my ($path, $value) = split / /, $case->[0], 2;
	$value = $json->allow_nonref->decode($value) if defined $value;
	my $changed = project($path, $value);
	raises(
		sub {
			my @read = read_results($changed);
			check_figures($_, \@read) foreach @{ read_topics($changed) };
		},
		$case->[1],
		"@$case");
}
$config = project();
raises(
	sub { read_results($config, "$dir/none") },
	'there are no results in ',
	'no results');

# Placeholders
my $fill = filler('letter', $topics, \@results, 'indexes');
foreach my $case (cases(<<'CASES'))
{plan:base} -> {plan:patched} | 64,000 -> 8,000
{plan:ratio}, {tps:ratio} | 0.125, 2.000 [1.991, 2.009]
{plan:times}, {tps:times} | 0.125, 2.00
{plan:verdict}, {one:verdict} | better, worse
{plan:indexes} {tps:clients} {tps:pairs} {tps:cores} | 2,000 2 8 2
{time:base} | 3.00 us
{all:ratio} ({all:verdict}) | 0.125 to 2.000 (2 better, 1 worse)
{share:base} | 100%
CASES
{
	is($fill->($case->[0]), $case->[1], "filled: $case->[0]");
}
foreach my $case (cases(<<'CASES'))
{plan} | letter: "{plan}" is no {NAME:WHAT}
{none:base} | letter: {none:base}: there is no such figure
{plan:nothing} | letter: {plan:nothing}: plan has no "nothing"
{plan:pairs} | plan has no "pairs"
{one:times} | plan has no "times"
{share:ratio} | plan has no "ratio"
CASES
{
	raises(sub { $fill->($case->[0]) }, $case->[1], "not filled: @$case");
}
is( filler('letter', $topics, \@results, 'partitions')
	  ->('{few:ratio}, {generic:mode}'),
	'0.990, too few pairs, generic',
	'of another topic');

# The worst of a topic
my @worst = map { scalar worst($_, \@results) } @$topics;
is(join('', map { $_ ? "$_->{text}\n" : "-\n" } @worst),
	<<'WORST', 'the worst of each topic');
-
1 of 4 figures is worse; the worst: plan <&> t_x with 1 indexes takes 1.010 times the instructions; of the 2 measured times, none is worse and none is inconclusive
2 of 5 figures are worse; the worst: point query (mode generic, partitions 64) reaches 0.800 [0.796, 0.803] of the transactions per second (as expected); of the 4 measured times, 1 is worse and 1 is inconclusive
WORST
foreach my $case (cases(<<'CASES'))
{"base":[100],"patched":[101]} {"base":[100],"patched":[103]} {"base":[100],"patched":[102]} | 3 of 3 figures are worse; the worst: plan <&> t_x with :indexes indexes takes 1.030 times the instructions
{"base":[100],"patched":[130],"better":"higher"} {"base":[100],"patched":[70],"better":"higher","unit":"locks"} | 1 of 2 figures is worse; the worst: plan <&> t_x with :indexes indexes reaches 0.700 of the locks
{"base":[100,104],"patched":[103]} | 1 of 1 figures is worse; the worst: plan <&> t_x with :indexes indexes takes 1.010 times the instructions
{"base":[10000],"patched":[10004]} | none of 1 figures is worse
{"times":[100,50,3]} | none of 1 figures is worse; of the 1 measured times, none is worse and 1 is inconclusive
{"times":[100,150,8],"better":"lower","unit":"ns"} | 1 of 1 figures is worse; the worst: point query takes 1.500 [1.493, 1.507] times the time; of the 1 measured times, 1 is worse and none is inconclusive
CASES
{
	my @series = map { series(%{ $json->decode($_) }) } split / /, $case->[0];
	$config = project('results/planning/series', \@series);
	is(worst($topics->[1], [ read_results($config) ])->{text},
		$case->[1], "worst: $case->[0]");
}

# The table of a letter
is(text_table($topics, \@results, 'indexes'), <<'TABLE', 'table of a letter');
                       base  patched  patched / base
plan, 2,000 indexes  64,000    8,000  0.125
tps, 2 clients       12,000   24,000  2.000 [1.991, 2.009]
TABLE
is(text_table($topics, \@results, 'fixes'), '', 'no figures, no table');

# The documents, and the command that writes them
{

	package Context;

	sub config { return $_[0]{config} }
	sub say    { return 0 }
}

sub command
{
	my (%option) = @_;
	my $context = bless { config => $config, option => \%option }, 'Context';
	my $status;
	my $said = said(sub { $status = report_command($context) });
	return "$status $said";
}

sub written { my ($name) = @_; return read_file("$dir/project/$name"); }
my @differ = map {
		"pgseries: $_ is not what benchmarks/results gives; "
	  . "run: pgseries report --docs\n"
} 'README.md', 'doc/results.md';
$config = project();
my $readme = written('README.md');
is( command(docs => 1, dry_run => 1),
	"1 @differ" =~ s/\n /\n/r,
	'a dry run finds what is not current');
is(written('README.md'), $readme, 'and writes nothing');
is(command(docs => 1), '0 ', 'the documents are written');
is(written('README.md'), <<'README', 'README.md');
top
<!-- results:begin -->
- **tables with many\_indexes**: planning with 2,000 indexes takes 0.125 of the instructions, 2.00 times the speed; at
  worst: 1.010 times the instructions (plan \<&\> t\_x with 1 indexes).
- **partitions**: reaches 1.50; at worst: 0.800 \[0.796, 0.803\] of the transactions per second (point query (mode
  generic, partitions 64)).
<!-- results:end -->
end
README
my $document = written('doc/results.md');
is((split /(?=\n## )/, $document)[2], <<'DOCUMENT', 'doc/results.md');

## Many \<indexes\>

Planning with 2,000 indexes takes 0.125 of the instructions, 2.00 times the speed.

Worst measured: 1 of 4 figures is worse; the worst: plan \<&\> t\_x with 1 indexes takes 1.010 times the instructions; of the 2 measured times, none is worse and none is inconclusive.

### Title of planning

| Case | 18.6 | Patched | Ratio | Verdict |
| --- | --: | --: | --: | --- |
| plan \<&\> t\_x with 1 indexes, instructions per plan | 1,000 | 1,010 | 1.010 | worse |
| plan \<&\> t\_x with 2,000 indexes, instructions per plan | 64,000 | 8,000 | 0.125 | better |
| point query, transactions per second | 12,000 | 24,000 | 2.000 \[1.991, 2.009\] | better |
| one query, time per query | 3.00 µs | 2.97 µs | 0.990 \[0.986, 0.994\] | better |
DOCUMENT
like(
	$document,
	qr/^\| Measured \| 2026-11-20 to 2026-11-21 \|\n/m,
	'dates, also those of single figures');
like($document, qr/^\| Machine \| CPU, 2 cores, 7\.7 GiB \|\n/m, 'machine');
is(command(docs => 1, dry_run => 1), '0 ', 'now they are current');
write_file("$dir/project/doc/results.md", "$document\n");
is(command(docs => 1, dry_run => 1), "1 $differ[1]", 'one is not');

foreach my $text ("<!-- results:begin -->\n",
	"<!-- results:end -->\n<!-- results:begin -->\n")
{
	raises(
		sub { update_readme($text, $topics, \@results) },
		'README.md has no line "<!-- results:begin -->"',
		'README without its lines');
}
is( () = update_readme($readme x 2, $topics, \@results) =~ /^(?:old|top)$/mg,
	3,
	'nothing else is lost');
raises(sub { command(dry_run => 1) }, '--dry-run is for --docs only',
	'usage');
raises(
	sub { command(docs => 1, results => 'x') },
	'--docs takes no --results',
	'usage of --docs');
raises(
	sub { command(results => "$dir/none") },
	'there are no results',
	'a directory without results');
unlink "$dir/project/benchmarks/results/planning.json";
raises(
	sub { command(docs => 1, dry_run => 1) },
	'indexes/topic.json: figure "plan": 0 figures',
	'the documents need all figures');
make_path("$dir/build");
$config->{build} = "$dir/build";
is(command(), '0 ', 'the page does not');
my $page = read_file("$dir/build/report/index.html");
like($page, qr/The figures for this sentence are not among the results\./,
	'but says so');
unlike($page, qr/<figure/, 'and has no plot of what was not measured');

# The page; page.t opens it.
$config = project();
@results = read_results($config);

sub page
{
	write_page($config, $topics, \@results, "$dir/page");
	return read_file("$dir/page/index.html");
}
{
	local $ENV{PATH} = "$dir";
	raises(
		\&page,
		'gnuplot is missing; run: ./configure --install-deps',
		'a page without gnuplot');
}
SKIP:
{
	skip 'gnuplot is missing', 1 unless find_tool('gnuplot');
	my $first = page();
	write_file("$dir/.gnuplot", "set xtics font ',30'\nset polar\n");
	local $ENV{HOME} = "$dir";
	is(page(), $first, 'a second page is the same, whatever ~/.gnuplot says');
	like($first, qr/\Q$_\E/, "page: $_") foreach split /\n/, <<'PARTS';
<section id="indexes"><div class="words"><h2>Many &lt;indexes&gt;</h2>
<p class="gain">Planning with 2,000 indexes takes 0.125
<b>Worst measured:</b> 1 of 4 figures is worse; the worst: plan &lt;&amp;&gt; t_x with 1
<svg role="img" aria-label="It's &quot;planning&quot;: 18.6 and patched"
<summary>All 4 figures</summary>
<tr><th scope="row">plan &lt;&amp;&gt; t_x with 1 indexes, instructions per plan</th>
<td>1,010</td>
<td>1.010</td>
<td class="worse">worse</td>
PARTS
	unlike(
		$first,
		qr/\@[A-Z]+\@|\{\w+:|gnuplot \d|\Q$dir\E|#0([1-6])0\g1/,
		'nothing is left of templates, nor of gnuplot');
	write_file("$dir/project/benchmarks/indexes/planning/plan.plot", "no\n");
	raises(
		\&page,
		'plan.plot (exit status 1); correct the plot file',
		'a plot file that fails');
	$config = project('meta/plots', []);
	raises(
		\&page,
		'indexes/topic.json: planning has no plot plan.plot',
		'a plot that there is not');
}

# Data of plots
my %plot =
  (file => 'x', measure => 'prepared', x => 'partitions', lines => 'mode');
like(
	plot_data($prepared, \%plot),
	qr/\A# x\tbase\t.*\n\n\n0\t1000\tNaN\tNaN\t990\tNaN\tNaN\tauto\n8\t1000\t1000\t1000\t1500\t149\S+\t150\S+\tauto\n64\t.*\n\n\n64\t.*\tgeneric\n\z/,
	'plot data: a block for each line, sorted, no bounds of few pairs');
is( plot_data(
		$planning,
		{ measure => 'plan', x => 'indexes', where => { indexes => 1 } }),
	'',
	'plot data: one value makes no plot');
like(
	plot_data(
		$planning, { measure => [ 'plan', 'throughput' ], x => 'indexes' }),
	qr/\n1\t1000\t1000\t1000\t1010\t1010\t1010\t-\n2000\t.*\n\z/,
	'plot data: what has no x is left out');
raises(
	sub { plot_data($prepared, { %plot, lines => undef }) },
	'plot x has two figures for partitions 64; add to "where" or "lines"',
	'two figures at a place');

# The repository's own topics and letters
@results = read_results($real);
$topics = read_topics($real);
foreach my $topic (@$topics)
{
	my $name = $topic->{name};
	is(eval { check_figures($topic, \@results); 1 }, 1, "$name: figures");
	unlike(read_file($topic->{file}), qr/[^\x00-\x7f]/, "$name: ASCII");
	my @forced = grep {
		($topic->{figures}{$_}{case}{plan_cache_mode} || 'auto') ne 'auto'
	} $topic->{gain} =~ /\{([\w-]+):/g;
	is("@forced", '', "$name: the gain is one with default settings");
	my $letter = $real->top . "/patches/cover/$name";
	next unless -f $letter;
	cmp_ok(text_table($topics, \@results, $name) =~ tr/\n//,
		'<=', 8, "$name: lines of the letter's table");
	my $text =
	  PgSeries::Submit::fill_letter($real, $letter, read_file($letter),
		\@results, $name);
	is( join("\n",
			grep { /.{73}|[^ -~]|[{}]/ && !/^Subject/ } split /\n/, $text),
		'',
		"$name: the letter is filled, in lines of at most 72 columns");
}

done_testing();
