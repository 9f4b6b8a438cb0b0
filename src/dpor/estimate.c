#include "dpor/estimate.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/seconds.h"
#include "dpor/abreast.h"
#include "dpor/branch.h"
#include "dpor/explorer.h"

/* Descents of a group: few first, so that something is known soon, then twice
 * as many each time; wide groups vary less than many narrow ones. */
enum { WIDTH_FIRST = 16, WIDTH_LAST = 1024, WIDTH_SIZES = 16 };

/* What groups before count when an exploration has gone on. */
static const double FADING = 0.9;

/* One group. */
struct sample {
	double histories, end_states;
	double weight;  /* its width, fading */
};

struct estimator {
	struct abreast *abreast;
	struct branch_list open;
	uint64_t histories, end_states; /* done */
	struct sample *samples;
	size_t count, capacity;
	uint32_t width;      /* of the next group */
	double pace;         /* seconds per descent of the last group */
	uint64_t seen;       /* the most histories that a group met */
	bool exact;          /* the last sample is */
	bool stopped;        /* groups are not to be had any more */
};

struct estimator *estimator_new(const struct program *p,
                                const struct explore_options *o,
                                uint64_t seed)
{
	if (o->algorithm == EXPLORE_OUTWARD) return NULL;
	struct estimator *e = mem_take0(1, sizeof *e);
	e->abreast = abreast_new(p, o, seed);
	e->width = WIDTH_FIRST;
	branch_list_add(&e->open, branch_root());
	return e;
}

void estimator_free(struct estimator *e)
{
	if (!e) return;
	abreast_free(e->abreast);
	branch_list_free(&e->open);
	free(e->samples);
	free(e);
}

/* ---- what is estimated ---- */

static void replace_open(struct estimator *e, const struct branch_list *open)
{
	branch_list_free(&e->open);
	branch_list_copy(&e->open, open);
	e->exact = false;
	e->seen = 0;
}

void estimator_set(struct estimator *e, const struct branch_list *open)
{
	replace_open(e, open);
	e->count = 0;
	e->histories = e->end_states = 0;
	e->width = WIDTH_FIRST;
}

void estimator_advance(struct estimator *e, const struct branch_list *open,
                       uint64_t histories, uint64_t end_states)
{
	replace_open(e, open);
	e->histories = histories;
	e->end_states = end_states;
	for (size_t i = 0; i < e->count; i++) e->samples[i].weight *= FADING;
}

/* ---- groups ---- */

static void add_group(struct estimator *e, uint32_t width)
{
	struct abreast_count c;
	double begun = seconds_now();
	e->stopped = !abreast_descend(e->abreast, &e->open, width, &c);
	if (e->stopped) return;
	VEC_RESERVE(e->samples, e->count, e->capacity);
	e->samples[e->count++] = (struct sample){
		(double)e->histories + c.histories,
		(double)e->end_states + c.end_states, width
	};
	e->exact = c.exact;
	if (c.seen > e->seen) e->seen = c.seen;
	e->pace = (seconds_now() - begun) / width;
	if (width == e->width && e->width < WIDTH_LAST) e->width *= 2;
}

void estimator_run(struct estimator *e, uint64_t groups)
{
	for (uint64_t i = 0; i < groups && !e->exact && !e->stopped; i++)
		add_group(e, e->width);
}

void estimator_spend(struct estimator *e, double seconds)
{
	double end = seconds_now() + seconds;
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

void estimator_sizes(struct estimator *e, const struct branch_list *l,
                     double *out)
{
	for (size_t i = 0; i < l->count; i++) {
		struct branch_list one = { &l->items[i], 1, 1 };
		struct abreast_count c;
		bool fine = !e->stopped && abreast_descend(e->abreast, &one,
		                                           WIDTH_SIZES, &c);
		out[i] = fine ? c.end_states : 1;
	}
}

/* ---- statistics ---- */

/* Student's t, 97.5 %, by degrees of freedom. */
static double student(double freedom)
{
	static const double few[] = { 12.706, 12.706, 4.303, 3.182, 2.776,
		                      2.571, 2.447, 2.365, 2.306, 2.262,
		                      2.228 };
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

struct summary { double mean, low, high; };

/* Weighted by the descents of the groups: the variance of the mean is that of
 * the samples, weighted, over their number. */
static struct summary summarize(const struct estimator *e,
                                double (*of)(const struct sample *),
                                double done, double seen)
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
	double least = done + seen;
	struct summary s = { fmax(mean, done), mean * exp(-part),
		             mean * exp(2 * part) };
	s.low = fmin(fmax(s.low, least), fmax(s.mean, least));
	s.high = fmax(s.high, least);
	return s;
}

struct estimate estimator_get(const struct estimator *e)
{
	struct estimate r = { .groups = e->count, .exact = e->exact };
	if (!e->count) return r;
	const struct sample *last = &e->samples[e->count - 1];
	if (e->exact) {
		r.histories = r.low = r.high = last->histories;
		r.end_states = last->end_states;
		r.end_states_low = r.end_states_high = r.end_states;
		return r;
	}
	struct summary s = summarize(e, histories_of, (double)e->histories,
	                             (double)e->seen);
	r.histories = s.mean;
	r.low = floor(s.low);
	r.high = ceil(s.high);
	s = summarize(e, end_states_of, (double)e->end_states, 0);
	r.end_states = s.mean;
	r.end_states_low = floor(s.low);
	r.end_states_high = ceil(s.high);
	return r;
}

/* ---- time ---- */

void pace_add(struct pace *p, double end_states, double seconds)
{
	if (end_states <= 0) return;
	p->end_states += end_states;
	p->seconds += seconds;
	p->squares += seconds / end_states * seconds;
	p->count++;
}

/* The speed is as uncertain as stretches differ, and other parts of the tree
 * may be slower than those that were seen by a tenth. */
struct duration pace_duration(const struct pace *p, double end_states,
                              double low, double high)
{
	if (p->end_states <= 0) return (struct duration){ 0 };
	double mean = p->seconds / p->end_states;
	double squares = p->squares / p->end_states - mean * mean;
	double part = spread(mean, fmax(squares, 0), (double)p->count);
	part = fmin(part, 1) + 0.1;
	return (struct duration){ mean * end_states,
		                  mean * low * exp(-part),
		                  mean * high * exp(part) };
}
