#include "axioms/witness.h"
#include "check/minimal_violation.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "history/history.h"

/* Seconds for one level: while there is time left for all, and when there is
 * none, since most cores are small and come within milliseconds. */
static const double SECONDS = 5, SECONDS_LATE = 0.5;

void check_witness_free(struct check_witness *w)
{
	history_free(w->part);
	free(w->numbers);
	witness_free(&w->cycle);
	*w = (struct check_witness){ 0 };
}

/* ---- the part as a history ---- */

/* The facts have the external reads of a transaction in its order. */
static void show_reads(const struct trace *t, const struct facts *f,
                       const struct minimal_violation *c, bool *shown)
{
	uint32_t next = 0;
	for (uint32_t k = 0; k < c->count; k++) {
		uint32_t number = c->transactions[k];
		const struct trace_transaction *w = &t->transactions[number];
		uint32_t read = f->read_first[number];
		for (uint32_t i = 0; i < w->op_count; i++) {
			const struct trace_op *op = &t->ops[w->first_op + i];
			if (op->kind != EVENT_READ || op->from >= TRACE_NOBODY)
				continue;
			if (next < c->read_count && c->reads[next] == read) {
				shown[w->first_op + i] = true;
				next++;
			}
			read++;
		}
	}
	assert(next == c->read_count);
}

/* `locks`: what locks a key that it wrote counts from the first one on. */
static bool writes_key(const struct trace_op *op, const struct facts *f,
                       const uint32_t *writes, uint32_t count, bool locks)
{
	bool version = op->kind == EVENT_WRITE && op->flags & TRACE_FINAL;
	bool lock = op->kind == EVENT_WRITE ||
	            (op->from == TRACE_SELF && op->strength != STRENGTH_PLAIN &&
	             op->strength != STRENGTH_GIVEN_UP);
	if (!(locks ? lock : version)) return false;
	uint32_t low = 0, high = count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (f->writes[writes[middle]] < op->key)
			low = middle + 1;
		else
			high = middle;
	}
	return low < count && f->writes[writes[low]] == op->key;
}

/* They have the keys that it wrote in increasing order. */
static void show_writes(const struct trace *t, const struct facts *f,
                        const struct minimal_violation *c, bool locks,
                        bool *shown)
{
	uint32_t next = 0;
	for (uint32_t k = 0; k < c->count; k++) {
		uint32_t number = c->transactions[k], first = next;
		const struct trace_transaction *w = &t->transactions[number];
		while (next < c->write_count &&
		       c->writes[next] < f->write_first[number + 1])
			next++;
		for (uint32_t i = w->first_op; i < w->first_op + w->op_count;
		     i++)
			if (writes_key(&t->ops[i], f, c->writes + first,
			               next - first, locks) ||
			    (locks && w->status == TRACE_ABORTED &&
			     t->ops[i].kind == EVENT_WRITE))
				shown[i] = true;
	}
	assert(next == c->write_count);
}

/* A lock that is shown is given up where it was. */
static void show_given_up(const struct trace *t,
                          const struct minimal_violation *c, bool *shown)
{
	for (uint32_t k = 0; k < c->count; k++) {
		const struct trace_transaction *w =
			&t->transactions[c->transactions[k]];
		uint32_t end = w->first_op + w->op_count;
		for (uint32_t i = w->first_op; i < end; i++) {
			uint32_t lock;
			if (t->ops[i].strength != STRENGTH_GIVEN_UP) continue;
			lock = trace_given_up(t->ops, i, w->first_op);
			shown[i] = lock != TRACE_NONE && shown[lock];
		}
	}
}

/* The part's numbers of the transactions in the known pairs. */
static uint32_t number_in_part(const struct check_witness *w, uint32_t t)
{
	uint32_t k = 0;
	while (w->numbers[k] != t) k++;
	assert(k < w->part->transaction_count);
	return k;
}

static uint32_t key_in_part(const struct trace *t, const struct history *part,
                            uint32_t key)
{
	struct text name = { 0 };
	uint32_t k = 0;
	trace_print_key(&name, t, key);
	while (k < part->key_count &&
	       strcmp(part->keys[k].name, text_get(&name)))
		k++;
	assert(k < part->key_count);
	text_free(&name);
	return k;
}

static void tell_known(const struct trace *t, const struct minimal_violation *c,
                       struct check_witness *w)
{
	struct history *part = w->part;
	part->known_count = c->known_count;
	part->known = region_take(&part->region, (c->known_count + (size_t)1) *
	                                                 sizeof *part->known);
	for (uint32_t i = 0; i < c->known_count; i++)
		part->known[i] = (struct history_known){
			.from = number_in_part(w, c->known[i].from),
			.to = number_in_part(w, c->known[i].to),
			.key = key_in_part(t, part, c->known[i].key)
		};
}

static uint64_t count_hidden(const struct trace *t,
                             const struct minimal_violation *c,
                             const bool *shown)
{
	uint64_t count = 0;
	for (uint32_t k = 0; k < c->count; k++) {
		const struct trace_transaction *w =
			&t->transactions[c->transactions[k]];
		for (uint32_t i = 0; i < w->op_count; i++)
			count += !shown[w->first_op + i];
	}
	return count;
}

static void make_part(const struct trace *t, const struct facts *f,
                      const struct minimal_violation *c, bool locks,
                      struct check_witness *out)
{
	bool *shown = mem_take0((size_t)t->op_count + 1, sizeof *shown);
	struct trace_part part = { c->transactions, c->count, shown };
	show_reads(t, f, c, shown);
	show_writes(t, f, c, locks, shown);
	show_given_up(t, c, shown);
	out->part = trace_history(t, &part, &out->numbers);
	out->hidden_ops = count_hidden(t, c, shown);
	out->minimal = c->minimal;
	tell_known(t, c, out);
	free(shown);
}

/* ---- explaining ---- */

static bool find(const struct facts *f, enum level l,
                 const struct check_result *r, struct check_clock *c,
                 struct minimal_violation *out)
{
	if (r->core) {
		if (!minimal_violation_find(f, l, r->core, r->core_count, c,
		                            out))
			return false;
		minimal_violation_improve(f, l, c, out);
		return true;
	}
	uint32_t *all = mem_take(f->n * sizeof *all);
	for (uint32_t t = 1; t < f->n; t++) all[t - 1] = t;
	bool found = minimal_violation_find(f, l, all, f->n - 1, c, out);
	free(all);
	return found;
}

static bool is_over(void *data)
{
	return check_clock_over(data);
}

static struct check_clock *clock_within(struct check_clock *c)
{
	struct check_limits limits = { .seconds = SECONDS_LATE };
	if (!check_clock_over(c))
		limits = (struct check_limits){ .seconds = SECONDS,
			                        .stop = is_over,
			                        .stop_data = c };
	return check_clock_new(&limits);
}

bool check_cycle(const struct facts *f, enum level l,
                 const struct history *part, struct witness *out)
{
	return f->owns ? level_witness_mix(l, part, out)
	               : level_witness(l, part, out);
}

/* Do writes matter that are not the last ones? */
static bool needs_locks(const struct facts *f, enum level l)
{
	unsigned levels = facts_levels(f, l);
	for (enum level m = 0; m < LEVEL_COUNT; m++)
		if (levels >> m & 1 && level_has_statements(m)) return true;
	return false;
}

bool check_explain(const struct trace *t, const struct facts *f, enum level l,
                   const struct check_result *r, struct check_clock *c,
                   struct check_witness *out)
{
	struct minimal_violation core;
	*out = (struct check_witness){ 0 };
	if (r->verdict != VERDICT_VIOLATED) return false;
	if (!r->core && check_forbidding(t, l) < ANOMALY_COUNT) return false;
	struct check_clock *clock = clock_within(c);
	bool found = find(f, l, r, clock, &core);
	check_clock_free(clock);
	if (!found) return false;
	make_part(t, f, &core, needs_locks(f, l), out);
	minimal_violation_free(&core);
	if (f->owns) out->part->others = (own_level)(l + 1);
	assert(out->part->ssi == f->ssi);
	/* The kernels and the axioms behind them have the last word. */
	if (!check_cycle(f, l, out->part, &out->cycle)) {
		check_witness_free(out);
		return false;
	}
	/* Names are those of cycles that one level for all forbids. */
	out->anomaly = anomaly_name_under(f->owns ? LEVEL_SERIAL : l, out->part,
	                                  &out->weakest);
	if (f->owns) out->weakest = l;
	return true;
}
