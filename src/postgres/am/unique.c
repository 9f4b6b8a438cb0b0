/* Unique indexes but for the primary key: each is a relation of its own, whose
 * keys are what is indexed, and whose values are keys of rows. */
#include "postgres/am/backend.h"

#include <access/amapi.h>
#include <access/genam.h>
#include <access/relscan.h>
#include <access/xact.h>
#include <catalog/index.h>
#include <executor/executor.h>
#include <port/pg_bswap.h>
#include <utils/builtins.h>
#include <utils/datum.h>
#include <utils/lsyscache.h>

static void not_unique(Relation rel, Relation index, Datum *values, bool *nulls)
{
	char *what = BuildIndexValueDescription(index, values, nulls);
	ereport(ERROR,
	        (errcode(ERRCODE_UNIQUE_VIOLATION),
	         errmsg("duplicate key value violates unique constraint \"%s\"",
	                RelationGetRelationName(index)),
	         what ? errdetail("Key %s already exists.", what) : 0,
	         errtableconstraint(rel, RelationGetRelationName(index))));
}

/* Before it locks: what it finds it does not keep, which matters where it goes
 * on. Who comes between the look and the lock could as well have come before
 * the look, which has a moment of its own. */
static struct version *look_first(struct moment *m, struct row *r, int strength)
{
	struct moment *own = iso_serves ? m : moment_fresh();
	rows_read(own, &r, 1, strength);
	struct version *v = row_answer(own, r, strength);
	if (v) return v;
	rows_read(own, &r, 1, STRENGTH_UPDATE);
	v = row_answer(own, r, STRENGTH_UPDATE);
	if (iso_serves) return v;
	if (v) tell_repeats("the row in the way was not there");
	row_take_answer(m, r, STRENGTH_UPDATE, v);
	return v;
}

/* What holds the key, the newest; NULL: nothing, and it is locked. It is looked
 * for beside the snapshot that the transaction may have, but not by ON CONFLICT
 * (`conflict`): what that does something with has to be in the snapshot. */
static struct version *look(struct row *r, bool conflict)
{
	struct version *own = row_own(r, InvalidCommandId);
	struct moment *m = moment_now();
	bool locked = row_is_read(m, r, STRENGTH_UPDATE);
	bool goes_on = !iso_serves && GetCurrentTransactionNestLevel() > 1;
	int strength = STRENGTH_INSERT;
	if (own) return own->image || own->tuple ? own : NULL;
	if (!locked && (goes_on || (conflict && m->goes_on)))
		return look_first(m, r,
		                  conflict ? STRENGTH_PLAIN : STRENGTH_CHECK);
	if (locked || goes_on || conflict) strength = STRENGTH_UPDATE;
	rows_read(m, &r, 1, strength);
	return row_answer(m, r, strength);
}

struct entry {
	Datum values[INDEX_MAX_KEYS];
	bool nulls[INDEX_MAX_KEYS];
	StringInfoData image;
};

/* False: the tuple has no entry that excludes others. */
static bool make_entry(Relation index, TupleTableSlot *slot, struct entry *e)
{
	IndexInfo *info = BuildIndexInfo(index);
	EState *estate = CreateExecutorState();
	ExprContext *context = GetPerTupleExprContext(estate);
	bool is = true;
	context->ecxt_scantuple = slot;
	initStringInfo(&e->image);
	if (info->ii_Predicate)
		is = ExecQual(ExecPrepareQual(info->ii_Predicate, estate),
		              context);
	if (is) FormIndexDatum(info, slot, estate, e->values, e->nulls);
	for (int i = 0; is && i < info->ii_NumIndexKeyAttrs; i++) {
		Oid type = TupleDescAttr(RelationGetDescr(index), i)->atttypid;
		Oid function;
		bool varlena;
		uint32 n = pg_hton32(UINT32_MAX);
		if (e->nulls[i]) {
			is = info->ii_NullsNotDistinct;
			appendBinaryStringInfo(&e->image, (char *)&n, sizeof n);
			continue;
		}
		getTypeOutputInfo(type, &function, &varlena);
		char *text = OidOutputFunctionCall(function, e->values[i]);
		n = pg_hton32((uint32)strlen(text));
		appendBinaryStringInfo(&e->image, (char *)&n, sizeof n);
		appendStringInfoString(&e->image, text);
	}
	/* Values may lie in the context that goes; they are for a message. */
	if (is)
		for (int i = 0; i < info->ii_NumIndexKeyAttrs; i++) {
			Form_pg_attribute a =
				TupleDescAttr(RelationGetDescr(index), i);
			if (!e->nulls[i])
				e->values[i] = datumCopy(
					e->values[i], a->attbyval, a->attlen);
		}
	FreeExecutorState(estate);
	return is;
}

static bool is_same(const struct entry *a, const struct entry *b)
{
	return a->image.len == b->image.len &&
	       !memcmp(a->image.data, b->image.data, a->image.len);
}

static void check_primary(Relation rel, TupleTableSlot *slot, struct row *r)
{
	if (!look(r, false)) return;
	Relation index = index_open(rel->rd_pkindex, AccessShareLock);
	struct entry e;
	make_entry(index, slot, &e);
	not_unique(rel, index, e.values, e.nulls);
}

static TupleTableSlot *slot_of(Relation rel, struct version *v)
{
	TupleTableSlot *s = MakeSingleTupleTableSlot(RelationGetDescr(rel),
	                                             &TTSOpsHeapTuple);
	ExecForceStoreHeapTuple(v->tuple, s, false);
	return s;
}

/* Who wants the key waits until it is known whether it has gone. */
static void leave_entry(Relation index, const struct entry *e, CommandId now)
{
	struct row *r = row_find(RelationGetRelid(index), e->image.data,
	                         (uint32)e->image.len);
	if (iso_serves && !row_own(r, InvalidCommandId))
		rows_read(moment_now(), &r, 1, STRENGTH_UPDATE);
	row_write(r, NULL, NULL, 0, now, STRENGTH_UPDATE);
}

void unique_enter(Relation rel, TupleTableSlot *slot, struct row *r,
                  struct version *before)
{
	struct table *t = table_of(rel);
	CommandId now = GetCurrentCommandId(true);
	TupleTableSlot *old = before ? slot_of(rel, before) : NULL;
	ListCell *cell;
	if (t->key_count && (!before || before->row != r))
		check_primary(rel, slot, r);
	List *all = RelationGetIndexList(rel);
	foreach(cell, all)
	{
		Relation index = index_open(lfirst_oid(cell), AccessShareLock);
		struct entry was, is;
		bool unique = index->rd_index->indisunique &&
		              !index->rd_index->indisprimary;
		bool had = unique && old && make_entry(index, old, &was);
		bool has = unique && make_entry(index, slot, &is);
		if (had && has && before->row == r && is_same(&was, &is))
			had = has = false;
		if (had) leave_entry(index, &was, now);
		if (has) {
			struct row *entry =
				row_find(RelationGetRelid(index), is.image.data,
			                 is.image.len);
			if (look(entry, false))
				not_unique(rel, index, is.values, is.nulls);
			row_write(entry, NULL, r->key, r->key_length, now,
			          STRENGTH_UPDATE);
		}
		index_close(index, AccessShareLock);
	}
	list_free(all);
	if (old) ExecDropSingleTupleTableSlot(old);
}

void unique_leave(Relation rel, struct version *before)
{
	CommandId now = GetCurrentCommandId(true);
	TupleTableSlot *old = slot_of(rel, before);
	List *all = RelationGetIndexList(rel);
	ListCell *cell;
	foreach(cell, all)
	{
		Relation index = index_open(lfirst_oid(cell), AccessShareLock);
		struct entry was;
		if (index->rd_index->indisunique &&
		    !index->rd_index->indisprimary &&
		    make_entry(index, old, &was))
			leave_entry(index, &was, now);
		index_close(index, AccessShareLock);
	}
	list_free(all);
	ExecDropSingleTupleTableSlot(old);
}

/* Nothing is written to indexes: what is found, is found by keys. */
static bool insert_nothing(Relation index, Datum *values, bool *nulls,
                           ItemPointer tid, Relation heap,
                           IndexUniqueCheck check, bool unchanged,
                           IndexInfo *info)
{
	return true;
}

/* ON CONFLICT looks for the row in its way by a scan of the index. */
struct conflict_scan {
	bool done;
};

static IndexScanDesc begin_scan(Relation index, int keys, int orders)
{
	IndexScanDesc s = RelationGetIndexScan(index, keys, orders);
	s->opaque = palloc0(sizeof(struct conflict_scan));
	return s;
}

static void rescan(IndexScanDesc s, ScanKey keys, int count, ScanKey orders,
                   int order_count)
{
	if (keys && count)
		memmove(s->keyData, keys, count * sizeof(ScanKeyData));
	((struct conflict_scan *)s->opaque)->done = false;
}

static bool find_conflict(IndexScanDesc s, ScanDirection direction)
{
	struct conflict_scan *c = s->opaque;
	Relation index = s->indexRelation;
	StringInfoData image;
	if (c->done) return false;
	c->done = true;
	initStringInfo(&image);
	for (int i = 0; i < s->numberOfKeys; i++) {
		uint32 n = pg_hton32(UINT32_MAX);
		Oid function;
		bool varlena;
		if (s->keyData[i].sk_flags & SK_ISNULL) {
			appendBinaryStringInfo(&image, (char *)&n, sizeof n);
			continue;
		}
		getTypeOutputInfo(
			TupleDescAttr(RelationGetDescr(index), i)->atttypid,
			&function, &varlena);
		char *text = OidOutputFunctionCall(function,
		                                   s->keyData[i].sk_argument);
		n = pg_hton32((uint32)strlen(text));
		appendBinaryStringInfo(&image, (char *)&n, sizeof n);
		appendStringInfoString(&image, text);
	}
	Oid heap = RelationGetRelid(s->heapRelation);
	bool primary = index->rd_index->indisprimary;
	struct version *v =
		look(row_find(primary ? heap : RelationGetRelid(index),
	                      image.data, image.len),
	             true);
	if (v && !primary)
		v = look(row_find(heap, v->image, v->image_length), true);
	if (!v) return false;
	s->xs_heaptid = *version_tid(v);
	s->xs_recheck = false;
	return true;
}

static void end_scan(IndexScanDesc s)
{
	pfree(s->opaque);
}

void unique_take_indexes(Relation rel)
{
	List *all = RelationGetIndexList(rel);
	ListCell *cell;
	foreach(cell, all)
	{
		Relation index = index_open(lfirst_oid(cell), AccessShareLock);
		struct IndexAmRoutine *m = index->rd_indam;
		if (m->aminsert != insert_nothing) {
			m->aminsert = insert_nothing;
			m->ambeginscan = begin_scan;
			m->amrescan = rescan;
			m->amgettuple = find_conflict;
			m->amendscan = end_scan;
		}
		index_close(index, AccessShareLock);
	}
	list_free(all);
}
