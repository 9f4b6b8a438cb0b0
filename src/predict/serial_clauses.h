/* What a serial order proves about many proposals at once.
 *
 * A serial order of transactions of the observed execution is serial for every
 * kept part of them. A copy fits at a place of it where its fixed reads see
 * what they saw, and its writes come between no reader and what that reads; at
 * such a place it may read what is the last version there. So a proposal is
 * serializable if all that it keeps is in the order, and each of its copies has
 * a place that grants the options taken. The clause that is learnt says that
 * this is not so.
 */
#ifndef ISO_PREDICT_SERIAL_CLAUSES_H
#define ISO_PREDICT_SERIAL_CLAUSES_H

#include "predict/candidate.h"
#include "predict/insertion_points.h"
#include "predict/proposal.h"

struct serial_clauses;

struct serial_clauses *serial_clauses_new(const struct observed_history *o,
                                          const struct divergent_copies *c,
                                          struct check_clock *clock);
void serial_clauses_free(struct serial_clauses *x);

/* Learns from the order in which the observed execution is serial. Nothing is
 * learnt, here and below, when time is over first. */
void serial_clauses_learn_observed(struct serial_clauses *x, struct proposal *p,
                                   enum places_of_writers places);
/* Learns from a serial order of the last proposal: numbers of the candidate's
 * facts, init first. The clause refuses this proposal. */
void serial_clauses_learn(struct serial_clauses *x, struct proposal *p,
                          const struct candidate *candidate,
                          const uint32_t *order, enum places_of_writers places);
/* Refuses the last proposal, and every one that consists of parts of it. Right
 * for whatever is inherited by parts. */
void serial_clauses_refuse_parts(struct proposal *p);

#endif
