-- pgbench_accounts with the indexes that the thread names.  Their definitions
-- are a reconstruction: each value of fiver, tenner and score is in 5, 10 and 20
-- rows.
--   rows  how many

create table pgbench_accounts (aid int not null, bid int, abalance int, filler char(84))
  with (autovacuum_enabled = off);
insert into pgbench_accounts select i, 1, 0, '' from generate_series(1, :rows) i;
create unique index aid_pkey_include_abalance on pgbench_accounts (aid) include (abalance);
create index fiver on pgbench_accounts ((aid - aid % 5));
create index tenner on pgbench_accounts ((aid - aid % 10));
create index score on pgbench_accounts ((aid - aid % 20));

-- A row with ten indexes, for the instructions.
create table hot (c1 int, c2 int, c3 int, c4 int, c5 int, c6 int, c7 int, c8 int, c9 int, v int);
insert into hot values (1, 2, 3, 4, 5, 6, 7, 8, 9, 0);
select format('create index on hot (%I)', attname)
from pg_attribute where attrelid = 'hot'::regclass and attnum > 0 \gexec
create table plain (a int, v int);
insert into plain values (1, 0);

-- The same pseudo-random rows for both builds: sum of uniform values, about
-- random_gaussian(1, rows, 4.0).
create function pick(i int, rows int) returns int language sql immutable as $$
  select 1 + ((hashint4extended(i, 1) & 65535) + (hashint4extended(i, 2) & 65535) +
              (hashint4extended(i, 3) & 65535) + (hashint4extended(i, 4) & 65535) +
              (hashint4extended(i, 5) & 65535))::bigint * rows / (5 * 65536);
$$;

-- What the thread's script does, one transaction each.  variant: what is set.
create procedure churn(variant text, rows int, n int) language plpgsql as $$
declare
  id int;
begin
  for i in 1 .. n loop
    id := pick(i, rows);
    if variant = 'narrow' then
      update pgbench_accounts set abalance = abalance + i where aid = id;
    elsif variant = 'full' then
      update pgbench_accounts set aid = id, bid = 1, abalance = abalance + i, filler = ''
      where aid = id;
    else
      insert into pgbench_accounts values (id, 1, i, '')
      on conflict (aid) do update set aid = excluded.aid, bid = excluded.bid,
        abalance = pgbench_accounts.abalance + excluded.abalance, filler = excluded.filler;
    end if;
    commit;
  end loop;
end $$;

-- The three indexes' size, in pages.
create function pages() returns bigint language sql as $$
  select sum(pg_relation_size(oid)) / 8192
  from pg_class where relname in ('fiver', 'tenner', 'score');
$$;

-- A small table after many updates, for the instructions.
create schema aged;
set search_path = aged, public;
create table pgbench_accounts (like public.pgbench_accounts) with (autovacuum_enabled = off);
insert into pgbench_accounts select i, 1, 0, '' from generate_series(1, 4000) i;
create unique index on pgbench_accounts (aid) include (abalance);
create index on pgbench_accounts ((aid - aid % 5));
create index on pgbench_accounts ((aid - aid % 10));
create index on pgbench_accounts ((aid - aid % 20));
call churn('full', 4000, 20000);
reset search_path;
