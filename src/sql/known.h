/* The rows that are known: what set-up left, and every version that sessions
 * were seen to write, as far as conditions can tell them apart. A condition
 * reads a row only if a known version of it can satisfy the condition.
 */
#ifndef ISO_SQL_KNOWN_H
#define ISO_SQL_KNOWN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/region.h"
#include "base/table.h"
#include "sql/ir.h"

/* All versions of one row, or entry of a unique constraint. */
struct known_row {
	struct value key; /* tuple: primary key, or birth */
	struct value *versions;
	uint32_t count, capacity;
	uint32_t initial; /* the first is what set-up left; else none is */
	bool deleted;     /* by some session, or moved to another key */
};

/* Of one global of the program: rows in the order of their keys. */
struct known_rows {
	struct known_row **items;
	uint32_t count, capacity;
	/* Those that were added since they were last in order are the last;
	 * but the first so many are. */
	uint32_t in_order;
	/* By key, in the order in which they were added. */
	struct known_row **added;
	uint32_t added_capacity;
	struct table by_key;
};

struct known {
	struct region region;
	bool all_rows; /* conditions read all of them */
	struct known_rows *globals;
	uint32_t global_count;
};

void known_init(struct known *k);
void known_free(struct known *k);
/* Of this global, in order; valid until the next call. */
const struct known_rows *known_of(struct known *k, uint32_t global);
/* All are in order from now on: until rows are added, several threads may look
 * at them. */
void known_sort(struct known *k);
/* The row of this key, or NULL. */
const struct known_row *known_find(const struct known *k, uint32_t global,
                                   struct value key);
/* Set-up: the row is now this one; null: there is none. */
void known_set(struct known *k, uint32_t global, struct value key,
               struct value row);
/* Notes a version of a row of the table. True if conditions may tell it from
 * all others of this row that are known. */
bool known_add(struct known *k, const struct sql_table *t, struct value key,
               struct value row);
/* Would it be news? */
bool known_has(struct known *k, const struct sql_table *t, struct value key,
               struct value row);
/* Of a row that is deleted: has another one come to its key? */
bool known_comes_again(const struct known_row *row, const struct sql_table *t);
/* The order of keys: that of the primary key. */
int known_compare(struct value a, struct value b);

#endif
