/* Native clients against programs of the language, one to one.
 *
 * A random program is loaded twice: as it is, and as a client in C whose
 * sessions interpret it (tests/native/interpreter.c). Whatever is done with
 * both has to give the same histories in the same order, with the same
 * violations and the same statistics. The same once more where little or
 * nothing is kept of what the client did: that is only a cache.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/memory.h"
#include "compile/load.h"
#include "dpor/explorer.h"
#include "execution/observed_reads.h"
#include "file_support.h"
#include "history/trace.h"
#include "native/host/client.h"
#include "native/host/library.h"
#include "random_client.h"
#include "random_program.h"
#include "run/campaign.h"
#include "solve/decision.h"
#include "suites.h"
#include "support.h"

enum {
	PROCESSES = 8,   /* over which the random programs are spread */
	PROGRAMS = 600,  /* in all, unless ISOSCOPE_PROGRAMS says more */
	HISTORIES = 600, /* larger explorations are cut off there */
	CALLS = 1000,    /* of an exploration without memory; where locks block
	                  * nearly all, a few histories take millions */
	RUNS = 12,       /* of a campaign */
	LINES = 400,     /* of a program */
	BUDGET = 20000   /* bytes to keep steps in, at most */
};

static struct folder folder;
static char client[sizeof folder.path + 32];
static bool no_compiler;

/* ---- the interpreter, compiled once for all tests ---- */

static void compile_interpreter(void)
{
	struct text source = { 0 };
	text_format(&source, "%s/tests/native/interpreter.c", source_top());
	folder = folder_new();
	snprintf(client, sizeof client, "%s/interpreter.so", folder.path);
	no_compiler = !compile_client(text_get(&source), "-O1", client);
	text_free(&source);
}

/* Programs that failed have left theirs. */
static void remove_interpreter(void)
{
	folder_remove(&folder);
}

/* ---- one program and what is done with it ---- */

struct trial {
	uint64_t seed;
	struct text source;
	char path[sizeof folder.path + 32]; /* of a file that holds it */
	struct program *scripted, *native, *forgetful;
	uint32_t histories; /* of the script under cc, HISTORIES at most */
	/* What is tried now, and with which of both clients. */
	const char *what, *with;
	enum level level;
};

__attribute__((noreturn)) static void
complain(const struct trial *t, const char *what, const char *text)
{
	const char *fault = program_fault(t->native);
	if (!fault && t->forgetful) fault = program_fault(t->forgetful);
	ck_abort_msg("seed %llu, %s %s, %s: %s%s%s%s%s\n%s",
	             (unsigned long long)t->seed, t->what, level_word(t->level),
	             t->with, what, text ? ":\n" : "", text ? text : "",
	             fault ? "\n" : "", fault ? fault : "",
	             text_get(&t->source));
	abort();
}

static void expect_number(const struct trial *t, const char *what,
                          uint64_t native, uint64_t scripted)
{
	char message[128];
	if (native == scripted) return;
	snprintf(message, sizeof message, "%s: %llu, should be %llu", what,
	         (unsigned long long)native, (unsigned long long)scripted);
	complain(t, message, NULL);
}

/* Of one exploration, or of one series of random runs. */
struct result {
	const struct program *program;
	struct strings texts; /* in the order of discovery */
	uint64_t *outcomes;
	size_t outcome_capacity;
	struct history *chosen; /* number `choose` */
	size_t choose;
	struct result *inside; /* of another exploration, during this one;
	                        * or NULL */
	/* How many histories violate the assertion on a line; the lines 0 and
	 * 1, which have none, stand for run-time errors and robustness. */
	uint64_t violations[LINES];
};

static void result_free(struct result *r)
{
	if (r->inside) result_free(r->inside);
	free(r->inside);
	strings_free(&r->texts);
	free(r->outcomes);
	history_free(r->chosen);
}

/* ---- histories with the names that keys have in the language ---- */

static int compare_keys(const void *a, const void *b)
{
	const struct history_key *const *x = a, *const *y = b;
	return strcmp((*x)->name, (*y)->name);
}

static void renumber_keys(struct history *h, const struct history_key *keys,
                          const uint32_t *number)
{
	memcpy(h->keys, keys, h->key_count * sizeof *keys);
	for (uint32_t i = 1; i < h->transaction_count; i++) {
		struct transaction *t = &h->transactions[i];
		for (uint32_t j = 0; j < t->event_count; j++)
			t->events[j].key = number[t->events[j].key];
	}
}

/* The key 1 of the client is k[1]. */
static void rename_keys(struct history *h)
{
	enum { KEYS = 64 };
	struct history_key *order[KEYS], sorted[KEYS];
	uint32_t number[KEYS];
	ck_assert_uint_le(h->key_count, KEYS);
	for (uint32_t i = 0; i < h->key_count; i++) {
		const char *name = h->keys[i].name;
		order[i] = &h->keys[i];
		if (*name != '-' && (unsigned)*name - '0' > 9) continue;
		char *longer = region_take(&h->region, strlen(name) + 4);
		sprintf(longer, "k[%s]", name);
		h->keys[i].name = longer;
	}
	qsort(order, h->key_count, sizeof *order, compare_keys);
	for (uint32_t i = 0; i < h->key_count; i++) {
		number[order[i] - h->keys] = i;
		sorted[i] = *order[i];
	}
	renumber_keys(h, sorted, number);
}

static void keep_history(struct result *r, struct history *h, uint64_t outcome)
{
	struct text t = { 0 };
	size_t count = r->texts.count;
	if (program_is_native(r->program) && count != r->choose) rename_keys(h);
	if (count == r->choose) {
		/* It stays as it is. */
		text_string(&t, "chosen");
		r->chosen = h;
		h = NULL;
	} else {
		history_print_canonical(&t, h);
	}
	VEC_RESERVE(r->outcomes, count, r->outcome_capacity);
	r->outcomes[count] = outcome;
	strings_add(&r->texts, text_get(&t));
	text_free(&t);
	history_free(h);
}

/* ---- violations by the lines of assertions ---- */

/* The message of an assertion of the client is the line. */
static uint32_t line_of(const struct program *p, uint32_t slot)
{
	uint32_t count = program_assertion_count(p);
	if (slot >= count) return slot - count;
	const struct assertion *a = program_assertion(p, slot);
	if (!program_is_native(p)) return a->at.line;
	return (uint32_t)atoi(a->message ? a->message : a->text);
}

static void count_violations(struct result *r, uint32_t slot, uint64_t n)
{
	const struct program *p = r->program;
	bool known = slot >= program_assertion_count(p) ||
	             program_assertion_met(p, slot);
	uint32_t line = known ? line_of(p, slot) : 0;
	if (!n && !known) return;
	ck_assert_msg(known && line < LINES, "slot %u, line %u", slot, line);
	r->violations[line] += n;
}

/* ---- comparing ---- */

static int compare_numbers(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

static size_t distinct(const uint64_t *numbers, size_t count)
{
	uint64_t *copy = mem_take(count * sizeof *copy);
	size_t found = 0;
	memcpy(copy, numbers, count * sizeof *copy);
	qsort(copy, count, sizeof *copy, compare_numbers);
	for (size_t i = 0; i < count; i++)
		found += !i || copy[i] != copy[i - 1];
	free(copy);
	return found;
}

/* Hashes of outcomes differ; what is one outcome for the one is one for the
 * other. */
static void expect_outcomes(const struct trial *t, const struct result *native,
                            const struct result *scripted)
{
	size_t count = native->texts.count;
	if (!count) return;
	uint64_t *both = mem_take(count * sizeof *both);
	for (size_t i = 0; i < count; i++)
		both[i] = hash_mix(native->outcomes[i], scripted->outcomes[i]);
	size_t expected = distinct(scripted->outcomes, count);
	expect_number(t, "outcomes", distinct(native->outcomes, count),
	              expected);
	expect_number(t, "pairs of outcomes", distinct(both, count), expected);
	free(both);
}

static void expect_result(const struct trial *t, const struct result *native,
                          const struct result *scripted)
{
	const struct strings *a = &native->texts, *b = &scripted->texts;
	for (size_t i = 0; i < a->count && i < b->count; i++) {
		if (!strcmp(a->items[i], b->items[i])) continue;
		struct text both = { 0 };
		text_format(&both, "%s\nshould be\n%s", a->items[i],
		            b->items[i]);
		complain(t, "another history", text_get(&both));
	}
	expect_number(t, "histories", a->count, b->count);
	for (uint32_t i = 0; i < LINES; i++) {
		char what[40];
		snprintf(what, sizeof what, "violations, line %u", i);
		expect_number(t, what, native->violations[i],
		              scripted->violations[i]);
	}
	expect_outcomes(t, native, scripted);
	if (native->inside) expect_result(t, native->inside, scripted->inside);
}

/* ---- exploring ---- */

static void explore(const struct program *p, const struct explore_options *o,
                    struct result *r, struct explore_stats *stats);

/* A second exploration at the same time, which needs a worker of its own. */
static void explore_inside(struct result *r)
{
	struct explore_options o = { .level = LEVEL_RA,
		                     .base = LEVEL_RA,
		                     .max_histories = HISTORIES / 10 };
	struct explore_stats stats;
	explore(r->program, &o, r->inside, &stats);
}

static bool collect(void *payload, const struct explore_execution *e)
{
	struct result *r = payload;
	if (r->inside && e->number == 2) explore_inside(r);
	keep_history(r, explore_history(e), explore_outcome(e));
	return true;
}

static void explore(const struct program *p, const struct explore_options *o,
                    struct result *r, struct explore_stats *stats)
{
	struct explore_observer observer = { .payload = r, .history = collect };
	r->program = p;
	struct explorer *e = explorer_new(p, o, &observer);
	explorer_run(e);
	*stats = *explorer_stats(e);
	for (uint32_t i = 0; i < explorer_slot_places(e); i++)
		count_violations(r, i, explorer_violation(e, i)->histories);
	explorer_free(e);
}

static void expect_statistics(const struct trial *t,
                              const struct explore_stats *a,
                              const struct explore_stats *b)
{
	expect_number(t, "stop", a->stop, b->stop);
	expect_number(t, "histories", a->histories, b->histories);
	expect_number(t, "end states allowed", a->end_states - a->filtered,
	              b->end_states - b->filtered);
	expect_number(t, "pruned", a->pruned, b->pruned);
	expect_number(t, "duplicates", a->duplicates, b->duplicates);
	expect_number(t, "unserializable", a->unserializable,
	              b->unserializable);
	for (enum level l = 0; l < LEVEL_COUNT; l++)
		expect_number(t, level_word(l), a->per_level[l],
		              b->per_level[l]);
}

/* How it was explored. What a transaction may read is known of bytecode only
 * (vm/footprint.h), so outwards that is not the same. */
static void expect_search(const struct trial *t, const struct explore_stats *a,
                          const struct explore_stats *b)
{
	expect_number(t, "end states", a->end_states, b->end_states);
	expect_number(t, "blocked", a->blocked, b->blocked);
	expect_number(t, "swaps", a->swaps_taken, b->swaps_taken);
	expect_number(t, "depth", a->depth_max, b->depth_max);
}

static struct result result_new(bool with_inside)
{
	struct result r = { .choose = SIZE_MAX };
	if (!with_inside) return r;
	r.inside = mem_take0(1, sizeof *r.inside);
	r.inside->choose = SIZE_MAX;
	return r;
}

/* A script's sessions are tried in an order that its code tells. */
struct found {
	char *text;
	uint64_t outcome;
};

static int compare_found(const void *a, const void *b)
{
	const struct found *x = a, *y = b;
	return strcmp(x->text, y->text);
}

static void sort_result(struct result *r)
{
	size_t count = r->texts.count;
	struct found *all = mem_take((count + 1) * sizeof *all);
	for (size_t i = 0; i < count; i++)
		all[i] = (struct found){ r->texts.items[i], r->outcomes[i] };
	qsort(all, count, sizeof *all, compare_found);
	for (size_t i = 0; i < count; i++) {
		r->texts.items[i] = all[i].text;
		r->outcomes[i] = all[i].outcome;
	}
	free(all);
}

/* Explores the client and compares. */
static void expect_exploration(struct trial *t, const struct program *p,
                               const struct explore_options *o,
                               const struct result *scripted,
                               const struct explore_stats *expected)
{
	struct result native = result_new(scripted->inside);
	struct explore_stats stats;
	bool orderly = o->algorithm == EXPLORE_ORDERLY;
	/* Only of a script it is known that it has one level, and then a dead
	 * end is seen sooner. */
	bool sooner =
		o->algorithm == EXPLORE_DFS && !level_is_extensible(o->level);
	explore(p, o, &native, &stats);
	if (orderly) sort_result(&native);
	if (orderly && stats.stop) {
		expect_number(t, "stop", stats.stop, expected->stop);
	} else {
		expect_result(t, &native, scripted);
		expect_statistics(t, &stats, expected);
	}
	/* Only of a script it is known what a session can read first. */
	if (!orderly && !sooner) expect_search(t, &stats, expected);
	result_free(&native);
	if (program_fault(p)) complain(t, "a fault", NULL);
}

/* The client without memory does it, too, if there is not much to do. */
static void compare(struct trial *t, const char *what, struct explore_options o)
{
	struct result scripted = result_new(t->seed % 4 == o.level);
	struct explore_stats expected;
	if (!o.max_histories) o.max_histories = HISTORIES;
	o.robust = o.classify = true;
	t->what = what;
	t->level = o.level;
	explore(t->scripted, &o, &scripted, &expected);
	if (o.algorithm == EXPLORE_ORDERLY) sort_result(&scripted);
	t->with = "client";
	expect_exploration(t, t->native, &o, &scripted, &expected);
	t->with = "forgetful client";
	if (t->forgetful && expected.explore_calls < CALLS)
		expect_exploration(t, t->forgetful, &o, &scripted, &expected);
	result_free(&scripted);
}

static void compare_level(struct trial *t, enum level l)
{
	struct explore_options o = { .level = l,
		                     .base = l,
		                     .check_duplicates = true };
	o.base = level_base(l);
	/* The end states of rc may be millions, few of them prc's. */
	if (level_has_statements(l)) {
		o.algorithm = EXPLORE_ORDERLY;
		o.base = l;
		o.max_changes = UINT64_MAX;
	}
	compare(t, "explore", o);
}

static void compare_baseline(struct trial *t, struct rng *rng)
{
	enum level l = (enum level)rng_below(rng, LEVEL_COUNT);
	compare(t, "dfs",
	        (struct explore_options){
			.algorithm = EXPLORE_DFS, .level = l, .base = l });
}

/* Sessions are left in the middle. */
static void compare_beginning(struct trial *t, struct rng *rng)
{
	compare(t, "begin to explore",
	        (struct explore_options){ .level = LEVEL_NONE,
	                                  .base = LEVEL_NONE,
	                                  .max_histories =
	                                          1 + rng_below(rng, 3) });
}

/* ---- the sessions in another order ---- */

static struct program *reordered(const struct program *p, const uint32_t *order)
{
	return p ? program_reordered(p, order) : NULL;
}

static void compare_reordered(const struct trial *t, struct rng *rng)
{
	uint32_t n = program_session_count(t->scripted), order[8];
	uint32_t movable = n - program_has_finally(t->scripted);
	struct trial other = *t;
	for (uint32_t i = 0; i < n; i++) order[i] = i;
	for (uint32_t i = movable; i > 1; i--) {
		uint32_t j = rng_below(rng, i), session = order[j];
		order[j] = order[i - 1];
		order[i - 1] = session;
	}
	other.scripted = reordered(t->scripted, order);
	other.native = reordered(t->native, order);
	other.forgetful = reordered(t->forgetful, order);
	compare(&other, "explore reordered",
	        (struct explore_options){ .level = LEVEL_CC,
	                                  .base = LEVEL_CC });
	program_free(other.scripted);
	program_free(other.native);
	program_free(other.forgetful);
}

/* ---- exploring outwards from some history ---- */

/* History number `choose` of those under cc, as the program names its keys. */
static struct observed_reads *
observed_of(const struct trial *t, const struct program *p, size_t choose)
{
	struct explore_options o = { .level = LEVEL_CC,
		                     .base = LEVEL_CC,
		                     .max_histories = choose + 1 };
	struct result r = { .choose = choose };
	struct explore_stats stats;
	struct diags d = { 0 };
	explore(p, &o, &r, &stats);
	struct trace *trace = trace_of_history(r.chosen, "observed");
	struct observed_reads *observed = observed_reads_new(p, trace, &d);
	if (!observed) complain(t, "nothing observed", diags_to_text(&d));
	diags_free(&d);
	trace_free(trace);
	result_free(&r);
	return observed;
}

static void explore_outward(const struct trial *t, const struct program *p,
                            size_t choose, struct result *r,
                            struct explore_stats *stats)
{
	struct observed_reads *observed = observed_of(t, p, choose);
	struct explore_options o = { .algorithm = EXPLORE_OUTWARD,
		                     .level = t->level,
		                     .observed = observed,
		                     .max_changes = UINT64_MAX,
		                     .max_histories = HISTORIES };
	r->choose = SIZE_MAX;
	explore(p, &o, r, stats);
	observed_reads_free(observed);
}

static void compare_outward(struct trial *t, struct rng *rng)
{
	uint32_t count = t->histories;
	struct result scripted = { 0 }, native = { 0 };
	struct explore_stats expected, stats;
	if (count == HISTORIES) return;
	size_t choose = rng_below(rng, count);
	t->what = "explore outwards";
	t->with = "client";
	t->level = (enum level)rng_below(rng, LEVEL_COUNT);
	explore_outward(t, t->scripted, choose, &scripted, &expected);
	explore_outward(t, t->native, choose, &native, &stats);
	expect_result(t, &native, &scripted);
	expect_statistics(t, &stats, &expected);
	/* Behind the last history there may be a round more, in vain. */
	if (expected.stop || stats.changes < expected.changes)
		expect_number(t, "changes", stats.changes, expected.changes);
	result_free(&scripted);
	result_free(&native);
}

/* ---- random runs ---- */

static bool collect_run(void *payload, const struct campaign_run *run)
{
	struct result *r = payload;
	keep_history(r, runner_history(run->runner),
	             runner_outcome(run->runner));
	for (uint32_t i = 0; i < run->violated_count; i++)
		count_violations(r, run->violated[i], 1);
	return true;
}

struct runs {
	struct campaign_stats stats;
	struct coverage coverage;
};

static struct runs run_randomly(const struct program *p,
                                const struct campaign_options *o,
                                struct result *r)
{
	struct campaign_observer observer = { .payload = r,
		                              .run = collect_run };
	struct budget limits = { .max_histories = HISTORIES };
	struct runs runs;
	r->program = p;
	r->choose = SIZE_MAX;
	struct campaign *c = campaign_new(p, o, &observer);
	campaign_start(c);
	runs.stats = *campaign_stats(c);
	campaign_coverage(c, &limits, 1, &runs.coverage);
	campaign_free(c);
	return runs;
}

static void expect_runs(const struct trial *t, const struct runs *a,
                        const struct runs *b)
{
	const struct campaign_stats *x = &a->stats, *y = &b->stats;
	expect_number(t, "runs", x->runs, y->runs);
	expect_number(t, "pruned", x->pruned, y->pruned);
	expect_number(t, "violating", x->violating, y->violating);
	expect_number(t, "unserializable", x->unserializable,
	              y->unserializable);
	expect_number(t, "distinct histories", x->histories, y->histories);
	expect_number(t, "distinct outcomes", x->outcomes, y->outcomes);
	expect_number(t, "reads", x->reads, y->reads);
	expect_number(t, "end", x->stop, y->stop);
	expect_number(t, "all histories", a->coverage.histories,
	              b->coverage.histories);
	expect_number(t, "all outcomes", a->coverage.outcomes,
	              b->coverage.outcomes);
	expect_number(t, "seen histories", a->coverage.seen_histories,
	              b->coverage.seen_histories);
	expect_number(t, "seen outcomes", a->coverage.seen_outcomes,
	              b->coverage.seen_outcomes);
}

static void compare_runs(struct trial *t, struct rng *rng)
{
	struct campaign_options o = { .runs = RUNS,
		                      .seed = t->seed,
		                      .robust = true };
	struct result scripted = { 0 }, native = { 0 };
	o.policy.kind = (enum policy_kind)rng_below(rng, POLICY_COUNT);
	o.policy.weak = 1;
	o.level = t->level = (enum level)rng_below(rng, LEVEL_COUNT);
	t->what = "run";
	t->with = policy_word(o.policy.kind);
	struct runs expected = run_randomly(t->scripted, &o, &scripted);
	struct runs runs = run_randomly(t->native, &o, &native);
	expect_result(t, &native, &scripted);
	expect_runs(t, &runs, &expected);
	result_free(&scripted);
	result_free(&native);
}

/* ---- programs ---- */

static struct program *load(const struct trial *t, bool as_client)
{
	struct diags d = { 0 };
	struct program *p = as_client ? load_program(client, &d)
	                              : load_program(t->path, &d);
	if (!p || d.errors)
		ck_abort_msg("seed %llu does not load: %s\n%s",
		             (unsigned long long)t->seed, diags_to_text(&d),
		             text_get(&t->source));
	diags_free(&d);
	return p;
}

/* The client reads the program whenever a worker begins. */
static void write_program(struct trial *t)
{
	snprintf(t->path, sizeof t->path, "%s/%u.tx", folder.path,
	         (unsigned)getpid());
	FILE *file = fopen(t->path, "w");
	ck_assert_ptr_nonnull(file);
	fputs(text_get(&t->source), file);
	fclose(file);
	setenv("INTERPRETED", t->path, 1);
}

static uint32_t count_histories(const struct program *p)
{
	struct explore_options o = { .level = LEVEL_CC,
		                     .base = LEVEL_CC,
		                     .max_histories = HISTORIES };
	struct explorer *e = explorer_new(p, &o, NULL);
	explorer_run(e);
	uint32_t n = (uint32_t)explorer_stats(e)->histories;
	explorer_free(e);
	return n;
}

/* Everything, in any order: what comes first has to ask the client, and what
 * comes later knows part of it. */
static void compare_all(struct trial *t, struct rng *rng)
{
	enum {
		BEGINNING = LEVEL_COUNT,
		BASELINE,
		REORDERED,
		OUTWARD,
		RANDOMLY,
		TASKS
	};
	uint32_t tasks[TASKS];
	/* Where assumptions never hold, no number of histories is an end, and
	 * the weakest levels have millions of executions. */
	t->histories = count_histories(t->scripted);
	if (!t->histories) {
		compare_level(t, LEVEL_CC);
		return;
	}
	for (uint32_t i = 0; i < TASKS; i++) {
		uint32_t j = rng_below(rng, i + 1);
		tasks[i] = tasks[j];
		tasks[j] = i;
	}
	for (uint32_t i = 0; i < TASKS; i++) switch (tasks[i]) {
		case BEGINNING: compare_beginning(t, rng); break;
		case BASELINE: compare_baseline(t, rng); break;
		case REORDERED: compare_reordered(t, rng); break;
		case OUTWARD: compare_outward(t, rng); break;
		case RANDOMLY: compare_runs(t, rng); break;
		default: compare_level(t, (enum level)tasks[i]); break;
		}
}

static void try_program(uint64_t seed)
{
	struct trial t = { .seed = seed };
	struct rng rng = { seed };
	if (seed % 4 == 3)
		random_locking_program(&t.source, seed);
	else
		random_client(&t.source, seed);
	write_program(&t);
	t.scripted = load(&t, false);
	t.native = load(&t, true);
	if (!rng_below(&rng, 4)) {
		t.forgetful = load(&t, true);
		library_set_budget(t.forgetful, rng_below(&rng, BUDGET));
	}
	ck_assert_uint_eq(program_session_count(t.native),
	                  program_session_count(t.scripted));
	compare_all(&t, &rng);
	program_free(t.forgetful);
	program_free(t.native);
	program_free(t.scripted);
	unlink(t.path);
	text_free(&t.source);
}

START_TEST(random_programs)
{
	uint64_t share = programs_or(PROGRAMS);
	uint64_t seed = first_seed();
	if (share >= PROCESSES) {
		share = (share + PROCESSES - 1) / PROCESSES;
		seed += (uint64_t)_i * 1000000;
	} else if (_i) {
		share = 0; /* few: exactly these seeds, in the first process */
	}
	for (uint64_t i = 0; !no_compiler && i < share; i++)
		try_program(seed + i);
}
END_TEST

/* ---- deciding ---- */

/* What is asserted, by its line in the program. */
static enum verdict verdict_at(const struct decision *d, uint32_t line)
{
	const struct program *p = d->program;
	for (uint32_t i = 0; i < d->goal_count; i++) {
		const struct decide_goal *g = &d->goals[i];
		if (g->slot < program_assertion_count(p) &&
		    line_of(p, g->slot) == line)
			return g->verdict;
	}
	return VERDICT_INCONCLUSIVE;
}

static uint32_t errors_of(const struct decision *d)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < d->goal_count; i++)
		count +=
			d->goals[i].slot == program_assertion_count(d->program);
	return count;
}

static void compare_answers(const struct trial *t,
                            const struct decision *scripted,
                            const struct decision *native)
{
	expect_number(t, "obstacles", native->obstacle != NULL,
	              scripted->obstacle != NULL);
	expect_number(t, "refuted", native->refuted, false);
	if (scripted->complete && native->complete) {
		if (native->options.apart)
			expect_number(t, "runs", native->runs, scripted->runs);
		expect_number(t, "whether there are errors",
		              errors_of(native) > 0, errors_of(scripted) > 0);
	}
	/* Final assertions in C are looked for history by history. */
	for (uint32_t line = 2; line < LINES && !scripted->obstacle; line++)
		if (verdict_at(native, line) != VERDICT_INCONCLUSIVE)
			expect_number(t, "a verdict", verdict_at(native, line),
			              verdict_at(scripted, line));
}

/* Sessions in C have the same runs, at any place of the same levels. Of the few
 * programs about which a question is too hard nothing is compared. */
static void compare_decided(struct trial *t, enum level l)
{
	struct decision scripted, native;
	/* In C runs never come together. */
	struct decide_options o = { .level = l,
		                    .apart = t->seed & 1,
		                    .timeout = 20 };
	t->what = "decide";
	t->with = "";
	t->level = l;
	if (decide_obstacle(t->scripted, l)) return;
	decide(&scripted, t->scripted, &o);
	decide(&native, t->native, &o);
	if (scripted.stop == STOP_NONE && native.stop == STOP_NONE)
		compare_answers(t, &scripted, &native);
	decision_free(&scripted);
	decision_free(&native);
}

static void try_deciding(uint64_t seed)
{
	struct trial t = { .seed = seed };
	struct rng rng = { seed };
	struct text plain = { 0 };
	if (seed % 4 == 3)
		random_locking_program(&plain, seed);
	else
		random_client(&plain, seed);
	if (seed % 3)
		random_mix(&t.source, text_get(&plain), &rng, level_mixes,
		           false);
	else
		text_string(&t.source, text_get(&plain));
	write_program(&t);
	t.scripted = load(&t, false);
	t.native = load(&t, true);
	compare_decided(&t, (enum level)rng_below(&rng, LEVEL_COUNT));
	program_free(t.native);
	program_free(t.scripted);
	unlink(t.path);
	text_free(&plain);
	text_free(&t.source);
}

START_TEST(random_decisions)
{
	uint64_t count = programs_or(PROGRAMS) / PROCESSES + 1;
	uint64_t seed = first_seed() + (uint64_t)_i * 1000000;
	for (uint64_t i = 0; !no_compiler && i < count; i++)
		try_deciding(seed + i);
}
END_TEST

void add_native_random_tests(TCase *tests)
{
	tcase_add_unchecked_fixture(tests, compile_interpreter,
	                            remove_interpreter);
	tcase_add_loop_test(tests, random_programs, 0, PROCESSES);
	tcase_add_loop_test(tests, random_decisions, 0, PROCESSES);
}
