/* JSON of dbcop: of version 0.2, and the record of 2019.
 *
 * Either an array of sessions, or an object whose member "data" is that array.
 * A session is an array of transactions, or an object with "transactions". A
 * transaction is an object with "events", and "committed" or (2019) "success";
 * both are true if left out. An event is one of
 *     {"Read": {"variable": v, "version": n}}, {"Write": {...}}
 *     ["r", v, n], ["w", v, n]
 *     {"write": true, "variable": v, "value": n, "success": true}
 * Events that did not succeed are dropped, and so is what a transaction read
 * that did not commit. Variables and versions are integers
 * or strings.
 *
 * A version that is null was written by nobody. Neither was 0, unless some
 * event of the file writes 0 to the variable. That is not known from the
 * beginning: the file is read as if nobody did, and once more when it turns out
 * that somebody did. (In the record of 2019 0 always is the initial version.)
 */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/memory.h"
#include "formats/forms.h"
#include "formats/renumber.h"
#include "formats/scan.h"
#include "history/trace_build.h"

struct event_parts {
	bool has_kind, has_variable, has_version, failed, initial;
	bool record; /* of 2019: 0 always is initial */
	enum event_kind kind;
	uint32_t variable;
	struct trace_value version;
};

struct place {
	const char *at, *end; /* NULL: absent */
	uint32_t line;
};

struct parser {
	struct forms outer; /* of all but events */
	struct forms f;     /* of events */
	struct trace_builder *builder;
	uint32_t session, transaction; /* handles */
	bool committed;                /* the transaction */
	bool *zeros;                   /* by variable: does somebody write 0? */
	uint32_t zero_count, zero_capacity;
	bool found_zero; /* one that `zeros` does not know */
	bool has_data;
	struct text scratch;
};

static bool opens(const struct form *x, char bracket)
{
	return x->kind == FORM_OPEN && x->bracket == bracket;
}

static bool expect_open(struct forms *f, const struct form *x, char bracket,
                        const char *what)
{
	return opens(x, bracket) || form_expected(f, x, what);
}

/* ---- events ---- */

static bool read_variable(struct parser *p, const struct form *x,
                          struct event_parts *e)
{
	e->has_variable = true;
	if (x->kind == FORM_INTEGER && x->fits)
		e->variable = trace_key_number(p->builder, x->number);
	else if (x->kind == FORM_INTEGER || x->kind == FORM_STRING)
		e->variable = trace_key_named(p->builder, x->text, x->length);
	else
		return form_expected(&p->f, x,
		                     "a variable: an integer or a string");
	return true;
}

static bool read_version(struct parser *p, const struct form *x,
                         struct event_parts *e)
{
	e->has_version = true;
	e->initial = x->kind == FORM_NULL;
	e->version = trace_value_null();
	if (x->kind == FORM_INTEGER && x->fits) {
		e->version = trace_value_number(x->number);
	} else if (x->kind == FORM_INTEGER || x->kind == FORM_STRING) {
		text_clear(&p->scratch);
		text_json_string(&p->scratch, x->text, x->length);
		e->version = trace_value_text(p->builder, p->scratch.data,
		                              p->scratch.length);
	} else if (x->kind != FORM_NULL) {
		return form_expected(&p->f, x, "a version: an integer or null");
	}
	return true;
}

static bool read_flag(struct parser *p, const struct form *x, bool *flag)
{
	if (x->kind != FORM_BOOL)
		return form_expected(&p->f, x, "true or false");
	*flag = x->number;
	return true;
}

/* ["r", variable, version]; the bracket is read */
static bool read_compact(struct parser *p, struct event_parts *e)
{
	struct form x;
	if (!form_next(&p->f, &x)) return false;
	e->has_kind = true;
	if (x.kind == FORM_STRING && form_is(&x, "r"))
		e->kind = EVENT_READ;
	else if (x.kind == FORM_STRING && form_is(&x, "w"))
		e->kind = EVENT_WRITE;
	else
		return form_expected(&p->f, &x, "\"r\" or \"w\"");
	if (!form_next(&p->f, &x) || !read_variable(p, &x, e)) return false;
	if (!form_next(&p->f, &x) || !read_version(p, &x, e)) return false;
	if (!form_next(&p->f, &x)) return false;
	return x.kind == FORM_CLOSE || form_expected(&p->f, &x, "']'");
}

/* The members of an event that stand beside each other, or inside "Read". */
static bool read_member(struct parser *p, const struct form *name,
                        struct event_parts *e)
{
	bool variable = form_is(name, "variable"), flag = false;
	bool version = form_is(name, "version") || form_is(name, "value");
	bool write = form_is(name, "write"), success = form_is(name, "success");
	struct form x;
	if (!form_next(&p->f, &x)) return false;
	if (variable) return read_variable(p, &x, e);
	if (version) return read_version(p, &x, e);
	if (!write && !success) return form_skip(&p->f, &x);
	if (!read_flag(p, &x, &flag)) return false;
	if (success) {
		e->failed = !flag;
	} else {
		e->has_kind = e->record = true;
		e->kind = flag ? EVENT_WRITE : EVENT_READ;
	}
	return true;
}

static bool read_members(struct parser *p, struct event_parts *e)
{
	struct form x;
	for (;;) {
		if (!form_next(&p->f, &x)) return false;
		if (x.kind == FORM_CLOSE) return true;
		if (!read_member(p, &x, e)) return false;
	}
}

/* An event that is an object; its bracket is read. */
static bool read_object(struct parser *p, struct event_parts *e)
{
	struct form x;
	for (;;) {
		if (!form_next(&p->f, &x)) return false;
		if (x.kind == FORM_CLOSE) return true;
		bool read = form_is(&x, "Read"), write = form_is(&x, "Write");
		if (!read && !write) {
			if (!read_member(p, &x, e)) return false;
			continue;
		}
		e->has_kind = true;
		e->kind = read ? EVENT_READ : EVENT_WRITE;
		if (!form_next(&p->f, &x) ||
		    !expect_open(&p->f, &x, '{',
		                 "an object with \"variable\" "
		                 "and \"version\"") ||
		    !read_members(p, e))
			return false;
	}
}

static bool known_zero(const struct parser *p, uint32_t variable)
{
	return variable < p->zero_count && p->zeros[variable];
}

static void note_zero(struct parser *p, uint32_t variable)
{
	while (p->zero_count <= variable) {
		VEC_RESERVE(p->zeros, p->zero_count, p->zero_capacity);
		p->zeros[p->zero_count++] = false;
	}
	p->zeros[variable] = true;
	p->found_zero = true;
}

static void add_event(struct parser *p, struct event_parts *e, uint32_t line)
{
	bool zero = !e->version.number && !e->version.flags;
	bool known = known_zero(p, e->variable);
	if (e->kind == EVENT_WRITE && zero && !known && !e->record)
		note_zero(p, e->variable);
	if (e->initial && !known) e->version = trace_value_number(0);
	trace_op_add(p->builder, p->transaction, e->kind, e->variable,
	             e->version, line);
}

static bool read_event(struct parser *p, const struct form *start)
{
	struct event_parts e = { .has_kind = false };
	if (opens(start, '[') ? !read_compact(p, &e)
	                      : !expect_open(&p->f, start, '{', "an event") ||
	                                !read_object(p, &e))
		return false;
	if (!e.has_kind)
		return form_error(&p->f, start,
		                  "the event is neither a read "
		                  "nor a write");
	if (!e.has_variable)
		return form_error(&p->f, start, "the event has no variable");
	if (e.kind == EVENT_WRITE && (!e.has_version || e.initial))
		return form_error(&p->f, start, "the write has no version");
	e.initial |= !e.has_version;
	if (e.failed || (e.kind == EVENT_READ && !p->committed)) return true;
	add_event(p, &e, start->line);
	return true;
}

/* What stands in the brackets. They are read when it is known whether the
 * transaction committed. */
static bool read_events(struct parser *p, struct place events)
{
	struct form x;
	if (!events.at) return true;
	forms_restart(&p->f, events.at, events.end, events.line);
	if (!form_next(&p->f, &x)) return false;
	for (;;) {
		if (!form_next(&p->f, &x)) return false;
		if (x.kind == FORM_CLOSE) return true;
		if (!read_event(p, &x)) return false;
	}
}

/* ---- transactions and sessions ---- */

static bool read_transaction(struct parser *p, const struct form *start)
{
	bool committed = true;
	struct place events = { 0 };
	struct form x;
	if (!expect_open(&p->outer, start, '{',
	                 "a transaction: an object with "
	                 "\"events\""))
		return false;
	for (;;) {
		if (!form_next(&p->outer, &x)) return false;
		if (x.kind == FORM_CLOSE) break;
		bool list = form_is(&x, "events");
		bool flag = form_is(&x, "committed") || form_is(&x, "success");
		if (!form_next(&p->outer, &x)) return false;
		if (flag   ? !read_flag(p, &x, &committed)
		    : list ? !expect_open(&p->outer, &x, '[',
		                          "an array of events") ||
		                     !form_pass(&p->outer, &x)
		           : !form_skip(&p->outer, &x))
			return false;
		if (list) events = (struct place){ x.at, x.end, x.line };
	}
	p->committed = committed;
	p->transaction = trace_transaction_new(
		p->builder, p->session,
		committed ? TRACE_COMMITTED : TRACE_ABORTED, start->line);
	return read_events(p, events);
}

/* The elements of an array whose bracket is read. */
static bool read_transactions(struct parser *p)
{
	struct form x;
	for (;;) {
		if (!form_next(&p->outer, &x)) return false;
		if (x.kind == FORM_CLOSE) return true;
		if (!read_transaction(p, &x)) return false;
	}
}

static bool read_session(struct parser *p, const struct form *start)
{
	struct form x;
	if (opens(start, '[')) return read_transactions(p);
	if (!expect_open(&p->outer, start, '{',
	                 "a session: an array of transactions"))
		return false;
	for (;;) {
		if (!form_next(&p->outer, &x)) return false;
		if (x.kind == FORM_CLOSE) return true;
		bool transactions = form_is(&x, "transactions");
		if (!form_next(&p->outer, &x)) return false;
		if (!transactions) {
			if (!form_skip(&p->outer, &x)) return false;
		} else if (!expect_open(&p->outer, &x, '[',
		                        "an array of "
		                        "transactions") ||
		           !read_transactions(p)) {
			return false;
		}
	}
}

static bool read_sessions(struct parser *p, const struct form *start)
{
	struct form x;
	if (!expect_open(&p->outer, start, '[', "an array of sessions"))
		return false;
	p->has_data = true;
	for (int64_t i = 0;; i++) {
		if (!form_next(&p->outer, &x)) return false;
		if (x.kind == FORM_CLOSE) return true;
		p->session = trace_session_number(p->builder, i);
		if (!read_session(p, &x)) return false;
	}
}

static bool read_record(struct parser *p, const struct form *start)
{
	struct form x;
	for (;;) {
		if (!form_next(&p->outer, &x)) return false;
		if (x.kind == FORM_CLOSE) break;
		bool data = form_is(&x, "data");
		if (data && p->has_data)
			return form_error(&p->outer, &x,
			                  "\"data\" is given twice");
		if (!form_next(&p->outer, &x)) return false;
		if (!(data ? read_sessions(p, &x) : form_skip(&p->outer, &x)))
			return false;
	}
	return p->has_data ||
	       form_error(&p->outer, start, "the history has no \"data\"");
}

/* history = sessions | object with "data" */
static bool read_history(struct parser *p)
{
	struct form start, x;
	if (!form_next(&p->outer, &start)) return false;
	bool record = opens(&start, '{');
	if (!(record ? read_record(p, &start) : read_sessions(p, &start)))
		return false;
	if (!form_next(&p->outer, &x)) return false;
	return x.kind == FORM_END ||
	       form_expected(&p->outer, &x, "the end of the file");
}

/* One pass over the file; `again`: another one is needed, which is the last. */
static struct trace *read_file(struct parser *p, struct input *in,
                               const struct reader_options *o, struct diags *d,
                               bool *again)
{
	struct trace_rules rules = scan_rules(o);
	const char *end = in->bytes + in->length;
	forms_restart(&p->outer, in->bytes, end, 1);
	p->builder = trace_builder_new(in->file, &rules);
	p->found_zero = p->has_data = false;
	bool good = read_history(p);
	*again = good && p->found_zero;
	if (!good || *again) {
		trace_builder_free(p->builder);
		return NULL;
	}
	for (uint32_t v = 0; v < p->zero_count; v++)
		if (p->zeros[v])
			trace_key_initial(p->builder, v, trace_value_null());
	return trace_builder_finish(p->builder, d);
}

struct trace *dbcop_json_parse(struct input *in, const struct reader_options *o,
                               struct diags *d)
{
	struct parser p = { .found_zero = false };
	const char *end = in->bytes + in->length;
	forms_init(&p.outer, in, in->bytes, end, 1, FORM_JSON, d);
	forms_init(&p.f, in, end, end, 1, FORM_JSON, d);
	bool again;
	struct trace *t = read_file(&p, in, o, d, &again);
	if (again) t = read_file(&p, in, o, d, &again);
	forms_free(&p.outer);
	forms_free(&p.f);
	free(p.zeros);
	text_free(&p.scratch);
	return t;
}

/* ---- printing ---- */

/* Of transactions that did not commit, or of which that is not known, only the
 * writes count. */
static void print_events(struct json *j, const struct trace *r,
                         const struct trace_transaction *w, const int64_t *keys,
                         const int64_t *values, const bool *counts)
{
	assert(w->first_op + w->op_count <= r->op_count);
	json_open(j, "events", '[');
	for (uint32_t i = w->first_op; i < w->first_op + w->op_count; i++) {
		const struct trace_op *op = &r->ops[i];
		if (!counts[i]) continue;
		json_open(j, NULL, '{');
		json_open(j, op->kind == EVENT_READ ? "Read" : "Write", '{');
		json_int(j, "variable", keys[op->key]);
		if (values[i])
			json_int(j, "version", values[i]);
		else
			json_text(j, "version", NULL);
		json_close(j);
		json_close(j);
	}
	json_close(j);
}

static void print_sessions(struct json *j, const struct trace *r,
                           const int64_t *keys, const int64_t *values,
                           const bool *counts)
{
	bool first = true;
	for (uint32_t s = 0; s < r->session_count; s++) {
		const struct trace_session *session = &r->sessions[s];
		if (session->after_all) continue;
		if (!first) json_line(j);
		first = false;
		json_open(j, NULL, '[');
		for (uint32_t i = 0; i < session->count; i++) {
			const struct trace_transaction *w =
				&r->transactions[session->first + i];
			json_line(j);
			json_open(j, NULL, '{');
			print_events(j, r, w, keys, values, counts);
			json_bool(j, "committed", w->status == TRACE_COMMITTED);
			json_close(j);
		}
		json_close(j);
	}
}

bool dbcop_json_print(struct text *t, const struct trace *r,
                      const uint32_t *order, struct diags *d)
{
	(void)order;
	static const struct renumber rules = { .initial = 0, .least = 0 };
	if (!format_can_write(r, FORMAT_DBCOP_JSON, CAN_ABORT | CAN_EMPTY, d))
		return false;
	int64_t *values = renumber_values(r, &rules);
	int64_t *keys = renumber_keys(r, &rules);
	bool *counts = ops_that_count(r);
	struct json j = json_to(t);
	json_open(&j, NULL, '[');
	print_sessions(&j, r, keys, values, counts);
	json_close(&j);
	text_char(t, '\n');
	free(counts);
	free(values);
	free(keys);
	return true;
}
