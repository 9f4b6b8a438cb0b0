/* Classic situations in SQL (tests/specs): what a private PostgreSQL gives in
 * all schedules, against what is explored at the level. An outcome is what
 * every step returned, and what the tables hold at the end. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "axioms/level.h"
#include "base/memory.h"
#include "dpor/engine.h"
#include "dpor/explorer.h"
#include "dpor/state.h"
#include "file_support.h"
#include "postgres.h"
#include "schedules.h"
#include "sql/image.h"
#include "sql/load.h"
#include "sql/spec.h"
#include "api/programs.h"
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

static void run_schedules(struct trial *x, const struct postgres *server)
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
	ck_assert_uint_ne(schedules_run(&s, MOST, observe_schedule, x),
	                  UINT32_MAX);
	connection_close(&x->control);
	text_free(&reset);
	text_free(&set);
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
	struct value v = guest_session_noted(state, step->name);
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
	struct value v = guest_session_noted(last, table->name);
	struct strings lines = { 0 };
	text_format(t, "%s\n", table->name);
	for (uint32_t i = 0; v.tag == VALUE_LIST && i < v.o->length; i++) {
		const struct value_object *row = v.o->items[i].o->items[1].o;
		struct value *columns = region_take(
			r, (table->column_count + 1) * sizeof *columns);
		struct text one = { 0 };
		for (uint32_t c = 0; c < table->column_count; c++)
			columns[c] = row->items[2 * table->columns[c].slot + 1];
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
		                     .jobs = 1 };
	struct explore_observer observer = { .payload = x,
		                             .history = observe_history };
	o.algorithm = explorer_usual_algorithm(x->program, x->level);
	struct explorer *e = explorer_new(x->program, &o, &observer);
	explorer_run(e);
	ck_assert_int_eq(explorer_stats(e)->stop, STOP_NONE);
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
static void load(struct trial *x, const char *path)
{
	struct text text = { 0 }, more = { 0 };
	struct diags diags = { 0 };
	take_file(&text, path);
	struct program *p =
		sql_load_spec(path, text_get(&text), text.length, &diags);
	ck_assert_msg(p != NULL, "%s: %s", path,
	              diags.count ? diags.items[0].message : "");
	const struct sql_catalog *c = &sql_image_of(p->library)->catalog;
	text_string(&more, text_get(&text));
	for (uint32_t i = 0; i < c->table_count; i++)
		text_format(&more, "\nassert { SELECT count(*) >= 0 FROM %s }",
		            c->tables[i]->name);
	program_free(p);
	x->program = sql_load_spec(path, text_get(&more), more.length, &diags);
	ck_assert_msg(x->program != NULL, "%s", path);
	program_know_rows(x->program);
	x->catalog = &sql_image_of(x->program->library)->catalog;
	region_init(&x->region);
	sources_init(&x->sources, &x->region, &x->diags);
	uint32_t n = sources_add(&x->sources, path, text_get(&text),
	                         (uint32_t)text.length);
	ck_assert(spec_read(&x->spec, &x->sources, n, &x->region));
	diags_free(&diags);
	text_free(&more);
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

/* Where the file says `# not all seen: why`, more is explored than the server
 * shows. */
static void compare(struct trial *x, const char *path, bool all)
{
	strings_unique(&x->theirs);
	strings_unique(&x->ours);
	ck_assert(x->theirs.count && x->ours.count);
	for (size_t i = 0; i < x->theirs.count; i++)
		ck_assert_msg(has(&x->ours, x->theirs.items[i]),
		              "%s at %s: not explored:\n%s", path,
		              level_word(x->level), x->theirs.items[i]);
	for (size_t i = 0; all && i < x->ours.count; i++)
		ck_assert_msg(has(&x->theirs, x->ours.items[i]),
		              "%s at %s: PostgreSQL never has:\n%s", path,
		              level_word(x->level), x->ours.items[i]);
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

static void try_spec(const struct postgres *server, const char *path,
                     enum level level)
{
	struct trial x = { .level = level };
	load(&x, path);
	if (!says(&x, "not compared")) {
		run_schedules(&x, server);
		explore(&x);
		strings_sort(&x.theirs);
		strings_sort(&x.ours);
		compare(&x, path, !says(&x, "not all seen"));
	}
	unload(&x);
}

START_TEST(classic_situations)
{
	static const enum level levels[] = { LEVEL_PRC, LEVEL_SI, LEVEL_SER };
	struct postgres server;
	struct dirent **entries;
	struct text path = { 0 };
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
				try_spec(&server, text_get(&path), levels[l]);
		free(entries[i]);
	}
	free(entries);
	text_free(&path);
	if (there) postgres_stop(&server);
}
END_TEST

void add_specs_tests(TCase *tests)
{
	tcase_add_test(tests, classic_situations);
}
