/* No state is shared: explorations in threads of their own find what they find
 * alone. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "dpor/explorer.h"
#include "isoscope.h"
#include "random_program.h"
#include "suites.h"
#include "file_support.h"
#include "support.h"

enum { THREADS = 2, PROGRAMS = 150 };

struct work {
	uint64_t seed;
	enum level level, base;
	const struct program *shared; /* or NULL: a program of its own */
	/* Results: a digest of all histories in order, and their number. */
	uint64_t histories;
	uint64_t digest;
};

static bool digest(void *payload, const struct explore_execution *e)
{
	struct work *w = payload;
	w->digest = w->digest * 31 + explore_hash(e);
	w->histories++;
	return w->histories < 2000;
}

static void explore(const struct program *p, struct work *w)
{
	struct explore_options o = { .level = w->level, .base = w->base };
	struct explore_observer observer = { .payload = w, .history = digest };
	struct explorer *e = explorer_new(p, &o, &observer);
	explorer_run(e);
	explorer_free(e);
}

static void *work(void *argument)
{
	struct work *w = argument;
	struct text source = { 0 };
	if (w->shared) {
		explore(w->shared, w);
		return NULL;
	}
	random_program(&source, w->seed);
	struct program *p = program_from_text(text_get(&source));
	explore(p, w);
	program_free(p);
	text_free(&source);
	return NULL;
}

static void compare(struct work *jobs)
{
	pthread_t threads[THREADS];
	struct work alone[THREADS];
	for (int t = 0; t < THREADS; t++) {
		alone[t] = jobs[t];
		work(&alone[t]);
	}
	for (int t = 0; t < THREADS; t++)
		ck_assert_int_eq(
			pthread_create(&threads[t], NULL, work, &jobs[t]), 0);
	for (int t = 0; t < THREADS; t++) {
		pthread_join(threads[t], NULL);
		ck_assert_uint_eq(jobs[t].histories, alone[t].histories);
		ck_assert_uint_eq(jobs[t].digest, alone[t].digest);
	}
}

START_TEST(two_programs_in_two_threads)
{
	for (uint64_t i = 0; i < PROGRAMS; i++) {
		struct work jobs[THREADS] = {
			{ .seed = i, .level = LEVEL_CC, .base = LEVEL_CC },
			{ .seed = i + 1000,
			  .level = LEVEL_SI,
			  .base = LEVEL_RC },
		};
		compare(jobs);
	}
}
END_TEST

START_TEST(one_program_in_two_threads)
{
	for (uint64_t i = 0; i < PROGRAMS; i++) {
		struct text source = { 0 };
		random_program(&source, i);
		struct program *p = program_from_text(text_get(&source));
		struct work jobs[THREADS] = {
			{ .shared = p, .level = LEVEL_RA, .base = LEVEL_RA },
			{ .shared = p, .level = LEVEL_SER, .base = LEVEL_CC },
		};
		compare(jobs);
		program_free(p);
		text_free(&source);
	}
}
END_TEST

/* ---- isoscope.h: several threads ---- */

struct told {
	uint64_t hashes; /* their sum: in any order */
	uint64_t histories;
	uint64_t enough; /* says stop at this one */
	bool inside;     /* somebody is told now */
};

static bool hear(void *payload, const iso_execution *e)
{
	struct told *t = payload;
	ck_assert(!t->inside);
	t->inside = true;
	t->hashes += iso_execution_hash(e);
	t->histories++;
	t->inside = false;
	ck_assert_uint_le(t->histories, t->enough);
	return t->histories < t->enough;
}

static iso_stats check_in_threads(iso_program *p, unsigned threads,
                                  struct told *told)
{
	iso_options options = { .size = sizeof options,
		                .level = ISO_LEVEL_SI,
		                .threads = threads };
	iso_observer observer = { .history = hear };
	iso_stats stats = { .size = sizeof stats };
	iso_check *c;
	ck_assert_int_eq(iso_check_new(&c, p, &options), ISO_OK);
	ck_assert_int_eq(iso_check_observe(c, &observer, told), ISO_OK);
	iso_check_run(c);
	ck_assert_int_eq(iso_check_stats(c, &stats), ISO_OK);
	iso_check_free(c);
	return stats;
}

START_TEST(threads_of_one_check_find_what_one_finds)
{
	for (uint64_t i = 0; i < PROGRAMS; i++) {
		struct text source = { 0 };
		struct told one = { .enough = UINT64_MAX };
		struct told three = { .enough = UINT64_MAX };
		iso_program *p;
		random_program(&source, i);
		ck_assert_int_eq(iso_program_load_text(&p, "random.tx",
		                                       text_get(&source),
		                                       source.length, NULL),
		                 ISO_OK);
		iso_stats a = check_in_threads(p, 1, &one);
		iso_stats b = check_in_threads(p, 3, &three);
		ck_assert_uint_eq(a.histories, b.histories);
		ck_assert_uint_eq(a.explore_calls, b.explore_calls);
		ck_assert_uint_eq(one.hashes, three.hashes);
		ck_assert_uint_eq(three.histories, b.histories);
		struct told few = { .enough = 2 };
		check_in_threads(p, 3, &few);
		ck_assert_uint_le(few.histories, 2);
		iso_program_free(p);
		text_free(&source);
	}
}
END_TEST

START_TEST(levels_are_told_apart)
{
	iso_result *r;
	uint64_t events = 0;
	iso_separate_options few = { .max_transactions = 2 };
	ck_assert_int_eq(iso_levels_separate(&r, "si", "ser", NULL, NULL), 0);
	ck_assert_int_eq(iso_result_verdict(r), ISO_HOLDS);
	ck_assert_int_eq(iso_result_count(r, "separations.0.events", &events),
	                 0);
	ck_assert_uint_eq(events, 4);
	ck_assert_int_eq(iso_result_flag(r, "separations.1.implied"), 1);
	iso_result_free(r);
	ck_assert_int_eq(iso_levels_separate(&r, "cc", "pc", &few, NULL), 0);
	ck_assert_int_lt(iso_result_count(r, "separations.0.events", &events),
	                 0);
	iso_result_free(r);
	few.max_transactions = 99;
	ck_assert_int_eq(iso_levels_separate(&r, "cc", "pc", &few, NULL),
	                 ISO_E_ARGUMENT);
	ck_assert_int_eq(iso_levels_separate(&r, "cc", "sc", NULL, NULL),
	                 ISO_E_ARGUMENT);
	ck_assert_ptr_null(r);
}
END_TEST

START_TEST(transactions_are_proved)
{
	static const char path[] = "proved.tx";
	iso_result *r;
	iso_diags *d;
	iso_prove_options o = { .level = ISO_LEVEL_SI };
	FILE *f = fopen(path, "w");
	fputs("txn add(k) { n[k] = n[k] + 1; }\nglobal n[*] = 0;\n", f);
	fclose(f);
	ck_assert_int_eq(iso_program_prove(&r, path, &o, NULL), 0);
	ck_assert_int_eq(iso_result_verdict(r), ISO_HOLDS);
	iso_result_free(r);
	o.level = ISO_LEVEL_CC;
	ck_assert_int_eq(iso_program_prove(&r, path, &o, NULL), 0);
	ck_assert_int_eq(iso_result_verdict(r), ISO_VIOLATED);
	iso_result_free(r);
	o.subsets = true;
	ck_assert_int_eq(iso_program_prove(&r, path, &o, NULL), 0);
	ck_assert_ptr_nonnull(strstr(iso_result_json(r),
	                             "\"sets\":[{\"transactions\":[\"add\"],"
	                             "\"verdict\":\"violated\""));
	iso_result_free(r);
	o.invariant = "n[0] >= 0";
	ck_assert_int_eq(iso_program_prove(&r, path, &o, NULL), ISO_E_ARGUMENT);
	o.subsets = false;
	o.no_errors = true;
	ck_assert_int_eq(iso_program_prove(&r, path, &o, NULL), 0);
	ck_assert_int_eq(iso_result_verdict(r), ISO_HOLDS);
	ck_assert_ptr_nonnull(strstr(iso_result_json(r), "\"assertions\":1"));
	iso_result_free(r);
	o.invariant = NULL;
	o.stale_ok = "add";
	ck_assert_int_eq(iso_program_prove(&r, path, &o, NULL), ISO_E_ARGUMENT);
	o.stale_ok = "read-only";
	o.allocate = "si+ser";
	o.level = ISO_LEVEL_SI;
	ck_assert_int_eq(iso_program_prove(&r, path, &o, NULL), 0);
	ck_assert_ptr_nonnull(strstr(iso_result_json(r), "\"stale_ok\":[]"));
	ck_assert_ptr_nonnull(strstr(iso_result_json(r),
	                             "\"promotions\":[{\"level\":\"si\""));
	iso_result_free(r);
	o.max_length = 99;
	ck_assert_int_eq(iso_program_prove(&r, path, &o, NULL), ISO_E_ARGUMENT);
	ck_assert_int_eq(iso_program_prove(&r, "none.tx", NULL, &d),
	                 ISO_E_PROGRAM);
	ck_assert_uint_eq(iso_diags_count(d), 1);
	iso_diags_free(d);
	remove(path);
}
END_TEST

START_TEST(logs_are_audited)
{
	static const char *const path = "audited.log", *const none = "none.log";
	iso_result *r;
	iso_diags *d;
	iso_audit_options o = { .level = ISO_LEVEL_SI,
		                .program = "audited.sql",
		                .confirm = true };
	FILE *f = fopen(path, "w");
	fputs("\t\t 1 Query\tBEGIN\n\t\t 1 Query\tSELECT n FROM t\n"
	      "\t\t 1 Query\tUPDATE u SET n = 1\n\t\t 1 Query\tCOMMIT\n"
	      "\t\t 1 Query\tBEGIN\n\t\t 1 Query\tSELECT n FROM u\n"
	      "\t\t 1 Query\tUPDATE t SET n = 1\n\t\t 1 Query\tCOMMIT\n",
	      f);
	fclose(f);
	ck_assert_int_eq(iso_logs_audit(&r, &path, 1, NULL, NULL), 0);
	ck_assert_int_eq(iso_result_verdict(r), ISO_VIOLATED);
	iso_result_free(r);
	ck_assert_int_eq(iso_logs_audit(&r, &path, 1, &o, NULL), 0);
	ck_assert_int_eq(iso_result_verdict(r), ISO_VIOLATED);
	ck_assert_ptr_nonnull(strstr(iso_result_json(r), "\"confirmed\":2"));
	iso_result_free(r);
	ck_assert_int_eq(remove(o.program), 0);
	o.level = ISO_LEVEL_CC;
	ck_assert_int_eq(iso_logs_audit(&r, &path, 1, &o, NULL),
	                 ISO_E_ARGUMENT);
	o = (iso_audit_options){ .level = ISO_LEVEL_SER };
	ck_assert_int_eq(iso_logs_audit(&r, &path, 1, &o, NULL), 0);
	ck_assert_int_eq(iso_result_verdict(r), ISO_HOLDS);
	iso_result_free(r);
	ck_assert_int_eq(iso_logs_audit(&r, &none, 1, NULL, &d), ISO_E_HISTORY);
	ck_assert_uint_eq(iso_diags_count(d), 1);
	iso_diags_free(d);
	remove(path);
}
END_TEST

START_TEST(a_program_is_decided)
{
	static const char text[] = "global n = 0;\n"
				   "txn add() { n += 1; }\n"
				   "session a { add(); }\n"
				   "session b { add(); }\n"
				   "finally { let end = n; }\n"
				   "assert finally.end == 2;\n";
	iso_program *p;
	iso_result *r;
	uint64_t runs;
	folder_enter();
	file_write_text("add.tx", text);
	ck_assert_int_eq(iso_program_load(&p, "add.tx", NULL), 0);
	ck_assert_int_eq(iso_program_decide(&r, p, NULL), 0);
	ck_assert_int_eq(iso_result_verdict(r), ISO_VIOLATED);
	ck_assert_str_eq(iso_result_string(r, "assertions.0.state"), "fails");
	iso_result_free(r);
	iso_decide_options si = { .level = ISO_LEVEL_SI };
	ck_assert_int_eq(iso_program_decide(&r, p, &si), 0);
	ck_assert_int_eq(iso_result_verdict(r), ISO_HOLDS);
	ck_assert_int_eq(iso_result_count(r, "stats.runs", &runs), 0);
	ck_assert_uint_eq(runs, 2 + 2 + 1);
	iso_result_free(r);
	iso_decide_options prc = { .level = ISO_LEVEL_PRC };
	ck_assert_int_eq(iso_program_decide(&r, p, &prc), 0);
	ck_assert_int_eq(iso_result_verdict(r), ISO_VIOLATED);
	iso_result_free(r);
	ck_assert_int_eq(iso_program_decide_levels(&r, p, &si), 0);
	ck_assert_int_eq(iso_result_verdict(r), ISO_HOLDS);
	ck_assert_str_eq(iso_result_string(r, "levels.3.level"), "cc");
	ck_assert_str_eq(iso_result_string(r, "levels.3.verdict"), "violated");
	ck_assert_str_eq(iso_result_string(r, "levels.6.states.0"), "holds");
	iso_result_free(r);
	ck_assert_int_eq(iso_program_runs(&r, p, &si), 0);
	ck_assert_int_eq(iso_result_verdict(r), ISO_HOLDS);
	ck_assert_int_eq(iso_result_count(r, "stats.runs", &runs), 0);
	ck_assert_uint_eq(runs, 2 + 2 + 1);
	ck_assert_str_eq(iso_result_string(r, "sessions.2.outcomes.0.words"),
	                 "end = 2");
	iso_result_free(r);
	iso_program_free(p);
	folder_leave();
}
END_TEST

START_TEST(a_program_is_repaired)
{
	static const char text[] = "global n = 0;\n"
				   "txn add() { n += 1; }\n"
				   "session a { add(); }\n"
				   "session b { add(); }\n"
				   "finally { let end = n; }\n"
				   "assert finally.end == 2;\n";
	iso_program *p;
	iso_result *r;
	iso_diags *d;
	iso_options no = { .symmetry = true };
	folder_enter();
	file_write_text("add.tx", text);
	ck_assert_int_eq(iso_program_load(&p, "add.tx", NULL), 0);
	iso_options prc = { .level = ISO_LEVEL_PRC };
	ck_assert_int_eq(iso_program_repair(&r, p, &prc, NULL, &d), 0);
	ck_assert_int_eq(iso_result_verdict(r), ISO_VIOLATED);
	ck_assert_str_eq(iso_result_string(r, "answers.0.diff"),
	                 "--- a/add.tx\n+++ b/add.tx\n@@ -2 +2 @@\n"
	                 "-txn add() { n += 1; }\n"
	                 "+txn add() { atomic n += 1; }\n");
	iso_result_free(r);
	iso_diags_free(d);
	file_write_text("costs", "atomic never\n");
	iso_repair_options costs = { .weights = "costs" };
	ck_assert_int_eq(iso_program_repair(&r, p, &prc, &costs, NULL), 0);
	ck_assert_str_eq(iso_result_string(r, "answers.0.words"), "add at si");
	iso_result_free(r);
	costs.weights = "missing";
	ck_assert_int_eq(iso_program_repair(&r, p, &prc, &costs, NULL),
	                 ISO_E_PROGRAM);
	ck_assert_int_eq(iso_program_repair(&r, p, &no, NULL, NULL),
	                 ISO_E_ARGUMENT);
	iso_program_free(p);
	folder_leave();
}
END_TEST

static uint64_t histories_of(iso_program *p)
{
	struct told all = { .enough = UINT64_MAX };
	return check_in_threads(p, 1, &all).histories;
}

/* With its sessions and assertions, which are a part of it. */
START_TEST(a_file_of_sql_is_explored_and_repaired)
{
	static const char *const sessions[] = {
		"a: UPDATE t SET n = (SELECT n + 1 FROM t WHERE id = 1) "
		"WHERE id = 1",
		"b: UPDATE t SET n = n + 1 WHERE id = 1", NULL
	};
	static const char *const asserts[] = {
		"SELECT n = 2 FROM t WHERE id = 1", NULL
	};
	iso_load_options given = { .sessions = sessions, .asserts = asserts };
	iso_program *p;
	iso_result *r;
	iso_repair_options oracle = { .oracle = true };
	folder_enter();
	file_write_text("t.sql", "CREATE TABLE t (id int PRIMARY KEY, n int);\n"
	                         "INSERT INTO t VALUES (1, 0), (2, 0);\n");
	ck_assert_int_eq(iso_program_load_with(&p, "t.sql", &given, NULL), 0);
	ck_assert_int_eq(iso_program_repair(&r, p, NULL, NULL, NULL), 0);
	ck_assert_int_eq(iso_result_verdict(r), ISO_VIOLATED);
	ck_assert_str_eq(iso_result_string(r, "answers.0.words"), "all at si");
	iso_result_free(r);
	ck_assert_int_eq(iso_program_repair(&r, p, NULL, &oracle, NULL),
	                 ISO_E_ARGUMENT);
	uint64_t few = histories_of(p);
	iso_program_free(p);
	given.read_all_rows = true;
	ck_assert_int_eq(iso_program_load_with(&p, "t.sql", &given, NULL), 0);
	ck_assert_uint_gt(few, 1);
	ck_assert_uint_ge(histories_of(p), few);
	iso_program_free(p);
	folder_leave();
}
END_TEST

START_TEST(serializable_as_in_postgresql)
{
	iso_load_options given = { 0 };
	iso_program *p;
	folder_enter();
	file_write_text("p.tx",
	                "global x = 0;\nglobal y = 0;\n"
	                "session a { txn at ser { let v = x; y = 1; } }\n"
	                "session b { txn at si { x = 1; } }\n"
	                "session c { txn at si { let v = x; let w = y; } }\n");
	ck_assert_int_eq(iso_program_load_with(&p, "p.tx", &given, NULL), 0);
	ck_assert_uint_eq(histories_of(p), 6);
	iso_program_free(p);
	given.postgres_serializable = true;
	ck_assert_int_eq(iso_program_load_with(&p, "p.tx", &given, NULL), 0);
	ck_assert_uint_eq(histories_of(p), 7);
	iso_program_free(p);
	folder_leave();
}
END_TEST

void add_api_tests(TCase *tests)
{
	tcase_add_test(tests, serializable_as_in_postgresql);
	tcase_add_test(tests, a_file_of_sql_is_explored_and_repaired);
	tcase_add_test(tests, a_program_is_decided);
	tcase_add_test(tests, a_program_is_repaired);
	tcase_add_test(tests, levels_are_told_apart);
	tcase_add_test(tests, transactions_are_proved);
	tcase_add_test(tests, logs_are_audited);
	tcase_add_test(tests, threads_of_one_check_find_what_one_finds);
	tcase_add_test(tests, two_programs_in_two_threads);
	tcase_add_test(tests, one_program_in_two_threads);
}
