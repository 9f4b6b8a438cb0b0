#include "vm/value_ops.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "vm/bytecode.h"
#include "vm/value_build.h"

bool ops_fail(struct ops *o, const char *format, ...)
{
	char message[256];
	va_list args;
	va_start(args, format);
	vsnprintf(message, sizeof message, format, args);
	va_end(args);
	if (!o->error)
		o->error =
			region_copy_string(o->region, message, strlen(message));
	return false;
}

bool ops_too_long(struct ops *o)
{
	o->budget = 0;
	return ops_fail(o, "runs too long: the limit is 10 million "
	                   "instructions between two accesses to the database");
}

/* What walking through a value costs. */
static uint64_t weight(struct value v)
{
	return v.tag < VALUE_STRING ? 1 : v.o->weight;
}

/* The last step of every operation that makes an object. */
static bool accept(struct ops *o, struct value v, struct value *out)
{
	*out = v;
	if (v.tag < VALUE_STRING) return true;
	if (!ops_charge(o, v.o->weight)) return false;
	if (v.o->depth > VALUE_DEPTH_MAX)
		return ops_fail(o, "value nested more than %d deep",
		                VALUE_DEPTH_MAX);
	if (v.o->weight > VALUE_WEIGHT_MAX)
		return ops_fail(o,
		                "value too large: the limit is %d values "
		                "in one",
		                VALUE_WEIGHT_MAX);
	return true;
}

static bool operator_fails(struct ops *o, const char *operator, struct value a,
                           struct value b)
{
	return ops_fail(o,
	                "operator '%s' does not apply to %s and %s", operator,
	                value_type_name(a.tag), value_type_name(b.tag));
}

static bool overflow(struct ops *o, const char *operator, struct value a,
                     struct value b)
{
	return ops_fail(o, "integer overflow: %" PRId64 " %s %" PRId64,
	                a.i, operator, b.i);
}

static bool both(struct value a, struct value b, enum value_tag tag)
{
	return a.tag == tag && b.tag == tag;
}

static bool add_strings(struct ops *o, const struct value_object *a,
                        const struct value_object *b, struct value *out)
{
	uint64_t length = (uint64_t)a->length + b->length;
	if (!ops_charge(o, length / 16)) return false;
	struct value_object *sum = object_bytes(o->region, (uint32_t)length);
	memcpy(sum->bytes, a->bytes, a->length);
	memcpy(sum->bytes + a->length, b->bytes, b->length);
	return accept(o, object_seal(sum, VALUE_STRING), out);
}

static bool add_lists(struct ops *o, const struct value_object *a,
                      const struct value_object *b, struct value *out)
{
	uint64_t length = (uint64_t)a->length + b->length;
	if (!ops_charge(o, length)) return false;
	struct value_object *sum = object_items(o->region, (uint32_t)length);
	memcpy(sum->items, a->items, a->length * sizeof *a->items);
	memcpy(sum->items + a->length, b->items, b->length * sizeof *b->items);
	return accept(o, object_seal(sum, VALUE_LIST), out);
}

/* Which items a merge of two sets keeps. */
enum { KEEP_LEFT = 1, KEEP_RIGHT = 2, KEEP_COMMON = 4 };

static bool merge_sets(struct ops *o, const struct value_object *a,
                       const struct value_object *b, int keep,
                       struct value *out)
{
	if (!ops_charge(o, (uint64_t)a->weight + b->weight)) return false;
	struct value_object *m = object_items(o->region, a->length + b->length);
	uint32_t i = 0, j = 0, n = 0;
	while (i < a->length && j < b->length) {
		int order = value_compare(a->items[i], b->items[j]);
		if (order < 0 ? keep & KEEP_LEFT : !order && keep & KEEP_COMMON)
			m->items[n++] = a->items[i];
		else if (order > 0 && keep & KEEP_RIGHT)
			m->items[n++] = b->items[j];
		i += order <= 0;
		j += order >= 0;
	}
	if (keep & KEEP_LEFT)
		while (i < a->length) m->items[n++] = a->items[i++];
	if (keep & KEEP_RIGHT)
		while (j < b->length) m->items[n++] = b->items[j++];
	m->length = n;
	return accept(o, object_seal(m, VALUE_SET), out);
}

static bool unite(struct ops *o, struct value a, struct value b,
                  struct value *out)
{
	return merge_sets(o, a.o, b.o, KEEP_LEFT | KEEP_RIGHT | KEEP_COMMON,
	                  out);
}

bool ops_add(struct ops *o, struct value a, struct value b, struct value *out)
{
	if (a.tag != b.tag) return operator_fails(o, "+", a, b);
	switch (a.tag) {
	case VALUE_INT:
		out->tag = VALUE_INT;
		return !__builtin_add_overflow(a.i, b.i, &out->i) ||
		       overflow(o, "+", a, b);
	case VALUE_STRING: return add_strings(o, a.o, b.o, out);
	case VALUE_LIST: return add_lists(o, a.o, b.o, out);
	case VALUE_SET: return unite(o, a, b, out);
	default: return operator_fails(o, "+", a, b);
	}
}

bool ops_sub(struct ops *o, struct value a, struct value b, struct value *out)
{
	if (both(a, b, VALUE_SET))
		return merge_sets(o, a.o, b.o, KEEP_LEFT, out);
	if (!both(a, b, VALUE_INT)) return operator_fails(o, "-", a, b);
	out->tag = VALUE_INT;
	return !__builtin_sub_overflow(a.i, b.i, &out->i) ||
	       overflow(o, "-", a, b);
}

bool ops_mul(struct ops *o, struct value a, struct value b, struct value *out)
{
	if (!both(a, b, VALUE_INT)) return operator_fails(o, "*", a, b);
	out->tag = VALUE_INT;
	return !__builtin_mul_overflow(a.i, b.i, &out->i) ||
	       overflow(o, "*", a, b);
}

static bool may_divide(struct ops *o, const char *operator, struct value a,
                       struct value b)
{
	if (!both(a, b, VALUE_INT)) return operator_fails(o, operator, a, b);
	if (!b.i) return ops_fail(o, "division by zero");
	if (a.i == INT64_MIN && b.i == -1) return overflow(o, operator, a, b);
	return true;
}

bool ops_div(struct ops *o, struct value a, struct value b, struct value *out)
{
	if (!may_divide(o, "/", a, b)) return false;
	*out = value_int(a.i / b.i);
	return true;
}

bool ops_mod(struct ops *o, struct value a, struct value b, struct value *out)
{
	if (!may_divide(o, "%", a, b)) return false;
	*out = value_int(a.i % b.i);
	return true;
}

/* Comparing two values walks through no more than the smaller. */
static bool charge_comparison(struct ops *o, struct value a, struct value b)
{
	return ops_charge(o, weight(a) < weight(b) ? weight(a) : weight(b));
}

bool ops_equal(struct ops *o, struct value a, struct value b, bool *equal)
{
	*equal = false;
	if (a.tag != b.tag) return true;
	if (!charge_comparison(o, a, b)) return false;
	*equal = value_equal(a, b);
	return true;
}

bool ops_order(struct ops *o, const char *operator, struct value a,
               struct value b, int *order)
{
	bool ordered = a.tag == b.tag && a.tag != VALUE_NULL &&
	               a.tag != VALUE_SET && a.tag != VALUE_RECORD;
	if (!ordered) return operator_fails(o, operator, a, b);
	if (!charge_comparison(o, a, b)) return false;
	*order = value_compare(a, b);
	return true;
}

static bool find_item(const struct value_object *in, struct value v,
                      uint32_t *at)
{
	for (*at = 0; *at < in->length; ++*at)
		if (value_equal(in->items[*at], v)) return true;
	return false;
}

/* In a set (stride 1) or among the names of a record (stride 2). */
static bool find_sorted(const struct value_object *in, uint32_t stride,
                        struct value v, uint32_t *at)
{
	uint32_t count = in->length / stride;
	*at = stride * values_lower_bound(in->items, count, stride, v);
	return *at < in->length && value_equal(in->items[*at], v);
}

bool ops_in(struct ops *o, struct value a, struct value b, struct value *out)
{
	uint32_t at;
	if (!ops_charge(o, weight(a))) return false;
	switch (b.tag) {
	case VALUE_SET:
		*out = value_bool(find_sorted(b.o, 1, a, &at));
		return true;
	case VALUE_RECORD:
		*out = value_bool(find_sorted(b.o, 2, a, &at));
		return true;
	case VALUE_TUPLE:
	case VALUE_LIST:
		if (!ops_charge(o, b.o->length)) return false;
		*out = value_bool(find_item(b.o, a, &at));
		return true;
	default: return operator_fails(o, "in", a, b);
	}
}

bool ops_field(struct ops *o, struct value a, struct value name,
               struct value *out)
{
	uint32_t at;
	assert(name.tag == VALUE_STRING);
	if (a.tag != VALUE_RECORD)
		return ops_fail(o, "%s has no field '%s'",
		                value_type_name(a.tag), name.o->bytes);
	/* names mostly are the program's constants: the same object */
	for (at = 0; at < a.o->length && at < 16; at += 2) {
		if (a.o->items[at].o != name.o) continue;
		*out = a.o->items[at + 1];
		return true;
	}
	if (!find_sorted(a.o, 2, name, &at))
		return ops_fail(o, "the record has no field '%s'",
		                name.o->bytes);
	*out = a.o->items[at + 1];
	return true;
}

bool ops_index(struct ops *o, struct value a, struct value i, struct value *out)
{
	if (a.tag == VALUE_RECORD && i.tag == VALUE_STRING)
		return ops_field(o, a, i, out);
	if (a.tag != VALUE_LIST && a.tag != VALUE_TUPLE)
		return ops_fail(o, "cannot index %s with %s",
		                value_type_name(a.tag), value_type_name(i.tag));
	if (i.tag != VALUE_INT)
		return ops_fail(o,
		                "the index of a %s must be an integer, not "
		                "%s",
		                value_type_name(a.tag), value_type_name(i.tag));
	if (i.i < 0 || i.i >= a.o->length)
		return ops_fail(o,
		                "index %" PRId64 " is out of range: the %s "
		                "has %u item%s",
		                i.i, value_type_name(a.tag), a.o->length,
		                a.o->length == 1 ? "" : "s");
	*out = a.o->items[i.i];
	return true;
}

bool ops_spread(struct ops *o, struct value a, struct value b,
                struct value *out)
{
	if (!both(a, b, VALUE_RECORD))
		return ops_fail(
			o, "'...' needs a record, not %s",
			value_type_name(a.tag == VALUE_RECORD ? b.tag : a.tag));
	uint32_t length = a.o->length + b.o->length, n = 0, i = 0, j = 0;
	*out = a.o->length ? a : b;
	if (!a.o->length || !b.o->length) return true;
	if (!ops_charge(o, length)) return false;
	struct value_object *m = object_items(o->region, length);
	while (i < a.o->length || j < b.o->length) {
		int order = i == a.o->length   ? 1
		            : j == b.o->length ? -1
		                               : value_compare(a.o->items[i],
		                                               b.o->items[j]);
		const struct value *from =
			order < 0 ? a.o->items + i : b.o->items + j;
		m->items[n++] = from[0];
		m->items[n++] = from[1];
		i += order <= 0 ? 2 : 0;
		j += order >= 0 ? 2 : 0;
	}
	m->length = n;
	return accept(o, object_seal(m, VALUE_RECORD), out);
}

bool ops_construct(struct ops *o, enum value_tag tag, const struct value *items,
                   uint32_t count, struct value *out)
{
	if (!ops_charge(o, count)) return false;
	struct value v;
	if (tag == VALUE_SET)
		v = value_set(o->region, items, count);
	else if (tag == VALUE_RECORD)
		v = value_record(o->region, items, count / 2);
	else
		v = value_sequence(o->region, tag, items, count);
	return accept(o, v, out);
}

bool ops_range_ends(struct ops *o, struct value a, struct value b)
{
	if (!both(a, b, VALUE_INT))
		return ops_fail(o,
		                "the ends of a range must be integers, not "
		                "%s and %s",
		                value_type_name(a.tag), value_type_name(b.tag));
	if (b.i > a.i && (uint64_t)b.i - (uint64_t)a.i > RANGE_MAX)
		return ops_fail(o,
		                "range %" PRId64 "..%" PRId64 " is too "
		                "long: the limit is %d items",
		                a.i, b.i, RANGE_MAX);
	return true;
}

/* ---- Built-in functions ---- */

static bool is_collection(struct value v)
{
	return v.tag == VALUE_SET || v.tag == VALUE_LIST ||
	       v.tag == VALUE_TUPLE;
}

static bool wants(struct ops *o, const char *function, const char *what,
                  struct value v)
{
	return ops_fail(o, "%s() needs %s, not %s", function, what,
	                value_type_name(v.tag));
}

static const char collection[] = "a set, list or tuple";

static bool builtin_size(struct ops *o, struct value v, struct value *out)
{
	if (v.tag < VALUE_STRING)
		return wants(o, "size", "a collection or a string", v);
	*out = value_int(v.tag == VALUE_RECORD ? v.o->length / 2 : v.o->length);
	return true;
}

/* The least (sign 1) or greatest (sign -1) of the items. */
static bool extreme(struct ops *o, const char *function, int sign,
                    const struct value *items, uint32_t count,
                    struct value *out)
{
	if (!count) return ops_fail(o, "%s() of nothing", function);
	if (!ops_charge(o, count)) return false;
	struct value best = items[0];
	for (uint32_t i = 1; i < count; i++) {
		int order = 0;
		if (!ops_order(o, function, items[i], best, &order))
			return false;
		if (sign * order < 0) best = items[i];
	}
	*out = best;
	return true;
}

static bool builtin_extreme(struct ops *o, const char *function, int sign,
                            const struct value *v, uint32_t count,
                            struct value *out)
{
	if (count > 1) return extreme(o, function, sign, v, count, out);
	if (!is_collection(v[0])) return wants(o, function, collection, v[0]);
	return extreme(o, function, sign, v[0].o->items, v[0].o->length, out);
}

static bool builtin_sum(struct ops *o, struct value v, struct value *out)
{
	if (!is_collection(v)) return wants(o, "sum", collection, v);
	if (!ops_charge(o, v.o->length)) return false;
	struct value sum = value_int(0);
	for (uint32_t i = 0; i < v.o->length; i++) {
		struct value item = v.o->items[i];
		if (item.tag != VALUE_INT)
			return wants(o, "sum", "integers", item);
		if (!ops_add(o, sum, item, &sum)) return false;
	}
	*out = sum;
	return true;
}

static bool builtin_sort(struct ops *o, struct value v, struct value *out)
{
	if (!is_collection(v)) return wants(o, "sort", collection, v);
	if (!ops_charge(o, 4 * weight(v))) return false;
	struct value_object *sorted = object_items(o->region, v.o->length);
	memcpy(sorted->items, v.o->items, v.o->length * sizeof *v.o->items);
	values_sort(sorted->items, sorted->length);
	return accept(o, object_seal(sorted, VALUE_LIST), out);
}

static bool builtin_keys(struct ops *o, struct value v, struct value *out)
{
	if (v.tag != VALUE_RECORD) return wants(o, "keys", "a record", v);
	if (!ops_charge(o, v.o->length)) return false;
	struct value_object *names = object_items(o->region, v.o->length / 2);
	for (uint32_t i = 0; i < names->length; i++)
		names->items[i] = v.o->items[2 * i];
	return accept(o, object_seal(names, VALUE_SET), out);
}

/* Union or intersection of one or more sets. */
static bool builtin_merge(struct ops *o, const char *function, int keep,
                          const struct value *v, uint32_t count,
                          struct value *out)
{
	for (uint32_t i = 0; i < count; i++)
		if (v[i].tag != VALUE_SET)
			return wants(o, function, "sets", v[i]);
	*out = v[0];
	for (uint32_t i = 1; i < count; i++)
		if (!merge_sets(o, out->o, v[i].o, keep, out)) return false;
	return true;
}

static bool builtin_remove(struct ops *o, struct value list, struct value v,
                           struct value *out)
{
	uint32_t at;
	if (list.tag != VALUE_LIST) return wants(o, "remove", "a list", list);
	if (!ops_charge(o, list.o->length + weight(v))) return false;
	*out = list;
	if (!find_item(list.o, v, &at)) return true;
	uint32_t rest = list.o->length - at - 1;
	struct value_object *less = object_items(o->region, list.o->length - 1);
	memcpy(less->items, list.o->items, at * sizeof *less->items);
	memcpy(less->items + at, list.o->items + at + 1,
	       rest * sizeof *less->items);
	return accept(o, object_seal(less, VALUE_LIST), out);
}

static bool builtin_range(struct ops *o, struct value a, struct value b,
                          struct value *out)
{
	if (!ops_range_ends(o, a, b)) return false;
	uint32_t count = b.i > a.i ? (uint32_t)(b.i - a.i) : 0;
	if (!ops_charge(o, count)) return false;
	struct value_object *list = object_items(o->region, count);
	for (uint32_t i = 0; i < count; i++)
		list->items[i] = value_int(a.i + i);
	return accept(o, object_seal(list, VALUE_LIST), out);
}

static bool builtin_str(struct ops *o, struct value v, struct value *out)
{
	*out = v;
	if (v.tag == VALUE_STRING) return true;
	if (v.tag > VALUE_STRING && !ops_charge(o, v.o->weight)) return false;
	struct text t = { 0 };
	value_print(&t, v);
	*out = value_string(o->region, text_get(&t), t.length);
	text_free(&t);
	return accept(o, *out, out);
}

bool ops_builtin(struct ops *o, unsigned which, const struct value *v,
                 uint32_t count, struct value *out)
{
	switch (which) {
	case BUILTIN_SIZE: return builtin_size(o, v[0], out);
	case BUILTIN_MIN: return builtin_extreme(o, "min", 1, v, count, out);
	case BUILTIN_MAX: return builtin_extreme(o, "max", -1, v, count, out);
	case BUILTIN_SUM: return builtin_sum(o, v[0], out);
	case BUILTIN_SORT: return builtin_sort(o, v[0], out);
	case BUILTIN_KEYS: return builtin_keys(o, v[0], out);
	case BUILTIN_UNION:
		return builtin_merge(o, "union",
		                     KEEP_LEFT | KEEP_RIGHT | KEEP_COMMON, v,
		                     count, out);
	case BUILTIN_INTER:
		return builtin_merge(o, "inter", KEEP_COMMON, v, count, out);
	case BUILTIN_REMOVE: return builtin_remove(o, v[0], v[1], out);
	case BUILTIN_RANGE:
		return count == 1 ? builtin_range(o, value_int(0), v[0], out)
		                  : builtin_range(o, v[0], v[1], out);
	case BUILTIN_STR: return builtin_str(o, v[0], out);
	}
	assert(!"builtin");
	return false;
}
