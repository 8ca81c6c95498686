set enable_hashagg = off;
select count(*) from
  (select l_partkey, l_suppkey, sum(l_quantity) from lineitem group by l_partkey, l_suppkey offset 0) s;
