#include "vm/guest_pool.h"

#include <assert.h>

#include "base/memory.h"

void guest_pool_init(struct guest_pool *p)
{
	*p = (struct guest_pool){ 0 };
	pthread_mutex_init(&p->lock, NULL);
}

struct pooled_guest *
guest_pool_take(struct guest_pool *p,
                struct pooled_guest *(*make)(void *library), void *library)
{
	mem_lock(&p->lock);
	struct pooled_guest *g = p->idle;
	if (g) p->idle = g->next_idle;
	mem_unlock(&p->lock);
	if (g) return g;
	g = make(library);
	mem_lock(&p->lock);
	g->next = p->all;
	p->all = g;
	mem_unlock(&p->lock);
	return g;
}

void guest_pool_give_back(struct guest_pool *p, struct pooled_guest *g)
{
	mem_lock(&p->lock);
	assert(p->all && p->idle != g);
	g->next_idle = p->idle;
	p->idle = g;
	mem_unlock(&p->lock);
}

void guest_pool_free(struct guest_pool *p,
                     void (*free_one)(struct pooled_guest *g))
{
	while (p->all) {
		struct pooled_guest *g = p->all;
		p->all = g->next;
		free_one(g);
	}
	pthread_mutex_destroy(&p->lock);
}

size_t guest_budget(const struct machine_limits *limits, size_t most)
{
	return limits->memory && limits->memory < most ? (size_t)limits->memory
	                                               : most;
}
