#include "suites.h"

void add_compare_tests(TCase *tests)
{
	(void)tests;
}
