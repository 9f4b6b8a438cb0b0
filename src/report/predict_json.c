#include "report/predict_json.h"

#include "report/check_case.h"
#include "report/report.h"

/* ---- changed reads ---- */

static void print_value(struct json *j, const struct trace *r,
                        const struct trace_value *v)
{
	struct text *t = json_value(j, "value");
	if (v && v->flags & TRACE_TEXT)
		text_string(t, r->texts[v->number]);
	else if (v && !(v->flags & TRACE_NULL))
		text_int(t, v->number);
	else
		text_string(t, "null");
}

/* {"from":"init","value":0}; no value where it is not known */
static void print_answer(struct json *j, const char *name,
                         const struct trace *r, uint32_t writer,
                         const struct trace_value *value)
{
	struct text words = { 0 };
	json_open(j, name, '{');
	name_trace_transaction(&words, r, writer);
	json_taken(j, "from", &words);
	if (value) print_value(j, r, value);
	json_close(j);
	text_free(&words);
}

static void print_change(struct json *j, const struct trace *r,
                         const struct changed_read *c)
{
	const struct trace_op *o = &r->ops[c->op];
	const struct trace_transaction *x = &r->transactions[c->transaction];
	struct trace_value before = { o->value, o->flags }, now;
	bool known = !(o->flags & TRACE_MISSING);
	struct text words = { 0 };
	name_trace_transaction(&words, r, c->transaction);
	json_taken(j, "transaction", &words);
	json_text(j, "session", r->sessions[x->session].name);
	json_count(j, "index", c->transaction - r->sessions[x->session].first);
	json_count(j, "operation", c->op - x->first_op);
	json_count_if(j, "line", o->line, o->line);
	trace_print_key(&words, r, o->key);
	json_taken(j, "key", &words);
	print_answer(j, "observed", r, c->observed, known ? &before : NULL);
	known = known && predict_value(r, c->writer, o->key, &now);
	print_answer(j, "predicted", r, c->writer, known ? &now : NULL);
	text_free(&words);
}

static void print_changes(struct json *j, const struct predict_case *c,
                          const struct prediction *p)
{
	json_open(j, "changed", '[');
	for (uint32_t i = 0; i < p->changed_count; i++) {
		json_open(j, NULL, '{');
		print_change(j, c->observed, &p->changed[i]);
		json_close(j);
	}
	json_close(j);
}

/* ---- sessions ---- */

static void print_session(struct json *j, const struct trace *r, uint32_t s,
                          const struct session_cut *cut)
{
	struct text words = { 0 };
	json_text(j, "session", r->sessions[s].name);
	json_count(j, "transactions", r->sessions[s].count);
	json_count(j, "kept", cut->kept);
	if (cut->divergent == TRACE_NONE) {
		json_text(j, "divergent", NULL);
		return;
	}
	name_trace_transaction(&words, r, cut->divergent);
	json_taken(j, "divergent", &words);
	json_count(j, "operations", r->transactions[cut->divergent].op_count);
	json_count(j, "operations_kept", cut->ops);
	text_free(&words);
}

static void print_sessions(struct json *j, const struct predict_case *c,
                           const struct prediction *p)
{
	json_open(j, "sessions", '[');
	for (uint32_t s = 0; s < c->observed->session_count; s++) {
		json_open(j, NULL, '{');
		print_session(j, c->observed, s, &p->cuts[s]);
		json_close(j);
	}
	json_close(j);
}

/* ---- one prediction ---- */

static void print_witness(struct json *j, const struct predicted *p)
{
	const struct check_witness *w = p->witness;
	if (!w) {
		json_text(j, "witness", NULL);
		return;
	}
	json_open(j, "witness", '{');
	json_text(j, "anomaly", w->anomaly);
	json_bool(j, "minimal", w->minimal);
	json_count(j, "operations_left_out", w->hidden_ops);
	json_witness(j, p->prediction->history, w);
	json_close(j);
}

static void print_replay(struct json *j, const struct replay_result *r)
{
	static const char *const ends[] = {
		[RUN_COMPLETE] = "complete",       [RUN_PRUNED] = "pruned",
		[RUN_INTERRUPTED] = "interrupted", [RUN_MEMORY] = "memory",
		[RUN_TOO_LARGE] = "too-large",
	};
	if (!r) {
		json_text(j, "validation", NULL);
		return;
	}
	json_open(j, "validation", '{');
	json_text(j, "end", ends[r->end]);
	json_bool(j, "validated", predicted_validated(r));
	if (r->end == RUN_COMPLETE) {
		json_bool(j, "serializable", r->serializable);
		json_bool(j, "diverged", r->diverged);
		json_count(j, "changed", r->changed);
		json_count(j, "other_values", r->values);
	}
	json_close(j);
}

void report_predicted_json(struct text *list, const struct predict_case *c,
                           const struct predicted *p)
{
	struct json writer = json_to(list), *j = &writer;
	if (list->length) text_char(list, ',');
	json_open(j, NULL, '{');
	json_count(j, "number", p->number);
	json_bool(j, "observed", p->prediction->observed);
	print_changes(j, c, p->prediction);
	print_sessions(j, c, p->prediction);
	print_witness(j, p);
	json_text(j, "unexplained", p->unexplained);
	print_replay(j, p->replay);
	json_close(j);
}

/* ---- all about one observed history ---- */

static void print_origin(struct json *j, const struct predict_case *c)
{
	bool recorded = c->format == FORMAT_COUNT;
	json_text(j, "file", c->observed->file);
	json_count(j, "history", c->history);
	json_count_if(j, "line", c->observed->line, c->observed->line);
	json_text(j, "format", recorded ? NULL : format_word(c->format));
	if (recorded) json_count(j, "seed", c->seed);
	json_count(j, "sessions", c->observed->session_count);
}

static void print_question(struct json *j, const struct predict_case *c)
{
	json_text(j, "level", level_word(c->options->level));
	json_text(j, "boundary", predict_boundary_word(c->options->boundary));
	json_text(j, "encoding", predict_encoding_word(c->options->encoding));
	json_text(j, "program", c->program);
}

static void print_stats(struct json *j, const struct predict_stats *n)
{
	json_open(j, "stats", '{');
	json_count(j, "transactions", n->transactions);
	json_count(j, "reads", n->reads);
	json_count(j, "contended", n->contended);
	json_count(j, "options", n->options);
	json_count(j, "rounds", n->rounds);
	json_count(j, "level_clauses", n->level_clauses);
	json_count(j, "certificates", n->certificates);
	json_close(j);
}

/* Whether the search for (further) predictions came to its end, and if not
 * what came first. */
static void print_end(struct json *j, const struct predict_case *c)
{
	json_bool(j, "complete",
	          c->answer == PREDICT_NONE &&
	                  c->options->encoding == ENCODING_EXACT);
	json_text(j, "stop", c->answer == PREDICT_UNKNOWN ? c->reason : NULL);
}

void report_predict_json(struct text *t, const struct predict_case *c,
                         const struct text *list, const char *version)
{
	struct text reason = { 0 };
	struct json writer = json_to(t), *j = &writer;
	report_json_begin(j, version);
	print_origin(j, c);
	print_question(j, c);
	json_text(j, "verdict", verdict_word(predict_verdict(c)));
	name_predict_reason(&reason, c);
	json_taken(j, "reason", &reason);
	print_end(j, c);
	json_count(j, "found", c->found);
	json_count(j, "validated", c->validated);
	json_count(j, "diverged", c->diverged);
	text_format(json_value(j, "predictions"), "[%s]", text_get(list));
	print_stats(j, &c->stats);
	json_open(j, "seconds", '{');
	json_seconds(j, "read", c->read_seconds);
	json_seconds(j, "predict", c->stats.seconds);
	json_seconds(j, "explain", c->explain_seconds);
	json_seconds(j, "validate", c->validate_seconds);
	json_close(j);
	report_json_end(j);
	text_free(&reason);
}

/* ---- histories ---- */

/* "init", or [session, transaction] as the observed history has it */
static void print_place(struct json *j, const char *name, const struct trace *r,
                        uint32_t transaction)
{
	uint32_t session = r->transactions[transaction].session;
	if (transaction == TRACE_INIT) {
		json_text(j, name, "init");
		return;
	}
	json_open(j, name, '[');
	json_count(j, NULL, session);
	json_count(j, NULL, transaction - r->sessions[session].first);
	json_close(j);
}

/* Place of the operation among the events that are written. */
static uint32_t event_of(const struct trace *r, uint32_t transaction,
                         uint32_t op)
{
	uint32_t event = 0;
	for (uint32_t i = r->transactions[transaction].first_op; i < op; i++)
		event += r->ops[i].kind == EVENT_WRITE ||
		         r->ops[i].from != TRACE_NOBODY;
	return event;
}

static void print_changed(struct json *j, const struct trace *r,
                          const struct prediction *p)
{
	struct text key = { 0 };
	json_open(j, "changed", '[');
	for (uint32_t i = 0; i < p->changed_count; i++) {
		const struct changed_read *c = &p->changed[i];
		uint32_t s = r->transactions[c->transaction].session;
		json_open(j, NULL, '{');
		json_open(j, "read", '[');
		json_count(j, NULL, s);
		json_count(j, NULL, c->transaction - r->sessions[s].first);
		json_count(j, NULL, event_of(r, c->transaction, c->op));
		json_close(j);
		trace_print_key(&key, r, r->ops[c->op].key);
		json_taken(j, "key", &key);
		print_place(j, "observed", r, c->observed);
		print_place(j, "predicted", r, c->writer);
		json_close(j);
	}
	json_close(j);
	text_free(&key);
}

/* Transactions of which only a first part is there. */
static void print_truncated(struct json *j, const struct predict_case *c,
                            const struct prediction *p)
{
	json_open(j, "truncated", '[');
	for (uint32_t i = 1; i < p->history->transaction_count; i++) {
		if (!p->truncated[i]) continue;
		print_place(j, NULL, c->observed, p->numbers[i]);
	}
	json_close(j);
}

static void print_observed(struct json *j, const struct predict_case *c)
{
	json_open(j, "observed", '{');
	json_text(j, "file", c->observed->file);
	json_count(j, "history", c->history);
	if (c->format == FORMAT_COUNT) json_count(j, "seed", c->seed);
	json_close(j);
}

void report_predicted_history(struct text *t, const struct predict_case *c,
                              const struct predicted *p)
{
	struct trace copy = *p->prediction->history;
	struct diags d = { 0 };
	copy.program = c->observed->program;
	copy.level = level_word(c->options->level);
	bool printed = format_print(t, FORMAT_ISOSCOPE, &copy, NULL, &d);
	diags_free(&d);
	if (!printed) return;
	t->length -= 2; /* the closing brace and the line end */
	struct json writer = json_within(t), *j = &writer;
	json_open(j, "verdict", '{');
	json_bool(j, copy.level, true);
	json_bool(j, "ser", false);
	json_close(j);
	print_observed(j, c);
	json_count(j, "number", p->number);
	print_changed(j, c->observed, p->prediction);
	print_truncated(j, c, p->prediction);
	if (p->replay)
		json_bool(j, "validated", predicted_validated(p->replay));
	report_json_end(j);
}
