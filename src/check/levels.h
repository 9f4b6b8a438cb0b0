/* The level of each transaction: its own, or that of the others. */
#ifndef ISO_CHECK_LEVELS_H
#define ISO_CHECK_LEVELS_H

#include <stdint.h>

#include "axioms/level.h"
#include "history/facts.h"

/* That of transaction t. */
static inline enum level facts_level(const struct facts *f, enum level others,
                                     uint32_t t)
{
	return f->owns && f->owns[t] ? (enum level)(f->owns[t] - 1) : others;
}
/* Bit l: some transaction has level l. */
unsigned facts_levels(const struct facts *f, enum level others);
/* The level of all transactions; LEVEL_COUNT: it is a mix. */
enum level facts_level_of_all(const struct facts *f, enum level others);
/* The same, borrowed, where no levels of their own count. */
static inline struct facts facts_without_owns(const struct facts *f)
{
	struct facts plain = *f;
	plain.owns = NULL;
	return plain;
}

#endif
