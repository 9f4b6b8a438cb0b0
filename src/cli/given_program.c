#include "cli/given_program.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "api/inputs.h"
#include "api/programs.h"
#include "base/diag.h"
#include "cli/exit_codes.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/outputs.h"
#include "cli/settings.h"
#include "cli/signals.h"
#include "dpor/known_rows.h"
#include "isoscope.h"
#include "native/host/client.h"
#include "native/host/library.h"
#include "report/report.h"
#include "vm/program.h"

bool one_program(const struct command_line *c)
{
	const char *word = command_table[c->command].word;
	struct code_in_c code = CODE_IN_C;
	if (c->operand_count == 1) return setting_code_in_c(c, &code);
	if (c->operand_count)
		say("%s takes one program, not %zu", word, c->operand_count);
	else
		say("%s needs a program: isoscope %s PROGRAM", word, word);
	return false;
}

/* Who has code in C may well forget to compile it. */
static void say_compile(const char *path)
{
	const char *end = strrchr(path, '.');
	bool plain = end && !strcmp(end, ".c");
	if (!plain && (!end || (strcmp(end, ".cc") && strcmp(end, ".cpp"))))
		return;
	say("to explore sessions in %s, compile it first: %s -g -shared -fPIC "
	    "-o %.*s.so %s",
	    plain ? "C" : "C++", plain ? "cc" : "c++", (int)(end - path), path,
	    path);
}

struct program *given_program(const struct command_line *c, const char *path,
                              struct diags *d)
{
	assert(path);
	struct code_in_c code = CODE_IN_C;
	double timeout = 0;
	/* one_program() has said so */
	(void)setting_code_in_c(c, &code);
	if (c->value[OPTION_TIMEOUT])
		(void)setting_seconds(c, OPTION_TIMEOUT, &timeout);
	code.interrupt = signals_flag();
	code.ssi = c->value[OPTION_SERIALIZABLE] != NULL;
	code.sql = (struct sql_arguments){
		.sessions = c->sessions,
		.asserts = c->asserts,
		.all_rows = c->value[OPTION_READ_ALL_ROWS] != NULL,
		.server = c->value[OPTION_ENGINE] &&
		          !strcmp(c->value[OPTION_ENGINE], "postgres"),
		.timeout = timeout,
	};
	/* To load it takes as long as its set-up, and Ctrl-C gets a word. */
	if (code.sql.server) signals_catch();
	return program_load_as(path, &code, d);
}

struct program *read_program(const struct command_line *c, const char *path)
{
	struct diags d = { 0 };
	struct program *p = given_program(c, path, &d);
	say_diagnostics(c, &d);
	diags_free(&d);
	if (!p) say_compile(path);
	if (p && outputs_spare(c, &c->said->errors)) return p;
	program_free(p);
	return NULL;
}

bool program_failed(const struct command_line *c, const struct program *p)
{
	library_settle(p);
	const char *fault = program_fault(p);
	struct position at = { .file = program_path(p) };
	struct diags d = { 0 };
	struct text t = { 0 };
	if (!fault) return false;
	if (explorer_can_learn(p) && atomic_load(signals_flag()))
		fault = "interrupted when rows had turned up that conditions "
			"can find and that were not known: what was found is "
			"void";
	program_fault_position(p, &at);
	diags_add(&d, DIAG_ERROR, at.file, at.line, at.column, at.source_line,
	          "%s", fault);
	say_diagnostics(c, &d);
	if (c->value[OPTION_JSON])
		report_errors_json(&t, program_path(p), &d, NULL,
		                   iso_version());
	diags_free(&d);
	output_text(outputs_result_stream(c), "-", &t);
	text_free(&t);
	return true;
}

/* What explorations have among the warnings of their result. */
static void warn_of_bound(const struct command_line *c, const struct program *p)
{
	struct diags d = { 0 };
	struct position at;
	const char *what = program_bound_met(p, &at);
	if (!what) return;
	diags_add(&d, DIAG_WARNING, at.file, at.line, at.column, at.source_line,
	          "%s, here, and was cut short", what);
	say_diagnostics(c, &d);
	diags_free(&d);
}

int say_problem(const struct command_line *c, const struct program *p,
                const struct problem *problem)
{
	static const int codes[] = {
		[PROBLEM_NONE] = EXIT_HOLDS,
		[PROBLEM_REQUEST] = EXIT_USAGE,
		[PROBLEM_INPUT] = EXIT_INPUT,
		[PROBLEM_LIMIT] = EXIT_INCONCLUSIVE,
		[PROBLEM_SYSTEM] = EXIT_INTERNAL,
		[PROBLEM_FAULT] = EXIT_INPUT,
	};
	assert((size_t)problem->kind < sizeof codes / sizeof *codes);
	if (p) warn_of_bound(c, p);
	if (problem->words.length) {
		say("%s", text_get(&problem->words));
		diags_add(&c->said->errors, DIAG_ERROR, NULL, 0, 0, NULL, "%s",
		          text_get(&problem->words));
	}
	say_diagnostics(c, &problem->diags);
	if (problem->kind == PROBLEM_FAULT) program_failed(c, p);
	return codes[problem->kind];
}

bool is_client(const char *path, const char *wanted)
{
	assert(path);
	struct problem problem = { 0 };
	bool client = input_is_client(path, wanted, &problem);
	if (client) say("%s", text_get(&problem.words));
	problem_free(&problem);
	return client;
}
