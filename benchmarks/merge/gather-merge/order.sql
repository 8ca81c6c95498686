set max_parallel_workers_per_gather = :workers;
select count(*) from (select * from accounts where filler like '%foo%' order by aid offset 0) s;
