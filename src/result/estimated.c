/* What is known only roughly of an exploration, beside its result: how large it
 * is, how long it takes, and what share was seen. */
#include <assert.h>
#include <math.h>

#include "dpor/explorer.h"
#include "result/names.h"
#include "result/numbers.h"
#include "result/parts.h"

/* ---- shares ---- */

/* There are no fewer than those that were seen. */
static double at_least(double n, uint64_t seen)
{
	assert(!isnan(n));
	return fmax(n, (double)seen);
}

/* The mean has no bias, so it may be below what groups met. */
static double in_all(uint64_t seen, const struct estimate *all)
{
	return at_least(fmax(all->histories, all->low), seen);
}

/* Does the estimate say no more than that there are those that were seen? */
static bool is_met(uint64_t seen, const struct estimate *all)
{
	return !all->exact && seen && in_all(seen, all) <= (double)seen;
}

/* The part of all that was seen, up to 1; NAN where nothing is known to be
 * there, or nothing but what was seen. */
static double share_of(uint64_t seen, const struct estimate *all)
{
	double n = in_all(seen, all);
	assert(n >= (double)seen);
	if (n > 0 && !is_met(seen, all)) return (double)seen / n;
	return all->exact ? 1 : NAN;
}

/* Two digits, but never "100 %" for a part. */
static void name_percent(struct text *t, double share)
{
	double n = 100 * share;
	assert(share >= 0 && share <= 1);
	if (n >= 99)
		text_string(t, share < 1 ? "more than 99 %" : "100 %");
	else if (n >= 0.001)
		text_format(t, "%.2g %%", n);
	else
		text_string(t, "less than 0.001 %");
}

void estimate_line(struct result *r, uint64_t seen, const struct estimate *all)
{
	struct text number = { 0 }, t = { 0 };
	if (!all->groups) return;
	if (all->exact) {
		number_count(&number, (uint64_t)in_all(seen, all));
	} else if (is_met(seen, all)) {
		number_about(&number, (double)seen);
		text_string(&t, "or more, up to ");
		number_about(&t, at_least(all->high, seen));
		text_string(&t, " (95 %); ");
	} else {
		number_about(&number, in_all(seen, all));
		text_string(&t, "about, or ");
		number_range(&t, at_least(all->low, seen),
		             at_least(all->high, seen));
		text_string(&t, " (95 %); ");
	}
	if (all->bound < UINT64_MAX) {
		name_bound(&t, all->bound);
		text_string(&t, "; ");
	}
	if (is_met(seen, all)) {
		text_string(&t, "an unknown share of them seen");
	} else if (seen || all->exact) {
		name_percent(&t, share_of(seen, all));
		text_string(&t, " of them seen");
	} else {
		text_string(&t, "none seen");
	}
	result_line_text(r, "in all", &number, &t);
	text_free(&number);
	text_free(&t);
}

/* ---- measures ---- */

/* Of an exploration that ended early, so that no number is below what it has
 * seen. */
static void add_share(struct result *r, uint64_t seen,
                      const struct estimate *all)
{
	if (!all->groups) return;
	struct result_values *to = result_group(r, &r->measures, "estimate");
	result_flag(r, to, "exact", all->exact);
	result_number(r, to, "histories", in_all(seen, all));
	result_number(r, to, "low", at_least(all->low, seen));
	result_number(r, to, "high", at_least(all->high, seen));
	result_number(r, to, "share", share_of(seen, all));
}

/* What was asked for: null when nothing is known. */
static void add_estimate(struct result *r, uint64_t seen,
                         const struct estimate *all)
{
	if (!all->groups) {
		result_text(r, &r->measures, "estimate", NULL);
		return;
	}
	struct result_values *to = result_group(r, &r->measures, "estimate");
	result_flag(r, to, "exact", all->exact);
	result_number(r, to, "histories", all->histories);
	result_number(r, to, "low", all->low);
	result_number(r, to, "high", all->high);
	result_number(r, to, "share", share_of(seen, all));
	result_count(r, to, "groups", all->groups);
}

static void add_outlook(struct result *r, const struct outlook *o)
{
	assert(o->jobs);
	struct result_values *to = result_group(r, &r->measures, "outlook");
	result_count(r, to, "jobs", o->jobs);
	result_number(r, to, "seconds", o->left.seconds / o->jobs);
	result_number(r, to, "seconds_low", o->left.low / o->jobs);
	result_number(r, to, "seconds_high", o->left.high / o->jobs);
	if (o->classes > 0) result_number(r, to, "classes", o->classes);
}

static void add_sample(struct result *r, const struct sample_share *s)
{
	struct result_values *to = result_group(r, &r->measures, "sample");
	result_count(r, to, "descents", s->descents);
	result_count(r, to, "distinct", s->distinct);
}

void estimate_measures(struct result *r, const struct explorer *e,
                       const struct explored_beside *beside)
{
	uint64_t seen = explorer_stats(e)->histories;
	if (beside->outlook) {
		add_estimate(r, seen, &beside->outlook->whole);
		add_outlook(r, beside->outlook);
	} else if (beside->sample) {
		add_estimate(r, beside->sample->distinct,
		             &beside->sample->whole);
		add_sample(r, beside->sample);
	} else if (beside->share) {
		add_share(r, seen, beside->share);
	}
}

/* ---- words ---- */

/* " (95 %: 1.1 to 1.6 million)" */
static void name_interval(struct text *t, const struct estimate *e)
{
	assert(e->exact || !e->groups || e->low <= e->high);
	if (e->exact || !e->groups) return;
	text_string(t, " (95 %: ");
	number_range(t, e->low, e->high);
	text_char(t, ')');
}

static void name_about(struct text *t, const struct estimate *e)
{
	if (!e->groups) {
		text_string(t, "an unknown number of");
		return;
	}
	if (e->exact) {
		number_count(t, (uint64_t)e->histories);
		return;
	}
	text_string(t, "about ");
	number_about(t, fmax(e->histories, e->low));
}

static void name_time(struct text *t, const struct outlook *o)
{
	assert(o->jobs);
	if (!(o->left.seconds > 0)) return;
	text_string(t, o->left.seconds / o->jobs < 0.1 ? ", " : ", about ");
	number_duration(t, o->left.seconds / o->jobs);
	if (o->jobs > 1) text_format(t, " with %u threads", o->jobs);
}

void outlook_words(struct text *t, const struct explorer *e,
                   const struct outlook *o)
{
	const struct explore_options *options = explorer_options(e);
	name_about(t, &o->whole);
	text_string(t, " histories");
	if (o->classes > 0) {
		text_string(t, o->whole.exact ? " in " : " in about ");
		number_about(t, o->classes);
		text_string(t, " classes");
	}
	if (options->max_changes < UINT64_MAX) {
		text_char(t, ' ');
		name_bound(t, options->max_changes);
	}
	text_string(t, " under ");
	name_level_as(t, options->level, options->as);
	name_interval(t, &o->whole);
	name_time(t, o);
}

/* ": about 7 %" */
static void name_part(struct text *t, const struct sample_share *s)
{
	double share = share_of(s->distinct, &s->whole);
	if (!s->whole.groups || isnan(share)) return;
	if (s->whole.exact)
		text_format(t, ": %.3g %%", 100 * share);
	else if (share > 0.99)
		text_string(t, ": most of them");
	else
		text_format(t, ": about %.2g %%", 100 * share);
}

/* " of about 12,400 (95 %: 11,000 to 14,200)" */
static void name_whole(struct text *t, const struct estimate *e)
{
	if (!e->groups) return;
	text_string(t, " of ");
	name_about(t, e);
	name_interval(t, e);
}

void sample_words(struct text *t, const struct sample_share *s)
{
	number_plural(t, s->distinct, "distinct history", "distinct histories");
	name_whole(t, &s->whole);
	text_string(t, " in ");
	number_plural(t, s->descents, "random descent", "random descents");
	name_part(t, s);
}
