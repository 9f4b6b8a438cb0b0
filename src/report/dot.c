/* A picture of a history, in the language of Graphviz. */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "axioms/witness.h"
#include "base/memory.h"
#include "history/history.h"
#include "result/witness_words.h"
#include "report/report.h"
#include "result/names.h"
#include "result/result.h"
#include "report/style.h"

enum {
	LINE_COLUMNS = 80, /* of text in a box; what is longer goes on below */
	KEYS_COLUMNS = 44, /* of the keys at an arrow, unless one is longer */
	EVENTS_SHOWN = 24  /* per transaction */
};

static const char changed_colour[] = "#ca6f1e";

/* What is drawn. */
struct picture {
	const struct history *h;
	const struct witness *w; /* its cycle */
	const struct result_changes *changes;
	size_t *first_event; /* by transaction: where its events begin in */
	bool *changed;       /* by event of all: is it one of the changes? */
};

static void mark_changes(struct picture *p)
{
	const struct history *h = p->h;
	size_t count = 0;
	p->first_event = mem_take0(h->transaction_count + (size_t)1,
	                           sizeof *p->first_event);
	for (uint32_t i = 0; i < h->transaction_count; i++) {
		p->first_event[i] = count;
		count += h->transactions[i].event_count;
	}
	p->changed = mem_take0(count + 1, sizeof *p->changed);
	for (uint32_t i = 0; i < p->changes->count; i++) {
		const struct result_change *c = &p->changes->items[i];
		p->changed[p->first_event[c->reader] + c->event] = true;
	}
}

static bool is_changed(const struct picture *p, uint32_t reader, uint32_t event)
{
	assert(event < p->h->transactions[reader].event_count);
	return p->changed[p->first_event[reader] + event];
}

static bool has_changes(const struct picture *p, uint32_t reader)
{
	for (uint32_t i = 0; i < p->changes->count; i++)
		if (p->changes->items[i].reader == reader) return true;
	return false;
}

/* Text inside a quoted label: quotes and backslashes escaped. */
static void quote(struct text *t, const char *words)
{
	for (; *words; words++) {
		if (*words == '"' || *words == '\\') text_char(t, '\\');
		text_char(t, *words == '\n' ? ' ' : *words);
	}
}

/* Text inside a label of HTML, which keeps no blanks at the beginning. */
static void quote_html(struct text *t, const char *words)
{
	for (; *words; words++) {
		switch (*words) {
		case '<': text_string(t, "&lt;"); break;
		case '>': text_string(t, "&gt;"); break;
		case '&': text_string(t, "&amp;"); break;
		case '"': text_string(t, "&quot;"); break;
		case ' ': text_string(t, "&#160;"); break;
		default:
			text_char(t,
			          (unsigned char)*words < ' ' ? '?' : *words);
		}
	}
}

static void label_part(struct text *t, const char *words, bool html,
                       bool changed)
{
	if (html) {
		if (changed)
			text_format(t, "<font color=\"%s\"><b>",
			            changed_colour);
		quote_html(t, words);
		text_string(t, changed ? "</b></font>" : "");
		text_string(t, "<br align=\"left\"/>");
	} else {
		quote(t, words);
		text_string(t, "\\l");
	}
}

/* Left-aligned in a box. */
static void label_line(struct text *t, const char *words, bool html,
                       bool changed)
{
	struct text part = { 0 };
	do {
		const char *end = style_part(words, LINE_COLUMNS);
		text_bytes(&part, words, (size_t)(end - words));
		label_part(t, text_get(&part), html, changed);
		text_clear(&part);
		text_string(&part, "    ");
		words = end;
	} while (*words);
	text_free(&part);
}

static void event_words(struct text *t, const struct history *h,
                        const struct event *e)
{
	text_string(t, "  ");
	name_event(t, h, e);
}

/* The lines of a box, of HTML where one of them has a colour. */
static void print_label(struct text *t, const struct picture *p, uint32_t i)
{
	assert(i && i < p->h->transaction_count);
	const struct transaction *x = &p->h->transactions[i];
	bool html = has_changes(p, i);
	struct text words = { 0 };
	uint32_t hidden = 0;
	text_char(t, html ? '<' : '"');
	name_transaction_at(&words, p->h, i);
	if (x->aborted) text_string(&words, " (aborted)");
	label_line(t, text_get(&words), html, false);
	for (uint32_t e = 0; e < x->event_count; e++) {
		bool changed = is_changed(p, i, e);
		if (e >= EVENTS_SHOWN && !changed) {
			hidden++;
			continue;
		}
		text_clear(&words);
		event_words(&words, p->h, &x->events[e]);
		label_line(t, text_get(&words), html, changed);
	}
	text_clear(&words);
	if (hidden) {
		text_format(&words, "  … %" PRIu32 " more", hidden);
		label_line(t, text_get(&words), html, false);
	}
	text_char(t, html ? '>' : '"');
	text_free(&words);
}

static void print_box(struct text *t, const struct picture *p, uint32_t i,
                      bool on_cycle)
{
	text_format(t, "    t%" PRIu32 " [label=", i);
	print_label(t, p, i);
	if (on_cycle) text_string(t, ", color=\"#c0392b\", penwidth=2");
	if (p->h->transactions[i].aborted)
		text_string(t, ", style=\"filled,dashed\"");
	text_string(t, "];\n");
}

static bool on_cycle(const struct witness *w, uint32_t i)
{
	for (uint32_t e = 0; e < w->count; e++)
		if (w->edges[e].from == i) return true;
	return false;
}

/* An edge of the cycle says what a plain so or wr arrow would. */
static bool cycle_has(const struct witness *w, uint32_t from, uint32_t to,
                      enum reason_kind reason)
{
	for (uint32_t e = 0; e < w->count; e++)
		if (w->edges[e].from == from && w->edges[e].to == to &&
		    w->edges[e].reason == reason)
			return true;
	return false;
}

static void print_lane(struct text *t, const struct picture *p, uint32_t s)
{
	assert(s < p->h->session_count);
	const struct history *h = p->h;
	const struct history_session *lane = &h->sessions[s];
	if (!lane->count) return;
	struct text name = { 0 };
	name_session(&name, h, s);
	text_format(t, "  subgraph cluster_%" PRIu32 " {\n    label=\"", s);
	quote(t, text_get(&name));
	text_free(&name);
	text_string(t, "\"; style=\"rounded,filled\"; color=\"#eef2f7\"; "
	               "fontcolor=\"#34495e\";\n");
	for (uint32_t i = 0; i < lane->count; i++)
		print_box(t, p, lane->first + i,
		          on_cycle(p->w, lane->first + i));
	text_string(t, "  }\n");
}

static void print_session_order(struct text *t, const struct history *h,
                                const struct witness *w)
{
	for (uint32_t s = 0; s < h->session_count; s++) {
		const struct history_session *lane = &h->sessions[s];
		for (uint32_t i = 1; i < lane->count; i++) {
			uint32_t to = lane->first + i;
			if (cycle_has(w, to - 1, to, REASON_SO)) continue;
			text_format(t,
			            "  t%" PRIu32 " -> t%" PRIu32
			            " [color=\"#7f8c8d\", label=\"so\", "
			            "weight=8];\n",
			            to - 1, to);
		}
	}
}

/* Does event e of `to` read from `from`, changed or not as asked for? What the
 * cycle tells of changed reads is left out. */
static bool counts(const struct picture *p, uint32_t from, uint32_t to,
                   uint32_t e, bool changed)
{
	const struct event *v = &p->h->transactions[to].events[e];
	if (v->kind != EVENT_READ || v->from != from ||
	    is_changed(p, to, e) != changed)
		return false;
	for (uint32_t i = 0; changed && i < p->w->count; i++)
		if (p->w->edges[i].from == from && p->w->edges[i].to == to &&
		    p->w->edges[i].reason == REASON_WR &&
		    p->w->edges[i].key == v->key)
			return false;
	return true;
}

/* Adds it to those at an arrow; `columns`: of their last line. */
static void add_key(struct text *keys, size_t *columns, const struct history *h,
                    uint32_t key)
{
	struct text name = { 0 };
	name_key(&name, h, key);
	size_t n = style_columns(text_get(&name));
	if (*columns && *columns + 2 + n > KEYS_COLUMNS) {
		text_string(keys, ",\\n");
		*columns = 0;
	} else if (*columns) {
		text_string(keys, ", ");
		*columns += 2;
	}
	quote(keys, text_get(&name));
	*columns += n;
	text_free(&name);
}

/* The keys that `to` reads from `from`, commas between; false if none. */
static bool keys_read(struct text *t, const struct picture *p, uint32_t from,
                      uint32_t to, bool changed)
{
	const struct transaction *x = &p->h->transactions[to];
	size_t columns = 0;
	for (uint32_t e = 0; e < x->event_count; e++) {
		if (!counts(p, from, to, e, changed)) continue;
		bool repeated = false;
		for (uint32_t f = 0; f < e; f++)
			repeated |= x->events[f].key == x->events[e].key &&
			            counts(p, from, to, f, changed);
		if (!repeated) add_key(t, &columns, p->h, x->events[e].key);
	}
	return columns > 0;
}

/* An arrow that is labelled with a word and keys, which add_key made. */
static void print_arrow(struct text *t, uint32_t from, uint32_t to,
                        const char *colour, const char *look, const char *word,
                        const struct text *keys)
{
	text_format(t,
	            "  t%" PRIu32 " -> t%" PRIu32
	            " [color=\"%s\", fontcolor=\"%s\"%s, label=\"%s ",
	            from, to, colour, colour, look, word);
	text_string(t, text_get(keys));
	text_string(t, "\"];\n");
}

static void print_reads(struct text *t, const struct picture *p)
{
	struct text keys = { 0 };
	for (uint32_t to = 1; to < p->h->transaction_count; to++) {
		for (uint32_t from = 0; from < p->h->transaction_count;
		     from++) {
			text_clear(&keys);
			if (!cycle_has(p->w, from, to, REASON_WR) &&
			    keys_read(&keys, p, from, to, false))
				print_arrow(t, from, to, "#2471a3", "", "wr",
				            &keys);
			text_clear(&keys);
			if (has_changes(p, to) &&
			    keys_read(&keys, p, from, to, true))
				print_arrow(t, from, to, changed_colour,
				            ", penwidth=2", "wr", &keys);
		}
	}
	text_free(&keys);
}

static uint32_t changed_key(const struct picture *p, uint32_t change)
{
	const struct result_change *c = &p->changes->items[change];
	return p->h->transactions[c->reader].events[c->event].key;
}

/* Is there a change before this one, of the same reader and observed writer;
 * if `same_key`, of the same key too? */
static bool is_repeated(const struct picture *p, uint32_t change, bool same_key)
{
	assert(change < p->changes->count);
	const struct result_change *c = &p->changes->items[change];
	for (uint32_t i = 0; i < change; i++)
		if (p->changes->items[i].reader == c->reader &&
		    p->changes->items[i].observed == c->observed &&
		    (!same_key || changed_key(p, i) == changed_key(p, change)))
			return true;
	return false;
}

/* Where changed reads were observed to read from: an arrow for all reads that
 * one transaction had from another. */
static void print_observed(struct text *t, const struct picture *p)
{
	struct text keys = { 0 };
	for (uint32_t i = 0; i < p->changes->count; i++) {
		const struct result_change *c = &p->changes->items[i];
		if (c->observed == UINT32_MAX || is_repeated(p, i, false))
			continue;
		size_t columns = 0;
		text_clear(&keys);
		add_key(&keys, &columns, p->h, changed_key(p, i));
		for (uint32_t j = i + 1; j < p->changes->count; j++) {
			if (p->changes->items[j].reader != c->reader ||
			    p->changes->items[j].observed != c->observed ||
			    is_repeated(p, j, true))
				continue;
			add_key(&keys, &columns, p->h, changed_key(p, j));
		}
		print_arrow(t, c->observed, c->reader, "#95a5a6",
		            ", style=dashed, constraint=false", "observed",
		            &keys);
	}
	text_free(&keys);
}

static bool is_derived(const struct witness_edge *e)
{
	return e->reason != REASON_SO && e->reason != REASON_WR;
}

/* Of two derived edges between the same boxes, one there and one back, Graphviz
 * draws the second over the first, label over label: one goes along the top of
 * the boxes, the other along their bottom. */
static const char *ports_of(const struct witness *w,
                            const struct witness_edge *e)
{
	bool back = false;
	for (uint32_t i = 0; i < w->count; i++)
		back |= is_derived(&w->edges[i]) && w->edges[i].from == e->to &&
		        w->edges[i].to == e->from;
	if (!back || !is_derived(e)) return "";
	return e->from < e->to ? ", tailport=n, headport=n"
	                       : ", tailport=s, headport=s";
}

static void print_cycle(struct text *t, const struct history *h,
                        const struct witness *w)
{
	struct text words = { 0 };
	for (uint32_t i = 0; i < w->count; i++) {
		const struct witness_edge *e = &w->edges[i];
		text_clear(&words);
		explain_edge_label(&words, h, e);
		text_format(t,
		            "  t%" PRIu32 " -> t%" PRIu32
		            " [color=\"#c0392b\", fontcolor=\"#c0392b\", "
		            "penwidth=2%s%s, label=\"",
		            e->from, e->to,
		            is_derived(e) ? ", style=dashed, constraint=false"
		                          : "",
		            ports_of(w, e));
		quote(t, text_get(&words));
		text_string(t, "\"];\n");
	}
	text_free(&words);
}

static bool init_is_read(const struct picture *p)
{
	const struct history *h = p->h;
	for (uint32_t i = 0; i < p->changes->count; i++)
		if (p->changes->items[i].observed == HISTORY_INIT) return true;
	for (uint32_t i = 1; i < h->transaction_count; i++) {
		const struct transaction *x = &h->transactions[i];
		for (uint32_t e = 0; e < x->event_count; e++)
			if (x->events[e].kind == EVENT_READ &&
			    x->events[e].from == HISTORY_INIT)
				return true;
	}
	return false;
}

static void print_picture(struct text *t, const struct picture *p,
                          const char *title)
{
	const struct history *h = p->h;
	const struct witness *w = p->w;
	text_string(t, "digraph history {\n  label=\"");
	quote(t, title);
	text_string(t, "\"; labelloc=t; fontname=\"Helvetica\"; rankdir=TB;\n"
	               "  node [shape=box, style=filled, fillcolor=white, "
	               "fontname=\"Courier\", fontsize=11];\n"
	               "  edge [fontname=\"Helvetica\", fontsize=10];\n");
	if (init_is_read(p) || on_cycle(w, HISTORY_INIT))
		text_format(t, "  t0 [label=\"init\", shape=ellipse%s];\n",
		            on_cycle(w, HISTORY_INIT)
		                    ? ", color=\"#c0392b\", penwidth=2"
		                    : "");
	for (uint32_t s = 0; s < h->session_count; s++) print_lane(t, p, s);
	print_session_order(t, h, w);
	print_reads(t, p);
	print_observed(t, p);
	print_cycle(t, h, w);
	text_string(t, "}\n");
}

/* Sessions are lanes, so and wr are arrows, and the cycle is red; reads that
 * were observed otherwise are orange, and where they were observed to read from
 * is dashed and grey. */
static void draw(struct text *t, const struct history *h, const char *title,
                 const struct witness *cycle,
                 const struct result_changes *changes)
{
	assert(changes->items || !changes->count);
	struct picture p = { .h = h, .w = cycle, .changes = changes };
	mark_changes(&p);
	print_picture(t, &p, title);
	free(p.first_event);
	free(p.changed);
}

bool report_picture(struct text *t, const struct result *r)
{
	for (uint32_t i = 0; i < r->part_count; i++) {
		const struct result_part *p = &r->parts[i];
		if (!p->history) continue;
		draw(t, p->history, p->title, &p->cycle, &p->changes);
		return true;
	}
	for (uint32_t i = 0; i < r->assertion_count; i++) {
		const struct result_assertion *a = &r->assertions[i];
		const struct result_example *x = &a->example;
		struct text title = { 0 };
		if (!x->history) continue;
		text_format(&title, "%s fails", a->text);
		draw(t, x->history, text_get(&title), &x->cycle, &x->changes);
		text_free(&title);
		return true;
	}
	return false;
}
