/* The result of checking a recorded history. */
#include "result/checked.h"

#include <assert.h>
#include <inttypes.h>

#include "history/history.h"
#include "result/names.h"
#include "result/parts.h"
#include "result/result.h"

/* ---- levels ---- */

static void add_level_words(struct result *r, struct result_values *to,
                            const char *name, const struct check_case *c,
                            const enum level *levels, unsigned count)
{
	struct result_values *list = result_list(r, to, name);
	for (unsigned i = 0; i < count; i++)
		result_text(r, list, NULL,
		            checked_level_word(c->owns, levels[i]));
}

/* Has the level a witness of its own? */
static bool has_witness(const struct check_case *c, enum level l)
{
	return c->witnesses && check_has(c, l, VERDICT_VIOLATED) &&
	       c->shown_by[l] == l;
}

/* The place of this level's witness in the list of witnesses. */
static unsigned witness_place(const struct check_case *c, enum level l)
{
	unsigned place = 0;
	for (enum level o = 0; o < l; o++) place += has_witness(c, o);
	return place;
}

static void add_levels(struct result *r, const struct check_case *c)
{
	struct result_values *levels = result_group(r, &r->findings, "levels");
	for (enum level l = 0; l < LEVEL_COUNT; l++) {
		const struct check_result *found = &c->results[l];
		if (!(c->wanted >> l & 1)) continue;
		struct result_values *to =
			result_group(r, levels, checked_level_word(c->owns, l));
		result_text(r, to, "verdict", verdict_word(found->verdict));
		if (found->verdict == VERDICT_UNDECIDED)
			result_text(r, to, "reason", found->reason);
		if (found->verdict != VERDICT_VIOLATED) continue;
		result_text(r, to, "anomaly", check_anomaly_name(c, l));
		if (c->witnesses && c->shown_by[l] < LEVEL_COUNT)
			result_count(r, to, "witness",
			             witness_place(c, c->shown_by[l]));
	}
}

/* ---- anomalies ---- */

static void add_anomaly(struct result *r, struct result_values *to,
                        const struct trace *t, const struct trace_anomaly *a)
{
	struct text words = { 0 };
	uint32_t line = t->ops[a->op].line;
	result_text(r, to, "kind", trace_anomaly_word(a->kind));
	result_text(r, to, "name", trace_anomaly_name(a->kind));
	name_trace_transaction(&words, t, a->transaction);
	result_taken(r, to, "transaction", &words);
	name_trace_operation(&words, t, a->op);
	result_taken(r, to, "operation", &words);
	result_count_if(r, to, "line", line, line);
	if (a->writer < t->transaction_count) {
		name_trace_transaction(&words, t, a->writer);
		result_taken(r, to, "other_transaction", &words);
	}
	if (a->other != TRACE_NONE) {
		name_trace_operation(&words, t, a->other);
		result_taken(r, to, "other_operation", &words);
		if (t->ops[a->other].line)
			result_count(r, to, "other_line",
			             t->ops[a->other].line);
	}
	name_trace_anomaly(&words, t, a);
	result_taken(r, to, "words", &words);
	text_free(&words);
}

static void add_anomalies(struct result *r, const struct trace *t)
{
	uint64_t found = 0;
	struct result_values *list = result_list(r, &r->findings, "anomalies");
	for (uint32_t i = 0; i < t->anomaly_count; i++)
		add_anomaly(r, result_group(r, list, NULL), t,
		            &t->anomalies[i]);
	for (int k = 0; k < ANOMALY_COUNT; k++) found += t->anomalies_found[k];
	assert(found >= t->anomaly_count);
	result_count(r, &r->findings, "anomalies_found", found);
}

/* ---- witnesses ---- */

static void add_witnesses(struct result *r, const struct check_case *c)
{
	struct result_values *list = result_list(r, &r->findings, "witnesses");
	for (enum level l = 0; l < LEVEL_COUNT; l++) {
		enum level levels[LEVEL_COUNT];
		unsigned count = 0;
		if (!has_witness(c, l)) continue;
		for (enum level o = l; o < LEVEL_COUNT; o++)
			if (check_has(c, o, VERDICT_VIOLATED) &&
			    c->shown_by[o] == l)
				levels[count++] = o;
		struct result_values *to = result_group(r, list, NULL);
		add_level_words(r, to, "levels", c, levels, count);
		result_witness(r, to, c->trace, &c->witnesses[l]);
	}
}

/* ---- commit orders and schedules ---- */

const char *check_moment_word(const struct check_case *c, enum level others,
                              struct schedule_moment m)
{
	const struct trace_transaction *t =
		&c->trace->transactions[m.transaction];
	enum level l = t->own ? (enum level)(t->own - 1) : others;
	return name_moment(m, l, t->status != TRACE_COMMITTED);
}

/* ["s.1","starts",2], ["s.1","commits"] */
static void add_schedules(struct result *r, const struct check_case *c)
{
	enum level levels[LEVEL_COUNT];
	unsigned count = check_strongest(c, levels);
	struct text words = { 0 };
	struct result_values *schedules = NULL;
	for (unsigned i = 0; i < count; i++) {
		const struct check_result *x = &c->results[levels[i]];
		if (!x->schedule.count) continue;
		if (!schedules)
			schedules = result_group(r, &r->findings, "schedules");
		struct result_values *list = result_list(
			r, schedules, checked_level_word(c->owns, levels[i]));
		for (size_t k = 0; k < x->schedule.count; k++) {
			struct schedule_moment m = x->schedule.items[k];
			struct result_values *to = result_list(r, list, NULL);
			name_trace_transaction(&words, c->trace, m.transaction);
			result_taken(r, to, NULL, &words);
			result_text(r, to, NULL,
			            check_moment_word(c, levels[i], m));
			if (schedule_is_statement(m))
				result_count(r, to, NULL, m.statement);
		}
	}
	text_free(&words);
}

static void add_orders(struct result *r, const struct check_case *c)
{
	enum level levels[LEVEL_COUNT];
	unsigned count = check_strongest(c, levels);
	const struct trace *t = c->trace;
	struct text words = { 0 };
	struct result_values *orders =
		result_group(r, &r->findings, "commit_orders");
	for (unsigned i = 0; i < count; i++) {
		const uint32_t *order = c->results[levels[i]].order;
		if (!order) continue;
		struct result_values *list = result_list(
			r, orders, checked_level_word(c->owns, levels[i]));
		for (uint32_t k = 0; k < t->transaction_count; k++) {
			if (order[k] == TRACE_INIT ||
			    t->transactions[order[k]].status != TRACE_COMMITTED)
				continue;
			name_trace_transaction(&words, t, order[k]);
			result_taken(r, list, NULL, &words);
		}
	}
	text_free(&words);
}

/* ---- all ---- */

static uint32_t own_levels(const struct trace *t)
{
	uint32_t count = 0;
	for (uint32_t i = 1; i < t->transaction_count; i++)
		count += t->transactions[i].own != 0;
	assert(count < t->transaction_count);
	return count;
}

enum check_owns trace_owns(const struct trace *t)
{
	uint32_t count = own_levels(t);
	if (!count) return OWNS_NONE;
	return count + 1 < t->transaction_count ? OWNS_SOME : OWNS_ALL;
}

void result_owns(struct result *r, const struct trace *t)
{
	uint32_t count = own_levels(t);
	result_count_if(r, &r->settings, "own_levels", count, count);
}

static void add_settings(struct result *r, const struct check_case *c)
{
	const struct trace *t = c->trace;
	struct result_values *to = &r->settings;
	result_text(r, to, "file", t->file);
	result_count(r, to, "history", c->number);
	result_count_if(r, to, "line", t->line, t->line);
	result_text(r, to, "format", format_word(c->format));
	result_count(r, to, "sessions", t->session_count);
	if (c->as) result_text(r, to, "deployment", c->as);
	result_count(r, to, "transactions", t->transaction_count - 1);
	result_owns(r, t);
	result_count(r, to, "operations", t->op_count);
	result_count(r, to, "keys", t->key_count);
}

struct result *result_of_check(const struct check_case *c, bool orders)
{
	enum level levels[LEVEL_COUNT];
	struct text reason = { 0 };
	struct result *r = result_new(NULL, check_only(c));
	r->verdict = check_overall(c);
	name_check_reason(&reason, c);
	r->reason = result_words(r, &reason);
	add_settings(r, c);
	unsigned count = check_strongest(c, levels);
	add_level_words(r, &r->findings, "strongest", c, levels, count);
	add_levels(r, c);
	add_anomalies(r, c->trace);
	add_witnesses(r, c);
	result_text(r, &r->findings, "unexplained", c->unexplained);
	if (orders) {
		add_orders(r, c);
		add_schedules(r, c);
	}
	struct result_values *to = result_group(r, &r->measures, "seconds");
	result_seconds(r, to, "read", c->read_seconds);
	result_seconds(r, to, "check", c->check_seconds);
	result_seconds(r, to, "explain", c->explain_seconds);
	text_free(&reason);
	return r;
}

/* ---- many histories ---- */

enum { LISTED_MOST = 10 };

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
