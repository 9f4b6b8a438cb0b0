/* The operators and built-in functions of the language on values.
 *
 * Each gives true and its result in *out, or false and a message in the
 * context. Results are checked against the limits on values; `budget` pays for
 * the work, so that no program runs or allocates without bound.
 */
#ifndef ISO_VM_VALUE_OPS_H
#define ISO_VM_VALUE_OPS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/region.h"
#include "vm/value.h"

enum { RANGE_MAX = 1000000 }; /* items of a range */

struct ops {
	struct region *region; /* where results and messages go */
	int64_t budget;        /* what may still be spent */
	const char *error;     /* set by the first failure */
};

/* Sets the message; returns false. */
bool ops_fail(struct ops *o, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
bool ops_too_long(struct ops *o);
/* Pays for work on `count` items, less than 2^63. */
static inline bool ops_charge(struct ops *o, uint64_t count)
{
	o->budget -= (int64_t)count;
	return o->budget >= 0 || ops_too_long(o);
}

bool ops_add(struct ops *o, struct value a, struct value b, struct value *out);
bool ops_sub(struct ops *o, struct value a, struct value b, struct value *out);
bool ops_mul(struct ops *o, struct value a, struct value b, struct value *out);
bool ops_div(struct ops *o, struct value a, struct value b, struct value *out);
bool ops_mod(struct ops *o, struct value a, struct value b, struct value *out);
bool ops_equal(struct ops *o, struct value a, struct value b, bool *equal);
/* value_compare of two values of one type that has an order. */
bool ops_order(struct ops *o, const char *operator, struct value a,
               struct value b, int *order);
bool ops_in(struct ops *o, struct value a, struct value b, struct value *out);
bool ops_index(struct ops *o, struct value a, struct value i,
               struct value *out);
bool ops_field(struct ops *o, struct value a, struct value name,
               struct value *out);
bool ops_spread(struct ops *o, struct value a, struct value b,
                struct value *out);

/* A tuple, list or set of these items, or a record of count / 2 fields. */
bool ops_construct(struct ops *o, enum value_tag tag, const struct value *items,
                   uint32_t count, struct value *out);
/* Are a and b the ends of a range that is not too long? */
bool ops_range_ends(struct ops *o, struct value a, struct value b);
/* `which` is an enum builtin; the number of arguments is right. */
bool ops_builtin(struct ops *o, unsigned which, const struct value *arguments,
                 uint32_t count, struct value *out);

#endif
