/* A prediction under si has a dangerous structure.
 *
 * Call a conflict vulnerable where one transaction reads a version of a key
 * that another one overwrites, and neither is before the other by what it
 * needs, nor is there a key that both write. Every other conflict of two
 * transactions makes one commit before the other begins, by si. So in a cycle
 * of conflicts there are two vulnerable ones in a row: else, along it, each
 * transaction would begin later than the one before. (Fekete, Liarokapis,
 * O'Neil, O'Neil, Shasha, TODS 30, 2005, theorem 3.2.) The transaction between
 * them, the pivot, writes what another one reads, and reads what a third one,
 * or the same, writes.
 *
 * Which keys transactions read and write is as it was observed, in every
 * history of kept transactions and whole copies; and so is what they need.
 * Where nobody can be the pivot, there is no prediction; and mostly few can.
 */
#ifndef ISO_PREDICT_DANGEROUS_STRUCTURE_H
#define ISO_PREDICT_DANGEROUS_STRUCTURE_H

#include "predict/proposal.h"

/* From now on, only proposals with a pivot and its two neighbours are made. All
 * transactions run at si, no read locks, and the boundary is relaxed. */
void dangerous_structure_demand(struct proposal *p);

#endif
