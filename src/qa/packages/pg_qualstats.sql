select relname, opno::regoper, sum(execution_count), sum(occurences), sum(nbfiltered)
  from pg_qualstats q join pg_class c on c.oid = coalesce(lrelid, rrelid)
 where relname in ('p', 'd', 'b') or relname ~ '^p\d+$' group by 1, 2 order by 1, 2;
