#include <assert.h>
#include <inttypes.h>

#include "api/check_inputs.h"
#include "cli/exit_codes.h"
#include "cli/recorded.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/outputs.h"
#include "cli/reports.h"
#include "cli/given_program.h"
#include "report/report.h"
#include "result/result.h"

/* What was asked for, and what is to be said at the end. */
struct checking {
	const struct command_line *line;
	struct check_request request;
	struct histories to;
	struct style style;
	bool json, strongest, orders, quiet;
	struct check_summary summary;
	/* Of the first history, then of the first violating one: which it is,
	 * what is said about it, and what that cost. */
	struct text which, report, costs;
	struct text first; /* --strongest: the first history's line */
	struct text picture;
};

/* ---- one history ---- */

static void say_undecided(const struct check_case *c, const struct result *r)
{
	for (enum level l = 0; l < LEVEL_COUNT; l++)
		if (check_has(c, l, VERDICT_UNDECIDED))
			say("%s: %s could not be decided: %s", r->place,
			    level_word(l), c->results[l].reason);
}

/* A single history gives a level each line; several, a line each: so the
 * first one waits until it is known whether it is the only one. */
static void tell_strongest(struct checking *x, const struct check_case *c,
                           const struct result *r)
{
	struct text line = { 0 };
	say_undecided(c, r);
	assert(!x->json && !x->orders);
	if (!x->summary.histories) {
		report_strongest(&x->report, r);
		report_strongest_of(&x->first, r);
		return;
	}
	text_bytes(&line, text_get(&x->first), x->first.length);
	text_clear(&x->first);
	text_clear(&x->report);
	report_strongest_of(&line, r);
	histories_put(&x->to, &line);
	text_free(&line);
}

static void tell_in_words(struct checking *x, const struct check_case *c,
                          struct result *r)
{
	text_clear(&x->which);
	text_clear(&x->report);
	text_clear(&x->costs);
	text_format(&x->which, "history %" PRIu64 " (%s)", c->number, r->place);
	if (x->quiet)
		report_verdict(&x->report, &x->style, r);
	else
		report_findings(&x->report, &x->style, r);
	if (x->orders) report_commit_orders(&x->report, r);
	if (x->quiet) return;
	result_check_costs(r, c);
	report_costs(&x->costs, &x->style, r);
}

static bool on_checked(void *data, const struct check_case *c, bool shown)
{
	struct checking *x = data;
	bool drawn = x->request.witness && !x->picture.length;
	assert(c->wanted && !(c->wanted & ~x->request.levels));
	if (!drawn && !x->strongest && !x->json && !shown &&
	    !reports_wanted(x->line))
		return !x->to.failed;
	struct result *r = result_of_check(c, x->orders);
	histories_keep(&x->to, r);
	if (drawn) report_picture(&x->picture, r);
	if (x->strongest)
		tell_strongest(x, c, r);
	else if (x->json)
		histories_put_json(&x->to, r);
	else if (shown)
		tell_in_words(x, c, r);
	result_free(r);
	return !x->to.failed;
}

/* ---- all of them ---- */

static void write_result(struct checking *x)
{
	struct check_summary *m = &x->summary;
	struct text t = { 0 };
	bool several = m->histories > 1 || m->stopped;
	assert(m->histories <= 1 || several);
	struct result *r = several ? result_of_checks(m) : NULL;
	if (!histories_report(&x->to, r)) x->to.failed = true;
	if (x->json || (x->strongest && several)) {
		result_free(r);
		return;
	}
	if (several) {
		if (x->quiet)
			report_verdict(&t, &x->style, r);
		else
			report_text(&t, &x->style, r);
		if (!x->quiet && m->overall[VERDICT_VIOLATED])
			text_format(&t, "\nThe first violating one, %s:\n%s",
			            text_get(&x->which), text_get(&x->report));
	} else {
		text_string(&t, text_get(&x->report));
		text_string(&t, text_get(&x->costs));
	}
	histories_put(&x->to, &t);
	text_free(&t);
	result_free(r);
}

static int check(struct checking *x)
{
	struct problem problem = { 0 };
	histories_begin(&x->to, &x->request.in);
	bool fine = check_inputs(&x->request, &x->summary, &problem);
	int code = exit_code_of(check_summary_verdict(&x->summary));
	progress_end(&x->to.progress);
	if (fine) {
		write_result(x);
		if (!pictures_write(x->line, &x->picture,
		                    "there is no violation by a part of a "
		                    "history, so nothing was drawn") ||
		    x->to.failed)
			code = EXIT_INTERNAL;
	} else {
		code = say_problem(x->line, NULL, &problem);
		if (!histories_report(&x->to, NULL)) code = EXIT_INTERNAL;
	}
	problem_free(&problem);
	check_summary_free(&x->summary);
	text_free(&x->which);
	text_free(&x->report);
	text_free(&x->costs);
	text_free(&x->first);
	text_free(&x->picture);
	return code;
}

/* ---- the command line ---- */

static bool exclude(const struct command_line *c, enum option_id a,
                    enum option_id b)
{
	if (!c->value[a] || !c->value[b]) return false;
	say("--%s and --%s cannot be used together", option_table[a].word,
	    option_table[b].word);
	return true;
}

static bool options_fit(const struct command_line *c)
{
	return !exclude(c, OPTION_STRONGEST, OPTION_CHECK_LEVEL) &&
	       !exclude(c, OPTION_STRONGEST, OPTION_COMMIT_ORDER) &&
	       !exclude(c, OPTION_STRONGEST, OPTION_JSON) &&
	       outputs_fit(c, "history") && pictures_possible(c);
}

/* Only what is told is worth an explanation. */
static enum explain_wanted explanations(const struct checking *x)
{
	if (reports_wanted(x->line)) return EXPLAIN_ALL;
	if (x->quiet) return EXPLAIN_NONE;
	if (x->json) return EXPLAIN_ALL;
	return x->strongest ? EXPLAIN_OPEN : EXPLAIN_SHOWN;
}

static bool settings(struct checking *x)
{
	const struct command_line *c = x->line;
	const char *level = c->value[OPTION_CHECK_LEVEL];
	x->json = c->value[OPTION_JSON];
	x->strongest = c->value[OPTION_STRONGEST];
	x->orders = c->value[OPTION_COMMIT_ORDER];
	x->quiet = c->value[OPTION_QUIET];
	x->style = output_style(c, outputs_result_stream(c));
	x->request.levels =
		level ? 1u << level_from_word(level) : (1u << LEVEL_COUNT) - 1;
	x->request.as = level_deployment(level);
	x->request.in.ssi = c->value[OPTION_SERIALIZABLE] != NULL;
	x->request.explain = explanations(x);
	x->request.witness = pictures_wanted(c);
	x->request.orders = x->orders;
	x->request.single = x->orders && !x->json;
	x->request.data = x;
	x->request.checked = on_checked;
	return histories_settings(&x->to, &x->request.in, c) && options_fit(c);
}

int check_main(const struct command_line *c)
{
	struct checking x = { .line = c, .to = { .doing = "checking" } };
	if (!c->operand_count) {
		say("check needs a recorded history: isoscope check "
		    "HISTORY...");
		return EXIT_USAGE;
	}
	return settings(&x) ? check(&x) : EXIT_USAGE;
}
