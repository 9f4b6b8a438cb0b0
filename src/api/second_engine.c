#include "api/second_engine.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "base/memory.h"
#include "base/seconds.h"
#include "dpor/estimate.h"
#include "vm/program.h"

/* When it first looks how far exploring is; what is soon, in seconds. */
static const double FIRST_LOOK = 0.5, SOON = 2, ESTIMATING = 0.1;

struct second_engine {
	const struct program *program;
	struct explore_options options; /* of the exploration */
	bool levels;
	double begun;
	struct mem_heap *heap; /* of the thread that began it */
	pthread_t thread;
	bool runs;
	atomic_bool cancel, answered, failed;
	_Atomic double work; /* that exploring has done */
	union {
		struct decision one;
		struct level_decisions all;
	} of;
	bool decided; /* there is something in `of` */
};

/* ---- in the thread ---- */

static void wait(const struct second_engine *s, double until)
{
	static const struct timespec little = { .tv_nsec = 10000000 };
	while (!atomic_load(&s->cancel) && seconds_now() < until)
		nanosleep(&little, NULL);
}

/* In how many seconds will exploring end, as far as an estimate tells? */
static double left(struct second_engine *s)
{
	double work = atomic_load(&s->work);
	struct explore_options o = s->options;
	o.interrupt = &s->cancel;
	struct estimator *e = estimator_new(s->program, &o, 1);
	if (!e || work <= 0) {
		estimator_free(e);
		return INFINITY;
	}
	estimator_hurry(e, 10 * ESTIMATING);
	estimator_spend(e, ESTIMATING);
	struct estimate all = estimator_get(e);
	estimator_free(e);
	if (!all.groups) return INFINITY;
	double pace = work / (seconds_now() - s->begun);
	return fmax(all.work - work, 0) / pace;
}

/* Under all levels, one after the other is explored: time tells. */
static void wait_for_exploring(struct second_engine *s)
{
	wait(s, s->begun + FIRST_LOOK);
	if (atomic_load(&s->cancel)) return;
	if (s->levels || left(s) <= SOON) wait(s, seconds_now() + SOON);
}

static void decide_it(struct second_engine *s)
{
	const struct explore_options *o = &s->options;
	struct decide_options d = { .level = o->level,
		                    .as = o->as,
		                    .robust = o->robust,
		                    .memory = mem_usual_limit() / 2,
		                    .interrupt = &s->cancel };
	if (o->timeout > 0)
		d.timeout = fmax(s->begun + o->timeout - seconds_now(), 1e-3);
	if (s->levels)
		decide_levels(&s->of.all, s->program, &d, decide);
	else
		decide(&s->of.one, s->program, &d);
	s->decided = true;
}

static bool says_all(const struct second_engine *s)
{
	if (!s->levels) return s->of.one.verdict != VERDICT_INCONCLUSIVE;
	for (enum level l = 0; l < LEVEL_COUNT; l++)
		if (level_verdict(&s->of.all, l) == VERDICT_INCONCLUSIVE)
			return false;
	return true;
}

static void work_here(void *data)
{
	struct second_engine *s = data;
	wait_for_exploring(s);
	if (atomic_load(&s->cancel)) return;
	decide_it(s);
	if (says_all(s) && !atomic_load(&s->cancel))
		atomic_store(&s->answered, true);
}

static void *thread_main(void *data)
{
	struct second_engine *s = data;
	if (!mem_run_part(s->heap, work_here, s))
		atomic_store(&s->failed, true);
	return NULL;
}

/* ---- beside the exploration ---- */

static bool is_covered(const struct program *p, const struct explore_options *o,
                       bool levels)
{
	/* SQL may come to know rows while it is explored. */
	if (program_is_sql(p) || o->max_histories || o->memory || o->observed ||
	    o->symmetry || o->check_duplicates || o->uniform ||
	    o->max_changes != UINT64_MAX)
		return false;
	for (enum level l = 0; levels && l < LEVEL_COUNT; l++)
		if (decide_obstacle(p, l)) return false;
	return !decide_obstacle(p, o->level);
}

struct second_engine *second_engine_begin(const struct program *p,
                                          const struct explore_options *o,
                                          bool levels)
{
	if (!is_covered(p, o, levels)) return NULL;
	struct second_engine *s = mem_take0(1, sizeof *s);
	s->program = p;
	s->options = *o;
	s->levels = levels;
	s->begun = seconds_now();
	s->heap = mem_heap_here();
	s->runs = !pthread_create(&s->thread, NULL, thread_main, s);
	return s;
}

bool second_engine_answered(const struct second_engine *s)
{
	return s && atomic_load(&s->answered);
}

bool second_engine_tick(struct second_engine *s, const struct explore_stats *e)
{
	if (s) atomic_store(&s->work, work_done(&s->options, e));
	return !second_engine_answered(s);
}

bool second_engine_end(struct second_engine *s)
{
	if (!s) return false;
	if (!atomic_load(&s->answered)) atomic_store(&s->cancel, true);
	if (s->runs) pthread_join(s->thread, NULL);
	s->runs = false;
	if (atomic_load(&s->failed)) mem_fail();
	return second_engine_answered(s);
}

const struct decision *second_engine_decision(const struct second_engine *s)
{
	return &s->of.one;
}

const struct level_decisions *
second_engine_levels(const struct second_engine *s)
{
	return &s->of.all;
}

void second_engine_free(struct second_engine *s)
{
	if (!s) return;
	second_engine_end(s);
	if (s->decided && s->levels) level_decisions_free(&s->of.all);
	if (s->decided && !s->levels) decision_free(&s->of.one);
	free(s);
}

/* ---- beside each exploration of a repair ---- */

static void *begin_one(const struct program *p, const struct explore_options *o)
{
	return second_engine_begin(p, o, false);
}

static bool tick_one(void *engine, const struct explore_stats *e)
{
	return second_engine_tick(engine, e);
}

/* Takes the history of a violation. */
static struct history *take_example(struct decision *d)
{
	struct history *h = NULL;
	for (uint32_t i = 0; i < d->goal_count && !h; i++) {
		if (d->goals[i].verdict != VERDICT_VIOLATED) continue;
		h = d->goals[i].example;
		d->goals[i].example = NULL;
	}
	return h;
}

static enum verdict end_one(void *engine, struct history **example)
{
	struct second_engine *s = engine;
	enum verdict v = VERDICT_INCONCLUSIVE;
	if (second_engine_end(s)) v = s->of.one.verdict;
	if (v == VERDICT_VIOLATED) *example = take_example(&s->of.one);
	second_engine_free(s);
	return v;
}

const struct repair_beside second_engine_of_repair = { .begin = begin_one,
	                                               .tick = tick_one,
	                                               .end = end_one };
