#include "separate/separate.h"

#include <assert.h>
#include <string.h>

#include "axioms/allows.h"
#include "base/level_words.h"
#include "base/memory.h"
#include "base/seconds.h"
#include "history/history.h"
#include "separate/small_histories.h"

struct search {
	struct separated *out;
	struct level_scratch *scratch;
	double begun;
	/* For each transaction the level that a mix gives it. */
	own_level owns[SMALL_TRANSACTIONS + 1];
};

static bool is_mix(unsigned levels)
{
	return levels & (levels - 1);
}

enum level separate_others(unsigned levels)
{
	enum level l = 0;
	assert(levels && levels < 1u << LEVEL_COUNT);
	while (!(levels >> l & 1)) l++;
	return l;
}

bool separate_possible(const struct separate_options *o, struct text *why)
{
	if (is_mix(o->sides[0]) && is_mix(o->sides[1]))
		text_string(why, "a mix is compared with one level, not with "
		                 "another mix");
	else if (o->max_transactions > SMALL_TRANSACTIONS ||
	         o->max_events > SMALL_EVENTS)
		text_format(why,
		            "histories of at most %d transactions and %d "
		            "events can be searched",
		            SMALL_TRANSACTIONS, SMALL_EVENTS);
	return !why->length;
}

/* A stronger level for some transactions allows no more. */
static bool implies(unsigned strong, unsigned weak)
{
	for (enum level a = 0; a < LEVEL_COUNT; a++)
		for (enum level b = 0; b < LEVEL_COUNT; b++)
			if (strong >> a & 1 && weak >> b & 1 &&
			    !level_implies(a, b))
				return false;
	return true;
}

/* ---- one history ---- */

/* No level but none allows a dirty read. */
static bool dirt_allowed(const struct search *x, const struct small_history *s,
                         enum level others)
{
	for (uint32_t i = 0; i < s->relation.read_count; i++) {
		const struct relation_read *a = &s->relation.reads[i];
		enum level l = x->owns[a->reader]
		                       ? (enum level)(x->owns[a->reader] - 1)
		                       : others;
		if (s->aborted[a->source] && level_sight(l) != SIGHT_NOTHING)
			return false;
	}
	return true;
}

static bool allows(struct search *x, const struct small_history *s,
                   enum level others, bool mixed)
{
	struct relation r = s->relation;
	assert(r.n == s->transaction_count && r.words == 1);
	r.owns = mixed ? x->owns : NULL;
	return (!s->dirty || dirt_allowed(x, s, others)) &&
	       level_allows(others, &r, x->scratch);
}

/* Does the side say so of the history? A mix: with some choice of levels for
 * the transactions from t on, which is then left in x->owns; `left` are levels
 * that no transaction has yet. */
static bool says(struct search *x, const struct small_history *s,
                 unsigned levels, bool allowed, uint32_t t, unsigned left)
{
	enum level others = separate_others(levels);
	if (!is_mix(levels)) return allows(x, s, others, false) == allowed;
	if (t == s->transaction_count)
		return !left && allows(x, s, others, true) == allowed;
	for (enum level l = 0; l < LEVEL_COUNT; l++) {
		if (!(levels >> l & 1)) continue;
		x->owns[t] = l == others ? 0 : (own_level)(l + 1);
		if (says(x, s, levels, allowed, t + 1, left & ~(1u << l)))
			return true;
	}
	x->owns[t] = 0;
	return false;
}

/* ---- all of them ---- */

static bool is_open(const struct separation *w)
{
	return !w->implied && !w->history;
}

static bool goes_on(void *data)
{
	struct search *x = data;
	const struct separate_options *o = &x->out->options;
	if (o->interrupt && atomic_load(o->interrupt))
		x->out->stop = STOP_INTERRUPTED;
	else if (o->timeout > 0 && seconds_now() - x->begun > o->timeout)
		x->out->stop = STOP_TIME;
	return !x->out->stop;
}

static bool on_history(void *data, const struct small_history *s)
{
	struct search *x = data;
	struct separated *out = x->out;
	bool open = false;
	out->histories++;
	for (int i = 0; i < 2; i++) {
		struct separation *w = &out->ways[i];
		unsigned yes = out->options.sides[i];
		unsigned no = out->options.sides[!i];
		if (!is_open(w)) continue;
		for (uint32_t t = 0; t < s->transaction_count; t++)
			x->owns[t] = 0;
		if (says(x, s, no, false, 1, no) &&
		    says(x, s, yes, true, 1, yes)) {
			w->history = small_history_readable(s, x->owns);
			w->transactions = s->transaction_count - 1;
			w->events = s->event_count;
		}
		open |= is_open(w);
	}
	return open;
}

static bool is_settled(const struct separated *s)
{
	return !is_open(&s->ways[0]) && !is_open(&s->ways[1]);
}

static void search(struct search *x)
{
	const struct separate_options *o = &x->out->options;
	struct small_scope scope = { .locks = o->locks,
		                     .statements = o->statements };
	for (int i = 0; i < 2; i++)
		for (enum level l = 0; l < LEVEL_COUNT; l++)
			scope.aborts |= o->sides[i] >> l & 1 &&
			                level_sight(l) == SIGHT_NOTHING;
	/* One transaction alone does what it likes. */
	for (uint32_t n = 2; n <= o->max_transactions; n++)
		for (uint32_t k = n; k <= o->max_events; k++) {
			if (is_settled(x->out)) return;
			scope.transactions = n;
			scope.events = k;
			if (!small_histories(&scope, on_history, goes_on, x) &&
			    x->out->stop)
				return;
		}
}

void separate(struct separated *out, const struct separate_options *o)
{
	struct search x = { .out = out, .begun = seconds_now() };
	assert(o->max_transactions && o->max_events);
	assert(!is_mix(o->sides[0]) || !is_mix(o->sides[1]));
	*out = (struct separated){ .options = *o, .stop = STOP_NONE };
	for (int i = 0; i < 2; i++)
		out->ways[i].implied = implies(o->sides[i], o->sides[!i]);
	x.scratch = level_scratch_new();
	search(&x);
	level_scratch_free(x.scratch);
	out->seconds = seconds_now() - x.begun;
}

void separated_free(struct separated *s)
{
	for (int i = 0; i < 2; i++) history_free(s->ways[i].history);
	*s = (struct separated){ 0 };
}
