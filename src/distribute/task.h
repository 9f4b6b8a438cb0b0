/* Which exploration something is a part of: the program and the options that
 * decide what is found. How long it may take, in how many threads, does not.
 */
#ifndef ISO_DISTRIBUTE_TASK_H
#define ISO_DISTRIBUTE_TASK_H

#include <stdbool.h>
#include <stdint.h>

#include "axioms/level.h"
#include "base/text.h"
#include "dpor/explorer.h"
#include "native/host/library.h"

struct program;

struct task {
	char *program;     /* absolute path; owned */
	char *given;       /* the path as it was given; owned */
	uint64_t digest;   /* program_digest() */
	uint32_t sessions; /* program_session_count() */
	char *order;       /* --sessions-order; NULL: as declared; owned */
	enum explorer_algorithm algorithm;
	enum level level, base;
	bool robust, classify;
	bool symmetry;        /* symmetric histories are explored once */
	uint64_t max_changes; /* UINT64_MAX: no limit */
	/* Of sessions in C; zeros: the program has none. */
	struct library_bounds bounds;
};

/* `order` may be NULL; `p` may be the view in that order. */
void task_init(struct task *t, const struct program *p,
               const struct explore_options *o, const char *order);
void task_copy(struct task *to, const struct task *from);
void task_free(struct task *t);
/* The path to load the program by: as it was given, where that leads to it, so
 * that reports are the same; else the absolute one. */
const char *task_path(const struct task *t);
/* Sets what the task decides; the symmetry is left to who has the program. */
void task_options(const struct task *t, struct explore_options *o);
/* Is the program the one of the task? Then its sessions in C have the task's
 * bounds from here on; if not, why is added to the text. */
bool task_take_program(const struct task *t, const struct program *p,
                       struct text *why);
/* Are both parts of one exploration? If not, the first difference is added to
 * the text: "under si, not ser". */
bool task_equal(const struct task *t, const struct task *wanted,
                struct text *why);

/* False if there is no such algorithm. */
bool task_algorithm_from_word(const char *word, enum explorer_algorithm *out);

#endif
