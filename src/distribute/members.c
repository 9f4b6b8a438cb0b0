#include "distribute/members.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/diag.h"

bool member_wrong(struct members *m, const char *name, const char *expected)
{
	assert(name && expected);
	if (!m->failed)
		diags_add(m->diags, DIAG_ERROR, m->file, 0, 0, NULL,
		          "the file is damaged: \"%s\" must be %s; make it "
		          "again",
		          name, expected);
	m->failed = true;
	return false;
}

/* Digits, and nothing else. */
static bool read_digits(const char *s, uint64_t *out)
{
	uint64_t n = 0;
	if (!*s) return false;
	for (; *s; s++) {
		uint64_t digit = (uint64_t)(*s - '0');
		if (*s < '0' || *s > '9') return false;
		if (n > (UINT64_MAX - digit) / 10) return false;
		n = 10 * n + digit;
	}
	*out = n;
	return true;
}

bool value_count(const json_t *value, uint64_t most, uint64_t *out)
{
	uint64_t n = 0;
	assert(out);
	if (json_is_integer(value) && json_integer_value(value) >= 0)
		n = (uint64_t)json_integer_value(value);
	else if (!json_is_string(value) ||
	         !read_digits(json_string_value(value), &n))
		return false;
	if (n > most) return false;
	*out = n;
	return true;
}

bool member_count(struct members *m, const json_t *object, const char *name,
                  uint64_t most, uint64_t *out)
{
	return value_count(json_object_get(object, name), most, out) ||
	       member_wrong(m, name, "a whole number in range");
}

bool member_number(struct members *m, const json_t *object, const char *name,
                   uint32_t most, uint32_t *out)
{
	uint64_t n;
	if (!member_count(m, object, name, most, &n)) return false;
	*out = (uint32_t)n;
	return true;
}

bool member_seconds(struct members *m, const json_t *object, const char *name,
                    double *out)
{
	const json_t *value = json_object_get(object, name);
	double seconds = json_number_value(value);
	if (!json_is_number(value) || !isfinite(seconds) || seconds < 0)
		return member_wrong(m, name, "a time in seconds");
	*out = seconds;
	return true;
}

bool member_flag(struct members *m, const json_t *object, const char *name,
                 bool *out)
{
	const json_t *value = json_object_get(object, name);
	if (!json_is_boolean(value))
		return member_wrong(m, name, "true or false");
	*out = json_is_true(value);
	return true;
}

static bool read_hash(const char *s, uint64_t *out)
{
	static const char digits[] = "0123456789abcdef";
	uint64_t h = 0;
	if (strlen(s) != 16) return false;
	for (; *s; s++) {
		const char *digit = strchr(digits, *s);
		if (!digit) return false;
		h = h << 4 | (uint64_t)(digit - digits);
	}
	*out = h;
	return true;
}

bool member_hash(struct members *m, const json_t *object, const char *name,
                 uint64_t *out)
{
	const json_t *value = json_object_get(object, name);
	return (json_is_string(value) &&
	        read_hash(json_string_value(value), out)) ||
	       member_wrong(m, name, "a hash of 16 digits");
}

const char *member_string(struct members *m, const json_t *object,
                          const char *name)
{
	const json_t *value = json_object_get(object, name);
	if (json_is_string(value)) return json_string_value(value);
	member_wrong(m, name, "a string");
	return NULL;
}

const json_t *member_object(struct members *m, const json_t *object,
                            const char *name)
{
	const json_t *value = json_object_get(object, name);
	if (json_is_object(value)) return value;
	member_wrong(m, name, "an object");
	return NULL;
}

const json_t *member_array(struct members *m, const json_t *object,
                           const char *name)
{
	const json_t *value = json_object_get(object, name);
	if (json_is_array(value)) return value;
	member_wrong(m, name, "an array");
	return NULL;
}

bool member_is_null(const json_t *object, const char *name)
{
	return json_is_null(json_object_get(object, name));
}
