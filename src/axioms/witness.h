/* Why a history is not allowed by a level, and what that is called. */
#ifndef ISO_AXIOMS_WITNESS_H
#define ISO_AXIOMS_WITNESS_H

#include <stdbool.h>
#include <stdint.h>

#include "axioms/level.h"
#include "axioms/reason.h"

struct history;

/* Fills `out` with a shortest cycle found; false if the history satisfies the
 * level. A dirty read is a single wr, not a cycle. For pc, psi, si and ser the
 * cycle is one of dependencies so, wr, ww and rw, under every order of the
 * writers that the level leaves open; where several orders were open, it is
 * the cycle of the one tried. A ww that a read forces names its reader; one
 * that is known or has another reason names `from`. */
bool level_witness(enum level l, const struct history *h, struct witness *out);
/* The same where levels that transactions have of their own count. */
bool level_witness_mix(enum level others, const struct history *h,
                       struct witness *out);
void witness_free(struct witness *w);
/* "so", "wr", "forced", "ww", "rw", "lock" or "ssi". */
const char *reason_word(enum reason_kind r);

/* The usual name of the anomaly that a history which is not serializable
 * shows, and the weakest level that forbids the history: the first in the
 * table. NULL and LEVEL_COUNT for a history that is serializable. */
const char *anomaly_name(const struct history *h, enum level *forbidden_by);
/* The same for a history that level l forbids: of l and the levels that it
 * implies, the weakest one. NULL and LEVEL_COUNT if l allows the history. */
const char *anomaly_name_under(enum level l, const struct history *h,
                               enum level *forbidden_by);

#endif
