#include "audit/cover.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"

/* Branch and bound: the smallest set that is not met branches over its members;
 * sets that share none bound from below. */
enum { STEPS_MOST = 200000 };

struct search {
	struct cover *c;
	bool *in, *out;  /* of each thing */
	uint32_t *stamp; /* of each thing: the bound that used it */
	uint32_t bounds;
	uint64_t cost, steps;
};

void cover_init(struct cover *c, const uint32_t *weights, uint32_t things)
{
	*c = (struct cover){ .weights = weights,
		             .things = things,
		             .exact = true };
	c->best = mem_take0(things + 1, sizeof *c->best);
}

void cover_free(struct cover *c)
{
	free(c->members);
	free(c->ends);
	free(c->best);
}

void cover_add(struct cover *c, const uint32_t *members, uint32_t count)
{
	assert(count);
	for (uint32_t i = 0; i < count; i++) {
		assert(members[i] < c->things);
		VEC_RESERVE(c->members, c->member_count, c->member_capacity);
		c->members[c->member_count++] = members[i];
	}
	VEC_RESERVE(c->ends, c->set_count, c->set_capacity);
	c->ends[c->set_count++] = c->member_count;
}

static uint32_t begin_of(const struct cover *c, uint32_t set)
{
	return set ? c->ends[set - 1] : 0;
}

static bool is_met(const struct search *s, uint32_t set)
{
	const struct cover *c = s->c;
	for (uint32_t i = begin_of(c, set); i < c->ends[set]; i++)
		if (s->in[c->members[i]]) return true;
	return false;
}

/* What it costs at least to meet the other sets; and the one with the fewest
 * members left, `set_count` if all are met. */
static uint64_t bound(struct search *s, uint32_t *smallest)
{
	const struct cover *c = s->c;
	uint64_t least = 0;
	uint32_t fewest = UINT32_MAX;
	*smallest = c->set_count;
	s->bounds++;
	for (uint32_t set = 0; set < c->set_count; set++) {
		uint32_t left = 0, cheapest = UINT32_MAX;
		bool apart = true;
		if (is_met(s, set)) continue;
		for (uint32_t i = begin_of(c, set); i < c->ends[set]; i++) {
			uint32_t x = c->members[i];
			if (s->out[x]) continue;
			left++;
			apart &= s->stamp[x] != s->bounds;
			if (c->weights[x] < cheapest) cheapest = c->weights[x];
		}
		if (!left) return UINT64_MAX;
		if (left < fewest) {
			fewest = left;
			*smallest = set;
		}
		if (!apart) continue;
		least += cheapest;
		for (uint32_t i = begin_of(c, set); i < c->ends[set]; i++)
			if (!s->out[c->members[i]])
				s->stamp[c->members[i]] = s->bounds;
	}
	return least;
}

static void descend(struct search *s)
{
	struct cover *c = s->c;
	uint32_t set;
	if (++s->steps > STEPS_MOST) {
		c->exact = false;
		return;
	}
	uint64_t least = bound(s, &set);
	if (least == UINT64_MAX || s->cost + least >= c->cost) return;
	if (set == c->set_count) {
		c->cost = s->cost;
		memcpy(c->best, s->in, c->things * sizeof *s->in);
		return;
	}
	uint32_t begin = begin_of(c, set), end = c->ends[set];
	bool *closed = mem_take0(end - begin, sizeof *closed);
	for (uint32_t i = begin; i < end; i++) {
		uint32_t x = c->members[i];
		if (s->out[x]) continue;
		s->in[x] = true;
		s->cost += c->weights[x];
		descend(s);
		s->cost -= c->weights[x];
		s->in[x] = false;
		/* The others are asked without it. */
		s->out[x] = closed[i - begin] = true;
	}
	for (uint32_t i = begin; i < end; i++)
		if (closed[i - begin]) s->out[c->members[i]] = false;
	free(closed);
}

/* To begin with: the thing that meets most for its price, again and again. */
static void greedy(struct cover *c)
{
	struct search s = { .c = c, .in = c->best };
	uint32_t *meets = mem_take((c->things + 1) * sizeof *meets);
	memset(c->best, 0, c->things * sizeof *c->best);
	c->cost = 0;
	for (;;) {
		uint32_t best = UINT32_MAX;
		memset(meets, 0, c->things * sizeof *meets);
		for (uint32_t set = 0; set < c->set_count; set++) {
			if (is_met(&s, set)) continue;
			for (uint32_t i = begin_of(c, set); i < c->ends[set];
			     i++)
				meets[c->members[i]]++;
		}
		for (uint32_t x = 0; x < c->things; x++)
			if (meets[x] &&
			    (best == UINT32_MAX ||
			     (uint64_t)meets[x] * c->weights[best] >
			             (uint64_t)meets[best] * c->weights[x]))
				best = x;
		if (best == UINT32_MAX) break;
		c->best[best] = true;
		c->cost += c->weights[best];
	}
	free(meets);
}

void cover_solve(struct cover *c)
{
	struct search s = { .c = c };
	greedy(c);
	c->exact = true;
	s.in = mem_take0(c->things + 1, sizeof *s.in);
	s.out = mem_take0(c->things + 1, sizeof *s.out);
	s.stamp = mem_take0(c->things + 1, sizeof *s.stamp);
	descend(&s);
	assert(!s.cost);
	free(s.in);
	free(s.out);
	free(s.stamp);
}
