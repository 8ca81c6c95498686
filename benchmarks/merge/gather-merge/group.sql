set max_parallel_workers_per_gather = :workers;
set enable_hashagg = off;
select count(*) from (select aid, sum(abalance) from accounts where filler like '%foo%' group by aid offset 0) s;
