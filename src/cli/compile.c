#include <assert.h>
#include <stdio.h>

#include "cli/exit_codes.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/given_program.h"
#include "compile/load.h"
#include "report/style.h"
#include "sql/load.h"
#include "vm/keys.h"
#include "vm/program.h"
#include "result/numbers.h"

static void describe_sessions(struct text *t, const struct program *p)
{
	uint32_t sessions = program_session_count(p);
	assert(sessions >= program_has_finally(p));
	sessions -= program_has_finally(p);
	number_plural(t, sessions, "session", "sessions");
	if (program_has_finally(p)) text_string(t, " and finally");
	text_string(t, ", ");
}

/* Assertions are met when sessions run, and nothing is run here. */
static void describe_client(struct text *t, const struct program *p)
{
	uint32_t expectations = 0;
	assert(program_is_native(p));
	struct keys *initial = keys_new(p);
	for (uint32_t i = 0; i < program_assertion_count(p); i++)
		expectations += program_assertion_met(p, i);
	text_format(t, "%s: a shared object that declares ", program_path(p));
	describe_sessions(t, p);
	number_plural(t, expectations, "expectation", "expectations");
	text_string(t, ", ");
	number_plural(t, keys_count(initial), "initial value",
	              "initial values");
	text_char(t, '\n');
	keys_free(initial);
}

static void describe(struct text *t, const struct program *p)
{
	if (program_is_native(p)) {
		describe_client(t, p);
		return;
	}
	text_format(t, "%s: compiles: ", program_path(p));
	describe_sessions(t, p);
	number_plural(t, program_assertion_count(p), "assertion", "assertions");
	text_char(t, '\n');
}

/* False, after saying so, if there is none. */
static bool dump(struct text *t, const struct program *p)
{
	if (program_is_sql(p)) {
		sql_dump(p, t);
		return true;
	}
	if (program_is_native(p)) {
		say("%s is a shared object: it has machine code, not bytecode",
		    program_path(p));
		return false;
	}
	dump_program(p, t);
	return true;
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
	int code = EXIT_HOLDS;
	if (!c->value[OPTION_DUMP])
		describe(&t, p);
	else if (!dump(&t, p))
		code = EXIT_INPUT;
	if (!output_text(stdout, "-", &t)) code = EXIT_INTERNAL;
	text_free(&t);
	program_free(p);
	return code;
}
