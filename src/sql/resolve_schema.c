/* CREATE TYPE, ALTER TABLE. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "sql/resolve_parts.h"
#include "vm/bytecode.h"

/* ---- Types ---- */

bool resolve_enum(struct resolver *r, json_t *body, struct sql_statement *s)
{
	struct sql_catalog *c = r->catalog;
	json_t *names = json_object_get(body, "typeName");
	json_t *list = json_object_get(body, "vals");
	uint32_t count = (uint32_t)json_array_size(list);
	struct sql_enum *e = region_take0(r->region, sizeof *e);
	const char **labels =
		region_take0(r->region, (count + 1) * sizeof *labels);
	(void)s;
	e->name = keep_name(r, node_name(json_array_get(
				       names, json_array_size(names) - 1)));
	for (uint32_t i = 0; i < c->enum_count; i++)
		if (!strcmp(c->enums[i]->name, e->name))
			refuse(r, r->place, "type \"%s\" already exists",
			       e->name);
	for (uint32_t i = 0; i < count; i++)
		labels[i] = keep_name(r, node_name(json_array_get(list, i)));
	e->labels = labels;
	e->count = count;
	VEC_RESERVE(c->enums, c->enum_count, c->enum_capacity);
	c->enums[c->enum_count++] = e;
	return !r->failed;
}

/* ---- ALTER TABLE ---- */

static void alter_column(struct resolver *r, struct sql_table *t, json_t *cmd,
                         struct sql_statement *s)
{
	const char *kind = node_string(cmd, "subtype");
	const char *name = node_string(cmd, "name");
	uint32_t c = column_named(t, name);
	if (c == t->column_count) {
		refuse(r, r->place,
		       "column \"%s\" of relation \"%s\" does not exist", name,
		       t->name);
		return;
	}
	if (!strcmp(kind, "AT_ColumnDefault")) {
		set_default(r, &t->columns[c], json_object_get(cmd, "def"));
	} else if (!strcmp(kind, "AT_DropNotNull")) {
		t->columns[c].not_null = false;
	} else {
		t->columns[c].not_null = true;
		s->kind = STATEMENT_CHECK;
	}
}

static void alter_constraint(struct resolver *r, struct sql_table *t,
                             json_t *constraint, struct sql_statement *s)
{
	const char *kind = node_string(constraint, "contype");
	uint32_t uniques = t->unique_count;
	if (json_object_get(constraint, "indexname")) {
		refuse_construct(r, r->place, "a constraint by an index");
		return;
	}
	add_constraint(r, t, constraint, -1);
	assert(t->unique_count <= uniques + 1);
	if (r->failed) return;
	if (t->unique_count > uniques)
		add_index(r, t, s);
	else if ((!strcmp(kind, "CONSTR_CHECK") ||
	          !strcmp(kind, "CONSTR_FOREIGN")) &&
	         !node_flag(constraint, "skip_validation"))
		s->kind = STATEMENT_CHECK;
	if (strcmp(kind, "CONSTR_PRIMARY")) return;
	s->kind = STATEMENT_KEY;
	s->old_global = t->global;
	t->global = program_add_global(r->catalog->program, t->name,
	                               t->primary->count, value_null());
}

static void refuse_change(struct resolver *r, json_t *cmd)
{
	struct text t = { 0 };
	text_format(&t, "ALTER TABLE ... %s", change_words(cmd));
	refuse_construct(r, r->place, text_get(&t));
	text_free(&t);
}

bool resolve_alter_table(struct resolver *r, json_t *body,
                         struct sql_statement *s)
{
	json_t *list = json_object_get(body, "cmds"), *cmd, *constraint;
	r->place = node_place(r, json_object_get(body, "relation"));
	struct sql_table *t = find_table(r, json_object_get(body, "relation"));
	if (!t) return false;
	s->table = t;
	if (json_array_size(list) > 1)
		refuse_construct(r, r->place,
		                 "ALTER TABLE with several changes (write a "
		                 "statement for each)");
	node_is(json_array_get(list, 0), "AlterTableCmd", &cmd);
	const char *kind = node_string(cmd, "subtype");
	if (r->failed) return false;
	if (!strcmp(kind, "AT_AddConstraint") &&
	    node_is(json_object_get(cmd, "def"), "Constraint", &constraint))
		alter_constraint(r, t, constraint, s);
	else if (!strcmp(kind, "AT_ColumnDefault") ||
	         !strcmp(kind, "AT_SetNotNull") ||
	         !strcmp(kind, "AT_DropNotNull"))
		alter_column(r, t, cmd, s);
	else if (strcmp(kind, "AT_ChangeOwner"))
		refuse_change(r, cmd);
	return !r->failed;
}
