/* Every history of a program, by brute force.
 *
 * Transactions run whole, one after another, in every order that session order
 * allows, and every external read takes its value from every committed
 * transaction before it that wrote the key: so U wr is acyclic, so each history
 * of the program comes about in at least one such order. Levels are decided by
 * twin_axioms. Nothing is shared with src/dpor but the machine.
 */
#ifndef TESTS_TWIN_ENUMERATE_H
#define TESTS_TWIN_ENUMERATE_H

#include <stdbool.h>
#include <stddef.h>

#include "axioms/level.h"
#include "vm/program.h"

struct twin_history {
	char *text;      /* canonical */
	unsigned levels; /* bit l: satisfies level l */
	/* Per assertion slot of the program (one more for run-time errors):
	 * violated or not. Assertion `serializable` is left out. */
	bool *violated;
};

struct enumeration {
	struct twin_history *items; /* sorted by text, each text once */
	size_t count, capacity;
	size_t slots;
	size_t pruned; /* distinct histories dropped by an assumption */
};

struct twin_options {
	/* Prefixes that violate it are not continued. All levels are closed
	 * under prefixes, so this loses nothing at this level. */
	enum level level;
	/* Gives up beyond this many prefixes; 0: never. */
	size_t limit;
	/* Continue prefixes met before, too: the same result, later. */
	bool revisit;
};

/* False when the limit was reached; `out` is to be freed in any case. */
bool twin_enumerate(const struct program *p, struct twin_options o,
                    struct enumeration *out);
void enumeration_free(struct enumeration *e);
/* How many satisfy the level. */
size_t enumeration_count(const struct enumeration *e, enum level l);

#endif
