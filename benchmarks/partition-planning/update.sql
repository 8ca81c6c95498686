\set b 1
update ht set a = 0 where b = :b;
