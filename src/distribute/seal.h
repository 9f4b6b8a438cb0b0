/* What the writer and the reader of units have to agree on: the line at the end
 * by which damage is seen, and the words for kinds of branches. */
#ifndef ISO_DISTRIBUTE_SEAL_H
#define ISO_DISTRIBUTE_SEAL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"
#include "dpor/branch.h"

/* Ends the object that begins at `start` with a hash of its text. */
void seal_add(struct text *t, size_t start);
/* Is there such a line, and is the text before it what it was? Call it for
 * whole JSON values. */
bool seal_holds(const char *text, size_t length);

const char *seal_kind_word(enum branch_kind k);
bool seal_kind_from_word(const char *word, enum branch_kind *out);

#endif
