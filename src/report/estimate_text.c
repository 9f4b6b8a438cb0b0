#include "report/estimate_text.h"

#include <math.h>
#include <string.h>

#include "dpor/explorer.h"
#include "dpor/verdict.h"
#include "report/names.h"
#include "report/rough.h"
#include "report/share.h"
#include "report/text.h"

/* ---- words ---- */

/* " (95 %: 1.1 to 1.6 million)" */
static void name_interval(struct text *t, const struct estimate *e)
{
	if (e->exact || !e->groups) return;
	text_string(t, " (95 %: ");
	rough_range(t, e->low, e->high);
	text_char(t, ')');
}

static void name_about(struct text *t, const struct estimate *e)
{
	if (!e->groups) {
		text_string(t, "an unknown number of");
		return;
	}
	if (e->exact) {
		style_count(t, (uint64_t)e->histories);
		return;
	}
	text_string(t, "about ");
	rough_count(t, fmax(e->histories, e->low));
}

static void name_time(struct text *t, const struct outlook *o)
{
	if (!(o->left.seconds > 0)) return;
	text_string(t, o->left.seconds / o->jobs < 0.1 ? ", " : ", about ");
	rough_seconds(t, o->left.seconds / o->jobs);
	if (o->jobs > 1) text_format(t, " with %u threads", o->jobs);
}

void name_outlook(struct text *t, const struct explorer *e,
                  const struct outlook *o)
{
	const struct explore_options *options = explorer_options(e);
	name_about(t, &o->whole);
	text_string(t, " histories");
	if (o->classes > 0) {
		text_string(t, o->whole.exact ? " in " : " in about ");
		rough_count(t, o->classes);
		text_string(t, " classes");
	}
	if (options->max_changes < UINT64_MAX) {
		text_char(t, ' ');
		name_bound(t, options->max_changes);
	}
	text_string(t, " under ");
	name_level(t, options->level);
	name_interval(t, &o->whole);
	name_time(t, o);
}

/* ": about 7 %" */
static void name_percent(struct text *t, const struct sample_share *s)
{
	double share = share_of(s->distinct, &s->whole);
	if (!s->whole.groups || isnan(share)) return;
	if (s->whole.exact)
		text_format(t, ": %.3g %%", 100 * share);
	else if (share > 0.99)
		text_string(t, ": most of them");
	else
		text_format(t, ": about %.2g %%", 100 * share);
}

/* " of about 12,400 (95 %: 11,000 to 14,200)" */
static void name_whole(struct text *t, const struct estimate *e)
{
	if (!e->groups) return;
	text_string(t, " of ");
	name_about(t, e);
	name_interval(t, e);
}

void name_share(struct text *t, const struct sample_share *s)
{
	style_plural(t, s->distinct, "distinct history", "distinct histories");
	name_whole(t, &s->whole);
	text_string(t, " in ");
	style_plural(t, s->descents, "random descent", "random descents");
	name_percent(t, s);
}

/* ---- the result ---- */

static void report_reason(struct text *t, const struct style *s,
                          const struct explorer *e, const char *words)
{
	enum verdict v = explorer_verdict(e);
	if (v == VERDICT_INCONCLUSIVE) {
		style_verdict(t, s, v);
		text_string(t, ": ");
	} else {
		report_verdict(t, s, e);
	}
	text_string(t, words);
	text_char(t, '\n');
}

void report_roughly(struct text *t, const struct style *s,
                    const struct explorer *e, const char *words,
                    const struct estimate *all)
{
	struct text result = { 0 };
	report_reason(t, s, e, words);
	if (!all) return;
	report_partial(&result, s, e, all);
	text_string(t, strchr(text_get(&result), '\n') + 1);
	text_free(&result);
}
