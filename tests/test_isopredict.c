#include "suites.h"

void add_isopredict_tests(TCase *tests)
{
	(void)tests;
}
