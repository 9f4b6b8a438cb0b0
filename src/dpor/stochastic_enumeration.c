#include "dpor/stochastic_enumeration.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "axioms/staleness.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/seconds.h"
#include "dpor/engine.h"
#include "history/relation.h"

#define NO_PARENT UINT32_MAX

/* Branches of one kind: with as many transactions, that came about alike. */
enum { WAYS = 8 };

/* A branch that was drawn, or is open. */
struct node {
	struct branch *branch;
	uint32_t parent; /* the drawn branch that it is an alternative in */
	double weight;   /* how many branches it stands for */
	double chance;   /* of being drawn */
	double size;     /* of its tree: a guess, then the group's estimate */
	size_t kind;
};

struct nodes {
	struct node *items;
	size_t count, capacity;
	uint64_t bytes; /* of the branches that were added */
};

/* What groups found about branches of one kind. */
struct kind {
	double squares, branches;
};

struct stochastic {
	struct shared shared;
	struct engine engine;
	struct staleness *staleness; /* NULL: as many as you like */
	uint64_t histories;          /* met so far */
	struct rng rng;
	struct nodes drawn; /* of the group, parents first */
	struct nodes open;  /* depth first */
	bool too_large;     /* what is open is */
	struct branch_list found;
	struct kind *kinds;
	size_t kind_count;
};

static bool on_history(void *payload, const struct explore_execution *x)
{
	struct stochastic *a = payload;
	struct relation r;
	closure_relation(engine_closure(x->engine), &r);
	a->histories += !a->staleness ||
	                staleness_within(a->staleness, &r,
	                                 a->engine.options.max_changes);
	return true;
}

/* An exploration goes on in little memory, but descents that are given up for
 * want of it are those into the largest parts of the tree: what is left would
 * be far too small. So they have some of their own. */
static uint64_t memory_for(uint64_t limit)
{
	const uint64_t least = UINT64_C(32) << 20;
	return limit && limit < least ? least : limit;
}

struct stochastic *stochastic_new(const struct program *p,
                                  const struct explore_options *o,
                                  uint64_t seed)
{
	assert(o->algorithm != EXPLORE_OUTWARD);
	struct stochastic *a = mem_take0(1, sizeof *a);
	struct explore_observer own = { .payload = a, .history = on_history };
	struct explore_options options = { .algorithm = o->algorithm,
		                           .level = o->level,
		                           .base = o->base,
		                           .interrupt = o->interrupt,
		                           .memory = memory_for(o->memory),
		                           .jobs = 1,
		                           .max_changes = o->max_changes,
		                           .symmetry = o->symmetry };
	if (o->algorithm == EXPLORE_CE && o->max_changes < UINT64_MAX)
		a->staleness = staleness_new();
	shared_init(&a->shared, p, &options, &own, NULL);
	engine_init(&a->engine, &a->shared, 0);
	engine_start_clock(&a->engine);
	a->rng.state = seed;
	return a;
}

void stochastic_hurry(struct stochastic *a, double seconds)
{
	a->shared.wall_start = seconds_now();
	a->engine.options.timeout = seconds;
}

static void nodes_clear(struct nodes *n)
{
	for (size_t i = 0; i < n->count; i++) free(n->items[i].branch);
	n->count = 0;
	n->bytes = 0;
}

void stochastic_free(struct stochastic *a)
{
	if (!a) return;
	free(a->drawn.items);
	free(a->open.items);
	free(a->found.items);
	free(a->kinds);
	if (a->staleness) staleness_free(a->staleness);
	engine_free(&a->engine);
	shared_free(&a->shared);
	free(a);
}

static void add(struct nodes *n, struct node node)
{
	VEC_RESERVE(n->items, n->count, n->capacity);
	n->items[n->count++] = node;
	n->bytes += branch_bytes(node.branch->path_length,
	                         node.branch->script_length);
}

/* ---- how large trees are ---- */

static size_t kind_of(const struct branch *b)
{
	size_t transactions = 0;
	const uint32_t *w = b->script, *end = w + b->script_length;
	for (; w < end; w += 2 + 2 * (size_t)w[1]) transactions++;
	return transactions * WAYS + (size_t)b->kind;
}

/* The root mean square: what is uncertain is drawn rather, too. 0: unknown. */
static double usual_size(const struct stochastic *a, size_t kind)
{
	if (kind >= a->kind_count || a->kinds[kind].branches <= 0) return 0;
	return sqrt(a->kinds[kind].squares / a->kinds[kind].branches);
}

static void learn(struct stochastic *a, const struct node *n)
{
	if (n->kind >= a->kind_count) {
		size_t count = 2 * n->kind + 1;
		a->kinds = mem_grow(a->kinds, count, sizeof *a->kinds);
		for (size_t i = a->kind_count; i < count; i++)
			a->kinds[i] = (struct kind){ 0 };
		a->kind_count = count;
	}
	a->kinds[n->kind].squares += n->size * n->size;
	a->kinds[n->kind].branches++;
}

/* From the last ones drawn to the first. */
static void learn_all(struct stochastic *a)
{
	for (size_t i = a->drawn.count; i-- > 0;) {
		struct node *n = &a->drawn.items[i];
		learn(a, n);
		if (n->parent != NO_PARENT)
			a->drawn.items[n->parent].size += n->size / n->chance;
	}
}

/* The sizes that are expected, each a little larger than that: no branch may
 * be left without a chance. */
static void guess_sizes(struct stochastic *a)
{
	struct nodes *open = &a->open;
	double sum = 0, known = 0;
	for (size_t i = 0; i < open->count; i++) {
		double size = usual_size(a, open->items[i].kind);
		open->items[i].size = size;
		sum += size;
		known += size > 0;
	}
	double mean = known > 0 ? sum / known : 1;
	for (size_t i = 0; i < open->count; i++) {
		double size = open->items[i].size;
		open->items[i].size = (size > 0 ? size : mean) + mean / 20;
	}
}

/* ---- drawing ---- */

/* What is so large that its chance would be 1 or more is drawn for certain.
 * Adds up the rest; `left` becomes how many of them are drawn. */
static double set_certain_aside(struct nodes *open, uint32_t *left)
{
	double rest = 0;
	for (size_t i = 0; i < open->count; i++) {
		struct node *n = &open->items[i];
		n->chance = n->size * n->weight;
		rest += n->chance;
	}
	bool more = true;
	while (more) {
		more = false;
		for (size_t i = 0; i < open->count && *left; i++) {
			struct node *n = &open->items[i];
			if (n->chance <= 0 || n->chance * *left < rest)
				continue;
			rest -= n->chance;
			n->chance = 0;
			--*left;
			more = true;
		}
	}
	return rest;
}

static void take(struct stochastic *a, struct node *n, double chance)
{
	n->chance = chance;
	n->weight /= chance;
	n->size = 0;
	add(&a->drawn, *n);
	n->branch = NULL;
}

/* One random number, and equal steps along all chances. */
static void draw_some(struct stochastic *a, uint32_t width)
{
	struct nodes *open = &a->open;
	uint32_t left = width;
	double rest = set_certain_aside(open, &left);
	double at = (double)(rng_next(&a->rng) >> 11) * 0x1p-53;
	for (size_t i = 0; i < open->count; i++) {
		struct node *n = &open->items[i];
		double chance = n->chance * left / rest, before = at;
		if (n->chance <= 0) {
			take(a, n, 1);
		} else if (left) {
			at += chance;
			if (floor(at) > floor(before))
				take(a, n, chance < 1 ? chance : 1);
		}
	}
}

/* The next branches of the group; true if all that is open is among them. */
static bool draw(struct stochastic *a, uint32_t width)
{
	bool all = a->open.count <= width;
	if (all) {
		for (size_t i = 0; i < a->open.count; i++)
			take(a, &a->open.items[i], 1);
	} else {
		guess_sizes(a);
		draw_some(a, width);
	}
	nodes_clear(&a->open);
	return all;
}

/* ---- descending ---- */

/* Up to its first end state. */
static void explore_to_an_end(struct stochastic *a, const struct branch *b)
{
	struct engine *e = &a->engine;
	e->until = e->tally.stats.end_states + 1;
	engine_explore(e, branch_copy(b));
	if (engine_can_capture(e))
		engine_capture(e, &a->found);
	else
		a->too_large = true;
	free(e->branch);
	e->branch = NULL;
}

/* What is open then is added to a->found. */
static void explore_a_little(struct stochastic *a, const struct branch *b)
{
	struct engine *e = &a->engine;
	atomic_store(&a->shared.stop, STOP_NONE);
	if (e->options.algorithm == EXPLORE_ORDERLY)
		engine_expand(e, b, &a->found);
	else
		explore_to_an_end(a, b);
}

static bool was_stopped(const struct stochastic *a)
{
	int stop = atomic_load(&a->shared.stop);
	return a->too_large || (stop != STOP_NONE && stop != STOP_HISTORIES);
}

/* How much there is to find is measured in histories; what leads to none costs
 * time, too. */
static double size_of(uint64_t histories, uint64_t ends)
{
	return (double)histories + 0.1 * (double)(ends - histories) + 0.02;
}

static void add_found(struct stochastic *a, uint32_t parent, double weight)
{
	for (size_t i = 0; i < a->found.count; i++)
		add(&a->open,
		    (struct node){ .branch = a->found.items[i],
		                   .parent = parent,
		                   .weight = weight,
		                   .kind = kind_of(a->found.items[i]) });
	a->found.count = 0;
	uint64_t most = a->engine.options.memory;
	if (!most || most > CAPTURE_MOST) most = CAPTURE_MOST;
	a->too_large |= a->open.bytes > most;
}

static void visit(struct stochastic *a, uint32_t at,
                  struct stochastic_count *count)
{
	struct node *n = &a->drawn.items[at];
	const struct explore_stats *stats = &a->engine.tally.stats;
	uint64_t histories = a->histories, ends = stats->end_states;
	explore_a_little(a, n->branch);
	free(n->branch);
	n->branch = NULL;
	histories = a->histories - histories;
	ends = stats->end_states - ends;
	n->size = size_of(histories, ends);
	count->histories += n->weight * (double)histories;
	count->end_states += n->weight * (double)ends;
	count->places += n->weight;
	count->seen += histories;
	count->ends += ends;
	add_found(a, at, n->weight);
}

static void begin(struct stochastic *a, const struct branch_list *from)
{
	a->too_large = false;
	for (size_t i = 0; i < from->count; i++)
		add(&a->open,
		    (struct node){ .branch = branch_copy(from->items[i]),
		                   .parent = NO_PARENT,
		                   .weight = 1,
		                   .kind = kind_of(from->items[i]) });
}

static bool go_down(struct stochastic *a, uint32_t width,
                    struct stochastic_count *count)
{
	while (a->open.count) {
		size_t first = a->drawn.count;
		if (!draw(a, width)) count->exact = false;
		size_t end = a->drawn.count;
		for (size_t i = first; i < end; i++) {
			visit(a, (uint32_t)i, count);
			if (was_stopped(a)) return false;
		}
	}
	return true;
}

bool stochastic_descend(struct stochastic *a, const struct branch_list *from,
                        uint32_t width, struct stochastic_count *count)
{
	*count = (struct stochastic_count){ .exact = true };
	begin(a, from);
	bool fine = go_down(a, width, count);
	if (fine) learn_all(a);
	nodes_clear(&a->drawn);
	nodes_clear(&a->open);
	return fine;
}
