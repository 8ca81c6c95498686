set max_parallel_workers_per_gather = :workers;
select count(*) from (select x, y, z from keys order by x, y, z offset 0) s;
