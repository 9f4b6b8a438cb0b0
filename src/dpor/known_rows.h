/* Programs in SQL: rows that sessions write are found before conditions are
 * relied on. */
#ifndef ISO_DPOR_KNOWN_ROWS_H
#define ISO_DPOR_KNOWN_ROWS_H

#include <stdatomic.h>

struct program;

/* Which rows its sessions can write decides what conditions read. Explores the
 * program, or the beginning of it, until nothing new turns up. The same
 * whatever the level is that it is explored under later; nothing where it is
 * not in SQL. Ends early when it is interrupted (NULL: never), or after so many
 * seconds (0: never).
 */
void explorer_know_rows(struct program *p, const atomic_bool *interrupt,
                        double timeout);

#endif
