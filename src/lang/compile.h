/* From the checked syntax tree to bytecode. */
#ifndef ISO_LANG_COMPILE_H
#define ISO_LANG_COMPILE_H

#include "lang/ast.h"
#include "lang/source.h"

/* Returns NULL when there was an error (in a constant, or a limit). */
struct program *compile(struct syntax *syntax, struct sources *all);

#endif
