#include <assert.h>

#include "report/report.h"
#include "result/names.h"
#include "report/predict_text.h"
#include "result/numbers.h"

enum { COUNT_WIDTH = 12 };

void report_predict_line(struct text *t, const struct style *s,
                         const struct predict_case *c)
{
	name_predict_place(t, c);
	text_string(t, ": ");
	style_verdict(t, s, predict_verdict(c));
	if (c->itself) {
		text_string(t, ": the observed execution itself");
	} else if (c->found) {
		text_string(t, ": ");
		if (c->wanted) {
			number_plural(t, c->found, "prediction", "predictions");
			text_string(t, ", the first with ");
		}
		if (c->changed)
			number_plural(t, c->changed, "read changed",
			              "reads changed");
		else
			text_string(t, "a part of the observed execution");
		text_format(t, ", %s",
		            predict_boundary_word(c->first_boundary));
	} else if (c->reason) {
		text_format(t, ": %s", c->reason);
	}
	if (c->program && c->found) {
		text_string(t,
		            c->validated ? "; validated" : "; not validated");
		if (c->diverged) text_string(t, ", diverged");
	}
	text_char(t, '\n');
}

/* "7 of 10 traces" */
static void print_share(struct text *t, const struct predict_summary *m,
                        uint64_t count)
{
	const char *one = m->recorded ? "trace" : "history";
	if (m->histories == 1) {
		text_format(t, "the %s %s", m->stopped ? "first" : "only", one);
		return;
	}
	if (count < m->histories) {
		number_count(t, count);
		text_string(t, " of ");
	} else {
		text_string(t, "all ");
	}
	number_plural(t, m->histories, one,
	              m->recorded ? "traces" : "histories");
}

static void name_levels_of(struct text *t, const struct predict_summary *m)
{
	if (m->owns == OWNS_ALL) {
		text_string(t, "the mix of its levels");
		return;
	}
	if (m->mixed)
		text_string(t, "the level it states");
	else
		name_level_as(t, m->options.level, m->options.as);
	if (m->owns)
		text_string(t, ", beside transactions with levels of their "
		               "own,");
}

static void reason_violated(struct text *t, const struct predict_summary *m)
{
	bool strict = m->options.boundary == BOUNDARY_STRICT;
	text_string(t, "from ");
	print_share(t, m, m->verdicts[VERDICT_VIOLATED]);
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
	print_share(t, m, m->histories);
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
		print_share(t, m, m->histories);
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

void report_predict_summary_verdict(struct text *t, const struct style *s,
                                    const struct predict_summary *m)
{
	enum verdict v = predict_summary_verdict(m);
	style_verdict(t, s, v);
	text_string(t, ": ");
	switch (v) {
	case VERDICT_VIOLATED: reason_violated(t, m); break;
	case VERDICT_NO_VIOLATION: reason_nothing(t, m); break;
	default: reason_undecided(t, m); break;
	}
	if (m->stopped)
		text_format(t, "; %s, and the rest was not looked at",
		            m->stopped);
	text_char(t, '\n');
}

static void print_count(struct text *t, const char *words, uint64_t n)
{
	struct text count = { 0 };
	number_count(&count, n);
	text_format(t, "  %-16s", words);
	text_pad(t, ' ', COUNT_WIDTH - style_columns(text_get(&count)));
	text_string(t, text_get(&count));
	text_char(t, '\n');
	text_free(&count);
}

void report_predict_summary(struct text *t, const struct style *s,
                            const struct predict_summary *m)
{
	report_predict_summary_verdict(t, s, m);
	if (predict_summary_verdict(m) == VERDICT_NO_VIOLATION)
		name_predict_next_steps(t, m->recorded, m->options.boundary);
	text_char(t, '\n');
	print_count(t, m->recorded ? "traces" : "histories", m->histories);
	print_count(t, "predicted", m->answers[PREDICT_FOUND]);
	if (m->themselves) print_count(t, "  as observed", m->themselves);
	if (m->program) {
		print_count(t, "  validated", m->validated);
		print_count(t, "  not validated", m->refuted);
		print_count(t, "  diverged", m->diverged);
	}
	print_count(t, "none", m->answers[PREDICT_NONE]);
	print_count(t, "unknown", m->answers[PREDICT_UNKNOWN]);
	if (m->left_out) print_count(t, "runs left out", m->left_out);
	text_string(t, "\ntime      ");
	number_seconds(t, m->seconds);
	text_char(t, '\n');
	report_memory(t);
}
