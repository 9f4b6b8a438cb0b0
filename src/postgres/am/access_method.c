/* The table access method `isoscope`: heap tables while they are set up; in
 * sessions, what isoscope says. */
#include "postgres/am/backend.h"

#include <access/heapam.h>
#include <access/tableam.h>
#include <access/xact.h>
#include <catalog/index.h>
#include <catalog/pg_am_d.h>
#include <executor/tuptable.h>
#include <fmgr.h>
#include <miscadmin.h>
#include <storage/bufmgr.h>
#include <utils/builtins.h>
#include <utils/datum.h>
#include <utils/guc.h>
#include <utils/rel.h>

/* What PostgreSQL looks for. */
#pragma GCC visibility push(default)
PG_MODULE_MAGIC;
PG_FUNCTION_INFO_V1(isoscope_access_method);
PG_FUNCTION_INFO_V1(isoscope_restart);
void _PG_init(void);
#pragma GCC visibility pop

int iso_session = -1;
char *iso_socket;
static char *session_name;

static TableAmRoutine routine;
static const TableAmRoutine *heap;

bool iso_is_ours(Relation rel)
{
	return rel->rd_tableam == &routine;
}

static const TupleTableSlotOps *slots(Relation rel)
{
	return iso_is_session() ? &TTSOpsHeapTuple : heap->slot_callbacks(rel);
}

/* ---- Reads ---- */

static TableScanDesc scan_begin(Relation rel, Snapshot snapshot, int count,
                                struct ScanKeyData *keys,
                                ParallelTableScanDesc parallel, uint32 flags)
{
	if (!iso_is_session())
		return heap->scan_begin(rel, snapshot, count, keys, parallel,
		                        flags);
	refuse("this way to read a table, as COPY and DDL have it, in a "
	       "session");
}

static bool fetch(Relation rel, ItemPointer tid, Snapshot snapshot,
                  TupleTableSlot *slot)
{
	if (!iso_is_session())
		return heap->tuple_fetch_row_version(rel, tid, snapshot, slot);
	struct version *v = version_of_tid(tid);
	if (!v->tuple) return false;
	version_store(v, rel, slot);
	return true;
}

static bool satisfies(Relation rel, TupleTableSlot *slot, Snapshot snapshot)
{
	if (!iso_is_session())
		return heap->tuple_satisfies_snapshot(rel, slot, snapshot);
	struct version *v = version_of_tid(&slot->tts_tid);
	struct version *own = row_own(v->row, InvalidCommandId);
	return !own || own == v;
}

/* ---- Changes ---- */

static void remember(Relation rel, TupleTableSlot *slot, struct row *r,
                     CommandId command, int strength, const struct version *old)
{
	bool free;
	HeapTuple tuple = ExecFetchSlotHeapTuple(slot, true, &free);
	struct version *v = row_write(r, tuple, NULL, 0, command, strength);
	if (free) heap_freetuple(tuple);
	if (!old) version_born(v);
	if (old) {
		v->origin = old->origin;
		v->origin_length = old->origin_length;
	}
	slot->tts_tid = *version_tid(v);
	slot->tts_tableOid = RelationGetRelid(rel);
}

static void insert(Relation rel, TupleTableSlot *slot, CommandId command,
                   int options, BulkInsertState bulk)
{
	bool fresh;
	if (!iso_is_session()) {
		heap->tuple_insert(rel, slot, command, options, bulk);
		return;
	}
	unique_take_indexes(rel);
	slot->tts_tableOid = RelationGetRelid(rel);
	struct row *r = row_of_slot(rel, slot, &fresh);
	unique_enter(rel, slot, r, NULL);
	remember(rel, slot, r, command, STRENGTH_UPDATE, NULL);
}

static void insert_speculative(Relation rel, TupleTableSlot *slot,
                               CommandId command, int options,
                               BulkInsertState bulk, uint32 token)
{
	if (iso_is_session())
		insert(rel, slot, command, options, bulk);
	else
		heap->tuple_insert_speculative(rel, slot, command, options,
		                               bulk, token);
}

static void complete_speculative(Relation rel, TupleTableSlot *slot,
                                 uint32 token, bool succeeded)
{
	if (!iso_is_session())
		heap->tuple_complete_speculative(rel, slot, token, succeeded);
}

static void multi_insert(Relation rel, TupleTableSlot **all, int count,
                         CommandId command, int options, BulkInsertState bulk)
{
	if (!iso_is_session()) {
		heap->multi_insert(rel, all, count, command, options, bulk);
		return;
	}
	for (int i = 0; i < count; i++)
		insert(rel, all[i], command, options, bulk);
}

/* False: others have locked it. */
static bool read_row(struct moment *m, struct row *r, int strength, bool waits)
{
	if (!waits) return row_try_read(m, r, strength);
	rows_read(m, &r, 1, strength);
	return true;
}

/* The row is locked, unless others have it and it is not to wait. What it is
 * then, if it is not what was found, is told. */
static TM_Result lock_row(Relation rel, ItemPointer tid, CommandId command,
                          int strength, bool waits, TM_FailureData *failure,
                          struct version **out)
{
	struct version *found = version_of_tid(tid), *now;
	struct row *r = found->row;
	struct version *own = row_own(r, InvalidCommandId);
	struct moment *m = moment_now();
	*out = found;
	failure->traversed = false;
	failure->ctid = *tid;
	failure->xmax = InvalidTransactionId;
	failure->cmax = InvalidCommandId;
	if (own == found) {
		/* Its writes are told at the end: who locks more now says so.
		 */
		if (strength == STRENGTH_UPDATE &&
		    row_own_strength(r) < STRENGTH_UPDATE &&
		    !read_row(m, r, strength, waits))
			return TM_WouldBlock;
		return TM_Ok;
	}
	if (own) {
		failure->xmax = GetCurrentTransactionId();
		failure->cmax = own->command;
		*out = own;
		return own->command >= command ? TM_SelfModified
		       : own->tuple            ? TM_Updated
		                               : TM_Deleted;
	}
	/* Who comes too late, and finds no row, locks nothing: so it is looked
	 * at first where rows are deleted. What it becomes between that and the
	 * lock, it could as well have become before that. */
	bool keeps = strength == STRENGTH_KEY_SHARE;
	/* A statement that came later would find it as it is then. */
	bool alone = m->alone == r && !iso_serves;
	if (keeps && m->checks) strength = STRENGTH_HELD;
	bool was_read = row_is_read(m, r, strength);
	/* Another key may have led to it, before it got that. */
	if (keeps && m->refers && !was_read) m->begun = m->locked = false;
	if (r->gone && !iso_serves && !(keeps && m->checks) &&
	    !row_is_read(m, r, strength)) {
		struct moment *before = moment_fresh();
		/* What follows a key is looked for beside the snapshot. */
		int look = m->checks ? STRENGTH_CHECK : STRENGTH_PLAIN;
		rows_read(before, &r, 1, look);
		struct version *seen = row_answer(before, r, look);
		if (!seen) {
			if (alone) tell_repeats("the row is gone");
			*out = NULL;
			return TM_Deleted;
		}
		rows_read(before, &r, 1, strength);
		now = row_answer(before, r, strength);
		if (now != seen) tell_repeats("the row has changed");
		row_take_answer(m, r, strength, now);
	} else {
		if (!read_row(m, r, strength, waits)) return TM_WouldBlock;
		now = row_answer(m, r, strength);
	}
	if (now == found) return TM_Ok;
	if (alone && (!now || version_is_of(now, found)))
		tell_repeats("the row has changed");
	*out = now;
	if (!now || !version_is_of(now, found)) {
		if (!was_read) row_give_up(r, strength);
		return TM_Deleted;
	}
	failure->ctid = *version_tid(now);
	return TM_Updated;
}

static TM_Result delete (Relation rel, ItemPointer tid, CommandId command,
                         Snapshot snapshot, Snapshot cross, bool wait,
                         TM_FailureData *failure, bool moving)
{
	struct version *v;
	if (!iso_is_session())
		return heap->tuple_delete(rel, tid, command, snapshot, cross,
		                          wait, failure, moving);
	TM_Result result =
		lock_row(rel, tid, command, STRENGTH_UPDATE, true, failure, &v);
	if (result != TM_Ok) return result;
	unique_leave(rel, v);
	row_write(v->row, NULL, NULL, 0, command, STRENGTH_UPDATE);
	return TM_Ok;
}

static bool changes(HeapTuple old, TupleTableSlot *slot, AttrNumber a)
{
	TupleDesc desc = slot->tts_tupleDescriptor;
	Form_pg_attribute form = TupleDescAttr(desc, a - 1);
	bool none, now_none;
	Datum was = heap_getattr(old, a, desc, &none);
	Datum is = slot_getattr(slot, a, &now_none);
	return none != now_none ||
	       (!none &&
	        !datum_image_eq(was, is, form->attbyval, form->attlen));
}

/* Does it change a column of a key that others may refer to? */
static bool changes_key(Relation rel, HeapTuple old, TupleTableSlot *slot)
{
	Bitmapset *key = RelationGetIndexAttrBitmap(rel, INDEX_ATTR_BITMAP_KEY);
	bool changed = false;
	for (int a = 1; a <= RelationGetNumberOfAttributes(rel); a++)
		changed |= bms_is_member(a - FirstLowInvalidHeapAttributeNumber,
		                         key) &&
		           changes(old, slot, a);
	bms_free(key);
	return changed;
}

/* Does the row come to refer to another one? */
static bool refers_anew(Relation rel, HeapTuple old, TupleTableSlot *slot)
{
	ListCell *cell;
	foreach(cell, RelationGetFKeyList(rel))
	{
		ForeignKeyCacheInfo *f = lfirst(cell);
		for (int i = 0; i < f->nkeys; i++)
			if (!slot_attisnull(slot, f->conkey[i]) &&
			    changes(old, slot, f->conkey[i]))
				return true;
	}
	return false;
}

static TM_Result update(Relation rel, ItemPointer tid, TupleTableSlot *slot,
                        CommandId command, Snapshot snapshot, Snapshot cross,
                        bool wait, TM_FailureData *failure, LockTupleMode *mode,
                        bool *indexes)
{
	struct version *v = NULL;
	bool fresh = false;
	if (!iso_is_session())
		return heap->tuple_update(rel, tid, slot, command, snapshot,
		                          cross, wait, failure, mode, indexes);
	*indexes = false;
	v = version_of_tid(tid);
	bool key = changes_key(rel, v->tuple, slot);
	int strength = key ? STRENGTH_UPDATE : STRENGTH_NO_KEY_UPDATE;
	*mode = key ? LockTupleExclusive : LockTupleNoKeyExclusive;
	TM_Result result =
		lock_row(rel, tid, command, strength, true, failure, &v);
	if (result != TM_Ok) return result;
	slot->tts_tableOid = RelationGetRelid(rel);
	struct row *r = table_of(rel)->key_count
	                        ? row_of_slot(rel, slot, &fresh)
	                        : v->row;
	/* Who has found it would have to follow it to its new key. */
	if (r != v->row) refuse("an UPDATE that changes a primary key");
	unique_enter(rel, slot, r, v);
	if (!key && refers_anew(rel, v->tuple, slot))
		strength = STRENGTH_REFERENCE;
	remember(rel, slot, r, command, strength, v);
	return TM_Ok;
}

static int strength_of(LockTupleMode mode)
{
	switch (mode) {
	case LockTupleKeyShare: return STRENGTH_KEY_SHARE;
	case LockTupleShare: return STRENGTH_SHARE;
	case LockTupleNoKeyExclusive: return STRENGTH_NO_KEY_UPDATE;
	case LockTupleExclusive: return STRENGTH_UPDATE;
	}
	return STRENGTH_UPDATE;
}

static TM_Result lock(Relation rel, ItemPointer tid, Snapshot snapshot,
                      TupleTableSlot *slot, CommandId command,
                      LockTupleMode mode, LockWaitPolicy policy, uint8 flags,
                      TM_FailureData *failure)
{
	struct version *v;
	if (!iso_is_session())
		return heap->tuple_lock(rel, tid, snapshot, slot, command, mode,
		                        policy, flags, failure);
	TM_Result result = lock_row(rel, tid, command, strength_of(mode),
	                            policy == LockWaitBlock, failure, &v);
	if (result == TM_WouldBlock && policy == LockWaitError)
		ereport(ERROR, (errcode(ERRCODE_LOCK_NOT_AVAILABLE),
		                errmsg("could not obtain lock on row in "
		                       "relation \"%s\"",
		                       RelationGetRelationName(rel))));
	if (result == TM_WouldBlock) return result;
	/* ON CONFLICT DO UPDATE: a row was in the way, and is gone when it is
	 * locked: the statement looks again, as if it had come later. */
	if (!flags && !v) tell_repeats("the row in the way is gone");
	if (!flags && v->number == 0 && v->command >= command)
		ereport(ERROR,
		        (errcode(ERRCODE_CARDINALITY_VIOLATION),
		         errmsg("ON CONFLICT DO UPDATE command cannot affect "
		                "row a second time")));
	if (result == TM_Updated &&
	    (!flags || (flags & TUPLE_LOCK_FLAG_FIND_LAST_VERSION))) {
		failure->traversed = true;
		*tid = failure->ctid; /* as heapam has it */
		result = TM_Ok;
	}
	if (result == TM_Ok) version_store(v, rel, slot);
	return result;
}

/* ---- The rest ---- */

static bool index_fetch(struct IndexFetchTableData *scan, ItemPointer tid,
                        Snapshot snapshot, TupleTableSlot *slot, bool *again,
                        bool *dead)
{
	if (!iso_is_session())
		return heap->index_fetch_tuple(scan, tid, snapshot, slot, again,
		                               dead);
	*again = false;
	if (dead) *dead = false;
	/* ON CONFLICT asks whom to wait for: nobody. */
	if (snapshot->snapshot_type == SNAPSHOT_DIRTY) {
		snapshot->xmin = snapshot->xmax = InvalidTransactionId;
		snapshot->speculativeToken = 0;
	}
	return fetch(scan->rel, tid, snapshot, slot);
}

/* heapam's own function wants to see its own method. */
static double build_index(Relation rel, Relation index, IndexInfo *info,
                          bool sync, bool any, bool progress, BlockNumber first,
                          BlockNumber count, IndexBuildCallback callback,
                          void *data, TableScanDesc scan)
{
	double tuples = 0;
	if (iso_is_session()) return 0; /* indexes are hidden from them */
	rel->rd_tableam = heap;
	PG_TRY();
	{
		tuples = heap->index_build_range_scan(
			rel, index, info, sync, any, progress, first, count,
			callback, data, scan);
	}
	PG_FINALLY();
	{
		rel->rd_tableam = &routine;
	}
	PG_END_TRY();
	return tuples;
}

static void refuse_validation(Relation rel, Relation index, IndexInfo *info,
                              Snapshot snapshot, ValidateIndexState *state)
{
	ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
	                errmsg("isoscope does not support CREATE INDEX "
	                       "CONCURRENTLY")));
}

static Oid toast_method(Relation rel)
{
	return HEAP_TABLE_AM_OID;
}

static void estimate(Relation rel, int32 *widths, BlockNumber *pages,
                     double *tuples, double *visible)
{
	/* Always the same, so that plans are. */
	*pages = 10;
	*tuples = 1000;
	*visible = 0;
}

Datum isoscope_access_method(PG_FUNCTION_ARGS)
{
	PG_RETURN_POINTER(&routine);
}

Datum isoscope_restart(PG_FUNCTION_ARGS)
{
	rows_restart();
	PG_RETURN_VOID();
}

void _PG_init(void)
{
	DefineCustomIntVariable("isoscope.session",
	                        "The session that this backend is of.", NULL,
	                        &iso_session, -1, -1, INT_MAX, PGC_BACKEND, 0,
	                        NULL, NULL, NULL);
	DefineCustomStringVariable("isoscope.name", "The session's name.", NULL,
	                           &session_name, "", PGC_BACKEND, 0, NULL,
	                           NULL, NULL);
	DefineCustomStringVariable("isoscope.socket", "Where isoscope listens.",
	                           NULL, &iso_socket, "", PGC_BACKEND, 0, NULL,
	                           NULL, NULL);
	heap = GetHeapamTableAmRoutine();
	routine = *heap;
	routine.slot_callbacks = slots;
	routine.scan_begin = scan_begin;
	routine.tuple_fetch_row_version = fetch;
	routine.tuple_satisfies_snapshot = satisfies;
	routine.tuple_insert = insert;
	routine.tuple_insert_speculative = insert_speculative;
	routine.tuple_complete_speculative = complete_speculative;
	routine.multi_insert = multi_insert;
	routine.tuple_delete = delete;
	routine.tuple_update = update;
	routine.tuple_lock = lock;
	routine.index_fetch_tuple = index_fetch;
	routine.index_build_range_scan = build_index;
	routine.index_validate_scan = refuse_validation;
	routine.relation_toast_am = toast_method;
	routine.relation_estimate_size = estimate;
	moments_init();
	transactions_init();
	scans_init();
	refusals_init();
	doors_init();
}
