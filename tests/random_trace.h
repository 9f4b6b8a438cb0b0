/* Random traces, as a recorder might have written them. */
#ifndef TESTS_RANDOM_TRACE_H
#define TESTS_RANDOM_TRACE_H

#include "base/rng.h"
#include "history/trace.h"

/* Of sessions with numbers, increasing, or with one name; some transactions
 * aborted or of unknown outcome, reads from any writer, or from nobody. */
struct trace *trace_random(struct rng *r);

#endif
