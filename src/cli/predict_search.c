#include "base/seconds.h"
#include "check/core.h"
#include "cli/exit_codes.h"
#include "cli/output.h"
#include "cli/outputs.h"
#include "cli/predict.h"
#include "cli/signals.h"
#include "history/facts.h"
#include "isoscope.h"
#include "report/predict_dot.h"
#include "report/predict_json.h"
#include "vm/program.h"

struct runner *predict_runner(struct predicting *x)
{
	if (x->runner && runner_level(x->runner) != x->options.level) {
		runner_free(x->runner);
		x->runner = NULL;
	}
	if (!x->runner) {
		x->runner = runner_new(x->program, x->options.level,
		                       signals_flag());
		if (x->in.limits.seconds > 0)
			runner_deadline(x->runner,
			                x->in.begun + x->in.limits.seconds);
		runner_memory(x->runner, x->in.limits.memory);
	}
	return x->runner;
}

/* ---- one prediction ---- */

/* What is kept while one history is looked at. */
struct search {
	struct predicting *x;
	struct predict_case *c;
	struct text words, list, first;
	bool tell; /* in words */
};

static bool drawing(const struct predicting *x)
{
	return pictures_wanted(x->line) && !x->picture.length;
}

/* Why the predicted history is not serializable. */
static void explain(struct search *s, struct predicted *p,
                    struct check_witness *out)
{
	struct check_clock *clock = s->x->in.clock;
	const struct trace *h = p->prediction->history;
	struct check_result result = { 0 };
	double begun = seconds_now();
	struct facts *f = facts_of_trace(h);
	check_level(f, LEVEL_SER, clock, &result);
	if (result.verdict == CHECK_VIOLATED &&
	    check_explain(h, f, LEVEL_SER, &result, clock, out)) {
		p->witness = out;
	} else {
		p->unexplained = check_clock_reason(clock);
		if (!p->unexplained) p->unexplained = result.reason;
		if (!p->unexplained) p->unexplained = "the search ended";
	}
	check_result_free(&result);
	facts_free(f);
	s->c->explain_seconds += seconds_now() - begun;
}

static void validate(struct search *s, struct predicted *p,
                     struct replay_result *out)
{
	struct predict_case *c = s->c;
	struct replay_parts parts = { p->prediction->truncated,
		                      p->prediction->divergent };
	double begun = seconds_now();
	replay_history(predict_runner(s->x), p->prediction->history,
	               p->prediction->order, parts, out);
	p->replay = out;
	c->replayed++;
	c->validated += predicted_validated(out);
	c->diverged += out->end == RUN_COMPLETE && out->diverged;
	c->validate_seconds += seconds_now() - begun;
}

static void note_first(struct search *s, const struct prediction *p)
{
	struct predict_case *c = s->c;
	c->changed = p->changed_count;
	c->itself = p->observed;
	name_predicted_changes(&s->first, c->observed, p);
	c->first = text_get(&s->first);
}

static void write_history(struct search *s, const struct predicted *p)
{
	struct text line = { 0 };
	report_predicted_history(&line, s->c, p);
	if (!output_text(s->x->histories, s->x->line->value[OPTION_HISTORIES],
	                 &line))
		s->x->in.failed = true;
	text_free(&line);
}

static void take(struct search *s, const struct prediction *prediction)
{
	struct predicting *x = s->x;
	struct check_witness witness = { 0 };
	struct replay_result replay = { 0 };
	struct predicted p = { .number = ++s->c->found,
		               .prediction = prediction };
	if (p.number == 1) note_first(s, prediction);
	if ((!x->quiet && (x->json || s->tell)) || drawing(x))
		explain(s, &p, &witness);
	if (x->program) validate(s, &p, &replay);
	if (x->histories) write_history(s, &p);
	if (drawing(x)) report_predicted_dot(&x->picture, s->c, &p);
	if (x->json)
		report_predicted_json(&s->list, s->c, &p);
	else if (s->tell && !x->quiet)
		report_predicted(&s->words, &x->style, s->c, &p);
	if (p.witness) check_witness_free(&witness);
}

/* ---- one history ---- */

static void search(struct search *s, struct predictor *predictor)
{
	struct predict_case *c = s->c;
	uint64_t wanted = c->wanted ? c->wanted : 1;
	while (c->found < wanted && !s->x->in.failed) {
		struct prediction p = { 0 };
		c->answer = predictor_next(predictor, &p);
		if (c->answer != PREDICT_FOUND) break;
		take(s, &p);
		prediction_free(&p);
	}
	c->stats = *predictor_stats(predictor);
	if (c->answer == PREDICT_UNKNOWN)
		c->reason = predictor_reason(predictor);
}

static void tell_in_words(struct search *s)
{
	struct predicting *x = s->x;
	struct predict_case *c = s->c;
	text_clear(&x->which);
	text_clear(&x->report);
	text_clear(&x->costs);
	name_predict_place(&x->which, c);
	report_predict_verdict(&x->report, &x->style, c);
	text_string(&x->report, text_get(&s->words));
	if (x->quiet) return;
	report_predict_end(&x->report, c);
	report_predict_costs(&x->costs, c);
}

/* A line for each history, once there are several. */
static void tell_line(struct search *s)
{
	struct predicting *x = s->x;
	struct text line = { 0 };
	if (x->quiet) return;
	if (!x->summary.histories && !x->summary.left_out) {
		report_predict_line(&x->first_line, &x->style, s->c);
		return;
	}
	text_string(&line, text_get(&x->first_line));
	text_clear(&x->first_line);
	report_predict_line(&line, &x->style, s->c);
	histories_put(&x->in, &line);
	text_free(&line);
}

static enum predict_shown shown_by(const struct predict_case *c)
{
	if (predict_verdict(c) == CHECK_VIOLATED) return SHOWN_VIOLATED;
	return c->found ? SHOWN_REFUTED : SHOWN_NOTHING;
}

static void tell(struct search *s)
{
	struct predicting *x = s->x;
	struct text line = { 0 };
	enum predict_shown shows = shown_by(s->c);
	if (x->json) {
		report_predict_json(&line, s->c, &s->list, iso_version());
		histories_put(&x->in, &line);
		text_free(&line);
	} else {
		tell_line(s);
		if (!x->summary.histories || shows > x->shown) tell_in_words(s);
	}
	if (shows > x->shown) x->shown = shows;
	predict_summary_add(&x->summary, s->c);
}

int predict_from(struct predicting *x, struct predict_case *c)
{
	struct search s = { .x = x, .c = c };
	struct diags d = { 0 };
	struct predictor *p = NULL;
	int code = EXIT_INPUT;
	c->options = &x->options;
	c->stated_by = x->stated_by;
	c->program = x->program ? x->program_path : NULL;
	c->wanted = x->wanted;
	s.tell = x->shown < SHOWN_VIOLATED;
	if (!x->program || replay_fits(x->program, c->observed, &d))
		p = predictor_new(c->observed, &x->options, x->in.clock, &d);
	if (p) {
		search(&s, p);
		if (!x->program || !program_fault(x->program)) {
			tell(&s);
			code = EXIT_HOLDS;
		}
	}
	predictor_free(p);
	progress_end(&x->in.progress);
	say_diagnostics(x->line, &d);
	diags_free(&d);
	text_free(&s.words);
	text_free(&s.list);
	text_free(&s.first);
	return code;
}
