/* Runners of guest code (guest.h), which are lent to machines and keep what
 * they learnt. */
#ifndef ISO_VM_GUEST_POOL_H
#define ISO_VM_GUEST_POOL_H

#include <pthread.h>
#include <stddef.h>

#include "vm/machine.h"

/* The first member of a runner. */
struct pooled_guest {
	struct pooled_guest *next, *next_idle;
};

struct guest_pool {
	pthread_mutex_t lock;
	struct pooled_guest *all, *idle;
};

void guest_pool_init(struct guest_pool *p);
/* An idle one, or one that `make` makes of `library`. */
struct pooled_guest *
guest_pool_take(struct guest_pool *p,
                struct pooled_guest *(*make)(void *library), void *library);
void guest_pool_give_back(struct guest_pool *p, struct pooled_guest *g);
/* All were given back, or nobody runs them any more. */
void guest_pool_free(struct guest_pool *p,
                     void (*free_one)(struct pooled_guest *g));
/* Bytes that a runner may keep of what it saw, at most so many. */
size_t guest_budget(const struct machine_limits *limits, size_t most);

#endif
