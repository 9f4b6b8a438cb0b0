/* What edits leave of a program's histories, as edits_allow() says, against the
 * histories of the edited program: each that is said to be left is one of
 * these, with the same locks and statements. */
#include <string.h>

#include "axioms/dirty_read.h"
#include "axioms/scratch.h"
#include "dpor/explorer.h"
#include "file_support.h"
#include "history/history.h"
#include "history/relation.h"
#include "random_program.h"
#include "repair/edits.h"
#include "suites.h"
#include "support.h"

enum {
	RUNS = 4,
	PROGRAMS = 400,
	MOST_HISTORIES = 100,
	MOST_SECONDS = 2 /* where locks drop nearly all end states */
};

struct told {
	const struct edits *edits;
	const struct edited *edited;
	enum level level;
	struct history *items[MOST_HISTORIES];
	struct text texts[MOST_HISTORIES];
	uint32_t count;
};

/* Without levels, of which nobody is asked where nothing is done; nor of
 * statements at a level that has none. `others`: of those without one of their
 * own. */
static void print(struct text *t, struct history *h, enum level others)
{
	for (uint32_t i = 0; i < h->transaction_count; i++) {
		struct transaction *x = &h->transactions[i];
		bool has = level_has_statements(
			x->own ? (enum level)(x->own - 1) : others);
		for (uint32_t k = 0; k < x->event_count && !has; k++)
			x->events[k].joined = false;
		x->own = 0;
	}
	history_print_canonical(t, h);
}

static bool tell(void *payload, const struct explore_execution *e)
{
	struct told *t = payload;
	if (t->count == MOST_HISTORIES) return false;
	struct history *h = explore_history(e);
	edits_mark(t->edits, t->edited, h);
	t->texts[t->count] = (struct text){ 0 };
	print(&t->texts[t->count], h, t->level);
	t->items[t->count++] = h;
	return true;
}

/* All histories of the program with these edits; false if there are too many,
 * or no such program. */
static bool tell_all(struct told *t, const struct edits *e, struct edit_set s)
{
	struct edited x = edits_make(e, s);
	t->edits = e;
	t->count = 0;
	if (!x.program) return false;
	t->edited = &x;
	enum level l = t->level = edits_level(e, s);
	struct explore_options o = { .level = l,
		                     .base = l,
		                     .algorithm = EXPLORE_ORDERLY,
		                     .max_histories = MOST_HISTORIES,
		                     .timeout = MOST_SECONDS,
		                     .max_changes = UINT64_MAX,
		                     .jobs = 1 };
	struct explore_observer observer = { .payload = t, .history = tell };
	struct explorer *explorer = explorer_new(x.program, &o, &observer);
	explorer_run(explorer);
	bool all = explorer_stats(explorer)->stop == STOP_NONE;
	explorer_free(explorer);
	edited_free(&x);
	t->edited = NULL;
	return all;
}

static void told_free(struct told *t)
{
	for (uint32_t i = 0; i < t->count; i++) {
		history_free(t->items[i]);
		text_free(&t->texts[i]);
	}
	t->count = 0;
}

static bool is_among(const struct told *all, struct history *h)
{
	struct text this = { 0 };
	bool found = false;
	print(&this, h, all->level);
	for (uint32_t i = 0; i < all->count && !found; i++)
		found = !strcmp(text_get(&this), text_get(&all->texts[i]));
	text_free(&this);
	return found;
}

/* How many of these histories, of the program with the edits `of`, are said to
 * be left; each, with the locks and statements that it then has, is one of the
 * program with the edits `s`, of which there are `left`. */
static uint32_t check_left(const struct told *h, struct edit_set of,
                           const struct told *left, struct edit_set s,
                           const char *text)
{
	struct level_scratch *scratch = level_scratch_new();
	struct dirty_read dirty;
	uint32_t allowed = 0;
	for (uint32_t i = 0; i < h->count; i++) {
		struct relation *r = dirty_read_find(h->items[i], LEVEL_SERIAL,
		                                     false, &dirty)
		                             ? NULL
		                             : relation_of_history(h->items[i]);
		bool fine =
			edits_allow(h->edits, s, of, h->items[i], r, scratch);
		allowed += fine;
		if (fine && !is_among(left, h->items[i])) {
			struct text diff = { 0 };
			edits_diff(&diff, h->edits, s, 0);
			history_print_canonical(&diff, h->items[i]);
			ck_abort_msg("not left under %s by\n%s\n%s",
			             level_word(edits_level(h->edits, s)),
			             text_get(&diff), text);
		}
		relation_free(r);
	}
	level_scratch_free(scratch);
	return allowed;
}

static void check_program(const struct edits *e, const char *text)
{
	static struct told all, some, others;
	uint32_t n = edits_count(e);
	struct edit_set none = { NULL, 0 };
	bool fine = n && tell_all(&all, e, none);
	for (uint32_t i = 0; i < n && fine; i++) {
		uint32_t next = (i + 1) % n;
		struct edit_set s = { &i, 1 }, then = { &next, 1 };
		if (edits_weaken(e, i)) continue;
		if (tell_all(&some, e, s))
			check_left(&all, none, &some, s, text);
		if (next != i && tell_all(&others, e, then))
			check_left(&some, s, &others, then, text);
		told_free(&some);
		told_free(&others);
	}
	told_free(&all);
}

/* Where no statement has more than one access, each edit that moves nothing
 * leaves just the histories that are said to be
 * left. */
static void check_known(const struct edits *e, const char *text)
{
	static struct told all, some;
	struct edit_set none = { NULL, 0 };
	ck_assert(tell_all(&all, e, none));
	for (uint32_t i = 0; i < edits_count(e); i++) {
		struct edit_set s = { &i, 1 };
		const struct edit *x = edits_get(e, i);
		if (x->moves || !edits_strengthen(e, i)) continue;
		if (!tell_all(&some, e, s)) continue;
		uint32_t left = check_left(&all, none, &some, s, text);
		ck_assert_msg(left == some.count,
		              "edit %u of\n%s\nleaves %u of %u", (unsigned)i,
		              text, (unsigned)some.count, (unsigned)left);
		told_free(&some);
	}
	told_free(&all);
}

START_TEST(histories_left)
{
	struct rng r = { process_seed(_i, 0) };
	uint64_t all = programs_each(PROGRAMS, PROGRAMS, RUNS);
	enum level prc = level_from_word("prc");
	folder_enter();
	for (uint64_t i = 0; i < all; i++) {
		struct text t = { 0 };
		struct diags d = { 0 };
		random_locking_program(&t, rng_next(&r));
		file_write_text("random.tx", text_get(&t));
		struct edit_terms terms = {
			.level = rng_below(&r, 4)
			                 ? prc
			                 : 1 + rng_below(&r, LEVEL_COUNT - 2),
		};
		weights_usual(&terms.weights);
		struct edits *e = edits_new("random.tx", &terms, &d);
		ck_assert_ptr_nonnull(e);
		check_program(e, text_get(&t));
		edits_free(e);
		diags_free(&d);
		text_free(&t);
	}
	folder_leave();
}
END_TEST

/* Where nothing is untold, all histories of the edited program are found. */
START_TEST(all_histories_left)
{
	static const char *const bodies[] = {
		"let old = n; n = old + 1;",
		"n = n + 1; let v = m;",
		"let v = m; n += v;",
	};
	enum level prc = level_from_word("prc");
	folder_enter();
	for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
		struct text t = { 0 };
		struct diags d = { 0 };
		struct edit_terms terms = { .level = prc };
		text_format(&t,
		            "global n = 0; global m = 0;\n"
		            "txn t() { %s }\n"
		            "session a { t(); } session b { t(); }\n"
		            "session c { txn { m = 1; n = 7; } }\n",
		            bodies[i]);
		file_write_text("known.tx", text_get(&t));
		weights_usual(&terms.weights);
		struct edits *e = edits_new("known.tx", &terms, &d);
		ck_assert_ptr_nonnull(e);
		check_known(e, text_get(&t));
		edits_free(e);
		diags_free(&d);
		text_free(&t);
	}
	folder_leave();
}
END_TEST

void add_edits_tests(TCase *tests)
{
	tcase_add_loop_test(tests, histories_left, 0, RUNS);
	tcase_add_test(tests, all_histories_left);
}
