-- Two tables, one for each client.

create table one (a int);
create table lock0 (a int);
create table lock1 (a int);
