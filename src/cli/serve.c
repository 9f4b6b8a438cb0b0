#include "serve/attempts.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
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
#include "postgres/address.h"
#include "postgres/load.h"
#include "report/progress.h"
#include "result/numbers.h"
#include "result/served.h"
#include "vm/program.h"

/* Commits: versions that are older than that are not kept for anybody who
 * begins. */
enum { STALE_WITHIN = 10000 };

/* What was asked for. */
struct serving {
	const struct command_line *line;
	struct attempts_options options;
	struct progress progress;
	const char **command; /* with a NULL behind it */
	struct address address;
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
			x->options.service.policy = (enum answer_policy)i;
}

static void take_command(struct serving *x)
{
	const struct command_line *c = x->line;
	if (!c->operand_count) return;
	x->command = mem_take0(c->operand_count + 1, sizeof *x->command);
	for (size_t i = 0; i < c->operand_count; i++)
		x->command[i] = c->operands[i];
	x->options.service.command = x->command;
}

static bool runs_fit(struct serving *x)
{
	const struct command_line *c = x->line;
	struct service_options *o = &x->options.service;
	o->notes_stale = c->value[OPTION_SERVED_RUNS];
	o->real_time = c->value[OPTION_REAL_TIME];
	if (o->notes_stale && !o->command)
		say("--runs repeats a command: isoscope serve --runs N -- "
		    "COMMAND");
	else if (o->stale >= 0 && o->policy != ANSWER_RANDOM)
		say("--stale is a share of what --policy random draws");
	else
		return true;
	return false;
}

static bool is_spared(const struct command_line *c, const char *history)
{
	const char *schema = c->value[OPTION_SERVED_SCHEMA];
	if (!schema || strcmp(schema, history)) return true;
	say("--history would write over %s", schema);
	return false;
}

static bool take_address(struct serving *x)
{
	const char *text = x->line->value[OPTION_LISTEN];
	struct text why = { 0 };
	bool fine = !text ||
	            address_take(&x->address, text, getenv("PGPASSWORD"), &why);
	if (!fine) say("--listen: %s", text_get(&why));
	text_free(&why);
	return fine;
}

static bool take_within(struct serving *x)
{
	uint64_t n = STALE_WITHIN;
	if (!setting_count(x->line, OPTION_STALE_WITHIN, &n)) return false;
	x->options.service.within = n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
	return true;
}

static bool settings(struct serving *x)
{
	const struct command_line *c = x->line;
	struct service_options *o = &x->options.service;
	const char *word = c->value[OPTION_SERVED_LEVEL];
	const char *history = c->value[OPTION_HISTORY_FILE];
	o->level = level_from_word(word ? word : "prc");
	o->seed = x->options.runs = 1;
	o->stale = -1;
	x->progress = output_progress(c);
	read_policy(x);
	take_command(x);
	return setting_seed(c, OPTION_SERVED_SEED, &o->seed) &&
	       setting_count(c, OPTION_SERVED_RUNS, &x->options.runs) &&
	       setting_share(c, OPTION_STALE, &o->stale) && take_within(x) &&
	       setting_share(c, OPTION_FAULTS, &o->faults) && runs_fit(x) &&
	       (!history ||
	        (is_spared(c, history) && output_possible(history))) &&
	       outputs_fit(c, "command") && take_address(x);
}

/* ---- while it serves ---- */

static void on_ready(void *payload)
{
	const struct serving *x = payload;
	const struct service_options *o = &x->options.service;
	char *all[SERVER_VARIABLES];
	if (o->command) return;
	size_t n = server_variables(all, o->program);
	say("serving at %s until Ctrl-C; connect with", level_word(o->level));
	fputs("  export", stderr);
	for (size_t i = 0; i + 1 < n; i++) fprintf(stderr, " %s", all[i]);
	fprintf(stderr, "\nor\n  %s\n", strchr(all[n - 1], '=') + 1);
	for (size_t i = 0; i < n; i++) free(all[i]);
}

static void on_run(void *payload, uint64_t run)
{
	struct serving *x = payload;
	struct text words = { 0 };
	if (!x->progress.to || !x->options.service.notes_stale) return;
	if (run) {
		number_of(&words, run, x->options.runs, "run", "runs");
	} else {
		text_string(&words, "it fails; which stale reads are needed?");
	}
	progress_say(&x->progress, 0, text_get(&words));
	text_free(&words);
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

static int deliver(const struct serving *x, const struct attempts *a)
{
	const char *word = x->line->value[OPTION_SERVED_LEVEL];
	struct served_case found = { &x->options, a,
		                     word ? level_deployment(word) : NULL };
	struct result *r = result_of_service(&found);
	bool fine = outputs_result(x->line, r, "");
	int code = exit_code_of(r->verdict);
	result_free(r);
	return write_history(x, a->last.trace) && fine ? code : EXIT_INTERNAL;
}

static int serve(struct serving *x)
{
	struct attempts a;
	bool fine = attempts_run(&a, &x->options);
	progress_end(&x->progress);
	if (!fine) say("%s", text_get(&a.last.problem));
	int code = fine               ? deliver(x, &a)
	           : a.last.unstarted ? EXIT_INPUT
	                              : EXIT_INTERNAL;
	attempts_free(&a);
	return code;
}

static struct program *start(struct serving *x)
{
	const struct command_line *c = x->line;
	struct diags d = { 0 };
	const struct sql_arguments given = { .interrupt = signals_flag() };
	struct program *p = server_load_to_serve(
		c->value[OPTION_SERVED_SCHEMA], c->value[OPTION_SET_UP],
		c->value[OPTION_LISTEN] ? &x->address : NULL, &given, &d);
	say_diagnostics(c, &d);
	diags_free(&d);
	x->options.service.program = p;
	x->options.service.interrupt = signals_flag();
	x->options.service.ready = on_ready;
	x->options.service.payload = x;
	x->options.tick = on_run;
	x->options.payload = x;
	return p;
}

int serve_main(const struct command_line *c)
{
	struct serving x = { .line = c };
	int code = EXIT_USAGE;
	if (settings(&x)) {
		signals_catch();
		struct program *p = start(&x);
		code = p ? serve(&x) : EXIT_INPUT;
		program_free(p);
	}
	free(x.command);
	return code;
}
