/* What both languages need to make a summary of a transaction: it is run once,
 * with nodes in the place of values.
 */
#ifndef ISO_PROVE_BUILD_H
#define ISO_PROVE_BUILD_H

#include "prove/summary.h"

enum { BUILD_NODES = 20000, BUILD_ACCESSES = 128 };

struct builder {
	struct application *app;
	struct summary *s;
	uint32_t live; /* the condition under which the transaction is still
	                * running at the place that is looked at */
	uint32_t statement;
	uint32_t rounds;  /* loops around it, of which two rounds are looked
	                   * at */
	uint32_t maybe;   /* perhaps it is not done: its reads may be absent */
	uint32_t aliases; /* own writes that reads may or may not read */
	bool full;        /* it is larger than what is looked at */
	/* Of reads in loops: does it read its own write of another round? */
	struct round_guess {
		uint32_t read, guess; /* access, node */
		struct round_guess *next;
	} * guesses;
};

struct build_key {
	uint32_t family, *indexes, count;
};

uint32_t build_unknown(struct builder *b);
uint32_t build_guess(struct builder *b);
uint32_t build_constant(struct builder *b, struct value v);
/* Here it ends by an error unless the condition holds. */
void build_require(struct builder *b, uint32_t condition);
/* The values that the key has for the transaction: its own write's, if there is
 * one before. In the application's region. */
const uint32_t *build_read(struct builder *b, const struct build_key *k,
                           enum strength strength, uint32_t line);
void build_write(struct builder *b, const struct build_key *k,
                 enum strength strength, const uint32_t *values, uint32_t line);
/* After all of it: of names that no loop writes no read has an own value that
 * is not here. */
void build_finish(struct builder *b);
/* After loops that were left out there is too much. */
bool build_is_full(struct builder *b);
/* The summary says nothing. */
void build_empty(struct builder *b);

#endif
