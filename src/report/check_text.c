/* What was found out about a recorded history and is asked for by options of
 * its own: the strongest levels that hold, and orders that show it. */
#include <assert.h>
#include <inttypes.h>

#include "report/report.h"
#include "result/result.h"

/* The words of the strongest levels, a list. */
static const struct result_value *first_strongest(const struct result *r)
{
	const struct result_value *levels =
		result_find(&r->findings, "strongest");
	assert(levels && levels->kind == RESULT_LIST);
	return levels->values.first;
}

/* What a finding has for the level: a list, or NULL. */
static const struct result_value *
of_level(const struct result *r, const char *finding, const char *level)
{
	const struct result_value *all = result_find(&r->findings, finding);
	return all ? result_find(&all->values, level) : NULL;
}

static void print_order(struct text *t, const struct result *r,
                        const char *level)
{
	const struct result_value *order = of_level(r, "commit_orders", level);
	text_format(t, "\ncommit order under %s%s", level,
	            order ? ":\n" : ": none was found within the limits\n");
	for (const struct result_value *x = order ? order->values.first : NULL;
	     x; x = x->next)
		text_format(t, "  %s\n", x->text);
}

static void print_schedule(struct text *t, const struct result *r,
                           const char *level)
{
	const struct result_value *schedule = of_level(r, "schedules", level);
	if (!schedule) return;
	text_format(t, "\nschedule under %s:\n", level);
	for (const struct result_value *m = schedule->values.first; m;
	     m = m->next) {
		const struct result_value *x = m->values.first;
		text_format(t, "  %s %s", x->text, x->next->text);
		if (x->next->next)
			text_format(t, " statement %" PRIu64,
			            x->next->next->count);
		text_char(t, '\n');
	}
}

void report_commit_orders(struct text *t, const struct result *r)
{
	const struct result_value *level = first_strongest(r);
	assert(result_find(&r->findings, "commit_orders"));
	if (!level)
		text_string(t, "\nno level holds, so there is no commit "
		               "order\n");
	for (; level; level = level->next) {
		print_order(t, r, level->text);
		print_schedule(t, r, level->text);
	}
}

void report_strongest(struct text *t, const struct result *r)
{
	const struct result_value *level = first_strongest(r);
	if (!level) text_string(t, "no level\n");
	for (; level; level = level->next) text_format(t, "%s\n", level->text);
}

void report_strongest_of(struct text *t, const struct result *r)
{
	const struct result_value *level = first_strongest(r);
	assert(r->place);
	text_format(t, "%s:", r->place);
	if (!level) text_string(t, " no level");
	for (; level; level = level->next) text_format(t, " %s", level->text);
	text_char(t, '\n');
}
