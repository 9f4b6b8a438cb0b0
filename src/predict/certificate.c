#include "predict/certificate.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* A gap of the order: behind so many transactions of it, init not counted. Of
 * the copies in one gap, those of a lower turn come first; no two that write
 * have the same. */
struct place {
	uint32_t gap, turn;
};

enum {
	TURN_FIRST = 0,   /* for copies that write nothing */
	NO_GAP = UINT32_MAX,
	PLACES_MOST = 48  /* of one copy, that are looked at */
};

/* A copy that writes a key. */
struct copy_write {
	struct place place;
	uint32_t copy;
};

/* An access to a key, by place in the order. */
struct access {
	uint32_t at;          /* 0 is the first transaction behind init */
	uint32_t transaction;
};

/* The accesses of each key, in the order; there is room for all that were
 * observed. */
struct accesses {
	uint32_t *first, *end; /* by key: range of items */
	struct access *items;
};

struct certificate {
	const struct observed *o;
	const struct copies *c;
	struct check_clock *clock;
	uint32_t *order;       /* without init */
	uint32_t count;
	uint32_t *at;          /* by transaction: its place, or NO_GAP */
	struct accesses writers, readers;
	struct place *forced;  /* by copy: the place that it has to have; gap
	                        * NO_GAP: none */
	struct place *places;  /* by copy that writes: its one place; gap
	                        * NO_GAP: none is safe */
	bool *writes;          /* by copy */
	/* By key: the copies that write it, by place; those without one come
	 * last. */
	uint32_t *copy_write_first;
	struct copy_write *copy_writes;
	/* Of the copy at hand: which options each place grants, a row each. */
	bool *granted;
	size_t granted_room;
	uint32_t gaps[PLACES_MOST];
};

/* ---- the copies that write ---- */

static void count_copy_writes(struct certificate *x)
{
	const struct observed *o = x->o;
	for (size_t i = 0; i < x->c->count; i++) {
		const struct copy *y = &x->c->copies[i];
		for (uint32_t e = o->first[y->transaction]; e < y->end; e++) {
			if (o->events[e].kind != EVENT_WRITE) continue;
			x->writes[i] = true;
			x->copy_write_first[o->events[e].key + 2]++;
		}
	}
}

static void list_copy_writes(struct certificate *x)
{
	const struct observed *o = x->o;
	uint32_t *first =
	    mem_take0((size_t)o->key_count + 3, sizeof *first);
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

/* Room for every access of the kind. */
static void accesses_init(struct accesses *a, const struct observed *o,
                          enum event_kind kind)
{
	uint32_t total = 0;
	a->first = mem_take0((size_t)o->key_count + 1, sizeof *a->first);
	a->end = mem_take0((size_t)o->key_count + 1, sizeof *a->end);
	a->items = mem_take0((size_t)o->first[o->n] + 1, sizeof *a->items);
	for (uint32_t e = 0; e < o->first[o->n]; e++)
		if (o->events[e].kind == kind) a->end[o->events[e].key]++;
	for (uint32_t k = 0; k < o->key_count; k++) {
		a->first[k] = total;
		total += a->end[k];
	}
}

struct certificate *certificate_new(const struct observed *o,
                                    const struct copies *c,
                                    struct check_clock *clock)
{
	struct certificate *x = mem_take0(1, sizeof *x);
	x->o = o;
	x->c = c;
	x->clock = clock;
	x->order = mem_take0(o->n, sizeof *x->order);
	x->at = mem_take0(o->n, sizeof *x->at);
	x->forced = mem_take0(c->count + 1, sizeof *x->forced);
	x->places = mem_take0(c->count + 1, sizeof *x->places);
	x->writes = mem_take0(c->count + 1, sizeof *x->writes);
	accesses_init(&x->writers, o, EVENT_WRITE);
	accesses_init(&x->readers, o, EVENT_READ);
	list_copy_writes(x);
	return x;
}

static void accesses_free(struct accesses *a)
{
	free(a->first);
	free(a->end);
	free(a->items);
}

void certificate_free(struct certificate *x)
{
	if (!x) return;
	accesses_free(&x->writers);
	accesses_free(&x->readers);
	free(x->order);
	free(x->at);
	free(x->forced);
	free(x->places);
	free(x->writes);
	free(x->copy_write_first);
	free(x->copy_writes);
	free(x->granted);
	free(x);
}

/* ---- the order ---- */

static void append(struct certificate *x, uint32_t t)
{
	const struct observed *o = x->o;
	uint32_t at = x->count++;
	x->order[at] = t;
	x->at[t] = at;
	for (uint32_t i = o->first[t]; i < o->first[t + 1]; i++) {
		const struct observed_event *e = &o->events[i];
		struct accesses *a =
		    e->kind == EVENT_WRITE ? &x->writers : &x->readers;
		a->items[a->end[e->key]++] = (struct access){ at, t };
	}
}

static void begin_order(struct certificate *x)
{
	x->count = 0;
	for (uint32_t t = 0; t < x->o->n; t++) x->at[t] = NO_GAP;
	for (uint32_t k = 0; k < x->o->key_count; k++) {
		x->writers.end[k] = x->writers.first[k];
		x->readers.end[k] = x->readers.first[k];
	}
}

/* The first access to the key at this place of the order or later. */
static uint32_t access_from(const struct accesses *a, uint32_t key,
                            uint32_t at)
{
	uint32_t low = a->first[key], high = a->end[key];
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (a->items[middle].at < at)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Where a copy of t is, neither t is kept nor what happened after t. */
static bool is_gone(const struct observed *o, uint32_t t, uint32_t u)
{
	return u == t || bits_has(observed_row(o, o->later, t), u);
}

/* The version of the key in a gap, for a copy of t: init is 0. */
static uint32_t version_at(const struct certificate *x, uint32_t t,
                           uint32_t key, uint32_t gap)
{
	const struct accesses *a = &x->writers;
	uint32_t i = access_from(a, key, gap);
	while (i > a->first[key]) {
		uint32_t u = a->items[--i].transaction;
		if (!is_gone(x->o, t, u)) return u;
	}
	return 0;
}

/* May a copy of t write the key in this gap? Not if somebody reads, behind it,
 * a version from before it. */
static bool write_is_safe(const struct certificate *x, uint32_t t,
                          uint32_t key, uint32_t gap)
{
	const struct accesses *w = &x->writers, *r = &x->readers;
	uint32_t next = access_from(w, key, gap);
	while (next < w->end[key]
	       && is_gone(x->o, t, w->items[next].transaction))
		next++;
	uint32_t until = next < w->end[key] ? w->items[next].at : NO_GAP;
	for (uint32_t i = access_from(r, key, gap);
	     i < r->end[key] && r->items[i].at <= until; i++)
		if (!is_gone(x->o, t, r->items[i].transaction)) return false;
	return true;
}

/* ---- places of a copy ---- */

/* The first gap that a copy may be in; NO_GAP if something that has to be there
 * is not in the order. Then no proposal with the copy is meant. */
static uint32_t first_gap(const struct certificate *x, const struct copy *y)
{
	const struct observed *o = x->o;
	uint32_t t = y->transaction, gap = 0;
	for (uint32_t i = o->need_first[t]; i < o->need_first[t + 1]; i++) {
		uint32_t at = x->at[o->needs[i]];
		if (at == NO_GAP) return NO_GAP;
		if (at >= gap) gap = at + 1;
	}
	for (uint32_t i = o->first[t]; i < y->end; i++) {
		const struct observed_event *e = &o->events[i];
		if (e->kind != EVENT_READ || copy_frees(x->c, y, i) || !e->from)
			continue;
		if (x->at[e->from] == NO_GAP) return NO_GAP;
		if (x->at[e->from] >= gap) gap = x->at[e->from] + 1;
	}
	return gap;
}

/* Do its fixed reads see what they saw, and are its writes safe? */
static bool gap_is_fine(const struct certificate *x, const struct copy *y,
                        uint32_t gap)
{
	const struct observed *o = x->o;
	uint32_t t = y->transaction;
	for (uint32_t i = o->first[t]; i < y->end; i++) {
		const struct observed_event *e = &o->events[i];
		if (e->kind == EVENT_WRITE) {
			if (!write_is_safe(x, t, e->key, gap)) return false;
		} else if (!copy_frees(x->c, y, i)) {
			if (version_at(x, t, e->key, gap) != e->from)
				return false;
		}
	}
	return true;
}

static bool has_no_place(const struct certificate *x, size_t copy)
{
	return x->places[copy].gap == NO_GAP;
}

/* The copies that write have one place each, so that the others know it. */
static void place_writers(struct certificate *x,
                          enum certificate_places places)
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
		uint32_t low = first_gap(x, y), own = x->at[y->transaction];
		if (low == NO_GAP) continue;
		if (places == PLACES_END || own == NO_GAP || own < low ||
		    !gap_is_fine(x, y, own))
			own = x->count;
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

static void sort_copy_writes(struct certificate *x)
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
static bool excludes(const struct certificate *x, const struct copy *y,
                     uint32_t other)
{
	const struct observed *o = x->o;
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

/* The first copy, by place, that writes the key between this version and the
 * place p, where copy y is; UINT32_MAX if none does. */
static uint32_t hider(const struct certificate *x, const struct copy *y,
                      uint32_t key, uint32_t version, struct place p)
{
	uint32_t since = version ? x->at[version] + 1 : 0;
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

/* May the free read take the option at the place? An exclusive one that took a
 * version has no later writer with it. */
static bool is_granted(const struct certificate *x, const struct copy *y,
                       const struct free_read *r, struct place p,
                       uint32_t option)
{
	uint32_t key = x->o->events[r->event].key;
	uint32_t w = x->c->options[option].writer;
	if (r->exclusive) return !w || x->at[w] < p.gap;
	return version_at(x, y->transaction, key, p.gap) == w &&
	       hider(x, y, key, w, p) == UINT32_MAX;
}

/* Options of one free read at the place. */
static void grant_read(const struct certificate *x, const struct copy *y,
                       const struct free_read *r, struct place p, bool *row)
{
	uint32_t key = x->o->events[r->event].key;
	uint32_t version = version_at(x, y->transaction, key, p.gap);
	for (uint32_t a = r->first; a < r[1].first; a++)
		*row++ = (r->exclusive || x->c->options[a].writer == version) &&
		         is_granted(x, y, r, p, a);
}

static bool fixed_is_hidden(const struct certificate *x, const struct copy *y,
                            struct place p)
{
	const struct observed *o = x->o;
	for (uint32_t i = o->first[y->transaction]; i < y->end; i++) {
		const struct observed_event *e = &o->events[i];
		if (e->kind == EVENT_READ && !copy_frees(x->c, y, i) &&
		    hider(x, y, e->key, e->from, p) != UINT32_MAX)
			return true;
	}
	return false;
}

static uint32_t first_option(const struct certificate *x, const struct copy *y)
{
	return x->c->reads[y->first].first;
}

static uint32_t option_width(const struct certificate *x, const struct copy *y)
{
	return first_option(x, &y[1]) - first_option(x, y);
}

/* Does the copy fit at the place, but for its free reads? */
static bool fits_at(const struct certificate *x, const struct copy *y,
                    struct place p)
{
	return gap_is_fine(x, y, p.gap) && !fixed_is_hidden(x, y, p);
}

/* Fills a row with the options that the place grants; false if the copy does
 * not fit there. */
static bool grant(const struct certificate *x, const struct copy *y,
                  struct place p, bool *row)
{
	if (!fits_at(x, y, p)) return false;
	for (uint32_t r = y->first; r < y[1].first; r++) {
		const struct free_read *f = &x->c->reads[r];
		grant_read(x, y, f, p, row + (f->first - first_option(x, y)));
	}
	return true;
}

static void add_gap(struct certificate *x, uint32_t *count, uint32_t low,
                    uint32_t gap)
{
	if (gap < low || gap > x->count || *count == PLACES_MOST) return;
	for (uint32_t i = 0; i < *count; i++)
		if (x->gaps[i] == gap) return;
	x->gaps[(*count)++] = gap;
}

/* Gaps that are worth a look, for a copy that writes nothing: behind each
 * writer of a key that it reads freely, the latest first. */
static uint32_t list_gaps(struct certificate *x, const struct copy *y,
                          uint32_t low)
{
	uint32_t count = 0, reads = y[1].first - y->first;
	add_gap(x, &count, low, x->count);
	add_gap(x, &count, low, x->at[y->transaction]);
	add_gap(x, &count, low, low);
	for (uint32_t r = y->first; r < y[1].first; r++) {
		uint32_t key = x->o->events[x->c->reads[r].event].key;
		const struct accesses *a = &x->writers;
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
static void add_row(struct certificate *x, const struct copy *y,
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

/* Rows of all places that the copy has; their number. */
static uint32_t fill_rows(struct certificate *x, size_t copy, uint32_t low)
{
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

/* ---- the clause ---- */

static void add_refused(const struct certificate *x, struct proposal *p,
                        const struct copy *y, const bool *row)
{
	uint32_t first = first_option(x, y), width = option_width(x, y);
	for (uint32_t a = 0; a < width; a++)
		if (!row[a]) proposal_add(p, literal_option(p, first + a));
}

static bool grants_all(const bool *row, uint32_t width)
{
	for (uint32_t a = 0; a < width; a++)
		if (!row[a]) return false;
	return true;
}

/* What the clause says of one copy: `literals` gathers, for the clause, that it
 * does not fit. Clauses of their own define a variable where a copy has several
 * places. */
struct literals {
	int *items;
	size_t count, capacity;
};

static void gather(struct literals *l, int literal)
{
	VEC_RESERVE(l->items, l->count, l->capacity);
	l->items[l->count++] = literal;
}

/* The places that matter for the only free read of a copy to take w: its own,
 * if it has one, else just behind w and just before the next writer. */
static uint32_t places_of_option(const struct certificate *x, size_t copy,
                                 uint32_t low, uint32_t w,
                                 struct place places[3])
{
	const struct copy *y = &x->c->copies[copy];
	uint32_t key = x->o->events[x->c->reads[y->first].event].key;
	uint32_t count = 0, behind = w ? x->at[w] + 1 : 0, next;
	if (x->writes[copy]) {
		places[0] = x->places[copy];
		return !has_no_place(x, copy);
	}
	if (x->forced[copy].gap != NO_GAP) places[count++] = x->forced[copy];
	if (w && x->at[w] == NO_GAP) return count;
	next = access_from(&x->writers, key, behind);
	if (behind < low) behind = low;
	places[count++] = (struct place){ behind, TURN_FIRST };
	next = next < x->writers.end[key] ? x->writers.items[next].at
	                                  : x->count;
	if (next > behind)
		places[count++] = (struct place){ next, TURN_FIRST };
	return count;
}

/* Each option of the only free read that is granted nowhere; the copy itself if
 * it fits nowhere. */
static void gather_single(const struct certificate *x, struct proposal *p,
                          size_t copy, uint32_t low, struct literals *l)
{
	const struct copy *y = &x->c->copies[copy];
	const struct free_read *r = &x->c->reads[y->first];
	bool fits = false;
	size_t before = l->count;
	for (uint32_t a = r->first; a < r[1].first; a++) {
		struct place places[3];
		bool granted = false;
		uint32_t count = places_of_option(
		    x, copy, low, x->c->options[a].writer, places);
		for (uint32_t i = 0; i < count && !granted; i++) {
			if (!fits_at(x, y, places[i])) continue;
			fits = true;
			granted = is_granted(x, y, r, places[i], a);
		}
		if (!granted) gather(l, literal_option(p, a));
	}
	if (fits) return;
	l->count = before;
	gather(l, literal_copy(p, copy));
}

static void gather_copy(struct certificate *x, struct proposal *p,
                        size_t copy, struct literals *l)
{
	const struct copy *y = &x->c->copies[copy];
	uint32_t width = option_width(x, y), low = first_gap(x, y);
	if (low == NO_GAP) return;
	if (y[1].first - y->first == 1) {
		gather_single(x, p, copy, low, l);
		return;
	}
	uint32_t rows = fill_rows(x, copy, low);
	if (rows == 0) {
		gather(l, literal_copy(p, copy));
		return;
	}
	for (uint32_t i = 0; i < rows; i++)
		if (grants_all(x->granted + (size_t)i * width, width)) return;
	int misfit = proposal_variable(p);
	for (uint32_t i = 0; i < rows; i++) {
		proposal_add(p, -misfit);
		add_refused(x, p, y, x->granted + (size_t)i * width);
		proposal_add(p, 0);
	}
	gather(l, misfit);
}

static void learn(struct certificate *x, struct proposal *p)
{
	struct literals l = { 0 };
	for (uint32_t t = 1; t < x->o->n; t++)
		if (x->at[t] == NO_GAP) gather(&l, -literal_out(t));
	bool over = check_clock_over(x->clock);
	for (size_t i = 0; i < x->c->count && !over; i++) {
		gather_copy(x, p, i, &l);
		over = check_clock_over(x->clock);
	}
	if (!over) {
		for (size_t i = 0; i < l.count; i++)
			proposal_add(p, l.items[i]);
		proposal_add(p, 0);
	}
	free(l.items);
}

static void force_none(struct certificate *x)
{
	for (size_t i = 0; i < x->c->count; i++)
		x->forced[i] = (struct place){ NO_GAP, 0 };
}

void certificate_learn_observed(struct certificate *x, struct proposal *p,
                                enum certificate_places places)
{
	force_none(x);
	begin_order(x);
	for (uint32_t i = 1; i < x->o->n; i++) append(x, x->o->order[i]);
	place_writers(x, places);
	sort_copy_writes(x);
	learn(x, p);
}

/* ---- from a serial order of a proposal ---- */

/* The kept transactions in their order, and the copies in the gaps between. */
static void take_order(struct certificate *x,
                       const struct candidate *candidate,
                       const uint32_t *order)
{
	force_none(x);
	begin_order(x);
	for (uint32_t i = 1; i < candidate->facts.n; i++) {
		uint32_t copy = candidate->copy_of[order[i]];
		if (copy == UINT32_MAX)
			append(x, candidate->numbers[order[i]]);
		else
			x->forced[copy] = (struct place){ x->count, i };
	}
}

/* Does t, put at the end of the order, see what it saw? */
static bool fits_at_end(const struct certificate *x, uint32_t t)
{
	const struct observed *o = x->o;
	for (uint32_t i = o->need_first[t]; i < o->need_first[t + 1]; i++)
		if (x->at[o->needs[i]] == NO_GAP) return false;
	for (uint32_t i = o->first[t]; i < o->first[t + 1]; i++) {
		const struct observed_event *e = &o->events[i];
		const struct accesses *a = &x->writers;
		if (e->kind != EVENT_READ) continue;
		uint32_t end = a->end[e->key];
		uint32_t last = end == a->first[e->key]
		                    ? 0 : a->items[end - 1].transaction;
		if (last != e->from) return false;
	}
	return true;
}

/* Would a copy that has its place hide from t, at the end, what it reads? */
static bool is_disturbed(const struct certificate *x, const struct copy *y,
                         struct place place, uint32_t t)
{
	const struct observed *o = x->o;
	if (is_gone(o, y->transaction, t)) return false;
	for (uint32_t i = o->first[t]; i < o->first[t + 1]; i++) {
		const struct observed_event *e = &o->events[i];
		if (e->kind != EVENT_READ) continue;
		if (e->from && x->at[e->from] >= place.gap) continue;
		for (uint32_t k = o->first[y->transaction]; k < y->end; k++)
			if (o->events[k].kind == EVENT_WRITE &&
			    o->events[k].key == e->key)
				return true;
	}
	return false;
}

static bool fits_with_copies(const struct certificate *x,
                             const struct proposal *p, uint32_t t)
{
	for (uint32_t i = 0; i < p->chosen_count; i++) {
		uint32_t copy = p->chosen[i];
		if (is_disturbed(x, &x->c->copies[copy], x->forced[copy], t))
			return false;
	}
	return true;
}

/* Adds what was not kept, where it fits at the end, in the observed order.
 * Gaps of copies stay as they are. */
static void extend_order(struct certificate *x, const struct proposal *p)
{
	for (uint32_t i = 1; i < x->o->n; i++) {
		uint32_t t = x->o->order[i];
		if (x->at[t] == NO_GAP && fits_at_end(x, t) &&
		    fits_with_copies(x, p, t))
			append(x, t);
	}
}

/* Does the proposal have the event read this version, which others could
 * hide? */
static bool is_read_from(const struct certificate *x, const struct proposal *p,
                         const struct copy *y, uint32_t event,
                         uint32_t *version)
{
	const struct observed_event *e = &x->o->events[event];
	*version = e->from;
	if (e->kind != EVENT_READ) return false;
	if (!copy_frees(x->c, y, event)) return true;
	for (uint32_t r = y->first; r < y[1].first; r++) {
		const struct free_read *f = &x->c->reads[r];
		if (f->event != event || f->exclusive) continue;
		for (uint32_t a = f->first; a < f[1].first; a++) {
			*version = x->c->options[a].writer;
			if (p->taken[a]) return true;
		}
	}
	return false;
}

/* Takes their place from other copies that would hide what the proposal's copy
 * reads; true if there was one. */
static bool clear_way(struct certificate *x, const struct proposal *p,
                      uint32_t copy)
{
	const struct copy *y = &x->c->copies[copy];
	bool changed = false;
	for (uint32_t e = x->o->first[y->transaction]; e < y->end; e++) {
		uint32_t version;
		if (!is_read_from(x, p, y, e, &version)) continue;
		uint32_t other = hider(x, y, x->o->events[e].key, version,
		                       x->forced[copy]);
		if (other == UINT32_MAX) continue;
		assert(x->forced[other].gap == NO_GAP);
		x->places[other].gap = NO_GAP;
		changed = true;
	}
	return changed;
}

static void clear_ways(struct certificate *x, const struct proposal *p)
{
	bool changed = true;
	while (changed) {
		changed = false;
		sort_copy_writes(x);
		for (uint32_t i = 0; i < p->chosen_count; i++)
			changed |= clear_way(x, p, p->chosen[i]);
	}
}

void certificate_learn(struct certificate *x, struct proposal *p,
                       const struct candidate *candidate,
                       const uint32_t *order,
                       enum certificate_places places)
{
	take_order(x, candidate, order);
	extend_order(x, p);
	place_writers(x, places);
	clear_ways(x, p);
	learn(x, p);
}

void certificate_refuse_parts(struct proposal *p)
{
	const struct copies *c = p->c;
	uint32_t next = 0;
	for (uint32_t t = 1; t < p->o->n; t++)
		if (!bits_has(p->kept, t)) proposal_add(p, -literal_out(t));
	for (size_t i = 0; i < c->count; i++) {
		bool here = next < p->chosen_count && p->chosen[next] == i;
		if (!here) {
			proposal_add(p, literal_copy(p, i));
			continue;
		}
		next++;
		for (uint32_t a = c->reads[c->copies[i].first].first;
		     a < c->reads[c->copies[i + 1].first].first; a++)
			if (!p->taken[a])
				proposal_add(p, literal_option(p, a));
	}
	proposal_add(p, 0);
}
