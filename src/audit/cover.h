/* The cheapest set that has a member in common with each of some sets. */
#ifndef ISO_AUDIT_COVER_H
#define ISO_AUDIT_COVER_H

#include <stdbool.h>
#include <stdint.h>

struct cover {
	const uint32_t *weights; /* of each thing; borrowed */
	uint32_t things;
	uint32_t *members; /* of the sets, one after the other */
	uint32_t member_count, member_capacity;
	uint32_t *ends; /* of each set */
	uint32_t set_count, set_capacity;
	/* The answer: of each thing, is it in? */
	bool *best;
	uint64_t cost;
	bool exact; /* else a limit came first, and a cheaper one may exist */
};

void cover_init(struct cover *c, const uint32_t *weights, uint32_t things);
void cover_free(struct cover *c);
/* Adds a set, which is not empty. */
void cover_add(struct cover *c, const uint32_t *members, uint32_t count);
void cover_solve(struct cover *c);

#endif
