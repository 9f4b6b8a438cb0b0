/* Why a history violates a level.
 *
 * The rules are those of the checks, applied one dependency at a time so that
 * each keeps its reason and the cycle can be read edge by edge.
 */
#include "axioms/level.h"

#include <assert.h>
#include <stdlib.h>

#include "axioms/dependencies.h"
#include "axioms/order.h"
#include "axioms/dirty_read.h"
#include "base/memory.h"
#include "history/history.h"

void witness_free(struct witness *w)
{
	free(w->edges);
	*w = (struct witness){ 0 };
}

const char *reason_word(enum reason_kind r)
{
	static const char *const words[] = { [REASON_SO] = "so",
		                             [REASON_WR] = "wr",
		                             [REASON_FORCED] = "forced",
		                             [REASON_WW] = "ww",
		                             [REASON_RW] = "rw" };
	return words[r];
}

/* A proof that there is no commit order. */
struct refutation {
	enum level level;
	const struct relation *r;
	struct level_scratch *s; /* the closure of d */
	struct dependencies d;
	bool changed; /* in the pass at hand */
	bool failed;  /* a dependency closed a cycle */
	struct witness cycle;
};

static uint32_t commit_of(const struct refutation *p, uint32_t t)
{
	return level_has_snapshots(p->level) ? p->d.half + t : t;
}

static const word *writers_of(const struct refutation *p, uint32_t key)
{
	return p->r->writers + (size_t)key * p->r->words;
}

static void close_cycle(struct refutation *p, struct dependency e)
{
	uint32_t limit = p->cycle.count ? p->cycle.count : UINT32_MAX;
	dependencies_search(&p->d, e.to, limit);
	dependencies_close(&p->d, e, &p->cycle);
	p->failed = true;
}

static void add(struct refutation *p, struct dependency e)
{
	if (!order_add(p->s, e.from, e.to, p->d.width))
		close_cycle(p, e);
	else if (dependencies_add(&p->d, e))
		p->changed = true;
}

/* Under si, of two writers of one key the later begins after the earlier has
 * committed: where it begins comes first of what is known to come after. */
static uint32_t later_writer(const struct refutation *p, uint32_t t)
{
	return level_excludes_rivals(p->level) ? t : commit_of(p, t);
}

/* t2 wrote the key after t1, from whom t read it: t comes first. Where a
 * transaction does not see a prefix (psi) that is no part of the order, but
 * must not contradict it. */
static void apply_antidependency(struct refutation *p, struct relation_read a,
                                 uint32_t t2)
{
	uint32_t after = commit_of(p, t2);
	struct dependency e = { a.reader, after, REASON_RW, a.key, a.reader };
	if (!order_has(p->s, commit_of(p, a.source), after, p->d.width)) return;
	if (level_sight(p->level) == SIGHT_PREFIX)
		add(p, e);
	else if (order_has(p->s, t2, a.reader, p->d.width))
		close_cycle(p, e);
}

/* t sees t2 but read from t1: t1 is the later writer. */
static void apply_sight(struct refutation *p, struct relation_read a,
                        uint32_t t2)
{
	uint32_t from = commit_of(p, t2), to = later_writer(p, a.source);
	if (!order_has(p->s, from, a.reader, p->d.width)) return;
	add(p, (struct dependency){ from, to, REASON_WW, a.key, a.reader });
}

static void each_read(struct refutation *p,
                      void (*apply)(struct refutation *, struct relation_read,
                                    uint32_t))
{
	for (uint32_t i = 0; i < p->r->read_count; i++) {
		struct relation_read a = p->r->reads[i];
		const word *writers = writers_of(p, a.key);
		BITS_EACH(t2, writers, p->r->words) {
			if (t2 == a.source || t2 == a.reader) continue;
			apply(p, a, t2);
			if (p->cycle.count == 2) return;
		}
	}
}

/* Two writers of one key do not overlap. */
static void apply_exclusion(struct refutation *p)
{
	for (uint32_t x = 0; x < p->r->key_count; x++) {
		const word *writers = writers_of(p, x);
		BITS_EACH(a, writers, p->r->words)
			BITS_EACH(b, writers, p->r->words) {
				if (a == b || a == 0 || b == 0) continue;
				if (!order_has(p->s, a, commit_of(p, b),
				               p->d.width))
					continue;
				add(p, (struct dependency){ commit_of(p, a), b,
				                            REASON_WW, x, a });
			}
	}
}

/* What the history itself tells of the order of writers. */
static void apply_known(struct refutation *p)
{
	for (uint32_t i = 0; i < p->r->known_count; i++) {
		struct history_known e = p->r->known[i];
		uint32_t from = commit_of(p, e.from);
		uint32_t to = later_writer(p, e.to);
		add(p,
		    (struct dependency){ from, to, REASON_WW, e.key, e.from });
	}
}

/* Applies all rules as often as they add something. Antidependencies go first:
 * a cycle that has one is easier to read than one through init. */
static bool saturate(struct refutation *p)
{
	bool apart = level_has_snapshots(p->level) &&
	             level_excludes_rivals(p->level);
	do {
		p->changed = false;
		each_read(p, apply_antidependency);
		if (p->failed) break;
		if (p->changed) continue;
		each_read(p, apply_sight);
		if (apart && !p->failed) apply_exclusion(p);
	} while (p->changed && !p->failed);
	return !p->failed;
}

struct alternative {
	struct dependency either, or ;
};

/* Is this a choice that the closure leaves open? */
static bool is_open(const struct refutation *p, struct alternative c)
{
	return !order_has(p->s, c.either.from, c.either.to, p->d.width) &&
	       !order_has(p->s, c.or.from, c.or.to, p->d.width);
}

/* The readers of t1 are before t2, or t2 is before t1: all that is open for pc
 * and ser. Tells each open choice to `take` until that returns true. */
static bool choices_of_reads(struct refutation *p,
                             bool (*take)(struct refutation *,
                                          struct alternative))
{
	for (uint32_t i = 0; i < p->r->read_count; i++) {
		struct relation_read a = p->r->reads[i];
		uint32_t t1 = commit_of(p, a.source);
		const word *writers = writers_of(p, a.key);
		BITS_EACH(t2, writers, p->r->words) {
			if (t2 == a.source || t2 == a.reader) continue;
			uint32_t commit = commit_of(p, t2);
			struct alternative c = { { a.reader, commit, REASON_RW,
				                   a.key, a.reader },
				                 { commit, t1, REASON_WW, a.key,
				                   a.reader } };
			if (is_open(p, c) && take(p, c)) return true;
		}
	}
	return false;
}

/* One of two writers is first: all that is open for psi and si. */
static bool choices_of_writers(struct refutation *p,
                               bool (*take)(struct refutation *,
                                            struct alternative))
{
	for (uint32_t x = 0; x < p->r->key_count; x++) {
		const word *writers = writers_of(p, x);
		BITS_EACH(a, writers, p->r->words)
			BITS_EACH(b, writers, p->r->words) {
				if (b <= a || a == 0) continue;
				struct alternative c = {
					{ commit_of(p, a), b, REASON_WW, x, a },
					{ commit_of(p, b), a, REASON_WW, x, b }
				};
				if (is_open(p, c) && take(p, c)) return true;
			}
	}
	return false;
}

static bool choices(struct refutation *p,
                    bool (*take)(struct refutation *, struct alternative))
{
	return level_orders_rivals(p->level) ? choices_of_writers(p, take)
	                                     : choices_of_reads(p, take);
}

/* Adds the dependency and what follows; false if that closes a cycle. */
static bool commit_to(struct refutation *p, struct dependency e)
{
	add(p, e);
	return !p->failed && saturate(p);
}

/* Does the dependency lead to a cycle? Leaves all as it was. */
static bool is_refuted(struct refutation *p, struct dependency e)
{
	assert(!p->failed && !p->s->logging);
	size_t changes = p->s->change_count, count = p->d.count;
	p->s->logging = true;
	bool refuted = !commit_to(p, e);
	order_undo(p->s, changes);
	dependencies_cut(&p->d, count);
	p->s->logging = false;
	p->failed = false;
	witness_free(&p->cycle);
	return refuted;
}

/* Takes the choice if one side of it is impossible. */
static bool take_if_forced(struct refutation *p, struct alternative c)
{
	if (is_refuted(p, c.either))
		commit_to(p, c.or);
	else if (is_refuted(p, c.or))
		commit_to(p, c.either);
	else
		return false;
	return true;
}

/* Tries one side, and the other if that is impossible. */
static bool take_any(struct refutation *p, struct alternative c)
{
	if (is_refuted(p, c.either))
		commit_to(p, c.or);
	else
		commit_to(p, c.either);
	return true;
}

/* Looking for forced choices costs the square of their number. */
enum { PROBE_MAX = 128 };

/* Every way leads to a cycle; goes one of them, by forced choices as long as
 * there are any. */
static void prove(struct refutation *p)
{
	bool probe = p->r->order_count <= PROBE_MAX;
	apply_known(p);
	bool more = !p->failed && saturate(p);
	while (more && !p->failed)
		more = (probe && choices(p, take_if_forced)) ||
		       choices(p, take_any);
	assert(p->failed && p->cycle.count);
}

/* Two points: a transaction begins before it commits. */
static void begin_closure(struct refutation *p)
{
	unsigned points = level_has_snapshots(p->level) ? 2 : 1;
	scratch_grow(p->s, p->r, points);
	if (points == 2)
		order_begin_two(p->s, p->r, p->r->words);
	else
		order_begin(p->s, p->r, p->r->words);
}

static void strong_witness(enum level l, const struct relation *r,
                           struct level_scratch *s, struct witness *out)
{
	struct refutation p = { .level = l, .r = r, .s = s };
	dependencies_init(&p.d, r, level_has_snapshots(l) ? 2 : 1);
	begin_closure(&p);
	prove(&p);
	dependencies_free(&p.d);
	*out = p.cycle;
}

/* Adds what read number i forces. */
static void add_forced(struct dependencies *d, enum sight sight, uint32_t i,
                       word *earlier)
{
	const struct relation *r = d->r;
	struct relation_read a = r->reads[i];
	const word *writers = r->writers + (size_t)a.key * r->words;
	const word *seen = earlier;
	if (sight == SIGHT_DIRECT)
		seen = r->direct + (size_t)a.reader * r->words;
	if (sight == SIGHT_PAST) seen = r->past + (size_t)a.reader * r->words;
	if (i == 0 || r->reads[i - 1].reader != a.reader)
		bits_zero(earlier, r->words);
	BITS_EACH(t2, seen, r->words) {
		if (t2 == a.source || !bits_has(writers, t2)) continue;
		dependencies_add(d, (struct dependency){ t2, a.source,
		                                         REASON_FORCED, a.key,
		                                         a.reader });
	}
	bits_add(earlier, a.source);
}

static void add_known(struct dependencies *d)
{
	for (uint32_t i = 0; i < d->r->known_count; i++) {
		struct history_known e = d->r->known[i];
		dependencies_add(d,
		                 (struct dependency){ e.from, e.to, REASON_WW,
		                                      e.key, e.from });
	}
}

/* For rc, ra and cc: all known and forced dependencies, then the shortest cycle
 * through one of them. */
static void weak_witness(enum level l, const struct relation *r,
                         struct witness *out)
{
	struct dependencies d;
	word *earlier = mem_take0(r->words, sizeof *earlier);
	dependencies_init(&d, r, 1);
	add_known(&d);
	for (uint32_t i = 0; i < r->read_count; i++)
		add_forced(&d, level_sight(l), i, earlier);
	for (uint32_t t = 0; t < r->n && out->count != 2; t++) {
		uint32_t limit = out->count ? out->count : UINT32_MAX;
		bool searched = false;
		for (size_t i = 0; i < d.count; i++) {
			if (d.added[i].to != t) continue;
			if (!searched) dependencies_search(&d, t, limit);
			searched = true;
			dependencies_close(&d, d.added[i], out);
		}
	}
	assert(out->count);
	free(earlier);
	dependencies_free(&d);
}

static void base_witness(const struct relation *r, struct witness *out)
{
	struct dependencies d;
	dependencies_init(&d, r, 1);
	dependencies_base_cycle(&d, out);
	dependencies_free(&d);
}

static void dirty_witness(struct dirty_read dirty, struct witness *out)
{
	out->count = 1;
	out->edges = mem_take0(1, sizeof *out->edges);
	out->edges[0] = (struct witness_edge){ .from = dirty.writer,
		                               .to = dirty.reader,
		                               .reason = REASON_WR,
		                               .key = dirty.key,
		                               .reader = dirty.reader };
}

static void relation_witness(enum level l, const struct relation *r,
                             struct witness *out)
{
	struct level_scratch *s = level_scratch_new();
	if (!r->order)
		base_witness(r, out);
	else if (level_allows(l, r, s))
		out->count = 0;
	else if (!level_needs_order(l))
		weak_witness(l, r, out);
	else
		strong_witness(l, r, s, out);
	level_scratch_free(s);
}

bool level_witness(enum level l, const struct history *h, struct witness *out)
{
	struct dirty_read dirty;
	*out = (struct witness){ 0 };
	if (h->order && level_sight(l) != SIGHT_NOTHING &&
	    dirty_read_find(h, &dirty)) {
		dirty_witness(dirty, out);
		return true;
	}
	struct relation *r = relation_of_history(h);
	relation_witness(l, r, out);
	relation_free(r);
	return out->count > 0;
}
