/* Cycles of dependencies that can happen: anomalies.
 *
 * Each cycle that can happen has an instance that an rw edge leaves before it
 * is entered (conflicts.h): its *pivot*. A shortest one has no chord: no two of
 * its instances that are not next to each other conflict over a column of one
 * row, since a cycle through that conflict would be shorter, and happen as
 * well. So a search of paths without chords is exact: it ends by itself, or
 * says that there may be cycles of more than CYCLE_MOST instances.
 */
#ifndef ISO_AUDIT_CYCLES_H
#define ISO_AUDIT_CYCLES_H

#include <stdatomic.h>

#include "audit/conflicts.h"

enum { CYCLE_MOST = 5, CYCLE_TRIED = 20000 };

/* Instance i has the class edges[i].from; the last edge leads to the first
 * instance, which is the pivot. */
struct audit_cycle {
	uint32_t edges[CYCLE_MOST];
	uint32_t count;
};

enum cycle_answer {
	CYCLE_FOUND,
	CYCLE_NONE,   /* moments alone exclude it */
	CYCLE_LOCKED, /* rows that are the same exclude it */
	CYCLE_OPEN    /* not decided: a limit came first */
};

struct cycle_search {
	struct audit_limit *limit; /* borrowed */
	const struct conflicts *graph;
	uint64_t tried;
	/* Classes that each class reaches, by edges that are alive; a bit each.
	 */
	uint64_t *reach;
	unsigned words;
};

void cycles_init(struct cycle_search *s, const struct conflicts *g,
                 struct audit_limit *limit);
void cycles_free(struct cycle_search *s);
/* After edges have changed. */
void cycles_prepare(struct cycle_search *s);
/* A shortest cycle with this edge, an rw edge that is left early, behind its
 * pivot. */
enum cycle_answer cycle_find(struct cycle_search *s, uint32_t edge,
                             struct audit_cycle *out);
/* Can it happen? For tests as well. */
bool cycle_can_happen(const struct conflicts *g, const struct audit_cycle *c);

#endif
