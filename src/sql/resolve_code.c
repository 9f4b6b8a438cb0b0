/* PL/pgSQL: blocks and loops are read here; expressions and statements in them
 * are read by PostgreSQL's parser, each where it stands, so that their places
 * are known. (libpg_query's own reader of PL/pgSQL leaves out what RETURN
 * returns, where variables are declared, and all columns.) */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "sql/code_reader.h"
#include "sql/conditions.h"
#include "vm/bytecode.h"

/* ---- Statements ---- */

static const struct sql_code *read_list(struct reader *p,
                                        const char *const *ends);

/* [<<label>>] LOOP statements END LOOP [label]; */
static void read_loop_body(struct reader *p, struct sql_code *c)
{
	expect_word(p, "loop");
	p->loops++;
	c->body = read_list(p, UNTIL("end"));
	p->loops--;
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
	if (accept_word(p, "execute"))
		read_execute(p, c, NULL);
	else
		c->statement = read_statement(p, read_span(p, UNTIL("loop")),
		                              NULL, "");
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
	if (!p->loops && !c->label)
		refuse(p->r, c->at,
		       kind == CODE_EXIT
		               ? "EXIT cannot be used outside a loop, unless "
		                 "it has a label"
		               : "CONTINUE cannot be used outside a loop");
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

/* RETURN NULL of a trigger; RETURN COALESCE(NEW, OLD): which of them there is.
 */
static const struct sql_code *read_trigger_return(struct reader *p, uint32_t at)
{
	struct reader look = *p;
	struct sql_code *c = code_new(p, CODE_RETURN, at);
	const char *names[2] = { 0 };
	if (accept_word(&look, "null") && is_mark(&look, ";")) {
		next_word(&look);
		*p = look;
		return c;
	}
	look = *p;
	if (!accept_word(&look, "coalesce")) return NULL;
	for (int i = 0; i < 2; i++) {
		if (!accept_mark(&look, i ? "," : "(") ||
		    (!is_word(&look, "new") && !is_word(&look, "old")))
			return NULL;
		names[i] = look.word.name;
		next_word(&look);
	}
	if (!accept_mark(&look, ")") || !accept_mark(&look, ";")) return NULL;
	*p = look;
	const struct variables *all = p->scope->variables;
	struct sql_code *second = code_new(p, CODE_RETURN, at);
	struct sql_expr *op = expr_new(p->r, EXPR_COLUMN, SQL_TEXT, 0);
	const char *none = strcmp(names[0], "new") ? "INSERT" : "DELETE";
	op->column = find_variable(all, NULL, "tg_op")->slot;
	c->targets = fields_of(p, find_variable(all, NULL, names[0]),
	                       &c->target_count);
	second->targets = fields_of(p, find_variable(all, NULL, names[1]),
	                            &second->target_count);
	struct sql_code *which = code_new(p, CODE_IF, at);
	which->value = make_operator(
		p->r, "=", op,
		expr_constant(p->r, SQL_TEXT,
	                      value_string(p->r->region, none, strlen(none))));
	which->body = second;
	which->other = c;
	return which;
}

static const struct sql_code *read_return(struct reader *p, uint32_t at)
{
	const struct sql_routine *routine = p->routine;
	const struct sql_code *triggers =
		routine->trigger ? read_trigger_return(p, at) : NULL;
	if (triggers) return triggers;
	struct sql_code *c = code_new(p, CODE_RETURN, at);
	if (accept_word(p, "query")) {
		c->kind = CODE_ROWS;
		if (!routine->set)
			refuse(p->r, c->at,
			       "cannot use RETURN QUERY in a non-SETOF "
			       "function");
		if (accept_word(p, "execute"))
			read_execute(p, c, NULL);
		else
			c->statement = read_statement(
				p, read_span(p, UNTIL(";")), NULL, "");
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
			refuse_construct(
				p->r, place_at(p, s.from),
				"returning a row that is not a variable");
		c->value =
			become(p->r, read_expr(p, s), routine->columns[0].type);
	}
	expect_mark(p, ";");
	return c;
}

/* One that changes nothing here. */
static bool is_raise_option(const char *name)
{
	static const char *const names[] = { "detail",  "hint",   "column",
		                             "table",   "schema", "constraint",
		                             "datatype" };
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(names[i], name)) return true;
	return false;
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
		} else if (!is_raise_option(name) && !p->r->failed) {
			refuse(p->r, place_at(p, at),
			       "unrecognized RAISE statement option at or near "
			       "\"%s\"",
			       name);
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

static const struct sql_code *read_dynamic(struct reader *p, uint32_t at)
{
	struct sql_code *c = code_new(p, CODE_SQL, at);
	struct target_list targets = { 0 };
	read_execute(p, c, &targets);
	if (c->into && c->statement) set_targets(p, c, &targets);
	expect_mark(p, ";");
	return c;
}

static const struct sql_code *read_perform(struct reader *p)
{
	struct sql_code *c = code_new(p, CODE_SQL, p->word.from);
	p->r->discards = true;
	c->statement =
		read_statement(p, read_span(p, UNTIL(";")), NULL, "SELECT ");
	p->r->discards = false;
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
	p->r->catalog->program->gives_up = true;
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
	static const char *const outside[] = { "open", "fetch",  "close",
		                               "move", "commit", "rollback" };
	enum { CURSOR_WORDS = 4 };
	for (size_t i = 0; i < sizeof outside / sizeof *outside; i++)
		if (is_word(p, outside[i])) {
			refuse_construct(p->r, place_at(p, at),
			                 i < CURSOR_WORDS
			                         ? "a cursor in PL/pgSQL"
			                         : "COMMIT and ROLLBACK in "
			                           "PL/pgSQL");
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
	if (accept_word(p, "execute")) return read_dynamic(p, at);
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
