/* Operators and functions, and which of them is meant (PostgreSQL, chapter 10).
 */
#ifndef ISO_SQL_PROCS_H
#define ISO_SQL_PROCS_H

#include <stdbool.h>
#include <stdint.h>

#include "sql/type.h"

/* What is done; how it is done follows from the types of the arguments. */
enum sql_operation {
	DO_EQ,
	DO_NE,
	DO_LT,
	DO_LE,
	DO_GT,
	DO_GE,
	DO_ADD,
	DO_SUB,
	DO_MUL,
	DO_DIV,
	DO_MOD,
	DO_NEGATE,
	DO_PLUS,
	DO_ABS,
	DO_CONCAT,
	DO_LIKE,
	DO_NOT_LIKE,
	DO_LENGTH,
	DO_LOWER,
	DO_UPPER,
	DO_SIGN,
	DO_CEIL,
	DO_FLOOR,
	DO_ROUND,
	DO_TRUNC,
	DO_NOW,
	DO_EXTRACT,
	DO_DATE_TRUNC,
	DO_CARDINALITY,
	DO_ARRAY_LENGTH,
	/* Aggregates, all behind the first. */
	DO_COUNT,
	DO_SUM,
	DO_AVG,
	DO_MIN,
	DO_MAX,
	DO_BOOL_AND,
	DO_BOOL_OR,
	DO_STRING_AGG,
	DO_ARRAY_AGG
};

enum { PROC_ARGUMENTS = 2 };

struct sql_proc {
	const char *name;
	enum sql_operation operation;
	enum sql_kind result;
	uint32_t count;
	enum sql_kind types[PROC_ARGUMENTS];
};

static inline bool sql_proc_is_aggregate(const struct sql_proc *p)
{
	return p->operation >= DO_COUNT;
}

enum sql_choice { CHOICE_MADE, CHOICE_NONE, CHOICE_SEVERAL };

/* The one of this name for arguments of these types. */
enum sql_choice sql_choose_proc(const char *name, const enum sql_kind *types,
                                uint32_t count, const struct sql_proc **out);
bool sql_has_proc(const char *name);
/* Is it the name of an aggregate? */
bool sql_aggregates(const char *name);
/* The nearest name of a function, or NULL. */
const char *sql_nearest_proc(const char *name);

#endif
