/* Deciding beside exploring: who asks for a verdict, not for counts, may get it
 * from whichever ends first. The second engine begins when enumeration has run
 * for a moment and an estimate says that it will not end soon, in a thread of
 * its own.
 */
#ifndef ISO_API_SECOND_ENGINE_H
#define ISO_API_SECOND_ENGINE_H

#include <stdbool.h>

#include "dpor/explorer.h"
#include "repair/repair.h"
#include "solve/all_levels.h"

struct second_engine;

/* Of the program that is explored with these options, whose `interrupt` it
 * heeds; both are borrowed. At one level, or (`levels`) at all. NULL where
 * deciding does not cover all that exploring does. */
struct second_engine *second_engine_begin(const struct program *p,
                                          const struct explore_options *o,
                                          bool levels);
/* As explore_observer.tick has it: the exploration has come so far. False if
 * there is an answer, so that it may stop. */
bool second_engine_tick(struct second_engine *s, const struct explore_stats *e);
bool second_engine_answered(const struct second_engine *s); /* false of NULL */
/* Stops it, if it runs. Did it answer? NULL is fine, and answers nothing. */
bool second_engine_end(struct second_engine *s);
/* What it answered. */
const struct decision *second_engine_decision(const struct second_engine *s);
const struct level_decisions *
second_engine_levels(const struct second_engine *s);
void second_engine_free(struct second_engine *s); /* NULL is fine */

/* One for each exploration of a repair, at its level. */
extern const struct repair_beside second_engine_of_repair;

#endif
