/* Ends a question to the solver when a limit is reached in the middle of it: a
 * thread looks at the limits meanwhile. */
#ifndef ISO_PROVE_LIMITER_H
#define ISO_PROVE_LIMITER_H

#include <z3.h>

#include "base/budget.h"

struct limiter;

/* With the time that it began at, of seconds_now(). The budget is borrowed;
 * without a limit of memory half of the machine's is one for the solver. If
 * there are no threads the limits count between the questions only. */
struct limiter *limiter_new(const struct budget *limits, double begun);
void limiter_free(struct limiter *w); /* NULL is fine */

/* The limit that is reached by now; it remains. */
enum stop_reason limiter_look(struct limiter *w);
/* What is left of the limits for a part of it. */
struct budget limiter_left(const struct limiter *w);
/* Undecided if a limit is reached before there is an answer. */
Z3_lbool limiter_ask(struct limiter *w, Z3_context z, Z3_solver solver,
                     const Z3_ast *assumed, unsigned count);

#endif
