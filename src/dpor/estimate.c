#include "dpor/estimate.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/seconds.h"
#include "dpor/explorer.h"
#include "dpor/stochastic_enumeration.h"
#include "dpor/work/branch.h"

/* Descents of a group: few first, so that something is known soon, then twice
 * as many each time; wide groups vary less than many narrow ones. */
enum { WIDTH_FIRST = 16, WIDTH_LAST = 1024, WIDTH_SIZES = 16 };

/* What groups before count when an exploration has gone on. */
static const double FADING = 0.9;

/* When a group that does not come to its end is given up: in seconds, and in
 * times of what it may take. */
static const double LATE_LEAST = 1, LATE_TIMES = 2;

/* One group. */
struct sample {
	double histories, end_states;
	double weight; /* its width, fading */
};

struct estimator {
	const struct program *program;
	struct explore_options options;
	struct stochastic *stochastic;
	struct stochastic
		*sizer; /* for the size of branches; NULL: `stochastic` */
	bool in_place;  /* the branches of the exploration are gone down */
	struct branch_list open;
	/* Of what samples are about, found by the exploration; all that it
	 * found is `least`, too. */
	double histories, end_states;
	uint64_t least;
	struct sample *samples;
	size_t count, capacity;
	uint32_t width; /* of the next group */
	double pace;    /* seconds per descent of the last group */
	uint64_t seen;  /* the most histories that a group met */
	uint64_t ends;  /* end states that all groups met */
	bool exact;     /* the last sample is */
	bool stopped;   /* groups of these branches are not to be had */
};

double work_done(const struct explore_options *o, const struct explore_stats *s)
{
	return (double)(o->algorithm == EXPLORE_ORDERLY ? s->histories
	                                                : s->end_states);
}

/* Explore-ce, where the algorithm cannot be followed. */
static struct explore_options options_to_follow(struct explore_options o)
{
	if (o.algorithm == EXPLORE_ORDERLY) {
		o.algorithm = EXPLORE_CE;
		o.base = level_base(o.level);
		o.symmetry = NULL;
	}
	return o;
}

struct estimator *estimator_new(const struct program *p,
                                const struct explore_options *o, uint64_t seed)
{
	if (o->algorithm == EXPLORE_OUTWARD) return NULL;
	struct explore_options followed = options_to_follow(*o);
	struct estimator *e = mem_take0(1, sizeof *e);
	e->program = p;
	e->options = *o;
	e->stochastic = stochastic_new(p, &followed, seed);
	e->in_place = followed.algorithm == o->algorithm;
	e->width = WIDTH_FIRST;
	branch_list_add(&e->open, branch_root());
	return e;
}

void estimator_free(struct estimator *e)
{
	if (!e) return;
	stochastic_free(e->stochastic);
	stochastic_free(e->sizer);
	branch_list_free(&e->open);
	free(e->samples);
	free(e);
}

/* ---- what is estimated ---- */

void estimator_advance(struct estimator *e, const struct branch_list *open,
                       uint64_t histories, uint64_t end_states)
{
	e->stopped = false;
	e->least = histories;
	if (!e->in_place) return;
	branch_list_free(&e->open);
	branch_list_copy(&e->open, open);
	e->exact = false;
	e->seen = e->ends = 0;
	e->histories = (double)histories;
	e->end_states = (double)end_states;
	for (size_t i = 0; i < e->count; i++) e->samples[i].weight *= FADING;
}

/* ---- groups ---- */

static void add_group(struct estimator *e, uint32_t width)
{
	struct stochastic_count c;
	double begun = seconds_now();
	e->stopped = !stochastic_descend(e->stochastic, &e->open, width, &c);
	if (e->stopped) return;
	VEC_RESERVE(e->samples, e->count, e->capacity);
	e->samples[e->count++] =
		(struct sample){ e->histories + c.histories,
		                 e->end_states + c.end_states, width };
	e->exact = c.exact;
	if (c.seen > e->seen) e->seen = c.seen;
	e->ends += c.ends;
	e->pace = (seconds_now() - begun) / width;
	if (width == e->width && e->width < WIDTH_LAST) e->width *= 2;
}

void estimator_run(struct estimator *e, uint64_t groups)
{
	for (uint64_t i = 0; i < groups && !e->exact && !e->stopped; i++)
		add_group(e, e->width);
}

void estimator_hurry(struct estimator *e, double seconds)
{
	stochastic_hurry(e->stochastic, seconds);
	e->stopped = false;
}

void estimator_spend(struct estimator *e, double seconds)
{
	double end = seconds_now() + seconds;
	stochastic_hurry(e->stochastic, LATE_LEAST + LATE_TIMES * seconds);
	for (bool first = true; !e->exact && !e->stopped; first = false) {
		double left = end - seconds_now(), width = e->width;
		if (e->pace > 0 && left / e->pace < width)
			width = left / e->pace;
		if (width < WIDTH_FIRST) {
			if (!first) return;
			width = WIDTH_FIRST;
		}
		add_group(e, (uint32_t)width);
	}
}

double estimator_size(struct estimator *e, struct branch *b)
{
	if (!e->in_place && !e->sizer)
		e->sizer = stochastic_new(e->program, &e->options, 1);
	struct stochastic *a = e->sizer ? e->sizer : e->stochastic;
	const struct branch_list one = { &b, 1, 1 };
	struct stochastic_count c;
	if (!stochastic_descend(a, &one, WIDTH_SIZES, &c)) return 1;
	return e->in_place ? c.end_states : c.places;
}

/* ---- statistics ---- */

/* Student's t, 97.5 %, by degrees of freedom. */
static double student(double freedom)
{
	static const double few[] = { 12.706, 12.706, 4.303, 3.182,
		                      2.776,  2.571,  2.447, 2.365,
		                      2.306,  2.262,  2.228 };
	enum { FEW = sizeof few / sizeof *few };
	return freedom < FEW ? few[(unsigned)freedom] : 1.96 + 2.68 / freedom;
}

/* Half of the interval, as a part of the mean. Nobody knows how much a single
 * group is wrong: then that of one which is often wrong by a factor of 20. */
static double spread(double mean, double squares, double count)
{
	if (count < 2) return 3;
	if (mean <= 0 || squares <= 0) return 0;
	return student(count - 1) * sqrt(squares / (count - 1)) / mean;
}

static double histories_of(const struct sample *s)
{
	return s->histories;
}

static double end_states_of(const struct sample *s)
{
	return s->end_states;
}

struct summary {
	double mean, low, high;
};

/* Weighted by the descents of the groups: the variance of the mean is that of
 * the samples, weighted, over their number. */
static struct summary summarize(const struct estimator *e,
                                double (*of)(const struct sample *),
                                double least)
{
	double weights = 0, sum = 0, squares = 0;
	for (size_t i = 0; i < e->count; i++) {
		weights += e->samples[i].weight;
		sum += e->samples[i].weight * of(&e->samples[i]);
	}
	double mean = sum / weights;
	for (size_t i = 0; i < e->count; i++) {
		double off = of(&e->samples[i]) - mean;
		squares += e->samples[i].weight / weights * off * off;
	}
	double part = spread(mean, squares, (double)e->count);
	return (struct summary){ mean, fmax(mean * exp(-part), least),
		                 fmax(mean * exp(2 * part), least) };
}

static struct estimate exactly(const struct estimator *e)
{
	const struct sample *s = &e->samples[e->count - 1];
	double work = e->in_place ? s->end_states : s->histories;
	return (struct estimate){ .histories = s->histories,
		                  .low = s->histories,
		                  .high = s->histories,
		                  .work = work,
		                  .work_low = work,
		                  .work_high = work,
		                  .exact = true };
}

/* When none of so many groups met a history, mostly less than one in a third of
 * that number of groups would; end states of one group are too much alike to
 * be counted one by one. */
static struct estimate roughly(const struct estimator *e)
{
	double least = fmax((double)e->least, e->histories + (double)e->seen);
	struct summary ends = summarize(e, end_states_of, e->end_states);
	struct summary s = summarize(e, histories_of, least);
	if (s.mean <= 0) s.high = ends.high * fmin(3 / (double)e->count, 1);
	const struct summary *work = e->in_place ? &ends : &s;
	return (struct estimate){ .histories = s.mean,
		                  .low = floor(s.low),
		                  .high = ceil(s.high),
		                  .work = work->mean,
		                  .work_low = floor(work->low),
		                  .work_high = ceil(work->high) };
}

struct estimate estimator_get(const struct estimator *e)
{
	struct estimate r = { 0 };
	if (!e->count || (!e->exact && !e->ends)) return r;
	r = e->exact ? exactly(e) : roughly(e);
	r.groups = e->count;
	r.bound = e->options.max_changes;
	return r;
}

/* ---- time ---- */

void pace_add(struct pace *p, double work, double seconds)
{
	if (work <= 0) return;
	p->work += work;
	p->seconds += seconds;
	p->squares += seconds / work * seconds;
	p->count++;
}

/* The speed is as uncertain as stretches differ, and other parts of the tree
 * may be slower than those that were seen by a tenth. */
struct duration pace_duration(const struct pace *p, double work, double low,
                              double high)
{
	if (p->work <= 0) return (struct duration){ NAN, NAN, NAN };
	double mean = p->seconds / p->work;
	double squares = p->squares / p->work - mean * mean;
	double part = spread(mean, fmax(squares, 0), (double)p->count);
	part = fmin(part, 1) + 0.1;
	return (struct duration){ mean * work, mean * low * exp(-part),
		                  mean * high * exp(part) };
}
