#include "cli/explore.h"

#include <assert.h>

#include "base/seconds.h"
#include "cli/exit_codes.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/program.h"
#include "cli/watch.h"
#include "isoscope.h"
#include "report/report.h"
#include "result/levels.h"
#include "vm/program.h"

/* Is it the base of stronger levels? */
static bool stands_for_others(enum level l)
{
	for (enum level s = l + 1; s < LEVEL_COUNT; s++)
		if (level_base(s) == l) return true;
	return false;
}

/* Explores under one causally extensible level, and fills its column; its
 * histories are looked at for the levels that it is the base of as well. */
static void run_level(const struct exploration *x, struct levels_table **table,
                      enum level l, double timeout)
{
	struct exploration y = *x;
	char what[32];
	snprintf(what, sizeof what, "under %s", level_word(l));
	y.options.level = y.options.base = l;
	y.options.classify = stands_for_others(l);
	y.options.timeout = timeout;
	struct watch *w = watch_new(&y, what);
	struct explore_observer observer = watch_observer(w);
	y.options.snapshot_every = watch_every(w);
	struct explorer *e = explorer_new(x->program, &y.options, &observer);
	explorer_run(e);
	watch_end(w, e);
	if (!*table) *table = levels_table_new(e);
	levels_table_set(*table, e, l);
	for (enum level s = l + 1; s < LEVEL_COUNT; s++)
		if (level_base(s) == l) levels_table_set(*table, e, s);
	explorer_free(e);
}

/* Strong levels first: they have fewer histories, so that a time limit costs
 * the fewest columns. */
static struct levels_table *run_levels(const struct exploration *x)
{
	struct levels_table *table = NULL;
	double begin = seconds_now(), limit = x->options.timeout;
	for (enum level l = LEVEL_COUNT; l-- > 0;) {
		if (!level_is_extensible(l)) continue;
		double left = limit ? limit - (seconds_now() - begin) : 0;
		if (table && ((limit && left <= 0) ||
		              atomic_load(x->options.interrupt) ||
		              program_fault(x->program)))
			break;
		run_level(x, &table, l, left);
	}
	assert(table);
	return table;
}

static int deliver(const struct exploration *x,
                   const struct levels_table *table)
{
	struct result *r = result_of_levels(table, x->options.level);
	struct text t = { 0 };
	if (x->json)
		report_json(&t, r, iso_version());
	else
		report_text(&t, &x->style, r);
	int code = output_text(stdout, "-", &t) ? exit_code_of(r->verdict)
	                                        : EXIT_INTERNAL;
	text_free(&t);
	result_free(r);
	return code;
}

int explore_levels(const struct exploration *x)
{
	struct levels_table *table = run_levels(x);
	int code = program_failed(x->line, x->program) ? EXIT_INPUT
	                                               : deliver(x, table);
	levels_table_free(table);
	return code;
}
