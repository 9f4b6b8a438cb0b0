#include "report/run_text.h"

#include <assert.h>
#include <inttypes.h>

#include "report/counts.h"
#include "report/names.h"
#include "run/campaign.h"
#include "vm/program.h"

enum { CURVE_WIDTH = 12 }; /* of each column of the curve */

void report_run_verdict(struct text *t, const struct style *s,
                        const struct run_case *c)
{
	style_verdict(t, s, run_verdict(c));
	text_string(t, ": ");
	name_run_reason(t, c);
	text_char(t, '\n');
}

/* "33.1 %"; a little is not nothing. */
static void share(struct text *t, uint64_t n, uint64_t of)
{
	double percent = 100 * (double)n / (double)of;
	if (n && percent < 0.1)
		text_string(t, "< 0.1 %");
	else if (n < of && percent > 99.9)
		text_string(t, "> 99.9 %");
	else
		text_format(t, n == of || !n ? "%.0f %%" : "%.1f %%", percent);
}

/* ---- one violated assertion ---- */

/* The first slot whose example is the same history, maybe the slot itself. */
static uint32_t first_with_example(const struct run_case *c,
                                   const struct example *x)
{
	for (uint32_t i = 0; i < x->slot; i++) {
		struct example other = run_example(c, i);
		if (example_same(&other, x)) return i;
	}
	return x->slot;
}

/* "  fails in 331 of 1,000 runs (33.1 %), after 3.0 runs on average; the first
 * is run 3:" */
static void print_fails_in(struct text *t, const struct run_case *c,
                           uint32_t slot)
{
	const struct campaign_slot *s = campaign_slot(c->campaign, slot);
	uint64_t counted = run_counted(c);
	bool error =
		slot == program_assertion_count(campaign_program(c->campaign));
	text_string(t, error ? "  happens in " : "  fails in ");
	if (counted == 1) {
		text_string(t, "the one run:\n");
		return;
	}
	style_count(t, s->violating);
	text_string(t, " of ");
	style_count(t, counted);
	text_string(t, " runs (");
	share(t, s->violating, counted);
	text_char(t, ')');
	if (s->violating > 1)
		text_format(t, ", after %.1f runs on average",
		            run_slot_mean(c, slot));
	text_string(t, s->violating > 1 ? "; the first is run "
	                                : ", which is run ");
	style_count(t, s->first_run);
	text_string(t, ":\n");
}

static void print_command(struct text *t, const struct run_case *c,
                          uint32_t slot)
{
	text_string(t, "\n  To repeat this run: ");
	name_run_command(t, c, campaign_slot(c->campaign, slot)->first_run);
	text_char(t, '\n');
}

static void print_violation(struct text *t, const struct style *s,
                            const struct run_case *c, uint32_t slot)
{
	struct example x = run_example(c, slot);
	text_char(t, '\n');
	report_slot_heading(t, s, &x);
	print_fails_in(t, c, slot);
	uint32_t same = first_with_example(c, &x);
	if (same == slot) {
		text_char(t, '\n');
		report_example(t, s, &x);
	} else {
		report_example_again(t, s, &x, same);
	}
	print_command(t, c, slot);
}

/* ---- the list of assertions ---- */

static void print_assertion_line(struct text *t, const struct style *s,
                                 const struct run_case *c, uint32_t slot)
{
	struct example x = run_example(c, slot);
	if (run_slot_violated(c, slot))
		report_slot_line(t, s, &x, STYLE_RED, "fails   ");
	else if (run_verdict(c) == VERDICT_HOLDS)
		report_slot_line(t, s, &x, STYLE_GREEN, "holds   ");
	else
		report_slot_line(t, s, &x, STYLE_GREEN, "passes  ");
}

static bool is_listed(const struct run_case *c, uint32_t slot)
{
	return run_slot_checked(c, slot) || run_slot_violated(c, slot);
}

static void print_assertions(struct text *t, const struct style *s,
                             const struct run_case *c)
{
	uint32_t slots = campaign_slot_count(c->campaign), shown = 0;
	for (uint32_t i = 0; i < slots; i++) shown += is_listed(c, i);
	if (!run_counted(c) || !shown) return;
	if (shown == 1 && run_verdict(c) == VERDICT_VIOLATED) return;
	text_char(t, '\n');
	for (uint32_t i = 0; i < slots; i++)
		if (is_listed(c, i)) print_assertion_line(t, s, c, i);
}

/* ---- counts ---- */

static void print_runs(struct text *t, const struct run_case *c)
{
	const struct campaign_options *o = campaign_options(c->campaign);
	const struct campaign_stats *s = campaign_stats(c->campaign);
	count_begin(t, "runs", s->runs);
	text_format(t, "under %s, policy ", level_word(o->level));
	name_policy(t, c);
	if (s->runs == 1)
		text_format(t, ", seed %" PRIu64, o->seed);
	else if (s->runs)
		text_format(t, ", seeds %" PRIu64 " to %" PRIu64, o->seed,
		            run_seed(c, s->runs));
	if (s->stop != STOP_NONE) {
		text_string(t, "; ");
		text_string(t, name_run_stop(c));
	}
	text_char(t, '\n');
	if (!s->pruned) return;
	count_begin(t, "pruned", s->pruned);
	text_string(t, "of them made an assumption false, and do not count\n");
}

static void print_share(struct text *t, const char *label, uint64_t n,
                        uint64_t of)
{
	count_begin(t, label, n);
	share(t, n, of);
	text_string(t, of == 1 ? " of the one run\n" : " of the runs\n");
}

static void print_costs(struct text *t, const struct run_case *c)
{
	const struct campaign_stats *s = campaign_stats(c->campaign);
	count_begin(t, "reads", s->reads);
	style_plural(t, s->taken_back, "choice of a writer",
	             "choices of writers");
	text_string(t, " taken back\n");
	struct costs costs = { s->seconds, s->cpu_seconds, 1 };
	count_time(t, &costs, s->runs, "runs");
}

static void print_counts(struct text *t, const struct run_case *c)
{
	const struct campaign_stats *s = campaign_stats(c->campaign);
	uint64_t counted = run_counted(c);
	text_char(t, '\n');
	print_runs(t, c);
	if (counted) {
		print_share(t, "violating", s->violating, counted);
		print_share(t, "unserializable", s->unserializable, counted);
	}
	print_costs(t, c);
}

/* ---- coverage ---- */

static void print_cell(struct text *t, uint64_t n)
{
	struct text words = { 0 };
	style_count(&words, n);
	if (words.length < CURVE_WIDTH)
		text_pad(t, ' ', CURVE_WIDTH - words.length);
	text_string(t, text_get(&words));
	text_free(&words);
}

static void print_curve(struct text *t, const struct style *s,
                        const struct run_case *c)
{
	uint32_t count;
	const struct campaign_point *p = campaign_curve(c->campaign, &count);
	if (!count) return;
	text_char(t, '\n');
	style_begin(t, s, STYLE_DIM);
	text_format(t, "%*s%*s%*s", CURVE_WIDTH, "after runs", CURVE_WIDTH,
	            "histories", CURVE_WIDTH, "outcomes");
	style_end(t, s);
	text_char(t, '\n');
	for (uint32_t i = 0; i < count; i++) {
		print_cell(t, p[i].runs);
		print_cell(t, p[i].histories);
		print_cell(t, p[i].outcomes);
		text_char(t, '\n');
	}
}

/* "9 of 12 histories (75.0 %)". What a partial exploration has not come to,
 * the runs may have seen: then there are at least as many as both have. */
static void print_seen(struct text *t, const struct coverage *v, uint64_t runs,
                       uint64_t explored, uint64_t both, const char *one,
                       const char *many)
{
	uint64_t all = explored + (runs - both);
	assert(runs == both || !v->complete);
	style_count(t, runs);
	text_string(t, v->complete ? " of " : " of at least ");
	style_plural(t, all, one, many);
	if (!v->complete || !all) return;
	text_string(t, " (");
	share(t, runs, all);
	text_char(t, ')');
}

static void print_explored(struct text *t, const struct coverage *v)
{
	if (v->complete) {
		text_string(t, "Exploring them took ");
		style_seconds(t, v->seconds);
	} else {
		text_string(t, "Exploring ended early, after ");
		style_seconds(t, v->seconds);
		text_string(t, " and ");
		style_plural(t, v->histories, "history", "histories");
	}
	text_string(t, "; ");
	style_count(t, v->unserializable);
	text_string(t, v->unserializable == 1
	                       ? " of them is not serializable.\n"
	                       : " of them are not serializable.\n");
}

static void print_coverage(struct text *t, const struct run_case *c)
{
	const struct campaign_stats *s = campaign_stats(c->campaign);
	const struct coverage *v = c->coverage;
	if (!c->coverage_wanted) return;
	text_char(t, '\n');
	if (!v) {
		text_format(t, "The program was not explored: %s.\n",
		            name_run_stop(c));
		return;
	}
	text_string(t, "The runs have seen ");
	print_seen(t, v, s->histories, v->histories, v->seen_histories,
	           "history", "histories");
	text_string(t, " and ");
	print_seen(t, v, s->outcomes, v->outcomes, v->seen_outcomes, "outcome",
	           "outcomes");
	text_string(t, ".\n");
	print_explored(t, v);
}

/* Who reads that nothing failed shall not take it for more than it is. */
static void print_caution(struct text *t, const struct run_case *c)
{
	if (run_verdict(c) != VERDICT_NO_VIOLATION) return;
	text_string(t, "Random runs may miss a violation; isoscope explore "
	               "misses none.\n");
}

void report_run(struct text *t, const struct style *s, const struct run_case *c)
{
	report_run_verdict(t, s, c);
	print_caution(t, c);
	print_assertions(t, s, c);
	for (uint32_t i = 0; i < campaign_slot_count(c->campaign); i++)
		if (run_slot_violated(c, i)) print_violation(t, s, c, i);
	print_counts(t, c);
	print_curve(t, s, c);
	print_coverage(t, c);
}
