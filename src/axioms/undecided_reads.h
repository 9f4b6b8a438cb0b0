/* Undecided reads: stale in some orders of the transactions, fresh in others
 * (staleness.h). Only they, and the transactions that have a say in them, are
 * left to be searched.
 */
#ifndef ISO_AXIOMS_UNDECIDED_READS_H
#define ISO_AXIOMS_UNDECIDED_READS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bits.h"
#include "history/relation.h"

/* Rows of transactions have `words` words, rows of reads `read_words`. Reads
 * are numbered anew: the undecided ones, from 0. */
struct undecided_reads {
	unsigned words, read_words;
	uint32_t read_count;
	uint64_t lost; /* reads that are stale in every order */
	word *matters; /* transactions whose place matters */
	word *open;    /* reads whose rivals all come after the source */
	/* By transaction. */
	const word *past; /* transactions that precede it in every order */
	word *after;      /* those that follow it */
	word *own;        /* its reads */
	word *spoils;     /* reads that it makes stale by coming between */
	word *opens;      /* reads from it that are not in `open` */
	/* By read. */
	uint32_t *reader;
	word *rivals; /* transactions that spoil it */
	/* Sets of reads, of each of which one at most is fresh: their
	 * transactions read the same version and all overwrite it. */
	uint32_t exclusive_count;
	word *exclusive;

	char *memory; /* all rows lie in it */
	size_t capacity;
	word *before; /* `past`, where the order of writers is known */
	/* While the exclusive sets are made. */
	uint32_t *newest; /* by key: a set of its reads, or UINT32_MAX */
	uint32_t *older;  /* by set: another one of the key, or UINT32_MAX */
	uint32_t *source; /* by set */
	uint32_t *last;   /* by set: reader of the read added last */
};

/* Room for a relation. */
void undecided_grow(struct undecided_reads *d, const struct relation *r);
/* Fills all but `before` and the lines below. False if no order has at most
 * `bound` stale reads, as far as that is seen now. */
bool undecided_find(struct undecided_reads *d, const struct relation *r,
                    uint64_t bound);

#endif
