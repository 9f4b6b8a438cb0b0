#include "suites.h"

void add_predict_tests(TCase *tests)
{
	(void)tests;
}
