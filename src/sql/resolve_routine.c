/* CREATE FUNCTION and PROCEDURE, DO, and calls. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "sql/resolve_parts.h"
#include "vm/bytecode.h"

/* ---- Parts of CREATE FUNCTION ---- */

static json_t *option(json_t *list, const char *name)
{
	json_t *x;
	for (size_t i = 0; i < json_array_size(list); i++)
		if (node_is(json_array_get(list, i), "DefElem", &x) &&
		    !strcmp(node_string(x, "defname"), name))
			return x;
	return NULL;
}

static bool is_fixed(json_t *options)
{
	json_t *volatility = option(options, "volatility");
	const char *word = node_name(json_object_get(volatility, "arg"));
	return !strcmp(word, "stable") || !strcmp(word, "immutable");
}

/* Where the text of the body stands: between dollars, or in quotes without
 * quotes in it. */
static bool find_body(struct resolver *r, json_t *as, struct place *at,
                      uint32_t *length)
{
	const struct source *in = &r->catalog->all->items[r->base.source];
	json_t *arg = json_object_get(as, "arg"), *list;
	const char *body = node_is(arg, "List", &list)
	                           ? node_name(json_array_get(
					     json_object_get(list, "items"), 0))
	                           : node_name(arg);
	uint32_t n = (uint32_t)strlen(body), from;
	*at = node_place(r, as);
	from = at->offset;
	if (from + 2 < in->length && !strncasecmp(in->text + from, "as", 2))
		from = skip_space(in->text, from + 2, in->length);
	if (in->text[from] == '$') /* to the last character of the tag */
		while (from + 1 < in->length && in->text[from + 1] != '$')
			from++;
	from += 2 - (in->text[from] == '\'');
	if (from + n > in->length || strncmp(in->text + from, body, n)) {
		refuse_construct(r, *at,
		                 "a body with quotes in it (write it between "
		                 "$$ and $$)");
		return false;
	}
	at->offset = from;
	*length = n;
	return true;
}

/* A routine that is being made. */
struct making {
	struct resolver *r;
	struct sql_routine *routine;
	struct variables variables;
	struct scope scope;
};

static uint32_t new_variable(struct making *m, const char *name,
                             struct sql_type type)
{
	struct variables *v = &m->variables;
	VEC_RESERVE(v->items, v->count, v->capacity);
	v->items[v->count++] = (struct variable){ .name = name,
		                                  .label = m->routine->name,
		                                  .slot = v->slots,
		                                  .type = type };
	return v->slots++;
}

static void add_out(struct making *m, struct sql_column *columns,
                    uint32_t *slots, const char *name, struct sql_type type,
                    uint32_t slot)
{
	struct sql_routine *routine = m->routine;
	columns[routine->out_count] =
		(struct sql_column){ .name = name ? name : "column",
		                     .type = type };
	slots[routine->out_count++] = slot;
}

static void add_parameters(struct making *m, json_t *list)
{
	struct resolver *r = m->r;
	struct sql_routine *routine = m->routine;
	size_t n = json_array_size(list);
	struct sql_type *types =
		region_take0(r->region, (n + 1) * sizeof *types);
	uint32_t *in = region_take0(r->region, (n + 1) * sizeof *in);
	uint32_t *out = region_take0(r->region, (n + 1) * sizeof *out);
	struct sql_column *columns =
		region_take0(r->region, (n + 1) * sizeof *columns);
	routine->defaults =
		region_take0(r->region, (n + 1) * sizeof *routine->defaults);
	routine->parameters = types;
	routine->parameter_slots = in;
	for (size_t i = 0; i < n && !r->failed; i++) {
		json_t *x, *value;
		struct sql_type type;
		node_is(json_array_get(list, i), "FunctionParameter", &x);
		const char *mode = node_string(x, "mode");
		const char *name = node_string(x, "name");
		name = *name ? keep_name(r, name) : NULL;
		if (!resolve_type(r, json_object_get(x, "argType"), &type,
		                  NULL))
			return;
		type.length = 0; /* as in PostgreSQL */
		if (strstr(mode, "VARIADIC"))
			refuse_construct(r, r->place, "VARIADIC");
		uint32_t slot = new_variable(m, name, type);
		if (strstr(mode, "OUT") || strstr(mode, "TABLE"))
			add_out(m, columns, out, name, type, slot);
		if (!strcmp(mode, "FUNC_PARAM_OUT") || strstr(mode, "TABLE"))
			continue;
		uint32_t p = routine->parameter_count++;
		types[p] = type;
		in[p] = slot;
		if ((value = json_object_get(x, "defexpr"))) {
			struct scope none = { 0 };
			routine->defaults[p] =
				coerce(r, resolve_expr(r, &none, value), type,
			               COERCE_ASSIGNMENT, "argument");
			free_scope(&none);
		}
	}
	m->variables.parameter_count = m->variables.count;
	assert(m->variables.parameter_count < m->variables.slots);
	routine->out_slots = out;
	routine->columns = columns;
	routine->column_count = routine->out_count;
	routine->composite = routine->out_count > 1;
	routine->result =
		routine->out_count == 1 ? columns[0].type : sql_type(SQL_VOID);
}

/* RETURNS type, SETOF type, a table's rows. OUT parameters are the result if
 * there are some. */
static void set_result(struct making *m, json_t *type)
{
	struct resolver *r = m->r;
	struct sql_routine *routine = m->routine;
	const struct sql_catalog *c = r->catalog;
	json_t *names = json_object_get(type, "names");
	const char *name =
		node_name(json_array_get(names, json_array_size(names) - 1));
	if (!type) return;
	routine->set = node_flag(type, "setof");
	r->place = node_place(r, type);
	if (routine->out_count || r->failed) return;
	for (uint32_t i = 0; i < c->table_count; i++) {
		if (strcmp(c->tables[i]->name, name)) continue;
		routine->columns = c->tables[i]->columns;
		routine->column_count = c->tables[i]->column_count;
		routine->composite = true;
		return;
	}
	if (!strcmp(name, "record"))
		refuse_construct(
			r, r->place,
			"a result of rows without names (write RETURNS "
			"TABLE)");
	else if (resolve_type(r, type, &routine->result, NULL) &&
	         routine->result.kind != SQL_VOID) {
		struct sql_column *column =
			region_take0(r->region, sizeof *column);
		routine->result.length = 0;
		column->name = routine->name;
		column->type = routine->result;
		routine->columns = column;
		routine->column_count = 1;
	}
}

bool resolve_statements(struct resolver *r, struct sql_routine *routine,
                        struct place at, uint32_t length)
{
	const char *text = r->catalog->all->items[at.source].text;
	struct place base = r->base;
	json_t *all = parse_at(r, at, "", text + at.offset, length);
	size_t n = json_array_size(all);
	assert(!routine->statement_count);
	routine->statements =
		region_take0(r->region, (n + 1) * sizeof *routine->statements);
	r->base = at;
	for (size_t i = 0; i < n && !r->failed; i++) {
		json_t *x = json_array_get(all, i);
		struct spec_block all_of_it = { at, length };
		routine->statements[routine->statement_count++] =
			resolve_in_block(r, x, &all_of_it);
	}
	json_decref(all);
	r->base = base;
	return !r->failed;
}

/* Does the last statement give what is returned? */
static void check_last(struct resolver *r, const struct sql_routine *routine)
{
	uint32_t n = routine->statement_count;
	const struct sql_statement *last =
		n ? routine->statements[n - 1] : NULL;
	if (r->failed || !routine->column_count) return;
	if (!last || sql_result_columns(last) != routine->column_count) {
		refuse(r, last ? last->at : routine->at,
		       "return type mismatch in function: its last statement "
		       "must return %u column%s",
		       (unsigned)routine->column_count,
		       routine->column_count > 1 ? "s" : "");
		return;
	}
	for (uint32_t i = 0; i < routine->column_count; i++) {
		struct sql_type from = sql_result_targets(last)[i].value->type;
		struct sql_type to = routine->columns[i].type;
		if (sql_can_coerce(from.kind, to.kind, COERCE_ASSIGNMENT))
			continue;
		refuse(r, last->at,
		       "return type mismatch in function: column %u is of type "
		       "%s instead of %s",
		       (unsigned)i + 1, sql_kind_name(from.kind),
		       sql_kind_name(to.kind));
		return;
	}
}

/* The variables, by slot: fields of a record are "record.field". */
static void name_slots(struct making *m)
{
	const struct variables *v = &m->variables;
	struct sql_column *all = region_take0(
		m->r->region, (v->slots + (size_t)1) * sizeof *all);
	for (uint32_t i = 0; i < v->slots; i++) all[i].name = "";
	for (uint32_t i = 0; i < v->count; i++) {
		const struct variable *x = &v->items[i];
		assert(x->slot + (x->record ? x->column_count : 1) <= v->slots);
		if (!x->name || x->fixed) continue;
		for (uint32_t k = 0; x->record && k < x->column_count; k++) {
			struct text name = { 0 };
			text_format(&name, "%s.%s", x->name,
			            x->columns[k].name);
			all[x->slot + k] = (struct sql_column){
				.name = keep_name(m->r, text_get(&name)),
				.type = x->columns[k].type
			};
			text_free(&name);
		}
		if (!x->record)
			all[x->slot] = (struct sql_column){ .name = x->name,
				                            .type = x->type };
	}
	m->routine->slots = all;
	m->routine->slot_count = v->slots;
}

static const char *language_of(json_t *options, const char *otherwise)
{
	json_t *x = option(options, "language");
	return x ? node_name(json_object_get(x, "arg")) : otherwise;
}

/* A function that returns a trigger knows its columns when a trigger calls it:
 * its body is kept. */
static void keep_trigger_body(struct resolver *r, const char *name,
                              json_t *body)
{
	struct sql_catalog *c = r->catalog;
	json_t *options = json_object_get(body, "options");
	json_t *as = option(options, "as");
	struct sql_trigger_body b = { .name = keep_name(r, name) };
	uint32_t i = 0;
	if (json_array_size(json_object_get(body, "parameters")))
		refuse(r, r->place,
		       "trigger functions cannot have declared arguments");
	else if (strcmp(language_of(options, "sql"), "plpgsql"))
		refuse_construct(r, r->place,
		                 "a trigger in a language but plpgsql");
	else if (!as)
		refuse_construct(r, r->place, "a body without AS");
	if (r->failed || !find_body(r, as, &b.at, &b.length)) return;
	while (i < c->trigger_body_count &&
	       strcmp(c->trigger_bodies[i].name, name))
		i++;
	if (i == c->trigger_body_count) {
		VEC_RESERVE(c->trigger_bodies, c->trigger_body_count,
		            c->trigger_body_capacity);
		c->trigger_body_count++;
	} else if (!node_flag(body, "replace")) {
		refuse(r, r->place,
		       "function \"%s\" already exists with same argument "
		       "types",
		       name);
	}
	c->trigger_bodies[i] = b;
}

/* The body, in its language. */
static void resolve_body_of(struct making *m, json_t *options,
                            const char *language)
{
	struct resolver *r = m->r;
	enum sql_purpose purpose = r->purpose;
	struct scope *outer = r->outer;
	json_t *as = option(options, "as");
	struct place at;
	uint32_t length;
	if (!as) {
		refuse_construct(r, r->place, "a body without AS");
		return;
	}
	if (!find_body(r, as, &at, &length)) return;
	r->outer = &m->scope;
	r->purpose = PURPOSE_ROUTINE;
	if (!strcmp(language, "sql")) {
		m->routine->sql = true;
		m->variables.shadows = true;
		/* There is no FOUND. */
		m->variables.items[m->variables.count - 1].hidden = true;
		resolve_statements(r, m->routine, at, length);
		check_last(r, m->routine);
	} else if (!strcmp(language, "plpgsql")) {
		resolve_code(r, m->routine, &m->scope, at, length);
	} else {
		refuse_construct(r, r->place, "a language but plpgsql and sql");
	}
	name_slots(m);
	r->outer = outer;
	r->purpose = purpose;
}

static void begin(struct making *m, struct resolver *r, const char *name)
{
	*m = (struct making){ .r = r };
	m->routine = region_take0(r->region, sizeof *m->routine);
	m->routine->name = keep_name(r, name);
	m->routine->at = r->place;
	m->scope.variables = &m->variables;
	m->scope.no_aggregates = "this context";
	m->variables.slots = 1; /* FOUND */
}

static void end(struct making *m)
{
	free_scope(&m->scope);
	free(m->variables.items);
}

static void add_found(struct making *m)
{
	struct variables *v = &m->variables;
	VEC_RESERVE(v->items, v->count, v->capacity);
	v->items[v->count++] = (struct variable){ .name = "found",
		                                  .type = sql_type(SQL_BOOL) };
}

/* One with the same parameters is replaced. */
static void add_routine(struct resolver *r, struct sql_routine *new,
                        bool replaces)
{
	struct sql_catalog *c = r->catalog;
	for (uint32_t i = 0; i < c->routine_count; i++) {
		const struct sql_routine *old = c->routines[i];
		bool same = !strcmp(old->name, new->name) &&
		            old->parameter_count == new->parameter_count;
		for (uint32_t k = 0; same && k < new->parameter_count; k++)
			same = sql_same_type(old->parameters[k],
			                     new->parameters[k]);
		if (!same) continue;
		if (!replaces)
			refuse(r, new->at,
			       "function \"%s\" already exists with same "
			       "argument types",
			       new->name);
		c->routines[i] = new;
		return;
	}
	VEC_RESERVE(c->routines, c->routine_count, c->routine_capacity);
	c->routines[c->routine_count++] = new;
}

static bool returns_trigger(json_t *body)
{
	json_t *names =
		json_object_get(json_object_get(body, "returnType"), "names");
	size_t n = json_array_size(names);
	return n && !strcmp(node_name(json_array_get(names, n - 1)), "trigger");
}

static void add_row_variable(struct making *m, const char *name,
                             const struct sql_table *t)
{
	uint32_t slot = new_variable(m, name, sql_type(SQL_UNKNOWN));
	struct variable *v = &m->variables.items[m->variables.count - 1];
	v->record = v->constant = true; /* it keeps its columns */
	v->columns = t->columns;
	v->column_count = t->column_count;
	m->variables.slots = slot + t->column_count;
}

/* One that is the same whenever the trigger is called. */
static void add_fixed(struct making *m, const char *name, enum sql_kind kind,
                      struct value v)
{
	struct variables *all = &m->variables;
	VEC_RESERVE(all->items, all->count, all->capacity);
	all->items[all->count++] = (struct variable){
		.name = name,
		.constant = true,
		.type = sql_type(kind),
		.fixed = expr_constant(m->r, kind, v),
	};
}

static struct value text_value(const struct resolver *r, const char *s)
{
	return value_string(r->region, s, strlen(s));
}

/* TG_ARGV, from 0; NULL if there are none. */
static void add_arguments(struct making *m, json_t *args)
{
	struct resolver *r = m->r;
	size_t count = json_array_size(args);
	struct value *items =
		region_take0(r->region, (count + 1) * sizeof *items);
	for (size_t i = 0; i < count; i++)
		items[i] = text_value(r, node_name(json_array_get(args, i)));
	add_fixed(m, "tg_nargs", SQL_INT4, value_int((int64_t)count));
	add_fixed(m, "tg_argv", SQL_ARRAY,
	          count ? value_sequence(r->region, VALUE_LIST, items,
	                                 (uint32_t)count)
	                : value_null());
	struct variable *v = &m->variables.items[m->variables.count - 1];
	v->from_zero = true;
	v->type.element = SQL_TEXT;
	((struct sql_expr *)v->fixed)->type = v->type;
}

const struct sql_routine *resolve_trigger_body(struct resolver *r,
                                               const struct sql_trigger_body *b,
                                               const struct sql_trigger *g,
                                               const struct sql_table *t,
                                               json_t *args)
{
	const struct {
		const char *name, *value;
	} words[] = {
		{ "tg_name", g->name },
		{ "tg_when", g->before ? "BEFORE" : "AFTER" },
		{ "tg_level", g->statement ? "STATEMENT" : "ROW" },
		{ "tg_table_name", t->name },
		{ "tg_relname", t->name },
		{ "tg_table_schema", "public" },
	};
	struct making m;
	struct scope *outer = r->outer;
	enum sql_purpose purpose = r->purpose;
	begin(&m, r, b->name);
	struct sql_routine *routine = m.routine;
	routine->trigger = routine->composite = routine->called = true;
	routine->columns = t->columns;
	routine->column_count = t->column_count;
	add_row_variable(&m, "new", t);
	add_row_variable(&m, "old", t);
	new_variable(&m, "tg_op", sql_type(SQL_TEXT));
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		add_fixed(&m, words[i].name, SQL_TEXT,
		          text_value(r, words[i].value));
	add_arguments(&m, args);
	uint32_t n = m.variables.slots - 1;
	uint32_t *slots = region_take(r->region, n * sizeof *slots);
	struct sql_type *types = region_take0(r->region, n * sizeof *types);
	for (uint32_t i = 0; i < n; i++) slots[i] = i + 1;
	routine->parameter_slots = slots;
	routine->parameters = types;
	routine->parameter_count = n;
	assert(n == 2 * t->column_count + 1);
	add_found(&m);
	r->outer = &m.scope;
	r->purpose = PURPOSE_ROUTINE;
	resolve_code(r, routine, &m.scope, b->at, b->length);
	name_slots(&m);
	r->outer = outer;
	r->purpose = purpose;
	end(&m);
	return r->failed ? NULL : routine;
}

bool resolve_routine(struct resolver *r, json_t *body, struct sql_statement *s)
{
	json_t *names = json_object_get(body, "funcname");
	json_t *options = json_object_get(body, "options");
	json_t *strict = option(options, "strict");
	const char *name =
		node_name(json_array_get(names, json_array_size(names) - 1));
	struct making m;
	(void)s;
	if (returns_trigger(body)) {
		keep_trigger_body(r, name, body);
		return !r->failed;
	}
	begin(&m, r, name);
	m.routine->procedure = node_flag(body, "is_procedure");
	m.routine->fixed = is_fixed(options);
	m.routine->strict =
		strict &&
		node_is(json_object_get(strict, "arg"), "Boolean", &strict) &&
		node_flag(strict, "boolval");
	if (json_object_get(body, "sql_body"))
		refuse_construct(r, r->place, "a body without AS");
	add_parameters(&m, json_object_get(body, "parameters"));
	set_result(&m, json_object_get(body, "returnType"));
	/* It may call itself. */
	if (!r->failed) add_routine(r, m.routine, node_flag(body, "replace"));
	add_found(&m);
	if (!r->failed)
		resolve_body_of(&m, options, language_of(options, "sql"));
	end(&m);
	return !r->failed;
}

/* ---- Calls ---- */

/* What a CALL returns: OUT parameters, as a row. */
static void set_returned(struct resolver *r, struct sql_statement *s)
{
	const struct sql_routine *routine = s->call->routine;
	uint32_t n = routine->column_count;
	struct sql_target *all =
		region_take0(r->region, (n + (size_t)1) * sizeof *all);
	for (uint32_t i = 0; i < n; i++) {
		struct sql_expr *e = expr_new(r, EXPR_CONSTANT, SQL_UNKNOWN, 0);
		e->type = routine->columns[i].type;
		all[i] = (struct sql_target){ routine->columns[i].name, e };
	}
	s->returning = all;
	s->returning_count = n;
}

bool resolve_call_statement(struct resolver *r, json_t *body,
                            struct sql_statement *s)
{
	json_t *call = json_object_get(body, "funccall");
	json_t *list, *names = json_object_get(call, "funcname");
	struct scope scope = { .outer = r->outer,
		               .no_aggregates = "CALL arguments" };
	const char *name =
		node_name(json_array_get(names, json_array_size(names) - 1));
	list = json_object_get(call, "args");
	uint32_t n = (uint32_t)json_array_size(list);
	const struct sql_expr **args =
		region_take0(r->region, (n + (size_t)1) * sizeof *args);
	struct place at = node_place(r, call);
	for (uint32_t i = 0; i < n && !r->failed; i++)
		args[i] = resolve_expr(r, &scope, json_array_get(list, i));
	free_scope(&scope);
	r->place = at;
	s->kind = STATEMENT_CALL;
	if (r->failed) return false;
	s->call = call_routine(r, name, args, n, true);
	if (!s->call) return false;
	set_returned(r, s);
	return true;
}

bool resolve_do(struct resolver *r, json_t *body, struct sql_statement *s)
{
	json_t *options = json_object_get(body, "args");
	struct making m;
	if (r->purpose == PURPOSE_ROUTINE)
		refuse_construct(r, r->place, "DO inside of a routine");
	begin(&m, r, "inline_code_block");
	m.routine->called = true;
	m.routine->result = sql_type(SQL_VOID);
	add_found(&m);
	if (!r->failed)
		resolve_body_of(&m, options, language_of(options, "plpgsql"));
	end(&m);
	if (r->failed) return false;
	struct sql_expr *e = expr_new(r, EXPR_ROUTINE, SQL_VOID, 0);
	e->routine = m.routine;
	s->kind = STATEMENT_CALL;
	s->call = e;
	return true;
}
