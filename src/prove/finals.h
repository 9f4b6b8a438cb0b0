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

/* A sum over all rows of a family that a condition is true of. What a row is to
 * it depends on nothing but the row. */
struct total {
	/* Of one row, which its parameters name; that is all it reads. No node
	 * that these three are made of is a guess or unknown. */
	struct summary s;
	uint32_t family;
	uint32_t counts; /* condition: the row is one of them; */
	uint32_t value;  /* then this, an integer, is added; */
			 /* and s.errs: this ends by an error */
	bool all;        /* it counts all rows */
	const char *name;
};

struct finals {
	struct claim *items;
	uint32_t count, capacity;
	struct total *totals;
	uint32_t total_count, total_capacity;
	uint32_t asserted; /* assertions that they are made of */
	uint32_t left_out; /* about what sessions have */
	/* If the last transaction ends early, by an overflow, nothing that is
	 * asserted is looked at after that. */
	bool inside;
	/* What this query finds may be anything. Line 0: there is none. */
	struct position loose;
};

struct finals *finals_new(void);
void finals_free(struct finals *f); /* NULL is fine */
/* A new one. Valid until the next. */
struct claim *finals_claim(struct application *a);
/* A new one. Valid until the next; its summary is to be made. */
struct total *finals_total(struct application *a);
/* That is finished, or if it is not `wanted`, it is none: its number, or that
 * of one that is the same, UINT32_MAX if there is none. */
uint32_t finals_total_end(struct application *a, bool wanted);
/* The transaction, or the claim, finds it. */
void finals_finds_total(struct summary *s, struct found_total t);

#endif
