#include "base/memory.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The one place of the library that writes to stderr: nothing can be
 * allocated for a message that travels any other way. */
static _Noreturn void out_of_memory(void)
{
	fputs("isoscope: out of memory\n", stderr);
	exit(70);
}

void *mem_take(size_t size)
{
	void *p = malloc(size ? size : 1);
	if (!p) out_of_memory();
	return p;
}

void *mem_take0(size_t count, size_t size)
{
	void *p = calloc(count ? count : 1, size ? size : 1);
	if (!p) out_of_memory();
	return p;
}

void *mem_grow(void *p, size_t count, size_t size)
{
	if (size && count > SIZE_MAX / size) out_of_memory();
	size_t bytes = count * size;
	void *q = realloc(p, bytes ? bytes : 1);
	if (!q) out_of_memory();
	return q;
}

char *mem_copy_string(const char *s)
{
	size_t n = strlen(s) + 1;
	return memcpy(mem_take(n), s, n);
}

uint64_t mem_usual_limit(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
	if (pages <= 0 || size <= 0) return UINT64_MAX;
	return (uint64_t)pages * (uint64_t)size / 2;
}
