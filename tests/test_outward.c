/* Exploring outwards, against explore-ce: for a random program and a random
 * history of it as the observed one, the same histories, each once, in order of
 * changed reads, which are counted anew here. */
#include <stdlib.h>
#include <string.h>

#include "axioms/allows.h"
#include "axioms/level.h"
#include "base/diag.h"
#include "base/memory.h"
#include "dpor/explorer.h"
#include "execution/observed_reads.h"
#include "history/trace.h"
#include "random_program.h"
#include "suites.h"
#include "support.h"

enum {
	RUNS = 8,             /* test processes over which seeds are spread */
	PROGRAMS = 1600,      /* in all, unless ISOSCOPE_PROGRAMS says more */
	HISTORIES_MOST = 400, /* larger programs are left out */
};

/* ---- changed reads, counted on histories ---- */

/* Read number n of the transaction among those from others; NULL: no such. */
static const struct event *external_read(const struct transaction *t,
                                         uint32_t n)
{
	for (uint32_t i = 0; i < t->event_count; i++) {
		const struct event *e = &t->events[i];
		if (e->kind == EVENT_READ && e->from != HISTORY_SELF && !n--)
			return e;
	}
	return NULL;
}

static bool same_read(const struct history *a, const struct event *x,
                      const struct history *b, const struct event *y)
{
	const struct transaction *from = &a->transactions[x->from];
	const struct transaction *other = &b->transactions[y->from];
	return !strcmp(a->keys[x->key].name, b->keys[y->key].name) &&
	       from->session == other->session && from->index == other->index;
}

static uint64_t count_changes(const struct history *observed,
                              const struct history *h)
{
	uint64_t count = 0;
	for (uint32_t t = 1; t < h->transaction_count; t++) {
		const struct transaction *mine = &h->transactions[t];
		const struct history_session *s =
			&observed->sessions[mine->session];
		const struct transaction *its = NULL;
		if (mine->index < s->count)
			its = &observed->transactions[s->first + mine->index];
		const struct event *x, *y;
		for (uint32_t n = 0; (x = external_read(mine, n)); n++) {
			y = its ? external_read(its, n) : NULL;
			count += !y || !same_read(h, x, observed, y);
		}
	}
	return count;
}

/* ---- running an explorer ---- */

struct found {
	struct history *history;
	char *text;
	uint64_t changes; /* as the explorer says */
	bool serializable;
};

struct result {
	struct found *items;
	size_t count, capacity;
	struct explore_stats stats;
	struct history *nearest; /* the last one is; owned by nobody */
	uint64_t *violations;    /* per slot */
};

static bool collect(void *payload, const struct explore_execution *e)
{
	struct result *r = payload;
	struct text t = { 0 };
	VEC_RESERVE(r->items, r->count, r->capacity);
	struct found *f = &r->items[r->count++];
	f->history = explore_history(e);
	f->changes = e->changes;
	f->serializable = explore_satisfies(e, LEVEL_SER);
	history_print_canonical(&t, f->history);
	f->text = mem_copy_string(text_get(&t));
	text_free(&t);
	return true;
}

static void run(const struct program *p, const struct explore_options *o,
                struct result *r)
{
	memset(r, 0, sizeof *r);
	struct explore_observer observer = { .payload = r, .history = collect };
	struct explorer *e = explorer_new(p, o, &observer);
	explorer_run(e);
	r->stats = *explorer_stats(e);
	if (o->algorithm == EXPLORE_OUTWARD)
		ck_assert_int_eq(explorer_nearest(e) != NULL, r->count > 0);
	uint32_t slots = explorer_slot_count(e);
	r->violations = mem_take0(slots, sizeof *r->violations);
	for (uint32_t i = 0; i < slots; i++)
		r->violations[i] = explorer_violation(e, i)->histories;
	explorer_free(e);
}

static void result_free(struct result *r)
{
	for (size_t i = 0; i < r->count; i++) {
		history_free(r->items[i].history);
		free(r->items[i].text);
	}
	free(r->items);
	free(r->violations);
}

/* ---- one program, one level, one observed history ---- */

struct trial {
	uint64_t seed;
	struct text source;
	struct program *program;
	enum level level;
	const struct history *observed;
	struct observed_reads *reads;
};

__attribute__((noreturn)) static void
complain(const struct trial *t, const char *what, const char *history)
{
	struct text observed = { 0 };
	if (t->observed) history_print_canonical(&observed, t->observed);
	ck_abort_msg("seed %llu, %s: %s\n%.900s\nfrom %.900s\n%.1500s",
	             (unsigned long long)t->seed, level_word(t->level), what,
	             history ? history : "", text_get(&observed),
	             text_get(&t->source));
	abort();
}

static void expect(const struct trial *t, bool fine, const char *what)
{
	if (!fine) complain(t, what, NULL);
}

static struct explore_options outwards(const struct trial *t)
{
	return (struct explore_options){
		.algorithm = EXPLORE_OUTWARD,
		.level = t->level,
		.observed = t->reads,
		.max_changes = UINT64_MAX,
		.robust = true,
		.check_duplicates = true,
	};
}

static void sorted_texts(const struct result *r, struct strings *out)
{
	for (size_t i = 0; i < r->count; i++)
		strings_add(out, r->items[i].text);
	strings_sort(out);
}

static void expect_same_histories(const struct trial *t,
                                  const struct result *found,
                                  const struct result *expected)
{
	struct strings a = { 0 }, b = { 0 };
	sorted_texts(found, &a);
	sorted_texts(expected, &b);
	for (size_t i = 1; i < a.count; i++)
		if (!strcmp(a.items[i - 1], a.items[i]))
			complain(t, "a history twice", a.items[i]);
	for (size_t i = 0; i < a.count || i < b.count; i++) {
		int order = i == a.count   ? 1
		            : i == b.count ? -1
		                           : strcmp(a.items[i], b.items[i]);
		if (order < 0) complain(t, "wrong", a.items[i]);
		if (order > 0) complain(t, "missing", b.items[i]);
	}
	strings_free(&a);
	strings_free(&b);
}

static void expect_changes(const struct trial *t, const struct result *r)
{
	uint64_t before = 0;
	for (size_t i = 0; i < r->count; i++) {
		const struct found *f = &r->items[i];
		uint64_t n = count_changes(t->observed, f->history);
		if (f->changes < before)
			complain(t, "fewer changes than before", f->text);
		if (f->changes != n ||
		    observed_changes(t->reads, f->history, NULL) != n)
			complain(t, "wrong number of changes", f->text);
		before = n;
	}
}

static void expect_statistics(const struct trial *t, const struct result *r,
                              const struct result *expected)
{
	const struct explore_stats *s = &r->stats;
	uint32_t slots = program_assertion_count(t->program) + 2;
	expect(t, s->stop == STOP_NONE, "not complete");
	expect(t, s->histories == r->count, "histories");
	expect(t, s->end_states == s->histories + s->pruned, "end states");
	expect(t, !s->duplicates && !s->filtered, "duplicates, filtered");
	expect(t, !level_is_extensible(t->level) || !s->blocked, "blocked");
	for (uint32_t i = 0; i < slots; i++)
		expect(t, r->violations[i] == expected->violations[i],
		       "another number of violations");
}

/* If the level allows the observed history, it comes first, alone. */
static void expect_observed(const struct trial *t, const struct result *r)
{
	if (!level_allows_history(t->level, t->observed)) {
		expect(t, !r->count || r->items[0].changes,
		       "allowed after all");
		return;
	}
	struct text text = { 0 };
	history_print_canonical(&text, t->observed);
	expect(t, r->count && !strcmp(r->items[0].text, text_get(&text)),
	       "the observed history is not the first");
	expect(t, r->count < 2 || r->items[1].changes, "two without change");
	expect(t,
	       observed_compare(t->reads, r->items[0].history).kind ==
	               OBSERVED_SAME,
	       "another history");
	text_free(&text);
}

/* Histories with at most some changes: those that come first. */
static void limit_changes(const struct trial *t, struct rng *rng,
                          const struct result *all)
{
	struct explore_options o = outwards(t);
	struct result r;
	uint64_t most = all->count ? all->items[all->count - 1].changes : 0;
	size_t expected = 0;
	o.max_changes = rng_below(rng, (uint32_t)most + 2);
	run(t->program, &o, &r);
	while (expected < all->count &&
	       all->items[expected].changes <= o.max_changes)
		expected++;
	expect(t, r.count == expected, "other histories with few changes");
	for (size_t i = 0; i < r.count; i++)
		if (strcmp(r.items[i].text, all->items[i].text))
			complain(t, "another order", r.items[i].text);
	expect(t, r.stats.stop == STOP_NONE || r.stats.stop == STOP_CHANGES,
	       "stopped for another reason");
	expect(t, expected == all->count || r.stats.stop == STOP_CHANGES,
	       "does not say that something was left out");
	result_free(&r);
}

static void stop_unserializable(const struct trial *t, const struct result *all)
{
	struct explore_options o = outwards(t);
	struct result r;
	size_t first = 0;
	while (first < all->count && all->items[first].serializable) first++;
	o.stop_unserializable = true;
	run(t->program, &o, &r);
	if (first == all->count) {
		expect(t, r.stats.stop == STOP_NONE && r.count == all->count,
		       "stops although all is serializable");
	} else {
		expect(t,
		       r.stats.stop == STOP_VIOLATION && r.count == first + 1 &&
		               r.stats.unserializable == 1,
		       "does not stop at the first unserializable history");
		expect(t, !strcmp(r.items[first].text, all->items[first].text),
		       "stops at another history");
	}
	result_free(&r);
}

static void try_origin(struct trial *t, struct rng *rng,
                       const struct result *expected)
{
	struct explore_options o = outwards(t);
	struct result all;
	run(t->program, &o, &all);
	expect_same_histories(t, &all, expected);
	expect_changes(t, &all);
	expect_statistics(t, &all, expected);
	expect_observed(t, &all);
	limit_changes(t, rng, &all);
	stop_unserializable(t, &all);
	result_free(&all);
}

/* ---- programs ---- */

static void make_origin(struct trial *t, const struct history *observed)
{
	struct diags d = { 0 };
	struct trace *trace = trace_of_history(observed, "observed");
	t->observed = observed;
	t->reads = observed_reads_new(t->program, trace, &d);
	expect(t, t->reads && !d.count, "no trace of this program");
	trace_free(trace);
	diags_free(&d);
}

static struct explore_options directly(enum level l)
{
	return (struct explore_options){
		.level = l,
		.base = level_base(l),
		.robust = true,
		.max_histories = HISTORIES_MOST,
	};
}

/* Observed is a history of some level, which others may forbid. */
static void try_observed(struct trial *t, struct rng *rng,
                         const struct history *observed)
{
	make_origin(t, observed);
	for (enum level l = 0; l < LEVEL_COUNT; l++) {
		struct explore_options o = directly(l);
		struct result expected;
		t->level = l;
		run(t->program, &o, &expected);
		if (expected.stats.stop == STOP_NONE)
			try_origin(t, rng, &expected);
		result_free(&expected);
	}
	observed_reads_free(t->reads);
	t->reads = NULL;
	t->observed = NULL;
}

/* False if the program is too large, or has no history. */
static bool try_program(uint64_t seed)
{
	struct trial t = { .seed = seed };
	struct rng rng = { seed };
	struct explore_options o =
		directly((enum level)rng_below(&rng, LEVEL_COUNT));
	struct result some;
	random_program(&t.source, seed);
	t.program = program_from_text(text_get(&t.source));
	run(t.program, &o, &some);
	bool tried = some.count && some.stats.stop == STOP_NONE;
	if (tried)
		try_observed(&t, &rng,
		             some.items[rng_below(&rng, (uint32_t)some.count)]
		                     .history);
	result_free(&some);
	program_free(t.program);
	text_free(&t.source);
	return tried;
}

START_TEST(random_programs)
{
	uint64_t share = programs_or(PROGRAMS);
	uint64_t seed = first_seed() + (uint64_t)_i * 1000000;
	for (uint64_t tried = 0; tried < (share + RUNS - 1) / RUNS; seed++)
		tried += try_program(seed);
}
END_TEST

/* ---- traces that are not of the program, or not quite ---- */

static const char adders[] = "global x = 0;\n"
			     "txn add() { let v = x; x = v + 1; return v; }\n"
			     "session a { add(); }\n"
			     "session b { add(); }\n";

/* Sessions of the notation are called s0, s1, ... */
static struct observed_reads *observed_of(const struct program *p,
                                          const char *notation, char **errors)
{
	struct diags d = { 0 };
	struct history *h = history_from_notation(notation);
	for (uint32_t s = 0; s < h->session_count; s++)
		h->sessions[s].name = (const char *[]){ "a", "b", "c" }[s];
	struct trace *t = trace_of_history(h, "observed.json");
	struct observed_reads *o = observed_reads_new(p, t, &d);
	*errors = diags_to_text(&d);
	diags_free(&d);
	trace_free(t);
	history_free(h);
	return o;
}

START_TEST(traces_of_other_programs)
{
	char *errors;
	struct program *p = program_from_text(adders);
	ck_assert_ptr_null(
		observed_of(p, "T1: Wx | T2: x<T1 | T3: Wx", &errors));
	ck_assert_msg(strstr(errors, "no session 'c'") != NULL, "%s", errors);
	free(errors);
	ck_assert_ptr_null(
		observed_of(p, "T1: Wx ; T2: Wx | T3: x<T1", &errors));
	ck_assert_msg(strstr(errors, "at most 1") != NULL, "%s", errors);
	free(errors);
	program_free(p);
}
END_TEST

/* What the observed trace does not have counts as changed; what only it has
 * shows in the comparison. */
START_TEST(traces_that_differ)
{
	static const struct {
		const char *notation;
		uint64_t changes;
		enum observed_difference_kind difference;
	} rows[] = {
		{ "add: x<0 Wx | add: x<add Wx", 0, OBSERVED_SAME },
		{ "add: x<0 Wx", 1, OBSERVED_COUNT },
		{ "add: x<0 Wx | add: y<0 Wx", 1, OBSERVED_SAME },
		{ "add: x<0 x<0 Wx | add: x<0 Wx", 0, OBSERVED_READS },
		{ "sub: x<0 Wx | add: x<0 Wx", 0, OBSERVED_NAME },
		{ "add!: x<0 Wx | add: x<0 Wx", 0, OBSERVED_STATUS },
	};
	struct program *p = program_from_text(adders);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char *errors;
		struct observed_reads *o =
			observed_of(p, rows[i].notation, &errors);
		ck_assert_msg(o != NULL, "%s", errors);
		struct explore_options options = {
			.algorithm = EXPLORE_OUTWARD,
			.level = LEVEL_CC,
			.observed = o,
			.max_changes = UINT64_MAX,
		};
		struct explorer *e = explorer_new(p, &options, NULL);
		explorer_run(e);
		const struct history *h = explorer_nearest(e);
		ck_assert_uint_eq(observed_changes(o, h, NULL),
		                  rows[i].changes);
		ck_assert_int_eq(observed_compare(o, h).kind,
		                 rows[i].difference);
		explorer_free(e);
		observed_reads_free(o);
		free(errors);
	}
	program_free(p);
}
END_TEST

/* A session without a static bound: the search begins anew with more room, and
 * goes on where it was. */
START_TEST(more_room)
{
	struct program *p = program_from_text(
		"global n = 0; global x = 0;\n"
		"session a { let m = txn { return n; };\n"
		"    for i in 0..(40 + m) { txn { x = i; } } }\n"
		"session b { txn { n = 1; } txn { let v = x; } }\n");
	struct explore_options ce = { .level = LEVEL_CC, .base = LEVEL_CC };
	struct result expected;
	run(p, &ce, &expected);
	ck_assert_uint_gt(expected.count, 80);
	struct trial t = { .program = p, .level = LEVEL_CC };
	make_origin(&t, expected.items[expected.count / 2].history);
	struct explore_options o = outwards(&t);
	struct result all;
	run(p, &o, &all);
	expect_same_histories(&t, &all, &expected);
	expect_changes(&t, &all);
	result_free(&all);
	result_free(&expected);
	observed_reads_free(t.reads);
	program_free(p);
}
END_TEST

void add_outward_tests(TCase *tests)
{
	tcase_add_loop_test(tests, random_programs, 0, RUNS);
	tcase_add_test(tests, traces_of_other_programs);
	tcase_add_test(tests, traces_that_differ);
	tcase_add_test(tests, more_room);
}
