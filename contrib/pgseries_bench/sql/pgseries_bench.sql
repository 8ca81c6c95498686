CREATE EXTENSION pgseries_bench;

-- Times differ from run to run, so show only that there is one.
CREATE TABLE t (id int PRIMARY KEY, val text);
INSERT INTO t SELECT i, 'v' || i FROM generate_series(1, 100) i;
CREATE TABLE p (id int, val text) PARTITION BY RANGE (id);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (1) TO (11);
CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (11) TO (21);
INSERT INTO p SELECT i, 'v' || i FROM generate_series(1, 20) i;
CREATE VIEW held AS
  SELECT relation::regclass AS name, mode FROM pg_locks
  WHERE locktype = 'relation' AND pid = pg_backend_pid() AND relation >= 16384
    AND relation::regclass::text <> 'held';

-- Says when it is called; the planner folds a call with a constant argument.
CREATE FUNCTION tell(i int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS
$$BEGIN RAISE NOTICE 'tell %', i; RETURN i; END$$;


--
-- Planning
--

-- The planner runs as often as asked.
SELECT iterations, nanoseconds > 0 AS timed
  FROM pgseries_bench_plan('SELECT tell(7) FROM t', 3);

-- The statement is planned and not executed.
SELECT iterations, nanoseconds > 0 AS timed
  FROM pgseries_bench_plan('DELETE FROM t', 10);
SELECT count(*) FROM t;

-- Parameters need no value, as for a generic plan.
SELECT iterations, nanoseconds > 0 AS timed
  FROM pgseries_bench_plan('SELECT * FROM t WHERE id = $1', 10);

-- All queries that a rule makes are planned.
CREATE TABLE log (msg text);
CREATE RULE r AS ON UPDATE TO t WHERE tell(8) = 8
  DO ALSO INSERT INTO log SELECT tell(9)::text;
SELECT iterations FROM pgseries_bench_plan('UPDATE t SET val = NULL', 1);
DROP RULE r ON t;

-- Locks are gone after the call, in the same transaction,
BEGIN;
SELECT iterations FROM pgseries_bench_plan('SELECT * FROM p WHERE id > 0', 3);
SELECT * FROM held;
COMMIT;
-- and those of an outer statement are not touched.
BEGIN;
LOCK TABLE p IN ROW SHARE MODE;
SELECT iterations FROM pgseries_bench_plan('SELECT * FROM p WHERE id > 0', 3);
SELECT * FROM held ORDER BY name;
COMMIT;


--
-- Execution
--

SELECT iterations, nanoseconds > 0 AS timed, rows
  FROM pgseries_bench_execute('SELECT * FROM p', 3);
SELECT iterations, rows
  FROM pgseries_bench_execute('SELECT * FROM t WHERE id > $1 AND val <> $2', 4, '{90, v95}');
SELECT rows FROM pgseries_bench_execute('SELECT $1::int WHERE $2::text IS NULL', 2, '{1, NULL}');
SELECT rows FROM pgseries_bench_execute('VALUES (1), (2)', 2, NULL);
SELECT page_faults > 1000 AS faults FROM pgseries_bench_execute('SELECT length(repeat(''x'', 10000000))', 1);

-- A generic plan is made once, a custom one for each execution.
SELECT rows FROM pgseries_bench_execute('SELECT tell(1) WHERE $1 > 0', 3, '{1}', generic => true);
SELECT rows FROM pgseries_bench_execute('SELECT tell(2) WHERE $1 > 0', 3, '{1}', generic => false);
SELECT rows FROM pgseries_bench_execute('SELECT tell(3)', 3, generic => false);
-- By default the plan cache decides.
SELECT rows FROM pgseries_bench_execute('SELECT tell(4)', 3);
SET plan_cache_mode = force_generic_plan;
SELECT rows FROM pgseries_bench_execute('SELECT tell(5) WHERE $1 > 0', 3, '{1}');
SELECT rows FROM pgseries_bench_execute('SELECT tell(6) WHERE $1 > 0', 3, '{1}', generic => false);
RESET plan_cache_mode;

-- Each iteration is undone, so each does the same.
SELECT iterations, rows
  FROM pgseries_bench_execute('INSERT INTO t VALUES ($1, $2)', 3, '{101, x}');
SELECT iterations, rows
  FROM pgseries_bench_execute('UPDATE t SET val = val || $1 WHERE id <= 10', 3, '{y}');
SELECT iterations, rows FROM pgseries_bench_execute('DELETE FROM t RETURNING *', 3);
SELECT iterations, rows FROM pgseries_bench_execute(
  'MERGE INTO t USING generate_series(100, 103) i ON id = i
   WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT VALUES (i)', 3);
SELECT count(*), max(id), sum(length(val)) FROM t;

-- Locks, as above
BEGIN;
SELECT rows FROM pgseries_bench_execute('SELECT * FROM p WHERE id > $1', 3, '{0}');
SELECT rows FROM pgseries_bench_execute('SELECT * FROM p WHERE id > $1', 3, '{0}', true);
SELECT rows FROM pgseries_bench_execute('DELETE FROM p', 3);
SELECT * FROM held;
COMMIT;

-- One inside of the other
SELECT rows FROM pgseries_bench_execute(
  'SELECT * FROM pgseries_bench_execute(''SELECT tell(1)'', 2)', 2);


--
-- Locks
--

SELECT iterations, acquire_ns > 0 AS acquired, release_ns > 0 AS released, fast_path
  FROM pgseries_bench_locks(4, 1, 10);
-- The main lock table takes what the fast path does not.
SELECT iterations, fast_path BETWEEN 1 AND 300 AS some_fast_path
  FROM pgseries_bench_locks(300, 64, 2);
BEGIN;
SELECT iterations FROM pgseries_bench_locks(40, 3, 5);
SELECT count(*) FROM held;
COMMIT;


--
-- Bad arguments
--

SELECT pgseries_bench_plan('SELECT 1', 0);
SELECT pgseries_bench_plan('SELECT 1', NULL);
SELECT pgseries_bench_plan(NULL, 1);
SELECT pgseries_bench_plan('', 1);
SELECT pgseries_bench_plan('SELECT 1; SELECT 2', 1);
SELECT pgseries_bench_plan('ANALYZE t', 1);
SELECT pgseries_bench_plan('SELECT 1 AS i INTO u', 1);
SELECT pgseries_bench_plan('SELECT 1 FROM', 1);
SELECT pgseries_bench_plan('SELECT * FROM no_such_table', 1);
SELECT pgseries_bench_execute('SELECT 1', -1);
SELECT pgseries_bench_execute('SELECT 1; SELECT 2', 1);
SELECT pgseries_bench_execute('EXPLAIN SELECT 1', 1);
SELECT pgseries_bench_execute('SELECT $1::int', 1);
SELECT pgseries_bench_execute('SELECT concat($1)', 1, '{1}');
SELECT pgseries_bench_execute('SELECT $1::int', 1, '{1, 2}');
SELECT pgseries_bench_execute('SELECT $1::int', 1, '{one}');
SELECT pgseries_bench_execute('SELECT no_such_column FROM t', 1);
SELECT pgseries_bench_locks(0, 1, 1);
SELECT pgseries_bench_locks(1, 0, 1);
SELECT pgseries_bench_locks(1, 1, 0);
SELECT pgseries_bench_locks(1, 1, 1, 1259);
SELECT pgseries_bench_locks(1, 1, 1, NULL);
SELECT pgseries_bench_locks(2147483647, 2147483647, 1);
BEGIN;
LOCK TABLE t IN ACCESS SHARE MODE;
SELECT pgseries_bench_locks(1, 1, 1, 2000000000) IS NOT NULL AS ok;
DO $$
BEGIN
  PERFORM pgseries_bench_locks(1, 1, 1, 't'::regclass);
EXCEPTION WHEN object_in_use THEN
  RAISE NOTICE 'already locked';
END
$$;
SELECT * FROM held;
COMMIT;
CREATE RULE r AS ON DELETE TO t DO INSTEAD NOTHING;
SELECT pgseries_bench_plan('DELETE FROM t', 1);
DROP RULE r ON t;

-- Locks on arbitrary relations are for superusers, the rest is for everyone.
CREATE ROLE regress_pgseries_bench;
SET ROLE regress_pgseries_bench;
SELECT iterations FROM pgseries_bench_plan('SELECT 1', 1);
SELECT iterations FROM pgseries_bench_execute('SELECT 1', 1);
SELECT pgseries_bench_execute('SELECT * FROM t', 1);
SELECT pgseries_bench_locks(1, 1, 1);
RESET ROLE;
DROP ROLE regress_pgseries_bench;


--
-- Errors in the middle leave nothing behind
--

CREATE FUNCTION try(call text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE call;
EXCEPTION WHEN OTHERS OR query_canceled THEN
  RETURN NEXT SQLERRM;
  RETURN QUERY SELECT format('%s on %s', mode, name) FROM held;
  RETURN QUERY SELECT 'plan of ' || ident FROM pg_backend_memory_contexts
    WHERE name LIKE 'CachedPlan%' AND ident LIKE '%bench_marker%'
      AND ident NOT LIKE '%plan of%';
END
$$;
CREATE SEQUENCE s;
-- in the first,
SELECT * FROM try($$SELECT pgseries_bench_plan('SELECT 1/0 FROM p /* bench_marker */', 9)$$);
SELECT * FROM try($$SELECT pgseries_bench_execute('SELECT 1/(id-9) FROM p /* bench_marker */', 9)$$);
-- and in a later iteration; the server keeps the lock on a sequence until
-- the end of the transaction, whatever becomes of a subtransaction.
SELECT * FROM try($$SELECT pgseries_bench_execute('SELECT 1/(nextval(''s'')-3) FROM p1 LIMIT 1 /* bench_marker */', 9)$$);
-- The plan is not left behind without an error either.
SELECT rows FROM pgseries_bench_execute('SELECT id FROM t /* bench_marker */', 1);
SELECT count(*) FROM pg_backend_memory_contexts
  WHERE name LIKE 'CachedPlan%' AND ident LIKE 'SELECT id%bench_marker%';
-- A transaction that fails is over after ROLLBACK.
BEGIN;
SELECT pgseries_bench_execute('SELECT 1/(id-9) FROM p', 9);
ROLLBACK;
SELECT * FROM held;

-- All loops can be canceled.
SET statement_timeout = '500ms';
SELECT * FROM try($$SELECT pgseries_bench_plan('SELECT * FROM p', 2000000000)$$);
SELECT * FROM try($$SELECT pgseries_bench_execute('SELECT * FROM p', 2000000000)$$);
SELECT * FROM try($$SELECT pgseries_bench_locks(50, 1, 2000000000)$$);
RESET statement_timeout;

-- Iterations do not pile up memory.  A sequence is the one thing that a
-- rolled back iteration can leave a note in.
CREATE SEQUENCE calls;
CREATE SEQUENCE memory;
CREATE FUNCTION probe(dummy int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  used bigint := (SELECT sum(used_bytes) FROM pg_backend_memory_contexts);
  call int := nextval('calls');
  growth int := used - CASE WHEN call <= 20 THEN setval('memory', used)
                            ELSE currval('memory') END;
BEGIN
  IF call = 220 THEN
    RAISE NOTICE 'memory per iteration: %',
      CASE WHEN growth < 200 * 16 THEN 'none' ELSE (growth / 200)::text END;
  END IF;
  RETURN 1;
END
$$;
SELECT rows FROM pgseries_bench_execute('SELECT probe(1) FROM t LIMIT 1', 220, generic => false);
ALTER SEQUENCE calls RESTART;
SELECT rows FROM pgseries_bench_execute('SELECT probe(id) FROM t LIMIT 1', 220, generic => true);
ALTER SEQUENCE calls RESTART;
SELECT iterations FROM pgseries_bench_plan('SELECT probe(1) FROM t', 220);

DROP VIEW held;
DROP TABLE p, t;
DROP FUNCTION tell, try, probe;
DROP SEQUENCE s, calls, memory;
DROP EXTENSION pgseries_bench;
