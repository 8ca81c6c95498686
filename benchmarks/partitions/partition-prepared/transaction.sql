\set aid random(1, 6400)
\set delta random(-5000, 5000)
begin;
update test.accounts set abalance = abalance + :delta where aid = :aid;
select abalance from test.accounts where aid = :aid;
insert into test.accounts_history (aid, delta, mtime) values (:aid, :delta, current_timestamp);
end;
