/* Predictions by the letter: boundaries, choices, what is in, what is on the
 * boundary, what happens before what, and what is alive; rc and cc by their
 * arbitration, unserializability by all commit orders or by the least one. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "twin_axioms.h"
#include "twin_predict.h"

enum { N = LITERAL_TRANSACTIONS };

typedef bool matrix[N][N];

struct literal {
	const struct twin_trace *t;
	bool relaxed;
	unsigned levels;
	uint64_t most;
	struct twin_answers *out;
	uint32_t n;
	uint32_t *bound;  /* B_s, by session */
	uint32_t *choice; /* writer, by event */
	/* What follows from them. */
	matrix so, wr_key[LITERAL_KEYS], wr, hb;
	bool live[N];
	matrix arbitration, pco;
	bool placed[N];
};

/* ---- boundaries ---- */

static uint32_t session_of(const struct literal *c, uint32_t t)
{
	return c->t->h->transactions[t].session;
}

static uint32_t no_bound(const struct literal *c, uint32_t session)
{
	return c->t->positions[session] + 1;
}

static bool is_boundary(const struct literal *c, uint32_t t)
{
	uint32_t b = c->bound[session_of(c, t)];
	return c->t->lo[t] < b && b <= c->t->hi[t];
}

/* Is the event in, and is it answered anew? */
static bool is_in(const struct literal *c, const struct twin_event *e)
{
	uint32_t b = c->bound[session_of(c, e->transaction)];
	return (c->relaxed ? c->t->lo[e->transaction] : e->position) < b;
}

static bool is_on(const struct literal *c, const struct twin_event *e)
{
	uint32_t b = c->bound[session_of(c, e->transaction)];
	return c->relaxed ? is_boundary(c, e->transaction)
	                  : e->position + 1 == b;
}

/* Is the write of this key by transaction w there and in? */
static bool write_is_in(const struct literal *c, uint32_t w, uint32_t key)
{
	const struct twin_event *e = twin_write_of(c->t, w, key);
	return w == HISTORY_INIT || (e && is_in(c, e));
}

static bool writes(const struct literal *c, uint32_t w, uint32_t key)
{
	return w == HISTORY_INIT || twin_write_of(c->t, w, key);
}

/* ---- so, wr, hb, live ---- */

static void derive_session_order(struct literal *c)
{
	const struct history *h = c->t->h;
	memset(c->so, 0, sizeof c->so);
	for (uint32_t b = 1; b < c->n; b++) {
		uint32_t s = session_of(c, b);
		bool is_first = !h->transactions[b].index;
		c->so[is_first ? HISTORY_INIT : b - 1][b] = true;
		for (uint32_t a = 1; a < c->n; a++)
			if (is_first && h->sessions[s].after_all &&
			    session_of(c, a) != s)
				c->so[a][b] = true;
	}
}

static void derive_write_read(struct literal *c)
{
	memset(c->wr_key, 0, sizeof c->wr_key);
	memset(c->wr, 0, sizeof c->wr);
	for (uint32_t i = 0; i < c->t->event_count; i++) {
		const struct twin_event *e = &c->t->events[i];
		if (e->write || !(is_on(c, e) || is_in(c, e))) continue;
		uint32_t w = is_on(c, e) ? c->choice[i] : e->from;
		c->wr_key[e->key][w][e->transaction] = true;
		c->wr[w][e->transaction] = true;
	}
}

static void closure(matrix m, uint32_t n)
{
	for (uint32_t k = 0; k < n; k++)
		for (uint32_t i = 0; i < n; i++)
			for (uint32_t j = 0; j < n; j++)
				m[i][j] |= m[i][k] && m[k][j];
}

static bool is_acyclic(matrix m, uint32_t n)
{
	closure(m, n);
	for (uint32_t a = 0; a < n; a++)
		if (m[a][a]) return false;
	return true;
}

static bool is_live(const struct literal *c, uint32_t t)
{
	for (uint32_t s = 0; s < c->t->h->session_count; s++) {
		bool alive = c->bound[s] == no_bound(c, s);
		for (uint32_t u = 1; u < c->n; u++)
			alive |= session_of(c, u) == s && is_boundary(c, u) &&
			         !c->hb[u][t];
		if (!alive) return false;
	}
	return true;
}

/* False if so U wr has a cycle, which no level allows. */
static bool derive(struct literal *c)
{
	derive_write_read(c);
	for (uint32_t a = 0; a < c->n; a++)
		for (uint32_t b = 0; b < c->n; b++)
			c->hb[a][b] = c->so[a][b] || c->wr[a][b];
	if (!is_acyclic(c->hb, c->n)) return false;
	for (uint32_t t = 0; t < c->n; t++) c->live[t] = is_live(c, t);
	return true;
}

/* t reads the key from w, u writes it too, and all three count. */
static bool concerns(const struct literal *c, uint32_t key, uint32_t u,
                     uint32_t t, uint32_t w)
{
	return u != w && u != t && c->wr_key[key][w][t] && c->live[u] &&
	       c->live[t] && c->live[w] && write_is_in(c, u, key);
}

/* ---- levels ---- */

static void derive_arbitration(struct literal *c)
{
	memset(c->arbitration, 0, sizeof c->arbitration);
	for (uint32_t k = 0; k < c->t->h->key_count; k++)
		for (uint32_t t = 1; t < c->n; t++)
			for (uint32_t u = 0; u < c->n; u++)
				for (uint32_t w = 0; w < c->n; w++)
					if (concerns(c, k, u, t, w) &&
					    c->hb[u][t])
						c->arbitration[u][w] = true;
}

static bool causal(const struct literal *c)
{
	matrix m;
	for (uint32_t a = 0; a < c->n; a++)
		for (uint32_t b = 0; b < c->n; b++)
			m[a][b] = c->hb[a][b] || c->arbitration[a][b];
	return is_acyclic(m, c->n);
}

/* The transaction whose write this read returns, and TRACE_NONE if that or
 * the read is not in. */
static uint32_t returned(const struct literal *c, uint32_t event)
{
	const struct twin_event *e = &c->t->events[event];
	uint32_t w = is_on(c, e) ? c->choice[event] : e->from;
	return is_in(c, e) && write_is_in(c, w, e->key) ? w : TRACE_NONE;
}

/* Having seen something of t2, a later read of a key that t2 wrote does not
 * return an older version. */
static bool read_committed(const struct literal *c)
{
	const struct twin_trace *t = c->t;
	matrix m;
	memcpy(m, c->hb, sizeof m);
	for (uint32_t r1 = 0; r1 < t->event_count; r1++) {
		uint32_t t1 =
			t->events[r1].write ? TRACE_NONE : returned(c, r1);
		if (t1 == TRACE_NONE) continue;
		uint32_t begin = t->first[t->events[r1].transaction];
		for (uint32_t r2 = begin; r2 < r1; r2++) {
			if (t->events[r2].write) continue;
			uint32_t t2 = returned(c, r2);
			if (t2 != TRACE_NONE && t2 != t1 &&
			    writes(c, t2, t->events[r1].key))
				m[t2][t1] = true;
		}
	}
	return is_acyclic(m, c->n);
}

static void take_live(const struct literal *c, const uint32_t *number,
                      uint32_t t, struct transaction *to)
{
	const struct transaction *from = &c->t->h->transactions[t];
	*to = *from;
	to->events =
		mem_take0((size_t)from->event_count + 1, sizeof *to->events);
	to->event_count = 0;
	for (uint32_t i = c->t->first[t]; i < c->t->first[t + 1]; i++) {
		const struct twin_event *e = &c->t->events[i];
		if (!is_in(c, e)) continue;
		struct event *copy = &to->events[to->event_count++];
		copy->key = e->key;
		copy->kind = e->write ? EVENT_WRITE : EVENT_READ;
		if (e->write) continue;
		copy->from = number[is_on(c, e) ? c->choice[i] : e->from];
		if (copy->from == TRACE_NONE) abort();
	}
}

/* Bits of the levels that the live transactions satisfy. */
static unsigned levels_of_live(const struct literal *c)
{
	struct history part = *c->t->h;
	struct transaction transactions[N];
	uint32_t number[N];
	part.transactions = transactions;
	part.transaction_count = 0;
	for (uint32_t t = 0; t < c->n; t++)
		number[t] = c->live[t] ? part.transaction_count++ : TRACE_NONE;
	for (uint32_t t = 0; t < c->n; t++)
		if (c->live[t])
			take_live(c, number, t, &transactions[number[t]]);
	unsigned levels = twin_levels(&part);
	for (uint32_t t = 0; t < part.transaction_count; t++)
		free(transactions[t].events);
	return levels;
}

/* ---- serializability ---- */

/* Would u, placed next, stand between a writer and its reader of a key that u
 * writes too? */
static bool parts_others(const struct literal *c, uint32_t u)
{
	for (uint32_t k = 0; k < c->t->h->key_count; k++)
		for (uint32_t w = 0; w < c->n; w++)
			for (uint32_t t = 1; t < c->n; t++)
				if (c->placed[w] && !c->placed[t] &&
				    concerns(c, k, u, t, w))
					return true;
	return false;
}

static bool can_place(const struct literal *c, uint32_t t)
{
	for (uint32_t a = 0; a < c->n; a++)
		if (!c->placed[a] && (c->so[a][t] || c->wr[a][t])) return false;
	return !c->placed[t] && !parts_others(c, t);
}

static bool has_commit_order(struct literal *c, uint32_t placed)
{
	if (placed == c->n) return true;
	for (uint32_t t = 0; t < c->n; t++) {
		if (!can_place(c, t)) continue;
		c->placed[t] = true;
		bool found = has_commit_order(c, placed + 1);
		c->placed[t] = false;
		if (found) return true;
	}
	return false;
}

static bool put(matrix m, uint32_t a, uint32_t b)
{
	bool new = !m[a][b];
	m[a][b] = true;
	return new;
}

static bool decide_all(struct literal *c)
{
	bool more = false;
	for (uint32_t k = 0; k < c->t->h->key_count; k++)
		for (uint32_t t = 1; t < c->n; t++)
			for (uint32_t u = 0; u < c->n; u++)
				for (uint32_t w = 0; w < c->n; w++) {
					if (!concerns(c, k, u, t, w)) continue;
					if (c->pco[u][t])
						more |= put(c->pco, u, w);
					if (c->pco[w][u])
						more |= put(c->pco, t, u);
				}
	return more;
}

static bool pco_is_cyclic(struct literal *c)
{
	for (uint32_t a = 0; a < c->n; a++)
		for (uint32_t b = 0; b < c->n; b++)
			c->pco[a][b] = c->hb[a][b] || c->arbitration[a][b];
	do closure(c->pco, c->n);
	while (decide_all(c));
	return !is_acyclic(c->pco, c->n);
}

/* ---- the search ---- */

/* Notes for which levels the choice made is a prediction. */
static void judge(struct literal *c)
{
	if (c->out->judged++ >= c->most) c->out->gave_up = true;
	if (c->out->gave_up || !derive(c)) return;
	if (has_commit_order(c, 0)) return;
	derive_arbitration(c);
	bool cyclic = pco_is_cyclic(c);
	unsigned levels =
		levels_of_live(c) & ~(1u << LEVEL_RC) & ~(1u << LEVEL_CC);
	levels |= (unsigned)read_committed(c) << LEVEL_RC | (unsigned)causal(c)
	                                                            << LEVEL_CC;
	for (enum level l = 0; l < LEVEL_COUNT; l++) {
		if (!(levels & c->levels & 1u << l)) continue;
		c->out->found[l][ENCODING_EXACT] = true;
		c->out->found[l][ENCODING_APPROX] |= cyclic;
	}
}

/* A read takes any write that is in, but a later one of its session. */
static bool can_choose(const struct literal *c, const struct twin_event *r,
                       uint32_t w)
{
	const struct twin_event *e = twin_write_of(c->t, w, r->key);
	if (w == HISTORY_INIT) return true;
	return e && is_in(c, e) &&
	       !(session_of(c, w) == session_of(c, r->transaction) &&
	         e->position > r->position);
}

static void choose_reads(struct literal *c, uint32_t event)
{
	const struct twin_trace *t = c->t;
	while (event < t->event_count &&
	       (t->events[event].write || !is_on(c, &t->events[event])))
		event++;
	if (event == t->event_count) {
		judge(c);
		return;
	}
	for (uint32_t w = 0; w < c->n && !c->out->gave_up; w++) {
		if (!can_choose(c, &t->events[event], w)) continue;
		c->choice[event] = w;
		choose_reads(c, event + 1);
	}
}

/* In the relaxed form all reads of a transaction are the same boundary. */
static bool is_repeated(const struct literal *c, uint32_t event)
{
	const struct twin_event *e = &c->t->events[event];
	for (uint32_t i = c->t->first[e->transaction]; i < event; i++)
		if (!c->t->events[i].write) return c->relaxed;
	return false;
}

static void choose_bounds(struct literal *c, uint32_t session)
{
	const struct twin_trace *t = c->t;
	if (session == t->h->session_count) {
		choose_reads(c, 0);
		return;
	}
	c->bound[session] = no_bound(c, session);
	choose_bounds(c, session + 1);
	for (uint32_t i = 0; i < t->event_count; i++) {
		const struct twin_event *e = &t->events[i];
		if (e->write || session_of(c, e->transaction) != session ||
		    is_repeated(c, i))
			continue;
		c->bound[session] = e->position + 1;
		choose_bounds(c, session + 1);
	}
}

void twin_literal(const struct twin_trace *t, enum predict_boundary boundary,
                  unsigned levels, uint64_t most, struct twin_answers *out)
{
	struct literal *c = mem_take0(1, sizeof *c);
	size_t sessions = (size_t)t->h->session_count + 1;
	if (t->h->transaction_count > N || t->h->key_count > LITERAL_KEYS)
		abort();
	c->t = t;
	c->relaxed = boundary == BOUNDARY_RELAXED;
	c->levels = levels;
	c->most = most;
	c->out = out;
	c->n = t->h->transaction_count;
	c->bound = mem_take0(sessions, sizeof *c->bound);
	c->choice = mem_take0((size_t)t->event_count + 1, sizeof *c->choice);
	memset(out, 0, sizeof *out);
	derive_session_order(c);
	choose_bounds(c, 0);
	free(c->bound);
	free(c->choice);
	free(c);
}
