/* The canonical layout of programs. */
#ifndef ISO_LANG_FORMAT_H
#define ISO_LANG_FORMAT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"
#include "base/text.h"
#include "lang/ast.h"
#include "lang/source.h"

/* The expression as it was written, in canonical layout on one line. */
void format_expression(struct sources *all, const struct expr *e,
                       struct text *out);
/* The program in canonical layout, comments kept. False on a syntax error. */
bool format_program_text(const char *path, const char *source, size_t length,
                         struct text *out, struct diags *d);

#endif
