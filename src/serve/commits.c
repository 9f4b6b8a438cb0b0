#include "serve/commits.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define NEVER UINT32_MAX /* a position behind all */

struct line_key {
	struct committed *items; /* by position */
	uint32_t count, capacity;
	bool listed; /* among those with overwritten versions */
	/* Until where the last such lock of it has lasted, by strength. */
	uint32_t locked[STRENGTH_COUNT];
};

/* Under cc. */
struct seen {
	uint32_t *items; /* by session: up to which position; of commits_new */
	uint32_t width;
};

/* A read or a write of an open transaction. */
struct line_access {
	struct db_access access;
	struct committed version;
};

struct accesses {
	struct line_access *items;
	uint32_t count, capacity;
};

struct line_transaction {
	bool open;
	enum level level;
	struct seen sight;
	uint32_t low, high; /* between these is the moment that it reads from */
	uint32_t after;     /* behind this is that of its next statement */
	uint32_t horizon;   /* and not behind this */
	struct accesses reads, writes;
};

struct line_session {
	bool over;
	uint32_t born;  /* all up to there precedes it */
	uint32_t ended; /* its last transaction, in the line */
	struct seen seen;
	struct line_transaction at_hand;
};

struct commits {
	struct commits_rules rules;
	struct line_key *keys;
	uint32_t key_count, key_capacity;
	/* Those that were written since they were looked at, or have versions
	 * that may go one day. */
	uint32_t *listed;
	uint32_t listed_count, listed_capacity;
	uint32_t overwritten;
	uint32_t seen;   /* up to there nobody asks what it has seen */
	uint32_t *alive; /* sessions */
	uint32_t alive_count, alive_capacity;
	struct line_session *sessions;
	uint32_t session_count, session_capacity;
	/* Of each that has committed, by position: its session, and what it has
	 * seen, as in a session. */
	struct seen *line;
	uint32_t *writers; /* sessions */
	uint32_t count, capacity, writer_capacity;
	struct committed *found;
	uint32_t found_count, found_capacity;
};

struct commits *commits_new(struct commits_rules rules)
{
	struct commits *c = mem_take0(1, sizeof *c);
	c->rules = rules;
	return c;
}

void commits_free(struct commits *c)
{
	if (!c) return;
	for (uint32_t i = 0; i < c->key_count; i++) free(c->keys[i].items);
	for (uint32_t i = 0; i < c->session_count; i++) {
		struct line_session *s = &c->sessions[i];
		free(s->seen.items);
		free(s->at_hand.sight.items);
		free(s->at_hand.reads.items);
		free(s->at_hand.writes.items);
	}
	for (uint32_t i = 0; c->rules.sees_past && i < c->count; i++)
		free(c->line[i].items);
	free(c->keys);
	free(c->listed);
	free(c->alive);
	free(c->sessions);
	free(c->line);
	free(c->writers);
	free(c->found);
	free(c);
}

uint32_t commits_add_key(struct commits *c, uint32_t number)
{
	VEC_RESERVE(c->keys, c->key_count, c->key_capacity);
	struct line_key *k = &c->keys[c->key_count];
	memset(k, 0, sizeof *k);
	VEC_RESERVE(k->items, k->count, k->capacity);
	k->items[k->count++] = (struct committed){ 0, number, STRENGTH_UPDATE };
	return c->key_count++;
}

uint32_t commits_add_session(struct commits *c)
{
	VEC_RESERVE(c->sessions, c->session_count, c->session_capacity);
	c->sessions[c->session_count] =
		(struct line_session){ .born = c->count, .ended = c->count };
	VEC_RESERVE(c->alive, c->alive_count, c->alive_capacity);
	c->alive[c->alive_count++] = c->session_count;
	return c->session_count++;
}

void commits_end_session(struct commits *c, uint32_t session)
{
	assert(session < c->session_count);
	struct line_session *s = &c->sessions[session];
	uint32_t i = 0;
	assert(!s->at_hand.open);
	while (c->alive[i] != session) i++;
	c->alive[i] = c->alive[--c->alive_count];
	free(s->seen.items);
	free(s->at_hand.sight.items);
	free(s->at_hand.reads.items);
	free(s->at_hand.writes.items);
	*s = (struct line_session){ .over = true };
}

void commits_see(struct commits *c, uint32_t session, uint32_t position)
{
	assert(session < c->session_count && position <= c->count);
	struct line_session *s = &c->sessions[session];
	if (s->born < position) s->born = position;
	if (s->ended < position) s->ended = position;
}

uint32_t commits_count(const struct commits *c)
{
	return c->count;
}

static const struct line_key *key_of(const struct commits *c, uint32_t key)
{
	assert(key < c->key_count);
	return &c->keys[key];
}

void commits_fetch(const struct commits *c, uint32_t key)
{
	__builtin_prefetch(key_of(c, key)->items);
}

struct committed commits_newest(const struct commits *c, uint32_t key)
{
	const struct line_key *k = key_of(c, key);
	assert(k->count);
	return k->items[k->count - 1];
}

/* ---- What is seen, under cc ---- */

static void see(struct seen *s, uint32_t session, uint32_t position)
{
	if (session >= s->width) {
		uint32_t width = 2 * session + 2;
		s->items =
			mem_grow0(s->items, s->width, width, sizeof *s->items);
		s->width = width;
	}
	if (s->items[session] < position) s->items[session] = position;
}

static void see_all(struct seen *to, const struct seen *from)
{
	for (uint32_t i = 0; i < from->width; i++)
		if (from->items[i]) see(to, i, from->items[i]);
}

static bool has_seen(const struct seen *s, uint32_t session, uint32_t position)
{
	return session < s->width && s->items[session] >= position;
}

static uint32_t writer_of(const struct commits *c, uint32_t position)
{
	assert(position && position <= c->count);
	return c->writers[position - 1];
}

/* ---- Levels ---- */

/* Do its reads see by transactions rather than by moments of the line? */
static bool sees_sources(enum level l)
{
	enum sight s = level_sight(l);
	return s == SIGHT_SOURCES || s == SIGHT_DIRECT ||
	       (s == SIGHT_PAST && !level_excludes_rivals(l));
}

bool level_reads_moments(enum level l)
{
	return level_sight(l) != SIGHT_NOTHING && !sees_sources(l);
}

/* Must a read of this strength get the newest version? */
static bool asks_newest(enum level l, enum strength s)
{
	if (level_is_serial(l)) return true;
	if (level_sight(l) == SIGHT_NOTHING || s == STRENGTH_PLAIN ||
	    s == STRENGTH_KEY_SHARE)
		return false;
	return s >= STRENGTH_SHARE || !level_has_statements(l);
}

/* Is it read from the moment of the transaction, or of the statement? Under psi
 * that is so of reads beside a snapshot too: who is read from is in sight. */
static bool reads_moment(enum level l, enum strength s)
{
	if (level_has_statements(l)) return s < STRENGTH_SHARE;
	return !strength_is_beside(s) || level_sight(l) == SIGHT_PAST;
}

static struct line_transaction *at_hand(struct commits *c, uint32_t session)
{
	assert(session < c->session_count);
	struct line_transaction *t = &c->sessions[session].at_hand;
	assert(t->open);
	return t;
}

/* What all see that begin now. */
static uint32_t seen_by_all(const struct commits *c)
{
	if (c->rules.sees_all) return c->count;
	if (!c->rules.within || c->count < c->rules.within) return 0;
	return c->count - c->rules.within;
}

void commits_begin(struct commits *c, uint32_t session, enum level level)
{
	assert(session < c->session_count && !c->sessions[session].over);
	commits_see(c, session, seen_by_all(c));
	const struct line_session *s = &c->sessions[session];
	struct line_transaction *t = &c->sessions[session].at_hand;
	assert(!t->open);
	t->open = true;
	t->level = level;
	t->reads.count = t->writes.count = 0;
	t->low = t->after = s->ended;
	t->high = c->count;
	t->horizon = NEVER;
	if (!c->rules.sees_past) return;
	if (t->sight.width)
		memset(t->sight.items, 0,
		       t->sight.width * sizeof *t->sight.items);
	see_all(&t->sight, &s->seen);
}

enum level commits_level(const struct commits *c, uint32_t session)
{
	assert(session < c->session_count);
	return c->sessions[session].at_hand.level;
}

void commits_look_back(struct commits *c, uint32_t session, uint32_t position)
{
	at_hand(c, session)->horizon = position;
}

/* ---- Which versions ---- */

static const struct committed *find_version(const struct line_key *k,
                                            uint32_t position)
{
	uint32_t low = 0, high = k->count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (k->items[middle].position < position)
			low = middle + 1;
		else
			high = middle;
	}
	bool is = low < k->count && k->items[low].position == position;
	return is ? &k->items[low] : NULL;
}

/* Is this transaction in sight of the next read, whatever it reads? */
static bool in_sight(const struct commits *c, uint32_t reader,
                     uint32_t position)
{
	const struct line_transaction *t = &c->sessions[reader].at_hand;
	if (!position) return true;
	uint32_t session = writer_of(c, position);
	if (level_sight(t->level) == SIGHT_PAST)
		return has_seen(&t->sight, session, position);
	if (level_sight(t->level) == SIGHT_DIRECT && session == reader)
		return true;
	for (uint32_t i = 0; i < t->reads.count; i++)
		if (t->reads.items[i].version.position == position) return true;
	return false;
}

/* What is read from brings others in sight: has one of them overwritten what
 * was read before? */
static bool outdates(const struct commits *c, const struct line_transaction *t,
                     uint32_t source)
{
	bool past = level_sight(t->level) == SIGHT_PAST;
	if (!source || level_sight(t->level) == SIGHT_SOURCES) return false;
	for (uint32_t i = 0; i < t->reads.count; i++) {
		const struct line_access *r = &t->reads.items[i];
		const struct line_key *k = key_of(c, r->access.key);
		if (source > r->version.position && find_version(k, source))
			return true;
		for (uint32_t v = k->count; past && v-- > 0;) {
			uint32_t p = k->items[v].position;
			if (p <= r->version.position) break;
			if (has_seen(&c->line[source - 1], writer_of(c, p), p))
				return true;
		}
	}
	return false;
}

/* Is some version behind this one written in spite of such a lock? */
static bool is_locked_out(const struct line_key *k, uint32_t i,
                          enum strength strength)
{
	while (++i < k->count)
		if (strengths_exclude(strength, k->items[i].strength))
			return true;
	return false;
}

static uint32_t overwritten(const struct line_key *k, uint32_t i)
{
	return i + 1 < k->count ? k->items[i + 1].position : NEVER;
}

/* The last moment that a statement can have that begins now. */
static uint32_t last_moment(const struct commits *c,
                            const struct line_transaction *t)
{
	uint32_t first = t->low < t->after ? t->after : t->low;
	uint32_t last = t->horizon < c->count ? t->horizon : c->count;
	return last < first ? first : last;
}

/* Does a moment that is still possible show it? */
static bool is_shown(const struct commits *c, const struct line_transaction *t,
                     const struct line_key *k, uint32_t i, struct db_access a)
{
	uint32_t low = t->low, high = t->high;
	if (level_has_statements(t->level) && !a.joined) {
		if (low < t->after) low = t->after;
		high = last_moment(c, t);
	}
	return k->items[i].position <= high && overwritten(k, i) > low;
}

static bool may_read(const struct commits *c, const struct line_transaction *t,
                     struct db_access a, uint32_t i)
{
	const struct line_key *k = key_of(c, a.key);
	enum level l = t->level;
	if (asks_newest(l, a.strength) && overwritten(k, i) != NEVER)
		return false;
	if (level_sight(l) == SIGHT_NOTHING) return true;
	if ((a.strength == STRENGTH_KEY_SHARE || a.strength == STRENGTH_HELD) &&
	    is_locked_out(k, i, a.strength))
		return false;
	if (sees_sources(l)) return !outdates(c, t, k->items[i].position);
	return !reads_moment(l, a.strength) || is_shown(c, t, k, i, a);
}

/* Nothing that is older than this version is for the transaction. */
static bool is_last(const struct commits *c, uint32_t session,
                    const struct line_key *k, uint32_t i)
{
	const struct line_session *s = &c->sessions[session];
	enum level l = s->at_hand.level;
	uint32_t position = k->items[i].position;
	if (position <= s->born) return true;
	if (level_sight(l) == SIGHT_NOTHING) return false;
	return sees_sources(l) ? in_sight(c, session, position)
	                       : position <= s->at_hand.low;
}

const struct committed *commits_readable(struct commits *c, uint32_t session,
                                         struct db_access a, uint32_t *count)
{
	const struct line_key *k = key_of(c, a.key);
	const struct line_transaction *t = at_hand(c, session);
	c->found_count = 0;
	for (uint32_t i = k->count; i-- > 0;) {
		if (may_read(c, t, a, i)) {
			VEC_RESERVE(c->found, c->found_count,
			            c->found_capacity);
			c->found[c->found_count++] = k->items[i];
		}
		if (is_last(c, session, k, i)) break;
	}
	for (uint32_t i = 0; i < c->found_count / 2; i++) {
		struct committed *x = &c->found[i];
		struct committed *y = &c->found[c->found_count - 1 - i];
		struct committed swap = *x;
		*x = *y;
		*y = swap;
	}
	*count = c->found_count;
	return c->found;
}

/* ---- Accesses ---- */

static void note(struct accesses *to, struct db_access a,
                 struct committed version)
{
	VEC_RESERVE(to->items, to->count, to->capacity);
	to->items[to->count++] = (struct line_access){ a, version };
}

/* Until where locks have lasted that exclude this one. */
static uint32_t free_since(const struct line_key *k, enum strength strength)
{
	uint32_t last = 0;
	for (enum strength s = 0; s < STRENGTH_COUNT; s++)
		if (strengths_exclude(strength, s) && k->locked[s] > last)
			last = k->locked[s];
	return last;
}

/* The moment of the statement, or of the transaction, shows this version. */
static void narrow(struct line_transaction *t, const struct line_key *k,
                   struct committed version)
{
	uint32_t i = (uint32_t)(find_version(k, version.position) - k->items);
	uint32_t end = overwritten(k, i);
	if (t->low < version.position) t->low = version.position;
	if (t->high >= end) t->high = end - 1;
	assert(t->low <= t->high);
}

static void begin_statement(const struct commits *c, struct line_transaction *t)
{
	t->high = last_moment(c, t);
	if (t->low < t->after) t->low = t->after;
	t->horizon = NEVER;
}

void commits_read(struct commits *c, uint32_t session, struct db_access a,
                  struct committed version)
{
	const struct line_key *k = key_of(c, a.key);
	struct line_transaction *t = at_hand(c, session);
	bool statements = level_has_statements(t->level);
	assert(find_version(k, version.position));
	note(&t->reads, a, version);
	if (statements && !a.joined) begin_statement(c, t);
	/* However it ends, that is behind what it has read from. */
	if (t->after < version.position) t->after = version.position;
	if (c->rules.sees_past && version.position) {
		see_all(&t->sight, &c->line[version.position - 1]);
		see(&t->sight, writer_of(c, version.position),
		    version.position);
	}
	if (level_sight(t->level) == SIGHT_NOTHING) return;
	/* And behind what its locks have waited for. */
	uint32_t since = free_since(k, a.strength);
	if (t->after < since) t->after = since;
	if (sees_sources(t->level)) return;
	if (reads_moment(t->level, a.strength)) narrow(t, k, version);
	if (statements && t->after < t->low) t->after = t->low;
}

void commits_write(struct commits *c, uint32_t session, struct db_access a,
                   uint32_t number)
{
	assert(a.key < c->key_count);
	if (a.strength == STRENGTH_PLAIN) a.strength = STRENGTH_UPDATE;
	note(&at_hand(c, session)->writes, a,
	     (struct committed){ 0, number, a.strength });
}

/* ---- Ends ---- */

/* Its lock has lasted up to there. */
static void end_lock(struct commits *c, struct db_access a, uint32_t position)
{
	uint32_t *end = &c->keys[a.key].locked[a.strength];
	if (a.strength != STRENGTH_PLAIN && *end < position) *end = position;
}

static void end_locks(struct commits *c, const struct accesses *of,
                      uint32_t position)
{
	for (uint32_t i = 0; i < of->count; i++)
		end_lock(c, of->items[i].access, position);
}

/* Behind all that it has done so far, and not later than it must. */
static uint32_t point_now(const struct line_transaction *t)
{
	return t->low > t->after ? t->low : t->after;
}

void commits_give_up(struct commits *c, uint32_t session, struct db_access a)
{
	struct line_transaction *t = at_hand(c, session);
	uint32_t i = t->reads.count;
	const struct db_access *x;
	do {
		assert(i);
		x = &t->reads.items[--i].access;
	} while (x->key != a.key || x->strength != a.strength);
	end_lock(c, a, point_now(t));
	t->reads.items[i].access.strength = STRENGTH_PLAIN;
}

static void end(struct commits *c, uint32_t session, uint32_t position)
{
	struct line_session *s = &c->sessions[session];
	struct line_transaction *t = &s->at_hand;
	end_locks(c, &t->reads, position);
	end_locks(c, &t->writes, position);
	if (s->ended < position) s->ended = position;
	if (c->rules.sees_past) see_all(&s->seen, &t->sight);
	t->open = false;
}

static bool may_commit(const struct commits *c,
                       const struct line_transaction *t, uint32_t *key)
{
	if (!level_excludes_rivals(t->level)) return true;
	for (uint32_t i = 0; i < t->writes.count; i++) {
		*key = t->writes.items[i].access.key;
		if (commits_newest(c, *key).position > t->high) return false;
	}
	return true;
}

static void list_key(struct commits *c, uint32_t key)
{
	if (c->keys[key].listed) return;
	c->keys[key].listed = true;
	VEC_RESERVE(c->listed, c->listed_count, c->listed_capacity);
	c->listed[c->listed_count++] = key;
}

bool commits_commit(struct commits *c, uint32_t session, uint32_t *key)
{
	struct line_transaction *t = at_hand(c, session);
	if (!may_commit(c, t, key)) return false;
	VEC_RESERVE(c->writers, c->count, c->writer_capacity);
	c->writers[c->count] = session;
	if (c->rules.sees_past) {
		VEC_RESERVE(c->line, c->count, c->capacity);
		c->line[c->count] = (struct seen){ 0 };
		see(&t->sight, session, c->count + 1);
		see_all(&c->line[c->count], &t->sight);
	}
	uint32_t position = ++c->count;
	for (uint32_t i = 0; i < t->writes.count; i++) {
		const struct line_access *w = &t->writes.items[i];
		struct line_key *k = &c->keys[w->access.key];
		VEC_RESERVE(k->items, k->count, k->capacity);
		k->items[k->count] = w->version;
		k->items[k->count++].position = position;
		c->overwritten++;
		list_key(c, w->access.key);
	}
	end(c, session, position);
	return true;
}

void commits_abort(struct commits *c, uint32_t session)
{
	end(c, session, point_now(at_hand(c, session)));
}

/* ---- What nobody reads any more ---- */

uint32_t commits_overwritten(const struct commits *c)
{
	return c->overwritten;
}

/* Whatever the session reads from now on is not older than what was there
 * then. */
static uint32_t frontier_of(const struct commits *c,
                            const struct line_session *s)
{
	const struct line_transaction *t = &s->at_hand;
	uint32_t all = t->open ? 0 : seen_by_all(c);
	uint32_t own = !c->rules.moments ? s->born
	               : t->open         ? t->low
	                                 : s->ended;
	if (own < s->born) own = s->born;
	return own < all ? all : own;
}

static uint32_t frontier(const struct commits *c)
{
	uint32_t least = c->count;
	for (uint32_t i = 0; i < c->alive_count; i++) {
		uint32_t f = frontier_of(c, &c->sessions[c->alive[i]]);
		if (f < least) least = f;
	}
	return least;
}

/* What they have seen is before the frontier, as they are: it is in the past
 * of everybody. */
static void forget_seen(struct commits *c, uint32_t up_to)
{
	for (; c->rules.sees_past && c->seen < up_to; c->seen++) {
		free(c->line[c->seen].items);
		c->line[c->seen] = (struct seen){ 0 };
	}
}

/* True: it may have more to forget later. */
static bool forget_of(struct commits *c, uint32_t key, uint32_t up_to,
                      const struct commits_forgotten *to)
{
	struct line_key *k = &c->keys[key];
	uint32_t gone = 0;
	while (gone + 1 < k->count && k->items[gone + 1].position <= up_to)
		to->over(to->payload, key, k->items[gone++].number);
	k->count -= gone;
	c->overwritten -= gone;
	memmove(k->items, k->items + gone, k->count * sizeof *k->items);
	if (k->count > 1) return true;
	bool row = k->items[0].number;
	if (!row && k->items[0].position > up_to) return true;
	if (!row) to->nothing(to->payload, key);
	return false;
}

void commits_forget(struct commits *c, const struct commits_forgotten *to)
{
	uint32_t up_to = frontier(c), kept = 0;
	forget_seen(c, up_to);
	for (uint32_t i = 0; i < c->listed_count; i++) {
		uint32_t key = c->listed[i];
		if (forget_of(c, key, up_to, to))
			c->listed[kept++] = key;
		else
			c->keys[key].listed = false;
	}
	c->listed_count = kept;
}
