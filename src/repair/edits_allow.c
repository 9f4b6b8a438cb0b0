/* Other sets of edits, asked about a history of the program with some. */
#include <assert.h>
#include <string.h>

#include "axioms/allows.h"
#include "history/history.h"
#include "history/relation.h"
#include "repair/accesses.h"
#include "repair/edits_parts.h"
#include "vm/program.h"

/* ---- marks ---- */

/* Of an event: 0 for what is no access, else 1 + its number, twice; and 1 more
 * if it was joined. */
static uint32_t marked_access(const struct event *v)
{
	assert(v->point > 1);
	return v->point / 2 - 1;
}

static bool marked_joined(const struct event *v)
{
	return v->point % 2;
}

/* 0 for what is no access, else 1 + its number. */
static uint32_t access_at(const struct edits *e, const struct accesses *a,
                          struct position at, bool write)
{
	uint32_t i = 0;
	if (!at.file) return 0;
	while (i < a->count &&
	       (a->items[i].line != at.line ||
	        a->items[i].column != at.column || a->items[i].write != write ||
	        strcmp(e->files[a->items[i].source].path, at.file)))
		i++;
	return i < a->count ? i + 1 : 0;
}

static void mark(const struct edits *e, const struct edited *x, struct event *v)
{
	struct position at = program_position(x->program, v->point);
	bool write = v->kind == EVENT_WRITE;
	uint32_t access = access_at(e, x->accesses, at, write);
	/* A lock that counts as a write. */
	if (!access && e->terms.locks_write && write)
		access = access_at(e, x->accesses, at, false);
	assert(access);
	v->point = 2 * access + v->joined;
}

void edits_mark(const struct edits *e, const struct edited *x,
                struct history *h)
{
	if (e->sql) return; /* edits_allow() asks for no accesses */
	for (uint32_t t = 1; t < h->transaction_count; t++)
		for (uint32_t i = 0; i < h->transactions[t].event_count; i++)
			mark(e, x, &h->transactions[t].events[i]);
}

/* ---- what edits leave ---- */

/* The level of its own that the edits leave the transaction. */
static own_level own_then(const struct edits *e, struct edit_set s, uint32_t t)
{
	assert(t < e->transaction_count);
	for (uint32_t i = 0; i < s.count; i++) {
		const struct edit *x = edits_get(e, s.items[i]);
		if (x->kind == EDIT_TRANSACTION && x->transaction == t)
			return (own_level)(x->level + 1);
	}
	return e->transactions[t].own;
}

/* The locks that the edits leave an access. */
static enum strength strength_then(const struct edits *e, struct edit_set s,
                                   uint32_t access)
{
	assert(access < e->accesses->count);
	for (uint32_t i = 0; i < s.count; i++) {
		const struct edit *x = edits_get(e, s.items[i]);
		if (x->kind == EDIT_LOCK && x->read == access)
			return x->strength;
		if (x->kind == EDIT_ATOMIC &&
		    (x->read == access || x->write == access))
			return STRENGTH_NO_KEY_UPDATE;
	}
	return e->accesses->items[access].strength;
}

static bool has_edit(struct edit_set s, uint32_t edit)
{
	for (uint32_t i = 0; i < s.count; i++)
		if (s.items[i] == edit) return true;
	return false;
}

static bool same_locks(const struct edits *e, struct edit_set a,
                       struct edit_set b)
{
	for (uint32_t i = 0; i < a.count; i++)
		if (e->items[a.items[i]].level == LEVEL_COUNT &&
		    !has_edit(b, a.items[i]))
			return false;
	return true;
}

static bool has_access(const struct history *h, uint32_t access)
{
	for (uint32_t t = 1; t < h->transaction_count; t++)
		for (uint32_t i = 0; i < h->transactions[t].event_count; i++)
			if (marked_access(&h->transactions[t].events[i]) ==
			    access)
				return true;
	return false;
}

/* Is there an edit in a, but not in b, that moves what is done? In a history of
 * b: one that would; it was not reached where what it reads first is not read.
 * Without a history, one that may have. */
static bool moved(const struct edits *e, struct edit_set a, struct edit_set b,
                  const struct history *h)
{
	for (uint32_t i = 0; i < a.count; i++) {
		const struct edit *x = edits_get(e, a.items[i]);
		if (x->moves && !has_edit(b, a.items[i]) &&
		    (!h || has_access(h, x->read)))
			return true;
	}
	return false;
}

/* In SQL, the transactions of a session are those of its text, in their order:
 * false if some were never begun, since their step failed before. */
static bool give_levels(const struct edits *e, struct edit_set s,
                        struct history *h)
{
	uint32_t first = 0;
	assert(e->sql && e->session_count <= h->session_count);
	for (uint32_t i = 0; i < e->session_count; i++) {
		uint32_t count = e->session_transactions[i];
		if (h->sessions[i].count != count) return false;
		for (uint32_t k = 0; k < count; k++)
			h->transactions[h->sessions[i].first + k].own =
				own_then(e, s, first + k);
		first += count;
	}
	return true;
}

/* ---- statements ---- */

/* Of a statement `x += e`: as one, or each access by itself? That depends on
 * the locks of what e reads. */
static bool is_one(const struct edits *e, struct edit_set s, uint32_t sum)
{
	bool plain = false, locked = false;
	for (uint32_t i = 0; i < e->accesses->count; i++) {
		const struct access *a = &e->accesses->items[i];
		if (a->sum != sum || !a->of_value) continue;
		bool locks = strength_then(e, s, i) != STRENGTH_PLAIN;
		plain |= !locks;
		locked |= locks;
	}
	return plain && !locked;
}

/* The update that the access is a part of, if the edits make it. */
static const struct edit *atomic_of(const struct edits *e, struct edit_set s,
                                    uint32_t access)
{
	uint32_t sum = e->accesses->items[access].sum;
	for (uint32_t i = 0; i < s.count; i++) {
		const struct edit *x = edits_get(e, s.items[i]);
		if (x->kind == EDIT_ATOMIC &&
		    (x->read == access || x->write == access ||
		     (sum && e->accesses->items[x->read].sum == sum)))
			return x;
	}
	return NULL;
}

/* Whether an event belongs to the statement of the one before it. */
struct joining {
	const struct edits *edits;
	struct edit_set then, was;
};

/* False if the history does not tell: where accesses become one statement that
 * stood by themselves, it does not say which of them do so together. But where
 * an update is all there is in the statement, it does. */
static bool join(const struct joining *j, struct event *v)
{
	uint32_t access = marked_access(v);
	const struct access *a = &j->edits->accesses->items[access];
	const struct edit *then = atomic_of(j->edits, j->then, access);
	const struct edit *was = atomic_of(j->edits, j->was, access);
	v->joined = marked_joined(v);
	if (a->in_statement || (then && was)) return true;
	if (then || was) {
		assert(!(then ? then : was)->moves);
		v->joined = then && access == then->write;
		return true;
	}
	if (!a->sum) return true;
	bool one = is_one(j->edits, j->then, a->sum);
	if (one == is_one(j->edits, j->was, a->sum)) return true;
	v->joined = false;
	return !one;
}

/* False also where a statement then reads without a lock behind one that locks:
 * the language does not have it. */
static bool join_all(const struct joining *j, struct transaction *x)
{
	bool locked = false;
	for (uint32_t i = 0; i < x->event_count; i++) {
		struct event *v = &x->events[i];
		bool locks = event_strength(v) != STRENGTH_PLAIN;
		if (!join(j, v) || (v->joined && locked && !locks))
			return false;
		locked = locks || (locked && v->joined);
	}
	return true;
}

/* ---- asking ---- */

/* Levels, locks and statements as the edits leave them. False if the history
 * does not tell. */
static bool give_edits(const struct joining *j, struct history *h,
                       enum level others)
{
	const struct edits *e = j->edits;
	bool statements = false, fine = true;
	for (uint32_t t = 1; t < h->transaction_count; t++) {
		struct transaction *x = &h->transactions[t];
		if (!x->event_count) continue;
		uint32_t access = marked_access(&x->events[0]);
		assert(access < e->accesses->count);
		x->own = own_then(e, j->then,
		                  e->accesses->items[access].transaction);
		bool has = level_has_statements(
			x->own ? (enum level)(x->own - 1) : others);
		for (uint32_t i = 0; i < x->event_count; i++)
			x->events[i].strength = strength_then(
				e, j->then, marked_access(&x->events[i]));
		statements |= has;
		fine &= join_all(j, x);
	}
	return fine || !statements;
}

bool edits_allow(const struct edits *e, struct edit_set s, struct edit_set of,
                 struct history *h, struct relation *r,
                 struct level_scratch *scratch)
{
	enum level others = edits_level(e, s);
	struct joining j = { e, s, of };
	bool same = same_locks(e, s, of) && same_locks(e, of, s);
	if (moved(e, s, of, h) || moved(e, of, s, NULL)) return false;
	h->ssi = e->terms.ssi;
	/* What a statement of SQL reads depends on how it locks; and of locks
	 * that count as writes, what is written. */
	if ((e->sql || e->terms.locks_write) && !same) return false;
	if (!(e->sql ? give_levels(e, s, h) : give_edits(&j, h, others)))
		return false;
	if (!r) return level_allows_mix(others, h);
	relation_renew(r, h);
	return level_allows(others, r, scratch);
}
