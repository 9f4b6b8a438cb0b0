#include "formats/renumber.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/table.h"

static bool is_reserved(const struct renumber *n, int64_t x)
{
	if (x < n->least) return true;
	for (uint32_t i = 0; i < n->reserved_count; i++)
		if (x == n->reserved[i]) return true;
	return false;
}

/* ---- values ---- */

enum { VALUE_FLAGS = TRACE_TEXT | TRACE_NULL | TRACE_MISSING };

struct values {
	const struct trace *r;
	const struct renumber *n;
	int64_t *out;        /* by operation */
	struct table finals; /* last writes, by (transaction, key) */
	struct table writes; /* first writes, by (key, value) */
	uint32_t *own;       /* by key: the last write, or TABLE_NONE */
	bool kept;
	int64_t next; /* numbers below were given or are taken */
};

/* The transaction's last write of the key, or TABLE_NONE; then *at is where one
 * goes. */
static uint32_t find_final(const struct values *v, uint32_t transaction,
                           uint32_t key, struct table_probe *at)
{
	const struct trace *r = v->r;
	const struct trace_transaction *t = &r->transactions[transaction];
	uint32_t op;
	assert(transaction < r->transaction_count && key < r->key_count);
	*at = table_probe(hash_mix(transaction, key));
	while ((op = table_next(&v->finals, at)) != TABLE_NONE)
		if (r->ops[op].key == key && op >= t->first_op &&
		    op - t->first_op < t->op_count)
			break;
	return op;
}

/* The first write of the value, likewise. */
static uint32_t find_write(const struct values *v, uint32_t key, int64_t value,
                           uint8_t flags, struct table_probe *at)
{
	uint32_t i;
	assert(key < v->r->key_count);
	*at = table_probe(hash_mix(hash_mix(flags, key), (uint64_t)value));
	while ((i = table_next(&v->writes, at)) != TABLE_NONE) {
		const struct trace_op *op = &v->r->ops[i];
		if (op->key == key && op->value == value &&
		    (op->flags & VALUE_FLAGS) == flags)
			break;
	}
	return i;
}

static uint32_t write_of_value(const struct values *v,
                               const struct trace_op *op)
{
	struct table_probe at;
	return find_write(v, op->key, op->value, op->flags & VALUE_FLAGS, &at);
}

static void note_write(struct values *v, uint32_t transaction, uint32_t i)
{
	const struct trace_op *op = &v->r->ops[i];
	uint8_t flags = op->flags & VALUE_FLAGS;
	struct table_probe at;
	bool first =
		find_write(v, op->key, op->value, flags, &at) == TABLE_NONE;
	assert(op->kind == EVENT_WRITE && op->key < v->r->key_count);
	if (!first || flags || op->value == v->n->initial ||
	    is_reserved(v->n, op->value))
		v->kept = false;
	if (first) table_put(&v->writes, at, i);
	if (!(op->flags & TRACE_FINAL)) return;
	if (find_final(v, transaction, op->key, &at) == TABLE_NONE)
		table_put(&v->finals, at, i);
	else
		table_replace(&v->finals, at, i);
}

static int64_t fresh(struct values *v)
{
	while (v->next == v->n->initial || is_reserved(v->n, v->next))
		v->next++;
	assert(v->next < INT64_MAX);
	return v->next++;
}

/* A value for this key that nobody writes. */
static int64_t thin_air(struct values *v, const struct trace_op *op)
{
	bool plain = !(op->flags & VALUE_FLAGS) && op->value != v->n->initial &&
	             !is_reserved(v->n, op->value);
	if (!v->kept || !plain) {
		struct table_probe at;
		int64_t x;
		do {
			x = fresh(v);
		} while (v->kept &&
		         find_write(v, op->key, x, 0, &at) != TABLE_NONE);
		return x;
	}
	return op->value;
}

static bool is_initial(const struct trace *r, const struct trace_op *op)
{
	const struct trace_value *v = &r->keys[op->key].initial;
	return op->value == v->number &&
	       (op->flags & VALUE_FLAGS) == (v->flags & VALUE_FLAGS);
}

/* The value of a read whose writer the trace does not name. */
static int64_t lost_read(struct values *v, const struct trace_op *op)
{
	uint32_t write = write_of_value(v, op);
	if (write != TABLE_NONE) return v->out[write];
	return is_initial(v->r, op) ? v->n->initial : thin_air(v, op);
}

static bool has_value_of(const struct values *v, uint32_t write,
                         const struct trace_op *op)
{
	const struct trace_op *w = &v->r->ops[write];
	assert(write < v->r->op_count);
	return w->value == op->value &&
	       (w->flags & VALUE_FLAGS) == (op->flags & VALUE_FLAGS);
}

/* The write of its writer that was read: the last of the key, unless only
 * another one has that value, so that intermediate reads stay such. */
static uint32_t write_of(const struct values *v, const struct trace_op *op)
{
	const struct trace_transaction *w = &v->r->transactions[op->from];
	struct table_probe at;
	uint32_t last = find_final(v, op->from, op->key, &at);
	assert(op->from < v->r->transaction_count);
	if (last != TABLE_NONE && has_value_of(v, last, op)) return last;
	uint32_t write = write_of_value(v, op);
	if (write != TABLE_NONE && write >= w->first_op &&
	    write - w->first_op < w->op_count)
		return write;
	return last;
}

static int64_t read_value(struct values *v, const struct trace_op *op)
{
	uint32_t write = TABLE_NONE;
	assert(op->kind == EVENT_READ);
	if (op->from == TRACE_INIT) return v->n->initial;
	if (op->from == TRACE_SELF)
		write = v->own[op->key];
	else if (op->from != TRACE_NOBODY)
		write = write_of(v, op);
	return write != TABLE_NONE ? v->out[write] : lost_read(v, op);
}

static void write_values(struct values *v)
{
	const struct trace *r = v->r;
	for (uint32_t t = 0; t < r->transaction_count; t++) {
		const struct trace_transaction *w = &r->transactions[t];
		for (uint32_t i = 0; i < w->op_count; i++)
			if (r->ops[w->first_op + i].kind == EVENT_WRITE)
				note_write(v, t, w->first_op + i);
	}
	for (uint32_t i = 0; i < r->op_count; i++)
		if (r->ops[i].kind == EVENT_WRITE)
			v->out[i] = v->kept ? r->ops[i].value : fresh(v);
}

static void read_values(struct values *v)
{
	const struct trace *r = v->r;
	for (uint32_t i = 0; i < r->op_count; i++) {
		const struct trace_op *op = &r->ops[i];
		if (op->kind == EVENT_WRITE)
			v->own[op->key] = i;
		else
			v->out[i] = read_value(v, op);
	}
	for (uint32_t i = 0; i < r->anomaly_count; i++) {
		const struct trace_anomaly *a = &r->anomalies[i];
		bool of_write = a->kind == ANOMALY_ABORTED ||
		                a->kind == ANOMALY_INTERMEDIATE ||
		                a->kind == ANOMALY_FUTURE;
		if (of_write && a->other != TRACE_NONE)
			v->out[a->op] = v->out[a->other];
	}
}

int64_t *renumber_values(const struct trace *r, const struct renumber *n)
{
	struct values v = { .r = r, .n = n, .kept = true, .next = 1 };
	v.out = mem_take0(r->op_count + 1, sizeof *v.out);
	v.own = mem_take0(r->key_count + 1, sizeof *v.own);
	for (uint32_t k = 0; k < r->key_count; k++) v.own[k] = TABLE_NONE;
	table_init(&v.finals, r->op_count);
	table_init(&v.writes, r->op_count);
	write_values(&v);
	read_values(&v);
	free(v.own);
	table_free(&v.finals);
	table_free(&v.writes);
	return v.out;
}

/* ---- keys, sessions, transactions ---- */

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

static bool are_unique(const int64_t *numbers, uint32_t count)
{
	int64_t *copy = mem_take((count + 1) * sizeof *copy);
	if (count) memcpy(copy, numbers, count * sizeof *copy);
	if (count) qsort(copy, count, sizeof *copy, compare);
	bool unique = true;
	for (uint32_t i = 1; i < count && unique; i++)
		unique = copy[i - 1] != copy[i];
	free(copy);
	return unique;
}

/* first, first + 1, ..., but for what can not be written. */
static void number_all(int64_t *out, uint32_t count, int64_t first,
                       const struct renumber *n)
{
	for (uint32_t i = 0; i < count; i++) {
		while (is_reserved(n, first)) first++;
		out[i] = first++;
	}
}

int64_t *renumber_keys(const struct trace *r, const struct renumber *n)
{
	int64_t *out = mem_take0(r->key_count + 1, sizeof *out);
	bool kept = true;
	for (uint32_t k = 0; k < r->key_count && kept; k++) {
		out[k] = r->keys[k].number;
		kept = !r->keys[k].name && !is_reserved(n, out[k]);
	}
	if (!kept) number_all(out, r->key_count, 0, n);
	return out;
}

/* Is the text an integer as it is printed? */
static bool is_integer(const char *s, int64_t *x)
{
	const char *first = s + (*s == '-');
	if (*first < '0' || *first > '9' ||
	    (*first == '0' && (first[1] || first != s)))
		return false;
	char *end;
	errno = 0;
	*x = strtoll(s, &end, 10);
	return !*end && !errno;
}

int64_t *renumber_sessions(const struct trace *r, const struct renumber *n)
{
	int64_t *out = mem_take0(r->session_count + 1, sizeof *out);
	bool kept = true;
	for (uint32_t s = 0; s < r->session_count && kept; s++) {
		const char *name = r->sessions[s].name;
		kept = name && is_integer(name, &out[s]) &&
		       !is_reserved(n, out[s]);
	}
	if (!kept || !are_unique(out, r->session_count))
		number_all(out, r->session_count, 0, n);
	return out;
}

int64_t *renumber_transactions(const struct trace *r, const struct renumber *n)
{
	uint32_t all = r->transaction_count, count = 0;
	int64_t *out = mem_take0(all + 1, sizeof *out);
	int64_t *of_committed = mem_take0(all + 1, sizeof *of_committed);
	bool kept = true;
	for (uint32_t t = 1; t < all; t++) {
		const struct trace_transaction *w = &r->transactions[t];
		if (w->status != TRACE_COMMITTED) continue;
		kept = kept && w->has_number && !is_reserved(n, w->number);
		of_committed[count++] = w->number;
	}
	if (!kept || !are_unique(of_committed, count))
		number_all(of_committed, count, 1, n);
	uint32_t next = 0;
	for (uint32_t t = 1; t < all; t++)
		out[t] = r->transactions[t].status == TRACE_COMMITTED
		                 ? of_committed[next++]
		                 : -1;
	assert(next == count);
	free(of_committed);
	return out;
}

/* ---- reads that do not count ---- */

/* Anomalies beyond those that are kept are not known: all reads behind the
 * last one count. */
static void count_unknown(const struct trace *r, bool *counts)
{
	if (r->anomaly_count < TRACE_ANOMALIES_KEPT) return;
	const struct trace_anomaly *last = &r->anomalies[r->anomaly_count - 1];
	for (uint32_t t = last->transaction; t < r->transaction_count; t++) {
		const struct trace_transaction *w = &r->transactions[t];
		for (uint32_t i = w->first_op; i < w->first_op + w->op_count;
		     i++)
			if (t > last->transaction || i > last->op)
				counts[i] = true;
	}
}

bool *ops_that_count(const struct trace *r)
{
	bool *counts = mem_take0(r->op_count + (size_t)1, sizeof *counts);
	for (uint32_t i = 0; i < r->op_count; i++)
		counts[i] = r->ops[i].kind == EVENT_WRITE ||
		            r->ops[i].from != TRACE_NOBODY;
	for (uint32_t i = 0; i < r->anomaly_count; i++)
		counts[r->anomalies[i].op] = true;
	count_unknown(r, counts);
	for (uint32_t t = 1; t < r->transaction_count; t++) {
		const struct trace_transaction *w = &r->transactions[t];
		if (w->status == TRACE_COMMITTED) continue;
		for (uint32_t i = w->first_op; i < w->first_op + w->op_count;
		     i++)
			if (r->ops[i].kind == EVENT_READ &&
			    r->ops[i].from == TRACE_SELF)
				counts[i] = false;
	}
	return counts;
}

/* ---- what formats lack ---- */

bool trace_session_is_void(const struct trace *r, uint32_t session)
{
	const struct trace_session *s = &r->sessions[session];
	assert(session < r->session_count);
	for (uint32_t i = 0; i < s->count; i++)
		if (r->transactions[s->first + i].op_count) return false;
	return true;
}

static bool has_other_sessions(const struct trace *r)
{
	for (uint32_t s = 0; s < r->session_count; s++)
		if (!r->sessions[s].after_all) return true;
	return false;
}

static bool has_after_all(const struct trace *r)
{
	for (uint32_t s = 0; s < r->session_count; s++)
		if (r->sessions[s].after_all && !trace_session_is_void(r, s))
			return true;
	return false;
}

/* An aborted transaction with a read that counts, or 0. */
static uint32_t aborted_reader(const struct trace *r)
{
	bool *counts = ops_that_count(r);
	uint32_t found = 0;
	for (uint32_t t = 1; t < r->transaction_count && !found; t++) {
		const struct trace_transaction *w = &r->transactions[t];
		uint32_t end = w->first_op + w->op_count;
		if (w->status == TRACE_COMMITTED) continue;
		for (uint32_t i = w->first_op; i < end; i++)
			if (r->ops[i].kind == EVENT_READ && counts[i])
				found = t;
	}
	free(counts);
	return found;
}

/* Is there an operation that is written? */
static bool has_operations(const struct trace *r, unsigned can)
{
	bool *counts = ops_that_count(r);
	bool found = false;
	for (uint32_t t = 1; t < r->transaction_count && !found; t++) {
		const struct trace_transaction *w = &r->transactions[t];
		if (w->status != TRACE_COMMITTED && !(can & CAN_ABORT))
			continue;
		for (uint32_t i = 0; i < w->op_count && !found; i++)
			found = counts[w->first_op + i];
	}
	free(counts);
	return found;
}

static bool cannot(const struct trace *r, enum format f, uint32_t line,
                   const char *what, const char *others, struct diags *d)
{
	diags_add(d, DIAG_ERROR, r->file, line, 0, NULL,
	          "the format %s has no way to write %s; write the history as "
	          "%s",
	          format_word(f), what, others);
	return false;
}

/* Of a list that was read only the last element is kept, and what is wrong may
 * be another one. */
static bool lists_are_wrong(const struct trace *r, enum format f,
                            struct diags *d)
{
	const struct trace_anomaly *a = &r->anomalies[0];
	diags_add(d, DIAG_ERROR, r->file, r->ops[a->op].line, 0, NULL,
	          "a list was read that no order of appends explains (%s): the "
	          "history cannot be written as %s; check the file itself",
	          trace_anomaly_name(a->kind), format_word(f));
	return false;
}

/* The first transaction that has a level of its own; 0: none has. */
static uint32_t with_own_level(const struct trace *r)
{
	for (uint32_t t = 1; t < r->transaction_count; t++)
		if (r->transactions[t].own) return t;
	return 0;
}

/* The first operation that locks otherwise than is usual, or belongs to the
 * statement of the one before; TRACE_NONE: there is none. */
static uint32_t with_lock(const struct trace *r)
{
	for (uint32_t i = 0; i < r->op_count; i++)
		if (r->ops[i].strength || r->ops[i].joined) return i;
	return TRACE_NONE;
}

bool format_can_write(const struct trace *r, enum format f, unsigned can,
                      struct diags *d)
{
	uint32_t t;
	if (r->lists && r->anomaly_count) return lists_are_wrong(r, f, d);
	if (!(can & CAN_AFTER_ALL) && has_after_all(r))
		return cannot(r, f, r->line,
		              "a session that follows all others", "isoscope",
		              d);
	if (!(can & CAN_AFTER_ALL) && !has_other_sessions(r))
		return cannot(r, f, r->line, "a history without sessions",
		              "isoscope", d);
	if (!(can & CAN_ABORT_READS) && (t = aborted_reader(r)) != 0)
		return cannot(r, f, r->transactions[t].line,
		              "reads of a transaction that aborted, which "
		              "count in this history",
		              "isoscope", d);
	if (!(can & CAN_ABORT) && r->anomalies_found[ANOMALY_ABORTED])
		return cannot(r, f, r->line,
		              "an aborted transaction, from which this history "
		              "reads",
		              "isoscope, plume, dbcop-text or dbcop-bincode",
		              d);
	if (!(can & CAN_KNOWN) && r->known_count)
		return cannot(r, f, r->line,
		              "the order of writes, which lists tell in this "
		              "history",
		              "isoscope, list-edn or list-json", d);
	if (!(can & CAN_LEVELS) && (t = with_own_level(r)) != 0)
		return cannot(r, f, r->transactions[t].line,
		              "levels that transactions have of their own",
		              "isoscope", d);
	if (!(can & CAN_LOCKS) && (t = with_lock(r)) != TRACE_NONE)
		return cannot(r, f, r->ops[t].line,
		              "what reads and writes lock, and which of them "
		              "are one statement",
		              "isoscope", d);
	if (!(can & CAN_EMPTY) && !has_operations(r, can))
		return cannot(r, f, r->line,
		              "transactions without operations, and this "
		              "history has no others",
		              "isoscope", d);
	return true;
}
