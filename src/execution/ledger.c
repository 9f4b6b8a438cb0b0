#include "execution/ledger.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "axioms/allows.h"
#include "axioms/points_closure.h"
#include "axioms/strong_closure.h"
#include "base/memory.h"
#include "history/relation.h"

/* Its row of writers is there from here on. */
static inline void know_key(struct closure *c, uint32_t key)
{
	if (key >= c->key_count) closure_know_key(c, key);
}

/* ---- Numbers ---- */

void ledger_shared_init(struct ledger_shared *s, struct region *region)
{
	*s = (struct ledger_shared){ .region = region,
		                     .numbers = { .count = 1,
		                                  .most = TRANSACTIONS_MAX,
		                                  .in_order = true },
		                     .scratch = level_scratch_new() };
}

void ledger_shared_free(struct ledger_shared *s)
{
	for (uint32_t i = 0; i < s->numbers.session_count; i++)
		free(s->numbers.sessions[i].items);
	free(s->numbers.sessions);
	level_scratch_free(s->scratch);
	free(s->reads);
	free(s->writes);
	memset(s, 0, sizeof *s);
}

void ledger_forget_numbers(struct ledger_shared *s)
{
	for (uint32_t i = 0; i < s->numbers.session_count; i++)
		s->numbers.sessions[i].count = 0;
	s->numbers.count = 1;
	s->numbers.newest = 0;
	s->numbers.in_order = true;
}

/* The number of the session's transaction, which is at most the next one that
 * the session has none for; LEDGER_NONE if there are too many. */
static uint32_t give_number(struct ledger_shared *s, uint32_t session,
                            uint32_t index)
{
	struct ledger_numbers *n = &s->numbers;
	uint32_t id = ledger_number(s, session, index);
	if (id != LEDGER_NONE) return id;
	if (n->count >= n->most) return LEDGER_NONE;
	if (session >= n->session_count) {
		uint32_t count = 2 * session + 2;
		n->sessions = mem_grow0(n->sessions, n->session_count, count,
		                        sizeof *n->sessions);
		n->session_count = count;
	}
	assert(index == n->sessions[session].count);
	n->in_order &= session >= n->newest;
	n->newest = session;
	VEC_RESERVE(n->sessions[session].items, n->sessions[session].count,
	            n->sessions[session].capacity);
	n->sessions[session].items[n->sessions[session].count++] = n->count;
	return n->count++;
}

/* ---- A ledger ---- */

void ledger_init(struct ledger *l, enum level level, uint32_t sessions,
                 struct ledger_shared *shared)
{
	memset(l, 0, sizeof *l);
	l->level = level;
	l->shared = shared;
	l->capacity = shared->numbers.expect ? shared->numbers.expect : 8;
	closure_init(&l->closure, level_base(level), l->capacity,
	             shared->region);
	l->transactions = mem_take0(l->capacity, sizeof *l->transactions);
	l->session_count = sessions;
	l->done = mem_take0((size_t)sessions + 1, sizeof *l->done);
}

void ledger_go_anywhere(struct ledger *l, bool alone)
{
	assert(!l->strong && !l->points && l->closure.count == 1);
	bool locks = ledger_heeds_locks(l);
	bool statements = level_has_statements(l->level);
	/* Which transactions are dangerous depends on the whole line. */
	bool whole = l->ssi && l->mixes;
	if (level_has_points(l->level) && !whole &&
	    (statements || locks || l->mixes))
		l->points = points_closure_new(l->level);
	if (!level_is_extensible(l->level) && !statements && !locks)
		l->strong = strong_closure_new(l->level);
	if (l->points && l->gives_up) points_closure_may_give_up(l->points);
	if (alone && (l->strong || statements))
		closure_go_without_level(&l->closure);
}

void ledger_may_mix(struct ledger *l)
{
	closure_may_mix(&l->closure);
	l->mixes = true;
}

void ledger_be_ssi(struct ledger *l)
{
	assert(l->closure.count == 1 && !l->in_order && !l->points);
	l->ssi = true;
}

void ledger_may_lock(struct ledger *l)
{
	l->locks = true;
}

void ledger_may_give_up(struct ledger *l)
{
	assert(!l->strong && !l->points && l->closure.count == 1);
	l->gives_up = true;
}

void ledger_free(struct ledger *l)
{
	strong_closure_free(l->strong);
	points_closure_free(l->points);
	closure_free(&l->closure);
	free(l->transactions);
	free(l->done);
	free(l->own);
	free(l->own_keys);
}

void ledger_go_in_order(struct ledger *l)
{
	assert(l->closure.count == 1);
	closure_go_in_order(&l->closure, l->level);
	l->in_order = true;
	l->shared->numbers.most = LEDGER_NONE;
}

size_t ledger_bytes(const struct ledger *l)
{
	return closure_bytes(&l->closure) +
	       (l->strong ? strong_closure_bytes(l->strong) : 0) +
	       (l->points ? points_closure_bytes(l->points) : 0) +
	       l->capacity * sizeof *l->transactions +
	       l->own_capacity * sizeof *l->own;
}

/* Room for a transaction of this number. */
static void reserve(struct ledger *l, uint32_t id)
{
	if (id < l->capacity) return;
	uint32_t capacity = 2 * l->capacity > id ? 2 * l->capacity : id + 1;
	l->transactions = mem_grow0(l->transactions, l->capacity, capacity,
	                            sizeof *l->transactions);
	l->capacity = capacity;
}

static void reserve_session(struct ledger *l, uint32_t session)
{
	if (session < l->session_count) return;
	uint32_t count = 2 * session + 2;
	l->done = mem_grow0(l->done, l->session_count, count, sizeof *l->done);
	l->session_count = count;
}

/* ---- Its own writes ---- */

static void own_clear(struct ledger *l)
{
	for (uint32_t i = 0; i < l->own_count; i++)
		l->own[l->own_keys[i]] = NULL;
	l->own_count = 0;
}

static void own_set(struct ledger *l, const struct ledger_event *write)
{
	uint32_t key = write->event.key;
	if (key >= l->own_capacity) {
		uint32_t old = l->own_capacity;
		uint32_t capacity = old ? old : 32;
		while (capacity <= key) capacity *= 2;
		l->own = mem_grow(l->own, capacity, sizeof *l->own);
		memset(l->own + old, 0, (capacity - old) * sizeof *l->own);
		l->own_capacity = capacity;
	}
	if (!l->own[key]) {
		VEC_RESERVE(l->own_keys, l->own_count, l->own_keys_capacity);
		l->own_keys[l->own_count++] = key;
	}
	l->own[key] = write;
}

/* The own writes that a chain of events leaves: the newest of each key. */
static void own_rebuild(struct ledger *l)
{
	const struct ledger_event *e = l->pending.last;
	own_clear(l);
	for (; e; e = e->before)
		if (e->event.kind == EVENT_WRITE &&
		    !ledger_own_write(l, e->event.key))
			own_set(l, e);
}

/* ---- A transaction ---- */

bool ledger_begin(struct ledger *l, uint32_t session, uint32_t name,
                  own_level own, bool after_all)
{
	assert(!l->pending.active);
	reserve_session(l, session);
	uint32_t index = l->done[session];
	uint32_t previous = ledger_last(l, session);
	uint32_t id = give_number(l->shared, session, index);
	if (id == LEDGER_NONE) return false;
	reserve(l, id);
	closure_begin(&l->closure, id, previous, after_all);
	if (l->points)
		points_closure_begin(l->points, id, l->uniform ? 0 : own);
	if (own && !l->uniform) closure_give_level(&l->closure, own);
	own_clear(l);
	l->pending = (struct ledger_pending){ .active = true,
		                              .id = id,
		                              .session = session,
		                              .index = index,
		                              .name = name,
		                              .own = own };
	return true;
}

static inline struct ledger_event *append(struct ledger *l)
{
	struct ledger_pending *p = &l->pending;
	assert(p->active && p->event_count < EVENTS_MAX);
	struct ledger_event *e = region_take(l->shared->region, sizeof *e);
	e->before = p->last;
	e->waiting = NULL;
	p->last = e;
	p->event_count++;
	return e;
}

static inline void note_event(struct ledger *l, const struct ledger_event *e)
{
	if (l->points) points_closure_event(l->points, &e->event);
}

/* Member by member: this happens at each event, and a structure that is copied
 * as a whole, right after its parts were written, is waited for. */
static inline void make_event(struct event *e, enum event_kind kind,
                              struct db_access a, uint32_t from,
                              struct value value)
{
	e->kind = kind;
	e->strength = a.strength;
	e->joined = a.joined;
	e->key = a.key;
	e->point = a.point;
	e->from = from;
	e->value = value;
}

/* A read that is made or asked about: if it locks, so does the ledger. */
static inline void note_lock(struct ledger *l, struct db_access a)
{
	l->locks |= a.strength != STRENGTH_PLAIN;
	l->key_shares |=
		a.strength != STRENGTH_PLAIN && a.strength < STRENGTH_SHARE;
	l->beside |= strength_is_beside(a.strength);
}

void ledger_write(struct ledger *l, struct db_access a, struct value value)
{
	struct ledger_event *e = append(l);
	make_event(&e->event, EVENT_WRITE, a, 0, value);
	know_key(&l->closure, a.key);
	if (l->in_order) closure_write(&l->closure, a.key);
	note_event(l, e);
	own_set(l, e);
}

struct value ledger_read_own(struct ledger *l, struct db_access a)
{
	struct ledger_event *e = append(l);
	struct value value = l->own[a.key]->event.value;
	make_event(&e->event, EVENT_READ, a, HISTORY_SELF, value);
	note_event(l, e);
	return value;
}

void ledger_give_up(struct ledger *l, struct db_access a)
{
	struct ledger_event *e = append(l);
	assert(l->gives_up);
	a.strength = STRENGTH_GIVEN_UP;
	make_event(&e->event, EVENT_READ, a, HISTORY_SELF, value_null());
	note_event(l, e);
}

void ledger_read(struct ledger *l, struct db_access a, uint32_t source,
                 struct value value, const struct machine_state *waiting)
{
	assert(!ledger_own_write(l, a.key));
	struct ledger_event *e = append(l);
	make_event(&e->event, EVENT_READ, a, source, value);
	e->waiting = waiting;
	note_event(l, e);
	note_lock(l, a);
	closure_read_locking(&l->closure, a.key, source, a.strength);
}

/* The keys that the pending transaction wrote, with their last values. */
static void collect_writes(const struct ledger *l, struct ledger_transaction *t)
{
	uint32_t count = l->own_count;
	struct region *r = l->shared->region;
	uint32_t *keys = region_take(r, count * sizeof *keys);
	struct value *values = region_take(r, count * sizeof *values);
	for (uint32_t i = 0; i < count; i++) {
		keys[i] = l->own_keys[i];
		values[i] = l->own[keys[i]]->event.value;
	}
	t->written = keys;
	t->values = values;
	t->written_count = count;
}

/* The transaction that is pending is in `t` now. */
static void enter(struct ledger *l, const struct ledger_transaction *t)
{
	closure_end(&l->closure, t->written, t->written_count);
	if (l->points) points_closure_end(l->points, t->aborted);
	l->transactions[l->pending.id] = t;
	l->done[t->session]++;
	l->pending.active = false;
}

void ledger_end(struct ledger *l, bool aborted,
                const struct session_point *after)
{
	const struct ledger_pending *p = &l->pending;
	assert(p->active);
	struct ledger_transaction *t =
		region_take(l->shared->region, sizeof *t);
	t->session = p->session;
	t->index = p->index;
	t->name = p->name;
	t->own = p->own;
	t->aborted = aborted;
	t->event_count = p->event_count;
	t->last = p->last;
	t->written_count = 0;
	t->written = NULL;
	t->values = NULL;
	t->after = after;
	if (!aborted) collect_writes(l, t);
	enter(l, t);
}

bool ledger_commit(struct ledger *l, const struct session_point *after)
{
	struct ledger_mark before = ledger_mark(l);
	if (l->in_order &&
	    !closure_may_end(&l->closure, l->own_keys, l->own_count))
		return false;
	ledger_end(l, false, after);
	if (l->in_order) return true;
	if (ledger_is_extensible(l) || ledger_allows(l)) return true;
	ledger_rewind(l, &before);
	return false;
}

/* ---- Levels ---- */

void ledger_writers(struct ledger *l, struct db_access a, word *out)
{
	know_key(&l->closure, a.key);
	closure_valid_writers(&l->closure, a.key, a.strength, out);
}

const uint32_t *ledger_list_writers(struct ledger *l, struct db_access a,
                                    uint32_t most, uint32_t *count)
{
	know_key(&l->closure, a.key);
	const uint32_t *list = closure_list_writers(&l->closure, a.key,
	                                            a.strength, most, count);
	if (a.strength == STRENGTH_PLAIN || !l->in_order || !*count)
		return list;
	list += *count - 1;
	*count = closure_is_newest(&l->closure, a.key, *list);
	return list;
}

/* A write, or a read of the own write that locks. */
static bool is_lock(const struct event *e)
{
	return e->kind == EVENT_WRITE ||
	       (e->from == HISTORY_SELF && e->strength != STRENGTH_PLAIN);
}

/* Events from the last to the first: their reads and writes go before `end` and
 * `write_end`. */
static void take_events(struct ledger_shared *s, const struct ledger_event *e,
                        uint32_t t, uint32_t count, uint32_t end,
                        uint32_t write_end)
{
	uint32_t statement = count;
	for (; e; statement -= !e->event.joined, e = e->before) {
		const struct event *v = &e->event;
		if (is_lock(v))
			s->writes[--write_end] = (struct relation_write){
				t, v->key, statement, event_strength(v),
				v->kind == EVENT_READ
			};
		else if (v->kind == EVENT_READ && v->from != HISTORY_SELF)
			s->reads[--end] =
				(struct relation_read){ t,           v->key,
				                        v->from,     statement,
				                        v->strength, false };
	}
}

static uint32_t count_writes(const struct ledger_event *e)
{
	uint32_t count = 0;
	for (; e; e = e->before) count += is_lock(&e->event);
	return count;
}

/* Whatever the pending transaction has locked, it may give up next. */
static void end_pending_locks(const struct ledger *l, struct relation *r)
{
	struct ledger_shared *s = l->shared;
	for (uint32_t i = r->read_count; i-- > 0;) {
		const struct relation_read *a = &r->reads[i];
		if (a->reader != l->pending.id) break;
		if (a->given_up || a->strength == STRENGTH_PLAIN) continue;
		if (r->write_count == s->write_capacity) {
			s->write_capacity = 2 * r->write_count + 1;
			s->writes = mem_grow(s->writes, s->write_capacity,
			                     sizeof *s->writes);
			r->writes = s->writes;
		}
		relation_add_write(
			r,
			(struct relation_write){ a->reader, a->key,
		                                 l->pending.event_count + 2,
		                                 STRENGTH_GIVEN_UP, true },
			false);
	}
}

/* Which locks have ended before their transactions. */
static void end_locks(const struct ledger *l, struct relation *r)
{
	r->given_up = 0;
	for (uint32_t i = 0; i < r->read_count; i++)
		r->reads[i].given_up = false;
	for (uint32_t i = 0; i < r->write_count; i++) {
		const struct relation_write *w = &r->writes[i];
		if (w->strength != STRENGTH_GIVEN_UP) continue;
		r->given_up++;
		relation_give_up(r, w->writer, w->key, w->statement);
	}
	if (l->pending.active && l->closure.count == r->order_count)
		end_pending_locks(l, r);
}

/* Reads with their statements, and writes, which the closure has not. */
static void add_statements(const struct ledger *l, struct relation *r)
{
	struct ledger_shared *s = l->shared;
	const struct closure *c = &l->closure;
	if (s->read_capacity <= r->read_count) {
		s->read_capacity = 2 * r->read_count + 1;
		s->reads =
			mem_grow(s->reads, s->read_capacity, sizeof *s->reads);
	}
	r->write_count = 0;
	/* The last read may be one that is only being tried: its statement is
	 * 1 if that is the last one, and 0 if it begins another. */
	if (r->read_count)
		memcpy(s->reads, r->reads, r->read_count * sizeof *s->reads);
	for (uint32_t i = 1; i < r->order_count; i++) {
		uint32_t t = c->order[i];
		const struct ledger_transaction *w = l->transactions[t];
		const struct ledger_event *last = w ? w->last : l->pending.last;
		uint32_t count = w ? w->event_count : l->pending.event_count;
		uint32_t end = i + 1 < c->count ? c->blocks[i + 1].first_read
		                                : c->read_count;
		uint32_t writes = count_writes(last), first;
		first = c->blocks[i].first_read;
		for (const struct ledger_event *e = last; e; e = e->before)
			first += e->event.kind == EVENT_READ &&
			         e->event.from != HISTORY_SELF;
		if (first < end)
			s->reads[first].statement =
				count + !s->reads[first].statement;
		r->write_count += writes;
		if (r->write_count > s->write_capacity) {
			s->write_capacity = 2 * r->write_count;
			s->writes = mem_grow(s->writes, s->write_capacity,
			                     sizeof *s->writes);
		}
		take_events(s, last, t, count, first, r->write_count);
	}
	r->reads = s->reads;
	r->writes = s->writes;
	if (l->gives_up) end_locks(l, r);
}

void ledger_relation(const struct ledger *l, enum level level, uint32_t count,
                     struct relation *out)
{
	const struct closure *c = &l->closure;
	assert(!l->in_order && count <= c->count);
	closure_relation(c, out);
	if (count < c->count) {
		out->order_count = count;
		out->read_count = c->blocks[count].first_read;
	}
	out->locks_reads = l->locks;
	out->reads_beside = l->beside;
	out->ssi = l->ssi;
	if (level_has_statements(level) || c->statement_owns ||
	    (l->ssi && c->owns) || l->key_shares || l->beside || l->gives_up ||
	    (l->locks && !level_mixes(level)))
		add_statements(l, out);
}

bool ledger_satisfies(const struct ledger *l, enum level level)
{
	struct relation r;
	ledger_relation(l, level, l->closure.count, &r);
	r.owns = NULL;
	return level_allows(level, &r, l->shared->scratch);
}

bool ledger_allows_at(const struct ledger *l, enum level level)
{
	assert(!l->in_order);
	struct relation r;
	ledger_relation(l, level, l->closure.count, &r);
	return level_allows(level, &r, l->shared->scratch);
}

bool ledger_allows(struct ledger *l)
{
	if (l->strong && !l->pending.active && !l->closure.owns &&
	    !ledger_heeds_locks(l))
		return strong_closure_allows(l->strong, &l->closure);
	if (l->points) return points_closure_allows(l->points, &l->closure);
	return ledger_allows_at(l, l->level);
}

static bool may_read_at_points(struct ledger *l, struct db_access a,
                               uint32_t source)
{
	struct event read;
	make_event(&read, EVENT_READ, a, source, value_null());
	unsigned words = l->closure.words;
	word *row = mem_take0(words, sizeof *row);
	bits_add(row, source);
	points_closure_restrict(l->points, &l->closure, &read, row);
	bool allowed = bits_has(row, source);
	free(row);
	return allowed;
}

bool ledger_may_read(struct ledger *l, struct db_access a, uint32_t source)
{
	struct closure *c = &l->closure;
	know_key(c, a.key);
	note_lock(l, a);
	if (!closure_may_read(c, a.key, a.strength, source)) return false;
	if (l->in_order)
		return a.strength == STRENGTH_PLAIN ||
		       closure_is_newest(c, a.key, source);
	if (ledger_is_extensible(l)) return true;
	if (l->points) return may_read_at_points(l, a, source);
	uint32_t count = c->count, reads = c->read_count;
	closure_read_locking(c, a.key, source, a.strength);
	c->reads[reads].statement = a.joined;
	bool allowed = ledger_allows(l);
	closure_rewind(c, count, reads, true);
	return allowed;
}

static bool only_init_writes(const struct closure *c, uint32_t key)
{
	const word *writers = c->writers + (size_t)key * c->words;
	assert(key < c->key_count && !c->forward);
	return bits_next(writers, 1, c->words) == 64 * c->words;
}

bool ledger_is_free(const struct ledger *l, uint32_t key)
{
	return !l->locks && only_init_writes(&l->closure, key);
}

/* Nobody but init has written the key: no axiom over the commit order asks
 * anything of the read then, even if it locks; the points of statements may. */
static bool asks_nothing(const struct ledger *l, uint32_t key)
{
	const struct closure *c = &l->closure;
	return !level_has_statements(l->level) && !c->statement_owns &&
	       only_init_writes(c, key);
}

void ledger_restrict(struct ledger *l, struct db_access a, word *row)
{
	struct event read;
	make_event(&read, EVENT_READ, a, 0, value_null());
	note_lock(l, a);
	if (l->strong && !l->closure.owns && !ledger_heeds_locks(l))
		strong_closure_restrict(l->strong, &l->closure, a.key, row);
	else if (ledger_is_extensible(l))
		return;
	else if (l->points)
		points_closure_restrict(l->points, &l->closure, &read, row);
	else if (!asks_nothing(l, a.key))
		BITS_EACH(t, row, l->closure.words)
			if (!ledger_may_read(l, a, t)) bits_drop(row, t);
}

/* ---- Lists ---- */

/* By session and place in it; init comes first. */
static uint64_t rank(const struct ledger *l, uint32_t id)
{
	const struct ledger_transaction *t = l->transactions[id];
	return id == HISTORY_INIT ? 0
	                          : ((uint64_t)t->session + 1) << 32 | t->index;
}

static int compare_ranks(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

void ledger_list(const struct ledger *l, const word *row, uint32_t *out)
{
	uint32_t count = 0;
	BITS_EACH(t, row, l->closure.words) out[count++] = t;
	if (l->shared->numbers.in_order || count < 2) return;
	uint64_t *ranks = mem_take0(count, sizeof *ranks);
	for (uint32_t i = 0; i < count; i++) ranks[i] = rank(l, out[i]);
	qsort(ranks, count, sizeof *ranks, compare_ranks);
	for (uint32_t i = 0; i < count; i++)
		out[i] = ranks[i]
		                 ? ledger_number(l->shared,
		                                 (uint32_t)(ranks[i] >> 32) - 1,
		                                 (uint32_t)ranks[i])
		                 : HISTORY_INIT;
	free(ranks);
}

/* ---- Taking back ---- */

struct ledger_mark ledger_mark(const struct ledger *l)
{
	return (struct ledger_mark){ .count = l->closure.count,
		                     .reads = l->closure.read_count,
		                     .pending = l->pending };
}

/* Those from place `count` on are no longer here. */
static void forget(struct ledger *l, uint32_t count)
{
	for (uint32_t i = l->closure.count; i-- > count;) {
		uint32_t id = l->closure.order[i];
		if (!l->transactions[id]) continue;
		l->done[l->transactions[id]->session]--;
		l->transactions[id] = NULL;
	}
}

void ledger_keep(struct ledger *l, uint32_t count)
{
	const struct closure *c = &l->closure;
	uint32_t reads =
		count < c->count ? c->blocks[count].first_read : c->read_count;
	forget(l, count);
	if (l->strong) strong_closure_rewind(l->strong, count, reads, false);
	if (l->points) points_closure_rewind(l->points, count, 0, false);
	closure_rewind(&l->closure, count, reads, false);
	l->pending.active = false;
}

void ledger_rewind(struct ledger *l, const struct ledger_mark *m)
{
	if (!m->pending.active) {
		ledger_keep(l, m->count);
		return;
	}
	forget(l, m->count - 1);
	if (l->strong)
		strong_closure_rewind(l->strong, m->count, m->reads, true);
	if (l->points)
		points_closure_rewind(l->points, m->count,
		                      m->pending.event_count, true);
	closure_rewind(&l->closure, m->count, m->reads, true);
	l->pending = m->pending;
	own_rebuild(l);
}

/* ---- From ledger to ledger ---- */

void ledger_copy(struct ledger *to, const struct ledger *from, uint32_t count)
{
	assert(to->shared == from->shared && count <= from->closure.count);
	assert(!to->points);
	to->locks |= from->locks;
	to->key_shares |= from->key_shares;
	to->beside |= from->beside;
	assert(to->mixes == from->mixes);
	closure_copy_prefix(&to->closure, &from->closure, count);
	reserve(to, from->capacity - 1);
	if (from->session_count) reserve_session(to, from->session_count - 1);
	memset(to->transactions, 0, to->capacity * sizeof *to->transactions);
	memset(to->done, 0, to->session_count * sizeof *to->done);
	for (uint32_t i = 1; i < count; i++) {
		uint32_t id = from->closure.order[i];
		to->transactions[id] = from->transactions[id];
		to->done[to->transactions[id]->session]++;
	}
	to->pending.active = false;
}

void ledger_copy_begin(struct ledger *to, const struct ledger *from,
                       uint32_t at)
{
	const struct closure_block *b = &from->closure.blocks[at];
	uint32_t id = from->closure.order[at];
	const struct ledger_transaction *t = from->transactions[id];
	assert(!to->pending.active);
	closure_begin(&to->closure, id, b->previous, b->after_all);
	if (t->own && !to->uniform) closure_give_level(&to->closure, t->own);
	to->pending = (struct ledger_pending){ .active = true,
		                               .id = id,
		                               .session = t->session,
		                               .index = t->index,
		                               .name = t->name,
		                               .own = t->own };
}

void ledger_copy_end(struct ledger *to, const struct ledger *from)
{
	enter(to, from->transactions[to->pending.id]);
}

void ledger_copy_pending(struct ledger *to, const struct ledger_event *last)
{
	to->pending.last = last;
	for (const struct ledger_event *e = last; e; e = e->before)
		to->pending.event_count++;
	own_rebuild(to);
}
