-- Texts in the collation that most databases have: of libc, en_US. Queries may
-- name one of ICU instead.
--   rows   how many
--   small  how many there are in the small table
--   tiny   and in the tiny one

create collation en_us (provider = libc, locale = 'en_US.UTF-8');
create table texts (md5 text collate en_us, name text collate en_us, url text collate en_us, city text collate en_us);
insert into texts
  select md5(i::text),
         (array['Smith', 'Jones', E'M\u00fcller', 'O''Brien', 'van der Berg', 'Garcia', 'Brown', 'Nguyen'])[1 + abs(hashint4(i)) % 8] || ', '
           || (array['John', 'Mary', E'Jos\u00e9', 'Ann-Marie', E'Zo\u00eb', 'Ian'])[1 + abs(hashint4(i + 1)) % 6] || ' ' || substr(md5(i::text), 1, 5),
         'https://www.example.com/item/' || abs(hashint4(i + 2)),
         'city ' || substr(md5((abs(hashint4(i + 3)) % 3000)::text), 1, 10)
  from generate_series(1, :rows) i;
create table texts_small (like texts);
insert into texts_small select * from texts limit :small;
create table texts_tiny (like texts);
insert into texts_tiny select * from texts limit :tiny;
create table presorted (like texts);
insert into presorted select * from texts_small order by name;
vacuum analyze;

-- Build an index, remove it again, and return what that took
create function build(columns text) returns table (iterations bigint, nanoseconds bigint) language plpgsql as $$
declare
  t timestamptz := clock_timestamp();
begin
  execute format('create index built on texts (%s)', columns);
  iterations := 1;
  nanoseconds := 1000000000 * extract(epoch from clock_timestamp() - t);
  drop index built;
  return next;
end $$;

-- Analyze the table, and return what that took
create function analyzed() returns table (iterations bigint, nanoseconds bigint) language plpgsql as $$
declare
  t timestamptz := clock_timestamp();
begin
  analyze texts;
  iterations := 1;
  nanoseconds := 1000000000 * extract(epoch from clock_timestamp() - t);
  return next;
end $$;
