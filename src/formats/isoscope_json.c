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
 * lock, or with "K" or "C", comes first: the database reads that from one
 * moment.
 *
 * "versions" may name keys with an array of values each: the order in which
 * these were written (values that are not in it were written later), which is
 * known where lists were read. No value may be written twice to such a key.
 *
 * The line is read twice: for its sessions and transactions, then for their
 * events, which may read from transactions further on.
 */
#include "formats/line_parser.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"

/* ---- small parts ---- */

/* The value of a member must be a string; keeps it. */
static bool read_name(struct line_parser *p, struct name *n, const char *what)
{
	struct form x;
	if (!form_next(&p->f, &x)) return false;
	if (x.kind != FORM_STRING) return line_expected(p, &x, what);
	n->at = p->names.length;
	n->length = x.length;
	n->given = true;
	text_bytes(&p->names, x.text, x.length);
	return true;
}

/* The value of a member must be this collection, which is read later. */
static bool read_extent(struct line_parser *p, struct extent *e, char bracket,
                        const char *what)
{
	struct form x;
	if (!line_next_opened(p, &x, bracket, what)) return false;
	if (e->at) return line_wrong(p, &x, "this is given twice");
	if (!form_pass(&p->f, &x)) return false;
	e->at = x.at;
	e->end = x.end;
	return true;
}

static bool skip_value(struct line_parser *p)
{
	struct form x;
	return form_next(&p->f, &x) && form_skip(&p->f, &x);
}

/* ---- sessions and transactions ---- */

static bool read_status(struct line_parser *p, struct transaction_place *t)
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
		return line_expected(
			p, &x, "\"committed\", \"aborted\" or \"unknown\"");
	return true;
}

/* The level of its own. */
static bool read_level(struct line_parser *p, struct transaction_place *t)
{
	struct form x;
	struct text why = { 0 };
	if (!form_next(&p->f, &x)) return false;
	if (x.kind != FORM_STRING)
		return line_expected(p, &x, "a level in quotes");
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
	line_wrong(p, &x, "%s", text_get(&why));
	text_free(&why);
	return false;
}

static bool transaction_member(struct line_parser *p,
                               struct transaction_place *t,
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

static bool read_transaction(struct line_parser *p, const struct form *open)
{
	struct transaction_place t = { .status = TRACE_COMMITTED };
	struct form x = *open;
	if (!line_opened(p, &x, '{', "a transaction: an object")) return false;
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

static bool read_transactions(struct line_parser *p, struct session_entry *s)
{
	struct form x;
	if (!line_next_opened(p, &x, '[', "an array of transactions"))
		return false;
	if (s->count) return line_wrong(p, &x, "this is given twice");
	for (p->transaction = 0;; p->transaction++, s->count++) {
		if (!form_next(&p->f, &x)) return false;
		if (x.kind == FORM_CLOSE) break;
		if (!read_transaction(p, &x)) return false;
	}
	p->transaction = LINE_NONE;
	return true;
}

static bool session_member(struct line_parser *p, struct session_entry *s,
                           const struct form *name)
{
	struct form x;
	if (form_is(name, "name"))
		return read_name(p, &s->name, "a name in quotes");
	if (form_is(name, "transactions")) return read_transactions(p, s);
	if (!form_is(name, "after")) return skip_value(p);
	if (!form_next(&p->f, &x)) return false;
	if (x.kind != FORM_STRING || !form_is(&x, "all"))
		return line_expected(p, &x, "\"all\"");
	s->after_all = true;
	return true;
}

static bool read_session(struct line_parser *p, const struct form *open)
{
	struct session_entry s = { .first = (uint32_t)p->transaction_count };
	struct form x = *open;
	if (!line_opened(p, &x, '{', "a session: an object")) return false;
	for (;;) {
		if (!form_next(&p->f, &x)) return false;
		if (x.kind == FORM_CLOSE) break;
		if (!session_member(p, &s, &x)) return false;
	}
	VEC_RESERVE(p->sessions, p->session_count, p->session_capacity);
	p->sessions[p->session_count++] = s;
	return true;
}

static bool read_sessions(struct line_parser *p)
{
	struct form x;
	if (!line_next_opened(p, &x, '[', "an array of sessions")) return false;
	if (p->has_sessions)
		return line_wrong(p, &x, "sessions are given twice");
	p->has_sessions = true;
	for (p->session = 0;; p->session++) {
		if (!form_next(&p->f, &x)) return false;
		if (x.kind == FORM_CLOSE) break;
		if (!read_session(p, &x)) return false;
	}
	p->session = LINE_NONE;
	return true;
}

static bool read_version(struct line_parser *p)
{
	struct form x;
	if (!form_next(&p->f, &x)) return false;
	if (x.kind == FORM_INTEGER && x.fits && x.number == 1) return true;
	return line_expected(p, &x, "1, the version of the format");
}

/* Are values what was observed? */
static bool read_values(struct line_parser *p)
{
	struct form x;
	if (!form_next(&p->f, &x)) return false;
	if (x.kind != FORM_BOOL) return line_expected(p, &x, "true or false");
	p->valueless = !x.number;
	return true;
}

static bool history_member(struct line_parser *p, const struct form *name)
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
static bool read_history(struct line_parser *p)
{
	struct form start, x;
	if (!line_next_opened(p, &start, '{', "a history: an object"))
		return false;
	for (;;) {
		if (!form_next(&p->f, &x)) return false;
		if (x.kind == FORM_CLOSE) break;
		if (!history_member(p, &x)) return false;
	}
	if (!p->has_sessions)
		return line_wrong(p, &start, "the history has no \"sessions\"");
	if (!form_next(&p->f, &x)) return false;
	return x.kind == FORM_END ||
	       line_expected(p, &x, "the end of the line");
}

/* ---- all of it ---- */

static void add_transaction(struct line_parser *p, uint32_t session,
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

static void add_sessions(struct line_parser *p)
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
static bool read_operations(struct line_parser *p)
{
	add_sessions(p);
	if (!line_read_init(p)) return false;
	for (p->session = 0; p->session < p->session_count; p->session++) {
		const struct session_entry *s = &p->sessions[p->session];
		for (uint32_t t = 0; t < s->count; t++) {
			p->transaction = t;
			if (!line_read_events(p,
			                      &p->transactions[s->first + t]))
				return false;
		}
	}
	return line_read_versions(p);
}

static const char *kept(struct trace *t, const struct line_parser *p,
                        struct name n)
{
	return n.given ? region_copy_string(&t->region,
	                                    text_get(&p->names) + n.at,
	                                    n.length)
	               : NULL;
}

static void line_parser_free(struct line_parser *p)
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
	struct line_parser p = { .line = line,
		                 .session = LINE_NONE,
		                 .transaction = LINE_NONE,
		                 .event = LINE_NONE };
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
	line_parser_free(&p);
	return t;
}
