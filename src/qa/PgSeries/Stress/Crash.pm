package PgSeries::Stress::Crash;

use strict;
use warnings FATAL => 'all';

use PgSeries::Server;
use PgSeries::Stats qw(random_integers);
use PgSeries::Util
  qw(fail in_parallel info make_dir progress read_file write_file);
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

=head1 FUNCTIONS

=over

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

# pgbench's scripts, each of which leaves one row in history and commits once.
my %SCRIPT = (
	transfer => <<'EOT',
\set a random(1, 999)
\set b random(:a + 1, 1000)
\set x random(1, 100)
BEGIN;
UPDATE account SET balance = balance - :x WHERE id = :a;
UPDATE account SET balance = balance + :x WHERE id = :b;
INSERT INTO history VALUES ('transfer', :a, :b, :x);
COMMIT;
EOT
	move => <<'EOT',
\set a random(1, 1000)
\set r random(0, 3)
BEGIN;
UPDATE account SET region = :r WHERE id = :a;
INSERT INTO history VALUES ('move', :a);
COMMIT;
EOT
	upsert => <<'EOT',
\set k random(0, 799)
\set i random(1, 20)
BEGIN;
INSERT INTO part VALUES (:k, :i, 1)
	ON CONFLICT (k, id) DO UPDATE SET v = part.v + 1;
INSERT INTO history VALUES ('upsert', :k, :i);
COMMIT;
EOT
	carry => <<'EOT',
\set k random(0, 799)
\set l random(0, 799)
\set i random(1, 20)
BEGIN;
WITH gone AS (DELETE FROM part WHERE k = :k AND id = :i RETURNING *)
INSERT INTO part SELECT :l, id, v FROM gone
	ON CONFLICT (k, id) DO UPDATE SET v = part.v + excluded.v;
INSERT INTO history VALUES ('carry', :k, :i);
COMMIT;
EOT
	indexed => <<'EOT',
\set a random(0, 999)
\set b random(0, 9)
BEGIN;
UPDATE item SET c1 = :a, total = :a + c2 WHERE c1 = :a + 1 AND id % 10 = :b;
INSERT INTO history VALUES ('indexed', :a);
COMMIT;
EOT
	plain => <<'EOT',
\set a random(0, 999)
BEGIN;
UPDATE item SET plain = plain + 1 WHERE c1 = :a;
INSERT INTO history VALUES ('plain', :a);
COMMIT;
EOT
	replace => <<'EOT',
\set a random(0, 999)
BEGIN;
DELETE FROM item WHERE id IN
	(SELECT id FROM item ORDER BY id LIMIT 20 FOR UPDATE SKIP LOCKED);
INSERT INTO item SELECT nextval('item_id'), :a, i, :a + i, 'new ' || i
FROM generate_series(1, 20) i;
INSERT INTO history VALUES ('replace', :a);
COMMIT;
EOT
);

# What must return nothing.
my @CHECKS = (
	"SELECT 'the sum of the accounts is ' || sum(balance) FROM account HAVING sum(balance) <> 0",
	"SELECT 'there are ' || count(*) || ' accounts' FROM account HAVING count(*) <> 1000",
	<<'EOT',
WITH moved AS (SELECT id, sum(x) AS x FROM
	(SELECT a, -amount FROM history WHERE kind = 'transfer'
	UNION ALL SELECT b, amount FROM history WHERE kind = 'transfer') h(id, x) GROUP BY id)
SELECT format('account %s has %s, its history says %s', id, balance, coalesce(x, 0))
FROM account LEFT JOIN moved USING (id) WHERE balance <> coalesce(x, 0) LIMIT 5
EOT
	"SELECT format('upserts have added %s, history says %s', p, h) FROM (SELECT (SELECT coalesce(sum(v), 0) FROM part) AS p, (SELECT count(*) FROM history WHERE kind = 'upsert') AS h) q WHERE p <> h",
	"SELECT 'item ' || id || ' has a wrong total' FROM item WHERE c1 + c2 <> total LIMIT 5",
	"SELECT 'there are ' || count(*) || ' items' FROM item HAVING count(*) <> 60000",
	"SELECT format('%s: block %s, offset %s: %s', c.oid::regclass, v.blkno, v.offnum, v.msg) FROM pg_class c, LATERAL verify_heapam(c.oid) v WHERE c.relkind IN ('r', 't') AND c.relnamespace IN ('public'::regnamespace, 'pg_toast'::regnamespace)",
);

# One at a time, so that an error does not hide the next.
my $INDEXES = <<'EOT';
SELECT format('SELECT bt_index_parent_check(%L::regclass, heapallindexed => true, rootdescend => true, checkunique => true)',
	c.oid::regclass)
FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid JOIN pg_am m ON m.oid = c.relam
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'i'
AND i.indisvalid AND m.amname = 'btree'
EOT

# What the session that builds indexes left.
my $TIDY = <<'EOT';
SET client_min_messages = error;
SELECT format('DROP INDEX IF EXISTS %s', c.oid::regclass)
FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid
WHERE c.relnamespace = 'public'::regnamespace AND NOT c.relispartition
AND (c.relname LIKE 'made\_%' OR NOT i.indisvalid AND c.relkind = 'i') \gexec
EOT

=item rounds($context, build => NAME, count => N, seed => N)

Runs the rounds until one fails.  Returns { found, data, text } for PgSeries::Stress.

=cut

sub rounds
{
	my ($c, %opt) = @_;
	my $config = $c->config;
	my $b = $c->builds->ensure($opt{build});
	my $random = random_integers('crash', $opt{seed});
	my $server = server($config, $b);
	$server->create;
	$server->start;
	info('crash: filling the tables');
	$server->sql($SETUP);
	my $known = 0;
	my @problems;
	my $done = 0;

	while ($done < $opt{count} && !@problems)
	{
		progress("crash: $done of $opt{count} rounds");
		$server->stop;
		$server = server(
			$config, $b,
			wal_level => pick($random, qw(minimal replica)),
			wal_consistency_checking => pick($random, '', 'all'));
		$server->empty_log;
		$server->start;
		push @problems, load_and_kill($server, $random, \$known);
		push @problems, recover($server, $known) unless @problems;
		$done++;
	}
	my $text = join '', map { "$_\n" } @problems;
	my $kept = '';
	if (@problems)
	{
		$kept = keep($server, "$opt{seed}-$done");
		$text .= "the data directory is kept: $kept, its log: $kept.log\n";
	}
	else { $server->stop; }
	return {
		found => @problems ? 1 : 0,
		data => {
			rounds => $done,
			transactions => $known,
			problems => \@problems,
			$kept eq '' ? () : (kept => $kept)
		},
		text => $text
		  . "$done rounds, seed $opt{seed}, $known transactions known to be committed: "
		  . (@problems ? "a failure\n" : "no failure\n")
	};
}

sub pick
{
	my ($random, @list) = @_;
	return $list[ $random->(scalar @list) ];
}

sub server
{
	my ($config, $b, %settings) = @_;
	return PgSeries::Server->new(
		$config, $b,
		name => 'crash',
		settings => { %SETTINGS, %settings });
}

=item index_statements($random, $count)

Returns statements that build, rebuild and drop indexes.  $random is a function of
PgSeries::Stats::random_integers.

=cut

my @COLUMNS = (
	[ item => '(c1, c2)' ],
	[ item => '(total DESC, id)' ],
	[ item => '(t)' ],
	[ item => '(plain)' ],
	[ item => '((c1 + c2))' ],
	[ item => '(id) INCLUDE (plain)', 'UNIQUE ' ],
	[ item => '(c1, id)', 'UNIQUE ' ],
	[ history => '(a, b)' ],
	[ history => '(kind)' ],
	[ part => '(id, v)' ],
	[ part => '(k, id)', 'UNIQUE ' ],
	[ account => '(balance)' ],
	[ account_1 => '(balance, id)' ]);

sub index_statements
{
	my ($random, $count) = @_;
	my @statements;
	for my $i (1 .. $count)
	{
		my ($table, $columns, $unique) = @{ pick($random, @COLUMNS) };
		my $whole = $table =~ /^(part|account)$/;
		my $concurrently = !$whole && $random->(2) ? ' CONCURRENTLY' : '';
		push @statements,
		  'SET max_parallel_maintenance_workers = ' . $random->(5),
		  'SET maintenance_work_mem = '
		  . pick($random, q('256kB'), q('64MB')),
		  'CREATE '
		  . ($unique || '')
		  . "INDEX$concurrently made_$i ON $table $columns";
		my $again = $whole || $random->(2) ? '' : ' CONCURRENTLY';
		push @statements,
		  pick(
			$random,
			"REINDEX INDEX$again made_$i",
			"REINDEX TABLE$again $table",
			'REINDEX INDEX CONCURRENTLY item_pkey',
			'VACUUM item',
			'CHECKPOINT') if $random->(2);
		$concurrently = !$whole && $random->(2) ? ' CONCURRENTLY' : '';
		push @statements, "DROP INDEX$concurrently IF EXISTS made_$i"
		  if $random->(4);
	}
	return @statements;
}

# Errors that statements on indexes may have: a deadlock, an index that one made
# in vain, and the end of the server.
my $EXPECTED = qr/^(40P01|42P01|42704|42P07|57P0\d|08\w{3})$/;

# Runs the load until the server is gone.  Adds to $known what is committed.
sub load_and_kill
{
	my ($server, $random, $known) = @_;
	my $b = $server->{build};
	my $dir = make_dir("$b->{log}/crash");
	my @files;
	for my $name (sort keys %SCRIPT)
	{
		write_file("$dir/$name.sql", $SCRIPT{$name});
		push @files, '-f', "$dir/$name.sql";
	}
	my @statements = (
		'SET min_parallel_table_scan_size = 0',
		index_statements($random, 100));
	my $script = join '', map { "$_;\n" } @statements;
	my ($bench, $indexes) = ("$dir/pgbench.log", "$dir/indexes.log");
	unlink $bench, $indexes;
	my $wait = 300_000 + $random->(1_700_000);
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
	return map { "log: $_" }
	  grep { /^TRAP: |PANIC:  |was terminated by signal|^\[\d+\] XX\w{3} / }
	  split /\n/, read_file($server->log);
}

=item kill_server($server)

Ends the postmaster and all of its children with SIGKILL and returns when they are
gone.

=back

=cut

sub kill_server
{
	my ($server) = @_;
	my ($postmaster) =
		 read_file($server->data . '/postmaster.pid') =~ /^(\d+)/
	  or fail(2, "there is no server in $server->{data}", 'run it again');

	# Stopped, it makes no more children; and those who saw its end would exit in
	# good order.  An interrupt must not leave it so.
	my @all;
	{
		local @SIG{qw(INT TERM HUP)} = ('IGNORE') x 3;
		kill 'STOP', $postmaster;
		@all = (children($postmaster), $postmaster);
		kill 'KILL', @all;
	}
	for (1 .. 600)
	{
		return unless grep { alive($_) } @all;
		usleep(100_000);
	}
	fail(2, "processes of $server->{data} survive SIGKILL", 'run it again');
	return;
}

# (state, parent) of a process, or nothing if it is gone.
sub process
{
	my ($pid) = @_;
	open(my $fh, '<', "/proc/$pid/stat") or return;
	my $line = <$fh>;
	return defined $line && $line =~ /^.*\) (\S) (\d+)/s ? ($1, $2) : ();
}

sub alive
{
	my ($pid) = @_;
	my ($state) = process($pid);
	return defined $state && $state !~ /^[ZX]$/;
}

sub children
{
	my ($parent) = @_;
	opendir(my $dir, '/proc')
	  or fail(2, "cannot read /proc: $!", 'mount /proc');
	return grep {
		my (undef, $of) = process($_);
		defined $of && $of == $parent;
	} grep { /^\d+$/ } readdir $dir;
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
	my $script = join '', map { "$_;\n" } @CHECKS;
	$script .=
	  "SELECT format('pgbench has committed %s transactions, history has %s', $known, count(*)) FROM history HAVING count(*) < $known;\n"
	  . "$INDEXES \\gexec\n$TIDY";
	my $status = $server->client(
		[qw(psql --no-psqlrc --quiet --no-align --tuples-only)],
		in => $script,
		out => \my $out,
		err => \my $err);
	my @problems = grep { /\S/ } split /\n/, "$out\n$err";
	push @problems, "the checks ended with status $status" if $status != 0;
	return (@problems, log_problems($server));
}

# Stops the server and renames its directory and log, so that the next run does
# not replace them.
sub keep
{
	my ($server, $name) = @_;
	if (!eval { $server->stop; 1 })
	{
		die $@ if ref $@ && $@->{code} == 130;
		info("pgseries: $@");
	}
	my $to = "$server->{data}-$name";
	for ([ $server->data, $to ], [ $server->log, "$to.log" ],)
	{
		rename $_->[0], $_->[1]
		  or fail(2, "cannot rename $_->[0]: $!", 'look at it where it is');
	}
	return $to;
}

1;
