/* An order of the points that may have been that of time.
 *
 * Where a writer comes between a version and one of its readers, a guess along
 * the order fails; so writers of a key wait for the readers of its last
 * version, and under si for other writers of it that have begun. Those that
 * wait for each other go on by their time.
 */
#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "check/strong.h"

/* Points, the earliest first. */
struct heap {
	uint32_t *items;
	uint32_t count;
	const double *hours; /* by transaction */
	unsigned two;
};

/* The weight of a lock that is not shared: more than of all that are. */
enum { ALONE = 1 << 30 };

struct scheduling {
	struct strong *s;
	struct heap ready, waiting; /* waiting: also some that no longer do */
	bool *queued;               /* by point: is in that heap */
	uint32_t end;               /* points that are placed */
	uint32_t *version;          /* by key: its last writer */
	uint32_t *unread;           /* by key: reads of that version to come */
	uint32_t *begun;         /* by key: its writers that have begun and not
	                          * committed; or locks, by their weights */
	uint32_t *first_waiting; /* by key, points; or 0 */
	uint32_t *next_waiting;  /* by point */
	bool *waits;             /* by point */
	bool forced;             /* one went on before its time */
};

/* ---- the earliest first ---- */

/* When a transaction ran, from 0 to 1, if its session ran all the time. */
static double hour_of(const struct facts *f, uint32_t t)
{
	uint32_t session = f->session_of[t];
	uint32_t first = f->session_first[session];
	uint32_t count = f->session_first[session + 1] - first;
	return (t - first + 0.5) / count;
}

static bool is_earlier(const struct heap *h, uint32_t p, uint32_t q)
{
	double a = h->hours[p >> h->two], b = h->hours[q >> h->two];
	return a < b || (a == b && p < q);
}

static void heap_push(struct heap *h, uint32_t p)
{
	uint32_t i = h->count++;
	for (; i && is_earlier(h, p, h->items[(i - 1) / 2]); i = (i - 1) / 2)
		h->items[i] = h->items[(i - 1) / 2];
	h->items[i] = p;
}

static uint32_t heap_pop(struct heap *h)
{
	assert(h->count);
	uint32_t top = h->items[0], last = h->items[--h->count], i = 0;
	for (uint32_t child; (child = 2 * i + 1) < h->count; i = child) {
		if (child + 1 < h->count &&
		    is_earlier(h, h->items[child + 1], h->items[child]))
			child++;
		if (!is_earlier(h, h->items[child], last)) break;
		h->items[i] = h->items[child];
	}
	h->items[i] = last;
	return top;
}

/* ---- versions and their readers ---- */

static void let_go(struct scheduling *x, uint32_t key)
{
	uint32_t p = x->first_waiting[key];
	x->first_waiting[key] = 0;
	for (; p; p = x->next_waiting[p]) {
		if (!x->waits[p]) continue; /* it went on already */
		x->waits[p] = false;
		heap_push(&x->ready, p);
	}
}

/* The reads of t were placed, or (back) are to come after all. */
static void count_reads(struct scheduling *x, uint32_t t, bool back)
{
	const struct facts *f = x->s->f;
	for (uint32_t i = f->read_first[t]; i < f->read_first[t + 1]; i++) {
		uint32_t key = f->reads[i].key;
		if (x->version[key] != f->reads[i].from) continue;
		x->unread[key] += back ? 1u : -1u;
	}
}

/* A key that is locked and would be here again, or UINT32_MAX. */
static uint32_t locked_key(const struct scheduling *x, uint32_t p)
{
	const struct strong *s = x->s;
	for (uint32_t i = s->until_first[p]; i < s->until_first[p + 1]; i++) {
		const struct strong_lock *l =
			&s->locks->items[s->until_locks[i]];
		uint32_t most = l->shared ? ALONE - 1 : l->upgrades;
		if (x->begun[l->key] > most) return l->key;
	}
	return UINT32_MAX;
}

static uint32_t weight(const struct strong_lock *l)
{
	return l->shared ? 1 : ALONE;
}

/* Takes the locks that begin before the point, and lets go those that end
 * there. */
static void place_locks(struct scheduling *x, uint32_t p)
{
	const struct strong *s = x->s;
	const struct strong_lock *l = s->locks->items;
	for (uint32_t i = s->until_first[p]; i < s->until_first[p + 1]; i++)
		x->begun[l[s->until_locks[i]].key] +=
			weight(&l[s->until_locks[i]]);
	for (uint32_t i = s->commit_first[p]; i < s->commit_first[p + 1]; i++) {
		x->begun[l[i].key] -= weight(&l[i]);
		let_go(x, l[i].key);
	}
}

/* A key for which the point has to wait, or UINT32_MAX. */
static uint32_t obstacle(struct scheduling *x, uint32_t p)
{
	const struct strong *s = x->s;
	const struct facts *f = s->f;
	uint32_t t = point_owner(s, p), found = UINT32_MAX;
	bool commits = p == point_commit(s, t);
	bool reads = commits && p == point_sight(s, t) && reads_by_order(s, t);
	bool begun = excludes_rivals(s, t);
	if (reads) count_reads(x, t, false);
	for (uint32_t i = f->write_first[t];
	     i < f->write_first[t + 1] && found == UINT32_MAX; i++) {
		uint32_t key = f->writes[i];
		if ((commits && x->unread[key]) ||
		    (s->two && s->exclusive && (commits || begun) &&
		     x->begun[key] > (commits && begun)))
			found = key;
	}
	if (reads) count_reads(x, t, true);
	if (s->locks && found == UINT32_MAX) found = locked_key(x, p);
	return found;
}

static void place_reads(struct scheduling *x, uint32_t t)
{
	const struct facts *f = x->s->f;
	if (!reads_by_order(x->s, t)) return;
	count_reads(x, t, false);
	for (uint32_t i = f->read_first[t]; i < f->read_first[t + 1]; i++)
		if (!x->unread[f->reads[i].key]) let_go(x, f->reads[i].key);
}

static void place_begin(struct scheduling *x, uint32_t t)
{
	const struct facts *f = x->s->f;
	if (x->s->locks || !excludes_rivals(x->s, t)) return;
	for (uint32_t i = f->write_first[t]; i < f->write_first[t + 1]; i++)
		x->begun[f->writes[i]]++;
}

static void place_commit(struct scheduling *x, uint32_t t)
{
	const struct strong *s = x->s;
	const struct facts *f = s->f;
	for (uint32_t i = f->write_first[t]; i < f->write_first[t + 1]; i++) {
		uint32_t key = f->writes[i];
		x->version[key] = t;
		x->unread[key] = 0;
		if (!s->locks) x->begun[key] -= excludes_rivals(s, t);
		let_go(x, key);
	}
	for (uint32_t i = s->reader_first[t]; i < s->reader_first[t + 1]; i++)
		if (reads_by_order(s, s->readers[i].reader))
			x->unread[s->readers[i].key]++;
}

/* ---- all of them ---- */

static void release(struct scheduling *x, uint32_t p)
{
	if (!--x->s->degree[p]) heap_push(&x->ready, p);
}

static void place(struct scheduling *x, uint32_t p)
{
	struct strong *s = x->s;
	uint32_t t = point_owner(s, p), next = point_next(s, p);
	s->topo_rank[p] = x->end;
	s->topo[x->end++] = p;
	if (p == point_sight(s, t)) place_reads(x, t);
	if (p == point_begin(s, t)) place_begin(x, t);
	if (p == point_commit(s, t)) place_commit(x, t);
	if (s->locks) place_locks(x, p);
	if (next != UINT32_MAX) release(x, next);
	for (uint32_t e = s->first_out[p]; e != NO_EDGE;
	     e = s->edges[e].next_out)
		release(x, s->edges[e].to);
}

static void wait_for(struct scheduling *x, uint32_t p, uint32_t key)
{
	assert(p && !x->waits[p]);
	x->waits[p] = true;
	x->next_waiting[p] = x->first_waiting[key];
	x->first_waiting[key] = p;
	if (!x->queued[p]) heap_push(&x->waiting, p);
	x->queued[p] = true;
}

/* Takes the next point, or lets one wait. */
static void step(struct scheduling *x)
{
	uint32_t p, key;
	if (x->ready.count) {
		p = heap_pop(&x->ready);
		key = obstacle(x, p);
		if (key == UINT32_MAX)
			place(x, p);
		else
			wait_for(x, p, key);
		return;
	}
	p = heap_pop(&x->waiting);
	x->queued[p] = false;
	if (!x->waits[p]) return;
	x->waits[p] = false;
	x->forced = true;
	place(x, p);
}

bool likely_order(struct strong *s)
{
	const struct facts *f = s->f;
	uint32_t first = 1u << s->two;
	size_t keys = f->key_count + (size_t)1;
	double *hours = mem_take(f->n * sizeof *hours);
	for (uint32_t t = 1; t < f->n; t++) hours[t] = hour_of(f, t);
	struct scheduling x = {
		.s = s,
		.ready = { .hours = hours, .two = s->two },
		.waiting = { .hours = hours, .two = s->two },
		.version = mem_take0(keys, sizeof *x.version),
		.unread = mem_take0(keys, sizeof *x.unread),
		.begun = mem_take0(keys, sizeof *x.begun),
		.first_waiting = mem_take0(keys, sizeof *x.first_waiting),
		.next_waiting = mem_take(s->points * sizeof(uint32_t)),
		.waits = mem_take0(s->points, sizeof *x.waits),
		.queued = mem_take0(s->points, sizeof *x.queued)
	};
	x.ready.items = mem_take(s->points * sizeof(uint32_t));
	x.waiting.items = mem_take(s->points * sizeof(uint32_t));
	reach_count_degrees(s);
	place_commit(&x, HISTORY_INIT);
	for (uint32_t p = first; p < s->points; p++)
		if (!s->degree[p]) heap_push(&x.ready, p);
	while (x.end < s->points - first) step(&x);
	free(hours);
	free(x.ready.items);
	free(x.waiting.items);
	free(x.version);
	free(x.unread);
	free(x.begun);
	free(x.first_waiting);
	free(x.next_waiting);
	free(x.waits);
	free(x.queued);
	return !x.forced;
}
