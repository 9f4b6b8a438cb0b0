#include "solve/encoding.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "vm/keys.h"

static bool is_finally(const struct encoding *e, uint32_t session)
{
	return context_is_finally(&e->runs->context, session);
}

/* ---- slots ---- */

int encoding_session_order(const struct encoding *e, uint32_t a, uint32_t b)
{
	const struct slot *x = &e->slots[a], *y = &e->slots[b];
	assert(a != b);
	if (x->session == y->session)
		return x->index < y->index ? CLAUSES_TRUE : -CLAUSES_TRUE;
	if (is_finally(e, y->session)) return CLAUSES_TRUE;
	return is_finally(e, x->session) ? -CLAUSES_TRUE : 0;
}

static void add_slot(struct encoding *e, uint32_t session)
{
	uint32_t index = e->slots_of[session]++;
	VEC_RESERVE(e->slots, e->slot_count, e->slot_capacity);
	struct slot *s = &e->slots[e->slot_count];
	*s = (struct slot){ .session = session,
		            .index = index,
		            .level = e->runs->levels[session][index],
		            .committed = clauses_variable(&e->clauses) };
	s->commits = some_of_begin(&e->clauses, s->committed);
	e->slot_of[session] =
		mem_grow(e->slot_of[session], index + 1, sizeof **e->slot_of);
	e->slot_of[session][index] = e->slot_count++;
}

/* The slots of transactions that end in the node, and of one that reads. */
static void add_slots(struct encoding *e, const struct run_node *n)
{
	uint32_t count = n->kind == RUN_READS ? n->index + 1 : 0;
	if (n->ended_count && n->ended[n->ended_count - 1].index >= count)
		count = n->ended[n->ended_count - 1].index + 1;
	while (e->slots_of[n->session] < count) add_slot(e, n->session);
}

struct value encoding_initial(const struct encoding *e, uint32_t key)
{
	return keys_initial(e->runs->context.machine.keys, key);
}

/* ---- nodes ---- */

/* The session may stop there. */
static void add_read(struct encoding *e, const struct run_node *n)
{
	struct encoded_node *x = &e->nodes[n->number];
	x->open = clauses_variable(&e->clauses);
	CLAUSE(&e->clauses, -x->open, x->at);
	some_of_add(&e->clauses, &e->opens, x->open);
}

/* It comes there by the value that it read. */
static void add_answer(struct encoding *e, const struct run_node *n)
{
	const struct encoded_node *x = &e->nodes[n->number];
	struct encoded_node *parent = &e->nodes[n->parent->number];
	CLAUSE(&e->clauses, -x->at, parent->at);
	CLAUSE(&e->clauses, -x->at, -parent->open);
	at_most_one_add(&e->clauses, &parent->children, x->at);
}

/* It comes there, to go on where other runs do. */
static void add_way(struct encoding *e, const struct run_node *n)
{
	int at = e->nodes[n->number].at;
	struct encoded_node *join = &e->nodes[n->join->number];
	assert(n->join->number < n->number);
	CLAUSE(&e->clauses, -at, join->at);
	some_of_add(&e->clauses, &join->ways, at);
}

static void add_commits(struct encoding *e, const struct run_node *n)
{
	int at = e->nodes[n->number].at;
	for (uint32_t i = 0; i < n->ended_count; i++) {
		struct slot *s =
			&e->slots[e->slot_of[n->session][n->ended[i].index]];
		if (n->ended[i].aborted) continue;
		CLAUSE(&e->clauses, -at, s->committed);
		some_of_add(&e->clauses, &s->commits, at);
	}
}

/* What is settled there is written if the transaction commits. */
static void add_settled(struct encoding *e, const struct run_node *n)
{
	struct clauses *c = &e->clauses;
	struct encoded_node *x = &e->nodes[n->number];
	if (!n->settled) return;
	int committed = e->slots[e->slot_of[n->session][n->index]].committed;
	x->settles = clauses_variable(c);
	CLAUSE(c, -x->settles, x->at);
	CLAUSE(c, -x->settles, committed);
	CLAUSE(c, x->settles, -x->at, -committed);
}

static int root_literal(struct encoding *e, uint32_t session)
{
	if (!is_finally(e, session)) return CLAUSES_TRUE;
	int at = clauses_variable(&e->clauses);
	for (uint32_t i = 0; i < session; i++)
		CLAUSE(&e->clauses, -at, e->over[i]);
	return at;
}

/* The first transactions of sessions that run the same code: exchanging those
 * makes each model one in which they are sorted, as far as no literal tells
 * sessions apart. */
static void sort(struct encoding *e, uint32_t slot)
{
	const uint32_t *first = e->runs->first_same;
	uint32_t session = e->slots[slot].session, i = session;
	while (i-- > 0)
		if (first[i] == first[session] && e->slots_of[i]) {
			e->form->sort(e->order, e->sorted, e->slot_of[i][0],
			              slot);
			return;
		}
}

static void add_node(struct encoding *e, const struct run_node *n)
{
	struct encoded_node x = { 0 };
	VEC_RESERVE(e->nodes, e->node_count, e->node_capacity);
	assert(n->number == e->node_count);
	x.at = n->parent || n->joined ? clauses_variable(&e->clauses)
	                              : root_literal(e, n->session);
	if (n->joined) x.ways = some_of_begin(&e->clauses, x.at);
	e->nodes[e->node_count++] = x;
}

void encoding_add(struct encoding *e, struct run_node *n)
{
	struct clauses *c = &e->clauses;
	add_node(e, n);
	if (n->parent) add_answer(e, n);
	if (n->kind == RUN_READS)
		add_read(e, n);
	else if (n->kind == RUN_JOINS)
		add_way(e, n);
	else if (n->kind == RUN_OVER)
		some_of_add(c, &e->overs[n->session], e->nodes[n->number].at);
	uint32_t slot = e->slot_count;
	add_slots(e, n);
	add_commits(e, n);
	add_settled(e, n);
	e->form->add(e->order, n);
	if (slot < e->slot_count && !e->slots[slot].index) sort(e, slot);
}

/* ---- all ---- */

void encoding_init(struct encoding *e, struct runs *r,
                   const struct order_form *form, bool keeps)
{
	uint32_t sessions = r->context.sessions;
	struct clauses *c = &e->clauses;
	*e = (struct encoding){ .runs = r, .level = r->level, .form = form };
	clauses_init(c, form->guess, keeps);
	e->slot_of = mem_take0(sessions + 1, sizeof *e->slot_of);
	e->slots_of = mem_take0(sessions + 1, sizeof *e->slots_of);
	e->over = mem_take0(sessions + 1, sizeof *e->over);
	e->overs = mem_take0(sessions + 1, sizeof *e->overs);
	e->all_over = clauses_variable(c);
	e->some_open = clauses_variable(c);
	e->sorted = clauses_variable(c);
	e->opens = some_of_begin(c, e->some_open);
	for (uint32_t i = 0; i < sessions; i++) {
		e->over[i] = clauses_variable(c);
		e->overs[i] = some_of_begin(c, e->over[i]);
		CLAUSE(c, -e->all_over, e->over[i]);
	}
	e->order = form->begin(e);
	for (uint32_t i = 0; i < r->count; i++) encoding_add(e, r->nodes[i]);
	if (form->close) form->close(e->order);
}

void encoding_free(struct encoding *e)
{
	e->form->end(e->order);
	for (uint32_t i = 0; i < e->runs->context.sessions; i++)
		free(e->slot_of[i]);
	free(e->slot_of);
	free(e->slots_of);
	free(e->slots);
	free(e->nodes);
	free(e->over);
	free(e->overs);
	clauses_free(&e->clauses);
}

/* The node where the session goes on from this one; NULL: it stands there. */
static struct run_node *next(const struct encoding *e, struct run_node *n)
{
	struct run_node *m = n->children;
	if (n->kind == RUN_JOINS) return n->join;
	while (m && !clauses_value(&e->clauses, e->nodes[m->number].at))
		m = m->next;
	return m;
}

struct run_node *encoding_stands(const struct encoding *e, uint32_t session)
{
	struct run_node *n = e->runs->roots[session], *m = n;
	for (; m; m = next(e, m)) n = m;
	return n;
}

struct run_node **encoding_way(const struct encoding *e, uint32_t session,
                               uint32_t *count)
{
	struct run_node **way = NULL, *n = e->runs->roots[session];
	uint32_t capacity = 0;
	*count = 0;
	for (; n; n = next(e, n)) {
		VEC_RESERVE(way, *count, capacity);
		way[(*count)++] = n;
	}
	return way;
}
