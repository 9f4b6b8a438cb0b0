/* prc, by its definition: all points of all transactions on one line.
 *
 * Slow and separate from src/axioms: every order of the points is tried, each
 * point given up as soon as it breaks a rule. (levels: p(1) < l < p(2) < .. <
 * c; reads are of the newest version at their point; locks that exclude each
 * other do not overlap.)
 */
#ifndef TESTS_TWIN_POINTS_H
#define TESTS_TWIN_POINTS_H

#include <stdbool.h>

#include "history/history.h"

bool twin_points_allow(const struct history *h);

#endif
