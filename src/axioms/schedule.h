/* How a history may have come about: what its transactions do, one thing after
 * the other, under levels by which they do it at points (points.h).
 */
#ifndef ISO_AXIOMS_SCHEDULE_H
#define ISO_AXIOMS_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "axioms/level.h"
#include "history/history.h"

struct points;

enum { SCHEDULE_ENDS = 0 };
#define SCHEDULE_BEGINS UINT32_MAX

/* The transaction takes its snapshot (SCHEDULE_BEGINS), starts this statement,
 * counted from 1, or ends: a serial one runs there as a whole. */
struct schedule_moment {
	uint32_t transaction, statement;
};

static inline bool schedule_is_statement(struct schedule_moment m)
{
	return m.statement != SCHEDULE_ENDS && m.statement != SCHEDULE_BEGINS;
}

struct schedule {
	struct schedule_moment *items;
	size_t count, capacity;
	/* By transaction: how many statements it has, 0 where they have no
	 * moments of their own; and how many it has started. */
	uint32_t *statements, *started;
};

/* Of so many transactions, init included; `statements` are to be filled in. */
void schedule_init(struct schedule *s, uint32_t transactions);
void schedule_free(struct schedule *s);
/* What the transaction does next. Its statements before, of which no point
 * tells, start right before it: then what they wait for has ended. */
void schedule_add(struct schedule *s, uint32_t transaction, uint32_t statement);

/* A line that can be run is looked for among so many points at most, in so many
 * steps. */
enum { SCHEDULE_POINTS = 1024, SCHEDULE_STEPS = 1024 };
/* points_stop_when() with a counter of steps. */
bool schedule_is_late(void *steps);

/* Of a history that satisfies its levels; if `mixed`, those that transactions
 * have of their own count. In the one that is found no statement has to be held
 * before its locks, if there is such a one, and not too far. False, with
 * nothing to be freed: the levels tell of no moments, or it is too long. */
bool schedule_of_history(enum level others, bool mixed, const struct history *h,
                         struct schedule *out);

#endif
