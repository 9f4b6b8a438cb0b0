/* The server, its tables and what set-up has left in them. */
#include "postgres/loading.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/memory.h"
#include "lang/limits.h"
#include "postgres/command.h"
#include "postgres/wire.h"
#include "vm/bytecode.h"
#include "vm/program.h"

/* ---- The server ---- */

static bool listen_at(const struct server_library *l, const char *name,
                      int *out)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	snprintf(at.sun_path, sizeof at.sun_path, "%s/%s",
	         cluster_folder(l->cluster), name);
	*out = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	return *out >= 0 && !bind(*out, (struct sockaddr *)&at, sizeof at) &&
	       !chmod(at.sun_path, 0666) && !listen(*out, 128);
}

/* Whoever comes by TCP has to know it. */
static bool set_password(struct server_library *s)
{
	const struct address *a = cluster_address(s->cluster);
	struct text sql = { 0 };
	if (!a) return true;
	text_string(&sql, "ALTER ROLE isoscope PASSWORD E'");
	for (const char *at = a->password; *at; at++)
		text_format(&sql, strchr("'\\", *at) ? "\\%c" : "%c", *at);
	text_char(&sql, '\'');
	bool fine = connection_run(&s->setup, text_get(&sql));
	text_free(&sql);
	return fine;
}

static bool listen_for_backends(struct server_library *l)
{
	return listen_at(l, "isoscope", &l->listener) &&
	       listen_at(l, WIRE_CLIENTS, &l->clients);
}

bool load_start_server(struct loading *l)
{
	struct server_library *s = l->library;
	struct text module = { 0 }, why = { 0 }, sql = { 0 };
	bool fine = false;
	const struct cluster_options options = {
		.module = cluster_module(&module),
		.doors = s->door_count,
		.opens = true,
		.serves = l->serves,
		.address = l->address,
		.interrupt = l->given->interrupt
	};
	s->cluster = cluster_start(&options, &why);
	if (s->cluster && server_open_setup(s, &why)) {
		s->setup.interrupt = l->given->interrupt;
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
		fine = connection_run(&s->setup, text_get(&sql)) &&
		       set_password(s);
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

/* A backend that has died, or the server, is not the program's fault. */
static void note_lost(struct loading *l)
{
	enum { HEARSAY = 100000 }; /* microseconds until all know of it */
	usleep(HEARSAY);
	l->diags->of_system |= server_was_reset(l->library);
}

/* What it has printed last, if it does not end well. */
static bool run_setup_command(struct loading *l, const struct spec_setup *s)
{
	struct server_library *x = l->library;
	struct command c;
	struct text why = { 0 };
	bool fine = command_start(&c, x->cluster, s->command, x->folder,
	                          WIRE_DOOR_OF_SETUP, &why);
	while (fine && !c.over) {
		struct pollfd p[] = {
			{ .fd = c.ended, .events = POLLIN },
			{ .fd = c.out_open ? c.out : -1, .events = POLLIN },
			{ .fd = c.err_open ? c.err : -1, .events = POLLIN }
		};
		poll(p, 3, 100);
		if (!command_take(&c)) {
			text_string(&why, "it has printed more than 1 MiB");
			fine = false;
		} else if (load_gives_up(l)) {
			text_string(&why, "it was interrupted");
			fine = false;
		}
	}
	if (fine && c.code) {
		size_t length;
		const char *words = command_last_words(&c, &length);
		text_format(&why, "it ends with exit code %d", c.code);
		if (words) text_format(&why, ": %.*s", (int)length, words);
		fine = false;
	}
	if (!fine) {
		note_lost(l);
		load_fail(l, s->at, "setup failed: %s: %s", s->command,
		          text_get(&why));
	}
	command_kill(&c);
	text_free(&why);
	return fine;
}

bool load_setup(struct loading *l, struct spec_setup *s)
{
	struct connection *c = &l->library->setup;
	if (s->command) return run_setup_command(l, s);
	if (!spec_read_setup(&l->library->all, s, program_path(l->program),
	                     l->given, &l->digest)) {
		l->failed = true;
		return false;
	}
	char *text = spec_block_text(&l->library->all, &s->sql);
	bool fine = connection_run(c, text);
	free(text);
	if (c->lost) l->diags->of_system = true;
	return fine ||
	       load_fail(l, spec_block_begin(&l->library->all, &s->sql),
	                 "setup failed: %s (%s)%s%s", text_get(&c->message),
	                 c->state, c->hint.length ? "; hint: " : "",
	                 text_get(&c->hint));
}

static struct server_relation *add_relation(struct loading *l, uint32_t oid,
                                            const char *name, uint32_t arity)
{
	struct server_library *s = l->library;
	struct server_relation *r = region_take0(&s->region, sizeof *r);
	r->oid = oid;
	r->name = load_keep(l, name);
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
	if (!load_query(
		    l,
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
		r->columns[n] = load_keep(l, words[0]);
		r->types[n] = number(words[1]);
		r->type_names[n] = load_keep(l, words[2]);
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
	if (!load_query(
		    l,
		    "SELECT i.indexrelid, c.relname, "
		    "coalesce(pg_get_expr(i.indpred, i.indrelid), 'true'), "
		    "i.indnullsnotdistinct, "
		    "(SELECT string_agg(pg_get_indexdef(i.indexrelid, k, "
		    "true), "
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
		load_fail(l, (struct place){ 0 }, "more than %d rows in setup",
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
	bool fine = !l->failed && load_query(l, "SELECT t.*%s FROM ONLY %s t",
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
bool load_sealable(struct loading *l)
{
	struct connection *c = &l->library->setup;
	size_t at = 0;
	uint32_t length;
	const char *row;
	if (!load_query(
		    l,
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
		    "SELECT 'table ' || c.relname || ', which is not of its "
		    "own "
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
		    "deferrable' FROM pg_constraint WHERE condeferrable AND "
		    "contype <> 'f' "
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
		    "FROM pg_proc WHERE EXISTS (SELECT FROM unnest(proconfig) "
		    "s "
		    "WHERE s NOT LIKE 'search_path=%%') AND oid >= 16384 "
		    "UNION ALL SELECT 'function ' || proname || ' in language "
		    "' "
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
	load_fail(l,
	          l->library->spec.setup_count ? l->library->spec.setups[0].at
	                                       : (struct place){ 0 },
	          "%s does not support %s",
	          l->serves ? "serve" : "--engine=postgres",
	          what ? what : "this");
	free(what);
	return false;
}

/* The rows are what set-up has left; from here on they are isoscope's. */
bool load_seal(struct loading *l)
{
	struct connection *c = &l->library->setup;
	struct text rows = { 0 };
	if (!load_query(l, "SELECT c.oid, CASE WHEN n.nspname = 'public' THEN "
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

bool load_open_service(struct loading *l)
{
	struct text path = { 0 };
	text_format(&path, "%s/" WIRE_SEALED,
	            cluster_folder(l->library->cluster));
	FILE *f = fopen(text_get(&path), "w");
	bool fine = f && !fclose(f) && !chmod(text_get(&path), 0644);
	if (!fine)
		load_fail(l, (struct place){ 0 }, "%s: %s", text_get(&path),
		          strerror(errno));
	text_free(&path);
	return fine;
}
