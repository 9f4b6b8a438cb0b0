/* The usual names of anomalies, from the cycle that the weakest violated level
 * has a witness of. Names are those of Berenson et al. (SIGMOD 1995), Adya
 * (1999), Terry et al. (session guarantees, 1994), Fekete et al. (read-only
 * anomaly, 2004), Bailis et al. (fractured reads, 2014). */
#include "axioms/allows.h"
#include "axioms/level.h"

#include <assert.h>

#include "axioms/dependencies.h"
#include "axioms/dirty_read.h"
#include "axioms/witness.h"
#include "base/memory.h"
#include "history/history.h"
#include "history/relation.h"

static bool writes(const struct history *h, uint32_t t, uint32_t key)
{
	const struct transaction *transaction = &h->transactions[t];
	if (t == HISTORY_INIT) return true;
	if (transaction->aborted) return false;
	for (uint32_t i = 0; i < transaction->event_count; i++) {
		const struct event *e = &transaction->events[i];
		if (e->kind == EVENT_WRITE && e->key == key) return true;
	}
	return false;
}

static bool is_read_only(const struct history *h, uint32_t t)
{
	const struct transaction *transaction = &h->transactions[t];
	if (t == HISTORY_INIT) return false;
	if (transaction->aborted) return true;
	for (uint32_t i = 0; i < transaction->event_count; i++)
		if (transaction->events[i].kind == EVENT_WRITE) return false;
	return true;
}

/* Place of the first read of `t` from `from`, of this key unless it is
 * UINT32_MAX; UINT32_MAX if there is none. */
static uint32_t first_read(const struct history *h, uint32_t t, uint32_t from,
                           uint32_t key)
{
	const struct transaction *transaction = &h->transactions[t];
	for (uint32_t i = 0; i < transaction->event_count; i++) {
		const struct event *e = &transaction->events[i];
		if (e->kind == EVENT_READ && e->from == from &&
		    (key == UINT32_MAX || e->key == key))
			return i;
	}
	return UINT32_MAX;
}

static uint32_t count_reason(const struct witness *w, enum reason_kind reason)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < w->count; i++)
		count += w->edges[i].reason == reason;
	return count;
}

static const struct witness_edge *first_edge(const struct witness *w,
                                             enum reason_kind reason)
{
	for (uint32_t i = 0; i < w->count; i++)
		if (w->edges[i].reason == reason) return &w->edges[i];
	return NULL;
}

static bool has_one_reader(const struct witness *w)
{
	const struct witness_edge *forced = first_edge(w, REASON_FORCED);
	for (uint32_t i = 0; i < w->count; i++)
		if (w->edges[i].reason == REASON_FORCED &&
		    w->edges[i].reader != forced->reader)
			return false;
	return true;
}

static bool is_known(const struct history *h, const struct witness_edge *e)
{
	for (uint32_t i = 0; i < h->known_count; i++)
		if (h->known[i].from == e->from && h->known[i].to == e->to &&
		    h->known[i].key == e->key)
			return true;
	return false;
}

static bool all_ww_are_known(const struct history *h, const struct witness *w)
{
	for (uint32_t i = 0; i < w->count; i++)
		if (w->edges[i].reason == REASON_WW &&
		    !is_known(h, &w->edges[i]))
			return false;
	return true;
}

/* No read forces anything: session order, reads from one another and the known
 * order of writers contradict each other. Adya's phenomena have no sessions;
 * they keep their names where session order takes part. */
static const char *write_cycle_name(const struct witness *w)
{
	if (count_reason(w, REASON_WR) > 0)
		return "circular information flow (G1c)";
	if (count_reason(w, REASON_SO) > 0 && w->count == 2)
		return "monotonic writes violation";
	return "dirty write (G0)";
}

static const char *dirty_name(const struct history *h)
{
	struct dirty_read dirty;
	if (!dirty_read_find(h, LEVEL_SERIAL, false, &dirty)) return NULL;
	return dirty.aborted ? "aborted read (G1a)" : "intermediate read (G1b)";
}

/* The reader took an older version after it had read from the newer writer. */
static const char *read_committed_name(const struct history *h,
                                       const struct witness *w)
{
	const struct witness_edge *e = first_edge(w, REASON_FORCED);
	if (!e) return write_cycle_name(w);
	if (count_reason(w, REASON_FORCED) > 1)
		return has_one_reader(w) ? "observed transaction vanishes"
		                         : "dirty write (G0)";
	if (first_read(h, e->reader, e->from, e->key) != UINT32_MAX)
		return "non-monotonic read";
	return "fractured read";
}

/* The reader took an older version of a key than one that it had in its session
 * or one written by a transaction that it also reads from. */
static const char *read_atomic_name(const struct history *h,
                                    const struct witness *w)
{
	const struct witness_edge *e = first_edge(w, REASON_FORCED);
	if (count_reason(w, REASON_FORCED) > 1) return "fractured read";
	uint32_t newer = first_read(h, e->reader, e->from, UINT32_MAX);
	if (newer == UINT32_MAX) return "read-your-writes violation";
	if (first_read(h, e->reader, e->from, e->key) != UINT32_MAX)
		return "non-repeatable read";
	uint32_t older = first_read(h, e->reader, e->to, e->key);
	return older < newer ? "read skew (G-single)" : "fractured read";
}

/* The so and wr steps by which the newer writer precedes the reader. */
static struct witness causal_path(const struct history *h, uint32_t from,
                                  uint32_t to)
{
	struct relation *r = relation_of_history(h);
	struct dependencies d;
	struct witness cycle = { 0 };
	struct dependency back = { to, from, REASON_FORCED, 0, to };
	dependencies_init(&d, r, 1);
	dependencies_search(&d, from, UINT32_MAX);
	dependencies_close(&d, back, &cycle);
	dependencies_free(&d);
	relation_free(r);
	return cycle;
}

static const char *causal_name(const struct history *h, const struct witness *w)
{
	const struct witness_edge *e = first_edge(w, REASON_FORCED);
	const char *name = "causality violation";
	if (count_reason(w, REASON_FORCED) > 1) return name;
	/* edges[0] leads back; the path is what follows. */
	struct witness path = causal_path(h, e->from, e->reader);
	assert(path.count >= 3);
	bool wr_first = path.edges[1].reason == REASON_WR;
	bool wr_second = path.edges[2].reason == REASON_WR;
	if (path.count == 3 && wr_first && !wr_second)
		name = "monotonic reads violation";
	else if (path.count == 3 && !wr_first && wr_second)
		name = "monotonic writes violation";
	else if (path.count == 4 && wr_first && !wr_second &&
	         path.edges[3].reason == REASON_WR)
		name = "writes-follow-reads violation";
	witness_free(&path);
	return name;
}

/* Two readers disagree on which of two writes came first; or two sessions each
 * miss the other's; or a reader misses a write that is known to come before one
 * that it depends on. */
static const char *prefix_name(const struct history *h, const struct witness *w)
{
	if (count_reason(w, REASON_RW) == 1 && all_ww_are_known(h, w))
		return "G-single";
	bool observed = count_reason(w, REASON_WR) > 0 ||
	                count_reason(w, REASON_WW) > 0;
	return observed ? "long fork" : "store buffering";
}

/* Nobody reads what another one reads, and both write it: that was looked for
 * before. Where the order of the writers is told, a transaction that overwrites
 * a version after the one that it read loses that one all the same. */
static const char *parallel_snapshot_name(const struct history *h,
                                          const struct witness *w)
{
	for (uint32_t i = 0; i < w->count; i++) {
		const struct witness_edge *e = &w->edges[i];
		if (e->reason == REASON_RW && writes(h, e->from, e->key) &&
		    all_ww_are_known(h, w))
			return "lost update";
	}
	return count_reason(w, REASON_RW) > 1 ? "long fork" : "G-single";
}

/* rc allows it: a statement, or what locks, is to see more than one step. */
static const char *statement_name(const struct witness *w)
{
	if (count_reason(w, REASON_LOCK) > 0) return "lock held by both";
	if (count_reason(w, REASON_RW) != 1)
		return count_reason(w, REASON_WR) > 0 ? "long fork"
		                                      : "store buffering";
	if (count_reason(w, REASON_SO) > 0)
		return w->count == 2 ? "read-your-writes violation"
		                     : "session sees an older state";
	return "statement sees an older state";
}

static const char *serializable_name(const struct history *h,
                                     const struct witness *w)
{
	if (count_reason(w, REASON_RW) == w->count)
		return "write skew (G2-item)";
	for (uint32_t i = 0; i < w->count; i++)
		if (is_read_only(h, w->edges[i].from))
			return "read-only transaction anomaly";
	return "G2-item";
}

static const char *cycle_name(const struct history *h, enum level l,
                              const struct witness *w)
{
	bool exclusive = level_excludes_rivals(l);
	switch (level_sight(l)) {
	case SIGHT_NOTHING: return write_cycle_name(w);
	case SIGHT_SOURCES: return read_committed_name(h, w);
	case SIGHT_DIRECT: return read_atomic_name(h, w);
	case SIGHT_PAST:
		return exclusive ? parallel_snapshot_name(h, w)
		                 : causal_name(h, w);
	case SIGHT_STATEMENT: return statement_name(w);
	case SIGHT_PREFIX: break;
	}
	if (level_is_serial(l)) return serializable_name(h, w);
	/* Under si, both pc and psi allow it. Whatever order of the writers psi
	 * finds, no cycle of it has a single missed write, so no update is
	 * lost, even where a reader on the cycle writes the key too: what is
	 * left are snapshots of which each misses what another one has. */
	return exclusive ? "long fork" : prefix_name(h, w);
}

static const char *name_of_cycle(const struct history *h, enum level l)
{
	struct witness w;
	bool violated = level_witness(l, h, &w);
	assert(violated);
	(void)violated;
	const char *name = cycle_name(h, l, &w);
	witness_free(&w);
	return name;
}

/* Two transactions read a key from the same writer, and both write it. */
static bool is_lost_update(const struct history *h)
{
	struct relation *r = relation_of_history(h);
	bool found = false;
	for (uint32_t i = 0; i < r->read_count && !found; i++) {
		const struct relation_read *a = &r->reads[i];
		if (!writes(h, a->reader, a->key)) continue;
		for (uint32_t j = 0; j < i && !found; j++) {
			const struct relation_read *b = &r->reads[j];
			found = a->key == b->key && a->source == b->source &&
			        a->reader != b->reader &&
			        writes(h, b->reader, b->key);
		}
	}
	relation_free(r);
	return found;
}

/* `weak`, or a level with statements that it implies and that forbids the
 * history too: writes of transactions that aborted stood in the way, and only
 * such levels know of those. */
static enum level weakest_with_statements(enum level weak,
                                          const struct history *h)
{
	for (enum level m = 0; m < weak && weak < LEVEL_COUNT; m++)
		if (level_has_statements(m) && level_implies(weak, m) &&
		    !level_allows_history(m, h))
			return m;
	return weak;
}

/* The first level in the table that l implies and that forbids the history;
 * LEVEL_COUNT if there is none. Anomalies have their names from levels that
 * know of no statements, where it can be. Neither of pc and psi is the weaker
 * one: of a history that both forbid, a lost update says more than who saw what
 * first. */
static enum level weakest_forbidding(enum level l, const struct history *h)
{
	enum level weak = 0;
	while (weak < LEVEL_COUNT &&
	       (!level_implies(l, weak) ||
	        (level_has_statements(weak) && weak != l) ||
	        level_allows_history(weak, h)))
		weak++;
	if (weak == LEVEL_COUNT || !level_has_snapshots(weak) ||
	    !level_excludes_rivals(l) || !is_lost_update(h))
		return weakest_with_statements(weak, h);
	for (enum level m = weak; m <= l; m++)
		if (level_excludes_rivals(m) && level_implies(l, m)) return m;
	return weak;
}

static bool some_read_locks(const struct history *h)
{
	for (uint32_t t = 1; t < h->transaction_count; t++)
		for (uint32_t i = 0; i < h->transactions[t].event_count; i++) {
			const struct event *e = &h->transactions[t].events[i];
			if (e->kind == EVENT_READ &&
			    e->strength != STRENGTH_PLAIN)
				return true;
		}
	return false;
}

/* If the level forbids the history only because of what its reads lock: the
 * name that it has without that, under ser, which asks of all reads what locks
 * ask of theirs. Else NULL. */
static const char *locked_name(enum level weak, const struct history *h)
{
	size_t count = 0;
	if (!some_read_locks(h)) return NULL;
	for (uint32_t t = 0; t < h->transaction_count; t++)
		count += h->transactions[t].event_count;
	struct history plain = *h;
	struct event *events = mem_take((count + 1) * sizeof *events);
	plain.transactions =
		mem_take(h->transaction_count * sizeof *plain.transactions);
	count = 0;
	for (uint32_t t = 0; t < h->transaction_count; t++) {
		struct transaction *w = &plain.transactions[t];
		*w = h->transactions[t];
		for (uint32_t i = 0; i < w->event_count; i++) {
			events[count + i] = w->events[i];
			events[count + i].strength = STRENGTH_PLAIN;
		}
		w->events = events + count;
		count += w->event_count;
	}
	enum level unlocked;
	const char *name = level_allows_history(weak, &plain)
	                           ? anomaly_name(&plain, &unlocked)
	                           : NULL;
	free(plain.transactions);
	free(events);
	return name;
}

const char *anomaly_name_under(enum level l, const struct history *h,
                               enum level *forbidden_by)
{
	enum level weak = *forbidden_by = weakest_forbidding(l, h);
	if (weak == LEVEL_COUNT) return NULL;
	const char *name = h->order ? dirty_name(h) : NULL;
	if (!name && h->order) name = locked_name(weak, h);
	if (!name && level_excludes_rivals(weak) && is_lost_update(h))
		name = "lost update";
	return name ? name : name_of_cycle(h, weak);
}

const char *anomaly_name(const struct history *h, enum level *forbidden_by)
{
	return anomaly_name_under(LEVEL_SERIAL, h, forbidden_by);
}
