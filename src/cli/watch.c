#include "cli/watch.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/seconds.h"
#include "cli/explore.h"
#include "cli/explore_unit.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/sorted.h"
#include "report/forecast.h"
#include "report/histories.h"
#include "report/progress.h"
#include "result/names.h"

struct watch {
	struct explore_unit *unit; /* NULL: nothing to go on with or to keep */
	double unit_every;         /* seconds from checkpoint to checkpoint */
	double unit_next;          /* seconds_now() of the next one */
	FILE *histories;           /* NULL: not asked for */
	const char *path;          /* of it */
	struct sorted *sorted;     /* NULL: as they come */
	struct text *lines;        /* of histories, for each thread */
	unsigned jobs;
	struct progress progress;
	struct text what; /* of the progress */
};

/* ---- histories ---- */

/* Called by all threads: the line is written with one call, so in one piece. */
static bool on_history(void *payload, const struct explore_execution *e)
{
	struct watch *w = payload;
	assert(e->worker < w->jobs && w->histories);
	struct text *line = &w->lines[e->worker];
	text_clear(line);
	report_history(line, e);
	if (w->sorted) return sorted_add(w->sorted, e, line);
	return fwrite(line->data, 1, line->length, w->histories) ==
	       line->length;
}

static bool open_histories(struct watch *w, const struct exploration *x)
{
	bool fine = true;
	w->path = x->line->value[OPTION_HISTORIES];
	if (w->unit)
		w->histories = explore_unit_histories(w->unit, &fine);
	else if (w->path)
		fine = (w->histories = output_open(w->path));
	if (w->histories && w->jobs > 1 && x->line->value[OPTION_SORTED])
		w->sorted = sorted_new(w->jobs);
	return fine;
}

static bool close_histories(struct watch *w)
{
	bool sorted = !w->sorted || sorted_write(w->sorted, w->histories);
	return output_close(w->histories, w->path) && sorted;
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
	return true;
}

static bool checkpoint(struct watch *w, const struct tally *found,
                       const struct branch_list *open)
{
	double now = seconds_now();
	assert(!w->unit || w->unit_every > 0);
	if (!w->unit || now < w->unit_next) return true;
	w->unit_next = now + w->unit_every;
	return explore_unit_snapshot(w->unit, found, open);
}

static bool on_snapshot(void *payload, const struct tally *found,
                        const struct branch_list *open)
{
	struct watch *w = payload;
	if (w->progress.forecast)
		forecast_snapshot(w->progress.forecast, found, open);
	return checkpoint(w, found, open);
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
	double every = w->unit ? w->unit_every : 0;
	if (!w->progress.forecast) return every;
	return every > 0 && every < FORECAST_EVERY ? every : FORECAST_EVERY;
}

/* ---- beginning and end ---- */

static void watch_unit(struct watch *w, const struct exploration *x)
{
	if (!x->unit->unit) return;
	w->unit = x->unit;
	w->unit_every = x->options.snapshot_every;
	w->unit_next = seconds_now() + w->unit_every;
}

static void watch_progress(struct watch *w, const struct exploration *x,
                           const char *what)
{
	w->progress = output_progress(x->line);
	w->progress.what = what;
	if (w->progress.to)
		w->progress.forecast = forecast_new(x->program, &x->options);
}

static void watch_free(struct watch *w)
{
	for (unsigned i = 0; i < w->jobs; i++) text_free(&w->lines[i]);
	free(w->lines);
	forecast_free(w->progress.forecast);
	text_free(&w->what);
	sorted_free(w->sorted);
	free(w);
}

struct watch *watch_new(const struct exploration *x, const char *what)
{
	assert(x->options.jobs);
	struct watch *w = mem_take0(1, sizeof *w);
	w->jobs = x->options.jobs;
	w->lines = mem_take0(w->jobs, sizeof *w->lines);
	watch_unit(w, x);
	watch_progress(w, x, what);
	if (open_histories(w, x)) return w;
	watch_free(w);
	return NULL;
}

bool watch_end(struct watch *w, struct explorer *e)
{
	progress_end(&w->progress);
	bool kept = !w->unit || explore_unit_end(w->unit, e);
	bool fine = close_histories(w) && kept;
	watch_free(w);
	return fine;
}
