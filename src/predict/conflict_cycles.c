#include "predict/conflict_cycles.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"

/* "If the cycle is at `from`, it goes on to `to`", or to another one of those
 * that are given for `from`. Variables. */
struct hop {
	int from, to;
};

/* The first variables of each kind. Keys count as places of observed.writers:
 * the writers of a key lie together there, in the serial order. */
struct cycles {
	struct proposal *p;
	const struct observed_history *o;
	const struct divergent_copies *c;
	int kept;      /* by transaction: it is kept, and on the cycle */
	int writer;    /* by place: that writer or a later one is */
	int copied;    /* by place: a copy of that writer or a later one, which
	                * writes the key */
	int copied_up; /* of that or an earlier one */
	int blind;     /* as `copied`, of those who do not read the key */
	int copy;      /* by copy: it is on the cycle */
	int copies;    /* by copy: it or one that keeps more of the
	                * transaction */
	int fixed;     /* by copy: what is fixed of it conflicts with something
	                * behind it */
	int answer;    /* by option: it is taken, and the cycle leaves the copy
	                * by it */
	int source;    /* by option: and enters by it */
	int end;
	struct hop *hops;
	size_t count, capacity;
};

/* 0 stands for a node that there is not. */
static void hop(struct cycles *x, int from, int to)
{
	if (!to) return;
	assert(from >= x->kept && from < x->end);
	VEC_RESERVE(x->hops, x->count, x->capacity);
	x->hops[x->count++] = (struct hop){ from, to };
}

static void demand(struct cycles *x, int node, int literal)
{
	proposal_add(x->p, -node);
	proposal_add(x->p, literal);
	proposal_add(x->p, 0);
}

static int take_variables(struct cycles *x, size_t count)
{
	int first = x->p->variables + 1;
	for (size_t i = 0; i < count; i++) proposal_variable(x->p);
	return first;
}

/* ---- nodes ---- */

/* The place of a writer of the key. */
static uint32_t place_of(const struct cycles *x, uint32_t key, uint32_t w)
{
	const struct observed_history *o = x->o;
	uint32_t low = o->writer_first[key], high = o->writer_first[key + 1];
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (o->rank[o->writers[middle]] < o->rank[w])
			low = middle + 1;
		else
			high = middle;
	}
	assert(o->writers[low] == w);
	return low;
}

static int at_place(const struct cycles *x, int first, uint32_t key,
                    uint32_t place)
{
	return place >= x->o->writer_first[key] &&
	                       place < x->o->writer_first[key + 1]
	               ? first + (int)place
	               : 0;
}

/* The writers of the key behind w. */
static int writers_behind(const struct cycles *x, uint32_t key, uint32_t w)
{
	uint32_t place = w ? place_of(x, key, w) + 1 : x->o->writer_first[key];
	return at_place(x, x->writer, key, place);
}

/* Whoever reads this version of the key, t or a copy of it, conflicts with who
 * writes the next one, but for t itself: kept ones, and copies. */
static void hop_to_writers(struct cycles *x, int from, uint32_t t, uint32_t key,
                           uint32_t version)
{
	hop(x, from, writers_behind(x, key, version));
	if (!observed_writes(x->o, t, key)) {
		hop(x, from, x->copied + (int)x->o->writer_first[key]);
		return;
	}
	uint32_t place = place_of(x, key, t);
	hop(x, from, at_place(x, x->copied, key, place + 1));
	hop(x, from, at_place(x, x->copied_up, key, place - 1));
}

/* Any copy of t that has the event, and has not to answer it anew. */
static int copies_with(const struct cycles *x, uint32_t t, uint32_t event)
{
	const struct divergent_copies *c = x->c;
	bool read = x->o->events[event].kind == EVENT_READ;
	for (uint32_t i = c->first_copy[t]; i < c->first_copy[t + 1]; i++)
		if (c->copies[i].end > event &&
		    !(read && copy_frees(c, &c->copies[i], event)))
			return x->copies + (int)i;
	return 0;
}

static int any_copy(const struct cycles *x, uint32_t t)
{
	const struct divergent_copies *c = x->c;
	return c->first_copy[t] < c->first_copy[t + 1]
	               ? x->copies + (int)c->first_copy[t]
	               : 0;
}

/* ---- hops ---- */

/* Of t and of what its copies have as it was. */
static void add_event(struct cycles *x, uint32_t t, uint32_t event)
{
	const struct observed_history *o = x->o;
	const struct observed_event *e = &o->events[event];
	int kept = x->kept + (int)t, copies = copies_with(x, t, event);
	int fixed = copies ? copies - x->copies + x->fixed : 0;
	bool writes = observed_writes(o, t, e->key);
	hop(x, kept, x->copied + (int)o->writer_first[e->key]);
	if (e->kind == EVENT_WRITE) {
		uint32_t place = place_of(x, e->key, t);
		hop(x, kept, at_place(x, x->writer, e->key, place + 1));
		if (fixed)
			hop(x, fixed, at_place(x, x->blind, e->key, place + 1));
		return;
	}
	if (e->from) {
		hop(x, x->kept + (int)e->from, kept);
		hop(x, x->kept + (int)e->from, copies);
	}
	if (!writes) hop(x, kept, writers_behind(x, e->key, e->from));
	if (fixed) hop_to_writers(x, fixed, t, e->key, e->from);
}

static void add_transaction(struct cycles *x, uint32_t t)
{
	const struct observed_history *o = x->o;
	demand(x, x->kept + (int)t, -literal_out(t));
	for (uint32_t i = o->need_first[t]; i < o->need_first[t + 1]; i++) {
		int need = x->kept + (int)o->needs[i];
		hop(x, need, x->kept + (int)t);
		hop(x, need, any_copy(x, t));
	}
	for (uint32_t i = o->first[t]; i < o->first[t + 1]; i++)
		add_event(x, t, i);
}

/* Of a writer of the key: where it first accesses it. */
static uint32_t first_event(const struct cycles *x, uint32_t key, uint32_t t)
{
	uint32_t i = x->o->first[t];
	while (x->o->events[i].key != key) i++;
	assert(i < x->o->first[t + 1]);
	return i;
}

static uint32_t write_event(const struct cycles *x, uint32_t key, uint32_t t)
{
	uint32_t i = first_event(x, key, t);
	while (x->o->events[i].key != key ||
	       x->o->events[i].kind != EVENT_WRITE)
		i++;
	assert(i < x->o->first[t + 1]);
	return i;
}

static void add_writers(struct cycles *x, uint32_t key)
{
	const struct observed_history *o = x->o;
	for (uint32_t i = o->writer_first[key]; i < o->writer_first[key + 1];
	     i++) {
		uint32_t t = o->writers[i], write = write_event(x, key, t);
		int copies = copies_with(x, t, write), at = (int)i;
		hop(x, x->writer + at, x->kept + (int)t);
		hop(x, x->writer + at, at_place(x, x->writer, key, i + 1));
		hop(x, x->copied + at, copies);
		hop(x, x->copied + at, at_place(x, x->copied, key, i + 1));
		hop(x, x->copied_up + at, copies);
		hop(x, x->copied_up + at,
		    at_place(x, x->copied_up, key, i - 1));
		if (first_event(x, key, t) == write)
			hop(x, x->blind + at, copies);
		hop(x, x->blind + at, at_place(x, x->blind, key, i + 1));
	}
}

static void add_answers(struct cycles *x, const struct free_read *r)
{
	uint32_t t = x->c->copies[r->copy].transaction;
	uint32_t key = x->o->events[r->event].key;
	for (uint32_t a = r->first; a < r[1].first; a++) {
		uint32_t w = x->c->options[a].writer;
		int answer = x->answer + (int)a, source = x->source + (int)a;
		demand(x, answer, literal_option(x->p, a));
		hop(x, x->copy + (int)r->copy, answer);
		if (!r->exclusive) hop_to_writers(x, answer, t, key, w);
		demand(x, source, literal_option(x->p, a));
		hop(x, source, x->copy + (int)r->copy);
		if (w) hop(x, x->kept + (int)w, source);
	}
}

static void add_copy(struct cycles *x, uint32_t copy)
{
	const struct copy *y = &x->c->copies[copy];
	uint32_t t = y->transaction;
	int at = (int)copy;
	demand(x, x->copy + at, literal_copy(x->p, copy));
	hop(x, x->copy + at, x->fixed + at);
	if (copy > x->c->first_copy[t])
		hop(x, x->fixed + at, x->fixed + at - 1);
	hop(x, x->copies + at, x->copy + at);
	if (copy + 1 < x->c->first_copy[t + 1])
		hop(x, x->copies + at, x->copies + at + 1);
	for (uint32_t r = y->first; r < y[1].first; r++)
		add_answers(x, &x->c->reads[r]);
}

/* ---- clauses ---- */

static int compare_hops(const void *a, const void *b)
{
	const struct hop *x = a, *y = b;
	if (x->from != y->from) return x->from < y->from ? -1 : 1;
	return x->to < y->to ? -1 : x->to > y->to;
}

static void add_clauses(struct cycles *x)
{
	size_t next = 0;
	qsort(x->hops, x->count, sizeof *x->hops, compare_hops);
	for (int node = x->kept; node < x->end; node++) {
		proposal_add(x->p, -node);
		for (int last = 0;
		     next < x->count && x->hops[next].from == node; next++) {
			if (x->hops[next].to == last) continue;
			last = x->hops[next].to;
			proposal_add(x->p, last);
		}
		proposal_add(x->p, 0);
	}
	assert(next == x->count);
}

void conflict_cycles_demand(struct proposal *p)
{
	const struct observed_history *o = p->o;
	const struct divergent_copies *c = p->c;
	struct cycles x = { .p = p, .o = o, .c = c };
	uint32_t places = o->writer_first[o->key_count];
	assert(o->serializable);
	if (!c->count) return;
	x.kept = take_variables(&x, o->n);
	x.writer = take_variables(&x, places);
	x.copied = take_variables(&x, places);
	x.copied_up = take_variables(&x, places);
	x.blind = take_variables(&x, places);
	x.copy = take_variables(&x, c->count);
	x.copies = take_variables(&x, c->count);
	x.fixed = take_variables(&x, c->count);
	x.answer = take_variables(&x, c->option_count);
	x.source = take_variables(&x, c->option_count);
	x.end = p->variables + 1;
	for (uint32_t t = 1; t < o->n; t++) add_transaction(&x, t);
	for (uint32_t k = 0; k < o->key_count; k++) add_writers(&x, k);
	for (size_t i = 0; i < c->count; i++) add_copy(&x, (uint32_t)i);
	add_clauses(&x);
	for (size_t i = 0; i < c->count; i++) proposal_add(p, x.copy + (int)i);
	proposal_add(p, 0);
	free(x.hops);
}
