/* The table of decide --levels. */
#include <assert.h>

#include "result/decided.h"
#include "result/level_table.h"
#include "result/names.h"
#include "result/numbers.h"
#include "vm/program.h"

static bool is_error(const struct level_decisions *d, uint32_t goal)
{
	return d->goals[goal].slot == program_assertion_count(d->program);
}

/* Is there a row for it? */
static bool is_shown(const struct level_decisions *d, uint32_t goal)
{
	return is_error(d, goal) ||
	       d->goals[goal].slot > program_assertion_count(d->program) ||
	       program_assertion_met(d->program, d->goals[goal].slot);
}

/* Goals with the verdict under the level asked for. */
static uint32_t count_goals(const struct level_decisions *d, bool errors,
                            enum verdict v)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < d->goal_count; i++)
		n += is_shown(d, i) && is_error(d, i) == errors &&
		     (v == VERDICT_COUNT ||
		      level_goal_verdict(d, d->options.level, i) == v);
	return n;
}

static void name_open(struct text *t, const struct level_decisions *d)
{
	enum level l = d->options.level;
	uint32_t open = count_goals(d, false, VERDICT_INCONCLUSIVE);
	const char *obstacle = decide_obstacle(d->program, l);
	if (obstacle)
		text_format(t, "decide does not cover %s", obstacle);
	else if (d->decided[l] && d->of[l].stop)
		name_stop(t, d->program, d->of[l].stop);
	else if (d->decided[l] && d->of[l].vacuous)
		text_string(t, "there is no history to judge by");
	else
		number_plural(t, open, "assertion is open",
		              "assertions are open");
	text_string(t, ", with no violation found under ");
}

static void add_reason(struct result *r, const struct level_decisions *d)
{
	uint32_t all = count_goals(d, false, VERDICT_COUNT);
	uint32_t fail = count_goals(d, false, VERDICT_VIOLATED);
	uint32_t places = count_goals(d, true, VERDICT_VIOLATED);
	struct text t = { 0 };
	switch (r->verdict) {
	case VERDICT_VIOLATED:
		if (fail) name_failing(&t, fail, all);
		if (fail && places) text_string(&t, ", and ");
		if (places) name_errors(&t, places);
		text_string(&t, " under ");
		break;
	case VERDICT_HOLDS:
		name_nothing_fails(&t, all);
		text_string(&t, "every history under ");
		break;
	default: name_open(&t, d); break;
	}
	name_program_level(&t, d->program, d->options.level, d->options.as);
	if (r->verdict != VERDICT_INCONCLUSIVE && d->decided[r->level])
		name_decision_left_out(&t, &d->of[r->level]);
	r->reason = result_words(r, &t);
	text_free(&t);
}

static const char *state_word(enum verdict v)
{
	return v == VERDICT_VIOLATED ? "fails"
	       : v == VERDICT_HOLDS  ? "holds"
	                             : "open";
}

static void add_level(struct result *r, struct result_values *to,
                      const struct level_decisions *d, enum level l)
{
	struct result_values *one = result_group(r, to, NULL);
	result_text(r, one, "level", level_word(l));
	result_text(r, one, "verdict", verdict_word(level_verdict(d, l)));
	/* Else it follows from other levels, as far as it is known. */
	result_flag(r, one, "decided", d->decided[l]);
	result_text(r, one, "missing", decide_obstacle(d->program, l));
	if (d->decided[l]) {
		result_text(r, one, "engine",
		            d->of[l].explored ? "explore" : "decide");
		result_count(r, one, "runs", d->of[l].runs);
	}
	struct result_values *states = result_list(r, one, "states");
	for (uint32_t i = 0; i < d->goal_count; i++)
		if (is_shown(d, i))
			result_text(r, states, NULL,
			            state_word(level_goal_verdict(d, l, i)));
}

static struct result_cell cell_of(enum verdict v)
{
	return (struct result_cell){ state_word(v), result_mark_of(v) };
}

static void add_rows(struct result *r, const struct level_decisions *d)
{
	result_table(r, LEVEL_COUNT, LEVELS_COLUMN_LEAST, LEVELS_LABEL_LEAST);
	struct result_row *head = result_row(r, "");
	for (enum level l = 0; l < LEVEL_COUNT; l++)
		head->cells[l] = (struct result_cell){
			level_word(l), l == r->level ? MARK_ASKED : MARK_NAME
		};
	struct result_row *all = result_row(r, "all that is checked");
	for (enum level l = 0; l < LEVEL_COUNT; l++)
		all->cells[l] = cell_of(level_verdict(d, l));
	for (uint32_t i = 0; i < d->goal_count; i++) {
		struct text label = { 0 };
		if (!is_shown(d, i)) continue;
		struct result_assertion *a =
			result_assertion(r, d->goals[i].slot, NULL);
		if (is_error(d, i))
			a->at = program_position(d->program, d->goals[i].point);
		a->state = ASSERTION_UNKNOWN; /* it depends on the level */
		name_levels_row(&label, r, a);
		struct result_row *row = result_row(r, text_get(&label));
		for (enum level l = 0; l < LEVEL_COUNT; l++)
			row->cells[l] = cell_of(level_goal_verdict(d, l, i));
		text_free(&label);
	}
}

static void add_closing(struct result *r, const struct level_decisions *d)
{
	struct text t = { 0 };
	uint32_t asked = 0;
	for (enum level l = 0; l < LEVEL_COUNT; l++) asked += d->decided[l];
	text_char(&t, '\n');
	number_plural(&t, asked, "level was decided by itself",
	              "levels were decided by themselves");
	text_string(&t, "; what is said of the others follows from these. ");
	number_plural(&t, d->questions, "question", "questions");
	text_string(&t, ", ");
	number_seconds(&t, d->seconds);
	text_string(&t, ".\n");
	for (enum level l = 0; l < LEVEL_COUNT; l++) {
		const char *what = decide_obstacle(d->program, l);
		if (what)
			text_format(&t, "Under %s decide does not cover %s.\n",
			            level_word(l), what);
	}
	r->closing = result_words(r, &t);
	text_free(&t);
}

struct result *result_of_level_decisions(const struct level_decisions *d)
{
	struct result *r = result_new(d->program, d->options.level);
	r->has_assertions = true;
	r->verdict = level_verdict(d, d->options.level);
	add_reason(r, d);
	result_text(r, &r->settings, "program", program_path(d->program));
	result_level(r, d->options.level, d->options.as);
	add_rows(r, d);
	struct result_values *list = result_list(r, &r->findings, "levels");
	for (enum level l = 0; l < LEVEL_COUNT; l++) add_level(r, list, d, l);
	struct result_values *stats = result_group(r, &r->measures, "stats");
	result_count(r, stats, "questions", d->questions);
	result_seconds(r, stats, "seconds", d->seconds);
	add_closing(r, d);
	return r;
}
