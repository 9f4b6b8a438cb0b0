/* A store under prc as PostgreSQL is one: statements start with a snapshot,
 * wait for locks and take them, and transactions end. Whoever runs a history on
 * it says what comes next.
 */
#ifndef TESTS_TWIN_SCHEDULE_H
#define TESTS_TWIN_SCHEDULE_H

#include <stdbool.h>

#include "axioms/schedule.h"
#include "history/history.h"

/* Does this history come of running the schedule, no statement being held
 * between its start and its locks but by others' locks? */
bool twin_schedule_runs(const struct history *h, const struct schedule *s);
/* Is there such a schedule? Tries all. */
bool twin_schedule_exists(const struct history *h);

#endif
