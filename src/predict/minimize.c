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

/* Reads that take nothing need not be changed, or can be answered in some way
 * at least. */
static void drop_options(struct predictor *p)
{
	for (uint32_t i = 0; i < p->p.chosen_count; i++) {
		const struct copy *y = &p->c.copies[p->p.chosen[i]];
		for (uint32_t a = p->c.reads[y->first].first;
		     a < p->c.reads[y[1].first].first; a++) {
			if (!p->p.taken[a] || check_clock_over(p->clock) ||
			    !changes_otherwise(p, y, a))
				continue;
			struct saved before = save(&p->p);
			p->p.taken[a] = false;
			stays(p, &before);
		}
	}
}

void predictor_minimize(struct predictor *p)
{
	struct saved before = save(&p->p);
	proposal_keep_most(&p->p);
	stays(p, &before);
	drop_copies(p);
	if (!p->complete) drop_options(p);
}
