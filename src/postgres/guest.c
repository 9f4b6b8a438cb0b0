/* Sessions that PostgreSQL carries out, as the machine runs them (vm/guest.h):
 * what a session does is kept as a tree of steps. Where it is not known what
 * follows, its backend goes on if it waits there; else the session is run from
 * its beginning, with the answers that lead there.
 */
#include "postgres/guest.h"

#include <assert.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/seconds.h"
#include "vm/bytecode.h"

enum { BUDGET = 1 << 28 }; /* bytes that a runner keeps of what it saw */

/* ---- Making ---- */

static void make_roots(struct guest *g)
{
	struct server_library *l = g->library;
	uint32_t count = l->program->sessions_count + l->assertion_count;
	table_init(&g->tree.by_answer, 0);
	g->roots = region_take0(&g->region, (count + 1) * sizeof *g->roots);
	for (uint32_t i = 0; i < count; i++) {
		g->roots[i].tree.step.kind = GUEST_START;
		g->roots[i].tree.serial = ++g->serial;
		g->roots[i].tree.session = i;
		g->roots[i].tree.kept = true;
	}
}

static void forget(struct guest *g)
{
	step_tree_free(&g->tree);
	g->tree = (struct step_tree){ 0 };
	region_free(&g->region);
	region_init(&g->region);
	make_roots(g);
	for (uint32_t i = 0; i < g->library->session_count; i++)
		g->seats[i].live = 0;
}

void server_guests_forget(struct server_library *l)
{
	for (struct pooled_guest *g = l->pool.all; g; g = g->next)
		forget((struct guest *)g);
}

static struct pooled_guest *make(void *library)
{
	struct server_library *l = library;
	struct guest *g = mem_take0(1, sizeof *g);
	g->library = l;
	g->seats = mem_take0(l->session_count + 1, sizeof *g->seats);
	region_init(&g->region);
	make_roots(g);
	return &g->pooled;
}

static struct guest *take(struct guest_library *library,
                          const struct machine_limits *limits)
{
	struct server_library *l = server_of(library);
	struct guest *g = (struct guest *)guest_pool_take(&l->pool, make, l);
	g->limits = *limits;
	g->budget = guest_budget(limits, BUDGET);
	return g;
}

static void give_back(struct guest_library *l, struct guest *g)
{
	assert(g->library == server_of(l));
	guest_pool_give_back(&g->library->pool, &g->pooled);
}

static size_t bytes(const struct guest *g)
{
	return g->region.held + step_tree_bytes(&g->tree);
}

static uint64_t asked(const struct guest *g)
{
	return g->asked;
}

static double cpu(const struct guest *g)
{
	(void)g;
	return 0;
}

static void settle(struct guest *g)
{
	(void)g;
}

static const struct guest_step *start(struct guest *g, uint32_t session)
{
	return &g->roots[session].tree.step;
}

/* `point` may be NULL. Takes the text. */
static void set_fault(struct server_library *l, const uint32_t *point,
                      struct text *t)
{
	mem_lock(&l->lock);
	if (!l->fault) {
		l->fault = t->data;
		*t = (struct text){ 0 };
		l->fault_has_point = point != NULL;
		l->fault_point = point ? *point : 0;
	}
	mem_unlock(&l->lock);
	text_free(t);
}

void server_set_fault(struct server_library *l, const char *format, ...)
{
	struct text t = { 0 };
	va_list args;
	va_start(args, format);
	text_vformat(&t, format, args);
	va_end(args);
	set_fault(l, NULL, &t);
}

void server_set_fault_at(struct server_library *l, uint32_t point,
                         const char *format, ...)
{
	struct text t = { 0 };
	va_list args;
	va_start(args, format);
	text_vformat(&t, format, args);
	va_end(args);
	set_fault(l, &point, &t);
}

void server_forget_fault(struct server_library *l)
{
	mem_lock(&l->lock);
	free(l->fault);
	l->fault = NULL;
	l->fault_has_point = false;
	mem_unlock(&l->lock);
}

/* A server that has ended is no fault of the program's. */
static bool has_ended(struct server_library *l)
{
	struct text why = { 0 };
	if (!cluster_has_ended(l->cluster, &why)) return false;
	mem_lock(&l->lock);
	if (!l->lost) {
		l->lost = why.data;
		why = (struct text){ 0 };
	}
	mem_unlock(&l->lock);
	atomic_store(&l->ended, true);
	text_free(&why);
	return true;
}

enum { TRIES_MOST = 3, ENDING = 1000 /* milliseconds */ };

bool server_tries_again(struct guest *g, const char *who, uint32_t *tries)
{
	/* The keeper looks five times a second whether the server runs. */
	for (int i = 0; i < ENDING && !has_ended(g->library); i += 10)
		usleep(10000);
	if (server_gives_up(g)) return false;
	if (++*tries < TRIES_MOST) return true;
	server_set_fault(g->library, "%s: its backend has died %d times", who,
	                 TRIES_MOST);
	return false;
}

static bool is_over(const atomic_bool *interrupt, double deadline)
{
	return (interrupt && atomic_load(interrupt)) ||
	       (deadline > 0 && seconds_now() > deadline);
}

bool server_gives_up(const struct guest *g)
{
	return atomic_load(&g->library->ended) ||
	       is_over(g->limits.interrupt, g->limits.deadline) ||
	       is_over(g->library->interrupt, g->library->deadline);
}

void server_put_key(struct guest_step *s, const struct server_key *k)
{
	s->global = k->relation->global;
	s->key = k->value;
}

/* ---- The next step ---- */

static const struct guest_step *next(struct guest *g,
                                     const struct guest_step *from,
                                     struct value answer, struct region *r)
{
	struct server_library *l = g->library;
	struct server_step_node *at = (struct server_step_node *)from;
	struct tree_step *known = step_tree_find(&g->tree, &at->tree, answer);
	if (known) return &known->step;
	bool keep = at->tree.kept &&
	            (!step_waits(&at->tree) || bytes(g) < g->budget);
	struct region *to = keep ? &g->region : r;
	struct server_step_node *s;
	uint32_t session = at->tree.session;
	if (at->request && at->place + 1 < at->request->count)
		s = server_next_key(g, at, answer, to);
	else if (session < l->session_count)
		s = l->sessions[session].command
		            ? server_run_command(g, at, answer, to)
		            : server_run_session(g, at, answer, to);
	else if (session < l->program->sessions_count)
		s = server_run_finally(g, at, answer, to);
	else
		s = server_run_assertion(g, at, answer, to);
	return s ? &s->tree.step : NULL;
}

/* ---- The library ---- */

static bool call(struct guest *g, uint32_t function,
                 const struct value *arguments, uint32_t count,
                 struct region *r, struct value *out, const char **error)
{
	(void)g, (void)function, (void)arguments, (void)count, (void)r;
	(void)out;
	*error = "a program in SQL has no functions in C";
	return false;
}

static const char *fault(struct guest_library *library)
{
	struct server_library *l = server_of(library);
	mem_lock(&l->lock);
	const char *why = l->fault;
	mem_unlock(&l->lock);
	return why;
}

static bool fault_point(struct guest_library *library, uint32_t *point)
{
	struct server_library *l = server_of(library);
	mem_lock(&l->lock);
	*point = l->fault_point;
	bool has = l->fault && l->fault_has_point;
	mem_unlock(&l->lock);
	return has;
}

static const char *lost(struct guest_library *library)
{
	struct server_library *l = server_of(library);
	return atomic_load(&l->ended) ? l->lost : NULL;
}

static const char *bound(struct guest_library *l, uint32_t *point)
{
	(void)l;
	*point = 0;
	return NULL;
}

static void free_one(struct pooled_guest *pooled)
{
	struct guest *g = (struct guest *)pooled;
	for (uint32_t i = 0; i < g->library->session_count; i++)
		seat_leave(&g->seats[i]);
	free(g->seats);
	connection_close(&g->judge);
	step_tree_free(&g->tree);
	region_free(&g->region);
	free(g);
}

void server_guests_free(struct server_library *l)
{
	guest_pool_free(&l->pool, free_one);
}

static struct position position(struct guest_library *library, uint32_t point)
{
	return server_position(server_of(library), point);
}

static void release(struct guest_library *library)
{
	server_library_free(server_of(library));
}

/* Places, names and assertions are the program's own. */
const struct guest_ops server_guest_ops = {
	.take = take,
	.give_back = give_back,
	.bytes = bytes,
	.asked = asked,
	.cpu = cpu,
	.settle = settle,
	.start = start,
	.next = next,
	.call = call,
	.fault = fault,
	.fault_point = fault_point,
	.lost = lost,
	.bound = bound,
	.position = position,
	.release = release,
};
