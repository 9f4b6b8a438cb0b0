/* The closure of many transactions: forward.h's index in place of the rows. For
 * closure.c, which turns to it. */
#ifndef ISO_AXIOMS_CLOSURE_SPARSE_H
#define ISO_AXIOMS_CLOSURE_SPARSE_H

#include "axioms/closure.h"

/* What is there goes into the index, and the rows are given up. */
void closure_turn_sparse(struct closure *c, enum level level);
/* As closure_begin and closure_rewind; room for number t comes first. */
void closure_room_sparse(struct closure *c, uint32_t t);
__attribute__((cold)) void closure_begin_sparse(struct closure *c, uint32_t t,
                                                uint32_t previous,
                                                bool after_all);
/* Into the last transaction, or without it; else all anew. */
void closure_rewind_sparse(struct closure *c, uint32_t count, uint32_t reads,
                           bool is_pending);

#endif
