#include "result/ran.h"

#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "result/names.h"
#include "result/numbers.h"
#include "run/campaign.h"
#include "vm/program.h"

static uint64_t run_counted(const struct run_case *c)
{
	const struct campaign_stats *s = campaign_stats(c->campaign);
	assert(s->pruned + s->cut <= s->runs);
	return s->runs - s->pruned - s->cut;
}

static bool run_slot_checked(const struct run_case *c, uint32_t slot)
{
	const struct campaign *k = c->campaign;
	assert(slot < campaign_slot_count(k));
	if (slot == campaign_slot_robust(k)) return campaign_options(k)->robust;
	if (slot >= campaign_slot_error(k)) return false; /* they are met */
	return program_assertion_met(campaign_program(c->campaign), slot);
}

static bool run_slot_violated(const struct run_case *c, uint32_t slot)
{
	bool error = slot >= campaign_slot_error(c->campaign) &&
	             slot != campaign_slot_robust(c->campaign);
	return (error || run_slot_checked(c, slot)) &&
	       campaign_slot(c->campaign, slot)->violating;
}

static uint32_t checked_count(const struct run_case *c)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < campaign_slot_count(c->campaign); i++)
		n += run_slot_checked(c, i);
	return n;
}

static uint32_t violated_count(const struct run_case *c)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < campaign_slot_count(c->campaign); i++)
		n += run_slot_checked(c, i) && run_slot_violated(c, i);
	return n;
}

static uint32_t error_places(const struct run_case *c)
{
	return campaign_slot_count(c->campaign) - 1 -
	       campaign_slot_robust(c->campaign);
}

static double run_slot_mean(const struct run_case *c, uint32_t slot)
{
	const struct campaign_slot *s = campaign_slot(c->campaign, slot);
	assert(s->violating);
	return (double)s->last_counted / (double)s->violating;
}

static uint64_t run_seed(const struct run_case *c, uint64_t number)
{
	assert(number);
	return campaign_options(c->campaign)->seed + number - 1;
}

/* ---- the verdict ---- */

/* Random runs show that something fails, never that nothing does: without a
 * violation the verdict is VERDICT_NO_VIOLATION. It holds only if the program
 * was explored as well, to the end, and the runs have seen every history. It is
 * inconclusive if a limit came first, or no run counts. */
static enum verdict run_verdict(const struct run_case *c)
{
	const struct coverage *all = c->coverage;
	if (violated_count(c) || error_places(c)) return VERDICT_VIOLATED;
	if (!run_counted(c)) return VERDICT_INCONCLUSIVE;
	if (all && all->complete && all->seen_histories == all->histories)
		return VERDICT_HOLDS;
	if (campaign_stats(c->campaign)->stop != STOP_NONE)
		return VERDICT_INCONCLUSIVE;
	return VERDICT_NO_VIOLATION;
}

static void name_run_stop(struct text *t, const struct run_case *c)
{
	enum stop_reason stop = campaign_stats(c->campaign)->stop;
	if (stop == STOP_TOO_LARGE)
		text_string(t, campaign_problem(c->campaign));
	else
		name_stop(t, campaign_program(c->campaign), stop);
}

/* " in 3 of 1,000 runs" */
static void in_runs(struct text *t, const struct run_case *c)
{
	uint64_t counted = run_counted(c);
	if (counted == 1) {
		text_string(t, " in the one run");
		return;
	}
	text_string(t, " in ");
	number_of(t, campaign_stats(c->campaign)->violating, counted, "run",
	          "runs");
}

static void violated_reason(struct text *t, const struct run_case *c)
{
	uint32_t checked = checked_count(c), violated = violated_count(c);
	bool robust = campaign_options(c->campaign)->robust;
	if (violated && checked == 1)
		text_string(t, robust ? "not robust: a history that is not "
		                        "serializable is met"
		                      : "the assertion fails");
	else if (violated)
		name_failing(t, violated, checked);
	if (violated && error_places(c)) text_string(t, ", or ");
	if (error_places(c)) name_errors(t, error_places(c));
	in_runs(t, c);
}

static void fine_reason(struct text *t, const struct run_case *c)
{
	uint32_t checked = checked_count(c);
	if (checked == 1 && campaign_options(c->campaign)->robust)
		text_string(t, "the history is serializable in ");
	else
		name_nothing_fails(t, checked);
}

static void all_runs(struct text *t, uint64_t counted)
{
	if (counted == 1) {
		text_string(t, "the one run");
		return;
	}
	text_string(t, "all ");
	number_count(t, counted);
	text_string(t, " runs");
}

static void all_histories(struct text *t, uint64_t histories)
{
	assert(histories);
	if (histories == 1) {
		text_string(t, "the one history, which the runs have seen,");
		return;
	}
	text_string(t, "every history, all ");
	number_count(t, histories);
	text_string(t, " of which the runs have seen,");
}

static void open_reason(struct text *t, const struct run_case *c)
{
	const struct campaign_stats *s = campaign_stats(c->campaign);
	assert(!run_counted(c) || s->stop);
	uint64_t runs = s->runs;
	if (runs && runs == s->pruned) {
		text_string(t, "no run counts, as ");
		text_string(t, runs == 1 ? "it" : "each of ");
		if (runs > 1) number_count(t, runs);
		text_string(t, " makes an assumption false,");
		return;
	}
	name_run_stop(t, c);
	text_string(t, ", with no violation in ");
	number_plural(t, run_counted(c), "run", "runs");
}

static void name_run_reason(struct text *t, const struct run_case *c)
{
	switch (run_verdict(c)) {
	case VERDICT_VIOLATED: violated_reason(t, c); break;
	case VERDICT_HOLDS:
		fine_reason(t, c);
		all_histories(t, c->coverage->histories);
		break;
	case VERDICT_NO_VIOLATION:
		fine_reason(t, c);
		all_runs(t, run_counted(c));
		break;
	default: open_reason(t, c); break;
	}
	text_string(t, " under ");
	name_program_level(t, campaign_program(c->campaign),
	                   campaign_options(c->campaign)->level,
	                   campaign_options(c->campaign)->as);
}

/* ---- how to repeat a run ---- */

static void name_policy(struct text *t, const struct run_case *c)
{
	const struct policy *p = &campaign_options(c->campaign)->policy;
	text_string(t, policy_word(p->kind));
	if (p->kind == POLICY_WEAK) text_format(t, "=%" PRIu32, p->weak);
}

static bool plain_for_shells(const char *word)
{
	for (const char *s = word; *s; s++)
		if (!isalnum((unsigned char)*s) && !strchr("_./,:=@%+-", *s))
			return false;
	return *word;
}

/* A path as a word for a shell, which is no option either. */
static void shell_path(struct text *t, const char *path)
{
	if (*path == '-') text_string(t, "./");
	if (plain_for_shells(path)) {
		text_string(t, path);
		return;
	}
	text_char(t, '\'');
	for (; *path; path++) {
		if (*path == '\'')
			text_string(t, "'\\''");
		else
			text_char(t, *path);
	}
	text_char(t, '\'');
}

static void name_run_command(struct text *t, const struct run_case *c,
                             uint64_t number)
{
	const struct campaign_options *o = campaign_options(c->campaign);
	text_string(t, "isoscope run ");
	shell_path(t, program_path(campaign_program(c->campaign)));
	text_format(t, " -i %s --runs 1 --seed %" PRIu64, level_word(o->level),
	            run_seed(c, number));
	if (o->policy.kind != POLICY_UNIFORM) {
		text_string(t, " --policy ");
		name_policy(t, c);
	}
	if (o->robust) text_string(t, " --robust");
	if (program_is_ssi(campaign_program(c->campaign)))
		text_string(t, " --serializable=postgres");
}

/* ---- settings ---- */

static void add_settings(struct result *r, const struct run_case *c)
{
	const struct campaign_options *o = campaign_options(c->campaign);
	struct result_values *to = &r->settings;
	struct text policy = { 0 };
	result_text(r, to, "program", program_path(r->program));
	result_level(r, o->level, o->as);
	name_policy(&policy, c);
	result_taken(r, to, "policy", &policy);
	result_count(r, to, "seed", o->seed);
	result_count(r, to, "runs", o->runs);
	text_free(&policy);
}

/* ---- assertions ---- */

/* "fails in 331 of 1,000 runs (33.1 %), after 3.0 runs on average; the first is
 * run 3:" */
static const char *fails_in(struct result *r, const struct run_case *c,
                            uint32_t slot)
{
	const struct campaign_slot *s = campaign_slot(c->campaign, slot);
	uint64_t counted = run_counted(c);
	assert(s->violating && s->violating <= counted);
	bool error = slot > campaign_slot_robust(c->campaign);
	struct text t = { 0 };
	text_string(&t, error ? "happens in " : "fails in ");
	if (counted == 1) {
		text_string(&t, "the one run:");
	} else {
		number_of(&t, s->violating, counted, "run", "runs");
		text_string(&t, " (");
		number_share(&t, s->violating, counted);
		text_char(&t, ')');
		if (s->violating > 1)
			text_format(&t, ", after %.1f runs on average",
			            run_slot_mean(c, slot));
		text_string(&t, s->violating > 1 ? "; the first is run "
		                                 : ", which is run ");
		number_count(&t, s->first_run);
		text_char(&t, ':');
	}
	const char *words = result_words(r, &t);
	text_free(&t);
	return words;
}

static enum result_state state_of(const struct run_case *c, uint32_t slot)
{
	if (!run_counted(c)) return ASSERTION_UNKNOWN;
	if (run_slot_violated(c, slot)) return ASSERTION_FAILS;
	return run_verdict(c) == VERDICT_HOLDS ? ASSERTION_HOLDS
	                                       : ASSERTION_PASSES;
}

static void add_first(struct result *r, struct result_assertion *a,
                      const struct run_case *c, uint32_t slot)
{
	const struct campaign_slot *s = campaign_slot(c->campaign, slot);
	struct text command = { 0 };
	assert(s->first_run && s->example);
	name_run_command(&command, c, s->first_run);
	a->repeat = result_words(r, &command);
	result_count(r, &a->members, "first_run", s->first_run);
	result_count(r, &a->members, "first_seed", run_seed(c, s->first_run));
	result_seconds(r, &a->members, "mean_runs", run_slot_mean(c, slot));
	result_text(r, &a->members, "repeat", a->repeat);
	result_example(r, a, s->example, s->finding);
	text_free(&command);
}

static void add_assertion(struct result *r, const struct run_case *c,
                          uint32_t slot, enum result_depth depth)
{
	const struct campaign_slot *s = campaign_slot(c->campaign, slot);
	bool violated = run_slot_violated(c, slot);
	if (!violated && !run_slot_checked(c, slot)) return;
	bool error = slot > campaign_slot_robust(c->campaign);
	struct result_assertion *a = result_assertion(
		r, error ? campaign_slot_error(c->campaign) : slot, s->finding);
	a->state = state_of(c, slot);
	a->counted = true;
	a->violations = s->violating;
	if (!violated || depth == RESULT_VERDICT) return;
	a->where = fails_in(r, c, slot);
	add_first(r, a, c, slot);
}

/* ---- measures ---- */

/* People see it as a table. */
static void add_curve(struct result *r, const struct run_case *c)
{
	enum { COLUMNS = 3, COLUMN_WIDTH = 12 };
	static const char *const names[] = { "runs", "histories", "outcomes" };
	static const char *const heads[] = { "after runs", "histories",
		                             "outcomes" };
	struct text words = { 0 };
	uint32_t count;
	const struct campaign_point *p = campaign_curve(c->campaign, &count);
	struct result_values *to = result_list(r, &r->measures, "curve");
	if (!count) return;
	result_table(r, COLUMNS, COLUMN_WIDTH, 0);
	struct result_row *head = result_row(r, "");
	for (int i = 0; i < COLUMNS; i++)
		head->cells[i] = (struct result_cell){ heads[i], MARK_DIM };
	for (uint32_t i = 0; i < count; i++) {
		const uint64_t n[COLUMNS] = { p[i].runs, p[i].histories,
			                      p[i].outcomes };
		struct result_values *point = result_group(r, to, NULL);
		struct result_row *row = result_row(r, "");
		for (int k = 0; k < COLUMNS; k++) {
			result_count(r, point, names[k], n[k]);
			number_count(&words, n[k]);
			row->cells[k].words = result_words(r, &words);
		}
	}
	text_free(&words);
}

static void add_coverage(struct result *r, const struct run_case *c)
{
	const struct coverage *v = c->coverage;
	if (!c->coverage_wanted) return;
	if (!v) {
		result_text(r, &r->measures, "coverage", NULL);
		return;
	}
	struct result_values *to = result_group(r, &r->measures, "coverage");
	result_flag(r, to, "complete", v->complete);
	result_count(r, to, "histories", v->histories);
	result_count(r, to, "outcomes", v->outcomes);
	result_count(r, to, "unserializable", v->unserializable);
	result_count(r, to, "seen_histories", v->seen_histories);
	result_count(r, to, "seen_outcomes", v->seen_outcomes);
	result_seconds(r, to, "seconds", v->seconds);
}

static void add_stats(struct result *r, const struct run_case *c)
{
	const struct campaign_stats *s = campaign_stats(c->campaign);
	struct result_values *to = result_group(r, &r->measures, "stats");
	result_count(r, to, "runs", s->runs);
	result_count(r, to, "pruned", s->pruned);
	result_count(r, to, "cut", s->cut);
	result_count(r, to, "violating", s->violating);
	result_count(r, to, "unserializable", s->unserializable);
	result_count(r, to, "histories", s->histories);
	result_count(r, to, "outcomes", s->outcomes);
	result_count(r, to, "reads", s->reads);
	result_count(r, to, "taken_back", s->taken_back);
	result_seconds(r, to, "seconds", s->seconds);
	result_seconds(r, to, "cpu_seconds", s->cpu_seconds);
}

/* ---- lines ---- */

static void line_of_runs(struct result *r, const struct run_case *c)
{
	const struct campaign_options *o = campaign_options(c->campaign);
	const struct campaign_stats *s = campaign_stats(c->campaign);
	struct text t = { 0 };
	assert(s->pruned <= s->runs);
	text_format(&t, "under %s, policy ", level_word(o->level));
	name_policy(&t, c);
	if (s->runs == 1)
		text_format(&t, ", seed %" PRIu64, o->seed);
	else if (s->runs)
		text_format(&t, ", seeds %" PRIu64 " to %" PRIu64, o->seed,
		            run_seed(c, s->runs));
	if (s->stop != STOP_NONE) {
		text_string(&t, "; ");
		text_string(&t, s->stop == STOP_TOO_LARGE
		                        ? campaign_problem(c->campaign)
		                        : stop_text(s->stop));
	}
	result_line(r, "runs", s->runs, &t);
	if (s->pruned) {
		text_string(&t, "of them made an assumption false, and do not "
		                "count");
		result_line(r, "pruned", s->pruned, &t);
	}
	if (s->cut) {
		text_string(&t, "of them met --max-transactions or "
		                "--max-accesses, and do not count");
		result_line(r, "cut short", s->cut, &t);
	}
	text_free(&t);
}

static void line_of_share(struct result *r, const char *label, uint64_t n,
                          uint64_t of)
{
	struct text t = { 0 };
	number_share(&t, n, of);
	text_string(&t, of == 1 ? " of the one run" : " of the runs");
	result_line(r, label, n, &t);
	text_free(&t);
}

static void add_lines(struct result *r, const struct run_case *c)
{
	const struct campaign_stats *s = campaign_stats(c->campaign);
	uint64_t counted = run_counted(c);
	struct text t = { 0 };
	line_of_runs(r, c);
	if (counted) {
		line_of_share(r, "violating", s->violating, counted);
		line_of_share(r, "unserializable", s->unserializable, counted);
	}
	number_plural(&t, s->taken_back, "choice of a writer",
	              "choices of writers");
	text_string(&t, " taken back");
	result_line(r, "reads", s->reads, &t);
	result_line_time(r, s->seconds, s->cpu_seconds, 1, s->runs, "run",
	                 "runs");
	text_free(&t);
}

/* ---- coverage in words ---- */

/* "9 of 12 histories (75.0 %)". What a partial exploration has not come to,
 * the runs may have seen: then there are at least as many as both have. */
static void print_seen(struct text *t, const struct coverage *v, uint64_t runs,
                       uint64_t explored, uint64_t both, const char *one,
                       const char *many)
{
	uint64_t all = explored + (runs - both);
	assert(runs == both || !v->complete);
	number_count(t, runs);
	text_string(t, v->complete ? " of " : " of at least ");
	number_plural(t, all, one, many);
	if (!v->complete || !all) return;
	text_string(t, " (");
	number_share(t, runs, all);
	text_char(t, ')');
}

static void print_explored(struct text *t, const struct coverage *v)
{
	if (v->complete) {
		text_string(t, "Exploring them took ");
		number_seconds(t, v->seconds);
	} else {
		text_string(t, "Exploring ended early, after ");
		number_seconds(t, v->seconds);
		text_string(t, " and ");
		number_plural(t, v->histories, "history", "histories");
	}
	text_string(t, "; ");
	number_count(t, v->unserializable);
	text_string(t, v->unserializable == 1
	                       ? " of them is not serializable.\n"
	                       : " of them are not serializable.\n");
}

static void name_coverage(struct text *t, const struct run_case *c)
{
	const struct campaign_stats *s = campaign_stats(c->campaign);
	const struct coverage *v = c->coverage;
	assert(c->coverage_wanted);
	text_char(t, '\n');
	if (!v) {
		text_string(t, "The program was not explored: ");
		name_run_stop(t, c);
		text_string(t, ".\n");
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

/* ---- all ---- */

static void add_words(struct result *r, const struct run_case *c)
{
	struct text t = { 0 };
	name_run_reason(&t, c);
	r->reason = result_words(r, &t);
	/* Who reads that nothing failed shall not take it for more than it
	 * is. */
	if (r->verdict == VERDICT_NO_VIOLATION)
		r->note = "Random runs may miss a violation; isoscope explore "
			  "misses none.\n";
	if (c->coverage_wanted) {
		name_coverage(&t, c);
		r->closing = result_words(r, &t);
	}
	text_free(&t);
}

struct result *result_of_runs(const struct run_case *c, enum result_depth depth)
{
	const struct campaign_options *o = campaign_options(c->campaign);
	enum stop_reason stop = campaign_stats(c->campaign)->stop;
	struct result *r = result_new(campaign_program(c->campaign), o->level);
	r->verdict = run_verdict(c);
	add_words(r, c);
	add_settings(r, c);
	result_flag(r, &r->findings, "complete", stop == STOP_NONE);
	result_text(r, &r->findings, "stop", stop_word(stop));
	r->has_assertions = true;
	r->state_width = sizeof "passes  " - 1;
	uint32_t robust = campaign_slot_robust(c->campaign);
	for (uint32_t i = 0; i < campaign_slot_error(c->campaign); i++)
		add_assertion(r, c, i, depth);
	for (uint32_t i = robust + 1; i < campaign_slot_count(c->campaign); i++)
		add_assertion(r, c, i, depth);
	add_assertion(r, c, robust, depth);
	if (depth == RESULT_VERDICT) return r;
	add_curve(r, c);
	add_coverage(r, c);
	add_stats(r, c);
	add_lines(r, c);
	return r;
}
