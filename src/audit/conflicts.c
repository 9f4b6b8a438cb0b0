#include "audit/conflicts.h"

#include <assert.h>
#include <string.h>

#include "base/bits.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/number.h"

/* Moments within a statement: four of each. A plain read is left before it is
 * entered where its statement has no snapshot: rows are read one after the
 * other. */
enum { STATEMENT_MOMENTS = 4, READ_ENTERED = 1, LOCKED_AT = 2, ENDED_AT = 3 };

bool conflicts_level(enum level l)
{
	return level_has_statements(l) || level_is_serial(l) ||
	       (level_has_snapshots(l) && level_excludes_rivals(l)) ||
	       level_sight(l) == SIGHT_SOURCES;
}

/* ---- nodes ---- */

static void add_column(struct conflicts *g, uint32_t column)
{
	VEC_RESERVE(g->columns, g->column_count, g->column_capacity);
	g->columns[g->column_count++] = column;
}

/* Of those added since: ascending, each once. */
static uint32_t settle_columns(struct conflicts *g, uint32_t first)
{
	uint32_t n = g->column_count - first, kept = 0;
	if (!n) return 0;
	uint32_t *c = g->columns + first;
	qsort(c, n, sizeof *c, number_compare);
	for (uint32_t i = 0; i < n; i++)
		if (!kept || c[kept - 1] != c[i]) c[kept++] = c[i];
	assert(kept <= n);
	g->column_count = first + kept;
	return kept;
}

static const struct audit_key *key_of(const struct conflicts *g, uint32_t of,
                                      uint32_t statement, uint32_t place)
{
	const struct transaction_class *x = &g->classes->items[of];
	uint32_t template = x->statements[statement].template;
	return g->classes->templates.items[template].places[place].key;
}

/* Is the row named by a value that no two transactions share? */
static bool is_own_row(const struct conflicts *g, uint32_t of,
                       uint32_t statement, uint32_t place)
{
	const struct transaction_class *x = &g->classes->items[of];
	const struct class_statement *s = &x->statements[statement];
	const struct audit_key *key = key_of(g, of, statement, place);
	if (!x->places[s->first_place + place].named || !key) return false;
	for (uint32_t i = 0; i < key->count; i++)
		if (g->catalog->columns[key->columns[i]].unique) return true;
	return false;
}

static void add_node(struct conflicts *g, uint32_t of, uint32_t statement,
                     uint32_t first)
{
	const struct shape *s = class_shape(g->classes, of, statement);
	const struct transaction_class *x = &g->classes->items[of];
	const struct operation *o = &s->items[first];
	uint32_t place = x->statements[statement].first_place + o->place;
	if (is_own_row(g, of, statement, o->place)) return;
	for (uint32_t i = 0; i < first; i++)
		if (s->items[i].place == o->place &&
		    s->items[i].flags == o->flags)
			return; /* it is part of that node */
	VEC_RESERVE(g->nodes, g->node_count, g->node_capacity);
	struct audit_node *n = &g->nodes[g->node_count++];
	const struct class_place *p = &x->places[place];
	*n = (struct audit_node){
		.of = of,
		.statement = statement,
		.place = place,
		.table = p->table,
		.row = p->named ? p->row : CATALOG_NONE,
		.key = p->named ? key_of(g, of, statement, o->place) : NULL,
		.flags = o->flags,
		.first_column = g->column_count
	};
	for (uint32_t i = first; i < s->count; i++)
		if (s->items[i].place == o->place &&
		    s->items[i].flags == o->flags)
			add_column(g, s->items[i].column);
	n->column_count = settle_columns(g, n->first_column);
	for (uint32_t i = 0; i < n->column_count; i++)
		n->any |= column_is_any(g->catalog,
		                        g->columns[n->first_column + i]);
}

/* Does it make a row come or go, or be named otherwise? */
static bool moves_rows(const struct conflicts *g, const struct audit_node *n)
{
	const struct audit_table *t = &g->catalog->tables[n->table];
	if (!(n->flags & OPERATION_WRITE) || t->exists) return false;
	if (n->any || n->flags & (OPERATION_FRESH | OPERATION_GONE))
		return true;
	for (uint32_t i = 0; i < t->key_count; i++)
		for (uint32_t k = 0; k < t->keys[i].count; k++)
			for (uint32_t c = 0; c < n->column_count; c++)
				if (g->columns[n->first_column + c] ==
				    t->keys[i].columns[k])
					return true;
	return false;
}

static void add_nodes(struct conflicts *g)
{
	const struct classes *c = g->classes;
	g->moving = mem_take0(BITS_WORDS(g->catalog->table_count + 1),
	                      sizeof *g->moving);
	g->nodes_of = mem_take((c->count + 1) * sizeof *g->nodes_of);
	for (uint32_t i = 0; i < c->count; i++) {
		const struct transaction_class *x = &c->items[i];
		g->nodes_of[i] = g->node_count;
		if (x->ignored || (x->tolerates && x->reads_only)) continue;
		for (uint32_t s = 0; s < x->count; s++)
			for (uint32_t k = 0; k < class_shape(c, i, s)->count;
			     k++)
				add_node(g, i, s, k);
	}
	g->nodes_of[c->count] = g->node_count;
	for (uint32_t i = 0; i < g->node_count; i++)
		if (moves_rows(g, &g->nodes[i]))
			bits_add(g->moving, g->nodes[i].table);
}

/* ---- moments ---- */

static bool is_write(const struct audit_node *n)
{
	return n->flags & OPERATION_WRITE;
}

static bool has_snapshot(const struct conflicts *g)
{
	return level_has_snapshots(g->level);
}

/* When the transaction of the node begins, of those of its call. */
static uint32_t begun_at(const struct conflicts *g, const struct audit_node *n)
{
	const struct class_statement *s = g->classes->items[n->of].statements;
	uint32_t first = n->statement;
	while (first && !s[first - 1].ends) first--;
	return STATEMENT_MOMENTS * first;
}

/* When it ends: INSTANT_END for the last one. */
static uint32_t ended_at(const struct conflicts *g, const struct audit_node *n)
{
	const struct transaction_class *x = &g->classes->items[n->of];
	uint32_t last = n->statement;
	assert(last < x->count);
	while (last + 1 < x->count && !x->statements[last].ends) last++;
	return last + 1 == x->count ? INSTANT_END
	                            : STATEMENT_MOMENTS * last + ENDED_AT;
}

/* When a write, or a read of a locked row, has its lock. */
static uint32_t locked_at(const struct conflicts *g, const struct audit_node *n)
{
	if (!has_snapshot(g))
		return STATEMENT_MOMENTS * n->statement + LOCKED_AT;
	/* What is inserted need not be in the snapshot. */
	return begun_at(g, n) + (n->flags & OPERATION_FRESH ? 1 : 0);
}

/* Does a lock keep what was read until the end? No row is locked before it is
 * there, but ON CONFLICT has found one, and its key is taken. A condition
 * without a key is read of rows that do not meet it as well, which are not
 * locked: that one of them goes away changes nothing, but it may be changed so
 * that it does. Snapshot isolation lets others write what was only locked. */
static bool keeps(const struct conflicts *g, const struct audit_node *read,
                  const struct audit_node *write)
{
	if (write->flags & OPERATION_FRESH)
		return read->flags & OPERATION_FOUND;
	if (read->flags & OPERATION_CONDITION && read->row == CATALOG_NONE &&
	    !(write->flags & OPERATION_GONE))
		return false;
	return read->flags &
	       (has_snapshot(g) ? OPERATION_CHANGE
	                        : OPERATION_CHANGE | OPERATION_LOCKED);
}

static bool is_locking(const struct conflicts *g, const struct audit_node *n)
{
	if (is_write(n)) return !(n->flags & OPERATION_FRESH);
	return !has_snapshot(g) &&
	       n->flags & (OPERATION_CHANGE | OPERATION_LOCKED);
}

/* When the transaction first locks the row of this node, by a write if
 * `writes`; INSTANT_END if it does not. If the node finds a row that a lock
 * before did not, another instance has inserted it between the two, which is an
 * anomaly of two in itself. */
static uint32_t first_lock(const struct conflicts *g,
                           const struct audit_node *of, bool writes)
{
	uint32_t first = INSTANT_END;
	if (of->row == CATALOG_NONE) return first;
	for (uint32_t i = g->nodes_of[of->of]; i < g->nodes_of[of->of + 1];
	     i++) {
		const struct audit_node *n = &g->nodes[i];
		if (n->row == of->row && n->table == of->table &&
		    begun_at(g, n) == begun_at(g, of) && is_locking(g, n) &&
		    (is_write(n) || !writes) && locked_at(g, n) < first)
			first = locked_at(g, n);
	}
	return first;
}

static bool excludes(const struct conflicts *g, uint32_t a, uint32_t b)
{
	for (uint32_t i = 0; i < g->hints->class_count; i++) {
		const struct class_hint *h = &g->hints->classes[i];
		uint32_t x = h->classes[0], y = h->classes[1];
		if (h->kind == HINT_EXCLUSIVE &&
		    ((x == a && y == b) || (x == b && y == a)))
			return true;
	}
	return false;
}

/* One row that is read at one moment, somewhere in its statement. */
static uint32_t read_of_one(const struct conflicts *g,
                            const struct audit_node *read)
{
	assert(!is_write(read));
	return has_snapshot(g) || level_has_statements(g->level) ||
	                       read->row == CATALOG_NONE
	               ? CATALOG_NONE
	               : read->place;
}

/* wr, ww: once the write has committed. */
static struct audit_order order_after_write(const struct conflicts *g,
                                            const struct audit_node *first,
                                            const struct audit_node *then)
{
	struct audit_order o = { ended_at(g, first), begun_at(g, then),
		                 CATALOG_NONE, CATALOG_NONE };
	if (is_write(then) || is_locking(g, then)) {
		o.entry = locked_at(g, then);
	} else if (!has_snapshot(g)) {
		o.entry = STATEMENT_MOMENTS * then->statement;
		if (!level_has_statements(g->level)) o.entry += READ_ENTERED;
		o.entered = read_of_one(g, then);
	}
	uint32_t locked = first_lock(g, then, false);
	if (locked < o.entry && !(first->flags & OPERATION_FRESH)) {
		o.entry = locked;
		o.entered = CATALOG_NONE;
	}
	return o;
}

struct audit_order conflicts_order(const struct conflicts *g,
                                   const struct audit_node *first,
                                   const struct audit_node *then)
{
	struct audit_order o = { INSTANT_END, 0, CATALOG_NONE, CATALOG_NONE };
	assert(is_write(first) || is_write(then) ||
	       (is_locking(g, first) && is_locking(g, then)));
	if (excludes(g, first->of, then->of)) return o;
	o = (struct audit_order){ ended_at(g, first), begun_at(g, then),
		                  CATALOG_NONE, CATALOG_NONE };
	/* As if each transaction happened at one moment. */
	if (level_is_serial(g->level)) {
		if (o.leave != INSTANT_END) o.leave = begun_at(g, first);
		return o;
	}
	if (is_write(first)) return order_after_write(g, first, then);
	uint32_t at = has_snapshot(g) ? begun_at(g, first)
	                              : STATEMENT_MOMENTS * first->statement;
	bool fresh = then->flags & OPERATION_FRESH;
	bool kept = keeps(g, first, then) ||
	            (!fresh && first_lock(g, first, false) <= at);
	uint32_t locked = first_lock(g, then, !kept);
	if (fresh || locked > locked_at(g, then)) locked = locked_at(g, then);
	if (kept || level_sight(g->level) == SIGHT_SOURCES)
		o.entry = locked;
	else
		o.entry = ended_at(g, then);
	if (kept) return o;
	o.leave = at;
	o.left = read_of_one(g, first);
	return o;
}

/* ---- edges ---- */

/* A column of both; it is added to `to`, if that is not NULL. */
static bool met(struct conflicts *to, const struct conflicts *g, bool both_add,
                uint32_t column, const uint64_t *but)
{
	if (both_add && g->catalog->columns[column].commutes) return false;
	if (but && bits_has(but, column)) return false;
	if (to) add_column(to, column);
	return true;
}

/* The columns that they have both, but those of `but`, which may be NULL. A
 * table's "*" is any of its columns. */
static bool meet(struct conflicts *to, const struct conflicts *g,
                 const struct audit_node *a, const struct audit_node *b,
                 const uint64_t *but)
{
	bool both_add = a->flags & b->flags & OPERATION_ADD, any = false;
	/* A row that comes or goes has all columns: others have defaults. */
	unsigned rows = OPERATION_FRESH | OPERATION_GONE;
	const struct audit_node *read = a->flags & rows && !is_write(b) ? b
	                                : b->flags & rows && !is_write(a)
	                                        ? a
	                                        : NULL;
	for (uint32_t i = 0; read && i < read->column_count; i++) {
		any |= met(to, g, false, g->columns[read->first_column + i],
		           but);
		if (any && !to) return true;
	}
	if (read) return any;
	for (uint32_t i = 0, k = 0; i < a->column_count; i++) {
		uint32_t x = g->columns[a->first_column + i];
		bool all = a->any && column_is_any(g->catalog, x);
		for (k = all || b->any ? 0 : k; k < b->column_count; k++) {
			uint32_t y = g->columns[b->first_column + k];
			if (!a->any && !b->any && y > x) break;
			if (x != y && !all &&
			    !(b->any && column_is_any(g->catalog, y)))
				continue;
			any |= met(to, g, both_add, all ? y : x, but);
			if (any && !to) return true;
		}
	}
	return any;
}

/* Has the inserted row a key that the database makes? No other was named by it
 * before. */
static bool has_new_key(const struct conflicts *g,
                        const struct audit_node *write,
                        const struct audit_key *key)
{
	assert(write->flags & OPERATION_FRESH);
	if (write->any) return false;
	for (uint32_t i = 0; i < key->count; i++)
		for (uint32_t k = 0; k < write->column_count; k++)
			if (g->columns[write->first_column + k] ==
			    key->columns[i])
				return false;
	return true;
}

static bool may_conflict(const struct conflicts *g, const struct audit_node *a,
                         const struct audit_node *b)
{
	unsigned both = a->flags & b->flags, one = a->flags | b->flags;
	if (a->table != b->table || !(one & OPERATION_WRITE)) return false;
	/* Two rows that are inserted are two rows. */
	if (both & OPERATION_FRESH) return false;
	/* A row that is there was not inserted just now. */
	const struct audit_node *read = is_write(a) ? b : a;
	const struct audit_node *write = is_write(a) ? a : b;
	if (write->flags & OPERATION_FRESH && read->key &&
	    has_new_key(g, write, read->key))
		return false;
	return !(g->catalog->tables[a->table].exists && one & OPERATION_FRESH &&
	         !is_write(read) && read->row != CATALOG_NONE);
}

bool conflicts_over_column(const struct conflicts *g,
                           const struct audit_node *a,
                           const struct audit_node *b, bool open)
{
	return may_conflict(g, a, b) &&
	       meet(NULL, g, a, b, open ? g->protected : NULL);
}

bool conflicts_in_order(const struct conflicts *g, const struct audit_node *a,
                        const struct audit_node *b)
{
	if (a->table != b->table) return false;
	bool writes = is_write(a) || is_write(b);
	if (bits_has(g->moving, a->table)) {
		unsigned one = a->flags | b->flags;
		bool both = is_write(a) && is_write(b);
		return !both && one & OPERATION_FRESH &&
		       conflicts_over_column(g, a, b, false);
	}
	if (is_locking(g, a) && is_locking(g, b) &&
	    (writes || !(a->flags & b->flags & OPERATION_SHARED)))
		return true;
	return conflicts_over_column(g, a, b, false);
}

static bool alike(const struct audit_edge *a, const struct audit_edge *b)
{
	return a->from == b->from && a->to == b->to &&
	       a->order.leave == b->order.leave &&
	       a->order.entry == b->order.entry &&
	       a->order.entered == b->order.entered &&
	       a->from_row == b->from_row && a->to_row == b->to_row &&
	       a->kind == b->kind &&
	       /* What is to be changed is told by the statement. */
	       (a->order.leave == INSTANT_END || a->from_node == b->from_node);
}

static uint64_t hash_edge(const struct audit_edge *e)
{
	uint32_t parts[] = {
		e->from,        e->to,
		e->order.leave, e->order.entry,
		e->from_row,    e->to_row,
		e->kind,        e->order.leave == INSTANT_END ? 0 : e->from_node
	};
	return hash_bytes(9, parts, sizeof parts);
}

struct edge_columns {
	uint32_t edge, column;
};

struct edge_builder {
	struct table seen;
	struct edge_columns *pairs;
	uint32_t count, capacity;
};

static void add_edge(struct conflicts *g, struct edge_builder *b,
                     const struct audit_node *from, const struct audit_node *to,
                     uint32_t first_column)
{
	struct audit_edge e = { .from = from->of,
		                .to = to->of,
		                .order = conflicts_order(g, from, to),
		                .from_row = from->row,
		                .to_row = to->row,
		                .kind = !is_write(from) ? CONFLICT_RW
		                        : !is_write(to) ? CONFLICT_WR
		                                        : CONFLICT_WW,
		                .from_node = (uint32_t)(from - g->nodes),
		                .to_node = (uint32_t)(to - g->nodes),
		                .alive = true };
	struct table_probe p = table_probe(hash_edge(&e));
	uint32_t i;
	while ((i = table_next(&b->seen, &p)) != TABLE_NONE)
		if (alike(&g->edges[i], &e)) break;
	if (i == TABLE_NONE) {
		VEC_RESERVE(g->edges, g->edge_count, g->edge_capacity);
		i = g->edge_count++;
		g->edges[i] = e;
		table_put(&b->seen, p, i);
	}
	for (uint32_t k = first_column; k < g->column_count; k++) {
		VEC_RESERVE(b->pairs, b->count, b->capacity);
		b->pairs[b->count++] =
			(struct edge_columns){ i, g->columns[k] };
	}
}

static int compare_pairs(const void *a, const void *b)
{
	const struct edge_columns *x = a, *y = b;
	if (x->edge != y->edge) return x->edge < y->edge ? -1 : 1;
	return (x->column > y->column) - (x->column < y->column);
}

static void settle_edges(struct conflicts *g, struct edge_builder *b)
{
	if (b->count)
		qsort(b->pairs, b->count, sizeof *b->pairs, compare_pairs);
	for (uint32_t i = 0, e = 0; e < g->edge_count; e++) {
		g->edges[e].first_column = g->column_count;
		for (; i < b->count && b->pairs[i].edge == e; i++)
			add_column(g, b->pairs[i].column);
		g->edges[e].column_count =
			settle_columns(g, g->edges[e].first_column);
		assert(g->edges[e].column_count);
	}
}

static int compare_edges(const void *a, const void *b)
{
	const struct audit_edge *x = a, *y = b;
	const uint32_t u[] = { x->from,    x->to,          x->from_node,
		               x->to_node, x->order.leave, x->order.entry,
		               x->kind };
	const uint32_t v[] = { y->from,    y->to,          y->from_node,
		               y->to_node, y->order.leave, y->order.entry,
		               y->kind };
	for (size_t i = 0; i < sizeof u / sizeof *u; i++)
		if (u[i] != v[i]) return u[i] < v[i] ? -1 : 1;
	return 0;
}

static void index_edges(struct conflicts *g)
{
	uint32_t n = g->classes->count, at = 0;
	if (g->edge_count)
		qsort(g->edges, g->edge_count, sizeof *g->edges, compare_edges);
	g->edges_of = mem_take((n + 1) * sizeof *g->edges_of);
	for (uint32_t i = 0; i < n; i++) {
		g->edges_of[i] = at;
		while (at < g->edge_count && g->edges[at].from == i) at++;
	}
	g->edges_of[n] = at;
	assert(at == g->edge_count);
}

/* The first edge of the class to that one, or to a later one. */
static uint32_t first_edge(const struct conflicts *g, uint32_t one,
                           uint32_t other)
{
	uint32_t low = g->edges_of[one], high = g->edges_of[one + 1];
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (g->edges[middle].to < other)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void conflicts_between(const struct conflicts *g, uint32_t one, uint32_t other,
                       uint32_t *from, uint32_t *to)
{
	assert(one < g->classes->count && other < g->classes->count);
	*from = first_edge(g, one, other);
	*to = first_edge(g, one, other + 1);
}

/* That a row comes or goes is seen by the condition that it meets, if there is
 * one of its columns: what else is read of it then adds nothing. */
static bool is_seen_by_condition(const struct conflicts *g,
                                 const struct audit_node *read,
                                 const struct audit_node *write)
{
	if (read->flags & (OPERATION_WRITE | OPERATION_CONDITION) ||
	    !(write->flags & (OPERATION_FRESH | OPERATION_GONE)))
		return false;
	for (uint32_t i = g->nodes_of[read->of]; i < g->nodes_of[read->of + 1];
	     i++) {
		const struct audit_node *n = &g->nodes[i];
		if (n->place == read->place && n->flags & OPERATION_CONDITION &&
		    meet(NULL, g, n, write, NULL))
			return true;
	}
	return false;
}

struct by_table {
	uint32_t table, node;
};

static int compare_tables(const void *a, const void *b)
{
	const struct by_table *x = a, *y = b;
	if (x->table != y->table) return x->table < y->table ? -1 : 1;
	return (x->node > y->node) - (x->node < y->node);
}

static void add_edges(struct conflicts *g)
{
	struct edge_builder b = { .pairs = NULL };
	struct by_table *order = mem_take((g->node_count + 1) * sizeof *order);
	table_init(&b.seen, 256);
	for (uint32_t i = 0; i < g->node_count; i++)
		order[i] = (struct by_table){ g->nodes[i].table, i };
	qsort(order, g->node_count, sizeof *order, compare_tables);
	for (uint32_t i = 0; i < g->node_count; i++)
		for (uint32_t k = i;
		     k < g->node_count && order[k].table == order[i].table &&
		     !limit_reached(g->limit);
		     k++) {
			const struct audit_node *x = &g->nodes[order[i].node];
			const struct audit_node *y = &g->nodes[order[k].node];
			uint32_t first = g->column_count;
			if (!may_conflict(g, x, y) ||
			    is_seen_by_condition(g, x, y) ||
			    is_seen_by_condition(g, y, x) ||
			    !meet(g, g, x, y, NULL))
				continue;
			add_edge(g, &b, x, y, first);
			if (x != y) add_edge(g, &b, y, x, first);
			g->column_count = first;
		}
	settle_edges(g, &b);
	index_edges(g);
	free(order);
	free(b.pairs);
	table_free(&b.seen);
}

/* ---- counts, as IsoDiff has them ---- */

/* Reads, writes and writes of new rows of each column that the class has. */
struct counts {
	uint32_t column, reads, writes, fresh;
};

static uint32_t count_class(const struct conflicts *g, uint32_t of,
                            struct counts *out)
{
	const struct transaction_class *x = &g->classes->items[of];
	uint32_t n = 0, total = 0;
	uint32_t *at = mem_take(g->catalog->column_count * sizeof *at + 1);
	memset(at, 0xff, g->catalog->column_count * sizeof *at);
	for (uint32_t s = 0; s < x->count; s++) {
		const struct shape *shape = class_shape(g->classes, of, s);
		for (uint32_t k = 0; k < shape->count; k++) {
			const struct operation *o = &shape->items[k];
			if (o->flags & OPERATION_UNCOUNTED) continue;
			if (at[o->column] == UINT32_MAX) {
				at[o->column] = n;
				out[n++] =
					(struct counts){ o->column, 0, 0, 0 };
			}
			struct counts *c = &out[at[o->column]];
			total++;
			if (o->flags & OPERATION_FRESH)
				c->fresh++;
			else if (o->flags & OPERATION_WRITE)
				c->writes++;
			else
				c->reads++;
		}
	}
	assert(total == x->operations);
	free(at);
	return n;
}

static uint64_t pairs_of(const struct counts *a, const struct counts *b)
{
	uint64_t writes = (uint64_t)a->writes + a->fresh;
	return writes * b->reads + (uint64_t)a->reads * (b->writes + b->fresh) +
	       writes * (b->writes + b->fresh) - (uint64_t)a->fresh * b->fresh;
}

static void count(struct conflicts *g)
{
	uint32_t n = g->classes->count;
	struct counts **of = mem_take0(n + 1, sizeof *of);
	uint32_t *counts = mem_take0(n + 1, sizeof *counts);
	const struct counts **at =
		mem_take0(g->catalog->column_count + 1, sizeof *at);
	for (uint32_t i = 0; i < n; i++) {
		of[i] = mem_take((g->classes->items[i].operations + 1) *
		                 sizeof **of);
		counts[i] = count_class(g, i, of[i]);
	}
	for (uint32_t i = 0; i < n && !limit_reached(g->limit); i++) {
		for (uint32_t k = 0; k < counts[i]; k++)
			at[of[i][k].column] = &of[i][k];
		for (uint32_t j = i; j < n; j++) {
			uint64_t all = 0;
			for (uint32_t k = 0; k < counts[j]; k++) {
				const struct counts *y = &of[j][k];
				const struct counts *x = at[y->column];
				if (!x) continue;
				uint64_t p = pairs_of(x, y);
				/* With itself, each pair once. */
				if (i == j) p = (p + y->writes) / 2;
				all += p;
			}
			*(i == j ? &g->selves : &g->pairs) += all;
			*(i == j ? &g->class_selves : &g->class_pairs) +=
				all > 0;
		}
		for (uint32_t k = 0; k < counts[i]; k++)
			at[of[i][k].column] = NULL;
	}
	for (uint32_t i = 0; i < n; i++) free(of[i]);
	free(of);
	free(counts);
	free(at);
	for (uint32_t i = 0; i < g->edge_count; i++)
		g->dangerous += g->edges[i].order.leave != INSTANT_END;
}

/* ---- all of it ---- */

void conflicts_init(struct conflicts *g, const struct classes *c,
                    const struct catalog *catalog, const struct hints *h,
                    enum level l, struct audit_limit *limit)
{
	assert(conflicts_level(l));
	*g = (struct conflicts){ .classes = c,
		                 .catalog = catalog,
		                 .hints = h,
		                 .level = l,
		                 .limit = limit };
	add_nodes(g);
	add_edges(g);
	count(g);
}

void conflicts_free(struct conflicts *g)
{
	free(g->nodes);
	free(g->moving);
	free(g->nodes_of);
	free(g->columns);
	free(g->edges);
	free(g->edges_of);
	*g = (struct conflicts){ 0 };
}

void conflicts_protect(struct conflicts *g, const uint64_t *protected)
{
	g->protected = protected;
	for (uint32_t i = 0; i < g->edge_count; i++) {
		struct audit_edge *e = &g->edges[i];
		e->alive = false;
		for (uint32_t k = 0; k < e->column_count && !e->alive; k++)
			e->alive = !bits_has(protected,
			                     g->columns[e->first_column + k]);
	}
}
