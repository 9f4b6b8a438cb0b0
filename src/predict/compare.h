/* How much of what there is does prediction find? Records serial traces of a
 * program, predicts from each, replays the predictions; runs the program at
 * random as often; explores it exhaustively; and counts.
 */
#ifndef ISO_PREDICT_COMPARE_H
#define ISO_PREDICT_COMPARE_H

#include <stdatomic.h>

#include "base/budget.h"
#include "base/verdict.h"
#include "predict/predict.h"

struct program;
struct comparison;

struct compare_options {
	struct predict_options predict;
	uint64_t traces;      /* distinct serial traces at most; 0: all */
	uint64_t predictions; /* of each trace at most; 0: one */
	uint64_t runs;        /* random ones; 0: as many executions as
	                       * prediction needed: traces and replays */
	uint64_t seed;
	uint64_t seeds; /* the random runs as often, each time with the seeds
	                 * behind those before; 0 is 1 */
	/* The timeout is of the whole: a third for prediction, half of what is
	 * left for random runs; the memory of each way by itself. */
	WITH_BUDGET;
	unsigned jobs; /* threads of the exploration; 0 is 1 */
};

/* What one way of looking has reached. */
struct compare_reach {
	enum stop_reason end;    /* the parts of STOP_TOO_LARGE are one */
	uint64_t executions;     /* those that met a false assumption too */
	uint64_t unserializable; /* distinct histories */
	uint64_t confirmed;      /* of them, that the exploration output: all
	                          * of them, once it is complete */
	uint64_t slots;          /* violated: assertions, run-time errors */
	double cpu_seconds;
};

/* The random runs that began with one seed. */
struct compare_seed {
	uint64_t seed;
	struct compare_reach reach; /* without `confirmed` */
};

struct compare_stats {
	uint64_t traces;      /* distinct ones that were recorded */
	uint64_t recorded;    /* runs that this took; 0: they were explored */
	bool all_traces;      /* there are no others */
	uint64_t predicted;   /* traces with a prediction */
	uint64_t unpredicted; /* traces that provably have none */
	uint64_t unknown;     /* traces where a limit came first */
	uint64_t predictions; /* all together, that were replayed */
	uint64_t validated;   /* replayed to an unserializable execution */
	uint64_t diverged;    /* of all: replayed otherwise than predicted */
	uint64_t validated_diverged; /* of the validated */
	uint64_t false_predictions;  /* replayed to a serializable execution */
	uint64_t pruned;             /* replayed into a false assumption */
	/* CPU time of which prediction.cpu_seconds consists. */
	double recording_seconds, predicting_seconds, replaying_seconds;
	struct compare_reach prediction, random, exploration;
	uint64_t histories; /* in all, found by the exploration */
};

struct compare_observer {
	void *payload;
	/* Now and then: what is being done ("predicting"), and how far it has
	 * come (of: 0 if unknown). False to stop. May be NULL. */
	bool (*tick)(void *payload, const char *phase, uint64_t done,
	             uint64_t of);
};

/* Options and observer are copied; the program is borrowed. */
struct comparison *comparison_new(const struct program *p,
                                  const struct compare_options *o,
                                  const struct compare_observer *observer);
void comparison_free(struct comparison *c);
void comparison_run(struct comparison *c); /* call once */
const struct compare_stats *comparison_stats(const struct comparison *c);
/* Did all come to their end, and each trace get a definite answer? */
bool comparison_complete(const struct comparison *c);
/* Violated: some way found an unserializable history or a violated slot. */
enum verdict comparison_verdict(const struct comparison *c);
/* What there is: what the exploration found; when that ended early, at least
 * what all found together. */
uint64_t comparison_unserializable(const struct comparison *c);
uint64_t comparison_violated_slots(const struct comparison *c);
const struct compare_options *comparison_options(const struct comparison *c);
const struct program *comparison_program(const struct comparison *c);
/* Of each seed that had its turn; all together are the random runs. */
const struct compare_seed *comparison_seeds(const struct comparison *c,
                                            uint64_t *count);
/* Assertions, and one for run-time errors. */
uint32_t comparison_slot_count(const struct comparison *c);
/* Was the slot (execution.h) violated by prediction, random runs,
 * exploration? To prediction belong the recorded executions and those that
 * were replayed. */
enum compare_way { BY_PREDICTION, BY_RUNS, BY_EXPLORATION, COMPARE_WAYS };
bool comparison_violated(const struct comparison *c, enum compare_way w,
                         uint32_t slot);

#endif
