#include "twin_witness.h"

#include <stdlib.h>

#include "assertions.h"
#include "axioms/witness.h"
#include "support.h"
#include "twin_axioms.h"

static bool is_known(const struct history *h, const struct witness_edge *e)
{
	for (uint32_t i = 0; i < h->known_count; i++)
		if (h->known[i].from == e->from && h->known[i].to == e->to &&
		    h->known[i].key == e->key)
			return true;
	return false;
}

static bool reads(const struct history *h, uint32_t t, uint32_t key,
                  uint32_t from)
{
	const struct transaction *w = &h->transactions[t];
	for (uint32_t i = 0; i < w->event_count; i++)
		if (w->events[i].kind == EVENT_READ &&
		    w->events[i].key == key && w->events[i].from == from)
			return true;
	return false;
}

static bool reads_from_another(const struct history *h, uint32_t t,
                               uint32_t key, uint32_t not_from)
{
	for (uint32_t from = 0; from < h->transaction_count; from++)
		if (from != not_from && from != t && reads(h, t, key, from))
			return true;
	return false;
}

static bool has_locks(const struct history *h)
{
	for (uint32_t t = 1; t < h->transaction_count; t++)
		for (uint32_t i = 0; i < h->transactions[t].event_count; i++)
			if (h->transactions[t].events[i].kind == EVENT_READ &&
			    h->transactions[t].events[i].strength !=
			            STRENGTH_PLAIN)
				return true;
	return false;
}

/* Do the two lock the key so that they exclude each other? */
static bool locks(const struct history *h, uint32_t a, uint32_t b, uint32_t key)
{
	const struct transaction *s = &h->transactions[a];
	const struct transaction *t = &h->transactions[b];
	for (uint32_t i = 0; i < s->event_count; i++)
		for (uint32_t k = 0; k < t->event_count; k++)
			if (s->events[i].key == key &&
			    t->events[k].key == key &&
			    strengths_exclude(event_strength(&s->events[i]),
			                      event_strength(&t->events[k])))
				return true;
	return false;
}

/* (a, b) in (so U wr)+ */
static bool causal(const struct history *h, uint32_t a, uint32_t b)
{
	bool *after = calloc(h->transaction_count, sizeof *after);
	after[a] = true;
	for (bool more = true; more;) {
		more = false;
		for (uint32_t t = 0; t < h->transaction_count; t++)
			for (uint32_t u = 0;
			     !after[t] && u < h->transaction_count; u++)
				if (after[u] && (twin_session_order(h, u, t) ||
				                 twin_write_read(h, u, t)))
					after[t] = more = true;
	}
	bool found = a != b && after[b];
	free(after);
	return found;
}

/* An external read of reader before its read of the key from `to`. */
static bool reads_earlier(const struct history *h, const struct witness_edge *e)
{
	const struct transaction *w = &h->transactions[e->reader];
	bool seen = false;
	for (uint32_t i = 0; i < w->event_count; i++) {
		const struct event *v = &w->events[i];
		if (v->kind != EVENT_READ) continue;
		if (seen && v->key == e->key && v->from == e->to) return true;
		seen |= v->from == e->from;
	}
	return false;
}

/* The axiom's premise, where it does not speak of co. */
static bool is_visible(enum level l, const struct history *h,
                       const struct witness_edge *e)
{
	if (l == LEVEL_RC) return reads_earlier(h, e);
	if (l == LEVEL_RA)
		return twin_session_order(h, e->from, e->reader) ||
		       twin_write_read(h, e->from, e->reader);
	if (l == LEVEL_CC) return causal(h, e->from, e->reader);
	return l != LEVEL_NONE && e->reader != e->from;
}

static bool edge_holds(enum level l, const struct history *h,
                       const struct witness_edge *e)
{
	if (e->from == e->to) return false;
	switch (e->reason) {
	case REASON_SO: return twin_session_order(h, e->from, e->to);
	case REASON_WR: return reads(h, e->to, e->key, e->from);
	case REASON_FORCED:
		return twin_writes(h, e->from, e->key) &&
		       twin_writes(h, e->to, e->key) &&
		       reads(h, e->reader, e->key, e->to) &&
		       is_visible(l, h, e);
	case REASON_WW:
		return (l > LEVEL_CC || is_known(h, e) || has_locks(h)) &&
		       twin_writes(h, e->from, e->key) &&
		       twin_writes(h, e->to, e->key);
	case REASON_RW:
		return (l > LEVEL_CC || has_locks(h)) &&
		       twin_writes(h, e->to, e->key) &&
		       reads_from_another(h, e->from, e->key, e->to);
	case REASON_LOCK: return locks(h, e->from, e->to, e->key);
	case REASON_SSI: return h->ssi && e->reader;
	case REASON_COUNT: break;
	}
	return false;
}

void twin_check_witness(enum level l, const struct history *h,
                        const struct witness *w)
{
	if (w->count < 2)
		ck_abort_msg("%s: %s, a cycle of %u edges",
		             history_to_notation(h), level_word(l), w->count);
	for (uint32_t i = 0; i < w->count; i++) {
		const struct witness_edge *e = &w->edges[i];
		if (!edge_holds(l, h, e) ||
		    e->to != w->edges[(i + 1) % w->count].from)
			ck_abort_msg("%s: %s, edge %u: %u -> %u (%s, key %u, "
			             "reader %u) is wrong",
			             history_to_notation(h), level_word(l), i,
			             e->from, e->to, reason_word(e->reason),
			             e->key, e->reader);
	}
}
