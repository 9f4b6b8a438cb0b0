#include "solve/all_levels.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/seconds.h"
#include "vm/program.h"

static bool is_apart(enum level l)
{
	return level_has_statements(l) || !level_mixes(l);
}

/* Where each transaction has a level of its own, all ask the same. Else: of
 * reads that lock, a snapshot of the whole transaction may be older than
 * one of a statement can be; and where transactions have levels of their own,
 * what one level says of another is not known of all. */
static bool implies(const struct level_decisions *d, enum level strong,
                    enum level weak)
{
	const struct program *p = d->program;
	bool locks = program_locks(p) || program_is_native(p);
	if (program_owns_all(p))
		return level_mixes(strong) && level_mixes(weak);
	if (locks && level_has_statements(weak) &&
	    !level_has_statements(strong) && !level_is_serial(strong))
		return false;
	if (program_mixes(p) && strong != weak &&
	    (is_apart(strong) || is_apart(weak)))
		return false;
	return program_checks(p) ? level_implies_checks(strong, weak)
	                         : level_implies(strong, weak);
}

/* ---- what a level's own decision says ---- */

static enum verdict own_verdict(const struct decision *d,
                                const struct level_goal *g)
{
	bool error = g->slot == program_assertion_count(d->program);
	for (uint32_t i = 0; i < d->goal_count; i++) {
		const struct decide_goal *x = &d->goals[i];
		if (x->slot != g->slot || x->point != g->point) continue;
		if (x->verdict == VERDICT_HOLDS && d->vacuous) break;
		if (x->verdict != VERDICT_INCONCLUSIVE || !error)
			return x->verdict;
	}
	return error && d->settled ? VERDICT_HOLDS : VERDICT_INCONCLUSIVE;
}

/* ---- what follows ---- */

/* Does what holds under a level hold under another one? Where executions are
 * left out, there may be none left under a stronger level, so that there is
 * nothing to judge by. Where none are, there is a serial one, which every level
 * allows. */
static bool hands_down(const struct level_decisions *d, enum level from,
                       enum level to)
{
	return implies(d, to, from) && !d->of[from].assumes;
}

/* Is what is known of a goal under a level so under another one? */
static bool follows(const struct level_decisions *d, enum level from,
                    enum verdict known, enum level to)
{
	if (known == VERDICT_VIOLATED) return implies(d, from, to);
	return known == VERDICT_HOLDS && hands_down(d, from, to);
}

enum verdict level_goal_verdict(const struct level_decisions *d, enum level l,
                                uint32_t goal)
{
	const struct level_goal *g = &d->goals[goal];
	enum verdict v = VERDICT_INCONCLUSIVE;
	assert(goal < d->goal_count);
	if (d->decided[l]) v = own_verdict(&d->of[l], g);
	for (enum level k = 0; k < LEVEL_COUNT && v == VERDICT_INCONCLUSIVE;
	     k++) {
		if (!d->decided[k]) continue;
		enum verdict known = own_verdict(&d->of[k], g);
		if (follows(d, k, known, l)) v = known;
	}
	return v;
}

static bool all_are(const struct level_decisions *d, enum level l,
                    enum verdict v)
{
	uint32_t i = 0;
	while (i < d->goal_count && level_goal_verdict(d, l, i) == v) i++;
	return i == d->goal_count;
}

enum verdict level_verdict(const struct level_decisions *d, enum level l)
{
	for (uint32_t i = 0; i < d->goal_count; i++)
		if (level_goal_verdict(d, l, i) == VERDICT_VIOLATED)
			return VERDICT_VIOLATED;
	if (!all_are(d, l, VERDICT_HOLDS)) return VERDICT_INCONCLUSIVE;
	if (d->decided[l] && d->of[l].verdict == VERDICT_HOLDS)
		return VERDICT_HOLDS;
	/* Nor are there errors at places that nobody has met. */
	for (enum level k = 0; k < LEVEL_COUNT; k++)
		if (d->decided[k] && d->of[k].settled && hands_down(d, k, l))
			return VERDICT_HOLDS;
	return VERDICT_INCONCLUSIVE;
}

/* ---- all of them ---- */

bool decide_covers_some(const struct program *p)
{
	for (enum level l = 0; l < LEVEL_COUNT; l++)
		if (!decide_obstacle(p, l)) return true;
	return false;
}

static void add_goal(struct level_decisions *d, uint32_t slot, uint32_t point)
{
	for (uint32_t i = 0; i < d->goal_count; i++)
		if (d->goals[i].slot == slot && d->goals[i].point == point)
			return;
	VEC_RESERVE(d->goals, d->goal_count, d->goal_capacity);
	d->goals[d->goal_count++] = (struct level_goal){ slot, point };
}

static void decide_one(struct level_decisions *d, enum level l, double deadline)
{
	struct decide_options o = d->options;
	struct decision *x = &d->of[l];
	assert(!d->decided[l]);
	o.level = l;
	if (deadline > 0) o.timeout = fmax(deadline - seconds_now(), 1e-3);
	d->decide(x, d->program, &o);
	d->decided[l] = true;
	d->questions += x->questions;
	for (uint32_t i = 0; i < x->goal_count; i++)
		if (x->goals[i].verdict == VERDICT_VIOLATED)
			add_goal(d, x->goals[i].slot, x->goals[i].point);
}

/* Is there something left to ask? */
static bool is_worth_it(const struct level_decisions *d, enum level l,
                        double deadline)
{
	const struct decide_options *o = &d->options;
	bool late = (deadline > 0 && seconds_now() > deadline) ||
	            (o->interrupt && atomic_load(o->interrupt)) ||
	            program_fault(d->program);
	return !late && !d->decided[l] && !decide_obstacle(d->program, l) &&
	       level_verdict(d, l) != VERDICT_HOLDS &&
	       !(d->goal_count && all_are(d, l, VERDICT_VIOLATED));
}

void decide_levels(struct level_decisions *out, const struct program *p,
                   const struct decide_options *o, decide_function *way)
{
	double begun = seconds_now();
	double deadline = o->timeout > 0 ? begun + o->timeout : 0;
	*out = (struct level_decisions){ .options = *o,
		                         .decide = way,
		                         .program = p };
	for (uint32_t i = 0; i < program_assertion_count(p); i++)
		add_goal(out, i, 0);
	if (o->robust) add_goal(out, program_assertion_count(p) + 1, 0);
	for (int k = LEVEL_COUNT; k >= 0; k--) {
		enum level l = k == LEVEL_COUNT ? o->level : (enum level)k;
		if (is_worth_it(out, l, deadline)) decide_one(out, l, deadline);
	}
	out->seconds = seconds_now() - begun;
}

void level_decisions_free(struct level_decisions *d)
{
	for (enum level l = 0; l < LEVEL_COUNT; l++)
		if (d->decided[l]) decision_free(&d->of[l]);
	free(d->goals);
}
