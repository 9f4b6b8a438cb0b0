/* Native clients through the functions of the library: what explorations of
 * them count, where findings are, and that nothing stays behind: no process, no
 * open file, no memory mapped. The clients are those of tests/native.
 */
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/text.h"
#include "dpor/explorer.h"
#include "file_support.h"
#include "isoscope.h"
#include "compile/load.h"
#include "native/host/library.h"
#include "suites.h"
#include "support.h"
#include "vm/machine.h"
#include "vm/program.h"

enum { THREADS = 2, RELOADS = 30, RELOADS_QUICK = 3 };

/* ---- clients ---- */

/* Compiles a client if it is new; its path, which stays until the next one. */
static const char *client(const char *file, const char *name)
{
	static char path[100];
	struct text source = { 0 }, options = { 0 };
	snprintf(path, sizeof path, "./%s.so", name);
	text_format(&source, "%s/tests/native/%s.c", source_top(), file);
	text_format(&options, "-DCASE=%s -DSESSIONS=3", name);
	if (access(path, F_OK))
		ck_assert(compile_client(text_get(&source), text_get(&options),
		                         path));
	text_free(&options);
	text_free(&source);
	return path;
}

static struct program *load(const char *path)
{
	struct diags d = { 0 };
	struct program *p = load_program(path, &d);
	char *text = diags_to_text(&d);
	ck_assert_msg(p, "%s", text);
	free(text);
	diags_free(&d);
	return p;
}

static struct explorer *explore(const struct program *p,
                                const struct explore_options *o)
{
	struct explore_observer nobody = { 0 };
	struct explorer *e = explorer_new(p, o, &nobody);
	explorer_run(e);
	return e;
}

static uint64_t histories(const struct program *p, enum level level)
{
	struct explore_options o = { .level = level,
		                     .base = level_is_extensible(level)
		                                     ? level
		                                     : LEVEL_CC };
	struct explorer *e = explore(p, &o);
	uint64_t count = explorer_stats(e)->histories;
	ck_assert_msg(explorer_stats(e)->stop == STOP_NONE, "stopped: %d, %s",
	              (int)explorer_stats(e)->stop,
	              program_fault(p) ? program_fault(p) : "no fault");
	explorer_free(e);
	return count;
}

/* ---- what stays ---- */

struct held {
	unsigned files, maps;
};

static unsigned entries(const char *path)
{
	unsigned count = 0;
	DIR *d = opendir(path);
	ck_assert_ptr_nonnull(d);
	while (readdir(d)) count++;
	closedir(d);
	return count;
}

static unsigned lines(const char *path)
{
	unsigned count = 0;
	FILE *f = fopen(path, "r");
	ck_assert_ptr_nonnull(f);
	for (int c; (c = getc(f)) != EOF;) count += c == '\n';
	fclose(f);
	return count;
}

static struct held held(void)
{
	return (struct held){ entries("/proc/self/fd"),
		              lines("/proc/self/maps") };
}

/* Allocators keep maps of their own: a few more are none of ours. */
static void nothing_stays(struct held before)
{
	struct held now = held();
	ck_assert_uint_eq(now.files, before.files);
	ck_assert_uint_le(now.maps, before.maps + 8);
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
	ck_assert_int_eq(errno, ECHILD);
}

static int reloads(void)
{
	return is_quick() ? RELOADS_QUICK : RELOADS;
}

/* What an exploration under cc has to come to. */
struct outcome {
	int stop;
	uint64_t histories, errors;
};

static void explore_and_leave(const char *path, struct explore_options o,
                              struct outcome expected)
{
	struct held before;
	o.level = o.base = LEVEL_CC;
	for (int i = 0; i <= reloads(); i++) {
		if (i == 1) before = held(); /* not what is kept for good */
		struct program *p = load(path);
		library_configure(p, 1, LIBRARY_BOUNDS, false);
		struct explorer *e = explore(p, &o);
		const struct explore_stats *s = explorer_stats(e);
		uint32_t error = explorer_slot_error(e);
		ck_assert_int_eq((int)s->stop, expected.stop);
		ck_assert_uint_eq(s->histories, expected.histories);
		ck_assert_uint_eq(explorer_violation(e, error)->histories,
		                  expected.errors);
		explorer_free(e);
		program_free(p);
	}
	nothing_stays(before);
}

START_TEST(nothing_stays_of_an_exploration)
{
	explore_and_leave(client("checks", "holds"),
	                  (struct explore_options){ 0 },
	                  (struct outcome){ STOP_NONE, 3, 0 });
}
END_TEST

START_TEST(nothing_stays_of_one_that_was_stopped)
{
	explore_and_leave(client("checks", "holds"),
	                  (struct explore_options){ .max_histories = 1 },
	                  (struct outcome){ STOP_HISTORIES, 1, 0 });
	explore_and_leave(client("checks", "loses_an_update"),
	                  (struct explore_options){ .stop_on_violation = true },
	                  (struct outcome){ STOP_VIOLATION, 1, 0 });
}
END_TEST

START_TEST(nothing_stays_of_crashes)
{
	explore_and_leave(client("crashes", "null_pointer"),
	                  (struct explore_options){ 0 },
	                  (struct outcome){ STOP_NONE, 2, 2 });
}
END_TEST

START_TEST(nothing_stays_of_what_is_unsteady)
{
	explore_and_leave(client("unsteady", "counts_runs"),
	                  (struct explore_options){ 0 },
	                  (struct outcome){ STOP_GUEST, 0, 0 });
}
END_TEST

static void load_in_vain(const char *path)
{
	struct held before;
	for (int i = 0; i <= reloads(); i++) {
		if (i == 1) before = held();
		struct diags d = { 0 };
		ck_assert_ptr_null(load_program(path, &d));
		ck_assert_uint_gt(d.errors, 0);
		diags_free(&d);
	}
	nothing_stays(before);
}

START_TEST(nothing_stays_of_clients_that_are_refused)
{
	load_in_vain(client("declare", "nothing"));
	load_in_vain(client("declare", "crashes"));
	load_in_vain(client("declare", "exits"));
	load_in_vain(client("declare", "duplicate_names"));
}
END_TEST

/* ---- counts ---- */

START_TEST(explored_again_it_counts_the_same)
{
	struct program *p = load(client("checks", "loses_an_update"));
	for (int i = 0; i < 3; i++) {
		ck_assert_uint_eq(histories(p, LEVEL_NONE), 3);
		ck_assert_uint_eq(histories(p, LEVEL_CC), 3);
		ck_assert_uint_eq(histories(p, LEVEL_SI), 2);
		ck_assert_uint_eq(histories(p, LEVEL_SER), 2);
	}
	ck_assert_ptr_null(program_fault(p));
	program_free(p);
}
END_TEST

START_TEST(the_order_of_sessions_does_not_matter)
{
	static const uint32_t turned[] = { 2, 0, 1 };
	struct program *p = load(client("heavy", "locks_in_between"));
	struct program *other = program_reordered(p, turned);
	ck_assert_uint_eq(program_session_count(p), 3);
	ck_assert_str_eq(program_session_name(other, 0), "s2");
	ck_assert_uint_eq(histories(p, LEVEL_CC), histories(other, LEVEL_CC));
	ck_assert_uint_eq(histories(p, LEVEL_RC), histories(other, LEVEL_RC));
	program_free(other);
	program_free(p);
}
END_TEST

START_TEST(algorithms_agree)
{
	struct program *p = load(client("heavy", "locks_in_between"));
	struct explore_options o = { .level = LEVEL_CC,
		                     .base = LEVEL_CC,
		                     .algorithm = EXPLORE_DFS,
		                     .check_duplicates = true };
	struct explorer *e = explore(p, &o);
	const struct explore_stats *s = explorer_stats(e);
	ck_assert_uint_eq(s->histories - s->duplicates, histories(p, LEVEL_CC));
	explorer_free(e);
	program_free(p);
}
END_TEST

static void *explore_in_thread(void *program)
{
	uint64_t *count = malloc(sizeof *count);
	*count = histories(program, LEVEL_CC);
	return count;
}

/* Each with a worker of its own. */
START_TEST(two_threads_explore_one_program)
{
	if (!FORKS_AMONG_THREADS) return;
	pthread_t threads[THREADS];
	struct program *p = load(client("heavy", "locks_in_between"));
	for (int round = 0; round < 5; round++) {
		for (int t = 0; t < THREADS; t++)
			ck_assert_int_eq(pthread_create(&threads[t], NULL,
			                                explore_in_thread, p),
			                 0);
		for (int t = 0; t < THREADS; t++) {
			void *count;
			pthread_join(threads[t], &count);
			ck_assert_uint_eq(*(uint64_t *)count,
			                  histories(p, LEVEL_CC));
			free(count);
		}
	}
	program_free(p);
}
END_TEST

/* In the same process, in turns. */
START_TEST(two_programs_do_not_meet)
{
	struct program *p = load(client("checks", "loses_an_update"));
	struct program *q = load(client("checks", "aborts"));
	struct program *again = load(client("checks", "loses_an_update"));
	uint64_t count = histories(q, LEVEL_CC);
	for (int i = 0; i < 3; i++) {
		ck_assert_uint_eq(histories(p, LEVEL_CC), 3);
		ck_assert_uint_eq(histories(q, LEVEL_CC), count);
		ck_assert_uint_eq(histories(again, LEVEL_CC), 3);
	}
	program_free(p);
	program_free(q);
	program_free(again);
}
END_TEST

/* ---- findings ---- */

/* Has the line with this number the text? */
static bool line_has(const char *file, uint32_t number, const char *text)
{
	char path[1000], line[300];
	snprintf(path, sizeof path, "%s/tests/native/%s.c", source_top(), file);
	FILE *f = fopen(path, "r");
	ck_assert_msg(f, "%s", path);
	*line = '\0';
	while (number && fgets(line, sizeof line, f)) number--;
	fclose(f);
	return !number && strstr(line, text);
}

static const struct finding *error_of(const struct explorer *e)
{
	const struct explore_violation *v =
		explorer_violation(e, explorer_slot_error(e));
	ck_assert_msg(v->finding, "no run-time error");
	return v->finding;
}

/* The run-time error is told in the line of the source with this text. */
static void error_at(const char *file, const char *name, const char *text)
{
	struct explore_options o = { .level = LEVEL_CC, .base = LEVEL_CC };
	struct program *p = load(client(file, name));
	struct explorer *e = explore(p, &o);
	struct position at = program_position(p, error_of(e)->point);
	ck_assert_msg(at.file && strstr(at.file, file), "%s: no place", name);
	ck_assert_msg(at.line && line_has(file, at.line, text),
	              "%s: not line %u", name, (unsigned)at.line);
	ck_assert_msg(strstr(at.source_line, text), "%s", at.source_line);
	explorer_free(e);
	program_free(p);
}

START_TEST(errors_have_their_places)
{
	error_at("crashes", "null_pointer", "*(volatile int *)0 = (int)x;");
	error_at("crashes", "division", "(int)x / zero;");
	error_at("misuse", "get_outside", "iso_get_int(\"number\");");
	error_at("misuse", "begin_in_a_transaction", "iso_begin(\"inner\");");
	error_at("misuse", "unknown_level",
	         "iso_begin_at(\"strange\", \"sj\");");
	error_at("misuse", "empty_level", "iso_begin_at(\"strange\", \"\");");
	error_at("misuse", "level_of_all",
	         "iso_begin_at(\"strange\", \"psi\");");
	error_at("misuse", "noted_in_a_session", "iso_noted(\"misuser\"");
}
END_TEST

START_TEST(assertions_are_known_when_they_are_met)
{
	struct program *p = load(client("checks", "goes_on"));
	static const char *const messages[] = { "first", "second",
		                                "behind the transaction" };
	uint32_t met = 0;
	histories(p, LEVEL_CC);
	for (uint32_t i = 0; i < program_assertion_count(p); i++) {
		if (!program_assertion_met(p, i)) continue;
		const struct assertion *a = program_assertion(p, i);
		ck_assert_uint_lt(met, 3);
		ck_assert_str_eq(a->text, messages[met++]);
		ck_assert_ptr_nonnull(strstr(a->at.source_line, "iso_assert"));
	}
	ck_assert_uint_eq(met, 3);
	program_free(p);
}
END_TEST

static void faulty(const char *name)
{
	struct explore_options o = { .level = LEVEL_CC, .base = LEVEL_CC };
	struct program *p = load(client("unsteady", name));
	ck_assert_ptr_null(program_fault(p));
	explorer_free(explore(p, &o));
	ck_assert_msg(program_fault(p), "%s", name);
	ck_assert_msg(strstr(program_fault(p), "unsteady"), "%s",
	              program_fault(p));
	/* For good: an exploration of what remains is worth nothing. */
	explorer_free(explore(p, &o));
	ck_assert_ptr_nonnull(program_fault(p));
	program_free(p);
}

START_TEST(what_is_unsteady_is_a_fault)
{
	faulty("counts_runs");
	faulty("has_more_to_do");
	faulty("aborts_the_second_time");
	faulty("whispers");
	faulty("caches");
	faulty("fails_the_second_time");
	faulty("crashes_the_second_time");
}
END_TEST

START_TEST(what_is_steady_is_none)
{
	static const char *const steady[] = { "starts_afresh",
		                              "draws_from_a_seed" };
	for (int i = 0; i < 2; i++) {
		struct program *p = load(client("unsteady", steady[i]));
		histories(p, LEVEL_NONE);
		histories(p, LEVEL_CC);
		ck_assert_ptr_null(program_fault(p));
		program_free(p);
	}
}
END_TEST

/* ---- isoscope.h ---- */

static int check_publicly(iso_program *p, iso_check **c)
{
	iso_options options = { .size = sizeof options, .level = ISO_LEVEL_CC };
	ck_assert_int_eq(iso_check_new(c, p, &options), ISO_OK);
	return iso_check_run(*c);
}

START_TEST(the_public_library_counts_assertions_that_were_met)
{
	iso_program *p;
	iso_check *c;
	ck_assert_int_eq(
		iso_program_load(&p, client("checks", "loses_an_update"), NULL),
		ISO_OK);
	ck_assert_int_eq(check_publicly(p, &c), ISO_VIOLATED);
	ck_assert_uint_eq(iso_program_assertion_count(p), 1);
	ck_assert_str_eq(iso_program_assertion_text(p, 0),
	                 "they see different numbers");
	ck_assert_ptr_null(iso_program_assertion_text(p, 1));
	ck_assert_ptr_null(iso_program_fault(p));
	iso_check_free(c);
	iso_program_free(p);
}
END_TEST

START_TEST(the_public_library_tells_of_faults)
{
	iso_stats stats = { .size = sizeof stats };
	iso_program *p;
	iso_check *c;
	ck_assert_int_eq(
		iso_program_load(&p, client("unsteady", "counts_runs"), NULL),
		ISO_OK);
	ck_assert_int_eq(check_publicly(p, &c), ISO_E_CLIENT);
	ck_assert_ptr_nonnull(strstr(iso_program_fault(p), "put y = 2"));
	ck_assert_int_eq(iso_check_stats(c, &stats), ISO_OK);
	ck_assert_int_eq(stats.stop, ISO_STOP_CLIENT);
	iso_check_free(c);
	iso_program_free(p);
}
END_TEST

void add_native_tests(TCase *tests)
{
	tcase_add_checked_fixture(tests, folder_enter, folder_leave);
	tcase_add_test(tests, nothing_stays_of_an_exploration);
	tcase_add_test(tests, nothing_stays_of_one_that_was_stopped);
	tcase_add_test(tests, nothing_stays_of_crashes);
	tcase_add_test(tests, nothing_stays_of_what_is_unsteady);
	tcase_add_test(tests, nothing_stays_of_clients_that_are_refused);
	tcase_add_test(tests, explored_again_it_counts_the_same);
	tcase_add_test(tests, the_order_of_sessions_does_not_matter);
	tcase_add_test(tests, algorithms_agree);
	tcase_add_test(tests, two_threads_explore_one_program);
	tcase_add_test(tests, two_programs_do_not_meet);
	tcase_add_test(tests, errors_have_their_places);
	tcase_add_test(tests, assertions_are_known_when_they_are_met);
	tcase_add_test(tests, what_is_unsteady_is_a_fault);
	tcase_add_test(tests, what_is_steady_is_none);
	tcase_add_test(tests,
	               the_public_library_counts_assertions_that_were_met);
	tcase_add_test(tests, the_public_library_tells_of_faults);
}
