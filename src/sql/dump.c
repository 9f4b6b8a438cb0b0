/* The listing of a program in SQL: what each statement does, to which rows,
 * after names and types were resolved. */
#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "sql/image.h"
#include "sql/load.h"
#include "sql/procs.h"
#include "vm/bytecode.h"

/* Where columns are looked up: the query at hand, and those around it. */
struct within {
	const struct within *outer;
	const struct sql_relation *relations;
	uint32_t count;
};

static void print_expr(struct text *t, const struct within *w,
                       const struct sql_expr *e);
static void print_query(struct text *t, const struct within *outer,
                        const struct sql_query *q, const char *indent);

static void print_list(struct text *t, const struct within *w,
                       const struct sql_expr *e, const char *before,
                       const char *between, const char *after)
{
	text_string(t, before);
	for (uint32_t i = 0; i < e->count; i++) {
		if (i) text_string(t, between);
		print_expr(t, w, e->args[i]);
	}
	text_string(t, after);
}

static void print_column(struct text *t, const struct within *w,
                         const struct sql_expr *e)
{
	for (uint32_t i = 0; i < e->up && w; i++) w = w->outer;
	if (!w || e->relation >= w->count) {
		text_format(t, "column %u", (unsigned)e->column);
		return;
	}
	const struct sql_relation *x = &w->relations[e->relation];
	assert(e->column < x->column_count);
	text_format(t, "%s%s%s", x->name, *x->name ? "." : "",
	            x->columns[e->column].name);
}

static void print_constant(struct text *t, struct value v)
{
	if (v.tag == VALUE_STRING)
		text_format(t, "'%s'", v.o->bytes);
	else
		value_print(t, v);
}

static void print_call(struct text *t, const struct within *w,
                       const struct sql_expr *e)
{
	const char *name = e->function->name;
	bool is_operator = !strchr("abcdefghijklmnopqrstuvwxyz", *name);
	if (is_operator && e->count == 2) {
		struct text between = { 0 };
		text_format(&between, " %s ", name);
		print_list(t, w, e, "(", text_get(&between), ")");
		text_free(&between);
		return;
	}
	text_format(t, "%s(%s", name, e->distinct ? "DISTINCT " : "");
	print_list(t, w, e, "", ", ", e->count || is_operator ? ")" : "*)");
}

static void print_expr(struct text *t, const struct within *w,
                       const struct sql_expr *e)
{
	switch (e->kind) {
	case EXPR_CONSTANT: print_constant(t, e->constant); return;
	case EXPR_COLUMN: print_column(t, w, e); return;
	case EXPR_CALL:
	case EXPR_AGGREGATE: print_call(t, w, e); return;
	case EXPR_AND: print_list(t, w, e, "(", " AND ", ")"); return;
	case EXPR_OR: print_list(t, w, e, "(", " OR ", ")"); return;
	case EXPR_NOT: print_list(t, w, e, "(NOT ", "", ")"); return;
	case EXPR_IS_NULL:
		print_list(t, w, e, "(", "",
		           e->negated ? " IS NOT NULL)" : " IS NULL)");
		return;
	case EXPR_IS_BOOL:
		print_list(t, w, e, "(", "", e->negated ? " IS NOT " : " IS ");
		print_constant(t, e->constant);
		text_char(t, ')');
		return;
	case EXPR_IS_DISTINCT:
		print_list(t, w, e, "(",
		           e->negated ? " IS NOT DISTINCT FROM "
		                      : " IS DISTINCT FROM ",
		           ")");
		return;
	case EXPR_CASE: print_list(t, w, e, "CASE(", ", ", ")"); return;
	case EXPR_COALESCE: print_list(t, w, e, "COALESCE(", ", ", ")"); return;
	case EXPR_NULLIF: print_list(t, w, e, "NULLIF(", ", ", ")"); return;
	case EXPR_GREATEST:
		print_list(t, w, e, e->negated ? "LEAST(" : "GREATEST(", ", ",
		           ")");
		return;
	case EXPR_CAST:
		print_list(t, w, e, "", "", "::");
		sql_type_print(t, e->type);
		return;
	case EXPR_FAILURE:
		text_format(t, "error %s", e->failure->state);
		return;
	case EXPR_STEP_ERROR: text_string(t, "error of a step"); return;
	case EXPR_ARRAY: print_list(t, w, e, "ARRAY[", ", ", "]"); return;
	case EXPR_ELEMENT: print_list(t, w, e, "", "[", "]"); return;
	case EXPR_NEXTVAL: text_string(t, "nextval()"); return;
	case EXPR_CURRVAL: text_string(t, "currval()"); return;
	case EXPR_SET: print_list(t, w, e, "", "", ""); return;
	case EXPR_ROUTINE:
		text_string(t, e->routine->name);
		print_list(t, w, e, "(", ", ", ")");
		return;
	case EXPR_ANY:
		if (!e->function) {
			text_string(t,
			            e->negated ? "row of ALL " : "row of ANY ");
			break;
		}
		print_expr(t, w, e->args[0]);
		text_format(t, " %s %s ", e->function->name,
		            e->negated ? "ALL" : "ANY");
		if (e->query) break;
		print_expr(t, w, e->args[1]);
		return;
	case EXPR_EXISTS: text_string(t, "EXISTS "); break;
	case EXPR_SCALAR: break;
	}
	text_string(t, "(query");
	print_query(t, w, e->query, "          ");
	text_char(t, ')');
}

/* One property of a statement, on a line of its own. */
static void print_item(struct text *t, const struct within *w,
                       const char *indent, const char *what,
                       const struct sql_expr *e)
{
	text_format(t, "\n%s%s ", indent, what);
	print_expr(t, w, e);
}

static const char *const lock_words[] = {
	[STRENGTH_KEY_SHARE] = "key shares",
	[STRENGTH_SHARE] = "shares",
	[STRENGTH_NO_KEY_UPDATE] = "locks to update",
	[STRENGTH_UPDATE] = "locks",
};

/* How the rows of a table are found. */
static void print_access(struct text *t, const struct within *w,
                         const struct sql_relation *x, const char *indent)
{
	const struct sql_access *a = &x->access;
	const struct sql_table *table = x->table;
	text_format(t, "\n%s%s %s", indent,
	            x->lock ? lock_words[x->lock] : "reads", table->name);
	if (strcmp(x->name, table->name)) text_format(t, " as %s", x->name);
	for (uint32_t i = 0; a->key && i < table->primary->count; i++) {
		text_string(t, i ? ", " : " by key [");
		print_expr(t, w, a->key[i]);
		if (i + 1 == table->primary->count) text_char(t, ']');
	}
	for (uint32_t i = 0; i < a->condition_count; i++) {
		text_string(t, i ? " AND " : " where ");
		print_expr(t, w, a->conditions[i]);
	}
}

static void print_query(struct text *t, const struct within *outer,
                        const struct sql_query *q, const char *indent)
{
	struct within w = { outer, q->relations, q->relation_count };
	for (uint32_t i = 0; i < q->relation_count; i++) {
		const struct sql_relation *x = &q->relations[i];
		if (x->kind == RELATION_TABLE)
			print_access(t, &w, x, indent);
		else if (x->kind == RELATION_QUERY)
			print_query(t, outer, x->query, indent);
	}
	if (q->where) print_item(t, &w, indent, "if", q->where);
	if (q->having) print_item(t, &w, indent, "having", q->having);
	for (uint32_t i = 0; !q->value_count && i < q->target_count; i++)
		print_item(t, &w, indent, "gives", q->targets[i].value);
}

static void print_sets(struct text *t, const struct within *w,
                       const struct sql_table *table,
                       const struct sql_set *sets, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		text_format(t, "\n      sets %s := ",
		            table->columns[sets[i].column].name);
		if (sets[i].value)
			print_expr(t, w, sets[i].value);
		else
			text_string(t, "DEFAULT");
	}
}

static void print_statement(struct text *t, const struct within *outer,
                            const struct sql_statement *s)
{
	static const char *const words[] = {
		[STATEMENT_QUERY] = "SELECT",
		[STATEMENT_INSERT] = "INSERT INTO",
		[STATEMENT_UPDATE] = "UPDATE",
		[STATEMENT_DELETE] = "DELETE FROM",
		[STATEMENT_CALL] = "CALL",
		[STATEMENT_BEGIN] = "BEGIN",
		[STATEMENT_COMMIT] = "COMMIT",
		[STATEMENT_ROLLBACK] = "ROLLBACK",
		[STATEMENT_SAVEPOINT] = "SAVEPOINT",
		[STATEMENT_ROLLBACK_TO] = "ROLLBACK TO",
		[STATEMENT_RELEASE] = "RELEASE",
		[STATEMENT_SET_TRANSACTION] = "SET TRANSACTION",
	};
	struct within w = { .outer = outer };
	assert(s->kind < sizeof words / sizeof *words && words[s->kind]);
	text_string(t, words[s->kind]);
	if (s->table) text_format(t, " %s", s->table->name);
	if (s->name && *s->name) text_format(t, " %s", s->name);
	if (s->modes.level)
		text_format(t, " at %s", own_level_word(s->modes.level));
	if (s->modes.read_only) text_string(t, " READ ONLY");
	if (s->call) {
		text_char(t, ' ');
		print_expr(t, outer, s->call);
	}
	if (!s->query) return;
	print_query(t, outer, s->query, "      ");
	if (s->kind == STATEMENT_UPDATE) {
		w.relations = s->query->relations;
		w.count = s->query->relation_count;
		print_sets(t, &w, s->table, s->sets, s->set_count);
	}
	for (uint32_t i = 0; s->kind == STATEMENT_INSERT && i < s->set_count;
	     i++)
		text_format(t, "%s%s", i ? ", " : "\n      columns ",
		            s->table->columns[s->sets[i].column].name);
	if (s->conflict)
		text_format(t, "\n      on conflict of %s %s",
		            s->arbiter ? s->arbiter->name : "any key",
		            s->conflict == CONFLICT_UPDATE ? "updates"
		                                           : "does nothing");
}

void sql_dump_statement(struct text *t, const struct sql_statement *s)
{
	print_statement(t, NULL, s);
}

/* ---- Routines ---- */

static void print_list_of_code(struct text *t, const struct within *w,
                               const struct program *p,
                               const struct sql_code *c, uint32_t depth);

static void print_targets(struct text *t, const struct within *w,
                          const struct sql_code *c)
{
	for (uint32_t i = 0; i < c->target_count; i++)
		text_format(t, "%s%s", i ? ", " : " ",
		            w->relations->columns[c->targets[i].slot].name);
}

static void print_code(struct text *t, const struct within *w,
                       const struct program *p, const struct sql_code *c,
                       uint32_t depth)
{
	static const char *const words[] = {
		[CODE_BLOCK] = "block",
		[CODE_ASSIGN] = "set",
		[CODE_IF] = "if",
		[CODE_LOOP] = "loop",
		[CODE_FOR] = "for",
		[CODE_EACH] = "for each",
		[CODE_ITEM] = "for each",
		[CODE_EXIT] = "exit",
		[CODE_CONTINUE] = "continue",
		[CODE_RETURN] = "return",
		[CODE_NEXT] = "return next",
		[CODE_ROWS] = "return",
		[CODE_RAISE] = "raise",
		[CODE_SQL] = "do",
		[CODE_COUNT] = "set rows to",
	};
	text_char(t, '\n');
	text_pad(t, ' ', 4 + 2 * depth);
	text_format(t, "%u: %s", (unsigned)program_position(p, c->point).line,
	            c->asserts ? "assert" : words[c->kind]);
	print_targets(t, w, c);
	if (c->value) {
		text_string(t, c->kind == CODE_ASSIGN ? " := " : " ");
		print_expr(t, w, c->value);
	}
	if (c->upper) {
		text_string(t, c->reverse ? " down to " : " to ");
		print_expr(t, w, c->upper);
	}
	if (c->statement) {
		text_char(t, ' ');
		print_statement(t, w, c->statement);
	}
	for (const struct sql_code *v = c->variables; v; v = v->next)
		print_code(t, w, p, v, depth + 1);
	print_list_of_code(t, w, p, c->body, depth + 1);
	if (c->other) {
		text_char(t, '\n');
		text_pad(t, ' ', 4 + 2 * depth);
		text_string(t, "else");
		print_list_of_code(t, w, p, c->other, depth + 1);
	}
	for (uint32_t i = 0; i < c->handler_count; i++) {
		const struct sql_handler *h = &c->handlers[i];
		text_char(t, '\n');
		text_pad(t, ' ', 4 + 2 * depth);
		text_string(t, "after an error");
		for (uint32_t k = 0; k < h->count; k++)
			text_format(t, " %s", h->states[k]);
		print_list_of_code(t, w, p, h->body, depth + 1);
	}
}

static void print_list_of_code(struct text *t, const struct within *w,
                               const struct program *p,
                               const struct sql_code *c, uint32_t depth)
{
	for (; c; c = c->next) print_code(t, w, p, c, depth);
}

static void print_routine(struct text *t, const struct program *p,
                          const struct sql_routine *r)
{
	const struct sql_relation variables = { .name = "",
		                                .columns = r->slots,
		                                .column_count = r->slot_count };
	struct within w = { NULL, &variables, 1 };
	text_format(t, "%s %s(", r->procedure ? "procedure" : "function",
	            r->name);
	for (uint32_t i = 0; i < r->parameter_count; i++)
		text_format(t, "%s%s", i ? ", " : "",
		            r->slots[r->parameter_slots[i]].name);
	text_char(t, ')');
	print_list_of_code(t, &w, p, r->body, 0);
	for (uint32_t i = 0; i < r->statement_count; i++) {
		text_string(t, "\n    ");
		print_statement(t, &w, r->statements[i]);
	}
	text_char(t, '\n');
}

void sql_dump(const struct program *p, struct text *t)
{
	const struct sql_image *image = sql_image_of(p->library);
	assert(p->sql);
	for (uint32_t i = 0; i < image->session_count; i++) {
		const struct sql_session *s = &image->sessions[i];
		text_format(t, "session %s\n", s->name);
		for (uint32_t k = 0; k < s->count; k++) {
			const struct sql_item *item = &s->items[k];
			struct position at =
				program_position(p, item->statement->point);
			text_format(
				t, "  %s  %s:%u:%u\n    ",
				item->step == SQL_NO_STEP
					? "setup"
					: image->catalog.steps[item->step].name,
				at.file, (unsigned)at.line,
				(unsigned)at.column);
			print_statement(t, NULL, item->statement);
			text_char(t, '\n');
		}
	}
	for (uint32_t i = 0; i < image->catalog.routine_count; i++)
		print_routine(t, p, image->catalog.routines[i]);
	for (uint32_t i = 0; i < image->assertion_count; i++) {
		text_format(t, "assertion %u", (unsigned)i + 1);
		print_query(t, NULL, image->assertions[i].query->query, "    ");
		text_char(t, '\n');
	}
}
