/* Read atomic: a transaction sees all or nothing of what it reads from, and all
 * that precedes it in its session. */
#include "check/weak_edges.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "check/write_sets.h"

struct key_state {
	uint32_t reader, source; /* the first source for the last reader */
	uint32_t session, last;  /* last writer in the session, 1 + which */
};

struct read_atomic {
	struct graph *g;
	struct write_sets sets;
	struct key_state *states; /* by key */
	uint32_t *seen;           /* by writer: last transaction reading it */
	uint32_t *final;          /* by key: first source for the session that
	                           * follows all, or GRAPH_NONE */
	uint32_t *keys;           /* that the reader reads */
	uint32_t key_count, key_capacity;
	uint32_t session, reader;
};

/* The session after all others sees every writer of the key in them: the last
 * one of each session precedes the source. Once is enough; a second source is
 * a cycle. */
static void force_writers_of_all(struct read_atomic *a, struct facts_read read)
{
	struct graph *g = a->g;
	const struct facts *f = g->f;
	uint32_t *first = &a->final[read.key];
	assert(read.key < f->key_count && f->after_all != GRAPH_NONE);
	uint32_t end = f->writer_first[read.key + 1];
	if (read.from && f->session_of[read.from] == f->after_all) return;
	if (*first != GRAPH_NONE) {
		if (*first == read.from) return;
		if (*first) graph_add(g, *first, read.from);
		if (read.from) graph_add(g, read.from, *first);
		return;
	}
	*first = read.from;
	for (uint32_t i = f->writer_first[read.key]; i < end; i++) {
		uint32_t w = f->writers[i], s = f->session_of[w];
		if (i + 1 < end && f->session_of[f->writers[i + 1]] == s)
			continue;
		if (w != read.from && s != f->after_all)
			graph_add(g, w, read.from);
	}
	graph_enough(g, end - f->writer_first[read.key]);
}

/* What precedes in session order, and reads of a key from several writers. */
static void take_read(struct read_atomic *a, struct facts_read read)
{
	struct graph *g = a->g;
	struct key_state *k = &a->states[read.key];
	if (a->session == g->f->after_all) force_writers_of_all(a, read);
	if (k->reader == a->reader) {
		if (k->source == read.from) return;
		if (k->source) graph_add(g, k->source, read.from);
		if (read.from) graph_add(g, read.from, k->source);
		return;
	}
	k->reader = a->reader;
	k->source = read.from;
	VEC_RESERVE(a->keys, a->key_count, a->key_capacity);
	a->keys[a->key_count++] = read.key;
	if (k->session == a->session + 1 && k->last != read.from)
		graph_add(g, k->last, read.from);
}

/* Nothing, if the reader does not read the key. */
static void force(void *data, uint32_t writer, uint32_t key)
{
	struct read_atomic *a = data;
	const struct key_state *k = &a->states[key];
	if (k->reader == a->reader && k->source != writer)
		graph_add(a->g, writer, k->source);
}

static void take_reader(struct read_atomic *a, uint32_t t)
{
	const struct facts *f = a->g->f;
	uint32_t begin = f->read_first[t], end = f->read_first[t + 1];
	assert(a->session < f->session_count && begin <= end);
	a->reader = t;
	a->key_count = 0;
	for (uint32_t i = begin; i < end; i++) take_read(a, f->reads[i]);
	for (uint32_t i = begin; i < end; i++) {
		uint32_t from = f->reads[i].from;
		if (!from || a->seen[from] == t) continue;
		if (a->g->stopped) return;
		a->seen[from] = t;
		write_sets_common(&a->sets, a->g, from, a->keys, a->key_count,
		                  force, a);
	}
	for (uint32_t i = f->write_first[t]; i < f->write_first[t + 1]; i++) {
		struct key_state *k = &a->states[f->writes[i]];
		assert(k->last < t);
		k->session = a->session + 1;
		k->last = t;
	}
}

void read_atomic_edges(struct graph *g)
{
	const struct facts *f = g->f;
	struct read_atomic a = { .g = g };
	a.states = mem_take0(f->key_count, sizeof *a.states);
	a.seen = mem_take0(f->n, sizeof *a.seen);
	if (f->after_all != GRAPH_NONE) {
		a.final = mem_take(f->key_count * sizeof *a.final);
		memset(a.final, 0xff, f->key_count * sizeof *a.final);
	}
	write_sets_init(&a.sets, f);
	for (uint32_t t = 1; t < f->n; t++) {
		if (graph_enough(g, 1)) break;
		a.session = f->session_of[t];
		take_reader(&a, t);
	}
	free(a.states);
	free(a.seen);
	free(a.final);
	free(a.keys);
	write_sets_free(&a.sets);
}
