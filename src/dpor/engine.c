#include "dpor/engine.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/seconds.h"
#include "dpor/algorithm.h"
#include "dpor/first_reads.h"
#include "vm/program.h"

struct state *engine_nested_state(struct engine *e, uint32_t index)
{
	assert(index <= e->state_count);
	while (index >= e->state_count) {
		e->states = mem_grow(e->states, e->state_count + 1,
		                     sizeof *e->states);
		struct state *s = mem_take(sizeof *s);
		state_init(s, &e->context, e->options.base);
		if (e->algorithm->heeds_level)
			ledger_go_anywhere(&s->execution.ledger,
			                   e->options.algorithm !=
			                           EXPLORE_OUTWARD);
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
	e->context.uniform = e->options.uniform;
	if (e->algorithm->looks_ahead) context_look_ahead(&e->context);
	e->start = region_mark(&e->context.region);
}

void engine_init(struct engine *e, struct shared *shared, uint32_t worker)
{
	assert(shared->algorithm && shared->program);
	*e = (struct engine){ .shared = shared,
		              .program = shared->program,
		              .options = shared->options,
		              .algorithm = shared->algorithm,
		              .orderly = { .trivial = true },
		              .worker = worker,
		              .weight = 1 };
	tally_init(&e->tally, e->program);
	region_init(&e->errors);
	e->no_errors = region_mark(&e->errors);
	make_context(e);
	if (e->algorithm->init) e->algorithm->init(e);
}

void engine_free(struct engine *e)
{
	if (e->algorithm->end) e->algorithm->end(e);
	first_reads_free(&e->first_reads, e->context.sessions);
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
	region_free(&e->errors);
	tally_free(&e->tally);
}
