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
	bool begun, ended;  /* the first call came; there is no further one */
	bool failed;        /* a limit came when beginning */
	bool complete;      /* every free read of a proposal is answered */
	bool few;           /* proposals with few changed reads come first */
	uint32_t changes;   /* then: so many may change */
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
/* minimize.c: makes the last proposal, which is a prediction, keep more
 * transactions, and diverge and change less, while it stays one. Stops early
 * when a limit is reached. */
void predictor_minimize(struct predictor *p);
/* prediction.c: answers the free reads that took nothing. False if a limit came
 * first. */
bool predictor_fill(struct predictor *p);
/* The last proposal, in which every free read is answered, as a prediction. */
void predictor_build(struct predictor *p, struct prediction *out);

static inline struct choice_of predictor_choice(const struct predictor *p)
{
	return (struct choice_of){ p->p.kept, p->p.chosen, p->p.chosen_count,
		                   p->p.taken };
}

#endif
