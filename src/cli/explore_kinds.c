/* explore --levels, --estimate and --random. */
#include <stdio.h>

#include "api/explorations.h"
#include "api/second_engine.h"
#include "cli/exit_codes.h"
#include "cli/explore.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/outputs.h"
#include "cli/given_program.h"
#include "cli/settings.h"
#include "cli/watch.h"
#include "isoscope.h"
#include "report/progress.h"
#include "report/report.h"
#include "result/decided.h"

/* ---- --levels ---- */

struct watched_levels {
	struct exploration *x;
	struct watch *watch;
	char what[32];
	uint64_t histories; /* so far */
	bool cut;           /* an exploration did not come to its own end */
};

static struct explore_observer begin_level(void *payload, enum level l,
                                           struct explore_options *o)
{
	struct watched_levels *w = payload;
	struct exploration under = *w->x;
	under.plan.options = *o;
	snprintf(w->what, sizeof w->what, "under %s", level_word(l));
	w->watch = watch_new(&under, w->what);
	o->snapshot_every = watch_every(w->watch);
	return watch_observer(w->watch);
}

static void end_level(void *payload, struct explorer *e)
{
	struct watched_levels *w = payload;
	const struct explore_stats *s = explorer_stats(e);
	w->histories += s->histories;
	w->cut |= s->stop != STOP_NONE && s->stop != STOP_VIOLATION;
	watch_end(w->watch, e);
}

static bool is_enough(void *payload)
{
	const struct watched_levels *w = payload;
	return second_engine_answered(w->x->second);
}

/* By the second engine, if exploring was cut short for it. */
static struct result *result_by(const struct watched_levels *w,
                                const struct levels_table *table)
{
	const struct exploration *x = w->x;
	if (!w->cut || !second_engine_end(x->second))
		return result_of_levels(table, x->plan.options.level,
		                        x->plan.options.as);
	struct result *r =
		result_of_level_decisions(second_engine_levels(x->second));
	result_engine(r, false, w->histories);
	return r;
}

static int deliver_levels(const struct watched_levels *w,
                          const struct levels_table *table)
{
	const struct exploration *x = w->x;
	struct result *r = result_by(w, table);
	int code = outputs_result(x->line, r, NULL) ? exit_code_of(r->verdict)
	                                            : EXIT_INTERNAL;
	result_free(r);
	return code;
}

int explore_levels(struct exploration *x)
{
	struct watched_levels w = { .x = x };
	struct levels_request q = { .program = x->plan.program,
		                    .options = &x->plan.options,
		                    .any_algorithm =
		                            !x->line->value[OPTION_ALGORITHM],
		                    .payload = &w,
		                    .begin = begin_level,
		                    .end = end_level,
		                    .enough = is_enough };
	x->second = explore_beside(x, true);
	struct levels_table *table = explore_all_levels(&q);
	int code = explore_failed(x) ? EXIT_INPUT : deliver_levels(&w, table);
	second_engine_free(x->second);
	levels_table_free(table);
	return code;
}

/* ---- --estimate ---- */

struct watched_outlook {
	struct exploration *x;
	struct progress progress;
};

static bool begin_outlook(void *payload, struct explorer *e)
{
	const struct watched_outlook *w = payload;
	return explore_goes_on(w->x, e);
}

static bool tick_outlook(void *payload, const struct explore_stats *s,
                         uint32_t depth)
{
	struct watched_outlook *w = payload;
	progress_tick(&w->progress, s, depth);
	return true;
}

int explore_estimate(struct exploration *x)
{
	const struct command_line *c = x->line;
	struct watched_outlook w = { x, output_progress(c) };
	struct outlook_request q = { .program = x->plan.program,
		                     .options = &x->plan.options,
		                     .seconds = 1,
		                     .seed = 1,
		                     .payload = &w,
		                     .begin = begin_outlook,
		                     .tick = tick_outlook };
	struct outlook outlook;
	bool said = *c->value[OPTION_ESTIMATE];
	if (said && !setting_seconds(c, OPTION_ESTIMATE, &q.seconds))
		return EXIT_USAGE;
	if (!setting_seed(c, OPTION_EXPLORE_SEED, &q.seed)) return EXIT_USAGE;
	struct explorer *e = explore_ahead(&q, &outlook);
	progress_end(&w.progress);
	if (!e) return EXIT_INPUT;
	int code = explore_deliver(
		x, e, &(struct explored_beside){ .outlook = &outlook });
	explorer_free(e);
	return code;
}

/* ---- --random ---- */

int explore_random(struct exploration *x)
{
	const struct command_line *c = x->line;
	struct sample_share share;
	uint64_t count = 0, seed = 1;
	if (!setting_count(c, OPTION_RANDOM, &count) ||
	    !setting_seed(c, OPTION_EXPLORE_SEED, &seed))
		return EXIT_USAGE;
	struct watch *w = watch_new(x, NULL);
	if (!w) return EXIT_USAGE;
	struct explore_observer observer = watch_observer(w);
	struct explorer *e = explore_sample(x->plan.program, &x->plan.options,
	                                    &observer, count, seed, &share);
	bool fine = watch_end(w, e);
	int code = explore_deliver(
		x, e, &(struct explored_beside){ .sample = &share });
	explorer_free(e);
	return fine ? code : EXIT_INTERNAL;
}
