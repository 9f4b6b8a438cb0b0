#include "report/forecast.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/seconds.h"
#include "dpor/estimate.h"
#include "dpor/explorer.h"
#include "dpor/tally.h"
#include "dpor/work/branch.h"
#include "result/numbers.h"

/* The part of the time that goes into estimates; seconds of it that are lent
 * for the first one; and how many each has at least: few wide groups of
 * descents tell more than many narrow ones. */
static const double SHARE = 0.03, LENT = 0.12, LEAST = 0.06;
/* An interval that is wider says nothing. */
static const double WIDEST = 50;
enum { CELLS = 16, SEED = 1 };

struct forecast {
	struct explore_options options;
	struct estimator *estimator;
	struct estimate estimate;
	struct bar bar;
	double start; /* in seconds_now() */
	double spent; /* seconds, in estimates */
	/* Of the first tick: what a resumed exploration did before is no
	 * measure of its speed. */
	double first_seconds, first_done;
	bool begun;
};

struct forecast *forecast_new(const struct program *p,
                              const struct explore_options *o)
{
	assert(p && o);
	struct estimator *estimator = estimator_new(p, o, SEED);
	if (!estimator) return NULL;
	struct forecast *f = mem_take0(1, sizeof *f);
	f->options = *o;
	f->estimator = estimator;
	f->start = seconds_now();
	return f;
}

void forecast_free(struct forecast *f)
{
	if (!f) return;
	estimator_free(f->estimator);
	free(f);
}

void forecast_snapshot(struct forecast *f, const struct tally *so_far,
                       const struct branch_list *open)
{
	double now = seconds_now();
	double budget = LENT + SHARE * (now - f->start) - f->spent;
	if (budget < LEAST) return;
	estimator_advance(f->estimator, open, so_far->stats.histories,
	                  so_far->stats.end_states);
	estimator_spend(f->estimator, budget);
	f->estimate = estimator_get(f->estimator);
	f->spent += seconds_now() - now;
}

/* ---- the bar ---- */

/* What is left is worth so much of what was done at least: nobody knows that
 * an estimate is not too small, before the end. */
static const double DOUBT = 0.02, MOST = 0.999;

/* When it is behind the estimate it catches up; when it is before it, the rest
 * of the bar goes with the rest of the work. */
void bar_move(struct bar *b, double done, double left)
{
	assert(done >= 0 && left >= 0);
	left = fmax(left, DOUBT * done + 1);
	double part = done / (done + left), step = done - b->done;
	if (step > 0) {
		double rest = (1 - b->shown) * left / (left + step);
		b->shown = 1 - rest;
		b->done = done;
	}
	b->shown = fmin(fmax(b->shown, part), MOST);
}

static void print_bar(struct text *t, double shown)
{
	assert(shown >= 0 && shown < 1);
	unsigned full = (unsigned)(shown * CELLS);
	text_char(t, '[');
	text_pad(t, '#', full);
	text_pad(t, ' ', CELLS - full);
	text_char(t, ']');
}

/* ---- words ---- */

static void print_time_left(struct text *t, const struct forecast *f,
                            const struct explore_stats *s, double left)
{
	assert(left >= 0);
	double done = work_done(&f->options, s) - f->first_done;
	double seconds = s->seconds - f->first_seconds;
	if (done <= 0 || seconds <= 0) return;
	text_string(t, ", ");
	number_duration(t, left * seconds / done);
	text_string(t, " left");
}

static void print_total(struct text *t, const struct estimate *e, double done)
{
	text_string(t, " of ");
	if (!e->exact) text_string(t, "about ");
	number_about(t, fmax(e->histories, done));
	if (e->exact) return;
	text_string(t, " (");
	number_range(t, fmax(e->low, done), fmax(e->high, done));
	text_char(t, ')');
}

static bool is_known(const struct estimate *e)
{
	return e->exact || (e->groups > 2 && e->high < WIDEST * e->low);
}

bool forecast_words(struct forecast *f, struct text *t,
                    const struct explore_stats *s)
{
	const struct estimate *e = &f->estimate;
	double done = work_done(&f->options, s);
	if (!f->begun) {
		f->first_seconds = s->seconds;
		f->first_done = done;
		f->begun = true;
	}
	if (!is_known(e)) return false;
	double left = fmax(e->work - done, 0);
	bar_move(&f->bar, done, left);
	print_bar(t, f->bar.shown);
	text_format(t, " %.1f %%, ", floor(f->bar.shown * 1000) / 10);
	number_about(t, (double)s->histories);
	print_total(t, e, (double)s->histories);
	text_string(t, " histories");
	print_time_left(t, f, s, fmax(left, DOUBT * done));
	return true;
}
