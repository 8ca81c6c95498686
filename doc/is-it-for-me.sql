-- Would your server gain from this series?    psql -d DATABASE -f doc/is-it-for-me.sql
--
-- For PostgreSQL 18 as it comes, primary or standby; one database at a time.  It prints
-- a verdict (would gain, would gain little, nothing to gain here, cannot tell) and the
-- numbers that it saw for each topic of which a running server can tell.
--
-- It reads catalogs, cumulative statistics, pg_locks and pg_stat_activity, and
-- pg_stat_statements if that is installed in this database.  It reads no row of yours,
-- opens none of your tables, writes nothing, makes no temporary table, and waits for
-- nobody: each query is a read-only transaction of its own, with the timeouts set below.
-- What takes longer is given up, and said so.  Any user may run it; a member of pg_monitor
-- sees more.
--
-- Thresholds: from where on a gain was measured (benchmarks/results has the runs).
--
--   10 indexes       the fewest with which whole statements were measured, beside a single
--                    one (partitions-indexes)
--   8 partitions     the fewest for which a prepared statement took less time, at default
--                    settings as well (partition-lookup); a merge of 2 inputs takes a tenth
--                    fewer instructions, one of 64 four tenths (merge-append)
--   16 locks         what 18 can have on the fast path with default settings if OIDs are 8
--                    apart (locks-per-transaction)
--   1,000 relations  locked by one transaction, they cost each later one of its session a
--                    third of the smallest statement's instructions (lock-bloat)
--   2 MB             a smaller B-tree is written by one process, as in 18; 1 GB was not
--                    measured, it is what takes a while to build
--   updates          as many as rows: indexes of 18 had grown by a quarter; half as many:
--                    by some percent; a quarter: not at all (bottom-up-deletion)
--   1%               of scans, calls or time; 1,000 scans, updates: less would go unnoticed

\set old_on_error_stop :ON_ERROR_STOP
\set old_quiet :QUIET
\set old_autocommit :AUTOCOMMIT
\set ON_ERROR_STOP off
\set QUIET on
\set AUTOCOMMIT on

\set is_18 t
\set alone f
select :SERVER_VERSION_NUM / 10000 = 18 as is_18,
       pg_catalog.now() = pg_catalog.statement_timestamp() as alone \gset
\if :is_18
\if :alone

-- The begin of each transaction.  With this search_path, nobody else's functions and
-- operators are called, and names are shown with their schema.
\set begin 'begin isolation level read committed read only;'
\set begin :begin 'set local statement_timeout = ''10s''; set local lock_timeout = ''1s'';'
\set begin :begin 'set local search_path = pg_catalog; set local stats_fetch_consistency = none;'
\set begin :begin 'set local max_parallel_workers_per_gather = 0; set local jit = off;'

-- The end of each query: makes a paragraph, at most 96 columns wide, of is_it_for_me(verdict,
-- why, look).  \echo prints it, whatever format psql's output has.
\set report 'select format(E''%-14s%s\\n'', :''topic'', verdict) || regexp_replace('
\set report :report 'concat_ws(E''\\n'', why, look), E''(.{1,90})(?:\\\\s+|$)'','
\set report :report ' E''      \\\\1\\n'', ''gn'') as text from is_it_for_me'
\set failed ' cannot tell\n      The query failed or took too long: see the error.\n'

-- A number, and the name of a relation that is in a column of that name.
\set num '''FM999,999,999,999,990'''
\set name 'left(regexp_replace(relation::text, ''[[:cntrl:]]'', ''?'', ''g''), 60)'

-- Partitioned tables with all that is below them, and the number of their partitions.
\set tree 'tree(root, relid, level, leaf) as (select oid, oid, 0, false from pg_class'
\set tree :tree ' where relkind = ''p'' and not relispartition union all'
\set tree :tree ' select root, oid, level + 1, relkind <> ''p'' from tree'
\set tree :tree ' join pg_inherits on inhparent = relid join pg_class on oid = inhrelid),'
\set tree :tree ' wide as (select root::regclass as relation, lower(relname) as word, root, leaves'
\set tree :tree ' from (select root, count(*) filter (where leaf) as leaves from tree group by root) t'
\set tree :tree ' join pg_class on oid = root)'

-- The words of a statement, to look for names of tables.
\set words '(select regexp_split_to_table(lower(query), ''[^[:alnum:]_$]+''))'

-- What this user can see of what others do, and the query on pg_stat_statements, which
-- leaves out our own.  Its settings exist only if its library is loaded.
\set watcher f
\set usable f
\set statement 'select null::text as query, 0 as calls, 0 as plans, 0.0 as time where false'
\set topic Database
\set text :topic :failed
:begin
select pg_has_role('pg_read_all_stats', 'usage') as watcher,
       pg_has_role('pg_read_all_stats', 'usage') and query is not null as usable,
       coalesce(query || d.oid, :'statement') as statement
  from pg_database d
  left join (select format('select left(query, 4000) as query, calls, plans, total_exec_time::numeric as'
                           ' time from %s where query !~* %L and dbid = ', c.oid::regclass,
                           E'^(begin|commit|rollback|set)\\M|is_it_for_me')
               from pg_extension
               join pg_class c on relnamespace = extnamespace and relname = extname
               join pg_settings s on s.name = 'pg_stat_statements.max'
              where extname = 'pg_stat_statements' and has_table_privilege(c.oid, 'select')) is_it_for_me(query)
         on true
 where datname = current_database() \gset
with is_it_for_me as (
select current_database() as verdict,
       format('PostgreSQL %s%s, %s. Statistics count since %s%s.', current_setting('server_version'),
              case when pg_is_in_recovery() then ', a standby, which counts what it does itself' end,
              to_char(now(), 'YYYY-MM-DD HH24:MI'),
              coalesce(to_char(stats_reset, 'YYYY-MM-DD HH24:MI'), 'the database was made, or a crash'),
              case when stats_reset > now() - interval '1 day'
                   then ', that is not long: they say little yet' end) as why,
       concat_ws(E'\n',
           case when not current_setting('track_counts')::bool
                then 'track_counts is off: scans and updates are not counted.' end,
           case when not :'usable'
                then 'pg_stat_statements cannot be used: it is not installed in this database, not loaded,'
                     ' or shows this user too little.' end,
           case when not :'watcher'
                then 'What others execute and wait for is hidden from this user. Better: a member of'
                     ' pg_monitor.' end,
           (select format('Other databases of this server, to be looked at one by one: %s.', count(*))
              from pg_database
             where datallowconn and not datistemplate and datname <> current_database()
            having count(*) > 0)) as look
  from pg_stat_database where datname = current_database())
:report \gset
commit;
\echo :text

-- Tables with many indexes, and their share of scans.  Partitions count for the table at
-- their root.
\set topic indexes
\set text :topic :failed
:begin
with many as (
select coalesce(pg_partition_root(t.oid), t.oid) as relation, max(indexes) as indexes,
       sum(scans + pg_stat_get_numscans(t.oid)) as scans,
       sum(pg_stat_get_tuples_updated(t.oid)) as updates
  from (select indrelid::regclass as oid, count(*) as indexes,
               sum(pg_stat_get_numscans(indexrelid)) as scans
          from pg_index where indrelid >= 16384 and indislive
         group by 1 having count(*) >= 10) t
  join pg_class c on c.oid = t.oid and relkind in ('r', 'm')
 group by 1),
seen as (
select count(*) as tables, sum(scans) as scans, sum(updates) as updates,
       (select sum(pg_stat_get_numscans(oid)) from pg_class
         where oid >= 16384 and relkind in ('r', 'm', 'i')
           and relnamespace <> 'pg_toast'::regnamespace) as all_scans,
       (select string_agg(format('%s (%s indexes, %s scans, %s updates)', :name, indexes,
                                 to_char(scans, :num), to_char(updates, :num)), ', ')
          from (select * from many order by scans desc, indexes desc limit 3) m) as top
  from many),
is_it_for_me as (
select case when tables = 0 then 'nothing to gain here'
            when all_scans < 1000 then 'cannot tell'
            when scans < all_scans * 0.01 then 'would gain little'
            else 'would gain' end as verdict,
       case when tables = 0 then 'No table has ten indexes.'
            else format('%s tables with ten or more indexes got %s of %s scans, and %s updates: %s.', tables,
                        to_char(scans, :num), to_char(all_scans, :num), to_char(updates, :num), top)
       end as why,
       case when tables > 0 then concat_ws(E'\n',
            case when all_scans < 1000 then 'That is too few to judge by.' end,
            'Look also: it is planning that gains, so a generic plan that is kept does not.') end as look
  from seen)
:report \gset
commit;
\echo :text

-- Wide partitioned tables, and statements that name one and whose plan is kept: those made
-- by PREPARE, and, with pg_stat_statements.track_planning, those planned less often than
-- called.  What drivers prepare cannot be told from other statements.
\set topic partitions
\set text :topic :failed
:begin
with recursive :tree,
statement as (
select s.*, (select max(leaves) from wide where word in :words) as leaves from (:statement) s),
seen as (
select count(*) as tables, max(leaves) as leaves,
       (select string_agg(format('%s (%s)', :name, leaves), ', ')
          from (select * from wide order by leaves desc limit 3) w) as top,
       (select coalesce(sum(calls), 0) from statement) as all_calls,
       (select coalesce(sum(calls), 0) from statement where leaves >= 8) as calls,
       (select coalesce(sum(case when query ~* E'^\\s*prepare\\M' then calls
                                 when plans > 0 then greatest(calls - plans, 0) end), 0)
          from statement where leaves >= 8) as kept,
       current_setting('plan_cache_mode') = 'force_generic_plan' or exists (
           select from pg_db_role_setting left join pg_database d on d.oid = setdatabase
            where (setdatabase = 0 or datname = current_database())
              and 'plan_cache_mode=force_generic_plan' = any (setconfig)) as forced
  from wide),
is_it_for_me as (
select case when tables = 0 then 'nothing to gain here'
            when leaves >= 8 and forced or kept > all_calls * 0.01 then 'would gain'
            when leaves < 8 or :'usable' and calls <= all_calls * 0.01 then 'would gain little'
            else 'cannot tell' end as verdict,
       case when tables = 0 then 'There is no partitioned table.'
            else format('%s partitioned tables; the widest (partitions): %s.', tables, top) end as why,
       case when tables > 0 then concat_ws(E'\n',
            case when :'usable'
                 then format('Of %s calls of statements, %s name a table of 8 or more partitions. In %s, a'
                             ' plan is known to be kept.', to_char(all_calls, :num), to_char(calls, :num),
                             to_char(kept, :num)) end,
            case when forced then 'plan_cache_mode = force_generic_plan is in use.' end,
            case when leaves >= 8
                 then 'Look also: statements that sessions prepare once and execute often gain, and so do'
                      ' those of PL/pgSQL. What drivers prepare does not show on the server.' end) end as look
  from seen)
:report \gset
commit;
\echo :text

-- What is locked and waited for at this moment, and what a query on all of the widest table
-- would lock.  The number of slots is computed as InitializeFastPathLocks() does.
\set topic locks
\set text :topic :failed
:begin
with recursive :tree,
session as (
select count(*) as locks, count(*) filter (where not fastpath) as shared
  from pg_locks
 where locktype = 'relation' and database <> 0 and granted and pid <> pg_backend_pid()
   and mode in ('AccessShareLock', 'RowShareLock', 'RowExclusiveLock')
 group by pid),
widest as (
select relation, leaves, count(distinct relid) + count(indexrelid) as relations
  from tree join wide using (root) left join pg_index on indrelid = relid and indislive
 group by 1, 2 order by 3 desc limit 1),
seen as (
select coalesce(sum(locks), 0) as locks, coalesce(sum(shared), 0) as shared,
       coalesce(max(locks), 0) as most, count(*) filter (where locks > 16) as sessions,
       (select count(*) from pg_stat_activity where wait_event = 'LockManager') as waits,
       least(16384, greatest(16, 2 ^ ceil(log(2, current_setting('max_locks_per_transaction')::int))))::int
       as slots
  from session),
is_it_for_me as (
select case when waits > 0 or relations >= 1000 or most >= 1000 then 'would gain'
            when shared > 0 or most > 16 or relations > 16 then 'would gain little'
            when :'watcher' then 'nothing to gain here'
            else 'cannot tell' end as verdict,
       format('Now: %s weak locks on tables and indexes, %s of them not on the fast path; %s sessions'
              ' with more than 16, one with %s; waits for the lock manager: %s.', locks, shared,
              sessions, most, case when :'watcher' then waits::text else 'hidden' end) as why,
       concat_ws(E'\n',
            'A query on all of ' || :name || ' locks ' || to_char(relations, :num) || ' relations.',
            case when shared > 0 or most > 16 or relations > 16
                 then format('Look also: max_locks_per_transaction gives a session %s slots of the fast path,'
                             ' and 18 can use an eighth of them if OIDs are 8 apart, as those of partitions'
                             ' with primary key and TOAST table. More slots help 18, too.', slots) end,
            case when leaves > 80
                 then 'Look also: statements on so many partitions can be several times slower or faster'
                      ' than before because of glibc''s heap. That is what the topic memory mends:'
                      ' doc/topics/memory.md.' end) as look
  from seen left join widest on true)
:report \gset
commit;
\echo :text

-- B-trees on all of a partitioned table whose order is not that of its ranges (which need
-- no merge), and statements that name such a table and have an ORDER BY.
\set topic merge
\set text :topic :failed
:begin
with recursive :tree,
part(relation, word, index, indexrelid) as (
select relation, word, indexrelid, indexrelid
  from wide
  join pg_partitioned_table on partrelid = root
  join pg_index on indrelid = root and indisvalid
  join pg_class c on c.oid = indexrelid and relam = 403
 where leaves >= 8 and not (partstrat = 'r' and indkey[0] = partattrs[0] and indkey[0] <> 0)
union all
select relation, word, index, inhrelid from part join pg_inherits on inhparent = indexrelid),
common as (
select relation, word, count(distinct index) as indexes, sum(pg_stat_get_numscans(indexrelid)) as scans
  from part group by 1, 2),
statement as (
select time, query ~* E'\\morder\\s+by\\M' and exists (select from common where word in :words) as ordered
  from (:statement) s),
seen as (
select count(*) as tables, sum(scans) as scans,
       (select string_agg(format('%s (%s indexes, %s scans)', :name, indexes, to_char(scans, :num)), ', ')
          from (select * from common order by scans desc limit 3) c) as top,
       (select coalesce(sum(time), 0) from statement) as all_time,
       (select coalesce(sum(time), 0) from statement where ordered) as time
  from common),
is_it_for_me as (
select case when tables = 0 then 'nothing to gain here'
            when scans = 0 then 'would gain little'
            when not :'usable' then 'cannot tell'
            when time > all_time * 0.01 then 'would gain'
            else 'would gain little' end as verdict,
       case when tables = 0
            then 'No table of eight or more partitions has a B-tree whose order is not that of its ranges.'
            else format('%s tables of eight or more partitions have B-trees that can be merged: %s.',
                        tables, top) end as why,
       case when tables > 0 then concat_ws(E'\n',
            case when :'usable'
                 then format('Statements that name one and have ORDER BY took %s of %s s.',
                             round(time / 1000, 1), round(all_time / 1000, 1))
                 else 'Whether ORDER BY is used on them, only pg_stat_statements could tell.' end,
            format('Look also: Gather Merge gains, too; max_parallel_workers_per_gather is %s.', reset_val))
       end as look
  from seen, pg_settings where name = 'max_parallel_workers_per_gather')
:report \gset
commit;
\echo :text

-- Large B-trees, by the size that the last VACUUM, ANALYZE or build has noted, and builds.
\set topic parallel-sort
\set text :topic :failed
:begin
with large as (
select oid::regclass as relation, reltuples, relpages * current_setting('block_size')::bigint as size
  from pg_class
 where relkind = 'i' and relam = 403 and oid >= 16384
   and relpages >= 2 * 1024 * 1024 / current_setting('block_size')::int),
statement as (
select time, query ~* E'^\\s*(create\\s+(unique\\s+)?index|reindex|cluster'
             '|alter\\s+table.*\\madd\\M.*\\m(primary\\s+key|unique))\\M' as build from (:statement) s),
seen as (
select count(*) as indexes, sum(size) as size, max(size) as largest, max(reltuples) as keys,
       (select string_agg(format('%s (%s)', :name, pg_size_pretty(size)), ', ')
          from (select * from large order by size desc limit 3) l) as top,
       (select count(*) from pg_stat_progress_create_index where datname = current_database()) as now,
       (select coalesce(sum(time), 0) from statement) as all_time,
       (select coalesce(sum(time), 0) from statement where build) as time
  from large),
is_it_for_me as (
select case when indexes = 0 or pg_is_in_recovery() then 'nothing to gain here'
            when now > 0 or time > all_time * 0.01 or largest >= 1024 ^ 3 then 'would gain'
            else 'would gain little' end as verdict,
       case when pg_is_in_recovery() then 'A standby builds no index.'
            when indexes = 0 then 'No B-tree is known to have 2 MB.'
            else format('%s B-trees of 2 MB or more, together %s; the largest: %s.', indexes,
                        pg_size_pretty(size), top) end as why,
       case when indexes > 0 and not pg_is_in_recovery() then concat_ws(E'\n',
            format('Index builds now: %s; before: %s.', now,
                   case when :'usable' then format('%s of %s s of execution', round(time / 1000, 1),
                                                   round(all_time / 1000, 1))
                        else 'only pg_stat_statements could tell' end),
            format('At 4 million keys a second, which 18 reaches with two processes and cached data, the'
                   ' largest takes %s s.', ceil(greatest(keys, 0) / 4e6)))
       end as look
  from seen)
:report \gset
commit;
\echo :text

-- Updates that made new entries in all indexes of a table.  What the B-trees need is
-- computed from the rows and average widths in the catalogs, as if pages were 90% full and
-- nothing deduplicated: a hint only, and without indexes of which a width is not known.
\set topic nbtree
\set text :topic :failed
:begin
with cold as (
select oid, oid::regclass as relation, relname, relnamespace, rows, updates, all_updates
  from pg_class c
 cross join lateral (select greatest(reltuples, 1) as rows,
           pg_stat_get_tuples_updated(oid) - pg_stat_get_tuples_hot_updated(oid) as updates,
           pg_stat_get_tuples_updated(oid) as all_updates) s
 where oid >= 16384 and relkind = 'r' and updates >= 1000 and updates >= rows * 0.5
   and exists (select from pg_index join pg_class x on x.oid = indexrelid
                where indrelid = c.oid and relam = 403)),
top as (select * from cold order by updates desc limit 3),
index as (
select t.oid, x.relpages as pages, ceil(x.reltuples * (12 + 8 * ceil(sum(width) / 8.0))
                                        / (0.9 * current_setting('block_size')::int)) as needed
  from top t
  join pg_namespace n on n.oid = relnamespace
  join pg_index on indrelid = t.oid and indexprs is null and indpred is null
  join pg_class x on x.oid = indexrelid and relam = 403
  join pg_attribute a on attrelid = t.oid and attnum = any (indkey)
 cross join lateral (select case when attlen > 0 then attlen else (
           select avg_width from pg_stats where schemaname = nspname and tablename = t.relname
              and attname = a.attname and not inherited) end as width) w
 group by t.oid, x.oid, x.relpages, x.reltuples having count(*) = count(width)),
seen as (
select count(*) as tables, count(*) filter (where updates >= rows) as turned,
       (select string_agg(format('%s (%s of %s updates, %s rows', :name, to_char(updates, :num),
                                 to_char(all_updates, :num), to_char(rows, :num))
                          || coalesce(format('; B-trees have %s pages, could have %s)', pages, needed), ')'),
                          ', ' order by updates desc)
          from top left join (select oid, sum(pages) as pages, nullif(sum(needed), 0) as needed
                                from index group by oid) i using (oid)) as top
  from cold),
is_it_for_me as (
select case when pg_is_in_recovery() or not current_setting('track_counts')::bool then 'cannot tell'
            when turned > 0 then 'would gain'
            when tables > 0 then 'would gain little'
            else 'nothing to gain here' end as verdict,
       case when pg_is_in_recovery() then 'Updates are counted on the primary: run it there.'
            when tables = 0 then 'No table had half as many updates as rows, not counting heap-only ones.'
            else format('%s tables had at least half as many updates that were not heap-only (new entries'
                        ' in all indexes) as rows; the most: %s.', tables, top) end as why,
       case when tables > 0
            then 'Known loss: updates of a small table that is updated all the time take up to 5% more'
                 ' instructions. What is gained is smaller indexes. Where processor time'
                 ' matters more, leave topic nbtree out.' end as look
  from seen)
:report \gset
commit;
\echo :text

-- Most of the faults mended are about partitioned tables.
\set topic fixes
\set text :topic :failed
:begin
with recursive :tree,
seen as (
select count(distinct root) as tables, count(*) filter (where level > 0 and not leaf) as subs,
       sum(pg_stat_get_tuples_updated(relid) + pg_stat_get_tuples_deleted(relid)) as changes,
       count(*) filter (where leaf and exists (
           select from pg_attribute a join pg_attribute b using (attname)
            where a.attrelid = relid and a.attnum > 0 and b.attrelid = root and b.attnum <> a.attnum))
       as moved
  from tree),
is_it_for_me as (
select case when subs > 0 or changes > 0 then 'would gain'
            else 'would gain little' end as verdict,
       case when tables = 0 then 'There is no partitioned table; most of the faults mended are about those.'
            else format('%s partitioned tables, %s partitions that are partitioned again, %s rows of'
                        ' partitions updated or deleted.', tables, subs, to_char(changes, :num)) end as why,
       case when tables > 0 then concat_ws(E'\n',
            case when subs > 0
                 then 'Can hit this server: rows are missing from a query if partitions are attached or'
                      ' detached while it is planned.'
                 else 'Can hit this server: rows are missing from a query if a partition is detached, and'
                      ' attached with other bounds, while it is planned.' end,
            case when changes > 0
                 then 'Can hit this server: UPDATE, DELETE and SELECT FOR UPDATE that wait for another'
                      ' session, and prune partitions while they run, miss rows or crash.' end,
            case when changes > 0 and moved > 0
                 then format('Can hit this server: UPDATE that moves rows returns wrong values or fails;'
                             ' the columns of %s partitions are in another order than the table''s.',
                             moved) end) end as look
  from seen)
:report \gset
commit;
\echo :text

\echo 'Each topic can be had without the others, but indexes, partitions, locks and parallel-sort need'
\echo 'fixes, local-locks and strong-locks need locks, text-sort needs parallel-sort, and run-merge needs'
\echo 'that and merge.'
\echo 'What a topic gains and costs: doc/topics/TOPIC.md. The faults: doc/bugs.md.'

\else
\echo 'There is an open transaction: end it, then run is-it-for-me.sql again.'
\endif
\else
\echo 'is-it-for-me.sql is for PostgreSQL 18. Nothing was done: this server is' :SERVER_VERSION_NAME
\endif

\set AUTOCOMMIT :old_autocommit
\set QUIET :old_quiet
\set ON_ERROR_STOP :old_on_error_stop
