/* CREATE TRIGGER. */
#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "sql/resolve_parts.h"

/* What PostgreSQL's tree has for them. */
enum {
	TIMING_BEFORE = 1 << 1,
	TIMING_INSTEAD = 1 << 6,
	ON_INSERT = 1 << 2,
	ON_DELETE = 1 << 3,
	ON_UPDATE = 1 << 4,
	ON_TRUNCATE = 1 << 5
};

static const struct sql_trigger_body *find_function(struct resolver *r,
                                                    json_t *body)
{
	const struct sql_catalog *c = r->catalog;
	json_t *names = json_object_get(body, "funcname");
	const char *name =
		node_name(json_array_get(names, json_array_size(names) - 1));
	for (uint32_t i = 0; i < c->trigger_body_count; i++)
		if (!strcmp(c->trigger_bodies[i].name, name))
			return &c->trigger_bodies[i];
	for (uint32_t i = 0; i < c->routine_count; i++)
		if (!strcmp(c->routines[i]->name, name))
			return refuse(r, r->place,
			              "function %s must return type trigger",
			              name);
	return refuse(r, r->place, "function %s() does not exist", name);
}

/* UPDATE OF columns */
static void add_columns(struct resolver *r, const struct sql_table *t,
                        json_t *list, struct sql_trigger *g)
{
	size_t count = json_array_size(list);
	uint32_t *columns =
		region_take0(r->region, (count + 1) * sizeof *columns);
	for (size_t i = 0; i < count && !r->failed; i++) {
		const char *name = node_name(json_array_get(list, i));
		uint32_t c = 0;
		while (c < t->column_count && strcmp(t->columns[c].name, name))
			c++;
		if (c == t->column_count)
			refuse(r, r->place,
			       "column \"%s\" of relation \"%s\" does not "
			       "exist",
			       name, t->name);
		columns[i] = c;
	}
	g->columns = columns;
	g->column_count = (uint32_t)count;
}

static bool mentions(const struct sql_expr *e, uint32_t relation)
{
	bool found = e->kind == EXPR_COLUMN && e->relation == relation;
	for (uint32_t i = 0; i < e->count && !found; i++)
		found = mentions(e->args[i], relation);
	return found;
}

static void add_condition(struct resolver *r, const struct sql_table *t,
                          json_t *when, struct sql_trigger *g)
{
	struct scope s = { 0 };
	add_table(r, &s, t, "old");
	add_table(r, &s, t, "new");
	const struct sql_expr *e =
		resolve_condition(r, &s, when, "trigger WHEN conditions");
	free_scope(&s);
	if (!e) return;
	if (sql_has_query(e))
		refuse(r, e->at,
		       "cannot use subquery in trigger WHEN condition");
	if (g->statement && (mentions(e, 0) || mentions(e, 1)))
		refuse(r, e->at,
		       "statement trigger's WHEN condition cannot reference "
		       "column values");
	if ((g->events & EVENT_INSERT) && mentions(e, 0))
		refuse(r, e->at,
		       "INSERT trigger's WHEN condition cannot reference OLD "
		       "values");
	if ((g->events & EVENT_DELETE) && mentions(e, 1))
		refuse(r, e->at,
		       "DELETE trigger's WHEN condition cannot reference NEW "
		       "values");
	g->condition = e;
}

/* What there is no support for; or NULL. */
static const char *outside(json_t *body)
{
	int64_t timing = node_integer(body, "timing");
	if (timing == TIMING_INSTEAD) return "a trigger INSTEAD OF";
	if (node_integer(body, "events") & ON_TRUNCATE)
		return "a trigger on TRUNCATE";
	if (json_object_get(body, "transitionRels")) return "REFERENCING";
	if (node_flag(body, "deferrable")) return "a deferrable trigger";
	return NULL;
}

/* Among the others, by its name. */
static void add_trigger(struct resolver *r, struct sql_table *t,
                        struct sql_trigger *g, bool replaces)
{
	struct sql_trigger **at = &t->triggers;
	while (*at && strcmp((*at)->name, g->name) < 0) at = &(*at)->next;
	bool same = *at && !strcmp((*at)->name, g->name);
	if (same && !replaces)
		refuse(r, r->place,
		       "trigger \"%s\" for relation \"%s\" already exists",
		       g->name, t->name);
	g->next = same ? (*at)->next : *at;
	*at = g;
	assert(!g->next || strcmp(g->name, g->next->name) < 0);
}

void forbid_cascades(struct resolver *r, const struct sql_table *t)
{
	for (const struct sql_foreign *f = t->foreigns;
	     f && t->counts_statements; f = f->next_from)
		if (f->on_delete > ACTION_RESTRICT ||
		    f->on_update > ACTION_RESTRICT)
			refuse_construct(r, r->place,
			                 "a trigger FOR EACH STATEMENT of a "
			                 "table whose rows a foreign key "
			                 "changes (write FOR EACH ROW)");
}

bool resolve_trigger(struct resolver *r, json_t *body, struct sql_statement *s)
{
	json_t *relation = json_object_get(body, "relation");
	json_t *when = json_object_get(body, "whenClause");
	int64_t events = node_integer(body, "events");
	struct sql_trigger *g = region_take0(r->region, sizeof *g);
	const char *what = outside(body);
	(void)s;
	g->name = keep_name(r, node_string(body, "trigname"));
	g->before = node_integer(body, "timing") == TIMING_BEFORE;
	g->statement = !node_flag(body, "row");
	g->events = (events & ON_INSERT ? EVENT_INSERT : 0) |
	            (events & ON_UPDATE ? EVENT_UPDATE : 0) |
	            (events & ON_DELETE ? EVENT_DELETE : 0);
	r->place = node_place(r, relation);
	if (what && node_flag(body, "deferrable"))
		refuse_everywhere(r, r->place, "a deferrable trigger");
	else if (what)
		refuse_construct(r, r->place, what);
	struct sql_table *t = r->failed ? NULL : find_table(r, relation);
	if (!t) return false;
	t->counts_statements |= g->statement;
	forbid_cascades(r, t);
	add_columns(r, t, json_object_get(body, "columns"), g);
	if (when && !r->failed) add_condition(r, t, when, g);
	const struct sql_trigger_body *b =
		r->failed ? NULL : find_function(r, body);
	if (b)
		g->routine = resolve_trigger_body(
			r, b, g, t, json_object_get(body, "args"));
	if (!r->failed) add_trigger(r, t, g, node_flag(body, "replace"));
	return !r->failed;
}
