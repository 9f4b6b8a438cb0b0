#include "prove/finals.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"

struct finals *finals_new(void)
{
	return mem_take0(1, sizeof(struct finals));
}

void finals_free(struct finals *f)
{
	if (!f) return;
	for (uint32_t i = 0; i < f->count; i++) summary_free(&f->items[i].s);
	for (uint32_t i = 0; i < f->total_count; i++)
		summary_free(&f->totals[i].s);
	free(f->items);
	free(f->totals);
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

struct total *finals_total(struct application *a)
{
	struct finals *f = a->finals;
	assert(f);
	VEC_RESERVE(f->totals, f->total_count, f->total_capacity);
	struct total *t = &f->totals[f->total_count++];
	*t = (struct total){ .counts = FALSE_NODE };
	summary_init(&t->s);
	return t;
}

/* What nodes are is all that they depend on: none is unknown. */
static bool same_total(const struct total *a, const struct total *b)
{
	return a->family == b->family && a->counts == b->counts &&
	       a->value == b->value && a->s.errs == b->s.errs &&
	       a->s.assumed == b->s.assumed &&
	       a->s.node_count == b->s.node_count &&
	       !memcmp(a->s.nodes, b->s.nodes,
	               a->s.node_count * sizeof *a->s.nodes);
}

uint32_t finals_total_end(struct application *a, bool wanted)
{
	struct finals *f = a->finals;
	assert(f->total_count);
	struct total *last = &f->totals[f->total_count - 1];
	uint32_t same = 0;
	while (!same_total(&f->totals[same], last)) same++;
	if (wanted && &f->totals[same] == last) return same;
	summary_free(&last->s);
	f->total_count--;
	return wanted ? same : UINT32_MAX;
}

void finals_finds_total(struct summary *s, struct found_total t)
{
	VEC_RESERVE(s->totals, s->total_count, s->total_capacity);
	s->totals[s->total_count++] = t;
}
