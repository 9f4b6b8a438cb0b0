/* What the parts of a proof share: questions to the solver. */
#ifndef ISO_PROVE_SEARCH_H
#define ISO_PROVE_SEARCH_H

#include "prove/prove.h"

struct search {
	struct proof *out;
	double begun;
	Z3_context context;
	uint64_t taken;   /* instances, so far */
	uint32_t length;  /* of the cycle at hand */
	bool found_paths; /* of the length at hand */
};

/* Is it over, by a limit or an interruption? The proof then has the reason. */
bool search_is_late(struct search *x);
/* Says where it is, to who wants to know. */
void search_tick(struct search *x, uint32_t length);
/* Of these summaries; they are freed before the next ones are taken. */
struct instances *search_take(struct search *x, const uint32_t *which,
                              uint32_t count);
/* With these assumptions. */
Z3_lbool search_find_model(struct search *x, struct instances *in,
                           const Z3_ast *assumed, unsigned count);
/* May what is asserted have a model? Also if the solver gives up. */
bool search_has_model(struct search *x, struct instances *in);

/* Fills in what may depend on what, and if that is asked for, where. */
void search_pairs(struct search *x);

#endif
