/* Names of columns. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "sql/resolve_parts.h"

const struct sql_expr *column_of(struct resolver *r, struct scope *s,
                                 uint32_t up, uint32_t relation,
                                 uint32_t column)
{
	for (uint32_t i = 0; i < up; i++) s = s->outer;
	const struct sql_relation *from = &s->relations[relation];
	assert(column < from->column_count);
	struct sql_expr *e = expr_new(r, EXPR_COLUMN, SQL_UNKNOWN, 0);
	e->type = from->columns[column].type;
	e->up = up;
	e->relation = relation;
	e->column = column;
	return e;
}

const struct sql_expr *visible_column(struct resolver *r, struct scope *s,
                                      uint32_t up, uint32_t i)
{
	const struct scope *at = s;
	for (uint32_t k = 0; k < up; k++) at = at->outer;
	assert(i < at->visible_count);
	const struct visible_column *v = &at->visible[i];
	if (!v->merged) return column_of(r, s, up, v->relation, v->column);
	return up ? outward(r, v->merged, up) : v->merged;
}

static int column_in(const struct sql_relation *from, const char *name)
{
	for (uint32_t i = 0; i < from->column_count; i++)
		if (!strcmp(from->columns[i].name, name)) return (int)i;
	return -1;
}

/* Of all columns in sight. */
static const char *nearest_column(struct scope *s, const char *relation,
                                  const char *name)
{
	const char **names = NULL, *near;
	size_t count = 0, capacity = 0;
	for (; s; s = s->outer)
		for (uint32_t i = 0; i < s->relation_count; i++) {
			const struct sql_relation *from = &s->relations[i];
			if (relation && strcmp(from->name, relation)) continue;
			for (uint32_t c = 0; c < from->column_count; c++) {
				VEC_RESERVE(names, count, capacity);
				names[count++] = from->columns[c].name;
			}
		}
	near = diag_nearest(name, names, count);
	free(names);
	return near;
}

/* What it holds depends on more than rows and transactions. */
static bool is_system_column(const char *name)
{
	static const char *const names[] = { "cmax",     "cmin", "ctid",
		                             "tableoid", "xmax", "xmin" };
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(names[i], name)) return true;
	return false;
}

static const struct sql_expr *no_column(struct resolver *r, struct scope *s,
                                        const char *relation, const char *name)
{
	if (is_system_column(name)) {
		struct text t = { 0 };
		text_format(&t, "the column %s, which PostgreSQL fills", name);
		refuse_everywhere(r, r->place, text_get(&t));
		text_free(&t);
		return NULL;
	}
	const char *near = nearest_column(s, relation, name);
	const char *dot = relation ? "." : "", *quote = relation ? "" : "\"";
	return refuse(r, r->place, "column %s%s%s%s%s does not exist%s%s%s",
	              quote, relation ? relation : "", dot, name, quote,
	              near ? "; did you mean \"" : "", near ? near : "",
	              near ? "\"?" : "");
}

/* An expression of a query as it is written so many queries further in. */
const struct sql_expr *outward(struct resolver *r, const struct sql_expr *e,
                               uint32_t up)
{
	struct sql_expr *copy = region_take(r->region, sizeof *copy);
	*copy = *e;
	assert(!e->query);
	if (e->kind == EXPR_COLUMN) copy->up += up;
	copy->args =
		region_take0(r->region, (e->count + 1) * sizeof *copy->args);
	for (uint32_t i = 0; i < e->count; i++)
		copy->args[i] = outward(r, e->args[i], up);
	return copy;
}

struct variable *find_variable(const struct variables *v, const char *label,
                               const char *name)
{
	for (uint32_t i = v ? v->count : 0; i-- > 0;) {
		struct variable *x = &v->items[i];
		if (!x->hidden && x->name && !strcmp(x->name, name) &&
		    (!label || (x->label && !strcmp(x->label, label))))
			return x;
	}
	return NULL;
}

/* Of the routine that the scope is in, so many scopes out; or NULL. */
static const struct variables *variables_of(const struct scope *s, uint32_t *up)
{
	for (*up = 0; s; s = s->outer, ++*up)
		if (s->variables) return s->variables;
	return NULL;
}

static const struct sql_expr *slot_value(struct resolver *r, uint32_t up,
                                         uint32_t slot, struct sql_type type)
{
	struct sql_expr *e = expr_new(r, EXPR_COLUMN, SQL_UNKNOWN, 0);
	e->type = type;
	e->up = up;
	e->column = slot;
	return e;
}

static const struct sql_expr *variable_value(struct resolver *r, uint32_t up,
                                             const struct variable *v)
{
	if (!v->fixed) return slot_value(r, up, v->slot, v->type);
	struct sql_expr *e = region_take(r->region, sizeof *e);
	*e = *v->fixed;
	e->at = r->place;
	return e;
}

static const struct sql_expr *
plain_variable(struct resolver *r, const struct scope *s, const char *name)
{
	uint32_t up;
	const struct variables *all = variables_of(s, &up);
	const struct variable *v = find_variable(all, NULL, name);
	if (!v) return NULL;
	if (v->record)
		return refuse_construct(r, r->place, "a whole row as a value");
	return variable_value(r, up, v);
}

static const struct sql_expr *record_field(struct resolver *r, uint32_t up,
                                           const struct variable *v,
                                           const char *name)
{
	for (uint32_t i = 0; i < v->column_count; i++)
		if (!strcmp(v->columns[i].name, name))
			return slot_value(r, up, v->slot + i,
			                  v->columns[i].type);
	if (!v->column_count)
		return refuse(r, r->place, "record \"%s\" is not assigned yet",
		              v->name);
	return refuse(r, r->place, "record \"%s\" has no field \"%s\"", v->name,
	              name);
}

/* $1 */
const struct sql_expr *resolve_parameter(struct resolver *r,
                                         const struct scope *s, int64_t number)
{
	uint32_t up;
	const struct variables *all = variables_of(s, &up);
	if (!all || number < 1 || number > all->parameter_count)
		return refuse(r, r->place, "there is no parameter $%d",
		              (int)number);
	const struct variable *v = &all->items[number - 1];
	return variable_value(r, up, v);
}

/* record.field, or block.variable; NULL without an error: neither. */
static const struct sql_expr *qualified_variable(struct resolver *r,
                                                 const struct scope *s,
                                                 const char *first,
                                                 const char *name)
{
	uint32_t up;
	const struct variables *all = variables_of(s, &up);
	const struct variable *v = find_variable(all, NULL, first);
	if (v && v->record) return record_field(r, up, v, name);
	v = find_variable(all, first, name);
	return v ? variable_value(r, up, v) : NULL;
}

/* A column that a variable of PL/pgSQL has the name of as well. */
static bool is_unclear(struct resolver *r, const struct scope *s,
                       const char *name)
{
	uint32_t up;
	const struct variables *all = variables_of(s, &up);
	if (!all || all->shadows || !find_variable(all, NULL, name))
		return false;
	refuse(r, r->place,
	       "column reference \"%s\" is ambiguous: it could refer to either "
	       "a PL/pgSQL variable or a table column (42702)",
	       name);
	return true;
}

static const struct sql_expr *plain_column(struct resolver *r, struct scope *s,
                                           const char *name)
{
	uint32_t up = 0;
	for (struct scope *at = s; at; at = at->outer, up++) {
		uint32_t found = at->visible_count;
		for (uint32_t i = 0; i < at->visible_count; i++) {
			if (strcmp(at->visible[i].name, name)) continue;
			if (found < at->visible_count)
				return refuse(r, r->place,
				              "column reference \"%s\" is "
				              "ambiguous",
				              name);
			found = i;
		}
		if (found < at->visible_count)
			return is_unclear(r, s, name)
			               ? NULL
			               : visible_column(r, s, up, found);
	}
	const struct sql_expr *v = plain_variable(r, s, name);
	const struct sql_column *columns;
	uint32_t count;
	if (v || r->failed) return v;
	if (whole_row(s, name, &columns, &count))
		return refuse_construct(r, r->place, "a whole row as a value");
	return no_column(r, s, NULL, name);
}

static int find_relation(struct scope *s, const char *name, uint32_t *up,
                         struct scope **at)
{
	*up = 0;
	for (; s; s = s->outer, ++*up)
		for (uint32_t i = 0; i < s->relation_count; i++)
			if (!strcmp(s->relations[i].name, name)) {
				*at = s;
				return (int)i;
			}
	return -1;
}

bool counts_from_zero(const struct scope *s, json_t *node)
{
	uint32_t up;
	json_t *body, *fields;
	if (!node_is(node, "ColumnRef", &body)) return false;
	fields = json_object_get(body, "fields");
	const struct variables *all = variables_of(s, &up);
	const struct variable *v =
		find_variable(all, NULL, node_name(json_array_get(fields, 0)));
	return json_array_size(fields) == 1 && v && v->from_zero;
}

/* ---- Whole rows ---- */

bool whole_row(const struct scope *s, const char *name,
               const struct sql_column **columns, uint32_t *count)
{
	uint32_t up;
	const struct variables *all = variables_of(s, &up);
	const struct variable *v = find_variable(all, NULL, name);
	for (; s; s = s->outer)
		for (uint32_t i = 0; i < s->relation_count; i++)
			if (!strcmp(s->relations[i].name, name)) {
				*columns = s->relations[i].columns;
				*count = s->relations[i].column_count;
				return true;
			}
	if (!v || !v->record || !v->column_count) return false;
	*columns = v->columns;
	*count = v->column_count;
	return true;
}

static bool is_visible(const struct scope *s, const char *name)
{
	for (; s; s = s->outer)
		for (uint32_t i = 0; i < s->visible_count; i++)
			if (!strcmp(s->visible[i].name, name)) return true;
	return false;
}

/* The name of the row that r.* is, or r where no column is called that; else
 * NULL. */
static const char *row_meant(const struct scope *s, json_t *ref, bool star)
{
	json_t *fields = json_object_get(ref, "fields"), *x;
	const char *name = node_name(json_array_get(fields, 0));
	bool has_star = node_is(json_array_get(fields, 1), "A_Star", &x);
	if (json_array_size(fields) != (has_star ? 2 : 1)) return NULL;
	return has_star || (!star && !is_visible(s, name)) ? name : NULL;
}

/* Its columns, as nodes of their own, put into a list before number i. */
static void insert_columns(json_t *list, size_t i, const char *row,
                           const struct sql_column *columns, uint32_t count,
                           json_int_t location)
{
	for (uint32_t c = 0; c < count; c++)
		json_array_insert_new(
			list, i + c,
			json_pack("{s:{s:[{s:{s:s}},{s:{s:s}}],s:I}}",
		                  "ColumnRef", "fields", "String", "sval", row,
		                  "String", "sval", columns[c].name, "location",
		                  location));
}

void spread_rows(const struct scope *s, json_t *list)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		const struct sql_column *columns;
		uint32_t count;
		json_t *ref, *node = json_array_get(list, i);
		const char *name = node_is(node, "ColumnRef", &ref)
		                           ? row_meant(s, ref, true)
		                           : NULL;
		if (!name || !whole_row(s, name, &columns, &count)) continue;
		insert_columns(list, i, name, columns, count,
		               node_integer(ref, "location"));
		json_array_remove(list, i + count);
		i += count - 1;
	}
}

bool spread_row(const struct scope *s, json_t *node)
{
	const struct sql_column *columns;
	uint32_t count;
	json_t *ref, *row, *list;
	if (node_is(node, "RowExpr", &row))
		spread_rows(s, json_object_get(row, "args"));
	if (!node_is(node, "ColumnRef", &ref)) return false;
	const char *name = row_meant(s, ref, false);
	if (!name || !whole_row(s, name, &columns, &count)) return false;
	list = json_array();
	insert_columns(list, 0, name, columns, count,
	               node_integer(ref, "location"));
	row = json_pack("{s:o,s:I}", "args", list, "location",
	                (json_int_t)node_integer(ref, "location"));
	json_object_clear(node);
	json_object_set_new(node, "RowExpr", row);
	assert(json_array_size(row_items(node)) == count);
	return true;
}

uint32_t find_step(const struct resolver *r, const char *name)
{
	const struct sql_catalog *c = r->catalog;
	uint32_t i = 0;
	for (; i < c->step_count; i++) {
		const struct sql_step_result *step = &c->steps[i];
		if (!strcmp(step->name, name) ||
		    (step->session && !strcmp(step->session, name)))
			break;
	}
	return i;
}

/* step.error, which needs no FROM. */
static const struct sql_expr *step_error(struct resolver *r, const char *step)
{
	uint32_t i = find_step(r, step);
	if (i == r->catalog->step_count) return NULL;
	struct sql_expr *e = expr_new(r, EXPR_STEP_ERROR, SQL_TEXT, 0);
	e->relation = i;
	return e;
}

const struct sql_expr *field_of_row(struct resolver *r, struct scope *s,
                                    const char *relation, const char *name)
{
	uint32_t up = 0;
	struct scope *at = NULL;
	int found = find_relation(s, relation, &up, &at);
	int column = found < 0 ? -1 : column_in(&at->relations[found], name);
	if (column >= 0)
		return column_of(r, s, up, (uint32_t)found, (uint32_t)column);
	if (r->purpose == PURPOSE_ASSERT && !strcmp(name, "error")) {
		const struct sql_expr *e = step_error(r, relation);
		if (e) return e;
	}
	if (found >= 0) return no_column(r, s, relation, name);
	const struct sql_expr *v = qualified_variable(r, s, relation, name);
	if (v || r->failed) return v;
	return refuse(r, r->place, "missing FROM-clause entry for table \"%s\"",
	              relation);
}

void note_name(struct resolver *r, struct place at, const struct sql_table *t,
               uint32_t column)
{
	struct sql_catalog *c = r->catalog;
	if (!c->notes_names) return;
	VEC_RESERVE(c->mentions, c->mention_count, c->mention_capacity);
	c->mentions[c->mention_count++] = (struct sql_mention){ at, t, column };
}

/* What its name, at this node, has been found to be. */
static const struct sql_expr *noted(struct resolver *r, struct scope *s,
                                    const struct sql_expr *e, json_t *body)
{
	struct place at = node_place(r, body);
	if (!e || e->kind != EXPR_COLUMN || !r->catalog->notes_names) return e;
	for (uint32_t i = 0; i < e->up; i++) s = s->outer;
	if (e->relation >= s->relation_count) return e; /* a variable */
	const struct sql_relation *x = &s->relations[e->relation];
	if (x->kind == RELATION_TABLE) note_name(r, at, x->table, e->column);
	return e;
}

const struct sql_expr *resolve_column(struct resolver *r, struct scope *s,
                                      json_t *body)
{
	json_t *fields = json_object_get(body, "fields"), *star;
	size_t count = json_array_size(fields);
	json_t *last = json_array_get(fields, count - 1);
	if (node_is(last, "A_Star", &star))
		return refuse_construct(r, r->place, "a whole row as a value");
	if (count == 1)
		return noted(r, s, plain_column(r, s, node_name(last)), body);
	if (count == 2)
		return noted(r, s,
		             field_of_row(r, s,
		                          node_name(json_array_get(fields, 0)),
		                          node_name(last)),
		             body);
	return refuse_construct(r, r->place, "a name of more than two parts");
}
