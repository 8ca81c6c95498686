set max_parallel_workers_per_gather = :workers;
select count(*) from (select id from t where costly(id) order by key offset 0) s;
