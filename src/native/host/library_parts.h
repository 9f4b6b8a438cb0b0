/* What a library consists of: for library.c, which knows names, places and
 * assertions, and for runners.c, which has the code run. */
#ifndef ISO_NATIVE_HOST_LIBRARY_PARTS_H
#define ISO_NATIVE_HOST_LIBRARY_PARTS_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/diag.h"
#include "base/memory.h"
#include "base/region.h"
#include "base/table.h"
#include "native/host/declarations.h"
#include "native/host/library.h"
#include "native/job.h"
#include "vm/bytecode.h"
#include "vm/guest_pool.h"

/* Where code stands: by its address in a file, and as reports show it. */
struct known_point {
	const char *object;
	uint64_t address;
	uint32_t number; /* in positions; several addresses may share one */
};

struct names {
	const char **items;
	uint32_t count, capacity;
	struct table table;
};

struct library {
	struct guest_library guest; /* first: its address is the library's */
	char *client;
	struct worker_job job;
	struct declarations declarations;
	struct foreign_function *functions;
	uint32_t function_count, function_capacity;
	double step_timeout;
	struct library_bounds bounds;
	bool show_output, uniform;
	const atomic_bool *interrupt;
	double deadline;
	size_t budget;
	struct guest_pool pool;
	pthread_mutex_t lock; /* for what follows */
	struct region region;
	char *fault;
	char *bound;          /* that was met, */
	uint32_t bound_point; /* and where */
	struct names sessions, transactions;
	struct source_lines *lines;
	struct known_point *points;
	uint32_t point_count, point_capacity;
	struct position *positions; /* [0] is nowhere */
	uint32_t position_count, position_capacity;
	uint32_t expectation_count;
	struct assertion *assertions; /* all that there may be */
	uint32_t assertion_capacity, assertion_room;
	uint32_t *assertion_points;
	_Atomic uint32_t assertion_count;
};

static inline struct library *library_of(struct guest_library *g)
{
	return (struct library *)g;
}

static inline void library_lock(struct library *l)
{
	mem_lock(&l->lock);
}

static inline void library_unlock(struct library *l)
{
	mem_unlock(&l->lock);
}

/* Makes all but the runners and their interface; frees all but the runners. */
void library_init(struct library *l, const char *client, double step_timeout);
void library_clear(struct library *l);
/* The assertion of this number; *met: has some session come to it? */
const struct assertion *library_assertion(struct library *l, uint32_t i,
                                          bool *met);

#endif
