/* The history in which something fails: as a table, what failed in it, and why
 * no serial order explains it. */
#ifndef ISO_REPORT_EXAMPLE_H
#define ISO_REPORT_EXAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "report/style.h"

struct explorer;
struct finding;
struct history;
struct program;

/* A slot (as in dpor/explorer.h) with the first history that violates it. */
struct example {
	const struct program *program;
	uint32_t slot;
	const struct history *history; /* NULL: there is none */
	const struct finding *finding; /* NULL for serializability */
};

/* What the explorer has for the slot. */
struct example explored_example(const struct explorer *e, uint32_t slot);
/* Have both a history, and the same one? */
bool example_same(const struct example *a, const struct example *b);

/* In a list of all slots: "  fails  assert ...  file.tx:9:1", the word `says`
 * (with the blanks behind it) in that style, the assertion cut to fit. */
void report_slot_line(struct text *t, const struct style *s,
                      const struct example *x, enum style_mark mark,
                      const char *says);
/* "assert ..." on a line, and on the next one where it stands. */
void report_slot_heading(struct text *t, const struct style *s,
                         const struct example *x);
/* The table, what failed, the anomaly, and the cycle. */
void report_example(struct text *t, const struct style *s,
                    const struct example *x);
/* What failed only: the history was shown already, for the slot `shown`. */
void report_example_again(struct text *t, const struct style *s,
                          const struct example *x, uint32_t shown);

/* The members of JSON that say what the slot is: "text":..,"kind":..,.. */
void report_slot_json(struct text *t, const struct example *x);
/* The history as an object, with its order, the failure, the anomaly and the
 * cycle; behind the order stand the members `more`, each with the comma before
 * it. */
void report_example_json(struct text *t, const struct example *x,
                         const char *more);

#endif
