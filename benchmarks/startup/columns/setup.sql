-- A thousand rows of the usual types, and a table to insert such into.
--   columns  how many

select format('create table wide (id int primary key%s)',
              string_agg(format(', c%s %s', i,
                                (array['int', 'text', 'timestamptz', 'numeric', 'boolean'])[1 + (i - 1) % 5]),
                         '' order by i))
from generate_series(1, :columns - 1) i \gexec

select format('insert into wide select g%s from generate_series(1, 1000) g',
              string_agg((array[', g', ', ''some text''', ', timestamptz ''2000-01-01 00:00+00''', ', g / 7.0', ', g % 2 = 0'])[1 + (i - 1) % 5],
                         '' order by i))
from generate_series(1, :columns - 1) i \gexec

-- The same columns, with values by default and no index.
select format('create table log (id int%s)',
              string_agg(format(', c%s %s', i,
                                (array['int default 1', 'text default ''some text''',
                                       'timestamptz default ''2000-01-01 00:00+00''',
                                       'numeric default 1.5', 'boolean default true'])[1 + (i - 1) % 5]),
                         '' order by i))
from generate_series(1, :columns - 1) i \gexec

vacuum analyze wide;
