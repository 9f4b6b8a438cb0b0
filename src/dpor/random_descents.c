#include "dpor/random_descents.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "base/seconds.h"
#include "dpor/engine.h"

enum {
	BATCH = 1024, /* descents that share work: when time is over, not
	               * all that were made are on one side of the tree */
	PLACES_PER_TICK = 64
};

/* Where descents have come to. */
struct place {
	struct branch *branch;
	uint64_t descents;
};

struct descents {
	struct explorer *explorer;
	struct explore_observer observer; /* told of what is new */
	struct shared shared;
	struct engine engine;
	struct rng rng;
	struct place *places; /* a stack, depth first */
	size_t count, capacity;
	struct branch_list found;
	uint64_t *shares; /* descents by alternative */
	size_t share_capacity;
	struct hash_set seen;
	bool is_new; /* the history at hand */
	uint64_t made, visited;
	uint64_t repeated; /* that ended with a history, but no new one */
};

/* ---- what is drawn again ---- */

static bool on_history(void *payload, const struct explore_execution *e)
{
	struct descents *d = payload;
	d->is_new = hash_set_add(&d->seen, explore_hash(e));
	if (!d->is_new || !d->observer.history) return true;
	return d->observer.history(d->observer.payload, e);
}

/* The counts of what an engine found. */
struct counts {
	struct explore_stats stats;
	struct explore_violation *violations;
	uint32_t slot_count;
};

static struct counts counts_now(const struct tally *t)
{
	size_t size = t->slot_count * sizeof *t->violations;
	struct counts c = { t->stats, mem_take(size), t->slot_count };
	memcpy(c.violations, t->violations, size);
	return c;
}

/* Examples stay: what was seen before is as good. */
static void take_back(struct tally *t, const struct counts *before)
{
	assert(t->stats.histories >= before->stats.histories);
	const struct explore_stats *s = &before->stats;
	t->stats.histories = s->histories;
	t->stats.classes = s->classes;
	t->stats.unserializable = s->unserializable;
	memcpy(t->stats.per_level, s->per_level, sizeof s->per_level);
	/* A history seen again has errors where they were seen before. */
	for (uint32_t i = 0; i < before->slot_count; i++) {
		struct explore_violation *v = &t->violations[i];
		v->histories = before->violations[i].histories;
		memcpy(v->per_level, before->violations[i].per_level,
		       sizeof v->per_level);
	}
}

/* ---- going down ---- */

/* Up to the next choice; or to the end, and nothing is found. */
static void expand(struct descents *d, const struct place *p)
{
	struct engine *e = &d->engine;
	struct tally *t = &e->tally;
	struct counts before = counts_now(t);
	d->is_new = false;
	engine_expand(e, p->branch, &d->found);
	if (!d->found.count) d->made += p->descents;
	if (t->stats.classes > before.stats.classes) {
		d->repeated += p->descents - d->is_new;
		if (!d->is_new) take_back(t, &before);
	}
	free(before.violations);
}

static void push(struct descents *d, struct branch *b, uint64_t descents)
{
	assert(b && descents);
	VEC_RESERVE(d->places, d->count, d->capacity);
	d->places[d->count++] = (struct place){ b, descents };
}

static void clear_shares(struct descents *d, size_t count)
{
	if (count > d->share_capacity) {
		d->shares = mem_grow(d->shares, count, sizeof *d->shares);
		d->share_capacity = count;
	}
	memset(d->shares, 0, count * sizeof *d->shares);
}

/* Each descent draws one of the alternatives; the first one is on top then. */
static void spread(struct descents *d, uint64_t descents)
{
	struct branch_list *l = &d->found;
	assert(l->count && l->count <= UINT32_MAX);
	clear_shares(d, l->count);
	for (uint64_t i = 0; i < descents; i++)
		d->shares[rng_below(&d->rng, (uint32_t)l->count)]++;
	for (size_t i = l->count; i-- > 0;) {
		if (d->shares[i])
			push(d, l->items[i], d->shares[i]);
		else
			free(l->items[i]);
	}
	l->count = 0;
}

static bool may_go_on(struct descents *d)
{
	struct engine *e = &d->engine;
	const struct explore_observer *o = &d->observer;
	if (atomic_load(&d->shared.stop) != STOP_NONE) return false;
	if (d->visited++ % PLACES_PER_TICK || !o->tick) return true;
	engine_measure(e);
	return o->tick(o->payload, &e->tally.stats, (uint32_t)d->count) ||
	       engine_stop(e, STOP_INTERRUPTED);
}

/* False: something stopped it. */
static bool descend(struct descents *d, uint64_t descents)
{
	push(d, branch_root(), descents);
	while (d->count) {
		if (!may_go_on(d)) return false;
		struct place p = d->places[--d->count];
		expand(d, &p);
		if (d->found.count) spread(d, p.descents);
		free(p.branch);
	}
	return true;
}

/* ---- as a whole ---- */

struct descents *descents_new(struct explorer *explorer,
                              const struct explore_observer *observer,
                              uint64_t seed)
{
	struct explore_options o = *explorer_options(explorer);
	assert(o.algorithm != EXPLORE_OUTWARD);
	struct descents *d = mem_take0(1, sizeof *d);
	struct explore_observer own = { .payload = d, .history = on_history };
	o.jobs = 1;
	o.max_histories = 0;
	o.check_duplicates = false;
	d->explorer = explorer;
	if (observer) d->observer = *observer;
	shared_init(&d->shared, explorer_program(explorer), &o, &own, explorer);
	d->shared.wall_start = seconds_now();
	engine_init(&d->engine, &d->shared, 0);
	d->rng.state = seed;
	return d;
}

void descents_free(struct descents *d)
{
	if (!d) return;
	for (size_t i = 0; i < d->count; i++) free(d->places[i].branch);
	free(d->places);
	free(d->shares);
	hash_set_free(&d->seen);
	branch_list_free(&d->found);
	engine_free(&d->engine);
	shared_free(&d->shared);
	free(d);
}

static void hand_over(struct descents *d)
{
	struct tally t;
	struct branch_list none = { 0 };
	int why = atomic_load(&d->shared.stop);
	tally_init(&t, d->shared.program);
	tally_add(&t, &d->engine.tally);
	explorer_resume(d->explorer, &none, &t);
	explorer_tally(d->explorer)->stats.stop =
		why ? (enum stop_reason)why : STOP_DESCENTS;
}

void descents_run(struct descents *d, uint64_t count)
{
	engine_start_clock(&d->engine);
	bool on = true;
	for (uint64_t left = count; left && on;) {
		uint64_t batch = left < BATCH ? left : BATCH;
		on = descend(d, batch);
		left -= batch;
	}
	engine_finish(&d->engine);
	hand_over(d);
}

uint64_t descents_made(const struct descents *d)
{
	return d->made;
}

uint64_t descents_repeated(const struct descents *d)
{
	return d->repeated;
}
