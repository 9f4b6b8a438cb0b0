/* Values of SQL: from type to type, from and to text, and their order. */
#ifndef ISO_SQL_CONVERT_H
#define ISO_SQL_CONVERT_H

#include <stdbool.h>

#include "sql/failure.h"
#include "sql/type.h"
#include "vm/value.h"

/* The value as one of another type; `written`: by a cast that stands there,
 * which cuts texts to their length. */
bool sql_convert(struct region *r, struct value v, struct sql_type from,
                 struct sql_type to, bool written, struct value *out,
                 struct sql_failure *why);
/* As text, as a cast makes it; not of NULL. */
struct value sql_to_text(struct region *r, struct value v,
                         struct sql_type type);
/* The order of two values, neither NULL, both of a type that compares with
 * this one; texts as in the collation C. */
int sql_compare(struct value a, struct value b, struct sql_type type);
/* Equal values of the type, as parts of keys, are the same value. */
struct value sql_key_part(struct region *r, struct value v,
                          struct sql_type type);

static inline bool sql_is_null(struct value v)
{
	return v.tag == VALUE_NULL;
}

#endif
