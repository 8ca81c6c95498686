-- A table like TPC-H's lineitem, not in the order of any of its columns, and
-- functions that build an index on it and say what that takes.
--   rows   how many line items
--   small  how many there are in the small table

create table lineitem (l_orderkey bigint, l_linenumber int, l_quantity numeric, l_linestatus char(1),
                       l_shipdate date, l_comment varchar(44), l_id uuid,
                       l_icu text collate "und-x-icu", l_c text collate "C");
insert into lineitem
  select hashint8extended(i, 1), 1 + i % 8, (abs(hashint4(i + 1)) % 500000) / 100.0, substr('FO', 1 + abs(hashint4(i + 2)) % 2, 1),
         date '1992-01-01' + abs(hashint4(i + 3)) % 2500, substr(md5(i::text) || md5((i + 1)::text), 1, 10 + abs(hashint4(i + 4)) % 34),
         md5(i::text)::uuid, md5((i + 2)::text), md5((i + 3)::text)
  from generate_series(1, :rows) i;
create table lineitem_small (like lineitem);
insert into lineitem_small select * from lineitem limit :small;

-- CPU time of this session and of the processes that have ended, in nanoseconds
create function cpu() returns bigint language sql volatile as $$
  select (10000000 * sum((f[14]::bigint + f[15]::bigint) + case when parent then f[16]::bigint + f[17]::bigint else 0 end))::bigint
    from (values (pg_backend_pid()::text, false),
                 (split_part(pg_read_file('postmaster.pid'), e'\n', 1), true)) p (pid, parent),
         string_to_array(regexp_replace(pg_read_file('/proc/' || pid || '/stat'), '\(.*\)', 'x'), ' ') f
$$;

-- Build an index, remove it again, and return in nanoseconds, as "what" says,
-- the time elapsed or the CPU time.
create function build(what text, columns text, workers int, memory text, relation text default 'lineitem')
  returns table (iterations bigint, nanoseconds bigint) language plpgsql as $$
declare
  t timestamptz;
  c bigint := case when what = 'cpu' then cpu() end;
begin
  perform set_config('max_parallel_maintenance_workers', workers::text, true);
  perform set_config('maintenance_work_mem', memory, true);
  t := clock_timestamp();
  execute format('create index built on %I (%s)', relation, columns);
  iterations := 1;
  nanoseconds := case what
    when 'elapsed' then 1000000000 * extract(epoch from clock_timestamp() - t)
    when 'cpu' then cpu() - c
  end;
  drop index built;
  return next;
end $$;

create function size(columns text, workers int) returns bigint language plpgsql as $$
declare
  bytes bigint;
begin
  perform set_config('max_parallel_maintenance_workers', workers::text, true);
  execute format('create index built on lineitem (%s)', columns);
  bytes := pg_relation_size('built');
  drop index built;
  return bytes;
end $$;
