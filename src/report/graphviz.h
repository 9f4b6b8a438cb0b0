/* Drawing: Graphviz is run, if it is there. */
#ifndef ISO_REPORT_GRAPHVIZ_H
#define ISO_REPORT_GRAPHVIZ_H

#include <stdbool.h>

#include "base/text.h"

/* Is there a program `dot` to run? */
bool graphviz_present(void);
/* Runs `dot -Tsvg`, with the picture's source as its input and the open file
 * `to` as its output, without a shell. False, with the reason in `problem`,
 * if that does not succeed. */
bool graphviz_draw(const struct text *source, int to, struct text *problem);

#endif
