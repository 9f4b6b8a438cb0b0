#include <assert.h>

#include "history/history.h"
#include "report/report.h"
#include "result/names.h"
#include "result/result.h"
#include "vm/machine.h"

/* ---- named values ---- */

/* As members, or elements. */
static void print_values(struct json *j, const struct result_values *values)
{
	for (const struct result_value *v = values->first; v; v = v->next) {
		switch (v->kind) {
		case RESULT_TEXT: json_text(j, v->name, v->text); break;
		case RESULT_JSON:
			text_string(json_value(j, v->name), v->text);
			break;
		case RESULT_COUNT: json_count(j, v->name, v->count); break;
		case RESULT_NUMBER: json_number(j, v->name, v->number); break;
		case RESULT_SECONDS: json_seconds(j, v->name, v->number); break;
		case RESULT_FLAG: json_bool(j, v->name, v->flag); break;
		case RESULT_GROUP:
		case RESULT_LIST:
			json_open(j, v->name,
			          v->kind == RESULT_GROUP ? '{' : '[');
			print_values(j, &v->values);
			json_close(j);
			break;
		}
	}
}

static void print_position(struct json *j, struct position at)
{
	json_text(j, "file", at.file);
	json_count(j, "line", at.line);
	json_count(j, "column", at.column);
}

/* ---- examples ---- */

static void print_order(struct json *j, const struct history *h)
{
	struct text words = { 0 };
	json_open(j, "order", '[');
	for (uint32_t i = 1; i < h->transaction_count; i++) {
		name_transaction(&words, h, h->order ? h->order[i] : i);
		json_taken(j, NULL, &words);
	}
	json_close(j);
	text_free(&words);
}

/* ["alice.1 enroll","starts",2], ["alice.1 enroll","commits"] */
static void print_schedule(struct json *j, const struct result_example *x)
{
	struct text words = { 0 };
	json_open(j, "schedule", '[');
	for (size_t i = 0; i < x->schedule.count; i++) {
		struct schedule_moment m = x->schedule.items[i];
		json_open(j, NULL, '[');
		name_transaction(&words, x->history, m.transaction);
		json_taken(j, NULL, &words);
		json_text(j, NULL, result_moment(x, m));
		if (schedule_is_statement(m)) json_count(j, NULL, m.statement);
		json_close(j);
	}
	json_close(j);
	text_free(&words);
}

static void print_changes(struct json *j, const struct result_example *x)
{
	assert(x->compared && (x->changes.items || !x->changes.count));
	json_count(j, "changes", x->changes.count);
	json_open(j, "changed_reads", '[');
	for (uint32_t i = 0; i < x->changes.count; i++) {
		json_open(j, NULL, '{');
		print_values(j, &x->changes.items[i].members);
		json_close(j);
	}
	json_close(j);
}

static void print_failure(struct json *j, const struct result_example *x)
{
	const struct finding *f = x->finding;
	assert(f);
	json_open(j, "failure", '{');
	json_open(j, "values", '{');
	for (uint32_t i = 0; i < f->value_count; i++)
		value_print_json(json_value(j, f->values[i].name),
		                 f->values[i].value);
	json_close(j);
	if (f->message) json_text(j, "message", f->message);
	print_position(j, x->failed_at);
	json_close(j);
}

static void print_example(struct json *j, const struct result_example *x)
{
	assert(x->history && x->forbidden_by <= LEVEL_COUNT);
	json_open(j, "example", '{');
	json_count(j, "history", 1);
	history_print_members(j, x->history);
	print_order(j, x->history);
	if (x->schedule.count) print_schedule(j, x);
	print_values(j, &x->steps);
	if (x->compared) print_changes(j, x);
	if (x->finding) print_failure(j, x);
	json_text(j, "anomaly", x->anomaly);
	json_text(j, "forbidden_by",
	          x->forbidden_by < LEVEL_COUNT ? level_word(x->forbidden_by)
	                                        : NULL);
	json_open(j, "cycle", '[');
	print_values(j, &x->edges);
	json_close(j);
	print_values(j, &x->confirmation.members);
	json_close(j);
}

/* ---- assertions and warnings ---- */

static void print_assertion(struct json *j, const struct result *r,
                            const struct result_assertion *a)
{
	json_open(j, NULL, '{');
	json_text(j, "text", a->text);
	json_text(j, "kind", a->kind);
	if (a->slot < program_assertion_count(r->program))
		json_text(j, "message", a->message);
	print_position(j, a->at);
	if (a->counted) json_count(j, "violated", a->violations);
	print_values(j, &a->members);
	if (a->example.history) print_example(j, &a->example);
	json_close(j);
}

static void print_diagnostic(struct json *j, const struct diag *w)
{
	json_open(j, NULL, '{');
	json_text(j, "message", w->message);
	print_position(j,
	               (struct position){ w->file, w->line, w->column, NULL });
	json_close(j);
}

/* ---- all ---- */

/* An object with the version. */
static void begin(struct json *j, const char *version)
{
	assert(version && !j->depth);
	json_open(j, NULL, '{');
	json_text(j, "isoscope", version);
	json_count(j, "version", RESULT_JSON_VERSION);
}

void report_json_end(struct json *j)
{
	json_close(j);
	assert(!j->depth);
	text_char(j->to, '\n');
}

void report_json(struct text *t, const struct result *r, const char *version)
{
	struct json j = json_to(t);
	begin(&j, version);
	print_values(&j, &r->settings);
	json_text(&j, "verdict", verdict_word(r->verdict));
	json_text(&j, "reason", r->reason);
	if (r->outlook) json_text(&j, "in_words", r->outlook);
	print_values(&j, &r->findings);
	if (r->has_assertions) {
		json_open(&j, "assertions", '[');
		for (uint32_t i = 0; i < r->assertion_count; i++)
			print_assertion(&j, r, &r->assertions[i]);
		json_close(&j);
	}
	if (r->has_warnings) {
		json_open(&j, "warnings", '[');
		for (size_t i = 0; i < r->warnings.count; i++)
			print_diagnostic(&j, &r->warnings.items[i]);
		json_close(&j);
	}
	print_values(&j, &r->measures);
	print_values(&j, &r->sources);
	if (r->command) json_text(&j, "command", r->command);
	report_json_end(&j);
}

void report_errors_json(struct text *t, const char *program,
                        const struct diags *errors, const char *command,
                        const char *version)
{
	struct json j = json_to(t);
	assert(errors->count);
	begin(&j, version);
	if (program) json_text(&j, "program", program);
	json_text(&j, "error", errors->items[0].message);
	json_open(&j, "errors", '[');
	for (size_t i = 0; i < errors->count; i++)
		print_diagnostic(&j, &errors->items[i]);
	json_close(&j);
	if (command) json_text(&j, "command", command);
	report_json_end(&j);
}
