#include "generate/replicas.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"

struct commit {
	uint32_t seen[REPLICAS_MOST]; /* the commits that may be its causes */
	uint32_t rank;
};

struct site {
	struct commit *commits; /* number n is commits[n - 1] */
	uint32_t count, capacity;
	uint32_t seen[REPLICAS_MOST];
	uint32_t received; /* commits of all sites when it last received */
	uint32_t patience; /* how many more until it does so again */
};

struct replicas {
	uint32_t count, lag;
	uint32_t commits; /* of all sites */
	struct rng *rng;
	struct site sites[REPLICAS_MOST];
};

struct replicas *replicas_new(uint32_t sites, uint32_t lag, struct rng *r)
{
	assert(sites > 0 && sites <= REPLICAS_MOST);
	struct replicas *p = mem_take0(1, sizeof *p);
	p->count = sites;
	p->lag = lag;
	p->rng = r;
	return p;
}

void replicas_free(struct replicas *p)
{
	for (uint32_t s = 0; p && s < p->count; s++) free(p->sites[s].commits);
	free(p);
}

void replicas_fetch(struct replicas *p, uint32_t site, uint32_t origin,
                    uint32_t number)
{
	uint32_t *seen = p->sites[site].seen;
	if (number <= seen[origin]) return;
	assert(number <= p->sites[origin].count);
	const struct commit *c = &p->sites[origin].commits[number - 1];
	for (uint32_t o = 0; o < p->count; o++)
		if (c->seen[o] > seen[o]) seen[o] = c->seen[o];
	seen[origin] = number;
}

/* A site is alone for a while, and then receives all that there is: were the
 * links of a site independent, news would come by one or the other so soon that
 * two sites would hardly ever miss something of each other at a time. */
void replicas_receive(struct replicas *p, uint32_t site)
{
	uint32_t most = p->lag < p->commits ? p->lag : p->commits;
	struct site *s = &p->sites[site];
	if (p->commits - s->received <= s->patience) return;
	for (uint32_t o = 0; o < p->count; o++)
		replicas_fetch(p, site, o, p->sites[o].count);
	s->received = p->commits;
	s->patience = rng_below(p->rng, most + 1);
}

uint32_t replicas_meet(struct replicas *p)
{
	uint32_t rank = 0;
	for (uint32_t o = 0; o < p->count; o++) {
		const struct site *from = &p->sites[o];
		for (uint32_t s = 0; s < p->count; s++)
			replicas_fetch(p, s, o, from->count);
		if (from->count && from->commits[from->count - 1].rank > rank)
			rank = from->commits[from->count - 1].rank;
	}
	return rank;
}

uint32_t replicas_seen(const struct replicas *p, uint32_t site, uint32_t origin)
{
	return p->sites[site].seen[origin];
}

uint32_t replicas_commit(struct replicas *p, uint32_t site, uint32_t *rank)
{
	struct site *s = &p->sites[site];
	struct commit c = { .rank = 0 };
	for (uint32_t o = 0; o < p->count; o++) {
		uint32_t n = c.seen[o] = s->seen[o];
		if (!n) continue;
		uint32_t last = p->sites[o].commits[n - 1].rank;
		if (last > c.rank) c.rank = last;
	}
	*rank = ++c.rank;
	VEC_RESERVE(s->commits, s->count, s->capacity);
	s->commits[s->count++] = c;
	s->seen[site] = s->count;
	p->commits++;
	return s->count;
}
