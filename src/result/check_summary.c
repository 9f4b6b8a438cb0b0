/* The result of checking many recorded histories. */
#include <assert.h>
#include <inttypes.h>

#include "result/checked.h"
#include "result/names.h"
#include "result/numbers.h"
#include "result/result.h"

enum { LISTED_MOST = 10, COUNT_WIDTH = 12 };

static void list_violating(struct check_summary *m, const struct check_case *c)
{
	enum level levels[LEVEL_COUNT];
	struct text *t = &m->list;
	text_format(t, "  history %" PRIu64 " (", c->number);
	name_trace_place(t, c->trace, c->trace->line);
	text_char(t, ')');
	if (check_only(c) == LEVEL_COUNT) {
		unsigned count = check_strongest(c, levels);
		text_string(t, ": ");
		name_level_or_levels(t, levels, count);
		text_string(t, !count       ? "no level holds"
		               : count == 1 ? " holds"
		                            : " hold");
	}
	text_char(t, '\n');
	m->listed++;
}

void check_summary_add(struct check_summary *m, const struct check_case *c)
{
	enum verdict v = check_overall(c);
	m->histories++;
	m->wanted |= c->wanted;
	if (m->histories == 1)
		m->owns = c->owns;
	else if (c->owns != m->owns)
		m->owns = OWNS_SOME;
	m->as = c->as;
	m->overall[v]++;
	for (enum level l = 0; l < LEVEL_COUNT; l++)
		if (c->wanted >> l & 1) m->verdicts[l][c->results[l].verdict]++;
	if (v != VERDICT_VIOLATED) return;
	if (m->listed < LISTED_MOST)
		list_violating(m, c);
	else
		m->unlisted++;
}

void check_summary_free(struct check_summary *m)
{
	text_free(&m->list);
}

enum verdict check_summary_verdict(const struct check_summary *m)
{
	if (m->overall[VERDICT_VIOLATED]) return VERDICT_VIOLATED;
	return m->overall[VERDICT_UNDECIDED] || m->stopped ? VERDICT_UNDECIDED
	                                                   : VERDICT_HOLDS;
}

/* ---- the verdict in words ---- */

static enum level summary_only(const struct check_summary *m)
{
	return check_only(&(struct check_case){ .wanted = m->wanted });
}

/* "37 of 1,000 histories " */
static void name_share(struct text *t, const struct check_summary *m,
                       enum verdict v)
{
	if (m->histories == 1) {
		text_string(t, "the first history ");
		return;
	}
	number_of_all(t, m->overall[v], m->histories, "histories");
	text_char(t, ' ');
}

static void name_reason(struct text *t, const struct check_summary *m)
{
	enum verdict v = check_summary_verdict(m);
	enum level l = summary_only(m);
	bool one = m->overall[v] == 1;
	if (v == VERDICT_UNDECIDED && !m->overall[v]) v = VERDICT_HOLDS;
	name_share(t, m, v);
	if (v == VERDICT_UNDECIDED)
		text_string(t, "could not be decided");
	else if (v == VERDICT_HOLDS)
		text_string(t, one ? "satisfies " : "satisfy ");
	else if (l == LEVEL_COUNT)
		text_string(t, one ? "is not serializable"
		                   : "are not serializable");
	else
		text_string(t, one ? "violates " : "violate ");
	if (v != VERDICT_UNDECIDED && (l < LEVEL_COUNT || v == VERDICT_HOLDS))
		name_checked_level(t, m->owns,
		                   l < LEVEL_COUNT ? l : LEVEL_SERIAL, m->as,
		                   true);
	if (m->stopped)
		text_format(t, "; %s, and the rest was not looked at",
		            m->stopped);
}

/* ---- the document ---- */

static void add_counts(struct result *r, const struct check_summary *m)
{
	struct text n = { 0 };
	result_level_table(r, VERDICT_UNDECIDED + 1, COUNT_WIDTH);
	struct result_row *row = result_row(r, "");
	for (enum verdict v = 0; v <= VERDICT_UNDECIDED; v++)
		row->cells[v].words = verdict_word(v);
	for (enum level l = 0; l < LEVEL_COUNT; l++) {
		if (!(m->wanted >> l & 1)) continue;
		row = result_level_row(r, m->owns, l);
		for (enum verdict v = 0; v <= VERDICT_UNDECIDED; v++) {
			number_count(&n, m->verdicts[l][v]);
			row->cells[v].words = result_words(r, &n);
		}
	}
	text_free(&n);
}

static void add_list(struct result *r, const struct check_summary *m)
{
	struct text t = { 0 };
	assert(m->listed || !m->unlisted);
	if (!m->listed) return;
	text_format(&t, "\nviolating:\n%s", text_get(&m->list));
	if (m->unlisted) {
		text_string(&t, "  … and ");
		number_plural(&t, m->unlisted, "other", "others");
		text_string(&t, "; --strongest and --json tell all\n");
	}
	r->note = result_words(r, &t);
	text_free(&t);
}

struct result *result_of_checks(const struct check_summary *m)
{
	struct text t = { 0 };
	struct result *r = result_new(NULL, summary_only(m));
	r->verdict = check_summary_verdict(m);
	name_reason(&t, m);
	r->reason = result_words(r, &t);
	add_counts(r, m);
	add_list(r, m);
	result_line_costs(r, &(struct result_time){ .seconds = m->seconds }, 1);
	text_free(&t);
	return r;
}
