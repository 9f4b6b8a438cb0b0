#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/memory.h"
#include "history/trace_builder.h"

enum { ERRORS_MOST = 8 }; /* the first ones say what is wrong */

/* ---- the writes, by value, by writer, or by both ---- */

static struct table_probe probe_of(uint64_t seed, uint32_t key, int64_t value,
                                   uint8_t flags)
{
	uint64_t where = seed << 32 | key;
	return table_probe(
		hash_mix(hash_mix(value_kind(flags), where), (uint64_t)value));
}

/* Memory is far away: what will be asked for is fetched some operations
 * ahead, first the slot, then the write that it names. Always inlined, because
 * gcc drops calls of functions that do nothing but fetch. */
#define FETCH static inline __attribute__((always_inline)) void
enum { FETCH_SLOT = 12, FETCH_WRITE = 6 };

FETCH fetch_slot(const struct trace_builder *b, uint32_t i)
{
	const struct trace *t = b->trace;
	if (i + FETCH_SLOT >= t->op_count) return;
	const struct trace_op *op = &t->ops[i + FETCH_SLOT];
	uint32_t tag = probe_of(0, op->key, op->value, op->flags).tag;
	__builtin_prefetch(&b->by_value.slots[tag & b->by_value.mask]);
	__builtin_prefetch(&b->last_write[op->key]);
}

FETCH fetch_write(const struct trace_builder *b, uint32_t i)
{
	const struct trace *t = b->trace;
	if (i + FETCH_WRITE >= t->op_count) return;
	const struct trace_op *op = &t->ops[i + FETCH_WRITE];
	uint32_t tag = probe_of(0, op->key, op->value, op->flags).tag;
	uint32_t item = b->by_value.slots[tag & b->by_value.mask].item;
	if (item && op->kind == EVENT_READ)
		__builtin_prefetch(&t->ops[item - 1]);
}

uint32_t trace_find_value(const struct trace_builder *b, uint32_t key,
                          int64_t value, uint8_t flags)
{
	const struct trace_op *ops = b->trace->ops;
	struct table_probe probe = probe_of(0, key, value, flags);
	uint32_t i;
	while ((i = table_next(&b->by_value, &probe)) != TABLE_NONE)
		if (ops[i].key == key && op_has_value(&ops[i], value, flags))
			return i;
	return TABLE_NONE;
}

static bool same_write(const struct trace_op *a, const struct trace_op *b)
{
	return a->key == b->key && op_has_value(a, b->value, b->flags);
}

void trace_enter_value(struct trace_builder *b, uint32_t op)
{
	const struct trace_op *w = &b->trace->ops[op];
	struct table_probe probe = probe_of(0, w->key, w->value, w->flags);
	while (table_next(&b->by_value, &probe) != TABLE_NONE) continue;
	table_put(&b->by_value, probe, op);
}

/* Enters a write; returns the write of the same value by another transaction,
 * or twice by this one when that matters, that is there already. A repetition
 * of this transaction's replaces the earlier one. */
static uint32_t enter_value(struct trace_builder *b, uint32_t op, bool strict)
{
	const struct trace_op *ops = b->trace->ops, *w = &ops[op];
	struct table_probe probe = probe_of(0, w->key, w->value, w->flags);
	uint32_t i;
	while ((i = table_next(&b->by_value, &probe)) != TABLE_NONE) {
		if (!same_write(&ops[i], w)) continue;
		if (strict || ops[i].from != w->from) return i;
		table_replace(&b->by_value, probe, op);
		return TABLE_NONE;
	}
	table_put(&b->by_value, probe, op);
	return TABLE_NONE;
}

/* Of equal writes of one transaction the last counts. */
static void enter_source(struct trace_builder *b, uint32_t op)
{
	const struct trace_op *ops = b->trace->ops, *w = &ops[op];
	struct table_probe probe =
		probe_of(w->from + UINT64_C(1), w->key, w->value, w->flags);
	uint32_t i;
	while ((i = table_next(&b->by_source, &probe)) != TABLE_NONE) {
		if (ops[i].from != w->from || !same_write(&ops[i], w)) continue;
		table_replace(&b->by_source, probe, op);
		return;
	}
	table_put(&b->by_source, probe, op);
}

static void index_sources(struct trace_builder *b)
{
	const struct trace *t = b->trace;
	uint32_t writes = t->op_count - b->reads;
	table_init(&b->by_source, writes);
	table_init(&b->finals, 0);
	for (uint32_t i = 0; i < t->op_count; i++) {
		const struct trace_op *op = &t->ops[i];
		if (op->kind != EVENT_WRITE) continue;
		enter_source(b, i);
		if (!(op->flags & TRACE_FINAL)) continue;
		struct table_probe probe =
			probe_of(op->from + UINT64_C(1), op->key, 0, 0);
		while (table_next(&b->finals, &probe) != TABLE_NONE) continue;
		table_put(&b->finals, probe, i);
	}
}

/* The writer's write of this value, or TABLE_NONE. */
static uint32_t find_source(struct trace_builder *b, uint32_t writer,
                            const struct trace_op *read)
{
	const struct trace_op *ops = b->trace->ops;
	if (!b->by_source.slots) index_sources(b);
	struct table_probe probe = probe_of(writer + UINT64_C(1), read->key,
	                                    read->value, read->flags);
	uint32_t i;
	while ((i = table_next(&b->by_source, &probe)) != TABLE_NONE)
		if (ops[i].from == writer && same_write(&ops[i], read))
			return i;
	return TABLE_NONE;
}

/* The writer's last write of the key, or TABLE_NONE. */
static uint32_t find_final(struct trace_builder *b, uint32_t writer,
                           uint32_t key)
{
	const struct trace_op *ops = b->trace->ops;
	if (!b->by_source.slots) index_sources(b);
	struct table_probe probe = probe_of(writer + UINT64_C(1), key, 0, 0);
	uint32_t i;
	while ((i = table_next(&b->finals, &probe)) != TABLE_NONE)
		if (ops[i].from == writer && ops[i].key == key) return i;
	return TABLE_NONE;
}

/* ---- errors ---- */

/* "3.1 t17 (line 12)" */
static void print_place(struct text *t, const struct trace *r,
                        uint32_t transaction, uint32_t line)
{
	trace_print_transaction(t, r, transaction);
	if (line) text_format(t, " (line %" PRIu32 ")", line);
}

static void print_write(struct text *t, const struct trace *r, uint32_t op)
{
	if (r->ops[op].from == TRACE_INIT)
		text_string(t, "the initial transaction");
	else
		trace_print_transaction(t, r, r->ops[op].from);
	if (r->ops[op].line)
		text_format(t, " (line %" PRIu32 ")", r->ops[op].line);
}

static void print_value(struct text *t, const struct trace *r,
                        const struct trace_op *op)
{
	trace_print_value(t, r, op->value, op->flags);
}

static void report(struct trace_builder *b, uint32_t line, struct text *t)
{
	if (b->errors++ < ERRORS_MOST)
		diags_add(b->diags, DIAG_ERROR, b->trace->file, line, 0, NULL,
		          "%s", text_get(t));
	text_free(t);
}

/* What to do about errors of this kind; not again if the last one was alike. */
static void advise(struct trace_builder *b, struct text *t, const char *advice)
{
	if (b->advised != advice) text_string(t, advice);
	b->advised = advice;
}

static bool is_initial(const struct trace_builder *b, const struct trace_op *op)
{
	struct trace_value v = b->trace->keys[op->key].initial;
	return op_has_value(op, v.number, v.flags);
}

static void report_twice(struct trace_builder *b, uint32_t x, uint32_t y)
{
	static const char twice[] =
		"; it is then unclear who reads it: each write of a key needs "
		"a value of its own, or a format that names the writer that is "
		"read (isoscope)";
	const struct trace *r = b->trace;
	struct text t = { 0 };
	if (b->errors >= ERRORS_MOST) return;
	if (r->ops[x].line > r->ops[y].line) {
		uint32_t earlier = y;
		y = x;
		x = earlier;
	}
	text_string(&t, "the value ");
	print_value(&t, r, &r->ops[y]);
	text_string(&t, " is written twice to key ");
	trace_print_key(&t, r, r->ops[y].key);
	text_string(&t, ", by ");
	print_write(&t, r, x);
	text_string(&t, r->ops[x].from == r->ops[y].from ? " and again by "
	                                                 : " and by ");
	print_write(&t, r, y);
	advise(b, &t, twice);
	report(b, r->ops[y].line, &t);
}

/* Where 0 stands for what was there before, and somebody else wrote it. */
static void report_initial_write(struct trace_builder *b, uint32_t op)
{
	static const char initial[] =
		"; it is then unclear who reads it: write another value, or "
		"use a format that names the writer that is read (isoscope)";
	const struct trace *r = b->trace;
	struct text t = { 0 };
	if (b->errors >= ERRORS_MOST) return;
	print_write(&t, r, op);
	text_string(&t, " writes ");
	print_value(&t, r, &r->ops[op]);
	text_string(&t, " to key ");
	trace_print_key(&t, r, r->ops[op].key);
	text_string(&t, ", which in this format is the value that it has "
	                "initially");
	advise(b, &t, initial);
	report(b, r->ops[op].line, &t);
}

/* "3.1 t17 (line 12) reads 5 from key x" */
static void print_read(struct text *t, const struct trace *r,
                       uint32_t transaction, const struct trace_op *op)
{
	print_place(t, r, transaction, op->line);
	text_string(t, " reads ");
	if (!(op->flags & TRACE_MISSING)) {
		text_string(t, "the value ");
		print_value(t, r, op);
		text_string(t, " of ");
	}
	text_string(t, "key ");
	trace_print_key(t, r, op->key);
}

/* Another write of the value than `op` by another transaction. */
static uint32_t find_other(const struct trace *r, uint32_t op)
{
	const struct trace_op *w = &r->ops[op];
	for (uint32_t i = 0; i < r->op_count; i++)
		if (r->ops[i].kind == EVENT_WRITE &&
		    r->ops[i].from != w->from && same_write(&r->ops[i], w))
			return i;
	return op;
}

static void report_ambiguous(struct trace_builder *b, uint32_t transaction,
                             const struct trace_op *read, uint32_t write)
{
	static const char name_it[] = "; the read has to name its writer";
	const struct trace *r = b->trace;
	struct text t = { 0 };
	if (b->errors >= ERRORS_MOST) return;
	print_read(&t, r, transaction, read);
	text_string(&t, ", which two transactions wrote: ");
	print_write(&t, r, write);
	text_string(&t, " and ");
	print_write(&t, r, find_other(r, write));
	advise(b, &t, name_it);
	report(b, read->line, &t);
}

/* Do reads name their writers, so that values may be written again? */
static bool names_writers(const struct trace_builder *b)
{
	return b->rules.sources || b->sourced;
}

/* May an initial value of the key be read where this was written? */
static bool means_initial(const struct trace_builder *b,
                          const struct trace_op *write)
{
	return !names_writers(b) && b->rules.initial_transaction &&
	       !b->rules.initial_written && write->from != TRACE_INIT &&
	       is_initial(b, write);
}

/* A read of what this duplicate wrote: of each of these one error tells. */
static void report_duplicate(struct trace_builder *b, uint32_t transaction,
                             const struct trace_op *read, uint32_t write)
{
	struct trace_op *w = &b->trace->ops[write];
	assert(w->kind == EVENT_WRITE && w->flags & OP_DUPLICATE);
	if (names_writers(b)) {
		report_ambiguous(b, transaction, read, write);
		return;
	}
	if (w->flags & OP_TOLD) return;
	w->flags |= OP_TOLD;
	if (means_initial(b, w))
		report_initial_write(b, write);
	else
		report_twice(b, write, find_other(b->trace, write));
}

/* The source that the file names did not write the key, or (`wrote`) wrote
 * another value. */
static void report_source(struct trace_builder *b, uint32_t transaction,
                          const struct trace_op *read, uint32_t source,
                          uint32_t wrote)
{
	static const char correct[] =
		"; correct the writer or the value, or leave the writer out "
		"where values tell it";
	const struct trace *r = b->trace;
	struct text t = { 0 };
	if (b->errors >= ERRORS_MOST) return;
	print_read(&t, r, transaction, read);
	text_string(&t, " from ");
	if (source == transaction)
		text_string(&t, "itself");
	else
		trace_print_transaction(&t, r, source);
	if (wrote == TABLE_NONE) {
		text_string(&t, ", which does not write that key");
		if (source == transaction) text_string(&t, " before");
	} else {
		text_string(&t, ", which writes ");
		print_value(&t, r, &r->ops[wrote]);
		text_string(&t, " to it");
		if (r->ops[wrote].line)
			text_format(&t, " (line %" PRIu32 ")",
			            r->ops[wrote].line);
	}
	advise(b, &t, correct);
	report(b, read->line, &t);
}

static void report_initial(struct trace_builder *b, uint32_t transaction,
                           const struct trace_op *read)
{
	static const char either[] = "; correct the one or the other";
	const struct trace *r = b->trace;
	struct trace_value v = r->keys[read->key].initial;
	struct text t = { 0 };
	if (b->errors >= ERRORS_MOST) return;
	print_read(&t, r, transaction, read);
	text_string(&t, " from init, but the initial value of that key is ");
	trace_print_value(&t, r, v.number, v.flags);
	advise(b, &t, either);
	report(b, read->line, &t);
}

static void report_nothing(struct trace_builder *b, uint32_t transaction,
                           const struct trace_op *read)
{
	struct text t = { 0 };
	if (b->errors >= ERRORS_MOST) return;
	print_read(&t, b->trace, transaction, read);
	text_string(&t, " with neither a value nor a writer: one of them is "
	                "needed");
	report(b, read->line, &t);
}

static void report_no_lock(struct trace_builder *b, uint32_t transaction,
                           const struct trace_op *end)
{
	struct text t = { 0 };
	if (b->errors >= ERRORS_MOST) return;
	print_place(&t, b->trace, transaction, end->line);
	text_string(&t, " gives up a lock of key ");
	trace_print_key(&t, b->trace, end->key);
	text_string(&t, ", but has none that a read took");
	report(b, end->line, &t);
}

/* ---- writes ---- */

/* Where the file does not say what a key has initially, a read from init by
 * name does. */
static void learn_initial(struct trace_builder *b, const struct trace_op *op)
{
	struct trace_value *v = &b->trace->keys[op->key].initial;
	if (op->from != TRACE_INIT || op->flags & TRACE_MISSING ||
	    v->flags & KEY_GIVEN)
		return;
	*v = (struct trace_value){ .number = op->value,
		                   .flags = value_kind(op->flags) | KEY_GIVEN };
}

struct writes {
	bool indexed; /* are writes looked up by value? */
	bool strict;  /* is a value written twice an error at once? Of lists,
	               * where any later read has it. Else only where it is
	               * read and nothing says from whom */
};

static void mark_duplicate(struct trace_builder *b, struct trace_op *op)
{
	op->flags |= OP_DUPLICATE;
	b->duplicates = true;
}

static void take_write(struct trace_builder *b, uint32_t transaction,
                       uint32_t i, uint32_t first, struct writes how)
{
	struct trace_op *ops = b->trace->ops, *op = &ops[i];
	uint32_t *last = &b->last_write[op->key];
	if (*last != TABLE_NONE && *last >= first && *last < i)
		ops[*last].flags &= (uint8_t)~TRACE_FINAL;
	*last = i;
	op->from = transaction;
	op->flags |= TRACE_FINAL;
	if (!how.indexed) return;
	if (means_initial(b, op)) mark_duplicate(b, op);
	uint32_t other = enter_value(b, i, how.strict);
	if (other == TABLE_NONE) return;
	if (how.strict)
		report_twice(b, other, i);
	else
		mark_duplicate(b, &ops[other]);
}

static void take_writes(struct trace_builder *b, uint32_t transaction,
                        uint32_t first, uint32_t count, struct writes how)
{
	const struct trace_op *ops = b->trace->ops;
	for (uint32_t i = first; i < first + count; i++) {
		if (how.indexed) fetch_slot(b, i);
		if (ops[i].kind == EVENT_WRITE)
			take_write(b, transaction, i, first, how);
		else
			learn_initial(b, &ops[i]);
	}
}

/* In the order of the file, so that memory is passed once. */
static void take_all_writes(struct trace_builder *b)
{
	const struct trace *t = b->trace;
	bool named = names_writers(b);
	struct writes how = { .indexed = !named || b->sourced < b->reads ||
		                         b->version_count,
		              .strict = !named && b->rules.lists };
	table_init(&b->by_value, how.indexed ? t->op_count - b->reads : 0);
	b->last_write =
		mem_take((t->key_count + (size_t)1) * sizeof *b->last_write);
	for (uint32_t k = 0; k < t->key_count; k++)
		b->last_write[k] = TABLE_NONE;
	for (uint32_t h = 1; h < b->handles; h++) {
		uint32_t i = b->number[h];
		const struct trace_transaction *w = &t->transactions[i];
		if (i) take_writes(b, i, w->first_op, w->op_count, how);
	}
	take_writes(b, TRACE_INIT, t->op_count - b->initial_ops, b->initial_ops,
	            how);
}

/* ---- reads ---- */

/* Somebody read from this transaction: if its outcome was not known, it did
 * commit, and its own reads count. */
static void was_read(struct trace_builder *b, uint32_t writer)
{
	struct trace_transaction *w = &b->trace->transactions[writer];
	if (!b->outcomes || w->status != TRACE_UNKNOWN) return;
	w->status = TRACE_COMMITTED;
	VEC_RESERVE(b->confirmed, b->confirmed_count, b->confirmed_capacity);
	b->confirmed[b->confirmed_count++] = writer;
}

static void fill_in(struct trace_op *read, int64_t value, uint8_t flags)
{
	if (!(read->flags & TRACE_MISSING)) return;
	read->value = value;
	read->flags &= (uint8_t)~TRACE_MISSING;
	read->flags |= value_kind(flags);
}

/* Operation i of t reads what operation j wrote, which is not an earlier one
 * of t. */
static void read_write(struct trace_builder *b, uint32_t t, uint32_t i,
                       uint32_t j)
{
	struct trace_op *read = &b->trace->ops[i];
	const struct trace_op *write = &b->trace->ops[j];
	uint32_t writer = write->from;
	fill_in(read, write->value, write->flags);
	read->from = TRACE_NOBODY;
	if (writer == t) {
		trace_note_anomaly(b, ANOMALY_FUTURE, t, i, TRACE_NOBODY, j);
		return;
	}
	if (b->outcomes &&
	    b->trace->transactions[writer].status == TRACE_ABORTED) {
		trace_note_anomaly(b, ANOMALY_ABORTED, t, i, writer, j);
		return;
	}
	if (!(write->flags & TRACE_FINAL))
		trace_note_anomaly(b, ANOMALY_INTERMEDIATE, t, i, writer, j);
	was_read(b, writer);
	read->from = writer;
}

/* The value of a read that the file says to be from elsewhere. */
static void fill_from(struct trace_builder *b, struct trace_op *read,
                      uint32_t source)
{
	struct trace_value v = b->trace->keys[read->key].initial;
	uint32_t j = TABLE_NONE;
	if (source != TRACE_INIT) j = find_final(b, source, read->key);
	if (j != TABLE_NONE)
		fill_in(read, b->trace->ops[j].value, b->trace->ops[j].flags);
	else
		fill_in(read, v.number, v.flags);
}

/* The transaction wrote the key before, by operation `own`; the file says that
 * it read from `source`, which is TRACE_NOBODY if it does not say. */
static void read_own(struct trace_builder *b, uint32_t t, uint32_t i,
                     uint32_t own, uint32_t source)
{
	struct trace_op *read = &b->trace->ops[i];
	const struct trace_op *write = &b->trace->ops[own];
	bool elsewhere = source < TRACE_NOBODY;
	if (elsewhere)
		fill_from(b, read, source);
	else
		fill_in(read, write->value, write->flags);
	read->from = TRACE_SELF;
	if (!elsewhere && op_has_value(read, write->value, write->flags))
		return;
	read->from = TRACE_NOBODY;
	trace_note_anomaly(b, ANOMALY_INTERNAL, t, i, TRACE_NOBODY, own);
}

/* A value that nobody wrote, and that may have been there initially. */
static void note_unwritten(struct trace_builder *b, uint32_t i)
{
	VEC_RESERVE(b->unwritten, b->unwritten_count, b->unwritten_capacity);
	b->trace->ops[i].from = TRACE_NOBODY;
	b->unwritten[b->unwritten_count++] = i;
}

static void read_by_value(struct trace_builder *b, uint32_t t, uint32_t i)
{
	struct trace_op *read = &b->trace->ops[i];
	if (read->flags & TRACE_MISSING) {
		report_nothing(b, t, read);
		return;
	}
	uint32_t j = trace_find_value(b, read->key, read->value, read->flags);
	if (j != TABLE_NONE && b->trace->ops[j].flags & OP_DUPLICATE) {
		report_duplicate(b, t, read, j);
	} else if (j != TABLE_NONE) {
		read_write(b, t, i, j);
	} else if (is_initial(b, read)) {
		read->from = TRACE_INIT;
	} else if (b->rules.unknown_is_initial) {
		note_unwritten(b, i);
	} else {
		trace_note_anomaly(b, ANOMALY_THIN_AIR, t, i, TRACE_NOBODY,
		                   TRACE_NONE);
	}
}

static void read_from_init(struct trace_builder *b, uint32_t t, uint32_t i)
{
	struct trace_op *read = &b->trace->ops[i];
	struct trace_value v = b->trace->keys[read->key].initial;
	fill_in(read, v.number, v.flags);
	if (is_initial(b, read)) return;
	if (b->rules.unknown_is_initial)
		note_unwritten(b, i);
	else
		report_initial(b, t, read);
}

static void read_from_source(struct trace_builder *b, uint32_t t, uint32_t i,
                             uint32_t source)
{
	struct trace_op *read = &b->trace->ops[i];
	uint32_t j = read->flags & TRACE_MISSING
	                     ? find_final(b, source, read->key)
	                     : find_source(b, source, read);
	if (j != TABLE_NONE)
		read_write(b, t, i, j);
	else
		report_source(b, t, read, source,
		              find_final(b, source, read->key));
}

uint32_t trace_given_up(const struct trace_op *ops, uint32_t end,
                        uint32_t first)
{
	uint32_t locks = 1;
	assert(ops[end].strength == STRENGTH_GIVEN_UP);
	for (uint32_t k = end; k-- > first;) {
		const struct trace_op *op = &ops[k];
		bool ends = op->strength == STRENGTH_GIVEN_UP;
		bool own = op->kind == EVENT_WRITE || op->from == TRACE_SELF;
		if (op->key != ops[end].key || op->strength == STRENGTH_PLAIN ||
		    (own && !ends))
			continue;
		locks += ends ? 1u : -1u;
		if (!locks) return k;
	}
	return TRACE_NONE;
}

static void resolve_read(struct trace_builder *b, uint32_t t, uint32_t i,
                         uint32_t first)
{
	const struct trace_op *read = &b->trace->ops[i];
	if (read->strength == STRENGTH_GIVEN_UP) {
		if (trace_given_up(b->trace->ops, i, first) == TRACE_NONE)
			report_no_lock(b, t, read);
		return;
	}
	uint32_t own = b->last_write[read->key], from = read->from;
	bool named = from < TRACE_NOBODY;
	if (named && from != TRACE_INIT) {
		assert(from < b->handles);
		from = b->number[from];
		if (from == t) from = TRACE_SELF;
	}
	if (from == TRACE_NOBODY && read->flags & TRACE_MISSING)
		report_nothing(b, t, read);
	else if (own != TABLE_NONE && own >= first && own < i)
		read_own(b, t, i, own, from);
	else if (from == TRACE_NOBODY)
		read_by_value(b, t, i);
	else if (from == TRACE_INIT)
		read_from_init(b, t, i);
	else
		read_from_source(b, t, i, from == TRACE_SELF ? t : from);
}

/* A source that is known to have written the key. */
static void take_source(struct trace_builder *b, uint32_t t, uint32_t i)
{
	struct trace_op *read = &b->trace->ops[i];
	uint32_t from = read->from;
	if (from >= TRACE_NOBODY) return;
	read->from = from = b->number[from];
	if (b->trace->transactions[from].status != TRACE_ABORTED) return;
	read->from = TRACE_NOBODY;
	trace_note_anomaly(b, ANOMALY_ABORTED, t, i, from,
	                   find_final(b, from, read->key));
}

static void resolve_reads(struct trace_builder *b, uint32_t t, bool count)
{
	struct trace_op *ops = b->trace->ops;
	const struct trace_transaction *w = &b->trace->transactions[t];
	uint32_t first = w->first_op;
	for (uint32_t i = first; i < first + w->op_count; i++) {
		fetch_slot(b, i);
		fetch_write(b, i);
		if (ops[i].kind == EVENT_WRITE)
			b->last_write[ops[i].key] = i;
		else if (count && b->trusted)
			take_source(b, t, i);
		else if (count)
			resolve_read(b, t, i, first);
		else
			ops[i].from = TRACE_NOBODY;
	}
}

/* What is in a list was read, whoever read it. */
static void confirm_listed(struct trace_builder *b)
{
	for (size_t l = 0; l < b->version_count; l++)
		for (uint32_t i = 0; i < b->versions[l].count; i++) {
			struct trace_value v =
				b->values[b->versions[l].first + i];
			uint32_t op = trace_find_value(b, b->versions[l].key,
			                               v.number, v.flags);
			if (op != TABLE_NONE)
				was_read(b, b->trace->ops[op].from);
		}
}

/* Transactions of unknown outcome: those that were read from, by one whose
 * reads count, committed, so their reads count too; of the others nothing is
 * known to have happened. */
static void resolve_unknown(struct trace_builder *b, const bool *unknown)
{
	const struct trace *t = b->trace;
	confirm_listed(b);
	for (size_t i = 0; i < b->confirmed_count; i++)
		resolve_reads(b, b->confirmed[i], true);
	for (uint32_t i = 1; i < t->transaction_count; i++)
		if (unknown[i] && t->transactions[i].status == TRACE_UNKNOWN)
			resolve_reads(b, i, false);
}

bool trace_resolve(struct trace_builder *b)
{
	const struct trace *t = b->trace;
	take_all_writes(b);
	if (b->errors) return false;
	/* As they were before reads make some of them committed. */
	bool *unknown = mem_take0(b->handles, sizeof *unknown);
	for (uint32_t i = 1; i < t->transaction_count; i++)
		unknown[i] = t->transactions[i].status == TRACE_UNKNOWN;
	for (uint32_t h = 1; h < b->handles; h++) {
		uint32_t i = b->number[h];
		if (i && !unknown[i])
			resolve_reads(b, i,
			              t->transactions[i].status ==
			                              TRACE_COMMITTED ||
			                      b->rules.aborted_reads);
	}
	if (b->outcomes) resolve_unknown(b, unknown);
	free(unknown);
	if (b->rules.unknown_is_initial && !b->errors) trace_add_unseen(b);
	return !b->errors;
}
