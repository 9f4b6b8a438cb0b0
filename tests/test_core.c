#include "suites.h"

void add_core_tests(TCase *tests)
{
	(void)tests;
}
