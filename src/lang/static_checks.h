/* What the grammar leaves open: names, scopes, and where each thing is
 * allowed. */
#ifndef ISO_LANG_STATIC_CHECKS_H
#define ISO_LANG_STATIC_CHECKS_H

#include <stdbool.h>

#include "lang/ast.h"
#include "lang/source.h"

/* Resolves every name and fills in what ast.h calls "found while checking".
 * False when there was an error. */
bool check(struct syntax *syntax, struct sources *all);

#endif
