#include "suites.h"

void add_formats_tests(TCase *tests)
{
	(void)tests;
}
