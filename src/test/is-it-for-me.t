# doc/is-it-for-me.sql, on servers of the build "base" in which what it looks for is
# there, or is not, or is just below the threshold.

use strict;
use warnings FATAL => 'all';

use FindBin;
use lib "$FindBin::RealBin/../lib", "$FindBin::RealBin/lib";

use Base       qw(base_build);
use File::Path qw(remove_tree);
use File::Temp ();
use IPC::Run   ();
use PgSeries::Server;
use PgSeries::Util qw(read_file run write_file);
use Test::More;

my $top = "$FindBin::RealBin/../..";
my ($config, $build) = base_build();

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
is($server->sql('show listen_addresses'),
	'', 'servers of the tool have no TCP');

# Runs the script on a database.  What it says of a topic has to be the verdict wanted,
# and its text like the patterns that follow.  Returns all that it printed.
our ($on, $user, $options, $error) = ($server, 'postgres', '', qr/^\z/);

sub check
{
	my ($database, %want) = @_;
	my $status = $on->client(
		[
			qw(psql -X -v ON_ERROR_STOP=1 -U),
			$user, '-d', $database, '-f', $script
		],
		env => { PGOPTIONS => $options },
		out => \my $out,
		err => \my $err);
	my %found;
	$found{$1} = [ $2, join ' ', split ' ', $3 ]
	  while $out =~ /^(\S+) +(.*)\n((?: {6}.*\n)+)/mg;
	for my $topic (sort keys %want)
	{
		my ($verdict, @says) =
		  ref $want{$topic} ? @{ $want{$topic} } : $want{$topic};
		is($found{$topic}[0], $verdict, "$database: $topic: $verdict")
		  or diag($found{$topic}[1], $err);
		like($found{$topic}[1], $_, "$database: $topic says so") for @says;
	}
	like($err, $error, "$database: errors");
	is($status, 0, "$database: exit status");
	return $out;
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
	return repeat($count, "create index on $table (v)");
}

# So many pages by the catalogs.
sub pages
{
	my ($index, $pages) = @_;
	return "update pg_class set relpages = $pages where relname = '$index'";
}

my $FORGET = 'select pg_stat_statements_reset(0, oid) from pg_database'
  . ' where datname = current_database()';
my $WATCH = "create extension pg_stat_statements; $FORGET";
my $NO_SORT = 'set enable_seqscan = off; set enable_sort = off';

# Nothing is there.
database('empty');
my $out = check(
	'empty',
	(map { $_ => $NOTHING } @TOPICS),
	fixes => $LITTLE,
	Database => [
		'empty',
		qr/^PostgreSQL 18\.\d+.*Statistics count since the database was made/,
		qr/pg_stat_statements cannot be used/
	]);
is( join(' ', $out =~ /^(\S+) {2}/mg),
	'Database indexes partitions locks merge nbtree fixes',
	'one paragraph each');

# Everything is there.
database(
	'everything',
	partitions(100),
	indexes('p', 10),
	'create unique index on p (k); insert into p select i, i, i from generate_series(1, 2000) i',
	'create table q (v int, k int, w int); alter table p detach partition p1; drop table p1',
	'alter table p attach partition q for values with (modulus 100, remainder 1)',
	'create table t (v int, w int) with (fillfactor = 100); create index narrow on t (v)',
	'insert into t select i, i from generate_series(1, 2000) i; analyze t; update t set v = v + 1',
	'update p set w = w + 1',
	scans('p', 20),
	$WATCH,
	'prepare s as select w from p where k = $1',
	repeat(30, 'execute s (1)'),
	$NO_SORT,
	repeat(50, 'select v from p order by v limit 10'),
	repeat(20, 'reindex index narrow'),
	pages('narrow', 2048));
$out = check(
	'everything',
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
is(join("\n", grep { length > 100 } split /\n/, $out),
	'', 'lines of at most 100 columns');

# Just below the thresholds, or seldom used.
database(
	'little',
	partitions(8),
	indexes('p', 2),
	'create table t (v int)',
	indexes('t', 10),
	'create table u (v int, w int); create index wide on u (v)',
	'insert into u select i, i from generate_series(1, 2001) i; analyze u',
	'update u set v = v + 1 where w <= 2000',
	scans('u', 1000),
	$WATCH,
	$NO_SORT,
	'select v from p where v = 1',
	repeat(120, 'select v from u order by w'),
	pages('wide', 256));
check(
	'little',
	(map { $_ => $LITTLE } @TOPICS),
	indexes => [ $LITTLE, qr/public\.t \(10 indexes, 10 scans, 0 updates/ ],
	locks => [ $LITTLE, qr/all of public\.p locks 27 / ],
	nbtree => [ $LITTLE, qr/2,000 of 2,000 updates, 2,001 rows/ ],
	fixes => [ $LITTLE, qr/attached with other bounds/ ]);

# Without statistics on statements; little traffic; a large index.
database(
	'unclear',
	partitions(100),
	indexes('p', 1),
	'set enable_seqscan = off; select from p where v = 1; create table t (v int)',
	indexes('t', 10),
	pages('t_v_idx', 131071));
check(
	'unclear',
	indexes => [ $UNKNOWN, qr/too few/ ],
	partitions => [ $UNKNOWN, qr/drivers prepare/ ],
	merge => [ $UNKNOWN, qr/only pg_stat_statements/ ],
	'parallel-sort' => [ $LITTLE, qr/only pg_stat_statements/ ]);
$server->sql(pages('t_v_idx', 131072), database => 'unclear');
check('unclear', 'parallel-sort' => [ $GAIN, qr/ 1024 MB/ ]);

# Below all thresholds; indexes in the order of the ranges.
database(
	'below',
	partitions(8, 'range'),
	'create index on p (k); create index on only p (v); create table t (v int)',
	indexes('t', 9),
	'insert into t select i from generate_series(1, 2003) i; analyze t',
	'update t set v = v + 1 where v <= 1001',
	scans('t', 1000),
	'create table u (v int, w int); create index wide on u (v); insert into u values (1, 1)',
	repeat(2000, 'update u set w = w + 1'),
	pages('wide', 255));
check(
	'below',
	partitions => $UNKNOWN,
	map { $_ => $NOTHING } qw(indexes merge parallel-sort nbtree));

# Eight partitions, seven partitions; generic plans.
for my $count (8, 7)
{
	my $name = "generic$count";
	my @gain = $count == 8 ? $GAIN : $LITTLE;
	database(
		$name,
		partitions($count),
		indexes('p', 1),
		$WATCH,
		'set plan_cache_mode = force_generic_plan; set pg_stat_statements.track_planning = on',
		'prepare s as select w from p where k = $1',
		repeat(10, 'execute s (1)'),
		$NO_SORT,
		repeat(50, 'select v from p order by v limit 10'));
	check(
		$name,
		partitions => [ @gain, (qr/ In 10, a plan/) x ($count == 8) ],
		merge => $count == 8 ? $GAIN : $NOTHING);
	$server->sql($FORGET, database => $name);
	check($name, partitions => $LITTLE);
	$server->sql(
		"alter database $name set plan_cache_mode = force_generic_plan");
	check($name, partitions => \@gain);
}

# Partitions that are partitioned again.
database(
	'sub',
	'create table p (k int, v int) partition by list (k)',
	'create table p1 partition of p for values in (1) partition by list (v)');
check('sub', fixes => [ $GAIN, qr/attached or detached/ ]);

# A session at work: what it locks is counted, and not waited for.
my ($in, $said) = ("begin;\n", '');
my $session = IPC::Run::start(
	[
		"$build->{bin}/psql", qw(-XAtq -U postgres -d everything),
		'-h', $server->socket_dir
	],
	'<',
	\$in,
	'>',
	\$said,
	IPC::Run::timeout(60));

# Begins a transaction.
sub busy
{
	my ($sql) = @_;
	$said = '';
	$in .= "rollback; begin; $sql;\n\\echo done\n";
	$session->pump until $said =~ /done/;
	return;
}
busy('select from p0 where v = 1');
check('empty', locks => [ $NOTHING, qr/12 weak locks.* one with 12/ ]);
busy('select from p0, p2 where p0.v = p2.v');
check('empty', locks => [ $LITTLE, qr/ 1 sessions with more than 16/ ]);
busy('lock t in share mode; lock t in access share mode');
check('empty', locks => [ $LITTLE, qr/1 weak locks.* 1 of them not/ ]);
busy('lock p, t');
check('everything', map { $_ => $GAIN } @TOPICS);
busy('lock pg_partitioned_table');
{
	local $error = qr/lock timeout/;
	check('everything', merge => $UNKNOWN, nbtree => $GAIN);
}
$in .= "\\q\n";
$session->finish;

# A user without privileges.
$server->sql('create role anybody login');
$user = 'anybody';
check(
	'everything',
	indexes => $GAIN,
	partitions => $UNKNOWN,
	locks => [ $GAIN, qr/lock manager: hidden/ ],
	merge => $UNKNOWN,
	nbtree => [ $GAIN, qr/2,000 rows; B-trees/ ],
	fixes => $GAIN,
	Database => [ 'everything', qr/hidden .* member of pg_monitor/ ]);
check('empty', locks => $UNKNOWN);
$server->sql('grant pg_monitor to anybody');
$out = check('everything', partitions => $GAIN, merge => $GAIN);
unlike($out, qr/pg_monitor/, 'nothing is hidden');
$user = 'postgres';

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
$options = '-c default_transaction_read_only=on';
check('everything', indexes => $GAIN);
$options = '';
is(traces(), $before,
	'no transaction ID, no scan of a table, no row written');
for my $state ('on', 'off')
{
	my $set = "\\set ON_ERROR_STOP $state\n\\set AUTOCOMMIT $state\n";
	like(
		$server->sql(
			"$set\\i $script\n\\echo /:AUTOCOMMIT/:ON_ERROR_STOP/:QUIET/\n"),
		qr{/$state/$state/on/$},
		"psql's variables are as before: $state");
}
like(
	$server->sql(
		"begin;\n\\i $script\nselect 'still ' || pg_current_xact_id();"),
	qr/^There is an open transaction.*\nstill/,
	'an open transaction is left alone');
like(
	$server->sql(
		"\\set SERVER_VERSION_NUM 170004\n\\set SERVER_VERSION_NAME 17.4\n\\i $script\n"
	),
	qr/^is-it-for-me.sql is for PostgreSQL 18\. .* 17\.4$/,
	'one line for another version');

# A name with all that could break the form; statistics that were reset, or are not
# gathered.
my $odd = qq{"it's\n\t\e%s :x \\ \\q"};
database(
	'odd',
	"create table $odd (v int)",
	indexes($odd, 10),
	scans($odd, 1000));
check('odd', indexes => [ $GAIN, qr/public\."it's\?\?\?%s :x \\ \\q" \(10/ ]);
$server->sql('select pg_stat_reset()', database => 'odd');
check('odd', Database => [ 'odd', qr/count since \d{4}-.* little yet/ ]);
$server->sql('alter database odd set track_counts = off');
check(
	'odd',
	nbtree => $UNKNOWN,
	Database => [ 'odd', qr/track_counts is off/ ]);

# A standby, without and with traffic of its own.
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
$on = $standby;
check(
	'everything',
	indexes => $UNKNOWN,
	'parallel-sort' => [ $NOTHING, qr/A standby builds no index/ ],
	nbtree => [ $UNKNOWN, qr/primary/ ],
	locks => $GAIN,
	Database => [ 'everything', qr/a standby, which/ ]);
$standby->sql(scans('t', 1000) . '; select count(*) from p',
	database => 'everything');
check('everything', indexes => $GAIN);
$standby->stop;
$on = $server;

$server->stop;
remove_tree($_->data) for $server, $standby;
done_testing();
