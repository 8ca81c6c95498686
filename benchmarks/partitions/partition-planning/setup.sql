-- The hash-partitioned table of the 2018 thread, with a row for each of two clients.
--   partitions  how many; 0 makes a plain table

select format('create table ht (a int, b int)%s',
              case when :partitions > 0 then ' partition by hash (b)' end) \gexec

select format('create table ht_%s partition of ht for values with (modulus %s, remainder %s)',
              i, :partitions, i - 1)
from generate_series(1, :partitions) i \gexec

insert into ht values (1, 1), (2, 2);
