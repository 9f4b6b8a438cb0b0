#include "cli/target.h"

#include <unistd.h>

#include "cli/exit_codes.h"
#include "cli/options.h"
#include "cli/output.h"

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

static int write_text(const struct target *to, const struct text *t)
{
	FILE *f = output_open(to->path);
	bool fine = f && output_text(f, to->path, t);
	if (fine)
		fine = output_close(f, to->path);
	else if (f && f != stdout)
		fclose(f); /* the error is said */
	if (!fine) return is_standard(to->path) ? EXIT_INTERNAL : EXIT_USAGE;
	return EXIT_HOLDS;
}

int target_write_folder(const struct target *to, const struct trace *t,
                        struct diags *d)
{
	if (!format_can_be_folder(to->format, t, d)) return EXIT_INPUT;
	return format_write_folder(to->path, to->format, t, d) ? EXIT_HOLDS
	                                                       : EXIT_USAGE;
}

int target_write(const struct target *to, const struct trace *t,
                 const uint32_t *order, struct diags *d)
{
	struct text out = { 0 };
	int code = EXIT_INPUT;
	if (format_is_folder(to->format)) return target_write_folder(to, t, d);
	if (format_print(&out, to->format, t, order, d))
		code = write_text(to, &out);
	text_free(&out);
	return code;
}
