#include "base/region.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { REGION_BLOCK = 64 * 1024 };

struct region_block {
	struct region_block *older;
	char *end;
	alignas(max_align_t) char bytes[];
};

void region_init(struct region *r)
{
	memset(r, 0, sizeof *r);
}

static void block_free(struct region *r, struct region_block *b)
{
	r->held -= (size_t)(b->end - (char *)b);
	free(b);
}

void region_free(struct region *r)
{
	while (r->top) {
		struct region_block *b = r->top;
		r->top = b->older;
		block_free(r, b);
	}
	if (r->spare) block_free(r, r->spare);
	region_init(r);
}

static struct region_block *block_get(struct region *r, size_t size)
{
	struct region_block *b = r->spare;
	if (b && (size_t)(b->end - b->bytes) >= size) {
		r->spare = NULL;
		return b;
	}
	size_t payload = size > REGION_BLOCK ? size : REGION_BLOCK;
	b = mem_take(sizeof *b + payload);
	b->end = b->bytes + payload;
	r->held += (size_t)(b->end - (char *)b);
	return b;
}

void *region_take_more(struct region *r, size_t size)
{
	struct region_block *b = block_get(r, size);
	b->older = r->top;
	r->top = b;
	r->end = b->end;
	r->next = b->bytes + size;
	return b->bytes;
}

void *region_take0(struct region *r, size_t size)
{
	return memset(region_take(r, size), 0, size);
}

char *region_copy_string(struct region *r, const char *s, size_t length)
{
	char *copy = region_take(r, length + 1);
	memcpy(copy, s, length);
	copy[length] = '\0';
	return copy;
}

struct region_mark region_mark(const struct region *r)
{
	return (struct region_mark){ r->top, r->next };
}

void region_release(struct region *r, struct region_mark m)
{
	while (r->top != m.top) {
		struct region_block *b = r->top;
		r->top = b->older;
		if (r->spare) block_free(r, r->spare);
		r->spare = b;
	}
	r->next = m.next;
	r->end = m.top ? m.top->end : NULL;
}
