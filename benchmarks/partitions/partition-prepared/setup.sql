-- Range-partitioned accounts with an index, and history of the 2018 thread: 6,400 accounts.
--   partitions  how many, at most 6400; 0 makes plain tables

create schema test;

select format('create table test.%s%s', t,
              case when :partitions > 0 then ' partition by range (aid)' end)
from unnest(array[
       'accounts (aid serial, abalance int)',
       'accounts_history (id serial, aid int, delta int, mtime timestamp without time zone)']) t
\gexec

select format('create table test.%s_%s partition of test.%s for values from (%s) to (%s)',
              p, i, t,
              (i - 1) * 6400 / :partitions + 1, i * 6400 / :partitions + 1)
from (values ('account_part', 'accounts'), ('ah_part', 'accounts_history')) v(p, t),
     generate_series(1, :partitions) i \gexec

insert into test.accounts select i, 0 from generate_series(1, 6400) i;
create index on test.accounts (aid);
