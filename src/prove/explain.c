/* Why is there no cycle? Each row of transactions that conflict one with the
 * next is asked for again, with the rules as assumptions. */
#include <stdlib.h>

#include "base/memory.h"
#include "prove/search.h"

struct question {
	struct search *x;
	struct instances *in;
	unsigned count; /* of rules */
	bool *assumed;  /* rules */
	Z3_ast *literals;
};

/* Is it impossible with what is assumed? */
static bool is_excluded(struct question *q)
{
	unsigned n = 0;
	for (unsigned r = 0; r < q->count; r++)
		if (q->assumed[r]) q->literals[n++] = q->in->names[r];
	return search_find_model(q->x, q->in, q->literals, n) == Z3_L_FALSE;
}

static void assume(struct question *q, unsigned first, unsigned end, bool yes)
{
	for (unsigned r = first; r < end; r++)
		q->assumed[r] = yes && q->in->names[r];
}

/* Leaves out what is not needed. The order is fixed, and the solver's own cores
 * are not taken, so that the answer is the same always. */
static void leave_out(struct question *q)
{
	unsigned first = RULE_UNWRITTEN;
	assume(q, first, q->count, false);
	if (is_excluded(q)) first = q->count;
	assume(q, first, q->count, true);
	for (unsigned i = 0; i < q->count; i++) {
		unsigned r = (first + i) % q->count;
		if (!q->assumed[r]) continue;
		q->assumed[r] = false;
		q->assumed[r] = !is_excluded(q);
	}
}

enum kind { PATH, CYCLE, PAIR };

static void assert_kind(struct instances *in, uint32_t length, enum kind kind)
{
	const struct between *k = &in->between[0][1];
	Z3_ast any[] = { k->wr, k->ww, k->rw };
	if (kind == PAIR)
		instances_assert(in, Z3_mk_or(in->z, 3, any));
	else
		search_assert_path(in, length);
	if (kind == CYCLE)
		instances_assert(in, in->between[length - 1][0].depends);
}

static void explain(struct search *x, const uint32_t *which, uint32_t length,
                    enum kind kind)
{
	struct proof *out = x->out;
	struct question q = { .x = x, .count = instances_rule_count(out->app) };
	out->options.terms.named = true;
	q.in = search_take(x, which, length);
	out->options.terms.named = false;
	q.assumed = mem_take0(q.count, sizeof *q.assumed);
	q.literals = mem_take0(q.count, sizeof *q.literals);
	assert_kind(q.in, length, kind);
	assume(&q, 0, q.count, true);
	bool excluded = is_excluded(&q);
	if (excluded) leave_out(&q);
	if (excluded && !search_is_late(x)) {
		VEC_RESERVE(out->exclusions, out->exclusion_count,
		            out->exclusion_capacity);
		struct proved_exclusion *e =
			&out->exclusions[out->exclusion_count++];
		*e = (struct proved_exclusion){ .length = length,
			                        .pair = kind == PAIR,
			                        .back = kind == CYCLE,
			                        .rules = q.assumed };
		for (uint32_t i = 0; i < length; i++) e->which[i] = which[i];
		q.assumed = NULL;
	}
	free(q.assumed);
	free(q.literals);
	instances_free(q.in);
}

/* Can each depend on the one before it, as far as two tell? What follows in a
 * session is no other step than one in it. */
static bool may_depend(const struct search *x, const uint32_t *which,
                       uint32_t length, bool back)
{
	const struct proof *out = x->out;
	bool session = false;
	for (uint32_t i = 0; i + !back < length; i++) {
		uint32_t a = which[i], b = which[(i + 1) % length];
		const struct proved_pair *k =
			&out->pairs[a * out->app->summary_count + b];
		bool conflict = k->wr || k->ww || k->rw;
		if (!conflict && (session || out->options.terms.one_each))
			return false;
		session = !conflict;
	}
	return true;
}

static void explain_all(struct search *x, uint32_t length, bool back)
{
	uint32_t which[INSTANCES_MAX] = { 0 }, i;
	do {
		if (search_is_late(x)) return;
		search_tick(x, length);
		if (may_depend(x, which, length, back))
			explain(x, which, length, back ? CYCLE : PATH);
		for (i = 0; i < length; which[i++] = 0)
			if (++which[i] < x->out->app->summary_count) break;
	} while (i < length);
}

/* Those that name the same keys, as far as two never depend on each other. */
static void explain_pairs(struct search *x)
{
	const struct application *app = x->out->app;
	uint32_t which[2];
	for (which[0] = 0; which[0] < app->summary_count; which[0]++)
		for (which[1] = 0; which[1] < app->summary_count; which[1]++) {
			const struct proved_pair *k =
				&x->out->pairs[which[0] * app->summary_count +
			                       which[1]];
			if (search_is_late(x)) return;
			if (!k->wr && !k->ww && !k->rw &&
			    summaries_conflict(app, which[0], which[1]))
				explain(x, which, 2, PAIR);
		}
}

void search_explain(struct search *x)
{
	const struct proof *out = x->out;
	explain_pairs(x);
	for (uint32_t m = 2; m < out->length; m++) explain_all(x, m, true);
	explain_all(x, out->length, false);
}
