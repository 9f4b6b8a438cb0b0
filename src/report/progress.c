#include "report/progress.h"

#include <assert.h>

#include "dpor/explorer.h"
#include "report/forecast.h"
#include "result/numbers.h"

/* Nothing is shown of what is over at once. */
static const double FIRST = 0.5, INTERVAL = 0.25;

bool progress_due(const struct progress *p, double seconds)
{
	return p->to && seconds >= (p->shown ? p->last + INTERVAL : FIRST);
}

void progress_say(struct progress *p, double seconds, const char *words)
{
	struct text cut = { 0 };
	assert(p->to && words);
	style_fit(&cut, words, p->width > 1 ? p->width - 1 : 1);
	fprintf(p->to, "\r%s\033[K", text_get(&cut));
	fflush(p->to);
	text_free(&cut);
	p->last = seconds;
	p->shown = true;
}

static void print_so_far(struct text *line, const struct explore_stats *s,
                         uint32_t depth)
{
	assert(s->seconds > 0);
	number_plural(line, s->histories, "history", "histories");
	text_string(line, ", ");
	number_count(line, (uint64_t)((double)s->histories / s->seconds));
	text_format(line, " per second, depth %u, ", depth);
	number_seconds(line, s->seconds);
}

void progress_tick(struct progress *p, const struct explore_stats *s,
                   uint32_t depth)
{
	if (!progress_due(p, s->seconds)) return;
	struct text line = { 0 };
	if (p->what) text_format(&line, "%s: ", p->what);
	if (!p->forecast || !forecast_words(p->forecast, &line, s))
		print_so_far(&line, s, depth);
	progress_say(p, s->seconds, text_get(&line));
	text_free(&line);
}

void progress_end(struct progress *p)
{
	if (!p->shown) return;
	fputs("\r\033[K", p->to);
	fflush(p->to);
	p->shown = false;
	p->last = 0;
}
