#include "prove/finals.h"

#include <assert.h>

#include "base/memory.h"

struct finals *finals_new(void)
{
	return mem_take0(1, sizeof(struct finals));
}

void finals_free(struct finals *f)
{
	if (!f) return;
	for (uint32_t i = 0; i < f->count; i++) {
		free(f->items[i].s.nodes);
		free(f->items[i].s.accesses);
	}
	free(f->items);
	free(f);
}

struct claim *finals_claim(struct application *a)
{
	struct finals *f = a->finals;
	assert(f);
	VEC_RESERVE(f->items, f->count, f->capacity);
	struct claim *k = &f->items[f->count++];
	*k = (struct claim){ .fails = FALSE_NODE };
	summary_init(&k->s);
	return k;
}
