/* Counterexamples that were tried on a PostgreSQL, as part of a result. */
#ifndef ISO_RESULT_CONFIRMED_H
#define ISO_RESULT_CONFIRMED_H

#include "confirm/confirm.h"

struct result;
struct result_example;

/* What is confirmed is of the result's region. */
void result_confirmed(struct result *r, struct result_example *x,
                      const struct confirmer *c, const struct confirmation *of);
/* How many of them, when all are there. */
void result_confirmed_in_all(struct result *r);

#endif
