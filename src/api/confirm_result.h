/* The counterexamples of a result, on an unmodified PostgreSQL. */
#ifndef ISO_API_CONFIRM_RESULT_H
#define ISO_API_CONFIRM_RESULT_H

#include <stdatomic.h>
#include <stdbool.h>

#include "api/problem.h"

struct result;

enum reproduction { REPRODUCE_NONE, REPRODUCE_SPEC, REPRODUCE_SCRIPT };

/* Adds to each example whether it happens there. The first that does is
 * printed, as asked, to `out`, which stays empty if there is none. The result's
 * program is in SQL; false if not, or if there is no such server. `interrupt`
 * may be NULL. */
bool confirm_result(struct result *r, const atomic_bool *interrupt,
                    enum reproduction as, struct text *out, struct problem *p);

#endif
