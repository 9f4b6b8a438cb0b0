#include "cli/outputs.h"

#include <assert.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/convert.h"
#include "base/paths.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/reports.h"
#include "cli/signals.h"
#include "isoscope.h"
#include "report/graphviz.h"
#include "report/report.h"

/* The options that name a file to write. */
static const enum option_id outputs[] = {
	OPTION_HISTORIES,  OPTION_DOT,           OPTION_SVG,    OPTION_OUTPUT,
	OPTION_CHECKPOINT, OPTION_CLIENT,        OPTION_HTML,   OPTION_SARIF,
	OPTION_JUNIT,      OPTION_AUDIT_PROGRAM, OPTION_RESULT, OPTION_PROOF
};
enum { OUTPUTS = sizeof outputs / sizeof *outputs };

static bool same_folder(const char *a, const char *b)
{
	struct text folder_a = { 0 }, folder_b = { 0 };
	struct stat x, y;
	path_folder(&folder_a, a);
	path_folder(&folder_b, b);
	bool same = !stat(text_get(&folder_a), &x) &&
	            !stat(text_get(&folder_b), &y) && x.st_dev == y.st_dev &&
	            x.st_ino == y.st_ino;
	text_free(&folder_a);
	text_free(&folder_b);
	return same;
}

static const char *name_in_folder(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

/* Do both paths lead to one regular file, or to where one would be made? */
static bool same_file(const char *a, const char *b)
{
	assert(a && b);
	struct stat x, y;
	if (!strcmp(a, b)) return true;
	bool is_a = !stat(a, &x), is_b = !stat(b, &y);
	if (is_a && is_b)
		return S_ISREG(x.st_mode) && x.st_dev == y.st_dev &&
		       x.st_ino == y.st_ino;
	return !is_a && !is_b &&
	       !strcmp(name_in_folder(a), name_in_folder(b)) &&
	       same_folder(a, b);
}

/* The options that name a file to read. What is gone on with may be written
 * to the same file. */
static const enum option_id inputs[] = {
	OPTION_EXPLORE_FROM, OPTION_FROM_PROGRAM, OPTION_VALIDATE,
	OPTION_UNIT,         OPTION_RESUME,       OPTION_SCHEMA,
	OPTION_HINTS,        OPTION_WEIGHTS
};
enum { INPUTS = sizeof inputs / sizeof *inputs };

static bool overwrites_input(const struct command_line *c,
                             enum option_id output)
{
	const char *path = c->value[output], *word = option_table[output].word;
	assert(path && strcmp(option_table[output].argument, "FILE") == 0);
	for (size_t i = 0; i < INPUTS; i++) {
		const char *input = c->value[inputs[i]];
		bool goes_on =
			(output == OPTION_CHECKPOINT &&
		         inputs[i] == OPTION_RESUME) ||
			(output == OPTION_RESULT && inputs[i] == OPTION_UNIT);
		if (!input || goes_on || !same_file(path, input)) continue;
		say("--%s would overwrite '%s', the file of --%s", word, input,
		    option_table[inputs[i]].word);
		return true;
	}
	return false;
}

static bool overwrites_operand(const struct command_line *c, const char *word,
                               const char *path, const char *operand)
{
	assert(!is_standard(path));
	for (size_t i = 0; i < c->operand_count; i++) {
		if (!same_file(path, c->operands[i])) continue;
		say("--%s would overwrite the %s '%s'", word, operand,
		    c->operands[i]);
		return true;
	}
	return false;
}

/* No output may overwrite another one, or an operand. */
static bool outputs_differ(const struct command_line *c, const char *operand)
{
	for (size_t i = 0; i < OUTPUTS; i++) {
		const char *path = c->value[outputs[i]];
		const char *word = option_table[outputs[i]].word;
		if (!path || is_standard(path)) continue;
		if (overwrites_operand(c, word, path, operand) ||
		    overwrites_input(c, outputs[i]))
			return false;
		for (size_t j = 0; j < i; j++) {
			const char *other = c->value[outputs[j]];
			if (!other || !same_file(path, other)) continue;
			say("--%s and --%s cannot both be written to '%s'",
			    option_table[outputs[j]].word, word, path);
			return false;
		}
	}
	return true;
}

/* At most one thing can be written to the standard output. */
static bool outputs_apart(const struct command_line *c)
{
	static const enum option_id printed[] = { OPTION_JSON, OPTION_TAP,
		                                  OPTION_GITHUB };
	const char *taken = NULL;
	for (size_t i = 0; i < sizeof printed / sizeof *printed; i++) {
		const char *word = option_table[printed[i]].word;
		if (!c->value[printed[i]]) continue;
		if (taken) {
			say("--%s and --%s cannot both be written to the "
			    "standard output",
			    taken, word);
			return false;
		}
		taken = word;
	}
	for (size_t i = 0; i < OUTPUTS; i++) {
		const char *path = c->value[outputs[i]];
		const char *word = option_table[outputs[i]].word;
		if (!path || !is_standard(path)) continue;
		if (taken) {
			say("--%s and --%s cannot both be written to the "
			    "standard output",
			    taken, word);
			return false;
		}
		taken = word;
	}
	return true;
}

bool outputs_spare(const struct command_line *c, const struct diags *of)
{
	for (size_t i = 0; i < OUTPUTS; i++) {
		const char *path = c->value[outputs[i]];
		if (!path || is_standard(path)) continue;
		for (size_t k = 0; k < of->file_count; k++) {
			if (!same_file(path, of->files[k])) continue;
			say("--%s would overwrite '%s', a part of the program",
			    option_table[outputs[i]].word, of->files[k]);
			c->said->misused = true;
			return false;
		}
	}
	return true;
}

bool outputs_fit(const struct command_line *c, const char *operand)
{
	return outputs_apart(c) && outputs_differ(c, operand) &&
	       reports_possible(c);
}

FILE *outputs_result_stream(const struct command_line *c)
{
	if (c->value[OPTION_TAP]) return stderr;
	for (size_t i = 0; i < OUTPUTS; i++)
		if (c->value[outputs[i]] && is_standard(c->value[outputs[i]]))
			return stderr;
	return stdout;
}

/* ---- pictures ---- */

bool pictures_wanted(const struct command_line *c)
{
	return c->value[OPTION_DOT] || c->value[OPTION_SVG];
}

bool pictures_possible(const struct command_line *c)
{
	const char *dot = c->value[OPTION_DOT], *svg = c->value[OPTION_SVG];
	if (dot && !output_possible(dot)) return false;
	if (svg && !output_possible(svg)) return false;
	if (svg && !graphviz_present()) {
		say("--svg needs Graphviz, whose program 'dot' is not "
		    "installed (on Debian: apt-get install graphviz); "
		    "--dot writes the picture's source without it");
		return false;
	}
	return true;
}

static bool write_svg(const struct text *dot, const char *path)
{
	struct text problem = { 0 };
	FILE *f = output_open(path);
	if (!f) return false;
	bool drawn = graphviz_draw(dot, fileno(f), &problem);
	if (!drawn) say("cannot draw %s: %s", path, text_get(&problem));
	text_free(&problem);
	return output_close(f, path) && drawn;
}

static bool write_dot(const struct text *dot, const char *path)
{
	FILE *f = output_open(path);
	if (!f) return false;
	fwrite(text_get(dot), 1, dot->length, f);
	return output_close(f, path);
}

bool pictures_write(const struct command_line *c, const struct text *picture,
                    const char *none)
{
	const char *dot = c->value[OPTION_DOT], *svg = c->value[OPTION_SVG];
	bool fine = true;
	if (!pictures_wanted(c)) return true;
	if (!picture->length) {
		say("%s", none);
		return true;
	}
	if (dot) fine &= write_dot(picture, dot);
	if (svg) fine &= write_svg(picture, svg);
	return fine;
}

enum result_depth outputs_depth(const struct command_line *c)
{
	bool verdict = c->value[OPTION_QUIET] && !c->value[OPTION_JSON] &&
	               !pictures_wanted(c) && !reports_wanted(c) &&
	               !c->value[OPTION_CONFIRM_EXAMPLES];
	return verdict ? RESULT_VERDICT : RESULT_WHOLE;
}

static bool draw(const struct command_line *c, const struct result *r,
                 const char *none)
{
	struct text picture = { 0 };
	report_picture(&picture, r);
	bool fine = pictures_write(c, &picture, none);
	text_free(&picture);
	return fine;
}

/* The forms that are made from the JSON. */
static bool write_reports(const struct command_line *c, const struct result *r)
{
	struct kept_results kept = { 0 };
	reports_keep(&kept, r);
	return reports_write(c, &kept);
}

bool outputs_result(const struct command_line *c, struct result *r,
                    const char *none)
{
	assert(r->reason);
	reports_complete(c, r);
	FILE *to = outputs_result_stream(c);
	struct style style = output_style(c, to);
	struct text t = { 0 };
	if (c->value[OPTION_JSON])
		report_json(&t, r, iso_version());
	else if (c->value[OPTION_QUIET])
		report_verdict(&t, &style, r);
	else
		report_text(&t, &style, r);
	bool fine = output_text(to, "-", &t);
	text_free(&t);
	if (pictures_wanted(c)) fine = draw(c, r, none) && fine;
	if (reports_wanted(c)) fine = write_reports(c, r) && fine;
	return fine;
}

/* ---- a history ---- */

bool target_file_possible(const struct target *to)
{
	if (to->format == FORMAT_DBCOP_BINCODE && is_standard(to->path) &&
	    isatty(fileno(stdout))) {
		say("%s is binary and would garble the terminal: name a file "
		    "with --output FILE",
		    format_word(to->format));
		return false;
	}
	return output_possible(to->path);
}

bool target_read(const struct command_line *c, struct target *to)
{
	const char *word = c->value[OPTION_GENERATED];
	const char *path = c->value[OPTION_OUTPUT];
	to->format = word ? format_from_word(word) : FORMAT_ISOSCOPE;
	assert(to->format < FORMAT_COUNT);
	to->path = path ? path : "-";
	if (format_is_folder(to->format)) {
		if (!is_standard(to->path)) return true;
		say("a %s history is a folder: name it with --output", word);
		return false;
	}
	return target_file_possible(to);
}

static bool write_text(const struct target *to, const struct text *t,
                       struct problem *p)
{
	FILE *f = output_open(to->path);
	bool fine = f && output_text(f, to->path, t);
	if (fine)
		fine = output_close(f, to->path);
	else if (f && f != stdout)
		fclose(f); /* the error is said */
	return fine ||
	       problem_diagnosed(p, is_standard(to->path) ? PROBLEM_SYSTEM
	                                                  : PROBLEM_REQUEST);
}

bool target_write(const struct target *to, const struct trace *t,
                  const uint32_t *order, struct problem *p)
{
	struct text out = { 0 };
	assert(to->format < FORMAT_COUNT);
	if (format_is_folder(to->format))
		return write_history_folder(to->path, t, to->format,
		                            signals_flag(), p);
	bool fine =
		print_history(&out, t, to->format, order, signals_flag(), p) &&
		write_text(to, &out, p);
	text_free(&out);
	return fine;
}
