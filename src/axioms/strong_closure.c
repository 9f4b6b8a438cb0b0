#include "axioms/strong_closure.h"

#include <stdlib.h>

#include "axioms/parallel_snapshot.h"
#include "axioms/strong_line.h"
#include "base/memory.h"

#define BY_SHAPE(s, function, ...)                                   \
	((s)->h.words > 1 ? function((s)->h, s, __VA_ARGS__)         \
	 : (s)->snapshots ? function(shape_of(1, 2), s, __VA_ARGS__) \
	                  : function(shape_of(1, 1), s, __VA_ARGS__))

/* ---- memory ---- */

struct strong_closure *strong_closure_new(enum level level)
{
	assert(level_needs_order(level));
	struct strong_closure *s = mem_take0(1, sizeof *s);
	s->level = level;
	s->snapshots = level_has_snapshots(level);
	s->exclusive = level_orders_rivals(level);
	s->visible = level_sight(level) != SIGHT_PREFIX;
	return s;
}

void strong_closure_free(struct strong_closure *s)
{
	if (!s) return;
	free(s->rows.memory);
	free(s->rows.changes);
	free(s->rows.frames);
	free(s->marks);
	free(s->kept);
	free(s->kept_points);
	free(s->last);
	free(s->reads);
	free(s);
}

size_t strong_closure_bytes(const struct strong_closure *s)
{
	return level_scratch_bytes(&s->rows) +
	       s->mark_capacity * sizeof *s->marks +
	       s->kept_capacity * sizeof *s->kept +
	       s->kept_room * sizeof *s->kept_points +
	       s->last_capacity * sizeof *s->last +
	       s->read_capacity * sizeof *s->reads;
}

/* Only init is there. */
static void start(struct strong_closure *s)
{
	size_t points = (size_t)(s->snapshots ? 2 : 1) * 64 * s->h.words;
	s->fed = (struct fed){ .count = 1, .ended = true };
	s->mark_count = s->kept_count = 0;
	s->rows.change_count = 0;
	s->rows.logging = true;
	for (size_t p = 0; p < points; p++) s->place[p] = NOWHERE;
	s->line[0] = s->h.half;
	s->place[s->h.half] = 0;
	s->turn[0] = 0;
	s->line_count = s->lined = 1;
	s->window.turn = NOWHERE;
}

static void *carve(char **next, size_t count, size_t size)
{
	void *at = *next;
	*next += count * size;
	return at;
}

/* Rows of so many words: what was known is forgotten. */
static void lay_out(struct strong_closure *s, uint32_t words)
{
	struct level_scratch *r = &s->rows;
	size_t n = (size_t)64 * words, points = s->snapshots ? 2 * n : n;
	size_t width = s->snapshots ? 2 * words : words, row = n * words;
	size_t sight = s->visible ? row : 0;
	size_t longs = 2 * points * width + row + 4 * sight + 4 * width +
	               7 * words + points;
	size_t need =
		longs * sizeof(word) + (4 * points + n) * sizeof(uint32_t);
	free(r->memory);
	r->memory = mem_take0(need, 1);
	r->capacity = need;
	char *next = r->memory;
	r->closure = r->after = carve(&next, points * width, sizeof(word));
	r->before = carve(&next, points * width, sizeof(word));
	r->rivals = carve(&next, row, sizeof(word));
	r->placed = carve(&next, sight, sizeof(word));
	r->visible = carve(&next, sight, sizeof(word));
	s->seen = carve(&next, sight, sizeof(word));
	s->earlier = carve(&next, sight, sizeof(word));
	r->spare = carve(&next, 4 * width, sizeof(word));
	s->writing = carve(&next, words, sizeof(word));
	s->readers = carve(&next, words, sizeof(word));
	s->sources = carve(&next, words, sizeof(word));
	s->overlapped = carve(&next, words, sizeof(word));
	s->view = carve(&next, 2 * words, sizeof(word));
	s->fits = carve(&next, words, sizeof(word));
	r->keys = carve(&next, points, sizeof(uint64_t));
	r->tried = carve(&next, points, sizeof(uint32_t));
	r->rank = carve(&next, points, sizeof(uint32_t));
	s->line = carve(&next, points, sizeof(uint32_t));
	s->place = carve(&next, points, sizeof(uint32_t));
	s->turn = carve(&next, n, sizeof(uint32_t));
	assert(next == r->memory + need);
	s->h = shape_of(words, s->snapshots ? 2 : 1);
	start(s);
}

static void make_room(struct strong_closure *s, const struct closure *c)
{
	if (s->h.words != c->words) lay_out(s, c->words);
	if (s->last_capacity >= c->key_capacity) return;
	s->last_capacity = c->key_capacity;
	s->last = mem_grow(s->last, s->last_capacity, sizeof *s->last);
}

/* ---- saturating ---- */

BITS_INLINE bool add_in(struct shape h, struct strong_closure *s, unsigned a,
                        unsigned b)
{
	return order_add(&s->rows, a, b, h.width);
}

/* Puts point a before point b; false on a cycle. */
static bool add(struct strong_closure *s, unsigned a, unsigned b)
{
	return BY_SHAPE(s, add_in, a, b);
}

/* Puts the points of this word of a set of transactions, which begin at `base`,
 * before a point, or behind it. */
static bool add_before(struct strong_closure *s, word set, unsigned base,
                       unsigned to)
{
	for (; set; set &= set - 1)
		if (!add(s, base + (unsigned)__builtin_ctzll(set), to))
			return false;
	return true;
}

static bool add_behind(struct strong_closure *s, unsigned from, word set,
                       unsigned base)
{
	for (; set; set &= set - 1)
		if (!add(s, from, base + (unsigned)__builtin_ctzll(set)))
			return false;
	return true;
}

BITS_INLINE bool force_in(struct shape h, struct strong_closure *s,
                          const struct closure *c, struct relation_read a)
{
	struct level_scratch *r = &s->rows;
	uint32_t t = a.reader, t1 = a.source;
	const word *writers = writers_of(c, a.key, h.words);
	const word *before_t = order_row(r->before, t, h.width) + h.at;
	const word *before_t1 =
		order_row(r->before, h.half + t1, h.width) + h.at;
	const word *after_t = order_row(r->after, t, h.width) + h.at;
	const word *after_t1 = order_row(r->after, h.half + t1, h.width) + h.at;
	for (unsigned w = 0; w < h.words; w++) {
		word others = writers[w] & s->writing[w];
		if (w == t1 >> 6) others &= ~((word)1 << (t1 & 63));
		word early = others & before_t[w] & ~before_t1[w];
		if (early &&
		    !add_before(s, early, h.half + 64 * w, h.half + t1))
			return false;
		word late = others & after_t1[w] & ~after_t[w];
		if (!h.half && w == t >> 6) late &= ~((word)1 << (t & 63));
		if (s->visible) late &= order_row(r->rivals, t, h.words)[w];
		if (late && !add_behind(s, t, late, h.half + 64 * w))
			return false;
	}
	return true;
}

/* Forced, for a read of t from t1 and another writer t2 of the key: t2 is
 * before t1 when t sees it, and else t before t2 when t2 is after t1. The
 * latter under psi only if t and t2 are rivals: one of them sees the other.
 * Under pc and si t1 and t2 stand for their commits, t for its beginning. */
static bool force(struct strong_closure *s, const struct closure *c,
                  struct relation_read a)
{
	return BY_SHAPE(s, force_in, c, a);
}

/* Forced under si: of two rivals one commits before the other begins; so it
 * does if it begins before the other commits. */
static bool force_rivals(struct strong_closure *s, uint32_t t)
{
	struct level_scratch *r = &s->rows;
	const word *rivals = order_row(r->rivals, t, s->h.words);
	const word *later = order_row(r->after, t, s->h.width) + s->h.at;
	const word *after = order_row(r->after, s->h.half + t, s->h.width);
	for (unsigned w = 0; w < s->h.words; w++)
		if (!add_behind(s, s->h.half + t,
		                rivals[w] & later[w] & ~after[w], 64 * w))
			return false;
	return true;
}

/* The end of the reads that were fed of the transaction at this turn. */
static uint32_t reads_end(const struct strong_closure *s,
                          const struct closure *c, uint32_t turn)
{
	return turn + 1 < s->fed.count ? c->blocks[turn + 1].first_read
	                               : s->fed.reads;
}

static bool force_reads_of(struct strong_closure *s, const struct closure *c,
                           uint32_t t)
{
	uint32_t turn = c->position[t], end = reads_end(s, c, turn);
	for (uint32_t i = c->blocks[turn].first_read; i < end; i++)
		if (!force(s, c, c->reads[i])) return false;
	return !s->trying || s->trial.reader != t || force(s, c, s->trial);
}

BITS_INLINE void note_changes_in(struct shape h, struct strong_closure *s,
                                 size_t from)
{
	const struct level_scratch *r = &s->rows;
	size_t size = (size_t)(h.half ? 2 : 1) * 64 * h.words * h.width;
	bits_zero(s->readers, h.words);
	bits_zero(s->sources, h.words);
	bits_zero(s->overlapped, h.words);
	for (size_t i = from; i < r->change_count; i++) {
		size_t place = r->changes[i].place;
		bool before = place >= size;
		if (place >= 2 * size) continue;
		word more = r->closure[place] & ~r->changes[i].old;
		if (before) place -= size;
		unsigned w = (unsigned)(place % h.width);
		uint32_t p = (uint32_t)(place / h.width);
		if (w < h.at) continue;
		more &= s->writing[w - h.at];
		if (!more) continue;
		if (before) {
			if (!h.half || p < h.half) bits_add(s->readers, p);
		} else if (p >= h.half) {
			bits_add(s->sources, p - h.half);
		} else if (s->exclusive &&
		           order_row(r->rivals, p, h.words)[w - h.at] & more) {
			bits_add(s->overlapped, p);
		}
	}
}

/* Notes whom the changes from this one on may matter to: an edge matters only
 * if it leads to or from the point of a writer. */
static void note_changes(struct strong_closure *s, size_t from)
{
	BY_SHAPE(s, note_changes_in, from);
}

/* Adds all that is forced, where all was but for the changes from this one
 * on. False on a cycle. */
static bool saturate(struct strong_closure *s, const struct closure *c,
                     size_t from)
{
	const struct level_scratch *r = &s->rows;
	while (from < r->change_count) {
		size_t end = r->change_count;
		note_changes(s, from);
		from = end;
		BITS_EACH(t, s->readers, s->h.words)
			if (!force_reads_of(s, c, t)) return false;
		if (!bits_empty(s->sources, s->h.words)) {
			for (uint32_t i = 0; i < s->fed.reads; i++)
				if (bits_has(s->sources, c->reads[i].source) &&
				    !force(s, c, c->reads[i]))
					return false;
			if (s->trying && !force(s, c, s->trial)) return false;
		}
		if (!s->exclusive || !s->h.half) continue;
		BITS_EACH(t, s->overlapped, s->h.words)
			if (!force_rivals(s, t)) return false;
	}
	return true;
}

/* ---- feeding ---- */

static void push_mark(struct strong_closure *s)
{
	VEC_RESERVE(s->marks, s->mark_count, s->mark_capacity);
	s->marks[s->mark_count++] =
		(struct mark){ .fed = s->fed, .changes = s->rows.change_count };
}

static void pop_mark(struct strong_closure *s)
{
	const struct mark *m = &s->marks[--s->mark_count];
	order_undo(&s->rows, m->changes);
	s->fed = m->fed;
}

static void clear_point(struct level_scratch *r, uint32_t p, unsigned width)
{
	bits_zero(order_row(r->after, p, width), width);
	bits_zero(order_row(r->before, p, width), width);
}

static void feed_begin(struct strong_closure *s, const struct closure *c)
{
	struct level_scratch *r = &s->rows;
	uint32_t turn = s->fed.count++, t = c->order[turn];
	const struct closure_block *b = &c->blocks[turn];
	s->fed.ended = false;
	clear_point(r, t, s->h.width);
	bits_zero(order_row(r->rivals, t, s->h.words), s->h.words);
	add(s, s->h.half + b->previous, t);
	for (uint32_t i = 1; b->after_all && i < turn; i++)
		add(s, s->h.half + c->order[i], t);
}

static bool feed_read(struct strong_closure *s, const struct closure *c)
{
	struct relation_read a = c->reads[s->fed.reads++];
	size_t from = s->rows.change_count;
	return add(s, s->h.half + a.source, a.reader) && force(s, c, a) &&
	       saturate(s, c, from);
}

static void log_row(struct level_scratch *r, word *row, unsigned i)
{
	order_log(r, &row[i >> 6]);
	bits_add(row, i);
}

/* t gets its rivals, and they t. */
static void feed_rivals(struct strong_closure *s, const struct closure *c,
                        uint32_t turn)
{
	struct level_scratch *r = &s->rows;
	const struct closure_block *b = &c->blocks[turn];
	uint32_t t = c->order[turn];
	word *row = order_row(r->rivals, t, s->h.words);
	for (uint32_t k = 0; k < b->written_count; k++) {
		const word *writers = writers_of(c, b->written[k], s->h.words);
		for (unsigned w = 0; w < s->h.words; w++) {
			word more = writers[w] & s->writing[w] & ~row[w];
			if (!more) continue;
			order_log(r, &row[w]);
			row[w] |= more;
		}
	}
	BITS_EACH(u, row, s->h.words)
		log_row(r, order_row(r->rivals, u, s->h.words), t);
}

static bool feed_end(struct strong_closure *s, const struct closure *c)
{
	struct level_scratch *r = &s->rows;
	uint32_t turn = s->fed.count - 1, t = c->order[turn];
	size_t from = r->change_count;
	bool writes = c->blocks[turn].written_count > 0;
	s->fed.ended = true;
	if (writes) {
		if (s->exclusive) feed_rivals(s, c, turn);
		log_row(r, s->writing, t);
	}
	if (s->h.half) {
		clear_point(r, s->h.half + t, s->h.width);
		add(s, t, s->h.half + t);
	}
	if (!writes) return true;
	for (uint32_t i = 0; i < s->fed.reads; i++) {
		struct relation_read a = c->reads[i];
		bool matters =
			a.reader == t
				? s->visible
				: bits_has(writers_of(c, a.key, s->h.words), t);
		if (matters && !force(s, c, a)) return false;
	}
	if (s->h.half && s->exclusive && !force_rivals(s, t)) return false;
	return saturate(s, c, from);
}

/* Feeds the next thing; *more is false if there is none. */
static bool feed_one(struct strong_closure *s, const struct closure *c,
                     bool ended, bool *more)
{
	bool last = s->fed.count == c->count;
	uint32_t end =
		last ? c->read_count : c->blocks[s->fed.count].first_read;
	push_mark(s);
	if (s->fed.reads < end) return feed_read(s, c);
	if (!s->fed.ended && (!last || ended)) return feed_end(s, c);
	if (last) {
		s->mark_count--;
		*more = false;
	} else {
		feed_begin(s, c);
	}
	return true;
}

/* The closure gets all that is there, the last transaction having ended or
 * not. False if that is not allowed. */
static bool feed(struct strong_closure *s, const struct closure *c, bool ended)
{
	for (bool more = true; more;) {
		if (feed_one(s, c, ended, &more)) continue;
		pop_mark(s);
		return false;
	}
	return true;
}

/* ---- orders ---- */

/* Puts p behind the tried ones, and before it all that comes before it. */
BITS_INLINE uint32_t put(struct level_scratch *r, uint32_t count, word *done,
                         uint32_t p, unsigned width)
{
	return order_put(r, r->tried, count, done, p, r->before, width, width);
}

BITS_INLINE uint32_t extend_in(struct shape h, struct strong_closure *s,
                               const struct closure *c)
{
	struct level_scratch *r = &s->rows;
	word *done = r->spare;
	uint32_t count = 0;
	bits_zero(done, h.width);
	for (uint32_t i = 0; i < s->line_count; i++)
		count = put(r, count, done, s->line[i], h.width);
	for (uint32_t i = s->lined; i < s->fed.count; i++) {
		uint32_t t = c->order[i];
		count = put(r, count, done, t, h.width);
		if (h.half && (i + 1 < s->fed.count || s->fed.ended))
			count = put(r, count, done, h.half + t, h.width);
	}
	return count;
}

/* Fills tried: an order of the points that the closure allows, close to the
 * line. Returns how many. */
static uint32_t extend(struct strong_closure *s, const struct closure *c)
{
	return BY_SHAPE(s, extend_in, c);
}

static bool accept_read(struct strong_closure *s, struct relation_read a,
                        struct order_choice *out)
{
	uint32_t last = s->last[a.key];
	if (last == a.source) return true;
	out->first = (struct order_edge){ a.reader, s->h.half + last };
	out->second =
		(struct order_edge){ s->h.half + last, s->h.half + a.source };
	return false;
}

/* The transaction commits. Under si no rival may have done so since it
 * began. */
static bool accept_writes(struct strong_closure *s, const struct closure *c,
                          uint32_t turn, struct order_choice *out)
{
	const struct closure_block *b = &c->blocks[turn];
	const uint32_t *rank = s->rows.rank;
	uint32_t t = c->order[turn];
	for (uint32_t k = 0; k < b->written_count; k++) {
		uint32_t u = s->last[b->written[k]];
		s->last[b->written[k]] = t;
		if (!s->h.half || !s->exclusive ||
		    rank[s->h.half + u] < rank[t])
			continue;
		out->first = (struct order_edge){ s->h.half + u, t };
		out->second = (struct order_edge){ s->h.half + t, u };
		return false;
	}
	return true;
}

/* Does each read take the last version before it? */
static bool accept_points(struct strong_closure *s, const struct closure *c,
                          uint32_t count, struct order_choice *out)
{
	struct level_scratch *r = &s->rows;
	memset(s->last, 0, c->key_count * sizeof *s->last);
	r->rank[r->tried[0]] = 0;
	for (uint32_t k = 1; k < count; k++) {
		uint32_t p = r->tried[k];
		uint32_t turn =
			c->position[p >= 64 * s->h.words ? p - s->h.half : p];
		r->rank[p] = k;
		if (p < 64 * s->h.words) {
			uint32_t end = reads_end(s, c, turn);
			for (uint32_t i = c->blocks[turn].first_read; i < end;
			     i++)
				if (!accept_read(s, c->reads[i], out))
					return false;
			if (s->trying && s->trial.reader == p &&
			    !accept_read(s, s->trial, out))
				return false;
		}
		bool commits = p >= s->h.half &&
		               (turn + 1 < s->fed.count || s->fed.ended);
		if (commits && !accept_writes(s, c, turn, out)) return false;
	}
	return true;
}

static bool accept_visible(struct strong_closure *s, const struct closure *c,
                           struct order_choice *out)
{
	struct relation r;
	closure_relation(c, &r);
	if (s->trying) {
		if (s->read_capacity <= r.read_count) {
			s->read_capacity = 2 * r.read_count + 16;
			s->reads = mem_grow(s->reads, s->read_capacity,
			                    sizeof *s->reads);
		}
		if (r.read_count)
			memcpy(s->reads, r.reads,
			       r.read_count * sizeof *s->reads);
		s->reads[r.read_count++] = s->trial;
		r.reads = s->reads;
	}
	return psi_in_order(&s->rows, &r, s->rows.tried, s->rows.before, true,
	                    out, s->h.words);
}

/* Is there a commit order that extends the closure, which is saturated? It is
 * the order tried, of so many points then; else 0. The closure is as before. */
static uint32_t complete(struct strong_closure *s, const struct closure *c)
{
	struct level_scratch *r = &s->rows;
	uint32_t count = 0;
	size_t begin = r->change_count;
	bool open = true;
	r->frame_count = 0;
	for (;;) {
		struct order_choice choice;
		size_t from;
		if (open) {
			count = extend(s, c);
			if (s->visible ? accept_visible(s, c, &choice)
			               : accept_points(s, c, count, &choice))
				break;
			assert(!order_has(r, choice.first.from, choice.first.to,
			                  s->h.width));
			assert(!order_has(r, choice.second.from,
			                  choice.second.to, s->h.width));
			order_push(r, choice.second);
			from = r->change_count;
			open = add(s, choice.first.from, choice.first.to) &&
			       saturate(s, c, from);
			continue;
		}
		if (!r->frame_count) break;
		struct order_frame f = r->frames[--r->frame_count];
		order_undo(r, f.changes);
		from = r->change_count;
		open = add(s, f.second.from, f.second.to) &&
		       saturate(s, c, from);
	}
	order_undo(r, begin);
	return open ? count : 0;
}

/* Makes a line of all ended transactions that leaves the pending one a
 * place. */
static bool mend(struct strong_closure *s, const struct closure *c, bool ended)
{
	uint32_t count = feed(s, c, ended) ? complete(s, c) : 0;
	if (count) strong_line_adopt(s, c, count);
	return count;
}

/* ---- the line ---- */

/* Does the last transaction, which has ended, overwrite a version that it read,
 * as another one did? Under psi, si and ser one of the two would have to read
 * what the other wrote. */
static bool loses_update(const struct strong_closure *s,
                         const struct closure *c)
{
	uint32_t t = c->order[c->count - 1];
	uint32_t first = c->blocks[c->count - 1].first_read;
	if (!s->exclusive && s->h.half) return false; /* pc */
	for (uint32_t i = first; i < c->read_count; i++) {
		struct relation_read a = c->reads[i];
		const word *writers = writers_of(c, a.key, s->h.words);
		if (!bits_has(writers, t)) continue;
		for (uint32_t k = 0; k < first; k++)
			if (c->reads[k].key == a.key &&
			    c->reads[k].source == a.source &&
			    bits_has(writers, c->reads[k].reader))
				return true;
	}
	return false;
}

/* All ended transactions, up to this turn, get into the line. */
static bool line_up(struct strong_closure *s, const struct closure *c,
                    uint32_t end)
{
	while (s->lined < end) {
		if (strong_line_add(s, c, s->lined)) continue;
		if (s->lined + 1 == c->count && strong_line_recall(s, c) &&
		    strong_line_add(s, c, s->lined))
			continue;
		if (end == c->count && loses_update(s, c)) return false;
		return mend(s, c, end == c->count);
	}
	return true;
}

/* Of these writers of the key, drops those from which the pending transaction
 * cannot read, as a row of what precedes it, and one for each of these, tell:
 * who precedes a writer that it sees; and, where that writer is the source of a
 * read or comes after it, who wrote what was read there: it would have to
 * precede the source. */
static void refuse(struct strong_closure *s, const struct closure *c,
                   uint32_t key, const word *seen, const word *rows,
                   size_t stride, word *open)
{
	unsigned words = s->h.words;
	word *hidden = s->view;
	const word *writers = writers_of(c, key, words);
	assert(c->count > 1 && hidden != open);
	bits_zero(hidden, words);
	BITS_EACH(u, writers, words)
		if (bits_has(seen, u))
			bits_or(hidden, rows + stride * u, words);
	for (unsigned w = 0; w < words; w++) {
		open[w] &= ~hidden[w];
		hidden[w] |= writers[w] & seen[w];
	}
	for (uint32_t i = c->blocks[c->count - 1].first_read; i < c->read_count;
	     i++) {
		struct relation_read a = c->reads[i];
		if (!bits_has(hidden, a.source)) continue;
		const word *others = writers_of(c, a.key, words);
		bool source = bits_has(open, a.source);
		for (unsigned w = 0; w < words; w++) open[w] &= ~others[w];
		if (source) bits_add(open, a.source);
	}
}

/* By so U wr. */
static void refuse_by_past(struct strong_closure *s, const struct closure *c,
                           uint32_t key, word *open)
{
	uint32_t t = c->order[c->count - 1];
	refuse(s, c, key, closure_row(c, c->past, t), c->past, c->words, open);
}

/* By the closure, to which all is fed. */
static void refuse_by_closure(struct strong_closure *s, const struct closure *c,
                              uint32_t key, word *open)
{
	const struct level_scratch *r = &s->rows;
	unsigned width = s->h.width, at = s->h.at;
	uint32_t t = c->order[c->count - 1];
	const word *after = order_row(r->after, t, width) + at;
	for (unsigned w = 0; w < s->h.words; w++) open[w] &= ~after[w];
	refuse(s, c, key, order_row(r->before, t, width) + at,
	       order_row(r->before, s->h.half, width) + at, width, open);
}

/* May the pending transaction read the key from there? If so, a line that has
 * room for it becomes the line, if `adopts`, or is kept. */
static bool try_writer(struct strong_closure *s, const struct closure *c,
                       uint32_t key, uint32_t source, bool adopts)
{
	struct level_scratch *r = &s->rows;
	size_t begin = r->change_count;
	uint32_t t = c->order[c->count - 1];
	s->trying = true;
	s->trial = (struct relation_read){ .reader = t,
		                           .key = key,
		                           .source = source };
	uint32_t count = 0;
	if (add(s, s->h.half + source, t) && force(s, c, s->trial) &&
	    saturate(s, c, begin))
		count = complete(s, c);
	if (count && adopts)
		strong_line_adopt(s, c, count);
	else if (count && !s->visible)
		strong_line_keep(s, c, source, r->tried, count);
	order_undo(r, begin);
	s->trying = false;
	return count;
}

void strong_closure_restrict(struct strong_closure *s, const struct closure *c,
                             uint32_t key, word *valid)
{
	make_room(s, c);
	word *fits = s->fits;
	/* The lemma, where nobody but init has written it. */
	if (s->lined + 1 == c->count &&
	    bits_next(writers_of(c, key, s->h.words), 1, s->h.words) ==
	            64 * s->h.words)
		return;
	bool fit = line_up(s, c, c->count - 1) &&
	           (strong_line_writers(s, c, key, valid, fits) ||
	            (strong_line_recall(s, c) &&
	             strong_line_writers(s, c, key, valid, fits)) ||
	            (mend(s, c, false) &&
	             strong_line_writers(s, c, key, valid, fits)));
	if (!fit) bits_zero(fits, s->h.words);
	for (unsigned w = 0; w < s->h.words; w++) valid[w] &= ~fits[w];
	if (!bits_empty(valid, s->h.words)) refuse_by_past(s, c, key, valid);
	if (!fit) {
		bits_zero(valid, s->h.words);
	} else if (!bits_empty(valid, s->h.words)) {
		bool fed = feed(s, c, false);
		assert(fed);
		(void)fed;
		refuse_by_closure(s, c, key, valid);
		strong_line_forget(s, c->count - 1, c->read_count);
		uint32_t first = bits_next(fits, 0, s->h.words);
		if (first < 64 * s->h.words && !s->visible &&
		    bits_next(valid, 0, s->h.words) < first)
			strong_line_keep(s, c, NOWHERE, s->line, s->line_count);
		BITS_EACH(u, valid, s->h.words) {
			bool allowed = try_writer(s, c, key, u, u < first);
			if (!allowed) bits_drop(valid, u);
			if (allowed && u < first) first = u;
		}
	}
	bits_or(valid, fits, s->h.words);
}

bool strong_closure_allows(struct strong_closure *s, const struct closure *c)
{
	make_room(s, c);
	return line_up(s, c, c->count);
}

/* ---- going back ---- */

static bool is_beyond(const struct fed *f, uint32_t count, uint32_t reads,
                      bool pending)
{
	return f->count > count || f->reads > reads ||
	       (f->count == count && f->ended && pending);
}

void strong_closure_rewind(struct strong_closure *s, uint32_t count,
                           uint32_t reads, bool pending)
{
	if (!s->h.words) return;
	while (is_beyond(&s->fed, count, reads, pending)) pop_mark(s);
	strong_line_shorten(s, pending ? count - 1 : count);
	if (pending)
		strong_line_forget(s, count - 1, reads + 1);
	else
		strong_line_forget(s, count, 0);
	s->window.turn = NOWHERE;
}
