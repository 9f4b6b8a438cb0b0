/* What the statements of all routines do to tables, and which of them ask for
 * more than is followed. */
#include "prove/sql_facts.h"

#include "base/memory.h"
#include "sql/walk.h"

static void note_statement(struct sql_facts *facts,
                           const struct sql_statement *s)
{
	if (!s || !s->table) return;
	struct sql_facts *f = &facts[s->table->number];
	f->inserts |= s->kind == STATEMENT_INSERT;
	f->deletes |= s->kind == STATEMENT_DELETE;
}

void prove_note_code(struct sql_facts *facts, const struct sql_code *c)
{
	for (; c; c = c->next) {
		note_statement(facts, c->statement);
		prove_note_code(facts, c->body);
		prove_note_code(facts, c->other);
		prove_note_code(facts, c->variables);
		for (uint32_t i = 0; i < c->handler_count; i++)
			prove_note_code(facts, c->handlers[i].body);
	}
}

void prove_note_routine(struct sql_facts *facts, const struct sql_routine *r)
{
	prove_note_code(facts, r->body);
	for (uint32_t i = 0; i < r->statement_count; i++)
		note_statement(facts, r->statements[i]);
}

/* ---- what is not followed ---- */

static bool sets_any(const struct sql_set *sets, uint32_t count,
                     const uint32_t *columns, uint32_t column_count)
{
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t k = 0; k < column_count; k++)
			if (sets[i].column == columns[k]) return true;
	return false;
}

static const char *key_problem(const struct sql_table *t,
                               const struct sql_set *sets, uint32_t count)
{
	if (t->primary &&
	    sets_any(sets, count, t->primary->columns, t->primary->count))
		return "an UPDATE of a primary key";
	for (const struct sql_foreign *f = t->referrers; f; f = f->next_to)
		if (sets_any(sets, count, f->to_columns, f->count))
			return "an UPDATE of what a foreign key refers to";
	return NULL;
}

static const char *foreign_problem(const struct sql_statement *s)
{
	const struct sql_table *t = s->table;
	for (const struct sql_foreign *f = t->foreigns; f; f = f->next_from)
		if (f->unique && s->kind != STATEMENT_DELETE)
			return "a foreign key to other columns than a primary "
			       "key's";
	for (const struct sql_foreign *f = t->referrers; f; f = f->next_to)
		if (s->kind == STATEMENT_DELETE &&
		    (f->on_delete == ACTION_CASCADE ||
		     f->on_delete == ACTION_SET_NULL))
			return "a DELETE that others follow";
	return NULL;
}

const char *prove_statement_problem(const struct sql_statement *s)
{
	const struct sql_table *t = s->table;
	const char *why = NULL;
	switch (s->kind) {
	case STATEMENT_QUERY:
	case STATEMENT_CALL:
	case STATEMENT_NOTHING: return NULL;
	case STATEMENT_INSERT:
	case STATEMENT_UPDATE:
	case STATEMENT_DELETE: break;
	default: return "a statement of this kind";
	}
	if (t->triggers) return "a change of a table with triggers";
	why = key_problem(t, s->sets,
	                  s->kind == STATEMENT_UPDATE ? s->set_count : 0);
	if (!why) why = key_problem(t, s->conflict_sets, s->conflict_set_count);
	return why ? why : foreign_problem(s);
}

/* ---- what an expression asks ---- */

static void find_in_query(const struct sql_query *q, struct sql_asks *out);

static void find_in_expr(void *data, const struct sql_expr *e)
{
	struct sql_asks *out = data;
	out->calls |= e->kind == EXPR_ROUTINE;
	sql_expr_parts(e, find_in_expr, out);
	find_in_query(e->query, out);
}

void prove_find_asks(const struct sql_expr *e, struct sql_asks *out)
{
	if (e) find_in_expr(out, e);
}

bool prove_is_row_call(const struct sql_query *q)
{
	const struct sql_relation *f = q->relation_count ? q->relations : NULL;
	const struct sql_routine *r =
		f && f->kind == RELATION_CALL ? f->call->routine : NULL;
	return r && f->call->kind == EXPR_ROUTINE && !r->set && !r->sql &&
	       r->out_count && r->out_count == f->column_count;
}

static void find_in_query(const struct sql_query *q, struct sql_asks *out)
{
	if (!q) return;
	uint32_t first = prove_is_row_call(q);
	for (uint32_t i = 0; first && i < q->relations[0].call->count; i++)
		prove_find_asks(q->relations[0].call->args[i], out);
	for (uint32_t i = first; i < q->relation_count; i++) {
		const struct sql_relation *r = &q->relations[i];
		out->tables |= r->kind == RELATION_TABLE;
		if (r->kind == RELATION_QUERY) find_in_query(r->query, out);
		if (r->kind == RELATION_CALL) prove_find_asks(r->call, out);
	}
	sql_query_parts(q, find_in_expr, out);
}

struct sql_asks prove_statement_asks(const struct sql_statement *s)
{
	struct sql_asks out = { .tables = s->table != NULL };
	find_in_query(s->query, &out);
	sql_statement_parts(s, find_in_expr, &out);
	return out;
}
