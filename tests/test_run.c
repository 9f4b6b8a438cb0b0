/* Random runs, replays and campaigns, against brute force and the explorer.
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
#include "run/campaign.h"
#include "run/replay.h"
#include "suites.h"
#include "support.h"
#include "twin_axioms.h"
#include "twin_enumerate.h"

enum {
	PROCESSES = 8,     /* over which the random programs are spread */
	PROGRAMS = 600,    /* in all, unless ISOSCOPE_PROGRAMS says more */
	PREFIXES = 400,    /* brute force gives up beyond this many */
	HISTORIES = 60,    /* of a program that is run until all are seen */
	RUNS_MAX = 3000000 /* until then */
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

static void explore(struct trial *t, enum level l)
{
	struct explore_options o = { .level = l,
		                     .base = base_of(l),
		                     .robust = true };
	struct explore_observer observer = { .payload = t,
		                             .history = keep_known };
	t->level = l;
	struct explorer *e = explorer_new(t->program, &o, &observer);
	explorer_run(e);
	uint32_t slots = explorer_slot_count(e);
	t->violated = calloc(slots, sizeof *t->violated);
	for (uint32_t i = 0; i < slots; i++)
		t->violated[i] = explorer_violation(e, i)->histories > 0;
	explorer_free(e);
	if (t->count)
		qsort(t->known, t->count, sizeof *t->known, compare_hashes);
	for (size_t i = 1; i < t->count; i++)
		if (t->known[i].hash == t->known[i - 1].hash)
			complain(t, "two histories have one hash", NULL);
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

/* ---- The same seed makes the same run ---- */

struct hashes {
	uint64_t items[64];
	uint32_t count;
};

static bool keep_hash(void *payload, const struct campaign_run *r)
{
	struct hashes *h = payload;
	ck_assert_uint_eq(r->number, h->count + 1);
	h->items[h->count++] = runner_hash(r->runner);
	return true;
}

static void run_campaign(const struct program *p, struct campaign_options o,
                         struct hashes *out)
{
	struct campaign_observer observer = { .payload = out,
		                              .run = keep_hash };
	out->count = 0;
	struct campaign *c = campaign_new(p, &o, &observer);
	campaign_start(c);
	campaign_free(c);
}

static const char swapped[] =
	"global k[*] = 0;\n"
	"session s0 { txn { let a = k[1]; k[1] = 2; let b = k[0]; } }\n"
	"session s1 { txn { k[0] = 4; k[0] = 5; k[1] = 6; }\n"
	"             txn { k[0] = 7; k[1] = 8; k[1] = 9; } }\n"
	"session s2 { txn { let a = k[0]; k[0] = a + 11; }\n"
	"             txn { let b = k[1]; k[1] = 13; } }\n";

START_TEST(runs_repeat_from_their_seeds)
{
	struct program *p = program_from_text(swapped);
	for (int kind = 0; kind < POLICY_COUNT; kind++)
		for (int l = 0; l < LEVEL_COUNT; l++) {
			struct campaign_options o = {
				.level = (enum level)l,
				.runs = 40,
				.seed = 7,
				.policy = { (enum policy_kind)kind, 2 }
			};
			struct hashes all, one;
			run_campaign(p, o, &all);
			ck_assert_uint_eq(all.count, 40);
			o.runs = 1;
			for (uint32_t i = 0; i < 40; i++, o.seed++) {
				run_campaign(p, o, &one);
				ck_assert_uint_eq(one.items[0], all.items[i]);
			}
		}
	program_free(p);
}
END_TEST

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

/* ---- Choices that are taken back ---- */

static struct campaign_stats run_text(const char *source, enum level l,
                                      enum policy_kind kind, uint64_t runs)
{
	struct program *p = program_from_text(source);
	struct campaign_options o = {
		.level = l, .policy = { kind, 3 }, .runs = runs, .seed = 1
	};
	struct campaign *c = campaign_new(p, &o, NULL);
	campaign_start(c);
	struct campaign_stats s = *campaign_stats(c);
	ck_assert_int_eq(s.stop, STOP_NONE);
	campaign_free(c);
	program_free(p);
	return s;
}

/* Both increments may read init; only the second one's write shows that it may
 * not. A store that tests reads only makes a lost update of it. */
START_TEST(lost_update_is_taken_back)
{
	static const char source[] =
		"global x = 0;\n"
		"session a { txn { let v = x; x = v + 1; } }\n"
		"session b { txn { let v = x; x = v + 1; } }\n";
	static const enum level forbid[] = { LEVEL_PSI, LEVEL_SI, LEVEL_SER };
	for (int i = 0; i < 3; i++) {
		struct campaign_stats s =
			run_text(source, forbid[i], POLICY_UNIFORM, 1000);
		ck_assert_uint_eq(s.histories, 2);
		ck_assert_uint_eq(s.unserializable, 0);
		ck_assert_uint_gt(s.taken_back, 400);
		ck_assert_uint_lt(s.taken_back, 600);
	}
	ck_assert_uint_eq(
		run_text(source, LEVEL_PC, POLICY_UNIFORM, 1000).taken_back, 0);
}
END_TEST

/* The first of many reads is what the last write makes wrong: to take back all
 * choices of those in between, two for each, would take some 16,000 steps in
 * most runs. */
START_TEST(the_read_to_blame_is_taken_back)
{
	enum { KEYS = 14 };
	struct text source = { 0 };
	text_string(&source, "global x = 0; global k[*] = 0;\n"
	                     "session a { txn { x += 1; } txn { x += 1; } }\n");
	for (int i = 0; i < KEYS; i++)
		text_format(&source, "session b%d { txn { k[%d] = 1; } }\n", i,
		            i);
	text_string(&source, "session c { txn { let v = x;");
	for (int i = 0; i < KEYS; i++)
		text_format(&source, "let r%d = k[%d];", i, i);
	text_string(&source, "x = v + 1; } }\n");
	static const enum level levels[] = { LEVEL_PSI, LEVEL_SI, LEVEL_SER };
	for (int i = 0; i < 3; i++)
		for (int kind = 0; kind < POLICY_COUNT; kind++) {
			struct campaign_stats s =
				run_text(text_get(&source), levels[i],
			                 (enum policy_kind)kind, 200);
			bool latest = kind == POLICY_LATEST;
			ck_assert((s.taken_back > 0) == !latest);
			ck_assert_uint_lt(s.taken_back, 2000);
		}
	text_free(&source);
}
END_TEST

/* What the transaction writes depends on what it reads. */
START_TEST(writes_that_depend_on_reads)
{
	static const char source[] =
		"global x = 0; global y = 0; global z = 0;\n"
		"session a { txn { let v = x; if (v == 0) { y = 1; } x = 2; } "
		"}\n"
		"session b { txn { let v = y; let w = x;\n"
		"                  if (v == 0) { x = 3; } else { z = 4; } } }\n"
		"session c { txn { let v = z; let w = y; x = v + w + 5; } }\n";
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

/* ---- Replays that cannot follow ---- */

static struct replay_result replay_notation(const char *source,
                                            const char *notation, enum level l)
{
	struct program *p = program_from_text(source);
	struct history *h = history_from_notation(notation);
	struct trace *t = trace_of_history(h, "history");
	struct runner *r = runner_new(p, l, NULL);
	struct replay_result out;
	for (uint32_t i = 0; i < t->op_count; i++)
		t->ops[i].flags |= TRACE_MISSING;
	replay_history(r, t, h->order, all, &out);
	ck_assert_int_eq(out.end, RUN_COMPLETE);
	runner_free(r);
	trace_free(t);
	history_free(h);
	program_free(p);
	return out;
}

static void expect_replay(const char *source, const char *notation,
                          enum level l, bool diverged, uint64_t changed,
                          bool serializable)
{
	struct replay_result out = replay_notation(source, notation, l);
	ck_assert_msg(out.diverged == diverged && out.changed == changed &&
	                      out.serializable == serializable,
	              "%s under %s: diverged %d, changed %d, serializable %d",
	              notation, level_word(l), out.diverged, (int)out.changed,
	              out.serializable);
}

START_TEST(replays_that_diverge)
{
	static const char both[] =
		"global x = 0; global y = 0;\n"
		"session s00000 { txn { let v = x; x = v + 1; } }\n"
		"session s00001 { txn { let v = x; x = v + 1; } }\n"
		"session s00002 { txn { let v = y; } }\n";
	/* The history itself, whole and without what it does not have. */
	expect_replay(both, "T1: x<0 Wx | T2: x<0 Wx | T3: y<0", LEVEL_CC,
	              false, 0, false);
	expect_replay(both, "T1: x<0 Wx | T2: x<0 Wx", LEVEL_CC, false, 0,
	              false);
	/* Its writer is not allowed. */
	expect_replay(both, "T1: x<0 Wx | T2: x<0 Wx", LEVEL_SI, true, 1, true);
	/* Its writer did not write the key. */
	expect_replay(both, "T1: x<0 Wx Wy | T2: x<T1 Wx | T3: y<T1", LEVEL_CC,
	              true, 1, true);
	/* A read of another key, one more, one less. */
	expect_replay(both, "T1: y<0 Wx | T2: x<T1 Wx", LEVEL_CC, true, 0,
	              true);
	expect_replay(both, "T1: x<0 Wx | T2: x<T1 y<0 Wx", LEVEL_CC, true, 0,
	              true);
	expect_replay(both, "T1: Wx | T2: x<T1 Wx", LEVEL_CC, true, 0, true);
	/* An end of another kind, a transaction that does not run. */
	expect_replay(both, "T1: x<0 Wx | T2!: x<0", LEVEL_CC, true, 0, false);
	expect_replay(both, "T1: x<0 Wx | T2: x<0 Wx ; T4: y<0", LEVEL_CC, true,
	              0, false);
}
END_TEST

static struct history *first_history(const char *source)
{
	struct trial t = { .program = program_from_text(source) };
	explore(&t, LEVEL_CC);
	struct history *h = t.known[0].history;
	t.known[0].history = NULL;
	forget_known(&t);
	program_free(t.program);
	return h;
}

/* The last transaction's second read cannot be had with its first (nobody may
 * see a without b when another sees b without a). It is not to be blamed on the
 * write to which the second one led, and which the first does not allow. */
START_TEST(a_replay_blames_reads_before_writes)
{
	struct program *p = program_from_text(
		"global x = 0; global y = 0;\n"
		"session s00000 { txn { let a = x; x = 1; } }\n"
		"session s00001 { txn { y = 1; } }\n"
		"session s00002 { txn { let c = x; let d = y; } }\n"
		"session s00003 { txn { let v = x; let w = y;\n"
		"                       if (w == 1) { x = 5; } } }\n");
	struct history *h = history_from_notation(
		"A: x<0 Wx | B: Wy | C: x<A y<0 | D: x<0 y<B Wx");
	struct trace *t = trace_of_history(h, "history");
	struct runner *r = runner_new(p, LEVEL_SI, NULL);
	struct replay_result out;
	replay_history(r, t, h->order, all, &out);
	ck_assert_uint_eq(out.changed, 1);
	struct history *result = runner_history(r);
	const struct transaction *d = &result->transactions[4];
	ck_assert_uint_eq(d->event_count, 2);
	ck_assert_uint_eq(d->events[0].from, HISTORY_INIT);
	ck_assert_uint_eq(d->events[1].from, HISTORY_INIT);
	history_free(result);
	runner_free(r);
	trace_free(t);
	history_free(h);
	program_free(p);
}
END_TEST

/* The writer that D has in the history writes another key in the program: D
 * reads from what ran next to it, the later one of two. */
static void expect_nearest(const uint32_t *order, uint32_t expected)
{
	struct program *p = program_from_text(
		"global x = 0; global y = 0;\n"
		"session s00000 { txn { x = 1; } txn { x = 2; } }\n"
		"session s00001 { txn { y = 1; } }\n"
		"session s00002 { txn { y = 2; } }\n"
		"session s00003 { txn { let v = x; } }\n");
	struct history *h = history_from_notation(
		"A: Wx ; A2: Wx | B: Wx | C: Wy | D: x<B");
	struct trace *t = trace_of_history(h, "history");
	struct runner *r = runner_new(p, LEVEL_NONE, NULL);
	struct replay_result out;
	replay_history(r, t, order, all, &out);
	ck_assert(out.diverged);
	ck_assert_uint_eq(out.changed, 1);
	struct history *result = runner_history(r);
	for (uint32_t i = 0; i < 6; i++)
		ck_assert_uint_eq(result->order[i], order[i]);
	ck_assert_uint_eq(result->transactions[5].events[0].from, expected);
	history_free(result);
	runner_free(r);
	trace_free(t);
	history_free(h);
	program_free(p);
}

START_TEST(a_replay_takes_the_nearest)
{
	enum { A = 1, A2, B, C, D };
	expect_nearest((uint32_t[]){ 0, A, B, C, A2, D }, A);
	expect_nearest((uint32_t[]){ 0, A, C, B, A2, D }, A2);
	expect_nearest((uint32_t[]){ 0, A, B, A2, C, D }, A2);
	expect_nearest((uint32_t[]){ 0, B, C, A, A2, D }, 0);
	expect_nearest((uint32_t[]){ 0, B, A, A2, C, D }, A);
	expect_nearest((uint32_t[]){ 0, A, A2, C, B, D }, A2);
}
END_TEST

/* `finally` stands in a history that ends before the sessions do: it is the
 * last to run all the same, and reads what it read if it may. */
START_TEST(a_replay_waits_for_the_last_session)
{
	struct history *h = first_history("global x = 0;\n"
	                                  "session s { txn { x = 1; } }\n"
	                                  "finally { let v = x; }\n");
	struct trace *t = trace_of_history(h, "history");
	struct program *p = program_from_text(
		"global x = 0;\n"
		"session s { txn { x = 1; } txn { x = 2; } }\n"
		"finally { let v = x; }\n");
	for (int l = LEVEL_NONE; l < LEVEL_COUNT; l++) {
		struct runner *r = runner_new(p, (enum level)l, NULL);
		struct replay_result out;
		replay_history(r, t, h->order, all, &out);
		ck_assert_int_eq(out.end, RUN_COMPLETE);
		ck_assert_uint_eq(out.changed, l > LEVEL_RC);
		ck_assert(out.diverged == (l > LEVEL_RC));
		runner_free(r);
	}
	program_free(p);
	trace_free(t);
	history_free(h);
}
END_TEST

/* The same transactions and writers, but other values. */
START_TEST(replays_of_other_values)
{
	static const char source[] =
		"global x = 0; session a { txn { x = 1; x = %d; } }\n"
		"session b { txn { let v = x; } }\n";
	static const bool divergent[] = { false, true, false };
	static const struct replay_parts anew = { .divergent = divergent };
	for (int value = 7; value <= 8; value++) {
		struct text seven = { 0 }, other = { 0 };
		struct replay_result out;
		text_format(&seven, source, 7);
		text_format(&other, source, value);
		struct program *p = program_from_text(text_get(&seven));
		struct program *q = program_from_text(text_get(&other));
		struct runner *r = runner_new(p, LEVEL_SER, NULL);
		struct runner *s = runner_new(q, LEVEL_CC, NULL);
		struct history *h = NULL;
		for (uint64_t seed = 1; !h || h->order[1] != 1; seed++) {
			history_free(h);
			ck_assert_int_eq(record_serial(r, seed), RUN_COMPLETE);
			h = runner_history(r);
		}
		struct trace *t = trace_of_history(h, "history");
		replay_history(s, t, h->order, all, &out);
		ck_assert_uint_eq(out.values, value == 7 ? 0 : 2);
		ck_assert(out.diverged == (value != 7) && !out.changed);
		replay_history(s, t, h->order, anew, &out);
		ck_assert(!out.values && !out.diverged);
		trace_free(t);
		history_free(h);
		runner_free(r);
		runner_free(s);
		program_free(p);
		program_free(q);
		text_free(&seven);
		text_free(&other);
	}
}
END_TEST

/* Sessions that have numbers are matched by their order, if the keys are the
 * program's. */
START_TEST(sessions_with_numbers_fit)
{
	static const struct {
		const char *names[2], *key, *error;
	} cases[] = {
		{ { "9", "10" }, "x", NULL },
		{ { "10", "9" }, "k[3]", NULL },
		{ { "1", "1" }, "x", "two sessions are called '1'" },
		{ { "9", "b" }, "x", "no session '9'" },
		{ { "0", "1" }, "0", "has no key '0'" },
		{ { "0", "1" }, "kk[1]", "has no key 'kk[1]'" },
	};
	struct program *p = program_from_text(
		"global x = 0; global k[*] = 0;\n"
		"session a { txn { x = 1; } } session b { txn { x = 2; } }\n");
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct trace_session sessions[2] = {
			{ .name = cases[i].names[0] },
			{ .name = cases[i].names[1] },
		};
		struct trace_key key = { .name = cases[i].key };
		struct trace t = { .file = "f",
			           .sessions = sessions,
			           .session_count = 2,
			           .keys = &key,
			           .key_count = 1 };
		struct diags d = { 0 };
		uint32_t of_trace[2];
		bool fits = sessions_match(p, &t, of_trace, &d);
		ck_assert(fits == !cases[i].error);
		if (fits) ck_assert_uint_eq(of_trace[0], i);
		if (fits) ck_assert_uint_eq(of_trace[1], !i);
		if (!fits)
			ck_assert_msg(strstr(d.items[0].message,
			                     cases[i].error) != NULL,
			              "%s", d.items[0].message);
		diags_free(&d);
	}
	program_free(p);
}
END_TEST

START_TEST(replays_of_other_programs)
{
	struct program *p = program_from_text(
		"global x = 0; session s00000 { txn { x = 1; } }\n");
	struct history *h = history_from_notation("T1: Wx | T2: x<T1");
	struct trace *t = trace_of_history(h, "history");
	struct diags d = { 0 };
	ck_assert(!replay_fits(p, t, &d));
	ck_assert_uint_eq(d.errors, 1);
	ck_assert_ptr_nonnull(
		strstr(d.items[0].message, "no session 's00001'"));
	diags_free(&d);
	trace_free(t);
	history_free(h);
	program_free(p);
}
END_TEST

/* ---- Limits ---- */

static void expect_same_from_seeds(const char *source, uint32_t runs)
{
	struct program *p = program_from_text(source);
	struct campaign_options o = { .level = LEVEL_CC,
		                      .runs = runs,
		                      .seed = 5 };
	struct hashes all, one;
	run_campaign(p, o, &all);
	ck_assert_uint_eq(all.count, runs);
	o.runs = 1;
	for (uint32_t i = 0; i < runs; i++, o.seed++) {
		run_campaign(p, o, &one);
		ck_assert_uint_eq(one.items[0], all.items[i]);
	}
	program_free(p);
}

/* Sessions whose number of transactions no text shows, in some runs beyond the
 * first room. Runs and their hashes are the same whatever the room. */
START_TEST(room_for_transactions_grows)
{
	expect_same_from_seeds(
		"global x = 0;\n"
		"txn count(n) { let v = x; x = v + 1; return range(0, n); }\n"
		"session a { let r = count(50); for i in r { txn { let v = x; "
		"} }\n"
		"}\n"
		"session b { let r = count(40); for i in r { txn { x = i; } } "
		"}\n",
		3);
	expect_same_from_seeds(
		"global n = 2; global x = 0;\n"
		"txn count() { let v = n; return range(0, v); }\n"
		"session a { let r = count(); for i in r { txn { let v = x; } "
		"}\n"
		"}\n"
		"session b { txn { x = 1; } txn { x = 2; } }\n"
		"session c { txn { n = 60; } }\n",
		30);
}
END_TEST

static enum stop_reason stop_of(const char *source, struct campaign_options o)
{
	struct program *p = program_from_text(source);
	struct campaign *c = campaign_new(p, &o, NULL);
	campaign_start(c);
	enum stop_reason stop = campaign_stats(c)->stop;
	ck_assert(stop != STOP_TOO_LARGE || campaign_problem(c));
	if (o.memory) ck_assert_int_lt(campaign_stats(c)->seconds, 5);
	campaign_free(c);
	program_free(p);
	return stop;
}

START_TEST(campaigns_stop)
{
	static const char many[] =
		"global x = 0; txn n() { return range(0, 20000); }\n"
		"session a { let r = n(); for i in r { txn { x = i; } } }\n";
	static const char statically_many[] =
		"global x = 0; session a { for i in 0..20000 { txn { x = i; } "
		"} }";
	static const char large[] = "global x = 0; session a { txn { for i in "
				    "0..70000 { x = i; } } }";
	static const char statically_long[] =
		"global x = 0; session a { for i in 0..16000 { txn { x = i; } "
		"} }";
	static const char growing[] =
		"global k[*] = 0;\n"
		"session a { txn { for i in 0..60000 { let v = k[i]; } } }";
	atomic_bool yes = true;
	struct campaign_options o = { .level = LEVEL_CC,
		                      .runs = UINT64_MAX,
		                      .seed = 1 };
	ck_assert_int_eq(stop_of(many, o), STOP_TOO_LARGE);
	ck_assert_int_eq(stop_of(statically_many, o), STOP_TOO_LARGE);
	ck_assert_int_eq(stop_of(large, o), STOP_TOO_LARGE);
	o.timeout = 0.05;
	ck_assert_int_eq(stop_of(swapped, o), STOP_TIME);
	o.timeout = 0;
	o.memory = 1000;
	ck_assert_int_eq(stop_of(swapped, o), STOP_MEMORY);
	/* The memory of one run counts, too: at its beginning, and later. */
	o.memory = 16 << 20;
	ck_assert_int_eq(stop_of(statically_long, o), STOP_MEMORY);
	o.memory = 1 << 20;
	ck_assert_int_eq(stop_of(growing, o), STOP_MEMORY);
	o.memory = 0;
	o.interrupt = &yes;
	ck_assert_int_eq(stop_of(swapped, o), STOP_INTERRUPTED);
}
END_TEST

/* Keys that only some runs touch do not fill the table for ever. */
START_TEST(keys_are_forgotten)
{
	struct campaign_stats s = run_text(
		"global k[*] = 0; global x = 0;\n"
		"session a { for i in 0..6 { txn { let v = x;\n"
		"    k[v] = 1; x = v * 7 + i; let w = k[v + 1]; } } }\n"
		"session b { for i in 0..6 { txn { let v = x; x = v * 5 + i;\n"
		"    let w = k[v]; } } }\n",
		LEVEL_RA, POLICY_UNIFORM, 20000);
	ck_assert_uint_gt(s.histories, 5000);
}
END_TEST

/* ---- What campaigns count ---- */

START_TEST(campaigns_count)
{
	struct program *p = program_from_text(
		"global x = 0;\n"
		"session a { let ok = t(); } session b { let ok = t(); }\n"
		"txn t() { let v = x; x = v + 1; return v; }\n"
		"assert a.ok + b.ok == 1; assert serializable;\n"
		"assert a.ok == 7;\n");
	struct campaign_options o = {
		.level = LEVEL_CC, .runs = 1234, .seed = 3, .robust = true
	};
	struct campaign *c = campaign_new(p, &o, NULL);
	campaign_start(c);
	const struct campaign_stats *s = campaign_stats(c);
	ck_assert_uint_eq(s->runs, 1234);
	ck_assert_uint_eq(s->violating, 1234);
	ck_assert_uint_eq(s->reads, 2468);
	ck_assert_uint_eq(campaign_slot_count(c), 5);
	for (uint32_t i = 0; i < 5; i++) {
		const struct campaign_slot *x = campaign_slot(c, i);
		if (i == 2) ck_assert_uint_eq(x->violating, 1234);
		if (i == 3) ck_assert_uint_eq(x->violating, 0);
		if (i == 2 || i == 3) continue;
		ck_assert_uint_eq(x->violating, s->unserializable);
		ck_assert_uint_eq(x->first_run, campaign_slot(c, 4)->first_run);
		ck_assert((x->finding != NULL) == (i == 0));
	}
	uint32_t count;
	const struct campaign_point *curve = campaign_curve(c, &count);
	static const uint64_t runs[] = { 1,   2,   5,   10,   20,  50,
		                         100, 200, 500, 1000, 1234 };
	ck_assert_uint_eq(count, sizeof runs / sizeof *runs);
	for (uint32_t i = 0; i < count; i++)
		ck_assert_uint_eq(curve[i].runs, runs[i]);
	ck_assert_uint_eq(curve[count - 1].histories, s->histories);
	campaign_free(c);
	o.stop_on_violation = true;
	c = campaign_new(p, &o, NULL);
	campaign_start(c);
	ck_assert_uint_eq(campaign_stats(c)->runs, 1);
	ck_assert_int_eq(campaign_stats(c)->stop, STOP_VIOLATION);
	campaign_free(c);
	program_free(p);
}
END_TEST

/* A run that makes an assumption false is none: neither the mean nor the curve
 * counts it, only the seeds go on. */
START_TEST(pruned_runs_are_no_runs)
{
	struct program *p = program_from_text(
		"global x = 0; session a { txn { x = 1; } }\n"
		"session b { txn { let v = x; assume v == 1; } }\n"
		"assert 1 == 2;\n");
	struct campaign_options o = { .level = LEVEL_CC,
		                      .runs = 100,
		                      .seed = 1 };
	struct campaign *c = campaign_new(p, &o, NULL);
	campaign_start(c);
	const struct campaign_stats *s = campaign_stats(c);
	const struct campaign_slot *x = campaign_slot(c, 0);
	uint64_t counted = s->runs - s->pruned;
	uint32_t count;
	const struct campaign_point *curve = campaign_curve(c, &count);
	ck_assert_uint_eq(s->runs, 100);
	ck_assert(s->pruned > 20 && s->pruned < 95);
	ck_assert_uint_eq(x->violating, counted);
	ck_assert_uint_eq(x->last_counted, counted);
	ck_assert_uint_ge(count, 2);
	ck_assert_uint_eq(curve[0].runs, 1);
	ck_assert_uint_eq(curve[count - 1].runs, counted);
	campaign_free(c);
	program_free(p);
}
END_TEST

/* ---- The mean number of runs until a violation, as published ---- */

/* Measured on the same tests with a store of MonkeyDB's semantics: 4,000 runs
 * of each, 600 of the stack (random runs of the same programs). */
static const struct published {
	const char *program;
	uint32_t slot;
	enum level level;
	double uniform, session_first; /* 0: never */
	double tolerance;              /* relative */
} published[] = {
	{ "courseware", 0, LEVEL_RC, 14.3, 14.8, 0.2 },
	{ "courseware", 0, LEVEL_CC, 4.7, 4.9, 0.2 },
	{ "courseware", 0, LEVEL_SI, 0, 0, 0 },
	{ "courseware", 1, LEVEL_CC, 4.9, 5.0, 0.2 },
	{ "courseware", 1, LEVEL_PC, 15.3, 14.4, 0.2 },
	{ "courseware", 2, LEVEL_RC, 11.7, 13.3, 0.2 },
	{ "courseware", 2, LEVEL_RA, 6.9, 7.1, 0.2 },
	{ "courseware", 2, LEVEL_PC, 0, 0, 0 },
	{ "shopping-cart", 0, LEVEL_CC, 28, 25, 0.25 },
	{ "shopping-cart-reload", 0, LEVEL_RC, 6.7, 6.4, 0.2 },
	{ "shopping-cart-reload", 0, LEVEL_CC, 4.7, 4.8, 0.2 },
	{ "shopping-cart-layout", 0, LEVEL_RA, 0, 0, 0 },
	{ "treiber-stack", 0, LEVEL_RA, 19, 27, 0.4 },
	{ "treiber-stack", 0, LEVEL_CC, 5.5, 5.3, 0.3 },
	{ "twitter", 0, LEVEL_RC, 4.8, 5.3, 0.2 },
	{ "twitter", 0, LEVEL_RA, 7.9, 7.4, 0.2 },
	{ "twitter", 0, LEVEL_CC, 0, 0, 0 },
};
enum { PUBLISHED = sizeof published / sizeof *published };

/* A program of programs/examples. */
static struct program *load_example(const char *name)
{
	static const char self[] = "tests/test_run.c";
	const char *source = getenv("ISOSCOPE_SOURCE");
	struct text path = { 0 };
	struct diags d = { 0 };
	if (source)
		text_format(&path, "%s/", source);
	else
		text_format(&path, "%.*s",
		            (int)(strlen(__FILE__) - strlen(self)), __FILE__);
	text_format(&path, "programs/examples/%s.tx", name);
	struct program *p = load_program(text_get(&path), &d);
	ck_assert_msg(p != NULL, "%s", text_get(&path));
	diags_free(&d);
	text_free(&path);
	return p;
}

static void expect_mean(const struct program *p, const struct published *e,
                        enum policy_kind kind, double expected)
{
	struct campaign_options o = { .level = e->level,
		                      .policy = { kind, 0 },
		                      .runs = 12000,
		                      .seed = 1 };
	struct campaign *c = campaign_new(p, &o, NULL);
	campaign_start(c);
	const struct campaign_slot *s = campaign_slot(c, e->slot);
	double mean = s->violating
	                      ? (double)s->last_counted / (double)s->violating
	                      : 0;
	ck_assert_msg(mean >= expected * (1 - e->tolerance) &&
	                      mean <= expected * (1 + e->tolerance),
	              "%s, assertion %u under %s, %s: %.2f, not %.2f",
	              e->program, e->slot, level_word(e->level),
	              policy_word(kind), mean, expected);
	campaign_free(c);
}

START_TEST(runs_until_a_violation)
{
	const struct published *e = &published[_i];
	struct program *p = load_example(e->program);
	expect_mean(p, e, POLICY_UNIFORM, e->uniform);
	expect_mean(p, e, POLICY_SESSION_FIRST, e->session_first);
	program_free(p);
}
END_TEST

/* Session a is preferred to no other one. */
START_TEST(session_first_is_fair)
{
	struct program *p = program_from_text(
		"global x = 0;\n"
		"session a { txn { x = 1; } txn { x = 2; } txn { x = 3; } }\n"
		"session b { txn { x = 4; } }\n"
		"session c { txn { x = 5; } }\n"
		"finally { let v = x; }\n"
		"assert finally.v > 3; assert finally.v != 4;\n"
		"assert finally.v != 0;\n");
	static const double shares[] = { 0.5, 0.25, 0.25 };
	struct campaign_options o = { .level = LEVEL_NONE,
		                      .policy = { POLICY_SESSION_FIRST, 0 },
		                      .runs = 100000,
		                      .seed = 1 };
	struct campaign *c = campaign_new(p, &o, NULL);
	campaign_start(c);
	for (uint32_t i = 0; i < 3; i++) {
		double share = (double)campaign_slot(c, i)->violating / 1e5;
		ck_assert_msg(share > shares[i] - 0.006 &&
		                      share < shares[i] + 0.006,
		              "assertion %u fails in %f of the runs", i, share);
	}
	campaign_free(c);
	program_free(p);
}
END_TEST

START_TEST(words_of_policies)
{
	struct policy p;
	for (int k = 0; k < POLICY_WEAK; k++) {
		ck_assert(
			policy_from_word(policy_word((enum policy_kind)k), &p));
		ck_assert_int_eq(p.kind, k);
	}
	ck_assert(policy_from_word("weak=12", &p));
	ck_assert_int_eq(p.kind, POLICY_WEAK);
	ck_assert_uint_eq(p.weak, 12);
	static const char *const wrong[] = { "",
		                             "weak",
		                             "weak=",
		                             "weak=x",
		                             "weak=-1",
		                             "weak=4294967296",
		                             "weak=99999999999999999999999",
		                             "Uniform",
		                             "latest " };
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		ck_assert(!policy_from_word(wrong[i], &p));
}
END_TEST

void add_run_tests(TCase *tests)
{
	tcase_add_test(tests, words_of_policies);
	tcase_add_test(tests, session_first_is_fair);
	tcase_add_test(tests, runs_repeat_from_their_seeds);
	tcase_add_test(tests, lost_update_is_taken_back);
	tcase_add_test(tests, the_read_to_blame_is_taken_back);
	tcase_add_test(tests, writes_that_depend_on_reads);
	tcase_add_test(tests, replays_that_diverge);
	tcase_add_test(tests, a_replay_blames_reads_before_writes);
	tcase_add_test(tests, a_replay_takes_the_nearest);
	tcase_add_test(tests, a_replay_waits_for_the_last_session);
	tcase_add_test(tests, replays_of_other_programs);
	tcase_add_test(tests, replays_of_other_values);
	tcase_add_test(tests, sessions_with_numbers_fit);
	tcase_add_test(tests, room_for_transactions_grows);
	tcase_add_test(tests, campaigns_stop);
	tcase_add_test(tests, keys_are_forgotten);
	tcase_add_test(tests, campaigns_count);
	tcase_add_test(tests, pruned_runs_are_no_runs);
	tcase_add_loop_test(tests, runs_until_a_violation, 0, PUBLISHED);
	tcase_add_loop_test(tests, random_programs, 0, PROCESSES);
}
