/* CREATE TABLE. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "sql/resolve_parts.h"
#include "vm/bytecode.h"

static void draw_from_sequence(struct resolver *r, const struct sql_table *t,
                               struct sql_column *column, json_t *options)
{
	struct text name = { 0 };
	int64_t start, step;
	if (!sequence_options(r, options, &start, &step)) return;
	text_format(&name, "%s_%s_seq", t->name, column->name);
	uint32_t sequence = add_sequence(r, text_get(&name), start, step);
	column->initial = coerce(r, draw(r, sequence), column->type,
	                         COERCE_ASSIGNMENT, "column");
	column->not_null = true;
	text_free(&name);
}

void set_default(struct resolver *r, struct sql_column *column, json_t *raw)
{
	struct scope s = { .no_aggregates = "DEFAULT" };
	struct text what = { 0 };
	text_format(&what, "column \"%s\"", column->name);
	column->initial =
		raw ? coerce(r, resolve_expr(r, &s, raw), column->type,
	                     COERCE_ASSIGNMENT, text_get(&what))
		    : NULL;
	text_free(&what);
}

/* GENERATED ALWAYS AS (...) STORED */
static void set_made(struct resolver *r, const struct sql_table *t,
                     struct sql_column *column, json_t *raw)
{
	struct scope s = { .no_aggregates = "column generation expressions" };
	struct text what = { 0 };
	text_format(&what, "column \"%s\"", column->name);
	add_table(r, &s, t, NULL);
	column->made = coerce(r, resolve_expr(r, &s, raw), column->type,
	                      COERCE_ASSIGNMENT, text_get(&what));
	column->always = true;
	free_scope(&s);
	text_free(&what);
}

/* GENERATED ALWAYS (a) or BY DEFAULT (d) AS IDENTITY */
static void draw_identity(struct resolver *r, const struct sql_table *t,
                          struct sql_column *column, json_t *body)
{
	column->always = !strcmp(node_string(body, "generated_when"), "a");
	draw_from_sequence(r, t, column, json_object_get(body, "options"));
}

/* A real PostgreSQL can defer no more than foreign keys here. */
static void refuse_deferrable(struct resolver *r, bool foreign)
{
	if (foreign)
		refuse_construct(r, r->place, "a deferrable constraint");
	else
		refuse_everywhere(r, r->place,
		                  "a deferrable constraint other than a "
		                  "foreign key");
}

static void refuse_constraint(struct resolver *r, const struct sql_table *t,
                              int64_t column, const char *kind)
{
	bool foreign = false;
	for (const struct sql_foreign *f = t->foreigns; f; f = f->next_from)
		foreign |= f->count == 1 && f->columns[0] == column;
	if (!strcmp(kind, "CONSTR_EXCLUSION"))
		refuse_everywhere(r, r->place, "EXCLUDE");
	else if (strstr(kind, "NOT_DEFERRABLE") || strstr(kind, "IMMEDIATE"))
		return; /* as without it */
	else if (strstr(kind, "ATTR"))
		refuse_deferrable(r, foreign);
	else
		refuse_construct(r, r->place, "a constraint of this kind");
}

void add_constraint(struct resolver *r, struct sql_table *t, json_t *body,
                    int64_t self)
{
	const char *kind = node_string(body, "contype");
	struct sql_column *column = self >= 0 ? &t->columns[self] : NULL;
	r->place = node_place(r, body);
	if (node_flag(body, "deferrable"))
		refuse_deferrable(r, !strcmp(kind, "CONSTR_FOREIGN"));
	else if (!strcmp(kind, "CONSTR_PRIMARY"))
		add_primary(r, t, body, self);
	else if (!strcmp(kind, "CONSTR_UNIQUE"))
		add_unique(r, t, body, self);
	else if (!strcmp(kind, "CONSTR_CHECK"))
		add_check(r, t, body);
	else if (!strcmp(kind, "CONSTR_NOTNULL"))
		column->not_null = true;
	else if (!strcmp(kind, "CONSTR_NULL"))
		return;
	else if (!strcmp(kind, "CONSTR_DEFAULT"))
		set_default(r, column, json_object_get(body, "raw_expr"));
	else if (!strcmp(kind, "CONSTR_GENERATED"))
		set_made(r, t, column, json_object_get(body, "raw_expr"));
	else if (!strcmp(kind, "CONSTR_IDENTITY"))
		draw_identity(r, t, column, body);
	else if (!strcmp(kind, "CONSTR_FOREIGN"))
		add_foreign(r, t, body, self);
	else
		refuse_constraint(r, t, self, kind);
}

static void add_column(struct resolver *r, struct sql_table *t, json_t *body)
{
	const char *name = node_string(body, "colname");
	struct sql_column column = { .name = keep_name(r, name) };
	bool serial;
	r->place = node_place(r, body);
	for (uint32_t i = 0; i < t->column_count; i++)
		if (!strcmp(t->columns[i].name, name))
			refuse(r, r->place,
			       "column \"%s\" specified more than once", name);
	if (r->failed || !resolve_type(r, json_object_get(body, "typeName"),
	                               &column.type, &serial))
		return;
	if (column.type.kind == SQL_CHAR && !column.type.length)
		column.type.length = 1;
	if (serial) draw_from_sequence(r, t, &column, NULL);
	VEC_RESERVE(t->columns, t->column_count, t->column_capacity);
	t->columns[t->column_count++] = column;
}

/* First all columns, then what is said of them: constraints mention others. */
static void add_elements(struct resolver *r, struct sql_table *t, json_t *list)
{
	json_t *body, *constraints;
	for (size_t i = 0; i < json_array_size(list) && !r->failed; i++) {
		const char *kind = node_kind(json_array_get(list, i), &body);
		if (!strcmp(kind, "ColumnDef"))
			add_column(r, t, body);
		else if (strcmp(kind, "Constraint"))
			refuse_construct(r, r->place, "LIKE in CREATE TABLE");
	}
	for (size_t i = 0, column = 0; i < json_array_size(list) && !r->failed;
	     i++) {
		if (node_is(json_array_get(list, i), "Constraint", &body)) {
			add_constraint(r, t, body, -1);
			continue;
		}
		constraints = json_object_get(body, "constraints");
		for (size_t k = 0;
		     k < json_array_size(constraints) && !r->failed; k++) {
			json_t *c;
			node_is(json_array_get(constraints, k), "Constraint",
			        &c);
			add_constraint(r, t, c, (int64_t)column);
		}
		column++;
	}
}

static int by_name(const void *a, const void *b)
{
	const struct sql_column *const *x = a, *const *y = b;
	return strcmp((*x)->name, (*y)->name);
}

/* Rows are records, whose fields are sorted by name. */
static void sort_names(struct resolver *r, struct sql_table *t)
{
	uint32_t n = t->column_count;
	struct sql_column **sorted = mem_take0(n + 1, sizeof *sorted);
	for (uint32_t i = 0; i < n; i++) sorted[i] = &t->columns[i];
	qsort(sorted, n, sizeof *sorted, by_name);
	t->names = region_take0(r->region, (n + 1) * sizeof *t->names);
	for (uint32_t i = 0; i < n; i++) {
		sorted[i]->slot = i;
		assert(!i || by_name(&sorted[i - 1], &sorted[i]) < 0);
		t->names[i] = value_string(r->region, sorted[i]->name,
		                           strlen(sorted[i]->name));
	}
	free(sorted);
	t->filtered = region_take0(r->region, n + 1);
	look_for_referring(t);
}

bool resolve_create_table(struct resolver *r, json_t *body,
                          struct sql_statement *s)
{
	(void)s;
	struct sql_catalog *c = r->catalog;
	json_t *relation = json_object_get(body, "relation");
	struct sql_table *t = region_take0(r->region, sizeof *t);
	static const char *const outside[][2] = {
		{ "inhRelations", "INHERITS" },
		{ "partspec", "PARTITION BY" },
		{ "partbound", "PARTITION OF" },
	};
	r->place = t->at = node_place(r, relation);
	t->name = keep_name(r, node_string(relation, "relname"));
	for (size_t i = 0; i < sizeof outside / sizeof *outside; i++)
		if (json_object_get(body, outside[i][0]))
			refuse_everywhere(r, t->at, outside[i][1]);
	if (json_object_get(body, "ofTypename"))
		refuse_construct(r, t->at, "CREATE TABLE OF");
	if (strcmp(node_string(relation, "relpersistence"), "p") &&
	    strcmp(node_string(relation, "relpersistence"), "u"))
		refuse_construct(r, t->at, "a temporary table");
	for (uint32_t i = 0; i < c->table_count; i++) {
		if (strcmp(c->tables[i]->name, t->name)) continue;
		if (node_flag(body, "if_not_exists")) return !r->failed;
		refuse(r, t->at, "relation \"%s\" already exists", t->name);
	}
	add_elements(r, t, json_object_get(body, "tableElts"));
	/* The catalog's tables own their arrays: sql_catalog_free(). */
	t->number = c->table_count;
	VEC_RESERVE(c->tables, c->table_count, c->table_capacity);
	c->tables[c->table_count++] = t;
	if (r->failed) return false;
	sort_names(r, t);
	t->global = program_add_global(c->program, t->name,
	                               t->primary ? t->primary->count : 3,
	                               value_null());
	for (uint32_t i = 0; i < t->unique_count; i++)
		t->uniques[i].global =
			program_add_global(c->program, t->uniques[i].name,
		                           t->uniques[i].count, value_null());
	assert(t->number + 1 == c->table_count);
	return true;
}

/* ---- Indexes, views ---- */

void add_index(struct resolver *r, struct sql_table *t, struct sql_statement *s)
{
	assert(t->unique_count);
	struct sql_unique *u = &t->uniques[t->unique_count - 1];
	u->global = program_add_global(r->catalog->program, u->name, u->count,
	                               value_null());
	s->kind = STATEMENT_INDEX;
	s->table = t;
	s->arbiter = u;
}

/* Of indexes, only unique ones matter. */
bool resolve_index(struct resolver *r, json_t *body, struct sql_statement *s)
{
	json_t *list = json_object_get(body, "indexParams"), *x;
	uint32_t count = (uint32_t)json_array_size(list);
	r->place = node_place(r, json_object_get(body, "relation"));
	struct sql_table *t = find_table(r, json_object_get(body, "relation"));
	if (!t || !node_flag(body, "unique")) return t != NULL;
	struct sql_unique u = { .count = count };
	uint32_t *columns =
		region_take0(r->region, (count + 1) * sizeof *columns);
	if (json_object_get(body, "whereClause"))
		refuse_construct(r, r->place, "a partial unique index");
	for (uint32_t i = 0; i < count && !r->failed; i++) {
		node_is(json_array_get(list, i), "IndexElem", &x);
		const char *name = node_string(x, "name");
		uint32_t c = column_named(t, name);
		if (!*name)
			refuse_construct(r, r->place,
			                 "a unique index of expressions");
		else if (c == t->column_count)
			refuse(r, r->place, "column \"%s\" does not exist",
			       name);
		columns[i] = c;
	}
	if (r->failed) return false;
	const char *name = node_string(body, "idxname");
	u.name = *name ? keep_name(r, name)
	               : name_constraint(r, t, body, columns, count, "idx");
	u.columns = columns;
	u.types = column_types(r, t, &u);
	VEC_RESERVE(t->uniques, t->unique_count, t->unique_capacity);
	t->uniques[t->unique_count++] = u;
	add_index(r, t, s);
	return true;
}

bool resolve_view(struct resolver *r, json_t *body, struct sql_statement *s)
{
	struct sql_catalog *c = r->catalog;
	json_t *view = json_object_get(body, "view"), *select;
	const char *name = node_string(view, "relname");
	(void)s;
	r->place = node_place(r, view);
	if (json_object_get(body, "aliases"))
		refuse_construct(r, r->place, "names of columns in a view");
	for (uint32_t i = 0; i < c->table_count; i++)
		if (!strcmp(c->tables[i]->name, name))
			refuse(r, r->place, "relation \"%s\" already exists",
			       name);
	node_is(json_object_get(body, "query"), "SelectStmt", &select);
	const struct sql_query *q =
		r->failed ? NULL : resolve_query(r, NULL, select);
	if (!q) return false;
	VEC_RESERVE(c->views, c->view_count, c->view_capacity);
	c->views[c->view_count++] = (struct sql_view){ keep_name(r, name), q };
	return true;
}

bool resolve_truncate(struct resolver *r, json_t *body, struct sql_statement *s)
{
	json_t *list = json_object_get(body, "relations"), *x;
	uint32_t count = (uint32_t)json_array_size(list);
	s->kind = STATEMENT_TRUNCATE;
	s->tables = region_take0(r->region, (count + 1) * sizeof *s->tables);
	for (uint32_t i = 0; i < count && !r->failed; i++) {
		node_is(json_array_get(list, i), "RangeVar", &x);
		r->place = node_place(r, x);
		s->tables[s->table_count++] = find_table(r, x);
	}
	return !r->failed;
}
