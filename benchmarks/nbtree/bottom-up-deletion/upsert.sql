\set aid1 random_gaussian(1, :rows, 4.0)
\set aid2 random_gaussian(1, :rows, 4.5)
\set aid3 random_gaussian(1, :rows, 4.2)
\set bid random(1, :rows / 1000)
\set tid random(1, :rows / 1000)
\set delta random(-5000, 5000)
BEGIN;
INSERT INTO pgbench_accounts VALUES (:aid1, (:aid1 - 1) / 100000 + 1, :delta, '') ON CONFLICT (aid) DO UPDATE SET aid = EXCLUDED.aid, bid = EXCLUDED.bid, abalance = pgbench_accounts.abalance + EXCLUDED.abalance, filler = EXCLUDED.filler;
SELECT abalance FROM pgbench_accounts WHERE aid = :aid2;
SELECT abalance FROM pgbench_accounts WHERE aid = :aid3;
END;
