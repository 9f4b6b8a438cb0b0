#include "audit/walk.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"

void walk_enter(struct walk *w, struct mentions *s)
{
	*s = (struct mentions){ .outer = w->in };
	w->in = s;
}

void walk_leave(struct walk *w, struct mentions *s)
{
	assert(w->in == s);
	w->in = (struct mentions *)s->outer;
	free(s->items);
}

void walk_source(struct walk *w, const char *name, uint32_t place)
{
	assert(w->in && (place == CATALOG_NONE || place < w->to->place_count));
	struct mentions *s = w->in;
	VEC_RESERVE(s->items, s->count, s->capacity);
	s->items[s->count++] = (struct mention){ name, place };
}

/* ---- FROM ---- */

const char *walk_alias(json_t *body)
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
void walk_changed_table(struct walk *w, json_t *range)
{
	const char *name = node_string(range, "relname");
	const char *alias = walk_alias(range);
	walk_source(w, *alias ? alias : name,
	            walk_place(w, catalog_table(w->catalog, name)));
}

static void range_table(struct walk *w, json_t *range)
{
	const char *name = node_string(range, "relname");
	const char *alias = walk_alias(range);
	if (is_named_query(w, range))
		walk_source(w, *alias ? alias : name, CATALOG_NONE);
	else
		walk_changed_table(w, range);
}

/* Its tables first; queries in it as they come. */
void walk_from(struct walk *w, json_t *node)
{
	json_t *body;
	if (!node || walk_too_deep(w)) return;
	w->depth++;
	if (node_is(node, "RangeVar", &body)) {
		range_table(w, body);
	} else if (node_is(node, "RangeSubselect", &body)) {
		walk_subqueries(w, json_object_get(body, "subquery"));
		walk_source(w, walk_alias(body), CATALOG_NONE);
	} else if (node_is(node, "JoinExpr", &body)) {
		walk_from(w, json_object_get(body, "larg"));
		walk_from(w, json_object_get(body, "rarg"));
	} else if (json_is_object(node)) {
		walk_subqueries(w, body);
		walk_source(w, walk_alias(body), CATALOG_NONE);
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
	    !c->tables[walk_table_of(w, a)].told ||
	    !c->tables[walk_table_of(w, b)].told) {
		walk_read_all(w, a);
		walk_read_all(w, b);
		return;
	}
	const struct audit_table *t = &c->tables[walk_table_of(w, a)];
	for (uint32_t i = 0; i < t->column_count; i++) {
		uint32_t other = catalog_find_column(
			c, walk_table_of(w, b), c->columns[t->columns[i]].name);
		if (other == CATALOG_NONE) continue;
		walk_add(w, t->columns[i], a->place, w->flags);
		walk_add(w, other, b->place, w->flags);
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
	walk_subqueries(w, json_object_get(body, "quals"));
	walk_reads(w, json_object_get(body, "quals"));
	json_t *merged = json_object_get(body, "usingClause");
	json_array_foreach(merged, i, column) for (uint32_t k = 0;
	                                           k < w->in->count; k++)
	{
		const struct mention *s = &w->in->items[k];
		uint32_t c = walk_column_in(w, s, node_name(column));
		if (c != CATALOG_NONE) walk_add(w, c, s->place, w->flags);
	}
	const char *kind = node_string(body, "jointype");
	if (!strcmp(kind, "JOIN_INNER"))
		walk_name_rows(w, json_object_get(body, "quals"));
	return end;
}

/* `first` is the first mention in FROM. */
void walk_conditions(struct walk *w, json_t *from, uint32_t first,
                     json_t *where)
{
	size_t i;
	json_t *item;
	unsigned before = w->flags;
	w->flags |= OPERATION_CONDITION;
	walk_subqueries(w, where);
	json_array_foreach(from, i, item) first =
		join_conditions(w, item, first);
	walk_reads(w, where);
	walk_name_rows(w, where);
	w->flags = before;
}

/* ---- queries ---- */

static bool name_query(struct walk *w, json_t *cte)
{
	if (w->named_count == sizeof w->named / sizeof *w->named) return false;
	w->named[w->named_count++] = node_string(cte, "ctename");
	return true;
}

void walk_with(struct walk *w, json_t *body)
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
		walk_statement(w, json_object_get(cte, "ctequery"));
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
		walk_subqueries(w, clause);
		walk_reads(w, clause);
	}
	w->flags |= OPERATION_CONDITION;
	for (uint32_t i = 0; i < w->in->count; i++) {
		uint32_t place = w->in->items[i].place;
		bool any = place == CATALOG_NONE;
		for (uint32_t k = begin; k < w->to->count && !any; k++)
			any = w->to->items[k].place == place;
		if (!any)
			walk_add(w,
			         catalog_rows(
					 w->catalog,
					 walk_table_of(w, &w->in->items[i])),
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
			walk_find(w, node_string(range, "relname"));
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

void walk_query(struct walk *w, json_t *select)
{
	struct mentions s;
	size_t i;
	json_t *item;
	unsigned before = w->flags;
	uint32_t named = w->named_count, begin = w->to->count;
	w->flags &= ~(unsigned)(OPERATION_CONDITION | OPERATION_LOCKED |
	                        OPERATION_CHANGE | OPERATION_ADD);
	walk_with(w, select);
	if (json_object_get(select, "larg")) {
		walk_query(w, json_object_get(select, "larg"));
		walk_query(w, json_object_get(select, "rarg"));
		w->flags = before;
		w->named_count = named;
		return;
	}
	json_t *from = json_object_get(select, "fromClause");
	walk_enter(w, &s);
	if (json_array_size(json_object_get(select, "lockingClause")))
		w->flags |= OPERATION_LOCKED;
	json_array_foreach(from, i, item) walk_from(w, item);
	walk_subqueries(w, json_object_get(select, "targetList"));
	walk_conditions(w, from, 0, json_object_get(select, "whereClause"));
	walk_reads(w, json_object_get(select, "targetList"));
	walk_reads(w, json_object_get(select, "havingClause"));
	walk_subqueries(w, json_object_get(select, "valuesLists"));
	walk_reads(w, json_object_get(select, "valuesLists"));
	uncounted_reads(w, select, begin);
	settle_locks(w, select, begin);
	walk_leave(w, &s);
	w->flags = before;
	w->named_count = named;
}
