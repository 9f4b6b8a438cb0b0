/* The transactions of a history as few chains, each ordered by so U wr, so that
 * "which of this chain come before" is one number. Sessions are chains; a
 * session that begins by reading from the end of another one continues it.
 */
#ifndef ISO_CHECK_CHAINS_H
#define ISO_CHECK_CHAINS_H

#include "history/facts.h"

/* Consecutive writers of one key that lie in one chain. */
struct chain_writers {
	uint32_t chain;
	uint32_t first, end; /* range of chains.writers */
};

struct chains {
	uint32_t count;     /* init is in none */
	uint32_t *chain_of; /* by transaction */
	uint32_t *place_of; /* place in its chain, from 0 */
	uint32_t *first;    /* count + 1: range of members */
	uint32_t *members;  /* transactions */
	/* Writers of each key by (chain, place), and their groups: those of
	 * key x are group_first[x] .. group_first[x + 1] - 1. */
	uint32_t *writers;
	struct chain_writers *groups;
	uint32_t *group_first; /* key_count + 1 */
};

/* f->order must not be NULL. Linear; the caller frees it. */
struct chains *chains_new(const struct facts *f);
void chains_free(struct chains *c); /* NULL is fine */

#endif
