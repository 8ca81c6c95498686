\set b 1
select * from hp where b = :b;
