#include "vm/value.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

#include "base/hash.h"
#include "vm/value_build.h"

_Static_assert(sizeof(struct value) == 16, "registers are 16 bytes");
_Static_assert(sizeof(struct value_object) == 16, "objects have no padding");

enum { DEPTH_SATURATED = 255, WEIGHT_SATURATED = (1 << 24) - 1 };

struct value_object *object_items(struct region *r, uint32_t count)
{
	struct value_object *o = region_take(
		r, sizeof *o + (size_t)count * sizeof(struct value));
	o->length = count;
	return o;
}

struct value_object *object_bytes(struct region *r, uint32_t count)
{
	struct value_object *o = region_take(r, sizeof *o + (size_t)count + 1);
	o->length = count;
	o->bytes[count] = '\0';
	return o;
}

static void seal_items(struct value_object *o, uint64_t seed)
{
	uint64_t hash = hash_mix(seed, o->length);
	uint64_t weight = 1;
	uint32_t depth = 0;
	for (uint32_t i = 0; i < o->length; i++) {
		struct value v = o->items[i];
		hash = hash_mix(hash, value_hash(v));
		weight++;
		if (v.tag < VALUE_STRING) continue;
		weight += v.o->weight - 1;
		if (v.o->depth > depth) depth = v.o->depth;
	}
	o->hash = hash;
	o->depth = depth + 1 < DEPTH_SATURATED ? depth + 1 : DEPTH_SATURATED;
	o->weight =
		weight < WEIGHT_SATURATED ? (uint32_t)weight : WEIGHT_SATURATED;
}

struct value object_seal(struct value_object *o, enum value_tag tag)
{
	assert(tag >= VALUE_STRING && tag <= VALUE_RECORD);
	if (tag == VALUE_STRING) {
		uint32_t weight = 1 + o->length / 16;
		o->bytes[o->length] = '\0';
		o->hash = hash_bytes(tag, o->bytes, o->length);
		o->depth = 1;
		o->weight =
			weight < WEIGHT_SATURATED ? weight : WEIGHT_SATURATED;
	} else {
		seal_items(o, tag);
	}
	return (struct value){ .tag = tag, .o = o };
}

struct value value_string(struct region *r, const char *s, size_t length)
{
	assert(length < UINT32_MAX);
	struct value_object *o = object_bytes(r, (uint32_t)length);
	if (length) memcpy(o->bytes, s, length);
	return object_seal(o, VALUE_STRING);
}

struct value value_sequence(struct region *r, enum value_tag tag,
                            const struct value *items, uint32_t count)
{
	assert(tag == VALUE_TUPLE || tag == VALUE_LIST);
	struct value_object *o = object_items(r, count);
	if (count) memcpy(o->items, items, count * sizeof *items);
	return object_seal(o, tag);
}

static void sift_down(struct value *heap, uint32_t at, uint32_t count)
{
	struct value v = heap[at];
	for (;;) {
		uint32_t child = 2 * at + 1;
		if (child >= count) break;
		if (child + 1 < count &&
		    value_compare(heap[child], heap[child + 1]) < 0)
			child++;
		if (value_compare(v, heap[child]) >= 0) break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = v;
}

/* Heap sort: no memory, no bad case. */
static void sort_many(struct value *items, uint32_t count)
{
	for (uint32_t i = count / 2; i-- > 0;) sift_down(items, i, count);
	for (uint32_t i = count; i-- > 1;) {
		struct value largest = items[0];
		items[0] = items[i];
		items[i] = largest;
		sift_down(items, 0, i);
	}
}

void values_sort(struct value *items, uint32_t count)
{
	if (count > 16) {
		sort_many(items, count);
		return;
	}
	for (uint32_t i = 1; i < count; i++) {
		struct value v = items[i];
		uint32_t at = i;
		for (; at && value_compare(items[at - 1], v) > 0; at--)
			items[at] = items[at - 1];
		items[at] = v;
	}
}

uint32_t values_lower_bound(const struct value *items, uint32_t count,
                            uint32_t stride, struct value v)
{
	uint32_t low = 0, high = count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (value_compare(items[(size_t)middle * stride], v) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct value value_set(struct region *r, const struct value *items,
                       uint32_t count)
{
	struct value_object *o = object_items(r, count);
	if (count) memcpy(o->items, items, count * sizeof *items);
	values_sort(o->items, count);
	uint32_t kept = 0;
	for (uint32_t i = 0; i < count; i++)
		if (!kept || !value_equal(o->items[kept - 1], o->items[i]))
			o->items[kept++] = o->items[i];
	o->length = kept;
	return object_seal(o, VALUE_SET);
}

struct value value_record(struct region *r, const struct value *pairs,
                          uint32_t fields)
{
	struct value_object *o = object_items(r, 2 * fields);
	uint32_t kept = 0;
	for (uint32_t i = 0; i < fields; i++) {
		struct value name = pairs[2 * i];
		assert(name.tag == VALUE_STRING);
		uint32_t at = values_lower_bound(o->items, kept, 2, name);
		struct value *slot = o->items + 2 * at;
		if (at == kept || !value_equal(slot[0], name)) {
			memmove(slot + 2, slot, (kept - at) * 2 * sizeof *slot);
			kept++;
		}
		slot[0] = name;
		slot[1] = pairs[2 * i + 1];
	}
	o->length = 2 * kept;
	return object_seal(o, VALUE_RECORD);
}

static bool contents_equal(enum value_tag tag, const struct value_object *a,
                           const struct value_object *b)
{
	if (a == b) return true;
	if (a->hash != b->hash || a->length != b->length) return false;
	if (tag == VALUE_STRING) return !memcmp(a->bytes, b->bytes, a->length);
	for (uint32_t i = 0; i < a->length; i++)
		if (!value_equal(a->items[i], b->items[i])) return false;
	return true;
}

bool value_equal(struct value a, struct value b)
{
	if (a.tag != b.tag) return false;
	if (a.tag < VALUE_STRING) return a.i == b.i;
	return contents_equal(a.tag, a.o, b.o);
}

static int compare_strings(const struct value_object *a,
                           const struct value_object *b)
{
	uint32_t shorter = a->length < b->length ? a->length : b->length;
	int order = memcmp(a->bytes, b->bytes, shorter);
	if (order) return order;
	return (a->length > b->length) - (a->length < b->length);
}

static int compare_items(const struct value_object *a,
                         const struct value_object *b)
{
	uint32_t shorter = a->length < b->length ? a->length : b->length;
	for (uint32_t i = 0; i < shorter; i++) {
		int order = value_compare(a->items[i], b->items[i]);
		if (order) return order;
	}
	return (a->length > b->length) - (a->length < b->length);
}

int value_compare(struct value a, struct value b)
{
	if (a.tag != b.tag) return a.tag < b.tag ? -1 : 1;
	if (a.tag < VALUE_STRING) return (a.i > b.i) - (a.i < b.i);
	if (a.o == b.o) return 0;
	if (a.tag == VALUE_STRING) return compare_strings(a.o, b.o);
	return compare_items(a.o, b.o);
}

uint64_t value_hash(struct value v)
{
	if (v.tag < VALUE_STRING) return hash_mix(v.tag, (uint64_t)v.i);
	return v.o->hash;
}

struct value value_copy(struct region *r, struct value v)
{
	if (v.tag < VALUE_STRING) return v;
	struct value_object *o;
	if (v.tag == VALUE_STRING) {
		o = object_bytes(r, v.o->length);
		memcpy(o->bytes, v.o->bytes, v.o->length);
	} else {
		o = object_items(r, v.o->length);
		for (uint32_t i = 0; i < v.o->length; i++)
			o->items[i] = value_copy(r, v.o->items[i]);
	}
	o->hash = v.o->hash;
	o->depth = v.o->depth;
	o->weight = v.o->weight;
	return (struct value){ .tag = v.tag, .o = o };
}

uint32_t value_depth(struct value v)
{
	return v.tag < VALUE_STRING ? 0 : v.o->depth;
}

const char *value_type_name(enum value_tag tag)
{
	static const char *const names[] = { "null",   "boolean", "integer",
		                             "string", "tuple",   "list",
		                             "set",    "record" };
	assert((size_t)tag < sizeof names / sizeof *names);
	return names[tag];
}

/* Null, booleans, integers and strings look the same in both notations. */
static void print_plain(struct text *t, struct value v)
{
	switch (v.tag) {
	case VALUE_NULL: text_string(t, "null"); break;
	case VALUE_BOOL: text_string(t, v.i ? "true" : "false"); break;
	case VALUE_INT: text_int(t, v.i); break;
	default: text_json_string(t, v.o->bytes, v.o->length);
	}
}

static bool is_identifier(const struct value_object *name)
{
	if (!name->length || isdigit((unsigned char)name->bytes[0]))
		return false;
	for (uint32_t i = 0; i < name->length; i++) {
		unsigned char c = (unsigned char)name->bytes[i];
		if (c > 127 || (!isalnum(c) && c != '_')) return false;
	}
	return true;
}

static void print_field_name(struct text *t, const struct value_object *name)
{
	if (is_identifier(name))
		text_bytes(t, name->bytes, name->length);
	else
		text_json_string(t, name->bytes, name->length);
}

static void print_record(struct text *t, const struct value_object *o)
{
	/* "{}" is the empty set */
	text_string(t, o->length ? "{" : "{:");
	for (uint32_t i = 0; i < o->length; i += 2) {
		if (i) text_string(t, ", ");
		print_field_name(t, o->items[i].o);
		text_string(t, ": ");
		value_print(t, o->items[i + 1]);
	}
	text_char(t, '}');
}

void value_print(struct text *t, struct value v)
{
	if (v.tag <= VALUE_STRING) {
		print_plain(t, v);
		return;
	}
	if (v.tag == VALUE_RECORD) {
		print_record(t, v.o);
		return;
	}
	const char *brackets = v.tag == VALUE_TUPLE  ? "()"
	                       : v.tag == VALUE_LIST ? "[]"
	                                             : "{}";
	text_char(t, brackets[0]);
	for (uint32_t i = 0; i < v.o->length; i++) {
		if (i) text_string(t, ", ");
		value_print(t, v.o->items[i]);
	}
	/* (1) is 1 */
	if (v.tag == VALUE_TUPLE && v.o->length == 1) text_char(t, ',');
	text_char(t, brackets[1]);
}

static void print_json_items(struct text *t, const struct value_object *o)
{
	text_char(t, '[');
	for (uint32_t i = 0; i < o->length; i++) {
		if (i) text_char(t, ',');
		value_print_json(t, o->items[i]);
	}
	text_char(t, ']');
}

static void print_json_fields(struct text *t, const struct value_object *o)
{
	text_char(t, '{');
	for (uint32_t i = 0; i < o->length; i += 2) {
		if (i) text_char(t, ',');
		value_print_json(t, o->items[i]);
		text_char(t, ':');
		value_print_json(t, o->items[i + 1]);
	}
	text_char(t, '}');
}

void value_print_json(struct text *t, struct value v)
{
	if (v.tag <= VALUE_STRING) {
		print_plain(t, v);
		return;
	}
	text_format(t, "{\"%s\":", value_type_name(v.tag));
	if (v.tag == VALUE_RECORD)
		print_json_fields(t, v.o);
	else
		print_json_items(t, v.o);
	text_char(t, '}');
}
