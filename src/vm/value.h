/* Values of the transactional language: immutable, structural, canonical.
 *
 * A value is 16 bytes and is copied freely. Null, booleans and integers live in
 * it; the others point to an object in some region, which must outlive them.
 * Equal values have equal representations up to the object's address, so
 * equality is: same tag, same hash, same contents.
 */
#ifndef ISO_VM_VALUE_H
#define ISO_VM_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/region.h"
#include "base/text.h"

/* The order of tags is the order of values of different types. */
enum value_tag {
	VALUE_NULL,
	VALUE_BOOL,   /* i is 0 or 1 */
	VALUE_INT,    /* i */
	VALUE_STRING, /* object: bytes */
	VALUE_TUPLE,  /* object: items */
	VALUE_LIST,   /* object: items */
	VALUE_SET,    /* object: items, strictly increasing */
	VALUE_RECORD  /* object: pairs of items (name, value), by name */
};

struct value_object;

struct value {
	enum value_tag tag;
	union {
		int64_t i;
		const struct value_object *o;
	};
};

struct value_object {
	uint64_t hash;
	uint32_t length; /* bytes of a string; items of the others (a record of
	                  * n fields has 2n items) */
	uint32_t depth : 8;   /* nesting: 1 + deepest item; bounds recursion */
	uint32_t weight : 24; /* values in it, shared ones counted each time:
	                       * bounds the time to walk it. Both saturate */
	union {
		struct value items[0];
		char bytes[0]; /* followed by a zero byte */
	};
};

/* Nesting deeper than this is a run-time error, never a stack overflow. */
enum { VALUE_DEPTH_MAX = 200 };
/* The same for values of a greater weight (a string weighs 1 and 1 for every
 * 16 bytes). */
enum { VALUE_WEIGHT_MAX = 4000000 };

static inline struct value value_null(void)
{
	return (struct value){ .tag = VALUE_NULL, .i = 0 };
}
static inline struct value value_bool(bool b)
{
	return (struct value){ .tag = VALUE_BOOL, .i = b };
}
static inline struct value value_int(int64_t i)
{
	return (struct value){ .tag = VALUE_INT, .i = i };
}

struct value value_string(struct region *r, const char *s, size_t length);
/* A tuple or a list with these items in this order. */
struct value value_sequence(struct region *r, enum value_tag tag,
                            const struct value *items, uint32_t count);
/* The set of these items; sorts and removes duplicates (items is not kept). */
struct value value_set(struct region *r, const struct value *items,
                       uint32_t count);
/* The record with these (name, value) pairs; a later pair wins over an earlier
 * one with the same name. Names are string values. */
struct value value_record(struct region *r, const struct value *pairs,
                          uint32_t fields);

bool value_equal(struct value a, struct value b);
/* A total order: by tag, then by contents. Negative, zero or positive. */
int value_compare(struct value a, struct value b);
uint64_t value_hash(struct value v);
/* A deep copy in another region. */
struct value value_copy(struct region *r, struct value v);
/* The depth of nesting: 0 for null, booleans, integers; strings 1. */
uint32_t value_depth(struct value v);
/* The word for a type in messages: "integer", "set", ... */
const char *value_type_name(enum value_tag tag);

/* In the syntax of the language: {"alice"}, [1, 2], {qty: 2}, (1, "a"). */
void value_print(struct text *t, struct value v);
/* As in history files: {"set":["alice"]}, {"tuple":[..]}, {"list":[..]},
 * {"record":{..}}, plain JSON otherwise. No spaces. */
void value_print_json(struct text *t, struct value v);

#endif
