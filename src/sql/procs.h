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
	DO_POWER,
	DO_NEGATE,
	DO_PLUS,
	DO_ABS,
	DO_CONCAT,
	DO_LIKE,
	DO_NOT_LIKE,
	DO_ILIKE,
	DO_NOT_ILIKE,
	DO_LENGTH,
	DO_LOWER,
	DO_UPPER,
	DO_SIGN,
	DO_CEIL,
	DO_FLOOR,
	DO_ROUND,
	DO_TRUNC,
	DO_SQRT,
	DO_NOW,
	DO_EXTRACT,
	DO_DATE_TRUNC,
	DO_CARDINALITY,
	DO_ARRAY_LENGTH,
	DO_OUTSIDE, /* PostgreSQL's, not supported here */
	DO_BIT_AND,
	DO_BIT_OR,
	DO_BIT_XOR,
	DO_BIT_NOT,
	DO_SHIFT_LEFT,
	DO_SHIFT_RIGHT,
	DO_LASTVAL,
	/* Of texts (sql_text_call()). */
	DO_SUBSTRING,
	DO_POSITION,
	DO_BTRIM,
	DO_LTRIM,
	DO_RTRIM,
	DO_REPLACE,
	DO_LEFT,
	DO_RIGHT,
	DO_LPAD,
	DO_RPAD,
	DO_REPEAT,
	DO_REVERSE,
	DO_SPLIT_PART,
	DO_INITCAP,
	DO_TRANSLATE,
	DO_STARTS_WITH,
	DO_OCTET_LENGTH,
	DO_ASCII,
	DO_CHR,
	DO_TO_HEX,
	DO_MD5,
	DO_QUOTE_LITERAL,
	DO_QUOTE_IDENT,
	/* Of any number of values, as texts; NULL is one of them. */
	DO_CONCAT_ALL,
	DO_CONCAT_WS,
	DO_FORMAT,
	/* Sets: a row for each value (sql_set_rows()). */
	DO_GENERATE_SERIES,
	DO_UNNEST,
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

enum { PROC_ARGUMENTS = 3 };

struct sql_proc {
	const char *name;
	enum sql_operation operation;
	enum sql_kind result;
	uint32_t count; /* at least so many, of those of any number */
	enum sql_kind types[PROC_ARGUMENTS];
};

static inline bool sql_proc_is_aggregate(const struct sql_proc *p)
{
	return p->operation >= DO_COUNT;
}

static inline bool sql_proc_takes_any_number(const struct sql_proc *p)
{
	return p->operation >= DO_CONCAT_ALL && p->operation <= DO_FORMAT;
}

static inline bool sql_proc_returns_set(const struct sql_proc *p)
{
	return p->operation == DO_GENERATE_SERIES || p->operation == DO_UNNEST;
}

enum sql_choice { CHOICE_MADE, CHOICE_NONE, CHOICE_SEVERAL };

/* The one of this name for arguments of these types. */
enum sql_choice sql_choose_proc(const char *name, const enum sql_kind *types,
                                uint32_t count, const struct sql_proc **out);
bool sql_has_proc(const char *name);
/* Is there one with so many arguments? */
bool sql_takes(const char *name, uint32_t count);
/* A function or an operator of PostgreSQL that is not supported here? */
bool sql_is_outside(const char *name);
/* Is it the name of an aggregate? */
bool sql_aggregates(const char *name);
/* The nearest name of a function, or NULL. */
const char *sql_nearest_proc(const char *name);

#endif
