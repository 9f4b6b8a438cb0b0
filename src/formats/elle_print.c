/* Writing histories as Jepsen records them, for Elle: for each transaction the
 * map of its invocation and that of its completion, a line each; processes are
 * sessions. Along a commit order if there is one, which real time then agrees
 * with; else session by session.
 *
 * Values that are unique, and none of them nil, stay as they are, those that
 * are neither integers, booleans nor strings as a string with their JSON;
 * otherwise all writes are numbered.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "formats/parsers.h"
#include "formats/renumber.h"
#include "formats/versions.h"

/* A value that nobody writes: reads from init have it. */
#define INITIAL INT64_MIN

struct write_value {
	int64_t number;
	uint32_t key, op;
};

struct printer {
	struct text *t;
	const struct trace *r;
	bool edn, lists;
	bool kept;         /* values are printed as they are */
	int64_t *numbers;  /* by operation: equal for a read and its write */
	int64_t *sessions; /* numbers */
	bool *counts;      /* by operation: is it written? */
	uint64_t index;    /* of the next line */
	struct versions versions;
	struct write_value *writes; /* lists: sorted by key and number */
	uint32_t write_count;
};

/* ---- which write has a value ---- */

static int compare_writes(const void *a, const void *b)
{
	const struct write_value *x = a, *y = b;
	if (x->key != y->key) return x->key < y->key ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

static void sort_writes(struct printer *p)
{
	const struct trace *r = p->r;
	p->writes = mem_take((r->op_count + (size_t)1) * sizeof *p->writes);
	for (uint32_t i = 0; i < r->op_count; i++)
		if (r->ops[i].kind == EVENT_WRITE)
			p->writes[p->write_count++] =
				(struct write_value){ p->numbers[i],
				                      r->ops[i].key, i };
	if (p->write_count)
		qsort(p->writes, p->write_count, sizeof *p->writes,
		      compare_writes);
}

/* The write that this read is of, or TRACE_NONE. */
static uint32_t find_write(const struct printer *p, uint32_t read)
{
	struct write_value x = { .number = p->numbers[read],
		                 .key = p->r->ops[read].key };
	const struct write_value *found =
		p->write_count ? bsearch(&x, p->writes, p->write_count,
	                                 sizeof *p->writes, compare_writes)
			       : NULL;
	assert(p->r->ops[read].kind == EVENT_READ);
	return found ? found->op : TRACE_NONE;
}

/* ---- may values stay? ---- */

static int compare_values(const void *a, const void *b)
{
	const struct trace_op *x = *(const struct trace_op *const *)a;
	const struct trace_op *y = *(const struct trace_op *const *)b;
	int fx = x->flags & TRACE_TEXT, fy = y->flags & TRACE_TEXT;
	if (x->key != y->key) return x->key < y->key ? -1 : 1;
	if (fx != fy) return fx < fy ? -1 : 1;
	return (x->value > y->value) - (x->value < y->value);
}

static bool are_unique(const struct trace *r)
{
	const struct trace_op **writes =
		mem_take((r->op_count + (size_t)1) * sizeof *writes);
	uint32_t n = 0;
	bool unique = true;
	for (uint32_t i = 0; i < r->op_count; i++)
		if (r->ops[i].kind == EVENT_WRITE) writes[n++] = &r->ops[i];
	if (n) qsort(writes, n, sizeof *writes, compare_values);
	for (uint32_t i = 1; i < n && unique; i++)
		unique = compare_values(&writes[i - 1], &writes[i]) != 0;
	free(writes);
	return unique;
}

/* nil is for init only. */
static bool can_keep(const struct trace *r)
{
	for (uint32_t i = 0; i < r->op_count; i++) {
		const struct trace_op *op = &r->ops[i];
		bool init = op->kind == EVENT_READ && op->from == TRACE_INIT;
		if (op->flags & (TRACE_NULL | TRACE_MISSING) && !init)
			return false;
	}
	return are_unique(r);
}

/* ---- maps ---- */

static void print_word(const struct printer *p, const char *word)
{
	text_char(p->t, p->edn ? ':' : '"');
	text_string(p->t, word);
	if (!p->edn) text_char(p->t, '"');
}

/* With what separates members. */
static void print_name(const struct printer *p, const char *name, bool first)
{
	if (!first) text_string(p->t, p->edn ? ", " : ",");
	print_word(p, name);
	text_char(p->t, p->edn ? ' ' : ':');
}

static void print_nil(const struct printer *p)
{
	text_string(p->t, p->edn ? "nil" : "null");
}

static void print_comma(const struct printer *p)
{
	text_char(p->t, p->edn ? ' ' : ',');
}

static void print_key(const struct printer *p, uint32_t key)
{
	const struct trace_key *k = &p->r->keys[key];
	if (k->name)
		text_json_string(p->t, k->name, strlen(k->name));
	else
		text_int(p->t, k->number);
}

/* The value of an operation that is not of init. */
static void print_value(const struct printer *p, uint32_t i)
{
	const struct trace_op *op = &p->r->ops[i];
	assert(i < p->r->op_count);
	if (!p->kept) {
		text_int(p->t, p->numbers[i]);
	} else if (op->flags & TRACE_TEXT) {
		const char *text = p->r->texts[op->value];
		if (*text == '{')
			text_json_string(p->t, text, strlen(text));
		else
			text_string(p->t, text);
	} else {
		text_int(p->t, op->value);
	}
}

/* All versions of the key up to the one that was read. */
static void print_list(const struct printer *p, uint32_t read)
{
	const struct versions *v = &p->versions;
	uint32_t key = p->r->ops[read].key;
	uint32_t write = find_write(p, read), n = 0;
	if (write != TRACE_NONE && v->place[write] != TRACE_NONE)
		n = v->place[write] + 1;
	assert(n <= v->first[key + 1] - v->first[key]);
	text_char(p->t, '[');
	for (uint32_t i = 0; i < n; i++) {
		if (i) print_comma(p);
		print_value(p, v->ops[v->first[key] + i]);
	}
	text_char(p->t, ']');
}

static void print_read(const struct printer *p, uint32_t i)
{
	if (p->lists)
		print_list(p, i);
	else if (p->numbers[i] == INITIAL)
		print_nil(p);
	else
		print_value(p, i);
}

/* [:r key value]; what is read is known when a transaction has committed. */
static void print_operation(const struct printer *p, uint32_t i, bool reads)
{
	const struct trace_op *op = &p->r->ops[i];
	bool read = op->kind == EVENT_READ;
	text_char(p->t, '[');
	print_word(p, read ? "r" : p->lists ? "append" : "w");
	print_comma(p);
	print_key(p, op->key);
	print_comma(p);
	if (!read)
		print_value(p, i);
	else if (reads)
		print_read(p, i);
	else
		print_nil(p);
	text_char(p->t, ']');
}

static void print_map(struct printer *p, const struct trace_transaction *w,
                      const char *type, bool reads)
{
	text_char(p->t, '{');
	print_name(p, "type", true);
	print_word(p, type);
	print_name(p, "f", false);
	print_word(p, "txn");
	print_name(p, "value", false);
	text_char(p->t, '[');
	bool first = true;
	for (uint32_t i = w->first_op; i < w->first_op + w->op_count; i++) {
		if (w->status == TRACE_COMMITTED && !p->counts[i]) continue;
		if (!first) print_comma(p);
		first = false;
		print_operation(p, i, reads);
	}
	text_char(p->t, ']');
	print_name(p, "process", false);
	text_int(p->t, p->sessions[w->session]);
	print_name(p, "index", false);
	text_int(p->t, (int64_t)p->index++);
	text_string(p->t, "}\n");
}

static void print_transaction(struct printer *p, uint32_t t)
{
	static const char *const types[] = {
		[TRACE_COMMITTED] = "ok",
		[TRACE_ABORTED] = "fail",
		[TRACE_UNKNOWN] = "info",
	};
	const struct trace_transaction *w = &p->r->transactions[t];
	assert(t > 0 && t < p->r->transaction_count);
	print_map(p, w, "invoke", false);
	print_map(p, w, types[w->status], w->status == TRACE_COMMITTED);
}

/* ---- files ---- */

/* Session by session. */
static void print_sessions(struct printer *p)
{
	for (uint32_t t = 1; t < p->r->transaction_count; t++)
		if (!p->r->sessions[p->r->transactions[t].session].after_all)
			print_transaction(p, t);
}

/* Those that did not commit come before what follows them in their session. */
static void print_along(struct printer *p, const uint32_t *order)
{
	const struct trace *r = p->r;
	uint32_t *next =
		mem_take((r->session_count + (size_t)1) * sizeof *next);
	uint32_t left = 0;
	for (uint32_t s = 0; s < r->session_count; s++) {
		next[s] = r->sessions[s].first;
		if (!r->sessions[s].after_all) left += r->sessions[s].count;
	}
	for (uint32_t i = 0; left && i < r->transaction_count; i++) {
		uint32_t t = order[i], s = r->transactions[t].session;
		assert(t < r->transaction_count);
		if (t == TRACE_INIT || r->sessions[s].after_all ||
		    r->transactions[t].status != TRACE_COMMITTED)
			continue;
		for (; next[s] <= t; left--) print_transaction(p, next[s]++);
	}
	for (uint32_t s = 0; s < r->session_count; s++) {
		uint32_t end = r->sessions[s].first + r->sessions[s].count;
		if (r->sessions[s].after_all) continue;
		while (next[s] < end) print_transaction(p, next[s]++);
	}
	free(next);
}

static bool fail(const struct trace *r, struct diags *d, const char *why)
{
	diags_add(d, DIAG_ERROR, r->file, r->line, 0, NULL,
	          "this history cannot be written as lists: %s", why);
	return false;
}

/* By key, how many versions the longest list that was read has. */
static uint32_t *longest_reads(const struct printer *p)
{
	const struct trace *r = p->r;
	uint32_t *longest =
		mem_take0((size_t)r->key_count + 1, sizeof *longest);
	for (uint32_t i = 0; i < r->op_count; i++) {
		if (r->ops[i].kind != EVENT_READ || !p->counts[i]) continue;
		uint32_t write = find_write(p, i), key = r->ops[i].key;
		if (write == TRACE_NONE) continue;
		uint32_t place = p->versions.place[write];
		if (place != TRACE_NONE && place >= longest[key])
			longest[key] = place + 1;
	}
	return longest;
}

static bool is_shown(const struct printer *p, const uint32_t *longest,
                     const struct history_known *known)
{
	const struct trace *r = p->r;
	const struct trace_transaction *w = &r->transactions[known->from];
	for (uint32_t i = w->first_op; i < w->first_op + w->op_count; i++)
		if (r->ops[i].key == known->key &&
		    r->ops[i].flags & TRACE_FINAL &&
		    p->versions.place[i] < longest[known->key])
			return true;
	return false;
}

/* Do lists show the order that is known? What nobody read comes after the
 * longest list, so it is enough that the earlier write is in that. */
static bool shows_known(const struct printer *p)
{
	uint32_t *longest = longest_reads(p), i = 0;
	while (i < p->r->known_count && is_shown(p, longest, &p->r->known[i]))
		i++;
	free(longest);
	return i == p->r->known_count;
}

/* Lists show what was read before the last element too, and a trace keeps only
 * that last element: it must tell the others. */
static bool find_lists(struct printer *p, const uint32_t *order,
                       struct diags *d)
{
	static const enum trace_anomaly_kind kinds[] = {
		ANOMALY_THIN_AIR, ANOMALY_ABORTED, ANOMALY_INTERNAL,
		ANOMALY_FUTURE,   ANOMALY_LISTS,   ANOMALY_REPEATED
	};
	const struct trace *r = p->r;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (r->anomalies_found[kinds[i]])
			return fail(r, d,
			            "it has reads that no list "
			            "explains (see isoscope check)");
	if (!r->lists && !order)
		return fail(r, d,
		            "registers do not tell in which order their "
		            "values were written, and no commit order is "
		            "known; write it as rw-edn or rw-json");
	if (!versions_find(&p->versions, r, r->lists ? NULL : order))
		return fail(r, d,
		            "the appends of two transactions "
		            "to a key are interleaved");
	sort_writes(p);
	/* What lists told, they will tell again. */
	return r->lists || shows_known(p) ||
	       fail(r, d,
	            "it knows an order of writes whose last one "
	            "nobody read; write it as isoscope");
}

static bool print(struct text *t, const struct trace *r, const uint32_t *order,
                  enum format f, struct diags *d)
{
	static const struct renumber rules = { .initial = INITIAL,
		                               .least = INT64_MIN };
	static const struct renumber sessions = { .initial = -1, .least = 0 };
	struct printer p = {
		.t = t,
		.r = r,
		.edn = f == FORMAT_REGISTER_EDN || f == FORMAT_LIST_EDN,
		.lists = f == FORMAT_LIST_EDN || f == FORMAT_LIST_JSON,
	};
	/* Writing lists as registers is a choice: the order is lost then. */
	unsigned can = CAN_ABORT | CAN_KNOWN;
	if (r->transaction_count > 1) can |= CAN_EMPTY;
	if (!format_can_write(r, f, can, d)) return false;
	p.numbers = renumber_values(r, &rules);
	p.sessions = renumber_sessions(r, &sessions);
	p.counts = ops_that_count(r);
	p.kept = can_keep(r);
	bool good = !p.lists || find_lists(&p, order, d);
	if (good && order)
		print_along(&p, order);
	else if (good)
		print_sessions(&p);
	free(p.numbers);
	free(p.sessions);
	free(p.counts);
	free(p.writes);
	versions_free(&p.versions);
	return good;
}

bool register_edn_print(struct text *t, const struct trace *r,
                        const uint32_t *order, struct diags *d)
{
	return print(t, r, order, FORMAT_REGISTER_EDN, d);
}

bool register_json_print(struct text *t, const struct trace *r,
                         const uint32_t *order, struct diags *d)
{
	return print(t, r, order, FORMAT_REGISTER_JSON, d);
}

bool list_edn_print(struct text *t, const struct trace *r,
                    const uint32_t *order, struct diags *d)
{
	return print(t, r, order, FORMAT_LIST_EDN, d);
}

bool list_json_print(struct text *t, const struct trace *r,
                     const uint32_t *order, struct diags *d)
{
	return print(t, r, order, FORMAT_LIST_JSON, d);
}
