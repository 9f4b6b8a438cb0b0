#include "axioms/points_closure.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "axioms/points.h"
#include "axioms/points_fit.h"
#include "base/memory.h"

/* Ranks of orders that are kept; finding them again is what they save. */
enum { KEPT_MOST = 1 << 18 };

/* ---- memory ---- */

/* Nothing is known of where the last transaction commits, but perhaps this. */
static void forget_place(struct points_closure *s, uint32_t middle)
{
	s->place = (struct place){ .below = NOWHERE,
		                   .middle = middle,
		                   .fails_last = NOWHERE,
		                   .fails_middle = NOWHERE };
}

struct points_closure *points_closure_new(enum level level)
{
	assert(level_has_points(level));
	struct points_closure *s = mem_take0(1, sizeof *s);
	s->level = level;
	s->points = points_new();
	s->turns = s->ordered = s->next_rank = 1;
	s->order_number = s->order_numbers = 1;
	s->first_capacity = 16;
	s->first = mem_take0(s->first_capacity, sizeof *s->first);
	s->locks = NOWHERE;
	forget_place(s, NOWHERE);
	return s;
}

void points_closure_may_give_up(struct points_closure *s)
{
	assert(s->turns == 1);
	s->gives_up = true;
	points_may_give_up(s->points);
}

void points_closure_free(struct points_closure *s)
{
	if (!s) return;
	points_free(s->points);
	free(s->log);
	free(s->first);
	free(s->holders);
	free(s->rank);
	free(s->marks);
	free(s->fits);
	free(s->commits);
	free(s->kept);
	free(s->kept_ranks);
	free(s);
}

size_t points_closure_bytes(const struct points_closure *s)
{
	return points_bytes(s->points) + s->capacity * sizeof *s->log +
	       s->mark_capacity * sizeof *s->marks +
	       s->fit_capacity * sizeof *s->fits +
	       (s->first_capacity + s->key_count) * sizeof *s->first +
	       s->kept_capacity * sizeof *s->kept +
	       s->kept_room * sizeof *s->kept_ranks +
	       (size_t)(s->rank_capacity + s->room) * sizeof *s->rank;
}

/* ---- what happens ---- */

/* Points that it needs, at most. */
static uint32_t points_of(const struct points_closure *s,
                          const struct happened *h)
{
	if (h->what == BEGINS)
		return level_has_snapshots((enum level)h->key) ? 2 : 1;
	if (h->what == READS && strength_is_beside(h->strength) &&
	    level_has_snapshots(points_level(s, h->turn)))
		return 1;
	return (h->what == GIVES_UP ||
	        (h->what == READS && h->strength < STRENGTH_SHARE)) &&
	       h->statements;
}

/* The next entry locks the key. */
static uint32_t enter_holder(struct points_closure *s, uint32_t key)
{
	if (key >= s->key_count) {
		uint32_t count = 2 * key + 16;
		s->holders = mem_grow(s->holders, count, sizeof *s->holders);
		while (s->key_count < count)
			s->holders[s->key_count++] = NOWHERE;
	}
	uint32_t previous = s->holders[key];
	s->holders[key] = s->count;
	return previous;
}

/* Room for the next entry, which is all but empty. */
static inline struct happened *append(struct points_closure *s,
                                      enum happening what)
{
	VEC_RESERVE(s->log, s->count, s->capacity);
	if (s->count + 1 >= s->fit_capacity) {
		s->fit_capacity = s->capacity + 1;
		s->fits = mem_grow(s->fits, s->fit_capacity, sizeof *s->fits);
	}
	struct happened *h = &s->log[s->count];
	h->turn = s->turns - 1;
	h->previous = NOWHERE;
	h->what = what;
	s->fits[s->count + 1] = (struct known_fits){ 0 };
	return h;
}

/* The last entry is taken back. */
static void drop_last(struct points_closure *s)
{
	const struct happened *h = &s->log[s->count - 1];
	s->count--;
	if (!points_is_lock(h)) return;
	assert(s->holders[h->key] == s->count);
	s->holders[h->key] = h->previous;
}

void points_closure_begin(struct points_closure *s, uint32_t t, own_level own)
{
	VEC_RESERVE(s->first, s->turns, s->first_capacity);
	s->first[s->turns++] = s->count;
	forget_place(s, NOWHERE);
	struct happened *h = append(s, BEGINS);
	h->source = t;
	h->key = own ? (uint32_t)own - 1 : s->level;
	h->statement = 0;
	h->strength = STRENGTH_PLAIN;
	h->joined = false;
	h->statements = level_has_statements((enum level)h->key);
	s->count++;
}

void points_closure_event(struct points_closure *s, const struct event *e)
{
	if (e->kind == EVENT_READ && e->strength != STRENGTH_PLAIN &&
	    s->locks > s->count)
		s->locks = s->count;
	struct happened *h = append(s, event_gives_up(e)         ? GIVES_UP
	                               : e->kind == EVENT_WRITE  ? WRITES
	                               : e->from == HISTORY_SELF ? READS_OWN
	                                                         : READS);
	const struct happened *last = h - 1;
	h->key = e->key;
	h->source = e->kind == EVENT_READ ? e->from : NOWHERE;
	h->strength = event_strength(e);
	h->joined = e->joined && last->what != BEGINS;
	h->statement = last->statement + !h->joined;
	h->statements = last->statements;
	if (points_is_lock(h)) h->previous = enter_holder(s, h->key);
	s->count++;
}

void points_closure_end(struct points_closure *s, bool aborted)
{
	struct happened *h = append(s, aborted ? ABORTS : COMMITS);
	h->strength = STRENGTH_PLAIN;
	h->joined = false;
	h->statements = h[-1].statements;
	s->count++;
}

static bool is_pending(const struct points_closure *s)
{
	return s->turns > 1 && s->log[s->count - 1].what < COMMITS;
}

/* ---- points ---- */

/* Makes room for so many points, or more, at which what was fed is forgotten.
 * Rows as short as can be: most of the time goes into them, and most reads are
 * at a point that is there already. */
static void lay_out(struct points_closure *s, const struct closure *c,
                    uint32_t points)
{
	uint32_t words = BITS_WORDS(points + 1);
	if (c->n <= s->room && points <= s->point_room) return;
	if (s->room < c->n) s->room = c->n;
	if (points > s->point_room)
		s->point_room = 64 * (words + words / 2) - 1;
	s->commits = mem_grow(s->commits, s->room, sizeof *s->commits);
	points_clear(s->points, s->room, s->point_room);
	s->fed = 0;
}

static void take_writes(const struct points_closure *s, uint32_t turn)
{
	for (uint32_t i = s->first[turn]; i < points_turn_end(s, turn); i++) {
		const struct happened *h = &s->log[i];
		if (h->what == WRITES)
			points_write(s->points, h->key, h->strength,
			             h->statement);
	}
}

/* What is written under levels without statements matters only once it is
 * there to be read. */
static void take(const struct points_closure *s, const struct happened *h)
{
	struct points *p = s->points;
	bool statements = h->statements;
	switch (h->what) {
	case BEGINS: break;
	case READS:
		points_read(p, h->key, h->source, h->strength, h->statement);
		break;
	case WRITES:
		if (statements)
			points_write(p, h->key, h->strength, h->statement);
		else
			points_will_write(p);
		break;
	case READS_OWN:
		if (h->strength != STRENGTH_PLAIN)
			points_lock(p, h->key, h->strength, h->statement);
		break;
	case GIVES_UP: points_give_up(p, h->key, h->statement); break;
	case COMMITS:
		if (!statements) take_writes(s, h->turn);
		points_end(p);
		break;
	case ABORTS:
		points_abort(p);
		points_end(p);
		break;
	}
}

/* When the next entry has been fed: its own, and one that is tried, and where
 * locks are given up. */
static uint32_t points_needed(const struct points_closure *s)
{
	uint32_t more = s->fed < s->count ? points_of(s, &s->log[s->fed]) : 0;
	return points_count(s->points) + more + 1 + s->gives_up;
}

/* The entries before this one. */
static void feed(struct points_closure *s, const struct closure *c,
                 uint32_t end)
{
	if (s->mark_capacity < s->capacity) {
		s->mark_capacity = s->capacity;
		s->marks = mem_grow(s->marks, s->capacity, sizeof *s->marks);
	}
	while (s->fed < end) {
		lay_out(s, c, points_needed(s));
		const struct happened *h = &s->log[s->fed];
		s->marks[s->fed++] = points_mark(s->points);
		if (h->what == BEGINS)
			points_begin(s->points, h->source, (enum level)h->key,
			             false, closure_row(c, c->so, h->source),
			             c->words);
		else
			take(s, h);
	}
}

/* The order changes, to one that had this number, or (0) a new one: of the last
 * transaction only this is known. */
static void take_order(struct points_closure *s, const struct closure *c,
                       uint64_t number, uint32_t next_rank, uint32_t middle)
{
	s->order_number = number ? number : ++s->order_numbers;
	s->next_rank = next_rank;
	s->ordered = c->count - 1;
	forget_place(s, middle);
}

/* The order is that of s->commits; often it has not changed, and what is known
 * of the last transaction's place stays. */
static void adopt(struct points_closure *s, const struct closure *c)
{
	uint32_t last = c->order[c->count - 1], changed = 0;
	assert(s->commits[0] == HISTORY_INIT);
	for (uint32_t i = 1; i < s->turns; i++) {
		uint32_t t = s->commits[i];
		changed += t != last && s->rank[t] != i;
		s->rank[t] = i;
	}
	if (changed || s->ordered + 1 != c->count || s->next_rank != s->turns ||
	    s->place.middle != s->rank[last])
		take_order(s, c, 0, s->turns, s->rank[last]);
}

/* Keeps the order of s->commits for the next read; that at hand if the source
 * is NOWHERE. */
static void keep_order(struct points_closure *s, const struct closure *c,
                       uint32_t source)
{
	uint32_t *ranks, next_rank = s->next_rank, middle = s->place.below;
	uint64_t number = s->order_number;
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
		number = ++s->order_numbers;
		for (uint32_t i = 1; i < s->turns; i++)
			ranks[s->commits[i]] = i;
		middle = ranks[c->order[c->count - 1]];
	}
	s->kept_end += c->n;
	VEC_RESERVE(s->kept, s->kept_count, s->kept_capacity);
	s->kept[s->kept_count++] =
		(struct kept_order){ s->count, source, next_rank,
		                     middle,   number, s->kept_end };
}

/* Of the entries from this one on. */
static void drop_orders(struct points_closure *s, uint32_t at)
{
	while (s->kept_count && s->kept[s->kept_count - 1].at >= at)
		s->kept_count--;
	s->kept_end = s->kept_count ? s->kept[s->kept_count - 1].end : 0;
}

/* Is there a line, the pending transaction holding its locks to the end, or, if
 * it may give them up, no longer than now? If so, its order is in s->commits.
 */
static bool has_line(struct points_closure *s)
{
	/* Under prc it holds them so as it is. */
	bool ends = is_pending(s) &&
	            (s->gives_up || !points_has_statements(s, s->turns - 1));
	struct points_mark m = points_mark(s->points);
	if (ends) {
		if (s->gives_up) points_give_up_all(s->points, NOWHERE);
		points_abort(s->points);
		points_end(s->points);
	}
	bool found = points_allow(s->points);
	if (found) points_commits(s->points, s->commits);
	if (ends) points_back(s->points, &m);
	return found;
}

static bool mend(struct points_closure *s, const struct closure *c)
{
	feed(s, c, s->count);
	if (!has_line(s)) return false;
	adopt(s, c);
	s->ordered = c->count - is_pending(s);
	return true;
}

/* ---- the order ---- */

static void make_ranks(struct points_closure *s, const struct closure *c)
{
	if (c->n <= s->rank_capacity) return;
	s->rank = mem_grow(s->rank, c->n, sizeof *s->rank);
	s->rank_capacity = c->n;
	s->rank[HISTORY_INIT] = 0;
}

/* What is known of where it ends, if the last transaction commits there. */
static struct known_fit *known_at(const struct points_closure *s, uint32_t end,
                                  uint32_t below)
{
	struct known_fits *k = &s->fits[end];
	return below < NOWHERE ? &k->middle : &k->last;
}

/* Where the last transaction is, as far as it was looked at, is known. */
static void note_fit(struct points_closure *s)
{
	const struct place *p = &s->place;
	assert(p->fit.end <= s->count);
	*known_at(s, p->fit.end, p->below) =
		(struct known_fit){ p->fit, p->below, s->order_number };
}

/* Where it is, as far as that is known in this order. */
static struct fit recall_fit(const struct points_closure *s,
                             const struct closure *c, const struct view *v)
{
	uint32_t turn = s->turns - 1;
	for (uint32_t end = s->count; end > s->first[turn]; end--) {
		const struct known_fit *k = known_at(s, end, v->below);
		if (k->order == s->order_number && k->below == v->below)
			return k->fit;
	}
	return points_fit_of_begin(s, c, v, turn);
}

/* Has the last transaction a place in the order, if it commits there? If not,
 * *fails is the log entry that leaves none. */
static bool fits_at(struct points_closure *s, const struct closure *c,
                    uint32_t below, uint32_t *fails)
{
	uint32_t turn = s->turns - 1, old;
	struct view v = { turn, below, NOWHERE };
	bool fine;
	if (*fails < s->count) return false;
	if (s->place.below != below || s->place.fit.end <= s->first[turn])
		s->place.fit = recall_fit(s, c, &v);
	old = s->place.fit.end;
	s->place.below = below;
	fine = points_fit(s, c, &v, turn, &s->place.fit);
	if (fine && (below == NOWHERE || points_others_fit(s, c, below, old))) {
		note_fit(s);
		return true;
	}
	*fails = fine ? s->count - 1 : s->place.fit.end;
	if (*fails >= s->count) *fails = s->count - 1;
	s->place.fit.end = 0;
	s->place.below = NOWHERE;
	return false;
}

/* Has the last transaction a place in the order: one where it commits last, or
 * the one that it had when the order was found? */
static bool last_fits(struct points_closure *s, const struct closure *c)
{
	return fits_at(s, c, NOWHERE, &s->place.fails_last) ||
	       (s->place.middle < NOWHERE &&
	        fits_at(s, c, s->place.middle, &s->place.fails_middle));
}

/* Takes an order that was kept when the last transaction's reads were asked
 * for; false if there is none. */
static bool recall(struct points_closure *s, const struct closure *c)
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
		take_order(s, c, k->number, k->next_rank, k->middle);
		return true;
	}
	return false;
}

/* In the order at hand, or one that was kept? */
static bool last_fits_some(struct points_closure *s, const struct closure *c)
{
	return last_fits(s, c) || (recall(s, c) && last_fits(s, c));
}

/* Has the transaction at this turn a place behind those before it? */
static bool commits_last(const struct points_closure *s,
                         const struct closure *c, uint32_t turn)
{
	struct view v = { turn, NOWHERE, NOWHERE };
	struct fit f = points_fit_of_begin(s, c, &v, turn);
	return points_fit(s, c, &v, turn, &f);
}

/* All that have ended get a place in the order. */
static bool line_up(struct points_closure *s, const struct closure *c)
{
	uint32_t end = c->count - is_pending(s);
	assert(s->turns == c->count);
	make_ranks(s, c);
	for (; s->ordered < end; s->ordered++) {
		bool last = s->ordered + 1 == c->count;
		if (s->next_rank > NOWHERE / 2 ||
		    !(last ? last_fits_some(s, c)
		           : commits_last(s, c, s->ordered)))
			return mend(s, c);
		s->rank[c->order[s->ordered]] = last && s->place.below < NOWHERE
		                                        ? s->place.below
		                                        : s->next_rank++;
	}
	return true;
}

/* ---- questions ---- */

/* May the pending transaction read the key from there, as the points say? If
 * so, an order with this read is in s->commits. */
static bool try_writer(struct points_closure *s, const struct event *read,
                       uint32_t source)
{
	struct points *p = s->points;
	struct points_mark m = points_mark(p);
	points_read(p, read->key, source, read->strength,
	            points_statement(s, read));
	bool allowed = !points_have_failed(p) && has_line(s);
	points_back(p, &m);
	return allowed;
}

/* Of these writers, drops those that a later one hides for sure, by the points
 * of what was fed, which is at least that the pending transaction has begun. */
static void refuse(struct points_closure *s, const struct closure *c,
                   const struct event *read, word *valid)
{
	const word *writers = c->writers + (size_t)read->key * c->words;
	word *sources = closure_row(c, c->scratch, c->n);
	bits_zero(sources, c->words);
	for (uint32_t i = s->fed; i < s->count; i++)
		if (s->log[i].what == READS)
			bits_add(sources, s->log[i].source);
	points_saturate(s->points);
	points_refuse(s->points, writers, read->strength, sources, valid,
	              c->words);
}

/* Of these writers, drops those that the points refuse. Others need none: the
 * order stays as it is if there are some. */
static void try_writers(struct points_closure *s, const struct closure *c,
                        const struct event *read, bool others, word *valid)
{
	bool adopts = !others;
	bool statements = points_has_statements(s, s->turns - 1);
	bool plain = read->strength < STRENGTH_SHARE;
	uint32_t begun = s->first[s->turns - 1] + 1;
	drop_orders(s, s->count);
	if (statements && plain && !read->joined) {
		/* Most are refused, without the points of its reads. */
		feed(s, c, begun);
		refuse(s, c, read, valid);
		if (bits_empty(valid, c->words)) return;
	}
	feed(s, c, s->count);
	if (!statements || !plain || !read->joined) refuse(s, c, read, valid);
	if (others && !bits_empty(valid, c->words)) keep_order(s, c, NOWHERE);
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

/* The lemma, and that of locks under other levels: does a read of what nobody
 * but init has written ask for nothing? */
static bool asks_nothing(const struct points_closure *s,
                         const struct closure *c, const struct event *read)
{
	const word *writers = c->writers + (size_t)read->key * c->words;
	bool plain = read->strength == STRENGTH_PLAIN;
	bool statements = level_has_statements(s->level) || c->statement_owns;
	if (bits_next(writers, 1, c->words) < 64 * c->words) return false;
	if (!statements || (plain && s->locks > s->count)) return true;
	return plain && !points_has_statements(s, s->turns - 1);
}

void points_closure_restrict(struct points_closure *s, const struct closure *c,
                             const struct event *read, word *valid)
{
	assert(is_pending(s));
	word fitting[1], *row = fitting;
	if (asks_nothing(s, c, read)) return;
	if (!line_up(s, c)) {
		bits_zero(valid, c->words);
		return;
	}
	if (c->words > 1) row = mem_take(c->words * sizeof *row);
	bits_zero(row, c->words);
	if (last_fits_some(s, c) ||
	    (s->place.middle == NOWHERE && mend(s, c) && last_fits(s, c)))
		points_fitting_writers(s, c, read, valid, row);
	for (unsigned w = 0; w < c->words; w++) valid[w] &= ~row[w];
	if (points_has_statements(s, s->turns - 1) && s->locks > s->count)
		drop_hidden(c, read->key, valid);
	if (!bits_empty(valid, c->words)) {
		try_writers(s, c, read, !bits_empty(row, c->words), valid);
		bits_or(valid, row, c->words);
	} else {
		bits_copy(valid, row, c->words);
	}
	if (c->words > 1) free(row);
}

bool points_closure_allows(struct points_closure *s, const struct closure *c)
{
	if (!line_up(s, c)) return false;
	return !is_pending(s) || last_fits_some(s, c) || mend(s, c);
}

/* ---- going back ---- */

void points_closure_rewind(struct points_closure *s, uint32_t count,
                           uint32_t events, bool pending)
{
	uint32_t end = count < s->turns ? s->first[count] : s->count;
	if (pending) end = s->first[count - 1] + 1 + events;
	assert(count <= s->turns && end <= s->count);
	if (!pending || count < s->turns) forget_place(s, NOWHERE);
	if (s->place.fails_last >= end) s->place.fails_last = NOWHERE;
	if (s->place.fails_middle >= end) s->place.fails_middle = NOWHERE;
	if (s->place.fit.end > end) s->place.fit.end = 0;
	while (s->count > end) drop_last(s);
	s->turns = count;
	if (s->locks >= end) s->locks = NOWHERE;
	if (s->ordered > count - pending) s->ordered = count - pending;
	/* What was read there is asked for no more, or from another one. */
	drop_orders(s, end + 1);
	if (s->fed <= end) return;
	s->fed = end;
	points_back(s->points, &s->marks[end]);
}
