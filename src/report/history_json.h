/* Histories that are found or predicted, one line of JSON each. */
#ifndef ISO_REPORT_HISTORY_JSON_H
#define ISO_REPORT_HISTORY_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "axioms/level.h"
#include "base/text.h"

struct explore_execution;
struct finding;
struct history;
struct predict_case;
struct predicted;
struct program;

/* What a line says beside the history itself; all is borrowed. */
struct history_line {
	const struct program *program;
	const struct history *history;
	enum level level; /* which the history satisfies */
	bool serializable;
	const uint32_t *violated; /* slots, as in dpor/explorer.h */
	uint32_t violated_count;
	const struct finding *error; /* of the slot of run-time errors; may be
	                              * NULL */
	bool random;                 /* a random run, so with the next two */
	uint64_t run, seed;
	bool classes; /* it stands for a class of symmetric
	               * histories, of so many */
	uint64_t stands_for;
	bool outward; /* explored from an observed history, of
	               * which it changes so many reads */
	uint64_t changes;
};

/* One line, with its line end, in the history format. */
void report_history_line(struct text *t, const struct history_line *l);
/* The same of an execution that was explored. */
void report_history(struct text *t, const struct explore_execution *e);
/* predict_history.c: of one that is predicted, with members that say what was
 * changed. */
void report_predicted_history(struct text *t, const struct predict_case *c,
                              const struct predicted *p);

#endif
