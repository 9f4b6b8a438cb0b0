#include <inttypes.h>

#include "cli/exit_codes.h"
#include "cli/given_program.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/outputs.h"
#include "cli/settings.h"
#include "cli/signals.h"
#include "prove/instances.h"
#include "prove/invariant.h"
#include "prove/prove.h"
#include "report/progress.h"
#include "result/invariance.h"
#include "result/numbers.h"
#include "result/proved.h"
#include "sql/arguments.h"
#include "vm/program.h"

struct proving {
	struct progress progress;
};

static void on_tick(void *payload, uint32_t length, uint64_t questions,
                    double seconds)
{
	struct proving *x = payload;
	struct text words = { 0 };
	if (!progress_due(&x->progress, seconds)) return;
	text_string(&words, "paths of ");
	number_plural(&words, length, "transaction", "transactions");
	text_string(&words, ", ");
	number_plural(&words, questions, "question", "questions");
	text_string(&words, ", ");
	number_seconds(&words, seconds);
	progress_say(&x->progress, seconds, text_get(&words));
	text_free(&words);
}

/* What databases give in one system, if it is not said. */
static bool levels_to_choose(const struct command_line *c,
                             struct prove_options *o)
{
	const char *words = c->value[OPTION_AMONG];
	struct text why = { 0 };
	if (words && !c->value[OPTION_ALLOCATE]) {
		say("--among is for --allocate");
		return false;
	}
	if (!c->value[OPTION_ALLOCATE]) return true;
	bool fine =
		prove_levels(words ? words : PROVE_LEVELS, &o->allocate, &why);
	if (!fine) say("--among: %s", text_get(&why));
	text_free(&why);
	return fine;
}

static bool asks_invariant(const struct command_line *c)
{
	return c->value[OPTION_INVARIANT] || c->value[OPTION_ASSERTIONS];
}

static bool settings(const struct command_line *c, struct prove_options *o)
{
	uint64_t length = PROVE_LENGTH;
	const char *client = c->value[OPTION_CLIENT];
	if (!one_program(c) || !setting_count(c, OPTION_MAX_LENGTH, &length) ||
	    !setting_seconds(c, OPTION_TIMEOUT, &o->timeout) ||
	    !setting_memory(c, OPTION_MEMORY, &o->memory) ||
	    !outputs_fit(c, "program") || !pictures_possible(c) ||
	    (client && !output_possible(client)))
		return false;
	if (length < 2 || length > INSTANCES_MAX) {
		say("--max-length takes a number from 2 to %d", INSTANCES_MAX);
		return false;
	}
	o->max_length = (uint32_t)length;
	o->terms.one_each = c->value[OPTION_ONE_EACH];
	o->terms.no_errors = c->value[OPTION_NO_ERRORS];
	o->table = c->value[OPTION_TABLE];
	o->explain = c->value[OPTION_EXPLAIN_PROOF];
	o->subsets = c->value[OPTION_SUBSETS];
	if (asks_invariant(c) && (o->table || o->explain || o->subsets ||
	                          c->value[OPTION_ALLOCATE])) {
		say("--table, --explain, --subsets and --allocate are about "
		    "serializability, --invariant and --assertions are not");
		return false;
	}
	return levels_to_choose(c, o);
}

static bool write_client(const struct command_line *c,
                         const struct text *client)
{
	const char *path = c->value[OPTION_CLIENT];
	if (!path || !client->length) return true;
	FILE *to = output_open(path);
	if (!to) return false;
	bool fine = output_text(to, path, client);
	return output_close(to, path) && fine;
}

/* Frees the result. */
static int give(const struct command_line *c, struct result *r,
                const struct text *client)
{
	bool fine = outputs_result(c, r,
	                           "there is no violation, so nothing was "
	                           "drawn") &&
	            write_client(c, client);
	int code = fine ? exit_code_of(r->verdict) : EXIT_INTERNAL;
	result_free(r);
	return code;
}

static int prove_it(const struct command_line *c, struct application *app,
                    const struct prove_options *o)
{
	struct proving *x = o->payload;
	if (asks_invariant(c)) {
		struct invariance found;
		prove_invariant(&found, app, o);
		progress_end(&x->progress);
		int code = give(c, result_of_invariance(&found), &found.client);
		invariance_free(&found);
		return code;
	}
	struct proof found;
	prove(&found, app, o);
	progress_end(&x->progress);
	int code = give(c, result_of_proof(&found), &found.client);
	prove_free(&found);
	return code;
}

static struct program *load(const struct command_line *c,
                            struct application *app, struct diags *d)
{
	struct sql_arguments given = { .asserts = c->asserts };
	if (!asks_invariant(c)) return prove_load(app, c->operands[0], NULL, d);
	return invariant_load(app, c->operands[0], NULL,
	                      c->value[OPTION_INVARIANT], &given, d);
}

int prove_main(const struct command_line *c)
{
	struct proving proving = { output_progress(c) };
	struct prove_options o = { .tick = on_tick, .payload = &proving };
	struct application app;
	struct diags d = { 0 };
	struct text why = { 0 };
	if (!settings(c, &o)) return EXIT_USAGE;
	signals_catch();
	o.interrupt = signals_flag();
	struct program *p = load(c, &app, &d);
	int code = EXIT_INPUT;
	say_diagnostics(c, &d);
	if (p && !setting_level(c, OPTION_ISOLATION, p, &o.terms.level)) {
		code = EXIT_USAGE;
	} else if (p &&
	           (!prove_mark_stale(&app, c->value[OPTION_STALE_OK], &why) ||
	            !prove_fits(p, &app, &o, &why))) {
		say("%s", text_get(&why));
		code = EXIT_USAGE;
	} else if (p) {
		o.as = program_deployment(p, c->value[OPTION_ISOLATION]);
		code = prove_it(c, &app, &o);
	}
	text_free(&why);
	program_free(p);
	application_free(&app);
	diags_free(&d);
	return code;
}
