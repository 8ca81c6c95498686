# doc/is-it-for-me.sql, on servers of the build "base" in which what it looks for is
# there, or is not, or is just below the threshold.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../lib";

use File::Path qw(remove_tree);
use File::Temp ();
use IPC::Run   ();
use PgSeries::Build;
use PgSeries::Config;
use PgSeries::Series;
use PgSeries::Server;
use PgSeries::Util qw(read_file run take_lock write_file);
use Test::More;
use Time::HiRes qw(time usleep);

my $top = "$FindBin::RealBin/../..";
my $config = PgSeries::Config->new(top => $top);
take_lock($config->work . '/lock');
my $build =
  PgSeries::Build->new($config, PgSeries::Series->new($config))
  ->describe('base');
die "there is no build \"base\": make it with src/bin/pgseries build base\n"
  unless -x "$build->{bin}/postgres";

# The servers' user must be able to read the script.
my $temp = File::Temp->newdir('pgseries-test-XXXXXX', TMPDIR => 1);
chmod 0755, "$temp" or die $!;
my $script = "$temp/is-it-for-me.sql";
write_file($script, read_file("$top/doc/is-it-for-me.sql"));

my ($GAIN, $LITTLE, $NOTHING, $UNKNOWN) =
  ('would gain', 'would gain little', 'nothing to gain here', 'cannot tell');
my @TOPICS = qw(indexes partitions locks merge parallel-sort nbtree fixes);

my %settings = (
	autovacuum => 'off',
	default_toast_compression => 'pglz',
	fsync => 'off',
	max_connections => 20,
	shared_buffers => '64MB',
	shared_preload_libraries => 'pg_stat_statements');
my $server = PgSeries::Server->new(
	$config, $build,
	name => 'is-it-for-me',
	settings => \%settings);
$server->create;
$server->start;

# Runs the script; returns { TOPIC => [ verdict, text ] }, with all it printed as
# "all", what it said on standard error as "err", and psql's status.
sub ask
{
	my ($database, %opt) = @_;
	my $on = $opt{server} || $server;
	my $status = $on->client(
		[
			qw(psql -X -v ON_ERROR_STOP=1),
			@{ $opt{options} || [] },
			'-d', $database, '-U', $opt{user} || 'postgres',
			'-f', $script
		],
		env => $opt{env} || {},
		out => \my $out,
		err => \my $err);
	my %found = (all => $out, err => $err, status => $status);
	$found{$1} = [ $2, join ' ', split ' ', $3 ]
	  while $out =~ /^(\S+) +(.*)\n((?: {6}.*\n)+)/mg;
	return \%found;
}

# Verdicts of topics, and what the text says.
sub verdicts
{
	my ($what, $found, %want) = @_;
	for my $topic (grep { exists $want{$_} } @TOPICS)
	{
		my ($verdict, @says) =
		  ref $want{$topic} ? @{ $want{$topic} } : $want{$topic};
		is($found->{$topic}[0], $verdict, "$what: $topic: $verdict")
		  or diag($found->{$topic}[1], $found->{err});
		like($found->{$topic}[1], $_, "$what: $topic says so") for @says;
	}
	is("$found->{status}$found->{err}", '0', "$what: no error");
	return;
}

sub database
{
	my ($name, @sql) = @_;
	$server->sql("create database $name");
	$server->sql(join(";\n", @sql, 'select pg_stat_force_next_flush()'),
		database => $name);
	return;
}

# SQL that makes a partitioned table p(k, v, w) of so many partitions.
sub partitions
{
	my ($count, $method) = @_;
	$method ||= 'hash';
	my $bounds =
	  $method eq 'hash'
	  ? "with (modulus $count, remainder %s)"
	  : 'from (%s) to (%s)';
	return
		"create table p (k int, v int, w int) partition by $method (k);"
	  . "select format('create table p%s partition of p for values $bounds', i, i, i + 1)"
	  . " from generate_series(0, $count - 1) i \\gexec\n";
}

sub repeat { my ($n, $sql) = @_; return ($sql) x $n; }

# So many scans of a table without an index on the column.
sub scans
{
	my ($table, $count) = @_;
	return "do \$\$ begin for i in 1..$count loop"
	  . " perform from $table where v = i; end loop; end \$\$";
}

sub indexes
{
	my ($table, $count) = @_;
	return map { "create index on $table (v)" } 1 .. $count;
}

my $FORGET = 'select pg_stat_statements_reset(0, oid) from pg_database'
  . ' where datname = current_database()';
my $WATCH = "create extension pg_stat_statements; $FORGET";

# Nothing is there.
database('empty');
my $empty = ask('empty');
verdicts('empty database', $empty, map { $_ => $NOTHING } @TOPICS);
is( join(' ', $empty->{all} =~ /^(\S+) {2}/mg),
	'Database indexes partitions locks merge nbtree fixes Extensions',
	'one paragraph each');
like($empty->{all}, qr/^Database +empty$/m, 'it names the database');
like(
	$empty->{Database}[1],
	qr/^PostgreSQL 18\.\d+.*Statistics count since the database was made/,
	'the server, and since when it counts');
like(
	$empty->{Database}[1],
	qr/pg_stat_statements cannot be used/,
	'what it could not use');
is($empty->{Extensions}[0], 'none known to crash it', 'no extension');

# Everything is there.
database(
	'everything',
	partitions(100),
	indexes('p', 10),
	'create unique index on p (k)',
	'insert into p select i, i, i from generate_series(1, 2000) i',
	'create table q (v int, k int, w int)',
	'alter table p detach partition p1',
	'drop table p1',
	'alter table p attach partition q for values with (modulus 100, remainder 1)',
	'create table t (v int, w int) with (fillfactor = 100)',
	'create index narrow on t (v)',
	'insert into t select i, i from generate_series(1, 2000) i',
	'analyze t',
	'update t set v = v + 1',
	'update p set w = w + 1',
	scans('p', 20),
	$WATCH,
	'prepare s as select w from p where k = $1',
	repeat(30, 'execute s (1)'),
	'set enable_seqscan = off; set enable_sort = off',
	repeat(50, 'select v from p order by v limit 10'),
	repeat(20, 'reindex index narrow'),
	q{update pg_class set relpages = 2048 where relname = 'narrow'});
my $all = ask('everything');
verdicts(
	'everything',
	$all,
	indexes => [ $GAIN, qr/public\.p \(11 indexes, [\d,]{4,} scans, / ],
	partitions =>
	  [ $GAIN, qr/public\.p \(100\)/, qr/ 80 name a table .* In 30, a plan/ ],
	locks => [ $GAIN, qr/all of public\.p locks 1,212 .* 64 slots/ ],
	merge => [ $GAIN, qr/public\.p \(11 indexes, [1-9]/ ],
	'parallel-sort' => [ $GAIN, qr/public\.narrow \(16 MB\)/ ],
	nbtree => [
		$GAIN,
		qr/public\.t \(2,000 of 2,000 updates, 2,000 rows; B-trees have \d+ /
	],
	fixes => [
		$GAIN,
		qr/prune partitions while they run/,
		qr/columns of 1 partitions are in another order/
	]);
unlike($all->{fixes}[1], qr/partitions are attached/, 'no sub-partitions');

# Just below the thresholds, or seldom used.
database(
	'little',
	partitions(99),
	indexes('p', 1),
	'create table t (v int)',
	indexes('t', 10),
	'create table u (v int, w int)',
	'create index wide on u (v)',
	'insert into u select i, i from generate_series(1, 2001) i',
	'analyze u',
	'update u set v = v + 1 where w <= 2000',
	scans('u', 1000),
	'prepare s as select w from p where k = $1',
	$WATCH,
	repeat(30, 'execute s (1)'),
	'set enable_seqscan = off; set enable_sort = off',
	repeat(5, 'select v from p where v = 1'),
	repeat(50, 'select v from u order by w'),
	q{update pg_class set relpages = 2048 where relname = 'wide'});
verdicts(
	'little',
	ask('little'),
	indexes => [ $LITTLE, qr/public\.t \(10 indexes, 10 scans, 0 updates/ ],
	partitions => $LITTLE,
	locks => [ $LITTLE, qr/all of public\.p locks 200 / ],
	merge => $LITTLE,
	'parallel-sort' => $LITTLE,
	nbtree => [ $LITTLE, qr/2,000 of 2,000 updates, 2,001 rows/ ],
	fixes => [ $LITTLE, qr/attached with other bounds/ ]);

# Without statistics on statements; little traffic; a range index in the order of
# the partitions.
database(
	'unclear',
	partitions(100),
	indexes('p', 1),
	'set enable_seqscan = off; select from p where v = 1',
	'create table t (v int)',
	indexes('t', 10),
	q{update pg_class set relpages = 131071 where relname = 't_v_idx'});
verdicts(
	'unclear',
	ask('unclear'),
	indexes => [ $UNKNOWN, qr/too few/ ],
	partitions => [ $UNKNOWN, qr/drivers prepare/ ],
	merge => [ $UNKNOWN, qr/only pg_stat_statements/ ],
	'parallel-sort' => [ $LITTLE, qr/only pg_stat_statements/ ]);
$server->sql(
	q{update pg_class set relpages = 131072 where relname = 't_v_idx'},
	database => 'unclear');
verdicts('an index of 1 GB',
	ask('unclear'), 'parallel-sort' => [ $GAIN, qr/ 1024 MB/ ]);
$server->sql(
	'alter database unclear set max_parallel_maintenance_workers = 0');
verdicts('no workers', ask('unclear'),
	'parallel-sort' => [ $LITTLE, qr/allow no worker/ ]);

# Below all thresholds.
database(
	'below',
	partitions(8, 'range'),
	'create index on p (k)',
	'create index on only p (v)',
	'create table t (v int)',
	indexes('t', 9),
	'insert into t select i from generate_series(1, 2003) i',
	'analyze t',
	'update t set v = v + 1 where v <= 1001',
	scans('t', 1000),
	'create table u (v int, w int)',
	'create index wide on u (v)',
	'insert into u values (1, 1)',
	repeat(2000, 'update u set w = w + 1'),
	q{update pg_class set relpages = 2047 where relname = 'wide'});
verdicts(
	'below',
	ask('below'),
	indexes => $NOTHING,
	partitions => $LITTLE,
	merge => $NOTHING,
	'parallel-sort' => $NOTHING,
	nbtree => $NOTHING);

# Eight partitions, seven partitions; generic plans.
for my $count (8, 7)
{
	database(
		"generic$count",
		partitions($count),
		indexes('p', 1),
		$WATCH,
		'set plan_cache_mode = force_generic_plan',
		'set pg_stat_statements.track_planning = on',
		'prepare s as select w from p where k = $1',
		repeat(10, 'execute s (1)'),
		'set enable_seqscan = off; set enable_sort = off',
		repeat(50, 'select v from p order by v limit 10'));
	verdicts(
		"$count partitions",
		ask("generic$count"),
		partitions => $count == 8 ? [ $GAIN, qr/ In 9, a plan/ ] : $LITTLE,
		merge => $count == 8 ? $GAIN : $NOTHING);
	$server->sql($FORGET, database => "generic$count");
	verdicts("$count partitions, no statements",
		ask("generic$count"), partitions => $LITTLE);
	$server->sql(
		"alter database generic$count set plan_cache_mode = force_generic_plan"
	);
	verdicts("$count partitions, generic plans wanted",
		ask("generic$count"),
		partitions => $count == 8 ? [ $GAIN, qr/is in use/ ] : $LITTLE);
}

# Partitions that are partitioned again.
database(
	'sub',
	'create table p (k int, v int) partition by list (k)',
	'create table p1 partition of p for values in (1) partition by list (v)');
verdicts('sub-partitions', ask('sub'),
	fixes => [ $GAIN, qr/attached or detached/ ]);

# Sessions at work.
my ($in, $out) = ("begin;\n", '');
my $session = IPC::Run::start(
	[
		"$build->{bin}/psql", qw(-XAtq -U postgres -d everything),
		'-h', $server->socket_dir
	],
	'<',
	\$in,
	'>',
	\$out,
	IPC::Run::timeout(60));

sub busy
{
	my ($sql) = @_;
	$out = '';
	$in .= "$sql;\n\\echo done\n";
	$session->pump until $out =~ /done/;
	return;
}
busy('select v from p0 where v = 1');
verdicts('12 locks in a session',
	ask('empty'), locks => [ $NOTHING, qr/12 weak locks.* one with 12/ ]);
busy('select v from p2 where v = 1');
verdicts('24 locks in a session',
	ask('empty'), locks => [ $LITTLE, qr/ 1 sessions with more than 16/ ]);
busy('rollback; begin; lock t in share mode; lock t in access share mode');
verdicts('a lock off the fast path',
	ask('empty'), locks => [ $LITTLE, qr/1 weak locks.* 1 of them not/ ]);
busy('rollback; begin; lock p, t');
verdicts(
	'nobody can use the tables',
	ask('everything'),
	map { $_ => $GAIN } @TOPICS);
busy('rollback; begin; lock pg_partitioned_table');
my $failed = ask('everything');
is($failed->{merge}[0], $UNKNOWN, 'it does not wait for a lock');
like($failed->{err}, qr/lock timeout/, 'it says why');
is($failed->{status}, 0, 'that is not the end');
is($failed->{nbtree}[0], $GAIN, 'other topics are as before');
$server->sql(
	'insert into p select i, i, i from generate_series(1, 8) i;'
	  . q{update pg_class set relpages = 2048 where relname = 'p1_v_idx';}
	  . 'create function slow(int) returns int immutable language sql'
	  . ' as $$ select $1 from pg_sleep(0.2) $$',
	database => 'generic7');
my $indexing = IPC::Run::start(
	[
		"$build->{bin}/psql", qw(-Xq -U postgres -d generic7),
		'-h', $server->socket_dir,
		'-c', 'create index on p (slow(v))'
	],
	IPC::Run::timeout(60));

for (1 .. 100)
{
	last
	  if $server->sql('select count(*) from pg_stat_progress_create_index');
	usleep(20_000);
}
verdicts('an index is built',
	ask('generic7'), 'parallel-sort' => [ $GAIN, qr/builds now: 1/ ]);
$indexing->finish;
$server->sql($FORGET, database => 'generic7');
verdicts('no index is built',
	ask('generic7'), 'parallel-sort' => [ $LITTLE, qr/builds now: 0/ ]);
$in .= "\\q\n";
$session->finish;

# A user without privileges.
$server->sql('create role anybody login');
my $anybody = ask('everything', user => 'anybody');
verdicts(
	'any user', $anybody,
	indexes => $GAIN,
	partitions => $UNKNOWN,
	locks => [ $GAIN, qr/lock manager: hidden/ ],
	merge => $UNKNOWN,
	nbtree => [ $GAIN, qr/2,000 rows; B-trees/ ],
	fixes => $GAIN);
like(
	$anybody->{Database}[1],
	qr/hidden .* member of pg_monitor/,
	'it says what helps');
verdicts(
	'any user, empty database',
	ask('empty', user => 'anybody'),
	locks => $UNKNOWN);
$server->sql('grant pg_monitor to anybody');
my $monitor = ask('everything', user => 'anybody');
verdicts(
	'a member of pg_monitor',
	$monitor,
	partitions => $GAIN,
	merge => $GAIN);
unlike($monitor->{Database}[1], qr/pg_monitor/, 'nothing is hidden');

# It writes nothing, reads no rows, and leaves the session as it was.
sub traces
{
	return $server->sql(
		"select pg_snapshot_xmax(pg_current_snapshot());"
		  . "select sum(seq_scan), sum(idx_scan), sum(n_tup_ins + n_tup_upd + n_tup_del)"
		  . " from pg_stat_user_tables;"
		  . "select sum(heap_blks_read + heap_blks_hit + idx_blks_read + idx_blks_hit)"
		  . " from pg_statio_user_tables;"
		  . "select tup_inserted, tup_updated, tup_deleted, temp_files"
		  . " from pg_stat_database where datname = current_database()",
		database => 'everything');
}
my $before = traces();
verdicts(
	'read only',
	ask('everything',
		env => { PGOPTIONS => '-c default_transaction_read_only=on' }),
	indexes => $GAIN);
is(traces(), $before,
	'no transaction ID, no scan of a table, no row written');
for my $state ('on', 'off')
{
	my $set = "\\set ON_ERROR_STOP $state\n\\set AUTOCOMMIT $state\n";
	is( $server->sql(
			"$set\\i $script\n\\echo /:AUTOCOMMIT/:ON_ERROR_STOP/:QUIET/\n")
		  =~ m{/$state/$state/on/$},
		1,
		"psql's variables are as before: $state");
}
like(
	$server->sql(
		"begin;\n\\i $script\nselect 'still ' || pg_current_xact_id();"),
	qr/^There is an open transaction.*\nstill/,
	'an open transaction is left alone');
cmp_ok(length((sort { length $b <=> length $a } split /\n/, $all->{all})[0]),
	'<=', 100, 'lines of at most 100 columns');

like(
	$server->sql(
		"\\set SERVER_VERSION_NUM 170004\n\\set SERVER_VERSION_NAME 17.4\n\\i $script\n"
	),
	qr/^is-it-for-me.sql is for PostgreSQL 18\. .* 17\.4$/,
	'one line for another version');

# A name with all that could break the form.
my $odd = qq{"it's\n\t\e%s :x \\ \\q"};
database(
	'odd',
	"create table $odd (v int)",
	indexes($odd, 10),
	scans($odd, 1000));
verdicts('an odd name', ask('odd'),
	indexes => [ $GAIN, qr/public\."it's\?\?\?%s :x \\ \\q" \(10/ ]);

# Statistics that were reset, or are not gathered.
$server->sql('select pg_stat_reset()', database => 'odd');
like(ask('odd')->{Database}[1], qr/count since \d{4}-.* little yet/, 'reset');
$server->sql('alter database everything set track_counts = off');
my $uncounted = ask('everything');
verdicts('not counted', $uncounted, nbtree => $UNKNOWN);
like($uncounted->{Database}[1], qr/track_counts is off/, 'it says so');
$server->sql('alter database everything reset track_counts');

# A standby.
my $standby = PgSeries::Server->new(
	$config, $build,
	name => 'is-it-for-me-standby',
	settings => {
		%settings,
		primary_conninfo => 'user=postgres host=' . $server->socket_dir
	});
$standby->create;
remove_tree($standby->data, { keep_root => 1 });
run([ "$build->{bin}/pg_basebackup", qw(-R -N -cfast -D), $standby->data ],
	env => $server->environment,
	user => $config->user,
	what => 'pg_basebackup');
$standby->start;
verdicts(
	'standby',
	ask('everything', server => $standby),
	indexes => $UNKNOWN,
	'parallel-sort' => [ $NOTHING, qr/A standby builds no index/ ],
	nbtree => [ $UNKNOWN, qr/primary/ ],
	locks => $GAIN);
$standby->sql(join(";\n", scans('t', 1000), 'select count(*) from p'),
	database => 'everything');
my $replay = ask('everything', server => $standby);
verdicts('standby with traffic',
	$replay, indexes => [ $LITTLE, qr/A standby locks all/ ]);
like($replay->{Database}[1], qr/a standby, which/, 'it says that it is one');
$standby->stop;

# Many tables.
$server->sql('create database crowd');

sub crowd
{
	my ($count, $table) = @_;
	return
	  "do \$\$ begin for i in 1..$count loop execute format('$table', i, i);"
	  . ' if i % 200 = 0 then commit; end if; end loop; end $$;';
}
$server->sql(
	'create table p (k int, v int) partition by list (k);'
	  . 'create index on p (v);'
	  . crowd(1000, 'create table p%s partition of p for values in (%s)')
	  . crowd(1000, 'create table u%s (k int unique)')
	  . crowd(18000, 'create table t%s (k int)'),
	database => 'crowd');
note(sprintf '%.1f seconds so far', time - $^T);
my $start = time;
my $crowd = ask('crowd');
my $seconds = time - $start;
cmp_ok($seconds, '<', 20, 'seconds for 20,000 tables');
note(sprintf '%.1f seconds for 20,000 tables', $seconds);
verdicts(
	'20,000 tables', $crowd,
	indexes => $NOTHING,
	locks => $GAIN,
	merge => $LITTLE);

# Extensions that crash: an empty one, and the library of something harmless.
my @known = qw(pg_qualstats rum);
mkdir "$temp/extension" or die $!;
for my $name (@known)
{
	write_file("$temp/extension/$name.control", "default_version = '1'\n");
	write_file("$temp/extension/$name--1.sql", "select 1;\n");
}
my ($library) = grep { -f }
  glob("$build->{inst}/lib{,/*}/postgresql/latin2_and_win1250.so");
for my $name (qw(pg_wait_sampling pgsentinel))
{
	write_file("$temp/$name.so", read_file($library));
}
$server->stop;
$settings{shared_preload_libraries} .= ", $temp/pgsentinel";
$settings{extension_control_path} = "$temp:\$system";
$server->start;
$server->sql(join(';', map { "create extension $_" } @known),
	database => 'empty');
my $crash = ask('empty');
is($crash->{Extensions}[0], 'can crash the server', 'extensions');
my @crash = $crash->{Extensions}[1] =~ /(\w+) crashes a server with/g;
is("@crash", 'pg_qualstats pgsentinel rum', 'those that are there');
like(
	$crash->{Extensions}[1],
	qr/don't exchange the server under it/,
	'what to do');
$server->sql(
	"alter database below set session_preload_libraries = '$temp/pg_wait_sampling'"
);
my $loaded = ask('below', user => 'anybody');
like(
	$loaded->{Extensions}[1],
	qr/^pg_wait_sampling .* pgsentinel /,
	'libraries, any user');

$server->stop;
remove_tree($_->data) for $server, $standby;
done_testing();
