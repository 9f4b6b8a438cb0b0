/* The runners of a library: guests that are lent to machines, and the interface
 * by which these have code run (vm/guest.h). */
#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "native/host/guest.h"
#include "native/host/library_parts.h"
#include "native/host/process.h"
#include "vm/machine.h"

static struct pooled_guest *make(void *library)
{
	struct library *l = library;
	return &guest_new(l, &l->job, l->sessions.count + l->expectation_count)
	                ->pooled;
}

/* The stricter of the library's limits and the machine's. */
static void limit(const struct library *l, struct guest *g,
                  const struct machine_limits *m)
{
	double deadline = l->deadline;
	if (m->deadline > 0 && (!(deadline > 0) || m->deadline < deadline))
		deadline = m->deadline;
	process_set_limits(g->process,
	                   m->interrupt ? m->interrupt : l->interrupt,
	                   deadline);
	g->budget = guest_budget(m, l->budget);
}

static struct guest *take(struct guest_library *library,
                          const struct machine_limits *limits)
{
	struct library *l = library_of(library);
	struct guest *g = (struct guest *)guest_pool_take(&l->pool, make, l);
	process_set_timeout(g->process, l->step_timeout);
	process_set_output(g->process, l->show_output);
	limit(l, g, limits);
	assert(g->library == l);
	return g;
}

static void give_back(struct guest_library *library, struct guest *g)
{
	guest_pool_give_back(&library_of(library)->pool, &g->pooled);
}

bool library_try(struct library *l, struct text *why)
{
	struct guest *g = take(&l->guest, &(struct machine_limits){ 0 });
	size_t length;
	bool fine = process_start(g->process) == PROCESS_REPLIED;
	if (!fine) {
		process_why(g->process, why);
	} else {
		struct wire_reader w = wire_read(process_reply(g->process));
		uint8_t kind = wire_get_u8(&w);
		wire_get_u64(&w);
		fine = kind != STEP_ERROR;
		if (!fine) text_string(why, wire_get_string(&w, &length));
	}
	give_back(&l->guest, g);
	return fine;
}

static const char *fault(struct guest_library *library)
{
	struct library *l = library_of(library);
	library_lock(l);
	const char *why = l->fault;
	library_unlock(l);
	return why;
}

static const char *bound(struct guest_library *library, uint32_t *point)
{
	struct library *l = library_of(library);
	library_lock(l);
	const char *what = l->bound;
	*point = l->bound_point;
	library_unlock(l);
	return what;
}

static struct position position(struct guest_library *l, uint32_t point)
{
	return library_position(library_of(l), point);
}

static const char *transaction(struct guest_library *l, uint32_t name)
{
	return library_transaction(library_of(l), name);
}

static own_level level(struct guest_library *l, uint32_t name)
{
	return library_transaction_level(library_of(l), name);
}

static bool mixes(struct guest_library *l)
{
	return library_mixes(library_of(l));
}

static const struct assertion *assertion(struct guest_library *library,
                                         uint32_t i, bool *met)
{
	return library_assertion(library_of(library), i, met);
}

static void free_one(struct pooled_guest *g)
{
	guest_free((struct guest *)g);
}

static void library_free(struct guest_library *library)
{
	struct library *l = library_of(library);
	guest_pool_free(&l->pool, free_one);
	library_clear(l);
	free(l);
}

static const struct guest_ops library_ops = {
	.take = take,
	.give_back = give_back,
	.bytes = guest_bytes,
	.asked = guest_asked,
	.cpu = guest_cpu,
	.settle = guest_settle,
	.start = guest_start,
	.next = guest_next,
	.call = guest_call,
	.fault = fault,
	.bound = bound,
	.position = position,
	.transaction = transaction,
	.level = level,
	.mixes = mixes,
	.assertion = assertion,
	.release = library_free,
};

/* Does the program have a library of this kind? */
static bool is_native(const struct program *p)
{
	return p->library && p->library->ops == &library_ops;
}

struct library *library_new(const char *client, double step_timeout)
{
	struct library *l = mem_take0(1, sizeof *l);
	library_init(l, client, step_timeout);
	l->guest.ops = &library_ops;
	return l;
}

void library_configure(const struct program *p, double step_timeout,
                       struct library_bounds bounds, bool show_output)
{
	if (!is_native(p)) return;
	struct library *l = library_of(p->library);
	l->step_timeout = step_timeout;
	l->bounds = bounds;
	l->show_output = show_output;
}

struct library_bounds library_session_bounds(const struct program *p)
{
	return is_native(p) ? library_of(p->library)->bounds
	                    : (struct library_bounds){ 0 };
}

void library_bound_sessions(const struct program *p,
                            struct library_bounds bounds)
{
	if (is_native(p)) library_of(p->library)->bounds = bounds;
}

void library_set_limits(const struct program *p, const atomic_bool *flag,
                        double deadline)
{
	if (!is_native(p)) return;
	library_of(p->library)->interrupt = flag;
	library_of(p->library)->deadline = deadline;
}

void library_set_budget(const struct program *p, size_t bytes)
{
	if (is_native(p)) library_of(p->library)->budget = bytes;
}

void library_set_uniform(const struct program *p, bool uniform)
{
	if (is_native(p)) library_of(p->library)->uniform = uniform;
}

void library_settle(const struct program *p)
{
	if (!is_native(p)) return;
	struct pooled_guest *g = library_of(p->library)->pool.all;
	for (; g && !program_fault(p); g = g->next)
		guest_settle((struct guest *)g);
}
