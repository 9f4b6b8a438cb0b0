/* A runner of guest code: a worker process and what it was seen to do. Shared
 * by the files of this folder that run things.
 */
#ifndef ISO_NATIVE_HOST_GUEST_H
#define ISO_NATIVE_HOST_GUEST_H

#include "base/region.h"
#include "native/host/library.h"
#include "native/host/step_tree.h"
#include "native/host/process.h"
#include "vm/guest.h"
#include "vm/guest_pool.h"

struct known_calls; /* foreign_call.c */

/* An address in the code of a worker, and its number in the library. */
struct point_at {
	uint64_t pc;
	uint32_t point;
};

struct guest {
	struct pooled_guest pooled; /* first */
	struct library *library;
	struct process *process;
	struct region region; /* what is kept: steps, values */
	size_t extra_bytes;   /* held outside the region */
	struct step_tree tree;
	size_t budget;                 /* bytes from which on nothing is kept */
	struct session_tree *sessions; /* and expectations, behind them */
	uint32_t session_count;        /* with expectations */
	uint64_t serial;               /* of the newest step */
	uint64_t asked;                /* commands given to it */
	struct tree_step **leaves; /* ends of sessions to be run once more */
	size_t leaf_count, leaf_capacity;
	struct table points_by_pc; /* of the worker at hand */
	struct point_at *points;
	uint32_t point_count, point_capacity;
	struct region scratch; /* of one command */
	struct known_calls *calls;
};

/* `sessions` counts expectations as well. The worker is not started. */
struct guest *guest_new(struct library *l, const struct worker_job *job,
                        uint32_t sessions);
void guest_free(struct guest *g);
size_t guest_bytes(const struct guest *g);
uint64_t guest_asked(const struct guest *g);
double guest_cpu(const struct guest *g);
void guest_settle(struct guest *g);
/* guest_ops.start and .next. */
const struct guest_step *guest_start(struct guest *g, uint32_t session);
const struct guest_step *guest_next(struct guest *g,
                                    const struct guest_step *from,
                                    struct value answer, struct region *r);

/* Numbers for what is met: of the library. */
uint32_t guest_point(struct guest *g, uint64_t pc);
uint32_t guest_assertion(struct guest *g, const char *message, uint64_t pc);

/* foreign_call.c: guest_ops.call. Functions are pure: results are kept, and the
 * first call with given arguments is made twice, to see that it is. */
bool guest_call(struct guest *g, uint32_t function,
                const struct value *arguments, uint32_t count, struct region *r,
                struct value *out, const char **error);
void known_calls_free(struct known_calls *m); /* NULL is fine */

#endif
