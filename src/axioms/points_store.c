/* What the points are kept in, and what there is of each key. */
#include "axioms/points_inside.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* ---- Memory ---- */

struct points *points_new(void)
{
	return mem_take0(1, sizeof(struct points));
}

void points_free(struct points *p)
{
	if (!p) return;
	free(p->rows.memory);
	free(p->rows.changes);
	free(p->rows.frames);
	free(p->of);
	free(p->choices);
	free(p->dangers);
	free(p->locks);
	free(p->reads);
	free(p->keys);
	free(p->edges);
	free(p->given_up);
	free(p);
}

size_t points_bytes(const struct points *p)
{
	return level_scratch_bytes(&p->rows) + p->transactions * sizeof *p->of +
	       p->choice_capacity * sizeof *p->choices +
	       p->danger_capacity * sizeof *p->dangers +
	       p->lock_capacity * sizeof *p->locks +
	       p->read_capacity * sizeof *p->reads +
	       p->given_capacity * sizeof *p->given_up +
	       p->key_count * sizeof *p->keys;
}

static void *carve(char **next, size_t count, size_t size)
{
	void *at = *next;
	*next += count * size;
	return at;
}

static void lay_out(struct points *p)
{
	struct level_scratch *s = &p->rows;
	size_t n = p->room, rows = n * p->width;
	size_t past = (size_t)p->transactions * p->words;
	size_t need = (2 * rows + 5 * (size_t)p->width + 2 * past +
	               3 * (size_t)p->words) *
	                      sizeof(word) +
	              n * sizeof(uint64_t) + 4 * n * sizeof(uint32_t);
	if (need > s->capacity) {
		free(s->memory);
		s->memory = mem_take(need);
		s->capacity = need;
	}
	char *next = s->memory;
	s->closure = s->after = carve(&next, rows, sizeof(word));
	s->before = carve(&next, rows, sizeof(word));
	s->spare = carve(&next, 5 * (size_t)p->width, sizeof(word));
	p->past = carve(&next, past, sizeof(word));
	p->so = carve(&next, past, sizeof(word));
	p->direct = carve(&next, p->words, sizeof(word));
	p->seen = carve(&next, p->words, sizeof(word));
	p->hiding = carve(&next, p->words, sizeof(word));
	s->keys = carve(&next, n, sizeof(uint64_t));
	p->owner = carve(&next, n, sizeof(uint32_t));
	p->line = carve(&next, n, sizeof(uint32_t));
	p->rank = carve(&next, n, sizeof(uint32_t));
	p->count = carve(&next, n, sizeof(uint32_t));
	assert(next == s->memory + need);
}

/* ---- What there is of a key ---- */

struct point_key *points_key_at(struct points *p, uint32_t key)
{
	if (key >= p->key_count) {
		uint32_t count = 2 * key + 16;
		size_t more = count - p->key_count;
		p->keys = mem_grow(p->keys, count, sizeof *p->keys);
		memset(p->keys + p->key_count, 0xff, more * sizeof *p->keys);
		p->key_count = count;
	}
	return &p->keys[key];
}

void points_enter_lock(struct points *p, struct point_lock l)
{
	struct point_key *k = points_key_at(p, l.key);
	uint32_t i = p->lock_count;
	l.previous = k->last_lock;
	l.next = l.end = l.held = NONE;
	if (l.previous == NONE)
		k->first_lock = i;
	else
		p->locks[l.previous].next = i;
	k->last_lock = i;
	VEC_RESERVE(p->locks, p->lock_count, p->lock_capacity);
	p->locks[p->lock_count++] = l;
}

void points_enter_read(struct points *p, struct point_read r)
{
	struct point_key *k = points_key_at(p, r.key);
	uint32_t i = p->read_count;
	r.previous = k->last_read;
	r.next = NONE;
	if (r.previous == NONE)
		k->first_read = i;
	else
		p->reads[r.previous].next = i;
	k->last_read = i;
	VEC_RESERVE(p->reads, p->read_count, p->read_capacity);
	p->reads[p->read_count++] = r;
}

void points_drop_uses(struct points *p, uint32_t locks, uint32_t reads)
{
	assert(locks <= p->lock_count && reads <= p->read_count);
	while (p->lock_count > locks) {
		const struct point_lock *l = &p->locks[--p->lock_count];
		struct point_key *k = &p->keys[l->key];
		assert(k->last_lock == p->lock_count);
		k->last_lock = l->previous;
		if (l->previous == NONE)
			k->first_lock = NONE;
		else
			p->locks[l->previous].next = NONE;
	}
	while (p->read_count > reads) {
		const struct point_read *r = &p->reads[--p->read_count];
		struct point_key *k = &p->keys[r->key];
		assert(k->last_read == p->read_count);
		k->last_read = r->previous;
		if (r->previous == NONE)
			k->first_read = NONE;
		else
			p->reads[r->previous].next = NONE;
	}
}

void points_clear(struct points *p, uint32_t transactions, uint32_t points)
{
	p->words = BITS_WORDS(transactions);
	p->width = BITS_WORDS(points + 1);
	p->room = 64 * p->width;
	if (transactions > p->transactions || !p->of) {
		p->of = mem_grow(p->of, transactions + 1, sizeof *p->of);
		p->transactions = transactions;
	}
	lay_out(p);
	p->node_count = 1;
	points_drop_uses(p, 0, 0);
	p->choice_count = p->rows.change_count = p->rows.frame_count = 0;
	p->given_count = 0;
	p->rows.logging = !p->grows;
	p->failed = false;
	p->saturated = SIZE_MAX;
	p->lined = 0;
	p->edge_count = 0;
	p->pending = (struct points_pending){ 0 };
	p->of[0] =
		(struct point_transaction){ .begin = NONE, .committed = true };
	p->owner[0] = 0;
	bits_zero(p->rows.after, p->width);
	bits_zero(p->rows.before, p->width);
	bits_zero(p->past, p->words);
}

uint32_t points_count(const struct points *p)
{
	return p->node_count ? p->node_count - 1 : 0;
}

void points_be_runnable(struct points *p)
{
	assert(!p->room);
	p->runnable = true;
}

void points_be_ssi(struct points *p)
{
	assert(!p->room);
	p->ssi = true;
}

void points_only_grow(struct points *p)
{
	assert(!p->room);
	p->grows = true;
}

void points_may_give_up(struct points *p)
{
	assert(!p->pending.t);
	p->gives_up = true;
}
