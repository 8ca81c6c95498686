\set n :client_id
begin;
lock table lock:n;
commit;
