/* Counterexamples that were tried on a PostgreSQL, as part of a result. */
#ifndef ISO_RESULT_CONFIRMED_H
#define ISO_RESULT_CONFIRMED_H

#include "confirm/confirm.h"

struct result;
struct result_confirmation;
struct result_values;

/* A history that was tried, and what came of it. Borrowed. */
struct tried_history {
	const struct confirmer *confirmer;
	const struct confirmation *what;
	const struct history *history;
	enum level level;
};

/* In words, and as a member `confirmation` of `members`. What was sent has to
 * be of the result's region. */
void result_confirmed(struct result *r, struct result_confirmation *out,
                      struct result_values *members,
                      const struct tried_history *of);
/* How many of those that were tried. */
void result_confirmed_count(struct result *r, uint64_t confirmed, uint64_t of);
/* The same of the examples, when all are there. */
void result_confirmed_in_all(struct result *r);

#endif
