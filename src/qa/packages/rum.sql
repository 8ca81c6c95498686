create table r (t tsvector);
insert into r select to_tsvector('simple', 'a b' || i % 10 || ' c' || i) from generate_series(1, 2000) i;
create index on r using rum (t rum_tsvector_ops);
set enable_seqscan = off;
select count(*) from r where t @@ 'a & b3';
select t from r where t @@ 'b3' order by t <=> 'b3', t limit 2;
drop table r;
