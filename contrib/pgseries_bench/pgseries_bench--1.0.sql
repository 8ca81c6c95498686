/* contrib/pgseries_bench/pgseries_bench--1.0.sql */

-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION pgseries_bench" to load this file. \quit

CREATE FUNCTION pgseries_bench_plan(
    query text,
    iterations integer,
    OUT iterations bigint,
    OUT nanoseconds bigint)
RETURNS record
AS 'MODULE_PATHNAME', 'pgseries_bench_plan'
LANGUAGE C VOLATILE;

CREATE FUNCTION pgseries_bench_execute(
    query text,
    iterations integer,
    params text[] DEFAULT '{}',
    generic boolean DEFAULT NULL,
    OUT iterations bigint,
    OUT nanoseconds bigint,
    OUT rows bigint,
    OUT page_faults bigint)
RETURNS record
AS 'MODULE_PATHNAME', 'pgseries_bench_execute'
LANGUAGE C VOLATILE;

CREATE FUNCTION pgseries_bench_locks(
    nlocks integer,
    stride integer,
    iterations integer,
    start oid DEFAULT 2000000000,
    OUT iterations bigint,
    OUT acquire_ns bigint,
    OUT release_ns bigint,
    OUT fast_path integer)
RETURNS record
AS 'MODULE_PATHNAME', 'pgseries_bench_locks'
LANGUAGE C VOLATILE;

-- A lock on any relation, without a privilege on it, is not for everyone.
REVOKE ALL ON FUNCTION pgseries_bench_locks(integer, integer, integer, oid)
    FROM PUBLIC;
