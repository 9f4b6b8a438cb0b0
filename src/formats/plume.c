/* r(key,value,session,transaction), an operation each line: the text of Plume,
 * PolySI and AWDIT. */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/table.h"
#include "formats/parsers.h"
#include "formats/renumber.h"
#include "formats/scan.h"

struct transaction_entry {
	uint64_t id;
	uint32_t handle, session, line;
};

struct session_entry {
	uint32_t aborted; /* its open aborted transaction, or NONE */
	uint64_t id;      /* of that */
};

struct plume {
	struct scan s;
	struct trace_builder *b;
	/* Lines that follow each other mostly agree in these. */
	struct integer session_id;
	uint32_t session; /* handle, or NONE before the first line */
	uint32_t last;    /* index of entries, or NONE */
	struct transaction_entry *entries;
	uint32_t count, capacity;
	struct table by_id;
	struct session_entry *sessions; /* by handle */
	uint32_t session_count;
};

enum { NONE = UINT32_MAX };

static bool take(struct plume *p, char c)
{
	assert(p->s.at <= p->s.end);
	scan_blanks(&p->s);
	if (*p->s.at != c)
		return scan_wrong(&p->s,
		                  "expected '%c': a line is "
		                  "r(key,value,session,transaction) or "
		                  "w(...), of integers",
		                  c);
	p->s.at++;
	return true;
}

/* ---- sessions and transactions ---- */

static uint32_t find_session(struct plume *p, struct integer n)
{
	if (p->session != NONE && integer_same(n, p->session_id))
		return p->session;
	p->session_id = n;
	if (integer_is_wide(n)) {
		struct digits wide = integer_digits(n);
		p->session = trace_session_named(p->b, wide.text, wide.length);
	} else {
		p->session = trace_session_number(p->b, integer_signed(n));
	}
	if (p->session >= p->session_count) {
		uint32_t more = 2 * p->session + 8;
		p->sessions = mem_grow(p->sessions, more, sizeof *p->sessions);
		while (p->session_count < more)
			p->sessions[p->session_count++].aborted = NONE;
	}
	return p->session;
}

static uint32_t new_transaction(struct plume *p, struct integer n,
                                enum trace_status status)
{
	uint32_t t = trace_transaction_new(p->b, p->session, status, p->s.line);
	assert(p->session != NONE);
	if (integer_is_wide(n)) {
		struct digits wide = integer_digits(n);
		trace_transaction_name(p->b, t, wide.text, wide.length);
	} else if (status == TRACE_COMMITTED) {
		trace_transaction_number(p->b, t, integer_signed(n));
	}
	return t;
}

static bool two_sessions(struct plume *p, const struct transaction_entry *e,
                         const char *at)
{
	assert(e->session != p->session);
	input_error(p->s.in, p->s.d, at,
	            "transaction %" PRIu64 " is in two sessions: line %" PRIu32
	            " has it in another one; numbers of transactions belong "
	            "to the whole file, not to a session",
	            e->id, e->line);
	return false;
}

/* A transaction has one number, and all lines with it are its operations. */
static bool find_committed(struct plume *p, struct integer n, const char *at,
                           uint32_t *t)
{
	p->sessions[p->session].aborted = NONE;
	if (p->last == NONE || p->entries[p->last].id != n.size) {
		struct table_probe probe = table_probe(hash_mix(0, n.size));
		uint32_t i;
		while ((i = table_next(&p->by_id, &probe)) != TABLE_NONE)
			if (p->entries[i].id == n.size) break;
		if (i == TABLE_NONE) {
			i = p->count;
			table_put(&p->by_id, probe, i);
			VEC_RESERVE(p->entries, p->count, p->capacity);
			p->entries[p->count++] = (struct transaction_entry){
				n.size, new_transaction(p, n, TRACE_COMMITTED),
				p->session, p->s.line
			};
		}
		p->last = i;
	}
	assert(p->last < p->count);
	const struct transaction_entry *e = &p->entries[p->last];
	*t = e->handle;
	return e->session == p->session || two_sessions(p, e, at);
}

/* Aborted transactions have no number of their own: those lines of a session
 * that no other transaction interrupts are one. */
static uint32_t find_aborted(struct plume *p, struct integer n)
{
	struct session_entry *s = &p->sessions[p->session];
	assert(p->session < p->session_count);
	if (s->aborted == NONE || s->id != n.size) {
		s->aborted = new_transaction(p, n, TRACE_ABORTED);
		s->id = n.size;
	}
	return s->aborted;
}

/* ---- lines ---- */

/* operation = ("r" | "w") "(" number "," number "," number "," number ")" */
static bool parse_operation(struct plume *p)
{
	struct integer n[4];
	const char *places[4];
	enum event_kind kind = *p->s.at == 'r' ? EVENT_READ : EVENT_WRITE;
	assert(*p->s.at == 'r' || *p->s.at == 'w');
	p->s.at++;
	if (!take(p, '(')) return false;
	for (int i = 0; i < 4; i++) {
		if (i && !take(p, ',')) return false;
		scan_blanks(&p->s);
		places[i] = p->s.at;
		if (!scan_integer(&p->s, &n[i])) return false;
	}
	if (!take(p, ')')) return false;
	find_session(p, n[2]);
	uint32_t t;
	if (n[3].negative)
		t = find_aborted(p, n[3]);
	else if (!find_committed(p, n[3], places[3], &t))
		return false;
	trace_op_add(p->b, t, kind, scan_key(p->b, n[0]),
	             scan_value(p->b, n[1]), p->s.line);
	return true;
}

/* line = [operation] [comment] */
static bool parse_line(struct plume *p)
{
	scan_blanks(&p->s);
	if ((*p->s.at == 'r' || *p->s.at == 'w') && !parse_operation(p))
		return false;
	return scan_line_end(&p->s, "r(key,value,session,transaction) or "
	                            "w(...), one each line");
}

static void plume_free(struct plume *p)
{
	free(p->entries);
	table_free(&p->by_id);
	free(p->sessions);
}

struct trace *plume_parse(struct input *in, const struct reader_options *o,
                          struct diags *d)
{
	struct trace_rules rules = scan_rules(o);
	struct plume p = {
		.s = scan_begin(in, d),
		.b = trace_builder_new(in->file, &rules),
		.session = NONE,
		.last = NONE,
	};
	bool good = true;
	table_init(&p.by_id, 0);
	while (good && p.s.at < p.s.end) {
		good = parse_line(&p);
		input_passed(in, p.s.at);
	}
	plume_free(&p);
	if (good) return trace_builder_finish(p.b, d);
	trace_builder_free(p.b);
	return NULL;
}

/* ---- printing ---- */

struct printed {
	const struct trace *r;
	int64_t *values, *keys, *sessions, *numbers;
	bool *counts;
};

static void print_transaction(struct text *t, const struct printed *p,
                              uint32_t n)
{
	const struct trace_transaction *w = &p->r->transactions[n];
	char after[64];
	assert(n > 0 && n < p->r->transaction_count);
	snprintf(after, sizeof after, ",%" PRId64 ",%" PRId64 ")\n",
	         p->sessions[w->session], p->numbers[n]);
	for (uint32_t i = w->first_op; i < w->first_op + w->op_count; i++) {
		const struct trace_op *op = &p->r->ops[i];
		if (!p->counts[i]) continue;
		text_string(t, op->kind == EVENT_READ ? "r(" : "w(");
		text_int(t, p->keys[op->key]);
		text_char(t, ',');
		text_int(t, p->values[i]);
		text_string(t, after);
	}
}

bool plume_print(struct text *t, const struct trace *r, const uint32_t *order,
                 struct diags *d)
{
	(void)order;
	static const struct renumber rules = { .initial = 0, .least = 0 };
	if (!format_can_write(r, FORMAT_PLUME, CAN_ABORT, d)) return false;
	struct printed p = {
		.r = r,
		.values = renumber_values(r, &rules),
		.keys = renumber_keys(r, &rules),
		.sessions = renumber_sessions(r, &rules),
		.numbers = renumber_transactions(r, &rules),
		.counts = ops_that_count(r),
	};
	for (uint32_t i = 1; i < r->transaction_count; i++)
		print_transaction(t, &p, i);
	free(p.values);
	free(p.keys);
	free(p.sessions);
	free(p.numbers);
	free(p.counts);
	return true;
}
