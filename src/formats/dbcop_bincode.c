/* The binary histories of dbcop (2019), which PolySI, VeriStrong and others
 * read: integers of 64 bits, the lowest byte first, no magic number.
 *
 *     id sessions keys transactions events     an integer each
 *     info start end                           a length and bytes each
 *     a count, and so many sessions:
 *         a count, and so many transactions:
 *             a count, and so many events of 18 bytes:
 *                 write key value success      1, 8, 8 and 1 bytes
 *             success                          1 byte
 */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "formats/parsers.h"
#include "formats/renumber.h"
#include "formats/scan.h"

enum { EVENT_BYTES = 18, NONE = UINT32_MAX };

struct bincode {
	struct input *in;
	struct diags *d;
	struct trace_builder *b;
	const char *at, *end;
};

static uint64_t get_integer(const char *at)
{
	uint64_t x = 0;
	for (int i = 7; i >= 0; i--) x = x << 8 | (unsigned char)at[i];
	return x;
}

static size_t left(const struct bincode *p)
{
	assert(p->at <= p->end);
	return (size_t)(p->end - p->at);
}

static bool ends(const struct bincode *p, const char *what)
{
	input_error_byte(p->in, p->d, p->end,
	                 "the file ends inside %s: it was cut short, or it is "
	                 "in another format",
	                 what);
	return false;
}

static bool take_integer(struct bincode *p, uint64_t *x, const char *what)
{
	if (left(p) < 8) return ends(p, what);
	*x = get_integer(p->at);
	p->at += 8;
	return true;
}

/* How many items follow, of at least `size` bytes each: more than the file has
 * room for are an error, before anything is made of that number. */
static bool take_count(struct bincode *p, uint64_t *count, size_t size,
                       const char *what)
{
	const char *start = p->at;
	assert(size > 0);
	if (!take_integer(p, count, what)) return false;
	if (*count <= left(p) / size) return true;
	input_error_byte(p->in, p->d, start,
	                 "%" PRIu64 " %s are said to follow, but only %zu "
	                 "bytes do: the file was cut short, or it is in "
	                 "another format",
	                 *count, what, left(p));
	return false;
}

static bool take_bool(struct bincode *p, bool *x, const char *what)
{
	if (!left(p)) return ends(p, what);
	if (*p->at != 0 && *p->at != 1) {
		input_error_byte(p->in, p->d, p->at,
		                 "the flag of %s is %u, neither 0 nor 1", what,
		                 (unsigned)(unsigned char)*p->at);
		return false;
	}
	*x = *p->at++ == 1;
	return true;
}

/* ---- parsing ---- */

static bool skip_header(struct bincode *p)
{
	uint64_t x;
	for (int i = 0; i < 5; i++)
		if (!take_integer(p, &x, "the header")) return false;
	for (int i = 0; i < 3; i++) {
		if (!take_count(p, &x, 1, "bytes of a text")) return false;
		assert(x <= left(p));
		p->at += x;
	}
	return true;
}

struct record {
	bool write, success;
	struct integer key, value;
};

static bool take_event(struct bincode *p, struct record *e)
{
	if (!take_bool(p, &e->write, "an event")) return false;
	e->key = (struct integer){ .size = get_integer(p->at) };
	e->value = (struct integer){ .size = get_integer(p->at + 8) };
	assert(left(p) >= 16);
	p->at += 16;
	return take_bool(p, &e->success, "an event");
}

/* Events that failed did not happen. A write that failed is one of an aborted
 * transaction behind this one, so that who reads it is told. */
static bool take_events(struct bincode *p, uint32_t session, uint64_t count,
                        enum trace_status status)
{
	uint32_t t = trace_transaction_new(p->b, session, status, 0);
	uint32_t failed = status == TRACE_ABORTED ? t : NONE;
	for (; count; count--) {
		struct record e;
		if (!take_event(p, &e)) return false;
		if (!e.success && !e.write) continue;
		if (!e.success && failed == NONE)
			failed = trace_transaction_new(p->b, session,
			                               TRACE_ABORTED, 0);
		trace_op_add(p->b, e.success ? t : failed,
		             e.write ? EVENT_WRITE : EVENT_READ,
		             scan_key(p->b, e.key), scan_value(p->b, e.value),
		             0);
	}
	return true;
}

static bool take_transaction(struct bincode *p, uint32_t session)
{
	uint64_t count;
	bool success;
	if (!take_count(p, &count, EVENT_BYTES, "events")) return false;
	const char *start = p->at;
	p->at += count * EVENT_BYTES;
	if (!take_bool(p, &success, "a transaction")) return false;
	p->at = start;
	if (!take_events(p, session, count,
	                 success ? TRACE_COMMITTED : TRACE_ABORTED))
		return false;
	assert(left(p) > 0);
	p->at++;
	input_passed(p->in, p->at);
	return true;
}

static bool take_history(struct bincode *p)
{
	uint64_t sessions, count;
	if (!skip_header(p) || !take_count(p, &sessions, 8, "sessions"))
		return false;
	for (uint64_t s = 0; s < sessions; s++) {
		uint32_t session = trace_session_number(p->b, (int64_t)s);
		if (!take_count(p, &count, 9, "transactions")) return false;
		for (; count; count--)
			if (!take_transaction(p, session)) return false;
	}
	if (!left(p)) return true;
	input_error_byte(p->in, p->d, p->at,
	                 "%zu bytes follow the history: it is in "
	                 "another format, or two files were joined",
	                 left(p));
	return false;
}

struct trace *dbcop_bincode_parse(struct input *in,
                                  const struct reader_options *o,
                                  struct diags *d)
{
	struct trace_rules rules = scan_rules(o);
	struct bincode p = {
		.in = in,
		.d = d,
		.at = in->bytes,
		.end = in->bytes + in->length,
		.b = trace_builder_new(in->file, &rules),
	};
	if (take_history(&p)) return trace_builder_finish(p.b, d);
	trace_builder_free(p.b);
	return NULL;
}

/* ---- detection ---- */

static bool is_text(const char *at, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if ((unsigned char)at[i] < ' ' || at[i] == 127) return false;
	return true;
}

/* There is no magic number: the header has to be plausible, counts below 2^32
 * and texts that are texts, as far as the file goes. */
bool dbcop_bincode_detect(const struct input *in)
{
	const char *at = in->bytes, *end = in->bytes + in->length;
	if (in->length < 40) return false;
	for (int i = 1; i < 5; i++)
		if (get_integer(at + 8 * i) > UINT32_MAX) return false;
	at += 40;
	for (int i = 0; i < 3 && end - at >= 8; i++) {
		uint64_t length = get_integer(at), rest;
		at += 8;
		rest = (uint64_t)(end - at);
		if (length > UINT32_MAX) return false;
		if (length > rest) length = rest;
		if (!is_text(at, length)) return false;
		at += length;
	}
	return true;
}

/* ---- printing ---- */

static void put_integer(struct text *t, uint64_t x)
{
	char bytes[8];
	for (int i = 0; i < 8; i++) bytes[i] = (char)(x >> 8 * i & 0xff);
	text_bytes(t, bytes, 8);
}

static void put_text(struct text *t, const char *s)
{
	put_integer(t, strlen(s));
	text_string(t, s);
}

/* When it was recorded is not known, but readers want a time. */
static void put_header(struct text *t, const struct trace *r, uint32_t sessions)
{
	uint32_t transactions = 0, events = 0;
	for (uint32_t s = 0; s < r->session_count; s++)
		if (transactions < r->sessions[s].count)
			transactions = r->sessions[s].count;
	for (uint32_t i = 1; i < r->transaction_count; i++)
		if (events < r->transactions[i].op_count)
			events = r->transactions[i].op_count;
	put_integer(t, 0);
	put_integer(t, sessions);
	put_integer(t, r->key_count);
	put_integer(t, transactions);
	put_integer(t, events);
	put_text(t, "isoscope");
	put_text(t, "1970-01-01T00:00:00+00:00");
	put_text(t, "1970-01-01T00:00:00+00:00");
}

struct printed {
	const struct trace *r;
	int64_t *values, *keys;
	bool *counts;
};

static void put_transaction(struct text *t, const struct printed *p,
                            const struct trace_transaction *w)
{
	char success = w->status == TRACE_COMMITTED;
	uint64_t count = 0;
	for (uint32_t i = w->first_op; i < w->first_op + w->op_count; i++)
		count += p->counts[i];
	put_integer(t, count);
	for (uint32_t i = w->first_op; i < w->first_op + w->op_count; i++) {
		const struct trace_op *op = &p->r->ops[i];
		if (!p->counts[i]) continue;
		text_char(t, op->kind == EVENT_WRITE);
		put_integer(t, (uint64_t)p->keys[op->key]);
		put_integer(t, (uint64_t)p->values[i]);
		text_char(t, success);
	}
	text_char(t, success);
}

static void put_sessions(struct text *t, const struct printed *p)
{
	const struct trace *r = p->r;
	uint32_t sessions = 0;
	for (uint32_t s = 0; s < r->session_count; s++)
		sessions += !r->sessions[s].after_all;
	put_header(t, r, sessions);
	put_integer(t, sessions);
	for (uint32_t s = 0; s < r->session_count; s++) {
		const struct trace_session *session = &r->sessions[s];
		if (session->after_all) continue;
		put_integer(t, session->count);
		for (uint32_t i = 0; i < session->count; i++)
			put_transaction(t, p,
			                &r->transactions[session->first + i]);
	}
}

bool dbcop_bincode_print(struct text *t, const struct trace *r,
                         const uint32_t *order, struct diags *d)
{
	(void)order;
	static const struct renumber rules = { .initial = 0, .least = 0 };
	if (!format_can_write(r, FORMAT_DBCOP_BINCODE, CAN_ABORT | CAN_EMPTY,
	                      d))
		return false;
	struct printed p = { .r = r };
	p.values = renumber_values(r, &rules);
	p.keys = renumber_keys(r, &rules);
	p.counts = ops_that_count(r);
	put_sessions(t, &p);
	free(p.values);
	free(p.keys);
	free(p.counts);
	return true;
}
