/* Statements that have snapshots of their own, in the form by pairs.
 *
 * Such a transaction has a *cut* for each moment at which it reads in some run:
 * which slots commit before it, of their order a beginning. A read takes the
 * newest version before its cut. Cuts of one slot are in the order of their
 * moments, and before its commit. Those of different slots need no order among
 * each other, but where a lock is given up: that happens at a cut, too, and who
 * waits for it may go on at another one.
 *
 * What two slots hold, for locks that exclude each other (axioms/points.h):
 *
 *	end(a) < from(b)  or  end(b) < from(a)
 *
 * where a transaction of one snapshot has what it writes from its commit on, as
 * it has in sight all that write the same before;
 * and, if b is a write and a locks what it reads from w:
 *
 *	b commits before w  or  end(a) < from(b)
 */
#include <stdlib.h>

#include "base/memory.h"
#include "solve/pairs_inside.h"

/* ---- cuts ---- */

/* What is before what is before the cut. */
static void see_before(struct pairs *o, const struct cut *k, uint32_t a,
                       uint32_t b)
{
	CLAUSE(o->clauses, -before(o, a, b), -k->sees[b], k->sees[a]);
}

/* The slot, the next one, and the cut. */
static void meet(struct pairs *o, struct cut *k, uint32_t slot)
{
	struct clauses *c = o->clauses;
	int seen = before(o, slot, k->slot);
	if (slot != k->slot && !encoding_session_order(o->e, slot, k->slot)) {
		seen = clauses_variable(c);
		CLAUSE(c, -seen, before(o, slot, k->slot));
	}
	assert(k->count == slot);
	VEC_RESERVE(k->sees, k->count, k->capacity);
	k->sees[k->count++] = seen;
	for (uint32_t u = 0; u < slot; u++) {
		see_before(o, k, u, slot);
		see_before(o, k, slot, u);
	}
}

/* What is before the first cut is before the second. */
static void follow(struct pairs *o, uint32_t first, uint32_t second)
{
	const struct cut *a = &o->cuts[first], *b = &o->cuts[second];
	for (uint32_t s = 0; s < a->count; s++)
		CLAUSE(o->clauses, -a->sees[s], b->sees[s]);
}

static uint32_t new_cut(struct pairs *o, uint32_t slot, struct run_moment at,
                        uint32_t next)
{
	VEC_RESERVE(o->cuts, o->cut_count, o->cut_capacity);
	struct cut *k = &o->cuts[o->cut_count];
	*k = (struct cut){
		.slot = slot, .at = at, .next = next, .rank = NO_CUT
	};
	for (uint32_t s = 0; s < o->slot_count; s++) meet(o, k, s);
	return o->cut_count++;
}

uint32_t cut_of(struct pairs *o, uint32_t slot, struct run_moment at)
{
	uint32_t last = NO_CUT, next = o->slots[slot].first_cut;
	while (next != NO_CUT && run_moment_before(o->cuts[next].at, at)) {
		last = next;
		next = o->cuts[next].next;
	}
	if (next != NO_CUT && !run_moment_before(at, o->cuts[next].at))
		return next;
	uint32_t k = new_cut(o, slot, at, next);
	if (next != NO_CUT) follow(o, k, next);
	if (last == NO_CUT) {
		o->slots[slot].first_cut = k;
	} else {
		o->cuts[last].next = k;
		follow(o, last, k);
	}
	return k;
}

/* ---- cuts that are compared ---- */

static int cut_before(const struct pairs *o, uint32_t a, uint32_t b)
{
	const struct cut *x = &o->cuts[a], *y = &o->cuts[b];
	assert(a != b && x->rank != NO_CUT && y->rank != NO_CUT);
	return x->rank < y->rank ? y->after[x->rank] : -x->after[y->rank];
}

/* The order of cuts a and b, as to the slot. */
static void agree(struct pairs *o, uint32_t a, uint32_t b, uint32_t slot)
{
	int first = cut_before(o, a, b), x = cut_sees(o, a, slot);
	int y = cut_sees(o, b, slot);
	CLAUSE(o->clauses, -first, -x, y);
	CLAUSE(o->clauses, first, -y, x);
}

static void rank(struct pairs *o, uint32_t cut)
{
	struct clauses *c = o->clauses;
	struct cut *k = &o->cuts[cut];
	if (k->rank != NO_CUT) return;
	VEC_RESERVE(o->ranked, o->rank_count, o->rank_capacity);
	k->rank = o->rank_count;
	k->after = mem_take((k->rank + 1) * sizeof *k->after);
	o->ranked[o->rank_count++] = cut;
	for (uint32_t i = 0; i < k->rank; i++) {
		const struct cut *x = &o->cuts[o->ranked[i]];
		if (x->slot != k->slot)
			k->after[i] = clauses_variable(c);
		else
			k->after[i] =
				run_moment_before(x->at, k->at) ? YES : NO;
		for (uint32_t s = 0; s < k->count; s++)
			agree(o, o->ranked[i], cut, s);
	}
	for (uint32_t i = 0; i < k->rank; i++)
		for (uint32_t j = 0; j < i; j++) {
			int between = cut_before(o, o->ranked[i], o->ranked[j]);
			CLAUSE(c, -between, -k->after[j], k->after[i]);
			CLAUSE(c, between, -k->after[i], k->after[j]);
		}
}

void cuts_meet_slot(struct pairs *o, uint32_t slot)
{
	for (uint32_t i = 0; i < o->cut_count; i++) meet(o, &o->cuts[i], slot);
	for (uint32_t i = 0; i < o->cut_count; i++) {
		uint32_t next = o->cuts[i].next;
		if (next != NO_CUT)
			CLAUSE(o->clauses, -cut_sees(o, i, slot),
			       cut_sees(o, next, slot));
	}
	for (uint32_t i = 0; i < o->rank_count; i++)
		for (uint32_t j = 0; j < i; j++)
			agree(o, o->ranked[j], o->ranked[i], slot);
}

/* ---- locks ---- */

/* a's end is before the slot's commit, or its cut. */
static int ends_before(struct pairs *o, const struct encoded_hold *a,
                       uint32_t slot, uint32_t from)
{
	if (a->end == NO_CUT)
		return from == NO_CUT ? before(o, a->slot, slot)
		                      : cut_sees(o, from, a->slot);
	if (from == NO_CUT) return -cut_sees(o, a->end, slot);
	rank(o, a->end);
	rank(o, from);
	return cut_before(o, a->end, from);
}

/* b commits before `writer`, of whom `reads` says that a's value is its; NO:
 * before nobody. */
static void keep_value(struct pairs *o, const struct encoded_hold *a,
                       const struct encoded_hold *b, int reads, int earlier)
{
	bool checks = a->strength == STRENGTH_CHECK;
	CLAUSE(o->clauses, -a->here, -b->here, -reads, earlier,
	       ends_before(o, a, b->slot, checks ? NO_CUT : b->from));
}

static bool keeps_value(const struct pairs *o, const struct encoded_hold *a,
                        const struct encoded_hold *b)
{
	return a->place != UINT32_MAX && b->commits && a->slot != b->slot &&
	       (has_cuts(o, a->slot) || has_cuts(o, b->slot)) &&
	       strength_meets(a->strength, b->strength) &&
	       (a->strength != STRENGTH_CHECK || !has_cuts(o, a->slot));
}

static void keep_from(struct pairs *o, const struct encoded_hold *a,
                      const struct encoded_hold *b, uint32_t writer)
{
	const struct place *p = &o->places[a->place];
	uint32_t w = o->keys[p->key].writers[writer].slot;
	if (p->reads[writer] && w != b->slot)
		keep_value(o, a, b, p->reads[writer], before(o, b->slot, w));
}

static void keep(struct pairs *o, const struct encoded_hold *a,
                 const struct encoded_hold *b)
{
	if (!keeps_value(o, a, b)) return;
	keep_value(o, a, b, o->places[a->place].initial, NO);
	for (uint32_t w = 0; w < o->places[a->place].read_count; w++)
		keep_from(o, a, b, w);
}

static void part(struct pairs *o, const struct encoded_hold *a,
                 const struct encoded_hold *b)
{
	if (a->slot == b->slot ||
	    (!has_cuts(o, a->slot) && !has_cuts(o, b->slot)))
		return;
	if (strengths_exclude(a->strength, b->strength))
		CLAUSE(o->clauses, -a->here, -b->here,
		       ends_before(o, a, b->slot, b->from),
		       ends_before(o, b, a->slot, a->from));
	keep(o, a, b);
	keep(o, b, a);
}

static bool is_same(const struct encoded_hold *a, const struct encoded_hold *b)
{
	return a->slot == b->slot && a->strength == b->strength &&
	       a->writes == b->writes && a->commits == b->commits &&
	       a->place == b->place && a->from == b->from && a->end == b->end;
}

/* A literal that says that it is there. */
static int hold(struct pairs *o, struct encoded_key *k, struct encoded_hold h)
{
	for (uint32_t i = 0; i < k->hold_count; i++)
		if (is_same(&k->holds[i], &h)) return k->holds[i].here;
	h.here = clauses_variable(o->clauses);
	for (uint32_t i = 0; i < k->hold_count; i++) part(o, &h, &k->holds[i]);
	VEC_RESERVE(k->holds, k->hold_count, k->hold_capacity);
	k->holds[k->hold_count++] = h;
	return h.here;
}

static uint32_t cut_at(struct pairs *o, uint32_t slot, struct run_moment at)
{
	return at.statement == UINT32_MAX ? NO_CUT : cut_of(o, slot, at);
}

void cuts_hold(struct pairs *o, const struct run_node *n,
               const struct run_end_of *t)
{
	uint32_t slot = o->e->slot_of[n->session][t->index];
	for (const struct run_hold *h = t->holds; h; h = h->older) {
		struct encoded_hold x = {
			.slot = slot,
			.strength = h->strength,
			.writes = h->writes,
			.commits = h->writes && !t->aborted,
			.place = h->read ? o->nodes[h->read->number].place
			                 : UINT32_MAX,
			.from = cut_at(o, slot, h->from),
			.end = cut_at(o, slot, h->end)
		};
		CLAUSE(o->clauses, -at(o, n), hold(o, pairs_key(o, h->key), x));
	}
}

void cuts_meet_writer(struct pairs *o, uint32_t place, uint32_t writer)
{
	const struct encoded_key *k = &o->keys[o->places[place].key];
	for (uint32_t i = 0; i < k->hold_count; i++) {
		const struct encoded_hold *a = &k->holds[i];
		if (a->place != place) continue;
		for (uint32_t j = 0; j < k->hold_count; j++)
			if (keeps_value(o, a, &k->holds[j]))
				keep_from(o, a, &k->holds[j], writer);
	}
}

void cuts_free(struct pairs *o)
{
	for (uint32_t i = 0; i < o->cut_count; i++) {
		free(o->cuts[i].sees);
		free(o->cuts[i].after);
	}
	free(o->cuts);
	free(o->ranked);
}
