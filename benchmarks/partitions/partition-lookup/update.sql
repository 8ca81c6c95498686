-- A row of its own for each client: else they would wait for each other's locks.
\set b :client_id + 1
update hp set a = 0 where b = :b;
