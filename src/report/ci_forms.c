/* What programs that run tests read: JUnit's XML and TAP 13; and annotations of
 * GitHub. */
#include <string.h>

#include "report/outcomes.h"
#include "report/page_parts.h"

/* ---- JUnit ---- */

static void add_words(struct text *t, const char *words)
{
	page_words(t, words, strlen(words), PAGE_WORDS_MOST);
}

static void add_case(struct text *t, const struct outcome *x)
{
	struct text story = { 0 };
	text_string(t, "    <testcase classname=\"isoscope.");
	add_words(t, outcome_subject(x->result));
	text_string(t, "\" name=\"");
	add_words(t, text_get(&x->name));
	if (x->file) {
		text_string(t, "\" file=\"");
		add_words(t, x->file);
	}
	if (x->line) text_format(t, "\" line=\"%u", x->line);
	if (x->state == OUTCOME_PASSED) {
		text_string(t, "\"/>\n");
		return;
	}
	const char *kind = x->state == OUTCOME_OPEN    ? "skipped"
	                   : x->state == OUTCOME_ERROR ? "error"
	                                               : "failure";
	text_format(t, "\">\n      <%s message=\"", kind);
	add_words(t, text_get(&x->why));
	if (x->state == OUTCOME_OPEN) {
		text_string(t, "\"/>\n    </testcase>\n");
		return;
	}
	text_string(t, "\" type=\"");
	add_words(t, x->rule ? x->rule : "violation");
	text_string(t, "\">");
	outcome_story(&story, x);
	add_words(t, text_get(&story));
	text_format(t, "</%s>\n    </testcase>\n", kind);
	text_free(&story);
}

void report_junit(struct text *t, const struct documents *d)
{
	const json_t *first = json_array_get(d->list, 0);
	struct outcomes o;
	outcomes_of(&o, d);
	text_string(t, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
	text_format(t,
	            "<testsuites tests=\"%zu\" failures=\"%zu\" "
	            "errors=\"%zu\" "
	            "skipped=\"%zu\">\n  <testsuite name=\"isoscope ",
	            o.count, o.failed, o.errors, o.open);
	add_words(t, outcome_subject(first));
	text_format(t,
	            "\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" "
	            "skipped=\"%zu\">\n",
	            o.count, o.failed, o.errors, o.open);
	for (size_t i = 0; i < o.count; i++) add_case(t, &o.items[i]);
	text_string(t, "  </testsuite>\n</testsuites>\n");
	outcomes_free(&o);
}

/* ---- TAP ---- */

/* Without what would end a line. */
static void add_plain(struct text *t, const char *words, size_t length)
{
	for (size_t i = 0; i < length; i++)
		text_char(t, (unsigned char)words[i] < ' ' ? ' ' : words[i]);
}

/* # would begin a directive. */
static void add_description(struct text *t, const char *words)
{
	for (; *words; words++) {
		if (*words == '#' || *words == '\\') text_char(t, '\\');
		add_plain(t, words, 1);
	}
}

/* YAML: a block of lines as they are. */
static void add_block(struct text *t, const char *lines)
{
	text_string(t, "  story: |\n");
	while (*lines) {
		size_t n = strcspn(lines, "\n");
		text_string(t, "    ");
		add_plain(t, lines, n);
		text_char(t, '\n');
		lines += n + (lines[n] == '\n');
	}
}

static void add_failure(struct text *t, const struct outcome *x)
{
	struct text story = { 0 };
	text_string(t, "  ---\n  message: ");
	text_json_string(t, text_get(&x->why), x->why.length);
	if (x->file) {
		text_string(t, "\n  at:\n    file: ");
		text_json_string(t, x->file, strlen(x->file));
		if (x->line) text_format(t, "\n    line: %u", x->line);
	}
	text_char(t, '\n');
	outcome_story(&story, x);
	if (story.length) add_block(t, text_get(&story));
	text_string(t, "  ...\n");
	text_free(&story);
}

void report_tap(struct text *t, const struct documents *d)
{
	struct outcomes o;
	outcomes_of(&o, d);
	text_format(t, "TAP version 13\n1..%zu\n", o.count);
	for (size_t i = 0; i < o.count; i++) {
		const struct outcome *x = &o.items[i];
		text_format(t, "%s %zu - ", outcome_is_bad(x) ? "not ok" : "ok",
		            i + 1);
		add_description(t, text_get(&x->name));
		if (x->state == OUTCOME_OPEN) {
			text_string(t, " # SKIP ");
			add_description(t, text_get(&x->why));
		}
		text_char(t, '\n');
		if (outcome_is_bad(x)) add_failure(t, x);
	}
	outcomes_free(&o);
}

/* ---- GitHub ---- */

/* As its commands are escaped; `also` are characters that end a property. */
static void add_escaped(struct text *t, const char *words, const char *also)
{
	for (; *words; words++) {
		unsigned char c = (unsigned char)*words;
		if (c == '%' || c < ' ' || strchr(also, c))
			text_format(t, "%%%02X", c);
		else
			text_char(t, *words);
	}
}

void report_annotations(struct text *t, const struct documents *d)
{
	struct outcomes o;
	outcomes_of(&o, d);
	for (size_t i = 0; i < o.count; i++) {
		const struct outcome *x = &o.items[i];
		if (x->state == OUTCOME_PASSED) continue;
		text_string(t, outcome_is_bad(x) ? "::error title="
		                                 : "::warning title=");
		add_escaped(t, text_get(&x->name), ":,");
		if (x->file) {
			text_string(t, ",file=");
			add_escaped(t, x->file, ":,");
		}
		if (x->line) text_format(t, ",line=%u", x->line);
		if (x->column) text_format(t, ",col=%u", x->column);
		text_string(t, "::");
		add_escaped(t, text_get(&x->why), "");
		text_char(t, '\n');
	}
	outcomes_free(&o);
}
