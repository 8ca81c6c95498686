set max_parallel_workers_per_gather = :workers;
select count(*) from (select t from keys order by t offset 0) s;
