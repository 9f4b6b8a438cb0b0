#include "report/predict_text.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/memory.h"
#include "history/history.h"
#include "result/checked.h"
#include "report/report.h"
#include "result/names.h"
#include "report/predict_part.h"
#include "report/witness_text.h"
#include "result/numbers.h"

enum { SESSIONS_SHOWN = 24 };

/* Seconds that are not worth telling. */
static const double LEAST_SECONDS = 1e-6;

void report_predict_verdict(struct text *t, const struct style *s,
                            const struct predict_case *c)
{
	style_verdict(t, s, predict_verdict(c));
	text_string(t, ": ");
	name_predict_reason(t, c);
	text_char(t, '\n');
}

/* ---- why it is not serializable ---- */

/* Changed reads have a star. */
static void print_part(struct text *t, const struct style *s,
                       const struct predict_case *c, const struct predicted *p)
{
	struct event_marks marks;
	struct event_mark *items = predict_marks(c->observed, p, &marks.count);
	marks.items = items;
	report_witness_extent(t, p->witness,
	                      p->prediction->history->transaction_count - 1);
	if (marks.count)
		text_string(t, marks.count == 1 ? " (* the changed read)"
		                                : " (* the changed reads)");
	text_string(t, ":\n\n");
	report_witness_part(t, s, p->witness->part, &marks);
	text_char(t, '\n');
	free(items);
}

static void print_witness(struct text *t, const struct style *s,
                          const struct predict_case *c,
                          const struct predicted *p)
{
	text_char(t, '\n');
	if (p->witness->anomaly) {
		style_words(t, s, STYLE_RED, p->witness->anomaly);
		text_string(t, ": ");
	}
	text_string(t, "not serializable\n");
	print_part(t, s, c, p);
	report_witness_cycle(t, p->witness, level_name(LEVEL_SERIAL));
}

/* Without a witness: what changed, and who wrote what is read. */
static void print_unexplained(struct text *t, const struct style *s,
                              const struct predict_case *c,
                              const struct predicted *p)
{
	struct predict_part part;
	if (!p->unexplained) return;
	predict_part_find(&part, c, p);
	text_format(t,
	            "\na small part that shows why it is not serializable "
	            "was not found: %s\n",
	            p->unexplained);
	if (part.history->transaction_count > 1) {
		text_string(t, "  the transactions concerned:\n\n");
		report_witness_part(t, s, part.history, NULL);
	}
	predict_part_free(&part);
}

/* ---- sessions ---- */

/* "2 of 5 operations, up to its read of x" */
static void print_cut(struct text *t, const struct predict_case *c,
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

static void print_kept(struct text *t, const struct trace_session *x,
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

static void print_session(struct text *t, const struct predict_case *c,
                          const struct prediction *p, uint32_t s, size_t width)
{
	const struct session_cut *cut = &p->cuts[s];
	assert(s < c->observed->session_count);
	const struct trace_session *x = &c->observed->sessions[s];
	bool diverges = cut->divergent != TRACE_NONE;
	uint32_t left = x->count - cut->kept - diverges;
	struct text name = { 0 };
	name_or_number(&name, "session", x->name);
	text_string(t, "  ");
	text_string(t, text_get(&name));
	text_pad(t, ' ', width - style_columns(text_get(&name)));
	text_string(t, "  ");
	print_kept(t, x, cut);
	if (diverges) print_cut(t, c, p, cut);
	if (left && (cut->kept || diverges)) {
		text_string(t, "; ");
		number_count(t, left);
		text_string(t, left == 1 ? " more is left out"
		                         : " more are left out");
	} else if (left > 1) {
		text_string(t, " of ");
		number_plural(t, left, "transaction", "transactions");
	}
	text_char(t, '\n');
	text_free(&name);
}

/* Whole sessions are not worth a line where there are many. */
static bool is_shown(const struct trace *r, const struct prediction *p,
                     uint32_t s)
{
	return r->sessions[s].count &&
	       (r->session_count <= SESSIONS_SHOWN / 2 ||
	        p->cuts[s].kept < r->sessions[s].count);
}

static size_t widest_name(const struct predict_case *c,
                          const struct prediction *p)
{
	struct text name = { 0 };
	size_t width = 0;
	for (uint32_t s = 0; s < c->observed->session_count; s++) {
		if (!is_shown(c->observed, p, s)) continue;
		text_clear(&name);
		name_or_number(&name, "session", c->observed->sessions[s].name);
		size_t n = style_columns(text_get(&name));
		if (n > width) width = n;
	}
	text_free(&name);
	return width;
}

static void print_sessions(struct text *t, const struct predict_case *c,
                           const struct prediction *p)
{
	size_t width = widest_name(c, p);
	uint32_t shown = 0, others = 0, whole = 0;
	if (p->observed) return;
	text_format(t, "\nof each session the prediction has, within %s\n",
	            predict_boundary_words(p->boundary));
	for (uint32_t s = 0; s < c->observed->session_count; s++) {
		if (!c->observed->sessions[s].count) continue;
		if (!is_shown(c->observed, p, s))
			whole++;
		else if (shown++ < SESSIONS_SHOWN)
			print_session(t, c, p, s, width);
		else
			others++;
	}
	if (others) text_format(t, "  … %" PRIu32 " others in part\n", others);
	if (whole)
		text_format(t, "  %" PRIu32 " other session%s whole\n", whole,
		            whole == 1 ? "" : "s");
}

/* ---- the run along it ---- */

static void print_divergence(struct text *t, const struct replay_result *r)
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

static void print_replay(struct text *t, const struct style *s,
                         const struct predict_case *c,
                         const struct replay_result *r)
{
	static const char *const ends[] = {
		[RUN_PRUNED] = "meets a false assumption",
		[RUN_BOUND] = "has a session that is cut short",
		[RUN_INTERRUPTED] = "was not finished in time",
		[RUN_MEMORY] = "needs more memory than the limit allows",
		[RUN_TOO_LARGE] = "grows too large",
	};
	bool good = predicted_validated(r);
	text_char(t, '\n');
	style_words(t, s, good ? STYLE_RED : STYLE_YELLOW,
	            good ? "validated" : "not validated");
	if (r->end != RUN_COMPLETE) {
		text_format(t, ": %s, run along this prediction, %s\n",
		            c->program, ends[r->end]);
		return;
	}
	text_format(t,
	            ": %s%s, run along this prediction, gives an execution "
	            "that is %sserializable\n",
	            good ? "" : "a false prediction: ", c->program,
	            good ? "not " : "");
	print_divergence(t, r);
}

/* ---- one prediction ---- */

static void print_title(struct text *t, const struct style *s,
                        const struct predicted *p)
{
	struct text title = { 0 };
	text_format(&title, "prediction %" PRIu64, p->number);
	text_char(t, '\n');
	style_words(t, s, STYLE_BOLD, text_get(&title));
	text_string(t, p->prediction->observed
	                       ? ": the observed execution itself\n"
	                       : "\n");
	text_free(&title);
}

/* Is it the nearest one? What comes later is as near as what is left. */
static void print_nearness(struct text *t, const struct predict_case *c,
                           const struct predicted *p)
{
	const struct prediction *x = p->prediction;
	if (p->number > 1 || !x->changed_count) return;
	if (x->nearest && x->changed_count > 1)
		text_format(t, "\nnone within %s changes fewer reads\n",
		            predict_boundary_words(x->boundary));
	else if (!x->nearest)
		text_format(t, "\nanother one may change fewer reads%s\n",
		            c->wanted ? "" : "; --all 1 looks for the nearest");
}

void report_predicted(struct text *t, const struct style *s,
                      const struct predict_case *c, const struct predicted *p)
{
	assert(p->number && p->prediction);
	if (c->wanted) print_title(t, s, p);
	if (p->prediction->changed_count)
		report_changed_reads(t, s, c->observed, p->prediction);
	print_nearness(t, c, p);
	if (p->witness)
		print_witness(t, s, c, p);
	else
		print_unexplained(t, s, c, p);
	print_sessions(t, c, p->prediction);
	if (p->replay) print_replay(t, s, c, p->replay);
}

void report_predict_end(struct text *t, const struct predict_case *c)
{
	if (predict_verdict(c) == VERDICT_NO_VIOLATION)
		name_predict_next_steps(t, c->format == FORMAT_COUNT,
		                        c->options->boundary);
	if (!c->wanted || !c->found) return;
	text_char(t, '\n');
	number_plural(t, c->found, "prediction", "predictions");
	if (c->program) {
		text_string(t, ", ");
		number_count(t, c->validated);
		text_string(t, " validated");
	}
	if (c->answer == PREDICT_NONE)
		text_format(t,
		            "; every other one within %s has all the changes "
		            "of %s\n",
		            predict_boundary_words(c->options->boundary),
		            c->found == 1 ? "this one" : "one of these");
	else if (c->answer == PREDICT_UNKNOWN)
		text_format(t, "; there may be others: %s\n",
		            c->reason ? c->reason : "the search ended");
	else
		text_string(t, "; there may be others\n");
}

/* ---- costs ---- */

static void print_level(struct text *t, const struct predict_case *c)
{
	enum check_owns owns = trace_owns(c->observed);
	text_string(t, "\nlevel     ");
	if (owns) text_string(t, "its levels");
	if (owns == OWNS_ALL) return;
	if (owns) text_string(t, ", with ");
	text_string(t, level_word(c->options->level));
	if (owns) text_string(t, " for the others");
	if (c->stated_by) text_format(t, ", %s", c->stated_by);
}

static void print_observed(struct text *t, const struct predict_case *c)
{
	text_string(t, "\nobserved  ");
	number_plural(t, c->observed->transaction_count - 1, "transaction",
	              "transactions");
	text_string(t, " in ");
	number_plural(t, c->observed->session_count, "session", "sessions");
	if (c->stats.transactions) {
		text_string(t, ", ");
		number_plural(t, c->stats.reads, "read", "reads");
		text_string(t, ", ");
		number_count(t, c->stats.contended);
		text_string(t, " of keys that somebody writes");
	}
	if (c->format < FORMAT_COUNT)
		text_format(t, "; format %s", format_word(c->format));
	else
		text_format(t, "; recorded with seed %" PRIu64, c->seed);
	print_level(t, c);
	text_format(t, "; %s, %s encoding\n",
	            predict_boundary_words(c->options->boundary),
	            predict_encoding_word(c->options->encoding));
}

static void print_search(struct text *t, const struct predict_stats *n)
{
	text_string(t, "search    ");
	number_plural(t, n->options, "way", "ways");
	text_string(t, " to answer a read anew, ");
	number_plural(t, n->rounds, "proposal", "proposals");
	text_string(t, ": ");
	number_count(t, n->level_clauses);
	text_string(t, " forbidden by the level, ");
	number_count(t, n->certificates);
	text_string(t, " serializable\n");
}

static void print_times(struct text *t, const struct predict_case *c)
{
	text_string(t, "time      ");
	number_seconds(t, c->read_seconds);
	text_string(t,
	            c->format < FORMAT_COUNT ? " reading, " : " recording, ");
	number_seconds(t, c->stats.seconds);
	text_string(t, " predicting");
	if (c->explain_seconds >= LEAST_SECONDS) {
		text_string(t, ", ");
		number_seconds(t, c->explain_seconds);
		text_string(t, " explaining");
	}
	if (c->validate_seconds >= LEAST_SECONDS) {
		text_string(t, ", ");
		number_seconds(t, c->validate_seconds);
		text_string(t, " validating");
	}
	text_char(t, '\n');
}

void report_predict_costs(struct text *t, const struct predict_case *c)
{
	print_observed(t, c);
	print_search(t, &c->stats);
	print_times(t, c);
	report_memory(t);
}
