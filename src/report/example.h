/* The history in which something fails: as a table, what failed in it, and why
 * no serial order explains it. */
#ifndef ISO_REPORT_EXAMPLE_H
#define ISO_REPORT_EXAMPLE_H

#include <stdint.h>

#include "base/text.h"
#include "report/style.h"

struct finding;
struct history;
struct program;

/* A slot (as in dpor/explorer.h) with the first history that violates it. */
struct example {
	const struct program *program;
	uint32_t slot;
	const struct history *history;
	const struct finding *finding; /* NULL for serializability */
};

/* "assert ..." on a line, and on the next one where it stands. */
void report_slot_heading(struct text *t, const struct style *s,
                         const struct example *x);
/* The table, what failed, the anomaly, and the cycle. */
void report_example(struct text *t, const struct style *s,
                    const struct example *x);
/* What failed only: for an example whose history was shown already. */
void report_example_finding(struct text *t, const struct style *s,
                            const struct example *x);

/* The members of JSON that say what the slot is: "text":..,"kind":..,.. */
void report_slot_json(struct text *t, const struct example *x);
/* The history as an object, with its order, the failure, the anomaly and the
 * cycle. */
void report_example_json(struct text *t, const struct example *x);

#endif
