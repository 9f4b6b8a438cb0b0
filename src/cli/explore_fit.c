/* Which options of explore go together. */
#include "cli/explore.h"

#include <string.h>

#include "base/text.h"
#include "cli/options.h"
#include "cli/output.h"

enum { OTHERS_MAX = 16 };

/* What holds of an option and others. */
struct rule {
	enum option_id option;
	const char *way_out; /* in words */
	enum option_id others[OTHERS_MAX];
	size_t count;
};

#define OTHERS(...)                                                  \
	{ __VA_ARGS__ }, sizeof((enum option_id[]){ __VA_ARGS__ }) / \
				 sizeof(enum option_id)

/* The option goes without the others. The first rule that is broken speaks. */
static const struct rule rules[] = {
	{ OPTION_UNIT, "the unit says what is explored",
	  OTHERS(OPTION_ISOLATION, OPTION_BASE, OPTION_ALGORITHM, OPTION_ROBUST,
	         OPTION_EXPLORE_FROM, OPTION_MAX_CHANGES, OPTION_SYMMETRY,
	         OPTION_SESSIONS_ORDER, OPTION_MAX_TRANSACTIONS,
	         OPTION_MAX_ACCESSES) },
	{ OPTION_UNIT, "it is one part of many; isoscope merge adds them up",
	  OTHERS(OPTION_LEVELS, OPTION_ESTIMATE, OPTION_RANDOM,
	         OPTION_CHECK_DUPLICATES, OPTION_CHECKPOINT, OPTION_RESUME) },
	{ OPTION_RESUME, "the checkpoint says what is explored",
	  OTHERS(OPTION_ISOLATION, OPTION_BASE, OPTION_ALGORITHM, OPTION_ROBUST,
	         OPTION_MAX_CHANGES, OPTION_SYMMETRY, OPTION_SESSIONS_ORDER,
	         OPTION_MAX_TRANSACTIONS, OPTION_MAX_ACCESSES) },
	{ OPTION_LEVELS, "it prints one table, and writes no file",
	  OTHERS(OPTION_HISTORIES, OPTION_DOT, OPTION_SVG) },
	{ OPTION_LEVELS, "name one level with --isolation",
	  OTHERS(OPTION_ESTIMATE, OPTION_RANDOM, OPTION_CHECKPOINT,
	         OPTION_RESUME) },
	{ OPTION_EXPLORE_FROM, "it is a way of exploring by itself",
	  OTHERS(OPTION_BASE, OPTION_ALGORITHM, OPTION_LEVELS,
	         OPTION_SESSIONS_ORDER, OPTION_SYMMETRY, OPTION_ESTIMATE,
	         OPTION_RANDOM) },
	{ OPTION_EXPLORE_FROM,
	  "it cannot be resumed; --timeout and --max-changes end it early",
	  OTHERS(OPTION_CHECKPOINT, OPTION_RESUME) },
	{ OPTION_ESTIMATE,
	  "nothing is explored; estimate first, then explore without "
	  "--estimate",
	  OTHERS(OPTION_RANDOM, OPTION_HISTORIES, OPTION_DOT, OPTION_SVG,
	         OPTION_MAX_HISTORIES, OPTION_STOP, OPTION_CHECK_DUPLICATES,
	         OPTION_CHECKPOINT) },
	{ OPTION_RANDOM, "descents draw from all histories",
	  OTHERS(OPTION_SYMMETRY, OPTION_MAX_CHANGES) },
	{ OPTION_RANDOM, "its number of descents is the limit",
	  OTHERS(OPTION_MAX_HISTORIES) },
	{ OPTION_RANDOM,
	  "descents are independent of one another: to continue, "
	  "make others with --seed",
	  OTHERS(OPTION_CHECK_DUPLICATES, OPTION_CHECKPOINT, OPTION_RESUME) },
	{ OPTION_FIX, "many variants of the program are explored",
	  OTHERS(OPTION_LEVELS, OPTION_ESTIMATE, OPTION_RANDOM,
	         OPTION_CHECKPOINT, OPTION_RESUME, OPTION_UNIT,
	         OPTION_HISTORIES, OPTION_DOT, OPTION_SVG,
	         OPTION_CHECK_DUPLICATES, OPTION_STOP) },
	{ OPTION_FIX, "all their histories are, in the usual way",
	  OTHERS(OPTION_EXPLORE_FROM, OPTION_SYMMETRY, OPTION_MAX_CHANGES,
	         OPTION_BASE, OPTION_ALGORITHM, OPTION_SESSIONS_ORDER) },
	{ OPTION_WATCH, "what a checkpoint or a unit is of may not change",
	  OTHERS(OPTION_UNIT, OPTION_CHECKPOINT, OPTION_RESUME) },
	{ OPTION_ENGINE,
	  "its server is of this exploration alone; omit one of them",
	  OTHERS(OPTION_FIX, OPTION_UNIT, OPTION_CHECKPOINT, OPTION_RESUME,
	         OPTION_READ_ALL_ROWS) },
	{ OPTION_SYMMETRY,
	  "only --algorithm orderly explores classes, and "
	  "that under the level itself",
	  OTHERS(OPTION_BASE) },
	{ OPTION_MAX_CHANGES,
	  "only --algorithm orderly counts stale reads, "
	  "and that under the level itself",
	  OTHERS(OPTION_BASE) },
	{ OPTION_CONFIRM_EXAMPLES, "it tries what one exploration has found",
	  OTHERS(OPTION_LEVELS, OPTION_FIX, OPTION_ESTIMATE, OPTION_RANDOM,
	         OPTION_UNIT) },
	{ OPTION_SORTED,
	  "the order is known only at the end; omit --sorted, and sort the "
	  "lines",
	  OTHERS(OPTION_CHECKPOINT, OPTION_RESUME) },
	{ OPTION_CHECK_DUPLICATES, "a checkpoint does not hold what was seen",
	  OTHERS(OPTION_CHECKPOINT, OPTION_RESUME) },
};

static bool rule_is_kept(const struct command_line *c, const struct rule *r)
{
	if (!c->value[r->option]) return true;
	if (r->option == OPTION_ENGINE &&
	    strcmp(c->value[OPTION_ENGINE], "postgres"))
		return true;
	for (size_t i = 0; i < r->count; i++) {
		if (!c->value[r->others[i]]) continue;
		say("--%s cannot be used with --%s: %s",
		    option_table[r->option].word,
		    option_table[r->others[i]].word, r->way_out);
		return false;
	}
	return true;
}

/* The option means something only beside one of the others. */
static const struct rule needs[] = {
	{ OPTION_SORTED, NULL, OTHERS(OPTION_HISTORIES) },
	{ OPTION_RESULT, NULL, OTHERS(OPTION_UNIT) },
	{ OPTION_MAX_EDITS, NULL, OTHERS(OPTION_FIX) },
	{ OPTION_MAX_REPAIRS, NULL, OTHERS(OPTION_FIX) },
	{ OPTION_WEIGHTS, NULL, OTHERS(OPTION_FIX) },
	{ OPTION_ORACLE, NULL, OTHERS(OPTION_FIX) },
	{ OPTION_CHECKPOINT_EVERY, NULL,
	  OTHERS(OPTION_CHECKPOINT, OPTION_RESUME, OPTION_UNIT) },
	{ OPTION_EXPLORE_SEED, NULL, OTHERS(OPTION_RANDOM, OPTION_ESTIMATE) },
};

static bool need_is_met(const struct command_line *c, const struct rule *r)
{
	struct text others = { 0 };
	bool met = !c->value[r->option];
	for (size_t i = 0; i < r->count; i++) {
		met |= c->value[r->others[i]] != NULL;
		text_format(&others, "%s--%s", i ? " or " : "",
		            option_table[r->others[i]].word);
	}
	if (!met)
		say("--%s needs %s", option_table[r->option].word,
		    text_get(&others));
	text_free(&others);
	return met;
}

/* The option is for some of the algorithms only. */
static bool algorithm_fits(const struct command_line *c)
{
	static const struct {
		enum option_id option;
		const char *algorithms, *way_out;
	} all[] = {
		{ OPTION_SYMMETRY, "orderly", "omit --algorithm" },
		{ OPTION_MAX_CHANGES, "orderly", "omit --algorithm" },
		{ OPTION_BASE, "ce", "others explore under the level itself" },
		{ OPTION_LEVELS, "ce orderly", "name one with --isolation" },
		{ OPTION_RANDOM, "ce", "omit --algorithm" },
	};
	const char *word = c->value[OPTION_ALGORITHM];
	for (size_t i = 0; word && i < sizeof all / sizeof *all; i++) {
		if (!c->value[all[i].option] || strstr(all[i].algorithms, word))
			continue;
		say("--%s cannot be used with --algorithm %s: %s",
		    option_table[all[i].option].word, word, all[i].way_out);
		return false;
	}
	return true;
}

bool options_fit(const struct command_line *c)
{
	for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
		if (!rule_is_kept(c, &rules[i])) return false;
	for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
		if (!need_is_met(c, &needs[i])) return false;
	return algorithm_fits(c);
}
