#include "check/write_sets.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"

/* A row of bits then takes at most as much as the keys as numbers. */
enum { KEYS_FOR_EACH_WRITE = 32 };

static bool is_large(const struct facts *f, uint32_t t)
{
	uint64_t count = f->write_first[t + 1] - f->write_first[t];
	return count * KEYS_FOR_EACH_WRITE >= f->key_count && count > 8;
}

void write_sets_init(struct write_sets *s, const struct facts *f)
{
	uint32_t rows = 0;
	*s = (struct write_sets){ .f = f, .words = BITS_WORDS(f->key_count) };
	s->row = mem_take0(f->n, sizeof *s->row);
	for (uint32_t t = 1; t < f->n; t++)
		if (is_large(f, t)) s->row[t] = ++rows;
	assert(rows < f->n);
	s->bits = mem_take0((size_t)rows * s->words, sizeof(word));
	for (uint32_t t = 1; t < f->n; t++) {
		if (!s->row[t]) continue;
		word *row = s->bits + (size_t)(s->row[t] - 1) * s->words;
		for (uint32_t i = f->write_first[t]; i < f->write_first[t + 1];
		     i++)
			bits_add(row, f->writes[i]);
	}
}

void write_sets_free(struct write_sets *s)
{
	free(s->row);
	free(s->bits);
}
