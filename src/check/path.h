/* Shortest paths in the graph of a commit order, backwards, breadth first.
 * Session order is taken as it is, transitive: one step leads to any earlier
 * transaction of the session.
 */
#ifndef ISO_CHECK_PATH_H
#define ISO_CHECK_PATH_H

#include "check/graph.h"

struct path_search {
	const struct graph *g;
	/* Settings, to be changed between searches. */
	const uint32_t *components; /* stay in one of them; NULL: anywhere */
	bool edges;                 /* follow g's edges too, not only so U wr */
	uint64_t steps;             /* done by all searches so far */
	/* By transaction; those with another number than `search` are old. */
	uint32_t search;
	uint32_t *seen, *goal;
	uint32_t *next; /* the one it was reached from, that follows it */
	uint32_t *queue;
	uint32_t queued;
	uint32_t *session_seen; /* by session, likewise */
	uint32_t *session_from; /* all before this one have been seen */
	bool all_seen;          /* all that the session after all follows */
	uint32_t found;         /* or GRAPH_NONE */
};

void path_init(struct path_search *p, const struct graph *g);
void path_free(struct path_search *p);

/* A new search: begin, name goals and starts, find. Paths lead from a goal to a
 * start; a goal that is a start is not found. */
void path_begin(struct path_search *p);
void path_goal(struct path_search *p, uint32_t t);
void path_start(struct path_search *p, uint32_t t);
/* The goal that a path of fewest edges leads from, at most `limit` of them; or
 * GRAPH_NONE. p->next leads from it to the start, whose own is itself. Linear
 * in the graph. */
uint32_t path_find(struct path_search *p, uint32_t limit);

#endif
