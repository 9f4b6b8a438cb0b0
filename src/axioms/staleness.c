#include "axioms/staleness.h"

#include <stdlib.h>

#include "axioms/doubts.h"
#include "axioms/doubts_search.h"
#include "base/memory.h"

struct staleness {
	struct doubts doubts;
	struct doubts_search search;
};

struct staleness *staleness_new(void)
{
	return mem_take0(1, sizeof(struct staleness));
}

void staleness_free(struct staleness *s)
{
	if (!s) return;
	free(s->doubts.memory);
	doubts_search_free(&s->search);
	free(s);
}

size_t staleness_bytes(const struct staleness *s)
{
	return sizeof *s + s->doubts.capacity + doubts_search_bytes(&s->search);
}

bool staleness_within(struct staleness *s, const struct relation *r,
                      uint64_t bound)
{
	struct doubts *d = &s->doubts;
	if (!r->order) return false;
	if (bound >= r->read_count && !r->known_count) return true;
	doubts_grow(d, r);
	if (!doubts_find(d, r, bound)) return false;
	if (d->read_count <= bound - d->lost) return true;
	return doubts_search(&s->search, d, bound - d->lost);
}
