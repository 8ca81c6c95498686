-- A table to lock.

create table one (a int);
