#include "cli/reports.h"

#include <assert.h>

#include "api/sources.h"
#include "cli/exit_codes.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/signals.h"
#include "isoscope.h"
#include "report/documents.h"
#include "report/outcomes.h"
#include "report/page.h"
#include "report/report.h"
#include "result/result.h"

enum { KEPT_MOST = 64 << 20 }; /* bytes of JSON */

typedef void report_form(struct text *t, const struct documents *d);

/* What each option writes; to a file that it names, or to standard output. */
static const struct {
	enum option_id option;
	report_form *form;
} forms[] = {
	{ OPTION_HTML, report_page },          { OPTION_SARIF, report_sarif },
	{ OPTION_JUNIT, report_junit },        { OPTION_TAP, report_tap },
	{ OPTION_GITHUB, report_annotations },
};
enum { FORMS = sizeof forms / sizeof *forms };

bool reports_wanted(const struct command_line *c)
{
	for (size_t i = 0; i < FORMS; i++)
		if (c->value[forms[i].option]) return true;
	return false;
}

/* NULL: it is not asked for. */
static const char *path_of(const struct command_line *c, size_t i)
{
	bool printed = !option_table[forms[i].option].argument;
	const char *value = c->value[forms[i].option];
	return value && printed ? "-" : value;
}

bool reports_possible(const struct command_line *c)
{
	for (size_t i = 0; i < FORMS; i++) {
		const char *path = path_of(c, i);
		if (path && !output_possible(path)) return false;
	}
	return true;
}

void reports_complete(const struct command_line *c, struct result *r)
{
	struct text words = { 0 };
	if (!c->value[OPTION_JSON] && !reports_wanted(c)) return;
	command_line_say(c, &words);
	r->command = result_words(r, &words);
	text_free(&words);
	result_read_sources(r);
}

void reports_keep(struct kept_results *kept, const struct result *r)
{
	if (kept->json.length < KEPT_MOST)
		report_json(&kept->json, r, iso_version());
	else
		kept->left_out++;
}

static bool write_form(const char *path, report_form *form,
                       const struct documents *d)
{
	struct text words = { 0 };
	FILE *f = output_open(path);
	form(&words, d);
	bool fine = f && output_text(f, path, &words);
	if (fine)
		fine = output_close(f, path);
	else if (f && f != stdout)
		fclose(f); /* the error is said */
	text_free(&words);
	return fine;
}

/* Who reads one of the forms is told in it that there is more. */
static void tell_left_out(struct documents *d, uint64_t left_out)
{
	json_t *first = json_array_get(d->list, 0);
	if (left_out)
		json_object_set_new(first, "results_left_out",
		                    json_integer((json_int_t)left_out));
}

static bool write_forms(const struct command_line *c, const char *path,
                        const struct text *json, uint64_t left_out)
{
	struct text problem = { 0 };
	struct documents d;
	bool fine = documents_read(&d, text_get(json), json->length, &problem);
	c->said->reported = true;
	if (fine)
		tell_left_out(&d, left_out);
	else
		say("%s%s%s", path ? path : "", path ? ": " : "",
		    text_get(&problem));
	for (size_t i = 0; fine && i < FORMS; i++)
		if (path_of(c, i))
			fine = write_form(path_of(c, i), forms[i].form, &d);
	documents_free(&d);
	text_free(&problem);
	return fine;
}

static void add_errors(const struct command_line *c, struct text *json)
{
	struct text command = { 0 };
	if (!c->said->errors.count) return;
	command_line_say(c, &command);
	report_errors_json(json, c->operand_count ? c->operands[0] : NULL,
	                   &c->said->errors, text_get(&command), iso_version());
	text_free(&command);
}

bool reports_write(const struct command_line *c, struct kept_results *kept)
{
	add_errors(c, &kept->json);
	bool fine = write_forms(c, NULL, &kept->json, kept->left_out);
	text_free(&kept->json);
	return fine;
}

bool reports_convert(const struct command_line *c, const char *path,
                     const struct text *json)
{
	return write_forms(c, path, json, 0);
}

bool reports_of_errors(const struct command_line *c)
{
	struct kept_results none = { 0 };
	if (!reports_wanted(c) || c->said->reported || !c->said->errors.count)
		return true;
	return reports_write(c, &none);
}

int command_end(const struct command_line *c, int code)
{
	if (code != EXIT_INPUT) return code;
	if (c->said->misused) return EXIT_USAGE;
	if (!reports_of_errors(c)) return EXIT_INTERNAL;
	if (atomic_load(signals_flag())) return EXIT_INCONCLUSIVE;
	return c->said->errors.of_system ? EXIT_INTERNAL : code;
}
