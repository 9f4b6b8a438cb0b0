/* Programs in SQL: rows that sessions write are found before conditions are
 * relied on. */
#ifndef ISO_DPOR_KNOWN_ROWS_H
#define ISO_DPOR_KNOWN_ROWS_H

#include <stdatomic.h>
#include <stdbool.h>

struct explore_options;
struct program;

/* Which rows its sessions can write decides what conditions read. Explores the
 * program, or the beginning of it, until nothing new turns up. The same
 * whatever the level is that it is explored under later; nothing where it is
 * not in SQL. Ends early when it is interrupted (NULL: never), or after so many
 * seconds (0: never).
 */
void explorer_know_rows(struct program *p, const atomic_bool *interrupt,
                        double timeout);
/* Has an exploration ended since it came upon a row that was not known, and can
 * that be learned? */
bool explorer_can_learn(const struct program *p);
/* Then: takes the row, and all those that exploring at the level of `o` shows,
 * within its limits, until nothing new turns up. What was explored before is
 * void, and nothing may be under way: the exploration can be begun anew, and so
 * often until it does not come upon another row. */
void explorer_learn_rows(struct program *p, const struct explore_options *o);

#endif
