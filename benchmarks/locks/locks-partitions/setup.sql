-- The tables of pgbench --initialize --partitions=N, as far as needed here.
--   partitions  how many

create table accounts (aid int not null, bid int, abalance int, filler char(84))
  partition by range (aid);
select format('create table accounts_%s partition of accounts for values from (%s) to (%s)',
              i, i * 10, (i + 1) * 10)
from generate_series(0, :partitions - 1) i \gexec
select format('alter table accounts_%s add primary key (aid)', i)
from generate_series(0, :partitions - 1) i \gexec
insert into accounts select i, 1, 0, '' from generate_series(0, :partitions * 10 - 1) i;
