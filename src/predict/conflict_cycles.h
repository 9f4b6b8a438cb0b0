/* A prediction has a cycle of conflicts through a copy.
 *
 * Take the serial order in which the observed execution ran, restricted to what
 * is kept, and the conflicts in it: session order, who read from whom, the
 * order of writes, and which write overwrites what somebody read. Add a
 * proposal's copies: behind what they need and read from, before the next write
 * of what they read, and, with what they write, behind all that access it. If
 * this graph has no cycle, every order that extends it is serial. So a proposal
 * without a cycle is serializable, and the solver need not make it. (The
 * converse holds where every writer of a key reads it first, and copies write
 * nothing.)
 *
 * The graph without the copies follows the serial order and has no cycle;
 * hence a set of nodes each of which has a successor in the set contains a
 * copy, and goes on from there. That is what the clauses ask for. Linear in the
 * operations and the options.
 */
#ifndef ISO_PREDICT_CONFLICT_CYCLES_H
#define ISO_PREDICT_CONFLICT_CYCLES_H

#include "predict/proposal.h"

/* From now on, only proposals with such a cycle are made. The observed
 * execution is serializable. */
void conflict_cycles_demand(struct proposal *p);

#endif
