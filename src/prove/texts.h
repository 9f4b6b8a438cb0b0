/* What of a program's text a client of it needs. */
#ifndef ISO_PROVE_TEXTS_H
#define ISO_PROVE_TEXTS_H

#include "lang/source.h"
#include "prove/summary.h"

/* Adds the source's items to a->keys, globals of families that are known, or to
 * a->declarations. What sessions do, what is asserted, and the level are left
 * out. */
void keep_texts(struct application *a, struct sources *all, uint32_t source);

#endif
