#include "twin_staleness.h"

#include <stdbool.h>
#include <stdlib.h>

#include "twin_axioms.h"

struct orders {
	const struct history *h;
	uint32_t order[TWIN_TRANSACTIONS];
	bool placed[TWIN_TRANSACTIONS];
	bool before[TWIN_TRANSACTIONS][TWIN_TRANSACTIONS];
	uint32_t least;
};

/* Of the transaction at this place: does another writer of the key stand
 * between the source and it? */
static bool is_stale(const struct orders *o, uint32_t place,
                     const struct event *e)
{
	while (o->order[--place] != e->from)
		if (twin_writes(o->h, o->order[place], e->key)) return true;
	return false;
}

static uint32_t count_stale(const struct orders *o, uint32_t place)
{
	const struct transaction *t = &o->h->transactions[o->order[place]];
	uint32_t count = 0;
	for (uint32_t i = 0; i < t->event_count; i++) {
		const struct event *e = &t->events[i];
		if (e->kind == EVENT_READ && e->from != HISTORY_SELF)
			count += is_stale(o, place, e);
	}
	return count;
}

static bool may_come(const struct orders *o, uint32_t t)
{
	for (uint32_t u = 0; u < o->h->transaction_count; u++)
		if (!o->placed[u] && o->before[u][t]) return false;
	return !o->placed[t];
}

/* With so many stale reads up to here; more of them never help. */
static void try_all(struct orders *o, uint32_t place, uint32_t stale)
{
	uint32_t n = o->h->transaction_count;
	if (stale >= o->least) return;
	if (place == n) o->least = stale;
	for (uint32_t t = 0; t < n; t++) {
		if (!may_come(o, t)) continue;
		o->order[place] = t;
		o->placed[t] = true;
		try_all(o, place + 1, stale + count_stale(o, place));
		o->placed[t] = false;
	}
}

uint32_t twin_staleness(const struct history *h)
{
	struct orders o = { .h = h, .least = UINT32_MAX };
	if (h->transaction_count > TWIN_TRANSACTIONS) abort();
	for (uint32_t a = 0; a < h->transaction_count; a++)
		for (uint32_t b = 0; b < h->transaction_count; b++)
			o.before[a][b] = twin_session_order(h, a, b) ||
			                 twin_write_read(h, a, b);
	for (uint32_t i = 0; i < h->known_count; i++) {
		struct history_known e = h->known[i];
		if (twin_writes(h, e.from, e.key) &&
		    twin_writes(h, e.to, e.key))
			o.before[e.from][e.to] = true;
	}
	try_all(&o, 0, 0);
	return o.least;
}
