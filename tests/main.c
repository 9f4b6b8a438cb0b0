/* isoscope-tests [SUITE]...: runs the suites named, or all.
 *
 * Each test runs in a process of its own unless CK_FORK=no. CK_RUN_CASE and
 * CK_VERBOSITY are as in Check; ISOSCOPE_SEED, ISOSCOPE_PROGRAMS and
 * ISOSCOPE_QUICK are read by the suites that try random inputs. The last line
 * of a suite that fails repeats it.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suites.h"
#include "support.h"

/* Ends a test that hangs, on the busiest of machines too. */
enum { MOST_SECONDS = 1800 };

static const struct suite {
	const char *name;
	void (*add)(TCase *tests);
} suites[] = {
#define X(name) { #name, add_##name##_tests },
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
	tcase_set_timeout(tests, MOST_SECONDS);
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

static void print_variable(const char *name)
{
	const char *value = getenv(name);
	if (value) printf(" %s=%s", name, value);
}

/* One command for each suite with a failure: what it tries is made of these
 * variables alone. */
static void print_repetitions(SRunner *runner)
{
	int count = srunner_ntests_failed(runner);
	TestResult **failures = srunner_failures(runner);
	const char *last = "";
	for (int i = 0; i < count; i++) {
		const char *name = tr_tcname(failures[i]);
		if (!strcmp(name, last)) continue;
		last = name;
		printf("to repeat: ISOSCOPE_SEED=%llu",
		       (unsigned long long)first_seed());
		print_variable("ISOSCOPE_PROGRAMS");
		print_variable("ISOSCOPE_QUICK");
		printf(" ./isoscope-tests %s\n", name);
	}
	free(failures);
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
	print_repetitions(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
