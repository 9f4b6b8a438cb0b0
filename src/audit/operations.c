#include "audit/operations.h"

#include <assert.h>
#include <string.h>

#include "audit/walk.h"
#include "base/memory.h"

void operations_free(struct operations *a)
{
	free(a->items);
	free(a->places);
	*a = (struct operations){ 0 };
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
	const struct mention *s = walk_find(w, name);
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
		walk_reads(w, value);
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
		walk_add(w, column, place, flags);
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
	walk_with(w, body);
	walk_enter(w, &s);
	walk_changed_table(w, json_object_get(body, "relation"));
	uint32_t place = s.items[0].place;
	json_array_foreach(from, i, item) walk_from(w, item);
	/* MySQL's UPDATE a JOIN b: both mentions of a are the same rows. */
	for (uint32_t k = 1; k < s.count; k++)
		if (same_name(s.items[k].name, s.items[0].name))
			s.items[k].place = place;
	walk_subqueries(w, targets);
	walk_conditions(w, from, 1, json_object_get(body, "whereClause"));
	set_reads(w, targets);
	set_writes(w, targets, place);
	walk_reads(w, json_object_get(body, "returningList"));
	settle_changes(w, begin);
	walk_leave(w, &s);
}

static void write_all(struct walk *w, uint32_t place, unsigned flags)
{
	uint32_t table = w->to->places[place].table;
	if (!w->catalog->tables[table].told) {
		walk_add(w, catalog_any_column(w->catalog, table), place,
		         flags);
		return;
	}
	const struct audit_table *t = &w->catalog->tables[table];
	for (uint32_t i = 0; i < t->column_count; i++)
		walk_add(w, t->columns[i], place, flags);
}

static void delete (struct walk *w, json_t *body)
{
	struct mentions s;
	size_t i;
	json_t *item;
	uint32_t begin = w->to->count;
	json_t *using = json_object_get(body, "usingClause");
	walk_with(w, body);
	walk_enter(w, &s);
	json_array_foreach(using, i, item) walk_from(w, item);
	/* "DELETE FROM a USING t AS a": a is that mention. */
	json_t *relation = json_object_get(body, "relation");
	const struct mention *same =
		*walk_alias(relation)
			? NULL
			: walk_find(w, node_string(relation, "relname"));
	uint32_t place = same ? same->place : CATALOG_NONE;
	if (place == CATALOG_NONE) {
		walk_changed_table(w, relation);
		place = s.items[s.count - 1].place;
	}
	walk_conditions(w, using, 0, json_object_get(body, "whereClause"));
	write_all(w, place, OPERATION_WRITE | OPERATION_GONE);
	settle_changes(w, begin);
	walk_leave(w, &s);
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
		uint32_t literal = walk_literal(w, json_array_get(values, i));
		if (literal == CATALOG_NONE || e.count == WALK_EQUAL_MOST)
			continue;
		e.place[e.count] = place;
		e.column[e.count] = columns[i];
		e.literal[e.count++] = literal;
	}
	walk_name_row(w, place, &e);
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
	walk_enter(w, &s);
	uint32_t place = walk_place(w, table);
	walk_source(w, name, place);
	walk_source(w, "excluded", CATALOG_NONE);
	walk_subqueries(w, targets);
	walk_conditions(w, NULL, 0, json_object_get(clause, "whereClause"));
	set_reads(w, targets);
	set_writes(w, targets, place);
	settle_changes(w, begin);
	for (uint32_t i = begin; i < w->to->count; i++)
		if (w->to->items[i].place == place &&
		    !(w->to->items[i].flags & OPERATION_WRITE))
			w->to->items[i].flags |= OPERATION_FOUND;
	walk_leave(w, &s);
}

static void insert(struct walk *w, json_t *body)
{
	json_t *relation = json_object_get(body, "relation");
	const char *name = node_string(relation, "relname");
	json_t *listed = json_object_get(body, "cols"), *item, *target;
	uint32_t columns[256], count = 0;
	size_t i;
	walk_with(w, body);
	struct mentions s;
	walk_enter(w, &s);
	walk_subqueries(w, json_object_get(body, "selectStmt"));
	walk_leave(w, &s);
	uint32_t table = catalog_table(w->catalog, name);
	uint32_t place = walk_place(w, table);
	json_array_foreach(listed, i, item)
	{
		if (!node_is(item, "ResTarget", &target) || count == 256)
			continue;
		uint32_t column = catalog_logged_column(
			w->catalog, table, node_string(target, "name"));
		columns[count++] = column;
		walk_add(w, column, place, OPERATION_WRITE | OPERATION_FRESH);
	}
	if (!json_array_size(listed)) {
		write_all(w, place, OPERATION_WRITE | OPERATION_FRESH);
		const struct audit_table *t = &w->catalog->tables[table];
		for (; count < t->column_count && count < 256; count++)
			columns[count] = t->columns[count];
	}
	name_inserted(w, body, place, columns, count);
	on_conflict(w, body,
	            *walk_alias(relation) ? walk_alias(relation) : name, table);
}

/* Of a table: all of its columns, or those that are listed. */
static void copy(struct walk *w, json_t *body)
{
	json_t *relation = json_object_get(body, "relation"), *item;
	json_t *listed = json_object_get(body, "attlist");
	bool from = json_is_true(json_object_get(body, "is_from"));
	struct mentions s;
	size_t i;
	if (!relation) {
		walk_statement(w, json_object_get(body, "query"));
		return;
	}
	walk_enter(w, &s);
	walk_changed_table(w, relation);
	uint32_t place = s.items[0].place;
	json_array_foreach(listed, i, item) walk_add(
		w,
		catalog_logged_column(w->catalog, walk_table_of(w, s.items),
	                              node_name(item)),
		place, from ? OPERATION_WRITE | OPERATION_FRESH : 0);
	if (!json_array_size(listed) && from)
		write_all(w, place, OPERATION_WRITE | OPERATION_FRESH);
	else if (!json_array_size(listed))
		walk_read_all(w, s.items);
	walk_reads(w, json_object_get(body, "whereClause"));
	walk_leave(w, &s);
}

void walk_statement(struct walk *w, json_t *node)
{
	json_t *body;
	if (!node || walk_too_deep(w)) return;
	w->depth++;
	if (node_is(node, "SelectStmt", &body))
		walk_query(w, body);
	else if (node_is(node, "InsertStmt", &body))
		insert(w, body);
	else if (node_is(node, "UpdateStmt", &body))
		update(w, body);
	else if (node_is(node, "DeleteStmt", &body))
		delete (w, body);
	else if (node_is(node, "ExplainStmt", &body) ||
	         node_is(node, "DeclareCursorStmt", &body))
		walk_statement(w, json_object_get(body, "query"));
	else if (node_is(node, "CopyStmt", &body))
		copy(w, body);
	w->depth--;
}

void operations_of(struct operations *a, struct catalog *c, json_t *node,
                   const struct literal_places *literals)
{
	struct walk w = { .to = a, .catalog = c, .literals = literals };
	walk_statement(&w, node);
	assert(!w.in && !w.depth);
}
