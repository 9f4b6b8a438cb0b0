/* What an exploration found (tally.h), without anything of the process that it
 * was found in. The example of a violation is told by its place. */
#ifndef ISO_DISTRIBUTE_RESULTS_FILE_H
#define ISO_DISTRIBUTE_RESULTS_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dpor/explorer.h"
#include "vm/program.h"

struct branch;
struct program;
struct tally;

struct results_file_slot {
	uint32_t slot;
	uint64_t histories; /* that violate it */
	uint64_t per_level[LEVEL_COUNT];
	struct branch *where; /* of the example; owned; NULL: there is none */
	/* Run-time errors at one place: there; the file's name is owned. */
	bool is_place;
	struct position at;
};

/* Assertions of native programs are numbered as sessions come to them, which
 * is another time another order. */
struct results_file_assertion {
	uint32_t slot;
	char *message, *object; /* owned; the object's path */
	uint64_t address;       /* of the call, in the object */
};

/* Counters of explore_stats, which add up. */
#define RESULTS_FILE_COUNTS(X) \
	X(histories)           \
	X(classes)             \
	X(end_states)          \
	X(filtered)            \
	X(pruned)              \
	X(blocked)             \
	X(duplicates)          \
	X(unserializable)      \
	X(explore_calls)       \
	X(swaps_considered)    \
	X(swaps_taken)         \
	X(swaps_inconsistent)  \
	X(swaps_not_latest)    \
	X(depth_max)           \
	X(memory_peak)         \
	X(cut)                 \
	X(changes)

struct results_file {
	struct explore_stats stats;
	struct results_file_slot *slots; /* the violated ones, increasing */
	size_t slot_count, slot_capacity;
	uint32_t *reached; /* numbers of reach points, increasing */
	size_t reach_count, reach_capacity;
	struct results_file_assertion *assertions;
	size_t assertion_count, assertion_capacity;
};

void results_file_init(struct results_file *f, const struct tally *t,
                       const struct program *p);
void results_file_clear(struct results_file *f);
/* Fills a tally, which is new. False if it cannot be one of the program; then
 * the tally is to be freed as well. */
bool results_file_tally(const struct results_file *f, const struct program *p,
                        struct tally *t);

#endif
