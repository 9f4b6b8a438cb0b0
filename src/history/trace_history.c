#include <assert.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "history/facts.h"
#include "history/trace_builder.h"
#include "vm/value.h"

/* ---- values from JSON ---- */

static struct value value_from(struct region *r, const json_t *j);

static struct value *items_from(struct region *r, const json_t *array)
{
	size_t count = json_array_size(array);
	struct value *items =
		region_take(r, (count ? count : 1) * sizeof *items);
	for (size_t i = 0; i < count; i++)
		items[i] = value_from(r, json_array_get(array, i));
	return items;
}

static struct value record_from(struct region *r, const json_t *object)
{
	size_t fields = json_object_size(object), i = 0;
	struct value *pairs =
		region_take(r, (fields ? 2 * fields : 1) * sizeof *pairs);
	for (void *at = json_object_iter((json_t *)object); at;
	     at = json_object_iter_next((json_t *)object, at), i += 2) {
		const char *name = json_object_iter_key(at);
		pairs[i] = value_string(r, name, strlen(name));
		pairs[i + 1] = value_from(r, json_object_iter_value(at));
	}
	return value_record(r, pairs, (uint32_t)fields);
}

/* {"tuple":[..]} and the like; any other object is a record. */
static struct value object_from(struct region *r, const json_t *object)
{
	void *at = json_object_iter((json_t *)object);
	if (json_object_size(object) != 1) return record_from(r, object);
	const char *word = json_object_iter_key(at);
	const json_t *inner = json_object_iter_value(at);
	uint32_t count = (uint32_t)json_array_size(inner);
	if (json_is_object(inner) && !strcmp(word, "record"))
		return record_from(r, inner);
	if (!json_is_array(inner)) return record_from(r, object);
	if (!strcmp(word, "set"))
		return value_set(r, items_from(r, inner), count);
	if (!strcmp(word, "tuple"))
		return value_sequence(r, VALUE_TUPLE, items_from(r, inner),
		                      count);
	if (!strcmp(word, "list"))
		return value_sequence(r, VALUE_LIST, items_from(r, inner),
		                      count);
	return record_from(r, object);
}

/* The parser bounds the depth. */
static struct value value_from(struct region *r, const json_t *j)
{
	char digits[40];
	switch (json_typeof(j)) {
	case JSON_TRUE:
	case JSON_FALSE: return value_bool(json_is_true(j));
	case JSON_INTEGER: return value_int(json_integer_value(j));
	case JSON_STRING:
		return value_string(r, json_string_value(j),
		                    json_string_length(j));
	case JSON_REAL: /* not a type of values */
		snprintf(digits, sizeof digits, "%.17g", json_real_value(j));
		return value_string(r, digits, strlen(digits));
	case JSON_ARRAY:
		return value_sequence(r, VALUE_LIST, items_from(r, j),
		                      (uint32_t)json_array_size(j));
	case JSON_OBJECT: return object_from(r, j);
	case JSON_NULL: break;
	}
	return value_null();
}

static void drop(void *json)
{
	json_decref(json);
}

/* What is no value of the language stays as it is, a string: it only has to
 * be shown. */
static struct value value_of_text(struct region *r, const char *text)
{
	json_error_t e;
	json_t *j = json_loads(text, JSON_DECODE_ANY | JSON_ALLOW_NUL, &e);
	if (!j && json_error_code(&e) == json_error_out_of_memory) mem_fail();
	if (!j || json_is_real(j)) {
		json_decref(j);
		return value_string(r, text, strlen(text));
	}
	mem_hold(j, drop);
	struct value v = value_from(r, j);
	mem_let_go(j);
	json_decref(j);
	if (value_depth(v) <= VALUE_DEPTH_MAX) return v;
	return value_string(r, text, strlen(text));
}

struct value trace_rich_value(struct region *region, const struct trace *t,
                              int64_t value, uint8_t flags)
{
	if (flags & (TRACE_NULL | TRACE_MISSING)) return value_null();
	if (!(flags & TRACE_TEXT)) return value_int(value);
	return value_of_text(region, t->texts[value]);
}

/* ---- a part of a trace ---- */

struct view {
	const struct trace *t;
	const struct trace_part *part;
	bool whole;
	struct history *h;
	uint32_t *numbers;   /* by number in h: number in t */
	uint32_t *key;       /* by key of t: key of h; only those in h */
	uint32_t *keys;      /* by key of h: key of t */
	uint32_t *number;    /* by number in t; NULL if h has few of many */
	struct table writes; /* (transaction, key) -> first write kept;
	                      * only if operations are left out */
};

static bool keeps_ops(const struct view *v)
{
	return !v->part || !v->part->ops;
}

static bool keeps_op(const struct view *v, uint32_t op)
{
	return keeps_ops(v) || v->part->ops[op];
}

/* Number in h of a transaction of t, or TRACE_NONE. */
static uint32_t number_in(const struct view *v, uint32_t transaction)
{
	uint32_t low = 0, high = v->h->transaction_count;
	if (v->number) return v->number[transaction];
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (v->numbers[middle] < transaction)
			low = middle + 1;
		else
			high = middle;
	}
	return low < v->h->transaction_count && v->numbers[low] == transaction
	               ? low
	               : TRACE_NONE;
}

static void choose_transactions(struct view *v)
{
	const struct trace *t = v->t;
	bool all = !v->part || !v->part->transactions;
	uint32_t given = all ? t->transaction_count - 1 : v->part->count;
	uint32_t count = 1;
	v->numbers = mem_take0((size_t)given + 1, sizeof *v->numbers);
	for (uint32_t i = 0; i < given; i++) {
		uint32_t n = all ? i + 1 : v->part->transactions[i];
		assert(n < t->transaction_count);
		assert(n == TRACE_INIT || n > v->numbers[count - 1]);
		if (n == TRACE_INIT ||
		    t->transactions[n].status == TRACE_UNKNOWN)
			continue;
		v->numbers[count++] = n;
	}
	v->h->transaction_count = count;
	if (count < t->transaction_count / 8) return;
	v->number = mem_take(t->transaction_count * sizeof *v->number);
	for (uint32_t i = 0; i < t->transaction_count; i++)
		v->number[i] = TRACE_NONE;
	for (uint32_t i = 0; i < count; i++) v->number[v->numbers[i]] = i;
}

/* ---- writes that are kept ---- */

static struct table_probe write_probe(uint32_t transaction, uint32_t key)
{
	return table_probe(hash_mix(transaction, key));
}

/* The first kept write of the key by the transaction, or TABLE_NONE. */
static uint32_t find_write(const struct view *v, uint32_t transaction,
                           uint32_t key)
{
	const struct trace_op *ops = v->t->ops;
	struct table_probe probe = write_probe(transaction, key);
	uint32_t i;
	while ((i = table_next(&v->writes, &probe)) != TABLE_NONE)
		if (ops[i].key == key && ops[i].from == transaction) return i;
	return TABLE_NONE;
}

static void index_writes(struct view *v)
{
	const struct trace *t = v->t;
	table_init(&v->writes, 0);
	for (uint32_t i = 1; i < v->h->transaction_count; i++) {
		const struct trace_transaction *w =
			&t->transactions[v->numbers[i]];
		for (uint32_t k = 0; k < w->op_count; k++) {
			uint32_t op = w->first_op + k;
			if (t->ops[op].kind != EVENT_WRITE ||
			    !keeps_op(v, op) ||
			    find_write(v, v->numbers[i], t->ops[op].key) !=
			            TABLE_NONE)
				continue;
			struct table_probe probe =
				write_probe(v->numbers[i], t->ops[op].key);
			while (table_next(&v->writes, &probe) != TABLE_NONE)
				continue;
			table_put(&v->writes, probe, op);
		}
	}
}

static bool still_writes(const struct view *v, uint32_t transaction,
                         uint32_t key)
{
	return transaction == TRACE_INIT || keeps_ops(v) ||
	       find_write(v, transaction, key) != TABLE_NONE;
}

/* Is operation `op` of this transaction in the history? */
static bool has_op(const struct view *v, uint32_t transaction, uint32_t op)
{
	const struct trace_op *o = &v->t->ops[op];
	if (!keeps_op(v, op) || o->from == TRACE_NOBODY) return false;
	if (o->kind == EVENT_WRITE) return true;
	if (o->strength == STRENGTH_GIVEN_UP) {
		uint32_t lock = trace_given_up(
			v->t->ops, op,
			v->t->transactions[transaction].first_op);
		return lock != TRACE_NONE && has_op(v, transaction, lock);
	}
	if (o->from != TRACE_SELF)
		return number_in(v, o->from) != TRACE_NONE &&
		       still_writes(v, o->from, o->key);
	return keeps_ops(v) || find_write(v, transaction, o->key) < op;
}

/* ---- keys ---- */

struct named_key {
	const char *name;
	uint32_t key;
};

static int compare_names(const void *a, const void *b)
{
	const struct named_key *x = a, *y = b;
	int order = strcmp(x->name, y->name);
	return order ? order : (x->key > y->key) - (x->key < y->key);
}

static const char *key_name(struct view *v, uint32_t key)
{
	struct text t = { 0 };
	trace_print_key(&t, v->t, key);
	const char *name =
		region_copy_string(&v->h->region, text_get(&t), t.length);
	text_free(&t);
	return name;
}

static void note_key(struct view *v, struct named_key **named, uint32_t *count,
                     size_t *capacity, uint32_t key)
{
	if (v->key[key] != TRACE_NONE) return;
	v->key[key] = *count;
	VEC_RESERVE(*named, *count, *capacity);
	(*named)[(*count)++] = (struct named_key){ key_name(v, key), key };
}

static void note_keys(struct view *v, struct named_key **named, uint32_t *count,
                      size_t *capacity)
{
	const struct trace *t = v->t;
	for (uint32_t i = 1; i < v->h->transaction_count; i++) {
		uint32_t n = v->numbers[i];
		const struct trace_transaction *w = &t->transactions[n];
		for (uint32_t k = 0; k < w->op_count; k++)
			if (has_op(v, n, w->first_op + k))
				note_key(v, named, count, capacity,
				         t->ops[w->first_op + k].key);
	}
}

static struct value value_in(struct view *v, int64_t value, uint8_t flags)
{
	return trace_rich_value(&v->h->region, v->t, value, flags);
}

static void choose_keys(struct view *v)
{
	struct history *h = v->h;
	struct named_key *named = NULL;
	size_t capacity = 0;
	uint32_t count = 0;
	v->key = mem_take(v->t->key_count * sizeof *v->key);
	for (uint32_t k = 0; k < v->t->key_count; k++) v->key[k] = TRACE_NONE;
	if (v->whole)
		for (uint32_t k = 0; k < v->t->key_count; k++)
			note_key(v, &named, &count, &capacity, k);
	else
		note_keys(v, &named, &count, &capacity);
	if (count) qsort(named, count, sizeof *named, compare_names);
	h->key_count = count;
	h->keys =
		region_take0(&h->region, (count + (size_t)1) * sizeof *h->keys);
	for (uint32_t k = 0; k < count; k++) {
		struct trace_value initial = v->t->keys[named[k].key].initial;
		v->key[named[k].key] = k;
		h->keys[k].name = named[k].name;
		h->keys[k].initial = value_in(v, initial.number, initial.flags);
	}
	free(named);
}

/* ---- sessions, transactions, events ---- */

static void take_event(struct view *v, struct transaction *to, uint32_t op)
{
	const struct trace_op *o = &v->t->ops[op];
	struct event *e = &to->events[to->event_count++];
	e->kind = (enum event_kind)o->kind;
	e->key = v->key[o->key];
	e->value = value_in(v, o->value, o->flags);
	e->strength = (enum strength)o->strength;
	if (o->kind == EVENT_WRITE)
		e->from = 0;
	else if (o->from == TRACE_SELF)
		e->from = HISTORY_SELF;
	else
		e->from = number_in(v, o->from);
}

static const char *transaction_name(struct view *v, uint32_t n)
{
	const struct trace_transaction *w = &v->t->transactions[n];
	char name[32] = "";
	if (w->name)
		return region_copy_string(&v->h->region, w->name,
		                          strlen(w->name));
	if (w->has_number) snprintf(name, sizeof name, "t%" PRId64, w->number);
	return region_copy_string(&v->h->region, name, strlen(name));
}

static void take_transaction(struct view *v, uint32_t i, uint32_t session)
{
	uint32_t n = v->numbers[i], count = 0;
	const struct trace_transaction *w = &v->t->transactions[n];
	struct transaction *to = &v->h->transactions[i];
	for (uint32_t k = 0; k < w->op_count; k++)
		count += has_op(v, n, w->first_op + k);
	to->name = transaction_name(v, n);
	to->session = session;
	to->index = n - v->t->sessions[w->session].first;
	to->aborted = w->status == TRACE_ABORTED;
	to->own = w->own;
	to->events = region_take0(&v->h->region,
	                          (count + (size_t)1) * sizeof *to->events);
	bool begun = false; /* the statement at hand has an event here */
	for (uint32_t k = 0; k < w->op_count; k++) {
		begun &= v->t->ops[w->first_op + k].joined;
		if (!has_op(v, n, w->first_op + k)) continue;
		take_event(v, to, w->first_op + k);
		to->events[to->event_count - 1].joined = begun;
		begun = true;
	}
}

/* The next session of h is this one of t; its transactions begin at *next. */
static void take_session(struct view *v, uint32_t s, uint32_t *next)
{
	struct history *h = v->h;
	const struct trace_session *from = &v->t->sessions[s];
	struct history_session *to = &h->sessions[h->session_count];
	to->first = *next;
	while (*next < h->transaction_count &&
	       v->numbers[*next] < from->first + from->count)
		take_transaction(v, (*next)++, h->session_count);
	to->count = *next - to->first;
	if (!to->count && !v->whole) return;
	to->name =
		region_copy_string(&h->region, from->name, strlen(from->name));
	to->after_all = from->after_all;
	h->session_count++;
}

static uint32_t session_of(const struct view *v, uint32_t i)
{
	return v->t->transactions[v->numbers[i]].session;
}

static void take_sessions(struct view *v)
{
	struct history *h = v->h;
	uint32_t next = 1, sessions = v->whole ? v->t->session_count : 0;
	for (uint32_t i = 1; !v->whole && i < h->transaction_count; i++)
		sessions += i == 1 || session_of(v, i) != session_of(v, i - 1);
	h->sessions = region_take0(&h->region, (sessions + (size_t)1) *
	                                               sizeof *h->sessions);
	h->transactions = region_take0(
		&h->region, h->transaction_count * sizeof *h->transactions);
	h->transactions[HISTORY_INIT].name = "init";
	h->transactions[HISTORY_INIT].session = UINT32_MAX;
	for (uint32_t s = 0; s < sessions; s++)
		take_session(v, v->whole ? s : session_of(v, next), &next);
	assert(next == h->transaction_count && h->session_count == sessions);
}

/* ---- known order, topological order ---- */

static bool in_history(const struct view *v, uint32_t transaction, uint32_t key)
{
	return number_in(v, transaction) != TRACE_NONE &&
	       v->key[key] != TRACE_NONE && still_writes(v, transaction, key);
}

static void add_known(struct view *v, size_t *capacity, uint32_t from,
                      uint32_t to, uint32_t key)
{
	struct history *h = v->h;
	VEC_RESERVE(h->known, h->known_count, *capacity);
	h->known[h->known_count++] =
		(struct history_known){ number_in(v, from), number_in(v, to),
		                        v->key[key] };
}

/* Those of a chain that are left out leave their neighbours ordered: `last`
 * holds, for each key of h, the last one of the chain that is in h. */
static void take_known(struct view *v)
{
	const struct trace *t = v->t;
	struct history *h = v->h;
	size_t capacity = 0;
	if (!t->known_count) return;
	uint32_t *last = mem_take0((size_t)h->key_count + 1, sizeof *last);
	for (uint32_t i = 0; i < t->known_count; i++) {
		struct history_known k = t->known[i];
		if (v->key[k.key] == TRACE_NONE) continue;
		uint32_t *before = &last[v->key[k.key]];
		if (in_history(v, k.from, k.key))
			*before = k.from;
		else if (i >= t->chain_count + t->tail_count)
			*before = 0;
		if (*before && *before != k.to && in_history(v, k.to, k.key))
			add_known(v, &capacity, *before, k.to, k.key);
	}
	free(last);
	if (!h->known) return;
	struct history_known *known =
		region_take(&h->region, h->known_count * sizeof *known);
	memcpy(known, h->known, h->known_count * sizeof *known);
	free(h->known);
	h->known = known;
}

static void find_order(struct history *h)
{
	struct facts *f = facts_of_history(h);
	if (f->order) {
		size_t size = f->n * sizeof *f->order;
		h->order = region_take(&h->region, size);
		memcpy(h->order, f->order, size);
	}
	facts_free(f);
}

struct history *trace_history(const struct trace *t,
                              const struct trace_part *part, uint32_t **numbers)
{
	struct view v = { .t = t,
		          .part = part,
		          .whole = !part || (!part->transactions && !part->ops),
		          .h = mem_take0(1, sizeof *v.h) };
	region_init(&v.h->region);
	v.h->valueless = t->valueless;
	v.h->ssi = t->ssi;
	choose_transactions(&v);
	if (!keeps_ops(&v)) index_writes(&v);
	choose_keys(&v);
	take_sessions(&v);
	take_known(&v);
	find_order(v.h);
	table_free(&v.writes);
	free(v.key);
	free(v.number);
	if (numbers)
		*numbers = v.numbers;
	else
		free(v.numbers);
	return v.h;
}

/* ---- the trace of a history ---- */

static struct trace_value value_out(struct trace_builder *b, struct value v)
{
	struct text t = { 0 };
	if (v.tag == VALUE_INT) return trace_value_number(v.i);
	if (v.tag == VALUE_NULL) return trace_value_null();
	value_print_json(&t, v);
	struct trace_value out = trace_value_text(b, text_get(&t), t.length);
	text_free(&t);
	return out;
}

static void add_event(struct trace_builder *b, uint32_t transaction,
                      const struct event *e)
{
	trace_op_add(b, transaction, e->kind, e->key, value_out(b, e->value),
	             0);
	trace_op_access(b, e->strength, e->joined);
	if (e->kind == EVENT_WRITE) return;
	if (e->from == HISTORY_SELF)
		trace_op_source(b, TRACE_FROM_SELF, 0);
	else if (e->from == HISTORY_INIT)
		trace_op_source(b, TRACE_FROM_INIT, 0);
	else
		trace_op_source(b, TRACE_FROM_OTHER, e->from);
}

/* Handles of transactions are their numbers in the history. */
static void add_transactions(struct trace_builder *b, const struct history *h)
{
	for (uint32_t i = 1; i < h->transaction_count; i++) {
		const struct transaction *w = &h->transactions[i];
		uint32_t handle = trace_transaction_new(
			b, w->session,
			w->aborted ? TRACE_ABORTED : TRACE_COMMITTED, 0);
		assert(handle == i);
		if (w->name && *w->name)
			trace_transaction_name(b, handle, w->name,
			                       strlen(w->name));
		for (uint32_t k = 0; k < w->event_count; k++)
			add_event(b, handle, &w->events[k]);
	}
}

static void add_known_order(struct trace *t, const struct history *h)
{
	t->known_count = h->known_count;
	t->known = mem_take0(h->known_count, sizeof *t->known);
	for (uint32_t i = 0; i < h->known_count; i++) t->known[i] = h->known[i];
}

struct trace *trace_of_history(const struct history *h, const char *file)
{
	struct trace_rules rules = { .initial = trace_value_null(),
		                     .sources = true,
		                     .aborted_reads = true };
	struct trace_builder *b = trace_builder_new(file, &rules);
	for (uint32_t k = 0; k < h->key_count; k++) {
		const char *name = h->keys[k].name;
		uint32_t key = trace_key_new(b, name, strlen(name));
		assert(key == k);
		trace_key_initial(b, key, value_out(b, h->keys[k].initial));
	}
	for (uint32_t s = 0; s < h->session_count; s++)
		trace_session_new(b, h->sessions[s].name,
		                  strlen(h->sessions[s].name),
		                  h->sessions[s].after_all);
	add_transactions(b, h);
	struct trace *t = trace_builder_trust(b);
	add_known_order(t, h);
	t->ssi = h->ssi;
	assert(t->transaction_count == h->transaction_count);
	for (uint32_t i = 1; i < t->transaction_count; i++)
		t->transactions[i].own = h->transactions[i].own;
	return t;
}
