/* Assertions decided under every level. What is known of one level may be known
 * of others by it: what no history of a weaker level violates no history of a
 * stronger one does, and the other way round. */
#ifndef ISO_SOLVE_ALL_LEVELS_H
#define ISO_SOLVE_ALL_LEVELS_H

#include "solve/decision.h"

/* decide(), or decide_beside(). */
typedef void decide_function(struct decision *out, const struct program *p,
                             const struct decide_options *o);

/* An assertion, or run-time errors at one place. */
struct level_goal {
	uint32_t slot, point; /* as in decide_goal */
};

struct level_decisions {
	struct decide_options options; /* `level`: the one asked for */
	decide_function *decide;
	const struct program *program;
	/* Of levels that were decided by themselves; the others follow from
	 * them, are not covered, or were not come to. */
	bool decided[LEVEL_COUNT];
	struct decision of[LEVEL_COUNT];
	struct level_goal *goals; /* assertions, robustness, errors */
	uint32_t goal_count, goal_capacity;
	uint64_t questions;
	double seconds;
};

/* Is there a level under which the program can be decided, as far as that is
 * known beforehand? */
bool decide_covers_some(const struct program *p);
/* Decides, each in this way, the level asked for first, then from the strongest
 * on those of which not all follows: the weaker a level the more runs there
 * are, so that what does not end comes last. The limit of time is for all
 * together. To be freed with level_decisions_free(). The program is borrowed;
 * some level is covered.
 */
void decide_levels(struct level_decisions *out, const struct program *p,
                   const struct decide_options *o, decide_function *way);
void level_decisions_free(struct level_decisions *d);
/* Of a goal; of all of them. */
enum verdict level_goal_verdict(const struct level_decisions *d, enum level l,
                                uint32_t goal);
enum verdict level_verdict(const struct level_decisions *d, enum level l);

#endif
