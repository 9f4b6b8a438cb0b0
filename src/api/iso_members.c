/* isoscope.h: what a result says, by the names of its JSON form. */
#include <assert.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "api/objects.h"
#include "api/results.h"
#include "base/memory.h"
#include "formats/parsers.h"
#include "history/trace.h"

/* ---- names ---- */

/* Read when it is first asked for; NULL if there is no memory for it. */
static const json_t *members(const iso_result *result)
{
	iso_result *r = (iso_result *)result;
	if (r && !r->members)
		r->members =
			json_loadb(text_get(&r->json), r->json.length, 0, NULL);
	return r ? r->members : NULL;
}

/* The member of an object, or the element of a list with this number. */
static const json_t *inside(const json_t *value, const char *name,
                            size_t length)
{
	if (json_is_object(value)) return json_object_getn(value, name, length);
	if (!json_is_array(value) || !length ||
	    strspn(name, "0123456789") != length)
		return NULL;
	return json_array_get(value, strtoull(name, NULL, 10));
}

static const json_t *find(const iso_result *r, const char *name)
{
	const json_t *value = members(r);
	while (value && name && *name) {
		size_t length = strcspn(name, ".");
		value = inside(value, name, length);
		name += length + (name[length] == '.');
	}
	return value;
}

/* ---- values ---- */

size_t iso_result_size(const iso_result *result, const char *name)
{
	const json_t *value = find(result, name);
	return json_is_array(value) ? json_array_size(value)
	                            : json_object_size(value);
}

const char *iso_result_string(const iso_result *result, const char *name)
{
	return json_string_value(find(result, name));
}

int iso_result_number(const iso_result *result, const char *name, double *out)
{
	const json_t *value = find(result, name);
	if (!result || !name || !out) return ISO_E_ARGUMENT;
	if (!json_is_number(value)) return ISO_E_RANGE;
	*out = json_number_value(value);
	return ISO_OK;
}

int iso_result_count(const iso_result *result, const char *name, uint64_t *out)
{
	const json_t *value = find(result, name);
	if (!result || !name || !out) return ISO_E_ARGUMENT;
	if (!json_is_integer(value) || json_integer_value(value) < 0)
		return ISO_E_RANGE;
	*out = (uint64_t)json_integer_value(value);
	return ISO_OK;
}

int iso_result_flag(const iso_result *result, const char *name)
{
	const json_t *value = find(result, name);
	if (!result || !name) return ISO_E_ARGUMENT;
	return json_is_boolean(value) ? json_is_true(value) : ISO_E_RANGE;
}

/* ---- histories ---- */

static int read_history(iso_history **out, char *printed)
{
	const struct reader_options o = { .format = FORMAT_ISOSCOPE };
	struct diags d = { 0 };
	struct input in = { .file = "result",
		            .bytes = printed,
		            .length = strlen(printed) };
	struct trace *t =
		isoscope_parse(&in, printed, printed + in.length, 1, &o, &d);
	diags_free(&d);
	if (!t) return ISO_E_RANGE;
	*out = history_of_trace(t, false);
	return ISO_OK;
}

int iso_result_history(iso_history **out, const iso_result *result,
                       const char *name)
{
	int status;
	if (!out || !result || !name) return ISO_E_ARGUMENT;
	*out = NULL;
	const json_t *value = find(result, name);
	if (!json_is_object(value)) return ISO_E_RANGE;
	char *printed = json_dumps(value, JSON_COMPACT);
	if (!printed) return ISO_E_MEMORY;
	CALL_IN(NULL, status, read_history(out, printed));
	free(printed);
	return status;
}

void result_members_free(iso_result *r)
{
	assert(r);
	json_decref(r->members);
}
