/* A model of the clauses as a history: the program is run along it, and the
 * result is checked against the level.
 */
#ifndef ISO_SOLVE_EXAMPLE_H
#define ISO_SOLVE_EXAMPLE_H

#include "run/runner.h"
#include "solve/encoding.h"

/* What a model says of all sessions, which are at the end of their runs in it,
 * as is needed to run the program along it. */
struct example {
	const struct encoding *e;
	uint32_t *order; /* slots, as they commit */
	uint32_t count, next;
	struct example_reads {
		struct example_read {
			uint32_t key;
			uint32_t from; /* slot; UINT32_MAX: init */
		} * items;
		uint32_t count, capacity;
	} * reads; /* by slot */
};

void example_take(struct example *x, const struct encoding *e);
void example_free(struct example *x);
/* Runs it, and checks the result. The history is the caller's; NULL if the
 * program or the level does not agree with the model, or a limit came first.
 * `runner` then tells what it violates. */
struct history *example_run(struct example *x, struct runner *r);

#endif
