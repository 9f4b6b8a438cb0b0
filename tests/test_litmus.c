/* The classic histories against every level.
 *
 * The columns are what databases and papers agree on; psi is derived from its
 * axiom. Each row is held against the levels' fast checks, and against the
 * definitions, so that the table itself is tested too.
 */
#include <stdlib.h>
#include <string.h>

#include "axioms/level.h"
#include "suites.h"
#include "support.h"
#include "twin_axioms.h"

struct row {
	const char *name;
	/* none rc ra cc pc psi si ser: A allowed, - forbidden */
	const char *levels;
	const char *history;
};

static const struct row rows[] = {
	{ "G0-obs", "AA------",
	  "T1: Wx Wy | T2: Wx Wy | T3: x<T1 y<T2" },
	{ "G0-pin", "A-------",
	  "T1: Wx Wy | T2: Wx Wy | R: x<T1 y<T2 | S: y<T2 x<T1" },
	{ "OTV", "A-------",
	  "T1: Wx Wy | T2: Wx Wy | T3: x<T2 y<T1 y<T2 x<T2" },
	{ "OTV-short", "AA------",
	  "T1: Wx Wy | T2: Wx Wy | T3: x<T2 y<T1" },
	{ "OTV-so", "A-------",
	  "T1: Wx Wy ; T2: Wx Wy | T3: x<T2 y<T1" },
	{ "OTV-so-rev", "AA------",
	  "T1: Wx Wy ; T2: Wx Wy | T3: y<T1 x<T2" },
	{ "PMP", "AA------",
	  "T1: e3<0 e3<T2 v3<T2 | T2: We3 Wv3" },
	{ "PMP-write", "AA------",
	  "T1: x<0 Wx y<0 Wy | T2: x<0 y<0 Wey ex<0 x<T1" },
	{ "P4", "AAAAA---",
	  "T1: x<0 Wx | T2: x<0 Wx" },
	{ "G-single", "AA------",
	  "T1: x<0 y<T2 | T2: x<0 y<0 Wx Wy" },
	{ "G-single-dep", "AA------",
	  "T1: x<0 y<0 x<T2 y<0 | T2: x<0 y<0 Wx" },
	{ "G-single-write, both new", "AA------",
	  "T1: x<0 x<T2 y<T2 | T2: Wx Wy" },
	{ "G-single-write, one new", "AA------",
	  "T1: x<0 x<0 y<T2 | T2: Wx Wy" },
	{ "G-single-3", "AAA-----",
	  "T2: Wx | T3: x<T2 Wy | T1: x<0 y<T3" },
	{ "G2-item", "AAAAAAA-",
	  "T1: x<0 y<0 Wx | T2: x<0 y<0 Wy" },
	{ "G2", "AAAAAAA-",
	  "T1: e3<0 e4<0 We3 Wv3 | T2: e3<0 e4<0 We4 Wv4" },
	{ "G2-two-edges", "AAAAAAA-",
	  "T1: x<0 y<0 Wx | T2: y<0 Wy | T3: x<0 y<T2" },
	{ "L-nonmono", "A-------",
	  "T1: Wx | T2: x<T1 Wx Wy | T3: y<T2 x<T1" },
	{ "L-fracture", "AA------",
	  "T1: Wx | T2: x<T1 Wx Wy | T3: x<T1 y<T2" },
	{ "L-nonrep", "AA------",
	  "T2: Wx | T1: x<0 x<T2" },
	{ "L-nonrep-back", "A-------",
	  "T2: Wx | T1: x<T2 x<0" },
	{ "L-RYW", "AA------",
	  "T1: Wx ; T2: x<0" },
	{ "L-MR", "AAA-----",
	  "T0: Wx | T1: x<T0 ; T2: x<0" },
	{ "L-MW", "AAA-----",
	  "T1: Wx ; T2: Wy | T3: y<T2 x<0" },
	{ "L-WFR", "AAA-----",
	  "T1: Wx | T2: x<T1 ; T3: Wy | T4: y<T3 x<0" },
	{ "L-causal", "AAA-----",
	  "T1: Wx | T2: x<T1 Wy | T3: y<T2 x<0" },
	{ "L-opposite", "AAA-----",
	  "T1: Wx | T2: Wx | T3: x<T1 ; T4: x<T2 | T5: x<T2 ; T6: x<T1" },
	{ "L-longfork", "AAAA-A--",
	  "T1: Wx | T2: Wy | T3: x<T1 y<0 | T4: x<0 y<T2" },
	{ "L-SB", "AAAA-A--",
	  "A1: Wx ; A2: y<0 | B1: Wy ; B2: x<0" },
	{ "L-LU", "AAAAA---",
	  "T1: x<0 Wx | T2: x<0 Wx" },
	{ "L-cart", "AAAAA---",
	  "A: c<0 Wc | D: c<0 Wc | R1: c<D ; R2: c<A" },
	{ "L-skew-ww", "AAAAA---",
	  "T1: x<0 y<0 Wx Wz | T2: x<0 y<0 Wy Wz" },
	{ "L-WS", "AAAAAAA-",
	  "T1: x<0 y<0 Wx | T2: x<0 y<0 Wy" },
	{ "L-receipt", "AAAAAAA-",
	  "T1: b<0 Wq | T2: Wb | T3: b<T2 q<0" },
	{ "L-blind", "AAAAAAAA",
	  "T1: y<0 Wx | T2: Wx Wy" },
	{ "L-RC-SO", "A-------",
	  "X: Wx | A: x<X ; B: Wx Wy | C: y<B x<X" },
	/* An aborted transaction's reads count, its writes don't. */
	{ "aborted reader", "A-------",
	  "T1: Wx | T2!: x<T1 x<0" },
	{ "aborted writer", "AAAAAAAA",
	  "T1!: x<0 Wx | T2: x<0 Wx" },
	/* finally comes after everybody. */
	{ "stale end", "AA------",
	  "T1: Wx | * F: x<0" },
	{ "own write", "AAAAAAAA",
	  "T1: Wx x<self | T2: Wx x<self" },
};

enum { ROWS = sizeof rows / sizeof *rows };

START_TEST(row_is_judged)
{
	const struct row *row = &rows[_i];
	struct history *h = history_from_notation(row->history);
	ck_assert_uint_eq(strlen(row->levels), LEVEL_COUNT);
	ck_assert_msg(h->order != NULL, "%s has no order", row->name);
	for (enum level l = 0; l < LEVEL_COUNT; l++) {
		bool allowed = row->levels[l] == 'A';
		ck_assert_msg(twin_allows(l, h) == allowed,
		              "%s under %s: the table says %c, the definition "
		              "does not",
		              row->name, level_word(l), row->levels[l]);
		ck_assert_msg(level_allows_history(l, h) == allowed,
		              "%s under %s: should be %c", row->name,
		              level_word(l), row->levels[l]);
	}
	history_free(h);
}
END_TEST

/* G1c: each reads from the other. No order of execution, no level. */
START_TEST(circular_reads_are_no_history)
{
	struct history *h = history_from_notation("T1: Wx y<T2 | T2: Wy x<T1");
	ck_assert_ptr_null(h->order);
	for (enum level l = 0; l < LEVEL_COUNT; l++)
		ck_assert_msg(!level_allows_history(l, h), "allowed by %s",
		              level_word(l));
	history_free(h);
}
END_TEST

/* The stronger of two neighbouring levels forbids some row that the weaker one
 * allows: no two columns are the same. */
START_TEST(levels_are_separated)
{
	for (enum level a = 0; a < LEVEL_COUNT; a++)
		for (enum level b = 0; b < LEVEL_COUNT; b++) {
			bool separated = false;
			for (size_t i = 0; i < ROWS; i++)
				separated |= rows[i].levels[a] == 'A' &&
				             rows[i].levels[b] == '-';
			ck_assert_msg(separated == !level_implies(a, b),
			              "%s and %s", level_word(a),
			              level_word(b));
		}
}
END_TEST

struct named {
	const char *row;
	const char *anomaly; /* a word that its name has to contain */
};

START_TEST(anomalies_have_their_names)
{
	static const struct named named[] = {
		{ "P4", "lost update" },      { "G2-item", "write skew" },
		{ "L-longfork", "long fork" }, { "L-causal", "causal" },
		{ "L-nonrep", "non-repeatable read" },
	};
	for (size_t i = 0; i < sizeof named / sizeof *named; i++)
		for (size_t r = 0; r < ROWS; r++) {
			if (strcmp(rows[r].name, named[i].row)) continue;
			struct history *h =
			    history_from_notation(rows[r].history);
			enum level by = LEVEL_COUNT;
			const char *name = anomaly_name(h, &by);
			ck_assert_msg(name && strstr(name, named[i].anomaly),
			              "%s is called %s", named[i].row,
			              name ? name : "nothing");
			enum level weakest = 0;
			while (rows[r].levels[weakest] == 'A') weakest++;
			ck_assert_str_eq(level_word(by),
			                 level_word(weakest));
			history_free(h);
		}
}
END_TEST

void add_litmus_tests(TCase *tests)
{
	tcase_add_loop_test(tests, row_is_judged, 0, ROWS);
	tcase_add_test(tests, circular_reads_are_no_history);
	tcase_add_test(tests, levels_are_separated);
	tcase_add_test(tests, anomalies_have_their_names);
}
