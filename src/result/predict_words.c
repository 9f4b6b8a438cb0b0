#include "result/predicted.h"

#include <assert.h>
#include <inttypes.h>

#include "result/checked.h"
#include "result/names.h"
#include "result/numbers.h"

enum { READS_NAMED = 3 }; /* in a verdict */

/* ---- the verdict ---- */

bool predicted_validated(const struct replay_result *r)
{
	return r->end == RUN_COMPLETE && !r->serializable;
}

/* Were all predictions so far tried out, in vain? */
static bool refuted(const struct predict_case *c)
{
	return c->program && c->found && !c->validated && !c->itself;
}

enum verdict predict_verdict(const struct predict_case *c)
{
	assert(c->validated <= c->found);
	if (refuted(c)) return VERDICT_INCONCLUSIVE;
	if (c->found) return VERDICT_VIOLATED;
	if (c->answer == PREDICT_NONE && c->options->encoding == ENCODING_EXACT)
		return VERDICT_NO_VIOLATION;
	return VERDICT_INCONCLUSIVE;
}

const char *predict_boundary_word(enum predict_boundary b)
{
	return b == BOUNDARY_BOTH     ? "both"
	       : b == BOUNDARY_STRICT ? "strict"
	                              : "relaxed";
}

const char *predict_boundary_words(enum predict_boundary b)
{
	return b == BOUNDARY_BOTH     ? "the strict and the relaxed boundary"
	       : b == BOUNDARY_STRICT ? "the strict boundary"
	                              : "the relaxed boundary";
}

void name_predict_next_steps(struct text *t, bool recorded,
                             enum predict_boundary b)
{
	text_string(t, "which says nothing of executions farther away; "
	               "there are: ");
	if (b != BOUNDARY_BOTH)
		text_string(t, "both boundaries (without --boundary), ");
	text_string(t, recorded
	                       ? "more traces (--runs N), "
	                       : "other traces (--program PROGRAM --runs N), ");
	text_string(t, "outwards from a trace (explore --from TRACE PROGRAM), "
	               "all executions (explore PROGRAM)");
}

const char *predict_encoding_word(enum predict_encoding e)
{
	return e == ENCODING_EXACT ? "exact" : "approx";
}

/* ---- the verdict in words ---- */

/* In the middle of a sentence. */
static void name_level_here(struct text *t, const struct predict_case *c)
{
	enum check_owns owns = trace_owns(c->observed);
	bool mixed = owns == OWNS_SOME, ssi = owns && c->observed->ssi;
	if (owns) text_string(t, "the mix of its levels");
	if (mixed) text_string(t, ", with ");
	if (owns != OWNS_ALL)
		name_level_as(t, c->options->level, c->options->as);
	if (mixed) text_string(t, " for the others");
	name_ssi(t, ssi);
	if (mixed || ssi || (!owns && c->options->as)) text_char(t, ',');
}

static void reason_itself(struct text *t, const struct predict_case *c)
{
	text_string(t, "the observed execution itself is not serializable, "
	               "though ");
	name_level_here(t, c);
	text_string(t, " allows it");
	if (c->found < 2) return;
	text_string(t, "; ");
	number_plural(t, c->found - 1, "more execution is", "more are");
	text_string(t, " predicted");
}

/* ": 2 reads are changed: ..." */
static void reason_changes(struct text *t, const struct predict_case *c)
{
	if (!c->changed) {
		text_string(
			t, c->found > 1
				   ? "; the first is a part of the observed one"
				   : ": a part of the observed one");
		return;
	}
	text_string(t, c->found > 1 ? "; the first with " : ", with ");
	number_plural(t, c->changed, "read changed", "reads changed");
	if (c->first && *c->first) text_format(t, ": %s", c->first);
}

static void reason_found(struct text *t, const struct predict_case *c)
{
	bool strict = c->feasible == c->found, one;
	if (c->itself) {
		reason_itself(t, c);
		return;
	}
	one = c->found == 1;
	if (one)
		text_string(t, c->validated ? "a validated"
		               : strict     ? "a feasible"
		                            : "an");
	else
		number_count(t, c->found);
	if (!one && strict) text_string(t, " feasible");
	text_string(t, one ? " execution" : " executions");
	bool beyond = !strict && !(one && c->validated);
	if (beyond) text_string(t, " within the relaxed boundary");
	if (beyond && c->feasible) text_string(t, " or the strict one");
	text_string(t, " that ");
	name_level_here(t, c);
	text_string(t, one ? " allows is not serializable"
	                   : " allows are not serializable");
	if (!one && c->program) {
		text_string(t, ", ");
		number_count(t, c->validated);
		text_string(t, " of them validated");
	}
	reason_changes(t, c);
}

/* Whether it happens on PostgreSQL, if that was asked. */
static void reason_confirmed(struct text *t, const struct predict_case *c)
{
	assert(c->confirmed <= c->tried && c->tried <= c->validated);
	if (!c->tried) return;
	text_string(t, "; ");
	if (c->tried > 1) {
		number_count(t, c->confirmed);
		text_string(t, " of ");
		number_count(t, c->tried);
		text_char(t, ' ');
	} else if (!c->confirmed) {
		text_string(t, "not ");
	}
	text_string(t, "confirmed on an unmodified PostgreSQL");
}

static void reason_refuted(struct text *t, const struct predict_case *c)
{
	if (c->found == 1)
		text_string(t, "an execution was predicted");
	else
		number_count(t, c->found);
	if (c->found > 1) text_string(t, " executions were predicted");
	text_format(t, ", but %s, run along %s, does not show %s", c->program,
	            c->found == 1 ? "it" : "them",
	            c->found == 1 ? "it" : "any of them");
}

static void reason_none(struct text *t, const struct predict_case *c)
{
	const char *boundary = predict_boundary_words(c->options->boundary);
	if (c->options->encoding == ENCODING_EXACT) {
		text_format(t,
		            "nothing found near this trace: within %s, every "
		            "execution that ",
		            boundary);
		name_level_here(t, c);
		text_string(t, " allows is serializable");
		return;
	}
	text_format(t,
	            "the sufficient condition shows no execution within %s "
	            "that ",
	            boundary);
	name_level_here(t, c);
	text_string(t, " allows; whether there is one, --encoding exact "
	               "decides");
}

void name_predict_reason(struct text *t, const struct predict_case *c)
{
	if (refuted(c)) {
		reason_refuted(t, c);
	} else if (c->found) {
		reason_found(t, c);
		reason_confirmed(t, c);
	} else if (c->answer == PREDICT_NONE) {
		reason_none(t, c);
	} else {
		text_string(t, "no execution was predicted, and none was "
		               "excluded");
		if (c->reason) text_format(t, ": %s", c->reason);
	}
}

/* ---- names ---- */

void name_predict_place(struct text *t, const struct predict_case *c)
{
	if (c->format < FORMAT_COUNT)
		name_trace_place(t, c->observed, c->observed->line);
	else
		text_format(t, "%s, seed %" PRIu64, c->observed->file, c->seed);
}

static bool alike(const struct trace *r, const struct changed_read *a,
                  const struct changed_read *b)
{
	return a->transaction == b->transaction && a->observed == b->observed &&
	       a->writer == b->writer && r->ops[a->op].key == r->ops[b->op].key;
}

uint32_t predict_alike(const struct trace *observed, const struct prediction *p,
                       uint32_t change)
{
	const struct changed_read *c = &p->changed[change];
	uint32_t count = 0;
	for (uint32_t i = 0; i < p->changed_count; i++) {
		if (!alike(observed, &p->changed[i], c)) continue;
		if (i < change) return 0;
		count++;
	}
	return count;
}

static void name_change(struct text *t, const struct trace *observed,
                        const struct changed_read *r)
{
	name_trace_transaction(t, observed, r->transaction);
	text_string(t, " reads ");
	name_trace_key(t, observed, observed->ops[r->op].key);
	text_string(t, " from ");
	name_trace_transaction(t, observed, r->writer);
	text_string(t, " instead of ");
	name_trace_transaction(t, observed, r->observed);
}

void name_predicted_changes(struct text *t, const struct trace *observed,
                            const struct prediction *p)
{
	uint32_t named = 0, covered = 0;
	for (uint32_t i = 0; i < p->changed_count && named < READS_NAMED; i++) {
		uint32_t count = predict_alike(observed, p, i);
		if (!count) continue;
		covered += count;
		if (named++) text_string(t, ", ");
		name_change(t, observed, &p->changed[i]);
	}
	if (p->changed_count <= covered) return;
	text_string(t, ", and ");
	number_plural(t, p->changed_count - covered, "other", "others");
}

bool predict_value(const struct trace *r, uint32_t writer, uint32_t key,
                   struct trace_value *out)
{
	const struct trace_transaction *w = &r->transactions[writer];
	if (r->valueless) return false;
	if (writer == TRACE_INIT) {
		*out = r->keys[key].initial;
		return !(out->flags & TRACE_MISSING);
	}
	for (uint32_t i = w->op_count; i-- > 0;) {
		const struct trace_op *o = &r->ops[w->first_op + i];
		if (o->kind != EVENT_WRITE || o->key != key) continue;
		*out = (struct trace_value){ o->value, o->flags };
		return !(o->flags & TRACE_MISSING);
	}
	return false;
}
