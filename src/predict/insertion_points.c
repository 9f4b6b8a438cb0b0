#include "predict/insertion_points.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* ---- the copies that write ---- */

static void count_copy_writes(struct insertion_points *x)
{
	const struct observed_history *o = x->o;
	for (size_t i = 0; i < x->c->count; i++) {
		const struct copy *y = &x->c->copies[i];
		for (uint32_t e = o->first[y->transaction]; e < y->end; e++) {
			if (o->events[e].kind != EVENT_WRITE) continue;
			x->writes[i] = true;
			assert(o->events[e].key < o->key_count);
			x->copy_write_first[o->events[e].key + 2]++;
		}
	}
}

static void list_copy_writes(struct insertion_points *x)
{
	const struct observed_history *o = x->o;
	uint32_t *first = mem_take0((size_t)o->key_count + 3, sizeof *first);
	x->copy_write_first = first;
	count_copy_writes(x);
	for (uint32_t k = 0; k <= o->key_count; k++)
		first[k + 2] += first[k + 1];
	x->copy_writes = mem_take0(first[o->key_count + 1] + (size_t)1,
	                           sizeof *x->copy_writes);
	for (size_t i = 0; i < x->c->count; i++) {
		const struct copy *y = &x->c->copies[i];
		for (uint32_t e = o->first[y->transaction]; e < y->end; e++) {
			const struct observed_event *w = &o->events[e];
			if (w->kind != EVENT_WRITE) continue;
			x->copy_writes[first[w->key + 1]++].copy = (uint32_t)i;
		}
	}
}

void insertion_points_init(struct insertion_points *x,
                           const struct observed_history *o,
                           const struct divergent_copies *c)
{
	x->o = o;
	x->c = c;
	serial_order_init(&x->s, o);
	x->forced = mem_take0(c->count + 1, sizeof *x->forced);
	x->places = mem_take0(c->count + 1, sizeof *x->places);
	x->writes = mem_take0(c->count + 1, sizeof *x->writes);
	list_copy_writes(x);
}

void insertion_points_free(struct insertion_points *x)
{
	serial_order_free(&x->s);
	free(x->forced);
	free(x->places);
	free(x->writes);
	free(x->copy_write_first);
	free(x->copy_writes);
	free(x->granted);
}

void insertion_points_force_none(struct insertion_points *x)
{
	for (size_t i = 0; i < x->c->count; i++)
		x->forced[i] = (struct place){ NO_GAP, 0 };
}

/* ---- places of a copy ---- */

uint32_t first_gap(const struct insertion_points *x, const struct copy *y)
{
	const struct observed_history *o = x->o;
	uint32_t t = y->transaction, gap = 0;
	assert(y->end <= o->first[t + 1]);
	for (uint32_t i = o->need_first[t]; i < o->need_first[t + 1]; i++) {
		uint32_t at = x->s.at[o->needs[i]];
		if (at == NO_GAP) return NO_GAP;
		if (at >= gap) gap = at + 1;
	}
	for (uint32_t i = o->first[t]; i < y->end; i++) {
		const struct observed_event *e = &o->events[i];
		if (e->kind != EVENT_READ || copy_frees(x->c, y, i) || !e->from)
			continue;
		if (x->s.at[e->from] == NO_GAP) return NO_GAP;
		if (x->s.at[e->from] >= gap) gap = x->s.at[e->from] + 1;
	}
	assert(gap <= x->s.count);
	return gap;
}

/* Do its fixed reads see what they saw, and are its writes safe? */
static bool gap_is_fine(const struct insertion_points *x, const struct copy *y,
                        uint32_t gap)
{
	const struct observed_history *o = x->o;
	uint32_t t = y->transaction;
	for (uint32_t i = o->first[t]; i < y->end; i++) {
		const struct observed_event *e = &o->events[i];
		if (e->kind == EVENT_WRITE) {
			if (!write_is_safe(&x->s, t, e->key, gap)) return false;
		} else if (!copy_frees(x->c, y, i)) {
			if (version_at(&x->s, t, e->key, gap) != e->from)
				return false;
		}
	}
	return true;
}

static bool has_no_place(const struct insertion_points *x, size_t copy)
{
	return x->places[copy].gap == NO_GAP;
}

void insertion_points_choose(struct insertion_points *x,
                             enum places_of_writers places)
{
	for (size_t i = 0; i < x->c->count; i++) {
		const struct copy *y = &x->c->copies[i];
		/* Behind those whose place is given. */
		x->places[i] = (struct place){ NO_GAP, x->o->n + (uint32_t)i };
		if (!x->writes[i]) continue;
		if (x->forced[i].gap != NO_GAP) {
			x->places[i] = x->forced[i];
			continue;
		}
		uint32_t low = first_gap(x, y), own = x->s.at[y->transaction];
		if (low == NO_GAP) continue;
		assert(low <= x->s.count);
		if (places == PLACES_END || own == NO_GAP || own < low ||
		    !gap_is_fine(x, y, own))
			own = x->s.count;
		if (gap_is_fine(x, y, own)) x->places[i].gap = own;
	}
}

static int compare_places(const void *a, const void *b)
{
	const struct place *x = &((const struct copy_write *)a)->place;
	const struct place *y = &((const struct copy_write *)b)->place;
	if (x->gap != y->gap) return x->gap < y->gap ? -1 : 1;
	return x->turn < y->turn ? -1 : x->turn > y->turn;
}

void insertion_points_sort(struct insertion_points *x)
{
	const uint32_t *first = x->copy_write_first;
	for (uint32_t i = 0; i < first[x->o->key_count]; i++)
		x->copy_writes[i].place = x->places[x->copy_writes[i].copy];
	for (uint32_t k = 0; k < x->o->key_count; k++)
		qsort(x->copy_writes + first[k], first[k + 1] - first[k],
		      sizeof *x->copy_writes, compare_places);
}

/* Can this copy never be together with copy y? They are of one session, or y
 * needs its transaction to be kept. */
static bool excludes(const struct insertion_points *x, const struct copy *y,
                     uint32_t other)
{
	const struct observed_history *o = x->o;
	uint32_t t = y->transaction, u = x->c->copies[other].transaction;
	if (o->facts->session_of[u] == o->facts->session_of[t]) return true;
	for (uint32_t i = o->need_first[t]; i < o->need_first[t + 1]; i++)
		if (u == o->needs[i] || observed_before(o, u, o->needs[i]))
			return true;
	return false;
}

static bool place_before(struct place a, struct place b)
{
	return a.gap < b.gap || (a.gap == b.gap && a.turn < b.turn);
}

uint32_t hider(const struct insertion_points *x, const struct copy *y,
               uint32_t key, uint32_t version, struct place p)
{
	assert(!version || x->s.at[version] != NO_GAP);
	uint32_t since = version ? x->s.at[version] + 1 : 0;
	uint32_t low = x->copy_write_first[key];
	uint32_t high = x->copy_write_first[key + 1], end = high;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (x->copy_writes[middle].place.gap < since)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < end && place_before(x->copy_writes[low].place, p); low++)
		if (!excludes(x, y, x->copy_writes[low].copy))
			return x->copy_writes[low].copy;
	return UINT32_MAX;
}

/* ---- what places grant ---- */

bool is_granted(const struct insertion_points *x, const struct copy *y,
                const struct free_read *r, struct place p, uint32_t option)
{
	uint32_t key = x->o->events[r->event].key;
	uint32_t w = x->c->options[option].writer;
	assert(option >= r->first && option < r[1].first);
	if (r->exclusive) return !w || x->s.at[w] < p.gap;
	return version_at(&x->s, y->transaction, key, p.gap) == w &&
	       hider(x, y, key, w, p) == UINT32_MAX;
}

/* Options of one free read at the place. */
static void grant_read(const struct insertion_points *x, const struct copy *y,
                       const struct free_read *r, struct place p, bool *row)
{
	uint32_t key = x->o->events[r->event].key;
	uint32_t version = version_at(&x->s, y->transaction, key, p.gap);
	for (uint32_t a = r->first; a < r[1].first; a++)
		*row++ = (r->exclusive || x->c->options[a].writer == version) &&
		         is_granted(x, y, r, p, a);
}

static bool fixed_is_hidden(const struct insertion_points *x,
                            const struct copy *y, struct place p)
{
	const struct observed_history *o = x->o;
	for (uint32_t i = o->first[y->transaction]; i < y->end; i++) {
		const struct observed_event *e = &o->events[i];
		if (e->kind == EVENT_READ && !copy_frees(x->c, y, i) &&
		    hider(x, y, e->key, e->from, p) != UINT32_MAX)
			return true;
	}
	return false;
}

uint32_t first_option(const struct insertion_points *x, const struct copy *y)
{
	return x->c->reads[y->first].first;
}

uint32_t option_width(const struct insertion_points *x, const struct copy *y)
{
	return first_option(x, &y[1]) - first_option(x, y);
}

bool fits_at(const struct insertion_points *x, const struct copy *y,
             struct place p)
{
	return gap_is_fine(x, y, p.gap) && !fixed_is_hidden(x, y, p);
}

/* Fills a row with the options that the place grants; false if the copy does
 * not fit there. */
static bool grant(const struct insertion_points *x, const struct copy *y,
                  struct place p, bool *row)
{
	if (!fits_at(x, y, p)) return false;
	for (uint32_t r = y->first; r < y[1].first; r++) {
		const struct free_read *f = &x->c->reads[r];
		grant_read(x, y, f, p, row + (f->first - first_option(x, y)));
	}
	return true;
}

static void add_gap(struct insertion_points *x, uint32_t *count, uint32_t low,
                    uint32_t gap)
{
	if (gap < low || gap > x->s.count || *count == PLACES_MOST) return;
	for (uint32_t i = 0; i < *count; i++)
		if (x->gaps[i] == gap) return;
	assert(*count < PLACES_MOST);
	x->gaps[(*count)++] = gap;
}

/* Gaps that are worth a look, for a copy that writes nothing: behind each
 * writer of a key that it reads freely, the latest first. */
static uint32_t list_gaps(struct insertion_points *x, const struct copy *y,
                          uint32_t low)
{
	uint32_t count = 0, reads = y[1].first - y->first;
	add_gap(x, &count, low, x->s.count);
	add_gap(x, &count, low, x->s.at[y->transaction]);
	add_gap(x, &count, low, low);
	for (uint32_t r = y->first; r < y[1].first; r++) {
		uint32_t key = x->o->events[x->c->reads[r].event].key;
		const struct accesses *a = &x->s.writers;
		uint32_t share = PLACES_MOST / reads + 1;
		for (uint32_t i = a->end[key]; i > a->first[key] && share;
		     i--, share--) {
			add_gap(x, &count, low, a->items[i - 1].at);
			add_gap(x, &count, low, a->items[i - 1].at + 1);
		}
	}
	return count;
}

/* Adds the row of a place, if the copy fits there and it is new. */
static void add_row(struct insertion_points *x, const struct copy *y,
                    struct place p, uint32_t *rows)
{
	size_t width = option_width(x, y);
	size_t need = (*rows + (size_t)1) * width + 1;
	if (need > x->granted_room) {
		x->granted_room = 2 * need;
		x->granted = mem_grow(x->granted, x->granted_room,
		                      sizeof *x->granted);
	}
	bool *row = x->granted + *rows * width;
	if (!grant(x, y, p, row)) return;
	for (uint32_t i = 0; i < *rows; i++)
		if (!width ||
		    !memcmp(x->granted + i * width, row, width * sizeof *row))
			return;
	(*rows)++;
}

uint32_t fill_rows(struct insertion_points *x, size_t copy, uint32_t low)
{
	assert(copy < x->c->count);
	const struct copy *y = &x->c->copies[copy];
	uint32_t rows = 0;
	if (x->writes[copy]) {
		if (!has_no_place(x, copy))
			add_row(x, y, x->places[copy], &rows);
		return rows;
	}
	if (x->forced[copy].gap != NO_GAP)
		add_row(x, y, x->forced[copy], &rows);
	uint32_t gaps = list_gaps(x, y, low);
	for (uint32_t i = 0; i < gaps; i++)
		add_row(x, y, (struct place){ x->gaps[i], TURN_FIRST }, &rows);
	return rows;
}

uint32_t insertion_points_of_option(const struct insertion_points *x,
                                    size_t copy, uint32_t low, uint32_t w,
                                    struct place places[3])
{
	const struct copy *y = &x->c->copies[copy];
	assert(y->first < y[1].first);
	uint32_t key = x->o->events[x->c->reads[y->first].event].key;
	uint32_t count = 0, behind = w ? x->s.at[w] + 1 : 0, next;
	if (x->writes[copy]) {
		places[0] = x->places[copy];
		return !has_no_place(x, copy);
	}
	if (x->forced[copy].gap != NO_GAP) places[count++] = x->forced[copy];
	if (w && x->s.at[w] == NO_GAP) return count;
	next = access_from(&x->s.writers, key, behind);
	if (behind < low) behind = low;
	places[count++] = (struct place){ behind, TURN_FIRST };
	next = next < x->s.writers.end[key] ? x->s.writers.items[next].at
	                                    : x->s.count;
	if (next > behind) places[count++] = (struct place){ next, TURN_FIRST };
	assert(count <= 3);
	return count;
}
