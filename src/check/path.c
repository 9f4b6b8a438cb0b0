#include "check/path.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"

void path_init(struct path_search *p, const struct graph *g)
{
	size_t n = g->f->n, sessions = g->f->session_count;
	*p = (struct path_search){ .g = g, .found = GRAPH_NONE };
	p->seen = mem_take0(n, sizeof *p->seen);
	p->goal = mem_take0(n, sizeof *p->goal);
	p->next = mem_take0(n, sizeof *p->next);
	p->queue = mem_take0(n, sizeof *p->queue);
	p->session_seen = mem_take0(sessions, sizeof *p->session_seen);
	p->session_from = mem_take0(sessions, sizeof *p->session_from);
}

void path_free(struct path_search *p)
{
	free(p->seen);
	free(p->goal);
	free(p->next);
	free(p->queue);
	free(p->session_seen);
	free(p->session_from);
}

void path_begin(struct path_search *p)
{
	p->search++;
	p->queued = 0;
	p->all_seen = false;
	p->found = GRAPH_NONE;
}

void path_goal(struct path_search *p, uint32_t t)
{
	assert(t < p->g->f->n);
	p->goal[t] = p->search;
}

void path_start(struct path_search *p, uint32_t t)
{
	assert(t < p->g->f->n);
	if (p->seen[t] == p->search) return;
	p->seen[t] = p->search;
	p->next[t] = t;
	p->queue[p->queued++] = t;
}

static void reach(struct path_search *p, uint32_t t, uint32_t next)
{
	p->steps++;
	if (p->seen[t] == p->search) return;
	if (p->components && p->components[t] != p->components[next]) return;
	assert(p->queued < p->g->f->n);
	p->seen[t] = p->search;
	p->next[t] = next;
	p->queue[p->queued++] = t;
	if (p->goal[t] == p->search && p->found == GRAPH_NONE) p->found = t;
}

/* Each session is gone through once, from its beginning to the last that was
 * reached. */
static void expand_session(struct path_search *p, uint32_t t)
{
	const struct facts *f = p->g->f;
	uint32_t s = f->session_of[t], *from = &p->session_from[s];
	if (p->session_seen[s] != p->search) {
		p->session_seen[s] = p->search;
		*from = f->session_first[s];
	}
	for (; *from < t; ++*from) reach(p, *from, t);
	if (s != f->after_all || p->all_seen) return;
	p->all_seen = true;
	for (uint32_t u = 1; u < f->n; u++)
		if (f->session_of[u] != s) reach(p, u, t);
}

static void expand(struct path_search *p, uint32_t t)
{
	const struct graph *g = p->g;
	const struct facts *f = g->f;
	expand_session(p, t);
	for (uint32_t i = f->read_first[t]; i < f->read_first[t + 1]; i++)
		if (f->reads[i].from) reach(p, f->reads[i].from, t);
	if (!p->edges) return;
	for (uint32_t i = g->head[t]; i != GRAPH_NONE; i = g->edges[i].next)
		reach(p, g->edges[i].from, t);
}

uint32_t path_find(struct path_search *p, uint32_t limit)
{
	uint32_t done = 0;
	for (uint32_t depth = 0; depth < limit && done < p->queued; depth++)
		for (uint32_t end = p->queued; done < end; done++) {
			expand(p, p->queue[done]);
			if (p->found != GRAPH_NONE) return p->found;
		}
	return GRAPH_NONE;
}
