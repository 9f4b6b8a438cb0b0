/* What the transaction reads of rows, and what it makes of them. */
#include "postgres/am/backend.h"

#include <access/genam.h>
#include <access/htup_details.h>
#include <access/relation.h>
#include <access/xact.h>
#include <catalog/index.h>
#include <common/hashfn.h>
#include <miscadmin.h>
#include <port/pg_bswap.h>
#include <storage/lmgr.h>
#include <storage/proc.h>
#include <storage/procarray.h>
#include <utils/builtins.h>
#include <utils/guc.h>
#include <utils/lsyscache.h>
#include <utils/memutils.h>
#include <utils/timeout.h>
#include <utils/typcache.h>

enum { TIDS_OF_PAGE = 200 };

/* Those that the transaction at hand has written. */
static struct row **written;
static int written_count, written_capacity;
static uint64 transaction; /* the number of the one at hand, or of the next */
static bool begun;         /* it was told */
/* What the transaction has locked by reading it, newest first; where clients
 * are served, which of its subtransactions have locked something. */
struct lock {
	struct lock *older;
	struct row *row;
	TransactionId owner;
	SubTransactionId inside;
};
static struct lock *locks;
static struct version **tids;
static uint32 tid_count, tid_capacity;
static uint64 accesses, newest_moment;
static int awaited;        /* so many replies are to come, in order */
static bool commits_wait;  /* also where nothing was written */
static bool commits_sure;  /* none is refused */
static bool learned;       /* what others did, since a statement began */
static char *session_name; /* of a client's */
static uint32 births, transactions; /* of this one; since the session began */

/* ---- Rows ---- */

/* What the transaction has to do with it. */
static struct row *touch(struct row *r)
{
	if (r->transaction == transaction) return r;
	r->transaction = transaction;
	r->own = NULL;
	r->written = false;
	r->answers = NULL;
	return r;
}

static void be_ready(int own);

static void image_of_birth(StringInfo s)
{
	be_ready(0);
	const char *name = session_name;
	if (!name) name = GetConfigOption("isoscope.name", true, false);
	char text[2][16];
	const char *parts[3] = { name ? name : "", text[0], text[1] };
	snprintf(text[0], sizeof text[0], "%u", transactions);
	snprintf(text[1], sizeof text[1], "%u", ++births);
	for (int i = 0; i < 3; i++) {
		uint32 n = pg_hton32((uint32)strlen(parts[i]));
		appendBinaryStringInfo(s, (char *)&n, sizeof n);
		appendStringInfoString(s, parts[i]);
	}
}

struct row *row_of_slot(Relation rel, TupleTableSlot *slot, bool *fresh)
{
	struct table *t = table_of(rel);
	StringInfoData s;
	initStringInfo(&s);
	*fresh = !t->key_count;
	slot_getallattrs(slot);
	if (t->key_count)
		image_of_columns(&s, t, slot->tts_values, slot->tts_isnull,
		                 t->key, t->key_count);
	else
		image_of_birth(&s);
	struct row *r = touch(row_find(t->oid, s.data, (uint32)s.len));
	pfree(s.data);
	return r;
}

int rows_own(Oid relation, struct row ***out)
{
	int count = 0;
	*out = palloc((written_count + 1) * sizeof **out);
	for (int i = 0; i < written_count; i++) {
		struct row *r = written[i];
		if (r->own && r->relation == relation && row_some_tuple(r))
			(*out)[count++] = r;
	}
	return count;
}

/* The next record that is no version. */
static void receive_next(struct wire_head *h, char **body, bool ends)
{
	for (;;) {
		channel_receive(h, body, ends && iso_serves);
		if (h->kind == WIRE_DRAWN) {
			struct wire_key k;
			memcpy(&k, *body, sizeof k);
			sequences_take(k.relation, h->number);
		} else if (h->kind == WIRE_VERSION || h->kind == WIRE_GONE ||
		           h->kind == WIRE_OVER) {
			known_take(h, *body);
		} else {
			return;
		}
		pfree(*body);
	}
}

/* The reply to what was asked first of all that has no reply yet. */
static void take_reply(struct wire_head *h, char **body, bool ends)
{
	receive_next(h, body, ends);
	awaited--;
}

void rows_restart(void)
{
	struct wire_head h;
	char *body;
	known_restart();
	written_count = 0;
	transactions = births = 0;
	sequences_restart();
	receive_next(&h, &body, false);
	if (h.kind != WIRE_READY) elog(FATAL, "isoscope is not ready");
}

/* ---- Reads ---- */

static struct answer *find_answer(struct moment *m, struct row *r, int strength)
{
	for (struct answer *a = touch(r)->answers; a; a = a->older)
		if (a->moment == m->number && a->strength == strength) return a;
	return NULL;
}

bool row_is_read(struct moment *m, struct row *r, int strength)
{
	return find_answer(m, r, strength) != NULL;
}

struct version *row_answer(struct moment *m, struct row *r, int strength)
{
	struct answer *a = find_answer(m, r, strength);
	Assert(a);
	return a->version;
}

static void put_answer(struct answer *a, const struct moment *m, struct row *r,
                       int strength, struct version *v)
{
	*a = (struct answer){ .older = touch(r)->answers,
		              .moment = m->number,
		              .strength = (uint8)strength,
		              .version = v };
	r->answers = a;
}

void row_take_answer(struct moment *m, struct row *r, int strength,
                     struct version *v)
{
	put_answer(MemoryContextAlloc(TopTransactionContext,
	                              sizeof(struct answer)),
	           m, r, strength, v);
}

static struct version *numbered(struct row *r, uint32 number)
{
	struct version *v = r->versions;
	if (!number) return NULL;
	while (v && v->number != number) v = v->older;
	if (!v) elog(ERROR, "a version that was never told");
	return v;
}

static void put_key(StringInfo s, const struct row *r)
{
	struct wire_key k = { r->relation, r->number ? 0 : r->key_length,
		              r->number };
	appendBinaryStringInfo(s, (char *)&k, sizeof k);
	if (k.length) appendBinaryStringInfo(s, r->key, (int)k.length);
}

static void note_lock(struct row *r, TransactionId owner)
{
	struct lock *l =
		MemoryContextAllocZero(TopTransactionContext, sizeof *l);
	l->row = r;
	l->owner = owner;
	l->inside = GetCurrentSubTransactionId();
	l->older = locks;
	locks = l;
}

static void tell_given_up(const struct lock *l)
{
	struct wire_head h = { .kind = WIRE_GIVE_UP, .owner = l->owner };
	StringInfoData s;
	initStringInfo(&s);
	if (l->row) put_key(&s, l->row);
	channel_send(&h, s.data, (uint32)s.len);
	pfree(s.data);
}

void row_give_up(struct row *r, int strength)
{
	struct lock l = { .row = r, .owner = GetCurrentTransactionIdIfAny() };
	if (iso_serves && strength > STRENGTH_CHECK) tell_given_up(&l);
}

/* Those taken inside end. */
static void give_up_locks(SubTransactionId inner)
{
	for (; locks && locks->inside >= inner; locks = locks->older)
		tell_given_up(locks);
}

/* What is asked: a lock on rows that may not be there is left out. */
struct question {
	int strength;
	bool surely;
	TransactionId owner; /* whose lock is in the way */
};

/* To how many. */
static int take_answers(struct moment *m, struct row **rows, int count,
                        struct question *q)
{
	struct wire_head h;
	char *body;
	be_ready(1);
	take_reply(&h, &body, true);
	if (h.kind == WIRE_STOP)
		ereport(ERROR, (errcode(ERRCODE_QUERY_CANCELED),
		                errmsg("isoscope has given the statement up")));
	if (h.kind == WIRE_REFUSED) fail_refused(body, h.length);
	if (h.kind != WIRE_ANSWER || h.length != h.number * sizeof(uint32) ||
	    (int)h.number > count || (!h.owner && (int)h.number < count))
		elog(FATAL, "isoscope answers something else");
	q->owner = h.owner;
	if (q->surely) q->strength = h.strength;
	m->split |= iso_serves && !h.joined;
	struct answer *all = MemoryContextAllocHuge(
		TopTransactionContext, (h.number + 1) * sizeof *all);
	for (int i = 0; i < (int)h.number; i++) {
		uint32 number;
		memcpy(&number, body + i * sizeof number, sizeof number);
		put_answer(&all[i], m, rows[i], q->strength,
		           numbered(rows[i], number));
		if (q->strength != STRENGTH_PLAIN && !iso_serves)
			note_lock(rows[i], InvalidTransactionId);
	}
	pfree(body);
	return (int)h.number;
}

/* As PostgreSQL waits for rows: it finds deadlocks, and heeds time limits. The
 * lock is over before its owner is, or soon after. */
static void wait_for(TransactionId owner)
{
	if (!TransactionIdIsInProgress(owner)) pg_usleep(100);
	XactLockTableWait(owner, NULL, NULL, XLTW_None);
}

/* Which statements could not be of one moment? */
static void check_moment(struct moment *m, int strength)
{
	if (strength != STRENGTH_PLAIN) return;
	/* Its moment is before that of a function's statement. */
	bool later =
		m->begun ? m->accesses != accesses : m->number < newest_moment;
	if (later && m->cursor)
		refuse("FETCH from a cursor that has more to read, after "
		       "another statement has read tables; fetch all of it "
		       "before, or declare it after that");
	if (later)
		refuse(m->begun ? "a statement that goes on to read tables "
		                  "after a function that it calls has done so"
		                : "a statement that reads tables only after a "
		                  "function that it calls has done so");
	if (m->split)
		ereport(ERROR,
		        (errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
		         errmsg("could not serialize access: a row was changed "
		                "while the statement waited for it, and it "
		                "reads on")));
}

static void put_keys(StringInfo s, struct row **rows, int count)
{
	resetStringInfo(s);
	for (int i = 0; i < count; i++) put_key(s, rows[i]);
}

/* To as many as are free. */
static int ask(struct moment *m, struct row **rows, int count,
               struct question *q)
{
	struct wire_head h = { .kind = WIRE_READ,
		               .number = (uint32)count,
		               .strength = (uint8_t)q->strength,
		               .initial = q->surely,
		               .changes = m->changes,
		               .joined = m->begun,
		               .known = m->found && !m->begun };
	StringInfoData s;
	initStringInfo(&s);
	put_keys(&s, rows, count);
	if (iso_serves && q->strength != STRENGTH_PLAIN) {
		h.owner = GetCurrentTransactionId();
		if (!locks || locks->owner != h.owner) note_lock(NULL, h.owner);
	}
	channel_send(&h, s.data, (uint32)s.len);
	awaited++;
	pfree(s.data);
	int answered = take_answers(m, rows, count, q);
	if (!answered) return 0;
	m->begun = true;
	m->locked |= q->strength >= STRENGTH_SHARE;
	return answered;
}

static void note_access(struct moment *m)
{
	m->accesses = ++accesses;
	if (m->number > newest_moment) newest_moment = m->number;
}

static bool read_rows(struct moment *m, struct row **rows, int count,
                      int strength, bool waits)
{
	struct row **asked = palloc((count + 1) * sizeof *asked);
	struct question q = { .strength = strength };
	int n = 0, done = 0;
	if (strength == STRENGTH_PLAIN) m->alone = NULL;
	for (int i = 0; i < count; i++)
		if (!find_answer(m, rows[i], strength)) asked[n++] = rows[i];
	if (n) {
		transaction_begin();
		check_moment(m, strength);
		note_access(m);
		if (m->locked && strength != STRENGTH_PLAIN &&
		    strength < STRENGTH_SHARE)
			m->begun = m->locked = false;
	}
	while (done < n) {
		done += ask(m, asked + done, n - done, &q);
		if (done < n && !waits) break;
		if (done < n) wait_for(q.owner);
	}
	pfree(asked);
	return done == n;
}

void rows_read(struct moment *m, struct row **rows, int count, int strength)
{
	(void)read_rows(m, rows, count, strength, true);
}

bool rows_may_read_surely(const struct moment *m)
{
	return iso_serves && !m->begun && !m->split &&
	       m->number >= newest_moment;
}

int rows_read_surely(struct moment *m, struct row *r, int strength)
{
	struct question q;
	m->alone = NULL;
	if (find_answer(m, r, strength)) return strength;
	if (find_answer(m, r, STRENGTH_PLAIN)) return STRENGTH_PLAIN;
	transaction_begin();
	note_access(m);
	for (;;) {
		q = (struct question){ .strength = strength, .surely = true };
		if (ask(m, &r, 1, &q)) return q.strength;
		wait_for(q.owner);
	}
}

bool row_try_read(struct moment *m, struct row *r, int strength)
{
	return read_rows(m, &r, 1, strength, false);
}

/* ---- Writes ---- */

struct version *row_own(struct row *r, CommandId before)
{
	struct version *v = touch(r)->own;
	while (v && v->command >= before) v = v->older;
	return v;
}

static void note_written(struct row *r)
{
	if (r->written) return;
	r->written = true;
	if (written_count == written_capacity) {
		written_capacity = written_capacity ? 2 * written_capacity : 64;
		written = written ? repalloc(written,
		                             written_capacity * sizeof *written)
		                  : MemoryContextAlloc(TopMemoryContext,
		                                       written_capacity *
		                                               sizeof *written);
	}
	written[written_count++] = r;
}

struct version *row_write(struct row *r, HeapTuple tuple, const char *image,
                          uint32 length, CommandId command, int strength)
{
	MemoryContext old = MemoryContextSwitchTo(TopTransactionContext);
	struct version *v = palloc0(sizeof *v);
	v->row = touch(r);
	note_written(r);
	v->tuple = tuple ? heap_copytuple(tuple) : NULL;
	if (tuple)
		HeapTupleHeaderSetXmin(v->tuple->t_data,
		                       GetCurrentTransactionId());
	if (image) {
		v->image = memcpy(palloc(length + 1), image, length);
		v->image_length = length;
	}
	v->command = command;
	v->inside = GetCurrentSubTransactionId();
	v->strength = (uint8)strength;
	v->older = r->own;
	r->own = v;
	MemoryContextSwitchTo(old);
	return v;
}

/* ---- Places in the table, as the executor knows them ---- */

void version_born(struct version *v)
{
	StringInfoData s;
	bool gone = v->row->gone;
	for (struct version *o = v->older; o; o = o->older) gone |= !o->tuple;
	if (!gone) return;
	MemoryContext old = MemoryContextSwitchTo(TopTransactionContext);
	initStringInfo(&s);
	image_of_birth(&s);
	v->origin = s.data;
	v->origin_length = (uint32)s.len;
	MemoryContextSwitchTo(old);
}

bool version_is_of(const struct version *v, const struct version *w)
{
	return v->origin_length == w->origin_length &&
	       !memcmp(v->origin, w->origin, v->origin_length);
}

ItemPointer version_tid(struct version *v)
{
	if (v->tid_of == transaction && ItemPointerIsValid(&v->tid))
		return &v->tid;
	if (tid_count == tid_capacity) {
		tid_capacity = tid_capacity ? 2 * tid_capacity : 256;
		tids = tids ? repalloc(tids, tid_capacity * sizeof *tids)
		            : MemoryContextAlloc(TopMemoryContext,
		                                 tid_capacity * sizeof *tids);
	}
	ItemPointerSet(&v->tid, tid_count / TIDS_OF_PAGE,
	               (OffsetNumber)(tid_count % TIDS_OF_PAGE + 1));
	v->tid_of = transaction;
	tids[tid_count++] = v;
	return &v->tid;
}

struct version *version_of_tid(ItemPointer tid)
{
	uint32 n = ItemPointerGetBlockNumber(tid) * TIDS_OF_PAGE +
	           ItemPointerGetOffsetNumber(tid) - 1;
	if (n >= tid_count || !ItemPointerEquals(&tids[n]->tid, tid))
		elog(ERROR, "there is no row at this place");
	return tids[n];
}

/* It is there as long as the transaction, so that nothing is copied. */
void version_store(struct version *v, Relation rel, TupleTableSlot *slot)
{
	Assert(v->tuple);
	v->tuple->t_self = *version_tid(v);
	v->tuple->t_tableOid = RelationGetRelid(rel);
	ExecForceStoreHeapTuple(v->tuple, slot, false);
	slot->tts_tid = v->tuple->t_self;
	slot->tts_tableOid = v->tuple->t_tableOid;
}

/* ---- Transactions ---- */

/* What the session has done in other backends; and, the first time, what is
 * known. */
static void note_readiness(const struct wire_head *h, const char *body)
{
	transactions = h->number;
	learned = true;
	commits_wait = h->joined;
	commits_sure = h->known;
	if (!session_name)
		session_name = MemoryContextStrdup(TopMemoryContext,
		                                   pnstrdup(body, h->length));
}

/* The transaction at hand, where it is told; never 0. */
static uint32 called(void)
{
	return (uint32)transaction ? (uint32)transaction : 1;
}

static void take_readiness(int own, bool ends)
{
	struct wire_head h;
	char *body;
	while (awaited > own) {
		take_reply(&h, &body, ends);
		if (h.kind == WIRE_READY) note_readiness(&h, body);
		if (h.kind == WIRE_REFUSED && h.owner == called())
			fail_refused(body, h.length);
		pfree(body);
	}
}

/* Who serves a client lets it begin while it asks for the first row: that it
 * has its turn comes before the replies to what it asks then, which are `own`.
 * It waits for that as for a lock. What has come for statements that are over
 * is dropped. */
static void be_ready(int own)
{
	bool limited = awaited > own && LockTimeout > 0;
	if (limited) enable_timeout_after(LOCK_TIMEOUT, LockTimeout);
	PG_TRY();
	{
		take_readiness(own, true);
	}
	PG_FINALLY();
	{
		if (limited) disable_timeout(LOCK_TIMEOUT, false);
	}
	PG_END_TRY();
}

bool rows_are_told(void)
{
	return !awaited;
}

void transaction_begin(void)
{
	struct wire_head h = { .kind = WIRE_BEGIN, .owner = called() };
	if (begun || !IsTransactionState()) return;
	begun = true;
	transactions++;
	births = 0;
	if (iso_client) h.number = moments_level();
	channel_send(&h, NULL, 0);
	awaited += iso_client;
	if (iso_client && !iso_serves) take_readiness(0, false);
}

void transaction_take_turn(void)
{
	transaction_begin();
	if (iso_serves) be_ready(0);
}

void rows_forget_news(void)
{
	learned = false;
}

void rows_learn(struct moment *m, struct table *t)
{
	struct wire_head h = { .kind = WIRE_NEWS };
	struct wire_key k = { .relation = t->oid };
	if (!iso_serves || (m->begun && t->told)) return;
	transaction_begin();
	be_ready(0);
	if (!m->begun) m->found = true;
	if (learned && t->told) return;
	channel_send(&h, &k, t->told ? 0 : sizeof k);
	awaited++;
	take_readiness(0, false);
	t->told = true;
}

uint8 row_own_strength(const struct row *r)
{
	uint8 most = 0;
	for (const struct version *v = r->own; v; v = v->older)
		most = Max(most, v->strength);
	return most;
}

static void tell_write(struct row *r, struct version *v)
{
	struct wire_head h = { .kind = WIRE_WRITE,
		               .strength = row_own_strength(r) };
	StringInfoData s;
	initStringInfo(&s);
	put_key(&s, r);
	if (v->tuple) {
		Relation rel = relation_open(r->relation, AccessShareLock);
		struct table *t = table_of(rel);
		Datum *values = palloc(t->desc->natts * sizeof *values);
		bool *nulls = palloc(t->desc->natts * sizeof *nulls);
		heap_deform_tuple(v->tuple, t->desc, values, nulls);
		image_of_columns(&s, t, values, nulls, NULL, t->desc->natts);
		relation_close(rel, AccessShareLock);
		h.number = v->origin ? 2 : 1;
		if (v->origin)
			appendBinaryStringInfo(&s, v->origin,
			                       (int)v->origin_length);
	} else if (v->image) {
		appendBinaryStringInfo(&s, v->image, (int)v->image_length);
		h.number = 1;
	}
	channel_send(&h, s.data, (uint32)s.len);
	pfree(s.data);
}

static int order_of_own(const void *a, const void *b)
{
	const struct row *x = *(struct row *const *)a;
	const struct row *y = *(struct row *const *)b;
	int order;
	if (x->relation != y->relation)
		return x->relation < y->relation ? -1 : 1;
	order = memcmp(x->key, y->key, Min(x->key_length, y->key_length));
	return order ? order
	             : (x->key_length > y->key_length) -
	                       (x->key_length < y->key_length);
}

/* The last write of each row. */
static void tell_writes(void)
{
	qsort(written, written_count, sizeof *written, order_of_own);
	for (int i = 0; i < written_count; i++)
		if (written[i]->own) tell_write(written[i], written[i]->own);
}

/* Served clients commit here, while it can still be refused. */
static void ask_to_commit(void)
{
	struct wire_head h = { .kind = WIRE_COMMIT };
	char *body;
	be_ready(0);
	h.number = commits_wait || (!commits_sure && (written_count || locks));
	channel_send(&h, NULL, 0);
	begun = false;
	if (!h.number) return;
	begun = true;
	awaited++;
	take_reply(&h, &body, false);
	if (h.kind == WIRE_REFUSED) fail_refused(body, h.length);
	if (h.kind != WIRE_READY)
		elog(FATAL, "isoscope answers something else");
	begun = false;
}

static void at_end(XactEvent event, void *data)
{
	struct wire_head h = { .kind = event == XACT_EVENT_ABORT
		                               ? WIRE_ABORT
		                               : WIRE_COMMIT };
	if (!iso_is_session()) return;
	/* Writes are told while functions can still be called. */
	if (event == XACT_EVENT_PRE_COMMIT && begun) {
		tell_writes();
		if (iso_serves) ask_to_commit();
	}
	if (event != XACT_EVENT_COMMIT && event != XACT_EVENT_ABORT) return;
	if (begun) channel_send(&h, NULL, 0);
	begun = false;
	transaction++;
	written_count = 0;
	locks = NULL;
	tid_count = 0;
	moments_forget(0);
	known_forget();
}

/* What was written and locked inside is over, or its parent's. */
static void at_inner_end(SubXactEvent event, SubTransactionId inner,
                         SubTransactionId parent, void *data)
{
	bool aborts = event == SUBXACT_EVENT_ABORT_SUB;
	if (!iso_is_session() || (!aborts && event != SUBXACT_EVENT_COMMIT_SUB))
		return;
	for (int i = 0; i < written_count; i++) {
		struct row *r = written[i];
		while (aborts && r->own && r->own->inside >= inner)
			r->own = r->own->older;
		for (struct version *v = r->own; v && !aborts; v = v->older)
			if (v->inside == inner) v->inside = parent;
	}
	for (struct lock *l = locks; l && !aborts; l = l->older)
		if (l->inside == inner) l->inside = parent;
	if (aborts) give_up_locks(inner);
	if (aborts) moments_forget(GetCurrentTransactionNestLevel());
}

void transactions_init(void)
{
	transaction = 1;
	RegisterXactCallback(at_end, NULL);
	RegisterSubXactCallback(at_inner_end, NULL);
}
