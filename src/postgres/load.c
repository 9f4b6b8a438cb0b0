#include "postgres/load.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/seconds.h"
#include "lang/limits.h"
#include "postgres/library.h"
#include "sql/load.h"
#include "sql/parser.h"
#include "vm/bytecode.h"
#include "vm/guest_session.h"
#include "vm/program.h"

/* A specification being loaded. */
struct loading {
	struct server_library *library;
	struct program *program;
	const struct sql_arguments *given;
	struct sql_parser *parser;
	struct diags *diags;
	uint64_t digest;
	bool failed;
};

static bool fail(struct loading *l, struct place at, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static bool fail(struct loading *l, struct place at, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	source_verror(&l->library->all, at, format, args);
	va_end(args);
	l->failed = true;
	return false;
}

static const char *keep(struct loading *l, const char *s)
{
	return region_copy_string(&l->library->region, s, strlen(s));
}

static char *block_text(const struct loading *l, const struct spec_block *b)
{
	const char *text = l->library->all.items[b->at.source].text;
	char *copy = mem_take(b->length + (size_t)1);
	memcpy(copy, text + b->at.offset, b->length);
	copy[b->length] = 0;
	return copy;
}

/* Where the block's text begins. */
static struct place begin_of(const struct loading *l,
                             const struct spec_block *b)
{
	const char *text = l->library->all.items[b->at.source].text;
	struct place at = b->at;
	uint32_t end = at.offset + b->length;
	while (at.offset < end && isspace((unsigned char)text[at.offset]))
		at.offset++;
	return at.offset < end ? at : b->at;
}

static uint32_t point_of(struct loading *l, struct place at)
{
	return program_add_position(l->program,
	                            source_position(&l->library->all, at));
}

/* ---- The server ---- */

/* The module is beside the program where that was built, else where it was
 * installed. */
static const char *find_module(struct text *t)
{
	char self[1024];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	self[n > 0 ? n : 0] = 0;
	char *slash = strrchr(self, '/');
	if (slash) {
		*slash = 0;
		text_format(t, "%s/.libs/isoscope-postgres.so", self);
		if (!access(text_get(t), R_OK)) return text_get(t);
		text_clear(t);
		text_format(t, "%s/../lib/isoscope/isoscope-postgres.so", self);
		if (!access(text_get(t), R_OK)) return text_get(t);
		text_clear(t);
	}
	text_string(t, ISO_POSTGRES_MODULE);
	return text_get(t);
}

static bool listen_for_backends(struct server_library *l)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	snprintf(at.sun_path, sizeof at.sun_path, "%s/isoscope",
	         cluster_folder(l->cluster));
	l->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	return l->listener >= 0 &&
	       !bind(l->listener, (struct sockaddr *)&at, sizeof at) &&
	       !chmod(at.sun_path, 0666) && !listen(l->listener, 128);
}

static bool start_server(struct loading *l)
{
	struct server_library *s = l->library;
	struct text module = { 0 }, why = { 0 }, sql = { 0 };
	bool fine = false;
	s->cluster = cluster_start(find_module(&module), &why);
	if (s->cluster &&
	    connection_open(&s->setup, cluster_folder(s->cluster), "", &why)) {
		text_format(
			&sql,
			"CREATE SCHEMA isoscope_engine;"
			"CREATE FUNCTION "
			"isoscope_engine.access_method(internal) "
			"RETURNS table_am_handler LANGUAGE c "
			"AS '%s/isoscope.so', 'isoscope_access_method';"
			"CREATE FUNCTION isoscope_engine.restart() RETURNS "
			"void "
			"LANGUAGE c AS '%s/isoscope.so', 'isoscope_restart';"
			"CREATE FUNCTION isoscope_engine.nextval(regclass) "
			"RETURNS bigint LANGUAGE c "
			"AS '%s/isoscope.so', 'isoscope_nextval';"
			"CREATE FUNCTION isoscope_engine.currval(regclass) "
			"RETURNS bigint LANGUAGE c "
			"AS '%s/isoscope.so', 'isoscope_currval';"
			"CREATE ACCESS METHOD isoscope TYPE TABLE "
			"HANDLER isoscope_engine.access_method;"
			"SET default_table_access_method = isoscope",
			cluster_folder(s->cluster), cluster_folder(s->cluster),
			cluster_folder(s->cluster), cluster_folder(s->cluster));
		fine = connection_run(&s->setup, text_get(&sql));
		if (!fine) text_string(&why, text_get(&s->setup.message));
		if (fine && !listen_for_backends(s)) {
			text_format(&why, "cannot listen: %s", strerror(errno));
			fine = false;
		}
	}
	if (!fine) {
		diags_add(l->diags, DIAG_ERROR, program_path(l->program), 0, 0,
		          NULL, "%s", text_get(&why));
		l->failed = true;
	}
	text_free(&module);
	text_free(&why);
	text_free(&sql);
	return fine;
}

/* ---- Set-up ---- */

static bool run_setup(struct loading *l, struct spec_setup *s)
{
	struct connection *c = &l->library->setup;
	if (!spec_read_setup(&l->library->all, s, program_path(l->program),
	                     l->given, &l->digest)) {
		l->failed = true;
		return false;
	}
	char *text = block_text(l, &s->sql);
	bool fine = connection_run(c, text);
	free(text);
	return fine || fail(l, begin_of(l, &s->sql), "setup failed: %s (%s)",
	                    text_get(&c->message), c->state);
}

static bool query(struct loading *l, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static bool query(struct loading *l, const char *format, ...)
{
	struct connection *c = &l->library->setup;
	struct text t = { 0 };
	va_list args;
	va_start(args, format);
	text_vformat(&t, format, args);
	va_end(args);
	bool fine = connection_run(c, text_get(&t));
	text_free(&t);
	return fine || fail(l, (struct place){ 0 }, "PostgreSQL: %s",
	                    text_get(&c->message));
}

static struct server_relation *add_relation(struct loading *l, uint32_t oid,
                                            const char *name, uint32_t arity)
{
	struct server_library *s = l->library;
	struct server_relation *r = region_take0(&s->region, sizeof *r);
	r->oid = oid;
	r->name = keep(l, name);
	VEC_RESERVE(s->relations, s->relation_count, s->relation_capacity);
	s->relations[s->relation_count++] = r;
	r->global = program_add_global(l->program, name, arity, value_null());
	return r;
}

static uint32_t number(const char *text)
{
	return text ? (uint32_t)strtoul(text, NULL, 10) : 0;
}

static void make_columns(struct loading *l, struct server_relation *r,
                         uint32_t count)
{
	struct region *to = &l->library->region;
	r->columns = region_take0(to, (count + 1) * sizeof *r->columns);
	r->types = region_take0(to, (count + 1) * sizeof *r->types);
	r->type_names = region_take0(to, (count + 1) * sizeof *r->type_names);
}

/* Columns of a table, and which are the primary key. */
static bool find_columns(struct loading *l, struct server_relation *r)
{
	struct connection *c = &l->library->setup;
	if (!query(l,
	           "SELECT a.attname, a.atttypid, format_type(a.atttypid, "
	           "a.atttypmod), array_position(i.indkey::int2[], a.attnum) "
	           "FROM pg_attribute a LEFT JOIN pg_index i "
	           "ON i.indrelid = a.attrelid AND i.indisprimary "
	           "WHERE a.attrelid = %u AND a.attnum > 0 "
	           "AND NOT a.attisdropped ORDER BY a.attnum",
	           r->oid))
		return false;
	make_columns(l, r, c->row_count);
	uint32_t *key = region_take0(&l->library->region,
	                             (c->row_count + 1) * sizeof *key);
	size_t at = 0;
	uint32_t length;
	const char *row;
	while ((row = connection_row(c, &at, &length))) {
		char *words[4];
		for (uint32_t i = 0; i < 4; i++)
			words[i] = image_column(row, length, i);
		uint32_t n = r->column_count++;
		r->columns[n] = keep(l, words[0]);
		r->types[n] = number(words[1]);
		r->type_names[n] = keep(l, words[2]);
		if (words[3]) {
			key[number(words[3])] = n;
			r->key_count++;
		}
		for (uint32_t i = 0; i < 4; i++) free(words[i]);
	}
	r->key = key;
	return true;
}

/* What is asked of a table's rows: the expressions of its unique indexes. */
struct unique {
	struct server_relation *index;
	uint32_t first; /* the column that is true where there is an entry */
};

static uint32_t find_uniques(struct loading *l, struct server_relation *t,
                             struct text *select, struct unique *out,
                             uint32_t most)
{
	struct connection *c = &l->library->setup;
	uint32_t count = 0, column = t->column_count, length;
	if (!query(l,
	           "SELECT i.indexrelid, c.relname, "
	           "coalesce(pg_get_expr(i.indpred, i.indrelid), 'true'), "
	           "i.indnullsnotdistinct, "
	           "(SELECT string_agg(pg_get_indexdef(i.indexrelid, k, true), "
	           "E'\\x01' ORDER BY k) FROM generate_series(1, "
	           "i.indnkeyatts) k), "
	           "(SELECT string_agg(a.atttypid::text, ' ' ORDER BY "
	           "a.attnum) "
	           "FROM pg_attribute a WHERE a.attrelid = i.indexrelid "
	           "AND a.attnum <= i.indnkeyatts), i.indnkeyatts "
	           "FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid "
	           "WHERE i.indrelid = %u AND i.indisunique "
	           "AND NOT i.indisprimary ORDER BY i.indexrelid",
	           t->oid))
		return 0;
	size_t at = 0;
	const char *row;
	while ((row = connection_row(c, &at, &length)) && count < most) {
		char *words[7];
		for (uint32_t i = 0; i < 7; i++)
			words[i] = image_column(row, length, i);
		uint32_t n = number(words[6]);
		struct server_relation *r =
			add_relation(l, number(words[0]), words[1], n);
		r->index = true;
		r->table = t;
		make_columns(l, r, n);
		out[count++] = (struct unique){ r, column };
		text_format(select, ", (%s)", words[2]);
		for (char *rest = words[4], *one;
		     (one = strsep(&rest, "\x01"));) {
			if (*words[3] == 'f')
				text_format(select, " AND (%s) IS NOT NULL",
				            one);
		}
		free(words[4]);
		words[4] = image_column(row, length, 4);
		for (char *rest = words[4], *one;
		     (one = strsep(&rest, "\x01"));)
			text_format(select, ", (%s)", one);
		for (char *rest = words[5], *one; (one = strsep(&rest, " "));)
			r->types[r->column_count++] = number(one);
		column += 1 + n;
		for (uint32_t i = 0; i < 7; i++) free(words[i]);
	}
	return count;
}

static void put_column(struct text *t, const char *text, uint32_t length)
{
	uint32_t n = text ? length : UINT32_MAX;
	for (int shift = 24; shift >= 0; shift -= 8)
		text_char(t, (char)(n >> shift));
	if (text) text_bytes(t, text, length);
}

static void add_initial(struct loading *l, struct server_relation *r,
                        const struct text *key, const struct text *row)
{
	struct server_library *s = l->library;
	struct server_key *k =
		server_key(s, r, text_get(key), (uint32_t)key->length);
	struct server_version *v =
		server_version(s, k, text_get(row), (uint32_t)row->length);
	v->known = v->initial = k->known = true;
	if (l->program->keys_count >= LIMIT_KEYS) {
		fail(l, (struct place){ 0 }, "more than %d rows in setup",
		     LIMIT_KEYS);
		return;
	}
	uint32_t n = program_add_key(l->program, r->global, k->value.o->items,
	                             k->value.o->length);
	program_set_initial(l->program, n, v->value);
}

enum { COLUMNS_MOST = 1700, UNIQUES_MOST = 64 };

static void take_row(struct loading *l, struct server_relation *t,
                     const struct unique *uniques, uint32_t count,
                     const char *image, uint32_t length, uint32_t row)
{
	struct {
		const char *text;
		uint32_t length;
	} c[COLUMNS_MOST];
	const char *end = image + length;
	uint32_t n = 0;
	while (n < COLUMNS_MOST &&
	       image_next(&image, end, &c[n].text, &c[n].length))
		n++;
	struct text key = { 0 }, all = { 0 };
	for (uint32_t i = 0; i < t->column_count; i++)
		put_column(&all, c[i].text, c[i].length);
	for (uint32_t i = 0; i < t->key_count; i++)
		put_column(&key, c[t->key[i]].text, c[t->key[i]].length);
	if (!t->key_count) {
		char digits[16];
		snprintf(digits, sizeof digits, "%u", row);
		put_column(&key, "", 0);
		put_column(&key, "0", 1);
		put_column(&key, digits, (uint32_t)strlen(digits));
	}
	add_initial(l, t, &key, &all);
	for (uint32_t i = 0; i < count; i++) {
		const struct unique *u = &uniques[i];
		struct text entry = { 0 };
		if (!c[u->first].text || *c[u->first].text != 't') continue;
		for (uint32_t k = 0; k < u->index->column_count; k++)
			put_column(&entry, c[u->first + 1 + k].text,
			           c[u->first + 1 + k].length);
		add_initial(l, u->index, &entry, &key);
		text_free(&entry);
	}
	text_free(&key);
	text_free(&all);
}

static bool take_table(struct loading *l, uint32_t oid, const char *name,
                       const char *full)
{
	struct connection *c = &l->library->setup;
	struct unique uniques[UNIQUES_MOST];
	struct text select = { 0 };
	struct server_relation *t = add_relation(l, oid, name, 0);
	if (!find_columns(l, t)) return false;
	l->program->globals[t->global].arity = t->key_count ? t->key_count : 3;
	uint32_t count = find_uniques(l, t, &select, uniques, UNIQUES_MOST);
	bool fine = !l->failed && query(l, "SELECT t.*%s FROM ONLY %s t",
	                                text_get(&select), full);
	text_free(&select);
	size_t at = 0;
	uint32_t length, n = 0;
	const char *row;
	while (fine && (row = connection_row(c, &at, &length)))
		take_row(l, t, uniques, count, row, length, ++n);
	return fine && !l->failed;
}

/* What set-up has made and sessions cannot have; and settings of its own, which
 * they do not have, end. */
static bool sealable(struct loading *l)
{
	struct connection *c = &l->library->setup;
	size_t at = 0;
	uint32_t length;
	const char *row;
	if (!query(l,
	           "RESET ALL;"
	           /* Equal values of these types are equal texts. */
	           "WITH user_class AS (SELECT c.*, n.nspname FROM pg_class c "
	           "JOIN pg_namespace n ON n.oid = c.relnamespace "
	           "WHERE c.oid >= 16384 AND n.nspname <> 'pg_toast'), "
	           "key_type AS (SELECT c.relname, a.attname, "
	           "CASE WHEN t.typtype = 'd' THEN b.oid ELSE t.oid END AS "
	           "oid, "
	           "CASE WHEN t.typtype = 'd' THEN b.typtype ELSE t.typtype "
	           "END "
	           "AS kind, format_type(t.oid, NULL) AS name, "
	           "o.collisdeterministic "
	           "FROM pg_index i JOIN user_class c ON c.oid = i.indrelid "
	           "JOIN pg_attribute a ON a.attrelid = i.indexrelid "
	           "AND a.attnum BETWEEN 1 AND i.indnkeyatts "
	           "JOIN pg_type t ON t.oid = a.atttypid "
	           "LEFT JOIN pg_type b ON b.oid = t.typbasetype "
	           "LEFT JOIN pg_collation o ON o.oid = a.attcollation "
	           "WHERE i.indisunique) "
	           "SELECT 'table ' || c.relname || ', which is not of its own "
	           "access method' FROM user_class c LEFT JOIN pg_am a "
	           "ON a.oid = c.relam WHERE c.relkind = 'r' "
	           "AND a.amname <> 'isoscope' "
	           "UNION ALL SELECT 'foreign table ' || relname FROM "
	           "user_class "
	           "WHERE relkind = 'f' "
	           "UNION ALL SELECT 'materialized view ' || relname "
	           "FROM user_class WHERE relkind = 'm' "
	           "UNION ALL SELECT 'partitioned table ' || relname "
	           "FROM user_class WHERE relkind = 'p' "
	           "UNION ALL SELECT 'table ' || inhrelid::regclass || ', "
	           "which "
	           "inherits from another' FROM pg_inherits i "
	           "JOIN user_class c ON c.oid = i.inhrelid AND c.relkind = "
	           "'r' "
	           "UNION ALL SELECT 'constraint ' || conname || ', which "
	           "excludes "
	           "rows by an operator' FROM pg_constraint WHERE contype = "
	           "'x' "
	           "UNION ALL SELECT 'constraint ' || conname || ', which is "
	           "deferrable' FROM pg_constraint WHERE condeferrable "
	           "UNION ALL SELECT 'keys of type ' || name || ' (' || "
	           "attname || "
	           "' of table ' || relname || ')' FROM key_type "
	           "WHERE NOT (kind = 'e' OR oid IN "
	           "('bool'::regtype, 'int2'::regtype, 'int4'::regtype, "
	           "'int8'::regtype, 'oid'::regtype, 'text'::regtype, "
	           "'varchar'::regtype, 'name'::regtype, '\"char\"'::regtype, "
	           "'uuid'::regtype, 'bytea'::regtype, 'date'::regtype, "
	           "'timestamp'::regtype, 'timestamptz'::regtype, "
	           "'inet'::regtype)) OR collisdeterministic IS false "
	           "UNION ALL SELECT 'settings of function ' || proname "
	           "FROM pg_proc WHERE EXISTS (SELECT FROM unnest(proconfig) s "
	           "WHERE s NOT LIKE 'search_path=%%') AND oid >= 16384 "
	           "UNION ALL SELECT 'function ' || proname || ' in language ' "
	           "|| lanname FROM pg_proc p JOIN pg_language l "
	           "ON l.oid = p.prolang WHERE p.oid >= 16384 "
	           "AND lanname NOT IN ('sql', 'plpgsql', 'c', 'internal') "
	           "UNION ALL SELECT 'settings of a role or a database' "
	           "FROM pg_db_role_setting "
	           "UNION ALL SELECT 'event trigger ' || evtname "
	           "FROM pg_event_trigger"))
		return false;
	if (!(row = connection_row(c, &at, &length))) return true;
	char *what = image_column(row, length, 0);
	fail(l,
	     l->library->spec.setup_count ? l->library->spec.setups[0].at
	                                  : (struct place){ 0 },
	     "--engine=postgres does not support %s", what ? what : "this");
	free(what);
	return false;
}

/* The rows are what set-up has left; from here on they are isoscope's. */
static bool seal(struct loading *l)
{
	struct connection *c = &l->library->setup;
	struct text rows = { 0 };
	if (!query(l, "SELECT c.oid, CASE WHEN n.nspname = 'public' THEN "
	              "c.relname ELSE n.nspname || '.' || c.relname END, "
	              "format('%%I.%%I', n.nspname, c.relname) "
	              "FROM pg_class c JOIN pg_namespace n "
	              "ON n.oid = c.relnamespace JOIN pg_am a "
	              "ON a.oid = c.relam WHERE a.amname = 'isoscope' "
	              "AND c.relkind = 'r' ORDER BY c.oid"))
		return false;
	struct text copy = { 0 };
	text_bytes(&copy, text_get(&c->rows), c->rows.length);
	struct connection list = { .rows = copy };
	size_t at = 0;
	uint32_t length;
	const char *row;
	while (!l->failed && (row = connection_row(&list, &at, &length))) {
		char *words[3];
		for (uint32_t i = 0; i < 3; i++)
			words[i] = image_column(row, length, i);
		take_table(l, number(words[0]), words[1], words[2]);
		for (uint32_t i = 0; i < 3; i++) free(words[i]);
	}
	text_free(&copy);
	text_free(&rows);
	return !l->failed;
}

/* ---- Sessions ---- */

static json_t *parse(struct loading *l, const struct spec_block *b)
{
	struct sql_refusal why = { 0 };
	char *text = block_text(l, b);
	json_t *all = sql_parse(l->parser, text, b->length, &why);
	struct place at = b->at;
	at.offset += why.at;
	if (!all) fail(l, at, "%s", text_get(&why.message));
	free(text);
	text_free(&why.message);
	return all;
}

/* "TransactionStmt" and what it holds. */
static json_t *statement_of(json_t *item, const char **kind)
{
	json_t *s = json_object_get(item, "stmt");
	void *i = json_object_iter(s);
	*kind = i ? json_object_iter_key(i) : "";
	return i ? json_object_iter_value(i) : NULL;
}

static const char *level_of(json_t *options)
{
	size_t i;
	json_t *o;
	json_array_foreach(options, i, o)
	{
		json_t *e = json_object_get(o, "DefElem");
		json_t *c =
			json_object_get(json_object_get(e, "arg"), "A_Const");
		const char *name =
			json_string_value(json_object_get(e, "defname"));
		const char *v = json_string_value(
			json_object_get(json_object_get(c, "sval"), "sval"));
		if (!name || !v || strcmp(name, "transaction_isolation"))
			continue;
		return !strcmp(v, "serializable")      ? "ser"
		       : !strcmp(v, "repeatable read") ? "si"
		                                       : "prc";
	}
	return NULL;
}

/* Of the transactions that can begin in the steps of a session. */
struct levels {
	enum { NONE, STEP, BLOCK } inside;
	struct server_step *step;
	bool common, any; /* all ask for one level, which is ... */
	const char *level;
};

static bool is_kind(const char *kind, const char *a, const char *b)
{
	return kind && (!strcmp(kind, a) || !strcmp(kind, b));
}

static void add_transaction(struct loading *l, struct server_step *s,
                            const char *name, const char *level)
{
	own_level own = 0;
	if (level && strcmp(level, l->program->isolation)) {
		own = (own_level)(level_number(level) + 1);
		l->program->own_point = s->point;
	}
	uint32_t *names = region_take0(&l->library->region,
	                               (s->name_count + 1) * sizeof *names);
	if (s->name_count)
		memcpy(names, s->names, s->name_count * sizeof *names);
	names[s->name_count++] = program_add_transaction(l->program, name, own);
	s->names = names;
}

/* Which transactions begin in it, and at which levels. */
static void find_transactions(struct loading *l, struct server_step *s,
                              json_t *all, bool *block)
{
	const char *name = s->spec ? s->spec->name : "setup";
	const char *kind, *level = NULL;
	bool inside = *block, asked = false;
	size_t i;
	json_t *item;
	json_array_foreach(all, i, item)
	{
		json_t *body = statement_of(item, &kind);
		bool transaction = !strcmp(kind, "TransactionStmt");
		const char *what =
			json_string_value(json_object_get(body, "kind"));
		const char *own = NULL;
		if (transaction)
			own = level_of(json_object_get(body, "options"));
		if (!strcmp(kind, "VariableSetStmt"))
			own = level_of(json_object_get(body, "args"));
		if (transaction &&
		    is_kind(what, "TRANS_STMT_COMMIT", "TRANS_STMT_ROLLBACK")) {
			if (asked) add_transaction(l, s, name, level);
			asked = inside = *block = false;
			level = NULL;
			continue;
		}
		if (!inside) {
			inside = asked = true;
			level = NULL;
		}
		if (own) level = own;
		if (transaction &&
		    is_kind(what, "TRANS_STMT_BEGIN", "TRANS_STMT_START"))
			*block = true;
	}
	if (asked || !s->name_count) add_transaction(l, s, name, level);
}

/* What the last statement that returns something returns. */
static void describe(struct loading *l, struct server_step *s, json_t *all)
{
	struct connection *c = &l->library->setup;
	struct region *r = &l->library->region;
	size_t i;
	json_t *item;
	json_array_foreach(all, i, item)
	{
		json_int_t at = json_integer_value(
			json_object_get(item, "stmt_location"));
		json_int_t n =
			json_integer_value(json_object_get(item, "stmt_len"));
		size_t length = strlen(s->text);
		char *text = mem_copy_string(s->text + at);
		if (n && (size_t)(at + n) <= length) text[n] = 0;
		bool fine = connection_describe(c, text);
		free(text);
		if (!fine || !c->has_result) continue;
		uint32_t count = c->column_count;
		s->columns = region_take0(r, (count + 1) * sizeof *s->columns);
		s->types = region_take0(r, (count + 1) * sizeof *s->types);
		s->type_names =
			region_take0(r, (count + 1) * sizeof *s->type_names);
		s->column_count = count;
		struct text names = { 0 };
		for (uint32_t k = 0; k < count; k++) {
			s->columns[k] = keep(l, c->columns[k].name);
			s->types[k] = c->columns[k].type;
			text_format(&names, "%sformat_type(%u, %d)",
			            k ? ", " : "SELECT ", c->columns[k].type,
			            c->columns[k].modifier);
		}
		uint32_t size;
		size_t row_at = 0;
		if (count && connection_run(c, text_get(&names))) {
			const char *row = connection_row(c, &row_at, &size);
			for (uint32_t k = 0; k < count; k++) {
				char *one = image_column(row, size, k);
				s->type_names[k] = keep(l, one ? one : "text");
				free(one);
			}
		}
		text_free(&names);
	}
}

static void add_step(struct loading *l, struct server_session *x,
                     uint32_t session, const struct spec_step *spec,
                     const struct spec_block *sql, bool *block)
{
	struct server_step *s = &x->steps[x->count];
	char *text = block_text(l, sql);
	s->spec = spec;
	s->sql = sql;
	s->session = session;
	s->place = spec ? (uint32_t)(spec -
	                             l->library->spec.sessions[session].steps) +
	                           1
	                : 0;
	s->text = keep(l, text);
	free(text);
	s->point = point_of(l, begin_of(l, sql));
	json_t *all = parse(l, sql);
	if (all) {
		find_transactions(l, s, all, block);
		if (spec) describe(l, s, all);
	}
	json_decref(all);
	x->count++;
}

static void add_sessions(struct loading *l)
{
	struct server_library *s = l->library;
	struct region *r = &s->region;
	uint32_t n = s->spec.session_count;
	if (n > LIMIT_SESSIONS) {
		fail(l, s->spec.sessions[0].at, "more than %d sessions",
		     LIMIT_SESSIONS);
		return;
	}
	s->sessions = region_take0(r, (n + 1) * sizeof *s->sessions);
	for (uint32_t i = 0; i < n && !l->failed; i++) {
		const struct spec_session *spec = &s->spec.sessions[i];
		struct server_session *x = &s->sessions[i];
		bool block = false;
		x->name = spec->name;
		x->steps = region_take0(r, (spec->step_count + (size_t)2) *
		                                   sizeof *x->steps);
		s->session_count = i + 1;
		if (spec->has_setup)
			add_step(l, x, i, NULL, &spec->setup, &block);
		for (uint32_t k = 0; k < spec->step_count && !l->failed; k++)
			add_step(l, x, i, &spec->steps[k], &spec->steps[k].sql,
			         &block);
		uint32_t number = program_add_session(l->program, x->name);
		l->program->sessions[number].entry = number;
	}
}

/* ---- Assertions ---- */

static const struct server_step *find_step(const struct server_library *s,
                                           const char *name)
{
	for (uint32_t i = 0; i < s->session_count; i++) {
		const struct server_session *x = &s->sessions[i];
		const struct server_step *only = NULL;
		uint32_t own = 0;
		for (uint32_t k = 0; k < x->count; k++) {
			if (!x->steps[k].spec) continue;
			only = &x->steps[k];
			own++;
			if (!strcmp(only->spec->name, name)) return only;
		}
		if (own == 1 && !strcmp(x->name, name)) return only;
	}
	return NULL;
}

struct mention {
	struct loading *loading;
	struct server_assertion *assertion;
	uint32_t capacity, error_capacity;
	struct place at;
};

static uint32_t note_step(struct mention *m, const struct server_step *s)
{
	struct server_assertion *a = m->assertion;
	for (uint32_t i = 0; i < a->step_count; i++)
		if (a->steps[i] == s) return i;
	VEC_RESERVE(a->steps, a->step_count, m->capacity);
	a->steps[a->step_count++] = s;
	return a->step_count - 1;
}

/* Of "step . error" in the text. */
static uint32_t length_of_error(const char *s)
{
	const char *at = s;
	for (int part = 0; part < 2; part++) {
		while (isspace((unsigned char)*at) || *at == '.') at++;
		if (*at == '"') {
			at++;
			while (*at && *at++ != '"') continue;
		} else {
			while (isalnum((unsigned char)*at) ||
			       strchr("_$", *at) ||
			       (unsigned char)*at >= 0x80) {
				if (!*at) break;
				at++;
			}
		}
	}
	return (uint32_t)(at - s);
}

static void note_column(struct mention *m, json_t *ref)
{
	struct server_assertion *a = m->assertion;
	json_t *fields = json_object_get(ref, "fields");
	const char *names[2];
	if (json_array_size(fields) != 2) return;
	for (size_t i = 0; i < 2; i++)
		names[i] = json_string_value(json_object_get(
			json_object_get(json_array_get(fields, i), "String"),
			"sval"));
	if (!names[0] || !names[1] || strcmp(names[1], "error")) return;
	const struct server_step *s = find_step(m->loading->library, names[0]);
	if (!s) return;
	uint32_t at =
		(uint32_t)json_integer_value(json_object_get(ref, "location"));
	uint32_t n = a->error_count++;
	a->errors = mem_grow(a->errors, n + 1, sizeof *a->errors);
	a->error_lengths =
		mem_grow(a->error_lengths, n + 1, sizeof *a->error_lengths);
	a->error_steps =
		mem_grow(a->error_steps, n + 1, sizeof *a->error_steps);
	/* In order. */
	while (n && a->errors[n - 1] > at) {
		a->errors[n] = a->errors[n - 1];
		a->error_lengths[n] = a->error_lengths[n - 1];
		a->error_steps[n] = a->error_steps[n - 1];
		n--;
	}
	a->errors[n] = at;
	a->error_lengths[n] = length_of_error(a->text + at);
	a->error_steps[n] = note_step(m, s);
}

/* Is it among the names that a query of the catalog gives? */
static bool is_named_by(struct loading *l, const char *sql, const char *name)
{
	size_t at = 0;
	uint32_t length;
	const char *row;
	bool found = false;
	if (!query(l, "%s", sql)) return false;
	while (!found &&
	       (row = connection_row(&l->library->setup, &at, &length))) {
		char *other = image_column(row, length, 0);
		found = other && !strcmp(other, name);
		free(other);
	}
	return found;
}

/* A query that is given the rows of tables as WITH clauses would find the rows
 * of set-up instead. */
static void refuse_mention(struct mention *m, const char *what,
                           const char *name)
{
	fail(m->loading, m->at,
	     "--engine=postgres does not support %s in an assertion: %s", what,
	     name);
}

static void note_relation(struct mention *m, json_t *range)
{
	struct server_library *s = m->loading->library;
	const char *name = json_string_value(json_object_get(range, "relname"));
	const char *schema =
		json_string_value(json_object_get(range, "schemaname"));
	if (!name || m->loading->failed) return;
	if (schema) {
		if (strcmp(schema, "pg_catalog") &&
		    strcmp(schema, "information_schema"))
			refuse_mention(m, "the name of a schema", schema);
		return;
	}
	struct server_relation *r = NULL;
	for (uint32_t i = 0; i < s->relation_count && !r; i++)
		if (!s->relations[i]->index &&
		    !strcmp(s->relations[i]->name, name))
			r = s->relations[i];
	bool view = is_named_by(m->loading,
	                        "SELECT relname FROM pg_class WHERE relkind = "
	                        "'v' AND oid >= 16384",
	                        name);
	const struct server_step *step = find_step(s, name);
	if (step && (r || view))
		fail(m->loading, m->at,
		     "\"%s\" is the name of a step or session and of a table: "
		     "give the step another name",
		     name);
	else if (step)
		note_step(m, step);
	else if (view)
		refuse_mention(m, "a view", name);
	else if (r)
		s->asks = r->asked = true;
}

/* What is IMMUTABLE reads no table. */
static void note_function(struct mention *m, json_t *call)
{
	json_t *names = json_object_get(call, "funcname");
	json_t *last = json_array_get(names, json_array_size(names) - 1);
	const char *name = json_string_value(
		json_object_get(json_object_get(last, "String"), "sval"));
	if (name && !m->loading->failed &&
	    is_named_by(m->loading,
	                "SELECT proname FROM pg_proc WHERE oid >= 16384 AND "
	                "provolatile <> 'i'",
	                name))
		refuse_mention(m, "a function that is not IMMUTABLE", name);
}

static void find_mentions(struct mention *m, json_t *tree)
{
	const char *key;
	json_t *item;
	size_t i;
	json_array_foreach(tree, i, item) find_mentions(m, item);
	json_object_foreach(tree, key, item)
	{
		if (!strcmp(key, "ColumnRef")) note_column(m, item);
		if (!strcmp(key, "RangeVar")) note_relation(m, item);
		if (!strcmp(key, "FuncCall")) note_function(m, item);
		find_mentions(m, item);
	}
}

/* The query on one line, as it is shown. */
static void one_line(struct text *t, const char *s, size_t length)
{
	bool blank = false;
	for (size_t i = 0; i < length; i++) {
		if (strchr(" \t\r\n", s[i])) {
			blank = t->length > 0;
			continue;
		}
		if (blank) text_char(t, ' ');
		blank = false;
		text_char(t, s[i]);
	}
}

static void add_assertion(struct loading *l, struct server_assertion *a,
                          const struct spec_assert *spec)
{
	char *text = block_text(l, &spec->sql);
	size_t n = strlen(text);
	while (n && (isspace((unsigned char)text[n - 1]) || text[n - 1] == ';'))
		text[--n] = 0;
	a->text = keep(l, text);
	free(text);
	json_t *all = parse(l, &spec->sql);
	if (all && json_array_size(all) != 1)
		fail(l, spec->at, "an assertion is one query");
	struct mention m = { l, a, 0, 0, begin_of(l, &spec->sql) };
	if (!l->failed) find_mentions(&m, all);
	json_decref(all);
	struct text t = { 0 };
	const struct spec_block *b = &spec->sql;
	one_line(&t, l->library->all.items[b->at.source].text + b->at.offset,
	         b->length);
	a->point = point_of(l, begin_of(l, b));
	struct assertion x = { .kind = ASSERTION_FINAL,
		               .text = text_get(&t),
		               .message = spec->message };
	x.at = program_position(l->program, point_of(l, spec->at));
	program_add_assertion(l->program, &x);
	text_free(&t);
}

static void add_assertions(struct loading *l)
{
	struct server_library *s = l->library;
	uint32_t n = s->spec.assert_count;
	s->assertions =
		region_take0(&s->region, (n + 1) * sizeof *s->assertions);
	s->assertion_count = n;
	for (uint32_t i = 0; i < n && !l->failed; i++)
		add_assertion(l, &s->assertions[i], &s->spec.asserts[i]);
	if (!s->asks || l->failed) return;
	uint32_t i = program_add_session(l->program, "finally");
	l->program->sessions[i].entry = i;
	l->program->has_finally = true;
	s->finally_name = program_add_transaction(l->program, "finally", 0);
	s->finally_point = s->assertions[0].point;
}

/* ---- The whole ---- */

static void set_isolation(struct loading *l)
{
	struct spec *s = &l->library->spec;
	if (s->isolation && level_number(s->isolation) < 0) {
		struct text t = { 0 };
		level_unknown(&t, s->isolation);
		fail(l, s->isolation_at, "%s", text_get(&t));
		text_free(&t);
	}
	l->program->isolation =
		s->isolation
			? region_copy_string(&l->program->region, s->isolation,
	                                     strlen(s->isolation))
			: "prc";
}

static bool load(struct loading *l, const char *path, const char *text,
                 size_t length)
{
	struct server_library *s = l->library;
	const char *which;
	uint32_t n = sources_add(&s->all, path, text, (uint32_t)length);
	l->digest = hash_bytes(1, text, length);
	if (!source_check_text(&s->all, n)) return false;
	bool fine = sql_is_script(path)
	                    ? spec_of_script(&s->spec, &s->all, n, l->given,
	                                     &s->region)
	                    : spec_read(&s->spec, &s->all, n, &s->region);
	if (!fine) return false;
	set_isolation(l);
	if (l->failed || !start_server(l)) return false;
	for (uint32_t i = 0; i < s->spec.setup_count && !l->failed; i++)
		run_setup(l, &s->spec.setups[i]);
	if (!l->failed && !sealable(l)) return false;
	if (!l->failed) seal(l);
	if (!l->failed) add_sessions(l);
	if (!l->failed) add_assertions(l);
	if (l->failed || !program_finish(l->program, &which)) return false;
	l->program->stack = GUEST_REGISTERS;
	l->program->digest = l->digest;
	return true;
}

struct program *server_load(const char *path, const char *text, size_t length,
                            const struct sql_arguments *given, struct diags *d)
{
	struct server_library *s = mem_take0(1, sizeof *s);
	struct loading l = { .library = s, .given = given, .diags = d };
	l.parser = sql_parser_new();
	region_init(&s->region);
	sources_init(&s->all, &s->region, d);
	pthread_mutex_init(&s->lock, NULL);
	s->guest.ops = &server_guest_ops;
	struct program *p = program_new(path);
	p->guest = p->sql = p->server = p->locks = p->gives_up = true;
	p->library = &s->guest;
	p->stack = GUEST_REGISTERS;
	l.program = s->program = p;
	bool fine = load(&l, path, text, length);
	sql_parser_free(l.parser);
	s->interrupt = given->interrupt;
	/* First it is found out which rows there are, then explored. */
	if (given->timeout > 0)
		s->deadline = seconds_now() + 2 * given->timeout;
	if (fine) return p;
	program_free(p);
	return NULL;
}

bool server_take_growth(struct program *p)
{
	struct server_library *l = server_of(p->library);
	bool grew = l->grew;
	assert(p->server);
	l->grew = false;
	if (!grew) return false;
	for (uint32_t i = 0; i < l->version_count; i++) {
		l->versions[i]->known = true;
		l->versions[i]->key->known = true;
	}
	for (uint32_t i = 0; i < l->key_count; i++)
		l->keys[i]->known |= l->keys[i]->gone;
	free(l->fault);
	l->fault = NULL;
	server_guests_forget(l);
	return true;
}
