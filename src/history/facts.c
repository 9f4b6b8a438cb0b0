#include "history/facts.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "history/history.h"
#include "history/trace.h"

static struct facts *facts_new(uint32_t transactions, uint32_t keys,
                               uint32_t sessions)
{
	assert(transactions >= 1);
	struct facts *f = mem_take0(1, sizeof *f);
	f->n = transactions;
	f->key_count = keys;
	f->session_count = sessions;
	f->after_all = UINT32_MAX;
	f->session_first =
		mem_take0((size_t)sessions + 1, sizeof *f->session_first);
	f->session_of = mem_take0(f->n, sizeof *f->session_of);
	f->session_of[HISTORY_INIT] = UINT32_MAX;
	f->read_first = mem_take0((size_t)f->n + 1, sizeof *f->read_first);
	f->write_first = mem_take0((size_t)f->n + 1, sizeof *f->write_first);
	f->lock_first = mem_take0((size_t)f->n + 1, sizeof *f->lock_first);
	f->session_first[sessions] = f->n;
	return f;
}

void facts_clear(struct facts *f)
{
	free(f->session_first);
	free(f->session_of);
	free(f->read_first);
	free(f->reads);
	free(f->write_first);
	free(f->writes);
	free(f->lock_first);
	free(f->locks);
	free(f->writer_first);
	free(f->writers);
	free(f->known);
	free(f->order);
	free(f->rank);
	free(f->owns);
	*f = (struct facts){ 0 };
}

void facts_free(struct facts *f)
{
	if (f) facts_clear(f);
	free(f);
}

static void take_own(struct facts *f, uint32_t t, own_level own)
{
	if (!own) return;
	if (!f->owns) f->owns = mem_take0(f->n, sizeof *f->owns);
	f->owns[t] = own;
}

static void take_session(struct facts *f, uint32_t s, uint32_t first,
                         uint32_t count, bool after_all)
{
	assert(first + count <= f->n);
	assert(!after_all || f->after_all == UINT32_MAX);
	f->session_first[s] = first;
	if (after_all) f->after_all = s;
	for (uint32_t t = first; t < first + count; t++) f->session_of[t] = s;
}

/* Room for what may be as much. */
static void take_arrays(struct facts *f, size_t accesses)
{
	assert(accesses < UINT32_MAX);
	size_t room = accesses ? accesses : 1;
	f->locks = mem_take0(room, sizeof *f->locks);
	f->reads = mem_take0(room, sizeof *f->reads);
	f->writes = mem_take0(room, sizeof *f->writes);
}

/* ---- transaction by transaction, access by access ---- */

static void begin_transaction(struct facts *f, uint32_t t, own_level own)
{
	assert(t && t < f->n);
	take_own(f, t, own);
	f->read_first[t + 1] = f->read_first[t];
	f->write_first[t + 1] = f->write_first[t];
	f->lock_first[t + 1] = f->lock_first[t];
}

static void add_read(struct facts *f, uint32_t t, uint32_t key, uint32_t from,
                     uint32_t statement, enum strength strength)
{
	assert(from < f->n && key < f->key_count);
	f->reads[f->read_first[t + 1]++] =
		(struct facts_read){ key, from, statement, strength };
}

static void add_write(struct facts *f, uint32_t t, uint32_t key)
{
	assert(key < f->key_count);
	f->writes[f->write_first[t + 1]++] = key;
}

static void add_lock(struct facts *f, uint32_t t, uint32_t key,
                     uint32_t statement, enum strength strength, bool reads_own)
{
	assert(key < f->key_count);
	f->locks[f->lock_first[t + 1]++] =
		(struct facts_lock){ key, statement, strength, reads_own };
}

static void take_known(struct facts *f, const struct history_known *known,
                       uint32_t count)
{
	f->known = mem_take0((size_t)count + 1, sizeof *f->known);
	f->known_count = count;
	if (count) memcpy(f->known, known, count * sizeof *known);
	for (uint32_t i = 0; i < count; i++)
		assert(known[i].from < f->n && known[i].to < f->n);
}

void facts_list_writers(struct facts *f)
{
	uint32_t keys = f->key_count, total = f->write_first[f->n];
	uint32_t *next = mem_take0((size_t)keys + 1, sizeof *next);
	f->writer_first = mem_take0((size_t)keys + 1, sizeof *f->writer_first);
	f->writers = mem_take((total + (size_t)1) * sizeof *f->writers);
	for (uint32_t i = 0; i < total; i++)
		f->writer_first[f->writes[i] + 1]++;
	for (uint32_t k = 0; k < keys; k++) {
		f->writer_first[k + 1] += f->writer_first[k];
		next[k] = f->writer_first[k];
	}
	for (uint32_t t = 1; t < f->n; t++)
		for (uint32_t i = f->write_first[t]; i < f->write_first[t + 1];
		     i++)
			f->writers[next[f->writes[i]]++] = t;
	free(next);
}

/* The keys of each transaction are there in any order: sorts them by turning
 * the relation around twice, which gives the writers of each key too. */
static void sort_writes(struct facts *f)
{
	uint32_t *next = mem_take(((size_t)f->n + 1) * sizeof *next);
	facts_list_writers(f);
	memcpy(next, f->write_first, ((size_t)f->n + 1) * sizeof *next);
	for (uint32_t k = 0; k < f->key_count; k++)
		for (uint32_t i = f->writer_first[k];
		     i < f->writer_first[k + 1]; i++)
			f->writes[next[f->writers[i]]++] = k;
	free(next);
}

/* ---- the topological order ---- */

/* Sessions advance in turn, a transaction each time. One whose next
 * transaction reads from one that is not placed yet waits for that; so every
 * read is looked at once, and at most once more after a wait. */
struct advance {
	struct facts *f;
	uint32_t *next;    /* by session: its next transaction */
	uint32_t *read;    /* by session: the first read not looked at */
	uint32_t *link;    /* by session: the next one that waits, or NONE */
	uint32_t *waiting; /* by transaction: a session that waits for it */
	uint32_t *queue;   /* sessions to advance, a ring */
	uint32_t head, queued;
	uint32_t placed, unfinished; /* unfinished: after_all not counted */
};

enum { NONE = UINT32_MAX };

static void enqueue(struct advance *a, uint32_t s)
{
	assert(a->queued < a->f->session_count);
	uint64_t at = (uint64_t)a->head + a->queued++;
	a->queue[at % a->f->session_count] = s;
}

static uint32_t dequeue(struct advance *a)
{
	assert(a->queued);
	uint32_t s = a->queue[a->head];
	a->head = a->head + 1 == a->f->session_count ? 0 : a->head + 1;
	a->queued--;
	return s;
}

static void place(struct advance *a, uint32_t t)
{
	assert(t < a->f->n && a->placed < a->f->n);
	a->f->order[a->placed] = t;
	a->f->rank[t] = a->placed++;
	uint32_t s = a->waiting[t];
	while (s != NONE) {
		uint32_t other = a->link[s];
		enqueue(a, s);
		s = other;
	}
	a->waiting[t] = NONE;
}

/* True if session s now waits for the writer of a read of its next one. */
static bool must_wait(struct advance *a, uint32_t s)
{
	const struct facts *f = a->f;
	uint32_t end = f->read_first[a->next[s] + 1];
	for (uint32_t *i = &a->read[s]; *i < end; ++*i) {
		uint32_t from = f->reads[*i].from;
		if (f->rank[from] != NONE) continue;
		a->link[s] = a->waiting[from];
		a->waiting[from] = s;
		return true;
	}
	return false;
}

static void finish_session(struct advance *a, uint32_t s)
{
	if (s == a->f->after_all || --a->unfinished) return;
	if (a->f->after_all != NONE) enqueue(a, a->f->after_all);
}

static void advance_session(struct advance *a, uint32_t s)
{
	uint32_t t = a->next[s];
	if (t == a->f->session_first[s + 1]) {
		finish_session(a, s);
		return;
	}
	if (must_wait(a, s)) return;
	a->next[s]++;
	a->read[s] = a->f->read_first[t + 1];
	place(a, t);
	enqueue(a, s);
}

static void advance_all(struct advance *a)
{
	const struct facts *f = a->f;
	uint32_t sessions = f->session_count;
	for (uint32_t t = 0; t < f->n; t++)
		a->waiting[t] = a->f->rank[t] = NONE;
	place(a, HISTORY_INIT);
	a->unfinished = sessions - (f->after_all != NONE);
	for (uint32_t s = 0; s < sessions; s++) {
		a->next[s] = f->session_first[s];
		a->read[s] = f->read_first[a->next[s]];
		if (s != f->after_all) enqueue(a, s);
	}
	if (!a->unfinished && sessions) enqueue(a, f->after_all);
	while (a->queued) advance_session(a, dequeue(a));
}

static void find_order(struct facts *f)
{
	size_t sessions = (size_t)f->session_count + 1;
	f->order = mem_take0(f->n, sizeof *f->order);
	f->rank = mem_take0(f->n, sizeof *f->rank);
	struct advance a = { .f = f,
		             .next = mem_take0(sessions, sizeof *a.next),
		             .read = mem_take0(sessions, sizeof *a.read),
		             .link = mem_take0(sessions, sizeof *a.link),
		             .queue = mem_take0(sessions, sizeof *a.queue),
		             .waiting = mem_take0(f->n, sizeof *a.waiting) };
	advance_all(&a);
	free(a.next);
	free(a.read);
	free(a.link);
	free(a.queue);
	free(a.waiting);
	if (a.placed == f->n) return;
	free(f->order);
	free(f->rank);
	f->order = f->rank = NULL;
}

/* ---- from a trace ---- */

static bool trace_reads(const struct trace_transaction *t,
                        const struct trace_op *op)
{
	return op->kind == EVENT_READ && t->status != TRACE_UNKNOWN &&
	       op->from < TRACE_NOBODY;
}

static bool trace_writes(const struct trace_transaction *t,
                         const struct trace_op *op)
{
	return op->kind == EVENT_WRITE && t->status == TRACE_COMMITTED &&
	       op->flags & TRACE_FINAL;
}

static bool trace_locks(const struct trace_transaction *t,
                        const struct trace_op *op)
{
	bool owns = op->kind == EVENT_WRITE ||
	            (op->from == TRACE_SELF && op->strength != STRENGTH_PLAIN);
	return owns && t->status != TRACE_UNKNOWN;
}

static void take_trace(struct facts *f, const struct trace *t)
{
	for (uint32_t i = 1; i < t->transaction_count; i++) {
		const struct trace_transaction *w = &t->transactions[i];
		uint32_t statement = 0;
		begin_transaction(f, i, w->own);
		for (uint32_t k = 0; k < w->op_count; k++) {
			const struct trace_op *op = &t->ops[w->first_op + k];
			statement += !op->joined;
			if (trace_reads(w, op))
				add_read(f, i, op->key, op->from, statement,
				         op->strength);
			if (trace_writes(w, op)) add_write(f, i, op->key);
			if (trace_locks(w, op))
				add_lock(f, i, op->key, statement,
				         trace_strength(op),
				         op->kind == EVENT_READ);
		}
	}
}

struct facts *facts_of_trace(const struct trace *t)
{
	struct facts *f =
		facts_new(t->transaction_count, t->key_count, t->session_count);
	for (uint32_t s = 0; s < t->session_count; s++)
		take_session(f, s, t->sessions[s].first, t->sessions[s].count,
		             t->sessions[s].after_all);
	take_arrays(f, t->op_count);
	take_trace(f, t);
	f->ssi = t->ssi;
	take_known(f, t->known, t->known_count);
	sort_writes(f);
	find_order(f);
	return f;
}

/* ---- from a history ---- */

/* Reads from a transaction that aborted are no reads (but an anomaly). */
static bool history_reads(const struct history *h, const struct event *e)
{
	return e->kind == EVENT_READ && e->from != HISTORY_SELF &&
	       !h->transactions[e->from].aborted;
}

static bool history_locks(const struct event *e)
{
	return e->kind == EVENT_WRITE ||
	       (e->from == HISTORY_SELF && e->strength != STRENGTH_PLAIN);
}

static void take_history(struct facts *f, const struct history *h)
{
	uint32_t *writer = mem_take0((size_t)h->key_count + 1, sizeof *writer);
	for (uint32_t t = 1; t < h->transaction_count; t++) {
		const struct transaction *w = &h->transactions[t];
		uint32_t statement = 0;
		begin_transaction(f, t, w->own);
		for (uint32_t i = 0; i < w->event_count; i++) {
			const struct event *e = &w->events[i];
			statement += !e->joined;
			if (history_reads(h, e))
				add_read(f, t, e->key, e->from, statement,
				         e->strength);
			if (history_locks(e))
				add_lock(f, t, e->key, statement,
				         event_strength(e),
				         e->kind == EVENT_READ);
			if (e->kind != EVENT_WRITE || w->aborted ||
			    writer[e->key] == t)
				continue;
			writer[e->key] = t;
			add_write(f, t, e->key);
		}
	}
	free(writer);
}

struct facts *facts_of_history(const struct history *h)
{
	struct facts *f =
		facts_new(h->transaction_count, h->key_count, h->session_count);
	size_t events = 0;
	for (uint32_t s = 0; s < h->session_count; s++)
		take_session(f, s, h->sessions[s].first, h->sessions[s].count,
		             h->sessions[s].after_all);
	for (uint32_t t = 1; t < h->transaction_count; t++)
		events += h->transactions[t].event_count;
	take_arrays(f, events);
	take_history(f, h);
	f->ssi = h->ssi;
	take_known(f, h->known, h->known_count);
	sort_writes(f);
	find_order(f);
	return f;
}

uint32_t facts_write(const struct facts *f, uint32_t t, uint32_t key)
{
	assert(t < f->n && key < f->key_count);
	uint32_t low = f->write_first[t], high = f->write_first[t + 1];
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (f->writes[middle] < key)
			low = middle + 1;
		else
			high = middle;
	}
	bool found = low < f->write_first[t + 1] && f->writes[low] == key;
	return found ? low : UINT32_MAX;
}

bool facts_writes(const struct facts *f, uint32_t t, uint32_t key)
{
	return t == HISTORY_INIT || facts_write(f, t, key) != UINT32_MAX;
}
