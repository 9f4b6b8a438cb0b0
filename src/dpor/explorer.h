/* Explorers: enumerate the histories of a program under an isolation level.
 *
 * An explorer takes options, tells an observer what it finds, and returns
 * statistics. It prints nothing, uses no globals, and stops when asked to.
 */
#ifndef ISO_DPOR_EXPLORER_H
#define ISO_DPOR_EXPLORER_H

#include <stdbool.h>
#include <stdint.h>

#include "dpor/explore.h"

/* The options and the observer are copied; the program is borrowed. */
struct explorer *explorer_new(const struct program *p,
                              const struct explore_options *o,
                              const struct explore_observer *observer);
void explorer_free(struct explorer *e);
/* Instead of beginning at the root: goes on with these branches, and adds to
 * what was found before (NULL: nothing). Both are taken over and left empty.
 * Before explorer_run. */
void explorer_resume(struct explorer *e, struct branch_list *open,
                     struct tally *so_far);
/* Runs to the end or to a limit. Call once. */
void explorer_run(struct explorer *e);
/* After explorer_run: what it found, and what is left to explore (nothing if
 * it came to the end; NULL if that is too large to be written down, over 256
 * MiB). The explorer's. */
struct tally *explorer_tally(struct explorer *e);
const struct branch_list *explorer_open(const struct explorer *e);
const struct explore_stats *explorer_stats(const struct explorer *e);
const struct explore_options *explorer_options(const struct explorer *e);
const struct program *explorer_program(const struct explorer *e);

/* The one that finds every history once and is usually the fastest: where
 * explore-ce* would explore a weaker level, or one without locks, and filter,
 * orderly, which prunes as it goes; where little is filtered, race.h tells. */
enum explorer_algorithm explorer_usual_algorithm(const struct program *p,
                                                 enum level l);
const char *explorer_algorithm_word(enum explorer_algorithm a); /* "ce" */

/* Slots: program_assertion_count() assertions, then two more, then one for each
 * place where a run-time error happened, in the order of the places. */
uint32_t explorer_slot_count(const struct explorer *e);
uint32_t explorer_slot_error(const struct explorer *e);  /* run-time errors */
uint32_t explorer_slot_robust(const struct explorer *e); /* --robust */
uint32_t explorer_slot_places(const struct explorer *e); /* the first place */
/* Of a slot from there on. Without the line of the source. */
struct position explorer_error_place(const struct explorer *e, uint32_t slot);
const struct explore_violation *explorer_violation(const struct explorer *e,
                                                   uint32_t slot);
/* Its example, which is the caller's from now on; NULL if it has none. */
struct history *explorer_take_example(struct explorer *e, uint32_t slot);
/* Was the reach point (program_reach_point) executed in some execution? */
bool explorer_reached(const struct explorer *e, uint32_t point);

/* EXPLORE_OUTWARD: the first history output, so one with the fewest changed
 * reads; NULL if there was none. The explorer's. */
const struct history *explorer_nearest(const struct explorer *e);

/* The history of an execution, in readable form; the caller frees it. */
struct history *explore_history(const struct explore_execution *e);
/* Its hash: equal for equal histories. Cheap. */
uint64_t explore_hash(const struct explore_execution *e);
/* Hash of what the sessions know in the end: of their top-level locals. */
uint64_t explore_outcome(const struct explore_execution *e);
/* Its first run-time error, or NULL; valid during the call. */
const struct finding *explore_error(const struct explore_execution *e);
/* Does it satisfy the level? */
bool explore_satisfies(const struct explore_execution *e, enum level l);

#endif
