/* Deciding by a solver, against exploring: the same verdict for each assertion
 * and each place of a run-time error, with examples that explorers output too;
 * and the same runs of single sessions. By pairs and by positions first.
 */
#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "axioms/allows.h"
#include "base/bits.h"
#include "base/memory.h"
#include "compile/load.h"
#include "dpor/explorer.h"
#include "dpor/known_rows.h"
#include "dpor/verdict.h"
#include "execution/error_places.h"
#include "file_support.h"
#include "random_program.h"
#include "random_situation.h"
#include "solve/all_levels.h"
#include "solve/decide_beside.h"
#include "solve/local_runs.h"
#include "sql/load.h"
#include "suites.h"
#include "support.h"
#include "symmetric_program.h"
#include "vm/machine.h"

enum {
	RUNS = 8,
	PROGRAMS = 1250, /* in all, unless ISOSCOPE_PROGRAMS says more */
	EASY = 32,       /* times as many: they take a millisecond each */
	/* Larger programs are left out, and those that exploring filters most
	 * of: no history is output for hours. */
	HISTORIES_MOST = 2000,
	STEPS_MOST = 1 << 23
};

struct trial {
	uint64_t seed;
	const char *source;
	enum level level;
	const struct explorer *explored;
	const struct decision *decided;
};

static void expect(const struct trial *t, bool fine, const char *what,
                   uint32_t slot)
{
	if (fine) return;
	ck_abort_msg("seed %llu, %s, slot %u: %s\n%s",
	             (unsigned long long)t->seed, level_word(t->level), slot,
	             what, t->source);
}

static void expect_goal(const struct trial *t, const struct decide_goal *g)
{
	bool violated = explorer_violation(t->explored, g->slot)->histories > 0;
	expect(t, g->verdict != VERDICT_INCONCLUSIVE, "open", g->slot);
	expect(t, violated == (g->verdict == VERDICT_VIOLATED),
	       violated ? "not found to be violated" : "never violated",
	       g->slot);
	expect(t, violated == (g->example != NULL), "example", g->slot);
	if (!g->example) return;
	bool mixed = program_mixes(t->decided->program);
	expect(t,
	       mixed ? level_allows_mix(t->level, g->example)
	             : level_allows_history(t->level, g->example),
	       "the example is none of the level", g->slot);
	expect(t,
	       g->finding || explorer_slot_serializable(t->explored, g->slot),
	       "nothing fails", g->slot);
}

static struct explorer *explore_under(const struct program *p, enum level level,
                                      bool robust,
                                      const struct explore_observer *observer)
{
	struct explore_options o = { .level = level,
		                     .algorithm =
		                             explorer_usual_algorithm(p, level),
		                     .robust = robust,
		                     .max_changes = UINT64_MAX,
		                     .max_histories = HISTORIES_MOST,
		                     .max_steps = STEPS_MOST };
	o.base = o.algorithm == EXPLORE_CE ? level_base(level) : level;
	struct explorer *e = explorer_new(p, &o, observer);
	explorer_run(e);
	return e;
}

static bool happens_at(const struct trial *t, struct position at)
{
	const struct decision *d = t->decided;
	for (uint32_t i = 0; i < d->goal_count; i++) {
		const struct decide_goal *g = &d->goals[i];
		if (g->slot == explorer_slot_error(t->explored) &&
		    g->verdict == VERDICT_VIOLATED &&
		    !position_compare(program_position(d->program, g->point),
		                      at))
			return true;
	}
	return false;
}

/* Places of errors: each that is explored is decided to be one. */
static void expect_errors(const struct trial *t)
{
	const struct explorer *e = t->explored;
	const struct decision *d = t->decided;
	uint32_t found = 0, places = explorer_slot_places(e);
	for (uint32_t i = places; i < explorer_slot_count(e); i++)
		expect(t, happens_at(t, explorer_error_place(e, i)),
		       "no such run-time error", i);
	for (uint32_t i = 0; i < d->goal_count; i++) {
		const struct decide_goal *g = &d->goals[i];
		if (g->slot != explorer_slot_error(e) ||
		    g->verdict != VERDICT_VIOLATED)
			continue;
		found++;
		expect(t, g->finding && g->finding->point == g->point,
		       "the error shown is another", g->slot);
	}
	expect(t, found == explorer_slot_count(e) - places,
	       "other run-time errors", places);
}

/* All that there is to decide was decided, unless all assertions are violated:
 * then nobody asks for errors, and some that are possible may be open. */
static bool is_whole(const struct trial *t)
{
	const struct decision *d = t->decided;
	expect(t, !d->refuted, "a model is no history", 0);
	expect(t, !d->stop && !d->obstacle, "stopped", 0);
	if (d->complete) return true;
	uint32_t error = explorer_slot_error(t->explored);
	for (uint32_t i = 0; i < d->goal_count; i++)
		expect(t,
		       d->goals[i].slot == error ||
		               d->goals[i].verdict == VERDICT_VIOLATED,
		       "ended early", d->goals[i].slot);
	return false;
}

/* ---- runs of single sessions ---- */

/* What sessions of histories read from others. */
struct runs_read {
	struct strings all;
	enum level others; /* of transactions without one */
};

static bool is_again(const struct transaction *t, uint32_t event)
{
	const struct event *e = &t->events[event];
	for (uint32_t i = 0; i < event; i++)
		if (t->events[i].kind == EVENT_READ &&
		    t->events[i].from != HISTORY_SELF &&
		    t->events[i].key == e->key)
			return true;
	return false;
}

/* What is read again need not be told where it must be the same. */
static void print_reads(struct text *t, const struct transaction *of,
                        enum level others)
{
	enum level l = of->own ? (enum level)(of->own - 1) : others;
	bool repeatable = level_sight(l) >= SIGHT_DIRECT;
	for (uint32_t k = 0; k < of->event_count; k++) {
		const struct event *x = &of->events[k];
		if (x->kind != EVENT_READ || x->from == HISTORY_SELF ||
		    (repeatable && is_again(of, k)))
			continue;
		text_char(t, ' ');
		value_print(t, x->value);
	}
}

static bool note_runs(void *payload, const struct explore_execution *e)
{
	struct runs_read *runs = payload;
	struct history *h = explore_history(e);
	struct text t = { 0 };
	for (uint32_t s = 0; s < h->session_count; s++) {
		text_clear(&t);
		text_format(&t, "%u:", s);
		for (uint32_t i = 0; i < h->sessions[s].count; i++)
			print_reads(&t,
			            &h->transactions[h->sessions[s].first + i],
			            runs->others);
		strings_add(&runs->all, text_get(&t));
	}
	text_free(&t);
	history_free(h);
	return true;
}

static void print_answers(struct text *t, const struct run_node *n)
{
	if (!n->parent) {
		text_format(t, "%u:", n->session);
		return;
	}
	print_answers(t, n->parent);
	text_char(t, ' ');
	value_print(t, n->answer);
}

/* Points that runs of histories reach; explorers count those of executions that
 * a false assumption ends. */
static void expect_reached(const struct trial *t, const struct local_runs *l)
{
	const struct program *p = l->decision.program;
	for (uint32_t i = 0; i < program_reach_count(p); i++) {
		bool reached = false;
		for (uint32_t k = 0; k < l->runs.count; k++)
			reached |= local_runs_seen(l, l->runs.nodes[k]) &&
			           bits_has(machine_reached(
						    p, l->runs.nodes[k]->state),
			                    i);
		expect(t, reached == explorer_reached(t->explored, i),
		       "reached", i);
	}
}

static bool holds_string(const struct strings *sorted, const char *s)
{
	size_t low = 0, high = sorted->count;
	while (low < high) {
		size_t middle = (low + high) / 2;
		int order = strcmp(sorted->items[middle], s);
		if (!order) return true;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return false;
}

/* Runs are listed as histories have them: no others, and all, if there is time
 * enough and nothing that is not covered; else false. Those of histories are
 * sorted. */
static bool expect_list(const struct trial *t, struct program *p,
                        const struct strings *runs,
                        const struct decide_options *o)
{
	struct local_runs l;
	struct text words = { 0 };
	size_t listed = 0;
	local_runs_find(&l, p, o);
	bool ended = !l.decision.stop && !l.decision.obstacle;
	expect(t, !l.decision.refuted, "a run is no history's", 0);
	for (uint32_t i = 0; i < l.runs.count; i++) {
		if (!local_runs_seen(&l, l.runs.nodes[i])) continue;
		text_clear(&words);
		print_answers(&words, l.runs.nodes[i]);
		expect(t, holds_string(runs, text_get(&words)), "another run",
		       i);
		listed++;
	}
	if (ended) {
		expect(t, l.decision.vacuous == !runs->count, "is it empty?",
		       0);
		expect(t, l.decision.settled || !runs->count, "left open", 0);
		expect(t, listed == runs->count, "how many are listed",
		       (uint32_t)listed);
		if (!explorer_stats(t->explored)->pruned) expect_reached(t, &l);
	}
	text_free(&words);
	local_runs_free(&l);
	return ended;
}

/* They are just those of histories, but where a transaction may read what it
 * cannot commit with, or lock what it cannot go on with. */
static void expect_runs(const struct trial *t, const struct strings *runs)
{
	bool exact = (level_is_serial(t->level) &&
	              !program_mixes(t->decided->program)) ||
	             (!level_excludes_rivals(t->level) &&
	              !level_has_statements(t->level) &&
	              !program_mixes(t->decided->program) &&
	              !program_locks(t->decided->program));
	if (explorer_stats(t->explored)->pruned) return;
	expect(t,
	       exact ? runs->count == t->decided->runs
	             : runs->count <= t->decided->runs,
	       "other runs", (uint32_t)runs->count);
}

/* Which answers there were: so that dull programs are noticed. */
struct variety {
	uint64_t programs, violated, errors;
};

static void compare(const struct trial *t, struct variety *v)
{
	const struct decision *d = t->decided;
	enum verdict expected = explorer_verdict(t->explored);
	bool whole = is_whole(t);
	for (uint32_t i = 0; i < d->goal_count; i++)
		if (!d->vacuous &&
		    d->goals[i].slot != explorer_slot_error(t->explored))
			expect_goal(t, &d->goals[i]);
	if (whole && !d->vacuous) expect_errors(t);
	expect(t, d->verdict == expected || (!whole && d->verdict),
	       "another verdict", explorer_slot_count(t->explored));
	v->programs++;
	v->violated += expected == VERDICT_VIOLATED;
	v->errors += explorer_violation(t->explored,
	                                explorer_slot_error(t->explored))
	                     ->histories > 0;
}

/* Decides the program, by pairs or by positions first, and compares. */
static void try_order(struct trial t, struct program *p, bool positions_first,
                      struct strings *runs, struct variety *v)
{
	struct decision d;
	decide(&d, p,
	       &(struct decide_options){
		       .level = t.level,
		       .robust = explorer_options(t.explored)->robust,
		       .positions_first = positions_first,
		       .unsampled = t.seed & 4,
		       .apart = t.seed & 32 });
	t.decided = &d;
	compare(&t, v);
	if (d.complete && (t.seed & 32)) expect_runs(&t, runs);
	decision_free(&d);
}

/* Every third with locks, every fourth at levels of its own. */
static void any_program(struct text *out, uint64_t seed)
{
	struct text plain = { 0 };
	struct rng r = { seed };
	if (seed % 3)
		random_program(&plain, seed);
	else
		random_locking_program(&plain, seed);
	if (seed % 4 == 1)
		random_mix(out, text_get(&plain), &r, level_mixes, false);
	else
		text_string(out, text_get(&plain));
	text_free(&plain);
}

/* Copies by both orders: there are few of them, as exploring them takes long.
 */
static void try_program(uint64_t seed, enum level level, struct variety *v)
{
	struct text source = { 0 };
	bool copies = seed % 16 == 0;
	if (copies)
		program_of_copies(&source, seed);
	else
		any_program(&source, seed);
	struct program *p = program_from_text(text_get(&source));
	if (decide_obstacle(p, level)) {
		program_free(p);
		text_free(&source);
		return;
	}
	struct runs_read runs = { .others = level };
	struct explore_observer observer = { .payload = &runs,
		                             .history = note_runs };
	struct explorer *e = explore_under(p, level, seed & 2, &observer);
	if (explorer_stats(e)->stop == STOP_NONE) {
		struct trial t = { seed, text_get(&source), level, e, NULL };
		strings_sort(&runs.all);
		strings_unique(&runs.all);
		try_order(t, p, seed & 1, &runs.all, v);
		if (copies) try_order(t, p, true, &runs.all, v);
		expect_list(
			&t, p, &runs.all,
			&(struct decide_options){ .level = level,
		                                  .positions_first = seed & 4,
		                                  .unsampled = seed & 8 });
	}
	strings_free(&runs.all);
	explorer_free(e);
	program_free(p);
	text_free(&source);
}

/* ---- beside exploring ---- */

/* What exploring says in place of a solver that gives up at once. */
START_TEST(explored_beside)
{
	uint64_t first = first_seed() * 1000000;
	uint64_t count = programs_or(PROGRAMS) / (is_quick() ? 4 : 2);
	struct text source = { 0 };
	struct variety v = { 0 };
	uint64_t explored = 0;
	for (uint64_t i = 0; i < count; i++) {
		enum level l = (enum level)(i % LEVEL_COUNT);
		struct decision d;
		text_clear(&source);
		struct program *p;
		if (i % 5 < 4) {
			any_program(&source, first + i);
			p = program_from_text(text_get(&source));
		} else {
			p = random_spec(&source, first + i);
		}
		struct explorer *e = decide_obstacle(p, l)
		                             ? NULL
		                             : explore_under(p, l, i & 1, NULL);
		if (e && explorer_stats(e)->stop == STOP_NONE) {
			decide_beside(
				&d, p,
				&(struct decide_options){ .level = l,
			                                  .robust = i & 1,
			                                  .gives_up = true });
			explored += d.explored;
			struct trial t = { first + i, text_get(&source), l, e,
				           &d };
			expect(&t, d.explored, "not explored", 0);
			expect(&t, d.histories == explorer_stats(e)->histories,
			       "histories", 0);
			d.complete = true; /* all that is compared */
			compare(&t, &v);
			decision_free(&d);
		}
		explorer_free(e);
		program_free(p);
	}
	text_free(&source);
	ck_assert_uint_ge(explored, count / 2);
}
END_TEST

/* ---- all levels at once ---- */

/* Is something of the goal violated in what was explored? */
static bool explored_fails(const struct trial *t, const struct level_goal *g)
{
	const struct explorer *e = t->explored;
	struct position at = program_position(explorer_program(e), g->point);
	if (g->slot != explorer_slot_error(e))
		return explorer_violation(e, g->slot)->histories > 0;
	for (uint32_t i = explorer_slot_places(e); i < explorer_slot_count(e);
	     i++)
		if (!position_compare(explorer_error_place(e, i), at))
			return true;
	return false;
}

/* What is said is so; of levels that are covered, all is said that is
 * asserted. */
static void compare_level(const struct trial *t,
                          const struct level_decisions *d)
{
	bool covered = !decide_obstacle(d->program, t->level);
	bool empty = !explorer_stats(t->explored)->histories;
	enum verdict whole = level_verdict(d, t->level);
	for (uint32_t i = 0; i < d->goal_count; i++) {
		const struct level_goal *g = &d->goals[i];
		enum verdict v = level_goal_verdict(d, t->level, i);
		bool asserted = g->slot != explorer_slot_error(t->explored);
		if (v == VERDICT_INCONCLUSIVE)
			expect(t, !covered || empty || !asserted, "open",
			       g->slot);
		else
			expect(t,
			       !empty && (v == VERDICT_VIOLATED) ==
			                         explored_fails(t, g),
			       "another verdict of a goal", g->slot);
	}
	expect(t,
	       whole == explorer_verdict(t->explored) ||
	               (whole == VERDICT_INCONCLUSIVE && !covered),
	       "another verdict of a level", d->goal_count);
}

START_TEST(all_levels)
{
	uint64_t first = first_seed() * 1000000;
	uint64_t count = programs_or(PROGRAMS) / 4;
	struct text source = { 0 };
	for (uint64_t i = 0; i < count; i++) {
		struct trial t = { .seed = first + i };
		struct level_decisions d;
		text_clear(&source);
		any_program(&source, t.seed);
		/* Which many levels violate, and the strongest does not. */
		bool robust = i & 1;
		if (!robust) text_string(&source, "assert serializable;\n");
		t.source = text_get(&source);
		struct program *p = program_from_text(t.source);
		decide_levels(&d, p,
		              &(struct decide_options){
				      .level = (enum level)(i % LEVEL_COUNT),
				      .robust = robust,
				      .gives_up = i % 3 == 2 },
		              decide_beside);
		for (t.level = 0; t.level < LEVEL_COUNT; t.level++) {
			if (program_mixes(p) && !level_mixes(t.level)) continue;
			struct explorer *e =
				explore_under(p, t.level, robust, NULL);
			t.explored = e;
			if (explorer_stats(e)->stop == STOP_NONE)
				compare_level(&t, &d);
			explorer_free(e);
		}
		level_decisions_free(&d);
		program_free(p);
	}
	text_free(&source);
}
END_TEST

START_TEST(random_programs)
{
	uint64_t first = first_seed() * 1000000;
	uint64_t count = EASY * programs_or(PROGRAMS) / RUNS;
	struct variety v = { 0 };
	for (uint64_t i = 0; i < count; i++)
		try_program(first + (uint64_t)_i * count + i,
		            (enum level)((i + (uint64_t)_i) % LEVEL_COUNT), &v);
	if (is_quick()) return;
	ck_assert_uint_ge(v.programs, count / 2);
	ck_assert_uint_ge(v.violated, count / 20);
	ck_assert_uint_ge(v.errors, count / 400);
}
END_TEST

/* ---- SQL ---- */

/* As exploring does, if it is covered. */
static bool try_spec(uint64_t seed, enum level level, struct variety *v)
{
	struct text source = { 0 };
	struct runs_read runs = { .others = level };
	struct explore_observer observer = { .payload = &runs,
		                             .history = note_runs };
	struct program *p = random_spec(&source, seed);
	struct explorer *e = NULL;
	struct decision d = { 0 };
	bool covered = !decide_obstacle(p, level);
	if (covered) {
		decide(&d, p,
		       &(struct decide_options){ .level = level,
		                                 .robust = true,
		                                 .unsampled = seed & 1 });
		covered = !d.obstacle;
	}
	if (covered) e = explore_under(p, level, true, &observer);
	if (e && explorer_stats(e)->stop == STOP_NONE) {
		struct trial t = { seed, text_get(&source), level, e, &d };
		strings_sort(&runs.all);
		strings_unique(&runs.all);
		compare(&t, v);
		expect_list(&t, p, &runs.all,
		            &(struct decide_options){ .level = level });
	}
	decision_free(&d);
	explorer_free(e);
	strings_free(&runs.all);
	program_free(p);
	text_free(&source);
	return covered;
}

/* Statements that wait, and read again what they waited for; rows that come and
 * go; locks that are given up. */
START_TEST(random_specs)
{
	static const enum level levels[] = { LEVEL_PRC, LEVEL_PRC, LEVEL_PRC,
		                             LEVEL_CC, LEVEL_SER };
	uint64_t first = first_seed() * 1000000;
	uint64_t count = programs_or(PROGRAMS) / (is_quick() ? 6 : 2);
	uint64_t covered = 0;
	struct variety v = { 0 };
	for (uint64_t i = 0; i < count; i++)
		covered += try_spec(first + i, levels[i % 5], &v);
	if (is_quick()) return;
	ck_assert_uint_ge(covered, count / 2);
	ck_assert_uint_ge(v.violated, count / 20);
}
END_TEST

/* ---- the programs that are shipped ---- */

/* Of how many levels all was compared, of those with few histories. */
struct compared {
	uint32_t few, all;
};

static void try_shipped(const char *path, enum level l, struct compared *out)
{
	struct runs_read runs = { .others = l };
	struct explore_observer observer = { .payload = &runs,
		                             .history = note_runs };
	struct diags d = { 0 };
	struct program *p = load_program(path, &d);
	ck_assert_msg(p != NULL, "%s", path);
	diags_free(&d);
	struct explorer *e = explore_under(p, l, false, &observer);
	struct trial t = { 0, path, l, e, NULL };
	if (!decide_obstacle(p, l) && explorer_stats(e)->stop == STOP_NONE) {
		strings_sort(&runs.all);
		strings_unique(&runs.all);
		out->few++;
		out->all += expect_list(
			&t, p, &runs.all,
			&(struct decide_options){ .level = l,
		                                  .positions_first = l & 1,
		                                  .timeout = 1 });
	}
	strings_free(&runs.all);
	explorer_free(e);
	program_free(p);
}

START_TEST(shipped_programs)
{
	static const char *const folders[] = { "examples", "litmus",
		                               "courseware", "shopping_cart",
		                               "twitter" };
	struct compared compared = { 0 };
	for (size_t k = 0; k < sizeof folders / sizeof *folders; k++) {
		struct text pattern = { 0 };
		glob_t found;
		text_format(&pattern, "%s/programs/%s/*.tx", source_top(),
		            folders[k]);
		ck_assert_int_eq(glob(text_get(&pattern), 0, NULL, &found), 0);
		for (size_t i = 0; i < found.gl_pathc; i++)
			try_shipped(found.gl_pathv[i], (enum level)_i,
			            &compared);
		globfree(&found);
		text_free(&pattern);
	}
	ck_assert_uint_ge(compared.all, compared.few / 2);
}
END_TEST

void add_decide_tests(TCase *tests)
{
	tcase_add_loop_test(tests, random_programs, 0, RUNS);
	tcase_add_test(tests, all_levels);
	tcase_add_test(tests, explored_beside);
	tcase_add_test(tests, random_specs);
	tcase_add_loop_test(tests, shipped_programs, 0, LEVEL_COUNT);
}
