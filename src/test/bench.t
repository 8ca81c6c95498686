# PgSeries::Bench with servers that are not there: what it refuses, chooses, checks,
# computes and keeps.  src/test/demo.t measures.

use strict;
use warnings FATAL => 'all';

use Cwd qw(abs_path);
use File::Temp;
use FindBin;
use lib "$FindBin::RealBin/lib";

use Fixture qw(error_of fails said);
use JSON::PP;
use List::Util qw(uniq);
use PgSeries::Bench;
use PgSeries::CLI;
use PgSeries::Util qw(make_dir read_file slurp_json write_file);
use Test::More;

my $top = abs_path("$FindBin::RealBin/../..");
my $dir = File::Temp->newdir();
my $json = JSON::PP->new->canonical->allow_nonref;
# Functions, arguments, and what they return, or refuse with exit code 2.
my $meta = '{"values":{"rows":[10]},"measures":[{"values":{"x":[1]}}]}';
foreach my $line (split /\n/, <<"EOT")
check_options | [{"pairs":0}] | 2: --pairs=0 is not positive; give a positive
check_options | [{"seconds":-1}] | 2: --seconds=-1 is not positive; give a positive
check_options | [{"gate":0}] | 2: --gate=0 is not positive; give a positive
check_options | [{"method":"guess"}] | 2: there is no method "guess"; choose
check_options | [{"pairs":1,"seconds":0.5,"gate":1.01}] |
check_names | [["a","b"],"b","a","b"] | "b","a"
check_names | [["a","b"],"all"] | "a","b"
check_names | [["a","b"]] | 2: bench needs a name; choose from: a b, all
check_names | [["a","b"],"all","a"] | 2: there is no benchmark "all"; choose
filter | [["rows=1","rows=x=y","x="],$meta] | {"rows":["1","x=y"],"x":[""]}
filter | [["rows"],$meta] | 2: --case=rows is not NAME=VALUE
filter | [["row=1"],$meta] | 2: no case has a value named "row"; choose from: rows, x
cases | [{"values":{"a":[1,2]},"measures":[{"method":"m","values":{"b":[3,4]},"where":{"a":[2],"c":[5]}},{"method":"n"}]},"m",{"b":[4]}] | [{"method":"m","values":{"b":[3,4]},"where":{"a":[2],"c":[5]}},{"a":2,"b":4}]
cross | [{"b":[1,2],"a":["x"]}] | {"a":"x","b":1},{"a":"x","b":2}
wanted | [{"a":1},{"a":["01"]}] | 0
wanted | [{"a":1},{"a":[2,"1"],"b":[3]}] | 1
loop_sql | [{"kind":"plan","statement":"x"},3] | "select iterations, nanoseconds from pgseries_bench_plan(\$statement\$x\$statement\$, 3)"
loop_sql | [{"kind":"execute","statement":"x","parameters":[1],"generic":true},3] | "select iterations, nanoseconds from pgseries_bench_execute(\$statement\$x\$statement\$, 3, array['1']::text[], true)"
loop_sql | [{"kind":"repeat","statement":"x"},3] | "x\\nx\\nx"
loop_sql | [{"kind":"loop","statement":"f(:iterations)"},3] | "f(3)"
has_node | ["Limit\\n  ->  Merge Append\\n        Subplans Removed: 2\\n","Merge Append"] | 1
has_node | ["Limit\\n  ->  Merge Append\\n        Subplans Removed: 2\\n","Subplans Removed"] | 1
has_node | ["Limit\\n  ->  Merge Append\\n","Append"] |
has_node | ["Limit\\n  ->  Merge Append\\n","Merge"] |
has_node | ["Limit\\n  ->  Merge Append\\n","Merge App"] |
difference | ["a\\nb","a\\nb"] |
difference | ["a\\nb\\nc","a\\nx"] | "row 2, base: b\\nrow 2, patched: x"
difference | ["a","a\\n0"] | "row 2, base: (there is none)\\nrow 2, patched: 0"
EOT
{
	my ($function, $arguments, $want) = split / *\| */, $line;
	my $run = sub {
		PgSeries::Bench->can($function)->(@{ $json->decode($arguments) });
	};
	if (($want // '') =~ /^2: /) { fails(quotemeta $want, $run); next; }
	my @is =
	  map { defined ? $json->encode($_) =~ s/^"?(\d+)"?$/$1/r : () } $run->();
	is(join(',', @is), $want // '', "$function $arguments");
}

# What the command refuses
my $c = bless { config => PgSeries::Config->new(top => $top) },
  'PgSeries::CLI';
foreach my $case (
	[ 'there is no benchmark "no"; choose', {}, 'no' ],
	[ 'cannot make directory ', { output => "$0/x" }, 'all' ],
	[
		'no case of many-indexes matches',
		{ case => ['indexes=7'] },
		'many-indexes'
	],
	[
		'the gate has nothing to judge',
		{ gate => 1, method => 'time' },
		'many-indexes'
	])
{
	my ($want, $option, $name) = @$case;
	$c->{option} = $option;
	fails("2: $want", sub { PgSeries::Bench::check_arguments($c, $name) });
}

# meta.json
my $read = sub { PgSeries::Bench::read_metas("$dir/metas") };
make_dir("$dir/metas/$_/a") foreach qw(t u);
write_file("$dir/metas/t/a/meta.json", '{"measures": [{"name": "m"}]}');
fails('2: .*measure "m" names no plan node', $read);
write_file("$dir/metas/$_/a/meta.json", '{}') foreach qw(t u);
fails('2: two benchmarks are named "a"', $read);

# What is filled in, and what is checked
my $m = $json->decode(<<'EOT');
{"name": "m", "label": ":rows rows of :other, :low", "kind": "execute", "method": "instructions",
 "unit": "instructions", "better": "lower", "node": "Seq Scan", "statement": "select ':rows',\n  :iterations",
 "parameters": [5], "generic": true, "iterations": [10, 20], "before": "set a = :rows\nset b = 2",
 "set": {"work_mem": ":memory", "bench.a": 1}}
EOT
my $filled =
  PgSeries::Bench::filled($m, { rows => 1000000, memory => '10kB' });
is( $filled->{label},
	'1,000,000 rows of :other, 10 (plan_cache_mode = force_generic_plan, work_mem = 10kB)',
	'a label has the values, and the settings that are forced');
is( PgSeries::Bench::check_sql($filled),
	"set bench.a = '1';\nset max_parallel_workers_per_gather = '0';\nset plan_cache_mode = 'force_generic_plan';\n"
	  . "set work_mem = '10kB';\nbegin;\n\\o /dev/null\nset a = 1000000;\nset b = 2;\n\\o\n"
	  . "prepare checked as select '1000000',\n  :iterations;\nexecute checked('5');\n"
	  . "\\echo QUERY PLAN\nexplain (costs off) execute checked('5');\nrollback;\n",
	'the check of a generic plan');
$filled->{generic} = undef;
is( scalar(
		my @executed = PgSeries::Bench::check_sql($filled) =~ /^execute/mg),
	10,
	'plan_cache_mode chooses after some executions');
my %script = (kind => 'pgbench', method => 'time', set => {}, explain => 'y');
like(
	PgSeries::Bench::check_sql(\%script),
	qr/\Abegin;\n.*^y;\n\\echo QUERY PLAN\nexplain \(costs off\) y;/ms,
	'the check of a script, with workers');

# Servers that answer as %answer says, each for its build.  Under callgrind, a
# stand-alone backend takes 1000 instructions and those of the work.
my (%answer, $asked);
make_dir("$dir/$_") foreach qw(base patched);
{

	package Server;
	our @ISA = ('PgSeries::Server');
	sub start       { return; }
	sub stop        { return; }
	sub environment { return {}; }
	sub data        { my ($self) = @_; return "$dir/$self->{build}{name}"; }

	sub sql
	{
		my ($self, $sql) = @_;
		$asked = $sql;
		my $answer = $answer{ $self->{build}{name} };
		return ref $answer ? $answer->($sql, $self->{settings}) : $answer;
	}

	sub single_user
	{
		my ($self, $sql, %opt) = @_;
		my ($file) = map { /^--callgrind-out-file=(.*)/ } @{ $opt{wrapper} };
		my ($n) = $sql =~ /^set a = 10\nset b = 2\nselect.*, (\d+), array/ms;
		main::write_file($file,
			'summary: ' . (1000 + $n * $answer{ $self->{build}{name} }));
		return;
	}

	package Bench;
	our @ISA = ('PgSeries::Bench');

	sub servers
	{
		my %build = (bin => $dir, log => $dir);
		my %servers = map {
			$_ => bless {
				build => { %build, name => $_ },
				config => bless({}, 'Config')
			  },
			  'Server'
		} qw(base patched);
		return \%servers;
	}

	package Config;
	sub user { my ($self) = @_; return $self->{user}; }
}

sub bench
{
	my (%more) = @_;
	my %same =
	  (base => '18.6', patched => 'key', output => "$dir", seed => 1);
	return bless {
		%same,
		meta => { pairs => 2, dir => 'x', setup => 'y' },
		server => Bench::servers(),
		config => bless({}, 'Config'),
		failed => [],
		machine => { cpu => 'this' },
		%more
	  },
	  'Bench';
}

# The check before a case is measured
my $bench = bench();
my ($right, $other) = map { "1\n2\nQUERY PLAN\n$_ on t" } 'Seq Scan',
  'Index Scan';
my $check = sub { $bench->check($filled) };
%answer = (base => $right, patched => $right);
$check->();
%answer = (base => $right, patched => $other);
fails(
	q(1: the plan of patched has no "Seq Scan": select '1000000', :iterations; correct),
	$check);
%answer = (base => $other, patched => $right);
fails('1: the plan of base has no "Seq Scan"', $check);

foreach my $rows ("1\n3", "1\n2\n3")
{
	%answer = (base => $right, patched => $right =~ s/1\n2/$rows/r);
	fails(
		'1: base and patched return different rows: select.*\nrow [23], base: .*\nrow [23], patched: 3\n?\z',
		$check);
}
is($bench->{same_rows}, 1, 'statements with the same rows are counted');

# What is counted; instructions, the difference of two counts
%answer = (base => '60', patched => '1.5');
is_deeply(
	$bench->count({ statement => 'x', set => { a => 'b' } }),
	{ base => [60], patched => [1.5] },
	'a count');
is($asked, "set a = 'b';\nx", 'with the settings');
foreach my $rows ('0', "1\n2", 'many')
{
	$answer{patched} = $rows;
	fails('1: patched counts nothing for: x y; let',
		sub { $bench->count({ statement => "x\ny", set => {} }) });
}
%answer = (base => 200, patched => 50);
is_deeply(
	$bench->instructions(PgSeries::Bench::filled($m, { rows => 10 })),
	{ base => [200], patched => [50], iterations => [ 10, 20 ] },
	'instructions of each build');

# Times: pairs of base and patched, and base against itself
{
	no warnings qw(redefine);
	my $turn = 100;
	local *PgSeries::Bench::one_time =
	  sub { my ($self, $b) = @_; return $b eq 'patched' ? 300 : $turn++ };
	my $column = sub {
		my ($result, $list, $k) = @_;
		return join ' ', map { $_->{$k} } @{ $result->{$list} };
	};
	my ($r, $again, $own) =
	  map { bench(@$_)->timing($m, {}) } ([ pairs => 8 ]) x 2, [];
	my ($first, $second) = map { $column->($r, 'aa', $_) } qw(first second);
	is($column->($r, 'pairs', 'patched'), '300 ' x 7 . '300', 'patched');
	is($column->($r, 'pairs', 'base'), $first, 'base is measured once');
	is( join(' ', sort split / /, "$first $second"),
		join(' ', 100 .. 115),
		'and again for A/A');
	my $order = $column->($r, 'pairs', 'order');
	cmp_ok(scalar(uniq(split / /, $order)), '>', 1, 'the order varies');
	is($column->($again, 'pairs', 'order'), $order, 'a seed gives an order');
	is(@{ $own->{pairs} }, 2, "the benchmark's pairs");
}

# One time: of the second call, in nanoseconds for each iteration; or of pgbench
my %loop = (kind => 'loop', statement => 'f(:iterations)', set => {});
%answer = (base => "10|9000\n10|500");
is($bench->one_time('base', \%loop, {}), 50, 'a loop of its own');
is($asked, "f(1000);\nf(1000);", 'it is called twice');
write_file("$dir/pgbench", <<'EOT');
#!/bin/sh
(echo "$PGOPTIONS $*"; cat "${0%pgbench}m.sql") >"${0%pgbench}arguments"
for tps in '1.0 tps, lat nan' '2.0 tps, lat 1' '1200.0 tps, lat 1' '3.0 tps, lat 7.500'; do
	echo "progress: 1.0 s, $tps ms stddev 0" >&2
done
EOT
chmod 0755, "$dir/pgbench" or die $!;
$filled =
  { %$m, kind => 'pgbench', statement => 'select 1', set => { a => 'b' } };
is( $bench->one_time('base', $filled, { clients => 3, rows => 5, x => 'y' }),
	800,
	'pgbench: without the first seconds; few transactions by their latency');
like(
	read_file("$dir/arguments"),
	qr/^-c a=b -n -P 1 -T 3 -c 3 -j 3 -M simple -D clients=3 -D rows=5 -f .*\nselect 1;$/m,
	'its arguments');

# The command, with a benchmark of its own
make_dir("$dir/benchmarks/topic/one");
write_file("$dir/benchmarks/topic/one/setup.sql",
	"create table t (:rows);\n");
write_file("$dir/benchmarks/topic/one/meta.json", <<'EOT');
{"title": "x", "setup": "setup.sql", "settings": {"max_files": ":rows"}, "values": {"rows": [10, 20]},
 "measures": [
  {"name": "pages", "label": ":rows rows", "unit": "pages", "better": "lower", "method": "count", "kind": "loop",
   "statement": "pages :rows :n", "node": null, "why": "counts", "values": {"n": [1, 2, 3]}},
  {"name": "scan", "label": "x", "unit": "pages", "better": "lower", "method": "count", "kind": "loop",
   "statement": "scan :rows", "node": "Seq Scan", "where": {"rows": [10]}}]}
EOT

# Its exit status, or error; what it prints is in $said.
my $said;

sub command
{
	my (%option) = @_;
	no warnings qw(redefine once);
	local *PgSeries::Bench::new = sub { return $bench = bench() };
	local *Config::top = sub { return "$dir" };
	local *PgSeries::CLI::config = sub { return bless {}, 'Config' };
	local *PgSeries::CLI::say = sub { print STDERR $_[1]; return };
	$c->{option} = \%option;
	my ($code, $error);
	$said = said(
		sub {
			$error =
			  error_of(sub { $code = PgSeries::Bench::command($c, 'one') });
		});
	return $code // $error;
}

# Setups are made by other processes.
my @written;
$answer{base} = sub {
	my ($sql, $settings) = @_;
	my ($kind, $n) = $sql =~ /^(pages \d+|scan) (\d+)/m;
	if (!$kind)
	{
		open(my $fh, '>>', "$dir/setups") or die $!;
		print $fh "$settings->{max_files}: ", $sql =~ s/\n/ /gr, "\n";
		close $fh;
		return '';
	}
	push @written, scalar @{ slurp_json("$dir/one.json")->{series} }
	  if -f "$dir/one.json";
	return $n == 2 ? 'lost' : $kind eq 'scan' ? $right : 60 * $n;
};
$answer{patched} = sub { return $_[0] =~ /^scan/m ? $other : 30 };
is(command(), 1, 'cases fail: exit status');
is(join('', grep { /ratio/ } split /^/, $said), <<'EOT', 'the others do not');
pages (n 1, rows 10): 60 -> 30, pages, ratio 0.500: better
pages (n 3, rows 10): 180 -> 30, pages, ratio 0.167: better
pages (n 1, rows 20): 60 -> 30, pages, ratio 0.500: better
pages (n 3, rows 20): 180 -> 30, pages, ratio 0.167: better
EOT
is( join("\n", $said =~ /^pgseries: (.*?)(?: for|;|": )/mg),
	join("\n",
		map { "one: $_" } 'pages n 2, rows 10: base counts nothing',
		'scan rows 10: the plan of patched has no "Seq Scan',
		'pages n 2, rows 20: base counts nothing'),
	'those that failed are named');
is("@written", '1 1 2 2 3 3', 'a result is written after every case');
is("@{slurp_json(\"$dir/one.json\")}{qw(bench topic base patched)}",
	'one topic 18.6 key', 'head');
is( read_file("$dir/setups"),
	join(
		'',
		map {
			my $rows = $_;
			map { "$rows: $_\n" }
			  'drop database if exists bench; create database bench;',
			  'create extension pgseries_bench; create table t (:rows); ',
			  'set synchronous_commit = on; vacuum analyze; checkpoint;'
		} 10,
		20),
	'each database is set up once, with its settings');

# Figures of an earlier run stay with their date and seed, or in a file of their own.
my $file = "$dir/one.json";
write_file($file, read_file($file) =~ s/"seed" : \K1/7/r);
is(command(case => [ "n=$_", 'rows=20' ]), 0, 'one case again') foreach 1, 3;
is( join(
		' ',
		map {
			join '/', @{ $_->{case} }{qw(rows n)}, $_->{seed} // '',
			  defined $_->{date}
			  ? 'date'
			  : ''
		} @{ slurp_json($file)->{series} }),
	'10/1/7/date 10/3/7/date 20/1/1/date 20/3//',
	'the others stay');
foreach my $other ('"patched" : "key', '"base" : "18.6', '"cpu" : "this')
{
	command();
	write_file($file, my $changed = read_file($file) =~ s/$other/$&x/r);
	command(case => [ 'n=1', 'rows=20' ]);
	like($said, qr/it is .*\.old now/, "another $other");
	is(@{ slurp_json($file)->{series} }, 1, 'nothing stays');
	is(read_file("$file.old"), $changed, 'nothing is lost');
}
{
	no warnings qw(redefine);
	local *PgSeries::Bench::measure = sub {
		my ($self, $of, $case) = @_;
		my %raw = (base => [100], patched => [101], ratio => 1.01);
		return {
			%$of, %raw,
			measure => 'x',
			case => $case,
			method => 'instructions'
		};
	};
	my $meta = "$dir/benchmarks/topic/one/meta.json";
	write_file($meta,
		read_file($meta) =~ s/count", "kind/instructions", "kind/r);
	is( command(
			method => 'instructions',
			case => [ 'n=1', 'rows=20' ],
			gate => $_->[0]),
		$_->[1],
		"gate $_->[0]") foreach [ 1.01, 0 ], [ 1.009, 1 ];
	like($said, qr/^pgseries: 1 cases need more than 1\.009 of base's/m,
		'says so');
	local *PgSeries::Bench::set_up = sub {
		my ($self, $values) = @_;
		PgSeries::Util::fail(2, 'no space', 'free some')
		  if $values->{rows} == 10;
	};
	command(method => 'instructions');
	is(@{ $bench->{failed} }, 3, 'a setup fails, with all its cases');
	local *PgSeries::Bench::set_up =
	  sub { PgSeries::Util::fail(130, 'interrupted', 'run again') };
	like(command(), qr/^130: /, 'an interrupt ends it');
}

# The benchmarks of the repository
my %known = map { $_ => 1 }
  qw(name label unit better method kind statement parameters generic script
  node why explain set before counted iterations loop values where);
my %metas = PgSeries::Bench::read_metas("$top/benchmarks");
foreach my $name (sort keys %metas)
{
	my ($of, @wrong) = $metas{$name};
	push @wrong, 'no case' unless PgSeries::Bench::cases($of, undef, {});
	push @wrong, 'not ASCII'
	  if read_file("$of->{dir}/meta.json") =~ /[^\x00-\x7f]/;
	foreach my $m (@{ $of->{measures} })
	{
		my %values = map { $_ => 1 } qw(low high),
		  map { keys %$_ } $of->{values}, $m->{values} || {};
		push @wrong,
		  grep { !-f "$of->{dir}/$_" } $m->{script} // $of->{setup};
		push @wrong, grep { !$known{$_} } keys %$m;
		push @wrong, grep { !/^(?:lower|higher)\z/ } $m->{better};
		push @wrong, grep { !$values{$_} } $m->{label} =~ /(?<!:):(\w+)/g,
		  keys %{ $m->{where} || {} };
	}
	is("@wrong", '', "$name: names, files and labels");
}

done_testing();
