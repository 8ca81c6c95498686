# Random tests: what they run and how they judge it, without a server.

use strict;
use warnings FATAL => 'all';

use File::Temp ();
use FindBin;
use lib "$FindBin::RealBin/../lib";
use lib "$FindBin::RealBin/lib";

use Fixture         qw(spew);
use PgSeries::Stats qw(random_integers);
use PgSeries::Stress;
use PgSeries::Stress::Crash;
use PgSeries::Stress::Generator;
use POSIX ();
use Test::More;
use Time::HiRes qw(usleep);

my $dir = File::Temp->newdir();

# The seed decides about everything.
my ($script, @cases) = PgSeries::Stress::batch(1, 250);
is((PgSeries::Stress::batch(1, 250))[0],
	$script, 'the same seed gives the same statements');
isnt((PgSeries::Stress::batch(2, 250))[0],
	$script, 'another seed gives others');
my @first = (PgSeries::Stress::batch(1, 40))[ 1 .. 41 ];
is_deeply(\@first, [ @cases[ 0 .. 40 ] ], 'fewer are the first ones');
is(scalar(grep { $_->{kind} =~ /, / } @cases),
	250, 'as many statements as asked for');
is(scalar(grep { $_->{kind} =~ /^contents/ } @cases),
	5, 'and looks at the tables between them');
is( join(' ', $script =~ /^\\echo ==== (\d+)$/mg),
	join(' ', 0 .. @cases),
	'a mark before each, and one at the end');

# What is true of all statements.
my (%kind, @bad);
for my $seed (3 .. 8)
{
	my $generator = PgSeries::Stress::Generator->new($seed);
	for (1 .. 500)
	{
		my $case = $generator->next_case;
		my @statements = @{ $case->{statements} };
		my $text = join ";\n", @statements;
		$kind{$_} = 1 for split /, /, $case->{kind};
		my $begun = grep { $_ eq 'BEGIN' } @statements;
		my $ended = grep { /^(COMMIT|ROLLBACK)$/ } @statements;
		push @bad, "a transaction stays open: $text" if $begun != $ended;
		my ($types) = $text =~ /^PREPARE p(?: \(([^)]*)\))? AS /m;
		my @types = split /, /, defined $types ? $types : '';
		push @bad, "a parameter has no type: $text"
		  if grep { $_ > @types } $text =~ /\$(\d+)/g;
		push @bad, "a statement stays prepared: $text"
		  if $text =~ /^PREPARE/m && $text !~ /^DEALLOCATE p$/m;
		push @bad, "chance decides: $text"
		  if $text =~ /random\(|now\(|current_|ctid|float|double/i;
		push @bad, "LIMIT without an order: $text"
		  if grep { / LIMIT / && !/ ORDER BY / } @statements;
		push @bad, "not the settings: @{ $case->{settings} }"
		  if grep { !/^SET \w+ = \S+$/ } @{ $case->{settings} };
	}
}
is(join("\n", @bad), '', 'rules that all statements keep');
my @missing = grep { !$kind{$_} } qw(select prepared dml ddl cursor scroll
  plain ordered join lateral aggregate distinct window set_operation append
  scalar cte extremes function values update update_from delete insert upsert
  merge call indexes sorted detach partition maintain);
is("@missing", '', 'all kinds of statements come up');
my %below;

for my $seed (1 .. 20)
{
	my $setup = PgSeries::Stress::Generator->new($seed)->setup;
	$below{$_} = 1 for $setup =~ /PARTITION OF two .* PARTITION BY (\w+)/g;
	my $many = () = $setup =~ /INDEX \w+ ON many /g;
	push @bad, "seed $seed: $many indexes" if $many != 60;
}
is(join(' ', sort keys %below), 'HASH LIST RANGE', 'two levels of each kind');
is(join("\n", @bad), '', 'a table with 60 indexes');

# Outputs, and what is shown of two that differ.
spew("$dir/out", "==== 0\nA\n==== 1\n==== 2\nB\n1|\n==== 3\n");
is_deeply(
	[ PgSeries::Stress::outputs("$dir/out") ],
	[ "A\n", '', "B\n1|\n", '' ],
	'the parts of an output');
my $long = join '', map { "$_\n" } 1 .. 100;
(my $other = $long) =~ s/^50$/x/m;
my ($one, $two) = PgSeries::Stress::shown($long, $other);
like(
	$one,
	qr/\A\(line 47\)\n47\n48\n49\n50\n.*\(34 more lines\)\n\z/s,
	'lines before the difference, and the number of those after it');
like($two, qr/^49\nx\n51$/m, 'and of the other');
($one, $two) = PgSeries::Stress::shown("a\n", undef);
is( "$one$two",
	"a\n(nothing: the session has ended)\n",
	'an output that is missing');

# The log of a server.
spew("$dir/log", <<'EOT');
[7] 00000 LOG:  database system is ready to accept connections
[8] 42883 ERROR:  function f(integer) does not exist at character 8
[8] 42883 STATEMENT:  select f(1)
[8] XX000 ERROR:  cache lookup failed for type 42
[9] 42883 ERROR:  function g(integer) does not exist at character 9
[9] 42883 STATEMENT:  select g(1)
[8] XX000 STATEMENT:  select
	  h()
[9] XX000 ERROR:  cache lookup failed for type 43
[9] XX000 STATEMENT:  select i()
EOT
my (%errors, %internal);
my @crash = PgSeries::Stress::log_findings("$dir/log", \%errors, \%internal);
is("@crash", '', 'a log without a crash');
is($errors{42883}{count}, 2, 'errors are counted');
is_deeply(
	\%internal,
	{
		'cache lookup failed for type N' => {
			count => 2,
			message => 'cache lookup failed for type 42',
			statement => "select\n  h()\n"
		}
	},
	'and internal ones are kept with the first statement');
spew("$dir/log", <<'EOT');
TRAP: failed Assert("x"), File: "a.c", Line: 1, PID: 8
[7] 00000 LOG:  client backend (PID 8) was terminated by signal 6: Aborted
[7] 00000 DETAIL:  Failed process was running: select 1
EOT
is( scalar(
		@crash =
		  PgSeries::Stress::log_findings("$dir/log", \%errors, \%internal)),
	3,
	'a crash, with the statement');

# Statements on indexes.
my @once =
  PgSeries::Stress::Crash::index_statements(random_integers('test', 5), 50);
my @again =
  PgSeries::Stress::Crash::index_statements(random_integers('test', 5), 50);
is_deeply(\@once, \@again, 'the same seed builds the same indexes');
for my $like (
	qr/^CREATE INDEX /,
	qr/^CREATE UNIQUE INDEX /,
	qr/^CREATE INDEX CONCURRENTLY /,
	qr/^REINDEX /,
	qr/^DROP INDEX /)
{
	ok((grep { /$like/ } @once), "there is $like");
}
ok( !(grep { /CONCURRENTLY.* ON (part|account) / } @once),
	'nothing that partitioned tables cannot do');

# SIGKILL for a whole family.
{

	package Family;

	sub data { my ($self) = @_; return $self->{data}; }
}
my $parent = fork();
die "fork: $!" unless defined $parent;
if ($parent == 0)
{
	for (1 .. 2)
	{
		my $pid = fork();
		die "fork: $!" unless defined $pid;
		if ($pid == 0)
		{
			spew("$dir/child$$", '');
			sleep 60;
			POSIX::_exit(0);
		}
	}
	spew("$dir/postmaster.pid", "$$\n$dir\n");
	sleep 60;
	POSIX::_exit(0);
}
usleep(50_000)
  until -s "$dir/postmaster.pid" && 2 == (() = glob "$dir/child*");
my @children = map { /child(\d+)$/ } glob "$dir/child*";
PgSeries::Stress::Crash::kill_server(bless { data => "$dir" }, 'Family');
waitpid($parent, 0);
is($? & 127, 9, 'the parent is killed');
is(scalar(grep { PgSeries::Stress::Crash::alive($_) } @children),
	0, 'and so are its children');

done_testing();
