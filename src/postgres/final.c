/* The last transaction, which reads what assertions ask for, and assertions. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "postgres/guest.h"
#include "vm/bytecode.h"

/* ---- The last transaction ---- */

static struct server_step_node *child(struct guest *g,
                                      struct server_step_node *from,
                                      struct value answer, struct region *to,
                                      enum guest_request kind)
{
	struct server_step_node *s = region_take0(to, sizeof *s);
	bool waits = step_waits(&from->tree);
	s->tree.step.kind = kind;
	s->tree.step.notes = from->tree.step.notes;
	s->tree.kept = to == &g->region;
	if (waits) s->tree.answer = value_copy(to, answer);
	s->tree.before = &from->tree;
	s->tree.session = from->tree.session;
	s->tree.serial = ++g->serial;
	s->phase = from->phase + 1;
	if (!waits || s->tree.kept)
		step_tree_add(&g->tree, &from->tree, &s->tree);
	return s;
}

/* The next key of a request. */
struct server_step_node *server_next_key(struct guest *g,
                                         struct server_step_node *from,
                                         struct value answer, struct region *to)
{
	struct server_step_node *s = child(g, from, answer, to, GUEST_GET);
	s->tree.step = from->tree.step;
	s->tree.step.joined = true;
	s->request = from->request;
	s->place = from->place + 1;
	server_put_key(&s->tree.step, s->request->keys[s->place]);
	return s;
}

/* All rows of the tables that assertions ask for. */
static struct asked_keys *final_request(struct guest *g, struct region *to)
{
	struct server_library *l = g->library;
	struct asked_keys *q = region_take0(to, sizeof *q);
	mem_lock(&l->lock);
	q->keys =
		region_take0(to, (l->key_count + (size_t)1) * sizeof *q->keys);
	for (uint32_t t = 0; t < l->relation_count; t++)
		for (uint32_t i = 0; i < l->key_count; i++)
			if (l->relations[t]->asked && l->keys[i]->known &&
			    l->keys[i]->relation == l->relations[t])
				q->keys[q->count++] = l->keys[i];
	mem_unlock(&l->lock);
	return q;
}

static const struct guest_note *final_notes(struct guest *g,
                                            struct server_step_node *from,
                                            struct value answer,
                                            struct region *to)
{
	struct server_library *l = g->library;
	const struct asked_keys *q = from->request;
	const struct guest_note *notes = NULL;
	if (!q) return NULL;
	struct value *answers =
		mem_take((q->count + (size_t)1) * sizeof *answers);
	struct value *rows = mem_take((q->count + (size_t)1) * sizeof *rows);
	for (const struct tree_step *s = &from->tree; step_waits(s);
	     s = s->before) {
		answers[((const struct server_step_node *)s)->place] = answer;
		answer = s->answer;
	}
	for (uint32_t t = 0; t < l->relation_count; t++) {
		uint32_t count = 0;
		for (uint32_t i = 0; i < q->count; i++) {
			struct value pair[2] = { q->keys[i]->value,
				                 answers[i] };
			if (q->keys[i]->relation == l->relations[t] &&
			    answers[i].tag != VALUE_NULL)
				rows[count++] = value_sequence(to, VALUE_TUPLE,
				                               pair, 2);
		}
		if (!count) continue;
		struct guest_note *n = region_take0(to, sizeof *n);
		n->older = notes;
		n->count = notes ? notes->count + 1 : 1;
		n->name = l->relations[t]->name;
		n->value = value_sequence(to, VALUE_LIST, rows, count);
		notes = n;
	}
	free(answers);
	free(rows);
	return notes;
}

struct server_step_node *server_run_finally(struct guest *g,
                                            struct server_step_node *from,
                                            struct value answer,
                                            struct region *to)
{
	struct server_step_node *s;
	struct asked_keys *q = NULL;
	switch (from->tree.step.kind) {
	case GUEST_START:
		s = child(g, from, answer, to, GUEST_BEGIN);
		s->tree.step.name = g->library->finally_name;
		return s;
	case GUEST_BEGIN: q = final_request(g, to); break;
	case GUEST_COMMIT:
		s = child(g, from, answer, to, GUEST_END);
		s->tree.step.value = value_bool(true);
		return s;
	default: break;
	}
	if (q && q->count) {
		s = child(g, from, answer, to, GUEST_GET);
		s->tree.step.point = g->library->finally_point;
		s->request = q;
		q->first = s;
		server_put_key(&s->tree.step, q->keys[0]);
		return s;
	}
	s = child(g, from, answer, to, GUEST_COMMIT);
	s->tree.step.notes = final_notes(g, from, answer, to);
	return s;
}

/* ---- Assertions ---- */

static void put_literal(struct text *t, struct value v, const char *type)
{
	struct text own = { 0 };
	switch (v.tag) {
	case VALUE_NULL: break;
	case VALUE_BOOL: text_string(&own, v.i ? "t" : "f"); break;
	case VALUE_INT: text_int(&own, v.i); break;
	default: text_bytes(&own, v.o->bytes, v.o->length); break;
	}
	if (v.tag == VALUE_NULL) {
		text_format(t, "NULL::%s", type);
		return;
	}
	text_string(t, "E'");
	for (size_t i = 0; i < own.length; i++) {
		if (strchr("'\\", own.data[i])) text_char(t, '\\');
		text_char(t, own.data[i]);
	}
	text_format(t, "'::%s", type);
	text_free(&own);
}

static void put_name(struct text *t, const char *name)
{
	text_char(t, '"');
	for (; *name; name++) {
		if (*name == '"') text_char(t, '"');
		text_char(t, *name);
	}
	text_char(t, '"');
}

/* Of a record, by column. */
static struct value field(struct value row, const char *name)
{
	for (uint32_t i = 0; i < row.o->length; i += 2)
		if (!strcmp(row.o->items[i].o->bytes, name))
			return row.o->items[i + 1];
	return value_null();
}

/* `name`(columns) AS (rows): rows are tuples, or (key, record). */
static void put_relation(struct text *t, const char *name,
                         const char *const *columns, const char *const *types,
                         uint32_t count, struct value rows, bool table)
{
	uint32_t n = rows.tag == VALUE_LIST ? rows.o->length : 0;
	text_string(t, t->length ? ", " : "WITH ");
	put_name(t, name);
	for (uint32_t c = 0; c < count; c++) {
		text_string(t, c ? ", " : "(");
		put_name(t, columns[c]);
	}
	text_string(t, count ? ") AS (" : " AS (");
	for (uint32_t i = 0; i < n || !i; i++) {
		text_string(t, i ? " UNION ALL SELECT " : "SELECT ");
		for (uint32_t c = 0; c < count; c++) {
			struct value row = n ? rows.o->items[i] : value_null();
			struct value v = value_null();
			if (n && table)
				v = field(row.o->items[1], columns[c]);
			else if (n && c < row.o->length)
				v = row.o->items[c];
			if (c) text_string(t, ", ");
			put_literal(t, v, types[c]);
		}
		if (!n) {
			text_string(t, " WHERE false");
			break;
		}
	}
	text_char(t, ')');
}

static const struct server_session *session_of(const struct server_library *l,
                                               const struct server_step *s)
{
	return &l->sessions[s->session];
}

static void put_step(struct text *t, const struct server_library *l,
                     const struct server_step *s, struct value rows)
{
	const struct server_session *x = session_of(l, s);
	uint32_t own = 0;
	for (uint32_t i = 0; i < x->count; i++) own += x->steps[i].spec != NULL;
	put_relation(t, s->spec->name, s->columns, s->type_names,
	             s->column_count, rows, false);
	if (own == 1 && strcmp(x->name, s->spec->name))
		put_relation(t, x->name, s->columns, s->type_names,
		             s->column_count, rows, false);
}

/* The query, where step.error stands for what it was. */
static void put_query(struct text *t, const struct server_assertion *a,
                      const struct value *notes)
{
	uint32_t at = 0;
	text_string(t, t->length ? " SELECT * FROM (" : "SELECT * FROM (");
	for (uint32_t i = 0; i < a->error_count; i++) {
		struct value v = notes[a->error_steps[i]];
		text_bytes(t, a->text + at, a->errors[i] - at);
		text_char(t, '(');
		put_literal(
			t, v.tag == VALUE_RECORD ? v.o->items[1] : value_null(),
			"text");
		text_char(t, ')');
		at = a->errors[i] + a->error_lengths[i];
	}
	text_string(t, a->text + at);
	text_string(t, "\n) AS assertion");
}

static struct finding *undecided(struct region *to,
                                 const struct server_assertion *a,
                                 const char *why, const char *state)
{
	struct finding *f = region_take0(to, sizeof *f);
	struct text t = { 0 };
	text_format(&t, "the assertion cannot be decided: %s%s%s%s", why,
	            *state ? " (" : "", state, *state ? ")" : "");
	f->kind = FINDING_ERROR;
	f->point = a->point;
	f->message = region_copy_string(to, text_get(&t), t.length);
	text_free(&t);
	return f;
}

static bool open_judge(struct guest *g, bool *lost)
{
	struct text why = { 0 };
	if (connection_is_open(&g->judge)) return true;
	connection_close(&g->judge);
	bool fine = connection_open(&g->judge, g->library->cluster, "", &why);
	*lost = !fine && g->judge.lost;
	if (!fine && !*lost) server_set_fault(g->library, "%s", text_get(&why));
	text_free(&why);
	return fine;
}

static bool judge(struct guest *g, const struct server_assertion *a,
                  const struct value *notes, struct guest_step *end,
                  struct region *to, bool *lost)
{
	struct server_library *l = g->library;
	struct connection *c = &g->judge;
	struct text t = { 0 };
	uint32_t n = a->step_count;
	if (!open_judge(g, lost)) return false;
	for (uint32_t i = 0; i < a->step_count; i++)
		put_step(&t, l, a->steps[i], notes[i]);
	for (uint32_t i = 0; i < l->relation_count; i++) {
		const struct server_relation *r = l->relations[i];
		if (!r->asked) continue;
		put_relation(&t, r->name, r->columns, r->type_names,
		             r->column_count, notes[n++], true);
	}
	put_query(&t, a, notes);
	end->point = a->point;
	end->value = value_bool(false);
	connection_send(c, text_get(&t));
	text_free(&t);
	if (!seat_is_done(g, c, PATIENCE)) {
		*lost = c->lost;
		if (!*lost && !server_gives_up(g))
			server_set_fault(
				l, "an assertion: PostgreSQL does not answer");
		connection_close(c);
		return false;
	}
	bool fine = !*c->state;
	size_t at = 0;
	uint32_t length;
	const char *row = connection_row(c, &at, &length);
	if (!fine) {
		end->findings =
			undecided(to, a, text_get(&c->message), c->state);
	} else if (c->row_count != 1) {
		end->findings =
			undecided(to, a,
		                  c->row_count ? "it has more than one row"
		                               : "it has no row",
		                  "");
	} else {
		char *text = image_column(row, length, 0);
		if (!text)
			end->findings = undecided(to, a, "it is NULL", "");
		else
			end->value = value_bool(*text == 't');
		free(text);
	}
	return true;
}

struct server_step_node *server_run_assertion(struct guest *g,
                                              struct server_step_node *from,
                                              struct value answer,
                                              struct region *to)
{
	struct server_library *l = g->library;
	const struct server_assertion *a =
		&l->assertions[from->tree.session - l->program->sessions_count];
	uint32_t n = from->phase, tables = 0, most = a->step_count;
	const char *name = NULL, *session = "finally";
	for (uint32_t i = 0; i < l->relation_count; i++) {
		if (!l->relations[i]->asked) continue;
		if (n == a->step_count + tables++) name = l->relations[i]->name;
	}
	most += tables;
	if (n < a->step_count) {
		name = a->steps[n]->spec->name;
		session = session_of(l, a->steps[n])->name;
	}
	if (n < most) {
		struct server_step_node *s =
			child(g, from, answer, to, GUEST_NOTED);
		struct value pair[] = { value_string(to, session,
			                             strlen(session)),
			                value_string(to, name, strlen(name)) };
		s->tree.step.key = value_sequence(to, VALUE_TUPLE, pair, 2);
		s->tree.step.point = a->point;
		if (n < a->step_count) s->tree.step.place = a->steps[n]->place;
		return s;
	}
	struct value *notes = mem_take((most + (size_t)1) * sizeof *notes);
	struct value last = answer;
	for (const struct tree_step *s = &from->tree; n; s = s->before) {
		notes[--n] = last;
		last = s->answer;
	}
	g->asked++;
	struct guest_step end = { 0 };
	uint32_t tries = 0;
	bool lost = false, fine;
	do {
		fine = judge(g, a, notes, &end, to, &lost);
	} while (!fine && lost &&
	         server_tries_again(g, "an assertion", &tries));
	free(notes);
	if (!fine) return NULL;
	struct server_step_node *s = child(g, from, answer, to, GUEST_END);
	s->tree.step.value = end.value;
	s->tree.step.point = end.point;
	s->tree.step.findings = end.findings;
	return s;
}
