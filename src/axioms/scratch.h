/* Memory that the checks of isolation levels work in, kept between checks so
 * that a check allocates nothing once it has grown.
 *
 * A check numbers *points*. For rc, ra, cc, psi and ser a transaction is one
 * point, its number. For pc and si it is two: begin(t) = t and
 * commit(t) = 64 * words + t, so that a row of points has the begins in its
 * first half and the commits in its second, each a set of transactions.
 */
#ifndef ISO_AXIOMS_SCRATCH_H
#define ISO_AXIOMS_SCRATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "axioms/level.h"
#include "base/bits.h"
#include "history/relation.h"

/* An entry of the undo log: a word of the closure before it changed. */
struct order_change {
	size_t place; /* counted from `closure` */
	word old;
};

struct order_edge {
	uint32_t from, to; /* points */
};

/* Two edges of which every commit order contains one. */
struct order_choice {
	struct order_edge first, second;
};

/* A choice whose first edge is being tried. */
struct order_frame {
	size_t changes; /* length of the undo log before it */
	struct order_edge second;
};

struct level_scratch {
	char *memory; /* all that follows up to `changes` lies in it */
	size_t capacity;
	/* The closure of what is known of the order: rows of `width` words. */
	word *closure; /* `after` and `before`, one behind the other */
	word *after;   /* points that come after a point */
	word *before;  /* points that come before a point */
	/* Rows of `words` words, one for each transaction. */
	word *placed;  /* transactions earlier in the order tried */
	word *rivals;  /* other writers (not init) of keys it writes */
	word *visible; /* psi: what it sees in the order tried */
	word *spare;   /* 4 rows of `width` words */
	/* One entry for each transaction. */
	uint64_t *keys;  /* for sorting */
	uint32_t *tried; /* the order tried */
	uint32_t *rank;  /* place in it */
	uint32_t *bound; /* pc, si: its snapshot is placed[bound] */
	bool exclusive;  /* pc, si: rivals exclude each other: si */
	/* Search. */
	struct order_change *changes;
	size_t change_count, change_capacity;
	struct order_frame *frames;
	size_t frame_count, frame_capacity;
	bool logging;
};

/* Makes room for a relation, with 1 or 2 points for each transaction, and lays
 * the arrays out. Called once at the beginning of each check. */
void scratch_grow(struct level_scratch *s, const struct relation *r,
                  unsigned points);

#endif
