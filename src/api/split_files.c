#include "api/split_files.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "api/programs.h"
#include "base/memory.h"
#include "base/paths.h"
#include "base/text.h"
#include "base/utf8.h"
#include "distribute/split.h"
#include "distribute/unit.h"
#include "distribute/unit_files.h"
#include "vm/program.h"

/* ---- what is split ---- */

static struct unit *read_unit(const char *path, struct problem *p)
{
	struct unit *u = unit_read(path, &p->diags);
	if (!u) problem_diagnosed(p, PROBLEM_INPUT);
	return u;
}

/* What was explored of a unit is not explored again: its result, if it is not
 * finished, is split instead. */
static bool prefer_result(struct division *v, const char *path,
                          struct problem *p)
{
	struct text beside = { 0 };
	unit_file_beside(&beside, path, "result", v->unit->id);
	const char *result = text_get(&beside);
	/* One that cannot be read is told of, and left alone. */
	struct unit *u =
		*v->unit->id && strcmp(result, path) != 0 && path_exists(result)
			? unit_read(result, &p->diags)
			: NULL;
	bool ours = u && u->split == v->unit->split;
	bool finished = ours && unit_is_finished(u);
	if (finished)
		problem_set(p, PROBLEM_INPUT, "%s: this unit is finished",
		            result);
	if (ours && !finished) {
		unit_free(v->unit);
		v->unit = u;
		v->result = mem_copy_string(result);
	} else {
		unit_free(u);
	}
	text_free(&beside);
	return !finished;
}

bool split_read(struct division *v, const char *path, struct problem *p)
{
	v->unit = read_unit(path, p);
	v->from_file = true;
	if (!v->unit || !prefer_result(v, path, p)) return false;
	if (v->unit->parts)
		return problem_set(p, PROBLEM_INPUT,
		                   "%s was split already, into %" PRIu32
		                   " units; split those",
		                   path, v->unit->parts);
	if (!unit_is_finished(v->unit)) return true;
	return problem_set(p, PROBLEM_INPUT,
	                   "%s: nothing is left to explore, so there is "
	                   "nothing to split; merge it as it is",
	                   path);
}

/* ---- files ---- */

/* The caller frees the text. */
static const char *file_name(const struct division *v, struct text *t,
                             const char *kind, const char *id)
{
	text_clear(t);
	unit_file_name(t, v->folder, kind, id);
	return text_get(t);
}

bool split_into(struct division *v, const char *folder, const char *path,
                uint64_t count, struct problem *p)
{
	struct text t = { 0 };
	assert(folder || path);
	if (!count || count > UNIT_PARTS_MAX)
		return problem_set(p, PROBLEM_REQUEST, "--units: at most %d",
		                   UNIT_PARTS_MAX);
	v->count = (uint32_t)count;
	if (!folder) path_folder(&t, path);
	v->folder = mem_copy_string(folder ? folder : text_get(&t));
	const char *whole =
		file_name(v, &t, "split", v->from_file ? v->unit->id : "");
	bool there = path_exists(whole);
	if (there)
		problem_set(p, PROBLEM_REQUEST,
		            "%s already exists and holds units of its own; "
		            "choose another folder",
		            whole);
	text_free(&t);
	return !there;
}

static bool make_folder(const struct division *v, struct problem *p)
{
	if (!mkdir(v->folder, 0777) || errno == EEXIST) return true;
	return problem_set(p, PROBLEM_REQUEST, "cannot make the folder %s: %s",
	                   v->folder, strerror(errno));
}

static bool save(const struct division *v, const char *kind,
                 const struct unit *u, struct problem *p)
{
	assert(v->folder && u);
	struct text t = { 0 };
	const char *path = file_name(v, &t, kind, u->id);
	bool fine = unit_save(path, u);
	if (!fine)
		problem_set(p, PROBLEM_SYSTEM, "cannot write %s: %s", path,
		            strerror(errno));
	text_free(&t);
	return fine;
}

/* What remains of the whole comes last: when it is there, all are. */
static bool save_all(const struct division *v, struct problem *p)
{
	for (uint32_t i = 0; i < v->count; i++)
		if (!save(v, "unit", v->parts[i], p)) return false;
	return save(v, "split", v->unit, p);
}

/* ---- the whole ---- */

static bool new_unit(struct division *v, struct problem *p)
{
	const struct explore_plan *x = v->plan;
	struct task task;
	task_init(&task, x->program, &x->options, x->order);
	v->unit = unit_new(&task, "", 0);
	branch_list_add(&v->unit->open, branch_root());
	const char *path = v->unit->task.program, *given = v->unit->task.given;
	if (utf8_is_valid(path, strlen(path)) &&
	    utf8_is_valid(given, strlen(given)))
		return true;
	return problem_set(p, PROBLEM_INPUT,
	                   "a unit cannot hold the path of %s, which is not in "
	                   "UTF-8; give the file another name",
	                   path);
}

static bool stopped(const struct division *v, struct problem *p)
{
	const atomic_bool *interrupt = v->plan->options.interrupt;
	bool interrupted = interrupt && atomic_load(interrupt);
	return problem_set(
		p, PROBLEM_LIMIT, "%s",
		interrupted ? "interrupted; nothing was split"
			    : "the program is too large, and nothing was "
			      "split: isoscope explore says in which "
			      "respect");
}

bool split_make(struct division *v, const char *path,
                const struct split_observer *observer, struct problem *p)
{
	struct explore_plan *x = v->plan;
	assert(v->count && !v->parts && x->program);
	x->options.jobs = 1;
	if (!make_folder(v, p) || (!v->unit && !new_unit(v, p))) return false;
	v->parts = mem_take0(v->count, sizeof *v->parts);
	enum split_end how = split_unit(v->unit, x->program, &x->options,
	                                observer, v->count, v->parts);
	if (!program_sound(x->program, p)) return false;
	switch (how) {
	case SPLIT_DONE: v->count = v->unit->parts; return save_all(v, p);
	case SPLIT_FOREIGN:
		return problem_set(p, PROBLEM_INPUT,
		                   "%s holds what the program cannot do; split "
		                   "it again",
		                   path);
	case SPLIT_STOPPED: break;
	}
	return stopped(v, p);
}

size_t split_branches(const struct division *v)
{
	size_t branches = 0;
	assert(v->parts);
	for (uint32_t i = 0; i < v->count; i++)
		branches += v->parts[i]->open.count;
	return branches;
}

uint64_t split_histories(const struct division *v)
{
	return v->unit->found.stats.histories;
}

void split_free(struct division *v)
{
	for (uint32_t i = 0; v->parts && i < v->count; i++)
		unit_free(v->parts[i]);
	free(v->parts);
	unit_free(v->unit);
	free(v->result);
	free(v->folder);
}
