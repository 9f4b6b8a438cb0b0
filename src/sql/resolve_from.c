/* FROM. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "sql/resolve_parts.h"

static struct sql_relation *add_relation(struct resolver *r, struct scope *s,
                                         const char *name)
{
	for (uint32_t i = 0; i < s->relation_count; i++)
		if (!strcmp(s->relations[i].name, name))
			refuse(r, r->place,
			       "table name \"%s\" specified more than once",
			       name);
	VEC_RESERVE(s->relations, s->relation_count, s->relation_capacity);
	struct sql_relation *x = &s->relations[s->relation_count];
	*x = (struct sql_relation){ .number = s->relation_count++,
		                    .name = keep_name(r, name),
		                    .at = r->place };
	return x;
}

struct sql_relation *add_table(struct resolver *r, struct scope *s,
                               const struct sql_table *t, const char *alias)
{
	struct sql_relation *x = add_relation(r, s, alias ? alias : t->name);
	x->kind = RELATION_TABLE;
	x->table = t;
	x->columns = t->columns;
	x->column_count = t->column_count;
	return x;
}

/* `up`: how many queries out what it mentions of others stands. */
static void add_query(struct resolver *r, struct scope *s, const char *name,
                      const struct sql_query *q, uint32_t up)
{
	struct sql_relation *x = add_relation(r, s, name);
	struct sql_column *columns = region_take0(
		r->region, (q->target_count + 1) * sizeof *columns);
	for (uint32_t i = 0; i < q->target_count; i++)
		columns[i] = (struct sql_column){
			.name = q->targets[i].name,
			.type = q->targets[i].value->type
		};
	x->kind = RELATION_QUERY;
	x->query = q;
	x->query_up = up;
	x->columns = columns;
	x->column_count = q->target_count;
}

struct sql_table *find_table(struct resolver *r, json_t *range_var)
{
	const struct sql_catalog *c = r->catalog;
	const char *name = node_string(range_var, "relname"), *near;
	const char *schema = node_string(range_var, "schemaname");
	const char **names;
	if (*schema && strcmp(schema, "public")) {
		refuse_construct(r, r->place, "a schema other than public");
		return NULL;
	}
	for (uint32_t i = 0; i < c->table_count; i++)
		if (!strcmp(c->tables[i]->name, name)) return c->tables[i];
	names = mem_take0(c->table_count + 1, sizeof *names);
	for (uint32_t i = 0; i < c->table_count; i++)
		names[i] = c->tables[i]->name;
	near = diag_nearest(name, names, c->table_count);
	free(names);
	return refuse(r, r->place, "relation \"%s\" does not exist%s%s%s", name,
	              near ? "; did you mean \"" : "", near ? near : "",
	              near ? "\"?" : "");
}

/* In assertions: what the step returned. A session with one step lends it its
 * name. */
static bool add_step(struct resolver *r, struct scope *s, const char *name,
                     const char *alias)
{
	const struct sql_catalog *c = r->catalog;
	for (uint32_t i = 0; i < c->step_count; i++) {
		const struct sql_step_result *step = &c->steps[i];
		if (strcmp(step->name, name) &&
		    (!step->session || strcmp(step->session, name)))
			continue;
		struct sql_relation *x =
			add_relation(r, s, alias ? alias : name);
		x->kind = RELATION_STEP;
		x->step = i;
		x->columns = step->columns;
		x->column_count = step->column_count;
		return true;
	}
	return false;
}

static const char *alias_of(struct resolver *r, json_t *body)
{
	json_t *alias = json_object_get(body, "alias");
	if (!alias) return NULL;
	if (json_object_get(alias, "colnames"))
		refuse_construct(r, r->place, "names of columns in an alias");
	return node_string(alias, "aliasname");
}

static const struct sql_query *named_query(struct scope *s, const char *name,
                                           uint32_t *up)
{
	for (*up = 0; s; s = s->outer, ++*up)
		for (uint32_t i = s->named_count; i-- > 0;)
			if (!strcmp(s->named[i].name, name))
				return s->named[i].query;
	*up = 0;
	return NULL;
}

/* It mentions nothing of the queries around it. */
static const struct sql_query *view_of(const struct resolver *r,
                                       const char *name)
{
	const struct sql_catalog *c = r->catalog;
	for (uint32_t i = 0; i < c->view_count; i++)
		if (!strcmp(c->views[i].name, name)) return c->views[i].query;
	return NULL;
}

static struct sql_from *from_relation(struct resolver *r, struct scope *s)
{
	struct sql_from *f = region_take0(r->region, sizeof *f);
	f->relation = s->relation_count - 1;
	return f;
}

static struct sql_from *resolve_item(struct resolver *r, struct scope *s,
                                     json_t *node);

static struct sql_from *resolve_range(struct resolver *r, struct scope *s,
                                      json_t *body)
{
	const char *name = node_string(body, "relname");
	const char *alias = alias_of(r, body);
	uint32_t up;
	const struct sql_query *q = named_query(s, name, &up);
	if (!q) q = view_of(r, name);
	if (q)
		add_query(r, s, alias ? alias : name, q, up);
	else if (r->purpose != PURPOSE_ASSERT || !add_step(r, s, name, alias)) {
		struct sql_table *t = find_table(r, body);
		if (t) add_table(r, s, t, alias);
	}
	return r->failed ? NULL : from_relation(r, s);
}

static struct sql_from *resolve_join(struct resolver *r, struct scope *s,
                                     json_t *body)
{
	const char *kind = node_string(body, "jointype");
	struct sql_from *f = region_take0(r->region, sizeof *f);
	f->join = !strcmp(kind, "JOIN_LEFT") ? JOIN_LEFT : JOIN_INNER;
	if (strcmp(kind, "JOIN_LEFT") && strcmp(kind, "JOIN_INNER"))
		return refuse_construct(r, r->place, "a RIGHT or FULL join");
	if (node_flag(body, "isNatural") ||
	    json_object_get(body, "usingClause"))
		return refuse_construct(r, r->place, "NATURAL JOIN and USING");
	f->a = resolve_item(r, s, json_object_get(body, "larg"));
	f->b = resolve_item(r, s, json_object_get(body, "rarg"));
	json_t *on = json_object_get(body, "quals");
	if (on && !r->failed) f->on = resolve_condition(r, s, on, "JOIN/ON");
	return r->failed ? NULL : f;
}

struct sql_query *resolve_nested(struct resolver *r, struct scope *s,
                                 json_t *select)
{
	uint32_t count = s->relation_count;
	s->relation_count = 0;
	struct sql_query *q = resolve_query(r, s, select);
	s->relation_count = count;
	return q;
}

static struct sql_from *resolve_item(struct resolver *r, struct scope *s,
                                     json_t *node)
{
	json_t *body, *select = NULL;
	const char *kind = node_kind(node, &body);
	if (r->failed) return NULL;
	if (json_object_get(body, "location")) r->place = node_place(r, body);
	if (!strcmp(kind, "RangeVar")) return resolve_range(r, s, body);
	if (!strcmp(kind, "JoinExpr")) return resolve_join(r, s, body);
	if (strcmp(kind, "RangeSubselect") || node_flag(body, "lateral"))
		return refuse_construct(r, r->place,
		                        "LATERAL, or a function "
		                        "in FROM");
	const char *alias = alias_of(r, body);
	if (!alias)
		return refuse(r, r->place,
		              "subquery in FROM must have an alias");
	node_is(json_object_get(body, "subquery"), "SelectStmt", &select);
	struct sql_query *q = resolve_nested(r, s, select);
	if (!q) return NULL;
	add_query(r, s, alias, q, 0);
	return from_relation(r, s);
}

bool resolve_from(struct resolver *r, struct scope *s, json_t *list,
                  const struct sql_from **out)
{
	const struct sql_from *all = *out;
	for (size_t i = 0; i < json_array_size(list) && !r->failed; i++) {
		struct sql_from *next =
			resolve_item(r, s, json_array_get(list, i));
		struct sql_from *both;
		if (!all) {
			all = next;
			continue;
		}
		both = region_take0(r->region, sizeof *both);
		*both = (struct sql_from){ JOIN_INNER, 0, all, next, NULL };
		all = both;
	}
	*out = all;
	return !r->failed;
}
