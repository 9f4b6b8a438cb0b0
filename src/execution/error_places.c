#include "execution/error_places.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"

int position_compare(struct position a, struct position b)
{
	if (a.file != b.file) {
		if (!a.file || !b.file) return a.file ? 1 : -1;
		int files = strcmp(a.file, b.file);
		if (files) return files;
	}
	if (a.line != b.line) return a.line < b.line ? -1 : 1;
	return a.column < b.column ? -1 : a.column > b.column;
}

uint32_t error_places_number(struct error_places *e, struct position at)
{
	uint32_t i = 0;
	while (i < e->count && position_compare(e->items[i], at)) i++;
	if (i < e->count) return i;
	VEC_RESERVE(e->items, e->count, e->capacity);
	e->items[i] = (struct position){
		.file = at.file ? mem_copy_string(at.file) : NULL,
		.line = at.line,
		.column = at.column,
	};
	assert(e->count < UINT32_MAX);
	return e->count++;
}

void error_places_free(struct error_places *e)
{
	for (uint32_t i = 0; i < e->count; i++) free((char *)e->items[i].file);
	free(e->items);
	*e = (struct error_places){ 0 };
}
