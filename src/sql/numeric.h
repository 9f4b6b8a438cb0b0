/* Exact decimals, PostgreSQL's numeric: held as the text that PostgreSQL
 * writes, which tells their scale as well. There is no NaN and no infinity. */
#ifndef ISO_SQL_NUMERIC_H
#define ISO_SQL_NUMERIC_H

#include "sql/failure.h"
#include "sql/procs.h"
#include "vm/value.h"

/* Blanks around digits, with a point and an exponent. */
bool sql_numeric_of_text(struct region *r, struct value text, struct value *out,
                         struct sql_failure *why);
struct value sql_numeric_of_integer(struct region *r, int64_t i);
/* Rounded; an error if it does not fit. */
bool sql_numeric_to_integer(struct region *r, struct value v, enum sql_kind to,
                            struct value *out, struct sql_failure *why);
/* As numeric(precision, scale), which `length` packs. */
bool sql_numeric_fit(struct region *r, struct value v, int32_t length,
                     struct value *out, struct sql_failure *why);
/* + - * / % with the scales of PostgreSQL's results. */
bool sql_numeric_compute(struct region *r, enum sql_operation op,
                         struct value a, struct value b, struct value *out,
                         struct sql_failure *why);
/* x ^ y is computed if y is whole and not too large; numbers below zero have no
 * square root, and zero no power below zero. */
bool sql_numeric_can_raise(struct value x, struct value y);
bool sql_numeric_raise(struct region *r, struct value x, struct value y,
                       struct value *out, struct sql_failure *why);
bool sql_numeric_root(struct region *r, struct value v, struct value *out,
                      struct sql_failure *why);
/* abs, sign, -, round, trunc (to `digits` behind the point), ceil, floor */
struct value sql_numeric_change(struct region *r, enum sql_operation op,
                                struct value v, int64_t digits);
int sql_numeric_compare(struct value a, struct value b);
/* Equal values have one such text: without zeros at its end. */
struct value sql_numeric_normal(struct region *r, struct value v);

static inline int32_t sql_numeric_length(int precision, int scale)
{
	return precision << 16 | scale;
}

#endif
