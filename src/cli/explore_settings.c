#include "cli/explore.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/diag.h"
#include "base/memory.h"
#include "cli/options.h"
#include "cli/output.h"
#include "vm/program.h"

/* A positive whole number, and what stands behind it. */
static bool read_number(const char *words, uint64_t *out, char **end)
{
	errno = 0;
	if (!isdigit((unsigned char)*words)) return false;
	*out = strtoull(words, end, 10);
	return !errno && *out;
}

static bool read_histories(const char *words, uint64_t *out)
{
	char *end;
	if (!words) return true;
	if (read_number(words, out, &end) && !*end) return true;
	say("--max-histories takes a positive number, not '%s'", words);
	return false;
}

static bool read_memory(const char *words, uint64_t *out)
{
	static const char units[] = "kMGT";
	char *end;
	if (!words) return true;
	if (read_number(words, out, &end)) {
		const char *unit = *end ? strchr(units, *end) : NULL;
		unsigned shift = 0;
		if (*end == 'K') unit = units;
		if (unit) {
			shift = 10 * (unsigned)(unit - units + 1);
			end++;
			if (*end == 'i') end++;
			if (*end == 'B') end++;
		}
		if (!*end && *out <= UINT64_MAX >> shift) {
			*out <<= shift;
			return true;
		}
	}
	say("--memory takes a size such as 500M or 2G, not '%s'", words);
	return false;
}

static bool read_seconds(const char *words, double *out)
{
	char *end;
	if (!words) return true;
	*out = strtod(words, &end);
	if (strpbrk(words, "xX")) end = (char *)words;
	if (end != words && *end == 's') end++;
	if (end != words && !*end && isfinite(*out) && *out > 0) return true;
	say("--timeout takes a positive number of seconds, not '%s'", words);
	return false;
}

/* The options that name a file to write. */
static const enum option_id outputs[] = { OPTION_HISTORIES, OPTION_DOT,
	                                  OPTION_SVG };
enum { OUTPUTS = sizeof outputs / sizeof *outputs };

/* Do both paths lead to one regular file? */
static bool same_file(const char *a, const char *b)
{
	struct stat x, y;
	if (!strcmp(a, b)) return true;
	return !stat(a, &x) && !stat(b, &y) && S_ISREG(x.st_mode) &&
	       x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* No output may overwrite another one, or the program. */
static bool outputs_differ(const struct command_line *c)
{
	for (size_t i = 0; i < OUTPUTS; i++) {
		const char *path = c->value[outputs[i]];
		const char *word = option_table[outputs[i]].word;
		if (!path || is_standard(path)) continue;
		if (c->operand_count && same_file(path, c->operands[0])) {
			say("--%s would overwrite the program '%s'", word,
			    c->operands[0]);
			return false;
		}
		for (size_t j = 0; j < i; j++) {
			const char *other = c->value[outputs[j]];
			if (!other || !same_file(path, other)) continue;
			say("--%s and --%s cannot both be written to '%s'",
			    option_table[outputs[j]].word, word, path);
			return false;
		}
	}
	return true;
}

/* At most one thing can be written to the standard output. */
static bool outputs_fit(const struct command_line *c)
{
	const char *taken = c->value[OPTION_JSON] ? "json" : NULL;
	for (size_t i = 0; i < OUTPUTS; i++) {
		const char *path = c->value[outputs[i]];
		const char *word = option_table[outputs[i]].word;
		if (!path) continue;
		if (c->value[OPTION_LEVELS]) {
			say("--levels goes without --%s", word);
			return false;
		}
		if (!is_standard(path)) continue;
		if (taken) {
			say("--%s and --%s cannot both be written to the "
			    "standard output", taken, word);
			return false;
		}
		taken = word;
	}
	return true;
}

bool settings_read(struct exploration *x)
{
	const struct command_line *c = x->line;
	struct explore_options *o = &x->options;
	const char *algorithm = c->value[OPTION_ALGORITHM];
	if (algorithm && !strcmp(algorithm, "dfs")) o->algorithm = EXPLORE_DFS;
	o->robust = c->value[OPTION_ROBUST];
	o->stop_on_violation = c->value[OPTION_STOP];
	o->check_duplicates = c->value[OPTION_CHECK_DUPLICATES];
	x->quiet = c->value[OPTION_QUIET];
	x->json = c->value[OPTION_JSON];
	if (o->algorithm == EXPLORE_DFS && c->value[OPTION_BASE]) {
		say("--base goes without --algorithm dfs, which explores "
		    "under the level itself");
		return false;
	}
	if (c->value[OPTION_LEVELS] &&
	    (c->value[OPTION_BASE] || o->algorithm == EXPLORE_DFS)) {
		say("--levels chooses base levels and algorithm itself");
		return false;
	}
	return read_histories(c->value[OPTION_MAX_HISTORIES],
	                      &o->max_histories) &&
	       read_memory(c->value[OPTION_MEMORY], &o->memory) &&
	       read_seconds(c->value[OPTION_TIMEOUT], &o->timeout) &&
	       outputs_fit(c) && outputs_differ(c);
}

static bool base_fits(enum level level, enum level base)
{
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
	const char *word = c->value[OPTION_ISOLATION];
	if (!word) word = program_isolation(x->program);
	o->level = word ? level_from_word(word) : LEVEL_CC;
	if (o->level == LEVEL_COUNT) {
		say("%s: there is no isolation level '%s'",
		    program_path(x->program), word);
		return false;
	}
	o->base = o->level;
	if (o->algorithm == EXPLORE_DFS) return true;
	if (!level_is_extensible(o->level)) o->base = LEVEL_CC;
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
		    "'%s'?", copy, meant);
	else
		say("--sessions-order: there is no session '%s'", copy);
	free(copy);
	free(names);
}

struct program *settings_reordered(const struct program *p, const char *order)
{
	uint32_t total = program_session_count(p), given = 0;
	uint32_t count = total - program_has_finally(p);
	uint32_t *permutation = mem_take0((size_t)total + 1,
	                                  sizeof *permutation);
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
