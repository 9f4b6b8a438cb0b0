/* Telling that a session did not do the same when it was run again. */
#ifndef ISO_NATIVE_HOST_DIVERGENCE_H
#define ISO_NATIVE_HOST_DIVERGENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "native/host/library.h"
#include "native/host/step_tree.h"

/* Do both do the same, and come to the same findings and notes since the steps
 * before them? */
bool steps_agree(const struct tree_step *a, const struct tree_step *b);
/* Lines of text: what was done both times, the first time, and again. `first`
 * and `again` are the last steps of both; `same` is how many steps behind the
 * root agree. */
void print_divergence(struct text *t, struct library *l,
                      const struct tree_step *first,
                      const struct tree_step *again, uint64_t same);

#endif
