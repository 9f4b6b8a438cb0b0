/* Expressions, statements and variables in PL/pgSQL. */
#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "sql/code_reader.h"
#include "sql/run.h"
#include "vm/bytecode.h"

/* ---- Expressions ---- */

struct sql_code *code_new(struct reader *p, enum sql_code_kind kind,
                          uint32_t at)
{
	struct sql_code *c = region_take0(p->r->region, sizeof *c);
	c->kind = kind;
	c->at = place_at(p, at);
	c->point = program_add_position(
		p->r->catalog->program,
		source_position(p->r->catalog->all, c->at));
	return c;
}

/* Is it nothing but SELECT of an expression? */
static bool is_plain(json_t *select)
{
	const char *key;
	json_t *x;
	json_object_foreach(select, key, x) if (strcmp(key, "targetList") &&
	                                        strcmp(key, "limitOption") &&
	                                        strcmp(key, "op")) return false;
	return json_array_size(json_object_get(select, "targetList")) == 1;
}

static const struct sql_expr *resolve_select_expr(struct reader *p,
                                                  json_t *select)
{
	struct resolver *r = p->r;
	json_t *target;
	if (is_plain(select)) {
		json_t *list = json_object_get(select, "targetList");
		node_is(json_array_get(list, 0), "ResTarget", &target);
		return resolve_expr(r, p->scope,
		                    json_object_get(target, "val"));
	}
	r->keep_literals = true;
	const struct sql_query *q = resolve_query(r, p->scope, select);
	if (!q) return NULL;
	if (q->target_count != 1)
		return refuse(r, r->place,
		              "subquery must return only one column");
	struct sql_expr *e = expr_new(r, EXPR_SCALAR, SQL_UNKNOWN, 0);
	e->type = q->targets[0].value->type;
	e->query = q;
	return e;
}

/* What is wrong with its literals is told when it is evaluated. */
static const struct sql_expr *with_doom(struct resolver *r,
                                        const struct sql_expr *e)
{
	if (r->failed || !e) return NULL;
	if (!*r->doom.state) return e;
	struct sql_expr *fails = expr_new(r, EXPR_FAILURE, SQL_UNKNOWN, 0);
	struct sql_failure *why = region_take(r->region, sizeof *why);
	*why = r->doom;
	fails->at = e->at;
	fails->type = e->type;
	fails->failure = why;
	r->doom = (struct sql_failure){ 0 };
	return fails;
}

const struct sql_expr *read_expr(struct reader *p, struct span s)
{
	static const char before[] = "SELECT ";
	struct resolver *r = p->r;
	struct place base = r->base;
	json_t *select;
	r->place = place_at(p, s.from);
	if (r->failed) return NULL;
	if (s.from == s.to) return refuse(r, r->place, "missing expression");
	json_t *all =
		parse_at(r, r->place, before, p->text + s.from, s.to - s.from);
	if (!all) return NULL;
	r->base = place_at(p, s.from - (uint32_t)strlen(before));
	const struct sql_expr *e = NULL;
	if (json_array_size(all) == 1 &&
	    node_is(json_object_get(json_array_get(all, 0), "stmt"),
	            "SelectStmt", &select))
		e = resolve_select_expr(p, select);
	else
		refuse(r, r->place, "this is not an expression");
	json_decref(all);
	r->base = base;
	return with_doom(r, e);
}

/* As PL/pgSQL assigns: what is no assignment for SQL goes by its text. */
const struct sql_expr *become(struct resolver *r, const struct sql_expr *e,
                              struct sql_type type)
{
	if (!e) return NULL;
	if (!sql_can_coerce(e->type.kind, type.kind, COERCE_ASSIGNMENT)) {
		e = coerce(r, e, sql_type(SQL_TEXT), COERCE_EXPLICIT, "value");
		e = coerce(r, e, type, COERCE_EXPLICIT, "value");
	} else {
		e = coerce(r, e, type, COERCE_ASSIGNMENT, "variable");
	}
	return with_doom(r, e);
}

const struct sql_expr *read_typed(struct reader *p, struct span s,
                                  enum sql_kind kind)
{
	return become(p->r, read_expr(p, s), sql_type(kind));
}

const struct sql_statement *read_statement(struct reader *p, struct span s,
                                           const struct span *into,
                                           const char *before)
{
	struct resolver *r = p->r;
	struct place base = r->base;
	uint32_t length = s.to - s.from, blank = (uint32_t)strlen(before);
	struct sql_statement *statement = NULL;
	if (r->failed) return NULL;
	assert(s.from <= s.to && s.to <= p->end);
	assert(!into || (s.from <= into->from && into->to <= s.to));
	char *copy = region_copy_string(r->region, p->text + s.from, length);
	if (into)
		memset(copy + (into->from - s.from), ' ',
		       into->to - into->from);
	json_t *all = parse_at(r, place_at(p, s.from), before, copy, length);
	r->base = place_at(p, s.from - blank);
	if (all && json_array_size(all) == 1)
		statement = resolve_statement(r, json_array_get(all, 0),
		                              place_at(p, s.from), s.to);
	else if (all)
		refuse(r, place_at(p, s.from), "one statement is expected");
	json_decref(all);
	r->base = base;
	return statement;
}

/* ---- Variables ---- */

struct variable *add_variable(struct reader *p, const char *name,
                              const char *label, struct sql_type type)
{
	struct variables *v = p->scope->variables;
	VEC_RESERVE(v->items, v->count, v->capacity);
	struct variable *x = &v->items[v->count++];
	*x = (struct variable){ .name = name,
		                .label = label,
		                .slot = v->slots++,
		                .depth = p->depth,
		                .type = type };
	return x;
}

/* The end of a block: what was declared in it cannot be named any more. */
void hide_variables(struct reader *p, uint32_t from)
{
	struct variables *v = p->scope->variables;
	assert(from <= v->count);
	for (uint32_t i = from; i < v->count; i++) v->items[i].hidden = true;
}

static void give_fields(struct reader *p, struct variable *x,
                        const struct sql_column *columns, uint32_t count)
{
	struct variables *v = p->scope->variables;
	x->record = true;
	assert(!x->column_count);
	x->slot = v->slots;
	x->columns = columns;
	x->column_count = count;
	v->slots += count;
}

/* A record gets rows of such a statement: it has its fields from now on. */
static void bind_record(struct reader *p, struct variable *x,
                        const struct sql_statement *s, struct place at)
{
	uint32_t count = sql_result_columns(s);
	const struct sql_target *targets = sql_result_targets(s);
	assert(x->record);
	struct sql_column *columns =
		region_take0(p->r->region, (count + 1) * sizeof *columns);
	bool same = x->column_count == count;
	for (uint32_t i = 0; i < count; i++) {
		columns[i].name = targets[i].name;
		columns[i].type = targets[i].value->type;
		if (columns[i].type.kind == SQL_UNKNOWN)
			columns[i].type = sql_type(SQL_TEXT);
		same = same && !strcmp(x->columns[i].name, columns[i].name) &&
		       sql_same_type(x->columns[i].type, columns[i].type);
	}
	if (!x->column_count)
		give_fields(p, x, columns, count);
	else if (!same && !x->constant)
		refuse(p->r, at,
		       "record \"%s\" gets rows with other columns than "
		       "before: "
		       "not supported; use another record",
		       x->name);
}

struct sql_target_slot *fields_of(struct reader *p, const struct variable *x,
                                  uint32_t *count)
{
	*count = x->record ? x->column_count : 1;
	assert(x->slot + *count <= p->scope->variables->slots);
	struct sql_target_slot *all =
		region_take0(p->r->region, (*count + (size_t)1) * sizeof *all);
	for (uint32_t i = 0; i < *count; i++)
		all[i] = (struct sql_target_slot){
			x->slot + i, x->record ? x->columns[i].type : x->type,
			x->not_null
		};
	return all;
}

/* name or record.field */
struct sql_target_slot read_target(struct reader *p, struct variable **whole)
{
	struct variables *all = p->scope->variables;
	struct sql_target_slot t = { 0 };
	uint32_t at = p->word.from, end = p->word.to;
	const char *name = expect_name(p);
	struct variable *x = find_variable(all, NULL, name);
	if (whole) *whole = NULL;
	if (is_mark(p, ".") && !p->r->failed) {
		next_word(p);
		end = p->word.to;
		const char *field = expect_name(p);
		for (uint32_t i = 0; x && i < x->column_count; i++)
			if (!strcmp(x->columns[i].name, field))
				return (struct sql_target_slot){
					x->slot + i, x->columns[i].type, false
				};
		if (x && x->record && x->column_count)
			refuse(p->r, place_at(p, at),
			       "record \"%s\" has no field \"%s\"", name,
			       field);
		else if (x && x->record)
			refuse(p->r, place_at(p, at),
			       "record \"%s\" is not assigned yet", name);
		x = x && x->record ? NULL : find_variable(all, name, field);
	}
	if (!x && !p->r->failed)
		refuse(p->r, place_at(p, at),
		       "\"%.*s\" is not a known variable", (int)(end - at),
		       p->text + at);
	if (!x) return t;
	if (x->constant && !x->record)
		refuse(p->r, place_at(p, at),
		       "variable \"%s\" is declared CONSTANT", x->name);
	if (x->record && whole)
		*whole = x;
	else if (x->record)
		refuse(p->r, place_at(p, at), "\"%s\" is not a scalar variable",
		       x->name);
	return (struct sql_target_slot){ x->slot, x->type, x->not_null };
}

struct target_list read_targets(struct reader *p)
{
	enum { MOST = 100 };
	struct target_list l = { .at = place_at(p, p->word.from) };
	l.items = region_take0(p->r->region, MOST * sizeof *l.items);
	do {
		struct variable *record;
		if (l.count == MOST || (l.count && l.record)) {
			syntax_error(p);
			break;
		}
		l.items[l.count++] = read_target(p, &record);
		if (record && l.count > 1) syntax_error(p);
		if (record) l.record = record;
	} while (accept_mark(p, ",") && !p->r->failed);
	return l;
}

void set_targets(struct reader *p, struct sql_code *c,
                 const struct target_list *l)
{
	if (l->record && !p->r->failed && c->statement) {
		bind_record(p, l->record, c->statement, l->at);
		c->targets = fields_of(p, l->record, &c->target_count);
		return;
	}
	c->targets = l->items;
	c->target_count = l->count;
}

static struct sql_table *table_named(const struct reader *p, const char *name)
{
	const struct sql_catalog *c = p->r->catalog;
	for (uint32_t i = 0; i < c->table_count; i++)
		if (!strcmp(c->tables[i]->name, name)) return c->tables[i];
	return NULL;
}

/* name%TYPE, table.column%TYPE */
static bool read_type_of(struct reader *p, const char *first,
                         const char *second, struct sql_type *out)
{
	const struct variable *v =
		find_variable(p->scope->variables, NULL, first);
	const struct sql_table *t = table_named(p, first);
	for (uint32_t i = 0; second && t && i < t->column_count; i++)
		if (!strcmp(t->columns[i].name, second)) {
			*out = t->columns[i].type;
			return true;
		}
	if (!second && v && !v->record) {
		*out = v->type;
		return true;
	}
	refuse(p->r, place_at(p, p->word.from),
	       "%s%s%s is not a column or variable", first, second ? "." : "",
	       second ? second : "");
	return false;
}

/* A type as in SQL, after its first word was looked at. */
static bool read_plain_type(struct reader *p, struct span s,
                            struct sql_type *out)
{
	static const char before[] = "SELECT NULL::";
	struct resolver *r = p->r;
	struct place base = r->base;
	json_t *all = parse_at(r, place_at(p, s.from), before, p->text + s.from,
	                       s.to - s.from);
	json_t *select = NULL, *target, *cast = NULL;
	r->base = place_at(p, s.from - (uint32_t)strlen(before));
	if (!all) return false;
	node_is(json_object_get(json_array_get(all, 0), "stmt"), "SelectStmt",
	        &select);
	json_t *list = json_object_get(select, "targetList");
	node_is(json_array_get(list, 0), "ResTarget", &target);
	bool fine =
		node_is(json_object_get(target, "val"), "TypeCast", &cast) &&
		resolve_type(r, json_object_get(cast, "typeName"), out, NULL);
	if (!fine && !r->failed)
		refuse(r, place_at(p, s.from), "this is not a type");
	json_decref(all);
	r->base = base;
	return fine;
}

/* The type of a declaration; a record if it is one of rows. */
static void read_type(struct reader *p, struct variable *x)
{
	struct reader look = *p;
	const char *first = p->word.name, *second = NULL;
	uint32_t from = p->word.from;
	const struct sql_table *t = NULL;
	next_word(&look);
	if (is_mark(&look, ".")) {
		next_word(&look);
		second = look.word.name;
		next_word(&look);
	}
	if (is_mark(&look, "%")) {
		next_word(&look);
		bool type = is_word(&look, "type");
		t = is_word(&look, "rowtype") ? table_named(p, first) : NULL;
		if (!type && !t) {
			syntax_error(p);
			return;
		}
		if (type) read_type_of(p, first, second, &x->type);
		*p = look;
		next_word(p);
	} else if (is_word(p, "record")) {
		x->record = true;
		x->slot = 0;
		next_word(p);
	} else if ((t = table_named(p, first)) != NULL) {
		*p = look;
	} else {
		struct span s = read_span(
			p, UNTIL("not", ":=", "=", "default", ";", "collate"));
		if (is_word(p, "collate"))
			refuse_construct(p->r, place_at(p, p->word.from),
			                 "COLLATE");
		if (!p->r->failed) read_plain_type(p, s, &x->type);
	}
	if (t) {
		give_fields(p, x, t->columns, t->column_count);
		x->type = sql_type(SQL_UNKNOWN);
	}
	(void)from;
}

/* name [CONSTANT] type [NOT NULL] [{DEFAULT | := | =} expression]; */
struct sql_code *read_declaration(struct reader *p, const char *label)
{
	struct sql_code *c = code_new(p, CODE_ASSIGN, p->word.from);
	struct variables *all = p->scope->variables;
	uint32_t at = p->word.from;
	const char *name = expect_name(p);
	const struct variable *old = find_variable(all, NULL, name);
	if (old && old->depth == p->depth)
		refuse(p->r, place_at(p, at),
		       "duplicate declaration at or near \"%s\"", name);
	bool constant = accept_word(p, "constant");
	if (is_word(p, "alias") || is_word(p, "cursor"))
		refuse_construct(p->r, place_at(p, p->word.from),
		                 is_word(p, "alias") ? "ALIAS FOR"
		                                     : "a cursor");
	/* It can be named when its declaration is over. */
	struct variable x = { .type = sql_type(SQL_UNKNOWN) };
	uint32_t slot = all->slots++;
	x.slot = slot;
	if (!p->r->failed) read_type(p, &x);
	if (accept_word(p, "not")) {
		expect_word(p, "null");
		x.not_null = true;
	}
	if (accept_mark(p, ":=") || accept_mark(p, "=") ||
	    accept_word(p, "default")) {
		struct span s = read_span(p, UNTIL(";"));
		if (x.record)
			refuse_construct(p->r, place_at(p, s.from),
			                 "a row as a default");
		c->value = become(p->r, read_expr(p, s), x.type);
	} else if (x.not_null) {
		refuse(p->r, place_at(p, at),
		       "variable \"%s\" must have a default value, since it's "
		       "declared NOT NULL",
		       name);
	}
	expect_mark(p, ";");
	if (p->r->failed) return c;
	x.name = name;
	x.label = label;
	x.depth = p->depth;
	x.constant = constant;
	VEC_RESERVE(all->items, all->count, all->capacity);
	all->items[all->count++] = x;
	c->targets = fields_of(p, &x, &c->target_count);
	return c;
}

/* ---- EXECUTE: a text that is known when the program is loaded ---- */

/* Does it depend on nothing that is there when the program runs? */
static bool is_known(const struct sql_expr *e)
{
	static const bool depends[] = {
		[EXPR_COLUMN] = true,     [EXPR_ROUTINE] = true,
		[EXPR_NEXTVAL] = true,    [EXPR_CURRVAL] = true,
		[EXPR_SET] = true,        [EXPR_AGGREGATE] = true,
		[EXPR_STEP_ERROR] = true,
	};
	bool known =
		!depends[e->kind] && !e->query &&
		!(e->kind == EXPR_CALL && e->function->operation == DO_LASTVAL);
	for (uint32_t i = 0; i < e->count && known; i++)
		known = is_known(e->args[i]);
	return known;
}

/* The text, or NULL after reporting an error. */
static const char *known_text(struct reader *p, const struct sql_expr *e)
{
	struct sql_run x = { .region = p->r->region };
	struct sql_frame none = { 0 };
	struct value v;
	if (!is_known(e))
		return refuse_construct(
			p->r, e->at,
			"EXECUTE of a text that depends on variables (values "
			"can be given by USING, and tables chosen by IF)");
	if (!sql_eval(&x, &none, e, &v))
		return refuse(p->r, e->at, "%s (%s)", x.failure.message,
		              x.failure.state);
	if (sql_is_null(v))
		return refuse(p->r, e->at,
		              "query string argument of EXECUTE is null "
		              "(22004)");
	return v.o->bytes;
}

/* Where the text stands: as it is, behind a quote; else in a source of its own.
 */
static struct place place_of(struct reader *p, const struct sql_expr *e,
                             const char *text)
{
	struct sources *all = p->r->catalog->all;
	const struct source *in = &all->items[e->at.source];
	size_t length = strlen(text);
	struct place at = e->at;
	if (e->kind == EXPR_CONSTANT && at.offset + length + 1 < in->length &&
	    in->text[at.offset] == '\'' &&
	    !strncmp(in->text + at.offset + 1, text, length)) {
		at.offset++;
		return at;
	}
	struct text path = { 0 };
	struct position from = source_position(all, at);
	text_format(&path, "%s:%u: EXECUTE", from.file, (unsigned)from.line);
	at = (struct place){
		sources_add(all, text_get(&path), text, (uint32_t)length), 0
	};
	text_free(&path);
	return at;
}

/* The statement, which knows nothing but $1, $2, ... */
static const struct sql_statement *resolve_text(struct reader *p,
                                                const struct sql_code *c,
                                                const char *text,
                                                struct place at)
{
	struct resolver *r = p->r;
	struct variables given = { .shadows = true };
	struct scope scope = { .variables = &given,
		               .no_aggregates = "this context" };
	struct scope *outer = r->outer;
	struct place base = r->base;
	const struct sql_statement *s = NULL;
	given.items = region_take0(r->region, (c->arg_count + (size_t)1) *
	                                              sizeof *given.items);
	for (uint32_t i = 0; i < c->arg_count; i++)
		given.items[i] = (struct variable){ .slot = i,
			                            .type = c->args[i]->type };
	given.count = given.parameter_count = given.slots = c->arg_count;
	json_t *all = parse_at(r, at, "", text, (uint32_t)strlen(text));
	r->base = at;
	r->outer = &scope;
	if (all && json_array_size(all) == 1)
		s = resolve_statement(r, json_array_get(all, 0), at,
		                      at.offset + (uint32_t)strlen(text));
	else if (all)
		refuse(r, at, "one statement is expected");
	r->outer = outer;
	r->base = base;
	json_decref(all);
	free_scope(&scope);
	return s;
}

static void read_using(struct reader *p, struct sql_code *c)
{
	enum { MOST = 50 };
	if (c->args) syntax_error(p);
	c->args = region_take0(p->r->region, MOST * sizeof *c->args);
	do {
		struct span s = read_span(p, UNTIL(",", ";", "loop", "into"));
		if (c->arg_count == MOST) syntax_error(p);
		if (p->r->failed) return;
		c->args[c->arg_count++] = settle(p->r, read_expr(p, s));
	} while (accept_mark(p, ",") && !p->r->failed);
}

void read_execute(struct reader *p, struct sql_code *c,
                  struct target_list *into)
{
	c->dynamic = true;
	const struct sql_expr *e = read_typed(
		p, read_span(p, UNTIL("into", "using", ";", "loop")), SQL_TEXT);
	while (!p->r->failed) {
		if (into && !c->into && accept_word(p, "into")) {
			c->into = true;
			c->strict = accept_word(p, "strict");
			*into = read_targets(p);
		} else if (accept_word(p, "using")) {
			read_using(p, c);
		} else {
			break;
		}
	}
	const char *text = p->r->failed ? NULL : known_text(p, e);
	if (text) c->statement = resolve_text(p, c, text, place_of(p, e, text));
	assert(c->statement || p->r->failed);
}
