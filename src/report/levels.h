/* One table: the assertions of a program against all isolation levels. */
#ifndef ISO_REPORT_LEVELS_H
#define ISO_REPORT_LEVELS_H

#include <stdbool.h>
#include <stdint.h>

#include "axioms/level.h"
#include "base/text.h"
#include "dpor/verdict.h"
#include "report/style.h"

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
	const char *program;
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

/* The verdict for the level asked for, then the table. */
void report_levels(struct text *t, const struct style *s,
                   const struct levels_table *table, enum level asked);
void report_levels_json(struct text *t, const struct levels_table *table,
                        enum level asked, const char *version);

#endif
