#include "report/counts.h"

#include <sys/resource.h>

#include "report/style.h"

enum { LABEL_WIDTH = 15, NUMBER_WIDTH = 12 };

/* Seconds below which a rate is noise. */
static const double RATE_LEAST = 0.01;

void count_begin_text(struct text *t, const char *label, struct text *number)
{
	size_t width = style_columns(text_get(number));
	text_format(t, "%-*s", LABEL_WIDTH, label);
	if (width < NUMBER_WIDTH) text_pad(t, ' ', NUMBER_WIDTH - width);
	text_string(t, text_get(number));
	text_string(t, "  ");
	text_clear(number);
}

void count_begin(struct text *t, const char *label, uint64_t n)
{
	struct text number = { 0 };
	style_count(&number, n);
	count_begin_text(t, label, &number);
	text_free(&number);
}

void count_time(struct text *t, const struct costs *c, uint64_t n,
                const char *what)
{
	struct text number = { 0 };
	style_seconds(&number, c->seconds);
	count_begin_text(t, "time", &number);
	style_seconds(t, c->cpu_seconds);
	text_string(t, " of CPU");
	if (c->threads > 1) text_format(t, " in %u threads", c->threads);
	if (c->cpu_seconds > RATE_LEAST) {
		text_string(t, ", ");
		style_count(t, (uint64_t)((double)n / c->cpu_seconds));
		text_format(t, " %s per second", what);
	}
	text_char(t, '\n');
	text_free(&number);
}

void count_resident(struct text *t)
{
	struct rusage usage;
	if (getrusage(RUSAGE_SELF, &usage)) return;
	style_memory(t, (uint64_t)usage.ru_maxrss * 1024);
	text_string(t, " resident");
}

void report_memory(struct text *t)
{
	text_string(t, "memory    ");
	count_resident(t);
	text_char(t, '\n');
}
