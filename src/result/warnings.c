/* Warnings of vacuous success: what nobody ever came to. */

#include <assert.h>
#include <string.h>

#include "dpor/explorer.h"
#include "result/parts.h"

/* Each warning carries its source line, so their number has to be bounded. */
enum { WARNINGS_MOST = 100 };

static void warn_point(struct diags *d, struct reach_point point)
{
	static const char *const messages[] = {
		[REACH_ASSERTION] = "this assertion is never reached",
		[REACH_THEN] = "this condition is never true",
		[REACH_ELSE] = "this condition is never false",
	};
	diags_add(d, DIAG_WARNING, point.at.file, point.at.line,
	          point.at.column, point.at.source_line, "%s",
	          messages[point.kind]);
}

static bool same_place(struct position a, struct position b)
{
	return a.line == b.line && a.column == b.column &&
	       !strcmp(a.file ? a.file : "", b.file ? b.file : "");
}

/* The other outcome of the same condition, if it was not reached either; else
 * the point itself. */
static uint32_t unreached_twin(const struct program *p,
                               point_predicate *reached, const void *data,
                               uint32_t point)
{
	assert(!reached(data, point));
	struct reach_point a = program_reach_point(p, point);
	if (a.kind == REACH_ASSERTION) return point;
	for (uint32_t i = 0; i < program_reach_count(p); i++) {
		struct reach_point b = program_reach_point(p, i);
		if (b.kind != a.kind && b.kind != REACH_ASSERTION &&
		    same_place(a.at, b.at) && !reached(data, i))
			return i;
	}
	return point;
}

static void warn_twins(struct diags *d, const struct program *p, uint32_t point,
                       uint32_t twin)
{
	struct reach_point r = program_reach_point(p, point);
	if (twin == point)
		warn_point(d, r);
	else if (point < twin)
		diags_add(d, DIAG_WARNING, r.at.file, r.at.line, r.at.column,
		          r.at.source_line,
		          "this condition is never evaluated");
}

void warn_unreached(struct diags *d, const struct program *p,
                    point_predicate *reached, const void *data)
{
	uint32_t shown = 0, count = program_reach_count(p);
	for (uint32_t i = 0; i < count && shown < WARNINGS_MOST; i++)
		if (!reached(data, i) && ++shown)
			warn_twins(d, p, i,
			           unreached_twin(p, reached, data, i));
	if (shown == WARNINGS_MOST)
		diags_add(d, DIAG_WARNING, program_path(p), 0, 0, NULL,
		          "only the first %d places that are not reached are "
		          "shown",
		          WARNINGS_MOST);
}

static void warn_bound(struct diags *d, const struct program *p)
{
	struct position at;
	const char *what = program_bound_met(p, &at);
	if (!what) return;
	diags_add(
		d, DIAG_WARNING, program_path(p), 0, 0, NULL,
		"%s, here at %s:%u; executions in which it goes on from there "
		"are left out, and --max-transactions and --max-accesses "
		"allow more",
		what, at.file, at.line);
}

static bool is_reached(const void *explorer, uint32_t point)
{
	return explorer_reached(explorer, point);
}

void explored_warnings(struct diags *d, const struct explorer *e)
{
	const struct program *p = explorer_program(e);
	const char *lost = program_lost(p);
	warn_bound(d, p);
	if (lost)
		diags_add(d, DIAG_WARNING, program_path(p), 0, 0, NULL, "%s",
		          lost);
	if (explorer_stats(e)->stop == STOP_NONE)
		warn_unreached(d, p, is_reached, e);
}
