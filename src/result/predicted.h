/* What prediction found from observed histories, and the words that results
 * have for it. */
#ifndef ISO_RESULT_PREDICTED_H
#define ISO_RESULT_PREDICTED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "check/check.h"
#include "check/minimal_violation.h"
#include "formats/formats.h"
#include "predict/predict.h"
#include "result/checked.h"
#include "result/confirmed.h"
#include "run/replay.h"

struct result;

/* One prediction with all that was found out about it. Borrowed. */
struct predicted {
	uint64_t number; /* from 1 */
	const struct prediction *prediction;
	const struct check_witness *witness; /* why the predicted history is not
	                                      * serializable; NULL: not made */
	const char *unexplained;             /* why not; NULL: not wanted */
	const struct replay_result *replay;  /* NULL: not validated */
	const struct tried_history *tried;   /* what that gave, on PostgreSQL;
	                                      * NULL: not tried */
};

/* One observed history, with the counts of what was predicted from it so far.
 * All is borrowed. */
struct predict_case {
	const struct trace *observed;
	enum format format; /* FORMAT_COUNT: recorded from a program,
	                     * by the seed */
	uint64_t history;   /* number in its file, from 1 */
	uint64_t seed;
	const struct predict_options *options;
	const char *stated_by;      /* who states the level; NULL: -i does */
	const char *program;        /* that predictions are validated with;
	                             * NULL: they are not */
	uint64_t wanted;            /* predictions; 0: one, and no more */
	enum predict_answer answer; /* the last one: FOUND if as many as
	                             * wanted came */
	const char *reason;         /* UNKNOWN: why */
	struct predict_stats stats;
	uint64_t found, validated, diverged, replayed;
	bool confirms; /* those that are validated are tried on PostgreSQL */
	uint64_t tried, confirmed;
	const char *first; /* the changed reads of the first
	                    * prediction, in words; or NULL */
	uint64_t changed;  /* how many they are */
	enum predict_boundary first_boundary;
	bool nearest;      /* the first one is */
	uint64_t feasible; /* how many are within the strict boundary */
	bool itself;       /* the observed history is the first
	                    * prediction itself */
	double read_seconds, explain_seconds, validate_seconds;
};

/* The run along a prediction gave an execution that is not serializable. */
bool predicted_validated(const struct replay_result *r);
/* NO_VIOLATION: there is no prediction, proved. INCONCLUSIVE: none was found
 * and none was excluded, or none of those found could be validated. */
enum verdict predict_verdict(const struct predict_case *c);
const char *predict_boundary_word(enum predict_boundary b); /* "strict" */
/* "the strict boundary", "the strict and the relaxed boundary" */
const char *predict_boundary_words(enum predict_boundary b);
/* What else can be done where nothing was found. */
void name_predict_next_steps(struct text *t, bool recorded,
                             enum predict_boundary b);
const char *predict_encoding_word(enum predict_encoding e); /* "exact" */
/* What stands behind the verdict's word and colon. */
void name_predict_reason(struct text *t, const struct predict_case *c);
/* "h.jsonl:3", "lost.tx, seed 7" */
void name_predict_place(struct text *t, const struct predict_case *c);
/* "bob.1 add reads x from init instead of alice.1 add", several with commas
 * between, the first few. */
void name_predicted_changes(struct text *t, const struct trace *observed,
                            const struct prediction *p);
/* How many changed reads of the same transaction are of the same key, with the
 * same writers, as this one; 0 if it is not the first of them. Linear. */
uint32_t predict_alike(const struct trace *observed, const struct prediction *p,
                       uint32_t change);
/* The value that a transaction finally wrote to a key: of init the initial
 * one. False if it is not known, or it does not write the key. */
bool predict_value(const struct trace *r, uint32_t writer, uint32_t key,
                   struct trace_value *out);

/* Many observed histories. */
struct predict_summary {
	struct predict_options options; /* of the last one */
	bool mixed;                     /* not all have the same level */
	enum check_owns owns; /* OWNS_SOME: of some of them, or not of all */
	bool ssi;             /* trace.ssi, of all */
	uint64_t histories;
	uint64_t verdicts[VERDICT_COUNT];
	uint64_t answers[PREDICT_UNKNOWN + 1]; /* FOUND: at least one */
	uint64_t validated; /* histories with a validated prediction */
	bool confirms;
	uint64_t confirmed;  /* with one that happens on PostgreSQL */
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
/* What was predicted from a history, as a result. Predictions are added one by
 * one, while they are there, one that is wanted as a picture as a part too; the
 * end of the search completes it. */
struct result *result_of_predictions(void);
void result_prediction(struct result *r, const struct predict_case *c,
                       const struct predicted *p, bool pictured);
void result_predicted(struct result *r, const struct predict_case *c);
/* Adds lines of how large the observed history is, and what predicting cost. */
void result_predict_costs(struct result *r, const struct predict_case *c);
/* What was predicted from all of them. */
struct result *result_of_predict_summary(const struct predict_summary *m);

#endif
