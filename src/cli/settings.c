#include "cli/settings.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/programs.h"
#include "cli/cores.h"
#include "cli/output.h"
#include "predict/predict.h"
#include "vm/program.h"

/* More than any machine has cores. */
enum { JOBS_MAX = 4096 };

/* Three weeks: nobody waits so long, and it can be counted in milliseconds. */
static const double SECONDS_NEVER = 2e6;

/* A whole number, and what stands behind it. */
static bool read_whole(const char *words, uint64_t *out, char **end)
{
	errno = 0;
	if (!isdigit((unsigned char)*words)) return false;
	*out = strtoull(words, end, 10);
	return !errno;
}

static bool read_number(const char *words, uint64_t *out, char **end)
{
	return read_whole(words, out, end) && *out;
}

bool setting_count(const struct command_line *c, enum option_id option,
                   uint64_t *out)
{
	assert(option < OPTION_COUNT);
	const char *words = c->value[option];
	char *end;
	uint64_t n;
	assert(option_table[option].argument);
	if (!words) return true;
	if (read_number(words, &n, &end) && !*end) {
		*out = n;
		return true;
	}
	say("%s takes a positive number, not '%s'", c->spelling[option], words);
	return false;
}

bool setting_jobs(const struct command_line *c, unsigned *out)
{
	const char *words = c->value[OPTION_JOBS];
	char *end;
	uint64_t n;
	if (!words) {
		*out = c->value[OPTION_MAX_HISTORIES] ? 1 : cores_usable();
		assert(*out);
		return true;
	}
	if (read_number(words, &n, &end) && !*end && n <= JOBS_MAX) {
		*out = (unsigned)n;
		return true;
	}
	say("%s takes a number of threads from 1 to %d, not '%s'",
	    c->spelling[OPTION_JOBS], JOBS_MAX, words);
	return false;
}

bool setting_seed(const struct command_line *c, enum option_id option,
                  uint64_t *out)
{
	assert(option < OPTION_COUNT);
	const char *words = c->value[option];
	char *end;
	uint64_t n;
	assert(option_table[option].argument);
	if (!words) return true;
	if (read_whole(words, &n, &end) && !*end) {
		*out = n;
		return true;
	}
	say("%s takes a whole number from 0 to 18446744073709551615, not "
	    "'%s'",
	    c->spelling[option], words);
	return false;
}

bool setting_share(const struct command_line *c, enum option_id option,
                   double *out)
{
	const char *words = c->value[option];
	char *end;
	if (!words) return true;
	double x = strtod(words, &end);
	bool digits = isdigit((unsigned char)*words) || *words == '.';
	if (digits && end > words && !*end && x >= 0 && x <= 1) {
		*out = x;
		return true;
	}
	say("%s takes a share from 0 to 1, such as 0.25, not '%s'",
	    c->spelling[option], words);
	return false;
}

bool setting_memory(const struct command_line *c, enum option_id option,
                    uint64_t *out)
{
	assert(option < OPTION_COUNT);
	static const char units[] = "kMGT";
	const char *words = c->value[option];
	char *end;
	uint64_t n;
	assert(option_table[option].argument);
	if (!words) return true;
	if (read_number(words, &n, &end)) {
		const char *unit = *end ? strchr(units, *end) : NULL;
		unsigned shift = 0;
		if (*end == 'K') unit = units;
		if (unit) {
			shift = 10 * (unsigned)(unit - units + 1);
			assert(shift <= 40);
			end++;
			if (*end == 'i') end++;
			if (*end == 'B') end++;
		}
		if (!*end && n <= UINT64_MAX >> shift) {
			*out = n << shift;
			return true;
		}
	}
	say("%s takes a size such as 500M or 2G, not '%s'", c->spelling[option],
	    words);
	return false;
}

static bool read_seconds(const char *words, double *out)
{
	assert(words && out);
	char *end;
	*out = strtod(words, &end);
	if (end == words || strpbrk(words, "xX")) return false;
	if (*end == 's') end++;
	return !*end && isfinite(*out);
}

bool setting_seconds(const struct command_line *c, enum option_id option,
                     double *out)
{
	assert(option < OPTION_COUNT);
	const char *words = c->value[option];
	double n;
	assert(option_table[option].argument);
	if (!words) return true;
	if (read_seconds(words, &n) && n > 0) {
		*out = n;
		return true;
	}
	say("%s takes a positive number of seconds, not '%s'",
	    c->spelling[option], words);
	return false;
}

bool setting_step_timeout(const struct command_line *c, double *out)
{
	const char *words = c->value[OPTION_STEP_TIMEOUT];
	double n;
	if (!words) return true;
	if (read_seconds(words, &n) && n >= 0) {
		*out = n > 0 && n < SECONDS_NEVER ? n : SECONDS_NEVER;
		assert(*out > 0);
		return true;
	}
	say("--step-timeout takes a number of seconds (0: no limit), not '%s'",
	    words);
	return false;
}

bool setting_code_in_c(const struct command_line *c, struct code_in_c *out)
{
	out->shows_output = c->value[OPTION_CLIENT_OUTPUT];
	return setting_step_timeout(c, &out->step_timeout) &&
	       setting_count(c, OPTION_MAX_TRANSACTIONS,
	                     &out->bounds.transactions) &&
	       setting_count(c, OPTION_MAX_ACCESSES, &out->bounds.accesses);
}

bool setting_level(const struct command_line *c, enum option_id option,
                   const struct program *p, enum level *out)
{
	struct problem problem = { 0 };
	const char *word = c->value[option]; /* the option table knows it */
	enum level given = word ? level_from_word(word) : LEVEL_COUNT;
	bool fine = program_level(p, given, out, &problem);
	if (!fine) say("%s", text_get(&problem.words));
	problem_free(&problem);
	return fine;
}

void setting_encoding(const struct command_line *c, struct predict_options *o)
{
	const char *boundary = c->value[OPTION_BOUNDARY];
	const char *encoding = c->value[OPTION_ENCODING];
	o->boundary = BOUNDARY_BOTH;
	if (boundary && !strcmp(boundary, "strict"))
		o->boundary = BOUNDARY_STRICT;
	if (boundary && !strcmp(boundary, "relaxed"))
		o->boundary = BOUNDARY_RELAXED;
	if (encoding && !strcmp(encoding, "approx"))
		o->encoding = ENCODING_APPROX;
}
