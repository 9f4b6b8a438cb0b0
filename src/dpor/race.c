#include "dpor/race.h"

#include "dpor/explorer.h"
#include "vm/program.h"

/* Some milliseconds, in which explore-ce comes to some hundreds of histories.
 * Fewer than so many of the other's tell nothing. */
enum { STEPS = 2048, HISTORIES_LEAST = 16 };

/* How many histories the algorithm comes to in so many steps; all there are:
 * *ends. */
static uint64_t histories_of(const struct program *p,
                             const struct explore_options *asked,
                             enum explorer_algorithm a, bool *ends)
{
	struct explore_options o = *asked;
	o.algorithm = a;
	o.base = a == EXPLORE_CE ? level_base(o.level) : o.level;
	o.max_histories = 0;
	o.max_steps = STEPS;
	o.stop_on_violation = o.robust = o.classify = false;
	o.check_duplicates = false;
	o.jobs = 1;
	struct explorer *e = explorer_new(p, &o, NULL);
	explorer_run(e);
	const struct explore_stats *s = explorer_stats(e);
	uint64_t histories = s->end_states - s->filtered;
	*ends = s->stop != STOP_HISTORIES;
	explorer_free(e);
	return histories;
}

/* Others of the strong levels forbid so much that to filter never pays. */
static bool may_be_filtered(const struct program *p, enum level l)
{
	return level_needs_order(l) && level_has_snapshots(l) &&
	       !level_orders_rivals(l) && !program_is_native(p) &&
	       !program_is_sql(p) && !program_locks(p) && !program_may_mix(p);
}

enum explorer_algorithm race_winner(const struct program *p,
                                    const struct explore_options *o)
{
	bool ends;
	if (!may_be_filtered(p, o->level)) return EXPLORE_ORDERLY;
	uint64_t orderly = histories_of(p, o, EXPLORE_ORDERLY, &ends);
	if (ends || orderly < HISTORIES_LEAST) return EXPLORE_ORDERLY;
	uint64_t ce = histories_of(p, o, EXPLORE_CE, &ends);
	/* A step of explore-ce costs less, but it filters more as it goes. */
	return !ends && 20 * ce > 21 * orderly ? EXPLORE_CE : EXPLORE_ORDERLY;
}
