/* What a result says, question by question: did it hold? What JUnit, TAP, SARIF
 * and annotations have in common. */
#ifndef ISO_REPORT_OUTCOMES_H
#define ISO_REPORT_OUTCOMES_H

#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "report/documents.h"

enum outcome_state {
	OUTCOME_PASSED,
	OUTCOME_FAILED,
	OUTCOME_OPEN,
	OUTCOME_ERROR /* the input could not be read */
};

/* An assertion under a level, a level of a recorded history, a prediction, an
 * anomaly of an audit. Borrowed from the documents, but for the texts. */
struct outcome {
	enum outcome_state state;
	const json_t *result;  /* that it belongs to */
	struct text name;      /* "assert x == 1 under si" */
	struct text why;       /* of one that did not pass: a sentence */
	const char *rule;      /* what is violated: "lost update"; or NULL */
	const char *file;      /* or NULL */
	uint32_t line, column; /* 0: not known */
	const json_t *steps, *cycle; /* of the history that shows it; or NULL */
};

static inline bool outcome_is_bad(const struct outcome *x)
{
	return x->state == OUTCOME_FAILED || x->state == OUTCOME_ERROR;
}

struct outcomes {
	struct outcome *items;
	size_t count, capacity;
	size_t failed, open, errors;
};

void outcomes_of(struct outcomes *o, const struct documents *d);
void outcomes_free(struct outcomes *o);
/* Program, history or log that the result is about; "result" if unknown. */
const char *outcome_subject(const json_t *result);
/* "a.1 add reads x = 1 from init" */
void outcome_step(struct text *t, const json_t *step);
/* Who reads and writes what, and why that is a cycle: lines. */
void outcome_story(struct text *t, const struct outcome *x);

/* The forms. */
void report_sarif(struct text *t, const struct documents *d);
void report_junit(struct text *t, const struct documents *d);
void report_tap(struct text *t, const struct documents *d);
/* "::error file=a.tx,line=3::..." for each that fails, as GitHub reads them. */
void report_annotations(struct text *t, const struct documents *d);

#endif
