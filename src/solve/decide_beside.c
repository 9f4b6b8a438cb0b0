#include "solve/decide_beside.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/seconds.h"
#include "dpor/explorer.h"
#include "dpor/verdict.h"
#include "execution/complete.h"
#include "history/history.h"
#include "vm/bytecode.h"
#include "vm/program.h"

/* When exploring begins, in seconds of the processor: most programs are decided
 * by then, however busy the machine is; or in seconds, where that runs in other
 * processes. And for how long it goes on. */
static const double FIRST = 0.01, FIRST_BY_CLOCK = 1, MOST = 20;

struct exploring {
	const struct program *program;
	const struct decide_options *options;
	struct mem_heap *heap; /* of the thread that began it */
	pthread_t thread;
	atomic_bool cancel, done, failed;
	atomic_bool alone; /* the solver has given up */
	atomic_bool ended;
	struct explorer *explorer;
};

/* ---- in the thread ---- */

static void wait_a_little(void)
{
	static const struct timespec little = { .tv_nsec = 2000000 };
	nanosleep(&little, NULL);
}

static double processor_seconds(void)
{
	return seconds_of_process((int)getpid());
}

static void wait_for_solver(const struct exploring *x)
{
	double until = processor_seconds() + FIRST;
	double latest = seconds_now() + FIRST_BY_CLOCK;
	while (!atomic_load(&x->cancel) && !atomic_load(&x->alone) &&
	       processor_seconds() < until && seconds_now() < latest)
		wait_a_little();
}

static void explore(void *data)
{
	struct exploring *x = data;
	static const struct explore_observer nobody;
	const struct decide_options *d = x->options;
	struct explore_options o = { .level = d->level,
		                     .as = d->as,
		                     .robust = d->robust,
		                     .max_changes = UINT64_MAX,
		                     .timeout = MOST,
		                     .memory = d->memory,
		                     .interrupt = &x->cancel };
	wait_for_solver(x);
	if (atomic_load(&x->cancel)) return;
	if (d->timeout > 0 && d->timeout < MOST) o.timeout = d->timeout;
	o.algorithm = explorer_usual_algorithm(x->program, d->level);
	o.base = o.algorithm == EXPLORE_CE ? level_base(d->level) : d->level;
	x->explorer = explorer_new(x->program, &o, &nobody);
	explorer_run(x->explorer);
	if (explorer_stats(x->explorer)->stop == STOP_NONE)
		atomic_store(&x->done, true);
}

static void *thread_main(void *data)
{
	struct exploring *x = data;
	if (!mem_run_part(x->heap, explore, x)) atomic_store(&x->failed, true);
	atomic_store(&x->ended, true);
	return NULL;
}

/* ---- what it says ---- */

/* Errors are told apart by where they happen. */
static void add_goal(struct decision *d, uint32_t slot, struct explorer *e,
                     uint32_t of)
{
	const struct explore_violation *v = explorer_violation(e, of);
	const struct finding *f =
		v->finding ? finding_copy(&d->region, v->finding) : NULL;
	VEC_RESERVE(d->goals, d->goal_count, d->goal_capacity);
	d->goals[d->goal_count++] = (struct decide_goal){
		.slot = slot,
		.point = f && slot == explorer_slot_error(e) ? f->point : 0,
		.verdict = v->histories ? VERDICT_VIOLATED : VERDICT_HOLDS,
		.example = explorer_take_example(e, of),
		.finding = f
	};
}

static void take_goals(struct decision *d, struct explorer *e)
{
	uint32_t error = explorer_slot_error(e);
	uint32_t robust = explorer_slot_robust(e);
	for (uint32_t i = 0; i < error; i++) add_goal(d, i, e, i);
	if (d->options.robust) add_goal(d, robust, e, robust);
	for (uint32_t i = explorer_slot_places(e); i < explorer_slot_count(e);
	     i++)
		add_goal(d, error, e, i);
}

/* The exploration came to its end, and the solver did not. */
static void take_answer(struct decision *d, struct explorer *e)
{
	const struct explore_stats *s = explorer_stats(e);
	for (uint32_t i = 0; i < d->goal_count; i++)
		history_free(d->goals[i].example);
	d->goal_count = 0;
	take_goals(d, e);
	d->stop = STOP_NONE;
	d->obstacle = NULL;
	d->assumes = s->pruned > 0;
	d->vacuous = !s->histories;
	d->settled = !d->vacuous;
	d->verdict = explorer_verdict(e);
	d->explored = true;
	d->histories = s->histories;
}

/* ---- both ---- */

/* A PostgreSQL carries out one statement at a time. */
static bool is_worth_it(const struct program *p, const struct decide_options *o)
{
	return !p->server && !o->proof;
}

/* Is something not decided, whatever else is violated? */
static bool leaves_open(const struct decision *d)
{
	for (uint32_t i = 0; i < d->goal_count; i++)
		if (d->goals[i].verdict == VERDICT_INCONCLUSIVE) return true;
	return d->verdict == VERDICT_INCONCLUSIVE;
}

/* Has the solver left something open, though there is time? */
static bool gave_up(const struct decision *d)
{
	return leaves_open(d) && !d->refuted &&
	       (!d->stop || d->stop == STOP_MEMORY);
}

static bool is_over(const struct decide_options *o, double begun)
{
	return (o->interrupt && atomic_load(o->interrupt)) ||
	       (o->timeout > 0 && seconds_now() > begun + o->timeout);
}

/* The solver has ended. If it gave up, exploring may have its time. */
static void end(struct exploring *x, const struct decision *d, double begun)
{
	atomic_store(&x->alone, true);
	while (gave_up(d) && !atomic_load(&x->ended) &&
	       !is_over(x->options, begun))
		wait_a_little();
	atomic_store(&x->cancel, true);
	pthread_join(x->thread, NULL);
	if (atomic_load(&x->failed)) mem_fail();
}

static bool is_better(const struct exploring *x, const struct decision *d)
{
	struct position at;
	return atomic_load(&x->done) &&
	       (leaves_open(d) || d->stop == STOP_INTERRUPTED) && !d->refuted &&
	       !program_bound_met(x->program, &at);
}

void decide_beside(struct decision *out, const struct program *p,
                   const struct decide_options *o)
{
	struct exploring x = { .program = p,
		               .options = o,
		               .heap = mem_heap_here() };
	struct decide_options mine = *o;
	double begun = seconds_now();
	bool runs = is_worth_it(p, o) &&
	            !pthread_create(&x.thread, NULL, thread_main, &x);
	if (runs) mine.enough = &x.done;
	decide(out, p, &mine);
	out->options.enough = NULL;
	if (!runs) return;
	end(&x, out, begun);
	out->seconds = seconds_now() - begun;
	if (is_better(&x, out)) take_answer(out, x.explorer);
	explorer_free(x.explorer);
}
