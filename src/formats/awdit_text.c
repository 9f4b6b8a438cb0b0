/* The text that AWDIT is tested with: r key value and w key value, an operation
 * each line; a line of dashes ends a transaction, one of equals signs a
 * session. */
#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "formats/parsers.h"
#include "formats/renumber.h"
#include "formats/scan.h"

enum { NONE = UINT32_MAX };

#define EXPECTED "'r KEY VALUE' or 'w KEY VALUE' with integers, --- or ==="

struct awdit {
	struct scan s;
	struct trace_builder *b;
	uint32_t session, transaction; /* that are open, or NONE */
	uint32_t sessions;
};

/* operation = ("r" | "w") blank integer blank integer */
static bool parse_operation(struct awdit *a)
{
	enum event_kind kind = *a->s.at == 'r' ? EVENT_READ : EVENT_WRITE;
	struct integer key, value;
	assert(*a->s.at == 'r' || *a->s.at == 'w');
	if (a->s.at[1] != ' ' && a->s.at[1] != '\t')
		return scan_wrong(&a->s, "expected " EXPECTED);
	a->s.at++;
	if (!scan_integer(&a->s, &key) || !scan_integer(&a->s, &value))
		return false;
	if (a->session == NONE)
		a->session = trace_session_number(a->b, a->sessions++);
	if (a->transaction == NONE)
		a->transaction = trace_transaction_new(
			a->b, a->session, TRACE_COMMITTED, a->s.line);
	trace_op_add(a->b, a->transaction, kind, scan_key(a->b, key),
	             scan_value(a->b, value), a->s.line);
	return true;
}

/* line = [operation | "-" {"-"} | "=" {"="}] [comment] */
static bool parse_line(struct awdit *a)
{
	scan_blanks(&a->s);
	char c = *a->s.at;
	if ((c == 'r' || c == 'w') && !parse_operation(a)) return false;
	if (c == '-' || c == '=') {
		while (*a->s.at == c) a->s.at++;
		a->transaction = NONE;
	}
	if (c == '=') a->session = NONE;
	return scan_line_end(&a->s, EXPECTED);
}

struct trace *awdit_text_parse(struct input *in, const struct reader_options *o,
                               struct diags *d)
{
	struct trace_rules rules = scan_rules(o);
	rules.initial_written = true;
	struct awdit a = {
		.s = scan_begin(in, d),
		.b = trace_builder_new(in->file, &rules),
		.session = NONE,
		.transaction = NONE,
	};
	bool good = true;
	while (good && a.s.at < a.s.end) {
		good = parse_line(&a);
		input_passed(in, a.s.at);
	}
	if (good) return trace_builder_finish(a.b, d);
	trace_builder_free(a.b);
	return NULL;
}

/* ---- printing ---- */

struct printed {
	const struct trace *r;
	int64_t *values, *keys;
	bool *counts;
};

static void print_operation(struct text *t, bool read, int64_t key,
                            int64_t value)
{
	text_string(t, read ? "r " : "w ");
	text_int(t, key);
	text_char(t, ' ');
	text_int(t, value);
	text_char(t, '\n');
}

/* Only transactions that committed; others have no effect. */
static void print_session(struct text *t, const struct printed *p,
                          const struct trace_session *s)
{
	const struct trace *r = p->r;
	size_t start = t->length, behind = start;
	for (uint32_t n = s->first; n < s->first + s->count; n++) {
		const struct trace_transaction *w = &r->transactions[n];
		uint32_t end = w->first_op + w->op_count;
		if (w->status != TRACE_COMMITTED) continue;
		for (uint32_t i = w->first_op; i < end; i++) {
			if (!p->counts[i]) continue;
			if (behind > start && behind == t->length)
				text_string(t, "---\n");
			print_operation(t, r->ops[i].kind == EVENT_READ,
			                p->keys[r->ops[i].key], p->values[i]);
		}
		assert(t->length >= behind);
		behind = t->length;
	}
	if (t->length > start) text_string(t, "===\n");
}

/* There is no init but the transaction that writes 0 to all keys, last. */
bool awdit_text_print(struct text *t, const struct trace *r,
                      const uint32_t *order, struct diags *d)
{
	(void)order;
	static const struct renumber rules = { .initial = 0, .least = 0 };
	if (!format_can_write(r, FORMAT_AWDIT, 0, d)) return false;
	struct printed p = {
		.r = r,
		.values = renumber_values(r, &rules),
		.keys = renumber_keys(r, &rules),
		.counts = ops_that_count(r),
	};
	for (uint32_t s = 0; s < r->session_count; s++)
		print_session(t, &p, &r->sessions[s]);
	for (uint32_t k = 0; k < r->key_count; k++)
		print_operation(t, false, p.keys[k], 0);
	free(p.values);
	free(p.keys);
	free(p.counts);
	return true;
}
