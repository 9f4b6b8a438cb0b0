/* The predictor's insides, shared by the files of this folder. */
#ifndef ISO_PREDICT_PREDICTOR_H
#define ISO_PREDICT_PREDICTOR_H

#include "predict/candidate.h"
#include "predict/serial_clauses.h"
#include "predict/proposal.h"

struct predictor {
	struct predict_options options;
	struct predict_stats stats;
	struct check_clock *clock;
	struct observed_history o;
	struct divergent_copies c;
	struct proposal p;
	struct candidate x;
	struct serial_clauses *clauses;
	bool begun, ended; /* the first call came; there is no further one */
	bool failed;       /* a limit came when beginning */
	bool wider;        /* another boundary is to come */
	bool itself;       /* the observed execution was the first */
	bool part;         /* not all copies and options are offered */
	bool nearest;      /* of the last prediction: as in predict.h */
	uint32_t changes;  /* no further one changes fewer reads */
	/* Of all predictions the changed reads; each set ends with an op
	 * UINT32_MAX. */
	struct changed_read *given;
	size_t given_count, given_capacity;
	const char *reason; /* why an answer is UNKNOWN */
};

enum finding_answer { ANSWERED_YES, ANSWERED_NO, ANSWERED_OPEN };

/* Of the candidate's history. Does the level allow it? If not and `core` is not
 * NULL, it receives transactions that prove it, with *core_count. */
enum finding_answer predictor_allows(struct predictor *p, uint32_t **core,
                                     uint32_t *core_count);
/* Is it serializable? If so and `order` is not NULL, it receives a serial order
 * of all its transactions. With the approximate encoding NO means a cycle in
 * pco, and YES without an order that there is none, though the history is not
 * serializable. */
enum finding_answer predictor_serializable(struct predictor *p,
                                           uint32_t **order);

/* quick_predictions.c: a transaction that makes a prediction when it alone
 * diverges, the latest one; 0 if none does so for reasons that are seen at
 * once. (rc and none only: prediction by the quick rules.) */
uint32_t predictor_quick(const struct predictor *p);
enum { CHANGES_ANY = UINT32_MAX };
/* Makes proposals with at most so many changed reads until one is a prediction.
 * UNKNOWN also after that many rounds; 0: no limit. */
enum predict_answer predictor_search(struct predictor *p, uint32_t changes,
                                     uint64_t rounds);
/* minimize.c: from the last proposal, which is a prediction, to one with the
 * fewest changed reads, which keeps as much as may be. Stops early when a limit
 * is reached, and for who wants one only, when it takes long: then it may not
 * be the nearest. */
void predictor_approach(struct predictor *p);
/* prediction.c: the last proposal as a prediction. */
void predictor_build(struct predictor *p, struct prediction *out);

static inline struct choice_of predictor_choice(const struct predictor *p)
{
	return (struct choice_of){ p->p.kept, p->p.chosen, p->p.chosen_count,
		                   p->p.taken };
}

#endif
