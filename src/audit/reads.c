#include "audit/walk.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"

enum { DEPTH_MOST = 200 };

void walk_add(struct walk *w, uint32_t column, uint32_t place, unsigned flags)
{
	struct operations *a = w->to;
	assert(place < a->place_count && flags < 1u << 16);
	assert(w->catalog->columns[column].table == a->places[place].table);
	if (place > UINT16_MAX) return;
	VEC_RESERVE(a->items, a->count, a->capacity);
	a->items[a->count++] =
		(struct operation){ column, (uint16_t)place, (uint16_t)flags };
}

uint32_t walk_place(struct walk *w, uint32_t table)
{
	struct operations *a = w->to;
	VEC_RESERVE(a->places, a->place_count, a->place_capacity);
	a->places[a->place_count] = (struct operation_place){ .table = table };
	return a->place_count++;
}

/* ---- columns ---- */

uint32_t walk_table_of(const struct walk *w, const struct mention *s)
{
	return w->to->places[s->place].table;
}

/* The source of that name, here or further out; NULL. */
const struct mention *walk_find(const struct walk *w, const char *name)
{
	for (const struct mentions *s = w->in; s; s = s->outer)
		for (uint32_t i = 0; i < s->count; i++)
			if (same_name(s->items[i].name, name))
				return &s->items[i];
	return NULL;
}

void walk_read_all(struct walk *w, const struct mention *s)
{
	if (s->place == CATALOG_NONE) return;
	uint32_t table = walk_table_of(w, s);
	if (!w->catalog->tables[table].told) {
		walk_add(w, catalog_any_column(w->catalog, table), s->place,
		         w->flags);
		return;
	}
	const struct audit_table *t = &w->catalog->tables[table];
	for (uint32_t i = 0; i < t->column_count; i++)
		walk_add(w, t->columns[i], s->place, w->flags);
}

/* The column of a source; CATALOG_NONE: it has none, or is a query. */
uint32_t walk_column_in(struct walk *w, const struct mention *s,
                        const char *name)
{
	if (s->place == CATALOG_NONE) return CATALOG_NONE;
	return catalog_column(w->catalog, walk_table_of(w, s), name);
}

/* A name without a table: where a schema has it, else of the only table that
 * none tells, else of all those, since it may be any. */
static bool read_bare_in(struct walk *w, const struct mentions *s,
                         const char *name)
{
	uint32_t untold = 0, queries = 0;
	for (uint32_t i = 0; i < s->count; i++) {
		const struct mention *x = &s->items[i];
		if (x->place == CATALOG_NONE) {
			queries++;
			continue;
		}
		uint32_t table = walk_table_of(w, x);
		if (!w->catalog->tables[table].told) {
			untold++;
			continue;
		}
		uint32_t column = catalog_find_column(w->catalog, table, name);
		if (column == CATALOG_NONE) continue;
		walk_add(w, column, x->place, w->flags);
		return true;
	}
	/* The schema may be older than the log. */
	if (!untold && !queries && s->count == 1 && !s->outer) {
		walk_add(w,
		         catalog_logged_column(
				 w->catalog, walk_table_of(w, s->items), name),
		         s->items[0].place, w->flags | OPERATION_UNCOUNTED);
		return true;
	}
	if (!untold) return queries > 0 && !s->outer;
	for (uint32_t i = 0; i < s->count; i++) {
		const struct mention *x = &s->items[i];
		if (x->place == CATALOG_NONE ||
		    w->catalog->tables[walk_table_of(w, x)].told)
			continue;
		walk_add(w,
		         catalog_column(w->catalog, walk_table_of(w, x), name),
		         x->place, w->flags);
	}
	return true;
}

static bool is_told_column(const struct walk *w, const char *name)
{
	for (const struct mentions *s = w->in; s; s = s->outer)
		for (uint32_t i = 0; i < s->count; i++)
			if (s->items[i].place != CATALOG_NONE &&
			    catalog_find_column(w->catalog,
			                        walk_table_of(w, &s->items[i]),
			                        name) != CATALOG_NONE)
				return true;
	return false;
}

static void column_reference(struct walk *w, json_t *body)
{
	json_t *fields = json_object_get(body, "fields"), *star;
	size_t n = json_array_size(fields);
	if (!n) return;
	json_t *last = json_array_get(fields, n - 1);
	bool all = node_is(last, "A_Star", &star);
	if (n == 1 && all) {
		for (uint32_t i = 0; i < w->in->count; i++)
			walk_read_all(w, &w->in->items[i]);
		return;
	}
	if (n == 1) {
		/* "row_to_json(t)" reads the whole row. */
		const struct mention *row = walk_find(w, node_name(last));
		if (row && !is_told_column(w, node_name(last))) {
			walk_read_all(w, row);
			return;
		}
		for (const struct mentions *s = w->in; s; s = s->outer)
			if (read_bare_in(w, s, node_name(last))) return;
		return;
	}
	const struct mention *s =
		walk_find(w, node_name(json_array_get(fields, n - 2)));
	if (!s) return;
	if (all) {
		walk_read_all(w, s);
		return;
	}
	if (s->place == CATALOG_NONE) return;
	walk_add(w,
	         catalog_logged_column(w->catalog, walk_table_of(w, s),
	                               node_name(last)),
	         s->place, w->flags);
}

/* ---- expressions ---- */

bool walk_too_deep(struct walk *w)
{
	w->to->cut |= w->depth >= DEPTH_MOST;
	return w->depth >= DEPTH_MOST;
}

/* Queries first, those inside before those around them. */
void walk_subqueries(struct walk *w, json_t *node)
{
	json_t *body;
	const char *name;
	json_t *value, *item;
	size_t i;
	if (!node || walk_too_deep(w)) return;
	w->depth++;
	if (node_is(node, "SelectStmt", &body)) {
		walk_query(w, body);
	} else if (json_is_object(node)) {
		json_object_foreach(node, name, value)
			walk_subqueries(w, value);
	} else {
		json_array_foreach(node, i, item) walk_subqueries(w, item);
	}
	w->depth--;
}

/* "VALUES(x)" of MySQL's ON DUPLICATE KEY, as it is rewritten: what would have
 * been inserted. */
static bool is_given_value(json_t *node)
{
	json_t *call;
	return node_is(node, "FuncCall", &call) &&
	       !strcmp(node_name(json_array_get(
			       json_object_get(call, "funcname"), 0)),
	               "values_");
}

/* The columns that it reads itself: without queries, and the order of rows. */
void walk_reads(struct walk *w, json_t *node)
{
	json_t *body;
	const char *name;
	json_t *value, *item;
	size_t i;
	if (!node || is_given_value(node) || walk_too_deep(w)) return;
	w->depth++;
	if (node_is(node, "ColumnRef", &body)) {
		column_reference(w, body);
	} else if (json_is_array(node)) {
		json_array_foreach(node, i, item) walk_reads(w, item);
	} else if (json_is_object(node) &&
	           !node_is(node, "SelectStmt", &body)) {
		json_object_foreach(node, name, value)
		{
			unsigned before = w->flags;
			if (!strcmp(name, "agg_order") || !strcmp(name, "over"))
				w->flags |= OPERATION_UNCOUNTED;
			if (strcmp(name, "sortClause")) walk_reads(w, value);
			w->flags = before;
		}
	}
	w->depth--;
}

/* ---- which row ---- */

/* The literal at the node, or CATALOG_NONE. */
uint32_t walk_literal(const struct walk *w, json_t *node)
{
	json_t *body;
	if (node_is(node, "TypeCast", &body))
		return walk_literal(w, json_object_get(body, "arg"));
	if (node_is(node, "ParamRef", &body))
		return PLACE_PARAMETER + (uint32_t)node_integer(body, "number");
	if (!node_is(node, "A_Const", &body)) return CATALOG_NONE;
	uint32_t at = (uint32_t)node_integer(body, "location");
	const uint32_t *found =
		bsearch(&at, w->literals->at, w->literals->count, sizeof at,
	                number_compare);
	return found ? w->literals->which[found - w->literals->at]
	             : CATALOG_NONE;
}

/* The column that the node is, of a place of the innermost query. */
static bool equal_column(struct walk *w, json_t *node, uint32_t *place,
                         uint32_t *column)
{
	json_t *body;
	if (!node_is(node, "ColumnRef", &body)) return false;
	json_t *fields = json_object_get(body, "fields");
	size_t n = json_array_size(fields);
	const char *name = node_name(json_array_get(fields, n - 1));
	const char *of =
		n > 1 ? node_name(json_array_get(fields, n - 2)) : NULL;
	for (uint32_t i = 0; i < w->in->count; i++) {
		const struct mention *s = &w->in->items[i];
		if (s->place == CATALOG_NONE || (of && !same_name(of, s->name)))
			continue;
		*column = catalog_find_column(w->catalog, walk_table_of(w, s),
		                              name);
		*place = s->place;
		if (*column != CATALOG_NONE) return true;
	}
	return false;
}

static void equal_to(struct walk *w, struct equals *e, json_t *side,
                     json_t *other)
{
	uint32_t place, column, literal = walk_literal(w, other);
	if (literal == CATALOG_NONE || e->count == WALK_EQUAL_MOST ||
	    !equal_column(w, side, &place, &column))
		return;
	e->place[e->count] = place;
	e->column[e->count] = column;
	e->literal[e->count++] = literal;
}

/* What holds wherever the condition does: its AND. */
static void conjunct(struct walk *w, struct equals *e, json_t *node)
{
	json_t *body, *item;
	size_t i;
	if (!node) return;
	if (node_is(node, "BoolExpr", &body)) {
		if (strcmp(node_string(body, "boolop"), "AND_EXPR")) return;
		json_t *args = json_object_get(body, "args");
		json_array_foreach(args, i, item) conjunct(w, e, item);
		return;
	}
	if (!node_is(node, "A_Expr", &body)) return;
	const char *kind = node_string(body, "kind");
	const char *name =
		node_name(json_array_get(json_object_get(body, "name"), 0));
	json_t *left = json_object_get(body, "lexpr");
	json_t *right = json_object_get(body, "rexpr"), *list;
	if (!left || !right || strcmp(name, "=")) return;
	if (!strcmp(kind, "AEXPR_OP")) {
		equal_to(w, e, left, right);
		equal_to(w, e, right, left);
	} else if (!strcmp(kind, "AEXPR_IN") && node_is(right, "List", &list)) {
		json_t *items = json_object_get(list, "items");
		if (json_array_size(items) == 1)
			equal_to(w, e, left, json_array_get(items, 0));
	}
}

void walk_name_row(struct walk *w, uint32_t place, const struct equals *e)
{
	struct operation_place *p = &w->to->places[place];
	const struct audit_table *t = &w->catalog->tables[p->table];
	for (uint32_t k = 0; k < t->key_count && !p->literal_count; k++) {
		const struct audit_key *key = &t->keys[k];
		uint32_t found = 0, literals[PLACE_KEY_MOST];
		if (key->count > PLACE_KEY_MOST) continue;
		for (uint32_t i = 0; i < key->count; i++)
			for (uint32_t q = 0; q < e->count; q++)
				if (e->place[q] == place &&
				    e->column[q] == key->columns[i]) {
					literals[found++] = e->literal[q];
					break;
				}
		if (found < key->count) continue;
		memcpy(p->literals, literals, sizeof literals);
		p->literal_count = found;
		p->key = key;
	}
}

void walk_name_rows(struct walk *w, json_t *condition)
{
	struct equals e = { .count = 0 };
	conjunct(w, &e, condition);
	if (!e.count) return;
	assert(e.count <= WALK_EQUAL_MOST && w->in);
	for (uint32_t i = 0; i < w->in->count; i++)
		if (w->in->items[i].place != CATALOG_NONE)
			walk_name_row(w, w->in->items[i].place, &e);
}
