/* What comes of a program: what each step returned, and the rows that are left,
 * as texts that can be compared.
 */
#ifndef ISO_CONFIRM_EXPECTED_H
#define ISO_CONFIRM_EXPECTED_H

#include <stdatomic.h>
#include <stdbool.h>

#include "axioms/level.h"
#include "base/region.h"
#include "confirm/script.h"

struct connection;
struct history;
struct schedule;

/* Of a step: an SQLSTATE alone; or the rows of the last of its statements that
 * returns some, a line each, sorted. */
struct outcome {
	const char ***steps; /* by session and step */
	/* Lines of rows that set-up has made and that are no more, or not the
	 * same; and of those that are there instead, by table. */
	const char **gone, **come;
	const char *const *table_names;
	uint32_t table_count;
};

/* Of a history of the program that its level allows; tables are as those left
 * them that committed last by the schedule. False: the program does not run
 * along it. */
bool outcome_of_history(const struct script *s, const struct history *h,
                        const struct schedule *schedule, enum level level,
                        const atomic_bool *interrupt, struct region *to,
                        struct outcome *out);
/* Columns of these types are times of the day, which every run has others of:
 * they are not compared. */
bool outcome_is_time(uint32_t oid);
#define OUTCOME_TIME "(time)"
/* The rows of a table in the end, which were these in the beginning. */
const char *outcome_rows(const struct outcome *o, uint32_t table,
                         const char *first, struct region *to);
/* Rows of the last result, or "". */
const char *outcome_of_rows(const struct connection *c, struct region *to);

#endif
