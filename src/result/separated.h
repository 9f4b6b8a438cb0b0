/* The result of telling two levels apart. */
#ifndef ISO_RESULT_SEPARATED_H
#define ISO_RESULT_SEPARATED_H

#include "result/result.h"
#include "separate/separate.h"

/* What was found is borrowed. */
struct result *result_of_separation(const struct separated *s);

/* "Snapshot Isolation (si)", "a mix of si and ser" */
void name_separate_side(struct text *t, unsigned levels);
/* "with locks, up to 4 transactions and 6 events" */
void name_separate_limits(struct text *t, const struct separate_options *o);
/* The way's history under the side that forbids it: the usual name of what it
 * shows, or NULL, and the cycle. */
const char *separation_anomaly(const struct separated *s, int way);
void separation_cycle(const struct separated *s, int way, struct witness *out);

#endif
