#include "generate/replicas.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"

struct commit {
	uint32_t seen[REPLICAS_MOST]; /* the commits that may be its causes */
	uint32_t rank;
};

/* How a site follows another. */
struct link {
	uint32_t received; /* commits of all sites when it last received */
	uint32_t patience; /* how many more until it does so again */
};

struct site {
	struct commit *commits; /* number n is commits[n - 1] */
	uint32_t count, capacity;
	uint32_t seen[REPLICAS_MOST];
	struct link links[REPLICAS_MOST];
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

/* What the links of a site brought is all that the other site has, so a
 * snapshot misses more and more until its patience is over. */
void replicas_receive(struct replicas *p, uint32_t site)
{
	uint32_t most = p->lag < p->commits ? p->lag : p->commits;
	for (uint32_t o = 0; o < p->count; o++) {
		struct link *l = &p->sites[site].links[o];
		if (o == site || p->commits - l->received <= l->patience)
			continue;
		replicas_fetch(p, site, o, p->sites[o].count);
		l->received = p->commits;
		l->patience = rng_below(p->rng, most + 1);
	}
}

uint32_t replicas_seen(const struct replicas *p, uint32_t site,
                       uint32_t origin)
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
