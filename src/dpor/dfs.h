/* Depth first through all orders of transactions (EXPLORE_DFS): the baseline,
 * which finds a history once for each of its orders. What goes outwards
 * (outward.c) or orderly (orderly.c) leaves most of these out.
 */
#ifndef ISO_DPOR_DFS_H
#define ISO_DPOR_DFS_H

#include "dpor/algorithm.h"

/* Begins a transaction of each session that has one left. */
enum go dfs_next(struct engine *e);
/* Drops writers; true if there may be more of them that belong to other
 * iterations or orders, or there is only one, but it changes more reads than
 * this iteration may. */
typedef bool dfs_filter(struct engine *e, uint32_t key, word *valid);
/* Reads from each writer that the level allows, exactly, and the filter, which
 * may be NULL, leaves. */
enum go dfs_read(struct engine *e, const struct request *r, dfs_filter *filter);
void dfs_choose(struct engine *e, const struct request *r,
                const struct machine_state *waiting, uint32_t source,
                const word *valid);

#endif
