#include "serve/stale_reads.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"

static char *copy(const char *s)
{
	return mem_copy_string(s ? s : "");
}

void stale_reads_add(struct stale_reads *s, struct stale_read read)
{
	assert(read.age);
	read.place.statement = copy(read.place.statement);
	VEC_RESERVE(s->items, s->count, s->capacity);
	s->items[s->count++] = read;
}

const struct stale_read *stale_reads_find(const struct stale_reads *s,
                                          struct read_place at)
{
	for (uint32_t i = 0; i < s->count; i++) {
		const struct read_place *p = &s->items[i].place;
		if (p->key == at.key && p->occurrence == at.occurrence &&
		    !strcmp(p->statement, at.statement))
			return &s->items[i];
	}
	return NULL;
}

void stale_reads_without(struct stale_reads *out, const struct stale_reads *of,
                         uint32_t first, uint32_t count)
{
	*out = (struct stale_reads){ 0 };
	for (uint32_t i = 0; i < of->count; i++) {
		struct stale_read x = of->items[i];
		if (i >= first && i - first < count) continue;
		x.reader = copy(x.reader);
		x.key = copy(x.key);
		x.value = copy(x.value);
		x.writer = copy(x.writer);
		x.newest = copy(x.newest);
		x.newest_writer = copy(x.newest_writer);
		stale_reads_add(out, x);
	}
}

void stale_reads_free(struct stale_reads *s)
{
	for (uint32_t i = 0; i < s->count; i++) {
		struct stale_read *x = &s->items[i];
		free((char *)x->place.statement);
		free(x->reader);
		free(x->key);
		free(x->value);
		free(x->writer);
		free(x->newest);
		free(x->newest_writer);
	}
	free(s->items);
	*s = (struct stale_reads){ 0 };
}

uint32_t read_counts_add(struct read_counts *c, const char *statement,
                         uint32_t key)
{
	struct table_probe probe =
		table_probe(hash_bytes(key, statement, strlen(statement)));
	uint32_t i;
	if (!c->table.slots) table_init(&c->table, 0);
	while ((i = table_next(&c->table, &probe)) != TABLE_NONE)
		if (c->items[i].key == key &&
		    !strcmp(c->items[i].statement, statement))
			return ++c->items[i].occurrence;
	VEC_RESERVE(c->items, c->count, c->capacity);
	table_put(&c->table, probe, c->count);
	c->items[c->count++] = (struct read_place){ copy(statement), key, 1 };
	return 1;
}

void read_counts_free(struct read_counts *c)
{
	for (uint32_t i = 0; i < c->count; i++)
		free((char *)c->items[i].statement);
	free(c->items);
	table_free(&c->table);
	*c = (struct read_counts){ 0 };
}
