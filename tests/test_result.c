/* Results: JSON that is written, stop reasons, columns of wide characters, and
 * the structure itself. */
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/budget.h"
#include "base/json.h"
#include "dpor/explorer.h"
#include "report/counterexample.h"
#include "report/report.h"
#include "result/explored.h"
#include "result/numbers.h"
#include "suites.h"
#include "support.h"

/* ---- JSON ---- */

/* Writes a random value, and builds the same one by another library. */
static json_t *write_random(struct json *j, const char *name, struct rng *r,
                            int depth)
{
	static const char *const names[] = { "a", "\"", "b\n", "é", "" };
	uint32_t kind = rng_below(r, depth ? 7 : 5), count;
	json_t *value;
	switch (kind) {
	case 0: json_text(j, name, NULL); return json_null();
	case 1: json_text(j, name, "x\ty\"\\"); return json_string("x\ty\"\\");
	case 2: json_count(j, name, 12345); return json_integer(12345);
	case 3: json_bool(j, name, true); return json_true();
	case 4: json_number(j, name, NAN); return json_null();
	default: break;
	}
	count = rng_below(r, 5);
	json_open(j, name, kind == 5 ? '{' : '[');
	value = kind == 5 ? json_object() : json_array();
	for (uint32_t i = 0; i < count; i++) {
		if (kind == 5)
			json_object_set_new(
				value, names[i],
				write_random(j, names[i], r, depth - 1));
		else
			json_array_append_new(
				value, write_random(j, NULL, r, depth - 1));
	}
	json_close(j);
	return value;
}

START_TEST(json_is_what_another_library_reads)
{
	struct rng r = { process_seed(0, 1) };
	for (int i = 0; i < 2000; i++) {
		struct text t = { 0 };
		struct json j = json_to(&t);
		json_t *meant = write_random(&j, NULL, &r, 4);
		json_t *read = json_loads(text_get(&t), JSON_DECODE_ANY, NULL);
		ck_assert_msg(read && json_equal(read, meant), "%s",
		              text_get(&t));
		ck_assert_uint_eq(j.depth, 0);
		json_decref(meant);
		json_decref(read);
		text_free(&t);
	}
}
END_TEST

START_TEST(json_takes_words_and_what_nobody_knows)
{
	struct text t = { 0 }, words = { 0 };
	struct json j = json_to(&t);
	json_open(&j, NULL, '{');
	text_string(&words, "x");
	json_taken(&j, "b", &words);
	ck_assert_uint_eq(words.length, 0);
	json_int(&j, "c", -2);
	json_seconds(&j, "d", 0.5);
	json_count_if(&j, "e", false, 7);
	json_number(&j, "f", 1e15);
	json_close(&j);
	ck_assert_str_eq(text_get(&t), "{\"b\":\"x\",\"c\":-2,"
	                               "\"d\":0.500000,\"e\":null,"
	                               "\"f\":1e+15}");
	text_free(&t);
	text_free(&words);
}
END_TEST

/* ---- words ---- */

START_TEST(stop_reasons_are_read_back)
{
	enum stop_reason back;
	for (enum stop_reason s = STOP_NONE; s < STOP_TOO_LARGE; s++) {
		ck_assert(stop_from_file_word(stop_file_word(s), &back));
		ck_assert_int_eq(back, s);
		ck_assert_int_eq(!stop_word(s), s == STOP_NONE);
	}
	ck_assert(!stop_from_file_word("too large", &back));
	ck_assert(!stop_from_file_word("", &back));
	ck_assert_int_eq(stop_broadly(STOP_KEYS), STOP_TOO_LARGE);
	ck_assert_int_eq(stop_broadly(STOP_TIME), STOP_TIME);
}
END_TEST

/* ---- columns ---- */

static void check_fit(const char *words, size_t columns, const char *fitted)
{
	struct text t = { 0 };
	style_fit(&t, words, columns);
	ck_assert_str_eq(text_get(&t), fitted);
	ck_assert_uint_le(style_columns(fitted), columns);
	text_free(&t);
}

START_TEST(wide_characters_take_two_columns)
{
	ck_assert(setlocale(LC_CTYPE, "C.UTF-8"));
	ck_assert_uint_eq(style_columns(""), 0);
	ck_assert_uint_eq(style_columns("caf\xc3\xa9"), 4);
	ck_assert_uint_eq(style_columns("東京"), 4);
	ck_assert_uint_eq(style_columns("cafe\xcc\x81"), 4); /* combining */
	ck_assert_uint_eq(style_columns("a\tb\xff"), 4);
	check_fit("東京都", 6, "東京都");
	check_fit("東京都", 5, "東京…");
	check_fit("東京都", 4, "東… ");
	check_fit("東京都", 1, "…");
	check_fit("東京都", 0, "");
	check_fit("abc", 2, "a…");
}
END_TEST

/* Columns before the bar between two sessions, counted in another way: two for
 * what is three bytes long, but for the bar, lines, arrows and ellipses. */
static size_t columns_before_bar(const char *line)
{
	size_t n = 0;
	for (const char *s = line; *s && *s != '\n'; s++) {
		unsigned char c = (unsigned char)*s;
		if (!strncmp(s, "│", 3) || !strncmp(s, "┼", 3)) return n;
		if ((c & 0xc0) == 0x80) continue;
		n += c >= 0xe3 && c < 0xf0 ? 2 : 1;
	}
	return 0;
}

START_TEST(wide_characters_leave_tables_straight)
{
	struct history *h =
		history_from_notation("T1: Wx ; T2: y<0 | T3: x<T1 ; T4: Wy");
	struct style plain = { .width = 60 };
	bool stacked = false;
	ck_assert(setlocale(LC_CTYPE, "C.UTF-8"));
	for (size_t columns = 60; columns > 24; columns--) {
		struct text t = { 0 };
		size_t bar = 0, rows = 0;
		plain.width = (unsigned)columns;
		h->keys[0].name = "東京の座席";
		report_counterexample(&t, &plain, NULL, h, 2);
		for (const char *s = text_get(&t); *s;
		     s = strchr(s, '\n') + 1) {
			size_t at = columns_before_bar(s);
			if (!at) continue;
			if (!bar) bar = at;
			ck_assert_msg(at == bar, "%s", text_get(&t));
			rows++;
		}
		/* Too narrow for columns: from there on there are none. */
		ck_assert(rows > 3 || (!rows && columns < 60));
		ck_assert(!stacked || !rows);
		stacked = !rows;
		text_free(&t);
	}
	history_free(h);
}
END_TEST

/* ---- the structure ---- */

START_TEST(values_are_printed_in_the_order_they_were_added)
{
	struct result *r = result_new(NULL, LEVEL_CC);
	struct text t = { 0 }, number = { 0 };
	r->verdict = VERDICT_HOLDS;
	text_string(&t, "all is well");
	r->reason = result_words(r, &t);
	ck_assert_uint_eq(t.length, 0);
	result_text(r, &r->settings, "file", NULL);
	result_count_if(r, &r->settings, "line", true, 3);
	struct result_values *g = result_group(r, &r->findings, "g");
	struct result_values *l = result_list(r, g, "l");
	result_number(r, l, NULL, 0.25);
	result_flag(r, l, NULL, false);
	result_seconds(r, &r->measures, "s", 1);
	text_string(&number, "1.4 MB");
	text_string(&t, "resident");
	result_line_text(r, "memory", &number, &t);
	result_line_time(r, 2, 2, 1, 2, "history", "histories");
	report_json(&t, r, "1");
	ck_assert_str_eq(
		text_get(&t),
		"{\"isoscope\":\"1\",\"version\":1,\"file\":null,\"line\":3,"
		"\"verdict\":\"holds\",\"reason\":\"all is well\","
		"\"g\":{\"l\":[0.25,false]},\"s\":1.000000}\n");
	text_clear(&t);
	report_text(&t, &(struct style){ .width = 80 }, r);
	ck_assert_str_eq(text_get(&t),
	                 "holds: all is well\n\n"
	                 "memory               1.4 MB  resident\n"
	                 "time                 2.00 s  2.00 s of CPU, "
	                 "1 history per second\n");
	text_free(&t);
	text_free(&number);
	result_free(r);
}
END_TEST

/* What a check or a prediction fills is all that its words are made of. */
START_TEST(a_recorded_history_is_told_from_its_result)
{
	struct result *r = result_new(NULL, LEVEL_COUNT);
	struct text t = { 0 };
	static const char *const levels[] = { "cc", "si" };
	r->verdict = VERDICT_VIOLATED;
	r->reason = "not serializable";
	r->place = "h.jsonl:3";
	result_table(r, 2, 11, 8)->left = true;
	r->table_leads = true;
	for (int i = 0; i < 2; i++) {
		enum verdict v = i ? VERDICT_VIOLATED : VERDICT_HOLDS;
		struct result_cell *cells =
			result_row(r, result_format(r, "  %s", levels[i]))
				->cells;
		cells[0] = (struct result_cell){ verdict_word(v),
			                         result_mark_of(v) };
		cells[1].words = i ? "lost update" : "";
	}
	struct result_values *list = result_list(r, &r->findings, "anomalies");
	struct result_values *read = result_group(r, list, NULL);
	result_text(r, read, "name", "aborted read");
	result_text(r, read, "words", "a.1 reads x");
	result_count(r, &r->findings, "anomalies_found", 1);
	result_text(r, result_list(r, &r->findings, "strongest"), NULL, "cc");
	result_group(r, &r->findings, "commit_orders");
	*result_part(r) = (struct result_part){ .heading = "violates si",
		                                .anomaly = "lost update",
		                                .anomaly_leads = true };
	report_text(&t, &(struct style){ .width = 80 }, r);
	report_commit_orders(&t, r);
	report_strongest_of(&t, r);
	ck_assert_str_eq(text_get(&t),
	                 "violated: not serializable\n\n"
	                 "  cc    holds\n"
	                 "  si    violated   lost update\n\n"
	                 "This read is wrong, in whatever order the "
	                 "transactions ran:\n"
	                 "  aborted read\n    a.1 reads x\n\n"
	                 "lost update: violates si\n\n"
	                 "commit order under cc: none was found within the "
	                 "limits\n"
	                 "h.jsonl:3: cc\n");
	ck_assert(!result_find(&r->findings, "witnesses"));
	text_free(&t);
	result_free(r);
}
END_TEST

static struct explorer *explored(const struct program *p)
{
	struct explore_options o = { .level = LEVEL_CC,
		                     .base = LEVEL_CC,
		                     .robust = true,
		                     .max_changes = UINT64_MAX };
	struct explorer *e = explorer_new(p, &o, NULL);
	explorer_run(e);
	return e;
}

START_TEST(an_example_is_shown_once)
{
	struct program *p = program_from_text(
		"global x = 0;\n"
		"txn add() { let v = x; x = v + 1; return v; }\n"
		"session a { let v = add(); }\n"
		"session b { let v = add(); }\n"
		"assert a.v != b.v;\n"
		"assert a.v + b.v == 1;\n");
	struct explorer *e = explored(p);
	struct result *r = result_of_exploration(e, NULL, RESULT_WHOLE);
	struct result *short_one =
		result_of_exploration(e, NULL, RESULT_VERDICT);
	ck_assert_int_eq(r->verdict, VERDICT_VIOLATED);
	ck_assert_str_eq(r->reason, short_one->reason);
	ck_assert_uint_eq(r->assertion_count, 3);
	for (uint32_t i = 0; i < 3; i++) {
		const struct result_assertion *a = &r->assertions[i];
		ck_assert_int_eq(a->state, ASSERTION_FAILS);
		ck_assert(a->example.history && !a->example.serializable);
		ck_assert_str_eq(a->example.anomaly, "lost update");
		ck_assert_uint_gt(a->example.cycle.count, 1);
		ck_assert(!short_one->assertions[i].example.history);
	}
	ck_assert_uint_eq(r->assertions[0].shown_by, 0);
	ck_assert_uint_eq(r->assertions[1].shown_by, 0);
	result_free(r);
	result_free(short_one);
	explorer_free(e);
	program_free(p);
}
END_TEST

void add_result_tests(TCase *tests)
{
	tcase_add_test(tests, json_is_what_another_library_reads);
	tcase_add_test(tests, json_takes_words_and_what_nobody_knows);
	tcase_add_test(tests, stop_reasons_are_read_back);
	tcase_add_test(tests, wide_characters_take_two_columns);
	tcase_add_test(tests, wide_characters_leave_tables_straight);
	tcase_add_test(tests, values_are_printed_in_the_order_they_were_added);
	tcase_add_test(tests, a_recorded_history_is_told_from_its_result);
	tcase_add_test(tests, an_example_is_shown_once);
}
