/* A region: memory that is given back in the reverse order of its taking.
 *
 * Depth-first exploration allocates on the way down and forgets everything on
 * the way up, so one mark per step replaces all calls to free(). Objects in a
 * region are never freed one by one.
 */
#ifndef ISO_BASE_REGION_H
#define ISO_BASE_REGION_H

#include <stddef.h>

struct region_block;

struct region {
	struct region_block *top; /* newest block, linked to older ones */
	char *next;               /* first free byte of the newest block */
	char *end;                /* end of the newest block */
	size_t held;              /* bytes held in blocks, for memory limits */
	struct region_block *spare; /* one block kept to avoid thrashing */
};

struct region_mark {
	struct region_block *top;
	char *next;
};

void region_init(struct region *r);
void region_free(struct region *r);

/* The same as region_take, for a size that the newest block has no room for. */
__attribute__((cold)) void *region_take_more(struct region *r, size_t size);
/* Takes `size` bytes, aligned for any type, contents undefined. Never returns
 * NULL: memory that cannot be had is the business of base/memory.h. */
static inline void *region_take(struct region *r, size_t size)
{
	size = (size + 15) & ~(size_t)15;
	if ((size_t)(r->end - r->next) < size || !r->top)
		return region_take_more(r, size);
	void *p = r->next;
	r->next += size;
	return p;
}
/* The same, all bytes zero. */
void *region_take0(struct region *r, size_t size);
char *region_copy_string(struct region *r, const char *s, size_t length);

struct region_mark region_mark(const struct region *r);
/* Gives back all that was taken since the mark. */
void region_release(struct region *r, struct region_mark m);

#endif
