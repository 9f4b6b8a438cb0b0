/* The text of dbcop 0.2: [x:=1 y==2 z==?] a transaction, ! behind it if it did
 * not commit, a line of dashes between sessions, // comments. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "formats/parsers.h"
#include "formats/renumber.h"
#include "formats/scan.h"

#define EXPECTED "a transaction '[x:=1 y==2 z==?]' or a line of dashes"

struct dbcop {
	struct scan s;
	struct trace_builder *b;
	uint32_t session;
	uint8_t *zero; /* by key: was 0 written to it? */
	uint32_t zero_count;
};

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* The end of the name that begins here; names of digits are let through. */
static const char *name_end(const char *at)
{
	while (is_letter(*at) || is_digit(*at)) at++;
	return at;
}

/* ---- parsing ---- */

/* 0 is the initial value of those keys only that nobody writes 0 to. */
static void note_zero(struct dbcop *p, uint32_t key)
{
	if (key >= p->zero_count) {
		uint32_t count = 2 * key + 8;
		p->zero = mem_grow0(p->zero, p->zero_count, count, 1);
		p->zero_count = count;
	}
	if (p->zero[key]) return;
	p->zero[key] = 1;
	trace_key_initial(p->b, key, trace_value_null());
}

/* operation = name (":=" integer | "==" (integer | "?")) */
static bool parse_operation(struct dbcop *p, uint32_t transaction)
{
	const char *name = p->s.at;
	p->s.at = name_end(name);
	if (p->s.at == name)
		return scan_wrong(&p->s, "expected ']' or an operation: "
		                         "'x:=1' writes, 'x==1' reads");
	uint32_t key = trace_key_named(p->b, name, (size_t)(p->s.at - name));
	scan_blanks(&p->s);
	bool write = p->s.at[0] == ':';
	if ((!write && p->s.at[0] != '=') || p->s.at[1] != '=')
		return scan_wrong(&p->s, "expected ':=' (a write) or '==' (a "
		                         "read) after the name");
	p->s.at += 2;
	scan_blanks(&p->s);
	if (!write && *p->s.at == '?') {
		p->s.at++;
		trace_op_add(p->b, transaction, EVENT_READ, key,
		             (struct trace_value){ .flags = TRACE_MISSING },
		             p->s.line);
		trace_op_source(p->b, TRACE_FROM_INIT, 0);
		return true;
	}
	struct integer n;
	if (!scan_integer(&p->s, &n)) return false;
	if (write && !n.size) note_zero(p, key);
	trace_op_add(p->b, transaction, write ? EVENT_WRITE : EVENT_READ, key,
	             scan_value(p->b, n), p->s.line);
	return true;
}

/* Is there a ! behind the ] of the transaction that begins here? */
static bool is_uncommitted(const char *at)
{
	while (*at && *at != ']' && *at != '\n') at++;
	if (*at != ']') return false;
	do at++;
	while (*at == ' ' || *at == '\t');
	return *at == '!';
}

/* transaction = "[" {operation} "]" ["!"] */
static bool parse_transaction(struct dbcop *p)
{
	enum trace_status status =
		is_uncommitted(p->s.at) ? TRACE_ABORTED : TRACE_COMMITTED;
	uint32_t t = trace_transaction_new(p->b, p->session, status, p->s.line);
	const char *opening = p->s.at++;
	scan_blanks(&p->s);
	while (*p->s.at != ']') {
		if (*p->s.at == '\n' || p->s.at >= p->s.end) {
			p->s.at = opening;
			return scan_wrong(&p->s, "'[' that is not closed in "
			                         "its line");
		}
		if (!parse_operation(p, t)) return false;
		scan_blanks(&p->s);
		if (*p->s.at == ',') p->s.at++;
		scan_blanks(&p->s);
	}
	p->s.at++;
	scan_blanks(&p->s);
	if (*p->s.at == '!') p->s.at++;
	return true;
}

/* line = {transaction} [comment] | "-" "-" {"-"} */
static bool parse_line(struct dbcop *p)
{
	scan_blanks(&p->s);
	if (p->s.at[0] == '-' && p->s.at[1] == '-') {
		while (*p->s.at == '-') p->s.at++;
		p->session = trace_session_number(p->b, p->session + 1);
	}
	while (*p->s.at == '[') {
		if (!parse_transaction(p)) return false;
		scan_blanks(&p->s);
	}
	return scan_line_end(&p->s, EXPECTED);
}

struct trace *dbcop_text_parse(struct input *in, const struct reader_options *o,
                               struct diags *d)
{
	struct trace_rules rules = scan_rules(o);
	struct dbcop p = {
		.s = scan_begin(in, d),
		.b = trace_builder_new(in->file, &rules),
	};
	bool good = true;
	p.session = trace_session_number(p.b, 0);
	while (good && p.s.at < p.s.end) {
		good = parse_line(&p);
		input_passed(in, p.s.at);
	}
	free(p.zero);
	if (good) return trace_builder_finish(p.b, d);
	trace_builder_free(p.b);
	return NULL;
}

/* ---- printing ---- */

static bool is_identifier(const char *name)
{
	return name && is_letter(*name) && !*name_end(name);
}

struct printed {
	const struct trace *r;
	int64_t *values, *keys;
	bool *counts;
	bool names; /* all keys have names that can be written */
};

static void print_operation(struct text *t, const struct printed *p, uint32_t i)
{
	const struct trace_op *op = &p->r->ops[i];
	if (p->names)
		text_string(t, p->r->keys[op->key].name);
	else
		text_format(t, "k%" PRId64, p->keys[op->key]);
	text_string(t, op->kind == EVENT_READ ? "==" : ":=");
	if (p->values[i])
		text_int(t, p->values[i]);
	else
		text_char(t, '?');
}

static void print_transaction(struct text *t, const struct printed *p,
                              const struct trace_transaction *w)
{
	text_char(t, '[');
	size_t start = t->length;
	for (uint32_t i = w->first_op; i < w->first_op + w->op_count; i++) {
		if (!p->counts[i]) continue;
		if (t->length > start) text_char(t, ' ');
		print_operation(t, p, i);
	}
	text_string(t, w->status == TRACE_COMMITTED ? "]\n" : "]!\n");
}

static void print_sessions(struct text *t, const struct printed *p)
{
	const struct trace *r = p->r;
	bool first = true;
	for (uint32_t s = 0; s < r->session_count; s++) {
		if (r->sessions[s].after_all) continue;
		if (!first) text_string(t, "---\n");
		first = false;
		for (uint32_t i = 0; i < r->sessions[s].count; i++)
			print_transaction(
				t, p,
				&r->transactions[r->sessions[s].first + i]);
	}
}

bool dbcop_text_print(struct text *t, const struct trace *r,
                      const uint32_t *order, struct diags *d)
{
	(void)order;
	static const struct renumber rules = { .initial = 0, .least = 0 };
	unsigned can = CAN_ABORT;
	/* A file of nothing but `[]` is taken for JSON. */
	if (r->transaction_count > 2) can |= CAN_EMPTY;
	if (!format_can_write(r, FORMAT_DBCOP_TEXT, can, d)) return false;
	struct printed p = { .r = r, .names = true };
	for (uint32_t k = 0; k < r->key_count && p.names; k++)
		p.names = is_identifier(r->keys[k].name);
	p.values = renumber_values(r, &rules);
	p.keys = renumber_keys(r, &rules);
	p.counts = ops_that_count(r);
	print_sessions(t, &p);
	free(p.values);
	free(p.keys);
	free(p.counts);
	return true;
}
