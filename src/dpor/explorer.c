/* An exploration as a whole: its threads, what they find, what is left. */
#include "dpor/explorer.h"

#include <assert.h>
#include <stdlib.h>

#include "analyse/symmetry.h"
#include "base/memory.h"
#include "base/seconds.h"
#include "dpor/engine.h"
#include "dpor/work/pool.h"
#include "history/history.h"
#include "vm/program.h"

struct explorer {
	struct shared shared;
	struct pool *pool;       /* while it runs */
	struct tally total;      /* found before; in the end, all */
	struct branch_list open; /* to begin with; in the end, what is left */
	bool open_is_too_large;
	bool was_cut;         /* a session in C, before it was resumed */
	double next_snapshot; /* in seconds_now() */
	struct history *nearest;
};

struct explorer *explorer_new(const struct program *p,
                              const struct explore_options *o,
                              const struct explore_observer *observer)
{
	struct explorer *e = mem_take0(1, sizeof *e);
	shared_init(&e->shared, p, o, observer, e);
	if (!e->shared.options.jobs || o->algorithm == EXPLORE_OUTWARD)
		e->shared.options.jobs = 1;
	tally_init(&e->total, p);
	branch_list_add(&e->open, branch_root());
	return e;
}

void explorer_resume(struct explorer *e, struct branch_list *open,
                     struct tally *so_far)
{
	assert(!e->pool);
	branch_list_free(&e->open);
	e->open = *open;
	*open = (struct branch_list){ 0 };
	if (!so_far) return;
	tally_free(&e->total);
	e->total = *so_far;
	e->was_cut = so_far->stats.stop == STOP_BOUND;
	e->total.stats.stop = STOP_NONE;
	atomic_store(&e->shared.output, e->total.stats.classes);
	*so_far = (struct tally){ 0 };
}

/* ---- while it runs ---- */

static bool tell_snapshot(struct explorer *e)
{
	const struct explore_observer *o = &e->shared.observer;
	double every = e->shared.options.snapshot_every;
	if (every <= 0 || !o->snapshot || seconds_now() < e->next_snapshot)
		return true;
	struct tally found;
	struct branch_list open = { 0 };
	tally_init(&found, e->shared.program);
	pool_pause(e->pool);
	tally_add_places(&found, &e->total);
	bool all = pool_snapshot(e->pool, &found, &open);
	found.stats.seconds =
		e->total.stats.seconds + seconds_now() - e->shared.wall_start;
	bool go_on = !all || o->snapshot(o->payload, &found, &open);
	pool_go_on(e->pool);
	e->next_snapshot = seconds_now() + every;
	tally_free(&found);
	branch_list_free(&open);
	return go_on;
}

static bool poll(void *data)
{
	struct explorer *e = data;
	const struct explore_observer *o = &e->shared.observer;
	struct explore_stats so_far = { 0 };
	uint32_t depth = 0;
	if (!tell_snapshot(e)) return false;
	if (!o->tick) return true;
	pool_stats(e->pool, &so_far, &depth);
	tally_add_stats(&so_far, &e->total.stats);
	so_far.seconds =
		e->total.stats.seconds + seconds_now() - e->shared.wall_start;
	return o->tick(o->payload, &so_far, depth);
}

/* ---- before and after ---- */

static void begin(struct explorer *e)
{
	struct shared *s = &e->shared;
	s->wall_start = seconds_now();
	e->next_snapshot = s->wall_start + s->options.snapshot_every;
	e->pool = pool_new(s, s->options.jobs);
	pool_add(e->pool, &e->open);
}

/* A limit that was hit when nothing was left to do was none. */
static bool is_limit(enum stop_reason stop)
{
	return stop == STOP_HISTORIES || stop == STOP_TIME ||
	       stop == STOP_MEMORY || stop == STOP_INTERRUPTED;
}

static enum stop_reason why_it_ended(const struct explorer *e)
{
	int stop = atomic_load(&e->shared.stop);
	if (is_limit(stop) && !e->open.count && !e->open_is_too_large &&
	    e->shared.options.algorithm != EXPLORE_OUTWARD)
		stop = STOP_NONE;
	if (stop) return (enum stop_reason)stop;
	struct position at;
	if (e->was_cut || program_bound_met(e->shared.program, &at))
		return STOP_BOUND;
	return e->total.stats.cut ? STOP_STALE : STOP_NONE;
}

/* What was explored stands for other histories: they reach more, and some of
 * the examples are only noted. */
static void add_orbits(struct explorer *e)
{
	const struct explore_options *o = &e->shared.options;
	if (o->algorithm != EXPLORE_ORDERLY || !o->symmetry) return;
	symmetry_spread_reached(o->symmetry, e->total.reached);
	tally_make_examples(&e->total, e->shared.program, o);
}

static void end(struct explorer *e)
{
	double before = e->total.stats.seconds;
	e->open_is_too_large = !pool_capture(e->pool, &e->open);
	for (unsigned i = 0; i < pool_jobs(e->pool); i++)
		tally_add(&e->total, &pool_engine(e->pool, i)->tally);
	e->total.stats.seconds = before + seconds_now() - e->shared.wall_start;
	e->total.stats.stop = why_it_ended(e);
	tally_sort_errors(&e->total);
	add_orbits(e);
	struct outward *outward = &pool_engine(e->pool, 0)->outward;
	e->nearest = outward->nearest;
	outward->nearest = NULL;
	pool_free(e->pool);
	e->pool = NULL;
}

void explorer_run(struct explorer *e)
{
	const struct overseer overseer = { e, poll };
	begin(e);
	pool_run(e->pool, &overseer);
	end(e);
}

void explorer_free(struct explorer *e)
{
	if (!e) return;
	tally_free(&e->total);
	branch_list_free(&e->open);
	history_free(e->nearest);
	shared_free(&e->shared);
	free(e);
}

struct tally *explorer_tally(struct explorer *e)
{
	return &e->total;
}

const struct branch_list *explorer_open(const struct explorer *e)
{
	return e->open_is_too_large ? NULL : &e->open;
}

const struct explore_stats *explorer_stats(const struct explorer *e)
{
	return &e->total.stats;
}

const struct explore_options *explorer_options(const struct explorer *e)
{
	return &e->shared.options;
}

const struct history *explorer_nearest(const struct explorer *e)
{
	return e->nearest;
}

enum explorer_algorithm explorer_usual_algorithm(const struct program *p,
                                                 enum level l)
{
	bool heeds = level_sight(l) != SIGHT_NOTHING || program_mixes(p);
	bool locks = program_locks(p) && heeds;
	return level_is_extensible(l) && !locks ? EXPLORE_CE : EXPLORE_ORDERLY;
}

const struct program *explorer_program(const struct explorer *e)
{
	return e->shared.program;
}

uint32_t explorer_slot_error(const struct explorer *e)
{
	return program_assertion_count(e->shared.program);
}

uint32_t explorer_slot_robust(const struct explorer *e)
{
	return program_assertion_count(e->shared.program) + 1;
}

uint32_t explorer_slot_count(const struct explorer *e)
{
	return e->total.slot_count;
}

uint32_t explorer_slot_places(const struct explorer *e)
{
	return e->total.program_slots;
}

struct position explorer_error_place(const struct explorer *e, uint32_t slot)
{
	const struct tally *t = &e->total;
	assert(slot >= t->program_slots && slot < t->slot_count);
	return t->errors.items[slot - t->program_slots];
}

const struct explore_violation *explorer_violation(const struct explorer *e,
                                                   uint32_t slot)
{
	assert(slot < explorer_slot_count(e));
	return &e->total.violations[slot];
}

struct history *explorer_take_example(struct explorer *e, uint32_t slot)
{
	assert(slot < explorer_slot_count(e));
	struct history *h = e->total.violations[slot].example;
	e->total.violations[slot].example = NULL;
	return h;
}

bool explorer_reached(const struct explorer *e, uint32_t point)
{
	assert(point < e->total.reach_count);
	return bits_has(e->total.reached, point);
}
