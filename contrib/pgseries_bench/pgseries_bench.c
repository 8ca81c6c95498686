/*-------------------------------------------------------------------------
 *
 * pgseries_bench.c
 *		Repeat one piece of work inside the server and time it
 *
 * Everything but the measured work (network, client, transaction start and
 * end) stays out of the measured time.  Each iteration costs the same, so
 * that instruction counts of two runs can be subtracted: the difference
 * holds nothing but the additional iterations.
 *
 * The lock manager answers a request for a lock that the transaction already
 * holds from backend-local memory.  A plain loop in one transaction would
 * therefore measure lock acquisition in its first iteration only.  Hence
 * planning and execution release the locks of an iteration at its end; see
 * the comments in pgseries_bench_plan() and execute_loop().
 *
 * Portions Copyright (c) 2026, pgseries developers
 *
 * contrib/pgseries_bench/pgseries_bench.c
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <sys/resource.h>

#include "access/htup_details.h"
#include "access/transam.h"
#include "access/xact.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/params.h"
#include "portability/instr_time.h"
#include "storage/lock.h"
#include "tcop/dest.h"
#include "tcop/tcopprot.h"
#include "tcop/utility.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/plancache.h"
#include "utils/resowner.h"
#include "utils/snapmgr.h"

PG_MODULE_MAGIC_EXT(
					.name = "pgseries_bench",
					.version = "1.0"
);

PG_FUNCTION_INFO_V1(pgseries_bench_plan);
PG_FUNCTION_INFO_V1(pgseries_bench_execute);
PG_FUNCTION_INFO_V1(pgseries_bench_locks);

/* What execute_loop() works on and reports */
typedef struct ExecuteLoop
{
	SPIPlanPtr	plan;
	SPIExecuteOptions options;
	int			iterations;
	volatile bool in_subxact;	/* is our subtransaction open? */
	instr_time	elapsed;
	uint64		rows;
	long		page_faults;	/* without input or output */
} ExecuteLoop;


/*
 * Fetch an integer argument that must be 1 or more.
 */
static int
get_positive_arg(FunctionCallInfo fcinfo, int argno, const char *argname)
{
	int			value;

	if (PG_ARGISNULL(argno))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("\"%s\" must not be null", argname)));

	value = PG_GETARG_INT32(argno);
	if (value < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid value for \"%s\": %d", argname, value),
				 errhint("Give a number of 1 or more.")));

	return value;
}

/*
 * Fetch the query text.
 */
static char *
get_query_arg(FunctionCallInfo fcinfo, int argno)
{
	if (PG_ARGISNULL(argno))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("\"%s\" must not be null", "query")));

	return text_to_cstring(PG_GETARG_TEXT_PP(argno));
}

/*
 * Build the one-row result of the measuring functions.  None of its columns
 * is ever null.
 */
static Datum
make_result(FunctionCallInfo fcinfo, const Datum *values)
{
	TupleDesc	tupdesc;
	bool		nulls[4] = {0};

	if (get_call_result_type(fcinfo, NULL, &tupdesc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	Assert(tupdesc->natts <= (int) lengthof(nulls));

	return HeapTupleGetDatum(heap_form_tuple(tupdesc, values, nulls));
}

/*
 * Make a resource owner below the current one, and make it current.
 */
static ResourceOwner
push_owner(const char *name)
{
	ResourceOwner owner = ResourceOwnerCreate(CurrentResourceOwner, name);

	CurrentResourceOwner = owner;
	return owner;
}

/*
 * Release the locks of a push_owner() result, and remove it.
 *
 * All other resources must be gone by now, so that those phases are run as
 * for a successful end, which warns about leaks.  The locks however would
 * then go to the parent owner, so ask for an unsuccessful end in that phase.
 *
 * This must be used only when nothing can have been written, since the locks
 * on a table must last as long as the transaction that changed it.
 *
 * There is no need to clean up after an error.  The owner is a child of the
 * one that was current before, and goes away with that in transaction or
 * subtransaction abort, which also resets CurrentResourceOwner.
 */
static void
pop_owner(ResourceOwner owner)
{
	CurrentResourceOwner = ResourceOwnerGetParent(owner);
	ResourceOwnerRelease(owner, RESOURCE_RELEASE_BEFORE_LOCKS, true, false);
	ResourceOwnerRelease(owner, RESOURCE_RELEASE_LOCKS, false, false);
	ResourceOwnerRelease(owner, RESOURCE_RELEASE_AFTER_LOCKS, true, false);
	ResourceOwnerDelete(owner);
}

/*
 * Error context callback for work on the text of the query.  An error cursor
 * position points into that text, not into the statement that the client
 * sent.
 */
static void
query_error_callback(void *arg)
{
	const char *query = (const char *) arg;
	int			position = geterrposition();

	if (position > 0)
	{
		errposition(0);
		internalerrposition(position);
		internalerrquery(query);
	}
	else
		errcontext("SQL statement \"%s\"", query);
}

/*
 * Parse, analyze and rewrite the query, which must be one statement that the
 * planner handles.  The types of its parameters, if any, are inferred.
 */
static List *
analyze_query(const char *query, Oid **param_types, int *num_params)
{
	ErrorContextCallback errcallback;
	List	   *parsetrees;
	RawStmt    *parsetree;
	List	   *querytrees;
	Query	   *first;

	errcallback.callback = query_error_callback;
	errcallback.arg = unconstify(char *, query);
	errcallback.previous = error_context_stack;
	error_context_stack = &errcallback;

	parsetrees = pg_parse_query(query);
	if (list_length(parsetrees) != 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("query has %d statements", list_length(parsetrees)),
				 errhint("Give exactly one statement.")));
	parsetree = linitial_node(RawStmt, parsetrees);

	/* Analysis wants a snapshot newer than the start of the caller's query */
	PushActiveSnapshot(GetTransactionSnapshot());
	*param_types = NULL;
	*num_params = 0;
	querytrees = pg_analyze_and_rewrite_varparams(parsetree, query,
												  param_types, num_params,
												  NULL);
	PopActiveSnapshot();

	/* Rewriting does nothing to a utility statement */
	first = querytrees ? linitial_node(Query, querytrees) : NULL;
	if (first && first->commandType == CMD_UTILITY && first->canSetTag)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("%s is a utility statement",
						CreateCommandName(first->utilityStmt)),
				 errhint("Give a SELECT, VALUES, INSERT, UPDATE, DELETE or MERGE statement.")));
	if (first == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("rewrite rules leave nothing of the query"),
				 errhint("Give a statement on a relation without a rule that does nothing instead.")));

	error_context_stack = errcallback.previous;

	return querytrees;
}

/*
 * Plan a query repeatedly.
 *
 * The time is that of the planner alone.  As in a statement that a client
 * sends, the planner finds the relations named in the query locked by parse
 * analysis, and takes locks on anything beyond (partitions, indexes) itself.
 * So the query is analyzed once under a resource owner that lasts for the
 * whole call, and each iteration has an owner of its own, whose locks are
 * released, untimed, at the end of the iteration.  This is much cheaper than
 * a subtransaction, and safe because planning writes nothing.
 *
 * The planner scribbles on its input, so each iteration plans a copy of the
 * query, made outside of the timed region.
 */
Datum
pgseries_bench_plan(PG_FUNCTION_ARGS)
{
	char	   *query = get_query_arg(fcinfo, 0);
	int			iterations = get_positive_arg(fcinfo, 1, "iterations");
	ResourceOwner call_owner = push_owner("pgseries_bench call");
	MemoryContext itercxt;
	MemoryContext oldcxt;
	List	   *querytrees;
	Oid		   *param_types;
	int			num_params;
	instr_time	elapsed;
	Datum		values[2];

	querytrees = analyze_query(query, &param_types, &num_params);

	itercxt = AllocSetContextCreate(CurrentMemoryContext,
									"pgseries_bench iteration",
									ALLOCSET_DEFAULT_SIZES);
	oldcxt = MemoryContextSwitchTo(itercxt);
	INSTR_TIME_SET_ZERO(elapsed);

	for (int i = 0; i < iterations; i++)
	{
		ResourceOwner owner;
		List	   *copy;
		instr_time	start;
		instr_time	end;

		CHECK_FOR_INTERRUPTS();

		owner = push_owner("pgseries_bench iteration");

		/*
		 * Each statement plans with a snapshot of its own.  Taking one also
		 * makes catalog scans of this iteration take a new catalog snapshot.
		 */
		PushActiveSnapshot(GetTransactionSnapshot());
		copy = copyObject(querytrees);

		INSTR_TIME_SET_CURRENT(start);
		(void) pg_plan_queries(copy, query, CURSOR_OPT_PARALLEL_OK, NULL);
		INSTR_TIME_SET_CURRENT(end);
		INSTR_TIME_ACCUM_DIFF(elapsed, end, start);

		PopActiveSnapshot();
		pop_owner(owner);
		MemoryContextReset(itercxt);
	}

	MemoryContextSwitchTo(oldcxt);
	MemoryContextDelete(itercxt);
	pop_owner(call_owner);

	values[0] = Int64GetDatum(iterations);
	values[1] = Int64GetDatum(INSTR_TIME_GET_NANOSEC(elapsed));
	return make_result(fcinfo, values);
}

/*
 * The loop of pgseries_bench_execute().
 *
 * The time is that of the execution of a prepared statement: fetching or
 * making its plan with the locks that takes, and running it to completion.
 *
 * Each iteration is a subtransaction that is rolled back at its end, untimed,
 * so that its locks are released.  A resource owner would be cheaper, but
 * the statement may write, be it only in a function that a SELECT calls, and
 * the locks on a changed table must not be released while the change can
 * still be committed.
 *
 * SPI does its work in a memory context that it resets at the end of each
 * call, and rows go to a receiver that drops them, so that no memory is left
 * to be freed here.
 */
static void
execute_loop(ExecuteLoop *loop)
{
	MemoryContext oldcxt = CurrentMemoryContext;
	ResourceOwner oldowner = CurrentResourceOwner;
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	loop->page_faults = -usage.ru_minflt;

	for (int i = 0; i < loop->iterations; i++)
	{
		instr_time	start;
		instr_time	end;
		int			res;

		CHECK_FOR_INTERRUPTS();

		BeginInternalSubTransaction(NULL);
		loop->in_subxact = true;
		MemoryContextSwitchTo(oldcxt);

		INSTR_TIME_SET_CURRENT(start);
		res = SPI_execute_plan_extended(loop->plan, &loop->options);
		INSTR_TIME_SET_CURRENT(end);
		INSTR_TIME_ACCUM_DIFF(loop->elapsed, end, start);

		if (res < 0)
			elog(ERROR, "SPI_execute_plan_extended failed: %s",
				 SPI_result_code_string(res));
		loop->rows += SPI_processed;

		loop->in_subxact = false;
		RollbackAndReleaseCurrentSubTransaction();
		MemoryContextSwitchTo(oldcxt);
		CurrentResourceOwner = oldowner;
	}

	getrusage(RUSAGE_SELF, &usage);
	loop->page_faults += usage.ru_minflt;
}

/*
 * Convert the text values of the query's parameters.
 *
 * Without parameters the result is NULL, which makes the plan cache choose a
 * generic plan.  An empty list lets it obey the caller's wish for a custom
 * one.
 */
static ParamListInfo
make_params(ArrayType *array, const Oid *param_types, int num_params,
			bool force_custom)
{
	ParamListInfo params;
	Datum	   *elems = NULL;
	bool	   *nulls = NULL;
	int			nelems = 0;

	if (array)
		deconstruct_array_builtin(array, TEXTOID, &elems, &nulls, &nelems);
	if (nelems != num_params)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("wrong number of values in \"params\""),
				 errdetail("The query needs %d but got %d.",
						   num_params, nelems),
				 errhint("Give one value for each parameter of the query.")));

	if (num_params == 0 && !force_custom)
		return NULL;

	params = makeParamList(num_params);
	for (int i = 0; i < num_params; i++)
	{
		ParamExternData *prm = &params->params[i];
		char	   *value = nulls[i] ? NULL : TextDatumGetCString(elems[i]);
		Oid			typinput;
		Oid			typioparam;

		getTypeInputInfo(param_types[i], &typinput, &typioparam);
		prm->value = OidInputFunctionCall(typinput, value, typioparam, -1);
		prm->isnull = nulls[i];
		prm->pflags = PARAM_FLAG_CONST;
		prm->ptype = param_types[i];
	}

	return params;
}

/*
 * Prepare a query, execute it repeatedly, and drop its rows.
 */
Datum
pgseries_bench_execute(PG_FUNCTION_ARGS)
{
	char	   *query = get_query_arg(fcinfo, 0);
	int			iterations = get_positive_arg(fcinfo, 1, "iterations");
	ArrayType  *array = PG_ARGISNULL(2) ? NULL : PG_GETARG_ARRAYTYPE_P(2);
	int			cursor_options = CURSOR_OPT_PARALLEL_OK;
	ResourceOwner callowner = CurrentResourceOwner;
	ResourceOwner owner;
	MemoryContext spicxt;
	Oid		   *param_types;
	int			num_params;
	ExecuteLoop loop = {0};
	Datum		values[4];

	loop.iterations = iterations;

	/*
	 * The setting plan_cache_mode beats cursor options.  Rather than override
	 * it for all that the query does, refuse to contradict it.
	 */
	if (!PG_ARGISNULL(3))
	{
		bool		generic = PG_GETARG_BOOL(3);

		if (plan_cache_mode == (generic ? PLAN_CACHE_MODE_FORCE_CUSTOM_PLAN :
								PLAN_CACHE_MODE_FORCE_GENERIC_PLAN))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("\"generic\" contradicts the setting of \"plan_cache_mode\""),
					 errhint("Set \"plan_cache_mode\" to \"auto\".")));
		cursor_options |= generic ? CURSOR_OPT_GENERIC_PLAN :
			CURSOR_OPT_CUSTOM_PLAN;
	}

	/*
	 * Prepare the query.  The first execution must not find the locks taken
	 * by that, any more than the others do.
	 */
	SPI_connect();
	spicxt = CurrentMemoryContext;
	owner = push_owner("pgseries_bench prepare");
	(void) analyze_query(query, &param_types, &num_params);
	loop.options.params = make_params(array, param_types, num_params,
									  cursor_options & CURSOR_OPT_CUSTOM_PLAN);
	loop.options.dest = None_Receiver;
	loop.plan = SPI_prepare_cursor(query, num_params, param_types,
								   cursor_options);
	if (loop.plan == NULL)
		elog(ERROR, "SPI_prepare_cursor failed: %s",
			 SPI_result_code_string(SPI_result));
	pop_owner(owner);

	/*
	 * A saved plan reacts to invalidation as that of a prepared statement.
	 * From here on an error must not leave the plan behind, nor an open
	 * subtransaction.
	 */
	if (SPI_keepplan(loop.plan) != 0)
		elog(ERROR, "SPI_keepplan failed");
	PG_TRY();
	{
		execute_loop(&loop);
	}
	PG_CATCH();
	{
		ErrorData  *edata;

		MemoryContextSwitchTo(spicxt);
		edata = CopyErrorData();
		FlushErrorState();

		if (loop.in_subxact)
		{
			RollbackAndReleaseCurrentSubTransaction();
			MemoryContextSwitchTo(spicxt);
			CurrentResourceOwner = callowner;
		}
		SPI_freeplan(loop.plan);

		ReThrowError(edata);
	}
	PG_END_TRY();

	SPI_freeplan(loop.plan);
	SPI_finish();

	values[0] = Int64GetDatum(loop.iterations);
	values[1] = Int64GetDatum(INSTR_TIME_GET_NANOSEC(loop.elapsed));
	values[2] = Int64GetDatum(loop.rows);
	values[3] = Int64GetDatum(loop.page_faults);
	return make_result(fcinfo, values);
}

/*
 * Count the locks of this backend on a range of relation OIDs that are on the
 * fast path.
 */
static int
count_fast_path_locks(Oid start, int nlocks, int stride)
{
	LockData   *data = GetLockStatusData();
	int			count = 0;

	for (int i = 0; i < data->nelements; i++)
	{
		LockInstanceData *lock = &data->locks[i];
		Oid			offset = lock->locktag.locktag_field2 - start;

		if (lock->pid == MyProcPid && lock->fastpath &&
			lock->locktag.locktag_type == LOCKTAG_RELATION &&
			lock->locktag.locktag_field1 == MyDatabaseId &&
			offset % stride == 0 && offset / stride < (Oid) nlocks)
			count++;
	}
	pfree(data->locks);
	pfree(data);

	return count;
}

/*
 * Take and release AccessShareLocks on relation OIDs repeatedly.
 *
 * No relation needs to have these OIDs, as the lock manager does not know
 * relations.  What LockRelationOid() does in addition, processing of
 * invalidation messages, is left out.
 *
 * The locks are released in reverse order, as resource owners do.  If an
 * error ends the loop early, the current resource owner releases them.
 */
Datum
pgseries_bench_locks(PG_FUNCTION_ARGS)
{
	int			nlocks = get_positive_arg(fcinfo, 0, "nlocks");
	int			stride = get_positive_arg(fcinfo, 1, "stride");
	int			iterations = get_positive_arg(fcinfo, 2, "iterations");
	int			fast_path = 0;
	Oid			start_oid;
	instr_time	acquire;
	instr_time	release;
	Datum		values[4];

	if (PG_ARGISNULL(3))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("\"%s\" must not be null", "start")));
	start_oid = PG_GETARG_OID(3);
	if (start_oid < FirstNormalObjectId)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid value for \"%s\": %u", "start", start_oid),
				 errhint("Give an OID of %u or more; those below belong to system objects.",
						 FirstNormalObjectId)));
	if (start_oid + (uint64) (nlocks - 1) * stride > OID_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the last of the locks is beyond OID %u", OID_MAX),
				 errhint("Give a smaller \"nlocks\", \"stride\" or \"start\".")));

	INSTR_TIME_SET_ZERO(acquire);
	INSTR_TIME_SET_ZERO(release);

	for (int i = 0; i < iterations; i++)
	{
		LOCKTAG		tag;
		instr_time	start;
		instr_time	end;

		/* The size of the lock table bounds the time to the next check */
		CHECK_FOR_INTERRUPTS();

		INSTR_TIME_SET_CURRENT(start);
		for (int j = 0; j < nlocks; j++)
		{
			Oid			relid = start_oid + (Oid) j * stride;

			SET_LOCKTAG_RELATION(tag, MyDatabaseId, relid);
			if (LockAcquire(&tag, AccessShareLock, false, false) != LOCKACQUIRE_OK)
				ereport(ERROR,
						(errcode(ERRCODE_OBJECT_IN_USE),
						 errmsg("relation with OID %u is already locked by this transaction",
								relid),
						 errhint("Give another \"start\".")));
		}
		INSTR_TIME_SET_CURRENT(end);
		INSTR_TIME_ACCUM_DIFF(acquire, end, start);

		if (i == iterations - 1)
			fast_path = count_fast_path_locks(start_oid, nlocks, stride);

		INSTR_TIME_SET_CURRENT(start);
		for (int j = nlocks - 1; j >= 0; j--)
		{
			SET_LOCKTAG_RELATION(tag, MyDatabaseId,
								 start_oid + (Oid) j * stride);
			LockRelease(&tag, AccessShareLock, false);
		}
		INSTR_TIME_SET_CURRENT(end);
		INSTR_TIME_ACCUM_DIFF(release, end, start);
	}

	values[0] = Int64GetDatum(iterations);
	values[1] = Int64GetDatum(INSTR_TIME_GET_NANOSEC(acquire));
	values[2] = Int64GetDatum(INSTR_TIME_GET_NANOSEC(release));
	values[3] = Int32GetDatum(fast_path);
	return make_result(fcinfo, values);
}
