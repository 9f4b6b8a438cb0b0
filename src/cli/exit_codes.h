/* What the program's exit code says. */
#ifndef ISO_CLI_EXIT_CODES_H
#define ISO_CLI_EXIT_CODES_H

#include "base/verdict.h"

/* X(identifier, code, meaning) */
#define EXIT_CODE_TABLE(X)                                                    \
	X(EXIT_HOLDS, 0,                                                      \
	  "everything was explored, run, checked, proved or audited, and "    \
	  "nothing is violated")                                              \
	X(EXIT_VIOLATED, 1,                                                   \
	  "an assertion is violated, a run-time error happens, a history "    \
	  "violates an isolation level, an execution that is not "            \
	  "serializable is predicted, or an SQL log shows that an anomaly "   \
	  "is possible")                                                      \
	X(EXIT_USAGE, 2,                                                      \
	  "the command line is wrong, or an output cannot be "                \
	  "written")                                                          \
	X(EXIT_INPUT, 3,                                                      \
	  "a program, a history or a log cannot be read, code in C does not " \
	  "do the same each time, or a format cannot express a history")      \
	X(EXIT_INCONCLUSIVE, 4,                                               \
	  "nothing is violated so far, but a limit or an interruption came "  \
	  "first, only a part was asked for, a part of a log was left out, "  \
	  "no run counts, or what was predicted could not be validated")      \
	X(EXIT_INTERNAL, 70, "the system failed: no memory, a full disk")

enum exit_code {
#define X(id, code, meaning) id = code,
	EXIT_CODE_TABLE(X)
#undef X
};

static inline int exit_code_of(enum verdict v)
{
	switch (v) {
	case VERDICT_HOLDS:
	case VERDICT_NO_VIOLATION: return EXIT_HOLDS;
	case VERDICT_VIOLATED: return EXIT_VIOLATED;
	default: return EXIT_INCONCLUSIVE;
	}
}

#endif
