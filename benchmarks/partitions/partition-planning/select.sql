\set b 1
select * from ht where b = :b;
