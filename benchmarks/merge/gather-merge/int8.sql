set max_parallel_workers_per_gather = :workers;
select count(*) from (select a from keys order by a offset 0) s;
