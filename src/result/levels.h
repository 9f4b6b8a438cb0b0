/* One table: the assertions of a program against all isolation levels. */
#ifndef ISO_RESULT_LEVELS_H
#define ISO_RESULT_LEVELS_H

#include <stdbool.h>
#include <stdint.h>

#include "result/result.h"

struct explorer;

struct levels_column {
	bool ran;      /* else an interruption came first */
	bool complete; /* else the numbers are lower bounds */
	uint64_t histories;
	uint64_t *violated; /* by slot */
};

struct levels_table {
	uint32_t slot_count;
	struct text *slots; /* "assert ..." by slot */
	bool *checked;      /* by slot: has a row even if never violated */
	const struct program *program;
	struct levels_column columns[LEVEL_COUNT];
};

/* The rows, from any explorer of the program; columns follow. */
struct levels_table *levels_table_new(const struct explorer *e);
void levels_table_free(struct levels_table *t);
/* Takes one column from an explorer that has run under the level, or, with
 * `classify`, under a weaker one. */
void levels_table_set(struct levels_table *t, const struct explorer *e,
                      enum level l);
/* Over all assertions and run-time errors. */
enum verdict levels_table_verdict(const struct levels_table *t, enum level l);
/* Is the slot checked, or violated under some level? */
bool levels_table_has_row(const struct levels_table *t, uint32_t slot);

/* The verdict is that of the level asked for. The table is borrowed. */
struct result *result_of_levels(const struct levels_table *table,
                                enum level asked);

#endif
