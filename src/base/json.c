#include "base/json.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/utf8.h"

struct json json_to(struct text *to)
{
	return (struct json){ .to = to };
}

static bool in_object(const struct json *j)
{
	return j->objects >> j->depth & 1;
}

struct text *json_value(struct json *j, const char *name)
{
	uint64_t here = (uint64_t)1 << j->depth;
	assert(in_object(j) == (name != NULL));
	assert(j->depth || !(j->begun & here)); /* one outermost value */
	if (j->begun & here) text_char(j->to, ',');
	j->begun |= here;
	if (j->line) text_char(j->to, '\n');
	j->line = false;
	if (name) {
		text_json_string(j->to, name, strlen(name));
		text_char(j->to, ':');
	}
	return j->to;
}

void json_open(struct json *j, const char *name, char kind)
{
	assert(kind == '{' || kind == '[');
	text_char(json_value(j, name), kind);
	assert(j->depth + 1 < JSON_DEPTH);
	uint64_t inside = (uint64_t)1 << ++j->depth;
	j->begun &= ~inside;
	j->objects &= ~inside;
	if (kind == '{') j->objects |= inside;
}

void json_close(struct json *j)
{
	assert(j->depth);
	text_char(j->to, in_object(j) ? '}' : ']');
	j->depth--;
}

void json_line(struct json *j)
{
	assert(j->depth);
	j->line = true;
}

/* JSON is UTF-8, but a name of a file can be any bytes: those that are part of
 * no character are U+FFFD. */
static void print_bytes(struct text *t, const char *value, size_t length)
{
	struct text fit = { 0 };
	for (size_t i = 0, n; i < length; i += n ? n : 1) {
		n = utf8_length(value + i, length - i);
		if (n)
			text_bytes(&fit, value + i, n);
		else
			text_string(&fit, "\xef\xbf\xbd");
	}
	assert(utf8_is_valid(text_get(&fit), fit.length));
	text_json_string(t, text_get(&fit), fit.length);
	text_free(&fit);
}

void json_text(struct json *j, const char *name, const char *value)
{
	struct text *t = json_value(j, name);
	size_t length = value ? strlen(value) : 0;
	if (!value)
		text_string(t, "null");
	else if (utf8_is_valid(value, length))
		text_json_string(t, value, length);
	else
		print_bytes(t, value, length);
}

void json_taken(struct json *j, const char *name, struct text *value)
{
	assert(value != j->to);
	json_text(j, name, text_get(value));
	text_clear(value);
}

void json_int(struct json *j, const char *name, int64_t n)
{
	text_int(json_value(j, name), n);
}

void json_count(struct json *j, const char *name, uint64_t n)
{
	text_format(json_value(j, name), "%" PRIu64, n);
}

void json_count_if(struct json *j, const char *name, bool known, uint64_t n)
{
	if (known)
		json_count(j, name, n);
	else
		json_text(j, name, NULL);
}

void json_number(struct json *j, const char *name, double n)
{
	struct text *t = json_value(j, name);
	if (isnan(n))
		text_string(t, "null");
	else
		text_format(t, "%.15g", n);
}

void json_seconds(struct json *j, const char *name, double seconds)
{
	text_format(json_value(j, name), "%.6f", seconds);
}

void json_bool(struct json *j, const char *name, bool value)
{
	text_string(json_value(j, name), value ? "true" : "false");
}
