#include "cli/explore_random.h"

#include <stdio.h>

#include "base/seconds.h"
#include "cli/exit_codes.h"
#include "cli/explore.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/outputs.h"
#include "cli/program.h"
#include "cli/settings.h"
#include "cli/watch.h"
#include "dpor/random_descents.h"
#include "dpor/verdict.h"
#include "result/explored.h"

/* So many groups give an interval that is worth telling; more of them, if
 * descents take long, for so much of the time; fewer, if that takes so many
 * seconds and the time once more. */
enum { GROUPS = 6 };
static const double ESTIMATING = 0.2, PATIENCE = 5;

/* The weights of single descents are as unbiased, but vary so much that no
 * honest interval follows from them: coupled ones tell the size. */
static struct estimate estimate_whole(const struct exploration *x,
                                      double seconds, uint64_t seed)
{
	struct estimator *e = estimator_new(x->program, &x->options, seed);
	estimator_hurry(e, PATIENCE + seconds);
	estimator_run(e, GROUPS);
	estimator_spend(e, ESTIMATING * seconds);
	struct estimate r = estimator_get(e);
	estimator_free(e);
	return r;
}

/* What was seen, of how much. */
static struct sample_share look_back(const struct exploration *x,
                                     const struct explorer *e,
                                     const struct descents *d, uint64_t seed)
{
	const struct explore_stats *s = explorer_stats(e);
	struct sample_share share = { .whole = estimate_whole(x, s->seconds,
		                                              seed),
		                      .descents = descents_made(d),
		                      .distinct = s->histories };
	double seen = (double)s->histories;
	if (share.whole.histories < seen) share.whole.histories = seen;
	if (share.whole.low < seen) share.whole.low = seen;
	if (share.whole.high < seen) share.whole.high = seen;
	return share;
}

static int make_descents(const struct exploration *x, uint64_t count,
                         uint64_t seed)
{
	struct watch *w = watch_new(x, NULL);
	if (!w) return EXIT_USAGE;
	struct explore_observer observer = watch_observer(w);
	struct explore_options one = x->options;
	one.jobs = 1;
	struct explorer *e = explorer_new(x->program, &one, NULL);
	struct descents *d = descents_new(e, &observer, seed);
	descents_run(d, count);
	struct sample_share share = look_back(x, e, d, seed);
	bool fine = watch_end(w, e);
	int code = explore_deliver(
		x, e, &(struct explored_beside){ .sample = &share });
	descents_free(d);
	explorer_free(e);
	return fine ? code : EXIT_INTERNAL;
}

int explore_random(const struct exploration *x)
{
	const struct command_line *c = x->line;
	uint64_t count = 0, seed = 1;
	if (!setting_count(c, OPTION_RANDOM, &count) ||
	    !setting_seed(c, OPTION_EXPLORE_SEED, &seed))
		return EXIT_USAGE;
	return make_descents(x, count, seed);
}
