-- A table with an index on the key in each partition, so that ORDER BY key merges
-- the partitions.
--   inputs  how many partitions
--   rows    in all
--   keys    0: random integers; 1: integers, one partition after the other;
--           2: ten distinct integers; 3: text; 4: text in a collation of ICU,
--           two partitions take turns with two rows each, the others have one

select format('create table t (inp int, key %s, pad text) partition by list (inp)',
              case when :keys = 3 then 'text' when :keys = 4 then 'text collate "en-x-icu"' else 'int' end) \gexec
select format('create table t%s partition of t for values in (%s)', i, i)
from generate_series(1, :inputs) i \gexec
select format('insert into t select %s, %s, repeat(''x'', 100) from generate_series(1, %s) i',
              format(case when :keys = 4 then 'case when i < %s then i + 1 else 1 + i / 2 %% 2 * (%1$s / 2) end'
                          else 'i %% %s + 1' end, :inputs),
              case :keys when 0 then 'hashint4(i)'
                         when 1 then format('i %% %s * 100000 + i', :inputs)
                         when 2 then 'hashint4(i) % 10'
                         when 4 then format('lpad((case when i < %s then i * 1000000 else i end)::text, 12, ''0'')', :inputs)
                         else 'md5(i::text)' end, :rows) \gexec
create index on t (key);
