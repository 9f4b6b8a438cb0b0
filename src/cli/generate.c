#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/generated.h"
#include "base/memory.h"
#include "cli/exit_codes.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/given_program.h"
#include "cli/outputs.h"
#include "history/trace.h"

/* A whole number that is at most `most`. */
static bool read_whole(const struct command_line *c, enum option_id option,
                       uint64_t most, uint64_t *out)
{
	const char *words = c->value[option];
	char *end;
	if (!words) return true;
	errno = 0;
	assert(most);
	uint64_t n = strtoull(words, &end, 10);
	if (isdigit((unsigned char)*words) && !*end && !errno && n <= most) {
		*out = n;
		return true;
	}
	if (most < UINT64_MAX)
		say("%s takes a number from 0 to %llu, not '%s'",
		    c->spelling[option], (unsigned long long)most, words);
	else
		say("%s takes a 64-bit number, not '%s'", c->spelling[option],
		    words);
	return false;
}

static bool read_small(const struct command_line *c, enum option_id option,
                       uint32_t *out)
{
	uint64_t n = *out;
	if (!read_whole(c, option, UINT32_MAX, &n)) return false;
	*out = (uint32_t)n;
	return true;
}

static bool read_decimal(const struct command_line *c, enum option_id option,
                         double *out)
{
	const char *words = c->value[option];
	char *end;
	if (!words) return true;
	double x = strtod(words, &end);
	if ((isdigit((unsigned char)*words) || *words == '.') && end > words &&
	    !*end) {
		*out = x;
		return true;
	}
	say("%s takes a number such as 0.5, not '%s'", c->spelling[option],
	    words);
	return false;
}

static void read_words(const struct command_line *c, struct workload *w)
{
	const char *distribution = c->value[OPTION_DIST];
	const char *planted = c->value[OPTION_ANOMALY];
	if (distribution && !strcmp(distribution, "zipf"))
		w->distribution = DISTRIBUTION_ZIPF;
	if (planted) w->planted = planted_from_word(planted);
	w->geometric = c->value[OPTION_GEOMETRIC];
}

/* One level, or several. */
static bool read_level(const struct command_line *c, struct workload *w)
{
	const char *words = c->value[OPTION_LEVEL];
	struct text why = { 0 };
	if (!words) return true;
	if (!strchr(words, '+')) {
		w->level = level_from_word(words);
		assert(w->level < LEVEL_COUNT);
		return true;
	}
	bool fine = levels_read(words, &w->mix, &why);
	if (!fine) say("--level %s: %s", words, text_get(&why));
	text_free(&why);
	return fine;
}

static bool read_size(const struct command_line *c, struct workload *w)
{
	if (c->value[OPTION_OPS] && c->value[OPTION_TRANSACTIONS]) {
		say("--ops and --transactions cannot be used together");
		return false;
	}
	if (!read_whole(c, OPTION_OPS, UINT64_MAX, &w->ops) ||
	    !read_whole(c, OPTION_TRANSACTIONS, UINT64_MAX, &w->transactions))
		return false;
	if (!c->value[OPTION_TRANSACTIONS] || w->transactions) return true;
	say("--transactions takes a positive number");
	return false;
}

static bool read_workload(const struct command_line *c, struct workload *w)
{
	*w = workload_default();
	read_words(c, w);
	if (c->value[OPTION_THETA] && w->distribution != DISTRIBUTION_ZIPF) {
		say("--theta belongs to the zipf distribution: add --dist "
		    "zipf");
		return false;
	}
	return read_level(c, w) && read_size(c, w) &&
	       read_small(c, OPTION_SESSIONS, &w->sessions) &&
	       read_small(c, OPTION_LENGTH, &w->length) &&
	       read_small(c, OPTION_KEYS, &w->keys) &&
	       read_decimal(c, OPTION_READS, &w->reads) &&
	       read_decimal(c, OPTION_THETA, &w->theta) &&
	       read_small(c, OPTION_LAG, &w->lag) &&
	       read_decimal(c, OPTION_ABORTS, &w->aborts) &&
	       read_decimal(c, OPTION_LOCKED_READS, &w->locks) &&
	       read_whole(c, OPTION_SEED, UINT64_MAX, &w->seed);
}

int generate_main(const struct command_line *c)
{
	struct workload w;
	struct target to;
	struct problem problem = { 0 };
	uint32_t *order = NULL;
	if (c->operand_count) {
		say("generate reads no file; to write to it: isoscope generate "
		    "--output %s",
		    c->operands[0]);
		return EXIT_USAGE;
	}
	if (!read_workload(c, &w) || !target_read(c, &to)) return EXIT_USAGE;
	struct trace *t = generate_history(&w, to.format, &order, &problem);
	/* A history that the format cannot express is one that the options
	 * should not have asked for. */
	if (t && !target_write(&to, t, order, &problem) &&
	    problem.kind == PROBLEM_INPUT)
		problem.kind = PROBLEM_REQUEST;
	int code = say_problem(c, NULL, &problem);
	problem_free(&problem);
	trace_free(t);
	free(order);
	return code;
}
