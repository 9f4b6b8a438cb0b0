#include "result/audited.h"

#include <assert.h>
#include <string.h>

#include "base/bits.h"
#include "base/memory.h"
#include "history/history.h"
#include "result/audited_words.h"
#include "result/names.h"
#include "result/numbers.h"

enum {
	ANOMALIES_SHOWN = 20,
	CHANGES_SHOWN = 3, /* of each column */
	UNREAD_SHOWN = 8,
	STATEMENT_COLUMNS = 68
};

/* ---- settings and findings ---- */

static bool has_unread(const struct audit *a)
{
	for (uint32_t i = 0; i < a->classes.templates.count; i++)
		if (a->classes.templates.items[i].kind == TEMPLATE_UNREAD)
			return true;
	return false;
}

/* What was not looked at, though it may have anomalies; NULL: nothing. */
static const char *gap_of(const struct audit *a)
{
	const struct classes *c = &a->classes;
	bool skipped = false, mixed = false;
	for (uint32_t i = 0; i < a->options.log_count; i++) {
		mixed |= a->logs[i].one_session;
		for (int k = 0; k < LOG_SKIP_COUNT; k++)
			skipped |= a->logs[i].skipped[k].count > 0;
	}
	if (!c->count) return "no transaction that was committed was found";
	if (mixed) return "the log does not say which lines are of one session";
	if (skipped) return "parts of the logs were skipped";
	if (c->rolled_back) return "those that were rolled back are left out";
	if (c->unfinished) return "those without an end are left out";
	if (c->too_long) return "those that are too long are left out";
	return NULL;
}

enum verdict audit_verdict(const struct audit *a)
{
	if (a->anomaly_count) return VERDICT_VIOLATED;
	if (level_is_serial(a->options.level) && !a->options.group_by)
		return VERDICT_HOLDS;
	return a->stop || a->edges_open || has_unread(a) || gap_of(a)
	               ? VERDICT_INCONCLUSIVE
	               : VERDICT_HOLDS;
}

static void add_settings(struct result *r, const struct audit *a)
{
	struct result_values *logs = result_list(r, &r->settings, "logs");
	for (uint32_t i = 0; i < a->options.log_count; i++) {
		struct result_values *l = result_group(r, logs, NULL);
		result_text(r, l, "path", a->options.logs[i]);
		result_text(r, l, "format", log_format_word(a->logs[i].format));
	}
	result_level(r, a->options.level, a->options.as);
	result_text(r, &r->settings, "schema", a->options.schema);
	result_text(r, &r->settings, "hints", a->options.hints);
	result_text(r, &r->settings, "group_by", a->options.group_by);
}

static void add_node(struct result *r, struct result_values *to,
                     const struct audit *a, const char *class,
                     const struct audit_node *n)
{
	struct text words = { 0 };
	const struct class_statement *s = audited_statement(a, n);
	text_format(&words, "T%u", n->of + 1);
	result_taken(r, to, class, &words);
	result_text(r, to, "file", audited_file(a, s->file));
	result_count(r, to, "line", s->line);
	result_text(r, to, "statement", audited_text(a, n));
	text_free(&words);
}

static const char *kind_word(enum conflict_kind k)
{
	return k == CONFLICT_RW ? "rw" : k == CONFLICT_WR ? "wr" : "ww";
}

static const char *const confirm_words[CONFIRMATIONS] = {
	[CONFIRM_FOUND] = "confirmed",
	[CONFIRM_OTHER] = "another anomaly of these transactions",
	[CONFIRM_REFUTED] = "refuted",
	[CONFIRM_OPEN] = "inconclusive"
};

static void add_confirmed(struct result *r, struct result_values *to,
                          const struct confirmed *x)
{
	struct text words = { 0 };
	if (x->answer == CONFIRM_UNASKED) return;
	struct result_values *g = result_group(r, to, "exploring");
	result_text(r, g, "answer", confirm_words[x->answer]);
	result_text(r, g, "why", x->why);
	result_count(r, g, "histories", x->histories);
	result_text(r, g, "client",
	            x->client.length ? text_get(&x->client) : NULL);
	if (!x->history) return;
	history_print_canonical(&words, x->history);
	result_json(r, g, "history", &words);
	text_free(&words);
}

static void add_anomaly(struct result *r, struct result_values *to,
                        const struct audit *a, const struct audit_anomaly *x)
{
	struct text words = { 0 };
	result_text(r, to, "anomaly", audited_name(a, x));
	if (x->column != CATALOG_NONE)
		name_column(&words, &a->catalog, x->column);
	if (words.length)
		result_taken(r, to, "protect", &words);
	else
		result_text(r, to, "protect", NULL);
	name_audited_change(&words, a, x);
	result_taken(r, to, "change", &words);
	if (a->options.group_by)
		result_flag(r, to, "one_transaction", audit_spans_call(a, x));
	add_confirmed(r, to, &x->confirmed);
	struct result_values *cycle = result_list(r, to, "edges");
	for (uint32_t i = 0; i < x->cycle.count; i++) {
		const struct audit_edge *e = audited_edge(a, x, i);
		struct result_values *edge = result_group(r, cycle, NULL);
		result_text(r, edge, "kind", kind_word(e->kind));
		name_column(&words, &a->catalog, audited_column(a, x, e));
		result_taken(r, edge, "column", &words);
		add_node(r, result_group(r, edge, "from"), a, "class",
		         audited_node(a, e->from_node));
		add_node(r, result_group(r, edge, "to"), a, "class",
		         audited_node(a, e->to_node));
	}
	text_free(&words);
}

static void add_columns(struct result *r, const struct audit *a)
{
	struct result_values *list = result_list(r, &r->findings, "protect");
	struct text words = { 0 };
	for (uint32_t c = 0; a->protected && c < a->catalog.column_count; c++) {
		if (!bits_has(a->protected, c)) continue;
		struct result_values *g = result_group(r, list, NULL);
		name_column(&words, &a->catalog, c);
		result_taken(r, g, "column", &words);
		result_count(r, g, "weight", a->catalog.columns[c].weight);
	}
	text_free(&words);
}

static void add_unread(struct result *r, const struct audit *a)
{
	struct result_values *list = result_list(r, &r->findings, "unread");
	for (uint32_t i = 0; i < a->classes.templates.count; i++) {
		const struct template *x = &a->classes.templates.items[i];
		if (x->kind != TEMPLATE_UNREAD) continue;
		struct result_values *g = result_group(r, list, NULL);
		result_text(r, g, "file", audited_file(a, x->file));
		result_count(r, g, "line", x->line);
		result_count(r, g, "statements", x->count);
		result_text(r, g, "statement", x->text);
		result_text(r, g, "why", x->why);
	}
}

static const char *const skip_words[] = {
#define X(id, word, one, many) [id] = (word),
	LOG_SKIP_TABLE(X)
#undef X
};
static const char *const skip_one[] = {
#define X(id, word, one, many) [id] = (one),
	LOG_SKIP_TABLE(X)
#undef X
};
static const char *const skip_many[] = {
#define X(id, word, one, many) [id] = (many),
	LOG_SKIP_TABLE(X)
#undef X
};

static void add_skipped(struct result *r, const struct audit *a)
{
	struct result_values *list = result_list(r, &r->findings, "skipped");
	struct text lines = { 0 };
	for (uint32_t i = 0; i < a->options.log_count; i++)
		for (int k = 0; k < LOG_SKIP_COUNT; k++) {
			const struct log_skipped *s = &a->logs[i].skipped[k];
			if (!s->count) continue;
			struct result_values *g = result_group(r, list, NULL);
			result_text(r, g, "file", audited_file(a, i));
			result_text(r, g, "kind", skip_words[k]);
			result_count(r, g, "count", s->count);
			text_char(&lines, '[');
			for (uint64_t n = 0; n < s->count && n < LOG_PLACES;
			     n++)
				text_format(&lines, "%s%u", n ? "," : "",
				            s->lines[n]);
			text_char(&lines, ']');
			result_json(r, g, "lines", &lines);
		}
	text_free(&lines);
}

static void add_assumed(struct result *r, const struct audit *a)
{
	if (!a->options.proves) return;
	struct result_values *list = result_list(r, &r->findings, "assumed");
	for (uint32_t i = 0; i < a->proof.assumed_count; i++)
		result_text(r, list, NULL, a->proof.assumed[i]);
}

static void add_classes(struct result *r, const struct audit *a)
{
	struct result_values *list = result_list(r, &r->findings, "classes");
	struct text words = { 0 };
	for (uint32_t i = 0; i < a->classes.count; i++) {
		const struct transaction_class *x = &a->classes.items[i];
		struct result_values *g = result_group(r, list, NULL);
		text_format(&words, "T%u", i + 1);
		result_taken(r, g, "class", &words);
		result_text(r, g, "file", audited_file(a, x->file));
		result_count(r, g, "line", x->line);
		result_count(r, g, "instances", x->instances);
		result_count(r, g, "statements", x->count);
		result_count(r, g, "operations", x->operations);
		result_count(r, g, "unfolded", x->unfolded);
	}
	text_free(&words);
}

static void add_stats(struct result *r, const struct audit *a)
{
	const struct classes *c = &a->classes;
	const struct conflicts *g = &a->graph;
	struct result_values *s = result_group(r, &r->measures, "stats");
	uint64_t bytes = 0, statements = 0, unfolded = 0;
	for (uint32_t i = 0; i < c->count; i++)
		unfolded += c->items[i].unfolded;
	for (uint32_t i = 0; i < a->options.log_count; i++) {
		bytes += a->logs[i].bytes;
		statements += a->logs[i].statements;
	}
	result_count(r, s, "bytes", bytes);
	result_count(r, s, "statements", statements);
	result_count(r, s, "data_statements", c->data_statements);
	result_count(r, s, "transactions", c->transactions);
	if (a->options.group_by) result_count(r, s, "calls", c->calls);
	result_count(r, s, "rolled_back", c->rolled_back);
	result_count(r, s, "unfinished", c->unfinished);
	result_count(r, s, "too_long", c->too_long);
	result_count(r, s, "classes", c->count);
	result_count(r, s, "operations", classes_operations(c));
	result_count(r, s, "unfolded", unfolded);
	result_count(r, s, "class_pairs", g->class_pairs);
	result_count(r, s, "class_selves", g->class_selves);
	result_count(r, s, "operation_pairs", g->pairs);
	result_count(r, s, "operation_selves", g->selves);
	result_count(r, s, "dangerous", g->dangerous);
	result_count(r, s, "on_cycles", a->edges_found);
	result_count(r, s, "cleared_by_timing", a->edges_timing);
	result_count(r, s, "cleared_by_rows", a->edges_rows);
	if (a->options.proves)
		result_count(r, s, "cleared_by_proof", a->edges_proof);
	result_count(r, s, "undecided", a->edges_open);
	if (a->options.confirms) {
		result_count(r, s, "confirmed",
		             a->confirmations[CONFIRM_FOUND]);
		result_count(r, s, "another", a->confirmations[CONFIRM_OTHER]);
		result_count(r, s, "refuted",
		             a->confirmations[CONFIRM_REFUTED]);
		result_count(r, s, "inconclusive",
		             a->confirmations[CONFIRM_OPEN]);
	}
	if (a->options.proves) {
		result_text(r, s, "not_proved", a->proof.why);
		result_seconds(r, s, "proof_seconds", a->proof.seconds);
	}
	result_seconds(r, s, "read_seconds", a->read_seconds);
	result_seconds(r, s, "search_seconds", a->search_seconds);
}

/* ---- for people ---- */

static void add_reason(struct result *r, const struct audit *a)
{
	struct text t = { 0 };
	if (r->verdict == VERDICT_VIOLATED) {
		number_plural(&t, a->anomaly_count, "anomaly is possible",
		              "anomalies are possible");
	} else if (a->stop) {
		text_string(&t, stop_text(a->stop));
		text_string(&t, " before all cycles were looked for");
	} else if (r->verdict == VERDICT_INCONCLUSIVE && a->edges_open) {
		number_plural(&t, a->edges_open, "read", "reads");
		text_string(&t, " may be on cycles of more transactions than "
		                "were looked for");
	} else if (r->verdict == VERDICT_INCONCLUSIVE) {
		bool all = !has_unread(a);
		text_format(&t, "no anomaly, but %s",
		            all ? gap_of(a)
		                : "not all statements could be read");
	} else {
		text_string(&t, "no anomaly is possible");
	}
	text_string(&t, " under ");
	name_level_as(&t, a->options.level, a->options.as);
	if (a->proof.assumed_count)
		text_string(&t, ", if values that are always the same in the "
		                "logs always are");
	uint32_t spanning = 0;
	for (uint32_t i = 0; i < a->anomaly_count; i++)
		spanning += audit_spans_call(a, &a->anomalies[i]);
	if (spanning) {
		text_string(&t, ", ");
		number_count(&t, spanning);
		text_string(&t, " of them where a call should be one "
		                "transaction");
	}
	if (a->stop && r->verdict == VERDICT_VIOLATED)
		text_format(&t, "; %s", stop_text(a->stop));
	r->reason = result_words(r, &t);
	text_free(&t);
}

/* "T3 shop.log:17" */
static void name_where(struct text *t, const struct audit *a,
                       const struct audit_node *n)
{
	const struct class_statement *s = audited_statement(a, n);
	text_format(t, "T%u ", n->of + 1);
	name_audited_place(t, a, s->file, s->line);
}

static bool is_protected(const struct audit *a, uint32_t column)
{
	return bits_has(a->protected, column);
}

/* Does it go away when columns of the table are protected, and where it reads
 * them? */
static bool is_of_table(const struct audit *a, const struct audit_anomaly *x,
                        uint32_t table)
{
	const struct audit_edge *e = audited_edge(a, x, 0);
	for (uint32_t i = 0; i < e->column_count; i++) {
		uint32_t c = a->graph.columns[e->first_column + i];
		if (is_protected(a, c) && a->catalog.columns[c].table == table)
			return true;
	}
	return false;
}

/* The statements that read them, with what to change. */
static void tell_changes(struct text *t, const struct audit *a, uint32_t table)
{
	uint32_t all = 0;
	const struct audit_node *last = NULL;
	for (uint32_t i = 0; i < a->anomaly_count; i++) {
		const struct audit_anomaly *x = &a->anomalies[i];
		const struct audit_node *n =
			audited_node(a, audited_edge(a, x, 0)->from_node);
		if (!is_of_table(a, x, table) ||
		    (last && last->of == n->of &&
		     last->statement == n->statement))
			continue;
		last = n;
		if (++all > CHANGES_SHOWN) continue;
		text_string(t, "    ");
		name_where(t, a, n);
		text_string(t, ": ");
		name_audited_change(t, a, x);
		text_string(t, "\n      ");
		name_audited_statement(t, audited_text(a, n),
		                       STATEMENT_COLUMNS);
		text_char(t, '\n');
	}
	if (all <= CHANGES_SHOWN) return;
	text_string(t, "    and ");
	number_plural(t, all - CHANGES_SHOWN, "place more", "places more");
	text_char(t, '\n');
}

/* "orders: total, updated_at", and what reads them. */
static void tell_table(struct text *t, const struct audit *a, uint32_t table)
{
	struct text names = { 0 };
	for (uint32_t c = 0; c < a->catalog.column_count; c++) {
		const struct audit_column *x = &a->catalog.columns[c];
		if (!is_protected(a, c) || x->table != table) continue;
		text_string(&names, names.length ? ", " : "");
		text_string(&names, x->name);
	}
	if (names.length) {
		text_string(t, "\n  ");
		name_plain(t, a->catalog.tables[table].name);
		text_string(t, ": ");
		name_plain(t, text_get(&names));
		text_char(t, '\n');
		tell_changes(t, a, table);
	}
	text_free(&names);
}

static void tell_columns(struct text *t, const struct audit *a)
{
	if (!a->protected_count) return;
	text_string(t, "\nprotecting ");
	number_plural(t, a->protected_count, "column", "columns");
	if (!a->cover_complete)
		text_string(t, " removes those that were found so far:\n");
	else if (a->unprotectable)
		text_string(t, " removes all but those of columns that cannot "
		               "be protected:\n");
	else if (a->cover_exact)
		text_string(t, " removes all of them, and nothing cheaper "
		               "does:\n");
	else
		text_string(t, " removes all of them:\n");
	for (uint32_t i = 0; i < a->catalog.table_count; i++)
		tell_table(t, a, i);
}

static void name_told_column(struct text *t, const struct audit *a,
                             const struct audit_anomaly *x,
                             const struct audit_edge *e)
{
	struct text name = { 0 };
	name_column(&name, &a->catalog, audited_column(a, x, e));
	name_plain(t, text_get(&name));
	text_free(&name);
}

static void tell_anomalies(struct text *t, const struct audit *a)
{
	uint32_t shown = a->anomaly_count < ANOMALIES_SHOWN ? a->anomaly_count
	                                                    : ANOMALIES_SHOWN;
	text_string(t, "\nthe anomalies (--explain N tells one)");
	if (shown < a->anomaly_count) {
		text_string(t, ", the first ");
		number_count(t, shown);
	}
	text_string(t, ":\n\n");
	for (uint32_t i = 0; i < shown; i++) {
		const struct audit_anomaly *x = &a->anomalies[i];
		const struct audit_edge *e = audited_edge(a, x, 0);
		text_format(t, "  %3u  ", i + 1);
		name_audited_kind(t, a, x);
		text_string(t, ": ");
		name_told_column(t, a, x, e);
		text_string(t, ", read by ");
		name_where(t, a, audited_node(a, e->from_node));
		text_string(t, ", written by ");
		name_where(t, a, audited_node(a, e->to_node));
		if (audit_spans_call(a, x))
			text_string(t, ": should be one transaction");
		if (x->confirmed.answer)
			text_format(t, ": %s",
			            confirm_words[x->confirmed.answer]);
		text_char(t, '\n');
	}
}

static void tell_node(struct text *t, const struct audit *a,
                      const struct audit_node *n, const char *what)
{
	text_string(t, "    ");
	name_audited_place(t, a, audited_statement(a, n)->file,
	                   audited_statement(a, n)->line);
	text_format(t, "  %s\n      ", what);
	name_audited_statement(t, audited_text(a, n), 10000);
	text_char(t, '\n');
}

static bool ends_between(const struct transaction_class *c, uint32_t first,
                         uint32_t then)
{
	for (uint32_t i = first; i < then; i++)
		if (c->statements[i].ends) return true;
	return false;
}

/* The transactions of a cycle: what each is entered and left by, and why the
 * one is before the other. */
static void tell_cycle(struct text *t, const struct audit *a, uint32_t number)
{
	const struct audit_anomaly *x = &a->anomalies[number - 1];
	uint32_t n = x->cycle.count;
	text_format(t, "\nanomaly %u: ", number);
	name_audited_kind(t, a, x);
	text_char(t, '\n');
	for (uint32_t i = 0; i < n; i++) {
		const struct audit_edge *in =
			audited_edge(a, x, (i + n - 1) % n);
		const struct audit_edge *out = audited_edge(a, x, i);
		const struct transaction_class *c =
			&a->classes.items[out->from];
		const struct audit_node *p = audited_node(a, in->to_node);
		const struct audit_node *q = audited_node(a, out->from_node);
		text_format(t, "\n  %c: an instance of T%u (", 'A' + (char)i,
		            out->from + 1);
		number_plural(t, c->instances, "instance", "instances");
		text_string(t, ", the first at ");
		name_audited_place(t, a, c->file, c->line);
		text_string(t, ")\n");
		bool before = p->statement < q->statement;
		bool one = p->statement == q->statement;
		const struct audit_node *first = before || one ? p : q;
		const struct audit_node *then = before ? q : p;
		tell_node(t, a, first,
		          first->flags & OPERATION_WRITE ? "writes" : "reads");
		if (ends_between(c, first->statement, then->statement))
			text_string(t, "    commits, and begins another "
			               "transaction\n");
		if (!one)
			tell_node(t, a, then,
			          then->flags & OPERATION_WRITE ? "writes"
			                                        : "reads");
	}
	text_string(t, "\n  it happens when\n");
	for (uint32_t i = 0; i < n; i++) {
		const struct audit_edge *e = audited_edge(a, x, i);
		char from = (char)('A' + i), to = (char)('A' + (i + 1) % n);
		text_format(t, "    %c ", from);
		text_string(t, e->kind == CONFLICT_RW ? "reads " : "writes ");
		name_told_column(t, a, x, e);
		text_format(t, " before %c %s it (%s)\n", to,
		            e->kind == CONFLICT_WR ? "reads" : "writes",
		            kind_word(e->kind));
	}
	text_string(t, "\n  change: ");
	name_audited_change(t, a, x);
	text_char(t, '\n');
	if (!x->confirmed.answer) return;
	text_format(t, "\n  exploring: %s", confirm_words[x->confirmed.answer]);
	if (x->confirmed.why) {
		text_string(t, ", ");
		name_plain(t, x->confirmed.why);
	}
	text_format(t, "\n\n%s", text_get(&x->confirmed.client));
}

/* All of them: the proof stands on each. */
static void tell_assumed(struct text *t, const struct audit *a)
{
	if (a->proof.assumed_count)
		text_string(t, "\nassumed, as it is so in the logs:\n");
	for (uint32_t i = 0; i < a->proof.assumed_count; i++) {
		text_string(t, "  ");
		name_plain(t, a->proof.assumed[i]);
		text_char(t, '\n');
	}
}

static void tell_unread(struct text *t, const struct audit *a)
{
	uint32_t shown = 0, all = 0;
	for (uint32_t i = 0; i < a->classes.templates.count; i++) {
		const struct template *x = &a->classes.templates.items[i];
		if (x->kind != TEMPLATE_UNREAD || all++ >= UNREAD_SHOWN)
			continue;
		if (!shown++)
			text_string(t, "\nstatements that could not be read, "
			               "and are left out:\n");
		text_string(t, "  ");
		name_audited_place(t, a, x->file, x->line);
		text_string(t, ": ");
		name_plain(t, x->why);
		if (x->count > 1) {
			text_string(t, " (");
			number_plural(t, x->count, "time", "times");
			text_char(t, ')');
		}
		text_string(t, "\n    ");
		name_audited_statement(t, x->text, STATEMENT_COLUMNS);
		text_char(t, '\n');
	}
	if (all > shown) text_format(t, "  and %u more\n", all - shown);
}

static void tell_skipped(struct text *t, const struct audit *a)
{
	bool any = false;
	for (uint32_t i = 0; i < a->options.log_count; i++)
		for (int k = 0; k < LOG_SKIP_COUNT; k++) {
			const struct log_skipped *s = &a->logs[i].skipped[k];
			if (!s->count) continue;
			if (!any) text_string(t, "\nskipped:\n");
			any = true;
			text_string(t, "  ");
			name_audited_place(t, a, i, s->lines[0]);
			text_string(t, ": ");
			number_plural(t, s->count, skip_one[k], skip_many[k]);
			text_char(t, '\n');
		}
}

static void add_reads(struct result *r, const struct audit *a)
{
	struct text words = { 0 };
	text_string(&words,
	            a->options.group_by
	                    ? "and writes that another call can follow early: "
	                    : "that another transaction can overwrite early: ");
	number_count(&words, a->edges_found);
	text_string(&words, " on cycles, ");
	number_count(&words, a->edges_timing);
	text_string(&words, " cleared by timing, ");
	number_count(&words, a->edges_rows);
	text_string(&words, " by rows that are the same");
	if (a->edges_proof) {
		text_string(&words, ", ");
		number_count(&words, a->edges_proof);
		text_string(&words, " by proof");
	}
	if (a->edges_open) {
		text_string(&words, ", ");
		number_count(&words, a->edges_open);
		text_string(&words, " not decided");
	}
	result_line(r, "reads", a->graph.dangerous, &words);
	if (a->options.confirms) {
		text_clear(&words);
		text_string(&words, "explored: ");
		for (int k = CONFIRM_FOUND; k < CONFIRMATIONS; k++) {
			text_string(&words, k > CONFIRM_FOUND ? ", " : "");
			number_count(&words, a->confirmations[k]);
			text_format(&words, " %s",
			            k == CONFIRM_OTHER ? "another anomaly"
			                               : confirm_words[k]);
		}
		result_line(r, "anomalies", a->anomaly_count, &words);
	}
	if (a->proof.why) {
		text_clear(&words);
		text_string(&words,
		            "of all transactions together: none, since ");
		name_plain(&words, a->proof.why);
		result_line_words(r, "proof", &words);
	}
	text_free(&words);
}

static void add_lines(struct result *r, const struct audit *a)
{
	const struct classes *c = &a->classes;
	struct text words = { 0 };
	text_string(&words, "of ");
	if (a->options.group_by) {
		number_plural(&words, c->calls, "call", "calls");
		text_string(&words, " in ");
	}
	number_plural(&words, c->transactions, "transaction", "transactions");
	if (c->rolled_back) {
		text_string(&words, ", ");
		number_count(&words, c->rolled_back);
		text_string(&words, " rolled back");
	}
	if (c->unfinished) {
		text_string(&words, ", ");
		number_count(&words, c->unfinished);
		text_string(&words, " without an end");
	}
	if (c->too_long) {
		text_string(&words, ", ");
		number_count(&words, c->too_long);
		text_string(&words, " too long");
	}
	result_line(r, "classes", c->count, &words);
	text_string(&words, "reads and writes of columns in them");
	result_line(r, "operations", classes_operations(c), &words);
	text_free(&words);
}

static void add_words(struct result *r, const struct audit *a, uint32_t explain)
{
	struct text t = { 0 };
	if (explain) {
		tell_cycle(&t, a, explain);
	} else {
		tell_columns(&t, a);
		if (a->anomaly_count) tell_anomalies(&t, a);
		tell_assumed(&t, a);
		tell_unread(&t, a);
		tell_skipped(&t, a);
	}
	if (t.length) r->note = result_words(r, &t);
	text_free(&t);
}

struct result *result_of_audit(const struct audit *a, uint32_t explain)
{
	struct result *r = result_new(NULL, a->options.level);
	assert(explain <= a->anomaly_count);
	r->verdict = audit_verdict(a);
	add_settings(r, a);
	add_reason(r, a);
	result_flag(r, &r->findings, "complete", !a->stop && !a->edges_open);
	result_text(r, &r->findings, "stop", stop_word(a->stop));
	add_columns(r, a);
	result_flag(r, &r->findings, "cheapest",
	            a->cover_exact && a->cover_complete);
	result_count(r, &r->findings, "unprotectable", a->unprotectable);
	struct result_values *list = result_list(r, &r->findings, "cycles");
	for (uint32_t i = 0; i < a->anomaly_count; i++)
		if (!explain || explain == i + 1)
			add_anomaly(r, result_group(r, list, NULL), a,
			            &a->anomalies[i]);
	add_assumed(r, a);
	add_unread(r, a);
	add_skipped(r, a);
	add_classes(r, a);
	add_stats(r, a);
	add_words(r, a, explain);
	if (!explain) {
		add_lines(r, a);
		if (a->options.group_by || !level_is_serial(a->options.level))
			add_reads(r, a);
	}
	return r;
}
