-- A table with a small index on each partition.
--   partitions  how many

create table parts (id int primary key, k int, v text) partition by range (id);
select format('create table parts_%s partition of parts for values from (%s) to (%s)',
              i, i * 10, (i + 1) * 10)
from generate_series(0, :partitions - 1) i \gexec
insert into parts select i, i % 7, i from generate_series(0, :partitions * 10 - 1) i;
create index on parts (k);
analyze parts;
