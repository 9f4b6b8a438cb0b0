#include "solve/encoding.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "vm/keys.h"

#define YES CLAUSES_TRUE
#define NO (-CLAUSES_TRUE)

static bool is_finally(const struct encoding *e, uint32_t session)
{
	return context_is_finally(&e->runs->context, session);
}

/* ---- orders and sights of slots ---- */

static int before(const struct encoding *e, uint32_t a, uint32_t b)
{
	assert(a < e->slot_count && b < e->slot_count);
	return e->before[(size_t)a * e->side + b];
}

static int sees(const struct encoding *e, uint32_t a, uint32_t b)
{
	assert(a < e->slot_count && b < e->slot_count);
	return e->sees[(size_t)a * e->side + b];
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

/* Is a before b in so, or after it, or neither? */
static int session_order(const struct encoding *e, uint32_t a, uint32_t b)
{
	const struct slot *x = &e->slots[a], *y = &e->slots[b];
	if (x->session == y->session) return x->index < y->index ? YES : NO;
	if (is_finally(e, y->session)) return YES;
	return is_finally(e, x->session) ? NO : 0;
}

/* The literals of two slots. */
static void relate(struct encoding *e, uint32_t a, uint32_t b)
{
	struct clauses *c = &e->clauses;
	int so = session_order(e, a, b);
	int order = so ? so : clauses_variable(c);
	e->before[(size_t)a * e->side + b] = order;
	e->before[(size_t)b * e->side + a] = -order;
	for (int i = 0; i < 2; i++) {
		uint32_t from = i ? b : a, to = i ? a : b;
		int first = before(e, from, to), s = first;
		if (!so && !level_is_serial(e->level)) {
			s = clauses_variable(c);
			CLAUSE(c, -s, first);
		}
		e->sees[(size_t)from * e->side + to] = s;
	}
}

/* What is before what is seen, or seen by it, is seen. */
static void see_through(struct encoding *e, uint32_t x, uint32_t y, uint32_t z)
{
	enum sight sight = level_sight(e->level);
	if (sight < SIGHT_PAST || level_is_serial(e->level)) return;
	int first = sight == SIGHT_PREFIX ? before(e, x, y) : sees(e, x, y);
	CLAUSE(&e->clauses, -first, -sees(e, y, z), sees(e, x, z));
}

static void no_circle(struct encoding *e, uint32_t x, uint32_t y, uint32_t z)
{
	CLAUSE(&e->clauses, -before(e, x, y), -before(e, y, z),
	       -before(e, z, x));
	CLAUSE(&e->clauses, -before(e, x, z), -before(e, z, y),
	       -before(e, y, x));
}

static uint32_t add_slot(struct encoding *e, uint32_t session)
{
	uint32_t t = e->slot_count;
	if (t == e->side) {
		uint32_t side = e->side ? 2 * e->side : 16;
		e->before = wider(e->before, e->side, side);
		e->sees = wider(e->sees, e->side, side);
		e->side = side;
	}
	VEC_RESERVE(e->slots, e->slot_count, e->slot_capacity);
	struct slot *s = &e->slots[e->slot_count++];
	*s = (struct slot){ .session = session,
		            .index = e->slots_of[session]++ };
	s->committed = clauses_variable(&e->clauses);
	s->commits = some_of_begin(&e->clauses, s->committed);
	e->slot_of[session] = mem_grow(e->slot_of[session], s->index + 1,
	                               sizeof **e->slot_of);
	e->slot_of[session][s->index] = t;
	e->before[(size_t)t * e->side + t] = NO;
	e->sees[(size_t)t * e->side + t] = NO;
	for (uint32_t u = 0; u < t; u++) relate(e, u, t);
	for (uint32_t u = 0; u < t; u++)
		for (uint32_t v = 0; v < t; v++) {
			if (u == v) continue;
			if (u < v) no_circle(e, u, v, t);
			see_through(e, u, v, t);
			see_through(e, u, t, v);
			see_through(e, t, u, v);
		}
	return t;
}

static uint32_t slot_at(struct encoding *e, uint32_t session, uint32_t index)
{
	while (e->slots_of[session] <= index) add_slot(e, session);
	return e->slot_of[session][index];
}

/* ---- what is written ---- */

static struct encoded_key *key_of(struct encoding *e, uint32_t key)
{
	if (key >= e->key_count) {
		uint32_t count = 2 * key + 8;
		e->keys = mem_grow0(e->keys, e->key_count, count,
		                    sizeof *e->keys);
		e->key_count = count;
	}
	return &e->keys[key];
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
static int writes_value(struct encoding *e, struct key_writer *w,
                        uint32_t value)
{
	if (value >= w->value_capacity) {
		uint32_t room = 2 * value + 4;
		w->values = mem_grow0(w->values, w->value_capacity, room,
		                      sizeof *w->values);
		w->value_capacity = room;
	}
	if (!w->values[value]) {
		int v = w->values[value] = clauses_variable(&e->clauses);
		CLAUSE(&e->clauses, -v, w->writes);
		at_most_one_add(&e->clauses, &w->one, v);
	}
	return w->values[value];
}

static int reads_from(const struct place *p, uint32_t writer)
{
	return writer < p->read_count ? p->reads[writer] : 0;
}

/* Behind the read of the place is the node, so the value is that of whom it
 * reads from; and what is known is not open. */
static void link_value(struct encoding *e, const struct run_node *n,
                       uint32_t writer)
{
	struct clauses *c = &e->clauses;
	const struct encoded_node *x = &e->nodes[n->number];
	const struct encoded_node *parent = &e->nodes[n->parent->number];
	int reads = reads_from(&e->places[parent->place], writer);
	if (!reads) return;
	struct key_writer *w = &e->keys[n->parent->key].writers[writer];
	int value = writes_value(e, w, x->value);
	CLAUSE(c, -x->at, -reads, value);
	CLAUSE(c, -parent->open, -reads, -value);
}

/* ---- rc: what the transaction has read from before ---- */

static bool goes_on(const struct run_node *n)
{
	return n->parent && n->kind == RUN_READS &&
	       n->parent->index == n->index;
}

static void source_from(struct encoding *e, const struct run_node *n, int v,
                        uint32_t slot)
{
	const struct encoded_key *k = &e->keys[n->parent->key];
	const struct encoded_node *x = &e->nodes[n->number];
	const struct place *p = &e->places[e->nodes[n->parent->number].place];
	for (uint32_t w = 0; w < p->read_count; w++)
		if (k->writers[w].slot == slot && p->reads[w])
			CLAUSE(&e->clauses, -x->at, -p->reads[w], v);
}

/* It has read from the slot before it comes to the read of the node. */
static int source(struct encoding *e, const struct run_node *n, uint32_t slot)
{
	struct encoded_node *x = &e->nodes[n->number];
	if (!goes_on(n)) return NO;
	if (slot >= x->source_count) {
		uint32_t room = 2 * slot + 4;
		x->sources = mem_grow0(x->sources, x->source_count, room,
		                       sizeof *x->sources);
		x->source_count = room;
	}
	if (!x->sources[slot]) {
		int v = x->sources[slot] = clauses_variable(&e->clauses);
		CLAUSE(&e->clauses, -x->at, -source(e, n->parent, slot), v);
		source_from(e, n, v, slot);
	}
	return e->nodes[n->number].sources[slot];
}

/* Read from x at the node, none of those read from before is newer. */
static void no_older(struct encoding *e, const struct run_node *n, uint32_t y,
                     uint32_t x)
{
	const struct encoded_node *node = &e->nodes[n->number];
	const struct key_writer *w = e->keys[n->key].writers;
	const struct place *p = &e->places[node->place];
	if (x == y || !reads_from(p, x) || w[y].slot == p->slot) return;
	CLAUSE(&e->clauses, -node->at, -source(e, n, w[y].slot), -w[y].writes,
	       -p->reads[x], before(e, w[y].slot, w[x].slot));
}

static void heed_sources(struct encoding *e, const struct run_node *n,
                         uint32_t writer)
{
	const struct encoded_node *node = &e->nodes[n->number];
	const struct key_writer *w = &e->keys[n->key].writers[writer];
	const struct place *p = &e->places[node->place];
	if (level_sight(e->level) != SIGHT_SOURCES) return;
	CLAUSE(&e->clauses, -node->at, -source(e, n, w->slot), -w->writes,
	       -p->initial);
	for (uint32_t x = 0; x < p->read_count; x++) {
		no_older(e, n, writer, x);
		if (x < writer) no_older(e, n, x, writer);
	}
	for (const struct run_node *m = n->children; m; m = m->next) {
		if (m->number >= e->node_count || !goes_on(m)) continue;
		const struct encoded_node *x = &e->nodes[m->number];
		if (w->slot < x->source_count && x->sources[w->slot])
			source_from(e, m, x->sources[w->slot], w->slot);
	}
}

/* ---- who reads from whom ---- */

/* What is in sight of the place's reader is not newer than what it reads. */
static void heed_sight(struct encoding *e, const struct place *p, uint32_t y,
                       uint32_t x)
{
	const struct key_writer *w = e->keys[p->key].writers;
	bool psi = level_sight(e->level) == SIGHT_PAST &&
	           level_excludes_rivals(e->level);
	if (x == y || !p->seen[y] || !p->reads[x]) return;
	CLAUSE(&e->clauses, -p->seen[y], -p->reads[x],
	       psi ? sees(e, w[y].slot, w[x].slot)
	           : before(e, w[y].slot, w[x].slot));
}

static int seen_by(struct encoding *e, const struct place *p,
                   const struct key_writer *w)
{
	struct clauses *c = &e->clauses;
	if (level_sight(e->level) < SIGHT_DIRECT || w->slot == p->slot ||
	    sees(e, w->slot, p->slot) == NO)
		return 0;
	int seen = clauses_variable(c);
	CLAUSE(c, -w->writes, -sees(e, w->slot, p->slot), seen);
	CLAUSE(c, -seen, -p->initial);
	return seen;
}

static int read_of(struct encoding *e, struct place *p,
                   const struct key_writer *w)
{
	struct clauses *c = &e->clauses;
	int order = before(e, w->slot, p->slot);
	if (order == NO) return 0;
	int reads = clauses_variable(c);
	CLAUSE(c, -reads, w->writes);
	CLAUSE(c, -reads, order);
	if (level_sight(e->level) >= SIGHT_DIRECT)
		CLAUSE(c, -reads, sees(e, w->slot, p->slot));
	at_most_one_add(c, &p->one, reads);
	some_of_add(c, &p->some, reads);
	return reads;
}

/* The place may read from the key's next writer. */
static void place_meets(struct encoding *e, uint32_t place, uint32_t writer)
{
	struct place *p = &e->places[place];
	const struct key_writer *w = &e->keys[p->key].writers[writer];
	assert(p->read_count == writer && p->seen_count == writer);
	int reads = read_of(e, p, w);
	VEC_RESERVE(p->reads, p->read_count, p->read_capacity);
	p->reads[p->read_count++] = reads;
	int seen = seen_by(e, p, w);
	VEC_RESERVE(p->seen, p->seen_count, p->seen_capacity);
	p->seen[p->seen_count++] = seen;
	for (uint32_t x = 0; x < writer; x++) {
		heed_sight(e, p, x, writer);
		heed_sight(e, p, writer, x);
	}
	for (uint32_t i = 0; i < p->node_count; i++) {
		const struct run_node *n = p->nodes[i];
		heed_sources(e, n, writer);
		for (const struct run_node *m = n->children; m; m = m->next)
			if (m->number < e->node_count) link_value(e, m, writer);
	}
}

/* Two writers of one key exclude each other. */
static void rivals(struct encoding *e, const struct key_writer *a,
                   const struct key_writer *b)
{
	struct clauses *c = &e->clauses;
	if (!level_excludes_rivals(e->level) || level_is_serial(e->level))
		return;
	int ab = sees(e, a->slot, b->slot), ba = sees(e, b->slot, a->slot);
	if (ab == YES || ba == YES) return;
	if (level_sight(e->level) == SIGHT_PREFIX) {
		int order = before(e, a->slot, b->slot);
		CLAUSE(c, -a->writes, -b->writes, -order, ab);
		CLAUSE(c, -a->writes, -b->writes, order, ba);
	} else {
		CLAUSE(c, -a->writes, -b->writes, ab, ba);
	}
}

/* The number of the slot among the key's writers. */
static uint32_t writer_at(struct encoding *e, uint32_t slot, uint32_t key)
{
	struct clauses *c = &e->clauses;
	struct encoded_key *k = key_of(e, key);
	struct slot *s = &e->slots[slot];
	for (uint32_t i = 0; i < k->writer_count; i++)
		if (k->writers[i].slot == slot) return i;
	VEC_RESERVE(k->writers, k->writer_count, k->writer_capacity);
	uint32_t writer = k->writer_count++;
	struct key_writer *w = &k->writers[writer];
	*w = (struct key_writer){ .slot = slot, .writes = clauses_variable(c) };
	CLAUSE(c, -w->writes, s->committed);
	VEC_RESERVE(s->keys, s->key_count, s->key_capacity);
	s->keys[s->key_count++] = key;
	for (uint32_t i = 0; i < s->end_count; i++)
		CLAUSE(c, -e->nodes[s->ends[i]->number].at, -w->writes);
	for (uint32_t i = 0; i < writer; i++) rivals(e, &k->writers[i], w);
	for (uint32_t i = 0; i < k->place_count; i++)
		place_meets(e, k->places[i], writer);
	return writer;
}

static const struct run_write *written(const struct run_end_of *t, uint32_t key)
{
	const struct run_write *w = t->writes;
	while (w && w->key != key) w = w->older;
	return w;
}

/* The transaction commits in the node. */
static void add_commit(struct encoding *e, const struct run_node *n,
                       const struct run_end_of *t)
{
	struct clauses *c = &e->clauses;
	int at = e->nodes[n->number].at;
	uint32_t slot = slot_at(e, n->session, t->index);
	CLAUSE(c, -at, e->slots[slot].committed);
	some_of_add(c, &e->slots[slot].commits, at);
	for (const struct run_write *w = t->writes; w; w = w->older) {
		uint32_t i = writer_at(e, slot, w->key);
		struct encoded_key *k = &e->keys[w->key];
		uint32_t value = value_number(k, w->value);
		CLAUSE(c, -at, writes_value(e, &k->writers[i], value));
	}
	struct slot *s = &e->slots[slot];
	for (uint32_t i = 0; i < s->key_count; i++)
		if (!written(t, s->keys[i])) {
			uint32_t w = writer_at(e, slot, s->keys[i]);
			CLAUSE(c, -at, -e->keys[s->keys[i]].writers[w].writes);
		}
	VEC_RESERVE(s->ends, s->end_count, s->end_capacity);
	s->ends[s->end_count++] = n;
}

/* ---- nodes ---- */

static uint32_t place_of(struct encoding *e, const struct run_node *n)
{
	struct clauses *c = &e->clauses;
	uint32_t slot = slot_at(e, n->session, n->index);
	struct encoded_key *k = key_of(e, n->key);
	for (uint32_t i = 0; i < k->place_count; i++) {
		const struct place *p = &e->places[k->places[i]];
		if (p->slot == slot && p->occurrence == n->occurrence)
			return k->places[i];
	}
	VEC_RESERVE(k->places, k->place_count, k->place_capacity);
	VEC_RESERVE(e->places, e->place_count, e->place_capacity);
	uint32_t place = k->places[k->place_count++] = e->place_count++;
	struct place *p = &e->places[place];
	*p = (struct place){ .slot = slot,
		             .key = n->key,
		             .occurrence = n->occurrence };
	p->read = clauses_variable(c);
	p->initial = clauses_variable(c);
	p->some = some_of_begin(c, p->read);
	at_most_one_add(c, &p->one, p->initial);
	some_of_add(c, &p->some, p->initial);
	for (uint32_t w = 0; w < k->writer_count; w++) place_meets(e, place, w);
	return place;
}

/* The session may stop there. */
static void add_read(struct encoding *e, struct run_node *n)
{
	struct clauses *c = &e->clauses;
	uint32_t place = place_of(e, n);
	struct encoded_node *x = &e->nodes[n->number];
	struct place *p = &e->places[place];
	x->place = place;
	x->open = clauses_variable(c);
	CLAUSE(c, -x->open, x->at);
	CLAUSE(c, -x->open, p->read);
	some_of_add(c, &e->opens, x->open);
	VEC_RESERVE(p->nodes, p->node_count, p->node_capacity);
	p->nodes[p->node_count++] = n;
	for (uint32_t w = 0; w < p->read_count; w++) heed_sources(e, n, w);
}

/* It comes there by the value that it read. */
static void add_answer(struct encoding *e, const struct run_node *n)
{
	struct clauses *c = &e->clauses;
	const struct run_node *q = n->parent;
	struct encoded_node *x = &e->nodes[n->number];
	struct encoded_node *parent = &e->nodes[q->number];
	const struct place *p = &e->places[parent->place];
	struct keys *keys = e->runs->context.machine.keys;
	CLAUSE(c, -x->at, parent->at);
	CLAUSE(c, -x->at, p->read);
	CLAUSE(c, -x->at, -parent->open);
	at_most_one_add(c, &parent->children, x->at);
	if (value_equal(n->answer, keys_initial(keys, q->key)))
		CLAUSE(c, -parent->open, -p->initial);
	else
		CLAUSE(c, -x->at, -p->initial);
	x->value = value_number(&e->keys[q->key], n->answer);
	for (uint32_t w = 0; w < p->read_count; w++) link_value(e, n, w);
}

static int root_literal(struct encoding *e, uint32_t session)
{
	if (!is_finally(e, session)) return YES;
	int at = clauses_variable(&e->clauses);
	for (uint32_t i = 0; i < session; i++)
		CLAUSE(&e->clauses, -at, e->over[i]);
	return at;
}

void encoding_add(struct encoding *e, struct run_node *n)
{
	struct clauses *c = &e->clauses;
	VEC_RESERVE(e->nodes, e->node_count, e->node_capacity);
	assert(n->number == e->node_count);
	struct encoded_node *x = &e->nodes[e->node_count++];
	*x = (struct encoded_node){ .at = n->parent ? clauses_variable(c)
		                                    : root_literal(
							      e, n->session) };
	if (n->parent) add_answer(e, n);
	for (uint32_t i = 0; i < n->ended_count; i++)
		if (n->ended[i].aborted)
			slot_at(e, n->session, n->ended[i].index);
		else
			add_commit(e, n, &n->ended[i]);
	if (n->kind == RUN_READS)
		add_read(e, n);
	else if (n->kind == RUN_OVER)
		some_of_add(c, &e->overs[n->session], e->nodes[n->number].at);
}

/* ---- all ---- */

void encoding_init(struct encoding *e, struct runs *r)
{
	uint32_t sessions = r->context.sessions;
	struct clauses *c = &e->clauses;
	*e = (struct encoding){ .runs = r, .level = r->level };
	clauses_init(c);
	e->slot_of = mem_take0(sessions + 1, sizeof *e->slot_of);
	e->slots_of = mem_take0(sessions + 1, sizeof *e->slots_of);
	e->over = mem_take0(sessions + 1, sizeof *e->over);
	e->overs = mem_take0(sessions + 1, sizeof *e->overs);
	e->all_over = clauses_variable(c);
	e->some_open = clauses_variable(c);
	e->opens = some_of_begin(c, e->some_open);
	for (uint32_t i = 0; i < sessions; i++) {
		e->over[i] = clauses_variable(c);
		e->overs[i] = some_of_begin(c, e->over[i]);
		CLAUSE(c, -e->all_over, e->over[i]);
	}
	for (uint32_t i = 0; i < r->count; i++) encoding_add(e, r->nodes[i]);
}

void encoding_free(struct encoding *e)
{
	for (uint32_t i = 0; i < e->runs->context.sessions; i++)
		free(e->slot_of[i]);
	for (uint32_t i = 0; i < e->slot_count; i++) {
		free(e->slots[i].keys);
		free(e->slots[i].ends);
	}
	for (uint32_t i = 0; i < e->key_count; i++) {
		struct encoded_key *k = &e->keys[i];
		for (uint32_t w = 0; w < k->writer_count; w++)
			free(k->writers[w].values);
		free(k->writers);
		free(k->values);
		free(k->places);
	}
	for (uint32_t i = 0; i < e->place_count; i++) {
		free(e->places[i].reads);
		free(e->places[i].seen);
		free(e->places[i].nodes);
	}
	for (uint32_t i = 0; i < e->node_count; i++) free(e->nodes[i].sources);
	free(e->slot_of);
	free(e->slots_of);
	free(e->slots);
	free(e->before);
	free(e->sees);
	free(e->keys);
	free(e->places);
	free(e->nodes);
	free(e->over);
	free(e->overs);
	clauses_free(&e->clauses);
}

/* ---- models ---- */

struct run_node *encoding_stands(const struct encoding *e, uint32_t session)
{
	struct run_node *n = e->runs->roots[session], *m = n;
	while (m) {
		n = m;
		for (m = n->children; m; m = m->next)
			if (clauses_value(&e->clauses, e->nodes[m->number].at))
				break;
	}
	return n;
}

static uint32_t chosen_writer(const struct encoding *e, const struct place *p)
{
	uint32_t w = 0;
	while (w < p->read_count &&
	       !(p->reads[w] && clauses_value(&e->clauses, p->reads[w])))
		w++;
	return w;
}

uint32_t encoding_source(const struct encoding *e, const struct run_node *n)
{
	const struct place *p = &e->places[e->nodes[n->number].place];
	uint32_t w = chosen_writer(e, p);
	return w < p->read_count ? e->keys[p->key].writers[w].slot : UINT32_MAX;
}

struct value encoding_answer(const struct encoding *e, const struct run_node *n)
{
	const struct place *p = &e->places[e->nodes[n->number].place];
	const struct encoded_key *k = &e->keys[p->key];
	uint32_t writer = chosen_writer(e, p), v = 0;
	if (writer == p->read_count)
		return keys_initial(e->runs->context.machine.keys, p->key);
	const struct key_writer *w = &k->writers[writer];
	while (v < w->value_capacity &&
	       !(w->values[v] && clauses_value(&e->clauses, w->values[v])))
		v++;
	assert(v < k->value_count);
	return k->values[v];
}

void encoding_choices(const struct encoding *e, int **literals, size_t *count,
                      size_t *capacity)
{
	for (uint32_t i = 0; i < e->runs->context.sessions; i++)
		for (const struct run_node *n = encoding_stands(e, i);
		     n->parent; n = n->parent) {
			const struct place *p =
				&e->places[e->nodes[n->parent->number].place];
			uint32_t w = chosen_writer(e, p);
			VEC_RESERVE(*literals, *count, *capacity);
			(*literals)[(*count)++] =
				w < p->read_count ? -p->reads[w] : -p->initial;
		}
	VEC_RESERVE(*literals, *count, *capacity);
	(*literals)[(*count)++] = 0;
}

bool encoding_before(const struct encoding *e, uint32_t a, uint32_t b)
{
	int literal = before(e, a, b);
	if (literal == YES || literal == NO) return literal == YES;
	return clauses_value(&e->clauses, literal);
}
