/* The transactions of a history as few chains, each ordered by so U wr, so that
 * "which of this chain come before" is one number. Sessions are chains, and a
 * session that begins by reading from the end of another one continues it;
 * where there are many sessions, chains go across them if fewer do then.
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
	/* Those on a path of so U wr from the one before t in its chain to t:
	 * via[via_first[t]], ... up to a 0. */
	uint32_t *via, *via_first;
	/* Writers of each key by (chain, place), and their groups: those of
	 * key x are group_first[x] .. group_first[x + 1] - 1. */
	uint32_t *writers;
	struct chain_writers *groups;
	uint32_t *group_first; /* key_count + 1 */
};

/* Chains of at most `longest` transactions; unless they may go across, one
 * leaves a session at its end only. f->order must not be NULL. Linear;
 * the caller frees it. */
struct chains *chains_new(const struct facts *f, uint32_t longest, bool across);
void chains_free(struct chains *c); /* NULL is fine */

#endif
