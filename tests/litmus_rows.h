/* The classic histories, and which levels allow them.
 *
 * The columns are what databases and papers agree on; psi is derived from its
 * axiom.
 */
#ifndef TESTS_LITMUS_ROWS_H
#define TESTS_LITMUS_ROWS_H

struct litmus_row {
	const char *name;
	/* none rc ra cc prc pc psi si ser: A allowed, - forbidden */
	const char *levels;
	const char *history; /* history_from_notation */
};

enum { LITMUS_ROWS = 48 };
/* Row i, from 0. */
const struct litmus_row *litmus_row(int i);

#endif
