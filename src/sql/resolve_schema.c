/* CREATE SEQUENCE, CREATE TYPE, ALTER TABLE. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "sql/resolve_parts.h"
#include "vm/bytecode.h"

/* ---- Sequences ---- */

static int64_t option_number(struct resolver *r, json_t *option)
{
	json_t *body;
	json_t *arg = json_object_get(option, "arg");
	if (node_is(arg, "Integer", &body)) return node_integer(body, "ival");
	if (node_is(arg, "Float", &body))
		return strtoll(node_string(body, "fval"), NULL, 10);
	refuse_construct(r, r->place, "this option of a sequence");
	return 0;
}

/* Of a sequence, START and INCREMENT matter; CACHE and bounds do not. */
bool sequence_options(struct resolver *r, json_t *list, int64_t *start,
                      int64_t *step)
{
	json_t *x;
	*start = *step = 1;
	for (size_t i = 0; i < json_array_size(list) && !r->failed; i++) {
		node_is(json_array_get(list, i), "DefElem", &x);
		const char *name = node_string(x, "defname");
		r->place = node_place(r, x);
		if (!strcmp(name, "start"))
			*start = option_number(r, x);
		else if (!strcmp(name, "increment"))
			*step = option_number(r, x);
		else if (!strcmp(name, "cycle") || !strcmp(name, "restart"))
			refuse_construct(r, r->place,
			                 "this option of a sequence");
	}
	if (!r->failed && *step < 1)
		refuse_construct(r, r->place, "a sequence that falls");
	return !r->failed;
}

int find_sequence(const struct sql_catalog *c, const char *name)
{
	for (uint32_t i = 0; i < c->sequence_count; i++)
		if (!strcmp(c->sequences[i].name, name)) return (int)i;
	return -1;
}

bool resolve_sequence(struct resolver *r, json_t *body, struct sql_statement *s)
{
	json_t *relation = json_object_get(body, "sequence");
	const char *name = node_string(relation, "relname");
	int64_t start, step;
	(void)s;
	r->place = node_place(r, relation);
	if (find_sequence(r->catalog, name) >= 0) {
		if (node_flag(body, "if_not_exists")) return true;
		refuse(r, r->place, "relation \"%s\" already exists", name);
	}
	if (r->failed || !sequence_options(r, json_object_get(body, "options"),
	                                   &start, &step))
		return false;
	add_sequence(r, name, start, step);
	return true;
}

/* nextval('name'), also with ::regclass */
const struct sql_expr *resolve_nextval(struct resolver *r, json_t *arg)
{
	json_t *body, *text;
	const struct sql_catalog *c = r->catalog;
	struct place at = r->place;
	if (node_is(arg, "TypeCast", &body)) arg = json_object_get(body, "arg");
	if (!node_is(arg, "A_Const", &body) ||
	    !(text = json_object_get(body, "sval")))
		return refuse_construct(r, at,
		                        "nextval() of anything but a name");
	if (r->purpose == PURPOSE_ASSERT)
		return refuse_construct(r, at, "nextval() in an assertion");
	const char *name = node_string(text, "sval");
	int n = find_sequence(c, name);
	if (n < 0)
		return refuse(r, node_place(r, body),
		              "relation \"%s\" does not exist", name);
	return draw(r, (uint32_t)n);
}

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
	uint32_t c = 0;
	while (c < t->column_count && strcmp(t->columns[c].name, name)) c++;
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
	if (r->failed) return;
	if (t->unique_count > uniques)
		add_index(r, t, s);
	else if (!strcmp(kind, "CONSTR_CHECK"))
		s->kind = STATEMENT_CHECK;
	if (strcmp(kind, "CONSTR_PRIMARY")) return;
	s->kind = STATEMENT_KEY;
	s->old_global = t->global;
	t->global = program_add_global(r->catalog->program, t->name,
	                               t->primary->count, value_null());
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
		refuse_construct(r, r->place,
		                 "this change of a table (constraints, "
		                 "defaults and NOT NULL can be altered)");
	return !r->failed;
}
