/* Are two sessions the same code up to constants and names of locals? */
#ifndef ISO_ANALYSE_ALIGN_H
#define ISO_ANALYSE_ALIGN_H

#include <stdbool.h>

#include "lang/ast.h"
#include "lang/source.h"

/* Where they are not. */
struct difference {
	struct place a, b;
	const char *what;
};

bool align_sessions(struct item *a, struct item *b, struct difference *d);

#endif
