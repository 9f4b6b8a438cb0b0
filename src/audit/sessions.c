/* The sessions of a log: where their transactions begin and end. */
#include <assert.h>
#include <string.h>

#include "audit/steps.h"
#include "base/hash.h"
#include "base/memory.h"

enum {
	ENDED_MOST = 1000, /* sessions, before they are dropped */
	STEPS_MOST = 20000 /* statements of a transaction, folded */
};

struct session {
	uint64_t id, transaction;
	uint64_t last; /* what was said last: its hash */
	uint64_t tag;  /* of the first statement that has one: its call */
	struct steps own;
	bool ended;
	bool begun;  /* by BEGIN */
	bool manual; /* without autocommit */
	bool failed;
	bool too_long;
};

struct sessions {
	struct session *items;
	uint32_t count, capacity;
	struct table by_id;
	uint32_t ended;
};

struct sessions *sessions_new(void)
{
	struct sessions *s = mem_take0(1, sizeof *s);
	table_init(&s->by_id, 64);
	return s;
}

void sessions_free(struct sessions *s)
{
	assert(!s->count);
	free(s->items);
	table_free(&s->by_id);
	free(s);
}

static void session_clear(struct session *s)
{
	steps_clear(&s->own);
	s->tag = 0;
	s->begun = s->failed = s->too_long = false;
}

/* Without those that ended: a log may have millions. */
static void drop_ended(struct sessions *s)
{
	uint32_t n = 0;
	table_clear(&s->by_id);
	for (uint32_t i = 0; i < s->count; i++) {
		if (s->items[i].ended) {
			steps_free(&s->items[i].own);
			continue;
		}
		struct table_probe p = table_probe(hash_mix(3, s->items[i].id));
		while (table_next(&s->by_id, &p) != TABLE_NONE) continue;
		s->items[n] = s->items[i];
		table_put(&s->by_id, p, n++);
	}
	assert(n + s->ended == s->count);
	s->count = n;
	s->ended = 0;
}

static struct session *find_session(struct classes *c, uint64_t id)
{
	struct sessions *s = c->sessions;
	struct table_probe p = table_probe(hash_mix(3, id));
	uint32_t i;
	while ((i = table_next(&s->by_id, &p)) != TABLE_NONE) {
		struct session *x = &s->items[i];
		if (x->id != id) continue;
		s->ended -= x->ended;
		x->ended = false;
		return x;
	}
	if (s->ended >= ENDED_MOST && 2 * s->ended > s->count) {
		drop_ended(s);
		return find_session(c, id);
	}
	VEC_RESERVE(s->items, s->count, s->capacity);
	i = s->count++;
	s->items[i] = (struct session){ .id = id };
	table_put(&s->by_id, p, i);
	return &s->items[i];
}

enum ending { END_COMMIT, END_ROLLBACK, END_CUT };

static void finish(struct classes *c, struct session *s, enum ending how)
{
	if (s->own.count) {
		c->transactions += c->times;
		if (s->too_long)
			c->too_long++;
		else if (s->failed || how == END_ROLLBACK)
			c->rolled_back++;
		else if (how == END_CUT)
			c->unfinished++;
		else
			calls_add(c, s->id, s->tag, &s->own);
	}
	session_clear(s);
}

/* Of what is not between BEGIN and COMMIT, the end is the next statement. */
static void finish_alone(struct classes *c, struct session *s)
{
	if (!s->begun && !s->manual) finish(c, s, END_COMMIT);
}

static void add_step(struct classes *c, struct session *s, uint32_t template,
                     uint32_t line)
{
	uint32_t places =
		c->templates.shapes[c->templates.items[template].shape]
			.place_count;
	if (s->own.count >= STEPS_MOST) classes_fold(c, &s->own);
	if (s->own.count >= STEPS_MOST) {
		s->too_long = true;
		return;
	}
	VEC_RESERVE(s->own.steps, s->own.count, s->own.capacity);
	s->own.steps[s->own.count++] =
		(struct step){ .template = template,
		               .line = line,
		               .first_row = s->own.row_count,
		               .first_literal = s->own.literal_count };
	for (uint32_t i = 0; i < c->templates.items[template].literal_count;
	     i++) {
		VEC_RESERVE(s->own.literals, s->own.literal_count,
		            s->own.literal_capacity);
		struct step_literal *l =
			&s->own.literals[s->own.literal_count++];
		l->text = (uint32_t)s->own.texts.length;
		l->value = templates_literal(&c->templates, &c->words, template,
		                             i, c->mysql, &s->own.texts);
		text_char(&s->own.texts, 0);
	}
	for (uint32_t p = 0; p < places; p++) {
		VEC_RESERVE(s->own.rows, s->own.row_count, s->own.row_capacity);
		s->own.rows[s->own.row_count++] =
			templates_row(&c->templates, template, p);
	}
}

/* `first`: of those that came together, which are one transaction. */
static void one_statement(struct classes *c, struct session *s,
                          uint32_t template, const struct log_entry *e,
                          bool first)
{
	const struct template *x = &c->templates.items[template];
	switch (x->kind) {
	case TEMPLATE_BEGIN:
		/* PostgreSQL warns, and goes on with the same transaction. */
		if (!c->mysql && s->begun) break;
		finish(c, s, END_COMMIT);
		s->begun = true;
		break;
	case TEMPLATE_COMMIT:
	case TEMPLATE_ROLLBACK:
		finish(c, s,
		       x->kind == TEMPLATE_COMMIT ? END_COMMIT : END_ROLLBACK);
		s->begun = x->chains;
		break;
	case TEMPLATE_ROLLBACK_TO: s->failed = false; break;
	case TEMPLATE_AUTOCOMMIT_OFF: s->manual = true; break;
	case TEMPLATE_AUTOCOMMIT_ON:
		finish(c, s, END_COMMIT);
		s->manual = false;
		break;
	case TEMPLATE_SCHEMA:
		if (c->mysql) finish(c, s, END_COMMIT);
		break;
	case TEMPLATE_NOTHING:
	case TEMPLATE_UNREAD: break;
	case TEMPLATE_DATA:
		c->data_statements++;
		if (first && !e->transaction) finish_alone(c, s);
		if (!s->tag) s->tag = grouping_value(&c->grouping, &c->words);
		add_step(c, s, template, e->line);
		break;
	}
}

static void statements(struct classes *c, struct session *s,
                       const struct log_entry *e)
{
	struct sql_words *w = &c->words;
	bool first = true;
	uint32_t newlines = 0, counted = 0;
	if (!words_read(w, e->text, e->length, c->mysql)) {
		log_skipped_add(&c->broken, e->line);
		return;
	}
	templates_parameters(&c->templates, e->parameters,
	                     e->parameters_length);
	for (uint32_t from = 0, to; from < w->count; from = to + 1) {
		for (to = from; to < w->count && !word_is(w, to, ";");) to++;
		if (to == from) continue;
		for (; counted < w->items[from].at; counted++)
			newlines += e->text[counted] == '\n';
		uint32_t template =
			templates_read(&c->templates, w, from, to, c->mysql,
		                       c->file, e->line + newlines);
		one_statement(c, s, template, e, first);
		first = false;
	}
}

void classes_begin_log(struct classes *c, uint32_t file, bool mysql)
{
	assert(!c->sessions->count);
	c->file = file;
	c->mysql = mysql;
	c->times = 1;
}

void classes_add(void *classes, const struct log_entry *e)
{
	struct classes *c = classes;
	struct session *s = find_session(c, e->session);
	switch (e->event) {
	case LOG_END:
		finish_alone(c, s);
		finish(c, s, END_ROLLBACK);
		calls_end_session(c, s->id);
		s->manual = false;
		s->ended = true;
		c->sessions->ended++;
		break;
	case LOG_FAILED:
		if (e->text && hash_bytes(1, e->text, e->length) != s->last) {
			finish_alone(c, s);
			s->failed = s->begun || s->manual;
		} else {
			s->failed = true;
		}
		break;
	case LOG_STATEMENT:
		c->times = e->times ? e->times : 1;
		s->last = hash_bytes(1, e->text, e->length);
		/* The log itself may say where transactions end. */
		if (e->transaction && e->transaction != s->transaction) {
			finish_alone(c, s);
			finish(c, s, END_CUT);
		}
		s->transaction = e->transaction;
		statements(c, s, e);
		break;
	}
}

void classes_end_log(struct classes *c)
{
	struct sessions *s = c->sessions;
	for (uint32_t i = 0; i < s->count; i++) {
		finish_alone(c, &s->items[i]);
		finish(c, &s->items[i], END_CUT);
		steps_free(&s->items[i].own);
	}
	s->count = s->ended = 0;
	table_clear(&s->by_id);
	calls_end(c);
}
