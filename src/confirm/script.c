#include "confirm/script.h"

#include <assert.h>
#include <ctype.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "history/history.h"
#include "postgres/library.h"
#include "sql/image.h"
#include "sql/parser.h"
#include "vm/bytecode.h"

/* ---- The specification ---- */

/* The program's first source is the specification; it is read once more where
 * the program keeps only what it made of it. */
static bool read_spec(struct script *s)
{
	if (s->program->server) {
		struct server_library *l = server_of(s->program->library);
		s->spec = l->spec;
		s->sources = l->all;
		s->borrowed = true;
		return true;
	}
	const struct source *first =
		&sql_image_of(s->program->library)->all.items[0];
	const struct sql_arguments *given = sql_given(s->program);
	uint64_t digest = 0;
	sources_init(&s->sources, &s->region, &s->diags);
	uint32_t n = sources_add(&s->sources, first->path, first->text,
	                         first->length);
	if (!(sql_is_script(first->path)
	              ? spec_of_script(&s->spec, &s->sources, n, given,
	                               &s->region)
	              : spec_read(&s->spec, &s->sources, n, &s->region)))
		return false;
	for (uint32_t i = 0; i < s->spec.setup_count; i++)
		if (!spec_read_setup(&s->sources, &s->spec.setups[i],
		                     first->path, given, &digest))
			return false;
	return true;
}

static const char *text_at(const struct script *s, struct place at)
{
	return s->sources.items[at.source].text + at.offset;
}

static void join_setups(struct script *s)
{
	struct text t = { 0 };
	for (uint32_t i = 0; i < s->spec.setup_count; i++) {
		const struct spec_block *b = &s->spec.setups[i].sql;
		text_bytes(&t, text_at(s, b->at), b->length);
		text_string(&t, "\n;\n");
	}
	s->setup = region_copy_string(&s->region, text_get(&t), t.length);
	text_free(&t);
}

/* ---- Statements ---- */

static enum script_kind kind_of(json_t *statement)
{
	void *first = json_object_iter(statement);
	const char *word = first ? json_object_iter_key(first) : "";
	json_t *body = first ? json_object_iter_value(first) : NULL;
	const char *kind = json_string_value(json_object_get(body, "kind"));
	const char *name = json_string_value(json_object_get(body, "name"));
	if (!strcmp(word, "VariableSetStmt") && name &&
	    (!strcmp(name, "TRANSACTION") ||
	     !strcmp(name, "SESSION CHARACTERISTICS")))
		return SCRIPT_LEVEL;
	if (strcmp(word, "TransactionStmt") || !kind) return SCRIPT_PLAIN;
	if (!strcmp(kind, "TRANS_STMT_BEGIN") ||
	    !strcmp(kind, "TRANS_STMT_START"))
		return SCRIPT_BEGIN;
	if (!strcmp(kind, "TRANS_STMT_COMMIT") ||
	    !strcmp(kind, "TRANS_STMT_ROLLBACK"))
		return SCRIPT_END;
	return SCRIPT_PLAIN;
}

static struct script_unit *add_unit(struct script_session *x,
                                    struct script_unit u)
{
	VEC_RESERVE(x->units, x->count, x->capacity);
	x->units[x->count] = u;
	return &x->units[x->count++];
}

static void add_transaction(struct script_session *x, const char *name)
{
	VEC_RESERVE(x->names, x->transactions, x->name_capacity);
	x->names[x->transactions++] = name;
}

/* A block of a session, cut into its statements. */
struct cutting {
	struct script *script;
	struct script_session *session;
	struct sql_parser *parser;
	uint32_t number, step;
	const char *name;  /* of the step */
	bool block;        /* BEGIN was met, and not yet its end */
	bool inside;       /* some transaction has begun */
	uint32_t implicit; /* the first unit of one without BEGIN */
};

static void cut_off_blanks(const char *text, uint32_t *from, uint32_t *to)
{
	while (*from < *to && isspace((unsigned char)text[*from])) ++*from;
	while (*to > *from &&
	       (isspace((unsigned char)text[*to - 1]) || text[*to - 1] == ';'))
		--*to;
}

static void take_statement(struct cutting *c, const struct spec_block *b,
                           json_t *item)
{
	struct script *s = c->script;
	const char *text = text_at(s, b->at);
	struct script_session *x = c->session;
	uint32_t from = (uint32_t)json_integer_value(
		json_object_get(item, "stmt_location"));
	uint32_t n =
		(uint32_t)json_integer_value(json_object_get(item, "stmt_len"));
	uint32_t to = n ? from + n : b->length;
	assert(from <= to && to <= b->length);
	cut_off_blanks(text, &from, &to);
	struct script_unit u = { .kind = kind_of(json_object_get(item, "stmt")),
		                 .session = c->number,
		                 .step = c->step };
	u.text = region_copy_string(&s->region, text + from, to - from);
	u.from = source_position(
		&s->sources,
		(struct place){ b->at.source, b->at.offset + from });
	u.to = source_position(
		&s->sources, (struct place){ b->at.source, b->at.offset + to });
	if (!c->inside) {
		c->inside = true;
		c->implicit = u.kind == SCRIPT_BEGIN ? SCRIPT_NONE : x->count;
		add_transaction(x, c->name);
	}
	u.transaction = x->transactions - 1;
	if (u.kind == SCRIPT_BEGIN) c->block = true;
	if (u.kind == SCRIPT_END) c->block = c->inside = false;
	add_unit(x, u);
}

static void insert_begin(struct script_session *x, uint32_t at,
                         struct script_unit u)
{
	u.text = "BEGIN";
	u.kind = SCRIPT_BEGIN;
	add_unit(x, u);
	memmove(&x->units[at + 1], &x->units[at],
	        (x->count - 1 - at) * sizeof *x->units);
	x->units[at] = u;
}

/* What a step does outside BEGIN and COMMIT is one transaction, which ends with
 * the step; or a BEGIN in it takes what stands before it into its block. */
static void end_implicit(struct cutting *c)
{
	struct script_session *x = c->session;
	struct script_unit u = { .session = c->number,
		                 .step = c->step,
		                 .transaction = x->transactions - 1,
		                 .added = true };
	if (!c->inside || c->implicit == SCRIPT_NONE) return;
	assert(c->implicit < x->count);
	if (!c->block) c->inside = false;
	if (!c->block && x->count - c->implicit == 1) {
		x->units[c->implicit].alone = true;
		return;
	}
	insert_begin(x, c->implicit, u);
	u.text = "COMMIT";
	u.kind = SCRIPT_END;
	if (!c->block) add_unit(x, u);
	c->implicit = SCRIPT_NONE;
}

static bool cut(struct cutting *c, const struct spec_block *b)
{
	struct sql_refusal why = { 0 };
	json_t *all = sql_parse(c->parser, text_at(c->script, b->at), b->length,
	                        &why);
	text_free(&why.message);
	size_t i;
	json_t *item;
	json_array_foreach(all, i, item) take_statement(c, b, item);
	end_implicit(c);
	bool fine = all != NULL;
	json_decref(all);
	return fine;
}

static bool cut_sessions(struct script *s)
{
	struct sql_parser *parser = sql_parser_new();
	bool fine = true;
	s->sessions = mem_take0(s->spec.session_count + 1, sizeof *s->sessions);
	for (uint32_t i = 0; i < s->spec.session_count && fine; i++) {
		const struct spec_session *x = &s->spec.sessions[i];
		struct cutting c = { .script = s,
			             .session = &s->sessions[i],
			             .parser = parser,
			             .number = i,
			             .step = SCRIPT_SETUP,
			             .name = "setup" };
		if (x->has_setup) fine = cut(&c, &x->setup);
		for (uint32_t k = 0; k < x->step_count && fine; k++) {
			c.step = k;
			c.name = x->steps[k].name;
			fine = cut(&c, &x->steps[k].sql);
		}
	}
	sql_parser_free(parser);
	return fine;
}

static bool has_commands(const struct spec *s)
{
	for (uint32_t i = 0; i < s->session_count; i++)
		if (s->sessions[i].command) return true;
	for (uint32_t i = 0; i < s->setup_count; i++)
		if (s->setups[i].command) return true;
	return false;
}

bool script_read(struct script *s, const struct program *p, struct text *why)
{
	*s = (struct script){ .program = p };
	assert(program_is_sql(p));
	region_init(&s->region);
	if (p->server && has_commands(&server_of(p->library)->spec)) {
		text_string(why, "its sessions, or its set-up, are programs, "
		                 "whose statements cannot be sent one by one");
		region_free(&s->region);
		return false;
	}
	if (read_spec(s) && cut_sessions(s)) {
		join_setups(s);
		return true;
	}
	text_string(why, s->diags.count ? s->diags.items[0].message
	                                : "its statements cannot be read");
	script_free(s);
	return false;
}

void script_free(struct script *s)
{
	for (uint32_t i = 0; s->sessions && i < s->spec.session_count; i++) {
		free(s->sessions[i].units);
		free(s->sessions[i].names);
	}
	free(s->sessions);
	if (!s->borrowed) {
		spec_free(&s->spec);
		sources_free(&s->sources);
	}
	diags_free(&s->diags);
	region_free(&s->region);
	*s = (struct script){ 0 };
}

/* ---- The statements of a history ---- */

static int compare_places(struct position a, struct position b)
{
	if (a.line != b.line) return a.line < b.line ? -1 : 1;
	return (a.column > b.column) - (a.column < b.column);
}

static bool is_in(const struct script_unit *u, struct position at)
{
	return !u->added && at.file && !strcmp(at.file, u->from.file) &&
	       compare_places(u->from, at) <= 0 &&
	       compare_places(at, u->to) < 0;
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' ||
	       (unsigned char)c >= 0x80;
}

/* Does the text mention the name, in any case? */
static bool mentions(const char *text, const char *name, size_t length)
{
	for (const char *at = text; *at; at++)
		if (!strncasecmp(at, name, length) && !is_word(at[length]) &&
		    (at == text || !is_word(at[-1])))
			return true;
	return false;
}

/* The function whose code is there: the last one that is made before. */
static const char *function_at(const struct script *s, struct position at,
                               size_t *length)
{
	const char *found = NULL;
	for (size_t i = 0; i < s->sources.count; i++) {
		const struct source *x = &s->sources.items[i];
		if (!at.file || strcmp(x->path, at.file) ||
		    at.line > x->line_count)
			continue;
		const char *end = x->text + x->lines[at.line - 1];
		for (const char *p = x->text; p < end; p++) {
			size_t n = !strncasecmp(p, "FUNCTION ", 9)     ? 9
			           : !strncasecmp(p, "PROCEDURE ", 10) ? 10
			                                               : 0;
			if (n) found = p + n;
		}
	}
	for (*length = 0; found && is_word(found[*length]);) ++*length;
	return *length ? found : NULL;
}

/* One transaction being found again. */
struct finding_units {
	const struct script *script;
	const struct history *history;
	const struct script_session *session;
	uint32_t transaction; /* of the script's session */
	uint32_t at;          /* where it is */
};

static bool is_candidate(const struct finding_units *f, uint32_t i)
{
	const struct script_unit *u = &f->session->units[i];
	return u->transaction == f->transaction && u->kind == SCRIPT_PLAIN;
}

/* In the code of a function, or in a step whose statements have no places of
 * their own: the next statement that mentions it, or where it is. */
static uint32_t find_mention(const struct finding_units *f, uint32_t from,
                             const char *name, size_t length)
{
	for (uint32_t i = from; name && i < f->session->count; i++)
		if (is_candidate(f, i) &&
		    mentions(f->session->units[i].text, name, length))
			return i;
	return f->at;
}

/* A lock that is given up is told where it was taken: the next ROLLBACK TO ends
 * it. */
static uint32_t find_rollback(const struct finding_units *f)
{
	static const char word[] = "ROLLBACK";
	for (uint32_t i = f->at; i < f->session->count; i++)
		if (is_candidate(f, i) &&
		    !strncasecmp(f->session->units[i].text, word,
		                 sizeof word - 1))
			return i;
	return f->at;
}

static uint32_t unit_of_event(const struct finding_units *f,
                              const struct event *e, bool first)
{
	if (event_gives_up(e)) return find_rollback(f);
	const struct program *p = f->script->program;
	struct position at = program_position(p, e->point);
	const char *key = f->history->keys[e->key].name;
	size_t length = strcspn(key, "[");
	if (p->server) return find_mention(f, f->at + !first, key, length);
	for (uint32_t i = 0; i < f->session->count; i++)
		if (f->session->units[i].transaction == f->transaction &&
		    is_in(&f->session->units[i], at))
			return i;
	key = function_at(f->script, at, &length);
	return find_mention(f, f->at, key, length);
}

static void map_transaction(struct finding_units *f,
                            const struct transaction *t, struct region *to,
                            uint32_t **units, uint32_t *count)
{
	*units = region_take0(to, (t->event_count + 1) * sizeof **units);
	*count = 0;
	f->at = SCRIPT_NONE;
	for (uint32_t i = 0; i < f->session->count && f->at == SCRIPT_NONE; i++)
		if (is_candidate(f, i)) f->at = i;
	for (uint32_t i = 0; i < t->event_count && f->at != SCRIPT_NONE; i++) {
		if (t->events[i].joined) continue;
		f->at = unit_of_event(f, &t->events[i], !*count);
		(*units)[(*count)++] = f->at;
	}
}

void script_map(const struct script *s, const struct history *h,
                struct region *to, struct script_map *out)
{
	size_t n = h->transaction_count;
	out->transactions = region_take0(to, n * sizeof *out->transactions);
	out->counts = region_take0(to, n * sizeof *out->counts);
	out->units = region_take0(to, n * sizeof *out->units);
	out->transactions[HISTORY_INIT] = SCRIPT_NONE;
	for (uint32_t i = 0; i < h->session_count; i++) {
		const struct history_session *x = &h->sessions[i];
		uint32_t next = 0;
		for (uint32_t t = x->first; t < x->first + x->count; t++) {
			struct finding_units f = { .script = s, .history = h };
			out->transactions[t] = SCRIPT_NONE;
			if (i >= s->spec.session_count || x->after_all)
				continue;
			f.session = &s->sessions[i];
			while (next < f.session->transactions &&
			       strcmp(f.session->names[next],
			              h->transactions[t].name))
				next++;
			if (next == f.session->transactions) continue;
			f.transaction = out->transactions[t] = next++;
			map_transaction(&f, &h->transactions[t], to,
			                &out->units[t], &out->counts[t]);
		}
	}
}

void script_one_line(struct text *t, const char *sql)
{
	bool blank = false;
	for (; *sql; sql++) {
		if (isspace((unsigned char)*sql)) {
			blank = true;
			continue;
		}
		if (blank) text_char(t, ' ');
		blank = false;
		text_char(t, *sql);
	}
}
