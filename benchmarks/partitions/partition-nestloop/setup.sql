-- Hash partitions with an index, and a small table whose three rows each find one
-- row of them in a nested loop.
--   partitions  how many

create table nt (b int, v int) partition by hash (b);

select format('create table nt_%s partition of nt for values with (modulus %s, remainder %s)',
              i, :partitions, i - 1)
from generate_series(1, :partitions) i \gexec

create index on nt (b);
insert into nt select b, b from generate_series(1, 4096) b;
create table small (b int);
insert into small values (1), (2), (3);
