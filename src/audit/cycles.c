#include "audit/cycles.h"

#include <assert.h>
#include <string.h>

#include "base/bits.h"
#include "base/memory.h"

enum { ORDERS_MOST = 400, CHOICES_MOST = 2000, ROWS_MOST = 2 * CYCLE_MOST + 2 };

void cycles_init(struct cycle_search *s, const struct conflicts *g,
                 struct audit_limit *limit)
{
	uint32_t n = g->classes->count;
	*s = (struct cycle_search){ .limit = limit,
		                    .graph = g,
		                    .words = BITS_WORDS(n + 1) };
	s->reach = mem_take0((size_t)n * s->words + 1, sizeof *s->reach);
	cycles_prepare(s);
}

void cycles_free(struct cycle_search *s)
{
	free(s->reach);
}

static uint64_t *reach_of(const struct cycle_search *s, uint32_t class)
{
	return s->reach + (size_t) class * s->words;
}

/* Warshall's closure, of the classes that have edges. */
void cycles_prepare(struct cycle_search *s)
{
	const struct conflicts *g = s->graph;
	uint32_t n = g->classes->count;
	memset(s->reach, 0, (size_t)n * s->words * sizeof *s->reach);
	for (uint32_t i = 0; i < g->edge_count; i++)
		if (g->edges[i].alive)
			bits_add(reach_of(s, g->edges[i].from), g->edges[i].to);
	for (uint32_t k = 0; k < n && !limit_reached(s->limit); k++) {
		if (bits_empty(reach_of(s, k), s->words)) continue;
		for (uint32_t i = 0; i < n; i++)
			if (bits_has(reach_of(s, i), k))
				bits_or(reach_of(s, i), reach_of(s, k),
				        s->words);
	}
}

/* ---- can it happen? ---- */

/* One moment of an instance is before one of another. */
struct order {
	uint8_t from, to;
	struct audit_order at;
};

/* Two operations that conflict: one of these holds. */
struct alternative {
	struct order one, other;
};

struct moments {
	const struct conflicts *g;
	const struct audit_cycle *cycle;
	struct order orders[ORDERS_MOST];
	uint32_t order_count;
	struct alternative open[ORDERS_MOST];
	uint32_t open_count, choices;
	/* Rows of instances, of which some are the same. */
	struct row {
		uint8_t instance;
		uint32_t row, same; /* same: the first that it is */
	} rows[ROWS_MOST];
	uint32_t row_count;
	bool full; /* not all fitted: it is taken to be possible */
};

static const struct audit_edge *edge_of(const struct moments *m, uint32_t i)
{
	return &m->g->edges[m->cycle->edges[i % m->cycle->count]];
}

/* Is an instance that is entered so left then, or later? */
static bool comes_before(const struct audit_order *in,
                         const struct audit_order *out)
{
	return in->entry <= out->leave ||
	       (in->entered == out->left && in->entered != CATALOG_NONE);
}

/* Does time go round? From one order to another of the same instance that is
 * left at that moment or later. */
static bool goes_round_from(const struct moments *m, uint32_t at,
                            uint8_t *state)
{
	state[at] = 1;
	for (uint32_t i = 0; i < m->order_count; i++) {
		if (m->orders[i].from != m->orders[at].to ||
		    !comes_before(&m->orders[at].at, &m->orders[i].at))
			continue;
		if (state[i] == 1) return true;
		if (!state[i] && goes_round_from(m, i, state)) return true;
	}
	state[at] = 2;
	return false;
}

static bool goes_round(const struct moments *m)
{
	uint8_t state[ORDERS_MOST] = { 0 };
	for (uint32_t i = 0; i < m->order_count; i++)
		if (!state[i] && goes_round_from(m, i, state)) return true;
	return false;
}

static bool with(struct moments *m, struct order o)
{
	m->orders[m->order_count++] = o;
	bool possible = !goes_round(m);
	m->order_count--;
	return possible;
}

/* Chooses an order for each alternative from `from` on. */
static bool settle(struct moments *m, uint32_t from)
{
	if (m->choices++ > CHOICES_MOST) {
		m->full = true;
		return true;
	}
	if (from == m->open_count) return true;
	for (int other = 0; other < 2; other++) {
		struct order o =
			other ? m->open[from].other : m->open[from].one;
		if (!with(m, o)) continue;
		m->orders[m->order_count++] = o;
		bool possible = settle(m, from + 1);
		m->order_count--;
		if (possible) return true;
	}
	return false;
}

static bool same_order(struct order a, struct order b)
{
	return a.from == b.from && a.to == b.to && a.at.leave == b.at.leave &&
	       a.at.entry == b.at.entry && a.at.left == b.at.left &&
	       a.at.entered == b.at.entered;
}

static void add_alternative(struct moments *m, struct alternative a)
{
	for (uint32_t i = 0; i < m->open_count; i++)
		if (same_order(m->open[i].one, a.one) &&
		    same_order(m->open[i].other, a.other))
			return;
	if (m->open_count + m->order_count + 1 >= ORDERS_MOST) {
		m->full = true;
		return;
	}
	m->open[m->open_count++] = a;
}

static void add_alternatives(struct moments *m, const struct row *a,
                             const struct row *b)
{
	const struct conflicts *g = m->g;
	uint32_t x = edge_of(m, a->instance)->from;
	uint32_t y = edge_of(m, b->instance)->from;
	for (uint32_t i = g->nodes_of[x]; i < g->nodes_of[x + 1]; i++) {
		const struct audit_node *p = &g->nodes[i];
		if (p->row != a->row) continue;
		for (uint32_t k = g->nodes_of[y]; k < g->nodes_of[y + 1]; k++) {
			const struct audit_node *q = &g->nodes[k];
			if (q->row != b->row || !conflicts_in_order(g, p, q))
				continue;
			add_alternative(m,
			                (struct alternative){
						{ a->instance, b->instance,
			                          conflicts_order(g, p, q) },
						{ b->instance, a->instance,
			                          conflicts_order(g, q, p) } });
		}
	}
}

/* The row's number; it is new if the instance has not been seen with it. */
static uint32_t row_number(struct moments *m, uint32_t instance, uint32_t row)
{
	for (uint32_t i = 0; i < m->row_count; i++)
		if (m->rows[i].instance == instance && m->rows[i].row == row)
			return i;
	assert(m->row_count < ROWS_MOST);
	assert(instance <= CYCLE_MOST);
	m->rows[m->row_count] =
		(struct row){ (uint8_t)instance, row, m->row_count };
	return m->row_count++;
}

static void unite(struct moments *m, uint32_t a, uint32_t b)
{
	uint32_t x = m->rows[a].same, y = m->rows[b].same;
	uint32_t low = x < y ? x : y, high = x < y ? y : x;
	for (uint32_t i = 0; i < m->row_count; i++)
		if (m->rows[i].same == high) m->rows[i].same = low;
}

/* An edge between named rows says that they are the same. */
static void find_rows(struct moments *m, uint32_t instances)
{
	m->row_count = 0;
	assert(instances >= m->cycle->count);
	for (uint32_t i = 0; i < m->cycle->count; i++) {
		const struct audit_edge *e = edge_of(m, i);
		if (e->from_row == CATALOG_NONE || e->to_row == CATALOG_NONE)
			continue;
		uint32_t a = row_number(m, i, e->from_row);
		uint32_t b = row_number(m, (i + 1) % instances, e->to_row);
		unite(m, a, b);
	}
}

static void add_cycle(struct moments *m)
{
	uint32_t n = m->cycle->count;
	for (uint32_t i = 0; i < n; i++) {
		const struct audit_edge *e = edge_of(m, i);
		m->orders[m->order_count++] =
			(struct order){ (uint8_t)i, (uint8_t)((i + 1) % n),
			                e->order };
	}
}

bool cycle_can_happen(const struct conflicts *g, const struct audit_cycle *c)
{
	struct moments m;
	assert(c->count >= 2 && c->count <= CYCLE_MOST);
	for (uint32_t i = 0; i < c->count; i++)
		assert(g->edges[c->edges[i]].to ==
		       g->edges[c->edges[(i + 1) % c->count]].from);
	m.g = g;
	m.cycle = c;
	m.order_count = m.open_count = m.choices = 0;
	m.full = false;
	add_cycle(&m);
	if (goes_round(&m)) return false;
	find_rows(&m, c->count);
	for (uint32_t i = 0; i < m.row_count; i++)
		for (uint32_t k = i + 1; k < m.row_count; k++)
			if (m.rows[i].same == m.rows[k].same &&
			    m.rows[i].instance != m.rows[k].instance)
				add_alternatives(&m, &m.rows[i], &m.rows[k]);
	return settle(&m, 0) || m.full;
}

/* ---- search ---- */

/* Are two nodes of these rows in conflict over an open column? */
static bool rows_conflict(const struct conflicts *g, uint32_t class,
                          uint32_t row, uint32_t other, uint32_t other_row)
{
	for (uint32_t p = g->nodes_of[class]; p < g->nodes_of[class + 1]; p++)
		for (uint32_t q = g->nodes_of[other];
		     g->nodes[p].row == row && q < g->nodes_of[other + 1]; q++)
			if (g->nodes[q].row == other_row &&
			    conflicts_over_column(g, &g->nodes[p], &g->nodes[q],
			                          true))
				return true;
	return false;
}

/* The path leads to one more instance, which is next to the first if it is the
 * last of the cycle. Has it a conflict over a row that is the same with one
 * that it is not next to? */
static bool has_chord(const struct conflicts *g, const struct audit_cycle *path,
                      bool is_last)
{
	struct moments m = { .g = g, .cycle = path };
	uint32_t last = path->count;
	find_rows(&m, last + 1);
	uint32_t class = g->edges[path->edges[last - 1]].to;
	for (uint32_t i = 0; i < m.row_count; i++)
		for (uint32_t k = 0; k < m.row_count; k++) {
			const struct row *a = &m.rows[i], *b = &m.rows[k];
			if (a->same == b->same && b->instance == last &&
			    a->instance >= is_last && a->instance + 1u < last &&
			    rows_conflict(g, edge_of(&m, a->instance)->from,
			                  a->row, class, b->row))
				return true;
		}
	return false;
}

struct extension {
	struct cycle_search *s;
	struct audit_cycle cycle;
	uint32_t length; /* of the cycles that are looked for */
	uint64_t limit;
	bool cut; /* longer ones are left */
};

static bool share_column(const struct conflicts *g, const struct audit_edge *a,
                         const struct audit_edge *b)
{
	const uint32_t *x = g->columns + a->first_column;
	const uint32_t *y = g->columns + b->first_column;
	uint32_t i = 0, k = 0;
	while (i < a->column_count && k < b->column_count && x[i] != y[k])
		x[i] < y[k] ? i++ : k++;
	return i < a->column_count && k < b->column_count;
}

static bool extend(struct extension *x);

/* With the edges [from, to). Of those that close the cycle, the ones come first
 * that are over a column of its first edge, if `same`, and then the others: a
 * lost update says more than two things that happen at once. */
static bool extend_by(struct extension *x, uint32_t from, uint32_t to,
                      bool closes, bool same)
{
	const struct conflicts *g = x->s->graph;
	const struct audit_edge *out = &g->edges[x->cycle.edges[0]];
	for (uint32_t i = from; i < to && x->s->tried < x->limit; i++) {
		if (limit_reached(x->s->limit)) {
			x->cut = true;
			return false;
		}
		const struct audit_edge *e = &g->edges[i];
		if (!e->alive || (closes && share_column(g, e, out) != same))
			continue;
		if (closes ? comes_before(&e->order, &out->order)
		           : !bits_has(reach_of(x->s, e->to), out->from))
			continue;
		x->s->tried++;
		x->cycle.edges[x->cycle.count++] = i;
		if (closes ? cycle_can_happen(g, &x->cycle)
		           : !has_chord(g, &x->cycle,
		                        x->cycle.count + 1 == x->length) &&
		                     extend(x))
			return true;
		x->cycle.count--;
	}
	return false;
}

/* Goes on with the edges of the last instance. */
static bool extend(struct extension *x)
{
	const struct conflicts *g = x->s->graph;
	const struct audit_edge *out = &g->edges[x->cycle.edges[0]];
	uint32_t at = g->edges[x->cycle.edges[x->cycle.count - 1]].to, from, to;
	if (x->cycle.count + 1 < x->length)
		return extend_by(x, g->edges_of[at], g->edges_of[at + 1], false,
		                 false);
	x->cut |= x->length == CYCLE_MOST;
	conflicts_between(g, at, out->from, &from, &to);
	return extend_by(x, from, to, true, true) ||
	       extend_by(x, from, to, true, false);
}

/* Can the class be entered after that moment, by an edge that is alive, from a
 * class that this one reaches? */
static bool can_return(const struct cycle_search *s,
                       const struct audit_edge *out)
{
	const struct conflicts *g = s->graph;
	for (uint32_t x = 0; x < g->classes->count; x++) {
		uint32_t from, to;
		if (x != out->to && !bits_has(reach_of(s, out->to), x))
			continue;
		conflicts_between(g, x, out->from, &from, &to);
		for (uint32_t i = from; i < to; i++)
			if (g->edges[i].alive &&
			    !comes_before(&g->edges[i].order, &out->order))
				return true;
	}
	return false;
}

enum cycle_answer cycle_find(struct cycle_search *s, uint32_t edge,
                             struct audit_cycle *out)
{
	const struct audit_edge *e = &s->graph->edges[edge];
	struct extension x = { .s = s };
	assert(e->alive && e->order.leave != INSTANT_END);
	if (!can_return(s, e)) return CYCLE_NONE;
	x.limit = s->tried + CYCLE_TRIED;
	for (x.length = 2; x.length <= CYCLE_MOST; x.length++) {
		x.cycle = (struct audit_cycle){ { edge }, 1 };
		if (!extend(&x)) continue;
		*out = x.cycle;
		assert(out->count == x.length);
		return CYCLE_FOUND;
	}
	return x.cut || s->tried >= x.limit ? CYCLE_OPEN : CYCLE_LOCKED;
}
