# PgSeries::Report and its modules: what they read, write and refuse.

use strict;
use warnings FATAL => 'all';

use Cwd            qw(abs_path);
use File::Basename qw(dirname);
use File::Path     qw(make_path remove_tree);
use File::Temp;
use FindBin;
use JSON::PP;
use PgSeries::Config;
use PgSeries::Report;
use PgSeries::Report::Results qw(figure read_result);
use PgSeries::Report::Topics  qw(check_topics filler read_topics);
use PgSeries::Submit;
use PgSeries::Util qw(find_tool read_file write_file);
use Test::More;

my $data = "$FindBin::RealBin/data";
my $benchmarks = abs_path("$FindBin::RealBin/../../benchmarks");
my $dir = File::Temp->newdir();
my $json = JSON::PP->new->utf8->canonical->pretty;

# Two results.  The numbers are made up, so that each verdict, each kind of
# missing value and each character with a meaning in Markdown or HTML occurs.

my @indexes;
foreach my $n (1, 8, 60)
{
	push @indexes,
	  {
		measure => 'plan-instructions',
		label => "planning: select * from t_1 where a < 'x|y' & true",
		method => 'instructions',
		unit => 'instructions per plan',
		better => 'lower',
		case => { indexes => $n, populated => 1 },
		base => [ (60000 + 9000 * $n) x 3 ],
		patched => [ (61000 + 900 * $n) x 3 ]
	  };
}
$indexes[0]{base} = [ 61900, 61901, 61900 ];
$indexes[1]{patched} = [ 68200, 68500, 68100 ];
$indexes[1]{ratio} = 0.517;
push @indexes,
  { %{ $indexes[2] }, case => { indexes => 60, populated => 0 } };
$indexes[3]{patched} = [ 400000, 700000 ];

# n pairs around base and patched, which drift apart by 1% from first to last
sub pairs
{
	my ($names, $base, $patched, $n) = @_;
	return [
		map {
			{
				$names->[0] => $base * (1 + $_ / 100),
				  $names->[1] => $patched *
				  (1 + $_ / 100) *
				  (1 + ($_ - ($n - 1) / 2) * 0.01 / $n)
			}
		} 0 .. $n - 1
	];
}

my @partitions;
foreach my $case (
	[ 0, 'select', 12000, 12010, 8, 8 ],
	[ 64, 'select', 9800, 11700, 8, 8 ],
	[ 4096, 'select', 95.4, 9730, 8, 8 ],
	[ 0, 'update', 7000, 6500, 8, 8 ],
	[ 64, 'update', 6000, 6900, 3, 3 ],
	[ 512, 'update', 3000, 6900, 8, 0 ])
{
	my ($n, $script, $base, $patched, $pairs, $aa) = @$case;
	push @partitions,
	  {
		measure => 'throughput',
		label => 'point query by key',
		method => 'time',
		unit => 'tps',
		better => 'higher',
		case => {
			partitions => $n,
			script => $script,
			protocol => 'prepared'
		},
		pairs => pairs([qw(base patched)], $base, $patched, $pairs),
		$aa ? (aa => pairs([qw(first second)], $base, $base, $aa)) : ()
	  };
}

my %machine = (
	cpu => 'Model <1>',
	cores => 2,
	memory_kb => 8025172,
	kernel => 'Linux 6.1',
	compiler => 'gcc 12.2.0',
	valgrind => '3.19.0',
	governor => 'performance');
my %good = (
	'many-indexes' => {
		format => 1,
		bench => 'many-indexes',
		title => 'Planning with many indexes',
		topic => 'indexes',
		scale => 'demo',
		base => '18.6',
		patched => '0123456789abcdef',
		date => '2026-11-21T08:00:00Z',
		machine => \%machine,
		axis => { name => 'indexes', label => 'indexes on the table' },
		series => \@indexes,
		plots => [
			{
				file => 'planning.plot',
				title => "It's \x{b5} <b> & c",
				measure => 'plan-instructions',
				x => 'indexes',
				where => { populated => 1 },
				lines => undef
			}
		],
		readme => [
			{
				patch => 'lazy.patch',
				measure => 'plan-instructions',
				case => { indexes => 60, populated => 1 },
				text => 'plan, 60 indexes'
			}
		]
	},
	'partition-planning' => {
		format => 1,
		bench => 'partition-planning',
		title => 'Planning with many partitions',
		topic => 'partitions',
		scale => 'demo',
		base => '18.6',
		patched => '0123456789abcdef',
		date => '2026-11-21T09:00:00Z',
		machine => \%machine,
		axis => { name => 'partitions', label => 'partitions' },
		series => \@partitions,
		plots => [
			{
				file => 'throughput.plot',
				title => 'Point queries',
				measure => 'throughput',
				x => 'partitions',
				where => { protocol => 'prepared' },
				lines => 'script'
			}
		],
		readme => [
			map {
				{
					patch => 'expand.patch',
					measure => 'throughput',
					case => { partitions => $_->[0], script => $_->[1] },
					text => "$_->[1], $_->[0] partitions"
				}
			}[ 64, 'select' ],
			[ 64, 'update' ]
		]
	});
my @patches = (
	{
		file => '0001-tests.patch',
		topic => 'indexes',
		subject => 'Add tests of planning'
	},
	{
		file => '0002-lazy.patch',
		topic => 'indexes',
		subject => 'Get height | only when needed'
	},
	{
		file => '0003-expand.patch',
		topic => 'partitions',
		subject => 'Expand live partitions only'
	});

# Writes a result, changed by the function, and reads it.
sub result
{
	my ($name, $change) = @_;
	my $result = $json->decode($json->encode($good{$name}));

	$change->($result) if $change;
	write_file("$dir/$name.json", $json->encode($result));
	return read_result("$dir/$name.json");
}

sub raises
{
	my ($run, $want, $name) = @_;
	my $error = eval { $run->(); 1 } ? undef : $@;

	isa_ok($error, 'PgSeries::Error', "$name: the error");
	is(ref $error && $error->{code}, 2, "$name: exit code");
	like("$error", $want, "$name: message and remedy");
	unlike(ref $error ? $error->{message} . $error->{remedy} : '',
		qr/\n/, "$name: one line");
	return;
}

my @results = map { result($_) } sort keys %good;

# Figures
my $figure = figure($results[0]{series}[2]);
is_deeply(
	$figure,
	{
		base => [ 600000, 600000, 600000 ],
		patched => [ 115000, 115000, 115000 ],
		ratio => 115000 / 600000,
		lo => 115000 / 600000,
		hi => 115000 / 600000,
		n => 3,
		spread => 0,
		verdict => 'better'
	},
	'figure of equal instruction counts');
$figure = figure($results[0]{series}[1]);
is_deeply(
	[ @{$figure}{qw(patched spread lo hi)} ],
	[ [ 68200, 68100, 68500 ], 400 / 68200, 68100 / 132000, 68500 / 132000 ],
	'figure of counts that differ');

sub counted
{
	my ($base, $patched, $better) = @_;
	return figure(
		{
			method => 'instructions',
			better => $better,
			base => $base,
			patched => $patched
		})->{verdict};
}
is(counted([10000], [9994], 'lower'), 'better', 'counts: clearly fewer');
is(counted([10000], [9996], 'lower'), 'no difference',
	'counts: hardly fewer');
is(counted([10000], [10004], 'lower'), 'no difference',
	'counts: hardly more');
is(counted([10000], [10006], 'lower'), 'worse', 'counts: clearly more');
is(counted([10000], [10006], 'higher'), 'better', 'counts: more is better');
is(counted([ 10000, 10100 ], [10050], 'lower'),
	'inconclusive', 'counts: runs overlap');
is(counted([ 10000, 10100 ], [10110], 'lower'),
	'worse', 'counts: all runs are above');

$figure = figure($results[1]{series}[1]);
is($figure->{n}, 8, 'time: pairs');
is($figure->{verdict}, 'better', 'time: verdict');
is($figure->{aa}{n}, 8, 'time: A/A pairs');
cmp_ok($figure->{base}[1], '<', $figure->{base}[0], 'time: lower bound');
cmp_ok($figure->{base}[2], '>', $figure->{base}[0], 'time: upper bound');

# Data of plots
is( PgSeries::Report::plot_data($results[0], $results[0]{plots}[0]),
	"# x\tbase\tbase_lo\tbase_hi\tpatched\tpatched_lo\tpatched_hi\tline\n\n\n"
	  . "1\t61900\t61900\t61901\t61900\t61900\t61900\t-\n"
	  . "8\t132000\t132000\t132000\t68200\t68100\t68500\t-\n"
	  . "60\t600000\t600000\t600000\t115000\t115000\t115000\t-\n",
	'plot data: one line, sorted by number');
my @blocks = split /\n\n\n/,
  PgSeries::Report::plot_data($results[1], $results[1]{plots}[0]);
is(scalar @blocks, 3, 'plot data: heading and a block for each line');
like(
	$blocks[1],
	qr/\A0\t[^\n]*\tselect\n64\t.*\n4096\t[^\n]*\tselect\z/s,
	'plot data: the first line');
like(
	$blocks[2],
	qr/\A0\t.*\n64\t\S+\tNaN\tNaN\t\S+\tNaN\tNaN\tupdate\n512\t/s,
	'plot data: no bounds for few pairs');
my $numbered =
  PgSeries::Report::plot_data($results[1],
	{ %{ $results[1]{plots}[0] }, lines => [ 'script', 'partitions' ] });
like($numbered, qr/\tselect, partitions 64\n/,
	'plot data: lines by two keys');
is( PgSeries::Report::plot_data(
		$results[1],
		{ %{ $results[1]{plots}[0] }, where => { protocol => 'simple' } }),
	'',
	'plot data: nothing measured');
is( PgSeries::Report::plot_data(
		$results[1],
		{ %{ $results[1]{plots}[0] }, where => { partitions => 64 } }),
	'',
	'plot data: one value makes no plot');
my $two_measures = result(
	'many-indexes',
	sub {
		my @series = @{ $_[0]{series} };
		$_->{case}{kind} = 'plan' foreach @series;
		push @{ $_[0]{series} }, map {
			{
				%$_,
				  measure => 'execute',
				  case => { %{ $_->{case} }, kind => 'execute' }
			}
		} @series;
		$_[0]{plots}[0]{measure} = [qw(plan-instructions execute)];
		$_[0]{plots}[0]{lines} = 'kind';
	});
@blocks = split /\n\n\n/,
  PgSeries::Report::plot_data($two_measures, $two_measures->{plots}[0]);
is_deeply(
	[ map { [/\t(\w+)$/mg] } @blocks[ 1, 2 ] ],
	[ [ ('plan') x 3 ], [ ('execute') x 3 ] ],
	'plot data: lines of two measures');
raises(
	sub {
		PgSeries::Report::plot_data($results[1],
			{ %{ $results[1]{plots}[0] }, lines => undef });
	},
	qr/partition-planning\.json: plot throughput\.plot has two figures for partitions 0; add to "where" or "lines"/,
	'plot with two figures at a place');

# The report without gnuplot, and the README

# The plot files in a place from where the links in the report are always the
# same
our $plots = "$dir/benchmarks";
our %more;
foreach my $file (glob "$benchmarks/style.gp $benchmarks/*/*.plot")
{
	my $copy = $plots . substr($file, length $benchmarks);
	make_path(dirname($copy));
	write_file($copy, read_file($file));
}

# Writes the report into an empty directory.  The second argument gets what it
# says on standard error, the third the names of the files.
sub write_report
{
	my ($results, $messages, $files) = @_;
	my $text;

	remove_tree("$dir/out");
	open(my $saved, '>&', \*STDERR) or die "standard error: $!";
	open(STDERR, '>', "$dir/messages") or die "$dir/messages: $!";
	my $lived = eval {
		$text = PgSeries::Report::write_report(
			results => $results,
			patches => \@patches,
			output => "$dir/out",
			plots => $plots,
			%more);
		1;
	};
	my $error = $@;
	open(STDERR, '>&', $saved) or die "standard error: $!";
	close $saved;
	$$messages = read_file("$dir/messages");
	die $error unless $lived;
	@$files = map { m{([^/]+)$} } glob "$dir/out/*";
	return $text;
}

my ($messages, $summary, @written);
{
	local $ENV{PATH} = "$dir";
	$summary = write_report(\@results, \$messages, \@written);
}
is_deeply(\@written, [ 'index.html', 'report.md' ], 'files without gnuplot');
is($messages =~ tr/\n//, 1, 'one line about it');
like(
	$messages,
	qr/gnuplot is missing; install it \(Debian: gnuplot-nox\)/,
	'it names the remedy');
is($summary, <<"SUMMARY", 'summary');
PostgreSQL 18.6 (base) against the same with the patches.  10 figures: 4 better, 2 no difference, 3 inconclusive, 1 worse.
Worse than base:
- partition-planning, point query by key (partitions 0, protocol prepared, script update): 0.929 times base, worse

                                               base  patched  patched / base
Add tests of planning: not measured
Get height | only when needed
  plan, 60 indexes (instructions per plan)  600,000  115,000  0.192, better
Expand live partitions only
  select, 64 partitions (tps)                10,100   12,100  1.194 [1.189, 1.199], better
  update, 64 partitions (tps)                 6,060    6,970  1.150, too few pairs, inconclusive

report: $dir/out/index.html
SUMMARY
my $report = read_file("$dir/out/report.md");
is($report, read_file("$data/report.md"), 'report.md is as expected');

my $readme =
  "# Top\n<!-- results:begin -->\nold\n\n<!-- results:end -->\nend\n";
my $table = <<'TABLE';
| Patch | Topic | What it changes | Measured | Base | Patched | Patched / base |
| --- | --- | --- | --- | --: | --: | --: |
| [0001-tests.patch](patches/0001-tests.patch) | indexes | Add tests of planning | not measured |  |  |  |
| [0002-lazy.patch](patches/0002-lazy.patch) | indexes | Get height \| only when needed | plan, 60 indexes (instructions per plan) | 600,000 | 115,000 | 0.192, better |
| [0003-expand.patch](patches/0003-expand.patch) | partitions | Expand live partitions only | select, 64 partitions (tps) | 10,100 | 12,100 | 1.194 \[1.189, 1.199\], better |
|  |  |  | update, 64 partitions (tps) | 6,060 | 6,970 | 1.150, too few pairs, inconclusive |
TABLE
my $updated = PgSeries::Report::update_readme($readme, \@results, \@patches);
like(
	$updated,
	qr/\A# Top\n<!-- results:begin -->\n\Q$table\E\n.*\n<!-- results:end -->\nend\n\z/s,
	'the table in the README');
like(
	$updated,
	qr/^Measured on 2026-11-21 at scale demo, on this machine:\n\n\| Fact \| Value \|\n/m,
	'and how it was made');
is(PgSeries::Report::update_readme($updated, \@results, \@patches),
	$updated, 'a second update changes nothing');
my $without = PgSeries::Report::update_readme($readme, [], \@patches);
is(() = $without =~ / not measured /g, 3, 'no results: nothing measured');
unlike($without, qr/Measured on/, 'nor a machine');

foreach my $text (
	"no markers\n",
	"<!-- results:begin -->\n",
	"<!-- results:end -->\n<!-- results:begin -->\n",
	$readme . $readme)
{
	raises(
		sub { PgSeries::Report::update_readme($text, \@results, \@patches) },
		qr/README does not have one line "<!-- results:begin -->".*put both/,
		'README markers');
}

# HTML says the same.
my $html = read_file("$dir/out/index.html");
my @md_rows = grep { /^\| (?!---|--:)/ } split /\n/, $report;
my @html_rows = $html =~ /<tr>(.*?)<\/tr>/g;
s/<[^>]+>/|/g, s/&lt;/</g, s/&gt;/>/g, s/&#39;/'/g, s/&quot;/"/g, s/&amp;/&/g
  foreach @html_rows;
s/\[([^][]+)\]\([^)]+\)/$1/g, s/`//g, s/&amp;/&/g, s/\\(.)/$1/g
  foreach @md_rows;
s/[|\s]+/ /g, s/^ | $//g foreach @md_rows, @html_rows;
is_deeply(\@html_rows, \@md_rows, 'HTML has the same tables');
like($html, qr/<span class="worse">worse<\/span>/,
	'HTML marks what is worse');
like(
	$html,
	qr/<h3>planning: select \* from t_1 where a &lt; &#39;x\|y&#39; &amp; true<\/h3>/,
	'HTML escapes text');
unlike(
	$html,
	qr/<script|<link|<img|src=|url\(|https?:/,
	'HTML needs nothing else');
is_deeply(
	[ sort $html =~ /<a href="#([^"]+)"/g ],
	[ sort $html =~ / id="([^"]+)"/g ],
	'HTML links lead to headings');

# The report with gnuplot
SKIP:
{
	skip 'gnuplot is missing', 1 unless find_tool('gnuplot');

	my @svg =
	  map { "$_.svg" }
	  qw(many-indexes-planning partition-planning-throughput);
	write_report(\@results, \$messages, \@written);
	is($messages, '', 'nothing to say with gnuplot');
	is_deeply(
		\@written,
		[ 'index.html', $svg[0], $svg[1], 'report.md' ],
		'files with gnuplot');

	# The second one is made by a user with own settings for gnuplot.
	my %first = map { $_ => read_file("$dir/out/$_") } @written;
	write_file("$dir/.gnuplot", "set xtics font ',30'\nset polar\n");
	{
		local $ENV{HOME} = "$dir";
		write_report(\@results, \$messages, \@written);
	}
	my %second = map { $_ => read_file("$dir/out/$_") } @written;
	is_deeply(\%second, \%first,
		'a second report is the same, byte for byte');

	my @shown = $first{'report.md'} =~ /^!\[.*\]\((\S+)\)$/mg;
	is_deeply(\@shown, \@svg, 'report.md shows the plots');
	foreach my $svg (@first{@svg})
	{
		my %defined = map { $_ => 1 } $svg =~ /\bid=['"]([^'"]+)['"]/g;
		my @lost = grep { !$defined{$_} } $svg =~ /href=['"]#([^'"]+)['"]/g;
		is("@lost", '', 'SVG: all references have a target');
		cmp_ok(index($first{'index.html'}, $svg),
			'>', 0, 'SVG is in the page');
		unlike(
			$svg,
			qr/gnuplot \d|\Q$dir\E|pgseries-plot/i,
			'SVG: no version, no path');
		unlike($svg, qr/[ \t]$/m, 'SVG: no blanks at line ends');
	}
	my $single = $first{ $svg[0] };
	like(
		$single,
		qr/<title>It&#39;s \xc2\xb5 &lt;b&gt; &amp; c<\/title>/,
		'SVG: title, for those who cannot see it');
	like($single, qr/<text>\Q$_\E<\/text>/, "SVG: text $_")
	  foreach 'base', 'patched', 'indexes on the table',
	  'instructions per plan', '60', '100 k', "It's \xc2\xb5 &lt;b> &amp; c";
	my $lines = $first{ $svg[1] };
	like($lines, qr/<text>\Q$_\E<\/text>/, "SVG: text $_")
	  foreach 'select, base', 'update, patched', 'plain table', '64',
	  'transactions per second';

	my @ids = $first{'index.html'} =~ /\bid=['"]([^'"]+)['"]/g;
	my %ids = map { $_ => 1 } @ids;
	is(scalar @ids, scalar keys %ids, 'no id occurs twice in the page');

	# Every plot file of the repository works.
	my @plots = glob "$benchmarks/*/*.plot";
	cmp_ok(scalar @plots, '>', 0, 'there are plot files');
	foreach my $plot (@plots)
	{
		my ($bench, $file) = $plot =~ m{([^/]+)/([^/]+)$};
		my $result = result(
			'partition-planning',
			sub {
				$_[0]{bench} = $bench;
				$_[0]{plots}[0]{file} = $file;
			});
		write_report([$result], \$messages, \my @files);
		is(scalar @files, 3, "$bench/$file makes a plot");
	}

	my $two = result('partition-planning',
		sub { push @{ $_[0]{plots} }, $_[0]{plots}[0] });
	write_report([$two], \$messages, \@written);
	is_deeply(
		[ @written[ 1, 2 ] ],
		[ map { "partition-planning-throughput$_.svg" } '-2', '' ],
		'a plot file may be used twice');

	my $absent = result('partition-planning',
		sub { $_[0]{plots}[0]{file} = 'absent.plot' });
	raises(
		sub { write_report([$absent], \$messages) },
		qr{/partition-planning/absent\.plot, named in .*partition-planning\.json, is missing; restore it},
		'missing plot file');

	mkdir "$dir/b";
	mkdir "$dir/b/partition-planning";
	write_file("$dir/b/partition-planning/throughput.plot",
		"plot no_such_function(x)\n");
	local $plots = "$dir/b";
	raises(
		sub { write_report([ $results[1] ], \$messages) },
		qr/undefined function: no_such_function.*gnuplot failed on .*throughput\.plot \(exit status 1\); correct the plot file/s,
		'gnuplot fails');
}

# A measure with one case only
my $one = result(
	'many-indexes',
	sub {
		splice @{ $_[0]{series} }, 1;
		$_[0]{series}[0]{base} = [61900];
		$_[0]{series}[0]{patched} = [2900];
		$_[0]{readme} = [];
	});
{
	local $ENV{PATH} = "$dir";
	write_report([$one], \$messages);
}
like(
	read_file("$dir/out/report.md"),
	qr/  Case: indexes 1, populated 1\.\n\n\| Case \|.*\n.*\n\| as above \| 61,900 \| 2,900 \| 0\.0468 \| one run \| 1 \| better \|/,
	'one case, one run, a small ratio');

# More than one series or machine
my $other = result(
	'many-indexes',
	sub {
		$_[0]{patched} = 'ffff456789abcdef';
		$_[0]{machine}{cpu} = 'Model 2';
	});
{
	local $ENV{PATH} = "$dir";
	write_report([ $other, $results[1] ], \$messages);
}
my $mixed = read_file("$dir/out/report.md");
like($mixed, qr/not all of the same series/, 'results of two series');
like(
	$mixed,
	qr/^\| Fact \| many-indexes \| partition-planning \|\n.*\n\| cpu \| Model 2 \| Model \\<1\\> \|/m,
	'results of two machines');
unlike($report, qr/not all of the same series/, 'results of one series');

# What is refused
my $again = qr/; run the benchmark again/;
write_file("$dir/bad.json", '{ "format": 1, ');
raises(
	sub { read_result("$dir/bad.json") },
	qr/bad\.json is not valid JSON: .*; correct or remove/,
	'malformed JSON');
write_file("$dir/bad.json", '[]');
raises(
	sub { read_result("$dir/bad.json") },
	qr/bad\.json is not a benchmark result.*; remove it/,
	'other JSON');
raises(
	sub { read_result("$dir/none.json") },
	qr/cannot read .*none\.json: .*; check that it exists/,
	'no file');
my @broken = (
	[ sub { delete $_[0]{format} }, qr/no "format"; remove it/ ],
	[
		sub { $_[0]{format} = 2 },
		qr/many-indexes\.json has format 2, but only 1 can be read; use the/
	],
	[ sub { delete $_[0]{date} }, qr/\.json: "date" is missing$again/ ],
	[ sub { $_[0]{title} = '' }, qr/"title" is missing$again/ ],
	[
		sub { $_[0]{bench} = '../x' },
		qr/"bench" is not a name: \.\.\/x$again/
	],
	[
		sub { $_[0]{series} = {} },
		qr/"series" is not a list of objects$again/
	],
	[ sub { delete $_[0]{series} }, qr/"series" is not a list/ ],
	[
		sub { $_[0]{plots} = ['x'] },
		qr/"plots" is not a list of objects; correct it/
	],
	[ sub { $_[0]{machine} = 'x' }, qr/"machine" is not an object$again/ ],
	[
		sub { delete $_[0]{plots}[0]{x} },
		qr/"plots" has an entry without "x"; correct it/
	],
	(   map {
			my $value = $_;
			[
				sub { $_[0]{plots}[0]{measure} = $value },
				qr/"plots" has an entry without "measure"; correct it/
			]
		} undef,
		[],
		[ 'x', undef ],
		{}),
	[
		sub { $_[0]{plots}[0]{file} = '../x.plot' },
		qr/not the name of a plot file: \.\.\/x\.plot; correct it/
	],
	[
		sub { delete $_[0]{readme}[0]{patch} },
		qr/"readme" has an entry without "patch"; correct it/
	],
	[
		sub { delete $_[0]{series}[1]{unit} },
		qr/\.json: series 2 \(plan-instructions\): "unit" is missing$again/
	],
	[
		sub { delete $_[0]{series}[0]{measure} },
		qr/series 1 \(\?\): "measure" is missing/
	],
	[ sub { $_[0]{series}[0]{case} = [] }, qr/"case" is not an object/ ],
	[
		sub { $_[0]{series}[0]{better} = 'more' },
		qr/"better" must be "lower" or "higher"/
	],
	[
		sub { $_[0]{series}[0]{method} = 'guess' },
		qr/"method" must be "instructions", "count" or "time"/
	],
	(   map {
			my $value = $_;
			[
				sub { $_[0]{series}[0]{base} = $value },
				qr/"base" must be a list of positive numbers/
			]
		} undef,
		[],
		[0],
		[-1],
		['x'],
		[undef],
		[ [1] ],
		5),
	[
		sub { $_[0]{series}[1]{ratio} = 0.6 },
		qr/series 2 .*: "ratio" is 0\.6, but the raw runs give 0\.517/
	]);
foreach my $broken (@broken)
{
	my ($change, $want) = @$broken;
	raises(sub { result('many-indexes', $change) }, $want, "refused: $want");
}
@broken = (
	[ sub { $_[0]{pairs} = [] }, qr/"pairs" must be a list of pairs/ ],
	[ sub { delete $_[0]{pairs} }, qr/"pairs" must be a list of pairs/ ],
	[
		sub { $_[0]{pairs} = [ [ 1, 2 ] ] },
		qr/"pairs" must be .*, named base and patched/
	],
	[ sub { delete $_[0]{pairs}[3]{patched} }, qr/"pairs" must be a list/ ],
	[
		sub { $_[0]{aa}[2]{second} = 0 },
		qr/"aa" must be .*, named first and second/
	]);
foreach my $broken (@broken)
{
	my ($change, $want) = @$broken;
	raises(
		sub {
			result('partition-planning', sub { $change->($_[0]{series}[0]) });
		},
		$want,
		"refused: $want");
}

my $stray =
  result('many-indexes', sub { $_[0]{readme}[0]{patch} = 'gone.patch' });
raises(
	sub { PgSeries::Report::update_readme($readme, [$stray], \@patches) },
	qr/many-indexes\.json gives a figure to gone\.patch, which is not in the series; correct the name/,
	'figure for an unknown patch');
foreach my $case ([ 2, { indexes => 60 } ], [ 0, { indexes => 61 } ])
{
	my ($count, $wanted) = @$case;
	my $vague =
	  result('many-indexes', sub { $_[0]{readme}[0]{case} = $wanted });
	raises(
		sub { PgSeries::Report::update_readme($readme, [$vague], \@patches) },
		qr/"readme" of lazy\.patch: $count figures are plan-instructions \(indexes $wanted->{indexes}\); name exactly one/,
		"$count figures for a line of the README");
}
# Plots and figures for the README come from meta.json, if there is one.
result($_) foreach keys %good;
make_path("$dir/meta/many-indexes");
my $meta = "$dir/meta/many-indexes/meta.json";
write_file($meta, $json->encode({ readme => $good{'many-indexes'}{readme} }));
my $current = read_result("$dir/many-indexes.json", "$dir/meta");
is_deeply(
	[ @{$current}{qw(plots readme)} ],
	[ [], $good{'many-indexes'}{readme} ],
	'meta.json is read');
ok(read_result("$dir/partition-planning.json", "$dir/meta")->{plots}[0],
	'there need not be one');

foreach my $case (
	[ [], qr/is not an object/ ],
	[ { readme => [ { patch => 'x' } ] }, qr/"readme" has an entry without/ ],
	[ { plots => {} }, qr/"plots" is not a list of objects/ ])
{
	my ($content, $want) = @$case;
	write_file($meta, $json->encode($content));
	raises(
		sub { read_result("$dir/many-indexes.json", "$dir/meta") },
		qr{/meta/many-indexes/meta\.json:? $want.*; correct it},
		"meta.json refused: $want");
}

# Any character may stand in a text.
my $wide = result(
	'many-indexes',
	sub {
		my ($result) = @_;
		$_->{label} .= " \x{2264}" foreach @{ $result->{series} };
		$_->{case}{kind} = "\x{2265}" foreach @{ $result->{series} };
		$result->{series}[2]{patched} = [700000];
		$result->{readme}[0]{text} = "plan \x{2264}";
	});
like(
	write_report([$wide], \$messages),
	qr/ \xe2\x89\xa4 .*kind \xe2\x89\xa5/,
	'summary: UTF-8');
like(
	PgSeries::Report::text_table([$wide], \@patches),
	qr/plan \xe2\x89\xa4 /,
	'letter: UTF-8');
like(
	PgSeries::Report::update_readme("\xc2\xb5\n$readme", [$wide], \@patches),
	qr/\A\xc2\xb5\n.*plan \xe2\x89\xa4 /s,
	'README: UTF-8');
raises(
	sub {
		result(
			'many-indexes',
			sub {
				$_[0]{series}[0]{measure} = "\x{2264}";
				delete $_[0]{series}[0]{unit};
			});
	},
	qr/series 1 \(\xe2\x89\xa4\): "unit"/,
	'message: UTF-8');

my $partial = result('many-indexes', sub { splice @{ $_[0]{series} }, 2 });
$summary = write_report([$partial], \$messages);
like(
	$summary,
	qr/^  plan, 60 indexes +not measured$/m,
	'the report may lack a figure of the README');
like(
	read_file("$dir/out/report.md"),
	qr/^\| \[0002-lazy.patch\].* \| plan, 60 indexes \|  \|  \| not measured \|$/m,
	'and says so');
raises(
	sub { PgSeries::Report::text_table([$partial], \@patches) },
	qr/0 figures are/,
	'a letter may not');
raises(
	sub { write_report([], \$messages) },
	qr/there are no benchmark results; run a benchmark first/,
	'no results');
raises(
	sub { write_report([ @results, $results[0] ], \$messages) },
	qr/many-indexes\.json are both results of many-indexes; give only one/,
	'two results of a benchmark');

# The page of the topics
my %topics = (
	indexes => {
		title => 'Many <indexes>',
		plot => { bench => 'many-indexes', file => 'planning.plot' },
		figures => {
			plan => {
				bench => 'many-indexes',
				measure => 'plan-instructions',
				case => { indexes => 60, populated => 1 }
			},
			empty => {
				bench => 'many-indexes',
				measure => 'plan-instructions',
				case => { populated => 0 }
			}
		},
		sentence => 'with {plan:indexes} indexes {plan:patched} instead of '
		  . '{plan:base} ({plan:percent})',
		worst =>
		  [ 'empty {empty:percent}, {empty:verdict}', '{plan:ratio} times' ]
	},
	partitions => {
		title => 'Many partitions',
		plot => { bench => 'partition-planning', file => 'throughput.plot' },
		figures => {
			many => {
				bench => 'partition-planning',
				measure => 'throughput',
				case => { partitions => 4096, script => 'select' }
			},
			few => {
				bench => 'partition-planning',
				measure => 'throughput',
				case => { partitions => 64, script => 'update' }
			},
			none => {
				bench => 'partition-planning',
				measure => 'throughput',
				case => { partitions => 0, script => 'update' }
			},
			equal => {
				bench => 'partition-planning',
				measure => 'throughput',
				case => { partitions => 0, script => 'select' }
			}
		},
		sentence => [
			'{many:partitions} partitions: {many:patched} for {many:base}, '
			  . '{many:ratio}',
			'{few:script} {few:percent}'
		],
		worst => '{none:percent}, {none:verdict}; {equal:percent}'
	});

# The topics, changed by the function, written and read.
sub topics
{
	my ($change) = @_;
	my $topics = $json->decode($json->encode(\%topics));

	$change->($topics) if $change;
	write_file("$plots/topics.json", $json->encode($topics));
	return read_topics("$plots/topics.json");
}

# The page without gnuplot, and the summary.
sub topics_page
{
	my ($topics, $results, %options) = @_;
	local $ENV{PATH} = "$dir";
	local %more = (%more, topics => $topics, %options);
	my $said = write_report($results, \$messages, \my @files);
	is("@files", 'index.html report.md topics.html topics.md', 'its files');
	return (read_file("$dir/out/topics.md"), $said);
}

# One of the topics has a document.
mkdir "$dir/doc" or die "$dir/doc: $!";
write_file("$dir/doc/indexes.md", "Indexes\n");
my ($page, $said) = topics_page(topics(), \@results, complete => 1);
like(
	$said,
	qr{\nreport: $dir/out/index\.html\na plot for each topic: $dir/out/topics\.html\n\z},
	'the summary names the page');
my ($about) = $report =~ /^(PostgreSQL .*?\.)  /m;
my ($machine) = $report =~ /^## Machine\n\n(.*?\n)\n/ms;
my ($intro) = $page =~ /^# .*\n\n(.*)\n/;
like(
	$intro,
	qr/^\Q$about\E  A ratio.*: \[report\]\(report\.md\)$/,
	'page: builds, and the link to the report');
is($page, <<"PAGE", 'the page of the topics');
# The topics, measured

$intro

## Many \\<indexes\\>

With 60 indexes 115,000 instead of 600,000 (80.8% less).

Worst case measured: empty 8.33% less, inconclusive; 0.192 times.  More: [doc/indexes.md](../doc/indexes.md)

## Many partitions

4,096 partitions: 10,100 for 98.7, 102 \\[102, 102\\]; update 15.0% more, too few pairs.

Worst case measured: 7.14% less \\[7.55% less, 6.74% less\\], worse; 0.0833% more \\[0.355% less, 0.521% more\\].

## Machine

$machine
Scale demo, measured 2026-11-21.

This report has no plots: gnuplot was not there when it was made.
PAGE
like(
	read_file("$dir/out/report.md"),
	qr/^A plot for each topic: \[topics\]\(topics\.md\)$/m,
	'report.md links to it');
like(
	read_file("$dir/out/index.html"),
	qr/<a href="topics\.html">/,
	'index.html links to it');
$html = read_file("$dir/out/topics.html");
like($html, qr/<a href="index\.html">report<\/a>/, 'it links to index.html');
like(
	$html,
	qr/<h2 id="topic-indexes">Many &lt;indexes&gt;<\/h2>\n<p>With 60 /,
	'topics.html has the topics');
unlike(
	$html,
	qr/<script|<link|<img|src=|url\(|https?:/,
	'topics.html needs nothing else');

# The order of the topics is that of the series.
{
	local %more = (patches => [ reverse @patches ]);
	($page) = topics_page(topics(), \@results);
}
like($page, qr/^## Many partitions\n.*^## Many \\<indexes/ms, 'their order');

# Units
foreach my $case (
	[ 'ns per plan', '1.23456e9', '1.23 s' ],
	[ 'ns', 43218.6, "43.2 \xc2\xb5s" ],
	[ 'ns', 570e6, '570 ms' ],
	[ 'ns', 12, '12.0 ns' ],
	[ 'ns on end', 12, '12.0 ns' ],
	[ 'nsx', 12, '12.0' ],
	[ 'tps', 12345, '12,300' ])
{
	my ($unit, $value, $want) = @$case;
	my $timed = result(
		'partition-planning',
		sub {
			$_->{unit} = $unit foreach @{ $_[0]{series} };
			$_->{patched} = $value foreach @{ $_[0]{series}[2]{pairs} };
		});
	($page) = topics_page(topics(), [ $results[0], $timed ]);
	like($page, qr/^4,096 partitions: \Q$want\E for /m, "$value $unit");
}
my $count = result(
	'many-indexes',
	sub {
		$_[0]{series}[2]{method} = 'count';
		$_[0]{series}[2]{base} = [1024];
		$_[0]{series}[2]{patched} = [60];
	});
($page) = topics_page(topics(), [ $count, $results[1] ]);
like($page, qr/ 60 instead of 1,024 \(94\.1% less\)/, 'a count is a number');
my $same =
  result('many-indexes',
	sub { $_[0]{series}[2]{patched} = $_[0]{series}[2]{base} });
($page) = topics_page(topics(), [ $same, $results[1] ]);
like($page, qr/ \(0% more\)\.$/m, 'no change');

# Figures that were not measured
my $few = result('many-indexes', sub { pop @{ $_[0]{series} } });
($page) = topics_page(topics(), [$few]);
like(
	$page,
	qr/^Worst case measured: 0\.192 times; the rest is not measured yet\.  More/m,
	'some figures were not measured');
like(
	$page,
	qr/^## Many partitions\n\nnot measured yet\n\nWorst case measured: not measured yet$/m,
	'none were');
raises(
	sub { topics_page(topics(), [$few], complete => 1) },
	qr/topics\.json: indexes: figure "empty": 0 figures of many-indexes are plan-instructions \(populated 0\); name exactly one, or run the benchmark/,
	'page: a figure is missing');
raises(
	sub { check_topics(topics(), [$few], \@patches) },
	qr/0 figures of/,
	'check_topics: a figure is missing');
ok(!defined check_topics(topics(), \@results, \@patches),
	'check_topics: nothing is missing');

# A topic that only the series has, or only topics.json
foreach my $case (
	[
		sub { delete $_[0]{partitions} },
		'says nothing of the topic partitions',
		'add it'
	],
	[
		sub { $_[0]{locks} = $_[0]{indexes} },
		'has a topic locks, which is not in the series',
		'remove it'
	])
{
	my ($change, $what, $remedy) = @$case;
	my $want = qr/topics\.json $what; $remedy$/;
	raises(sub { topics_page(topics($change), \@results, complete => 1) },
		$want, "page: it $what");
	raises(sub { check_topics(topics($change), \@results, \@patches) },
		$want, "check_topics: it $what");
	topics_page(topics($change), \@results);
	like(
		$messages,
		qr/\Apgseries: .*gnuplot.*\npgseries: .*$want\n\z/,
		"left out: it $what");
	my $md = read_file("$dir/out/topics.md");
	like($md, qr/^## Many \\<indexes/m, 'the other topics are there');
	unlike($md, qr/locks/, 'an unknown one is not');
}

# What is wrong with results at hand is an error in any case.
@broken = (
	[
		sub { $_[0]{indexes}{figures}{plan}{case} = { indexes => 60 } },
		qr/figure "plan": 2 figures of many-indexes are plan-instructions \(indexes 60\); name/
	],
	[
		sub { $_[0]{indexes}{plot}{file} = 'statement.plot' },
		qr/indexes: many-indexes has 0 plots named statement\.plot; name a plot/
	],
	[
		sub { $_[0]{indexes}{worst} = '{plan:speed} {empty:base}' },
		qr/indexes: \{plan:speed\}: plan-instructions has no case with "speed"; write base/
	],
	[ sub { %{ $_[0] } = () }, qr/topics\.json: not an object of topics; / ],
	[ sub { $_[0]{indexes} = [] }, qr/"indexes" is not an object; / ],
	[ sub { delete $_[0]{indexes}{title} }, qr/indexes: "title" is missing/ ],
	[
		sub { $_[0]{indexes}{title} = ['x'] },
		qr/indexes: "title" is missing/
	],
	[ sub { delete $_[0]{indexes}{plot} }, qr/"plot" is not an object/ ],
	[ sub { delete $_[0]{indexes}{plot}{file} }, qr/plot has no "file"/ ],
	[ sub { $_[0]{indexes}{figures} = [] }, qr/"figures" is not an object/ ],
	[
		sub { delete $_[0]{indexes}{figures}{plan}{case} },
		qr/figure "plan" has no "case"/
	],
	[
		sub { $_[0]{indexes}{figures}{plan} = 1 },
		qr/figure "plan" has no "case"/
	],
	[
		sub { delete $_[0]{indexes}{figures}{plan}{measure} },
		qr/figure "plan" has no "measure"/
	],
	(   map {
			my $name = $_;
			[
				sub { $_[0]{indexes}{figures}{plan}{bench} = $name },
				qr/figure "plan": no benchmark "\Q$name\E"/
			]
		} 'nonesuch',
		'../benchmarks'),
	[ sub { delete $_[0]{indexes}{worst} }, qr/"worst" is not a text or/ ],
	[ sub { $_[0]{indexes}{worst} = [] }, qr/"worst" is not a text or/ ],
	[ sub { $_[0]{indexes}{worst} = [ [] ] }, qr/"worst" is not a text or/ ],
	[
		sub { $_[0]{indexes}{sentence} .= ' {plan}' },
		qr/"sentence" has a brace that is no \{NAME:WHAT\}/
	],
	[
		sub { $_[0]{indexes}{sentence} .= ' 3 times' },
		qr/"sentence" has a digit: write \{NAME:WHAT\}/
	],
	[
		sub { $_[0]{indexes}{sentence} .= '{other:base}' },
		qr/"sentence" has a figure "other" that "figures" does not have/
	],
	[
		sub { $_[0]{indexes}{worst} = '{plan:base}' },
		qr/no text has the figure "empty"/
	],
	[
		sub { $_[0]{indexes}{letter} = 1 },
		qr/indexes: "letter" is not an object/
	],
	[
		sub { $_[0]{indexes}{letter}{plan} = {} },
		qr/indexes: "figures" and "letter" have a figure "plan"/
	],
	[
		sub { $_[0]{indexes}{letter}{more} = { case => {} } },
		qr/figure "more" has no "bench"/
	],
	[
		sub { $_[0]{indexes}{figures}{plan}{measure} = ['x'] },
		qr/figure "plan" has no "measure"/
	],
	[
		sub { $_[0]{indexes}{figures}{plan}{of} = [] },
		qr/figure "plan": "of" is not a text/
	],
	[
		sub {
			$_[0]{indexes}{letter} =
			  { more => delete $_[0]{indexes}{figures}{plan} };
		},
		qr/"sentence" has a figure "plan" that "figures" does not have/
	]);
foreach my $broken (@broken)
{
	my ($change, $want) = @$broken;
	raises(sub { topics_page(topics($change), \@results) },
		$want, "page refused: $want");
}
write_file("$plots/topics.json", '{');
raises(
	sub { read_topics("$plots/topics.json") },
	qr/topics\.json is not valid JSON/,
	'page: malformed JSON');
ok(read_topics("$benchmarks/topics.json"), 'the topics of the repository');

# Figures in letters
my %of_letter = (
	one => {
		bench => 'many-indexes',
		measure => 'plan-instructions',
		case => { indexes => 1 }
	},
	all => {
		bench => 'many-indexes',
		measure => 'plan-instructions',
		case => { populated => 1 },
		all => 1
	},
	both => {
		bench => 'many-indexes',
		measure => [qw(plan-instructions execute)],
		case => {},
		all => 1
	},
	share => {
		bench => 'many-indexes',
		measure => 'execute',
		case => {},
		all => 1,
		of => 'plan-instructions'
	},
	time => {
		bench => 'partition-planning',
		measure => 'throughput',
		case => { partitions => 64 },
		all => 1
	});
my $with_letter = topics(sub { $_[0]{indexes}{letter} = \%of_letter });
my $executed = result(
	'many-indexes',
	sub {
		push @{ $_[0]{series} }, map {
			{
				%{ $indexes[ $_->[0] ] },
				  measure => 'execute',
				  ratio => undef,
				  unit => 'ns',
				  base => [ $_->[1] ],
				  patched => [ $_->[2] ]
			}
		}[ 0, 12380, 6190 ], [ 1, 2640, 5000 ];
	});
my $fill = filler(
	'patches/cover/indexes', $with_letter,
	[ $executed, $results[1] ], 'indexes');
foreach my $case (
	[ '{one:base} and {plan:patched}', '61,900 and 115,000' ],
	[ '{one:verdict}', 'no difference' ],
	[ '{all:ratio}', '0.192 to 1.000' ],
	[ '{all:percent}', '80.8% less to 0% more' ],
	[ '{all:base}', '61,900 to 600,000' ],
	[ '{all:indexes} indexes', '1 to 60 indexes' ],
	[ '{all:populated}', '1' ],
	[ '{all:verdict}', '2 better, 1 no difference' ],
	[
		'{both:verdict}',
		'3 better, 1 no difference, 1 inconclusive, 1 worse'
	],
	[ '{both:cores} cores', '2 cores' ],
	[ '{share:base}', '2.00% to 20.0%' ],
	[ '{share:indexes}', '1 to 8' ],
	[ '{time:ratio}', '1.150 to 1.194' ],
	[ '{time:script}', 'select, update' ],
	[ '{time:pairs} pairs', '3 to 8 pairs' ],
	[ '{time:verdict}', '1 better, 1 inconclusive' ],
	[
		'{partitions/few:ratio}, {partitions/few:pairs}',
		'1.150, too few pairs, 3'
	],
	[ 'nothing', 'nothing' ])
{
	is($fill->($case->[0]), $case->[1], "letter: $case->[0]");
}
is( filler(
		'cover-letter',
		$with_letter,
		[
			result(
				'partition-planning',
				sub {
					$_->{unit} = 'ns' foreach @{ $_[0]{series} };
				})
		],
		undef)->('{partitions/many:base}'),
	'98.7 ns',
	'letter of the whole set');
is( filler(
		'cover-letter',
		$with_letter,
		[
			result(
				'many-indexes',
				sub {
					$_->{unit} = 'ns' foreach @{ $_[0]{series} };
				})
		],
		'indexes')->('{one:base}'),
	'61.9 us',
	'a letter has only ASCII');
foreach my $case (
	[
		'{plans:base}',
		qr/patches\/cover\/indexes: \{plans:base\}: \S+topics\.json has no figure "plans" of the topic indexes; correct the name, or add the figure to "letter"/
	],
	[ '{x/plan:base}', qr/\{plan:base\}: \S+ has no topic "x"; correct/ ],
	[ '{plan:speed}', qr/cover\/indexes: \{plan:speed\}: .*; write base/ ],
	[ '{share:ratio}', qr/; of a share, write base, patched/ ],
	[ 'a {plan} x', qr/cover\/indexes: "\{plan\}" is no \{NAME:WHAT\}; / ],
	[ "{plan:\nbase}", qr/"\{plan:" is no \{NAME:WHAT\}; / ])
{
	raises(sub { $fill->($case->[0]) },
		$case->[1], "letter refused: $case->[1]");
}
raises(
	sub { filler('cover-letter', $with_letter, [], undef)->('{plan:base}') },
	qr/cover-letter: \{plan:base\} names no topic; write \{TOPIC\/NAME/,
	'letter of the whole set: no topic');
raises(
	sub { filler('x', $with_letter, \@results, 'indexes')->('{share:base}') },
	qr/topics\.json: indexes: figure "share": 0 figures of many-indexes are execute \(\); name at least one, or run the benchmark/,
	'letter: a figure is missing');
raises(
	sub { check_topics($with_letter, \@results, \@patches) },
	qr/figure "share": 0 figures of many-indexes are execute/,
	'check_topics: a figure of a letter is missing');
($page) = topics_page($with_letter, \@results);
unlike($page, qr/not measured/, 'the page does not need it');

# The letters of the repository, with its results
{
	my $config = PgSeries::Config->new(top => dirname($benchmarks));
	my @measured =
	  map { read_result($_, $benchmarks) } glob "$benchmarks/results/*.json";
	my $all = read_topics("$benchmarks/topics.json")->{topics};
	my $patches = dirname($benchmarks) . '/patches';
	my %used;

	foreach my $letter ("$patches/cover-letter", glob "$patches/cover/*")
	{
		my ($topic) = $letter =~ /cover\/(.*)/;
		my $text = read_file($letter);
		my $short = substr $letter, length "$patches/";
		my $filled =
		  PgSeries::Submit::fill_letter($config, $letter, $text, \@measured,
			$topic);

		is(join("\n", grep { /.{73}|[^ -~]|[{}]| $/ } split /\n/, $filled),
			'', "$short: filled, ASCII, at most 72 columns");
		$used{ ($1 // $topic) . "/$2" } = 1
		  while $text =~ /\{(?:([\w-]+)\/)?([\w-]+):/g;
	}
	is( join(
			' ',
			map {
				my $topic = $_;
				grep  { !$used{$_} }
				  map { "$topic/$_" }
				  keys %{ $all->{$topic}{letter} }
			} sort keys %$all),
		'',
		'each figure for letters is in one');
}

# The plots of the page
SKIP:
{
	skip 'gnuplot is missing', 1 unless find_tool('gnuplot');

	my $single =
	  result('partition-planning', sub { splice @{ $_[0]{series} }, 1 });
	local %more = (topics => topics());
	write_report(\@results, \$messages, \@written);
	my %first = map { $_ => read_file("$dir/out/$_") } @written;
	write_report(\@results, \$messages, \@written);
	my %second = map { $_ => read_file("$dir/out/$_") } @written;
	is_deeply(\%second, \%first, 'a second page is the same, byte for byte');
	is_deeply(
		[ $first{'topics.md'} =~ /^!\[.*\]\((\S+)\)$/mg ],
		[qw(many-indexes-planning.svg partition-planning-throughput.svg)],
		'topics.md shows a plot for each topic');
	cmp_ok(index($first{'topics.html'}, $first{$_}), '>', 0, "$_ is in it")
	  foreach grep { /svg$/ } @written;
	my @ids = $first{'topics.html'} =~ /\bid=['"]([^'"]+)['"]/g;
	my %ids = map { $_ => 1 } @ids;
	is(scalar @ids, scalar keys %ids, 'no id occurs twice in topics.html');

	write_report([ $results[0], $single ], \$messages, \@written);
	like(
		read_file("$dir/out/topics.md"),
		qr/^Plot "Point queries": not measured yet$/m,
		'a plot without data');
	write_report([ $results[0] ], \$messages, \@written);
	like(
		read_file("$dir/out/topics.md"),
		qr/^Plot of the benchmark partition-planning: not measured yet$/m,
		'a plot without results');
	like(
		read_file("$dir/out/topics.html"),
		qr/<span class="missing">not measured yet<\/span>/,
		'it is seen');
}

done_testing();
