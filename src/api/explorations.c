#include "api/explorations.h"

#include <assert.h>
#include <math.h>

#include "base/seconds.h"
#include "dpor/random_descents.h"
#include "dpor/work/branch.h"
#include "vm/program.h"

/* ---- the share ---- */

/* Seconds: a part of what was explored in, within bounds; who interrupts does
 * not want to wait. */
static const double SHARE_PART = 0.25, SHARE_LEAST = 0.05, SHARE_MOST = 1,
		    AT_ONCE = 0.2;
enum { SHARE_SEED = 1 };

/* Is there more, of a size that can be looked into? */
static bool is_worth_it(const struct explore_stats *s)
{
	return s->stop == STOP_STALE || s->stop == STOP_HISTORIES ||
	       s->stop == STOP_TIME || s->stop == STOP_INTERRUPTED;
}

/* As if there was no bound, in the way that is fastest. */
static void unbind(struct explore_options *o)
{
	o->max_changes = UINT64_MAX;
	if (o->symmetry) return;
	o->algorithm = EXPLORE_CE;
	o->base = level_base(o->level);
}

struct estimate explored_share(const struct explorer *e)
{
	const struct explore_stats *s = explorer_stats(e);
	struct explore_options o = *explorer_options(e);
	struct estimate none = { 0 };
	bool bounded = o.max_changes < UINT64_MAX;
	if (!is_worth_it(s) || !explorer_open(e)) return none;
	if (bounded) unbind(&o);
	o.interrupt = NULL;
	struct estimator *all =
		estimator_new(explorer_program(e), &o, SHARE_SEED);
	if (!all) return none;
	if (!bounded)
		estimator_advance(all, explorer_open(e), s->histories,
		                  s->end_states);
	double most = s->stop == STOP_INTERRUPTED ? AT_ONCE : SHARE_MOST;
	estimator_spend(all,
	                fmin(fmax(SHARE_PART * s->seconds, SHARE_LEAST), most));
	struct estimate found = estimator_get(all);
	estimator_free(all);
	return found;
}

/* ---- all levels ---- */

/* Are its histories not all among those of its base, and so to be looked for by
 * themselves? Where each transaction has a level of its own, all levels have
 * the same. */
static bool is_alone(const struct program *p, enum level l)
{
	if (program_owns_all(p)) return l == level_base(LEVEL_SERIAL);
	return level_is_extensible(l) ||
	       (program_checks(p) &&
	        !level_implies_checks(level_behind(l, program_is_ssi(p)),
	                              level_base(l)));
}

/* Are the histories of the other level among those of this one, its base? */
static bool stands_for(const struct program *p, enum level l, enum level other)
{
	assert(level_is_extensible(level_base(other)));
	if (program_owns_all(p)) return other != l && level_mixes(other);
	return other != l && level_base(other) == l && !is_alone(p, other);
}

static bool stands_for_others(const struct program *p, enum level l)
{
	for (enum level s = 0; s < LEVEL_COUNT; s++)
		if (stands_for(p, l, s)) return true;
	return false;
}

/* Explores under one level, and fills its column; its histories are looked at
 * for the levels that it stands for as well. */
static void run_level(const struct levels_request *q,
                      struct levels_table **table, enum level l, double timeout)
{
	struct explore_options o = *q->options;
	o.level = l;
	if (q->any_algorithm && o.algorithm == EXPLORE_CE)
		o.algorithm = explorer_usual_algorithm(q->program, l);
	o.base = o.algorithm == EXPLORE_CE ? level_base(l) : l;
	o.classify = stands_for_others(q->program, l);
	if (o.classify && o.stop_on_violation) {
		o.stop_on_violation = false;
		o.stop_when_all_violated = true;
	}
	o.timeout = timeout;
	struct explore_observer observer = q->begin(q->payload, l, &o);
	struct explorer *e = explorer_new(q->program, &o, &observer);
	explorer_run(e);
	q->end(q->payload, e);
	if (!*table) *table = levels_table_new(q->program);
	levels_table_set(*table, e, l);
	for (enum level s = 0; s < LEVEL_COUNT; s++)
		if (stands_for(q->program, l, s) &&
		    (level_mixes(s) || !program_mixes(q->program)))
			levels_table_set(*table, e, s);
	explorer_free(e);
}

static bool is_interrupted(const struct explore_options *o)
{
	return o->interrupt && atomic_load(o->interrupt);
}

struct levels_table *explore_all_levels(const struct levels_request *q)
{
	struct levels_table *table = NULL;
	double begin = seconds_now(), limit = q->options->timeout;
	for (enum level l = LEVEL_COUNT; l-- > 0;) {
		if (!is_alone(q->program, l)) continue;
		if (table && q->enough && q->enough(q->payload)) break;
		double left = limit ? limit - (seconds_now() - begin) : 0;
		if (table &&
		    ((limit && left <= 0) || is_interrupted(q->options) ||
		     program_fault(q->program)))
			break;
		run_level(q, &table, l, left);
	}
	assert(table);
	return table;
}

/* ---- estimates ---- */

/* The part of the time that goes into exploring, and how many seconds a stretch
 * is at least whose speed is measured. */
static const double EXPLORING = 0.3, STRETCH = 0.02;

/* What the short exploration tells of its speed. */
struct watched {
	const struct explore_options *options;
	const struct outlook_request *request;
	struct pace pace;
	struct explore_stats before; /* what was found by a run before */
	struct explore_stats last;   /* at the end of the last stretch */
};

static void note_pace(struct watched *w, const struct explore_stats *s)
{
	double seconds = s->cpu_seconds - w->last.cpu_seconds;
	double work = work_done(w->options, s);
	work -= work_done(w->options, &w->last);
	if (seconds < STRETCH || work <= 0) return;
	pace_add(&w->pace, work, seconds);
	w->last = *s;
}

static bool on_tick(void *payload, const struct explore_stats *s,
                    uint32_t depth)
{
	struct watched *w = payload;
	note_pace(w, s);
	const struct outlook_request *q = w->request;
	return !q->tick || q->tick(q->payload, s, depth);
}

/* Too short for stretches: all of it is one. */
static void finish_pace(struct watched *w, const struct explore_stats *s)
{
	if (w->pace.count) return;
	pace_add(&w->pace,
	         work_done(w->options, s) - work_done(w->options, &w->before),
	         s->cpu_seconds - w->before.cpu_seconds);
}

static struct estimate explored_all(const struct explore_options *o,
                                    const struct explore_stats *s)
{
	double histories = (double)s->histories;
	return (struct estimate){ .histories = histories,
		                  .low = histories,
		                  .high = histories,
		                  .groups = 1,
		                  .bound = o->max_changes,
		                  .exact = true };
}

static struct estimate estimate_rest(const struct outlook_request *q,
                                     struct explorer *e, double seconds,
                                     uint64_t seed)
{
	const struct explore_stats *s = explorer_stats(e);
	if (!explorer_open(e)) return (struct estimate){ .groups = 0 };
	struct estimator *rest = estimator_new(q->program, q->options, seed);
	estimator_advance(rest, explorer_open(e), s->histories, s->end_states);
	estimator_spend(rest, seconds);
	struct estimate r = estimator_get(rest);
	estimator_free(rest);
	return r;
}

/* Could it go on, had it more time? */
static bool is_limited(const struct explore_stats *s)
{
	return s->stop == STOP_TIME;
}

/* Classes stand for about as many histories everywhere. */
static double classes_of(const struct outlook_request *q,
                         const struct explore_stats *s, double histories)
{
	if (!q->options->symmetry || !s->histories) return 0;
	return histories / (double)s->histories * (double)s->classes;
}

/* What the short exploration found is not kept: only that before it is done. */
static struct outlook look_ahead(const struct outlook_request *q,
                                 struct explorer *e, const struct watched *w,
                                 double seconds, uint64_t seed)
{
	const struct explore_stats *s = explorer_stats(e);
	struct outlook o = { .whole = explored_all(w->options, s), .jobs = 1 };
	if (q->options->jobs) o.jobs = q->options->jobs;
	o.classes = classes_of(q, s, o.whole.histories);
	if (!is_limited(s)) return o;
	o.whole = estimate_rest(q, e, seconds, seed);
	double done = work_done(w->options, &w->before);
	o.left = pace_duration(&w->pace, fmax(o.whole.work - done, 0),
	                       fmax(o.whole.work_low - done, 0),
	                       fmax(o.whole.work_high - done, 0));
	o.classes = classes_of(q, s, o.whole.histories);
	return o;
}

static struct explore_options short_options(const struct explore_options *all,
                                            double seconds)
{
	struct explore_options o = *all;
	double most = EXPLORING * seconds;
	if (o.timeout <= 0 || o.timeout > most) o.timeout = most;
	o.snapshot_every = 0;
	return o;
}

struct explorer *explore_ahead(const struct outlook_request *q,
                               struct outlook *out)
{
	double limit = q->options->timeout, seconds = q->seconds;
	if (limit > 0 && limit < seconds) seconds = limit;
	struct explore_options options = short_options(q->options, seconds);
	struct watched w = { .options = &options, .request = q };
	struct explore_observer observer = { .payload = &w, .tick = on_tick };
	double end = seconds_now() + seconds;
	struct explorer *e = explorer_new(q->program, &options, &observer);
	if (q->begin && !q->begin(q->payload, e)) {
		explorer_free(e);
		return NULL;
	}
	w.before = w.last = *explorer_stats(e);
	explorer_run(e);
	finish_pace(&w, explorer_stats(e));
	*out = look_ahead(q, e, &w, end - seconds_now(), q->seed);
	return e;
}

/* ---- random descents ---- */

/* So many groups give an interval that is worth telling; more of them, if
 * descents take long, for so much of the time; fewer, if that takes so many
 * seconds and the time once more. */
enum { GROUPS = 6 };
static const double ESTIMATING = 0.2, PATIENCE = 5;

/* The weights of single descents are as unbiased, but vary so much that no
 * honest interval follows from them: coupled ones tell the size. */
static struct estimate estimate_whole(const struct program *p,
                                      const struct explore_options *o,
                                      double seconds, uint64_t seed)
{
	struct estimator *e = estimator_new(p, o, seed);
	estimator_hurry(e, PATIENCE + seconds);
	estimator_run(e, GROUPS);
	estimator_spend(e, ESTIMATING * seconds);
	struct estimate r = estimator_get(e);
	estimator_free(e);
	return r;
}

struct explorer *explore_sample(const struct program *p,
                                const struct explore_options *o,
                                const struct explore_observer *observer,
                                uint64_t descents, uint64_t seed,
                                struct sample_share *out)
{
	struct explore_options one = *o;
	one.jobs = 1;
	struct explorer *e = explorer_new(p, &one, NULL);
	struct descents *d = descents_new(e, observer, seed);
	descents_run(d, descents);
	const struct explore_stats *s = explorer_stats(e);
	*out = (struct sample_share){
		.whole = estimate_whole(p, o, s->seconds, seed),
		.descents = descents_made(d),
		.distinct = s->histories,
	};
	double seen = (double)s->histories;
	out->whole.histories = fmax(out->whole.histories, seen);
	out->whole.low = fmax(out->whole.low, seen);
	out->whole.high = fmax(out->whole.high, seen);
	descents_free(d);
	return e;
}
