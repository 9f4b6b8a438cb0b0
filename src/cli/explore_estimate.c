#include "cli/explore_estimate.h"

#include <math.h>

#include "base/seconds.h"
#include "cli/exit_codes.h"
#include "cli/explore.h"
#include "cli/explore_unit.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/outputs.h"
#include "cli/program.h"
#include "cli/settings.h"
#include "dpor/verdict.h"
#include "report/progress.h"
#include "result/explored.h"

/* Seconds for all; the part of them that goes into exploring; and how long a
 * stretch is at least whose speed is measured. */
static const double SECONDS = 1, EXPLORING = 0.3, STRETCH = 0.02;

/* What the short exploration tells of its speed. */
struct watched {
	const struct explore_options *options;
	struct pace pace;
	struct progress progress;
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
	progress_tick(&w->progress, s, depth);
	return true;
}

/* Too short for stretches: all of it is one. */
static void finish_pace(struct watched *w, const struct explore_stats *s)
{
	if (w->pace.count) return;
	pace_add(&w->pace,
	         work_done(w->options, s) - work_done(w->options, &w->before),
	         s->cpu_seconds - w->before.cpu_seconds);
}

/* ---- the estimate ---- */

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

static struct estimate estimate_rest(const struct exploration *x,
                                     struct explorer *e, double seconds,
                                     uint64_t seed)
{
	const struct explore_stats *s = explorer_stats(e);
	if (!explorer_open(e)) return (struct estimate){ .groups = 0 };
	struct estimator *rest = estimator_new(x->program, &x->options, seed);
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
static double classes_of(const struct exploration *x,
                         const struct explore_stats *s, double histories)
{
	if (!x->options.symmetry || !s->histories) return 0;
	return histories / (double)s->histories * (double)s->classes;
}

/* What the short exploration found is not kept: only that before it is done. */
static struct outlook look_ahead(const struct exploration *x,
                                 struct explorer *e, const struct watched *w,
                                 double seconds, uint64_t seed)
{
	const struct explore_stats *s = explorer_stats(e);
	struct outlook o = { .whole = explored_all(w->options, s), .jobs = 1 };
	if (x->options.jobs) o.jobs = x->options.jobs;
	o.classes = classes_of(x, s, o.whole.histories);
	if (!is_limited(s)) return o;
	o.whole = estimate_rest(x, e, seconds, seed);
	double done = work_done(w->options, &w->before);
	o.left = pace_duration(&w->pace, fmax(o.whole.work - done, 0),
	                       fmax(o.whole.work_low - done, 0),
	                       fmax(o.whole.work_high - done, 0));
	o.classes = classes_of(x, s, o.whole.histories);
	return o;
}

/* ---- the result ---- */

static struct explore_options short_options(const struct exploration *x,
                                            double seconds)
{
	struct explore_options o = x->options;
	double most = EXPLORING * seconds;
	if (o.timeout <= 0 || o.timeout > most) o.timeout = most;
	o.snapshot_every = 0;
	return o;
}

static int explore_and_estimate(const struct exploration *x, double seconds,
                                uint64_t seed)
{
	struct explore_options options = short_options(x, seconds);
	struct watched w = { .options = &options,
		             .progress = output_progress(x->line) };
	struct explore_observer observer = { .payload = &w, .tick = on_tick };
	double end = seconds_now() + seconds;
	struct explorer *e = explorer_new(x->program, &options, &observer);
	int code = EXIT_INPUT;
	if (!x->unit->unit || explore_unit_begin(x->unit, e)) {
		w.before = w.last = *explorer_stats(e);
		explorer_run(e);
		finish_pace(&w, explorer_stats(e));
		double left = end - seconds_now();
		struct outlook o = look_ahead(x, e, &w, left, seed);
		progress_end(&w.progress);
		code = explore_deliver(
			x, e, &(struct explored_beside){ .outlook = &o });
	}
	explorer_free(e);
	return code;
}

int explore_estimate(const struct exploration *x)
{
	const struct command_line *c = x->line;
	double seconds = SECONDS;
	uint64_t seed = 1;
	bool said = *c->value[OPTION_ESTIMATE];
	if (said && !setting_seconds(c, OPTION_ESTIMATE, &seconds))
		return EXIT_USAGE;
	if (!setting_seed(c, OPTION_EXPLORE_SEED, &seed)) return EXIT_USAGE;
	if (x->options.timeout > 0 && x->options.timeout < seconds)
		seconds = x->options.timeout;
	return explore_and_estimate(x, seconds, seed);
}
