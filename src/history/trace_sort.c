#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "history/trace_builder.h"

/* ---- transactions that stand for init ---- */

static bool writes_initial(const struct trace_builder *b,
                           const struct trace_op *op)
{
	struct trace_value v = b->trace->keys[op->key].initial;
	return op->kind == EVENT_WRITE && op_has_value(op, v.number, v.flags);
}

static uint32_t run_end(const struct trace_builder *b, size_t run)
{
	return run + 1 < b->run_count ? b->runs[run + 1].first
	                              : b->trace->op_count;
}

/* Those that write initial values and nothing else, and that nothing but such
 * transactions precedes in their session. That no other transaction writes
 * these values follows later: values written twice are an error. */
static bool *find_initial(const struct trace_builder *b)
{
	const struct trace *t = b->trace;
	bool *initial = mem_take0(t->transaction_count, sizeof *initial);
	bool *begun = mem_take0(t->session_count, sizeof *begun);
	for (uint32_t h = 1; h < t->transaction_count; h++)
		initial[h] = b->rules.initial_transaction &&
		             t->transactions[h].op_count &&
		             t->transactions[h].status == TRACE_COMMITTED;
	for (size_t r = 0; r < b->run_count; r++) {
		bool *all = &initial[b->runs[r].transaction];
		uint32_t end = run_end(b, r);
		for (uint32_t i = b->runs[r].first; *all && i < end; i++)
			*all = writes_initial(b, &t->ops[i]);
	}
	for (uint32_t h = 1; h < t->transaction_count; h++) {
		bool *before = &begun[t->transactions[h].session];
		initial[h] = initial[h] && !*before;
		*before = !initial[h];
	}
	free(begun);
	return initial;
}

/* ---- numbers ---- */

/* Leaves out the sessions that consist of such transactions, unless no other
 * is left; `count` and `place` of the others move with them. */
static void drop_sessions(struct trace *t, uint32_t *renumber,
                          const uint32_t *all)
{
	uint32_t kept = 0;
	for (uint32_t s = 0; s < t->session_count; s++)
		kept += t->sessions[s].count || !all[s];
	bool keep_all = !kept;
	kept = 0;
	for (uint32_t s = 0; s < t->session_count; s++) {
		renumber[s] = kept;
		if (t->sessions[s].count || !all[s] || keep_all)
			t->sessions[kept++] = t->sessions[s];
	}
	t->session_count = kept;
}

/* Counts the transactions of each session and finds its first number. */
static void place_sessions(struct trace *t, const bool *initial)
{
	uint32_t sessions = t->session_count, first = 1;
	uint32_t *renumber = mem_take0(sessions, sizeof *renumber);
	uint32_t *all = mem_take0(sessions, sizeof *all);
	for (uint32_t h = 1; h < t->transaction_count; h++) {
		struct trace_transaction *w = &t->transactions[h];
		all[w->session]++;
		t->sessions[w->session].count += !initial[h];
	}
	drop_sessions(t, renumber, all);
	for (uint32_t h = 1; h < t->transaction_count; h++)
		t->transactions[h].session =
			renumber[t->transactions[h].session];
	for (uint32_t s = 0; s < t->session_count; s++) {
		t->sessions[s].first = first;
		first += t->sessions[s].count;
	}
	free(renumber);
	free(all);
}

/* In the order of numbers; those that stand for init are no more. */
static void move_transactions(struct trace_builder *b)
{
	struct trace *t = b->trace;
	uint32_t count = 1;
	for (uint32_t h = 1; h < b->handles; h++) count += b->number[h] != 0;
	struct trace_transaction *sorted =
		mem_take((size_t)count * sizeof *sorted);
	sorted[TRACE_INIT] = t->transactions[TRACE_INIT];
	for (uint32_t h = 1; h < b->handles; h++)
		if (b->number[h]) sorted[b->number[h]] = t->transactions[h];
	free(t->transactions);
	t->transactions = sorted;
	t->transaction_count = count;
	b->transaction_capacity = count;
}

static void number_transactions(struct trace_builder *b, const bool *initial)
{
	struct trace *t = b->trace;
	uint32_t *next = mem_take0(t->session_count, sizeof *next);
	b->handles = t->transaction_count;
	b->number = mem_take0(b->handles, sizeof *b->number);
	place_sessions(t, initial);
	for (uint32_t s = 0; s < t->session_count; s++)
		next[s] = t->sessions[s].first;
	for (uint32_t h = 1; h < b->handles; h++)
		if (!initial[h])
			b->number[h] = next[t->transactions[h].session]++;
	free(next);
	move_transactions(b);
}

/* ---- operations ---- */

/* Where each transaction's operations go when all have to move: in the order
 * of numbers, those that stand for init last. */
static void place_operations(struct trace_builder *b)
{
	struct trace *t = b->trace;
	uint32_t place = 0, last = t->op_count - b->initial_ops;
	for (uint32_t i = 1; i < t->transaction_count; i++) {
		t->transactions[i].first_op = place;
		place += t->transactions[i].op_count;
	}
	assert(place == last);
	uint32_t *next = mem_take0(t->transaction_count, sizeof *next);
	for (uint32_t i = 1; i < t->transaction_count; i++)
		next[i] = t->transactions[i].first_op;
	next[TRACE_INIT] = last;
	for (size_t r = 0; r < b->run_count; r++) {
		uint32_t *at = &next[b->number[b->runs[r].transaction]];
		b->runs[r].place = *at;
		*at += run_end(b, r) - b->runs[r].first;
	}
	free(next);
}

static void group_operations(struct trace_builder *b)
{
	struct trace *t = b->trace;
	place_operations(b);
	struct trace_op *sorted =
		mem_take((size_t)t->op_count * sizeof *sorted);
	for (size_t r = 0; r < b->run_count; r++) {
		const struct trace_run *run = &b->runs[r];
		memcpy(sorted + run->place, t->ops + run->first,
		       (run_end(b, r) - run->first) * sizeof *sorted);
	}
	free(t->ops);
	t->ops = sorted;
	b->op_capacity = t->op_count;
}

/* Each transaction's operations lie together already: only those that stand
 * for init move, to the end, and the others up into their place. */
static void move_initial_last(struct trace_builder *b)
{
	struct trace *t = b->trace;
	size_t size = sizeof *t->ops;
	struct trace_op *initial = mem_take((size_t)b->initial_ops * size);
	uint32_t kept = 0, put = 0, rest = t->op_count - b->initial_ops;
	for (size_t r = 0; r < b->run_count; r++) {
		struct trace_run *run = &b->runs[r];
		uint32_t count = run_end(b, r) - run->first;
		uint32_t number = b->number[run->transaction];
		if (!number) {
			memcpy(initial + put, t->ops + run->first,
			       count * size);
			run->place = rest + put;
			put += count;
			continue;
		}
		if (run->first != kept)
			memmove(t->ops + kept, t->ops + run->first,
			        count * size);
		run->place = t->transactions[number].first_op = kept;
		kept += count;
	}
	assert(kept == rest && put == b->initial_ops);
	memcpy(t->ops + rest, initial, put * size);
	free(initial);
}

static void stay_in_place(struct trace_builder *b)
{
	for (size_t r = 0; r < b->run_count; r++)
		b->runs[r].place = b->runs[r].first;
}

/* ---- anomalies that the parser found ---- */

/* The run that has the operation with this handle. */
static const struct trace_run *find_run(const struct trace_builder *b,
                                        uint32_t op)
{
	size_t low = 0, high = b->run_count;
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;
		if (b->runs[middle].first <= op)
			low = middle;
		else
			high = middle;
	}
	return &b->runs[low];
}

static uint32_t new_place(const struct trace_builder *b, uint32_t *op)
{
	const struct trace_run *run = find_run(b, *op);
	*op = run->place + (*op - run->first);
	return b->number[run->transaction];
}

static void move_anomalies(struct trace_builder *b)
{
	for (size_t i = 0; i < b->anomaly_count; i++) {
		struct trace_anomaly *a = &b->anomalies[i];
		a->transaction = new_place(b, &a->op);
		if (a->other != TRACE_NONE) a->writer = new_place(b, &a->other);
		if (a->writer == a->transaction) a->writer = TRACE_NOBODY;
	}
}

void trace_sort(struct trace_builder *b)
{
	struct trace *t = b->trace;
	bool *initial = find_initial(b);
	for (uint32_t h = 1; h < t->transaction_count; h++)
		if (initial[h]) b->initial_ops += t->transactions[h].op_count;
	number_transactions(b, initial);
	free(initial);
	if (b->interleaved)
		group_operations(b);
	else if (b->initial_ops)
		move_initial_last(b);
	else
		stay_in_place(b);
	move_anomalies(b);
	free(b->runs);
	b->runs = NULL;
	b->run_count = 0;
}
