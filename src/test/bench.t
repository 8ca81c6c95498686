# PgSeries::Bench with servers that are not there: what it refuses, chooses, checks,
# computes and keeps.  src/test/demo.t measures.

use strict;
use warnings FATAL => 'all';

use Cwd qw(abs_path);
use File::Temp;
use FindBin;
use JSON::PP;
use PgSeries::Bench;
use PgSeries::Util qw(make_dir read_file slurp_json write_file);
use Test::More;

my $top = abs_path("$FindBin::RealBin/../..");
my $dir = File::Temp->newdir();
my $json = JSON::PP->new->canonical;
my ($said, $error);

# Runs the code in list context; keeps what it says on standard error, and its error.
sub quietly
{
	my ($run) = @_;
	my @values;
	open(my $saved, '>&', \*STDERR) or die "standard error: $!";
	open(STDERR, '>', "$dir/said") or die "$dir/said: $!";
	my $lived = eval { @values = $run->(); 1 };
	$error = $lived ? undef : $@;
	open(STDERR, '>&', $saved) or die "standard error: $!";
	close $saved;
	$said = read_file("$dir/said");
	return @values;
}

sub raises
{
	my ($code, $want, $run) = @_;
	quietly($run);
	is( ref $error
		? "$error->{code}: $error->{message}; $error->{remedy}" =~
		  s/^($code: \Q$want\E).*/$1/r
		: 'no error',
		"$code: $want",
		$want);
	return;
}

# Options and names
raises(2, $_->[1], sub { PgSeries::Bench::check_options($_->[0]) })
  foreach [ { pairs => 0 }, '--pairs=0 is not positive' ],
  [ { seconds => -1 }, '--seconds=-1 is not positive' ],
  [ { gate => 0 }, '--gate=0 is not positive; give a share' ],
  [ { seed => -1 }, '--seed=-1 is not a seed' ],
  [ { seed => 2147483648 }, '--seed=2147483648 is not a seed' ],
  [ { method => 'guess' }, 'there is no method "guess"; choose' ];
quietly(
	sub {
		PgSeries::Bench::check_options(
			{ pairs => 1, seconds => 0.5, gate => 1.01, seed => 0 });
	});
is($error, undef, 'options that are right');
is_deeply([ PgSeries::Bench::check_names([qw(a b)], qw(b a b)) ],
	[qw(b a)], 'names');
is_deeply([ PgSeries::Bench::check_names([qw(a b)], 'all') ],
	[qw(a b)], 'all');
raises(2, $_->[1],
	sub { PgSeries::Bench::check_names([qw(a b)], @{ $_->[0] }) })
  foreach [ [], 'bench needs a name; choose from: a b, all' ],
  [ [ 'all', 'a' ], 'there is no benchmark "all"' ];

# Cases
my $meta = {
	name => 'one',
	topic => 'topic',
	title => "\xe2\x89\xa4",
	dir => "$dir",
	setup => 'setup.sql',
	settings => { work_mem => ':rowskB' },
	pairs => 2,
	values => { rows => [ 10, 20 ] },
	measures => [
		{
			name => 'counted',
			method => 'instructions',
			values => { columns => [ 1, 2 ] }
		},
		{
			name => 'timed',
			method => 'time',
			values => { clients => [2] },
			where => { rows => [20], other => [1] }
		}
	]
};

sub chosen
{
	my ($method, $filter) = @_;
	return join '; ', map {
		"$_->{values}{rows}: " . join ', ',
		  map { "$_->[0]{name} " . PgSeries::Bench::case_text($_->[1]) }
		  @{ $_->{cases} }
	} PgSeries::Bench::databases($meta, $method, $filter || {});
}
is( chosen(),
	'10: counted columns=1 rows=10, counted columns=2 rows=10; '
	  . '20: counted columns=1 rows=20, counted columns=2 rows=20, timed clients=2 rows=20',
	'all cases');
is(chosen('time'), '20: timed clients=2 rows=20', 'one method');
is( chosen(undef, { columns => ['2'], rows => ['10'] }),
	'10: counted columns=2 rows=10',
	'one value');
is(chosen(undef, { rows => ['010'] }), '', 'no value');
is_deeply(
	PgSeries::Bench::filter([ 'rows=1', 'rows=x=y', 'columns=' ], $meta),
	{ rows => [ '1', 'x=y' ], columns => [''] },
	'the option --case');
raises(2, $_->[1], sub { PgSeries::Bench::filter([ $_->[0] ], $meta) })
  foreach [ 'rows', '--case=rows is not NAME=VALUE' ],
  [
	'row=1',
	'no case has a value named "row"; choose from: clients, columns, rows'
  ];
my %chosen = (one => [ PgSeries::Bench::databases($meta, 'time', {}) ]);
quietly(sub { PgSeries::Bench::check_chosen(undef, { %chosen, two => [] }) });
is($said, "left out, as no case matches: two\n", 'one has no case');
raises(
	2,
	'no case of two matches',
	sub { PgSeries::Bench::check_chosen(undef, { two => [] }) });
raises(
	2,
	'the gate has nothing to judge',
	sub { PgSeries::Bench::check_chosen(1, \%chosen) });
my @measured = (
	{ method => 'instructions', ratio => 1.01 },
	{ method => 'time', ratio => 2 });
is((quietly(sub { PgSeries::Bench::gate(1.01, @measured) }))[0],
	0, 'gate: not exceeded');
is((quietly(sub { PgSeries::Bench::gate(1.009, @measured) }))[0],
	1, 'gate: exceeded');
like($said, qr/1 cases need more than 1\.009/, 'gate: it says so');

# meta.json
sub metas
{
	my (%files) = @_;
	my $at = File::Temp->newdir();
	foreach my $name (keys %files)
	{
		make_dir("$at/$name");
		write_file("$at/$name/meta.json",
			JSON::PP->new->utf8->encode($files{$name}));
	}
	return PgSeries::Bench::read_metas("$at");
}
my %read = metas('t/a' => { title => "\x{2264}", measures => [] });
is( "@{$read{a}}{qw(name topic title)}",
	"a t \xe2\x89\xa4",
	'name, topic, and text as bytes');
raises(
	2,
	'two benchmarks are named "a"',
	sub { metas('t/a' => {}, 'u/a' => {}) });
quietly(sub { metas('t/a' => { measures => [ { name => 'm' } ] }) });
like($error->{message}, qr/measure "m" names no plan node/, 'no node');

# What is filled in
my $m = {
	name => 'm',
	label => ':rows rows of :other, :columns',
	kind => 'execute',
	method => 'instructions',
	unit => 'instructions',
	better => 'lower',
	node => 'Seq Scan',
	statement => "select ':rows', a::int,\n  :iterations",
	parameters => [5],
	generic => JSON::PP::true,
	iterations => [ 10, 20 ],
	before => "set a = :rows\nset b = 2",
	set => { work_mem => ':rowskB', 'bench.a' => 1 }
};
my $filled = PgSeries::Bench::filled($m,
	{ rows => 1000000, columns => 'a', rowskB => '10kB' });
is( $filled->{label},
	'1,000,000 rows of :other, a (plan_cache_mode = force_generic_plan, work_mem = 10kB)',
	'a label has the values, and the settings that are forced');
is($filled->{before}, "set a = 1000000\nset b = 2", 'values elsewhere');
is($m->{set}{work_mem}, ':rowskB', 'the measure stays as it is');
is( PgSeries::Bench::loop_sql($filled, 7),
	"select iterations, nanoseconds from pgseries_bench_execute(\$statement\$select '1000000', a::int,\n  7\$statement\$, 7, array['5']::text[], true)",
	'the loop that executes');
is( PgSeries::Bench::loop_sql({ kind => 'plan', statement => 'x' }, 3),
	'select iterations, nanoseconds from pgseries_bench_plan($statement$x$statement$, 3)',
	'the loop that plans');
is(PgSeries::Bench::loop_sql({ kind => 'repeat', statement => 'x' }, 3),
	"x\nx\nx", 'again and again');

my $checked = PgSeries::Bench::check_sql($filled);
is( $checked,
	"set bench.a = '1';\nset max_parallel_workers_per_gather = '0';\nset plan_cache_mode = 'force_generic_plan';\nset work_mem = '10kB';\n"
	  . "begin;\n\\o /dev/null\nset a = 1000000;\nset b = 2;\n\\o\n"
	  . "prepare checked as select '1000000', a::int,\n  :iterations;\nexecute checked('5');\n"
	  . "\\echo QUERY PLAN\nexplain (costs off) execute checked('5');\nrollback;\n",
	'what is checked of a generic plan');
$filled->{generic} = undef;
is(() = PgSeries::Bench::check_sql($filled) =~ /^execute/mg,
	7, 'plan_cache_mode chooses after some executions');
like(
	PgSeries::Bench::check_sql(
		{
			kind => 'pgbench',
			method => 'time',
			set => {},
			statement => 'x',
			explain => 'y'
		}),
	qr/\Abegin;\n.*^y;\n\\echo QUERY PLAN\nexplain \(costs off\) y;/ms,
	'what a script executes; with workers');
my $plan =
  "QUERY PLAN\nLimit\n  ->  Merge Append\n        Subplans Removed: 2\n";
ok(PgSeries::Bench::has_node($plan, $_), "it has $_")
  foreach 'Limit', 'Merge Append', 'Subplans Removed';
ok(!PgSeries::Bench::has_node($plan, $_), "it has no $_")
  foreach 'Append', 'Merge', 'Merge App', 'Removed';

# Servers that answer as %answer says, each for its build
my (%answer, @asked);
make_dir("$dir/$_") foreach qw(base patched);
{

	package Server;
	sub start       { return; }
	sub stop        { return; }
	sub data        { my ($self) = @_; return "$dir/$self->{build}{name}"; }
	sub environment { return {}; }

	sub sql
	{
		my ($self, $sql, %opt) = @_;
		push @asked, $sql;
		my $answer = $answer{ $self->{build}{name} };
		return ref $answer ? $answer->($sql) : $answer;
	}

	# A stand-alone backend under callgrind: 1000 instructions and those of the work
	sub single_user
	{
		my ($self, $sql, %opt) = @_;
		my ($file) = map { /^--callgrind-out-file=(.*)/ } @{ $opt{wrapper} };
		my ($n) = $sql =~ /^set a = 10\nset b = 2\nselect.*, (\d+), array/ms;
		main::write_file($file,
				'summary: '
			  . (1000 + $n * $answer{ $self->{build}{name} })
			  . "\n");
		return;
	}

	package Bench;
	our @ISA = ('PgSeries::Bench');

	sub servers
	{
		return {
			map {
				$_ =>
				  bless { build => { name => $_, bin => $dir, log => $dir } },
				  'Server'
			} qw(base patched)
		};
	}

	package Config;
	sub user { my ($self) = @_; return $self->{user}; }
}

sub bench
{
	my (%more) = @_;
	return bless {
		meta => $meta,
		server => Bench::servers(),
		config => bless({}, 'Config'),
		seed => 1,
		base => '18.6',
		patched => 'key',
		output => "$dir",
		failed => [],
		same_rows => 0,
		machine => { cpu => 'this' },
		%more
	  },
	  'Bench';
}

# The check before a case is measured
my $bench = bench();
$filled->{set} = {};
my $right = "1\n2\nQUERY PLAN\nSeq Scan on t";
%answer = (base => $right, patched => $right);
$bench->check($filled);
is($bench->{same_rows}, 1, 'same rows, and the node is there');
%answer = (base => $right, patched => "1\n2\nQUERY PLAN\nIndex Scan");
raises(
	1,
	'the plan of patched has no "Seq Scan": select \'1000000\', a::int, :iterations; correct',
	sub { $bench->check($filled) });
%answer = (base => "1\n2\nQUERY PLAN\nIndex Scan", patched => $right);
raises(
	1,
	'the plan of base has no "Seq Scan"',
	sub { $bench->check($filled) });

foreach my $rows ("1\n3", "1\n", "1\n2\n3")
{
	%answer = (base => $right, patched => "$rows\nQUERY PLAN\nSeq Scan on t");
	raises(
		1,
		'base and patched return different rows: ',
		sub { $bench->check($filled) });
}
like(
	$error->{detail},
	qr/^row 3, base: .*\nrow 3, patched: 3$/m,
	'they are shown');
is($bench->{same_rows}, 1, 'different rows are not counted as the same');

# What is counted
%answer = (base => '60', patched => '1.5');
is_deeply(
	$bench->count({ statement => 'x', set => { a => 'b' } }),
	{ base => [60], patched => [1.5] },
	'a count');
is($asked[-1], "set a = 'b';\nx", 'with the settings');
foreach my $rows ('0', '', "1\n2", '-1', 'many')
{
	%answer = (base => 1, patched => $rows);
	raises(
		1,
		'patched counts nothing for: x y; let',
		sub { $bench->count({ statement => "x\ny", set => {} }) });
}

# Instructions: the difference of two counts, of each build
%answer = (base => 200, patched => 50);
$meta->{runs} = 2;
my $case = { rows => 10 };
is_deeply(
	$bench->instructions(PgSeries::Bench::filled($m, $case)),
	{
		base => [ 200, 200 ],
		patched => [ 50, 50 ],
		iterations => [ 10, 20 ]
	},
	'instructions');

# Times: pairs of base and patched, and base against itself
{
	no warnings qw(redefine);
	my %turn;
	local *PgSeries::Bench::one_time = sub {
		my ($self, $b) = @_;
		return $b eq 'patched' ? 300 : 100 + $turn{$b}++;
	};
	my $r = bench(pairs => 8)
	  ->timing({ %$m, method => 'time', better => 'higher' }, {});
	is(scalar @{ $r->{pairs} }, 8, 'as many pairs as asked for');
	is( join(' ', map { $_->{patched} } @{ $r->{pairs} }),
		'300 ' x 7 . '300',
		'patched is patched');
	is( join(' ',
			sort { $a <=> $b }
			map  { ($_->{first}, $_->{second}) } @{ $r->{aa} }),
		join(' ', 100 .. 115),
		'base is measured twice for A/A');
	is( join(' ', map { $_->{base} } @{ $r->{pairs} }),
		join(' ', map { $_->{first} } @{ $r->{aa} }),
		'and once for both');
	my %orders = map { $_->{order} => 1 } @{ $r->{pairs} };
	cmp_ok(scalar keys %orders, '>', 1, 'the order varies');
}

# One time: of the second call, in nanoseconds for each iteration; or of pgbench
%answer = (base => "10|9000\n10|500");
is( $bench->one_time(
		'base', { kind => 'loop', statement => 'f(:iterations)', set => {} },
		{}),
	50,
	'a loop of its own');
is($asked[-1], "f(1000);\nf(1000);", 'it is called twice');
write_file("$dir/pgbench", <<'SCRIPT');
#!/bin/sh
echo "$PGOPTIONS $*" >"${0%pgbench}arguments"
cat "${0%pgbench}m.sql" >>"${0%pgbench}arguments"
for tps in 1.0 2.0 100.0 300.0; do echo "progress: 1.0 s, $tps tps, lat 1 ms" >&2; done
SCRIPT
chmod 0755, "$dir/pgbench" or die $!;
$filled = {
	%$m,
	kind => 'pgbench',
	statement => 'select 1',
	set => { a => 'b' }
};
is( $bench->one_time('base', $filled, { clients => 3, rows => 5, x => 'y' }),
	200,
	'pgbench: without the first seconds');
like(
	read_file("$dir/arguments"),
	qr/^-c a=b -n -P 1 -T 3 -c 3 -j 3 -M simple -D clients=3 -D rows=5 -f .*\nselect 1;$/m,
	'its arguments');

# A whole benchmark
write_file("$dir/setup.sql", "create table t (:rows);\n");
$meta->{measures} = [
	{
		name => 'pages',
		label => ':rows rows',
		unit => 'pages',
		better => 'lower',
		method => 'count',
		kind => 'loop',
		statement => 'pages :rows :n',
		why => 'counts',
		values => { n => [ 1, 2, 3 ] }
	}
];

sub benchmark
{
	my ($bench) = @_;
	return quietly(
		sub {
			$bench->benchmark($meta,
				PgSeries::Bench::databases($meta, undef, {}));
		});
}
my $written;
$answer{base} = sub {
	my ($sql) = @_;
	my ($rows, $n) = $sql =~ /^pages (\d+) (\d+)/ or return '';
	$written .= @{ slurp_json("$dir/one.json")->{series} } . ' '
	  if -f "$dir/one.json";
	return $n == 2 ? 'lost' : 60 * $n;
};
$answer{patched} = 30;
$bench = bench();
my @series = benchmark($bench);
is( join('; ', map { "$_->{label}: $_->{case}{n} $_->{ratio}" } @series),
	join('; ', map { ("$_ rows: 1 0.5", "$_ rows: 3 " . 30 / 180) } 10, 20),
	'one case fails, the others do not');
is( join('; ',
		map { PgSeries::Bench::case_text($_->{case}) } @{ $bench->{failed} }),
	'n=2 rows=10; n=2 rows=20',
	'those that failed are known');
is($written, '1 1 2 3 3 ', 'a result is written after every case');
my $result = slurp_json("$dir/one.json");
is( "@{$result}{qw(bench topic title base patched)}",
	"one topic \x{2264} 18.6 key",
	'the result');
is($result->{series}[3]{label}, '20 rows', 'labels are filled in');
like(
	PgSeries::Bench::one_line($series[0]),
	qr/^pages +n=1 rows=10 +60 -> +30 pages, ratio 0\.500$/,
	'a line');
{
	no warnings qw(redefine);
	local *PgSeries::Bench::set_up = sub {
		my ($self, $values) = @_;
		PgSeries::Util::fail(2, 'no space', 'free some')
		  if $values->{rows} == 10;
		return;
	};
	is(scalar(my @s = benchmark($bench = bench())), 2, 'a setup fails');
	is(scalar @{ $bench->{failed} }, 4, 'with all its cases');
	$answer{base} =
	  sub { PgSeries::Util::fail(130, 'interrupted', 'run again') };
	benchmark(bench());
	is($error->{code}, 130, 'an interrupt ends it');
}

# Figures of an earlier run
sub kept
{
	my (%change) = @_;
	my %old = (
		format => 1,
		base => '18.6',
		patched => 'key',
		date => 'first',
		seed => 7,
		machine => { cpu => 'this', cores => 2 },
		series => [
			{
				measure => 'm',
				method => 'count',
				case => { a => 1 },
				n => 'old'
			},
			{ measure => 'm', method => 'time', case => { a => 1 } },
			{
				measure => 'm',
				method => 'count',
				case => { a => 2 },
				seed => 0
			},
			{ measure => 'o', method => 'count', case => { a => 1 } }
		]);
	write_file("$dir/kept.json", $json->encode({ %old, %change }));
	my $new = {
		%old,
		date => 'now',
		series => [ { %{ $old{series}[0] }, n => 'new' } ]
	};
	quietly(sub { PgSeries::Bench::keep_others($new, "$dir/kept.json") });
	return join ' ', map {
		join '/',
		  map { $_ // '-' }
		  @{$_}{qw(n date seed)}
	} @{ $new->{series} };
}
is( kept(),
	'-/first/7 -/first/0 -/first/7 new/-/-',
	'others stay, with date and seed');
foreach my $change (
	[ patched => 'x' ],
	[ base => undef ],
	[ machine => { cpu => 'this', cores => 3 } ])
{
	is(kept(@$change), 'new/-/-', "nothing stays: another $change->[0]");
	like($said, qr/had figures of another .*; it is .*\.old now/,
		'it says so');
	is(slurp_json("$dir/kept.json.old")->{series}[0]{n},
		'old', 'nothing is lost');
}

# The benchmarks of the repository
my %known = map { $_ => 1 }
  qw(name label unit better method kind statement parameters
  generic script node why explain set before counted iterations loop values where);
my %metas = PgSeries::Bench::read_metas("$top/benchmarks");
foreach my $name (sort keys %metas)
{
	my ($of, @wrong) = $metas{$name};
	ok(-f "$of->{dir}/$of->{setup}", "$name: setup");
	cmp_ok(scalar PgSeries::Bench::databases($of, undef, {}),
		'>', 0, "$name: cases");
	foreach my $one (@{ $of->{measures} })
	{
		my %values = (%{ $of->{values} }, %{ $one->{values} || {} });
		push @wrong, grep { !$known{$_} } keys %$one;
		push @wrong, "script of $one->{name}"
		  if defined $one->{script} && !-f "$of->{dir}/$one->{script}";
		push @wrong, grep { !$values{$_} } $one->{label} =~ /(?<!:):(\w+)/g;
		push @wrong, grep { !$values{$_} } keys %{ $one->{where} || {} };
		push @wrong, "digits in $one->{label}"
		  if $one->{label} =~ /(?<![\w\$.=] )\b\d{2,}\b(?! ms)/
		  && $one->{label} !~ /col5 = 42/;
	}
	is("@wrong", '', "$name: names, files and labels");
}

done_testing();
