/* Explorations by several threads: whatever the schedule, they find what one
 * thread finds, and end when they are to end.
 */
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/seconds.h"
#include "exploration.h"
#include "file_support.h"
#include "compile/load.h"
#include "random_client.h"
#include "suites.h"
#include "support.h"

enum {
	PROCESSES = 6,     /* over which the random programs are spread */
	PROGRAMS = 3000,   /* in all, unless ISOSCOPE_PROGRAMS says more */
	HISTORIES = 1500,  /* of a program, at most */
	END_STATES = 6000, /* of an exploration, at most */
	UPDATES = 1296,    /* histories of five lost updates under cc */
	CLIENTS = 60       /* random programs in C */
};

static const unsigned jobs[] = { 2, 3, 4, 7 };
enum { JOBS = sizeof jobs / sizeof *jobs };

static uint64_t share(uint64_t of_all)
{
	return programs_each(PROGRAMS, of_all, PROCESSES);
}

static unsigned tasks(void)
{
	unsigned count = 0;
	DIR *d = opendir("/proc/self/task");
	ck_assert_ptr_nonnull(d);
	while (readdir(d)) count++;
	closedir(d);
	return count;
}

static void *do_nothing(void *argument)
{
	return argument;
}

/* How many threads there are. The thread sanitizer has one of its own as soon
 * as there was some other. */
static unsigned threads(void)
{
	pthread_t t;
	ck_assert(!pthread_create(&t, NULL, do_nothing, NULL));
	pthread_join(t, NULL);
	usleep(1000);
	return tasks();
}

/* Those that were joined may be seen a little longer. */
static void expect_threads(unsigned before)
{
	for (int i = 0; tasks() > before; i++) {
		ck_assert_msg(i < 1000, "%u threads, there were %u", tasks(),
		              before);
		usleep(1000);
	}
}

/* ---- programs of a known size ---- */

static struct program *lost_updates(int sessions)
{
	struct text source = { 0 };
	text_string(&source, "global x = 0;\n");
	for (int i = 0; i < sessions; i++)
		text_format(&source,
		            "session s%d { txn { let v = x; assert v != 3;"
		            " x = v + 1; } }\n",
		            i);
	struct program *p = program_from_text(text_get(&source));
	text_free(&source);
	return p;
}

static struct subject updates(int sessions)
{
	return (struct subject){ .program = lost_updates(sessions) };
}

static const struct explore_options cc = { .level = LEVEL_CC,
	                                   .base = LEVEL_CC,
	                                   .robust = true };

/* The rest, by so many threads, and everything together. */
static void expect_rest(const struct subject *s, struct explore_options o,
                        struct branch_list *open, struct tally *so_far,
                        struct found *f, const struct found *whole)
{
	struct text why = { 0 };
	if (!open_sound(open, f, &why))
		subject_fails(s, &o, "what is left", text_get(&why));
	explore_once(s->program, &o, NULL, open, so_far, f);
	expect_same(s, &o, "put together", f, whole);
}

/* ---- random programs ---- */

static bool by_several(const struct found *f)
{
	for (size_t i = 1; i < f->count; i++)
		if (f->sightings[i].worker != f->sightings[0].worker)
			return true;
	return false;
}

/* True if it really was explored by several threads. */
static bool compare(const struct subject *s, const struct explore_options *o,
                    unsigned n, struct rng *r, const struct found *alone)
{
	struct explore_options many = *o;
	struct manner m = { .delays = rng_below(r, 3) ? 0 : 1 + rng_below(r, 9),
		            .seed = rng_next(r) };
	struct found f = { 0 };
	many.jobs = n;
	explore_all(s->program, &many, &m, &f);
	expect_same(s, &many, "together", &f, alone);
	bool several = by_several(&f);
	found_free(&f);
	return several;
}

static void expect_each_once(const struct subject *s,
                             const struct explore_options *o,
                             const struct found *f)
{
	if (o->algorithm != EXPLORE_CE) return;
	if (f->stats.duplicates) subject_fails(s, o, "duplicates", "");
	if (f->stats.blocked) subject_fails(s, o, "blocked", "");
}

/* How often it really was by several threads. */
static unsigned try_together(const struct subject *s, struct rng *r)
{
	struct explore_options o = random_options(s, r);
	struct found alone = { 0 };
	unsigned several = 0;
	o.check_duplicates = rng_below(r, 4);
	o.max_histories = END_STATES;
	explore_all(s->program, &o, NULL, &alone);
	if (found_all(&alone)) {
		o.max_histories = 0;
		expect_each_once(s, &o, &alone);
		for (int i = 0; i < JOBS; i++)
			several += compare(s, &o, jobs[i], r, &alone);
	}
	found_free(&alone);
	return several;
}

START_TEST(random_programs)
{
	uint64_t seed = process_seed(_i, 0);
	unsigned before = threads(), several = 0;
	for (uint64_t tried = 0; tried < share(PROGRAMS); seed++) {
		struct subject s;
		struct rng r = { seed };
		if (!subject_new(&s, seed, HISTORIES)) continue;
		several += try_together(&s, &r);
		subject_free(&s);
		tried++;
	}
	ck_assert(share(PROGRAMS) < 10 || several > share(PROGRAMS) / 4);
	expect_threads(before);
}
END_TEST

/* ---- everybody works ---- */

static void expect_all_work(const struct found *f, unsigned n)
{
	uint64_t by[JOBS_MAX] = { 0 };
	for (size_t i = 0; i < f->count; i++) by[f->sightings[i].worker]++;
	for (unsigned i = 0; i < n; i++)
		ck_assert_msg(by[i] > 0, "worker %u of %u has done nothing", i,
		              n);
}

START_TEST(everybody_works)
{
	struct subject s = updates(5);
	struct found alone = { 0 };
	explore_all(s.program, &cc, NULL, &alone);
	ck_assert_uint_eq(alone.stats.histories, UPDATES);
	for (int i = 0; i < JOBS; i++) {
		struct explore_options o = cc;
		struct manner m = { .delays = 1, .seed = (uint64_t)i };
		struct found f = { 0 };
		o.jobs = jobs[i];
		explore_all(s.program, &o, &m, &f);
		expect_same(&s, &o, "busy", &f, &alone);
		expect_all_work(&f, o.jobs);
		found_free(&f);
	}
	found_free(&alone);
	subject_free(&s);
}
END_TEST

/* ---- limits ---- */

/* A limit on the exploration of many lost updates: by n threads it ends for
 * this reason, or because there was no more; and put together with the rest
 * all is there. */
struct limit {
	struct explore_options options;
	struct manner manner;
	enum stop_reason why;
};

static void try_limit(const struct subject *s, const struct limit *l,
                      const struct found *whole)
{
	struct branch_list open = { 0 };
	struct tally so_far = { 0 };
	struct found f = { 0 };
	unsigned before = threads();
	double begun = seconds_now();
	explore_once(s->program, &l->options, &l->manner, &open, &so_far, &f);
	expect_threads(before);
	ck_assert(seconds_now() - begun < 600);
	if (f.stats.stop != STOP_NONE)
		ck_assert_int_eq((int)f.stats.stop, (int)l->why);
	if (l->why == STOP_HISTORIES || l->why == STOP_VIOLATION)
		ck_assert_int_eq((int)f.stats.stop, (int)l->why);
	if (l->why == STOP_HISTORIES) {
		ck_assert_uint_eq(f.stats.histories, l->options.max_histories);
		ck_assert_uint_eq(f.count, l->options.max_histories);
	}
	struct explore_options o = cc;
	o.jobs = l->options.jobs;
	expect_rest(s, o, &open, &so_far, &f, whole);
	found_free(&f);
	branch_list_free(&open);
	tally_free(&so_far);
}

static void try_limits(struct limit l, const struct manner *m)
{
	int rounds = is_quick() ? 2 : 8;
	struct subject s = updates(5);
	struct found whole = { 0 };
	struct rng r = { process_seed((int)l.why, 2) };
	explore_all(s.program, &cc, NULL, &whole);
	l.options.level = l.options.base = LEVEL_CC;
	l.options.robust = true;
	if (m) l.manner = *m;
	for (int i = 0; i <= JOBS; i++)
		for (int round = 0; round < rounds; round++) {
			l.options.jobs = i ? jobs[i - 1] : 1;
			l.manner.seed = rng_next(&r);
			if (l.why == STOP_HISTORIES)
				/* Others go on during the last call. */
				l.manner.slow = l.options.max_histories =
					1 + rng_below(&r, UPDATES - 1);
			if (m) l.manner.refuse_after = 1 + rng_below(&r, 900);
			try_limit(&s, &l, &whole);
		}
	found_free(&whole);
	subject_free(&s);
}

START_TEST(exactly_so_many_histories)
{
	try_limits((struct limit){ .why = STOP_HISTORIES,
	                           .manner = { .delays = 20 } },
	           NULL);
}
END_TEST

START_TEST(stops_at_a_violation)
{
	try_limits((struct limit){ .why = STOP_VIOLATION,
	                           .options = { .stop_on_violation = true } },
	           NULL);
}
END_TEST

START_TEST(stops_when_told_to)
{
	try_limits((struct limit){ .why = STOP_INTERRUPTED },
	           &(struct manner){ .delays = 30 });
}
END_TEST

START_TEST(stops_in_time)
{
	try_limits((struct limit){ .why = STOP_TIME,
	                           .options = { .timeout = 0.01 },
	                           .manner = { .delays = 10 } },
	           NULL);
}
END_TEST

START_TEST(stops_when_there_is_no_memory)
{
	try_limits((struct limit){ .why = STOP_MEMORY,
	                           .options = { .memory = 1 } },
	           NULL);
}
END_TEST

/* Sets the flag some time later. */
struct alarm {
	atomic_bool *flag;
	uint32_t after;
};

static void *ring(void *argument)
{
	const struct alarm *a = argument;
	usleep(a->after);
	atomic_store(a->flag, true);
	return NULL;
}

START_TEST(stops_when_interrupted)
{
	struct rng r = { first_seed() };
	for (int i = 0; i < (is_quick() ? 5 : 20); i++) {
		atomic_bool flag = false;
		struct alarm a = { &flag, rng_below(&r, 30000) };
		pthread_t thread;
		ck_assert(!pthread_create(&thread, NULL, ring, &a));
		struct subject s = updates(5);
		struct found whole = { 0 };
		struct limit l = { .why = STOP_INTERRUPTED,
			           .options = cc,
			           .manner = { .delays = 10 } };
		explore_all(s.program, &cc, NULL, &whole);
		l.options.jobs = jobs[i % JOBS];
		l.options.interrupt = &flag;
		try_limit(&s, &l, &whole);
		pthread_join(thread, NULL);
		found_free(&whole);
		subject_free(&s);
	}
}
END_TEST

/* Endless for any test: ends in time nevertheless. */
START_TEST(large_explorations_end_in_time)
{
	for (int i = 0; i < JOBS; i++) {
		struct explore_options o = { .level = LEVEL_CC,
			                     .base = LEVEL_CC,
			                     .timeout = 0.3,
			                     .jobs = jobs[i] };
		struct program *p = lost_updates(12);
		unsigned before = threads();
		double begun = seconds_now();
		struct explorer *e = explorer_new(p, &o, NULL);
		explorer_run(e);
		ck_assert_int_eq((int)explorer_stats(e)->stop, STOP_TIME);
		ck_assert(seconds_now() - begun < 600);
		expect_threads(before);
		ck_assert_uint_gt(explorer_stats(e)->histories, 0);
		ck_assert_uint_gt(explorer_open(e)->count, 0);
		explorer_free(e);
		program_free(p);
	}
}
END_TEST

/* Only ticks say that it is to stop, after a while: by the thread that has
 * called; and where there are several threads not too often. */
struct ticks {
	pthread_t caller;
	double begun;
	unsigned late;
};

static bool last_tick(void *payload, const struct explore_stats *so_far,
                      uint32_t depth)
{
	struct ticks *t = payload;
	double now = seconds_now() - t->begun;
	ck_assert(pthread_equal(pthread_self(), t->caller));
	t->late += now > 0.15;
	if (now < 0.5) return true;
	ck_assert_uint_gt(so_far->histories, 0);
	ck_assert_uint_gt(so_far->explore_calls, 0);
	ck_assert(so_far->seconds > 0);
	ck_assert_uint_gt(depth, 0);
	return false;
}

START_TEST(ticks_stop_it)
{
	for (unsigned n = 1; n <= 7; n += 2) {
		struct ticks t = { .caller = pthread_self(),
			           .begun = seconds_now() };
		struct explore_observer observer = { .payload = &t,
			                             .tick = last_tick };
		struct explore_options o = { .level = LEVEL_CC,
			                     .base = LEVEL_CC,
			                     .jobs = n };
		struct program *p = lost_updates(12);
		struct explorer *e = explorer_new(p, &o, &observer);
		explorer_run(e);
		ck_assert_int_eq((int)explorer_stats(e)->stop,
		                 STOP_INTERRUPTED);
		ck_assert(n == 1 || t.late < 8);
		ck_assert(seconds_now() - t.begun < 600);
		explorer_free(e);
		program_free(p);
	}
}
END_TEST

static bool last_late_tick(void *payload, const struct explore_stats *so_far,
                           uint32_t depth)
{
	ck_assert(so_far->seconds > 1000);
	ck_assert(so_far->cpu_seconds >= 500);
	return last_tick(payload, so_far, depth);
}

START_TEST(times_add_up)
{
	for (unsigned n = 1; n <= 2; n++) {
		struct ticks t = { .caller = pthread_self(),
			           .begun = seconds_now() };
		struct explore_observer observer = { .payload = &t,
			                             .tick = last_late_tick };
		struct explore_options o = { .level = LEVEL_CC,
			                     .base = LEVEL_CC,
			                     .jobs = n };
		struct program *p = lost_updates(12);
		struct branch_list open = { 0 };
		struct tally so_far;
		tally_init(&so_far, p);
		so_far.stats.seconds = 1000;
		so_far.stats.cpu_seconds = 500;
		branch_list_add(&open, branch_root());
		struct explorer *e = explorer_new(p, &o, &observer);
		explorer_resume(e, &open, &so_far);
		explorer_run(e);
		const struct explore_stats *s = explorer_stats(e);
		ck_assert(s->seconds > 1000 && s->seconds < 1010);
		ck_assert(s->cpu_seconds > 500 && s->cpu_seconds < 510);
		explorer_free(e);
		program_free(p);
	}
}
END_TEST

/* ---- snapshots ---- */

/* What a snapshot holds, kept: one in so many. */
struct album {
	const struct program *program;
	struct rng rng;
	unsigned jobs, taken, kept, end_after;
	struct {
		struct tally tally;
		struct branch_list open;
	} kept_ones[4];
};

static bool keep(void *payload, const struct tally *so_far,
                 const struct branch_list *open)
{
	struct album *a = payload;
	enum { MOST = sizeof a->kept_ones / sizeof *a->kept_ones };
	a->taken++;
	if (a->kept < MOST && !rng_below(&a->rng, 4)) {
		tally_init(&a->kept_ones[a->kept].tally, a->program);
		tally_add_places(&a->kept_ones[a->kept].tally, so_far);
		branch_list_copy(&a->kept_ones[a->kept].open, open);
		a->kept++;
	}
	return !a->end_after || a->taken < a->end_after;
}

/* So that all of it takes half a second at least. */
static bool dawdle(void *payload, const struct explore_execution *x)
{
	const struct album *a = payload;
	if (x->number % 8 == 0) usleep(250 * a->jobs);
	return true;
}

/* From any snapshot on, everything is found; the sightings are not known. */
static void go_on_from(struct album *a, const struct explore_options *o,
                       const struct found *whole)
{
	struct subject s = { .program = (struct program *)a->program };
	struct found bare = *whole;
	bare.count = 0;
	for (unsigned i = 0; i < a->kept; i++) {
		struct branch_list *open = &a->kept_ones[i].open;
		struct tally *so_far = &a->kept_ones[i].tally;
		struct found f = { 0 };
		struct text why = { 0 };
		struct explore_options rest = *o;
		rest.snapshot_every = 0;
		if (!open_sound(open, &(struct found){ .program = a->program },
		                &why))
			subject_fails(&s, o, "snapshot", text_get(&why));
		ck_assert(tally_make_examples(so_far, a->program, o));
		explore_once(a->program, &rest, NULL, open, so_far, &f);
		size_t seen = f.count;
		f.count = 0;
		if (!found_same(&f, &bare, &why))
			subject_fails(&s, o, "snapshot", text_get(&why));
		f.count = seen;
		found_free(&f);
		branch_list_free(open);
		tally_free(so_far);
	}
}

static unsigned take_snapshots(const struct program *p,
                               struct explore_options o, unsigned end_after,
                               const struct found *whole)
{
	struct album a = { .program = p,
		           .rng = { o.jobs },
		           .jobs = o.jobs,
		           .end_after = end_after };
	struct explore_observer observer = { .payload = &a,
		                             .snapshot = keep,
		                             .history = dawdle };
	o.snapshot_every = 1e-6;
	struct explorer *e = explorer_new(p, &o, &observer);
	explorer_run(e);
	if (end_after && a.taken >= end_after) {
		ck_assert_uint_eq(a.taken, end_after);
		ck_assert_int_eq((int)explorer_stats(e)->stop,
		                 STOP_INTERRUPTED);
	} else {
		ck_assert_int_eq((int)explorer_stats(e)->stop, STOP_NONE);
		ck_assert_uint_eq(explorer_stats(e)->histories,
		                  whole->stats.histories);
	}
	explorer_free(e);
	go_on_from(&a, &o, whole);
	return a.taken;
}

START_TEST(snapshots_are_whole)
{
	struct program *p = lost_updates(6);
	struct explore_options o = cc;
	struct found whole = { 0 };
	explore_all(p, &o, NULL, &whole);
	for (unsigned n = 1; n <= 7; n += n < 4 ? 1 : 3) {
		o.jobs = n;
		ck_assert_uint_gt(take_snapshots(p, o, 0, &whole), 1);
		take_snapshots(p, o, 2, &whole);
	}
	found_free(&whole);
	program_free(p);
}
END_TEST

/* ---- code in C ---- */

static struct program *load(const char *path)
{
	struct diags d = { 0 };
	struct program *p = load_program(path, &d);
	if (!p) ck_abort_msg("%s", diags_to_text(&d));
	diags_free(&d);
	return p;
}

static struct folder folder;

/* A client of tests/native, compiled anew. */
static char *client_of(const char *file, const char *options)
{
	struct text source = { 0 }, name = { 0 };
	text_format(&source, "%s/tests/native/%s.c", source_top(), file);
	text_format(&name, "%s.so", file);
	char *path = folder_file(&folder, text_get(&name));
	bool compiled = compile_client(text_get(&source), options, path);
	text_free(&source);
	text_free(&name);
	if (compiled) return path;
	free(path);
	return NULL;
}

static void enter_folder(void)
{
	folder = folder_new();
}

static void leave_folder(void)
{
	folder_remove(&folder);
}

/* The interpreter as this program. */
static struct program *interpret(const struct subject *s, const char *client)
{
	char *path = folder_file(&folder, "interpreted.tx");
	file_write_text(path, text_get(&s->source));
	setenv("INTERPRETED", path, 1);
	free(path);
	return load(client);
}

static void try_client(const struct subject *s, const char *client,
                       struct rng *r)
{
	struct subject c = *s;
	struct explore_options o = random_options(s, r);
	struct found alone = { 0 };
	c.program = interpret(s, client);
	explore_all(c.program, &o, NULL, &alone);
	for (int round = 0; round < 2; round++) {
		struct branch_list open = { 0 };
		struct tally so_far = { 0 };
		struct manner m = { .refuse_after = 1 + rng_below(r, 30) };
		struct found f = { 0 };
		compare(&c, &o, jobs[rng_below(r, JOBS)], r, &alone);
		o.jobs = jobs[rng_below(r, JOBS)];
		explore_once(c.program, &o, &m, &open, &so_far, &f);
		expect_rest(&c, o, &open, &so_far, &f, &alone);
		branch_list_free(&open);
		tally_free(&so_far);
		found_free(&f);
	}
	if (program_fault(c.program))
		subject_fails(s, &o, "a fault", program_fault(c.program));
	found_free(&alone);
	program_free(c.program);
}

/* Many of them need more room for their transactions. */
START_TEST(random_clients)
{
	uint64_t seed = process_seed(0, 1);
	char *client = client_of("interpreter", "-O1");
	uint64_t clients = programs_or(PROGRAMS);
	clients = clients * CLIENTS / PROGRAMS + 2;
	for (uint64_t tried = 0; client && tried < clients; seed++) {
		struct subject s = { .seed = seed };
		struct rng r = { seed };
		random_client(&s.source, seed);
		s.program = program_from_text(text_get(&s.source));
		struct explore_options o = { .level = LEVEL_NONE,
			                     .base = LEVEL_NONE,
			                     .max_histories = 150 };
		struct explorer *e = explorer_new(s.program, &o, NULL);
		explorer_run(e);
		if (explorer_stats(e)->stop == STOP_NONE) {
			try_client(&s, client, &r);
			tried++;
		}
		explorer_free(e);
		subject_free(&s);
	}
	free(client);
}
END_TEST

/* What is worth nothing is worth nothing in any thread. */
START_TEST(unsteady_clients)
{
	char *client = client_of("unsteady", "-DCASE=counts_runs -DSESSIONS=3");
	for (int i = 0; client && i < JOBS; i++) {
		struct program *p = load(client);
		struct explore_options o = cc;
		o.jobs = jobs[i];
		struct explorer *e = explorer_new(p, &o, NULL);
		explorer_run(e);
		ck_assert_int_eq((int)explorer_stats(e)->stop, STOP_GUEST);
		ck_assert_ptr_nonnull(program_fault(p));
		explorer_free(e);
		program_free(p);
	}
	free(client);
}
END_TEST

void add_jobs_tests(TCase *tests)
{
	tcase_add_unchecked_fixture(tests, enter_folder, leave_folder);
	tcase_add_loop_test(tests, random_programs, 0, PROCESSES);
	tcase_add_test(tests, everybody_works);
	tcase_add_test(tests, exactly_so_many_histories);
	tcase_add_test(tests, stops_at_a_violation);
	tcase_add_test(tests, stops_when_told_to);
	tcase_add_test(tests, stops_in_time);
	tcase_add_test(tests, stops_when_there_is_no_memory);
	tcase_add_test(tests, stops_when_interrupted);
	tcase_add_test(tests, large_explorations_end_in_time);
	tcase_add_test(tests, ticks_stop_it);
	tcase_add_test(tests, times_add_up);
	tcase_add_test(tests, snapshots_are_whole);
	if (!FORKS_AMONG_THREADS) return;
	tcase_add_test(tests, random_clients);
	tcase_add_test(tests, unsteady_clients);
}
