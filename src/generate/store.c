#include "generate/store.h"

#include <assert.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/memory.h"
#include "generate/replicas.h"

struct version {
	uint32_t value;
	uint32_t when; /* the commit's number; with replicas, at its site */
	uint32_t rank; /* with replicas: of the commit; else its session */
};

/* Committed versions, the newest last. */
struct versions {
	struct version *items;
	uint32_t count, capacity;
};

/* What the running transaction wrote to a key, if it is the one. */
struct own_write {
	uint32_t transaction; /* that wrote last; 0: none */
	uint32_t value;
	uint32_t released; /* prc: when one that aborted gave its lock back */
};

/* When the last locks of a key were given back. */
struct held {
	uint32_t exclusive, shared;
};

struct lock {
	uint32_t key;
	enum strength strength;
	bool write;
};

struct store {
	enum level level; /* of the running transaction */
	enum sight sight; /* of the level */
	uint32_t keys, lag;
	struct rng *rng;
	uint32_t sites;
	uint32_t chains_each; /* of a key: one, or one for each site */
	struct versions *chains;
	struct replicas *replicas; /* cc, psi */
	uint32_t *last;            /* last commit of each session */
	uint32_t now;              /* number of commits */
	uint64_t place;            /* of the last one */
	/* The running transaction. */
	uint32_t transaction; /* its number, from 1; aborted ones count */
	uint32_t session, site;
	uint32_t cut;          /* it sees the commits up to this one */
	uint32_t left;         /* rc: operations that are to come */
	uint64_t salt;         /* ra: chooses the commits that it misses */
	struct own_write *own; /* by key */
	uint32_t *written;     /* keys, each once */
	uint32_t written_count, written_capacity;
	/* Under a mix, and where reads lock, the versions of a key are in the
	 * order of commits, whatever their sites. */
	bool timed;
	uint32_t *numbers; /* with replicas: at its site, by commit - 1 */
	uint32_t number_capacity;
	struct held *held;    /* by key */
	uint32_t newest_read; /* commit that the running one read from */
	struct lock *locks;   /* of the running one */
	uint32_t lock_count, lock_capacity;
};

/* Has one of the levels replicas? */
static bool needs_replicas(const struct workload *w)
{
	bool some = level_sight(w->level) == SIGHT_PAST && !w->mix;
	for (enum level l = 0; l < LEVEL_COUNT; l++)
		some |= w->mix >> l & 1 && level_sight(l) == SIGHT_PAST;
	return some;
}

struct store *store_new(const struct workload *w, struct rng *r)
{
	struct store *s = mem_take0(1, sizeof *s);
	uint32_t sites =
		w->sessions < REPLICAS_MOST ? w->sessions : REPLICAS_MOST;
	s->keys = w->keys;
	s->lag = w->lag;
	s->rng = r;
	s->timed = w->mix || w->locks > 0;
	s->sites = needs_replicas(w) ? sites : 1;
	s->chains_each = s->timed ? 1 : s->sites;
	if (needs_replicas(w)) s->replicas = replicas_new(sites, w->lag, r);
	if (s->timed) s->held = mem_take0(w->keys, sizeof *s->held);
	s->chains =
		mem_take0((size_t)w->keys * s->chains_each, sizeof *s->chains);
	s->own = mem_take0(w->keys, sizeof *s->own);
	s->last = mem_take0(w->sessions, sizeof *s->last);
	return s;
}

void store_free(struct store *s)
{
	if (!s) return;
	for (size_t i = 0; i < (size_t)s->keys * s->chains_each; i++)
		free(s->chains[i].items);
	replicas_free(s->replicas);
	free(s->chains);
	free(s->own);
	free(s->last);
	free(s->written);
	free(s->numbers);
	free(s->held);
	free(s->locks);
	free(s);
}

static struct versions *chain_of(const struct store *s, uint32_t key,
                                 uint32_t site)
{
	return &s->chains[(size_t)key * s->chains_each + site];
}

/* The newest version that is not newer than `when`, or NULL. Versions that are
 * looked for are mostly near the end. */
static const struct version *version_at(const struct versions *c, uint32_t when)
{
	uint32_t high = c->count, step = 1, low;
	if (!high || c->items[high - 1].when <= when)
		return high ? &c->items[high - 1] : NULL;
	high--;
	while (step <= high && c->items[high - step].when > when) {
		high -= step;
		step *= 2;
	}
	low = step <= high ? high - step + 1 : 0;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (c->items[middle].when <= when)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &c->items[low - 1] : NULL;
}

/* ---- snapshots ---- */

static uint32_t recent_commit(struct store *s)
{
	uint32_t most = s->lag < s->now ? s->lag : s->now;
	assert(most <= s->now);
	return s->now - rng_below(s->rng, most + 1);
}

static void see_at_least(struct store *s, uint32_t commit)
{
	if (s->cut < commit) s->cut = commit;
}

/* First committer wins: who would have lost begins again, with a snapshot that
 * has the versions it is going to replace (`writes`) or to lock. */
static void see_overwritten(struct store *s, const struct planned_op *plan,
                            uint32_t count, bool writes)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct versions *c = chain_of(s, plan[i].key, 0);
		if ((plan[i].write ? writes : plan[i].strength) && c->count)
			see_at_least(s, c->items[c->count - 1].when);
	}
}

/* The newest version at any site, as far as the sites' commits of `seen` go;
 * equal ranks are told apart by site. NULL if there is none. */
static const struct version *newest(const struct store *s, uint32_t key,
                                    bool seen_only, uint32_t *site)
{
	const struct version *best = NULL;
	for (uint32_t o = 0; o < s->chains_each; o++) {
		uint32_t most = seen_only
		                        ? replicas_seen(s->replicas, s->site, o)
		                        : UINT32_MAX;
		const struct version *v = version_at(chain_of(s, key, o), most);
		if (!v || (best && v->rank < best->rank)) continue;
		best = v;
		*site = o;
	}
	return best;
}

/* Where its commit was, and its number there, of a store with replicas whose
 * versions are in the order of commits. */
static uint32_t origin_of(const struct store *s, const struct version *v,
                          uint32_t *number)
{
	assert(s->timed && v->when && v->when <= s->now);
	*number = s->numbers[v->when - 1];
	return v->rank % s->sites;
}

static void fetch(struct store *s, const struct version *v)
{
	uint32_t number, origin = origin_of(s, v, &number);
	replicas_fetch(s->replicas, s->site, origin, number);
}

/* The same for replicas: the writers of a key see each other. */
static void fetch_overwritten(struct store *s, const struct planned_op *plan,
                              uint32_t count, bool writes)
{
	for (uint32_t i = 0; i < count; i++) {
		uint32_t origin;
		if (!(plan[i].write ? writes : plan[i].strength)) continue;
		const struct version *v =
			newest(s, plan[i].key, false, &origin);
		if (v && s->timed)
			fetch(s, v);
		else if (v)
			replicas_fetch(s->replicas, s->site, origin, v->when);
	}
}

void store_begin(struct store *s, enum level level, uint32_t session,
                 const struct planned_op *plan, uint32_t count)
{
	assert(!s->written_count && !s->lock_count);
	s->level = level;
	s->sight = level_sight(level);
	s->transaction++;
	s->session = session;
	s->site = session % s->sites;
	s->left = count;
	s->newest_read = 0;
	bool exclusive = level_excludes_rivals(s->level);
	switch (s->sight) {
	case SIGHT_NOTHING: break; /* chooses at each read */
	case SIGHT_SOURCES: s->cut = recent_commit(s); break;
	case SIGHT_STATEMENT:
		s->cut = recent_commit(s);
		see_at_least(s, s->last[session]);
		break;
	case SIGHT_DIRECT:
		s->salt = rng_next(s->rng);
		s->cut = 0;
		see_overwritten(s, plan, count, false);
		break;
	case SIGHT_PAST:
		replicas_receive(s->replicas, s->site);
		fetch_overwritten(s, plan, count, exclusive);
		break;
	case SIGHT_PREFIX:
		s->cut = s->now;
		if (level_is_serial(s->level)) break;
		s->cut = recent_commit(s);
		see_at_least(s, s->last[session]);
		see_overwritten(s, plan, count, exclusive);
		break;
	}
}

/* ---- operations ---- */

/* An operation of read committed happens later than the one before it. */
static void step_forward(struct store *s)
{
	assert(s->cut <= s->now);
	uint32_t gap = s->now - s->cut;
	uint64_t most = s->left ? 2 * (uint64_t)gap / s->left : gap;
	uint32_t step = rng_below(s->rng, (uint32_t)most + 1);
	s->cut += step < gap ? step : gap;
}

/* Does the running transaction, under read atomic, see this one? */
static bool seen_whole(const struct store *s, const struct version *v)
{
	return s->now - v->when >= s->lag || v->rank == s->session ||
	       v->when <= s->cut || hash_mix(s->salt, v->when) & 1;
}

static const struct version *version_seen_whole(const struct store *s,
                                                uint32_t key)
{
	const struct versions *c = chain_of(s, key, 0);
	for (uint32_t i = c->count; i; i--)
		if (seen_whole(s, &c->items[i - 1])) return &c->items[i - 1];
	return NULL;
}

/* The newest that its site has received. */
static const struct version *version_received(const struct store *s,
                                              uint32_t key)
{
	const struct versions *c = chain_of(s, key, 0);
	for (uint32_t i = c->count; i; i--) {
		const struct version *v = &c->items[i - 1];
		uint32_t number, origin = origin_of(s, v, &number);
		if (number <= replicas_seen(s->replicas, s->site, origin))
			return v;
	}
	return NULL;
}

/* Who locks a key waits for those whose locks exclude it. */
static void take_lock(struct store *s, uint32_t key, enum strength strength,
                      bool write)
{
	VEC_RESERVE(s->locks, s->lock_count, s->lock_capacity);
	s->locks[s->lock_count++] = (struct lock){ key, strength, write };
	if (s->sight != SIGHT_STATEMENT) return;
	see_at_least(s, s->held[key].exclusive);
	if (strength > STRENGTH_SHARE) see_at_least(s, s->held[key].shared);
}

static const struct version *version_seen(struct store *s, uint32_t key,
                                          enum strength strength)
{
	struct planned_op read = { .key = key, .strength = strength };
	uint32_t site;
	if (s->sight == SIGHT_SOURCES || s->sight == SIGHT_STATEMENT)
		step_forward(s);
	if (s->sight == SIGHT_NOTHING) s->cut = recent_commit(s);
	if (s->sight == SIGHT_SOURCES) see_overwritten(s, &read, 1, false);
	if (strength) take_lock(s, key, strength, false);
	if (s->sight == SIGHT_DIRECT) return version_seen_whole(s, key);
	if (s->sight != SIGHT_PAST)
		return version_at(chain_of(s, key, 0), s->cut);
	return s->timed ? version_received(s, key)
	                : newest(s, key, true, &site);
}

bool store_wrote(const struct store *s, uint32_t key)
{
	return s->own[key].transaction == s->transaction;
}

uint32_t store_read(struct store *s, uint32_t key, enum strength strength)
{
	assert(key < s->keys);
	assert(!strength || (s->timed && !store_wrote(s, key)));
	if (s->left) s->left--;
	if (store_wrote(s, key)) return s->own[key].value;
	const struct version *v = version_seen(s, key, strength);
	if (v && s->timed && s->replicas) fetch(s, v);
	if (v && v->when > s->newest_read) s->newest_read = v->when;
	return v ? v->value : 0;
}

void store_write(struct store *s, uint32_t key, uint32_t value)
{
	assert(key < s->keys && value > 0);
	struct own_write *own = &s->own[key];
	if (s->left) s->left--;
	/* Who replaces a version has waited for it. */
	if (s->timed) {
		take_lock(s, key, STRENGTH_UPDATE, true);
	} else if (s->sight == SIGHT_STATEMENT) {
		see_overwritten(s, &(struct planned_op){ .key = key, true }, 1,
		                true);
		see_at_least(s, own->released);
	}
	if (own->transaction != s->transaction) {
		VEC_RESERVE(s->written, s->written_count, s->written_capacity);
		s->written[s->written_count++] = key;
	}
	own->transaction = s->transaction;
	own->value = value;
}

static void publish(struct store *s, uint32_t when, uint32_t rank)
{
	for (uint32_t i = 0; i < s->written_count; i++) {
		uint32_t key = s->written[i];
		struct versions *c =
			chain_of(s, key, s->chains_each > 1 ? s->site : 0);
		VEC_RESERVE(c->items, c->count, c->capacity);
		c->items[c->count++] =
			(struct version){ s->own[key].value, when, rank };
	}
}

/* The locks of the running transaction end at this place of the commit order.
 * An aborted write is nothing but under levels with statements, and no lock
 * counts that is of no level. */
static void release(struct store *s, uint32_t end, bool commit)
{
	for (uint32_t i = 0; i < s->lock_count; i++) {
		struct lock l = s->locks[i];
		bool counts = l.write ? commit || s->sight == SIGHT_STATEMENT
		                      : s->sight != SIGHT_NOTHING;
		uint32_t *held = l.strength > STRENGTH_SHARE
		                         ? &s->held[l.key].exclusive
		                         : &s->held[l.key].shared;
		if (counts && *held < end) *held = end;
	}
	s->lock_count = 0;
}

/* In a store whose versions are in the order of commits. One that aborts
 * happens as soon as all that it has seen has committed. */
static void end_timed(struct store *s, bool commit)
{
	uint32_t end = s->newest_read, rank;
	if (commit) {
		end = ++s->now;
		publish(s, end, s->session);
	} else if (s->sight == SIGHT_STATEMENT || s->sight == SIGHT_PREFIX) {
		end = s->cut;
	}
	if (commit && s->replicas) {
		VEC_RESERVE(s->numbers, end - 1, s->number_capacity);
		s->numbers[end - 1] =
			replicas_commit(s->replicas, s->site, &rank);
	}
	assert(end <= s->now);
	if (s->last[s->session] < end) s->last[s->session] = end;
	release(s, s->last[s->session], commit);
	s->place = s->now;
	s->written_count = 0;
}

void store_end(struct store *s, bool commit)
{
	if (s->timed) {
		end_timed(s, commit);
		return;
	}
	if (commit && s->replicas) {
		uint32_t rank;
		uint32_t when = replicas_commit(s->replicas, s->site, &rank);
		s->place = (uint64_t)rank * REPLICAS_MOST + s->site;
		publish(s, when, rank);
	} else if (commit) {
		s->place = s->last[s->session] = ++s->now;
		publish(s, s->now, s->session);
	} else if (level_has_snapshots(s->level) ||
	           s->sight == SIGHT_STATEMENT) {
		/* As if it had happened at its snapshot. */
		s->last[s->session] = s->cut;
		for (uint32_t i = 0; i < s->written_count; i++)
			s->own[s->written[i]].released = s->cut;
	}
	s->written_count = 0;
}

uint64_t store_place(const struct store *s)
{
	return s->place;
}

void store_meet(struct store *s)
{
	if (!s->replicas) return;
	if (s->timed) {
		replicas_meet(s->replicas);
		return;
	}
	s->place = (uint64_t)replicas_meet(s->replicas) * REPLICAS_MOST +
	           REPLICAS_MOST - 1;
}
