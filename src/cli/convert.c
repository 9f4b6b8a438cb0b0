#include <inttypes.h>
#include <stdlib.h>

#include "base/memory.h"
#include "check/check.h"
#include "cli/exit_codes.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/outputs.h"
#include "cli/program.h"
#include "cli/settings.h"
#include "cli/signals.h"
#include "cli/target.h"
#include "formats/formats.h"

struct conversion {
	const struct command_line *line;
	const char *input;
	struct target to;
	struct reader_options reader;
	uint64_t only; /* number of the one history; 0: the file has only one,
	                * or all are written */
	FILE *file;    /* NULL until something is written */
};

static bool is_list_format(enum format f)
{
	return f == FORMAT_LIST_EDN || f == FORMAT_LIST_JSON;
}

/* ---- what formats cannot say ---- */

static bool on_tick(void *data)
{
	(void)data;
	return atomic_load(signals_flag());
}

/* All levels are decided; says so if not. */
static bool decided(const struct conversion *x,
                    const struct check_result *results)
{
	for (enum level l = 0; l < LEVEL_COUNT; l++) {
		if (results[l].verdict != VERDICT_UNDECIDED) continue;
		say("writing this history as %s needs its verdicts, and %s "
		    "(%s) could not be decided: %s",
		    format_word(x->to.format), level_name(l), level_word(l),
		    results[l].reason);
		return false;
	}
	return true;
}

static void free_results(struct check_result *results)
{
	for (enum level l = 0; l < LEVEL_COUNT; l++)
		check_result_free(&results[l]);
}

/* Without the order of writes that lists tell, does the history satisfy the
 * same levels? Says why not. */
static bool order_is_spare(const struct conversion *x, const struct trace *t)
{
	struct check_result with[LEVEL_COUNT], without[LEVEL_COUNT];
	struct check_limits limits = { .stop = on_tick };
	struct check_clock *clock = check_clock_new(&limits);
	struct facts *f = facts_of_trace(t);
	enum level l = 0;
	check_levels(t, f, (1u << LEVEL_COUNT) - 1, clock, with);
	f->known_count = 0;
	check_levels(t, f, (1u << LEVEL_COUNT) - 1, clock, without);
	bool fine = decided(x, with) && decided(x, without);
	while (fine && l < LEVEL_COUNT && with[l].verdict == without[l].verdict)
		l++;
	if (fine && l < LEVEL_COUNT) {
		say("%s cannot tell the order in which the elements of lists "
		    "were written, and without it the history would satisfy "
		    "%s (%s), which it violates; isoscope, list-edn and "
		    "list-json can",
		    format_word(x->to.format), level_name(l), level_word(l));
		fine = false;
	}
	free_results(with);
	free_results(without);
	facts_free(f);
	check_clock_free(clock);
	return fine;
}

/* Lists tell the order of the writes of each key. The converted history has
 * the verdicts of the original if that order is a commit order for all levels
 * that hold: so if it is one for the only strongest of them. */
static bool strongest_is_one(const struct conversion *x, const struct trace *t,
                             const struct check_result *results,
                             enum level *out)
{
	const char *to = format_word(x->to.format);
	unsigned holding = 0;
	*out = LEVEL_COUNT;
	if (!decided(x, results)) return false;
	for (enum level l = 0; l < LEVEL_COUNT; l++) {
		if (results[l].verdict != VERDICT_HOLDS) continue;
		holding |= 1u << l;
		*out = l;
	}
	if (*out == LEVEL_COUNT || (*out == LEVEL_NONE && t->known_count)) {
		say("%s needs an order of the writes, and no level allows "
		    "this history, so it has none; rw-edn and rw-json do "
		    "without",
		    to);
		return false;
	}
	if (*out != LEVEL_PSI || !(holding & 1u << LEVEL_PC)) return true;
	say("%s needs one order of the writes, and this history has no single "
	    "one that would keep its verdicts: it satisfies pc and psi, but "
	    "not si; rw-edn and rw-json do without",
	    to);
	return false;
}

/* The transactions in a commit order, malloc'ed; or NULL, after saying why. */
static uint32_t *find_order(const struct conversion *x, const struct trace *t)
{
	struct check_result results[LEVEL_COUNT];
	struct check_limits limits = { .stop = on_tick };
	struct check_clock *clock = check_clock_new(&limits);
	struct facts *f = facts_of_trace(t);
	enum level l;
	uint32_t *order = NULL;
	check_levels(t, f, (1u << LEVEL_COUNT) - 1, clock, results);
	if (strongest_is_one(x, t, results, &l)) {
		if (check_commit_order(f, l, clock, &results[l])) {
			order = results[l].order;
			results[l].order = NULL;
		} else {
			const char *reason = check_clock_reason(clock);
			say("%s needs an order of the writes, and none was "
			    "found: %s",
			    format_word(x->to.format),
			    reason ? reason : "the search ended");
		}
	}
	free_results(results);
	facts_free(f);
	check_clock_free(clock);
	return order;
}

/* ---- writing ---- */

/* Opens the output when the first history is there to be written. */
static bool write_text(struct conversion *x, const struct text *t)
{
	if (!x->file) x->file = output_open(x->to.path);
	if (!x->file) return false;
	fwrite(text_get(t), 1, t->length, x->file);
	return !ferror(x->file);
}

/* The history as this format is to have it. */
static int write_trace(struct conversion *x, const struct trace *original,
                       struct diags *d)
{
	struct trace t = *original;
	struct text printed = { 0 };
	uint32_t *order = NULL;
	int code = EXIT_INPUT;
	if (t.known_count && x->to.format != FORMAT_ISOSCOPE &&
	    !is_list_format(x->to.format)) {
		if (!order_is_spare(x, &t)) return EXIT_INPUT;
		t.known_count = 0;
	}
	if (format_is_folder(x->to.format))
		return target_write_folder(&x->to, &t, d);
	if (is_list_format(x->to.format) && !t.lists) {
		order = find_order(x, &t);
		if (!order) return EXIT_INPUT;
	}
	if (format_print(&printed, x->to.format, &t, order, d))
		code = write_text(x, &printed) ? EXIT_HOLDS : EXIT_INTERNAL;
	text_free(&printed);
	free(order);
	return code;
}

/* ---- reading ---- */

static void say_several(const struct conversion *x, const struct trace *t)
{
	say("%s holds several histories (the second begins in line %" PRIu32
	    "), and a file in %s only one; choose one with --history N",
	    x->input, t->line, format_word(x->to.format));
}

/* All histories, each as it comes. */
static int convert_all(struct conversion *x, struct history_reader *r,
                       struct diags *d)
{
	struct trace *t;
	uint64_t count = 0;
	int code = EXIT_HOLDS;
	while (code == EXIT_HOLDS && (t = history_reader_next(r, d))) {
		code = write_trace(x, t, d);
		trace_free(t);
		count++;
		if (atomic_load(signals_flag())) code = EXIT_INCONCLUSIVE;
	}
	if (code != EXIT_HOLDS) return code;
	if (d->errors) return EXIT_INPUT;
	if (count) return EXIT_HOLDS;
	say_no_history(x->input, 0, 1);
	return EXIT_INPUT;
}

/* The chosen history, or the only one. */
static int convert_one(struct conversion *x, struct history_reader *r,
                       struct diags *d)
{
	uint64_t number = 0, wanted = x->only ? x->only : 1;
	struct trace *t = NULL, *other;
	int code = EXIT_INPUT;
	while (number < wanted && (t = history_reader_next(r, d))) {
		if (++number == wanted) break;
		trace_free(t);
		t = NULL;
	}
	if (!t) {
		if (!d->errors) say_no_history(x->input, number, wanted);
		return EXIT_INPUT;
	}
	other = x->only ? NULL : history_reader_next(r, d);
	if (other)
		say_several(x, other);
	else if (!d->errors)
		code = write_trace(x, t, d);
	trace_free(other);
	trace_free(t);
	return code;
}

static int convert(struct conversion *x)
{
	struct diags d = { 0 };
	int code = EXIT_INPUT;
	struct history_reader *r =
		history_reader_open(x->input, &x->reader, &d);
	if (r && x->to.format == FORMAT_ISOSCOPE && !x->only)
		code = convert_all(x, r, &d);
	else if (r)
		code = convert_one(x, r, &d);
	if (!output_close(x->file, x->to.path)) code = EXIT_INTERNAL;
	history_reader_close(r);
	say_diagnostics(x->line, &d);
	diags_free(&d);
	return code;
}

/* ---- the command line ---- */

static bool output_fits(const struct conversion *x)
{
	const char *to = format_word(x->to.format);
	if (format_is_folder(x->to.format)) {
		if (!is_standard(x->to.path)) return true;
		say("%s is a folder of files: name it with --output FOLDER",
		    to);
		return false;
	}
	return target_file_possible(&x->to);
}

static bool settings(struct conversion *x)
{
	const struct command_line *c = x->line;
	const char *from = c->value[OPTION_FROM];
	if (c->operand_count != 1) {
		say(c->operand_count ? "convert takes one history, not %zu"
		                     : "convert needs a recorded history: "
		                       "isoscope convert HISTORY --to FORMAT",
		    c->operand_count);
		return false;
	}
	if (!c->value[OPTION_TO]) {
		say("convert needs the format to write: --to FORMAT; 'isoscope "
		    "help convert' lists them");
		return false;
	}
	x->input = c->operands[0];
	x->to.path = c->value[OPTION_OUTPUT] ? c->value[OPTION_OUTPUT] : "-";
	x->to.format = format_from_word(c->value[OPTION_TO]);
	x->reader.format = from ? format_from_word(from) : FORMAT_COUNT;
	x->reader.option = "--from";
	x->reader.unknown_is_initial = c->value[OPTION_UNKNOWN];
	return setting_count(c, OPTION_HISTORY, &x->only) &&
	       outputs_fit(c, "history") && output_fits(x);
}

int convert_main(const struct command_line *c)
{
	struct conversion x = { .line = c };
	if (!settings(&x)) return EXIT_USAGE;
	if (is_client(x.input, "convert takes a recorded history"))
		return EXIT_INPUT;
	signals_catch();
	return convert(&x);
}
