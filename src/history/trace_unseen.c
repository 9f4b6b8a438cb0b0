/* Values that nobody wrote, where they are to be taken for initial ones.
 *
 * If only one such value of a key was read, and nobody read what the file calls
 * its initial value, then that is it. Otherwise at most one of them can be, and
 * of the others the record lacks the writers, whenever these ran: each value is
 * then written by a transaction of its own, in a session of its own, of which
 * nothing else is known. That allows most: a writer of several such values, one
 * that reads, or init itself, could only be told apart by more that a level
 * asks for. Of a list, the elements that nobody wrote are appended by the
 * transactions of one session, in the order of the list.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "history/trace_builder.h"

enum known_values { NO_VALUE, ONE_VALUE, SEVERAL };

static uint32_t add_session(struct trace_builder *b)
{
	struct trace *t = b->trace;
	char name[24];
	int length =
		snprintf(name, sizeof name, "unseen%u", ++b->unseen_sessions);
	VEC_RESERVE(t->sessions, t->session_count, b->session_capacity);
	t->sessions[t->session_count] = (struct trace_session){
		.name = region_copy_string(&t->region, name, (size_t)length),
		.first = t->transaction_count
	};
	return t->session_count++;
}

/* In the last session. */
static void add_writer(struct trace_builder *b, uint32_t key,
                       struct trace_value value)
{
	struct trace *t = b->trace;
	uint8_t list = t->lists ? TRACE_LIST : 0;
	uint32_t transaction = t->transaction_count;
	if (t->op_count >= b->op_limit ||
	    t->transaction_count >= b->transaction_limit) {
		b->too_many = true;
		return;
	}
	VEC_RESERVE(t->transactions, t->transaction_count,
	            b->transaction_capacity);
	t->transactions[t->transaction_count++] =
		(struct trace_transaction){ .session = t->session_count - 1,
		                            .status = TRACE_COMMITTED,
		                            .first_op = t->op_count,
		                            .op_count = 1 };
	t->sessions[t->session_count - 1].count++;
	VEC_RESERVE(t->ops, t->op_count, b->op_capacity);
	t->ops[t->op_count] = (struct trace_op){
		.value = value.number,
		.key = key,
		.from = transaction,
		.kind = EVENT_WRITE,
		.flags = (uint8_t)(value_kind(value.flags) | TRACE_FINAL | list)
	};
	trace_enter_value(b, t->op_count++);
	b->unseen++;
}

static void complete_list(struct trace_builder *b,
                          const struct trace_versions *list)
{
	bool begun = false;
	for (uint32_t i = 0; i < list->count; i++) {
		struct trace_value v = b->values[list->first + i];
		if (trace_find_value(b, list->key, v.number, v.flags) !=
		    TABLE_NONE)
			continue;
		if (!begun) add_session(b);
		begun = true;
		add_writer(b, list->key, v);
	}
}

/* By key: which values were read that nobody wrote, or init did. */
static uint8_t *find_values(const struct trace_builder *b)
{
	const struct trace *t = b->trace;
	uint8_t *values = mem_take0(t->key_count, sizeof *values);
	uint32_t *first = mem_take(t->key_count * sizeof *first);
	for (size_t i = 0; i < b->unwritten_count; i++) {
		const struct trace_op *op = &t->ops[b->unwritten[i]];
		if (values[op->key] == NO_VALUE) {
			values[op->key] = ONE_VALUE;
			first[op->key] = b->unwritten[i];
		} else if (!op_has_value(&t->ops[first[op->key]], op->value,
		                         op->flags)) {
			values[op->key] = SEVERAL;
		}
	}
	for (uint32_t i = 0; i < t->op_count; i++)
		if (t->ops[i].kind == EVENT_READ &&
		    t->ops[i].from == TRACE_INIT &&
		    values[t->ops[i].key] == ONE_VALUE)
			values[t->ops[i].key] = SEVERAL;
	free(first);
	return values;
}

/* The value becomes the initial one, as the key has it. */
static void take_initial(struct trace_builder *b, struct trace_op *read)
{
	const uint8_t kinds = TRACE_TEXT | TRACE_NULL | TRACE_MISSING;
	struct trace_value v = b->trace->keys[read->key].initial;
	read->from = TRACE_INIT;
	read->value = v.number;
	read->flags = (uint8_t)((read->flags & ~kinds) | (v.flags & kinds));
}

/* A read that names init is of init if somebody seen wrote the value. */
static void take_read(struct trace_builder *b, uint32_t i, bool initial)
{
	struct trace_op read = b->trace->ops[i];
	uint32_t op = trace_find_value(b, read.key, read.value, read.flags);
	uint32_t seen = b->trace->transaction_count - b->unseen;
	bool written = op != TABLE_NONE;
	if (written ? b->trace->ops[op].from < seen : initial) {
		take_initial(b, &b->trace->ops[i]);
		return;
	}
	if (!written) {
		struct trace_value v = { read.value, value_kind(read.flags) };
		op = b->trace->op_count;
		add_session(b);
		add_writer(b, read.key, v);
		if (b->too_many) return;
	}
	b->trace->ops[i].from = b->trace->ops[op].from;
}

void trace_add_unseen(struct trace_builder *b)
{
	assert(b->rules.unknown_is_initial && !b->unseen);
	for (size_t l = 0; l < b->version_count; l++)
		complete_list(b, &b->versions[l]);
	if (!b->unwritten_count) return;
	uint8_t *values = find_values(b);
	for (size_t i = 0; i < b->unwritten_count; i++) {
		uint32_t key = b->trace->ops[b->unwritten[i]].key;
		take_read(b, b->unwritten[i], values[key] == ONE_VALUE);
	}
	free(values);
}

void trace_move_unseen(struct trace_builder *b)
{
	struct trace *t = b->trace;
	if (!b->unseen || !b->initial_ops) return;
	uint32_t to = t->op_count - b->unseen - b->initial_ops;
	memmove(t->ops + to, t->ops + to + b->initial_ops,
	        b->unseen * sizeof *t->ops);
	for (uint32_t i = 0; i < b->unseen; i++)
		t->transactions[t->transaction_count - b->unseen + i].first_op =
			to + i;
}
