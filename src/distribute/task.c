#include "distribute/task.h"

#include <assert.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "vm/program.h"

static char *absolute(const char *path)
{
	char real[PATH_MAX];
	return mem_copy_string(realpath(path, real) ? real : path);
}

void task_init(struct task *t, const struct program *p,
               const struct explore_options *o, const char *order)
{
	bool orderly = o->algorithm == EXPLORE_ORDERLY;
	assert(o->algorithm != EXPLORE_OUTWARD); /* has no branches */
	*t = (struct task){
		.program = absolute(program_path(p)),
		.given = mem_copy_string(program_path(p)),
		.digest = program_digest(p),
		.sessions = program_session_count(p),
		.order = order ? mem_copy_string(order) : NULL,
		.algorithm = o->algorithm,
		.level = o->level,
		.base = o->base,
		.robust = o->robust,
		.classify = o->classify,
		.symmetry = orderly && o->symmetry,
		.max_changes = orderly ? o->max_changes : UINT64_MAX,
		.bounds = library_session_bounds(p),
	};
}

void task_copy(struct task *to, const struct task *from)
{
	*to = *from;
	to->program = mem_copy_string(from->program);
	to->given = mem_copy_string(from->given);
	if (from->order) to->order = mem_copy_string(from->order);
}

void task_free(struct task *t)
{
	free(t->program);
	free(t->given);
	free(t->order);
	*t = (struct task){ 0 };
}

const char *task_path(const struct task *t)
{
	assert(t->given && t->program);
	char real[PATH_MAX];
	bool same = realpath(t->given, real) && !strcmp(real, t->program);
	return same ? t->given : t->program;
}

void task_options(const struct task *t, struct explore_options *o)
{
	o->algorithm = t->algorithm;
	o->level = t->level;
	o->base = t->base;
	o->robust = t->robust;
	o->classify = t->classify;
	o->max_changes = t->max_changes;
}

bool task_take_program(const struct task *t, const struct program *p,
                       struct text *why)
{
	if (t->digest == program_digest(p) &&
	    t->sessions == program_session_count(p)) {
		library_bound_sessions(p, t->bounds);
		return true;
	}
	if (t->digest == program_digest_otherwise(p)) {
		text_format(why,
		            "%s was explored with%s --serializable=postgres, "
		            "so it takes %s option now",
		            program_path(p), program_is_ssi(p) ? "out" : "",
		            program_is_ssi(p) ? "no such" : "this");
		return false;
	}
	text_format(why,
	            "%s, or a file that it imports, is not what it was: "
	            "its hash was %016" PRIx64 ", and is %016" PRIx64,
	            program_path(p), t->digest, program_digest(p));
	return false;
}

bool task_algorithm_from_word(const char *word, enum explorer_algorithm *out)
{
	static const enum explorer_algorithm all[] = { EXPLORE_CE, EXPLORE_DFS,
		                                       EXPLORE_ORDERLY };
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		if (strcmp(word, explorer_algorithm_word(all[i]))) continue;
		*out = all[i];
		return true;
	}
	return false;
}

static bool same_words(const char *a, const char *b, const char *what,
                       struct text *why)
{
	assert(a && b);
	if (!strcmp(a, b)) return true;
	text_format(why, "%s %s, not %s", what, a, b);
	return false;
}

static bool same_flag(bool a, bool b, const char *what, struct text *why)
{
	if (a != b) text_format(why, "%s %s", a ? "with" : "without", what);
	return a == b;
}

static bool same_changes(uint64_t a, uint64_t b, struct text *why)
{
	if (a == b) return true;
	if (a == UINT64_MAX)
		text_string(why, "without --max-changes");
	else
		text_format(why, "with --max-changes %" PRIu64, a);
	return false;
}

static bool same_bound(uint64_t a, uint64_t b, const char *option,
                       struct text *why)
{
	if (a != b)
		text_format(why, "with --%s %" PRIu64 ", not %" PRIu64, option,
		            a, b);
	return a == b;
}

bool task_equal(const struct task *t, const struct task *wanted,
                struct text *why)
{
	if (t->digest != wanted->digest || t->sessions != wanted->sessions) {
		text_format(why,
		            "of another program (%s with hash %016" PRIx64
		            ", not %s with hash %016" PRIx64 ")",
		            t->program, t->digest, wanted->program,
		            wanted->digest);
		return false;
	}
	return same_words(level_word(t->level), level_word(wanted->level),
	                  "under", why) &&
	       same_words(level_word(t->base), level_word(wanted->base),
	                  "with the base level", why) &&
	       same_words(explorer_algorithm_word(t->algorithm),
	                  explorer_algorithm_word(wanted->algorithm),
	                  "with the algorithm", why) &&
	       same_words(t->order ? t->order : "as declared",
	                  wanted->order ? wanted->order : "as declared",
	                  "with sessions in the order", why) &&
	       same_flag(t->robust, wanted->robust, "--robust", why) &&
	       same_flag(t->classify, wanted->classify,
	                 "histories counted by level", why) &&
	       same_flag(t->symmetry, wanted->symmetry,
	                 "symmetric histories explored once", why) &&
	       same_changes(t->max_changes, wanted->max_changes, why) &&
	       same_bound(t->bounds.transactions, wanted->bounds.transactions,
	                  "max-transactions", why) &&
	       same_bound(t->bounds.accesses, wanted->bounds.accesses,
	                  "max-accesses", why);
}
