/* Random runs and replays against brute force and the explorer.
 *
 * For a random program the brute force gives every history with the levels that
 * it satisfies; it and the explorer agree (test_explore.c). Every run must be
 * among those of its level, and in the end all of them must have been run.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "compile/load.h"
#include "dpor/explorer.h"
#include "execution/observed_reads.h"
#include "random_program.h"
#include "random_situation.h"
#include "run/campaign.h"
#include "run/replay.h"
#include "suites.h"
#include "support.h"
#include "twin_axioms.h"
#include "twin_enumerate.h"

enum {
	PROCESSES = 8,      /* over which the random programs are spread */
	PROGRAMS = 600,     /* in all, unless ISOSCOPE_PROGRAMS says more */
	PREFIXES = 400,     /* brute force gives up beyond this many */
	HISTORIES = 60,     /* of a program that is run until all are seen */
	RUNS_MAX = 3000000, /* until then */
	SPEC_HISTORIES = 2000
};

/* A twentieth of the programs that the explorers are tried with. */
static uint64_t programs(void)
{
	uint64_t n = programs_or(20 * PROGRAMS) / 20;
	return n < PROCESSES ? PROCESSES : n;
}

static char *canonical(const struct history *h)
{
	struct text t = { 0 };
	history_print_canonical(&t, h);
	char *copy = strdup(text_get(&t));
	text_free(&t);
	return copy;
}

/* ---- What there is: the explorer's histories by hash ---- */

struct known {
	uint64_t hash;
	char *text;
	struct history *history;
	bool seen;
};

struct trial {
	uint64_t seed;
	struct text source;
	struct program *program;
	struct enumeration expected;
	enum level level;
	struct known *known; /* sorted by hash */
	size_t count, capacity, unseen;
	bool *violated; /* slots, by some history; robustness at the end */
};

static void complain(const struct trial *t, const char *what,
                     const char *history)
{
	ck_abort_msg("seed %llu, %s: %s%s%s\n%s", (unsigned long long)t->seed,
	             level_word(t->level), what, history ? ":\n" : "",
	             history ? history : "", text_get(&t->source));
}

static bool keep_known(void *payload, const struct explore_execution *e)
{
	struct trial *t = payload;
	if (t->count == t->capacity) {
		t->capacity = t->capacity ? 2 * t->capacity : 16;
		t->known = realloc(t->known, t->capacity * sizeof *t->known);
	}
	struct history *h = explore_history(e);
	t->known[t->count++] = (struct known){ .hash = explore_hash(e),
		                               .text = canonical(h),
		                               .history = h };
	return true;
}

static int compare_hashes(const void *a, const void *b)
{
	uint64_t x = ((const struct known *)a)->hash;
	uint64_t y = ((const struct known *)b)->hash;
	return (x > y) - (x < y);
}

static struct known *find_known(const struct trial *t, uint64_t hash)
{
	struct known key = { .hash = hash };
	return t->count ? bsearch(&key, t->known, t->count, sizeof key,
	                          compare_hashes)
	                : NULL;
}

static enum level base_of(enum level l)
{
	return level_base(l);
}

/* False if there are more than so many (0: any number). */
static bool explore_some(struct trial *t, enum level l, uint64_t most)
{
	struct explore_options o = { .level = l,
		                     .base = base_of(l),
		                     .robust = true,
		                     .max_histories = most,
		                     .max_steps = most ? 1 << 20 : 0 };
	struct explore_observer observer = { .payload = t,
		                             .history = keep_known };
	t->level = l;
	struct explorer *e = explorer_new(t->program, &o, &observer);
	explorer_run(e);
	uint32_t slots = explorer_slot_count(e);
	t->violated = calloc(slots, sizeof *t->violated);
	for (uint32_t i = 0; i < slots; i++)
		t->violated[i] = explorer_violation(e, i)->histories > 0;
	bool whole = explorer_stats(e)->stop == STOP_NONE;
	explorer_free(e);
	if (t->count)
		qsort(t->known, t->count, sizeof *t->known, compare_hashes);
	for (size_t i = 1; i < t->count; i++)
		if (t->known[i].hash == t->known[i - 1].hash)
			complain(t, "two histories have one hash", NULL);
	return whole;
}

static void explore(struct trial *t, enum level l)
{
	ck_assert(explore_some(t, l, 0));
}

static void forget_known(struct trial *t)
{
	for (size_t i = 0; i < t->count; i++) {
		free(t->known[i].text);
		history_free(t->known[i].history);
	}
	free(t->known);
	free(t->violated);
	t->known = NULL;
	t->violated = NULL;
	t->count = t->capacity = 0;
}

/* ---- Runs, until all there is was seen ---- */

/* The brute force has it, at this level. */
static void expect_enumerated(const struct trial *t, const char *text)
{
	for (size_t i = 0; i < t->expected.count; i++) {
		const struct twin_history *h = &t->expected.items[i];
		if (strcmp(h->text, text)) continue;
		if (!(h->levels >> t->level & 1))
			complain(t, "the level forbids a run", text);
		return;
	}
	complain(t, "a run that brute force does not have", text);
}

static void check_new_history(struct trial *t, const struct campaign_run *r,
                              const struct known *k)
{
	struct history *h = runner_history(r->runner);
	char *text = canonical(h);
	expect_enumerated(t, text);
	if (!k) complain(t, "the explorer has no such hash", text);
	if (strcmp(text, k->text)) complain(t, "another hash", text);
	if (!twin_allows(t->level, h)) complain(t, "forbidden", text);
	if (twin_allows(LEVEL_SER, h) != r->serializable)
		complain(t, "serializable or not", text);
	free(text);
	history_free(h);
}

static bool check_run(void *payload, const struct campaign_run *r)
{
	struct trial *t = payload;
	struct known *k = find_known(t, runner_hash(r->runner));
	if (r->new_history) check_new_history(t, r, k);
	if (!k->seen) {
		k->seen = true;
		t->unseen--;
	}
	return t->unseen > 0;
}

static void expect_slots(const struct trial *t, const struct campaign *c)
{
	for (uint32_t i = 0; i < campaign_slot_count(c); i++) {
		const struct campaign_slot *s = campaign_slot(c, i);
		if ((s->violating > 0) != t->violated[i])
			complain(t, "a slot is violated otherwise", NULL);
		if ((s->violating > 0) != (s->example != NULL))
			complain(t, "a slot without its example", NULL);
	}
}

static void expect_coverage(const struct trial *t, const struct campaign *c)
{
	struct budget none = { 0 };
	struct coverage out;
	campaign_coverage(c, &none, 1, &out);
	if (!out.complete || out.histories != t->count ||
	    out.seen_histories != t->count ||
	    out.seen_outcomes != out.outcomes ||
	    out.outcomes != campaign_stats(c)->outcomes)
		complain(t, "the coverage is wrong", NULL);
}

static void run_all(struct trial *t, enum policy_kind kind)
{
	struct campaign_options o = { .level = t->level,
		                      .policy = { .kind = kind },
		                      .runs = RUNS_MAX,
		                      .seed = t->seed,
		                      .robust = true };
	struct campaign_observer observer = { .payload = t, .run = check_run };
	for (size_t i = 0; i < t->count; i++) t->known[i].seen = false;
	t->unseen = t->count;
	if (!t->count) o.runs = 10; /* all are pruned */
	struct campaign *c = campaign_new(t->program, &o, &observer);
	campaign_start(c);
	const struct campaign_stats *s = campaign_stats(c);
	if (t->unseen) complain(t, "not all histories were run", NULL);
	if (s->stop != (t->count ? STOP_INTERRUPTED : STOP_NONE) ||
	    s->histories != t->count)
		complain(t, "a campaign that ends otherwise", NULL);
	expect_slots(t, c);
	expect_coverage(t, c);
	campaign_free(c);
}

/* ---- Replays of all that there is ---- */

static const struct replay_parts all;

static void replay_one(const struct trial *t, struct runner *r,
                       const struct known *k)
{
	struct trace *trace = trace_of_history(k->history, "history");
	struct diags d = { 0 };
	struct replay_result out;
	if (!replay_fits(t->program, trace, &d))
		complain(t, "does not fit", k->text);
	replay_history(r, trace, k->history->order, all, &out);
	if (out.end != RUN_COMPLETE || out.diverged || out.changed)
		complain(t, "diverges", k->text);
	if (runner_hash(r) != k->hash) complain(t, "differs", k->text);
	if (out.serializable != twin_allows(LEVEL_SER, k->history))
		complain(t, "serializable or not", k->text);
	diags_free(&d);
	trace_free(trace);
}

/* The history without the last `left_out` transactions of its order, and with
 * a first part only of the one before. */
static void replay_part(const struct trial *t, struct runner *r,
                        const struct known *k, struct rng *rng)
{
	struct trace *trace = trace_of_history(k->history, "history");
	uint32_t n = trace->transaction_count;
	bool *truncated = calloc(n, sizeof *truncated);
	uint32_t last = n > 1 ? k->history->order[n - 1] : 0;
	struct replay_result out;
	if (last) {
		struct trace_transaction *cut = &trace->transactions[last];
		cut->op_count = rng_below(rng, cut->op_count + 1);
		truncated[last] = true;
	}
	replay_history(r, trace, k->history->order,
	               (struct replay_parts){ .truncated = truncated }, &out);
	if (out.end != RUN_PRUNED && (out.diverged || out.changed))
		complain(t, "a part diverges", k->text);
	free(truncated);
	trace_free(trace);
}

static void replay_all(const struct trial *t)
{
	struct runner *r = runner_new(t->program, t->level, NULL);
	struct rng rng = { t->seed };
	for (size_t i = 0; i < t->count; i++) {
		replay_one(t, r, &t->known[i]);
		replay_part(t, r, &t->known[i], &rng);
	}
	runner_free(r);
}

/* ---- The definitions of policies ---- */

/* External reads whose writer is not the one that committed last before the
 * reader in the order of the run. */
static uint32_t reads_not_latest(const struct history *h)
{
	uint32_t count = 0;
	for (uint32_t i = 1; i < h->transaction_count; i++) {
		const struct transaction *t = &h->transactions[h->order[i]];
		for (uint32_t j = 0; j < t->event_count; j++) {
			const struct event *e = &t->events[j];
			if (e->kind != EVENT_READ || e->from == HISTORY_SELF)
				continue;
			uint32_t at = i - 1;
			while (!twin_writes(h, h->order[at], e->key)) at--;
			count += h->order[at] != e->from;
		}
	}
	return count;
}

/* Counts the reads whose first choice is not the latest allowed writer. */
struct watched {
	struct run_chooser inner;
	uint32_t not_latest;
};

static void watch_begin(void *data)
{
	struct watched *w = data;
	w->inner.begin(w->inner.data);
	w->not_latest = 0;
}

static uint32_t watch_session(void *data, const uint32_t *ready, uint32_t count)
{
	struct watched *w = data;
	return w->inner.session(w->inner.data, ready, count);
}

static void watch_writers(void *data, const struct run_read *read,
                          struct run_writer *writers, uint32_t count)
{
	struct watched *w = data;
	uint32_t latest = writers[count - 1].id;
	w->inner.writers(w->inner.data, read, writers, count);
	w->not_latest += writers[0].id != latest;
}

static void run_watched(const struct trial *t, struct runner *r,
                        struct policy p, uint64_t seed, uint32_t expected)
{
	struct random_chooser random;
	random_chooser_begin(&random, p, seed, expected);
	struct watched w = { .inner = random_chooser(&random) };
	struct run_chooser chooser = { &w, watch_begin, watch_session,
		                       watch_writers, w.inner.likely };
	enum run_end end = runner_run(r, &chooser);
	if (end != RUN_COMPLETE && end != RUN_PRUNED)
		complain(t, "a run does not end", NULL);
	if (level_is_extensible(t->level) && w.not_latest > p.weak)
		complain(t, "too many weak reads", NULL);
	struct history *h = runner_history(r);
	uint32_t not_latest = reads_not_latest(h);
	if (t->level == LEVEL_NONE && not_latest > p.weak)
		complain(t, "more weak reads than that", NULL);
	if (!p.weak && (not_latest || !twin_allows(LEVEL_SER, h)))
		complain(t, "the latest are not serial", NULL);
	history_free(h);
}

/* Under `none` everything is allowed, so the oldest is init. */
static void run_oldest(const struct trial *t, struct runner *r, uint64_t seed)
{
	struct random_chooser random;
	struct policy oldest = { .kind = POLICY_OLDEST };
	random_chooser_begin(&random, oldest, seed, 0);
	struct run_chooser chooser = random_chooser(&random);
	if (runner_run(r, &chooser) > RUN_PRUNED)
		complain(t, "a run does not end", NULL);
	if (t->level != LEVEL_NONE) return;
	struct history *h = runner_history(r);
	for (uint32_t i = 1; i < h->transaction_count; i++)
		for (uint32_t j = 0; j < h->transactions[i].event_count; j++) {
			struct event *e = &h->transactions[i].events[j];
			if (e->kind == EVENT_READ && e->from != HISTORY_SELF &&
			    e->from != HISTORY_INIT)
				complain(t, "not the oldest", NULL);
		}
	history_free(h);
}

static void expect_recorded(const struct trial *t, struct runner *r,
                            uint64_t seed)
{
	enum run_end end = record_serial(r, seed);
	struct history *h = runner_history(r);
	if (end > RUN_PRUNED || reads_not_latest(h) ||
	    !twin_allows(LEVEL_SER, h))
		complain(t, "what is recorded is not serial", NULL);
	history_free(h);
}

static void run_policies(const struct trial *t)
{
	struct runner *r = runner_new(t->program, t->level, NULL);
	struct rng rng = { t->seed };
	for (uint64_t seed = t->seed; seed < t->seed + 20; seed++) {
		struct policy latest = { .kind = POLICY_LATEST };
		struct policy weak = { .kind = POLICY_WEAK,
			               .weak = rng_below(&rng, 4) };
		run_watched(t, r, latest, seed, 0);
		run_watched(t, r, weak, seed, rng_below(&rng, 8));
		run_oldest(t, r, seed);
		expect_recorded(t, r, seed);
	}
	runner_free(r);
}

/* ---- One program ---- */

/* False when it is too large. */
static bool try_program(uint64_t seed)
{
	struct trial t = { .seed = seed };
	struct twin_options o = { .level = LEVEL_NONE, .limit = PREFIXES };
	if (seed % 4)
		random_program(&t.source, seed);
	else
		random_locking_program(&t.source, seed);
	t.program = program_from_text(text_get(&t.source));
	bool small = twin_enumerate(t.program, o, &t.expected) &&
	             t.expected.count <= HISTORIES;
	for (int l = 0; small && l < LEVEL_COUNT; l++) {
		explore(&t, (enum level)l);
		run_all(&t, POLICY_UNIFORM);
		run_all(&t, POLICY_SESSION_FIRST);
		replay_all(&t);
		run_policies(&t);
		forget_known(&t);
	}
	enumeration_free(&t.expected);
	program_free(t.program);
	text_free(&t.source);
	return small;
}

START_TEST(random_programs)
{
	uint64_t share = programs() / PROCESSES;
	uint64_t seed = first_seed() + (uint64_t)_i * 1000000;
	for (uint64_t tried = 0; tried < share; seed++)
		tried += try_program(seed);
}
END_TEST

/* ---- In SQL ---- */

static bool expect_known(void *payload, const struct campaign_run *r)
{
	struct trial *t = payload;
	if (!r->new_history || find_known(t, runner_hash(r->runner)))
		return true;
	struct history *h = runner_history(r->runner);
	complain(t, "a run that exploring does not have", canonical(h));
	return false;
}

/* What is run is explored, as well. False if there is too much of it. */
static bool try_spec(uint64_t seed, enum level l)
{
	struct trial t = { .seed = seed };
	t.program = random_spec(&t.source, seed);
	bool fine = !(program_mixes(t.program) && !level_mixes(l)) &&
	            explore_some(&t, l, SPEC_HISTORIES);
	if (fine) {
		struct campaign_options o = {
			.level = l,
			.policy = { .kind = POLICY_UNIFORM },
			.runs = 200,
			.seed = seed,
			.robust = true
		};
		struct campaign_observer observer = { .payload = &t,
			                              .run = expect_known };
		struct campaign *c = campaign_new(t.program, &o, &observer);
		campaign_start(c);
		campaign_free(c);
	}
	forget_known(&t);
	program_free(t.program);
	text_free(&t.source);
	return fine;
}

START_TEST(random_specs)
{
	uint64_t share = programs_or(PROGRAMS) / PROCESSES, tried = 0;
	uint64_t seed = first_seed() + (uint64_t)_i * 1000000;
	for (uint64_t i = 0; i < share; i++)
		tried += try_spec(seed + i, (enum level)(i % LEVEL_COUNT));
	ck_assert_uint_ge(tried, share / 3);
}
END_TEST

/* ---- Choices that are taken back ---- */

/* What a transaction writes depends on what it reads; and a transaction that
 * has written waits for one that waits for it, whatever it reads next. */
START_TEST(choices_taken_back)
{
	static const char *const sources[] = {
		"global x = 0; global y = 0; global z = 0;\n"
		"session a { txn { let v = x; if (v == 0) { y = 1; } x = 2; } "
		"}\n"
		"session b { txn { let v = y; let w = x;\n"
		"                  if (v == 0) { x = 3; } else { z = 4; } } }\n"
		"session c { txn { let v = z; let w = y; x = v + w + 5; } }\n",
		"global x = 0; global y = 0; global q = 0; global z = 0;\n"
		"session a { txn { x = 1; let v = q; y = 1; } }\n"
		"session b { txn { let u = q; y = 2; let s = x; x = 2;\n"
		"                  let t = z; } }\n"
		"session c { txn { q = 1; z = 1; } }\n"
		"session d { txn { z = 5; } }\n",
	};
	const char *source = sources[_i];
	for (int l = 0; l < LEVEL_COUNT; l++) {
		struct trial t = { .seed = 1 };
		struct twin_options o = { .level = LEVEL_NONE };
		text_string(&t.source, source);
		t.program = program_from_text(source);
		ck_assert(twin_enumerate(t.program, o, &t.expected));
		explore(&t, (enum level)l);
		run_all(&t, POLICY_UNIFORM);
		replay_all(&t);
		forget_known(&t);
		enumeration_free(&t.expected);
		program_free(t.program);
		text_free(&t.source);
	}
}
END_TEST

void add_run_tests(TCase *tests)
{
	tcase_add_loop_test(tests, choices_taken_back, 0, 2);
	tcase_add_loop_test(tests, random_programs, 0, PROCESSES);
	tcase_add_loop_test(tests, random_specs, 0, PROCESSES);
}
