-- Statements of which 18.6 gives wrong results, from the tests of the patches, with
-- their right results.  Other sessions have to change rows or partitions while the
-- one that asks waits for them.

create extension dblink;
create table question (setup text, steps text[], rightly text);

-- Rows that are rechecked because another session has changed them meanwhile, with
-- partitions that are pruned at startup and during execution.
\set setup 'drop table if exists epq, drive; create table epq (a int, b int, t text) partition by list (a); create table epq1 partition of epq for values in (1, 101); create table epq2 partition of epq for values in (2, 102); create table epq3 partition of epq for values in (3, 103); create table epq4 partition of epq for values in (4, 104); create table epq5 partition of epq for values in (5, 105); insert into epq select a, 0, ''row '' || a from generate_series(1, 5) a; insert into epq select 100 + a, -1 from generate_series(1, 5) a, generate_series(1, 1000); create index on epq (a); create table drive (id int, x int); insert into drive values (1, 2), (2, 3), (3, 5); analyze epq, drive'
\set settings 'asked: set bench.min = 2; set enable_hashjoin = off; set enable_mergejoin = off; set enable_material = off; set enable_memoize = off; set enable_bitmapscan = off'
\set u3 'other: begin; update epq set b = b + 100 where a = 3'
\set u5 'other: begin; update epq set b = b + 100 where a = 5'
\set u35 'other: begin; update epq set b = b + 100 where a = 3 or a = 5'
\set drive4 'other: begin; update drive set x = 4 where id = 2'
\set initplan 'asked: update epq set b = b + 1 where a >= current_setting(''bench.min'')::int and a <> (select 4) and a < 100 returning a || '' '' || b'
\set nestloop 'asked: select d.id || '' '' || p.a || '' '' || p.b from drive d join epq p on p.a = d.x where p.a >= current_setting(''bench.min'')::int and p.a <> 101 order by d.id for update of p'
\set subplan 'asked: update drive d set x = x returning id || '' '' || x || '' '' || coalesce((select t from epq p where p.a = d.x and p.a >= current_setting(''bench.min'')::int and p.a < 100 offset 0), ''-'')'
\set lateral 'asked: select d.id || '' '' || s.a || '' '' || s.b from (values (1, 2), (2, 3), (3, 5)) d (id, x), lateral (select a, b from epq where a = d.x and a >= current_setting(''bench.min'')::int and a < 100 for update limit 1) s order by d.id'
\set delete 'asked: delete from epq p using drive d where p.a = d.x and p.a >= current_setting(''bench.min'')::int and p.a <> 101 and p.b < 100 returning p.a || '' '' || p.b'
insert into question
select :'setup', array[:'settings', other, asked, 'other: commit'], rightly
from (values
  (:'u3', :'initplan', '2 1, 3 101, 5 1'),
  (:'u5', :'initplan', '2 1, 3 1, 5 101'),
  (:'u35', :'initplan', '2 1, 3 101, 5 101'),
  (:'u3', :'nestloop', '1 2 0, 2 3 100, 3 5 0'),
  (:'u35', :'nestloop', '1 2 0, 2 3 100, 3 5 100'),
  (:'drive4', :'subplan', '1 2 row 2, 2 4 row 4, 3 5 row 5'),
  (:'u35', :'lateral', '1 2 0, 2 3 100, 3 5 100'),
  (:'u3', :'delete', '2 0, 5 0'),
  (:'u5', :'delete', '2 0, 3 0')) q (other, asked, rightly);

-- A row that moves to another partition, the plan's first one, whose columns are in
-- another order, being pruned.
\set setup 'drop table if exists move; create table move (a int, b int, c int) partition by list (a); create table move_1 (c int, b int, a int); alter table move attach partition move_1 for values in (1); create table move_2 partition of move for values in (2); create table move_3 partition of move for values in (3); insert into move values (2, 20, 200)'
insert into question values
  (:'setup',
   array['asked: set bench.min = 2',
         'asked: update move set a = 3 where a = current_setting(''bench.min'')::int returning format(''%s %s %s'', a, b, c)'],
   '3 20 200'),
  (:'setup',
   array['asked: set bench.min = 2',
         'asked: merge into move t using (values (1)) v on t.a = current_setting(''bench.min'')::int when matched then update set a = 3 returning format(''%s %s %s'', t.a, t.b, t.c)'],
   '3 20 200');

-- A partition that is detached while the planner waits for its lock.  (With one of a
-- sub-partitioned table, 18.6 reads beyond an array, and may crash.)
\set setup 'drop table if exists map, map12; create table map (a int) partition by list (a); create table map2 partition of map for values in (2); create table map4 partition of map for values in (4); create table map6 partition of map for values in (6); create table map8 partition of map for values in (8); create table map10 partition of map for values in (10); create table map12 partition of map for values in (12); create table map14 partition of map for values in (14); insert into map select generate_series(2, 14, 2)'
insert into question values
  (:'setup',
   array['asked: set bench.a = 6; begin isolation level repeatable read; select 1',
         'other: begin; lock table map12 in access share mode',
         'third: alter table map detach partition map12 concurrently',
         'fourth: begin; lock table map12',
         'asked: select a from map where a <> 8 and a <> current_setting(''bench.a'')::int',
         'other: commit',
         'fourth: delete from map12; alter table map attach partition map12 for values in (1); commit'],
   '2, 4, 10, 12, 14');

-- A label tells the number.
select 1 / (count(*) = :statements)::int as as_many from question \gset

-- Waits until a session's statement has ended, or waits for another session.
create procedure settle(session text, pid int, till_end bool) language plpgsql as $$
begin
  while dblink_is_busy(session) = 1
        and (till_end or not exists (select from pg_locks l where l.pid = settle.pid and not granted)) loop
    perform pg_sleep(0.005);
  end loop;
end $$;

-- Runs a statement with all that must happen around it; returns its rows.
create function answer(setup text, steps text[]) returns text language plpgsql as $$
declare
  pids jsonb := '{}';
  step text;
  name text;
  result text;
  more text;
begin
  foreach step in array array_prepend('setup: ' || setup, steps) || '{asked}'::text[] loop
    name := split_part(step, ': ', 1);
    if not pids ? name then
      perform dblink_connect(name, format('host=%s port=%s dbname=%s user=%s',
        current_setting('unix_socket_directories'), current_setting('port'), current_database(), current_user));
      pids := pids || jsonb_build_object(name, (select pid from dblink(name, 'select pg_backend_pid()') t (pid int)));
    end if;
    call settle(name, (pids ->> name)::int, true);
    result := null;
    loop
      select string_agg(row, ', ') into more from dblink_get_result(name, false) t (row text);
      exit when more is null;
      result := more;
    end loop;
    if step <> name then
      perform dblink_send_query(name, substr(step, length(name) + 3));
      call settle(name, (pids ->> name)::int, false);
    end if;
  end loop;
  for name in select jsonb_object_keys(pids) loop
    perform dblink_disconnect(name);
  end loop;
  return result;
end $$;
