/* The suites of isoscope-tests, one for each module or topic. */
#ifndef TESTS_SUITES_H
#define TESTS_SUITES_H

#include <check.h>

/*     name, seconds that a test of it may take */
#define SUITE_TABLE(X)        \
	X(base, 60)           \
	X(vm, 60)             \
	X(footprint, 120)     \
	X(fibre, 120)         \
	X(worker, 300)        \
	X(lang, 60)           \
	X(foreign, 120)       \
	X(litmus, 60)         \
	X(levels, 600)        \
	X(staleness, 120)     \
	X(symmetry, 1800)     \
	X(bounded, 600)       \
	X(closure, 600)       \
	X(explore, 1800)      \
	X(branch, 1800)       \
	X(units, 600)         \
	X(jobs, 1800)         \
	X(api, 120)           \
	X(trace, 120)         \
	X(formats, 300)       \
	X(formats_json, 300)  \
	X(formats_lists, 300) \
	X(check_weak, 600)    \
	X(check_strong, 600)  \
	X(core, 600)          \
	X(generate, 300)      \
	X(recorded, 300)      \
	X(run, 600)           \
	X(estimate, 600)      \
	X(outward, 600)       \
	X(isopredict, 300)    \
	X(predict, 1200)      \
	X(compare, 600)       \
	X(process, 120)       \
	X(source_lines, 120)  \
	X(native, 300)        \
	X(native_random, 1800)

#define X(name, seconds) void add_##name##_tests(TCase *tests);
SUITE_TABLE(X)
#undef X

#endif
