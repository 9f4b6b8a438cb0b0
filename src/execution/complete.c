#include "execution/complete.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"
#include "base/hash.h"
#include "base/memory.h"
#include "vm/program.h"

bool execution_pruned(const struct execution *x)
{
	for (uint32_t i = 0; i < x->context->sessions; i++)
		if (machine_pruned(x->points[i].state)) return true;
	return false;
}

void execution_reached(const struct execution *x, uint64_t *reached)
{
	const struct program *p = x->context->program;
	unsigned words = BITS_WORDS(program_reach_count(p));
	assert(!x->ledger.pending.active);
	for (uint32_t i = 0; i < x->context->sessions; i++)
		bits_or(reached, machine_reached(p, x->points[i].state), words);
}

bool execution_cut_short(const struct execution *x)
{
	bool cut = false;
	for (uint32_t i = 0; i < x->context->sessions; i++) {
		const struct machine_state *s = x->points[i].state;
		if (machine_pruned(s) && !machine_cut_short(s)) return false;
		cut |= machine_pruned(s);
	}
	return cut;
}

/* Keys and transactions by what they are: their numbers depend on the context.
 */
static uint64_t hash_event(uint64_t h, const struct execution *x,
                           const struct event *e)
{
	h = hash_mix(h, keys_hash(x->context->machine.keys, e->key) + e->kind);
	if (e->kind == EVENT_WRITE) return hash_mix(h, value_hash(e->value));
	if (e->from == HISTORY_INIT || e->from == HISTORY_SELF)
		return hash_mix(h, e->from);
	const struct ledger_transaction *t = x->ledger.transactions[e->from];
	return hash_mix(h, ((uint64_t)t->session + 1) << 32 | t->index);
}

/* Transaction `index` of the session, which has ended. */
static const struct ledger_transaction *
transaction_at(const struct execution *x, uint32_t session, uint32_t index)
{
	const struct ledger *l = &x->ledger;
	return l->transactions[ledger_number(l->shared, session, index)];
}

uint64_t execution_hash(const struct execution *x)
{
	uint64_t h = 0;
	for (uint32_t i = 0; i < x->context->sessions; i++)
		for (uint32_t j = 0; j < x->ledger.done[i]; j++) {
			const struct ledger_transaction *t =
				transaction_at(x, i, j);
			h = hash_mix(h, (uint64_t)i << 32 |
			                        t->event_count << 1 |
			                        t->aborted);
			const struct ledger_event *e = t->last;
			for (; e; e = e->before)
				h = hash_event(h, x, &e->event);
		}
	return h;
}

uint64_t execution_outcome(const struct execution *x)
{
	uint64_t h = 0;
	for (uint32_t i = 0; i < x->context->sessions; i++)
		h = machine_outcome(x->context->program, x->points[i].state, h);
	return h;
}

static void visit_finding(const struct program *p, const struct finding *f,
                          finding_visitor *visit, void *data)
{
	if (f->kind == FINDING_ASSERT)
		visit(data, f->assertion, f);
	else if (f->kind == FINDING_ERROR)
		visit(data, program_assertion_count(p), f);
}

static void final_findings(const struct execution *x, finding_visitor *visit,
                           void *data)
{
	struct context *c = x->context;
	const struct program *p = c->program;
	struct region_mark mark = region_mark(&c->region);
	const struct machine_state **finals =
		region_take(&c->region, (c->sessions + 1) * sizeof *finals);
	for (uint32_t i = 0; i < c->sessions; i++)
		finals[i] = x->points[i].state;
	for (uint32_t i = 0; i < program_final_bound(p); i++) {
		if (program_assertion(p, i)->kind != ASSERTION_FINAL) continue;
		const struct finding *f =
			machine_final_assertion(&c->machine, i, finals);
		if (f) visit_finding(p, f, visit, data);
	}
	region_release(&c->region, mark);
}

void execution_findings(const struct execution *x, finding_visitor *visit,
                        void *data)
{
	for (uint32_t i = 0; i < x->context->sessions; i++) {
		const struct finding *f = machine_findings(x->points[i].state);
		for (; f; f = f->older)
			visit_finding(x->context->program, f, visit, data);
	}
	final_findings(x, visit, data);
}

const struct finding *finding_copy(struct region *r, const struct finding *f)
{
	size_t size = sizeof *f + f->value_count * sizeof f->values[0];
	struct finding *copy = region_take(r, size);
	memcpy(copy, f, size);
	copy->older = NULL;
	if (f->message)
		copy->message =
			region_copy_string(r, f->message, strlen(f->message));
	for (uint32_t i = 0; i < f->value_count; i++) {
		const struct finding_value *v = &f->values[i];
		copy->values[i].name =
			region_copy_string(r, v->name, strlen(v->name));
		copy->values[i].value = value_copy(r, v->value);
	}
	return copy;
}

/* By number, init first: the number in a history, where transactions come
 * session by session. */
static uint32_t *history_numbers(const struct execution *x, uint32_t *count)
{
	const struct ledger *l = &x->ledger;
	uint32_t *numbers =
		mem_take0(l->shared->numbers.count, sizeof *numbers);
	uint32_t next = 1;
	for (uint32_t i = 0; i < x->context->sessions; i++)
		for (uint32_t j = 0; j < l->done[i]; j++)
			numbers[ledger_number(l->shared, i, j)] = next++;
	*count = next;
	return numbers;
}

struct key_order {
	const char *name;
	uint32_t key;
};

static int compare_names(const void *a, const void *b)
{
	const struct key_order *x = a, *y = b;
	return strcmp(x->name, y->name);
}

static void use_keys(bool *used, const struct ledger_transaction *log)
{
	for (const struct ledger_event *e = log->last; e; e = e->before)
		used[e->event.key] = true;
}

/* Keys that the history touches, by name; fills `place`, from key to index. */
static void collect_keys(struct history *h, const struct execution *x,
                         uint32_t *place)
{
	const struct ledger *l = &x->ledger;
	struct keys *keys = x->context->machine.keys;
	uint32_t count = keys_count(keys), used_count = 0;
	bool *used = mem_take0(count, sizeof *used);
	struct key_order *order = mem_take0(count, sizeof *order);
	for (uint32_t i = 1; i < l->closure.count; i++)
		use_keys(used, l->transactions[l->closure.order[i]]);
	for (uint32_t k = 0; k < count; k++)
		if (used[k])
			order[used_count++] =
				(struct key_order){ keys_name(keys, k), k };
	qsort(order, used_count, sizeof *order, compare_names);
	h->key_count = used_count;
	h->keys = region_take(&h->region, used_count * sizeof *h->keys);
	for (uint32_t i = 0; i < used_count; i++) {
		const char *name = order[i].name;
		place[order[i].key] = i;
		h->keys[i].name =
			region_copy_string(&h->region, name, strlen(name));
		h->keys[i].initial = value_copy(
			&h->region, keys_initial(keys, order[i].key));
	}
	free(used);
	free(order);
}

static void copy_events(struct history *h, struct transaction *t,
                        const struct ledger_transaction *log,
                        const uint32_t *numbers, const uint32_t *place)
{
	t->event_count = log->event_count;
	t->events =
		region_take(&h->region, log->event_count * sizeof *t->events);
	uint32_t i = log->event_count;
	for (const struct ledger_event *n = log->last; n; n = n->before) {
		struct event *e = &t->events[--i];
		*e = n->event;
		e->key = place[e->key];
		e->value = value_copy(&h->region, e->value);
		if (e->kind == EVENT_READ && e->from != HISTORY_SELF)
			e->from = numbers[e->from];
	}
}

static void copy_session(struct history *h, const struct execution *x,
                         uint32_t session, const uint32_t *numbers,
                         const uint32_t *place)
{
	const struct context *c = x->context;
	struct history_session *to = &h->sessions[session];
	const char *name = program_session_name(c->program, session);
	to->name = region_copy_string(&h->region, name, strlen(name));
	to->after_all = context_is_finally(c, session);
	to->count = x->ledger.done[session];
	to->first = session ? h->sessions[session - 1].first +
	                              h->sessions[session - 1].count
	                    : 1;
	for (uint32_t j = 0; j < to->count; j++) {
		const struct ledger_transaction *log =
			transaction_at(x, session, j);
		struct transaction *t = &h->transactions[to->first + j];
		const char *txn =
			program_transaction_name(c->program, log->name);
		t->name = region_copy_string(&h->region, txn, strlen(txn));
		t->session = session;
		t->index = j;
		t->aborted = log->aborted;
		const char *failure =
			log->aborted
				? machine_failure(c->program, log->after->state)
				: NULL;
		if (failure)
			t->failure = region_copy_string(&h->region, failure,
			                                strlen(failure));
		t->own = log->own;
		copy_events(h, t, log, numbers, place);
	}
}

struct history *execution_history(const struct execution *x)
{
	const struct closure *c = &x->ledger.closure;
	struct history *h = mem_take0(1, sizeof *h);
	region_init(&h->region);
	uint32_t *numbers = history_numbers(x, &h->transaction_count);
	uint32_t *place =
		mem_take0(keys_count(x->context->machine.keys), sizeof *place);
	collect_keys(h, x, place);
	h->session_count = x->context->sessions;
	h->sessions = region_take0(&h->region,
	                           h->session_count * sizeof *h->sessions);
	h->transactions = region_take0(
		&h->region, h->transaction_count * sizeof *h->transactions);
	h->transactions[0].name = "init";
	h->transactions[0].session = UINT32_MAX;
	for (uint32_t i = 0; i < h->session_count; i++)
		copy_session(h, x, i, numbers, place);
	h->order = region_take(&h->region,
	                       h->transaction_count * sizeof *h->order);
	for (uint32_t i = 0; i < c->count; i++)
		h->order[i] = numbers[c->order[i]];
	h->ssi = x->ledger.ssi;
	if (!x->ledger.uniform && history_has_owns(h))
		h->others = (own_level)(x->ledger.level + 1);
	free(numbers);
	free(place);
	return h;
}
