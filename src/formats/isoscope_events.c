/* Our own format, second pass: initial values, events and the order of writes.
 */
#include <assert.h>
#include <stdio.h>

#include "base/memory.h"
#include "formats/json_values.h"
#include "formats/line_parser.h"

/* ---- values and keys ---- */

static bool read_compound(struct line_parser *p, struct form *x,
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
		return line_wrong(p, x, "%s", error);
	}
	*v = trace_value_text(p->builder, text_get(&p->scratch),
	                      p->scratch.length);
	region_release(&p->region, mark);
	return true;
}

/* The value whose first form is x. */
static bool read_value(struct line_parser *p, struct form *x,
                       struct trace_value *v)
{
	switch (x->kind) {
	case FORM_NULL: *v = trace_value_null(); return true;
	case FORM_BOOL:
		*v = trace_value_text(p->builder, x->text, x->length);
		return true;
	case FORM_INTEGER:
		if (!x->fits)
			return line_wrong(p, x,
			                  "an integer of more than 64 bits");
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
	return line_expected(
		p, x,
		"a value: null, true, false, an integer, a string, or "
		"an object with the member tuple, list, set or record");
}

/* A key that is an integer in digits is the key of that number: a history of
 * numbers that was written in this format is the same when it is read. */
static uint32_t find_key(struct line_parser *p, const struct form *x)
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
static bool read_writer(struct line_parser *p, struct event_parts *e)
{
	struct form s, t, x;
	if (!form_next(&p->f, &s)) return false;
	if (s.kind != FORM_INTEGER)
		return line_expected(p, &s, "the number of a session");
	if (!s.fits || s.number < 0 || (size_t)s.number >= p->session_count)
		return line_wrong(p, &s,
		                  "there is no session %.*s: they are 0 to "
		                  "%zu",
		                  (int)s.length, s.text, p->session_count - 1);
	if (!form_next(&p->f, &t)) return false;
	if (t.kind != FORM_INTEGER)
		return line_expected(p, &t, "the number of a transaction");
	const struct session_entry *from = &p->sessions[s.number];
	if (!t.fits || t.number < 0 || t.number >= from->count)
		return line_wrong(p, &t,
		                  "session %d has no transaction %.*s: it "
		                  "has %u of them, from 0",
		                  (int)s.number, (int)t.length, t.text,
		                  from->count);
	size_t place = from->first + (size_t)t.number;
	size_t self = p->sessions[p->session].first + p->transaction;
	e->source = place == self ? TRACE_FROM_SELF : TRACE_FROM_OTHER;
	e->writer = p->transactions[place].handle;
	if (!form_next(&p->f, &x)) return false;
	return x.kind == FORM_CLOSE || line_expected(p, &x, "']'");
}

/* "init", "self", a transaction; null is as if it were not there. */
static bool read_from(struct line_parser *p, const struct form *x,
                      struct event_parts *e)
{
	e->has_source = x->kind != FORM_NULL;
	if (x->kind == FORM_OPEN && x->bracket == '[') return read_writer(p, e);
	if (x->kind == FORM_STRING && form_is(x, "init"))
		e->source = TRACE_FROM_INIT;
	else if (x->kind == FORM_STRING && form_is(x, "self"))
		e->source = TRACE_FROM_SELF;
	else if (x->kind != FORM_NULL)
		return line_expected(p, x,
		                     "\"init\", \"self\" or "
		                     "[session, transaction]");
	return true;
}

static bool read_key(struct line_parser *p, const struct form *x,
                     struct event_parts *e)
{
	if (x->kind != FORM_STRING)
		return line_expected(p, x, "a key in quotes");
	if (e->has_key) return line_wrong(p, x, "an event has one key");
	e->key = find_key(p, x);
	e->has_key = true;
	return true;
}

/* `or` is what else may stand here: "" or "']' or ". */
static bool read_strength(struct line_parser *p, const struct form *x,
                          const char * or, struct event_parts *e)
{
	char what[64];
	text_clear(&p->scratch);
	if (x->kind == FORM_STRING) text_bytes(&p->scratch, x->text, x->length);
	e->strength = strength_from_letter(text_get(&p->scratch));
	snprintf(what, sizeof what,
	         "%sa lock: \"C\", \"K\", \"S\", \"N\", \"R\" or \"X\"", or);
	return e->strength < STRENGTH_COUNT || line_expected(p, x, what);
}

/* ["stmt", n]; the word is read */
static bool begin_statement(struct line_parser *p)
{
	struct form n, x;
	if (!form_next(&p->f, &n)) return false;
	if (n.kind != FORM_INTEGER || !n.fits)
		return line_expected(p, &n, "the number of a statement");
	if (n.number < 0)
		return line_wrong(p, &n, "statements have numbers from 0");
	if (p->grouped && n.number <= p->statement)
		return line_wrong(
			p, &n,
			"statements are out of order: %lld comes after "
			"%lld",
			(long long)n.number, (long long)p->statement);
	p->grouped = true;
	p->joined = p->locked = false;
	p->statement = n.number;
	if (!form_next(&p->f, &x)) return false;
	return x.kind == FORM_CLOSE || line_expected(p, &x, "']'");
}

/* ["u", key]; the word is read */
static bool give_up(struct line_parser *p, struct event_parts *e)
{
	struct form x;
	e->kind = EVENT_READ;
	e->strength = STRENGTH_GIVEN_UP;
	e->has_source = true;
	e->source = TRACE_FROM_SELF;
	if (!form_next(&p->f, &x) || !read_key(p, &x, e)) return false;
	if (!form_next(&p->f, &x)) return false;
	return x.kind == FORM_CLOSE || line_expected(p, &x, "']'");
}

/* ["r", key, value, from]; the bracket is read */
static bool read_array(struct line_parser *p, struct event_parts *e)
{
	struct form x;
	if (!form_next(&p->f, &x)) return false;
	if (x.kind == FORM_STRING && form_is(&x, "stmt"))
		return begin_statement(p);
	if (x.kind == FORM_STRING && form_is(&x, "u")) return give_up(p, e);
	if (x.kind == FORM_STRING && form_is(&x, "r"))
		e->kind = EVENT_READ;
	else if (x.kind == FORM_STRING && form_is(&x, "w"))
		e->kind = EVENT_WRITE;
	else
		return line_expected(p, &x, "\"r\", \"w\", \"u\" or \"stmt\"");
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
	return x.kind == FORM_CLOSE || line_expected(p, &x, "']'");
}

static bool object_member(struct line_parser *p, const struct form *name,
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
static bool read_object(struct line_parser *p, struct event_parts *e)
{
	struct form x;
	for (;;) {
		if (!form_next(&p->f, &x)) return false;
		if (x.kind == FORM_CLOSE) return true;
		if (!object_member(p, &x, e)) return false;
	}
}

static bool check_event(struct line_parser *p, const struct form *start,
                        const struct event_parts *e)
{
	if (!e->has_key)
		return line_wrong(p, start,
		                  "the event has neither \"r\" nor "
		                  "\"w\", with a key");
	if (e->kind == EVENT_WRITE && e->has_source)
		return line_wrong(p, start, "a write has no \"from\"");
	if (e->kind == EVENT_WRITE && e->strength != STRENGTH_PLAIN &&
	    e->strength < STRENGTH_NO_KEY_UPDATE)
		return line_wrong(
			p, start,
			"a write locks its key as \"N\", \"R\" or \"X\", "
			"not as \"%s\"",
			strength_letter(e->strength));
	if (e->kind == EVENT_WRITE && !e->has_value)
		return line_wrong(p, start, "the write has no value");
	if (!e->has_value && !e->has_source)
		return line_wrong(p, start,
		                  "the read has neither its value nor "
		                  "whom it is from");
	return true;
}

static bool read_event(struct line_parser *p, struct form *x,
                       uint32_t transaction)
{
	struct event_parts e = { .value = { .flags = TRACE_MISSING } };
	struct form start = *x;
	bool array = x->kind == FORM_OPEN && x->bracket == '[';
	if (!array && !line_opened(p, x, '{',
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
		return line_wrong(
			p, &start,
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

bool line_read_events(struct line_parser *p, const struct transaction_place *t)
{
	struct form x;
	assert(p->session < p->session_count &&
	       p->transaction < p->sessions[p->session].count);
	if (!t->events.at) return true;
	p->grouped = p->joined = false;
	forms_restart(&p->f, t->events.at, t->events.end, p->line);
	if (!form_next(&p->f, &x)) return false;
	for (p->event = 0;; p->event++) {
		if (!form_next(&p->f, &x)) return false;
		if (x.kind == FORM_CLOSE) break;
		if (!read_event(p, &x, t->handle)) return false;
	}
	p->event = LINE_NONE;
	return true;
}

bool line_read_init(struct line_parser *p)
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

static bool first_time(struct line_parser *p, uint32_t key)
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
static bool read_key_versions(struct line_parser *p, const struct form *name)
{
	struct form x;
	uint32_t key = find_key(p, name);
	if (!first_time(p, key))
		return line_wrong(p, name, "the key is given twice");
	if (!line_next_opened(p, &x, '[', "an array of values")) return false;
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

bool line_read_versions(struct line_parser *p)
{
	struct form x;
	if (!p->versions.at) return true;
	p->session = p->transaction = LINE_NONE;
	forms_restart(&p->f, p->versions.at, p->versions.end, p->line);
	if (!form_next(&p->f, &x)) return false;
	for (;;) {
		if (!form_next(&p->f, &x)) return false;
		if (x.kind == FORM_CLOSE) return true;
		if (!read_key_versions(p, &x)) return false;
	}
}
