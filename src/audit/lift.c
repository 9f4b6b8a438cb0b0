#include "audit/lift.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"
#include "compile/load.h"
#include "lang/source.h"
#include "sql/arguments.h"
#include "vm/program.h"

/* ---- which column a literal is about ---- */

static uint32_t find_column(const struct audit *a, const struct shape *s,
                            const struct sql_words *w, uint32_t i)
{
	const struct sql_word *x = &w->items[i];
	struct text name = { 0 };
	uint32_t column = CATALOG_NONE;
	if (x->kind == WORD_NAME)
		text_bytes(&name, w->text + x->at, x->length);
	else if (x->kind == WORD_QUOTED && x->length > 2)
		text_bytes(&name, w->text + x->at + 1, x->length - 2);
	for (uint32_t p = 0;
	     p < s->place_count && name.length && column == CATALOG_NONE; p++)
		column = catalog_find_column(&a->catalog, s->tables[p],
		                             text_get(&name));
	text_free(&name);
	return column;
}

/* Of the values of an INSERT: the column that stands at its place. */
static uint32_t inserted_column(const struct audit *a, const struct shape *s,
                                const struct sql_words *w, uint32_t literal)
{
	uint32_t at = 0, names, values, n = 0;
	int depth = 0;
	while (at < w->count && !word_is(w, at, "(")) at++;
	names = at + 1;
	while (at < w->count && !word_is(w, at, "VALUES")) at++;
	values = at + 1;
	if (values >= literal || names >= at) return CATALOG_NONE;
	for (uint32_t i = values; i < literal; i++) {
		depth += word_is(w, i, "(") - word_is(w, i, ")");
		n += depth == 1 && word_is(w, i, ",");
		if (!depth) n = 0; /* the next row */
	}
	for (uint32_t i = names; depth == 1 && i < at; i++) {
		if (!n) return find_column(a, s, w, i);
		n -= word_is(w, i, ",");
	}
	return CATALOG_NONE;
}

/* CATALOG_NONE: it is not known. */
static uint32_t column_of(const struct audit *a, const struct shape *s,
                          const struct sql_words *w, uint32_t literal)
{
	uint32_t i = literal;
	if (word_is(w, 0, "INSERT")) {
		uint32_t c = inserted_column(a, s, w, literal);
		if (c != CATALOG_NONE) return c;
	}
	while (i && w->items[i - 1].kind == WORD_SIGN &&
	       strchr("=<>!+-*/", w->text[w->items[i - 1].at]))
		i--;
	if (i == literal && i > 2 && word_is(w, i - 1, "(") &&
	    word_is(w, i - 2, "IN"))
		i -= 2;
	else if (i == literal && i > 1 && word_is(w, i - 1, "LIKE"))
		i--;
	return i && i < literal ? find_column(a, s, w, i - 1) : CATALOG_NONE;
}

/* ---- types ---- */

static bool is_quoted(const char *literal)
{
	return literal[0] && strchr(literal, '\'');
}

static const char *type_of_literal(const char *literal)
{
	if (is_quoted(literal)) return "text";
	if (strpbrk(literal, ".eE")) return "numeric";
	return strlen(literal) > 9 ? "bigint" : "integer";
}

/* The word is in a row of VALUES behind the first: templates leave these out.
 */
static void note_fixed(struct lifted_statement *r, const struct audit *a,
                       const struct shape *s, const struct sql_words *w,
                       uint32_t i)
{
	if (!word_is_literal(w, i) || !word_is(w, 0, "INSERT")) return;
	uint32_t column = inserted_column(a, s, w, i);
	if (column == CATALOG_NONE) return;
	VEC_RESERVE(r->fixed, r->fixed_count, r->fixed_capacity);
	r->fixed[r->fixed_count++] =
		(struct lifted_fixed){ w->items[i].at, w->items[i].length,
		                       column };
}

struct lifted_statement lift_statement(const struct audit *a,
                                       const struct class_statement *t)
{
	const struct template *x = &a->classes.templates.items[t->template];
	const struct shape *s = &a->classes.templates.shapes[t->shape];
	struct lifted_statement r = { .of = t, .form = x };
	struct sql_words w = { 0 };
	bool condition = false;
	r.columns = mem_take(t->literal_count * sizeof *r.columns + 1);
	r.equal = mem_take(t->literal_count * sizeof *r.equal + 1);
	words_read(&w, x->sql, strlen(x->sql), false);
	for (uint32_t i = 0, k = 0; i < w.count; i++) {
		condition |= word_is(&w, i, "WHERE") || word_is(&w, i, "ON");
		if (k == t->literal_count ||
		    w.items[i].at != x->literals[k].at) {
			r.open |= word_is_literal(&w, i);
			note_fixed(&r, a, s, &w, i);
			continue;
		}
		r.columns[k] = column_of(a, s, &w, i);
		r.equal[k++] =
			condition && i &&
			(word_is(&w, i - 1, "=") || word_is(&w, i - 1, "("));
	}
	words_free(&w);
	return r;
}

void lift_statement_free(struct lifted_statement *s)
{
	free(s->columns);
	free(s->equal);
	free(s->fixed);
}

/* The type that has room for the literal as well, of numbers; two names each.
 */
static const char *wider(const char *type, const char *literal)
{
	static const char *const numbers[] = { "int2",    "smallint", "integer",
		                               "int4",    "bigint",   "int8",
		                               "numeric", NULL };
	const char *own = type_of_literal(literal);
	int have = 0, need = 0;
	while (numbers[have] && strcmp(numbers[have], type)) have++;
	while (numbers[need] && strcmp(numbers[need], own)) need++;
	return numbers[have] && numbers[need] && need / 2 > have / 2 ? own
	                                                             : type;
}

static void infer_types(struct audit *a, const struct transaction_class *x)
{
	for (uint32_t i = 0; i < x->count; i++) {
		struct lifted_statement r =
			lift_statement(a, &x->statements[i]);
		for (uint32_t k = 0; k < r.of->literal_count; k++) {
			const struct class_literal *l =
				&x->literals[r.of->first_literal + k];
			if (r.columns[k] == CATALOG_NONE || !l->first) continue;
			struct audit_column *c =
				&a->catalog.columns[r.columns[k]];
			const char *text = x->texts + l->text;
			if (!c->type)
				c->type = type_of_literal(text);
			else if (!a->catalog.tables[c->table].told)
				c->type = wider(c->type, text);
		}
		lift_statement_free(&r);
	}
}

void lift_types(struct audit *a)
{
	for (uint32_t i = 0; i < a->classes.count; i++)
		infer_types(a, &a->classes.items[i]);
}

static bool is_text(const struct audit *a, uint32_t column)
{
	const char *type =
		column == CATALOG_NONE ? NULL : a->catalog.columns[column].type;
	return type && !strcmp(type, "text");
}

/* MySQL compares numbers with strings. */
static void put_literal(struct text *out, const char *literal, bool as_text)
{
	bool quote = as_text && *literal && !is_quoted(literal);
	text_format(out, quote ? "'%s'" : "%s", *literal ? literal : "NULL");
}

void lift_literal(struct text *out, const struct audit *a, const char *literal,
                  uint32_t column)
{
	put_literal(out, literal, is_text(a, column));
}

/* ---- functions ---- */

struct parameter {
	const char *type;
	const char *first; /* its text in the first instance */
};

struct function {
	const struct transaction_class *of;
	bool careful; /* for a proof */
	struct lifted_statement *statements;
	uint32_t *number; /* of each literal: its parameter, from 1; or 0 */
	struct parameter *parameters;
	uint32_t count;
};

/* May it be another value in another instance? What was seen once, or not at
 * all, may. */
static bool is_parameter(const struct function *f, uint32_t literal)
{
	const struct class_literal *l = &f->of->literals[literal];
	return l->varied ||
	       (f->careful && (f->of->instances == 1 || !l->first));
}

/* Equal in every instance; what was seen once is equal by chance. */
static uint32_t equal_parameter(const struct function *f, uint32_t literal)
{
	uint32_t group = f->of->literals[literal].group;
	assert(group <= literal && literal < f->of->literal_count);
	return f->careful && f->of->instances == 1 ? 0 : f->number[group];
}

static void add_parameter(const struct audit *a, struct function *f,
                          uint32_t literal, uint32_t column)
{
	const struct class_literal *l = &f->of->literals[literal];
	uint32_t n = equal_parameter(f, literal);
	if (!n) {
		n = ++f->count;
		f->parameters[n - 1] =
			(struct parameter){ .first = f->of->texts + l->text };
	}
	f->number[literal] = n;
	struct parameter *p = &f->parameters[n - 1];
	if (!p->type && column != CATALOG_NONE)
		p->type = a->catalog.columns[column].type;
	if (p->type) p->type = wider(p->type, p->first);
}

static void read_function(struct function *f, const struct audit *a,
                          const struct transaction_class *x)
{
	*f = (struct function){ .of = x, .careful = a->options.proves };
	f->statements = mem_take(x->count * sizeof *f->statements);
	f->number = mem_take0(x->literal_count + 1, sizeof *f->number);
	f->parameters = mem_take0(x->literal_count + 1, sizeof *f->parameters);
	for (uint32_t i = 0; i < x->count; i++) {
		struct lifted_statement *s = &f->statements[i];
		*s = lift_statement(a, &x->statements[i]);
		for (uint32_t k = 0; k < s->of->literal_count; k++)
			if (is_parameter(f, s->of->first_literal + k))
				add_parameter(a, f, s->of->first_literal + k,
				              s->columns[k]);
	}
	for (uint32_t i = 0; i < f->count; i++)
		if (!f->parameters[i].type)
			f->parameters[i].type =
				type_of_literal(f->parameters[i].first);
}

static void free_function(struct function *f)
{
	for (uint32_t i = 0; i < f->of->count; i++)
		lift_statement_free(&f->statements[i]);
	free(f->statements);
	free(f->number);
	free(f->parameters);
}

static void print_statement(struct text *out, const struct audit *a,
                            const struct function *f,
                            const struct lifted_statement *s)
{
	uint32_t from = 0;
	text_string(out, "  ");
	for (uint32_t k = 0; k < s->of->literal_count; k++) {
		const struct template_literal *at = &s->form->literals[k];
		uint32_t literal = s->of->first_literal + k;
		const struct class_literal *l = &f->of->literals[literal];
		assert(from <= at->at);
		text_bytes(out, s->form->sql + from, at->at - from);
		if (f->number[literal])
			text_format(out, "p%u", f->number[literal]);
		else
			lift_literal(out, a, f->of->texts + l->text,
			             s->columns[k]);
		from = at->at + at->length;
	}
	text_format(out, "%s;\n", s->form->sql + from);
}

/* "$lifted$", or one that the body does not have. */
static void print_tag(struct text *tag, const struct text *body)
{
	text_string(tag, "$lifted$");
	for (unsigned i = 1;
	     memmem(text_get(body), body->length, text_get(tag), tag->length);
	     i++) {
		text_clear(tag);
		text_format(tag, "$lifted%u$", i);
	}
}

static void print_function(struct text *out, const struct audit *a,
                           uint32_t class, const struct function *f)
{
	struct text body = { 0 }, tag = { 0 };
	for (uint32_t i = 0; i < f->of->count; i++)
		print_statement(&body, a, f, &f->statements[i]);
	print_tag(&tag, &body);
	text_format(out, "CREATE FUNCTION t%u(", class + 1);
	for (uint32_t i = 0; i < f->count; i++)
		text_format(out, "%sp%u %s", i ? ", " : "", i + 1,
		            f->parameters[i].type);
	text_format(out, ") RETURNS void LANGUAGE sql AS %s\n%s%s;\n",
	            text_get(&tag), text_get(&body), text_get(&tag));
	text_free(&body);
	text_free(&tag);
}

/* As its first instance called it. */
static void print_call(struct text *out, uint32_t class,
                       const struct function *f)
{
	text_format(out, "SELECT t%u(", class + 1);
	for (uint32_t i = 0; i < f->count; i++) {
		const struct parameter *p = &f->parameters[i];
		if (i) text_string(out, ", ");
		put_literal(out, p->first, !strcmp(p->type, "text"));
	}
	text_char(out, ')');
}

/* ---- for proofs ---- */

/* Why it may do less than an instance; NULL: it does not. */
static char *doubt(const struct audit *a, const struct function *f)
{
	struct text t = { 0 };
	for (uint32_t i = 0; i < f->of->count; i++) {
		const struct lifted_statement *s = &f->statements[i];
		if (!s->open && !s->of->varied) continue;
		text_format(&t, "the statement at %s:%u ",
		            a->options.logs[s->of->file], s->of->line);
		text_string(&t, s->open ? "has a list or rows of any number"
		                        : "is written in several ways");
		break;
	}
	return t.data;
}

struct literal_of {
	const struct lifted_statement *statement;
	uint32_t k;
};

static struct literal_of literal_of(const struct function *f, uint32_t literal)
{
	uint32_t i = 0;
	while (f->statements[i].of->first_literal +
	               f->statements[i].of->literal_count <=
	       literal)
		i++;
	const struct lifted_statement *s = &f->statements[i];
	return (struct literal_of){ s, literal - s->of->first_literal };
}

/* "stock.id at shop.log:17" */
static void name_literal(struct text *t, const struct audit *a,
                         struct literal_of l)
{
	uint32_t column = l.statement->columns[l.k];
	if (column == CATALOG_NONE) {
		text_format(t, "value %u", l.k + 1);
	} else {
		const struct audit_column *c = &a->catalog.columns[column];
		text_format(t, "%s.%s", a->catalog.tables[c->table].name,
		            c->name);
	}
	text_format(t, " at %s:%u", a->options.logs[l.statement->of->file],
	            l.statement->of->line);
}

static void assume(struct lifted *out, const struct audit *a, uint32_t class,
                   const struct function *f, uint32_t literal)
{
	const struct class_literal *l = &f->of->literals[literal];
	struct literal_of of = literal_of(f, literal);
	struct text t = { 0 };
	uint32_t n = f->number[literal], first = 0;
	while (n && f->number[first] != n) first++;
	if (n && first == literal) return;
	text_format(&t, "T%u: ", class + 1);
	name_literal(&t, a, of);
	if (n) {
		text_string(&t, " is always equal to ");
		name_literal(&t, a, literal_of(f, first));
	} else {
		text_string(&t, " is always ");
		lift_literal(&t, a, f->of->texts + l->text,
		             of.statement->columns[of.k]);
	}
	VEC_RESERVE(out->assumed, out->assumed_count, out->assumed_capacity);
	out->assumed[out->assumed_count++] = t.data;
}

/* ---- tables ---- */

bool lift_has_column(const struct audit *a, uint32_t column)
{
	char first = a->catalog.columns[column].name[0];
	return first != '*' && first != '(';
}

static void print_key(struct text *out, const struct audit *a,
                      const struct audit_key *key, bool primary)
{
	text_format(out, ",\n  %s (", primary ? "PRIMARY KEY" : "UNIQUE");
	for (uint32_t i = 0; i < key->count; i++)
		text_format(out, "%s\"%s\"", i ? ", " : "",
		            a->catalog.columns[key->columns[i]].name);
	text_char(out, ')');
}

static void print_table(struct text *out, const struct audit *a, uint32_t table)
{
	const struct audit_table *t = &a->catalog.tables[table];
	bool any = false;
	text_format(out, "CREATE TABLE \"%s\" (", t->name);
	for (uint32_t i = 0; i < t->column_count; i++) {
		const struct audit_column *c =
			&a->catalog.columns[t->columns[i]];
		if (!lift_has_column(a, t->columns[i])) continue;
		/* The database numbers its rows. */
		bool serial = t->key_count && t->keys[0].count == 1 &&
		              t->keys[0].columns[0] == t->columns[i] &&
		              c->type && strstr(c->type, "int");
		text_format(out, "%s\n  \"%s\" %s%s", any ? "," : "", c->name,
		            c->type ? c->type : "text",
		            serial ? " GENERATED BY DEFAULT AS IDENTITY" : "");
		any = true;
	}
	for (uint32_t i = 0; any && i < t->key_count; i++)
		print_key(out, a, &t->keys[i], !i);
	text_string(out, "\n);\n");
}

/* Those of the schema as they are, others as the log has them. */
void lift_tables(struct text *out, const struct audit *a)
{
	if (a->catalog.sql.length)
		text_format(out, "%s\n", text_get(&a->catalog.sql));
	for (uint32_t i = 0; i < a->catalog.table_count; i++)
		if (!a->catalog.tables[i].told || !a->catalog.sql.length)
			print_table(out, a, i);
}

/* ---- all of it ---- */

/* Why the program cannot be loaded; NULL: it can. */
static char *refusal(const struct text *program)
{
	static const char *const sessions[] = { "s: SELECT 1", NULL };
	struct load_text text = { "lifted.sql", text_get(program),
		                  program->length };
	struct sql_arguments given = { .sessions = sessions };
	struct load_edited edited = { .texts = &text,
		                      .count = 1,
		                      .given = &given };
	struct diags d = { 0 };
	char *why = NULL;
	struct program *p = load_program_edited(text.path, &edited, &d);
	for (uint32_t i = 0; !p && i < d.count && !why; i++)
		if (d.items[i].kind == DIAG_ERROR)
			why = mem_copy_string(d.items[i].message);
	if (!p && !why) why = mem_copy_string("it cannot be loaded");
	program_free(p);
	diags_free(&d);
	return why;
}

static void lift_class(struct lifted *out, const struct audit *a,
                       const struct text *tables, uint32_t class)
{
	const struct transaction_class *x = &a->classes.items[class];
	struct text alone = { 0 }, call = { 0 };
	struct function f;
	read_function(&f, a, x);
	text_bytes(&alone, text_get(tables), tables->length);
	print_function(&alone, a, class, &f);
	print_call(&call, class, &f);
	out->refused[class] = f.careful ? doubt(a, &f) : NULL;
	if (!out->refused[class]) out->refused[class] = refusal(&alone);
	text_format(&out->program, "\n-- T%u, %s:%u: ", class + 1,
	            a->options.logs[x->file], x->line);
	if (out->refused[class]) {
		text_format(&out->program, "left out: %s\n",
		            out->refused[class]);
	} else {
		text_format(&out->program, "%s\n%s", text_get(&call),
		            text_get(&alone) + tables->length);
		out->functions++;
		for (uint32_t i = 0; f.careful && i < x->literal_count; i++)
			assume(out, a, class, &f, i);
	}
	free_function(&f);
	text_free(&alone);
	text_free(&call);
}

void lift(struct lifted *out, struct audit *a)
{
	struct text tables = { 0 };
	assert(a->classes.templates.keeps_sql);
	*out = (struct lifted){ .count = a->classes.count };
	out->refused = mem_take0(out->count + 1, sizeof *out->refused);
	lift_types(a);
	lift_tables(&tables, a);
	text_bytes(&out->program, text_get(&tables), tables.length);
	for (uint32_t i = 0; i < out->count && !limit_reached(&a->limit); i++)
		lift_class(out, a, &tables, i);
	text_free(&tables);
}

void lift_free(struct lifted *l)
{
	for (uint32_t i = 0; i < l->count; i++) free(l->refused[i]);
	for (uint32_t i = 0; i < l->assumed_count; i++) free(l->assumed[i]);
	free(l->refused);
	free(l->assumed);
	text_free(&l->program);
}
