/* A proposal as a history, of which levels can be asked. */
#ifndef ISO_PREDICT_CANDIDATE_H
#define ISO_PREDICT_CANDIDATE_H

#include "predict/divergent_copies.h"

/* What is proposed; borrowed. */
struct choice_of {
	const word *kept;       /* a row of transactions, without init */
	const uint32_t *chosen; /* copies, increasing */
	uint32_t chosen_count;
	const bool *taken; /* by option */
};

/* Memory is kept from one proposal to the next. */
struct candidate {
	const struct observed_history *o;
	const struct divergent_copies *c;
	struct facts facts;  /* the history: kept transactions and copies;
	                      * numbers as in histories */
	uint32_t *numbers;   /* in the observed trace, by transaction */
	uint32_t *copy_of;   /* by transaction: copy, or UINT32_MAX */
	uint32_t *option_of; /* by read of the facts: the option that it
	                      * stands for, or UINT32_MAX */
	uint32_t *here;      /* by observed transaction: its number */
};

void candidate_init(struct candidate *x, const struct observed_history *o,
                    const struct divergent_copies *c);
void candidate_free(struct candidate *x);
/* Makes the history of a proposal; free reads that took nothing are left out.
 * Linear in it. */
void candidate_make(struct candidate *x, const struct choice_of *choice);

#endif
