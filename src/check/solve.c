/* The complete search: a SAT solver advises, saturation judges.
 *
 * Each open choice is a clause: one of its two edges is there. Guessing follows
 * a model; a contradiction gives a clause that forbids the edges which its
 * proof rests on. Every model that is refused is refused for good, so this
 * ends: with a guess that stands, or with clauses that have no model.
 */
#include <assert.h>
#include <ccadical.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/table.h"
#include "check/strong.h"

struct edge_option {
	uint32_t from, to; /* points */
	int literal;       /* true: the edge is there */
};

struct option_pair {
	uint32_t first, second; /* options */
};

/* Lists of numbers, one behind the other. */
struct lists {
	uint32_t *items;
	size_t count, capacity;
	size_t *ends; /* of each list, in items */
	size_t end_count, end_capacity;
};

struct solver {
	struct strong *s;
	CCaDiCaL *sat;
	struct edge_option *options;
	size_t option_count, option_capacity;
	struct table by_edge; /* of the options */
	struct option_pair *choices;
	size_t choice_count, choice_capacity;
	struct lists lemmas; /* options of which one is not there */
	struct lists proofs; /* transactions that prove each lemma, and */
	struct lists roots;  /* edges whose reasons it needs besides */
	bool *chosen;        /* options of the model */
	bool too_large;
};

static void list_add(struct lists *l, uint32_t item)
{
	VEC_RESERVE(l->items, l->count, l->capacity);
	l->items[l->count++] = item;
}

static void list_end(struct lists *l)
{
	VEC_RESERVE(l->ends, l->end_count, l->end_capacity);
	assert(!l->end_count || l->ends[l->end_count - 1] <= l->count);
	l->ends[l->end_count++] = l->count;
}

static size_t list_begin(const struct lists *l, size_t i)
{
	return i ? l->ends[i - 1] : 0;
}

static int is_over(void *clock)
{
	return check_clock_over(clock);
}

static void drop_sat(void *sat)
{
	ccadical_release(sat);
}

static void free_sat(CCaDiCaL *sat)
{
	mem_let_go(sat);
	ccadical_release(sat);
}

/* A solver that says nothing and stops when time is over. */
static CCaDiCaL *new_sat(struct check_clock *clock)
{
	CCaDiCaL *sat = ccadical_init();
	mem_hold(sat, drop_sat);
	ccadical_set_option(sat, "quiet", 1);
	ccadical_set_terminate(sat, clock, is_over);
	return sat;
}

/* ---- Options ---- */

/* The solver first tries false: that is to mean an order of points like that
 * of topo. */
static uint32_t option_of(struct solver *v, const struct edge *e)
{
	struct table_probe probe = table_probe(hash_mix(e->from, e->to));
	uint32_t i;
	while ((i = table_next(&v->by_edge, &probe)) != TABLE_NONE)
		if (v->options[i].from == e->from && v->options[i].to == e->to)
			return i;
	VEC_RESERVE(v->options, v->option_count, v->option_capacity);
	i = (uint32_t)v->option_count++;
	assert(v->option_count < INT32_MAX);
	int variable = (int)i + 1;
	bool along = v->s->topo_rank[e->from] < v->s->topo_rank[e->to];
	v->options[i] = (struct edge_option){ e->from, e->to,
		                              along ? -variable : variable };
	table_put(&v->by_edge, probe, i);
	return i;
}

static bool add_choice(void *data, const struct open_choice *c)
{
	struct solver *v = data;
	assert(c->first.from != c->second.from || c->first.to != c->second.to);
	struct option_pair p = { option_of(v, &c->first),
		                 option_of(v, &c->second) };
	VEC_RESERVE(v->choices, v->choice_count, v->choice_capacity);
	v->choices[v->choice_count++] = p;
	v->too_large = v->option_count > INT32_MAX / 4 ||
	               check_clock_too_large(v->s->clock, v->choice_count * 64);
	return !v->too_large && !check_clock_over(v->s->clock);
}

/* ---- Models ---- */

/* Contradictions that are learnt from one model. */
enum { PATIENCE = 1000 };

static void learn(void *data, const struct proof *proof)
{
	struct solver *v = data;
	for (size_t i = 0; i < proof->choice_count; i++) {
		uint32_t option = option_of(v, &proof->choices[i]);
		list_add(&v->lemmas, option);
		ccadical_add(v->sat, -v->options[option].literal);
	}
	ccadical_add(v->sat, 0);
	list_end(&v->lemmas);
	for (uint32_t t = 1; t < v->s->f->n; t++)
		if (proof->core[t]) list_add(&v->proofs, t);
	list_end(&v->proofs);
	for (size_t i = 0; i < proof->root_count; i++)
		list_add(&v->roots, proof->roots[i]);
	list_end(&v->roots);
}

static bool is_chosen(void *data, const struct open_choice *c)
{
	struct solver *v = data;
	return v->chosen[option_of(v, &c->first)];
}

/* Guesses as the model says. The first contradiction, if there is one, rests on
 * edges of the model only, and so forbids this model. */
static enum strong_answer try_model(struct solver *v)
{
	struct guide guide = { is_chosen, learn, v, PATIENCE };
	v->chosen = mem_grow(v->chosen, v->option_count + 1, sizeof *v->chosen);
	/* The solver's values are lost with the first clause added. */
	for (size_t i = 0; i < v->option_count; i++) {
		/* Only for variables does every version tell the value. */
		bool value = ccadical_val(v->sat, (int)i + 1) > 0;
		v->chosen[i] = value == (v->options[i].literal > 0);
	}
	return guess_guided(v->s, &guide);
}

/* ---- The proof that there is no order ---- */

static void mark_owners(struct solver *v, uint32_t option, bool *core)
{
	const struct edge_option *o = &v->options[option];
	core[point_owner(v->s, o->from)] = true;
	core[point_owner(v->s, o->to)] = true;
}

/* Every clause again, each with a variable of its own that switches it on. */
static int add_switched(struct solver *v, CCaDiCaL *sat)
{
	int variable = (int)v->option_count;
	for (size_t i = 0; i < v->choice_count; i++) {
		ccadical_add(sat, -++variable);
		ccadical_add(sat, v->options[v->choices[i].first].literal);
		ccadical_add(sat, v->options[v->choices[i].second].literal);
		ccadical_add(sat, 0);
	}
	for (size_t i = 0; i < v->lemmas.end_count; i++) {
		ccadical_add(sat, -++variable);
		for (size_t k = list_begin(&v->lemmas, i);
		     k < v->lemmas.ends[i]; k++)
			ccadical_add(sat,
			             -v->options[v->lemmas.items[k]].literal);
		ccadical_add(sat, 0);
	}
	return variable;
}

static void mark_used(struct solver *v, CCaDiCaL *sat, bool *core)
{
	int variable = (int)v->option_count;
	for (size_t i = 0; i < v->choice_count; i++) {
		if (!ccadical_failed(sat, ++variable)) continue;
		mark_owners(v, v->choices[i].first, core);
		mark_owners(v, v->choices[i].second, core);
	}
	for (size_t i = 0; i < v->lemmas.end_count; i++) {
		if (!ccadical_failed(sat, ++variable)) continue;
		for (size_t k = list_begin(&v->proofs, i);
		     k < v->proofs.ends[i]; k++)
			core[v->proofs.items[k]] = true;
		size_t first = list_begin(&v->roots, i);
		reasons_of_edges(v->s, v->roots.items + first,
		                 v->roots.ends[i] - first, core);
	}
}

/* The clauses that the contradiction needs, and the transactions of those. When
 * time is over, nothing is marked: nothing smaller is known. */
static void find_core(struct solver *v, bool *core)
{
	CCaDiCaL *sat = new_sat(v->s->clock);
	int last = add_switched(v, sat);
	for (int i = (int)v->option_count + 1; i <= last; i++)
		ccadical_assume(sat, i);
	if (ccadical_solve(sat) == 20) mark_used(v, sat, core);
	free_sat(sat);
}

/* ---- Search ---- */

static enum strong_answer search(struct solver *v, bool *core)
{
	for (;;) {
		int answer = ccadical_solve(v->sat);
		if (answer == 20) {
			find_core(v, core);
			return ANSWER_NO;
		}
		if (answer != 10) return ANSWER_OPEN;
		if (try_model(v) == ANSWER_YES) return ANSWER_YES;
		if (v->s->out_of_time) return ANSWER_OPEN;
	}
}

static void solver_init(struct solver *v, struct strong *s)
{
	*v = (struct solver){ .s = s, .sat = new_sat(s->clock) };
	table_init(&v->by_edge, 0);
	ccadical_set_option(v->sat, "phase", 0);
	likely_order(s);
	for (uint32_t t = 1; t < s->f->n; t++)
		if (!choices_of(s, t, add_choice, v)) break;
	for (size_t i = 0; i < v->choice_count; i++) {
		ccadical_add(v->sat, v->options[v->choices[i].first].literal);
		ccadical_add(v->sat, v->options[v->choices[i].second].literal);
		ccadical_add(v->sat, 0);
	}
}

static void solver_free(struct solver *v)
{
	free_sat(v->sat);
	free(v->options);
	table_free(&v->by_edge);
	free(v->choices);
	free(v->lemmas.items);
	free(v->lemmas.ends);
	free(v->proofs.items);
	free(v->proofs.ends);
	free(v->roots.items);
	free(v->roots.ends);
	free(v->chosen);
}

enum strong_answer solve(struct strong *s, bool *core)
{
	struct solver v;
	enum strong_answer answer = ANSWER_OPEN;
	solver_init(&v, s);
	s->too_large = v.too_large;
	if (!v.too_large && !check_clock_over(s->clock))
		answer = search(&v, core);
	solver_free(&v);
	return answer;
}
