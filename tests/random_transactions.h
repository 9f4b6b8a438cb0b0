/* Random transactions in .tx, with arguments, over a few globals; and clients
 * that call them. */
#ifndef ISO_TESTS_RANDOM_TRANSACTIONS_H
#define ISO_TESTS_RANDOM_TRANSACTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/rng.h"
#include "base/text.h"

struct writer {
	struct rng *r;
	struct text *t;
	unsigned locals, depth; /* at the place that is written */
};

bool one_in(struct writer *w, uint32_t n);
/* What all the others name. Other values than integers are rare. */
void write_globals(struct writer *w);
/* Transaction t<i>(p0, p1, list); with a level of its own now and then, if they
 * are mixed. */
void write_transaction(struct writer *w, uint32_t i, bool mixed);
/* t0 reads y0 and writes y1 of keys that lists of known items give; t1 does the
 * converse of one key. */
void write_list_transactions(struct writer *w);
/* Sessions that call 2 to 4 of the transactions t0 .. t<count - 1>. */
void write_sessions(struct writer *w, uint32_t count, bool one_each);

#endif
