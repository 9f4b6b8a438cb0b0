/* Sessions in SQL as the machine runs them (vm/guest.h): what a session does is
 * kept as a tree of steps. Where it is not known what follows, the statement at
 * hand is carried out from its beginning, with the answers to its reads so far.
 *
 * A transaction's writes are told when it commits, the last of each key: what
 * was rolled back to a savepoint has never been written.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/seconds.h"
#include "native/host/step_tree.h"
#include "sql/image.h"
#include "sql/run.h"
#include "sql/session_state.h"
#include "vm/bytecode.h"
#include "vm/machine.h"

enum { BUDGET = 1 << 28 }; /* bytes that a runner keeps of what it saw */

/* A step, and where it leaves the session. */
struct sql_step {
	struct tree_step tree; /* first */
	/* The session at the beginning of the statement that reads; after the
	 * step, if it is no read. */
	const struct sql_state *state;
	uint32_t reads; /* of that statement, up to this step */
	/* What is read behind it in any case, but for the first so many. */
	const struct sql_foreseen *foreseen;
	uint32_t passed;
};

struct guest {
	struct pooled_guest pooled; /* first */
	struct sql_image *image;
	struct region region, scratch;
	struct step_tree tree;
	struct sql_step *roots;
	uint64_t serial, asked;
	uint64_t growth; /* of the known rows, as of what is kept */
	size_t budget;
	struct machine_limits limits;
};

/* ---- Making ---- */

static void make_roots(struct guest *g)
{
	const struct sql_image *image = g->image;
	uint32_t sessions = image->program->sessions_count;
	uint32_t count = sessions + image->assertion_count;
	table_init(&g->tree.by_answer, 0);
	g->growth = image->growth;
	g->roots = region_take0(&g->region, (count + 1) * sizeof *g->roots);
	for (uint32_t i = 0; i < count; i++) {
		struct sql_step *root = &g->roots[i];
		root->tree.step.kind = GUEST_START;
		root->tree.serial = ++g->serial;
		root->tree.session = i;
		root->tree.kept = true;
		root->state = sql_state_new(&g->region, image, i);
	}
}

static void forget(struct guest *g)
{
	step_tree_free(&g->tree);
	g->tree = (struct step_tree){ 0 };
	region_free(&g->region);
	region_init(&g->region);
	make_roots(g);
}

void sql_guests_forget(struct sql_image *image)
{
	for (struct pooled_guest *g = image->pool.all; g; g = g->next)
		forget((struct guest *)g);
}

static struct pooled_guest *make(void *image)
{
	struct guest *g = mem_take0(1, sizeof *g);
	g->image = image;
	region_init(&g->region);
	region_init(&g->scratch);
	make_roots(g);
	return &g->pooled;
}

static struct guest *take(struct guest_library *l,
                          const struct machine_limits *limits)
{
	struct sql_image *image = sql_image_of(l);
	struct guest *g =
		(struct guest *)guest_pool_take(&image->pool, make, image);
	g->limits = *limits;
	g->budget = guest_budget(limits, BUDGET);
	return g;
}

static void give_back(struct guest_library *l, struct guest *g)
{
	struct sql_image *image = sql_image_of(l);
	assert(g->image == image);
	guest_pool_give_back(&image->pool, &g->pooled);
}

static size_t bytes(const struct guest *g)
{
	return g->region.held + g->scratch.held + step_tree_bytes(&g->tree);
}

static uint64_t asked(const struct guest *g)
{
	return g->asked;
}

static double cpu(const struct guest *g)
{
	(void)g; /* all that is run is run in this thread */
	return 0;
}

static void settle(struct guest *g)
{
	(void)g; /* nothing depends on anything else */
}

static const struct guest_step *start(struct guest *g, uint32_t session)
{
	assert(session <
	       g->image->program->sessions_count + g->image->assertion_count);
	return &g->roots[session].tree.step;
}

/* ---- The next step ---- */

static void add_step(struct guest *g, struct sql_step *from, struct sql_step *s)
{
	assert(from->tree.kept || !s->tree.kept);
	s->tree.before = &from->tree;
	s->tree.session = from->tree.session;
	s->tree.serial = ++g->serial;
	/* Kept steps follow kept ones; in a machine's region, those that were
	 * made together follow each other. */
	if (s->tree.kept || !step_waits(&from->tree))
		step_tree_add(&g->tree, &from->tree, &s->tree);
}

/* The answers to the statement's reads, up to that of `from`. */
static const struct value *collect(struct guest *g, const struct sql_step *from,
                                   struct value answer, uint32_t count)
{
	struct value *all = region_take(&g->scratch, (count + 1) * sizeof *all);
	for (uint32_t i = count; i-- > 0;) {
		all[i] = answer;
		/* Writes may stand between two reads. */
		do {
			answer = from->tree.answer;
			from = (const struct sql_step *)from->tree.before;
		} while (i && !step_waits(&from->tree));
	}
	return all;
}

/* Is it no use to go on with a statement that takes long? */
static bool gives_up(void *data)
{
	const struct guest *g = data;
	return (g->limits.interrupt && atomic_load(g->limits.interrupt)) ||
	       (g->limits.deadline > 0 && seconds_now() > g->limits.deadline);
}

/* The next read, where it does not depend on the answers. */
static struct sql_step *make_read(struct guest *g, struct sql_step *from,
                                  struct value answer, struct region *to)
{
	const struct sql_foreseen *f = from->foreseen;
	struct sql_step *s = region_take0(to, sizeof *s);
	assert(step_waits(&from->tree) && from->passed < f->count);
	s->tree.step = from->tree.step;
	s->tree.step.key = f->keys[from->passed];
	s->tree.step.joined = true;
	s->tree.answer = value_copy(to, answer);
	s->tree.kept = to == &g->region;
	s->state = from->state;
	s->reads = from->reads + 1;
	s->foreseen = f;
	s->passed = from->passed + 1;
	add_step(g, from, s);
	return s;
}

/* The first step behind `from`; others may follow that are known as well. NULL:
 * it was given up. */
static struct sql_step *make_steps(struct guest *g, struct sql_step *from,
                                   struct value answer, struct region *to)
{
	bool waits = step_waits(&from->tree);
	uint32_t count = waits ? from->reads : 0;
	struct sql_move m = { .image = g->image,
		              .session = from->tree.session,
		              .from = from->state,
		              .answers = collect(g, from, answer, count),
		              .answer_count = count,
		              .region = to,
		              .scratch = &g->scratch,
		              .gives_up = gives_up,
		              .gives_up_data = g };
	struct sql_step *first = NULL, *last = from;
	if (g->asked++ % 16 == 0 && gives_up(g)) return NULL;
	sql_move(&m);
	if (m.gave_up) return NULL;
	for (struct sql_emitted *e = m.first; e; e = e->next) {
		struct sql_step *s = region_take0(to, sizeof *s);
		s->tree.step = e->step;
		s->tree.kept = to == &g->region;
		s->state = e->state;
		s->reads =
			e->step.kind == GUEST_GET || e->step.kind == GUEST_NOTED
				? e->reads
				: 0;
		s->foreseen = e->foreseen;
		if (!first && waits) s->tree.answer = value_copy(to, answer);
		if (first || s->tree.kept)
			add_step(g, last, s);
		else {
			s->tree.before = &last->tree;
			s->tree.session = last->tree.session;
			s->tree.serial = ++g->serial;
		}
		if (!first) first = s;
		last = s;
	}
	assert(first);
	return first;
}

/* Does it stand between transactions? */
static bool is_between(enum guest_request kind)
{
	return kind == GUEST_START || kind == GUEST_COMMIT ||
	       kind == GUEST_ABORT;
}

static const struct guest_step *next(struct guest *g,
                                     const struct guest_step *from,
                                     struct value answer, struct region *r)
{
	struct sql_step *at = (struct sql_step *)from;
	/* Rows turn up where transactions end. Statements behind that may read
	 * more than those that are kept, whose answers would not fit. */
	bool stale = g->growth != g->image->growth && is_between(from->kind);
	struct tree_step *known =
		stale ? NULL : step_tree_find(&g->tree, &at->tree, answer);
	if (known) return &known->step;
	bool keep = !stale && at->tree.kept && bytes(g) < g->budget;
	struct region_mark mark = region_mark(&g->scratch);
	struct region *to = keep ? &g->region : r;
	struct sql_step *s = at->foreseen && at->passed < at->foreseen->count
	                             ? make_read(g, at, answer, to)
	                             : make_steps(g, at, answer, to);
	region_release(&g->scratch, mark);
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

static const char *fault(struct guest_library *l)
{
	struct sql_image *image = sql_image_of(l);
	mem_lock(&image->lock);
	const char *why = image->fault;
	mem_unlock(&image->lock);
	return why;
}

static char *not_known(const struct sql_table *t, struct value row)
{
	struct text why = { 0 };
	text_format(
		&why,
		"the exploration is too large to know beforehand which rows "
		"conditions can find: a session has written a row of table "
		"\"%s\" that was not known, ",
		t->name);
	value_print(&why, row);
	text_string(&why, ". Give it fewer sessions or statements");
	return why.data;
}

void sql_image_grew(struct sql_image *image, const struct sql_table *t,
                    struct value key, struct value row)
{
	if (!image->settled) {
		image->growth += known_add(&image->known, t, key, row);
		return;
	}
	mem_lock(&image->lock);
	known_add(&image->grown, t, key, row);
	if (!image->learning && !image->fault) image->fault = not_known(t, row);
	mem_unlock(&image->lock);
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
	step_tree_free(&g->tree);
	region_free(&g->region);
	region_free(&g->scratch);
	free(g);
}

static void release(struct guest_library *l)
{
	struct sql_image *image = sql_image_of(l);
	guest_pool_free(&image->pool, free_one);
	sql_image_free(image);
}

/* Places, names and assertions are the program's own. */
const struct guest_ops sql_guest_ops = {
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
	.bound = bound,
	.release = release,
};
