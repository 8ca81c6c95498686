\set aid1 random_gaussian(1, :rows, 4.0)
\set aid2 random_gaussian(1, :rows, 4.5)
\set aid3 random_gaussian(1, :rows, 4.2)
\set bid random(1, :rows / 1000)
\set tid random(1, :rows / 1000)
\set delta random(-5000, 5000)
BEGIN;
UPDATE pgbench_accounts SET aid = :aid1, bid = (:aid1 - 1) / 100000 + 1, abalance = abalance + :delta, filler = '' WHERE aid = :aid1;
SELECT abalance FROM pgbench_accounts WHERE aid = :aid2;
SELECT abalance FROM pgbench_accounts WHERE aid = :aid3;
END;
