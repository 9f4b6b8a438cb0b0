/* Mixes: transactions with levels of their own, against the definition.
 *
 * Random histories: is each allowed, and why not. Random programs whose
 * transactions are given levels at random: every explorer must output exactly
 * the histories that the brute force has, whatever level the others have. The
 * same of programs whose reads lock, with levels of their own or without.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "axioms/allows.h"
#include "axioms/witness.h"
#include "base/memory.h"
#include "check/strong.h"
#include "check/sub_history.h"
#include "dpor/explorer.h"
#include "random_program.h"
#include "suites.h"
#include "support.h"
#include "twin_axioms.h"
#include "twin_enumerate.h"

enum {
	RUNS = 20,
	HISTORIES = 100000,
	PROGRAMS = 20000,
	PREFIXES = 1500, /* brute force gives up beyond this many */
	BASELINE_LIMIT = 2000
};

static bool mixes(enum level l)
{
	return level_mixes(l);
}

/* ---- histories ---- */

/* The witness is a cycle; a wr alone for a dirty read. */
static bool is_cycle(const struct witness *w)
{
	for (uint32_t i = 0; i < w->count; i++)
		if (w->edges[i].to != w->edges[(i + 1) % w->count].from)
			return false;
	return w->count > 1;
}

static void try_history(struct rng *r, const struct history *h, uint64_t seed)
{
	struct witness w;
	enum level others;
	do others = (enum level)rng_below(r, LEVEL_COUNT);
	while (!level_mixes(others));
	bool expected = twin_allows(others, h);
	char *text = history_to_notation(h);
	ck_assert_msg(level_allows_mix(others, h) == expected,
	              "seed %llu, others %s: should be %d: %s",
	              (unsigned long long)seed, level_word(others), expected,
	              text);
	if (h->transaction_count < 7)
		ck_assert(twin_allows_plain(others, h) == expected);
	ck_assert(level_witness_mix(others, h, &w) == !expected);
	ck_assert(expected || is_cycle(&w));
	witness_free(&w);
	free(text);
}

START_TEST(random_histories)
{
	uint64_t share = programs_or(HISTORIES) / RUNS + 1;
	for (uint64_t i = 0; i < share; i++) {
		uint64_t seed = process_seed(_i, i);
		struct rng r = { seed };
		struct history_shape shape = { .sessions = 2 + rng_below(&r, 4),
			                       .transactions =
			                               3 + rng_below(&r, 5),
			                       .events = 2 + rng_below(&r, 3),
			                       .keys = 1 + rng_below(&r, 3),
			                       .causal = rng_below(&r, 2) };
		struct history *h = history_random(&r, shape);
		history_give_levels(&r, h);
		if (i % 2) history_give_locks(&r, h);
		if (i % 3 == 0) history_be_ssi(&r, h);
		if (i % 4 == 3) history_abort_some(&r, h);
		try_history(&r, h, seed);
		/* Rows of more than one word. */
		if (i % 16 == 0) {
			struct history *more = history_padded(h, 64);
			enum level l = LEVEL_CC;
			ck_assert(level_allows_mix(l, more) ==
			          twin_allows(l, h));
			history_free(more);
		}
		history_free(h);
	}
}
END_TEST

/* Who aborts under prc held the row that it wrote, but is nobody's rival: b
 * ends behind the snapshot of d, before d writes the row. Had it committed, d
 * could not. */
START_TEST(aborted_is_no_rival)
{
	static const struct {
		const char *text;
		bool allowed;
	} cases[] = {
		{ "a@prc: Wy ; b@prc!: Wx ; c@si: x<0 | d@si: y<0 Wx", true },
		{ "a@prc: Wy ; b@prc: Wx ; c@si: x<b ; e@si: x<d | d@si: y<0 "
		  "Wx",
		  false },
		{ "d@si: y<0 Wx | a@prc: Wy ; b@prc: Wx ; c@si: x<b ; e@si: "
		  "x<d",
		  false },
		{ "a@prc: Wy ; b@prc: Wx ; c@si: x<b ; e@si: x<d | d@prc: y<0 "
		  "Wx",
		  true },
		/* d has the row from its write on, and b waits for it. */
		{ "a@prc: Wy ; b@prc!: Wx ; c@si: x<0 | d@prc: Wx y<0", false },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct history *h = history_from_notation(cases[i].text);
		ck_assert_msg(level_allows_mix(LEVEL_NONE, h) ==
		                      cases[i].allowed,
		              "%s", cases[i].text);
		ck_assert(twin_allows(LEVEL_NONE, h) == cases[i].allowed);
		history_free(h);
	}
}
END_TEST

/* All at the same level: what that level says. */
START_TEST(one_level)
{
	for (uint64_t i = 0; i < programs_or(2000); i++) {
		struct rng r = { process_seed(100, i) };
		struct history *h = history_random(
			&r, (struct history_shape){ 4, 6, 4, 3, i % 2 });
		for (enum level l = 0; l < LEVEL_COUNT; l++) {
			if (!level_mixes(l)) continue;
			bool allowed = level_allows_history(l, h);
			ck_assert(level_allows_mix(l, h) == allowed);
			for (uint32_t t = 1; t < h->transaction_count; t++)
				h->transactions[t].own = (own_level)(l + 1);
			ck_assert(level_allows_mix(0, h) == allowed);
			h->ssi = true;
			ck_assert(level_allows_mix(0, h) == allowed);
			h->ssi = false;
			/* One that reads nothing asks for nothing. */
			ck_assert(!allowed || level_allows_mix(l, h));
			for (uint32_t t = 1; t < h->transaction_count; t++)
				h->transactions[t].own = 0;
		}
		history_free(h);
	}
}
END_TEST

/* ---- checks of histories of any size ---- */

struct tried {
	const struct history *h;
	const struct facts *f;
	enum level others;
	bool allowed;
	uint64_t seed;
	struct check_clock *clock;
};

/* Do the transactions of the core violate the levels by themselves? */
static void try_core(const struct tried *x, const uint32_t *core,
                     uint32_t count)
{
	struct sub_histories parts;
	struct check_result r;
	sub_history_init(&parts, x->f);
	struct facts *f = sub_history_take(&parts, core, count);
	check_small(f, x->others, &r);
	ck_assert_msg(r.verdict == VERDICT_VIOLATED,
	              "seed %llu: the core does not suffice",
	              (unsigned long long)x->seed);
	check_result_free(&r);
	facts_free(f);
	sub_history_free(&parts);
}

static void compare_check(const struct tried *x, const char *what,
                          struct check_result *r)
{
	bool holds = r->verdict == VERDICT_HOLDS;
	if (r->verdict == VERDICT_UNDECIDED || holds != x->allowed)
		ck_abort_msg("seed %llu, others %s, %s: should be %d: %s",
		             (unsigned long long)x->seed, level_word(x->others),
		             what, x->allowed, history_to_notation(x->h));
	if (holds && r->order)
		ck_assert(twin_allows_order(x->others, x->h, r->order));
	if (!holds) try_core(x, r->core, r->core_count);
	check_result_free(r);
}

/* The search alone, without guesses. */
static void try_solving(const struct tried *x)
{
	struct strong s;
	bool *core = mem_take0(x->f->n, sizeof *core);
	struct check_result r = { .verdict = VERDICT_VIOLATED };
	r.core = mem_take(x->f->n * sizeof *r.core);
	ck_assert(strong_init(&s, x->f, x->others, x->clock));
	bool open = saturate(&s);
	if (open && solve(&s, core) == ANSWER_YES) {
		reach_sort(&s);
		r.verdict = VERDICT_HOLDS;
		r.order = mem_take(x->f->n * sizeof *r.order);
		strong_order(&s, r.order);
	}
	for (uint32_t t = 1; t < x->f->n; t++)
		if (!open || core[t]) r.core[r.core_count++] = t;
	compare_check(x, "solving", &r);
	strong_free(&s);
	free(core);
}

static bool has_statements(const struct facts *f, enum level others)
{
	return facts_levels(f, others) >> LEVEL_PRC & 1;
}

static void try_checks(const struct tried *x)
{
	struct check_result r;
	check_small(x->f, x->others, &r);
	compare_check(x, "small", &r);
	r = (struct check_result){ .verdict = VERDICT_UNDECIDED };
	if (x->f->order) {
		bool holds = check_commit_order(x->f, x->others, x->clock, &r);
		r.verdict = holds ? VERDICT_HOLDS : VERDICT_VIOLATED;
		ck_assert_msg(holds == x->allowed, "seed %llu, others %s: %s",
		              (unsigned long long)x->seed,
		              level_word(x->others), history_to_notation(x->h));
		ck_assert(!holds ||
		          twin_allows_order(x->others, x->h, r.order));
		check_result_free(&r);
	}
	if (facts_level_of_all(x->f, x->others) < LEVEL_COUNT) return;
	if (!check_reads_beside(x->f, x->others)) {
		check_mixed(x->f, x->others, x->clock, &r);
		compare_check(x, "mixed", &r);
	}
	check_by_points(x->f, x->others, x->clock, &r);
	compare_check(x, "points", &r);
	if (has_statements(x->f, x->others) || x->f->ssi ||
	    !check_has_plain_reads(x->f))
		return;
	check_strong(x->f, x->others, x->clock, &r);
	compare_check(x, "strong", &r);
	try_solving(x);
}

START_TEST(random_checks)
{
	uint64_t share = programs_or(HISTORIES) / RUNS + 1;
	struct check_clock *clock =
		check_clock_new(&(struct check_limits){ 0 });
	for (uint64_t i = 0; i < share; i++) {
		struct tried x = { .seed = process_seed(300 + _i, i),
			           .clock = clock };
		struct rng r = { x.seed };
		struct history *h = history_random(
			&r, (struct history_shape){
				    2 + rng_below(&r, 4), 3 + rng_below(&r, 6),
				    2 + rng_below(&r, 3), 1 + rng_below(&r, 3),
				    rng_below(&r, 2) });
		if (i % 4 < 3) history_give_levels(&r, h);
		if (i % 2) history_give_locks(&r, h);
		if (i % 8 > 5) history_be_ssi(&r, h);
		struct facts *f = facts_of_history(h);
		x.h = h;
		x.f = f;
		do x.others = (enum level)rng_below(&r, LEVEL_COUNT);
		while (!level_mixes(x.others));
		x.allowed = twin_allows(x.others, h);
		try_checks(&x);
		facts_free(f);
		history_free(h);
	}
	check_clock_free(clock);
}
END_TEST

/* In a mix, PostgreSQL's SERIALIZABLE has a snapshot, and what is read for a
 * constraint may be beside it. */
START_TEST(checks_beside_a_serial_snapshot)
{
	struct history *h = history_from_notation(
		"T1@pc: y<0 | T2@ser: Wx | T3@ser: x<T2/H x<0");
	struct check_clock *clock =
		check_clock_new(&(struct check_limits){ 0 });
	for (int ssi = 0; ssi < 2; ssi++) {
		h->ssi = ssi;
		struct facts *f = facts_of_history(h);
		struct tried x = { h, f, LEVEL_PC, ssi, 0, clock };
		ck_assert(twin_allows(LEVEL_PC, h) == ssi);
		try_checks(&x);
		facts_free(f);
		/* What holds for T3 at ser need not at weaker levels. */
		h->transactions[3].own = 0;
		f = facts_of_history(h);
		ck_assert(check_implies(f, LEVEL_SER, LEVEL_CC) == !ssi);
		ck_assert(!twin_allows(LEVEL_CC, h));
		h->transactions[3].own = (own_level)(LEVEL_SER + 1);
		facts_free(f);
	}
	check_clock_free(clock);
	history_free(h);
}
END_TEST

/* The words of base/level_words.h are those of the table. */
START_TEST(words_of_levels)
{
	for (enum level l = 0; l < LEVEL_COUNT; l++) {
		ck_assert_int_eq(level_number(level_word(l)), (int)l);
		ck_assert_str_eq(own_level_word((own_level)(l + 1)),
		                 level_word(l));
		ck_assert(!own_level_problem(level_word(l)) == level_mixes(l));
	}
	for (const struct deployment *d = deployments(); d->name; d++) {
		ck_assert_int_ge(level_number(d->level), 0);
		ck_assert_int_eq(level_number(d->name), level_number(d->level));
		ck_assert_ptr_eq(level_deployment(d->name), d->name);
		ck_assert_ptr_null(level_deployment(d->level));
	}
	ck_assert_ptr_null(level_deployment(NULL));
	ck_assert_int_lt(level_number("sj"), 0);
	ck_assert_ptr_null(own_level_word(0));
}
END_TEST

/* ---- programs ---- */

struct trial {
	uint64_t seed;
	struct text source;
	struct program *program;
	struct enumeration expected;
	struct explore_options options;
	struct strings found;
};

static bool collect(void *payload, const struct explore_execution *e)
{
	struct trial *t = payload;
	struct history *h = explore_history(e);
	struct text text = { 0 };
	history_print_canonical(&text, h);
	strings_add(&t->found, text_get(&text));
	text_free(&text);
	history_free(h);
	return true;
}

__attribute__((noreturn)) static void
complain(const struct trial *t, const char *what, const char *history)
{
	ck_abort_msg("seed %llu, %s, others %s: %s: %s\n%s",
	             (unsigned long long)t->seed,
	             explorer_algorithm_word(t->options.algorithm),
	             level_word(t->options.level), what, history,
	             text_get(&t->source));
	abort();
}

static void compare(const struct trial *t, bool all)
{
	size_t found = 0;
	for (size_t i = 0; i < t->expected.count; i++) {
		const struct twin_history *h = &t->expected.items[i];
		if (!(h->levels >> t->options.level & 1)) continue;
		int order = found < t->found.count
		                    ? strcmp(t->found.items[found], h->text)
		                    : 1;
		if (order < 0) break;
		if (order == 0) found++;
		if (order > 0 && all) complain(t, "missing", h->text);
	}
	if (found < t->found.count) complain(t, "wrong", t->found.items[found]);
}

static void explore(struct trial *t, enum explorer_algorithm a, enum level l,
                    uint64_t limit)
{
	struct explore_observer o = { .payload = t, .history = collect };
	t->options = (struct explore_options){ .algorithm = a,
		                               .level = l,
		                               .base = level_base(l),
		                               .max_changes = UINT64_MAX,
		                               .max_histories = limit };
	struct explorer *e = explorer_new(t->program, &t->options, &o);
	explorer_run(e);
	const struct explore_stats *s = explorer_stats(e);
	if (a == EXPLORE_CE && s->blocked) complain(t, "blocked", "");
	strings_sort(&t->found);
	if (strings_unique(&t->found) && a != EXPLORE_DFS)
		complain(t, "a history twice", "");
	compare(t, s->stop == STOP_NONE);
	explorer_free(e);
	strings_free(&t->found);
	t->found = (struct strings){ 0 };
}

static bool is_asked(enum level l, bool mixed)
{
	return mixed ? level_mixes(l) : true;
}

static bool try_program(uint64_t seed, bool locks, bool mixed)
{
	struct trial t = { .seed = seed };
	struct rng r = { seed };
	struct text plain = { 0 };
	bool ssi = mixed && rng_below(&r, 3) == 0;
	if (locks)
		random_locking_program(&plain, seed);
	else
		random_program(&plain, seed);
	if (mixed)
		random_mix(&t.source, text_get(&plain), &r, mixes, ssi);
	else
		text_string(&t.source, text_get(&plain));
	t.program = program_from_text(text_get(&t.source));
	if (ssi) program_be_ssi(t.program);
	bool small = twin_enumerate(t.program,
	                            (struct twin_options){ .limit = PREFIXES },
	                            &t.expected);
	for (enum level l = 0; small && l < LEVEL_COUNT; l++) {
		if (!is_asked(l, mixed)) continue;
		explore(&t, EXPLORE_CE, l, 0);
		explore(&t, EXPLORE_ORDERLY, l, 0);
	}
	enum level l;
	do l = (enum level)rng_below(&r, LEVEL_COUNT);
	while (!is_asked(l, mixed));
	if (small) explore(&t, EXPLORE_DFS, l, BASELINE_LIMIT);
	enumeration_free(&t.expected);
	program_free(t.program);
	text_free(&t.source);
	text_free(&plain);
	return small;
}

START_TEST(random_programs)
{
	uint64_t share = programs_or(PROGRAMS) / RUNS + 1, tried = 0;
	for (uint64_t i = 0; tried < share; i++)
		tried += try_program(process_seed(200 + _i, i), false, true);
}
END_TEST

START_TEST(random_locks)
{
	uint64_t share = programs_or(PROGRAMS) / RUNS + 1, tried = 0;
	for (uint64_t i = 0; tried < share; i++)
		tried += try_program(process_seed(300 + _i, i), true,
		                     i % 4 == 0);
}
END_TEST

void add_mixes_tests(TCase *tests)
{
	tcase_add_test(tests, words_of_levels);
	tcase_add_test(tests, aborted_is_no_rival);
	tcase_add_test(tests, one_level);
	tcase_add_test(tests, checks_beside_a_serial_snapshot);
	tcase_add_loop_test(tests, random_histories, 0, RUNS);
	tcase_add_loop_test(tests, random_checks, 0, RUNS);
	tcase_add_loop_test(tests, random_programs, 0, RUNS);
	tcase_add_loop_test(tests, random_locks, 0, RUNS);
}
