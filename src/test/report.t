# PgSeries::Report and its modules: what they read, compute, write and refuse.

use strict;
use warnings FATAL => 'all';

use File::Path qw(make_path);
use File::Temp ();
use FindBin;
use lib "$FindBin::RealBin/lib";

use Fixture qw(fails said);
use JSON::PP;
use PgSeries::CLI;
use PgSeries::Report          qw(plot_data update_readme write_page);
use PgSeries::Report::Results qw(figure quantity read_results);
use PgSeries::Report::Topics  qw(check_figures filler gain read_topics
  text_table worst);
use PgSeries::Submit;
use PgSeries::Util qw(read_file run_status write_file);
use Test::More;

my $real = PgSeries::Config->new(top => "$FindBin::RealBin/../..");
my $dir = File::Temp->newdir();
my $json = JSON::PP->new->utf8->canonical->allow_nonref;

# A project with two topics and one benchmark; the numbers are made up.  "times" stands
# for pairs of runs: base, patched and how many.
my $fixture = <<'JSON';
{ "result": { "format": 1, "bench": "planning", "topic": "indexes", "title": "Title", "scale": "full",
    "base": "18.6", "patched": "0123456789ab", "date": "2026-11-21T08:00:00Z", "axis": { "name": "indexes" },
    "machine": { "cpu": "CPU", "cores": 2, "memory_kb": 8025172 },
    "series": [
      { "measure": "plan", "case": { "indexes": 1, "rows": 9 }, "base": [1000, 1000], "patched": [1010, 1010] },
      { "measure": "plan", "case": { "indexes": 2000, "rows": 9 }, "base": [64000], "patched": [8000] },
      { "measure": "tps", "case": { "clients": 2, "mode": "auto" }, "times": [12000, 24000, 8] },
      { "measure": "tps", "case": { "clients": 1, "mode": "auto" }, "times": [1000, 990, 3] },
      { "measure": "latency", "case": { "clients": 2 }, "times": [3000, 2970, 8],
        "label": "one query", "unit": "ns per query", "better": "lower", "date": "2026-11-20T08:00:00Z" } ] },
  "meta": { "plots": [ { "file": "plan.plot", "title": "It's \"planning\"", "measure": "plan", "x": "indexes" } ] },
  "topics": {
    "fixes": { "title": "Faults", "who": "pruning", "gain": "no rows are lost", "figures": {} },
    "indexes": {
      "title": "Many <indexes>",
      "who": "tables with many_indexes",
      "gain": "planning with {plan:indexes} indexes takes {plan:times} of the instructions, {tps:times} times the speed",
      "plot": { "bench": "planning", "file": "plan.plot" },
      "figures": {
        "plan": { "bench": "planning", "measure": "plan", "case": { "indexes": 2000 }, "label": "plan, :indexes indexes", "note": "no" },
        "one": { "bench": "planning", "measure": "plan", "case": { "indexes": 1 }, "note": "as expected" },
        "tps": { "bench": "planning", "measure": "tps", "case": { "clients": 2 }, "label": "tps, :clients clients" },
        "few": { "bench": "planning", "measure": "tps", "case": { "clients": 1 } },
        "time": { "bench": "planning", "measure": "latency", "case": {}, "label": "time" },
        "all": { "bench": "planning", "measure": ["plan", "tps"], "case": {}, "all": true },
        "tpss": { "bench": "planning", "measure": "tps", "case": {}, "all": true } },
      "letter": ["plan", "tps", "time"] } } }
JSON

# A series with what it has not; the pairs drift apart by 1% from first to last.
sub series
{
	my (%series) = @_;
	my ($base, $patched, $n) = @{ delete $series{times} || [] };
	my @drift =
	  map { 1 + ($_ - ($n - 1) / 2) * 0.01 / $n } 0 .. ($n // 0) - 1;

	return {
		case => {},
		measure => 'm',
		(   $n
			? ( method => 'time',
				label => 'point query',
				unit => 'tps',
				better => 'higher',
				pairs => [
					map { { base => $base, patched => $patched * $_ } }
					  @drift
				],
				aa => [ map { { first => $base, second => $base } } @drift ])
			: ( method => 'instructions',
				label => 'plan <&> t_x with :indexes indexes',
				unit => 'instructions per plan',
				better => 'lower')),
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
	my $list = $data->{result}{series};
	@$list = map { series(%$_) } @$list;

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
		"$top/benchmarks/results",
		"$top/benchmarks/indexes/planning",
		map {
			("$top/patches/18/$_", "$top/benchmarks/$_", "$top/doc/topics")
		} qw(fixes indexes));
	my %file = (
		'patches/18/BASE' => read_file($real->patches . '/BASE'),
		'README.md' =>
		  "top\n<!-- results:begin -->\nold\n<!-- results:end -->\nend\n",
		'doc/topics/indexes.md' => '',
		'benchmarks/results/planning.json' => $json->encode($data->{result}),
		'benchmarks/indexes/planning/meta.json' =>
		  $json->encode($data->{meta}),
		'benchmarks/indexes/planning/plan.plot' =>
		  "x_label = 'x'\ny_label = 'y'\nload style\neval draw\n",
		map { $_ => read_file($real->top . "/$_") }
		  qw(benchmarks/style.gp benchmarks/report.html));
	foreach my $name (qw(fixes indexes))
	{
		my $topic = $data->{topics}{$name};
		$file{'patches/18/series'} .= "# topic: $name\n$name/0001-a.patch\n";
		$file{"patches/18/$name/0001-a.patch"} = "Subject: [PATCH] A\n";
		$file{"benchmarks/$name/topic.json"} = $json->encode($topic)
		  if $topic;
		unlink "$top/benchmarks/$name/topic.json" unless $topic;
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

# The function must refuse in these words.
sub raises
{
	my ($run, $want) = @_;
	return fails('2: [^\n]*' . quotemeta $want, $run);
}

my $config = project();
my @results = read_results($config);
my $topics = read_topics($config);
my ($faults, $indexes) = @$topics;

# What a figure says
foreach my $case (cases(<<'CASES'))
9994 lower | better
9996 lower | no difference
10004 lower | no difference
10006 lower | worse
10006 higher | better
9994 higher | worse
CASES
{
	my ($patched, $better) = split / /, $case->[0];
	my %counts = (base => [10000], patched => [$patched]);
	is(figure(series(%counts, better => $better))->{verdict},
		$case->[1], "counts: @$case");
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
is( sprintf('%.3f %.3f %.3f %s %.3f',
		@{ figure($results[0]{series}[2]) }{qw(ratio lo hi verdict gain)}),
	'2.000 1.991 2.009 better 2.000',
	'a time');
is(figure($results[0]{series}[3])->{verdict}, 'inconclusive', 'few');
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
		$case->[1], "@$case");
}

# What tells the figures of a group apart, the axis first, and what a label does not say
my @two = map {
	series(
		label => 'l 12',
		case => { indexes => $_, a => "x$_" },
		base => [1],
		patched => [1])
} 2, 1;
my ($of_two) = read_results(project('result/series', \@two));
is( join('; ',
		map { "$_->{row}: $_->{text}" } @{ $of_two->{groups}[0]{series} }),
	'indexes 1, a x1: l 12 (indexes 1, a x1); indexes 2, a x2: l 12 (indexes 2, a x2)',
	'rows and texts');

# Results and topics that cannot be used
foreach my $case (cases(<<'CASES'))
result/format 2 | planning.json is no result of a benchmark: its format is not 1; remove it, or run
result/bench "x" | that of "x" belongs in x.json
result/series/1/base [0] | planning.json is no result of a benchmark: Illegal division by zero; remove
result/series/2/pairs/3/base "x" | planning.json is no result of a benchmark: Argument "x" isn't numeric
result/series/0/unit | planning.json is no result of a benchmark: Use of uninitialized
result/series/1/ratio 0.127 | its runs give another ratio: plan <&> t_x with 2,000 indexes; remove
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
topics/indexes/figures/tps/label ":other" | figure "tps": :other in its label is no value
CASES
{
	my ($path, $value) = split / /, $case->[0], 2;
	my $changed = project($path, defined $value ? $json->decode($value) : ());
	my $run = sub {
		my @read = read_results($changed);
		check_figures($_, \@read) foreach @{ read_topics($changed) };
	};
	raises($run, $case->[1]);
}
$config = project();
raises(sub { read_results($config, "$dir/none") },
	'there are no results in ');

# Placeholders
my $fill = filler('letter', $topics, \@results, 'indexes');
foreach my $case (cases(<<'CASES'))
{plan:base} -> {plan:patched} | 64,000 -> 8,000
{plan:ratio}, {tps:ratio}, {few:ratio} | 0.125, 2.000 [1.991, 2.009], 0.990, too few pairs
{plan:times}, {tps:times} | 0.125, 2.00
{plan:verdict}, {one:verdict} | better, worse
{plan:indexes} {tps:clients} {tps:pairs} {tps:cores} | 2,000 2 8 2
{time:base} | 3.00 us
{all:ratio} ({all:verdict}) | 0.125 to 2.000 (2 better, 1 inconclusive, 1 worse)
{tpss:clients} | 1 to 2
{plan} | 2: letter: "{plan}" is no {NAME:WHAT}
{all:what} | 2: letter: {all:what}: plan has no "what"
{tpss:mode} {none:base} | 2: letter: {tpss:mode}: "auto" is no number
{none:base} | 2: letter: {none:base}: there is no such figure
{plan:nothing} | 2: letter: {plan:nothing}: plan has no "nothing"
{plan:pairs} | 2: letter: {plan:pairs}: plan has no "pairs"
{one:times} | 2: letter: {one:times}: plan has no "times"
CASES
{
	my ($text, $want) = @$case;
	if ($want =~ s/^2: //)
	{
		raises(sub { $fill->($text) }, $want);
	}
	else { is($fill->($text), $want, "filled: $text"); }
}

# The worst of a topic
foreach my $case (cases(<<'CASES'))
{"base":[100],"patched":[101]} {"base":[100],"patched":[103]} {"base":[100],"patched":[102]} | 3 of 3 figures are worse; the worst: plan <&> t_x with :indexes indexes takes 1.030 times the instructions
{"base":[100],"patched":[130],"better":"higher"} {"base":[100],"patched":[70],"better":"higher","unit":"locks"} | 1 of 2 figures is worse; the worst: plan <&> t_x with :indexes indexes reaches 0.700 of the locks
{"base":[100],"patched":[110]} {"base":[100],"patched":[80],"better":"higher"} | 2 of 2 figures are worse; the worst: plan <&> t_x with :indexes indexes reaches 0.800 of the instructions
{"base":[10000],"patched":[10004]} | none of 1 figures is worse
{"times":[100,50,3]} | none of 1 figures is worse; of the 1 measured times, none is worse and 1 is inconclusive
{"times":[100,150,8],"better":"lower","unit":"ns"} | 1 of 1 figures is worse; the worst: point query takes 1.500 [1.493, 1.507] times the time; of the 1 measured times, 1 is worse and none is inconclusive
CASES
{
	my @series = map { series(%{ $json->decode($_) }) } split / /, $case->[0];
	is( worst($indexes, [ read_results(project('result/series', \@series)) ])
		  ->{text},
		$case->[1],
		"worst: $case->[0]");
}
is(worst($faults, \@results), undef, 'a topic without benchmark has none');

# The table of a letter
is(text_table($topics, \@results, 'indexes'), <<'TABLE', 'table of a letter');
                        base  patched  patched / base
plan, 2,000 indexes   64,000    8,000  0.125
tps, 2 clients        12,000   24,000  2.000 [1.991, 2.009]
time                 3.00 us  2.97 us  0.990 [0.986, 0.994]
TABLE
is(text_table($topics, \@results, 'fixes'), '', 'no figures, no table');

# The documents, and the command that writes them
sub command
{
	my ($of, %option) = @_;
	my $c = bless { config => $of, option => \%option }, 'PgSeries::CLI';
	return PgSeries::Report::command($c);
}
$config = project();
my $readme = read_file("$dir/project/README.md");
my @status;
my $says = said(
	sub {
		@status = (
			command($config, docs => 1, dry_run => 1),
			read_file("$dir/project/README.md"),
			map { command($config, docs => 1, dry_run => $_) } 0,
			1);
	});
is("@status", "1 $readme 0 0", 'only what is not a dry run writes');
is( join(' ', $says =~ /^pgseries: (\S+) is not what .*; run: .* --docs$/mg),
	'README.md doc/results.md',
	'and it says what is not current');
is(read_file("$dir/project/README.md"), <<'README', 'README.md');
top
<!-- results:begin -->
- **pruning** (`fixes`): no rows are lost.
- **tables with many\_indexes** (`indexes`): planning with 2,000 indexes takes 0.125 of the instructions, 2.00 times the
  speed; worst measured: 1.010 times the instructions (plan \<&\> t\_x with 1 indexes) (as expected).
<!-- results:end -->
end
README
my $document = read_file("$dir/project/doc/results.md");
is((split /(?=\n## )/, $document)[2], <<'DOCUMENT', 'doc/results.md');

## Many \<indexes\>

Planning with 2,000 indexes takes 0.125 of the instructions, 2.00 times the speed.

Worst measured: 1 of 5 figures is worse; the worst: plan \<&\> t\_x with 1 indexes takes 1.010 times the instructions (as expected); of the 3 measured times, none is worse and 1 is inconclusive.

### Title

| Case | 18.6 | Patched | Ratio | Verdict |
| --- | --: | --: | --: | --- |
| plan \<&\> t\_x with 1 indexes, instructions per plan | 1,000 | 1,010 | 1.010 | worse |
| plan \<&\> t\_x with 2,000 indexes, instructions per plan | 64,000 | 8,000 | 0.125 | better |
| **point query, transactions per second** | | | | |
| clients 2 | 12,000 | 24,000 | 2.000 \[1.991, 2.009\] | better |
| clients 1 | 1,000 | 990 | 0.990, too few pairs | inconclusive |
| one query (clients 2), time per query | 3.00 µs | 2.97 µs | 0.990 \[0.986, 0.994\] | better |
DOCUMENT
like($document, qr/^\| Machine \| CPU, 2 cores, 7\.7 GiB \|\n/m, 'machine');
like($document, qr/^\| Measured \| 2026-11-20 to 2026-11-21 \|\n/m, 'dates');
is((() = update_readme($readme x 2, [], []) =~ /^(?:old|top)$/mg),
	3, 'no more');
raises(sub { update_readme(join("\n", reverse split /^/, $readme), [], []) },
	'README.md has no line "<!-- results:begin -->"');
raises(sub { command($config, dry_run => 1) },
	'--dry-run is for --docs only');
raises(sub { command($config, docs => 1, results => 'x') },
	'--docs takes no --results');

# The page; page.t opens it.
sub page
{
	return read_file(
		write_page($config, $topics, [ read_results($config) ], "$dir/page"));
}
SKIP:
{
	skip 'gnuplot is missing', 1
	  unless run_status([qw(gnuplot -V)], out => \my $version) == 0;
	my $first = page();
	write_file("$dir/.gnuplot", "set xtics font ',30'\nset polar\n");
	local $ENV{HOME} = "$dir";
	is(page(), $first, 'a second page is the same, whatever ~/.gnuplot says');
	like($first, qr/\Q$_\E/, "page: $_") foreach split /\n/, <<'PARTS';
<section id="indexes"><div class="words"><h2>Many &lt;indexes&gt;</h2>
<p class="gain">Planning with 2,000 indexes takes 0.125
<b>Worst measured:</b> 1 of 5 figures is worse; the worst: plan &lt;&amp;&gt; t_x with 1
<svg role="img" aria-label="It's &quot;planning&quot;: 18.6 and patched"
<summary>All 5 figures</summary>
<tr><th scope="row">plan &lt;&amp;&gt; t_x with 1 indexes, instructions per plan</th>
<td>1,010</td>
<td class="worse">worse</td>
PARTS
	unlike(
		$first,
		qr/\@[A-Z]+\@|\{\w+:|gnuplot \d|\Q$dir\E|#0([1-6])0\g1/,
		'nothing is left of templates, nor of gnuplot');
	$config = project('result/series', [ series(times => [ 1, 2, 8 ]) ]);
	my $short = page();
	like($short, qr/The figures for this sentence are not /, 'a shorter run');
	unlike($short, qr/<figure/, 'has no plot of what was not measured');
	$config = project('meta/plots', []);
	raises(\&page, 'indexes/topic.json: planning has no plot plan.plot');
	$config = project();
	write_file("$dir/project/benchmarks/indexes/planning/plan.plot", "no\n");
	raises(\&page, 'plan.plot (exit status 1); correct the plot file');
}
{
	local $ENV{PATH} = "$dir";
	raises(\&page, 'gnuplot is missing; run: ./configure --install-deps');
}

# Data of plots
my %plot = (file => 'x', measure => 'tps', x => 'clients', lines => 'mode');
is( plot_data($results[0], \%plot) =~ s/(\.\d)\d+/$1/gr,
	"# x\tbase\tbase_lo\tbase_hi\tpatched\tpatched_lo\tpatched_hi\tline\n\n\n"
	  . "1\t1000\tNaN\tNaN\t990\tNaN\tNaN\tauto\n"
	  . "2\t12000\t12000\t12000\t24000\t23895\t24105\tauto\n",
	'plot data: sorted, no bounds of few pairs');
is(plot_data($results[0], { %plot, where => { clients => 1 } }),
	'', 'one value: no plot');
is( () =
	  plot_data($results[0],
		{ measure => [ 'plan', 'tps' ], x => 'indexes', lines => 'rows' }) =~
	  /\trows 9$/mg,
	2,
	'plot data: what has no x is left out');
my %both = (%plot, measure => [ 'tps', 'latency' ], lines => undef);
raises(sub { plot_data($results[0], \%both) },
	'plot x has two figures for clients 2; add to "where" or "lines"');

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
	my $text =
	  PgSeries::Submit::fill_letter($real, $letter, read_file($letter),
		\@results, $name);
	like($text, qr/^Subject: \[PATCH 0\/N\] \S.*\n\n/, "$name: subject");
	is( join("\n",
			grep { /.{73}|[^ -~]|[{}]| $/ && !/^Subject/ } split /\n/, $text),
		'',
		"$name: the letter is filled, in lines of at most 72 columns");
	cmp_ok(text_table($topics, \@results, $name) =~ tr/\n//,
		'<=', 8, "$name: table");

	# One line for each patch, with the number that it gets in the set: the one for
	# upstream's master, if that has the topic.
	my ($mailed) = grep {
		grep { $_ eq $name }
		  $_->series->topics
	} map { bless { config => $real->with_base($_) }, 'PgSeries::CLI' }
	  qw(master 18);
	my $n = () = $mailed->series->topic($name);
	is( join(' ', sort $text =~ /^  (\d{4})  \S/mg),
		join(' ', map { sprintf '%04d', $_ } 1 .. $n),
		"$name: patches");

	# Not what lies in BUILD/submit, nor who the author is.
	my $set =
	  eval { PgSeries::Submit::check_set($mailed, 99, $name, 'A <a@b>'); };
	is($@ && "$@", '', "$name: the letter as it is sent");
	unlike($set->{letter} || '', qr/[{}]/, "$name: all figures");
}

done_testing();
