#include "formats_support.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "support.h"

static format_parser *parser_of(enum format f)
{
	switch (f) {
	case FORMAT_DBCOP_JSON: return dbcop_json_parse;
	case FORMAT_REGISTER_EDN: return register_edn_parse;
	case FORMAT_REGISTER_JSON: return register_json_parse;
	case FORMAT_LIST_EDN: return list_edn_parse;
	case FORMAT_LIST_JSON: return list_json_parse;
	case FORMAT_ISOPREDICT: return isopredict_parse;
	default: ck_abort_msg("no parser for %s", format_word(f));
	}
}

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
			: parser_of(f)(&in, &o, d);
	free(copy);
	return t;
}

struct trace *parse_good(enum format f, const char *bytes)
{
	struct diags d = { 0 };
	struct trace *t = parse_bytes(f, bytes, strlen(bytes), &d);
	char *errors = diags_to_text(&d);
	ck_assert_msg(t && !d.errors, "%s: %s%s", format_word(f), errors,
	              bytes);
	free(errors);
	diags_free(&d);
	return t;
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
