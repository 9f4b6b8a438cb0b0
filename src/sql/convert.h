/* Values of SQL: from type to type, from and to text, and their order. */
#ifndef ISO_SQL_CONVERT_H
#define ISO_SQL_CONVERT_H

#include <stdbool.h>

#include "base/region.h"
#include "sql/type.h"
#include "vm/value.h"

/* An error as PostgreSQL raises it. */
struct sql_failure {
	char state[6];       /* SQLSTATE; "" if there is none */
	const char *message; /* in a region */
};

/* Sets the error, and returns false. */
bool sql_fail(struct region *r, struct sql_failure *f, const char *state,
              const char *format, ...) __attribute__((format(printf, 4, 5)));

/* The value as one of another type; `written`: by a cast that stands there,
 * which cuts texts to their length. */
bool sql_convert(struct region *r, struct value v, struct sql_type from,
                 struct sql_type to, bool written, struct value *out,
                 struct sql_failure *why);
/* As text, as PostgreSQL writes it; not of NULL. */
struct value sql_to_text(struct region *r, struct value v, enum sql_kind kind);
/* The order of two values, neither NULL, both of a type that compares with
 * this one; texts as in the collation C. */
int sql_compare(struct value a, struct value b, enum sql_kind kind);

static inline bool sql_is_null(struct value v)
{
	return v.tag == VALUE_NULL;
}

#endif
