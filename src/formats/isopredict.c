/* The traces that IsoPredict reads, as MonkeyDB was made to print them: an
 * operation each line,
 *
 *     READ KEY[<key>] Txn(<session>, <index>) From(<session>, <index>)
 *     WRITE KEY[<key>] Txn(<session>, <index>)
 *     INSERT[<row>] to Set[<set>] Txn(<session>, <index>)
 *     DELETE[<row>] from Set[<set>] Txn(<session>, <index>)
 *     CONTAINS[<row>] in Set[<set>] From(<..>) Txn(<..>)
 *
 * Empty lines say nothing; any other one is an error, for a read that is not
 * understood may be the one that matters. Ids are opaque texts; `0, 0` is init,
 * whose lines may be missing. Rows of sets are keys of their own, which INSERT
 * and DELETE write. A read names its writer, and there are no values: writes
 * are numbered. A read behind its transaction's own write is of that, whatever
 * it names. What aborted is not in the file.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/table.h"
#include "formats/parsers.h"
#include "formats/renumber.h"
#include "history/trace_build.h"

#define INIT_ID "0, 0"

enum { INIT = 0, NOBODY = UINT32_MAX };

struct piece {
	const char *at;
	size_t length;
};

struct line {
	enum event_kind kind;
	struct piece key, set, transaction, from; /* set: or NULL */
};

struct session_entry {
	struct piece id;
	uint32_t handle; /* in the builder */
};

struct entry {
	struct piece id;
	uint32_t session;
	uint32_t line;    /* of its first operation; 0: it has none */
	uint32_t records; /* how many */
	uint32_t first;   /* once they are grouped */
	uint32_t handle;
};

struct record {
	const char *at;                        /* where the writer is named */
	uint32_t transaction, from, key, line; /* from: NOBODY for a write */
};

struct isopredict {
	struct input *in;
	struct diags *d;
	struct trace_builder *b;
	uint32_t line;
	struct session_entry *sessions;
	struct entry *transactions;
	uint32_t *order; /* of those that have operations */
	struct record *records;
	uint32_t session_count, transaction_count, order_count, record_count;
	size_t session_capacity, transaction_capacity, order_capacity,
		record_capacity;
	uint32_t key_count;
	struct table by_session, by_transaction;
	struct table writes; /* the first of each transaction and key */
	struct text set;     /* the name of a row */
};

/* ---- what a line says ---- */

static void skip(struct piece *rest, size_t n)
{
	assert(n <= rest->length);
	rest->at += n;
	rest->length -= n;
}

/* Digits stand for some text up to the character behind them. */
enum { PART_KEY, PART_SET, PART_TRANSACTION, PART_FROM, PARTS };

static const struct form_of_line {
	enum event_kind kind;
	const char *words;
} forms_of_lines[] = {
	{ EVENT_READ, "READ KEY[0] Txn(2) From(3)" },
	{ EVENT_WRITE, "WRITE KEY[0] Txn(2)" },
	{ EVENT_WRITE, "INSERT[0] to Set[1] Txn(2)" },
	{ EVENT_WRITE, "DELETE[0] from Set[1] Txn(2)" },
	{ EVENT_READ, "CONTAINS[0] in Set[1] From(3) Txn(2)" },
};

/* Takes from the rest of a line as much as is of this form. True if that is
 * all. */
static bool match_form(struct piece *rest, const char *words,
                       struct piece parts[PARTS])
{
	for (; *words; words++) {
		if (*words < '0' || *words > '3') {
			if (!rest->length || *rest->at != *words) return false;
			skip(rest, 1);
			continue;
		}
		const char *stop = memchr(rest->at, words[1], rest->length);
		if (!stop || stop == rest->at) return false;
		struct piece *part = &parts[*words - '0'];
		*part = (struct piece){ rest->at, (size_t)(stop - rest->at) };
		skip(rest, part->length);
	}
	return !rest->length;
}

/* What the line says; false if that is nothing, then *wrong is where it cannot
 * be gone on reading. */
static bool match_line(struct piece line, struct line *x, const char **wrong)
{
	*wrong = line.at;
	for (size_t i = 0; i < sizeof forms_of_lines / sizeof *forms_of_lines;
	     i++) {
		struct piece parts[PARTS] = { { 0 } }, rest = line;
		if (match_form(&rest, forms_of_lines[i].words, parts)) {
			*x = (struct line){ forms_of_lines[i].kind,
				            parts[PART_KEY], parts[PART_SET],
				            parts[PART_TRANSACTION],
				            parts[PART_FROM] };
			return true;
		}
		if (rest.at > *wrong) *wrong = rest.at;
	}
	return false;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* The line that begins here, without blanks around it; *at is then where the
 * next one does. */
static struct piece next_line(const char **at, const char *end)
{
	const char *stop = memchr(*at, '\n', (size_t)(end - *at));
	struct piece line = { *at, (size_t)((stop ? stop : end) - *at) };
	*at = stop ? stop + 1 : end;
	while (line.length && is_blank(*line.at)) skip(&line, 1);
	while (line.length && is_blank(line.at[line.length - 1])) line.length--;
	return line;
}

bool isopredict_detect(const char *at, const char *end)
{
	struct line x;
	const char *wrong;
	while (at < end)
		if (match_line(next_line(&at, end), &x, &wrong)) return true;
	return false;
}

/* ---- ids ---- */

static bool same_piece(struct piece a, struct piece b)
{
	return a.length == b.length && !memcmp(a.at, b.at, a.length);
}

static uint32_t find_session(struct isopredict *p, struct piece id)
{
	struct table *x = &p->by_session;
	struct table_probe at = table_probe(hash_bytes(0, id.at, id.length));
	uint32_t i;
	while ((i = table_next(x, &at)) != TABLE_NONE)
		if (same_piece(p->sessions[i].id, id)) return i;
	VEC_RESERVE(p->sessions, p->session_count, p->session_capacity);
	p->sessions[p->session_count] =
		(struct session_entry){ .id = id, .handle = NOBODY };
	table_put(x, at, p->session_count);
	return p->session_count++;
}

/* The session of an id, which is what comes before the comma. */
static bool split_id(struct isopredict *p, struct piece id,
                     struct piece *session)
{
	size_t n = 0;
	while (n + 2 < id.length && memcmp(id.at + n, ", ", 2) != 0) n++;
	*session = (struct piece){ id.at, n };
	if (!n || n + 2 >= id.length)
		input_error(p->in, p->d, id.at,
		            "expected a session, a comma, a blank and an "
		            "index, as in '1, 0'");
	else if (n == 1 && *id.at == '0' &&
	         !same_piece(id, (struct piece){ INIT_ID, strlen(INIT_ID) }))
		input_error(p->in, p->d, id.at,
		            "session 0 has one transaction only, '0, 0', "
		            "which stands for the initial state");
	else
		return true;
	return false;
}

static bool find_transaction(struct isopredict *p, struct piece id,
                             uint32_t *out)
{
	struct table *x = &p->by_transaction;
	struct table_probe at = table_probe(hash_bytes(0, id.at, id.length));
	struct piece session;
	while ((*out = table_next(x, &at)) != TABLE_NONE)
		if (same_piece(p->transactions[*out].id, id)) return true;
	if (!split_id(p, id, &session)) return false;
	VEC_RESERVE(p->transactions, p->transaction_count,
	            p->transaction_capacity);
	*out = p->transaction_count++;
	p->transactions[*out] =
		(struct entry){ .id = id, .session = find_session(p, session) };
	table_put(x, at, *out);
	return true;
}

static uint32_t find_key(struct isopredict *p, const struct line *x)
{
	struct piece name = x->key;
	if (x->set.at) {
		text_clear(&p->set);
		text_string(&p->set, "Set(");
		text_bytes(&p->set, x->set.at, x->set.length);
		text_char(&p->set, ':');
		text_bytes(&p->set, x->key.at, x->key.length);
		text_char(&p->set, ')');
		name = (struct piece){ p->set.data, p->set.length };
	}
	uint32_t key = trace_key_named(p->b, name.at, name.length);
	if (key >= p->key_count) p->key_count = key + 1;
	return key;
}

/* ---- lines ---- */

/* Names are shown, and written in other formats. */
static bool check_text(struct isopredict *p, struct piece line)
{
	for (size_t i = 0, n; i < line.length; i += n) {
		n = input_utf8_length(line.at + i, line.length - i);
		if (n) continue;
		input_error(p->in, p->d, line.at + i,
		            line.at[i] ? "this is not UTF-8"
		                       : "this is not a text: it holds a zero "
		                         "byte");
		return false;
	}
	return true;
}

/* The record of its first write of the key, or TABLE_NONE; then *at is where
 * one goes. */
static uint32_t find_write(const struct isopredict *p, uint32_t transaction,
                           uint32_t key, struct table_probe *at)
{
	uint32_t i;
	*at = table_probe(hash_mix(transaction, key));
	while ((i = table_next(&p->writes, at)) != TABLE_NONE)
		if (p->records[i].transaction == transaction &&
		    p->records[i].key == key)
			break;
	return i;
}

static void note_write(struct isopredict *p, const struct record *r)
{
	struct table_probe at;
	if (find_write(p, r->transaction, r->key, &at) == TABLE_NONE)
		table_put(&p->writes, at, p->record_count);
}

static void add_record(struct isopredict *p, struct record r)
{
	struct entry *t = &p->transactions[r.transaction];
	if (!t->records++) {
		t->line = p->line;
		VEC_RESERVE(p->order, p->order_count, p->order_capacity);
		p->order[p->order_count++] = r.transaction;
	}
	if (r.from == NOBODY) note_write(p, &r);
	VEC_RESERVE(p->records, p->record_count, p->record_capacity);
	p->records[p->record_count++] = r;
}

static bool no_operation(struct isopredict *p, struct piece line,
                         const char *wrong)
{
	input_error(p->in, p->d, wrong,
	            wrong == line.at
	                    ? "this line is not an operation of IsoPredict, "
	                      "such as "
	                      "'READ KEY[k] Txn(1, 0) From(0, 0)' or 'WRITE "
	                      "KEY[k] Txn(1, 0)'"
	                    : "from here on, this line is not an operation of "
	                      "IsoPredict, such as 'READ KEY[k] Txn(1, 0) "
	                      "From(0, 0)' or 'WRITE KEY[k] Txn(1, 0)'");
	return false;
}

static bool parse_line(struct isopredict *p, struct piece line)
{
	struct line x;
	const char *wrong;
	if (!line.length) return true;
	if (!check_text(p, line)) return false;
	if (!match_line(line, &x, &wrong)) return no_operation(p, line, wrong);
	struct record r = { .at = x.from.at, .from = NOBODY, .line = p->line };
	if (!find_transaction(p, x.transaction, &r.transaction)) return false;
	if (x.kind == EVENT_READ && !find_transaction(p, x.from, &r.from))
		return false;
	r.key = find_key(p, &x);
	if (r.transaction != INIT) add_record(p, r);
	return true;
}

static bool parse_lines(struct isopredict *p)
{
	const char *at = p->in->bytes, *end = at + p->in->length;
	while (at < end) {
		p->line++;
		if (!parse_line(p, next_line(&at, end))) return false;
	}
	return true;
}

/* ---- the trace ---- */

static bool is_number(struct piece p)
{
	if (!p.length || (p.at[0] == '0' && p.length > 1)) return false;
	for (size_t i = 0; i < p.length; i++)
		if (p.at[i] < '0' || p.at[i] > '9') return false;
	return true;
}

/* Numbers by size, then texts. */
static int compare_sessions(const void *a, const void *b)
{
	struct piece x = (*(struct session_entry *const *)a)->id;
	struct piece y = (*(struct session_entry *const *)b)->id;
	bool first = is_number(x), second = is_number(y);
	if (first != second) return first ? -1 : 1;
	if (first && x.length != y.length) return x.length < y.length ? -1 : 1;
	int order =
		memcmp(x.at, y.at, x.length < y.length ? x.length : y.length);
	return order ? order : (x.length > y.length) - (x.length < y.length);
}

/* Those that have transactions, in the order of their ids: what the file has
 * first depends on how they ran. */
static void add_sessions(struct isopredict *p)
{
	struct session_entry **sorted =
		mem_take((p->session_count + (size_t)1) * sizeof *sorted);
	uint32_t count = 0;
	for (uint32_t i = 0; i < p->order_count; i++) {
		const struct entry *t = &p->transactions[p->order[i]];
		struct session_entry *s = &p->sessions[t->session];
		if (s->handle != NOBODY) continue;
		s->handle = 0;
		sorted[count++] = s;
	}
	if (count) qsort(sorted, count, sizeof *sorted, compare_sessions);
	for (uint32_t i = 0; i < count; i++)
		sorted[i]->handle = trace_session_new(
			p->b, sorted[i]->id.at, sorted[i]->id.length, false);
	free(sorted);
}

static void add_transactions(struct isopredict *p)
{
	for (uint32_t i = 0; i < p->order_count; i++) {
		struct entry *t = &p->transactions[p->order[i]];
		const struct session_entry *s = &p->sessions[t->session];
		struct piece index = t->id;
		skip(&index, s->id.length + 2);
		t->handle = trace_transaction_new(p->b, s->handle,
		                                  TRACE_COMMITTED, t->line);
		if (is_number(index) && index.length < 19)
			trace_transaction_number(p->b, t->handle,
			                         strtoll(index.at, NULL, 10));
		else
			trace_transaction_name(p->b, t->handle, index.at,
			                       index.length);
	}
}

/* The records of each transaction together, in their order. */
static struct record *group_records(struct isopredict *p)
{
	struct record *grouped =
		mem_take((p->record_count + (size_t)1) * sizeof *grouped);
	uint32_t first = 0;
	for (uint32_t i = 0; i < p->order_count; i++) {
		struct entry *t = &p->transactions[p->order[i]];
		t->first = first;
		first += t->records;
		t->records = 0;
	}
	for (uint32_t i = 0; i < p->record_count; i++) {
		struct entry *t = &p->transactions[p->records[i].transaction];
		grouped[t->first + t->records++] = p->records[i];
	}
	return grouped;
}

static bool no_writer(struct isopredict *p, const struct record *r)
{
	struct piece id = p->transactions[r->from].id;
	input_error(p->in, p->d, r->at,
	            p->transactions[r->from].records
	                    ? "transaction '%.*s' does not write that key"
	                    : "no line of the file is of transaction '%.*s'",
	            (int)id.length, id.at);
	return false;
}

/* `own`: behind the transaction's own write of the key. */
static bool add_read(struct isopredict *p, const struct record *r, bool own)
{
	struct table_probe at;
	trace_op_add(p->b, p->transactions[r->transaction].handle, EVENT_READ,
	             r->key, (struct trace_value){ .flags = TRACE_MISSING },
	             r->line);
	if (own)
		trace_op_source(p->b, TRACE_FROM_SELF, 0);
	else if (r->from == INIT)
		trace_op_source(p->b, TRACE_FROM_INIT, 0);
	else if (find_write(p, r->from, r->key, &at) != TABLE_NONE)
		trace_op_source(p->b, TRACE_FROM_OTHER,
		                p->transactions[r->from].handle);
	else
		return no_writer(p, r);
	return true;
}

static bool add_operations(struct isopredict *p)
{
	struct record *records = group_records(p);
	/* By key: the transaction that wrote it last, which is never init. */
	uint32_t *wrote = mem_take0(p->key_count + (size_t)1, sizeof *wrote);
	bool good = true;
	int64_t value = 0;
	for (uint32_t i = 0; i < p->record_count && good; i++) {
		const struct record *r = &records[i];
		if (r->from != NOBODY) {
			good = add_read(p, r, wrote[r->key] == r->transaction);
			continue;
		}
		wrote[r->key] = r->transaction;
		trace_op_add(p->b, p->transactions[r->transaction].handle,
		             EVENT_WRITE, r->key, trace_value_number(++value),
		             r->line);
	}
	free(records);
	free(wrote);
	return good;
}

static bool parse(struct isopredict *p)
{
	uint32_t init;
	table_init(&p->by_session, 0);
	table_init(&p->by_transaction, 0);
	table_init(&p->writes, 0);
	find_transaction(p, (struct piece){ INIT_ID, strlen(INIT_ID) }, &init);
	if (!parse_lines(p)) return false;
	add_sessions(p);
	add_transactions(p);
	return add_operations(p);
}

struct trace *isopredict_parse(struct input *in, const struct reader_options *o,
                               struct diags *d)
{
	struct trace_rules rules = {
		.initial = trace_value_null(),
		.sources = true,
		.unknown_is_initial = o->unknown_is_initial,
	};
	struct isopredict p = { .in = in, .d = d };
	p.b = trace_builder_new(in->file, &rules);
	bool good = parse(&p);
	free(p.sessions);
	free(p.transactions);
	free(p.order);
	free(p.records);
	table_free(&p.by_session);
	table_free(&p.by_transaction);
	table_free(&p.writes);
	text_free(&p.set);
	struct trace *t = NULL;
	if (good)
		t = trace_builder_finish(p.b, d);
	else
		trace_builder_free(p.b);
	if (t) t->valueless = true;
	return t;
}

/* ==== printing ==== */

/* ---- the order of transactions ---- */

/* IsoPredict wants writers before their readers. Where sessions and reads go
 * round in circles, the order is that of sessions. */
struct walk {
	const struct trace *r;
	enum { NEW, OPEN, DONE } * state; /* by transaction */
	uint32_t *cursor; /* by transaction: operations looked at */
	uint32_t *stack, *out;
	uint32_t depth, count;
	bool circular;
};

/* Is it to be written before the one on top of the stack? */
static bool comes_first(struct walk *w, uint32_t transaction)
{
	if (transaction == TRACE_INIT || transaction >= TRACE_NOBODY ||
	    w->state[transaction] == DONE)
		return false;
	w->circular |= w->state[transaction] == OPEN;
	return w->state[transaction] == NEW;
}

static void enter(struct walk *w, uint32_t transaction)
{
	w->state[transaction] = OPEN;
	w->stack[w->depth++] = transaction;
}

/* Puts what has to precede the top on the stack; or takes the top off. */
static void step(struct walk *w)
{
	uint32_t top = w->stack[w->depth - 1];
	const struct trace_transaction *t = &w->r->transactions[top];
	uint32_t *i = &w->cursor[top];
	if (top > w->r->sessions[t->session].first && comes_first(w, top - 1)) {
		enter(w, top - 1);
		return;
	}
	while (*i < t->op_count) {
		const struct trace_op *op = &w->r->ops[t->first_op + (*i)++];
		if (op->kind == EVENT_READ && comes_first(w, op->from)) {
			enter(w, op->from);
			return;
		}
	}
	w->state[top] = DONE;
	w->out[w->count++] = top;
	w->depth--;
}

/* All transactions but init, as they are to be written; linear. */
static uint32_t *order_of(const struct trace *r, const uint32_t *wanted)
{
	size_t n = r->transaction_count;
	struct walk w = { .r = r };
	w.state = mem_take0(n, sizeof *w.state);
	w.cursor = mem_take0(n, sizeof *w.cursor);
	w.stack = mem_take(n * sizeof *w.stack);
	w.out = mem_take(n * sizeof *w.out);
	for (uint32_t i = 1; i < n; i++) {
		uint32_t t = wanted ? wanted[i] : i;
		if (w.state[t] == NEW) enter(&w, t);
		while (w.depth) step(&w);
	}
	if (w.circular)
		for (uint32_t i = 1; i < n; i++) w.out[i - 1] = i;
	free(w.state);
	free(w.cursor);
	free(w.stack);
	return w.out;
}

/* ---- names ---- */

static bool text_is_number(const char *s)
{
	return s[strspn(s, "0123456789")] == '\0' && (*s != '0' || !s[1]);
}

/* As the parser sorts them. */
static bool session_before(const char *a, const char *b)
{
	bool first = text_is_number(a), second = text_is_number(b);
	if (first != second) return first;
	size_t m = strlen(a), n = strlen(b);
	return first && m != n ? m < n : strcmp(a, b) < 0;
}

/* Text without these and without control characters. */
static bool is_plain(const char *s, const char *without)
{
	if (!s || !*s) return false;
	for (; *s; s++)
		if ((unsigned char)*s < ' ' || strchr(without, *s))
			return false;
	return true;
}

/* Sessions keep their names where their order is that of their names: it is
 * the order in which they are read. */
static bool sessions_keep_names(const struct trace *r)
{
	const char *before = NULL;
	for (uint32_t s = 0; s < r->session_count; s++) {
		const char *name = r->sessions[s].name;
		if (r->sessions[s].after_all) continue;
		if (!is_plain(name, ",)") || !strcmp(name, "0") ||
		    (before && !session_before(before, name)))
			return false;
		before = name;
	}
	return true;
}

struct printed {
	const struct trace *r;
	const struct trace_transaction *transaction;
	bool sessions, keys; /* have their names */
	bool *numbers;       /* by session: its transactions have theirs */
	int64_t *places;     /* by transaction: among those that committed */
	int64_t *key_numbers;
};

static bool keys_keep_names(const struct trace *r)
{
	for (uint32_t k = 0; k < r->key_count; k++)
		if (!is_plain(r->keys[k].name, "]")) return false;
	return true;
}

/* Numbers that increase are kept. */
static void find_numbers(struct printed *p)
{
	const struct trace *r = p->r;
	for (uint32_t s = 0; s < r->session_count; s++) {
		uint32_t first = r->sessions[s].first;
		int64_t place = 0, last = -1;
		p->numbers[s] = true;
		for (uint32_t i = 0; i < r->sessions[s].count; i++) {
			const struct trace_transaction *t =
				&r->transactions[first + i];
			if (t->status != TRACE_COMMITTED) continue;
			p->places[first + i] = place++;
			p->numbers[s] &= t->has_number && t->number > last;
			last = t->number;
		}
	}
}

/* ---- printing ---- */

static void print_id(struct text *t, const struct printed *p,
                     uint32_t transaction)
{
	const struct trace_transaction *x = &p->r->transactions[transaction];
	if (transaction == TRACE_INIT) {
		text_string(t, "0, 0");
		return;
	}
	if (p->sessions)
		text_string(t, p->r->sessions[x->session].name);
	else
		text_int(t, (int64_t)x->session + 1);
	text_string(t, ", ");
	text_int(t,
	         p->numbers[x->session] ? x->number : p->places[transaction]);
}

static void print_key(struct text *t, const struct printed *p, uint32_t key)
{
	if (p->keys)
		text_string(t, p->r->keys[key].name);
	else
		text_int(t, p->key_numbers[key]);
}

static void print_op(struct text *t, const struct printed *p,
                     uint32_t transaction, const struct trace_op *op)
{
	bool read = op->kind == EVENT_READ;
	text_string(t, read ? "READ KEY[" : "WRITE KEY[");
	print_key(t, p, op->key);
	text_string(t, "] Txn(");
	print_id(t, p, transaction);
	if (read) {
		text_string(t, ") From(");
		print_id(t, p, op->from == TRACE_SELF ? transaction : op->from);
	}
	text_string(t, ")\n");
}

static void print_transactions(struct text *t, const struct printed *p,
                               const uint32_t *order)
{
	const struct trace *r = p->r;
	for (uint32_t i = 0; i + 1 < r->transaction_count; i++) {
		const struct trace_transaction *x = &r->transactions[order[i]];
		uint32_t end = x->first_op + x->op_count;
		if (x->status != TRACE_COMMITTED) continue;
		for (uint32_t j = x->first_op; j < end; j++)
			print_op(t, p, order[i], &r->ops[j]);
	}
}

/* A read has the last write of another transaction, or none is to be named. */
static bool can_write(const struct trace *r, struct diags *d)
{
	if (!format_can_write(r, FORMAT_ISOPREDICT, 0, d)) return false;
	if (!r->anomaly_count) return true;
	const struct trace_anomaly *a = &r->anomalies[0];
	diags_add(d, DIAG_ERROR, r->file, r->ops[a->op].line, 0, NULL,
	          "the format %s has no values, and so no way to write what "
	          "only values show: %s; write the history as isoscope",
	          format_word(FORMAT_ISOPREDICT), trace_anomaly_name(a->kind));
	return false;
}

bool isopredict_print(struct text *t, const struct trace *r,
                      const uint32_t *order, struct diags *d)
{
	static const struct renumber rules = { .least = INT64_MIN };
	if (!can_write(r, d)) return false;
	struct printed p = {
		.r = r,
		.sessions = sessions_keep_names(r),
		.keys = keys_keep_names(r),
		.numbers = mem_take0(r->session_count + (size_t)1, 1),
		.places = mem_take0(r->transaction_count, sizeof *p.places),
		.key_numbers = renumber_keys(r, &rules),
	};
	uint32_t *sorted = order_of(r, order);
	find_numbers(&p);
	print_transactions(t, &p, sorted);
	free(sorted);
	free(p.numbers);
	free(p.places);
	free(p.key_numbers);
	return true;
}
