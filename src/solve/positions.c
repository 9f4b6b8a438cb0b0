#include "solve/positions.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "vm/keys.h"

#define YES CLAUSES_TRUE
#define NO (-CLAUSES_TRUE)

/* By position. */
struct position_slot {
	int *by, *here;
	int *from, *sees; /* the same arrays where the snapshot is there */
};

/* The nodes in which a slot writes a value. */
struct write_nodes {
	uint32_t slot;
	int *items; /* literals */
	uint32_t count, capacity;
};

struct held {
	struct value value;
	int *holds; /* by number of positions: one more than there are */
	int *set;   /* by position: who has it writes the value */
	struct write_nodes *writers;
	uint32_t count, capacity;
};

struct position_key {
	struct held *values; /* the initial one first */
	uint32_t count, capacity;
	int *writes;             /* by slot; NO: never. NULL: nobody does */
	struct at_most_one *one; /* by number of positions */
	int *wrote;              /* by position */
};

struct positions {
	struct encoding *e;
	struct clauses *clauses; /* of e */
	uint32_t count;          /* of positions, and of slots */
	struct position_slot *slots;
	uint32_t slot_count;     /* that are told of */
	struct at_most_one *one; /* by position: has it */
	struct position_key *keys;
	uint32_t key_count;
};

bool positions_fit(enum level l)
{
	return level_sight(l) == SIGHT_PREFIX;
}

static bool has_snapshots(const struct positions *o)
{
	return level_has_snapshots(o->e->level);
}

static int at(const struct positions *o, const struct run_node *n)
{
	return o->e->nodes[n->number].at;
}

static int *variables(struct positions *o, uint32_t count)
{
	int *v = mem_take((count + 1) * sizeof *v);
	for (uint32_t i = 0; i < count; i++)
		v[i] = clauses_variable(o->clauses);
	return v;
}

/* ---- slots ---- */

/* At one of the positions, as `by`, which grows, and `here` say. */
static void place(struct positions *o, int *by, const int *here)
{
	struct clauses *c = o->clauses;
	by[o->count - 1] = YES;
	for (uint32_t t = 0; t < o->count; t++) {
		int earlier = t ? by[t - 1] : NO;
		CLAUSE(c, -earlier, by[t]);
		CLAUSE(c, -here[t], by[t]);
		CLAUSE(c, -here[t], -earlier);
		CLAUSE(c, -by[t], earlier, here[t]);
	}
}

/* The snapshot of b, and so its position, is behind a. */
static void follow(struct positions *o, uint32_t a, uint32_t b)
{
	const struct position_slot *x = &o->slots[a], *y = &o->slots[b];
	for (uint32_t t = 0; t < o->count; t++)
		CLAUSE(o->clauses, -y->from[t], t ? x->by[t - 1] : NO);
}

/* Session order, but what follows from the rest of it. */
static void follow_session(struct positions *o, uint32_t a, uint32_t b)
{
	const struct slot *x = &o->e->slots[a], *y = &o->e->slots[b];
	int so = encoding_session_order(o->e, a, b);
	if (x->session == y->session && x->index + 1 != y->index &&
	    y->index + 1 != x->index)
		return;
	if (so == YES) follow(o, a, b);
	if (so == NO) follow(o, b, a);
}

static void add_slot(struct positions *o, uint32_t s)
{
	struct clauses *c = o->clauses;
	struct position_slot *x = &o->slots[s];
	assert(s < o->count && s == o->slot_count);
	o->slot_count++;
	x->from = x->by = variables(o, o->count);
	x->sees = x->here = variables(o, o->count);
	place(o, x->by, x->here);
	if (has_snapshots(o)) {
		x->from = variables(o, o->count);
		x->sees = variables(o, o->count);
		place(o, x->from, x->sees);
	}
	for (uint32_t t = 0; t < o->count; t++) {
		at_most_one_add(c, &o->one[t], x->here[t]);
		CLAUSE(c, -x->by[t], x->from[t]);
	}
	for (uint32_t u = 0; u < s; u++) follow_session(o, u, s);
}

/* ---- values ---- */

static uint32_t add_value(struct positions *o, struct position_key *k,
                          struct value v)
{
	struct clauses *c = o->clauses;
	VEC_RESERVE(k->values, k->count, k->capacity);
	struct held *h = &k->values[k->count];
	*h = (struct held){ .value = v,
		            .holds = variables(o, o->count + 1),
		            .set = variables(o, o->count) };
	CLAUSE(c, k->count ? -h->holds[0] : h->holds[0]);
	for (uint32_t t = 0; t < o->count; t++) {
		at_most_one_add(c, &k->one[t + 1], h->holds[t + 1]);
		CLAUSE(c, -h->holds[t], k->wrote[t], h->holds[t + 1]);
		CLAUSE(c, -h->holds[t + 1], h->set[t], h->holds[t]);
		CLAUSE(c, -h->holds[t + 1], h->set[t], -k->wrote[t]);
		CLAUSE(c, -h->set[t], h->holds[t + 1]);
		CLAUSE(c, -h->set[t], k->wrote[t]);
	}
	return k->count++;
}

static struct held *held(struct positions *o, struct position_key *k,
                         struct value v)
{
	uint32_t i = 0;
	while (i < k->count && !value_equal(k->values[i].value, v)) i++;
	if (i == k->count) add_value(o, k, v);
	return &k->values[i];
}

/* The key, which somebody writes. */
static void write_key(struct positions *o, uint32_t key)
{
	struct position_key *k = &o->keys[key];
	if (k->writes) return;
	k->writes = mem_take(o->count * sizeof *k->writes);
	for (uint32_t s = 0; s < o->count; s++) k->writes[s] = NO;
	k->one = mem_take0(o->count + 1, sizeof *k->one);
	k->wrote = variables(o, o->count);
	add_value(o, k, encoding_initial(o->e, key));
}

/* If the literal is true, the slot has in sight who writes the key before it.
 */
static void see_all(struct positions *o, int literal,
                    const struct position_key *k, uint32_t slot)
{
	const struct position_slot *x = &o->slots[slot];
	for (uint32_t t = 0; k->writes && t < o->count; t++)
		CLAUSE(o->clauses, -literal, x->by[t], -k->wrote[t],
		       -x->from[t]);
}

/* ---- nodes ---- */

/* If the literal is true, the read of the node locks. */
static void lock(struct positions *o, int literal, const struct run_node *n)
{
	if (has_snapshots(o))
		see_all(o, literal, &o->keys[n->key],
		        o->e->slot_of[n->session][n->index]);
}

/* The value that led to the node was in sight. */
static void add_answer(struct positions *o, const struct run_node *n)
{
	const struct run_node *q = n->parent;
	struct position_key *k = &o->keys[q->key];
	const struct position_slot *x =
		&o->slots[o->e->slot_of[q->session][q->index]];
	if (!k->writes) return;
	if (q->locks) lock(o, at(o, n), q);
	const struct held *h = held(o, k, n->answer);
	int open = o->e->nodes[q->number].open;
	for (uint32_t t = 0; t < o->count; t++) {
		CLAUSE(o->clauses, -at(o, n), -x->sees[t], h->holds[t]);
		CLAUSE(o->clauses, -open, -x->sees[t], -h->holds[t]);
	}
}

/* What nobody writes has one value, which leads somewhere, or nowhere yet. */
static void add_read(struct positions *o, const struct run_node *n)
{
	if (!o->keys[n->key].writes &&
	    runs_child(n, encoding_initial(o->e, n->key)))
		CLAUSE(o->clauses, -o->e->nodes[n->number].open);
	if (n->locks) lock(o, o->e->nodes[n->number].open, n);
}

static void push(struct write_nodes *w, int literal)
{
	VEC_RESERVE(w->items, w->count, w->capacity);
	w->items[w->count++] = literal;
}

static struct write_nodes *nodes_of(struct held *h, uint32_t slot)
{
	uint32_t i = 0;
	while (i < h->count && h->writers[i].slot != slot) i++;
	if (i < h->count) return &h->writers[i];
	VEC_RESERVE(h->writers, h->count, h->capacity);
	h->writers[h->count++] = (struct write_nodes){ .slot = slot };
	return &h->writers[i];
}

/* If the literal is true, the slot has committed, and written that. */
static void add_write(struct positions *o, int literal, uint32_t slot,
                      const struct run_write *w)
{
	struct position_key *k = &o->keys[w->key];
	struct held *h = held(o, k, w->value);
	if (k->writes[slot] == NO)
		k->writes[slot] = clauses_variable(o->clauses);
	CLAUSE(o->clauses, -literal, k->writes[slot]);
	push(nodes_of(h, slot), literal);
	for (uint32_t t = 0; t < o->count; t++)
		CLAUSE(o->clauses, -literal, -o->slots[slot].here[t],
		       h->set[t]);
}

static void add(void *order, const struct run_node *n)
{
	struct positions *o = order;
	while (o->slot_count < o->e->slot_count) add_slot(o, o->slot_count);
	if (n->parent) add_answer(o, n);
	for (const struct run_lock *l = n->locked; l; l = l->older)
		lock(o, at(o, n), l->at);
	for (uint32_t i = 0; i < n->ended_count; i++) {
		const struct run_end_of *t = &n->ended[i];
		uint32_t slot = o->e->slot_of[n->session][t->index];
		for (const struct run_write *w = t->writes; w; w = w->older)
			add_write(o, at(o, n), slot, w);
	}
	for (const struct run_write *w = n->settled; w; w = w->older)
		add_write(o, o->e->nodes[n->number].settles,
		          o->e->slot_of[n->session][n->index], w);
	if (n->kind == RUN_READS) add_read(o, n);
}

/* ---- what all of them do ---- */

static void close_key_slot(struct positions *o, const struct position_key *k,
                           uint32_t slot)
{
	const int *here = o->slots[slot].here;
	for (uint32_t t = 0; t < o->count; t++) {
		CLAUSE(o->clauses, -here[t], -k->writes[slot], k->wrote[t]);
		CLAUSE(o->clauses, -here[t], k->writes[slot], -k->wrote[t]);
	}
	if (has_snapshots(o) && level_excludes_rivals(o->e->level))
		see_all(o, k->writes[slot], k, slot);
}

/* The slot writes the value in these nodes only. */
static void close_write(struct positions *o, struct held *h, uint32_t slot)
{
	const int *here = o->slots[slot].here;
	struct write_nodes *w = nodes_of(h, slot);
	uint32_t count = w->count;
	for (uint32_t t = 0; t < o->count; t++, w->count = count) {
		push(w, -here[t]);
		push(w, -h->set[t]);
		push(w, 0);
		clauses_add(o->clauses, w->items);
	}
}

/* It always has some value. */
static void close_values(struct positions *o, const struct position_key *k)
{
	int *some = mem_take((k->count + 1) * sizeof *some);
	some[k->count] = 0;
	for (uint32_t t = 0; t <= o->count; t++) {
		for (uint32_t v = 0; v < k->count; v++)
			some[v] = k->values[v].holds[t];
		clauses_add(o->clauses, some);
	}
	free(some);
}

static void close_key(struct positions *o, const struct position_key *k)
{
	for (uint32_t s = 0; s < o->count; s++) {
		close_key_slot(o, k, s);
		if (k->writes[s] == NO) continue;
		for (uint32_t v = 0; v < k->count; v++)
			close_write(o, &k->values[v], s);
	}
	close_values(o, k);
}

/* Each position is somebody's. */
static void close_positions(struct positions *o)
{
	int *some = mem_take((o->count + 1) * sizeof *some);
	some[o->count] = 0;
	for (uint32_t t = 0; t < o->count; t++) {
		for (uint32_t s = 0; s < o->count; s++)
			some[s] = o->slots[s].here[t];
		clauses_add(o->clauses, some);
	}
	free(some);
}

static void close(void *order)
{
	struct positions *o = order;
	assert(o->slot_count == o->count);
	close_positions(o);
	for (uint32_t i = 0; i < o->key_count; i++)
		if (o->keys[i].writes) close_key(o, &o->keys[i]);
}

/* ---- all ---- */

static void write_keys(struct positions *o, const struct run_write *w)
{
	for (; w; w = w->older) write_key(o, w->key);
}

static void *begin(struct encoding *e)
{
	const struct runs *r = e->runs;
	struct positions *o = mem_take0(1, sizeof *o);
	o->e = e;
	o->clauses = &e->clauses;
	o->count = r->slots;
	o->slots = mem_take0(o->count + 1, sizeof *o->slots);
	o->one = mem_take0(o->count + 1, sizeof *o->one);
	o->key_count = keys_count(r->context.machine.keys);
	o->keys = mem_take0(o->key_count + 1, sizeof *o->keys);
	for (uint32_t i = 0; i < r->count; i++) {
		const struct run_node *n = r->nodes[i];
		write_keys(o, n->settled);
		for (uint32_t k = 0; k < n->ended_count; k++)
			write_keys(o, n->ended[k].writes);
	}
	return o;
}

static void free_key(struct position_key *k)
{
	for (uint32_t i = 0; i < k->count; i++) {
		struct held *h = &k->values[i];
		for (uint32_t w = 0; w < h->count; w++)
			free(h->writers[w].items);
		free(h->writers);
		free(h->holds);
		free(h->set);
	}
	free(k->values);
	free(k->writes);
	free(k->one);
	free(k->wrote);
}

static void end(void *order)
{
	struct positions *o = order;
	for (uint32_t i = 0; i < o->slot_count; i++) {
		struct position_slot *x = &o->slots[i];
		if (x->from != x->by) free(x->from);
		if (x->sees != x->here) free(x->sees);
		free(x->by);
		free(x->here);
	}
	for (uint32_t i = 0; i < o->key_count; i++) free_key(&o->keys[i]);
	free(o->slots);
	free(o->one);
	free(o->keys);
	free(o);
}

/* ---- models ---- */

/* Which of the literals is true: one is. */
static uint32_t which(const struct positions *o, const int *literals)
{
	uint32_t t = 0;
	while (!clauses_value(o->clauses, literals[t])) {
		t++;
		assert(t < o->count);
	}
	return t;
}

static uint32_t slot_here(const struct positions *o, uint32_t t)
{
	uint32_t s = 0;
	while (!clauses_value(o->clauses, o->slots[s].here[t])) {
		s++;
		assert(s < o->count);
	}
	return s;
}

static uint32_t snapshot(const struct positions *o, const struct run_node *n)
{
	return which(o, o->slots[o->e->slot_of[n->session][n->index]].sees);
}

static uint32_t source_of(const void *order, const struct run_node *n)
{
	const struct positions *o = order;
	const struct position_key *k = &o->keys[n->key];
	if (!k->writes) return UINT32_MAX;
	for (uint32_t t = snapshot(o, n); t; t--)
		if (clauses_value(o->clauses, k->wrote[t - 1]))
			return slot_here(o, t - 1);
	return UINT32_MAX;
}

static struct value newest(const void *order, uint32_t slot, uint32_t key)
{
	const struct positions *o = order;
	if (key >= o->key_count || !o->keys[key].writes)
		return encoding_initial(o->e, key);
	const struct position_key *k = &o->keys[key];
	uint32_t t = which(o, o->slots[slot].sees), v = 0;
	while (!clauses_value(o->clauses, k->values[v].holds[t])) {
		v++;
		assert(v < k->count);
	}
	return k->values[v].value;
}

static struct value value_of(const void *order, const struct run_node *n)
{
	const struct positions *o = order;
	return newest(o, o->e->slot_of[n->session][n->index], n->key);
}

static void sort(void *order, int premise, uint32_t a, uint32_t b)
{
	struct positions *o = order;
	for (uint32_t t = 0; t < o->count; t++)
		CLAUSE(o->clauses, -premise, -o->slots[b].by[t],
		       t ? o->slots[a].by[t - 1] : NO);
}

static bool is_before(const void *order, uint32_t a, uint32_t b)
{
	const struct positions *o = order;
	return which(o, o->slots[a].here) < which(o, o->slots[b].here);
}

const struct order_form *order_by_positions(void)
{
	static const struct order_form form = { begin,  add,       close,
		                                end,    source_of, value_of,
		                                newest, sort,      is_before,
		                                true };
	return &form;
}
