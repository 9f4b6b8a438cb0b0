/* Histories of lists: what they tell, against its definitions; and histories of
 * registers that are written as lists. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "formats/versions.h"
#include "formats_support.h"
#include "suites.h"
#include "support.h"

/* ---- registers as lists ---- */

/* The transaction in the same place; sessions are named by their numbers. */
static uint32_t same_place(const struct trace *a, uint32_t transaction,
                           const struct trace *b)
{
	if (transaction == TRACE_INIT || transaction >= TRACE_NOBODY)
		return transaction;
	uint32_t s = a->transactions[transaction].session;
	char name[16];
	snprintf(name, sizeof name, "%u", s);
	for (uint32_t i = 0; i < b->session_count; i++)
		if (!strcmp(b->sessions[i].name, name))
			return b->sessions[i].first + transaction -
			       a->sessions[s].first;
	ck_abort_msg("session %u is missing", s);
}

static void check_same_reads(const struct trace *a, const struct trace *b)
{
	for (uint32_t t = 1; t < a->transaction_count; t++) {
		const struct trace_transaction *x = &a->transactions[t];
		if (a->sessions[x->session].after_all ||
		    x->status != TRACE_COMMITTED)
			continue;
		const struct trace_transaction *y =
			&b->transactions[same_place(a, t, b)];
		ck_assert_uint_eq(x->op_count, y->op_count);
		for (uint32_t i = 0; i < x->op_count; i++) {
			const struct trace_op *p = &a->ops[x->first_op + i];
			const struct trace_op *q = &b->ops[y->first_op + i];
			ck_assert_int_eq(p->kind, q->kind);
			ck_assert_str_eq(a->keys[p->key].name,
			                 b->keys[q->key].name);
			if (p->kind == EVENT_READ)
				ck_assert_uint_eq(same_place(a, p->from, b),
				                  q->from);
		}
	}
}

/* The known order is that of `order`, by key. */
static void check_known(const struct trace *a, const uint32_t *order,
                        const struct trace *b)
{
	uint32_t *rank = mem_take0(b->transaction_count, sizeof *rank);
	for (uint32_t i = 0; i < a->transaction_count; i++) {
		uint32_t s = a->transactions[order[i]].session;
		if (order[i] == TRACE_INIT || a->sessions[s].after_all)
			continue;
		rank[same_place(a, order[i], b)] = i;
	}
	for (uint32_t i = 0; i < b->known_count; i++)
		ck_assert_uint_lt(rank[b->known[i].from], rank[b->known[i].to]);
	free(rank);
}

START_TEST(registers_become_lists_along_an_order)
{
	struct rng r = { first_seed() * 1000 + 16 * 10 };
	int count = (int)programs_or(2000), written = 0, known = 0;
	for (int i = 0; i < count; i++) {
		struct history_shape shape = {
			.sessions = 4,
			.transactions = 8,
			.events = 5,
			.keys = 3,
			.causal = true,
		};
		struct history *h = history_random(&r, shape);
		struct trace *t = trace_of_history(h, "test");
		enum format f = i % 2 ? FORMAT_LIST_EDN : FORMAT_LIST_JSON;
		struct diags d = { 0 };
		struct text printed = { 0 };
		if (t->op_count && format_print(&printed, f, t, h->order, &d)) {
			struct trace *back = parse_good(f, printed.data);
			check_anomalies(back, "");
			check_same_reads(t, back);
			check_known(t, h->order, back);
			known += back->known_count > 0;
			written++;
			trace_free(back);
		}
		text_free(&printed);
		diags_free(&d);
		trace_free(t);
		history_free(h);
	}
	ck_assert_int_ge(written, count / 4);
	ck_assert_int_ge(known, count / 8);
}
END_TEST

/* ---- lists against their definitions ---- */

enum { LISTS = 3, TRANSACTIONS = 10, OPERATIONS = 5, ELEMENTS = 64 };

struct list {
	int items[ELEMENTS];
	int count;
};

struct list_op {
	bool append;
	int key, value;   /* values are unique over all keys */
	struct list seen; /* read */
};

struct list_history {
	struct list_op ops[TRANSACTIONS][OPERATIONS];
	int counts[TRANSACTIONS], process[TRANSACTIONS], transactions;
	char status[TRANSACTIONS]; /* o, f, i */
};

static void spoil(struct list *l, struct rng *r)
{
	int at = l->count ? (int)rng_below(r, (uint32_t)l->count) : 0;
	int other = l->count ? (int)rng_below(r, (uint32_t)l->count) : 0;
	int kept = l->items[at];
	switch (rng_below(r, 5)) {
	case 0: l->count = at; break;
	case 1:
		l->items[at] = l->items[other];
		l->items[other] = kept;
		break;
	case 2: l->items[at] = 1000; break;
	case 3:
		if (l->count)
			memmove(l->items + at, l->items + at + 1,
			        (size_t)(--l->count - at) * sizeof(int));
		break;
	default: l->items[l->count++] = (int)rng_below(r, 30); break;
	}
}

/* Transactions run one after the other on the lists; then some reads are
 * spoiled. */
static struct list_history list_history_random(struct rng *r, unsigned spoiled)
{
	struct list_history h = { .transactions =
		                          1 + (int)rng_below(r, TRANSACTIONS) };
	struct list store[LISTS] = { 0 };
	int next = 1;
	for (int t = 0; t < h.transactions; t++) {
		struct list before[LISTS];
		uint32_t luck = rng_below(r, 8);
		memcpy(before, store, sizeof store);
		h.counts[t] = (int)rng_below(r, OPERATIONS + 1);
		h.process[t] = (int)rng_below(r, 4);
		h.status[t] = luck == 0 ? 'f' : luck == 1 ? 'i' : 'o';
		for (int i = 0; i < h.counts[t]; i++) {
			struct list_op *op = &h.ops[t][i];
			op->key = (int)rng_below(r, LISTS);
			op->append = rng_below(r, 2);
			struct list *l = &store[op->key];
			if (op->append) {
				op->value = next;
				l->items[l->count++] = next++;
			}
			op->seen = *l;
			if (!op->append && rng_below(r, 100) < spoiled)
				spoil(&op->seen, r);
		}
		bool happened = h.status[t] == 'o' ||
		                (h.status[t] == 'i' && rng_below(r, 2));
		if (!happened) memcpy(store, before, sizeof store);
	}
	return h;
}

static void print_list(struct text *t, const struct list *l)
{
	text_char(t, '[');
	for (int i = 0; i < l->count; i++)
		text_format(t, i ? ",%d" : "%d", l->items[i]);
	text_char(t, ']');
}

static struct text list_history_json(const struct list_history *h)
{
	struct text t = { 0 };
	for (int x = 0; x < h->transactions; x++) {
		text_format(&t, "{\"type\":\"%s\",\"process\":%d,\"value\":[",
		            h->status[x] == 'o'   ? "ok"
		            : h->status[x] == 'f' ? "fail"
		                                  : "info",
		            h->process[x]);
		for (int i = 0; i < h->counts[x]; i++) {
			const struct list_op *op = &h->ops[x][i];
			if (i) text_char(&t, ',');
			text_format(&t,
			            op->append ? "[\"append\",%d,%d]"
			                       : "[\"r\",%d,",
			            op->key, op->value);
			if (op->append) continue;
			if (h->status[x] == 'o')
				print_list(&t, &op->seen);
			else
				text_string(&t, "null");
			text_char(&t, ']');
		}
		text_string(&t, "]}\n");
	}
	return t;
}

static bool is_prefix(const struct list *a, const struct list *b)
{
	return a->count <= b->count &&
	       !memcmp(a->items, b->items, (size_t)a->count * sizeof(int));
}

static bool has_repetition(const struct list *l)
{
	for (int i = 0; i < l->count; i++)
		for (int j = 0; j < i; j++)
			if (l->items[i] == l->items[j]) return true;
	return false;
}

/* Who appended the value to the key; -1: nobody. */
static int appender(const struct list_history *h, int key, int value)
{
	for (int t = 0; t < h->transactions; t++)
		for (int i = 0; i < h->counts[t]; i++)
			if (h->ops[t][i].append && h->ops[t][i].key == key &&
			    h->ops[t][i].value == value)
				return t;
	return -1;
}

static bool ends_with_own(const struct list_history *h, int t, int read)
{
	const struct list_op *r = &h->ops[t][read];
	int at = r->seen.count;
	for (int i = read - 1; i >= 0; i--) {
		if (!h->ops[t][i].append || h->ops[t][i].key != r->key)
			continue;
		if (!at || r->seen.items[--at] != h->ops[t][i].value)
			return false;
	}
	return true;
}

struct list_facts {
	bool lists, thin_air, aborted, internal;
	struct list longest[LISTS];
};

static void look_at_read(const struct list_history *h, int t, int i,
                         struct list_facts *f)
{
	const struct list_op *r = &h->ops[t][i];
	f->internal |= !ends_with_own(h, t, i);
	f->lists |= has_repetition(&r->seen);
	if (r->seen.count > f->longest[r->key].count)
		f->longest[r->key] = r->seen;
	for (int k = 0; k < r->seen.count; k++) {
		int w = appender(h, r->key, r->seen.items[k]);
		f->thin_air |= w < 0;
		f->aborted |= w >= 0 && h->status[w] == 'f';
	}
	for (int u = 0; u < h->transactions; u++)
		for (int k = 0; k < h->counts[u]; k++) {
			const struct list_op *o = &h->ops[u][k];
			if (h->status[u] == 'o' && !o->append &&
			    o->key == r->key &&
			    !is_prefix(&r->seen, &o->seen) &&
			    !is_prefix(&o->seen, &r->seen))
				f->lists = true;
		}
}

static struct list_facts list_facts_of(const struct list_history *h)
{
	struct list_facts f = { .lists = false };
	for (int t = 0; t < h->transactions; t++)
		for (int i = 0; i < h->counts[t]; i++)
			if (h->status[t] == 'o' && !h->ops[t][i].append)
				look_at_read(h, t, i, &f);
	return f;
}

/* Transaction x of the history in the trace: they come session by session. */
static uint32_t number_of(const struct list_history *h, int x,
                          const struct trace *t)
{
	char name[16];
	uint32_t index = 0;
	snprintf(name, sizeof name, "%d", h->process[x]);
	for (int y = 0; y < x; y++) index += h->process[y] == h->process[x];
	for (uint32_t s = 0; s < t->session_count; s++)
		if (!strcmp(t->sessions[s].name, name))
			return t->sessions[s].first + index;
	ck_abort_msg("process %s is missing", name);
}

static bool is_known(const struct trace *t, uint32_t from, uint32_t to, int key)
{
	for (uint32_t i = 0; i < t->known_count; i++)
		if (t->known[i].from == from && t->known[i].to == to &&
		    t->keys[t->known[i].key].number == key)
			return true;
	return false;
}

static bool has_element(const struct list *l, int value)
{
	for (int i = 0; i < l->count; i++)
		if (l->items[i] == value) return true;
	return false;
}

/* Pairs of transactions whose order is known for the key: writers that follow
 * each other in the longest list, and the last of them before all that appended
 * something that is not in it. */
static void expect_known(const struct list_history *h, int key,
                         const struct list *longest, const struct trace *t,
                         bool known[TRANSACTIONS][TRANSACTIONS])
{
	int last = -1;
	for (int i = 0; i < longest->count; i++) {
		int w = appender(h, key, longest->items[i]);
		if (last >= 0 && w != last) known[last][w] = true;
		last = w;
	}
	for (int x = 0; x < h->transactions && last >= 0; x++) {
		uint32_t n = number_of(h, x, t);
		if (t->transactions[n].status != TRACE_COMMITTED || x == last)
			continue;
		for (int i = 0; i < h->counts[x]; i++)
			if (h->ops[x][i].append && h->ops[x][i].key == key &&
			    !has_element(longest, h->ops[x][i].value))
				known[last][x] = true;
	}
}

static void check_order(const struct list_history *h,
                        const struct list_facts *f, const struct trace *t)
{
	uint32_t expected = 0;
	for (int key = 0; key < LISTS; key++) {
		bool known[TRANSACTIONS][TRANSACTIONS] = { 0 };
		expect_known(h, key, &f->longest[key], t, known);
		for (int x = 0; x < h->transactions; x++)
			for (int y = 0; y < h->transactions; y++) {
				if (!known[x][y]) continue;
				ck_assert(is_known(t, number_of(h, x, t),
				                   number_of(h, y, t), key));
				expected++;
			}
	}
	ck_assert_uint_eq(t->known_count, expected);
}

static void check_sources(const struct list_history *h, const struct trace *t)
{
	for (int x = 0; x < h->transactions; x++) {
		uint32_t n = number_of(h, x, t);
		if (h->status[x] != 'o') continue;
		for (int i = 0; i < h->counts[x]; i++) {
			const struct list_op *op = &h->ops[x][i];
			const struct list *l = &op->seen;
			const struct trace_op *read =
				&t->ops[t->transactions[n].first_op +
			                (uint32_t)i];
			if (op->append) continue;
			int w = l->count ? appender(h, op->key,
			                            l->items[l->count - 1])
			                 : -1;
			ck_assert_uint_eq(read->from,
			                  w < 0    ? TRACE_INIT
			                  : w == x ? TRACE_SELF
			                           : number_of(h, w, t));
		}
	}
}

static bool same_known(const struct trace *a, const struct trace *b)
{
	if (a->known_count != b->known_count) return false;
	for (uint32_t i = 0; i < a->known_count; i++) {
		int64_t key = a->keys[a->known[i].key].number;
		if (!is_known(b, a->known[i].from, a->known[i].to, (int)key))
			return false;
	}
	return true;
}

/* A sound history of lists goes through the formats that keep the order. */
static void check_kept(const struct trace *t)
{
	static const enum format formats[] = { FORMAT_LIST_JSON,
		                               FORMAT_LIST_EDN,
		                               FORMAT_ISOSCOPE };
	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
		struct diags d = { 0 };
		struct text once = { 0 };
		struct versions v = { 0 };
		bool chain = versions_find(&v, t, NULL);
		versions_free(&v);
		bool good = format_print(&once, formats[i], t, NULL, &d);
		ck_assert(good == (chain || (formats[i] == FORMAT_ISOSCOPE &&
		                             !t->known_count)));
		diags_free(&d);
		if (!good) continue;
		struct trace *back = parse_good(formats[i], once.data);
		struct text twice = print_good(formats[i], back, NULL);
		ck_assert_str_eq(once.data, twice.data);
		ck_assert(same_known(t, back));
		text_free(&once);
		text_free(&twice);
		trace_free(back);
	}
}

START_TEST(lists_are_what_their_definitions_say)
{
	struct rng r = { first_seed() * 1000 + 17 * 10 + (uint64_t)_i };
	int count = (int)programs_or(5000), sound = 0, bad = 0;
	for (int i = 0; i < count; i++) {
		struct list_history h =
			list_history_random(&r, _i ? (unsigned)_i * 7 : 0);
		struct text json = list_history_json(&h);
		struct trace *t = parse_good(FORMAT_LIST_JSON, json.data);
		struct list_facts f = list_facts_of(&h);
		const uint64_t *found = t->anomalies_found;
		bool any = f.lists || f.internal || f.thin_air || f.aborted;
		ck_assert_msg((found[ANOMALY_LISTS] > 0 ||
		               found[ANOMALY_REPEATED] > 0) == f.lists,
		              "%s", json.data);
		if (!f.lists && !f.internal) {
			ck_assert_msg((found[ANOMALY_THIN_AIR] > 0) ==
			                              f.thin_air ||
			                      f.aborted,
			              "%s", json.data);
			ck_assert_msg((found[ANOMALY_ABORTED] > 0) ==
			                              f.aborted ||
			                      f.thin_air,
			              "%s", json.data);
		}
		ck_assert_msg((found[ANOMALY_INTERNAL] > 0) == f.internal, "%s",
		              json.data);
		if (!any && !found[ANOMALY_FUTURE]) {
			check_order(&h, &f, t);
			check_sources(&h, t);
			if (!t->anomaly_count) check_kept(t);
			sound++;
		}
		bad += any;
		trace_free(t);
		text_free(&json);
	}
	ck_assert_int_ge(sound, count / 4);
	ck_assert_int_ge(bad, _i ? count / 20 : 0);
	if (!_i) ck_assert_int_eq(bad, 0);
}
END_TEST

void add_formats_lists_tests(TCase *tests)
{
	tcase_add_test(tests, registers_become_lists_along_an_order);
	tcase_add_loop_test(tests, lists_are_what_their_definitions_say, 0, 5);
}
