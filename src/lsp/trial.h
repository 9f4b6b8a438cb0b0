/* A text as the editor has it, explored for a while, and edited if something
 * fails. */
#ifndef ISO_LSP_TRIAL_H
#define ISO_LSP_TRIAL_H

#include "base/text.h"
#include "lang/source.h"

/* Adds the result as --json has it, without its line end: of an exploration of
 * so many seconds under the level of that word (NULL: the program's). Nothing
 * if it cannot be explored. Is something violated? */
bool trial_explore(struct text *out, const struct load_text *text,
                   const char *level, double seconds);
/* The same of the edits that repair it, if the file holds the text. */
void trial_repair(struct text *out, const struct load_text *text,
                  const char *level, double seconds);

#endif
