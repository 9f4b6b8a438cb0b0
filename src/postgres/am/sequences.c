/* Sequences: what they give is not taken back, and sessions do not wait for
 * each other, so that what one draws would depend on others. Each session draws
 * from a range of its own. */
#include "postgres/am/backend.h"

#include <access/htup_details.h>
#include <catalog/pg_sequence.h>
#include <fmgr.h>
#include <nodes/makefuncs.h>
#include <nodes/nodeFuncs.h>
#include <parser/parse_func.h>
#include <utils/fmgroids.h>
#include <utils/lsyscache.h>
#include <utils/memutils.h>
#include <utils/syscache.h>

enum { RANGE = 1000 };

#pragma GCC visibility push(default)
PG_FUNCTION_INFO_V1(isoscope_nextval);
PG_FUNCTION_INFO_V1(isoscope_currval);
#pragma GCC visibility pop

struct draws {
	Oid sequence;
	int64 next, step, last;
	uint32 drawn; /* by the session */
	bool here;    /* by this backend, too */
};

static HTAB *draws;

void sequences_restart(void)
{
	if (draws) hash_destroy(draws);
	draws = NULL;
}

/* What it gave last in set-up; false: nothing. */
static bool last_value(Oid sequence, int64 *out)
{
	LOCAL_FCINFO(call, 1);
	FmgrInfo function;
	fmgr_info(F_PG_SEQUENCE_LAST_VALUE, &function);
	InitFunctionCallInfoData(*call, &function, 1, InvalidOid, NULL, NULL);
	call->args[0].value = ObjectIdGetDatum(sequence);
	call->args[0].isnull = false;
	Datum v = FunctionCallInvoke(call);
	*out = DatumGetInt64(v);
	return !call->isnull;
}

static struct draws *draws_of(Oid sequence)
{
	bool found;
	if (!draws) {
		HASHCTL c = { .keysize = sizeof(Oid),
			      .entrysize = sizeof(struct draws),
			      .hcxt = TopMemoryContext };
		draws = hash_create("isoscope sequences", 16, &c,
		                    HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	}
	struct draws *d = hash_search(draws, &sequence, HASH_FIND, NULL);
	if (d) return d;
	HeapTuple tuple = SearchSysCache1(SEQRELID, ObjectIdGetDatum(sequence));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "there is no sequence %u", sequence);
	Form_pg_sequence form = (Form_pg_sequence)GETSTRUCT(tuple);
	int64 first = form->seqstart, step = form->seqincrement, last;
	ReleaseSysCache(tuple);
	if (last_value(sequence, &last)) first = last + step;
	d = hash_search(draws, &sequence, HASH_ENTER, &found);
	d->step = step;
	d->next = first + (int64)iso_session * RANGE * step;
	d->drawn = 0;
	d->here = false;
	return d;
}

void sequences_take(Oid sequence, uint32 drawn)
{
	struct draws *d = draws_of(sequence);
	d->next += (int64)(drawn - d->drawn) * d->step;
	d->drawn = drawn;
}

static void tell_drawn(const struct draws *d)
{
	struct wire_head h = { .kind = WIRE_DRAWN, .number = d->drawn };
	struct wire_key k = { .relation = d->sequence };
	channel_send(&h, &k, sizeof k);
}

Datum isoscope_nextval(PG_FUNCTION_ARGS)
{
	if (iso_client) transaction_begin();
	struct draws *d = draws_of(PG_GETARG_OID(0));
	if (d->drawn == RANGE)
		refuse("more than 1000 values of a sequence in a session");
	d->drawn++;
	d->last = d->next;
	d->next += d->step;
	d->here = true;
	if (iso_client) tell_drawn(d);
	PG_RETURN_INT64(d->last);
}

Datum isoscope_currval(PG_FUNCTION_ARGS)
{
	Oid sequence = PG_GETARG_OID(0);
	struct draws *d = draws_of(sequence);
	if (!d->here)
		ereport(ERROR,
		        (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
		         errmsg("currval of sequence \"%s\" is not yet "
		                "defined in this session",
		                get_rel_name(sequence))));
	PG_RETURN_INT64(d->last);
}

static Oid our_function(const char *name)
{
	Oid argument = REGCLASSOID;
	return LookupFuncName(list_make2(makeString("isoscope_engine"),
	                                 makeString(pstrdup(name))),
	                      1, &argument, false);
}

static Node *next_value(NextValueExpr *e)
{
	Node *id = (Node *)makeConst(REGCLASSOID, -1, InvalidOid, sizeof(Oid),
	                             ObjectIdGetDatum(e->seqid), false, true);
	Node *call = (Node *)makeFuncExpr(our_function("nextval"), INT8OID,
	                                  list_make1(id), InvalidOid,
	                                  InvalidOid, COERCE_EXPLICIT_CALL);
	Oid cast = e->typeId == INT4OID   ? F_INT4_INT8
	           : e->typeId == INT2OID ? F_INT2_INT8
	                                  : InvalidOid;
	return cast ? (Node *)makeFuncExpr(cast, e->typeId, list_make1(call),
	                                   InvalidOid, InvalidOid,
	                                   COERCE_EXPLICIT_CAST)
	            : call;
}

static Node *replace(Node *n, void *data)
{
	if (!n) return NULL;
	if (IsA(n, NextValueExpr)) return next_value((NextValueExpr *)n);
	if (IsA(n, Query))
		return (Node *)query_tree_mutator((Query *)n, replace, data, 0);
	n = expression_tree_mutator(n, replace, data);
	if (n && IsA(n, FuncExpr)) {
		FuncExpr *f = (FuncExpr *)n;
		if (f->funcid == F_NEXTVAL) f->funcid = our_function("nextval");
		if (f->funcid == F_CURRVAL) f->funcid = our_function("currval");
	}
	return n;
}

Query *sequences_replace(Query *q)
{
	return query_tree_mutator(q, replace, NULL, 0);
}
