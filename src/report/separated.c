/* What tells two levels apart, in words. */
#include <assert.h>

#include "history/history.h"
#include "report/counterexample.h"
#include "report/dot.h"
#include "report/report.h"
#include "report/witness_text.h"
#include "result/names.h"
#include "result/numbers.h"
#include "result/separated.h"

enum { INDENT = 4 };

/* "Snapshot Isolation (si) allows what Serializability (ser) forbids" */
static void print_heading(struct text *t, const struct separated *s, int way,
                          const char *what)
{
	name_separate_side(t, s->options.sides[way]);
	text_format(t, " allows %s ", what);
	name_separate_side(t, s->options.sides[!way]);
	text_string(t, " forbids");
}

/* Of a mix: who has which level. */
static void print_levels(struct text *t, const struct separated *x,
                         const struct history *h)
{
	unsigned mix = x->options.sides[0];
	if (!(mix & (mix - 1))) mix = x->options.sides[1];
	if (!(mix & (mix - 1))) return;
	text_string(t, "  ");
	for (uint32_t i = 1; i < h->transaction_count; i++) {
		own_level own = h->transactions[i].own;
		if (i > 1) text_string(t, ", ");
		name_transaction_short(t, h, i);
		text_format(t, " runs at %s",
		            own ? own_level_word(own)
		                : level_word(separate_others(mix)));
	}
	text_string(t, "\n\n");
}

static void print_found(struct text *t, const struct style *s,
                        const struct separated *x, int way)
{
	const struct separation *w = &x->ways[way];
	const char *anomaly = separation_anomaly(x, way);
	struct witness cycle;
	separation_cycle(x, way, &cycle);
	print_heading(t, x, way, "what");
	text_string(t, ", in ");
	number_plural(t, w->transactions, "transaction", "transactions");
	text_string(t, " and ");
	number_plural(t, w->events, "event", "events");
	text_string(t, anomaly ? ": " : "");
	if (anomaly) style_words(t, s, STYLE_RED, anomaly);
	text_string(t, "\n\n");
	print_levels(t, x, w->history);
	report_witness_part(t, s, w->history, NULL);
	if (!cycle.count) return;
	text_char(t, '\n');
	text_string(t, "  ");
	name_separate_side(t, x->options.sides[!way]);
	text_string(t, " would need an order with\n");
	report_cycle(t, w->history, &cycle, INDENT);
	text_string(t, "  which leads back to where it began\n");
	witness_free(&cycle);
}

static void print_way(struct text *t, const struct style *s,
                      const struct separated *x, int way)
{
	const struct separation *w = &x->ways[way];
	if (w->history) {
		print_found(t, s, x, way);
		return;
	}
	print_heading(t, x, way, "nothing that");
	if (w->implied) {
		text_string(t, ", however large");
	} else {
		text_string(t, ", ");
		name_separate_limits(t, &x->options);
		if (x->stop)
			text_format(t, ", as far as the search went: %s",
			            stop_text(x->stop));
	}
	text_char(t, '\n');
}

void report_separated(struct text *t, const struct style *s,
                      const struct result *r)
{
	const struct separated *x = r->separated;
	assert(x);
	print_way(t, s, x, 0);
	text_char(t, '\n');
	print_way(t, s, x, 1);
	text_char(t, '\n');
	number_plural(t, x->histories, "history", "histories");
	text_string(t, " in ");
	number_seconds(t, x->seconds);
	text_char(t, '\n');
}

bool report_separated_picture(struct text *t, const struct result *r)
{
	const struct separated *x = r->separated;
	int way = 0;
	while (way < 2 && !x->ways[way].history) way++;
	if (way == 2) return false;
	struct text title = { 0 };
	struct witness cycle;
	separation_cycle(x, way, &cycle);
	print_heading(&title, x, way, "what");
	report_dot(t, x->ways[way].history, text_get(&title),
	           cycle.count ? &cycle : NULL);
	if (cycle.count) witness_free(&cycle);
	text_free(&title);
	return true;
}
