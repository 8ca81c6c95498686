# PgSeries::Bench: what it refuses, chooses and keeps.  Nothing is measured.

use strict;
use warnings FATAL => 'all';

use Cwd qw(abs_path);
use File::Temp;
use FindBin;
use JSON::PP;
use PgSeries::Bench;
use PgSeries::Util qw(read_file slurp_json write_file);
use Test::More;

my $top = abs_path("$FindBin::RealBin/../..");
my $dir = File::Temp->newdir();
my $json = JSON::PP->new->utf8->canonical;

# Runs the code; returns what it says on standard error, and what it returns.
sub said
{
	my ($run) = @_;
	my $value;

	open(my $saved, '>&', \*STDERR) or die "standard error: $!";
	open(STDERR, '>', "$dir/said") or die "$dir/said: $!";
	my $lived = eval { $value = $run->(); 1 };
	my $error = $@;
	open(STDERR, '>&', $saved) or die "standard error: $!";
	close $saved;
	die $error unless $lived;
	return (read_file("$dir/said"), $value);
}

sub raises
{
	my ($run, $code, $want, $name) = @_;
	my $error = eval { $run->(); 1 } ? undef : $@;

	isa_ok($error, 'PgSeries::Error', "$name: the error");
	is(ref $error && $error->{code}, $code, "$name: exit code");
	like(ref $error ? "$error->{message}; $error->{remedy}" : '',
		qr/^$want$/, "$name: message and remedy");
	unlike(ref $error ? $error->{message} . $error->{remedy} : '',
		qr/\n/, "$name: one line");
	return $error;
}

# Options
my %opt = PgSeries::Bench::check_options({});
is($opt{scale}, 'full', 'default scale');
like($opt{seed}, qr/^\d+\z/, 'default seed');
%opt = PgSeries::Bench::check_options(
	{
		scale => 'demo',
		method => 'count',
		pairs => 7,
		seconds => 0.5,
		minutes => 0.1,
		gate => 1.01,
		seed => '2147483647',
		case => [ 'a=1', 'b=x=y', 'a=' ]
	});
is_deeply(
	\%opt,
	{
		scale => 'demo',
		method => 'count',
		pairs => 7,
		seconds => 0.5,
		seed => 2147483647,
		filter => { a => [ '1', '' ], b => ['x=y'] }
	},
	'options of a run');
foreach my $case (
	[ pairs => 0, '--pairs=0 is not positive; say how many .*' ],
	[ pairs => -1, '--pairs=-1 is not positive; say how many .*' ],
	[ seconds => 0, '--seconds=0 is not positive; say how long .*' ],
	[ minutes => -1, '--minutes=-1 is not positive; say after .*' ],
	[ gate => 0, '--gate=0 is not positive; .*--gate=1\.01' ],
	[ seed => -1, '--seed=-1 is not a seed; choose an integer .*' ],
	[ seed => 2147483648, '--seed=2147483648 is not a seed; .*' ],
	[ scale => 'big', 'there is no scale "big"; choose demo, .*' ],
	[ method => 'guess', 'there is no method "guess"; choose .*' ],
	[ case => ['x'], '--case=x is not NAME=VALUE; write, .*' ])
{
	my ($key, $value, $want) = @$case;
	raises(sub { PgSeries::Bench::check_options({ $key => $value }) },
		2, $want, "$key: $want");
}

# Names
my @names = PgSeries::Bench::check_names("$top/benchmarks", 'all');
cmp_ok(scalar @names, '>', 1, 'all benchmarks');
is_deeply(
	[ PgSeries::Bench::check_names("$top/benchmarks", @names[ 1, 0 ]) ],
	[ @names[ 1, 0 ] ],
	'two of them');
raises(
	sub { PgSeries::Bench::check_names("$top/benchmarks") },
	2, "bench needs a name; choose from: @names, all",
	'no name');
raises(
	sub { PgSeries::Bench::check_names("$top/benchmarks", 'all', 'x') },
	2,
	'there is no benchmark "all"; choose from: .*',
	'all and another');

# Cases
is_deeply([ PgSeries::Bench::cross({}) ], [ {} ], 'nothing varies');
is_deeply(
	[ PgSeries::Bench::cross({ b => [ 1, 2 ], a => [ 'x', 'y' ] }) ],
	[
		{ a => 'x', b => 1 },
		{ a => 'x', b => 2 },
		{ a => 'y', b => 1 },
		{ a => 'y', b => 2 }
	],
	'the last name varies fastest');
is_deeply([ PgSeries::Bench::cross({ a => [], b => [1] }) ],
	[], 'a name without values');
my %case = (a => 1, b => 'x');
foreach
  my $filter ({}, { a => [1] }, { a => [ 2, '1' ], b => ['x'] }, { c => [1] })
{
	ok( PgSeries::Bench::wanted(\%case, $filter),
		'wanted: ' . $json->encode($filter));
}
foreach my $filter (
	{ a => [2] },
	{ a => [1], b => ['y'] },
	{ a => ['01'] },
	{ b => [] })
{
	ok( !PgSeries::Bench::wanted(\%case, $filter),
		'not wanted: ' . $json->encode($filter));
}

my %meta = (
	setup_values => ['rows'],
	scales => {
		demo => { values => { rows => [ 10, 20 ] } },
		full => { values => { other => [1] } }
	},
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
			where => { rows => [20] }
		},
		{ name => 'other', method => 'time', scales => ['full'] }
	]);

# "rows: measure case, measure case", for each database
sub chosen
{
	my (%options) = @_;
	my @text;

	foreach my $database (
		PgSeries::Bench::databases(
			\%meta, 'meta.json',
			scale => 'demo',
			filter => {},
			%options))
	{
		push @text, "$database->{values}{rows}: " . join ', ', map {
			my ($m, $case) = @$_;
			"$m->{name} " . join ' ', map { "$_=$case->{$_}" }
			  sort keys %$case
		} @{ $database->{cases} };
	}
	return \@text;
}
my @counted = map { "columns=$_" } 1, 2;
is_deeply(
	chosen(),
	[
		'10: counted columns=1 rows=10, counted columns=2 rows=10',
		'20: counted columns=1 rows=20, counted columns=2 rows=20, timed clients=2 rows=20'
	],
	'all cases');
is_deeply(
	chosen(method => 'time'),
	['20: timed clients=2 rows=20'],
	'cases of one method');
is_deeply(
	chosen(filter => { columns => ['2'], rows => ['10'] }),
	['10: counted columns=2 rows=10'],
	'cases by values');
is_deeply(chosen(method => 'count'), [], 'no case');
is_deeply(chosen(filter => { rows => [30] }), [], 'no case of that value');
raises(
	sub { chosen(scale => 'original') },
	2,
	'meta\.json has no scale "original"; add it, .*',
	'no such scale');
raises(
	sub { chosen(scale => 'full') },
	2, 'meta\.json: scale "full" has no values of "rows"; add them',
	'no values');

ok( !defined PgSeries::Bench::check_filter(
		{ rows => [1], columns => [1], clients => [1] },
		'demo', \%meta),
	'names of values');
raises(
	sub { PgSeries::Bench::check_filter({ row => [1] }, 'demo', \%meta) },
	2,
	'no case has a value named "row"; choose from: clients, columns, rows',
	'a misspelt name');

# What is chosen
sub check_chosen
{
	my ($gate, %options) = @_;
	my @databases = PgSeries::Bench::databases(
		\%meta, 'meta.json',
		scale => 'demo',
		filter => {},
		method => 'time',
		%options);
	return said(
		sub {
			PgSeries::Bench::check_chosen($gate,
				{ one => \@databases, two => [] });
		});
}
my ($message) = check_chosen();
is( $message,
	"left out, as no case matches: two\n",
	'a benchmark without a case is left out');
raises(
	sub { check_chosen(undef, method => 'count') },
	2,
	'no case of one two matches; see .*',
	'no case of any');
raises(
	sub { check_chosen(1.01) },
	2,
	'the gate has nothing to judge: .*; leave out --method, .*',
	'a gate without instructions');

# The gate
my @measured = (
	{ method => 'instructions', ratio => 1.01 },
	{ method => 'time', ratio => 2 },
	{ method => 'count', ratio => 2 });

sub gate
{
	my @arguments = @_;
	return said(sub { PgSeries::Bench::gate(@arguments) });
}
is_deeply([ gate(1.01, 0, @measured) ], [ '', 0 ], 'gate: not exceeded');
my ($text, $status) = gate(1.009, 0, @measured);
is($status, 1, 'gate: exceeded');
like(
	$text,
	qr/^pgseries: 1 cases need more than 1\.009 of base's instructions/,
	'gate: it says so');
($text, $status) = gate(1.009, 3, @measured);
is($status, 1, 'gate: exceeded before the time was up');
raises(
	sub { gate(1.01, 3, @measured) },
	2,
	'the gate has not seen 3 cases, .*; allow more with --minutes, .*',
	'gate: not all seen');

# Different rows
is_deeply([ PgSeries::Bench::difference("a\nb", "a\nb") ], [], 'equal rows');
is_deeply(
	[ PgSeries::Bench::difference("a\nb", "b\na") ],
	[
		'the same rows in another order',
		"row 1, base:    a\nrow 1, patched: b\nrow 2, base:    b\nrow 2, patched: a"
	],
	'another order');
is_deeply(
	[ PgSeries::Bench::difference("a\nb\nc\n1\n2\n3\n4", "a\nx\nc") ],
	[
		'different rows',
		"row 2, base:    b\nrow 2, patched: x\n"
		  . "row 4, base:    1\nrow 4, patched: (there is none)\n"
		  . "row 5, base:    2\nrow 5, patched: (there is none)"
	],
	'different rows');
is((PgSeries::Bench::difference('', '0'))[0], 'different rows', 'no rows');
is_deeply(
	[ PgSeries::Bench::difference("a\na", 'a') ],
	[
		'different rows',
		"row 2, base:    a\nrow 2, patched: (there is none)"
	],
	'a row twice');
{

	package Server;

	sub new
	{
		my ($class, $rows) = @_;
		return bless { rows => $rows }, $class;
	}
	sub start { return; }
	sub stop  { return; }

	sub sql
	{
		my ($self, $sql) = @_;
		$self->{sql} = $sql;
		return $self->{rows};
	}
}
my $run = bless {
	server => { base => Server->new('1'), patched => Server->new('2') },
	dir => '/top/benchmarks/one',
	meta => { setup => 'setup.sql', setup_values => [ 'rows', 'columns' ] }
  },
  'PgSeries::Bench';
my $error = raises(
	sub {
		$run->same_rows(
			{
				statement => "select\n  1",
				parameters => [5],
				set => { work_mem => '1MB' }
			},
			{ rows => 10, columns => 2, clients => 1 });
	},
	1,
	qr{base and patched return different rows for: select 1; repeat it on both servers .*: \\set columns 2; \\set rows 10; \\i /top/benchmarks/one/setup\.sql; and the SQL above},
	'different rows');
is( $error->{detail},
	"set work_mem = '1MB';\nprepare checked as select\n  1;\n"
	  . "execute checked('5');\nrow 1, base:    1\nrow 1, patched: 2",
	'the statement and the rows');
$run->{server}{patched}{rows} = '1';
ok(!defined $run->same_rows({ statement => 'select 1' }, {}), 'equal rows');
is( $run->{server}{base}{sql},
	"begin;\nselect 1;\nrollback;",
	'the rows of a statement');

# A count must be a positive number.
$run->{server}{$_}{rows} = '3' foreach qw(base patched);
is_deeply(
	$run->count({ statement => 'x' }, {}),
	{ base => [3], patched => [3], ratio => 1 },
	'a count');
foreach my $rows ('0', '', "1\n2", '-1', 'many')
{
	$run->{server}{patched}{rows} = $rows;
	raises(
		sub { $run->count({ statement => "x\ny" }, {}) },
		1,
		'patched counts nothing for: x y; let the statement .*',
		'count ' . $json->allow_nonref->encode($rows));
}

# SQL
is( PgSeries::Bench::with_values(
		"select ':a', x::int, :b, :a1",
		{ a => 1, int => 2 }),
	"select '1', x::int, :b, :a1",
	'values in a statement');
is( PgSeries::Bench::loop_sql(
		{ kind => 'loop', statement => 'f(:iterations)' }, 5),
	'f(5)',
	'a loop of its own');
is(PgSeries::Bench::loop_sql({ kind => 'repeat', statement => 'x' }, 3),
	"x\nx\nx", 'the same again and again');
is( PgSeries::Bench::loop_sql({ kind => 'plan', statement => 'x' }, 3),
	'select iterations, nanoseconds from pgseries_bench_plan($statement$x$statement$, 3)',
	'the loop that plans');
is( PgSeries::Bench::loop_sql(
		{
			kind => 'execute',
			statement => 'x',
			parameters => [ 1, 2 ],
			generic => JSON::PP::true
		},
		3),
	q{select iterations, nanoseconds from pgseries_bench_execute($statement$x$statement$, 3, array['1', '2']::text[], true)},
	'the loop that executes');

# Figures of an earlier run
sub result
{
	my (%change) = @_;
	return {
		format => 1,
		base => '18.6',
		patched => 'key',
		scale => 'full',
		date => 'later',
		seed => 2,
		machine =>
		  { map { $_ => "this $_" } qw(cpu cores compiler valgrind) },
		series => [
			{
				measure => 'm',
				method => 'count',
				case => { a => 1 },
				n => 'new'
			}
		],
		%change
	};
}

# Returns what is kept besides, and what is said.
sub kept
{
	my ($old) = @_;
	my $file = "$dir/result.json";
	my $result = result();

	write_file($file, $json->encode($old));
	my ($text) = said(sub { PgSeries::Bench::keep_others($result, $file) });
	my @series = @{ $result->{series} };
	is((pop @series)->{n}, 'new', 'the new figure stays');
	return (\@series, $text);
}
my @old = (
	{ measure => 'm', method => 'count', case => { a => 1 }, n => 'again' },
	{ measure => 'm', method => 'time', case => { a => 1 }, n => 'method' },
	{
		measure => 'o',
		method => 'count',
		case => { a => 1 },
		n => "\x{2264}"
	},
	{
		measure => 'm',
		method => 'count',
		case => { a => 2 },
		date => 'first',
		seed => 0
	});
my ($kept, $why) =
  kept(result(date => 'earlier', seed => 1, series => \@old));
is($why, '', 'nothing to say');
is_deeply(
	$kept,
	[
		{ %{ $old[1] }, date => 'earlier', seed => 1 },
		{ %{ $old[2] }, date => 'earlier', seed => 1, n => "\xe2\x89\xa4" },
		$old[3]
	],
	'others stay, with date and seed');
foreach my $case (
	[ { patched => 'x' }, 'patched: x' ],
	[ { base => undef }, 'base: not known' ],
	[ { scale => 'demo' }, 'scale: demo' ],
	[ { machine => {} }, 'machine \(cpu\): not known' ],
	[
		{ machine => { %{ result()->{machine} }, cores => 3 } },
		'machine \(cores\): 3'
	])
{
	my ($change, $want) = @$case;
	($kept, $why) = kept(result(%$change, series => \@old));
	is_deeply($kept, [], "another run ($want): nothing stays");
	like(
		$why,
		qr/^$dir\/result\.json had figures of another $want; it is $dir\/result\.json\.old now$/,
		'it says so');
	is(slurp_json("$dir/result.json.old")->{series}[0]{n},
		'again', 'nothing is lost');
}
my $first = result();
PgSeries::Bench::keep_others($first, "$dir/none.json");
is_deeply($first, result(), 'no earlier run');

# A benchmark without its servers
{

	package Config;
	sub top { return $top; }

	package Unmeasured;
	our @ISA = ('PgSeries::Bench');
	sub servers { return {}; }

	sub set_up
	{
		my ($self, $values) = @_;
		push @{ $self->{done} }, $values;
		return;
	}

	sub measure
	{
		my ($self, $m, $case) = @_;
		die "no more\n" if $self->{dies} && !--$self->{dies};
		$self->{deadline} = 1
		  if $self->{stop_after} && !--$self->{stop_after};
		return { measure => $m->{name}, case => $case };
	}
}

my @written;

sub benchmark
{
	my (%change) = @_;
	@written = ();
	my $self = bless {
		config => bless({}, 'Config'),
		scale => 'demo',
		base => '18.6',
		patched => 'key',
		seed => 1,
		left_out => 0,
		%change
	  },
	  'Unmeasured';
	my $meta =
	  PgSeries::Bench::as_bytes({ %meta, title => "\x{2264}", topic => 't' });
	my ($out, $result) = said(
		sub {
			my ($measured) = $self->benchmark(
				'one', $meta,
				sub {
					push @written, scalar @{ $_[0]{series} };
					return $_[0];
				},
				PgSeries::Bench::databases(
					$meta, 'meta.json',
					scale => 'demo',
					method => 'instructions',
					filter => {}));
			return $measured;
		});
	return ($result, $self, $out);
}
my ($result, $self, $out) = benchmark();
is(scalar @{ $result->{series} }, 4, 'all cases were measured');
is("@written", '2 4', 'what is there is written after each database');
is_deeply(
	$self->{done},
	[ { rows => 10 }, { rows => 20 } ],
	'one database at a time');
is($out, "one: rows 10\none: rows 20\n", 'it names them');
my $written = JSON::PP->new->canonical->encode($result);
unlike($written, qr/[^\x00-\xff]/, 'a result is bytes');
is($json->decode($written)->{title}, "\x{2264}", 'the text is as it was');
($result, $self) = benchmark(deadline => 1);
ok(!defined $result, 'the time was up: no result');
is($self->{left_out}, 4, 'the cases are counted');
($result, $self) = benchmark(stop_after => 1);
is(scalar @{ $result->{series} }, 1, 'the time was up after the first case');
is($self->{left_out}, 3, 'those after it are counted');
eval { benchmark(dies => 3); };
is("@written", '2', 'an error costs one database');

# The report's options
{

	package Context;
	sub config { return bless {}, 'Config'; }
}
foreach my $case ([ { dry_run => 1 }, '--dry-run is for --readme only' ],
	[ { readme => 1, results => 'x' }, '--readme takes no --results: .*' ])
{
	my ($option, $want) = @$case;
	raises(
		sub {
			PgSeries::Bench::report_command(bless { option => $option },
				'Context');
		},
		2,
		"$want; see: pgseries report --help",
		"report: $want");
}

# The benchmarks of the repository
my %known = (
	top => [
		qw(title topic source axis settings setup setup_values scales measures
		  plots readme)
	],
	scale => [qw(values pairs seconds runs)],
	measure => [
		qw(name label unit better method kind statement parameters generic
		  script set before counted iterations loop values scales where)
	]);

sub unknown
{
	my ($what, $hash) = @_;
	my %is = map { $_ => 1 } @{ $known{$what} };
	return grep { !$is{$_} } sort keys %$hash;
}
foreach my $name (@names)
{
	my $content = slurp_json("$top/benchmarks/$name/meta.json");
	is( join(' ',
			unknown('top', $content),
			(map { unknown('scale', $_) } values %{ $content->{scales} }),
			map { unknown('measure', $_) } @{ $content->{measures} }),
		'',
		"$name: only keys of meta.json that PgSeries::Bench describes");
	foreach my $scale (qw(demo full original))
	{
		my @databases = PgSeries::Bench::databases(
			$content, $name,
			scale => $scale,
			filter => {});
		cmp_ok(scalar @databases, '>', 0, "$name: cases of scale $scale");
	}
}

done_testing();
