package PgSeries::Stress::Generator;

use strict;
use warnings FATAL => 'all';

use Exporter   qw(import);
use List::Util qw(sample sum uniq);

our @EXPORT_OK = qw(draw one_in pick weighted);

=pod

=head1 NAME

PgSeries::Stress::Generator - random schemas and statements with one right answer

=head1 DESCRIPTION

All that it returns depends on the seed alone.  It draws from Perl's rand, which
C<new> seeds: one generator at a time.  What the statements print depends on the data
alone, not on plans, parallel workers or the order of rows in a table:

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

The statements come from a grammar, in whose text

  {a~3:b}       is a, or three times as often b
  {?4 a}        is " a" in one of four cases
  {=x a}        is nothing, but from here on @x is what has been made of a
  @t            is what has been assigned to t, or the alias of a new relation
  #rule(a,b)    is what the rule makes of its arguments, or the method of that name

A rule has "NAME WEIGHT(PARAMETERS): TEXT"; the weight says how often it is taken
among those with the same prefix.  "=" begins a query that sorts its rows, and ";"
separates statements.

=cut

my $COLUMNS = 'id, k, g, v, s, n, d';
my @PARTITIONED = qw(rng rng2 lst hsh two quarter);

# The types of parameters, for the columns and for what is no column.
my %TYPE = (
	(map { $_ => 'int' } qw(id k g v rows fresh)),
	s => 'text',
	n => 'numeric',
	d => 'date',
	ks => 'int[]');

# The unique keys, but for that of two, which is drawn.
my %KEY = (
	(map { $_ => 'k, id' } qw(rng rng2)),
	(map { $_ => 'id' } qw(hsh many plain child)),
	lst => 'g, id',
	quarter => 'd, id');

my $TABLES = <<'END';
CREATE SCHEMA st;
CREATE TABLE rng (id int NOT NULL, k int NOT NULL, g int, v int NOT NULL, s text,
	n numeric(10,2), d date NOT NULL) PARTITION BY RANGE (k);
CREATE TABLE rng2 (LIKE rng) PARTITION BY RANGE (k);
CREATE TABLE lst (LIKE rng) PARTITION BY LIST (g);
CREATE TABLE hsh (LIKE rng) PARTITION BY HASH (id);
CREATE TABLE two (LIKE rng) PARTITION BY RANGE (k);
CREATE TABLE quarter (LIKE rng) PARTITION BY RANGE (d);
CREATE TABLE many (LIKE rng);
CREATE TABLE plain (LIKE rng);
CREATE TABLE inh (LIKE rng);
CREATE TABLE inh_1 () INHERITS (inh);
CREATE TABLE inh_2 () INHERITS (inh);
CREATE TABLE inh_3 () INHERITS (inh);
CREATE TABLE inh_4 () INHERITS (inh);
END
my $VIEWS = <<'END';
CREATE VIEW v_all AS SELECT id * 2 AS id, k, g, v, s, n, d FROM rng
	UNION ALL SELECT id * 2 + 1, k, g, v, s, n, d FROM plain;
CREATE VIEW v_join AS SELECT a.id, a.k, a.g, b.v, b.s, a.n, b.d
	FROM rng a JOIN rng2 b ON b.k = a.k AND b.id = a.id;
CREATE VIEW v_sum AS SELECT min(id) AS id, k, max(g) AS g, sum(v)::int AS v,
	min(s) AS s, max(n) AS n, min(d) AS d FROM two GROUP BY k;
CREATE VIEW v_upd AS SELECT id, k, g, v, s, n, d FROM rng WHERE v < 450 CHECK_OPTION;
CREATE FUNCTION same(x int) RETURNS int LANGUAGE plpgsql STABLE PARALLEL SAFE
	AS $$ BEGIN RETURN x; END $$;
CREATE FUNCTION f_count(x int) RETURNS text LANGUAGE plpgsql STABLE PARALLEL SAFE
	AS $$ DECLARE r text; BEGIN
	SELECT count(*) || '/' || coalesce(sum(v), 0) INTO r FROM ANY_TABLE WHERE k = x;
	RETURN r; END $$;
CREATE FUNCTION f_rows(x int, y int) RETURNS TABLE (id int, k int, v int)
	LANGUAGE plpgsql STABLE AS $$ BEGIN RETURN QUERY SELECT t.id, t.k, t.v
	FROM ANY_TABLE t WHERE t.k BETWEEN x AND y ORDER BY t.k, t.id; END $$;
CREATE FUNCTION f_set(x int) RETURNS TABLE (id int, v int) LANGUAGE sql STABLE
	AS $$ SELECT t.id, t.v FROM ANY_TABLE t WHERE t.k = x $$;
CREATE FUNCTION f_add(x int, y int) RETURNS bigint LANGUAGE plpgsql
	AS $$ DECLARE c bigint; BEGIN UPDATE ANY_TABLE SET v = (v + y) % 500 WHERE k = x;
	GET DIAGNOSTICS c = ROW_COUNT; RETURN c; END $$;
ANALYZE;
END
my $OTHER_ORDER =
  '(d date NOT NULL, junk int, s text, n numeric(10,2), v int NOT NULL, g int, k int NOT NULL, id int NOT NULL)';

my $GRAMMAR = <<'END';
where(t): #condition(@t){?3 AND #condition(@t)}
filter(t): {2: WHERE #where(@t)~}
dir: {2:~ DESC~ NULLS FIRST~ DESC NULLS LAST}
limit: {2: LIMIT #value(rows){?3 OFFSET #value(rows)}~}
values(c): #value(@c), #value(@c){?2 , #value(@c)}{?2 , #value(@c)}{?3 , #value(@c)}
condition_equal 4(t c): @t.@c = #value(@c)
condition_between 4(t c): {5:{=c {3:k~id~v~n~d}}{=x #value(@c)}@t.@c BETWEEN @x AND @x + #range(5,44)~{=x
	#value(s)}@t.s BETWEEN @x AND @x || 'z'~@t.g BETWEEN #value(g) AND #value(g)}
condition_less 1(t c): @t.@c {<~<=~>~>=} #value(@c)
condition_in 3(t c): @t.@c IN (#values(@c){?10 , NULL})
condition_any 1(t c): @t.k = ANY (#value(ks)::int[])
condition_null 1(t c): @t.{g IS NULL~s IS NULL~g IS NOT NULL}
condition_modulo 1(t c): @t.v % #range(2,10) = 1
condition_row 1(t c): {=k #literal(k)}(@t.k, @t.v) >= (@k, #value(v)) AND @t.k < @k + #range(1,50)
condition_or 1(t c): (#condition(@t) OR #condition(@t))
condition_not 1(t c): NOT (#condition(@t))
condition_exists 1(t c): #deeper(@t,exists)
condition_subquery 1(t c): #deeper(@t,subquery)
exists(t): {EXISTS~NOT EXISTS} (SELECT 1 FROM #from(@u) WHERE @u.k = @t.k AND #condition(@u))
subquery(t): {@t.k IN (SELECT @u.k FROM #from(@u) WHERE #condition(@u))~@t.k {=~>=} (SELECT max(@u.k) FROM
	#from(@u) WHERE #condition(@u))~@t.id = ANY (ARRAY(SELECT @u.id FROM #from(@u) WHERE #condition(@u)))}
more(t): {?3 , {@t.k + @t.v~coalesce(@t.g, -1)~upper(@t.s)~CASE WHEN @t.v < 250 THEN @t.n END}}{?8 , @t::text}
select_plain 12: SELECT #outputs(@t) FROM #from(@t) WHERE #where(@t) {?8 FOR {UPDATE~SHARE~NO KEY UPDATE}}
select_ordered 16: {=l #some(1,3,k k k v g s n d)} {3:= SELECT #outputs(@t) FROM #from(@t)#filter(@t) ORDER BY
	#order(@t,@l id)#limit~= SELECT #cols(@t,@l) FROM #from(@t)#filter(@t) ORDER BY #order(@t,@l)#limit}
on(p q): {2:@q.id = @p.id~@q.k = @p.k~@q.k = @p.k AND @q.id = @p.id~@q.k = @p.v AND @q.g = @p.g~@q.d = @p.d AND
	@q.k = @p.k}
joined(p q): {5:{3:JOIN~LEFT JOIN~RIGHT JOIN} #from(@q) ON #on(@p,@q){?4 AND #condition(@q)}~FULL JOIN
	#from(@q) ON #on(@p,@q)}
col: {id~k~g~v~s~n~d}
select_join 14: {=f {5:#from(@a) #joined(@a,@b)~rng @a JOIN rng2 @b ON @b.k = @a.k{?2 AND @b.id = @a.id}}}{=z
	@b} {?3 {=f @f #joined({@a~@b},@c)}{=z @c}}{=w #where(@a){?4 AND #condition(@b)}} {SELECT count(*),
	sum(@a.v), sum(@z.v), count(@b.id) FROM @f WHERE @w~= SELECT @a.id, @b.id, @z.id, @a.#col, @b.#col, @z.#col
	FROM @f WHERE @w ORDER BY {@a~@b}.k#dir, @a.id#dir, @b.id#dir, @z.id#dir#limit~2:SELECT @a.#col, @b.#col,
	@z.#col, @a.#col FROM @f WHERE @w}
lateral(t): {SELECT count(*) AS x, sum(@u.v) AS y FROM #from(@u) WHERE @u.k = @t.k~SELECT @u.id AS x, @u.v AS y
	FROM #from(@u) WHERE @u.k = @t.k ORDER BY @u.v, @u.id LIMIT 2~SELECT max(@u.id) AS x, @u.g AS y FROM
	#from(@u) WHERE @u.k BETWEEN @t.k AND @t.k + 3 GROUP BY @u.g~SELECT @u.id AS x, @u.k AS y FROM #from(@u)
	WHERE @u.k = @t.k + 1 UNION ALL SELECT @w.id, @w.k FROM #from(@w) WHERE @w.id = @t.id}
select_lateral 7: {=k #value(k)}SELECT @t.id, @t.k, l.x, l.y FROM #from(@t) {LEFT JOIN LATERAL (#lateral(@t)) l
	ON true~CROSS JOIN LATERAL (#lateral(@t)) l} WHERE @t.k BETWEEN @k AND @k + #range(5,34)
group(t): {@t.g~@t.k~@t.s~@t.k % 10~@t.v / 50~@t.d}
agg(t): {count(*)~sum(@t.v)~min(@t.s)~max(@t.n)~avg(@t.v)~count(DISTINCT @t.v)~string_agg(@t.s, ',' ORDER BY
	@t.s, @t.id)~array_agg(@t.id ORDER BY @t.k, @t.id)~sum(@t.n) FILTER (WHERE @t.g > 3)~bool_or(@t.v > 400)}
select_aggregate 10: {=a #group(@t)}{=g @a{?3 , #group(@t)}} SELECT @g, #agg(@t){?2 , #agg(@t)}{?3 , #agg(@t)}
	FROM #from(@t)#filter(@t) GROUP BY {12:@g~ROLLUP (@g)~CUBE (@g)~GROUPING SETS ((@g), ())~GROUPING SETS
	((@a), (@g))}{?4 HAVING count(*) > #range(0,3)}
select_distinct 6: {=l #some(1,2,g k s d v)} {SELECT DISTINCT #cols(@t,@l) FROM #from(@t)#filter(@t)~2:= SELECT
	DISTINCT ON (#cols(@t,@l)) #cols(@t,@l), @t.id, @t.n FROM #from(@t)#filter(@t) ORDER BY #order(@t,@l v
	id)#limit}
window(t p o): {row_number() OVER (@p ORDER BY @o, @t.id)~rank() OVER (@p ORDER BY @o)~sum(@t.v) OVER (@p ORDER
	BY @o)~lag(@t.id) OVER (@p ORDER BY @o, @t.id)~first_value(@t.id) OVER (@p ORDER BY @o, @t.id)~count(*)
	OVER (@p)~sum(@t.v) OVER (@p ORDER BY @o, @t.id ROWS BETWEEN 3 PRECEDING AND 1 FOLLOWING)}
select_window 7: {=p {~3:PARTITION BY @t.{g~k~d}}}{=o @t.{k~v~s~d}#dir} {3:SELECT @t.id, #window(@t,@p,@o){?2 ,
	#window(@t,@p,@o)} FROM #from(@t) WHERE #where(@t)~SELECT * FROM (SELECT @t.id, @t.g, row_number() OVER (@p
	ORDER BY @o, @t.id) AS r FROM #from(@t)) w WHERE r <= #range(1,3)}
setop: {2:UNION~UNION ALL~INTERSECT~EXCEPT~EXCEPT ALL}
arm(l): SELECT #cols(@t,@l) FROM #from(@t) WHERE #where(@t)
select_set_operation 5: {=l #some(1,3,id k g v s n d)} {=q #arm(@l) #setop #arm(@l){?3 #setop #arm(@l)}} {2:@q
	~= @q ORDER BY #order(,@l)#limit}
part(l n): SELECT #cols(@t,@l), @t.id, @n AS part FROM #from(@t)#filter(@t)
select_append 7: {=l #some(1,2,k v d s)}= SELECT * FROM (#part(@l,1) UNION ALL #part(@l,2) {?2 UNION ALL
	#part(@l,3)}{?3 UNION ALL #part(@l,4)}) u ORDER BY #order(,@l id part)#limit
scalar(t): {SELECT max(@u.v) FROM #from(@u) WHERE @u.k = @t.k~SELECT count(*) FROM #from(@u) WHERE @u.k = @t.k
	AND @u.v > @t.v~SELECT @u.id FROM #from(@u) WHERE @u.k >= @t.k ORDER BY @u.k, @u.id LIMIT 1~SELECT
	string_agg(@u.s, ',' ORDER BY @u.id) FROM #from(@u) WHERE @u.k = @t.k}
select_scalar 4: {=k #value(k)}SELECT @t.id, (#scalar(@t)) FROM #from(@t) WHERE @t.k BETWEEN @k AND @k + 30
select_cte 4: {WITH RECURSIVE w(k, l) AS (SELECT @t.k, 0 FROM #from(@t) WHERE @t.k = #value(k) UNION SELECT
	@u.v, w.l + 1 FROM w JOIN #from(@u) ON @u.k = w.k WHERE w.l < 4) SELECT * FROM w~2:WITH w AS {~MATERIALIZED
	~NOT MATERIALIZED} (SELECT @t.id, @t.k, @t.v FROM #from(@t) WHERE #where(@t)) SELECT w.id, @u.id, @u.n FROM
	w JOIN #from(@u) ON @u.id = w.id UNION ALL SELECT id, k, v FROM w WHERE v < #value(v)}
select_extremes 3: {=c {k~id~d}}SELECT min(@t.@c), max(@t.@c), max(@t.v) FROM #from(@t)#filter(@t)
select_function 3: {=k #literal(k)} {SELECT i, f_count(i) FROM generate_series(@k, @k + 12) i~SELECT * FROM
	f_rows(@k, @k + 20)~SELECT i, r.* FROM generate_series(@k, @k + 8) i, {f_rows(i, i + 2)~f_set(i)} r}
select_values 4: {=c {2:k~id~v}}SELECT x.y, @t.id, @t.@c FROM (VALUES (#value(@c), 1), (#value(@c), 2){?2 ,
	(#value(@c), 3)}{?2 , (#value(@c), 4)} {?3 , (#value(@c), 5)}) x(c, y) LEFT JOIN #from(@t) ON @t.@c = x.c
few(t): {2:@t.k = #value(k)~@t.id = #value(id)~@t.k IN (#values(k))~{=k #value(k)}@t.k BETWEEN @k AND @k +
	#range(0,7)~@t.v = #value(v) AND #condition(@t)}
set(t): {2:v = (@t.v + #value(v)) % 500~n = (@t.n + #value(n)) % 100~4:{=c {3:v~s~n~d~g~2:k}}@c = #value(@c)
	~5:{v = (@t.v * 7 + 1) % 500~s = 's' || (@t.v % 200)~s = NULL~g = NULL~k = (@t.k + 500) % 1000~id = - @t.id
	~v = (same(@t.v) + 1) % 500, n = 1}}
set_from(t b): {3:v = (@t.v + @b.v) % 500~6:{=c {s~n~d~g~2:k}}@c = @b.@c}
write_update 10: UPDATE #target(v_upd) t SET #set(t) WHERE #few(t)
write_update_from 4: UPDATE #target t SET #set_from(t,b) FROM #target b WHERE b.id = t.id AND #few({t~b})
write_delete 4: DELETE FROM #target(v_upd) t {WHERE #few(t)~USING #target b WHERE b.k = t.k AND b.id = t.id AND
	#few(b)}
copied: SELECT #fresh + row_number() OVER (ORDER BY @u.id) AS id, {2:@u.k~@u.v~#literal(k)} AS k, @u.g, @u.v,
	@u.s, @u.n, @u.d FROM #from(@u) WHERE #few(@u)
row(f i): (@f + @i, {199:#value(k)~NULL}, {5:#value(g)~NULL}, #value(v), {5:#value(s)~NULL}, #value(n),
	{199:#value(d)~NULL})
write_insert 5: {=f #fresh}INSERT INTO {#keyed~inh} (#columns) {#copied~VALUES #row(@f,1){?2 , #row(@f,2)}{?2 ,
	#row(@f,3)}}
keyed: {rng~rng2~lst~hsh~two~quarter~many~plain}
write_upsert 6: {=b #keyed}INSERT INTO @b AS t (#columns) SELECT #columns FROM @b t WHERE #few(t){9:{?2 UNION
	ALL SELECT #fresh + row_number() OVER (ORDER BY id), k, g, v, s, n, d FROM @b t WHERE #few(t)} ON CONFLICT
	{DO NOTHING~2:(#key(@b)) DO UPDATE SET {v = (excluded.v + 1) % 500~s = t.s || 'u', n = 2~k = (t.k + 1) %
	1000~v = (t.v + 3) % 500 WHERE t.g > 5}} {?2 RETURNING t.id, t.v, t.s}~}
write_merge 6: MERGE INTO #target t USING (SELECT b.*, #fresh + row_number() OVER (ORDER BY b.id) AS fresh FROM
	#target b WHERE #few(b)) b ON {2:t.id = b.id~t.id = b.id AND t.k = b.k} {?2 WHEN MATCHED AND {t.v < b.v~t.g
	= b.g~b.v % 3 = 0} THEN {DELETE~DO NOTHING~UPDATE SET #set_from(t,b)}} WHEN MATCHED THEN {5:UPDATE SET
	#set_from(t,b)~DELETE~DO NOTHING} {?2 WHEN NOT MATCHED THEN INSERT (#columns) VALUES (b.fresh, b.k, b.g,
	b.v, b.s, b.n, b.d)} {?3 WHEN NOT MATCHED BY SOURCE AND t.k = #value(k) THEN {DELETE~UPDATE SET v = (t.v +
	1) % 500}}{?2 RETURNING merge_action(), t.id, t.k, t.v}
write_call 2: SELECT i, f_add(i, 3) FROM generate_series(#literal(k), 1000, 50) i ORDER BY i
index_on(t): ON @t {8:{(k)~(v)~(g, k)~(s)~(n DESC NULLS LAST)~(d, id)~(k DESC, id)~(k, v) INCLUDE (s)~((v %
	10))~(v) WHERE g = 3~(k) WHERE v < 250~(id)~(g NULLS FIRST, v)~(s, k, v)~((k + v), g)~(n, d)~(v DESC)
	~(lower(s))~(k, id)~(d)}~USING hash (s)~USING brin (k)}
create_index: CREATE {3:INDEX #new_index #index_on(#target)~UNIQUE INDEX #new_index ON {many~plain} {(v, id)
	~(k, v)}}
between: {#create_index~#drop_index~ANALYZE #target~SET enable_{seqscan~hashjoin~nestloop} = off~SET
	{parallel_setup_cost = 0~parallel_tuple_cost = 0~max_parallel_workers_per_gather = 4
	~min_parallel_table_scan_size = 0~min_parallel_index_scan_size = 0}}
workers: SET maintenance_work_mem = '{64kB~4MB~64MB}'; SET max_parallel_maintenance_workers = #range(0,4)
ddl_indexes 5: #workers; SET min_parallel_table_scan_size = 0{?2 ; #drop_index}; #create_index{?2 ;
	#create_index}{?2 ; #create_index} {?3 ; CREATE INDEX CONCURRENTLY #new_index #index_on({many~plain})};
	SELECT * FROM (SELECT @t.id FROM #from(@t) WHERE #where(@t)) q ORDER BY q::text
prime: {7919~6007~4001~2003~1009~997}
ddl_sorted 3: {=p #prime}{=q #prime}{=x {2~50~1000~1000000}}{=l #some(1,3,a b c)} {=u {2:~UNIQUE}}{=o
	#order(,@l)}{=w {2:~WHERE a % 3 <> 1}} CREATE TABLE big AS SELECT i AS id, (i * @p) % @x AS a, nullif('x'
	|| (i * @q) % @x, 'x1') AS b, ((i * @q) % 1000)::numeric AS c FROM generate_series(1, #range(2000,22000))
	i; ALTER TABLE big SET (parallel_workers = 4); {DELETE FROM big WHERE id % 4 = 0~UPDATE big SET c = c + 1
	WHERE id % 5 = 0~UPDATE big SET a = a + 1, b = 'y' || b WHERE id % 100 = 0~VACUUM big}; #workers; CREATE
	{2:INDEX big_i ON big (@o){?2 INCLUDE (id)}~UNIQUE INDEX big_i ON big (@o, id)~UNIQUE INDEX big_i ON big
	(@o)} @w; SET enable_seqscan = off; SET enable_sort = off; SELECT bt_index_check('big_i', true); SELECT
	count(*), md5(string_agg(q::text, ',')) FROM (SELECT a, b, c, id FROM big @w ORDER BY @o, a, b, c, id) q;
	DROP TABLE big
ddl_detach 4: {=b {rng~rng2~lst~hsh~two~quarter}}{=p #partition(@b)}{=k #literal(k)} SET plan_cache_mode =
	{auto~force_generic_plan}; PREPARE p (int, int) AS SELECT tableoid::regclass, * FROM @b t WHERE k BETWEEN
	$1 AND $2 ORDER BY k, id; EXECUTE p (@k, @k + 20); ALTER TABLE @b DETACH PARTITION @p{?3 CONCURRENTLY};
	EXECUTE p (@k, @k + 20); {?3 UPDATE @p t SET #set(t);} ALTER TABLE @b ATTACH PARTITION @p #bound(@p);
	EXECUTE p (@k, @k + 20); DEALLOCATE p
ddl_partition 2: {=b {rng~rng2}}{=p @b_x#number}{=f 10#range(0,4)0} CREATE TABLE @p PARTITION OF @b FOR VALUES
	FROM (@f) TO (@f + 10); INSERT INTO @b (#columns) #copied; UPDATE @b t SET k = @f + 3 WHERE #few(t); {DROP
	TABLE @p~ALTER TABLE @b DETACH PARTITION @p~SELECT count(*) FROM @p}; SELECT count(*), sum(v), min(k),
	max(k) FROM @b
ddl_maintain 3: {VACUUM #target~VACUUM (FREEZE, ANALYZE) #target~ANALYZE #target~REINDEX TABLE #target~REINDEX
	TABLE CONCURRENTLY plain~VACUUM FULL many~ALTER TABLE many SET (fillfactor = 70)~CLUSTER plain USING
	plain_key}
case_select 55: #query
case_prepared 22: #prepared
case_dml 14: {3:#write~BEGIN; #write; {SAVEPOINT s; #write; {ROLLBACK TO s~RELEASE s}~#write}; {COMMIT
	~ROLLBACK}}
case_ddl 6: #one_of(ddl)
move: {2:FETCH~MOVE} {2:FORWARD~BACKWARD} #range(1,20) FROM c
case_cursor 3: BEGIN; DECLARE c SCROLL CURSOR FOR #query(ordered); #move; #move{?2 ; #move} {?2 ; #move}; FETCH
	ALL FROM c; CLOSE c; COMMIT
off: ; SET enable_{seqscan~indexscan~indexonlyscan~bitmapscan~hashjoin~mergejoin~nestloop~sort~incremental_sort
	~hashagg~material~memoize~parallel_append~gathermerge~partition_pruning~parallel_hash~presorted_aggregate
	~group_by_reordering~distinct_reordering~self_join_elimination} = off
settings: {?2 #off{?2 #off}{?2 #off}{?2 #off}}{?3 ; SET enable_partitionwise_join = on} {?3 ; SET
	enable_partitionwise_aggregate = on}{?3 ; SET work_mem = '{64kB~256kB}'} {?3 ; SET parallel_setup_cost = 0;
	SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SET min_parallel_index_scan_size = 0;
	SET max_parallel_workers_per_gather = {2:2~4}{?4 ; SET parallel_leader_participation = off}} {?6 ; SET
	{random_page_cost = 1~cpu_tuple_cost = 1~from_collapse_limit = 1~join_collapse_limit = 1
	~cursor_tuple_fraction = 1~hash_mem_multiplier = 1~constraint_exclusion = on~geqo_threshold = 2
	~debug_parallel_query = on}}
END

my (%rule, @rules);
for (split /\n(?=\w)/, $GRAMMAR)
{
	my ($name, $weight, $parameters, $text) =
	  /^(\w+)(?: (\d+))?(?:\(([\w ]*)\))?: (.*)/s
	  or die "no rule: $_";
	$text =~ s/\s+/ /g;
	$text =~ s/ $//;
	push @rules, $name;
	$rule{$name} = {
		weight => $weight,
		parameters => [ split / /, $parameters // '' ],
		text => $text
	};
}

# Takes an integer from 0 to 4294967295.
sub new
{
	my ($class, $seed) = @_;
	srand $seed;
	my $self = bless {
		fresh => 100_000,
		aliases => 0,
		depth => 0,
		made => 0,
	}, $class;
	$self->make_schema;
	return $self;
}

# What is drawn: an integer below n; true in one of n cases; one of a list; one of
# [ weight, value ]s.

sub draw   { my ($n) = @_;    return int rand $n; }
sub one_in { my ($n) = @_;    return draw($n) == 0; }
sub pick   { my (@list) = @_; return $list[ draw(scalar @list) ]; }

sub weighted
{
	my (@list) = @_;
	my $x = draw(sum map { $_->[0] } @list);
	for (@list)
	{
		return $_->[1] if $x < $_->[0];
		$x -= $_->[0];
	}
	return;
}

# The grammar.

my $BRACES = qr/(\{(?:[^{}]++|(?-1))*+\})/;

# What a text of the grammar becomes; the scope has what is assigned.  What a pattern
# has found is copied at once: the same pattern is used further down.
sub expand
{
	my ($self, $text, $scope) = @_;
	$scope ||= {};
	my $made = '';
	while ($text =~ /\G(?:([^{#@]+)|$BRACES|@(\w)|#(\w+)(?:\(([^()]*)\))?)/g)
	{
		my ($plain, $braces, $name, $rule, $arguments) = ($1, $2, $3, $4, $5);
		$made .=
			defined $plain  ? $plain
		  : defined $braces ? $self->choose(substr($braces, 1, -1), $scope)
		  : defined $name   ? $scope->{$name} //= $self->alias
		  : $self->apply(
			$rule,
			map { $self->expand($_, $scope) } split /,/,
			$arguments // '');
	}
	return $made;
}

sub apply
{
	my ($self, $name, @arguments) = @_;
	my $rule = $rule{$name} or return $self->$name(@arguments);
	my %scope;
	@scope{ @{ $rule->{parameters} } } = @arguments;
	return $self->expand($rule->{text}, \%scope);
}

sub choose
{
	my ($self, $text, $scope) = @_;
	return one_in($1) ? $self->expand($2, $scope) : ''
	  if $text =~ /^\?(\d+)(.*)/s;
	if ($text =~ /^=(\w) (.*)/s)
	{
		my ($name, $value) = ($1, $2);
		$scope->{$name} = $self->expand($value, $scope);
		return '';
	}
	my @choices = ('');
	while ($text =~ /\G(?:(~)|([^{}~]+)|$BRACES)/g)
	{
		if   ($1) { push @choices, ''; }
		else      { $choices[-1] .= $2 // $3; }
	}
	return $self->expand(
		weighted(map { /^(\d+):(.*)/s ? [ $1, $2 ] : [ 1, $_ ] } @choices),
		$scope);
}

# One of the rules with a prefix, by weight; its name without that is noted.
sub one_of
{
	my ($self, $prefix, @arguments) = @_;
	my $name = weighted(
		map  { [ $rule{$_}{weight}, $_ ] }
		grep { /^${prefix}_/ } @rules);
	push @{ $self->{kinds} }, $name =~ s/^${prefix}_//r;
	return $self->apply($name, @arguments);
}

# What the grammar calls: values.

sub columns { return $COLUMNS; }

sub range
{
	my ($self, $from, $to) = @_;
	return $from + draw($to - $from + 1);
}
sub number { my ($self) = @_; return ++$self->{made}; }

sub literal
{
	my ($self, $column) = @_;
	return
		$column eq 'fresh' ? ($self->{fresh} += 10_000)
	  : $column eq 'g'     ? draw(one_in(6) ? 25 : 13) - 5 * one_in(50)
	  : $column eq 'k'     ? (one_in(25)    ? 990 + draw(40) : draw(1000))
	  : $column eq 'v'     ? draw(500)
	  : $column eq 'rows'  ? draw(40)
	  : $column eq 's'     ? q('s) . draw(200) . q(')
	  : $column eq 'n'     ? sprintf '%d.%02d', draw(100), draw(100)
	  : $column eq 'd'
	  ? sprintf q(date '2020-%02d-%02d'), 1 + draw(12), 1 + draw(28)
	  : $column eq 'ks' ? q('{)
	  . join(',', map { $self->literal('k') } 0 .. draw(5))
	  . q(}'::int[])
	  : one_in(8) ? 100_001 + 10_000 * draw(20) + draw(30)
	  :             1 + draw($self->{rows});
}

# A literal, a parameter of the statement that is being prepared, or what the
# planner does not know the value of.
sub value
{
	my ($self, $column) = @_;
	my $params = $self->{params};
	my $value =
	  $params && @$params < 6 && one_in(2)
	  ? '$' . push(@$params, $column)
	  : $self->literal($column);
	return $value if !one_in(6);
	return "same($value)" if $TYPE{$column} eq 'int' && one_in(2);
	return "(SELECT $value)";
}

# Ids that no row has; as many as a table can have rows.  A statement that is being
# prepared gets them anew at each execution.
sub fresh
{
	my ($self) = @_;
	my $params = $self->{params};
	return $params ? '$' . push @$params, 'fresh' : $self->literal('fresh');
}

# Lists of columns, with blanks between them.

sub some
{
	my ($self, $from, $to, $list) = @_;
	return join ' ', uniq sample $self->range($from, $to), split / /, $list;
}

sub cols
{
	my ($self, $t, $list) = @_;
	return join ', ', map { "$t.$_" } split / /, $list;
}

sub order
{
	my ($self, $t, $list) = @_;
	return join ', ',
	  map { ($t eq '' ? '' : "$t.") . $_ . $self->apply('dir') } split / /,
	  $list;
}

# Relations.

sub alias
{
	my ($self) = @_;
	my $alias = 't' . ++$self->{aliases};
	$self->{relation}{$alias} = $self->relation;
	return $alias;
}

sub relation
{
	my ($self) = @_;
	return pick(qw(v_join v_sum)) if one_in(20);
	return 'v_all' if one_in(12);
	return $self->partition(pick(qw(rng rng2 lst hsh quarter))) if one_in(20);
	return $self->target;
}

sub from { my ($self, $t) = @_; return "$self->{relation}{$t} $t"; }

sub outputs
{
	my ($self, $t) = @_;
	my $out = $self->cols($t, $self->some(1, 4, 'id k g v s n d'));
	$out .= ", $t.tableoid::regclass::text"
	  if $self->{relation}{$t} !~ /^v_/ && one_in(6);
	return $out . $self->apply('more', $t);
}

# A condition on the row $t; those that hold for few rows are likely.
sub condition
{
	my ($self, $t) = @_;
	local $self->{depth} = $self->{depth} + 1;
	local $self->{kinds} = [];
	return $self->one_of('condition', $t, pick(qw(k k k k id id g v s n d)));
}

sub deeper
{
	my ($self, $t, $name) = @_;
	return $self->apply($self->{depth} > 2 ? 'condition_equal' : $name, $t,
		'k');
}

sub target
{
	my ($self, @more) = @_;
	return pick(@{ $self->{names} }, @more);
}
sub key { my ($self, $table) = @_; return $self->{key}{$table}; }

sub partition
{
	my ($self, $table) = @_;
	return pick(@{ $self->{partitions}{$table} })->[0];
}

sub bound
{
	my ($self, $part) = @_;
	my ($bound) = map { $_->[1] }
	  grep { $_->[0] eq $part } map { @$_ } values %{ $self->{partitions} };
	return $bound;
}

sub new_index
{
	my ($self) = @_;
	push @{ $self->{indexes} }, 'x_' . $self->number;
	return $self->{indexes}[-1];
}

sub drop_index
{
	my ($self) = @_;
	return 'DROP INDEX ' . (shift @{ $self->{indexes} } // 'x_0');
}

# The schema: its script, and what statements need to know of it: the number of rows,
# the names of tables, their unique keys and their partitions, [ [ name, bound ] ].
sub make_schema
{
	my ($self) = @_;
	$self->{rows} = 500 + draw(1500);
	my @child = ('child') x one_in(2);
	my @tables = (@PARTITIONED, qw(many plain inh));
	$self->{names} = [ @tables, @child ];
	my ($below, $key) = @{
		pick(
			[ 'HASH (id)', 'k, id' ],
			[ 'LIST (g)', 'k, g, id' ],
			[ 'RANGE (v)', 'k, v, id' ])
	};
	my %key = (%KEY, two => $key);
	$self->{key} = \%key;
	my @sql = split /;\n/, $TABLES;
	my $parts = $self->{partitions} = make_partitions();
	my $other = pick(grep { $_->[1] ne 'DEFAULT' } @{ $parts->{rng} })->[0];
	my @leaves =
		$below =~ /^H/ ? (map { [ $_, modulus(3, $_) ] } 0 .. 2)
	  : $below =~ /^L/
	  ? ([ 1, 'FOR VALUES IN (1, 3, 5, NULL)' ], [ 'def', 'DEFAULT' ])
	  : ranges('', qw(MINVALUE 200 MAXVALUE));

	for my $table (@PARTITIONED)
	{
		my $by = $table eq 'two' ? " PARTITION BY $below" : '';
		for (@{ $parts->{$table} })
		{
			my ($part, $bound) = @$_;
			push @sql,
			  $part eq $other
			  ? (
				"CREATE TABLE $part $OTHER_ORDER",
				"ALTER TABLE $part DROP COLUMN junk",
				"ALTER TABLE $table ATTACH PARTITION $part $bound")
			  : "CREATE TABLE $part PARTITION OF $table $bound$by";
			push @sql, map {
				"CREATE TABLE ${part}_$_->[0] PARTITION OF $part $_->[1]"
			  } @leaves
			  if $by;
		}
	}

	# Data first, so that the indexes are built from it.
	push @sql, map { $self->fill($_, '') } grep { $_ ne 'inh' } @tables;
	push @sql,
	  map { $self->fill($_ ? "inh_$_" : 'inh', "WHERE i % 5 = $_") } 0 .. 4;
	push @sql, 'CREATE TABLE child AS SELECT * FROM rng WHERE id % 3 = 0'
	  if @child;
	for my $name (@tables, @child)
	{
		push @sql,
		  "CREATE UNIQUE INDEX ${name}_key ON $name ($key{$name}) NULLS NOT DISTINCT"
		  if $key{$name};
		push @sql, map {
			"CREATE INDEX ${name}_i$_ " . $self->apply('index_on', $name)
		} 1 .. ($name eq 'many' ? 59 : 1 + draw(4));
	}
	push @sql, map {
		(   "CREATE UNIQUE INDEX inh_${_}_key ON inh_$_ (id)",
			"CREATE INDEX inh_${_}_k ON inh_$_ (k, id)")
	} 1 .. 4;
	push @sql,
	  'ALTER TABLE child ADD FOREIGN KEY (k, id) REFERENCES rng (k, id) ON UPDATE CASCADE ON DELETE '
	  . pick('CASCADE', 'NO ACTION', 'RESTRICT')
	  if @child;

	# So that parallel workers build the indexes of small tables, too.
	push @sql, "ALTER TABLE $_ SET (parallel_workers = 3)" for qw(many plain);
	my $table = pick(qw(rng two hsh lst));
	my $check = pick('', 'WITH CHECK OPTION');
	$self->{script} =
	  join('', map { "$_;\n" } @sql) . $VIEWS =~ s/ANY_TABLE/$table/gr =~
	  s/CHECK_OPTION/$check/r;
	return;
}

# { table => [ [ name, bound ] ] }
sub make_partitions
{
	my @bounds = range_bounds(2 + draw(24));
	my @default = ('def') x one_in(2);
	my @groups;
	push @{ $groups[ draw(6) ] }, $_ for 0 .. 12, 'NULL';
	@groups = map { join ', ', @$_ } grep { defined } @groups;
	my $modulus = 2 + draw(15);
	my @quarters = map { "'$_'" }
	  qw(2020-01-01 2020-04-01 2020-07-01 2020-10-01 2021-01-02);
	return {
		(   map {
				my $name = $_;
				$name => [
					ranges("${name}_", @bounds),
					map { [ "${name}_$_", 'DEFAULT' ] } @default
				]
			} qw(rng rng2)),
		lst => [
			(   map { [ "lst_$_", "FOR VALUES IN ($groups[$_])" ] }
				  0 .. $#groups),
			([ 'lst_def', 'DEFAULT' ]) x one_in(2)
		],
		hsh =>
		  [ map { [ "hsh_$_", modulus($modulus, $_) ] } 0 .. $modulus - 1 ],
		two => [ ranges('two_', range_bounds(2 + draw(5))) ],
		quarter => [ ranges('quarter_', @quarters) ]
	};
}

sub modulus
{
	return sprintf 'FOR VALUES WITH (MODULUS %d, REMAINDER %d)', @_;
}

sub range_bounds
{
	my ($parts) = @_;
	my @inner = sort { $a <=> $b } sample $parts - 1, map { 4 * $_ } 1 .. 249;
	return (pick(0, 'MINVALUE'), @inner, pick(1000, 1000, 'MAXVALUE'));
}

sub ranges
{
	my ($prefix, @bounds) = @_;
	return map {
		[
			"$prefix$_",
			"FOR VALUES FROM ($bounds[$_]) TO ($bounds[ $_ + 1 ])"
		]
	} 0 .. $#bounds - 1;
}

sub fill
{
	my ($self, $table, $where) = @_;
	my $rows = $self->{rows};
	my ($p, $q, $r) = sample(3, qw(7919 6007 4001 2003 1009 997 883 769));
	my $k =
	  $table eq 'plain' || one_in(5)
	  ? "(i::bigint * 1000 / ($rows + 1))::int"
	  : "(i * $p) % 1000";
	return
	  "INSERT INTO $table ($COLUMNS) SELECT i, $k, nullif(i % 14, 13), (i * $q) % 500, CASE WHEN i % 17 <> 0 THEN 's' || (i * $r) % 200 END, ((i * $p) % 10000) / 100.0, date '2020-01-01' + (i * $q) % 366 FROM generate_series(1, $rows) i $where";
}

# Returns a script that makes the schema and its data, with the names of tables
# resolved by search_path.
sub setup { my ($self) = @_; return $self->{script}; }

# Returns a script whose output says what is in the tables, and whether their B-tree
# indexes are sound (the extension amcheck must be there).
sub contents
{
	my ($self) = @_;
	return join '', (
		map {
			"SELECT '$_', tableoid::regclass::text, count(*), md5(string_agg(t::text, ',' ORDER BY t::text)) FROM $_ t GROUP BY 2 ORDER BY 2;\n"
		} @{ $self->{names} }),
	  "SELECT count(bt_index_check(c.oid, true)) FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid JOIN pg_am m ON m.oid = c.relam WHERE c.relnamespace = 'st'::regnamespace AND c.relkind = 'i' AND i.indisvalid AND m.amname = 'btree';\n";
}

# Returns the next statements: { kind, settings, statements }, the last two being
# lists of commands for psql, without semicolons.  The settings last until RESET ALL,
# prepared statements until DEALLOCATE ALL.
sub next_case
{
	my ($self) = @_;
	$self->{aliases} = 0;
	$self->{kinds} = [];
	my ($settings, $statements) =
	  map { [ separate($_) ] } $self->apply('settings'),
	  $self->one_of('case');
	return {
		kind => join(', ', @{ $self->{kinds} }),
		settings => $settings,
		statements => $statements
	};
}

sub separate
{
	my ($text) = @_;
	return map { s/\s+/ /gr } grep { /\S/ } split /\s*;\s*/,
	  $text =~ s/^\s+|\s+$//gr;
}

# A function.  Returns the statements that a text becomes which is like those of the
# grammar, but uses no tables; the scope has what is assigned before.
sub statements
{
	my ($text, %scope) = @_;
	return separate(__PACKAGE__->expand($text, \%scope));
}

# A query whose rows have an order.
sub query
{
	my ($self, $kind) = @_;
	my $text = $kind ? $self->apply("select_$kind") : $self->one_of('select');
	$text =~ s/^ *= //
	  or $text = "SELECT * FROM ($text) q ORDER BY q::text";
	return $text;
}

sub prepared
{
	my ($self) = @_;
	local $self->{params} = [];
	my $text = one_in(4) ? $self->write : $self->query;
	my @params = @{ $self->{params} };
	my $types = join ', ', map { $TYPE{$_} } @params;
	my $mode = pick(
		qw(auto auto force_generic_plan force_generic_plan force_custom_plan)
	);
	$mode = 'force_custom_plan' if base_moves_wrongly($text);
	my @statements = (
		"SET plan_cache_mode = $mode",
		'PREPARE p' . (@params ? " ($types)" : '') . " AS $text");

	# Without parameters, the first plan is kept.
	for (1 .. (@params ? pick(2, 3, 3, 8) : 2))
	{
		push @statements, $self->apply('between') if one_in(10);
		my $list = join ', ',
		  map { one_in(20) ? 'NULL' : $self->literal($_) } @params;
		push @statements, 'EXECUTE p' . (@params ? " ($list)" : '');
	}
	return join ';', @statements, 'DEALLOCATE p';
}

# One statement that changes data.
sub write
{
	my ($self) = @_;
	my $text = $self->one_of('write');
	my $kind = $self->{kinds}[-1];
	return $text if $kind eq 'call';
	$text =~ s/\bsame\((.*?)\)/($1)/g if base_moves_wrongly($text);
	if ($text !~ / RETURNING/ && $kind ne 'upsert' && one_in(2))
	{
		my $t = $kind eq 'insert' ? '' : 't.';
		$text .= " RETURNING ${t}id, ${t}k, ${t}v, ${t}s";
		$text .= ', old.v, new.g' if $kind ne 'merge' && one_in(3);
	}
	return $text !~ / RETURNING/
	  ? $text
	  : "WITH x AS ($text) SELECT * FROM x ORDER BY x::text";
}

# 18.6 can show, check or store wrong values of a row that is moved between partitions
# with columns in different order, if the first one is pruned at executor startup: in a
# generic plan, or because of a stable function.  The series corrects that.
sub base_moves_wrongly
{
	my ($text) = @_;
	return $text =~ /\b(?:UPDATE|MERGE INTO) (?:rng|v_upd)\b/;
}

1;
