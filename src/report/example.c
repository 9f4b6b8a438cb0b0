/* The history in which something fails: as a table, what failed in it, and why
 * no serial order explains it. */
#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "history/history.h"
#include "report/counterexample.h"
#include "result/witness_words.h"
#include "report/report.h"
#include "report/witness_text.h"
#include "result/names.h"
#include "result/numbers.h"
#include "result/result.h"
#include "vm/machine.h"

enum {
	INDENT = 4, /* of the table */
	SOURCE_WIDTH = 100,
	VALUES_WIDTH = 40 /* times the width: lines of values */
};

/* ---- the list ---- */

static const char *state_word(enum result_state state)
{
	static const char *const words[] = {
#define X(id, word) [id] = (word),
		RESULT_STATE_TABLE(X)
#undef X
	};
	assert(state < sizeof words / sizeof *words);
	return words[state];
}

static enum style_mark state_mark(enum result_state state)
{
	switch (state) {
	case ASSERTION_FAILS: return STYLE_RED;
	case ASSERTION_HOLDS:
	case ASSERTION_PASSES: return STYLE_GREEN;
	default: return STYLE_YELLOW;
	}
}

void report_assertion_place(struct text *t, const struct style *s,
                            const struct result_assertion *a, size_t used)
{
	struct text place = { 0 };
	name_position(&place, a->at);
	used += 2 + style_columns(text_get(&place));
	style_fit(t, a->text, s->width > used + 20 ? s->width - used : 20);
	if (place.length) {
		text_string(t, "  ");
		style_words(t, s, STYLE_DIM, text_get(&place));
	}
	text_char(t, '\n');
	text_free(&place);
}

void report_assertion_line(struct text *t, const struct style *s,
                           const struct result *r,
                           const struct result_assertion *a)
{
	struct text says = { 0 };
	assert(a->text && a->state != ASSERTION_UNKNOWN);
	text_string(&says, state_word(a->state));
	assert(says.length < r->state_width);
	text_pad(&says, ' ', r->state_width - says.length);
	text_string(t, "  ");
	style_words(t, s, state_mark(a->state), text_get(&says));
	report_assertion_place(t, s, a, 2 + r->state_width);
	text_free(&says);
}

/* ---- one violation ---- */

static void print_heading(struct text *t, const struct style *s,
                          const struct result *r,
                          const struct result_assertion *a)
{
	style_words(t, s, STYLE_RED, a->text);
	text_char(t, '\n');
	if (!a->at.file) return;
	text_string(t, "  at ");
	style_begin(t, s, STYLE_BOLD);
	name_position(t, a->at);
	style_end(t, s);
	/* The text of an assertion in C is its message already. */
	if (a->message && !program_is_native(r->program)) {
		text_string(t, ": ");
		text_string(t, a->message);
	}
	text_char(t, '\n');
}

/* Which reads of the observed history it changes. */
static void print_changes(struct text *t, const struct style *s,
                          const struct result_example *x)
{
	uint32_t count = x->changes.count;
	assert(x->compared);
	for (uint32_t i = 0; i < count && i < RESULT_CHANGES_SHOWN; i++) {
		text_pad(t, ' ', INDENT);
		style_words(t, s, STYLE_YELLOW, x->changes.items[i].words);
		text_char(t, '\n');
	}
	if (count > RESULT_CHANGES_SHOWN) {
		text_pad(t, ' ', INDENT);
		text_string(t, "… and ");
		number_plural(t, count - RESULT_CHANGES_SHOWN, "other",
		              "others");
		text_char(t, '\n');
	}
	if (count) text_char(t, '\n');
}

/* The line of source, without its indentation. */
static void print_source(struct text *t, const char *line)
{
	assert(line);
	while (*line == ' ' || *line == '\t') line++;
	if (!*line) return;
	text_string(t, "      ");
	style_fit(t, line, SOURCE_WIDTH);
	text_char(t, '\n');
}

/* "alice.1 starts 1-3, commits": the moments from this one on that are of one
 * transaction; returns how many. */
static size_t name_moments(struct text *t, const struct result_example *x,
                           size_t from)
{
	const struct schedule *s = &x->schedule;
	struct schedule_moment first = s->items[from];
	size_t i = from;
	name_transaction_short(t, x->history, first.transaction);
	while (i < s->count && schedule_is_statement(s->items[i]) &&
	       s->items[i].transaction == first.transaction)
		i++;
	if (i > from) text_format(t, " starts %" PRIu32, first.statement);
	if (i > from + 1)
		text_format(t, "-%" PRIu32, s->items[i - 1].statement);
	for (; i < s->count && !schedule_is_statement(s->items[i]) &&
	       s->items[i].transaction == first.transaction;
	     i++)
		text_format(t, "%s %s", i > from ? "," : "",
		            result_moment(x, s->items[i]));
	return i - from;
}

/* In lines that fit. */
static void print_schedule(struct text *t, const struct style *s,
                           const struct result_example *x)
{
	struct text item = { 0 };
	size_t column = s->width;
	if (!x->schedule.count) return;
	text_string(t, "\n    schedule");
	for (size_t i = 0; i < x->schedule.count;) {
		text_clear(&item);
		i += name_moments(&item, x, i);
		if (i < x->schedule.count) text_char(&item, ';');
		size_t width = style_columns(text_get(&item)) + 1;
		if (column + width > s->width) {
			text_char(t, '\n');
			text_pad(t, ' ', INDENT + 2);
			column = INDENT + 2;
		} else {
			text_char(t, ' ');
		}
		text_string(t, text_get(&item));
		column += width;
	}
	text_char(t, '\n');
	text_free(&item);
}

/* In SQL, what assertions asked of tables stands in the last transaction. */
static void name_values(struct text *t, const struct result *r,
                        const struct finding *f)
{
	static const char last[] = "finally.";
	bool all = !r->program || !program_is_sql(r->program);
	for (uint32_t i = 0; i < f->value_count; i++) {
		if (!all && !strncmp(f->values[i].name, last, sizeof last - 1))
			continue;
		if (t->length) text_string(t, ", ");
		name_finding_value(t, &f->values[i]);
	}
}

static void print_finding(struct text *t, const struct style *s,
                          const struct result *r,
                          const struct result_example *x)
{
	const struct finding *f = x->finding;
	struct text values = { 0 };
	if (!f) return;
	text_string(t, "\n    ");
	style_begin(t, s, STYLE_RED);
	name_plain(t, f->message ? f->message : "fails");
	style_end(t, s);
	name_values(&values, r, f);
	if (values.length) {
		text_string(t, f->message ? ", where " : " with ");
		style_fit(t, text_get(&values), VALUES_WIDTH * s->width);
	}
	text_free(&values);
	text_char(t, '\n');
	if (x->source_line) print_source(t, x->source_line);
}

void report_anomaly(struct text *t, const struct style *s, const char *anomaly,
                    enum level forbidden_by)
{
	assert(forbidden_by <= LEVEL_COUNT);
	if (anomaly) {
		text_string(t, strchr("aeio", anomaly[0]) ? "This is an "
		                                          : "This is a ");
		style_words(t, s, STYLE_YELLOW, anomaly);
		text_string(t, ". ");
	}
	if (forbidden_by < LEVEL_COUNT)
		text_format(t, "The weakest level that forbids it is %s (%s).",
		            level_name(forbidden_by), level_word(forbidden_by));
}

const char *report_serializable(void)
{
	return "This history is serializable, so it happens at every isolation "
	       "level.";
}

static void print_anomaly(struct text *t, const struct style *s,
                          const struct result_example *x)
{
	text_string(t, "\n  ");
	if (x->serializable) {
		text_format(t, "%s\n", report_serializable());
		return;
	}
	report_anomaly(t, s, x->anomaly, x->forbidden_by);
	text_char(t, '\n');
	if (!x->cycle.count) return;
	text_string(t, "  It is not serializable: a serial order would need\n");
	report_cycle(t, x->history, &x->cycle, INDENT);
}

void report_confirmation(struct text *t, const struct style *s,
                         const struct result_confirmation *c)
{
	enum { STATEMENT_LEAST = 30, RESULT_LEAST = 30 };
	size_t names = 0, most = 0;
	if (!c->words) return;
	text_string(t, "\n  ");
	style_words(t, s, c->confirmed ? STYLE_RED : STYLE_YELLOW, c->words);
	text_string(t, c->line_count ? ":\n" : "\n");
	for (uint32_t i = 0; i < c->line_count; i++) {
		size_t n = style_columns(c->lines[i].label);
		size_t m = style_columns(c->lines[i].words);
		if (n > names) names = n;
		if (m > most) most = m;
	}
	size_t room = s->width > INDENT + names + 4 + RESULT_LEAST
	                      ? s->width - INDENT - names - 4 - RESULT_LEAST
	                      : STATEMENT_LEAST;
	if (most > room) most = room;
	for (uint32_t i = 0; i < c->line_count; i++) {
		const struct result_line *l = &c->lines[i];
		size_t at = style_columns(l->words);
		text_pad(t, ' ', INDENT);
		style_words(t, s, STYLE_BOLD, l->label);
		text_pad(t, ' ', names + 2 - style_columns(l->label));
		style_fit(t, l->words, most);
		text_pad(t, ' ', most + 2 - (at < most ? at : most));
		style_fit(t, l->number, RESULT_LEAST + room - most);
		text_char(t, '\n');
	}
}

static void print_example(struct text *t, const struct style *s,
                          const struct result *r,
                          const struct result_example *x)
{
	assert(x->history->transaction_count);
	text_char(t, '\n');
	if (x->compared) print_changes(t, s, x);
	if (x->history->transaction_count == 1) /* init */
		text_string(t, "    no transaction was begun\n");
	else
		report_counterexample(t, s, r->program, x->history, INDENT);
	print_schedule(t, s, x);
	print_finding(t, s, r, x);
	print_anomaly(t, s, x);
	report_confirmation(t, s, &x->confirmation);
}

void report_violation(struct text *t, const struct style *s,
                      const struct result *r, const struct result_assertion *a)
{
	const struct result_example *x = &a->example;
	assert(a->where && a->shown_by < r->assertion_count);
	text_char(t, '\n');
	print_heading(t, s, r, a);
	text_format(t, "  %s\n", a->where);
	if (x->history && &r->assertions[a->shown_by] == a) {
		print_example(t, s, r, x);
	} else if (x->history) {
		const struct result_assertion *b = &r->assertions[a->shown_by];
		text_format(t, "    the history shown for: %s", b->text);
		if (b->slot == a->slot) {
			text_string(t, " at ");
			name_position(t, b->at);
		}
		text_char(t, '\n');
		print_finding(t, s, r, x);
	}
	if (a->repeat)
		text_format(t, "\n  To repeat this run: %s\n", a->repeat);
}
