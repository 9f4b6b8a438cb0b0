/* The parts of points_closure.h: what happened, and an order of commits in
 * which it can have happened.
 *
 * The order has the transactions that have ended. To tell whether one more can
 * commit at some place of it, points for its statements are all that has to be
 * found: after what they read from, and before the next version of it; and,
 * where they are of prc, after all that held what they have locked before. So
 * the earliest points will do. What reads under rc, ra and cc must see has no
 * point, but versions that must not come after theirs. A lock that was given up
 * is taken for one that was held to the end: what fits so fits.
 */
#ifndef ISO_AXIOMS_POINTS_FIT_H
#define ISO_AXIOMS_POINTS_FIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "axioms/closure.h"
#include "axioms/level.h"
#include "history/history.h"

#define NOWHERE UINT32_MAX

struct points;
struct points_mark;

enum happening { BEGINS, READS, WRITES, READS_OWN, GIVES_UP, COMMITS, ABORTS };

/* One thing that happened; of a transaction that begins, `source` is its
 * number, and `key` its level. */
struct happened {
	uint32_t key, source;
	uint32_t statement; /* in its transaction */
	uint32_t turn;      /* whose it is */
	uint32_t previous;  /* entry that locks the key, or NOWHERE */
	enum happening what : 8;
	enum strength strength : 8;
	bool joined;
	bool statements; /* its transaction has */
};

/* Where the last statement of a transaction that was looked at up to log entry
 * `end` is in the order: behind at least `low` ranks, and at most `high`. Its
 * next one is behind all that held what it has locked. (Where it has one
 * snapshot, which is there then, the next read beside that is behind what those
 * before it have read.) */
struct fit {
	uint32_t end, low, high, locked;
	/* Under a level with snapshots: behind what held the locks of the
	 * statements before this one; and with those of this one. */
	uint32_t waits, waits_next, statement;
};

/* Where a transaction is in the order. */
struct place {
	struct fit fit;
	uint32_t below;  /* where it commits: at this rank, or (NOWHERE) behind
	                  * all others */
	uint32_t middle; /* where it could, or NOWHERE */
	/* The log entries that leave it no place there, or NOWHERE. */
	uint32_t fails_last, fails_middle;
};

/* An order of the ended transactions in which the pending one fits if the read
 * at this entry of the log is from there; or (NOWHERE) from one that needs no
 * other order than that. */
struct kept_order {
	uint32_t at, source;
	uint32_t next_rank, middle;
	uint64_t number;
	size_t end; /* of its ranks, in kept_ranks */
};

/* Where the last transaction was when it was looked at last up to an entry of
 * the log, in the order of this number, if it commits there. */
struct known_fit {
	struct fit fit;
	uint32_t below;
	uint64_t order;
};

/* If it commits last, and in the middle. */
struct known_fits {
	struct known_fit last, middle;
};

struct points_closure {
	enum level level; /* of transactions that have none of their own */
	struct happened *log;
	uint32_t count, capacity;
	uint32_t *first; /* by turn: where it begins in the log */
	uint32_t turns, first_capacity;
	uint32_t *holders; /* by key: the last entry that locks it */
	uint32_t key_count;
	uint32_t locks; /* the first entry that locks what it reads; or more
	                 * than there are */
	bool gives_up;  /* locks may end before their transactions */
	/* The order: ranks of ended transactions by number, for those of the
	 * first `ordered` turns. */
	uint32_t *rank;
	uint32_t rank_capacity, ordered, next_rank;
	struct place place; /* of the last transaction */
	/* Of the orders there were, those of ended transactions that are still
	 * there; a number stands for one of them. */
	uint64_t order_number, order_numbers;
	struct known_fits *fits; /* by the entry where they end */
	uint32_t fit_capacity;
	/* The points, of the first `fed` log entries. */
	struct points *points;
	struct points_mark *marks; /* before each */
	uint32_t mark_capacity, fed;
	uint32_t room, point_room; /* 0: to be laid out */
	uint32_t *commits;
	struct kept_order *kept; /* by entry */
	uint32_t *kept_ranks;
	uint32_t kept_count, kept_capacity;
	size_t kept_end, kept_room;
};

/* Where a transaction commits that is looked at: at the rank `below`, or
 * (NOWHERE) last. The others are those at the first `turns` turns, and, if
 * `last` is a rank, the last one of all with what it has written, at that rank.
 */
struct view {
	uint32_t turns, below, last;
};

static inline bool points_is_lock(const struct happened *h)
{
	return h->what != BEGINS && h->what < COMMITS &&
	       h->strength != STRENGTH_PLAIN;
}

static inline enum level points_level(const struct points_closure *s,
                                      uint32_t turn)
{
	return (enum level)s->log[s->first[turn]].key;
}

/* Has it statements? */
static inline bool points_has_statements(const struct points_closure *s,
                                         uint32_t turn)
{
	return s->log[s->first[turn]].statements;
}

/* The statement that the pending transaction's next read will belong to. */
static inline uint32_t points_statement(const struct points_closure *s,
                                        const struct event *read)
{
	const struct happened *last = &s->log[s->count - 1];
	return last->statement + !(read->joined && last->what != BEGINS);
}

/* Where its entries end. */
static inline uint32_t points_turn_end(const struct points_closure *s,
                                       uint32_t turn)
{
	return turn + 1 < s->turns ? s->first[turn + 1] : s->count;
}

/* The transaction at this turn has done nothing. */
struct fit points_fit_of_begin(const struct points_closure *s,
                               const struct closure *c, const struct view *v,
                               uint32_t turn);
/* Does it fit into the order with all that it did? From f->end on. */
bool points_fit(const struct points_closure *s, const struct closure *c,
                const struct view *v, uint32_t turn, struct fit *f);
/* If the last transaction commits at this rank, do those behind fit still? They
 * do beside what it has done up to before the log entry `from`. */
bool points_others_fit(const struct points_closure *s, const struct closure *c,
                       uint32_t rank, uint32_t from);
/* Of the writers asked about, those from which the pending transaction, which
 * fits, can read without another order. */
void points_fitting_writers(const struct points_closure *s,
                            const struct closure *c, const struct event *read,
                            const word *asked, word *out);

#endif
