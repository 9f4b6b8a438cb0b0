/* A text as the editor has it, read: what is wrong with it, and what its names
 * are. */
#ifndef ISO_LSP_LOOK_H
#define ISO_LSP_LOOK_H

#include <jansson.h>
#include <stdbool.h>

#include "lang/source.h"

/* {"found":"look","diagnostics":[{"file","line","column","kind","message"}],
 * "names":[{"line","column","words"}],"runs":bool}: places from 1, in
 * characters; words are in Markdown. It runs if there is something to explore
 * that does without code in C. Nothing of the program is run. */
json_t *look_at(const struct load_text *text);

#endif
