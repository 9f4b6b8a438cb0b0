#include "report/predict_json.h"

#include <inttypes.h>

#include "report/check_case.h"
#include "report/json.h"
#include "report/json_members.h"
#include "report/witness_json.h"

/* ---- changed reads ---- */

static void print_value(struct text *t, const struct trace *r,
                        const struct trace_value *v)
{
	text_string(t, ",\"value\":");
	if (v && v->flags & TRACE_TEXT)
		text_string(t, r->texts[v->number]);
	else if (v && !(v->flags & TRACE_NULL))
		text_int(t, v->number);
	else
		text_string(t, "null");
}

/* {"from":"init","value":0}; no value where it is not known */
static void print_answer(struct text *t, const char *name,
                         const struct trace *r, uint32_t writer,
                         const struct trace_value *value)
{
	struct text words = { 0 };
	text_format(t, ",\"%s\":{", name);
	name_trace_transaction(&words, r, writer);
	json_name(t, "from");
	json_text(t, text_get(&words));
	if (value) print_value(t, r, value);
	text_char(t, '}');
	text_free(&words);
}

static void print_change(struct text *t, const struct trace *r,
                         const struct changed_read *c)
{
	const struct trace_op *o = &r->ops[c->op];
	const struct trace_transaction *x = &r->transactions[c->transaction];
	struct trace_value before = { o->value, o->flags }, now;
	bool known = !(o->flags & TRACE_MISSING);
	struct text words = { 0 };
	name_trace_transaction(&words, r, c->transaction);
	json_name(t, "transaction");
	json_text(t, text_get(&words));
	text_clear(&words);
	json_member_text(t, "session", r->sessions[x->session].name);
	json_member_count(t, "index",
	                  c->transaction - r->sessions[x->session].first);
	json_member_count(t, "operation", c->op - x->first_op);
	json_member_line(t, o->line);
	trace_print_key(&words, r, o->key);
	json_member_taken(t, "key", &words);
	print_answer(t, "observed", r, c->observed, known ? &before : NULL);
	known = known && predict_value(r, c->writer, o->key, &now);
	print_answer(t, "predicted", r, c->writer, known ? &now : NULL);
	text_free(&words);
}

static void print_changes(struct text *t, const struct predict_case *c,
                          const struct prediction *p)
{
	text_string(t, ",\"changed\":[");
	for (uint32_t i = 0; i < p->changed_count; i++) {
		text_string(t, i ? ",{" : "{");
		print_change(t, c->observed, &p->changed[i]);
		text_char(t, '}');
	}
	text_char(t, ']');
}

/* ---- sessions ---- */

static void print_session(struct text *t, const struct trace *r, uint32_t s,
                          const struct session_cut *cut)
{
	struct text words = { 0 };
	json_name(t, "session");
	json_text(t, r->sessions[s].name);
	json_member_count(t, "transactions", r->sessions[s].count);
	json_member_count(t, "kept", cut->kept);
	if (cut->divergent == TRACE_NONE) {
		json_member_text(t, "divergent", NULL);
		return;
	}
	name_trace_transaction(&words, r, cut->divergent);
	json_member_taken(t, "divergent", &words);
	json_member_count(t, "operations",
	                  r->transactions[cut->divergent].op_count);
	json_member_count(t, "operations_kept", cut->ops);
	text_free(&words);
}

static void print_sessions(struct text *t, const struct predict_case *c,
                           const struct prediction *p)
{
	text_string(t, ",\"sessions\":[");
	for (uint32_t s = 0; s < c->observed->session_count; s++) {
		text_string(t, s ? ",{" : "{");
		print_session(t, c->observed, s, &p->cuts[s]);
		text_char(t, '}');
	}
	text_char(t, ']');
}

/* ---- one prediction ---- */

static void print_witness(struct text *t, const struct predicted *p)
{
	const struct check_witness *w = p->witness;
	if (!w) {
		text_string(t, ",\"witness\":null");
		return;
	}
	text_string(t, ",\"witness\":{");
	json_name(t, "anomaly");
	json_text(t, w->anomaly);
	json_member_bool(t, "minimal", w->minimal);
	json_member_count(t, "operations_left_out", w->hidden_ops);
	text_char(t, ',');
	json_witness(t, p->prediction->history, w);
	text_char(t, '}');
}

static void print_replay(struct text *t, const struct replay_result *r)
{
	static const char *const ends[] = {
		[RUN_COMPLETE] = "complete",       [RUN_PRUNED] = "pruned",
		[RUN_INTERRUPTED] = "interrupted", [RUN_MEMORY] = "memory",
		[RUN_TOO_LARGE] = "too-large",
	};
	if (!r) {
		text_string(t, ",\"validation\":null");
		return;
	}
	text_string(t, ",\"validation\":{");
	json_name(t, "end");
	json_text(t, ends[r->end]);
	json_member_bool(t, "validated", predicted_validated(r));
	if (r->end == RUN_COMPLETE) {
		json_member_bool(t, "serializable", r->serializable);
		json_member_bool(t, "diverged", r->diverged);
		json_member_count(t, "changed", r->changed);
		json_member_count(t, "other_values", r->values);
	}
	text_char(t, '}');
}

void report_predicted_json(struct text *list, const struct predict_case *c,
                           const struct predicted *p)
{
	if (list->length) text_char(list, ',');
	text_char(list, '{');
	json_count(list, "number", p->number);
	json_member_bool(list, "observed", p->prediction->observed);
	print_changes(list, c, p->prediction);
	print_sessions(list, c, p->prediction);
	print_witness(list, p);
	json_member_text(list, "unexplained", p->unexplained);
	print_replay(list, p->replay);
	text_char(list, '}');
}

/* ---- all about one observed history ---- */

static void print_origin(struct text *t, const struct predict_case *c)
{
	bool recorded = c->format == FORMAT_COUNT;
	json_member_text(t, "file", c->observed->file);
	json_member_count(t, "history", c->history);
	json_member_line(t, c->observed->line);
	json_member_text(t, "format", recorded ? NULL : format_word(c->format));
	if (recorded) json_member_count(t, "seed", c->seed);
	json_member_count(t, "sessions", c->observed->session_count);
}

static void print_question(struct text *t, const struct predict_case *c)
{
	json_member_text(t, "level", level_word(c->options->level));
	json_member_text(t, "boundary",
	                 predict_boundary_word(c->options->boundary));
	json_member_text(t, "encoding",
	                 predict_encoding_word(c->options->encoding));
	json_member_text(t, "program", c->program);
}

static void print_stats(struct text *t, const struct predict_stats *n)
{
	text_string(t, ",\"stats\":{");
	json_count(t, "transactions", n->transactions);
	json_member_count(t, "reads", n->reads);
	json_member_count(t, "contended", n->contended);
	json_member_count(t, "options", n->options);
	json_member_count(t, "rounds", n->rounds);
	json_member_count(t, "level_clauses", n->level_clauses);
	json_member_count(t, "certificates", n->certificates);
	text_char(t, '}');
}

/* Whether the search for (further) predictions came to its end, and if not
 * what came first. */
static void print_end(struct text *t, const struct predict_case *c)
{
	json_member_bool(t, "complete",
	                 c->answer == PREDICT_NONE &&
	                         c->options->encoding == ENCODING_EXACT);
	json_member_text(t, "stop",
	                 c->answer == PREDICT_UNKNOWN ? c->reason : NULL);
}

void report_predict_json(struct text *t, const struct predict_case *c,
                         const struct text *list, const char *version)
{
	struct text reason = { 0 };
	text_char(t, '{');
	json_name(t, "isoscope");
	json_text(t, version);
	print_origin(t, c);
	print_question(t, c);
	json_member_text(t, "verdict", verdict_word(predict_verdict(c)));
	name_predict_reason(&reason, c);
	json_member_taken(t, "reason", &reason);
	print_end(t, c);
	json_member_count(t, "found", c->found);
	json_member_count(t, "validated", c->validated);
	json_member_count(t, "diverged", c->diverged);
	text_format(t, ",\"predictions\":[%s]", text_get(list));
	print_stats(t, &c->stats);
	text_format(t,
	            ",\"seconds\":{\"read\":%.6f,\"predict\":%.6f,"
	            "\"explain\":%.6f,\"validate\":%.6f}}\n",
	            c->read_seconds, c->stats.seconds, c->explain_seconds,
	            c->validate_seconds);
	text_free(&reason);
}

/* ---- histories ---- */

/* "init", or [session, transaction] as the observed history has it */
static void print_place(struct text *t, const struct trace *r,
                        uint32_t transaction)
{
	uint32_t session = r->transactions[transaction].session;
	if (transaction == TRACE_INIT)
		text_string(t, "\"init\"");
	else
		text_format(t, "[%" PRIu32 ",%" PRIu32 "]", session,
		            transaction - r->sessions[session].first);
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

static void print_changed(struct text *t, const struct trace *r,
                          const struct prediction *p)
{
	struct text key = { 0 };
	text_string(t, ",\"changed\":[");
	for (uint32_t i = 0; i < p->changed_count; i++) {
		const struct changed_read *c = &p->changed[i];
		text_string(t, i ? ",{\"read\":[" : "{\"read\":[");
		uint32_t s = r->transactions[c->transaction].session;
		text_format(t, "%" PRIu32 ",%" PRIu32 ",%" PRIu32 "]", s,
		            c->transaction - r->sessions[s].first,
		            event_of(r, c->transaction, c->op));
		trace_print_key(&key, r, r->ops[c->op].key);
		json_member_taken(t, "key", &key);
		text_string(t, ",\"observed\":");
		print_place(t, r, c->observed);
		text_string(t, ",\"predicted\":");
		print_place(t, r, c->writer);
		text_char(t, '}');
	}
	text_char(t, ']');
	text_free(&key);
}

/* Transactions of which only a first part is there. */
static void print_truncated(struct text *t, const struct predict_case *c,
                            const struct prediction *p)
{
	const char *comma = "";
	text_string(t, ",\"truncated\":[");
	for (uint32_t i = 1; i < p->history->transaction_count; i++) {
		if (!p->truncated[i]) continue;
		text_string(t, comma);
		print_place(t, c->observed, p->numbers[i]);
		comma = ",";
	}
	text_char(t, ']');
}

static void print_observed(struct text *t, const struct predict_case *c)
{
	text_string(t, ",\"observed\":{");
	json_name(t, "file");
	json_text(t, c->observed->file);
	json_member_count(t, "history", c->history);
	if (c->format == FORMAT_COUNT) json_member_count(t, "seed", c->seed);
	text_char(t, '}');
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
	text_format(t, ",\"verdict\":{\"%s\":true,\"ser\":false}", copy.level);
	print_observed(t, c);
	json_member_count(t, "number", p->number);
	print_changed(t, c->observed, p->prediction);
	print_truncated(t, c, p->prediction);
	if (p->replay)
		json_member_bool(t, "validated",
		                 predicted_validated(p->replay));
	text_string(t, "}\n");
}
