/* Observed executions to predict from, and what has to be true of every
 * prediction. */
#ifndef TESTS_PREDICT_SUPPORT_H
#define TESTS_PREDICT_SUPPORT_H

#include "base/rng.h"
#include "check/check.h"
#include "history/trace.h"
#include "predict/predict.h"
#include "twin_predict.h"

enum observed_writers { WRITERS_ANY, WRITERS_NONE, WRITERS_ONE };

struct observed_shape {
	uint32_t sessions, transactions, events, keys; /* at most */
	uint32_t wild;    /* reads of 100 that take any writer, not the last */
	uint32_t aborted; /* transactions of 100 */
	bool last;        /* maybe with a session that follows all others */
	bool quiet;       /* nobody writes the last key */
	enum observed_writers writers; /* how many transactions write */
};
/* A random execution, in the notation of support.h: transactions one after the
 * other, each read the latest but for the wild ones. The caller frees it. */
char *observed_random(struct rng *r, struct observed_shape shape);

/* What is being tried, for messages. */
struct predict_trial {
	uint64_t seed;
	const char *notation; /* NULL: the trace is printed */
	bool ssi;             /* history.ssi */
	const struct history *h;
	const struct trace *trace;
	struct predict_options o;
};
/* Stops the test with a message that reproduces the trial. */
__attribute__((noreturn)) void predict_complain(const struct predict_trial *t,
                                                const char *what);

/* From scratch: kept transactions are as observed; cuts, numbers, changed
 * reads and flags say what the history shows; values are those that the
 * writers wrote; the order extends so U wr; the history satisfies the level and
 * is not serializable. */
void expect_prediction(const struct predict_trial *t,
                       const struct prediction *p);

/* Test processes over which seeds are spread, and traces for each. */
enum { PREDICT_PROCESSES = 10 };
uint64_t traces_per_run(void);

void trial_begin(struct predict_trial *t, const char *notation);
void trial_end(struct predict_trial *t);

struct check_clock *clock_without_limits(void);

struct predict_run {
	struct predictor *predictor;
	struct check_clock *clock;
	struct diags diags;
};

void predict_run_begin(struct predict_run *r, const struct predict_trial *t);
void predict_run_end(struct predict_run *r);
/* The next prediction, verified; false if there is none. */
bool predict_run_next(struct predict_run *r, const struct predict_trial *t,
                      struct prediction *p);
/* Is there a prediction? */
bool predicts(const struct predict_trial *t);
/* All predictions, against brute force: each once, fewest changes first. */
void expect_all(struct predict_trial *t, const struct twin_trace *w,
                const struct twin_sets *expected);

static inline enum predict_boundary boundary_of(unsigned i)
{
	return i % 2 ? BOUNDARY_RELAXED : BOUNDARY_STRICT;
}

#endif
