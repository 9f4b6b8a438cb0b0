#include "cli/watch.h"

#include <assert.h>
#include <stdlib.h>

#include "api/history_lines.h"
#include "api/second_engine.h"
#include "base/memory.h"
#include "cli/explore.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/given_program.h"
#include "report/forecast.h"
#include "report/progress.h"
#include "result/names.h"

struct watch {
	const struct command_line *line;
	struct kept *kept;               /* NULL: there is none to be written */
	struct history_lines *histories; /* NULL: not asked for */
	struct progress progress;
	struct text what; /* of the progress */
	struct second_engine *second;
};

/* Says the problem, if there is one. */
static void say_and_free(const struct watch *w, struct problem *p)
{
	say_problem(w->line, NULL, p);
	problem_free(p);
}

/* ---- while it runs ---- */

static bool on_tick(void *payload, const struct explore_stats *s,
                    uint32_t depth)
{
	struct watch *w = payload;
	if (s->changes) {
		text_clear(&w->what);
		name_changed_reads(&w->what, s->changes);
		w->progress.what = text_get(&w->what);
	}
	progress_tick(&w->progress, s, depth);
	return second_engine_tick(w->second, s);
}

static bool on_snapshot(void *payload, const struct tally *found,
                        const struct branch_list *open)
{
	struct watch *w = payload;
	struct problem problem = { 0 };
	if (w->progress.forecast)
		forecast_snapshot(w->progress.forecast, found, open);
	if (w->kept) kept_snapshot(w->kept, found, open, &problem);
	say_and_free(w, &problem);
	return true;
}

static bool on_history(void *payload, const struct explore_execution *e)
{
	struct watch *w = payload;
	return history_lines_add(w->histories, e);
}

struct explore_observer watch_observer(struct watch *w)
{
	return (struct explore_observer){
		.payload = w,
		.history = w->histories ? on_history : NULL,
		.tick = on_tick,
		.snapshot = on_snapshot,
	};
}

double watch_every(const struct watch *w)
{
	double every = w->kept ? w->kept->files.every : 0;
	if (!w->progress.forecast) return every;
	return every > 0 && every < FORECAST_EVERY ? every : FORECAST_EVERY;
}

/* ---- beginning and end ---- */

static void watch_progress(struct watch *w, const struct exploration *x,
                           const char *what)
{
	w->progress = output_progress(x->line);
	w->progress.what = what;
	if (w->progress.to)
		w->progress.forecast =
			forecast_new(x->plan.program, &x->plan.options);
}

/* Under --levels, no file is asked for. */
static bool open_histories(struct watch *w, struct exploration *x)
{
	struct problem problem = { 0 };
	FILE *to = kept_histories(&x->plan.kept, &problem);
	const char *folder = getenv("TMPDIR");
	if (to)
		w->histories = history_lines_new(
			to, x->plan.options.jobs, x->line->value[OPTION_SORTED],
			folder && *folder ? folder : "/tmp");
	bool fine = !problem.kind;
	say_and_free(w, &problem);
	return fine;
}

static void watch_free(struct watch *w)
{
	forecast_free(w->progress.forecast);
	text_free(&w->what);
	free(w);
}

struct watch *watch_new(struct exploration *x, const char *what)
{
	assert(x->plan.options.jobs);
	struct watch *w = mem_take0(1, sizeof *w);
	w->line = x->line;
	w->second = x->second;
	if (x->plan.kept.unit) w->kept = &x->plan.kept;
	watch_progress(w, x, what);
	if (open_histories(w, x)) return w;
	watch_free(w);
	return NULL;
}

bool watch_end(struct watch *w, struct explorer *e)
{
	struct problem kept = { 0 }, written = { 0 };
	progress_end(&w->progress);
	bool fine = !w->kept || kept_end(w->kept, e, &kept);
	say_and_free(w, &kept);
	const char *path = w->line->value[OPTION_HISTORIES];
	if (!path && w->kept) path = w->kept->unit->histories;
	fine &= history_lines_end(w->histories, path, &written);
	say_and_free(w, &written);
	watch_free(w);
	return fine;
}
