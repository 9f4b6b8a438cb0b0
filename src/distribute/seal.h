/* The line at the end of a unit by which damage is seen. */
#ifndef ISO_DISTRIBUTE_SEAL_H
#define ISO_DISTRIBUTE_SEAL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

/* Ends the object that begins at `start` with a hash of its text. */
void seal_add(struct text *t, size_t start);
/* Is there such a line, and is the text before it what it was? Call it for
 * whole JSON values. */
bool seal_holds(const char *text, size_t length);

#endif
