#include "twin_axioms.h"

#include <stdlib.h>
#include <string.h>

#include "twin_points.h"

typedef uint32_t set; /* of transactions */

struct twin_read {
	uint32_t key, source;
	set locked; /* transactions whose writes it excludes */
	enum strength strength;
	uint32_t event;
};

/* What the axioms speak of, taken out of the history once. */
struct facts {
	const struct history *h;
	uint32_t n;
	enum level level[TWIN_TRANSACTIONS];
	set ssi;                       /* serializable among each other only */
	bool heeds_known;              /* some level is not `none` */
	set direct[TWIN_TRANSACTIONS]; /* predecessors in so U wr */
	set plain[TWIN_TRANSACTIONS];  /* and wr by reads that are not beside a
	                                * snapshot */
	set past[TWIN_TRANSACTIONS];   /* predecessors in (so U wr)+ */
	set before[TWIN_TRANSACTIONS]; /* known to precede in co */
	set writers[TWIN_KEYS];
	uint64_t writes[TWIN_TRANSACTIONS]; /* keys */
	uint32_t read_count[TWIN_TRANSACTIONS];
	struct twin_read *reads[TWIN_TRANSACTIONS]; /* external, in po */
	/* The order being built. */
	uint32_t position[TWIN_TRANSACTIONS];
	set placed;
	set visible[TWIN_TRANSACTIONS]; /* (so U wr U ww)+, of the placed */
};

bool twin_session_order(const struct history *h, uint32_t a, uint32_t b)
{
	if (a == b || b == HISTORY_INIT) return false;
	if (a == HISTORY_INIT) return true;
	const struct transaction *ta = &h->transactions[a];
	const struct transaction *tb = &h->transactions[b];
	if (ta->session == tb->session) return ta->index < tb->index;
	return h->sessions[tb->session].after_all;
}

bool twin_write_read(const struct history *h, uint32_t a, uint32_t b)
{
	const struct transaction *t = &h->transactions[b];
	for (uint32_t i = 0; i < t->event_count; i++)
		if (t->events[i].kind == EVENT_READ && t->events[i].from == a)
			return true;
	return false;
}

bool twin_writes(const struct history *h, uint32_t t, uint32_t key)
{
	if (t == HISTORY_INIT) return true;
	const struct transaction *w = &h->transactions[t];
	if (w->aborted) return false;
	for (uint32_t i = 0; i < w->event_count; i++)
		if (w->events[i].kind == EVENT_WRITE && w->events[i].key == key)
			return true;
	return false;
}

/* Pairs of committed writers of a key whose order the history tells. */
static void take_known(struct facts *f, const struct history *h)
{
	for (uint32_t i = 0; i < h->known_count; i++) {
		struct history_known e = h->known[i];
		if (e.from != e.to && twin_writes(h, e.from, e.key) &&
		    twin_writes(h, e.to, e.key))
			f->before[e.to] |= (set)1 << e.from;
	}
}

static set excluded(const struct history *h, const struct event *e)
{
	set s = 0;
	for (uint32_t t = 1; t < h->transaction_count; t++)
		for (uint32_t i = 0; i < h->transactions[t].event_count; i++) {
			const struct event *w = &h->transactions[t].events[i];
			if (w->kind == EVENT_WRITE && w->key == e->key &&
			    strength_meets(e->strength, event_strength(w)))
				s |= (set)1 << t;
		}
	return s;
}

/* Is it a lock that is given up later? Where a transaction has but one moment,
 * it is none. */
static bool is_given_up(const struct transaction *t, uint32_t i)
{
	uint32_t locks = 1;
	for (uint32_t k = i + 1; k < t->event_count && locks; k++) {
		const struct event *e = &t->events[k];
		if (e->key != t->events[i].key || e->kind == EVENT_WRITE)
			continue;
		if (event_gives_up(e))
			locks--;
		else
			locks += e->from != HISTORY_SELF &&
			         e->strength != STRENGTH_PLAIN;
	}
	return !locks;
}

static void take_reads(struct facts *f, const struct history *h, uint32_t t)
{
	const struct transaction *w = &h->transactions[t];
	f->reads[t] = calloc(w->event_count + 1, sizeof *f->reads[t]);
	for (uint32_t i = 0; i < w->event_count; i++) {
		const struct event *e = &w->events[i];
		if (e->kind != EVENT_READ || e->from == HISTORY_SELF) continue;
		f->reads[t][f->read_count[t]++] = (struct twin_read){
			e->key, e->from, is_given_up(w, i) ? 0 : excluded(h, e),
			e->strength, i
		};
		if (!strength_is_beside(e->strength))
			f->plain[t] |= (set)1 << e->from;
	}
}

/* False when so U wr has a cycle. */
static bool close_past(struct facts *f)
{
	memcpy(f->past, f->direct, sizeof f->past);
	for (uint32_t via = 0; via < f->n; via++)
		for (uint32_t t = 0; t < f->n; t++)
			if (f->past[t] >> via & 1) f->past[t] |= f->past[via];
	for (uint32_t t = 0; t < f->n; t++)
		if (f->past[t] >> t & 1) return false;
	return true;
}

static void facts_free(struct facts *f)
{
	for (uint32_t t = 0; t < f->n; t++) free(f->reads[t]);
	free(f);
}

/* NULL when so U wr has a cycle. */
static struct facts *facts_new(const struct history *h)
{
	if (h->transaction_count > TWIN_TRANSACTIONS ||
	    h->key_count > TWIN_KEYS)
		abort();
	struct facts *f = calloc(1, sizeof *f);
	f->h = h;
	f->n = h->transaction_count;
	for (uint32_t t = 0; t < f->n; t++) {
		for (uint32_t k = 0; k < h->key_count; k++)
			if (twin_writes(h, t, k)) {
				f->writes[t] |= (uint64_t)1 << k;
				f->writers[k] |= (set)1 << t;
			}
		for (uint32_t a = 0; a < f->n; a++) {
			if (twin_session_order(h, a, t))
				f->plain[t] |= (set)1 << a;
			if (twin_session_order(h, a, t) ||
			    twin_write_read(h, a, t))
				f->direct[t] |= (set)1 << a;
		}
		take_reads(f, h, t);
	}
	take_known(f, h);
	if (close_past(f)) return f;
	facts_free(f);
	return NULL;
}

/* Is there a transaction among `later` that is t2 or co-after it? */
static bool some_not_before(const struct facts *f, set later, uint32_t t2)
{
	for (uint32_t t4 = 0; t4 < f->n; t4++)
		if (later >> t4 & 1 && f->position[t2] <= f->position[t4])
			return true;
	return false;
}

static set writers_of_common_key(const struct facts *f, uint32_t t3)
{
	set s = 0;
	for (uint32_t t4 = 0; t4 < f->n; t4++)
		if (f->placed >> t4 & 1 && f->writes[t4] & f->writes[t3])
			s |= (set)1 << t4;
	return s;
}

static bool has_snapshot(enum level l)
{
	return l == LEVEL_PC || l == LEVEL_SI;
}

/* Does read number `a` of t3 lock what t2 writes? Beside the snapshot only what
 * is then inserted is locked. */
static bool is_locked(const struct facts *f, enum level l, uint32_t t2,
                      uint32_t t3, uint32_t a)
{
	const struct twin_read *r = &f->reads[t3][a];
	if (l == LEVEL_NONE || !(r->locked >> t2 & 1)) return false;
	return !has_snapshot(l) || !strength_is_beside(r->strength) ||
	       (r->strength == STRENGTH_INSERT && f->writes[t3] >> r->key & 1);
}

static bool is_lock(const struct event *e)
{
	return e->kind == EVENT_WRITE || e->strength > STRENGTH_CHECK;
}

/* Does s lock what excludes this? A write of one that aborts is a lock where
 * there are statements, a read one where levels matter. */
static bool locks_against(const struct facts *f, uint32_t s,
                          const struct event *e, bool reads_only)
{
	const struct transaction *w = &f->h->transactions[s];
	for (uint32_t i = 0; i < w->event_count; i++) {
		const struct event *o = &w->events[i];
		bool write = o->kind == EVENT_WRITE;
		if (write && reads_only && f->level[s] != LEVEL_PRC) continue;
		if (!write && f->level[s] != LEVEL_PRC && is_given_up(w, i))
			continue;
		if (!is_lock(o) || o->key != e->key ||
		    !strengths_exclude(event_strength(o), event_strength(e)))
			continue;
		if (!write && has_snapshot(f->level[s]) &&
		    strength_is_beside(o->strength))
			continue;
		if (write ? f->level[s] == LEVEL_PRC || !w->aborted
		          : f->level[s] != LEVEL_NONE)
			return true;
	}
	return false;
}

/* Those whose locks exclude one that t3, which has a snapshot, took in a
 * statement before that of this event. */
static set waited_for(const struct facts *f, uint32_t t3, uint32_t event)
{
	const struct transaction *t = &f->h->transactions[t3];
	set found = 0;
	while (event && t->events[event].joined) event--;
	for (uint32_t i = 0; i < event; i++) {
		const struct event *e = &t->events[i];
		bool write = e->kind == EVENT_WRITE;
		if (!is_lock(e) || event_gives_up(e) ||
		    (write ? t->aborted
		           : strength_is_beside(e->strength) ||
		                     is_given_up(t, i)))
			continue;
		for (uint32_t s = 1; s < f->n; s++)
			if (s != t3 && locks_against(f, s, e, write))
				found |= (set)1 << s;
	}
	return found;
}

/* Of those before t3 in co: who committed before its snapshot; or before read
 * number `a`, if that is beside it, as are the sources of those that were so
 * until then, and whom its locks had waited for. */
static set known_before(const struct facts *f, uint32_t t3, uint32_t a)
{
	set before = f->plain[t3];
	const struct twin_read *r = f->reads[t3];
	for (uint32_t i = 0; strength_is_beside(r[a].strength) && i <= a; i++)
		if (strength_is_beside(r[i].strength))
			before |= (set)1 << r[i].source |
			          waited_for(f, t3, r[i].event);
	return before & f->placed;
}

/* PHI(t2, a), a being read number `a` of t3, the next transaction in co: the
 * transactions before t3 in co are exactly the placed ones. */
static bool phi(const struct facts *f, enum level l, uint32_t t2, uint32_t t3,
                uint32_t a)
{
	if (is_locked(f, l, t2, t3, a)) return true;
	switch (l) {
	case LEVEL_NONE: return false;
	case LEVEL_RC:
		for (uint32_t i = 0; i < a; i++)
			if (f->reads[t3][i].source == t2) return true;
		return false;
	case LEVEL_RA: return f->direct[t3] >> t2 & 1;
	case LEVEL_CC: return f->past[t3] >> t2 & 1;
	case LEVEL_PC: return some_not_before(f, known_before(f, t3, a), t2);
	case LEVEL_PSI: return f->visible[t3] >> t2 & 1;
	case LEVEL_SI:
		return some_not_before(f,
		                       known_before(f, t3, a) |
		                               writers_of_common_key(f, t3),
		                       t2);
	case LEVEL_SER: return true;
	default: abort();
	}
}

/* The axioms' instances for the reads of t3. Each PHI(t2, a) puts t2 before t3
 * in co, so they are decided once all that co puts before t3 is placed. */
static bool reads_agree(const struct facts *f, enum level l, uint32_t t3)
{
	for (uint32_t a = 0; a < f->read_count[t3]; a++) {
		uint32_t t1 = f->reads[t3][a].source;
		set others = f->writers[f->reads[t3][a].key] & f->placed;
		for (uint32_t t2 = 0; t2 < f->n; t2++)
			if (others >> t2 & 1 && t2 != t1 &&
			    phi(f, l, t2, t3, a) &&
			    f->position[t1] < f->position[t2])
				return false;
	}
	return true;
}

/* ---- prc beside others ---- */

/* A gap of co is a number of transactions before it; points are in gaps, each
 * as early as it can be. */

static void not_before(uint32_t *gap, uint32_t least)
{
	if (*gap < least) *gap = least;
}

/* Where the version that t1 wrote ends, of the `count` transactions. */
static uint32_t end_of_version(const struct facts *f, uint32_t t1, uint32_t key,
                               uint32_t count)
{
	uint32_t end = count;
	for (uint32_t s = 0; s < f->n; s++)
		if ((f->placed & f->writers[key]) >> s & 1 &&
		    f->position[s] > f->position[t1] && f->position[s] < end)
			end = f->position[s];
	return end;
}

/* The earliest gap for the lock of event e of a statement at `p`; false: there
 * is none. */
static bool lock_gap(const struct facts *f, const struct event *e, uint32_t p,
                     uint32_t count, uint32_t *gap)
{
	bool reads = e->kind == EVENT_READ && e->from != HISTORY_SELF;
	*gap = p;
	for (uint32_t s = 1; s < f->n; s++)
		if (f->placed >> s & 1 && locks_against(f, s, e, false))
			not_before(gap, f->position[s] + 1);
	if (!reads) return true;
	set hidden = excluded(f->h, e) & f->placed & f->writers[e->key];
	for (uint32_t s = 1; s < f->n; s++)
		if (hidden >> s & 1 && f->position[s] > f->position[e->from])
			return false;
	if (e->strength < STRENGTH_SHARE) return true;
	not_before(gap, f->position[e->from] + 1);
	return *gap <= end_of_version(f, e->from, e->key, count);
}

static bool points_agree(const struct facts *f, uint32_t t3, uint32_t count)
{
	const struct transaction *t = &f->h->transactions[t3];
	uint32_t at = 0;
	for (uint32_t s = 0; s < f->n; s++)
		if (twin_session_order(f->h, s, t3))
			not_before(&at, f->position[s] + 1);
	for (uint32_t i = 0, end; i < t->event_count; i = end) {
		uint32_t high = count, gap;
		end = i + 1;
		while (end < t->event_count && t->events[end].joined) end++;
		for (uint32_t k = i; k < end; k++) {
			const struct event *e = &t->events[k];
			if (e->kind == EVENT_WRITE || e->from == HISTORY_SELF ||
			    e->strength >= STRENGTH_SHARE)
				continue;
			not_before(&at, f->position[e->from] + 1);
			uint32_t last =
				end_of_version(f, e->from, e->key, count);
			if (last < high) high = last;
		}
		if (at > high) return false;
		uint32_t p = at;
		for (uint32_t k = i; k < end; k++) {
			if (!is_lock(&t->events[k])) continue;
			if (!lock_gap(f, &t->events[k], p, count, &gap))
				return false;
			not_before(&at, gap);
		}
	}
	return at <= count;
}

static void see(struct facts *f, uint32_t t3)
{
	set seen = f->direct[t3] | writers_of_common_key(f, t3);
	f->visible[t3] = seen;
	for (uint32_t t = 0; t < f->n; t++)
		if (seen >> t & 1) f->visible[t3] |= f->visible[t];
}

/* Can t come next in co, behind the `count` transactions that are placed? */
static bool may_follow(struct facts *f, uint32_t t, uint32_t count)
{
	if (f->direct[t] & ~f->placed) return false;
	if (f->heeds_known && f->before[t] & ~f->placed) return false;
	see(f, t);
	return f->level[t] == LEVEL_PRC ? points_agree(f, t, count)
	                                : reads_agree(f, f->level[t], t);
}

/* ---- serializable snapshot isolation ---- */

/* The last gap where the snapshot of t can be: behind it stands a newer version
 * of what it read, or its commit. */
static uint32_t last_gap(const struct facts *f, uint32_t t)
{
	uint32_t gap = f->position[t];
	for (uint32_t a = 0; a < f->read_count[t]; a++) {
		struct twin_read r = f->reads[t][a];
		uint32_t end = end_of_version(f, r.source, r.key, f->n);
		if (end < gap) gap = end;
	}
	return gap;
}

/* Does t read a key that s writes, and begin before s commits? */
static bool misses(const struct facts *f, uint32_t t, uint32_t s)
{
	if (s == t || !(f->ssi >> s & 1) || last_gap(f, t) > f->position[s])
		return false;
	for (uint32_t a = 0; a < f->read_count[t]; a++)
		if (!strength_is_beside(f->reads[t][a].strength) &&
		    f->writes[s] >> f->reads[t][a].key & 1)
			return true;
	return false;
}

/* The later the snapshots, the fewer transactions are concurrent; so of all
 * that is possible in this order of commits the last gaps are best. */
static bool is_safe(const struct facts *f)
{
	for (uint32_t t1 = 1; t1 < f->n; t1++)
		for (uint32_t t2 = 1; t2 < f->n; t2++)
			for (uint32_t t3 = 1; t3 < f->n; t3++)
				if (f->ssi >> t1 & 1 && misses(f, t1, t2) &&
				    misses(f, t2, t3) &&
				    f->position[t3] < f->position[t2] &&
				    f->position[t3] <= f->position[t1])
					return false;
	return true;
}

static bool place_rest(struct facts *f, uint32_t count)
{
	if (count == f->n) return is_safe(f);
	for (uint32_t t = 0; t < f->n; t++) {
		set bit = (set)1 << t;
		if (f->placed & bit || !may_follow(f, t, count)) continue;
		f->placed |= bit;
		f->position[t] = count;
		if (place_rest(f, count + 1)) return true;
		f->placed &= ~bit;
	}
	return false;
}

/* Transactions have the level of their own, or this one. */
static void take_levels(struct facts *f, const struct history *h, enum level l)
{
	f->heeds_known = false;
	f->ssi = 0;
	for (uint32_t t = 0; t < f->n; t++) {
		uint8_t own = h->transactions[t].own;
		f->level[t] = own ? (enum level)(own - 1) : l;
		f->heeds_known |= f->level[t] != LEVEL_NONE;
		if (!t || !h->ssi || f->level[t] != LEVEL_SER) continue;
		f->level[t] = LEVEL_SI;
		f->ssi |= (set)1 << t;
	}
	f->placed = 0;
}

static bool has_prc(const struct facts *f)
{
	for (uint32_t t = 1; t < f->n; t++)
		if (f->level[t] == LEVEL_PRC) return true;
	return false;
}

static bool has_mix(const struct history *h)
{
	for (uint32_t t = 1; t < h->transaction_count; t++)
		if (h->transactions[t].own) return true;
	return false;
}

bool twin_allows(enum level l, const struct history *h)
{
	struct facts *f = facts_new(h);
	if (!f) return false;
	take_levels(f, h, l);
	bool allowed = place_rest(f, 0);
	if (l == LEVEL_PRC && !has_mix(h) && allowed != twin_points_allow(h))
		abort();
	facts_free(f);
	return allowed;
}

bool twin_serializable(const struct history *h)
{
	struct facts *f = facts_new(h);
	if (!f) return false;
	take_levels(f, h, LEVEL_SER);
	for (uint32_t t = 0; t < f->n; t++) f->level[t] = LEVEL_SER;
	f->ssi = 0;
	f->heeds_known = true;
	bool serial = place_rest(f, 0);
	facts_free(f);
	return serial;
}

bool twin_allows_order(enum level l, const struct history *h,
                       const uint32_t *order)
{
	struct facts *f = facts_new(h);
	if (!f) return false;
	take_levels(f, h, l);
	uint32_t count = 0;
	while (count < f->n && !(f->placed >> order[count] & 1) &&
	       may_follow(f, order[count], count)) {
		f->placed |= (set)1 << order[count];
		f->position[order[count]] = count;
		count++;
	}
	bool allowed = count == f->n && is_safe(f);
	facts_free(f);
	return allowed;
}

unsigned twin_levels(const struct history *h)
{
	struct facts *f = facts_new(h);
	unsigned levels = 0;
	if (!f) return 0;
	for (enum level l = 0; l < LEVEL_COUNT; l++) {
		if (!level_mixes(l) && has_mix(h)) continue;
		take_levels(f, h, l);
		if (l == LEVEL_PRC && !has_mix(h) ? twin_points_allow(h)
		                                  : place_rest(f, 0))
			levels |= 1u << l;
	}
	facts_free(f);
	return levels;
}

/* ---- complete orders, relations as matrices ---- */

void twin_closure(twin_matrix m, uint32_t n)
{
	for (uint32_t k = 0; k < n; k++)
		for (uint32_t i = 0; i < n; i++)
			for (uint32_t j = 0; j < n; j++)
				m[i][j] |= m[i][k] && m[k][j];
}

struct plain {
	struct facts *f;
	twin_matrix so_wr, past, co, visible;
};

static bool plain_phi(const struct plain *p, uint32_t t2, uint32_t t3,
                      uint32_t a)
{
	const struct facts *f = p->f;
	enum level level = f->level[t3];
	bool found = p->co[t2][t3] && is_locked(f, level, t2, t3, a);
	if (level == LEVEL_RC)
		for (uint32_t i = 0; i < a; i++)
			found |= f->reads[t3][i].source == t2;
	if (level == LEVEL_RA) found |= p->so_wr[t2][t3];
	if (level == LEVEL_CC) found |= p->past[t2][t3];
	if (level == LEVEL_PSI) found |= p->visible[t2][t3];
	if (level == LEVEL_SER) found |= p->co[t2][t3];
	if (level == LEVEL_PC || level == LEVEL_SI)
		for (uint32_t t4 = 0; t4 < f->n; t4++)
			found |= (t2 == t4 || p->co[t2][t4]) && p->co[t4][t3] &&
			         known_before(f, t3, a) >> t4 & 1;
	if (level == LEVEL_SI)
		for (uint32_t t4 = 0; t4 < f->n; t4++)
			found |= f->writes[t3] & f->writes[t4] &&
			         (t2 == t4 || p->co[t2][t4]) && p->co[t4][t3];
	return found;
}

static bool order_meets_axioms(const struct plain *p)
{
	const struct facts *f = p->f;
	for (uint32_t t3 = 0; t3 < f->n; t3++)
		for (uint32_t a = 0; a < f->read_count[t3]; a++)
			for (uint32_t t2 = 0; t2 < f->n; t2++) {
				struct twin_read r = f->reads[t3][a];
				if (t2 != r.source &&
				    f->writes[t2] >> r.key & 1 &&
				    plain_phi(p, t2, t3, a) &&
				    !p->co[t2][r.source])
					return false;
			}
	return true;
}

static bool test_order(struct plain *p, const uint32_t *order)
{
	struct facts *f = p->f;
	memset(p->co, 0, sizeof p->co);
	for (uint32_t i = 0; i < f->n; i++) f->position[order[i]] = i;
	for (uint32_t i = 0; i < f->n; i++)
		for (uint32_t j = i + 1; j < f->n; j++)
			p->co[order[i]][order[j]] = true;
	for (uint32_t i = 0; i < f->n; i++)
		for (uint32_t j = 0; j < f->n; j++) {
			if (p->so_wr[i][j] && !p->co[i][j]) return false;
			if (f->heeds_known && f->before[j] >> i & 1 &&
			    !p->co[i][j])
				return false;
			p->visible[i][j] =
				p->so_wr[i][j] ||
				(p->co[i][j] && f->writes[i] & f->writes[j]);
		}
	twin_closure(p->visible, f->n);
	return order_meets_axioms(p) && is_safe(f);
}

static bool permute(struct plain *p, uint32_t *order, uint32_t done)
{
	uint32_t n = p->f->n;
	if (done == n) return test_order(p, order);
	for (uint32_t i = done; i < n; i++) {
		uint32_t t = order[i];
		order[i] = order[done];
		order[done] = t;
		if (permute(p, order, done + 1)) return true;
		order[done] = order[i];
		order[i] = t;
	}
	return false;
}

bool twin_allows_plain(enum level l, const struct history *h)
{
	struct facts *f = facts_new(h);
	if (!f) return false;
	take_levels(f, h, l);
	if (has_prc(f)) {
		facts_free(f);
		return twin_allows(l, h);
	}
	struct plain *p = calloc(1, sizeof *p);
	uint32_t order[TWIN_TRANSACTIONS];
	p->f = f;
	f->placed = ((set)1 << f->n) - 1;
	for (uint32_t t = 0; t < f->n; t++) {
		order[t] = t;
		for (uint32_t a = 0; a < f->n; a++)
			p->so_wr[a][t] = f->direct[t] >> a & 1;
	}
	memcpy(p->past, p->so_wr, sizeof p->past);
	twin_closure(p->past, f->n);
	bool allowed = permute(p, order, 0);
	free(p);
	facts_free(f);
	return allowed;
}
