/* Reading our own format: one history, one object, one line.
 *
 * Only "sessions" is required. What may be left out: "init" and keys in it
 * (the initial value is then null), the names of sessions and transactions,
 * "status" (committed), "at", "after", "transactions", "events". Members that
 * are not known ("verdict", "violated") are passed over. A status may also be
 * "unknown": nobody knows whether the transaction committed.
 *
 * An event is an array, ["r", key, value, from] or ["w", key, value], or an
 * object, {"r": key, "value": value, "from": from} or {"w": key, "value":
 * value}. In the array `from` may be left out, or be null; then the value tells
 * the writer. To leave out the value of a read instead, use the object. So a
 * third element always is a value.
 *
 * What an access locks stands last: ["r", key, value, from, "S"], ["w", key,
 * value, "N"], in the object "lock": "S". Reads without it lock nothing, writes
 * are "X". ["stmt", n] among the events says that those that follow, up to the
 * next one, are one statement; the numbers of a transaction increase. Events
 * before the first are a statement each. In a statement what it reads without a
 * lock, or with "K", comes first: the database reads that from one moment.
 *
 * "versions" may name keys with an array of values each: the order in which
 * these were written (values that are not in it were written later), which is
 * known where lists were read. No value may be written twice to such a key.
 *
 * The line is read twice: for its sessions and transactions, then for their
 * events, which may read from transactions further on.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "formats/forms.h"
#include "formats/json_values.h"
#include "history/trace_build.h"
#include "vm/value.h"

/* A part of the line. */
struct extent {
	const char *at, *end; /* NULL: absent */
};

/* A part of parser.names. */
struct name {
	size_t at, length;
	bool given;
};

struct session_entry {
	struct name name;
	uint32_t first, count; /* of parser.transactions */
	bool after_all;
};

struct transaction_place {
	struct name name;
	struct extent events;
	uint32_t handle;
	enum trace_status status;
	own_level own;
};

#define NONE UINT32_MAX

struct parser {
	struct forms f;
	struct trace_builder *builder;
	uint32_t line;
	/* Where it is, for messages. */
	uint32_t session, transaction, event;
	struct session_entry *sessions;
	size_t session_count, session_capacity;
	struct transaction_place *transactions;
	size_t transaction_count, transaction_capacity;
	struct extent init, versions;
	struct trace_value *values; /* of one key's versions */
	uint32_t value_count, value_capacity;
	bool *versioned; /* by key: its versions were given */
	uint32_t versioned_count, versioned_capacity;
	struct name program, level;
	bool has_sessions, valueless;
	/* Of the transaction: is the next event in a statement, that of the
	 * event before it; and that statement's number. */
	bool grouped, joined;
	bool locked; /* has the statement locked or written? */
	int64_t statement;
	struct text names, scratch;
	struct region region; /* of values on their way */
};

/* ---- errors ---- */

static bool wrong(struct parser *p, const struct form *x, const char *format,
                  ...) __attribute__((format(printf, 3, 4)));

/* With the path to the place: sessions[0].transactions[2].events[1]: ... */
static bool wrong(struct parser *p, const struct form *x, const char *format,
                  ...)
{
	struct text t = { 0 };
	if (p->session != NONE) text_format(&t, "sessions[%u]", p->session);
	if (p->transaction != NONE)
		text_format(&t, ".transactions[%u]", p->transaction);
	if (p->event != NONE) text_format(&t, ".events[%u]", p->event);
	if (t.length) text_string(&t, ": ");
	va_list args;
	va_start(args, format);
	text_vformat(&t, format, args);
	va_end(args);
	form_error(&p->f, x, "%s", text_get(&t));
	text_free(&t);
	return false;
}

static bool expected(struct parser *p, const struct form *x, const char *what)
{
	struct text shown = { 0 };
	form_show(&shown, x);
	wrong(p, x, "expected %s, found %s", what, text_get(&shown));
	text_free(&shown);
	return false;
}

/* ---- small parts ---- */

static bool opened(struct parser *p, struct form *x, char bracket,
                   const char *what)
{
	if (x->kind == FORM_OPEN && x->bracket == bracket) return true;
	return expected(p, x, what);
}

static bool next_opened(struct parser *p, struct form *x, char bracket,
                        const char *what)
{
	return form_next(&p->f, x) && opened(p, x, bracket, what);
}

/* The value of a member must be a string; keeps it. */
static bool read_name(struct parser *p, struct name *n, const char *what)
{
	struct form x;
	if (!form_next(&p->f, &x)) return false;
	if (x.kind != FORM_STRING) return expected(p, &x, what);
	n->at = p->names.length;
	n->length = x.length;
	n->given = true;
	text_bytes(&p->names, x.text, x.length);
	return true;
}

/* The value of a member must be this collection, which is read later. */
static bool read_extent(struct parser *p, struct extent *e, char bracket,
                        const char *what)
{
	struct form x;
	if (!next_opened(p, &x, bracket, what)) return false;
	if (e->at) return wrong(p, &x, "this is given twice");
	if (!form_pass(&p->f, &x)) return false;
	e->at = x.at;
	e->end = x.end;
	return true;
}

static bool skip_value(struct parser *p)
{
	struct form x;
	return form_next(&p->f, &x) && form_skip(&p->f, &x);
}

/* ---- sessions and transactions ---- */

static bool read_status(struct parser *p, struct transaction_place *t)
{
	struct form x;
	if (!form_next(&p->f, &x)) return false;
	if (x.kind == FORM_STRING && form_is(&x, "committed"))
		t->status = TRACE_COMMITTED;
	else if (x.kind == FORM_STRING && form_is(&x, "aborted"))
		t->status = TRACE_ABORTED;
	else if (x.kind == FORM_STRING && form_is(&x, "unknown"))
		t->status = TRACE_UNKNOWN;
	else
		return expected(p, &x,
		                "\"committed\", \"aborted\" or \"unknown\"");
	return true;
}

/* The level of its own. */
static bool read_level(struct parser *p, struct transaction_place *t)
{
	struct form x;
	struct text why = { 0 };
	if (!form_next(&p->f, &x)) return false;
	if (x.kind != FORM_STRING) return expected(p, &x, "a level in quotes");
	text_clear(&p->scratch);
	text_bytes(&p->scratch, x.text, x.length);
	const char *word = text_get(&p->scratch);
	const char *problem = own_level_problem(word);
	t->own = (own_level)(level_number(word) + 1);
	if (problem)
		text_string(&why, problem);
	else if (!t->own)
		level_unknown(&why, word);
	else
		return true;
	wrong(p, &x, "%s", text_get(&why));
	text_free(&why);
	return false;
}

static bool transaction_member(struct parser *p, struct transaction_place *t,
                               const struct form *name)
{
	if (form_is(name, "name"))
		return read_name(p, &t->name, "a name in quotes");
	if (form_is(name, "status")) return read_status(p, t);
	if (form_is(name, "at")) return read_level(p, t);
	if (form_is(name, "events"))
		return read_extent(p, &t->events, '[', "an array of events");
	return skip_value(p);
}

static bool read_transaction(struct parser *p, const struct form *open)
{
	struct transaction_place t = { .status = TRACE_COMMITTED };
	struct form x = *open;
	if (!opened(p, &x, '{', "a transaction: an object")) return false;
	for (;;) {
		if (!form_next(&p->f, &x)) return false;
		if (x.kind == FORM_CLOSE) break;
		if (!transaction_member(p, &t, &x)) return false;
	}
	VEC_RESERVE(p->transactions, p->transaction_count,
	            p->transaction_capacity);
	p->transactions[p->transaction_count++] = t;
	return true;
}

static bool read_transactions(struct parser *p, struct session_entry *s)
{
	struct form x;
	if (!next_opened(p, &x, '[', "an array of transactions")) return false;
	if (s->count) return wrong(p, &x, "this is given twice");
	for (p->transaction = 0;; p->transaction++, s->count++) {
		if (!form_next(&p->f, &x)) return false;
		if (x.kind == FORM_CLOSE) break;
		if (!read_transaction(p, &x)) return false;
	}
	p->transaction = NONE;
	return true;
}

static bool session_member(struct parser *p, struct session_entry *s,
                           const struct form *name)
{
	struct form x;
	if (form_is(name, "name"))
		return read_name(p, &s->name, "a name in quotes");
	if (form_is(name, "transactions")) return read_transactions(p, s);
	if (!form_is(name, "after")) return skip_value(p);
	if (!form_next(&p->f, &x)) return false;
	if (x.kind != FORM_STRING || !form_is(&x, "all"))
		return expected(p, &x, "\"all\"");
	s->after_all = true;
	return true;
}

static bool read_session(struct parser *p, const struct form *open)
{
	struct session_entry s = { .first = (uint32_t)p->transaction_count };
	struct form x = *open;
	if (!opened(p, &x, '{', "a session: an object")) return false;
	for (;;) {
		if (!form_next(&p->f, &x)) return false;
		if (x.kind == FORM_CLOSE) break;
		if (!session_member(p, &s, &x)) return false;
	}
	VEC_RESERVE(p->sessions, p->session_count, p->session_capacity);
	p->sessions[p->session_count++] = s;
	return true;
}

static bool read_sessions(struct parser *p)
{
	struct form x;
	if (!next_opened(p, &x, '[', "an array of sessions")) return false;
	if (p->has_sessions) return wrong(p, &x, "sessions are given twice");
	p->has_sessions = true;
	for (p->session = 0;; p->session++) {
		if (!form_next(&p->f, &x)) return false;
		if (x.kind == FORM_CLOSE) break;
		if (!read_session(p, &x)) return false;
	}
	p->session = NONE;
	return true;
}

static bool read_version(struct parser *p)
{
	struct form x;
	if (!form_next(&p->f, &x)) return false;
	if (x.kind == FORM_INTEGER && x.fits && x.number == 1) return true;
	return expected(p, &x, "1, the version of the format");
}

/* Are values what was observed? */
static bool read_values(struct parser *p)
{
	struct form x;
	if (!form_next(&p->f, &x)) return false;
	if (x.kind != FORM_BOOL) return expected(p, &x, "true or false");
	p->valueless = !x.number;
	return true;
}

static bool history_member(struct parser *p, const struct form *name)
{
	if (form_is(name, "history")) return read_version(p);
	if (form_is(name, "program"))
		return read_name(p, &p->program, "a path in quotes");
	if (form_is(name, "level"))
		return read_name(p, &p->level, "a level in quotes");
	if (form_is(name, "values")) return read_values(p);
	if (form_is(name, "init"))
		return read_extent(p, &p->init, '{',
		                   "an object: keys and their initial values");
	if (form_is(name, "versions"))
		return read_extent(p, &p->versions, '{',
		                   "an object: keys and their values in order");
	if (form_is(name, "sessions")) return read_sessions(p);
	return skip_value(p);
}

/* First pass: all but initial values and events. */
static bool read_history(struct parser *p)
{
	struct form start, x;
	if (!next_opened(p, &start, '{', "a history: an object")) return false;
	for (;;) {
		if (!form_next(&p->f, &x)) return false;
		if (x.kind == FORM_CLOSE) break;
		if (!history_member(p, &x)) return false;
	}
	if (!p->has_sessions)
		return wrong(p, &start, "the history has no \"sessions\"");
	if (!form_next(&p->f, &x)) return false;
	return x.kind == FORM_END || expected(p, &x, "the end of the line");
}

/* ---- values and keys ---- */

static bool read_compound(struct parser *p, struct form *x,
                          struct trace_value *v)
{
	if (!form_pass(&p->f, x)) return false;
	struct region_mark mark = region_mark(&p->region);
	size_t offset;
	text_clear(&p->scratch);
	const char *error =
		json_canonical_value(&p->scratch, &p->region, x->at,
	                             (size_t)(x->end - x->at), &offset);
	if (error) {
		x->at += offset;
		return wrong(p, x, "%s", error);
	}
	*v = trace_value_text(p->builder, text_get(&p->scratch),
	                      p->scratch.length);
	region_release(&p->region, mark);
	return true;
}

/* The value whose first form is x. */
static bool read_value(struct parser *p, struct form *x, struct trace_value *v)
{
	switch (x->kind) {
	case FORM_NULL: *v = trace_value_null(); return true;
	case FORM_BOOL:
		*v = trace_value_text(p->builder, x->text, x->length);
		return true;
	case FORM_INTEGER:
		if (!x->fits)
			return wrong(p, x, "an integer of more than 64 bits");
		*v = trace_value_number(x->number);
		return true;
	case FORM_STRING:
		text_clear(&p->scratch);
		text_json_string(&p->scratch, x->text, x->length);
		*v = trace_value_text(p->builder, p->scratch.data,
		                      p->scratch.length);
		return true;
	default: break;
	}
	if (x->kind == FORM_OPEN && x->bracket == '{')
		return read_compound(p, x, v);
	return expected(p, x,
	                "a value: null, true, false, an integer, a string, or "
	                "an object with the member tuple, list, set or record");
}

/* A key that is an integer in digits is the key of that number: a history of
 * numbers that was written in this format is the same when it is read. */
static uint32_t find_key(struct parser *p, const struct form *x)
{
	struct form digits = { .text = x->text, .length = x->length };
	size_t minus = x->length > 1 && x->text[0] == '-', i = minus;
	while (i < x->length && x->text[i] >= '0' && x->text[i] <= '9') i++;
	bool zero = x->length > minus && x->text[minus] == '0';
	if (i == x->length && x->length > minus && (!zero || x->length == 1)) {
		forms_integer(&digits);
		if (digits.fits)
			return trace_key_number(p->builder, digits.number);
	}
	return trace_key_named(p->builder, x->text, x->length);
}

/* ---- events ---- */

struct event_parts {
	bool has_key, has_value, has_source;
	enum event_kind kind;
	uint32_t key;
	struct trace_value value;
	enum trace_source source;
	uint32_t writer; /* a handle */
	enum strength strength;
};

/* [session, transaction], both from 0 */
static bool read_writer(struct parser *p, struct event_parts *e)
{
	struct form s, t, x;
	if (!form_next(&p->f, &s)) return false;
	if (s.kind != FORM_INTEGER)
		return expected(p, &s, "the number of a session");
	if (!s.fits || s.number < 0 || (size_t)s.number >= p->session_count)
		return wrong(p, &s,
		             "there is no session %.*s: they are 0 to "
		             "%zu",
		             (int)s.length, s.text, p->session_count - 1);
	if (!form_next(&p->f, &t)) return false;
	if (t.kind != FORM_INTEGER)
		return expected(p, &t, "the number of a transaction");
	const struct session_entry *from = &p->sessions[s.number];
	if (!t.fits || t.number < 0 || t.number >= from->count)
		return wrong(p, &t,
		             "session %d has no transaction %.*s: it "
		             "has %u of them, from 0",
		             (int)s.number, (int)t.length, t.text, from->count);
	size_t place = from->first + (size_t)t.number;
	size_t self = p->sessions[p->session].first + p->transaction;
	e->source = place == self ? TRACE_FROM_SELF : TRACE_FROM_OTHER;
	e->writer = p->transactions[place].handle;
	if (!form_next(&p->f, &x)) return false;
	return x.kind == FORM_CLOSE || expected(p, &x, "']'");
}

/* "init", "self", a transaction; null is as if it were not there. */
static bool read_from(struct parser *p, const struct form *x,
                      struct event_parts *e)
{
	e->has_source = x->kind != FORM_NULL;
	if (x->kind == FORM_OPEN && x->bracket == '[') return read_writer(p, e);
	if (x->kind == FORM_STRING && form_is(x, "init"))
		e->source = TRACE_FROM_INIT;
	else if (x->kind == FORM_STRING && form_is(x, "self"))
		e->source = TRACE_FROM_SELF;
	else if (x->kind != FORM_NULL)
		return expected(p, x,
		                "\"init\", \"self\" or "
		                "[session, transaction]");
	return true;
}

static bool read_key(struct parser *p, const struct form *x,
                     struct event_parts *e)
{
	if (x->kind != FORM_STRING) return expected(p, x, "a key in quotes");
	if (e->has_key) return wrong(p, x, "an event has one key");
	e->key = find_key(p, x);
	e->has_key = true;
	return true;
}

/* `or` is what else may stand here: "" or "']' or ". */
static bool read_strength(struct parser *p, const struct form *x,
                          const char * or, struct event_parts *e)
{
	char what[64];
	text_clear(&p->scratch);
	if (x->kind == FORM_STRING) text_bytes(&p->scratch, x->text, x->length);
	e->strength = strength_from_letter(text_get(&p->scratch));
	snprintf(what, sizeof what, "%sa lock: \"K\", \"S\", \"N\" or \"X\"",
	         or);
	return e->strength < STRENGTH_COUNT || expected(p, x, what);
}

/* ["stmt", n]; the word is read */
static bool begin_statement(struct parser *p)
{
	struct form n, x;
	if (!form_next(&p->f, &n)) return false;
	if (n.kind != FORM_INTEGER || !n.fits)
		return expected(p, &n, "the number of a statement");
	if (p->grouped && n.number <= p->statement)
		return wrong(p, &n,
		             "statements are out of order: %lld comes after "
		             "%lld",
		             (long long)n.number, (long long)p->statement);
	p->grouped = true;
	p->joined = p->locked = false;
	p->statement = n.number;
	if (!form_next(&p->f, &x)) return false;
	return x.kind == FORM_CLOSE || expected(p, &x, "']'");
}

/* ["r", key, value, from]; the bracket is read */
static bool read_array(struct parser *p, struct event_parts *e)
{
	struct form x;
	if (!form_next(&p->f, &x)) return false;
	if (x.kind == FORM_STRING && form_is(&x, "stmt"))
		return begin_statement(p);
	if (x.kind == FORM_STRING && form_is(&x, "r"))
		e->kind = EVENT_READ;
	else if (x.kind == FORM_STRING && form_is(&x, "w"))
		e->kind = EVENT_WRITE;
	else
		return expected(p, &x, "\"r\", \"w\" or \"stmt\"");
	if (!form_next(&p->f, &x) || !read_key(p, &x, e)) return false;
	if (!form_next(&p->f, &x) || !read_value(p, &x, &e->value))
		return false;
	e->has_value = true;
	if (!form_next(&p->f, &x)) return false;
	if (x.kind != FORM_CLOSE && e->kind == EVENT_READ) {
		if (!read_from(p, &x, e)) return false;
		if (!form_next(&p->f, &x)) return false;
	}
	if (x.kind != FORM_CLOSE) {
		if (!read_strength(p, &x, "']' or ", e)) return false;
		if (!form_next(&p->f, &x)) return false;
	}
	return x.kind == FORM_CLOSE || expected(p, &x, "']'");
}

static bool object_member(struct parser *p, const struct form *name,
                          struct event_parts *e)
{
	bool read = form_is(name, "r"), write = form_is(name, "w");
	bool value = form_is(name, "value"), from = form_is(name, "from");
	struct form x;
	if (!form_next(&p->f, &x)) return false;
	if (read || write) {
		e->kind = read ? EVENT_READ : EVENT_WRITE;
		return read_key(p, &x, e);
	}
	if (value) {
		e->has_value = true;
		return read_value(p, &x, &e->value);
	}
	if (form_is(name, "lock")) return read_strength(p, &x, "", e);
	return from ? read_from(p, &x, e) : form_skip(&p->f, &x);
}

/* {"r": key, "value": value, "from": from}; the bracket is read */
static bool read_object(struct parser *p, struct event_parts *e)
{
	struct form x;
	for (;;) {
		if (!form_next(&p->f, &x)) return false;
		if (x.kind == FORM_CLOSE) return true;
		if (!object_member(p, &x, e)) return false;
	}
}

static bool check_event(struct parser *p, const struct form *start,
                        const struct event_parts *e)
{
	if (!e->has_key)
		return wrong(p, start,
		             "the event has neither \"r\" nor "
		             "\"w\", with a key");
	if (e->kind == EVENT_WRITE && e->has_source)
		return wrong(p, start, "a write has no \"from\"");
	if (e->kind == EVENT_WRITE && e->strength != STRENGTH_PLAIN &&
	    e->strength < STRENGTH_NO_KEY_UPDATE)
		return wrong(p, start,
		             "a write locks its key as \"N\" or \"X\", not "
		             "as \"%s\"",
		             strength_letter(e->strength));
	if (e->kind == EVENT_WRITE && !e->has_value)
		return wrong(p, start, "the write has no value");
	if (!e->has_value && !e->has_source)
		return wrong(p, start,
		             "the read has neither its value nor "
		             "whom it is from");
	return true;
}

static bool read_event(struct parser *p, struct form *x, uint32_t transaction)
{
	struct event_parts e = { .value = { .flags = TRACE_MISSING } };
	struct form start = *x;
	bool array = x->kind == FORM_OPEN && x->bracket == '[';
	if (!array && !opened(p, x, '{',
	                      "an event: [\"r\", key, value, from] or "
	                      "[\"w\", key, value]"))
		return false;
	if (!(array ? read_array(p, &e) : read_object(p, &e))) return false;
	if (array && !e.has_key) return true; /* a statement begins */
	if (!check_event(p, &start, &e)) return false;
	trace_op_add(p->builder, transaction, e.kind, e.key, e.value, p->line);
	if (e.has_source) trace_op_source(p->builder, e.source, e.writer);
	bool locks = e.kind == EVENT_WRITE || e.strength >= STRENGTH_SHARE;
	bool own = e.has_source && e.source == TRACE_FROM_SELF;
	if (p->joined && p->locked && !locks && !own)
		return wrong(p, &start,
		             "statement %lld is out of order: what it reads "
		             "without a lock comes before what it locks or "
		             "writes",
		             (long long)p->statement);
	p->locked |= locks;
	if (e.strength != STRENGTH_PLAIN || p->joined)
		trace_op_access(p->builder, e.strength, p->joined);
	p->joined = p->grouped;
	return true;
}

static bool read_events(struct parser *p, const struct transaction_place *t)
{
	struct form x;
	if (!t->events.at) return true;
	p->grouped = p->joined = false;
	forms_restart(&p->f, t->events.at, t->events.end, p->line);
	if (!form_next(&p->f, &x)) return false;
	for (p->event = 0;; p->event++) {
		if (!form_next(&p->f, &x)) return false;
		if (x.kind == FORM_CLOSE) break;
		if (!read_event(p, &x, t->handle)) return false;
	}
	p->event = NONE;
	return true;
}

static bool read_init(struct parser *p)
{
	struct form x;
	struct trace_value v;
	if (!p->init.at) return true;
	forms_restart(&p->f, p->init.at, p->init.end, p->line);
	if (!form_next(&p->f, &x)) return false;
	for (;;) {
		if (!form_next(&p->f, &x)) return false;
		if (x.kind == FORM_CLOSE) return true;
		uint32_t key = find_key(p, &x);
		if (!form_next(&p->f, &x) || !read_value(p, &x, &v))
			return false;
		trace_key_initial(p->builder, key, v);
	}
}

/* ---- the order of writes ---- */

static bool first_time(struct parser *p, uint32_t key)
{
	while (p->versioned_count <= key) {
		VEC_RESERVE(p->versioned, p->versioned_count,
		            p->versioned_capacity);
		p->versioned[p->versioned_count++] = false;
	}
	bool first = !p->versioned[key];
	p->versioned[key] = true;
	return first;
}

/* The values in the array of this key, whose name is read. */
static bool read_key_versions(struct parser *p, const struct form *name)
{
	struct form x;
	uint32_t key = find_key(p, name);
	if (!first_time(p, key))
		return wrong(p, name, "the key is given twice");
	if (!next_opened(p, &x, '[', "an array of values")) return false;
	for (p->value_count = 0;;) {
		struct trace_value v;
		if (!form_next(&p->f, &x)) return false;
		if (x.kind == FORM_CLOSE) break;
		if (!read_value(p, &x, &v)) return false;
		VEC_RESERVE(p->values, p->value_count, p->value_capacity);
		p->values[p->value_count++] = v;
	}
	trace_key_versions(p->builder, key, p->values, p->value_count);
	return true;
}

static bool read_versions(struct parser *p)
{
	struct form x;
	if (!p->versions.at) return true;
	p->session = p->transaction = NONE;
	forms_restart(&p->f, p->versions.at, p->versions.end, p->line);
	if (!form_next(&p->f, &x)) return false;
	for (;;) {
		if (!form_next(&p->f, &x)) return false;
		if (x.kind == FORM_CLOSE) return true;
		if (!read_key_versions(p, &x)) return false;
	}
}

/* ---- all of it ---- */

static void add_transaction(struct parser *p, uint32_t session,
                            struct transaction_place *t)
{
	t->handle =
		trace_transaction_new(p->builder, session, t->status, p->line);
	if (t->own) trace_transaction_level(p->builder, t->handle, t->own);
	if (t->name.given)
		trace_transaction_name(p->builder, t->handle,
		                       text_get(&p->names) + t->name.at,
		                       t->name.length);
}

static void add_sessions(struct parser *p)
{
	for (uint32_t s = 0; s < p->session_count; s++) {
		const struct session_entry *session = &p->sessions[s];
		const char *name = text_get(&p->names) + session->name.at;
		char number[16];
		int digits = snprintf(number, sizeof number, "%u", s);
		bool given = session->name.given;
		uint32_t handle = trace_session_new(
			p->builder, given ? name : number,
			given ? session->name.length : (size_t)digits,
			session->after_all);
		for (uint32_t t = 0; t < session->count; t++)
			add_transaction(p, handle,
			                &p->transactions[session->first + t]);
	}
}

/* Second pass. */
static bool read_operations(struct parser *p)
{
	add_sessions(p);
	if (!read_init(p)) return false;
	for (p->session = 0; p->session < p->session_count; p->session++) {
		const struct session_entry *s = &p->sessions[p->session];
		for (uint32_t t = 0; t < s->count; t++) {
			p->transaction = t;
			if (!read_events(p, &p->transactions[s->first + t]))
				return false;
		}
	}
	return read_versions(p);
}

static const char *kept(struct trace *t, const struct parser *p, struct name n)
{
	return n.given ? region_copy_string(&t->region,
	                                    text_get(&p->names) + n.at,
	                                    n.length)
	               : NULL;
}

static void parser_free(struct parser *p)
{
	forms_free(&p->f);
	free(p->sessions);
	free(p->transactions);
	free(p->values);
	free(p->versioned);
	text_free(&p->names);
	text_free(&p->scratch);
	region_free(&p->region);
	trace_builder_free(p->builder);
}

struct trace *isoscope_parse(const struct input *in, const char *at,
                             const char *end, uint32_t line,
                             const struct reader_options *o, struct diags *d)
{
	struct trace_rules rules = {
		.initial = trace_value_null(),
		.aborted_reads = true,
		.sources = true,
		.unknown_is_initial = o->unknown_is_initial,
	};
	struct parser p = { .line = line,
		            .session = NONE,
		            .transaction = NONE,
		            .event = NONE };
	struct trace *t = NULL;
	region_init(&p.region);
	forms_init(&p.f, in, at, end, line, FORM_JSON, d);
	p.builder = trace_builder_new(in->file, &rules);
	trace_builder_line(p.builder, line);
	if (read_history(&p) && read_operations(&p)) {
		t = trace_builder_finish(p.builder, d);
		p.builder = NULL;
	}
	if (t) {
		t->program = kept(t, &p, p.program);
		t->level = kept(t, &p, p.level);
		t->valueless = p.valueless;
	}
	parser_free(&p);
	return t;
}
