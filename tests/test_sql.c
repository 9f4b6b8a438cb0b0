/* Statements of SQL, one after the other, as a private PostgreSQL 15 carries
 * them out: the same rows, and errors in the same places. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/rng.h"
#include "sql/load.h"
#include "sql/parser.h"
#include "sql/resolve.h"
#include "sql/run.h"
#include "suites.h"
#include "support.h"
#include "vm/bytecode.h"

#define SERVER "/usr/lib/postgresql/15/bin"

/* ---- A server of our own ---- */

struct server {
	char folder[64];
	const char *as; /* root must not run it */
	pid_t pid;
};

static int shell(const char *format, ...) __attribute__((format(printf, 1, 2)));

static int shell(const char *format, ...)
{
	struct text t = { 0 };
	va_list args;
	va_start(args, format);
	text_vformat(&t, format, args);
	va_end(args);
	int code = system(text_get(&t));
	text_free(&t);
	return code;
}

/* It ends when this process does, whatever ends it. */
static void server_exec(const struct server *s)
{
	struct text t = { 0 };
	text_format(&t,
	            "cd %s && exec setpriv %s --pdeathsig QUIT " SERVER
	            "/postgres -D data -k %s -h '' -F >>log 2>&1",
	            s->folder, s->as, s->folder);
	execl("/bin/sh", "sh", "-c", text_get(&t), (char *)NULL);
	_exit(127);
}

/* False where there is none. */
static bool server_start(struct server *s)
{
	enum { TRIES = 600 };
	if (access(SERVER "/initdb", X_OK)) {
		fprintf(stderr, "nothing is compared with PostgreSQL: install "
		                "postgresql-15\n");
		return false;
	}
	strcpy(s->folder, "/tmp/isoscope-sql-XXXXXX");
	ck_assert(mkdtemp(s->folder) != NULL);
	ck_assert(!chmod(s->folder, 0777));
	s->as = geteuid() ? ""
	                  : "--reuid postgres --regid postgres --init-groups";
	ck_assert(!shell("cd %s && setpriv %s " SERVER "/initdb -D data "
	                 "-U test -A trust --no-locale -E UTF8 --no-sync "
	                 ">log 2>&1",
	                 s->folder, s->as));
	s->pid = fork();
	if (!s->pid) server_exec(s);
	ck_assert_int_gt(s->pid, 0);
	for (int i = 0; shell(SERVER "/pg_isready -q -h %s", s->folder); i++) {
		ck_assert_msg(i < TRIES && !waitpid(s->pid, NULL, WNOHANG),
		              "PostgreSQL does not start: see %s/log",
		              s->folder);
		usleep(100000);
	}
	return true;
}

static void server_stop(const struct server *s)
{
	kill(s->pid, SIGQUIT);
	waitpid(s->pid, NULL, 0);
	shell("rm -rf %s", s->folder);
}

/* What psql prints of the script: unaligned rows, SQLSTATEs. */
static char *server_run(const struct server *s, const struct text *script)
{
	char path[96];
	struct text out = { 0 };
	char buffer[1 << 14];
	size_t n;
	snprintf(path, sizeof path, "%s/script", s->folder);
	FILE *f = fopen(path, "w");
	ck_assert(f != NULL);
	fwrite(script->data, 1, script->length, f);
	fclose(f);
	ck_assert(!shell("cd %s && psql -X -q -A -t -P null=NULL -v "
	                 "VERBOSITY=sqlstate -h %s -U test -f script postgres "
	                 ">out 2>&1",
	                 s->folder, s->folder));
	snprintf(path, sizeof path, "%s/out", s->folder);
	ck_assert((f = fopen(path, "r")) != NULL);
	while ((n = fread(buffer, 1, sizeof buffer, f)) > 0)
		text_bytes(&out, buffer, n);
	fclose(f);
	return out.data ? out.data : mem_copy_string("");
}

/* ---- The same here ---- */

struct here {
	struct region region;
	struct diags diags;
	struct sources all;
	struct sql_catalog catalog;
	struct known known;
	struct sql_parser *parser;
	int64_t sequences[16];
	uint32_t started; /* of them */
	uint32_t statements;
};

static void here_begin(struct here *h)
{
	memset(h, 0, sizeof *h);
	region_init(&h->region);
	sources_init(&h->all, &h->region, &h->diags);
	known_init(&h->known);
	h->parser = sql_parser_new();
	h->catalog = (struct sql_catalog){ .region = &h->region,
		                           .all = &h->all,
		                           .program = program_new("sql") };
}

static void here_end(struct here *h)
{
	for (uint32_t i = 0; i < h->catalog.table_count; i++) {
		free(h->catalog.tables[i]->columns);
		free(h->catalog.tables[i]->uniques);
		free(h->catalog.tables[i]->checks);
	}
	free(h->catalog.tables);
	free(h->catalog.sequences);
	free(h->catalog.enums);
	program_free(h->catalog.program);
	sql_parser_free(h->parser);
	known_free(&h->known);
	sources_free(&h->all);
	diags_free(&h->diags);
	region_free(&h->region);
}

static void apply(struct here *h, const struct sql_write *w)
{
	if (!w) return;
	apply(h, w->older);
	known_set(&h->known, w->global, w->key, w->row);
}

static void print_value(struct text *t, struct region *r, struct value v,
                        struct sql_type type)
{
	if (sql_is_null(v))
		text_string(t, "NULL");
	else if (type.kind == SQL_BOOL)
		text_string(t, v.i ? "t" : "f");
	else if (v.tag == VALUE_STRING)
		text_string(t, v.o->bytes);
	else
		text_string(t, sql_to_text(r, v, type).o->bytes);
}

static void print_rows(struct text *t, struct region *r,
                       const struct sql_statement *s,
                       const struct sql_rows *rows)
{
	for (uint32_t i = 0; i < rows->count; i++) {
		for (uint32_t c = 0; c < sql_result_columns(s); c++) {
			if (c) text_char(t, '|');
			print_value(t, r, rows->items[i][c],
			            sql_result_targets(s)[c].value->type);
		}
		text_char(t, '\n');
	}
}

/* Carries the statement out, and prints what it gives. What is refused before
 * it is run has no SQLSTATE: "refused". */
static void here_run(struct here *h, const char *sql, struct text *out)
{
	struct sql_refusal why = { 0 };
	uint32_t length = (uint32_t)strlen(sql);
	uint32_t source = sources_add(&h->all, "x", sql, length);
	struct spec_block block = { { source, 0 }, length };
	json_t *all = sql_parse(h->parser, sql, length, &why);
	ck_assert_msg(all != NULL, "%s: %s", sql, text_get(&why.message));
	const struct sql_statement *s = sql_resolve(
		&h->catalog, &block, PURPOSE_SETUP, json_array_get(all, 0));
	json_decref(all);
	if (!s) {
		text_format(out, "refused %s\n",
		            h->diags.items[h->diags.count - 1].message);
		h->all.errors = 0;
		return;
	}
	struct region scratch;
	for (; h->started < h->catalog.sequence_count; h->started++)
		h->sequences[h->started] =
			h->catalog.sequences[h->started].start;
	region_init(&scratch);
	struct sql_run x = { .region = &scratch,
		             .known = &h->known,
		             .serial = true,
		             .session = "s",
		             .statement = ++h->statements,
		             .sequences = h->sequences };
	if (!sql_run_statement(&x, s)) {
		text_format(out, "ERROR:  %s\n", x.failure.state);
	} else {
		apply(h, x.writes);
		print_rows(out, &scratch, s, &x.result);
	}
	region_free(&scratch);
}

/* ---- Random expressions ---- */

static const char *one_of(struct rng *r, const char *const *words,
                          uint32_t count)
{
	return words[rng_below(r, count)];
}
#define ONE_OF(r, words) one_of((r), (words), sizeof(words) / sizeof *(words))

static void bool_expr(struct text *t, struct rng *r, int depth);
static void int_expr(struct text *t, struct rng *r, int depth);
static void text_expr(struct text *t, struct rng *r, int depth);
static void number_expr(struct text *t, struct rng *r, int depth);
static void date_expr(struct text *t, struct rng *r, int depth);
static void stamp_expr(struct text *t, struct rng *r, int depth);
static void span_expr(struct text *t, struct rng *r, int depth);
static void array_expr(struct text *t, struct rng *r, int depth);

typedef void maker(struct text *t, struct rng *r, int depth);

/* The format with %B, %I, %T, %N, %D, %S, %V, %Y for expressions, and %O, %A
 * for operators. */
static void fill(struct text *t, struct rng *r, int depth, const char *format)
{
	static const char *const compare[] = {
		"=", "<>", "<", "<=", ">", ">="
	};
	static const char *const compute[] = { "+", "-", "*", "/", "%" };
	for (; *format; format++) {
		if (*format != '%' || !strchr("BITNDSVYOA", format[1])) {
			text_char(t, *format);
			continue;
		}
		switch (*++format) {
		case 'B': bool_expr(t, r, depth - 1); break;
		case 'I': int_expr(t, r, depth - 1); break;
		case 'T': text_expr(t, r, depth - 1); break;
		case 'N': number_expr(t, r, depth - 1); break;
		case 'D': date_expr(t, r, depth - 1); break;
		case 'S': stamp_expr(t, r, depth - 1); break;
		case 'V': span_expr(t, r, depth - 1); break;
		case 'Y': array_expr(t, r, depth - 1); break;
		case 'O': text_string(t, ONE_OF(r, compare)); break;
		default: text_string(t, ONE_OF(r, compute)); break;
		}
	}
}

static void bool_expr(struct text *t, struct rng *r, int depth)
{
	static const char *const leaves[] = { "b", "true", "false", "b",
		                              "NULL::boolean" };
	static const char *const forms[] = {
		"(%I %O %I)",
		"(%T %O %T)",
		"(%B %O %B)",
		"(NOT %B)",
		"(%B AND %B)",
		"(%B OR %B)",
		"(%I IS NULL)",
		"(%T IS NOT NULL)",
		"(%B IS TRUE)",
		"(%B IS NOT FALSE)",
		"(%B IS UNKNOWN)",
		"(%I BETWEEN %I AND %I)",
		"(%I NOT BETWEEN %I AND %I)",
		"(%I BETWEEN SYMMETRIC %I AND %I)",
		"(%I IN (%I, %I, 3))",
		"(%T NOT IN (%T, 'ab'))",
		"(%T LIKE 'a%')",
		"(%T LIKE '_b%')",
		"(%T NOT LIKE '%b')",
		"(%I IS DISTINCT FROM %I)",
		"(%T IS NOT DISTINCT FROM %T)",
		"CASE WHEN %B THEN %B ELSE %B END",
		"COALESCE(%B, %B)",
		"(i %O '2')",
		"(v %O 'ab')",
		"(c %O %T)",
		"(c %O 'ab')",
		"(i IN (SELECT s FROM e))",
		"EXISTS (SELECT 1 FROM e x WHERE x.i > e.i AND %B)",
		"(%I::boolean)",
		"(%N %O %N)",
		"(%N %O %I)",
		"(m %O '1.50')",
		"(%D %O %D)",
		"(d %O '2024-02-29')",
		"(%S %O %S)",
		"(%D %O %S)",
		"(p %O z)",
		"(%V %O %V)",
		"(o %O 'sad')",
		"(o %O o)",
		"(o IN ('ok', 'happy'))",
		"(q %O 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11')",
		"(%I = ANY (%Y))",
		"(%I <> ALL (%Y))",
		"(%N > ANY (a))",
		"(t = ANY (y))",
		"(l = ANY ('{1,3,NULL}'))",
		"(%Y %O %Y)",
		"(i > ALL (SELECT s FROM e x WHERE x.k < e.k))",
		"(m = ANY (SELECT x.i FROM e x))",
		"(%N IS NOT DISTINCT FROM %N)",
		"(%S BETWEEN %D AND %S)",
	};
	fill(t, r, depth, depth <= 0 ? ONE_OF(r, leaves) : ONE_OF(r, forms));
}

static void int_expr(struct text *t, struct rng *r, int depth)
{
	static const char *const leaves[] = {
		"i", "s", "l", "i", "0", "1", "-3", "7", "NULL::integer", "s",
	};
	static const char *const forms[] = {
		"(%I %A %I)",
		"(%I %A %I)",
		"(i + '4')",
		"(- %I)",
		"abs(%I)",
		"mod(%I, i)",
		"length(%T)",
		"length(c)",
		"CASE WHEN %B THEN %I WHEN %B THEN %I END",
		"CASE %I WHEN 1 THEN %I ELSE %I END",
		"COALESCE(%I, %I)",
		"GREATEST(%I, %I)",
		"LEAST(%I, %I, 5)",
		"NULLIF(%I, %I)",
		"(%I::smallint)",
		"(%I::bigint)",
		"(%B::integer)",
		"('12'::integer)",
		"(SELECT max(x.i) FROM e x WHERE x.k <= e.k)",
		"(SELECT count(*) FROM e x WHERE %B)",
		"(%N::integer)",
		"(m::bigint)",
		"(%D - %D)",
		"a[%I]",
		"cardinality(%Y)",
		"array_length(%Y, 1)",
	};
	/* Constant parts are computed before anything is run: there, no column
	 * means no error either. */
	fill(t, r, depth, depth <= 0 ? ONE_OF(r, leaves) : ONE_OF(r, forms));
}

static void text_expr(struct text *t, struct rng *r, int depth)
{
	static const char *const leaves[] = { "t",          "v",    "t",
		                              "'ab'",       "''",   "'a_%'",
		                              "NULL::text", "'Ab '" };
	static const char *const forms[] = {
		"(%T || %T)",          "(%T || c)",
		"(t || %I)",           "lower(%T)",
		"upper(%T)",           "CASE WHEN %B THEN %T ELSE %T END",
		"COALESCE(%T, %T)",    "NULLIF(%T, 'ab')",
		"GREATEST(%T, %T)",    "(%I::text)",
		"(%B::text)",          "(%T::varchar(2))",
		"(%T::char(3)::text)", "(c::text)",
		"(%N::text)",          "(%D::text)",
		"(%S || t)",           "(%V::text)",
		"(o::text)",           "(%Y::text)",
		"(q::text)",           "y[%I]",
	};
	fill(t, r, depth, depth <= 0 ? ONE_OF(r, leaves) : ONE_OF(r, forms));
}

static void number_expr(struct text *t, struct rng *r, int depth)
{
	static const char *const leaves[] = { "n",       "m",         "1.5",
		                              "0.0",     "-2.75",     "n",
		                              "100.001", "3::numeric" };
	static const char *const forms[] = {
		"(%N + %N)",
		"(%N - %N)",
		"(%N * %N)",
		"(%N / %N)",
		"(%N % %N)",
		"(%N * %I)",
		"(%I / %N)",
		"(- %N)",
		"abs(%N)",
		"sign(%N)",
		"round(%N)",
		"round(%N, 2)",
		"round(%N, -1)",
		"trunc(%N, 1)",
		"ceil(%N)",
		"floor(%N)",
		"mod(%N, m)",
		"(%I::numeric)",
		"(%N::numeric(6,2))",
		"(%N::numeric(4))",
		"('1.250'::numeric)",
		"('12e-1'::numeric)",
		"CASE WHEN %B THEN %N ELSE %I END",
		"COALESCE(%N, %I)",
		"GREATEST(%N, %I)",
		"NULLIF(%N, %N)",
		"(SELECT avg(x.i) FROM e x WHERE x.k < e.k)",
		"(SELECT sum(x.m) FROM e x)",
		"(SELECT avg(x.n) FROM e x WHERE x.k > 1)",
		"(SELECT sum(x.s::bigint) FROM e x)",
		"extract(year FROM %D)",
		"extract(epoch FROM %S)",
		"extract(second FROM %S)",
		"extract(dow FROM %S)",
		"extract(doy FROM %D)",
		"extract(quarter FROM %D)",
		"extract(hour FROM %V)",
		"extract(month FROM %V)",
	};
	fill(t, r, depth, depth <= 0 ? ONE_OF(r, leaves) : ONE_OF(r, forms));
}

static void date_expr(struct text *t, struct rng *r, int depth)
{
	static const char *const leaves[] = { "d", "d", "date '2023-12-31'",
		                              "'20240229'::date" };
	static const char *const forms[] = {
		"(%D + s)",   "(%D - 40)",        "(s + %D)",
		"(%S::date)", "GREATEST(%D, %D)", "COALESCE(%D, d)",
		"(z::date)",
	};
	fill(t, r, depth, depth <= 0 ? ONE_OF(r, leaves) : ONE_OF(r, forms));
}

static void stamp_expr(struct text *t, struct rng *r, int depth)
{
	static const char *const leaves[] = {
		"p", "p", "timestamp '2024-03-31 12:34:56.789'",
		"'2023-01-30T23:59:59.5'::timestamp"
	};
	static const char *const forms[] = {
		"(%D + %V)",
		"(%S + %V)",
		"(%V + %S)",
		"(%S - %V)",
		"(%D::timestamp)",
		"(z::timestamp)",
		"date_trunc('month', %S)",
		"date_trunc('hour', %S)",
		"date_trunc('year', p)",
		"GREATEST(%S, %D)",
	};
	fill(t, r, depth, depth <= 0 ? ONE_OF(r, leaves) : ONE_OF(r, forms));
}

static void span_expr(struct text *t, struct rng *r, int depth)
{
	static const char *const leaves[] = { "w",
		                              "interval '1 day'",
		                              "'1 month -1 day'::interval",
		                              "interval '2 hours 30 minutes'",
		                              "interval '1 year 2 mons'",
		                              "interval '-00:00:01.5'" };
	static const char *const forms[] = {
		"(%S - %S)", "(%V + %V)", "(%V - %V)",        "(- %V)",
		"(%V * 3)",  "(k * w)",   "GREATEST(%V, %V)",
	};
	fill(t, r, depth, depth <= 0 ? ONE_OF(r, leaves) : ONE_OF(r, forms));
}

static void array_expr(struct text *t, struct rng *r, int depth)
{
	static const char *const leaves[] = { "a", "ARRAY[1, 2]",
		                              "'{3,NULL}'::int[]" };
	static const char *const forms[] = {
		"ARRAY[%I::integer, i]",
		"ARRAY[i, NULL, 7]",
		"COALESCE(%Y, a)",
		"(SELECT array_agg(x.i ORDER BY x.k DESC) FROM e x)",
		"(SELECT array_agg(DISTINCT x.i) FROM e x WHERE x.k < e.k)",
	};
	fill(t, r, depth, depth <= 0 ? ONE_OF(r, leaves) : ONE_OF(r, forms));
}

static void combination(struct text *t, struct rng *r, int depth)
{
	static const char *const words[] = { "UNION",     "UNION ALL",
		                             "INTERSECT", "INTERSECT ALL",
		                             "EXCEPT",    "EXCEPT ALL" };
	static const char *const heads[] = { "SELECT ", "SELECT DISTINCT " };
	static maker *const makers[] = { int_expr, number_expr };
	const char *word = ONE_OF(r, words);
	/* Which one of equal numbers with different scales stays is not told.
	 */
	bool all = !strcmp(word, "UNION ALL");
	for (int i = 0; i < 2; i++) {
		text_string(t, ONE_OF(r, heads));
		text_string(t, "b, ");
		makers[all && rng_below(r, 2)](t, r, depth);
		text_string(t, i ? " FROM e x(k, b) WHERE k > 2" : " FROM e");
		if (!i) text_format(t, " %s ", word);
	}
	text_string(t, " ORDER BY 2, 1");
}

static void join(struct text *t, struct rng *r)
{
	static const char *const words[] = { "JOIN", "LEFT JOIN", "RIGHT JOIN",
		                             "FULL JOIN" };
	static const char *const conditions[] = { "ON x.i = y.s",
		                                  "ON x.k = y.k + 1 AND y.b",
		                                  "USING (k)", "USING (b)",
		                                  "ON x.t < y.t AND x.k > 2" };
	static const char *const wheres[] = { "", " WHERE x.k > 1",
		                              " WHERE y.k IS NULL",
		                              " WHERE x.i > y.k" };
	text_format(t, "SELECT x.k, y.k, g.* FROM e x %s e y %s",
	            ONE_OF(r, words), ONE_OF(r, conditions));
	text_format(t,
	            " %s (SELECT k, l FROM e WHERE k < 4) g(h) ON h = y.k%s "
	            "ORDER BY 1, 2, h",
	            ONE_OF(r, words), ONE_OF(r, wheres));
}

static void query(struct text *t, struct rng *r)
{
	static maker *const makers[] = { bool_expr,   int_expr,  text_expr,
		                         number_expr, date_expr, stamp_expr,
		                         span_expr,   array_expr };
	enum { MAKERS = sizeof makers / sizeof *makers };
	int depth = 1 + (int)rng_below(r, 3);
	switch (rng_below(r, 10)) {
	case 3: combination(t, r, depth); return;
	case 4: join(t, r); return;
	case 5:
		text_string(t, "SELECT o, avg(l), max(d), min(n), "
		               "array_agg(t ORDER BY t, k DESC), max(o), "
		               "string_agg(DISTINCT t, ','), sum(l) FROM e "
		               "GROUP BY o ORDER BY o");
		return;
	case 0:
		text_string(t,
		            "SELECT b, count(*), sum(i), min(t), max(s), "
		            "bool_or(i > 1), count(DISTINCT s) FROM e WHERE ");
		bool_expr(t, r, depth);
		text_string(t, " GROUP BY b ORDER BY b NULLS FIRST");
		return;
	case 1:
		text_string(t, "SELECT x.k, y.k FROM e x LEFT JOIN e y ON "
		               "x.i = y.s AND y.k > 1 WHERE x.k < 4 "
		               "ORDER BY 1 DESC, y.k");
		if (rng_below(r, 2)) text_string(t, " LIMIT 3 OFFSET 1");
		return;
	case 2:
		text_string(t, "SELECT DISTINCT ");
		makers[rng_below(r, MAKERS)](t, r, depth);
		text_string(t, " FROM e ORDER BY 1");
		return;
	default:
		text_string(t, "SELECT k, ");
		makers[rng_below(r, MAKERS)](t, r, depth);
		text_string(t, " FROM e ORDER BY k");
	}
}

/* ---- Comparing ---- */

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* RETURNING has no order: the lines, sorted. */
static void sort_lines(char *s)
{
	char *copy = mem_copy_string(s), *lines[64], *at = copy;
	size_t n = 0;
	for (; n < 64 && (lines[n] = strsep(&at, "\n")) && at; n++) continue;
	qsort(lines, n, sizeof *lines, by_text);
	*s = 0;
	for (size_t i = 0; i < n; i++) {
		strcat(s, lines[i]);
		strcat(s, "\n");
	}
	free(copy);
}

/* Does the server say the same? An error that is found before running has its
 * SQLSTATE in the message, or is one of the class 42. */
static bool agrees(const char *theirs, const char *ours)
{
	/* A FULL JOIN that the server has no algorithm for. */
	if (strstr(theirs, "ERROR:  0A000")) return true;
	if (!strncmp(ours, "refused", 7)) {
		char state[16] = "ERROR:  42";
		const char *told = strrchr(ours, '(');
		if (told && strlen(told) == strlen("(22P02)\n"))
			snprintf(state, sizeof state, "ERROR:  %.5s", told + 1);
		return strstr(theirs, state) != NULL;
	}
	if (!strncmp(ours, "ERROR", 5)) return strstr(theirs, ours) != NULL;
	return !strcmp(theirs, ours);
}

/* The server computes what is constant beforehand, and drops what that decides:
 * an error in there is only ours. */
static bool may_be_dropped(const char *ours)
{
	return !strcmp(ours, "ERROR:  22003\n") ||
	       !strcmp(ours, "ERROR:  22012\n");
}

struct script {
	struct text all; /* for the server */
	char **statements;
	uint32_t count, capacity;
};

static void add(struct script *s, const char *sql)
{
	text_format(&s->all, "\\echo %c%u\n%s;\n", '@', (unsigned)s->count,
	            sql);
	VEC_RESERVE(s->statements, s->count, s->capacity);
	s->statements[s->count++] = mem_copy_string(sql);
}

/* psql tells where: "psql:script:12: ERROR:  22012" */
static char *cut_places(char *out)
{
	struct text t = { 0 };
	for (char *line = out, *end; *line; line = end + 1) {
		end = strchr(line, '\n');
		if (!end) break;
		*end = 0;
		char *error = strstr(line, "ERROR:  ");
		text_format(&t, "%s\n", error ? error : line);
	}
	free(out);
	return t.data ? t.data : mem_copy_string("");
}

/* The output of statement i, up to the next mark; shortens the text. */
static char *part_of(char *out, uint32_t i)
{
	char mark[24];
	snprintf(mark, sizeof mark, "@%u\n", (unsigned)i);
	char *at = strstr(out, mark);
	ck_assert_msg(at != NULL, "no %s", mark);
	at += strlen(mark);
	snprintf(mark, sizeof mark, "@%u\n", (unsigned)i + 1);
	char *end = strstr(at, mark);
	size_t n = end ? (size_t)(end - at) : strlen(at);
	char *copy = mem_take(n + 1);
	memcpy(copy, at, n);
	copy[n] = 0;
	return copy;
}

static void compare(struct script *s, const struct server *server,
                    uint64_t seed)
{
	struct here here;
	struct text told = { 0 };
	uint32_t differ = 0, refused = 0, dropped = 0;
	char *out = cut_places(server_run(server, &s->all)), *at = out;
	here_begin(&here);
	for (uint32_t i = 0; i < s->count; i++) {
		struct text ours = { 0 };
		char *theirs = part_of(at, i);
		at = strstr(at, "@");
		here_run(&here, s->statements[i], &ours);
		if (strstr(s->statements[i], "RETURNING")) {
			sort_lines(theirs);
			if (ours.length) sort_lines(ours.data);
		}
		refused += !strncmp(text_get(&ours), "refused", 7);
		bool same = agrees(theirs, text_get(&ours));
		if (!same && may_be_dropped(text_get(&ours)))
			dropped++;
		else if (!same && differ++ < 6)
			text_format(&told, "%s\ntheirs:\n%sours:\n%s\n",
			            s->statements[i], theirs, text_get(&ours));
		text_free(&ours);
		free(theirs);
		free(s->statements[i]);
	}
	here_end(&here);
	free(out);
	free(s->statements);
	text_free(&s->all);
	ck_assert_msg(!differ, "%u of %u differ; ISOSCOPE_SEED=%lu\n%s",
	              (unsigned)differ, (unsigned)s->count, (unsigned long)seed,
	              text_get(&told));
	text_free(&told);
	ck_assert_msg(refused < s->count, "all are refused");
	ck_assert_msg(dropped <= 2 + s->count / 100, "%u dropped",
	              (unsigned)dropped);
}

static const char *const schema[] = {
	"SET timezone = 'UTC'; DROP TABLE IF EXISTS e, u; DROP TYPE IF EXISTS "
	"mood",
	"CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy')",
	"CREATE TABLE e (k int PRIMARY KEY, b bool, s smallint, i int, "
	"l bigint, t text, v varchar(5), c char(4), n numeric, m numeric(6,2), "
	"d date, p timestamp, z timestamptz, w interval, q uuid, o mood, "
	"a int[], y text[])",
	"INSERT INTO e VALUES (1, true, 1, 2, 3, 'ab', 'abc', 'ab', 1.10, "
	"'12.345', '2024-01-31', '2024-02-29 10:20:30', "
	"'2024-02-29 12:20:30+02', '1 day 02:00', "
	"'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11', 'ok', '{1,2,3}', "
	"'{a,\"b c\",NULL}')",
	"INSERT INTO e VALUES (2, false, 0, -7, 9000000000, 'b', 'ab ', 'a', "
	"-0.003, 7, '1999-12-31', '1970-01-01 00:00:00.25', '1969-12-31', "
	"'-3 mons', '{a0eebc999c0b4ef8bb6d6bb9bd380a12}', 'sad', '{}', '{}')",
	"INSERT INTO e (k) VALUES (3)",
	"INSERT INTO e VALUES (4, true, 32767, 2147483647, "
	"9223372036854775807, 'aBc', '', ' x', 123456789012345678901234567890, "
	"-1.5, '4000-01-01', '2023-06-15', '2023-06-15 23:00-05', "
	"'1 year -2 days +03:00', NULL, 'happy', '{NULL,5}', '{x}')",
	"INSERT INTO e VALUES (5, false, 2, 1, -1, '12', '7', '12', 1.1, 0, "
	"'2024-02-29', '2024-02-29', '2024-02-29 10:20:30', '24:00', NULL, "
	"'ok', '{2}', '{12,\"\"}')",
	"CREATE TABLE u (a int PRIMARY KEY, b int UNIQUE, t varchar(3) NOT "
	"NULL DEFAULT 'x', n smallint CHECK (n < 50), UNIQUE (t, n))",
	"CREATE SEQUENCE odd START WITH 5 INCREMENT BY 2",
	"CREATE TABLE w (a int GENERATED ALWAYS AS IDENTITY, b int DEFAULT "
	"nextval('odd'), n numeric(5,1) PRIMARY KEY, o mood DEFAULT 'ok', "
	"twice numeric GENERATED ALWAYS AS (n * 2.00) STORED, d date)",
	"INSERT INTO w (n) VALUES (0), (1.25)",
	"ALTER TABLE w ADD CONSTRAINT w_d CHECK (d < '2025-01-01')",
	"ALTER TABLE w ADD UNIQUE (o, d)",
	"ALTER TABLE w ALTER COLUMN d SET DEFAULT date '2024-01-01' + 1",
};

static void add_schema(struct script *s)
{
	/* The first is for the server alone. */
	text_format(&s->all, "%s;\n", schema[0]);
	for (size_t i = 1; i < sizeof schema / sizeof *schema; i++)
		add(s, schema[i]);
}

START_TEST(expressions_are_postgresqls)
{
	struct server server;
	struct script s = { 0 };
	struct rng r = { first_seed() };
	uint64_t count = programs_or(10000);
	if (!server_start(&server)) return;
	text_string(&s.all, "SET client_min_messages = error;\n");
	add_schema(&s);
	for (uint64_t i = 0; i < count; i++) {
		struct text t = { 0 };
		query(&t, &r);
		add(&s, text_get(&t));
		text_free(&t);
	}
	compare(&s, &server, first_seed());
	server_stop(&server);
}
END_TEST

/* ---- Random changes ---- */

static void change(struct text *t, struct rng *r)
{
	static const char *const values[] = { "1",    "2",       "3", "4",
		                              "NULL", "DEFAULT", "7", "'5'" };
	static const char *const names[] = { "'a'",     "'b'",     "'abcd'",
		                             "'abc  '", "DEFAULT", "NULL" };
	static const char *const small[] = { "1", "40", "60", "NULL", "a" };
	static const char *const where[] = {
		"a = 2",
		"b > 1",
		"t = 'a'",
		"n IS NULL",
		"true",
		"a = b",
		"a IN (SELECT b FROM u)",
		"b = 3 AND a > 0",
		"a = (SELECT max(a) FROM u)",
	};
	static const char *const sets[] = {
		"b = NULL",
		"t = DEFAULT",
		"n = (SELECT count(*) FROM u)",
	};
	/* In which order rows are changed is not told. */
	static const char *const one[] = {
		"b = b + 1", "a = a + 1",    "a = b, b = a",
		"a = 9 - a", "t = t || 'x'", "n = a * 20",
	};
	static const char *const conflicts[] = {
		"",
		"",
		" ON CONFLICT DO NOTHING",
		" ON CONFLICT (a) DO NOTHING",
		" ON CONFLICT (b) DO NOTHING",
		" ON CONFLICT (a) DO UPDATE SET b = excluded.b, n = u.n + 1",
		" ON CONFLICT (t, n) DO UPDATE SET a = u.a + 10 WHERE u.a < 5",
	};
	static const char *const numbers[] = { "1", "2.04",    "'3.0'", "2.0",
		                               "7", "12345.6", "NULL" };
	static const char *const moods[] = { "'ok'", "'sad'", "DEFAULT", "NULL",
		                             "'bad'" };
	static const char *const days[] = { "DEFAULT", "'2024-05-01'", "NULL",
		                            "'2025-05-01'", "'2024-02-30'" };
	static const char *const changes[] = {
		"UPDATE w SET n = n + 1 WHERE n = 2",
		"UPDATE w SET o = 'happy', d = d + 1 WHERE n = 3.0",
		"UPDATE w SET a = DEFAULT, twice = DEFAULT WHERE n > 1 AND n < "
		"3",
		"UPDATE w SET twice = 4",
		"INSERT INTO w (a, n) VALUES (4, 4)",
		"INSERT INTO w (a, n) OVERRIDING SYSTEM VALUE VALUES (4, 4.4)",
		"DELETE FROM w WHERE n = 2.00 OR o = 'ok'",
		"INSERT INTO w (n, o) SELECT n + 1, o FROM w WHERE n = 1 "
		"UNION SELECT 9, 'sad' WHERE false ORDER BY 1",
		"INSERT INTO w (n) VALUES (1) ON CONFLICT (n) DO UPDATE SET "
		"d = excluded.d + 7 WHERE w.o = 'ok'",
	};
	switch (rng_below(r, 9)) {
	case 6:
	case 7:
		text_format(t, "INSERT INTO w (n, o, d) VALUES (%s, %s, %s)",
		            ONE_OF(r, numbers), ONE_OF(r, moods),
		            ONE_OF(r, days));
		break;
	case 8: text_string(t, ONE_OF(r, changes)); break;
	case 0:
	case 1:
		text_format(t, "INSERT INTO u VALUES (%s, %s, %s, %s)",
		            ONE_OF(r, values), ONE_OF(r, values),
		            ONE_OF(r, names), small[rng_below(r, 4)]);
		if (rng_below(r, 2))
			text_format(t, ", (%s, %s, %s, %s)", ONE_OF(r, values),
			            ONE_OF(r, values), ONE_OF(r, names),
			            small[rng_below(r, 4)]);
		text_string(t, ONE_OF(r, conflicts));
		break;
	case 2:
		text_format(t,
		            "INSERT INTO u (n, a) SELECT %s, a + %u FROM u "
		            "WHERE %s ORDER BY a%s",
		            ONE_OF(r, small), 1 + (unsigned)rng_below(r, 4),
		            ONE_OF(r, where), ONE_OF(r, conflicts));
		break;
	case 3:
		text_format(t, "UPDATE u SET %s WHERE a = %u", ONE_OF(r, one),
		            1 + (unsigned)rng_below(r, 4));
		break;
	case 4:
		text_format(t, "UPDATE u SET %s WHERE %s", ONE_OF(r, sets),
		            ONE_OF(r, where));
		break;
	default: text_format(t, "DELETE FROM u WHERE %s", ONE_OF(r, where));
	}
	if (rng_below(r, 2)) text_string(t, " RETURNING *");
}

START_TEST(changes_are_postgresqls)
{
	struct server server;
	struct script s = { 0 };
	struct rng r = { first_seed() };
	uint64_t count = programs_or(2000);
	if (!server_start(&server)) return;
	text_string(&s.all, "SET client_min_messages = error;\n");
	add_schema(&s);
	for (uint64_t i = 0; i < 5 * count; i++) {
		struct text t = { 0 };
		change(&t, &r);
		add(&s, text_get(&t));
		add(&s, "SELECT * FROM u ORDER BY a");
		add(&s, "SELECT * FROM w ORDER BY n");
		if (i % 16 == 15) add(&s, "DELETE FROM u");
		if (i % 24 == 23) add(&s, "DELETE FROM w");
		text_free(&t);
	}
	compare(&s, &server, first_seed());
	server_stop(&server);
}
END_TEST

void add_sql_tests(TCase *tests)
{
	tcase_add_test(tests, expressions_are_postgresqls);
	tcase_add_test(tests, changes_are_postgresqls);
}
