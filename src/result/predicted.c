/* The result of predicting from a recorded history. */
#include "result/predicted.h"

#include <assert.h>

#include "result/checked.h"
#include "result/names.h"
#include "result/parts.h"
#include "result/result.h"

/* ---- changed reads ---- */

static void add_value(struct result *r, struct result_values *to,
                      const struct trace *t, const struct trace_value *v)
{
	struct text words = { 0 };
	if (v->flags & TRACE_TEXT)
		text_string(&words, t->texts[v->number]);
	else if (!(v->flags & TRACE_NULL))
		text_int(&words, v->number);
	else
		text_string(&words, "null");
	result_json(r, to, "value", &words);
	text_free(&words);
}

/* {"from":"init","value":0}; no value where it is not known */
static void add_answer(struct result *r, struct result_values *to,
                       const char *name, const struct trace *t, uint32_t writer,
                       const struct trace_value *value)
{
	struct text words = { 0 };
	struct result_values *answer = result_group(r, to, name);
	name_trace_transaction(&words, t, writer);
	result_taken(r, answer, "from", &words);
	if (value) add_value(r, answer, t, value);
	text_free(&words);
}

static void add_change(struct result *r, struct result_values *to,
                       const struct trace *t, const struct changed_read *c)
{
	const struct trace_op *o = &t->ops[c->op];
	const struct trace_transaction *x = &t->transactions[c->transaction];
	struct trace_value before = { o->value, o->flags }, now;
	bool known = !t->valueless && !(o->flags & TRACE_MISSING);
	struct text words = { 0 };
	name_trace_transaction(&words, t, c->transaction);
	result_taken(r, to, "transaction", &words);
	result_text(r, to, "session", t->sessions[x->session].name);
	result_count(r, to, "index",
	             c->transaction - t->sessions[x->session].first);
	result_count(r, to, "operation", c->op - x->first_op);
	result_count_if(r, to, "line", o->line, o->line);
	trace_print_key(&words, t, o->key);
	result_taken(r, to, "key", &words);
	add_answer(r, to, "observed", t, c->observed, known ? &before : NULL);
	known = known && predict_value(t, c->writer, o->key, &now);
	add_answer(r, to, "predicted", t, c->writer, known ? &now : NULL);
	text_free(&words);
}

/* ---- one prediction ---- */

static void add_session(struct result *r, struct result_values *to,
                        const struct trace *t, uint32_t s,
                        const struct session_cut *cut)
{
	struct text words = { 0 };
	result_text(r, to, "session", t->sessions[s].name);
	result_count(r, to, "transactions", t->sessions[s].count);
	result_count(r, to, "kept", cut->kept);
	if (cut->divergent == TRACE_NONE) {
		result_text(r, to, "divergent", NULL);
		return;
	}
	name_trace_transaction(&words, t, cut->divergent);
	result_taken(r, to, "divergent", &words);
	result_count(r, to, "operations",
	             t->transactions[cut->divergent].op_count);
	result_count(r, to, "operations_kept", cut->ops);
	text_free(&words);
}

static void add_replay(struct result *r, struct result_values *to,
                       const struct replay_result *replay)
{
	static const char *const ends[] = {
		[RUN_COMPLETE] = "complete", [RUN_PRUNED] = "pruned",
		[RUN_BOUND] = "bound",       [RUN_INTERRUPTED] = "interrupted",
		[RUN_MEMORY] = "memory",     [RUN_TOO_LARGE] = "too-large",
	};
	if (!replay) {
		result_text(r, to, "validation", NULL);
		return;
	}
	to = result_group(r, to, "validation");
	result_text(r, to, "end", ends[replay->end]);
	result_flag(r, to, "validated", predicted_validated(replay));
	if (replay->end != RUN_COMPLETE) return;
	result_flag(r, to, "serializable", replay->serializable);
	result_flag(r, to, "diverged", replay->diverged);
	result_count(r, to, "changed", replay->changed);
	result_count(r, to, "other_values", replay->values);
}

void result_prediction(struct result *r, const struct predict_case *c,
                       const struct predicted *p)
{
	const struct prediction *x = p->prediction;
	struct result_values *to = result_group(r, &r->predictions, NULL);
	assert(p->number == c->found);
	result_count(r, to, "number", p->number);
	result_flag(r, to, "observed", x->observed);
	result_text(r, to, "boundary", predict_boundary_word(x->boundary));
	result_flag(r, to, "nearest", x->nearest);
	struct result_values *list = result_list(r, to, "changed");
	for (uint32_t i = 0; i < x->changed_count; i++)
		add_change(r, result_group(r, list, NULL), c->observed,
		           &x->changed[i]);
	list = result_list(r, to, "sessions");
	for (uint32_t s = 0; s < c->observed->session_count; s++)
		add_session(r, result_group(r, list, NULL), c->observed, s,
		            &x->cuts[s]);
	if (p->witness)
		result_witness(r, result_group(r, to, "witness"), x->history,
		               p->witness);
	else
		result_text(r, to, "witness", NULL);
	result_text(r, to, "unexplained", p->unexplained);
	add_replay(r, to, p->replay);
}

/* ---- all about one observed history ---- */

static void add_settings(struct result *r, const struct predict_case *c)
{
	const struct trace *t = c->observed;
	struct result_values *to = &r->settings;
	bool recorded = c->format == FORMAT_COUNT;
	result_text(r, to, "file", t->file);
	result_count(r, to, "history", c->history);
	result_count_if(r, to, "line", t->line, t->line);
	result_text(r, to, "format", recorded ? NULL : format_word(c->format));
	if (recorded) result_count(r, to, "seed", c->seed);
	result_count(r, to, "sessions", t->session_count);
	result_level(r, c->options->level, c->options->as);
	result_owns(r, t);
	result_text(r, to, "boundary",
	            predict_boundary_word(c->options->boundary));
	result_text(r, to, "encoding",
	            predict_encoding_word(c->options->encoding));
	result_text(r, to, "program", c->program);
}

static void add_measures(struct result *r, const struct predict_case *c)
{
	const struct predict_stats *n = &c->stats;
	struct result_values *to = result_group(r, &r->measures, "stats");
	result_count(r, to, "transactions", n->transactions);
	result_count(r, to, "reads", n->reads);
	result_count(r, to, "contended", n->contended);
	result_count(r, to, "options", n->options);
	result_count(r, to, "rounds", n->rounds);
	result_count(r, to, "level_clauses", n->level_clauses);
	result_count(r, to, "certificates", n->certificates);
	to = result_group(r, &r->measures, "seconds");
	result_seconds(r, to, "read", c->read_seconds);
	result_seconds(r, to, "predict", n->seconds);
	result_seconds(r, to, "explain", c->explain_seconds);
	result_seconds(r, to, "validate", c->validate_seconds);
}

struct result *result_of_predictions(void)
{
	return result_new(NULL, LEVEL_COUNT);
}

void result_predicted(struct result *r, const struct predict_case *c)
{
	struct text reason = { 0 };
	struct result_values *to = &r->findings;
	assert(!to->first && !r->reason);
	r->level = c->options->level;
	r->verdict = predict_verdict(c);
	name_predict_reason(&reason, c);
	r->reason = result_words(r, &reason);
	add_settings(r, c);
	/* Whether the search for (further) predictions came to its end, and if
	 * not what came first. */
	result_flag(r, to, "complete",
	            c->answer == PREDICT_NONE &&
	                    c->options->encoding == ENCODING_EXACT);
	result_text(r, to, "stop",
	            c->answer == PREDICT_UNKNOWN ? c->reason : NULL);
	result_count(r, to, "found", c->found);
	result_count(r, to, "validated", c->validated);
	result_count(r, to, "diverged", c->diverged);
	*result_list(r, to, "predictions") = r->predictions;
	add_measures(r, c);
	text_free(&reason);
}

/* ---- many histories ---- */

void predict_summary_add(struct predict_summary *m,
                         const struct predict_case *c)
{
	enum verdict v = predict_verdict(c);
	m->mixed |= m->histories && m->options.level != c->options->level;
	enum check_owns owns = trace_owns(c->observed);
	m->owns = !m->histories || owns == m->owns ? owns : OWNS_SOME;
	m->options = *c->options;
	m->program = c->program;
	m->histories++;
	m->verdicts[v]++;
	m->answers[c->found ? PREDICT_FOUND : c->answer]++;
	m->validated += c->validated > 0;
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
