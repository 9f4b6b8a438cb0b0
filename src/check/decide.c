/* The answer for one strong level: a likely order, if it is right; else
 * saturation, guesses, and where these leave something open the SAT search.
 * Stronger levels are tried first. */
#include "check/strong.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"

/* The transactions marked, as a list. */
static void take_core(struct check_result *out, const bool *core, uint32_t n)
{
	assert(!core[0]);
	out->verdict = VERDICT_VIOLATED;
	out->core = mem_take(n * sizeof *out->core);
	for (uint32_t t = 1; t < n; t++)
		if (core[t]) out->core[out->core_count++] = t;
}

static void open_result(struct strong *s, struct check_result *out)
{
	out->verdict = VERDICT_UNDECIDED;
	out->reason = check_clock_reason(s->clock);
	if (s->too_large) out->reason = CHECK_MEMORY;
}

/* The order of topo is one that the level allows. */
static void take_order(struct strong *s, struct check_result *out)
{
	out->verdict = VERDICT_HOLDS;
	out->order = mem_take(s->f->n * sizeof *out->order);
	strong_order(s, out->order);
}

static void decide_rest(struct strong *s, bool stop_at_guess,
                        struct check_result *out)
{
	bool *core = mem_take0(s->f->n, sizeof *core);
	enum strong_answer answer = guess(s);
	if (answer == ANSWER_OPEN && !s->out_of_time && !stop_at_guess)
		answer = solve(s, core);
	if (answer == ANSWER_NO) {
		take_core(out, core, s->f->n);
	} else if (answer == ANSWER_OPEN) {
		open_result(s, out);
	} else {
		reach_sort(s);
		take_order(s, out);
	}
	free(core);
}

static void decide(struct strong *s, bool stop_at_guess,
                   struct check_result *out)
{
	if (!s->conflicting && !s->out_of_time && likely_order(s) &&
	    (!s->locks || locks_agree(s))) {
		take_order(s, out);
	} else if (saturate(s)) {
		decide_rest(s, stop_at_guess, out);
	} else if (s->out_of_time) {
		open_result(s, out);
	} else {
		struct proof proof;
		proof_init(&proof, s);
		reasons_of_conflict(s, 0, &proof);
		take_core(out, proof.core, s->f->n);
		proof_free(&proof);
	}
}

static void try_level(const struct facts *f, enum level l,
                      struct check_clock *c, bool stop_at_guess,
                      struct check_result *out)
{
	struct strong s;
	assert(f->order);
	*out = (struct check_result){ .verdict = VERDICT_UNDECIDED };
	if (strong_init(&s, f, l, c))
		decide(&s, stop_at_guess, out);
	else
		out->reason = CHECK_MEMORY;
	strong_free(&s);
}

void check_strong_locks(const struct facts *f, enum level l,
                        const struct strong_locks *locks, struct check_clock *c,
                        struct check_result *out)
{
	struct strong s;
	*out = (struct check_result){ .verdict = VERDICT_UNDECIDED };
	if (strong_init_locks(&s, f, locks, l, c))
		decide(&s, false, out);
	else
		out->reason = CHECK_MEMORY;
	strong_free(&s);
}

void check_strong_guess(const struct facts *f, enum level l,
                        struct check_clock *c, struct check_result *out)
{
	try_level(f, l, c, true, out);
}

void check_strong(const struct facts *f, enum level l, struct check_clock *c,
                  struct check_result *out)
{
	if (!f->order) {
		/* A cycle of so and wr, which no level allows. */
		check_weak(f, l, c, out);
		return;
	}
	/* What satisfies a stronger level is often found out sooner: it forces
	 * more, and under ser fewer writers need an order. */
	for (enum level stronger = LEVEL_COUNT - 1; !f->owns && stronger > l;
	     stronger--) {
		if (!level_implies(stronger, l) ||
		    level_has_statements(stronger))
			continue;
		try_level(f, stronger, c, true, out);
		if (out->verdict == VERDICT_HOLDS) return;
		check_result_free(out);
	}
	try_level(f, l, c, false, out);
}
