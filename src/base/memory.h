/* malloc with the only policy that makes sense for us: memory that cannot be
 * had ends the program with a message and exit code 70. Sizes are checked for
 * overflow. Everything taken here is given back with free(). */
#ifndef ISO_BASE_MEMORY_H
#define ISO_BASE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

void *mem_take(size_t size);                /* contents undefined */
void *mem_take0(size_t count, size_t size); /* zeroed array */
void *mem_grow(void *p, size_t count, size_t size);
char *mem_copy_string(const char *s);

/* Half of the memory of the machine, in bytes: what one thing may take when
 * nobody said how much. */
uint64_t mem_usual_limit(void);

/* Makes room for one more element in a growable array:
 *     VEC_RESERVE(v->items, v->count, v->capacity);
 *     v->items[v->count++] = x; */
#define VEC_RESERVE(items, count, capacity)                           \
	do {                                                          \
		if ((count) == (capacity)) {                          \
			(capacity) = (capacity) ? 2 * (capacity) : 8; \
			(items) = mem_grow((items), (capacity),       \
			                   sizeof *(items));          \
		}                                                     \
	} while (0)

#endif
