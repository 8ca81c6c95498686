package PgSeries::Hunt::Steps;

use strict;
use warnings FATAL => 'all';

use List::Util                  qw(sample uniq);
use PgSeries::Stress::Generator qw(draw one_in pick weighted);
use PgSeries::Util              qw(fail in_parallel read_file);

=pod

=head1 NAME

PgSeries::Hunt::Steps - random steps of several sessions, for isolationtester

=head1 DESCRIPTION

A specification is a hash: C<tables>, C<set> (a setting of all sessions) and C<steps>.  A
table has a C<name>, C<by> (its partition key) and the C<bounds> of its partitions, C<rows>,
C<fillfactor>, C<indexes>, and C<correlated>, true if values lie beside equal ones, without
which a BRIN index is of no use; a step has the number of its session, its SQL, and C<kind>:

  use      what a user does
  ddl      a command of somebody who administers the database
  oracle   the query of the step before it, by a sequential scan: nobody has changed anything
           meanwhile, so the rows must be the same
  locks    lists the locks that the session holds
  waiting  lists who waits, and how much work (indexes locked exclusively) is behind it

Upstream's isolationtester runs it on both servers.  What a session waits for depends on
what the others hold, and what it returns then on the order in which they go on.  So rows
are compared until a step waits on base and not on patched, as many do that need fewer
locks there.  From then on the oracle decides.

=cut

# What a hunt of a kind draws from: weights of what the next step is.
my %WEIGHT = (
	rows => {
		query => 8,
		write => 6,
		ddl => 6,
		cursor => 2,
		prepared => 2,
		transaction => 6,
		pause => 2,
		locks => 0,
		old_snapshot => 2,
		new_plan => 0
	},
	locks => {
		query => 3,
		write => 2,
		ddl => 3,
		cursor => 1,
		prepared => 8,
		transaction => 4,
		pause => 0,
		locks => 6,
		old_snapshot => 0,
		new_plan => 3
	},
	ddl => {
		query => 4,
		write => 4,
		ddl => 8,
		cursor => 1,
		prepared => 2,
		transaction => 7,
		pause => 1,
		locks => 0,
		old_snapshot => 0,
		new_plan => 1
	});

# Does each row have its entry in all B-tree indexes, and are these in order?
my $AMCHECK =
  "SELECT count(public.bt_index_check(indexrelid, true)) FROM pg_index JOIN pg_class c ON c.oid = indexrelid JOIN pg_am m ON m.oid = relam WHERE amname = 'btree' AND indisvalid AND relkind = 'i' AND relnamespace = 'hunt'::regnamespace";

# Returns the specification of a seed.
sub generate
{
	my ($kind, $seed) = @_;
	srand $seed;
	my @tables = map { table("t$_", $kind) } 1 .. 1 + one_in(2);
	my $spec = {
		tables => \@tables,
		steps => [],
		set => pick('', 'SET enable_seqscan = off;')
	};
	my $self = bless {
		spec => $spec,
		kind => $kind,
		number => 0,
		paused => 0,
		lock => 0,
		map { $_ => [ (0) x 4 ] } qw(in snapshot prepared cursor)
	  },
	  __PACKAGE__;
	my $wanted = 10 + draw(16);
	$self->next_step while @{ $spec->{steps} } < $wanted;
	$self->release;
	$self->add($_, 'use', 'COMMIT') for grep { $self->{in}[$_] } 1 .. 3;
	$self->{in} = [ (0) x 4 ];

	for my $table (@tables)
	{
		my $sql = "SELECT * FROM $table->{name} ORDER BY id, k, a, b, c";
		$self->add(1, $_, $sql) for 'use', 'oracle';
	}
	$self->add(1, 'use', $AMCHECK);
	return $spec;
}

sub table
{
	my ($name, $kind) = @_;
	my $by = pick('', '', 'HASH (id)', 'RANGE (k)', 'RANGE (k)');
	my $n = !$by ? 0 : pick(2, 4, 8, 16, $kind eq 'locks' ? (40, 40) : ());
	my @bounds =
	  $by =~ /^H/
	  ? map { "FOR VALUES WITH (MODULUS $n, REMAINDER $_)" }
	  0 .. $n - 1
	  : $by ? map {
		sprintf 'FOR VALUES FROM (%s) TO (%s)',
		  $_ ? int($_ * 200 / $n) : 'MINVALUE',
		  $_ < $n - 1
		  ? int(($_ + 1) * 200 / $n)
		  : 'MAXVALUE'
	  } 0 .. $n - 1
	  : ();
	my @all = (
		'(a)', '(b)', '(c)', '(k)', '(b, c)',
		'(k, a) INCLUDE (b)',
		'(a) WHERE b < 20',
		'((a + b))',
		'USING hash (b)',
		'USING hash (a)',
		(   'USING brin (a) WITH (pages_per_range = 1)',
			'USING brin (b) WITH (pages_per_range = 1)',
			'USING brin (c) WITH (pages_per_range = 1)') x 2);
	my $i = 0;
	return {
		name => $name,
		by => $by,
		bounds => \@bounds,
		rows => pick(1, 20, 200, 1000),
		fillfactor => pick(100, 50, 50),
		correlated => one_in(2),
		indexes => [
			map { [ "${name}_i" . ++$i, $_ ] } uniq '(id)',
			sample 1 + draw($n > 16 ? 1 : $by ? 4 : 7),
			@all
		]
	};
}

sub add
{
	my ($self, $session, $kind, $sql) = @_;
	push @{ $self->{spec}{steps} },
	  {
		session => $session,
		kind => $kind,
		sql => $sql,
		in => $self->{in}[$session]
	  };
	return;
}

sub a_table { my ($self) = @_; return pick(@{ $self->{spec}{tables} }); }

# A table or one of its partitions.
sub relation
{
	my ($self) = @_;
	my $t = $self->a_table;
	return $t->{name} if !@{ $t->{bounds} } || one_in(3);
	return "$t->{name}_" . draw(scalar @{ $t->{bounds} });
}

sub index_of
{
	my ($self, $t) = @_;
	return @{ $t->{bounds} } && !one_in(3)
	  ? "$t->{name}_" . draw(scalar @{ $t->{bounds} }) . '_id_idx'
	  : pick(@{ $t->{indexes} })->[0];
}

sub condition
{
	my ($self) = @_;
	my $c = pick(qw(id k k a a b b c c));
	my $v = draw($c eq 'id' ? 200 : $c eq 'k' ? 200 : 50);
	return pick(
		"$c = $v",
		"$c = $v",
		"$c = $v",
		"$c BETWEEN $v AND $v + " . draw(8),
		"$c IN ($v, " . draw(50) . ')',
		"$c = $v AND a + b > " . draw(50));
}

# A session that is not in a step that waits for the pause.
sub session
{
	my ($self) = @_;
	my @free = grep { $_ != $self->{paused} } 1 .. 3;
	return pick(@free);
}

sub next_step
{
	my ($self) = @_;
	my $weight = $WEIGHT{ $self->{kind} };
	my $what = weighted(map { [ $weight->{$_}, $_ ] } sort keys %$weight);
	my $s = $self->session;
	my $t = $self->a_table;
	$self->$what($s, $t);
	$self->release if $self->{paused} && one_in(4);
	return;
}

sub transaction
{
	my ($self, $s) = @_;
	if (!$self->{in}[$s])
	{
		my $level =
		  pick('READ COMMITTED', 'REPEATABLE READ', 'REPEATABLE READ');

		# The snapshot is taken, but no table is touched.
		my $sql =
		  "BEGIN ISOLATION LEVEL $level" . (one_in(2) ? '; SELECT 1' : '');
		$self->add($s, 'use', $sql);
		$self->{in}[$s] = 1;
		$self->{snapshot}[$s] = $level =~ /REPEAT/;
	}
	elsif (one_in(3))
	{
		$self->add($s, 'use',
			pick('SAVEPOINT s', 'ROLLBACK TO s', 'RELEASE s'));
	}
	else
	{
		$self->add($s, 'use', pick('COMMIT', 'COMMIT', 'ROLLBACK'));
		$self->{$_}[$s] = 0 for qw(in snapshot cursor);
	}
	return;
}

sub query
{
	my ($self, $s, $t) = @_;
	my $where = $self->condition;
	my $sql = pick(
		(   "SELECT id, k, a, b, c FROM $t->{name} WHERE $where ORDER BY id, k, a, b, c"
		) x 3,
		"SELECT count(*), sum(b) FROM $t->{name} WHERE $where",
		"SELECT x.id, y.id AS y FROM $t->{name} x JOIN $t->{name} y ON y.id = x.b WHERE "
		  . $where =~ s/\b([a-z]+) (?==|BET|IN)/x.$1 /r =~
		  s/a \+ b/x.a + x.b/r
		  . ' ORDER BY x.id, y.id');
	$self->add($s, $_, $sql) for 'use', 'oracle';
	return;
}

sub write    ## no critic (ProhibitBuiltinHomonyms)
{
	my ($self, $s, $t) = @_;
	my $where = $self->condition;
	my $c = pick(qw(a b c b c k));
	my $v = draw(50);

	# One that no other row has widens a BRIN range, and leaves the old one out of it.
	my $new = pick($v, 777);
	$self->add(
		$s, 'use',
		pick(
			("UPDATE $t->{name} SET $c = $new WHERE $where") x 3,
			"UPDATE $t->{name} SET k = k, a = a, b = b, c = c + 1 WHERE $where",
			"DELETE FROM $t->{name} WHERE $where",
			"INSERT INTO $t->{name} SELECT 10000 + i + $v * 100, i % 200, i % 50, $v, i FROM generate_series(1, 5) i",
			"UPDATE $t->{name} x SET b = y.b + 1 FROM $t->{name} y WHERE y.id = x.id AND x.$c = $v",
			"MERGE INTO $t->{name} x USING (SELECT $v AS id) y ON x.id = y.id WHEN MATCHED THEN UPDATE SET b = b + 1 WHEN NOT MATCHED THEN INSERT VALUES (y.id, 1, 2, 3, 4)",
			"SELECT id FROM $t->{name} WHERE $where ORDER BY id, k, a FOR UPDATE"
		));
	return;
}

sub cursor
{
	my ($self, $s, $t) = @_;
	return if !$self->{in}[$s];
	if (!$self->{cursor}[$s])
	{
		my $order = pick(qw(id k a b c));
		my $where = $self->condition;
		$self->add($s, 'use',
			"DECLARE cur CURSOR FOR SELECT id FROM $t->{name} WHERE $where OR $order < 20 ORDER BY $order, id"
		);
		$self->{cursor}[$s] = 1;
	}
	$self->add($s, 'use', 'FETCH ' . pick(1, 3, 1000) . ' FROM cur');
	return;
}

sub prepared
{
	my ($self, $s, $t) = @_;
	if (!$self->{prepared}[$s])
	{
		my $c = pick(qw(id k k a));
		my $p = pick(
			"$c = \$1",
			"$c = \$1",
			"$c = \$1 AND b < 30",
			"$c BETWEEN \$1 AND \$1 + 2");
		my $sql = pick(
			(   "SELECT id, k, a, b, c FROM $t->{name} WHERE $p ORDER BY id, k, a, b, c"
			) x 3,
			"UPDATE $t->{name} SET b = b + 1 WHERE $p",
			"SELECT x.id, y.id AS y FROM $t->{name} x JOIN $t->{name} y ON y.$c = x.$c WHERE x."
			  . $p =~ s/AND b/AND x.b/r
			  . ' ORDER BY 1, 2');
		$self->add($s, 'use', "PREPARE p(int) AS $sql");
		$self->{prepared}[$s] = 1;
	}
	$self->add($s, 'use', 'EXECUTE p(' . draw(200) . ')')
	  for 1 .. pick(1, 6, 7);
	$self->locks($s) if $self->{in}[$s] && $self->{kind} eq 'locks';
	return;
}

sub locks
{
	my ($self, $s) = @_;
	$self->add($s, 'locks', '') if $self->{in}[$s];
	return;
}

# A snapshot that is older than a change, and than what somebody does about the index, but
# with which the table hasn't been touched, so that nothing waits for that session; or with
# which a query on another column is being planned, for which the index may not be needed.
sub old_snapshot
{
	my ($self, $s, $t) = @_;
	return if $self->{in}[$s];
	my @indexes =
	  grep { $_->[1] =~ /^USING|^\((?:a|b|c)\)$/ } @{ $t->{indexes} };
	return if !@indexes;
	my $index = pick(@indexes);
	my ($c) = $index->[1] =~ /\((\w)/;
	my $v = draw(50);
	my ($other) = grep { $_ != $s && $_ != $self->{paused} } sample 3, 1 .. 3;
	return if $self->{in}[$other];
	my $planning = !$self->{paused} && one_in(2);
	$self->add($s, 'use', 'BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1');
	$self->{in}[$s] = $self->{snapshot}[$s] = 1;
	$self->pause($s, $t, pick(grep { $_ ne $c } qw(a b c))) if $planning;
	$self->add($other, 'use',
			"UPDATE $t->{name} SET $c = "
		  . pick(777, draw(50))
		  . " WHERE $c = $v")
	  for 1 .. pick(1, 2);
	my $i = @{ $t->{bounds} } ? pick("$t->{name}_0", $t->{name}) : $t->{name};
	$self->add($other, 'ddl',
		pick("REINDEX INDEX $index->[0]", "REINDEX TABLE $i"));
	$self->release if $planning;
	my $sql =
	  "SELECT id, k, a, b, c FROM $t->{name} WHERE $c = $v ORDER BY id, k, a, b, c";
	$self->add($s, $_, $sql) for 'use', 'oracle';
	return;
}

# A prepared statement that has been used for a while is planned anew, in a transaction,
# after a partition has changed; then somebody works on another one.
sub new_plan
{
	my ($self, $s, $t) = @_;
	return if $self->{in}[$s] || !@{ $t->{bounds} };
	my ($other) = grep { $_ != $s && $_ != $self->{paused} } sample 3, 1 .. 3;
	return if $self->{in}[$other];
	my @parts = sample 2, 0 .. $#{ $t->{bounds} };
	my $v = draw(200);
	$self->{prepared}[$s]
	  or $self->add($s, 'use',
			"PREPARE p(int) AS SELECT id, k, a, b, c FROM $t->{name} WHERE "
		  . ($t->{by} =~ /(\w+)\)/)[0]
		  . " = \$1 AND b < 40 ORDER BY id, k, a, b, c");
	$self->{prepared}[$s] = 1;
	$self->add($s, 'use', "EXECUTE p($v)") for 1 .. 7;
	$self->add($other, 'ddl', "ANALYZE $t->{name}_$parts[0]");
	$self->add($s, 'use', 'BEGIN');
	$self->{in}[$s] = 1;
	$self->add($s, 'use', "EXECUTE p($v)") for 1 .. pick(1, 7, 12);
	$self->locks($s);
	$self->add($other, 'ddl',
		pick('VACUUM FULL', 'REINDEX TABLE', 'TRUNCATE')
		  . " $t->{name}_$parts[1]");
	return;
}

# A query that is stopped while it is planned, until the others have done something.  Each has
# a lock of its own, as the function is called again and again.
sub pause
{
	my ($self, $s, $t, $c) = @_;
	return if $self->{paused};
	$c //= pick(qw(a b c k));
	$self->{lock}++;
	$self->add(4, 'use', "SELECT pg_advisory_lock($self->{lock})");
	$self->add($s, 'use',
			"SELECT id, k, a, b, c FROM $t->{name} WHERE $c = pause("
		  . draw(50)
		  . ", $self->{lock}) ORDER BY id, k, a, b, c");
	$self->{paused} = $s;
	return;
}

sub release
{
	my ($self) = @_;
	$self->add(4, 'use', "SELECT pg_advisory_unlock($self->{lock})")
	  if $self->{paused};
	$self->{paused} = 0;
	return;
}

sub ddl
{
	my ($self, $s, $t) = @_;
	my $name = $t->{name};
	my $rel = $self->relation;
	my $part = @{ $t->{bounds} } ? draw(scalar @{ $t->{bounds} }) : undef;
	my $index = $self->index_of($t);
	my $column = pick(qw(a b c));
	my @any = (
		"REINDEX TABLE $rel",
		"REINDEX TABLE $rel",
		"REINDEX INDEX $index",
		"CREATE INDEX x" . ++$self->{number} . " ON $rel ($column)",
		"DROP INDEX $index",
		"ANALYZE $rel",
		"ANALYZE $rel",
		"SELECT brin_summarize_new_values(indexrelid) FROM pg_index i JOIN pg_class c ON c.oid = indexrelid WHERE indrelid = '$rel'::regclass AND relam = 3580",
		"ALTER TABLE $name ADD COLUMN x"
		  . ++$self->{number}
		  . ' int DEFAULT 7',
		"ALTER TABLE $rel SET (fillfactor = 60)");
	push @any,
	  ( "ALTER TABLE $name DETACH PARTITION ${name}_$part",
		"ALTER TABLE $name ATTACH PARTITION ${name}_$part $t->{bounds}[$part]",
		"TRUNCATE ${name}_$part") if defined $part;
	my @outside = (
		"VACUUM $rel",
		"VACUUM FULL $rel",
		"REINDEX TABLE CONCURRENTLY $rel",
		"REINDEX INDEX CONCURRENTLY $index",
		"CREATE INDEX CONCURRENTLY x"
		  . ++$self->{number}
		  . " ON $name ($column)",
		"DROP INDEX CONCURRENTLY $index");
	push @outside,
	  "ALTER TABLE $name DETACH PARTITION ${name}_$part CONCURRENTLY"
	  if defined $part;
	push @any, @outside if !$self->{in}[$s];
	$self->add($s, 'ddl', pick(@any));
	$self->add(5, 'waiting', '');
	return;
}

# The text of a specification.
my $LOOK =
  "SELECT relation::regclass, mode, relkind FROM pg_locks JOIN pg_class c ON c.oid = relation WHERE pid = pg_backend_pid() AND locktype = 'relation' AND relation >= 16384 ORDER BY 1::text, 2";
my $WAITING =
  "SELECT left(query, 60) AS query, (SELECT count(*) FROM pg_locks l WHERE l.pid = a.pid AND mode = 'AccessExclusiveLock' AND granted) AS behind FROM pg_stat_activity a WHERE wait_event_type = 'Lock' AND datname = current_database() ORDER BY 1";
my $WITHOUT = join ' ', 'SET LOCAL enable_seqscan = on;',
  map { "SET LOCAL enable_$_ = off;" } qw(indexscan indexonlyscan bitmapscan);

sub text
{
	my ($spec) = @_;
	my $text = join '', map { "$_\n" } setup($spec);
	my $n = 0;
	my (%of, @order);
	for my $step (@{ $spec->{steps} })
	{
		$n++;
		my $kind = $step->{kind};
		my $sql =
			$kind eq 'locks'   ? $LOOK
		  : $kind eq 'waiting' ? $WAITING
		  : $kind eq 'oracle'  ? ($step->{in} ? 'SAVEPOINT o' : 'BEGIN')
		  . "; $WITHOUT $step->{sql}; "
		  . ($step->{in} ? 'ROLLBACK TO o' : 'ROLLBACK')
		  : $step->{sql};
		push @{ $of{ $step->{session} } }, "step s$n { $sql; }\n";
		push @order, "s$n";
	}
	for my $session (sort keys %of)
	{
		$text .= join '', "session u$session\n",
		  "setup { SET client_min_messages = error; $spec->{set} }\n",
		  @{ $of{$session} };
	}
	return "${text}permutation @order\n";
}

sub setup
{
	my ($spec) = @_;
	my @sql = (
		'SET client_min_messages = error; SET synchronous_commit = off; DROP SCHEMA IF EXISTS hunt CASCADE; CREATE SCHEMA hunt; CREATE EXTENSION IF NOT EXISTS amcheck SCHEMA public;',
		'CREATE FUNCTION pause(int, int) RETURNS int STABLE LANGUAGE plpgsql SET lock_timeout = 0 AS $$ BEGIN PERFORM pg_advisory_lock_shared($2); PERFORM pg_advisory_unlock_shared($2); RETURN $1; END $$;'
	);
	for my $t (@{ $spec->{tables} })
	{
		my $with = "WITH (fillfactor = $t->{fillfactor})";
		my $name = $t->{name};
		my $make =
		  "CREATE TABLE $name (id int, k int, a int, b int, c int)"
		  . ($t->{by} ? " PARTITION BY $t->{by};" : " $with;");
		my @value =
		  $t->{correlated}
		  ? ("i * 50 / ($t->{rows} + 1)") x 3
		  : map { "i * $_ % 50" } 7, 11, 13;
		my $i = 0;
		$make .=
		  " CREATE TABLE ${name}_@{[ $i++ ]} PARTITION OF $name $_ $with;"
		  for @{ $t->{bounds} };
		$make .=
		  " INSERT INTO $name SELECT i, i % 200, $value[0], $value[1], $value[2] FROM generate_series(1, $t->{rows}) i;";
		$make .= " CREATE INDEX $_->[0] ON $name $_->[1];"
		  for @{ $t->{indexes} };
		push @sql, $make, "VACUUM ANALYZE $name;";
	}
	return map { "setup { $_ }" } @sql;
}

# Returns what each step did by what isolationtester has printed: a list of
# { waits, error, text }.
sub results
{
	my ($printed) = @_;
	my @chunks = split /^step s(\d+): /m, $printed;
	shift @chunks;
	my @results;
	while (@chunks)
	{
		my ($n, $said) = splice @chunks, 0, 2;
		my $r = $results[ $n - 1 ] ||= { waits => 0, text => '' };
		my ($first, $rest) = $said =~ /^(\N*)\n(.*)/s;
		$r->{waits} = 1 if $first =~ / <waiting \.\.\.>\z/;
		$rest =~ s/^\S*: NOTICE:.*\n//mg;
		# OIDs need not be the same on both.
		$rest =~ s/^(?:ERROR|FATAL):.* OID \K\d+/N/mg;
		$r->{text} .= $rest =~ s/\s+\z//r;
		$r->{error} = $1 if $rest =~ /^(?:ERROR|FATAL):  (.*)/m;
		$r->{done} = 1 if $first =~ /<\.\.\. completed>/;
	}
	for (grep { $_ && $_->{waits} && !$_->{done} } @results)
	{
		$_->{error} //= 'waits to the end';
	}
	return @results;
}

# Runs specifications on both servers, at the same time, each in a database of its own.
# Returns for each what "results" returns of base, and of patched.
sub both
{
	my ($servers, @specs) = @_;
	my $tester =
	  "$servers->[0]{build}{build}/src/test/isolation/isolationtester";
	my (@jobs, @pairs);
	for my $n (0 .. $#specs)
	{
		my $text = text($specs[$n]);
		for my $server (@$servers)
		{
			my $file = $server->data . "/hunt.$n.out";
			push @{ $pairs[$n] }, $file;
			push @jobs,
			  sub { isolation($server, $n, $tester, $text, $file); };
		}
	}
	in_parallel(@jobs);
	return map {
		[ map { [ results(read_file($_)) ] } @$_ ]
	} @pairs;
}

# Runs isolationtester.  It ends early if the server crashes, which is a finding; the next
# one has to wait until that is there again.
sub isolation
{
	my ($server, $n, $tester, $text, $file) = @_;
	for my $try (1 .. 120)
	{
		unlink $file;
		my $status = $server->client(
			[ $tester, "dbname=hunt$n" ],
			in => $text,
			log => $file,
			env => { PG_TEST_TIMEOUT_DEFAULT => 5 });
		return if read_file($file) =~ /^starting permutation/m;
		fail(
			2,
			"isolationtester ended with status $status",
			'see ' . $server->log,
			read_file($file)) if $try == 120;
		sleep 1;
	}
	return;
}

my $TIMEOUT = qr/lock timeout|user request|waits to the end/;
my $INTERNAL =
  qr/cache lookup failed|could not (?:open|find|read)|failed to|unexpected|not found in|no relation entry|wrong type|invalid memory|concurrently updated|sibling|missing|doesn't match|unrecognized/;

# Compares them.  Returns findings, { kind, what, step }; "base" is true for a wrong result
# that base has, too.
sub findings
{
	my ($spec, $base, $patched) = @_;
	my @found;
	my ($diverged, $paused) = (0, 0);
	my @steps = @{ $spec->{steps} };
	for my $n (0 .. $#steps)
	{
		my ($step, $b, $p) = ($steps[$n], $base->[$n], $patched->[$n]);
		my $found = sub {
			my ($kind, $what, %more) = @_;
			push @found, { kind => $kind, what => $what, step => $n, %more };
		};
		if (!$p || !$b)
		{
			$found->('rows', 'the session ends') if $b && !$p;
			last;
		}
		my $kind = $step->{kind};

		# A query that is to wait for the pause may wait for another lock on base, before
		# it has those that it holds on patched.
		$paused = 1 if $step->{sql} =~ /\bpause\(/ && $p->{waits};
		$paused = 0 if $step->{sql} =~ /\bpg_advisory_unlock\(/;
		if ($kind eq 'oracle')
		{
			for ([ $patched, 'patched' ], [ $base, 'base' ])
			{
				my ($results, $name) = @$_;
				$found->(
					'rows',
					"$name: not the rows of a sequential scan",
					base => $name eq 'base'
				) if disproved($spec, $results, $n);
			}
		}
		elsif ($kind eq 'waiting')
		{
			my %behind = $b->{text} =~ /^(.*?) *\| *(\d+)$/mg;
			my %late = $p->{text} =~ /^(.*?) *\| *(\d+)$/mg;
			for (sort keys %late)
			{
				$found->('ddl', "waits after more work: $_")
				  if defined $behind{$_} && $late{$_} > $behind{$_};
			}
		}
		elsif ($kind eq 'locks')
		{
			# Where base runs a generic plan and patched a custom one, which locks fewer
			# partitions but more indexes, that is no fault.
			my @had = locked($b);
			my @has = locked($p);
			my %had = map { $_ => 1 } @had;
			my @more = grep {
				!$had{$_}
				  && (/[rp]$/ || !/AccessShare|RowExclusive/ || @has > @had)
			} @has;
			$#more = 3 if @more > 4;
			$found->('locks', 'holds more: ' . join(', ', @more))
			  if @more && !$diverged;
		}
		elsif (!$diverged)
		{
			my ($x, $y) = map { $_->{error} // '' } $b, $p;
			if ($p->{waits} && !$b->{waits})
			{
				$found->('locks', 'waits') if !$paused;
			}
			elsif ($x ne $y
				&& $y ne ''
				&& ($y !~ $TIMEOUT || $y =~ /user request/))
			{
				# After a lock that base waits for in vain, or until there is a deadlock, both
				# may fail.
				$found->($kind eq 'ddl' ? 'ddl' : 'rows', "fails: $y")
				  if $x !~ /$TIMEOUT|deadlock detected/ || $y =~ $INTERNAL;
			}
			elsif ($x eq $y && $b->{text} ne $p->{text})
			{
				# The wrong ones may be those of base.
				$found->('rows', 'other rows')
				  if !disproved($spec, $base, $n + 1);
			}
		}
		elsif (($p->{error} // '') =~ $INTERNAL)
		{
			$found->('rows', "fails: $p->{error}") if !defined $b->{error};
		}
		$diverged = 1
		  if $b->{waits} != $p->{waits}
		  || ($b->{error} // '') ne ($p->{error} // '');
	}
	return @found;
}

# Is a step an oracle that shows that the one before it has returned wrong rows?  What is made
# smaller may lack the query that it belongs to.
sub disproved
{
	my ($spec, $results, $n) = @_;
	my ($query, $oracle) = map { $n ? $spec->{steps}[$_] : undef } $n - 1, $n;
	my ($with, $without) = map { $n ? $results->[$_] : undef } $n - 1, $n;
	return
		 $oracle
	  && $oracle->{kind} eq 'oracle'
	  && $query->{sql} eq $oracle->{sql}
	  && $with
	  && $without
	  && !grep({ $_->{error} } $with, $without)
	  && $with->{text} ne $without->{text};
}

sub locked
{
	my ($r) = @_;
	return map { s/ +//gr } $r->{text} =~ /^(\w+ *\| *\w+ *\| *[a-zI])$/mg;
}

# Smaller specifications, one after another, to be tried as long as a finding holds.
sub smaller
{
	my ($spec) = @_;
	my @smaller;
	my @steps = @{ $spec->{steps} };
	my $size = int(@steps / 2);
	while ($size >= 1)
	{
		for (my $i = 0; $i < @steps; $i += $size)
		{
			my @less = @steps;
			splice @less, $i, $size;
			push @smaller, { %$spec, steps => \@less } if @less;
		}
		$size = int($size / 2);
	}
	for my $t (0 .. $#{ $spec->{tables} })
	{
		my @tables = @{ $spec->{tables} };
		my $table = $tables[$t];
		if (@tables > 1)
		{
			splice @tables, $t, 1;
			push @smaller, { %$spec, tables => [@tables] };
			@tables = @{ $spec->{tables} };
		}
		my @indexes = @{ $table->{indexes} };
		for my $i (0 .. $#indexes)
		{
			my @less = @indexes;
			splice @less, $i, 1;
			$tables[$t] = { %$table, indexes => \@less };
			push @smaller, { %$spec, tables => [@tables] };
		}
		for my $rows (grep { $_ < $table->{rows} } 1, 20, 200)
		{
			$tables[$t] = { %$table, rows => $rows };
			push @smaller, { %$spec, tables => [@tables] };
		}
	}
	return @smaller;
}

1;
