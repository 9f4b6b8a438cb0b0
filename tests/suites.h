/* The suites of isoscope-tests, one for each module or topic: the list is
 * SUITES in tests/sources.am, of which make writes suite_table.h. */
#ifndef TESTS_SUITES_H
#define TESTS_SUITES_H

#include "assertions.h"
#include "suite_table.h"

#define X(name) void add_##name##_tests(TCase *tests);
SUITE_TABLE(X)
#undef X

#endif
