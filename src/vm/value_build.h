/* Making objects in place: for the operations on values, which know that what
 * they make is canonical already. */
#ifndef ISO_VM_VALUE_BUILD_H
#define ISO_VM_VALUE_BUILD_H

#include <stdint.h>

#include "base/region.h"
#include "vm/value.h"

/* An object with room for `count` items, or `count` bytes and a zero byte. The
 * caller fills it, sets `length` to no more than `count`, and seals it. */
struct value_object *object_items(struct region *r, uint32_t count);
struct value_object *object_bytes(struct region *r, uint32_t count);
/* The value with this object. The contents must be canonical for the tag: a
 * set's items strictly increasing, a record's names likewise. */
struct value object_seal(struct value_object *o, enum value_tag tag);

/* Sorts in increasing order; equal ones are identical, so stability is moot. */
void values_sort(struct value *items, uint32_t count);
/* The place of the first item that is not less than v, in a sorted array whose
 * items lie `stride` apart. */
uint32_t values_lower_bound(const struct value *items, uint32_t count,
                            uint32_t stride, struct value v);

#endif
