/* SARIF 2.1.0 (OASIS): what fails, with its place, the history that shows it as
 * a flow for each session, and edits that are enough as fixes. */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/json.h"
#include "report/anomaly_words.h"
#include "report/outcomes.h"

static const char schema[] =
	"https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/"
	"sarif-schema-2.1.0.json";

/* ---- places ---- */

/* A path as a relative or absolute URI. */
static void add_uri(struct json *j, const char *path)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
		"0123456789-._~/";
	struct text uri = { 0 };
	if (*path == '/') text_string(&uri, "file://");
	for (const char *at = path; *at; at++)
		if (strchr(plain, *at))
			text_char(&uri, *at);
		else
			text_format(&uri, "%%%02X", (unsigned char)*at);
	json_taken(j, "uri", &uri);
	text_free(&uri);
}

static void add_artifact(struct json *j, const char *path)
{
	json_open(j, "artifactLocation", '{');
	add_uri(j, path);
	json_close(j);
}

/* Where the line is not known, the first one: GitHub wants each place to have
 * a region. */
static void add_place(struct json *j, const char *file, uint64_t line,
                      uint64_t column)
{
	assert(file);
	json_open(j, "physicalLocation", '{');
	add_artifact(j, file);
	json_open(j, "region", '{');
	json_count(j, "startLine", line ? line : 1);
	if (line && column) json_count(j, "startColumn", column);
	json_close(j);
	json_close(j);
}

static void add_message(struct json *j, const char *words)
{
	json_open(j, "message", '{');
	json_text(j, "text", words);
	json_close(j);
}

/* ---- flows ---- */

/* GitHub takes no step without a place: one that has none of its own, as a
 * commit, has that of the step before in its session, and the first of all that
 * of the result. */
struct place {
	const char *file;
	uint64_t line;
};

static void add_step(struct json *j, const json_t *step, size_t order,
                     struct place *at)
{
	struct text words = { 0 };
	const char *file = document_string(step, "file");
	json_int_t line = json_integer_value(json_object_get(step, "line"));
	if (file && line > 0) *at = (struct place){ file, (uint64_t)line };
	json_open(j, NULL, '{');
	json_open(j, "location", '{');
	add_place(j, at->file, at->line, 0);
	outcome_step(&words, step);
	add_message(j, text_get(&words));
	json_close(j);
	json_count(j, "executionOrder", order);
	json_close(j);
	text_free(&words);
}

/* All steps of the session of step `first`, unless it has had its flow. */
static void add_session(struct json *j, const json_t *steps, size_t first,
                        struct place at)
{
	const json_t *session =
		json_object_get(json_array_get(steps, first), "session");
	const json_t *step;
	size_t i;
	if (!json_is_string(session)) return;
	json_array_foreach(
		steps, i, step) if (json_equal(json_object_get(step, "session"),
	                                       session)) break;
	if (i < first) return;
	json_open(j, NULL, '{');
	json_text(j, "id", json_string_value(session));
	json_open(j, "locations", '[');
	json_array_foreach(
		steps, i,
		step) if (json_equal(json_object_get(step, "session"), session))
		add_step(j, step, i + 1, &at);
	json_close(j);
	json_close(j);
}

static bool has_sessions(const json_t *steps)
{
	size_t i;
	const json_t *step;
	json_array_foreach(
		steps, i,
		step) if (document_string(step, "session")) return true;
	return false;
}

/* What has no place is the whole's: GitHub takes no result without one. */
static const char *file_of(const struct outcome *x)
{
	return x->file && *x->file ? x->file : outcome_subject(x->result);
}

static void add_flows(struct json *j, const struct outcome *x)
{
	const json_t *steps = x->steps;
	if (!has_sessions(steps)) return;
	json_open(j, "codeFlows", '[');
	json_open(j, NULL, '{');
	json_open(j, "threadFlows", '[');
	for (size_t i = 0; i < json_array_size(steps); i++)
		add_session(j, steps, i, (struct place){ file_of(x), x->line });
	json_close(j);
	json_close(j);
	json_close(j);
}

/* ---- fixes ---- */

/* The lines of a hunk that begin with this sign, without it. */
static uint64_t take_lines(struct text *out, const char *hunk, char sign)
{
	uint64_t count = 0;
	while (*hunk && *hunk != '@' && strncmp(hunk, "--- ", 4)) {
		size_t n = strcspn(hunk, "\n");
		if (*hunk == sign) {
			text_bytes(out, hunk + 1, n - 1);
			text_char(out, '\n');
			count++;
		}
		hunk += n + (hunk[n] == '\n');
	}
	return count;
}

/* Of a diff without context: each hunk takes lines away and puts others there.
 * Where it takes none away, they stand behind the line that it names. */
static void add_hunk(struct json *j, const char *at)
{
	struct text with = { 0 }, gone = { 0 };
	uint64_t line = strtoull(at + strlen("@@ -"), NULL, 10);
	const char *hunk = at + strcspn(at, "\n");
	hunk += *hunk == '\n';
	uint64_t count = take_lines(&gone, hunk, '-');
	take_lines(&with, hunk, '+');
	if (!count) line++;
	json_open(j, NULL, '{');
	json_open(j, "deletedRegion", '{');
	json_count(j, "startLine", line ? line : 1);
	json_count(j, "startColumn", 1);
	json_count(j, "endLine", (line ? line : 1) + count);
	json_count(j, "endColumn", 1);
	json_close(j);
	json_open(j, "insertedContent", '{');
	json_taken(j, "text", &with);
	json_close(j);
	json_close(j);
	text_free(&with);
	text_free(&gone);
}

static const char *line_after(const char *at)
{
	at += strcspn(at, "\n");
	return at + (*at == '\n');
}

/* "--- a/FILE" begins the hunks of a file; of /FILE also, as patch -p1 has it
 * at the root: that is the program itself. */
static void add_changes(struct json *j, const char *diff, const char *program)
{
	bool open = false;
	for (const char *at = diff; *at; at = line_after(at)) {
		if (!strncmp(at, "--- a/", 6)) {
			struct text file = { 0 };
			if (open) json_close(j);
			if (open) json_close(j);
			text_bytes(&file, at + 6, strcspn(at + 6, "\n"));
			json_open(j, NULL, '{');
			add_artifact(j,
			             *program == '/' && !strcmp(program + 1,
			                                        text_get(&file))
			                     ? program
			                     : text_get(&file));
			json_open(j, "replacements", '[');
			open = true;
			text_free(&file);
		} else if (open && !strncmp(at, "@@ -", 4)) {
			add_hunk(j, at);
		}
	}
	if (open) json_close(j);
	if (open) json_close(j);
}

static void add_fixes(struct json *j, const json_t *result)
{
	const json_t *answers = json_object_get(result, "answers"), *a;
	size_t i;
	bool any = false;
	json_array_foreach(answers, i, a)
	{
		const char *diff = document_string(a, "diff");
		const char *words = document_string(a, "words");
		if (!diff || strncmp(diff, "--- a/", 6)) continue;
		if (!any) json_open(j, "fixes", '[');
		any = true;
		json_open(j, NULL, '{');
		json_open(j, "description", '{');
		json_text(j, "text", words ? words : "an edit");
		json_close(j);
		json_open(j, "artifactChanges", '[');
		add_changes(j, diff, outcome_subject(result));
		json_close(j);
		json_close(j);
	}
	if (any) json_close(j);
}

/* ---- results ---- */

static const char *rule_of(const struct outcome *x)
{
	return x->rule ? x->rule : "violation";
}

/* The same for the same violation of the same assertion, wherever it stands in
 * its file, and however it was found. */
static void add_fingerprint(struct json *j, const struct outcome *x)
{
	struct text words = { 0 };
	const char *file = x->file ? x->file : "";
	const char *slash = strrchr(file, '/');
	text_format(&words, "%s\n%s\n%s", rule_of(x), slash ? slash + 1 : file,
	            text_get(&x->name));
	uint64_t h = hash_bytes(0, words.data, words.length);
	text_clear(&words);
	text_format(&words, "%016" PRIx64, h);
	json_open(j, "partialFingerprints", '{');
	json_taken(j, "isoscope/v1", &words);
	json_close(j);
	text_free(&words);
}

static void add_result(struct json *j, const struct outcome *x)
{
	struct text words = { 0 };
	json_open(j, NULL, '{');
	json_text(j, "ruleId", rule_of(x));
	json_text(j, "level", "error");
	text_format(&words, "%s: %s", text_get(&x->name), text_get(&x->why));
	add_message(j, text_get(&words));
	text_free(&words);
	json_open(j, "locations", '[');
	json_open(j, NULL, '{');
	add_place(j, file_of(x), x->line, x->column);
	json_close(j);
	json_close(j);
	add_fingerprint(j, x);
	add_flows(j, x);
	add_fixes(j, x->result);
	json_close(j);
}

static bool is_first_of_rule(const struct outcomes *o, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (outcome_is_bad(&o->items[k]) &&
		    !strcmp(rule_of(&o->items[k]), rule_of(&o->items[i])))
			return false;
	return outcome_is_bad(&o->items[i]);
}

static void add_rule(struct json *j, const char *rule)
{
	static const char help[] =
		"The flows are a history that the isolation level allows. Read "
		"with a lock (FOR UPDATE), make one statement of a read and "
		"its "
		"write, or raise the level; isoscope explore --fix finds edits "
		"that are enough.";
	json_open(j, NULL, '{');
	json_text(j, "id", rule);
	json_open(j, "shortDescription", '{');
	json_text(j, "text",
	          strcmp(rule, "error") ? anomaly_meaning(rule)
	                                : "The input cannot be read.");
	json_close(j);
	if (strcmp(rule, "error")) {
		json_open(j, "help", '{');
		json_text(j, "text", help);
		json_close(j);
	}
	json_close(j);
}

static void add_tool(struct json *j, const struct outcomes *o,
                     const json_t *first)
{
	json_open(j, "tool", '{');
	json_open(j, "driver", '{');
	json_text(j, "name", "isoscope");
	json_text(j, "version", document_string(first, "isoscope"));
	json_open(j, "rules", '[');
	for (size_t i = 0; i < o->count; i++) {
		if (!is_first_of_rule(o, i)) continue;
		add_rule(j, rule_of(&o->items[i]));
	}
	json_close(j);
	json_close(j);
	json_close(j);
}

/* What could not be read, and what could not be decided, as notifications. */
static void add_notification(struct json *j, const struct outcome *x)
{
	struct text words = { 0 };
	json_open(j, NULL, '{');
	json_text(j, "level", outcome_is_bad(x) ? "error" : "note");
	text_format(&words, "%s: %s", text_get(&x->name), text_get(&x->why));
	add_message(j, text_get(&words));
	json_close(j);
	text_free(&words);
}

static void add_invocation(struct json *j, const struct outcomes *o,
                           const json_t *first)
{
	const char *command = document_string(first, "command");
	json_open(j, "invocations", '[');
	json_open(j, NULL, '{');
	if (command) json_text(j, "commandLine", command);
	json_bool(j, "executionSuccessful", !o->errors);
	json_open(j, "toolExecutionNotifications", '[');
	for (size_t i = 0; i < o->count; i++)
		if (o->items[i].state == OUTCOME_ERROR ||
		    o->items[i].state == OUTCOME_OPEN)
			add_notification(j, &o->items[i]);
	json_close(j);
	json_close(j);
	json_close(j);
}

void report_sarif(struct text *t, const struct documents *d)
{
	const json_t *first = json_array_get(d->list, 0);
	struct outcomes o;
	struct json j = json_to(t);
	outcomes_of(&o, d);
	json_open(&j, NULL, '{');
	json_text(&j, "$schema", schema);
	json_text(&j, "version", "2.1.0");
	json_open(&j, "runs", '[');
	json_open(&j, NULL, '{');
	add_tool(&j, &o, first);
	add_invocation(&j, &o, first);
	json_text(&j, "columnKind", "unicodeCodePoints");
	json_open(&j, "results", '[');
	for (size_t i = 0; i < o.count; i++)
		if (outcome_is_bad(&o.items[i])) add_result(&j, &o.items[i]);
	json_close(&j);
	json_close(&j);
	json_close(&j);
	json_close(&j);
	assert(!j.depth);
	text_char(t, '\n');
	outcomes_free(&o);
}
