#include "serve/service.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "api/programs.h"
#include "base/memory.h"
#include "cli/exit_codes.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/outputs.h"
#include "cli/settings.h"
#include "cli/signals.h"
#include "formats/formats.h"
#include "postgres/load.h"
#include "result/served.h"
#include "vm/program.h"

/* What was asked for. */
struct serving {
	const struct command_line *line;
	struct service_options options;
	const char **command; /* with a NULL behind it */
};

static void read_policy(struct serving *x)
{
	static const char *const words[] = {
#define X(id, word) [id] = (word),
		ANSWER_TABLE(X)
#undef X
	};
	const char *word = x->line->value[OPTION_ANSWERS];
	/* The option table knows the words. */
	for (int i = 0; word && i < ANSWER_COUNT; i++)
		if (!strcmp(word, words[i]))
			x->options.policy = (enum answer_policy)i;
}

static void take_command(struct serving *x)
{
	const struct command_line *c = x->line;
	if (!c->operand_count) return;
	x->command = mem_take0(c->operand_count + 1, sizeof *x->command);
	for (size_t i = 0; i < c->operand_count; i++)
		x->command[i] = c->operands[i];
	x->options.command = x->command;
}

static bool settings(struct serving *x)
{
	const struct command_line *c = x->line;
	const char *word = c->value[OPTION_SERVED_LEVEL];
	const char *history = c->value[OPTION_HISTORY_FILE];
	x->options.level = level_from_word(word ? word : "prc");
	x->options.seed = 1;
	read_policy(x);
	take_command(x);
	return setting_seed(c, OPTION_SERVED_SEED, &x->options.seed) &&
	       (!history || output_possible(history)) &&
	       outputs_fit(c, "command");
}

/* ---- while it serves ---- */

static void on_ready(void *payload, const char *folder)
{
	const struct serving *x = payload;
	if (x->options.command) return;
	say("serving at %s until Ctrl-C; connect with",
	    level_word(x->options.level));
	fprintf(stderr,
	        "  export PGHOST=%s PGPORT=5432 PGUSER=isoscope "
	        "PGDATABASE=postgres\n"
	        "or\n"
	        "  postgresql:///postgres?host=%s&port=5432&user=isoscope\n",
	        folder, folder);
}

/* ---- the result ---- */

static bool write_history(const struct serving *x, const struct trace *t)
{
	const char *path = x->line->value[OPTION_HISTORY_FILE];
	struct text text = { 0 };
	struct diags d = { 0 };
	if (!path) return true;
	if (!t) {
		say("%s is not written: there was no transaction", path);
		return true;
	}
	FILE *to = output_open(path);
	bool fine = to && format_print(&text, FORMAT_ISOSCOPE, t, NULL, &d) &&
	            output_text(to, path, &text);
	say_diagnostics(x->line, &d);
	diags_free(&d);
	text_free(&text);
	return output_close(to, path) && fine;
}

static int deliver(const struct serving *x, const struct service_run *run)
{
	const char *word = x->line->value[OPTION_SERVED_LEVEL];
	struct served_case found = { &x->options, run,
		                     word ? level_deployment(word) : NULL };
	struct result *r = result_of_service(&found);
	bool fine = outputs_result(x->line, r, "");
	int code = x->options.command ? exit_code_of(r->verdict) : EXIT_HOLDS;
	result_free(r);
	return write_history(x, run->trace) && fine ? code : EXIT_INTERNAL;
}

static int serve(struct serving *x)
{
	struct service_run run;
	bool fine = service_run(&run, &x->options);
	if (!fine) say("%s", text_get(&run.problem));
	int code = fine ? deliver(x, &run) : EXIT_INTERNAL;
	service_run_free(&run);
	return code;
}

int serve_main(const struct command_line *c)
{
	struct serving x = { .line = c };
	struct diags d = { 0 };
	int code = EXIT_USAGE;
	if (settings(&x)) {
		signals_catch();
		const struct sql_arguments given = { .interrupt =
			                                     signals_flag() };
		struct program *p = server_load_to_serve(
			c->value[OPTION_SERVED_SCHEMA], c->value[OPTION_SET_UP],
			&given, &d);
		say_diagnostics(c, &d);
		x.options.program = p;
		x.options.interrupt = signals_flag();
		x.options.ready = on_ready;
		x.options.payload = &x;
		code = p ? serve(&x) : EXIT_INPUT;
		program_free(p);
	}
	diags_free(&d);
	free(x.command);
	return code;
}
