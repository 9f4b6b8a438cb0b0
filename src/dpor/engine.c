#include "dpor/engine.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/seconds.h"
#include "dpor/algorithm.h"
#include "vm/program.h"

const struct algorithm *algorithm_of(enum explorer_algorithm a)
{
	switch (a) {
	case EXPLORE_CE: break;
	case EXPLORE_DFS: return explore_dfs();
	case EXPLORE_OUTWARD: return explore_outward();
	case EXPLORE_ORDERLY: return explore_orderly();
	}
	return explore_ce();
}

struct state *engine_nested_state(struct engine *e, uint32_t index)
{
	while (index >= e->state_count) {
		e->states = mem_grow(e->states, e->state_count + 1,
		                     sizeof *e->states);
		struct state *s = mem_take(sizeof *s);
		state_init(s, &e->context, e->options.base);
		e->states[e->state_count++] = s;
	}
	return e->states[index];
}

/* What is remembered of native code may take half of the memory. */
static void make_context(struct engine *e)
{
	const struct explore_options *o = &e->options;
	unsigned jobs = o->jobs ? o->jobs : 1;
	struct machine_limits limits = { .interrupt = o->interrupt,
		                         .memory = o->memory / 2 / jobs };
	double begun = e->shared->wall_start;
	if (begun <= 0) begun = seconds_now();
	if (o->timeout > 0) limits.deadline = begun + o->timeout;
	context_init(&e->context, e->program, e->tally.reached, &limits);
	if (e->algorithm->looks_ahead) context_look_ahead(&e->context);
	e->start = region_mark(&e->context.region);
}

void engine_init(struct engine *e, struct shared *shared, uint32_t worker)
{
	*e = (struct engine){ .shared = shared,
		              .program = shared->program,
		              .options = shared->options,
		              .algorithm =
		                      algorithm_of(shared->options.algorithm),
		              .orderly = { .trivial = true },
		              .worker = worker,
		              .weight = 1 };
	tally_init(&e->tally, e->program);
	e->violated = mem_take0(e->tally.slot_count, sizeof *e->violated);
	e->violated_by = mem_take0(e->tally.slot_count, sizeof *e->violated_by);
	region_init(&e->errors);
	e->no_errors = region_mark(&e->errors);
	make_context(e);
	if (e->algorithm->init) e->algorithm->init(e);
}

void engine_free(struct engine *e)
{
	for (uint32_t i = 0; i < e->state_count; i++) {
		state_free(e->states[i]);
		free(e->states[i]);
	}
	free(e->states);
	context_free(&e->context);
	free(e->branch);
	free(e->frames);
	free(e->violated);
	free(e->violated_by);
	free(e->prefix_writers);
	orderly_free(&e->orderly);
	outward_free(&e->outward);
	region_free(&e->errors);
	tally_free(&e->tally);
}

/* ---- What engines share ---- */

static bool asks_serializable(const struct program *p,
                              const struct explore_options *o)
{
	for (uint32_t i = 0; i < program_assertion_count(p); i++)
		if (program_assertion(p, i)->kind == ASSERTION_SERIALIZABLE)
			return true;
	return o->robust || o->classify;
}

void shared_init(struct shared *s, const struct program *p,
                 const struct explore_options *o,
                 const struct explore_observer *observer,
                 const struct explorer *explorer)
{
	*s = (struct shared){ .program = p,
		              .options = *o,
		              .explorer = explorer };
	if (algorithm_of(o->algorithm)->heeds_level) s->options.base = o->level;
	if (observer) s->observer = *observer;
	s->memory_limit = o->memory ? o->memory : mem_usual_limit();
	s->checks_serializable = asks_serializable(p, o);
	s->numbers = s->observer.history || o->max_histories;
	pthread_mutex_init(&s->seen_lock, NULL);
}

void shared_free(struct shared *s)
{
	hash_set_free(&s->seen);
	pthread_mutex_destroy(&s->seen_lock);
}
