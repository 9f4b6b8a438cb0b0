#include "predict/serial_clauses.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "predict/insertion_points.h"

struct serial_clauses {
	const struct observed_history *o;
	const struct divergent_copies *c;
	struct check_clock *clock;
	struct insertion_points p;
};

struct serial_clauses *serial_clauses_new(const struct observed_history *o,
                                          const struct divergent_copies *c,
                                          struct check_clock *clock)
{
	struct serial_clauses *x = mem_take0(1, sizeof *x);
	x->o = o;
	x->c = c;
	x->clock = clock;
	insertion_points_init(&x->p, o, c);
	return x;
}

void serial_clauses_free(struct serial_clauses *x)
{
	if (!x) return;
	insertion_points_free(&x->p);
	free(x);
}

/* ---- the clause ---- */

/* Literals, and zeros where clauses end. */
struct literals {
	int *items;
	size_t count, capacity;
};

static void gather(struct literals *l, int literal)
{
	VEC_RESERVE(l->items, l->count, l->capacity);
	l->items[l->count++] = literal;
}

/* The options that a place refuses. */
static void gather_refused(const struct serial_clauses *x,
                           const struct proposal *p, const struct copy *y,
                           const bool *row, struct literals *l)
{
	uint32_t first = first_option(&x->p, y), width = option_width(&x->p, y);
	assert(first + width <= x->c->option_count);
	for (uint32_t a = 0; a < width; a++)
		if (!row[a]) gather(l, literal_option(p, first + a));
	gather(l, 0);
}

static bool grants_all(const bool *row, uint32_t width)
{
	for (uint32_t a = 0; a < width; a++)
		if (!row[a]) return false;
	return true;
}

/* Each option of the only free read that is granted nowhere; the copy itself if
 * it fits nowhere. */
static void gather_single(const struct serial_clauses *x, struct proposal *p,
                          size_t copy, uint32_t low, struct literals *l)
{
	const struct copy *y = &x->c->copies[copy];
	const struct free_read *r = &x->c->reads[y->first];
	bool fits = false;
	for (uint32_t a = r->first; a < r[1].first; a++) {
		struct place places[3];
		bool granted = false;
		uint32_t writer = x->c->options[a].writer;
		uint32_t count = insertion_points_of_option(&x->p, copy, low,
		                                            writer, places);
		for (uint32_t i = 0; i < count && !granted; i++) {
			if (!fits_at(&x->p, y, places[i])) continue;
			fits = true;
			granted = is_granted(&x->p, y, r, places[i], a);
		}
		if (!granted) gather(l, literal_option(p, a));
	}
	if (!fits) {
		l->count = 0;
		gather(l, literal_copy(p, copy));
	}
	if (l->count) gather(l, 0);
}

/* Clauses that say together that the copy fits at no place with the options
 * taken; none if it always fits, or is not meant. */
static void gather_copy(struct serial_clauses *x, struct proposal *p,
                        size_t copy, struct literals *l)
{
	const struct copy *y = &x->c->copies[copy];
	uint32_t width = option_width(&x->p, y), low = first_gap(&x->p, y);
	l->count = 0;
	if (low == NO_GAP) return;
	assert(low <= x->p.s.count);
	if (y[1].first - y->first == 1) {
		gather_single(x, p, copy, low, l);
		return;
	}
	uint32_t rows = fill_rows(&x->p, copy, low);
	for (uint32_t i = 0; i < rows; i++)
		if (grants_all(x->p.granted + (size_t)i * width, width)) return;
	for (uint32_t i = 0; i < rows; i++)
		gather_refused(x, p, y, x->p.granted + (size_t)i * width, l);
	if (rows) return;
	gather(l, literal_copy(p, copy));
	gather(l, 0);
}

/* Transactions are kept together with all that they need, so that some that are
 * not in the order are kept only if a first one of them is. */
static bool is_first_outside(const struct serial_clauses *x, uint32_t t)
{
	const struct observed_history *o = x->o;
	const struct facts *f = o->facts;
	if (x->p.s.at[t] != NO_GAP) return false;
	for (uint32_t i = o->need_first[t]; i < o->need_first[t + 1]; i++)
		if (x->p.s.at[o->needs[i]] == NO_GAP) return false;
	for (uint32_t i = f->read_first[t]; i < f->read_first[t + 1]; i++)
		if (f->reads[i].from && x->p.s.at[f->reads[i].from] == NO_GAP)
			return false;
	return true;
}

enum { BRANCHES = 16 };

/* One literal for each few of the list; a 0 stands for nothing, and the others
 * keep their places, so that equal parts of two lists meet. Returns how many
 * there are then. */
static size_t join_literals(struct proposal *p, int *list, size_t count)
{
	size_t joined = 0;
	for (size_t i = 0; i < count; joined++) {
		int clause[BRANCHES + 1];
		size_t length = 0;
		for (int k = 0; k < BRANCHES && i < count; k++, i++)
			if (list[i]) clause[length++] = list[i];
		clause[length] = 0;
		list[joined] =
			length ? proposal_implying(p, clause, length + 1) : 0;
	}
	return joined;
}

/* A clause with a literal for each copy would be long, and its like come again
 * and again: it is a tree of short ones that most of them have in common. */
static void learn(struct serial_clauses *x, struct proposal *p)
{
	struct literals l = { 0 };
	size_t count = x->c->count;
	int *misfits = mem_take0(count + 1, sizeof *misfits);
	bool over = check_clock_over(x->clock);
	for (size_t i = 0; i < x->c->count && !over; i++) {
		gather_copy(x, p, i, &l);
		if (l.count)
			misfits[i] = proposal_implying(p, l.items, l.count);
		over = check_clock_over(x->clock);
	}
	free(l.items);
	while (count > BRANCHES && !over)
		count = join_literals(p, misfits, count);
	for (size_t i = 0; i < count && !over; i++)
		if (misfits[i]) proposal_add(p, misfits[i]);
	for (uint32_t t = 1; t < x->o->n && !over; t++)
		if (is_first_outside(x, t)) proposal_add(p, -literal_out(t));
	if (!over) proposal_add(p, 0);
	free(misfits);
}

void serial_clauses_learn_observed(struct serial_clauses *x, struct proposal *p,
                                   enum places_of_writers places)
{
	insertion_points_force_none(&x->p);
	serial_order_begin(&x->p.s);
	for (uint32_t i = 1; i < x->o->n; i++)
		serial_order_append(&x->p.s, x->o->order[i]);
	insertion_points_choose(&x->p, places);
	insertion_points_sort(&x->p);
	learn(x, p);
}

/* ---- from a serial order of a proposal ---- */

/* The kept transactions in their order, and the copies in the gaps between. */
static void take_order(struct serial_clauses *x,
                       const struct candidate *candidate, const uint32_t *order)
{
	struct serial_order *s = &x->p.s;
	insertion_points_force_none(&x->p);
	serial_order_begin(s);
	for (uint32_t i = 1; i < candidate->facts.n; i++) {
		uint32_t t = order[i], copy = candidate->copy_of[t];
		assert(t > 0 && t < candidate->facts.n);
		if (copy == UINT32_MAX)
			serial_order_append(s, candidate->numbers[t]);
		else
			x->p.forced[copy] = (struct place){ s->count, i };
	}
}

/* Would a copy that has its place hide from t, at the end, what it reads? */
static bool is_disturbed(const struct serial_clauses *x, const struct copy *y,
                         struct place place, uint32_t t)
{
	const struct observed_history *o = x->o;
	if (is_gone(o, y->transaction, t)) return false;
	for (uint32_t i = o->first[t]; i < o->first[t + 1]; i++) {
		const struct observed_event *e = &o->events[i];
		if (e->kind != EVENT_READ) continue;
		if (e->from && x->p.s.at[e->from] >= place.gap) continue;
		for (uint32_t k = o->first[y->transaction]; k < y->end; k++)
			if (o->events[k].kind == EVENT_WRITE &&
			    o->events[k].key == e->key)
				return true;
	}
	return false;
}

static bool fits_with_copies(const struct serial_clauses *x,
                             const struct proposal *p, uint32_t t)
{
	for (uint32_t i = 0; i < p->chosen_count; i++) {
		uint32_t copy = p->chosen[i];
		if (is_disturbed(x, &x->c->copies[copy], x->p.forced[copy], t))
			return false;
	}
	return true;
}

/* Adds what was not kept, where it fits at the end, in the observed order.
 * Gaps of copies stay as they are. */
static void extend_order(struct serial_clauses *x, const struct proposal *p)
{
	struct serial_order *s = &x->p.s;
	for (uint32_t i = 1; i < x->o->n; i++) {
		uint32_t t = x->o->order[i];
		if (s->at[t] == NO_GAP && serial_order_fits_at_end(s, t) &&
		    fits_with_copies(x, p, t))
			serial_order_append(s, t);
	}
}

/* Does the proposal have the event read this version, which others could
 * hide? */
static bool is_read_from(const struct serial_clauses *x,
                         const struct proposal *p, const struct copy *y,
                         uint32_t event, uint32_t *version)
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
static bool clear_way(struct serial_clauses *x, const struct proposal *p,
                      uint32_t copy)
{
	const struct copy *y = &x->c->copies[copy];
	bool changed = false;
	for (uint32_t e = x->o->first[y->transaction]; e < y->end; e++) {
		uint32_t version;
		if (!is_read_from(x, p, y, e, &version)) continue;
		uint32_t other = hider(&x->p, y, x->o->events[e].key, version,
		                       x->p.forced[copy]);
		if (other == UINT32_MAX) continue;
		assert(x->p.forced[other].gap == NO_GAP);
		x->p.places[other].gap = NO_GAP;
		changed = true;
	}
	return changed;
}

static void clear_ways(struct serial_clauses *x, const struct proposal *p)
{
	bool changed = true;
	while (changed) {
		changed = false;
		insertion_points_sort(&x->p);
		for (uint32_t i = 0; i < p->chosen_count; i++)
			changed |= clear_way(x, p, p->chosen[i]);
	}
}

void serial_clauses_learn(struct serial_clauses *x, struct proposal *p,
                          const struct candidate *candidate,
                          const uint32_t *order, enum places_of_writers places)
{
	take_order(x, candidate, order);
	extend_order(x, p);
	insertion_points_choose(&x->p, places);
	clear_ways(x, p);
	learn(x, p);
}

void serial_clauses_refuse_parts(struct proposal *p)
{
	const struct divergent_copies *c = p->c;
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
		assert(next <= p->chosen_count);
		for (uint32_t a = c->reads[c->copies[i].first].first;
		     a < c->reads[c->copies[i + 1].first].first; a++)
			if (!p->taken[a]) proposal_add(p, literal_option(p, a));
	}
	proposal_add(p, 0);
}
