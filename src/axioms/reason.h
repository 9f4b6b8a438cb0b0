/* Why transactions cannot be in an order: cycles of them, with reasons. */
#ifndef ISO_AXIOMS_REASON_H
#define ISO_AXIOMS_REASON_H

#include <stdint.h>

/* Why a history violates a level: a cycle of transactions. */
enum reason_kind {
	REASON_SO,     /* session order */
	REASON_WR,     /* `to` reads `key` from `from` */
	REASON_FORCED, /* `from` also wrote `key`, which `reader` read from `to`
	                * although it was to see `from`: so `from` is earlier */
	REASON_WW,     /* both wrote `key`; this order is known (history.h), the
	                * only one left, or the one tried */
	REASON_RW,     /* `from` read `key` as it was before `to` wrote it */
	REASON_LOCK,   /* `from` held a lock on `key` to its end, before `to`
	                * could have one */
	REASON_SSI,    /* `from` before `to` (the beginning or the end of each)
	                * is what was tried to keep three transactions, of
	                * which `reader` misses a write of one and the other a
	                * write of its, from being dangerous (points.h) */
	REASON_COUNT
};

struct witness_edge {
	uint32_t from, to; /* transactions; `to` is the next edge's `from` */
	enum reason_kind reason;
	uint32_t key;    /* history key; WR, FORCED, WW, RW */
	uint32_t reader; /* FORCED: the transaction whose read forces it; WW:
	                  * likewise, or `from`; RW: who wrote what `from`
	                  * read, or `from`; SSI */
};

struct witness {
	uint32_t count;
	struct witness_edge *edges; /* malloc'ed */
};

#endif
