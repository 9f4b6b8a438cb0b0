#include "cli/target.h"

#include <unistd.h>

#include "api/convert.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/signals.h"

bool target_file_possible(const struct target *to)
{
	if (to->format == FORMAT_DBCOP_BINCODE && is_standard(to->path) &&
	    isatty(fileno(stdout))) {
		say("%s is binary and would garble the terminal: name a file "
		    "with --output FILE",
		    format_word(to->format));
		return false;
	}
	return output_possible(to->path);
}

bool target_read(const struct command_line *c, struct target *to)
{
	const char *word = c->value[OPTION_GENERATED];
	const char *path = c->value[OPTION_OUTPUT];
	to->format = word ? format_from_word(word) : FORMAT_ISOSCOPE;
	to->path = path ? path : "-";
	if (format_is_folder(to->format)) {
		if (!is_standard(to->path)) return true;
		say("a history of %s is a folder: name it with --output", word);
		return false;
	}
	return target_file_possible(to);
}

static bool write_text(const struct target *to, const struct text *t,
                       struct problem *p)
{
	FILE *f = output_open(to->path);
	bool fine = f && output_text(f, to->path, t);
	if (fine)
		fine = output_close(f, to->path);
	else if (f && f != stdout)
		fclose(f); /* the error is said */
	return fine ||
	       problem_diagnosed(p, is_standard(to->path) ? PROBLEM_SYSTEM
	                                                  : PROBLEM_REQUEST);
}

bool target_write(const struct target *to, const struct trace *t,
                  const uint32_t *order, struct problem *p)
{
	struct text out = { 0 };
	if (format_is_folder(to->format))
		return write_history_folder(to->path, t, to->format,
		                            signals_flag(), p);
	bool fine =
		print_history(&out, t, to->format, order, signals_flag(), p) &&
		write_text(to, &out, p);
	text_free(&out);
	return fine;
}
