/* What the names in the text of a program in SQL mean, for those who read it.
 */
#ifndef ISO_SQL_NAMES_H
#define ISO_SQL_NAMES_H

#include "lang/source.h"

struct program;

/* `words` are in Markdown. */
typedef void sql_on_name(void *data, struct sources *all, struct place at,
                         const char *words);
/* Of a program that was loaded so that names were kept (arguments.h): tables
 * and columns with their types; sessions, steps and transactions (at BEGIN)
 * with all that they read, lock and write; statements with what they do. */
void sql_names(const struct program *p, sql_on_name *on, void *data);

#endif
