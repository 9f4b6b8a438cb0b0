#include "api/random_runs.h"

#include <assert.h>

#include "api/programs.h"

/* What is left to a limit of time that has just passed, in seconds. */
static const double TIME_LEAST = 0.001;

/* Explores the program in the time that is left. False if there is none, or
 * if the program is too large even to be run. */
static bool explore_all(const struct campaign *c, const struct run_request *r,
                        struct coverage *out)
{
	const struct campaign_stats *s = campaign_stats(c);
	struct budget limits = r->options.budget;
	limits.max_histories = r->max_histories;
	if (s->stop == STOP_TIME || s->stop == STOP_INTERRUPTED ||
	    s->stop == STOP_TOO_LARGE)
		return false;
	if (limits.timeout > 0) {
		limits.timeout -= s->seconds;
		if (limits.timeout < TIME_LEAST) limits.timeout = TIME_LEAST;
	}
	if (r->exploring) r->exploring(r->observer.payload, s->seconds);
	campaign_coverage(c, &limits, r->jobs, out);
	assert(out->seen_histories <= out->histories);
	return true;
}

bool random_runs(struct random_runs *out, const struct program *p,
                 const struct run_request *r, struct problem *problem)
{
	assert(r->options.runs);
	struct campaign *c = campaign_new(p, &r->options, &r->observer);
	*out = (struct random_runs){ .campaign = c };
	out->found = (struct run_case){ c, NULL, r->coverage };
	campaign_start(c);
	assert(campaign_stats(c)->runs <= r->options.runs);
	if (r->coverage && explore_all(c, r, &out->coverage))
		out->found.coverage = &out->coverage;
	return program_sound(p, problem);
}

void random_runs_free(struct random_runs *r)
{
	if (r->campaign) campaign_free(r->campaign);
	*r = (struct random_runs){ 0 };
}
