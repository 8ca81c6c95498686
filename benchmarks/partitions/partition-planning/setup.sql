-- The hash-partitioned table of the 2018 thread, with about ten rows in each partition:
-- no plan is free because there is nothing to be read.
--   partitions  how many; 0 makes a plain table

select format('create table ht (a int, b int)%s',
              case when :partitions > 0 then ' partition by hash (b)' end) \gexec

select format('create table ht_%s partition of ht for values with (modulus %s, remainder %s)',
              i, :partitions, i - 1)
from generate_series(1, :partitions) i \gexec

insert into ht select i, i from generate_series(1, 10 * greatest(:partitions, 1)) i;
