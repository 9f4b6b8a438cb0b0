/* One prediction: as values, and in words. */
#include <assert.h>
#include <inttypes.h>

#include "result/checked.h"
#include "result/confirmed.h"
#include "result/names.h"
#include "result/numbers.h"
#include "result/parts.h"
#include "result/predicted.h"
#include "result/result.h"

enum { READS_SHOWN = 40, SESSIONS_SHOWN = 24 };

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

/* The values of a changed read; false if they are not known. */
static bool observed_value(const struct trace *t, const struct changed_read *c,
                           struct trace_value *out)
{
	const struct trace_op *o = &t->ops[c->op];
	*out = (struct trace_value){ o->value, o->flags };
	return !t->valueless && !(o->flags & TRACE_MISSING);
}

static bool predicted_value(const struct trace *t, const struct changed_read *c,
                            struct trace_value *out)
{
	return observed_value(t, c, out) &&
	       predict_value(t, c->writer, t->ops[c->op].key, out);
}

/* {"from":"init","value":0}; no value where it is not known */
static void add_answer(struct result *r, struct result_values *to,
                       const char *name, const struct trace *t, uint32_t writer,
                       const struct trace_value *value)
{
	struct result_values *answer = result_group(r, to, name);
	result_trace_transaction(r, answer, "from", t, writer);
	if (value) add_value(r, answer, t, value);
}

static void add_change(struct result *r, struct result_values *to,
                       const struct trace *t, const struct changed_read *c)
{
	const struct trace_op *o = &t->ops[c->op];
	const struct trace_transaction *x = &t->transactions[c->transaction];
	struct trace_value v;
	struct text words = { 0 };
	result_trace_transaction(r, to, "transaction", t, c->transaction);
	result_text(r, to, "session", t->sessions[x->session].name);
	result_count(r, to, "index",
	             c->transaction - t->sessions[x->session].first);
	result_count(r, to, "operation", c->op - x->first_op);
	result_count_if(r, to, "line", o->line, o->line);
	trace_print_key(&words, t, o->key);
	result_taken(r, to, "key", &words);
	add_answer(r, to, "observed", t, c->observed,
	           observed_value(t, c, &v) ? &v : NULL);
	add_answer(r, to, "predicted", t, c->writer,
	           predicted_value(t, c, &v) ? &v : NULL);
	text_free(&words);
}

static struct result_who who(struct result *r, const struct trace *t,
                             uint32_t i)
{
	struct text words = { 0 };
	struct result_who out;
	uint32_t s = t->transactions[i].session;
	name_trace_transaction(&words, t, i);
	out.name = out.brief = result_words(r, &words);
	if (i != TRACE_INIT && !t->sessions[s].after_all) {
		name_plain(&words, t->sessions[s].name);
		text_format(&words, ".%" PRIu32, i - t->sessions[s].first + 1);
		out.brief = result_words(r, &words);
	}
	text_free(&words);
	return out;
}

/* The value for people; NULL: it is not known. */
static struct result_answer answer(struct result *r, const struct trace *t,
                                   uint32_t writer, const struct trace_value *v)
{
	struct result_answer out = { .from = who(r, t, writer) };
	struct text words = { 0 };
	if (!v) return out;
	value_print(&words,
	            trace_rich_value(&r->region, t, v->number, v->flags));
	out.value = result_words(r, &words);
	text_free(&words);
	return out;
}

/* The first ones, without those like an earlier one. */
static void tell_reads(struct result *r, struct result_prediction *to,
                       const struct trace *t, const struct prediction *p)
{
	struct text key = { 0 };
	uint32_t covered = 0;
	to->reads = region_take0(&r->region, READS_SHOWN * sizeof *to->reads);
	for (uint32_t i = 0;
	     i < p->changed_count && to->read_count < READS_SHOWN; i++) {
		const struct changed_read *c = &p->changed[i];
		struct result_read *read = &to->reads[to->read_count];
		struct trace_value v;
		read->times = predict_alike(t, p, i);
		if (!read->times) continue;
		to->read_count++;
		covered += read->times;
		read->reader = who(r, t, c->transaction);
		name_trace_key(&key, t, t->ops[c->op].key);
		read->key = result_words(r, &key);
		read->observed = answer(r, t, c->observed,
		                        observed_value(t, c, &v) ? &v : NULL);
		read->predicted = answer(r, t, c->writer,
		                         predicted_value(t, c, &v) ? &v : NULL);
	}
	assert(covered <= p->changed_count);
	to->more_reads = p->changed_count - covered;
	text_free(&key);
}

/* Is it the nearest one? What comes later is as near as what is left. */
static void tell_nearness(struct result *r, struct result_prediction *to,
                          const struct predict_case *c,
                          const struct predicted *p)
{
	const struct prediction *x = p->prediction;
	if (p->number > 1 || !x->changed_count) return;
	if (!x->nearest)
		to->nearness = c->wanted ? "another one may change fewer reads"
		                         : "another one may change fewer "
		                           "reads; --all 1 looks for the "
		                           "nearest";
	else if (x->changed_count > 1)
		to->nearness =
			result_format(r, "none within %s changes fewer reads",
		                      predict_boundary_words(x->boundary));
}

/* ---- why it is not serializable ---- */

static void tell_why(struct result *r, struct result_part *to,
                     const struct predict_case *c, const struct predicted *p)
{
	uint32_t all = p->prediction->history->transaction_count - 1;
	if (p->witness) {
		to->heading = "not serializable";
		result_witness_part(r, to, p->witness, all,
		                    level_name(LEVEL_SERIAL), NULL);
		to->changes = result_prediction_marks(r, c->observed, p);
	} else if (p->unexplained) {
		result_prediction_part(r, to, c, p);
		to->changes.count = 0;
		to->heading =
			result_format(r,
		                      "a small part that shows why it is "
		                      "not serializable was not found: %s",
		                      p->unexplained);
		to->extent = "the transactions concerned";
		if (to->history->transaction_count == 1) to->history = NULL;
	}
}

static void add_picture(struct result *r, const struct predict_case *c,
                        const struct predicted *p)
{
	struct result_part *part = result_part(r);
	struct text t = { 0 };
	result_prediction_part(r, part, c, p);
	text_string(&t,
	            p->prediction->observed ? "observed: " : "predicted from ");
	name_predict_place(&t, c);
	text_string(&t, ", under ");
	if (trace_has_owns(c->observed))
		text_string(&t, "the levels of its transactions");
	else
		name_level(&t, c->options->level);
	if (p->witness && p->witness->anomaly)
		text_format(&t, ": %s", p->witness->anomaly);
	part->title = result_words(r, &t);
	text_free(&t);
}

/* ---- sessions ---- */

static void add_session(struct result *r, struct result_values *to,
                        const struct trace *t, uint32_t s,
                        const struct session_cut *cut)
{
	result_text(r, to, "session", t->sessions[s].name);
	result_count(r, to, "transactions", t->sessions[s].count);
	result_count(r, to, "kept", cut->kept);
	if (cut->divergent == TRACE_NONE) {
		result_text(r, to, "divergent", NULL);
		return;
	}
	result_trace_transaction(r, to, "divergent", t, cut->divergent);
	result_count(r, to, "operations",
	             t->transactions[cut->divergent].op_count);
	result_count(r, to, "operations_kept", cut->ops);
}

/* "2 of 5 operations, up to its read of x" */
static void name_cut(struct text *t, const struct predict_case *c,
                     const struct prediction *p, const struct session_cut *cut)
{
	const struct trace_transaction *x =
		&c->observed->transactions[cut->divergent];
	text_string(t, cut->kept ? ", then " : "");
	name_trace_transaction(t, c->observed, cut->divergent);
	if (p->boundary == BOUNDARY_RELAXED) {
		text_string(t, " with reads answered anew");
		return;
	}
	text_string(t, " up to its read of ");
	name_trace_key(t, c->observed,
	               c->observed->ops[x->first_op + cut->ops - 1].key);
	if (cut->ops == x->op_count) {
		text_string(t, ", its last operation");
		return;
	}
	text_format(t, ", %" PRIu32 " of ", cut->ops);
	number_plural(t, x->op_count, "operation", "operations");
}

static void name_kept(struct text *t, const struct trace_session *x,
                      const struct session_cut *cut)
{
	if (cut->kept == x->count) {
		text_string(t, x->count == 1 ? "its only transaction" : "all ");
		if (x->count != 1)
			number_plural(t, x->count, "transaction",
			              "transactions");
		return;
	}
	if (!cut->kept) {
		if (cut->divergent == TRACE_NONE) text_string(t, "nothing");
		return;
	}
	text_string(t, "the first ");
	if (cut->kept > 1) {
		number_count(t, cut->kept);
		text_char(t, ' ');
	}
	text_string(t, cut->kept > 1 ? "transactions" : "transaction");
}

static void name_session_part(struct text *t, const struct predict_case *c,
                              const struct prediction *p, uint32_t s)
{
	const struct session_cut *cut = &p->cuts[s];
	const struct trace_session *x = &c->observed->sessions[s];
	bool diverges = cut->divergent != TRACE_NONE;
	uint32_t left = x->count - cut->kept - diverges;
	name_kept(t, x, cut);
	if (diverges) name_cut(t, c, p, cut);
	if (left && (cut->kept || diverges)) {
		text_string(t, "; ");
		number_count(t, left);
		text_string(t, left == 1 ? " more is left out"
		                         : " more are left out");
	} else if (left > 1) {
		text_string(t, " of ");
		number_plural(t, left, "transaction", "transactions");
	}
}

/* Whole sessions are not worth a line where there are many. */
static bool is_shown(const struct trace *t, const struct prediction *p,
                     uint32_t s)
{
	return t->session_count <= SESSIONS_SHOWN / 2 ||
	       p->cuts[s].kept < t->sessions[s].count;
}

static void tell_sessions(struct result *r, struct result_prediction *to,
                          const struct predict_case *c,
                          const struct prediction *p)
{
	const struct trace *t = c->observed;
	uint32_t others = 0, whole = 0;
	struct text words = { 0 };
	if (p->observed) return;
	to->sessions =
		region_take0(&r->region, SESSIONS_SHOWN * sizeof *to->sessions);
	to->sessions_lead = result_format(
		r, "of each session the prediction has, within %s",
		predict_boundary_words(p->boundary));
	for (uint32_t s = 0; s < t->session_count; s++) {
		if (!t->sessions[s].count) continue;
		if (!is_shown(t, p, s)) {
			whole++;
		} else if (to->session_count < SESSIONS_SHOWN) {
			struct result_line *line =
				&to->sessions[to->session_count++];
			name_or_number(&words, "session", t->sessions[s].name);
			line->label = result_words(r, &words);
			name_session_part(&words, c, p, s);
			line->words = result_words(r, &words);
		} else {
			others++;
		}
	}
	if (others)
		text_format(&words, "  … %" PRIu32 " others in part\n", others);
	if (whole)
		text_format(&words, "  %" PRIu32 " other session%s whole\n",
		            whole, whole == 1 ? "" : "s");
	to->sessions_rest = result_words(r, &words);
	text_free(&words);
}

/* ---- the run along it ---- */

static void name_divergence(struct text *t, const struct replay_result *r)
{
	if (!r->diverged) {
		text_string(t, "  it follows the prediction in everything\n");
		return;
	}
	text_string(t, "  it diverges from the prediction");
	if (r->changed) {
		text_string(t, ": ");
		number_plural(t, r->changed, "read gets another writer",
		              "reads get another writer");
	}
	if (r->values) {
		text_string(t, r->changed ? ", " : ": ");
		number_plural(t, r->values,
		              "value is another one than observed",
		              "values are others than observed");
		if (!r->changed)
			text_string(t, ", as if the program were another one");
	}
	text_char(t, '\n');
}

static const struct {
	const char *word, *words;
} ends[] = {
	[RUN_COMPLETE] = { "complete", NULL },
	[RUN_PRUNED] = { "pruned", "meets a false assumption" },
	[RUN_BOUND] = { "bound", "has a session that is cut short" },
	[RUN_INTERRUPTED] = { "interrupted", "was not finished in time" },
	[RUN_MEMORY] = { "memory", "needs more memory than the limit allows" },
	[RUN_TOO_LARGE] = { "too-large", "grows too large" },
};

/* What stands behind "validated" or "not validated". */
static void name_replay(struct text *t, const char *program,
                        const struct replay_result *r)
{
	bool good = predicted_validated(r);
	if (r->end != RUN_COMPLETE) {
		text_format(t, ": %s, run along this prediction, %s\n", program,
		            ends[r->end].words);
		return;
	}
	text_format(t,
	            ": %s%s, run along this prediction, gives an execution "
	            "that is %sserializable\n",
	            good ? "" : "a false prediction: ", program,
	            good ? "not " : "");
	name_divergence(t, r);
}

static void add_replay(struct result *r, struct result_values *to,
                       const struct replay_result *replay)
{
	if (!replay) {
		result_text(r, to, "validation", NULL);
		return;
	}
	to = result_group(r, to, "validation");
	result_text(r, to, "end", ends[replay->end].word);
	result_flag(r, to, "validated", predicted_validated(replay));
	if (replay->end != RUN_COMPLETE) return;
	result_flag(r, to, "serializable", replay->serializable);
	result_flag(r, to, "diverged", replay->diverged);
	result_count(r, to, "changed", replay->changed);
	result_count(r, to, "other_values", replay->values);
}

/* ---- all about it ---- */

/* The same in words, and both where it was tried on PostgreSQL. */
static void tell(struct result *r, struct result_values *members,
                 const struct predict_case *c, const struct predicted *p)
{
	const struct prediction *x = p->prediction;
	struct result_prediction *to = region_take0(&r->region, sizeof *to);
	struct text t = { 0 };
	if (c->wanted)
		to->title = result_format(r, "prediction %" PRIu64, p->number);
	to->itself = x->observed;
	tell_reads(r, to, c->observed, x);
	tell_nearness(r, to, c, p);
	tell_why(r, &to->why, c, p);
	tell_sessions(r, to, c, x);
	if (p->replay) {
		to->validated = predicted_validated(p->replay);
		name_replay(&t, c->program, p->replay);
		to->validation = result_words(r, &t);
	}
	if (p->tried) result_confirmed(r, &to->confirmation, members, p->tried);
	r->prediction = to;
	text_free(&t);
}

void result_prediction(struct result *r, const struct predict_case *c,
                       const struct predicted *p, bool pictured)
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
	tell(r, to, c, p);
	if (pictured) add_picture(r, c, p);
}
