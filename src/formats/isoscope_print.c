/* Writing our own format: as history_print_canonical writes, of a trace of any
 * size. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "formats/parsers.h"
#include "formats/renumber.h"
#include "formats/versions.h"

static void print_string(struct text *t, const char *s)
{
	text_json_string(t, s, strlen(s));
}

static void print_key(struct text *t, const struct trace *r, uint32_t key)
{
	const struct trace_key *k = &r->keys[key];
	assert(key < r->key_count);
	if (k->name) {
		print_string(t, k->name);
	} else {
		text_char(t, '"');
		text_int(t, k->number);
		text_char(t, '"');
	}
}

static void print_value(struct text *t, const struct trace *r, int64_t value,
                        unsigned flags)
{
	if (flags & (TRACE_TEXT | TRACE_NULL))
		trace_print_value(t, r, value,
		                  flags & (TRACE_TEXT | TRACE_NULL));
	else
		text_int(t, value);
}

/* ---- keys in increasing order of name ---- */

struct named_key {
	const char *name;
	uint32_t key;
};

static int compare_keys(const void *a, const void *b)
{
	const struct named_key *x = a, *y = b;
	return strcmp(x->name, y->name);
}

/* The keys by name; the names of numbers are in `digits`. */
static struct named_key *sorted_keys(const struct trace *r, struct text *digits)
{
	struct named_key *keys = mem_take(r->key_count * sizeof *keys + 1);
	size_t *at = mem_take(r->key_count * sizeof *at + 1);
	for (uint32_t k = 0; k < r->key_count; k++) {
		at[k] = digits->length;
		if (r->keys[k].name) continue;
		text_int(digits, r->keys[k].number);
		text_char(digits, '\0');
	}
	for (uint32_t k = 0; k < r->key_count; k++) {
		const char *name = r->keys[k].name;
		keys[k].key = k;
		keys[k].name = name ? name : digits->data + at[k];
	}
	free(at);
	if (r->key_count) qsort(keys, r->key_count, sizeof *keys, compare_keys);
	return keys;
}

static void print_init(struct text *t, const struct trace *r,
                       const struct named_key *keys)
{
	text_string(t, "\"init\":{");
	for (uint32_t i = 0; i < r->key_count; i++) {
		const struct trace_key *k = &r->keys[keys[i].key];
		if (i) text_char(t, ',');
		print_string(t, keys[i].name);
		text_char(t, ':');
		print_value(t, r, k->initial.number, k->initial.flags);
	}
	text_char(t, '}');
}

/* ---- the order of writes, where it is known ---- */

static void print_key_versions(struct text *t, const struct trace *r,
                               const struct versions *v, uint32_t key)
{
	assert(v->ordered[key] <= v->first[key + 1] - v->first[key]);
	print_key(t, r, key);
	text_string(t, ":[");
	for (uint32_t i = 0; i < v->ordered[key]; i++) {
		const struct trace_op *op = &r->ops[v->ops[v->first[key] + i]];
		if (i) text_char(t, ',');
		print_value(t, r, op->value, op->flags);
	}
	text_char(t, ']');
}

/* Of keys with several writers. */
static void print_versions(struct text *t, const struct trace *r,
                           const struct versions *v,
                           const struct named_key *keys)
{
	const char *before = "\"versions\":{";
	bool *known = mem_take0(r->key_count + (size_t)1, sizeof *known);
	for (uint32_t i = 0; i < r->known_count; i++)
		known[r->known[i].key] = true;
	for (uint32_t i = 0; i < r->key_count; i++) {
		if (!known[keys[i].key]) continue;
		text_string(t, before);
		print_key_versions(t, r, v, keys[i].key);
		before = ",";
	}
	text_string(t, "},");
	free(known);
}

/* ---- sessions ---- */

/* With the comma before it; nothing where the writer is not known. */
static void print_source(struct text *t, const struct trace *r, uint32_t from)
{
	if (from == TRACE_NOBODY) return;
	text_char(t, ',');
	if (from == TRACE_SELF) {
		text_string(t, "\"self\"");
	} else if (from == TRACE_INIT) {
		text_string(t, "\"init\"");
	} else {
		uint32_t session = r->transactions[from].session;
		text_char(t, '[');
		text_int(t, session);
		text_char(t, ',');
		text_int(t, from - r->sessions[session].first);
		text_char(t, ']');
	}
}

/* The value is missing: as an object. */
static void print_valueless(struct text *t, const struct trace *r,
                            const struct trace_op *op)
{
	struct text source = { 0 };
	print_source(&source, r, op->from);
	text_string(t, "{\"r\":");
	print_key(t, r, op->key);
	if (source.length) {
		text_string(t, ",\"from\":");
		text_string(t, source.data + 1);
	}
	if (op->strength)
		text_format(t, ",\"lock\":\"%s\"",
		            strength_letter((enum strength)op->strength));
	text_char(t, '}');
	text_free(&source);
}

static void print_op(struct text *t, const struct trace *r,
                     const struct trace_op *op)
{
	if (op->kind == EVENT_READ && op->flags & TRACE_MISSING) {
		print_valueless(t, r, op);
		return;
	}
	text_string(t, op->kind == EVENT_READ ? "[\"r\"," : "[\"w\",");
	print_key(t, r, op->key);
	text_char(t, ',');
	print_value(t, r, op->value, op->flags);
	if (op->kind == EVENT_READ) print_source(t, r, op->from);
	if (op->kind == EVENT_READ && op->from == TRACE_NOBODY && op->strength)
		text_string(t, ",null");
	event_print_strength(t, (enum event_kind)op->kind,
	                     (enum strength)op->strength);
	text_char(t, ']');
}

/* Operations lie in the order of the file, transactions in that of sessions. */
static bool comes_before(const struct trace_anomaly *a, uint32_t transaction,
                         uint32_t op)
{
	return a->transaction != transaction ? a->transaction < transaction
	                                     : a->op < op;
}

/* Reads that do not count have no writer, and no anomaly says why: in this
 * format they would count, so they are left out. `anomaly` is the first one
 * that may be of this read or a later one. */
static bool counts(const struct trace *r, uint32_t transaction, uint32_t op,
                   uint32_t *anomaly)
{
	if (r->ops[op].kind == EVENT_WRITE || r->ops[op].from != TRACE_NOBODY)
		return true;
	while (*anomaly < r->anomaly_count &&
	       comes_before(&r->anomalies[*anomaly], transaction, op))
		++*anomaly;
	return *anomaly < r->anomaly_count
	               ? r->anomalies[*anomaly].op == op
	               : r->anomaly_count == TRACE_ANOMALIES_KEPT;
}

/* Has some statement several operations? */
static bool has_statements(const struct trace *r,
                           const struct trace_transaction *x)
{
	for (uint32_t i = 1; i < x->op_count; i++)
		if (r->ops[x->first_op + i].joined) return true;
	return false;
}

static void print_events(struct text *t, const struct trace *r,
                         uint32_t transaction, uint32_t *anomaly)
{
	const struct trace_transaction *x = &r->transactions[transaction];
	const char *comma = "";
	bool statements = has_statements(r, x), begun = false;
	uint32_t number = 0;
	for (uint32_t i = x->first_op; i < x->first_op + x->op_count; i++) {
		begun &= r->ops[i].joined;
		if (!counts(r, transaction, i, anomaly)) continue;
		text_string(t, comma);
		if (statements && !begun) {
			statement_print(t, ++number);
			text_char(t, ',');
		}
		begun = true;
		print_op(t, r, &r->ops[i]);
		comma = ",";
	}
}

static void print_transaction(struct text *t, const struct trace *r,
                              uint32_t transaction, uint32_t *anomaly)
{
	const struct trace_transaction *x = &r->transactions[transaction];
	static const char *const status[] = {
		[TRACE_COMMITTED] = "committed",
		[TRACE_ABORTED] = "aborted",
		[TRACE_UNKNOWN] = "unknown",
	};
	text_char(t, '{');
	if (x->name) {
		text_string(t, "\"name\":");
		print_string(t, x->name);
		text_char(t, ',');
	} else if (x->has_number) {
		text_string(t, "\"name\":\"t");
		text_int(t, x->number);
		text_string(t, "\",");
	}
	text_string(t, "\"status\":\"");
	text_string(t, status[x->status]);
	if (x->own) text_format(t, "\",\"at\":\"%s", own_level_word(x->own));
	text_string(t, "\",\"events\":[");
	print_events(t, r, transaction, anomaly);
	text_string(t, "]}");
}

static void print_session(struct text *t, const struct trace *r,
                          const struct trace_session *s, uint32_t *anomaly)
{
	text_string(t, "{\"name\":");
	print_string(t, s->name);
	if (s->after_all) text_string(t, ",\"after\":\"all\"");
	text_string(t, ",\"transactions\":[");
	for (uint32_t i = 0; i < s->count; i++) {
		if (i) text_char(t, ',');
		print_transaction(t, r, s->first + i, anomaly);
	}
	text_string(t, "]}");
}

static void print_history(struct text *t, const struct trace *r,
                          const struct versions *v)
{
	uint32_t anomaly = 0;
	text_string(t, "{\"history\":1,");
	if (r->program) {
		text_string(t, "\"program\":");
		print_string(t, r->program);
		text_char(t, ',');
	}
	if (r->level) {
		text_string(t, "\"level\":");
		print_string(t, r->level);
		text_char(t, ',');
	}
	if (r->valueless) text_string(t, "\"values\":false,");
	struct text digits = { 0 };
	struct named_key *keys = sorted_keys(r, &digits);
	print_init(t, r, keys);
	text_char(t, ',');
	if (r->known_count) print_versions(t, r, v, keys);
	free(keys);
	text_free(&digits);
	text_string(t, "\"sessions\":[");
	for (uint32_t s = 0; s < r->session_count; s++) {
		if (s) text_char(t, ',');
		print_session(t, r, &r->sessions[s], &anomaly);
	}
	text_string(t, "]}\n");
}

bool isoscope_print(struct text *t, const struct trace *r,
                    const uint32_t *order, struct diags *d)
{
	(void)order;
	struct versions v = { 0 };
	unsigned can = CAN_ABORT | CAN_ABORT_READS | CAN_KNOWN | CAN_AFTER_ALL |
	               CAN_EMPTY | CAN_LEVELS | CAN_LOCKS;
	if (!format_can_write(r, FORMAT_ISOSCOPE, can, d)) return false;
	bool good = !r->known_count || versions_find(&v, r, NULL);
	if (good)
		print_history(t, r, &v);
	else
		diags_add(d, DIAG_ERROR, r->file, r->line, 0, NULL,
		          "this history cannot be written: the appends of "
		          "two transactions to a key are interleaved");
	versions_free(&v);
	return good;
}
