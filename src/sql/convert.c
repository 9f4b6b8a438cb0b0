#include "sql/convert.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "base/utf8.h"

bool sql_fail(struct region *r, struct sql_failure *f, const char *state,
              const char *format, ...)
{
	struct text t = { 0 };
	va_list args;
	va_start(args, format);
	text_vformat(&t, format, args);
	va_end(args);
	assert(strlen(state) == 5);
	strcpy(f->state, state);
	f->message = region_copy_string(r, text_get(&t), t.length);
	text_free(&t);
	return false;
}

/* ---- Integers ---- */

static bool integer_fits(int64_t i, enum sql_kind kind)
{
	return kind == SQL_INT2   ? i >= INT16_MIN && i <= INT16_MAX
	       : kind == SQL_INT4 ? i >= INT32_MIN && i <= INT32_MAX
	                          : true;
}

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Blanks around an optional sign and digits. */
static bool integer_of_text(struct region *r, struct value v, enum sql_kind to,
                            struct value *out, struct sql_failure *why)
{
	const char *s = v.o->bytes, *end = s + v.o->length;
	uint64_t n = 0;
	bool minus = false, fits = true;
	while (s < end && is_blank(*s)) s++;
	while (end > s && is_blank(end[-1])) end--;
	if (s < end && (*s == '-' || *s == '+')) minus = *s++ == '-';
	if (s == end) goto syntax;
	for (; s < end; s++) {
		if (*s < '0' || *s > '9') goto syntax;
		uint64_t digit = (uint64_t)(*s - '0');
		fits &= n <= (INT64_MAX - digit + 1) / 10;
		if (fits) n = 10 * n + digit;
	}
	if (fits && n <= (uint64_t)INT64_MAX + minus) {
		int64_t i = minus ? -(int64_t)(n - 1) - 1 : (int64_t)n;
		if (!n) i = 0;
		*out = value_int(i);
		if (integer_fits(i, to)) return true;
	}
	return sql_fail(r, why, "22003",
	                "value \"%s\" is out of range for type %s", v.o->bytes,
	                sql_kind_name(to));
syntax:
	return sql_fail(r, why, "22P02",
	                "invalid input syntax for type %s: \"%s\"",
	                sql_kind_name(to), v.o->bytes);
}

/* ---- Booleans ---- */

/* A unique beginning of a word, in any case. */
static bool begins(const char *s, size_t length, const char *word, size_t least)
{
	return length >= least && length <= strlen(word) &&
	       !strncasecmp(s, word, length);
}

static bool bool_of_text(struct region *r, struct value v, struct value *out,
                         struct sql_failure *why)
{
	const char *s = v.o->bytes, *end = s + v.o->length;
	while (s < end && is_blank(*s)) s++;
	while (end > s && is_blank(end[-1])) end--;
	size_t n = (size_t)(end - s);
	bool is_true = begins(s, n, "true", 1) || begins(s, n, "yes", 1) ||
	               begins(s, n, "on", 2) || begins(s, n, "1", 1);
	if (!is_true && !begins(s, n, "false", 1) && !begins(s, n, "no", 1) &&
	    !begins(s, n, "off", 2) && !begins(s, n, "0", 1))
		return sql_fail(r, why, "22P02",
		                "invalid input syntax for type boolean: \"%s\"",
		                v.o->bytes);
	*out = value_bool(is_true);
	return true;
}

/* ---- Texts ---- */

static size_t characters(const char *s, size_t length)
{
	size_t n = 0;
	for (size_t i = 0; i < length; n++) {
		size_t step = utf8_length(s + i, length - i);
		i += step ? step : 1;
	}
	return n;
}

/* The bytes of the first `most` characters. */
static size_t prefix(const char *s, size_t length, size_t most)
{
	size_t i = 0;
	for (; i < length && most; most--) {
		size_t step = utf8_length(s + i, length - i);
		i += step ? step : 1;
	}
	return i;
}

static struct value without_blanks(struct region *r, struct value v)
{
	uint32_t n = v.o->length;
	while (n && v.o->bytes[n - 1] == ' ') n--;
	return n == v.o->length ? v : value_string(r, v.o->bytes, n);
}

/* To varchar(n) and character(n). What is cut off must be blanks, unless a cast
 * was written. character is held with its padding. */
static bool fit_length(struct region *r, struct value v, struct sql_type to,
                       bool written, struct value *out, struct sql_failure *why)
{
	const char *s = v.o->bytes;
	size_t length = v.o->length, most = (size_t)to.length;
	*out = v;
	if (!to.length) return true;
	size_t count = characters(s, length), cut = prefix(s, length, most);
	for (size_t i = cut; i < length && !written; i++)
		if (s[i] != ' ')
			return sql_fail(r, why, "22001",
			                "value too long for type %s(%d)",
			                sql_kind_name(to.kind), (int)to.length);
	if (count > most) *out = value_string(r, s, cut);
	if (to.kind != SQL_CHAR || count >= most) return true;
	struct text t = { 0 };
	text_bytes(&t, s, length);
	text_pad(&t, ' ', most - count);
	*out = value_string(r, text_get(&t), t.length);
	text_free(&t);
	return true;
}

struct value sql_to_text(struct region *r, struct value v, enum sql_kind kind)
{
	char digits[24];
	assert(!sql_is_null(v));
	if (kind == SQL_BOOL)
		return value_string(r, v.i ? "true" : "false", v.i ? 4 : 5);
	if (sql_is_integer(kind)) {
		int n = snprintf(digits, sizeof digits, "%" PRId64, v.i);
		return value_string(r, digits, (size_t)n);
	}
	if (kind == SQL_CHAR) return without_blanks(r, v);
	return v;
}

/* ---- All ---- */

bool sql_convert(struct region *r, struct value v, struct sql_type from,
                 struct sql_type to, bool written, struct value *out,
                 struct sql_failure *why)
{
	bool is_text = from.kind == SQL_UNKNOWN || sql_is_string(from.kind);
	*out = v;
	if (sql_is_null(v)) return true;
	if (sql_is_string(to.kind)) {
		/* A literal for character keeps its blanks. */
		struct value text =
			from.kind == SQL_UNKNOWN || to.kind == SQL_CHAR
				? v
				: sql_to_text(r, v, from.kind);
		if (!is_text) text = sql_to_text(r, v, from.kind);
		return fit_length(r, text, to, written, out, why);
	}
	if (is_text && to.kind == SQL_BOOL) return bool_of_text(r, v, out, why);
	if (is_text) return integer_of_text(r, v, to.kind, out, why);
	if (to.kind == SQL_BOOL) {
		*out = value_bool(v.i != 0);
		return true;
	}
	if (from.kind == SQL_BOOL) {
		*out = value_int(v.i);
		return true;
	}
	assert(sql_is_integer(from.kind) && sql_is_integer(to.kind));
	if (integer_fits(v.i, to.kind)) return true;
	return sql_fail(r, why, "22003", "%s out of range",
	                sql_kind_name(to.kind));
}

int sql_compare(struct value a, struct value b, enum sql_kind kind)
{
	assert(a.tag == b.tag);
	if (a.tag != VALUE_STRING) return (a.i > b.i) - (a.i < b.i);
	uint32_t m = a.o->length, n = b.o->length;
	if (kind == SQL_CHAR) {
		while (m && a.o->bytes[m - 1] == ' ') m--;
		while (n && b.o->bytes[n - 1] == ' ') n--;
	}
	int order = memcmp(a.o->bytes, b.o->bytes, m < n ? m : n);
	return order ? order : (m > n) - (m < n);
}
