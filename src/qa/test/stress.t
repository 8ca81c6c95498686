# Random tests: what they run and how they judge it, without a server.

use strict;
use warnings FATAL => 'all';

use File::Temp ();
use FindBin;
use lib "$FindBin::RealBin/..", "$FindBin::RealBin/../../lib";

use PgSeries::Stress;
use PgSeries::Stress::Crash;
use PgSeries::Stress::Generator;
use PgSeries::Util qw(read_file write_file);
use POSIX          ();
use Test::More;
use Time::HiRes qw(usleep);

my $dir = File::Temp->newdir();

# The seed decides about everything.
my ($script, @cases) = PgSeries::Stress::batch(1, 250);
is((PgSeries::Stress::batch(1, 250))[0],
	$script, 'the same seed gives the same statements');
isnt((PgSeries::Stress::batch(2, 250))[0], $script, 'another gives others');
my @first = (PgSeries::Stress::batch(1, 40))[ 1 .. 41 ];
is_deeply(\@first, [ @cases[ 0 .. 40 ] ], 'fewer are the first ones');
is( join(' ', map { $cases[$_]{kind} } grep { $_ % 51 == 0 } 0 .. $#cases),
	'schema' . ' contents of the tables' x 5,
	'as many statements as asked for, with looks at the tables between them');
is( join(' ', $script =~ /^\\echo ==== (\d+)$/mg),
	join(' ', 0 .. @cases),
	'a mark before each, and one at the end');

# What is true of all statements, and that all kinds come up.
my (%kind, @bad, $all);
for my $seed (3 .. 8)
{
	my $generator = PgSeries::Stress::Generator->new($seed);
	my $setup = $generator->setup;
	my $many = () = $setup =~ /INDEX \w+ ON many /g;
	push @bad, "seed $seed: $many indexes of one table" if $many != 60;
	$all .= $setup;
	for (1 .. 500)
	{
		my $case = $generator->next_case;
		my @statements = @{ $case->{statements} };
		my $text = join ";\n", @statements;
		$all .= "$text;\n";
		$kind{$_} = 1 for split /, /, $case->{kind};
		my @types = split /, /,
		  ($text =~ /^PREPARE p \((.*?)\) AS/m)[0] // '';
		push @bad,
		  "$seed: $_->[0]: $text"
		  for grep { $_->[1] } (
			[
				'a transaction stays open',
				(() = $text =~ /^BEGIN;$/mg) !=
				  (() = $text =~ /^(?:COMMIT|ROLLBACK);?$/mg)
			],
			[
				'a parameter has no type',
				grep { $_ > @types } $text =~ /\$(\d+)/g
			],
			[
				'it stays prepared',
				$text =~ /^PREPARE/m && $text !~ /^DEALLOCATE p$/m
			],
			[
				'chance decides',
				$text =~ /random\(|now\(|current_|ctid|float|double/i
			],
			[
				'LIMIT without an order',
				grep { / LIMIT / && !/ ORDER BY / } @statements
			],
			[ 'text of the grammar', $text =~ /#|~|\@|\{[^\d]|\?\d|\( ?= / ],
			[
				'no setting',
				grep { !/^SET \w+ = \S+$/ } @{ $case->{settings} }
			]);
	}
}
is(join("\n", @bad), '', 'rules that all statements keep');
my @missing = grep { !$kind{$_} } qw(select prepared dml ddl cursor
  plain ordered join lateral aggregate distinct window set_operation append
  scalar cte extremes function values update update_from delete insert upsert
  merge call indexes sorted detach partition maintain);
is("@missing", '', 'all kinds of statements come up');

# Those that have found errors: rows that move between partitions, plans of both
# kinds, cursors that go back, partitions that come and go, other column orders.
for my $like (
	qr/UPDATE \w+ t SET k = /,
	qr/INSERT INTO rng AS t .* DO UPDATE SET k = /,
	qr/MERGE INTO \w+ t .* WHEN NOT MATCHED BY SOURCE/,
	qr/plan_cache_mode = force_generic_plan;\nPREPARE .* \$1.*;\n(?:EXECUTE.*;\n){3}/,
	qr/plan_cache_mode = auto;\nPREPARE/,
	qr/DECLARE c SCROLL CURSOR(?:.*\n)*?FETCH BACKWARD/,
	qr/DETACH PARTITION \w+ CONCURRENTLY;\nEXECUTE/,
	qr/DROP COLUMN junk/,
	qr/PARTITION OF two .* PARTITION BY HASH/,
	qr/PARTITION OF two .* PARTITION BY LIST/,
	qr/PARTITION OF two .* PARTITION BY RANGE/,
	qr/same\(\$\d\)/)
{
	like($all, $like, "there is $like");
}

# The parts of an output; the log of a server, without and with a crash.
write_file("$dir/out", "==== 0\nA\n==== 1\n==== 2\nB\n1|\n==== 3\n");
is_deeply(
	[ PgSeries::Stress::outputs("$dir/out") ],
	[ "A\n", '', "B\n1|\n", '' ],
	'the parts of an output');
write_file("$dir/log", <<'EOT');
[7] 00000 LOG:  database system is ready to accept connections
[8] 42883 ERROR:  function f(integer) does not exist at character 8
[8] 42883 STATEMENT:  select f(1)
[8] XX000 ERROR:  cache lookup failed for type 42
[9] 42883 ERROR:  function f(integer) does not exist at character 9
[9] 42883 STATEMENT:  select f(1)
[8] XX000 STATEMENT:  select
	  h()
[9] XX000 ERROR:  cache lookup failed for type 43
[9] XX000 STATEMENT:  select i()
[9] XX000 ERROR:  lost
[9] 42883 ERROR:  function f(integer) does not exist at character 9
[9] 42883 STATEMENT:  select f(1)
EOT
my %internal;
is(join(' ', PgSeries::Stress::log_findings("$dir/log", \%internal)),
	6, 'errors are counted, in a log without a crash');
my $same = 'cache lookup failed for type';
is_deeply(
	\%internal,
	{
		"$same N" => {
			count => 2,
			message => "$same 42",
			statement => "select\n  h()"
		},
		lost => { count => 1, message => 'lost' }
	},
	'internal ones are kept with the first statement');
write_file("$dir/log", <<'EOT');
[7] 00000 LOG:  starting
TRAP: failed Assert("x"), File: "a.c", Line: 1, PID: 8
[7] 00000 LOG:  client backend (PID 8) was terminated by signal 6: Aborted
[7] 00000 DETAIL:  Failed process was running: select 1
EOT
my (undef, @crash) = PgSeries::Stress::log_findings("$dir/log", \%internal);
is(scalar @crash, 3, 'a crash, with the statement');

# Statements on indexes.
my @made = map {
	srand $_;
	join ";\n", PgSeries::Stress::Crash::index_statements(60)
} 5, 5, 6;
ok( $made[0] eq $made[1] && $made[0] ne $made[2],
	'the seed decides about the indexes');
like($made[0], $_, "there is $_")
  for qr/^CREATE INDEX made_\d/m, qr/^CREATE UNIQUE INDEX made/m,
  qr/^CREATE INDEX CONCURRENTLY made/m, qr/^REINDEX /m, qr/^DROP INDEX /m;
my @whole = $made[0] =~ /made_(\d+) ON (?:part|account) /g;
my $several = join '|', @whole;
unlike(
	$made[0],
	qr/CONCURRENTLY[^;]* made_(?:$several)\b/,
	'nothing that partitioned tables cannot do');

# SIGKILL for a whole family.
sub Family::data { return "$dir"; }
my $child = sub {
	my $pid = fork();
	die "fork: $!" unless defined $pid;
	return $pid if $pid;
	$_[0]->();
	sleep 60;
	POSIX::_exit(0);
};
my $parent = $child->(
	sub {
		my @pids = map {
			$child->(sub { })
		} 1, 2;
		write_file("$dir/postmaster.pid", "$$\n@pids\n");
	});
usleep(50_000) until -s "$dir/postmaster.pid";
my ($children) = read_file("$dir/postmaster.pid") =~ /\n(.*)\n/;
PgSeries::Stress::Crash::kill_server(bless {}, 'Family');
waitpid($parent, 0);
is($? & 127, 9, 'the parent is killed');
my %process = PgSeries::Stress::Crash::processes();
ok($process{$$}, 'this process is known');
is( scalar(
		grep { $process{$_} && $process{$_}[0] ne 'Z' } split / /, $children),
	0,
	'and so are its children');

done_testing();
