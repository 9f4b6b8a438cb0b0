/* pc, psi, si and ser on large histories, each stage against the kernels of
 * small ones. */
#include <stdlib.h>
#include <string.h>

#include "axioms/allows.h"
#include "base/memory.h"
#include "check/strong.h"
#include "generate/workload.h"
#include "suites.h"
#include "support.h"

enum { RUNS = 10, HISTORIES = 5000 }; /* over all runs */

static const enum level levels[] = { LEVEL_PC, LEVEL_PSI, LEVEL_SI, LEVEL_SER };
enum { LEVELS = sizeof levels / sizeof *levels };

static unsigned histories_per_run(void)
{
	unsigned all = (unsigned)programs_or(HISTORIES);
	return all < 30 * RUNS ? 30 : all / RUNS;
}

/* Small and often in violation of cc already. */
static struct history *random_small(struct rng *r)
{
	return history_random(
		r, (struct history_shape){ .sessions = 2 + rng_below(r, 5),
	                                   .transactions = 4 + rng_below(r, 5),
	                                   .events = 2 + rng_below(r, 3),
	                                   .keys = 1 + rng_below(r, 4),
	                                   .causal = rng_below(r, 2) });
}

/* What a store gives that keeps some level from cc on: near the borders of the
 * levels above it. */
static struct history *random_run(struct rng *r)
{
	static const enum level kept[] = { LEVEL_CC, LEVEL_PC, LEVEL_PSI,
		                           LEVEL_SI, LEVEL_SER };
	struct workload w = workload_default();
	struct diags d = { 0 };
	w.ops = 12 + rng_below(r, 70);
	w.sessions = 2 + rng_below(r, 8);
	w.length = 1 + rng_below(r, 4);
	w.keys = 1 + rng_below(r, 6);
	w.reads = 0.2 + 0.1 * rng_below(r, 6);
	w.level = kept[rng_below(r, 5)];
	w.lag = 1 + rng_below(r, 12);
	w.seed = rng_next(r);
	struct trace *t = workload_run(&w, &d);
	ck_assert_msg(t, "%s", d.count ? d.items[0].message : "no trace");
	struct history *h = trace_history(t, NULL, NULL);
	ck_assert_uint_eq(d.errors, 0);
	trace_free(t);
	diags_free(&d);
	return h;
}

static struct history *random_history(struct rng *r)
{
	struct history *h;
	do {
		h = rng_below(r, 3) ? random_run(r) : random_small(r);
		if (h->transaction_count <= CHECK_SMALL) break;
		history_free(h);
	} while (true);
	if (rng_below(r, 4) == 0) history_tell_orders(r, h, 20);
	return h;
}

/* ---- What a commit order has to meet, by definition ---- */

struct placed {
	const struct facts *f;
	uint32_t *place; /* in the order, by transaction */
	bool *sees;      /* n x n: psi, (so U wr U ww)+ */
};

static bool reads_from(const struct facts *f, uint32_t t, uint32_t from)
{
	for (uint32_t i = f->read_first[t]; i < f->read_first[t + 1]; i++)
		if (f->reads[i].from == from) return true;
	return false;
}

static bool common_key(const struct facts *f, uint32_t a, uint32_t b)
{
	for (uint32_t i = f->write_first[a]; i < f->write_first[a + 1]; i++)
		if (facts_writes(f, b, f->writes[i])) return true;
	return false;
}

static void close_sees(struct placed *p)
{
	const struct facts *f = p->f;
	uint32_t n = f->n;
	for (uint32_t a = 0; a < n; a++)
		for (uint32_t b = 0; b < n; b++)
			p->sees[a * n + b] = facts_so(f, a, b) ||
			                     reads_from(f, b, a) ||
			                     (a && b && a != b &&
			                      p->place[a] < p->place[b] &&
			                      common_key(f, a, b));
	for (uint32_t k = 0; k < n; k++)
		for (uint32_t a = 0; a < n; a++)
			for (uint32_t b = 0; b < n; b++)
				p->sees[a * n + b] |= p->sees[a * n + k] &&
				                      p->sees[k * n + b];
}

/* Is t2 to be seen by t3, so that what t3 reads must not be older? */
static bool premise(const struct placed *p, enum level l, uint32_t t2,
                    uint32_t t3)
{
	const struct facts *f = p->f;
	if (l == LEVEL_SER) return p->place[t2] < p->place[t3];
	if (l == LEVEL_PSI) return p->sees[t2 * f->n + t3];
	for (uint32_t u = 0; u < f->n; u++) {
		if (p->place[t2] > p->place[u]) continue;
		if (facts_so(f, u, t3) || reads_from(f, t3, u)) return true;
		if (l == LEVEL_SI && u && p->place[u] < p->place[t3] &&
		    common_key(f, u, t3))
			return true;
	}
	return false;
}

static void order_is_right(const struct facts *f, enum level l,
                           const uint32_t *order)
{
	uint32_t n = f->n;
	struct placed p = { f, mem_take(n * sizeof(uint32_t)),
		            mem_take0((size_t)n * n, sizeof(bool)) };
	memset(p.place, 0xff, n * sizeof *p.place);
	for (uint32_t i = 0; i < n; i++) {
		ck_assert_uint_lt(order[i], n);
		ck_assert_uint_eq(p.place[order[i]], UINT32_MAX);
		p.place[order[i]] = i;
	}
	if (l == LEVEL_PSI) close_sees(&p);
	for (uint32_t i = 0; i < f->known_count; i++)
		ck_assert(p.place[f->known[i].from] < p.place[f->known[i].to]);
	for (uint32_t t = 0; t < n; t++) {
		for (uint32_t u = 0; u < n; u++)
			if (facts_so(f, u, t) || reads_from(f, t, u))
				ck_assert_uint_lt(p.place[u], p.place[t]);
		for (uint32_t i = f->read_first[t]; i < f->read_first[t + 1];
		     i++) {
			struct facts_read read = f->reads[i];
			for (uint32_t w = 1; w < n; w++)
				if (w != t && w != read.from &&
				    facts_writes(f, w, read.key) &&
				    premise(&p, l, w, t))
					ck_assert_uint_lt(p.place[w],
					                  p.place[read.from]);
		}
	}
	free(p.place);
	free(p.sees);
}

/* ---- A part of a history ---- */

/* The history of these transactions only, as facts (events stay in `h`). */
static bool part_allows(const struct history *h, enum level l,
                        const struct check_result *r)
{
	struct trace *t = trace_of_history(h, "part");
	struct trace_part part = { .transactions = r->core,
		                   .count = r->core_count };
	struct history *rest = trace_history(t, &part, NULL);
	bool allowed = level_allows_history(l, rest);
	history_free(rest);
	trace_free(t);
	return allowed;
}

static void compare(const struct history *h, enum level l,
                    struct check_clock *clock)
{
	struct facts *f = facts_of_history(h);
	struct check_result r, small;
	check_strong(f, l, clock, &r);
	check_small(f, l, &small);
	if (r.verdict != small.verdict)
		ck_abort_msg("%s under %s: %d, not %d", history_to_notation(h),
		             level_word(l), r.verdict, small.verdict);
	if (r.verdict == VERDICT_HOLDS)
		order_is_right(f, l, r.order);
	else if (part_allows(h, l, &r))
		ck_abort_msg("%s under %s: the core does not suffice",
		             history_to_notation(h), level_word(l));
	check_result_free(&r);
	check_result_free(&small);
	facts_free(f);
}

START_TEST(random_histories)
{
	struct rng r = { first_seed() * 7000 + (uint64_t)_i };
	struct check_limits none = { 0 };
	struct check_clock *clock = check_clock_new(&none);
	for (unsigned i = histories_per_run(); i > 0; i--) {
		struct history *h = random_history(&r);
		for (int k = 0; k < LEVELS; k++) compare(h, levels[k], clock);
		history_free(h);
	}
	check_clock_free(clock);
}
END_TEST

/* ---- Each stage alone ---- */

enum stage { STAGE_GUESS, STAGE_SOLVE, STAGES };

struct tally {
	unsigned yes, no, open;
};

static enum strong_answer run_stage(enum stage stage, struct strong *s,
                                    bool *core, uint32_t *order)
{
	enum strong_answer answer =
		stage == STAGE_GUESS ? guess(s) : solve(s, core);
	if (answer == ANSWER_YES) {
		reach_sort(s);
		strong_order(s, order);
	}
	return answer;
}

static void try_stage(enum stage stage, const struct history *h, enum level l,
                      struct check_clock *clock, struct tally *tally)
{
	struct facts *f = facts_of_history(h);
	struct strong s;
	bool *core = mem_take0(f->n, sizeof *core);
	uint32_t *order = mem_take(f->n * sizeof *order);
	struct check_result small;
	check_small(f, l, &small);
	ck_assert(strong_init(&s, f, l, clock));
	if (saturate(&s)) {
		enum strong_answer a = run_stage(stage, &s, core, order);
		ck_assert(a != ANSWER_NO || small.verdict == VERDICT_VIOLATED);
		ck_assert(a != ANSWER_YES || small.verdict == VERDICT_HOLDS);
		ck_assert(a != ANSWER_OPEN || stage != STAGE_SOLVE);
		ck_assert(a != ANSWER_NO || stage == STAGE_SOLVE);
		if (a == ANSWER_YES) order_is_right(f, l, order);
		tally->yes += a == ANSWER_YES;
		tally->no += a == ANSWER_NO;
		tally->open += a == ANSWER_OPEN;
	} else {
		ck_assert_int_eq(small.verdict, VERDICT_VIOLATED);
	}
	strong_free(&s);
	check_result_free(&small);
	free(core);
	free(order);
	facts_free(f);
}

/* The stages agree with the kernels; guessing is seldom at a loss, and what it
 * leaves open the search decides. */
START_TEST(stages)
{
	struct rng r = { first_seed() * 8000 + (uint64_t)_i };
	struct check_limits none = { 0 };
	struct check_clock *clock = check_clock_new(&none);
	struct tally tally[STAGES] = { 0 };
	for (unsigned i = histories_per_run(); i > 0; i--) {
		struct history *h = random_history(&r);
		for (int k = 0; k < LEVELS; k++)
			for (enum stage stage = 0; stage < STAGES; stage++)
				try_stage(stage, h, levels[k], clock,
				          &tally[stage]);
		history_free(h);
	}
	for (enum stage stage = 0; stage < STAGES; stage++)
		ck_assert_uint_gt(tally[stage].yes, histories_per_run() / 10);
	ck_assert_uint_lt(tally[STAGE_GUESS].open, histories_per_run() / 10);
	check_clock_free(clock);
}
END_TEST

/* Is the history refused by the search, for want of a contradiction before any
 * choice? Then what it names suffices. */
static bool search_refuses(const struct history *h, enum level l,
                           struct check_clock *clock)
{
	struct facts *f = facts_of_history(h);
	struct check_result r;
	struct strong s;
	bool refused = false;
	if (strong_init(&s, f, l, clock) && saturate(&s)) {
		check_strong(f, l, clock, &r);
		refused = r.verdict == VERDICT_VIOLATED;
		if (refused) ck_assert(!part_allows(h, l, &r));
		check_result_free(&r);
	}
	strong_free(&s);
	facts_free(f);
	return refused;
}

/* Such histories are rare. */
START_TEST(search_is_needed)
{
	enum { WANTED = 5, TRIES = 50000 };
	struct rng r = { first_seed() * 9000 };
	struct check_limits none = { 0 };
	struct check_clock *clock = check_clock_new(&none);
	int found = 0;
	for (int i = 0; i < TRIES && found < WANTED; i++) {
		struct history *h = random_history(&r);
		for (int k = 0; k < LEVELS; k++)
			found += search_refuses(h, levels[k], clock);
		history_free(h);
	}
	ck_assert_int_ge(found, WANTED);
	check_clock_free(clock);
}
END_TEST

/* A transaction each session: rows of a closure by sessions would not fit. */
START_TEST(many_sessions)
{
	struct check_limits little = { .memory = 8 << 20 };
	struct workload w = workload_default();
	struct check_clock *clock = check_clock_new(&little);
	struct diags d = { 0 };
	w.sessions = 1000;
	w.ops = 2 * w.sessions;
	w.length = 2;
	w.keys = 10;
	w.level = LEVEL_SER;
	w.seed = first_seed();
	struct trace *t = workload_run(&w, &d);
	ck_assert(t);
	struct facts *f = facts_of_trace(t);
	for (int k = 0; k < LEVELS; k++) {
		struct check_result r;
		check_strong(f, levels[k], clock, &r);
		ck_assert_msg(r.verdict == VERDICT_HOLDS, "%s: %s",
		              level_word(levels[k]), r.reason);
		check_result_free(&r);
	}
	facts_free(f);
	trace_free(t);
	diags_free(&d);
	check_clock_free(clock);
}
END_TEST

void add_check_strong_tests(TCase *tests)
{
	tcase_add_test(tests, many_sessions);
	tcase_add_test(tests, search_is_needed);
	tcase_add_loop_test(tests, random_histories, 0, RUNS);
	tcase_add_loop_test(tests, stages, 0, RUNS);
}
