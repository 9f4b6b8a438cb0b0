/* Of a prediction, one that is easier to understand: more transactions as they
 * were observed, fewer copies, fewer changed reads.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "predict/predictor.h"

/* What a proposal says, to come back to. */
struct saved {
	word *kept;
	uint32_t *chosen;
	uint32_t chosen_count;
	bool *taken;
};

static struct saved save(const struct proposal *p)
{
	size_t words = p->o->words, options = p->c->option_count;
	struct saved s = { mem_take((words + 1) * sizeof *s.kept),
		           mem_take((p->c->count + 1) * sizeof *s.chosen),
		           p->chosen_count,
		           mem_take((options + 1) * sizeof *s.taken) };
	memcpy(s.kept, p->kept, words * sizeof *s.kept);
	memcpy(s.chosen, p->chosen, p->chosen_count * sizeof *s.chosen);
	memcpy(s.taken, p->taken, options * sizeof *s.taken);
	return s;
}

static void restore(struct proposal *p, const struct saved *s)
{
	memcpy(p->kept, s->kept, p->o->words * sizeof *s->kept);
	memcpy(p->chosen, s->chosen, s->chosen_count * sizeof *s->chosen);
	memcpy(p->taken, s->taken, p->c->option_count * sizeof *s->taken);
	assert(s->chosen_count <= p->c->count);
	p->chosen_count = s->chosen_count;
}

static void saved_free(struct saved *s)
{
	free(s->kept);
	free(s->chosen);
	free(s->taken);
}

static bool is_prediction(struct predictor *p)
{
	struct choice_of choice = predictor_choice(p);
	candidate_make(&p->x, &choice);
	return predictor_allows(p, NULL, NULL) == ANSWERED_YES &&
	       predictor_serializable(p, NULL) == ANSWERED_NO;
}

static void drop_copy(struct proposal *p, uint32_t place)
{
	const struct divergent_copies *c = p->c;
	assert(place < p->chosen_count);
	const struct copy *y = &c->copies[p->chosen[place]];
	for (uint32_t a = c->reads[y->first].first;
	     a < c->reads[y[1].first].first; a++)
		p->taken[a] = false;
	p->chosen_count--;
	memmove(p->chosen + place, p->chosen + place + 1,
	        (p->chosen_count - place) * sizeof *p->chosen);
}

/* Tries a change that was made to the proposal; takes it back if it is no
 * prediction any more. */
static bool stays(struct predictor *p, struct saved *before)
{
	bool fine = is_prediction(p);
	if (!fine) restore(&p->p, before);
	saved_free(before);
	return fine;
}

static void drop_copies(struct predictor *p)
{
	uint32_t place = p->p.chosen_count;
	while (place-- && !check_clock_over(p->clock)) {
		struct saved before = save(&p->p);
		drop_copy(&p->p, place);
		proposal_keep_most(&p->p);
		stays(p, &before);
	}
}

static bool changes_otherwise(const struct predictor *p, const struct copy *y,
                              uint32_t option)
{
	for (uint32_t a = p->c.reads[y->first].first;
	     a < p->c.reads[y[1].first].first; a++)
		if (a != option && p->p.taken[a] && !p->c.options[a].observed)
			return true;
	return false;
}

/* The read takes again what it took, if that is there. */
static void try_observed(struct predictor *p, const struct copy *y,
                         const struct free_read *r)
{
	uint32_t taken = UINT32_MAX, observed = UINT32_MAX;
	for (uint32_t a = r->first; a < r[1].first; a++) {
		if (p->p.taken[a]) taken = a;
		if (p->c.options[a].observed) observed = a;
	}
	if (taken == UINT32_MAX || observed == UINT32_MAX ||
	    taken == observed || !changes_otherwise(p, y, taken))
		return;
	uint32_t w = p->c.options[observed].writer;
	if (w && !bits_has(p->p.kept, w)) return;
	struct saved before = save(&p->p);
	p->p.taken[taken] = false;
	p->p.taken[observed] = true;
	stays(p, &before);
}

static void restore_reads(struct predictor *p)
{
	for (uint32_t i = 0; i < p->p.chosen_count; i++) {
		const struct copy *y = &p->c.copies[p->p.chosen[i]];
		for (uint32_t k = y->first;
		     k < y[1].first && !check_clock_over(p->clock); k++)
			try_observed(p, y, &p->c.reads[k]);
	}
}

static void minimize(struct predictor *p)
{
	struct saved before = save(&p->p);
	proposal_keep_most(&p->p);
	stays(p, &before);
	drop_copies(p);
	restore_reads(p);
}

/* ---- the nearest ---- */

/* For who wants one prediction only: rounds, and conflicts of the solver, that
 * are made to find one that changes less. */
enum { ROUNDS = 200, CONFLICTS = 2000 };

/* Bounds that double, so that where few changes are enough only few are
 * counted. */
static uint32_t next_bound(const struct predictor *p, uint32_t best)
{
	uint32_t bound = p->changes < 8 ? 15 : 2 * p->changes;
	return bound < best ? bound : best - 1;
}

void predictor_approach(struct predictor *p)
{
	bool patient = p->options.enumerate;
	uint32_t least = p->changes;
	minimize(p);
	uint32_t best = proposal_changes(&p->p);
	struct saved nearest = save(&p->p);
	p->p.patience = patient ? 0 : CONFLICTS;
	while (p->changes < best) {
		uint32_t bound = next_bound(p, best);
		enum predict_answer answer =
			predictor_search(p, bound, patient ? 0 : ROUNDS);
		if (answer == PREDICT_UNKNOWN) break;
		if (answer == PREDICT_NONE) {
			p->changes = bound + 1;
			continue;
		}
		minimize(p);
		assert(proposal_changes(&p->p) < best);
		best = proposal_changes(&p->p);
		saved_free(&nearest);
		nearest = save(&p->p);
	}
	p->p.patience = 0;
	p->nearest = best <= (p->part ? least : p->changes);
	restore(&p->p, &nearest);
	saved_free(&nearest);
}
