#include "cli/explore.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/memory.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/outputs.h"
#include "cli/program.h"
#include "cli/settings.h"
#include "vm/program.h"

/* --from asks for an unserializable history: the first one, or all of those
 * with few changes. */
static void read_from(const struct command_line *c, struct explore_options *o)
{
	o->algorithm = EXPLORE_OUTWARD;
	o->robust = true;
	o->stop_unserializable = !c->value[OPTION_MAX_CHANGES];
}

static void read_algorithm(const struct command_line *c,
                           struct explore_options *o)
{
	const char *word = c->value[OPTION_ALGORITHM];
	if (c->value[OPTION_EXPLORE_FROM])
		read_from(c, o);
	else if (c->value[OPTION_SYMMETRY] || c->value[OPTION_MAX_CHANGES] ||
	         (word && !strcmp(word, "orderly")))
		o->algorithm = EXPLORE_ORDERLY;
	else if (word && !strcmp(word, "dfs"))
		o->algorithm = EXPLORE_DFS;
}

static bool read_jobs(const struct command_line *c, struct explore_options *o)
{
	if (!setting_jobs(c, &o->jobs)) return false;
	if (!c->value[OPTION_EXPLORE_FROM]) return true;
	if (c->value[OPTION_JOBS] && o->jobs > 1) {
		say("--from explores in one thread: omit --jobs");
		return false;
	}
	o->jobs = 1;
	return true;
}

static bool read_limits(const struct command_line *c, struct explore_options *o)
{
	o->max_changes = UINT64_MAX;
	return setting_seed(c, OPTION_MAX_CHANGES, &o->max_changes) &&
	       setting_count(c, OPTION_MAX_HISTORIES, &o->max_histories) &&
	       setting_memory(c, OPTION_MEMORY, &o->memory) &&
	       setting_seconds(c, OPTION_TIMEOUT, &o->timeout) &&
	       read_jobs(c, o);
}

/* A unit or a checkpoint names its program. */
static bool program_is_named(const struct command_line *c)
{
	double seconds;
	struct library_bounds bounds;
	bool by_file = c->value[OPTION_UNIT] || c->value[OPTION_RESUME];
	return by_file && !c->operand_count
	               ? setting_code_in_c(c, &seconds, &bounds)
	               : one_program(c);
}

bool settings_read(struct exploration *x)
{
	const struct command_line *c = x->line;
	struct explore_options *o = &x->options;
	if (!program_is_named(c) || !options_fit(c)) return false;
	o->robust = c->value[OPTION_ROBUST];
	o->stop_on_violation = c->value[OPTION_STOP];
	o->check_duplicates = c->value[OPTION_CHECK_DUPLICATES];
	x->quiet = c->value[OPTION_QUIET];
	x->json = c->value[OPTION_JSON];
	read_algorithm(c, o);
	return read_limits(c, o) && outputs_fit(c, "program");
}

static bool base_fits(enum level level, enum level base)
{
	assert(level < LEVEL_COUNT && base < LEVEL_COUNT);
	if (!level_is_extensible(base)) {
		say("the base level must be none, rc, ra or cc: %s (%s) is not "
		    "causally extensible, that is, an execution of a part of "
		    "the program may lead to no history of the whole",
		    level_name(base), level_word(base));
		return false;
	}
	if (level_implies(level, base)) return true;
	say("the base level must be weaker than the level explored, but %s "
	    "(%s) is not weaker than %s (%s): histories would be lost",
	    level_name(base), level_word(base), level_name(level),
	    level_word(level));
	return false;
}

bool settings_levels(struct exploration *x)
{
	const struct command_line *c = x->line;
	struct explore_options *o = &x->options;
	if (!setting_level(c, OPTION_ISOLATION, x->program, &o->level))
		return false;
	o->base = o->level;
	if (o->algorithm != EXPLORE_CE) return true;
	o->base = level_base(o->level);
	if (c->value[OPTION_BASE])
		o->base = level_from_word(c->value[OPTION_BASE]);
	return base_fits(o->level, o->base);
}

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

static void no_session(const struct program *p, uint32_t count,
                       const char *name, size_t length)
{
	const char **names = mem_take0((size_t)count + 1, sizeof *names);
	char *copy = mem_copy_string(name);
	copy[length] = '\0';
	for (uint32_t s = 0; s < count; s++)
		names[s] = program_session_name(p, s);
	const char *meant = diag_nearest(copy, names, count);
	if (meant)
		say("--sessions-order: there is no session '%s'; did you mean "
		    "'%s'?",
		    copy, meant);
	else
		say("--sessions-order: there is no session '%s'", copy);
	free(copy);
	free(names);
}

struct program *settings_reordered(const struct program *p, const char *order)
{
	assert(order);
	uint32_t total = program_session_count(p), given = 0;
	uint32_t count = total - program_has_finally(p);
	uint32_t *permutation =
		mem_take0((size_t)total + 1, sizeof *permutation);
	bool *taken = mem_take0((size_t)total + 1, sizeof *taken);
	struct program *view = NULL;
	for (const char *name = order; name;) {
		size_t length = strcspn(name, ",");
		uint32_t s = find_session(p, count, name, length);
		if (s == count) {
			no_session(p, count, name, length);
			goto done;
		}
		if (taken[s]) {
			say("--sessions-order: session '%s' is named twice",
			    program_session_name(p, s));
			goto done;
		}
		taken[s] = true;
		permutation[given++] = s;
		name = name[length] ? name + length + 1 : NULL;
	}
	for (uint32_t s = 0; s < count; s++) {
		if (taken[s]) continue;
		say("--sessions-order: session '%s' is missing",
		    program_session_name(p, s));
		goto done;
	}
	if (count < total) permutation[count] = count;
	view = program_reordered(p, permutation);
done:
	free(permutation);
	free(taken);
	return view;
}
