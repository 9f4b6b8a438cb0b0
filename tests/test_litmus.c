/* The classic histories against every level: each row of the table is held
 * against the levels' fast checks, and against the definitions, so that the
 * table itself is tested too. */
#include <stdlib.h>
#include <string.h>

#include "axioms/allows.h"
#include "axioms/level.h"
#include "axioms/witness.h"
#include "litmus_rows.h"
#include "suites.h"
#include "support.h"
#include "twin_axioms.h"

START_TEST(row_is_judged)
{
	const struct litmus_row *row = litmus_row(_i);
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
			for (int i = 0; i < LITMUS_ROWS; i++)
				separated |= litmus_row(i)->levels[a] == 'A' &&
				             litmus_row(i)->levels[b] == '-';
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
		{ "P4", "lost update" },
		{ "locked update", "lost update" },
		{ "locked skew", "write skew" },
		{ "G2-item", "write skew" },
		{ "L-longfork", "long fork" },
		{ "L-causal", "causal" },
		{ "L-nonrep", "non-repeatable read" },
	};
	for (size_t i = 0; i < sizeof named / sizeof *named; i++)
		for (int r = 0; r < LITMUS_ROWS; r++) {
			const struct litmus_row *row = litmus_row(r);
			if (strcmp(row->name, named[i].row)) continue;
			struct history *h = history_from_notation(row->history);
			enum level by = LEVEL_COUNT;
			const char *name = anomaly_name(h, &by);
			ck_assert_msg(name && strstr(name, named[i].anomaly),
			              "%s is called %s", named[i].row,
			              name ? name : "nothing");
			enum level weakest = 0;
			while (row->levels[weakest] == 'A') weakest++;
			ck_assert_str_eq(level_word(by), level_word(weakest));
			history_free(h);
		}
}
END_TEST

void add_litmus_tests(TCase *tests)
{
	tcase_add_loop_test(tests, row_is_judged, 0, LITMUS_ROWS);
	tcase_add_test(tests, circular_reads_are_no_history);
	tcase_add_test(tests, levels_are_separated);
	tcase_add_test(tests, anomalies_have_their_names);
}
