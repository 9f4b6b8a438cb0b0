#include "formats/json_values.h"

#include <assert.h>
#include <jansson.h>
#include <string.h>

#include "base/memory.h"
#include "vm/value.h"

static const char *const forms_of_values =
	"expected a value: null, true, false, an integer, a string, "
	"{\"tuple\": [..]}, {\"list\": [..]}, {\"set\": [..]} or "
	"{\"record\": {..}}";

struct conversion {
	struct region *region;
	const char *error; /* the first */
};

static struct value fail(struct conversion *c, const char *error)
{
	if (!c->error) c->error = error;
	return value_null();
}

static struct value convert(struct conversion *c, const json_t *j,
                            unsigned depth);

static struct value convert_items(struct conversion *c, const json_t *array,
                                  enum value_tag tag, unsigned depth)
{
	size_t n = json_array_size(array);
	struct value *items = region_take(c->region, n * sizeof *items + 1);
	for (size_t i = 0; i < n && !c->error; i++)
		items[i] = convert(c, json_array_get(array, i), depth);
	if (c->error) return value_null();
	if (tag == VALUE_SET) return value_set(c->region, items, (uint32_t)n);
	return value_sequence(c->region, tag, items, (uint32_t)n);
}

static struct value convert_fields(struct conversion *c, json_t *object,
                                   unsigned depth)
{
	size_t n = json_object_size(object), i = 0;
	struct value *pairs = region_take(c->region, 2 * n * sizeof *pairs + 1);
	const char *name;
	json_t *j;
	json_object_foreach(object, name, j)
	{
		pairs[i++] = value_string(c->region, name, strlen(name));
		pairs[i++] = convert(c, j, depth);
	}
	if (c->error) return value_null();
	return value_record(c->region, pairs, (uint32_t)n);
}

static struct value convert_object(struct conversion *c, const json_t *object,
                                   unsigned depth)
{
	static const enum value_tag tags[] = { VALUE_TUPLE, VALUE_LIST,
		                               VALUE_SET, VALUE_RECORD };
	if (depth > VALUE_DEPTH_MAX)
		return fail(c, "a value that is nested too deep");
	for (size_t i = 0; i < sizeof tags / sizeof *tags; i++) {
		json_t *j = json_object_get(object, value_type_name(tags[i]));
		if (!j || json_object_size(object) != 1) continue;
		if (tags[i] == VALUE_RECORD && json_is_object(j))
			return convert_fields(c, j, depth + 1);
		if (tags[i] != VALUE_RECORD && json_is_array(j))
			return convert_items(c, j, tags[i], depth + 1);
	}
	return fail(c, forms_of_values);
}

/* Recursion is bounded: by VALUE_DEPTH_MAX. */
static struct value convert(struct conversion *c, const json_t *j,
                            unsigned depth)
{
	switch (json_typeof(j)) {
	case JSON_NULL: return value_null();
	case JSON_TRUE: return value_bool(true);
	case JSON_FALSE: return value_bool(false);
	case JSON_INTEGER: return value_int(json_integer_value(j));
	case JSON_STRING:
		return value_string(c->region, json_string_value(j),
		                    json_string_length(j));
	case JSON_OBJECT: return convert_object(c, j, depth);
	case JSON_REAL: return fail(c, "a number that is not an integer");
	default: return fail(c, forms_of_values);
	}
}

static void drop(void *json)
{
	json_decref(json);
}

const char *json_canonical_value(struct text *out, struct region *region,
                                 const char *at, size_t length, size_t *offset)
{
	json_error_t e;
	assert(length);
	*offset = 0;
	json_t *j = json_loadb(at, length,
	                       JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &e);
	if (!j) {
		if (json_error_code(&e) == json_error_out_of_memory) mem_fail();
		if (e.position > 0) *offset = (size_t)e.position;
		return region_copy_string(region, e.text, strlen(e.text));
	}
	struct conversion c = { .region = region };
	mem_hold(j, drop);
	struct value v = convert(&c, j, 1);
	mem_let_go(j);
	json_decref(j);
	if (!c.error) value_print_json(out, v);
	return c.error;
}
