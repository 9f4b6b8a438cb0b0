/* What is asserted of final states: of what the last transaction finds when all
 * others are over.
 *
 * A claim is a transaction that reads a state, and fails under a condition; its
 * parameters may be any values. Of a state in which the program's assertions
 * fail, some claim fails for some of these.
 */
#ifndef ISO_PROVE_FINALS_H
#define ISO_PROVE_FINALS_H

#include "prove/summary.h"

enum { CLAIM_ROWS = 3 };

struct claim {
	struct summary s;
	uint32_t fails; /* condition */
	/* Of keys that its parameters name, from this one on. */
	struct claim_row {
		uint32_t family, first;
	} rows[CLAIM_ROWS];
	uint32_t row_count;
};

struct finals {
	struct claim *items;
	uint32_t count, capacity;
	uint32_t asserted; /* assertions that they are made of */
	uint32_t left_out; /* about what sessions have */
	/* If the last transaction ends early, by an overflow, nothing that is
	 * asserted is looked at after that. */
	bool inside;
};

struct finals *finals_new(void);
void finals_free(struct finals *f); /* NULL is fine */
/* A new one. Valid until the next. */
struct claim *finals_claim(struct application *a);

#endif
