-- pgbench's accounts, in which every tenth row has a filler with 'foo', and the
-- same rows with other keys.
--   rows  how many

create table accounts (aid int, bid int, abalance int, filler char(84));
insert into accounts
  select i, i / 100000, 0, case when i % 10 = 0 then 'foo' else '' end
  from generate_series(1, :rows) i;
create table keys (a bigint, t text, x int, y int, z int);
insert into keys
  select hashint8extended(i, 1), md5(i::text), hashint4(i) % 10, hashint4(i + 1) % 100, hashint4(i + 2)
  from generate_series(1, :rows / 5) i;
create table wide (a bigint, w text);
alter table wide alter w set storage plain;
insert into wide select hashint8extended(i, 1), repeat('x', 1000)
  from generate_series(1, :rows / 20) i;
