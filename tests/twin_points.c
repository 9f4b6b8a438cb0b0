#include "twin_points.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/hash_set.h"
#include "twin_axioms.h"

enum { EVENTS = 64 };

/* The points of a transaction, in their order. */
enum kind { POINT_STATEMENT, POINT_LOCK, POINT_GIVE_UP, POINT_END };

struct point {
	enum kind kind;
	uint32_t first, end; /* STATEMENT: its events; LOCK: the event */
	uint32_t ended;      /* LOCK: the place of its GIVE_UP, or 0 */
};

struct chain {
	struct point points[2 * EVENTS + 1];
	uint32_t count, done;
};

struct line {
	const struct history *h;
	struct chain chains[TWIN_TRANSACTIONS];
	uint32_t newest[TWIN_KEYS];                  /* version of each key */
	uint32_t rank[TWIN_TRANSACTIONS], rank_next; /* of commits; 0: none */
	bool keeps; /* some read has KEY SHARE: the order of commits matters */
	struct hash_set failed; /* what leads to no line */
};

static bool locks(const struct event *e)
{
	return e->kind == EVENT_WRITE || e->strength != STRENGTH_PLAIN;
}

/* The newest lock of the key by a read that is still there ends. */
static void list_end(struct chain *c, const struct event *events, uint32_t k)
{
	for (uint32_t i = c->count; i-- > 0;) {
		struct point *p = &c->points[i];
		const struct event *e = &events[p->first];
		if (p->kind != POINT_LOCK || p->ended ||
		    e->kind == EVENT_WRITE || e->from == HISTORY_SELF ||
		    e->key != events[k].key)
			continue;
		p->ended = c->count;
		break;
	}
	c->points[c->count++] = (struct point){ POINT_GIVE_UP, k, k + 1, 0 };
}

static void list_points(struct chain *c, const struct transaction *t)
{
	if (t->event_count > EVENTS) abort();
	for (uint32_t i = 0, end; i < t->event_count; i = end) {
		end = i + 1;
		while (end < t->event_count && t->events[end].joined) end++;
		c->points[c->count++] =
			(struct point){ POINT_STATEMENT, i, end, 0 };
		for (uint32_t k = i; k < end; k++)
			if (event_gives_up(&t->events[k]))
				list_end(c, t->events, k);
			else if (locks(&t->events[k]))
				c->points[c->count++] =
					(struct point){ POINT_LOCK, k, k + 1,
					                0 };
	}
	c->points[c->count++] = (struct point){ POINT_END, 0, 0, 0 };
}

/* Does it read the newest version of its key here? */
static bool is_newest(const struct line *l, const struct event *e)
{
	return e->kind == EVENT_WRITE || e->from == HISTORY_SELF ||
	       l->newest[e->key] == e->from;
}

static bool may_state(const struct line *l, uint32_t t, const struct point *p)
{
	const struct event *events = l->h->transactions[t].events;
	for (uint32_t i = p->first; i < p->end; i++)
		if (events[i].strength <= STRENGTH_KEY_SHARE &&
		    !is_newest(l, &events[i]))
			return false;
	return true;
}

/* Does transaction s hold a lock that keeps t from this one? */
static bool holds(const struct line *l, uint32_t s, const struct event *e)
{
	const struct chain *c = &l->chains[s];
	const struct event *events = l->h->transactions[s].events;
	if (c->done == c->count) return false;
	for (uint32_t i = 0; i < c->done; i++) {
		const struct event *other = &events[c->points[i].first];
		uint32_t ended = c->points[i].ended;
		if (c->points[i].kind == POINT_LOCK && other->key == e->key &&
		    (!ended || ended >= c->done) &&
		    strengths_exclude(event_strength(other), event_strength(e)))
			return true;
	}
	return false;
}

/* A key is read to be kept: of those who deleted it, none may have committed
 * since the version that was read. */
static bool is_kept(const struct line *l, const struct event *e)
{
	if (e->kind == EVENT_WRITE ||
	    (e->strength != STRENGTH_KEY_SHARE &&
	     e->strength != STRENGTH_HELD) ||
	    e->from == HISTORY_SELF)
		return true;
	for (uint32_t s = 1; s < l->h->transaction_count; s++) {
		const struct transaction *w = &l->h->transactions[s];
		if (!l->rank[s] || w->aborted || s == e->from) continue;
		if (e->from && l->rank[s] < l->rank[e->from]) continue;
		for (uint32_t i = 0; i < w->event_count; i++)
			if (w->events[i].kind == EVENT_WRITE &&
			    w->events[i].key == e->key &&
			    event_strength(&w->events[i]) == STRENGTH_UPDATE)
				return false;
	}
	return true;
}

static bool may_lock(const struct line *l, uint32_t t, const struct point *p)
{
	const struct event *e = &l->h->transactions[t].events[p->first];
	for (uint32_t s = 1; s < l->h->transaction_count; s++)
		if (s != t && holds(l, s, e)) return false;
	if (e->strength >= STRENGTH_SHARE && !is_newest(l, e)) return false;
	return is_kept(l, e);
}

static bool may_end(const struct line *l, uint32_t t)
{
	for (uint32_t i = 0; i < l->h->known_count; i++) {
		struct history_known k = l->h->known[i];
		if (k.to == t && k.from != t && !l->rank[k.from] &&
		    twin_writes(l->h, k.from, k.key) &&
		    twin_writes(l->h, k.to, k.key))
			return false;
	}
	return true;
}

static bool may_begin(const struct line *l, uint32_t t)
{
	for (uint32_t s = 1; s < l->h->transaction_count; s++)
		if (twin_session_order(l->h, s, t) && !l->rank[s]) return false;
	return true;
}

static bool may(const struct line *l, uint32_t t, const struct point *p)
{
	if (l->chains[t].done == 0 && !may_begin(l, t)) return false;
	switch (p->kind) {
	case POINT_STATEMENT: return may_state(l, t, p);
	case POINT_LOCK: return may_lock(l, t, p);
	case POINT_GIVE_UP: return true;
	case POINT_END: return may_end(l, t);
	}
	return false;
}

/* All that says what can follow. */
static uint64_t state_of(const struct line *l)
{
	uint32_t n = l->h->transaction_count;
	uint64_t h = hash_bytes(1, l->newest, sizeof l->newest);
	for (uint32_t t = 1; t < n; t++) h = hash_mix(h, l->chains[t].done);
	return l->keeps ? hash_bytes(h, l->rank, sizeof l->rank) : h;
}

static bool place_rest(struct line *l);

static bool place(struct line *l, uint32_t t)
{
	struct chain *c = &l->chains[t];
	bool ends = c->points[c->done].kind == POINT_END;
	uint32_t newest[TWIN_KEYS];
	memcpy(newest, l->newest, sizeof newest);
	c->done++;
	if (ends) l->rank[t] = ++l->rank_next;
	for (uint32_t k = 0; ends && k < l->h->key_count; k++)
		if (twin_writes(l->h, t, k)) l->newest[k] = t;
	if (place_rest(l)) return true;
	if (ends) l->rank[t] = 0;
	l->rank_next -= ends;
	c->done--;
	memcpy(l->newest, newest, sizeof newest);
	return false;
}

/* A statement that can be here can be here in every line that goes on from
 * here: nothing waits for its point not to be. */
static bool place_rest(struct line *l)
{
	uint64_t state = state_of(l);
	bool all = true;
	if (hash_set_has(&l->failed, state)) return false;
	for (int locks = 0; locks < 2; locks++)
		for (uint32_t t = 1; t < l->h->transaction_count; t++) {
			const struct chain *c = &l->chains[t];
			if (c->done == c->count) continue;
			const struct point *p = &c->points[c->done];
			all = false;
			if ((p->kind != POINT_STATEMENT) != locks) continue;
			if (!may(l, t, p)) continue;
			if (place(l, t)) return true;
			if (!locks) {
				hash_set_add(&l->failed, state);
				return false;
			}
		}
	if (!all) hash_set_add(&l->failed, state);
	return all;
}

bool twin_points_allow(const struct history *h)
{
	struct line *l = calloc(1, sizeof *l);
	if (h->transaction_count > TWIN_TRANSACTIONS ||
	    h->key_count > TWIN_KEYS)
		abort();
	l->h = h;
	for (uint32_t t = 1; t < h->transaction_count; t++)
		list_points(&l->chains[t], &h->transactions[t]);
	for (uint32_t t = 1; t < h->transaction_count; t++)
		for (uint32_t i = 0; i < h->transactions[t].event_count; i++) {
			enum strength s = h->transactions[t].events[i].strength;
			l->keeps |=
				s == STRENGTH_KEY_SHARE || s == STRENGTH_HELD;
		}
	bool allowed = place_rest(l);
	hash_set_free(&l->failed);
	free(l);
	return allowed;
}
