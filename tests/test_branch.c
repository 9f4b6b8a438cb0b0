/* Branches: an exploration that is cut anywhere, and put together again, finds
 * what it finds in one go.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "dpor/engine.h"
#include "exploration.h"
#include "history/history.h"
#include "suites.h"
#include "support.h"

enum {
	PROCESSES = 6,     /* over which the random programs are spread */
	PROGRAMS = 1500,   /* in all, unless ISOSCOPE_PROGRAMS says more */
	HISTORIES = 1500,  /* of a program, at most */
	END_STATES = 6000, /* of an exploration, at most */
	STEPS = 600        /* of one that is cut everywhere */
};

static uint64_t share(uint64_t of_all)
{
	return programs_each(PROGRAMS, of_all, PROCESSES);
}

/* ---- one value ---- */

START_TEST(a_branch_keeps_what_it_is_given)
{
	uint32_t path[] = { 1, 0, 7 }, script[] = { 0, 1, 0, 0, 1, 0 };
	struct branch *b = branch_new(BRANCH_SWAP, path, 3, script, 6);
	path[1] = script[1] = 9;
	struct branch *c = branch_copy(b);
	memset((void *)b->path, 0xff, 3 * sizeof *path);
	free(b);
	ck_assert_int_eq((int)c->kind, BRANCH_SWAP);
	ck_assert_uint_eq(c->path_length, 3);
	ck_assert_uint_eq(c->script_length, 6);
	ck_assert_uint_eq(c->path[0], 1);
	ck_assert_uint_eq(c->path[1], 0);
	ck_assert_uint_eq(c->path[2], 7);
	ck_assert_uint_eq(c->script[1], 1);
	ck_assert_uint_eq(c->script[4], 1);
	free(c);
	b = branch_root();
	ck_assert_int_eq((int)b->kind, BRANCH_BETWEEN);
	ck_assert_uint_eq(b->path_length + b->script_length, 0);
	ck_assert(branch_is_sound(b, 0));
	free(b);
}
END_TEST

static struct branch *of_path(const char *digits)
{
	uint32_t path[16], length = 0;
	for (; *digits; digits++) path[length++] = (uint32_t)(*digits - '0');
	return branch_new(BRANCH_BETWEEN, path, length, NULL, 0);
}

START_TEST(branches_come_in_depth_first_order)
{
	static const char *const sorted[] = { "",   "0",  "00",  "001",
		                              "01", "02", "020", "1",
		                              "10", "2",  "21" };
	enum { COUNT = sizeof sorted / sizeof *sorted };
	struct branch_list l = { 0 }, copy = { 0 };
	for (int i = 0; i < COUNT; i++)
		branch_list_add(&l, of_path(sorted[i * 7 % COUNT]));
	branch_list_copy(&copy, &l);
	branch_list_sort(&l);
	ck_assert_uint_eq(l.count, COUNT);
	for (int i = 0; i < COUNT; i++)
		for (int j = 0; j < COUNT; j++) {
			struct branch *b = of_path(sorted[j]);
			int order = branch_compare(l.items[i], b);
			ck_assert_int_eq((order > 0) - (order < 0),
			                 (i > j) - (i < j));
			free(b);
		}
	branch_list_free(&l);
	ck_assert_uint_eq(l.count, 0);
	ck_assert_uint_eq(copy.count, COUNT);
	ck_assert_uint_eq(copy.items[1]->path_length, strlen(sorted[7]));
	branch_list_free(&copy);
	branch_list_sort(&copy);
	branch_list_free(&copy);
}
END_TEST

/* Scripts of two sessions. */
static const struct form {
	bool sound;
	enum branch_kind kind;
	uint32_t length, script[12];
} forms[] = { { true, BRANCH_BETWEEN, 0, { 0 } },
	      { true, BRANCH_BETWEEN, 2, { 0, 0 } },
	      { true, BRANCH_BETWEEN, 2, { 1, 0 } },
	      { false, BRANCH_BETWEEN, 2, { 2, 0 } },
	      { false, BRANCH_BETWEEN, 1, { 0 } },
	      { false, BRANCH_BETWEEN, 3, { 0, 0, 0 } },
	      { false, BRANCH_BETWEEN, 2, { 0, 1 } },
	      { false, BRANCH_BETWEEN, 3, { 0, 1, 0 } },
	      { true, BRANCH_BETWEEN, 4, { 0, 1, 0, 0 } },
	      { false, BRANCH_BETWEEN, 4, { 0, 1, 0, 1 } },
	      { false, BRANCH_BETWEEN, 4, { 0, 1, 1, 0 } }, /* its own */
	      { false, BRANCH_BETWEEN, 4, { 0, 1, 2, 0 } }, /* not yet there */
	      { false, BRANCH_BETWEEN, 4, { 0, 1, 3, 0 } },
	      { false, BRANCH_BETWEEN, 4, { 0, UINT32_MAX, 0, 0 } },
	      { false, BRANCH_BETWEEN, 4, { 0, 1u << 31, 0, 0 } },
	      { true, BRANCH_BETWEEN, 6, { 1, 0, 0, 1, 2, 0 } },
	      { false, BRANCH_BETWEEN, 6, { 1, 0, 0, 1, 2, 1 } },
	      { true, BRANCH_BETWEEN, 6, { 0, 0, 0, 1, 1, 0 } },
	      { true, BRANCH_BETWEEN, 8, { 0, 0, 0, 0, 1, 1, 1, 1 } },
	      { false, BRANCH_BETWEEN, 8, { 0, 0, 0, 0, 1, 1, 1, 2 } },
	      { false, BRANCH_PENDING, 0, { 0 } },
	      { true, BRANCH_PENDING, 2, { 0, 0 } },
	      { true, BRANCH_PENDING, 4, { 0, 1, 0, 0 } },
	      { false, BRANCH_FRESH, 0, { 0 } },
	      { true, BRANCH_FRESH, 2, { 0, 0 } },
	      { true, BRANCH_FRESH, 4, { 0, 1, 0, 0 } },
	      { false, BRANCH_SWAP, 0, { 0 } },
	      { false, BRANCH_SWAP, 2, { 0, 0 } },
	      { false, BRANCH_SWAP, 6, { 0, 1, 0, 0, 1, 0 } },
	      { true, BRANCH_SWAP, 6, { 1, 0, 0, 1, 2, 0 } },
	      { true, BRANCH_END, 6, { 1, 0, 0, 1, 2, 0 } } };

START_TEST(what_is_sound)
{
	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
		const struct form *f = &forms[i];
		struct branch *b =
			branch_new(f->kind, NULL, 0, f->script, f->length);
		ck_assert_msg(branch_is_sound(b, 2) == f->sound, "form %zu", i);
		free(b);
	}
}
END_TEST

/* ---- sums ---- */

static const struct {
	size_t at;
	bool greatest;
} numbers[] = {
#define ADDED(member)                                         \
	{                                                     \
		offsetof(struct explore_stats, member), false \
	}
#define GREATEST(member)                                     \
	{                                                    \
		offsetof(struct explore_stats, member), true \
	}
	ADDED(histories),        ADDED(classes),
	ADDED(end_states),       ADDED(filtered),
	ADDED(pruned),           ADDED(blocked),
	ADDED(duplicates),       ADDED(unserializable),
	ADDED(explore_calls),    ADDED(swaps_considered),
	ADDED(swaps_taken),      ADDED(swaps_inconsistent),
	ADDED(swaps_not_latest), ADDED(cut),
	GREATEST(depth_max),     GREATEST(memory_peak),
	GREATEST(changes)
#undef ADDED
#undef GREATEST
};
enum { NUMBERS = sizeof numbers / sizeof *numbers };

static uint64_t *number_of(struct tally *t, int i)
{
	return (uint64_t *)(void *)((char *)&t->stats + numbers[i].at);
}

static const char two_assertions[] =
	"global x = 0;\n"
	"session a { txn { let v = x; if (v == 1) { assert v == 1; } else\n"
	"    { assert v == 0; } } }\n";

/* A number of its own for everything, from this one on. */
static void fill(struct tally *t, uint64_t next)
{
	for (int i = 0; i < NUMBERS; i++) *number_of(t, i) = next++;
	for (int l = 0; l < LEVEL_COUNT; l++) t->stats.per_level[l] = next++;
	t->stats.seconds = t->stats.cpu_seconds = (double)next;
	for (uint32_t i = 0; i < t->slot_count; i++) {
		t->violations[i].histories = next++;
		for (int l = 0; l < LEVEL_COUNT; l++)
			t->violations[i].per_level[l] = next++;
	}
	ck_assert_uint_gt(t->reach_count, 1);
	t->reached[0] = next % 2 ? 1 : 2;
}

static void expect_violations_added(const struct tally *sum,
                                    const struct tally *a,
                                    const struct tally *b)
{
	for (uint32_t i = 0; i < sum->slot_count; i++) {
		const struct explore_violation *x = &a->violations[i];
		const struct explore_violation *y = &b->violations[i];
		const struct explore_violation *z = &sum->violations[i];
		ck_assert_uint_eq(z->histories, x->histories + y->histories);
		for (int l = 0; l < LEVEL_COUNT; l++)
			ck_assert_uint_eq(z->per_level[l],
			                  x->per_level[l] + y->per_level[l]);
	}
}

static void expect_added(struct tally *sum, struct tally *a, struct tally *b)
{
	for (int i = 0; i < NUMBERS; i++) {
		uint64_t x = *number_of(a, i), y = *number_of(b, i);
		ck_assert_uint_eq(*number_of(sum, i),
		                  numbers[i].greatest ? x : x + y);
	}
	for (int l = 0; l < LEVEL_COUNT; l++)
		ck_assert_uint_eq(sum->stats.per_level[l],
		                  a->stats.per_level[l] +
		                          b->stats.per_level[l]);
	ck_assert(sum->stats.seconds == a->stats.seconds);
	ck_assert(sum->stats.cpu_seconds ==
	          a->stats.cpu_seconds + b->stats.cpu_seconds);
	ck_assert_uint_eq(sum->reached[0], a->reached[0] | b->reached[0]);
	ck_assert_uint_ne(a->reached[0], b->reached[0]);
}

/* Of two tallies the first of which has the greater numbers. */
static void expect_sum(struct tally *sum, bool places)
{
	struct tally a, b;
	struct program *p = program_from_text(two_assertions);
	tally_init(&a, p);
	tally_init(&b, p);
	fill(&a, 1000);
	fill(&b, 1);
	tally_init(sum, p);
	tally_add(sum, &a);
	if (places)
		tally_add_places(sum, &b);
	else
		tally_add(sum, &b);
	expect_added(sum, &a, &b);
	expect_violations_added(sum, &a, &b);
	tally_free(&a);
	tally_free(&b);
	program_free(p);
}

START_TEST(tallies_add_up)
{
	for (int places = 0; places < 2; places++) {
		struct tally sum;
		expect_sum(&sum, places);
		tally_free(&sum);
	}
}
END_TEST

START_TEST(the_first_reason_is_kept)
{
	struct program *p = program_from_text(two_assertions);
	struct tally a, b;
	tally_init(&a, p);
	tally_init(&b, p);
	b.stats.stop = STOP_TIME;
	tally_add(&a, &b);
	ck_assert_int_eq((int)a.stats.stop, STOP_TIME);
	b.stats.stop = STOP_MEMORY;
	tally_add(&a, &b);
	ck_assert_int_eq((int)a.stats.stop, STOP_TIME);
	tally_free(&a);
	tally_free(&b);
	program_free(p);
}
END_TEST

/* ---- random programs ---- */

/* One exploration in one go; false if it is too large. */
static bool explore_whole(const struct subject *s,
                          const struct explore_options *o, struct found *f)
{
	struct explore_options limited = *o;
	limited.max_histories = END_STATES;
	explore_all(s->program, &limited, NULL, f);
	return found_all(f);
}

static void expect_open(const struct subject *s,
                        const struct explore_options *o, const char *what,
                        const struct branch_list *open, const struct found *f)
{
	struct text why = { 0 };
	if (!open_sound(open, f, &why))
		subject_fails(s, o, what, text_get(&why));
}

typedef void trial(const struct subject *s, const struct explore_options *o,
                   struct rng *r, const struct found *whole);

/* Tries so many programs of which something is to be seen. */
static void try_programs(uint64_t seed, uint64_t programs, uint64_t histories,
                         trial *try)
{
	for (uint64_t tried = 0; tried < programs; seed++) {
		struct subject s;
		struct rng r = { seed };
		if (!subject_new(&s, seed, histories)) continue;
		struct explore_options o = random_options(&s, &r);
		struct found whole = { 0 };
		if (explore_whole(&s, &o, &whole)) {
			try(&s, &o, &r, &whole);
			tried++;
		}
		found_free(&whole);
		subject_free(&s);
	}
}

/* ---- stopped, and gone on with, again and again ---- */

static atomic_bool interrupt;

/* Some way of stopping, soon. */
static struct manner random_end(struct rng *r, struct explore_options *o,
                                const struct found *so_far)
{
	uint64_t soon = 1 + rng_below(r, 1 + rng_below(r, 60));
	struct manner m = { .interrupt = &interrupt,
		            .seed = rng_next(r),
		            .steps = rng_below(r, 40) };
	atomic_store(&interrupt, false);
	o->interrupt = NULL;
	o->max_histories = 0;
	o->stop_on_violation = false;
	switch (rng_below(r, 5)) {
	case 0: m.refuse_after = soon; break;
	case 1: o->max_histories = so_far->stats.classes + soon; break;
	case 2: o->stop_on_violation = true; break;
	case 3: m.by_tick = true; /* fall through */
	default:
		m.steps_after = soon;
		o->interrupt = &interrupt;
		break;
	}
	return m;
}

static void expect_stop(const struct subject *s,
                        const struct explore_options *o, const struct found *f)
{
	enum stop_reason why = f->stats.stop;
	if (found_all(f)) return;
	if (why == STOP_HISTORIES && o->max_histories &&
	    f->stats.classes == o->max_histories)
		return;
	if (why == STOP_VIOLATION && o->stop_on_violation) return;
	if (why == STOP_INTERRUPTED && !o->max_histories &&
	    !o->stop_on_violation)
		return;
	subject_fails(s, o, "stopped for no reason", "");
}

static void explore_in_pieces(const struct subject *s,
                              const struct explore_options *whole_options,
                              struct rng *r, const struct found *whole)
{
	struct explore_options o = *whole_options;
	struct branch_list open = { 0 };
	struct tally so_far = { 0 };
	struct found f = { 0 };
	do {
		struct manner m = random_end(r, &o, &f);
		explore_once(s->program, &o, &m, &open, &so_far, &f);
		expect_open(s, &o, "pieces", &open, &f);
		expect_stop(s, &o, &f);
		ck_assert_uint_eq(so_far.stats.histories, f.stats.histories);
	} while (!found_all(&f));
	expect_same(s, whole_options, "pieces", &f, whole);
	found_free(&f);
	branch_list_free(&open);
	tally_free(&so_far);
}

START_TEST(explored_in_pieces)
{
	try_programs(process_seed(_i, 0), share(PROGRAMS), HISTORIES,
	             explore_in_pieces);
}
END_TEST

/* ---- cut at each step ---- */

static void cut_at(const struct subject *s, const struct explore_options *o,
                   enum explore_end end, uint64_t many,
                   const struct found *whole, bool *more)
{
	struct branch_list open = { 0 };
	struct tally so_far = { 0 };
	struct found f = { 0 };
	char what[64];
	*more = explore_until(s->program, o, end, many, &open, &so_far, &f);
	snprintf(what, sizeof what, "cut at %s %llu",
	         end == END_AT_STEP ? "step" : "toil",
	         (unsigned long long)many);
	expect_open(s, o, what, &open, &f);
	/* Too many steps for an engine alone. */
	explore_once(s->program, o, NULL, &open, &so_far, &f);
	expect_same(s, o, what, &f, whole);
	found_free(&f);
	branch_list_free(&open);
	tally_free(&so_far);
}

static void cut_everywhere(const struct subject *s,
                           const struct explore_options *o, struct rng *r,
                           const struct found *whole)
{
	bool more = true;
	(void)r;
	for (uint64_t step = 0; more && step < STEPS; step++)
		cut_at(s, o, END_AT_STEP, step, whole, &more);
	/* A state that is copied has a read and a key at least. */
	more = true;
	for (uint64_t toil = 2; more && toil < STEPS; toil += 5)
		cut_at(s, o, END_AT_TOIL, toil, whole, &more);
}

START_TEST(cut_at_each_step)
{
	try_programs(process_seed(_i, 1), share(PROGRAMS / 10), HISTORIES / 15,
	             cut_everywhere);
}
END_TEST

/* ---- choice by choice ---- */

struct expansion {
	const struct subject *subject;
	const struct explore_options *options;
	struct shared shared;
	struct engine engines[2]; /* of which each gets some branches */
	struct branch_list queue;
};

/* What a branch becomes is in order, under it, and not the same again. */
static void expect_under(const struct expansion *x, const struct branch *b,
                         const struct branch_list *l)
{
	struct found nothing = { .program = x->subject->program };
	expect_open(x->subject, x->options, "expanded", l, &nothing);
	for (size_t i = 0; i < l->count; i++) {
		const struct branch *c = l->items[i];
		ck_assert_int_ne((int)c->kind, BRANCH_SWAP);
		ck_assert_uint_gt(c->path_length, b->path_length);
		if (b->path_length)
			ck_assert_mem_eq(b->path, c->path,
			                 b->path_length * sizeof *b->path);
		if (i) ck_assert_int_lt(branch_compare(l->items[i - 1], c), 0);
	}
}

static void expand(struct expansion *x, struct engine *e, struct branch *b)
{
	struct branch_list out = { 0 };
	engine_expand(e, b, &out);
	expect_under(x, b, &out);
	while (out.count) branch_list_add(&x->queue, out.items[--out.count]);
	branch_list_free(&out);
	free(b);
}

/* In any order, by any engine; now and then all that is under a branch. */
static void expand_all(struct expansion *x, struct rng *r)
{
	struct branch_list *q = &x->queue;
	uint32_t whole = 1 + rng_below(r, 20);
	branch_list_add(q, branch_root());
	while (q->count) {
		size_t i = rng_below(r, (uint32_t)q->count);
		struct engine *e = &x->engines[rng_below(r, 2)];
		struct branch *b = q->items[i];
		q->items[i] = q->items[--q->count];
		if (whole > 10 || rng_below(r, whole + 1)) {
			expand(x, e, b);
			continue;
		}
		engine_explore(e, b);
	}
}

static void expand_everything(const struct subject *s,
                              const struct explore_options *o, struct rng *r,
                              const struct found *whole)
{
	struct expansion x = { .subject = s, .options = o };
	struct tally all;
	struct branch_list nothing = { 0 };
	struct found f = { 0 }, bare = *whole;
	shared_init(&x.shared, s->program, o, NULL, NULL);
	for (int i = 0; i < 2; i++)
		engine_init(&x.engines[i], &x.shared, (uint32_t)i);
	expand_all(&x, r);
	tally_init(&all, s->program);
	for (int i = 0; i < 2; i++) {
		engine_finish(&x.engines[i]);
		tally_add(&all, &x.engines[i].tally);
	}
	explore_once(s->program, o, NULL, &nothing, &all, &f);
	bare.count = 0; /* nobody looked */
	struct text why = { 0 };
	if (!found_same(&f, &bare, &why))
		subject_fails(s, o, "expanded", text_get(&why));
	for (int i = 0; i < 2; i++) engine_free(&x.engines[i]);
	shared_free(&x.shared);
	branch_list_free(&x.queue);
	found_free(&f);
	tally_free(&all);
}

START_TEST(expanded_choice_by_choice)
{
	try_programs(process_seed(_i, 2), share(PROGRAMS / 2), HISTORIES,
	             expand_everything);
}
END_TEST

/* ---- looked at again ---- */

static bool is_same_script(const struct branch *a, const struct branch *b)
{
	return a->script_length == b->script_length &&
	       !memcmp(a->script, b->script,
	               a->script_length * sizeof *a->script);
}

static void replay_ends(const struct subject *s,
                        const struct explore_options *o, struct rng *r,
                        const struct found *whole)
{
	struct shared shared;
	struct engine e;
	shared_init(&shared, s->program, o, NULL, NULL);
	engine_init(&e, &shared, 0);
	for (int i = 0; whole->count && i < 100; i++) {
		const struct sighting *g =
			&whole->sightings[rng_below(r, (uint32_t)whole->count)];
		struct explore_execution x = { .engine = &e };
		if (!branch_is_sound(g->at, program_session_count(s->program)))
			subject_fails(s, o, "a place", "malformed");
		if (engine_replay(&e, g->at) != REPLAYED)
			subject_fails(s, o, "a place", "not there");
		if (explore_hash(&x) != g->hash)
			subject_fails(s, o, "a place", "another history");
		e.branch = branch_copy(g->at);
		struct branch *here = engine_here(&e, BRANCH_END);
		if (branch_compare(here, g->at) || !is_same_script(here, g->at))
			subject_fails(s, o, "a place", "another place");
		free(here);
		free(e.branch);
		e.branch = NULL;
	}
	ck_assert_uint_eq(e.tally.stats.end_states, 0);
	engine_free(&e);
	shared_free(&shared);
}

START_TEST(ends_looked_at_again)
{
	try_programs(process_seed(_i, 3), share(PROGRAMS / 4), HISTORIES,
	             replay_ends);
}
END_TEST

/* Of a tally only the places of examples are taken: the rest is there again. */
static void illustrate(const struct subject *s, const struct explore_options *o,
                       struct rng *r, const struct found *whole)
{
	struct branch_list open = { 0 };
	struct tally so_far = { 0 }, places = { 0 };
	struct found f = { 0 };
	(void)r;
	explore_once(s->program, o, NULL, &open, &so_far, &f);
	tally_init(&places, s->program);
	tally_add_places(&places, &so_far);
	for (uint32_t i = 0; i < places.slot_count; i++) {
		ck_assert_ptr_null(places.violations[i].example);
		ck_assert((places.violations[i].where != NULL) ==
		          (so_far.violations[i].where != NULL));
	}
	if (!tally_make_examples(&places, s->program, o))
		subject_fails(s, o, "examples", "not there");
	found_free(&f);
	explore_once(s->program, o, NULL, &open, &places, &f);
	struct found bare = *whole;
	bare.count = 0;
	struct text why = { 0 };
	if (!found_same(&f, &bare, &why))
		subject_fails(s, o, "examples", text_get(&why));
	found_free(&f);
	branch_list_free(&open);
	tally_free(&so_far);
	tally_free(&places);
}

START_TEST(examples_from_their_places)
{
	try_programs(process_seed(_i, 4), share(PROGRAMS / 4), HISTORIES / 4,
	             illustrate);
}
END_TEST

/* ---- what belongs to another program ---- */

static uint32_t *mutable_words(struct branch *b)
{
	return (uint32_t *)b->script;
}

static void mutate(struct branch *b, struct rng *r, uint32_t sessions)
{
	uint32_t *w = mutable_words(b);
	for (uint32_t i = 1 + rng_below(r, 3); b->script_length && i; i--)
		w[rng_below(r, b->script_length)] = rng_below(r, 2 + sessions);
	if (!rng_below(r, 3))
		b->kind = (enum branch_kind)rng_below(r, BRANCH_END + 1);
	if (b->script_length >= 2 && !rng_below(r, 4)) b->script_length -= 2;
}

/* Whatever is asked for, if it is well formed, is done or refused; and the
 * engine is none the worse for it. */
static void replay_nonsense(const struct subject *s,
                            const struct explore_options *o, struct rng *r,
                            const struct found *whole)
{
	uint32_t sessions = program_session_count(s->program);
	struct shared shared;
	struct engine e;
	shared_init(&shared, s->program, o, NULL, NULL);
	engine_init(&e, &shared, 0);
	for (int i = 0; whole->count && i < 100; i++) {
		const struct sighting *g =
			&whole->sightings[rng_below(r, (uint32_t)whole->count)];
		struct explore_execution x = { .engine = &e };
		struct branch *b = branch_copy(g->at);
		mutate(b, r, sessions);
		if (branch_is_sound(b, sessions)) engine_replay(&e, b);
		free(b);
		if (rng_below(r, 3)) continue;
		if (engine_replay(&e, g->at) != REPLAYED ||
		    explore_hash(&x) != g->hash)
			subject_fails(s, o, "after nonsense", "another one");
	}
	engine_free(&e);
	shared_free(&shared);
}

START_TEST(nonsense_is_refused)
{
	try_programs(process_seed(_i, 5), share(PROGRAMS / 2), HISTORIES / 4,
	             replay_nonsense);
}
END_TEST

void add_branch_tests(TCase *tests)
{
	tcase_add_test(tests, a_branch_keeps_what_it_is_given);
	tcase_add_test(tests, branches_come_in_depth_first_order);
	tcase_add_test(tests, what_is_sound);
	tcase_add_test(tests, tallies_add_up);
	tcase_add_test(tests, the_first_reason_is_kept);
	tcase_add_loop_test(tests, explored_in_pieces, 0, PROCESSES);
	tcase_add_loop_test(tests, cut_at_each_step, 0, PROCESSES);
	tcase_add_loop_test(tests, expanded_choice_by_choice, 0, PROCESSES);
	tcase_add_loop_test(tests, ends_looked_at_again, 0, PROCESSES);
	tcase_add_loop_test(tests, examples_from_their_places, 0, PROCESSES);
	tcase_add_loop_test(tests, nonsense_is_refused, 0, PROCESSES);
}
