set max_parallel_workers_per_gather = :workers;
select count(w) from (select a, w from wide order by a offset 0) s;
