/* Locks of rows that nobody writes, which keep out only those that take them as
 * well: of a room while its bookings are looked at, where a row that is not
 * there yet cannot be locked.
 */
#ifndef ISO_REPAIR_SQL_PARENTS_H
#define ISO_REPAIR_SQL_PARENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "lang/source.h"

struct edits;
struct sql_statement;
struct sql_table;

/* The read at hand locks rows of this table: text behind the statement, of the
 * last transaction. */
void parents_lock_read(struct edits *e, const struct sql_statement *s,
                       const struct sql_table *t);
/* Where the transaction, or routine, begins, a statement that locks the row to
 * which the INSERT refers by a foreign key, of each table that no session
 * writes: "SELECT 1 FROM room WHERE id = 1 FOR UPDATE; ", or "PERFORM". None of
 * a table that the transaction can lock where it reads it. `first` is the
 * statement before which it stands, `point` where that is in the program. */
void parents_lock_before(struct edits *e, const struct sql_statement *insert,
                         const bool *written, const char *word,
                         struct place first, uint32_t point);
/* Leaves out those that nobody could be kept out by: of a table that one place
 * alone locks, unless a routine does, or sessions write rows that refer to it.
 */
void parents_keep(struct edits *e, const bool *written,
                  struct sql_table *const *tables, uint32_t routines_from);

#endif
