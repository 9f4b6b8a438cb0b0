/* From a specification in SQL to a program. */
#ifndef ISO_SQL_LOAD_H
#define ISO_SQL_LOAD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"
#include "base/text.h"
#include "sql/arguments.h"

struct program;

/* Is it the name of a specification? Of a file of SQL? */
bool sql_is_spec(const char *path);
bool sql_is_script(const char *path);
/* Either of them; NULL after adding errors to `d`. Files that it names are
 * relative to `path`. `given` may be NULL. */
struct program *sql_load(const char *path, const char *text, size_t length,
                         const struct sql_arguments *given, struct diags *d);

/* What it was loaded with, of a program in SQL; as long as that lives. */
const struct sql_arguments *sql_given(const struct program *p);
/* What each of its statements does, to which rows: a line for each fact. */
void sql_dump(const struct program *p, struct text *t);
/* Levels that transactions ask for count no longer: another is given for all.
 */
void sql_drop_levels(const struct program *p);
/* Rows that sessions wrote, and that were not known, are known from now on;
 * nothing may be run meanwhile. False: there were none. */
bool sql_take_growth(struct program *p);
/* Have there been any? */
bool sql_has_grown(const struct program *p);
/* From now on, or no longer, a row that was not known is no fault: what is
 * explored meanwhile is worth nothing but for the rows that turn up. */
void sql_learn(struct program *p, bool on);
/* Were few statements carried out until loading it knew its rows? */
bool sql_is_small(const struct program *p);
/* Steps of all sessions. */
uint32_t sql_step_count(const struct program *p);

#endif
