#include "cli/explore.h"

#include <string.h>

#include "cli/options.h"
#include "cli/output.h"
#include "cli/outputs.h"
#include "cli/given_program.h"
#include "cli/settings.h"

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
	struct code_in_c code = CODE_IN_C;
	bool by_file = c->value[OPTION_UNIT] || c->value[OPTION_RESUME];
	return by_file && !c->operand_count ? setting_code_in_c(c, &code)
	                                    : one_program(c);
}

bool settings_read(struct exploration *x)
{
	const struct command_line *c = x->line;
	struct explore_options *o = &x->plan.options;
	if (!program_is_named(c) || !options_fit(c)) return false;
	o->robust = c->value[OPTION_ROBUST];
	o->stop_on_violation = c->value[OPTION_STOP];
	o->check_duplicates = c->value[OPTION_CHECK_DUPLICATES];
	x->quiet = c->value[OPTION_QUIET];
	x->json = c->value[OPTION_JSON];
	read_algorithm(c, o);
	return read_limits(c, o) && outputs_fit(c, "program");
}

static enum level level_said(const char *word)
{
	return word ? level_from_word(word) : LEVEL_COUNT;
}

struct explore_wish explore_wish_read(const struct command_line *c)
{
	return (struct explore_wish){
		.level = level_said(c->value[OPTION_ISOLATION]),
		.word = c->value[OPTION_ISOLATION],
		.base = level_said(c->value[OPTION_BASE]),
		.order = c->value[OPTION_SESSIONS_ORDER],
		.symmetry = c->value[OPTION_SYMMETRY],
		/* --levels explores one level for others; --random draws from
		 * branches that all lead to histories of the base. */
		.any_algorithm = !c->value[OPTION_ALGORITHM] &&
		                 !c->value[OPTION_LEVELS] &&
		                 !c->value[OPTION_RANDOM],
	};
}
