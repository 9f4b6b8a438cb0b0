/* How much of what there is does prediction find? Records serial traces of a
 * program, predicts from each, replays the predictions; runs the program at
 * random as often; explores it exhaustively; and counts.
 */
#ifndef ISO_PREDICT_COMPARE_H
#define ISO_PREDICT_COMPARE_H

#include <stdatomic.h>

#include "predict/predict.h"

struct program;
struct comparison;

struct compare_options {
	struct predict_options predict;
	uint64_t traces;      /* distinct serial traces at most; 0: all */
	uint64_t predictions; /* of each trace at most */
	uint64_t runs;        /* random ones; 0: as many executions as
	                       * prediction needed: traces and replays */
	uint64_t seed;
	double timeout;       /* of the whole; 0: no limit */
	uint64_t memory;      /* of the exploration; 0: no limit */
	uint64_t max_histories; /* of the exploration; 0: no limit */
	const atomic_bool *interrupt; /* may be NULL */
};

/* What one way of looking has reached. */
struct compare_reach {
	bool complete;           /* it came to its end */
	uint64_t executions;
	uint64_t unserializable; /* distinct histories */
	uint64_t slots;          /* violated: assertions, run-time errors */
	double cpu_seconds;
};

struct compare_stats {
	uint64_t traces;      /* distinct ones that were recorded */
	bool all_traces;      /* there are no others */
	uint64_t predicted;   /* traces with a prediction */
	uint64_t unpredicted; /* traces that provably have none */
	uint64_t unknown;     /* traces where a limit came first */
	uint64_t predictions; /* all together */
	uint64_t validated;   /* replayed to an unserializable execution */
	uint64_t diverged;    /* of all: replayed otherwise than predicted */
	uint64_t validated_diverged; /* of the validated */
	uint64_t false_predictions;  /* replayed to a serializable execution */
	struct compare_reach prediction, random, exploration;
	uint64_t histories;   /* in all, found by the exploration */
};

struct compare_observer {
	void *payload;
	/* Now and then: what is being done ("predicting"), and how far it has
	 * come (of: 0 if unknown). False to stop. */
	bool (*tick)(void *payload, const char *phase, uint64_t done,
	             uint64_t of);
};

struct comparison *comparison_new(const struct program *p,
                                  const struct compare_options *o,
                                  const struct compare_observer *observer);
void comparison_free(struct comparison *c);
void comparison_run(struct comparison *c); /* call once */
const struct compare_stats *comparison_stats(const struct comparison *c);
const struct compare_options *comparison_options(const struct comparison *c);
const struct program *comparison_program(const struct comparison *c);
/* Was the slot (execution.h) violated by prediction, random runs,
 * exploration? */
enum compare_way { BY_PREDICTION, BY_RUNS, BY_EXPLORATION };
bool comparison_violated(const struct comparison *c, enum compare_way w,
                         uint32_t slot);

#endif
