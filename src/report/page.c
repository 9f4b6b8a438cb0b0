#include "report/page.h"

#include <assert.h>
#include <sha2.h>
#include <string.h>

#include "report/page_parts.h"
#include "report/page_files.h"

/* ---- the file ---- */

static const char base64[] =
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	"0123456789+/";

/* 'sha256-...', of the lines together. */
static void add_hash(struct text *t, const char *const *lines)
{
	uint8_t digest[SHA256_DIGEST_LENGTH + 1] = { 0 };
	SHA2_CTX c;
	SHA256Init(&c);
	for (; *lines; lines++)
		SHA256Update(&c, (const uint8_t *)*lines, strlen(*lines));
	SHA256Final(digest, &c);
	text_string(t, "'sha256-");
	for (unsigned i = 0; i < SHA256_DIGEST_LENGTH; i += 3) {
		unsigned three = (unsigned)digest[i] << 16 |
		                 (unsigned)digest[i + 1] << 8;
		bool last = i + 3 > SHA256_DIGEST_LENGTH;
		if (!last) three |= digest[i + 2];
		text_char(t, base64[three >> 18]);
		text_char(t, base64[three >> 12 & 63]);
		text_char(t, base64[three >> 6 & 63]);
		text_char(t, last ? '=' : base64[three & 63]);
	}
	text_char(t, '\'');
}

static void add_lines(struct text *t, const char *const *lines)
{
	for (; *lines; lines++) text_string(t, *lines);
}

static void print_head(struct text *t, const json_t *first, const json_t *name)
{
	text_string(t, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
	               "<meta charset=\"utf-8\">\n"
	               "<meta http-equiv=\"Content-Security-Policy\" "
	               "content=\"default-src 'none'; style-src ");
	add_hash(t, page_css);
	text_string(t, "; script-src ");
	add_hash(t, page_js);
	text_string(t, "; base-uri 'none'; form-action 'none'\">\n"
	               "<meta name=\"viewport\" content=\"width=device-width, "
	               "initial-scale=1\">\n<meta name=\"color-scheme\" "
	               "content=\"light dark\">\n<meta name=\"referrer\" "
	               "content=\"no-referrer\">\n<title>");
	page_plain(t, json_object_get(first, "verdict"));
	text_string(t, ": ");
	page_title(t, name);
	text_string(t, " – isoscope</title>\n<style>");
	add_lines(t, page_css);
	text_string(t, "</style>\n</head>\n<body>\n");
}

static void print_foot(struct text *t, const json_t *last)
{
	text_string(t, "<footer>\n<p>isoscope ");
	page_name(t, json_object_get(last, "isoscope"));
	text_string(t, "</p>\n</footer>\n<script>");
	add_lines(t, page_js);
	text_string(t, "</script>\n</body>\n</html>\n");
}

/* ---- a result ---- */

static const char *class_of(const json_t *r)
{
	if (page_is(r, "verdict", "violated")) return "violated";
	if (page_is(r, "verdict", "holds")) return "holds";
	return "other";
}

static void print_verdict(struct text *t, const json_t *r)
{
	const json_t *reason = json_object_get(r, "reason");
	const json_t *words = json_object_get(r, "in_words");
	if (json_is_string(words) && page_is(r, "verdict", "inconclusive")) {
		reason = words;
		words = NULL;
	}
	if (document_string(r, "error")) {
		text_string(t, "<p class=\"verdict other\"><b>error</b>: ");
		page_plain(t, json_object_get(r, "error"));
		text_string(t, "</p>\n");
		return;
	}
	text_format(t, "<p class=\"verdict %s\"><b>", class_of(r));
	page_plain(t, json_object_get(r, "verdict"));
	text_string(t, "</b>");
	if (json_is_string(reason)) {
		text_string(t, ": ");
		page_plain(t, reason);
	}
	text_string(t, "</p>\n");
	if (!json_is_string(words)) return;
	text_string(t, "<p>");
	page_plain(t, words);
	text_string(t, "</p>\n");
}

static void print_left_out(struct text *t, const json_t *r)
{
	const json_t *n = json_object_get(r, "results_left_out");
	if (!json_is_integer(n)) return;
	text_string(t, "<p>");
	page_value(t, n);
	text_string(t, " more results are not shown here: the page holds the "
	               "first 64 MiB of them.</p>\n");
}

static void print_command(struct text *t, const json_t *r)
{
	const json_t *command = json_object_get(r, "command");
	if (!json_is_string(command)) return;
	text_string(t, "<h2>To repeat</h2>\n<code class=\"command\">");
	page_plain(t, command);
	text_string(t, "</code>\n");
}

/* ---- edits ---- */

static void print_diff(struct text *t, const json_t *diff)
{
	const char *line = json_string_value(diff);
	if (!line || !*line) return;
	text_string(t, "<pre class=\"diff\">");
	while (*line) {
		size_t n = strcspn(line, "\n");
		const char *class = *line == '+'   ? "add"
		                    : *line == '-' ? "del"
		                    : *line == '@' ? "hunk"
		                                   : "same";
		if (!strncmp(line, "+++", 3) || !strncmp(line, "---", 3))
			class = "hunk";
		text_format(t, "<span class=\"%s\">", class);
		page_words(t, line, n, PAGE_WORDS_MOST);
		text_string(t, "</span>");
		line += n + (line[n] == '\n');
	}
	text_string(t, "</pre>\n");
}

static void print_edit(struct text *t, const json_t *a, bool enough)
{
	text_string(t, "<h4>");
	page_name(t, json_object_get(a, "words"));
	text_string(t, "</h4>\n<p class=\"muted\">cost ");
	page_value(t, json_object_get(a, "cost"));
	text_string(t, enough ? "; nothing is violated in "
	                      : "; still violated in ");
	if (!enough) {
		page_value(t, json_object_get(a, "violating"));
		text_string(t, json_is_false(json_object_get(a, "complete"))
		                       ? " of the first "
		                       : " of ");
	}
	page_value(t, json_object_get(a, "histories"));
	text_string(t, json_integer_value(json_object_get(a, "histories")) == 1
	                       ? " history</p>\n"
	                       : " histories</p>\n");
	print_diff(t, json_object_get(a, "diff"));
	size_t i;
	const json_t *edit;
	json_array_foreach(json_object_get(a, "edits"), i, edit)
	{
		const json_t *option = json_object_get(edit, "option");
		if (!json_is_string(option)) continue;
		text_string(t, "<code class=\"command\">");
		page_plain(t, option);
		text_string(t, "</code>\n");
	}
}

static void print_edits(struct text *t, const json_t *r)
{
	static const struct {
		const char *name, *title;
		bool enough;
	} lists[] = {
		{ "answers", "Each of these is enough, the cheapest first",
		  true },
		{ "not_enough", "Not enough", false },
		{ "stronger_than_needed",
		  "Stronger than needed: nothing is violated with these either",
		  true },
	};
	bool any = false;
	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
		const json_t *list = json_object_get(r, lists[i].name), *a;
		size_t k;
		if (!json_array_size(list)) continue;
		if (!any) text_string(t, "<h2>Suggested edits</h2>\n");
		any = true;
		text_format(t, "<h3>%s</h3>\n", lists[i].title);
		json_array_foreach(list, k, a)
			print_edit(t, a, lists[i].enough);
	}
}

/* ---- lists ---- */

static void print_messages(struct text *t, const json_t *r, const char *name,
                           const char *title)
{
	const json_t *list = json_object_get(r, name), *w;
	size_t i;
	if (!json_array_size(list)) return;
	text_format(t, "<h2>%s</h2>\n<ul class=\"why\">\n", title);
	json_array_foreach(list, i, w)
	{
		text_string(t, "<li>");
		page_place(t, w);
		if (document_string(w, "file")) text_string(t, ": ");
		page_name(t, json_object_get(w, "message"));
		text_string(t, "</li>\n");
	}
	text_string(t, "</ul>\n");
}

/* Assertions without an example: those that hold. */
static void print_assertions(struct text *t, const json_t *r)
{
	const json_t *list = json_object_get(r, "assertions"), *a;
	size_t i;
	bool any = false;
	if (page_has_levels(r)) return;
	json_array_foreach(list, i, a)
	{
		if (json_object_get(a, "example")) continue;
		if (!any)
			text_string(t, "<h2>Assertions</h2>\n"
			               "<ul class=\"why\">\n");
		any = true;
		text_string(t, "<li><code>");
		page_name(t, json_object_get(a, "text"));
		text_string(t, "</code> <span class=\"muted\">");
		page_place(t, a);
		text_string(t, "</span>");
		if (json_is_integer(json_object_get(a, "violated"))) {
			text_string(t, ": violated in ");
			page_value(t, json_object_get(a, "violated"));
		}
		text_string(t, "</li>\n");
	}
	if (any) text_string(t, "</ul>\n");
}

static void print_rest(struct text *t, const json_t *r)
{
	static const char *const told[] = {
		"isoscope",  "version",          "verdict",
		"reason",    "assertions",       "warnings",
		"witnesses", "predictions",      "counterexample",
		"cycles",    "separations",      "anomalies",
		"answers",   "not_enough",       "stronger_than_needed",
		"sources",   "command",          "error",
		"errors",    "results_left_out", NULL
	};
	static const char *const with_levels[] = {
		"isoscope",   "version",  "verdict", "reason",  "in_words",
		"assertions", "warnings", "levels",  "command", NULL
	};
	bool levels = page_has_levels(r);
	page_members(t, r, levels ? with_levels : told);
}

/* A summary of several has no subject of its own: that of the next one. */
static const json_t *named(const struct documents *d)
{
	const json_t *first = json_array_get(d->list, 0);
	const json_t *next = json_array_get(d->list, 1);
	return next && !page_has_subject(first) ? next : first;
}

static void print_header(struct text *t, const json_t *r, const json_t *name)
{
	text_string(t, "<header>\n<p class=\"product\">isoscope</p>\n<h1>");
	if (name == r)
		page_subject(t, r);
	else
		page_title(t, name);
	text_string(t, "</h1>\n");
	print_verdict(t, r);
	print_left_out(t, r);
	text_string(t, "</header>\n");
}

/* Of one among several. */
static void open_details(struct text *t, const json_t *r, size_t i)
{
	text_string(t, i ? "<details>" : "<details open>");
	text_string(t, "<summary>");
	if (page_has_subject(r))
		page_subject(t, r);
	else
		text_string(t, "all of them");
	text_string(t, ": ");
	page_name(t, json_object_get(r, "verdict"));
	text_string(t, "</summary>\n");
}

/* ---- all ---- */

void report_page(struct text *t, const struct documents *d)
{
	const json_t *first = json_array_get(d->list, 0), *r;
	size_t i, count = json_array_size(d->list);
	assert(count);
	print_head(t, first, named(d));
	print_header(t, first, named(d));
	text_string(t, "<main>\n");
	if (page_has_levels(first)) page_levels(t, first);
	print_edits(t, first);
	page_findings(t, d->list);
	print_assertions(t, first);
	json_array_foreach(d->list, i, r)
		print_messages(t, r, "errors", "Errors");
	print_messages(t, first, "warnings", "Warnings");
	text_string(t, "<h2>Details</h2>\n");
	json_array_foreach(d->list, i, r)
	{
		if (count > 1) open_details(t, r, i);
		print_rest(t, r);
		if (count > 1) text_string(t, "</details>\n");
	}
	print_command(t, first);
	text_string(t, "</main>\n");
	print_foot(t, first);
}
