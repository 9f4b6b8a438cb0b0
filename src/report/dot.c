#include "report/dot.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "axioms/level.h"
#include "base/memory.h"
#include "history/history.h"
#include "report/explain.h"
#include "report/names.h"
#include "report/style.h"

enum {
	LINE_COLUMNS = 44, /* of text in a box */
	EVENTS_SHOWN = 24  /* per transaction */
};

/* Text inside a quoted label: quotes and backslashes escaped. */
static void quote(struct text *t, const char *words)
{
	for (; *words; words++) {
		if (*words == '"' || *words == '\\') text_char(t, '\\');
		text_char(t, *words == '\n' ? ' ' : *words);
	}
}

/* One left-aligned line of a box. */
static void label_line(struct text *t, const struct text *words)
{
	struct text cut = { 0 };
	style_fit(&cut, text_get(words), LINE_COLUMNS);
	quote(t, text_get(&cut));
	text_string(t, "\\l");
	text_free(&cut);
}

static void event_words(struct text *t, const struct history *h,
                        const struct event *e)
{
	text_string(t, e->kind == EVENT_READ ? "read " : "write ");
	name_key(t, h, e->key);
	text_string(t, " = ");
	value_print(t, e->value);
}

static void print_box(struct text *t, const struct history *h, uint32_t i,
                      bool on_cycle)
{
	const struct transaction *x = &h->transactions[i];
	struct text words = { 0 };
	text_format(t, "    t%" PRIu32 " [label=\"", i);
	name_transaction(&words, h, i);
	if (x->aborted) text_string(&words, " (aborted)");
	label_line(t, &words);
	for (uint32_t e = 0; e < x->event_count && e < EVENTS_SHOWN; e++) {
		text_clear(&words);
		text_string(&words, "  ");
		event_words(&words, h, &x->events[e]);
		label_line(t, &words);
	}
	if (x->event_count > EVENTS_SHOWN)
		text_format(t, "  … %" PRIu32 " more\\l",
		            x->event_count - EVENTS_SHOWN);
	text_char(t, '"');
	if (on_cycle) text_string(t, ", color=\"#c0392b\", penwidth=2");
	if (x->aborted) text_string(t, ", style=\"filled,dashed\"");
	text_string(t, "];\n");
	text_free(&words);
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

static void print_lane(struct text *t, const struct history *h, uint32_t s,
                       const struct witness *w)
{
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
		print_box(t, h, lane->first + i,
		          on_cycle(w, lane->first + i));
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

/* The keys that `to` reads from `from`, commas between; false if none. */
static bool keys_read(struct text *t, const struct history *h, uint32_t from,
                      uint32_t to)
{
	const struct transaction *x = &h->transactions[to];
	size_t before = t->length;
	for (uint32_t e = 0; e < x->event_count; e++) {
		const struct event *v = &x->events[e];
		if (v->kind != EVENT_READ || v->from != from) continue;
		bool repeated = false;
		for (uint32_t f = 0; f < e; f++)
			repeated |= x->events[f].kind == EVENT_READ &&
			            x->events[f].from == from &&
			            x->events[f].key == v->key;
		if (repeated) continue;
		if (t->length > before) text_string(t, ", ");
		name_key(t, h, v->key);
	}
	return t->length > before;
}

static void print_reads(struct text *t, const struct history *h,
                        const struct witness *w)
{
	struct text keys = { 0 }, cut = { 0 };
	for (uint32_t to = 1; to < h->transaction_count; to++) {
		for (uint32_t from = 0; from < h->transaction_count; from++) {
			text_clear(&keys);
			text_clear(&cut);
			if (!keys_read(&keys, h, from, to) ||
			    cycle_has(w, from, to, REASON_WR))
				continue;
			style_fit(&cut, text_get(&keys), LINE_COLUMNS);
			text_format(t,
			            "  t%" PRIu32 " -> t%" PRIu32
			            " [color=\"#2471a3\", "
			            "fontcolor=\"#2471a3\", label=\"wr ",
			            from, to);
			quote(t, text_get(&cut));
			text_string(t, "\"];\n");
		}
	}
	text_free(&keys);
	text_free(&cut);
}

static void print_cycle(struct text *t, const struct history *h,
                        const struct witness *w)
{
	struct text words = { 0 };
	for (uint32_t i = 0; i < w->count; i++) {
		const struct witness_edge *e = &w->edges[i];
		bool derived = e->reason != REASON_SO && e->reason != REASON_WR;
		text_clear(&words);
		explain_edge_label(&words, h, e);
		text_format(t,
		            "  t%" PRIu32 " -> t%" PRIu32
		            " [color=\"#c0392b\", fontcolor=\"#c0392b\", "
		            "penwidth=2%s, label=\"",
		            e->from, e->to,
		            derived ? ", style=dashed, constraint=false" : "");
		quote(t, text_get(&words));
		text_string(t, "\"];\n");
	}
	text_free(&words);
}

static bool init_is_read(const struct history *h)
{
	for (uint32_t i = 1; i < h->transaction_count; i++) {
		const struct transaction *x = &h->transactions[i];
		for (uint32_t e = 0; e < x->event_count; e++)
			if (x->events[e].kind == EVENT_READ &&
			    x->events[e].from == HISTORY_INIT)
				return true;
	}
	return false;
}

static void print_picture(struct text *t, const struct history *h,
                          const char *title, const struct witness *w)
{
	text_string(t, "digraph history {\n  label=\"");
	if (title) quote(t, title);
	text_string(t,
	            "\"; labelloc=t; fontname=\"Helvetica\"; rankdir=TB;\n"
	            "  node [shape=box, style=filled, fillcolor=white, "
	            "fontname=\"Courier\", fontsize=11];\n"
	            "  edge [fontname=\"Helvetica\", fontsize=10];\n");
	if (init_is_read(h) || on_cycle(w, HISTORY_INIT))
		text_format(t, "  t0 [label=\"init\", shape=ellipse%s];\n",
		            on_cycle(w, HISTORY_INIT)
		                ? ", color=\"#c0392b\", penwidth=2"
		                : "");
	for (uint32_t s = 0; s < h->session_count; s++) print_lane(t, h, s, w);
	print_session_order(t, h, w);
	print_reads(t, h, w);
	print_cycle(t, h, w);
	text_string(t, "}\n");
}

void report_dot(struct text *t, const struct history *h, const char *title,
                const struct witness *cycle)
{
	struct witness w = { 0 };
	if (cycle) {
		print_picture(t, h, title, cycle);
		return;
	}
	if (!level_witness(LEVEL_SER, h, &w)) {
		print_picture(t, h, title, &(struct witness){ 0 });
		return;
	}
	print_picture(t, h, title, &w);
	witness_free(&w);
}
