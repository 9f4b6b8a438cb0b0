/* Who writes which key, answered at once: transactions that write a good part
 * of all keys have a row of bits, the others are searched (facts_writes).
 */
#ifndef ISO_CHECK_WRITE_SETS_H
#define ISO_CHECK_WRITE_SETS_H

#include "base/bits.h"
#include "check/graph.h"

struct write_sets {
	const struct facts *f;
	uint32_t words; /* of a row */
	uint32_t *row;  /* by transaction, from 1; 0: it has none */
	word *bits;
};

/* Memory: 4 bytes for each transaction, and about as much for each write. */
void write_sets_init(struct write_sets *s, const struct facts *f);
void write_sets_free(struct write_sets *s);

/* Does t, which is not init, write the key? */
static inline bool write_sets_has(const struct write_sets *s, uint32_t t,
                                  uint32_t key)
{
	uint32_t row = s->row[t];
	if (!row) return facts_writes(s->f, t, key);
	return bits_has(s->bits + (size_t)(row - 1) * s->words, key);
}

enum { WRITE_SETS_SEARCH = 4 }; /* of a key among some, in looks at one */

/* Calls visit at least for the keys that the writer wrote and that are among
 * these, and for other keys that it wrote. Goes through the smaller set, which
 * is what makes rc and ra n^1.5; the steps are the graph's. */
static inline void
write_sets_common(const struct write_sets *s, struct graph *g, uint32_t writer,
                  const uint32_t *keys, uint32_t key_count,
                  void (*visit)(void *data, uint32_t writer, uint32_t key),
                  void *data)
{
	const struct facts *f = s->f;
	uint32_t begin = f->write_first[writer];
	uint32_t end = f->write_first[writer + 1];
	if (end - begin <= WRITE_SETS_SEARCH * key_count) {
		for (uint32_t i = begin; i < end; i++)
			visit(data, writer, f->writes[i]);
		graph_enough(g, end - begin);
		return;
	}
	for (uint32_t i = 0; i < key_count; i++)
		if (write_sets_has(s, writer, keys[i]))
			visit(data, writer, keys[i]);
	graph_enough(g, key_count);
}

#endif
