/* Constraints of a table: their names, keys and checks. */
#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "sql/resolve_parts.h"

uint32_t column_named(const struct sql_table *t, const char *name)
{
	uint32_t c = 0;
	while (c < t->column_count && strcmp(t->columns[c].name, name)) c++;
	return c;
}

static bool is_taken(const struct sql_table *t, const char *name)
{
	if (t->primary && !strcmp(t->primary->name, name)) return true;
	for (uint32_t i = 0; i < t->unique_count; i++)
		if (!strcmp(t->uniques[i].name, name)) return true;
	for (uint32_t i = 0; i < t->check_count; i++)
		if (!strcmp(t->checks[i].name, name)) return true;
	for (const struct sql_foreign *f = t->foreigns; f; f = f->next_from)
		if (!strcmp(f->name, name)) return true;
	return false;
}

const char *name_constraint(struct resolver *r, const struct sql_table *t,
                            json_t *body, const uint32_t *columns,
                            uint32_t count, const char *ending)
{
	const char *given = node_string(body, "conname");
	if (*given) return keep_name(r, given);
	struct text name = { 0 };
	for (int n = 0; !n || is_taken(t, text_get(&name)); n++) {
		text_clear(&name);
		text_string(&name, t->name);
		for (uint32_t i = 0; i < count; i++)
			text_format(&name, "_%s", t->columns[columns[i]].name);
		text_format(&name, "_%s", ending);
		if (n) text_format(&name, "%d", n);
	}
	const char *kept = keep_name(r, text_get(&name));
	text_free(&name);
	return kept;
}

uint32_t *columns_named(struct resolver *r, const struct sql_table *t,
                        json_t *names, const char *where)
{
	uint32_t count = (uint32_t)json_array_size(names);
	uint32_t *columns =
		region_take0(r->region, (count + 1) * sizeof *columns);
	for (uint32_t i = 0; i < count; i++) {
		const char *name = node_name(json_array_get(names, i));
		columns[i] = column_named(t, name);
		if (columns[i] == t->column_count)
			return refuse(r, r->place,
			              "column \"%s\" %s does not exist", name,
			              where);
	}
	return columns;
}

/* The columns that a constraint of the table lists; one of a column has but
 * this. */
static uint32_t *constraint_columns(struct resolver *r,
                                    const struct sql_table *t, json_t *body,
                                    int64_t self, uint32_t *count)
{
	json_t *keys = json_object_get(body, "keys");
	assert(self < (int64_t)t->column_count);
	*count = self >= 0 ? 1 : (uint32_t)json_array_size(keys);
	if (self < 0) return columns_named(r, t, keys, "named in key");
	uint32_t *columns = region_take(r->region, sizeof *columns);
	*columns = (uint32_t)self;
	return columns;
}

const struct sql_type *column_types(struct resolver *r,
                                    const struct sql_table *t,
                                    const struct sql_unique *u)
{
	struct sql_type *types =
		region_take0(r->region, (u->count + 1) * sizeof *types);
	for (uint32_t i = 0; i < u->count; i++)
		types[i] = t->columns[u->columns[i]].type;
	return types;
}

void add_primary(struct resolver *r, struct sql_table *t, json_t *body,
                 int64_t self)
{
	struct sql_unique *u = region_take0(r->region, sizeof *u);
	u->columns = constraint_columns(r, t, body, self, &u->count);
	if (r->failed) return;
	if (t->primary) {
		refuse(r, r->place,
		       "multiple primary keys for table \"%s\" are not allowed",
		       t->name);
		return;
	}
	u->name = name_constraint(r, t, body, NULL, 0, "pkey");
	assert(u->count);
	u->types = column_types(r, t, u);
	for (uint32_t i = 0; i < u->count; i++)
		t->columns[u->columns[i]].not_null = true;
	t->primary = u;
}

void add_unique(struct resolver *r, struct sql_table *t, json_t *body,
                int64_t self)
{
	struct sql_unique u = { 0 };
	u.columns = constraint_columns(r, t, body, self, &u.count);
	if (r->failed) return;
	if (node_flag(body, "nulls_not_distinct"))
		refuse_construct(r, r->place, "NULLS NOT DISTINCT");
	u.name = name_constraint(r, t, body, u.columns, u.count, "key");
	assert(u.count);
	u.types = column_types(r, t, &u);
	VEC_RESERVE(t->uniques, t->unique_count, t->unique_capacity);
	t->uniques[t->unique_count++] = u;
}

static void first_column(const struct sql_expr *e, int64_t *column, bool *more)
{
	if (e->kind == EXPR_COLUMN) {
		*more |= *column >= 0 && *column != (int64_t)e->column;
		*column = e->column;
	}
	for (uint32_t i = 0; i < e->count; i++)
		first_column(e->args[i], column, more);
}

void add_check(struct resolver *r, struct sql_table *t, json_t *body)
{
	struct scope s = { 0 };
	int64_t column = -1;
	bool more = false;
	add_table(r, &s, t, NULL);
	const struct sql_expr *e = resolve_condition(
		r, &s, json_object_get(body, "raw_expr"), "CHECK");
	free_scope(&s);
	if (!e) return;
	first_column(e, &column, &more);
	uint32_t named = (uint32_t)column;
	VEC_RESERVE(t->checks, t->check_count, t->check_capacity);
	t->checks[t->check_count] = (struct sql_check){
		.name = name_constraint(r, t, body, &named,
		                        column >= 0 && !more, "check"),
		.condition = e
	};
	t->check_count++;
}
