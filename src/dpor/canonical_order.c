#include "dpor/canonical_order.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "dpor/engine.h"
#include "dpor/first_reads.h"
#include "analyse/footprint.h"

/* ---- which session comes first ---- */

/* When the session's next transaction comes; earlier ones have smaller numbers.
 *
 * Where nobody writes any more what a transaction may read, it does the same
 * whatever the others do: it comes at once, and no other has to be tried in its
 * place. Then those come that most others wait for, so that these find written
 * what they read and are seldom run in vain; and last those that only read: who
 * is passed over by them waits for somebody else. */
static uint32_t turn_of(const struct engine *e, uint32_t session)
{
	const struct session_point *points = engine_state(e)->execution.points;
	struct footprints *f = e->context.footprints;
	const struct machine_state *s = points[session].state;
	uint32_t sessions = e->context.sessions, waiting = 0;
	bool fed = false;
	for (uint32_t i = 0; i < sessions; i++) {
		if (i == session || points[i].ended) continue;
		fed |= footprints_may_feed(f, points[i].state, s);
		waiting += footprints_may_feed(f, s, points[i].state);
	}
	assert(waiting < sessions);
	if (!fed) return 0;
	return (footprints_may_write_some(f, s) ? 1 : 2) * sessions - waiting;
}

/* For the place behind all that is there. */
static void find_turns(struct engine *e)
{
	const struct session_point *points = engine_state(e)->execution.points;
	struct canonical_order *o = &e->order;
	uint32_t sessions = e->context.sessions;
	assert(!engine_ledger(e)->pending.active);
	uint32_t place = engine_closure(e)->count;
	if (!o->by_footprint) return;
	if (!o->turns)
		o->turns = mem_take(sessions * sizeof *o->turns);
	else if (o->turns_place == place && o->turns_steps == e->context.steps)
		return;
	o->turns_place = place;
	o->turns_steps = e->context.steps;
	for (uint32_t i = 0; i < sessions; i++)
		if (!points[i].ended) o->turns[i] = turn_of(e, i);
}

/* At the place that the turns were found for. */
static inline bool comes_before(const struct canonical_order *o, uint32_t a,
                                uint32_t b)
{
	if (o->by_footprint && o->turns[a] != o->turns[b])
		return o->turns[a] < o->turns[b];
	return a < b;
}

void canonical_order_sort(struct engine *e, uint32_t *sessions, uint32_t count)
{
	find_turns(e);
	if (!e->order.by_footprint) return;
	for (uint32_t i = 1; i < count; i++) {
		uint32_t session = sessions[i], k = i;
		for (; k && comes_before(&e->order, session, sessions[k - 1]);
		     k--)
			sessions[k] = sessions[k - 1];
		sessions[k] = session;
	}
}

/* Notes whom the session passes over. */
static void note_passed(struct engine *e, uint32_t session)
{
	struct canonical_order *o = &e->order;
	uint32_t words = BITS_WORDS(e->context.sessions);
	size_t place = engine_closure(e)->count;
	if ((place + 1) * words > o->passed_words) {
		o->passed_words = 2 * (place + 1) * words;
		o->passed =
			mem_grow(o->passed, o->passed_words, sizeof *o->passed);
	}
	word *row = o->passed + place * words;
	bits_zero(row, words);
	if (context_is_finally(&e->context, session)) return;
	find_turns(e);
	for (uint32_t i = 0; i < e->context.sessions; i++)
		if (!engine_state(e)->execution.points[i].ended &&
		    comes_before(o, i, session))
			bits_add(row, i);
}

void canonical_order_free(struct canonical_order *o)
{
	free(o->turns);
	free(o->passed);
}

/* ---- whom an order has passed over ---- */

/* The last place behind `after` and before `end` where this session is passed
 * over; 0 if there is none. */
static uint32_t place_of_later(const struct engine *e, uint32_t session,
                               uint32_t after, uint32_t end)
{
	uint32_t words = BITS_WORDS(e->context.sessions);
	for (uint32_t p = end; --p > after;)
		if (bits_has(e->order.passed + (size_t)p * words, session))
			return p;
	return 0;
}

/* Where the session's last transaction stands; 0, as init, if none has. */
static uint32_t place_of_last(const struct engine *e, uint32_t session)
{
	const struct ledger *l = engine_ledger(e);
	return l->closure.position[ledger_last(l, session)];
}

uint32_t canonical_order_passed(const struct engine *e, uint32_t session)
{
	return place_of_later(e, session, place_of_last(e, session),
	                      engine_closure(e)->count);
}

/* The place of the last predecessor of the transaction at the end, by the reads
 * that it has so far. */
static uint32_t last_predecessor(const struct closure *c)
{
	assert(c->count > 1);
	const struct closure_block *b = &c->blocks[c->count - 1];
	uint32_t last = c->position[b->previous];
	for (uint32_t r = b->first_read; r < c->read_count; r++)
		if (c->position[c->reads[r].source] > last)
			last = c->position[c->reads[r].source];
	return last;
}

bool canonical_order_keeps(struct engine *e)
{
	const struct ledger *l = engine_ledger(e);
	first_reads_note_end(e);
	const struct closure *c = &l->closure;
	uint32_t place = c->count - 1;
	if (c->blocks[place].after_all) return true;
	return !place_of_later(e, l->transactions[c->order[place]]->session,
	                       last_predecessor(c), place);
}

/* May the transaction of this session, wherever it stands, still read something
 * that was written at `from` or behind it? */
static bool may_read_from(const struct engine *e,
                          const struct machine_state *session, uint32_t from)
{
	const struct closure *c = engine_closure(e);
	for (uint32_t p = from; p < c->count; p++)
		for (uint32_t i = 0; i < c->blocks[p].written_count; i++)
			if (footprints_may_read(e->context.footprints, session,
			                        c->blocks[p].written[i]))
				return true;
	return false;
}

/* Was one of the keys written at `from` or behind it? */
static bool some_written(const struct closure *c, const struct key_list *keys,
                         uint32_t from)
{
	for (uint32_t i = 0; i < keys->count; i++) {
		if (keys->items[i] >= c->key_count) continue;
		const word *writers =
			c->writers + (size_t)keys->items[i] * c->words;
		BITS_EACH(t, writers, c->words)
			if (c->position[t] >= from) return true;
	}
	return false;
}

/* Can the session's next transaction come, by what was written so far? */
static bool can_come(struct engine *e, uint32_t session)
{
	const struct closure *c = engine_closure(e);
	const struct machine_state *s =
		engine_state(e)->execution.points[session].state;
	uint32_t passed = canonical_order_passed(e, session);
	if (!passed) return true;
	if (!may_read_from(e, s, passed)) return false;
	const struct key_list *keys = first_reads(e, session, passed, false);
	if (keys && !some_written(c, keys, passed))
		keys = first_reads(e, session, passed, true);
	return !keys || some_written(c, keys, passed);
}

/* May one of these sessions write one of the keys? */
static bool some_to_be_written(const struct engine *e,
                               const struct key_list *keys, const word *by,
                               unsigned words)
{
	const struct session_point *points = engine_state(e)->execution.points;
	for (uint32_t k = 0; k < keys->count; k++)
		BITS_EACH(i, by, words)
			if (footprints_may_write(e->context.footprints,
			                         points[i].state,
			                         keys->items[k]))
				return true;
	return false;
}

/* May one of these sessions write what this one, passed at `place`, waits for?
 */
static bool is_fed(struct engine *e, const word *able, unsigned words,
                   uint32_t session, uint32_t place)
{
	const struct session_point *points = engine_state(e)->execution.points;
	bool fed = false;
	BITS_EACH(i, able, words)
		fed |= footprints_may_feed(e->context.footprints,
		                           points[i].state,
		                           points[session].state);
	if (!fed) return false;
	const struct key_list *keys = first_reads(e, session, place, false);
	if (keys && !some_to_be_written(e, keys, able, words))
		keys = first_reads(e, session, place, true);
	return !keys || some_to_be_written(e, keys, able, words);
}

/* Fills the rows: which sessions that have not ended can go on, and which wait
 * for others. */
static void sort_sessions(struct engine *e, uint32_t next, word *able,
                          word *waiting)
{
	const struct session_point *points = engine_state(e)->execution.points;
	uint32_t count = e->context.sessions - e->context.has_finally;
	for (uint32_t i = 0; i < count; i++) {
		if (points[i].ended) continue;
		bool passed = next < count && comes_before(&e->order, i, next);
		bits_add(i == next || (!passed && can_come(e, i)) ? able
		                                                  : waiting,
		         i);
	}
}

/* Can the order end, if the session `next` goes on now; UINT32_MAX: nobody
 * does? */
static bool can_end(struct engine *e, uint32_t next)
{
	struct region *r = &e->context.region;
	struct region_mark mark = region_mark(r);
	uint32_t end = engine_closure(e)->count;
	unsigned words = BITS_WORDS(e->context.sessions);
	word *able = region_take0(r, 2 * words * sizeof *able);
	word *waiting = able + words;
	sort_sessions(e, next, able, waiting);
	for (bool more = true; more;) {
		more = false;
		BITS_EACH(i, waiting, words) {
			bool passed_now = next < UINT32_MAX &&
			                  comes_before(&e->order, i, next);
			uint32_t place =
				passed_now ? end : canonical_order_passed(e, i);
			if (!is_fed(e, able, words, i, place)) continue;
			bits_drop(waiting, i);
			bits_add(able, i);
			more = true;
		}
	}
	bool can = bits_empty(waiting, words);
	region_release(r, mark);
	return can;
}

bool canonical_order_can_end(struct engine *e)
{
	return can_end(e, UINT32_MAX);
}

bool canonical_order_may_begin(struct engine *e, uint32_t session, bool again)
{
	assert(session < e->context.sessions);
	note_passed(e, session);
	if (again) return true;
	if (context_is_finally(&e->context, session)) return true;
	return can_come(e, session) && can_end(e, session);
}

bool canonical_order_restrict(const struct engine *e, word *valid)
{
	const struct execution *x = &engine_state(e)->execution;
	const struct ledger *l = &x->ledger;
	const struct closure *c = &l->closure;
	const struct closure_block *b = &c->blocks[c->count - 1];
	if (b->after_all) return false;
	uint32_t passed = place_of_later(
		e, l->pending.session, c->position[b->previous], c->count - 1);
	/* Mostly it may: so the reads of a long transaction are not gone
	 * through at each of them. */
	if (!passed || may_read_from(e, session_run_state(&x->live), passed) ||
	    last_predecessor(c) >= passed)
		return false;
	bool dropped = false;
	BITS_EACH(t, valid, c->words) {
		if (c->position[t] >= passed) continue;
		bits_drop(valid, t);
		dropped = true;
	}
	return dropped;
}
