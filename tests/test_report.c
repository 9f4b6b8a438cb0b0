/* Forms of a result that are made from its JSON: the steps that it has of each
 * history, played again by a simple twin; names in pages; and whatever else a
 * file may hold in place of a result. */
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "dpor/explorer.h"
#include "random_program.h"
#include "report/documents.h"
#include "report/outcomes.h"
#include "report/page.h"
#include "report/page_parts.h"
#include "report/report.h"
#include "result/explored.h"
#include "result/result.h"
#include "suites.h"
#include "support.h"

/* ---- steps ---- */

static const char *string_of(const json_t *of, const char *name)
{
	return json_string_value(json_object_get(of, name));
}

/* Events of all transactions of an example. */
static size_t count_events(const json_t *example)
{
	size_t i, k, n = 0;
	json_t *session, *t;
	json_array_foreach(json_object_get(example, "sessions"), i, session)
		json_array_foreach(json_object_get(session, "transactions"), k,
	                           t)
	{
		size_t e;
		json_t *event;
		json_array_foreach(json_object_get(t, "events"), e, event) n +=
			strcmp(json_string_value(json_array_get(event, 0)),
		               "stmt") != 0;
	}
	return n;
}

static void play_read(const json_t *step, json_t *newest, json_t *ended)
{
	const char *from = string_of(step, "from");
	const char *key = string_of(step, "key");
	const char *at = string_of(newest, key);
	if (!strcmp(from, "self")) return;
	ck_assert_str_eq(string_of(step, "newest") ? string_of(step, "newest")
	                                           : from,
	                 at ? at : "init");
	if (string_of(step, "newest"))
		ck_assert_str_ne(string_of(step, "newest"), from);
	ck_assert(!strcmp(from, "init") || json_object_get(ended, from));
}

/* Each transaction ends once, behind all that it does, and reads only of those
 * that have ended; `newest` is who has committed the key last. */
static void play(const json_t *example)
{
	json_t *newest = json_object(), *ended = json_object();
	json_t *wrote = json_object(), *step;
	size_t i, events = 0;
	json_array_foreach(json_object_get(example, "steps"), i, step)
	{
		const char *who = string_of(step, "transaction"), *key;
		const char *does = string_of(step, "does");
		json_t *mine = json_object_get(wrote, who), *value;
		if (!string_of(step, "session")) continue;
		ck_assert(!json_object_get(ended, who));
		events += json_object_get(step, "key") != NULL;
		if (!strcmp(does, "reads")) {
			play_read(step, newest, ended);
		} else if (!strcmp(does, "writes")) {
			if (!mine)
				json_object_set_new(wrote, who,
				                    mine = json_object());
			json_object_set_new(mine, string_of(step, "key"),
			                    json_true());
		} else if (strcmp(does, "starts") &&
		           !json_object_get(step, "key")) {
			json_object_set_new(ended, who, json_true());
			if (strcmp(does, "aborts"))
				json_object_foreach(mine, key, value)
					json_object_set_new(newest, key,
				                            json_string(who));
		}
	}
	ck_assert_uint_eq(events, count_events(example));
	json_decref(newest);
	json_decref(ended);
	json_decref(wrote);
}

static void explore(const struct program *p, enum level l, struct text *json)
{
	struct explore_options o = { .level = l,
		                     .base = LEVEL_NONE,
		                     .algorithm = EXPLORE_DFS,
		                     .robust = true,
		                     .max_histories = 200,
		                     .max_changes = UINT64_MAX };
	struct explorer *e = explorer_new(p, &o, NULL);
	explorer_run(e);
	struct result *r = result_of_exploration(e, NULL, RESULT_WHOLE);
	report_json(json, r, "1");
	result_free(r);
	explorer_free(e);
}

START_TEST(steps_can_be_played_again)
{
	static const enum level levels[] = { LEVEL_RC, LEVEL_PRC, LEVEL_SI };
	for (uint64_t i = 0; i < programs_or(60); i++) {
		struct text source = { 0 }, json = { 0 }, page = { 0 };
		struct text problem = { 0 };
		struct documents d;
		json_t *a;
		size_t k;
		if (i % 2)
			random_locking_program(&source, first_seed() + i);
		else
			random_program(&source, first_seed() + i);
		struct program *p = program_from_text(text_get(&source));
		explore(p, levels[i % 3], &json);
		ck_assert(documents_read(&d, text_get(&json), json.length,
		                         &problem));
		json_array_foreach(json_object_get(json_array_get(d.list, 0),
		                                   "assertions"),
		                   k, a) if (json_object_get(a, "example"))
			play(json_object_get(a, "example"));
		report_page(&page, &d);
		ck_assert_str_eq(text_get(&page) + page.length - 8,
		                 "</html>\n");
		documents_free(&d);
		program_free(p);
		text_free(&source);
		text_free(&json);
		text_free(&page);
	}
}
END_TEST

/* ---- words ---- */

START_TEST(names_are_escaped)
{
	static const struct {
		const char *name, *shown;
		size_t length;
	} rows[] = {
		{ "<a href='x'>&\"", "&lt;a href=&#39;x&#39;&gt;&amp;&quot;",
		  0 },
		{ "a\0b", "a\\u0000b", 3 },
		{ "\x1b[31m\x7f", "\\u001b[31m\\u007f", 0 },
		{ "\xe2\x80\xaetxt", "\\u202etxt", 0 },
		{ "caf\xc3\xa9 \xe2\x82\xac", "caf\xc3\xa9 \xe2\x82\xac", 0 },
		{ "\xff\xc3", "\xef\xbf\xbd\xef\xbf\xbd", 0 },
		{ "0123456789abcdef", "0123456789… (6 more bytes)", 0 },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct text t = { 0 };
		size_t n =
			rows[i].length ? rows[i].length : strlen(rows[i].name);
		page_words(&t, rows[i].name, n,
		           i + 1 == sizeof rows / sizeof *rows ? 10 : 200);
		ck_assert_str_eq(text_get(&t), rows[i].shown);
		text_free(&t);
	}
}
END_TEST

/* ---- what is no result ---- */

/* A value that stands anywhere. */
static json_t *random_value(struct rng *r, int depth)
{
	static const char *const names[] = {
		"steps",       "cycle",   "edges",     "assertions",
		"example",     "session", "key",       "does",
		"from",        "to",      "reason",    "levels",
		"words",       "witness", "sources",   "lines",
		"first",       "file",    "line",      "violated",
		"violations",  "answers", "diff",      "edits",
		"predictions", "cycles",  "kind",      "failure",
		"values",      "class",   "anomalies", "warnings",
		"stats",       "record",  "set",
	};
	enum { NAMES = sizeof names / sizeof *names };
	uint32_t kind = rng_below(r, depth ? 9 : 5), count = rng_below(r, 6);
	json_t *value;
	switch (kind) {
	case 0: return json_null();
	case 1: return json_integer((json_int_t)rng_below(r, 9) - 2);
	case 2: return json_string("rw x");
	case 3: return json_real(0.5);
	case 4: return json_boolean(count & 1);
	case 5:
	case 6:
		value = json_array();
		while (count--)
			json_array_append_new(value,
			                      random_value(r, depth - 1));
		return value;
	default:
		value = json_object();
		for (count *= 3; count; count--)
			json_object_set_new(value, names[rng_below(r, NAMES)],
			                    random_value(r, depth - 1));
		return value;
	}
}

START_TEST(whatever_stands_there_forms_come_of_it)
{
	struct rng r = { process_seed(0, 2) };
	for (int i = 0; i < 400; i++) {
		json_t *value = NULL;
		struct text t = { 0 }, problem = { 0 };
		struct documents d;
		do {
			json_decref(value);
			value = random_value(&r, 6);
		} while (!json_is_object(value));
		json_object_set_new(value, "isoscope", json_string("1"));
		char *printed = json_dumps(value, 0);
		ck_assert(
			documents_read(&d, printed, strlen(printed), &problem));
		report_page(&t, &d);
		ck_assert(strstr(text_get(&t), "</html>"));
		for (int f = 0; f < 4; f++) {
			static void (*const forms[])(
				struct text *, const struct documents *) = {
				report_sarif, report_junit, report_tap,
				report_annotations
			};
			text_clear(&t);
			forms[f](&t, &d);
		}
		documents_free(&d);
		json_decref(value);
		free(printed);
		text_free(&t);
	}
}
END_TEST

START_TEST(what_is_no_result_is_refused)
{
	static const char *const rows[][2] = {
		{ "", "result 1: there is none" },
		{ "{}", "result 1: this is no result of isoscope, as --json "
		        "prints them" },
		{ "[1]", "result 1: this is no result of isoscope, as --json "
		         "prints them" },
		{ "{\"isoscope\":\"1\"}\n{\"isoscope\":", "result 2: " },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct text problem = { 0 };
		struct documents d;
		const char *json = rows[i][0];
		ck_assert(!documents_read(&d, json, strlen(json), &problem));
		ck_assert(!strncmp(text_get(&problem), rows[i][1],
		                   strlen(rows[i][1])));
		text_free(&problem);
	}
}
END_TEST

void add_report_tests(TCase *tests)
{
	tcase_add_test(tests, steps_can_be_played_again);
	tcase_add_test(tests, names_are_escaped);
	tcase_add_test(tests, whatever_stands_there_forms_come_of_it);
	tcase_add_test(tests, what_is_no_result_is_refused);
}
