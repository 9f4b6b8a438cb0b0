/* What tells one way of exploring from another. All of them are one search
 * (search.c), a loop over a stack of open choices, which asks these functions
 * what there is to choose.
 */
#ifndef ISO_DPOR_ALGORITHM_H
#define ISO_DPOR_ALGORITHM_H

#include "dpor/engine.h"

/* Where the search goes on after a step. */
enum go { GO_DEEPER, GO_BACK, GO_STOP };

struct algorithm {
	/* No transaction is pending: begins one, or the execution is complete.
	 */
	enum go (*next)(struct engine *e);
	/* The pending transaction waits for the value of a read. */
	enum go (*read)(struct engine *e, const struct request *r);
	/* It takes its value from `source`; the rest as in swap_read(), but
	 * that who never swaps need not be given the session's state. */
	void (*choose)(struct engine *e, const struct request *r,
	               const struct machine_state *waiting, uint32_t source,
	               const word *valid);
	/* A transaction has just ended; NULL: go on. */
	enum go (*ended)(struct engine *e);
	/* Goes on to the next swap of the frame; NULL: there are none. */
	bool (*next_swap)(struct engine *e, struct frame *f);
	/* May the session's transaction come next? Cheap: what turns out not to
	 * belong there when it has ended may begin. `again`: it did begin
	 * before, and is replayed. NULL: it may. */
	bool (*may_begin)(struct engine *e, uint32_t session, bool again);
	/* All is explored: is all to be explored once more? NULL: no. */
	bool (*next_round)(struct engine *e);
	/* How many histories the complete one stands for; NULL: one. */
	uint64_t (*weight)(struct engine *e);
	/* What is its own in the engine; NULL: nothing. */
	void (*init)(struct engine *e);
	void (*end)(struct engine *e);
	size_t (*bytes)(const struct engine *e);
	bool heeds_level; /* explores under the level, not under its base */
	bool looks_ahead; /* at transactions that have not begun */
};

const struct algorithm *explore_ce(void);      /* explore_ce.c */
const struct algorithm *explore_dfs(void);     /* dfs.c */
const struct algorithm *explore_outward(void); /* outward.c */
const struct algorithm *explore_orderly(void); /* orderly.c */

/* search.c, for them. `frame` is what the choice below is of, its alternatives
 * being `count` items in the region; the caller sets the rest, the mark last.
 */
struct frame *search_open(struct engine *e, enum frame_kind kind,
                          const uint32_t *items, uint32_t count);
/* Begins the session's transaction, if it may come next. */
enum go search_begin(struct engine *e, uint32_t session);
/* The waiting read takes its value from each of the writers, a row in the
 * region. */
enum go search_writers(struct engine *e, const struct request *r,
                       const word *valid);
/* The execution is complete. */
enum go search_complete(struct engine *e);
enum go search_stop(struct engine *e, enum stop_reason why);

/* search.c, for who explores branches. */
/* One step, and back to the next alternative where it led to an end: GO_BACK
 * if there is none left. */
enum go search_advance(struct engine *e);
/* Until nothing is left of the branch (true), or something stops it. */
bool search(struct engine *e);
bool search_is_stopped(const struct engine *e);
/* The machine stopped: all do, for its reason. */
enum go search_machine_stopped(struct engine *e);

#endif
