/* The result of predicting from many observed histories. */
#include <assert.h>

#include "result/checked.h"
#include "result/names.h"
#include "result/numbers.h"
#include "result/predicted.h"
#include "result/result.h"

enum { LABEL_WIDTH = 18, COUNT_WIDTH = 12 };

void predict_summary_add(struct predict_summary *m,
                         const struct predict_case *c)
{
	enum verdict v = predict_verdict(c);
	m->mixed |= m->histories && m->options.level != c->options->level;
	enum check_owns owns = trace_owns(c->observed);
	m->ssi = c->observed->ssi;
	m->owns = !m->histories || owns == m->owns ? owns : OWNS_SOME;
	m->options = *c->options;
	m->program = c->program;
	m->histories++;
	m->verdicts[v]++;
	m->answers[c->found ? PREDICT_FOUND : c->answer]++;
	m->validated += c->validated > 0;
	m->confirms |= c->confirms;
	m->confirmed += c->confirmed > 0;
	m->refuted += c->program && c->found && !c->validated;
	m->diverged += c->diverged > 0;
	m->themselves += c->itself;
}

enum verdict predict_summary_verdict(const struct predict_summary *m)
{
	if (m->verdicts[VERDICT_VIOLATED]) return VERDICT_VIOLATED;
	return m->verdicts[VERDICT_INCONCLUSIVE] || m->stopped || !m->histories
	               ? VERDICT_INCONCLUSIVE
	               : VERDICT_NO_VIOLATION;
}

/* ---- the verdict in words ---- */

/* "7 of 10 traces" */
static void name_share(struct text *t, const struct predict_summary *m,
                       uint64_t count)
{
	const char *one = m->recorded ? "trace" : "history";
	if (m->histories == 1) {
		text_format(t, "the %s %s", m->stopped ? "first" : "only", one);
		return;
	}
	number_of_all(t, count, m->histories,
	              m->recorded ? "traces" : "histories");
}

static void name_levels_of(struct text *t, const struct predict_summary *m)
{
	if (m->owns == OWNS_ALL) {
		text_string(t, "the mix of its levels");
		name_ssi(t, m->ssi);
		if (m->ssi) text_char(t, ',');
		return;
	}
	if (m->mixed)
		text_string(t, "the level it states");
	else
		name_level_as(t, m->options.level, m->options.as);
	if (!m->owns) return;
	text_string(t, ", beside transactions with levels of their own");
	name_ssi(t, m->ssi);
	text_char(t, ',');
}

static void reason_violated(struct text *t, const struct predict_summary *m)
{
	bool strict = m->options.boundary == BOUNDARY_STRICT;
	text_string(t, "from ");
	name_share(t, m, m->verdicts[VERDICT_VIOLATED]);
	text_format(t, " %s execution that ",
	            m->program ? "a validated"
	            : strict   ? "a feasible"
	                       : "an");
	name_levels_of(t, m);
	text_string(t, " allows and that is not serializable is predicted");
}

static void reason_nothing(struct text *t, const struct predict_summary *m)
{
	text_string(t, "nothing found near ");
	name_share(t, m, m->histories);
	text_format(t, ": within %s, every execution that ",
	            predict_boundary_words(m->options.boundary));
	name_levels_of(t, m);
	text_string(t, " allows is serializable");
}

static void reason_undecided(struct text *t, const struct predict_summary *m)
{
	if (!m->histories) {
		text_string(t, "there is no history to predict from");
		if (m->left_out)
			text_string(t, ": every run meets a false assumption");
		return;
	}
	text_string(t, "nothing is shown from ");
	if (m->histories == 1) {
		name_share(t, m, m->histories);
	} else {
		text_string(t, "any of ");
		number_plural(t, m->histories, "history",
		              m->recorded ? "traces" : "histories");
	}
	if (!m->verdicts[VERDICT_NO_VIOLATION]) return;
	text_string(t, ", and for ");
	number_count(t, m->verdicts[VERDICT_INCONCLUSIVE]);
	text_string(t, " of them nothing is excluded");
}

static void name_reason(struct text *t, const struct predict_summary *m)
{
	switch (predict_summary_verdict(m)) {
	case VERDICT_VIOLATED: reason_violated(t, m); break;
	case VERDICT_NO_VIOLATION: reason_nothing(t, m); break;
	default: reason_undecided(t, m); break;
	}
	if (m->stopped)
		text_format(t, "; %s, and the rest was not looked at",
		            m->stopped);
}

/* ---- the document ---- */

static void add_count(struct result *r, const char *label, uint64_t n)
{
	struct text count = { 0 };
	number_count(&count, n);
	result_row(r, label)->cells[0].words = result_words(r, &count);
	text_free(&count);
}

static void add_counts(struct result *r, const struct predict_summary *m)
{
	result_table(r, 1, COUNT_WIDTH, LABEL_WIDTH);
	r->table_leads = true;
	add_count(r, m->recorded ? "  traces" : "  histories", m->histories);
	add_count(r, "  predicted", m->answers[PREDICT_FOUND]);
	if (m->themselves) add_count(r, "    as observed", m->themselves);
	if (m->program) {
		add_count(r, "    validated", m->validated);
		add_count(r, "    not validated", m->refuted);
		add_count(r, "    diverged", m->diverged);
		if (m->confirms) add_count(r, "    confirmed", m->confirmed);
	}
	add_count(r, "  none", m->answers[PREDICT_NONE]);
	add_count(r, "  unknown", m->answers[PREDICT_UNKNOWN]);
	if (m->left_out) add_count(r, "  runs left out", m->left_out);
}

struct result *result_of_predict_summary(const struct predict_summary *m)
{
	struct result *r = result_new(NULL, m->options.level);
	struct text t = { 0 };
	assert(m->refuted <= m->answers[PREDICT_FOUND]);
	assert(m->confirmed <= m->answers[PREDICT_FOUND]);
	r->verdict = predict_summary_verdict(m);
	name_reason(&t, m);
	r->reason = result_words(r, &t);
	if (r->verdict == VERDICT_NO_VIOLATION) {
		name_predict_next_steps(&t, m->recorded, m->options.boundary);
		r->outlook = result_words(r, &t);
	}
	add_counts(r, m);
	result_line_costs(r, &(struct result_time){ .seconds = m->seconds }, 1);
	text_free(&t);
	return r;
}
