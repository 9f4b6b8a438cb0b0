/* isoscope-tests [SUITE]...: runs the suites named, or all.
 *
 * Each test runs in a process of its own unless CK_FORK=no. CK_RUN_CASE and
 * CK_VERBOSITY are as in Check; ISOSCOPE_SEED and ISOSCOPE_PROGRAMS are read by
 * the suites that try random inputs.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suites.h"

static const struct suite {
	const char *name;
	double seconds;
	void (*add)(TCase *tests);
} suites[] = {
#define X(name, seconds) { #name, seconds, add_##name##_tests },
	SUITE_TABLE(X)
#undef X
};

enum { SUITES = sizeof suites / sizeof *suites };

static bool is_wanted(const char *name, int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], name)) return true;
	return argc == 1;
}

static Suite *suite_new(const struct suite *s)
{
	Suite *suite = suite_create(s->name);
	TCase *tests = tcase_create(s->name);
	tcase_set_timeout(tests, s->seconds);
	s->add(tests);
	suite_add_tcase(suite, tests);
	return suite;
}

static bool names_are_known(int argc, char **argv)
{
	bool known = true;
	for (int i = 1; i < argc; i++) {
		size_t s = 0;
		while (s < SUITES && strcmp(argv[i], suites[s].name)) s++;
		if (s < SUITES) continue;
		fprintf(stderr, "no suite is called '%s'\n", argv[i]);
		known = false;
	}
	return known;
}

int main(int argc, char **argv)
{
	SRunner *runner = srunner_create(NULL);
	if (!names_are_known(argc, argv)) return 2;
	for (size_t s = 0; s < SUITES; s++)
		if (is_wanted(suites[s].name, argc, argv))
			srunner_add_suite(runner, suite_new(&suites[s]));
	srunner_run_all(runner, CK_ENV);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
