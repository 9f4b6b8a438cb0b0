#include "api/check_history.h"

#include <assert.h>

#include "api/programs.h"
#include "axioms/witness.h"
#include "base/seconds.h"
#include "history/facts.h"
#include "history/history.h"

bool check_levels_fit(const struct trace *t, unsigned *levels,
                      struct problem *problem)
{
	enum check_owns owns = trace_owns(t);
	enum level l = 0, first;
	if (owns == OWNS_NONE) return true;
	while (!(*levels >> l & 1)) l++;
	first = l;
	for (; l < LEVEL_COUNT; l++) {
		if (!(*levels >> l & 1)) continue;
		if (!level_mixes(l))
			*levels &= ~(1u << l);
		else if (owns == OWNS_ALL)
			*levels = 1u << l;
	}
	return *levels || trace_takes_level(t, first, problem);
}

void check_history(struct checked *c, const struct trace *t, unsigned levels,
                   struct check_clock *clock)
{
	assert(levels && levels < 1u << LEVEL_COUNT);
	*c = (struct checked){ .facts = facts_of_trace(t), .clock = clock };
	c->found = (struct check_case){ .trace = t,
		                        .format = FORMAT_COUNT,
		                        .number = 1,
		                        .wanted = levels,
		                        .results = c->results };
	c->found.owns = trace_owns(t);
	for (enum level l = 0; l < LEVEL_COUNT; l++)
		c->found.shown_by[l] = LEVEL_COUNT;
	double begun = seconds_now();
	check_levels(t, c->facts, levels, clock, c->results);
	c->found.check_seconds = seconds_now() - begun;
}

void checked_free(struct checked *c)
{
	for (enum level l = 0; l < LEVEL_COUNT; l++) {
		check_result_free(&c->results[l]);
		if (c->witnesses[l].part) check_witness_free(&c->witnesses[l]);
	}
	facts_free(c->facts);
}

void checked_find_orders(struct checked *c)
{
	enum level levels[LEVEL_COUNT];
	unsigned count = check_strongest(&c->found, levels);
	assert(count <= LEVEL_COUNT);
	for (unsigned i = 0; i < count; i++) {
		struct check_result *r = &c->results[levels[i]];
		if (check_commit_order(c->facts, levels[i], c->clock, r) &&
		    check_has_schedule(c->facts, levels[i]))
			check_schedule(c->found.trace, c->facts, levels[i],
			               c->clock, r);
	}
}

enum level checked_witnessed(const struct checked *c)
{
	enum level l = 0;
	while (l < LEVEL_COUNT && c->found.shown_by[l] != l) l++;
	assert(l == LEVEL_COUNT || c->witnesses[l].part);
	return l;
}

/* ---- witnesses ---- */

/* Nothing smaller than init and two transactions violates a level. */
enum { SMALLEST_PART = 3 };

/* The smallest witness of a weaker level, which shows this one violated as
 * well; LEVEL_COUNT if there is none. */
static enum level borrowed(const struct checked *c, enum level l)
{
	enum level best = LEVEL_COUNT;
	for (enum level o = 0; o < l; o++) {
		if (c->found.shown_by[o] != o || !check_implies(c->facts, l, o))
			continue;
		if (best == LEVEL_COUNT ||
		    c->witnesses[o].part->transaction_count <
		            c->witnesses[best].part->transaction_count)
			best = o;
	}
	return best;
}

static void explain_level(struct checked *c, enum level l)
{
	struct check_case *found = &c->found;
	struct check_witness *w = &c->witnesses[l];
	enum level other = borrowed(c, l);
	assert(other < l || other == LEVEL_COUNT);
	uint32_t known = other < LEVEL_COUNT
	                         ? c->witnesses[other].part->transaction_count
	                         : UINT32_MAX;
	found->shown_by[l] = other;
	if (known <= SMALLEST_PART) return;
	if (check_explain(found->trace, c->facts, l, &c->results[l], c->clock,
	                  w) &&
	    w->part->transaction_count < known) {
		found->shown_by[l] = l;
		return;
	}
	check_witness_free(w);
	*w = (struct check_witness){ 0 };
	if (other == LEVEL_COUNT)
		found->unexplained = check_clock_reason(c->clock);
}

/* A part that a weaker level forbids as well decides that level, if it is
 * undecided: then it is the one to show the part for. */
static void settle(struct checked *c, enum level l)
{
	struct check_case *found = &c->found;
	struct check_witness *w = &c->witnesses[l];
	struct witness cycle;
	enum level to = 0;
	assert(w->part);
	while (to < l && !(check_has(found, to, VERDICT_UNDECIDED) &&
	                   check_implies(c->facts, to, w->weakest)))
		to++;
	if (to == l || !check_cycle(c->facts, to, w->part, &cycle)) return;
	witness_free(&w->cycle);
	w->cycle = cycle;
	for (enum level o = to; o < LEVEL_COUNT; o++) {
		if (check_has(found, o, VERDICT_UNDECIDED) &&
		    check_implies(c->facts, o, to)) {
			check_result_free(&c->results[o]);
			c->results[o].verdict = VERDICT_VIOLATED;
			found->shown_by[o] = to;
		}
		if (found->shown_by[o] == l) found->shown_by[o] = to;
	}
	c->witnesses[to] = *w;
	*w = (struct check_witness){ 0 };
}

void checked_explain(struct checked *c)
{
	struct check_case *found = &c->found;
	double begun = seconds_now();
	found->witnesses = c->witnesses;
	for (enum level l = 0; l < LEVEL_COUNT; l++)
		if (check_has(found, l, VERDICT_VIOLATED) &&
		    check_forbidding(found->trace, l) == ANOMALY_COUNT)
			explain_level(c, l);
	for (enum level l = 0; l < LEVEL_COUNT; l++)
		if (found->shown_by[l] == l) settle(c, l);
	found->explain_seconds = seconds_now() - begun;
}
