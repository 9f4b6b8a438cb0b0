/* Time, memory and the wish to stop. */
#include "base/seconds.h"
#include "dpor/engine.h"

enum { STEPS_PER_TICK = 2048 };

/* Of this thread, and of the native code that it had run. */
static double cpu_now(const struct explorer *e)
{
	return seconds_of_cpu() + machine_guest_cpu(&e->world.machine);
}

void engine_start_clock(struct explorer *e)
{
	e->wall_start = seconds_now();
	e->cpu_start = cpu_now(e);
}

static uint64_t bytes_held(const struct explorer *e)
{
	uint64_t bytes = e->world.region.held + e->findings.held +
	                 machine_guest_bytes(&e->world.machine);
	for (uint32_t i = 0; i < e->state_count; i++)
		bytes += state_bytes(e->states[i]);
	return bytes + e->frame_capacity * sizeof *e->frames +
	       outward_bytes(&e->outward) +
	       e->seen.capacity * sizeof *e->seen.slots;
}

void engine_measure(struct explorer *e)
{
	uint64_t held = bytes_held(e);
	if (held > e->stats.memory_peak) e->stats.memory_peak = held;
	e->stats.seconds = seconds_now() - e->wall_start;
	e->stats.cpu_seconds = cpu_now(e) - e->cpu_start;
	e->stats.explore_calls = e->world.steps;
}

bool engine_tick(struct explorer *e)
{
	const struct explore_options *o = &e->options;
	e->next_tick = e->world.steps + STEPS_PER_TICK;
	e->asked = machine_guest_asked(&e->world.machine);
	engine_measure(e);
	enum explore_stop why = STOP_NONE;
	if (o->interrupt && atomic_load(o->interrupt))
		why = STOP_INTERRUPTED;
	else if (o->timeout > 0 && e->stats.seconds > o->timeout)
		why = STOP_TIME;
	else if (o->memory && e->stats.memory_peak > o->memory)
		why = STOP_MEMORY;
	else if (e->observer.tick &&
	         !e->observer.tick(e->observer.payload, &e->stats,
	                           (uint32_t)e->frame_count))
		why = STOP_INTERRUPTED;
	if (why != STOP_NONE) e->stats.stop = why;
	return why == STOP_NONE;
}
