/* At which levels are the transactions serializable? The weakest allocations
 * that are proved.
 *
 * Allocations are tried by increasing cost, that of a level being the number of
 * weaker ones. So when one is met, all weaker ones were decided. What is not
 * proved leaves a reason: some transactions with their levels,
 *
 * - those of an execution that is not serializable; or
 * - those of enough paths, or of a cycle that was not confirmed
 * (search.grounds).
 *
 * Every allocation in which these have these levels has the same, so that it
 * need not be tried. This asks nothing of how levels compare: with locks si may
 * allow what prc does not.
 *
 * Nor need one be tried in which some transaction is above a level that it has
 * in no reason: at that level it would be the same, and that was tried before.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/bits.h"
#include "base/memory.h"
#include "prove/search.h"
#include "sql/resolve.h"
#include "vm/program.h"

enum { TRIED_MOST = 1000000 /* parts of allocations */ };

struct reason {
	own_level *levels; /* by summary; 0: any */
	enum verdict verdict;
	struct text cycle, client;
	struct consequence consequence;
};

struct allocations {
	struct search *x;
	struct application *app;
	uint32_t count;                 /* transactions */
	enum level ladder[LEVEL_COUNT]; /* the weaker ones first */
	unsigned ladder_count;
	struct reason *reasons;
	uint32_t reason_count, reason_capacity;
	own_level *at; /* the allocation at hand */
	uint64_t tried;
};

bool prove_level_covers(enum level strong, enum level weak)
{
	return level_implies(strong, weak) ||
	       (level_has_snapshots(strong) && level_excludes_rivals(strong) &&
	        level_has_statements(weak));
}

bool prove_levels(const char *words, unsigned *out, struct text *why)
{
	if (!levels_read(words, out, why)) return false;
	for (unsigned l = 0; l < LEVEL_COUNT; l++) {
		if (!(*out >> l & 1) ||
		    level_sight((enum level)l) != SIGHT_NOTHING)
			continue;
		text_format(why, "there are no proofs for %s",
		            level_word((enum level)l));
		return false;
	}
	return true;
}

bool prove_fits(const struct program *p, const struct application *app,
                const struct prove_options *o, struct text *why)
{
	if ((o->subsets || o->allocate) && app->summary_count > SETS_OF_MOST)
		text_format(why,
		            "%s takes programs of at most %d transactions; "
		            "this one has %" PRIu32,
		            o->subsets ? "--subsets" : "--allocate",
		            SETS_OF_MOST, app->summary_count);
	for (unsigned l = 0; l < LEVEL_COUNT && !why->length; l++)
		if (o->allocate >> l & 1 && program_is_sql(p) &&
		    !sql_level_words(level_word((enum level)l)))
			text_format(why, "no transaction in SQL runs at %s",
			            level_word((enum level)l));
	return !why->length;
}

static own_level own(enum level l)
{
	return (own_level)(1 + l);
}

static bool is_weaker(enum level a, enum level b)
{
	return a != b && prove_level_covers(b, a);
}

static unsigned cost_of(const struct allocations *s, enum level l)
{
	unsigned cost = 0;
	for (unsigned i = 0; i < s->ladder_count; i++)
		cost += is_weaker(s->ladder[i], l);
	return cost;
}

/* ---- what is known ---- */

/* Has the allocation, as far as its first ones say, what the reason has? */
static bool has_reason(const struct reason *r, const own_level *at,
                       uint32_t count, uint32_t all)
{
	for (uint32_t i = 0; i < all; i++)
		if (r->levels[i] && (i >= count || r->levels[i] != at[i]))
			return false;
	return true;
}

/* Why it is not proved; one of a violation, if there is one. */
static const struct reason *find_reason(const struct allocations *s,
                                        const own_level *at, uint32_t count)
{
	const struct reason *open = NULL;
	for (uint32_t i = 0; i < s->reason_count; i++) {
		const struct reason *r = &s->reasons[i];
		if (!has_reason(r, at, count, s->count)) continue;
		if (r->verdict == VERDICT_VIOLATED) return r;
		open = r;
	}
	return open;
}

/* Does every level imply it? */
static bool is_least(const struct allocations *s, enum level l)
{
	bool least = true;
	for (unsigned i = 0; i < s->ladder_count; i++)
		least &= prove_level_covers(s->ladder[i], l);
	return least;
}

/* Is it one that was found, or stronger, whatever comes behind the first ones?
 */
static bool is_above(const struct allocations *s, uint32_t count)
{
	const struct proof *out = s->x->out;
	for (uint32_t i = 0; i < out->allocation_count; i++) {
		const enum level *found = out->allocations[i].levels;
		bool above = true;
		for (uint32_t t = 0; t < s->count && above; t++)
			above = t < count ? prove_level_covers(
						    (enum level)(s->at[t] - 1),
						    found[t])
			                  : is_least(s, found[t]);
		if (above) return true;
	}
	return false;
}

/* Is each weaker level of the transaction one that it has in some reason? */
static bool is_needed(const struct allocations *s, uint32_t t, enum level l)
{
	for (unsigned i = 0; i < s->ladder_count; i++) {
		bool has = !is_weaker(s->ladder[i], l);
		for (uint32_t k = 0; k < s->reason_count && !has; k++)
			has = s->reasons[k].levels[t] == own(s->ladder[i]);
		if (!has) return false;
	}
	return true;
}

/* ---- one allocation ---- */

static struct reason *add_reason(struct allocations *s, uint64_t members,
                                 const own_level *at, enum verdict v)
{
	VEC_RESERVE(s->reasons, s->reason_count, s->reason_capacity);
	struct reason *r = &s->reasons[s->reason_count++];
	*r = (struct reason){ mem_take0(s->count, sizeof *r->levels),
		              v,
		              { 0 },
		              { 0 },
		              { .kind = CONSEQUENCE_ANSWER } };
	BITS_EACH(i, &members, 1) r->levels[i] = at[i];
	return r;
}

static void add_found(struct allocations *s)
{
	struct proof *out = s->x->out;
	VEC_RESERVE(out->allocations, out->allocation_count,
	            out->allocation_capacity);
	struct proved_allocation *a =
		&out->allocations[out->allocation_count++];
	*a = (struct proved_allocation){ .levels = mem_take0(
						 s->count, sizeof *a->levels) };
	for (uint32_t i = 0; i < s->count; i++)
		a->levels[i] = (enum level)(s->at[i] - 1);
}

/* Proves it, or leaves a reason; neither, if it is over. */
static bool is_proved(struct allocations *s, const own_level *at)
{
	struct search *x = s->x;
	struct proof one = { .options = x->out->options };
	uint64_t all = 0;
	one.options.terms.level = s->ladder[0];
	for (uint32_t i = 0; i < s->count; i++) {
		s->app->summaries[i].own = at[i];
		all |= search_bit(i);
	}
	search_apart(x, &one);
	bool holds = one.verdict == VERDICT_HOLDS;
	if (one.verdict == VERDICT_VIOLATED) {
		struct reason *r =
			add_reason(s, x->confirmed, at, VERDICT_VIOLATED);
		text_string(&r->cycle, text_get(&one.cycle));
		text_string(&r->client, text_get(&one.client));
		consequence_copy(&r->consequence, &one.consequence);
	} else if (!holds && !one.stop) {
		add_reason(s, x->grounds ? x->grounds : all, at,
		           VERDICT_INCONCLUSIVE);
	}
	prove_free(&one);
	return holds;
}

/* ---- all of one cost ---- */

static bool is_over(struct allocations *s)
{
	struct proof *out = s->x->out;
	out->allocations_left |= s->tried > TRIED_MOST;
	return out->stop || out->allocations_left;
}

/* The first ones have their levels; those behind them are to cost so much. */
static void try_rest(struct allocations *s, uint32_t first, uint64_t cost)
{
	s->tried++;
	if (is_over(s) || find_reason(s, s->at, first) || is_above(s, first))
		return;
	if (first == s->count) {
		if (!cost && is_proved(s, s->at)) add_found(s);
		return;
	}
	for (unsigned i = 0; i < s->ladder_count && !is_over(s); i++) {
		enum level l = s->ladder[i];
		uint64_t own_cost = cost_of(s, l);
		if (own_cost > cost || !is_needed(s, first, l)) continue;
		/* What was learnt may be about the first ones alone. */
		if (find_reason(s, s->at, first)) return;
		s->at[first] = own(l);
		try_rest(s, first + 1, cost - own_cost);
	}
}

/* ---- what is weaker than what was found ---- */

static void look_below(struct allocations *s, struct proved_allocation *a,
                       uint32_t t, enum level l)
{
	for (uint32_t i = 0; i < s->count; i++) s->at[i] = own(a->levels[i]);
	s->at[t] = own(l);
	const struct reason *r = find_reason(s, s->at, s->count);
	/* It may have the paths of another one and still be violated. */
	if (!s->x->out->stop && r && r->verdict != VERDICT_VIOLATED &&
	    !is_proved(s, s->at))
		r = find_reason(s, s->at, s->count);
	VEC_RESERVE(a->weaker, a->weaker_count, a->weaker_capacity);
	struct proved_weaker *w = &a->weaker[a->weaker_count++];
	*w = (struct proved_weaker){ .transaction = t,
		                     .level = l,
		                     .verdict = r ? r->verdict
		                                  : VERDICT_INCONCLUSIVE };
	if (w->verdict != VERDICT_VIOLATED) return;
	text_string(&w->cycle, text_get(&r->cycle));
	text_string(&w->client, text_get(&r->client));
	consequence_copy(&w->consequence, &r->consequence);
}

/* Is there no level between them? */
static bool is_next_below(const struct allocations *s, enum level l,
                          enum level above)
{
	bool next = is_weaker(l, above);
	for (unsigned i = 0; i < s->ladder_count; i++)
		next &= !is_weaker(l, s->ladder[i]) ||
		        !is_weaker(s->ladder[i], above);
	return next;
}

static void look_below_all(struct allocations *s)
{
	struct proof *out = s->x->out;
	for (uint32_t i = 0; i < out->allocation_count; i++)
		for (uint32_t t = 0; t < s->count; t++)
			for (unsigned k = 0; k < s->ladder_count; k++) {
				struct proved_allocation *a =
					&out->allocations[i];
				if (is_next_below(s, s->ladder[k],
				                  a->levels[t]))
					look_below(s, a, t, s->ladder[k]);
			}
}

/* ---- all ---- */

static uint64_t most_cost(const struct allocations *s)
{
	uint64_t most = 0;
	for (unsigned i = 0; i < s->ladder_count; i++) {
		uint64_t cost = cost_of(s, s->ladder[i]);
		if (cost > most) most = cost;
	}
	return most * s->count;
}

void search_allocations(struct search *x, struct application *app)
{
	struct proof *out = x->out;
	struct allocations s = { .x = x, .app = app, .count = x->member_count };
	own_level *before = mem_take0((size_t)s.count + 1, sizeof *before);
	assert(s.count == app->summary_count);
	for (unsigned l = 0; l < LEVEL_COUNT; l++)
		if (out->options.allocate >> l & 1)
			s.ladder[s.ladder_count++] = (enum level)l;
	s.at = mem_take0((size_t)s.count + 1, sizeof *s.at);
	for (uint32_t i = 0; i < s.count; i++)
		before[i] = app->summaries[i].own;
	app->allocated = true;
	/* Where something is not covered, nothing is proved. */
	uint64_t end = app->uncovered_count ? 0 : most_cost(&s) + 1;
	for (uint64_t cost = 0; cost < end && !is_over(&s); cost++)
		try_rest(&s, 0, cost);
	look_below_all(&s);
	app->allocated = false;
	for (uint32_t i = 0; i < s.count; i++)
		app->summaries[i].own = before[i];
	for (uint32_t i = 0; i < s.reason_count; i++) {
		free(s.reasons[i].levels);
		text_free(&s.reasons[i].cycle);
		text_free(&s.reasons[i].client);
		consequence_free(&s.reasons[i].consequence);
	}
	free(s.reasons);
	free(s.at);
	free(before);
}
