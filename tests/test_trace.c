#include "suites.h"

void add_trace_tests(TCase *tests)
{
	(void)tests;
}
