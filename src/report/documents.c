#include "report/documents.h"

#include <assert.h>
#include <string.h>

#include "result/result.h"

static bool is_result(const json_t *r)
{
	return json_is_object(r) && document_string(r, "isoscope");
}

/* Members that are added leave the version as it is. */
static bool is_newer(const json_t *r)
{
	const json_t *version = json_object_get(r, "version");
	return version && json_integer_value(version) != RESULT_JSON_VERSION;
}

const char *document_string(const json_t *of, const char *name)
{
	return json_string_value(json_object_get(of, name));
}

static bool refuse(struct documents *d, struct text *problem, const char *why)
{
	text_format(problem, "result %zu: %s", json_array_size(d->list) + 1,
	            why);
	documents_free(d);
	return false;
}

bool documents_read(struct documents *d, const char *json, size_t length,
                    struct text *problem)
{
	json_error_t e;
	size_t at = 0;
	assert(json || !length);
	d->list = json_array();
	for (;;) {
		while (at < length && json[at] && strchr(" \t\r\n", json[at]))
			at++;
		if (at == length) break;
		json_t *r =
			json_loadb(json + at, length - at,
		                   JSON_ALLOW_NUL | JSON_DISABLE_EOF_CHECK, &e);
		if (!r) return refuse(d, problem, e.text);
		if (!is_result(r)) {
			json_decref(r);
			return refuse(d, problem,
			              "this is no result of isoscope, as "
			              "--json prints them");
		}
		if (is_newer(r)) {
			json_decref(r);
			return refuse(d, problem,
			              "this is of a newer isoscope, whose "
			              "results have other members");
		}
		json_array_append_new(d->list, r);
		assert(e.position > 0);
		at += (size_t)e.position;
	}
	if (json_array_size(d->list)) return true;
	return refuse(d, problem, "there is none");
}

void documents_free(struct documents *d)
{
	json_decref(d->list);
	d->list = NULL;
}
