/* A complete execution, seen from outside: as a history, as a hash. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "dpor/engine.h"
#include "vm/program.h"

static const struct state *state_of(const struct explore_execution *x)
{
	return x->explorer->states[x->explorer->current];
}

bool explore_satisfies(const struct explore_execution *x, enum level l)
{
	struct relation r;
	closure_relation(&state_of(x)->closure, &r);
	return level_allows(l, &r, x->explorer->scratch);
}

static uint64_t hash_event(uint64_t h, const struct event *e)
{
	h = hash_mix(h, (uint64_t)e->kind << 32 | e->key);
	return e->kind == EVENT_READ ? hash_mix(h, e->from)
	                             : hash_mix(h, value_hash(e->value));
}

uint64_t explore_hash(const struct explore_execution *x)
{
	const struct state *s = state_of(x);
	const struct world *w = &x->explorer->world;
	uint64_t h = 0;
	for (uint32_t i = 0; i < w->sessions; i++)
		for (uint32_t j = 0; j < s->done[i]; j++) {
			const struct transaction_log *log =
			    s->logs[w->first_id[i] + j];
			h = hash_mix(h, i);
			h = hash_mix(h, log->aborted);
			const struct event_node *e = log->last;
			for (; e; e = e->before) h = hash_event(h, &e->event);
		}
	return h;
}

/* Dense transaction numbers, session by session, init first; UINT32_MAX for
 * numbers that no transaction has. */
static uint32_t *dense_numbers(const struct state *s, const struct world *w,
                               uint32_t *count)
{
	uint32_t *dense = mem_take(w->n * sizeof *dense);
	memset(dense, 0xff, w->n * sizeof *dense);
	uint32_t next = 0;
	dense[HISTORY_INIT] = next++;
	for (uint32_t i = 0; i < w->sessions; i++)
		for (uint32_t j = 0; j < s->done[i]; j++)
			dense[w->first_id[i] + j] = next++;
	*count = next;
	return dense;
}

struct key_order { const char *name; uint32_t key; };

static int compare_names(const void *a, const void *b)
{
	const struct key_order *x = a, *y = b;
	return strcmp(x->name, y->name);
}

static void use_keys(bool *used, const struct transaction_log *log)
{
	for (const struct event_node *e = log->last; e; e = e->before)
		used[e->event.key] = true;
}

/* Keys that the history touches, by name; fills `place`, from key to index. */
static void collect_keys(struct history *h, const struct state *s,
                         const struct world *w, uint32_t *place)
{
	struct keys *keys = w->machine.keys;
	uint32_t count = keys_count(keys), used_count = 0;
	bool *used = mem_take0(count, sizeof *used);
	struct key_order *order = mem_take0(count, sizeof *order);
	for (uint32_t i = 1; i < s->closure.count; i++)
		use_keys(used, s->logs[s->closure.order[i]]);
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
                        const struct transaction_log *log,
                        const uint32_t *dense, const uint32_t *place)
{
	t->event_count = log->event_count;
	t->events =
	    region_take(&h->region, log->event_count * sizeof *t->events);
	uint32_t i = log->event_count;
	for (const struct event_node *n = log->last; n; n = n->before) {
		struct event *e = &t->events[--i];
		*e = n->event;
		e->key = place[e->key];
		e->value = value_copy(&h->region, e->value);
		if (e->kind == EVENT_READ && e->from != HISTORY_SELF)
			e->from = dense[e->from];
	}
}

static void copy_session(struct history *h, const struct explorer *e,
                         uint32_t session, const uint32_t *dense,
                         const uint32_t *place)
{
	const struct state *s = e->states[e->current];
	const struct world *w = &e->world;
	struct history_session *to = &h->sessions[session];
	const char *name = program_session_name(e->program, session);
	to->name = region_copy_string(&h->region, name, strlen(name));
	to->after_all = w->has_finally && session + 1 == w->sessions;
	to->count = s->done[session];
	to->first = session ? h->sessions[session - 1].first +
	                          h->sessions[session - 1].count
	                    : 1;
	for (uint32_t j = 0; j < to->count; j++) {
		const struct transaction_log *log =
		    s->logs[w->first_id[session] + j];
		struct transaction *t = &h->transactions[to->first + j];
		const char *txn =
		    program_transaction_name(e->program, log->name);
		t->name = region_copy_string(&h->region, txn, strlen(txn));
		t->session = session;
		t->index = j;
		t->aborted = log->aborted;
		copy_events(h, t, log, dense, place);
	}
}

struct history *explore_history(const struct explore_execution *x)
{
	const struct explorer *e = x->explorer;
	const struct state *s = state_of(x);
	const struct world *w = &e->world;
	struct history *h = mem_take0(1, sizeof *h);
	region_init(&h->region);
	uint32_t *dense = dense_numbers(s, w, &h->transaction_count);
	uint32_t *place =
	    mem_take0(keys_count(w->machine.keys), sizeof *place);
	collect_keys(h, s, w, place);
	h->session_count = w->sessions;
	h->sessions =
	    region_take0(&h->region, w->sessions * sizeof *h->sessions);
	h->transactions = region_take0(
	    &h->region, h->transaction_count * sizeof *h->transactions);
	h->transactions[0].name = "init";
	h->transactions[0].session = UINT32_MAX;
	for (uint32_t i = 0; i < w->sessions; i++)
		copy_session(h, e, i, dense, place);
	h->order = region_take(&h->region,
	                       h->transaction_count * sizeof *h->order);
	for (uint32_t i = 0; i < s->closure.count; i++)
		h->order[i] = dense[s->closure.order[i]];
	free(dense);
	free(place);
	return h;
}
