#include "exploration.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "assertions.h"
#include "base/hash.h"
#include "base/memory.h"
#include "dpor/engine.h"
#include "history/history.h"
#include "random_client.h"
#include "random_program.h"
#include "symmetric_program.h"
#include "vm/program.h"
#include "analyse/symmetry.h"

/* ---- what is the same however it is done ---- */

#define SAME(member)                                            \
	{                                                       \
#member, offsetof(struct explore_stats, member) \
	}
static const struct {
	const char *name;
	size_t at;
} same_stats[] = {
	SAME(histories),        SAME(classes),        SAME(end_states),
	SAME(filtered),         SAME(pruned),         SAME(blocked),
	SAME(duplicates),       SAME(unserializable), SAME(explore_calls),
	SAME(swaps_considered), SAME(swaps_taken),    SAME(swaps_inconsistent),
	SAME(swaps_not_latest), SAME(depth_max),      SAME(cut),
	SAME(changes)
};
#undef SAME
enum { SAME_STATS = sizeof same_stats / sizeof *same_stats };

static uint64_t number_at(const struct explore_stats *s, size_t at)
{
	uint64_t n;
	memcpy(&n, (const char *)s + at, sizeof n);
	return n;
}

static bool equal(struct text *why, const char *what, uint64_t found,
                  uint64_t expected)
{
	if (found == expected) return true;
	text_format(why, "%s: %llu, should be %llu\n", what,
	            (unsigned long long)found, (unsigned long long)expected);
	return false;
}

static bool same_statistics(const struct explore_stats *a,
                            const struct explore_stats *b, struct text *why)
{
	bool same = equal(why, "stop", a->stop, b->stop);
	for (int i = 0; i < SAME_STATS; i++)
		same &= equal(why, same_stats[i].name,
		              number_at(a, same_stats[i].at),
		              number_at(b, same_stats[i].at));
	for (enum level l = 0; l < LEVEL_COUNT; l++)
		same &= equal(why, level_word(l), a->per_level[l],
		              b->per_level[l]);
	return same;
}

static bool same_violations(const struct found *a, const struct found *b,
                            struct text *why)
{
	bool same = true;
	for (uint32_t i = 0; i < a->slots * (1 + LEVEL_COUNT); i++)
		same &= equal(why, "violations", a->violations[i],
		              b->violations[i]);
	for (uint32_t i = 0; i < a->slots; i++) {
		const char *x = a->examples.items[i], *y = b->examples.items[i];
		if (!strcmp(x, y)) continue;
		text_format(why, "slot %u: the example\n%s\nshould be\n%s\n", i,
		            x, y);
		same = false;
	}
	for (uint32_t i = 0; i < a->points; i++)
		same &= equal(why, "point reached", a->reached[i],
		              b->reached[i]);
	return same;
}

static bool same_sightings(const struct found *a, const struct found *b,
                           struct text *why)
{
	if (!equal(why, "sightings", a->count, b->count)) return false;
	for (size_t i = 0; i < a->count; i++) {
		const struct sighting *x = &a->sightings[i];
		const struct sighting *y = &b->sightings[i];
		if (x->hash == y->hash && x->weight == y->weight &&
		    x->violated == y->violated && !branch_compare(x->at, y->at))
			continue;
		text_format(why, "sighting %zu is another one\n", i);
		return false;
	}
	return true;
}

bool found_same(const struct found *a, const struct found *expected,
                struct text *why)
{
	bool same = same_statistics(&a->stats, &expected->stats, why);
	same &= same_violations(a, expected, why);
	return same_sightings(a, expected, why) && same;
}

/* ---- what fits together ---- */

/* Does `a` lead to `b`, or are both the same? */
static bool leads_to(const struct branch *a, const struct branch *b)
{
	return a->path_length <= b->path_length &&
	       !memcmp(a->path, b->path, a->path_length * sizeof *a->path);
}

static bool equal_branches(const struct branch *a, const struct branch *b)
{
	return a->kind == b->kind && !branch_compare(a, b);
}

/* What one branch led to has no other between it, and one worker. */
static bool in_one_run(const struct found *f, size_t i)
{
	const struct sighting *s = f->sightings;
	if (equal_branches(s[i].under, s[i - 1].under))
		return s[i].worker == s[i - 1].worker;
	for (size_t j = 0; j < i; j++)
		if (equal_branches(s[i].under, s[j].under)) return false;
	return true;
}

/* Each execution that was complete is counted for one thing. */
static bool all_counted(const struct found *f, struct text *why)
{
	const struct explore_stats *s = &f->stats;
	uint64_t told = f->count + s->filtered + s->pruned;
	bool classes = equal(why, "classes", s->classes, f->count);
	return equal(why, "end states", s->end_states, told) && classes;
}

bool found_sound(const struct found *f, struct text *why)
{
	uint64_t weights = 0;
	bool sound = all_counted(f, why);
	for (size_t i = 0; i < f->count; i++) {
		const struct sighting *s = &f->sightings[i];
		weights += s->weight;
		if (!leads_to(s->under, s->at)) {
			text_format(why, "sighting %zu elsewhere\n", i);
			sound = false;
		}
		if (!i) continue;
		if (branch_compare(s[-1].at, s->at) >= 0 ||
		    leads_to(s[-1].at, s->at)) {
			text_format(why, "sighting %zu: the place\n", i);
			sound = false;
		}
		if (!in_one_run(f, i)) {
			text_format(why, "sighting %zu: the branch\n", i);
			sound = false;
		}
	}
	return equal(why, "weights", weights, f->stats.histories) && sound;
}

static bool open_is_apart(const struct branch *b, const struct found *f)
{
	for (size_t i = 0; i < f->count; i++)
		if (leads_to(b, f->sightings[i].at)) return false;
	return true;
}

bool open_sound(const struct branch_list *open, const struct found *f,
                struct text *why)
{
	struct branch_list sorted = { 0 };
	uint32_t sessions = program_session_count(f->program);
	bool sound = true;
	branch_list_copy(&sorted, open);
	branch_list_sort(&sorted);
	for (size_t i = 0; i < sorted.count; i++) {
		const struct branch *b = sorted.items[i];
		const char *fault = NULL;
		if (!branch_is_sound(b, sessions)) fault = "malformed";
		if (b->kind == BRANCH_END) fault = "an end";
		if (i && leads_to(sorted.items[i - 1], b)) fault = "twice";
		if (!open_is_apart(b, f)) fault = "seen";
		if (!fault) continue;
		text_format(why, "open branch %zu: %s\n", i, fault);
		sound = false;
	}
	branch_list_free(&sorted);
	return sound;
}

/* ---- what is found ---- */

static int compare_sightings(const void *a, const void *b)
{
	const struct sighting *x = a, *y = b;
	return branch_compare(x->at, y->at);
}

void found_sort(struct found *f)
{
	if (f->count)
		qsort(f->sightings, f->count, sizeof *f->sightings,
		      compare_sightings);
}

bool found_all(const struct found *f)
{
	return f->stats.stop == STOP_NONE || f->stats.stop == STOP_STALE;
}

static void free_results(struct found *f)
{
	strings_free(&f->examples);
	free(f->violations);
	free(f->reached);
	f->violations = NULL;
	f->reached = NULL;
}

void found_free(struct found *f)
{
	for (size_t i = 0; i < f->count; i++) {
		free(f->sightings[i].at);
		free(f->sightings[i].under);
	}
	free(f->sightings);
	free_results(f);
	*f = (struct found){ 0 };
}

static void print_finding(struct text *t, const struct program *p,
                          const struct finding *f)
{
	struct position at = program_position(p, f->point);
	text_format(t, "\n%d %u %u:%u %s", (int)f->kind, f->assertion, at.line,
	            at.column, f->message ? f->message : "");
	for (uint32_t i = 0; i < f->value_count; i++) {
		text_format(t, " %s=", f->values[i].name);
		value_print(t, f->values[i].value);
	}
}

static void add_example(struct found *f, const struct explore_violation *v)
{
	struct text t = { 0 };
	ck_assert((v->where != NULL) == (v->example != NULL));
	ck_assert((v->histories > 0) == (v->example != NULL));
	if (v->example) history_print_canonical(&t, v->example);
	if (v->finding) print_finding(&t, f->program, v->finding);
	strings_add(&f->examples, text_get(&t));
	text_free(&t);
}

static void take_results(struct found *f, const struct explorer *e)
{
	free_results(f);
	f->program = explorer_program(e);
	f->stats = *explorer_stats(e);
	f->slots = explorer_slot_count(e);
	f->points = program_reach_count(f->program);
	f->violations = mem_take0((size_t)f->slots * (1 + LEVEL_COUNT),
	                          sizeof *f->violations);
	uint64_t *next = f->violations;
	for (uint32_t i = 0; i < f->slots; i++) {
		const struct explore_violation *v = explorer_violation(e, i);
		*next++ = v->histories;
		for (int l = 0; l < LEVEL_COUNT; l++) *next++ = v->per_level[l];
		add_example(f, v);
	}
	f->reached = mem_take0(f->points + 1, sizeof *f->reached);
	for (uint32_t i = 0; i < f->points; i++)
		f->reached[i] = explorer_reached(e, i);
}

/* ---- the observer ---- */

/* What one thread sees: the others neither wait for it nor share anything with
 * it, so that the thread sanitizer sees the explorer's own order only. */
struct lane {
	struct sighting *items;
	size_t count, capacity;
	struct rng rng;
	char pad[64];
};

struct watch {
	const struct manner *manner;
	uint32_t jobs;
	struct lane lanes[JOBS_MAX];
	atomic_uint_fast64_t calls;
	bool tired; /* of ticks; of one job only */
};

static uint64_t hash_slots(const struct explore_execution *x)
{
	uint64_t h = x->violated_count;
	for (uint32_t i = 0; i < x->violated_count; i++)
		h = hash_mix(h, x->violated[i]);
	return h;
}

static void note(struct lane *l, const struct explore_execution *x)
{
	VEC_RESERVE(l->items, l->count, l->capacity);
	l->items[l->count++] =
		(struct sighting){ .at = engine_here(x->engine, BRANCH_END),
		                   .under = branch_copy(x->branch),
		                   .hash = explore_hash(x),
		                   .weight = x->weight,
		                   .number = x->number,
		                   .violated = hash_slots(x),
		                   .worker = x->worker };
}

/* Lets the exploration go on for so many steps, and no more. */
static void grow_tired(struct watch *w, const struct explore_execution *x)
{
	const struct manner *m = w->manner;
	if (m->by_tick)
		w->tired = true;
	else
		atomic_store_explicit(m->interrupt, true, memory_order_relaxed);
	x->engine->next_tick = x->engine->context.steps + m->steps;
}

/* Explorations begin in one thread, and most of those of tests would end there:
 * it has to call the others at once. */
static void call_others(struct engine *e)
{
	if (e->yield_at <= 0) return;
	e->yield_at = 1e-9;
	e->next_tick = 0;
}

static bool see(void *payload, const struct explore_execution *x)
{
	struct watch *w = payload;
	const struct manner *m = w->manner;
	ck_assert_uint_lt(x->worker, w->jobs);
	struct lane *l = &w->lanes[x->worker];
	note(l, x);
	call_others(x->engine);
	if (m->delays && !rng_below(&l->rng, m->delays))
		usleep(rng_below(&l->rng, 300));
	if (m->slow == x->number) usleep(3000);
	uint64_t calls =
		atomic_fetch_add_explicit(&w->calls, 1, memory_order_relaxed) +
		1;
	if (m->steps_after && calls == m->steps_after) grow_tired(w, x);
	return !m->refuse_after || calls < m->refuse_after;
}

static bool tick(void *payload, const struct explore_stats *so_far,
                 uint32_t depth)
{
	struct watch *w = payload;
	(void)depth;
	ck_assert_int_eq((int)so_far->stop, STOP_NONE);
	return !w->tired;
}

/* ---- exploring ---- */

/* Numbers are given once, in the order of calls; so one thread goes depth
 * first. */
static void check_numbers(const struct sighting *s, size_t count, bool alone)
{
	bool *given = mem_take0(count + 1, sizeof *given);
	uint64_t first = UINT64_MAX;
	for (size_t i = 0; i < count; i++)
		if (s[i].number < first) first = s[i].number;
	for (size_t i = 0; i < count; i++) {
		uint64_t n = s[i].number - first;
		ck_assert_msg(n < count && !given[n], "number %llu",
		              (unsigned long long)s[i].number);
		given[n] = true;
		if (!alone || !i) continue;
		ck_assert_uint_gt(s[i].number, s[i - 1].number);
		ck_assert_int_lt(branch_compare(s[i - 1].at, s[i].at), 0);
	}
	free(given);
}

/* Moves to `f` what all threads saw. */
static void gather(struct watch *w, struct found *f)
{
	size_t from = f->count;
	for (int i = 0; i < JOBS_MAX; i++) {
		struct lane *l = &w->lanes[i];
		for (size_t j = 0; j < l->count; j++) {
			VEC_RESERVE(f->sightings, f->count, f->capacity);
			f->sightings[f->count++] = l->items[j];
		}
		free(l->items);
	}
	check_numbers(f->sightings + from, f->count - from, w->jobs == 1);
	found_sort(f);
}

static void resume(struct explorer *e, struct branch_list *open,
                   struct tally *so_far)
{
	if (!so_far || !so_far->slot_count) return;
	explorer_resume(e, open, so_far);
	ck_assert_uint_eq(open->count, 0);
	ck_assert_uint_eq(so_far->slot_count, 0);
}

static void watch_init(struct watch *w, const struct explore_options *o,
                       const struct manner *m)
{
	static const struct manner quiet;
	*w = (struct watch){ .manner = m ? m : &quiet,
		             .jobs = o->jobs ? o->jobs : 1 };
	ck_assert_uint_le(w->jobs, JOBS_MAX);
	for (uint32_t i = 0; i < JOBS_MAX; i++)
		w->lanes[i].rng.state = w->manner->seed + i;
}

static void replace_tally(struct tally *t, const struct program *p,
                          struct tally *by)
{
	tally_free(t);
	tally_init(t, p);
	tally_add(t, by);
}

void explore_once(const struct program *p, const struct explore_options *o,
                  const struct manner *m, struct branch_list *open,
                  struct tally *so_far, struct found *f)
{
	struct watch w;
	struct explore_observer observer = { .payload = &w,
		                             .history = see,
		                             .tick = tick };
	watch_init(&w, o, m);
	struct explorer *e = explorer_new(p, o, &observer);
	resume(e, open, so_far);
	explorer_run(e);
	take_results(f, e);
	gather(&w, f);
	ck_assert(!found_all(f) || !explorer_open(e)->count);
	if (so_far) {
		branch_list_free(open);
		branch_list_copy(open, explorer_open(e));
		replace_tally(so_far, p, explorer_tally(e));
	}
	explorer_free(e);
}

void explore_all(const struct program *p, const struct explore_options *o,
                 const struct manner *m, struct found *f)
{
	explore_once(p, o, m, NULL, NULL, f);
}

bool explore_until(const struct program *p, const struct explore_options *o,
                   enum explore_end end, uint64_t many,
                   struct branch_list *open, struct tally *so_far,
                   struct found *f)
{
	struct watch w;
	struct explore_observer observer = { .payload = &w, .history = see };
	atomic_bool yes = true;
	struct explore_options limited = *o;
	struct shared shared;
	struct engine e;
	limited.interrupt = &yes;
	watch_init(&w, o, NULL);
	shared_init(&shared, p, &limited, &observer, NULL);
	engine_init(&e, &shared, 0);
	engine_start_clock(&e);
	e.next_tick = end == END_AT_STEP ? many : UINT64_MAX;
	if (end == END_AT_TOIL) e.toil = TOIL_MOST - many;
	engine_explore(&e, branch_root());
	engine_measure(&e);
	bool stopped = atomic_load(&shared.stop) != STOP_NONE;
	engine_capture(&e, open);
	replace_tally(so_far, p, &e.tally);
	f->program = p;
	gather(&w, f);
	engine_free(&e);
	shared_free(&shared);
	return stopped;
}

/* ---- what is explored ---- */

/* Loops are longer than the room that explorations begin with, and one of them
 * may need twice that; but few of their transactions meet others. */
static void long_loop(struct text *out, struct rng *r, uint32_t session)
{
	static const char *const bodies[] = {
		"x = i + 1;",
		"k[i % 3] = i;",
		"skip;",
		"if (i == 33) { let w = n; assert w != 1; }",
		"if (i == 33) { let w = x; n = w; }",
		"if (i > 40) { abort; } x = i;",
		"let w = x; assume w != 4;"
	};
	uint32_t length = 33 + rng_below(r, 2) * rng_below(r, 40);
	text_format(out,
	            "\tlet m%u = get_n(); for i in 0..m%u * %u "
	            "{ txn { %s } }\n",
	            session, session, length,
	            bodies[rng_below(r, sizeof bodies / sizeof *bodies)]);
}

void unbounded_program(struct text *out, uint64_t seed)
{
	static const char *const few[] = {
		"\ttxn { n = 1; }\n", "\ttxn { let v = x; n = 1; }\n",
		"\ttxn { let v = x; let w = n; assert v != 5 || w != 0; }\n",
		"\ttxn { let v = n; if (v == 1) { x = 7; } else { n = 1; } }\n"
	};
	struct rng r = { seed };
	uint32_t sessions = 2 + rng_below(&r, 2);
	uint32_t longest = rng_below(&r, sessions);
	text_string(out, "global n = 0;\nglobal x = 0;\nglobal k[*] = 0;\n"
	                 "txn get_n() { let v = n; return v % 3; }\n");
	for (uint32_t i = 0; i < sessions; i++) {
		text_format(out, "session s%u {\n", i);
		if (i != longest || !rng_below(&r, 3))
			text_string(out, few[rng_below(&r, 4)]);
		if (i == longest || !rng_below(&r, 4)) long_loop(out, &r, i);
		text_string(out, "}\n");
	}
	if (!rng_below(&r, 4))
		text_string(out, "finally { let v = x; assert v != 33; }\n");
}

/* Of exploring a subject: an assumption may leave no history at all of very
 * many executions. */
enum { STEPS_MOST = 1 << 23 };

bool subject_new(struct subject *s, uint64_t seed, uint64_t histories)
{
	struct explore_options o = { .level = LEVEL_NONE,
		                     .base = LEVEL_NONE,
		                     .max_histories = histories,
		                     .max_steps = STEPS_MOST };
	struct diags d = { 0 };
	*s = (struct subject){ .seed = seed };
	switch (seed % 8) {
	case 0: unbounded_program(&s->source, seed); break;
	case 3: program_of_copies(&s->source, seed); break;
	case 1:
	case 2: random_client(&s->source, seed); break;
	default: random_program(&s->source, seed); break;
	}
	s->program = program_from_text(text_get(&s->source));
	s->symmetry = symmetry_new(s->program, &d);
	diags_free(&d);
	struct explorer *e = explorer_new(s->program, &o, NULL);
	explorer_run(e);
	bool small = explorer_stats(e)->stop == STOP_NONE;
	explorer_free(e);
	if (!small) subject_free(s);
	return small;
}

void subject_free(struct subject *s)
{
	symmetry_free(s->symmetry);
	program_free(s->program);
	text_free(&s->source);
}

struct explore_options random_options(const struct subject *s, struct rng *r)
{
	static const enum explorer_algorithm algorithms[] = {
		EXPLORE_CE, EXPLORE_CE, EXPLORE_CE, EXPLORE_DFS, EXPLORE_ORDERLY
	};
	struct explore_options o = { .algorithm = algorithms[rng_below(r, 5)],
		                     .level = (enum level)rng_below(
					     r, LEVEL_COUNT),
		                     .robust = rng_below(r, 2),
		                     .classify = rng_below(r, 2),
		                     .max_changes = UINT64_MAX };
	do o.base = (enum level)rng_below(r, LEVEL_COUNT);
	while (!level_is_extensible(o.base) || !level_implies(o.level, o.base));
	if (level_is_extensible(o.level) && rng_below(r, 2)) o.base = o.level;
	if (!rng_below(r, 3)) o.max_changes = rng_below(r, 3);
	if (rng_below(r, 3)) o.symmetry = s->symmetry;
	return o;
}

void subject_fails(const struct subject *s, const struct explore_options *o,
                   const char *what, const char *why)
{
	static const char *const algorithms[] = { "ce", "dfs", "outward",
		                                  "orderly" };
	const char *fault = program_fault(s->program);
	ck_abort_msg("seed %llu, %s %s, base %s, -j %u, max changes %lld, "
	             "%s%s%s:\n%s\n%s: %s%s",
	             (unsigned long long)s->seed, algorithms[o->algorithm],
	             level_word(o->level), level_word(o->base), o->jobs,
	             (long long)o->max_changes, o->robust ? "robust " : "",
	             o->classify ? "classify " : "",
	             o->symmetry ? "symmetry" : "", text_get(&s->source), what,
	             why, fault ? fault : "");
	abort();
}

void expect_same(const struct subject *s, const struct explore_options *o,
                 const char *what, const struct found *found,
                 const struct found *expected)
{
	struct text why = { 0 };
	bool same = found_same(found, expected, &why);
	if (!found_sound(found, &why) || !same)
		subject_fails(s, o, what, text_get(&why));
}
