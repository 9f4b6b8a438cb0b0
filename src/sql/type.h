/* The types of SQL, as far as they are known here, and how their values are
 * held: NULL is null; booleans and integers are themselves; arrays are lists;
 * all others are strings of the text that PostgreSQL writes. */
#ifndef ISO_SQL_TYPE_H
#define ISO_SQL_TYPE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

/*     kind, name in messages, category, preferred in it */
#define SQL_TYPE_TABLE(X)                                             \
	X(SQL_UNKNOWN, "unknown", 'X', false) /* a literal, so far */ \
	X(SQL_BOOL, "boolean", 'B', true)                             \
	X(SQL_INT2, "smallint", 'N', false)                           \
	X(SQL_INT4, "integer", 'N', false)                            \
	X(SQL_INT8, "bigint", 'N', false)                             \
	X(SQL_NUMERIC, "numeric", 'N', false)                         \
	X(SQL_TEXT, "text", 'S', true)                                \
	X(SQL_VARCHAR, "character varying", 'S', false)               \
	X(SQL_CHAR, "character", 'S', false)                          \
	X(SQL_DATE, "date", 'D', false)                               \
	X(SQL_TIMESTAMP, "timestamp without time zone", 'D', false)   \
	X(SQL_TIMESTAMPTZ, "timestamp with time zone", 'D', true)     \
	X(SQL_INTERVAL, "interval", 'T', true)                        \
	X(SQL_UUID, "uuid", 'U', false)                               \
	X(SQL_ENUM, "enum", 'E', false)                               \
	X(SQL_ARRAY, "array", 'A', false)                             \
	X(SQL_VOID, "void", 'P', false)                               \
	X(SQL_ANY, "any", 'P', false) /* what a function takes */

enum sql_kind {
#define X(kind, name, category, preferred) kind,
	SQL_TYPE_TABLE(X)
#undef X
		SQL_KIND_COUNT
};

struct sql_enum {
	const char *name;
	const char *const *labels; /* in their order */
	uint32_t count;
};

struct sql_type {
	enum sql_kind kind;
	int32_t length; /* varchar(n), character(n): n; numeric(p, s): see
	                 * sql_numeric_length(); 0: any */
	enum sql_kind element;         /* of arrays */
	const struct sql_enum *labels; /* of enums, and arrays of such */
};

static inline struct sql_type sql_type(enum sql_kind kind)
{
	return (struct sql_type){ .kind = kind };
}

static inline bool sql_is_integer(enum sql_kind k)
{
	return k == SQL_INT2 || k == SQL_INT4 || k == SQL_INT8;
}

static inline bool sql_is_string(enum sql_kind k)
{
	return k == SQL_TEXT || k == SQL_VARCHAR || k == SQL_CHAR;
}

static inline struct sql_type sql_element_type(struct sql_type array)
{
	return (struct sql_type){ .kind = array.element,
		                  .labels = array.labels };
}

/* Are values of both held alike, and does the second ask for no other length?
 */
bool sql_same_type(struct sql_type a, struct sql_type b);
const char *sql_kind_name(enum sql_kind k);
/* With its length: character varying(10). */
void sql_type_print(struct text *t, struct sql_type type);
char sql_kind_category(enum sql_kind k);
bool sql_kind_is_preferred(enum sql_kind k);

/* When a value may become one of another type by itself. */
enum sql_coercion { COERCE_IMPLICIT, COERCE_ASSIGNMENT, COERCE_EXPLICIT };
bool sql_can_coerce(enum sql_kind from, enum sql_kind to,
                    enum sql_coercion when);

#endif
