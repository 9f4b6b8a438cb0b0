/* What an exploration says about the program as a whole. */
#ifndef ISO_DPOR_VERDICT_H
#define ISO_DPOR_VERDICT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/verdict.h"

struct explorer;
struct program;

/* A violation that was seen is definite, even if a limit came later; without
 * one, only a complete exploration holds. That up to max_changes is complete:
 * it was asked about these histories only. But if there are no histories, since
 * each execution makes an assumption false, nothing is known. */
enum verdict explorer_verdict(const struct explorer *e);

/* Is the slot something that was checked: an assertion of the program, or
 * robustness if it was asked for? Run-time errors are not: they are met. */
bool explorer_slot_checked(const struct explorer *e, uint32_t slot);
bool explorer_slot_violated(const struct explorer *e, uint32_t slot);
/* The slot says that every history is serializable. */
bool explorer_slot_serializable(const struct explorer *e, uint32_t slot);
/* Was each history tested for being serializable, so that
 * explore_stats.unserializable means something? */
bool explorer_serializability_known(const struct explorer *e);
/* How many slots were checked, and how many of those are violated. */
uint32_t explorer_checked_count(const struct explorer *e);
uint32_t explorer_violated_count(const struct explorer *e);

#endif
