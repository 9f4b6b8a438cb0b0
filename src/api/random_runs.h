/* Running a program at random, and exploring it as well to tell how much of
 * what there is the runs have seen.
 */
#ifndef ISO_API_RANDOM_RUNS_H
#define ISO_API_RANDOM_RUNS_H

#include "api/problem.h"
#include "result/ran.h"
#include "run/campaign.h"

struct run_request {
	struct campaign_options options; /* the limits are of all together */
	struct campaign_observer observer;
	bool coverage;
	/* Of the exploration for the coverage. */
	uint64_t max_histories;
	unsigned jobs;
	/* It begins, so many seconds after the runs did. May be NULL. */
	void (*exploring)(void *payload, double seconds);
};

struct random_runs {
	struct run_case found; /* shows the rest to the reports */
	struct campaign *campaign;
	struct coverage coverage;
};

/* The program is borrowed. The runs, of which the caller has to free what there
 * is, must not be moved. False if there was a problem. */
bool random_runs(struct random_runs *out, const struct program *p,
                 const struct run_request *r, struct problem *problem);
void random_runs_free(struct random_runs *r);

#endif
