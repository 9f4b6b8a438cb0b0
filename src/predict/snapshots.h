/* Under levels whose reads see a prefix (pc, si): whose snapshot is first.
 *
 * A copy that reads a version has its snapshot before whoever overwrites it
 * commits. From there: who follows a commit in its session, or reads from it,
 * begins later still; who begins later and reads a version does so before who
 * overwrites that commits; and a copy that follows a transaction, or reads from
 * it, has its snapshot after its commit. So one snapshot is before another, and
 * no snapshot is before itself. All this follows from the level; the solver
 * finds at once what would else be learnt from one violation after the other.
 */
#ifndef ISO_PREDICT_SNAPSHOTS_H
#define ISO_PREDICT_SNAPSHOTS_H

#include "predict/proposal.h"

/* Of proposals that the level forbids, refuses many. Sessions times operations
 * and options; does nothing where that is too much. */
void snapshots_demand(struct proposal *p);

#endif
