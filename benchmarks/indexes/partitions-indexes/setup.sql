-- A partitioned table of which each partition has some single-column indexes.
--   partitions  how many
--   indexes     of each partition, at most 10

create table pt (k int, col1 int, col2 int, col3 int, col4 int, col5 int,
                 col6 int, col7 int, col8 int, col9 int, col10 int)
  partition by range (k);
select format('create table pt_%s partition of pt for values from (%s) to (%s)',
              i, i * 100, (i + 1) * 100)
from generate_series(0, :partitions - 1) i \gexec
select format('create index on pt (col%s)', (i + 3) % 10 + 1)
from generate_series(1, :indexes) i \gexec
insert into pt select i, i + 1, i + 2, i + 3, i + 4, i + 5, i + 6, i + 7, i + 8, i + 9, i + 10
from generate_series(0, :partitions * 100 - 1) i;
