/* Threads that explore together. Each has an engine, and takes branches from a
 * common queue, those that come first in depth-first order first. When a thread
 * finds the queue empty it is idle: then some other gives the last
 * alternative of its outermost open choice away, never earlier, so that few
 * branches change hands, and large ones.
 */
#ifndef ISO_DPOR_WORK_POOL_H
#define ISO_DPOR_WORK_POOL_H

#include <stdbool.h>

#include "dpor/engine.h"

struct pool;

/* Who is asked now and then whether to go on: by the thread that called
 * pool_run. */
struct overseer {
	void *payload;
	bool (*poll)(void *payload);
};

struct pool *pool_new(struct shared *shared, unsigned jobs);
void pool_free(struct pool *p);
/* Takes the branches over. */
void pool_add(struct pool *p, struct branch_list *l);
/* Until the queue is empty and no thread has work, or all are stopped. One job
 * needs no thread of its own. */
void pool_run(struct pool *p, const struct overseer *o);

unsigned pool_jobs(const struct pool *p);
struct engine *pool_engine(struct pool *p, unsigned worker);
/* After pool_run: adds what is left of all branches; false, with nothing added,
 * if that is too large. */
bool pool_capture(struct pool *p, struct branch_list *out);

/* For the overseer while pool_run works: the sum of all statistics as they were
 * at the last ticks, and the greatest depth of open choices. */
void pool_stats(struct pool *p, struct explore_stats *sum, uint32_t *depth);
/* For the overseer: all engines stand still from here on ... */
void pool_pause(struct pool *p);
/* ... so that this can be done: adds what was found (examples by their place)
 * and what is left ... */
bool pool_snapshot(struct pool *p, struct tally *found,
                   struct branch_list *open);
/* ... up to here. */
void pool_go_on(struct pool *p);

#endif
