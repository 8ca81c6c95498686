-- A hash-partitioned table with a primary key, and about six hundred rows in each
-- partition, so that the key's index is used.
--   partitions  how many; 0 makes a plain table

select format('create table hp (a int, b int primary key)%s',
              case when :partitions > 0 then ' partition by hash (b)' end) \gexec

select format('create table hp_%s partition of hp for values with (modulus %s, remainder %s)',
              i, :partitions, i - 1)
from generate_series(1, :partitions) i \gexec

insert into hp select i, i from generate_series(1, 600 * greatest(:partitions, 1)) i;
