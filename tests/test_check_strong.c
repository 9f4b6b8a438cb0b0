#include "suites.h"

void add_check_strong_tests(TCase *tests)
{
	(void)tests;
}
