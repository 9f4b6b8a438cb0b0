#include "sql/convert.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "base/utf8.h"
#include "sql/moment.h"
#include "sql/numeric.h"

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

/* ---- Enums, uuids ---- */

static uint32_t label_number(const struct sql_enum *e, struct value v)
{
	uint32_t i = 0;
	while (i < e->count && strcmp(e->labels[i], v.o->bytes)) i++;
	return i;
}

static bool enum_of_text(struct region *r, struct value v,
                         const struct sql_enum *e, struct value *out,
                         struct sql_failure *why)
{
	*out = v;
	return label_number(e, v) < e->count ||
	       sql_fail(r, why, "22P02",
	                "invalid input value for enum %s: \"%s\"", e->name,
	                v.o->bytes);
}

/* 32 digits, in braces, with a hyphen behind any four of them */
static bool uuid_of_text(struct region *r, struct value v, struct value *out,
                         struct sql_failure *why)
{
	enum { DIGITS = 32 };
	const char *s = v.o->bytes;
	char text[DIGITS + 5];
	uint32_t n = 0, length = 0;
	bool brace = *s == '{';
	for (s += brace; n < DIGITS; n++) {
		bool digit = (*s >= '0' && *s <= '9') ||
		             (*s >= 'a' && *s <= 'f') ||
		             (*s >= 'A' && *s <= 'F');
		if (!digit) goto syntax;
		if (n == 8 || n == 12 || n == 16 || n == 20)
			text[length++] = '-';
		text[length++] = *s >= 'A' && *s <= 'F' ? *s + 'a' - 'A' : *s;
		s++;
		if (*s == '-' && n % 4 == 3 && n + 1 < DIGITS) s++;
	}
	if (brace && *s++ != '}') goto syntax;
	if (*s) goto syntax;
	*out = value_string(r, text, length);
	return true;
syntax:
	return sql_fail(r, why, "22P02",
	                "invalid input syntax for type uuid: \"%s\"",
	                v.o->bytes);
}

/* ---- Arrays ---- */

/* One element, up to a comma or the closing brace; *null: the word NULL. */
static const char *read_element(const char *s, struct text *t, bool *null)
{
	bool quoted = false;
	size_t end = 0; /* without blanks behind it */
	text_clear(t);
	while (is_blank(*s)) s++;
	while (*s && *s != ',' && *s != '}' && *s != '{') {
		if (*s == '"') {
			quoted = true;
			for (s++; *s && *s != '"'; s++) {
				if (*s == '\\' && s[1]) s++;
				text_char(t, *s);
			}
			if (!*s) return NULL;
			s++;
			end = t->length;
			continue;
		}
		bool blank = is_blank(*s);
		if (*s == '\\' && s[1]) s++;
		text_char(t, *s++);
		if (!blank) end = t->length;
	}
	if (end < t->length) {
		t->data[end] = 0;
		t->length = end;
	}
	*null = !quoted && !strcasecmp(text_get(t), "null");
	return (*s != ',' && *s != '}') || (!end && !quoted) ? NULL : s;
}

/* {a, "b c", NULL}, of one dimension */
static bool array_of_text(struct region *r, struct value v, struct sql_type to,
                          struct value *out, struct sql_failure *why)
{
	const char *s = v.o->bytes;
	struct value *items = region_take(r, (v.o->length + 1) * sizeof *items);
	uint32_t count = 0;
	struct text t = { 0 };
	bool fine = true, null;
	while (is_blank(*s)) s++;
	if (*s++ != '{') goto malformed;
	while (is_blank(*s)) s++;
	while (fine && *s != '}') {
		if (!(s = read_element(s, &t, &null))) goto malformed;
		struct value text = value_string(r, text_get(&t), t.length);
		items[count] = value_null();
		assert(count <= v.o->length);
		fine = null || sql_convert(r, text, sql_type(SQL_UNKNOWN),
		                           sql_element_type(to), false,
		                           &items[count], why);
		count++;
		if (*s == ',' && s[1] == '}') goto malformed;
		s += *s == ',';
	}
	if (fine) s++;
	while (fine && is_blank(*s)) s++;
	if (fine && *s) goto malformed;
	text_free(&t);
	if (fine) *out = value_sequence(r, VALUE_LIST, items, count);
	return fine;
malformed:
	text_free(&t);
	return sql_fail(r, why, "22P02", "malformed array literal: \"%s\"",
	                v.o->bytes);
}

static void print_element(struct text *t, struct value text)
{
	const char *s = text.o->bytes;
	bool quote = !*s || !strcasecmp(s, "null") ||
	             strpbrk(s, "{},\"\\ \t\n\r\v\f");
	if (quote) text_char(t, '"');
	for (; *s; s++) {
		if (*s == '"' || *s == '\\') text_char(t, '\\');
		text_char(t, *s);
	}
	if (quote) text_char(t, '"');
}

static struct value array_to_text(struct region *r, struct value v,
                                  struct sql_type element)
{
	struct text t = { 0 };
	text_char(&t, '{');
	for (uint32_t i = 0; i < v.o->length; i++) {
		struct value item = v.o->items[i];
		if (i) text_char(&t, ',');
		if (sql_is_null(item))
			text_string(&t, "NULL");
		else if (element.kind == SQL_BOOL)
			text_char(&t, item.i ? 't' : 'f');
		else if (element.kind == SQL_CHAR)
			print_element(&t, item);
		else
			print_element(&t, sql_to_text(r, item, element));
	}
	text_char(&t, '}');
	struct value text = value_string(r, text_get(&t), t.length);
	text_free(&t);
	return text;
}

static bool convert_elements(struct region *r, struct value v,
                             struct sql_type from, struct sql_type to,
                             struct value *out, struct sql_failure *why)
{
	struct value *items =
		region_take(r, (v.o->length + (size_t)1) * sizeof *items);
	assert(v.tag == VALUE_LIST);
	for (uint32_t i = 0; i < v.o->length; i++)
		if (!sql_convert(r, v.o->items[i], sql_element_type(from),
		                 sql_element_type(to), false, &items[i], why))
			return false;
	*out = value_sequence(r, VALUE_LIST, items, v.o->length);
	return true;
}

/* ---- All ---- */

struct value sql_to_text(struct region *r, struct value v, struct sql_type type)
{
	char digits[24];
	assert(!sql_is_null(v));
	if (type.kind == SQL_BOOL)
		return value_string(r, v.i ? "true" : "false", v.i ? 4 : 5);
	if (sql_is_integer(type.kind)) {
		int n = snprintf(digits, sizeof digits, "%" PRId64, v.i);
		return value_string(r, digits, (size_t)n);
	}
	if (type.kind == SQL_ARRAY)
		return array_to_text(r, v, sql_element_type(type));
	if (type.kind == SQL_CHAR) return without_blanks(r, v);
	return v;
}

static bool of_text(struct region *r, struct value v, struct sql_type to,
                    struct value *out, struct sql_failure *why)
{
	switch (to.kind) {
	case SQL_BOOL: return bool_of_text(r, v, out, why);
	case SQL_DATE:
	case SQL_TIMESTAMP:
	case SQL_TIMESTAMPTZ:
	case SQL_INTERVAL: return sql_moment_of_text(r, v, to.kind, out, why);
	case SQL_UUID: return uuid_of_text(r, v, out, why);
	case SQL_ENUM: return enum_of_text(r, v, to.labels, out, why);
	case SQL_ARRAY: return array_of_text(r, v, to, out, why);
	case SQL_NUMERIC:
		return sql_numeric_of_text(r, v, out, why) &&
		       (!to.length ||
		        sql_numeric_fit(r, *out, to.length, out, why));
	default: return integer_of_text(r, v, to.kind, out, why);
	}
}

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
				: sql_to_text(r, v, from);
		if (!is_text) text = sql_to_text(r, v, from);
		return fit_length(r, text, to, written, out, why);
	}
	if (is_text) return of_text(r, v, to, out, why);
	if (to.kind == SQL_BOOL) {
		*out = value_bool(v.i != 0);
		return true;
	}
	if (from.kind == SQL_BOOL) {
		*out = value_int(v.i);
		return true;
	}
	if (sql_is_moment(to.kind)) {
		*out = sql_moment_convert(r, v, from.kind, to.kind);
		return true;
	}
	if (to.kind == SQL_NUMERIC) {
		if (from.kind != SQL_NUMERIC)
			*out = sql_numeric_of_integer(r, v.i);
		return !to.length ||
		       sql_numeric_fit(r, *out, to.length, out, why);
	}
	if (from.kind == SQL_NUMERIC)
		return sql_numeric_to_integer(r, v, to.kind, out, why);
	if (to.kind == SQL_ARRAY)
		return convert_elements(r, v, from, to, out, why);
	if (from.kind == to.kind) return true;
	assert(sql_is_integer(from.kind) && sql_is_integer(to.kind));
	if (integer_fits(v.i, to.kind)) return true;
	return sql_fail(r, why, "22003", "%s out of range",
	                sql_kind_name(to.kind));
}

/* NULL is greater than all others, and equal to itself. */
static int compare_arrays(struct value a, struct value b,
                          struct sql_type element)
{
	uint32_t m = a.o->length, n = b.o->length;
	for (uint32_t i = 0; i < m && i < n; i++) {
		struct value x = a.o->items[i], y = b.o->items[i];
		int order = sql_is_null(x) - sql_is_null(y);
		if (!order && !sql_is_null(x))
			order = sql_compare(x, y, element);
		if (order) return order;
	}
	return (m > n) - (m < n);
}

int sql_compare(struct value a, struct value b, struct sql_type type)
{
	assert(a.tag == b.tag);
	switch (type.kind) {
	case SQL_NUMERIC: return sql_numeric_compare(a, b);
	case SQL_INTERVAL: return sql_interval_compare(a, b);
	case SQL_ARRAY: return compare_arrays(a, b, sql_element_type(type));
	case SQL_ENUM:
		return (int)label_number(type.labels, a) -
		       (int)label_number(type.labels, b);
	default: break;
	}
	if (a.tag != VALUE_STRING) return (a.i > b.i) - (a.i < b.i);
	uint32_t m = a.o->length, n = b.o->length;
	if (type.kind == SQL_CHAR) {
		while (m && a.o->bytes[m - 1] == ' ') m--;
		while (n && b.o->bytes[n - 1] == ' ') n--;
	}
	int order = memcmp(a.o->bytes, b.o->bytes, m < n ? m : n);
	return order ? order : (m > n) - (m < n);
}

struct value sql_key_part(struct region *r, struct value v,
                          struct sql_type type)
{
	assert(!sql_is_null(v));
	if (type.kind == SQL_NUMERIC) return sql_numeric_normal(r, v);
	if (type.kind == SQL_INTERVAL) return sql_interval_normal(r, v);
	return v;
}
