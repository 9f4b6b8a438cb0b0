/* Final assertions as circuits over what single sessions know in the end.
 *
 * All combinations of what sessions know are far too many, but an assertion
 * looks at one local after the other, and forgets most of what it saw: its
 * evaluations, with those taken together that go on alike, are a decision
 * diagram, which has a variable for each of its nodes.
 */
#ifndef ISO_SOLVE_FINAL_CIRCUIT_H
#define ISO_SOLVE_FINAL_CIRCUIT_H

#include "solve/encoding.h"

/* The values of a session's local at the end of its known runs. */
struct final_local {
	uint32_t session, reg;
	struct value *values;
	int *literals; /* it ends so */
	uint32_t count, capacity, room;
	uint32_t seen; /* nodes looked at */
};

struct final_locals {
	struct final_local *items;
	uint32_t count, capacity;
};
void final_locals_free(struct final_locals *l);

enum circuit_answer {
	CIRCUIT_MADE,
	CIRCUIT_LARGE, /* too large */
	CIRCUIT_NONE   /* the assertion is not of a form that has one */
};

/* Is this a place in the source where run-time errors are not asked for? */
typedef bool place_predicate(const void *data, uint32_t point);

/* `fails`: a literal that is true only in models where all sessions end so
 * that the assertion fails; `error`: that its evaluation meets a run-time
 * error, elsewhere than `is_met` says. They may be CLAUSES_TRUE or its
 * negation; and there may be a model of an order of sessions that run the same
 * code only if there is one in each. As far as runs are known. */
enum circuit_answer final_circuit(struct encoding *e, struct final_locals *l,
                                  uint32_t assertion, place_predicate *is_met,
                                  const void *data, int *fails, int *error);

#endif
