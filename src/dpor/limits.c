/* Time, memory and the wish to stop. */
#include "analyse/footprint.h"
#include "base/memory.h"
#include "base/seconds.h"
#include "dpor/algorithm.h"
#include "dpor/first_reads.h"

/* A step takes much less than a microsecond, and up to a millisecond in very
 * long programs: limits are to be heeded in time there as well. */
enum { TICK_STEPS_MOST = 2048, TICK_STEPS_LEAST = 8 };
static const double TICK_LONG = 0.05, TICK_SHORT = 0.01; /* seconds */

/* Of this thread, and of the native code that it had run. */
static double cpu_now(const struct engine *e)
{
	return seconds_of_cpu() + machine_guest_cpu(&e->context.machine);
}

void engine_start_clock(struct engine *e)
{
	e->cpu_before = e->tally.stats.cpu_seconds;
	e->cpu_start = cpu_now(e);
}

bool engine_stop(struct engine *e, enum stop_reason why)
{
	int none = STOP_NONE;
	if (why == STOP_GUEST)
		atomic_store(&e->shared->stop, why);
	else
		atomic_compare_exchange_strong(&e->shared->stop, &none, why);
	return false;
}

static uint64_t bytes_held(const struct engine *e)
{
	uint64_t bytes = e->context.region.held +
	                 session_memo_bytes(&e->context.memo) +
	                 e->tally.findings.held +
	                 machine_guest_bytes(&e->context.machine);
	for (uint32_t i = 0; i < e->state_count; i++)
		bytes += state_bytes(e->states[i]);
	if (e->algorithm->bytes) bytes += e->algorithm->bytes(e);
	return bytes + e->frame_capacity * sizeof *e->frames +
	       first_reads_bytes(&e->first_reads, e->context.sessions) +
	       e->order.passed_words * sizeof(word) +
	       footprints_bytes(e->context.footprints);
}

static uint64_t bytes_of_seen(struct shared *s)
{
	if (!s->options.check_duplicates) return 0;
	mem_lock(&s->seen_lock);
	uint64_t bytes = hash_set_bytes(&s->seen);
	mem_unlock(&s->seen_lock);
	return bytes;
}

/* Of all engines together. */
static void report_memory(struct engine *e)
{
	struct shared *s = e->shared;
	uint64_t held = bytes_held(e), change = held - e->memory_reported;
	uint64_t all = atomic_fetch_add(&s->memory, change) + change +
	               bytes_of_seen(s);
	uint64_t peak = atomic_load(&s->memory_peak);
	e->memory_reported = held;
	while (all > peak &&
	       !atomic_compare_exchange_weak(&s->memory_peak, &peak, all))
		;
}

void engine_measure(struct engine *e)
{
	struct explore_stats *stats = &e->tally.stats;
	report_memory(e);
	stats->memory_peak = atomic_load(&e->shared->memory_peak);
	stats->seconds = seconds_now() - e->shared->wall_start;
	stats->cpu_seconds = e->cpu_before + cpu_now(e) - e->cpu_start;
	stats->explore_calls = e->context.steps - e->uncounted;
}

static void set_next_tick(struct engine *e)
{
	double now = seconds_now(), took = now - e->ticked;
	if (!e->ticked)
		e->tick_steps = TICK_STEPS_MOST;
	else if (took < TICK_SHORT && e->tick_steps < TICK_STEPS_MOST)
		e->tick_steps *= 2;
	else if (took > TICK_LONG && e->tick_steps > TICK_STEPS_LEAST)
		e->tick_steps /= 4;
	e->ticked = now;
	e->next_tick = e->context.steps + e->tick_steps;
	uint64_t most = e->options.max_steps;
	if (most > e->context.steps && most < e->next_tick) e->next_tick = most;
}

bool engine_may_go_on(struct engine *e)
{
	const struct explore_options *o = &e->options;
	const struct explore_stats *stats = &e->tally.stats;
	set_next_tick(e);
	engine_measure(e);
	if (o->interrupt && atomic_load(o->interrupt))
		return engine_stop(e, STOP_INTERRUPTED);
	if (o->max_steps && e->context.steps >= o->max_steps)
		return engine_stop(e, STOP_HISTORIES);
	if (o->timeout > 0 && stats->seconds > o->timeout)
		return engine_stop(e, STOP_TIME);
	if (o->max_cpu > 0 && stats->cpu_seconds > o->max_cpu)
		return engine_stop(e, STOP_TIME);
	if (stats->memory_peak > e->shared->memory_limit)
		return engine_stop(e, STOP_MEMORY);
	return atomic_load(&e->shared->stop) == STOP_NONE;
}

bool engine_toil(struct engine *e)
{
	const struct closure *c = engine_closure(e);
	e->toil += c->read_count + c->key_count;
	if (e->toil < TOIL_MOST) return true;
	e->toil = 0;
	return engine_may_go_on(e);
}

bool engine_tick(struct engine *e)
{
	e->asked = machine_guest_asked(&e->context.machine);
	e->yields = e->yield_at > 0 && seconds_now() > e->yield_at;
	if (e->yields && !engine_can_capture(e)) {
		e->yield_at = 0;
		e->yields = false;
	}
	return engine_may_go_on(e) && (!e->pool || e->visit(e->pool, e));
}
