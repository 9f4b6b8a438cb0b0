/* Why a call did not do what it was asked to do. */
#ifndef ISO_API_PROBLEM_H
#define ISO_API_PROBLEM_H

#include "base/diag.h"
#include "base/text.h"

enum problem_kind {
	PROBLEM_NONE,
	PROBLEM_REQUEST, /* what is asked for cannot be done, or not together */
	PROBLEM_INPUT,   /* a program or history cannot be read or expressed */
	PROBLEM_LIMIT,   /* a limit or an interruption came first */
	PROBLEM_SYSTEM,  /* something could not be written */
	PROBLEM_FAULT    /* the program's code in C does not do the same each
	                  * time: program_fault() */
};

struct problem {
	enum problem_kind kind;
	struct text words;  /* one sentence; empty if the diagnostics say all */
	struct diags diags; /* warnings too, also when there is no problem */
};

void problem_free(struct problem *p);
/* Sets the kind and the words; the first problem is the one that is kept.
 * Returns false, so that a function can end with it. */
bool problem_set(struct problem *p, enum problem_kind kind, const char *format,
                 ...) __attribute__((format(printf, 3, 4)));
/* The same where the diagnostics say what is wrong. */
bool problem_diagnosed(struct problem *p, enum problem_kind kind);

#endif
