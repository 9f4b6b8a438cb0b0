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
#include "random_situation.h"
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
	struct strings theirs, ours, asked; /* of theirs: must be explored */
	bool random;                        /* not written by hand */
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
		client_run(&x->control, text_get(&sql));
		text_free(&sql);
		text_format(t, "%s\n", x->catalog->tables[i]->name);
		add_lines(t, x->control.rows.length ? text_get(&x->control.rows)
		                                    : "");
	}
}

/* Did a session take a key away, and end before a place in the order, but not
 * before another one? (One that is a step by itself may have waited, for a
 * third one.) */
static bool key_went(const struct schedules *s, uint32_t from, uint32_t to)
{
	static const char *const away[] = { "DELETE", "SET id", "SET k", "del(",
		                            NULL };
	bool third = s->sessions > 2;
	uint32_t sent[SCHEDULE_SESSIONS] = { 0 };
	for (uint32_t at = 0; at < to; at++) {
		uint32_t i = s->order[at], last = s->counts[i] - 1;
		if (++sent[i] <= last || (at <= from && (last || !third)))
			continue;
		for (uint32_t k = 0; k <= last; k++)
			if (has_any(s->steps[i][k], away)) return true;
	}
	return false;
}

/* At REPEATABLE READ a key that went behind the snapshot may be inserted, and
 * two rows of that key are seen then: the manual says that this is not
 * explored. */
static bool may_see_key_twice(const struct schedules *s)
{
	static const char *const puts[] = { "INSERT", "put(", "SET id", "SET k",
		                            NULL };
	uint32_t sent[SCHEDULE_SESSIONS] = { 0 },
		 began[SCHEDULE_SESSIONS] = { 0 };
	for (uint32_t at = 0; at < s->length; at++) {
		uint32_t i = s->order[at], k = sent[i]++, to = at + 1;
		if (!k) began[i] = at;
		if (!has_any(s->steps[i][k], puts)) continue;
		while (to < s->length && s->order[to] != i) to++;
		if (key_went(s, began[i], to)) return true;
	}
	return false;
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
	if (kept &&
	    (!x->random || x->level != LEVEL_SI || !may_see_key_twice(s)))
		strings_add(&x->asked, text_get(&t));
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
	client_open(&x->control, server);
	text_format(&set,
	            "ALTER DATABASE postgres SET default_transaction_isolation "
	            "= '%s'",
	            level);
	client_run(&x->control, text_get(&set));
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
	client_close(&x->control);
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
	bool learns;
	do {
		struct explorer *e = explorer_new(x->program, &o, &observer);
		strings_free(&x->ours);
		x->ours = (struct strings){ 0 };
		explorer_run(e);
		x->complete = explorer_stats(e)->stop == STOP_NONE;
		explorer_free(e);
		learns = explorer_can_learn(x->program);
		if (learns) explorer_learn_rows(x->program, &o);
	} while (learns);
	ck_assert(x->complete || x->most);
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
	strings_free(&x->asked);
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
	strings_sort(&x->theirs);
	strings_sort(&x->ours);
	strings_unique(&x->theirs);
	strings_unique(&x->ours);
	ck_assert(x->theirs.count || !all_theirs);
	ck_assert(x->ours.count);
	if (all_theirs)
		tell_missing(told, x, &x->asked, &x->ours, "not explored");
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
	struct trial x = { .level = level, .random = !classic };
	load(&x, path);
	if (!says(&x, "not compared")) {
		bool all = run_schedules(&x, server);
		ck_assert(all || !classic);
		explore(&x);
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
		random_rows(&t, &rng);
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

/* ---- Levels of transactions ---- */

/* The text, each BEGIN of which asks for its level: LEVEL_COUNT asks for none.
 */
static void with_levels(struct text *to, const char *text,
                        const enum level *asked)
{
	static const char *const words[] = { [LEVEL_PRC] = "READ COMMITTED",
		                             [LEVEL_SI] = "REPEATABLE READ",
		                             [LEVEL_SER] = "SERIALIZABLE" };
	const char *next;
	for (; (next = strstr(text, "BEGIN;")); text = next, asked++) {
		next += strlen("BEGIN");
		text_bytes(to, text, (size_t)(next - text));
		if (*asked != LEVEL_COUNT)
			text_format(to, " ISOLATION LEVEL %s", words[*asked]);
	}
	text_string(to, text);
}

static void explore_levels(struct trial *x, const char *text,
                           const enum level *asked, bool drop)
{
	struct text t = { 0 };
	with_levels(&t, text, asked);
	load_text(x, "levels.spec", text_get(&t), false);
	if (drop) sql_drop_levels(x->program);
	explore(x);
	strings_sort(&x->ours);
	strings_unique(&x->ours);
	text_free(&t);
}

/* Two ways to say the same, and the levels that they ask for. */
static void same_levels(const char *text, enum level level, const enum level *a,
                        const enum level *b, bool drop, uint64_t seed)
{
	struct trial x = { .level = level }, y = { .level = level };
	explore_levels(&x, text, a, drop);
	explore_levels(&y, text, b, false);
	same_outcomes(&x, &y, text, seed);
	same_outcomes(&y, &x, text, seed);
	unload(&x);
	unload(&y);
}

/* A BEGIN without a level is one with the program's; what is dropped has not
 * been there. */
START_TEST(levels_of_transactions)
{
	uint64_t count = programs_or(200), from = first_seed();
	for (uint64_t seed = from; seed < from + count; seed++) {
		struct rng rng = { seed };
		struct text t = { 0 };
		enum level level = levels[rng_below(&rng, 3)];
		enum level said[2], all[2],
			none[] = { LEVEL_COUNT, LEVEL_COUNT };
		for (int i = 0; i < 2; i++) {
			bool plain = rng_below(&rng, 2);
			all[i] = plain ? level : levels[rng_below(&rng, 3)];
			said[i] = plain ? LEVEL_COUNT : all[i];
		}
		random_rows(&t, &rng);
		same_levels(text_get(&t), level, said, all, false, seed);
		same_levels(text_get(&t), level, said, none, true, seed);
		text_free(&t);
	}
}
END_TEST

/* ---- Random ones ---- */

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
		random_situation(&t, &r);
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
	tcase_add_test(tests, levels_of_transactions);
	tcase_add_test(tests, random_situations);
	tcase_add_test(tests, classic_situations);
}
