/* Writing our own format: as history_print_canonical writes, of a trace of any
 * size. */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/memory.h"
#include "formats/parsers.h"
#include "formats/renumber.h"
#include "formats/versions.h"

enum { DIGITS = 24 }; /* of a number */

/* That of a key without a name is its number, in `digits`. */
static const char *key_name(const struct trace *r, uint32_t key,
                            char digits[DIGITS])
{
	const struct trace_key *k = &r->keys[key];
	assert(key < r->key_count);
	if (k->name) return k->name;
	snprintf(digits, DIGITS, "%" PRId64, k->number);
	return digits;
}

static void print_value(struct json *j, const char *name, const struct trace *r,
                        int64_t value, unsigned flags)
{
	trace_print_value(json_value(j, name), r, value,
	                  flags & (TRACE_TEXT | TRACE_NULL));
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

static void print_init(struct json *j, const struct trace *r,
                       const struct named_key *keys)
{
	json_open(j, "init", '{');
	for (uint32_t i = 0; i < r->key_count; i++) {
		const struct trace_key *k = &r->keys[keys[i].key];
		print_value(j, keys[i].name, r, k->initial.number,
		            k->initial.flags);
	}
	json_close(j);
}

/* ---- the order of writes, where it is known ---- */

static void print_key_versions(struct json *j, const struct trace *r,
                               const struct versions *v,
                               const struct named_key *key)
{
	uint32_t k = key->key;
	assert(v->ordered[k] <= v->first[k + 1] - v->first[k]);
	json_open(j, key->name, '[');
	for (uint32_t i = 0; i < v->ordered[k]; i++) {
		const struct trace_op *op = &r->ops[v->ops[v->first[k] + i]];
		print_value(j, NULL, r, op->value, op->flags);
	}
	json_close(j);
}

/* Of keys with several writers. */
static void print_versions(struct json *j, const struct trace *r,
                           const struct versions *v,
                           const struct named_key *keys)
{
	bool *known = mem_take0(r->key_count + (size_t)1, sizeof *known);
	for (uint32_t i = 0; i < r->known_count; i++)
		known[r->known[i].key] = true;
	json_open(j, "versions", '{');
	for (uint32_t i = 0; i < r->key_count; i++)
		if (known[keys[i].key]) print_key_versions(j, r, v, &keys[i]);
	json_close(j);
	free(known);
}

/* ---- sessions ---- */

/* Nothing where the writer is not known. */
static void print_source(struct json *j, const char *name,
                         const struct trace *r, uint32_t from)
{
	if (from == TRACE_NOBODY) return;
	if (from == TRACE_SELF || from == TRACE_INIT) {
		json_text(j, name, from == TRACE_SELF ? "self" : "init");
		return;
	}
	assert(from < r->transaction_count);
	uint32_t session = r->transactions[from].session;
	json_open(j, name, '[');
	json_int(j, NULL, session);
	json_int(j, NULL, from - r->sessions[session].first);
	json_close(j);
}

/* A read without its value is an object. */
static void print_op(struct json *j, const struct trace *r,
                     const struct trace_op *op)
{
	char digits[DIGITS];
	const char *key = key_name(r, op->key, digits);
	bool read = op->kind == EVENT_READ;
	enum strength strength = (enum strength)op->strength;
	if (strength == STRENGTH_GIVEN_UP) {
		given_up_print(j, key);
		return;
	}
	if (read && op->flags & TRACE_MISSING) {
		json_open(j, NULL, '{');
		json_text(j, "r", key);
		print_source(j, "from", r, op->from);
		if (strength) json_text(j, "lock", strength_letter(strength));
	} else {
		json_open(j, NULL, '[');
		json_text(j, NULL, read ? "r" : "w");
		json_text(j, NULL, key);
		print_value(j, NULL, r, op->value, op->flags);
		if (read) print_source(j, NULL, r, op->from);
		if (read && op->from == TRACE_NOBODY && strength)
			json_text(j, NULL, NULL);
		event_print_strength(j, (enum event_kind)op->kind, strength);
	}
	json_close(j);
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

static void print_events(struct json *j, const struct trace *r,
                         uint32_t transaction, uint32_t *anomaly)
{
	const struct trace_transaction *x = &r->transactions[transaction];
	bool statements = has_statements(r, x), begun = false;
	uint32_t number = 0;
	for (uint32_t i = x->first_op; i < x->first_op + x->op_count; i++) {
		begun &= r->ops[i].joined;
		if (!counts(r, transaction, i, anomaly)) continue;
		if (statements && !begun) statement_print(j, ++number);
		begun = true;
		print_op(j, r, &r->ops[i]);
	}
}

static void print_transaction(struct json *j, const struct trace *r,
                              uint32_t transaction, uint32_t *anomaly)
{
	const struct trace_transaction *x = &r->transactions[transaction];
	static const char *const status[] = {
		[TRACE_COMMITTED] = "committed",
		[TRACE_ABORTED] = "aborted",
		[TRACE_UNKNOWN] = "unknown",
	};
	json_open(j, NULL, '{');
	if (x->name)
		json_text(j, "name", x->name);
	else if (x->has_number)
		text_format(json_value(j, "name"), "\"t%" PRId64 "\"",
		            x->number);
	json_text(j, "status", status[x->status]);
	if (x->own) json_text(j, "at", own_level_word(x->own));
	json_open(j, "events", '[');
	print_events(j, r, transaction, anomaly);
	json_close(j);
	json_close(j);
}

static void print_session(struct json *j, const struct trace *r,
                          const struct trace_session *s, uint32_t *anomaly)
{
	json_open(j, NULL, '{');
	json_text(j, "name", s->name);
	if (s->after_all) json_text(j, "after", "all");
	json_open(j, "transactions", '[');
	for (uint32_t i = 0; i < s->count; i++)
		print_transaction(j, r, s->first + i, anomaly);
	json_close(j);
	json_close(j);
}

/* Without its end. */
static void print_history(struct json *j, const struct trace *r,
                          const struct versions *v)
{
	uint32_t anomaly = 0;
	struct text digits = { 0 };
	json_open(j, NULL, '{');
	json_int(j, "history", 1);
	if (r->program) json_text(j, "program", r->program);
	if (r->level) json_text(j, "level", r->level);
	if (r->valueless) json_bool(j, "values", false);
	struct named_key *keys = sorted_keys(r, &digits);
	print_init(j, r, keys);
	if (r->known_count) print_versions(j, r, v, keys);
	free(keys);
	text_free(&digits);
	json_open(j, "sessions", '[');
	for (uint32_t s = 0; s < r->session_count; s++)
		print_session(j, r, &r->sessions[s], &anomaly);
	json_close(j);
}

bool format_open_isoscope(struct json *j, const struct trace *r,
                          struct diags *d)
{
	struct versions v = { 0 };
	unsigned can = CAN_ABORT | CAN_ABORT_READS | CAN_KNOWN | CAN_AFTER_ALL |
	               CAN_EMPTY | CAN_LEVELS | CAN_LOCKS;
	if (!format_can_write(r, FORMAT_ISOSCOPE, can, d)) return false;
	bool good = !r->known_count || versions_find(&v, r, NULL);
	if (good)
		print_history(j, r, &v);
	else
		diags_add(d, DIAG_ERROR, r->file, r->line, 0, NULL,
		          "this history cannot be written: the appends of "
		          "two transactions to a key are interleaved");
	versions_free(&v);
	return good;
}

bool isoscope_print(struct text *t, const struct trace *r,
                    const uint32_t *order, struct diags *d)
{
	struct json j = json_to(t);
	(void)order;
	if (!format_open_isoscope(&j, r, d)) return false;
	json_close(&j);
	text_char(t, '\n');
	return true;
}
