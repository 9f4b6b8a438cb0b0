/* Why a history violates a level.
 *
 * The rules are those of the checks, applied one dependency at a time so that
 * each keeps its reason and the cycle can be read edge by edge.
 */
#include "axioms/allows.h"
#include "axioms/level.h"

#include <assert.h>
#include <stdlib.h>

#include "axioms/dependencies.h"
#include "axioms/order.h"
#include "axioms/points.h"
#include "axioms/dirty_read.h"
#include "axioms/witness.h"
#include "base/memory.h"
#include "history/history.h"

void witness_free(struct witness *w)
{
	free(w->edges);
	*w = (struct witness){ 0 };
}

const char *reason_word(enum reason_kind r)
{
	static const char *const words[] = {
		[REASON_SO] = "so",         [REASON_WR] = "wr",
		[REASON_FORCED] = "forced", [REASON_WW] = "ww",
		[REASON_RW] = "rw",         [REASON_LOCK] = "lock",
		[REASON_SSI] = "ssi"
	};
	return words[r];
}

/* Tells what read number i forces, of a level whose sight does not depend on
 * the order. */
static void each_forced(const struct relation *r, uint32_t i, enum sight sight,
                        word *earlier, void (*tell)(void *, struct dependency),
                        void *data)
{
	struct relation_read a = r->reads[i];
	const word *writers = r->writers + (size_t)a.key * r->words;
	const word *seen = order_sight(r, i, sight, earlier, r->words);
	BITS_EACH(t2, seen, r->words) {
		if (t2 == a.source || !bits_has(writers, t2)) continue;
		tell(data, (struct dependency){ t2, a.source, REASON_FORCED,
		                                a.key, a.reader });
	}
}

/* The same of all reads of such levels. */
static void all_forced(enum level others, const struct relation *r,
                       void (*tell)(void *, struct dependency), void *data)
{
	word *earlier = mem_take0(r->words, sizeof *earlier);
	for (uint32_t i = 0; i < r->read_count; i++) {
		enum level l = level_of(others, r, r->reads[i].reader);
		if (!level_needs_order(l) && level_sight(l) != SIGHT_NOTHING)
			each_forced(r, i, level_sight(l), earlier, tell, data);
	}
	free(earlier);
}

/* A proof that there is no commit order. */
struct refutation {
	enum level level; /* of those that have none of their own */
	bool two;         /* points for each transaction */
	const struct relation *r;
	struct level_scratch *s; /* the closure of d */
	struct dependencies d;
	bool changed; /* in the pass at hand */
	bool failed;  /* a dependency closed a cycle */
	struct witness cycle;
};

static enum level level_at(const struct refutation *p, uint32_t t)
{
	return level_of(p->level, p->r, t);
}

static uint32_t commit_of(const struct refutation *p, uint32_t t)
{
	return p->two ? p->d.half + t : t;
}

/* What commits before this point is in sight of t. */
static uint32_t sight_of(const struct refutation *p, uint32_t t)
{
	return level_is_serial(level_at(p, t)) ? commit_of(p, t) : t;
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

static bool is_exclusive(const struct refutation *p, uint32_t t)
{
	return level_orders_rivals(level_at(p, t));
}

/* Under si, of two writers of one key the later begins after the earlier has
 * committed: where it begins comes first of what is known to come after. */
static uint32_t later_writer(const struct refutation *p, uint32_t t)
{
	return is_exclusive(p, t) ? t : commit_of(p, t);
}

/* t2 wrote the key after t1, from whom t read it: t comes first. Where a
 * transaction does not see a prefix (psi) that is no part of the order, but
 * must not contradict it. */
static void apply_antidependency(struct refutation *p, struct relation_read a,
                                 uint32_t t2)
{
	uint32_t after = commit_of(p, t2), sight = sight_of(p, a.reader);
	struct dependency e = { sight, after, REASON_RW, a.key, a.reader };
	if (!order_has(p->s, commit_of(p, a.source), after, p->d.width)) return;
	if (level_sight(level_at(p, a.reader)) == SIGHT_PREFIX)
		add(p, e);
	else if (order_has(p->s, t2, a.reader, p->d.width))
		close_cycle(p, e);
}

/* t sees t2 but read from t1: t1 is the later writer. */
static void apply_sight(struct refutation *p, struct relation_read a,
                        uint32_t t2)
{
	uint32_t from = commit_of(p, t2), to = later_writer(p, a.source);
	if (!order_has(p->s, from, sight_of(p, a.reader), p->d.width)) return;
	add(p, (struct dependency){ from, to, REASON_WW, a.key, a.reader });
}

static void each_read(struct refutation *p,
                      void (*apply)(struct refutation *, struct relation_read,
                                    uint32_t))
{
	for (uint32_t i = 0; i < p->r->read_count; i++) {
		struct relation_read a = p->r->reads[i];
		const word *writers = writers_of(p, a.key);
		if (!level_needs_order(level_at(p, a.reader))) continue;
		BITS_EACH(t2, writers, p->r->words) {
			if (t2 == a.source || t2 == a.reader) continue;
			apply(p, a, t2);
			if (p->cycle.count == 2) return;
		}
	}
}

/* Is one of two transactions not to overlap with those that write a key of its?
 */
static bool exclude(const struct refutation *p, uint32_t a, uint32_t b)
{
	return a != b && a && b && (is_exclusive(p, a) || is_exclusive(p, b));
}

/* Two writers of one key do not overlap. */
static void apply_exclusion(struct refutation *p)
{
	for (uint32_t x = 0; x < p->r->key_count; x++) {
		const word *writers = writers_of(p, x);
		BITS_EACH(a, writers, p->r->words)
			BITS_EACH(b, writers, p->r->words) {
				if (!exclude(p, a, b)) continue;
				if (!order_has(p->s, later_writer(p, a),
				               commit_of(p, b), p->d.width))
					continue;
				add(p, (struct dependency){ commit_of(p, a),
				                            later_writer(p, b),
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
	do {
		p->changed = false;
		each_read(p, apply_antidependency);
		if (p->failed) break;
		if (p->changed) continue;
		each_read(p, apply_sight);
		if (p->two && !p->failed) apply_exclusion(p);
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
		uint32_t sight = sight_of(p, a.reader);
		const word *writers = writers_of(p, a.key);
		if (level_sight(level_at(p, a.reader)) != SIGHT_PREFIX)
			continue;
		BITS_EACH(t2, writers, p->r->words) {
			if (t2 == a.source || t2 == a.reader) continue;
			uint32_t commit = commit_of(p, t2);
			struct alternative c = {
				{ sight, commit, REASON_RW, a.key, a.reader },
				{ commit, t1, REASON_WW, a.key, a.reader }
			};
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
				if (b <= a || !exclude(p, a, b)) continue;
				struct alternative c = {
					{ commit_of(p, a), later_writer(p, b),
					  REASON_WW, x, a },
					{ commit_of(p, b), later_writer(p, a),
					  REASON_WW, x, b }
				};
				if (is_open(p, c) && take(p, c)) return true;
			}
	}
	return false;
}

static bool choices(struct refutation *p,
                    bool (*take)(struct refutation *, struct alternative))
{
	enum level l = level_of_all(p->level, p->r);
	if (l == LEVEL_COUNT)
		return choices_of_writers(p, take) || choices_of_reads(p, take);
	return level_orders_rivals(l) ? choices_of_writers(p, take)
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

/* What the read of a weaker level in a mix forces. */
static void add_weak(void *refutation, struct dependency e)
{
	struct refutation *p = refutation;
	e.to = later_writer(p, e.to);
	e.from = commit_of(p, e.from);
	if (!p->failed) add(p, e);
}

/* Every way leads to a cycle; goes one of them, by forced choices as long as
 * there are any. */
static void prove(struct refutation *p)
{
	bool probe = p->r->order_count <= PROBE_MAX;
	apply_known(p);
	all_forced(p->level, p->r, add_weak, p);
	bool more = !p->failed && saturate(p);
	while (more && !p->failed)
		more = (probe && choices(p, take_if_forced)) ||
		       choices(p, take_any);
	assert(p->failed && p->cycle.count);
}

/* Two points: a transaction begins before it commits. */
static void begin_closure(struct refutation *p)
{
	scratch_grow(p->s, p->r, p->two ? 2 : 1);
	if (p->two)
		order_begin_two(p->s, p->r, p->r->words);
	else
		order_begin(p->s, p->r, p->r->words);
}

static void strong_witness(enum level l, const struct relation *r,
                           struct level_scratch *s, struct witness *out)
{
	enum level all = level_of_all(l, r);
	bool two = all == LEVEL_COUNT || level_has_snapshots(all);
	struct refutation p = { .level = l, .two = two, .r = r, .s = s };
	dependencies_init(&p.d, r, two ? 2 : 1);
	begin_closure(&p);
	prove(&p);
	dependencies_free(&p.d);
	*out = p.cycle;
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

static void add_to_graph(void *d, struct dependency e)
{
	dependencies_add(d, e);
}

/* For rc, ra and cc: all known and forced dependencies, then the shortest cycle
 * through one of them. */
static void weak_witness(enum level l, const struct relation *r,
                         struct witness *out)
{
	struct dependencies d;
	dependencies_init(&d, r, 1);
	add_known(&d);
	all_forced(l, r, add_to_graph, &d);
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

static bool some_need_order(enum level others, const struct relation *r)
{
	for (uint32_t k = 1; k < r->order_count; k++)
		if (level_needs_order(level_of(others, r, r->order[k])))
			return true;
	return false;
}

/* psi forbids it only because of what reads lock: then its base does, or the
 * next stronger level that has points, whose cycle is shown. */
static void locked_witness(enum level l, const struct relation *r,
                           struct level_scratch *s, struct witness *out)
{
	enum level m = level_base(l);
	if (level_allows(m, r, s))
		for (m = l + 1; !level_implies(m, l) || !level_has_points(m) ||
		                level_allows(m, r, s);)
			m++;
	points_witness(r, m, out);
}

static bool allows_without_locks(enum level l, const struct relation *r,
                                 struct level_scratch *s)
{
	struct relation plain = *r;
	plain.locks_reads = plain.reads_beside = false;
	return level_allows(l, &plain, s);
}

static void relation_witness(enum level l, const struct relation *r,
                             struct witness *out)
{
	struct level_scratch *s = level_scratch_new();
	if (!r->order)
		base_witness(r, out);
	else if (level_allows(l, r, s))
		out->count = 0;
	else if (level_asks_points(l, r) ||
	         (r->locks_reads && (r->owns || level_has_points(l))))
		points_witness(r, l, out);
	else if (r->locks_reads && allows_without_locks(l, r, s))
		locked_witness(l, r, s, out);
	else if (!some_need_order(l, r))
		weak_witness(l, r, out);
	else
		strong_witness(l, r, s, out);
	level_scratch_free(s);
}

static bool history_witness(enum level l, bool mixed, const struct history *h,
                            struct witness *out)
{
	struct dirty_read dirty;
	*out = (struct witness){ 0 };
	if (h->order && dirty_read_find(h, l, mixed, &dirty)) {
		dirty_witness(dirty, out);
		return true;
	}
	struct relation *r = relation_of_history(h);
	if (mixed && history_has_owns(h)) relation_take_owns(r, h);
	relation_witness(l, r, out);
	relation_free(r);
	return out->count > 0;
}

bool level_witness(enum level l, const struct history *h, struct witness *out)
{
	return history_witness(l, false, h, out);
}

bool level_witness_mix(enum level others, const struct history *h,
                       struct witness *out)
{
	return history_witness(others, true, h, out);
}
