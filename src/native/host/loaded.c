#include "native/host/loaded.h"

#include <assert.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "native/shared.h"

static void forget(struct loaded *l)
{
	for (uint32_t i = 0; i < l->count; i++) free(l->objects[i].path);
	l->count = l->noted = 0;
}

void loaded_free(struct loaded *l)
{
	forget(l);
	free(l->objects);
	free(l->own);
	memset(l, 0, sizeof *l);
}

static int note_own(struct dl_phdr_info *info, size_t size, void *data)
{
	struct loaded *l = data;
	struct loaded_span span = { UINT64_MAX, 0 };
	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &info->dlpi_phdr[i];
		uint64_t start = info->dlpi_addr + h->p_vaddr;
		if (h->p_type != PT_LOAD) continue;
		if (start < span.start) span.start = start;
		if (start + h->p_memsz > span.end)
			span.end = start + h->p_memsz;
	}
	VEC_RESERVE(l->own, l->own_count, l->own_capacity);
	assert(l->own_count < l->own_capacity);
	l->own[l->own_count++] = span;
	return 0;
}

void loaded_begin(struct loaded *l)
{
	forget(l);
	l->own_count = 0;
	dl_iterate_phdr(note_own, l);
}

static bool is_own(const struct loaded *l, const struct shared_object *o)
{
	for (uint32_t i = 0; i < l->own_count; i++)
		if (o->start < l->own[i].end && l->own[i].start < o->end)
			return true;
	return false;
}

/* User code may have written over the memory: any path ends. */
static void add(struct loaded *l, const struct shared_object *o)
{
	struct loaded_object *new = &l->objects[l->count];
	size_t length = strnlen(o->path, SHARED_PATH - 1);
	new->start = o->start;
	new->end = o->end;
	new->bias = o->bias;
	new->own = is_own(l, o);
	new->path = mem_take(length + 1);
	memcpy(new->path, o->path, length);
	new->path[length] = 0;
	assert(length < SHARED_PATH);
	l->count++;
}

void loaded_read(struct loaded *l, struct shared *shared)
{
	uint32_t noted = atomic_load(&shared->object_count);
	if (noted > SHARED_OBJECTS) noted = SHARED_OBJECTS;
	if (noted <= l->noted) return;
	l->objects = mem_grow(l->objects, noted, sizeof *l->objects);
	assert(l->count == l->noted && noted <= SHARED_OBJECTS);
	while (l->noted < noted) add(l, &shared->objects[l->noted++]);
}

const struct loaded_object *loaded_find(const struct loaded *l,
                                        uint64_t address)
{
	for (uint32_t i = 0; i < l->count; i++)
		if (address >= l->objects[i].start &&
		    address < l->objects[i].end)
			return &l->objects[i];
	return NULL;
}
