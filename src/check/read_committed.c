/* Read committed: what a transaction reads from one writer hides all that was
 * written before that writer; later reads must not return it. */
#include "check/weak_edges.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "check/write_sets.h"

/* The nearest later reads of a key in the transaction at hand: two different
 * sources are enough, those further on follow from the second's edges. */
struct later {
	uint32_t reader;       /* for whom the rest holds */
	uint32_t next, second; /* second: GRAPH_NONE if all are from next */
};

struct read_committed {
	struct graph *g;
	struct write_sets sets;
	uint32_t *first;     /* by writer: 1 + its first read by the reader;
	                      * of an earlier reader if not above its reads */
	struct later *later; /* by key */
	uint32_t *keys;      /* read later */
	uint32_t key_count;
	uint32_t reader;
};

/* Nothing, if the reader does not read the key later. */
static void force(void *data, uint32_t writer, uint32_t key)
{
	struct read_committed *c = data;
	const struct later *l = &c->later[key];
	if (l->reader != c->reader) return;
	uint32_t to = l->next != writer ? l->next : l->second;
	if (to != GRAPH_NONE) graph_add(c->g, writer, to);
}

static void remember(struct read_committed *c, struct facts_read read)
{
	struct later *l = &c->later[read.key];
	if (l->reader != c->reader) {
		*l = (struct later){ c->reader, read.from, GRAPH_NONE };
		c->keys[c->key_count++] = read.key;
	} else if (l->next != read.from) {
		assert(l->next != GRAPH_NONE);
		l->second = l->next;
		l->next = read.from;
	}
}

static void take_reader(struct read_committed *c, uint32_t t)
{
	const struct facts *f = c->g->f;
	uint32_t begin = f->read_first[t], end = f->read_first[t + 1];
	if (end - begin < 2) return;
	assert(t > 0 && end <= f->read_first[f->n]);
	c->reader = t;
	c->key_count = 0;
	for (uint32_t i = begin; i < end; i++) {
		uint32_t *first = &c->first[f->reads[i].from];
		if (*first <= begin) *first = i + 1;
	}
	for (uint32_t i = end; i-- > begin && !c->g->stopped;) {
		uint32_t from = f->reads[i].from;
		if (from && c->first[from] == i + 1)
			write_sets_common(&c->sets, c->g, from, c->keys,
			                  c->key_count, force, c);
		remember(c, f->reads[i]);
	}
}

static uint32_t most_reads(const struct facts *f)
{
	uint32_t most = 0;
	for (uint32_t t = 0; t < f->n; t++) {
		uint32_t count = f->read_first[t + 1] - f->read_first[t];
		if (count > most) most = count;
	}
	return most;
}

void read_committed_edges(struct graph *g)
{
	const struct facts *f = g->f;
	struct read_committed c = { .g = g };
	c.first = mem_take0(f->n, sizeof *c.first);
	c.later = mem_take0(f->key_count, sizeof *c.later);
	c.keys = mem_take0(most_reads(f), sizeof *c.keys);
	write_sets_init(&c.sets, f);
	for (uint32_t t = 1; t < f->n; t++) {
		if (graph_enough(g, 1)) break;
		take_reader(&c, t);
	}
	free(c.first);
	free(c.later);
	free(c.keys);
	write_sets_free(&c.sets);
}
