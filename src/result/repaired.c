#include "result/repaired.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "result/names.h"
#include "result/numbers.h"

static void name_edited(struct text *t, const struct edits *e, uint32_t i)
{
	const struct edit_transaction *x = edits_transaction(e, i);
	if (x->name)
		text_string(t, x->name);
	else
		text_format(t, "the transaction in line %" PRIu32, x->line);
}

/* " of stock[item] in buy" */
static void name_accessed(struct text *t, const struct edits *e,
                          const struct edit *x)
{
	if (x->key) text_format(t, " of %s", x->key);
	text_string(t, " in ");
	name_edited(t, e, x->transaction);
}

static void name_alone(struct text *t, const struct edits *e, uint32_t i)
{
	const struct edit *x = edits_get(e, i);
	switch (x->kind) {
	case EDIT_LOCK:
		text_format(t, "a %s read", strength_word(x->strength));
		name_accessed(t, e, x);
		return;
	case EDIT_ATOMIC:
		text_string(t, "one atomic update");
		name_accessed(t, e, x);
		return;
	case EDIT_TRANSACTION:
		name_edited(t, e, x->transaction);
		text_format(t, " at %s", level_word(x->level));
		return;
	case EDIT_PROGRAM:
		text_format(t, "all at %s", level_word(x->level));
		return;
	case EDIT_KIND_COUNT: break;
	}
	assert(!"a kind of edit");
}

/* Where another edit has the same words, the line tells them apart, or the
 * column. */
static void name_edit(struct text *t, const struct edits *e, uint32_t i)
{
	struct text mine = { 0 }, other = { 0 };
	bool same = false, same_line = false;
	name_alone(&mine, e, i);
	for (uint32_t k = 0; k < edits_count(e); k++) {
		if (k == i || edits_get(e, k)->kind != edits_get(e, i)->kind)
			continue;
		text_clear(&other);
		name_alone(&other, e, k);
		if (strcmp(text_get(&mine), text_get(&other)) != 0) continue;
		same = true;
		same_line |= edits_line(e, k) == edits_line(e, i);
	}
	text_string(t, text_get(&mine));
	if (same) text_format(t, " (line %" PRIu32, edits_line(e, i));
	if (same_line) text_format(t, ", column %" PRIu32, edits_column(e, i));
	if (same) text_char(t, ')');
	text_free(&mine);
	text_free(&other);
}

void name_edits(struct text *t, const struct edits *e, struct edit_set s)
{
	for (uint32_t i = 0; i < s.count; i++) {
		if (i) text_string(t, i + 1 < s.count ? ", " : " and ");
		name_edit(t, e, s.items[i]);
	}
}

void name_repair_option(struct text *t, enum level l)
{
	text_format(t, "-i %s", level_word(l));
}

/* ---- the document ---- */

/* "-i ser"; the text of the program has no say then. */
static void add_option(struct result *r, struct result_values *to,
                       const struct edit *x)
{
	struct text words = { 0 };
	name_repair_option(&words, x->level);
	result_text(r, to, "file", NULL);
	result_text(r, to, "line", NULL);
	result_taken(r, to, "option", &words);
	text_free(&words);
}

static void add_edit(struct result *r, struct result_values *to,
                     const struct edits *e, uint32_t i)
{
	const struct edit *x = edits_get(e, i);
	result_text(r, to, "kind", edit_kind_word(x->kind));
	if (x->kind == EDIT_PROGRAM)
		result_text(r, to, "transaction", NULL);
	else
		result_text(r, to, "transaction",
		            edits_transaction(e, x->transaction)->name);
	result_text(r, to, "level",
	            x->level < LEVEL_COUNT ? level_word(x->level) : NULL);
	result_text(r, to, "lock",
	            x->kind == EDIT_LOCK ? strength_word(x->strength) : NULL);
	if (x->kind == EDIT_PROGRAM && r->repair->options.level_said) {
		add_option(r, to, x);
		return;
	}
	result_text(r, to, "file", edits_file(e, x->source));
	result_count(r, to, "line", edits_line(e, i));
	result_text(r, to, "option", NULL);
}

static void add_row(struct result *r, struct result_values *to,
                    const struct edits *e, const struct repair_row *row)
{
	struct edit_set s = { row->items, row->count };
	struct text words = { 0 };
	name_edits(&words, e, s);
	result_taken(r, to, "words", &words);
	result_count(r, to, "cost", row->cost);
	struct result_values *list = result_list(r, to, "edits");
	for (uint32_t i = 0; i < s.count; i++)
		add_edit(r, result_group(r, list, NULL), e, s.items[i]);
	edits_diff(&words, e, s, 0);
	result_taken(r, to, "diff", &words);
	result_count(r, to, "histories", row->histories);
	result_count(r, to, "violating", row->violating);
	result_flag(r, to, "complete", row->complete);
	result_text(r, to, "engine", row->decided ? "decide" : "explore");
	text_free(&words);
}

static void add_rows(struct result *r, const char *name, const struct edits *e,
                     const struct repair_rows *rows)
{
	struct result_values *list = result_list(r, &r->findings, name);
	for (uint32_t i = 0; i < rows->count; i++)
		add_row(r, result_group(r, list, NULL), e, &rows->items[i]);
}

/* "3 of 12 histories under " */
static void violated_words(struct text *t, const struct repair_row *asked)
{
	if (asked->complete)
		number_of(t, asked->violating, asked->histories, "history",
		          "histories");
	else
		number_of_first(t, asked->violating, asked->histories,
		                "history", "histories");
	text_string(t, " under ");
}

static void add_reason(struct result *r, const struct repair *x)
{
	const struct repair_row *asked = &x->asked;
	struct text t = { 0 };
	if (asked->verdict == VERDICT_HOLDS && x->asserts_nothing)
		text_string(&t,
		            "nothing is asserted (--robust asks for serial "
		            "histories), so there is nothing to repair under ");
	else if (asked->verdict == VERDICT_HOLDS)
		text_string(&t, "there is nothing to repair under ");
	else if (r->verdict == VERDICT_INCONCLUSIVE && !x->stop)
		text_string(&t, "no history counts under ");
	else if (r->verdict == VERDICT_INCONCLUSIVE)
		text_format(&t, "%s before a repair was found, under ",
		            stop_text(x->stop));
	else
		violated_words(&t, asked);
	name_level(&t, r->level);
	if (r->verdict == VERDICT_VIOLATED && x->hopeless)
		text_string(&t, ", and so do serial ones: no lock and no level "
		                "repairs that");
	else if (r->verdict == VERDICT_VIOLATED) {
		text_string(&t, "; ");
		number_plural(&t, x->answers.count, "repair", "repairs");
	}
	r->reason = result_words(r, &t);
	text_free(&t);
}

struct result *result_of_repair(const struct repair *x)
{
	const struct explore_options *o = &x->options.explore;
	struct result *r = result_new(NULL, o->level);
	struct result_values *f = &r->findings;
	r->repair = x;
	result_text(r, &r->settings, "program", x->options.path);
	result_text(r, &r->settings, "level", level_word(o->level));
	result_flag(r, &r->settings, "robust", o->robust);
	result_count(r, &r->settings, "max_edits", x->options.max_edits);
	result_count(r, &r->settings, "max_repairs", x->options.max_answers);
	result_flag(r, &r->settings, "oracle", x->options.oracle);
	result_text(r, &r->settings, "weights", x->options.weights_path);
	r->verdict = x->asked.verdict;
	if (r->verdict == VERDICT_VIOLATED && !x->answers.count && x->stop)
		r->verdict = VERDICT_INCONCLUSIVE;
	add_reason(r, x);
	result_flag(r, f, "complete", !x->stop && !x->cut);
	result_text(r, f, "stop", stop_word(x->stop));
	result_count(r, f, "histories", x->asked.histories);
	result_count(r, f, "violating", x->asked.violating);
	result_flag(r, f, "repairable", !x->hopeless);
	result_flag(r, f, "larger_untried", x->larger);
	add_rows(r, "answers", x->edits, &x->answers);
	add_rows(r, "not_enough", x->edits, &x->failing);
	struct repair_rows weaker = { (struct repair_row *)&x->weaker,
		                      x->weaker.count > 0, 0 };
	add_rows(r, "stronger_than_needed", x->edits, &weaker);
	struct result_values *stats = result_group(r, &r->measures, "stats");
	result_count(r, stats, "sets", x->sets);
	result_count(r, stats, "explored", x->explored);
	result_seconds(r, stats, "seconds", x->seconds);
	return r;
}
