/* Histories of Jepsen and Elle: what both syntaxes and both workloads share.
 *
 * A file is a sequence of maps, or of collections of maps. Each map is an
 * event of a process: it invoked a transaction, or one completed. Completions
 * count: `ok` committed, `fail` did not happen (its writes are those of an
 * aborted transaction, its reads are dropped), `info` may have happened (the
 * same, but whoever reads from it shows that it did). An invocation that never
 * completes is as `info`. If a `fail` or `info` has no value, the invocation's
 * is taken; an `ok` must have one.
 *
 * A process is a session. Where a map has no process, it is a session of its
 * own, and invocations are passed over. Processes that are no integers
 * (nemesis) are passed over, and so is what is no transaction by its `f`, as
 * long as its value is no collection. Real time is not heeded.
 *
 * Keys and values are integers, strings, keywords or booleans; a keyword is
 * the same as the string with its name. nil, or the empty list, is the initial
 * value, and is not written.
 *
 * Lists: a read is of the version of its last element. The order of a key's
 * versions is the longest list of it that a committed transaction read, of
 * which all others must be prefixes. Behind own appends a read ends with these,
 * in their order.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "formats/forms.h"
#include "history/trace_build.h"

/* ==== lists, read and appended in the order of the file ==== */

struct element {
	struct trace_value value;
	uint32_t reader; /* operation that read it first, at this place */
};

struct versions {
	struct element *items; /* the longest list so far */
	uint32_t count, capacity;
	uint32_t reader;      /* operation that read it */
	uint32_t transaction; /* whose appends `own` leads to */
	uint32_t own;         /* last one, of elle_lists.own */
};

/* An append of the current transaction. */
struct own_append {
	struct trace_value value;
	uint32_t op;
	uint32_t before; /* the one before, to the same key, or TRACE_NONE */
};

struct elle_lists {
	struct trace_builder *builder;
	uint32_t transaction;
	struct versions *keys;
	size_t key_count, key_capacity;
	struct own_append *own;
	size_t own_count, own_capacity;
};

static struct elle_lists *elle_lists_new(struct trace_builder *b)
{
	struct elle_lists *l = mem_take0(1, sizeof *l);
	l->builder = b;
	l->transaction = TRACE_NONE;
	return l;
}

static void elle_lists_free(struct elle_lists *l)
{
	if (!l) return;
	for (size_t k = 0; k < l->key_count; k++) free(l->keys[k].items);
	free(l->keys);
	free(l->own);
	free(l);
}

/* The next operations are of another transaction. */
static void elle_lists_begin(struct elle_lists *l, uint32_t transaction)
{
	l->transaction = transaction;
	l->own_count = 0;
}

static struct versions *find_key(struct elle_lists *l, uint32_t key)
{
	while (l->key_count <= key) {
		VEC_RESERVE(l->keys, l->key_count, l->key_capacity);
		l->keys[l->key_count++] =
			(struct versions){ .transaction = TRACE_NONE,
			                   .reader = TRACE_NONE,
			                   .own = TRACE_NONE };
	}
	assert(key < l->key_count);
	struct versions *v = &l->keys[key];
	if (v->transaction != l->transaction) {
		v->transaction = l->transaction;
		v->own = TRACE_NONE;
	}
	return v;
}

/* The operation, with this handle, appended the value. */
static void elle_lists_append(struct elle_lists *l, uint32_t key,
                              struct trace_value value, uint32_t op)
{
	struct versions *v = find_key(l, key);
	VEC_RESERVE(l->own, l->own_count, l->own_capacity);
	l->own[l->own_count] = (struct own_append){ value, op, v->own };
	v->own = (uint32_t)l->own_count++;
}

static bool equal(struct trace_value a, struct trace_value b)
{
	return a.number == b.number && a.flags == b.flags;
}

/* The list must end with the own appends. That its last element is the last of
 * them is seen from this element alone, and not reported here. */
static void check_own(struct elle_lists *l, const struct versions *v,
                      const struct trace_value *values, uint32_t count,
                      uint32_t op)
{
	uint32_t at = count;
	for (uint32_t i = v->own; i != TRACE_NONE; i = l->own[i].before) {
		assert(i < l->own_count);
		if (at && equal(values[at - 1], l->own[i].value)) {
			at--;
			continue;
		}
		if (i != v->own)
			trace_anomaly_add(l->builder, ANOMALY_INTERNAL, op,
			                  l->own[i].op);
		return;
	}
}

/* A committed transaction's operation read this list: anomalies that its last
 * element does not show are added. Linear in the count. */
static void elle_lists_read(struct elle_lists *l, uint32_t key,
                            const struct trace_value *values, uint32_t count,
                            uint32_t op)
{
	struct versions *v = find_key(l, key);
	check_own(l, v, values, count, op);
	uint32_t common = count < v->count ? count : v->count;
	for (uint32_t i = 0; i < common; i++)
		if (!equal(values[i], v->items[i].value)) {
			trace_anomaly_add(l->builder, ANOMALY_LISTS, op,
			                  v->reader);
			return;
		}
	if (count > v->count) v->reader = op;
	for (uint32_t i = v->count; i < count; i++) {
		VEC_RESERVE(v->items, v->count, v->capacity);
		v->items[v->count++] = (struct element){ values[i], op };
	}
}

/* ---- the end ---- */

struct place {
	struct trace_value value;
	uint32_t at;
};

static int compare_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	if (x->value.flags != y->value.flags)
		return x->value.flags < y->value.flags ? -1 : 1;
	if (x->value.number != y->value.number)
		return x->value.number < y->value.number ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

/* An element that is in the list before is no version of its own: marks it,
 * and reports it. */
static void find_repeated(struct elle_lists *l, const struct versions *v,
                          bool *repeated)
{
	struct place *places = mem_take(v->count * sizeof *places);
	assert(v->count > 0);
	for (uint32_t i = 0; i < v->count; i++)
		places[i] = (struct place){ v->items[i].value, i };
	qsort(places, v->count, sizeof *places, compare_places);
	for (uint32_t i = 1; i < v->count; i++) {
		if (!equal(places[i - 1].value, places[i].value)) continue;
		uint32_t op = v->items[places[i].at].reader;
		repeated[places[i].at] = true;
		trace_anomaly_add(l->builder, ANOMALY_REPEATED, op, TRACE_NONE);
	}
	free(places);
}

static void finish_key(struct elle_lists *l, uint32_t key)
{
	const struct versions *v = &l->keys[key];
	struct trace_value *values = mem_take(v->count * sizeof *values);
	bool *repeated = mem_take0(v->count, sizeof *repeated);
	uint32_t n = 0;
	find_repeated(l, v, repeated);
	for (uint32_t i = 0; i < v->count; i++)
		if (!repeated[i]) values[n++] = v->items[i].value;
	assert(n <= v->count);
	trace_key_versions(l->builder, key, values, n);
	free(values);
	free(repeated);
}

/* Tells the builder the versions of all keys. */
static void elle_lists_finish(struct elle_lists *l)
{
	for (uint32_t k = 0; k < l->key_count; k++)
		if (l->keys[k].count) finish_key(l, k);
}

/* ==== maps and transactions ==== */

enum entry_type { TYPE_NONE, TYPE_INVOKE, TYPE_OK, TYPE_FAIL, TYPE_INFO };
enum process_kind { PROCESS_NONE, PROCESS_NUMBER, PROCESS_OTHER };

/* The value of a map, which is read when it is known what the map means. */
struct extent {
	const char *at, *end; /* NULL: none, or nil */
	uint32_t line;
};

/* A map. */
struct entry {
	struct form start;
	enum entry_type type;
	enum process_kind process;
	int64_t number; /* of the process */
	bool has_index, other_f;
	int64_t index;
	struct extent value;
	bool collection; /* the value is one */
};

/* An invocation that has not completed yet; by session. */
struct pending {
	bool open;
	struct entry entry;
};

struct elle {
	struct input *in;
	struct forms f;     /* of the maps */
	struct forms value; /* of one's value */
	struct trace_builder *builder;
	struct elle_lists *lists; /* NULL: registers */
	uint32_t unnamed;         /* maps without a process */
	struct pending *pending;
	size_t pending_count, pending_capacity;
	struct trace_value *items; /* of the list that is being read */
	uint32_t item_count, item_capacity;
	struct text scratch;
};

/* ---- maps ---- */

static bool starts_collection(const struct form *x)
{
	return x->kind == FORM_OPEN && (x->bracket == '[' || x->bracket == '(');
}

static bool read_type(struct elle *e, struct entry *n, const struct form *x)
{
	static const struct {
		const char *word;
		enum entry_type type;
	} types[] = {
		{ "invoke", TYPE_INVOKE },
		{ "ok", TYPE_OK },
		{ "fail", TYPE_FAIL },
		{ "info", TYPE_INFO },
	};
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (form_is_name(x) && form_is(x, types[i].word)) {
			n->type = types[i].type;
			return true;
		}
	return form_expected(&e->f, x,
	                     "the type of an operation: invoke, ok, fail or "
	                     "info");
}

static void read_process(struct entry *n, const struct form *x)
{
	n->number = x->number;
	n->process = x->kind == FORM_NULL                 ? PROCESS_NONE
	             : x->kind == FORM_INTEGER && x->fits ? PROCESS_NUMBER
	                                                  : PROCESS_OTHER;
}

/* The form behind a name; x becomes it. */
static bool read_member(struct elle *e, struct entry *n, struct form *x)
{
	bool named = form_is_name(x);
	bool type = named && form_is(x, "type");
	bool process = named && form_is(x, "process");
	bool value = named && form_is(x, "value");
	bool index = named && form_is(x, "index");
	bool f = named && form_is(x, "f");
	if (!form_next(&e->f, x)) return false;
	if (x->kind == FORM_CLOSE)
		return form_error(&e->f, x, "the map ends after a key");
	if (type) return read_type(e, n, x);
	if (process) read_process(n, x);
	if (f) n->other_f = form_is_name(x) && !form_is(x, "txn");
	if (index && x->kind == FORM_INTEGER && x->fits) {
		n->has_index = true;
		n->index = x->number;
	}
	n->collection = value ? starts_collection(x) : n->collection;
	if (!form_skip(&e->f, x)) return false;
	if (value && x->kind != FORM_NULL)
		n->value = (struct extent){ x->at, x->end, x->line };
	return true;
}

static bool read_entry(struct elle *e, struct entry *n)
{
	struct form x;
	for (;;) {
		if (!form_next(&e->f, &x)) return false;
		if (x.kind == FORM_CLOSE) break;
		if (!form_skip(&e->f, &x) || !read_member(e, n, &x))
			return false;
	}
	return n->type != TYPE_NONE ||
	       form_error(&e->f, &n->start, "the map has no type");
}

/* ---- micro-operations ---- */

static struct trace_value name_value(struct elle *e, const struct form *x)
{
	text_clear(&e->scratch);
	text_json_string(&e->scratch, x->text, x->length);
	return trace_value_text(e->builder, e->scratch.data, e->scratch.length);
}

/* What may be written, and be in a list. An integer that is too wide for a
 * number is the string of its digits. */
static bool read_value(struct elle *e, const struct form *x,
                       struct trace_value *v)
{
	if (x->kind == FORM_INTEGER && x->fits)
		*v = trace_value_number(x->number);
	else if (x->kind == FORM_BOOL)
		*v = trace_value_text(e->builder, x->text, x->length);
	else if (x->kind == FORM_INTEGER || form_is_name(x))
		*v = name_value(e, x);
	else
		return form_expected(&e->value, x,
		                     "a value: an integer, a string or a "
		                     "keyword");
	return true;
}

static bool read_key(struct elle *e, const struct form *x, uint32_t *key)
{
	if (x->kind == FORM_INTEGER && x->fits)
		*key = trace_key_number(e->builder, x->number);
	else if (x->kind == FORM_INTEGER || x->kind == FORM_BOOL ||
	         form_is_name(x))
		*key = trace_key_named(e->builder, x->text, x->length);
	else
		return form_expected(&e->value, x,
		                     "a key: an integer, a string or a "
		                     "keyword");
	return true;
}

/* The elements of a list, whose bracket is read, into e->items. */
static bool read_items(struct elle *e)
{
	struct form x;
	for (;;) {
		struct trace_value v;
		if (!form_next(&e->value, &x)) return false;
		if (x.kind == FORM_CLOSE) return true;
		if (!read_value(e, &x, &v)) return false;
		VEC_RESERVE(e->items, e->item_count, e->item_capacity);
		e->items[e->item_count++] = v;
	}
}

static bool read_list(struct elle *e, const struct form *x,
                      struct trace_value *v)
{
	e->item_count = 0;
	if (starts_collection(x)) {
		if (!read_items(e)) return false;
	} else if (x->kind != FORM_NULL) {
		return form_expected(&e->value, x,
		                     "the list that was read (is this a "
		                     "history of registers?)");
	}
	*v = e->item_count ? e->items[e->item_count - 1] : trace_value_null();
	return true;
}

static bool read_register(struct elle *e, const struct form *x,
                          struct trace_value *v)
{
	if (x->kind == FORM_NULL) {
		*v = trace_value_null();
		return true;
	}
	if (starts_collection(x))
		return form_expected(&e->value, x,
		                     "the value of a register (is this a "
		                     "history of lists?)");
	return read_value(e, x, v);
}

static bool add_read(struct elle *e, uint32_t transaction, uint32_t key,
                     const struct form *x)
{
	struct trace_value v;
	uint32_t line = x->line;
	if (!(e->lists ? read_list(e, x, &v) : read_register(e, x, &v)))
		return false;
	uint32_t op =
		trace_op_add(e->builder, transaction, EVENT_READ, key, v, line);
	if (!e->lists) return true;
	trace_op_list(e->builder);
	elle_lists_read(e->lists, key, e->items, e->item_count, op);
	return true;
}

static bool add_write(struct elle *e, uint32_t transaction, uint32_t key,
                      const struct form *x)
{
	struct trace_value v;
	if (x->kind == FORM_NULL)
		return form_error(&e->value, x,
		                  "%.*s is the initial value "
		                  "and cannot be written",
		                  (int)x->length, x->text);
	if (!read_value(e, x, &v)) return false;
	uint32_t op = trace_op_add(e->builder, transaction, EVENT_WRITE, key, v,
	                           x->line);
	if (!e->lists) return true;
	trace_op_list(e->builder);
	elle_lists_append(e->lists, key, v, op);
	return true;
}

/* What the word of a micro-operation means. */
static bool read_function(struct elle *e, const struct form *x,
                          enum event_kind *kind)
{
	bool name = form_is_name(x);
	*kind = name && form_is(x, "r") ? EVENT_READ : EVENT_WRITE;
	if (*kind == EVENT_READ) return true;
	if (name && form_is(x, e->lists ? "append" : "w")) return true;
	if (name && form_is(x, e->lists ? "w" : "append"))
		return form_error(&e->value, x, "%.*s in a history of %s",
		                  (int)x->length, x->text,
		                  e->lists ? "lists" : "registers");
	return form_expected(&e->value, x, e->lists ? "r or append" : "r or w");
}

/* [:r key value] or [:w key value], whose bracket is read */
static bool read_micro_operation(struct elle *e, uint32_t transaction,
                                 bool reads_count)
{
	enum event_kind kind;
	uint32_t key;
	struct form x;
	struct forms *f = &e->value;
	if (!form_next(f, &x) || !read_function(e, &x, &kind)) return false;
	if (!form_next(f, &x) || !read_key(e, &x, &key)) return false;
	if (!form_next(f, &x)) return false;
	if (x.kind == FORM_CLOSE)
		return form_expected(f, &x, "a value (or nil)");
	bool good = kind == EVENT_WRITE ? add_write(e, transaction, key, &x)
	            : reads_count       ? add_read(e, transaction, key, &x)
	                                : form_skip(f, &x);
	if (!good || !form_next(f, &x)) return false;
	return x.kind == FORM_CLOSE ||
	       form_expected(f, &x, "the end of the micro-operation");
}

static bool read_operations(struct elle *e, uint32_t transaction,
                            struct extent value, bool reads_count)
{
	struct form x;
	struct forms *f = &e->value;
	forms_restart(f, value.at, value.end, value.line);
	if (!form_next(f, &x)) return false;
	for (;;) {
		if (!form_next(f, &x)) return false;
		if (x.kind == FORM_CLOSE) return true;
		if (!starts_collection(&x))
			return form_expected(f, &x,
			                     "a micro-operation, "
			                     "[r key value]");
		if (!read_micro_operation(e, transaction, reads_count))
			return false;
	}
}

/* ---- transactions ---- */

static struct pending *find_pending(struct elle *e, uint32_t session)
{
	while (e->pending_count <= session) {
		VEC_RESERVE(e->pending, e->pending_count, e->pending_capacity);
		e->pending[e->pending_count++].open = false;
	}
	return &e->pending[session];
}

static bool add_transaction(struct elle *e, uint32_t session,
                            const struct entry *n, enum trace_status status)
{
	uint32_t t = trace_transaction_new(e->builder, session, status,
	                                   n->start.line);
	if (n->has_index) trace_transaction_number(e->builder, t, n->index);
	if (e->lists) elle_lists_begin(e->lists, t);
	return read_operations(e, t, n->value, status == TRACE_COMMITTED);
}

static bool complete(struct elle *e, uint32_t session, struct entry *n)
{
	static const enum trace_status status[] = {
		[TYPE_OK] = TRACE_COMMITTED,
		[TYPE_FAIL] = TRACE_ABORTED,
		[TYPE_INFO] = TRACE_UNKNOWN,
		[TYPE_INVOKE] = TRACE_UNKNOWN,
	};
	/* Without a value nothing is known of what it did. */
	return !n->value.at || add_transaction(e, session, n, status[n->type]);
}

/* An invocation waits; a completion takes the place of what waits. */
static bool take_process(struct elle *e, struct entry *n)
{
	uint32_t session = trace_session_number(e->builder, n->number);
	struct pending *p = find_pending(e, session);
	struct pending waiting = *p;
	p->open = n->type == TYPE_INVOKE;
	p->entry = *n;
	if (n->type == TYPE_INVOKE)
		return !waiting.open || complete(e, session, &waiting.entry);
	if (!n->value.at && waiting.open) n->value = waiting.entry.value;
	return complete(e, session, n);
}

static bool take_unnamed(struct elle *e, struct entry *n)
{
	char name[16];
	if (n->type == TYPE_INVOKE || !n->value.at) return true;
	int length = snprintf(name, sizeof name, "%u", e->unnamed++);
	uint32_t session =
		trace_session_new(e->builder, name, (size_t)length, false);
	return complete(e, session, n);
}

static bool take_entry(struct elle *e, struct entry *n)
{
	if (n->process == PROCESS_OTHER) return true;
	if (n->other_f && !n->collection) return true;
	if (n->type == TYPE_OK && !n->value.at)
		return form_error(&e->f, &n->start,
		                  "a transaction that is ok has no value");
	struct form value = { .kind = FORM_SYMBOL,
		              .at = n->value.at,
		              .end = n->value.end };
	if (n->value.at && !n->collection)
		return form_expected(&e->f, &value,
		                     "a value that is a vector of "
		                     "micro-operations");
	return n->process == PROCESS_NONE ? take_unnamed(e, n)
	                                  : take_process(e, n);
}

/* ---- files ---- */

static bool read_entries(struct elle *e)
{
	struct form x;
	for (;;) {
		if (!form_next(&e->f, &x)) return false;
		if (x.kind == FORM_END) return true;
		if (x.kind == FORM_CLOSE) continue;
		if (starts_collection(&x) && e->f.depth == 1) continue;
		if (x.kind != FORM_OPEN || x.bracket != '{')
			return form_expected(&e->f, &x, "a map: an operation");
		struct entry n = { .start = x };
		if (!read_entry(e, &n) || !take_entry(e, &n)) return false;
		input_passed(e->in, x.at);
	}
}

/* What was invoked and never completed. */
static bool complete_all(struct elle *e)
{
	for (uint32_t s = 0; s < e->pending_count; s++)
		if (e->pending[s].open && e->pending[s].entry.value.at &&
		    !complete(e, s, &e->pending[s].entry))
			return false;
	if (e->lists) elle_lists_finish(e->lists);
	return true;
}

static void elle_free(struct elle *e)
{
	forms_free(&e->f);
	forms_free(&e->value);
	elle_lists_free(e->lists);
	free(e->pending);
	free(e->items);
	text_free(&e->scratch);
	trace_builder_free(e->builder);
}

static struct trace *elle_parse(struct input *in,
                                const struct reader_options *o, struct diags *d,
                                enum form_syntax syntax, bool lists)
{
	struct trace_rules rules = {
		.initial = trace_value_null(),
		.unknown_is_initial = o->unknown_is_initial,
		.lists = lists,
	};
	struct elle e = { .in = in };
	struct trace *t = NULL;
	const char *end = in->bytes + in->length;
	forms_init(&e.f, in, in->bytes, end, 1, syntax, d);
	forms_init(&e.value, in, in->bytes, in->bytes, 1, syntax, d);
	e.builder = trace_builder_new(in->file, &rules);
	if (lists) e.lists = elle_lists_new(e.builder);
	if (read_entries(&e) && complete_all(&e)) {
		t = trace_builder_finish(e.builder, d);
		e.builder = NULL;
	}
	elle_free(&e);
	return t;
}

struct trace *register_edn_parse(struct input *in,
                                 const struct reader_options *o,
                                 struct diags *d)
{
	return elle_parse(in, o, d, FORM_EDN, false);
}

struct trace *list_edn_parse(struct input *in, const struct reader_options *o,
                             struct diags *d)
{
	return elle_parse(in, o, d, FORM_EDN, true);
}

struct trace *register_json_parse(struct input *in,
                                  const struct reader_options *o,
                                  struct diags *d)
{
	return elle_parse(in, o, d, FORM_JSON, false);
}

struct trace *list_json_parse(struct input *in, const struct reader_options *o,
                              struct diags *d)
{
	return elle_parse(in, o, d, FORM_JSON, true);
}

/* ==== is a file one of Jepsen or Elle, and of which kind? ==== */

enum { MAPS_MAX = 10000 }; /* so many are looked at */

enum workload { UNDECIDED, REGISTERS, LISTS };

struct detection {
	struct forms f;
	bool typed; /* the first map has a type */
	enum workload workload;
};

/* [:r key value], whose bracket is read: the word tells, and the value does
 * if it is not nil. */
static bool look_at_micro_operation(struct detection *n)
{
	struct form x;
	struct forms *f = &n->f;
	if (!form_next(f, &x)) return false;
	if (form_is_name(&x) && form_is(&x, "append")) n->workload = LISTS;
	if (form_is_name(&x) && form_is(&x, "w")) n->workload = REGISTERS;
	bool read = form_is_name(&x) && form_is(&x, "r");
	for (int place = 0;; place++) {
		if (x.kind == FORM_CLOSE) return true;
		if (place == 2 && read && starts_collection(&x))
			n->workload = LISTS;
		else if (place == 2 && read && x.kind != FORM_NULL)
			n->workload = REGISTERS;
		if (!form_skip(f, &x) || !form_next(f, &x)) return false;
	}
}

static bool look_at_value(struct detection *n, struct form *x)
{
	if (!starts_collection(x)) return form_skip(&n->f, x);
	for (;;) {
		if (!form_next(&n->f, x)) return false;
		if (x->kind == FORM_CLOSE) return true;
		bool micro = starts_collection(x) && n->workload == UNDECIDED;
		if (!(micro ? look_at_micro_operation(n) : form_skip(&n->f, x)))
			return false;
	}
	return true;
}

static bool look_at_map(struct detection *n)
{
	struct form x;
	while (n->workload == UNDECIDED || !n->typed) {
		if (!form_next(&n->f, &x)) return false;
		if (x.kind == FORM_CLOSE) return true;
		bool name = form_is_name(&x);
		n->typed |= name && form_is(&x, "type");
		bool value = name && form_is(&x, "value") &&
		             n->workload == UNDECIDED;
		if (!form_skip(&n->f, &x) || !form_next(&n->f, &x))
			return false;
		if (x.kind == FORM_CLOSE) return false; /* a key alone */
		if (!(value ? look_at_value(n, &x) : form_skip(&n->f, &x)))
			return false;
	}
	return true;
}

static void look(struct detection *n)
{
	struct form x;
	for (unsigned maps = 0; maps < MAPS_MAX;) {
		if (!form_next(&n->f, &x) || x.kind == FORM_END) return;
		if (x.kind == FORM_CLOSE) continue;
		if (starts_collection(&x) && n->f.depth == 1) continue;
		if (x.kind != FORM_OPEN || x.bracket != '{') return;
		if (!look_at_map(n) || !n->typed) return;
		if (n->workload != UNDECIDED) return;
		maps++;
	}
}

/* Is the first map one of JSON? There names stand in quotes. */
static bool is_json(const struct input *in)
{
	static const char blanks[] = " \t\r\n[(";
	size_t i = 0;
	while (i < in->length && in->bytes[i] && strchr(blanks, in->bytes[i]))
		i++;
	if (i == in->length || in->bytes[i] != '{') return false;
	for (i++; i < in->length && in->bytes[i]; i++)
		if (!strchr(blanks, in->bytes[i])) break;
	return i < in->length && in->bytes[i] == '"';
}

enum format elle_detect(const struct input *in)
{
	bool json = is_json(in);
	struct diags unheard = { 0 };
	struct detection n = { .workload = UNDECIDED };
	forms_init(&n.f, in, in->bytes, in->bytes + in->length, 1,
	           json ? FORM_JSON : FORM_EDN, &unheard);
	look(&n);
	forms_free(&n.f);
	diags_free(&unheard);
	if (!n.typed) return FORMAT_COUNT;
	if (n.workload == LISTS)
		return json ? FORMAT_LIST_JSON : FORMAT_LIST_EDN;
	return json ? FORMAT_REGISTER_JSON : FORMAT_REGISTER_EDN;
}
