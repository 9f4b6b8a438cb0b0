/* What stands behind the types of isoscope.h: thin objects around the internal
 * ones, shared by the files iso_*.c.
 */
#ifndef ISO_API_OBJECTS_H
#define ISO_API_OBJECTS_H

#include <pthread.h>
#include <stddef.h>

#include "api/explore_plan.h"
#include "api/problem.h"
#include "axioms/level.h"
#include "base/memory.h"
#include "base/diag.h"
#include "base/text.h"
#include "formats/formats.h"
#include "isoscope.h"

struct history;
struct program;
struct trace;

struct iso_diags {
	struct diags list;
};

struct iso_program {
	struct program *compiled;
};

/* It has one of two forms, and the other one once that is asked for. */
struct iso_history {
	pthread_mutex_t lock; /* of what is made when it is asked for */
	struct trace *trace;
	struct history *history;
	bool trace_borrowed, history_borrowed;
	bool explored;      /* `history` came first: it is small */
	enum format format; /* FORMAT_COUNT: it was not read */
	uint64_t number;    /* in its file, from 1 */
	double read_seconds;
	uint32_t *order; /* a commit order that is known, malloc'ed; or NULL */
	struct text text;
};

/* Sets status to the call's, or to ISO_E_MEMORY: then what it took is given
 * back, and there is nothing more in the heap (mem_run()). The call's
 * arguments must not change before. */
#define CALL_IN(heap, status, call)              \
	do {                                     \
		struct mem_work work;            \
		if (!mem_begin(&work, (heap))) { \
			(status) = ISO_E_MEMORY; \
		} else if (setjmp(work.exit)) {  \
			mem_end(&work, true);    \
			(status) = ISO_E_MEMORY; \
		} else {                         \
			(status) = (call);       \
			mem_end(&work, false);   \
		}                                \
	} while (0)

static inline bool is_level(iso_level l)
{
	return l >= ISO_LEVEL_NONE && l <= ISO_LEVEL_SER;
}

/* The public levels and formats are the internal ones moved by one, for the
 * default. */
static inline enum level internal_level(iso_level l)
{
	return (enum level)(l - 1);
}

static inline iso_level public_level(enum level l)
{
	return l == LEVEL_COUNT ? ISO_LEVEL_DEFAULT : (iso_level)(l + 1);
}

/* FORMAT_COUNT for ISO_FORMAT_DETECT. */
static inline enum format internal_format(iso_format f)
{
	return f == ISO_FORMAT_DETECT ? FORMAT_COUNT : (enum format)(f - 1);
}

static inline bool is_format(iso_format f)
{
	return f >= ISO_FORMAT_DETECT && f <= ISO_FORMAT_ISOPREDICT;
}

/* Copies a structure that says its own size, which may be that of an older
 * version; NULL is all zero. False if it is larger than this version's. */
bool options_read(void *to, size_t size, const void *from);
/* Writes as much of `from` as the size in `to` says. False if that is none. */
bool structure_write(void *to, const void *from, size_t size);

/* Hands over or drops the list. */
void diags_give(iso_diags **to, struct diags *list);
/* The public error for a problem, or 0; `input` is the one for what cannot be
 * read. */
int problem_error(const struct problem *p, int input);
/* The same where histories are read; the words become a diagnostic, and all
 * diagnostics are handed over or dropped. */
int problem_give(struct problem *p, iso_diags **to);

/* Takes over the trace or the history, unless it is `borrowed`. */
iso_history *history_of_trace(struct trace *t, bool borrowed);
iso_history *history_of_exploration(struct history *h, bool borrowed);
/* In either form; the history's. */
const struct trace *history_as_trace(const iso_history *h);

/* Are they of a check, and do they go together? */
bool check_options_read(iso_options *to, const iso_options *from);
/* Do they say nothing that a file decides which is gone on with? */
bool check_options_are_limits(const iso_options *o);
/* Makes the plan of an exploration; the task, or NULL, is that of a file. To be
 * freed either way. Returns 0 or the error. */
int check_plan_make(struct explore_plan *x, const iso_program *program,
                    const iso_options *given, const struct task *task,
                    struct problem *p);

#endif
