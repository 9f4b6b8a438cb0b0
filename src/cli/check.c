#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "check/check.h"
#include "check/core.h"
#include "cli/exit_codes.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/outputs.h"
#include "cli/settings.h"
#include "cli/signals.h"
#include "formats/formats.h"
#include "history/history.h"
#include "isoscope.h"
#include "report/check_json.h"
#include "report/check_text.h"
#include "report/dot.h"
#include "report/names.h"
#include "report/progress.h"

/* What is asked for, and what was found so far. */
struct checking {
	const struct command_line *line;
	struct reader_options reader;
	struct check_limits limits;
	struct check_clock *clock;
	unsigned wanted;       /* levels */
	uint64_t only;         /* number of the one history; 0: all */
	struct style style;
	FILE *to;
	bool json, strongest, orders, quiet;
	double begun;
	struct progress progress;
	const char *path;      /* of the input at hand */
	struct check_summary summary;
	/* Of the first history, then of the first violating one: which it is,
	 * what is said about it, and what that cost. */
	struct text which, report, costs;
	bool reported;         /* a violating one has come */
	struct text first;     /* --strongest: the first history's line */
	struct text picture;
	bool failed;           /* the result could not be written */
};

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- limits and progress ---- */

static void show_progress(struct checking *x)
{
	double seconds = now() - x->begun;
	if (!progress_due(&x->progress, seconds)) return;
	struct text line = { 0 };
	text_format(&line, "checking %s: ", x->path);
	if (x->summary.histories) {
		style_plural(&line, x->summary.histories, "history",
		             "histories");
		text_string(&line, ", ");
	}
	style_seconds(&line, seconds);
	progress_say(&x->progress, seconds, text_get(&line));
	text_free(&line);
}

static bool on_tick(void *data)
{
	show_progress(data);
	return atomic_load(signals_flag());
}

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
	if (check_explain(c->trace, f->facts, l, &f->results[l], x->clock, w) &&
	    w->part->transaction_count < known) {
		c->shown_by[l] = l;
		return;
	}
	check_witness_free(w);
	*w = (struct check_witness){ 0 };
	if (other == LEVEL_COUNT) c->unexplained = check_clock_reason(x->clock);
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
	double begun = now();
	c->witnesses = f->witnesses;
	for (enum level l = 0; l < LEVEL_COUNT; l++)
		if (check_has(c, l, CHECK_VIOLATED) &&
		    check_forbidding(c->trace, l) == ANOMALY_COUNT)
			explain_level(x, f, l);
	for (enum level l = 0; l < LEVEL_COUNT; l++)
		if (c->shown_by[l] == l) settle(f, l);
	c->explain_seconds = now() - begun;
}

static void find_orders(struct checking *x, struct finding_of_levels *f)
{
	enum level levels[LEVEL_COUNT];
	unsigned count = check_strongest(&f->found, levels);
	for (unsigned i = 0; i < count; i++)
		check_commit_order(f->facts, levels[i], x->clock,
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

static void put(struct checking *x, const struct text *t)
{
	progress_end(&x->progress);
	if (!output_text(x->to, "-", t)) x->failed = true;
}

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
	put(x, &line);
	text_free(&line);
}

static void tell_json(struct checking *x, const struct check_case *c)
{
	struct text line = { 0 };
	report_check_json(&line, c, x->orders, iso_version());
	put(x, &line);
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

static void check_trace(struct checking *x, const struct trace *t,
                        enum format format, uint64_t number,
                        double read_seconds)
{
	struct finding_of_levels f = {
		.facts = facts_of_trace(t),
		.found = { .trace = t, .format = format, .number = number,
		           .wanted = x->wanted,
		           .read_seconds = read_seconds },
	};
	f.found.results = f.results;
	for (enum level l = 0; l < LEVEL_COUNT; l++)
		f.found.shown_by[l] = LEVEL_COUNT;
	double begun = now();
	check_levels(t, f.facts, x->wanted, x->clock, f.results);
	f.found.check_seconds = now() - begun;
	tell(x, &f);
	for (enum level l = 0; l < LEVEL_COUNT; l++) {
		check_result_free(&f.results[l]);
		if (f.witnesses[l].part) check_witness_free(&f.witnesses[l]);
	}
	facts_free(f.facts);
}

/* ---- inputs ---- */

/* Anything but a first history goes without --commit-order in words. */
static bool orders_fit(const struct checking *x)
{
	if (!x->orders || x->json || !x->summary.histories) return true;
	say("--commit-order goes with one history, and this is another one: "
	    "%s; choose one with --history N, or use --json", x->path);
	return false;
}

/* Is there any use in looking at this history? */
static bool goes_on(struct checking *x)
{
	if (x->failed) return false;
	if (x->summary.histories && check_clock_over(x->clock)) {
		x->summary.stopped = check_clock_reason(x->clock);
		return false;
	}
	return true;
}

static int check_histories(struct checking *x, struct history_reader *r,
                           struct diags *d)
{
	uint64_t number = 0;
	for (;;) {
		double begun = now();
		struct trace *t = history_reader_next(r, d);
		int code = EXIT_HOLDS;
		if (!t) break;
		bool chosen = ++number == x->only || !x->only;
		if (chosen && !orders_fit(x)) code = EXIT_USAGE;
		chosen = chosen && code == EXIT_HOLDS && goes_on(x);
		if (chosen)
			check_trace(x, t, history_reader_format(r), number,
			            now() - begun);
		trace_free(t);
		if (code != EXIT_HOLDS) return code;
		if (x->only ? number == x->only : !chosen) return EXIT_HOLDS;
	}
	if (d->errors) return EXIT_INPUT;
	if (number && !x->only) return EXIT_HOLDS;
	say_no_history(x->path, number, x->only);
	return EXIT_INPUT;
}

static int check_input(struct checking *x, const char *path)
{
	struct diags d = { 0 };
	int code = EXIT_INPUT;
	x->path = path;
	struct history_reader *r = history_reader_open(path, &x->reader, &d);
	if (r) code = check_histories(x, r, &d);
	history_reader_close(r);
	progress_end(&x->progress);
	say_diagnostics(x->line, &d);
	diags_free(&d);
	return code;
}

/* ---- the result ---- */

static bool write_picture(const struct checking *x)
{
	if (!pictures_wanted(x->line)) return true;
	if (x->picture.length) return pictures_write(x->line, &x->picture);
	say("there is no violation by a part of a history, so nothing was "
	    "drawn");
	return true;
}

static void write_result(struct checking *x)
{
	struct text t = { 0 };
	bool several = x->summary.histories > 1 || x->summary.stopped;
	if (x->json || (x->strongest && several)) return;
	x->summary.seconds = now() - x->begun;
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
	put(x, &t);
	text_free(&t);
}

static int finish(struct checking *x)
{
	static const int codes[] = {
		[CHECK_HOLDS] = EXIT_HOLDS,
		[CHECK_VIOLATED] = EXIT_VIOLATED,
		[CHECK_UNDECIDED] = EXIT_INCONCLUSIVE,
	};
	write_result(x);
	if (!write_picture(x) || x->failed) return EXIT_INTERNAL;
	return codes[check_summary_verdict(&x->summary)];
}

static int check_inputs(struct checking *x)
{
	int code = EXIT_HOLDS;
	signals_catch();
	x->begun = now();
	x->limits.stop = on_tick;
	x->limits.stop_data = x;
	x->clock = check_clock_new(&x->limits);
	for (size_t i = 0; i < x->line->operand_count; i++) {
		code = check_input(x, x->line->operands[i]);
		if (code != EXIT_HOLDS || x->failed || x->summary.stopped)
			break;
	}
	if (code == EXIT_HOLDS) code = finish(x);
	check_clock_free(x->clock);
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
	const char *format = c->value[OPTION_FORMAT];
	x->wanted = level ? 1u << level_from_word(level)
	                  : (1u << LEVEL_COUNT) - 1;
	x->reader.format = format ? format_from_word(format) : FORMAT_COUNT;
	x->reader.unknown_is_initial = c->value[OPTION_UNKNOWN];
	x->json = c->value[OPTION_JSON];
	x->strongest = c->value[OPTION_STRONGEST];
	x->orders = c->value[OPTION_COMMIT_ORDER];
	x->quiet = c->value[OPTION_QUIET];
	if (!x->quiet && isatty(fileno(stderr))) x->progress.to = stderr;
	x->progress.width = output_style(c, stderr).width;
	x->to = outputs_result_stream(c);
	x->style = output_style(c, x->to);
	return setting_count(c, OPTION_HISTORY, &x->only) &&
	       setting_seconds(c, OPTION_TIMEOUT, &x->limits.seconds) &&
	       setting_memory(c, OPTION_MEMORY, &x->limits.memory) &&
	       options_fit(c);
}

int check_main(const struct command_line *c)
{
	struct checking x = { .line = c };
	if (!c->operand_count) {
		say("check needs a recorded history: isoscope check "
		    "HISTORY...");
		return EXIT_USAGE;
	}
	return settings(&x) ? check_inputs(&x) : EXIT_USAGE;
}
