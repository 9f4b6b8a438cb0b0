/* Orderly generation (EXPLORE_ORDERLY): each history once, or one of each class
 * of symmetric ones, by extending only what is first in its class.
 *
 * A history is written as a word: for each place of a total order that extends
 * so U wr the session of the transaction there, and the places that its reads
 * have their values from. Of all words of a history, for all orders and all
 * permutations of interchangeable sessions, the first one in lexicographic
 * order stands for the class. A prefix of a first word is the first word of its
 * own class: if there was an earlier one, the rest could be put behind it. So a
 * search that appends transactions, and goes on only from first words, comes to
 * each class once. (R. C. Read, Every one a winner, Annals of Discrete
 * Mathematics 2, 1978.)
 */
#ifndef ISO_DPOR_ORDERLY_H
#define ISO_DPOR_ORDERLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine;
struct staleness;

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

#endif
