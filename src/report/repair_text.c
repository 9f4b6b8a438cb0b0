/* What repairs a program, as diffs of it. */
#include <assert.h>
#include <inttypes.h>

#include "report/report.h"
#include "result/numbers.h"
#include "result/repaired.h"

enum { INDENT = 6 };

static void print_heading(struct text *t, const struct style *s,
                          const struct repair *x, const struct repair_row *row)
{
	struct text words = { 0 };
	name_edits(&words, x->edits,
	           (struct edit_set){ row->items, row->count });
	style_words(t, s, STYLE_BOLD, text_get(&words));
	text_free(&words);
}

/* Of the level that the command line says, the text says nothing. */
static void print_diff(struct text *t, const struct repair *x,
                       const struct repair_row *row)
{
	struct edit_set set = { row->items, row->count };
	enum level l = edits_level(x->edits, set);
	edits_diff(t, x->edits, set, INDENT);
	if (x->options.level_said && l != x->options.explore.level) {
		text_pad(t, ' ', INDENT);
		text_string(t, "with ");
		name_repair_option(t, l);
		text_string(t, " in place of ");
		name_repair_option(t, x->options.explore.level);
		text_char(t, '\n');
	}
}

/* Has the edit it that a transaction may be aborted that was not before? Under
 * a level with statements only in a deadlock. */
static bool may_abort(const struct edit *x)
{
	return x->level < LEVEL_COUNT && !level_has_statements(x->level);
}

static bool says_serial(const struct repair *x, const struct repair_rows *rows)
{
	for (uint32_t i = 0; i < rows->count; i++)
		for (uint32_t k = 0; k < rows->items[i].count; k++) {
			const struct edit *e =
				edits_get(x->edits, rows->items[i].items[k]);
			if (e->kind == EDIT_TRANSACTION &&
			    level_is_serial(e->level))
				return true;
		}
	return false;
}

/* What advice rests on that one may not expect, and what was not tried. */
static void print_bounds(struct text *t, const struct repair *x)
{
	if (edits_are_ssi(x->edits) &&
	    (says_serial(x, &x->answers) || says_serial(x, &x->failing)))
		text_string(t, "\nAs in PostgreSQL, transactions at ser are "
		               "protected from each other only, not from "
		               "those at weaker levels.\n");
	if (x->larger && !x->stop && !x->cut)
		text_format(t,
		            "\nSets of more than %" PRIu32 " edits were not "
		            "tried (--max-edits).\n",
		            x->options.max_edits);
}

static void print_answers(struct text *t, const struct style *s,
                          const struct repair *x)
{
	bool aborts = false;
	if (!x->answers.count) return;
	text_string(t, "\nEach of these is enough, the cheapest first:\n");
	for (uint32_t i = 0; i < x->answers.count; i++) {
		const struct repair_row *row = &x->answers.items[i];
		text_format(t, "\n  %" PRIu32 ". ", i + 1);
		print_heading(t, s, x, row);
		text_format(t, "  (cost %u; nothing is violated", row->cost);
		if (row->decided) {
			text_string(t, ", as the solver says");
		} else {
			text_string(t, " in ");
			number_plural(t, row->histories, "history",
			              "histories");
		}
		text_string(t, ")\n");
		print_diff(t, x, row);
		for (uint32_t k = 0; k < row->count; k++)
			aborts |= may_abort(edits_get(x->edits, row->items[k]));
	}
	if (edits_are_rooted(x->edits))
		text_string(t, "\nThe diffs are for patch -p1 -d /.\n");
	if (aborts)
		text_string(t, "\nA transaction at a stronger level may be "
		               "aborted, and then has to be tried again.\n");
	if (x->options.oracle)
		text_string(t, "\nAs in Oracle, a read that is locked counts "
		               "as a write.\n");
	if (x->stop)
		text_format(t, "\nThere may be others, and cheaper ones: %s.\n",
		            stop_text(x->stop));
	else if (x->cut)
		text_format(
			t,
			"\nThere may be others: the search ends with %" PRIu32
			" (--max-repairs).\n",
			x->options.max_answers);
}

static void print_failing(struct text *t, const struct style *s,
                          const struct repair *x)
{
	if (!x->failing.count) return;
	text_string(t, "\nNot enough:\n\n");
	for (uint32_t i = 0; i < x->failing.count; i++) {
		const struct repair_row *row = &x->failing.items[i];
		text_string(t, "  - ");
		print_heading(t, s, x, row);
		text_string(t, ": still violated in ");
		if (row->complete)
			number_of(t, row->violating, row->histories, "history",
			          "histories");
		else
			number_of_first(t, row->violating, row->histories,
			                "history", "histories");
		text_char(t, '\n');
		print_diff(t, x, row);
	}
}

static void print_weaker(struct text *t, const struct style *s,
                         const struct repair *x)
{
	if (!x->weaker.count) return;
	text_string(t, "\nStronger than needed: nothing is violated with ");
	print_heading(t, s, x, &x->weaker);
	text_string(t, " either\n");
	print_diff(t, x, &x->weaker);
}

void report_repaired(struct text *t, const struct style *s,
                     const struct result *r)
{
	const struct repair *x = r->repair;
	assert(x);
	report_verdict(t, s, r);
	print_answers(t, s, x);
	print_failing(t, s, x);
	print_weaker(t, s, x);
	print_bounds(t, x);
	text_char(t, '\n');
	number_plural(t, x->sets, "set of edits", "sets of edits");
	text_string(t, ", ");
	number_plural(t, x->explored, "exploration", "explorations");
	text_string(t, ", ");
	number_seconds(t, x->seconds);
	text_char(t, '\n');
}
