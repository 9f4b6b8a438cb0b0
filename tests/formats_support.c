#include "formats_support.h"

#include <stdlib.h>
#include <string.h>

#include "assertions.h"
#include "base/memory.h"
#include "formats/renumber.h"
#include "support.h"
#include "trace_shape.h"

struct trace *parse_bytes(enum format f, const char *bytes, size_t length,
                          struct diags *d)
{
	char *copy = mem_take(length + 1);
	memcpy(copy, bytes, length);
	copy[length] = '\0';
	struct input in = { .file = "test", .bytes = copy, .length = length };
	struct reader_options o = { .format = f };
	struct trace *t =
		f == FORMAT_ISOSCOPE
			? isoscope_parse(&in, copy, copy + length, 1, &o, d)
			: format_parse(&in, f, &o, d);
	free(copy);
	return t;
}

struct trace *parse_good_bytes(enum format f, const char *bytes, size_t length)
{
	struct diags d = { 0 };
	struct trace *t = parse_bytes(f, bytes, length, &d);
	char *errors = diags_to_text(&d);
	ck_assert_msg(t && !d.errors, "%s: %s%.*s", format_word(f), errors,
	              (int)length, bytes);
	free(errors);
	diags_free(&d);
	return t;
}

struct trace *parse_good(enum format f, const char *bytes)
{
	return parse_good_bytes(f, bytes, strlen(bytes));
}

enum format detect_bytes(const char *bytes, size_t length)
{
	char *copy = mem_take(length + 1);
	memcpy(copy, bytes, length);
	copy[length] = '\0';
	struct input in = { .file = "test", .bytes = copy, .length = length };
	enum format f = format_detect(&in);
	free(copy);
	return f;
}

struct text print_good(enum format f, const struct trace *t,
                       const uint32_t *order)
{
	struct diags d = { 0 };
	struct text printed = { 0 };
	bool good = format_print(&printed, f, t, order, &d);
	char *errors = diags_to_text(&d);
	ck_assert_msg(good && !d.errors, "%s: %s", format_word(f), errors);
	free(errors);
	diags_free(&d);
	return printed;
}

void check_anomalies(const struct trace *t, const char *expected)
{
	struct text words = { 0 };
	for (uint32_t i = 0; i < t->anomaly_count; i++) {
		if (i) text_char(&words, ' ');
		text_string(&words, trace_anomaly_word(t->anomalies[i].kind));
	}
	ck_assert_str_eq(text_get(&words), expected);
	text_free(&words);
}

static void put_number(struct text *t, uint64_t x, bool low_first)
{
	for (int i = 0; i < 8; i++) {
		int shift = 8 * (low_first ? i : 7 - i);
		text_char(t, (char)(x >> shift & 0xff));
	}
}

void damage_json(char *bytes, size_t length, struct rng *r)
{
	static const char some[] =
		"[]{}:,\"\\ 0123456789-+.eEnulltrf\n\x80\xff";
	uint32_t count = 1 + rng_below(r, 3);
	for (uint32_t i = 0; i < count && length; i++) {
		size_t at = rng_below(r, (uint32_t)length);
		uint32_t how = rng_below(r, 4);
		if (how == 0)
			bytes[at] = (char)rng_below(r, 256);
		else if (how == 1)
			bytes[at] = bytes[rng_below(r, (uint32_t)length)];
		else
			bytes[at] = some[rng_below(r, sizeof some - 1)];
	}
}

struct text bytes_of(const char *notation, bool low_first)
{
	struct text t = { 0 };
	const char *at = notation;
	while (*at) {
		size_t n = strcspn(at, " ");
		if (*at == 'b') {
			text_char(&t, (char)strtol(at + 1, NULL, 0));
		} else if (*at == '"') {
			put_number(&t, n - 2, low_first);
			text_bytes(&t, at + 1, n - 2);
		} else if (*at == '.') {
			text_bytes(&t, at + 1, n - 1);
		} else {
			put_number(&t, strtoull(at, NULL, 0), low_first);
		}
		at += n;
		at += strspn(at, " ");
	}
	return t;
}

/* ---- shapes ---- */

char *shape_of(const struct trace *t, unsigned without)
{
	struct text s = { 0 };
	trace_shape(&s, t, without);
	return s.data ? s.data : mem_copy_string("");
}

static bool has_operations(const struct trace *t)
{
	bool *counts = ops_that_count(t), found = false;
	for (uint32_t i = 0; i < t->op_count; i++) found |= counts[i];
	free(counts);
	return found;
}

bool format_may_refuse(enum format f, const struct trace *t)
{
	bool no_aborted = f == FORMAT_AWDIT || f == FORMAT_COBRA;
	bool no_empty = f == FORMAT_PLUME || f == FORMAT_AWDIT;
	char *shape = shape_of(t, shape_of_format(f));
	bool empty = !strcmp(shape, "\n");
	free(shape);
	if (f == FORMAT_DBCOP_TEXT && t->transaction_count <= 2)
		return !has_operations(t);
	return (no_aborted && t->anomalies_found[ANOMALY_ABORTED]) ||
	       (no_empty && empty);
}

void check_same_shape(enum format f, const struct trace *a,
                      const struct trace *b, const char *text)
{
	char *before = shape_of(a, shape_of_format(f));
	char *after = shape_of(b, shape_of_format(f));
	ck_assert_msg(!strcmp(before, after), "%s:\n%s%s\ngives\n%s",
	              format_word(f), before, text, after);
	free(before);
	free(after);
}

void check_survives(enum format f, const char *bytes, size_t length)
{
	struct diags d = { 0 };
	detect_bytes(bytes, length);
	struct trace *t = parse_bytes(f, bytes, length, &d);
	ck_assert_int_eq(t == NULL, d.errors > 0);
	for (enum format to = 0; t && to < FORMAT_COUNT; to++) {
		struct text printed = { 0 };
		size_t before = d.errors;
		bool good = format_print(&printed, to, t, NULL, &d);
		ck_assert_int_eq(!good, d.errors > before);
		text_free(&printed);
	}
	trace_free(t);
	diags_free(&d);
}
