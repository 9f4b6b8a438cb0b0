/* Deciding pc, psi, si and ser, and mixes, on large histories.
 *
 * The unknown commit order is a partial order of points, to which edges are
 * added: those that every commit order must contain (saturate.c), then guesses
 * (guess.c), and what these leave open is searched completely
 * (solve.c). For psi and ser a transaction is one point; for pc and si it is
 * two, begin and commit: the level holds iff there is an acyclic order of
 * points that meets the rules of saturate.c and leaves no choice open. In a mix
 * it is two for each, and the rules are those of each reader's own level: what
 * serial ones see has committed before they commit; what the reads of rc, ra
 * and cc force does not depend on the order, and is there from the start.
 * (Biswas and Enea, OOPSLA 2019; begin and commit points as in Viper,
 * EuroSys 2023.)
 */
#ifndef ISO_CHECK_STRONG_H
#define ISO_CHECK_STRONG_H

#include <stdbool.h>
#include <stddef.h>

#include "check/chains.h"
#include "check/check.h"

/* Why an edge is there. t, a and w are transactions; r reads a's version of a
 * key that w also writes. */
enum edge_rule {
	EDGE_BASE,   /* so, wr, or a known order */
	EDGE_SOURCE, /* w -> a, since w is before r (third) */
	EDGE_READER, /* r -> w, since a (third) is before w */
	EDGE_RIVAL,  /* commit of a -> begin of b, which write one key, since
	              * the begin of a is before the commit of b */
	EDGE_LOCK,   /* commit of a -> where b locks a key that a locks (third:
	              * the lock), since a locks it before the commit of b */
	EDGE_CHOICE  /* guessed, or true in the solver's model */
};

#define NO_EDGE UINT32_MAX

struct edge {
	uint32_t from, to;          /* points */
	uint32_t next_out, next_in; /* edges of the same point, or NO_EDGE */
	uint32_t third;             /* transaction, or number of the choice */
	uint32_t limit;             /* the reason is a path of the edges that
	                             * came before this number */
	enum edge_rule rule;
};

/* A key is locked from one point on until another, where the transaction
 * commits; so that of two locks, unless both are shared, one ends before the
 * other begins. */
struct strong_lock {
	uint32_t commit, until; /* until: the point before which it begins */
	uint32_t key;
	bool shared;
	bool upgrades; /* its transaction has a shared one of the key */
};
struct strong_locks {
	struct strong_lock *items; /* by commit */
	uint32_t count;
};
/* The locks of a key that lie in one chain, all shared or none. */
struct lock_group {
	uint32_t chain;
	uint32_t first, end; /* range of lock_order */
};

typedef int16_t lanes __attribute__((vector_size(16), may_alias));
typedef uint64_t row_bits __attribute__((may_alias));

/* Rows of the closure: for each point and chain, how many of the chain's points
 * come before it (pre), and the first one that comes after it (suc). A chain's
 * points are numbered along it.
 *
 * Of few long chains a row has these numbers, of 16 bits; of many short ones a
 * bit for each point that comes before, or after. The bits of a chain, at most
 * 63, lie in one word. */
struct strong {
	const struct facts *f;
	struct chains *chains;
	uint32_t *chain_bit; /* by chain: its first bit; NULL: numbers */
	uint32_t *bit_point; /* by bit: its point */
	struct check_clock *clock;
	/* Properties of the level. */
	unsigned two;    /* 1 if a transaction has two points */
	bool prefix;     /* it sees a prefix of the commit order */
	bool exclusive;  /* of two writers of a key, the earlier is in sight */
	bool by_writers; /* and with their order all is decided */
	uint8_t *asks;   /* of a mix, by transaction: ASKS_...; else NULL */
	uint32_t points; /* f->n << two; those of init are not used */
	/* Under levels with statements, where a transaction is one point. */
	const struct strong_locks *locks;
	uint32_t *lock_order; /* by key, shared or not, chain, and place of
	                       * the commit */
	struct lock_group *lock_groups;
	/* 2 * key_count + 1: those of 2 * key are not shared, of 2 * key + 1
	 * they are. */
	uint32_t *lock_group_first;
	uint32_t *until_first;  /* by point: those of until_locks whose */
	uint32_t *until_locks;  /* `until` it is */
	uint32_t *commit_first; /* by point: the items whose commit it is */
	uint32_t blocks;        /* of 16 bytes each: width of a row */
	lanes *pre, *suc;
	uint32_t *first_out, *first_in; /* edges by point */
	struct edge *edges;
	size_t edge_count, edge_capacity;
	size_t linked; /* edges that are in the lists of their points */
	size_t closed; /* edges in the closure, if one was made */
	bool has_closure;
	uint32_t *topo; /* the points in an order that the edges allow */
	uint32_t *topo_rank;
	/* Reads by source: those from a are readers[reader_first[a]] .. */
	uint32_t *reader_first;
	struct strong_reader {
		uint32_t reader, key;
	} * readers;
	/* Points whose rows have changed and were not looked at since. */
	uint32_t *changed; /* a ring */
	uint32_t changed_first, changed_count;
	uint8_t *has_changed; /* CHANGED_PRE, CHANGED_SUC by point */
	uint32_t *queue;      /* of points whose rows change */
	/* Rows as they were at marks: 2 * point, + 1 for suc. */
	size_t *kept;
	lanes *kept_rows;
	size_t kept_count, kept_capacity;
	uint64_t *kept_at;    /* by row: the mark that it was kept for */
	uint64_t mark, marks; /* the last mark, 0: none; all of them */
	uint32_t *degree;     /* edges from points that are not sorted yet */
	/* The edge that closed a cycle, with the edges before this number. Its
	 * end is 0, and there is no path, if a read from init was to see
	 * another writer. */
	struct edge conflict;
	size_t conflict_limit;
	bool conflicting, out_of_time;
	bool too_large; /* solve: more choices than memory allows */
	bool init_read; /* the reads from init were looked at */
};

enum { CHANGED_PRE = 1, CHANGED_SUC = 2 };

/* What the level of a transaction in a mix asks: that it sees a prefix of the
 * commit order, and this up to its commit; that rivals are in its sight. */
enum { ASKS_PREFIX = 1, ASKS_SERIAL = 2, ASKS_EXCLUSION = 4 };

static inline uint32_t point_begin(const struct strong *s, uint32_t t)
{
	return t << s->two;
}
static inline uint32_t point_commit(const struct strong *s, uint32_t t)
{
	return (t << s->two) + s->two;
}
/* Does what its reads must see depend on the commit order? */
static inline bool reads_by_order(const struct strong *s, uint32_t t)
{
	return !s->asks || s->asks[t] & ASKS_PREFIX;
}
static inline bool excludes_rivals(const struct strong *s, uint32_t t)
{
	return s->asks ? s->asks[t] & ASKS_EXCLUSION : s->exclusive;
}
/* What has committed before this point is in sight of t. */
static inline uint32_t point_sight(const struct strong *s, uint32_t t)
{
	bool serial = s->asks && s->asks[t] & ASKS_SERIAL;
	return serial ? point_commit(s, t) : point_begin(s, t);
}
/* Rivals that commit before t do so before this point. */
static inline uint32_t point_rival(const struct strong *s, uint32_t t)
{
	return excludes_rivals(s, t) ? point_begin(s, t) : point_commit(s, t);
}
static inline uint32_t point_owner(const struct strong *s, uint32_t p)
{
	return p >> s->two;
}
static inline uint32_t point_chain(const struct strong *s, uint32_t p)
{
	return s->chains->chain_of[point_owner(s, p)];
}
/* Its place among the points of its chain. */
static inline int32_t point_place(const struct strong *s, uint32_t p)
{
	uint32_t place = s->chains->place_of[point_owner(s, p)];
	return (int32_t)((place << s->two) + (p & s->two));
}
static inline lanes *point_row(const struct strong *s, lanes *rows, uint32_t p)
{
	return rows + (size_t)p * s->blocks;
}
static inline int32_t chain_points(const struct strong *s, uint32_t chain)
{
	const uint32_t *first = &s->chains->first[chain];
	return (int32_t)((first[1] - first[0]) << s->two);
}
/* The bits of a chain, and of others behind them. */
static inline row_bits row_chain(const struct strong *s, const lanes *row,
                                 uint32_t chain)
{
	uint32_t bit = s->chain_bit[chain];
	return ((const row_bits *)row)[bit / 64] >> bit % 64;
}
/* Where the chain ends, for looking for the lowest bit. */
static inline row_bits chain_end(const struct strong *s, uint32_t chain)
{
	return (row_bits)1 << chain_points(s, chain);
}
/* In a row of pre: how many of the chain come before. */
static inline int32_t row_pre(const struct strong *s, const lanes *row,
                              uint32_t chain)
{
	if (!s->chain_bit) return ((const int16_t *)row)[chain];
	return __builtin_ctzll(~row_chain(s, row, chain) | chain_end(s, chain));
}
/* In a row of suc: the first of the chain that comes after; if none does, a
 * number that no point has. */
static inline int32_t row_suc(const struct strong *s, const lanes *row,
                              uint32_t chain)
{
	if (!s->chain_bit) return ((const int16_t *)row)[chain];
	return __builtin_ctzll(row_chain(s, row, chain) | chain_end(s, chain));
}
/* The bit of a point in a row of bits. */
static inline uint32_t point_bit(const struct strong *s, uint32_t p)
{
	return s->chain_bit[point_chain(s, p)] + (uint32_t)point_place(s, p);
}
static inline bool row_has(const lanes *row, uint32_t bit)
{
	return ((const row_bits *)row)[bit / 64] >> bit % 64 & 1;
}
/* Is point a before point b, by the closure? */
static inline bool point_before(const struct strong *s, uint32_t a, uint32_t b)
{
	const lanes *row = point_row(s, s->pre, b);
	if (s->chain_bit) return row_has(row, point_bit(s, a));
	return point_place(s, a) < row_pre(s, row, point_chain(s, a));
}
/* The neighbours in the chain, or UINT32_MAX. */
uint32_t point_next(const struct strong *s, uint32_t p);
uint32_t point_previous(const struct strong *s, uint32_t p);

/* ---- prepare.c ---- */

/* Begins with so, wr and known orders, and in a mix with what the reads of
 * weaker levels force; `l` is the level of those that have none of their own.
 * False when the memory limit forbids it; conflicting if these have a cycle. To
 * be freed in either case. */
bool strong_init(struct strong *s, const struct facts *f, enum level l,
                 struct check_clock *c);
/* The same for facts of which each transaction is one point, with locks: of a
 * level with statements (statements.c). */
bool strong_init_locks(struct strong *s, const struct facts *f,
                       const struct strong_locks *locks, enum level l,
                       struct check_clock *c);
void strong_free(struct strong *s);

/* ---- reach.c: the edges and their closure ---- */

/* Appends an edge; the closure does not know it yet. */
void reach_append(struct strong *s, struct edge e);
/* Brings the closure up to date with the appended edges. False if there is a
 * cycle, which is the conflict then, or if time is over. */
bool reach_update(struct strong *s);
/* A place to come back to; saturated, no edge appended
 * since. */
struct reach_mark {
	size_t edges, kept;
};
/* Costs a copy of each row that changes afterwards. Marks may be nested. */
struct reach_mark reach_mark(struct strong *s);
void reach_back(struct strong *s, struct reach_mark m);
/* The next saturate() looks at everything again. */
void saturate_again(struct strong *s);
/* Forgets all marks. */
void reach_settle(struct strong *s);
/* Goes back to the first `count` edges without a mark, at the cost of the whole
 * closure. */
void reach_truncate(struct strong *s, size_t count);
/* The closure of all edges from scratch. False, with a conflict, if there is a
 * cycle, or if time is over. */
bool reach_rebuild(struct strong *s);
/* Makes topo and topo_rank agree with all edges, by Kahn's algorithm; false if
 * there is a cycle: degree tells the points that are not sorted then. */
bool reach_sort_points(struct strong *s);
/* Goes back among those until it goes round; the newest edge of that cycle
 * becomes the conflict. */
void reach_find_cycle(struct strong *s);
/* The same for edges that have no cycle. */
void reach_sort(struct strong *s);
/* Edges to each point, the chain's included, into s->degree. */
void reach_count_degrees(struct strong *s);

/* ---- likely_order.c ---- */

/* Makes topo and topo_rank agree with all edges, which have no cycle, and close
 * to an order in which the transactions may have run: as if all sessions ran
 * all the time, each at a pace of its own, but for writers, which wait until a
 *  key's last version was read by all who read it. True if no wait was in vain:
 * then this is an order that the level allows. */
bool likely_order(struct strong *s);

/* ---- saturate.c ---- */

/* Adds all edges that are forced by the rules. False on a contradiction
 * (conflicting) or when time is over (out_of_time). */
bool saturate(struct strong *s);
/* Appends the edges that reads force which do not go by the order, from the
 * closure of so U wr alone. */
void append_forced(struct strong *s, enum level others);

/* ---- locks.c ---- */

void locks_list(struct strong *s);
void locks_free(struct strong *s);
/* Forced: of two locks of a key one ends before the other begins; so it does if
 * it begins before the other ends. Calls force for the locks that begin before
 * point p. */
typedef void lock_forcer(struct strong *s, uint32_t from, uint32_t to,
                         uint32_t lock);
void locks_saturate(struct strong *s, uint32_t p, lock_forcer *force);
/* Do no two of a key overlap, in the order of topo? */
bool locks_agree(const struct strong *s);
/* The end of the lock of this key that begins before point `until`. */
uint32_t lock_commit(const struct strong *s, uint32_t until, uint32_t key);

/* ---- open choices ---- */

/* One of two edges must be chosen; none is implied, none is impossible. */
struct open_choice {
	struct edge first, second; /* points only */
};
typedef bool choice_visitor(void *data, const struct open_choice *c);
/* Calls visit for every open choice of the transaction, until it returns
 * false; returns what the last call did. Of two writers of a key the choice is
 * visited at one of them only. */
bool choices_of(struct strong *s, uint32_t t, choice_visitor *visit,
                void *data);
bool lock_choices_of(struct strong *s, uint32_t t, choice_visitor *visit,
                     void *data);

/* ---- guess.c, solve.c ---- */

enum strong_answer { ANSWER_YES, ANSWER_NO, ANSWER_OPEN };

/* Decides the open choices along an order that may have been that of time; goes
 * back when this fails. YES: nothing is open any more. OPEN: it failed too
 * often; the edges are those of before. */
enum strong_answer guess(struct strong *s);
/* Why these choices cannot all be made: `core` marks transactions that prove
 * it, but for the reasons of the `roots`. */
struct proof {
	struct edge *choices;
	size_t choice_count, choice_capacity;
	uint32_t *roots; /* edges that were there before any choice */
	size_t root_count, root_capacity;
	bool *core;
};
/* The same, with somebody's advice. */
struct guide {
	/* Which edge of a choice to take first. */
	bool (*takes_first)(void *data, const struct open_choice *c);
	/* Is told of each contradiction. */
	void (*contradicted)(void *data, const struct proof *proof);
	void *data;
	unsigned patience; /* contradictions until it gives up */
};
enum strong_answer guess_guided(struct strong *s, const struct guide *guide);
/* Complete. NO: `core` receives a set of transactions that suffice. */
enum strong_answer solve(struct strong *s, bool *core);

/* All transactions, init first, in the order of their commit points in topo. */
void strong_order(const struct strong *s, uint32_t *order);

/* ---- reasons.c ---- */

/* Marks in proof->core, by transaction, those that prove the conflict: the ones
 * on its cycle and, for each forced edge there, the ones that force it. Lists
 * each choice that the proof rests on; and each of the first `root` edges,
 * whose own reasons it leaves out. */
void reasons_of_conflict(struct strong *s, size_t root, struct proof *proof);
/* Marks in `core` those that force these edges. */
void reasons_of_edges(struct strong *s, const uint32_t *edges, size_t count,
                      bool *core);
void proof_init(struct proof *p, const struct strong *s);
void proof_free(struct proof *p);

#endif
