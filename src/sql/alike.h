/* Sessions in SQL that do the same: to exchange two of them turns each history
 * into another one.
 */
#ifndef ISO_SQL_ALIKE_H
#define ISO_SQL_ALIKE_H

#include <stdbool.h>
#include <stdint.h>

struct program;

/* The first session of the program, or the view of it, whose statements have
 * the same text as those of this one, in the same steps; itself, if there is
 * none before it. */
uint32_t sql_first_alike(const struct program *p, uint32_t session);
/* Why they do not do the same in spite of that, in words; or NULL: they do. */
const char *sql_tells_apart(const struct program *p);
/* Marks the sessions whose steps the assertion asks for. */
void sql_mark_asked(const struct program *p, uint32_t assertion, bool *asked);
/* The places in the source that the session has for itself: as many in sessions
 * that do the same, in the same order. */
void sql_own_points(const struct program *p, uint32_t session, uint32_t *first,
                    uint32_t *count);

#endif
