/* Transactions that, under rc, are known to diverge into a prediction by
 * themselves: what the weak level leaves open is so much that trying all of it
 * would take time and memory for nothing.
 */
#include "predict/predictor.h"

#include <assert.h>

/* Did a writer of the key happen before t, through its session? */
static bool is_stale_by_session(const struct observed_history *o, uint32_t t,
                                uint32_t key)
{
	for (uint32_t i = o->need_first[t]; i < o->need_first[t + 1]; i++) {
		uint32_t u = o->needs[i];
		if (observed_writes(o, u, key) ||
		    bits_meet(observed_row(o, o->writer_rows, key),
		              observed_row(o, o->past, u), o->words))
			return true;
	}
	return false;
}

/* Has an earlier read of the transaction a version from somebody who wrote the
 * key? Then rc forbids it to read what was there before. */
static bool is_bound(const struct observed_history *o, uint32_t t,
                     uint32_t event)
{
	for (uint32_t i = o->first[t]; i < event; i++) {
		const struct observed_event *e = &o->events[i];
		if (e->kind == EVENT_READ && e->from &&
		    observed_writes(o, e->from, o->events[event].key))
			return true;
	}
	return false;
}

/* Two reads of a key that somebody wrote who did not happen after t: the first
 * from init, the second from there. */
static bool reads_twice(const struct observed_history *o, uint32_t t,
                        uint32_t event)
{
	uint32_t key = o->events[event].key;
	bool before = false, writer = false;
	for (uint32_t i = o->first[t]; i < event; i++)
		before |= o->events[i].kind == EVENT_READ &&
		          o->events[i].key == key;
	for (uint32_t i = o->writer_first[key];
	     before && i < o->writer_first[key + 1]; i++)
		writer |= o->writers[i] != t &&
		          !observed_before(o, t, o->writers[i]);
	return before && writer;
}

/* What locks is read as it is newest, and then binds what is read later. */
static bool locks_reads(const struct observed_history *o, uint32_t t)
{
	uint32_t i = o->first[t];
	while (i < o->first[t + 1] && (o->events[i].kind != EVENT_READ ||
	                               o->events[i].strength == STRENGTH_PLAIN))
		i++;
	return i < o->first[t + 1];
}

static bool is_obvious(const struct predictor *p, uint32_t t)
{
	const struct observed_history *o = &p->o;
	bool relaxed = p->options.boundary == BOUNDARY_RELAXED;
	assert(t > 0 && t < o->n && !o->exclusive);
	if (observed_sight(o, t) > SIGHT_SOURCES || locks_reads(o, t))
		return false;
	for (uint32_t i = o->first[t]; i < o->first[t + 1]; i++) {
		const struct observed_event *e = &o->events[i];
		if (e->kind != EVENT_READ) continue;
		if (is_stale_by_session(o, t, e->key) &&
		    (relaxed || !is_bound(o, t, i)))
			return true;
		if (relaxed && reads_twice(o, t, i)) return true;
	}
	return false;
}

uint32_t predictor_quick(const struct predictor *p)
{
	if (p->o.sight > SIGHT_SOURCES || !p->o.serializable ||
	    p->options.enumerate)
		return 0;
	for (uint32_t i = p->o.n; i-- > 1;)
		if (is_obvious(p, p->o.order[i])) return p->o.order[i];
	return 0;
}
