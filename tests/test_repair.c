/* Repairs against brute force: of random programs every set of up to two edits
 * is explored, as the text that it makes. What the repair answers must hold,
 * and whatever holds must be within an answer. And the shipped programs, whose
 * repairs are known. */
#include <stdlib.h>
#include <string.h>

#include "dpor/explorer.h"
#include "dpor/verdict.h"
#include "file_support.h"
#include "random_program.h"
#include "repair/repair.h"
#include "suites.h"
#include "support.h"

enum {
	RUNS = 10,
	PROGRAMS = 2000,
	EDITS = 2,
	MOST_EDITS = 24, /* of a program that is tried */
	MOST_HISTORIES = 300
};

static struct repair_options options_of(const char *path, enum level l)
{
	return (struct repair_options){
		.path = path,
		.explore = { .level = l, .jobs = 1, .max_changes = UINT64_MAX },
		.max_edits = EDITS,
		.max_answers = UINT32_MAX,
	};
}

/* By the other explorer. */
static enum verdict plainly(const struct edits *e, struct edit_set s,
                            bool robust, uint64_t *histories)
{
	struct edited x = edits_make(e, s);
	enum level l = edits_level(e, s);
	*histories = 0;
	if (!x.program) return VERDICT_INCONCLUSIVE;
	struct explore_options o = { .algorithm = EXPLORE_CE,
		                     .level = l,
		                     .base = level_base(l),
		                     .robust = robust,
		                     .max_histories = MOST_HISTORIES,
		                     .max_changes = UINT64_MAX,
		                     .jobs = 1 };
	struct explorer *explorer = explorer_new(x.program, &o, NULL);
	explorer_run(explorer);
	enum verdict v = explorer_verdict(explorer);
	*histories = explorer_stats(explorer)->histories;
	explorer_free(explorer);
	edited_free(&x);
	return v;
}

/* Is each edit of the answer implied by one of the set? */
static bool is_within(const struct edits *e, struct edit_set s,
                      const struct repair_row *answer)
{
	for (uint32_t i = 0; i < answer->count; i++) {
		uint32_t k = 0;
		while (k < s.count &&
		       !edits_imply(e, s.items[k], answer->items[i]))
			k++;
		if (k == s.count) return false;
	}
	return true;
}

/* Is it one that repair() looks at? */
static bool is_candidate(const struct edits *e, uint32_t i)
{
	const struct edit *x = edits_get(e, i);
	return x->kind != EDIT_PROGRAM && edits_strengthen(e, i) &&
	       (x->level == LEVEL_COUNT ||
	        level_row(x->level)->rivals != RIVALS_FREE);
}

static void judge_set(const struct repair *r, struct edit_set s, bool robust,
                      const char *text)
{
	uint64_t histories;
	enum verdict v = plainly(r->edits, s, robust, &histories);
	bool within = false, same = false;
	for (uint32_t i = 0; i < r->answers.count; i++) {
		const struct repair_row *a = &r->answers.items[i];
		within |= is_within(r->edits, s, a);
		same |= a->count == s.count &&
		        !memcmp(a->items, s.items, s.count * sizeof *s.items);
	}
	if (v == VERDICT_INCONCLUSIVE) return;
	if ((v == VERDICT_HOLDS && !within) || (v != VERDICT_HOLDS && same)) {
		struct text diff = { 0 };
		edits_diff(&diff, r->edits, s, 0);
		ck_abort_msg("under %s these edits are %s an answer:\n%s\n%s",
		             level_word(r->options.explore.level),
		             same ? "wrongly" : "not", text_get(&diff), text);
	}
}

static bool judge_program(const char *path, const char *text, enum level l,
                          bool robust)
{
	struct diags d = { 0 };
	struct repair r;
	struct repair_options o = options_of(path, l);
	uint64_t histories;
	o.explore.robust = robust;
	struct edits *e = edits_new(path, l, false, &d);
	ck_assert_ptr_nonnull(e);
	bool small = edits_count(e) <= MOST_EDITS &&
	             plainly(e, (struct edit_set){ NULL, 0 }, robust,
	                     &histories) == VERDICT_VIOLATED &&
	             histories < MOST_HISTORIES;
	edits_free(e);
	if (small) {
		ck_assert(repair(&r, &o, &d));
		ck_assert_int_eq(r.asked.verdict, VERDICT_VIOLATED);
		uint32_t n = edits_count(r.edits);
		for (uint32_t a = 0; a < n; a++) {
			if (!is_candidate(r.edits, a)) continue;
			judge_set(&r, (struct edit_set){ &a, 1 }, robust, text);
			for (uint32_t b = a + 1; b < n; b++) {
				uint32_t two[] = { a, b };
				if (is_candidate(r.edits, b) &&
				    edits_join(r.edits, a, b))
					judge_set(&r,
					          (struct edit_set){ two, 2 },
					          robust, text);
			}
		}
		repair_free(&r);
	}
	diags_free(&d);
	return small;
}

START_TEST(random_programs)
{
	struct rng r = { process_seed(_i, 0) };
	uint64_t judged = 0, all = programs_each(PROGRAMS, PROGRAMS, RUNS);
	folder_enter();
	for (uint64_t i = 0; i < all; i++) {
		struct text t = { 0 };
		enum level l = 1 + rng_below(&r, LEVEL_COUNT - 2);
		if (rng_below(&r, 2))
			random_locking_program(&t, rng_next(&r));
		else
			random_program(&t, rng_next(&r));
		file_write_text("random.tx", text_get(&t));
		if (strstr(text_get(&t), " at ") && !level_mixes(l))
			l = LEVEL_DEFAULT;
		judged += judge_program("random.tx", text_get(&t), l,
		                        rng_below(&r, 2));
		text_free(&t);
	}
	folder_leave();
	ck_assert(judged > 0 || all < 20);
}
END_TEST

/* ---- known programs ---- */

static const char skew[] = "global x = 0; global y = 0;\n"
			   "session a { txn { if (y == 0) x = 1; } }\n"
			   "session b { txn { if (x == 0) y = 1; } }\n"
			   "finally { let end = (x, y); }\n"
			   "assert finally.end != (1, 1);\n";

static const char counter[] = "isolation prc;\n"
			      "global n = 0;\n"
			      "txn add() { let old = n;\n"
			      "    n = old + 1; // one more\n"
			      "}\n"
			      "session a { add(); }\n"
			      "session b { add(); }\n"
			      "finally { let end = n; }\n"
			      "assert finally.end == 2;\n";

static struct repair repair_text(const char *text, enum level l, bool robust)
{
	struct diags d = { 0 };
	struct repair out;
	struct repair_options o = options_of("known.tx", l);
	o.explore.robust = robust;
	file_write_text("known.tx", text);
	bool fine = repair(&out, &o, &d);
	if (!fine) ck_abort_msg("%s", diags_to_text(&d));
	diags_free(&d);
	return out;
}

/* The diffs of all rows. */
static char *diffs(const struct edits *e, const struct repair_rows *rows)
{
	struct text t = { 0 };
	for (uint32_t i = 0; i < rows->count; i++)
		edits_diff(&t, e,
		           (struct edit_set){ rows->items[i].items,
		                              rows->items[i].count },
		           0);
	char *copy = strdup(text_get(&t));
	text_free(&t);
	return copy;
}

/* Under si one lock of a write skew is not enough, two are. */
START_TEST(write_skew)
{
	folder_enter();
	struct repair r = repair_text(skew, level_from_word("si"), true);
	uint32_t locks = 0;
	ck_assert_uint_gt(r.answers.count, 0);
	for (uint32_t i = 0; i < r.answers.count; i++) {
		const struct repair_row *a = &r.answers.items[i];
		bool all = true;
		for (uint32_t k = 0; k < a->count; k++)
			all &= edits_get(r.edits, a->items[k])->kind ==
			       EDIT_LOCK;
		if (!all) continue;
		ck_assert_uint_eq(a->count, 2);
		locks++;
	}
	ck_assert_uint_eq(locks, 1);
	char *words = diffs(r.edits, &r.answers);
	ck_assert_ptr_nonnull(strstr(words,
	                             "+ session a { txn { if (shared y == 0) "
	                             "x = 1; } }\n"));
	ck_assert_uint_gt(r.failing.count, 0);
	free(words);
	repair_free(&r);
	folder_leave();
}
END_TEST

START_TEST(lost_update)
{
	folder_enter();
	struct repair r = repair_text(counter, level_from_word("prc"), false);
	char *words = diffs(r.edits, &r.answers);
	ck_assert_ptr_nonnull(strstr(words,
	                             "known.tx:3\n"
	                             "- txn add() { let old = n;\n"
	                             "+ txn add() { let old = locked n;\n"));
	/* What stands behind it, stays. */
	ck_assert_ptr_nonnull(
		strstr(words, "known.tx:3\n"
	                      "- txn add() { let old = n;\n"
	                      "-     n = old + 1; // one more\n"
	                      "+ txn add() { atomic n += 1; // one more\n"));
	free(words);
	repair_free(&r);
	folder_leave();
}
END_TEST

/* What fails one after the other has no repair; what holds, needs none. */
START_TEST(nothing_to_repair)
{
	static const char wrong[] = "global n = 0;\n"
				    "session a { txn { n = 1; } }\n"
				    "finally { let end = n; }\n"
				    "assert finally.end == 0;\n";
	folder_enter();
	struct repair r = repair_text(wrong, LEVEL_DEFAULT, false);
	ck_assert(r.hopeless);
	ck_assert_uint_eq(r.answers.count, 0);
	repair_free(&r);
	r = repair_text(counter, LEVEL_SERIAL, false);
	ck_assert_int_eq(r.asked.verdict, VERDICT_HOLDS);
	ck_assert_uint_eq(r.answers.count, 0);
	/* psi stands beside no others, and the transaction may have si. */
	ck_assert_uint_eq(r.weaker.count, 1);
	repair_free(&r);
	folder_leave();
}
END_TEST

void add_repair_tests(TCase *tests)
{
	tcase_add_loop_test(tests, random_programs, 0, RUNS);
	tcase_add_test(tests, write_skew);
	tcase_add_test(tests, lost_update);
	tcase_add_test(tests, nothing_to_repair);
}
