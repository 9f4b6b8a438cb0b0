/* PL/pgSQL: blocks and loops are read here; expressions and statements in them
 * are read by PostgreSQL's parser, each where it stands, so that their places
 * are known. (libpg_query's own reader of PL/pgSQL leaves out what RETURN
 * returns, where variables are declared, and all columns.) */
#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "sql/conditions.h"
#include "sql/resolve_parts.h"
#include "vm/bytecode.h"

enum word_kind { WORD_END, WORD_NAME, WORD_QUOTED, WORD_STRING, WORD_OTHER };

struct word {
	enum word_kind kind;
	uint32_t from, to; /* in the source */
	const char *name;  /* in small letters, of names; strings without quotes
	                    */
};

struct reader {
	struct resolver *r;
	struct sql_routine *routine;
	struct scope *scope;
	const char *text; /* of the source */
	uint32_t source, end;
	struct word word;
	uint32_t depth; /* of blocks */
};

/* A part of the text. */
struct span {
	uint32_t from, to;
};

static struct place place_at(const struct reader *p, uint32_t offset)
{
	return (struct place){ p->source, offset };
}

/* ---- Words ---- */

static bool goes_on_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' ||
	       (unsigned char)c >= 128;
}

static const char *unquoted(struct reader *p, uint32_t from, uint32_t to,
                            char quote)
{
	char *s = region_take(p->r->region, to - from + (size_t)1);
	size_t n = 0;
	for (uint32_t i = from; i < to; i++) {
		s[n++] = p->text[i];
		if (p->text[i] == quote) i++;
	}
	s[n] = 0;
	return s;
}

/* 'text', "name", with doubled quotes inside. */
static void read_quoted(struct reader *p, char quote)
{
	uint32_t i = p->word.from + 1;
	while (i < p->end &&
	       (p->text[i] != quote ||
	        (i + 1 < p->end && p->text[i + 1] == quote && ++i)))
		i++;
	p->word.to = i < p->end ? i + 1 : i;
	p->word.kind = quote == '"' ? WORD_QUOTED : WORD_STRING;
	p->word.name = unquoted(p, p->word.from + 1, i, quote);
}

/* $tag$ ... $tag$; false: it is none. */
static bool read_dollars(struct reader *p)
{
	uint32_t from = p->word.from, i = from + 1;
	while (i < p->end && goes_on_name(p->text[i]) && p->text[i] != '$') i++;
	if (i >= p->end || p->text[i] != '$') return false;
	size_t tag = i + 1 - from;
	for (i++; i + tag <= p->end; i++)
		if (!memcmp(p->text + i, p->text + from, tag)) break;
	p->word.kind = WORD_STRING;
	p->word.to = i + tag <= p->end ? i + (uint32_t)tag : p->end;
	p->word.name = "";
	return true;
}

static void read_name(struct reader *p)
{
	uint32_t i = p->word.from;
	while (i < p->end && goes_on_name(p->text[i])) i++;
	p->word.to = i;
	p->word.kind = WORD_NAME;
	char *name = region_copy_string(p->r->region, p->text + p->word.from,
	                                i - p->word.from);
	for (char *c = name; *c; c++) *c = (char)tolower((unsigned char)*c);
	p->word.name = name;
}

static void next_word(struct reader *p)
{
	static const char *const marks[] = { ":=", "<<", ">>", ".." };
	const char *s = p->text;
	uint32_t at = skip_space(s, p->word.to, p->end);
	p->word = (struct word){ WORD_OTHER, at, at + 1, "" };
	if (at >= p->end) {
		p->word.kind = WORD_END;
		p->word.to = at;
		return;
	}
	char c = s[at];
	if (c == '\'' || c == '"') {
		read_quoted(p, c);
	} else if (c == '$' && read_dollars(p)) {
		return;
	} else if (isdigit((unsigned char)c)) {
		uint32_t i = at;
		while (i < p->end &&
		       (isalnum((unsigned char)s[i]) ||
		        (s[i] == '.' && (i + 1 >= p->end || s[i + 1] != '.'))))
			i++;
		p->word.to = i;
	} else if (goes_on_name(c)) {
		read_name(p);
	} else {
		for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
			if (at + 1 < p->end && !strncmp(s + at, marks[i], 2))
				p->word.to = at + 2;
	}
}

static bool is_mark(const struct reader *p, const char *mark)
{
	size_t n = strlen(mark);
	return p->word.kind == WORD_OTHER && p->word.to - p->word.from == n &&
	       !strncmp(p->text + p->word.from, mark, n);
}

static bool is_word(const struct reader *p, const char *name)
{
	return p->word.kind == WORD_NAME && !strcmp(p->word.name, name);
}

static bool accept_word(struct reader *p, const char *name)
{
	if (!is_word(p, name)) return false;
	next_word(p);
	return true;
}

static bool accept_mark(struct reader *p, const char *mark)
{
	if (!is_mark(p, mark)) return false;
	next_word(p);
	return true;
}

static void syntax_error(struct reader *p)
{
	struct place at = place_at(p, p->word.from);
	if (p->word.kind == WORD_END)
		refuse(p->r, at, "syntax error at end of input");
	else
		refuse(p->r, at, "syntax error at or near \"%.*s\"",
		       (int)(p->word.to - p->word.from),
		       p->text + p->word.from);
	p->word.kind = WORD_END;
}

static void expect_word(struct reader *p, const char *name)
{
	if (!accept_word(p, name)) syntax_error(p);
}

static void expect_mark(struct reader *p, const char *mark)
{
	if (!accept_mark(p, mark)) syntax_error(p);
}

static const char *expect_name(struct reader *p)
{
	const char *name = p->word.name;
	if (p->word.kind != WORD_NAME && p->word.kind != WORD_QUOTED) {
		syntax_error(p);
		return "";
	}
	next_word(p);
	return name;
}

/* All up to one of these words or marks, outside of parentheses. */
static struct span read_span(struct reader *p, const char *const *ends)
{
	struct span s = { p->word.from, p->word.from };
	int depth = 0;
	for (; p->word.kind != WORD_END; next_word(p)) {
		if (is_mark(p, "(") || is_mark(p, "[")) depth++;
		if (is_mark(p, ")") || is_mark(p, "]")) depth--;
		for (size_t i = 0; depth <= 0 && ends[i]; i++)
			if (is_word(p, ends[i]) || is_mark(p, ends[i]))
				return s;
		if (is_mark(p, ";")) break;
		s.to = p->word.to;
	}
	syntax_error(p);
	return s;
}

#define UNTIL(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* ---- Expressions ---- */

static struct sql_code *code_new(struct reader *p, enum sql_code_kind kind,
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

/* What PostgreSQL knows before it runs it is an error of the program here. */
static void tell_doom(struct resolver *r)
{
	if (*r->doom.state && !r->failed)
		refuse(r, r->place, "%s (%s)", r->doom.message, r->doom.state);
	r->doom = (struct sql_failure){ 0 };
}

static const struct sql_expr *read_expr(struct reader *p, struct span s)
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
		refuse(r, r->place, "this is no expression");
	json_decref(all);
	r->base = base;
	tell_doom(r);
	return r->failed ? NULL : e;
}

/* As PL/pgSQL assigns: what is no assignment for SQL goes by its text. */
static const struct sql_expr *
become(struct resolver *r, const struct sql_expr *e, struct sql_type type)
{
	if (!e) return NULL;
	if (!sql_can_coerce(e->type.kind, type.kind, COERCE_ASSIGNMENT)) {
		e = coerce(r, e, sql_type(SQL_TEXT), COERCE_EXPLICIT, "value");
		e = coerce(r, e, type, COERCE_EXPLICIT, "value");
	} else {
		e = coerce(r, e, type, COERCE_ASSIGNMENT, "variable");
	}
	tell_doom(r);
	return e;
}

static const struct sql_expr *read_typed(struct reader *p, struct span s,
                                         enum sql_kind kind)
{
	return become(p->r, read_expr(p, s), sql_type(kind));
}

static const struct sql_statement *read_statement(struct reader *p,
                                                  struct span s,
                                                  const struct span *into,
                                                  const char *before)
{
	struct resolver *r = p->r;
	struct place base = r->base;
	uint32_t length = s.to - s.from, blank = (uint32_t)strlen(before);
	struct sql_statement *statement = NULL;
	if (r->failed) return NULL;
	char *copy = region_copy_string(r->region, p->text + s.from, length);
	if (into)
		memset(copy + (into->from - s.from), ' ',
		       into->to - into->from);
	json_t *all = parse_at(r, place_at(p, s.from), before, copy, length);
	r->base = place_at(p, s.from - blank);
	if (all && json_array_size(all) == 1)
		statement = resolve_statement(r, json_array_get(all, 0),
		                              place_at(p, s.from));
	else if (all)
		refuse(r, place_at(p, s.from), "one statement is expected");
	json_decref(all);
	r->base = base;
	return statement;
}

/* ---- Variables ---- */

static struct variable *add_variable(struct reader *p, const char *name,
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
static void hide_variables(struct reader *p, uint32_t from)
{
	struct variables *v = p->scope->variables;
	for (uint32_t i = from; i < v->count; i++) v->items[i].hidden = true;
}

static void give_fields(struct reader *p, struct variable *x,
                        const struct sql_column *columns, uint32_t count)
{
	struct variables *v = p->scope->variables;
	x->record = true;
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

static struct sql_target_slot *
fields_of(struct reader *p, const struct variable *x, uint32_t *count)
{
	*count = x->record ? x->column_count : 1;
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
static struct sql_target_slot read_target(struct reader *p,
                                          struct variable **whole)
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

struct target_list {
	struct sql_target_slot *items;
	uint32_t count;
	struct variable *record; /* or all fields of it */
	struct place at;
};

static struct target_list read_targets(struct reader *p)
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

static void set_targets(struct reader *p, struct sql_code *c,
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
	       "%s%s%s is no column or variable", first, second ? "." : "",
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
		refuse(r, place_at(p, s.from), "this is no type");
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
static struct sql_code *read_declaration(struct reader *p, const char *label)
{
	struct sql_code *c = code_new(p, CODE_ASSIGN, p->word.from);
	struct variables *all = p->scope->variables;
	uint32_t at = p->word.from;
	const char *name = expect_name(p);
	const struct variable *old = find_variable(all, NULL, name);
	if (old && old->depth == p->depth)
		refuse(p->r, place_at(p, at), "duplicate declaration of \"%s\"",
		       name);
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

/* ---- Statements ---- */

static const struct sql_code *read_list(struct reader *p,
                                        const char *const *ends);

/* [<<label>>] LOOP statements END LOOP [label]; */
static void read_loop_body(struct reader *p, struct sql_code *c)
{
	expect_word(p, "loop");
	c->body = read_list(p, UNTIL("end"));
	expect_word(p, "end");
	expect_word(p, "loop");
	if (!is_mark(p, ";")) expect_name(p);
	expect_mark(p, ";");
}

static const struct sql_code *read_if(struct reader *p)
{
	struct sql_code *c = code_new(p, CODE_IF, p->word.from);
	c->value = read_typed(p, read_span(p, UNTIL("then")), SQL_BOOL);
	expect_word(p, "then");
	c->body = read_list(p, UNTIL("elsif", "elseif", "else", "end"));
	if (accept_word(p, "elsif") || accept_word(p, "elseif")) {
		c->other = read_if(p);
		return c;
	}
	if (accept_word(p, "else")) c->other = read_list(p, UNTIL("end"));
	expect_word(p, "end");
	expect_word(p, "if");
	expect_mark(p, ";");
	return c;
}

/* What comes after CASE; a value that equals one of the list. */
static const struct sql_expr *read_when(struct reader *p,
                                        const struct sql_expr *x)
{
	const struct sql_expr *any = NULL;
	do {
		struct span s = read_span(p, UNTIL(",", "then"));
		const struct sql_expr *e =
			x ? read_expr(p, s) : read_typed(p, s, SQL_BOOL);
		if (x && e) e = make_operator(p->r, "=", x, e);
		if (any && e) {
			struct sql_expr *both =
				expr_new(p->r, EXPR_OR, SQL_BOOL, 2);
			both->args[0] = any;
			both->args[1] = e;
			e = both;
		}
		any = e;
	} while (accept_mark(p, ",") && !p->r->failed);
	expect_word(p, "then");
	return any;
}

/* CASE [x] WHEN a, b THEN ... [ELSE ...] END CASE; is a list of IFs. */
static const struct sql_code *read_case(struct reader *p)
{
	struct sql_code *block = code_new(p, CODE_BLOCK, p->word.from);
	const struct sql_code **last = &block->body;
	const struct sql_expr *x = NULL;
	if (!is_word(p, "when")) {
		struct sql_code *c = code_new(p, CODE_ASSIGN, p->word.from);
		c->value =
			settle(p->r, read_expr(p, read_span(p, UNTIL("when"))));
		if (p->r->failed) return block;
		const struct variable *v =
			add_variable(p, NULL, NULL, c->value->type);
		c->targets = fields_of(p, v, &c->target_count);
		struct sql_expr *value =
			expr_new(p->r, EXPR_COLUMN, SQL_UNKNOWN, 0);
		value->type = v->type;
		value->column = v->slot;
		x = value;
		*last = c;
		last = (const struct sql_code **)&c->next;
	}
	while (accept_word(p, "when") && !p->r->failed) {
		struct sql_code *c = code_new(p, CODE_IF, p->word.from);
		c->value = read_when(p, x);
		c->body = read_list(p, UNTIL("when", "else", "end"));
		*last = c;
		last = &c->other;
	}
	if (accept_word(p, "else")) {
		*last = read_list(p, UNTIL("end"));
	} else {
		struct sql_code *c = code_new(p, CODE_RAISE, p->word.from);
		c->fails = true;
		c->state = "20000";
		c->format = "case not found";
		*last = c;
	}
	expect_word(p, "end");
	expect_word(p, "case");
	expect_mark(p, ";");
	return block;
}

/* FOR i IN [REVERSE] from .. to [BY step] LOOP */
static void read_for_integers(struct reader *p, struct sql_code *c,
                              const char *name)
{
	uint32_t count = p->scope->variables->count;
	c->kind = CODE_FOR;
	c->reverse = accept_word(p, "reverse");
	c->value = read_typed(p, read_span(p, UNTIL("..")), SQL_INT4);
	expect_mark(p, "..");
	c->upper = read_typed(p, read_span(p, UNTIL("by", "loop")), SQL_INT4);
	if (accept_word(p, "by"))
		c->step = read_typed(p, read_span(p, UNTIL("loop")), SQL_INT4);
	p->depth++;
	const struct variable *v =
		add_variable(p, name, c->label, sql_type(SQL_INT4));
	c->targets = fields_of(p, v, &c->target_count);
	read_loop_body(p, c);
	hide_variables(p, count);
	p->depth--;
}

/* Is there a .. before LOOP? */
static bool counts(const struct reader *p)
{
	struct reader look = *p;
	while (look.word.kind != WORD_END && !is_word(&look, "loop") &&
	       !is_mark(&look, ";")) {
		if (is_mark(&look, "..")) return true;
		next_word(&look);
	}
	return false;
}

static const struct sql_code *read_for(struct reader *p, const char *label)
{
	struct sql_code *c = code_new(p, CODE_EACH, p->word.from);
	c->label = label;
	struct reader look = *p;
	const char *name = expect_name(&look);
	if (is_word(&look, "in") && counts(&look)) {
		*p = look;
		next_word(p);
		read_for_integers(p, c, name);
		return c;
	}
	struct target_list targets = read_targets(p);
	expect_word(p, "in");
	if (is_word(p, "execute"))
		refuse_construct(p->r, place_at(p, p->word.from),
		                 "EXECUTE of a text (write the statement)");
	c->statement = read_statement(p, read_span(p, UNTIL("loop")), NULL, "");
	if (c->statement && !sql_result_columns(c->statement))
		refuse(p->r, c->at, "this statement returns no rows");
	if (c->statement) set_targets(p, c, &targets);
	read_loop_body(p, c);
	return c;
}

static const struct sql_code *read_foreach(struct reader *p, const char *label)
{
	struct sql_code *c = code_new(p, CODE_ITEM, p->word.from);
	c->label = label;
	struct target_list targets = read_targets(p);
	if (is_word(p, "slice"))
		refuse_construct(p->r, place_at(p, p->word.from), "SLICE");
	expect_word(p, "in");
	expect_word(p, "array");
	const struct sql_expr *e = read_expr(p, read_span(p, UNTIL("loop")));
	if (e && e->type.kind != SQL_ARRAY)
		refuse(p->r, e->at,
		       "FOREACH expression must yield an array, not type %s",
		       sql_kind_name(e->type.kind));
	c->value = e;
	set_targets(p, c, &targets);
	read_loop_body(p, c);
	return c;
}

/* EXIT, CONTINUE [label] [WHEN condition]; */
static const struct sql_code *read_exit(struct reader *p,
                                        enum sql_code_kind kind)
{
	struct sql_code *c = code_new(p, kind, p->word.from);
	if (!is_mark(p, ";") && !is_word(p, "when")) c->label = expect_name(p);
	if (accept_word(p, "when"))
		c->value = read_typed(p, read_span(p, UNTIL(";")), SQL_BOOL);
	expect_mark(p, ";");
	return c;
}

/* A whole row: the variable's fields. */
static bool returns_record(struct reader *p, struct sql_code *c, struct span s)
{
	struct reader look = *p;
	look.word.to = s.from;
	next_word(&look);
	const struct variable *v =
		look.word.kind == WORD_NAME && look.word.to == s.to
			? find_variable(p->scope->variables, NULL,
	                                look.word.name)
			: NULL;
	if (!v || !v->record) return false;
	c->targets = fields_of(p, v, &c->target_count);
	if (c->target_count != p->routine->column_count)
		refuse(p->r, c->at,
		       "returned record type does not match expected record "
		       "type");
	return true;
}

static const struct sql_code *read_return(struct reader *p, uint32_t at)
{
	const struct sql_routine *routine = p->routine;
	struct sql_code *c = code_new(p, CODE_RETURN, at);
	if (accept_word(p, "query")) {
		c->kind = CODE_ROWS;
		if (is_word(p, "execute"))
			refuse_construct(p->r, place_at(p, p->word.from),
			                 "EXECUTE of a text (write the "
			                 "statement)");
		if (!routine->set)
			refuse(p->r, c->at,
			       "cannot use RETURN QUERY in a non-SETOF "
			       "function");
		c->statement =
			read_statement(p, read_span(p, UNTIL(";")), NULL, "");
		if (c->statement &&
		    sql_result_columns(c->statement) != routine->column_count)
			refuse(p->r, c->at,
			       "structure of query does not match function "
			       "result type");
	} else if (accept_word(p, "next")) {
		c->kind = CODE_NEXT;
		if (!routine->set)
			refuse(p->r, c->at,
			       "cannot use RETURN NEXT in a non-SETOF "
			       "function");
	}
	if (c->kind == CODE_ROWS || accept_mark(p, ";")) {
		if (c->kind == CODE_ROWS) expect_mark(p, ";");
		bool needs = c->kind == CODE_RETURN && !routine->set &&
		             routine->column_count && !routine->out_count;
		if (needs) refuse(p->r, c->at, "missing expression");
		return c;
	}
	struct span s = read_span(p, UNTIL(";"));
	if ((c->kind == CODE_RETURN && routine->set) ||
	    !routine->column_count || routine->out_count)
		refuse(p->r, place_at(p, s.from),
		       "RETURN cannot have a parameter in function %s",
		       routine->out_count ? "with OUT parameters"
		       : routine->set     ? "returning set"
		                          : "returning void");
	else if (!returns_record(p, c, s)) {
		if (routine->composite)
			refuse_construct(p->r, place_at(p, s.from),
			                 "returning a row that is no variable");
		c->value =
			become(p->r, read_expr(p, s), routine->columns[0].type);
	}
	expect_mark(p, ";");
	return c;
}

/* USING option = expression, ... */
static void read_options(struct reader *p, struct sql_code *c)
{
	do {
		uint32_t at = p->word.from;
		const char *name = expect_name(p);
		if (!accept_mark(p, "=")) expect_mark(p, ":=");
		const struct sql_expr *e =
			read_typed(p, read_span(p, UNTIL(",", ";")), SQL_TEXT);
		if (!strcmp(name, "errcode") && e && e->kind == EXPR_CONSTANT &&
		    !sql_is_null(e->constant)) {
			const char *state = sql_condition(e->constant.o->bytes);
			c->state = state ? state : e->constant.o->bytes;
		} else if (!strcmp(name, "errcode")) {
			c->code = e;
		} else if (!strcmp(name, "message")) {
			if (c->format)
				refuse(p->r, place_at(p, at),
				       "RAISE option already specified: "
				       "MESSAGE");
			c->message = e;
		}
	} while (accept_mark(p, ",") && !p->r->failed);
}

/* A SQLSTATE, by its name or as itself. */
static const char *read_condition(struct reader *p)
{
	uint32_t at = p->word.from;
	if (accept_word(p, "sqlstate")) {
		const char *state = p->word.name;
		if (p->word.kind != WORD_STRING || strlen(state) != 5) {
			refuse(p->r, place_at(p, at), "invalid SQLSTATE code");
			return "";
		}
		next_word(p);
		return state;
	}
	const char *name = expect_name(p);
	const char *state = sql_condition(name);
	if (!state && !p->r->failed)
		refuse(p->r, place_at(p, at),
		       "unrecognized exception condition \"%s\"", name);
	return state ? state : "";
}

static void check_format(struct reader *p, const struct sql_code *c)
{
	uint32_t wanted = 0;
	for (const char *s = c->format; *s; s++) {
		if (*s != '%') continue;
		if (s[1] == '%')
			s++;
		else
			wanted++;
	}
	if (wanted != c->arg_count)
		refuse(p->r, c->at, "too %s parameters specified for RAISE",
		       wanted > c->arg_count ? "few" : "many");
}

static const struct sql_code *read_raise(struct reader *p, uint32_t at)
{
	enum { MOST = 50 };
	static const char *const levels[] = {
		"debug", "log", "info", "notice", "warning", "exception"
	};
	struct sql_code *c = code_new(p, CODE_RAISE, at);
	c->fails = true;
	for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
		if (accept_word(p, levels[i])) {
			c->fails = i + 1 == sizeof levels / sizeof *levels;
			break;
		}
	if (p->word.kind == WORD_STRING) {
		c->format = p->word.name;
		c->args = region_take0(p->r->region, MOST * sizeof *c->args);
		next_word(p);
		while (accept_mark(p, ",") && !p->r->failed) {
			struct span s = read_span(p, UNTIL(",", ";", "using"));
			if (c->arg_count == MOST)
				syntax_error(p);
			else
				c->args[c->arg_count++] =
					settle(p->r, read_expr(p, s));
		}
		if (!p->r->failed) check_format(p, c);
	} else if (!is_mark(p, ";") && !is_word(p, "using")) {
		c->state = read_condition(p);
	}
	if (accept_word(p, "using")) read_options(p, c);
	expect_mark(p, ";");
	return c;
}

static const struct sql_code *read_assert(struct reader *p, uint32_t at)
{
	struct sql_code *c = code_new(p, CODE_RAISE, at);
	c->asserts = true;
	c->value = read_typed(p, read_span(p, UNTIL(",", ";")), SQL_BOOL);
	if (accept_mark(p, ","))
		c->message = read_typed(p, read_span(p, UNTIL(";")), SQL_TEXT);
	expect_mark(p, ";");
	return c;
}

/* GET [CURRENT | STACKED] DIAGNOSTICS variable = item, ...; */
static const struct sql_code *read_diagnostics(struct reader *p, uint32_t at)
{
	const struct sql_code *first = NULL;
	const struct sql_code **last = &first;
	if (!accept_word(p, "current")) accept_word(p, "stacked");
	expect_word(p, "diagnostics");
	do {
		struct sql_code *c = code_new(p, CODE_COUNT, at);
		struct sql_target_slot *t =
			region_take0(p->r->region, sizeof *t);
		*t = read_target(p, NULL);
		c->targets = t;
		c->target_count = 1;
		if (!accept_mark(p, "=")) expect_mark(p, ":=");
		const char *of = is_word(p, "returned_sqlstate") ? "sqlstate"
		                 : is_word(p, "message_text")    ? "sqlerrm"
		                                                 : NULL;
		const struct variable *v =
			of ? find_variable(p->scope->variables, NULL, of)
			   : NULL;
		if (v) {
			struct sql_expr *e =
				expr_new(p->r, EXPR_COLUMN, SQL_TEXT, 0);
			e->column = v->slot;
			c->kind = CODE_ASSIGN;
			c->value = become(p->r, e, t->type);
		} else if (!is_word(p, "row_count")) {
			refuse_construct(p->r, place_at(p, p->word.from),
			                 "this item of GET DIAGNOSTICS");
		} else if (!sql_is_integer(t->type.kind)) {
			refuse(p->r, c->at, "ROW_COUNT needs an integer");
		}
		next_word(p);
		*last = c;
		last = (const struct sql_code **)&c->next;
	} while (accept_mark(p, ",") && !p->r->failed);
	expect_mark(p, ";");
	return first;
}

/* A statement of SQL. INTO [STRICT] and the targets are taken out of it. */
static const struct sql_code *read_sql(struct reader *p)
{
	struct sql_code *c = code_new(p, CODE_SQL, p->word.from);
	struct span s = { p->word.from, p->word.from }, into = { 0 };
	struct target_list targets = { 0 };
	bool inserts = is_word(p, "insert");
	while (!is_mark(p, ";") && p->word.kind != WORD_END) {
		if (is_word(p, "into") && inserts) {
			inserts = false;
		} else if (is_word(p, "into")) {
			if (c->into) syntax_error(p);
			into.from = p->word.from;
			next_word(p);
			c->into = true;
			c->strict = accept_word(p, "strict");
			targets = read_targets(p);
			into.to = s.to = p->word.from;
			continue;
		}
		s.to = p->word.to;
		next_word(p);
	}
	c->statement = read_statement(p, s, c->into ? &into : NULL, "");
	if (c->into && c->statement) set_targets(p, c, &targets);
	if (c->statement && c->statement->kind == STATEMENT_QUERY && !c->into)
		refuse(p->r, c->at,
		       "query has no destination for result data; to discard "
		       "the results of a SELECT, use PERFORM instead");
	expect_mark(p, ";");
	return c;
}

static const struct sql_code *read_perform(struct reader *p)
{
	struct sql_code *c = code_new(p, CODE_SQL, p->word.from);
	c->statement =
		read_statement(p, read_span(p, UNTIL(";")), NULL, "SELECT ");
	expect_mark(p, ";");
	return c;
}

/* target := expression; */
static const struct sql_code *read_assignment(struct reader *p)
{
	struct sql_code *c = code_new(p, CODE_ASSIGN, p->word.from);
	struct sql_target_slot *t = region_take0(p->r->region, sizeof *t);
	*t = read_target(p, NULL);
	if (is_mark(p, "["))
		refuse_construct(p->r, place_at(p, p->word.from),
		                 "assigning an element of an array");
	if (!accept_mark(p, ":=")) expect_mark(p, "=");
	c->value =
		become(p->r, read_expr(p, read_span(p, UNTIL(";"))), t->type);
	c->targets = t;
	c->target_count = 1;
	expect_mark(p, ";");
	return c;
}

/* Is it name [.field] [subscript] := or =? */
static bool assigns(const struct reader *p)
{
	struct reader look = *p;
	if (p->word.kind != WORD_NAME && p->word.kind != WORD_QUOTED)
		return false;
	next_word(&look);
	while (is_mark(&look, ".")) {
		next_word(&look);
		next_word(&look);
	}
	return is_mark(&look, ":=") || is_mark(&look, "=") ||
	       is_mark(&look, "[");
}

/* ---- Blocks ---- */

static void read_handlers(struct reader *p, struct sql_code *c)
{
	enum { MOST = 50 };
	struct sql_handler *all =
		region_take0(p->r->region, MOST * sizeof *all);
	uint32_t from = p->scope->variables->count;
	c->handlers = all;
	p->depth++;
	c->error_slot =
		add_variable(p, "sqlstate", NULL, sql_type(SQL_TEXT))->slot;
	add_variable(p, "sqlerrm", NULL, sql_type(SQL_TEXT));
	while (accept_word(p, "when") && !p->r->failed) {
		if (c->handler_count == MOST) {
			syntax_error(p);
			break;
		}
		struct sql_handler *h = &all[c->handler_count++];
		h->states =
			region_take0(p->r->region, MOST * sizeof *h->states);
		do {
			if (h->count == MOST)
				syntax_error(p);
			else if (accept_word(p, "others"))
				h->states[h->count++] = "OTHER";
			else
				h->states[h->count++] = read_condition(p);
		} while (accept_word(p, "or") && !p->r->failed);
		expect_word(p, "then");
		h->body = read_list(p, UNTIL("when", "end"));
	}
	hide_variables(p, from);
	p->depth--;
}

/* [DECLARE ...] BEGIN ... [EXCEPTION ...] END [label] */
static struct sql_code *read_block(struct reader *p, const char *label)
{
	enum { DEPTH = 100 };
	struct sql_code *c = code_new(p, CODE_BLOCK, p->word.from);
	uint32_t from = p->scope->variables->count;
	const struct sql_code **last = &c->variables;
	c->label = label;
	if (++p->depth > DEPTH)
		refuse(p->r, c->at, "blocks are nested too deeply");
	while (accept_word(p, "declare"))
		while (!is_word(p, "begin") && !is_word(p, "declare") &&
		       !p->r->failed) {
			struct sql_code *v = read_declaration(p, label);
			*last = v;
			last = (const struct sql_code **)&v->next;
		}
	expect_word(p, "begin");
	c->body = read_list(p, UNTIL("end", "exception"));
	if (accept_word(p, "exception")) read_handlers(p, c);
	expect_word(p, "end");
	if (p->word.kind == WORD_NAME) next_word(p);
	hide_variables(p, from);
	p->depth--;
	return c;
}

/* Those that begin with a word of their own. */
static const struct sql_code *read_by_word(struct reader *p, const char *label)
{
	uint32_t at = p->word.from;
	struct sql_code *c;
	static const char *const outside[] = { "execute", "open", "fetch",
		                               "close",   "move", "commit",
		                               "rollback" };
	for (size_t i = 0; i < sizeof outside / sizeof *outside; i++)
		if (is_word(p, outside[i])) {
			refuse_construct(
				p->r, place_at(p, at),
				i ? "a cursor, or the end of a transaction, in "
				    "PL/pgSQL,"
				  : "EXECUTE of a text (write the statement)");
			return NULL;
		}
	if (is_word(p, "begin") || is_word(p, "declare")) {
		c = read_block(p, label);
		expect_mark(p, ";");
		return c;
	}
	if (accept_word(p, "if")) return read_if(p);
	if (accept_word(p, "case")) return read_case(p);
	if (is_word(p, "loop") || is_word(p, "while")) {
		c = code_new(p, CODE_LOOP, at);
		c->label = label;
		if (accept_word(p, "while"))
			c->value = read_typed(p, read_span(p, UNTIL("loop")),
			                      SQL_BOOL);
		read_loop_body(p, c);
		return c;
	}
	if (accept_word(p, "for")) return read_for(p, label);
	if (accept_word(p, "foreach")) return read_foreach(p, label);
	if (accept_word(p, "exit")) return read_exit(p, CODE_EXIT);
	if (accept_word(p, "continue")) return read_exit(p, CODE_CONTINUE);
	if (accept_word(p, "return")) return read_return(p, at);
	if (accept_word(p, "raise")) return read_raise(p, at);
	if (accept_word(p, "assert")) return read_assert(p, at);
	if (accept_word(p, "get")) return read_diagnostics(p, at);
	if (accept_word(p, "perform")) return read_perform(p);
	if (accept_word(p, "null")) {
		expect_mark(p, ";");
		return code_new(p, CODE_BLOCK, at);
	}
	return read_sql(p);
}

static const struct sql_code *read_list(struct reader *p,
                                        const char *const *ends)
{
	const struct sql_code *first = NULL;
	const struct sql_code **last = &first;
	while (!p->r->failed && p->word.kind != WORD_END) {
		const char *label = NULL;
		const struct sql_code *c;
		for (size_t i = 0; ends[i]; i++)
			if (is_word(p, ends[i])) return first;
		if (accept_mark(p, "<<")) {
			label = expect_name(p);
			expect_mark(p, ">>");
		}
		c = assigns(p) ? read_assignment(p) : read_by_word(p, label);
		*last = c;
		while (c && c->next) c = c->next;
		if (c)
			last = (const struct sql_code **)&((struct sql_code *)c)
			               ->next;
	}
	if (!p->r->failed) syntax_error(p);
	return first;
}

bool resolve_code(struct resolver *r, struct sql_routine *routine,
                  struct scope *scope, struct place at, uint32_t length)
{
	const struct source *in = &r->catalog->all->items[at.source];
	struct reader p = { .r = r,
		            .routine = routine,
		            .scope = scope,
		            .text = in->text,
		            .source = at.source,
		            .end = at.offset + length,
		            .word = { .to = at.offset } };
	const char *label = NULL;
	next_word(&p);
	if (accept_mark(&p, "<<")) {
		label = expect_name(&p);
		expect_mark(&p, ">>");
	}
	routine->body = read_block(&p, label);
	accept_mark(&p, ";");
	if (p.word.kind != WORD_END) syntax_error(&p);
	return !r->failed;
}
