#include "cli/reports.h"

#include <assert.h>

#include "api/sources.h"
#include "cli/options.h"
#include "cli/output.h"
#include "isoscope.h"
#include "report/documents.h"
#include "report/page.h"
#include "report/report.h"
#include "result/result.h"

enum { KEPT_MOST = 64 << 20 }; /* bytes of JSON */

bool reports_wanted(const struct command_line *c)
{
	return c->value[OPTION_HTML];
}

bool reports_possible(const struct command_line *c)
{
	const char *html = c->value[OPTION_HTML];
	return !html || output_possible(html);
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

void reports_keep(struct text *kept, const struct result *r)
{
	if (kept->length < KEPT_MOST) report_json(kept, r, iso_version());
}

bool reports_write(const struct command_line *c, const struct text *kept)
{
	const char *path = c->value[OPTION_HTML];
	struct text problem = { 0 }, page = { 0 };
	struct documents d;
	bool fine = documents_read(&d, text_get(kept), kept->length, &problem);
	if (fine) {
		report_page(&page, &d);
		documents_free(&d);
		FILE *f = output_open(path);
		fine = f && output_text(f, path, &page);
		if (fine)
			fine = output_close(f, path);
		else if (f && f != stdout)
			fclose(f); /* the error is said */
	} else {
		say("%s", text_get(&problem));
	}
	text_free(&page);
	text_free(&problem);
	return fine;
}
