/* The result of checking a recorded history. */
#include "result/checked.h"

#include <assert.h>
#include <inttypes.h>

#include "history/history.h"
#include "result/names.h"
#include "result/numbers.h"
#include "result/parts.h"
#include "result/result.h"

enum {
	PLACES_SHOWN = 40,
	LABEL_WIDTH = 37, /* of a level: its word, its name, and blanks */
	VERDICT_WIDTH = 11
};

void result_trace_transaction(struct result *r, struct result_values *to,
                              const char *name, const struct trace *t,
                              uint32_t i)
{
	struct text words = { 0 };
	name_trace_transaction(&words, t, i);
	result_taken(r, to, name, &words);
	text_free(&words);
}

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

struct result_table *result_level_table(struct result *r, unsigned columns,
                                        unsigned column_least)
{
	r->table_leads = true;
	return result_table(r, columns, column_least, LABEL_WIDTH);
}

struct result_row *result_level_row(struct result *r, enum check_owns owns,
                                    enum level l)
{
	return result_row(
		r, result_format(r, "  %-4s  %s", checked_level_word(owns, l),
	                         owns == OWNS_ALL ? "Levels of their own"
	                                          : level_name(l)));
}

/* A line for people; `note`: what there is to say of the verdict, or NULL. */
static void add_level_row(struct result *r, const struct check_case *c,
                          enum level l, const char *note)
{
	struct result_cell *cells = result_level_row(r, c->owns, l)->cells;
	enum verdict v = c->results[l].verdict;
	cells[0] = (struct result_cell){ verdict_word(v), result_mark_of(v) };
	cells[1].words = result_format(r, "%s", note ? note : "");
}

static void add_levels(struct result *r, const struct check_case *c)
{
	struct result_values *levels = result_group(r, &r->findings, "levels");
	bool several = check_only(c) == LEVEL_COUNT;
	if (several) result_level_table(r, 2, VERDICT_WIDTH)->left = true;
	for (enum level l = 0; l < LEVEL_COUNT; l++) {
		const struct check_result *found = &c->results[l];
		if (!(c->wanted >> l & 1)) continue;
		struct result_values *to =
			result_group(r, levels, checked_level_word(c->owns, l));
		bool open = found->verdict == VERDICT_UNDECIDED;
		bool violated = found->verdict == VERDICT_VIOLATED;
		const char *note = open       ? found->reason
		                   : violated ? check_anomaly_name(c, l)
		                              : NULL;
		if (several) add_level_row(r, c, l, note);
		result_text(r, to, "verdict", verdict_word(found->verdict));
		if (open) result_text(r, to, "reason", note);
		if (!violated) continue;
		result_text(r, to, "anomaly", note);
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
	result_trace_transaction(r, to, "transaction", t, a->transaction);
	name_trace_operation(&words, t, a->op);
	result_taken(r, to, "operation", &words);
	result_count_if(r, to, "line", line, line);
	if (a->writer < t->transaction_count)
		result_trace_transaction(r, to, "other_transaction", t,
		                         a->writer);
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

/* "violates Causal Consistency (cc), and so si and ser": the first of these
 * levels, and the others, that are stronger. */
static void name_violated(struct text *t, const struct check_case *c,
                          const enum level *levels, unsigned count)
{
	assert(count && count <= LEVEL_COUNT);
	text_string(t, "violates ");
	if (count == LEVEL_COUNT && !c->owns) {
		text_string(t, "every level");
		return;
	}
	name_checked_level(t, c->owns, levels[0], c->as, false);
	if (count > 1) text_string(t, ", and so ");
	name_levels(t, levels + 1, count - 1);
}

/* Where the transactions stand in the file. */
static void name_places(struct text *t, const struct trace *r,
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

/* The levels that it shows to be violated begin with its own. */
static void add_part(struct result *r, const struct check_case *c,
                     const enum level *levels, unsigned count)
{
	enum level l = levels[0];
	const struct check_witness *w = &c->witnesses[l];
	struct result_part *part = result_part(r);
	struct text t = { 0 };
	const char *who = c->owns                           ? "Its levels"
	                  : level_sight(l) == SIGHT_NOTHING ? "Every level"
	                                                    : level_name(l);
	name_violated(&t, c, levels, count);
	part->heading = result_words(r, &t);
	text_format(&t, "%s violates ", r->place);
	name_checked_level(&t, c->owns, l, c->as, false);
	if (w->anomaly) text_format(&t, ": %s", w->anomaly);
	part->title = result_words(r, &t);
	if (c->trace->lists)
		text_string(&t, "  of a list that was read, the last element "
		                "is shown\n");
	name_places(&t, c->trace, w);
	result_witness_part(r, part, w, c->trace->transaction_count - 1, who,
	                    &t);
	text_free(&t);
}

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
		add_part(r, c, levels, count);
	}
}

/* Levels that are violated and for which there is nothing to show. */
static void add_unexplained(struct result *r, const struct check_case *c)
{
	enum level levels[LEVEL_COUNT];
	unsigned count = 0;
	struct text words = { 0 };
	result_text(r, &r->findings, "unexplained", c->unexplained);
	for (enum level l = 0; c->witnesses && l < LEVEL_COUNT; l++)
		if (check_has(c, l, VERDICT_VIOLATED) &&
		    c->shown_by[l] == LEVEL_COUNT &&
		    check_forbidding(c->trace, l) == ANOMALY_COUNT)
			levels[count++] = l;
	if (!count) return;
	name_levels(&words, levels, count);
	text_format(&words,
	            " %s violated, but a small part that shows it was not "
	            "found: %s",
	            count == 1 ? "is" : "are",
	            c->unexplained ? c->unexplained : "the search ended");
	result_part(r)->heading = result_words(r, &words);
	text_free(&words);
}

/* ---- commit orders and schedules ---- */

/* What happens at a moment of a schedule under this level: name_moment(). */
static const char *moment_word(const struct check_case *c, enum level others,
                               struct schedule_moment m)
{
	const struct trace_transaction *t =
		&c->trace->transactions[m.transaction];
	enum level l = t->own ? (enum level)(t->own - 1) : others;
	return name_moment(m, l, c->trace->ssi && c->owns,
	                   t->status != TRACE_COMMITTED);
}

/* ["s.1","starts",2], ["s.1","commits"] */
static void add_schedules(struct result *r, const struct check_case *c,
                          const enum level *levels, unsigned count)
{
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
			result_trace_transaction(r, to, NULL, c->trace,
			                         m.transaction);
			result_text(r, to, NULL, moment_word(c, levels[i], m));
			if (schedule_is_statement(m))
				result_count(r, to, NULL, m.statement);
		}
	}
}

static void add_orders(struct result *r, const struct check_case *c,
                       const enum level *levels, unsigned count)
{
	const struct trace *t = c->trace;
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
			result_trace_transaction(r, list, NULL, t, order[k]);
		}
	}
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
	if (t->ssi) result_text(r, to, "serializable", "postgres");
	result_count(r, to, "transactions", t->transaction_count - 1);
	result_owns(r, t);
	result_count(r, to, "operations", t->op_count);
	result_count(r, to, "keys", t->key_count);
}

struct result *result_of_check(const struct check_case *c, bool orders)
{
	enum level levels[LEVEL_COUNT];
	struct text words = { 0 };
	struct result *r = result_new(NULL, check_only(c));
	r->verdict = check_overall(c);
	name_check_reason(&words, c);
	r->reason = result_words(r, &words);
	name_trace_place(&words, c->trace, c->trace->line);
	r->place = result_words(r, &words);
	add_settings(r, c);
	unsigned count = check_strongest(c, levels);
	add_level_words(r, &r->findings, "strongest", c, levels, count);
	add_levels(r, c);
	add_anomalies(r, c->trace);
	add_witnesses(r, c);
	add_unexplained(r, c);
	if (orders) {
		add_orders(r, c, levels, count);
		add_schedules(r, c, levels, count);
	}
	struct result_values *to = result_group(r, &r->measures, "seconds");
	result_seconds(r, to, "read", c->read_seconds);
	result_seconds(r, to, "check", c->check_seconds);
	result_seconds(r, to, "explain", c->explain_seconds);
	text_free(&words);
	return r;
}

/* ---- costs ---- */

static uint32_t aborted_count(const struct trace *r)
{
	uint32_t count = 0;
	for (uint32_t i = 1; i < r->transaction_count; i++)
		count += r->transactions[i].status != TRACE_COMMITTED;
	return count;
}

static void name_size(struct text *t, const struct trace *r)
{
	uint32_t aborted = aborted_count(r);
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
}

void result_check_costs(struct result *r, const struct check_case *c)
{
	const struct result_time times[] = {
		{ c->read_seconds, "reading", false },
		{ c->check_seconds, "checking", false },
		{ c->explain_seconds, "explaining", true },
	};
	struct text t = { 0 };
	name_size(&t, c->trace);
	text_format(&t, "; format %s", format_word(c->format));
	result_line_words(r, "history", &t);
	result_line_costs(r, times, sizeof times / sizeof *times);
	text_free(&t);
}
