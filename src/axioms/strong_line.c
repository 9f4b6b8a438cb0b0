#include "axioms/strong_line.h"

/* ---- of points ---- */

static void put_in_line(struct strong_closure *s, uint32_t p, uint32_t at)
{
	for (uint32_t i = s->line_count++; i > at; i--) {
		s->line[i] = s->line[i - 1];
		s->place[s->line[i]] = i;
	}
	s->line[at] = p;
	s->place[p] = at;
}

/* Where the transaction at this turn, which is not in the line, can begin: its
 * reads are from the last writers before there. */
static struct window window_of(struct strong_closure *s,
                               const struct closure *c, uint32_t turn)
{
	const struct closure_block *b = &c->blocks[turn];
	uint32_t end = turn + 1 < c->count ? b[1].first_read : c->read_count;
	struct window w = s->window;
	if (w.turn != turn || w.reads > end)
		w = (struct window){
			.from = b->after_all
			                ? s->line_count
			                : s->place[s->h.half + b->previous] + 1,
			.to = s->line_count,
			.turn = turn,
			.reads = b->first_read
		};
	for (; w.reads < end; w.reads++) {
		struct relation_read a = c->reads[w.reads];
		uint32_t at = s->place[s->h.half + a.source];
		const word *writers = writers_of(c, a.key, s->h.words);
		if (at >= w.from) w.from = at + 1;
		BITS_EACH(u, writers, s->h.words) {
			uint32_t other = s->place[s->h.half + u];
			if (other > at && other < w.to) w.to = other;
		}
	}
	s->window = w;
	return w;
}

/* The writers of the key that are the last one somewhere in the window. */
static void last_writers(const struct strong_closure *s,
                         const struct closure *c, uint32_t key, struct window v,
                         word *out)
{
	const word *writers = writers_of(c, key, s->h.words);
	uint32_t last = 0, last_place = 0;
	bits_zero(out, s->h.words);
	BITS_EACH(u, writers, s->h.words) {
		uint32_t p = s->place[s->h.half + u];
		if (p >= v.from) {
			if (p < v.to) bits_add(out, u);
		} else if (p >= last_place) {
			last = u;
			last_place = p;
		}
	}
	bits_add(out, last);
}

/* Moves a point, where transaction t is to write, forward out of the reads of
 * what it overwrites, and under si out of its rivals. False if it was nowhere
 * in their way. */
static bool step_aside(const struct strong_closure *s, const struct closure *c,
                       uint32_t turn, uint32_t *at)
{
	const struct closure_block *b = &c->blocks[turn];
	uint32_t t = c->order[turn], before = *at;
	for (uint32_t i = 0; i < b->first_read; i++) {
		struct relation_read a = c->reads[i];
		uint32_t source = s->place[s->h.half + a.source];
		if (source < *at && *at <= s->place[a.reader] &&
		    bits_has(writers_of(c, a.key, s->h.words), t))
			*at = source;
	}
	for (uint32_t k = 0; s->h.half && s->exclusive && k < b->written_count;
	     k++) {
		const word *writers = writers_of(c, b->written[k], s->h.words);
		BITS_EACH(u, writers, s->h.words)
			if (u && u != t && s->place[u] < *at &&
			    *at <= s->place[s->h.half + u])
				*at = s->place[u];
	}
	return *at != before;
}

/* Behind all rivals of the transaction that are in the line. */
static uint32_t behind_rivals(const struct strong_closure *s,
                              const struct closure *c, uint32_t turn)
{
	const struct closure_block *b = &c->blocks[turn];
	uint32_t end = 0;
	for (uint32_t k = 0; s->exclusive && k < b->written_count; k++) {
		const word *writers = writers_of(c, b->written[k], s->h.words);
		BITS_EACH(u, writers, s->h.words) {
			uint32_t p = s->place[s->h.half + u];
			if (p != NOWHERE && p >= end) end = p + 1;
		}
	}
	return end;
}

/* Puts the ended transaction at this turn into the line; false if the others
 * would have to make room. */
static bool insert_point(struct strong_closure *s, const struct closure *c,
                         uint32_t turn)
{
	struct window v = window_of(s, c, turn);
	uint32_t t = c->order[turn], at = v.to;
	if (v.from > v.to) return false;
	if (s->h.half && behind_rivals(s, c, turn) <= at) {
		put_in_line(s, t, at);
		put_in_line(s, s->h.half + t, s->line_count);
		return true;
	}
	if (c->blocks[turn].written_count)
		while (step_aside(s, c, turn, &at))
			if (at < v.from) return false;
	put_in_line(s, t, at);
	if (s->h.half) put_in_line(s, s->h.half + t, at + 1);
	return true;
}

/* ---- under psi ---- */

static void see(const struct strong_closure *s, word *view, uint32_t t,
                unsigned words)
{
	bits_or(view, order_row(s->seen, t, words), words);
	bits_add(view, t);
}

/* Is a version of the key in view that is later than that of `source`? */
static bool is_hidden(const struct strong_closure *s, const struct closure *c,
                      uint32_t key, uint32_t source, const word *view,
                      unsigned words)
{
	const word *writers = writers_of(c, key, words);
	const word *earlier = order_row(s->earlier, source, words);
	for (unsigned w = 0; w < words; w++) {
		word later = writers[w] & view[w] & ~earlier[w];
		if (w == source >> 6) later &= ~((word)1 << (source & 63));
		if (later) return true;
	}
	return false;
}

static bool hides_reads(const struct strong_closure *s, const struct closure *c,
                        uint32_t turn, const word *view, unsigned words)
{
	const struct closure_block *b = &c->blocks[turn];
	uint32_t end = turn + 1 < c->count ? b[1].first_read : c->read_count;
	for (uint32_t i = b->first_read; i < end; i++)
		if (is_hidden(s, c, c->reads[i].key, c->reads[i].source, view,
		              words))
			return true;
	return false;
}

/* What the transaction at this turn sees for its session and its reads. */
static void view_of(const struct strong_closure *s, const struct closure *c,
                    uint32_t turn, word *view, unsigned words)
{
	const struct closure_block *b = &c->blocks[turn];
	uint32_t end = turn + 1 < c->count ? b[1].first_read : c->read_count;
	bits_zero(view, words);
	see(s, view, b->previous, words);
	for (uint32_t i = 1; b->after_all && i < turn; i++)
		see(s, view, c->order[i], words);
	for (uint32_t i = b->first_read; i < end; i++)
		see(s, view, c->reads[i].source, words);
}

static bool insert_viewer(struct strong_closure *s, const struct closure *c,
                          uint32_t turn, unsigned words)
{
	const struct closure_block *b = &c->blocks[turn];
	uint32_t t = c->order[turn], last = s->line[s->line_count - 1];
	word *view = order_row(s->seen, t, words);
	word *earlier = order_row(s->earlier, t, words);
	view_of(s, c, turn, view, words);
	for (uint32_t k = 0; k < b->written_count; k++) {
		const word *writers = writers_of(c, b->written[k], words);
		BITS_EACH(u, writers, words)
			if (s->place[u] != NOWHERE) see(s, view, u, words);
	}
	if (hides_reads(s, c, turn, view, words)) return false;
	bits_copy(earlier, order_row(s->earlier, last, words), words);
	bits_add(earlier, last);
	put_in_line(s, t, s->line_count);
	return true;
}

/* The writers of the key that the pending transaction may read from as the
 * line is; false if it does not fit in with the reads it has. */
static bool visible_writers(struct strong_closure *s, const struct closure *c,
                            uint32_t key, const word *asked, word *out,
                            unsigned words)
{
	uint32_t turn = c->count - 1;
	word *view = s->view, *more = view + words;
	view_of(s, c, turn, view, words);
	bits_zero(out, words);
	if (hides_reads(s, c, turn, view, words)) return false;
	BITS_EACH(u, asked, words) {
		bits_zero(more, words);
		see(s, more, u, words);
		for (unsigned w = 0; w < words; w++) more[w] &= ~view[w];
		if (!bits_empty(more, words) &&
		    hides_reads(s, c, turn, more, words))
			continue;
		bits_or(more, view, words);
		if (!is_hidden(s, c, key, u, more, words)) bits_add(out, u);
	}
	return true;
}

/* ---- both ---- */

bool strong_line_add(struct strong_closure *s, const struct closure *c,
                     uint32_t turn)
{
	bool fits = s->visible ? insert_viewer(s, c, turn, s->h.words)
	                       : insert_point(s, c, turn);
	if (!fits) return false;
	s->turn[c->order[turn]] = turn;
	s->window.turn = NOWHERE;
	s->lined++;
	return true;
}

void strong_line_adopt(struct strong_closure *s, const struct closure *c,
                       uint32_t count)
{
	struct level_scratch *r = &s->rows;
	uint32_t kept = 0, pending = c->order[s->fed.count - 1];
	if (s->fed.ended) pending = NOWHERE;
	s->lined = s->fed.count - (pending != NOWHERE);
	s->window.turn = NOWHERE;
	for (uint32_t k = 0; k < count; k++) {
		uint32_t p = r->tried[k];
		uint32_t t = p >= 64 * s->h.words ? p - s->h.half : p;
		if (t == pending) continue;
		s->turn[t] = c->position[t];
		s->place[p] = kept;
		s->line[kept++] = p;
		if (!s->visible) continue;
		word *seen = order_row(s->seen, t, s->h.words);
		word *earlier = order_row(s->earlier, t, s->h.words);
		bits_copy(seen, order_row(r->visible, t, s->h.words),
		          s->h.words);
		bits_copy(earlier, order_row(r->placed, t, s->h.words),
		          s->h.words);
		if (pending == NOWHERE) continue;
		bits_drop(seen, pending);
		bits_drop(earlier, pending);
	}
	s->line_count = kept;
}

/* ---- lines that are kept ---- */

/* All of them; finding them again is what they save. */
enum { KEPT_POINTS_MOST = 1 << 18 };

static size_t kept_end(const struct strong_closure *s)
{
	return s->kept_count ? s->kept[s->kept_count - 1].end : 0;
}

void strong_line_keep(struct strong_closure *s, const struct closure *c,
                      uint32_t source, const uint32_t *points, uint32_t count)
{
	uint32_t pending = c->order[c->count - 1];
	size_t end = kept_end(s);
	assert(!s->visible && s->fed.count == c->count);
	if (end + count > KEPT_POINTS_MOST) return;
	if (end + count > s->kept_room) {
		s->kept_room = 2 * (end + count);
		s->kept_points = mem_grow(s->kept_points, s->kept_room,
		                          sizeof *s->kept_points);
	}
	for (uint32_t k = 0; k < count; k++)
		if (points[k] != pending) s->kept_points[end++] = points[k];
	VEC_RESERVE(s->kept, s->kept_count, s->kept_capacity);
	s->kept[s->kept_count++] = (struct kept_line){
		.turn = c->count - 1, .read = c->read_count, source, end
	};
}

static void take_points(struct strong_closure *s, const struct closure *c,
                        const uint32_t *points, size_t count)
{
	for (uint32_t k = 0; k < count; k++) {
		uint32_t p = points[k];
		uint32_t t = p >= 64 * s->h.words ? p - s->h.half : p;
		s->turn[t] = c->position[t];
		s->place[p] = k;
		s->line[k] = p;
	}
	s->line_count = (uint32_t)count;
	s->lined = c->count - 1;
	s->window.turn = NOWHERE;
}

void strong_line_forget(struct strong_closure *s, uint32_t turn, uint32_t read)
{
	for (; s->kept_count; s->kept_count--) {
		const struct kept_line *k = &s->kept[s->kept_count - 1];
		if (k->turn < turn || (k->turn == turn && k->read < read))
			return;
	}
}

bool strong_line_recall(struct strong_closure *s, const struct closure *c)
{
	uint32_t turn = c->count - 1;
	for (uint32_t i = s->kept_count; i-- > 0;) {
		const struct kept_line *k = &s->kept[i];
		size_t first = i ? s->kept[i - 1].end : 0;
		assert(k->turn <= turn);
		if (k->turn < turn) return false;
		if (k->read >= c->read_count ||
		    (k->source != NOWHERE &&
		     k->source != c->reads[k->read].source))
			continue;
		take_points(s, c, s->kept_points + first, k->end - first);
		return true;
	}
	return false;
}

/* ---- both ---- */

bool strong_line_writers(struct strong_closure *s, const struct closure *c,
                         uint32_t key, const word *asked, word *out)
{
	if (s->visible)
		return visible_writers(s, c, key, asked, out, s->h.words);
	struct window v = window_of(s, c, c->count - 1);
	if (v.from > v.to) return false;
	last_writers(s, c, key, v, out);
	bits_and(out, asked, s->h.words);
	return true;
}

void strong_line_shorten(struct strong_closure *s, uint32_t end)
{
	uint32_t kept = 0, words = s->h.words;
	word *kept_row = s->view;
	if (s->lined <= end) return;
	bits_zero(kept_row, words);
	for (uint32_t i = 0; i < s->line_count; i++) {
		uint32_t p = s->line[i];
		uint32_t t = p >= 64 * words ? p - s->h.half : p;
		if (s->turn[t] >= end) {
			s->place[p] = NOWHERE;
			continue;
		}
		s->line[kept] = p;
		s->place[p] = kept++;
		bits_add(kept_row, t);
	}
	s->line_count = kept;
	s->lined = end;
	for (uint32_t i = 0; s->visible && i < kept; i++) {
		bits_and(order_row(s->seen, s->line[i], words), kept_row,
		         words);
		bits_and(order_row(s->earlier, s->line[i], words), kept_row,
		         words);
	}
}
