#include "run/campaign.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/seconds.h"
#include "base/hash_set.h"
#include "execution/complete.h"
#include "execution/error_places.h"
#include "history/history.h"
#include "vm/program.h"

enum {
	PLAN_SEED = 0, /* of the run that counts the reads */
	CUT_MOST = 1   /* runs, if there were no others: then it ends */
};
static const double tick_seconds = 0.05;

struct campaign {
	const struct program *program;
	struct campaign_options options;
	struct campaign_observer observer;
	struct campaign_stats stats;
	struct runner *runner;
	uint32_t expected_reads;
	struct hash_set histories, outcomes;
	struct campaign_slot *slots;
	uint32_t slot_count, slot_capacity;
	struct error_places errors; /* each has a slot behind the others */
	uint32_t *violated;
	uint32_t violated_count;
	struct campaign_point *points;
	uint32_t point_count, point_capacity;
	uint64_t next_point;
	struct region findings;
	double start, cpu_start, next_tick;
	bool stopped;
};

static void stop(struct campaign *c, enum stop_reason why)
{
	assert(why != STOP_NONE);
	c->stats.stop = why;
	c->stopped = true;
}

/* ---- The curve ---- */

/* 1, 2, 5, 10, 20, 50, ... */
static uint64_t point_after(uint64_t n)
{
	uint64_t first = n;
	assert(n);
	while (first >= 10) first /= 10;
	return first == 2 ? n / 2 * 5 : 2 * n;
}

/* Runs so far that met no false assumption, and no bound. */
static uint64_t counted(const struct campaign *c)
{
	assert(c->stats.pruned + c->stats.cut <= c->stats.runs);
	return c->stats.runs - c->stats.pruned - c->stats.cut;
}

static void add_point(struct campaign *c)
{
	VEC_RESERVE(c->points, c->point_count, c->point_capacity);
	c->points[c->point_count++] =
		(struct campaign_point){ counted(c), c->histories.count,
		                         c->outcomes.count };
}

static void add_last_point(struct campaign *c)
{
	uint32_t n = c->point_count;
	if (!counted(c)) return;
	if (!n || c->points[n - 1].runs != counted(c)) add_point(c);
}

static void note_point(struct campaign *c)
{
	if (counted(c) < c->next_point) return;
	add_point(c);
	c->next_point = point_after(c->next_point);
}

/* ---- What a run shows ---- */

/* Would another run, with its hashes, need more memory than there may be? */
static bool is_full(const struct campaign *c)
{
	if (!c->options.memory) return false;
	return runner_bytes(c->runner) + hash_set_bytes(&c->histories) +
	               hash_set_bytes_to_add(&c->histories) +
	               hash_set_bytes(&c->outcomes) +
	               hash_set_bytes_to_add(&c->outcomes) >
	       c->options.memory;
}

static void count(struct campaign *c, uint32_t slot, const struct finding *f)
{
	assert(slot < c->slot_count);
	struct campaign_slot *s = &c->slots[slot];
	assert(!s->violating == !s->example && s->violating < counted(c));
	s->last_counted = counted(c);
	if (s->violating++) return;
	s->first_run = c->stats.runs;
	s->example = runner_history(c->runner);
	if (f) s->finding = finding_copy(&c->findings, f);
}

/* Once for each place, however often it happens there in this run. */
static void count_at_place(void *data, uint32_t slot, const struct finding *f)
{
	struct campaign *c = data;
	if (slot != campaign_slot_error(c)) return;
	slot = campaign_slot_robust(c) + 1 +
	       error_places_number(&c->errors,
	                           program_position(c->program, f->point));
	if (slot == c->slot_count) {
		VEC_RESERVE(c->slots, c->slot_count, c->slot_capacity);
		c->slots[c->slot_count++] = (struct campaign_slot){ 0 };
	}
	if (c->slots[slot].last_counted != counted(c)) count(c, slot, f);
}

static void violate(struct campaign *c, uint32_t slot)
{
	bool robust = slot == campaign_slot_robust(c);
	assert(c->violated_count <= campaign_slot_robust(c));
	c->violated[c->violated_count++] = slot;
	count(c, slot, robust ? NULL : runner_finding(c->runner, slot));
	if (slot == campaign_slot_error(c))
		execution_findings(runner_execution(c->runner), count_at_place,
		                   c);
}

static void note_violations(struct campaign *c, bool serializable)
{
	uint32_t count;
	const uint32_t *slots = runner_violated(c->runner, &count);
	c->violated_count = 0;
	for (uint32_t i = 0; i < count; i++) violate(c, slots[i]);
	if (c->options.robust && !serializable)
		violate(c, campaign_slot_robust(c));
	c->stats.violating += c->violated_count > 0;
}

static void tell_observer(struct campaign *c, bool is_new, bool serializable)
{
	const struct campaign_observer *o = &c->observer;
	struct campaign_run run = {
		.runner = c->runner,
		.number = c->stats.runs,
		.seed = c->options.seed + c->stats.runs - 1,
		.new_history = is_new,
		.serializable = serializable,
		.violated = c->violated,
		.violated_count = c->violated_count,
	};
	if (o->run && !o->run(o->payload, &run)) stop(c, STOP_INTERRUPTED);
}

static void note_complete(struct campaign *c)
{
	struct runner *r = c->runner;
	bool is_new = hash_set_add(&c->histories, runner_hash(r));
	hash_set_add(&c->outcomes, runner_outcome(r));
	assert(c->histories.count <= counted(c));
	assert(c->outcomes.count <= counted(c));
	c->stats.histories = c->histories.count;
	c->stats.outcomes = c->outcomes.count;
	bool serializable = runner_satisfies(r, LEVEL_SERIAL);
	c->stats.unserializable += !serializable;
	note_violations(c, serializable);
	tell_observer(c, is_new, serializable);
	if (!c->stopped && c->options.stop_on_violation && c->violated_count)
		stop(c, STOP_VIOLATION);
}

/* ---- Limits ---- */

/* Of this thread, and of the native code that it had run. */
static double cpu_now(const struct campaign *c)
{
	return seconds_of_cpu() + runner_guest_cpu(c->runner);
}

static void measure(struct campaign *c)
{
	c->stats.seconds = seconds_now() - c->start;
	c->stats.cpu_seconds = cpu_now(c) - c->cpu_start;
}

static bool is_late(const struct campaign *c)
{
	return c->options.timeout > 0 && c->stats.seconds > c->options.timeout;
}

static void interrupted(struct campaign *c)
{
	measure(c);
	stop(c, is_late(c) ? STOP_TIME : STOP_INTERRUPTED);
}

/* Looks at the clock; the limits and the observer have their turn now and
 * then. */
static void tick(struct campaign *c)
{
	const struct campaign_observer *o = &c->observer;
	double now = seconds_now();
	if (now < c->next_tick) return;
	c->next_tick = now + tick_seconds;
	measure(c);
	if (c->options.interrupt && atomic_load(c->options.interrupt))
		stop(c, STOP_INTERRUPTED);
	else if (is_late(c))
		stop(c, STOP_TIME);
	else if (o->tick && !o->tick(o->payload, &c->stats))
		stop(c, STOP_INTERRUPTED);
}

/* ---- Running ---- */

static enum run_end run(struct campaign *c, struct policy policy, uint64_t seed,
                        struct random_chooser *random)
{
	random_chooser_begin(random, policy, seed, c->expected_reads);
	struct run_chooser chooser = random_chooser(random);
	return runner_run(c->runner, &chooser);
}

/* How many reads have several writers: those over which weak ones are
 * spread. */
static void plan(struct campaign *c)
{
	struct random_chooser random;
	struct policy weakest = { .kind = POLICY_WEAK, .weak = 0 };
	if (c->options.policy.kind != POLICY_WEAK) return;
	enum run_end end = run(c, weakest, PLAN_SEED, &random);
	if (end == RUN_COMPLETE || end == RUN_PRUNED || end == RUN_BOUND)
		c->expected_reads = random.open_reads;
}

static void run_next(struct campaign *c)
{
	struct random_chooser random;
	assert(!c->stopped && c->stats.runs < c->options.runs);
	uint64_t taken_back = runner_taken_back(c->runner);
	uint64_t seed = c->options.seed + c->stats.runs;
	enum run_end end = run(c, c->options.policy, seed, &random);
	if (end == RUN_TOO_LARGE) stop(c, STOP_TOO_LARGE);
	if (end == RUN_MEMORY) stop(c, STOP_MEMORY);
	if (end == RUN_INTERRUPTED) interrupted(c);
	if (c->stopped) return;
	c->stats.runs++;
	c->stats.taken_back += runner_taken_back(c->runner) - taken_back;
	c->stats.reads += runner_reads(c->runner);
	if (end == RUN_PRUNED)
		c->stats.pruned++;
	else if (end == RUN_BOUND)
		c->stats.cut++;
	else
		note_complete(c);
	note_point(c);
}

static void begin(struct campaign *c)
{
	c->start = seconds_now();
	c->cpu_start = cpu_now(c);
	c->next_tick = 0;
	c->next_point = 1;
	if (c->options.timeout > 0)
		runner_deadline(c->runner, c->start + c->options.timeout);
	plan(c);
}

void campaign_start(struct campaign *c)
{
	assert(!c->stats.runs && !c->stopped); /* once */
	begin(c);
	while (!c->stopped && c->stats.runs < c->options.runs) {
		tick(c);
		if (!c->stopped && is_full(c)) stop(c, STOP_MEMORY);
		if (!c->stopped) run_next(c);
		if (c->stats.cut == CUT_MOST && c->stats.cut == c->stats.runs)
			stop(c, STOP_BOUND);
	}
	if (c->stats.cut && !c->stopped) stop(c, STOP_BOUND);
	add_last_point(c);
	measure(c);
}

/* ---- Making and asking ---- */

struct campaign *campaign_new(const struct program *p,
                              const struct campaign_options *o,
                              const struct campaign_observer *observer)
{
	struct campaign *c = mem_take0(1, sizeof *c);
	c->program = p;
	c->options = *o;
	if (observer) c->observer = *observer;
	c->runner = runner_new(p, o->level, o->interrupt);
	runner_memory(c->runner, o->memory);
	c->slot_count = c->slot_capacity = campaign_slot_robust(c) + 1;
	c->slots = mem_take0(c->slot_count, sizeof *c->slots);
	c->violated = mem_take0(c->slot_count, sizeof *c->violated);
	region_init(&c->findings);
	return c;
}

void campaign_free(struct campaign *c)
{
	if (!c) return;
	for (uint32_t i = 0; i < campaign_slot_count(c); i++)
		history_free(c->slots[i].example);
	runner_free(c->runner);
	hash_set_free(&c->histories);
	hash_set_free(&c->outcomes);
	free(c->slots);
	error_places_free(&c->errors);
	free(c->violated);
	free(c->points);
	region_free(&c->findings);
	free(c);
}

const struct campaign_stats *campaign_stats(const struct campaign *c)
{
	return &c->stats;
}

const struct campaign_options *campaign_options(const struct campaign *c)
{
	return &c->options;
}

const struct program *campaign_program(const struct campaign *c)
{
	return c->program;
}

uint32_t campaign_slot_count(const struct campaign *c)
{
	return c->slot_count;
}

uint32_t campaign_slot_error(const struct campaign *c)
{
	return program_assertion_count(c->program);
}

uint32_t campaign_slot_robust(const struct campaign *c)
{
	return program_assertion_count(c->program) + 1;
}

const struct campaign_slot *campaign_slot(const struct campaign *c,
                                          uint32_t slot)
{
	assert(slot < campaign_slot_count(c));
	return &c->slots[slot];
}

const struct campaign_point *campaign_curve(const struct campaign *c,
                                            uint32_t *count)
{
	*count = c->point_count;
	assert(!c->point_count ||
	       c->points[c->point_count - 1].runs <= counted(c));
	return c->points;
}

const char *campaign_problem(const struct campaign *c)
{
	return runner_problem(c->runner);
}

bool campaign_saw_history(const struct campaign *c, uint64_t hash)
{
	return hash_set_has(&c->histories, hash);
}

bool campaign_saw_outcome(const struct campaign *c, uint64_t hash)
{
	return hash_set_has(&c->outcomes, hash);
}
