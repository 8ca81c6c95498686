package PgSeries::Stress::Generator;

use strict;
use warnings FATAL => 'all';

use List::Util      qw(sum);
use PgSeries::Stats qw(random_integers);

=pod

=head1 NAME

PgSeries::Stress::Generator - random schemas and statements with one right answer

=head1 SYNOPSIS

  my $generator = PgSeries::Stress::Generator->new($seed);
  print $generator->setup;
  my $case = $generator->next_case;
  print "$_;\n" for @{ $case->{settings} }, @{ $case->{statements} };
  print $generator->contents;

=head1 DESCRIPTION

All that it returns depends on the seed alone.  What the statements print depends
on the data alone, not on plans, parallel workers or the order of rows in a table:

  - Rows are sorted by their text where the statement itself does not sort them by
    all of its columns, or by the unique one.  LIMIT comes only with the latter.
  - There are no floating-point numbers, and no clocks or random numbers.
  - A statement can run into one kind of error only.  Which row has the error, and
    so the message, may depend on the plan; its SQLSTATE does not.

Every table has the same columns:

  id  integer, unique in its table       s  text, may be null
  k   integer, 0 to 999                  n  numeric(10,2)
  g   integer, 0 to 12, may be null      d  date in 2020
  v   integer, 0 to 499

and the tables are

  rng      RANGE (k), one partition with another order of columns
  rng2     the same bounds, other rows
  lst      LIST (g)
  hsh      HASH (id)
  two      RANGE (k), the partitions by HASH (id), LIST (g) or RANGE (v)
  quarter  RANGE (d)
  many     no partitions, 60 indexes
  plain    no partitions, sorted by k
  inh      the parent of four tables
  child    with a foreign key to rng, of some seeds

besides the views v_all (rng and plain, UNION ALL), v_join, v_sum and v_upd (which
can be updated) and some functions.  They lie in schema C<st>, which has to come
first in search_path.

=over

=item new($seed)

Takes an integer from 0 to 4294967295.  Another seed raises the error of
PgSeries::Stats.

=cut

my @COLUMNS = qw(id k g v s n d);
my $COLUMNS = join ', ', @COLUMNS;
my @PARTITIONED = qw(rng rng2 lst hsh two quarter);
my @MORE_VIEWS = qw(v_join v_sum);

# The types of parameters, for the columns and for what is no column.
my %TYPE = (
	(map { $_ => 'int' } qw(id k g v rows)),
	s => 'text',
	n => 'numeric',
	d => 'date',
	ks => 'int[]');

my $NULLABLE = qr/^[gs]$/;

sub new
{
	my ($class, $seed) = @_;
	my $self = bless {
		random => random_integers('PgSeries::Stress::Generator', $seed),
		fresh => 100_000,
		aliases => 0,
		indexes => [],
		made => 0,
	}, $class;
	$self->{schema} = $self->make_schema;
	return $self;
}

# What is drawn: an integer below n; one of a list; true in one of n cases; some
# of a list, in random order.

sub draw   { my ($self, $n) = @_; return $self->{random}->($n); }
sub one_in { my ($self, $n) = @_; return $self->{random}->($n) == 0; }

sub pick
{
	my ($self, @list) = @_;
	return $list[ $self->draw(scalar @list) ];
}

sub some
{
	my ($self, $count, @list) = @_;
	my @some;
	while (@list && @some < $count)
	{
		push @some, splice(@list, $self->draw(scalar @list), 1);
	}
	return @some;
}

# One of the names, by weight.
sub weighted
{
	my ($self, @weights) = @_;
	my %weight = @weights;
	my $x = $self->draw(sum(values %weight));
	while (my ($name, $weight) = splice @weights, 0, 2)
	{
		return $name if $x < $weight;
		$x -= $weight;
	}
	return;
}

sub alias
{
	my ($self) = @_;
	return 't' . ++$self->{aliases};
}

# The schema: { rows, partitions => { table => [ [ name, bound ] ] },
# key => { table => columns }, names => [ of tables ], script => SQL }.
sub make_schema
{
	my ($self) = @_;
	my %s = (
		rows => 500 + $self->draw(1500),
		names => [ @PARTITIONED, qw(many plain inh) ],
		key => {
			rng => 'k, id',
			rng2 => 'k, id',
			lst => 'g, id',
			hsh => 'id',
			quarter => 'd, id',
			many => 'id',
			plain => 'id',
			child => 'id'
		});
	push @{ $s{names} }, 'child' if $self->one_in(2);
	$self->{schema} = \%s;
	my $columns =
	  'id int NOT NULL, k int NOT NULL, g int, v int NOT NULL, s text, n numeric(10,2), d date NOT NULL';
	my @sql = (
		'CREATE SCHEMA st',
		"CREATE TABLE rng ($columns) PARTITION BY RANGE (k)",
		"CREATE TABLE rng2 ($columns) PARTITION BY RANGE (k)",
		"CREATE TABLE lst ($columns) PARTITION BY LIST (g)",
		"CREATE TABLE hsh ($columns) PARTITION BY HASH (id)",
		"CREATE TABLE two ($columns) PARTITION BY RANGE (k)",
		"CREATE TABLE quarter ($columns) PARTITION BY RANGE (d)",
		(map { "CREATE TABLE $_ ($columns)" } qw(many plain inh)),
		(map { "CREATE TABLE inh_$_ () INHERITS (inh)" } 1 .. 4));

	# Partitions.
	my @bounds = $self->range_bounds(2 + $self->draw(24));
	my $default = $self->one_in(2);
	my $other = $self->draw(@bounds - 1);
	for my $name (qw(rng rng2))
	{
		my @parts = $self->range_parts($name, @bounds);
		push @parts, [ "${name}_def", 'DEFAULT' ] if $default;
		$s{partitions}{$name} = \@parts;
		for my $i (0 .. $#parts)
		{
			my ($part, $bound) = @{ $parts[$i] };
			push @sql,
			  $name eq 'rng' && $i == $other
			  ? (
				"CREATE TABLE $part (d date NOT NULL, junk int, s text, n numeric(10,2), v int NOT NULL, g int, k int NOT NULL, id int NOT NULL)",
				"ALTER TABLE $part DROP COLUMN junk",
				"ALTER TABLE $name ATTACH PARTITION $part $bound")
			  : "CREATE TABLE $part PARTITION OF $name $bound";
		}
	}
	my @groups;
	push @{ $groups[ $self->draw(6) ] }, $_ for 0 .. 12, 'NULL';
	for my $group (grep { defined } @groups)
	{
		my $list = join ', ', @$group;
		push @{ $s{partitions}{lst} },
		  [ 'lst_' . @{ $s{partitions}{lst} || [] },
			"FOR VALUES IN ($list)" ];
	}
	push @{ $s{partitions}{lst} }, [ 'lst_def', 'DEFAULT' ]
	  if $self->one_in(2);
	my $modulus = 2 + $self->draw(15);
	$s{partitions}{hsh} = [
		map {
			[ "hsh_$_", "FOR VALUES WITH (MODULUS $modulus, REMAINDER $_)" ]
		} 0 .. $modulus - 1
	];
	$s{partitions}{quarter} = [
		map {
			[
				"quarter_$_",
				sprintf "FOR VALUES FROM ('2020-%02d-01') TO ('%s')",
				3 * $_ + 1,
				$_ == 3
				? '2021-01-02'
				: sprintf '2020-%02d-01',
				3 * $_ + 4
			]
		} 0 .. 3
	];
	for my $table (qw(lst hsh quarter))
	{
		push @sql,
		  map { "CREATE TABLE $_->[0] PARTITION OF $table $_->[1]" }
		  @{ $s{partitions}{$table} };
	}
	my $below = $self->pick('HASH (id)', 'LIST (g)', 'RANGE (v)');
	$s{key}{two} =
		$below =~ /^H/ ? 'k, id'
	  : $below =~ /^L/ ? 'k, g, id'
	  :                  'k, v, id';
	$s{partitions}{two} =
	  [ $self->range_parts('two', $self->range_bounds(2 + $self->draw(5))) ];
	for my $part (@{ $s{partitions}{two} })
	{
		push @sql,
		  "CREATE TABLE $part->[0] PARTITION OF two $part->[1] PARTITION BY $below";
		push @sql, map {
			"CREATE TABLE $part->[0]_$_->[0] PARTITION OF $part->[0] $_->[1]"
		  } $below =~ /^H/
		  ? (map { [ $_, "FOR VALUES WITH (MODULUS 3, REMAINDER $_)" ] }
			  0 .. 2)
		  : $below =~ /^L/
		  ? ([ 1, 'FOR VALUES IN (1, 3, 5, NULL)' ], [ 'def', 'DEFAULT' ])
		  : (
			[ 1, 'FOR VALUES FROM (MINVALUE) TO (200)' ],
			[ 2, 'FOR VALUES FROM (200) TO (MAXVALUE)' ]);
	}

	# Data first, so that the indexes are built from it.
	push @sql, map { $self->fill($_) }
	  grep { $_ ne 'inh' && $_ ne 'child' } @{ $s{names} };
	push @sql, map { $self->fill("inh_$_", "i % 5 = $_") } 1 .. 4;
	push @sql, $self->fill('inh', 'i % 5 = 0');
	if (grep { $_ eq 'child' } @{ $s{names} })
	{
		push @sql, "CREATE TABLE child AS SELECT * FROM rng WHERE id % 3 = 0";
	}
	for my $name (@{ $s{names} })
	{
		push @sql,
		  "CREATE UNIQUE INDEX ${name}_key ON $name ($s{key}{$name}) NULLS NOT DISTINCT"
		  if $s{key}{$name};
		push @sql,
		  map { $self->index_on($name, "${name}_i$_") }
		  1 .. ($name eq 'many' ? 59 : 1 + $self->draw(4));
	}
	push @sql, map {
		(   "CREATE UNIQUE INDEX ${_}_key ON $_ (id)",
			"CREATE INDEX ${_}_k ON $_ (k, id)")
	} map { "inh_$_" } 1 .. 4;
	if (grep { $_ eq 'child' } @{ $s{names} })
	{
		push @sql,
		  'ALTER TABLE child ADD FOREIGN KEY (k, id) REFERENCES rng (k, id) ON UPDATE CASCADE ON DELETE '
		  . $self->pick('CASCADE', 'NO ACTION', 'RESTRICT');
	}

	# So that parallel workers build the indexes of small tables, too.
	push @sql, "ALTER TABLE $_ SET (parallel_workers = 3)" for qw(many plain);
	push @sql, $self->views_and_functions, 'ANALYZE';
	$s{script} = join '', map { "$_;\n" } @sql;
	return \%s;
}

sub range_bounds
{
	my ($self, $parts) = @_;
	my @inner =
	  sort { $a <=> $b } $self->some($parts - 1, map { 4 * $_ } 1 .. 249);
	return ($self->pick(0, 'MINVALUE'),
		@inner, $self->pick(1000, 1000, 'MAXVALUE'));
}

sub range_parts
{
	my ($self, $table, @bounds) = @_;
	return map {
		[
			"${table}_$_",
			"FOR VALUES FROM ($bounds[$_]) TO ($bounds[ $_ + 1 ])"
		]
	} 0 .. $#bounds - 1;
}

sub fill
{
	my ($self, $table, $where) = @_;
	my $rows = $self->{schema}{rows};
	my ($p, $q, $r) =
	  $self->some(3, qw(7919 6007 4001 2003 1009 997 883 769));
	my $k =
	  $table eq 'plain' || $self->one_in(5)
	  ? "(i::bigint * 1000 / ($rows + 1))::int"
	  : "(i * $p) % 1000";
	my $values =
	  "i, $k, nullif(i % 14, 13), (i * $q) % 500, CASE WHEN i % 17 <> 0 THEN 's' || (i * $r) % 200 END, ((i * $p) % 10000) / 100.0, date '2020-01-01' + (i * $q) % 366";
	return
		"INSERT INTO $table ($COLUMNS) SELECT $values"
	  . " FROM generate_series(1, $rows) i"
	  . (defined $where ? " WHERE $where" : '');
}

sub index_on
{
	my ($self, $table, $name) = @_;
	my $columns = $self->pick(
		'(k)',
		'(v)',
		'(g, k)',
		'(s)',
		'(n DESC NULLS LAST)',
		'(d, id)',
		'(k DESC, id)',
		'(k, v) INCLUDE (s)',
		'((v % 10))',
		'(v) WHERE g = 3',
		'(k) WHERE v < 250',
		'(id)',
		'(g NULLS FIRST, v)',
		'(s, k, v)',
		'((k + v), g)',
		'(n, d)',
		'(v DESC)',
		"(lower(s))",
		'(k, id)',
		'(d)');
	my $method = $self->pick(('') x 8, ' USING hash (s)', ' USING brin (k)');
	return "CREATE INDEX $name ON $table "
	  . ($method eq '' ? $columns : $method);
}

sub views_and_functions
{
	my ($self) = @_;
	my $check = $self->pick('', ' WITH CHECK OPTION');
	my $table = $self->pick(qw(rng two hsh lst));
	return (
		'CREATE VIEW v_all AS SELECT id * 2 AS id, k, g, v, s, n, d FROM rng UNION ALL SELECT id * 2 + 1, k, g, v, s, n, d FROM plain',
		'CREATE VIEW v_join AS SELECT a.id, a.k, a.g, b.v, b.s, a.n, b.d FROM rng a JOIN rng2 b ON b.k = a.k AND b.id = a.id',
		'CREATE VIEW v_sum AS SELECT min(id) AS id, k, max(g) AS g, sum(v)::int AS v, min(s) AS s, max(n) AS n, min(d) AS d FROM two GROUP BY k',
		"CREATE VIEW v_upd AS SELECT $COLUMNS FROM rng WHERE v < 450$check",
		'CREATE FUNCTION same(x int) RETURNS int LANGUAGE plpgsql STABLE PARALLEL SAFE AS $$ BEGIN RETURN x; END $$',
		"CREATE FUNCTION f_count(x int) RETURNS text LANGUAGE plpgsql STABLE PARALLEL SAFE AS \$\$ DECLARE r text; BEGIN SELECT count(*) || '/' || coalesce(sum(v), 0) INTO r FROM $table WHERE k = x; RETURN r; END \$\$",
		"CREATE FUNCTION f_rows(x int, y int) RETURNS TABLE (id int, k int, v int) LANGUAGE plpgsql STABLE AS \$\$ BEGIN RETURN QUERY SELECT t.id, t.k, t.v FROM $table t WHERE t.k BETWEEN x AND y ORDER BY t.k, t.id; END \$\$",
		"CREATE FUNCTION f_set(x int) RETURNS TABLE (id int, v int) LANGUAGE sql STABLE AS \$\$ SELECT t.id, t.v FROM $table t WHERE t.k = x \$\$",
		"CREATE FUNCTION f_add(x int, y int) RETURNS bigint LANGUAGE plpgsql AS \$\$ DECLARE c bigint; BEGIN UPDATE $table SET v = (v + y) % 500 WHERE k = x; GET DIAGNOSTICS c = ROW_COUNT; RETURN c; END \$\$"
	);
}

=item setup

Returns a script that makes the schema and its data, with the names of tables
resolved by search_path.

=cut

sub setup
{
	my ($self) = @_;
	return $self->{schema}{script};
}

=item contents

Returns a script whose output says what is in the tables, and whether their B-tree
indexes are sound (the extension amcheck must be there).

=cut

sub contents
{
	my ($self) = @_;
	return join '', (
		map {
			"SELECT '$_', tableoid::regclass::text, count(*), md5(string_agg(t::text, ',' ORDER BY t::text)) FROM $_ t GROUP BY 2 ORDER BY 2;\n"
		} @{ $self->{schema}{names} }),
	  "SELECT count(bt_index_check(c.oid, true)) FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid JOIN pg_am m ON m.oid = c.relam WHERE c.relnamespace = 'st'::regnamespace AND c.relkind = 'i' AND i.indisvalid AND m.amname = 'btree';\n";
}

=item next_case

Returns the next statements: { kind, settings, statements }, the last two being
lists of commands for psql, without semicolons.  The settings last until RESET ALL,
prepared statements until DEALLOCATE ALL.

=back

=cut

my @KINDS = (
	select => 55,
	prepared => 22,
	dml => 14,
	ddl => 6,
	cursor => 3);

sub next_case
{
	my ($self) = @_;
	$self->{aliases} = 0;
	delete $self->{params};
	my $kind = $self->weighted(@KINDS);
	my ($detail, @statements) = $self->$kind;
	return {
		kind => "$kind, $detail",
		settings => [ $self->settings ],
		statements => \@statements,
	};
}

# Settings.

sub settings
{
	my ($self) = @_;
	my @set;
	push @set, map { "enable_$_ = off" } $self->some(
		1 + $self->draw(4),
		qw(seqscan indexscan indexonlyscan bitmapscan hashjoin mergejoin
		  nestloop sort incremental_sort hashagg material memoize
		  parallel_append gathermerge partition_pruning parallel_hash
		  presorted_aggregate group_by_reordering distinct_reordering
		  self_join_elimination)) if $self->one_in(2);
	push @set, 'enable_partitionwise_join = on' if $self->one_in(3);
	push @set, 'enable_partitionwise_aggregate = on' if $self->one_in(3);
	push @set, 'work_mem = ' . $self->pick(q('64kB'), q('256kB'))
	  if $self->one_in(3);
	push @set, $self->parallel_settings if $self->one_in(3);
	push @set,
	  $self->pick(
		'debug_parallel_query = on',
		'random_page_cost = 1',
		'cpu_tuple_cost = 1',
		'from_collapse_limit = 1',
		'join_collapse_limit = 1',
		'cursor_tuple_fraction = 1',
		'hash_mem_multiplier = 1',
		'constraint_exclusion = on',
		'geqo_threshold = 2') if $self->one_in(6);
	return map { "SET $_" } @set;
}

sub parallel_settings
{
	my ($self) = @_;
	return (
		'parallel_setup_cost = 0',
		'parallel_tuple_cost = 0',
		'min_parallel_table_scan_size = 0',
		'min_parallel_index_scan_size = 0',
		'max_parallel_workers_per_gather = ' . $self->pick(2, 2, 4),
		$self->one_in(4) ? 'parallel_leader_participation = off' : ());
}

# Values and conditions.

sub literal
{
	my ($self, $column) = @_;
	return $self->draw(25) - ($self->one_in(8) ? 5 : 0)
	  if $column eq 'g' && $self->one_in(6);
	return $self->draw(13) if $column eq 'g';
	return $self->one_in(25) ? 990 + $self->draw(40) : $self->draw(1000)
	  if $column eq 'k';
	return $self->draw(500) if $column eq 'v';
	return $self->draw(40) if $column eq 'rows';
	return $self->one_in(8)
	  ? 100_001 + 10_000 * $self->draw(20) + $self->draw(30)
	  : 1 + $self->draw($self->{schema}{rows})
	  if $column eq 'id';
	return q('s) . $self->draw(200) . q(') if $column eq 's';
	return sprintf '%d.%02d', $self->draw(100), $self->draw(100)
	  if $column eq 'n';
	return sprintf q(date '2020-%02d-%02d'), 1 + $self->draw(12),
	  1 + $self->draw(28)
	  if $column eq 'd';

	# ks
	return
		q('{)
	  . join(',', map { $self->literal('k') } 1 .. 1 + $self->draw(5))
	  . q(}'::int[]);
}

# A literal, a parameter of the statement that is being prepared, or what the
# planner does not know the value of.
sub value
{
	my ($self, $column) = @_;
	my $value;
	if ($self->{params} && @{ $self->{params} } < 6 && $self->one_in(2))
	{
		push @{ $self->{params} }, $column;
		$value = '$' . @{ $self->{params} };
	}
	else { $value = $self->literal($column); }
	return $value if !$self->one_in(6);
	return "same($value)" if $TYPE{$column} eq 'int' && $self->one_in(2);
	return "(SELECT $value)";
}

sub relation
{
	my ($self) = @_;
	return $self->pick(@MORE_VIEWS) if $self->one_in(20);
	return 'v_all' if $self->one_in(12);
	if ($self->one_in(20))
	{
		my $table = $self->pick(qw(rng rng2 lst hsh quarter));
		return $self->pick(@{ $self->{schema}{partitions}{$table} })->[0];
	}
	return $self->pick(@{ $self->{schema}{names} });
}

sub is_view { my ($relation) = @_; return $relation =~ /^v_/; }

# A condition on the row $t; those that hold for few rows are likely.
sub condition
{
	my ($self, $t, $depth) = @_;
	$depth ||= 0;
	my $column = $self->pick(qw(k k k k id id g v s n d));
	my $c = "$t.$column";
	my $x = $self->draw(20);
	return "$c = " . $self->value($column) if $x < 4;
	if ($x < 8)
	{
		my $from = $self->value($column);
		my $to =
			$column eq 's' ? "$from || 'z'"
		  : $column eq 'g' ? "$from + 1"
		  :                  "$from + " . (5 + $self->draw(40));
		return "$c BETWEEN $from AND $to";
	}
	return
		"$c "
	  . $self->pick('<', '<=', '>', '>=') . ' '
	  . $self->value($column)
	  if $x < 9;
	if ($x < 12)
	{
		my @list =
		  map { $self->value($column) } 1 .. 2 + $self->draw(5);
		push @list, 'NULL' if $self->one_in(10);
		return "$c IN (" . join(', ', @list) . ')';
	}
	return "$t.k = ANY (" . $self->value('ks') . '::int[])' if $x < 13;
	return "$t." . $self->pick('g IS NULL', 's IS NULL', 'g IS NOT NULL')
	  if $x < 14;
	return "$t.v % " . (2 + $self->draw(9)) . ' = 1' if $x < 15;
	if ($x < 16)
	{
		my ($k, $v) = ($self->literal('k'), $self->value('v'));
		return "($t.k, $t.v) >= ($k, $v) AND $t.k < $k + "
		  . (1 + $self->draw(50));
	}
	return
		'('
	  . $self->condition($t, $depth + 1) . ' OR '
	  . $self->condition($t, $depth + 1) . ')'
	  if $x < 17;
	return 'NOT (' . $self->condition($t, $depth + 1) . ')' if $x < 18;
	return "$t.k = " . $self->value('k') if $depth > 1;

	my ($u, $from) = ($self->alias, $self->relation);
	my $inner = $self->condition($u, $depth + 2);
	return $self->pick('EXISTS', 'NOT EXISTS')
	  . " (SELECT 1 FROM $from $u WHERE $u.k = $t.k AND $inner)"
	  if $x < 19;
	return $self->pick(
		"$t.k IN (SELECT $u.k FROM $from $u WHERE $inner)",
		"$t.k = (SELECT max($u.k) FROM $from $u WHERE $inner)",
		"$t.k >= (SELECT max($u.k) FROM $from $u WHERE $inner)",
		"$t.id = ANY (ARRAY(SELECT $u.id FROM $from $u WHERE $inner))");
}

sub where
{
	my ($self, $t) = @_;
	return join ' AND ',
	  map { $self->condition($t) } 1 .. 1 + $self->one_in(3);
}

sub outputs
{
	my ($self, $t, $relation) = @_;
	my @out = map { "$t.$_" } $self->some(1 + $self->draw(4), @COLUMNS);
	push @out,
	  $self->pick("$t.k + $t.v", "coalesce($t.g, -1)",
		"upper($t.s)", "CASE WHEN $t.v < 250 THEN $t.n END")
	  if $self->one_in(3);
	push @out, "$t\::text" if $self->one_in(8);
	push @out, "$t.tableoid::regclass::text"
	  if !is_view($relation) && $self->one_in(6);
	return join ', ', @out;
}

sub order_by
{
	my ($self, @columns) = @_;
	return join ', ', map {
		$_ . $self->pick('', '', ' DESC', ' NULLS FIRST', ' DESC NULLS LAST')
	} @columns;
}

sub limit
{
	my ($self) = @_;
	return '' if $self->one_in(3);
	my $limit = ' LIMIT ' . $self->value('rows');
	$limit .= ' OFFSET ' . $self->value('rows') if $self->one_in(3);
	return $limit;
}

# SELECT.  The functions below return (text, true if its output is sorted).

my @SELECTS = (
	plain => 12,
	ordered => 16,
	join => 14,
	lateral => 7,
	aggregate => 10,
	distinct => 6,
	window => 7,
	set_operation => 5,
	append => 7,
	scalar => 4,
	cte => 4,
	extremes => 3,
	function => 3,
	values => 4);

sub query
{
	my ($self) = @_;
	my $kind = $self->weighted(@SELECTS);
	my $method = "select_$kind";
	my ($text, $ordered) = $self->$method;
	$text = "SELECT * FROM ($text) q ORDER BY q::text" unless $ordered;
	return ($kind, $text);
}

sub select
{
	my ($self) = @_;
	return $self->query;
}

sub select_plain
{
	my ($self) = @_;
	my ($t, $from) = ($self->alias, $self->relation);
	my $out = $self->outputs($t, $from);
	my $lock =
	  is_view($from) || !$self->one_in(8)
	  ? ''
	  : ' FOR ' . $self->pick('UPDATE', 'SHARE', 'NO KEY UPDATE');
	return "SELECT $out FROM $from $t WHERE " . $self->where($t) . $lock;
}

# Sorted by columns and the unique one, or by all that is returned.
sub select_ordered
{
	my ($self) = @_;
	my ($t, $from) = ($self->alias, $self->relation);
	my @keys = $self->some(1 + $self->draw(3), qw(k k k v g s n d));
	my %seen;
	@keys = grep { !$seen{$_}++ } @keys;
	my $where = $self->one_in(3) ? '' : ' WHERE ' . $self->where($t);
	if ($self->one_in(4))
	{
		my $out = join ', ', map { "$t.$_" } @keys;
		return (
			"SELECT $out FROM $from $t$where ORDER BY "
			  . $self->order_by(map { "$t.$_" } @keys)
			  . $self->limit,
			1);
	}
	push @keys, 'id';
	my $out = $self->outputs($t, $from);
	return (
		"SELECT $out FROM $from $t$where ORDER BY "
		  . $self->order_by(map { "$t.$_" } @keys)
		  . $self->limit,
		1);
}

sub select_join
{
	my ($self) = @_;
	my @rel = map { $self->relation } 1 .. 2 + $self->one_in(3);
	@rel[ 0, 1 ] = qw(rng rng2) if $self->one_in(6);
	my @a = map { $self->alias } @rel;
	my $from = "$rel[0] $a[0]";
	for my $i (1 .. $#rel)
	{
		my ($p, $q) = ($self->pick(@a[ 0 .. $i - 1 ]), $a[$i]);
		my $type =
		  $self->pick(('JOIN') x 3, 'LEFT JOIN', 'RIGHT JOIN', 'FULL JOIN');
		my $on = $self->pick(
			"$q.id = $p.id",
			"$q.id = $p.id",
			"$q.k = $p.k",
			"$q.k = $p.k AND $q.id = $p.id",
			"$q.k = $p.v AND $q.g = $p.g",
			"$q.d = $p.d AND $q.k = $p.k");
		$on .= ' AND ' . $self->condition($q)
		  if $type ne 'FULL JOIN' && $self->one_in(4);
		$from .= " $type $rel[$i] $q ON $on";
	}
	my @where = $self->where($a[0]);
	push @where, $self->condition($a[1]) if $self->one_in(4);
	my $where = join ' AND ', @where;
	return
	  "SELECT count(*), sum($a[0].v), sum($a[-1].v), count($a[1].id) FROM $from WHERE $where"
	  if $self->one_in(4);
	my @id = map { "$_.id" } @a;
	return (
		'SELECT '
		  . join(', ', @id, map { "$_." . $self->pick(@COLUMNS) } @a)
		  . " FROM $from WHERE $where ORDER BY "
		  . $self->order_by($self->some(1, map { "$_.k" } @a), @id)
		  . $self->limit,
		1) if $self->one_in(3);
	my @out = map { "$a[$_]." . $self->pick(@COLUMNS) } 0 .. $#a, 0;
	return 'SELECT ' . join(', ', @out) . " FROM $from WHERE $where";
}

sub select_lateral
{
	my ($self) = @_;
	my ($t, $u, $w) = map { $self->alias } 1 .. 3;
	my ($first, $second, $third) = map { $self->relation } 1 .. 3;
	my $inner = $self->pick(
		"SELECT count(*) AS x, sum($u.v) AS y FROM $second $u WHERE $u.k = $t.k",
		"SELECT $u.id AS x, $u.v AS y FROM $second $u WHERE $u.k = $t.k ORDER BY $u.v, $u.id LIMIT 2",
		"SELECT max($u.id) AS x, $u.g AS y FROM $second $u WHERE $u.k BETWEEN $t.k AND $t.k + 3 GROUP BY $u.g",
		"SELECT $u.id AS x, $u.k AS y FROM $second $u WHERE $u.k = $t.k + 1 UNION ALL SELECT $w.id, $w.k FROM $third $w WHERE $w.id = $t.id"
	);
	my $join =
	  $self->one_in(2)
	  ? "LEFT JOIN LATERAL ($inner) l ON true"
	  : "CROSS JOIN LATERAL ($inner) l";
	my $from = $self->value('k');
	return
	  "SELECT $t.id, $t.k, l.x, l.y FROM $first $t $join WHERE $t.k BETWEEN $from AND $from + "
	  . (5 + $self->draw(30));
}

sub select_aggregate
{
	my ($self) = @_;
	my ($t, $from) = ($self->alias, $self->relation);
	my @by = $self->some(1 + $self->one_in(3),
		"$t.g", "$t.k", "$t.s", "$t.k % 10", "$t.v / 50", "$t.d");
	my @out = $self->some(
		1 + $self->draw(3),
		'count(*)',
		"sum($t.v)",
		"min($t.s)",
		"max($t.n)",
		"avg($t.v)",
		"count(DISTINCT $t.v)",
		"string_agg($t.s, ',' ORDER BY $t.s, $t.id)",
		"array_agg($t.id ORDER BY $t.k, $t.id)",
		"sum($t.n) FILTER (WHERE $t.g > 3)",
		"bool_or($t.v > 400)");
	my $group = join ', ', @by;
	$group = $self->pick(
		"ROLLUP ($group)",
		"CUBE ($group)",
		"GROUPING SETS (($group), ())",
		"GROUPING SETS (($by[0]), ($by[-1]))") if $self->one_in(4);
	my $text = 'SELECT ' . join(', ', @by, @out) . " FROM $from $t";
	$text .= ' WHERE ' . $self->where($t) unless $self->one_in(4);
	$text .= " GROUP BY $group";
	$text .= ' HAVING count(*) > ' . $self->draw(4) if $self->one_in(4);
	return $text;
}

sub select_distinct
{
	my ($self) = @_;
	my ($t, $from) = ($self->alias, $self->relation);
	my @keys = $self->some(1 + $self->one_in(3), qw(g k s d v));
	my $keys = join ', ', map { "$t.$_" } @keys;
	my $where = $self->one_in(3) ? '' : ' WHERE ' . $self->where($t);
	return "SELECT DISTINCT $keys FROM $from $t$where" if $self->one_in(3);
	return (
		"SELECT DISTINCT ON ($keys) $keys, $t.id, $t.n FROM $from $t$where ORDER BY "
		  . $self->order_by(map { "$t.$_" } @keys, 'v', 'id')
		  . $self->limit,
		1);
}

sub select_window
{
	my ($self) = @_;
	my ($t, $from) = ($self->alias, $self->relation);
	my $partition = $self->pick('', map { "PARTITION BY $t.$_ " } qw(g k d));
	my $order = $self->order_by("$t." . $self->pick(qw(k v s d)));
	my $unique = "$order, $t.id";
	my @calls = $self->some(
		1 + $self->draw(2),
		"row_number() OVER (${partition}ORDER BY $unique)",
		"rank() OVER (${partition}ORDER BY $order)",
		"sum($t.v) OVER (${partition}ORDER BY $order)",
		"lag($t.id) OVER (${partition}ORDER BY $unique)",
		"first_value($t.id) OVER (${partition}ORDER BY $unique)",
		"sum($t.v) OVER (${partition}ORDER BY $unique ROWS BETWEEN 3 PRECEDING AND 1 FOLLOWING)",
		"count(*) OVER ($partition)");
	my $text =
		"SELECT $t.id, "
	  . join(', ', @calls)
	  . " FROM $from $t WHERE "
	  . $self->where($t);
	return
	  "SELECT * FROM (SELECT $t.id, $t.g, row_number() OVER (${partition}ORDER BY $unique) AS r FROM $from $t) w WHERE r <= "
	  . (1 + $self->draw(3))
	  if $self->one_in(4);
	return $text;
}

sub select_set_operation
{
	my ($self) = @_;
	my @columns = $self->some(1 + $self->draw(3), @COLUMNS);
	my @parts = map {
		my ($t, $from) = ($self->alias, $self->relation);
		'SELECT '
		  . join(', ', map { "$t.$_" } @columns)
		  . " FROM $from $t WHERE "
		  . $self->where($t);
	} 1 .. 2 + $self->one_in(3);
	my $text = shift @parts;
	$text .= ' '
	  . $self->pick('UNION', 'UNION', 'UNION ALL', 'INTERSECT', 'EXCEPT',
		'EXCEPT ALL')
	  . " $_"
	  for @parts;
	return ("$text ORDER BY " . $self->order_by(1 .. @columns) . $self->limit,
		1)
	  if $self->one_in(3);
	return $text;
}

# Sorted UNION ALL: a merge of what several tables return.
sub select_append
{
	my ($self) = @_;
	my @keys = $self->some(1 + $self->one_in(2), qw(k v d s));
	my $n = 0;
	my @parts = map {
		my ($t, $from) = ($self->alias, $self->relation);
		$n++;
		'SELECT '
		  . join(', ', map { "$t.$_" } @keys)
		  . ", $t.id, $n AS part FROM $from $t"
		  . ($self->one_in(3) ? '' : ' WHERE ' . $self->where($t));
	} 1 .. 2 + $self->draw(3);
	my $order = $self->order_by(1 .. @keys + 2);
	return (
		'SELECT * FROM ('
		  . join(' UNION ALL ', @parts)
		  . ") u ORDER BY $order"
		  . $self->limit,
		1);
}

sub select_scalar
{
	my ($self) = @_;
	my ($t, $u) = ($self->alias, $self->alias);
	my ($first, $second) = ($self->relation, $self->relation);
	my $inner = $self->pick(
		"SELECT max($u.v) FROM $second $u WHERE $u.k = $t.k",
		"SELECT count(*) FROM $second $u WHERE $u.k = $t.k AND $u.v > $t.v",
		"SELECT $u.id FROM $second $u WHERE $u.k >= $t.k ORDER BY $u.k, $u.id LIMIT 1",
		"SELECT string_agg($u.s, ',' ORDER BY $u.id) FROM $second $u WHERE $u.k = $t.k"
	);
	my $from = $self->value('k');
	return
	  "SELECT $t.id, ($inner) FROM $first $t WHERE $t.k BETWEEN $from AND $from + 30";
}

sub select_cte
{
	my ($self) = @_;
	my ($t, $u) = ($self->alias, $self->alias);
	my ($first, $second) = ($self->relation, $self->relation);
	my $where = $self->where($t);
	return
	  "WITH RECURSIVE w(k, l) AS (SELECT $t.k, 0 FROM $first $t WHERE $t.k = "
	  . $self->value('k')
	  . " UNION SELECT $u.v, w.l + 1 FROM w JOIN $second $u ON $u.k = w.k WHERE w.l < 4) SELECT * FROM w"
	  if $self->one_in(3);
	my $how = $self->pick('', 'MATERIALIZED ', 'NOT MATERIALIZED ');
	return
	  "WITH w AS $how(SELECT $t.id, $t.k, $t.v FROM $first $t WHERE $where) SELECT w.id, $u.id, $u.n FROM w JOIN $second $u ON $u.id = w.id UNION ALL SELECT id, k, v FROM w WHERE v < "
	  . $self->value('v');
}

sub select_extremes
{
	my ($self) = @_;
	my ($t, $from) = ($self->alias, $self->relation);
	my $column = $self->pick(qw(k id d));
	my $where = $self->one_in(2) ? '' : ' WHERE ' . $self->where($t);
	return
	  "SELECT min($t.$column), max($t.$column), max($t.v) FROM $from $t$where";
}

sub select_function
{
	my ($self) = @_;
	my $from = $self->literal('k');
	return $self->pick(
		"SELECT i, f_count(i) FROM generate_series($from, $from + 12) i",
		"SELECT * FROM f_rows($from, $from + 20)",
		"SELECT i, r.* FROM generate_series($from, $from + 8) i, f_rows(i, i + 2) r",
		"SELECT i, r.* FROM generate_series($from, $from + 8) i, f_set(i) r");
}

sub select_values
{
	my ($self) = @_;
	my ($t, $from) = ($self->alias, $self->relation);
	my $column = $self->pick(qw(k k id v));
	my $list = join ', ',
	  map { '(' . $self->value($column) . ", $_)" } 1 .. 2 + $self->draw(5);
	return
	  "SELECT x.y, $t.id, $t.$column FROM (VALUES $list) x(c, y) LEFT JOIN $from $t ON $t.$column = x.c";
}

# Prepared statements.

sub prepared
{
	my ($self) = @_;
	$self->{params} = [];
	my ($detail, $text);
	if   ($self->one_in(4)) { ($detail, $text) = $self->write; }
	else                    { ($detail, $text) = $self->query; }
	my @params = @{ delete $self->{params} };
	my $types = join ', ', map { $TYPE{$_} } @params;
	my $mode = $self->pick(
		qw(auto auto force_generic_plan force_generic_plan force_custom_plan)
	);
	$mode = 'force_custom_plan' if base_moves_wrongly($text);
	my @statements = (
		"SET plan_cache_mode = $mode",
		'PREPARE p' . (@params ? " ($types)" : '') . " AS $text");

	# Without parameters, the first plan is kept.
	my $times = @params ? $self->pick(2, 3, 3, 8) : 2;
	for (1 .. $times)
	{
		push @statements, $self->between if $self->one_in(10);
		my $list = join ', ',
		  map { $self->one_in(20) ? 'NULL' : $self->literal($_) } @params;
		push @statements, 'EXECUTE p' . (@params ? " ($list)" : '');
	}
	return ($detail, @statements, 'DEALLOCATE p');
}

# What makes the server look at its plans again.
sub between
{
	my ($self) = @_;
	my $table = $self->target;
	my $x = $self->draw(5);
	return $self->create_index($table) if $x == 0;
	return $self->drop_index if $x == 1;
	return "ANALYZE $table" if $x == 2;
	return 'SET ' . $self->pick($self->parallel_settings) if $x == 3;
	return
		'SET enable_'
	  . $self->pick(qw(seqscan hashjoin nestloop))
	  . ' = off';
}

# A cursor that moves back and forth.
sub cursor
{
	my ($self) = @_;
	my ($text) = $self->select_ordered;
	my @moves = map {
			$self->pick('FETCH', 'FETCH', 'MOVE') . ' '
		  . $self->pick('FORWARD ', 'FORWARD ', 'BACKWARD ')
		  . (1 + $self->draw(20))
		  . ' FROM c'
	} 1 .. 2 + $self->draw(4);
	return (
		'scroll', 'BEGIN', "DECLARE c SCROLL CURSOR FOR $text",
		@moves, 'FETCH ALL FROM c',
		'CLOSE c', 'COMMIT');
}

# INSERT, UPDATE, DELETE and MERGE.

sub dml
{
	my ($self) = @_;
	my ($detail, $text) = $self->write;
	return ($detail, $text) unless $self->one_in(4);
	my ($more, $second) = $self->write;
	my $end = $self->pick(qw(COMMIT ROLLBACK));
	return ("$detail and $more",
		'BEGIN', $text, 'SAVEPOINT s', $second,
		$self->pick('ROLLBACK TO s', 'RELEASE s'), $end)
	  if $self->one_in(2);
	return ("$detail and $more", 'BEGIN', $text, $second, $end);
}

# Ids that no row has; as many as a table can have rows.
sub fresh
{
	my ($self) = @_;
	return $self->{fresh} += 10_000;
}

sub assignment
{
	my ($self, $t, $from) = @_;
	my $column = $self->pick(qw(v v v s n d g k k));
	return $column eq 'v'
	  ? "v = ($t.v + $from.v) % 500"
	  : "$column = $from.$column"
	  if defined $from;
	my $x = $self->draw(12);
	return "v = ($t.v + " . $self->value('v') . ') % 500' if $x < 2;
	return "n = ($t.n + " . $self->value('n') . ') % 100' if $x < 3;
	return "$column = " . $self->value($column) if $x < 7;
	return $self->pick(
		"v = ($t.v * 7 + 1) % 500",
		"s = 's' || ($t.v % 200)",
		's = NULL',
		'g = NULL',
		"k = ($t.k + 500) % 1000",
		"id = - $t.id",
		"v = (same($t.v) + 1) % 500, n = 1");
}

# Returns (what it is, one statement).
sub write
{
	my ($self) = @_;
	my $kind = $self->weighted(
		update => 10,
		update_from => 4,
		delete => 4,
		insert => 5,
		upsert => 6,
		merge => 6,
		call => 2);
	my $method = "write_$kind";
	my $text = $self->$method;
	return ($kind, $text) if $text =~ /^SELECT/;
	$text =~ s/\bsame\((.*?)\)/($1)/g if base_moves_wrongly($text);
	my ($returning) = $text =~ / RETURNING/ ? 1 : 0;
	if (!$returning && $kind ne 'upsert' && $self->one_in(2))
	{
		my $t = $kind eq 'insert' ? '' : 't.';
		$text .= " RETURNING ${t}id, ${t}k, ${t}v, ${t}s";
		$text .= ', old.v, new.g' if $kind ne 'merge' && $self->one_in(3);
		$returning = 1;
	}
	$text = "WITH x AS ($text) SELECT * FROM x ORDER BY x::text"
	  if $returning;
	return ($kind, $text);
}

# 18.6 can show, check or store wrong values of a row that is moved between partitions
# with columns in different order, if the first one is pruned at executor startup: in a
# generic plan, or because of a stable function.  The series corrects that.
sub base_moves_wrongly
{
	my ($text) = @_;
	return $text =~ /\b(?:UPDATE|MERGE INTO) (?:rng|v_upd)\b/;
}

sub target
{
	my ($self, @more) = @_;
	return $self->pick(@{ $self->{schema}{names} }, @more);
}

sub write_update
{
	my ($self) = @_;
	my $table = $self->target('v_upd');
	return
		"UPDATE $table t SET "
	  . $self->assignment('t')
	  . ' WHERE '
	  . $self->few('t');
}

# A condition for few rows, so that the tables stay as they are for long.
sub few
{
	my ($self, $t) = @_;
	my $x = $self->draw(6);
	return "$t.k = " . $self->value('k') if $x < 2;
	return "$t.id = " . $self->value('id') if $x < 3;
	if ($x < 4)
	{
		my $from = $self->value('k');
		return "$t.k BETWEEN $from AND $from + " . $self->draw(8);
	}
	return "$t.k IN (" . join(', ', map { $self->value('k') } 1 .. 4) . ')'
	  if $x < 5;
	return "$t.v = " . $self->value('v') . ' AND ' . $self->condition($t, 2);
}

sub write_update_from
{
	my ($self) = @_;
	my ($table, $from) = ($self->target, $self->target);
	return
		"UPDATE $table t SET "
	  . $self->assignment('t', 'b')
	  . " FROM $from b WHERE b.id = t.id AND "
	  . $self->few($self->pick(qw(t b)));
}

sub write_delete
{
	my ($self) = @_;
	my $table = $self->target('v_upd');
	return "DELETE FROM $table t WHERE " . $self->few('t')
	  if $self->one_in(2);
	my $from = $self->target;
	return
	  "DELETE FROM $table t USING $from b WHERE b.k = t.k AND b.id = t.id AND "
	  . $self->few('b');
}

# Rows copied from a table, with new ids.
sub copied
{
	my ($self, $fresh) = @_;
	my ($u, $from) = ($self->alias, $self->relation);
	my $k = $self->pick("$u.k", "$u.k", "$u.v", $self->literal('k'));
	return
	  "SELECT $fresh + row_number() OVER (ORDER BY $u.id) AS id, $k AS k, $u.g, $u.v, $u.s, $u.n, $u.d FROM $from $u WHERE "
	  . $self->few($u);
}

sub write_insert
{
	my ($self) = @_;
	my $table =
	  $self->pick(grep { $_ ne 'child' } @{ $self->{schema}{names} });
	my $fresh = $self->fresh;
	return "INSERT INTO $table ($COLUMNS) " . $self->copied($fresh)
	  if $self->one_in(2);
	my $rows = join ', ', map {
		my $i = $_;
		'(' . join(
			', ',
			$fresh + $i,
			map {
				$self->one_in(/$NULLABLE/ ? 6 : 200)
				  ? 'NULL'
				  : $self->value($_)
			} @COLUMNS[ 1 .. $#COLUMNS ])
		  . ')'
	} 1 .. 1 + $self->draw(4);

	return "INSERT INTO $table ($COLUMNS) VALUES $rows";
}

# Rows of the table itself, all of which are there already, or half of them.
sub write_upsert
{
	my ($self) = @_;
	my $key = $self->{schema}{key};
	my $table = $self->pick(grep { $key->{$_} && $_ ne 'child' }
		  @{ $self->{schema}{names} });
	my $rows = "SELECT $COLUMNS FROM $table t WHERE " . $self->few('t');
	my $action = '';
	if (!$self->one_in(10))
	{
		my $fresh = $self->fresh;
		$rows .=
		  " UNION ALL SELECT $fresh + row_number() OVER (ORDER BY id), k, g, v, s, n, d FROM $table t WHERE "
		  . $self->few('t')
		  if $self->one_in(2);
		$action =
		  $self->one_in(3)
		  ? ' ON CONFLICT DO NOTHING'
		  : " ON CONFLICT ($key->{$table}) DO UPDATE SET "
		  . $self->pick(
			'v = (excluded.v + 1) % 500',
			"s = t.s || 'u', n = 2",
			"k = (t.k + 1) % 1000",
			'v = (t.v + 3) % 500 WHERE t.g > 5');
		$action .= ' RETURNING t.id, t.v, t.s' if $self->one_in(2);
	}
	return "INSERT INTO $table AS t ($COLUMNS) $rows$action";
}

sub write_merge
{
	my ($self) = @_;
	my ($table, $from) = ($self->target, $self->target);
	my $on =
	  $self->pick('t.id = b.id', 't.id = b.id', 't.id = b.id AND t.k = b.k');
	my $fresh = $self->fresh;
	my @when;
	push @when,
		'WHEN MATCHED AND '
	  . $self->pick('t.v < b.v', 't.g = b.g', 'b.v % 3 = 0')
	  . ' THEN '
	  . $self->pick('DELETE', 'DO NOTHING',
		'UPDATE SET ' . $self->assignment('t', 'b'))
	  if $self->one_in(2);
	push @when, 'WHEN MATCHED THEN UPDATE SET ' . $self->assignment('t', 'b')
	  unless $self->one_in(4);
	push @when,
	  "WHEN NOT MATCHED THEN INSERT ($COLUMNS) VALUES (b.fresh, b.k, b.g, b.v, b.s, b.n, b.d)"
	  if $table ne 'child' && $self->one_in(2);
	push @when,
		'WHEN NOT MATCHED BY SOURCE AND t.k = '
	  . $self->value('k')
	  . ' THEN '
	  . $self->pick('DELETE', 'UPDATE SET v = (t.v + 1) % 500')
	  if $self->one_in(3);
	@when = ('WHEN MATCHED THEN UPDATE SET v = (t.v + 1) % 500') unless @when;
	my $source =
	  "SELECT b.*, $fresh + row_number() OVER (ORDER BY b.id) AS fresh FROM $from b WHERE "
	  . $self->few('b');
	my $text =
	  "MERGE INTO $table t USING ($source) b ON $on " . join(' ', @when);
	$text .= ' RETURNING merge_action(), t.id, t.k, t.v'
	  if $self->one_in(2);
	return $text;
}

sub write_call
{
	my ($self) = @_;
	return
		'SELECT i, f_add(i, 3) FROM generate_series('
	  . $self->literal('k')
	  . ', 1000, 50) i ORDER BY i';
}

# CREATE, DROP, ATTACH and others.

sub ddl
{
	my ($self) = @_;
	my $kind = $self->weighted(
		indexes => 5,
		sorted => 3,
		detach => 4,
		partition => 2,
		maintain => 3);
	my $method = "ddl_$kind";
	return ($kind, $self->$method);
}

sub create_index
{
	my ($self, $table) = @_;
	my $name = 'x_' . ++$self->{made};
	push @{ $self->{indexes} }, $name;
	return
	  "CREATE UNIQUE INDEX $name ON $table ("
	  . $self->pick('v, id', 'k, v') . ')'
	  if $self->one_in(4)
	  && $table =~ /^(many|plain)$/;
	return $self->index_on($table, $name);
}

sub drop_index
{
	my ($self) = @_;
	my $name = $self->pick('x_0', @{ $self->{indexes} });
	@{ $self->{indexes} } = grep { $_ ne $name } @{ $self->{indexes} };
	return "DROP INDEX $name";
}

sub ddl_indexes
{
	my ($self) = @_;
	my @statements = (
		'SET maintenance_work_mem = ' . $self->pick(q('64kB'), q('4MB')),
		'SET max_parallel_maintenance_workers = ' . $self->draw(5),
		'SET min_parallel_table_scan_size = 0');
	push @statements, $self->drop_index if $self->one_in(2);
	push @statements, $self->create_index($self->target)
	  for 1 .. 1 + $self->draw(3);
	if ($self->one_in(3))
	{
		my $index = $self->create_index($self->pick(qw(many plain)));
		$index =~ s/ INDEX / INDEX CONCURRENTLY /;
		push @statements, $index;
	}
	my ($t, $from) = ($self->alias, $self->relation);
	return (@statements,
			"SELECT * FROM (SELECT $t.id FROM $from $t WHERE "
		  . $self->where($t)
		  . ') q ORDER BY q::text');
}

# An index on a larger table, some of whose rows are dead, built by workers that
# have little memory; and what it returns.
sub ddl_sorted
{
	my ($self) = @_;
	my $rows = 2000 + $self->draw(20_000);
	my ($p, $q) = $self->some(2, qw(7919 6007 4001 2003 1009 997));
	my $values = $self->pick(2, 50, 1000, 1_000_000);
	my $keys = $self->order_by($self->some(1 + $self->draw(3), qw(a b c)));
	my $unique = $self->pick('', '', 'UNIQUE ');
	my $order = $unique eq '' || $self->one_in(3) ? $keys : "$keys, id";
	my $include = $self->pick('', ' INCLUDE (id)');
	$include = '' if $order =~ /id/;
	my $where = $self->pick('', '', ' WHERE a % 3 <> 1');
	return (
		"CREATE TABLE big AS SELECT i AS id, (i * $p) % $values AS a, nullif('x' || (i * $q) % $values, 'x1') AS b, ((i * $q) % 1000)::numeric AS c FROM generate_series(1, $rows) i",
		'ALTER TABLE big SET (parallel_workers = 4)',
		$self->pick(
			'DELETE FROM big WHERE id % 4 = 0',
			'UPDATE big SET c = c + 1 WHERE id % 5 = 0',
			"UPDATE big SET a = a + 1, b = 'y' || b WHERE id % 100 = 0",
			'VACUUM big'),
		'SET maintenance_work_mem = ' . $self->pick(q('64kB'), q('64MB')),
		'SET max_parallel_maintenance_workers = ' . $self->draw(5),
		"CREATE ${unique}INDEX big_i ON big ($order)$include$where",
		'SET enable_seqscan = off',
		'SET enable_sort = off',
		"SELECT bt_index_check('big_i', true)",
		"SELECT count(*), md5(string_agg(q::text, ',')) FROM (SELECT a, b, c, id FROM big$where ORDER BY $keys, a, b, c, id) q",
		'DROP TABLE big');
}

# A prepared statement sees the table before, without and with the partition.
sub ddl_detach
{
	my ($self) = @_;
	my $table = $self->pick(@PARTITIONED);
	my $part = $self->pick(@{ $self->{schema}{partitions}{$table} });
	my $k = $self->literal('k');
	my @statements = (
		'SET plan_cache_mode = ' . $self->pick(qw(auto force_generic_plan)),
		"PREPARE p (int, int) AS SELECT tableoid::regclass, * FROM $table t WHERE k BETWEEN \$1 AND \$2 ORDER BY k, id",
		"EXECUTE p ($k, $k + 20)");
	my $concurrently = $self->one_in(3) ? ' CONCURRENTLY' : '';
	push @statements,
	  "ALTER TABLE $table DETACH PARTITION $part->[0]$concurrently",
	  "EXECUTE p ($k, $k + 20)";
	push @statements, "UPDATE $part->[0] t SET " . $self->assignment('t')
	  if $self->one_in(3);
	push @statements,
	  "ALTER TABLE $table ATTACH PARTITION $part->[0] $part->[1]",
	  "EXECUTE p ($k, $k + 20)", 'DEALLOCATE p';
	return @statements;
}

# Another partition at the end, which some schemas do not allow.
sub ddl_partition
{
	my ($self) = @_;
	my $table = $self->pick(qw(rng rng2));
	my $name = "${table}_x" . ++$self->{made};
	my $from = 1000 + 10 * $self->draw(5);
	my $fresh = $self->fresh;
	return (
		"CREATE TABLE $name PARTITION OF $table FOR VALUES FROM ($from) TO ("
		  . ($from + 10) . ')',
		"INSERT INTO $table ($COLUMNS) " . $self->copied($fresh),
		"UPDATE $table t SET k = $from + 3 WHERE " . $self->few('t'),
		$self->pick(
			"DROP TABLE $name",
			"ALTER TABLE $table DETACH PARTITION $name",
			"SELECT count(*) FROM $name"),
		"SELECT count(*), sum(v), min(k), max(k) FROM $table");
}

sub ddl_maintain
{
	my ($self) = @_;
	my $table = $self->target;
	return $self->pick(
		"VACUUM $table",
		"VACUUM (FREEZE, ANALYZE) $table",
		"ANALYZE $table",
		"REINDEX TABLE $table",
		'REINDEX TABLE CONCURRENTLY plain',
		"ALTER TABLE many SET (fillfactor = 70)",
		'VACUUM FULL many',
		'CLUSTER plain USING plain_key');
}

1;
