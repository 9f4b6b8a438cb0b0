#include "solve/pairs_inside.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* With room for it. */
static struct pair_node *node_of(struct pairs *o, const struct run_node *n)
{
	if (n->number >= o->node_count) {
		uint32_t count = 2 * n->number + 8;
		o->nodes = mem_grow0(o->nodes, o->node_count, count,
		                     sizeof *o->nodes);
		o->node_count = count;
	}
	return &o->nodes[n->number];
}

/* ---- orders and sights of slots ---- */

static int past(const struct pairs *o, uint32_t a, uint32_t b)
{
	return (o->past ? o->past : o->sees)[(size_t)a * o->side + b];
}

static enum sight slot_sight(const struct pairs *o, uint32_t slot)
{
	return level_sight(slot_level(o, slot));
}

static int *wider(int *old, uint32_t side, uint32_t new_side)
{
	int *m = mem_take0((size_t)new_side * new_side, sizeof *m);
	for (uint32_t a = 0; a < side; a++)
		memcpy(m + (size_t)a * new_side, old + (size_t)a * side,
		       side * sizeof *m);
	free(old);
	return m;
}

/* The literals of two slots. */
static void relate(struct pairs *o, uint32_t a, uint32_t b)
{
	struct clauses *c = o->clauses;
	int so = encoding_session_order(o->e, a, b);
	int order = so ? so : clauses_variable(c);
	o->before[(size_t)a * o->side + b] = order;
	o->before[(size_t)b * o->side + a] = -order;
	for (int i = 0; i < 2; i++) {
		uint32_t from = i ? b : a, to = i ? a : b;
		int first = before(o, from, to), s = first;
		if (!so && !level_is_serial(slot_level(o, to)) &&
		    !has_cuts(o, to)) {
			s = clauses_variable(c);
			CLAUSE(c, -s, first);
		}
		o->sees[(size_t)from * o->side + to] = s;
		if (!o->past) continue;
		o->past[(size_t)from * o->side + to] =
			so ? so * (i ? -1 : 1) : clauses_variable(c);
		CLAUSE(c, -past(o, from, to), first);
	}
}

/* What is before what is seen, or in its past, is seen. */
static void see_through(struct pairs *o, uint32_t x, uint32_t y, uint32_t z)
{
	struct clauses *c = o->clauses;
	enum sight sight = slot_sight(o, z);
	if (o->past) CLAUSE(c, -past(o, x, y), -past(o, y, z), past(o, x, z));
	if (sight < SIGHT_PAST || level_is_serial(slot_level(o, z))) return;
	int first = sight == SIGHT_PREFIX ? before(o, x, y) : past(o, x, y);
	CLAUSE(c, -first, -sees(o, y, z), sees(o, x, z));
}

static void no_circle(struct pairs *o, uint32_t x, uint32_t y, uint32_t z)
{
	CLAUSE(o->clauses, -before(o, x, y), -before(o, y, z),
	       -before(o, z, x));
	CLAUSE(o->clauses, -before(o, x, z), -before(o, z, y),
	       -before(o, y, x));
}

static void add_slot(struct pairs *o, uint32_t t)
{
	if (t == o->side) {
		uint32_t side = o->side ? 2 * o->side : 16;
		o->before = wider(o->before, o->side, side);
		o->sees = wider(o->sees, o->side, side);
		if (o->e->runs->mixed) o->past = wider(o->past, o->side, side);
		o->side = side;
	}
	VEC_RESERVE(o->slots, o->slot_count, o->slot_capacity);
	assert(o->slot_count == t);
	struct pair_slot *s = &o->slots[o->slot_count++];
	*s = (struct pair_slot){ .first_cut = NO_CUT };
	o->before[(size_t)t * o->side + t] = NO;
	o->sees[(size_t)t * o->side + t] = NO;
	if (o->past) o->past[(size_t)t * o->side + t] = NO;
	for (uint32_t u = 0; u < t; u++) relate(o, u, t);
	for (uint32_t u = 0; u < t; u++)
		for (uint32_t v = 0; v < t; v++) {
			if (u == v) continue;
			if (u < v) no_circle(o, u, v, t);
			see_through(o, u, v, t);
			see_through(o, u, t, v);
			see_through(o, t, u, v);
		}
	cuts_meet_slot(o, t);
}

/* ---- what is written ---- */

struct encoded_key *pairs_key(struct pairs *o, uint32_t key)
{
	if (key >= o->key_count) {
		uint32_t count = 2 * key + 8;
		o->keys = mem_grow0(o->keys, o->key_count, count,
		                    sizeof *o->keys);
		o->key_count = count;
	}
	return &o->keys[key];
}

static uint32_t value_number(struct encoded_key *k, struct value v)
{
	for (uint32_t i = 0; i < k->value_count; i++)
		if (value_equal(k->values[i], v)) return i;
	VEC_RESERVE(k->values, k->value_count, k->value_capacity);
	k->values[k->value_count] = v;
	return k->value_count++;
}

/* The writer leaves this value. */
static int writes_value(struct pairs *o, struct key_writer *w, uint32_t value)
{
	if (value >= w->value_capacity) {
		uint32_t room = 2 * value + 4;
		w->values = mem_grow0(w->values, w->value_capacity, room,
		                      sizeof *w->values);
		w->value_capacity = room;
	}
	if (!w->values[value]) {
		int v = w->values[value] = clauses_variable(o->clauses);
		CLAUSE(o->clauses, -v, w->writes);
		at_most_one_add(o->clauses, &w->one, v);
	}
	return w->values[value];
}

static int reads_from(const struct place *p, uint32_t writer)
{
	return writer < p->read_count ? p->reads[writer] : 0;
}

/* Behind the read of the place is the node, so the value is that of whom it
 * reads from; and what is known is not open. */
static void link_value(struct pairs *o, const struct run_node *n,
                       uint32_t writer)
{
	struct clauses *c = o->clauses;
	const struct pair_node *x = &o->nodes[n->number];
	const struct pair_node *parent = &o->nodes[n->parent->number];
	int reads = reads_from(&o->places[parent->place], writer);
	if (!reads) return;
	struct key_writer *w = &o->keys[n->parent->key].writers[writer];
	int value = writes_value(o, w, x->value);
	CLAUSE(c, -at(o, n), -reads, value);
	CLAUSE(c, -open_at(o, n->parent), -reads, -value);
}

/* ---- rc: what the transaction has read from before ---- */

static bool goes_on(const struct run_node *n)
{
	return n->parent && n->kind == RUN_READS &&
	       n->parent->index == n->index;
}

static void source_from(struct pairs *o, const struct run_node *n, int v,
                        uint32_t slot)
{
	const struct encoded_key *k = &o->keys[n->parent->key];
	const struct place *p = &o->places[o->nodes[n->parent->number].place];
	for (uint32_t w = 0; w < p->read_count; w++)
		if (k->writers[w].slot == slot && p->reads[w])
			CLAUSE(o->clauses, -at(o, n), -p->reads[w], v);
}

/* It has read from the slot before it comes to the read of the node. */
static int source(struct pairs *o, const struct run_node *n, uint32_t slot)
{
	struct pair_node *x = &o->nodes[n->number];
	if (!goes_on(n)) return NO;
	if (slot >= x->source_count) {
		uint32_t room = 2 * slot + 4;
		x->sources = mem_grow0(x->sources, x->source_count, room,
		                       sizeof *x->sources);
		x->source_count = room;
	}
	if (!x->sources[slot]) {
		int v = x->sources[slot] = clauses_variable(o->clauses);
		CLAUSE(o->clauses, -at(o, n), -source(o, n->parent, slot), v);
		source_from(o, n, v, slot);
	}
	return o->nodes[n->number].sources[slot];
}

/* Read from x at the node, none of those read from before is newer. */
static void no_older(struct pairs *o, const struct run_node *n, uint32_t y,
                     uint32_t x)
{
	const struct pair_node *node = &o->nodes[n->number];
	const struct key_writer *w = o->keys[n->key].writers;
	const struct place *p = &o->places[node->place];
	if (x == y || !reads_from(p, x) || w[y].slot == p->slot) return;
	CLAUSE(o->clauses, -at(o, n), -source(o, n, w[y].slot), -w[y].writes,
	       -p->reads[x], before(o, w[y].slot, w[x].slot));
}

static void heed_sources(struct pairs *o, const struct run_node *n,
                         uint32_t writer)
{
	const struct pair_node *node = &o->nodes[n->number];
	const struct key_writer *w = &o->keys[n->key].writers[writer];
	const struct place *p = &o->places[node->place];
	if (slot_sight(o, p->slot) != SIGHT_SOURCES) return;
	CLAUSE(o->clauses, -at(o, n), -source(o, n, w->slot), -w->writes,
	       -p->initial);
	for (uint32_t x = 0; x < p->read_count; x++) {
		no_older(o, n, writer, x);
		if (x < writer) no_older(o, n, x, writer);
	}
	for (const struct run_node *m = n->children; m; m = m->next) {
		if (m->number >= o->e->node_count || !goes_on(m)) continue;
		const struct pair_node *x = &o->nodes[m->number];
		if (w->slot < x->source_count && x->sources[w->slot])
			source_from(o, m, x->sources[w->slot], w->slot);
	}
}

/* ---- who reads from whom ---- */

/* What is in sight of the place's reader is not newer than what it reads. */
static void heed_sight(struct pairs *o, const struct place *p, uint32_t y,
                       uint32_t x)
{
	const struct key_writer *w = o->keys[p->key].writers;
	bool psi = slot_sight(o, p->slot) == SIGHT_PAST &&
	           level_excludes_rivals(slot_level(o, p->slot));
	if (x == y || !p->seen[y] || !p->reads[x]) return;
	CLAUSE(o->clauses, -p->seen[y], -p->reads[x],
	       psi ? sees(o, w[y].slot, w[x].slot)
	           : before(o, w[y].slot, w[x].slot));
}

/* ---- what reads lock ---- */

/* Who writes what the place locks, before its slot, does so before who is read
 * from. */
static void heed_lock(struct pairs *o, const struct place *p, uint32_t y,
                      uint32_t x)
{
	const struct key_writer *w = o->keys[p->key].writers;
	if (x == y || !p->locked || !p->reads[x] || w[y].slot == p->slot)
		return;
	CLAUSE(o->clauses, -p->locked, -p->reads[x], -w[y].writes,
	       before(o, w[y].slot, w[x].slot), before(o, p->slot, w[y].slot));
}

static void heed_initial_lock(struct pairs *o, const struct place *p,
                              uint32_t y)
{
	const struct key_writer *w = &o->keys[p->key].writers[y];
	if (p->locked && w->slot != p->slot)
		CLAUSE(o->clauses, -p->locked, -p->initial, -w->writes,
		       before(o, p->slot, w->slot));
}

/* If the literal is true, the place is locked. */
static void lock_place(struct pairs *o, uint32_t place, int literal)
{
	struct place *p = &o->places[place];
	if (!p->locked) {
		p->locked = clauses_variable(o->clauses);
		for (uint32_t y = 0; y < p->read_count; y++) {
			heed_initial_lock(o, p, y);
			for (uint32_t x = 0; x < p->read_count; x++)
				heed_lock(o, p, y, x);
		}
	}
	CLAUSE(o->clauses, -literal, p->locked);
}

/* The place has the slot in sight; 0: that makes no difference. */
static int in_sight(const struct pairs *o, const struct place *p, uint32_t slot)
{
	if (p->cut != NO_CUT) return cut_sees(o, p->cut, slot);
	return slot_sight(o, p->slot) >= SIGHT_DIRECT ? sees(o, slot, p->slot)
	                                              : 0;
}

static int seen_by(struct pairs *o, const struct place *p,
                   const struct key_writer *w)
{
	struct clauses *c = o->clauses;
	int sight = in_sight(o, p, w->slot);
	if (!sight || sight == NO) return 0;
	int seen = clauses_variable(c);
	CLAUSE(c, -w->writes, -sight, seen);
	CLAUSE(c, -seen, -p->initial);
	return seen;
}

static int read_of(struct pairs *o, struct place *p, const struct key_writer *w)
{
	struct clauses *c = o->clauses;
	int order = before(o, w->slot, p->slot);
	if (order == NO) return 0;
	int reads = clauses_variable(c);
	CLAUSE(c, -reads, w->writes);
	CLAUSE(c, -reads, order);
	int sight = in_sight(o, p, w->slot);
	if (sight) CLAUSE(c, -reads, sight);
	if (o->past) CLAUSE(c, -reads, past(o, w->slot, p->slot));
	at_most_one_add(c, &p->one, reads);
	some_of_add(c, &p->some, reads);
	return reads;
}

/* The place may read from the key's next writer. */
static void place_meets(struct pairs *o, uint32_t place, uint32_t writer)
{
	struct place *p = &o->places[place];
	const struct key_writer *w = &o->keys[p->key].writers[writer];
	assert(p->read_count == writer && p->seen_count == writer);
	int reads = read_of(o, p, w);
	VEC_RESERVE(p->reads, p->read_count, p->read_capacity);
	p->reads[p->read_count++] = reads;
	int seen = seen_by(o, p, w);
	VEC_RESERVE(p->seen, p->seen_count, p->seen_capacity);
	p->seen[p->seen_count++] = seen;
	heed_initial_lock(o, p, writer);
	for (uint32_t x = 0; x < writer; x++) {
		heed_sight(o, p, x, writer);
		heed_sight(o, p, writer, x);
		heed_lock(o, p, x, writer);
		heed_lock(o, p, writer, x);
	}
	cuts_meet_writer(o, place, writer);
	for (uint32_t i = 0; i < p->node_count; i++) {
		const struct run_node *n = p->nodes[i];
		heed_sources(o, n, writer);
		for (const struct run_node *m = n->children; m; m = m->next)
			if (m->number < o->e->node_count)
				link_value(o, m, writer);
	}
}

/* A writer that excludes others of the key, if b is one, has in sight those
 * that commit before it. */
static void exclude(struct pairs *o, const struct key_writer *a,
                    const struct key_writer *b)
{
	enum level l = slot_level(o, b->slot);
	if (!level_excludes_rivals(l) || level_is_serial(l)) return;
	int order = before(o, a->slot, b->slot);
	if (order != NO)
		CLAUSE(o->clauses, -a->writes, -b->writes, -order,
		       sees(o, a->slot, b->slot));
}

/* The number of the slot among the key's writers. */
static uint32_t writer_at(struct pairs *o, uint32_t slot, uint32_t key)
{
	struct clauses *c = o->clauses;
	struct encoded_key *k = pairs_key(o, key);
	struct pair_slot *s = &o->slots[slot];
	for (uint32_t i = 0; i < k->writer_count; i++)
		if (k->writers[i].slot == slot) return i;
	VEC_RESERVE(k->writers, k->writer_count, k->writer_capacity);
	uint32_t writer = k->writer_count++;
	struct key_writer *w = &k->writers[writer];
	*w = (struct key_writer){ .slot = slot, .writes = clauses_variable(c) };
	CLAUSE(c, -w->writes, o->e->slots[slot].committed);
	VEC_RESERVE(s->keys, s->key_count, s->key_capacity);
	s->keys[s->key_count++] = key;
	for (uint32_t i = 0; i < s->end_count; i++)
		CLAUSE(c, -at(o, s->ends[i]), -w->writes);
	for (uint32_t i = 0; i < writer; i++) {
		exclude(o, &k->writers[i], w);
		exclude(o, w, &k->writers[i]);
	}
	for (uint32_t i = 0; i < k->place_count; i++)
		place_meets(o, k->places[i], writer);
	return writer;
}

static bool is_written(const struct run_end_of *t, uint32_t key)
{
	const struct run_write *w = t->writes;
	const struct run_key *k = t->settled;
	while (w && w->key != key) w = w->older;
	while (k && k->key != key) k = k->older;
	return w || k;
}

/* If the literal is true, the slot has committed, and written that. */
static void add_writes(struct pairs *o, int literal, uint32_t slot,
                       const struct run_write *w)
{
	for (; w; w = w->older) {
		uint32_t i = writer_at(o, slot, w->key);
		struct encoded_key *k = &o->keys[w->key];
		uint32_t value = value_number(k, w->value);
		CLAUSE(o->clauses, -literal,
		       writes_value(o, &k->writers[i], value));
	}
}

/* The transaction commits in the node. What it has settled before, the nodes
 * tell in which it has. */
static void add_commit(struct pairs *o, const struct run_node *n,
                       const struct run_end_of *t)
{
	int here = at(o, n);
	uint32_t slot = o->e->slot_of[n->session][t->index];
	add_writes(o, here, slot, t->writes);
	struct pair_slot *s = &o->slots[slot];
	for (uint32_t i = 0; i < s->key_count; i++)
		if (!is_written(t, s->keys[i])) {
			uint32_t w = writer_at(o, slot, s->keys[i]);
			CLAUSE(o->clauses, -here,
			       -o->keys[s->keys[i]].writers[w].writes);
		}
	VEC_RESERVE(s->ends, s->end_count, s->end_capacity);
	s->ends[s->end_count++] = n;
}

/* ---- nodes ---- */

static uint32_t place_of(struct pairs *o, const struct run_node *n)
{
	struct clauses *c = o->clauses;
	uint32_t slot = o->e->slot_of[n->session][n->index];
	struct encoded_key *k = pairs_key(o, n->key);
	uint32_t cut = has_cuts(o, slot) ? cut_of(o, slot, n->moment) : NO_CUT;
	uint32_t occurrence = cut == NO_CUT ? n->occurrence : 0;
	for (uint32_t i = 0; i < k->place_count; i++) {
		const struct place *p = &o->places[k->places[i]];
		if (p->slot == slot && p->occurrence == occurrence &&
		    p->cut == cut)
			return k->places[i];
	}
	VEC_RESERVE(k->places, k->place_count, k->place_capacity);
	VEC_RESERVE(o->places, o->place_count, o->place_capacity);
	uint32_t place = k->places[k->place_count++] = o->place_count++;
	struct place *p = &o->places[place];
	*p = (struct place){ .slot = slot,
		             .key = n->key,
		             .occurrence = occurrence,
		             .cut = cut };
	p->read = clauses_variable(c);
	p->initial = clauses_variable(c);
	p->some = some_of_begin(c, p->read);
	at_most_one_add(c, &p->one, p->initial);
	some_of_add(c, &p->some, p->initial);
	for (uint32_t w = 0; w < k->writer_count; w++) place_meets(o, place, w);
	return place;
}

static void add_read(struct pairs *o, const struct run_node *n)
{
	uint32_t place = place_of(o, n);
	struct place *p = &o->places[place];
	node_of(o, n)->place = place;
	CLAUSE(o->clauses, -open_at(o, n), p->read);
	VEC_RESERVE(p->nodes, p->node_count, p->node_capacity);
	p->nodes[p->node_count++] = n;
	for (uint32_t w = 0; w < p->read_count; w++) heed_sources(o, n, w);
	if (n->locks) lock_place(o, place, open_at(o, n));
}

static void add_answer(struct pairs *o, const struct run_node *n)
{
	struct clauses *c = o->clauses;
	const struct run_node *q = n->parent;
	struct pair_node *x = node_of(o, n);
	const struct place *p = &o->places[o->nodes[q->number].place];
	CLAUSE(c, -at(o, n), p->read);
	if (value_equal(n->answer, encoding_initial(o->e, q->key)))
		CLAUSE(c, -open_at(o, q), -p->initial);
	else
		CLAUSE(c, -at(o, n), -p->initial);
	x->value = value_number(&o->keys[q->key], n->answer);
	for (uint32_t w = 0; w < p->read_count; w++) link_value(o, n, w);
	if (q->locks) lock_place(o, o->nodes[q->number].place, at(o, n));
}

static void add(void *order, const struct run_node *n)
{
	struct pairs *o = order;
	while (o->slot_count < o->e->slot_count) add_slot(o, o->slot_count);
	if (n->parent) add_answer(o, n);
	for (const struct run_lock *l = n->locked; l; l = l->older)
		lock_place(o, o->nodes[l->at->number].place, at(o, n));
	for (uint32_t i = 0; i < n->ended_count; i++) {
		if (!n->ended[i].aborted) add_commit(o, n, &n->ended[i]);
		cuts_hold(o, n, &n->ended[i]);
	}
	if (n->settled)
		add_writes(o, o->e->nodes[n->number].settles,
		           o->e->slot_of[n->session][n->index], n->settled);
	if (n->kind == RUN_READS) add_read(o, n);
}

/* ---- all ---- */

static void *begin(struct encoding *e)
{
	struct pairs *o = mem_take0(1, sizeof *o);
	o->e = e;
	o->clauses = &e->clauses;
	return o;
}

static void end(void *order)
{
	struct pairs *o = order;
	for (uint32_t i = 0; i < o->slot_count; i++) {
		free(o->slots[i].keys);
		free(o->slots[i].ends);
	}
	for (uint32_t i = 0; i < o->key_count; i++) {
		struct encoded_key *k = &o->keys[i];
		for (uint32_t w = 0; w < k->writer_count; w++)
			free(k->writers[w].values);
		free(k->writers);
		free(k->values);
		free(k->places);
		free(k->holds);
	}
	cuts_free(o);
	for (uint32_t i = 0; i < o->place_count; i++) {
		free(o->places[i].reads);
		free(o->places[i].seen);
		free(o->places[i].nodes);
	}
	for (uint32_t i = 0; i < o->node_count; i++) free(o->nodes[i].sources);
	free(o->slots);
	free(o->before);
	free(o->sees);
	free(o->past);
	free(o->keys);
	free(o->places);
	free(o->nodes);
	free(o);
}

/* ---- models ---- */

static uint32_t chosen_writer(const struct pairs *o, const struct place *p)
{
	uint32_t w = 0;
	while (w < p->read_count &&
	       !(p->reads[w] && clauses_value(o->clauses, p->reads[w])))
		w++;
	return w;
}

static uint32_t source_of(const void *order, const struct run_node *n)
{
	const struct pairs *o = order;
	const struct place *p = &o->places[o->nodes[n->number].place];
	uint32_t w = chosen_writer(o, p);
	return w < p->read_count ? o->keys[p->key].writers[w].slot : UINT32_MAX;
}

static struct value written(const struct pairs *o, const struct encoded_key *k,
                            const struct key_writer *w)
{
	uint32_t v = 0;
	while (v < w->value_capacity &&
	       !(w->values[v] && clauses_value(o->clauses, w->values[v])))
		v++;
	assert(v < k->value_count);
	return k->values[v];
}

static struct value value_of(const void *order, const struct run_node *n)
{
	const struct pairs *o = order;
	const struct place *p = &o->places[o->nodes[n->number].place];
	const struct encoded_key *k = &o->keys[p->key];
	uint32_t writer = chosen_writer(o, p);
	if (writer == p->read_count) return encoding_initial(o->e, p->key);
	return written(o, k, &k->writers[writer]);
}

static bool is_true(const struct pairs *o, int literal)
{
	if (literal == YES || literal == NO) return literal == YES;
	return clauses_value(o->clauses, literal);
}

static struct value newest(const void *order, uint32_t slot, uint32_t key)
{
	const struct pairs *o = order;
	const struct key_writer *last = NULL;
	bool all = slot_sight(o, slot) < SIGHT_DIRECT;
	if (key >= o->key_count) return encoding_initial(o->e, key);
	const struct encoded_key *k = &o->keys[key];
	for (uint32_t i = 0; i < k->writer_count; i++) {
		const struct key_writer *w = &k->writers[i];
		if (w->slot != slot && is_true(o, w->writes) &&
		    is_true(o, all ? before(o, w->slot, slot)
		                   : sees(o, w->slot, slot)) &&
		    (!last || is_true(o, before(o, last->slot, w->slot))))
			last = w;
	}
	return last ? written(o, k, last) : encoding_initial(o->e, key);
}

static void sort(void *order, int premise, uint32_t a, uint32_t b)
{
	struct pairs *o = order;
	CLAUSE(o->clauses, -premise, before(o, a, b));
}

static bool is_before(const void *order, uint32_t a, uint32_t b)
{
	const struct pairs *o = order;
	return is_true(o, before(o, a, b));
}

const struct order_form *order_by_pairs(void)
{
	static const struct order_form form = { begin,  add,       NULL,
		                                end,    source_of, value_of,
		                                newest, sort,      is_before,
		                                false };
	return &form;
}

static void choices_of(const struct pairs *o, uint32_t session, int **literals,
                       size_t *count, size_t *capacity)
{
	uint32_t length;
	struct run_node **way = encoding_way(o->e, session, &length);
	for (uint32_t i = 0; i < length; i++) {
		if (!way[i]->parent) continue;
		uint32_t place = o->nodes[way[i]->parent->number].place;
		const struct place *p = &o->places[place];
		uint32_t w = chosen_writer(o, p);
		VEC_RESERVE(*literals, *count, *capacity);
		(*literals)[(*count)++] =
			w < p->read_count ? -p->reads[w] : -p->initial;
	}
	free(way);
}

void pairs_choices(const struct encoding *e, int **literals, size_t *count,
                   size_t *capacity)
{
	const struct pairs *o = e->order;
	assert(e->form == order_by_pairs());
	for (uint32_t i = 0; i < e->runs->context.sessions; i++)
		choices_of(o, i, literals, count, capacity);
	VEC_RESERVE(*literals, *count, *capacity);
	(*literals)[(*count)++] = 0;
}
