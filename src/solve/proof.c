#include "solve/proof.h"

#include <assert.h>
#include <inttypes.h>
#include <limits.h>

#include "base/memory.h"

/* ---- the formula ---- */

/* Of clauses, the assumptions that close what is open, and the literal. */
static void each(const struct clauses *c, int literal,
                 void (*see)(void *data, int literal), void *data)
{
	for (size_t i = 0; i < c->kept_count; i++) see(data, c->kept[i]);
	for (size_t i = 0; i < c->tail_count; i++) {
		see(data, -c->tails[i]);
		see(data, 0);
	}
	see(data, literal);
	see(data, 0);
}

static void count_clause(void *data, int literal)
{
	uint64_t *count = data;
	*count += !literal;
}

static void print_literal(void *file, int literal)
{
	fprintf(file, literal ? "%d " : "%d\n", literal);
}

static uint64_t print_formula(const struct clauses *c, int literal, FILE *to)
{
	uint64_t count = 0;
	each(c, literal, count_clause, &count);
	fprintf(to, "p cnf %d %" PRIu64 "\n", c->variables, count);
	each(c, literal, print_literal, to);
	return count;
}

/* ---- the proof ---- */

struct steps {
	FILE *to;
	uint64_t count;
	bool ended; /* by the empty clause */
};

static void print_learned(void *data, int *literals)
{
	struct steps *s = data;
	s->count++;
	s->ended |= !*literals;
	for (; *literals; literals++) print_literal(s->to, *literals);
	print_literal(s->to, 0);
}

static void give_literal(void *solver, int literal)
{
	ccadical_add(solver, literal);
}

static int is_over(void *clauses)
{
	return clauses_over(clauses);
}

static void drop_sat(void *sat)
{
	ccadical_release(sat);
}

/* One that learns from conflicts only. */
static CCaDiCaL *searcher(const struct clauses *c, struct steps *s)
{
	CCaDiCaL *sat = ccadical_init();
	mem_hold_solver(sat, drop_sat);
	ccadical_set_option(sat, "quiet", 1);
	ccadical_set_option(sat, "lucky", 0);
	ccadical_set_option(sat, "inprocessing", 0);
	ccadical_set_option(sat, "walk", 0);
	ccadical_set_terminate(sat, (void *)(uintptr_t)c, is_over);
	ccadical_set_learn(sat, s, INT_MAX, print_learned);
	return sat;
}

enum answer proof_write(const struct clauses *c, int literal, int conflicts,
                        FILE *formula, FILE *steps, struct proof_size *size)
{
	enum { SATISFIABLE = 10, UNSATISFIABLE = 20 };
	struct steps s = { .to = steps };
	assert(c->keeps);
	size->clauses = print_formula(c, literal, formula);
	CCaDiCaL *sat = searcher(c, &s);
	each(c, literal, give_literal, sat);
	if (conflicts) ccadical_limit(sat, "conflicts", conflicts);
	int answer = clauses_over(c) ? 0 : ccadical_solve(sat);
	mem_let_go(sat);
	ccadical_release(sat);
	if (answer == SATISFIABLE) return ANSWER_MODEL;
	if (answer != UNSATISFIABLE) return ANSWER_OPEN;
	if (!s.ended) print_learned(&s, (int[]){ 0 });
	size->lemmas = s.count;
	return ANSWER_NONE;
}
