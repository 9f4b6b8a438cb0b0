#include "axioms/closure_sparse.h"

#include <assert.h>

#include "axioms/forward.h"
#include "base/memory.h"

/* The first `count` transactions, the last with `reads` reads in all, into the
 * index, which holds none. */
static void replay_sparse(struct closure *c, uint32_t count, uint32_t reads)
{
	for (uint32_t i = 1; i < count; i++) {
		const struct closure_block *b = &c->blocks[i];
		uint32_t end =
			i + 1 < count ? c->blocks[i + 1].first_read : reads;
		forward_begin(c->forward, c->order[i], b->previous,
		              b->after_all);
		for (uint32_t r = b->first_read; r < end; r++)
			forward_read(c->forward, c->reads[r].key,
			             c->reads[r].source);
		forward_end(c->forward, b->written, b->written_count);
	}
}

void closure_turn_sparse(struct closure *c, enum level level)
{
	c->forward = forward_new(level);
	replay_sparse(c, c->count, c->read_count);
	free(c->reach);
	free(c->newest);
	free(c->targets);
	free(c->writers);
	c->reach = c->into = c->past = c->direct = c->so = c->seen = NULL;
	c->scratch = c->writers = NULL;
	c->words = 0;
	c->targets = NULL;
	c->newest = NULL;
	c->newest_size = 0;
	c->key_count = c->key_capacity = 0;
	for (uint32_t i = 0; i < c->count; i++) c->blocks[i].snapshot = NULL;
}

void closure_go_sparse(struct closure *c, uint32_t from)
{
	c->forward_from = from;
	if (c->n > from && !c->forward) closure_turn_sparse(c, c->level);
}

void closure_go_in_order(struct closure *c, enum level level)
{
	assert(c->count == 1 && !c->forward);
	c->forward_from = 0;
	closure_turn_sparse(c, level);
}

bool closure_writes_sparse(const struct closure *c, uint32_t key, uint32_t t)
{
	return c->forward && forward_writes(c->forward, key, t);
}

void closure_write(struct closure *c, uint32_t key)
{
	if (c->forward) forward_write(c->forward, key);
}

bool closure_may_end(struct closure *c, const uint32_t *written, uint32_t count)
{
	return !c->forward || forward_may_end(c->forward, written, count);
}

void closure_room_sparse(struct closure *c, uint32_t t)
{
	uint32_t n = c->n + c->n / 2;
	if (n <= t) n = t + 1;
	c->order = mem_grow(c->order, n, sizeof *c->order);
	c->position = mem_grow(c->position, n, sizeof *c->position);
	c->blocks = mem_grow(c->blocks, n, sizeof *c->blocks);
	c->n = n;
}

void closure_begin_sparse(struct closure *c, uint32_t t, uint32_t previous,
                          bool after_all)
{
	forward_begin(c->forward, t, previous, after_all);
	c->order[c->count] = t;
	c->position[t] = c->count;
	c->blocks[c->count++] =
		(struct closure_block){ .first_read = c->read_count,
		                        .previous = previous,
		                        .after_all = after_all };
}

void closure_rewind_sparse(struct closure *c, uint32_t count, uint32_t reads,
                           bool is_pending)
{
	struct forward *f = c->forward;
	struct closure_block *last = &c->blocks[c->count - 1];
	bool is_last = c->count > 1 &&
	               forward_last(f) == c->order[c->count - 1] &&
	               (is_pending ? count : count + 1) == c->count;
	if (is_last) {
		forward_reopen(f, last->written, last->written_count);
		uint32_t kept = is_pending ? reads - last->first_read : 0;
		forward_unread(f, kept);
		if (!is_pending) forward_drop(f);
	} else if (is_pending || count < c->count) {
		forward_clear(f);
	}
	last = &c->blocks[count - 1];
	if (is_pending) {
		last->written = NULL;
		last->written_count = 0;
	}
	if (!is_last && (is_pending || count < c->count))
		replay_sparse(c, count, reads);
	c->count = count;
	c->read_count = reads;
}
