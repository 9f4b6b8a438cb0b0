#include "suites.h"

void add_outward_tests(TCase *tests)
{
	(void)tests;
}
