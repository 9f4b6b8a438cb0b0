#include "native/memo.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"

/* Steps by the answers that lead to them; open addressing. */
struct memo_children {
	uint32_t count, capacity; /* a power of two, twice the count at least */
	struct memo_step *slots[];
};

static struct memo_step **slot_of(struct memo_children *c, struct value answer)
{
	uint64_t at = value_hash(answer);
	for (;; at++) {
		struct memo_step **slot = &c->slots[at & (c->capacity - 1)];
		if (!*slot || value_equal((*slot)->answer, answer)) return slot;
	}
}

struct memo_step *memo_find(const struct memo_step *from, struct value answer)
{
	if (!memo_waits(from)) return from->next;
	return from->children ? *slot_of(from->children, answer) : NULL;
}

static size_t children_bytes(uint32_t capacity)
{
	return sizeof(struct memo_children) +
	       capacity * sizeof(struct memo_step *);
}

/* Returns by how many bytes the table grew. */
static size_t make_room(struct memo_step *from)
{
	struct memo_children *old = from->children;
	uint32_t before = old ? old->capacity : 0;
	if (old && 2 * (old->count + 1) <= before) return 0;
	uint32_t capacity = before ? 2 * before : 4;
	struct memo_children *c = mem_take0(1, children_bytes(capacity));
	c->capacity = capacity;
	for (uint32_t i = 0; i < before; i++)
		if (old->slots[i])
			*slot_of(c, old->slots[i]->answer) = old->slots[i];
	c->count = old ? old->count : 0;
	free(old);
	from->children = c;
	return children_bytes(capacity) - (before ? children_bytes(before) : 0);
}

size_t memo_add(struct memo_step *from, struct memo_step *to)
{
	assert(!memo_find(from, to->answer));
	if (!memo_waits(from)) {
		from->next = to;
		return 0;
	}
	assert(from->kept && to->kept);
	size_t grown = make_room(from);
	*slot_of(from->children, to->answer) = to;
	from->children->count++;
	return grown;
}

/* Any step that follows; NULL if there is none (left). */
static struct memo_step *some_child(struct memo_step *s)
{
	struct memo_children *c = s->children;
	if (!memo_waits(s)) return s->next;
	while (c && c->count) {
		struct memo_step *child = c->slots[--c->capacity];
		if (!child) continue;
		c->count--;
		return child;
	}
	return NULL;
}

/* Goes down to the leaves and frees on the way back: trees may be deeper than
 * the stack. A table is emptied from its end. */
void memo_free(struct memo_step *root)
{
	struct memo_step *s = root;
	while (s) {
		struct memo_step *child = some_child(s);
		if (child) {
			if (!memo_waits(s)) s->next = NULL;
			s = child;
			continue;
		}
		free(s->children);
		s->children = NULL;
		s = s == root ? NULL : (struct memo_step *)s->before;
	}
}
