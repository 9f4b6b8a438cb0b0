/* Fast checks of the levels, and their witnesses, against the definitions. */
#include <stdlib.h>
#include <string.h>

#include "axioms/allows.h"
#include "axioms/level.h"
#include "axioms/schedule.h"
#include "axioms/witness.h"
#include "suites.h"
#include "support.h"
#include "twin_axioms.h"
#include "twin_schedule.h"
#include "twin_witness.h"

enum { RUNS = 10, HISTORIES = 10000 }; /* histories per run */

static struct history_shape random_shape(struct rng *r)
{
	return (struct history_shape){ .sessions = 3 + rng_below(r, 4),
		                       .transactions = 5 + rng_below(r, 3),
		                       .events = 2 + rng_below(r, 3),
		                       .keys = 2 + rng_below(r, 2),
		                       .causal = rng_below(r, 2) };
}

/* A history that tells the order of some writers of its keys: mostly one that
 * agrees with an order of execution, at times any. */
static struct history *random_known(struct rng *r, bool causal)
{
	struct history_shape shape = random_shape(r);
	shape.causal = causal;
	struct history *h = history_random(r, shape);
	uint32_t n = h->transaction_count, odds = 1 + rng_below(r, 4);
	bool wild = rng_below(r, 4) == 0;
	h->known = region_take(&h->region,
	                       n * n * h->key_count * sizeof *h->known);
	for (uint32_t i = 1; i < n; i++)
		for (uint32_t j = i + 1; j < n; j++)
			for (uint32_t x = 0; x < h->key_count; x++) {
				uint32_t a = h->order[i], b = h->order[j];
				if (!twin_writes(h, a, x) ||
				    !twin_writes(h, b, x) || rng_below(r, odds))
					continue;
				bool turn = wild && rng_below(r, 3) == 0;
				h->known[h->known_count++] =
					(struct history_known){ turn ? b : a,
					                        turn ? a : b,
					                        x };
			}
	return h;
}

static void same_as_definition(const struct history *h,
                               const struct history *shown, unsigned levels)
{
	for (enum level l = 0; l < LEVEL_COUNT; l++) {
		bool allowed = levels >> l & 1;
		if (level_allows_history(l, h) == allowed) continue;
		ck_abort_msg("%s: %s, the definition says %s",
		             history_to_notation(shown), level_word(l),
		             allowed ? "allowed" : "forbidden");
	}
}

static void check_witness(enum level l, const struct history *h)
{
	struct witness w = { 0 };
	bool forbidden = !twin_allows(l, h);
	bool found = level_witness(l, h, &w);
	if (found != forbidden)
		ck_abort_msg("%s: %s, a witness is %s", history_to_notation(h),
		             level_word(l), found ? "made up" : "missing");
	if (found) twin_check_witness(l, h, &w);
	witness_free(&w);
}

/* Also counts, so that a generator gone dull is noticed: each level has to
 * forbid something that the levels just below it allow. */
START_TEST(random_histories)
{
	struct rng r = { first_seed() * 1000 + (uint64_t)_i };
	unsigned seen[LEVEL_COUNT] = { 0 };
	for (int i = 0; i < fewer(HISTORIES); i++) {
		struct history *h = history_random(&r, random_shape(&r));
		unsigned levels = twin_levels(h);
		for (enum level l = 0; l < LEVEL_COUNT; l++)
			seen[l] += levels >> l & 1;
		same_as_definition(h, h, levels);
		history_free(h);
	}
	ck_assert_uint_eq(seen[LEVEL_NONE], fewer(HISTORIES));
	bool enough = fewer(HISTORIES) >= HISTORIES / 2;
	for (enum level a = 0; enough && a < LEVEL_COUNT; a++)
		for (enum level b = 0; b < LEVEL_COUNT; b++)
			if (a != b && level_implies(a, b))
				ck_assert_msg(seen[a] < seen[b],
				              "%s never differs from %s",
				              level_word(a), level_word(b));
	ck_assert_uint_gt(seen[LEVEL_SER], fewer(HISTORIES) / 20);
}
END_TEST

/* The same with accesses that lock, and statements of several events. */
static struct history *random_locked(struct rng *r)
{
	struct history_shape shape = random_shape(r);
	shape.transactions = 4 + rng_below(r, 3);
	struct history *h = history_random(r, shape);
	history_give_locks(r, h);
	return h;
}

START_TEST(random_locks)
{
	struct rng r = { first_seed() * 10000 + (uint64_t)_i };
	unsigned allowed[LEVEL_COUNT] = { 0 };
	for (int i = 0; i < fewer(HISTORIES) / 2; i++) {
		struct history *h = random_locked(&r);
		unsigned levels = twin_levels(h);
		for (enum level l = 0; l < LEVEL_COUNT; l++)
			allowed[l] += levels >> l & 1;
		same_as_definition(h, h, levels);
		for (enum level l = 0; l < LEVEL_COUNT; l++)
			check_witness(l, h);
		history_free(h);
	}
	ck_assert_uint_gt(allowed[LEVEL_SER], fewer(HISTORIES) / 40);
	ck_assert_uint_gt(allowed[LEVEL_PRC], allowed[LEVEL_SER]);
}
END_TEST

/* The same, where transactions give locks up. */
START_TEST(locks_given_up)
{
	struct rng r = { first_seed() * 30000 + (uint64_t)_i };
	unsigned held = 0, allowed = 0;
	for (int i = 0; i < fewer(HISTORIES) / 2; i++) {
		struct history *h = random_locked(&r);
		bool before = twin_levels(h) >> LEVEL_PRC & 1;
		history_give_up_locks(&r, h);
		unsigned levels = twin_levels(h);
		held += before;
		allowed += levels >> LEVEL_PRC & 1;
		ck_assert(!before || levels >> LEVEL_PRC & 1);
		same_as_definition(h, h, levels);
		for (enum level l = 0; l < LEVEL_COUNT; l++) {
			struct witness w = { 0 };
			ck_assert(level_witness(l, h, &w) ==
			          !(levels >> l & 1));
			witness_free(&w);
		}
		history_free(h);
	}
	ck_assert(is_quick() ? allowed >= held : allowed > held);
}
END_TEST

static bool locks_several(const struct history *h)
{
	for (uint32_t t = 1; t < h->transaction_count; t++) {
		const struct event *e = h->transactions[t].events;
		uint32_t locks = 0;
		for (uint32_t i = 0; i < h->transactions[t].event_count; i++) {
			if (!e[i].joined) locks = 0;
			locks += event_strength(&e[i]) != STRENGTH_PLAIN;
			if (locks > 1) return true;
		}
	}
	return false;
}

/* Of what prc allows there is a schedule; and where statements lock one thing
 * at most, none of them is held in it if there is a schedule without that. */
START_TEST(random_schedules)
{
	struct rng r = { first_seed() * 20000 + (uint64_t)_i };
	unsigned held = 0, run = 0;
	for (int i = 0; i < fewer(HISTORIES) / 2; i++) {
		struct history *h = random_locked(&r);
		struct schedule s = { 0 };
		bool found = schedule_of_history(LEVEL_PRC, false, h, &s);
		ck_assert_msg(found == level_allows_history(LEVEL_PRC, h), "%s",
		              history_to_notation(h));
		bool runs = found && twin_schedule_runs(h, &s);
		if (found && !runs && twin_schedule_exists(h) &&
		    !locks_several(h))
			ck_abort_msg("%s: held", history_to_notation(h));
		run += runs;
		held += found && !runs;
		schedule_free(&s);
		history_free(h);
	}
	ck_assert_uint_gt(run, 10 * held);
	ck_assert_uint_gt(run, fewer(HISTORIES) / 40);
}
END_TEST

/* The same where some writers' order is known. It has to matter for each level
 * but none: forbid what the level allows without it. */
START_TEST(random_known_orders)
{
	struct rng r = { first_seed() * 6000 + (uint64_t)_i };
	unsigned matters[LEVEL_COUNT] = { 0 }, allowed = 0;
	for (int i = 0; i < fewer(HISTORIES) / 2; i++) {
		struct history *h = random_known(&r, i % 2);
		unsigned levels = twin_levels(h);
		uint32_t known = h->known_count;
		same_as_definition(h, h, levels);
		h->known_count = 0;
		unsigned before = twin_levels(h);
		h->known_count = known;
		ck_assert_uint_eq(levels & ~before, 0);
		for (enum level l = 0; l < LEVEL_COUNT; l++)
			matters[l] += (before & ~levels) >> l & 1;
		allowed += known && levels >> LEVEL_SER & 1;
		history_free(h);
	}
	ck_assert_uint_eq(matters[LEVEL_NONE], 0);
	for (enum level l = LEVEL_RC; l < LEVEL_COUNT; l++)
		ck_assert_uint_gt(matters[l], fewer(HISTORIES) / 200);
	ck_assert_uint_gt(allowed, fewer(HISTORIES) / 50);
}
END_TEST

static uint32_t transaction_named(const struct history *h, const char *name)
{
	for (uint32_t t = 1; t < h->transaction_count; t++)
		if (!strcmp(h->transactions[t].name, name)) return t;
	ck_abort_msg("no transaction %s", name);
}

static void copy_known(struct history *p, const struct history *h)
{
	p->known = region_take(&p->region,
	                       (h->known_count + 1) * sizeof *p->known);
	p->known_count = h->known_count;
	for (uint32_t i = 0; i < h->known_count; i++) {
		struct history_known e = h->known[i];
		e.from = transaction_named(p, h->transactions[e.from].name);
		e.to = transaction_named(p, h->transactions[e.to].name);
		p->known[i] = e;
	}
}

START_TEST(padded_known_orders)
{
	struct rng r = { first_seed() * 8000 + (uint64_t)_i };
	for (int i = 0; i < fewer(HISTORIES) / 10; i++) {
		struct history *h = random_known(&r, i % 2);
		struct history *p = history_padded(h, 57 + rng_below(&r, 90));
		copy_known(p, h);
		same_as_definition(p, h, twin_levels(h));
		history_free(p);
		history_free(h);
	}
}
END_TEST

/* Rows of more than one word: the same history among many other sessions. */
START_TEST(padded_histories)
{
	struct rng r = { first_seed() * 2000 + (uint64_t)_i };
	for (int i = 0; i < fewer(HISTORIES) / 10; i++) {
		struct history *h = history_random(&r, random_shape(&r));
		struct history *p = history_padded(h, 57 + rng_below(&r, 90));
		ck_assert_uint_gt(p->transaction_count, 58);
		same_as_definition(p, h, twin_levels(h));
		history_free(p);
		history_free(h);
	}
}
END_TEST

START_TEST(many_transactions)
{
	struct history *good =
		history_from_notation("T1: x<0 Wx | T2: x<T1 Wx");
	struct history *bad = history_from_notation("T1: x<0 Wx | T2: x<0 Wx");
	struct history *many = history_padded(good, 4000);
	ck_assert_uint_eq(many->transaction_count, 4003);
	same_as_definition(many, good, twin_levels(good));
	history_free(many);
	many = history_padded(bad, 4000);
	same_as_definition(many, bad, twin_levels(bad));
	history_free(many);
	history_free(good);
	history_free(bad);
}
END_TEST

/* The judge itself: giving up at the first broken axiom changes nothing. */
START_TEST(definition_twice)
{
	struct rng r = { first_seed() * 3000 + (uint64_t)_i };
	struct history_shape shape = { 4, 5, 4, 3, true };
	for (int i = 0; i < 300; i++) {
		struct history *h = history_random(&r, shape);
		for (enum level l = 0; l < LEVEL_COUNT; l++)
			if (twin_allows(l, h) != twin_allows_plain(l, h))
				ck_abort_msg("%s: %s", history_to_notation(h),
				             level_word(l));
		history_free(h);
	}
}
END_TEST

START_TEST(known_definition_twice)
{
	struct rng r = { first_seed() * 9000 + (uint64_t)_i };
	for (int i = 0; i < 100;) {
		struct history *h = random_known(&r, i % 2);
		bool small = h->transaction_count <= 7;
		for (enum level l = 0; small && l < LEVEL_COUNT; l++)
			if (twin_allows(l, h) != twin_allows_plain(l, h))
				ck_abort_msg("%s: %s", history_to_notation(h),
				             level_word(l));
		i += small;
		history_free(h);
	}
}
END_TEST

START_TEST(implications)
{
	static const char *const expected[] = {
		/* none rc ra cc prc pc psi si ser */
		"1........", "11.......", "111......", "1111.....", "11..1....",
		"1111.1...", "1111..1..", "1111.111.", "111111111",
	};
	for (enum level a = 0; a < LEVEL_COUNT; a++)
		for (enum level b = 0; b < LEVEL_COUNT; b++)
			ck_assert_msg(
				level_implies(a, b) == (expected[a][b] == '1'),
				"%s implies %s", level_word(a), level_word(b));
}
END_TEST

START_TEST(words)
{
	for (enum level l = 0; l < LEVEL_COUNT; l++)
		ck_assert_int_eq(level_from_word(level_word(l)), l);
	ck_assert_int_eq(level_from_word("sre"), LEVEL_COUNT);
	ck_assert_int_eq(level_from_word(""), LEVEL_COUNT);
	ck_assert_str_eq(level_name(LEVEL_SI), "Snapshot Isolation");
	ck_assert(level_is_extensible(LEVEL_CC));
	ck_assert(!level_is_extensible(LEVEL_PC));
	for (enum level l = 0; l < LEVEL_COUNT; l++) {
		ck_assert_int_eq(level_needs_order(l), l > LEVEL_CC);
		enum level base = l < LEVEL_CC ? l : LEVEL_CC;
		if (level_has_statements(l)) base = LEVEL_RC;
		ck_assert_int_eq(level_base(l), base);
	}
}
END_TEST

/* ---- witnesses ---- */

START_TEST(witnesses)
{
	struct rng r = { first_seed() * 4000 + (uint64_t)_i };
	for (int i = 0; i < fewer(HISTORIES) / 3; i++) {
		struct history *h = history_random(&r, random_shape(&r));
		for (enum level l = 0; l < LEVEL_COUNT; l++)
			check_witness(l, h);
		history_free(h);
	}
}
END_TEST

START_TEST(witnesses_of_known_orders)
{
	struct rng r = { first_seed() * 7000 + (uint64_t)_i };
	for (int i = 0; i < fewer(HISTORIES) / 3; i++) {
		struct history *h = random_known(&r, i % 2);
		for (enum level l = 0; l < LEVEL_COUNT; l++)
			check_witness(l, h);
		history_free(h);
	}
}
END_TEST

/* A shortest cycle: two transactions suffice for a lost update. */
START_TEST(witness_of_lost_update)
{
	struct history *h = history_from_notation("T1: x<0 Wx | T2: x<0 Wx");
	struct witness w;
	ck_assert(level_witness(LEVEL_SER, h, &w));
	ck_assert_uint_eq(w.count, 2);
	witness_free(&w);
	history_free(h);
}
END_TEST

/* The weakest level that forbids a random history, and some name for it; not
 * one with statements, which alone knows of the locks of what aborts. */
START_TEST(anomalies)
{
	struct rng r = { first_seed() * 5000 };
	for (int i = 0; i < fewer(HISTORIES); i++) {
		struct history *h = i % 2 ? history_random(&r, random_shape(&r))
		                          : random_known(&r, i % 4);
		unsigned levels = twin_levels(h);
		enum level by = LEVEL_COUNT;
		if (levels >> LEVEL_SER & 1) {
			history_free(h);
			continue;
		}
		const char *name = anomaly_name(h, &by);
		ck_assert_ptr_nonnull(name);
		ck_assert_str_ne(name, "");
		ck_assert(by < LEVEL_COUNT);
		ck_assert(!(levels >> by & 1));
		if (!strcmp(name, "lost update"))
			ck_assert_int_eq(by, LEVEL_PSI);
		for (enum level l = 0; l < LEVEL_COUNT; l++)
			if (l != by && level_implies(by, l) &&
			    !level_has_statements(l) && !(levels >> l & 1))
				ck_abort_msg("%s: %s forbids it, not only %s",
				             history_to_notation(h),
				             level_word(l), level_word(by));
		history_free(h);
	}
}
END_TEST

struct known_name {
	const char *history;
	uint32_t count;
	struct history_known known[2]; /* of keys x (0) and y (1) */
	const char *name;
	enum level by;
};

START_TEST(anomalies_of_known_orders)
{
	static const struct known_name rows[] = {
		{ "T1: Wx Wy | T2: Wx Wy",
		  2,
		  { { 1, 2, 0 }, { 2, 1, 1 } },
		  "dirty write (G0)",
		  LEVEL_RC },
		{ "T1: Wx Wy | T2: Wx y<T1",
		  1,
		  { { 2, 1, 0 } },
		  "circular information flow (G1c)",
		  LEVEL_RC },
		{ "T1: Wx ; T2: Wx",
		  1,
		  { { 2, 1, 0 } },
		  "monotonic writes violation",
		  LEVEL_RC },
		{ "T1: Wx | T2: Wx Wy | T3: x<T1 y<T2",
		  1,
		  { { 1, 2, 0 } },
		  "read skew (G-single)",
		  LEVEL_RA },
		{ "T1: Wx | T2: Wx Wy | T3: x<0 y<T2",
		  1,
		  { { 1, 2, 0 } },
		  "read skew (G-single)",
		  LEVEL_RA },
		{ "T1: Wx Wy | T2: Wy Wz | T3: x<0 z<T2",
		  1,
		  { { 1, 2, 1 } },
		  "G-single",
		  LEVEL_PC },
		{ "T1: x<0 Wx | T2: Wx",
		  1,
		  { { 2, 1, 0 } },
		  "lost update",
		  LEVEL_PSI },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct history *h = history_from_notation(rows[i].history);
		enum level by = LEVEL_COUNT;
		h->known_count = rows[i].count;
		h->known = region_take(&h->region, sizeof rows[i].known);
		memcpy(h->known, rows[i].known, sizeof rows[i].known);
		const char *name = anomaly_name(h, &by);
		ck_assert_msg(name && !strcmp(name, rows[i].name),
		              "%s is called %s", rows[i].history,
		              name ? name : "nothing");
		ck_assert_str_eq(level_word(by), level_word(rows[i].by));
		history_free(h);
	}
}
END_TEST

void add_levels_tests(TCase *tests)
{
	tcase_add_loop_test(tests, random_histories, 0, RUNS);
	tcase_add_loop_test(tests, padded_histories, 0, RUNS);
	tcase_add_loop_test(tests, random_locks, 0, RUNS);
	tcase_add_loop_test(tests, locks_given_up, 0, RUNS);
	tcase_add_loop_test(tests, random_schedules, 0, RUNS);
	tcase_add_test(tests, many_transactions);
	tcase_add_loop_test(tests, definition_twice, 0, 4);
	tcase_add_loop_test(tests, known_definition_twice, 0, 4);
	tcase_add_loop_test(tests, random_known_orders, 0, RUNS);
	tcase_add_loop_test(tests, padded_known_orders, 0, RUNS);
	tcase_add_test(tests, implications);
	tcase_add_test(tests, words);
	tcase_add_loop_test(tests, witnesses, 0, RUNS);
	tcase_add_loop_test(tests, witnesses_of_known_orders, 0, RUNS);
	tcase_add_test(tests, witness_of_lost_update);
	tcase_add_test(tests, anomalies);
	tcase_add_test(tests, anomalies_of_known_orders);
}
