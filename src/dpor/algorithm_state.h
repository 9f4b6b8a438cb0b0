/* What ways of exploring keep in an engine. */
#ifndef ISO_DPOR_ALGORITHM_STATE_H
#define ISO_DPOR_ALGORITHM_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bits.h"

struct history;
struct staleness;

/* orderly.c */
struct orderly {
	struct staleness *staleness; /* NULL: as many as you like */
	bool trivial;                /* no two sessions can be exchanged */
	uint64_t order;              /* permutations of sessions */
	uint32_t *following; /* by session: the next one of its class, or
	                      * UINT32_MAX */
	uint32_t *head;      /* by session: the first one of its class */
	uint32_t *before;    /* by session: the one before it in its class,
	                      * or UINT32_MAX */
	uint32_t *memory;    /* for the search; see orderly.c */
	size_t capacity;
};

/* canonical_order.c */
struct canonical_order {
	bool by_footprint;    /* sessions come by what their next transactions
	                       * may read and write; else by their numbers */
	uint32_t *turns;      /* by session: what comes first at the place that
	                       * is filled next */
	uint32_t turns_place; /* that place, and the steps so far: until the
	                       * next step they are the same there */
	uint64_t turns_steps;
	word *passed; /* by place: a row of the sessions that were passed
	               * over there */
	size_t passed_words;
};

/* outward.c */
struct outward {
	uint64_t budget;    /* k */
	uint64_t next;      /* the fewest changes known to be needed by
	                     * something cut; UINT64_MAX: nothing was */
	uint32_t *spent;    /* by read of the closure: how many reads are
	                     * changed up to this one */
	uint32_t *reserved; /* by place in the closure's order: changed reads
	                     * that other sessions need at least, found when
	                     * the transaction there began */
	uint32_t spent_capacity, reserved_capacity;
	struct history *nearest; /* the first one output */
};

/* first_reads.c */
struct key_list {
	uint32_t *items;
	uint32_t count, capacity;
	enum { KEYS_SOME, KEYS_ALL, KEYS_TOO_MANY } extent;
	uint64_t known_at; /* of what it is; see first_reads.c */
};

struct first_reads {
	struct key_list *lists; /* by place, and by session */
	uint32_t places;
	size_t keys;       /* that all lists have room for */
	uint64_t *changed; /* by place: when what stands before it was put
	                    * there; in ticks of `now` */
	uint64_t now;
	uint64_t branch; /* number of the branch being explored */
};

#endif
