/* The part of a predicted history that matters. */
#ifndef ISO_REPORT_PREDICT_PART_H
#define ISO_REPORT_PREDICT_PART_H

#include "axioms/level.h"
#include "axioms/witness.h"
#include "report/counterexample.h"
#include "report/dot.h"
#include "result/predicted.h"

/* The transactions of the witness, those that read otherwise than observed,
 * and the writers that these have and had; with their operations on keys that
 * matter to any of them. */
struct predict_part {
	struct history *history;
	struct witness cycle; /* of the witness, in the numbers of this one;
	                       * empty if there is none */
	struct dot_change *changes;
	uint32_t change_count;
};

/* Linear in the predicted history. */
void predict_part_find(struct predict_part *out, const struct predict_case *of,
                       const struct predicted *p);
void predict_part_free(struct predict_part *p);

/* The reads of the witness's part that were observed otherwise: malloc'ed,
 * `count` of them. */
struct event_mark *predict_marks(const struct trace *observed,
                                 const struct predicted *p, uint32_t *count);

#endif
