/* The search: propose, check, learn. */
#include "predict/predictor.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/seconds.h"
#include "check/minimal_violation.h"
#include "check/strong.h"
#include "predict/conflict_cycles.h"
#include "predict/dangerous_structure.h"

/* ---- questions about a candidate ---- */

static enum finding_answer answer_of(struct predictor *p,
                                     const struct check_result *r)
{
	if (r->verdict == VERDICT_HOLDS) return ANSWERED_YES;
	if (r->verdict == VERDICT_VIOLATED) return ANSWERED_NO;
	p->reason = r->reason;
	return ANSWERED_OPEN;
}

enum finding_answer predictor_allows(struct predictor *p, uint32_t **core,
                                     uint32_t *core_count)
{
	struct check_result r = { 0 };
	check_level(&p->x.facts, p->options.level, p->clock, &r);
	enum finding_answer answer = answer_of(p, &r);
	if (core && answer == ANSWERED_NO) {
		*core = r.core;
		*core_count = r.core_count;
		r.core = NULL;
	}
	check_result_free(&r);
	return answer;
}

static enum finding_answer decide_serializable(struct predictor *p,
                                               uint32_t **order)
{
	struct check_result r = { 0 };
	const struct facts plain = facts_without_owns(&p->x.facts), *f = &plain;
	check_level(f, LEVEL_SERIAL, p->clock, &r);
	enum finding_answer answer = answer_of(p, &r);
	if (order && answer == ANSWERED_YES) {
		if (check_commit_order(f, LEVEL_SERIAL, p->clock, &r)) {
			*order = r.order;
			r.order = NULL;
		} else {
			p->reason = check_clock_reason(p->clock);
			answer = ANSWERED_OPEN;
		}
	}
	check_result_free(&r);
	return answer;
}

/* Saturation under ser adds the edges of pco, and nothing else. */
static enum finding_answer has_no_pco_cycle(struct predictor *p)
{
	struct strong s;
	struct facts plain = facts_without_owns(&p->x.facts);
	enum finding_answer answer = ANSWERED_OPEN;
	p->reason = CHECK_MEMORY;
	if (strong_init(&s, &plain, LEVEL_SERIAL, p->clock)) {
		if (saturate(&s))
			answer = ANSWERED_YES;
		else if (s.conflicting)
			answer = ANSWERED_NO;
		else
			p->reason = check_clock_reason(p->clock);
	}
	strong_free(&s);
	return answer;
}

enum finding_answer predictor_serializable(struct predictor *p,
                                           uint32_t **order)
{
	if (p->options.encoding == ENCODING_APPROX) {
		enum finding_answer answer = has_no_pco_cycle(p);
		if (answer != ANSWERED_YES || !order) return answer;
		answer = decide_serializable(p, order);
		return answer == ANSWERED_NO ? ANSWERED_YES : answer;
	}
	return decide_serializable(p, order);
}

/* ---- learning from what the level forbids ---- */

/* Adds what is kept in every proposal with the copy. */
static void require_copy(const struct predictor *p, word *row, size_t copy)
{
	const struct observed_history *o = &p->o;
	const struct copy *y = &p->c.copies[copy];
	uint32_t t = y->transaction;
	assert(copy < p->c.count);
	for (uint32_t i = o->need_first[t]; i < o->need_first[t + 1]; i++)
		observed_include(o, row, o->needs[i]);
	for (uint32_t i = o->first[t]; i < y->end; i++)
		if (o->events[i].kind == EVENT_READ && !copy_frees(&p->c, y, i))
			observed_include(o, row, o->events[i].from);
}

/* Options of the core's reads that this transaction made. */
static bool forbid_options(struct predictor *p,
                           const struct minimal_violation *core,
                           uint32_t transaction, word *row)
{
	const struct facts *f = &p->x.facts;
	bool some = false;
	for (uint32_t i = 0; i < core->read_count; i++) {
		uint32_t read = core->reads[i];
		uint32_t option = p->x.option_of[read];
		if (read < f->read_first[transaction] ||
		    read >= f->read_first[transaction + 1] ||
		    option == UINT32_MAX)
			continue;
		assert(option < p->c.option_count);
		proposal_add(&p->p, -literal_option(&p->p, option));
		observed_include(&p->o, row, p->c.options[option].writer);
		some = true;
	}
	return some;
}

/* Not these transactions, copies and options together. What they need is there
 * anyway. */
static void forbid_core(struct predictor *p,
                        const struct minimal_violation *core)
{
	const struct candidate *x = &p->x;
	word *row = mem_take0(p->o.words + 1, sizeof *row);
	for (uint32_t i = 0; i < core->count; i++) {
		uint32_t t = core->transactions[i], copy = x->copy_of[t];
		assert(t > 0 && t < x->facts.n);
		if (copy == UINT32_MAX) continue;
		if (!forbid_options(p, core, t, row))
			proposal_add(&p->p, -literal_copy(&p->p, copy));
		require_copy(p, row, copy);
	}
	for (uint32_t i = 0; i < core->count; i++) {
		uint32_t t = core->transactions[i];
		if (x->copy_of[t] == UINT32_MAX &&
		    !bits_has(row, x->numbers[t]))
			proposal_add(&p->p, literal_out(x->numbers[t]));
	}
	proposal_add(&p->p, 0);
	free(row);
}

/* All reads of the core's transactions, where there was no time for fewer. */
static void core_of_transactions(const struct facts *f,
                                 struct minimal_violation *core,
                                 const uint32_t *transactions, uint32_t count)
{
	core->transactions = mem_take((count + (size_t)1) * sizeof(uint32_t));
	core->reads =
		mem_take((f->read_first[f->n] + (size_t)1) * sizeof(uint32_t));
	for (uint32_t i = 0; i < count; i++) {
		uint32_t t = transactions[i];
		core->transactions[core->count++] = t;
		for (uint32_t k = f->read_first[t]; k < f->read_first[t + 1];
		     k++)
			core->reads[core->read_count++] = k;
	}
}

/* Of the core, what was only kept to have as much as possible is left out of
 * the proposal, with all that happened after it. False if there is none. */
static bool leave_out(struct predictor *p, const struct minimal_violation *core,
                      const word *proposed)
{
	const struct candidate *x = &p->x;
	bool some = false;
	for (uint32_t i = 0; i < core->count; i++) {
		uint32_t t = x->numbers[core->transactions[i]];
		if (x->copy_of[core->transactions[i]] != UINT32_MAX ||
		    bits_has(proposed, t))
			continue;
		proposal_leave_out(&p->p, t);
		some = true;
	}
	return some;
}

/* Returns whether the proposal, which had `proposed` kept, has less now. */
static bool learn_level(struct predictor *p, const uint32_t *transactions,
                        uint32_t count, const word *proposed)
{
	const struct facts *f = &p->x.facts;
	struct minimal_violation core = { 0 };
	if (!minimal_violation_find_any(f, p->options.level, transactions,
	                                count, p->clock, &core)) {
		minimal_violation_free(&core);
		core = (struct minimal_violation){ 0 };
		core_of_transactions(f, &core, transactions, count);
	}
	forbid_core(p, &core);
	bool less = leave_out(p, &core, proposed);
	minimal_violation_free(&core);
	p->stats.level_clauses++;
	return less;
}

/* ---- one round ---- */

/* psi and si: at the end, a copy reads the last version of what it writes. */
static void learn_order(struct predictor *p, const uint32_t *order)
{
	serial_clauses_learn(p->clauses, &p->p, &p->x, order, PLACES_OWN);
	if (p->o.exclusive)
		serial_clauses_learn(p->clauses, &p->p, &p->x, order,
		                     PLACES_END);
}

/* Asks the level of the last proposal, with as much kept as it allows: if that
 * is serializable, so is every part, and if it is not, it is a prediction. */
static enum finding_answer judge_level(struct predictor *p)
{
	size_t size = (p->o.words + (size_t)1) * sizeof(word);
	word *proposed = mem_take(size);
	enum finding_answer answer;
	bool less;
	memcpy(proposed, p->p.kept, size);
	proposal_keep_most(&p->p);
	do {
		uint32_t *core = NULL, core_count = 0;
		struct choice_of choice = predictor_choice(p);
		candidate_make(&p->x, &choice);
		answer = predictor_allows(p, &core, &core_count);
		less = answer == ANSWERED_NO &&
		       learn_level(p, core, core_count, proposed);
		free(core);
	} while (less);
	free(proposed);
	return answer;
}

/* Is the last proposal a prediction? If not, it is refused for good. */
static enum finding_answer judge(struct predictor *p)
{
	uint32_t *order = NULL;
	enum finding_answer answer = judge_level(p);
	if (answer != ANSWERED_YES) return answer;
	answer = predictor_serializable(p, &order);
	if (answer == ANSWERED_NO) return ANSWERED_YES;
	if (answer == ANSWERED_OPEN) return ANSWERED_OPEN;
	if (order)
		learn_order(p, order);
	else
		serial_clauses_refuse_parts(&p->p);
	free(order);
	p->stats.certificates++;
	return ANSWERED_NO;
}

/* What was learnt has to be held too. */
static bool is_too_large(const struct predictor *p)
{
	return check_clock_too_large(p->clock, proposal_bytes(&p->p));
}

enum predict_answer predictor_search(struct predictor *p, uint32_t changes,
                                     uint64_t rounds)
{
	uint64_t end = rounds ? p->stats.rounds + rounds : UINT64_MAX;
	while (p->stats.rounds < end) {
		if (check_clock_over(p->clock) || is_too_large(p)) break;
		enum proposal_answer proposed =
			changes == CHANGES_ANY
				? proposal_next(&p->p)
				: proposal_next_within(&p->p, changes);
		if (proposed == PROPOSAL_NONE) return PREDICT_NONE;
		if (proposed == PROPOSAL_STOPPED) break;
		p->stats.rounds++;
		enum finding_answer answer = judge(p);
		if (answer == ANSWERED_YES) return PREDICT_FOUND;
		if (answer == ANSWERED_OPEN) return PREDICT_UNKNOWN;
	}
	p->reason = check_clock_reason(p->clock);
	if (!p->reason) p->reason = CHECK_MEMORY;
	return PREDICT_UNKNOWN;
}

/* A further one may change as few reads as the last one. */
static enum predict_answer search(struct predictor *p)
{
	enum predict_answer answer = PREDICT_NONE;
	p->nearest = true;
	if (p->changes && p->options.enumerate)
		answer = predictor_search(p, p->changes, 0);
	if (answer == PREDICT_NONE)
		answer = predictor_search(p, CHANGES_ANY, 0);
	if (answer == PREDICT_FOUND) predictor_approach(p);
	return answer;
}

/* ---- beginning ---- */

/* The observed execution itself, as a proposal. */
static enum finding_answer judge_observed(struct predictor *p)
{
	if (!p->o.allowed || p->o.serializable || p->itself) return ANSWERED_NO;
	for (uint32_t t = 1; t < p->o.n; t++) bits_add(p->p.kept, t);
	p->p.chosen_count = 0;
	struct choice_of choice = predictor_choice(p);
	candidate_make(&p->x, &choice);
	switch (predictor_serializable(p, NULL)) {
	case ANSWERED_NO: return ANSWERED_YES;
	case ANSWERED_YES: return ANSWERED_NO;
	case ANSWERED_OPEN: break;
	}
	return ANSWERED_OPEN;
}

static void count_reads(struct predictor *p)
{
	const struct observed_history *o = &p->o;
	p->stats.transactions = o->n - 1;
	p->stats.reads = o->facts->read_first[o->n];
	p->stats.contended = 0;
	for (uint32_t i = 0; i < p->stats.reads; i++)
		p->stats.contended +=
			o->key_of[o->facts->reads[i].key] != UINT32_MAX;
	p->stats.options += p->c.option_count;
}

/* Of an execution that is allowed and serializable, cutting a transaction
 * behind an unchanged read is of use where the level would forbid the writes
 * that follow; and for the fewest changes. */
static enum unchanged_copies unchanged_copies(const struct predictor *p)
{
	const struct predict_options *o = &p->options;
	bool strict = o->boundary == BOUNDARY_STRICT;
	if (!p->o.allowed || !p->o.serializable || (strict && o->enumerate))
		return UNCHANGED_ALL;
	/* Behind it may be reads at a later moment, and locks. */
	if (strict && p->o.points) return UNCHANGED_ALL;
	if (strict && p->o.some_exclusive) return UNCHANGED_CUT;
	return UNCHANGED_NONE;
}

static void free_search(struct predictor *p)
{
	serial_clauses_free(p->clauses);
	candidate_free(&p->x);
	proposal_free(&p->p);
	copies_free(&p->c);
	p->clauses = NULL;
	p->x = (struct candidate){ 0 };
	p->p = (struct proposal){ 0 };
	p->c = (struct divergent_copies){ 0 };
}

/* Where reads have many writers to choose from, those near the observed ones
 * are tried first: mostly they do. */
enum { NEAR = 4, MANY = 50000 };

/* Chooses the copies; with `first`, near writers only, if all are many. False
 * if a limit came first. */
static bool choose_copies(struct predictor *p, bool first)
{
	const struct predict_options *o = &p->options;
	struct copies_scope scope = { o->boundary, unchanged_copies(p),
		                      predictor_quick(p), 0, first ? MANY : 0 };
	bool fine = copies_init(&p->c, &p->o, &scope, p->clock, &p->reason);
	p->part = scope.only;
	if (fine || !p->c.too_many) return fine;
	copies_free(&p->c);
	p->part = true;
	scope.near = NEAR;
	scope.most = 0;
	return copies_init(&p->c, &p->o, &scope, p->clock, &p->reason);
}

/* The option that this change would be; UINT32_MAX if no copy can make it. */
static uint32_t option_of_change(const struct predictor *p,
                                 const struct changed_read *change)
{
	const struct observed_history *o = &p->o;
	const struct divergent_copies *c = &p->c;
	uint32_t t = change->transaction;
	uint32_t key = o->key_of[o->trace->ops[change->op].key];
	if (c->first_copy[t] == c->first_copy[t + 1]) return UINT32_MAX;
	const struct copy *y = &c->copies[c->first_copy[t]];
	for (uint32_t k = y->first; k < y[1].first; k++) {
		const struct observed_event *e = &o->events[c->reads[k].event];
		if (o->merged ? e->key != key : e->op != change->op) continue;
		for (uint32_t a = c->reads[k].first; a < c->reads[k + 1].first;
		     a++)
			if (c->options[a].writer == change->writer) return a;
	}
	return UINT32_MAX;
}

/* Refuses whatever has all the changes of a prediction within the boundary
 * before. */
static void refuse_given(struct predictor *p)
{
	for (size_t i = 0, first = 0; i < p->given_count; i++) {
		bool possible = true;
		if (p->given[i].op != UINT32_MAX) continue;
		for (size_t k = first; k < i; k++)
			possible &=
				option_of_change(p, &p->given[k]) != UINT32_MAX;
		for (size_t k = first; k < i && possible; k++)
			proposal_add(&p->p,
			             -literal_option(&p->p,
			                             option_of_change(
							     p, &p->given[k])));
		if (possible && first < i) proposal_add(&p->p, 0);
		first = i + 1;
	}
}

/* Do all transactions run at si, and those that diverge whole? */
static bool has_whole_snapshots(const struct predictor *p)
{
	const struct observed_history *o = &p->o;
	return p->c.boundary == BOUNDARY_RELAXED && o->exclusive &&
	       o->sight == SIGHT_PREFIX && !o->points;
}

/* Everything that is needed before the first proposal; false if a limit came
 * first. */
static bool begin(struct predictor *p, bool first)
{
	if (!choose_copies(p, first)) return false;
	p->changes = p->c.unchanged == UNCHANGED_NONE;
	count_reads(p);
	if (!proposal_init(&p->p, &p->o, &p->c, p->clock)) return false;
	assert(!p->clauses);
	candidate_init(&p->x, &p->o, &p->c);
	p->clauses = serial_clauses_new(&p->o, &p->c, p->clock);
	if (has_whole_snapshots(p)) dangerous_structure_demand(&p->p);
	if (p->o.serializable) {
		conflict_cycles_demand(&p->p);
		serial_clauses_learn_observed(p->clauses, &p->p, PLACES_OWN);
		serial_clauses_learn_observed(p->clauses, &p->p, PLACES_END);
	}
	if (p->options.enumerate) refuse_given(p);
	return true;
}

static enum predict_answer search_from(struct predictor *p, bool first)
{
	if (!begin(p, first)) return PREDICT_UNKNOWN;
	switch (judge_observed(p)) {
	case ANSWERED_YES: p->itself = p->nearest = true; return PREDICT_FOUND;
	case ANSWERED_OPEN: return PREDICT_UNKNOWN;
	case ANSWERED_NO: break;
	}
	return search(p);
}

static enum predict_answer first_answer(struct predictor *p)
{
	assert(!p->begun);
	p->begun = true;
	if (p->failed) return PREDICT_UNKNOWN;
	enum predict_answer answer = search_from(p, !p->options.enumerate);
	if (answer != PREDICT_NONE || !p->c.near) return answer;
	free_search(p);
	return search_from(p, false);
}

/* Refuses whatever has all the changed reads of the last proposal. */
static void refuse_repetition(struct predictor *p)
{
	bool some = false;
	for (uint32_t i = 0; i < p->p.chosen_count; i++) {
		const struct copy *y = &p->c.copies[p->p.chosen[i]];
		for (uint32_t a = p->c.reads[y->first].first;
		     a < p->c.reads[y[1].first].first; a++) {
			if (!p->p.taken[a] || p->c.options[a].observed)
				continue;
			proposal_add(&p->p, -literal_option(&p->p, a));
			some = true;
		}
	}
	p->ended |= !some || !p->options.enumerate;
	if (some) proposal_add(&p->p, 0);
}

static bool look_at(struct predictor *p, const struct trace *observed)
{
	bool merge = p->options.boundary == BOUNDARY_RELAXED;
	return observed_history_init(&p->o, observed, p->options.level, merge,
	                             p->clock, &p->reason);
}

bool predictor_widen(struct predictor *p)
{
	const struct trace *observed = p->o.trace;
	if (!p->wider) return false;
	free_search(p);
	observed_history_free(&p->o);
	p->options.boundary = BOUNDARY_RELAXED;
	p->wider = p->begun = p->ended = false;
	p->failed = !look_at(p, observed);
	return true;
}

static void note_given(struct predictor *p, const struct prediction *out)
{
	for (uint32_t i = 0; i <= out->changed_count; i++) {
		VEC_RESERVE(p->given, p->given_count, p->given_capacity);
		p->given[p->given_count++] =
			i < out->changed_count
				? out->changed[i]
				: (struct changed_read){ .op = UINT32_MAX };
	}
}

enum predict_answer predictor_next(struct predictor *p, struct prediction *out)
{
	double since = seconds_now();
	enum predict_answer answer;
	do {
		answer = PREDICT_NONE;
		if (!p->ended) answer = p->begun ? search(p) : first_answer(p);
	} while (answer == PREDICT_NONE && predictor_widen(p));
	if (answer == PREDICT_FOUND) {
		predictor_build(p, out);
		refuse_repetition(p);
		if (p->wider) note_given(p, out);
	}
	p->ended |= answer != PREDICT_FOUND;
	p->wider &= answer != PREDICT_UNKNOWN;
	assert(answer != PREDICT_UNKNOWN || p->reason ||
	       check_clock_reason(p->clock));
	if (check_clock_reason(p->clock))
		p->reason = check_clock_reason(p->clock);
	p->stats.seconds += seconds_now() - since;
	return answer;
}

/* ---- making and freeing ---- */

static void refuse(struct diags *d, const struct trace *t, const char *why)
{
	diags_add(d, DIAG_ERROR, t->file, t->line, 0, NULL,
	          "no prediction from this history: %s", why);
}

static bool is_fit(const struct trace *t, struct diags *d)
{
	if (t->lists)
		refuse(d, t,
		       "it is of lists, and a list that was read tells "
		       "the order of those who appended to it");
	else if (t->anomaly_count)
		refuse(d, t,
		       "it has anomalies that no reading of it explains; "
		       "'isoscope check' shows them");
	else
		return true;
	return false;
}

struct predictor *predictor_new(const struct trace *observed,
                                const struct predict_options *o,
                                struct check_clock *c, struct diags *d)
{
	double since = seconds_now();
	if (!is_fit(observed, d)) return NULL;
	struct predictor *p = mem_take0(1, sizeof *p);
	p->options = *o;
	p->clock = c;
	p->wider = o->boundary == BOUNDARY_BOTH;
	if (p->wider) p->options.boundary = BOUNDARY_STRICT;
	p->failed = !look_at(p, observed);
	if (!p->failed && !p->o.order) {
		refuse(d, observed,
		       "its transactions read from each other in "
		       "a circle, which no level allows");
		predictor_free(p);
		return NULL;
	}
	p->stats.seconds = seconds_now() - since;
	return p;
}

void predictor_free(struct predictor *p)
{
	if (!p) return;
	free_search(p);
	observed_history_free(&p->o);
	free(p->given);
	free(p);
}

const struct predict_stats *predictor_stats(const struct predictor *p)
{
	return &p->stats;
}

const char *predictor_reason(const struct predictor *p)
{
	return p->reason ? p->reason : "";
}
