#include "predict/compare.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/seconds.h"
#include "dpor/explorer.h"
#include "base/hash_set.h"
#include "history/history.h"
#include "run/campaign.h"
#include "run/replay.h"
#include "vm/program.h"

struct comparison {
	const struct program *program;
	struct compare_options options;
	struct compare_observer observer;
	struct compare_stats stats;
	struct check_clock *clock; /* of predictors */
	struct runner *runner;     /* under the level: records and replays */
	double deadline;           /* of all, monotonic; 0: none */
	double way_deadline, way_cpu_begun; /* of the way at hand */
	const char *phase;                  /* which it is */
	bool stopped;                       /* by the observer */
	struct hash_set traces;
	/* Unserializable histories by prediction and by random runs. */
	struct hash_set reached[BY_EXPLORATION];
	struct compare_seed *seeds; /* so far; the last is at work */
	uint64_t seed_count, seed_capacity;
	uint32_t slots;
	bool *violated[COMPARE_WAYS];
	pthread_mutex_t lock; /* of what the threads that explore note */
};

/* ---- limits ---- */

static bool interrupted(struct comparison *c)
{
	const atomic_bool *flag = c->options.interrupt;
	return c->stopped || (flag && atomic_load(flag));
}

/* False to stop. */
static bool tick(struct comparison *c, uint64_t done, uint64_t of)
{
	const struct compare_observer *o = &c->observer;
	if (o->tick && !o->tick(o->payload, c->phase, done, of))
		c->stopped = true;
	return !interrupted(c);
}

static bool on_clock(void *data)
{
	struct comparison *c = data;
	return !tick(c, c->stats.traces, c->options.traces);
}

static bool is_over(struct comparison *c)
{
	return interrupted(c) ||
	       (c->way_deadline > 0 && seconds_now() >= c->way_deadline);
}

/* Seconds that are left, for what takes 0 for no limit. */
static double time_left(const struct comparison *c)
{
	const double least = 1e-9;
	if (c->way_deadline <= 0) return 0;
	double left = c->way_deadline - seconds_now();
	return left > least ? left : least;
}

static struct budget what_is_left(const struct comparison *c)
{
	struct budget left = c->options.budget;
	left.timeout = time_left(c);
	return left;
}

/* The first reason counts. */
static void end_way(struct compare_reach *r, enum stop_reason end)
{
	if (r->end == STOP_NONE) r->end = end;
}

/* It came too late, or has to stop. */
static enum stop_reason end_of_time(struct comparison *c)
{
	return interrupted(c) ? STOP_INTERRUPTED : STOP_TIME;
}

/* ---- what was seen ---- */

static void note_violated(struct comparison *c, enum compare_way w,
                          const uint32_t *slots, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		if (slots[i] < c->slots) c->violated[w][slots[i]] = true;
}

static void count_slots(struct comparison *c, enum compare_way w,
                        struct compare_reach *r)
{
	for (uint32_t i = 0; i < c->slots; i++) r->slots += c->violated[w][i];
}

/* ---- replaying ---- */

/* The execution that the runner holds. */
static void note_replay(struct comparison *c, const struct replay_result *r)
{
	struct compare_stats *s = &c->stats;
	uint32_t count;
	const uint32_t *violated = runner_violated(c->runner, &count);
	note_violated(c, BY_PREDICTION, violated, count);
	s->diverged += r->diverged;
	if (r->serializable) {
		s->false_predictions++;
		return;
	}
	s->validated++;
	s->validated_diverged += r->diverged;
	s->prediction.unserializable += hash_set_add(&c->reached[BY_PREDICTION],
	                                             runner_hash(c->runner));
}

/* False if a limit came. */
static bool replay(struct comparison *c, const struct prediction *p)
{
	struct compare_stats *s = &c->stats;
	struct replay_result r;
	double begun = seconds_of_cpu();
	struct replay_parts parts = { p->truncated, p->divergent };
	replay_history(c->runner, p->history, p->order, parts, &r);
	bool counts = r.end == RUN_COMPLETE || r.end == RUN_PRUNED;
	if (r.end == RUN_BOUND) end_way(&s->prediction, STOP_BOUND);
	s->prediction.executions += counts;
	s->predictions += counts;
	if (r.end == RUN_COMPLETE) note_replay(c, &r);
	if (r.end == RUN_PRUNED) s->pruned++;
	if (r.end == RUN_TOO_LARGE) end_way(&s->prediction, STOP_TOO_LARGE);
	if (r.end == RUN_MEMORY) end_way(&s->prediction, STOP_MEMORY);
	if (r.end == RUN_INTERRUPTED) end_way(&s->prediction, end_of_time(c));
	s->replaying_seconds += seconds_of_cpu() - begun;
	return counts;
}

/* ---- predicting ---- */

static enum predict_answer next_prediction(struct comparison *c,
                                           struct predictor *p,
                                           struct prediction *out)
{
	double begun = seconds_of_cpu();
	enum predict_answer a = predictor_next(p, out);
	c->stats.predicting_seconds += seconds_of_cpu() - begun;
	if (a == PREDICT_UNKNOWN)
		end_way(&c->stats.prediction, check_clock_over(c->clock)
		                                      ? end_of_time(c)
		                                      : STOP_MEMORY);
	return a;
}

/* Up to as many predictions as were asked for, each replayed at once; where
 * none of them is shown, as many again within the next boundary. */
static void predict_all(struct comparison *c, struct predictor *p)
{
	struct compare_stats *s = &c->stats;
	uint64_t most = c->options.predictions ? c->options.predictions : 1;
	uint64_t validated = s->validated;
	for (uint64_t i = 0, left = most; left; i++, left--) {
		struct prediction found;
		enum predict_answer a = next_prediction(c, p, &found);
		if (!i) {
			s->predicted += a == PREDICT_FOUND;
			s->unpredicted += a == PREDICT_NONE;
			s->unknown += a == PREDICT_UNKNOWN;
		}
		if (a != PREDICT_FOUND) return;
		bool replayed = replay(c, &found);
		prediction_free(&found);
		if (!replayed) return;
		bool shown = s->validated > validated;
		if (left == 1 && !shown && predictor_widen(p)) left = most + 1;
	}
}

/* From a new trace. False to stop recording. */
static bool predict_from(struct comparison *c, const struct history *h)
{
	struct diags unheard = { 0 }; /* there are no anomalies in it */
	struct trace *t = trace_of_history(h, program_path(c->program));
	double begun = seconds_of_cpu();
	struct predictor *p =
		predictor_new(t, &c->options.predict, c->clock, &unheard);
	c->stats.predicting_seconds += seconds_of_cpu() - begun;
	c->stats.traces++;
	c->stats.prediction.executions++;
	if (p)
		predict_all(c, p);
	else
		c->stats.unknown++;
	predictor_free(p);
	trace_free(t);
	diags_free(&unheard);
	if (!is_over(c) && tick(c, c->stats.traces, c->options.traces))
		return c->stats.prediction.end != STOP_TOO_LARGE;
	end_way(&c->stats.prediction, end_of_time(c));
	return false;
}

/* ---- recording ---- */

/* Serial executions are those that ser allows, each in one of its orders. */
static bool on_serial(void *payload, const struct explore_execution *e)
{
	struct comparison *c = payload;
	struct history *h = explore_history(e);
	note_violated(c, BY_PREDICTION, e->violated, e->violated_count);
	bool go_on = predict_from(c, h);
	history_free(h);
	return go_on;
}

static bool on_explore_tick(void *payload, const struct explore_stats *s,
                            uint32_t depth)
{
	(void)depth;
	return tick(payload, s->histories, 0);
}

static struct explore_options exploration_options(const struct comparison *c,
                                                  enum level level)
{
	enum explorer_algorithm a = EXPLORE_CE;
	/* Serial traces are met in the order of explore-ce. */
	if (!level_is_serial(level))
		a = explorer_usual_algorithm(c->program, level);
	return (struct explore_options){
		.algorithm = a,
		.level = level,
		.base = a == EXPLORE_CE ? level_base(level) : level,
		.max_changes = UINT64_MAX,
		.budget = what_is_left(c),
	};
}

static void record_all(struct comparison *c)
{
	struct explore_options o = exploration_options(c, LEVEL_SERIAL);
	o.uniform = true;
	struct explore_observer observer = { .payload = c,
		                             .history = on_serial,
		                             .tick = on_explore_tick };
	struct explorer *e = explorer_new(c->program, &o, &observer);
	explorer_run(e);
	end_way(&c->stats.prediction, stop_broadly(explorer_stats(e)->stop));
	c->stats.all_traces = explorer_stats(e)->stop == STOP_NONE;
	explorer_free(e);
}

/* False to stop recording; *fresh: the trace is a new one. */
static bool record_one(struct comparison *c, uint64_t seed, bool *fresh)
{
	uint32_t count;
	struct compare_reach *r = &c->stats.prediction;
	enum run_end end = record_serial(c->runner, seed);
	*fresh = false;
	c->stats.recorded += end == RUN_COMPLETE || end == RUN_PRUNED;
	if (end == RUN_INTERRUPTED) end_way(r, end_of_time(c));
	if (end == RUN_TOO_LARGE) end_way(r, STOP_TOO_LARGE);
	if (end == RUN_MEMORY) end_way(r, STOP_MEMORY);
	if (end == RUN_BOUND) end_way(r, STOP_BOUND);
	if (end != RUN_COMPLETE) return end == RUN_PRUNED;
	if (!hash_set_add(&c->traces, runner_hash(c->runner))) return true;
	*fresh = true;
	const uint32_t *violated = runner_violated(c->runner, &count);
	note_violated(c, BY_PREDICTION, violated, count);
	struct history *h = runner_history(c->runner);
	bool go_on = predict_from(c, h);
	history_free(h);
	return go_on;
}

/* Until there are enough, or many runs gave no new one. */
static void record_some(struct comparison *c)
{
	uint64_t wanted = c->options.traces, idle = 0, seed = c->options.seed;
	uint64_t patience =
		wanted < UINT64_MAX / 100 ? 20 * wanted + 100 : UINT64_MAX;
	while (c->stats.traces < wanted && idle < patience) {
		bool fresh;
		if (!record_one(c, seed++, &fresh)) return;
		idle = fresh ? 0 : idle + 1;
		if (!fresh && is_over(c)) {
			end_way(&c->stats.prediction, end_of_time(c));
			return;
		}
	}
}

/* ---- the three ways ---- */

static void predict(struct comparison *c)
{
	struct compare_stats *s = &c->stats;
	struct check_limits limits = { .seconds = time_left(c),
		                       .memory = c->options.memory,
		                       .stop = on_clock,
		                       .stop_data = c };
	c->clock = check_clock_new(&limits);
	runner_deadline(c->runner, c->way_deadline);
	if (c->options.traces)
		record_some(c);
	else
		record_all(c);
	count_slots(c, BY_PREDICTION, &s->prediction);
	s->prediction.cpu_seconds = seconds_of_cpu() - c->way_cpu_begun;
	s->recording_seconds = s->prediction.cpu_seconds -
	                       s->predicting_seconds - s->replaying_seconds;
}

static bool on_run(void *payload, const struct campaign_run *r)
{
	struct comparison *c = payload;
	assert(c->seed_count);
	note_violated(c, BY_RUNS, r->violated, r->violated_count);
	if (r->new_history && !r->serializable) {
		c->seeds[c->seed_count - 1].reach.unserializable++;
		c->stats.random.unserializable += hash_set_add(
			&c->reached[BY_RUNS], runner_hash(r->runner));
	}
	return !interrupted(c);
}

static bool on_campaign_tick(void *payload, const struct campaign_stats *s)
{
	struct comparison *c = payload;
	return tick(c, c->stats.random.executions + s->runs,
	            c->options.runs * c->options.seeds);
}

static struct compare_seed *add_seed(struct comparison *c, uint64_t seed)
{
	if (c->seed_count == c->seed_capacity) {
		c->seed_capacity = c->seed_capacity * 2 + 4;
		c->seeds =
			mem_grow(c->seeds, c->seed_capacity, sizeof *c->seeds);
	}
	struct compare_seed *s = &c->seeds[c->seed_count++];
	*s = (struct compare_seed){ .seed = seed };
	return s;
}

static void run_seed(struct comparison *c, uint64_t runs, uint64_t seed)
{
	struct compare_reach *all = &c->stats.random;
	struct compare_reach *r = &add_seed(c, seed)->reach;
	struct campaign_options options = {
		.level = c->options.predict.level,
		.runs = runs,
		.seed = seed,
		.budget = what_is_left(c),
	};
	struct campaign_observer observer = { c, on_run, on_campaign_tick };
	double begun = seconds_of_cpu();
	struct campaign *a = campaign_new(c->program, &options, &observer);
	campaign_start(a);
	r->executions = campaign_stats(a)->runs;
	r->end = stop_broadly(campaign_stats(a)->stop);
	for (uint32_t i = 0; i < c->slots; i++)
		r->slots += campaign_slot(a, i)->violating > 0;
	campaign_free(a);
	r->cpu_seconds = seconds_of_cpu() - begun;
	all->executions += r->executions;
	end_way(all, r->end);
}

static void run_at_random(struct comparison *c)
{
	const struct compare_options *o = &c->options;
	struct compare_reach *r = &c->stats.random;
	uint64_t runs = o->runs ? o->runs : c->stats.prediction.executions;
	if (!runs) return;
	for (uint64_t i = 0; i < o->seeds && r->end == STOP_NONE; i++) {
		if (i && is_over(c))
			end_way(r, end_of_time(c));
		else
			run_seed(c, runs, o->seed + i * runs);
	}
	count_slots(c, BY_RUNS, r);
	r->cpu_seconds = seconds_of_cpu() - c->way_cpu_begun;
}

static bool on_history(void *payload, const struct explore_execution *e)
{
	struct comparison *c = payload;
	struct compare_stats *s = &c->stats;
	uint64_t n = e->violated_count;
	if (!n) return true;
	uint64_t hash = explore_hash(e);
	bool weak = e->violated[n - 1] == explorer_slot_robust(e->explorer);
	mem_lock(&c->lock);
	note_violated(c, BY_EXPLORATION, e->violated, n);
	s->prediction.confirmed +=
		weak && hash_set_has(&c->reached[BY_PREDICTION], hash);
	s->random.confirmed += weak && hash_set_has(&c->reached[BY_RUNS], hash);
	mem_unlock(&c->lock);
	return true;
}

static void explore(struct comparison *c)
{
	struct compare_reach *r = &c->stats.exploration;
	struct explore_options o =
		exploration_options(c, c->options.predict.level);
	struct explore_observer observer = { .payload = c,
		                             .history = on_history,
		                             .tick = on_explore_tick };
	o.robust = true;
	o.jobs = c->options.jobs;
	struct explorer *e = explorer_new(c->program, &o, &observer);
	explorer_run(e);
	const struct explore_stats *s = explorer_stats(e);
	r->executions = s->end_states;
	r->unserializable = r->confirmed = s->unserializable;
	c->stats.histories = s->histories;
	r->cpu_seconds = s->cpu_seconds;
	end_way(r, stop_broadly(s->stop));
	explorer_free(e);
	count_slots(c, BY_EXPLORATION, r);
}

/* None may use up all the time: each gets an equal share of what is left. */
static void begin_way(struct comparison *c, enum compare_way w)
{
	static const char *const phases[COMPARE_WAYS] = {
		[BY_PREDICTION] = "predicting",
		[BY_RUNS] = "running",
		[BY_EXPLORATION] = "exploring",
	};
	c->phase = phases[w];
	c->way_cpu_begun = seconds_of_cpu();
	if (c->deadline <= 0) return;
	double time = seconds_now();
	c->way_deadline = time + (c->deadline - time) / (COMPARE_WAYS - w);
}

void comparison_run(struct comparison *c)
{
	struct compare_stats *s = &c->stats;
	struct compare_reach *ways[] = { &s->prediction, &s->random,
		                         &s->exploration };
	static void (*const looks[])(
		struct comparison *) = { predict, run_at_random, explore };
	for (enum compare_way w = 0; w < COMPARE_WAYS; w++) {
		begin_way(c, w);
		if (is_over(c))
			end_way(ways[w], end_of_time(c));
		else
			looks[w](c);
	}
}

/* ---- beginning and end ---- */

struct comparison *comparison_new(const struct program *p,
                                  const struct compare_options *o,
                                  const struct compare_observer *observer)
{
	struct comparison *c = mem_take0(1, sizeof *c);
	c->program = p;
	c->options = *o;
	if (!o->seeds) c->options.seeds = 1;
	c->options.predict.enumerate = o->predictions > 1;
	if (observer) c->observer = *observer;
	if (o->timeout > 0) c->deadline = seconds_now() + o->timeout;
	c->runner = runner_new(p, o->predict.level, o->interrupt);
	runner_memory(c->runner, o->memory);
	pthread_mutex_init(&c->lock, NULL);
	c->slots = program_assertion_count(p) + 1;
	for (int w = 0; w < COMPARE_WAYS; w++)
		c->violated[w] = mem_take0(c->slots, sizeof *c->violated[w]);
	return c;
}

void comparison_free(struct comparison *c)
{
	if (!c) return;
	runner_free(c->runner);
	check_clock_free(c->clock);
	hash_set_free(&c->traces);
	for (int w = 0; w < BY_EXPLORATION; w++) hash_set_free(&c->reached[w]);
	for (int w = 0; w < COMPARE_WAYS; w++) free(c->violated[w]);
	free(c->seeds);
	pthread_mutex_destroy(&c->lock);
	free(c);
}

const struct compare_stats *comparison_stats(const struct comparison *c)
{
	return &c->stats;
}

const struct compare_options *comparison_options(const struct comparison *c)
{
	return &c->options;
}

const struct program *comparison_program(const struct comparison *c)
{
	return c->program;
}

bool comparison_complete(const struct comparison *c)
{
	const struct compare_stats *s = &c->stats;
	return s->prediction.end == STOP_NONE && !s->unknown &&
	       s->random.end == STOP_NONE && s->exploration.end == STOP_NONE;
}

uint64_t comparison_unserializable(const struct comparison *c)
{
	const struct compare_stats *s = &c->stats;
	const struct compare_reach *most = &s->prediction;
	if (s->random.unserializable - s->random.confirmed >
	    most->unserializable - most->confirmed)
		most = &s->random;
	return s->exploration.unserializable + most->unserializable -
	       most->confirmed;
}

uint64_t comparison_violated_slots(const struct comparison *c)
{
	uint64_t count = 0;
	for (uint32_t i = 0; i < c->slots; i++) {
		bool violated = false;
		for (int w = 0; w < COMPARE_WAYS; w++)
			violated |= c->violated[w][i];
		count += violated;
	}
	return count;
}

enum verdict comparison_verdict(const struct comparison *c)
{
	if (comparison_unserializable(c) || comparison_violated_slots(c))
		return VERDICT_VIOLATED;
	return comparison_complete(c) ? VERDICT_HOLDS : VERDICT_INCONCLUSIVE;
}

const struct compare_seed *comparison_seeds(const struct comparison *c,
                                            uint64_t *count)
{
	*count = c->seed_count;
	return c->seeds;
}

uint32_t comparison_slot_count(const struct comparison *c)
{
	return c->slots;
}

bool comparison_violated(const struct comparison *c, enum compare_way w,
                         uint32_t slot)
{
	return c->violated[w][slot];
}
