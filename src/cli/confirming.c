#include "cli/confirming.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "api/confirm_result.h"
#include "cli/exit_codes.h"
#include "cli/given_program.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/signals.h"
#include "result/result.h"

static bool ends_with(const char *path, const char *end)
{
	size_t n = strlen(path), m = strlen(end);
	return n > m && !strcmp(path + n - m, end);
}

static enum reproduction kind_of(const char *path)
{
	if (!path) return REPRODUCE_NONE;
	if (ends_with(path, ".spec")) return REPRODUCE_SPEC;
	return ends_with(path, ".sh") ? REPRODUCE_SCRIPT : REPRODUCE_NONE;
}

bool confirming_fits(const struct command_line *c)
{
	const char *path = c->value[OPTION_REPRODUCE];
	if (!path) return true;
	if (!c->value[OPTION_CONFIRM_EXAMPLES])
		say("--reproduce needs --confirm: only what has happened can "
		    "be reproduced");
	else if (kind_of(path) == REPRODUCE_NONE)
		say("--reproduce writes FILE.spec, for isolationtester, or "
		    "FILE.sh, for psql; not '%s'",
		    path);
	else
		return output_possible(path);
	return false;
}

static bool write_file(const char *path, const struct text *t)
{
	FILE *f = output_open(path);
	if (!f) return false;
	fwrite(text_get(t), 1, t->length, f);
	return output_close(f, path);
}

enum reproduction reproduction_asked(const struct command_line *c)
{
	return kind_of(c->value[OPTION_REPRODUCE]);
}

bool reproduction_write(const struct command_line *c, const struct text *t)
{
	const char *path = c->value[OPTION_REPRODUCE];
	if (!path || t->length) return !path || write_file(path, t);
	say("nothing was confirmed, so '%s' was not written", path);
	return true;
}

int confirm_as_asked(const struct command_line *c, struct result *r)
{
	struct problem problem = { 0 };
	struct text t = { 0 };
	if (!c->value[OPTION_CONFIRM_EXAMPLES]) return EXIT_HOLDS;
	confirm_result(r, signals_flag(), reproduction_asked(c), &t, &problem);
	int code = say_problem(c, NULL, &problem);
	if (!code && !reproduction_write(c, &t)) code = EXIT_INTERNAL;
	problem_free(&problem);
	text_free(&t);
	return code;
}
