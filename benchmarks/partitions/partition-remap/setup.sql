-- Range partitions of ten values each, half of them below zero.
--   partitions  how many, an even number

create table rt (k int, v int) partition by range (k);

select format('create table rt_%s partition of rt for values from (%s) to (%s)',
              i, (i - 1 - :partitions / 2) * 10, (i - :partitions / 2) * 10)
from generate_series(1, :partitions) i \gexec

insert into rt select k, k from generate_series(-5 * :partitions, 5 * :partitions - 1) k;
