#include "predict/observed_history.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/table.h"

/* ---- keys ---- */

static bool is_contended(const struct facts *f, uint32_t key)
{
	return f->writer_first[key + 1] > f->writer_first[key];
}

static uint64_t writers_hash(const struct facts *f, uint32_t key)
{
	uint64_t h = 0;
	for (uint32_t i = f->writer_first[key]; i < f->writer_first[key + 1];
	     i++)
		h = hash_mix(h, f->writers[i]);
	return h;
}

static bool same_writers(const struct facts *f, uint32_t a, uint32_t b)
{
	uint32_t count = f->writer_first[a + 1] - f->writer_first[a];
	if (f->writer_first[b + 1] - f->writer_first[b] != count) return false;
	return !memcmp(f->writers + f->writer_first[a],
	               f->writers + f->writer_first[b],
	               count * sizeof *f->writers);
}

/* Keys with the same writers get the same number. */
static void number_merged(struct observed_history *o)
{
	const struct facts *f = o->facts;
	struct table numbered; /* the first key of each set of writers */
	table_init(&numbered, 0);
	for (uint32_t k = 0; k < f->key_count; k++) {
		o->key_of[k] = UINT32_MAX;
		if (!is_contended(f, k)) continue;
		struct table_probe probe = table_probe(writers_hash(f, k));
		uint32_t first;
		while ((first = table_next(&numbered, &probe)) != TABLE_NONE)
			if (same_writers(f, first, k)) break;
		if (first == TABLE_NONE) table_put(&numbered, probe, k);
		o->key_of[k] =
			first == TABLE_NONE ? o->key_count++ : o->key_of[first];
	}
	table_free(&numbered);
}

static void number_keys(struct observed_history *o)
{
	const struct facts *f = o->facts;
	o->key_of = mem_take0((size_t)f->key_count + 1, sizeof *o->key_of);
	if (o->merged) {
		number_merged(o);
		return;
	}
	for (uint32_t k = 0; k < f->key_count; k++)
		o->key_of[k] = is_contended(f, k) ? o->key_count++ : UINT32_MAX;
}

static void sort_by_rank(const struct observed_history *o,
                         uint32_t *transactions, uint32_t count)
{
	if (!o->order) return;
	for (uint32_t i = 0; i < count; i++)
		transactions[i] = o->rank[transactions[i]];
	qsort(transactions, count, sizeof *transactions, number_compare);
	for (uint32_t i = 0; i < count; i++)
		transactions[i] = o->order[transactions[i]];
}

static void take_writers(struct observed_history *o)
{
	const struct facts *f = o->facts;
	uint32_t total = 0;
	size_t size = f->writer_first[f->key_count] + (size_t)1;
	o->writer_first =
		mem_take0((size_t)o->key_count + 1, sizeof *o->writer_first);
	o->writers = mem_take0(size, sizeof *o->writers);
	o->writer_rows =
		mem_take0(((size_t)o->key_count + 1) * o->words, sizeof(word));
	uint32_t next = 0;
	for (uint32_t k = 0; k < f->key_count; k++) {
		if (o->key_of[k] != next) continue;
		word *row = o->writer_rows + (size_t)next * o->words;
		o->writer_first[next++] = total;
		for (uint32_t i = f->writer_first[k];
		     i < f->writer_first[k + 1]; i++) {
			o->writers[total++] = f->writers[i];
			bits_add(row, f->writers[i]);
		}
		uint32_t first = o->writer_first[next - 1];
		sort_by_rank(o, o->writers + first, total - first);
	}
	assert(next == o->key_count);
	o->writer_first[next] = total;
}

/* ---- events ---- */

static bool is_read(const struct trace_transaction *w,
                    const struct trace_op *op)
{
	return op->kind == EVENT_READ && op->from < TRACE_NOBODY &&
	       w->status != TRACE_UNKNOWN;
}

static bool is_write(const struct trace_transaction *w,
                     const struct trace_op *op)
{
	return op->kind == EVENT_WRITE && w->status == TRACE_COMMITTED;
}

/* The first write of a key says that it is written; of merged keys, the first
 * read says all, too. `seen` has, for reading and writing each key, the event
 * that was added last, + 1. */
static bool is_repeated(const struct observed_history *o, uint32_t *seen,
                        const struct observed_event *e, uint32_t t,
                        uint32_t total)
{
	uint32_t *last = &seen[2 * (size_t)e->key + (e->kind == EVENT_WRITE)];
	if ((o->merged || e->kind == EVENT_WRITE) && *last > o->first[t]) {
		assert(*last <= total);
		o->events[*last - 1].count++;
		return true;
	}
	*last = total + 1;
	return false;
}

/* The transaction's events, behind the first `total` ones; returns how many
 * there are then. */
static uint32_t take_transaction(struct observed_history *o, uint32_t *seen,
                                 uint32_t t, uint32_t total)
{
	const struct trace *r = o->trace;
	const struct trace_transaction *w = &r->transactions[t];
	uint32_t idle = 0, statement = 0;
	for (uint32_t i = w->first_op; i < w->first_op + w->op_count; i++) {
		const struct trace_op *op = &r->ops[i];
		statement += !op->joined;
		if (!is_read(w, op) && !is_write(w, op)) continue;
		struct observed_event e = { .key = o->key_of[op->key],
			                    .from = op->from,
			                    .op = i,
			                    .count = 1,
			                    .idle = idle,
			                    .statement = statement,
			                    .strength = trace_strength(op),
			                    .kind = op->kind };
		if (e.key == UINT32_MAX) {
			idle = i + 1;
		} else if (!is_repeated(o, seen, &e, t, total)) {
			o->events[total++] = e;
			idle = 0;
		}
	}
	return total;
}

static void take_events(struct observed_history *o)
{
	const struct trace *r = o->trace;
	uint32_t total = 0;
	uint32_t *seen = mem_take0(2 * (size_t)o->key_count + 2, sizeof *seen);
	o->first = mem_take0((size_t)o->n + 1, sizeof *o->first);
	o->events = mem_take0((size_t)r->op_count + 1, sizeof *o->events);
	for (uint32_t t = 1; t < o->n; t++) {
		o->first[t] = total;
		total = take_transaction(o, seen, t, total);
	}
	assert(total <= r->op_count);
	o->first[o->n] = total;
	free(seen);
}

/* ---- locks ---- */

/* Writes, and reads that lock and are no events: of what the transaction wrote
 * itself, and of keys that nobody writes. */
static bool is_lock(const struct observed_history *o,
                    const struct trace_transaction *w,
                    const struct trace_op *op)
{
	if (w->status == TRACE_UNKNOWN) return false;
	if (op->kind == EVENT_WRITE) return true;
	bool event = op->from != TRACE_SELF && o->key_of[op->key] != UINT32_MAX;
	return op->strength != STRENGTH_PLAIN && !event;
}

/* Of a key that somebody locks: its number, which it may get now. */
static uint32_t lock_key(struct observed_history *o, uint32_t *numbers,
                         uint32_t key)
{
	if (o->key_of[key] != UINT32_MAX) return o->key_of[key];
	if (!numbers[key]) numbers[key] = ++o->lock_keys;
	return numbers[key] - 1;
}

static void take_locks(struct observed_history *o)
{
	const struct trace *r = o->trace;
	uint32_t total = 0, statement;
	uint32_t *numbers =
		mem_take0((size_t)o->facts->key_count + 1, sizeof *numbers);
	size_t size = o->points ? r->op_count : 0;
	o->lock_keys = o->key_count;
	o->lock_first = mem_take0((size_t)o->n + 1, sizeof *o->lock_first);
	o->locks = mem_take0(size + 1, sizeof *o->locks);
	for (uint32_t t = 1; t < o->n; t++) {
		const struct trace_transaction *w = &r->transactions[t];
		uint32_t end = o->points ? w->first_op + w->op_count : 0;
		o->lock_first[t] = total;
		statement = 0;
		for (uint32_t i = w->first_op; i < end; i++) {
			const struct trace_op *op = &r->ops[i];
			statement += !op->joined;
			if (!is_lock(o, w, op)) continue;
			o->locks[total++] = (struct observed_lock){
				{ lock_key(o, numbers, op->key), statement,
				  trace_strength(op), op->kind == EVENT_READ },
				i
			};
		}
	}
	o->lock_first[o->n] = total;
	free(numbers);
}

/* ---- what is before what ---- */

static void take_needs(struct observed_history *o)
{
	const struct facts *f = o->facts;
	uint32_t total = 0;
	size_t size = (size_t)o->n + f->session_count + 1;
	o->need_first = mem_take0((size_t)o->n + 1, sizeof *o->need_first);
	o->needs = mem_take0(size, sizeof *o->needs);
	for (uint32_t t = 1; t < o->n; t++) {
		uint32_t s = f->session_of[t];
		o->need_first[t] = total;
		if (t > f->session_first[s]) {
			o->needs[total++] = t - 1;
			continue;
		}
		if (s != f->after_all) continue;
		for (uint32_t u = 0; u < f->session_count; u++)
			if (u != s &&
			    f->session_first[u + 1] > f->session_first[u])
				o->needs[total++] = f->session_first[u + 1] - 1;
	}
	assert(total < size);
	o->need_first[o->n] = total;
}

static void close_past(struct observed_history *o)
{
	const struct facts *f = o->facts;
	o->past = mem_take0((size_t)o->n * o->words, sizeof(word));
	o->later = mem_take0((size_t)o->n * o->words, sizeof(word));
	for (uint32_t k = 1; k < o->n; k++) {
		uint32_t t = f->order[k];
		assert(t > 0 && t < o->n);
		word *past = o->past + (size_t)t * o->words;
		for (uint32_t i = o->need_first[t]; i < o->need_first[t + 1];
		     i++)
			observed_include(o, past, o->needs[i]);
		for (uint32_t i = f->read_first[t]; i < f->read_first[t + 1];
		     i++)
			observed_include(o, past, f->reads[i].from);
		BITS_EACH(u, past, o->words)
			bits_add(o->later + (size_t)u * o->words, t);
	}
}

/* ---- levels ---- */

static bool decide(const struct facts *f, enum level l, struct check_clock *c,
                   bool *holds, struct check_result *r, const char **reason)
{
	check_level(f, l, c, r);
	*holds = r->verdict == VERDICT_HOLDS;
	*reason = r->reason;
	return r->verdict != VERDICT_UNDECIDED;
}

static bool find_order(struct observed_history *o, struct check_clock *c,
                       const char **reason)
{
	struct check_result serial = { 0 }, level = { 0 };
	struct facts plain = facts_without_owns(o->facts);
	bool fine = decide(&plain, LEVEL_SERIAL, c, &o->serializable, &serial,
	                   reason);
	o->allowed = o->serializable;
	if (fine && o->serializable &&
	    !check_commit_order(&plain, LEVEL_SERIAL, c, &serial)) {
		*reason = check_clock_reason(c);
		fine = false;
	}
	if (fine && !o->serializable)
		fine = decide(o->facts, o->level, c, &o->allowed, &level,
		              reason);
	if (fine && o->facts->order) {
		const uint32_t *order =
			serial.order ? serial.order : o->facts->order;
		o->order = mem_take(o->n * sizeof *o->order);
		memcpy(o->order, order, o->n * sizeof *order);
		o->rank = mem_take(o->n * sizeof *o->rank);
		for (uint32_t i = 0; i < o->n; i++) o->rank[order[i]] = i;
	}
	assert(!fine || !o->serializable || o->allowed);
	check_result_free(&serial);
	check_result_free(&level);
	return fine;
}

static void take_levels(struct observed_history *o)
{
	unsigned levels = facts_levels(o->facts, o->level);
	o->points = !check_has_plain_reads(o->facts);
	for (enum level l = 0; l < LEVEL_COUNT; l++) {
		if (!(levels >> l & 1)) continue;
		if (level_sight(l) < o->sight) o->sight = level_sight(l);
		o->some_exclusive |= level_excludes_rivals(l);
		o->points |= level_has_statements(l) ||
		             (o->facts->ssi && level_is_serial(l));
		o->exclusive = levels == 1u << l && level_excludes_rivals(l);
	}
}

bool observed_history_init(struct observed_history *o, const struct trace *t,
                           enum level l, bool merge, struct check_clock *c,
                           const char **reason)
{
	*o = (struct observed_history){ .trace = t,
		                        .level = l,
		                        .sight = SIGHT_PREFIX,
		                        .n = t->transaction_count,
		                        .words = BITS_WORDS(
						t->transaction_count) };
	uint64_t rows = (uint64_t)o->n * o->words * sizeof(word);
	*reason = CHECK_MEMORY;
	if (check_clock_too_large(c, 4 * rows)) return false;
	o->facts = facts_of_trace(t);
	take_levels(o);
	if (!find_order(o, c, reason)) return false;
	o->merged =
		merge && o->allowed && o->sight >= SIGHT_DIRECT && !o->points;
	number_keys(o);
	take_writers(o);
	take_events(o);
	take_locks(o);
	take_needs(o);
	if (o->facts->order) close_past(o);
	return true;
}

void observed_history_free(struct observed_history *o)
{
	facts_free(o->facts);
	free(o->order);
	free(o->rank);
	free(o->first);
	free(o->events);
	free(o->lock_first);
	free(o->locks);
	free(o->writer_first);
	free(o->writers);
	free(o->writer_rows);
	free(o->need_first);
	free(o->needs);
	free(o->past);
	free(o->later);
	free(o->key_of);
}
