#include <stdio.h>

#include "cli/exit_codes.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/program.h"
#include "lang/load.h"
#include "report/style.h"
#include "vm/program.h"

static void describe(struct text *t, const struct program *p)
{
	uint32_t sessions = program_session_count(p);
	sessions -= program_has_finally(p);
	text_format(t, "%s: compiles: ", program_path(p));
	style_plural(t, sessions, "session", "sessions");
	if (program_has_finally(p)) text_string(t, " and finally");
	text_string(t, ", ");
	style_plural(t, program_assertion_count(p), "assertion", "assertions");
	text_char(t, '\n');
}

int compile_main(const struct command_line *c)
{
	if (c->operand_count != 1) {
		say("compile takes one program: isoscope compile FILE");
		return EXIT_USAGE;
	}
	struct program *p = read_program(c, c->operands[0]);
	if (!p) return EXIT_INPUT;
	struct text t = { 0 };
	if (c->value[OPTION_DUMP])
		dump_program(p, &t);
	else
		describe(&t, p);
	bool fine = output_text(stdout, "-", &t);
	text_free(&t);
	program_free(p);
	return fine ? EXIT_HOLDS : EXIT_INTERNAL;
}
