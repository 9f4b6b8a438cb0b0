#include <math.h>

#include "cli/explore.h"
#include "dpor/branch.h"

/* Seconds: a part of what was explored in, within bounds; who interrupts does
 * not want to wait. */
static const double PART = 0.25, LEAST = 0.05, MOST = 1, AT_ONCE = 0.2;
enum { SEED = 1 };

/* Is there more, of a size that can be looked into? */
static bool is_worth_it(const struct explore_stats *s)
{
	return s->stop == STOP_STALE || s->stop == STOP_HISTORIES ||
	       s->stop == STOP_TIME || s->stop == STOP_INTERRUPTED;
}

/* As if there was no bound, in the way that is fastest. */
static void unbind(struct explore_options *o)
{
	o->max_changes = UINT64_MAX;
	if (o->symmetry) return;
	o->algorithm = EXPLORE_CE;
	o->base = level_base(o->level);
}

struct estimate explore_share(const struct explorer *e)
{
	const struct explore_stats *s = explorer_stats(e);
	struct explore_options o = *explorer_options(e);
	struct estimate none = { 0 };
	bool bounded = o.max_changes < UINT64_MAX;
	if (!is_worth_it(s) || !explorer_open(e)) return none;
	if (bounded) unbind(&o);
	o.interrupt = NULL;
	struct estimator *all = estimator_new(explorer_program(e), &o, SEED);
	if (!all) return none;
	if (!bounded)
		estimator_advance(all, explorer_open(e), s->histories,
		                  s->end_states);
	double most = s->stop == STOP_INTERRUPTED ? AT_ONCE : MOST;
	estimator_spend(all, fmin(fmax(PART * s->seconds, LEAST), most));
	struct estimate found = estimator_get(all);
	estimator_free(all);
	return found;
}
