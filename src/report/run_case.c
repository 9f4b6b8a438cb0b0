#include "report/run_case.h"

#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "report/names.h"
#include "report/style.h"
#include "run/campaign.h"
#include "vm/program.h"

uint64_t run_counted(const struct run_case *c)
{
	const struct campaign_stats *s = campaign_stats(c->campaign);
	assert(s->pruned <= s->runs);
	return s->runs - s->pruned;
}

bool run_slot_checked(const struct run_case *c, uint32_t slot)
{
	uint32_t assertions =
		program_assertion_count(campaign_program(c->campaign));
	assert(slot < campaign_slot_count(c->campaign));
	if (slot == assertions) return false; /* run-time errors are met */
	if (slot > assertions) return campaign_options(c->campaign)->robust;
	return program_assertion_met(campaign_program(c->campaign), slot);
}

bool run_slot_violated(const struct run_case *c, uint32_t slot)
{
	bool error =
		slot == program_assertion_count(campaign_program(c->campaign));
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

static bool error_happens(const struct run_case *c)
{
	return run_slot_violated(
		c, program_assertion_count(campaign_program(c->campaign)));
}

struct example run_example(const struct run_case *c, uint32_t slot)
{
	const struct campaign_slot *s = campaign_slot(c->campaign, slot);
	return (struct example){ campaign_program(c->campaign), slot,
		                 s->example, s->finding };
}

double run_slot_mean(const struct run_case *c, uint32_t slot)
{
	const struct campaign_slot *s = campaign_slot(c->campaign, slot);
	assert(s->violating);
	return (double)s->last_counted / (double)s->violating;
}

uint64_t run_seed(const struct run_case *c, uint64_t number)
{
	return campaign_options(c->campaign)->seed + number - 1;
}

/* ---- the verdict ---- */

enum verdict run_verdict(const struct run_case *c)
{
	const struct coverage *all = c->coverage;
	if (violated_count(c) || error_happens(c)) return VERDICT_VIOLATED;
	if (!run_counted(c)) return VERDICT_INCONCLUSIVE;
	if (all && all->complete && all->seen_histories == all->histories)
		return VERDICT_HOLDS;
	if (campaign_stats(c->campaign)->stop != STOP_NONE)
		return VERDICT_INCONCLUSIVE;
	return VERDICT_NO_VIOLATION;
}

const char *name_run_stop(const struct run_case *c)
{
	enum stop_reason stop = campaign_stats(c->campaign)->stop;
	return stop == STOP_TOO_LARGE ? campaign_problem(c->campaign)
	                              : stop_text(stop);
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
	style_count(t, campaign_stats(c->campaign)->violating);
	text_string(t, " of ");
	style_count(t, counted);
	text_string(t, " runs");
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
	if (violated && error_happens(c)) text_string(t, ", or ");
	if (error_happens(c)) text_string(t, "a run-time error happens");
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
	style_count(t, counted);
	text_string(t, " runs");
}

static void all_histories(struct text *t, uint64_t histories)
{
	if (histories == 1) {
		text_string(t, "the one history, which the runs have seen,");
		return;
	}
	text_string(t, "every history, all ");
	style_count(t, histories);
	text_string(t, " of which the runs have seen,");
}

static void open_reason(struct text *t, const struct run_case *c)
{
	uint64_t runs = campaign_stats(c->campaign)->runs;
	if (runs && !run_counted(c)) {
		text_string(t, "no run counts, as ");
		text_string(t, runs == 1 ? "it" : "each of ");
		if (runs > 1) style_count(t, runs);
		text_string(t, " makes an assumption false,");
		return;
	}
	text_string(t, name_run_stop(c));
	text_string(t, ", with no violation in ");
	style_plural(t, run_counted(c), "run", "runs");
}

void name_run_reason(struct text *t, const struct run_case *c)
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
	name_level(t, campaign_options(c->campaign)->level);
}

/* ---- how to repeat a run ---- */

void name_policy(struct text *t, const struct run_case *c)
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

void name_run_command(struct text *t, const struct run_case *c, uint64_t number)
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
}
