#include "sql_server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "postgres.h"
#include "sql/load.h"
#include "sql/parser.h"
#include "sql/resolve.h"
#include "sql/run.h"
#include "suites.h"
#include "support.h"
#include "vm/bytecode.h"

/* What psql prints of the script: unaligned rows, SQLSTATEs. */
static char *server_run(const struct postgres *s, const struct text *script)
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

enum { DESCRIBED = '?' }; /* before a statement */

struct here {
	struct region region;
	struct diags diags;
	struct sources all;
	struct sql_catalog catalog;
	struct known known;
	struct sql_parser *parser;
	struct sql_draws sequences[16];
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
		                           .program = program_new("sql"),
		                           .parser = h->parser };
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
	free(h->catalog.routines);
	free(h->catalog.trigger_bodies);
	free(h->catalog.views);
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

/* "name|type", as psql's \\gdesc has it. */
static void print_columns(struct text *t, const struct sql_statement *s)
{
	for (uint32_t c = 0; c < sql_result_columns(s); c++) {
		const struct sql_target *x = &sql_result_targets(s)[c];
		text_format(t, "%s|", x->name);
		sql_type_print(t, x->value->type);
		text_char(t, '\n');
	}
}

/* Carries the statement out, and prints what it gives. What is refused before
 * it is run has no SQLSTATE: "refused". Of one behind a DESCRIBED, what it
 * would give is printed. */
static void here_run(struct here *h, const char *sql, struct text *out)
{
	bool described = *sql == DESCRIBED;
	sql += described;
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
	if (described && *s->doom.state) {
		text_format(out, "ERROR:  %s\n", s->doom.state);
		return;
	}
	if (described) {
		print_columns(out, s);
		return;
	}
	struct region scratch;
	for (; h->started < h->catalog.sequence_count; h->started++)
		h->sequences[h->started].next =
			h->catalog.sequences[h->started].start;
	region_init(&scratch);
	struct sql_run x = { .region = &scratch,
		             .inner = sql_inner(),
		             .known = &h->known,
		             .serial = true,
		             .session = "s",
		             .statement = ++h->statements,
		             .sequences = h->sequences,
		             .sequence_count = h->started };
	if (!sql_run_statement(&x, s)) {
		text_format(out, "ERROR:  %s\n", x.failure.state);
	} else {
		apply(h, x.writes);
		print_rows(out, &scratch, s, &x.result);
	}
	region_free(&scratch);
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
 * an error in there is only ours; or only the server's, where it would not be
 * computed. */
static bool may_be_dropped(const char *ours)
{
	static const char *const states[] = { "22003", "22011", "22012",
		                              "22023", "54000" };
	for (size_t i = 0; i < sizeof states / sizeof *states; i++)
		if (!strncmp(ours, "ERROR:  ", 8) &&
		    !strncmp(ours + 8, states[i], 5))
			return true;
	return false;
}

void script_add(struct script *s, const char *sql)
{
	text_format(&s->all, "\\echo %c%u\n%s;\n", '@', (unsigned)s->count,
	            sql);
	VEC_RESERVE(s->statements, s->count, s->capacity);
	s->statements[s->count++] = mem_copy_string(sql);
}

void script_describe(struct script *s, const char *sql)
{
	struct text marked = { 0 };
	text_format(&s->all, "\\echo %c%u\n%s \\gdesc\n", '@',
	            (unsigned)s->count, sql);
	text_format(&marked, "%c%s", DESCRIBED, sql);
	VEC_RESERVE(s->statements, s->count, s->capacity);
	s->statements[s->count++] = mem_copy_string(text_get(&marked));
	text_free(&marked);
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

static void compare(struct script *s, const struct postgres *server)
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
		if (strstr(s->statements[i], "RETURNING") &&
		    *s->statements[i] != DESCRIBED) {
			sort_lines(theirs);
			if (ours.length) sort_lines(ours.data);
		}
		refused += !strncmp(text_get(&ours), "refused", 7);
		bool same = agrees(theirs, text_get(&ours));
		if (!same &&
		    (may_be_dropped(text_get(&ours)) || may_be_dropped(theirs)))
			dropped++;
		else if (!same && differ++ < 3)
			text_format(&told, "%s\ntheirs:\n%.500sours:\n%.500s\n",
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
	              (unsigned)differ, (unsigned)s->count,
	              (unsigned long)first_seed(), text_get(&told));
	text_free(&told);
	ck_assert_msg(refused < s->count, "all are refused");
	ck_assert_msg(dropped <= 2 + s->count / 100, "%u dropped",
	              (unsigned)dropped);
}

void script_compare(struct script *s)
{
	struct postgres server;
	if (!postgres_start(&server)) return;
	compare(s, &server);
	postgres_stop(&server);
}
