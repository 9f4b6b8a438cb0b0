/* FROM. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

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

/* Its columns can be named from now on; `names`: the first ones so. */
static void show_columns(struct resolver *r, struct scope *s,
                         struct sql_relation *x, json_t *names)
{
	assert(x->number + 1 == s->relation_count);
	uint32_t count = (uint32_t)json_array_size(names);
	if (count > x->column_count)
		refuse(r, r->place,
		       "table \"%s\" has %u columns available but %u columns "
		       "specified",
		       x->name, (unsigned)x->column_count, (unsigned)count);
	if (count && !r->failed) {
		struct sql_column *renamed = region_take(
			r->region, x->column_count * sizeof *renamed);
		memcpy(renamed, x->columns, x->column_count * sizeof *renamed);
		for (uint32_t i = 0; i < count; i++)
			renamed[i].name = keep_name(
				r, node_name(json_array_get(names, i)));
		x->columns = renamed;
	}
	for (uint32_t i = 0; i < x->column_count; i++) {
		VEC_RESERVE(s->visible, s->visible_count, s->visible_capacity);
		s->visible[s->visible_count++] =
			(struct visible_column){ x->columns[i].name, x->number,
			                         i, NULL };
	}
}

static struct sql_relation *add_named_table(struct resolver *r, struct scope *s,
                                            const struct sql_table *t,
                                            const char *alias, json_t *names)
{
	struct sql_relation *x = add_relation(r, s, alias ? alias : t->name);
	x->kind = RELATION_TABLE;
	x->table = t;
	x->columns = t->columns;
	x->column_count = t->column_count;
	show_columns(r, s, x, names);
	return x;
}

struct sql_relation *add_table(struct resolver *r, struct scope *s,
                               const struct sql_table *t, const char *alias)
{
	return add_named_table(r, s, t, alias, NULL);
}

/* `up`: how many queries out what it mentions of others stands. */
static void add_query(struct resolver *r, struct scope *s, const char *name,
                      const struct sql_query *q, uint32_t up, json_t *names)
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
	show_columns(r, s, x, names);
}

void add_part(struct resolver *r, struct scope *s, const char *name,
              const struct sql_query *q)
{
	add_query(r, s, name, q, 0, NULL);
}

/* Of tables, views, and in assertions steps and sessions. */
static const char *nearest_relation(const struct resolver *r, const char *name)
{
	const struct sql_catalog *c = r->catalog;
	uint32_t steps = r->purpose == PURPOSE_ASSERT ? c->step_count : 0;
	size_t n = 0;
	const char **names = mem_take0(c->table_count + c->view_count +
	                                       2 * (size_t)steps + 1,
	                               sizeof *names);
	for (uint32_t i = 0; i < c->table_count; i++)
		names[n++] = c->tables[i]->name;
	for (uint32_t i = 0; i < c->view_count; i++)
		names[n++] = c->views[i].name;
	for (uint32_t i = 0; i < steps; i++) {
		names[n++] = c->steps[i].name;
		if (c->steps[i].session) names[n++] = c->steps[i].session;
	}
	const char *near = diag_nearest(name, names, n);
	for (size_t i = 0; i < n; i++)
		if (!strcasecmp(names[i], name)) near = names[i];
	free(names);
	return near;
}

/* What PostgreSQL tells of itself is no state that could be explored. */
static void refuse_schema(struct resolver *r, struct place at, const char *name)
{
	struct text t = { 0 };
	bool own = !strncmp(name, "pg_", 3);
	own |= !strcmp(name, "information_schema");
	text_format(&t, "the %s \"%s\"%s", own ? "catalog" : "schema", name,
	            own ? "" : ", which is not public");
	if (own)
		refuse_everywhere(r, at, text_get(&t));
	else
		refuse_construct(r, at, text_get(&t));
	text_free(&t);
}

struct sql_table *find_table(struct resolver *r, json_t *range_var)
{
	const struct sql_catalog *c = r->catalog;
	const char *name = node_string(range_var, "relname");
	const char *schema = node_string(range_var, "schemaname");
	if (*schema && strcmp(schema, "public")) {
		refuse_schema(r, node_place(r, range_var), schema);
		return NULL;
	}
	for (uint32_t i = 0; i < c->table_count; i++) {
		if (strcmp(c->tables[i]->name, name) != 0) continue;
		note_name(r, node_place(r, range_var), c->tables[i],
		          SQL_NO_COLUMN);
		return c->tables[i];
	}
	const char *near = nearest_relation(r, name);
	bool quotes = near && !strcasecmp(near, name);
	return refuse(r, r->place, "relation \"%s%s%s\" does not exist%s%s%s%s",
	              schema, *schema ? "." : "", name,
	              near ? "; did you mean \"" : "", near ? near : "",
	              near ? "\"?" : "",
	              quotes ? " (in double quotes: without them, names "
	                       "have small letters)"
	                     : "");
}

static bool is_table(const struct resolver *r, const char *name)
{
	const struct sql_catalog *c = r->catalog;
	for (uint32_t i = 0; i < c->table_count; i++)
		if (!strcmp(c->tables[i]->name, name)) return true;
	return false;
}

/* In assertions: what the step returned. */
static void add_step(struct resolver *r, struct scope *s, const char *name,
                     const char *alias, json_t *names)
{
	uint32_t i = find_step(r, name);
	assert(i < r->catalog->step_count);
	const struct sql_step_result *step = &r->catalog->steps[i];
	struct sql_relation *x = add_relation(r, s, alias ? alias : name);
	x->kind = RELATION_STEP;
	x->step = i;
	x->columns = step->columns;
	x->column_count = step->column_count;
	show_columns(r, s, x, names);
}

/* NULL: none; and the names that it gives columns. */
static const char *alias_of(json_t *body, json_t **names)
{
	json_t *alias = json_object_get(body, "alias");
	*names = json_object_get(alias, "colnames");
	return alias ? node_string(alias, "aliasname") : NULL;
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
	assert(s->relation_count);
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
	json_t *names;
	const char *alias = alias_of(body, &names);
	bool qualified = *node_string(body, "schemaname");
	uint32_t up = 0;
	const struct sql_query *q =
		qualified ? NULL : named_query(s, name, &up);
	const struct sql_query *view = view_of(r, name);
	bool step = !q && !qualified && r->purpose == PURPOSE_ASSERT &&
	            find_step(r, name) < r->catalog->step_count;
	if (step && (view || is_table(r, name)))
		return refuse(r, r->place,
		              "\"%s\" is the name of a step or session and of "
		              "a table: write public.%s for the table, or give "
		              "the step another name",
		              name, name);
	if (!q) q = view;
	if (step) {
		add_step(r, s, name, alias, names);
	} else if (q) {
		add_query(r, s, alias ? alias : name, q, up, names);
	} else {
		struct sql_table *t = find_table(r, body);
		if (t) add_named_table(r, s, t, alias, names);
	}
	return r->failed ? NULL : from_relation(r, s);
}

/* A column of this name among those from `from` to `to`; a number past them if
 * there is none. */
static uint32_t find_visible(struct resolver *r, const struct scope *s,
                             const char *name, uint32_t from, uint32_t to)
{
	uint32_t found = to;
	assert(from <= to && to <= s->visible_count);
	for (uint32_t i = from; i < to; i++) {
		if (strcmp(s->visible[i].name, name)) continue;
		if (found < to)
			refuse(r, r->place,
			       "common column name \"%s\" appears more than "
			       "once in a table",
			       name);
		found = i;
	}
	return found;
}

/* One column for two of a name. `*on`: with their equality. */
static bool merge_column(struct resolver *r, struct scope *s, const char *name,
                         enum sql_join join, bool right, uint32_t from,
                         uint32_t middle, const struct sql_expr **on)
{
	uint32_t i = find_visible(r, s, name, from, middle);
	uint32_t j = find_visible(r, s, name, middle, s->visible_count);
	if (!r->failed && (i == middle || j == s->visible_count))
		refuse(r, r->place,
		       "column \"%s\" specified in USING clause does not exist "
		       "in %s table",
		       name, i == middle ? "left" : "right");
	if (r->failed) return false;
	const struct sql_expr *a = visible_column(r, s, 0, i);
	const struct sql_expr *b = visible_column(r, s, 0, j);
	assert(from <= i && i < middle && middle <= j);
	const struct sql_expr *same = make_operator(r, "=", a, b);
	const struct sql_expr *both[] = { a, b };
	struct sql_type type;
	if (!same || !unify(r, both, 2, "JOIN/USING", &type)) return false;
	struct sql_expr *all = expr_new(r, EXPR_AND, SQL_BOOL, 2);
	all->args[0] = *on;
	all->args[1] = same;
	*on = *on ? all : same;
	struct sql_expr *merged = expr_new(r, EXPR_COALESCE, SQL_UNKNOWN, 2);
	merged->type = type;
	merged->args[0] = both[0];
	merged->args[1] = both[1];
	struct visible_column v = { s->visible[i].name, 0, 0, merged };
	if (join != JOIN_FULL) v.merged = both[right];
	/* The two go, and the one is put behind those merged before. */
	memmove(&s->visible[j], &s->visible[j + 1],
	        (--s->visible_count - j) * sizeof v);
	memmove(&s->visible[from + 1], &s->visible[from],
	        (i - from) * sizeof v);
	s->visible[from] = v;
	return true;
}

/* USING, or NATURAL with all that both sides have. */
static const struct sql_expr *merge_columns(struct resolver *r, struct scope *s,
                                            json_t *names, enum sql_join join,
                                            bool right, uint32_t from,
                                            uint32_t middle)
{
	const struct sql_expr *on = NULL;
	uint32_t merged = 0;
	for (size_t i = 0; i < json_array_size(names); i++, merged++)
		if (!merge_column(r, s, node_name(json_array_get(names, i)),
		                  join, right, from + merged, middle, &on))
			return NULL;
	for (uint32_t i = from; !names && i < middle; i++) {
		const char *name = s->visible[i].name;
		if (find_visible(r, s, name, middle, s->visible_count) ==
		    s->visible_count)
			continue;
		if (!merge_column(r, s, name, join, right, from + merged,
		                  middle, &on))
			return NULL;
		merged++;
	}
	return on;
}

static struct sql_from *resolve_join(struct resolver *r, struct scope *s,
                                     json_t *body)
{
	const char *kind = node_string(body, "jointype");
	json_t *names = json_object_get(body, "usingClause");
	json_t *on = json_object_get(body, "quals");
	struct sql_from *f = region_take0(r->region, sizeof *f);
	bool right = !strcmp(kind, "JOIN_RIGHT");
	uint32_t from = s->visible_count;
	f->join = right || !strcmp(kind, "JOIN_LEFT") ? JOIN_LEFT
	          : !strcmp(kind, "JOIN_FULL")        ? JOIN_FULL
	                                              : JOIN_INNER;
	if (json_object_get(body, "alias"))
		return refuse_construct(r, r->place, "an alias of a join");
	f->a = resolve_item(r, s, json_object_get(body, "larg"));
	uint32_t middle = s->visible_count, count = s->relation_count;
	f->b = resolve_item(r, s, json_object_get(body, "rarg"));
	for (uint32_t i = count; f->join == JOIN_FULL || right; i++) {
		if (i >= s->relation_count) break;
		if (s->relations[i].lateral)
			refuse(r, s->relations[i].at,
			       "the combining JOIN type must be INNER or LEFT "
			       "for a LATERAL reference");
	}
	if (r->failed) return NULL;
	if (names || node_flag(body, "isNatural"))
		f->on = merge_columns(r, s, names, f->join, right, from,
		                      middle);
	if (on) f->on = resolve_condition(r, s, on, "JOIN/ON");
	if (right) {
		const struct sql_from *a = f->a;
		f->a = f->b;
		f->b = a;
	}
	return r->failed ? NULL : f;
}

struct sql_query *resolve_nested(struct resolver *r, struct scope *s,
                                 json_t *select)
{
	uint32_t count = s->relation_count, visible = s->visible_count;
	s->relation_count = s->visible_count = 0;
	struct sql_query *q = resolve_query(r, s, select);
	s->relation_count = count;
	s->visible_count = visible;
	return q;
}

/* Does it depend on the relations beside it? A query may. */
static bool mentions_row(const struct sql_expr *e)
{
	bool found = e->query || (e->kind == EXPR_COLUMN && !e->up);
	for (uint32_t i = 0; i < e->count && !found; i++)
		found = mentions_row(e->args[i]);
	return found;
}

/* A routine that returns rows, or one value: its column has the alias's name.
 */
static struct sql_from *resolve_call_item(struct resolver *r, struct scope *s,
                                          json_t *body)
{
	json_t *names, *list, *call;
	const char *alias = alias_of(body, &names);
	json_t *functions = json_object_get(body, "functions");
	node_is(json_array_get(functions, 0), "List", &list);
	list = json_object_get(list, "items");
	bool called = node_is(json_array_get(list, 0), "FuncCall", &call);
	if (called) r->place = node_place(r, call);
	if (json_array_size(functions) != 1)
		return refuse_construct(r, r->place, "ROWS FROM");
	if (node_flag(body, "ordinality"))
		return refuse_construct(r, r->place, "WITH ORDINALITY");
	if (json_object_get(body, "coldeflist"))
		return refuse_construct(
			r, r->place,
			"a list of columns behind a function in FROM");
	if (!called)
		return refuse_construct(r, r->place,
		                        "a value of the session in FROM");
	const char *no_aggregates = s->no_aggregates;
	s->no_aggregates = "functions in FROM";
	r->calls_rows = true;
	const struct sql_expr *e = resolve_expr(r, s, json_array_get(list, 0));
	s->no_aggregates = no_aggregates;
	if (!e) return NULL;
	bool builtin =
		e->kind == EXPR_CALL && sql_proc_returns_set(e->function);
	if (e->kind != EXPR_ROUTINE && !builtin)
		return refuse_construct(r, e->at,
		                        "a function in FROM that no CREATE "
		                        "FUNCTION made");
	const char *name = builtin ? e->function->name : e->routine->name;
	struct sql_relation *x = add_relation(r, s, alias ? alias : name);
	struct sql_column *column = region_take0(r->region, sizeof *column);
	x->kind = RELATION_CALL;
	x->call = e;
	x->lateral = mentions_row(e);
	if (!builtin) {
		x->columns = e->routine->columns;
		x->column_count = e->routine->column_count;
	}
	if (builtin ||
	    (alias && x->column_count == 1 && !e->routine->out_count)) {
		*column =
			(struct sql_column){ .name = x->name, .type = e->type };
		x->columns = column;
		x->column_count = 1;
	}
	show_columns(r, s, x, names);
	return from_relation(r, s);
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
	if (!strcmp(kind, "RangeFunction"))
		return resolve_call_item(r, s, body);
	if (strcmp(kind, "RangeSubselect")) {
		struct text t = { 0 };
		node_words(&t, kind, body);
		if (!strcmp(kind, "RangeTableSample"))
			refuse_everywhere(r, r->place, text_get(&t));
		else
			refuse_construct(r, r->place, text_get(&t));
		text_free(&t);
		return NULL;
	}
	json_t *names;
	bool lateral = node_flag(body, "lateral");
	const char *alias = alias_of(body, &names);
	if (!alias)
		return refuse(r, r->place,
		              "subquery in FROM must have an alias");
	node_is(json_object_get(body, "subquery"), "SelectStmt", &select);
	struct sql_query *q = lateral ? resolve_query(r, s, select)
	                              : resolve_nested(r, s, select);
	if (!q) return NULL;
	add_query(r, s, alias, q, 0, names);
	s->relations[s->relation_count - 1].lateral = lateral;
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
