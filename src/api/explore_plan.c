#include "api/explore_plan.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/symmetry.h"
#include "api/inputs.h"
#include "api/programs.h"
#include "base/memory.h"
#include "distribute/task.h"
#include "dpor/race.h"
#include "execution/observed_reads.h"
#include "formats/formats.h"
#include "vm/program.h"

/* ---- levels ---- */

static bool base_fits(const struct program *program, enum level level,
                      enum level base, struct problem *p)
{
	assert(level < LEVEL_COUNT && base < LEVEL_COUNT);
	if (!level_is_extensible(base))
		return problem_set(
			p, PROBLEM_REQUEST,
			"the base level must be none, rc, ra or cc: %s (%s) is "
			"not causally extensible, that is, an execution of a "
			"part of the program may lead to no history of the "
			"whole",
			level_name(base), level_word(base));
	if (level_implies(level, base) &&
	    (!program_checks(program) || base == level_base(level) ||
	     level_implies_checks(level, base)))
		return true;
	return problem_set(
		p, PROBLEM_REQUEST,
		"the base level must be weaker than the level explored, but %s "
		"(%s) is not weaker than %s (%s): histories would be lost",
		level_name(base), level_word(base), level_name(level),
		level_word(level));
}

static bool choose_levels(struct explore_options *o, const struct program *p,
                          const struct explore_wish *w, struct problem *problem)
{
	if (!program_level(p, w->level, &o->level, problem)) return false;
	if (w->level == LEVEL_COUNT || w->word)
		o->as = program_deployment(p, w->word);
	o->base = o->level;
	if (w->any_algorithm && w->base == LEVEL_COUNT &&
	    o->algorithm == EXPLORE_CE)
		o->algorithm = explorer_usual_algorithm(p, o->level);
	if (o->algorithm == EXPLORE_CE) {
		o->base =
			w->base == LEVEL_COUNT ? level_base(o->level) : w->base;
		return base_fits(p, o->level, o->base, problem);
	}
	if (w->base == LEVEL_COUNT || w->base == o->level) return true;
	return problem_set(problem, PROBLEM_REQUEST,
	                   "only explore-ce has a base level: the other "
	                   "algorithms explore under the level itself");
}

/* ---- the order of sessions ---- */

/* The session of this name, `finally` excepted; or count. */
static uint32_t find_session(const struct program *p, uint32_t count,
                             const char *name, size_t length)
{
	uint32_t s = 0;
	while (s < count) {
		const char *other = program_session_name(p, s);
		if (strlen(other) == length && !memcmp(other, name, length))
			break;
		s++;
	}
	return s;
}

static bool no_session(const struct program *p, uint32_t count,
                       const char *name, size_t length, struct problem *problem)
{
	const char **names = mem_take0((size_t)count + 1, sizeof *names);
	char *copy = mem_copy_string(name);
	copy[length] = '\0';
	for (uint32_t s = 0; s < count; s++)
		names[s] = program_session_name(p, s);
	const char *meant = diag_nearest(copy, names, count);
	problem_set(problem, PROBLEM_REQUEST,
	            "--sessions-order: there is no session '%s'%s%s%s", copy,
	            meant ? "; did you mean '" : "", meant ? meant : "",
	            meant ? "'?" : "");
	free(copy);
	free(names);
	return false;
}

/* Fills the permutation with the sessions that the order names. */
static bool read_order(const struct program *p, const char *order,
                       uint32_t count, uint32_t *permutation, bool *taken,
                       struct problem *problem)
{
	uint32_t given = 0;
	for (const char *name = order; name;) {
		size_t length = strcspn(name, ",");
		uint32_t s = find_session(p, count, name, length);
		if (s == count)
			return no_session(p, count, name, length, problem);
		if (taken[s])
			return problem_set(problem, PROBLEM_REQUEST,
			                   "--sessions-order: session '%s' is "
			                   "named twice",
			                   program_session_name(p, s));
		taken[s] = true;
		permutation[given++] = s;
		name = name[length] ? name + length + 1 : NULL;
	}
	for (uint32_t s = 0; s < count; s++)
		if (!taken[s])
			return problem_set(problem, PROBLEM_REQUEST,
			                   "--sessions-order: session '%s' is "
			                   "missing",
			                   program_session_name(p, s));
	assert(given == count);
	return true;
}

/* A view of the program with its sessions in the order, or NULL. */
static struct program *reordered(const struct program *p, const char *order,
                                 struct problem *problem)
{
	uint32_t total = program_session_count(p);
	uint32_t count = total - program_has_finally(p);
	uint32_t *permutation =
		mem_take0((size_t)total + 1, sizeof *permutation);
	bool *taken = mem_take0((size_t)total + 1, sizeof *taken);
	bool fine = read_order(p, order, count, permutation, taken, problem);
	if (count < total) permutation[count] = count;
	struct program *view = fine ? program_reordered(p, permutation) : NULL;
	free(permutation);
	free(taken);
	return view;
}

/* ---- what it borrows of the program ---- */

static bool is_of_program(const struct task *t, const struct program *p,
                          const char *otherwise, struct problem *problem)
{
	struct text why = { 0 };
	bool fits = task_take_program(t, p, &why);
	assert(otherwise);
	if (!fits && t->digest != program_digest_otherwise(p))
		text_format(&why, "; %s", otherwise);
	if (!fits) problem_set(problem, PROBLEM_INPUT, "%s", text_get(&why));
	text_free(&why);
	return fits;
}

static bool begin_at(struct explore_plan *x, const struct trace *from,
                     struct problem *problem)
{
	x->options.observed = x->observed =
		observed_reads_new(x->program, from, &problem->diags);
	return x->observed || problem_diagnosed(problem, PROBLEM_INPUT);
}

static bool find_symmetry(struct explore_plan *x, bool any_algorithm,
                          struct problem *problem)
{
	struct explore_options *o = &x->options;
	o->symmetry = x->symmetry = symmetry_new(x->program, &problem->diags);
	if (!x->symmetry) return problem_diagnosed(problem, PROBLEM_INPUT);
	if (!x->symmetry->trivial || !any_algorithm ||
	    o->max_changes < UINT64_MAX)
		return true;
	o->symmetry = NULL;
	o->algorithm = explorer_usual_algorithm(x->program, o->level);
	return true;
}

/* Where the usual algorithm prunes little, the other one may be quicker. */
static void race(struct explore_plan *x, const struct explore_wish *w)
{
	struct explore_options *o = &x->options;
	if (!w->any_algorithm || o->algorithm != EXPLORE_ORDERLY ||
	    o->symmetry || o->max_changes < UINT64_MAX)
		return;
	o->algorithm = race_winner(x->program, o);
	if (o->algorithm == EXPLORE_CE) o->base = level_base(o->level);
}

bool explore_plan_make(struct explore_plan *x, const struct program *p,
                       const struct explore_wish *w, struct problem *problem)
{
	const struct task *task = w->task;
	assert(!x->view && !x->symmetry && !x->observed);
	x->program = p;
	x->order = task ? task->order : w->order;
	x->step = PLAN_LEVELS;
	if (task)
		task_options(task, &x->options);
	else if (!choose_levels(&x->options, p, w, problem))
		return false;
	x->step = PLAN_ORDER;
	if (x->order) {
		x->program = x->view = reordered(p, x->order, problem);
		if (!x->view) return false;
	}
	x->step = PLAN_TASK;
	if (task && !is_of_program(task, x->program, w->otherwise, problem))
		return false;
	x->step = PLAN_FROM;
	if (w->from && !begin_at(x, w->from, problem)) return false;
	x->step = PLAN_SYMMETRY;
	if ((task ? task->symmetry : w->symmetry) &&
	    !find_symmetry(x, w->any_algorithm && !task, problem))
		return false;
	if (!task) race(x, w);
	return true;
}

void explore_plan_free(struct explore_plan *x)
{
	observed_reads_free(x->observed);
	symmetry_free(x->symmetry);
	kept_free(&x->kept);
	program_free(x->view);
}

struct trace *explore_from(const char *path, struct problem *p)
{
	struct reader_options o = { .format = FORMAT_COUNT };
	if (input_is_client(path, "--from takes a recorded history", p))
		return NULL;
	struct history_reader *r = history_reader_open(path, &o, &p->diags);
	struct trace *t = r ? history_reader_next(r, &p->diags) : NULL;
	if (r) history_reader_close(r);
	if (!t && !p->diags.errors) input_too_short(path, 0, 0, p);
	if (!t) problem_diagnosed(p, PROBLEM_INPUT);
	return t;
}
