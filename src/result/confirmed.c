#include "result/confirmed.h"

#include <assert.h>
#include <string.h>

#include "axioms/allows.h"
#include "confirm/script.h"
#include "history/history.h"
#include "result/names.h"
#include "result/result.h"
#include "result/witness_words.h"

static const char *const answer_words[] = {
	[CONFIRM_YES] = "confirmed",        [CONFIRM_DIFFERS] = "differs",
	[CONFIRM_BLOCKED] = "blocked",      [CONFIRM_REFUSED] = "refused",
	[CONFIRM_NO_LINE] = "not possible", [CONFIRM_NOT_TRIED] = "not tried"
};

/* Of no schedule: what the weakest of PostgreSQL's levels has against it. */
static void name_cycle(struct text *t, const struct history *h)
{
	struct witness w = { 0 };
	for (enum level l = 0; l < LEVEL_COUNT; l++) {
		if (!level_has_statements(l) || !level_witness(l, h, &w))
			continue;
		for (uint32_t i = 0; i < w.count; i++) {
			text_string(t, i ? ", and " : ": ");
			explain_edge(t, h, &w.edges[i]);
		}
		witness_free(&w);
		return;
	}
}

static void name_answer(struct text *t, const struct tried_history *x)
{
	const struct confirmation *of = x->what;
	static const char server[] = "an unmodified PostgreSQL";
	switch (of->answer) {
	case CONFIRM_YES:
		text_format(t, "Confirmed on %s at %s", server, of->level);
		break;
	case CONFIRM_NO_LINE:
		text_format(t,
		            "Not possible on PostgreSQL: %s allows it, and "
		            "READ COMMITTED and REPEATABLE READ do not",
		            level_word(x->level));
		name_cycle(t, x->history);
		break;
	case CONFIRM_NOT_TRIED:
		text_format(t, "Not tried on PostgreSQL: %s", of->why);
		break;
	default:
		text_format(t, "Not confirmed on %s at %s: %s", server,
		            of->level, of->why);
		break;
	}
}

static const char *outcome_of(struct result *r, const struct confirm_line *l)
{
	if (l->waits_for) return result_format(r, "waits for %s", l->waits_for);
	return l->again ? result_format(r, "goes on: %s", l->result)
	                : l->result;
}

static void add_line(struct result *r, struct result_values *to,
                     struct result_line *out, const struct confirmer *c,
                     const struct confirm_line *l)
{
	struct text t = { 0 };
	struct result_values *line = result_group(r, to, NULL);
	name_plain(&t, confirmer_session(c, l->session));
	out->label = result_words(r, &t);
	script_one_line(&t, l->sql);
	out->words = result_words(r, &t);
	name_plain(&t, outcome_of(r, l));
	out->number = result_words(r, &t);
	text_free(&t);
	result_text(r, line, "session", out->label);
	result_text(r, line, "statement", l->sql);
	result_text(r, line, "waits_for", l->waits_for);
	result_flag(r, line, "goes_on", l->again);
	result_text(r, line, "words", out->number);
}

void result_confirmed(struct result *r, struct result_confirmation *out,
                      struct result_values *members,
                      const struct tried_history *x)
{
	const struct confirmation *of = x->what;
	struct text t = { 0 };
	struct result_values *to = result_group(r, members, "confirmation");
	assert(x->history && !out->words);
	name_answer(&t, x);
	out->words = result_words(r, &t);
	text_free(&t);
	out->confirmed = of->answer == CONFIRM_YES;
	result_flag(r, to, "confirmed", out->confirmed);
	result_text(r, to, "answer", answer_words[of->answer]);
	result_text(r, to, "words", out->words);
	result_text(r, to, "level", of->setting);
	result_text(r, to, "why", of->why);
	to = result_list(r, to, "transcript");
	out->line_count = of->count;
	out->lines = region_take0(&r->region,
	                          (of->count + (size_t)1) * sizeof *out->lines);
	for (uint32_t i = 0; i < of->count; i++)
		add_line(r, to, &out->lines[i], x->confirmer, &of->lines[i]);
}

void result_confirmed_count(struct result *r, uint64_t confirmed, uint64_t of)
{
	struct result_values *to = result_group(r, &r->findings, "confirmed");
	assert(confirmed <= of);
	result_count(r, to, "confirmed", confirmed);
	result_count(r, to, "of", of);
}

void result_confirmed_in_all(struct result *r)
{
	uint32_t tried = 0, confirmed = 0;
	for (uint32_t i = 0; i < r->assertion_count; i++) {
		tried += r->assertions[i].example.confirmation.words != NULL;
		confirmed += r->assertions[i].example.confirmation.confirmed;
	}
	result_confirmed_count(r, confirmed, tried);
}
