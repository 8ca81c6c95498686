-- Tables like those of TPC-H, with generated rows.
--   items  how many line items; 6,000,000 is scale factor 1

create table region (r_regionkey int primary key, r_name text);
insert into region select i, 'region ' || i from generate_series(0, 4) i;
create table nation (n_nationkey int primary key, n_name text, n_regionkey int);
insert into nation select i, 'nation ' || i, i % 5 from generate_series(0, 24) i;
create table supplier (s_suppkey int primary key, s_name text, s_address text, s_nationkey int);
insert into supplier select i, 'supplier ' || i, md5(i::text), i % 25
  from generate_series(1, :items / 600) i;
create table customer (c_custkey int primary key, c_name text, c_nationkey int, c_mktsegment text);
insert into customer
  select i, 'customer ' || i, abs(hashint4(i)) % 25,
         (array['AUTOMOBILE', 'BUILDING', 'FURNITURE', 'HOUSEHOLD', 'MACHINERY'])[1 + abs(hashint4(i + 1)) % 5]
  from generate_series(1, :items / 40) i;
create table part (p_partkey int primary key, p_name text, p_brand text, p_container text);
insert into part
  select i, (array['green', 'forest', 'red', 'navy', 'plum'])[1 + abs(hashint4(i)) % 5] || ' ' || md5(i::text),
         'Brand#' || abs(hashint4(i + 1)) % 25, 'BOX ' || abs(hashint4(i + 2)) % 40
  from generate_series(1, :items / 30) i;
create table partsupp (ps_partkey int, ps_suppkey int, ps_availqty int, ps_supplycost numeric,
                       primary key (ps_partkey, ps_suppkey));
insert into partsupp
  select p, 1 + (p + s * (:items / 2400)) % (:items / 600), abs(hashint4(p + s)) % 9999, abs(hashint4(p * s + 1)) % 100000 / 100.0
  from generate_series(1, :items / 30) p, generate_series(0, 3) s;
create table orders (o_orderkey int primary key, o_custkey int, o_orderstatus text, o_totalprice numeric,
                     o_orderdate date, o_orderpriority text, o_shippriority int);
insert into orders
  select i, 1 + abs(hashint4(i + 1)) % (:items / 40), (array['F', 'O'])[1 + abs(hashint4(i + 2)) % 2],
         abs(hashint4(i + 3)) % 50000000 / 100.0, date '1992-01-01' + abs(hashint4(i)) % 2400,
         (array['1-URGENT', '2-HIGH', '3-MEDIUM', '4-NOT SPECIFIED', '5-LOW'])[1 + abs(hashint4(i + 4)) % 5], 0
  from generate_series(1, :items / 4) i;
create table lineitem (l_orderkey int, l_partkey int, l_suppkey int, l_quantity numeric,
                       l_extendedprice numeric, l_discount numeric, l_shipdate date,
                       l_commitdate date, l_receiptdate date, l_shipmode text);
insert into lineitem
  select o_orderkey, p, 1 + (p + i % 4 * (:items / 2400)) % (:items / 600), 1 + abs(hashint4(i)) % 50,
         abs(hashint4(i + 1)) % 10000000 / 100.0, abs(hashint4(i + 2)) % 11 / 100.0,
         o_orderdate + 1 + abs(hashint4(i + 3)) % 121, o_orderdate + 30 + abs(hashint4(i + 5)) % 61,
         o_orderdate + 2 + abs(hashint4(i + 3)) % 121 + abs(hashint4(i + 6)) % 30,
         (array['AIR', 'FOB', 'MAIL', 'RAIL', 'REG AIR', 'SHIP', 'TRUCK'])[1 + abs(hashint4(i + 7)) % 7]
  from (select i, 1 + abs(hashint4(i + 4)) % (:items / 30) from generate_series(1, :items - 1) i) v (i, p)
       join orders on o_orderkey = 1 + i / 4;
create index on lineitem (l_partkey, l_suppkey);
create index on lineitem (l_orderkey);
