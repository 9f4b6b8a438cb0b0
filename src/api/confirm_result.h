/* Histories of a program on an unmodified PostgreSQL: the counterexamples of a
 * result, or one after the other. */
#ifndef ISO_API_CONFIRM_RESULT_H
#define ISO_API_CONFIRM_RESULT_H

#include <stdatomic.h>
#include <stdbool.h>

#include "api/problem.h"
#include "confirm/confirm.h"
#include "postgres/stock.h"

struct result;

enum reproduction { REPRODUCE_NONE, REPRODUCE_SPEC, REPRODUCE_SCRIPT };

/* A server, which is started when it is needed. */
struct trials {
	struct confirmer *confirmer;
	struct stock stock;
	bool started;
	const atomic_bool *interrupt; /* may be NULL */
	enum reproduction as;
	struct text *reproduced; /* what happened there first, printed as asked;
	                          * empty if nothing did */
};

/* False if the program is not in SQL. To be ended in either case. */
bool trials_begin(struct trials *x, const struct program *program,
                  struct problem *p);
/* As confirm_history; false if there is no such server, or if what happened
 * cannot be printed under the title. */
bool trials_try(struct trials *x, const struct history *h, enum level level,
                const struct schedule *schedule, const char *title,
                struct region *to, struct confirmation *out, struct problem *p);
void trials_end(struct trials *x);

/* Adds to each example whether it happens there; the rest is as above. */
bool confirm_result(struct result *r, const atomic_bool *interrupt,
                    enum reproduction as, struct text *out, struct problem *p);

#endif
