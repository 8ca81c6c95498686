-- Tables whose sorts do not fit into work_mem.
--   rows    in the large one
--   small   in the small one

create table large as
select i % 5 as few, hashint4(i) as number, (hashint4(i) / 7.0)::numeric as amount,
       md5(i::text) collate "C" as hash, md5(i::text) collate "en-x-icu" as name
from generate_series(1, :rows) i;
create table small as select * from large limit :small;
vacuum analyze large, small;
