#include "audit/catalog.h"

#include <assert.h>
#include <ctype.h>
#include <jansson.h>
#include <string.h>
#include <strings.h>

#include "audit/words.h"
#include "base/hash.h"
#include "base/memory.h"
#include "sql/resolve_parts.h"

enum { NAME_MOST = 255 };

void catalog_init(struct catalog *c)
{
	*c = (struct catalog){ 0 };
	region_init(&c->region);
	table_init(&c->tables_by_name, 64);
	table_init(&c->columns_by_name, 256);
}

void catalog_free(struct catalog *c)
{
	for (uint32_t t = 0; t < c->table_count; t++) {
		free(c->tables[t].columns);
		free(c->tables[t].keys);
	}
	free(c->tables);
	free(c->columns);
	table_free(&c->tables_by_name);
	table_free(&c->columns_by_name);
	text_free(&c->sql);
	region_free(&c->region);
}

static size_t lower(char to[NAME_MOST + 1], const char *name)
{
	size_t n = 0;
	for (; name[n] && n < NAME_MOST; n++)
		to[n] = (char)tolower((unsigned char)name[n]);
	to[n] = 0;
	return n;
}

static uint32_t look_table(const struct catalog *c, const char *name,
                           size_t length, struct table_probe *p)
{
	uint32_t i;
	*p = table_probe(hash_bytes(1, name, length));
	while ((i = table_next(&c->tables_by_name, p)) != TABLE_NONE)
		if (!strcmp(c->tables[i].name, name)) return i;
	return CATALOG_NONE;
}

uint32_t catalog_find_table(const struct catalog *c, const char *name)
{
	char low[NAME_MOST + 1];
	struct table_probe p;
	size_t n = lower(low, name);
	return look_table(c, low, n, &p);
}

uint32_t catalog_table(struct catalog *c, const char *name)
{
	char low[NAME_MOST + 1];
	struct table_probe p;
	size_t n = lower(low, name);
	uint32_t i = look_table(c, low, n, &p);
	if (i != CATALOG_NONE) return i;
	VEC_RESERVE(c->tables, c->table_count, c->table_capacity);
	i = c->table_count++;
	c->tables[i] = (struct audit_table){ .name = region_copy_string(
						     &c->region, low, n) };
	table_put(&c->tables_by_name, p, i);
	return i;
}

static uint32_t look_column(const struct catalog *c, uint32_t table,
                            const char *name, size_t length,
                            struct table_probe *p)
{
	uint32_t i;
	*p = table_probe(hash_bytes(table + 1, name, length));
	while ((i = table_next(&c->columns_by_name, p)) != TABLE_NONE)
		if (c->columns[i].table == table &&
		    !strcmp(c->columns[i].name, name))
			return i;
	return CATALOG_NONE;
}

uint32_t catalog_find_column(const struct catalog *c, uint32_t table,
                             const char *name)
{
	char low[NAME_MOST + 1];
	struct table_probe p;
	size_t n = lower(low, name);
	return look_column(c, table, low, n, &p);
}

/* One that `SELECT *` does not have, if it is not listed. */
static uint32_t put_column(struct catalog *c, uint32_t table, const char *name,
                           bool listed)
{
	char low[NAME_MOST + 1];
	struct table_probe p;
	size_t n = lower(low, name);
	assert(table < c->table_count);
	uint32_t i = look_column(c, table, low, n, &p);
	if (i != CATALOG_NONE) return i;
	struct audit_table *t = &c->tables[table];
	VEC_RESERVE(c->columns, c->column_count, c->column_capacity);
	i = c->column_count++;
	c->columns[i] = (struct audit_column){ .name = region_copy_string(
						       &c->region, low, n),
		                               .table = table,
		                               .weight = 1 };
	table_put(&c->columns_by_name, p, i);
	if (!listed) return i;
	VEC_RESERVE(t->columns, t->column_count, t->column_capacity);
	t->columns[t->column_count++] = i;
	return i;
}

static uint32_t add_column(struct catalog *c, uint32_t table, const char *name)
{
	return put_column(c, table, name, true);
}

uint32_t catalog_rows(struct catalog *c, uint32_t table)
{
	return put_column(c, table, "(rows)", false);
}

uint32_t catalog_column(struct catalog *c, uint32_t table, const char *name)
{
	uint32_t i = catalog_find_column(c, table, name);
	if (i != CATALOG_NONE || c->tables[table].told) return i;
	return add_column(c, table, name);
}

uint32_t catalog_logged_column(struct catalog *c, uint32_t table,
                               const char *name)
{
	return add_column(c, table, name);
}

uint32_t catalog_any_column(struct catalog *c, uint32_t table)
{
	assert(!c->tables[table].told);
	return add_column(c, table, "*");
}

bool column_is_any(const struct catalog *c, uint32_t column)
{
	assert(column < c->column_count);
	return !strcmp(c->columns[column].name, "*");
}

void catalog_add_key(struct catalog *c, uint32_t table, const uint32_t *columns,
                     uint32_t count)
{
	struct audit_table *t = &c->tables[table];
	assert(count);
	uint32_t *copy = region_take(&c->region, count * sizeof *copy);
	memcpy(copy, columns, count * sizeof *copy);
	VEC_RESERVE(t->keys, t->key_count, t->key_capacity);
	t->keys[t->key_count++] = (struct audit_key){ copy, count };
}

void name_column(struct text *t, const struct catalog *c, uint32_t column)
{
	assert(column < c->column_count);
	const struct audit_column *x = &c->columns[column];
	text_format(t, "%s.%s", c->tables[x->table].name, x->name);
}

/* ---- lines of a table of columns ---- */

enum { FIELDS = 5 };

/* Splits in place; how many there are. */
static unsigned split(char *line, char *fields[FIELDS])
{
	unsigned n = 0;
	char quote = 0;
	fields[n++] = line;
	for (char *s = line; *s; s++) {
		if (*s == '"' || *s == '\'') {
			if (!quote)
				quote = *s;
			else if (quote == *s)
				quote = 0;
		}
		/* A type may have commas: decimal(15,4), enum('a','b'). */
		if (*s == '(' && !quote) quote = ')';
		if (*s == ')' && quote == ')') quote = 0;
		if (*s != ',' || quote) continue;
		*s = 0;
		if (n == FIELDS) return n;
		fields[n++] = s + 1;
	}
	return n;
}

/* PostgreSQL's type for one of MySQL's. */
static const char *type_of(const char *mysql)
{
	static const struct {
		const char *begins, *type;
	} types[] = { { "bigint", "bigint" },      { "tinyint", "integer" },
		      { "smallint", "integer" },   { "mediumint", "integer" },
		      { "int", "integer" },        { "decimal", "numeric" },
		      { "double", "numeric" },     { "float", "numeric" },
		      { "datetime", "timestamp" }, { "timestamp", "timestamp" },
		      { "date", "date" } };
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (!strncasecmp(mysql, types[i].begins,
		                 strlen(types[i].begins)))
			return types[i].type;
	return "text";
}

static bool read_lines(struct catalog *c, const char *path, char *text,
                       struct diags *d)
{
	uint32_t number = 0, last = CATALOG_NONE, keys[64], key_count = 0;
	for (char *line = text; line && *line;) {
		char *end = strchr(line, '\n'), *f[FIELDS] = { 0 };
		if (end) *end = 0;
		number++;
		if (end && end > line && end[-1] == '\r') end[-1] = 0;
		bool empty = !*line;
		unsigned n = empty ? FIELDS : split(line, f);
		if (n < FIELDS) {
			diags_add(d, DIAG_ERROR, path, number, 0, NULL,
			          "this is no line 'table,column,type,default,"
			          "key'");
			return false;
		}
		line = end ? end + 1 : NULL;
		if (empty) continue;
		uint32_t t = catalog_table(c, f[0]);
		if (t != last && key_count)
			catalog_add_key(c, last, keys, key_count);
		if (t != last) key_count = 0;
		last = t;
		c->tables[t].told = true;
		uint32_t column = add_column(c, t, f[1]);
		c->columns[column].type = type_of(f[2]);
		if (!strcmp(f[4], "PRI") && key_count < 64)
			keys[key_count++] = column;
		if (!strcmp(f[4], "UNI")) catalog_add_key(c, t, &column, 1);
	}
	if (key_count) catalog_add_key(c, last, keys, key_count);
	return true;
}

/* ---- CREATE TABLE ---- */

/* The columns that a constraint names; 0: it has others. */
static uint32_t named(struct catalog *c, uint32_t table, json_t *keys,
                      uint32_t out[64])
{
	size_t i;
	json_t *key;
	uint32_t n = 0;
	json_array_foreach(keys, i, key)
	{
		uint32_t column = catalog_find_column(c, table, node_name(key));
		if (column == CATALOG_NONE || n == 64) return 0;
		out[n++] = column;
	}
	return n;
}

static bool is_key(json_t *constraint)
{
	const char *kind = node_string(constraint, "contype");
	return !strcmp(kind, "CONSTR_PRIMARY") ||
	       !strcmp(kind, "CONSTR_UNIQUE");
}

/* "int4", without what stands in brackets. */
static const char *named_type(struct catalog *c, json_t *column)
{
	json_t *names =
		json_object_get(json_object_get(column, "typeName"), "names");
	size_t n = json_array_size(names);
	const char *type = n ? node_name(json_array_get(names, n - 1)) : NULL;
	if (!type || !*type) return NULL;
	if (!strcmp(type, "serial")) return "integer";
	if (!strcmp(type, "bigserial")) return "bigint";
	if (!strcmp(type, "bpchar") || !strcmp(type, "varchar")) return "text";
	return region_copy_string(&c->region, type, strlen(type));
}

static void create_table(struct catalog *c, json_t *create)
{
	size_t i, k;
	json_t *element, *body, *constraint, *inner;
	uint32_t keys[64];
	json_t *relation = json_object_get(create, "relation");
	uint32_t t = catalog_table(c, node_string(relation, "relname"));
	json_t *elements = json_object_get(create, "tableElts");
	json_array_foreach(elements, i, element)
	{
		if (!node_is(element, "ColumnDef", &body)) continue;
		uint32_t column =
			add_column(c, t, node_string(body, "colname"));
		c->columns[column].type = named_type(c, body);
		json_t *constraints = json_object_get(body, "constraints");
		json_array_foreach(constraints, k,
		                   constraint) if (node_is(constraint,
		                                           "Constraint",
		                                           &inner) &&
		                                   is_key(inner))
			catalog_add_key(c, t, &column, 1);
	}
	json_array_foreach(elements, i, element)
	{
		if (!node_is(element, "Constraint", &body) || !is_key(body))
			continue;
		uint32_t n = named(c, t, json_object_get(body, "keys"), keys);
		if (n) catalog_add_key(c, t, keys, n);
	}
	c->tables[t].told = true;
}

static void schema_statement(struct catalog *c, json_t *statement)
{
	json_t *body, *command, *constraint;
	size_t i;
	uint32_t keys[64];
	if (node_is(statement, "CreateStmt", &body)) {
		create_table(c, body);
		return;
	}
	if (!node_is(statement, "AlterTableStmt", &body)) return;
	uint32_t t = catalog_table(
		c, node_string(json_object_get(body, "relation"), "relname"));
	json_t *commands = json_object_get(body, "cmds");
	json_array_foreach(commands, i, command)
	{
		json_t *inner, *def;
		if (!node_is(command, "AlterTableCmd", &inner)) continue;
		def = json_object_get(inner, "def");
		if (!def || !node_is(def, "Constraint", &constraint) ||
		    !is_key(constraint))
			continue;
		uint32_t n =
			named(c, t, json_object_get(constraint, "keys"), keys);
		if (n) catalog_add_key(c, t, keys, n);
	}
}

static bool read_sql(struct catalog *c, struct sql_parser *p, const char *path,
                     const char *text, size_t length, struct diags *d)
{
	struct sql_refusal why = { 0 };
	size_t i;
	json_t *statement;
	uint32_t line = 1, before = c->table_count;
	json_t *all = sql_parse(p, text, length, &why);
	if (!all) {
		for (uint32_t k = 0; k < why.at && k < length; k++)
			line += text[k] == '\n';
		diags_add(d, DIAG_ERROR, path, line, 0, NULL, "%s",
		          text_get(&why.message));
		text_free(&why.message);
		return false;
	}
	json_array_foreach(all, i, statement)
		schema_statement(c, json_object_get(statement, "stmt"));
	json_decref(all);
	text_bytes(&c->sql, text, length);
	if (c->table_count > before) return true;
	diags_add(d, DIAG_ERROR, path, 0, 0, NULL,
	          "there is no CREATE TABLE in it");
	return false;
}

bool catalog_read(struct catalog *c, struct sql_parser *p, const char *path,
                  const char *text, size_t length, struct diags *d)
{
	struct sql_words w = { 0 };
	bool sql = false;
	words_read(&w, text, length, false);
	for (uint32_t i = 0; i < w.count && !sql; i++)
		sql = word_is(&w, i, "CREATE") &&
		      (word_is(&w, i + 1, "TABLE") ||
		       word_is(&w, i + 2, "TABLE"));
	words_free(&w);
	if (sql) return read_sql(c, p, path, text, length, d);
	char *copy = mem_take(length + 1);
	memcpy(copy, text, length);
	copy[length] = 0;
	bool fine = read_lines(c, path, copy, d);
	free(copy);
	return fine;
}
