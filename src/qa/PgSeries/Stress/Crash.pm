package PgSeries::Stress::Crash;

use strict;
use warnings FATAL => 'all';

use File::Path qw(remove_tree);
use PgSeries::Server;
use PgSeries::Stress::Generator;
use PgSeries::Util
  qw(fail in_parallel info make_dir on_exit progress read_file write_file);
use Time::HiRes qw(usleep);

=pod

=head1 NAME

PgSeries::Stress::Crash - kill -9 under load, recovery, and a look at the result

=head1 DESCRIPTION

In every round pgbench writes to four tables while another session builds, rebuilds
and drops indexes, with parallel workers.  After 0.3 to 2 seconds the postmaster
and all of its children get SIGKILL.  The server starts again, and then

  - amcheck finds nothing wrong with any valid B-tree index and any table;
  - transfers between accounts have left their sum unchanged, and every account
    has what history says; upserts have added what history says;
  - what pgbench knows to be committed is in history;
  - there was no internal error, neither before nor in recovery.

The seed decides about the settings, the statements on indexes and the moment; what
the server does until then depends on the machine, too.  Settings of a round are
wal_level (minimal leaves out the WAL of a new index) and wal_consistency_checking
(recovery compares pages).

=cut

my %SETTINGS = (
	fsync => 'off',
	shared_buffers => '64MB',
	max_wal_size => '64MB',
	checkpoint_timeout => '30s',
	checkpoint_warning => 0,
	max_wal_senders => 0,
	autovacuum_naptime => '1s',
	max_worker_processes => 16,
	max_parallel_workers => 8,
	deadlock_timeout => '100ms',
	log_checkpoints => 'off',
	log_line_prefix => '[%p] %e ');

my $SETUP = <<'EOT';
CREATE EXTENSION amcheck;
CREATE TABLE account (region int, id int, balance bigint NOT NULL DEFAULT 0,
	PRIMARY KEY (region, id)) PARTITION BY LIST (region);
SELECT format('CREATE TABLE account_%s PARTITION OF account FOR VALUES IN (%1$s)', i)
FROM generate_series(0, 3) i \gexec
INSERT INTO account SELECT i % 4, i FROM generate_series(1, 1000) i;
CREATE INDEX ON account (id);
CREATE TABLE history (kind text NOT NULL, a int, b int, amount int);
CREATE INDEX ON history (a);
CREATE INDEX ON history (kind, b);
CREATE TABLE part (k int, id int, v bigint NOT NULL, PRIMARY KEY (k, id))
	PARTITION BY RANGE (k);
SELECT format('CREATE TABLE part_%s PARTITION OF part FOR VALUES FROM (%s) TO (%s)',
	i, 100 * i, 100 * i + 100)
FROM generate_series(0, 7) i \gexec
CREATE INDEX ON part (v);
CREATE TABLE item (id bigint PRIMARY KEY, c1 int, c2 int, total int, t text,
	plain int NOT NULL DEFAULT 0) WITH (parallel_workers = 3);
CREATE SEQUENCE item_id;
INSERT INTO item SELECT nextval('item_id'), i % 1000, i % 777, i % 1000 + i % 777,
	'item ' || i % 5000 FROM generate_series(1, 60000) i;
CREATE INDEX ON item (c1);
CREATE INDEX ON item (c2, total);
CREATE INDEX ON item (t);
CREATE INDEX ON item (total) WHERE c1 > 500;
ALTER TABLE history SET (parallel_workers = 3);
SELECT format('ALTER TABLE %s SET (parallel_workers = 3)', oid::regclass)
FROM pg_class WHERE relispartition AND relkind = 'r' \gexec
VACUUM ANALYZE;
EOT

# pgbench's scripts, each of which is one transaction and leaves one row in history:
# the values that are drawn, that row after its kind, and the statements.
my %SCRIPT = (
	transfer => [ 'a 1 999, b :a + 1 1000, x 1 100', ':a, :b, :x', <<'EOT' ],
UPDATE account SET balance = balance - :x WHERE id = :a;
UPDATE account SET balance = balance + :x WHERE id = :b;
EOT
	move => [ 'a 1 1000, r 0 3', ':a', <<'EOT' ],
UPDATE account SET region = :r WHERE id = :a;
EOT
	upsert => [ 'k 0 799, i 1 20', ':k, :i', <<'EOT' ],
INSERT INTO part VALUES (:k, :i, 1)
	ON CONFLICT (k, id) DO UPDATE SET v = part.v + 1;
EOT
	carry => [ 'k 0 799, l 0 799, i 1 20', ':k, :i', <<'EOT' ],
WITH gone AS (DELETE FROM part WHERE k = :k AND id = :i RETURNING *)
INSERT INTO part SELECT :l, id, v FROM gone
	ON CONFLICT (k, id) DO UPDATE SET v = part.v + excluded.v;
EOT
	indexed => [ 'a 0 999, b 0 9', ':a', <<'EOT' ],
UPDATE item SET c1 = :a, total = :a + c2 WHERE c1 = :a + 1 AND id % 10 = :b;
EOT
	plain => [ 'a 0 999', ':a', <<'EOT' ],
UPDATE item SET plain = plain + 1 WHERE c1 = :a;
EOT
	replace => [ 'a 0 999', ':a', <<'EOT' ]);
DELETE FROM item WHERE id IN
	(SELECT id FROM item ORDER BY id LIMIT 20 FOR UPDATE SKIP LOCKED);
INSERT INTO item SELECT nextval('item_id'), :a, i, :a + i, 'new ' || i
FROM generate_series(1, 20) i;
EOT

# What must return nothing.
my $CHECKS = <<'EOT';
SELECT 'the sum of the accounts is ' || sum(balance) FROM account HAVING sum(balance) <> 0;
SELECT 'there are ' || count(*) || ' accounts' FROM account HAVING count(*) <> 1000;
WITH moved AS (SELECT id, sum(x) AS x FROM
	(SELECT a, -amount FROM history WHERE kind = 'transfer'
	UNION ALL SELECT b, amount FROM history WHERE kind = 'transfer') h(id, x) GROUP BY id)
SELECT format('account %s has %s, its history says %s', id, balance, coalesce(x, 0))
FROM account LEFT JOIN moved USING (id) WHERE balance <> coalesce(x, 0) LIMIT 5;
SELECT format('upserts have added %s, history says %s', p, h) FROM
	(SELECT (SELECT coalesce(sum(v), 0) FROM part) AS p,
	(SELECT count(*) FROM history WHERE kind = 'upsert') AS h) q WHERE p <> h;
SELECT 'item ' || id || ' has a wrong total' FROM item WHERE c1 + c2 <> total LIMIT 5;
SELECT 'there are ' || count(*) || ' items' FROM item HAVING count(*) <> 60000;
SELECT format('pgbench has committed %s transactions, history has %s', :known, count(*))
FROM history HAVING count(*) < :known;
SELECT format('%s: block %s, offset %s: %s', c.oid::regclass, v.blkno, v.offnum, v.msg)
FROM pg_class c, LATERAL verify_heapam(c.oid) v WHERE c.relkind IN ('r', 't')
AND c.relnamespace IN ('public'::regnamespace, 'pg_toast'::regnamespace);

-- One at a time, so that an error does not hide the next.
SELECT format('SELECT bt_index_parent_check(%L::regclass, heapallindexed => true, rootdescend => true, checkunique => true)',
	c.oid::regclass)
FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid JOIN pg_am m ON m.oid = c.relam
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'i'
AND i.indisvalid AND m.amname = 'btree' \gexec
EOT

# What the session that builds indexes left.
my $TIDY = <<'EOT';
SET client_min_messages = error;
SELECT format('DROP INDEX IF EXISTS %s', c.oid::regclass)
FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid
WHERE c.relnamespace = 'public'::regnamespace AND NOT c.relispartition
AND (c.relname LIKE 'made\_%' OR NOT i.indisvalid AND c.relkind = 'i') \gexec
EOT

# Runs the rounds until one fails.  Returns (true if one has failed, what to print).
sub rounds
{
	my ($c, %opt) = @_;
	my $b = $c->builds->ensure($opt{build});
	srand $opt{seed};
	my $name = "crash-$opt{seed}";
	my $server = server($c->config, $b, $name);
	my $keep = on_exit(sub { remove_tree($server->data); });
	$server->create;
	$server->start;
	info('crash: filling the tables');
	$server->sql($SETUP);
	my ($done, $known, @problems) = (0, 0);

	while ($done < $opt{count} && !@problems)
	{
		progress("crash: $done of $opt{count} rounds");
		$server->stop;
		$server = server(
			$c->config, $b, $name,
			wal_level =>
			  PgSeries::Stress::Generator::pick(qw(minimal replica)),
			wal_consistency_checking =>
			  PgSeries::Stress::Generator::pick('', 'all'));
		$server->empty_log;
		$server->start;
		@problems = load_and_kill($server, \$known);
		@problems = recover($server, $known) unless @problems;
		$done++;
	}
	if (@problems)
	{
		$keep->();
		push @problems,
			'the data directory and the log are kept: '
		  . $server->data . ', '
		  . $server->log;
	}
	$server->stop;
	return (
		scalar @problems,
		join '',
		(map { "$_\n" } @problems),
		"$done rounds, seed $opt{seed}, $known transactions known to be committed: ",
		@problems ? 'a failure' : 'no failure');
}

sub server
{
	my ($config, $b, $name, %settings) = @_;
	return PgSeries::Server->new(
		$config, $b,
		name => $name,
		settings => { %SETTINGS, %settings });
}

my $INDEX = <<'EOT';
SET max_parallel_maintenance_workers = #range(0,4);
SET maintenance_work_mem = '{256kB~64MB}'; {=c {~CONCURRENTLY}}CREATE
{5:{=t item}INDEX @c made_@i ON item {(c1, c2)~(total DESC, id)~(t)~(plain)~((c1 + c2))}
~2:{=t item}UNIQUE INDEX @c made_@i ON item {(id) INCLUDE (plain)~(c1, id)}
~2:{=t history}INDEX @c made_@i ON history {(a, b)~(kind)}
~{=t account_1}INDEX @c made_@i ON account_1 (balance, id)
~3:{=c }{=t part}{INDEX made_@i ON part (id, v)~UNIQUE INDEX made_@i ON part (k, id)
~{=t account}INDEX made_@i ON account (balance)}};
{2:~{REINDEX {INDEX {~@c} made_@i~TABLE {~@c} @t~INDEX CONCURRENTLY item_pkey}
~VACUUM item~CHECKPOINT}}; {~3:DROP INDEX {~@c} IF EXISTS made_@i}
EOT

# Returns statements that build, rebuild and drop indexes, drawn by rand.
sub index_statements
{
	my ($count) = @_;
	return
	  map { PgSeries::Stress::Generator::statements($INDEX, i => $_) }
	  1 .. $count;
}

# Errors that statements on indexes may have: a deadlock, an index that one made
# in vain, and the end of the server.
my $EXPECTED = qr/^(40P01|42P01|42704|42P07|57P0\d|08\w{3})$/;

# Runs the load until the server is gone.  Adds to $known what is committed.
sub load_and_kill
{
	my ($server, $known) = @_;
	my $b = $server->{build};
	my $dir = make_dir("$b->{log}/crash");
	my @files;
	for my $name (sort keys %SCRIPT)
	{
		my ($drawn, $row, $statements) = @{ $SCRIPT{$name} };
		my $set =
		  $drawn =~ s/(\w) (.*?) (\d+)(?:, |$)/\\set $1 random($2, $3)\n/gr;
		write_file("$dir/$name.sql",
			"${set}BEGIN;\n${statements}INSERT INTO history VALUES ('$name', $row);\nCOMMIT;\n"
		);
		push @files, '-f', "$dir/$name.sql";
	}
	my $script = join '',
	  map { "$_;\n" } 'SET min_parallel_table_scan_size = 0',
	  index_statements(100);
	my ($bench, $indexes) = ("$dir/pgbench.log", "$dir/indexes.log");
	unlink $bench, $indexes;
	my $wait = 300_000 + int rand 1_700_000;
	in_parallel(
		sub {
			$server->client(
				[
					qw(pgbench -n -c 6 -j 2 -T 60 --max-tries=1000), @files,
					'postgres'
				],
				log => $bench);
		},
		sub {
			$server->client(
				[qw(psql --no-psqlrc --quiet --set=VERBOSITY=verbose)],
				in => $script,
				log => $indexes);
		},
		sub { usleep($wait); kill_server($server); });

	# It has left its file.
	$server->stop;
	my $said = read_file($bench);
	my @problems = map { "pgbench: $_" }
	  grep { !/terminating connection|server closed the connection/ }
	  $said =~ /ERROR:  (.*)/g;
	my ($committed) =
	  $said =~ /^number of transactions actually processed: (\d+)/m;
	if (defined $committed) { $$known += $committed; }
	else                    { push @problems, "pgbench: $said"; }
	my $errors = read_file($indexes);

	while ($errors =~ /^(?:ERROR|FATAL|PANIC):  (\w{5}): (.*)/mg)
	{
		push @problems, "index: $1: $2" unless $1 =~ $EXPECTED;
	}
	return (@problems, log_problems($server));
}

sub log_problems
{
	my ($server) = @_;
	return
	  map { "log: $_" }
	  read_file($server->log) =~
	  /^(?:TRAP: .*|.*PANIC:  .*|.*was terminated by signal.*|\[\d+\] XX\w{3} .*)$/mg;
}

# Ends the postmaster and all of its children with SIGKILL and returns when they are
# gone.
sub kill_server
{
	my ($server) = @_;
	my ($postmaster) =
		 read_file($server->data . '/postmaster.pid') =~ /^(\d+)/
	  or fail(2, "there is no server in $server->{data}", 'run it again');

	# Stopped, it makes no more children, and it gets its signal last: a child that
	# sees its end exits in order, and if that is the leader of parallel workers,
	# fails an assertion of upstream (see doc/bugs.md).  An interrupt must not leave
	# it stopped.
	my @all;
	{
		local @SIG{qw(INT TERM HUP)} = ('IGNORE') x 3;
		kill 'STOP', $postmaster;
		my %process = processes();
		@all = (
			(grep { $process{$_}[1] == $postmaster } keys %process),
			$postmaster);
		kill 'KILL', @all;
	}
	for (1 .. 600)
	{
		my %process = processes();
		return
		  unless grep { $process{$_} && $process{$_}[0] !~ /[ZX]/ } @all;
		usleep(100_000);
	}
	fail(2, "processes of $server->{data} survive SIGKILL", 'run it again');
	return;
}

# All processes: { number => [ state, parent ] }.
sub processes
{
	my %all;
	for my $file (glob '/proc/[0-9]*/stat')
	{
		open(my $fh, '<', $file) or next;
		my $line = join '', <$fh>;
		$all{$1} = [ $2, $3 ] if $line =~ /^(\d+) .*\) (\S) (\d+)/s;
	}
	return %all;
}

# Starts the server again and looks at what it has.
sub recover
{
	my ($server, $known) = @_;
	my $ok = eval { $server->start; 1 };
	if (!$ok)
	{
		die $@ if ref $@ && $@->{code} == 130;
		return ("recovery: $@");
	}
	my $status = $server->client(
		[
			qw(psql --no-psqlrc --quiet --no-align --tuples-only),
			"--set=known=$known"
		],
		in => $CHECKS . $TIDY,
		out => \my $out,
		err => \my $err);
	my @problems = grep { /\S/ } split /\n/, "$out\n$err";
	push @problems, "the checks ended with status $status" if $status != 0;
	return (@problems, log_problems($server));
}

1;
