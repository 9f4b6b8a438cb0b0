#include <inttypes.h>

#include "base/seconds.h"
#include "check/check.h"
#include "check/core.h"
#include "cli/exit_codes.h"
#include "cli/histories.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/outputs.h"
#include "history/history.h"
#include "isoscope.h"
#include "report/check_json.h"
#include "report/check_text.h"
#include "report/dot.h"
#include "report/names.h"

/* What is asked for, and what was found so far. */
struct checking {
	const struct command_line *line;
	struct histories in;
	unsigned wanted; /* levels */
	struct style style;
	bool json, strongest, orders, quiet;
	struct check_summary summary;
	/* Of the first history, then of the first violating one: which it is,
	 * what is said about it, and what that cost. */
	struct text which, report, costs;
	bool reported;     /* a violating one has come */
	struct text first; /* --strongest: the first history's line */
	struct text picture;
};

/* ---- one history ---- */

/* A check whose parts can be changed; the case shows it to the reports. */
struct finding_of_levels {
	struct facts *facts;
	struct check_result results[LEVEL_COUNT];
	struct check_witness witnesses[LEVEL_COUNT];
	struct check_case found;
};

/* The smallest witness of a weaker level, which shows this one violated as
 * well; LEVEL_COUNT if there is none. */
static enum level borrowed(const struct finding_of_levels *f, enum level l)
{
	enum level best = LEVEL_COUNT;
	for (enum level o = 0; o < l; o++) {
		if (f->found.shown_by[o] != o || !level_implies(l, o)) continue;
		if (best == LEVEL_COUNT ||
		    f->witnesses[o].part->transaction_count <
		            f->witnesses[best].part->transaction_count)
			best = o;
	}
	return best;
}

/* Nothing smaller than init and two transactions violates a level. */
enum { SMALLEST_PART = 3 };

static void explain_level(struct checking *x, struct finding_of_levels *f,
                          enum level l)
{
	struct check_case *c = &f->found;
	struct check_witness *w = &f->witnesses[l];
	enum level other = borrowed(f, l);
	uint32_t known = other < LEVEL_COUNT
	                         ? f->witnesses[other].part->transaction_count
	                         : UINT32_MAX;
	c->shown_by[l] = other;
	if (known <= SMALLEST_PART) return;
	if (check_explain(c->trace, f->facts, l, &f->results[l], x->in.clock,
	                  w) &&
	    w->part->transaction_count < known) {
		c->shown_by[l] = l;
		return;
	}
	check_witness_free(w);
	*w = (struct check_witness){ 0 };
	if (other == LEVEL_COUNT)
		c->unexplained = check_clock_reason(x->in.clock);
}

/* A part that a weaker level forbids as well decides that level, if it is
 * undecided: then it is the one to show the part for. */
static void settle(struct finding_of_levels *f, enum level l)
{
	struct check_case *c = &f->found;
	struct check_witness *w = &f->witnesses[l];
	struct witness cycle;
	enum level to = 0;
	while (to < l && !(check_has(c, to, CHECK_UNDECIDED) &&
	                   level_implies(to, w->weakest)))
		to++;
	if (to == l || !level_witness(to, w->part, &cycle)) return;
	witness_free(&w->cycle);
	w->cycle = cycle;
	for (enum level o = to; o < LEVEL_COUNT; o++) {
		if (check_has(c, o, CHECK_UNDECIDED) && level_implies(o, to)) {
			check_result_free(&f->results[o]);
			f->results[o].verdict = CHECK_VIOLATED;
			c->shown_by[o] = to;
		}
		if (c->shown_by[o] == l) c->shown_by[o] = to;
	}
	f->witnesses[to] = *w;
	*w = (struct check_witness){ 0 };
}

static void explain(struct checking *x, struct finding_of_levels *f)
{
	struct check_case *c = &f->found;
	double begun = seconds_now();
	c->witnesses = f->witnesses;
	for (enum level l = 0; l < LEVEL_COUNT; l++)
		if (check_has(c, l, CHECK_VIOLATED) &&
		    check_forbidding(c->trace, l) == ANOMALY_COUNT)
			explain_level(x, f, l);
	for (enum level l = 0; l < LEVEL_COUNT; l++)
		if (c->shown_by[l] == l) settle(f, l);
	c->explain_seconds = seconds_now() - begun;
}

static void find_orders(struct checking *x, struct finding_of_levels *f)
{
	enum level levels[LEVEL_COUNT];
	unsigned count = check_strongest(&f->found, levels);
	for (unsigned i = 0; i < count; i++)
		check_commit_order(f->facts, levels[i], x->in.clock,
		                   &f->results[levels[i]]);
}

/* The first witness there is, as a picture. */
static void draw(struct checking *x, const struct finding_of_levels *f)
{
	struct text title = { 0 };
	enum level l = 0;
	while (l < LEVEL_COUNT && f->found.shown_by[l] != l) l++;
	if (l == LEVEL_COUNT) return;
	const struct check_witness *w = &f->witnesses[l];
	name_trace_place(&title, f->found.trace, f->found.trace->line);
	text_string(&title, " violates ");
	name_level(&title, l);
	if (w->anomaly) text_format(&title, ": %s", w->anomaly);
	report_dot(&x->picture, w->part, text_get(&title), &w->cycle);
	text_free(&title);
}

/* ---- what is said about it ---- */

static void say_undecided(const struct check_case *c)
{
	struct text t = { 0 };
	for (enum level l = 0; l < LEVEL_COUNT; l++) {
		if (!check_has(c, l, CHECK_UNDECIDED)) continue;
		name_trace_place(&t, c->trace, c->trace->line);
		say("%s: %s could not be decided: %s", text_get(&t),
		    level_word(l), c->results[l].reason);
		text_clear(&t);
	}
	text_free(&t);
}

/* A single history gives a level each line; several, a line each: so the
 * first one waits until it is known whether it is the only one. */
static void tell_strongest(struct checking *x, const struct check_case *c)
{
	struct text line = { 0 };
	say_undecided(c);
	if (!x->summary.histories) {
		report_strongest(&x->report, c);
		report_strongest_of(&x->first, c);
		return;
	}
	text_bytes(&line, text_get(&x->first), x->first.length);
	text_clear(&x->first);
	text_clear(&x->report);
	report_strongest_of(&line, c);
	histories_put(&x->in, &line);
	text_free(&line);
}

static void tell_json(struct checking *x, const struct check_case *c)
{
	struct text line = { 0 };
	report_check_json(&line, c, x->orders, iso_version());
	histories_put(&x->in, &line);
	text_free(&line);
}

static void tell_in_words(struct checking *x, const struct check_case *c)
{
	text_clear(&x->which);
	text_clear(&x->report);
	text_clear(&x->costs);
	text_format(&x->which, "history %" PRIu64 " (", c->number);
	name_trace_place(&x->which, c->trace, c->trace->line);
	text_char(&x->which, ')');
	report_check_verdict(&x->report, &x->style, c);
	if (!x->quiet) report_check(&x->report, &x->style, c);
	if (x->orders) report_commit_orders(&x->report, c);
	if (!x->quiet) report_check_costs(&x->costs, c);
}

static void tell(struct checking *x, struct finding_of_levels *f)
{
	const struct check_case *c = &f->found;
	bool violated = check_overall(c) == CHECK_VIOLATED;
	bool report = !x->summary.histories || (violated && !x->reported);
	bool drawing = pictures_wanted(x->line) && !x->picture.length;
	if (x->orders) find_orders(x, f);
	bool in_words = report && !x->strongest;
	bool wanted = check_undecided(c) || x->json || in_words;
	if (violated && (drawing || (wanted && !x->quiet))) explain(x, f);
	if (violated && drawing) draw(x, f);
	if (x->strongest)
		tell_strongest(x, c);
	else if (x->json)
		tell_json(x, c);
	else if (report)
		tell_in_words(x, c);
	x->reported |= violated;
	check_summary_add(&x->summary, c);
}

static void check_observed(struct checking *x, const struct observed *o)
{
	const struct trace *t = o->trace;
	struct finding_of_levels f = {
		.facts = facts_of_trace(t),
		.found = { .trace = t,
		           .format = o->format,
		           .number = o->number,
		           .wanted = x->wanted,
		           .read_seconds = o->read_seconds },
	};
	f.found.results = f.results;
	for (enum level l = 0; l < LEVEL_COUNT; l++)
		f.found.shown_by[l] = LEVEL_COUNT;
	double begun = seconds_now();
	check_levels(t, f.facts, x->wanted, x->in.clock, f.results);
	f.found.check_seconds = seconds_now() - begun;
	tell(x, &f);
	for (enum level l = 0; l < LEVEL_COUNT; l++) {
		check_result_free(&f.results[l]);
		if (f.witnesses[l].part) check_witness_free(&f.witnesses[l]);
	}
	facts_free(f.facts);
}

/* Anything but a first history goes without --commit-order in words. */
static bool orders_fit(const struct checking *x)
{
	if (!x->orders || x->json || !x->summary.histories) return true;
	say("--commit-order goes with one history, and this is another one: "
	    "%s; choose one with --history N, or use --json",
	    x->in.path);
	return false;
}

static int look(void *data, const struct observed *o)
{
	struct checking *x = data;
	if (!orders_fit(x)) return EXIT_USAGE;
	if (histories_go_on(&x->in, x->summary.histories)) check_observed(x, o);
	return EXIT_HOLDS;
}

/* ---- the result ---- */

static void write_result(struct checking *x)
{
	struct text t = { 0 };
	x->summary.stopped = x->in.stopped;
	bool several = x->summary.histories > 1 || x->summary.stopped;
	if (x->json || (x->strongest && several)) return;
	x->summary.seconds = seconds_now() - x->in.begun;
	if (several && x->quiet) {
		report_summary_verdict(&t, &x->style, &x->summary);
	} else if (several) {
		report_summary(&t, &x->style, &x->summary);
		if (x->reported) {
			text_format(&t, "\nThe first violating one, %s:\n",
			            text_get(&x->which));
			text_string(&t, text_get(&x->report));
		}
	} else {
		text_string(&t, text_get(&x->report));
		text_string(&t, text_get(&x->costs));
	}
	histories_put(&x->in, &t);
	text_free(&t);
}

static int finish(struct checking *x)
{
	write_result(x);
	if (!pictures_write(x->line, &x->picture,
	                    "there is no violation by a part of a history, "
	                    "so nothing was drawn") ||
	    x->in.failed)
		return EXIT_INTERNAL;
	return exit_code_of_check(check_summary_verdict(&x->summary));
}

static int check_inputs(struct checking *x)
{
	histories_begin(&x->in);
	int code = histories_look(&x->in);
	if (code == EXIT_HOLDS) code = finish(x);
	histories_end(&x->in);
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
	say("--%s and --%s exclude each other", option_table[a].word,
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

static bool settings(struct checking *x)
{
	const struct command_line *c = x->line;
	const char *level = c->value[OPTION_CHECK_LEVEL];
	x->wanted =
		level ? 1u << level_from_word(level) : (1u << LEVEL_COUNT) - 1;
	x->json = c->value[OPTION_JSON];
	x->strongest = c->value[OPTION_STRONGEST];
	x->orders = c->value[OPTION_COMMIT_ORDER];
	x->quiet = c->value[OPTION_QUIET];
	x->style = output_style(c, outputs_result_stream(c));
	return histories_settings(&x->in, c) && options_fit(c);
}

int check_main(const struct command_line *c)
{
	struct checking x = { .line = c };
	x.in = (struct histories){ .doing = "checking",
		                   .count = &x.summary.histories,
		                   .look = look,
		                   .data = &x };
	if (!c->operand_count) {
		say("check needs a recorded history: isoscope check "
		    "HISTORY...");
		return EXIT_USAGE;
	}
	return settings(&x) ? check_inputs(&x) : EXIT_USAGE;
}
