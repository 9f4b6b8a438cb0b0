/* Local runs out of random histories: one is had in a hundredth of the time in
 * which a solver answers a question, and shows a run of each session. What is
 * left for the solver are the runs that few histories have, and that there are
 * no others.
 *
 * A read is answered by what leads to a new run, else by what was read seldom.
 * Histories are run in batches. The next batch is larger as long as they show
 * something new; then more and more questions go by before the next one.
 */
#ifndef ISO_SOLVE_SAMPLING_H
#define ISO_SOLVE_SAMPLING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/rng.h"
#include "run/runner.h"
#include "solve/runs.h"

/* Where a session stands in a history that is run. */
struct sampled_session {
	struct run_node *at; /* NULL: nowhere that is known */
	uint32_t passed;     /* transactions that have led there */
};

/* Histories whose runs come to the node, and those of them that had a new run
 * behind it. */
struct sampled_node {
	uint32_t visits, fresh;
};

struct sampling {
	struct runs *runs;     /* borrowed */
	struct runner *runner; /* of their program and level, borrowed */
	uint64_t seed;
	struct rng rng;
	uint32_t batch;       /* histories at a time; 0: none are run */
	uint32_t pause, wait; /* questions from a vain batch to the next, and
	                       * those that are left of them */
	struct sampled_session *sessions;
	struct run_node **way; /* of the session that is noted */
	uint32_t way_count, way_capacity;
	struct sampled_node *nodes; /* by number */
	uint32_t node_count;
	uint64_t *met; /* by key of the runner: the transaction that read it */
	uint64_t transaction;
	uint32_t met_count;
	uint64_t *costs; /* of writers */
	uint32_t cost_capacity;
};

/* `none`: without histories. */
void sampling_begin(struct sampling *s, struct runs *r, struct runner *runner,
                    bool none);
void sampling_end(struct sampling *s);
/* Runs a batch, if it is time for one; true if there are new runs. */
bool sampling_grow(struct sampling *s);
/* Has one of the histories the whole run that ends in the node? */
bool sampling_has_seen(const struct sampling *s, const struct run_node *leaf);

#endif
