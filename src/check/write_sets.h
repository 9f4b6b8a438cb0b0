/* Who writes which key, answered at once: transactions that write a good part
 * of all keys have a row of bits, the others are searched (facts_writes).
 */
#ifndef ISO_CHECK_WRITE_SETS_H
#define ISO_CHECK_WRITE_SETS_H

#include "base/bits.h"
#include "history/facts.h"

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

#endif
