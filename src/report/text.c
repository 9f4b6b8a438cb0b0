#include "report/text.h"

#include <inttypes.h>
#include <string.h>
#include <sys/resource.h>

#include "dpor/explorer.h"
#include "dpor/verdict.h"
#include "history/history.h"
#include "report/changes.h"
#include "report/counterexample.h"
#include "report/explain.h"
#include "report/names.h"
#include "report/warnings.h"

enum {
	WARNINGS_SHOWN = 8,
	LABEL_WIDTH = 15, /* of the counts */
	COUNT_WIDTH = 12
};

/* Seconds below which a rate is noise. */
static const double RATE_LEAST = 0.01;

void report_verdict(struct text *t, const struct style *s,
                    const struct explorer *e)
{
	static const enum style_mark marks[] = {
		[VERDICT_HOLDS] = STYLE_GREEN,
		[VERDICT_VIOLATED] = STYLE_RED,
		[VERDICT_INCONCLUSIVE] = STYLE_YELLOW,
	};
	enum verdict v = explorer_verdict(e);
	style_words(t, s, marks[v], verdict_word(v));
	text_string(t, ": ");
	if (explores_outward(e))
		name_outward_reason(t, e);
	else
		name_verdict_reason(t, e);
	text_char(t, '\n');
}

/* ---- one violated assertion ---- */

static void print_place(struct text *t, const struct style *s,
                        const struct explorer *e, uint32_t slot)
{
	struct position at = name_slot_position(e, slot);
	if (!at.file) return;
	text_string(t, "  at ");
	style_begin(t, s, STYLE_BOLD);
	name_position(t, at);
	style_end(t, s);
	const struct program *p = explorer_program(e);
	if (slot < program_assertion_count(p) &&
	    program_assertion(p, slot)->message) {
		text_string(t, ": ");
		text_string(t, program_assertion(p, slot)->message);
	}
	text_char(t, '\n');
}

/* The line of source, without its indentation. */
static void print_source(struct text *t, struct position at)
{
	const char *line = at.source_line;
	if (!line) return;
	while (*line == ' ' || *line == '\t') line++;
	text_string(t, "      ");
	style_fit(t, line, 100);
	text_char(t, '\n');
}

/* What failed, with its values. The place is told by the heading above,
 * except that an error's source is worth a line here. */
static void print_finding(struct text *t, const struct style *s,
                          const struct explorer *e, uint32_t slot)
{
	const struct finding *f = explorer_violation(e, slot)->finding;
	if (!f) return;
	text_string(t, "\n    ");
	style_words(t, s, STYLE_RED, f->message ? f->message : "fails");
	if (f->value_count) {
		struct text values = { 0 };
		name_finding_values(&values, f);
		text_string(t, f->message ? ", where " : " with ");
		style_fit(t, text_get(&values), 10 * s->width);
		text_free(&values);
	}
	text_char(t, '\n');
	if (slot == explorer_slot_error(e))
		print_source(t, program_position(explorer_program(e),
		                                 f->point));
}

static void print_cycle(struct text *t, const struct history *h)
{
	struct witness w;
	if (!level_witness(LEVEL_SER, h, &w)) return;
	text_string(t, "  It is not serializable: a serial order would need\n");
	explain_cycle(t, h, &w, 4);
	witness_free(&w);
}

static void print_anomaly(struct text *t, const struct style *s,
                          const struct history *h)
{
	enum level by = LEVEL_COUNT;
	if (level_allows_history(LEVEL_SER, h)) {
		text_string(t, "\n  This history is serializable, so it "
		               "happens at every isolation level.\n");
		return;
	}
	const char *name = anomaly_name(h, &by);
	text_string(t, "\n  ");
	if (name) {
		text_string(t, strchr("aeio", name[0]) ? "This is an "
		                                       : "This is a ");
		style_words(t, s, STYLE_YELLOW, name);
		text_string(t, ". ");
	}
	if (by < LEVEL_COUNT)
		text_format(t, "The weakest level that forbids it is %s (%s).",
		            level_name(by), level_word(by));
	text_char(t, '\n');
	print_cycle(t, h);
}

/* The first slot whose example is the same history, maybe the slot itself. */
static uint32_t first_with_example(const struct explorer *e, uint32_t slot)
{
	struct text mine = { 0 }, other = { 0 };
	history_print_canonical(&mine, explorer_violation(e, slot)->example);
	uint32_t found = slot;
	for (uint32_t i = 0; i < slot && found == slot; i++) {
		if (!explorer_slot_violated(e, i)) continue;
		const struct history *h = explorer_violation(e, i)->example;
		if (!h) continue;
		text_clear(&other);
		history_print_canonical(&other, h);
		if (!strcmp(text_get(&mine), text_get(&other))) found = i;
	}
	text_free(&mine);
	text_free(&other);
	return found;
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
                          const struct explorer *e, uint32_t slot)
{
	const struct history *h = explorer_violation(e, slot)->example;
	if (!h) return;
	uint32_t same = first_with_example(e, slot);
	if (same == slot) {
		text_char(t, '\n');
		if (explores_outward(e)) print_changes(t, s, e, h);
		report_counterexample(t, s, h, 4);
		print_finding(t, s, e, slot);
		print_anomaly(t, s, h);
		return;
	}
	text_string(t, "    the history shown for: ");
	name_slot(t, e, same);
	text_char(t, '\n');
	print_finding(t, s, e, slot);
}

/* May there be other histories of those that were asked for? */
static bool is_open(const struct explorer *e)
{
	enum explore_stop stop = explorer_stats(e)->stop;
	return stop != STOP_NONE && stop != STOP_CHANGES;
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
	text_char(t, '\n');
	style_begin(t, s, STYLE_RED);
	name_slot(t, e, slot);
	style_end(t, s);
	text_char(t, '\n');
	print_place(t, s, e, slot);
	print_fails_in(t, e, slot);
	print_example(t, s, e, slot);
}

/* ---- the list of assertions ---- */

static void print_assertion_line(struct text *t, const struct style *s,
                                 const struct explorer *e, uint32_t slot)
{
	bool fails = explorer_slot_violated(e, slot);
	bool open = is_open(e);
	struct text place = { 0 }, words = { 0 };
	name_position(&place, name_slot_position(e, slot));
	name_slot(&words, e, slot);
	text_string(t, "  ");
	style_words(t, s, fails ? STYLE_RED : open ? STYLE_YELLOW : STYLE_GREEN,
	            fails ? "fails  " : open ? "open   " : "holds  ");
	size_t used = 9 + 2 + style_columns(text_get(&place));
	size_t room = s->width > used + 20 ? s->width - used : 20;
	style_fit(t, text_get(&words), room);
	if (place.length) {
		text_string(t, "  ");
		style_words(t, s, STYLE_DIM, text_get(&place));
	}
	text_char(t, '\n');
	text_free(&place);
	text_free(&words);
}

static void print_assertions(struct text *t, const struct style *s,
                             const struct explorer *e)
{
	uint32_t shown = 0;
	for (uint32_t i = 0; i < explorer_slot_count(e); i++)
		shown += explorer_slot_checked(e, i) ||
		         explorer_slot_violated(e, i);
	if (shown == 0 || (shown == 1 && explorer_verdict(e) ==
	                                     VERDICT_VIOLATED))
		return;
	text_char(t, '\n');
	for (uint32_t i = 0; i < explorer_slot_count(e); i++)
		if (explorer_slot_checked(e, i) ||
		    explorer_slot_violated(e, i))
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
		text_format(t, "%zu %s never reached, mostly in imported "
		            "files; --json lists them\n", d.count - shown,
		            shown ? "other places were" : "places were");
	}
	diags_free(&d);
}

/* ---- counts ---- */

static void begin_count(struct text *t, const char *label, struct text *count)
{
	text_format(t, "%-*s", LABEL_WIDTH, label);
	size_t width = style_columns(text_get(count));
	if (width < COUNT_WIDTH) text_pad(t, ' ', COUNT_WIDTH - width);
	text_string(t, text_get(count));
	text_clear(count);
}

static void count_part(struct text *t, const char *before, uint64_t n,
                       const char *what)
{
	text_string(t, before);
	style_count(t, n);
	text_string(t, what);
}

static void print_histories(struct text *t, const struct explorer *e,
                            struct text *n)
{
	const struct explore_stats *s = explorer_stats(e);
	const struct explore_options *o = explorer_options(e);
	style_count(n, s->histories);
	begin_count(t, "histories", n);
	text_format(t, "  under %s", level_word(o->level));
	if (o->algorithm == EXPLORE_DFS)
		text_string(t, ", repeated ones counted again");
	if (explorer_serializability_known(e))
		count_part(t, ", ", s->unserializable, " not serializable");
	if (o->check_duplicates)
		count_part(t, ", ", s->duplicates, " seen before");
	if (s->stop != STOP_NONE) text_format(t, "; %s", name_stop(e));
	text_char(t, '\n');
}

/* How far from the observed history the exploration came. */
static void print_distance(struct text *t, const struct explorer *e,
                           struct text *n)
{
	const struct explore_stats *s = explorer_stats(e);
	style_count(n, s->changes);
	begin_count(t, "changed reads", n);
	text_string(t, "  at most");
	if (is_open(e) && s->changes)
		text_string(t, "; all histories with fewer were explored");
	text_char(t, '\n');
}

static void print_end_states(struct text *t, const struct explorer *e,
                             struct text *n)
{
	const struct explore_stats *s = explorer_stats(e);
	style_count(n, s->end_states);
	begin_count(t, "end states", n);
	text_format(t, "  under %s", level_word(explorer_options(e)->base));
	count_part(t, ", ", s->filtered, " filtered");
	count_part(t, ", ", s->pruned, " pruned");
	count_part(t, ", ", s->blocked, " blocked\n");
}

static void print_search(struct text *t, const struct explorer *e,
                         struct text *n)
{
	const struct explore_stats *s = explorer_stats(e);
	style_count(n, s->explore_calls);
	begin_count(t, "explore calls", n);
	count_part(t, "  at most ", s->depth_max, " deep\n");
	if (explorer_options(e)->algorithm != EXPLORE_CE) return;
	style_count(n, s->swaps_taken);
	begin_count(t, "swaps", n);
	count_part(t, "  of ", s->swaps_considered, " considered; ");
	count_part(t, "", s->swaps_inconsistent, " inconsistent, ");
	count_part(t, "", s->swaps_not_latest, " not from the latest\n");
}

static void print_costs(struct text *t, const struct explorer *e,
                        struct text *n)
{
	const struct explore_stats *s = explorer_stats(e);
	style_seconds(n, s->seconds);
	begin_count(t, "time", n);
	text_string(t, "  ");
	style_seconds(t, s->cpu_seconds);
	text_string(t, " of CPU");
	if (s->cpu_seconds > RATE_LEAST) {
		text_string(t, ", ");
		style_count(t, (uint64_t)((double)s->histories /
		                          s->cpu_seconds));
		text_string(t, " histories per second");
	}
	style_memory(n, s->memory_peak);
	text_char(t, '\n');
	begin_count(t, "memory", n);
	struct rusage usage;
	if (!getrusage(RUSAGE_SELF, &usage)) {
		text_string(t, "  ");
		style_memory(t, (uint64_t)usage.ru_maxrss * 1024);
		text_string(t, " resident");
	}
	text_char(t, '\n');
}

static void print_counts(struct text *t, const struct explorer *e)
{
	struct text n = { 0 };
	text_char(t, '\n');
	print_histories(t, e, &n);
	if (explores_outward(e)) print_distance(t, e, &n);
	print_end_states(t, e, &n);
	print_search(t, e, &n);
	print_costs(t, e, &n);
	text_free(&n);
}

void report_result(struct text *t, const struct style *s,
                   const struct explorer *e)
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
	print_counts(t, e);
}
