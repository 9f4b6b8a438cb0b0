#include "result/invariance.h"

#include <assert.h>
#include <inttypes.h>

#include "axioms/allows.h"
#include "history/history.h"
#include "prove/finals.h"
#include "result/names.h"
#include "result/numbers.h"
#include "result/parts.h"
#include "result/proved.h"
#include "vm/program.h"

/* "the assertion holds" */
static void name_assertions(struct text *t, const struct invariance *p,
                            const char *one, const char *more)
{
	bool many = p->app->finals->asserted > 1;
	text_string(t, many ? "the assertions " : "the assertion ");
	text_string(t, many ? more : one);
}

static void name_question(struct text *t, const struct invariance *p)
{
	text_string(t, " in every final state under ");
	name_level_as(t, p->options.terms.level, p->options.as);
	text_string(t, ", for any number of sessions and transactions");
	if (p->options.terms.no_errors)
		text_string(t, " without run-time errors");
}

static void name_uncovered(struct text *t, const struct invariance *p)
{
	const struct uncovered *u = &p->app->uncovered[0];
	text_format(t, "%s:%" PRIu32 ": %s is not covered", u->at.file,
	            u->at.line, u->what);
	if (p->app->uncovered_count == 1) return;
	text_string(t, ", and ");
	number_plural(t, p->app->uncovered_count - 1, "other place",
	              "other places");
}

static void name_loose(struct text *t, const struct invariance *p)
{
	const struct position *at = &p->app->finals->loose;
	if (at->line)
		text_format(t,
		            ", for all that is known of what the query at "
		            "%s:%" PRIu32 ":%" PRIu32 " finds: nothing",
		            at->file, at->line, at->column);
}

static void name_obstacle(struct text *t, const struct invariance *p)
{
	if (p->stop) {
		text_string(t, stop_text(p->stop));
		return;
	}
	switch (p->obstacle) {
	case INVARIANT_NONE: assert(!"no reason"); break;
	case INVARIANT_NOTHING:
		text_string(t, "nothing is asserted of final states");
		break;
	case INVARIANT_NO_PROGRAM:
		text_string(t, "the program has no transactions");
		break;
	case INVARIANT_LEVEL:
		text_string(t, "there are no proofs for this level, or mix of "
		               "levels");
		break;
	case INVARIANT_UNCOVERED: name_uncovered(t, p); break;
	case INVARIANT_MANY:
		text_format(t,
		            "%s:%" PRIu32 ": a change of any number of keys "
		            "(in %s) is not covered",
		            p->app->path, p->line, p->which->name);
		break;
	case INVARIANT_UNKNOWN_AT_FIRST:
		text_string(t, "what the program has at first could not be "
		               "looked at");
		break;
	case INVARIANT_ERROR_AT_FIRST:
		text_string(t, "what is asserted ends in a run-time error with "
		               "what the program has at first (is it a "
		               "condition, about values that are there?)");
		break;
	case INVARIANT_READS:
		text_string(t, "not provable this way: what the last "
		               "transaction reads need not be of one state "
		               "at this level");
		break;
	case INVARIANT_STEP:
		text_format(t, "not provable this way: %s might break it",
		            p->which->name);
		name_loose(t, p);
		break;
	case INVARIANT_UNDECIDED: text_string(t, "the solver gave up"); break;
	}
}

static void add_reason(struct result *r, const struct invariance *p)
{
	struct text t = { 0 };
	if (p->verdict == VERDICT_HOLDS) {
		text_string(&t, "proved: ");
		name_assertions(&t, p, "holds", "hold");
		name_question(&t, p);
	} else if (p->verdict == VERDICT_VIOLATED) {
		name_assertions(&t, p, "fails", "fail");
		if (p->at_first) {
			text_string(&t, " of what the program has at first");
		} else {
			text_string(&t, " under ");
			name_level_as(&t, p->options.terms.level,
			              p->options.as);
		}
	} else {
		name_obstacle(&t, p);
		text_string(&t, "; whether ");
		name_assertions(&t, p, "holds", "hold");
		name_question(&t, p);
		text_string(&t, " is open");
	}
	r->reason = result_words(r, &t);
	text_free(&t);
}

/* ---- what was found ---- */

static void add_violation(struct result *r, const struct invariance *p)
{
	struct result_values *one =
		result_group(r, &r->findings, "counterexample");
	struct result_part *part = result_part(r);
	struct text words = { 0 };
	enum level by;
	if (p->calls.length)
		text_format(&words, "These transactions, for example: %s",
		            text_get(&p->calls));
	else
		text_string(&words, "Before anything runs");
	if (!p->declared)
		text_string(&words, ", from a state in which no assertion "
		                    "fails");
	part->heading = result_words(r, &words);
	part->title = part->heading;
	part->history = p->history;
	part->anomaly = anomaly_name_under(LEVEL_SERIAL, p->history, &by);
	if (part->anomaly) {
		part->cycle_leads = "a serial order would need";
		part->cycle = result_cycle_of(r, LEVEL_SERIAL, p->history);
	}
	text_format(&words, "This fails: %s", p->assertion->text);
	part->closing = result_words(r, &words);
	result_text(r, one, "calls", text_get(&p->calls));
	result_text(r, one, "client", text_get(&p->client));
	result_text(r, one, "assertion", p->assertion->text);
	result_flag(r, one, "declared", p->declared);
	result_text(r, one, "anomaly", part->anomaly);
	history_print_canonical(&words, p->history);
	result_json(r, one, "history", &words);
	result_steps(r, one, p->history, p->program, NULL);
	text_free(&words);
}

static void add_line(struct text *note, const char *label,
                     const struct text *words)
{
	if (words->length)
		text_format(note, "  %-14s%s\n", label, text_get(words));
}

/* The step that may break it, if that is why. */
static void add_step(struct result *r, const struct invariance *p,
                     struct text *note)
{
	bool told = p->verdict == VERDICT_INCONCLUSIVE &&
	            p->obstacle == INVARIANT_STEP && p->call.length;
	struct result_values *one =
		told ? result_group(r, &r->findings, "step") : NULL;
	if (!told) {
		result_text(r, &r->findings, "step", NULL);
		return;
	}
	result_text(r, one, "call", text_get(&p->call));
	result_text(r, one, "reads", text_get(&p->reads));
	result_text(r, one, "writes", text_get(&p->writes));
	result_text(r, one, "over", text_get(&p->over));
	result_text(r, one, "after", text_get(&p->after));
	text_string(note, "\nAs far as the assertion and the level tell, this "
	                  "might be:\n");
	add_line(note, "", &p->call);
	add_line(note, "reads", &p->reads);
	add_line(note, "writes", &p->writes);
	add_line(note, "commits over", &p->over);
	add_line(note, "leaves", &p->after);
	text_string(note, "but no client that was explored does it. What is "
	                  "asserted may not say enough of the states that "
	                  "there are.\n");
}

static void add_open(struct result *r, const struct invariance *p,
                     struct text *note)
{
	struct result_values *list = result_list(r, &r->findings, "uncovered");
	uint32_t left = p->app->finals->left_out;
	for (uint32_t i = 0; i < p->app->uncovered_count; i++) {
		const struct uncovered *u = &p->app->uncovered[i];
		struct result_values *one = result_group(r, list, NULL);
		result_text(r, one, "file", u->at.file);
		result_count(r, one, "line", u->at.line);
		result_text(r, one, "what", u->what);
	}
	add_step(r, p, note);
	if (!left) return;
	text_string(note, "\nLeft out: ");
	number_plural(note, left, "assertion", "assertions");
	text_string(note, " about what sessions have.\n");
}

struct result *result_of_invariance(const struct invariance *p)
{
	struct result *r = result_new(NULL, p->options.terms.level);
	struct result_values *f = &r->findings;
	assert(p->verdict != VERDICT_VIOLATED || p->history);
	result_text(r, &r->settings, "program", p->app->path);
	result_level(r, p->options.terms.level, p->options.as);
	result_flag(r, &r->settings, "no_errors", p->options.terms.no_errors);
	result_count(r, &r->settings, "assertions", p->app->finals->asserted);
	r->verdict = p->verdict;
	add_reason(r, p);
	result_text(r, f, "stop", stop_word(p->stop));
	struct result_values *names = result_list(r, f, "transactions");
	for (uint32_t i = 0; i < p->app->summary_count; i++)
		result_text(r, names, NULL, p->app->summaries[i].name);
	struct text note = { 0 };
	add_open(r, p, &note);
	if (p->verdict == VERDICT_VIOLATED) add_violation(r, p);
	if (note.length) r->note = result_words(r, &note);
	text_free(&note);
	result_prove_costs(r, p->app, &p->costs);
	return r;
}
