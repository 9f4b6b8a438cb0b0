/* rc, ra and cc for histories of any size, against the kernels of small ones;
 * commit orders and cores against the definitions. */
#include <stdlib.h>
#include <string.h>

#include "axioms/allows.h"
#include "base/memory.h"
#include "check/check.h"
#include "check/path_cover.h"
#include "check/graph.h"
#include "generate/workload.h"
#include "history/relation.h"
#include "suites.h"
#include "support.h"

enum { RUNS = 10, HISTORIES = 2500 }; /* histories per run */

/* ---- Random histories ---- */

static bool is_writer(const struct history *h, uint32_t t, uint32_t key)
{
	const struct transaction *w = &h->transactions[t];
	for (uint32_t i = 0; i < w->event_count; i++)
		if (w->events[i].kind == EVENT_WRITE && w->events[i].key == key)
			return !w->aborted;
	return false;
}

/* Tells the order of some writers, mostly as they come in h->order. */
static void tell_orders(struct rng *r, struct history *h)
{
	uint32_t most = 1 + rng_below(r, 8);
	h->known = region_take(&h->region, most * sizeof *h->known);
	for (uint32_t k = 0; k < 40 && h->known_count < most; k++) {
		uint32_t x = rng_below(r, h->key_count);
		uint32_t i = rng_below(r, h->transaction_count);
		uint32_t j = rng_below(r, h->transaction_count);
		if (i == j) continue;
		if (i > j && rng_below(r, 4)) continue;
		uint32_t a = h->order[i], b = h->order[j];
		if (is_writer(h, a, x) && is_writer(h, b, x))
			h->known[h->known_count++] =
				(struct history_known){ a, b, x };
	}
}

/* Some reads now read from another writer. */
static void disturb(struct rng *r, struct history *h)
{
	uint32_t times = rng_below(r, 4);
	for (uint32_t k = 0; k < times; k++) {
		uint32_t t = rng_below(r, h->transaction_count);
		uint32_t from = rng_below(r, h->transaction_count);
		struct transaction *w = &h->transactions[t];
		if (from == t || !w->event_count) continue;
		struct event *e = &w->events[rng_below(r, w->event_count)];
		if (e->kind == EVENT_READ && e->from != HISTORY_SELF &&
		    is_writer(h, from, e->key))
			e->from = from;
	}
	history_find_order(h);
}

static struct history *small_history(struct rng *r)
{
	struct history_shape shape = { .sessions = 2 + rng_below(r, 8),
		                       .transactions = 3 + rng_below(r, 10),
		                       .events = 2 + rng_below(r, 4),
		                       .keys = 1 + rng_below(r, 4),
		                       .causal = rng_below(r, 4) > 0 };
	struct history *h = history_random(r, shape);
	if (rng_below(r, 3) == 0) tell_orders(r, h);
	if (rng_below(r, 10) == 0) disturb(r, h);
	return h;
}

/* Up to some 200 transactions, sessions few or many, from a store. */
static struct history *large_history(struct rng *r)
{
	static const enum level stores[] = { LEVEL_RC, LEVEL_RA, LEVEL_CC,
		                             LEVEL_SI, LEVEL_SER };
	struct workload w = workload_default();
	struct diags d = { 0 };
	w.ops = 20 + rng_below(r, 600);
	w.sessions = 1 + rng_below(r, rng_below(r, 2) ? 200 : 8);
	w.length = 1 + rng_below(r, 6);
	w.keys = 1 + rng_below(r, 12);
	w.reads = 0.3 + 0.1 * rng_below(r, 6);
	w.level = stores[rng_below(r, 5)];
	w.lag = rng_below(r, 12);
	w.aborts = rng_below(r, 3) ? 0 : 0.1;
	w.seed = rng_next(r);
	struct trace *t = workload_run(&w, &d);
	ck_assert_ptr_nonnull(t);
	struct history *h = trace_history(t, NULL, NULL);
	trace_free(t);
	diags_free(&d);
	if (rng_below(r, 3) == 0) tell_orders(r, h);
	disturb(r, h);
	return h;
}

/* ---- A commit order, by definition ---- */

static bool must_see(const struct relation *r, enum level l, uint32_t i,
                     uint32_t t2)
{
	uint32_t t3 = r->reads[i].reader;
	if (l == LEVEL_RA) return bits_has(r->direct + t3 * r->words, t2);
	if (l == LEVEL_CC) return bits_has(r->past + t3 * r->words, t2);
	while (i-- > 0 && r->reads[i].reader == t3)
		if (r->reads[i].source == t2) return true;
	return false;
}

/* An assertion writes to a file; so many are too slow. */
static void in_order(const uint32_t *place, uint32_t a, uint32_t b)
{
	if (place[a] >= place[b]) ck_abort_msg("%u has to precede %u", a, b);
}

static void reads_are_right(const struct relation *r, enum level l,
                            const uint32_t *place)
{
	for (uint32_t i = 0; i < r->read_count; i++) {
		struct relation_read a = r->reads[i];
		const word *writers = r->writers + a.key * r->words;
		BITS_EACH(t2, writers, r->words)
			if (t2 != a.source && must_see(r, l, i, t2))
				in_order(place, t2, a.source);
	}
}

static void order_is_right(const struct history *h, enum level l,
                           const uint32_t *order)
{
	struct relation *r = relation_of_history(h);
	uint32_t *place = mem_take(r->n * sizeof *place);
	memset(place, 0xff, r->n * sizeof *place);
	ck_assert_uint_eq(order[0], HISTORY_INIT);
	for (uint32_t i = 0; i < r->n; i++) {
		if (order[i] >= r->n || place[order[i]] != UINT32_MAX)
			ck_abort_msg("no order of all transactions");
		place[order[i]] = i;
	}
	for (uint32_t t = 0; t < r->n; t++)
		BITS_EACH(u, r->direct + t * r->words, r->words)
			in_order(place, u, t);
	for (uint32_t i = 0; i < h->known_count && l != LEVEL_NONE; i++)
		in_order(place, h->known[i].from, h->known[i].to);
	if (l != LEVEL_NONE) reads_are_right(r, l, place);
	free(place);
	relation_free(r);
}

/* ---- A core ---- */

static void core_is_right(const struct history *h, enum level l,
                          const struct check_result *r)
{
	struct trace *t = trace_of_history(h, "core");
	struct trace_part part = { .transactions = r->core,
		                   .count = r->core_count };
	ck_assert_uint_gt(r->core_count, 1);
	for (uint32_t i = 0; i < r->core_count; i++) {
		ck_assert_uint_lt(i ? r->core[i - 1] : 0, r->core[i]);
		ck_assert_uint_lt(r->core[i], h->transaction_count);
	}
	struct history *core = trace_history(t, &part, NULL);
	ck_assert_uint_eq(core->transaction_count, r->core_count + 1);
	if (level_allows_history(l, core))
		ck_abort_msg("the core does not suffice: %s under %s",
		             history_to_notation(h), level_word(l));
	history_free(core);
	trace_free(t);
}

/* ---- Tests ---- */

static void decide(const struct history *h, enum level l,
                   struct check_result *r)
{
	struct check_clock *clock =
		check_clock_new(&(struct check_limits){ 0 });
	struct facts *f = facts_of_history(h);
	check_weak(f, l, clock, r);
	facts_free(f);
	check_clock_free(clock);
}

static bool holds(const struct history *h, enum level l)
{
	struct check_result r;
	bool allowed = level_allows_history(l, h);
	decide(h, l, &r);
	if (r.verdict != (allowed ? VERDICT_HOLDS : VERDICT_VIOLATED))
		ck_abort_msg("%s: %s should be %s", history_to_notation(h),
		             level_word(l), allowed ? "allowed" : "forbidden");
	if (allowed)
		order_is_right(h, l, r.order);
	else
		core_is_right(h, l, &r);
	check_result_free(&r);
	return allowed;
}

/* Each level has to hold often and to fail often, or the generator is dull. */
static void compare(struct history *(*make)(struct rng *), uint64_t seed,
                    int histories)
{
	struct rng r = { seed };
	int seen[LEVEL_CC + 1] = { 0 };
	for (int i = 0; i < histories; i++) {
		struct history *h = make(&r);
		for (enum level l = 0; l <= LEVEL_CC; l++)
			seen[l] += holds(h, l);
		history_free(h);
	}
	for (enum level l = LEVEL_RC; l <= LEVEL_CC; l++) {
		if (histories >= 100) ck_assert_int_gt(seen[l], histories / 10);
		if (histories >= 1000) ck_assert_int_lt(seen[l], seen[l - 1]);
	}
}

START_TEST(small_histories)
{
	compare(small_history, first_seed() * 8000 + (uint64_t)_i,
	        fewer(HISTORIES));
}
END_TEST

START_TEST(large_histories)
{
	compare(large_history, first_seed() * 8100 + (uint64_t)_i,
	        fewer(HISTORIES) / 20);
}
END_TEST

/* Many sessions, so several blocks of columns. */
static struct history *padded_history(struct rng *r)
{
	struct history *h = small_history(r);
	h->known_count = 0;
	struct history *p = history_padded(h, 57 + rng_below(r, 150));
	history_free(h);
	return p;
}

START_TEST(padded_histories)
{
	compare(padded_history, first_seed() * 8200 + (uint64_t)_i,
	        fewer(HISTORIES) / 20);
}
END_TEST

/* Where sessions are many and short, paths along reads are fewer. */
START_TEST(paths)
{
	struct workload w = workload_default();
	struct diags d = { 0 };
	struct path_cover c;
	w.ops = 20000;
	w.sessions = 2000;
	w.length = 10;
	w.keys = 1;
	w.level = LEVEL_SER;
	struct trace *t = workload_run(&w, &d);
	struct facts *f = facts_of_trace(t);
	path_cover_init(&c, f, 2000);
	ck_assert_uint_eq(c.count, 2000);
	path_cover_free(&c);
	path_cover_init(&c, f, 64);
	ck_assert_uint_lt(c.count, 1500);
	for (uint32_t p = 0; p < c.count; p++)
		for (uint32_t i = 1; i < path_cover_length(&c, p); i++)
			ck_assert_uint_lt(f->rank[path_cover_at(&c, p, i)],
			                  f->rank[path_cover_at(&c, p, i + 1)]);
	path_cover_free(&c);
	facts_free(f);
	trace_free(t);
	diags_free(&d);
}
END_TEST

struct patience {
	uint32_t left;
};

static bool loses_patience(void *data)
{
	struct patience *p = data;
	if (!p->left) return true;
	p->left--;
	return false;
}

static void interrupt(const struct facts *f, enum level l, bool allowed)
{
	bool finished = false;
	uint32_t undecided = 0; /* times */
	for (uint32_t left = 0; !finished; left++) {
		struct patience p = { left };
		struct check_result r;
		struct check_clock *clock =
			check_clock_new(&(struct check_limits){
				.stop = loses_patience, .stop_data = &p });
		check_weak(f, l, clock, &r);
		finished = r.verdict != VERDICT_UNDECIDED;
		if (!finished) {
			ck_assert_ptr_nonnull(r.reason);
			ck_assert_ptr_null(r.order);
			undecided++;
		} else {
			ck_assert_int_eq(r.verdict, allowed ? VERDICT_HOLDS
			                                    : VERDICT_VIOLATED);
		}
		check_result_free(&r);
		check_clock_free(clock);
	}
	/* A cycle found early is found however short the time. */
	if (allowed) ck_assert_uint_gt(undecided, 0);
}

/* Wherever it is interrupted, it says so, and never the wrong verdict. */
START_TEST(interruptions)
{
	static const enum level stores[] = { LEVEL_RC, LEVEL_CC };
	for (int i = 0; i < 2; i++) {
		struct workload w = workload_default();
		struct diags d = { 0 };
		w.ops = 100000;
		w.sessions = 20;
		w.keys = 100;
		w.lag = 50;
		w.level = stores[i];
		struct trace *t = workload_run(&w, &d);
		struct facts *f = facts_of_trace(t);
		interrupt(f, LEVEL_RC, true);
		interrupt(f, LEVEL_CC, w.level == LEVEL_CC);
		facts_free(f);
		trace_free(t);
		diags_free(&d);
	}
}
END_TEST

START_TEST(memory_limit)
{
	struct workload w = workload_default();
	struct diags d = { 0 };
	struct check_result r;
	w.ops = 10000;
	w.level = LEVEL_CC;
	struct trace *t = workload_run(&w, &d);
	struct facts *f = facts_of_trace(t);
	struct check_clock *clock =
		check_clock_new(&(struct check_limits){ .memory = 1000 });
	check_weak(f, LEVEL_CC, clock, &r);
	ck_assert_int_eq(r.verdict, VERDICT_UNDECIDED);
	ck_assert_str_eq(r.reason, CHECK_MEMORY);
	check_result_free(&r);
	check_clock_free(clock);
	facts_free(f);
	trace_free(t);
	diags_free(&d);
}
END_TEST

/* The same edges over and over take no room: first where bits tell, then, with
 * many transactions of few operations, where copies are dropped. */
static void add_copies(const struct history *h)
{
	struct check_clock *clock =
		check_clock_new(&(struct check_limits){ 0 });
	struct facts *f = facts_of_history(h);
	uint32_t *components = mem_take0(f->n, sizeof *components);
	struct graph g;
	graph_init(&g, f, clock);
	ck_assert_int_eq(g.pairs != NULL, f->n < 100);
	for (uint32_t i = 0; i < 10000000; i++) graph_add(&g, 2 + i % 4, 1);
	ck_assert_uint_lt(g.capacity, 4000000);
	graph_add(&g, 1, 5);
	ck_assert_ptr_null(graph_order(&g, components));
	ck_assert_uint_eq(components[1], components[5]);
	ck_assert_uint_ne(components[1], 0);
	for (uint32_t t = 2; t < 5; t++) ck_assert_uint_eq(components[t], 0);
	graph_free(&g);
	free(components);
	facts_free(f);
	check_clock_free(clock);
}

START_TEST(copies_of_edges)
{
	struct history *h =
		history_from_notation("A: Wx | B: Wx | C: Wx | D: Wx | E: Wx");
	struct history *many = history_padded(h, 4000);
	add_copies(h);
	add_copies(many);
	history_free(many);
	history_free(h);
}
END_TEST

static void core_has(const char *notation, enum level l, uint32_t count)
{
	struct history *h = history_from_notation(notation);
	struct check_result r;
	decide(h, l, &r);
	ck_assert_int_eq(r.verdict, VERDICT_VIOLATED);
	ck_assert_msg(r.core_count == count, "%s under %s: %u", notation,
	              level_word(l), r.core_count);
	core_is_right(h, l, &r);
	check_result_free(&r);
	history_free(h);
}

/* A long cycle and a short one: the core is the short one. */
START_TEST(short_cores)
{
	core_has("A: Wa x<C ; A2: Wx | B: Wb a<A | C: Wc b<B Wx", LEVEL_NONE,
	         3);
	core_has("A: Wa x<C | B: Wb a<A | C: Wc b<B Wx | D: Wd e<E | "
	         "E: We d<D",
	         LEVEL_NONE, 2);
	core_has("A: Wx ; B: x<0", LEVEL_RA, 2);
	core_has("A: Wx | B: x<A Wy | C: y<B x<0", LEVEL_CC, 3);
	core_has("A: Wx | B: x<A Wy | C: y<B x<0 | D: x<A z<D2 | D2: Wz x<D3 | "
	         "D3: Wx | E: x<A x<0",
	         LEVEL_CC, 2);
	core_has("A: Wx Wy | B: Wx Wy | C: x<B y<A y<B x<A", LEVEL_RC, 3);
}
END_TEST

void add_check_weak_tests(TCase *tests)
{
	tcase_add_loop_test(tests, small_histories, 0, RUNS);
	tcase_add_loop_test(tests, large_histories, 0, RUNS);
	tcase_add_loop_test(tests, padded_histories, 0, RUNS);
	tcase_add_test(tests, paths);
	tcase_add_test(tests, interruptions);
	tcase_add_test(tests, memory_limit);
	tcase_add_test(tests, copies_of_edges);
	tcase_add_test(tests, short_cores);
}
