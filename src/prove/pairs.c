/* What may happen between two transactions. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "prove/search.h"
#include "prove/words.h"

/* Both; the second may be NULL. */
static bool may_hold(struct search *x, struct instances *in, Z3_ast a, Z3_ast b)
{
	Z3_solver_push(in->z, in->solver);
	instances_assert(in, a);
	if (b) instances_assert(in, b);
	bool holds = search_has_model(x, in);
	Z3_solver_pop(in->z, in->solver, 1);
	return holds;
}

static bool same_key(const struct application *a, const struct summary *s,
                     const struct access *k, const struct access *l)
{
	struct text one = { 0 }, other = { 0 };
	words_key(&one, a, s, k);
	words_key(&other, a, s, l);
	bool same = !strcmp(text_get(&one), text_get(&other));
	if (same) {
		text_clear(&one);
		text_clear(&other);
		words_condition(&one, a, s, k);
		words_condition(&other, a, s, l);
		same = !strcmp(text_get(&one), text_get(&other));
	}
	text_free(&one);
	text_free(&other);
	return same;
}

/* Do they look the same in the table? */
static bool same_place(const struct application *a, const struct summary *s,
                       uint32_t i, uint32_t j)
{
	const struct access *k = &s->accesses[i], *l = &s->accesses[j];
	return i == j || (k->write == l->write && k->family == l->family &&
	                  k->line == l->line && same_key(a, s, k, l));
}

/* The conflict that is told already and looks the same; NULL if there is none.
 */
static struct proved_conflict *told(struct proof *out, uint32_t from,
                                    uint32_t to, uint32_t i, uint32_t j)
{
	const struct summary *s = &out->app->summaries[from],
			     *t = &out->app->summaries[to];
	for (uint32_t k = out->conflict_count; k-- > 0;) {
		struct proved_conflict *c = &out->conflicts[k];
		if (c->from != from || c->to != to) break;
		if (same_place(out->app, s, c->one, i) &&
		    same_place(out->app, t, c->other, j))
			return c;
	}
	return NULL;
}

static void find_conflict(struct search *x, struct instances *in,
                          const uint32_t *which, uint32_t i, uint32_t j)
{
	struct proof *out = x->out;
	const struct access *a = &in->items[0].s->accesses[i];
	Z3_ast formula = instances_conflict(in, 0, i, 1, j);
	struct proved_conflict *c = told(out, which[0], which[1], i, j);
	bool rw = !a->write;
	if (!formula || (c && (!rw || c->against))) return;
	if (!c && may_hold(x, in, formula, NULL)) {
		VEC_RESERVE(out->conflicts, out->conflict_count,
		            out->conflict_capacity);
		c = &out->conflicts[out->conflict_count++];
		*c = (struct proved_conflict){ which[0], which[1], i, j,
			                       false };
	}
	if (c && rw)
		c->against =
			may_hold(x, in, formula, instances_before(in, 1, 0));
}

static void find_conflicts(struct search *x, struct instances *in,
                           const uint32_t *which)
{
	const struct summary *s = in->items[0].s, *t = in->items[1].s;
	for (uint32_t i = 0; i < s->access_count; i++)
		for (uint32_t j = 0; j < t->access_count; j++) {
			if (search_is_late(x)) return;
			find_conflict(x, in, which, i, j);
		}
}

/* Which dependencies there may be, from an instance of one to one of another.
 */
static void find_pair(struct search *x, uint32_t i, uint32_t j)
{
	struct proof *out = x->out;
	uint32_t which[] = { i, j };
	struct proved_pair *p = &out->pairs[i * out->app->summary_count + j];
	if (!summaries_conflict(out->app, i, j) || search_is_late(x)) return;
	struct instances *in = search_take(x, which, 2);
	const struct between *k = &in->between[0][1];
	search_tick(x, 2);
	p->wr = may_hold(x, in, k->wr, NULL);
	p->ww = may_hold(x, in, k->ww, NULL);
	p->rw = may_hold(x, in, k->rw, NULL);
	p->against =
		p->rw && may_hold(x, in, k->rw, instances_before(in, 1, 0));
	if (out->options.table && (p->wr || p->ww || p->rw))
		find_conflicts(x, in, which);
	instances_free(in);
}

void search_pairs(struct search *x)
{
	uint32_t n = x->out->app->summary_count;
	bool undecided = x->out->undecided;
	x->out->pairs = mem_take0((size_t)n * n + 1, sizeof *x->out->pairs);
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = 0; j < n; j++) find_pair(x, i, j);
	x->out->undecided = undecided;
	if (!x->out->stop) return;
	free(x->out->pairs); /* half a table would tell what is not so */
	x->out->pairs = NULL;
	x->out->conflict_count = 0;
}
