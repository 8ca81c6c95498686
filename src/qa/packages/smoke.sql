-- What the series touches, under any extension.  The output must be the same on both
-- servers.
\pset null -
set client_min_messages = warning;
create table p (k int, v int, t text) partition by hash (k);
select format('create table p%s partition of p for values with (modulus 64, remainder %s)', i, i)
  from generate_series(0, 63) i \gexec
insert into p select i, i % 100, 'x' || i from generate_series(1, 20000) i;
create index on p (k);
create index on p (v);
create table d (id int, kk int);
insert into d select i, i * 7 from generate_series(1, 10) i;
create table b (a int, t text);
insert into b select i, md5(i::text) from generate_series(1, 100000) i;
analyze p, d, b;

-- deferred locks, children on first use
set plan_cache_mode = force_generic_plan;
prepare g (int) as select count(*) from p where k = $1 and v >= 0;
execute g (5);
execute g (6);
prepare j (int, int) as select sum(p.v) from d join p on p.k = d.kk where d.id < $1 and p.v <> $2;
set enable_hashjoin = off;
set enable_mergejoin = off;
execute j (5, 3);
execute j (5, 4);
explain (analyze, costs off, timing off, summary off, buffers off) execute g (7);
select d.id, s.v from d, lateral (select * from p where p.k = d.kk and p.v < 50 order by k limit 1) s
 where d.id in (1, 2, 3) order by 1;
begin;
declare c cursor for select p.v from d join p on p.k = d.kk order by d.id;
fetch 2 from c;
close c;
commit;
do $$
begin
  for i in 1 .. 20 loop
    perform count(*) from p where k = i and v = i;
    perform p.v from d join p on p.k = d.kk where d.id = i;
  end loop;
end
$$;
prepare u (int) as update p set v = v + 0 where k = $1;
execute u (3);
execute u (4);
update p set v = v where k = (select 5);
with x as (update p set v = v where k = 9 returning *) select count(*) from x, p where p.k = x.k;
reset enable_hashjoin;
reset enable_mergejoin;

-- Gather Merge, Merge Append, sorts, parallel loads of indexes
set min_parallel_table_scan_size = 0;
set parallel_setup_cost = 0;
set parallel_tuple_cost = 0;
set maintenance_work_mem = '4MB';
execute g (11);
select count(*) from p where k < (select 100) and v = 3;
select count(*) from p join d on p.k = d.kk where d.id = (select 3);
select a, t from b order by t limit 3;
create index on b (t, a);
create index on b (a);
select count(*) from (select k from p order by k limit 1000) s;
set enable_seqscan = off;
select count(*), min(t), max(t) from b where t > '8';

-- many locks, DDL, bottom-up deletion
begin;
select count(*) from p;
savepoint s;
lock table p in access exclusive mode;
rollback to s;
commit;
do $$
begin
  for i in 1 .. 300 loop
    update b set a = a + 1000000 where a between 10 and 20;
    update b set a = a - 1000000 where a between 1000010 and 1000020;
  end loop;
end
$$;
reindex table d;
drop table p, d, b;
