#include "cli/output.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/paths.h"
#include "cli/options.h"
#include "report/report.h"

enum {
	WIDTH_PIPED = 120, /* when no terminal says how wide it is */
	WIDTH_LEAST = 40,
	WIDTH_MOST = 65535 /* as ioctl() has it */
};

void say(const char *format, ...)
{
	va_list arguments;
	struct text t = { 0 };
	va_start(arguments, format);
	assert(*format);
	text_string(&t, "isoscope: ");
	text_vformat(&t, format, arguments);
	text_char(&t, '\n');
	va_end(arguments);
	fflush(stdout);
	fputs(text_get(&t), stderr);
	text_free(&t);
}

static bool wants_colour(const struct command_line *c, FILE *to)
{
	const char *when = c->value[OPTION_COLOR];
	const char *none = getenv("NO_COLOR"), *terminal = getenv("TERM");
	if (c->value[OPTION_NO_COLOR]) return false;
	if (when && !strcmp(when, "always")) return true;
	if (when && !strcmp(when, "never")) return false;
	if (none && *none) return false;
	if (!terminal || !strcmp(terminal, "dumb")) return false;
	return isatty(fileno(to));
}

/* What the user says, the terminal's, or what suits a pipe. */
static unsigned width_of(FILE *to)
{
	const char *said = getenv("COLUMNS");
	char *end = NULL;
	unsigned long n = said ? strtoul(said, &end, 10) : 0;
	struct winsize size;
	if (!n || *end || n > WIDTH_MOST) n = 0;
	if (!n && isatty(fileno(to)) && !ioctl(fileno(to), TIOCGWINSZ, &size))
		n = size.ws_col;
	if (!n) return WIDTH_PIPED;
	return n < WIDTH_LEAST ? WIDTH_LEAST : (unsigned)n;
}

struct style output_style(const struct command_line *c, FILE *to)
{
	struct style s = { wants_colour(c, to), width_of(to) };
	assert(s.width >= WIDTH_LEAST);
	return s;
}

struct progress output_progress(const struct command_line *c)
{
	bool shown = !c->value[OPTION_QUIET] && isatty(fileno(stderr));
	return (struct progress){
		.to = shown ? stderr : NULL,
		.width = output_style(c, stderr).width,
	};
}

void say_diagnostics(const struct command_line *c, const struct diags *d)
{
	struct style s = output_style(c, stderr);
	struct text t = { 0 };
	for (size_t i = 0; i < d->count; i++) {
		const struct diag *x = &d->items[i];
		if (x->kind == DIAG_ERROR)
			diags_add(&c->said->errors, x->kind, x->file, x->line,
			          x->column, NULL, "%s", x->message);
	}
	c->said->errors.of_system |= d->of_system;
	for (size_t i = 0; i < d->file_count; i++)
		diags_file(&c->said->errors, d->files[i]);
	report_diagnostics(&t, &s, d);
	fflush(stdout);
	fputs(text_get(&t), stderr);
	text_free(&t);
}

static void say_failed(const char *path)
{
	int reason = errno;
	assert(*path);
	say("cannot write %s: %s",
	    is_standard(path) ? "the standard output" : path,
	    reason ? strerror(reason) : "not all of it could be written");
}

bool output_text(FILE *to, const char *name, const struct text *t)
{
	assert(to && name);
	errno = 0;
	if (t->length) fwrite(t->data, 1, t->length, to);
	if (!fflush(to) && !ferror(to)) return true;
	say_failed(name);
	return false;
}

bool is_standard(const char *path)
{
	assert(path);
	return !strcmp(path, "-");
}

bool output_possible(const char *path)
{
	if (is_standard(path) || path_is_writable(path)) return true;
	say_failed(path);
	return false;
}

FILE *output_open(const char *path)
{
	assert(path);
	if (is_standard(path)) return stdout;
	FILE *f = fopen(path, "we");
	if (!f) say_failed(path);
	return f;
}

bool output_close(FILE *f, const char *path)
{
	if (!f) return true;
	errno = 0;
	bool fine = !fflush(f) && !ferror(f);
	if (f != stdout && fclose(f)) fine = false;
	if (!fine) say_failed(path);
	return fine;
}
