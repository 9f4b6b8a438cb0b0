/* Repairs against brute force: of random programs every set of up to three
 * edits is explored, as the text that it makes, those of the least cost first;
 * the repair must answer just those that hold and are within none before them.
 * And programs whose repairs are known. */
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
	EDITS = 3,
	MOST_EDITS = 9, /* of a program of which sets of so many are tried */
	MOST_TWO = 20,  /* and of two */
	MOST_SETS = 2048,
	MOST_HISTORIES = 300,
	MOST_SECONDS = 2 /* where locks drop nearly all end states */
};

static struct repair_options options_of(const char *path, enum level l)
{
	struct repair_options o = {
		.path = path,
		.explore = { .level = l, .jobs = 1, .max_changes = UINT64_MAX },
		.max_edits = EDITS,
		.max_answers = UINT32_MAX,
	};
	ck_assert(repair_weights(&o, NULL, NULL));
	return o;
}

/* ---- the twin ---- */

struct twin_set {
	uint32_t items[EDITS], count;
	unsigned cost;
	bool answers;
};

struct twin {
	const struct edits *edits;
	bool robust;
	struct twin_set sets[MOST_SETS];
	uint32_t count;
	bool cut; /* something has too many histories, or end states */
};

/* By the other explorer. */
static enum verdict plainly(struct twin *t, struct edit_set s)
{
	struct edited x = edits_make(t->edits, s);
	enum level l = edits_level(t->edits, s);
	if (!x.program) return VERDICT_VIOLATED;
	struct explore_options o = { .algorithm = EXPLORE_CE,
		                     .level = l,
		                     .base = level_base(l),
		                     .robust = t->robust,
		                     .max_histories = MOST_HISTORIES,
		                     .timeout = MOST_SECONDS,
		                     .max_changes = UINT64_MAX,
		                     .stop_on_violation = true,
		                     .jobs = 1 };
	struct explorer *explorer = explorer_new(x.program, &o, NULL);
	explorer_run(explorer);
	enum verdict v = explorer_verdict(explorer);
	enum stop_reason stop = explorer_stats(explorer)->stop;
	t->cut |= stop == STOP_HISTORIES || stop == STOP_TIME;
	explorer_free(explorer);
	edited_free(&x);
	return v;
}

/* Is each edit of the answer implied by one of the set? */
static bool is_within(const struct edits *e, const struct twin_set *s,
                      const struct twin_set *answer)
{
	for (uint32_t i = 0; i < answer->count; i++) {
		uint32_t k = 0;
		while (k < s->count &&
		       !edits_imply(e, s->items[k], answer->items[i]))
			k++;
		if (k == s->count) return false;
	}
	return true;
}

/* Is it one that repair() looks at? */
static bool is_candidate(const struct edits *e, uint32_t i)
{
	const struct edit *x = edits_get(e, i);
	return x->kind != EDIT_PROGRAM && x->cost && edits_strengthen(e, i) &&
	       (x->level == LEVEL_COUNT ||
	        level_row(x->level)->rivals != RIVALS_FREE);
}

static void add_sets(struct twin *t, struct twin_set s, uint32_t from,
                     uint32_t most)
{
	if (s.count) {
		ck_assert(t->count < MOST_SETS);
		t->sets[t->count++] = s;
	}
	if (s.count == most) return;
	for (uint32_t i = from; i < edits_count(t->edits); i++) {
		bool fits = is_candidate(t->edits, i);
		for (uint32_t k = 0; k < s.count; k++)
			fits = fits && edits_join(t->edits, s.items[k], i);
		if (!fits) continue;
		struct twin_set more = s;
		more.items[more.count++] = i;
		more.cost += edits_get(t->edits, i)->cost;
		add_sets(t, more, i + 1, most);
	}
}

static int compare_sets(const void *a, const void *b)
{
	const struct twin_set *x = a, *y = b;
	if (x->cost != y->cost) return x->cost < y->cost ? -1 : 1;
	for (uint32_t i = 0; i < x->count && i < y->count; i++)
		if (x->items[i] != y->items[i])
			return x->items[i] < y->items[i] ? -1 : 1;
	return 0;
}

static void find_answers(struct twin *t, uint32_t most)
{
	add_sets(t, (struct twin_set){ .count = 0 }, 0, most);
	qsort(t->sets, t->count, sizeof *t->sets, compare_sets);
	for (uint32_t i = 0; i < t->count && !t->cut; i++) {
		struct twin_set *s = &t->sets[i];
		bool within = false;
		for (uint32_t k = 0; k < i; k++)
			within |= t->sets[k].answers &&
			          is_within(t->edits, s, &t->sets[k]);
		s->answers =
			!within &&
			plainly(t, (struct edit_set){ s->items, s->count }) ==
				VERDICT_HOLDS;
	}
}

static void wrong_answer(const struct repair *r, struct edit_set s,
                         const char *how, const char *text)
{
	struct text diff = { 0 };
	edits_diff(&diff, r->edits, s, 0);
	ck_abort_msg("under %s%s%s these edits are %s an answer:\n%s\n%s",
	             level_word(r->options.explore.level),
	             r->options.explore.robust ? ", robust," : "",
	             r->options.oracle ? ", of Oracle," : "", how,
	             text_get(&diff), text);
}

/* The answers are the twin's, in its order; then those of whole programs. */
static void compare_answers(const struct repair *r, const struct twin *t,
                            const char *text)
{
	uint32_t at = 0;
	for (uint32_t i = 0; i < t->count; i++) {
		const struct twin_set *s = &t->sets[i];
		if (!s->answers) continue;
		struct edit_set expected = { s->items, s->count };
		if (at == r->answers.count)
			wrong_answer(r, expected, "not", text);
		const struct repair_row *a = &r->answers.items[at++];
		if (a->count != s->count ||
		    memcmp(a->items, s->items, s->count * sizeof *s->items))
			wrong_answer(r, expected, "not, or too late,", text);
		ck_assert_uint_eq(a->cost, s->cost);
		ck_assert(a->complete && !a->violating);
	}
	for (; at < r->answers.count; at++) {
		const struct repair_row *a = &r->answers.items[at];
		if (a->count != 1 ||
		    edits_get(r->edits, a->items[0])->kind != EDIT_PROGRAM)
			wrong_answer(r, (struct edit_set){ a->items, a->count },
			             "wrongly", text);
	}
}

static bool judge_program(const struct repair_options *o, const char *text)
{
	struct diags d = { 0 };
	struct repair r;
	struct repair_options wanted = *o;
	struct edit_terms terms = { .level = o->explore.level,
		                    .locks_write = o->oracle,
		                    .ssi = o->ssi,
		                    .weights = o->weights };
	struct edits *e = edits_new(o->path, &terms, &d);
	ck_assert_ptr_nonnull(e);
	struct twin *t = calloc(1, sizeof *t);
	t->edits = e;
	t->robust = o->explore.robust;
	uint32_t candidates = 0;
	for (uint32_t i = 0; i < edits_count(e); i++)
		candidates += is_candidate(e, i);
	wanted.max_edits = candidates <= MOST_EDITS ? EDITS : 2;
	bool judged =
		candidates <= MOST_TWO &&
		plainly(t, (struct edit_set){ NULL, 0 }) == VERDICT_VIOLATED;
	if (judged) find_answers(t, wanted.max_edits);
	judged &= !t->cut;
	if (judged) {
		ck_assert(repair(&r, &wanted, &d));
		ck_assert_int_eq(r.asked.verdict, VERDICT_VIOLATED);
		if (!r.hopeless) compare_answers(&r, t, text);
		for (uint32_t i = 0; i < t->count && r.hopeless; i++)
			ck_assert(!t->sets[i].answers);
		repair_free(&r);
	}
	edits_free(e);
	free(t);
	diags_free(&d);
	return judged;
}

/* Some of the transactions get levels of their own. */
static void mix_levels(struct rng *r, const char *text, struct text *to)
{
	for (const char *at = text, *end; *at; at = end) {
		end = strchr(at, '\n');
		end = end ? end + 1 : at + strlen(at);
		const char *brace = memchr(at, '{', (size_t)(end - at));
		enum level l = rng_below(r, LEVEL_COUNT);
		bool own = !strncmp(at, "txn ", 4) && brace && level_mixes(l) &&
		           !rng_below(r, 3);
		if (!own) brace = at;
		text_bytes(to, at, (size_t)(brace - at));
		if (own) text_format(to, "at %s ", level_word(l));
		text_bytes(to, brace, (size_t)(end - brace));
	}
}

static unsigned random_cost(struct rng *r)
{
	return rng_below(r, 8) ? 1 + rng_below(r, 4) : WEIGHT_NEVER;
}

static void random_weights(struct rng *r, struct edit_weights *w)
{
	for (enum strength s = 0; s < STRENGTH_COUNT; s++)
		w->lock[s] = random_cost(r);
	w->atomic = random_cost(r);
	for (enum level l = 0; l < LEVEL_COUNT; l++)
		w->transaction[l] = random_cost(r);
}

START_TEST(random_programs)
{
	struct rng r = { process_seed(_i, 0) };
	uint64_t judged = 0, all = programs_each(PROGRAMS, PROGRAMS, RUNS);
	folder_enter();
	for (uint64_t i = 0; i < all; i++) {
		struct text plain = { 0 }, t = { 0 };
		enum level l = 1 + rng_below(&r, LEVEL_COUNT - 2);
		if (rng_below(&r, 2))
			random_locking_program(&plain, rng_next(&r));
		else
			random_program(&plain, rng_next(&r));
		if (level_mixes(l) && !rng_below(&r, 3))
			mix_levels(&r, text_get(&plain), &t);
		else
			text_string(&t, text_get(&plain));
		file_write_text("random.tx", text_get(&t));
		struct repair_options o = options_of("random.tx", l);
		o.explore.robust = rng_below(&r, 2);
		o.oracle = !rng_below(&r, 4);
		o.ssi = !rng_below(&r, 3);
		ck_assert(repair_weights(&o, NULL, NULL));
		if (rng_below(&r, 2)) random_weights(&r, &o.weights);
		judged += judge_program(&o, text_get(&t));
		text_free(&plain);
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
	                             "+session a { txn { if (shared y == 0) "
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
	                             "--- a/known.tx\n+++ b/known.tx\n"
	                             "@@ -3 +3 @@\n"
	                             "-txn add() { let old = n;\n"
	                             "+txn add() { let old = locked n;\n"));
	/* What stands behind it, stays. */
	ck_assert_ptr_nonnull(
		strstr(words, "@@ -3,2 +3 @@\n"
	                      "-txn add() { let old = n;\n"
	                      "-    n = old + 1; // one more\n"
	                      "+txn add() { atomic n += 1; // one more\n"));
	/* A snapshot is an answer too, though locks may be newer. */
	ck_assert_ptr_nonnull(strstr(words, "+txn add() at si {"));
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

/* What a transaction does, in one line, and its atomic update or NULL. */
START_TEST(updates)
{
	static const struct {
		const char *body, *update;
	} rows[] = {
		{ "n += m;", "atomic n += m;" },
		{ "n = n + m + 2;", "atomic n += m + 2;" },
		{ "n = n - 1;", "atomic n += -1;" },
		{ "n = n - v * 2;", "atomic n += -v * 2;" },
		{ "n = n - v + 1;", "atomic n += -v + 1;" },
		{ "let o = n; n = o - 1;", "atomic n += -1;" },
		{ "let o = n; n = o + m + v;", "atomic n += m + v;" },
		{ "statement { let o = n; n = o + 1; }",
		  "statement { atomic n += 1; }" },
		{ "statement { n += 1; }", "statement { atomic n += 1; }" },
		{ "n = n + v - 1;", NULL }, /* with sets, another set */
		{ "n = (n + 1) * 2;", NULL },
		{ "n = (n + 1) + 2;", NULL },
		{ "n = 1 - n;", NULL },
		{ "let o = n; n = o - o;", NULL },
		{ "let o = n; n = o + 1; m = o;", NULL },
		{ "let o = locked n; n = o + 1;", NULL },
		{ "n = m + 1;", NULL },
	};
	folder_enter();
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct text text = { 0 }, diff = { 0 }, line = { 0 };
		struct diags d = { 0 };
		struct edit_terms terms = { .level = LEVEL_DEFAULT };
		text_format(&text,
		            "global n = 0; global m = 0;\n"
		            "txn f(v) { %s }\n"
		            "session a { f(1); } session b { f(2); }\n",
		            rows[i].body);
		file_write_text("update.tx", text_get(&text));
		struct edits *e = edits_new("update.tx", &terms, &d);
		ck_assert_ptr_nonnull(e);
		for (uint32_t k = 0; k < edits_count(e); k++) {
			struct edit_set s = { &k, 1 };
			if (edits_get(e, k)->kind != EDIT_ATOMIC) continue;
			edits_diff(&diff, e, s, 0);
			struct edited x = edits_make(e, s);
			ck_assert_ptr_nonnull(x.program);
			edited_free(&x);
		}
		text_format(&line, "\n+txn f(v) { %s }\n",
		            rows[i].update ? rows[i].update : "");
		if (rows[i].update)
			ck_assert_msg(strstr(text_get(&diff), text_get(&line)),
			              "%s: %s", rows[i].body, text_get(&diff));
		else
			ck_assert_str_eq(text_get(&diff), "");
		edits_free(e);
		text_free(&text);
		text_free(&diff);
		text_free(&line);
		diags_free(&d);
	}
	folder_leave();
}
END_TEST

/* One transaction of a program of rc runs at prc. */
START_TEST(a_level_with_statements)
{
	static const char stale[] = "isolation rc;\n"
				    "global x = 0;\n"
				    "txn read() { return x; }\n"
				    "txn write() { x = 1; }\n"
				    "session a { write(); let r = read(); }\n"
				    "assert a.r == 1;\n";
	folder_enter();
	struct repair r = repair_text(stale, level_from_word("rc"), false);
	char *words = diffs(r.edits, &r.answers);
	ck_assert_ptr_nonnull(strstr(words, "+txn read() at prc {"));
	ck_assert_ptr_null(strstr(words, "+txn read() at si {"));
	free(words);
	repair_free(&r);
	folder_leave();
}
END_TEST

/* In Oracle one lock of a write skew is enough. */
START_TEST(locks_that_write)
{
	struct diags d = { 0 };
	struct repair r;
	struct repair_options o = options_of("skew.tx", level_from_word("si"));
	folder_enter();
	file_write_text("skew.tx", skew);
	o.oracle = true;
	ck_assert(repair_weights(&o, NULL, &d));
	ck_assert(repair(&r, &o, &d));
	ck_assert_uint_eq(r.answers.count, 2);
	for (uint32_t i = 0; i < 2; i++) {
		const struct repair_row *a = &r.answers.items[i];
		const struct edit *x = edits_get(r.edits, a->items[0]);
		ck_assert_uint_eq(a->count, 1);
		ck_assert_int_eq(x->kind, EDIT_LOCK);
		ck_assert_int_eq(x->strength, STRENGTH_UPDATE);
	}
	repair_free(&r);
	diags_free(&d);
	folder_leave();
}
END_TEST

/* As an update, what takes away from a set is an error, before anything is
 * read; it does not happen to the program with other edits. */
START_TEST(an_update_that_is_none)
{
	static const char sets[] = "global s = {1, 2};\n"
				   "txn take(v) { let o = s; s = o - v; }\n"
				   "session a { take({1}); }\n"
				   "session b { take({2}); }\n"
				   "finally { let end = s; }\n"
				   "assert finally.end == {};\n";
	struct diags d = { 0 };
	struct repair r;
	struct repair_options o = options_of("sets.tx", LEVEL_DEFAULT);
	folder_enter();
	file_write_text("sets.tx", sets);
	o.weights.lock[STRENGTH_UPDATE] = o.weights.atomic + 1;
	ck_assert(repair(&r, &o, &d));
	ck_assert_uint_gt(r.answers.count, 0);
	const struct edit *x = edits_get(r.edits, r.answers.items[0].items[0]);
	ck_assert_int_eq(x->kind, EDIT_LOCK);
	ck_assert_str_eq(x->key, "s");
	repair_free(&r);
	diags_free(&d);
	folder_leave();
}
END_TEST

START_TEST(files_of_weights)
{
	static const struct {
		const char *text, *wrong; /* NULL: nothing is */
	} rows[] = {
		{ "# all\n\nlock 3\nlock shared never\n"
		  "transaction 7 # each\ntransaction ser 9\n"
		  "program oracle-serializable 1000000\natomic 2",
		  NULL },
		{ "locks 1\n", "error:1:1: unknown kind of edit 'locks'; did "
		               "you mean 'lock'?" },
		{ "lock 1\n lock share 2\n",
		  "error:2:7: unknown lock 'share'; did you mean 'shared'?" },
		{ "lock\n", "error:1:5: the cost must be" },
		{ "atomic 0\n", "error:1:8: the cost must be" },
		{ "atomic 1000001\n", "error:1:8: the cost must be" },
		{ "atomic si 1\n", "error:1:8: the cost must be" },
		{ "program sj 1\n", "error:1:9: unknown isolation level 'sj'" },
		{ "lock 1 2\n", "error:1:8: nothing follows the cost" },
		{ "program rc 1\n",
		  "error:1:9: no edit makes the program run at 'rc'" },
		{ "transaction psi 1\n",
		  "error:1:13: no edit makes a transaction run at 'psi'" },
		{ "# nothing\n", "no line of it says what an edit costs" },
	};
	folder_enter();
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct edit_weights w;
		struct diags d = { 0 };
		weights_usual(&w);
		file_write_text("costs", rows[i].text);
		bool fine = weights_read(&w, "costs", &d);
		ck_assert(fine == !rows[i].wrong);
		char *said = diags_to_text(&d);
		if (rows[i].wrong)
			ck_assert_msg(strstr(said, rows[i].wrong), "%s", said);
		free(said);
		diags_free(&d);
		if (i) continue;
		ck_assert_uint_eq(w.lock[STRENGTH_UPDATE], 3);
		ck_assert_uint_eq(w.lock[STRENGTH_SHARE], WEIGHT_NEVER);
		ck_assert_uint_eq(w.atomic, 2);
		ck_assert_uint_eq(w.transaction[0], 7);
		ck_assert_uint_eq(w.transaction[LEVEL_SERIAL], 9);
		ck_assert_uint_eq(w.program[level_from_word("si")], 1000000);
	}
	folder_leave();
}
END_TEST

void add_repair_tests(TCase *tests)
{
	tcase_add_test(tests, updates);
	tcase_add_test(tests, a_level_with_statements);
	tcase_add_test(tests, locks_that_write);
	tcase_add_test(tests, an_update_that_is_none);
	tcase_add_test(tests, files_of_weights);
	tcase_add_loop_test(tests, random_programs, 0, RUNS);
	tcase_add_test(tests, write_skew);
	tcase_add_test(tests, lost_update);
	tcase_add_test(tests, nothing_to_repair);
}
