#include "separate/small_histories.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "history/history.h"

enum { TICK_EVERY = 4096 };

/* The choices are made in this order: how the transactions are shared out among
 * the sessions, how many events each has, which of these write, which keys they
 * use, from whom they read, and how they lock. The first three are the shape of
 * a session: sessions stand in decreasing order of their shapes, so that only
 * those of one shape can be exchanged. Keys are numbered as they come. */
struct enumeration {
	struct small_scope scope;
	bool (*visit)(void *data, const struct small_history *s);
	bool (*tick)(void *data);
	uint64_t steps; /* choices of keys */
	void *data;
	struct small_history h;
	/* By session: has it the shape of the one before? */
	bool as_before[SMALL_TRANSACTIONS];
	uint32_t session_of[SMALL_TRANSACTIONS + 1];
	uint32_t order[SMALL_TRANSACTIONS + 1];
	word so[SMALL_TRANSACTIONS + 1], direct[SMALL_TRANSACTIONS + 1],
		past[SMALL_TRANSACTIONS + 1];
	word writers[SMALL_EVENTS]; /* of each key, who aborted too */
	word committed[SMALL_EVENTS];
	struct relation_read reads[SMALL_EVENTS];
	struct relation_write writes[SMALL_EVENTS];
	uint32_t owner[SMALL_EVENTS]; /* by event: its transaction */
};

/* ---- one of each class ---- */

/* Sessions in another order, with the names that they have then. */
struct renaming {
	uint32_t transaction[SMALL_TRANSACTIONS + 1];
	uint32_t key[SMALL_EVENTS];
	uint32_t key_count;
};

/* What tells the event from others at its place. */
static uint32_t renamed(const struct enumeration *e, uint32_t i,
                        struct renaming *names)
{
	const struct small_event *a = &e->h.events[i];
	if (names->key[a->key] == UINT32_MAX)
		names->key[a->key] = names->key_count++;
	assert(names->key[a->key] < e->h.key_count);
	return names->key[a->key] | names->transaction[a->source] << 8 |
	       (uint32_t)a->strength << 16 | (uint32_t)a->joined << 24 |
	       (uint32_t)e->h.aborted[e->owner[i]] << 25;
}

/* Less than 0 if the events, with sessions in this order, come before those of
 * the history as it is. */
static int compare_order(const struct enumeration *e, const uint32_t *sessions)
{
	const struct small_history *h = &e->h;
	struct renaming own = { .key_count = 0 }, other = { .key_count = 0 };
	uint32_t t = 1, at = 0;
	memset(own.key, 0xff, sizeof own.key);
	memset(other.key, 0xff, sizeof other.key);
	own.transaction[0] = other.transaction[0] = 0;
	for (uint32_t i = 0; i < h->session_count; i++) {
		uint32_t s = sessions[i];
		for (uint32_t u = h->session_first[s];
		     u < h->session_first[s + 1]; u++, t++) {
			own.transaction[t] = t;
			other.transaction[u] = t;
		}
	}
	for (uint32_t i = 0; i < h->session_count; i++) {
		uint32_t s = sessions[i];
		uint32_t from = h->first[h->session_first[s]];
		uint32_t to = h->first[h->session_first[s + 1]];
		for (uint32_t k = from; k < to; k++, at++) {
			uint32_t a = renamed(e, at, &own);
			uint32_t b = renamed(e, k, &other);
			if (a != b) return b < a ? -1 : 1;
		}
	}
	assert(at == h->event_count);
	return 0;
}

/* Is there an order of sessions, each among those of its shape, that comes
 * before? Those up to `chosen` are fixed. */
static bool comes_later(const struct enumeration *e, uint32_t *sessions,
                        uint32_t chosen)
{
	uint32_t count = e->h.session_count, last = chosen + 1;
	if (chosen == count) return compare_order(e, sessions) < 0;
	while (last < count && e->as_before[last]) last++;
	for (uint32_t i = chosen; i < last; i++) {
		uint32_t s = sessions[i];
		sessions[i] = sessions[chosen];
		sessions[chosen] = s;
		bool later = comes_later(e, sessions, chosen + 1);
		sessions[chosen] = sessions[i];
		sessions[i] = s;
		if (later) return true;
	}
	return false;
}

static bool is_first_of_class(const struct enumeration *e)
{
	uint32_t sessions[SMALL_TRANSACTIONS];
	bool alike = false;
	for (uint32_t s = 0; s < e->h.session_count; s++) {
		sessions[s] = s;
		alike |= e->as_before[s];
	}
	return !alike || !comes_later(e, sessions, 0);
}

/* ---- the relation ---- */

/* False if so U wr has a cycle. */
static bool put_in_order(struct enumeration *e)
{
	uint32_t n = e->h.transaction_count, count = 1;
	word placed = 1;
	e->order[0] = HISTORY_INIT;
	e->past[0] = 0;
	while (count < n) {
		uint32_t t = 1;
		while (t < n && (placed >> t & 1 || e->direct[t] & ~placed))
			t++;
		if (t == n) return false;
		e->past[t] = e->direct[t];
		BITS_EACH(u, &e->direct[t], 1) e->past[t] |= e->past[u];
		placed |= (word)1 << t;
		e->order[count++] = t;
	}
	return true;
}

static void take_events(struct enumeration *e)
{
	struct small_history *h = &e->h;
	struct relation *r = &h->relation;
	uint32_t statement = 0;
	r->read_count = r->write_count = 0;
	r->locks_reads = h->dirty = false;
	memcpy(e->direct, e->so, sizeof e->direct);
	for (uint32_t k = 0; k < h->key_count; k++) {
		e->committed[k] = e->writers[k];
		for (uint32_t t = 1; t < h->transaction_count; t++)
			if (h->aborted[t]) bits_drop(&e->committed[k], t);
	}
	for (uint32_t i = 0; i < h->event_count; i++) {
		const struct small_event *a = &h->events[i];
		uint32_t t = e->owner[i];
		if (i == h->first[t]) statement = 0;
		statement += !a->joined;
		if (a->write) {
			e->writes[r->write_count++] = (struct relation_write){
				t, a->key, statement, STRENGTH_UPDATE, false
			};
			continue;
		}
		e->reads[r->read_count++] =
			(struct relation_read){ t,
			                        a->key,
			                        a->source,
			                        statement,
			                        (enum strength)a->strength,
			                        false };
		r->locks_reads |= a->strength != STRENGTH_PLAIN;
		h->dirty |= h->aborted[a->source];
		bits_add(&e->direct[t], a->source);
	}
}

static bool finish(struct enumeration *e)
{
	struct relation *r = &e->h.relation;
	take_events(e);
	if (!put_in_order(e) || !is_first_of_class(e)) return true;
	r->n = r->order_count = e->h.transaction_count;
	r->key_count = e->h.key_count;
	return e->visit(e->data, &e->h);
}

/* ---- locks, statements, aborts ---- */

static bool is_read_from(const struct enumeration *e, uint32_t t)
{
	for (uint32_t i = 0; i < e->h.event_count; i++)
		if (!e->h.events[i].write && e->h.events[i].source == t)
			return true;
	return false;
}

/* What a statement does not lock it reads first. */
static bool statements_are_proper(const struct enumeration *e)
{
	bool locked = false;
	for (uint32_t i = 0; i < e->h.event_count; i++) {
		const struct small_event *a = &e->h.events[i];
		bool locks = a->write || a->strength != STRENGTH_PLAIN;
		if (a->joined && locked && !locks) return false;
		locked = locks || (locked && a->joined);
	}
	return true;
}

static bool choose_aborts(struct enumeration *e, uint32_t t)
{
	if (!e->scope.aborts || t == e->h.transaction_count) return finish(e);
	if (!choose_aborts(e, t + 1)) return false;
	if (!is_read_from(e, t)) return true;
	e->h.aborted[t] = true;
	bool go_on = choose_aborts(e, t + 1);
	e->h.aborted[t] = false;
	return go_on;
}

static bool choose_strengths(struct enumeration *e, uint32_t i)
{
	static const uint8_t strengths[] = { STRENGTH_PLAIN, STRENGTH_SHARE,
		                             STRENGTH_UPDATE };
	bool go_on = true;
	if (!e->scope.locks || i == e->h.event_count)
		return !statements_are_proper(e) || choose_aborts(e, 1);
	struct small_event *a = &e->h.events[i];
	if (a->write) return choose_strengths(e, i + 1);
	for (size_t k = 0; go_on && k < sizeof strengths; k++) {
		a->strength = strengths[k];
		go_on = choose_strengths(e, i + 1);
	}
	a->strength = STRENGTH_PLAIN;
	return go_on;
}

static bool choose_statements(struct enumeration *e, uint32_t i)
{
	if (!e->scope.statements || i == e->h.event_count)
		return choose_strengths(e, 0);
	if (!choose_statements(e, i + 1)) return false;
	if (i == e->h.first[e->owner[i]]) return true;
	e->h.events[i].joined = true;
	bool go_on = choose_statements(e, i + 1);
	e->h.events[i].joined = false;
	return go_on;
}

/* ---- sources and keys ---- */

static bool choose_sources(struct enumeration *e, uint32_t i)
{
	struct small_history *h = &e->h;
	while (i < h->event_count && h->events[i].write) i++;
	if (i == h->event_count) return choose_statements(e, 0);
	uint32_t t = e->owner[i];
	for (uint32_t w = 0; w < h->transaction_count; w++) {
		bool after = e->session_of[w] == e->session_of[t] && w >= t;
		if ((w && after) || !bits_has(&e->writers[h->events[i].key], w))
			continue;
		h->events[i].source = (uint8_t)w;
		if (!choose_sources(e, i + 1)) return false;
	}
	return true;
}

/* Do two transactions or more use each key, and can that matter? */
static bool keys_matter(const struct enumeration *e)
{
	word users[SMALL_EVENTS] = { 0 };
	assert(e->h.key_count <= e->h.event_count);
	for (uint32_t i = 0; i < e->h.event_count; i++)
		bits_add(&users[e->h.events[i].key], e->owner[i]);
	for (uint32_t k = 0; k < e->h.key_count; k++) {
		if (bits_count(&users[k], 1) < 2) return false;
		if (bits_count(&e->writers[k], 1) < 2 && !e->scope.locks)
			return false;
	}
	return true;
}

static bool choose_keys(struct enumeration *e, uint32_t i)
{
	struct small_history *h = &e->h;
	if (!(++e->steps % TICK_EVERY) && e->tick && !e->tick(e->data))
		return false;
	if (i == h->event_count) return !keys_matter(e) || choose_sources(e, 0);
	uint32_t t = e->owner[i], used = h->key_count;
	for (uint32_t k = 0; k <= used; k++) {
		/* Each event that is left can bring a key its second use. */
		if (k == used && 2 * (used + 1) > h->event_count) continue;
		if (k == used && e->scope.keys && used == e->scope.keys)
			continue;
		if (k == used) e->writers[h->key_count++] = 1;
		if (!bits_has(&e->writers[k], t)) {
			h->events[i].key = (uint8_t)k;
			if (h->events[i].write) bits_add(&e->writers[k], t);
			bool go_on = choose_keys(e, i + 1);
			if (h->events[i].write) bits_drop(&e->writers[k], t);
			if (!go_on) return false;
		}
		h->key_count = used;
	}
	return true;
}

/* ---- shapes ---- */

/* The shape of session s against that of the one before, which has as many
 * transactions: more than 0 if it is the greater one. */
static int compare_shapes(const struct small_history *h, uint32_t s)
{
	uint32_t t = h->session_first[s - 1], u = h->session_first[s];
	assert(h->session_first[s + 1] - u == u - t);
	uint32_t end = u;
	for (; t < end; t++, u++) {
		uint32_t a = h->first[t + 1] - h->first[t];
		uint32_t b = h->first[u + 1] - h->first[u];
		if (a != b) return a < b ? 1 : -1;
	}
	uint32_t i = h->first[h->session_first[s - 1]];
	uint32_t k = h->first[h->session_first[s]];
	for (end = k; i < end; i++, k++)
		if (h->events[i].write != h->events[k].write)
			return h->events[k].write ? 1 : -1;
	return 0;
}

/* False if the sessions are not in decreasing order of their shapes. */
static bool shapes_decrease(struct enumeration *e)
{
	const struct small_history *h = &e->h;
	for (uint32_t s = 1; s < h->session_count; s++) {
		e->as_before[s] = false;
		uint32_t before = h->session_first[s] - h->session_first[s - 1];
		if (h->session_first[s + 1] - h->session_first[s] != before)
			continue;
		int order = compare_shapes(h, s);
		if (order > 0) return false;
		e->as_before[s] = !order;
	}
	return true;
}

static bool choose_kinds(struct enumeration *e)
{
	struct small_history *h = &e->h;
	uint32_t all = (1u << h->event_count) - 1;
	/* Without reads, and without writes, any order will do. */
	for (uint32_t kinds = 1; kinds < all; kinds++) {
		for (uint32_t i = 0; i < h->event_count; i++)
			h->events[i] =
				(struct small_event){ .write = kinds >> i & 1 };
		h->key_count = 0;
		if (shapes_decrease(e) && !choose_keys(e, 0)) return false;
	}
	return true;
}

/* How many events transaction t has, and those behind it. */
static bool choose_counts(struct enumeration *e, uint32_t t)
{
	struct small_history *h = &e->h;
	uint32_t begin = h->first[t], behind = h->transaction_count - 1 - t;
	assert(t && t < h->transaction_count && begin <= h->event_count);
	uint32_t left = h->event_count - begin;
	for (uint32_t n = behind ? 1 : left; n + behind <= left; n++) {
		for (uint32_t i = 0; i < n; i++) e->owner[begin + i] = t;
		h->first[t + 1] = begin + n;
		if (!(behind ? choose_counts(e, t + 1) : choose_kinds(e)))
			return false;
	}
	return true;
}

/* The sessions that have the transactions from t on, none more than `most`. */
static bool choose_sessions(struct enumeration *e, uint32_t t, uint32_t most)
{
	struct small_history *h = &e->h;
	uint32_t s = h->session_count, left = h->transaction_count - t;
	assert(t <= h->transaction_count && s < t);
	h->session_first[s] = t;
	if (!left) return choose_counts(e, 1);
	h->session_count++;
	for (uint32_t n = left < most ? left : most; n; n--) {
		for (uint32_t k = 0; k < n; k++) {
			e->session_of[t + k] = s;
			e->so[t + k] = 1 | (((word)1 << k) - 1) << t;
		}
		if (!choose_sessions(e, t + n, n)) return false;
	}
	h->session_count--;
	return true;
}

bool small_histories(const struct small_scope *scope,
                     bool (*visit)(void *data, const struct small_history *s),
                     bool (*tick)(void *data), void *data)
{
	struct enumeration *e = mem_take0(1, sizeof *e);
	assert(scope->transactions && scope->events);
	assert(scope->transactions <= SMALL_TRANSACTIONS);
	assert(scope->events <= SMALL_EVENTS);
	e->scope = *scope;
	e->visit = visit;
	e->tick = tick;
	e->data = data;
	e->session_of[0] = UINT32_MAX;
	e->h.transaction_count = scope->transactions + 1;
	e->h.event_count = scope->events;
	e->h.relation = (struct relation){ .words = 1,
		                           .order = e->order,
		                           .so = e->so,
		                           .direct = e->direct,
		                           .past = e->past,
		                           .writers = e->committed,
		                           .reads = e->reads,
		                           .writes = e->writes };
	bool all = scope->events < scope->transactions ||
	           choose_sessions(e, 1, scope->transactions);
	free(e);
	return all;
}

/* ---- the readable form ---- */

static const char *name_of(struct region *r, char first, uint32_t i)
{
	char *name = region_take(r, 2);
	name[0] = (char)(first + (int)i);
	name[1] = '\0';
	return name;
}

static void add_events(struct history *h, const struct small_history *s,
                       uint32_t t)
{
	struct transaction *x = &h->transactions[t];
	x->event_count = s->first[t + 1] - s->first[t];
	x->events =
		region_take0(&h->region, x->event_count * sizeof *x->events);
	for (uint32_t i = 0; i < x->event_count; i++) {
		const struct small_event *a = &s->events[s->first[t] + i];
		uint32_t writer = a->write ? t : a->source;
		x->events[i] =
			(struct event){ .kind = a->write ? EVENT_WRITE
			                                 : EVENT_READ,
			                .key = a->key,
			                .from = a->source,
			                .strength = (enum strength)a->strength,
			                .joined = a->joined,
			                /* Nobody writes a key twice. */
			                .value = value_int((int64_t)writer) };
	}
}

struct history *small_history_readable(const struct small_history *s,
                                       const own_level *owns)
{
	struct history *h = mem_take0(1, sizeof *h);
	const struct relation *r = &s->relation;
	uint32_t n = s->transaction_count;
	region_init(&h->region);
	h->session_count = s->session_count;
	h->transaction_count = n;
	h->key_count = s->key_count;
	h->sessions = region_take0(&h->region,
	                           s->session_count * sizeof *h->sessions);
	h->transactions = region_take0(&h->region, n * sizeof *h->transactions);
	h->keys = region_take0(&h->region, s->key_count * sizeof *h->keys);
	h->order = region_take(&h->region, n * sizeof *h->order);
	memcpy(h->order, r->order, n * sizeof *h->order);
	for (uint32_t k = 0; k < s->key_count; k++)
		h->keys[k] = (struct history_key){
			k < 3 ? name_of(&h->region, 'x', k)
			      : name_of(&h->region, 't', k - 3),
			value_int(0)
		};
	h->transactions[0] =
		(struct transaction){ .name = "init", .session = UINT32_MAX };
	for (uint32_t i = 0; i < s->session_count; i++) {
		uint32_t first = s->session_first[i];
		uint32_t end = s->session_first[i + 1];
		h->sessions[i] =
			(struct history_session){ .name = name_of(&h->region,
			                                          'a', i),
			                          .first = first,
			                          .count = end - first };
		for (uint32_t t = first; t < end; t++) {
			h->transactions[t] =
				(struct transaction){ .name = "txn",
				                      .session = i,
				                      .index = t - first,
				                      .aborted = s->aborted[t],
				                      .own = owns ? owns[t]
				                                  : 0 };
			add_events(h, s, t);
		}
	}
	return h;
}
