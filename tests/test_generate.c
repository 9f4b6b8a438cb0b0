#include "suites.h"

void add_generate_tests(TCase *tests)
{
	(void)tests;
}
