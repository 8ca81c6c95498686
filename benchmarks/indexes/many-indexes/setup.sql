-- A table with 60 columns and any number of single-column indexes.
--   indexes    how many; beyond 60, columns get more than one
--   populated  1: 10,000 rows; 0: none

select 'create table synth_table (' ||
       string_agg(format('col%s int', i), ', ' order by i) || ')'
from generate_series(1, 60) i \gexec

select 'insert into synth_table select ' ||
       string_agg(format('r + %s', i), ', ' order by i) ||
       format(' from generate_series(1, %s) r', 10000 * :populated)
from generate_series(1, 60) i \gexec

select format('create index synth_%s on synth_table (col%s)',
              i, (i - 1 + 4) % 60 + 1)
from generate_series(1, :indexes) i \gexec
