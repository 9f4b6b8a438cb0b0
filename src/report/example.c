#include "report/example.h"

#include <string.h>

#include "axioms/level.h"
#include "dpor/explorer.h"
#include "history/history.h"
#include "report/counterexample.h"
#include "report/explain.h"
#include "report/json.h"
#include "report/json_members.h"
#include "report/names.h"
#include "vm/machine.h"
#include "vm/program.h"

enum {
	INDENT = 4, /* of the table */
	SOURCE_WIDTH = 100,
	VALUES_WIDTH = 40 /* times the width: lines of values */
};

struct example explored_example(const struct explorer *e, uint32_t slot)
{
	const struct explore_violation *v = explorer_violation(e, slot);
	return (struct example){ explorer_program(e), slot, v->example,
		                 v->finding };
}

bool example_same(const struct example *a, const struct example *b)
{
	struct text one = { 0 }, other = { 0 };
	if (!a->history || !b->history) return false;
	history_print_canonical(&one, a->history);
	history_print_canonical(&other, b->history);
	bool same = !strcmp(text_get(&one), text_get(&other));
	text_free(&one);
	text_free(&other);
	return same;
}

static struct position place_of(const struct example *x)
{
	return name_program_slot_position(x->program, x->slot, x->finding);
}

/* Where the example fails. The code of a final assertion in C is no place in a
 * session: then where that is declared. */
static struct position failing_place(const struct example *x)
{
	const struct program *p = x->program;
	if (x->slot < program_assertion_count(p) && program_is_native(p) &&
	    program_assertion(p, x->slot)->kind == ASSERTION_FINAL)
		return place_of(x);
	return program_position(p, x->finding->point);
}

/* ---- in words ---- */

void report_slot_line(struct text *t, const struct style *s,
                      const struct example *x, enum style_mark mark,
                      const char *says)
{
	struct text place = { 0 }, words = { 0 };
	name_position(&place, place_of(x));
	name_program_slot(&words, x->program, x->slot);
	text_string(t, "  ");
	style_words(t, s, mark, says);
	size_t used = 2 + strlen(says) + 2 + style_columns(text_get(&place));
	size_t room = s->width > used + 20 ? s->width - used : 20;
	style_fit(t, text_get(&words), room);
	if (place.length) {
		text_string(t, "  ");
		style_words(t, s, STYLE_DIM, text_get(&place));
	}
	text_char(t, '\n');
	text_free(&place);
	text_free(&words);
}

void report_slot_heading(struct text *t, const struct style *s,
                         const struct example *x)
{
	const struct program *p = x->program;
	struct position at = place_of(x);
	style_begin(t, s, STYLE_RED);
	name_program_slot(t, p, x->slot);
	style_end(t, s);
	text_char(t, '\n');
	if (!at.file) return;
	text_string(t, "  at ");
	style_begin(t, s, STYLE_BOLD);
	name_position(t, at);
	style_end(t, s);
	if (x->slot < program_assertion_count(p) && !program_is_native(p) &&
	    program_assertion(p, x->slot)->message) {
		text_string(t, ": ");
		text_string(t, program_assertion(p, x->slot)->message);
	}
	text_char(t, '\n');
}

/* The line of source, without its indentation. */
static void print_source(struct text *t, struct position at)
{
	const char *line = at.source_line;
	if (!line) return;
	while (*line == ' ' || *line == '\t') line++;
	if (!*line) return;
	text_string(t, "      ");
	style_fit(t, line, SOURCE_WIDTH);
	text_char(t, '\n');
}

/* Assertions in C go by their message: what they check is in the source. Where
 * a final one is declared, there is no more than its message. */
static bool source_tells(const struct example *x)
{
	const struct program *p = x->program;
	if (x->slot == program_assertion_count(p)) return true;
	return program_is_native(p) &&
	       program_assertion(p, x->slot)->kind == ASSERTION_INLINE;
}

/* The place is told by the heading, except that the source is worth a line here
 * if it says more than the heading. */
static void print_finding(struct text *t, const struct style *s,
                          const struct example *x)
{
	const struct finding *f = x->finding;
	if (!f) return;
	text_string(t, "\n    ");
	style_begin(t, s, STYLE_RED);
	name_plain(t, f->message ? f->message : "fails");
	style_end(t, s);
	if (f->value_count) {
		struct text values = { 0 };
		name_finding_values(&values, f);
		text_string(t, f->message ? ", where " : " with ");
		style_fit(t, text_get(&values), VALUES_WIDTH * s->width);
		text_free(&values);
	}
	text_char(t, '\n');
	if (source_tells(x))
		print_source(t, program_position(x->program, f->point));
}

static void print_cycle(struct text *t, const struct history *h)
{
	struct witness w;
	if (!level_witness(LEVEL_SERIAL, h, &w)) return;
	text_string(t, "  It is not serializable: a serial order would need\n");
	explain_cycle(t, h, &w, INDENT);
	witness_free(&w);
}

static void print_anomaly(struct text *t, const struct style *s,
                          const struct history *h)
{
	enum level by = LEVEL_COUNT;
	if (level_allows_history(LEVEL_SERIAL, h)) {
		text_string(t, "\n  This history is serializable, so it "
		               "happens at every isolation level.\n");
		return;
	}
	const char *name = anomaly_name(h, &by);
	text_string(t, "\n  ");
	if (name) {
		text_string(t, strchr("aeio", name[0]) ? "This is an "
		                                       : "This is a ");
		style_words(t, s, STYLE_YELLOW, name);
		text_string(t, ". ");
	}
	if (by < LEVEL_COUNT)
		text_format(t, "The weakest level that forbids it is %s (%s).",
		            level_name(by), level_word(by));
	text_char(t, '\n');
	print_cycle(t, h);
}

void report_example(struct text *t, const struct style *s,
                    const struct example *x)
{
	if (x->history->transaction_count == 1) /* init */
		text_string(t, "    no transaction was begun\n");
	else
		report_counterexample(t, s, x->history, INDENT);
	print_finding(t, s, x);
	print_anomaly(t, s, x->history);
}

void report_example_again(struct text *t, const struct style *s,
                          const struct example *x, uint32_t shown)
{
	text_string(t, "    the history shown for: ");
	name_program_slot(t, x->program, shown);
	text_char(t, '\n');
	print_finding(t, s, x);
}

/* ---- as JSON ---- */

/* Of native code its text is the message. */
static void print_message(struct text *t, const struct program *p,
                          uint32_t slot)
{
	const struct assertion *a = program_assertion(p, slot);
	struct text words = { 0 };
	if (program_is_native(p)) {
		name_plain(&words, a->text);
		json_member_taken(t, "message", &words);
	} else {
		json_member_text(t, "message", a->message);
	}
	text_free(&words);
}

void report_slot_json(struct text *t, const struct example *x)
{
	const struct program *p = x->program;
	struct text words = { 0 };
	name_program_slot(&words, p, x->slot);
	json_name(t, "text");
	json_text(t, text_get(&words));
	json_member_text(t, "kind", name_slot_kind(p, x->slot));
	if (x->slot < program_assertion_count(p)) print_message(t, p, x->slot);
	json_member_position(t, place_of(x));
	text_free(&words);
}

static void print_edge(struct text *t, const struct history *h,
                       const struct witness_edge *e)
{
	struct text words = { 0 };
	name_transaction(&words, h, e->from);
	json_name(t, "from");
	json_text(t, text_get(&words));
	text_clear(&words);
	name_transaction(&words, h, e->to);
	json_member_taken(t, "to", &words);
	explain_edge_label(&words, h, e);
	json_member_taken(t, "reason", &words);
	explain_edge(&words, h, e);
	json_member_taken(t, "words", &words);
	text_free(&words);
}

static void print_witness(struct text *t, const struct history *h)
{
	struct witness w;
	text_string(t, ",\"cycle\":[");
	if (level_witness(LEVEL_SERIAL, h, &w)) {
		for (uint32_t i = 0; i < w.count; i++) {
			text_string(t, i ? ",{" : "{");
			print_edge(t, h, &w.edges[i]);
			text_char(t, '}');
		}
		witness_free(&w);
	}
	text_char(t, ']');
}

static void print_order(struct text *t, const struct history *h)
{
	struct text words = { 0 };
	text_string(t, ",\"order\":[");
	for (uint32_t i = 1; i < h->transaction_count; i++) {
		if (i > 1) text_char(t, ',');
		name_transaction(&words, h, h->order ? h->order[i] : i);
		json_text(t, text_get(&words));
		text_clear(&words);
	}
	text_char(t, ']');
	text_free(&words);
}

static void print_failure(struct text *t, const struct example *x)
{
	const struct finding *f = x->finding;
	text_string(t, ",\"failure\":{\"values\":{");
	for (uint32_t i = 0; i < f->value_count; i++) {
		if (i) text_char(t, ',');
		json_name(t, f->values[i].name);
		value_print_json(t, f->values[i].value);
	}
	text_char(t, '}');
	if (f->message) json_member_text(t, "message", f->message);
	json_member_position(t, failing_place(x));
	text_char(t, '}');
}

void report_example_json(struct text *t, const struct example *x,
                         const char *more)
{
	const struct history *h = x->history;
	bool serializable = level_allows_history(LEVEL_SERIAL, h);
	enum level by = LEVEL_COUNT;
	const char *name = serializable ? NULL : anomaly_name(h, &by);
	text_string(t, "{\"history\":1,");
	history_print_members(t, h);
	print_order(t, h);
	text_string(t, more);
	if (x->finding) print_failure(t, x);
	json_member_text(t, "anomaly", name);
	json_member_text(t, "forbidden_by",
	                 by < LEVEL_COUNT ? level_word(by) : NULL);
	print_witness(t, h);
	text_char(t, '}');
}
