#include "suites.h"

void add_check_weak_tests(TCase *tests)
{
	(void)tests;
}
