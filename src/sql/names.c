#include "sql/names.h"

#include <assert.h>
#include <string.h>

#include "sql/image.h"
#include "vm/bytecode.h"

struct naming {
	struct sql_image *image;
	sql_on_name *on;
	void *data;
	struct text words;
};

/* What has been written is what stands there. */
static void tell(struct naming *n, struct place at)
{
	n->on(n->data, &n->image->all, at, text_get(&n->words));
	text_clear(&n->words);
}

/* ---- Tables and columns ---- */

static bool is_primary(const struct sql_table *t, uint32_t column)
{
	bool found = false;
	for (uint32_t i = 0; t->primary && i < t->primary->count; i++)
		found |= t->primary->columns[i] == column;
	return found;
}

static void add_column(struct text *words, const struct sql_table *t,
                       uint32_t column)
{
	const struct sql_column *c = &t->columns[column];
	text_format(words, "%s ", c->name);
	sql_type_print(words, c->type);
	if (is_primary(t, column))
		text_string(words, " PRIMARY KEY");
	else if (c->not_null)
		text_string(words, " NOT NULL");
}

static void add_table(struct text *words, const struct sql_table *t)
{
	text_format(words, "```\ntable %s", t->name);
	for (uint32_t i = 0; i < t->column_count; i++) {
		text_string(words, "\n  ");
		add_column(words, t, i);
	}
	text_string(words, "\n```");
}

/* A column's own name stands behind that of its table. */
static struct place behind_dot(const struct sources *all, struct place at,
                               const char *name)
{
	const struct source *s = &all->items[at.source];
	size_t length = strlen(name);
	const char *text = s->text + at.offset, *end = s->text + s->length;
	const char *dot = memchr(text, '.', (size_t)(end - text));
	assert(at.offset <= s->length);
	if ((size_t)(end - text) >= length && !strncmp(text, name, length) &&
	    text[length] != '.')
		return at;
	if (dot) at.offset += (uint32_t)(dot + 1 - text);
	return at;
}

static void tell_mention(struct naming *n, const struct sql_mention *m)
{
	const struct sql_table *t = m->table;
	if (m->column == SQL_NO_COLUMN) {
		add_table(&n->words, t);
		tell(n, m->at);
		return;
	}
	assert(m->column < t->column_count);
	text_format(&n->words, "```\n%s.", t->name);
	add_column(&n->words, t, m->column);
	text_string(&n->words, "\n```");
	tell(n, behind_dot(&n->image->all, m->at, t->columns[m->column].name));
}

/* ---- Statements ---- */

static void add_statements(struct text *words, const char *what,
                           const char *name, const struct sql_item *items,
                           uint32_t count)
{
	text_format(words, "```\n%s %s", what, name);
	for (uint32_t i = 0; i < count; i++) {
		text_string(words, "\n    ");
		sql_dump_statement(words, items[i].statement);
	}
	text_string(words, "\n```");
}

static bool ends(const struct sql_statement *s)
{
	return s->kind == STATEMENT_COMMIT || s->kind == STATEMENT_ROLLBACK;
}

static void tell_statement(struct naming *n, const struct sql_session *s,
                           uint32_t i)
{
	const struct sql_statement *x = s->items[i].statement;
	uint32_t end = i;
	if (x->kind == STATEMENT_BEGIN) {
		while (end + 1 < s->count && !ends(s->items[end].statement))
			end++;
		add_statements(&n->words, "transaction of", s->name,
		               s->items + i, end + 1 - i);
	} else {
		text_string(&n->words, "```\n");
		sql_dump_statement(&n->words, x);
		text_string(&n->words, "\n```");
	}
	tell(n, x->at);
}

/* The statements from number i on that are of the same step. */
static uint32_t step_length(const struct sql_session *s, uint32_t i)
{
	uint32_t end = i;
	while (end < s->count && s->items[end].step == s->items[i].step) end++;
	return end - i;
}

static void tell_session(struct naming *n, const struct sql_session *s)
{
	const struct sql_step_result *steps = n->image->catalog.steps;
	add_statements(&n->words, "session", s->name, s->items, s->count);
	tell(n, s->at);
	for (uint32_t i = 0; i < s->count; i += step_length(s, i)) {
		uint32_t step = s->items[i].step;
		if (step == SQL_NO_STEP) continue;
		add_statements(&n->words, "step", steps[step].name,
		               s->items + i, step_length(s, i));
		tell(n, steps[step].at);
	}
	for (uint32_t i = 0; i < s->count; i++) tell_statement(n, s, i);
}

void sql_names(const struct program *p, sql_on_name *on, void *data)
{
	struct sql_image *image = sql_image_of(p->library);
	const struct sql_catalog *c = &image->catalog;
	struct naming n = { .image = image, .on = on, .data = data };
	assert(p->sql && c->notes_names);
	for (uint32_t i = 0; i < c->table_count; i++) {
		add_table(&n.words, c->tables[i]);
		tell(&n, c->tables[i]->at);
	}
	for (uint32_t i = 0; i < c->mention_count; i++)
		tell_mention(&n, &c->mentions[i]);
	for (uint32_t i = 0; i < image->session_count; i++)
		tell_session(&n, &image->sessions[i]);
	text_free(&n.words);
}
