#include "api/convert.h"

#include <assert.h>

#include "cli/exit_codes.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/outputs.h"
#include "cli/given_program.h"
#include "cli/settings.h"
#include "cli/signals.h"

struct conversion {
	const struct command_line *line;
	struct convert_request request;
	struct target to;
	FILE *file; /* NULL until something is written */
};

/* Opens the output when the first history is there to be written. */
static bool on_write(void *data, const struct text *t)
{
	struct conversion *x = data;
	assert(!format_is_folder(x->to.format));
	if (!x->file) x->file = output_open(x->to.path);
	if (!x->file) return false;
	fwrite(text_get(t), 1, t->length, x->file);
	return !ferror(x->file);
}

/* ---- the command line ---- */

static bool output_fits(const struct conversion *x)
{
	const char *to = format_word(x->to.format);
	if (format_is_folder(x->to.format)) {
		if (!is_standard(x->to.path)) return true;
		say("%s is a folder of files: name it with --output FOLDER",
		    to);
		return false;
	}
	return target_file_possible(&x->to);
}

static bool settings(struct conversion *x)
{
	const struct command_line *c = x->line;
	const char *from = c->value[OPTION_FROM];
	if (c->operand_count != 1) {
		say(c->operand_count ? "convert takes one history, not %zu"
		                     : "convert needs a recorded history: "
		                       "isoscope convert HISTORY --to FORMAT",
		    c->operand_count);
		return false;
	}
	if (!c->value[OPTION_TO]) {
		say("convert needs to know the format to write: --to FORMAT; "
		    "'isoscope help convert' lists the formats");
		return false;
	}
	x->request.input = c->operands[0];
	x->to.path = c->value[OPTION_OUTPUT] ? c->value[OPTION_OUTPUT] : "-";
	x->to.format = format_from_word(c->value[OPTION_TO]);
	x->request.to = x->to.format;
	x->request.folder = x->to.path;
	x->request.interrupt = signals_flag();
	x->request.data = x;
	x->request.write = on_write;
	x->request.reader.format = from ? format_from_word(from) : FORMAT_COUNT;
	x->request.reader.option = "--from";
	x->request.reader.unknown_is_initial = c->value[OPTION_UNKNOWN];
	return setting_count(c, OPTION_HISTORY, &x->request.only) &&
	       outputs_fit(c, "history") && output_fits(x);
}

int convert_main(const struct command_line *c)
{
	struct conversion x = { .line = c };
	struct problem problem = { 0 };
	if (!settings(&x)) return EXIT_USAGE;
	signals_catch();
	convert_input(&x.request, &problem);
	bool fine = output_close(x.file, x.to.path);
	int code = say_problem(c, NULL, &problem);
	problem_free(&problem);
	return fine ? code : EXIT_INTERNAL;
}
