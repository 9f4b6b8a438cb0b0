/* `symmetric a, b, c;`: the sessions run the same code up to constants, and
 * exchanging two of them together with these constants leaves the program as
 * it is. */
#ifndef ISO_ANALYSE_DECLARED_SYMMETRY_H
#define ISO_ANALYSE_DECLARED_SYMMETRY_H

#include <stdbool.h>

#include "lang/ast.h"
#include "lang/source.h"

struct program;

/* Checks all declarations of the program compiled from this tree, and notes
 * them there. False, with errors, if one does not hold: what can be told is
 * only as good as the sorts (sorts.h), so some that hold are refused. */
bool declared_symmetry_check(struct syntax *syntax, struct sources *all,
                             struct program *p);

#endif
