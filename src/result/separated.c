#include "result/separated.h"

#include <assert.h>

#include "base/memory.h"
#include "history/history.h"
#include "result/names.h"
#include "result/numbers.h"
#include "result/parts.h"

static bool is_mix(unsigned levels)
{
	return levels & (levels - 1);
}

static void side_words(struct text *t, unsigned levels, const char *between)
{
	bool begun = false;
	assert(levels && levels < 1u << LEVEL_COUNT);
	for (enum level l = 0; l < LEVEL_COUNT; l++) {
		if (!(levels >> l & 1)) continue;
		if (begun) text_string(t, between);
		text_string(t, level_word(l));
		begun = true;
	}
}

static void name_side(struct text *t, unsigned levels)
{
	if (!is_mix(levels)) {
		name_level(t, separate_others(levels));
		return;
	}
	text_string(t, "a mix of ");
	side_words(t, levels, " and ");
}

static void name_limits(struct text *t, const struct separate_options *o)
{
	text_string(t, "up to ");
	number_plural(t, o->max_transactions, "transaction", "transactions");
	text_string(t, " and ");
	number_plural(t, o->max_events, "event", "events");
	if (o->locks) text_string(t, ", with reads that lock");
	if (o->statements)
		text_string(t, ", with statements of several events");
}

/* Of the way's history, under the side that forbids it. */
/* The usual name of what the history shows, or NULL. */
static const char *anomaly_of(const struct separated *s, int way)
{
	unsigned no = s->options.sides[!way];
	enum level by;
	assert(s->ways[way].history);
	return is_mix(no) ? NULL
	                  : anomaly_name_under(separate_others(no),
	                                       s->ways[way].history, &by);
}

/* A line: "a.1 Wx; a.2 Rx=init | b.1 Wx". A read that locks has its letter, one
 * that joins the statement before it a plus sign. */
static void history_words(struct text *t, const struct history *h)
{
	for (uint32_t i = 1; i < h->transaction_count; i++) {
		const struct transaction *x = &h->transactions[i];
		if (i > 1) text_string(t, x->index ? "; " : " | ");
		name_transaction_short(t, h, i);
		if (x->own) text_format(t, " at %s", own_level_word(x->own));
		if (x->aborted) text_string(t, " aborted");
		for (uint32_t e = 0; e < x->event_count; e++) {
			const struct event *v = &x->events[e];
			text_format(t, " %s%s%s", v->joined ? "+" : "",
			            v->kind == EVENT_WRITE ? "W" : "R",
			            h->keys[v->key].name);
			if (v->kind == EVENT_WRITE) continue;
			text_format(t, "%s%s=",
			            *strength_letter(v->strength) ? "/" : "",
			            strength_letter(v->strength));
			name_transaction_short(t, h, v->from);
		}
	}
}

/* ---- the document ---- */

/* Of a mix: who has which level. */
static void name_levels_of(struct text *t, const struct separated *x,
                           const struct history *h)
{
	unsigned mix = x->options.sides[0];
	if (!is_mix(mix)) mix = x->options.sides[1];
	if (!is_mix(mix)) return;
	for (uint32_t i = 1; i < h->transaction_count; i++) {
		own_level own = h->transactions[i].own;
		if (i > 1) text_string(t, ", ");
		name_transaction_short(t, h, i);
		text_format(t, " runs at %s",
		            own ? own_level_word(own)
		                : level_word(separate_others(mix)));
	}
}

/* "Snapshot Isolation (si) allows what Serializability (ser) forbids" */
static void name_way(struct text *t, const struct separated *s, int way,
                     const char *what)
{
	name_side(t, s->options.sides[way]);
	text_format(t, " allows %s ", what);
	name_side(t, s->options.sides[!way]);
	text_string(t, " forbids");
}

/* With a history. */
static void fill_found(struct result *r, const struct separated *s, int way,
                       struct result_part *p)
{
	const struct separation *w = &s->ways[way];
	struct text words = { 0 };
	name_way(&words, s, way, "what");
	p->title = result_words(r, &words);
	text_format(&words, "%s, in ", p->title);
	number_plural(&words, w->transactions, "transaction", "transactions");
	text_string(&words, " and ");
	number_plural(&words, w->events, "event", "events");
	p->heading = result_words(r, &words);
	p->anomaly = anomaly_of(s, way);
	name_levels_of(&words, s, w->history);
	if (words.length) p->levels = result_words(r, &words);
	name_side(&words, s->options.sides[!way]);
	text_string(&words, " would need an order with");
	p->cycle_leads = result_words(r, &words);
	p->cycle = result_cycle_of(r, separate_others(s->options.sides[!way]),
	                           s->ways[way].history);
	p->history = w->history;
	text_free(&words);
}

static void fill_none(struct result *r, const struct separated *s, int way,
                      struct result_part *p)
{
	struct text words = { 0 };
	name_way(&words, s, way, "nothing that");
	if (s->ways[way].implied) {
		text_string(&words, ", however large");
	} else {
		text_string(&words, ", ");
		name_limits(&words, &s->options);
		if (s->stop)
			text_format(&words, ", as far as the search went: %s",
			            stop_text(s->stop));
	}
	p->heading = result_words(r, &words);
	text_free(&words);
}

static void add_values(struct result *r, struct result_values *to,
                       const struct separated *s, int way,
                       const struct result_part *p)
{
	const struct separation *w = &s->ways[way];
	struct text words = { 0 };
	side_words(&words, s->options.sides[way], "+");
	result_taken(r, to, "allows", &words);
	side_words(&words, s->options.sides[!way], "+");
	result_taken(r, to, "forbids", &words);
	result_flag(r, to, "implied", w->implied);
	if (p->history) {
		result_count(r, to, "transactions", w->transactions);
		result_count(r, to, "events", w->events);
		result_text(r, to, "anomaly", p->anomaly);
		history_words(&words, p->history);
		result_taken(r, to, "words", &words);
		history_print_canonical(&words, p->history);
		result_json(r, to, "history", &words);
		result_cycle(r, result_list(r, to, "cycle"), p->history,
		             &p->cycle);
		result_steps(r, to, p->history, NULL, NULL);
	} else {
		result_text(r, to, "history", NULL);
	}
	text_free(&words);
}

static void add_parts(struct result *r, const struct separated *s)
{
	struct result_values *ways =
		result_list(r, &r->findings, "separations");
	r->parts_lead = true;
	for (int way = 0; way < 2; way++) {
		struct result_part *p = result_part(r);
		if (s->ways[way].history)
			fill_found(r, s, way, p);
		else
			fill_none(r, s, way, p);
		add_values(r, result_group(r, ways, NULL), s, way, p);
	}
}

static void add_counts(struct result *r, const struct separated *s)
{
	struct result_values *stats = result_group(r, &r->measures, "stats");
	struct text words = { 0 };
	result_count(r, stats, "histories", s->histories);
	result_seconds(r, stats, "seconds", s->seconds);
	text_char(&words, '\n');
	number_plural(&words, s->histories, "history", "histories");
	text_string(&words, " in ");
	number_seconds(&words, s->seconds);
	text_char(&words, '\n');
	r->closing = result_words(r, &words);
	text_free(&words);
}

static void add_reason(struct result *r, const struct separated *s)
{
	struct text words = { 0 };
	for (int way = 0; way < 2; way++) {
		side_words(&words, s->options.sides[way], "+");
		text_format(&words, " allows %s that ",
		            s->ways[way].history ? "a history" : "none");
		side_words(&words, s->options.sides[!way], "+");
		text_string(&words, way ? " forbids" : " forbids, ");
	}
	if (s->stop) text_format(&words, "; %s", stop_text(s->stop));
	r->reason = result_words(r, &words);
	text_free(&words);
}

struct result *result_of_separation(const struct separated *s)
{
	const struct separate_options *o = &s->options;
	struct result *r = result_new(NULL, LEVEL_COUNT);
	struct text words = { 0 };
	struct result_values *sides = result_list(r, &r->settings, "levels");
	for (int i = 0; i < 2; i++) {
		side_words(&words, o->sides[i], "+");
		result_taken(r, sides, NULL, &words);
	}
	result_count(r, &r->settings, "max_transactions", o->max_transactions);
	result_count(r, &r->settings, "max_events", o->max_events);
	result_flag(r, &r->settings, "locks", o->locks);
	result_flag(r, &r->settings, "statements", o->statements);
	r->verdict = s->stop ? VERDICT_INCONCLUSIVE : VERDICT_HOLDS;
	add_reason(r, s);
	result_text(r, &r->findings, "stop", stop_word(s->stop));
	add_parts(r, s);
	add_counts(r, s);
	text_free(&words);
	return r;
}
