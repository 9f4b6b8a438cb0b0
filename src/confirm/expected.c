#include "confirm/expected.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "axioms/schedule.h"
#include "base/memory.h"
#include "execution/complete.h"
#include "history/history.h"
#include "history/trace.h"
#include "postgres/connection.h"
#include "postgres/library.h"
#include "run/replay.h"
#include "sql/convert.h"
#include "sql/image.h"
#include "vm/bytecode.h"
#include "vm/guest_session.h"

enum {
	VOID = 2278,
	DATE = 1082,
	TIME = 1083,
	TIMESTAMP = 1114,
	TIMESTAMPTZ = 1184
};

bool outcome_is_time(uint32_t oid)
{
	return oid == DATE || oid == TIME || oid == TIMESTAMP ||
	       oid == TIMESTAMPTZ;
}

/* ---- Lines ---- */

struct lines {
	char **items;
	uint32_t count, capacity;
};

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Empties the line. */
static void take_line(struct lines *l, struct text *line)
{
	VEC_RESERVE(l->items, l->count, l->capacity);
	l->items[l->count++] = mem_copy_string(text_get(line));
	text_clear(line);
}

static const char *sorted_lines(struct lines *l, struct region *to)
{
	struct text t = { 0 };
	if (l->count)
		qsort(l->items, l->count, sizeof *l->items, compare_lines);
	for (uint32_t i = 0; i < l->count; i++) {
		text_format(&t, "%s\n", l->items[i]);
		free(l->items[i]);
	}
	free(l->items);
	*l = (struct lines){ 0 };
	const char *all = region_copy_string(to, text_get(&t), t.length);
	text_free(&t);
	return all;
}

const char *outcome_of_rows(const struct connection *c, struct region *to)
{
	struct lines lines = { 0 };
	struct text line = { 0 };
	uint32_t length, n;
	size_t at = 0;
	const char *row, *text;
	while ((row = connection_row(c, &at, &length))) {
		const char *end = row + length;
		for (uint32_t i = 0;
		     i < c->column_count && image_next(&row, end, &text, &n);
		     i++) {
			if (i) text_char(&line, '|');
			if (!text || c->columns[i].type == VOID)
				text_string(&line, "NULL");
			else if (outcome_is_time(c->columns[i].type))
				text_string(&line, OUTCOME_TIME);
			else
				text_bytes(&line, text, n);
		}
		take_line(&lines, &line);
	}
	text_free(&line);
	return sorted_lines(&lines, to);
}

/* ---- Values ---- */

/* A column as whichever engine has it. */
struct column_kind {
	bool server;
	uint32_t oid;         /* server */
	struct sql_type type; /* built in */
};

static void print_built_in(struct text *t, struct value v, struct sql_type type)
{
	struct region r;
	if (type.kind == SQL_BOOL) {
		text_string(t, v.i ? "t" : "f");
		return;
	}
	region_init(&r);
	struct value words = sql_to_text(&r, v, type);
	text_bytes(t, words.o->bytes, words.o->length);
	region_free(&r);
}

static bool is_time(const struct column_kind *k)
{
	return k->server ? outcome_is_time(k->oid)
	                 : k->type.kind == SQL_DATE ||
	                           k->type.kind == SQL_TIMESTAMP ||
	                           k->type.kind == SQL_TIMESTAMPTZ;
}

static void print_value(struct text *t, struct value v,
                        const struct column_kind *k)
{
	if (v.tag == VALUE_NULL || (k->server && k->oid == VOID))
		text_string(t, "NULL");
	else if (is_time(k))
		text_string(t, OUTCOME_TIME);
	else if (!k->server)
		print_built_in(t, v, k->type);
	else if (v.tag == VALUE_BOOL)
		text_string(t, v.i ? "t" : "f");
	else if (v.tag == VALUE_INT)
		text_int(t, v.i);
	else
		text_bytes(t, v.o->bytes, v.o->length);
}

/* ---- Steps ---- */

static const struct server_step *server_step(const struct program *p,
                                             uint32_t session, uint32_t step)
{
	const struct server_session *x =
		&server_of(p->library)->sessions[session];
	uint32_t own = 0;
	for (uint32_t i = 0; i < x->count; i++)
		if (x->steps[i].spec && own++ == step) return &x->steps[i];
	assert(!"a step of the program");
	return NULL;
}

static struct column_kind step_column(const struct script *s, uint32_t session,
                                      uint32_t step, uint32_t column)
{
	const struct program *p = s->program;
	uint32_t n = step;
	if (p->server) {
		const struct server_step *x = server_step(p, session, step);
		return (struct column_kind){ .server = true,
			                     .oid = column < x->column_count
			                                    ? x->types[column]
			                                    : 0 };
	}
	for (uint32_t i = 0; i < session; i++)
		n += s->spec.sessions[i].step_count;
	const struct sql_step_result *x =
		&sql_image_of(p->library)->catalog.steps[n];
	assert(column < x->column_count);
	return (struct column_kind){ .type = x->columns[column].type };
}

static const char *step_outcome(const struct script *s,
                                const struct machine_state *state,
                                uint32_t session, uint32_t step,
                                struct region *to)
{
	const char *name = s->spec.sessions[session].steps[step].name;
	struct value v = guest_session_noted(state, name, step + 1);
	struct lines lines = { 0 };
	struct text line = { 0 };
	if (v.tag == VALUE_RECORD)
		return region_copy_string(to, v.o->items[1].o->bytes,
		                          v.o->items[1].o->length);
	for (uint32_t i = 0; v.tag == VALUE_LIST && i < v.o->length; i++) {
		const struct value_object *row = v.o->items[i].o;
		for (uint32_t c = 0; c < row->length; c++) {
			struct column_kind k = step_column(s, session, step, c);
			if (c) text_char(&line, '|');
			print_value(&line, row->items[c], &k);
		}
		take_line(&lines, &line);
	}
	text_free(&line);
	return sorted_lines(&lines, to);
}

/* ---- Tables ---- */

/* A table as whichever engine has it. */
struct table_kind {
	const char *name;
	uint32_t column_count;
	const struct sql_table *built_in;
	const struct server_relation *relation;
};

static uint32_t tables_of(const struct program *p, struct region *to,
                          struct table_kind **out)
{
	uint32_t count = 0;
	if (!p->server) {
		const struct sql_catalog *c =
			&sql_image_of(p->library)->catalog;
		*out = region_take0(to, (c->table_count + 1) * sizeof **out);
		for (uint32_t i = 0; i < c->table_count; i++) {
			const struct sql_table *t = c->tables[i];
			(*out)[count++] =
				(struct table_kind){ t->name, t->column_count,
				                     t, NULL };
		}
		return count;
	}
	const struct server_library *l = server_of(p->library);
	*out = region_take0(to, (l->relation_count + 1) * sizeof **out);
	for (uint32_t i = 0; i < l->relation_count; i++) {
		const struct server_relation *t = l->relations[i];
		if (t->index) continue;
		(*out)[count++] = (struct table_kind){ t->name, t->column_count,
			                               NULL, t };
	}
	return count;
}

static struct value field(struct value row, const char *name)
{
	for (uint32_t i = 0; i + 1 < row.o->length; i += 2)
		if (!strcmp(row.o->items[i].o->bytes, name))
			return row.o->items[i + 1];
	return value_null();
}

static void print_row(struct text *t, const struct table_kind *k,
                      struct value row)
{
	for (uint32_t c = 0; c < k->column_count; c++) {
		struct column_kind kind = { .server = k->relation != NULL };
		const char *name;
		if (k->relation) {
			name = k->relation->columns[c];
			kind.oid = k->relation->types[c];
		} else {
			name = k->built_in->columns[c].name;
			kind.type = k->built_in->columns[c].type;
		}
		if (c) text_char(t, '|');
		print_value(t, field(row, name), &kind);
	}
}

/* Is it the key of a row of the table? "t[1]" */
static bool is_key_of(const char *key, const char *table)
{
	size_t n = strlen(table);
	return !strncmp(key, table, n) && key[n] == '[';
}

/* What each key is in the end, by key. */
static struct value *last_values(const struct history *h,
                                 const struct schedule *s, struct region *to)
{
	struct value *last =
		region_take0(to, (h->key_count + (size_t)1) * sizeof *last);
	for (uint32_t k = 0; k < h->key_count; k++)
		last[k] = h->keys[k].initial;
	for (size_t i = 0; i < s->count; i++) {
		const struct transaction *t =
			&h->transactions[s->items[i].transaction];
		if (s->items[i].statement != SCHEDULE_ENDS || t->aborted)
			continue;
		for (uint32_t e = 0; e < t->event_count; e++)
			if (t->events[e].kind == EVENT_WRITE)
				last[t->events[e].key] = t->events[e].value;
	}
	return last;
}

static const char *rows_of(const struct table_kind *table,
                           const struct history *h, const struct value *values,
                           struct region *to)
{
	struct lines lines = { 0 };
	struct text line = { 0 };
	for (uint32_t k = 0; k < h->key_count; k++) {
		struct value v = values ? values[k] : h->keys[k].initial;
		if (v.tag != VALUE_RECORD ||
		    !is_key_of(h->keys[k].name, table->name))
			continue;
		print_row(&line, table, v);
		take_line(&lines, &line);
	}
	text_free(&line);
	return sorted_lines(&lines, to);
}

static void find_tables(const struct script *s, const struct history *h,
                        const struct schedule *schedule, struct region *to,
                        struct outcome *out)
{
	struct table_kind *all;
	struct value *last = last_values(h, schedule, to);
	uint32_t n = tables_of(s->program, to, &all);
	const char **names = region_take0(to, (n + (size_t)1) * sizeof *names);
	out->gone = region_take0(to, (n + (size_t)1) * sizeof *out->gone);
	out->come = region_take0(to, (n + (size_t)1) * sizeof *out->come);
	out->table_names = names;
	out->table_count = n;
	for (uint32_t t = 0; t < n; t++) {
		names[t] = all[t].name;
		out->gone[t] = rows_of(&all[t], h, NULL, to);
		out->come[t] = rows_of(&all[t], h, last, to);
	}
}

static void add_lines(struct lines *l, const char *text)
{
	struct text line = { 0 };
	for (; *text; text++) {
		if (*text != '\n')
			text_char(&line, *text);
		else
			take_line(l, &line);
	}
	text_free(&line);
}

const char *outcome_rows(const struct outcome *o, uint32_t table,
                         const char *first, struct region *to)
{
	struct lines all = { 0 }, gone = { 0 };
	assert(table < o->table_count);
	add_lines(&all, first);
	add_lines(&gone, o->gone[table]);
	for (uint32_t g = 0; g < gone.count; g++) {
		for (uint32_t i = 0; i < all.count; i++) {
			if (strcmp(all.items[i], gone.items[g])) continue;
			free(all.items[i]);
			all.items[i] = all.items[--all.count];
			break;
		}
		free(gone.items[g]);
	}
	free(gone.items);
	add_lines(&all, o->come[table]);
	return sorted_lines(&all, to);
}

/* ---- All ---- */

static void find_steps(const struct script *s, const struct runner *r,
                       struct region *to, struct outcome *out)
{
	const struct execution *x = runner_execution(r);
	uint32_t n = s->spec.session_count;
	out->steps = region_take0(to, (n + (size_t)1) * sizeof *out->steps);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t count = s->spec.sessions[i].step_count;
		out->steps[i] = region_take0(to, (count + (size_t)1) *
		                                         sizeof **out->steps);
		for (uint32_t k = 0; k < count; k++)
			out->steps[i][k] =
				step_outcome(s, x->points[i].state, i, k, to);
	}
}

bool outcome_of_history(const struct script *s, const struct history *h,
                        const struct schedule *schedule, enum level level,
                        const atomic_bool *interrupt, struct region *to,
                        struct outcome *out)
{
	struct replay_result result = { 0 };
	struct replay_parts parts = { 0 };
	assert(h->order);
	struct trace *t = trace_of_history(h, "");
	struct runner *r = runner_new(s->program, level, interrupt);
	replay_history(r, t, h->order, parts, &result);
	bool fine = result.end == RUN_COMPLETE && !result.diverged &&
	            !result.changed;
	if (fine) {
		find_steps(s, r, to, out);
		find_tables(s, h, schedule, to, out);
	}
	runner_free(r);
	trace_free(t);
	return fine;
}
