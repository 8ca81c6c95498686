-- A table with an index on the key in each partition, so that ORDER BY key merges
-- the partitions.
--   inputs  how many partitions
--   rows    in all
--   keys    0: random integers; 1: integers, one partition after the other;
--           2: ten distinct integers; 3: text

select format('create table t (inp int, key %s, pad text) partition by list (inp)',
              case when :keys = 3 then 'text' else 'int' end) \gexec
select format('create table t%s partition of t for values in (%s)', i, i)
from generate_series(1, :inputs) i \gexec
select format('insert into t select i %% %s + 1, %s, repeat(''x'', 100) from generate_series(1, %s) i',
              :inputs,
              case :keys when 0 then 'hashint4(i)'
                         when 1 then format('i %% %s * 100000 + i', :inputs)
                         when 2 then 'hashint4(i) % 10'
                         else 'md5(i::text)' end, :rows) \gexec
create index on t (key);
