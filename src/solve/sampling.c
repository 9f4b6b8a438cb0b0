#include "solve/sampling.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "execution/execution.h"
#include "vm/keys.h"

enum {
	BATCH_FIRST = 8,
	BATCH_MOST = 512,
	/* Where it stands is found from its beginning at each of its reads:
	 * for the first ones. */
	GUIDED_READS = 256
};

/* ---- a history as runs of its sessions ---- */

static const struct ledger *ledger_of(const struct sampling *s)
{
	return &runner_execution(s->runner)->ledger;
}

/* Is this the transaction's first read of the runner's key? */
static bool is_first(struct sampling *s, uint32_t key)
{
	if (key >= s->met_count) {
		uint32_t count = 2 * key + 64;
		s->met = mem_grow0(s->met, s->met_count, count, sizeof *s->met);
		s->met_count = count;
	}
	bool first = s->met[key] != s->transaction;
	s->met[key] = s->transaction;
	return first;
}

static void go_to(struct sampling *s, struct run_node *n)
{
	VEC_RESERVE(s->way, s->way_count, s->way_capacity);
	s->way[s->way_count++] = n;
}

/* The node where the session goes on behind the read, new or not; NULL if there
 * cannot be one. */
static struct run_node *grow(struct sampling *s, struct run_node *n,
                             const struct event *e)
{
	struct run_node *next = runs_child(n, e->value);
	if (!next) {
		struct value v = value_copy(&s->runs->context.region, e->value);
		if (!runs_grow(s->runs, n, v)) return NULL;
		next = runs_child(n, v);
	}
	go_to(s, next);
	if (next->kind == RUN_JOINS) go_to(s, next->join);
	return runs_onwards(next);
}

/* What a transaction has done so far. */
struct done {
	uint32_t session, index, count;
	const struct ledger_event *last;
};

/* From the node over the transaction's reads. Nodes that are not there are
 * grown, or it ends: NULL. */
static struct run_node *follow(struct sampling *s, struct run_node *n,
                               struct done t, bool grows)
{
	bool repeatable = runs_repeatable(s->runs->levels[t.session][t.index]);
	const struct event **events = mem_take((t.count + 1) * sizeof *events);
	uint32_t i = t.count;
	for (const struct ledger_event *e = t.last; e; e = e->before)
		events[--i] = &e->event;
	assert(!i);
	s->transaction++;
	for (; n && i < t.count; i++) {
		const struct event *e = events[i];
		if (e->kind != EVENT_READ || e->from == HISTORY_SELF ||
		    event_gives_up(e) || (!is_first(s, e->key) && repeatable))
			continue;
		assert(n->kind == RUN_READS && n->index == t.index);
		n = grows ? grow(s, n, e)
		          : runs_onwards(runs_child(n, e->value));
	}
	free(events);
	return n;
}

/* From where the session stood when it was looked at last, or began. */
static struct run_node *follow_session(struct sampling *s, uint32_t session,
                                       bool grows)
{
	const struct ledger *l = ledger_of(s);
	struct sampled_session *x = &s->sessions[session];
	while (x->at && x->passed < l->done[session]) {
		uint32_t id = ledger_number(l->shared, session, x->passed);
		const struct ledger_transaction *t = l->transactions[id];
		x->at = follow(s, x->at,
		               (struct done){ session, x->passed,
		                              t->event_count, t->last },
		               grows);
		x->passed++;
	}
	return x->at;
}

/* ---- what has been sampled ---- */

static struct sampled_node *node_of(struct sampling *s,
                                    const struct run_node *n)
{
	if (n->number >= s->node_count) {
		uint32_t count = 2 * n->number + 64;
		s->nodes = mem_grow0(s->nodes, s->node_count, count,
		                     sizeof *s->nodes);
		s->node_count = count;
	}
	return &s->nodes[n->number];
}

/* Of the history that has been run. */
static bool note_session(struct sampling *s, uint32_t session)
{
	uint32_t known = s->runs->count;
	s->sessions[session] =
		(struct sampled_session){ .at = s->runs->roots[session] };
	s->way_count = 0;
	go_to(s, s->runs->roots[session]);
	const struct run_node *n = follow_session(s, session, true);
	bool fresh = s->runs->count > known;
	if (!n) return false;
	assert(n->kind == RUN_OVER);
	for (uint32_t i = 0; i < s->way_count; i++) {
		struct sampled_node *x = node_of(s, s->way[i]);
		x->visits++;
		x->fresh += fresh;
	}
	return true;
}

/* ---- choices ---- */

static void begin(void *data)
{
	struct sampling *s = data;
	s->rng.state = s->seed;
	for (uint32_t i = 0; i < s->runs->context.sessions; i++)
		s->sessions[i] =
			(struct sampled_session){ .at = s->runs->roots[i] };
}

static uint32_t choose_session(void *data, const uint32_t *ready,
                               uint32_t count)
{
	struct sampling *s = data;
	return ready[rng_below(&s->rng, count)];
}

/* The node that waits for this read; NULL: it is not known. */
static const struct run_node *waiting(struct sampling *s,
                                      const struct run_read *read)
{
	const struct ledger *l = ledger_of(s);
	const struct ledger_pending *p = &l->pending;
	struct run_node *n = follow_session(s, read->session, false);
	if (n && read->number <= GUIDED_READS)
		n = follow(s, n,
		           (struct done){ p->session, p->index, p->event_count,
		                          p->last },
		           false);
	if (!n || n->kind != RUN_READS || n->index != read->index) return NULL;
	return n;
}

static struct value value_of(const struct sampling *s, uint32_t key,
                             const struct run_writer *w)
{
	const struct execution *x = runner_execution(s->runner);
	return w->session == UINT32_MAX
	               ? keys_initial(x->context->machine.keys, key)
	               : ledger_value(&x->ledger, key, w->id);
}

/* The less, the sooner: what is new, then the more has been new behind it and
 * the seldomer it was read. */
static uint64_t cost_of(struct sampling *s, const struct run_node *at,
                        struct value v)
{
	enum { RANDOM = 1 << 16 };
	uint64_t random = rng_below(&s->rng, RANDOM);
	const struct run_node *n = runs_child(at, v);
	if (!n) return random;
	const struct sampled_node *x = node_of(s, n);
	return RANDOM + random * (1 + x->visits) / (1 + x->fresh);
}

static void make_room(struct sampling *s, uint32_t count)
{
	if (count <= s->cost_capacity) return;
	s->cost_capacity = 2 * count;
	s->costs = mem_grow(s->costs, s->cost_capacity, sizeof *s->costs);
}

/* Every fourth history is any one. */
static void order_writers(void *data, const struct run_read *read,
                          struct run_writer *writers, uint32_t count)
{
	struct sampling *s = data;
	const struct run_node *at =
		count > 1 && s->seed % 4 ? waiting(s, read) : NULL;
	make_room(s, count);
	for (uint32_t i = 0; i < count; i++) {
		struct run_writer w = writers[i];
		uint64_t cost =
			at ? cost_of(s, at, value_of(s, read->key_number, &w))
			   : rng_next(&s->rng);
		uint32_t k = i;
		for (; k && s->costs[k - 1] > cost; k--) {
			s->costs[k] = s->costs[k - 1];
			writers[k] = writers[k - 1];
		}
		s->costs[k] = cost;
		writers[k] = w;
	}
}

/* ---- batches ---- */

/* False: it is time to stop. */
static bool run_one(struct sampling *s)
{
	struct run_chooser chooser = { .data = s,
		                       .begin = begin,
		                       .session = choose_session,
		                       .writers = order_writers };
	s->seed++;
	enum run_end end = runner_run(s->runner, &chooser);
	if (end == RUN_PRUNED) return true;
	if (end != RUN_COMPLETE) return false;
	for (uint32_t i = 0; i < s->runs->context.sessions; i++)
		if (!note_session(s, i)) return false;
	return true;
}

bool sampling_grow(struct sampling *s)
{
	uint32_t known = s->runs->count;
	if (!s->batch) return false;
	if (s->wait) {
		s->wait--;
		return false;
	}
	for (uint32_t i = 0; i < s->batch; i++)
		if (!run_one(s)) break;
	bool grew = s->runs->count > known;
	if (grew) {
		s->pause = 0;
		if (s->batch < BATCH_MOST) s->batch *= 2;
	} else {
		s->pause = 2 * s->pause + 1;
		s->wait = s->pause;
	}
	return grew;
}

bool sampling_has_seen(const struct sampling *s, const struct run_node *leaf)
{
	return leaf->number < s->node_count && s->nodes[leaf->number].visits;
}

void sampling_begin(struct sampling *s, struct runs *r, struct runner *runner,
                    bool none)
{
	*s = (struct sampling){ .runs = r,
		                .runner = runner,
		                .batch = none ? 0 : BATCH_FIRST };
	s->sessions = mem_take0(r->context.sessions + 1, sizeof *s->sessions);
}

void sampling_end(struct sampling *s)
{
	free(s->sessions);
	free(s->way);
	free(s->nodes);
	free(s->met);
	free(s->costs);
}
