select count(*) from
  (select distinct on (l_orderkey) * from lineitem order by l_orderkey, l_shipdate offset 0) s;
