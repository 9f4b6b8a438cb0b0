/* Which steps and tables assertions ask for. */
#include "postgres/loading.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "vm/bytecode.h"
#include "vm/program.h"

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
	if (!load_query(l, "%s", sql)) return false;
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
	load_fail(m->loading, m->at,
	          "--engine=postgres does not support %s in an assertion: %s",
	          what, name);
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
		load_fail(m->loading, m->at,
		          "\"%s\" is the name of a step or session and of a "
		          "table: "
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

static void add_assertion(struct loading *l, struct server_assertion *a,
                          const struct spec_assert *spec)
{
	char *text = spec_block_text(&l->library->all, &spec->sql);
	size_t n = strlen(text);
	while (n && (isspace((unsigned char)text[n - 1]) || text[n - 1] == ';'))
		text[--n] = 0;
	a->text = load_keep(l, text);
	free(text);
	json_t *all = load_parse(l, &spec->sql);
	if (all && json_array_size(all) != 1)
		load_fail(l, spec->at, "an assertion is one query");
	struct mention m = { l, a, 0, 0,
		             spec_block_begin(&l->library->all, &spec->sql) };
	if (!l->failed) find_mentions(&m, all);
	json_decref(all);
	struct text t = { 0 };
	const struct spec_block *b = &spec->sql;
	spec_block_line(&l->library->all, b, &t);
	a->point = load_point(l, spec_block_begin(&l->library->all, b));
	struct assertion x = { .kind = ASSERTION_FINAL,
		               .text = text_get(&t),
		               .message = spec->message };
	x.at = program_position(l->program, load_point(l, spec->at));
	program_add_assertion(l->program, &x);
	text_free(&t);
}

void load_assertions(struct loading *l)
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
