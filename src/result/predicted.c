/* The result of predicting from a recorded history. */
#include "result/predicted.h"

#include <assert.h>
#include <inttypes.h>

#include "result/checked.h"
#include "result/names.h"
#include "result/numbers.h"
#include "result/result.h"

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
	if (t->ssi) result_text(r, to, "serializable", "postgres");
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

/* ---- in words ---- */

static void name_brief(struct text *t, const struct predict_case *c)
{
	if (c->itself) {
		text_string(t, ": the observed execution itself");
	} else if (c->found) {
		text_string(t, ": ");
		if (c->wanted) {
			number_plural(t, c->found, "prediction", "predictions");
			text_string(t, ", the first with ");
		}
		if (c->changed)
			number_plural(t, c->changed, "read changed",
			              "reads changed");
		else
			text_string(t, "a part of the observed execution");
		text_format(t, ", %s",
		            predict_boundary_word(c->first_boundary));
	} else if (c->reason) {
		text_format(t, ": %s", c->reason);
	}
	if (c->program && c->found) {
		text_string(t,
		            c->validated ? "; validated" : "; not validated");
		if (c->diverged) text_string(t, ", diverged");
		if (c->confirmed) text_string(t, ", confirmed");
	}
}

/* Behind the last of several predictions: whether there are more. */
static void name_end(struct text *t, const struct predict_case *c)
{
	assert(c->found);
	text_char(t, '\n');
	number_plural(t, c->found, "prediction", "predictions");
	if (c->program) {
		text_string(t, ", ");
		number_count(t, c->validated);
		text_string(t, " validated");
	}
	if (c->confirms) {
		text_string(t, ", ");
		number_count(t, c->confirmed);
		text_string(t, " confirmed on PostgreSQL");
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

struct result *result_of_predictions(void)
{
	return result_new(NULL, LEVEL_COUNT);
}

void result_predicted(struct result *r, const struct predict_case *c)
{
	struct text words = { 0 };
	struct result_values *to = &r->findings;
	assert(!to->first && !r->reason);
	r->level = c->options->level;
	r->verdict = predict_verdict(c);
	name_predict_reason(&words, c);
	r->reason = result_words(r, &words);
	name_predict_place(&words, c);
	r->place = result_words(r, &words);
	name_brief(&words, c);
	r->brief = result_words(r, &words);
	if (r->verdict == VERDICT_NO_VIOLATION) {
		name_predict_next_steps(&words, c->format == FORMAT_COUNT,
		                        c->options->boundary);
		r->outlook = result_words(r, &words);
	}
	if (c->wanted && c->found) {
		name_end(&words, c);
		r->note = result_words(r, &words);
	}
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
	if (c->confirms) result_confirmed_count(r, c->confirmed, c->tried);
	*result_list(r, to, "predictions") = r->predictions;
	add_measures(r, c);
	text_free(&words);
}

/* ---- costs ---- */

static void add_level(struct result *r, const struct predict_case *c)
{
	enum check_owns owns = trace_owns(c->observed);
	struct text t = { 0 };
	if (owns) text_string(&t, "its levels");
	if (owns == OWNS_SOME) text_string(&t, ", with ");
	if (owns != OWNS_ALL) text_string(&t, level_word(c->options->level));
	if (owns == OWNS_SOME) text_string(&t, " for the others");
	if (owns != OWNS_ALL && c->stated_by)
		text_format(&t, ", %s", c->stated_by);
	text_format(&t, "; %s, %s encoding",
	            predict_boundary_words(c->options->boundary),
	            predict_encoding_word(c->options->encoding));
	result_line_words(r, "level", &t);
	text_free(&t);
}

static void add_observed(struct result *r, const struct predict_case *c)
{
	struct text t = { 0 };
	number_plural(&t, c->observed->transaction_count - 1, "transaction",
	              "transactions");
	text_string(&t, " in ");
	number_plural(&t, c->observed->session_count, "session", "sessions");
	if (c->stats.transactions) {
		text_string(&t, ", ");
		number_plural(&t, c->stats.reads, "read", "reads");
		text_string(&t, ", ");
		number_count(&t, c->stats.contended);
		text_string(&t, " of keys that somebody writes");
	}
	if (c->format < FORMAT_COUNT)
		text_format(&t, "; format %s", format_word(c->format));
	else
		text_format(&t, "; recorded with seed %" PRIu64, c->seed);
	result_line_words(r, "observed", &t);
	text_free(&t);
}

static void add_search(struct result *r, const struct predict_stats *n)
{
	struct text t = { 0 };
	number_plural(&t, n->options, "way", "ways");
	text_string(&t, " to answer a read anew, ");
	number_plural(&t, n->rounds, "proposal", "proposals");
	text_string(&t, ": ");
	number_count(&t, n->level_clauses);
	text_string(&t, " forbidden by the level, ");
	number_count(&t, n->certificates);
	text_string(&t, " serializable");
	result_line_words(r, "search", &t);
	text_free(&t);
}

void result_predict_costs(struct result *r, const struct predict_case *c)
{
	bool read = c->format < FORMAT_COUNT;
	const struct result_time times[] = {
		{ c->read_seconds, read ? "reading" : "recording", false },
		{ c->stats.seconds, "predicting", false },
		{ c->explain_seconds, "explaining", true },
		{ c->validate_seconds, "validating", true },
	};
	add_observed(r, c);
	add_level(r, c);
	add_search(r, &c->stats);
	result_line_costs(r, times, sizeof times / sizeof *times);
}
