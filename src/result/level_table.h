/* One table: the assertions of a program against all isolation levels. */
#ifndef ISO_RESULT_LEVEL_TABLE_H
#define ISO_RESULT_LEVEL_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/budget.h"
#include "execution/error_places.h"
#include "result/result.h"

struct explorer;

struct levels_column {
	bool ran;      /* else an interruption came first */
	bool complete; /* else the numbers are lower bounds */
	uint64_t histories;
	enum level explored; /* this one or its base: under it, so many */
	uint64_t pruned;     /* executions made an assumption false */
};

/* An assertion, robustness, or run-time errors at one place. */
struct levels_row {
	uint32_t slot; /* in the program, as in dpor/explorer.h */
	bool checked;  /* it is listed even if never violated */
	struct position at;
	uint64_t violated[LEVEL_COUNT]; /* histories */
};

struct levels_table {
	struct levels_row *rows; /* in the order in which they are listed */
	uint32_t row_count, row_capacity;
	struct error_places errors; /* has the names of their files */
	const struct program *program;
	struct levels_column columns[LEVEL_COUNT];
	enum stop_reason stop; /* why the first that ended early did */
};

/* What the row of an assertion is called: in words of the user, if there are
 * some. */
void name_levels_row(struct text *t, const struct result *r,
                     const struct result_assertion *a);
/* The widths of such a table. */
enum { LEVELS_COLUMN_LEAST = 7, LEVELS_LABEL_LEAST = 16 };

struct levels_table *levels_table_new(const struct program *p);
void levels_table_free(struct levels_table *t);
/* Takes one column from an explorer that has run under the level, or, with
 * `classify`, under a weaker one. */
void levels_table_set(struct levels_table *t, const struct explorer *e,
                      enum level l);
/* The verdict is that of the level asked for, `as` its deployment or NULL. */
struct result *result_of_levels(const struct levels_table *table,
                                enum level asked, const char *as);

#endif
