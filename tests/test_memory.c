/* Memory that runs out: at the n-th time that some is taken, for every n, the
 * work is left, and nothing stays behind (which a build that looks for leaks
 * would tell). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/check_history.h"
#include "api/random_runs.h"
#include "api/record.h"
#include "base/memory.h"
#include "compile/load.h"
#include "dpor/explorer.h"
#include "file_support.h"
#include "formats/formats.h"
#include "history/trace.h"
#include "isoscope.h"
#include "predict/predict.h"
#include "suites.h"
#include "support.h"
#include "vm/program.h"

/* First one piece more, then some. */
static long long step(struct rng *r, long long n)
{
	long long each = is_quick() ? 30 : 1000, part = is_quick() ? 3 : 100;
	return n < each ? 1 : 1 + rng_below(r, (uint32_t)(n / part));
}

/* Runs the work with ever more memory until it is enough. */
static void starve(void (*work)(void *), void *data)
{
	struct rng r = { first_seed() };
	long long n = 0;
	for (bool done = false; !done;) {
		atomic_llong left = n;
		mem_allow(&left);
		done = mem_run(NULL, work, data);
		mem_allow(NULL);
		ck_assert_ptr_null(mem_heap_here());
		if (done) ck_assert_int_ge(atomic_load(&left), 0);
		n += step(&r, n);
	}
	ck_assert_int_gt(n, 1);
}

/* ---- The heap itself ---- */

struct trial {
	pthread_mutex_t lock;
	int released;
	bool let_go;
	void *kept;
};

static void count_release(void *data)
{
	++*(int *)data;
}

static void take_this_and_that(void *data)
{
	struct trial *t = data;
	char *strings[100];
	uint32_t *numbers = NULL, count = 0, capacity = 0;
	mem_hold(&t->released, count_release);
	for (int i = 0; i < 100; i++) {
		strings[i] = mem_copy_string("some words");
		VEC_RESERVE(numbers, count, capacity);
		numbers[count++] = (uint32_t)i;
	}
	for (int i = 0; i < 100; i += 2) free(strings[i]);
	mem_lock(&t->lock);
	free(mem_take0(10, 10));
	mem_unlock(&t->lock);
	for (int i = 1; i < 100; i += 2) free(strings[i]);
	for (uint32_t i = 0; i < count; i++) ck_assert_uint_eq(numbers[i], i);
	free(numbers);
	mem_let_go(&t->released);
	t->let_go = true;
	t->kept = mem_take(10);
}

START_TEST(work_is_left)
{
	for (long long n = 0;; n++) {
		struct trial t = { .lock = PTHREAD_MUTEX_INITIALIZER };
		atomic_llong left = n;
		mem_allow(&left);
		bool done = mem_run(NULL, take_this_and_that, &t);
		mem_allow(NULL);
		ck_assert(!pthread_mutex_trylock(&t.lock));
		ck_assert_int_eq(t.released, !t.let_go);
		free(t.kept);
		if (done) break;
		ck_assert_ptr_null(t.kept);
	}
}
END_TEST

static void nothing(void *data)
{
	(void)data;
}

static void fails(void *data)
{
	*(void **)data = mem_take(100);
	mem_fail();
}

static void runs_other_work(void *data)
{
	void *mine = mem_take(10), *lost = NULL;
	ck_assert(!mem_run(NULL, fails, &lost));
	ck_assert(mem_run(NULL, nothing, NULL));
	ck_assert(!mem_run_part(mem_heap_here(), fails, &lost));
	free(lost);
	free(mine);
	*(bool *)data = true;
}

START_TEST(work_in_work)
{
	bool came = false;
	ck_assert(mem_run(NULL, runs_other_work, &came));
	ck_assert(came);
	struct mem_heap *h = mem_heap_new();
	void *first;
	ck_assert(mem_run(h, runs_other_work, &came));
	ck_assert(!mem_run(h, fails, &first));
	ck_assert(mem_run(h, runs_other_work, &came));
	mem_heap_free(h);
}
END_TEST

/* ---- What the library does ---- */

static const char shop[] =
	"global left[*] = 2;\nglobal sold = 0;\n"
	"txn buy(x) { let n = left[x]; left[x] = n - 1; let m = sold; "
	"sold = m + 1; }\n"
	"txn look() { let a = left[1]; let b = sold; assert a + b > 1; }\n"
	"session a { buy(1); look(); }\n"
	"session b { buy(1); buy(2); }\n"
	"session c { look(); buy(1); }\n";

static struct program *load_shop(void)
{
	struct diags d = { 0 };
	struct program *p =
		load_program_text("shop.tx", shop, strlen(shop), &d);
	if (!p) ck_abort_msg("%s", diags_to_text(&d));
	diags_free(&d);
	return p;
}

static void explore(void *data)
{
	struct program *p = load_shop();
	struct explorer *e = explorer_new(p, data, NULL);
	explorer_run(e);
	explorer_free(e);
	program_free(p);
}

START_TEST(exploring)
{
	struct explore_options o = { .level = LEVEL_CC,
		                     .base = LEVEL_CC,
		                     .max_changes = UINT64_MAX,
		                     .max_histories = is_quick() ? 50 : 1000,
		                     .check_duplicates = true };
	if (_i) {
		o.level = LEVEL_SER;
		o.robust = o.classify = true;
	}
	if (_i == 2) {
		o.jobs = 3;
		o.level = LEVEL_CC;
		o.max_histories = 0;
	}
	starve(explore, &o);
}
END_TEST

static struct trace *read_trace(const char *path)
{
	struct diags d = { 0 };
	struct reader_options o = { .format = FORMAT_COUNT };
	struct history_reader *r = history_reader_open(path, &o, &d);
	ck_assert_ptr_nonnull(r);
	struct trace *t = history_reader_next(r, &d);
	ck_assert_ptr_nonnull(t);
	history_reader_close(r);
	diags_free(&d);
	return t;
}

static void check_and_explain(void *data)
{
	struct check_limits none = { 0 };
	struct trace *t = read_trace(data);
	struct check_clock *clock = check_clock_new(&none);
	struct checked *c = mem_take0(1, sizeof *c);
	check_history(c, t, (1u << LEVEL_COUNT) - 1, clock);
	checked_find_orders(c);
	checked_explain(c);
	checked_free(c);
	free(c);
	check_clock_free(clock);
	trace_free(t);
}

static void predict(void *data)
{
	struct check_limits none = { 0 };
	struct predict_options o = { .level = LEVEL_CC, .enumerate = true };
	struct diags d = { 0 };
	struct trace *t = read_trace(data);
	struct check_clock *clock = check_clock_new(&none);
	struct predictor *p = predictor_new(t, &o, clock, &d);
	struct prediction found;
	for (int i = 0;
	     p && i < 2 && predictor_next(p, &found) == PREDICT_FOUND; i++)
		prediction_free(&found);
	predictor_free(p);
	check_clock_free(clock);
	diags_free(&d);
	trace_free(t);
}

static void run_at_random(void *data)
{
	struct program *p = load_shop();
	struct problem problem = { 0 };
	struct random_runs runs;
	struct recorded recorded;
	struct run_request r = { .options = { .level = *(enum level *)data,
		                              .runs = 5,
		                              .seed = 1 },
		                 .coverage = true };
	random_runs(&runs, p, &r, &problem);
	random_runs_free(&runs);
	record_run(&recorded, p, 1, NULL, &problem);
	recorded_free(&recorded);
	diags_free(&problem.diags);
	program_free(p);
}

START_TEST(running)
{
	enum level l = _i ? LEVEL_SI : LEVEL_CC;
	starve(run_at_random, &l);
}
END_TEST

/* A history that takes a solver to be decided, as a file. */
static char *hard_history(const struct folder *folder)
{
	struct text t = { 0 };
	struct history *h = history_from_notation(
		"A1: Wx Wy ; A2: z<B1 x<A1 | B1: Wx Wz ; B2: y<A1 x<B1 | "
		"C1: x<A1 Wu ; C2: z<B1 Wx | D1: u<C1 x<B1 ; D2: x<C2");
	history_print_canonical(&t, h);
	history_free(h);
	char *path = folder_file(folder, "hard.json");
	file_write_text(path, text_get(&t));
	text_free(&t);
	return path;
}

static void with_history(void (*work)(void *))
{
	static const char *const files[] = { "write-skew.hist",
		                             "lost-update-cart.json",
		                             "circular-flow.txt" };
	struct folder folder = folder_new();
	char *hard = hard_history(&folder);
	starve(work, hard);
	free(hard);
	folder_remove(&folder);
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		struct text path = { 0 };
		text_format(&path, "%s/tests/histories/anomalies/%s",
		            source_top(), files[i]);
		starve(work, (void *)text_get(&path));
		text_free(&path);
	}
}

START_TEST(checking)
{
	with_history(check_and_explain);
}
END_TEST

START_TEST(predicting)
{
	with_history(predict);
}
END_TEST

/* ---- The library from outside ---- */

static bool go_on(void *payload, const iso_execution *e)
{
	iso_history *h;
	int status = iso_execution_history(e, &h);
	ck_assert(status == ISO_OK || status == ISO_E_MEMORY);
	ck_assert(!status == (h != NULL));
	iso_history_free(h);
	++*(int *)payload;
	return true;
}

/* Says whether memory sufficed. */
static bool is_enough(int status)
{
	ck_assert_msg(status >= 0 || status == ISO_E_MEMORY, "%s",
	              iso_strerror(status));
	return status >= 0;
}

static bool explore_outside(const iso_program *program)
{
	iso_options o = { .threads = 3, .classify = true };
	iso_observer observer = { .history = go_on };
	iso_check *check;
	iso_result *result;
	iso_stats stats = { .size = sizeof stats };
	iso_violation violation = { .size = sizeof violation };
	int seen = 0;
	bool enough = is_enough(iso_check_new(&check, program, &o));
	ck_assert(enough == (check != NULL));
	if (!enough) return false;
	enough = is_enough(iso_check_observe(check, &observer, &seen)) &&
	         is_enough(iso_check_run(check));
	if (enough) {
		ck_assert_int_gt(seen, 0);
		enough = is_enough(iso_check_result(&result, check));
		ck_assert(enough == (result != NULL));
		iso_result_free(result);
		if (iso_check_violation_count(check))
			enough &= is_enough(
				iso_check_violation(check, 0, &violation));
	} else {
		ck_assert_int_eq(iso_check_run(check), ISO_E_MEMORY);
		ck_assert_int_eq(iso_check_stats(check, &stats), ISO_E_MEMORY);
		ck_assert_uint_eq(iso_check_violation_count(check), 0);
	}
	iso_check_free(check);
	return enough;
}

static bool use_history(const iso_history *h)
{
	iso_result *result = NULL;
	bool enough = is_enough(iso_history_check(&result, h, NULL));
	if (enough) iso_result_witness(result, ISO_LEVEL_SER);
	iso_result_free(result);
	if (!enough) return false;
	enough = is_enough(iso_history_predict(&result, h, NULL, NULL));
	iso_result_free(result);
	enough &= iso_history_text(h) != NULL;
	return enough;
}

static char *rest_of(const char *folder, const char *name)
{
	struct text t = { 0 };
	text_format(&t, "%s/%s", folder, name);
	return t.data;
}

/* With files, and in parts. */
static bool explore_in_parts(const iso_program *program, const char *folder)
{
	char *checkpoint = rest_of(folder, "checkpoint.json"),
	     *histories = rest_of(folder, "histories"),
	     *split = rest_of(folder, "split.json");
	const char *folders[] = { folder };
	iso_options o = { .max_histories = 2 };
	iso_check_files f = { .checkpoint = checkpoint,
		              .histories = histories };
	iso_check *check;
	iso_result *result;
	remove(checkpoint);
	remove(split);
	bool enough =
		is_enough(iso_check_with_files(&check, program, &o, &f, NULL));
	if (check) enough = is_enough(iso_check_run(check));
	iso_check_free(check);
	enough &= is_enough(iso_program_split(program, NULL,
	                                      enough ? checkpoint : NULL, 2,
	                                      folder, NULL, NULL));
	if (enough)
		enough = is_enough(iso_program_merge(&result, program, folders,
		                                     1, true, NULL));
	if (enough) iso_result_free(result);
	free(checkpoint);
	free(histories);
	free(split);
	return enough;
}

static bool use_library(const char *path, const char *folder)
{
	iso_program *program;
	iso_history *recorded, *read;
	iso_result *result;
	iso_diags *diags;
	uint64_t seed = 1;
	iso_run_options run = { .runs = 3 };
	bool enough = is_enough(iso_program_load_text(&program, "shop.tx", shop,
	                                              strlen(shop), &diags));
	ck_assert(enough == (program != NULL) && enough == (diags != NULL));
	iso_diags_free(diags);
	if (!enough) return false;
	enough = explore_outside(program);
	enough &= explore_in_parts(program, folder);
	enough &= is_enough(iso_program_run(&result, program, &run));
	iso_result_free(result);
	enough &=
		is_enough(iso_program_record(&recorded, program, &seed, NULL));
	if (recorded) enough &= use_history(recorded);
	iso_history_free(recorded);
	iso_program_free(program);
	enough &= is_enough(iso_history_read(&read, path, NULL, NULL));
	if (read) enough &= use_history(read);
	iso_history_free(read);
	return enough;
}

START_TEST(library)
{
	struct rng r = { first_seed() };
	struct text path = { 0 };
	struct folder folder = folder_new();
	text_format(&path, "%s/tests/histories/anomalies/write-skew.hist",
	            source_top());
	long long n = 0;
	for (bool enough = false; !enough;) {
		atomic_llong left = n;
		mem_allow(&left);
		enough = use_library(text_get(&path), folder.path);
		mem_allow(NULL);
		ck_assert(enough == (atomic_load(&left) >= 0));
		n += step(&r, n);
	}
	text_free(&path);
	folder_remove(&folder);
}
END_TEST

void add_memory_tests(TCase *tests)
{
	tcase_add_test(tests, work_is_left);
	tcase_add_test(tests, work_in_work);
	tcase_add_loop_test(tests, exploring, 0, 3);
	tcase_add_loop_test(tests, running, 0, 2);
	tcase_add_test(tests, checking);
	tcase_add_test(tests, predicting);
	tcase_add_test(tests, library);
}
