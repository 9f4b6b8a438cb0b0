#include "report/text.h"

#include <string.h>

#include "dpor/explorer.h"
#include "dpor/verdict.h"
#include "report/changes.h"
#include "report/counts.h"
#include "report/example.h"
#include "report/names.h"
#include "report/share.h"
#include "report/symmetry.h"
#include "report/warnings.h"

enum { WARNINGS_SHOWN = 8 };

void report_verdict(struct text *t, const struct style *s,
                    const struct explorer *e)
{
	style_verdict(t, s, explorer_verdict(e));
	text_string(t, ": ");
	if (explores_outward(e))
		name_outward_reason(t, e);
	else
		name_verdict_reason(t, e);
	text_char(t, '\n');
}

/* ---- one violated assertion ---- */

/* The first slot whose example is the same history, maybe the slot itself. */
static uint32_t first_with_example(const struct explorer *e,
                                   const struct example *x)
{
	for (uint32_t i = 0; i < x->slot; i++) {
		struct example other = explored_example(e, i);
		if (example_same(&other, x)) return i;
	}
	return x->slot;
}

/* Which reads of the observed history it changes. */
static void print_changes(struct text *t, const struct style *s,
                          const struct explorer *e, const struct history *h)
{
	size_t before = t->length;
	report_changes(t, s, e, h, 4);
	if (t->length > before) text_char(t, '\n');
}

static void print_example(struct text *t, const struct style *s,
                          const struct explorer *e, const struct example *x)
{
	if (!x->history) return;
	uint32_t same = first_with_example(e, x);
	if (same == x->slot) {
		text_char(t, '\n');
		if (explores_outward(e)) print_changes(t, s, e, x->history);
		report_example(t, s, x);
	} else {
		report_example_again(t, s, x, same);
	}
}

/* May there be other histories of those that were asked for? */
static bool is_open(const struct explorer *e)
{
	const struct explore_stats *s = explorer_stats(e);
	return s->stop != STOP_NONE &&
	       !(s->stop == STOP_CHANGES && s->histories);
}

static void print_fails_in(struct text *t, const struct explorer *e,
                           uint32_t slot)
{
	const struct explore_stats *s = explorer_stats(e);
	bool error = slot == explorer_slot_error(e);
	uint64_t n = explorer_violation(e, slot)->histories;
	text_string(t, error ? "  happens in " : "  fails in ");
	style_count(t, n);
	text_string(t, " of ");
	style_plural(t, s->histories, "history", "histories");
	if (is_open(e)) text_string(t, " seen so far");
	if (explorer_violation(e, slot)->example)
		text_string(t, n == 1 ? ":" : ", for example:");
	text_char(t, '\n');
}

static void print_violation(struct text *t, const struct style *s,
                            const struct explorer *e, uint32_t slot)
{
	struct example x = explored_example(e, slot);
	text_char(t, '\n');
	report_slot_heading(t, s, &x);
	print_fails_in(t, e, slot);
	print_example(t, s, e, &x);
}

/* ---- the list of assertions ---- */

static void print_assertion_line(struct text *t, const struct style *s,
                                 const struct explorer *e, uint32_t slot)
{
	struct example x = explored_example(e, slot);
	if (explorer_slot_violated(e, slot))
		report_slot_line(t, s, &x, STYLE_RED, "fails  ");
	else if (is_open(e))
		report_slot_line(t, s, &x, STYLE_YELLOW, "open   ");
	else
		report_slot_line(t, s, &x, STYLE_GREEN, "holds  ");
}

static void print_assertions(struct text *t, const struct style *s,
                             const struct explorer *e)
{
	uint32_t shown = 0;
	for (uint32_t i = 0; i < explorer_slot_count(e); i++)
		shown += explorer_slot_checked(e, i) ||
		         explorer_slot_violated(e, i);
	if (shown == 0 ||
	    (shown == 1 && explorer_verdict(e) == VERDICT_VIOLATED))
		return;
	text_char(t, '\n');
	for (uint32_t i = 0; i < explorer_slot_count(e); i++)
		if (explorer_slot_checked(e, i) || explorer_slot_violated(e, i))
			print_assertion_line(t, s, e, i);
}

/* ---- warnings ---- */

static void print_warning(struct text *t, const struct style *s,
                          const struct diag *d)
{
	style_words(t, s, STYLE_YELLOW, "warning: ");
	name_position(t, (struct position){ d->file, d->line, d->column,
	                                    d->source_line });
	text_string(t, ": ");
	text_string(t, d->message);
	if (d->source_line && d->line) {
		const char *line = d->source_line;
		while (*line == ' ' || *line == '\t') line++;
		text_string(t, ": ");
		style_begin(t, s, STYLE_DIM);
		style_fit(t, line, 60);
		style_end(t, s);
	}
	text_char(t, '\n');
}

static void print_warnings(struct text *t, const struct style *s,
                           const struct explorer *e)
{
	struct diags d = { 0 };
	const char *path = program_path(explorer_program(e));
	size_t shown = 0;
	report_warnings(&d, e);
	if (d.count) text_char(t, '\n');
	for (size_t i = 0; i < d.count && shown < WARNINGS_SHOWN; i++) {
		if (strcmp(d.items[i].file, path)) continue;
		print_warning(t, s, &d.items[i]);
		shown++;
	}
	if (d.count > shown) {
		style_words(t, s, STYLE_YELLOW, "warning: ");
		text_format(t,
		            "%zu %s never reached, mostly in imported "
		            "files; --json lists them\n",
		            d.count - shown,
		            shown ? "other places were" : "places were");
	}
	diags_free(&d);
}

/* ---- counts ---- */

static void count_part(struct text *t, const char *before, uint64_t n,
                       const char *what)
{
	text_string(t, before);
	style_count(t, n);
	text_string(t, what);
}

static void print_histories(struct text *t, const struct explorer *e)
{
	const struct explore_stats *s = explorer_stats(e);
	const struct explore_options *o = explorer_options(e);
	count_begin(t, "histories", s->histories);
	text_format(t, "under %s", level_word(o->level));
	if (o->algorithm == EXPLORE_DFS)
		text_string(t, ", repeated ones counted again");
	if (explorer_serializability_known(e))
		count_part(t, ", ", s->unserializable, " not serializable");
	if (o->check_duplicates)
		count_part(t, ", ", s->duplicates, " seen before");
	if (s->stop != STOP_NONE) text_format(t, "; %s", stop_text(s->stop));
	text_char(t, '\n');
}

/* In how many of the reads of some serial order something older was read. */
static void print_staleness(struct text *t, const struct explorer *e)
{
	count_begin(t, "stale reads", explorer_options(e)->max_changes);
	text_string(t, "at most, in some serial order");
	count_part(t, "; ", explorer_stats(e)->cut, " beginnings left out\n");
}

/* How far from the observed history the exploration came. */
static void print_distance(struct text *t, const struct explorer *e)
{
	const struct explore_stats *s = explorer_stats(e);
	count_begin(t, "changed reads", s->changes);
	text_string(t, "at most");
	if (is_open(e) && s->stop != STOP_CHANGES && s->changes)
		text_string(t, "; all histories with fewer were explored");
	text_char(t, '\n');
}

static void print_end_states(struct text *t, const struct explorer *e)
{
	const struct explore_stats *s = explorer_stats(e);
	count_begin(t, "end states", s->end_states);
	text_format(t, "under %s", level_word(explorer_options(e)->base));
	count_part(t, ", ", s->filtered, " filtered");
	count_part(t, ", ", s->pruned, " pruned");
	count_part(t, ", ", s->blocked, " blocked\n");
}

static void print_search(struct text *t, const struct explorer *e)
{
	const struct explore_stats *s = explorer_stats(e);
	count_begin(t, "explore calls", s->explore_calls);
	count_part(t, "at most ", s->depth_max, " deep\n");
	if (explorer_options(e)->algorithm != EXPLORE_CE) return;
	count_begin(t, "swaps", s->swaps_taken);
	count_part(t, "of ", s->swaps_considered, " considered; ");
	count_part(t, "", s->swaps_inconsistent, " inconsistent, ");
	count_part(t, "", s->swaps_not_latest, " not from the latest\n");
}

static void print_costs(struct text *t, const struct explorer *e)
{
	const struct explore_stats *s = explorer_stats(e);
	struct text memory = { 0 };
	struct costs costs = { s->seconds, s->cpu_seconds,
		               explorer_options(e)->jobs };
	count_time(t, &costs, s->histories, "histories");
	style_memory(&memory, s->memory_peak);
	count_begin_text(t, "memory", &memory);
	count_resident(t);
	text_char(t, '\n');
	text_free(&memory);
}

static void print_counts(struct text *t, const struct explorer *e,
                         const struct estimate *all)
{
	text_char(t, '\n');
	print_histories(t, e);
	if (explores_classes(e)) report_classes(t, e);
	report_share(t, explorer_stats(e)->histories, all);
	if (explores_bounded(e)) print_staleness(t, e);
	if (explores_outward(e)) print_distance(t, e);
	print_end_states(t, e);
	print_search(t, e);
	print_costs(t, e);
}

void report_partial(struct text *t, const struct style *s,
                    const struct explorer *e, const struct estimate *all)
{
	report_verdict(t, s, e);
	if (explores_outward(e)) report_not_reproduced(t, e);
	print_assertions(t, s, e);
	for (uint32_t i = 0; i < explorer_slot_count(e); i++)
		if (explorer_slot_violated(e, i) &&
		    (i != explorer_slot_robust(e) ||
		     explorer_slot_checked(e, i)))
			print_violation(t, s, e, i);
	print_warnings(t, s, e);
	print_counts(t, e, all);
}

void report_result(struct text *t, const struct style *s,
                   const struct explorer *e)
{
	report_partial(t, s, e, NULL);
}
