#include "solve/final_circuit.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"
#include "vm/final_code.h"
#include "vm/machine.h"
#include "vm/program.h"

enum { NODES_MOST = 1 << 17, EDGES_MOST = 1 << 20 };

/* ---- locals ---- */

void final_locals_free(struct final_locals *l)
{
	for (uint32_t i = 0; i < l->count; i++) {
		free(l->items[i].values);
		free(l->items[i].literals);
	}
	free(l->items);
}

static int literal_of(struct encoding *e, struct final_local *x, struct value v)
{
	uint32_t i = 0;
	while (i < x->count && !value_equal(x->values[i], v)) i++;
	if (i < x->count) return x->literals[i];
	VEC_RESERVE(x->values, x->count, x->capacity);
	x->literals = mem_grow(x->literals, x->capacity, sizeof *x->literals);
	x->values[x->count] = v;
	return x->literals[x->count++] = clauses_variable(&e->clauses);
}

/* With what is known of it by now. */
static struct final_local *local_of(struct encoding *e, struct final_locals *l,
                                    struct machine_final_local which)
{
	uint32_t i = 0;
	while (i < l->count && (l->items[i].session != which.session ||
	                        l->items[i].reg != which.reg))
		i++;
	if (i == l->count) {
		VEC_RESERVE(l->items, l->count, l->capacity);
		l->items[l->count++] =
			(struct final_local){ .session = which.session,
			                      .reg = which.reg };
	}
	struct final_local *x = &l->items[i];
	for (; x->seen < e->node_count; x->seen++) {
		const struct run_node *n = e->runs->nodes[x->seen];
		if (n->session != x->session || n->kind != RUN_OVER) continue;
		int v = literal_of(e, x, machine_register(n->state, x->reg));
		CLAUSE(&e->clauses, -e->nodes[n->number].at, v);
	}
	return x;
}

/* ---- the diagram ---- */

struct circuit_node {
	struct machine_state *state; /* it waits for the local */
	struct machine_final_local local;
	int fails, error;
};

struct circuit {
	struct encoding *e;
	struct final_locals *locals;
	place_predicate *is_met;
	const void *data;
	struct final_code code;
	struct machine machine;
	struct circuit_node *nodes;
	uint32_t count, capacity;
	uint64_t edges;
	struct table by_state;
	bool tells_apart; /* sessions that run the same code */
};

/* A state that has been reached: what is true of it. */
struct reached {
	int fails, error;
};

static struct reached ended(const struct circuit *c,
                            const struct machine_state *s)
{
	struct reached r = { -CLAUSES_TRUE, -CLAUSES_TRUE };
	const struct finding *f = machine_findings(s);
	assert(!f || f->kind != FINDING_ASSUME);
	if (f && f->kind == FINDING_ASSERT) r.fails = CLAUSES_TRUE;
	if (f && f->kind == FINDING_ERROR && !c->is_met(c->data, f->point))
		r.error = CLAUSES_TRUE;
	return r;
}

/* Runs the state on to where it waits or ends. */
static struct reached reach(struct circuit *c, struct machine_state *s)
{
	struct machine_final_local local;
	uint32_t i;
	if (!machine_final_step(&c->machine, s, &local)) return ended(c, s);
	struct table_probe at = table_probe(final_code_hash(&c->code, s));
	while ((i = table_next(&c->by_state, &at)) != TABLE_NONE)
		if (final_code_equal(&c->code, c->nodes[i].state, s)) break;
	if (i == TABLE_NONE) {
		i = c->count;
		VEC_RESERVE(c->nodes, c->count, c->capacity);
		table_put(&c->by_state, at, c->count);
		c->nodes[c->count++] = (struct circuit_node){
			s, local, clauses_variable(&c->e->clauses),
			clauses_variable(&c->e->clauses)
		};
	}
	return (struct reached){ c->nodes[i].fails, c->nodes[i].error };
}

static bool is_alone(const struct runs *r, uint32_t session)
{
	for (uint32_t i = 0; i < r->context.sessions; i++)
		if (i != session && r->first_same[i] == r->first_same[session])
			return false;
	return true;
}

/* From the node goes an edge for each value of its local. */
static void leave(struct circuit *c, uint32_t node)
{
	struct circuit_node n = c->nodes[node];
	struct clauses *k = &c->e->clauses;
	const struct final_local *x = local_of(c->e, c->locals, n.local);
	size_t size = final_code_size(&c->code);
	c->tells_apart |= !is_alone(c->e->runs, n.local.session);
	for (uint32_t i = 0; i < x->count; i++) {
		struct machine_state *s = region_take(c->machine.region, size);
		memcpy(s, n.state, size);
		machine_answer(c->code.view, s, x->values[i]);
		struct reached to = reach(c, s);
		CLAUSE(k, -n.fails, -x->literals[i], to.fails);
		CLAUSE(k, -n.error, -x->literals[i], to.error);
		c->edges++;
	}
}

/* The literal, in one order of sessions that run the same code if these do not
 * matter to it. */
static int in_order(const struct circuit *c, int literal)
{
	if (c->tells_apart || literal == -CLAUSES_TRUE) return literal;
	int sorted = clauses_variable(&c->e->clauses);
	CLAUSE(&c->e->clauses, -sorted, literal);
	CLAUSE(&c->e->clauses, -sorted, c->e->sorted);
	return sorted;
}

enum circuit_answer final_circuit(struct encoding *e, struct final_locals *l,
                                  uint32_t assertion, place_predicate *is_met,
                                  const void *data, int *fails, int *error)
{
	struct machine *of = &e->runs->context.machine;
	struct circuit c = { .e = e,
		             .locals = l,
		             .is_met = is_met,
		             .data = data,
		             .machine = *of };
	struct region region;
	assert(program_assertion(of->program, assertion)->kind ==
	       ASSERTION_FINAL);
	if (program_is_native(of->program) || program_is_sql(of->program))
		return CIRCUIT_NONE;
	region_init(&region);
	final_code_init(&c.code, of->program, assertion);
	c.machine.program = c.code.view;
	c.machine.region = &region;
	table_init(&c.by_state, 0);
	struct reached root = reach(&c, final_code_begin(&c.code, &c.machine));
	uint32_t i = 0;
	while (i < c.count && c.count < NODES_MOST && c.edges < EDGES_MOST &&
	       !c.machine.stop && !clauses_over(&e->clauses))
		leave(&c, i++);
	*fails = in_order(&c, root.fails);
	*error = in_order(&c, root.error);
	bool whole = i == c.count;
	free(c.nodes);
	table_free(&c.by_state);
	final_code_free(&c.code);
	region_free(&region);
	return whole ? CIRCUIT_MADE : CIRCUIT_LARGE;
}
