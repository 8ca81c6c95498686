package PgSeries::Hunt::Cases;

use strict;
use warnings FATAL => 'all';

use List::Util                  qw(max min sample uniq);
use PgSeries::Stress::Generator qw(draw one_in pick weighted);

=pod

=head1 NAME

PgSeries::Hunt::Cases - random tables, and statements as applications write them

=head1 DESCRIPTION

All depends on the seed.  A table is a hash: C<name>, C<by> (the key that it is
partitioned by) and C<parts> (how many), C<sub> (partitions of each, by hash), C<rows>,
C<customers>, C<collate> (of txt), C<key> (the primary key), C<trigger>, and C<indexes>.  All
tables have the same columns, of which c1 to c8 may be NULL:

  id        bigint, unique        amount    numeric
  k         integer, uniform      txt       text
  customer  integer, skewed       c1 ... c8 integers
  ts        timestamp in 2025, correlated with id
  status    text, one of five, skewed

A case is a hash: C<tables>, the hashes of those it uses; C<set>, settings; C<head>, C<where>
and C<tail>, the parts of the statement; C<values>, the lists of values for its parameters
$1, ...; C<prepared>; C<kind>, for the report; C<change>, true if it is to be rolled back.
A case of kind "churn" has its table to itself, and no parameters: its statement is a block
that commits many small transactions.

=cut

my @COLUMNS = (qw(id k customer ts status amount txt), map { "c$_" } 1 .. 8);

# Index definitions; the first ones are what most tables have.
my @USUAL = ('(id)', '(k)', '(customer, ts)', '(ts)', '(status)');
my @UNUSUAL = (
	'(status, ts)',
	'(customer)',
	'(k, id)',
	'(amount)',
	'(txt)',
	'(lower(txt))',
	'(c1)',
	'(c2)',
	'(c3, c4)',
	'(c5) INCLUDE (c6)',
	'(c1, c2, c3)',
	'((c1 + c2))',
	'(customer) WHERE status = \'new\'',
	'(ts) WHERE c1 = 3',
	'(k DESC NULLS LAST)',
	'USING hash (customer)',
	'USING hash (txt)',
	'USING brin (ts)',
	'USING brin (k, c1)',
	'USING gin (string_to_array(txt, \' \'))',
	'USING spgist (txt)',
	'(customer, status, ts)',
	'(c7)',
	'(c8)',
	'(date_trunc(\'day\', ts))');

# Takes a seed and the topic that the hunt is about, if any.
sub new
{
	my ($class, $seed, $topic) = @_;
	srand $seed;
	my $self = bless {
		topic => $topic // '',
		n => 0,
		collate => one_in(2) ? ' COLLATE words' : ''
	}, $class;
	$self->{tables} = [ map { $self->table("t$_") } 1 .. 3 ];
	return $self;
}

sub tables { my ($self) = @_; return @{ $self->{tables} }; }

sub table
{
	my ($self, $name) = @_;
	my $topic = $self->{topic};
	my $partitioned =
		$topic =~ /^(?:partitions|merge)$/ ? 1
	  : $topic eq 'indexes'                ? one_in(3)
	  :                                      !one_in(3);
	my $by = $partitioned
	  && pick(
		'HASH (id)',
		'HASH (customer)',
		'RANGE (ts)',
		'RANGE (ts)',
		'LIST (status)');
	my $parts =
	   !$by         ? 0
	  : $by =~ /^L/ ? 5
	  :               pick(2, 4, 8, 8, 14, 32, 64, 256);
	my $sub = $parts && $parts <= 32 && one_in(3) ? pick(2, 4, 8) : 0;
	my $rows = pick(1, 300, 5_000, 50_000, 50_000, (200_000) x 3, 400_000);
	my $leaves = max(1, $parts) * max(1, $sub);
	my $most = min(
		$rows <= 5000 ? 200 : 60,
		int(600 / $leaves),
		int(2_500_000 / max(1, $rows)));
	my $count =
		$topic eq 'indexes' || one_in(5) ? $most
	  : one_in(8)                        ? 0
	  :                                    min($most, 1 + draw(6));
	my @indexes = ((sample 3, @USUAL), (sample scalar @UNUSUAL, @UNUSUAL));
	push @indexes, map { "(c$_->[0], c$_->[1], k)" }
	  map {
		my $x = $_;
		map { [ $x, $_ ] } grep { $_ != $x } 1 .. 8
	  } 1 .. 8;
	$#indexes = min(max($count, 1), scalar @indexes) - 1;
	@indexes = () if !$count;
	my $n = 0;
	my ($column) = ($by || '') =~ /\((\w+)/;
	my $sub_column =
	  !$sub ? undef : $column eq 'customer' ? 'id' : 'customer';
	my $key = join ', ', uniq 'id', grep { defined } $column, $sub_column;
	return {
		name => $name,
		key => one_in(4) ? '' : $key,
		trigger => one_in(6),
		collate => $self->{collate},
		by => $by || '',
		parts => $parts,
		sub => $sub,
		rows => $rows,
		customers => max(1, int($rows / pick(10, 100, 1000))),
		indexes => [ map { [ "${name}_x" . ++$n, $_ ] } @indexes ]
	};
}

# Returns SQL that makes a table and its data.
sub create_table
{
	my ($t) = @_;
	my $name = $t->{name};
	my $sql =
	  "CREATE TABLE $name (id bigint NOT NULL, k int NOT NULL, customer int NOT NULL, ts timestamp NOT NULL, status text NOT NULL, amount numeric, txt text$t->{collate}, "
	  . join(', ', map { "c$_ int" } 1 .. 8) . ')'
	  . ($t->{by} ? " PARTITION BY $t->{by}" : '') . ";\n";
	for my $p (0 .. $t->{parts} - 1)
	{
		$sql .=
			"CREATE TABLE ${name}_$p PARTITION OF $name "
		  . bound($t->{by}, $t->{parts}, $p)
		  . (
			$t->{sub}
			? ' PARTITION BY HASH ('
			  . ($t->{by} =~ /customer/ ? 'id' : 'customer') . ')'
			: '') . ";\n";
		$sql .=
		  "CREATE TABLE ${name}_${p}_$_ PARTITION OF ${name}_$p FOR VALUES WITH (MODULUS $t->{sub}, REMAINDER $_);\n"
		  for 0 .. $t->{sub} - 1;
	}
	my $h = sub { "(hashint8(i + $_[0]) & 1073741823)" };
	$sql .=
		"INSERT INTO $name SELECT i, "
	  . $h->(0)
	  . " % $t->{rows}, floor($t->{customers} * power("
	  . $h->(1)
	  . " / 1073741824.0, 3))::int, timestamp '2025-01-01' + i * (interval '364 days' / $t->{rows}), (ARRAY['done', 'sent', 'paid', 'new', 'void'])[1 + floor(5 * power("
	  . $h->(2)
	  . " / 1073741824.0, 4))::int], ("
	  . $h->(3)
	  . " % 100000) / 100.0, 'text ' || "
	  . $h->(4)
	  . " % 5000, "
	  . join(
		', ',
		map {
				'NULLIF('
			  . $h->(4 + $_) . ' % '
			  . (3, 10, 100, 1000, 10, 50, 500, 10000)[ $_ - 1 ] . ', 2)'
		} 1 .. 8) . " FROM generate_series(0, $t->{rows} - 1) i;\n";
	$sql .= "ALTER TABLE $name ADD PRIMARY KEY ($t->{key});\n" if $t->{key};
	$sql .= "CREATE INDEX $_->[0] ON $name $_->[1];\n" for @{ $t->{indexes} };
	$sql .=
	  "CREATE TRIGGER touch BEFORE UPDATE ON $name FOR EACH ROW EXECUTE FUNCTION touch();\n"
	  if $t->{trigger};
	return $sql;
}

sub bound
{
	my ($by, $n, $p) = @_;
	return "FOR VALUES WITH (MODULUS $n, REMAINDER $p)" if $by =~ /^HASH/;
	return 'FOR VALUES IN (\'' . (qw(done sent paid new void))[$p] . '\')'
	  if $by =~ /^LIST/;
	my $day = sub {
		my ($i) = @_;
		return "timestamp '2025-01-01' + interval '364 days' * $i / $n";
	};
	return
		'FOR VALUES FROM ('
	  . ($p ? $day->($p) : 'MINVALUE')
	  . ') TO ('
	  . ($p < $n - 1 ? $day->($p + 1) : 'MAXVALUE') . ')';
}

# SQL for all databases: functions that statements call, and a collation of libc.
sub functions
{
	return <<'END';
DO $$ BEGIN
  CREATE COLLATION words (provider = libc, locale = 'en_US.UTF-8');
EXCEPTION WHEN invalid_parameter_value THEN
  CREATE COLLATION words (provider = libc, locale = 'C.UTF-8');
END $$;
CREATE FUNCTION keep(x bigint) RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$ BEGIN RETURN x % 10 <> 0; END $$;
CREATE FUNCTION is_old(x timestamp) RETURNS boolean LANGUAGE plpgsql STABLE PARALLEL SAFE COST 1000 AS $$ BEGIN RETURN x < timestamp '2025-11-01'; END $$;
CREATE FUNCTION touch() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.c7 := 1; RETURN NEW; END $$;
CREATE FUNCTION quick(x int) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT x >= 0 $$;
END
}

# Settings that people change, most often none.
sub set
{
	return {} if !one_in(4);
	return {
		%{
			pick(
				{ random_page_cost => 1.1 },
				{ random_page_cost => 1.1, effective_cache_size => '16GB' },
				{ work_mem => '64MB' },
				{ max_parallel_workers_per_gather => 4 },
				{ max_parallel_workers_per_gather => 0 },
				{
					enable_partitionwise_join => 'on',
					enable_partitionwise_aggregate => 'on'
				},
				{ default_statistics_target => 1000 },
				{ cursor_tuple_fraction => 1 },
				{ plan_cache_mode => 'force_generic_plan' },
				{ from_collapse_limit => 1, join_collapse_limit => 1 })
		}
	};
}

# A value of a column, most often one that it has.
sub value
{
	my ($t, $column) = @_;
	return
		$column eq 'id'       ? draw($t->{rows})
	  : $column eq 'k'        ? draw($t->{rows})
	  : $column eq 'customer' ? int($t->{customers} * rand()**3)
	  : $column eq 'status' ? q(') . pick(qw(done done sent paid new)) . q(')
	  : $column eq 'ts'     ? sprintf q('2025-%02d-%02d %02d:30:00'),
	  1 + draw(12), 1 + draw(28), draw(24)
	  : $column eq 'amount' ? draw(1000)
	  : $column eq 'txt'    ? q('text ) . draw(5000) . q(')
	  : draw(
		(3, 10, 100, 1000, 10, 50, 500, 10000)[ substr($column, 1) - 1 ]);
}

my %TYPE = (
	id => 'bigint',
	ts => 'timestamp',
	status => 'text',
	amount => 'numeric',
	txt => 'text');

# A parameter for a column, with a value for each of eight executions.  Returns its name.
sub parameter
{
	my ($self, $case, $t, $column) = @_;
	push @{ $case->{values} }, [ map { value($t, $column) } 1 .. 8 ];
	push @{ $case->{types} }, $TYPE{$column} // 'int';
	return '$' . @{ $case->{values} };
}

# A condition on alias $x of table $t; likely ones have an index.
sub condition
{
	my ($self, $case, $t, $x) = @_;
	my @indexed = map { $_->[1] =~ /^(?:USING \w+ )?\((\w+)/ ? $1 : () }
	  @{ $t->{indexes} };
	@indexed = grep {
		my $c = $_;
		grep { $_ eq $c } @COLUMNS
	} @indexed;
	my $c = @indexed && !one_in(3) ? pick(@indexed) : pick(@COLUMNS);
	my $p = sub { $self->parameter($case, $t, $c) };
	my $type = $TYPE{$c} // 'int';
	return pick(
		sub { "$x.$c = " . $p->() },
		sub { "$x.$c = " . $p->() },
		sub { "$x.$c = " . $p->() },
		sub { "$x.$c >= " . $p->() },
		sub { "$x.$c < " . $p->() },
		sub {
			my $low = $p->();
			$c =~ /^(?:status|txt)$/ ? "$x.$c > $low"
			  : $c eq 'ts'           ? "$x.ts >= $low AND $x.ts < $low"
			  . '::timestamp + interval '
			  . pick(q('1 hour'), q('1 day'), q('1 month'))
			  : "$x.$c BETWEEN $low AND $low + " . pick(2, 10, 100);
		},
		sub {
			"$x.$c IN ("
			  . join(', ', map { $p->() } 1 .. pick(2, 3, 10)) . ')';
		},
		sub {
			"$x.$c = ANY (ARRAY["
			  . join(', ', map { $p->() } 1 .. pick(3, 8))
			  . "]::$type\[])";
		},
		sub { "keep($x.id)" },
		sub { "is_old($x.ts)" },
		sub { "quick($x.c1)" },
		sub { "$x.status <> 'void'" },
		sub { "$x.c1 + $x.c2 > 3" },
		sub {
			"($x.$c = "
			  . $p->()
			  . " OR $x.k = "
			  . $self->parameter($case, $t, 'k') . ')';
		},
		sub { "$x.txt " . pick('LIKE', 'ILIKE') . " 'text 1%'" },
		sub { "lower($x.txt) = 'text " . draw(5000) . q(') },
		sub {
			"string_to_array($x.txt, ' ') @> ARRAY['text', '"
			  . draw(5000) . q(']);
		},
		sub { "date_trunc('day', $x.ts) = timestamp '2025-03-01'" },
		sub { "$x.c3 IS " . pick('NULL', 'NOT NULL') },
		sub { "$x.ts > timestamp '2025-12-20' - interval '3 days'" })->();
}

sub conditions
{
	my ($self, $case, $t, $x, $least) = @_;
	return
	  map { $self->condition($case, $t, $x) } 1 .. pick($least, 1, 1, 2, 3);
}

# Columns to return.
sub outputs
{
	my ($x) = @_;
	return pick(
		"$x.*", "$x.id, $x.ts, $x.amount",
		"$x.id", "$x.customer, $x.status");
}

sub order
{
	my ($x, $t) = @_;
	my @order =
	  map { $_->[1] =~ /^\(([\w, ]+)\)/ ? $1 : () } @{ $t->{indexes} };
	@order = grep { !/date_trunc|lower/ } @order;
	my $order =
	  @order && !one_in(3)
	  ? pick(@order)
	  : pick(qw(id k ts amount), 'status, ts', 'c3, c4', 'txt');
	$order = join ', ', map { "$x.$_" } split /, /, $order;
	$order .= ' DESC' if $order !~ /,| DESC/ && one_in(3);
	return $order;
}

sub limit
{
	return
		'LIMIT '
	  . pick(1, 1, 10, 20, 100, 1000, 5000, 10_000, 20_000, 40_000)
	  . (one_in(6) ? ' OFFSET 1000' : '');
}

my %WEIGHT = (
	point => 3,
	list => 4,
	ordered => 6,
	page => 2,
	queue => 2,
	function_limit => 3,
	join => 5,
	few_join => 4,
	exists => 3,
	lateral => 2,
	group => 4,
	distinct => 2,
	window => 2,
	union => 2,
	cte => 2,
	scalar => 2,
	count => 3,
	extremes => 2,
	insert => 2,
	upsert => 2,
	update => 4,
	delete => 2,
	merge => 1,
	churn => 2,
	build => 2);
my %OF_TOPIC = (
	merge =>
	  [qw(ordered function_limit join few_join group distinct window union)],
	'parallel-sort' => [qw(build ordered window)],
	nbtree => [qw(churn update upsert)],
	locks => [qw(point queue join update insert churn)]);

# Returns the next case.
sub next_case
{
	my ($self) = @_;
	my $kind = weighted(map { [ $WEIGHT{$_}, $_ ] }
		  @{ $OF_TOPIC{ $self->{topic} } || [ sort keys %WEIGHT ] });
	my $t = pick(@{ $self->{tables} });
	my $case = {
		kind => $kind,
		tables => [$t],
		set => set(),
		values => [],
		types => [],
		where => [],
		tail => [],
		prepared => one_in(2)
	};
	my $make = "make_$kind";
	$self->$make($case, $t);
	$case->{prepared} = 0 if $kind =~ /^(?:churn|build)$/;
	return $case;
}

sub other
{
	my ($self, $case) = @_;
	my $u = pick(@{ $self->{tables} });
	push @{ $case->{tables} }, $u
	  if !grep { $_->{name} eq $u->{name} } @{ $case->{tables} };
	return $u;
}

sub from_where
{
	my ($self, $case, $t, $select, $least, @tail) = @_;
	$case->{head} = "SELECT $select FROM $t->{name} a";
	push @{ $case->{where} },
	  $least =~ /^\d/ ? $self->conditions($case, $t, 'a', $least) : $least;
	push @{ $case->{tail} }, @tail;
	return;
}

sub make_point
{
	my ($self, $case, $t) = @_;
	$case->{head} = 'SELECT ' . outputs('a') . " FROM $t->{name} a";
	my $c = pick(qw(id id k customer));
	push @{ $case->{where} }, "a.$c = " . $self->parameter($case, $t, $c);
	push @{ $case->{where} }, 'a.ts = ' . $self->parameter($case, $t, 'ts')
	  if one_in(4);
	if (one_in(6))
	{
		push @{ $case->{tail} }, pick('FOR UPDATE', 'FOR SHARE');
		$case->{change} = 1;
	}
	return;
}

# The next page of a list, and the next things to work on.
sub make_page
{
	my ($self, $case, $t) = @_;
	return $self->from_where(
		$case,
		$t,
		outputs('a'),
		'(a.ts, a.id) < ('
		  . $self->parameter($case, $t, 'ts') . ', '
		  . $self->parameter($case, $t, 'id') . ')',
		'ORDER BY a.ts DESC, a.id DESC',
		'LIMIT 20');
}

sub make_queue
{
	my ($self, $case, $t) = @_;
	$case->{change} = 1;
	$case->{head} = "SELECT a.id FROM $t->{name} a";
	push @{ $case->{where} }, q(a.status = 'new');
	push @{ $case->{tail} }, 'ORDER BY a.' . pick(qw(id ts)), 'LIMIT 10',
	  'FOR UPDATE SKIP LOCKED';
	return;
}

sub make_list
{
	my ($self, $case, $t) = @_;
	return $self->from_where($case, $t, outputs('a'), 1);
}

sub make_ordered
{
	my ($self, $case, $t) = @_;
	return $self->from_where(
		$case, $t, outputs('a'), 0,
		'ORDER BY ' . order('a', $t),
		one_in(5) ? () : limit());
}

sub make_function_limit
{
	my ($self, $case, $t) = @_;
	$self->from_where($case, $t, outputs('a'), 0,
		'ORDER BY ' . order('a', $t), limit());
	push @{ $case->{where} }, pick('keep(a.id)', 'is_old(a.ts)');
	return;
}

sub joined
{
	my ($self, $case, $t, $type) = @_;
	my $u = $self->other($case);
	my $on = pick(
		'b.id = a.id',
		'b.id = a.k',
		'b.customer = a.customer AND b.ts = a.ts',
		'b.customer = a.customer AND b.id = a.id',
		'b.k = a.k',
		'b.id = a.c8',
		'b.ts = a.ts');
	return "$type $u->{name} b ON $on";
}

sub make_join
{
	my ($self, $case, $t) = @_;
	my $join = $self->joined($case, $t,
		pick('JOIN', 'JOIN', 'LEFT JOIN', 'FULL JOIN'));
	my $third =
	  one_in(3) ? ' ' . $self->joined($case, $t, 'JOIN') =~ s/\bb\b/c/gr : '';
	$self->from_where(
		$case, $t,
		pick(
			'count(*), sum(b.amount)',
			'a.id, b.id, b.amount',
			'a.status, count(*)'),
		1);
	$case->{head} .= " $join$third";
	push @{ $case->{tail} }, 'GROUP BY a.status'
	  if $case->{head} =~ /a\.status, count/;
	push @{ $case->{tail} }, 'ORDER BY ' . order('a', $t), limit()
	  if $case->{head} =~ /a\.id, b/ && one_in(2);
	return;
}

# A join for one customer, or one thing.
sub make_few_join
{
	my ($self, $case, $t) = @_;
	my $u = one_in(2) ? $t : $self->other($case);
	my $c = pick(qw(customer customer id k));
	my $on = pick(
		'b.customer = a.customer AND b.ts = a.ts',
		'b.customer = a.customer AND b.id = a.id',
		'b.id = a.id',
		'b.k = a.k');
	$case->{head} =
		'SELECT '
	  . pick('count(*)', 'a.id, b.ts, b.status', 'a.*')
	  . " FROM $t->{name} a JOIN $u->{name} b ON $on";
	push @{ $case->{where} }, "a.$c = " . $self->parameter($case, $t, $c);
	push @{ $case->{tail} }, 'ORDER BY a.ts'
	  if $case->{head} !~ /count/ && one_in(2);
	return;
}

sub make_exists
{
	my ($self, $case, $t) = @_;
	my $u = $self->other($case);
	$self->from_where($case, $t, pick('count(*)', 'a.id'), 1);
	push @{ $case->{where} },
		pick('EXISTS', 'EXISTS', 'NOT EXISTS')
	  . " (SELECT FROM $u->{name} b WHERE "
	  . pick('b.id = a.id', 'b.customer = a.customer AND b.ts = a.ts',
		'b.k = a.k')
	  . (one_in(2) ? " AND b.status = 'new'" : '') . ')';
	return;
}

sub make_lateral
{
	my ($self, $case, $t) = @_;
	my $u = $self->other($case);
	$self->from_where($case, $t, 'a.id, l.*', 1);
	$case->{head} .=
		' CROSS JOIN LATERAL (SELECT b.id AS x, b.ts FROM '
	  . "$u->{name} b WHERE b."
	  . pick('customer = a.customer', 'k = a.k')
	  . ' ORDER BY b.'
	  . pick(qw(ts id))
	  . ' LIMIT '
	  . pick(1, 5) . ') l';
	push @{ $case->{tail} }, 'LIMIT 100';
	return;
}

sub make_group
{
	my ($self, $case, $t) = @_;
	my $g = pick(
		'a.status', 'a.customer',
		'date_trunc(\'day\', a.ts)', 'a.k',
		'a.c1, a.c2', 'a.c3');
	return $self->from_where($case, $t, "$g, count(*), sum(a.amount)",
		0, "GROUP BY $g", one_in(3) ? ('ORDER BY 1', 'LIMIT 20') : ());
}

sub make_distinct
{
	my ($self, $case, $t) = @_;
	return one_in(2)
	  ? $self->from_where($case, $t,
		'DISTINCT ' . pick('a.customer', 'a.status', 'a.c3, a.c4'), 0)
	  : $self->from_where($case, $t,
		'DISTINCT ON (a.customer) a.customer, a.ts, a.id',
		0, 'ORDER BY a.customer, a.ts DESC');
}

sub make_window
{
	my ($self, $case, $t) = @_;
	return $self->from_where(
		$case,
		$t,
		'a.id, '
		  . pick('row_number()', 'sum(a.amount)', 'rank()')
		  . ' OVER (PARTITION BY a.'
		  . pick(qw(customer status k))
		  . ' ORDER BY a.'
		  . pick(qw(ts id)) . ')',
		1,
		one_in(2) ? limit() : ());
}

sub make_union
{
	my ($self, $case, $t) = @_;
	my $u = $self->other($case);
	$self->from_where($case, $t, 'a.id, a.ts, a.amount', 1);
	$case->{head} =
		"SELECT b.id, b.ts, b.amount FROM $u->{name} b WHERE b.customer = "
	  . $self->parameter($case, $u, 'customer')
	  . pick(' UNION ALL ', ' UNION ')
	  . $case->{head};
	push @{ $case->{tail} }, 'ORDER BY ts', limit() if one_in(2);
	return;
}

sub make_cte
{
	my ($self, $case, $t) = @_;
	my $u = $self->other($case);
	my $what = pick('', 'MATERIALIZED ');
	my $p = $self->parameter($case, $u, 'customer');
	$self->from_where($case, $t, 'a.id, w.n', 0);
	$case->{head} =
	  "WITH w AS $what(SELECT customer, count(*) AS n FROM $u->{name} WHERE customer >= $p GROUP BY customer) $case->{head} JOIN w ON w.customer = a.customer";
	push @{ $case->{tail} }, limit() if one_in(2);
	return;
}

sub make_scalar
{
	my ($self, $case, $t) = @_;
	my $u = $self->other($case);
	return $self->from_where(
		$case,
		$t,
		"a.id, (SELECT "
		  . pick('max(b.ts)', 'count(*)')
		  . " FROM $u->{name} b WHERE b."
		  . pick('customer = a.customer', 'k = a.k', 'id = a.id') . ')',
		1,
		'LIMIT 50');
}

sub make_count
{
	my ($self, $case, $t) = @_;
	return $self->from_where($case, $t, 'count(*)', 0);
}

sub make_extremes
{
	my ($self, $case, $t) = @_;
	return $self->from_where($case, $t,
		pick('min(a.ts)', 'max(a.id)', 'min(a.k), max(a.k)', 'max(a.ts)'), 0);
}

# Statements that change rows.

sub make_insert
{
	my ($self, $case, $t) = @_;
	$case->{change} = 1;

	# Where there is a key, an insertion has an id of its own.
	my $own = $t->{key} && $case->{kind} eq 'insert' ? "$t->{rows} + " : '';
	if (one_in(3))
	{
		my $p = $self->parameter($case, $t, 'id');
		$case->{head} =
			"INSERT INTO $t->{name} SELECT ${own}a.id, "
		  . join(', ', map { "a.$_" } @COLUMNS[ 1 .. $#COLUMNS ])
		  . " FROM $t->{name} a WHERE a.id BETWEEN $p AND $p + "
		  . pick(5, 100);
	}
	else
	{
		$case->{head} = "INSERT INTO $t->{name} VALUES ("
		  . join(
			', ',
			map { ($_ eq 'id' ? $own : '') . $self->parameter($case, $t, $_) }
			  @COLUMNS) . ')';
	}
	returning($case);
	return;
}

sub returning
{
	my ($case) = @_;
	push @{ $case->{tail} }, 'RETURNING id, ts' if one_in(3);
	return;
}

sub make_upsert
{
	my ($self, $case, $t) = @_;
	$self->make_insert($case, $t);
	$case->{head} .= ' ON CONFLICT '
	  . (
		$t->{key} && one_in(2)
		? "($t->{key}) DO UPDATE SET c8 = EXCLUDED.c8, amount = EXCLUDED.amount"
		: 'DO NOTHING');
	return;
}

sub make_update
{
	my ($self, $case, $t) = @_;
	$case->{change} = 1;
	my $c = pick(qw(c1 c5 c8 amount status k ts));
	my $set = pick(
		"$c = " . $self->parameter($case, $t, $c),
		"c8 = c8 + 1",
		join(', ', map { "$_ = a.$_" } grep { $_ ne 'c1' } @COLUMNS)
		  . ', c1 = c1 + 1');
	$case->{head} = "UPDATE $t->{name} a SET $set";
	$case->{values} = [], $case->{types} = [] if $set !~ /\$/;
	my $by = pick(qw(id id id k customer));
	push @{ $case->{where} }, "a.$by = " . $self->parameter($case, $t, $by);
	returning($case);
	return;
}

sub make_delete
{
	my ($self, $case, $t) = @_;
	$case->{change} = 1;
	$case->{head} = "DELETE FROM $t->{name} a";
	my $by = pick(qw(id k customer));
	push @{ $case->{where} }, "a.$by = " . $self->parameter($case, $t, $by);
	returning($case);
	return;
}

sub make_merge
{
	my ($self, $case, $t) = @_;
	$case->{change} = 1;
	$case->{head} =
		"MERGE INTO $t->{name} a USING (SELECT "
	  . $self->parameter($case, $t, 'id')
	  . '::bigint AS id) s ON a.id = s.id WHEN MATCHED THEN UPDATE SET c8 = c8 + 1 WHEN NOT MATCHED THEN DO NOTHING';
	return;
}

# An index build, of which all is rolled back.
sub make_build
{
	my ($self, $case, $t) = @_;
	$case->{change} = 1;
	$case->{head} = "CREATE INDEX built ON $t->{name} "
	  . pick(@USUAL, '(txt)', '(amount)', '(c3, c4)', '(c7)',
		'(txt COLLATE "C")');
	$case->{set} = pick(
		{}, {},
		{ maintenance_work_mem => '2MB' },
		{ max_parallel_maintenance_workers => 0 });
	return;
}

# A table of its own, a session that updates it.
sub make_churn
{
	my ($self, $case) = @_;
	my $rows = pick(100, 4000, 4000, 20_000, 100_000);
	my $t = {
		%{ $self->table('churned') },
		by => '',
		parts => 0,
		sub => 0,
		key => '',
		rows => $rows,
		customers => max(1, $rows / 10)
	};
	my @columns = sample pick(1, 3, 6, 10),
	  map { "($_)" } grep { $_ ne 'id' } @COLUMNS;
	my $n = 0;
	$t->{indexes} = [ map { [ 'churned_x' . ++$n, $_ ] } '(id)', @columns ];
	$case->{tables} = [$t];
	my $one =
	  pick('c1 = c1 + 1', 'c8 = c8 + 1', 'amount = amount + 1', 'k = k + 1');
	my $set =
	  one_in(2)
	  ? $one
	  : join(', ',
		$one,
		map { "$_ = a.$_" } grep { $one !~ /^$_ / && $_ ne 'id' } @COLUMNS);
	my $times = 2000;
	my $change =
	  one_in(5)
	  ? 'DELETE FROM churned WHERE id = x; INSERT INTO churned VALUES (x, x, 1, now(), \'new\', 1, \'text 5\', 1, 2, 3, 4, 5, 6, 7, 8);'
	  : "UPDATE churned a SET $set WHERE id = x;";
	$case->{own} = 1;
	$case->{head} =
	  "DO \$\$ DECLARE x bigint; BEGIN FOR i IN 1 .. $times LOOP x := floor(random() * $rows); $change COMMIT; END LOOP; END \$\$";
	return;
}

# The text of a case's statement, with $1, ... in it.
sub statement
{
	my ($case) = @_;
	return join ' ', $case->{head},
	  @{ $case->{where} }
	  ? 'WHERE ' . join(' AND ', @{ $case->{where} })
	  : (),
	  @{ $case->{tail} };
}

# The case with only one of the values of each parameter.
sub with_value
{
	my ($case, $n) = @_;
	return {
		%$case, values => [ map { [ ($_->[$n]) x 8 ] } @{ $case->{values} } ]
	};
}

# Statements that prepare it, and a list of those that execute it, which differ in their
# values.
sub commands
{
	my ($case) = @_;
	my $text = statement($case);
	my @values = @{ $case->{values} };
	return ([], [$text]) if !@values && !$case->{prepared};
	my @execute;
	for my $i (0 .. 7)
	{
		my @v = map { $_->[$i] } @values;
		push @execute,
		  $case->{prepared}
		  ? 'EXECUTE p' . (@v ? '(' . join(', ', @v) . ')' : '')
		  : $text =~ s/\$(\d+)/$v[$1 - 1]/gr;
	}
	return ([], \@execute) if !$case->{prepared};
	my $types = @values ? '(' . join(', ', @{ $case->{types} }) . ')' : '';
	return (["PREPARE p$types AS $text"], \@execute);
}

# Smaller cases, one after another, to be tried as long as a finding holds.
sub smaller
{
	my ($case) = @_;
	my @smaller;
	for my $part (qw(where tail))
	{
		my @all = @{ $case->{$part} };
		for my $i (0 .. $#all)
		{
			my @less = @all;
			splice @less, $i, 1;
			push @smaller, { %$case, $part => \@less };
		}
	}
	for my $name (sort keys %{ $case->{set} })
	{
		my %less = %{ $case->{set} };
		delete $less{$name};
		push @smaller, { %$case, set => \%less };
	}
	push @smaller, { %$case, prepared => 0 } if $case->{prepared};
	my $i = 0;
	for my $t (@{ $case->{tables} })
	{
		my $with = sub {
			my (%change) = @_;
			my @tables = @{ $case->{tables} };
			$tables[$i] = { %$t, %change };
			push @smaller, { %$case, tables => \@tables };
		};
		$with->(sub => 0) if $t->{sub};
		$with->(key => '') if $t->{key};
		$with->(trigger => 0) if $t->{trigger};
		$with->(parts => 0, by => '', sub => 0) if $t->{by};
		$with->(parts => int($t->{parts} / 4))
		  if $t->{parts} >= 8 && $t->{by} !~ /^L/;
		$with->(parts => int($t->{parts} / 2))
		  if $t->{parts} >= 4 && $t->{by} !~ /^L/;
		my @x = @{ $t->{indexes} };
		my $half = int(@x / 2);

		if (@x > 1)
		{
			$with->(indexes => [ @x[ 0 .. $half - 1 ] ]);
			$with->(indexes => [ @x[ $half .. $#x ] ]);
		}
		for my $n (@x <= 8 ? (0 .. $#x) : ())
		{
			my @less = @x;
			splice @less, $n, 1;
			$with->(indexes => \@less);
		}
		$with->(rows => int($t->{rows} / 4)) if $t->{rows} > 1000;
		$i++;
	}
	return @smaller;
}

1;
