-- A table of which each partition has an index on the column to be sorted by, and
-- a filter that is costly.
--   partitions  how many

create table t (key int, id int, pad text) partition by hash (id);
select format('create table t%s partition of t for values with (modulus %s, remainder %s)',
              i, :partitions, i)
from generate_series(0, :partitions - 1) i \gexec
insert into t select hashint4(i), i, repeat('x', 60) from generate_series(1, 200000) i;
create index on t (key);
create function costly(i int) returns bool language plpgsql parallel safe immutable cost 2000 as
  'begin for j in 1..100 loop i := i # j; end loop; return i % 3 <> 0; end';
alter database :"DBNAME" set work_mem = '64MB';
