#include "run/replay.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/region.h"
#include "execution/complete.h"
#include "execution/observed_reads.h"
#include "run/policy.h"
#include "vm/program.h"

#define NEVER UINT32_MAX

/* The transactions that a session has run: their places in the order of the
 * run, from 0. */
struct places {
	uint32_t *items;
	uint32_t count, capacity;
};

/* A run along a history. */
struct replay {
	const struct program *program;
	const struct trace *history;
	const uint32_t *order;
	struct replay_parts parts;
	bool has_values;       /* those of the history are the program's */
	uint32_t *session_of;  /* by session of the program: of the history,
	                        * or TRACE_NONE */
	uint32_t *program_of;  /* the inverse */
	char **keys;           /* names, by key of the history */
	struct places *places; /* by session of the program */
	uint32_t *turn;        /* by transaction of the history: place in the
	                        * run of the one that its turn was for; NEVER
	                        * before that */
	uint32_t ran, next;    /* next: index into order */
	/* Of the transaction that runs: where in the history's operations the
	 * search for each read begins. */
	uint32_t *from;
	uint32_t from_capacity;
	struct run_writer *sorted;
	struct region values; /* of the history, as programs have them */
};

/* ---- Which session, transaction, key is which ---- */

bool replay_fits(const struct program *p, const struct trace *history,
                 struct diags *d)
{
	uint32_t *of_trace =
		mem_take0((size_t)history->session_count + 1, sizeof *of_trace);
	bool fits = sessions_match(p, history, of_trace, d);
	free(of_trace);
	return fits;
}

static void match_sessions(struct replay *x)
{
	struct diags none = { 0 };
	const struct trace *h = x->history;
	uint32_t n = program_session_count(x->program);
	x->session_of = mem_take(n * sizeof *x->session_of);
	memset(x->session_of, 0xff, n * sizeof *x->session_of);
	x->program_of =
		mem_take0((size_t)h->session_count + 1, sizeof *x->program_of);
	bool fits = sessions_match(x->program, h, x->program_of, &none);
	assert(fits);
	(void)fits;
	x->has_values = true;
	for (uint32_t i = 0; i < h->session_count; i++) {
		uint32_t to = x->program_of[i];
		x->session_of[to] = i;
		x->has_values &= !strcmp(h->sessions[i].name,
		                         program_session_name(x->program, to));
	}
}

static void name_keys(struct replay *x)
{
	x->keys = mem_take0(x->history->key_count + 1, sizeof *x->keys);
	for (uint32_t k = 0; k < x->history->key_count; k++) {
		struct text t = { 0 };
		trace_print_key(&t, x->history, k);
		x->keys[k] = mem_copy_string(text_get(&t));
		text_free(&t);
	}
}

/* The history's transaction that this one of the program is, or NEVER. */
static uint32_t transaction_of(const struct replay *x, uint32_t session,
                               uint32_t index)
{
	uint32_t s = x->session_of[session];
	if (s == TRACE_NONE || index >= x->history->sessions[s].count)
		return NEVER;
	return x->history->sessions[s].first + index;
}

/* ---- Sessions ---- */

static bool has(const uint32_t *items, uint32_t count, uint32_t x)
{
	for (uint32_t i = 0; i < count; i++)
		if (items[i] == x) return true;
	return false;
}

static void run_session(struct replay *x, uint32_t session)
{
	assert(session < program_session_count(x->program));
	struct places *p = &x->places[session];
	uint32_t t = transaction_of(x, session, p->count);
	VEC_RESERVE(p->items, p->count, p->capacity);
	p->items[p->count++] = x->ran;
	if (t != NEVER) x->turn[t] = x->ran;
	x->ran++;
}

/* The session of the next transaction of the history that can run; NEVER when
 * its order is at its end. */
static uint32_t next_in_order(struct replay *x, const uint32_t *ready,
                              uint32_t count)
{
	while (x->next < x->history->transaction_count) {
		uint32_t t = x->order[x->next++];
		if (t == TRACE_INIT) continue;
		uint32_t s = x->history->transactions[t].session;
		uint32_t session = x->program_of[s];
		uint32_t index = t - x->history->sessions[s].first;
		if (x->places[session].count == index &&
		    has(ready, count, session))
			return session;
		if (x->turn[t] == NEVER) x->turn[t] = x->ran;
	}
	return NEVER;
}

static uint32_t choose_session(void *data, const uint32_t *ready,
                               uint32_t count)
{
	struct replay *x = data;
	uint32_t session = next_in_order(x, ready, count);
	assert(count);
	if (session == NEVER) session = ready[0];
	run_session(x, session);
	return session;
}

/* ---- Reads ---- */

static bool is_external(const struct trace_op *op)
{
	return op->kind == EVENT_READ && op->from != TRACE_SELF;
}

/* The transaction's first external read of the key from operation `from` on;
 * NEVER if there is none. */
static uint32_t find_read(const struct replay *x, uint32_t t, uint32_t from,
                          const char *key)
{
	const struct trace_transaction *of = &x->history->transactions[t];
	for (uint32_t i = from; i < of->first_op + of->op_count; i++) {
		const struct trace_op *op = &x->history->ops[i];
		if (is_external(op) && !strcmp(x->keys[op->key], key)) return i;
	}
	return NEVER;
}

/* Notes where the search for read number `number` + 1 begins. */
static void search_on(struct replay *x, uint32_t number, uint32_t from)
{
	if (number + 1 >= x->from_capacity) {
		x->from_capacity = 2 * (number + 1);
		x->from = mem_grow(x->from, x->from_capacity, sizeof *x->from);
	}
	x->from[number + 1] = from;
}

/* The operation of the history that the read is; NEVER if it has none. A read
 * of an unexpected key does not disturb those that follow. */
static uint32_t operation_of(struct replay *x, const struct run_read *read)
{
	uint32_t t = transaction_of(x, read->session, read->index);
	if (t == NEVER) return NEVER;
	/* Reads are met in order, so the one before has said where to search.
	 */
	assert(!read->number || read->number < x->from_capacity);
	uint32_t from = read->number ? x->from[read->number]
	                             : x->history->transactions[t].first_op;
	uint32_t op = find_read(x, t, from, read->key);
	search_on(x, read->number, op == NEVER ? from : op + 1);
	return op;
}

/* Places of writers: init first, then the transactions as they ran. */
static uint32_t place_of(const struct replay *x, const struct run_writer *w)
{
	assert(w->session == UINT32_MAX ||
	       w->index < x->places[w->session].count);
	return w->session == UINT32_MAX
	               ? 0
	               : x->places[w->session].items[w->index] + 1;
}

/* Sorts the writers, which come in the order of their places, by the distance
 * from the place; the later one of two equally near comes first. */
static void sort_by_distance(struct replay *x, struct run_writer *w,
                             uint32_t count, uint32_t place)
{
	x->sorted = mem_grow(x->sorted, count, sizeof *x->sorted);
	uint32_t after = 0;
	while (after < count && place_of(x, &w[after]) < place) after++;
	uint32_t before = after; /* the writers in between are sorted */
	for (uint32_t i = 0; i < count; i++) {
		bool later = !before ||
		             (after < count &&
		              place_of(x, &w[after]) - place <=
		                      place - place_of(x, &w[before - 1]));
		x->sorted[i] = later ? w[after++] : w[--before];
	}
	assert(after == count && !before);
	memcpy(w, x->sorted, count * sizeof *w);
}

/* A history's writer that has not had its turn is later than all that have; so
 * is the writer of a read that the history does not have. */
static void order_writers(void *data, const struct run_read *read,
                          struct run_writer *w, uint32_t count)
{
	struct replay *x = data;
	uint32_t op = operation_of(x, read), place = x->ran + 1;
	if (op != NEVER && x->history->ops[op].from != TRACE_NOBODY) {
		uint32_t writer = x->history->ops[op].from;
		if (writer == TRACE_INIT)
			place = 0;
		else if (x->turn[writer] != NEVER)
			place = x->turn[writer] + 1;
	}
	sort_by_distance(x, w, count, place);
}

/* ---- Beginning and end ---- */

static void begin(void *data)
{
	struct replay *x = data;
	for (uint32_t i = 0; i < program_session_count(x->program); i++)
		x->places[i].count = 0;
	memset(x->turn, 0xff, x->history->transaction_count * sizeof *x->turn);
	x->ran = x->next = 0;
}

static void replay_init(struct replay *x)
{
	uint32_t sessions = program_session_count(x->program);
	region_init(&x->values);
	match_sessions(x);
	name_keys(x);
	x->places = mem_take0(sessions + 1, sizeof *x->places);
	x->turn = mem_take(x->history->transaction_count * sizeof *x->turn);
}

static void replay_free(struct replay *x)
{
	for (uint32_t i = 0; i < program_session_count(x->program); i++)
		free(x->places[i].items);
	for (uint32_t k = 0; k < x->history->key_count; k++) free(x->keys[k]);
	free(x->keys);
	free(x->places);
	free(x->turn);
	free(x->from);
	free(x->sorted);
	free(x->session_of);
	free(x->program_of);
	region_free(&x->values);
}

/* ---- Comparing ---- */

/* Is `id` of the run the transaction that the history names? */
static bool same_writer(const struct replay *x, const struct ledger *l,
                        uint32_t id, uint32_t writer)
{
	if (id == HISTORY_INIT || writer == TRACE_INIT)
		return id == HISTORY_INIT && writer == TRACE_INIT;
	const struct ledger_transaction *log = l->transactions[id];
	return transaction_of(x, log->session, log->index) == writer;
}

/* The next external read of the history's transaction, or its end. */
static uint32_t next_read(const struct replay *x, uint32_t t, uint32_t from)
{
	const struct trace_transaction *of = &x->history->transactions[t];
	uint32_t end = of->first_op + of->op_count;
	assert(from >= of->first_op && from <= end);
	while (from < end && !is_external(&x->history->ops[from])) from++;
	return from;
}

/* The external reads of a transaction, in order: their number is returned. */
static uint32_t list_reads(const struct ledger_transaction *log,
                           const struct event **reads)
{
	uint32_t count = 0, at;
	const struct ledger_event *e;
	for (e = log->last; e; e = e->before)
		count += e->event.kind == EVENT_READ &&
		         e->event.from != HISTORY_SELF;
	at = count;
	for (e = log->last; e; e = e->before)
		if (e->event.kind == EVENT_READ &&
		    e->event.from != HISTORY_SELF)
			reads[--at] = &e->event;
	assert(!at);
	return count;
}

static bool is_truncated(const struct replay *x, uint32_t t)
{
	return x->parts.truncated && x->parts.truncated[t];
}

static bool is_divergent(const struct replay *x, uint32_t t)
{
	return x->parts.divergent && x->parts.divergent[t];
}

/* Does the history have another value for the operation than this one? */
static bool other_value(struct replay *x, struct value found,
                        const struct trace_op *op)
{
	if (!x->has_values || x->history->valueless ||
	    op->flags & TRACE_MISSING)
		return false;
	struct value value =
		trace_rich_value(&x->values, x->history, op->value, op->flags);
	return !value_equal(value, found);
}

/* Did the read, with the same writer, get another value than it should? A
 * history may not tell what init wrote. */
static bool other_read(struct replay *x, const struct event *read,
                       const struct trace_op *op)
{
	if (op->from == TRACE_INIT)
		return !(op->flags & TRACE_NULL) &&
		       other_value(x, read->value, op);
	return !is_divergent(x, op->from) && other_value(x, read->value, op);
}

/* Does the key end with another value in the transaction than this write's? */
static bool other_write(struct replay *x, const struct execution *e,
                        const struct ledger_transaction *log,
                        const struct trace_op *op)
{
	const struct keys *keys = e->context->machine.keys;
	for (uint32_t i = 0; i < log->written_count; i++)
		if (!strcmp(keys_name(keys, log->written[i]), x->keys[op->key]))
			return other_value(x, log->values[i], op);
	return x->has_values;
}

static void compare_writes(struct replay *x, const struct execution *e,
                           const struct ledger_transaction *log, uint32_t t,
                           struct replay_result *out)
{
	const struct trace_transaction *of = &x->history->transactions[t];
	if (is_divergent(x, t) || log->aborted ||
	    of->status != TRACE_COMMITTED || is_truncated(x, t))
		return;
	for (uint32_t i = 0; i < of->op_count; i++) {
		const struct trace_op *op = &x->history->ops[of->first_op + i];
		if (op->kind == EVENT_WRITE && op->flags & TRACE_FINAL)
			out->values += other_write(x, e, log, op);
	}
}

static void compare_read(struct replay *x, const struct ledger *l,
                         const struct event *read, const struct trace_op *op,
                         struct replay_result *out)
{
	if (op->from == TRACE_NOBODY) return;
	if (!same_writer(x, l, read->from, op->from))
		out->changed++;
	else
		out->values += other_read(x, read, op);
}

/* Reads that the run has at the same place, their writers and values. */
static void compare_reads(struct replay *x, const struct execution *e,
                          const struct ledger_transaction *log, uint32_t t,
                          struct replay_result *out)
{
	const struct trace_transaction *of = &x->history->transactions[t];
	const struct event **reads =
		mem_take0(log->event_count + 1, sizeof *reads);
	uint32_t count = list_reads(log, reads), from = of->first_op;
	for (uint32_t i = 0; i < count; i++) {
		const char *key =
			keys_name(e->context->machine.keys, reads[i]->key);
		uint32_t next = next_read(x, t, from);
		uint32_t op = find_read(x, t, from, key);
		bool at_end = next == of->first_op + of->op_count;
		if (at_end && is_truncated(x, t)) break;
		if (op == NEVER || op != next) out->diverged = true;
		if (op == NEVER) continue;
		from = op + 1;
		compare_read(x, &e->ledger, reads[i], &x->history->ops[op],
		             out);
	}
	if (next_read(x, t, from) < of->first_op + of->op_count)
		out->diverged = true;
	free(reads);
}

static void compare_transaction(struct replay *x, const struct execution *e,
                                uint32_t t, struct replay_result *out)
{
	const struct trace_transaction *of = &x->history->transactions[t];
	uint32_t session = x->program_of[of->session];
	uint32_t index = t - x->history->sessions[of->session].first;
	assert(index < x->history->sessions[of->session].count);
	if (index >= e->ledger.done[session]) {
		out->diverged = true;
		return;
	}
	uint32_t id = ledger_number(e->ledger.shared, session, index);
	const struct ledger_transaction *log = e->ledger.transactions[id];
	bool truncated = is_truncated(x, t);
	if (!truncated && of->status != TRACE_UNKNOWN &&
	    log->aborted != (of->status == TRACE_ABORTED))
		out->diverged = true;
	compare_reads(x, e, log, t, out);
	compare_writes(x, e, log, t, out);
}

static void compare(struct replay *x, struct runner *r,
                    struct replay_result *out)
{
	const struct execution *e = runner_execution(r);
	for (uint32_t t = 1; t < x->history->transaction_count; t++)
		compare_transaction(x, e, t, out);
	out->diverged |= out->changed > 0 || out->values > 0;
	out->serializable = runner_satisfies(r, LEVEL_SERIAL);
}

void replay_history(struct runner *r, const struct trace *history,
                    const uint32_t *order, struct replay_parts parts,
                    struct replay_result *out)
{
	struct replay x = { .program = runner_program(r),
		            .history = history,
		            .order = order,
		            .parts = parts };
	struct run_chooser chooser = { .data = &x,
		                       .begin = begin,
		                       .session = choose_session,
		                       .writers = order_writers,
		                       .likely = true };
	memset(out, 0, sizeof *out);
	replay_init(&x);
	out->end = runner_run(r, &chooser);
	if (out->end == RUN_COMPLETE) compare(&x, r, out);
	replay_free(&x);
}

enum run_end record_serial(struct runner *r, uint64_t seed)
{
	struct random_chooser c;
	struct policy latest = { .kind = POLICY_LATEST };
	random_chooser_begin(&c, latest, seed, 0);
	struct run_chooser chooser = random_chooser(&c);
	return runner_run(r, &chooser);
}
