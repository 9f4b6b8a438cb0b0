/* From the checked syntax tree to bytecode. */
#ifndef ISO_COMPILE_COMPILE_H
#define ISO_COMPILE_COMPILE_H

#include "lang/ast.h"
#include "lang/source.h"

/* COMPILE_TO_SHOW: nothing outside of isoscope is loaded or run. The libraries
 * of functions in C are not looked for, and constants that need one are
 * errors. COMPILE_LOCKS_AS_WRITES: to run, and a read that is `locked` writes
 * back what it read. COMPILE_TRANSACTIONS: they are all that is asked about, so
 * there need not be sessions. */
enum compile_purpose {
	COMPILE_TO_RUN,
	COMPILE_TO_SHOW,
	COMPILE_TO_EDIT, /* the same, and there need not be sessions */
	COMPILE_TRANSACTIONS,
	COMPILE_LOCKS_AS_WRITES
};

/* Functions in C may take so many seconds. Returns NULL when there was an error
 * (in a constant, a library, or a limit). */
struct program *compile(struct syntax *syntax, struct sources *all,
                        enum compile_purpose purpose, double step_timeout);

#endif
