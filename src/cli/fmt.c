#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/memory.h"
#include "cli/exit_codes.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/given_program.h"
#include "lang/format.h"
#include "sql/load.h"

enum { INPUT_MOST = 64 << 20 }; /* bytes, as for programs that are explored */

static const char *name_of(const char *path)
{
	return is_standard(path) ? "(standard input)" : path;
}

/* The whole file; false, after saying why, if it cannot be had. */
static bool read_all(const char *path, struct text *out)
{
	char chunk[1 << 16];
	size_t n;
	FILE *f = is_standard(path) ? stdin : fopen(path, "re");
	errno = f ? 0 : errno;
	while (f && out->length <= INPUT_MOST &&
	       (n = fread(chunk, 1, sizeof chunk, f)) > 0)
		text_bytes(out, chunk, n);
	bool fine = f && !ferror(f);
	assert(f || errno);
	if (!fine)
		say("cannot read %s: %s", name_of(path), strerror(errno));
	else if (out->length > INPUT_MOST)
		say("%s is larger than 64 MiB", name_of(path));
	if (f && f != stdin) fclose(f);
	return fine && out->length <= INPUT_MOST;
}

/* Puts the new text beside the file and then in its place, so that the file
 * is whole at any time. */
static bool replace(const char *path, const struct text *with)
{
	struct text name = { 0 };
	struct stat what;
	char *real = realpath(path, NULL);
	assert(!is_standard(path));
	text_format(&name, "%s.XXXXXX", real ? real : path);
	int file = real && !access(real, W_OK) ? mkstemp(name.data) : -1;
	FILE *f = file < 0 ? NULL : fdopen(file, "w");
	bool fine = f && fwrite(with->data, 1, with->length, f) == with->length;
	if (fine && !stat(real, &what))
		fine = !fchmod(file, what.st_mode & 07777);
	if (f && fclose(f)) fine = false;
	if (fine) fine = !rename(name.data, real);
	if (!fine) {
		say("cannot write %s: %s", path, strerror(errno));
		if (file >= 0) unlink(name.data);
	}
	free(real);
	text_free(&name);
	return fine;
}

static bool same(const struct text *a, const struct text *b)
{
	return a->length == b->length &&
	       !memcmp(text_get(a), text_get(b), a->length);
}

/* What is done with one file that is well formed. */
static int deliver(const struct command_line *c, const char *path,
                   const struct text *before, const struct text *after)
{
	struct text line = { 0 };
	int code = EXIT_HOLDS;
	assert(!c->value[OPTION_CHECK] || !c->value[OPTION_WRITE]);
	if (c->value[OPTION_CHECK]) {
		if (same(before, after)) return EXIT_HOLDS;
		text_format(&line, "%s\n", name_of(path));
		code = output_text(stdout, "-", &line) ? EXIT_VIOLATED
		                                       : EXIT_INTERNAL;
		text_free(&line);
	} else if (c->value[OPTION_WRITE] && !is_standard(path)) {
		if (!same(before, after) && !replace(path, after))
			code = EXIT_USAGE;
	} else if (!output_text(stdout, "-", after)) {
		code = EXIT_INTERNAL;
	}
	return code;
}

static int format_file(const struct command_line *c, const char *path)
{
	struct text before = { 0 }, after = { 0 };
	struct diags d = { 0 };
	int code = EXIT_INPUT;
	if (sql_is_spec(path) || sql_is_script(path)) {
		say("%s is left as it is: fmt takes programs in isoscope's "
		    "language",
		    path);
		return EXIT_HOLDS;
	}
	if (!is_client(path, "fmt takes programs in isoscope's language") &&
	    read_all(path, &before) &&
	    format_program_text(name_of(path), text_get(&before), before.length,
	                        &after, &d))
		code = deliver(c, path, &before, &after);
	say_diagnostics(c, &d);
	diags_free(&d);
	text_free(&before);
	text_free(&after);
	return code;
}

int fmt_main(const struct command_line *c)
{
	int code = EXIT_HOLDS;
	if (!c->operand_count) {
		say("fmt needs a program: isoscope fmt FILE...");
		return EXIT_USAGE;
	}
	if (c->value[OPTION_CHECK] && c->value[OPTION_WRITE]) {
		say("--check and --write cannot be used together");
		return EXIT_USAGE;
	}
	for (size_t i = 0; i < c->operand_count; i++) {
		int one = format_file(c, c->operands[i]);
		if (one > code) code = one;
	}
	return code;
}
