/* A client in SQL: a specification with the program as set-up, the rows that
 * are read at first, and a session for each instance. */
#include "prove/sql_client.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "prove/client.h"
#include "sql/image.h"
#include "sql/resolve.h"

/* A row of set-up: texts of its columns. */
struct client_row {
	const struct sql_table *table;
	char **columns; /* NULL: not given */
};

struct sql_client {
	struct text *out;
	const struct instances *x;
	Z3_model m;
	struct client_row *rows;
	uint32_t count, capacity;
};

/* ---- values ---- */

static void print_quoted(struct text *out, const char *s)
{
	text_char(out, '\'');
	for (; *s; s++) {
		if (*s == '\'') text_char(out, '\'');
		text_char(out, *s);
	}
	text_char(out, '\'');
}

/* Number n of the values of a type that has no numbers. */
static void print_other(struct text *out, struct sql_type t, uint64_t n)
{
	switch (t.kind) {
	case SQL_BOOL: text_string(out, n % 2 ? "true" : "false"); return;
	case SQL_INT2:
	case SQL_INT4:
	case SQL_INT8:
	case SQL_NUMERIC: text_format(out, "%" PRIu64, n % 10000); return;
	case SQL_DATE:
		text_format(out, "'%04" PRIu64 "-01-01'", 2000 + n % 1000);
		return;
	case SQL_TIMESTAMP:
	case SQL_TIMESTAMPTZ:
		text_format(out, "'%04" PRIu64 "-01-01 00:00:00'",
		            2000 + n % 1000);
		return;
	case SQL_INTERVAL:
		text_format(out, "'%" PRIu64 " days'", n % 1000);
		return;
	case SQL_UUID:
		text_format(out, "'00000000-0000-0000-0000-%012" PRIx64 "'",
		            n % (UINT64_C(1) << 40));
		return;
	case SQL_ENUM:
		print_quoted(out, t.labels->labels[n % t.labels->count]);
		return;
	case SQL_ARRAY:
		text_format(out, "ARRAY[]::%s[]", sql_kind_name(t.element));
		return;
	default:
		if (t.length == 1)
			text_format(out, "'%c'", (char)('a' + n % 26));
		else
			text_format(out, "'v%" PRIu64 "'", n);
	}
}

static bool is_text(enum sql_kind k)
{
	return sql_is_string(k) || k == SQL_ENUM || k == SQL_DATE ||
	       k == SQL_TIMESTAMP || k == SQL_UUID;
}

static void print_value(struct text *out, const struct instances *x, Z3_model m,
                        struct term v, struct sql_type t)
{
	int64_t tag = client_number(x, m, v.tag);
	int64_t n = client_number(x, m, v.number);
	uint64_t some = n < 0 ? 2 * -(uint64_t)n + 1 : 2 * (uint64_t)n;
	bool string = tag == VALUE_STRING && n >= 0 &&
	              n < x->app->constant_count &&
	              x->app->constants[n].tag == VALUE_STRING;
	if (tag == VALUE_NULL)
		text_string(out, "NULL");
	else if (tag == VALUE_BOOL && t.kind == SQL_BOOL)
		text_string(out, n ? "true" : "false");
	else if (tag == VALUE_INT && sql_is_integer(t.kind))
		text_format(out, n < 0 ? "(%" PRId64 ")" : "%" PRId64, n);
	else if (string && is_text(t.kind))
		print_quoted(out, x->app->constants[n].o->bytes);
	else
		print_other(out, t, some);
}

/* ---- rows ---- */

static bool is_key(const struct sql_table *t, uint32_t column)
{
	for (uint32_t i = 0; t->primary && i < t->primary->count; i++)
		if (t->primary->columns[i] == column) return true;
	return false;
}

static bool same_columns(char *const *a, const uint32_t *of_a, char *const *b,
                         const uint32_t *of_b, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		const char *s = a[of_a ? of_a[i] : i], *t = b[of_b[i]];
		if (!s || !t || strcmp(s, t) != 0) return false;
	}
	return true;
}

/* The row of this key, which is as the columns that are named there. */
static bool has_row(const struct sql_client *c, const struct sql_table *t,
                    char *const *columns, const uint32_t *named)
{
	const struct sql_unique *u = t->primary;
	for (uint32_t i = 0; u && i < c->count; i++)
		if (c->rows[i].table == t &&
		    same_columns(columns, named, c->rows[i].columns, u->columns,
		                 u->count))
			return true;
	return false;
}

static char **new_row(struct sql_client *c, const struct sql_table *t)
{
	VEC_RESERVE(c->rows, c->count, c->capacity);
	struct client_row *row = &c->rows[c->count++];
	row->table = t;
	row->columns =
		mem_take0(t->column_count + (size_t)1, sizeof *row->columns);
	return row->columns;
}

static void drop_row(struct sql_client *c)
{
	struct client_row *row = &c->rows[--c->count];
	for (uint32_t i = 0; i < row->table->column_count; i++)
		free(row->columns[i]);
	free(row->columns);
}

static char *value_text(const struct sql_client *c, struct term v,
                        struct sql_type t)
{
	struct text text = { 0 };
	print_value(&text, c->x, c->m, v, t);
	char *copy = mem_copy_string(text_get(&text));
	text_free(&text);
	return copy;
}

static const struct sql_table *table_of(const struct instances *x,
                                        uint32_t family)
{
	const struct sql_catalog *all = &x->app->image->catalog;
	for (uint32_t i = 0; i < all->table_count; i++)
		if (!strcmp(all->tables[i]->name,
		            x->app->families[family].name))
			return all->tables[i];
	return NULL;
}

/* What an access has read of what is there at first. */
static void add_read(struct sql_client *c, const struct instance *i,
                     const struct access *a)
{
	const struct sql_table *t = table_of(c->x, a->family);
	uint32_t part = 1;
	if (!t ||
	    !client_number(c->x, c->m, i->nodes[a->values[0]].value.number))
		return;
	char **columns = new_row(c, t);
	for (uint32_t k = 0; k < t->column_count; k++) {
		if (is_key(t, k)) continue;
		struct term v = i->nodes[a->values[part++]].value;
		if (!t->columns[k].made)
			columns[k] = value_text(c, v, t->columns[k].type);
	}
	for (uint32_t k = 0; t->primary && k < t->primary->count; k++) {
		uint32_t column = t->primary->columns[k];
		columns[column] = value_text(c, i->nodes[a->indexes[k]].value,
		                             t->columns[column].type);
	}
	c->count--; /* is it new? */
	bool known = t->primary && has_row(c, t, columns, t->primary->columns);
	c->count++;
	if (known) drop_row(c);
}

/* Rows that others refer to. */
static void add_referred(struct sql_client *c, uint32_t row)
{
	const struct sql_table *t = c->rows[row].table;
	for (const struct sql_foreign *f = t->foreigns; f; f = f->next_from) {
		char **from = c->rows[row].columns;
		bool null = f->unique != 0;
		for (uint32_t i = 0; i < f->count; i++)
			null |= !from[f->columns[i]] ||
			        !strcmp(from[f->columns[i]], "NULL");
		if (null || has_row(c, f->to, from, f->columns)) continue;
		char **to = new_row(c, f->to);
		from = c->rows[row].columns;
		for (uint32_t i = 0; i < f->count; i++)
			to[f->to_columns[i]] =
				mem_copy_string(from[f->columns[i]]);
		for (uint32_t i = 0; i < f->to->column_count; i++) {
			struct text value = { 0 };
			if (to[i] || f->to->columns[i].made) continue;
			print_other(&value, f->to->columns[i].type, c->count);
			to[i] = mem_copy_string(text_get(&value));
			text_free(&value);
		}
	}
}

static void print_name(struct text *out, const char *name)
{
	bool plain = *name < '0' || *name > '9';
	for (const char *s = name; *s && plain; s++)
		plain = (*s >= 'a' && *s <= 'z') || *s == '_' ||
		        (*s >= '0' && *s <= '9');
	text_format(out, plain ? "%s" : "\"%s\"", name);
}

static void print_row(struct sql_client *c, const struct client_row *row)
{
	const struct sql_table *t = row->table;
	const char *between = " (";
	bool always = false;
	text_string(c->out, "  INSERT INTO ");
	print_name(c->out, t->name);
	for (uint32_t i = 0; i < t->column_count; i++) {
		if (!row->columns[i]) continue;
		text_string(c->out, between);
		print_name(c->out, t->columns[i].name);
		always |= t->columns[i].always;
		between = ", ";
	}
	text_format(c->out, ") %sVALUES ",
	            always ? "OVERRIDING SYSTEM VALUE " : "");
	between = "(";
	for (uint32_t i = 0; i < t->column_count; i++) {
		if (!row->columns[i]) continue;
		text_format(c->out, "%s%s", between, row->columns[i]);
		between = ", ";
	}
	text_string(c->out, ");\n");
}

/* In place of those that the program has. */
static void print_rows(struct sql_client *c)
{
	const struct sql_catalog *all = &c->x->app->image->catalog;
	for (uint32_t a = 0; a < c->x->count; a++) {
		const struct instance *t = &c->x->items[a];
		for (uint32_t i = 0; i < t->s->access_count; i++) {
			const struct access *r = &t->s->accesses[i];
			if (!r->write &&
			    client_true(c->x, c->m,
			                t->nodes[r->happens].truth) &&
			    !client_number(c->x, c->m, t->source[i]))
				add_read(c, t, r);
		}
	}
	for (uint32_t i = 0; i < c->count; i++) add_referred(c, i);
	text_string(c->out, "setup {\n");
	for (uint32_t i = 0; i < all->table_count; i++) {
		text_string(c->out, i ? ", " : "  TRUNCATE ");
		print_name(c->out, all->tables[i]->name);
	}
	if (all->table_count) text_string(c->out, ";\n");
	for (uint32_t t = 0; t < all->table_count; t++)
		for (uint32_t i = 0; i < c->count; i++)
			if (c->rows[i].table == all->tables[t])
				print_row(c, &c->rows[i]);
	text_string(c->out, "}\n");
	while (c->count) drop_row(c);
	free(c->rows);
}

/* ---- the whole ---- */

void sql_client_call(struct text *out, const struct instances *x, Z3_model m,
                     uint32_t i)
{
	const struct instance *t = &x->items[i];
	const struct sql_routine *r = t->s->routine;
	if (t->s->span) {
		text_string(out, t->s->name);
		return;
	}
	print_name(out, t->s->name);
	text_char(out, '(');
	for (uint32_t p = 0; p < t->s->param_count; p++) {
		if (p) text_string(out, ", ");
		/* Parameters are the first nodes. */
		assert(t->s->nodes[TRUE_NODE + 1 + p].op == NODE_PARAMETER);
		print_value(out, x, m, t->nodes[TRUE_NODE + 1 + p].value,
		            r->parameters[p]);
	}
	text_char(out, ')');
}

/* With the level, if it has one of its own. */
static void print_begin(struct text *out, own_level own)
{
	text_string(out, "BEGIN");
	if (own)
		text_format(out, " ISOLATION LEVEL %s",
		            sql_level_words(level_word((enum level)(own - 1))));
	text_string(out, "; ");
}

/* The text of a statement, of which only levels that count are said. */
static void print_statement(struct text *out, const struct instances *x,
                            const struct sql_statement *s, own_level own)
{
	const struct source *from = &x->app->image->all.items[s->at.source];
	bool said = own && !x->app->allocated;
	if (s->kind == STATEMENT_BEGIN && !said) {
		print_begin(out, own);
		return;
	}
	if (s->kind == STATEMENT_SET_TRANSACTION && !said) return;
	assert(s->at.offset < s->end && s->end <= from->length);
	text_bytes(out, from->text + s->at.offset, s->end - s->at.offset);
	text_string(out, "; ");
}

/* In a block each statement is a step, so that what ends it is met after an
 * error, too. */
static void print_span(struct text *out, const struct instances *x,
                       const struct sql_span *t, own_level own,
                       const char *name, uint32_t number)
{
	bool whole = false; /* the first step is, with all up to BEGIN */
	uint32_t part = 1;
	text_format(out, "step %s_%" PRIu32 " { ", name, number);
	if (!t->block && x->app->allocated) {
		print_begin(out, own);
		whole = true;
	}
	for (uint32_t i = t->first; i < t->end; i++) {
		if (whole)
			text_format(out,
			            "}\nstep %s_%" PRIu32 "_%" PRIu32 " { ",
			            name, number, ++part);
		const struct sql_statement *s = t->session->items[i].statement;
		print_statement(out, x, s, own);
		whole |= s->kind == STATEMENT_BEGIN;
	}
	if (!t->block && x->app->allocated)
		text_format(out,
		            "}\nstep %s_%" PRIu32 "_%" PRIu32 " { COMMIT; ",
		            name, number, ++part);
	text_string(out, "}\n");
}

void sql_client_steps(struct text *out, const struct instances *x, Z3_model m,
                      uint32_t i, const char *name, uint32_t number)
{
	const struct summary *s = x->items[i].s;
	const struct sql_routine *r = s->routine;
	if (s->span) {
		print_span(out, x, s->span, s->own, name, number);
		return;
	}
	text_format(out, "step %s_%" PRIu32 " { ", name, number);
	if (x->app->allocated) {
		print_begin(out, s->own);
		text_format(out, "}\nstep %s_%" PRIu32 "_2 { ", name, number);
	}
	text_string(out, r->procedure             ? "CALL "
	                 : r->set || r->composite ? "SELECT * FROM "
	                                          : "SELECT ");
	sql_client_call(out, x, m, i);
	text_string(out, "; }\n");
	if (x->app->allocated)
		text_format(out, "step %s_%" PRIu32 "_3 { COMMIT; }\n", name,
		            number);
}

/* A brace would end the block: it is that of a file. */
static void print_setup(struct text *out, const struct sources *all,
                        const struct spec_block *b)
{
	char *text = spec_block_text(all, b);
	const char *path = all->items[b->at.source].path;
	if (strchr(text, '}')) {
		char *real = realpath(path, NULL);
		text_format(out, "setup \"%s\"\n", real ? real : path);
		free(real);
	} else {
		text_format(out, "setup {\n%s\n}\n", text);
	}
	free(text);
}

void sql_client_setup(struct text *out, const struct instances *x, Z3_model m,
                      bool own_values)
{
	const struct sql_image *image = x->app->image;
	struct sql_client c = { .out = out, .x = x, .m = m };
	for (uint32_t i = 0; i < image->setup_count; i++)
		print_setup(out, &image->all, &image->setups[i]);
	if (own_values) print_rows(&c);
}
