#include "generate/workload.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/rng.h"
#include "generate/planted.h"
#include "generate/store.h"
#include "generate/zipf.h"
#include "history/trace_build.h"

struct workload workload_default(void)
{
	return (struct workload){
		.ops = 40,
		.sessions = 5,
		.length = 4,
		.keys = 10,
		.reads = 0.5,
		.distribution = DISTRIBUTION_UNIFORM,
		.theta = 0.99,
		.level = LEVEL_SERIAL,
		.lag = 100,
		.seed = 1,
		.planted = PLANTED_COUNT,
	};
}

/* ---- settings ---- */

static bool count_fits(const char *what, uint64_t count, uint64_t most,
                       struct diags *d)
{
	if (count > 0 && count <= most) return true;
	diags_add(d, DIAG_ERROR, NULL, 0, 0, NULL,
	          "a history can be made with 1 to %llu %s, not %llu",
	          (unsigned long long)most, what, (unsigned long long)count);
	return false;
}

static bool part_fits(const char *what, double x, double most, struct diags *d)
{
	if (x >= 0 && x <= most) return true;
	diags_add(d, DIAG_ERROR, NULL, 0, 0, NULL,
	          "%s is a number from 0 to %g, not %g", what, most, x);
	return false;
}

static bool size_fits(const struct workload *w, struct diags *d)
{
	if (!w->transactions)
		return count_fits("operations", w->ops, WORKLOAD_OPS_MOST, d);
	return count_fits("operations in a transaction", w->length,
	                  WORKLOAD_LENGTH_MOST, d) &&
	       count_fits("transactions", w->transactions,
	                  WORKLOAD_OPS_MOST / w->length, d);
}

static bool planted_fits(const struct workload *w, struct diags *d)
{
	uint32_t needed = planted_sessions(w->planted);
	if (w->sessions >= needed) return true;
	diags_add(d, DIAG_ERROR, NULL, 0, 0, NULL,
	          "the anomaly %s takes %u sessions, and there are only %u",
	          planted_word(w->planted), needed, w->sessions);
	return false;
}

static bool fits(const struct workload *w, struct diags *d)
{
	return size_fits(w, d) &&
	       count_fits("sessions", w->sessions, WORKLOAD_SESSIONS_MOST, d) &&
	       count_fits("operations in a transaction", w->length,
	                  WORKLOAD_LENGTH_MOST, d) &&
	       count_fits("keys", w->keys, WORKLOAD_KEYS_MOST, d) &&
	       part_fits("the fraction of reads", w->reads, 1, d) &&
	       part_fits("the fraction of aborts", w->aborts, 1, d) &&
	       part_fits("the fraction of reads that lock", w->locks, 1, d) &&
	       part_fits("theta", w->theta, ZIPF_THETA_MOST, d) &&
	       planted_fits(w, d);
}

/* ---- one run ---- */

struct run {
	const struct workload *w;
	struct rng rng;
	struct rng planting; /* of its own: the rest is as without */
	uint64_t plant_at;   /* operations, or transactions, before it */
	bool plant_due;
	struct zipf *zipf; /* NULL: uniform */
	struct store *store;
	struct trace_builder *builder;
	uint32_t *sessions; /* handles */
	uint32_t *turns;    /* a permutation of the sessions */
	uint32_t turn;      /* place in it */
	struct planned_op *plan;
	uint32_t plan_count, plan_capacity;
	uint64_t ops;
	uint32_t transactions, planted; /* so many so far */
	uint32_t value;                 /* next to be written */
	uint64_t *places;               /* in commit order, by number - 1 */
	uint32_t place_count, place_capacity;
};

/* True with this probability; exact, so equal everywhere. */
static bool chance(struct rng *r, double p)
{
	return (double)(rng_next(r) >> 11) < p * 9007199254740992.0; /* 2^53 */
}

/* How far the history is, and how far it goes. */
static uint64_t progress(const struct run *x)
{
	return x->w->transactions ? x->transactions : x->ops;
}

static uint64_t goal(const struct workload *w)
{
	return w->transactions ? w->transactions : w->ops;
}

/* Sessions take turns, in a new order each round. */
static uint32_t next_session(struct run *x)
{
	uint32_t n = x->w->sessions;
	if (x->turn == n) x->turn = 0;
	uint32_t other = x->turn + rng_below(&x->rng, n - x->turn);
	uint32_t session = x->turns[other];
	x->turns[other] = x->turns[x->turn];
	x->turns[x->turn++] = session;
	return session;
}

static uint32_t next_length(struct run *x)
{
	uint64_t rest = x->w->transactions ? WORKLOAD_OPS_MOST - x->ops
	                                   : x->w->ops - x->ops;
	uint32_t length = x->w->length;
	if (x->w->geometric) {
		uint32_t mean = length;
		length = 1;
		while (length < rest && rng_below(&x->rng, mean)) length++;
	}
	return length < rest ? length : (uint32_t)rest;
}

static void make_plan(struct run *x)
{
	uint32_t length = next_length(x);
	x->plan_count = 0;
	for (uint32_t i = 0; i < length; i++) {
		VEC_RESERVE(x->plan, x->plan_count, x->plan_capacity);
		struct planned_op *op = &x->plan[x->plan_count++];
		op->write = !chance(&x->rng, x->w->reads);
		op->key = x->zipf ? zipf_pick(x->zipf, &x->rng)
		                  : rng_below(&x->rng, x->w->keys);
		op->strength = STRENGTH_PLAIN;
		if (x->w->locks > 0 && chance(&x->rng, x->w->locks))
			op->strength = rng_below(&x->rng, 2) ? STRENGTH_SHARE
			                                     : STRENGTH_UPDATE;
		if (op->write) op->strength = STRENGTH_PLAIN;
	}
}

static void run_op(struct run *x, uint32_t transaction,
                   const struct planned_op *op)
{
	enum strength strength =
		store_wrote(x->store, op->key) ? STRENGTH_PLAIN : op->strength;
	uint32_t value = op->write ? x->value++
	                           : store_read(x->store, op->key, strength);
	if (op->write) store_write(x->store, op->key, value);
	trace_op_add(x->builder, transaction,
	             op->write ? EVENT_WRITE : EVENT_READ,
	             trace_key_number(x->builder, op->key + 1),
	             trace_value_number(value), 0);
	if (strength) trace_op_access(x->builder, strength, false);
}

/* One of the mix. */
static enum level next_level(struct run *x)
{
	uint32_t among = (uint32_t)__builtin_popcount(x->w->mix);
	if (!among) return x->w->level;
	uint32_t place = rng_below(&x->rng, among);
	enum level l = 0;
	while (!(x->w->mix >> l & 1) || place--) l++;
	assert(level_mixes(l));
	return l;
}

static void note_place(struct run *x)
{
	VEC_RESERVE(x->places, x->place_count, x->place_capacity);
	x->places[x->place_count++] = store_place(x->store);
}

static void run_transaction(struct run *x)
{
	uint32_t session = next_session(x);
	bool aborts = chance(&x->rng, x->w->aborts);
	make_plan(x);
	uint32_t t = trace_transaction_new(
		x->builder, x->sessions[session],
		aborts ? TRACE_ABORTED : TRACE_COMMITTED, 0);
	x->transactions++;
	trace_transaction_number(x->builder, t, x->transactions + x->planted);
	enum level level = next_level(x);
	if (x->w->mix)
		trace_transaction_level(x->builder, t, (own_level)(level + 1));
	store_begin(x->store, level, session, x->plan, x->plan_count);
	for (uint32_t i = 0; i < x->plan_count; i++) run_op(x, t, &x->plan[i]);
	store_end(x->store, !aborts);
	note_place(x);
	x->ops += x->plan_count;
}

/* ---- the planted anomaly ---- */

/* Its sessions, in an order of their own: any, but different ones. */
static void choose_sessions(struct run *x, uint32_t *chosen)
{
	uint32_t n = x->w->sessions, count = planted_sessions(x->w->planted);
	uint32_t *all = mem_take(n * sizeof *all);
	for (uint32_t s = 0; s < n; s++) all[s] = x->sessions[s];
	for (uint32_t i = 0; i < count; i++) {
		uint32_t other = i + rng_below(&x->planting, n - i);
		chosen[i] = all[other];
		all[other] = all[i];
	}
	free(all);
}

enum { PLANTED_SESSIONS_MOST = 10, PLANTED_VALUES_MOST = 10 };

static void plant(struct run *x)
{
	uint32_t sessions[PLANTED_SESSIONS_MOST] = { 0 };
	choose_sessions(x, sessions);
	struct planting p = {
		.builder = x->builder,
		.sessions = sessions,
		.transaction = x->transactions + 1,
		.value = x->value,
		.key = x->w->keys + 1,
	};
	store_meet(x->store);
	x->planted = planted_add(x->w->planted, &p);
	for (uint32_t i = 0; i < x->planted; i++) note_place(x);
	x->value += PLANTED_VALUES_MOST;
	x->plant_due = false;
}

/* ---- all of it ---- */

static void start(struct run *x, const struct workload *w)
{
	struct trace_rules rules = { .initial = trace_value_number(0),
		                     .aborted_reads = !w->writes_only };
	*x = (struct run){ .w = w, .rng = { w->seed }, .value = 1 };
	x->planting.state = ~w->seed;
	x->plant_due = w->planted != PLANTED_COUNT;
	x->plant_at = rng_next(&x->planting) % (goal(w) + 1);
	if (w->distribution == DISTRIBUTION_ZIPF)
		x->zipf = zipf_new(w->keys, w->theta);
	x->store = store_new(w, &x->rng);
	x->builder = trace_builder_new("(generated)", &rules);
	x->sessions = mem_take(w->sessions * sizeof *x->sessions);
	x->turns = mem_take(w->sessions * sizeof *x->turns);
	for (uint32_t s = 0; s < w->sessions; s++) {
		x->sessions[s] = trace_session_number(x->builder, s + 1);
		x->turns[s] = s;
	}
	x->turn = w->sessions;
}

static void stop(struct run *x)
{
	zipf_free(x->zipf);
	store_free(x->store);
	free(x->sessions);
	free(x->turns);
	free(x->plan);
	free(x->places);
}

/* A transaction's place in the commit order. */
struct placed {
	uint64_t place;
	uint32_t number, transaction; /* its name; number in the trace */
};

static int compare_placed(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;
	if (x->place != y->place) return x->place < y->place ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static uint32_t *order_of(const struct run *x, const struct trace *t,
                          uint32_t *count)
{
	struct placed *all = mem_take(t->transaction_count * sizeof *all);
	uint32_t *order = mem_take(t->transaction_count * sizeof *order), n = 0;
	for (uint32_t i = 1; i < t->transaction_count; i++) {
		uint32_t number = (uint32_t)t->transactions[i].number;
		if (t->transactions[i].status != TRACE_COMMITTED) continue;
		assert(number > 0 && number <= x->place_count);
		all[n++] = (struct placed){ x->places[number - 1], number, i };
	}
	qsort(all, n, sizeof *all, compare_placed);
	order[0] = TRACE_INIT;
	for (uint32_t i = 0; i < n; i++) order[i + 1] = all[i].transaction;
	*count = ++n;
	for (uint32_t i = 1; i < t->transaction_count; i++)
		if (t->transactions[i].status != TRACE_COMMITTED)
			order[n++] = i;
	assert(n == t->transaction_count);
	free(all);
	return order;
}

struct trace *workload_run_ordered(const struct workload *w, uint32_t **order,
                                   uint32_t *order_count, struct diags *d)
{
	struct run x;
	struct workload one = *w;
	assert(w->level < LEVEL_COUNT && w->mix < 1u << LEVEL_COUNT);
	if (!fits(w, d)) return NULL;
	if (w->mix && !(w->mix & (w->mix - 1))) {
		one.level = (enum level)__builtin_ctz(w->mix);
		one.mix = 0;
		w = &one;
	}
	start(&x, w);
	while (progress(&x) < goal(w) && x.ops < WORKLOAD_OPS_MOST) {
		if (x.plant_due && progress(&x) >= x.plant_at) plant(&x);
		run_transaction(&x);
	}
	if (x.plant_due) plant(&x);
	struct trace *t = trace_builder_finish(x.builder, d);
	if (t && order) *order = order_of(&x, t, order_count);
	stop(&x);
	return t;
}

struct trace *workload_run(const struct workload *w, struct diags *d)
{
	return workload_run_ordered(w, NULL, NULL, d);
}
