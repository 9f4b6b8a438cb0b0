#include "distribute/split.h"

#include <assert.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/seconds.h"
#include "base/text.h"
#include "distribute/unit.h"
#include "dpor/engine.h"
#include "dpor/estimate.h"
#include "dpor/tally.h"
#include "vm/program.h"

enum {
	/* Of a part, so that sizes, which are estimates, can be evened out: few
	 * when there are many parts, since each takes milliseconds. */
	BRANCHES_LEAST = 8,
	BRANCHES_MOST = 32,
	BRANCHES = 1024, /* of all parts, if that is possible */
	SEED = 1         /* the same split each time */
};

/* ---- branches made from larger ones ---- */

/* An exploration of one engine, which is never asked to explore all that is
 * under a branch. */
struct expander {
	struct shared shared;
	struct engine engine;
};

static struct expander *expander_new(const struct program *p,
                                     const struct explore_options *o)
{
	struct expander *x = mem_take0(1, sizeof *x);
	shared_init(&x->shared, p, o, NULL, NULL);
	x->shared.wall_start = seconds_now();
	engine_init(&x->engine, &x->shared, 0);
	engine_start_clock(&x->engine);
	return x;
}

static void expander_free(struct expander *x)
{
	if (!x) return;
	engine_free(&x->engine);
	shared_free(&x->shared);
	free(x);
}

/* Explores the branch, which is taken over, up to its first choice, and adds
 * the alternatives to the list; there may be none. False when it was stopped
 * (an interruption, a limit of the program): then what is left of it is added
 * nevertheless. */
static bool expander_expand(struct expander *x, struct branch *b,
                            struct branch_list *out)
{
	assert(b && out);
	bool stopped = atomic_load(&x->shared.stop) != STOP_NONE;
	if (stopped) {
		branch_list_add(out, b);
		return false;
	}
	engine_expand(&x->engine, b, out);
	free(b);
	return atomic_load(&x->shared.stop) == STOP_NONE;
}

/* Was a branch none of this program? */
static bool expander_failed(const struct expander *x)
{
	return x->engine.impossible;
}

/* Adds what all of that found. Once, at the end. */
static void expander_tally(struct expander *x, struct tally *to)
{
	engine_finish(&x->engine);
	engine_measure(&x->engine);
	x->engine.tally.stats.seconds = seconds_now() - x->shared.wall_start;
	struct position at;
	if (program_bound_met(x->shared.program, &at))
		x->engine.tally.stats.stop = STOP_BOUND;
	tally_add(to, &x->engine.tally);
}

/* ---- the largest first ---- */

/* A branch with its estimated size. */
struct piece {
	struct branch *branch;
	double size;
};

struct splitting {
	const struct program *program;
	struct expander *expander;
	struct estimator *estimator;
	struct piece *pieces;
	size_t count, capacity;
	size_t enough; /* pieces */
	size_t most;   /* that there were */
	const struct split_observer *observer;
	bool stopped;
};

/* The largest first; of those of a size the first in depth-first order. */
static int compare_pieces(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;
	if (x->size != y->size) return x->size > y->size ? -1 : 1;
	return branch_compare(x->branch, y->branch);
}

static void sort_pieces(struct splitting *s)
{
	if (s->count)
		qsort(s->pieces, s->count, sizeof *s->pieces, compare_pieces);
}

/* Takes the branch over. */
static void add_piece(struct splitting *s, struct branch *b)
{
	double size = estimator_size(s->estimator, b);
	assert(!(size < 0));
	VEC_RESERVE(s->pieces, s->count, s->capacity);
	s->pieces[s->count++] = (struct piece){ b, size };
	if (s->count > s->most) s->most = s->count;
	if (s->observer->tick)
		s->observer->tick(s->observer->payload, s->most, s->enough);
}

/* Takes the branches over. */
static void add_pieces(struct splitting *s, struct branch_list *l)
{
	for (size_t i = 0; i < l->count; i++) add_piece(s, l->items[i]);
	l->count = 0;
	branch_list_free(l);
}

/* Replaces the largest pieces, a quarter of all, by what they consist of. */
static void expand_largest(struct splitting *s)
{
	struct branch_list made = { 0 };
	size_t some = s->count / 4 + 1, rest = s->count - some;
	assert(s->count && some <= s->count);
	sort_pieces(s);
	for (size_t i = 0; i < some; i++)
		if (!expander_expand(s->expander, s->pieces[i].branch, &made))
			s->stopped = true;
	for (size_t i = 0; i < rest; i++) s->pieces[i] = s->pieces[some + i];
	s->count = rest;
	add_pieces(s, &made);
}

static size_t branches_for(uint32_t parts)
{
	assert(parts);
	uint32_t each = BRANCHES / parts;
	if (each < BRANCHES_LEAST) each = BRANCHES_LEAST;
	if (each > BRANCHES_MOST) each = BRANCHES_MOST;
	return (size_t)parts * each;
}

static void expand(struct splitting *s, struct unit *u, uint32_t parts)
{
	struct branch_list open = { 0 };
	s->enough = branches_for(parts);
	branch_list_copy(&open, &u->open);
	add_pieces(s, &open);
	while (s->count && s->count < s->enough && !s->stopped)
		expand_largest(s);
	sort_pieces(s);
}

/* ---- the parts ---- */

static struct unit *new_part(const struct unit *u, uint32_t number)
{
	struct text id = { 0 };
	struct task task;
	assert(number < UNIT_PARTS_MAX);
	task_copy(&task, &u->task);
	text_format(&id, *u->id ? "%s.%u" : "%s%u", u->id,
	            (unsigned)number + 1);
	struct unit *part = unit_new(&task, text_get(&id), 0);
	text_free(&id);
	return part;
}

static uint32_t smallest(const double *loads, uint32_t parts)
{
	uint32_t best = 0;
	assert(parts);
	for (uint32_t i = 1; i < parts; i++)
		if (loads[i] < loads[best]) best = i;
	return best;
}

/* Each piece, the largest first, to the part that has the least so far. */
static void hand_out(struct splitting *s, uint32_t parts, struct unit **out)
{
	double *loads = mem_take0(parts + 1, sizeof *loads);
	for (size_t i = 0; i < s->count; i++) {
		uint32_t to = smallest(loads, parts);
		/* To replay a branch takes a while, too. */
		loads[to] += s->pieces[i].size + 1;
		branch_list_add(&out[to]->open, s->pieces[i].branch);
	}
	s->count = 0;
	free(loads);
	for (uint32_t i = 0; i < parts; i++) branch_list_sort(&out[i]->open);
}

/* Equal for equal splits only: made from all that there is. */
static uint64_t split_hash(const struct unit *u, uint32_t parts,
                           struct unit **out)
{
	struct text t = { 0 };
	uint64_t h = hash_mix(UINT64_C(2), u->split);
	for (uint32_t i = 0; i < parts; i++) {
		text_clear(&t);
		unit_write(&t, out[i]);
		h = hash_bytes(h, text_get(&t), t.length);
	}
	text_free(&t);
	return h ? h : 1;
}

static void make_parts(struct splitting *s, struct unit *u, uint32_t parts,
                       struct unit **out)
{
	assert(!u->parts_split && parts);
	if (parts > s->count) parts = (uint32_t)s->count;
	for (uint32_t i = 0; i < parts; i++) out[i] = new_part(u, i);
	hand_out(s, parts, out);
	u->parts = parts;
	u->parts_split = split_hash(u, parts, out);
	for (uint32_t i = 0; i < parts; i++) out[i]->split = u->parts_split;
}

/* ---- the whole ---- */

static void start(struct splitting *s, const struct program *p,
                  const struct explore_options *o,
                  const struct split_observer *observer)
{
	*s = (struct splitting){ .program = p,
		                 .observer = observer,
		                 .expander = expander_new(p, o),
		                 .estimator = estimator_new(p, o, SEED) };
}

static void end(struct splitting *s)
{
	for (size_t i = 0; i < s->count; i++) free(s->pieces[i].branch);
	free(s->pieces);
	estimator_free(s->estimator);
	expander_free(s->expander);
}

static enum split_end how_it_ended(const struct splitting *s)
{
	if (expander_failed(s->expander)) return SPLIT_FOREIGN;
	return s->stopped || program_fault(s->program) ? SPLIT_STOPPED
	                                               : SPLIT_DONE;
}

enum split_end split_unit(struct unit *u, const struct program *p,
                          const struct explore_options *o,
                          const struct split_observer *observer, uint32_t parts,
                          struct unit **out)
{
	assert(parts && !u->parts_split);
	struct splitting s;
	struct tally found;
	const struct branch_list nothing = { 0 };
	bool fits = results_file_tally(&u->found, p, &found);
	start(&s, p, o, observer);
	if (fits) expand(&s, u, parts);
	enum split_end how = fits ? how_it_ended(&s) : SPLIT_FOREIGN;
	if (how == SPLIT_DONE) {
		expander_tally(s.expander, &found);
		make_parts(&s, u, parts, out);
		unit_update(u, p, &found, &nothing);
	}
	tally_free(&found);
	end(&s);
	return how;
}
