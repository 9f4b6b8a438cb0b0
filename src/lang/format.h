/* The canonical layout of programs. load.h has the rest. */
#ifndef ISO_LANG_FORMAT_H
#define ISO_LANG_FORMAT_H

#include "base/text.h"
#include "lang/ast.h"
#include "lang/source.h"

/* The expression as it was written, in canonical layout on one line. */
void format_expression(struct sources *all, const struct expr *e,
                       struct text *out);

#endif
