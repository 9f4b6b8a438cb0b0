#include "solve/clauses.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/seconds.h"

bool clauses_over(const struct clauses *c)
{
	return (c->interrupt && atomic_load(c->interrupt)) ||
	       (c->enough && atomic_load(c->enough)) ||
	       (c->deadline > 0 && seconds_now() > c->deadline);
}

static int is_over(void *clauses)
{
	return clauses_over(clauses);
}

static void drop_sat(void *sat)
{
	ccadical_release(sat);
}

/* A literal, or 0 at the end of a clause. */
static void add(struct clauses *c, int literal)
{
	ccadical_add(c->sat, literal);
	if (!c->keeps) return;
	VEC_RESERVE(c->kept, c->kept_count, c->kept_capacity);
	c->kept[c->kept_count++] = literal;
}

void clauses_init(struct clauses *c, bool guess, bool keeps)
{
	*c = (struct clauses){ .sat = ccadical_init(), .keeps = keeps };
	mem_hold_solver(c->sat, drop_sat);
	ccadical_set_option(c->sat, "quiet", 1);
	/* Many small questions: what pays off for a single hard one does not
	 * here. */
	ccadical_set_option(c->sat, "lucky", 0);
	ccadical_set_option(c->sat, "phase", guess);
	ccadical_set_terminate(c->sat, c, is_over);
	c->variables = CLAUSES_TRUE;
	add(c, CLAUSES_TRUE);
	add(c, 0);
}

void clauses_free(struct clauses *c)
{
	if (!c->sat) return;
	mem_let_go(c->sat);
	ccadical_release(c->sat);
	free(c->tails);
	free(c->kept);
}

int clauses_variable(struct clauses *c)
{
	assert(c->variables < INT_MAX);
	return ++c->variables;
}

void clauses_add(struct clauses *c, const int *literals)
{
	for (const int *l = literals; *l; l++) {
		assert(*l >= -c->variables && *l <= c->variables);
		if (*l == CLAUSES_TRUE) return;
	}
	for (; *literals; literals++) {
		if (*literals == -CLAUSES_TRUE) continue;
		add(c, *literals);
		c->literals++;
	}
	add(c, 0);
}

/* A chain: each link is true when one of the literals so far is. */
void at_most_one_add(struct clauses *c, struct at_most_one *m, int literal)
{
	int link = clauses_variable(c);
	assert(literal);
	CLAUSE(c, -literal, link);
	if (m->before) {
		CLAUSE(c, -m->before, link);
		CLAUSE(c, -m->before, -literal);
	}
	m->before = link;
}

struct some_of some_of_begin(struct clauses *c, int premise)
{
	struct some_of s = { c->tail_count };
	VEC_RESERVE(c->tails, c->tail_count, c->tail_capacity);
	c->tails[c->tail_count++] = premise;
	return s;
}

void some_of_add(struct clauses *c, struct some_of *s, int literal)
{
	int tail = clauses_variable(c);
	assert(s->tail < c->tail_count);
	CLAUSE(c, -c->tails[s->tail], literal, tail);
	c->tails[s->tail] = tail;
}

enum answer clauses_ask(struct clauses *c, int literal, int conflicts)
{
	enum { SATISFIABLE = 10, UNSATISFIABLE = 20 };
	if (clauses_over(c)) return ANSWER_OPEN;
	if (literal) ccadical_assume(c->sat, literal);
	for (size_t i = 0; i < c->tail_count; i++)
		ccadical_assume(c->sat, -c->tails[i]);
	if (conflicts) ccadical_limit(c->sat, "conflicts", conflicts);
	c->questions++;
	switch (ccadical_solve(c->sat)) {
	case SATISFIABLE: return ANSWER_MODEL;
	case UNSATISFIABLE: return ANSWER_NONE;
	default: return ANSWER_OPEN;
	}
}

bool clauses_value(const struct clauses *c, int literal)
{
	int variable = literal < 0 ? -literal : literal;
	assert(variable && variable <= c->variables);
	/* Only for variables does every version of the solver tell it. */
	return (ccadical_val(c->sat, variable) > 0) == (literal > 0);
}

uint64_t clauses_bytes(const struct clauses *c)
{
	enum { VARIABLE = 150, LITERAL = 40 }; /* as measured */
	return VARIABLE * (uint64_t)c->variables + LITERAL * c->literals +
	       c->kept_capacity * sizeof *c->kept;
}
