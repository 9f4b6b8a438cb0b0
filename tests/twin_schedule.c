#include "twin_schedule.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/hash_set.h"
#include "twin_axioms.h"

struct running {
	uint32_t next;  /* its first event that no started statement has */
	uint32_t taken; /* and the first that has not taken its lock */
	uint32_t asked; /* when it began to wait for that; 0: it does not */
	bool ended;
};

struct store {
	const struct history *h;
	struct running running[TWIN_TRANSACTIONS];
	uint32_t newest[TWIN_KEYS];
	uint32_t time;
};

static const struct event *event_at(const struct store *s, uint32_t t,
                                    uint32_t i)
{
	return &s->h->transactions[t].events[i];
}

static bool is_newest(const struct store *s, const struct event *e)
{
	return e->kind == EVENT_WRITE || e->from == HISTORY_SELF ||
	       s->newest[e->key] == e->from;
}

static bool exclude(const struct event *a, const struct event *b)
{
	return a->key == b->key &&
	       strengths_exclude(event_strength(a), event_strength(b));
}

/* Does u keep t from taking this lock: has it one that excludes it, or asked
 * for one before? */
static bool is_in_the_way(const struct store *s, uint32_t u, uint32_t t,
                          const struct event *e)
{
	const struct running *r = &s->running[u], *own = &s->running[t];
	if (r->ended || u == t) return false;
	for (uint32_t i = 0; i < r->taken; i++)
		if (exclude(event_at(s, u, i), e)) return true;
	return r->asked && (!own->asked || r->asked < own->asked) &&
	       exclude(event_at(s, u, r->taken), e);
}

/* Has t such a lock already? */
static bool has_already(const struct store *s, uint32_t t,
                        const struct event *e)
{
	for (uint32_t i = 0; i < s->running[t].taken; i++) {
		const struct event *o = event_at(s, t, i);
		if (o->key == e->key && event_strength(o) >= event_strength(e))
			return true;
	}
	return false;
}

/* Takes the locks of its statement until one has to be waited for. False: it
 * would read something else. */
static bool take_locks(struct store *s, uint32_t t)
{
	struct running *r = &s->running[t];
	for (; r->taken < r->next; r->taken++) {
		const struct event *e = event_at(s, t, r->taken);
		if (event_strength(e) == STRENGTH_PLAIN) continue;
		bool has = has_already(s, t, e);
		for (uint32_t u = 1; u < s->h->transaction_count; u++) {
			if (has || !is_in_the_way(s, u, t, e)) continue;
			if (!r->asked) r->asked = ++s->time;
			return true;
		}
		r->asked = 0;
		if (e->kind == EVENT_READ && e->strength >= STRENGTH_SHARE &&
		    !is_newest(s, e))
			return false;
	}
	return true;
}

static bool may_go_on(const struct store *s, uint32_t t)
{
	const struct running *r = &s->running[t];
	if (r->ended || r->taken < r->next) return false;
	for (uint32_t u = 1; u < s->h->transaction_count; u++)
		if (twin_session_order(s->h, u, t) && !s->running[u].ended)
			return false;
	return true;
}

static bool start(struct store *s, uint32_t t)
{
	const struct transaction *x = &s->h->transactions[t];
	struct running *r = &s->running[t];
	uint32_t end = r->next + 1;
	while (end < x->event_count && x->events[end].joined) end++;
	for (uint32_t i = r->next; i < end; i++)
		if (x->events[i].strength <= STRENGTH_KEY_SHARE &&
		    !is_newest(s, &x->events[i]))
			return false;
	r->next = end;
	return take_locks(s, t);
}

/* Those who wait go on in the order in which they began to. */
static bool wake_up(struct store *s)
{
	for (uint32_t after = 0, end = s->time;;) {
		uint32_t first = 0;
		for (uint32_t t = 1; t < s->h->transaction_count; t++) {
			uint32_t asked = s->running[t].asked;
			if (asked <= after || asked > end) continue;
			if (!first || asked < s->running[first].asked)
				first = t;
		}
		if (!first) return true;
		after = s->running[first].asked;
		if (!take_locks(s, first)) return false;
	}
}

/* Does the end of t take away what somebody waits for to lock as a key? Whoever
 * deletes a row excludes that, and nobody reads the row afterwards. */
static bool takes_away(const struct store *s, uint32_t t)
{
	const struct transaction *x = &s->h->transactions[t];
	for (uint32_t u = 1; u < s->h->transaction_count; u++) {
		const struct running *r = &s->running[u];
		for (uint32_t i = r->taken; i < r->next && u != t; i++) {
			const struct event *e = event_at(s, u, i);
			if (e->kind == EVENT_WRITE || x->aborted ||
			    (e->strength != STRENGTH_KEY_SHARE &&
			     e->strength != STRENGTH_HELD) ||
			    e->from == HISTORY_SELF)
				continue;
			for (uint32_t k = 0; k < x->event_count; k++)
				if (x->events[k].kind == EVENT_WRITE &&
				    exclude(&x->events[k], e))
					return true;
		}
	}
	return false;
}

static bool end(struct store *s, uint32_t t)
{
	if (takes_away(s, t)) return false;
	s->running[t].ended = true;
	for (uint32_t k = 0; k < s->h->key_count; k++)
		if (twin_writes(s->h, t, k)) s->newest[k] = t;
	return wake_up(s);
}

static bool has_more(const struct store *s, uint32_t t)
{
	return s->running[t].next < s->h->transactions[t].event_count;
}

bool twin_schedule_runs(const struct history *h,
                        const struct schedule *schedule)
{
	struct store s = { .h = h };
	uint32_t statements[TWIN_TRANSACTIONS] = { 0 }, ended = 0;
	for (size_t i = 0; i < schedule->count; i++) {
		struct schedule_moment m = schedule->items[i];
		uint32_t t = m.transaction;
		if (!may_go_on(&s, t)) return false;
		if (m.statement == SCHEDULE_ENDS) {
			if (has_more(&s, t) || !end(&s, t)) return false;
			ended++;
		} else if (!has_more(&s, t) || !start(&s, t) ||
		           m.statement != ++statements[t]) {
			return false;
		}
	}
	return ended + 1 == h->transaction_count;
}

/* ---- all schedules ---- */

/* But for the times, of which only the order of those who wait matters. */
static uint64_t state_of(const struct store *s)
{
	uint64_t h = hash_bytes(1, s->newest, sizeof s->newest);
	for (uint32_t t = 1; t < s->h->transaction_count; t++) {
		const struct running *r = &s->running[t];
		uint32_t before = 0;
		for (uint32_t u = 1; u < s->h->transaction_count; u++)
			before += s->running[u].asked < r->asked;
		h = hash_mix(h, (uint64_t)r->next << 32 | r->taken << 8 |
		                        before << 1 | r->ended);
	}
	return h;
}

static bool run_rest(const struct store *s, struct hash_set *failed)
{
	uint64_t state = state_of(s);
	bool all = true;
	if (hash_set_has(failed, state)) return false;
	for (uint32_t t = 1; t < s->h->transaction_count; t++) {
		struct store next = *s;
		all &= s->running[t].ended;
		if (!may_go_on(s, t)) continue;
		if ((has_more(s, t) ? start(&next, t) : end(&next, t)) &&
		    run_rest(&next, failed))
			return true;
	}
	if (!all) hash_set_add(failed, state);
	return all;
}

bool twin_schedule_exists(const struct history *h)
{
	struct store s = { .h = h };
	struct hash_set failed = { 0 };
	if (h->transaction_count > TWIN_TRANSACTIONS ||
	    h->key_count > TWIN_KEYS)
		abort();
	bool exists = run_rest(&s, &failed);
	hash_set_free(&failed);
	return exists;
}
