#include "result/decided.h"

#include <assert.h>
#include <inttypes.h>

#include "result/names.h"
#include "result/numbers.h"
#include "result/parts.h"
#include "vm/program.h"

static bool is_error(const struct decision *d, const struct decide_goal *g)
{
	return g->slot == program_assertion_count(d->program);
}

static bool is_checked(const struct decision *d, const struct decide_goal *g)
{
	return !is_error(d, g) &&
	       (g->slot > program_assertion_count(d->program) ||
	        program_assertion_met(d->program, g->slot));
}

/* How many assertions, or places of errors, have the verdict. */
static uint32_t count_goals(const struct decision *d, bool errors,
                            enum verdict v)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < d->goal_count; i++)
		n += d->goals[i].verdict == v &&
		     (errors ? is_error(d, &d->goals[i])
		             : is_checked(d, &d->goals[i]));
	return n;
}

static uint32_t count_checked(const struct decision *d)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < d->goal_count; i++)
		n += is_checked(d, &d->goals[i]);
	return n;
}

/* ---- the verdict ---- */

static void violated_reason(struct text *t, const struct decision *d)
{
	uint32_t violated = count_goals(d, false, VERDICT_VIOLATED);
	uint32_t places = count_goals(d, true, VERDICT_VIOLATED);
	uint32_t checked = count_checked(d);
	if (violated && checked == 1)
		text_string(t, d->options.robust
		                       ? "not robust: a history is not "
		                         "serializable"
		                       : "the assertion fails");
	else if (violated)
		name_failing(t, violated, checked);
	if (violated && places) text_string(t, ", and ");
	if (places) name_errors(t, places);
	text_string(t, " under ");
}

bool name_decision_end(struct text *t, const struct decision *d)
{
	if (d->obstacle) {
		name_position(t,
		              program_position(d->program, d->obstacle_point));
		text_format(t, "%s%s cannot be decided",
		            d->obstacle_point ? ": " : "", d->obstacle);
	} else if (d->refuted)
		text_string(t, "an example that the solver gave was not "
		               "confirmed when it was run");
	else if (d->stop)
		name_stop(t, d->program, d->stop);
	else
		return false;
	return true;
}

static void open_reason(struct text *t, const struct decision *d)
{
	uint32_t open = count_goals(d, false, VERDICT_INCONCLUSIVE);
	bool ended = name_decision_end(t, d);
	if (!ended && d->vacuous) {
		text_string(t, "there is no history to judge by, under ");
		return;
	}
	if (!ended)
		number_plural(t, open, "assertion is open",
		              "assertions are open");
	text_string(t, ", with no violation found under ");
}

void name_decision_left_out(struct text *t, const struct decision *d)
{
	struct position at;
	if (d->assumes && !program_is_sql(d->program) &&
	    !program_bound_met(d->program, &at))
		text_string(t, "; left out: executions that make an "
		               "assumption false");
}

static void add_reason(struct result *r, const struct decision *d)
{
	struct text t = { 0 };
	switch (d->verdict) {
	case VERDICT_VIOLATED: violated_reason(&t, d); break;
	case VERDICT_HOLDS:
		name_nothing_fails(&t, count_checked(d));
		text_string(&t, "every history under ");
		break;
	default: open_reason(&t, d); break;
	}
	name_program_level(&t, d->program, d->options.level, d->options.as);
	if (d->verdict != VERDICT_INCONCLUSIVE) name_decision_left_out(&t, d);
	r->reason = result_words(r, &t);
	text_free(&t);
}

/* ---- assertions ---- */

static enum result_state state_of(const struct decision *d,
                                  const struct decide_goal *g)
{
	if (g->verdict == VERDICT_VIOLATED) return ASSERTION_FAILS;
	return g->verdict == VERDICT_HOLDS && !d->vacuous ? ASSERTION_HOLDS
	                                                  : ASSERTION_OPEN;
}

static void add_goal(struct result *r, const struct decision *d,
                     const struct decide_goal *g, enum result_depth depth)
{
	bool violated = g->verdict == VERDICT_VIOLATED;
	struct result_assertion *a = result_assertion(r, g->slot, g->finding);
	assert(violated == (g->example != NULL));
	a->state = state_of(d, g);
	result_text(r, &a->members, "state",
	            a->state == ASSERTION_FAILS   ? "fails"
	            : a->state == ASSERTION_HOLDS ? "holds"
	                                          : "open");
	if (!violated) return;
	a->where = is_error(d, g) ? "happens, for example:"
	                          : "fails, for example:";
	if (depth == RESULT_WHOLE) result_example(r, a, g->example, g->finding);
}

static void add_goals(struct result *r, const struct decision *d,
                      enum result_depth depth)
{
	r->has_assertions = true;
	r->state_width = sizeof "fails  " - 1;
	for (uint32_t i = 0; i < d->goal_count; i++)
		if (is_checked(d, &d->goals[i]) ||
		    (is_error(d, &d->goals[i]) &&
		     d->goals[i].verdict == VERDICT_VIOLATED))
			add_goal(r, d, &d->goals[i], depth);
}

/* ---- costs ---- */

static void add_stats(struct result *r, const struct decision *d)
{
	struct result_values *to = result_group(r, &r->measures, "stats");
	result_count(r, to, "runs", d->runs);
	result_count(r, to, "transactions", d->transactions);
	result_count(r, to, "questions", d->questions);
	result_count(r, to, "memory_peak", d->memory);
	result_seconds(r, to, "seconds", d->seconds);
}

static void add_lines(struct result *r, const struct decision *d)
{
	struct text t = { 0 };
	text_string(&t, "of single sessions under ");
	text_string(&t, level_word(d->options.level));
	text_string(&t, d->complete ? ", all there are" : " known so far");
	result_line(r, "runs", d->runs, &t);
	text_string(&t, "to the solver");
	result_line(r, "questions", d->questions, &t);
	result_line_costs(r, &(struct result_time){ .seconds = d->seconds }, 1);
	text_free(&t);
}

static const char *proof_word(enum proof_end end)
{
	switch (end) {
	case PROOF_WHOLE: return "written";
	case PROOF_LARGE:
		return "none: something was shown by trying histories";
	case PROOF_OPEN: return "none: a limit came first";
	case PROOF_NO_FILE: return "none: a file could not be written";
	default: return "none: not everything holds";
	}
}

static void add_proof(struct result *r, const struct decision *d)
{
	struct text t = { 0 };
	const char *path = d->options.proof;
	if (!path) return;
	struct result_values *to = result_group(r, &r->findings, "proof");
	bool whole = d->proof == PROOF_WHOLE;
	result_text(r, to, "state", proof_word(d->proof));
	result_text(r, to, "file", path);
	result_count_if(r, to, "clauses", whole, d->proof_size.clauses);
	result_count_if(r, to, "lemmas", whole, d->proof_size.lemmas);
	if (whole) {
		text_format(&t, "lemmas in %s, of the ", path);
		number_plural(&t, d->proof_size.clauses, "clause", "clauses");
		text_format(&t, " of %s.cnf", path);
		result_line(r, "proof", d->proof_size.lemmas, &t);
	} else {
		text_string(&t, proof_word(d->proof));
		result_line_words(r, "proof", &t);
	}
	text_free(&t);
}

void result_decision_costs(struct result *r, const struct decision *d)
{
	add_stats(r, d);
	add_lines(r, d);
}

void result_engine(struct result *r, bool explored, uint64_t histories)
{
	struct text t = { 0 };
	text_string(&t, explored ? "and no others: the answer is that of "
	                           "exploring, which was quicker"
	                         : "explored by then: the answer is that of "
	                           "the solver (isoscope decide)");
	result_line(r, "histories", histories, &t);
	result_text(r, &r->findings, "engine", explored ? "explore" : "decide");
	result_count(r, &r->findings, "explored", histories);
	text_free(&t);
}

void result_decision_terms(struct result *r, const struct decision *d)
{
	result_text(r, &r->settings, "program", program_path(d->program));
	result_level(r, d->options.level, d->options.as);
	result_flag(r, &r->findings, "complete", d->settled);
	result_text(r, &r->findings, "stop", stop_word(d->stop));
}

struct result *result_of_decision(const struct decision *d,
                                  enum result_depth depth)
{
	struct result *r = result_new(d->program, d->options.level);
	r->verdict = d->verdict;
	add_reason(r, d);
	result_decision_terms(r, d);
	add_goals(r, d, depth);
	if (depth == RESULT_VERDICT) return r;
	add_proof(r, d);
	result_decision_costs(r, d);
	if (d->explored) result_engine(r, true, d->histories);
	return r;
}
