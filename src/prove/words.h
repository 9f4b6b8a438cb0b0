/* What transactions do, in words: as much of their text as summaries keep. */
#ifndef ISO_PROVE_WORDS_H
#define ISO_PROVE_WORDS_H

#include "prove/summary.h"

/* The key of an access, as its transaction names it: "balance[account]". What
 * is not known is "?". */
void words_key(struct text *out, const struct application *a,
               const struct summary *s, const struct access *access);
/* Under which condition it happens, where nothing ends by an error: "b >=
 * amount"; "" if always; "sometimes" if it is long or not known. */
void words_condition(struct text *out, const struct application *a,
                     const struct summary *s, const struct access *access);

#endif
