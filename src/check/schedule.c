/* Running a history: points are taken one after the other, each when all that
 * come before it by the edges are, such that every read finds the version that
 * it read. After saturation this seldom gets stuck.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "check/strong.h"
#include "history/history.h"

#define NOBODY UINT32_MAX

struct run {
	struct strong *s;
	uint32_t *degree;     /* points before it that were not taken yet */
	uint32_t *version;    /* by key: the last writer */
	/* Reads that are still to come, of the version that a transaction
	 * wrote (by place in facts.writes), and of init's (by key). */
	uint32_t *to_come, *init_to_come;
	uint32_t *own;        /* by key: reads by the transaction looked at */
	uint32_t *active;     /* si, by key: writer that began, or NOBODY */
	/* By key: points that wait until the reads of its version have come,
	 * or its active writer commits; linked through next_waiting. */
	uint32_t *waiting, *next_waiting;
	uint32_t *queue;      /* ring of points to try; each is in it once */
	uint32_t queue_first, queue_count;
	uint32_t *deferred;   /* ring of writers' begins: the later, the better */
	uint32_t deferred_first, deferred_count;
	uint32_t *order, taken;
};

static uint32_t *filled(size_t count, int byte)
{
	uint32_t *a = mem_take((count + 1) * sizeof *a);
	memset(a, byte, (count + 1) * sizeof *a);
	return a;
}

static uint32_t *reads_to_come(struct run *r, uint32_t writer, uint32_t key)
{
	const struct facts *f = r->s->f;
	if (writer == HISTORY_INIT) return &r->init_to_come[key];
	uint32_t low = f->write_first[writer];
	uint32_t high = f->write_first[writer + 1];
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;
		if (f->writes[middle] <= key)
			low = middle;
		else
			high = middle;
	}
	return &r->to_come[low];
}

static void count_reads(struct run *r)
{
	const struct facts *f = r->s->f;
	for (uint32_t i = 0; i < f->read_first[f->n]; i++)
		++*reads_to_come(r, f->reads[i].from, f->reads[i].key);
}

static void count_degrees(struct run *r)
{
	struct strong *s = r->s;
	for (uint32_t p = 1u << s->two; p < s->points; p++)
		r->degree[p] = point_previous(s, p) != UINT32_MAX;
	for (size_t i = 0; i < s->edge_count; i++)
		r->degree[s->edges[i].to]++;
}

static void run_init(struct run *r, struct strong *s, uint32_t *order)
{
	const struct facts *f = s->f;
	*r = (struct run){ .s = s, .order = order };
	r->degree = filled(s->points, 0);
	r->version = filled(f->key_count, 0);
	r->to_come = filled(f->write_first[f->n], 0);
	r->init_to_come = filled(f->key_count, 0);
	r->own = filled(f->key_count, 0);
	r->active = filled(f->key_count, 0xff);
	r->waiting = filled(f->key_count, 0xff);
	r->next_waiting = filled(s->points, 0xff);
	r->queue = filled(s->points, 0);
	r->deferred = filled(s->points, 0);
	count_reads(r);
	count_degrees(r);
	order[r->taken++] = HISTORY_INIT;
}

static void run_free(struct run *r)
{
	free(r->degree);
	free(r->version);
	free(r->to_come);
	free(r->init_to_come);
	free(r->own);
	free(r->active);
	free(r->waiting);
	free(r->next_waiting);
	free(r->queue);
	free(r->deferred);
}

static void enqueue(struct run *r, uint32_t p)
{
	size_t at = (size_t)r->queue_first + r->queue_count++;
	r->queue[at % r->s->points] = p;
}

static uint32_t dequeue(struct run *r)
{
	uint32_t p = r->queue[r->queue_first];
	r->queue_first = (r->queue_first + 1) % r->s->points;
	r->queue_count--;
	return p;
}

static void wait_for(struct run *r, uint32_t p, uint32_t key)
{
	r->next_waiting[p] = r->waiting[key];
	r->waiting[key] = p;
}

static void wake(struct run *r, uint32_t key)
{
	uint32_t p = r->waiting[key];
	r->waiting[key] = NOBODY;
	while (p != NOBODY) {
		uint32_t next = r->next_waiting[p];
		enqueue(r, p);
		p = next;
	}
}

static void count_own(struct run *r, uint32_t t, bool begin)
{
	const struct facts *f = r->s->f;
	for (uint32_t i = f->read_first[t]; i < f->read_first[t + 1]; i++)
		if (begin)
			r->own[f->reads[i].key]++;
		else
			r->own[f->reads[i].key] = 0;
}

/* A key that the transaction may not write yet, since its version is still to
 * be read by others; NOBODY if there is none. */
static uint32_t blocking_commit(struct run *r, uint32_t t)
{
	const struct facts *f = r->s->f;
	uint32_t found = NOBODY;
	if (!r->s->two) count_own(r, t, true);
	for (uint32_t i = f->write_first[t];
	     i < f->write_first[t + 1] && found == NOBODY; i++) {
		uint32_t x = f->writes[i];
		uint32_t left = *reads_to_come(r, r->version[x], x);
		if (left > r->own[x]) found = x;
	}
	if (!r->s->two) count_own(r, t, false);
	return found;
}

/* A key that it writes while another active transaction does. */
static uint32_t blocking_begin(const struct run *r, uint32_t t)
{
	const struct facts *f = r->s->f;
	if (r->s->level != LEVEL_SI) return NOBODY;
	for (uint32_t i = f->write_first[t]; i < f->write_first[t + 1]; i++)
		if (r->active[f->writes[i]] != NOBODY) return f->writes[i];
	return NOBODY;
}

/* False if a version is not what was read. */
static bool begin(struct run *r, uint32_t t)
{
	const struct facts *f = r->s->f;
	for (uint32_t i = f->read_first[t]; i < f->read_first[t + 1]; i++) {
		struct facts_read read = f->reads[i];
		if (r->version[read.key] != read.from) return false;
		if (!--*reads_to_come(r, read.from, read.key))
			wake(r, read.key);
	}
	if (r->s->level == LEVEL_SI)
		for (uint32_t i = f->write_first[t]; i < f->write_first[t + 1];
		     i++)
			r->active[f->writes[i]] = t;
	return true;
}

static void commit(struct run *r, uint32_t t)
{
	const struct facts *f = r->s->f;
	for (uint32_t i = f->write_first[t]; i < f->write_first[t + 1]; i++) {
		uint32_t x = f->writes[i];
		r->version[x] = t;
		r->active[x] = NOBODY;
		wake(r, x);
	}
	r->order[r->taken++] = t;
}

static void release(struct run *r, uint32_t p)
{
	if (!--r->degree[p]) enqueue(r, p);
}

static void release_successors(struct run *r, uint32_t p)
{
	struct strong *s = r->s;
	uint32_t next = point_next(s, p);
	if (next != UINT32_MAX) release(r, next);
	for (uint32_t e = s->first_out[p]; e != NO_EDGE;
	     e = s->edges[e].next_out)
		release(r, s->edges[e].to);
}

/* Would its commit be possible at once? */
static bool commits_at_once(struct run *r, uint32_t t)
{
	return r->degree[point_commit(r->s, t)] == 1
	       && blocking_commit(r, t) == NOBODY;
}

static bool writes(const struct run *r, uint32_t t)
{
	return r->s->f->write_first[t] < r->s->f->write_first[t + 1];
}

/* Takes the point, or puts it where it waits. False when it went wrong. */
static bool try_point(struct run *r, uint32_t p, bool deferring)
{
	struct strong *s = r->s;
	uint32_t t = point_owner(s, p), key = NOBODY;
	bool begins = p == point_begin(s, t), commits = p == point_commit(s, t);
	if (begins) key = blocking_begin(r, t);
	if (key == NOBODY && commits) key = blocking_commit(r, t);
	if (key != NOBODY) {
		wait_for(r, p, key);
		return true;
	}
	if (deferring && !commits && writes(r, t) && !commits_at_once(r, t)) {
		size_t at = (size_t)r->deferred_first + r->deferred_count++;
		r->deferred[at % s->points] = p;
		return true;
	}
	if (begins && !begin(r, t)) return false;
	if (commits) commit(r, t);
	release_successors(r, p);
	return true;
}

static bool run(struct run *r)
{
	struct strong *s = r->s;
	for (uint32_t p = 1u << s->two; p < s->points; p++)
		if (!r->degree[p]) enqueue(r, p);
	while (r->queue_count || r->deferred_count) {
		if (r->queue_count) {
			if (!try_point(r, dequeue(r), true)) return false;
			continue;
		}
		uint32_t p = r->deferred[r->deferred_first];
		r->deferred_first = (r->deferred_first + 1) % s->points;
		r->deferred_count--;
		if (!try_point(r, p, false)) return false;
	}
	return r->taken == s->f->n;
}

enum strong_answer schedule(struct strong *s, uint32_t *order)
{
	struct run r;
	run_init(&r, s, order);
	bool done = run(&r);
	run_free(&r);
	return done ? ANSWER_YES : ANSWER_OPEN;
}
