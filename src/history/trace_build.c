#include "history/trace_build.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "history/trace_builder.h"

/* ---- beginning and end ---- */

struct trace_builder *trace_builder_new(const char *file,
                                        const struct trace_rules *rules)
{
	struct trace_builder *b = mem_take0(1, sizeof *b);
	struct trace *t = mem_take0(1, sizeof *t);
	b->rules = *rules;
	b->trace = t;
	b->op_limit = b->transaction_limit = UINT32_MAX - 2;
	region_init(&t->region);
	t->file = file ? region_copy_string(&t->region, file, strlen(file))
	               : NULL;
	t->lists = rules->lists;
	table_init(&b->sessions_by_number, 0);
	table_init(&b->sessions_by_name, 0);
	table_init(&b->keys_by_number, 0);
	table_init(&b->keys_by_name, 0);
	table_init(&b->texts, 0);
	VEC_RESERVE(t->transactions, t->transaction_count,
	            b->transaction_capacity);
	t->transactions[t->transaction_count++] =
		(struct trace_transaction){ .name = "init",
		                            .session = TRACE_NONE };
	return b;
}

void trace_builder_line(struct trace_builder *b, uint32_t line)
{
	b->trace->line = line;
}

/* All but the trace. */
static void free_shell(struct trace_builder *b)
{
	table_free(&b->sessions_by_number);
	table_free(&b->sessions_by_name);
	table_free(&b->keys_by_number);
	table_free(&b->keys_by_name);
	table_free(&b->texts);
	table_free(&b->by_value);
	table_free(&b->by_source);
	table_free(&b->finals);
	free(b->small_keys);
	free(b->last_write);
	free(b->session_numbers);
	free(b->runs);
	free(b->versions);
	free(b->values);
	free(b->anomalies);
	free(b->number);
	free(b->confirmed);
	free(b->unwritten);
	free(b);
}

void trace_builder_free(struct trace_builder *b)
{
	if (!b) return;
	trace_free(b->trace);
	free_shell(b);
}

/* ---- names ---- */

/* A zero byte would end the name early: two names could look the same. */
static const char *intern(struct trace_builder *b, const char *s, size_t length)
{
	struct region *r = &b->trace->region;
	if (!memchr(s, 0, length)) return region_copy_string(r, s, length);
	struct text t = { 0 };
	for (size_t i = 0; i < length; i++)
		if (s[i])
			text_char(&t, s[i]);
		else
			text_string(&t, "\\u0000");
	const char *copy = region_copy_string(r, t.data, t.length);
	text_free(&t);
	return copy;
}

static bool same_name(const char *name, const char *s, size_t length)
{
	return !strncmp(name, s, length) && !name[length];
}

/* ---- sessions ---- */

static uint32_t add_session(struct trace_builder *b, const char *name,
                            int64_t number, bool after_all)
{
	struct trace *t = b->trace;
	size_t capacity = b->session_capacity;
	VEC_RESERVE(t->sessions, t->session_count, b->session_capacity);
	VEC_RESERVE(b->session_numbers, t->session_count, capacity);
	b->session_numbers[t->session_count] = number;
	t->sessions[t->session_count] =
		(struct trace_session){ .name = name, .after_all = after_all };
	return t->session_count++;
}

uint32_t trace_session_number(struct trace_builder *b, int64_t number)
{
	struct table *x = &b->sessions_by_number;
	struct table_probe probe = table_probe(hash_mix(0, (uint64_t)number));
	uint32_t i;
	char digits[24];
	while ((i = table_next(x, &probe)) != TABLE_NONE)
		if (b->session_numbers[i] == number) return i;
	int length = snprintf(digits, sizeof digits, "%" PRId64, number);
	i = add_session(b, intern(b, digits, (size_t)length), number, false);
	table_put(x, probe, i);
	return i;
}

uint32_t trace_session_named(struct trace_builder *b, const char *name,
                             size_t length)
{
	struct table *x = &b->sessions_by_name;
	struct table_probe probe = table_probe(hash_bytes(0, name, length));
	uint32_t i;
	while ((i = table_next(x, &probe)) != TABLE_NONE)
		if (same_name(b->trace->sessions[i].name, name, length))
			return i;
	i = add_session(b, intern(b, name, length), 0, false);
	table_put(x, probe, i);
	return i;
}

uint32_t trace_session_new(struct trace_builder *b, const char *name,
                           size_t length, bool after_all)
{
	return add_session(b, intern(b, name, length), 0, after_all);
}

/* ---- transactions ---- */

uint32_t trace_transaction_new(struct trace_builder *b, uint32_t session,
                               enum trace_status status, uint32_t line)
{
	struct trace *t = b->trace;
	assert(session < t->session_count);
	if (t->transaction_count >= b->transaction_limit) {
		b->too_many = true;
		return t->transaction_count - 1;
	}
	b->outcomes |= status != TRACE_COMMITTED;
	VEC_RESERVE(t->transactions, t->transaction_count,
	            b->transaction_capacity);
	t->transactions[t->transaction_count] = (struct trace_transaction){
		.session = session, .status = (uint8_t)status, .line = line
	};
	return t->transaction_count++;
}

static struct trace_transaction *transaction_of(struct trace_builder *b,
                                                uint32_t handle)
{
	assert(handle && handle < b->trace->transaction_count);
	return &b->trace->transactions[handle];
}

void trace_transaction_level(struct trace_builder *b, uint32_t transaction,
                             own_level own)
{
	transaction_of(b, transaction)->own = own;
}

void trace_transaction_name(struct trace_builder *b, uint32_t transaction,
                            const char *name, size_t length)
{
	transaction_of(b, transaction)->name = intern(b, name, length);
}

void trace_transaction_number(struct trace_builder *b, uint32_t transaction,
                              int64_t number)
{
	struct trace_transaction *w = transaction_of(b, transaction);
	w->number = number;
	w->has_number = true;
}

/* ---- keys and values ---- */

static uint32_t add_key(struct trace_builder *b, const char *name,
                        int64_t number)
{
	struct trace *t = b->trace;
	VEC_RESERVE(t->keys, t->key_count, b->key_capacity);
	t->keys[t->key_count] = (struct trace_key){
		.name = name, .number = number, .initial = b->rules.initial
	};
	return t->key_count++;
}

/* Remembers the number of a key where it costs little: most files count their
 * keys from 0, and this is the most frequent question. */
static void remember_key(struct trace_builder *b, int64_t number, uint32_t key)
{
	uint64_t most = 16 * (uint64_t)b->trace->key_count + 1024;
	if (number < 0 || (uint64_t)number >= most ||
	    (uint64_t)number > UINT32_MAX / 4)
		return;
	uint32_t n = (uint32_t)number;
	if (n >= b->small_count) {
		uint32_t count = 2 * n + 64;
		b->small_keys = mem_grow0(b->small_keys, b->small_count, count,
		                          sizeof *b->small_keys);
		b->small_count = count;
	}
	b->small_keys[n] = key + 1;
}

static uint32_t find_key_number(struct trace_builder *b, int64_t number)
{
	struct table *x = &b->keys_by_number;
	struct table_probe probe = table_probe(hash_mix(0, (uint64_t)number));
	uint32_t i;
	while ((i = table_next(x, &probe)) != TABLE_NONE)
		if (b->trace->keys[i].number == number) return i;
	i = add_key(b, NULL, number);
	table_put(x, probe, i);
	return i;
}

uint32_t trace_key_number(struct trace_builder *b, int64_t number)
{
	if (number >= 0 && number < b->small_count && b->small_keys[number])
		return b->small_keys[number] - 1;
	uint32_t key = find_key_number(b, number);
	remember_key(b, number, key);
	return key;
}

uint32_t trace_key_named(struct trace_builder *b, const char *name,
                         size_t length)
{
	struct table *x = &b->keys_by_name;
	struct table_probe probe = table_probe(hash_bytes(0, name, length));
	uint32_t i;
	while ((i = table_next(x, &probe)) != TABLE_NONE)
		if (same_name(b->trace->keys[i].name, name, length)) return i;
	i = add_key(b, intern(b, name, length), 0);
	table_put(x, probe, i);
	return i;
}

uint32_t trace_key_new(struct trace_builder *b, const char *name, size_t length)
{
	return add_key(b, intern(b, name, length), 0);
}

void trace_key_initial(struct trace_builder *b, uint32_t key,
                       struct trace_value value)
{
	assert(key < b->trace->key_count);
	value.flags |= KEY_GIVEN;
	b->trace->keys[key].initial = value;
}

struct trace_value trace_value_number(int64_t number)
{
	return (struct trace_value){ .number = number };
}

struct trace_value trace_value_null(void)
{
	return (struct trace_value){ .flags = TRACE_NULL };
}

/* -?(0|[1-9][0-9]*), and not -0, within 64 bits: other spellings of a number
 * are not canonical. */
static bool read_integer(const char *s, size_t length, int64_t *out)
{
	bool negative = length && *s == '-';
	uint64_t limit = (uint64_t)INT64_MAX + negative, n = 0;
	size_t i = negative;
	if (i == length || (s[i] == '0' && length > 1)) return false;
	for (; i < length; i++) {
		if (s[i] < '0' || s[i] > '9') return false;
		uint64_t digit = (uint64_t)(s[i] - '0');
		if (n > (limit - digit) / 10) return false;
		n = 10 * n + digit;
	}
	*out = negative ? (int64_t)(0 - n) : (int64_t)n;
	return true;
}

struct trace_value trace_value_text(struct trace_builder *b, const char *json,
                                    size_t length)
{
	struct trace *t = b->trace;
	int64_t number;
	if (read_integer(json, length, &number))
		return trace_value_number(number);
	if (length == 4 && !memcmp(json, "null", 4)) return trace_value_null();
	struct table_probe probe = table_probe(hash_bytes(0, json, length));
	uint32_t i;
	while ((i = table_next(&b->texts, &probe)) != TABLE_NONE)
		if (same_name(t->texts[i], json, length))
			return (struct trace_value){ i, TRACE_TEXT };
	VEC_RESERVE(t->texts, t->text_count, b->text_capacity);
	i = t->text_count++;
	t->texts[i] = intern(b, json, length);
	table_put(&b->texts, probe, i);
	return (struct trace_value){ i, TRACE_TEXT };
}

/* ---- operations ---- */

static void note_run(struct trace_builder *b, struct trace_transaction *w,
                     uint32_t transaction)
{
	if (w->op_count)
		b->interleaved = true;
	else
		w->first_op = b->trace->op_count;
	VEC_RESERVE(b->runs, b->run_count, b->run_capacity);
	b->runs[b->run_count++] =
		(struct trace_run){ .first = b->trace->op_count,
		                    .transaction = transaction };
	b->last = transaction;
}

uint32_t trace_op_add(struct trace_builder *b, uint32_t transaction,
                      enum event_kind kind, uint32_t key,
                      struct trace_value value, uint32_t line)
{
	struct trace *t = b->trace;
	struct trace_transaction *w = transaction_of(b, transaction);
	assert(key < t->key_count);
	if (t->op_count >= b->op_limit) {
		b->too_many = true;
		return t->op_count - 1;
	}
	if (b->last != transaction) note_run(b, w, transaction);
	w->op_count++;
	b->reads += kind == EVENT_READ;
	VEC_RESERVE(t->ops, t->op_count, b->op_capacity);
	t->ops[t->op_count] = (struct trace_op){ .value = value.number,
		                                 .key = key,
		                                 .from = TRACE_NOBODY,
		                                 .line = line,
		                                 .kind = (uint8_t)kind,
		                                 .flags = value.flags };
	return t->op_count++;
}

void trace_op_source(struct trace_builder *b, enum trace_source kind,
                     uint32_t transaction)
{
	assert(b->trace->op_count);
	struct trace_op *op = &b->trace->ops[b->trace->op_count - 1];
	assert(op->kind == EVENT_READ);
	b->sourced += op->from == TRACE_NOBODY;
	if (kind == TRACE_FROM_INIT)
		op->from = TRACE_INIT;
	else if (kind == TRACE_FROM_SELF)
		op->from = TRACE_SELF;
	else
		op->from = transaction;
}

void trace_op_access(struct trace_builder *b, enum strength strength,
                     bool joined)
{
	assert(b->trace->op_count);
	struct trace_op *op = &b->trace->ops[b->trace->op_count - 1];
	op->strength = (uint8_t)strength;
	op->joined = joined;
}

void trace_op_list(struct trace_builder *b)
{
	assert(b->trace->op_count);
	b->trace->ops[b->trace->op_count - 1].flags |= TRACE_LIST;
}

void trace_key_versions(struct trace_builder *b, uint32_t key,
                        const struct trace_value *values, uint32_t count)
{
	assert(key < b->trace->key_count);
	VEC_RESERVE(b->versions, b->version_count, b->version_capacity);
	b->versions[b->version_count++] = (struct trace_versions){
		.key = key, .count = count, .first = b->value_count
	};
	for (uint32_t i = 0; i < count; i++) {
		VEC_RESERVE(b->values, b->value_count, b->value_capacity);
		b->values[b->value_count++] = values[i];
	}
}

/* ---- anomalies ---- */

void trace_note_anomaly(struct trace_builder *b, enum trace_anomaly_kind kind,
                        uint32_t transaction, uint32_t op, uint32_t writer,
                        uint32_t other)
{
	VEC_RESERVE(b->anomalies, b->anomaly_count, b->anomaly_capacity);
	b->anomalies[b->anomaly_count++] =
		(struct trace_anomaly){ .kind = kind,
		                        .transaction = transaction,
		                        .op = op,
		                        .writer = writer,
		                        .other = other };
}

void trace_anomaly_add(struct trace_builder *b, enum trace_anomaly_kind kind,
                       uint32_t op, uint32_t other_op)
{
	assert(op < b->trace->op_count);
	assert(other_op == TRACE_NONE || other_op < b->trace->op_count);
	trace_note_anomaly(b, kind, TRACE_NONE, op, TRACE_NOBODY, other_op);
}

static int compare_anomalies(const void *a, const void *b)
{
	const struct trace_anomaly *x = a, *y = b;
	if (x->transaction != y->transaction)
		return x->transaction < y->transaction ? -1 : 1;
	if (x->op != y->op) return x->op < y->op ? -1 : 1;
	return (x->kind > y->kind) - (x->kind < y->kind);
}

/* Those beyond the first are dropped, but for those of transactions with levels
 * of their own, which may allow them. */
static size_t drop_anomalies(struct trace_builder *b, size_t count)
{
	size_t kept = 0;
	for (size_t i = 0; i < count; i++) {
		uint32_t t = b->anomalies[i].transaction;
		if (kept < TRACE_ANOMALIES_KEPT ||
		    b->trace->transactions[t].own)
			b->anomalies[kept++] = b->anomalies[i];
	}
	return kept;
}

/* Sorts and counts them; one of a kind for each read is enough. */
static void keep_anomalies(struct trace_builder *b)
{
	struct trace *t = b->trace;
	size_t count = 0;
	if (b->anomaly_count)
		qsort(b->anomalies, b->anomaly_count, sizeof *b->anomalies,
		      compare_anomalies);
	for (size_t i = 0; i < b->anomaly_count; i++) {
		struct trace_anomaly *a = &b->anomalies[i];
		if (count && !compare_anomalies(a, &b->anomalies[count - 1]))
			continue;
		t->anomalies_found[a->kind]++;
		b->anomalies[count++] = *a;
	}
	count = drop_anomalies(b, count);
	t->anomalies =
		mem_grow(b->anomalies, count ? count : 1, sizeof *t->anomalies);
	t->anomaly_count = (uint32_t)count;
	b->anomalies = NULL;
}

/* ---- finishing ---- */

static void report_too_many(const struct trace_builder *b, struct diags *d)
{
	uint32_t most = b->op_limit < b->transaction_limit
	                        ? b->op_limit
	                        : b->transaction_limit;
	diags_add(d, DIAG_ERROR, b->trace->file, b->trace->line, 0, NULL,
	          "the history has more than %" PRIu32 " operations or "
	          "transactions, the most that isoscope holds; check a "
	          "shorter part of it",
	          most);
}

static bool check_frame(const struct trace_builder *b, struct diags *d)
{
	const struct trace *t = b->trace;
	uint32_t last = 0;
	if (b->too_many)
		report_too_many(b, d);
	else if (!t->session_count)
		diags_add(d, DIAG_ERROR, t->file, t->line, 0, NULL,
		          "the history has no session: nothing was recorded, "
		          "or the file has another format (see --format)");
	for (uint32_t s = 0; s < t->session_count; s++)
		last += t->sessions[s].after_all;
	if (last > 1)
		diags_add(d, DIAG_ERROR, t->file, t->line, 0, NULL,
		          "%" PRIu32 " sessions follow all others; only one "
		          "can",
		          last);
	return !b->too_many && t->session_count && last <= 1;
}

/* Gives back what growing took too much, and the flags that were ours. */
static void tidy(struct trace_builder *b)
{
	struct trace *t = b->trace;
	trace_move_unseen(b);
	t->op_count -= b->initial_ops;
	if (b->version_count || b->duplicates)
		for (uint32_t i = 0; i < t->op_count; i++)
			t->ops[i].flags &=
				(uint8_t) ~(OP_DUPLICATE | OP_LISTED);
	for (uint32_t k = 0; k < t->key_count; k++)
		t->keys[k].initial.flags &= (uint8_t)~KEY_GIVEN;
	if (t->op_count) t->ops = mem_grow(t->ops, t->op_count, sizeof *t->ops);
	if (t->key_count)
		t->keys = mem_grow(t->keys, t->key_count, sizeof *t->keys);
}

/* The errors of the frame have been looked for. */
static struct trace *finish(struct trace_builder *b, struct diags *d)
{
	b->diags = d;
	trace_sort(b);
	bool resolved = trace_resolve(b);
	if (b->too_many) report_too_many(b, d);
	if (!resolved || b->too_many) {
		trace_builder_free(b);
		return NULL;
	}
	trace_resolve_versions(b);
	keep_anomalies(b);
	tidy(b);
	struct trace *t = b->trace;
	free_shell(b);
	return t;
}

struct trace *trace_builder_finish(struct trace_builder *b, struct diags *d)
{
	if (!check_frame(b, d)) {
		trace_builder_free(b);
		return NULL;
	}
	return finish(b, d);
}

struct trace *trace_builder_trust(struct trace_builder *b)
{
	assert(b->sourced == b->reads && !b->too_many);
	b->trusted = true;
	return finish(b, NULL);
}
