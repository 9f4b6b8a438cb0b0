#include "report/check_text.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "history/history.h"
#include "report/report.h"
#include "result/names.h"
#include "report/witness_text.h"
#include "result/numbers.h"

enum {
	NAME_WIDTH = 29, /* of a level's name, and two blanks */
	ANOMALIES_SHOWN = 10,
	PLACES_SHOWN = 40
};

/* Seconds that are not worth telling. */
static const double LEAST_SECONDS = 1e-6;

void report_check_verdict(struct text *t, const struct style *s,
                          const struct check_case *c)
{
	style_verdict(t, s, check_overall(c));
	text_string(t, ": ");
	name_check_reason(t, c);
	text_char(t, '\n');
}

/* ---- levels ---- */

static void print_level(struct text *t, const struct style *s,
                        const struct check_case *c, enum level l)
{
	const struct check_result *r = &c->results[l];
	assert(l < LEVEL_COUNT && c->wanted >> l & 1);
	const char *note = NULL;
	text_format(t, "  %-4s  %-*s", level_word(l), NAME_WIDTH,
	            level_name(l));
	style_verdict(t, s, r->verdict);
	if (r->verdict == VERDICT_VIOLATED) note = check_anomaly_name(c, l);
	if (r->verdict == VERDICT_UNDECIDED) note = r->reason;
	if (note) {
		size_t used = strlen(verdict_word(r->verdict));
		text_pad(t, ' ', 11 - used);
		text_string(t, note);
	}
	text_char(t, '\n');
}

static void print_levels(struct text *t, const struct style *s,
                         const struct check_case *c)
{
	if (check_only(c) < LEVEL_COUNT) return; /* the verdict says it */
	text_char(t, '\n');
	for (enum level l = 0; l < LEVEL_COUNT; l++)
		if (c->wanted >> l & 1) print_level(t, s, c, l);
}

/* ---- anomalies ---- */

static void print_anomaly(struct text *t, const struct style *s,
                          const struct trace *r, const struct trace_anomaly *a)
{
	text_string(t, "  ");
	style_words(t, s, STYLE_YELLOW, trace_anomaly_name(a->kind));
	text_string(t, "\n    ");
	name_trace_anomaly(t, r, a);
	text_char(t, '\n');
}

static void print_anomalies(struct text *t, const struct style *s,
                            const struct trace *r)
{
	uint64_t found = 0;
	uint32_t shown = 0;
	for (int k = 0; k < ANOMALY_COUNT; k++) found += r->anomalies_found[k];
	if (!found) return;
	text_string(t, found == 1 ? "\nThis read is wrong"
	                          : "\nThese reads are wrong");
	text_string(t, ", in whatever order the transactions ran:\n");
	for (; shown < r->anomaly_count && shown < ANOMALIES_SHOWN; shown++)
		print_anomaly(t, s, r, &r->anomalies[shown]);
	if (found == shown) return;
	text_string(t, "  … and ");
	number_plural(t, found - shown, "other", "others");
	text_string(t,
	            r->anomaly_count > shown ? "; --json lists more\n" : "\n");
}

/* ---- witnesses ---- */

/* "write skew: violates Serializability (ser)" */
static void print_title(struct text *t, const struct style *s,
                        const struct check_case *c, enum level l)
{
	enum level stronger[LEVEL_COUNT];
	unsigned count = 0;
	const char *name = c->witnesses[l].anomaly;
	for (enum level o = l + 1; o < LEVEL_COUNT; o++)
		if (c->shown_by[o] == l) stronger[count++] = o;
	text_char(t, '\n');
	if (name) {
		style_words(t, s, STYLE_RED, name);
		text_string(t, ": ");
	}
	text_string(t, "violates ");
	if (count == LEVEL_COUNT - 1 && !c->owns) {
		text_string(t, "every level\n");
		return;
	}
	name_checked_level(t, c, l);
	if (count) text_string(t, ", and so ");
	name_levels(t, stronger, count);
	text_char(t, '\n');
}

/* Where the transactions stand in the file. */
static void print_places(struct text *t, const struct trace *r,
                         const struct check_witness *w)
{
	uint32_t count = w->part->transaction_count, shown = 0;
	bool apart = false;
	for (uint32_t i = 2; i < count; i++)
		apart |= r->transactions[w->numbers[i]].line !=
		         r->transactions[w->numbers[1]].line;
	text_string(t, "  in ");
	name_trace_place(t, r, apart ? 0 : r->transactions[w->numbers[1]].line);
	for (uint32_t i = 1; apart && i < count; i++) {
		uint32_t line = r->transactions[w->numbers[i]].line;
		if (!line) continue;
		text_string(t, shown ? ", " : ": ");
		if (shown++ == PLACES_SHOWN) {
			text_string(t, "…");
			break;
		}
		name_transaction_short(t, w->part, i);
		text_format(t, " in line %" PRIu32, line);
	}
	text_char(t, '\n');
}

static void print_witness(struct text *t, const struct style *s,
                          const struct check_case *c, enum level l)
{
	assert(c->witnesses);
	const struct check_witness *w = &c->witnesses[l];
	print_title(t, s, c, l);
	report_witness_extent(t, w, c->trace->transaction_count - 1);
	text_string(t, ":\n\n");
	report_witness_part(t, s, w->part, NULL);
	text_char(t, '\n');
	report_witness_cycle(t, w,
	                     c->owns                           ? "Its levels"
	                     : level_sight(l) == SIGHT_NOTHING ? "Every level"
	                                                       : level_name(l));
	if (c->trace->lists)
		text_string(t, "  of a list that was read, the last element "
		               "is shown\n");
	print_places(t, c->trace, w);
}

/* Levels that are violated and for which there is nothing to show. */
static void print_unexplained(struct text *t, const struct check_case *c)
{
	enum level levels[LEVEL_COUNT];
	unsigned count = 0;
	for (enum level l = 0; l < LEVEL_COUNT; l++)
		if (check_has(c, l, VERDICT_VIOLATED) &&
		    c->shown_by[l] == LEVEL_COUNT &&
		    check_forbidding(c->trace, l) == ANOMALY_COUNT)
			levels[count++] = l;
	if (!count) return;
	text_char(t, '\n');
	name_levels(t, levels, count);
	text_string(t, count == 1 ? " is violated" : " are violated");
	text_format(t, ", but a small part that shows it was not found: %s\n",
	            c->unexplained ? c->unexplained : "the search ended");
}

void report_check(struct text *t, const struct style *s,
                  const struct check_case *c)
{
	print_levels(t, s, c);
	print_anomalies(t, s, c->trace);
	if (!c->witnesses) return;
	for (enum level l = 0; l < LEVEL_COUNT; l++)
		if (check_has(c, l, VERDICT_VIOLATED) && c->shown_by[l] == l)
			print_witness(t, s, c, l);
	print_unexplained(t, c);
}

/* ---- costs ---- */

static uint32_t aborted_count(const struct trace *r)
{
	uint32_t count = 0;
	for (uint32_t i = 1; i < r->transaction_count; i++)
		count += r->transactions[i].status != TRACE_COMMITTED;
	return count;
}

void report_check_costs(struct text *t, const struct check_case *c)
{
	const struct trace *r = c->trace;
	uint32_t aborted = aborted_count(r);
	text_string(t, "\nhistory   ");
	number_plural(t, r->transaction_count - 1, "transaction",
	              "transactions");
	if (aborted) {
		text_string(t, " (");
		number_count(t, aborted);
		text_string(t, " not committed)");
	}
	text_string(t, " in ");
	number_plural(t, r->session_count, "session", "sessions");
	text_string(t, ", ");
	number_plural(t, r->op_count, "operation", "operations");
	text_string(t, " on ");
	number_plural(t, r->key_count, "key", "keys");
	text_format(t, "; format %s\n", format_word(c->format));
	text_string(t, "time      ");
	number_seconds(t, c->read_seconds);
	text_string(t, " reading, ");
	number_seconds(t, c->check_seconds);
	text_string(t, " checking");
	if (c->explain_seconds >= LEAST_SECONDS) {
		text_string(t, ", ");
		number_seconds(t, c->explain_seconds);
		text_string(t, " explaining");
	}
	text_char(t, '\n');
	report_memory(t);
}

/* ---- orders and strongest levels ---- */

static void print_order(struct text *t, const struct check_case *c,
                        enum level l)
{
	const uint32_t *order = c->results[l].order;
	text_format(t, "\ncommit order under %s",
	            checked_level_word(c->owns, l));
	if (!order) {
		text_string(t, ": none was found within the limits\n");
		return;
	}
	text_string(t, ":\n");
	for (uint32_t i = 0; i < c->trace->transaction_count; i++) {
		if (order[i] == TRACE_INIT ||
		    c->trace->transactions[order[i]].status != TRACE_COMMITTED)
			continue;
		text_string(t, "  ");
		name_trace_transaction(t, c->trace, order[i]);
		text_char(t, '\n');
	}
}

static void print_schedule(struct text *t, const struct check_case *c,
                           enum level l)
{
	const struct check_result *r = &c->results[l];
	if (!r->schedule.count) return;
	text_format(t, "\nschedule under %s:\n",
	            checked_level_word(c->owns, l));
	for (size_t i = 0; i < r->schedule.count; i++) {
		struct schedule_moment m = r->schedule.items[i];
		text_string(t, "  ");
		name_trace_transaction(t, c->trace, m.transaction);
		text_format(t, " %s", check_moment_word(c, l, m));
		if (schedule_is_statement(m))
			text_format(t, " statement %" PRIu32, m.statement);
		text_char(t, '\n');
	}
}

void report_commit_orders(struct text *t, const struct check_case *c)
{
	enum level levels[LEVEL_COUNT];
	unsigned count = check_strongest(c, levels);
	for (unsigned i = 0; i < count; i++) {
		print_order(t, c, levels[i]);
		print_schedule(t, c, levels[i]);
	}
	if (!count)
		text_string(t, "\nno level holds, so there is no commit "
		               "order\n");
}

void report_strongest(struct text *t, const struct check_case *c)
{
	enum level levels[LEVEL_COUNT];
	unsigned count = check_strongest(c, levels);
	for (unsigned i = 0; i < count; i++)
		text_format(t, "%s\n", checked_level_word(c->owns, levels[i]));
	if (!count) text_string(t, "no level\n");
}

void report_strongest_of(struct text *t, const struct check_case *c)
{
	enum level levels[LEVEL_COUNT];
	unsigned count = check_strongest(c, levels);
	name_trace_place(t, c->trace, c->trace->line);
	text_char(t, ':');
	for (unsigned i = 0; i < count; i++)
		text_format(t, " %s", checked_level_word(c->owns, levels[i]));
	text_string(t, count ? "\n" : " no level\n");
}

/* ---- many histories ---- */

static enum level summary_only(const struct check_summary *m)
{
	return check_only(&(struct check_case){ .wanted = m->wanted });
}

/* "37 of 1,000 histories " */
static void print_share(struct text *t, const struct check_summary *m,
                        enum verdict v)
{
	if (m->histories == 1) {
		text_string(t, "the first history ");
		return;
	}
	if (m->overall[v] == m->histories) {
		text_string(t, "all ");
	} else {
		number_count(t, m->overall[v]);
		text_string(t, " of ");
	}
	number_count(t, m->histories);
	text_string(t, " histories ");
}

static void name_summary_level(struct text *t, const struct check_summary *m,
                               enum level l)
{
	if (m->owns == OWNS_ALL)
		text_string(t, "the levels of their transactions");
	if (m->owns == OWNS_SOME) text_string(t, "their levels, with ");
	if (m->owns != OWNS_ALL) name_level_as(t, l, m->as);
	if (m->owns == OWNS_SOME) text_string(t, " for those that have none");
}

void report_summary_verdict(struct text *t, const struct style *s,
                            const struct check_summary *m)
{
	enum verdict v = check_summary_verdict(m);
	enum level l = summary_only(m);
	bool one = m->overall[v] == 1;
	style_verdict(t, s, v);
	text_string(t, ": ");
	if (v == VERDICT_UNDECIDED && !m->overall[v]) v = VERDICT_HOLDS;
	print_share(t, m, v);
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
		name_summary_level(t, m, l < LEVEL_COUNT ? l : LEVEL_SERIAL);
	if (m->stopped)
		text_format(t, "; %s, and the rest was not looked at",
		            m->stopped);
	text_char(t, '\n');
}

static void print_column(struct text *t, const char *words)
{
	text_pad(t, ' ', 12 - style_columns(words));
	text_string(t, words);
}

static void print_counts(struct text *t, const struct check_summary *m)
{
	struct text n = { 0 };
	text_char(t, '\n');
	text_pad(t, ' ', 8 + NAME_WIDTH);
	for (enum verdict v = 0; v <= VERDICT_UNDECIDED; v++)
		print_column(t, verdict_word(v));
	text_char(t, '\n');
	for (enum level l = 0; l < LEVEL_COUNT; l++) {
		if (!(m->wanted >> l & 1)) continue;
		bool own = m->owns == OWNS_ALL;
		text_format(t, "  %-4s  %-*s", checked_level_word(m->owns, l),
		            NAME_WIDTH,
		            own ? "Levels of their own" : level_name(l));
		for (enum verdict v = 0; v <= VERDICT_UNDECIDED; v++) {
			text_clear(&n);
			number_count(&n, m->verdicts[l][v]);
			print_column(t, text_get(&n));
		}
		text_char(t, '\n');
	}
	text_free(&n);
}

void report_summary(struct text *t, const struct style *s,
                    const struct check_summary *m)
{
	report_summary_verdict(t, s, m);
	print_counts(t, m);
	if (m->listed) {
		text_string(t, "\nviolating:\n");
		text_string(t, text_get(&m->list));
	}
	if (m->unlisted) {
		text_string(t, "  … and ");
		number_plural(t, m->unlisted, "other", "others");
		text_string(t, "; --strongest and --json tell all\n");
	}
	text_string(t, "\ntime      ");
	number_seconds(t, m->seconds);
	text_char(t, '\n');
	report_memory(t);
}
