#include "sql/procs.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

#include "base/diag.h"

#define COMPARE(a, b)                                   \
	{ "=", DO_EQ, SQL_BOOL, 2, { a, b } },          \
		{ "<>", DO_NE, SQL_BOOL, 2, { a, b } }, \
		{ "<", DO_LT, SQL_BOOL, 2, { a, b } },  \
		{ "<=", DO_LE, SQL_BOOL, 2, { a, b } }, \
		{ ">", DO_GT, SQL_BOOL, 2, { a, b } },  \
	{                                               \
		">=", DO_GE, SQL_BOOL, 2,               \
		{                                       \
			a, b                            \
		}                                       \
	}
#define COMPUTE(result, a, b)                         \
	{ "+", DO_ADD, result, 2, { a, b } },         \
		{ "-", DO_SUB, result, 2, { a, b } }, \
		{ "*", DO_MUL, result, 2, { a, b } }, \
	{                                             \
		"/", DO_DIV, result, 2,               \
		{                                     \
			a, b                          \
		}                                     \
	}
#define BOUNDS(t)                       \
	{ "min", DO_MIN, t, 1, { t } }, \
	{                               \
		"max", DO_MAX, t, 1,    \
		{                       \
			t               \
		}                       \
	}
#define OF_NUMBER(t)                                                           \
	{ "%", DO_MOD, t, 2, { t, t } }, { "mod", DO_MOD, t, 2, { t, t } },    \
		{ "-", DO_NEGATE, t, 1, { t } },                               \
		{ "+", DO_PLUS, t, 1, { t } }, { "abs", DO_ABS, t, 1, { t } }, \
		{ "avg", DO_AVG, SQL_NUMERIC, 1, { t } }, BOUNDS(t)
#define BITS(t)                                                 \
	{ "&", DO_BIT_AND, t, 2, { t, t } },                    \
		{ "|", DO_BIT_OR, t, 2, { t, t } },             \
		{ "#", DO_BIT_XOR, t, 2, { t, t } },            \
		{ "~", DO_BIT_NOT, t, 1, { t } },               \
		{ "<<", DO_SHIFT_LEFT, t, 2, { t, SQL_INT4 } }, \
	{                                                       \
		">>", DO_SHIFT_RIGHT, t, 2,                     \
		{                                               \
			t, SQL_INT4                             \
		}                                               \
	}
#define POWER(name)                                                   \
	{ name, DO_OUTSIDE, SQL_NUMERIC, 2, { SQL_INT8, SQL_INT8 } }, \
	{                                                             \
		name, DO_POWER, SQL_NUMERIC, 2,                       \
		{                                                     \
			SQL_NUMERIC, SQL_NUMERIC                      \
		}                                                     \
	}
#define SERIES(t, step)                                      \
	{                                                    \
		"generate_series", DO_GENERATE_SERIES, t, 3, \
		{                                            \
			t, t, step                           \
		}                                            \
	}
#define TRIM(name, operation)                           \
	{ name, operation, SQL_TEXT, 1, { SQL_TEXT } }, \
	{                                               \
		name, operation, SQL_TEXT, 2,           \
		{                                       \
			SQL_TEXT, SQL_TEXT              \
		}                                       \
	}
#define PAD(name, operation)                                      \
	{ name, operation, SQL_TEXT, 2, { SQL_TEXT, SQL_INT4 } }, \
	{                                                         \
		name, operation, SQL_TEXT, 3,                     \
		{                                                 \
			SQL_TEXT, SQL_INT4, SQL_TEXT              \
		}                                                 \
	}
#define SUBSTRING(name)                                              \
	{ name, DO_SUBSTRING, SQL_TEXT, 2, { SQL_TEXT, SQL_INT4 } }, \
	{                                                            \
		name, DO_SUBSTRING, SQL_TEXT, 3,                     \
		{                                                    \
			SQL_TEXT, SQL_INT4, SQL_INT4                 \
		}                                                    \
	}
#define LENGTH(name)                                    \
	{ name, DO_LENGTH, SQL_INT4, 1, { SQL_TEXT } }, \
	{                                               \
		name, DO_LENGTH, SQL_INT4, 1,           \
		{                                       \
			SQL_CHAR                        \
		}                                       \
	}
/* A moment and an interval give a moment. */
#define SHIFT(result, t)                                         \
	{ "+", DO_ADD, result, 2, { t, SQL_INTERVAL } },         \
		{ "+", DO_ADD, result, 2, { SQL_INTERVAL, t } }, \
		{ "-", DO_SUB, result, 2, { t, SQL_INTERVAL } }, \
	{                                                        \
		"extract", DO_EXTRACT, SQL_NUMERIC, 2,           \
		{                                                \
			SQL_TEXT, t                              \
		}                                                \
	}

static const struct sql_proc procs[] = {
	COMPARE(SQL_BOOL, SQL_BOOL),
	COMPARE(SQL_INT2, SQL_INT2),
	COMPARE(SQL_INT2, SQL_INT4),
	COMPARE(SQL_INT2, SQL_INT8),
	COMPARE(SQL_INT4, SQL_INT2),
	COMPARE(SQL_INT4, SQL_INT4),
	COMPARE(SQL_INT4, SQL_INT8),
	COMPARE(SQL_INT8, SQL_INT2),
	COMPARE(SQL_INT8, SQL_INT4),
	COMPARE(SQL_INT8, SQL_INT8),
	COMPARE(SQL_TEXT, SQL_TEXT),
	COMPARE(SQL_CHAR, SQL_CHAR),
	COMPUTE(SQL_INT2, SQL_INT2, SQL_INT2),
	COMPUTE(SQL_INT4, SQL_INT2, SQL_INT4),
	COMPUTE(SQL_INT8, SQL_INT2, SQL_INT8),
	COMPUTE(SQL_INT4, SQL_INT4, SQL_INT2),
	COMPUTE(SQL_INT4, SQL_INT4, SQL_INT4),
	COMPUTE(SQL_INT8, SQL_INT4, SQL_INT8),
	COMPUTE(SQL_INT8, SQL_INT8, SQL_INT2),
	COMPUTE(SQL_INT8, SQL_INT8, SQL_INT4),
	COMPUTE(SQL_INT8, SQL_INT8, SQL_INT8),
	OF_NUMBER(SQL_INT2),
	OF_NUMBER(SQL_INT4),
	OF_NUMBER(SQL_INT8),
	BITS(SQL_INT2),
	BITS(SQL_INT4),
	BITS(SQL_INT8),
	COMPARE(SQL_NUMERIC, SQL_NUMERIC),
	COMPUTE(SQL_NUMERIC, SQL_NUMERIC, SQL_NUMERIC),
	OF_NUMBER(SQL_NUMERIC),
	{ "sign", DO_SIGN, SQL_NUMERIC, 1, { SQL_NUMERIC } },
	{ "ceil", DO_CEIL, SQL_NUMERIC, 1, { SQL_NUMERIC } },
	{ "ceiling", DO_CEIL, SQL_NUMERIC, 1, { SQL_NUMERIC } },
	{ "floor", DO_FLOOR, SQL_NUMERIC, 1, { SQL_NUMERIC } },
	{ "round", DO_ROUND, SQL_NUMERIC, 1, { SQL_NUMERIC } },
	{ "round", DO_ROUND, SQL_NUMERIC, 2, { SQL_NUMERIC, SQL_INT4 } },
	{ "trunc", DO_TRUNC, SQL_NUMERIC, 1, { SQL_NUMERIC } },
	{ "trunc", DO_TRUNC, SQL_NUMERIC, 2, { SQL_NUMERIC, SQL_INT4 } },
	/* Of integers, these are double precision, which there is not. */
	POWER("^"),
	POWER("power"),
	POWER("pow"),
	{ "sqrt", DO_OUTSIDE, SQL_NUMERIC, 1, { SQL_INT8 } },
	{ "sqrt", DO_SQRT, SQL_NUMERIC, 1, { SQL_NUMERIC } },
	COMPARE(SQL_DATE, SQL_DATE),
	COMPARE(SQL_TIMESTAMP, SQL_TIMESTAMP),
	COMPARE(SQL_TIMESTAMPTZ, SQL_TIMESTAMPTZ),
	COMPARE(SQL_INTERVAL, SQL_INTERVAL),
	COMPARE(SQL_UUID, SQL_UUID),
	COMPARE(SQL_ENUM, SQL_ENUM),
	COMPARE(SQL_ARRAY, SQL_ARRAY),
	BOUNDS(SQL_DATE),
	BOUNDS(SQL_TIMESTAMP),
	BOUNDS(SQL_TIMESTAMPTZ),
	BOUNDS(SQL_INTERVAL),
	BOUNDS(SQL_ENUM),
	BOUNDS(SQL_ARRAY),
	{ "+", DO_ADD, SQL_DATE, 2, { SQL_DATE, SQL_INT4 } },
	{ "+", DO_ADD, SQL_DATE, 2, { SQL_INT4, SQL_DATE } },
	{ "-", DO_SUB, SQL_DATE, 2, { SQL_DATE, SQL_INT4 } },
	{ "-", DO_SUB, SQL_INT4, 2, { SQL_DATE, SQL_DATE } },
	{ "-", DO_SUB, SQL_INTERVAL, 2, { SQL_TIMESTAMP, SQL_TIMESTAMP } },
	{ "-", DO_SUB, SQL_INTERVAL, 2, { SQL_TIMESTAMPTZ, SQL_TIMESTAMPTZ } },
	SHIFT(SQL_TIMESTAMP, SQL_DATE),
	SHIFT(SQL_TIMESTAMP, SQL_TIMESTAMP),
	SHIFT(SQL_TIMESTAMPTZ, SQL_TIMESTAMPTZ),
	{ "+", DO_ADD, SQL_INTERVAL, 2, { SQL_INTERVAL, SQL_INTERVAL } },
	{ "-", DO_SUB, SQL_INTERVAL, 2, { SQL_INTERVAL, SQL_INTERVAL } },
	{ "-", DO_NEGATE, SQL_INTERVAL, 1, { SQL_INTERVAL } },
	{ "*", DO_MUL, SQL_INTERVAL, 2, { SQL_INTERVAL, SQL_INT8 } },
	{ "*", DO_MUL, SQL_INTERVAL, 2, { SQL_INT8, SQL_INTERVAL } },
	{ "extract", DO_EXTRACT, SQL_NUMERIC, 2, { SQL_TEXT, SQL_INTERVAL } },
	{ "date_trunc",
	  DO_DATE_TRUNC,
	  SQL_TIMESTAMP,
	  2,
	  { SQL_TEXT, SQL_TIMESTAMP } },
	{ "date_trunc",
	  DO_DATE_TRUNC,
	  SQL_TIMESTAMPTZ,
	  2,
	  { SQL_TEXT, SQL_TIMESTAMPTZ } },
	{ "now", DO_NOW, SQL_TIMESTAMPTZ, 0, { 0 } },
	{ "transaction_timestamp", DO_NOW, SQL_TIMESTAMPTZ, 0, { 0 } },
	{ "statement_timestamp", DO_NOW, SQL_TIMESTAMPTZ, 0, { 0 } },
	{ "cardinality", DO_CARDINALITY, SQL_INT4, 1, { SQL_ARRAY } },
	{ "array_length",
	  DO_ARRAY_LENGTH,
	  SQL_INT4,
	  2,
	  { SQL_ARRAY, SQL_INT4 } },
	{ "||", DO_CONCAT, SQL_TEXT, 2, { SQL_TEXT, SQL_TEXT } },
	{ "||", DO_CONCAT, SQL_TEXT, 2, { SQL_TEXT, SQL_ANY } },
	{ "||", DO_CONCAT, SQL_TEXT, 2, { SQL_ANY, SQL_TEXT } },
	{ "~~", DO_LIKE, SQL_BOOL, 2, { SQL_TEXT, SQL_TEXT } },
	{ "~~", DO_LIKE, SQL_BOOL, 2, { SQL_CHAR, SQL_TEXT } },
	{ "!~~", DO_NOT_LIKE, SQL_BOOL, 2, { SQL_TEXT, SQL_TEXT } },
	{ "!~~", DO_NOT_LIKE, SQL_BOOL, 2, { SQL_CHAR, SQL_TEXT } },
	{ "~~*", DO_ILIKE, SQL_BOOL, 2, { SQL_TEXT, SQL_TEXT } },
	{ "~~*", DO_ILIKE, SQL_BOOL, 2, { SQL_CHAR, SQL_TEXT } },
	{ "!~~*", DO_NOT_ILIKE, SQL_BOOL, 2, { SQL_TEXT, SQL_TEXT } },
	{ "!~~*", DO_NOT_ILIKE, SQL_BOOL, 2, { SQL_CHAR, SQL_TEXT } },
	LENGTH("length"),
	LENGTH("char_length"),
	LENGTH("character_length"),
	{ "octet_length", DO_OCTET_LENGTH, SQL_INT4, 1, { SQL_TEXT } },
	{ "octet_length", DO_OCTET_LENGTH, SQL_INT4, 1, { SQL_CHAR } },
	SUBSTRING("substring"),
	/* by regular expressions */
	{ "substring", DO_OUTSIDE, SQL_TEXT, 2, { SQL_TEXT, SQL_TEXT } },
	{ "substring",
	  DO_OUTSIDE,
	  SQL_TEXT,
	  3,
	  { SQL_TEXT, SQL_TEXT, SQL_TEXT } },
	SUBSTRING("substr"),
	{ "position", DO_POSITION, SQL_INT4, 2, { SQL_TEXT, SQL_TEXT } },
	{ "strpos", DO_POSITION, SQL_INT4, 2, { SQL_TEXT, SQL_TEXT } },
	TRIM("btrim", DO_BTRIM),
	TRIM("ltrim", DO_LTRIM),
	TRIM("rtrim", DO_RTRIM),
	{ "replace",
	  DO_REPLACE,
	  SQL_TEXT,
	  3,
	  { SQL_TEXT, SQL_TEXT, SQL_TEXT } },
	{ "left", DO_LEFT, SQL_TEXT, 2, { SQL_TEXT, SQL_INT4 } },
	{ "right", DO_RIGHT, SQL_TEXT, 2, { SQL_TEXT, SQL_INT4 } },
	PAD("lpad", DO_LPAD),
	PAD("rpad", DO_RPAD),
	{ "repeat", DO_REPEAT, SQL_TEXT, 2, { SQL_TEXT, SQL_INT4 } },
	{ "reverse", DO_REVERSE, SQL_TEXT, 1, { SQL_TEXT } },
	{ "split_part",
	  DO_SPLIT_PART,
	  SQL_TEXT,
	  3,
	  { SQL_TEXT, SQL_TEXT, SQL_INT4 } },
	{ "initcap", DO_INITCAP, SQL_TEXT, 1, { SQL_TEXT } },
	{ "translate",
	  DO_TRANSLATE,
	  SQL_TEXT,
	  3,
	  { SQL_TEXT, SQL_TEXT, SQL_TEXT } },
	{ "starts_with", DO_STARTS_WITH, SQL_BOOL, 2, { SQL_TEXT, SQL_TEXT } },
	{ "^@", DO_STARTS_WITH, SQL_BOOL, 2, { SQL_TEXT, SQL_TEXT } },
	{ "ascii", DO_ASCII, SQL_INT4, 1, { SQL_TEXT } },
	{ "chr", DO_CHR, SQL_TEXT, 1, { SQL_INT4 } },
	{ "to_hex", DO_TO_HEX, SQL_TEXT, 1, { SQL_INT4 } },
	{ "to_hex", DO_TO_HEX, SQL_TEXT, 1, { SQL_INT8 } },
	{ "md5", DO_MD5, SQL_TEXT, 1, { SQL_TEXT } },
	{ "quote_literal", DO_QUOTE_LITERAL, SQL_TEXT, 1, { SQL_TEXT } },
	{ "quote_ident", DO_QUOTE_IDENT, SQL_TEXT, 1, { SQL_TEXT } },
	{ "concat", DO_CONCAT_ALL, SQL_TEXT, 1, { SQL_ANY } },
	{ "concat_ws", DO_CONCAT_WS, SQL_TEXT, 2, { SQL_TEXT, SQL_ANY } },
	{ "format", DO_FORMAT, SQL_TEXT, 1, { SQL_TEXT } },
	{ "lastval", DO_LASTVAL, SQL_INT8, 0, { 0 } },
	{ "generate_series",
	  DO_GENERATE_SERIES,
	  SQL_INT4,
	  2,
	  { SQL_INT4, SQL_INT4 } },
	{ "generate_series",
	  DO_GENERATE_SERIES,
	  SQL_INT8,
	  2,
	  { SQL_INT8, SQL_INT8 } },
	{ "generate_series",
	  DO_GENERATE_SERIES,
	  SQL_NUMERIC,
	  2,
	  { SQL_NUMERIC, SQL_NUMERIC } },
	SERIES(SQL_INT4, SQL_INT4),
	SERIES(SQL_INT8, SQL_INT8),
	SERIES(SQL_NUMERIC, SQL_NUMERIC),
	SERIES(SQL_TIMESTAMP, SQL_INTERVAL),
	SERIES(SQL_TIMESTAMPTZ, SQL_INTERVAL),
	{ "unnest", DO_UNNEST, SQL_ANY, 1, { SQL_ARRAY } },
	{ "lower", DO_LOWER, SQL_TEXT, 1, { SQL_TEXT } },
	{ "upper", DO_UPPER, SQL_TEXT, 1, { SQL_TEXT } },
	{ "count", DO_COUNT, SQL_INT8, 0, { 0 } },
	{ "count", DO_COUNT, SQL_INT8, 1, { SQL_ANY } },
	{ "sum", DO_SUM, SQL_INT8, 1, { SQL_INT2 } },
	{ "sum", DO_SUM, SQL_INT8, 1, { SQL_INT4 } },
	{ "sum", DO_SUM, SQL_NUMERIC, 1, { SQL_INT8 } },
	{ "sum", DO_SUM, SQL_NUMERIC, 1, { SQL_NUMERIC } },
	BOUNDS(SQL_TEXT),
	BOUNDS(SQL_CHAR),
	{ "bool_and", DO_BOOL_AND, SQL_BOOL, 1, { SQL_BOOL } },
	{ "every", DO_BOOL_AND, SQL_BOOL, 1, { SQL_BOOL } },
	{ "bool_or", DO_BOOL_OR, SQL_BOOL, 1, { SQL_BOOL } },
	{ "string_agg", DO_STRING_AGG, SQL_TEXT, 2, { SQL_TEXT, SQL_TEXT } },
	{ "array_agg", DO_ARRAY_AGG, SQL_ARRAY, 1, { SQL_ANY } },
};

enum { PROCS = sizeof procs / sizeof *procs };

/* Those that are still in question. */
struct candidates {
	const enum sql_kind *types; /* of the arguments */
	uint32_t arguments, count;
	const struct sql_proc *items[PROCS];
};

bool sql_has_proc(const char *name)
{
	for (size_t i = 0; i < PROCS; i++)
		if (!strcmp(procs[i].name, name)) return true;
	return false;
}

bool sql_takes(const char *name, uint32_t count)
{
	for (size_t i = 0; i < PROCS; i++)
		if (!strcmp(procs[i].name, name) &&
		    (procs[i].count == count ||
		     sql_proc_takes_any_number(&procs[i])))
			return true;
	return false;
}

bool sql_aggregates(const char *name)
{
	for (size_t i = 0; i < PROCS; i++)
		if (!strcmp(procs[i].name, name) &&
		    sql_proc_is_aggregate(&procs[i]))
			return true;
	return false;
}

/* What else PostgreSQL has, as far as people use it. */
bool sql_is_outside(const char *name)
{
	static const char *const names[] = {
		"!~",
		"!~*",
		"#-",
		"#>",
		"#>>",
		"&&",
		"->",
		"->>",
		"<@",
		"?",
		"?&",
		"?|",
		"@",
		"@>",
		"@?",
		"@@",
		"acos",
		"age",
		"array_append",
		"array_cat",
		"array_dims",
		"array_fill",
		"array_lower",
		"array_ndims",
		"array_position",
		"array_positions",
		"array_prepend",
		"array_remove",
		"array_replace",
		"array_to_json",
		"array_to_string",
		"array_upper",
		"asin",
		"atan",
		"atan2",
		"bit_and",
		"bit_count",
		"bit_length",
		"bit_or",
		"bit_xor",
		"cbrt",
		"convert_from",
		"convert_to",
		"corr",
		"cos",
		"cot",
		"cume_dist",
		"current_database",
		"current_query",
		"current_schema",
		"current_schemas",
		"current_setting",
		"date_bin",
		"date_part",
		"decode",
		"degrees",
		"dense_rank",
		"div",
		"encode",
		"exp",
		"factorial",
		"first_value",
		"gcd",
		"get_bit",
		"get_byte",
		"hashtext",
		"isfinite",
		"json_agg",
		"json_array_elements",
		"json_build_array",
		"json_build_object",
		"json_each",
		"json_object_agg",
		"json_object_keys",
		"jsonb_agg",
		"jsonb_array_elements",
		"jsonb_build_array",
		"jsonb_build_object",
		"jsonb_each",
		"jsonb_object_agg",
		"jsonb_object_keys",
		"jsonb_pretty",
		"jsonb_set",
		"justify_days",
		"justify_hours",
		"justify_interval",
		"lag",
		"last_value",
		"lcm",
		"lead",
		"like_escape",
		"ln",
		"log",
		"log10",
		"make_date",
		"make_interval",
		"make_time",
		"make_timestamp",
		"make_timestamptz",
		"min_scale",
		"mode",
		"nth_value",
		"ntile",
		"num_nonnulls",
		"num_nulls",
		"overlaps",
		"overlay",
		"parse_ident",
		"percent_rank",
		"percentile_cont",
		"percentile_disc",
		"pg_advisory_lock",
		"pg_advisory_lock_shared",
		"pg_advisory_unlock",
		"pg_advisory_unlock_all",
		"pg_advisory_unlock_shared",
		"pg_advisory_xact_lock",
		"pg_advisory_xact_lock_shared",
		"pg_backend_pid",
		"pg_column_size",
		"pg_current_xact_id",
		"pg_get_serial_sequence",
		"pg_notify",
		"pg_sleep",
		"pg_try_advisory_lock",
		"pg_try_advisory_lock_shared",
		"pg_try_advisory_xact_lock",
		"pg_try_advisory_xact_lock_shared",
		"pg_typeof",
		"pi",
		"quote_nullable",
		"radians",
		"rank",
		"regexp_count",
		"regexp_instr",
		"regexp_like",
		"regexp_match",
		"regexp_matches",
		"regexp_replace",
		"regexp_split_to_array",
		"regexp_split_to_table",
		"regexp_substr",
		"row_number",
		"row_to_json",
		"scale",
		"set_bit",
		"set_byte",
		"set_config",
		"setseed",
		"setval",
		"sha224",
		"sha256",
		"sha384",
		"sha512",
		"similar_to_escape",
		"sin",
		"stddev",
		"stddev_pop",
		"stddev_samp",
		"string_to_array",
		"string_to_table",
		"tan",
		"timezone",
		"to_ascii",
		"to_char",
		"to_date",
		"to_json",
		"to_jsonb",
		"to_number",
		"to_regclass",
		"to_timestamp",
		"to_tsquery",
		"to_tsvector",
		"trim_array",
		"trim_scale",
		"txid_current_if_assigned",
		"txid_status",
		"unistr",
		"var_pop",
		"var_samp",
		"variance",
		"version",
		"width_bucket",
		"xmlagg",
		"|/",
		"||/",
		"~",
		"~*",
	};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(names[i], name)) return true;
	return false;
}

const char *sql_nearest_proc(const char *name)
{
	const char *names[PROCS];
	size_t count = 0;
	for (size_t i = 0; i < PROCS; i++)
		if (isalpha((unsigned char)*procs[i].name))
			names[count++] = procs[i].name;
	return diag_nearest(name, names, count);
}

/* All arguments have its types. */
static bool is_exact(const struct sql_proc *p, const enum sql_kind *types)
{
	for (uint32_t i = 0; i < p->count; i++)
		if (p->types[i] != types[i]) return false;
	return true;
}

static bool is_possible(const struct sql_proc *p, const enum sql_kind *types)
{
	for (uint32_t i = 0; i < p->count; i++)
		if (p->types[i] != SQL_ANY &&
		    !sql_can_coerce(types[i], p->types[i], COERCE_IMPLICIT))
			return false;
	return true;
}

/* An operator with one literal: is there one whose both sides have the type of
 * the other side? */
static const struct sql_proc *
as_other_side(const char *name, const enum sql_kind *types, uint32_t count)
{
	if (count != 2 ||
	    (types[0] == SQL_UNKNOWN) == (types[1] == SQL_UNKNOWN))
		return NULL;
	enum sql_kind known = types[0] == SQL_UNKNOWN ? types[1] : types[0];
	for (size_t i = 0; i < PROCS; i++)
		if (!strcmp(procs[i].name, name) && procs[i].count == 2 &&
		    procs[i].types[0] == known && procs[i].types[1] == known)
			return &procs[i];
	return NULL;
}

/* How well the candidate fits; the best ones stay. */
typedef uint32_t measure(const struct candidates *c, const struct sql_proc *p);

static uint32_t exact_types(const struct candidates *c,
                            const struct sql_proc *p)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < c->arguments; i++)
		n += c->types[i] != SQL_UNKNOWN && p->types[i] == c->types[i];
	return n;
}

static uint32_t exact_or_preferred(const struct candidates *c,
                                   const struct sql_proc *p)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < c->arguments; i++)
		n += c->types[i] != SQL_UNKNOWN &&
		     (p->types[i] == c->types[i] ||
		      (sql_kind_is_preferred(p->types[i]) &&
		       sql_kind_category(p->types[i]) ==
		               sql_kind_category(c->types[i])));
	return n;
}

static void keep_best(struct candidates *c, measure *of)
{
	uint32_t best = 0, kept = 0;
	assert(c->count && c->arguments <= PROC_ARGUMENTS);
	for (uint32_t i = 0; i < c->count; i++) {
		uint32_t n = of(c, c->items[i]);
		if (n > best) best = n;
	}
	for (uint32_t i = 0; i < c->count; i++)
		if (of(c, c->items[i]) == best) c->items[kept++] = c->items[i];
	c->count = kept;
}

/* The category that a literal in this place gets, or 0: a string if some
 * candidate takes one, else what all agree on. */
static char literal_category(const struct candidates *c, uint32_t place)
{
	assert(place < c->arguments);
	char found = 0;
	for (uint32_t i = 0; i < c->count; i++) {
		char here = sql_kind_category(c->items[i]->types[place]);
		if (here == 'S') return 'S';
		if (found && here != found) found = '?';
		if (!found) found = here;
	}
	return found == '?' ? 0 : found;
}

/* Literals take categories, and of those the preferred types. */
static void settle_literals(struct candidates *c)
{
	char categories[PROC_ARGUMENTS];
	bool preferred[PROC_ARGUMENTS] = { false };
	uint32_t kept = 0;
	for (uint32_t a = 0; a < c->arguments; a++) {
		categories[a] = 0;
		if (c->types[a] != SQL_UNKNOWN) continue;
		categories[a] = literal_category(c, a);
		if (!categories[a]) return;
		for (uint32_t i = 0; i < c->count; i++) {
			enum sql_kind k = c->items[i]->types[a];
			if (sql_kind_category(k) == categories[a] &&
			    sql_kind_is_preferred(k))
				preferred[a] = true;
		}
	}
	for (uint32_t i = 0; i < c->count; i++) {
		bool fits = true;
		for (uint32_t a = 0; a < c->arguments && fits; a++) {
			enum sql_kind k = c->items[i]->types[a];
			if (!categories[a]) continue;
			fits = sql_kind_category(k) == categories[a] &&
			       (!preferred[a] || sql_kind_is_preferred(k));
		}
		if (fits) c->items[kept++] = c->items[i];
	}
	if (kept) c->count = kept;
}

/* If all that is known is of one type, the literals are of it as well. */
static const struct sql_proc *as_known_types(const struct candidates *c)
{
	enum sql_kind known = SQL_UNKNOWN, all[PROC_ARGUMENTS];
	for (uint32_t a = 0; a < c->arguments; a++) {
		if (c->types[a] == SQL_UNKNOWN) continue;
		if (known != SQL_UNKNOWN && c->types[a] != known) return NULL;
		known = c->types[a];
	}
	if (known == SQL_UNKNOWN) return NULL;
	for (uint32_t a = 0; a < c->arguments; a++) all[a] = known;
	const struct sql_proc *only = NULL;
	for (uint32_t i = 0; i < c->count; i++) {
		if (!is_possible(c->items[i], all)) continue;
		if (only) return NULL;
		only = c->items[i];
	}
	return only;
}

enum sql_choice sql_choose_proc(const char *name, const enum sql_kind *types,
                                uint32_t count, const struct sql_proc **out)
{
	struct candidates c = { .types = types, .arguments = count };
	for (size_t i = 0; i < PROCS; i++) {
		if (strcmp(procs[i].name, name)) continue;
		*out = &procs[i];
		if (sql_proc_takes_any_number(*out)) {
			if (count >= (*out)->count && is_possible(*out, types))
				return CHOICE_MADE;
			continue;
		}
		if ((*out)->count != count) continue;
		if (is_exact(*out, types)) return CHOICE_MADE;
		if (is_possible(*out, types)) c.items[c.count++] = *out;
	}
	if ((*out = as_other_side(name, types, count))) return CHOICE_MADE;
	if (!c.count) return CHOICE_NONE;
	keep_best(&c, exact_types);
	if (c.count > 1) keep_best(&c, exact_or_preferred);
	if (c.count > 1) settle_literals(&c);
	*out = c.count == 1 ? c.items[0] : as_known_types(&c);
	return *out ? CHOICE_MADE : CHOICE_SEVERAL;
}
