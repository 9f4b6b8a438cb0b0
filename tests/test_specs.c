/* Classic situations in SQL (tests/specs): what a private PostgreSQL gives in
 * all schedules, against what is explored at the level. An outcome is what
 * every step returned, and what the tables hold at the end. */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "axioms/level.h"
#include "base/memory.h"
#include "base/rng.h"
#include "dpor/engine.h"
#include "dpor/explorer.h"
#include "dpor/state.h"
#include "file_support.h"
#include "postgres.h"
#include "random_sql.h"
#include "schedules.h"
#include "sql/image.h"
#include "sql/load.h"
#include "sql/spec.h"
#include "dpor/known_rows.h"
#include "suites.h"
#include "support.h"
#include "vm/bytecode.h"
#include "vm/guest_session.h"

/* ---- Outcomes, as texts ---- */

static void print_value(struct text *t, struct region *r, struct value v,
                        struct sql_type type)
{
	if (sql_is_null(v))
		text_string(t, "NULL");
	else if (type.kind == SQL_BOOL)
		text_string(t, v.i ? "t" : "f");
	else
		text_string(t, sql_to_text(r, v, type).o->bytes);
}

static void print_columns(struct text *t, struct region *r,
                          const struct value *values,
                          const struct sql_column *columns, uint32_t count)
{
	for (uint32_t c = 0; c < count; c++) {
		if (c) text_char(t, '|');
		print_value(t, r, values[c], columns[c].type);
	}
	text_char(t, '\n');
}

static void add_sorted(struct text *t, struct strings *lines)
{
	strings_sort(lines);
	for (size_t i = 0; i < lines->count; i++)
		text_string(t, lines->items[i]);
	strings_free(lines);
	*lines = (struct strings){ 0 };
}

/* Lines of a text, sorted. */
static void add_lines(struct text *t, const char *rows)
{
	struct strings lines = { 0 };
	char *copy = mem_copy_string(rows), *at = copy, *line;
	while ((line = strsep(&at, "\n")) && at) {
		struct text one = { 0 };
		text_format(&one, "%s\n", line);
		strings_add(&lines, text_get(&one));
		text_free(&one);
	}
	free(copy);
	add_sorted(t, &lines);
}

struct trial {
	struct spec spec;
	struct region region;
	struct sources sources;
	struct diags diags;
	struct program *program;
	const struct sql_catalog *catalog;
	enum level level;
	struct connection control;
	struct strings theirs, ours;
	uint64_t most; /* histories that are explored; 0: all */
	bool complete;
};

static void add_step(struct text *t, const char *name, const char *error,
                     const char *rows)
{
	text_format(t, "%s: %s\n", name, error);
	if (!*error) add_lines(t, rows);
}

/* ---- PostgreSQL's ---- */

static void query_tables(struct trial *x, struct text *t)
{
	for (uint32_t i = 0; i < x->catalog->table_count; i++) {
		struct text sql = { 0 };
		text_format(&sql, "SELECT * FROM %s",
		            x->catalog->tables[i]->name);
		connection_run(&x->control, text_get(&sql));
		text_free(&sql);
		text_format(t, "%s\n", x->catalog->tables[i]->name);
		add_lines(t, x->control.rows.length ? text_get(&x->control.rows)
		                                    : "");
	}
}

/* Schedules in which PostgreSQL ends a transaction of its own accord have no
 * history. */
static void observe_schedule(void *data, const struct schedules *s)
{
	struct trial *x = data;
	struct text t = { 0 };
	bool kept = true;
	for (uint32_t i = 0; i < s->sessions; i++)
		for (uint32_t k = 0; k < s->counts[i]; k++) {
			const struct step_result *r = &s->results[i][k];
			kept &= strcmp(r->error, "40001") != 0 &&
			        strcmp(r->error, "40P01") != 0;
			add_step(&t, x->spec.sessions[i].steps[k].name,
			         r->error, r->rows);
		}
	query_tables(x, &t);
	if (kept) strings_add(&x->theirs, text_get(&t));
	text_free(&t);
}

static const char *block_text(struct trial *x, const struct spec_block *b)
{
	return region_copy_string(
		&x->region, x->sources.items[b->at.source].text + b->at.offset,
		b->length);
}

/* A session's setup is sent with its first step. */
static const char *step_text(struct trial *x, const struct spec_session *s,
                             uint32_t k)
{
	const char *step = block_text(x, &s->steps[k].sql);
	if (k || !s->has_setup) return step;
	struct text t = { 0 };
	text_format(&t, "%s %s", block_text(x, &s->setup), step);
	const char *both =
		region_copy_string(&x->region, text_get(&t), t.length);
	text_free(&t);
	return both;
}

/* False: some were not run, since the server's choice came in between. */
static bool run_schedules(struct trial *x, const struct postgres *server)
{
	enum { MOST = 4000 };
	struct schedules s = { .server = server,
		               .sessions = x->spec.session_count };
	struct text reset = { 0 }, set = { 0 };
	const char *level = x->level == LEVEL_SER  ? "serializable"
	                    : x->level == LEVEL_SI ? "repeatable read"
	                                           : "read committed";
	connection_open(&x->control, server);
	text_format(&set,
	            "ALTER DATABASE postgres SET default_transaction_isolation "
	            "= '%s'",
	            level);
	connection_run(&x->control, text_get(&set));
	text_string(&reset, "DROP SCHEMA public CASCADE; "
	                    "CREATE SCHEMA public;\n");
	for (uint32_t i = 0; i < x->spec.setup_count; i++)
		text_format(&reset, "%s;\n",
		            block_text(x, &x->spec.setups[i].sql));
	s.reset = text_get(&reset);
	for (uint32_t i = 0; i < s.sessions; i++) {
		const struct spec_session *session = &x->spec.sessions[i];
		s.counts[i] = session->step_count;
		for (uint32_t k = 0; k < session->step_count; k++)
			s.steps[i][k] = step_text(x, session, k);
	}
	bool all = schedules_run(&s, MOST, observe_schedule, x) != UINT32_MAX;
	connection_close(&x->control);
	text_free(&reset);
	text_free(&set);
	return all;
}

/* ---- Ours ---- */

static const struct machine_state *state_of(const struct explore_execution *e,
                                            uint32_t session)
{
	return engine_state(e->engine)->execution.points[session].state;
}

static void print_result(struct trial *x, struct text *t, struct region *r,
                         const struct machine_state *state,
                         const struct sql_step_result *step)
{
	struct value v = guest_session_noted(state, step->name, 0);
	struct text rows = { 0 };
	if (v.tag == VALUE_RECORD) {
		add_step(t, step->name, v.o->items[1].o->bytes, "");
		return;
	}
	(void)x;
	for (uint32_t i = 0; v.tag == VALUE_LIST && i < v.o->length; i++)
		print_columns(&rows, r, v.o->items[i].o->items, step->columns,
		              step->column_count);
	add_step(t, step->name, "", rows.length ? text_get(&rows) : "");
	text_free(&rows);
}

static void print_table(struct text *t, struct region *r,
                        const struct machine_state *last,
                        const struct sql_table *table)
{
	struct value v = guest_session_noted(last, table->name, 0);
	struct strings lines = { 0 };
	text_format(t, "%s\n", table->name);
	for (uint32_t i = 0; v.tag == VALUE_LIST && i < v.o->length; i++) {
		const struct value_object *row = v.o->items[i].o->items[1].o;
		const struct value *items =
			row->items + (row->length - 2 * table->column_count);
		struct value *columns = region_take(
			r, (table->column_count + 1) * sizeof *columns);
		struct text one = { 0 };
		for (uint32_t c = 0; c < table->column_count; c++)
			columns[c] = items[2 * table->columns[c].slot + 1];
		print_columns(&one, r, columns, table->columns,
		              table->column_count);
		strings_add(&lines, text_get(&one));
		text_free(&one);
	}
	add_sorted(t, &lines);
}

static bool observe_history(void *payload, const struct explore_execution *e)
{
	struct trial *x = payload;
	struct text t = { 0 };
	struct region r;
	uint32_t n = 0;
	region_init(&r);
	for (uint32_t i = 0; i < x->spec.session_count; i++)
		for (uint32_t k = 0; k < x->spec.sessions[i].step_count; k++)
			print_result(x, &t, &r, state_of(e, i),
			             &x->catalog->steps[n++]);
	for (uint32_t i = 0; i < x->catalog->table_count; i++)
		print_table(&t, &r, state_of(e, x->spec.session_count),
		            x->catalog->tables[i]);
	strings_add(&x->ours, text_get(&t));
	text_free(&t);
	region_free(&r);
	return true;
}

static void explore(struct trial *x)
{
	struct explore_options o = { .level = x->level,
		                     .base = x->level,
		                     .max_changes = UINT64_MAX,
		                     .max_histories = x->most,
		                     .jobs = 1 };
	struct explore_observer observer = { .payload = x,
		                             .history = observe_history };
	o.algorithm = explorer_usual_algorithm(x->program, x->level);
	struct explorer *e = explorer_new(x->program, &o, &observer);
	explorer_run(e);
	x->complete = explorer_stats(e)->stop == STOP_NONE;
	ck_assert(x->complete || x->most);
	explorer_free(e);
}

/* ---- A specification ---- */

static void take_file(struct text *t, const char *path)
{
	char buffer[1 << 12];
	size_t n;
	FILE *f = fopen(path, "r");
	ck_assert_msg(f != NULL, "%s", path);
	while ((n = fread(buffer, 1, sizeof buffer, f)) > 0)
		text_bytes(t, buffer, n);
	fclose(f);
}

/* With a question about each table, so that all rows are read at the end. */
static void load_text(struct trial *x, const char *path, const char *text,
                      bool all_rows)
{
	struct sql_arguments given = { .all_rows = all_rows };
	struct text more = { 0 };
	struct diags diags = { 0 };
	struct program *p = sql_load(path, text, strlen(text), &given, &diags);
	ck_assert_msg(p != NULL, "%s: %s\n%s", path,
	              diags.count ? diags.items[0].message : "", text);
	const struct sql_catalog *c = &sql_image_of(p->library)->catalog;
	text_string(&more, text);
	for (uint32_t i = 0; i < c->table_count; i++)
		text_format(&more, "\nassert { SELECT count(*) >= 0 FROM %s }",
		            c->tables[i]->name);
	program_free(p);
	x->program =
		sql_load(path, text_get(&more), more.length, &given, &diags);
	ck_assert_msg(x->program != NULL, "%s", path);
	explorer_know_rows(x->program, NULL, 0);
	x->catalog = &sql_image_of(x->program->library)->catalog;
	region_init(&x->region);
	sources_init(&x->sources, &x->region, &x->diags);
	uint32_t n =
		sources_add(&x->sources, path, text, (uint32_t)strlen(text));
	ck_assert(spec_read(&x->spec, &x->sources, n, &x->region));
	diags_free(&diags);
	text_free(&more);
}

static void load(struct trial *x, const char *path)
{
	struct text text = { 0 };
	take_file(&text, path);
	load_text(x, path, text_get(&text), false);
	text_free(&text);
}

static void unload(struct trial *x)
{
	program_free(x->program);
	spec_free(&x->spec);
	sources_free(&x->sources);
	diags_free(&x->diags);
	region_free(&x->region);
	strings_free(&x->theirs);
	strings_free(&x->ours);
}

static bool has(const struct strings *s, const char *what)
{
	for (size_t i = 0; i < s->count; i++)
		if (!strcmp(s->items[i], what)) return true;
	return false;
}

/* What only one of the two has: the first. */
static void tell_missing(struct text *told, const struct trial *x,
                         const struct strings *these,
                         const struct strings *others, const char *what)
{
	for (size_t i = 0; i < these->count; i++) {
		if (has(others, these->items[i])) continue;
		text_format(told, "%s\nat %s: %s:\n%s",
		            x->sources.items[0].text, level_word(x->level),
		            what, these->items[i]);
		return;
	}
}

/* `all_theirs`: whatever the server shows must be explored; `all_ours`: and the
 * other way round. */
static void compare(struct trial *x, bool all_theirs, bool all_ours,
                    struct text *told)
{
	strings_unique(&x->theirs);
	strings_unique(&x->ours);
	ck_assert(x->theirs.count || !all_theirs);
	ck_assert(x->ours.count);
	if (all_theirs)
		tell_missing(told, x, &x->theirs, &x->ours, "not explored");
	if (all_ours)
		tell_missing(told, x, &x->ours, &x->theirs,
		             "PostgreSQL never has");
}

/* Does a comment of the file say this of the level, or of none? */
static bool says(const struct trial *x, const char *what)
{
	struct text t = { 0 };
	text_format(&t, "# %s at %s:", what, level_word(x->level));
	bool found = strstr(x->sources.items[0].text, text_get(&t)) != NULL;
	text_free(&t);
	return found;
}

/* Where the file says `# not all seen: why`, more is explored than the server
 * shows. */
static void try_spec(const struct postgres *server, const char *path,
                     enum level level, bool classic, struct text *told)
{
	struct trial x = { .level = level };
	load(&x, path);
	if (!says(&x, "not compared")) {
		bool all = run_schedules(&x, server);
		ck_assert(all || !classic);
		explore(&x);
		strings_sort(&x.theirs);
		strings_sort(&x.ours);
		compare(&x, !says(&x, "not all explored"),
		        all && !says(&x, "not all seen"), told);
	}
	unload(&x);
}

static const enum level levels[] = { LEVEL_PRC, LEVEL_SI, LEVEL_SER };

START_TEST(classic_situations)
{
	struct postgres server;
	struct dirent **entries;
	struct text path = { 0 }, told = { 0 };
	const char *only = getenv("ISOSCOPE_SPEC");
	text_format(&path, "%s/tests/specs", source_top());
	int count = scandir(text_get(&path), &entries, NULL, alphasort);
	ck_assert_int_gt(count, 2);
	bool there = postgres_start(&server);
	for (int i = 0; i < count; i++) {
		const char *name = entries[i]->d_name;
		text_clear(&path);
		text_format(&path, "%s/tests/specs/%s", source_top(), name);
		for (uint64_t l = 0; there && sql_is_spec(name) && l < 3; l++)
			if ((!only || strstr(name, only)) &&
			    (!is_quick() ||
			     ((uint64_t)i + first_seed()) % 6 == l))
				try_spec(&server, text_get(&path), levels[l],
				         true, &told);
		free(entries[i]);
	}
	free(entries);
	text_free(&path);
	if (there) postgres_stop(&server);
	ck_assert_msg(!told.length, "%s", text_get(&told));
	text_free(&told);
}
END_TEST

/* ---- Rows that are not read ---- */

/* One of `t`, with a key, and `u`, without one; ? is a small number. */
static const char *const statements[] = {
	"SELECT v FROM t WHERE id = ?",
	"SELECT id, v FROM t WHERE v > ?",
	"SELECT count(*) FROM u WHERE n = ?",
	"SELECT v FROM t WHERE v = ? FOR UPDATE",
	"SELECT t.v FROM t JOIN u ON t.v = u.n WHERE t.id <= ?",
	"UPDATE t SET v = v + 1 WHERE id = ?",
	"UPDATE t SET v = ? WHERE v = ?",
	"UPDATE t SET v = ?",
	"DELETE FROM t WHERE v = ?",
	"DELETE FROM u WHERE n = ?",
	"INSERT INTO t VALUES (?, ?)",
	"INSERT INTO t VALUES (?, ?) ON CONFLICT DO NOTHING",
	"INSERT INTO u VALUES (?)",
	("INSERT INTO u SELECT v FROM t WHERE v = ? AND NOT EXISTS "
	 "(SELECT 1 FROM u WHERE n = ?)"),
};

static void add_statement(struct text *t, struct rng *r)
{
	const uint32_t count = sizeof statements / sizeof *statements;
	for (const char *s = statements[rng_below(r, count)]; *s; s++)
		text_char(t, *s == '?' ? (char)('1' + rng_below(r, 3)) : *s);
	text_string(t, "; ");
}

static void random_spec(struct text *t, struct rng *r)
{
	text_string(t, "setup { CREATE TABLE t (id int PRIMARY KEY, v int);\n"
	               "CREATE TABLE u (n int); INSERT INTO u VALUES (1);\n"
	               "INSERT INTO t VALUES (1, 1), (2, 2); }\n");
	for (int i = 0; i < 2; i++) {
		bool together = rng_below(r, 2);
		text_format(t, "session s%d\n", i);
		if (together) text_string(t, "setup { BEGIN; }\n");
		uint32_t steps = 1 + rng_below(r, 2);
		for (uint32_t k = 0; k < steps; k++) {
			text_format(t, "step s%d_%d { ", i, (int)k);
			add_statement(t, r);
			text_string(t, "}\n");
		}
		if (together) text_format(t, "step c%d { COMMIT; }\n", i);
	}
}

static void explore_rows(struct trial *x, const char *text, bool all)
{
	enum { MOST = 3000 };
	x->most = MOST;
	load_text(x, "random.spec", text, all);
	explore(x);
	strings_sort(&x->ours);
	strings_unique(&x->ours);
}

static void same_outcomes(const struct trial *x, const struct trial *y,
                          const char *text, uint64_t seed)
{
	for (size_t i = 0; i < x->ours.count; i++)
		ck_assert_msg(has(&y->ours, x->ours.items[i]),
		              "seed %" PRIu64 " at %s: only with%s all rows "
		              "read:\n%s\n%s",
		              seed, level_word(x->level),
		              x->program->library &&
		                              sql_given(x->program)->all_rows
		                      ? ""
		                      : "out",
		              x->ours.items[i], text);
}

/* Those that can make no difference make none. */
START_TEST(rows_that_are_not_read)
{
	static const enum level levels[] = { LEVEL_CC, LEVEL_PRC, LEVEL_SI,
		                             LEVEL_SER };
	uint64_t count = programs_or(400), from = first_seed(), compared = 0;
	for (uint64_t seed = from; seed < from + count; seed++) {
		struct rng rng = { seed };
		struct text t = { 0 };
		random_spec(&t, &rng);
		struct trial x = { .level = levels[seed % 4] };
		struct trial y = { .level = x.level };
		explore_rows(&x, text_get(&t), false);
		explore_rows(&y, text_get(&t), true);
		if (x.complete && y.complete) {
			same_outcomes(&x, &y, text_get(&t), seed);
			same_outcomes(&y, &x, text_get(&t), seed);
			compared++;
		}
		unload(&x);
		unload(&y);
		text_free(&t);
	}
	ck_assert_uint_gt(2 * compared, count);
}
END_TEST

/* ---- Random ones: rows that go, come again, and get other keys ---- */

/* The format with a key for each %. */
static void fill_in(struct text *t, struct rng *r, const char *format)
{
	for (; *format; format++) {
		if (*format == '%')
			text_format(t, "%u", 1 + (unsigned)rng_below(r, 3));
		else
			text_char(t, *format);
	}
	text_string(t, "; ");
}

/* Tables, and what sessions do with them. */
struct situation {
	const char *setup; /* ! stands for what becomes of rows that refer */
	bool calls;        /* functions of several statements */
	const char *changes[16];
};

static const struct situation situations[] = {
	{ "  CREATE TABLE t (id int PRIMARY KEY, n int);\n"
	  "  INSERT INTO t VALUES (1, 0), (2, 0);\n",
	  false,
	  { "DELETE FROM t WHERE id = %", "DELETE FROM t WHERE id = 1",
	    "INSERT INTO t VALUES (%, 5)", "INSERT INTO t VALUES (1, 6)",
	    "UPDATE t SET id = % WHERE id = %",
	    "UPDATE t SET id = 3 WHERE id = 1",
	    "UPDATE t SET id = 1 WHERE id = 3",
	    "UPDATE t SET n = n + 1 WHERE id = % RETURNING id, n",
	    "UPDATE t SET n = n + 1 WHERE n = 0 AND id < 3 RETURNING id, n",
	    "UPDATE t SET n = n + (SELECT sum(n) FROM t) WHERE id < 3 "
	    "RETURNING id, n, (SELECT count(*) FROM t)",
	    "SELECT id, n FROM t", "SELECT id, n FROM t WHERE id = % FOR SHARE",
	    "SELECT id, n FROM t WHERE id = % FOR UPDATE",
	    "SELECT id, n FROM t WHERE n = 0 FOR UPDATE" } },
	{ "  CREATE TABLE t (id int PRIMARY KEY, n int);\n"
	  "  INSERT INTO t VALUES (1, 0), (2, 0);\n",
	  false,
	  { "INSERT INTO t VALUES (%, 9) ON CONFLICT DO NOTHING RETURNING id",
	    "INSERT INTO t VALUES (%, 9) ON CONFLICT (id) DO UPDATE SET n = "
	    "t.n + 10 RETURNING id, n",
	    "DELETE FROM t WHERE id = % RETURNING n",
	    "UPDATE t SET id = % WHERE id = %", "INSERT INTO t VALUES (%, 5)",
	    "SELECT id, n FROM t" } },
	{ "  CREATE TABLE u (id int PRIMARY KEY, k int UNIQUE, n int DEFAULT "
	  "0);\n"
	  "  INSERT INTO u VALUES (1, 1), (2, 2);\n",
	  false,
	  { "UPDATE u SET k = % WHERE id = %",
	    "UPDATE u SET id = % WHERE k = % RETURNING id, k",
	    "DELETE FROM u WHERE k = % RETURNING id",
	    "INSERT INTO u VALUES (%, %)",
	    "INSERT INTO u VALUES (%, %) ON CONFLICT (k) DO UPDATE SET n = u.n "
	    "+ 1 RETURNING id, n",
	    "SELECT id, k, n FROM u" } },
	{ "  CREATE TABLE t (id int PRIMARY KEY, n int);\n"
	  "  INSERT INTO t VALUES (1, 0), (2, 0);\n"
	  "  CREATE TABLE c (id int PRIMARY KEY, t_id int REFERENCES t!);\n"
	  "  INSERT INTO c VALUES (1, 1);\n",
	  false,
	  { "DELETE FROM t WHERE id = %", "INSERT INTO t VALUES (%, 5)",
	    "UPDATE t SET id = % WHERE id = %",
	    "UPDATE t SET n = n + 1 WHERE id = % RETURNING id, n",
	    "INSERT INTO c VALUES (%, %)", "UPDATE c SET t_id = % WHERE id = %",
	    "DELETE FROM c WHERE id = %", "SELECT id, t_id FROM c",
	    "UPDATE c SET id = % WHERE id = %",
	    "INSERT INTO c VALUES (%, %) ON CONFLICT (id) DO UPDATE SET t_id = "
	    "excluded.t_id RETURNING t_id",
	    "DELETE FROM t WHERE NOT EXISTS (SELECT 1 FROM c WHERE t_id = "
	    "t.id) RETURNING id",
	    "SELECT id FROM t WHERE id = % FOR KEY SHARE" } },
	{ "  CREATE TABLE t (id int PRIMARY KEY, n int);\n"
	  "  INSERT INTO t VALUES (1, 0), (2, 0), (3, 1);\n",
	  false,
	  { "SELECT id, n FROM t ORDER BY n DESC, id LIMIT 1 FOR UPDATE",
	    "UPDATE t SET n = t.n + s.n + 1 FROM t s WHERE s.id = t.id + 1 AND "
	    "t.id = % RETURNING t.id, t.n, s.n",
	    "UPDATE t SET n = 5 WHERE id = (SELECT min(id) FROM t WHERE n = 0) "
	    "RETURNING id",
	    "DELETE FROM t USING t s WHERE s.id = t.id + 1 AND s.n > 0 "
	    "RETURNING "
	    "t.id",
	    "SELECT a.id, b.n FROM t a JOIN t b ON b.id = a.id + 1 WHERE a.n = "
	    "0 "
	    "FOR UPDATE OF a",
	    "UPDATE t SET n = % WHERE id = %",
	    "UPDATE t SET n = n + 1 WHERE n = 0",
	    "INSERT INTO t SELECT max(id) + 1, 0 FROM t",
	    "WITH x AS (SELECT id FROM t WHERE n = 0) SELECT id, (SELECT "
	    "sum(n) "
	    "FROM t) FROM x" } },
	{ "  CREATE TABLE t (id int PRIMARY KEY, k int UNIQUE, n int DEFAULT "
	  "0);\n"
	  "  INSERT INTO t VALUES (1, 1), (2, 2);\n"
	  "  CREATE TABLE c (id int PRIMARY KEY, k int REFERENCES t (k)!);\n"
	  "  INSERT INTO c VALUES (1, 1);\n",
	  false,
	  { "DELETE FROM t WHERE k = %", "INSERT INTO t VALUES (%, %)",
	    "UPDATE t SET k = % WHERE id = %",
	    "UPDATE t SET id = % WHERE k = %",
	    "UPDATE t SET n = n + 1 WHERE k = % RETURNING id, n",
	    "INSERT INTO c VALUES (%, %)", "UPDATE c SET k = % WHERE id = %",
	    "SELECT id, k FROM c", "SELECT id, k, n FROM t" } },
	{ "  CREATE TABLE t (id int PRIMARY KEY, k int, n int);\n"
	  "  CREATE TABLE w (id int PRIMARY KEY, v int);\n"
	  "  INSERT INTO t VALUES (1, 1, 0), (2, 1, 0);\n"
	  "  INSERT INTO w VALUES (1, 10), (2, 20);\n"
	  "  CREATE FUNCTION v_of(k int) RETURNS int LANGUAGE sql STABLE AS "
	  "$$ SELECT v FROM w WHERE id = k $$;\n",
	  false,
	  { "UPDATE t SET k = %", "UPDATE t SET k = % WHERE id = %",
	    "UPDATE w SET v = v + 1 WHERE id = %",
	    "UPDATE t SET n = (SELECT v FROM w WHERE id = t.k) WHERE id = % "
	    "RETURNING k, n",
	    "UPDATE t SET n = 5, k = t.k + 1 WHERE (SELECT v FROM w WHERE id = "
	    "t.k) < 21 RETURNING id, k, (SELECT v FROM w WHERE id = t.k)",
	    "SELECT k, (SELECT v FROM w WHERE id = t.k) FROM t WHERE id = % "
	    "FOR UPDATE",
	    "DELETE FROM t WHERE id = % AND EXISTS (SELECT FROM w WHERE v > 10 "
	    "AND id = k) RETURNING id",
	    "INSERT INTO t VALUES (%, %) ON CONFLICT (id) DO UPDATE SET n = "
	    "(SELECT v FROM w WHERE id = t.k) RETURNING k, n",
	    "UPDATE t SET n = v_of(k) WHERE id = % RETURNING k, n",
	    "UPDATE t SET n = w.v FROM w WHERE w.id = t.k AND t.id = % "
	    "RETURNING k, n",
	    "UPDATE t SET id = % WHERE id = %", "DELETE FROM w WHERE id = %",
	    "SELECT x.k, v FROM (SELECT k FROM t WHERE id = % FOR UPDATE) x "
	    "JOIN w ON w.id = x.k",
	    "SELECT t.id, k, v FROM t JOIN w ON w.id = k FOR UPDATE OF t" } },
	{ "  CREATE TABLE t (id int PRIMARY KEY, n int);\n"
	  "  INSERT INTO t VALUES (1, 0), (2, 0);\n"
	  "  CREATE FUNCTION put(k int) RETURNS int LANGUAGE plpgsql AS $$ "
	  "BEGIN\n"
	  "    BEGIN INSERT INTO t VALUES (k, 5); RETURN 1;\n"
	  "    EXCEPTION WHEN unique_violation THEN NULL; END;\n"
	  "    UPDATE t SET n = n + 10 WHERE id = k; RETURN 2; END $$;\n"
	  "  CREATE FUNCTION add(k int) RETURNS int LANGUAGE plpgsql AS $$ "
	  "BEGIN\n"
	  "    UPDATE t SET n = n + 1 WHERE id = k;\n"
	  "    RETURN (SELECT sum(n) FROM t); END $$;\n"
	  "  CREATE FUNCTION look(k int) RETURNS int LANGUAGE plpgsql STABLE "
	  "AS "
	  "$$ BEGIN\n"
	  "    RETURN (SELECT sum(n) FROM t WHERE id >= k); END $$;\n"
	  "  CREATE FUNCTION total(k int) RETURNS int LANGUAGE plpgsql AS $$ "
	  "BEGIN\n"
	  "    RETURN 100 * add(k) + 10 * look(1) + (SELECT sum(n) FROM t); "
	  "END "
	  "$$;\n"
	  "  CREATE FUNCTION take(k int) RETURNS int LANGUAGE plpgsql AS $$ "
	  "BEGIN\n"
	  "    UPDATE t SET n = 10 / (n - 1) WHERE id = k; RETURN 1;\n"
	  "    EXCEPTION WHEN division_by_zero THEN RETURN 2; END $$;\n",
	  true,
	  { "SELECT put(%)", "SELECT take(%)", "SELECT total(%)",
	    "SELECT add(%), (SELECT sum(n) FROM t)",
	    "SELECT id, add(id), look(1), (SELECT sum(n) FROM t) FROM t WHERE "
	    "id = %",
	    "UPDATE t SET n = look(1) + 1 WHERE id = % RETURNING id, n",
	    "UPDATE t SET n = n + 1 WHERE id = % RETURNING add(3), look(%)",
	    "DELETE FROM t WHERE id = %", "SELECT look(%)",
	    "INSERT INTO t VALUES (%, 7)" } },
};

static void add_change(struct text *t, struct rng *r,
                       const struct situation *in)
{
	uint32_t count = 0;
	while (in->changes[count]) count++;
	fill_in(t, r, one_of(r, in->changes, count));
}

/* One statement, several at once, between which no schedule of steps can stop,
 * or (true) a block of some steps, of which a savepoint may take some back. */
static bool add_session_steps(struct text *t, struct rng *r,
                              const struct situation *in, unsigned session,
                              bool many)
{
	uint64_t form = rng_below(r, many && session > 1 ? 2 : 8);
	unsigned step = 0;
	bool saves = form > 6;
	if (form > 3) form = 3;
	if (form == 1 || form == 2 || in->calls)
		text_string(t, "# not all seen at prc: several at once\n"
		               "# not all seen at si: several at once\n");
	if (form == 3 && many)
		text_string(t, "# not all seen at prc: a statement would have "
		               "to be held before it locks\n");
	text_format(t, "session s%u\n", session);
	if (form == 3)
		text_format(t, "step b%u { BEGIN; ", session);
	else
		text_format(t, "step a%u { ", session);
	if (saves) text_string(t, "SAVEPOINT p; ");
	for (uint64_t n =
	             1 + (form > 0) + saves + (form == 2 && rng_below(r, 2));
	     n; n--) {
		add_change(t, r, in);
		if (form == 3)
			text_format(t, "}\nstep a%u_%u { ", session, ++step);
		if (saves && n > 1 && rng_below(r, 2))
			text_string(t, "SAVEPOINT p; ");
		else if (saves && n > 1)
			text_format(t, "ROLLBACK TO p; }\nstep a%u_%u { ",
			            session, ++step);
	}
	if (form == 3) text_string(t, "COMMIT; ");
	text_string(t, "}\n");
	return form == 3;
}

/* Does a statement read other rows than those that it locks? */
static bool reads_others(const struct text *t)
{
	static const char *const signs[] = { "(SELECT", "FROM t s", "USING",
		                             "JOIN", "v_of(k)" };
	bool found = false;
	for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
		found |= strstr(text_get(t), signs[i]) != NULL;
	return found;
}

static void random_changes(struct text *t, struct rng *r)
{
	static const char *const actions[] = {
		"",
		" ON DELETE CASCADE",
		" ON DELETE SET NULL ON UPDATE CASCADE",
		" ON DELETE RESTRICT ON UPDATE SET NULL",
		" ON DELETE CASCADE ON UPDATE CASCADE",
	};
	const struct situation *in = &situations[rng_below(
		r, sizeof situations / sizeof *situations)];
	bool many = rng_below(r, 3) == 0, blocks = true;
	text_string(t, "# not all seen at ser: it ends more than it must\n");
	text_string(t, "setup {\n");
	for (const char *s = in->setup; *s; s++)
		if (*s == '!')
			text_string(t, ONE_OF(r, actions));
		else
			text_char(t, *s);
	text_string(t, "}\n");
	for (unsigned i = 1; i <= 2 + (unsigned)many; i++)
		blocks &= add_session_steps(t, r, in, i, many);
	/* One that is a step by itself begins and commits while the other one
	 * stands between its snapshot and the lock. */
	if (!blocks && reads_others(t))
		text_string(t, "# not all seen at prc: a statement would have "
		               "to be held before it locks\n");
	/* The manual says what INSERT may do there. */
	if (strstr(text_get(t), "; INSERT") ||
	    strstr(text_get(t), "{ INSERT") ||
	    strstr(text_get(t), "SELECT put("))
		text_string(t, "# not all explored at si: INSERT\n"
		               "# not all explored at ser: INSERT\n");
}

START_TEST(random_situations)
{
	struct postgres server;
	struct text path = { 0 }, told = { 0 };
	struct rng r = { first_seed() };
	uint64_t count = is_quick() ? 4 : programs_or(100);
	enum { ENOUGH = 2000 }; /* of what differs */
	if (!postgres_start(&server)) return;
	text_format(&path, "%s/random.spec", server.folder);
	for (uint64_t i = 0; i < count && told.length < ENOUGH; i++) {
		struct text t = { 0 };
		random_changes(&t, &r);
		FILE *f = fopen(text_get(&path), "w");
		ck_assert(f && fputs(text_get(&t), f) >= 0);
		fclose(f);
		for (uint64_t l = 0; l < 3; l++)
			try_spec(&server, text_get(&path), levels[l], false,
			         &told);
		text_free(&t);
	}
	text_free(&path);
	postgres_stop(&server);
	ck_assert_msg(!told.length, "ISOSCOPE_SEED=%lu\n%s",
	              (unsigned long)first_seed(), text_get(&told));
	text_free(&told);
}
END_TEST

void add_specs_tests(TCase *tests)
{
	tcase_add_test(tests, rows_that_are_not_read);
	tcase_add_test(tests, random_situations);
	tcase_add_test(tests, classic_situations);
}
