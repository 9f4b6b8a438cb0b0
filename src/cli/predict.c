#include <assert.h>
#include <inttypes.h>

#include "api/predict_inputs.h"
#include "cli/confirming.h"
#include "cli/exit_codes.h"
#include "cli/recorded.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/outputs.h"
#include "cli/reports.h"
#include "cli/given_program.h"
#include "cli/settings.h"
#include "cli/signals.h"
#include "history/trace.h"
#include "report/history_json.h"
#include "report/report.h"
#include "result/result.h"
#include "vm/program.h"

/* What was asked for, and what is to be said at the end. */
struct predicting {
	const struct command_line *line;
	struct predict_request request;
	struct histories to;
	struct style style;
	bool json, quiet;
	bool recording; /* from --program, so from seeds */
	struct predict_summary summary;
	/* About the history at hand, and its predictions in words. */
	struct result *found;
	struct text words;
	/* Of the first history, then of the first one that shows more: which
	 * it is, what is said about it, and what that cost. */
	struct text which, report, costs;
	struct text first_line; /* of the first history; it is said once there
	                         * is a second one */
	bool shown;             /* a history shows something */
	FILE *histories;        /* what is predicted; NULL: not asked for */
	struct text picture, reproduced;
};

/* ---- while it predicts ---- */

static void write_history(struct predicting *x, const struct predict_case *c,
                          const struct predicted *p)
{
	struct text line = { 0 };
	report_predicted_history(&line, c, p);
	if (!output_text(x->histories, x->line->value[OPTION_HISTORIES], &line))
		x->to.failed = true;
	text_free(&line);
}

/* Begins anew with each history. */
static struct result *found_of(struct predicting *x)
{
	if (!x->found) x->found = result_of_predictions();
	return x->found;
}

static bool on_predicted(void *data, const struct predict_case *c,
                         const struct predicted *p, bool shown)
{
	struct predicting *x = data;
	bool drawn = x->request.explain_first && !x->picture.length;
	bool told = shown && !x->quiet && !x->json;
	if (x->histories) write_history(x, c, p);
	assert(p->number == c->found);
	if (!drawn && !told && !x->json && !reports_wanted(x->line))
		return !x->to.failed;
	struct result *r = found_of(x);
	result_prediction(r, c, p, drawn);
	if (drawn) report_picture(&x->picture, r);
	if (told) report_prediction(&x->words, &x->style, r->prediction);
	return !x->to.failed;
}

static void tell_in_words(struct predicting *x, const struct predict_case *c,
                          struct result *r)
{
	text_clear(&x->which);
	text_clear(&x->report);
	text_clear(&x->costs);
	text_string(&x->which, r->place);
	if (x->quiet) {
		report_verdict_line(&x->report, &x->style, r->verdict,
		                    r->reason);
		return;
	}
	report_predicted(&x->report, &x->style, r, text_get(&x->words));
	result_predict_costs(r, c);
	report_costs(&x->costs, &x->style, r);
}

/* A line for each history, or each run that is none, once there are several:
 * behind the line of the first one, which waits until then. */
static void put_line(struct predicting *x, struct text *line)
{
	struct text both = { 0 };
	text_string(&both, text_get(&x->first_line));
	text_clear(&x->first_line);
	text_string(&both, text_get(line));
	histories_put(&x->to, &both);
	text_free(&both);
	text_free(line);
}

static void tell_line(struct predicting *x, const struct result *r)
{
	struct text line = { 0 };
	if (x->quiet) return;
	if (!x->summary.histories && !x->summary.left_out) {
		report_predicted_line(&x->first_line, &x->style, r);
		return;
	}
	report_predicted_line(&line, &x->style, r);
	put_line(x, &line);
}

static bool on_searched(void *data, const struct predict_case *c, bool shown)
{
	struct predicting *x = data;
	struct result *r = found_of(x);
	assert(c->options && c->observed);
	result_predicted(r, c);
	histories_keep(&x->to, r);
	if (x->json) {
		histories_put_json(&x->to, r);
	} else {
		tell_line(x, r);
		if (shown) tell_in_words(x, c, r);
	}
	result_free(r);
	x->found = NULL;
	x->shown |= c->found;
	text_clear(&x->words);
	return !x->to.failed;
}

static bool on_left_out(void *data, uint64_t seed)
{
	struct predicting *x = data;
	struct text line = { 0 };
	assert(x->recording && seed >= x->request.seed);
	if (x->quiet || x->json) return true;
	text_format(&line,
	            "%s, seed %" PRIu64 ": left out: the run meets a false "
	            "assumption\n",
	            x->request.program_path, seed);
	put_line(x, &line);
	return !x->to.failed;
}

/* ---- the result ---- */

static void write_several(struct predicting *x, struct text *t)
{
	struct result *r = result_of_predict_summary(&x->summary);
	if (x->quiet) {
		report_verdict_line(t, &x->style, r->verdict, r->reason);
	} else {
		text_format(t, "%s\n", text_get(&x->first_line));
		report_text(t, &x->style, r);
	}
	result_free(r);
	if (x->quiet || !x->shown) return;
	text_format(t, "\nThe first prediction, from %s:\n%s",
	            text_get(&x->which), text_get(&x->report));
}

static void write_result(struct predicting *x)
{
	const struct predict_summary *m = &x->summary;
	struct text t = { 0 };
	bool several = m->histories != 1 || m->stopped || m->left_out;
	struct result *all = several ? result_of_predict_summary(m) : NULL;
	if (!histories_report(&x->to, all)) x->to.failed = true;
	result_free(all);
	if (x->json) return;
	assert(m->left_out == 0 || x->recording);
	if (several) {
		write_several(x, &t);
	} else {
		text_string(&t, text_get(&x->report));
		text_string(&t, text_get(&x->costs));
	}
	histories_put(&x->to, &t);
	text_free(&t);
}

static int finish(struct predicting *x)
{
	write_result(x);
	if (!pictures_write(x->line, &x->picture,
	                    "nothing is predicted, so nothing was drawn") ||
	    x->to.failed || !reproduction_write(x->line, &x->reproduced))
		return EXIT_INTERNAL;
	return exit_code_of(predict_summary_verdict(&x->summary));
}

static void free_all(struct predicting *x)
{
	result_free(x->found);
	text_free(&x->words);
	text_free(&x->which);
	text_free(&x->report);
	text_free(&x->costs);
	text_free(&x->first_line);
	text_free(&x->picture);
	text_free(&x->reproduced);
}

static int predict(struct predicting *x)
{
	const char *path = x->line->value[OPTION_HISTORIES];
	struct problem problem = { 0 };
	int code;
	histories_begin(&x->to, &x->request.in);
	if (path && !(x->histories = output_open(path))) return EXIT_USAGE;
	bool fine = predict_inputs(&x->request, &x->summary, &problem);
	progress_end(&x->to.progress);
	if (fine) {
		code = finish(x);
	} else {
		code = say_problem(x->line, x->request.program, &problem);
		if (problem.kind != PROBLEM_FAULT &&
		    (x->summary.histories || x->summary.left_out))
			write_result(x);
	}
	if (!output_close(x->histories, path)) code = EXIT_INTERNAL;
	problem_free(&problem);
	return code;
}

/* ---- options that go together ---- */

static bool given(const struct command_line *c, enum option_id o)
{
	return c->value[o];
}

static bool need_program(const struct command_line *c)
{
	static const enum option_id options[] = { OPTION_RUNS,
		                                  OPTION_RUN_SEED };
	for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
		if (!given(c, options[i])) continue;
		say("--%s needs --program, which records traces",
		    option_table[options[i]].word);
		return false;
	}
	return true;
}

static bool program_alone(const struct command_line *c)
{
	static const enum option_id options[] = { OPTION_VALIDATE,
		                                  OPTION_FORMAT, OPTION_HISTORY,
		                                  OPTION_UNKNOWN };
	if (c->operand_count) {
		say("--program records its own histories, so '%s' cannot be "
		    "given as well; to run a program along predictions from "
		    "given histories, use --validate",
		    c->operands[0]);
		return false;
	}
	for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
		if (!given(c, options[i])) continue;
		if (options[i] == OPTION_VALIDATE)
			say("--program already validates with its program; "
			    "--validate is for histories that are given");
		else
			say("--%s is for histories that are given, not for "
			    "--program",
			    option_table[options[i]].word);
		return false;
	}
	return true;
}

static bool options_fit(const struct predicting *x)
{
	const struct command_line *c = x->line;
	if (given(c, OPTION_CONFIRM_EXAMPLES) && !x->request.program_path) {
		say("--confirm needs the program that the history is of: "
		    "--validate PROGRAM, or --program PROGRAM");
		return false;
	}
	if (!confirming_fits(c)) return false;
	if (x->recording ? !program_alone(c) : !need_program(c)) return false;
	if (!x->recording && !c->operand_count) {
		say("predict needs an observed history: isoscope predict "
		    "HISTORY..., or a program to record it from: --program "
		    "PROGRAM");
		return false;
	}
	return outputs_fit(c, "history") && pictures_possible(c);
}

/* ---- the command line ---- */

static bool settings(struct predicting *x)
{
	const struct command_line *c = x->line;
	struct predict_request *r = &x->request;
	const char *level = c->value[OPTION_PREDICT_LEVEL];
	struct code_in_c code = CODE_IN_C;
	x->recording = c->value[OPTION_FROM_PROGRAM];
	x->json = c->value[OPTION_JSON];
	x->quiet = c->value[OPTION_QUIET];
	x->style = output_style(c, outputs_result_stream(c));
	r->level_given = level;
	if (level) r->options.level = level_from_word(level);
	r->options.as = level_deployment(level);
	r->in.ssi = c->value[OPTION_SERIALIZABLE];
	setting_encoding(c, &r->options);
	r->options.enumerate = c->value[OPTION_ALL];
	r->program_path =
		c->value[x->recording ? OPTION_FROM_PROGRAM : OPTION_VALIDATE];
	r->runs = x->recording;
	r->seed = 1;
	r->interrupt = signals_flag();
	r->explain = reports_wanted(c) ? EXPLAIN_ALL
	             : x->quiet        ? EXPLAIN_NONE
	             : x->json         ? EXPLAIN_ALL
	                               : EXPLAIN_SHOWN;
	r->explain_first = pictures_wanted(c);
	r->confirm = given(c, OPTION_CONFIRM_EXAMPLES);
	r->as = reproduction_asked(c);
	r->reproduced = &x->reproduced;
	r->data = x;
	r->predicted = on_predicted;
	r->searched = on_searched;
	r->left_out = on_left_out;
	return setting_count(c, OPTION_ALL, &r->wanted) &&
	       histories_settings(&x->to, &r->in, c) &&
	       setting_count(c, OPTION_RUNS, &r->runs) &&
	       setting_seed(c, OPTION_RUN_SEED, &r->seed) &&
	       setting_code_in_c(c, &code) && options_fit(x);
}

int predict_main(const struct command_line *c)
{
	struct predicting x = { .line = c,
		                .to = { .doing = "predicting from" } };
	struct program *program = NULL;
	int code = EXIT_INPUT;
	if (!settings(&x)) return EXIT_USAGE;
	if (x.request.program_path)
		program = read_program(c, x.request.program_path);
	x.request.program = program;
	if (program || !x.request.program_path) code = predict(&x);
	free_all(&x);
	program_free(program);
	return code;
}
