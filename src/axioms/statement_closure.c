#include "axioms/statement_closure.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "axioms/points.h"
#include "base/memory.h"

#define NOWHERE UINT32_MAX

/* Ranks of orders that are kept; finding them again is what they save. */
enum { KEPT_MOST = 1 << 18 };

enum happening { BEGINS, READS, WRITES, READS_OWN, COMMITS, ABORTS };

/* One thing that happened; of a transaction that begins, `source` is its
 * number. */
struct happened {
	uint32_t key, source;
	uint32_t statement; /* in its transaction */
	enum happening what : 8;
	enum strength strength : 8;
	bool joined;
};

/* Where the last statement of a transaction that was looked at up to log entry
 * `end` is in the order: behind at least `low` ranks, and at most `high`. Its
 * next one is behind all that held what it has locked. */
struct fit {
	uint32_t end, low, high, locked;
};

/* An order of the ended transactions in which the pending one fits if the read
 * at this entry of the log is from there; or (NOWHERE) from one that needs no
 * other order than that. */
struct kept_order {
	uint32_t at, source;
	uint32_t next_rank, middle;
	size_t end; /* of its ranks, in kept_ranks */
};

struct statement_closure {
	enum level level;
	struct happened *log;
	uint32_t count, capacity;
	uint32_t *first; /* by turn: where it begins in the log */
	uint32_t turns, first_capacity;
	uint32_t locks;  /* the first entry that locks what it reads; or more
	                  * than there are */
	uint32_t aborts; /* the first aborted one that wrote, likewise */
	/* The order: ranks of ended transactions by number, for those of the
	 * first `ordered` turns. */
	uint32_t *rank;
	uint32_t rank_capacity, ordered, next_rank;
	struct fit fit;  /* of the last transaction */
	uint32_t below;  /* where that commits: at this rank, or (NOWHERE)
	                  * behind all others */
	uint32_t middle; /* where it could, or NOWHERE */
	/* The log entries that leave it no place there, or NOWHERE. */
	uint32_t fails_last, fails_middle;
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

/* ---- memory ---- */

/* Nothing is known of where the last transaction commits, but perhaps this. */
static void forget_place(struct statement_closure *s, uint32_t middle)
{
	s->below = s->fails_last = s->fails_middle = NOWHERE;
	s->middle = middle;
	s->fit.end = 0;
}

struct statement_closure *statement_closure_new(enum level level)
{
	assert(level_has_statements(level));
	struct statement_closure *s = mem_take0(1, sizeof *s);
	s->level = level;
	s->points = points_new();
	s->turns = s->ordered = s->next_rank = 1;
	s->first_capacity = 16;
	s->first = mem_take0(s->first_capacity, sizeof *s->first);
	s->locks = s->aborts = NOWHERE;
	forget_place(s, NOWHERE);
	return s;
}

void statement_closure_free(struct statement_closure *s)
{
	if (!s) return;
	points_free(s->points);
	free(s->log);
	free(s->first);
	free(s->rank);
	free(s->marks);
	free(s->commits);
	free(s->kept);
	free(s->kept_ranks);
	free(s);
}

size_t statement_closure_bytes(const struct statement_closure *s)
{
	return points_bytes(s->points) + s->capacity * sizeof *s->log +
	       s->mark_capacity * sizeof *s->marks +
	       s->first_capacity * sizeof *s->first +
	       s->kept_capacity * sizeof *s->kept +
	       s->kept_room * sizeof *s->kept_ranks +
	       (size_t)(s->rank_capacity + s->room) * sizeof *s->rank;
}

/* ---- what happens ---- */

static void append(struct statement_closure *s, struct happened h)
{
	VEC_RESERVE(s->log, s->count, s->capacity);
	s->log[s->count++] = h;
}

void statement_closure_begin(struct statement_closure *s, uint32_t t)
{
	VEC_RESERVE(s->first, s->turns, s->first_capacity);
	s->first[s->turns++] = s->count;
	forget_place(s, NOWHERE);
	append(s, (struct happened){ .what = BEGINS, .source = t });
}

void statement_closure_event(struct statement_closure *s, const struct event *e)
{
	const struct happened *last = &s->log[s->count - 1];
	bool joined = e->joined && last->what != BEGINS;
	if (e->kind == EVENT_READ && e->strength != STRENGTH_PLAIN &&
	    s->locks > s->count)
		s->locks = s->count;
	append(s, (struct happened){
			  .key = e->key,
			  .source = e->kind == EVENT_READ ? e->from : NOWHERE,
			  .statement = last->statement + !joined,
			  .what = e->kind == EVENT_WRITE    ? WRITES
	                          : e->from == HISTORY_SELF ? READS_OWN
	                                                    : READS,
			  .strength = event_strength(e),
			  .joined = joined });
}

void statement_closure_end(struct statement_closure *s, bool aborted)
{
	for (uint32_t i = s->first[s->turns - 1]; aborted && i < s->count; i++)
		if (s->log[i].what == WRITES && s->aborts > s->count)
			s->aborts = s->count;
	append(s, (struct happened){ .what = aborted ? ABORTS : COMMITS });
}

static bool is_pending(const struct statement_closure *s)
{
	return s->turns > 1 && s->log[s->count - 1].what < COMMITS;
}

/* ---- points ---- */

/* Makes room, at which what was fed is forgotten. */
static void lay_out(struct statement_closure *s, const struct closure *c)
{
	uint32_t points = points_of_transaction(0) * (s->turns + 1) + s->count;
	if (c->n <= s->room && points <= s->point_room) return;
	if (s->room < c->n) s->room = c->n;
	if (s->point_room < points) s->point_room = points + points / 2;
	s->commits = mem_grow(s->commits, s->room, sizeof *s->commits);
	points_clear(s->points, s->room, s->point_room);
	s->fed = 0;
}

static void take(struct points *p, const struct happened *h)
{
	switch (h->what) {
	case READS:
		points_read(p, h->key, h->source, h->strength, h->statement);
		break;
	case WRITES: points_write(p, h->key, h->strength, h->statement); break;
	case READS_OWN:
		if (h->strength != STRENGTH_PLAIN)
			points_lock(p, h->key, h->strength, h->statement);
		break;
	case ABORTS:
		points_abort(p);
		points_end(p);
		break;
	case COMMITS: points_end(p); break;
	case BEGINS: break;
	}
}

static void feed(struct statement_closure *s, const struct closure *c)
{
	lay_out(s, c);
	if (s->mark_capacity < s->capacity) {
		s->mark_capacity = s->capacity;
		s->marks = mem_grow(s->marks, s->capacity, sizeof *s->marks);
	}
	while (s->fed < s->count) {
		const struct happened *h = &s->log[s->fed];
		s->marks[s->fed++] = points_mark(s->points);
		if (h->what == BEGINS)
			points_begin(s->points, h->source, s->level, false,
			             closure_row(c, c->so, h->source),
			             c->words);
		else
			take(s->points, h);
	}
}

/* The order changes: of the last transaction only this is known. */
static void take_order(struct statement_closure *s, const struct closure *c,
                       uint32_t next_rank, uint32_t middle)
{
	s->next_rank = next_rank;
	s->ordered = c->count - 1;
	forget_place(s, middle);
}

/* The order is that of s->commits. */
static void adopt(struct statement_closure *s, const struct closure *c)
{
	assert(s->commits[0] == HISTORY_INIT);
	for (uint32_t i = 1; i < s->turns; i++) s->rank[s->commits[i]] = i;
	take_order(s, c, s->turns, s->rank[c->order[c->count - 1]]);
}

/* Keeps the order of s->commits for the next read; that at hand if the source
 * is NOWHERE. */
static void keep_order(struct statement_closure *s, const struct closure *c,
                       uint32_t source)
{
	uint32_t *ranks, next_rank = s->next_rank, middle = s->below;
	if (s->kept_end + c->n > KEPT_MOST) return;
	if (s->kept_room < s->kept_end + c->n) {
		s->kept_room = 2 * (s->kept_end + c->n);
		s->kept_ranks = mem_grow(s->kept_ranks, s->kept_room,
		                         sizeof *s->kept_ranks);
	}
	ranks = s->kept_ranks + s->kept_end;
	memcpy(ranks, s->rank, c->n * sizeof *ranks);
	if (source != NOWHERE) {
		next_rank = s->turns;
		for (uint32_t i = 1; i < s->turns; i++)
			ranks[s->commits[i]] = i;
		middle = ranks[c->order[c->count - 1]];
	}
	s->kept_end += c->n;
	VEC_RESERVE(s->kept, s->kept_count, s->kept_capacity);
	s->kept[s->kept_count++] =
		(struct kept_order){ s->count, source, next_rank, middle,
		                     s->kept_end };
}

/* Of the entries from this one on. */
static void drop_orders(struct statement_closure *s, uint32_t at)
{
	while (s->kept_count && s->kept[s->kept_count - 1].at >= at)
		s->kept_count--;
	s->kept_end = s->kept_count ? s->kept[s->kept_count - 1].end : 0;
}

/* Is there a line, the pending transaction holding its locks to the end? If so,
 * its order is in s->commits. */
static bool has_line(struct statement_closure *s)
{
	struct points_mark m = points_mark(s->points);
	bool pending = is_pending(s);
	if (pending) {
		points_abort(s->points);
		points_end(s->points);
	}
	bool found = points_allow(s->points);
	if (found) points_commits(s->points, s->commits);
	if (pending) points_back(s->points, &m);
	return found;
}

static bool mend(struct statement_closure *s, const struct closure *c)
{
	feed(s, c);
	if (!has_line(s)) return false;
	adopt(s, c);
	s->ordered = c->count - is_pending(s);
	return true;
}

/* ---- the order ---- */

/* Where a transaction commits that is looked at: at the rank `below`, or
 * (NOWHERE) last. The others are those at the first `turns` turns, and, if
 * `last` is a rank, the last one of all with what it has written, at that rank.
 */
struct view {
	uint32_t turns, below, last;
};

static bool last_writes(const struct statement_closure *s, uint32_t key)
{
	for (uint32_t i = s->first[s->turns - 1]; i < s->count; i++)
		if (s->log[i].what == WRITES && s->log[i].key == key)
			return true;
	return false;
}

/* The first rank of a writer of the key above this one. */
static uint32_t next_version(const struct statement_closure *s,
                             const struct closure *c, const struct view *v,
                             uint32_t key, uint32_t rank)
{
	const word *writers = c->writers + (size_t)key * c->words;
	uint32_t next = NOWHERE;
	BITS_EACH(u, writers, c->words)
		if (c->position[u] < v->turns && s->rank[u] > rank &&
		    s->rank[u] < next)
			next = s->rank[u];
	if (v->last < next && v->last > rank && last_writes(s, key))
		next = v->last;
	return next;
}

/* The last rank below the view's of those who have aborted and locked the key;
 * 0 if nobody has. */
static uint32_t aborted_rank(const struct statement_closure *s,
                             const struct closure *c, const struct view *v,
                             uint32_t key)
{
	uint32_t last = 0;
	for (uint32_t i = 1; i < v->turns; i++) {
		uint32_t end = s->first[i + 1], rank = s->rank[c->order[i]];
		if (s->log[end - 1].what != ABORTS || rank < last ||
		    rank >= v->below)
			continue;
		for (uint32_t k = s->first[i]; k < end; k++)
			if (s->log[k].what == WRITES && s->log[k].key == key)
				last = rank;
	}
	return last;
}

/* The last rank below the view's of those who had the key locked. */
static uint32_t holder_rank(const struct statement_closure *s,
                            const struct closure *c, const struct view *v,
                            uint32_t key)
{
	const word *writers = c->writers + (size_t)key * c->words;
	uint32_t last = 0;
	BITS_EACH(u, writers, c->words)
		if (c->position[u] < v->turns && s->rank[u] > last &&
		    s->rank[u] < v->below)
			last = s->rank[u];
	if (s->aborts < s->count) {
		uint32_t other = aborted_rank(s, c, v, key);
		if (other > last) last = other;
	}
	if (v->last < v->below && v->last > last && last_writes(s, key))
		last = v->last;
	return last;
}

static struct fit fit_of_begin(const struct statement_closure *s,
                               const struct closure *c, const struct view *v,
                               uint32_t turn)
{
	const struct closure_block *b = &c->blocks[turn];
	uint32_t end = v->below < NOWHERE ? v->below : s->next_rank;
	return (struct fit){ .end = s->first[turn] + 1,
		             .low = b->after_all ? end
		                                 : s->rank[b->previous] + 1,
		             .high = v->below };
}

/* A statement begins. */
static void start_statement(struct fit *f, uint32_t below)
{
	if (f->low < f->locked) f->low = f->locked;
	f->high = below;
}

/* The statement reads a version of this rank, the next one having the other. */
static void narrow(struct fit *f, uint32_t rank, uint32_t next)
{
	if (f->low <= rank) f->low = rank + 1;
	if (f->high > next) f->high = next;
}

/* Does the transaction at this turn, with what it did so far, fit into the
 * order? */
static bool fits(const struct statement_closure *s, const struct closure *c,
                 const struct view *v, uint32_t turn, struct fit *f)
{
	uint32_t end = turn + 1 < s->turns ? s->first[turn + 1] : s->count;
	for (; f->end < end; f->end++) {
		const struct happened *h = &s->log[f->end];
		if (!h->joined) start_statement(f, v->below);
		if (h->what == READS) {
			uint32_t rank = s->rank[h->source];
			narrow(f, rank, next_version(s, c, v, h->key, rank));
			if (f->low > f->high) return false;
		} else if (h->what == WRITES) {
			uint32_t rank = holder_rank(s, c, v, h->key);
			if (f->locked <= rank) f->locked = rank + 1;
		}
	}
	return f->locked <= v->below;
}

static void make_ranks(struct statement_closure *s, const struct closure *c)
{
	if (c->n <= s->rank_capacity) return;
	s->rank = mem_grow(s->rank, c->n, sizeof *s->rank);
	s->rank_capacity = c->n;
	s->rank[HISTORY_INIT] = 0;
}

/* Has the transaction at this turn to do with what the last one has written? */
static bool meets_last(const struct statement_closure *s, uint32_t turn)
{
	for (uint32_t i = s->first[turn]; i < s->first[turn + 1]; i++)
		if ((s->log[i].what == READS || s->log[i].what == WRITES) &&
		    last_writes(s, s->log[i].key))
			return true;
	return false;
}

/* If the last transaction commits at this rank, do those behind fit still? */
static bool others_fit(const struct statement_closure *s,
                       const struct closure *c, uint32_t rank)
{
	for (uint32_t i = 1; i + 1 < s->turns; i++) {
		uint32_t below = s->rank[c->order[i]];
		struct view v = { s->turns - 1, below, rank };
		struct fit f;
		if (below < rank || !meets_last(s, i)) continue;
		f = fit_of_begin(s, c, &v, i);
		if (!fits(s, c, &v, i, &f)) return false;
	}
	return true;
}

/* Has the last transaction a place in the order, if it commits there? If not,
 * *fails is the log entry that leaves none. */
static bool fits_at(struct statement_closure *s, const struct closure *c,
                    uint32_t below, uint32_t *fails)
{
	uint32_t turn = s->turns - 1, old = s->fit.end;
	struct view v = { turn, below, NOWHERE };
	bool writes = false, fine;
	if (*fails < s->count) return false;
	if (s->below != below || old <= s->first[turn]) {
		s->fit = fit_of_begin(s, c, &v, turn);
		old = s->first[turn];
	}
	s->below = below;
	fine = fits(s, c, &v, turn, &s->fit);
	for (uint32_t i = old; fine && below < NOWHERE && i < s->count; i++)
		writes |= s->log[i].what == WRITES;
	if (fine && (!writes || others_fit(s, c, below))) return true;
	*fails = fine ? s->count - 1 : s->fit.end;
	if (*fails >= s->count) *fails = s->count - 1;
	s->fit.end = 0;
	s->below = NOWHERE;
	return false;
}

/* Has the last transaction a place in the order: one where it commits last, or
 * the one that it had when the order was found? */
static bool last_fits(struct statement_closure *s, const struct closure *c)
{
	if (s->locks < s->count) return false;
	return fits_at(s, c, NOWHERE, &s->fails_last) ||
	       (s->middle < NOWHERE &&
	        fits_at(s, c, s->middle, &s->fails_middle));
}

/* Takes an order that was kept when the last transaction's reads were asked
 * for; false if there is none. */
static bool recall(struct statement_closure *s, const struct closure *c)
{
	for (uint32_t i = s->kept_count; i-- > 0;) {
		const struct kept_order *k = &s->kept[i];
		size_t first = i ? s->kept[i - 1].end : 0;
		if (k->at < s->first[s->turns - 1]) return false;
		if (k->at >= s->count || s->log[k->at].what != READS ||
		    (k->source != NOWHERE && k->source != s->log[k->at].source))
			continue;
		memcpy(s->rank, s->kept_ranks + first,
		       (k->end - first) * sizeof *s->rank);
		take_order(s, c, k->next_rank, k->middle);
		return true;
	}
	return false;
}

/* In the order at hand, or one that was kept? */
static bool last_fits_some(struct statement_closure *s, const struct closure *c)
{
	return last_fits(s, c) || (recall(s, c) && last_fits(s, c));
}

/* All that have ended get a place in the order. */
static bool line_up(struct statement_closure *s, const struct closure *c)
{
	uint32_t end = c->count - is_pending(s);
	assert(s->turns == c->count);
	make_ranks(s, c);
	for (; s->ordered < end; s->ordered++) {
		bool last = s->ordered + 1 == c->count;
		struct view v = { s->ordered, NOWHERE, NOWHERE };
		struct fit f = fit_of_begin(s, c, &v, s->ordered);
		if (s->locks < s->count || s->next_rank > NOWHERE / 2 ||
		    !(last ? last_fits_some(s, c)
		           : fits(s, c, &v, s->ordered, &f)))
			return mend(s, c);
		s->rank[c->order[s->ordered]] =
			last && s->below < NOWHERE ? s->below : s->next_rank++;
	}
	s->fit.end = is_pending(s) ? s->fit.end : 0;
	return true;
}

/* ---- questions ---- */

/* Those of the writers that need no look at the points. */
static void fitting_writers(struct statement_closure *s,
                            const struct closure *c, const struct event *read,
                            const word *asked, word *out)
{
	const word *writers = c->writers + (size_t)read->key * c->words;
	uint32_t turn = s->turns - 1, oldest = 0;
	struct fit at = s->fit;
	if (!read->joined) start_statement(&at, s->below);
	bits_zero(out, c->words);
	if (at.low > at.high) return;
	/* The last version before the earliest point, and later ones. */
	BITS_EACH(u, writers, c->words)
		if (c->position[u] < turn && s->rank[u] < at.low &&
		    s->rank[u] >= oldest)
			oldest = s->rank[u];
	BITS_EACH(u, asked, c->words) {
		uint32_t rank = s->rank[u];
		assert(bits_has(writers, u) && c->position[u] < turn);
		if (rank >= oldest && rank < at.high) bits_add(out, u);
	}
}

/* May the pending transaction read the key from there, as the points say? If
 * so, an order with this read is in s->commits. */
static bool try_writer(struct statement_closure *s, const struct event *read,
                       uint32_t source)
{
	struct points *p = s->points;
	struct points_mark m = points_mark(p);
	const struct happened *last = &s->log[s->count - 1];
	bool joined = read->joined && last->what != BEGINS;
	points_read(p, read->key, source, read->strength,
	            last->statement + !joined);
	bool allowed = has_line(s);
	points_back(p, &m);
	return allowed;
}

/* Of these writers, drops those that the points refuse. Others need none: the
 * order stays as it is if there are some. */
static void try_writers(struct statement_closure *s, const struct closure *c,
                        const struct event *read, bool others, word *valid)
{
	const word *writers = c->writers + (size_t)read->key * c->words;
	bool adopts = !others;
	feed(s, c);
	drop_orders(s, s->count);
	if (others) keep_order(s, c, NOWHERE);
	points_saturate(s->points);
	if (read->strength < STRENGTH_SHARE && !read->joined)
		points_refuse(s->points, writers, valid, c->words);
	BITS_EACH(u, valid, c->words) {
		if (!try_writer(s, read, u)) {
			bits_drop(valid, u);
		} else if (adopts) {
			adopt(s, c);
			adopts = false;
		} else {
			keep_order(s, c, u);
		}
	}
}

/* Drops those writers that a later one hides: one that precedes the pending
 * transaction in so U wr. */
static void drop_hidden(const struct closure *c, uint32_t key, word *valid)
{
	const word *writers = c->writers + (size_t)key * c->words;
	const word *past = closure_row(c, c->past, c->order[c->count - 1]);
	BITS_EACH(u, writers, c->words) {
		const word *older = closure_row(c, c->past, u);
		if (!bits_has(past, u)) continue;
		for (unsigned w = 0; w < c->words; w++) valid[w] &= ~older[w];
	}
}

void statement_closure_restrict(struct statement_closure *s,
                                const struct closure *c,
                                const struct event *read, word *valid)
{
	assert(is_pending(s));
	word fitting[1], *row = fitting;
	const word *writers = c->writers + (size_t)read->key * c->words;
	bool plain = read->strength == STRENGTH_PLAIN && s->locks > s->count;
	/* The lemma: nobody but init has written it. */
	if (plain && bits_next(writers, 1, c->words) == 64 * c->words) return;
	if (!line_up(s, c)) {
		bits_zero(valid, c->words);
		return;
	}
	if (c->words > 1) row = mem_take(c->words * sizeof *row);
	bits_zero(row, c->words);
	if (plain && (last_fits_some(s, c) ||
	              (s->middle == NOWHERE && mend(s, c) && last_fits(s, c))))
		fitting_writers(s, c, read, valid, row);
	for (unsigned w = 0; w < c->words; w++) valid[w] &= ~row[w];
	if (s->locks > s->count) drop_hidden(c, read->key, valid);
	if (!bits_empty(valid, c->words)) {
		try_writers(s, c, read, !bits_empty(row, c->words), valid);
		bits_or(valid, row, c->words);
	} else {
		bits_copy(valid, row, c->words);
	}
	if (c->words > 1) free(row);
}

bool statement_closure_allows(struct statement_closure *s,
                              const struct closure *c)
{
	if (!line_up(s, c)) return false;
	return !is_pending(s) || last_fits_some(s, c) || mend(s, c);
}

/* ---- going back ---- */

void statement_closure_rewind(struct statement_closure *s, uint32_t count,
                              uint32_t events, bool pending)
{
	uint32_t end = count < s->turns ? s->first[count] : s->count;
	if (pending) end = s->first[count - 1] + 1 + events;
	assert(count <= s->turns && end <= s->count);
	if (!pending || count < s->turns) forget_place(s, NOWHERE);
	if (s->fails_last >= end) s->fails_last = NOWHERE;
	if (s->fails_middle >= end) s->fails_middle = NOWHERE;
	s->turns = count;
	s->count = end;
	if (s->locks >= end) s->locks = NOWHERE;
	if (s->aborts >= end) s->aborts = NOWHERE;
	if (s->ordered > count - pending) s->ordered = count - pending;
	if (s->fit.end > end) s->fit.end = 0;
	/* What was read there is asked for no more, or from another one. */
	drop_orders(s, end + 1);
	if (s->fed <= end) return;
	s->fed = end;
	points_back(s->points, &s->marks[end]);
}
