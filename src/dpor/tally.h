/* What an exploration found, in a form that can be added up: of threads, of
 * work units, of the time before a checkpoint and after.
 */
#ifndef ISO_DPOR_TALLY_H
#define ISO_DPOR_TALLY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/region.h"
#include "dpor/explore.h"
#include "dpor/work/branch.h"
#include "execution/error_places.h"

struct tally {
	struct explore_stats stats; /* stop: why it ended, of the first that
	                             * did for a reason */
	uint32_t slot_count;
	/* By slot: those that the program has, then one for each place of a
	 * run-time error. */
	struct explore_violation *violations;
	uint32_t program_slots, slot_capacity;
	struct error_places errors;
	const struct program *program; /* borrowed */
	uint32_t reach_count;
	uint64_t *reached;      /* bit set of reach points */
	struct region findings; /* copies of findings of the examples */
};

/* Of histories: with symmetry they may be more than a number can hold, and
 * UINT64_MAX stands for as many or more. */
static inline uint64_t tally_sum(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

void tally_init(struct tally *t, const struct program *p);
void tally_free(struct tally *t);
/* The slot of run-time errors at this place, new if need be: then `violations`
 * may move. */
uint32_t tally_error_slot(struct tally *t, struct position at);
/* Puts the slots of run-time errors in the order of their places, which is the
 * same whoever met them first. */
void tally_sort_errors(struct tally *t);
/* Adds all counts and CPU times; of depth, memory and wall time the greatest
 * is kept, of reasons to stop and of examples the first one. `from` keeps its
 * counts, but its examples may be taken from it. */
void tally_add(struct tally *to, struct tally *from);
/* The same, and `from` stays as it is: of the examples only the place is known
 * in `to` (where). */
void tally_add_places(struct tally *to, const struct tally *from);
/* The same of the statistics alone. */
void tally_add_stats(struct explore_stats *to,
                     const struct explore_stats *from);
/* Runs the examples again of which only the place is known (where), to have
 * their histories and findings. False if the program cannot do that: the place
 * belongs to another program. */
bool tally_make_examples(struct tally *t, const struct program *p,
                         const struct explore_options *o);

#endif
