/* What was predicted from observed histories, in words. */
#ifndef ISO_REPORT_PREDICT_TEXT_H
#define ISO_REPORT_PREDICT_TEXT_H

#include "report/predict_case.h"
#include "report/style.h"

/* "violated: a feasible execution that ... is not serializable", a line. */
void report_predict_verdict(struct text *t, const struct style *s,
                            const struct predict_case *c);
/* All about one prediction: observed against predicted, why no order explains
 * it, what it has of each session, and what became of running it. With its
 * number before all if several are wanted. */
void report_predicted(struct text *t, const struct style *s,
                      const struct predict_case *c, const struct predicted *p);
/* Behind the last of several predictions: whether there are more. */
void report_predict_end(struct text *t, const struct predict_case *c);
/* How large the observed history is, and what predicting cost. */
void report_predict_costs(struct text *t, const struct predict_case *c);
/* "h.jsonl:3: violated: 2 reads changed", a line. */
void report_predict_line(struct text *t, const struct style *s,
                         const struct predict_case *c);

/* Many observed histories. */
struct predict_summary {
	struct predict_options options; /* of the last one */
	bool mixed;                     /* not all have the same level */
	uint64_t histories;
	uint64_t verdicts[VERDICT_INCONCLUSIVE + 1];
	uint64_t answers[PREDICT_UNKNOWN + 1]; /* FOUND: at least one */
	uint64_t validated;  /* histories with a validated prediction */
	uint64_t refuted;    /* with predictions, none of them validated */
	uint64_t diverged;   /* histories with a run that diverged */
	uint64_t themselves; /* with an observed execution that is one itself */
	uint64_t left_out;   /* runs that met a false assumption: no history */
	const char *program; /* that predictions are validated with, or NULL */
	const char *recorded; /* program that they are recorded from, or NULL */
	const char *stopped;  /* why not all were looked at, or NULL */
	double seconds;
};

void predict_summary_add(struct predict_summary *m,
                         const struct predict_case *c);
enum verdict predict_summary_verdict(const struct predict_summary *m);
/* "violated: from 7 of 10 histories ...", a line. */
void report_predict_summary_verdict(struct text *t, const struct style *s,
                                    const struct predict_summary *m);
/* The verdict, and a table of counts. */
void report_predict_summary(struct text *t, const struct style *s,
                            const struct predict_summary *m);

#endif
