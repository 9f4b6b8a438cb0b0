#include "audit/operations.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "sql/resolve_parts.h"

enum { DEPTH_MOST = 200, EQUAL_MOST = 64 };

/* A table or query in FROM. */
struct mention {
	const char *name; /* what columns of it are qualified with */
	uint32_t place;   /* CATALOG_NONE: a query, whose reads are known */
};

/* What names can mean, inside out. */
struct mentions {
	const struct mentions *outer;
	struct mention *items;
	uint32_t count, capacity;
};

struct walk {
	struct operations *to;
	struct catalog *catalog;
	const struct literal_places *literals;
	struct mentions *in;   /* the innermost */
	const char *named[64]; /* queries of WITH */
	uint32_t named_count;
	unsigned flags; /* of reads */
	int depth;
};

void operations_free(struct operations *a)
{
	free(a->items);
	free(a->places);
	*a = (struct operations){ 0 };
}

static void add(struct walk *w, uint32_t column, uint32_t place, unsigned flags)
{
	struct operations *a = w->to;
	assert(place < a->place_count && flags < 1u << 16);
	assert(w->catalog->columns[column].table == a->places[place].table);
	if (place > UINT16_MAX) return;
	VEC_RESERVE(a->items, a->count, a->capacity);
	a->items[a->count++] =
		(struct operation){ column, (uint16_t)place, (uint16_t)flags };
}

static uint32_t add_place(struct walk *w, uint32_t table)
{
	struct operations *a = w->to;
	VEC_RESERVE(a->places, a->place_count, a->place_capacity);
	a->places[a->place_count] = (struct operation_place){ .table = table };
	return a->place_count++;
}

static void add_source(struct walk *w, const char *name, uint32_t place)
{
	assert(w->in && (place == CATALOG_NONE || place < w->to->place_count));
	struct mentions *s = w->in;
	VEC_RESERVE(s->items, s->count, s->capacity);
	s->items[s->count++] = (struct mention){ name, place };
}

static void query(struct walk *w, json_t *select);

/* ---- columns ---- */

static uint32_t table_of(const struct walk *w, const struct mention *s)
{
	return w->to->places[s->place].table;
}

static bool same_name(const char *a, const char *b)
{
	return !strcasecmp(a, b);
}

/* The source of that name, here or further out; NULL. */
static const struct mention *find_source(const struct walk *w, const char *name)
{
	for (const struct mentions *s = w->in; s; s = s->outer)
		for (uint32_t i = 0; i < s->count; i++)
			if (same_name(s->items[i].name, name))
				return &s->items[i];
	return NULL;
}

static void read_all(struct walk *w, const struct mention *s)
{
	if (s->place == CATALOG_NONE) return;
	uint32_t table = table_of(w, s);
	if (!w->catalog->tables[table].told) {
		add(w, catalog_any_column(w->catalog, table), s->place,
		    w->flags);
		return;
	}
	const struct audit_table *t = &w->catalog->tables[table];
	for (uint32_t i = 0; i < t->column_count; i++)
		add(w, t->columns[i], s->place, w->flags);
}

/* The column of a source; CATALOG_NONE: it has none, or is a query. */
static uint32_t column_in(struct walk *w, const struct mention *s,
                          const char *name)
{
	if (s->place == CATALOG_NONE) return CATALOG_NONE;
	return catalog_column(w->catalog, table_of(w, s), name);
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
		uint32_t table = table_of(w, x);
		if (!w->catalog->tables[table].told) {
			untold++;
			continue;
		}
		uint32_t column = catalog_find_column(w->catalog, table, name);
		if (column == CATALOG_NONE) continue;
		add(w, column, x->place, w->flags);
		return true;
	}
	/* The schema may be older than the log. */
	if (!untold && !queries && s->count == 1 && !s->outer) {
		add(w,
		    catalog_logged_column(w->catalog, table_of(w, s->items),
		                          name),
		    s->items[0].place, w->flags | OPERATION_UNCOUNTED);
		return true;
	}
	if (!untold) return queries > 0 && !s->outer;
	for (uint32_t i = 0; i < s->count; i++) {
		const struct mention *x = &s->items[i];
		if (x->place == CATALOG_NONE ||
		    w->catalog->tables[table_of(w, x)].told)
			continue;
		add(w, catalog_column(w->catalog, table_of(w, x), name),
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
			                        table_of(w, &s->items[i]),
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
			read_all(w, &w->in->items[i]);
		return;
	}
	if (n == 1) {
		/* "row_to_json(t)" reads the whole row. */
		const struct mention *row = find_source(w, node_name(last));
		if (row && !is_told_column(w, node_name(last))) {
			read_all(w, row);
			return;
		}
		for (const struct mentions *s = w->in; s; s = s->outer)
			if (read_bare_in(w, s, node_name(last))) return;
		return;
	}
	const struct mention *s =
		find_source(w, node_name(json_array_get(fields, n - 2)));
	if (!s) return;
	if (all) {
		read_all(w, s);
		return;
	}
	if (s->place == CATALOG_NONE) return;
	add(w,
	    catalog_logged_column(w->catalog, table_of(w, s), node_name(last)),
	    s->place, w->flags);
}

/* ---- expressions ---- */

static bool is_too_deep(struct walk *w)
{
	w->to->cut |= w->depth >= DEPTH_MOST;
	return w->depth >= DEPTH_MOST;
}

/* Queries first, those inside before those around them. */
static void subqueries(struct walk *w, json_t *node)
{
	json_t *body;
	const char *name;
	json_t *value, *item;
	size_t i;
	if (!node || is_too_deep(w)) return;
	w->depth++;
	if (node_is(node, "SelectStmt", &body)) {
		query(w, body);
	} else if (json_is_object(node)) {
		json_object_foreach(node, name, value) subqueries(w, value);
	} else {
		json_array_foreach(node, i, item) subqueries(w, item);
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
static void reads(struct walk *w, json_t *node)
{
	json_t *body;
	const char *name;
	json_t *value, *item;
	size_t i;
	if (!node || is_given_value(node) || is_too_deep(w)) return;
	w->depth++;
	if (node_is(node, "ColumnRef", &body)) {
		column_reference(w, body);
	} else if (json_is_array(node)) {
		json_array_foreach(node, i, item) reads(w, item);
	} else if (json_is_object(node) &&
	           !node_is(node, "SelectStmt", &body)) {
		json_object_foreach(node, name, value)
		{
			unsigned before = w->flags;
			if (!strcmp(name, "agg_order") || !strcmp(name, "over"))
				w->flags |= OPERATION_UNCOUNTED;
			if (strcmp(name, "sortClause")) reads(w, value);
			w->flags = before;
		}
	}
	w->depth--;
}

/* ---- which row ---- */

/* Columns that a condition makes equal to literals. */
struct equals {
	uint32_t place[EQUAL_MOST], column[EQUAL_MOST], literal[EQUAL_MOST];
	uint32_t count;
};

/* The literal at the node, or CATALOG_NONE. */
static uint32_t literal_of(const struct walk *w, json_t *node)
{
	json_t *body;
	if (node_is(node, "TypeCast", &body))
		return literal_of(w, json_object_get(body, "arg"));
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
		*column = catalog_find_column(w->catalog, table_of(w, s), name);
		*place = s->place;
		if (*column != CATALOG_NONE) return true;
	}
	return false;
}

static void equal_to(struct walk *w, struct equals *e, json_t *side,
                     json_t *other)
{
	uint32_t place, column, literal = literal_of(w, other);
	if (literal == CATALOG_NONE || e->count == EQUAL_MOST ||
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

static void name_row(struct walk *w, uint32_t place, const struct equals *e)
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

static void name_rows(struct walk *w, json_t *condition)
{
	struct equals e = { .count = 0 };
	conjunct(w, &e, condition);
	if (!e.count) return;
	assert(e.count <= EQUAL_MOST && w->in);
	for (uint32_t i = 0; i < w->in->count; i++)
		if (w->in->items[i].place != CATALOG_NONE)
			name_row(w, w->in->items[i].place, &e);
}

/* ---- FROM ---- */

static const char *alias_of(json_t *body)
{
	return node_string(json_object_get(body, "alias"), "aliasname");
}

static bool is_named_query(const struct walk *w, json_t *range)
{
	const char *name = node_string(range, "relname");
	if (*node_string(range, "schemaname")) return false;
	for (uint32_t i = 0; i < w->named_count; i++)
		if (same_name(w->named[i], name)) return true;
	return same_name(name, "dual");
}

/* What is changed is a table, even if a query has its name. */
static void changed_table(struct walk *w, json_t *range)
{
	const char *name = node_string(range, "relname");
	const char *alias = alias_of(range);
	add_source(w, *alias ? alias : name,
	           add_place(w, catalog_table(w->catalog, name)));
}

static void range_table(struct walk *w, json_t *range)
{
	const char *name = node_string(range, "relname");
	const char *alias = alias_of(range);
	if (is_named_query(w, range))
		add_source(w, *alias ? alias : name, CATALOG_NONE);
	else
		changed_table(w, range);
}

/* Its tables first; queries in it as they come. */
static void from_item(struct walk *w, json_t *node)
{
	json_t *body;
	if (!node || is_too_deep(w)) return;
	w->depth++;
	if (node_is(node, "RangeVar", &body)) {
		range_table(w, body);
	} else if (node_is(node, "RangeSubselect", &body)) {
		subqueries(w, json_object_get(body, "subquery"));
		add_source(w, alias_of(body), CATALOG_NONE);
	} else if (node_is(node, "JoinExpr", &body)) {
		from_item(w, json_object_get(body, "larg"));
		from_item(w, json_object_get(body, "rarg"));
	} else if (json_is_object(node)) {
		subqueries(w, body);
		add_source(w, alias_of(body), CATALOG_NONE);
	}
	w->depth--;
}

/* NATURAL JOIN: the columns that both have; if it is not known which these are,
 * all of them. */
static void read_common(struct walk *w, const struct mention *a,
                        const struct mention *b)
{
	struct catalog *c = w->catalog;
	if (a->place == CATALOG_NONE || b->place == CATALOG_NONE ||
	    !c->tables[table_of(w, a)].told ||
	    !c->tables[table_of(w, b)].told) {
		read_all(w, a);
		read_all(w, b);
		return;
	}
	const struct audit_table *t = &c->tables[table_of(w, a)];
	for (uint32_t i = 0; i < t->column_count; i++) {
		uint32_t other = catalog_find_column(
			c, table_of(w, b), c->columns[t->columns[i]].name);
		if (other == CATALOG_NONE) continue;
		add(w, t->columns[i], a->place, w->flags);
		add(w, other, b->place, w->flags);
	}
}

/* The conditions of joins, inner ones first. `first` is the first mention in
 * the item; that behind its last one is returned. */
static uint32_t join_conditions(struct walk *w, json_t *node, uint32_t first)
{
	json_t *body, *column;
	size_t i;
	if (!node || !node_is(node, "JoinExpr", &body)) return first + 1;
	uint32_t right =
		join_conditions(w, json_object_get(body, "larg"), first);
	uint32_t end = join_conditions(w, json_object_get(body, "rarg"), right);
	if (json_is_true(json_object_get(body, "isNatural")))
		for (uint32_t a = first; a < right && right < w->in->count; a++)
			for (uint32_t b = right; b < end && b < w->in->count;
			     b++)
				read_common(w, &w->in->items[a],
				            &w->in->items[b]);
	subqueries(w, json_object_get(body, "quals"));
	reads(w, json_object_get(body, "quals"));
	json_t *merged = json_object_get(body, "usingClause");
	json_array_foreach(merged, i, column) for (uint32_t k = 0;
	                                           k < w->in->count; k++)
	{
		const struct mention *s = &w->in->items[k];
		uint32_t c = column_in(w, s, node_name(column));
		if (c != CATALOG_NONE) add(w, c, s->place, w->flags);
	}
	const char *kind = node_string(body, "jointype");
	if (!strcmp(kind, "JOIN_INNER"))
		name_rows(w, json_object_get(body, "quals"));
	return end;
}

/* `first` is the first mention in FROM. */
static void conditions(struct walk *w, json_t *from, uint32_t first,
                       json_t *where)
{
	size_t i;
	json_t *item;
	unsigned before = w->flags;
	w->flags |= OPERATION_CONDITION;
	subqueries(w, where);
	json_array_foreach(from, i, item) first =
		join_conditions(w, item, first);
	reads(w, where);
	name_rows(w, where);
	w->flags = before;
}

static void enter(struct walk *w, struct mentions *s)
{
	*s = (struct mentions){ .outer = w->in };
	w->in = s;
}

static void leave(struct walk *w, struct mentions *s)
{
	assert(w->in == s);
	w->in = (struct mentions *)s->outer;
	free(s->items);
}

static void statement(struct walk *w, json_t *node);

static bool name_query(struct walk *w, json_t *cte)
{
	if (w->named_count == sizeof w->named / sizeof *w->named) return false;
	w->named[w->named_count++] = node_string(cte, "ctename");
	return true;
}

static void with(struct walk *w, json_t *body)
{
	json_t *clause = json_object_get(body, "withClause"), *item, *cte;
	json_t *all = json_object_get(clause, "ctes");
	size_t i;
	bool recursive = json_is_true(json_object_get(clause, "recursive"));
	json_array_foreach(all, i, item)
	{
		if (!node_is(item, "CommonTableExpr", &cte)) continue;
		/* Within itself, the name is a table's, unless RECURSIVE. */
		bool first = recursive && name_query(w, cte);
		statement(w, json_object_get(cte, "ctequery"));
		if (!first) name_query(w, cte);
	}
}

/* What is read in any case: by what rows are sorted and grouped, which says
 * what LIMIT leaves, and which rows there are, as count(*) does. */
static void uncounted_reads(struct walk *w, json_t *select, uint32_t begin)
{
	static const char *const clauses[] = { "groupClause", "distinctClause",
		                               "windowClause", "sortClause" };
	unsigned before = w->flags;
	w->flags |= OPERATION_UNCOUNTED;
	for (size_t i = 0; i < sizeof clauses / sizeof *clauses; i++) {
		json_t *clause = json_object_get(select, clauses[i]);
		subqueries(w, clause);
		reads(w, clause);
	}
	w->flags |= OPERATION_CONDITION;
	for (uint32_t i = 0; i < w->in->count; i++) {
		uint32_t place = w->in->items[i].place;
		bool any = place == CATALOG_NONE;
		for (uint32_t k = begin; k < w->to->count && !any; k++)
			any = w->to->items[k].place == place;
		if (!any)
			add(w,
			    catalog_rows(w->catalog,
			                 table_of(w, &w->in->items[i])),
			    place, w->flags);
	}
	w->flags = before;
}

static bool names_table(struct walk *w, json_t *tables, uint32_t place)
{
	json_t *table, *range;
	size_t i;
	json_array_foreach(tables, i, table)
	{
		if (!node_is(table, "RangeVar", &range)) continue;
		const struct mention *s =
			find_source(w, node_string(range, "relname"));
		if (s && s->place == place) return true;
	}
	return false;
}

/* How a table is locked, "FOR UPDATE OF t"; FOR KEY SHARE lets others write
 * all but keys. */
static unsigned lock_of(struct walk *w, json_t *clauses, uint32_t place)
{
	json_t *item, *clause;
	unsigned lock = 0;
	size_t i;
	json_array_foreach(clauses, i, item)
	{
		if (!node_is(item, "LockingClause", &clause)) continue;
		const char *strength = node_string(clause, "strength");
		json_t *of = json_object_get(clause, "lockedRels");
		if (!strcmp(strength, "LCS_FORKEYSHARE") ||
		    (json_array_size(of) && !names_table(w, of, place)))
			continue;
		if (strcmp(strength, "LCS_FORSHARE")) return OPERATION_LOCKED;
		lock = OPERATION_LOCKED | OPERATION_SHARED;
	}
	return lock;
}

static void settle_locks(struct walk *w, json_t *select, uint32_t begin)
{
	json_t *clauses = json_object_get(select, "lockingClause");
	if (!json_array_size(clauses)) return;
	for (uint32_t i = 0; i < w->in->count; i++) {
		uint32_t place = w->in->items[i].place;
		if (place == CATALOG_NONE) continue;
		unsigned lock = lock_of(w, clauses, place);
		for (uint32_t k = begin; k < w->to->count; k++) {
			struct operation *o = &w->to->items[k];
			if (o->place != place || !(o->flags & OPERATION_LOCKED))
				continue;
			o->flags &= (uint16_t)~OPERATION_LOCKED;
			o->flags |= (uint16_t)lock;
		}
	}
}

static void query(struct walk *w, json_t *select)
{
	struct mentions s;
	size_t i;
	json_t *item;
	unsigned before = w->flags;
	uint32_t named = w->named_count, begin = w->to->count;
	w->flags &= ~(unsigned)(OPERATION_CONDITION | OPERATION_LOCKED |
	                        OPERATION_CHANGE | OPERATION_ADD);
	with(w, select);
	if (json_object_get(select, "larg")) {
		query(w, json_object_get(select, "larg"));
		query(w, json_object_get(select, "rarg"));
		w->flags = before;
		w->named_count = named;
		return;
	}
	json_t *from = json_object_get(select, "fromClause");
	enter(w, &s);
	if (json_array_size(json_object_get(select, "lockingClause")))
		w->flags |= OPERATION_LOCKED;
	json_array_foreach(from, i, item) from_item(w, item);
	subqueries(w, json_object_get(select, "targetList"));
	conditions(w, from, 0, json_object_get(select, "whereClause"));
	reads(w, json_object_get(select, "targetList"));
	reads(w, json_object_get(select, "havingClause"));
	subqueries(w, json_object_get(select, "valuesLists"));
	reads(w, json_object_get(select, "valuesLists"));
	uncounted_reads(w, select, begin);
	settle_locks(w, select, begin);
	leave(w, &s);
	w->flags = before;
	w->named_count = named;
}

/* ---- changes ---- */

/* "x = x + e", where e does not read the column. */
static bool adds(json_t *value, const char *column)
{
	json_t *body, *reference;
	if (!node_is(value, "A_Expr", &body)) return false;
	const char *sign =
		node_name(json_array_get(json_object_get(body, "name"), 0));
	json_t *left = json_object_get(body, "lexpr"), *constant;
	json_t *right = json_object_get(body, "rexpr");
	if ((strcmp(sign, "+") && strcmp(sign, "-")) || !left || !right ||
	    !node_is(left, "ColumnRef", &reference) ||
	    (!node_is(right, "A_Const", &constant) &&
	     !node_is(right, "ParamRef", &constant)))
		return false;
	json_t *fields = json_object_get(reference, "fields");
	const char *name =
		node_name(json_array_get(fields, json_array_size(fields) - 1));
	return same_name(name, column);
}

/* Of "SET a.x = .." the name is a, and x is behind it. */
static const char *set_column(struct walk *w, json_t *target, uint32_t *place)
{
	json_t *behind = json_object_get(target, "indirection");
	const char *name = node_string(target, "name");
	if (!json_array_size(behind)) return name;
	const struct mention *s = find_source(w, name);
	if (s && s->place != CATALOG_NONE) *place = s->place;
	return node_name(json_array_get(behind, json_array_size(behind) - 1));
}

static void set_reads(struct walk *w, json_t *targets)
{
	size_t i;
	json_t *item, *target;
	unsigned before = w->flags;
	json_array_foreach(targets, i, item)
	{
		uint32_t place = 0;
		if (!node_is(item, "ResTarget", &target)) continue;
		json_t *value = json_object_get(target, "val");
		w->flags = before | OPERATION_CHANGE;
		if (adds(value, set_column(w, target, &place)))
			w->flags |= OPERATION_ADD;
		reads(w, value);
	}
	w->flags = before;
}

static void set_writes(struct walk *w, json_t *targets, uint32_t target_place)
{
	size_t i;
	json_t *item, *target;
	json_array_foreach(targets, i, item)
	{
		uint32_t place = target_place;
		if (!node_is(item, "ResTarget", &target)) continue;
		const char *name = set_column(w, target, &place);
		uint32_t column = catalog_logged_column(
			w->catalog, w->to->places[place].table, name);
		unsigned flags = OPERATION_WRITE;
		if (adds(json_object_get(target, "val"), name))
			flags |= OPERATION_ADD;
		add(w, column, place, flags);
	}
}

/* Reads of rows that the statement changes are of rows that are locked; those
 * of other tables are plain. */
static void settle_changes(struct walk *w, uint32_t from)
{
	for (uint32_t i = from; i < w->to->count; i++) {
		struct operation *x = &w->to->items[i];
		bool written = false;
		if (x->flags & OPERATION_WRITE) continue;
		for (uint32_t k = from; k < w->to->count && !written; k++)
			written = w->to->items[k].place == x->place &&
			          w->to->items[k].flags & OPERATION_WRITE;
		if (written)
			x->flags |= OPERATION_CHANGE;
		else
			x->flags &=
				(uint16_t) ~(OPERATION_CHANGE | OPERATION_ADD);
	}
}

static void update(struct walk *w, json_t *body)
{
	struct mentions s;
	size_t i;
	json_t *item;
	uint32_t begin = w->to->count;
	json_t *targets = json_object_get(body, "targetList");
	json_t *from = json_object_get(body, "fromClause");
	with(w, body);
	enter(w, &s);
	changed_table(w, json_object_get(body, "relation"));
	uint32_t place = s.items[0].place;
	json_array_foreach(from, i, item) from_item(w, item);
	/* MySQL's UPDATE a JOIN b: both mentions of a are the same rows. */
	for (uint32_t k = 1; k < s.count; k++)
		if (same_name(s.items[k].name, s.items[0].name))
			s.items[k].place = place;
	subqueries(w, targets);
	conditions(w, from, 1, json_object_get(body, "whereClause"));
	set_reads(w, targets);
	set_writes(w, targets, place);
	reads(w, json_object_get(body, "returningList"));
	settle_changes(w, begin);
	leave(w, &s);
}

static void write_all(struct walk *w, uint32_t place, unsigned flags)
{
	uint32_t table = w->to->places[place].table;
	if (!w->catalog->tables[table].told) {
		add(w, catalog_any_column(w->catalog, table), place, flags);
		return;
	}
	const struct audit_table *t = &w->catalog->tables[table];
	for (uint32_t i = 0; i < t->column_count; i++)
		add(w, t->columns[i], place, flags);
}

static void delete (struct walk *w, json_t *body)
{
	struct mentions s;
	size_t i;
	json_t *item;
	uint32_t begin = w->to->count;
	json_t *using = json_object_get(body, "usingClause");
	with(w, body);
	enter(w, &s);
	json_array_foreach(using, i, item) from_item(w, item);
	/* "DELETE FROM a USING t AS a": a is that mention. */
	json_t *relation = json_object_get(body, "relation");
	const struct mention *same =
		*alias_of(relation)
			? NULL
			: find_source(w, node_string(relation, "relname"));
	uint32_t place = same ? same->place : CATALOG_NONE;
	if (place == CATALOG_NONE) {
		changed_table(w, relation);
		place = s.items[s.count - 1].place;
	}
	conditions(w, using, 0, json_object_get(body, "whereClause"));
	write_all(w, place, OPERATION_WRITE | OPERATION_GONE);
	settle_changes(w, begin);
	leave(w, &s);
}

/* The values of the row's key, if they are literals. */
static void name_inserted(struct walk *w, json_t *body, uint32_t place,
                          const uint32_t *columns, uint32_t count)
{
	struct equals e = { .count = 0 };
	json_t *select, *row, *values;
	if (!node_is(json_object_get(body, "selectStmt"), "SelectStmt",
	             &select))
		return;
	json_t *rows = json_object_get(select, "valuesLists");
	if (json_array_size(rows) != 1 ||
	    !node_is(json_array_get(rows, 0), "List", &row))
		return;
	values = json_object_get(row, "items");
	for (uint32_t i = 0; i < count && i < json_array_size(values); i++) {
		uint32_t literal = literal_of(w, json_array_get(values, i));
		if (literal == CATALOG_NONE || e.count == EQUAL_MOST) continue;
		e.place[e.count] = place;
		e.column[e.count] = columns[i];
		e.literal[e.count++] = literal;
	}
	name_row(w, place, &e);
}

/* The row that is there already, and is changed instead. */
static void on_conflict(struct walk *w, json_t *body, const char *name,
                        uint32_t table)
{
	json_t *clause = json_object_get(body, "onConflictClause");
	json_t *targets = json_object_get(clause, "targetList");
	uint32_t begin = w->to->count;
	struct mentions s;
	if (!targets) return;
	enter(w, &s);
	uint32_t place = add_place(w, table);
	add_source(w, name, place);
	add_source(w, "excluded", CATALOG_NONE);
	subqueries(w, targets);
	conditions(w, NULL, 0, json_object_get(clause, "whereClause"));
	set_reads(w, targets);
	set_writes(w, targets, place);
	settle_changes(w, begin);
	for (uint32_t i = begin; i < w->to->count; i++)
		if (w->to->items[i].place == place &&
		    !(w->to->items[i].flags & OPERATION_WRITE))
			w->to->items[i].flags |= OPERATION_FOUND;
	leave(w, &s);
}

static void insert(struct walk *w, json_t *body)
{
	json_t *relation = json_object_get(body, "relation");
	const char *name = node_string(relation, "relname");
	json_t *listed = json_object_get(body, "cols"), *item, *target;
	uint32_t columns[256], count = 0;
	size_t i;
	with(w, body);
	struct mentions s;
	enter(w, &s);
	subqueries(w, json_object_get(body, "selectStmt"));
	leave(w, &s);
	uint32_t table = catalog_table(w->catalog, name);
	uint32_t place = add_place(w, table);
	json_array_foreach(listed, i, item)
	{
		if (!node_is(item, "ResTarget", &target) || count == 256)
			continue;
		uint32_t column = catalog_logged_column(
			w->catalog, table, node_string(target, "name"));
		columns[count++] = column;
		add(w, column, place, OPERATION_WRITE | OPERATION_FRESH);
	}
	if (!json_array_size(listed)) {
		write_all(w, place, OPERATION_WRITE | OPERATION_FRESH);
		const struct audit_table *t = &w->catalog->tables[table];
		for (; count < t->column_count && count < 256; count++)
			columns[count] = t->columns[count];
	}
	name_inserted(w, body, place, columns, count);
	on_conflict(w, body, *alias_of(relation) ? alias_of(relation) : name,
	            table);
}

static void statement(struct walk *w, json_t *node)
{
	json_t *body;
	if (!node || is_too_deep(w)) return;
	w->depth++;
	if (node_is(node, "SelectStmt", &body))
		query(w, body);
	else if (node_is(node, "InsertStmt", &body))
		insert(w, body);
	else if (node_is(node, "UpdateStmt", &body))
		update(w, body);
	else if (node_is(node, "DeleteStmt", &body))
		delete (w, body);
	else if (node_is(node, "ExplainStmt", &body) ||
	         node_is(node, "DeclareCursorStmt", &body) ||
	         node_is(node, "CopyStmt", &body))
		statement(w, json_object_get(body, "query"));
	w->depth--;
}

void operations_of(struct operations *a, struct catalog *c, json_t *node,
                   const struct literal_places *literals)
{
	struct walk w = { .to = a, .catalog = c, .literals = literals };
	statement(&w, node);
	assert(!w.in && !w.depth);
}
