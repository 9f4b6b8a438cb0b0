/* All that single sessions can do: the exact projection of a program's
 * histories under a level on each of its sessions.
 *
 * Runs grow as they do to decide assertions (decision.h), until there are no
 * others. Some of them are only those of a beginning of a history: what comes
 * after it may meet a false assumption, or write what another has written, so
 * that nothing of the whole commits. So each is asked for in a history that is
 * whole; that is run, and checked, before it counts.
 */
#ifndef ISO_SOLVE_LOCAL_RUNS_H
#define ISO_SOLVE_LOCAL_RUNS_H

#include "solve/decision.h"
#include "solve/runs.h"

enum run_knowledge {
	RUN_UNKNOWN,
	RUN_SEEN,  /* a history has it */
	RUN_UNSEEN /* none has: it is known when all runs are */
};

struct local_runs {
	/* Without goals. Its verdict: holds, if all is known and there is a
	 * history; `runs` are those that were seen. */
	struct decision decision;
	struct runs runs;
	enum run_knowledge *known; /* by number of the node: of whole runs */
	uint32_t known_count;
};

/* As decide(), of whose options `robust` has no meaning here. */
void local_runs_find(struct local_runs *out, const struct program *p,
                     const struct decide_options *o);
void local_runs_free(struct local_runs *l);
/* Has some history the run that ends in the node? False: none was seen. */
bool local_runs_seen(const struct local_runs *l, const struct run_node *leaf);

#endif
