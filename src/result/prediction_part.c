/* The part of a predicted history that matters. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "axioms/witness.h"
#include "base/memory.h"
#include "base/text.h"
#include "history/history.h"
#include "result/parts.h"
#include "result/predicted.h"
#include "result/result.h"

/* What is chosen of the predicted history. */
struct choice {
	const struct trace *observed;
	const struct trace *predicted;
	const struct predicted *what;
	uint32_t *place;   /* in the predicted history, by number in the
	                    * observed one; TRACE_NONE: not there */
	bool *member;      /* by transaction of the predicted history */
	bool *key, *op;    /* by its keys, by its operations */
	uint32_t *number;  /* by its transactions: number in the part */
	uint32_t *members; /* increasing, without init */
	uint32_t member_count;
};

static void find_places(struct choice *c)
{
	const struct prediction *p = c->what->prediction;
	uint32_t count = c->observed->transaction_count;
	assert(c->predicted->transaction_count <= count);
	c->place = mem_take(count * sizeof *c->place);
	for (uint32_t i = 0; i < count; i++) c->place[i] = TRACE_NONE;
	for (uint32_t i = 0; i < c->predicted->transaction_count; i++)
		c->place[p->numbers[i]] = i;
}

/* The operation of the predicted history that this changed read is. */
static uint32_t place_of_read(const struct choice *c,
                              const struct changed_read *r)
{
	const struct trace_transaction *before =
		&c->observed->transactions[r->transaction];
	uint32_t place = c->place[r->transaction];
	assert(place != TRACE_NONE);
	const struct trace_transaction *now =
		&c->predicted->transactions[place];
	uint32_t offset = r->op - before->first_op;
	assert(offset < now->op_count);
	return now->first_op + offset;
}

/* ---- transactions ---- */

static void add_member(struct choice *c, uint32_t place)
{
	assert(place == TRACE_NONE || place < c->predicted->transaction_count);
	if (place != TRACE_NONE && place != TRACE_INIT) c->member[place] = true;
}

static void choose_members(struct choice *c)
{
	const struct prediction *p = c->what->prediction;
	const struct check_witness *w = c->what->witness;
	uint32_t count = c->predicted->transaction_count;
	c->member = mem_take0(count, sizeof *c->member);
	c->members = mem_take0(count, sizeof *c->members);
	c->number = mem_take0(count, sizeof *c->number);
	for (uint32_t i = 1; w && i < w->part->transaction_count; i++)
		add_member(c, w->numbers[i]);
	for (uint32_t i = 0; i < p->changed_count; i++) {
		add_member(c, c->place[p->changed[i].transaction]);
		add_member(c, c->place[p->changed[i].observed]);
		add_member(c, c->place[p->changed[i].writer]);
	}
	for (uint32_t i = 1; i < count; i++) {
		if (!c->member[i]) continue;
		c->members[c->member_count++] = i;
		c->number[i] = c->member_count;
	}
}

/* ---- keys and operations ---- */

/* The key of this name, or TRACE_NONE. */
static uint32_t key_named(const struct history *h, const char *name)
{
	uint32_t low = 0, high = h->key_count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		int order = strcmp(h->keys[middle].name, name);
		if (!order) return middle;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return TRACE_NONE;
}

/* The keys of the witness and of the changed reads; without a witness all. */
static void choose_keys(struct choice *c)
{
	const struct prediction *p = c->what->prediction;
	const struct check_witness *w = c->what->witness;
	struct text name = { 0 };
	c->key = mem_take0(c->predicted->key_count + (size_t)1, sizeof *c->key);
	for (uint32_t k = 0; k < c->predicted->key_count; k++) {
		text_clear(&name);
		trace_print_key(&name, c->predicted, k);
		c->key[k] =
			!w || key_named(w->part, text_get(&name)) != TRACE_NONE;
	}
	for (uint32_t i = 0; i < p->changed_count; i++)
		c->key[c->predicted->ops[place_of_read(c, &p->changed[i])]
		               .key] = true;
	text_free(&name);
}

/* Exactly the operations that the part will have. */
static void choose_ops(struct choice *c)
{
	c->op = mem_take0(c->predicted->op_count + (size_t)1, sizeof *c->op);
	for (uint32_t m = 0; m < c->member_count; m++) {
		const struct trace_transaction *x =
			&c->predicted->transactions[c->members[m]];
		for (uint32_t i = 0; i < x->op_count; i++) {
			const struct trace_op *o =
				&c->predicted->ops[x->first_op + i];
			bool there =
				o->kind == EVENT_WRITE ||
				o->from == TRACE_INIT ||
				o->from == TRACE_SELF ||
				(o->from != TRACE_NOBODY && c->member[o->from]);
			c->op[x->first_op + i] = there && c->key[o->key];
		}
	}
}

/* ---- the part ---- */

static void place_change(const struct choice *c, struct result_change *out,
                         const struct changed_read *r)
{
	uint32_t op = place_of_read(c, r);
	uint32_t reader = c->place[r->transaction];
	uint32_t before = c->place[r->observed];
	uint32_t first = c->predicted->transactions[reader].first_op;
	out->reader = c->number[reader];
	out->event = 0;
	for (uint32_t i = first; i < op; i++) out->event += c->op[i];
	out->observed = before == TRACE_NONE ? UINT32_MAX : c->number[before];
}

/* Room for as many as the prediction has. */
static struct result_change *room_for_changes(struct result *r,
                                              const struct prediction *p)
{
	return region_take0(&r->region, (p->changed_count + (size_t)1) *
	                                        sizeof(struct result_change));
}

static void place_changes(struct result *r, const struct choice *c,
                          struct result_part *out)
{
	const struct prediction *p = c->what->prediction;
	out->changes.count = p->changed_count;
	out->changes.items = room_for_changes(r, p);
	for (uint32_t i = 0; i < p->changed_count; i++)
		place_change(c, &out->changes.items[i], &p->changed[i]);
}

static void place_cycle(struct result *r, const struct choice *c,
                        struct result_part *out)
{
	const struct check_witness *w = c->what->witness;
	if (!w || !w->cycle.count) return;
	out->cycle.count = w->cycle.count;
	out->cycle.edges = region_take(&r->region,
	                               w->cycle.count * sizeof *w->cycle.edges);
	for (uint32_t i = 0; i < w->cycle.count; i++) {
		struct witness_edge e = w->cycle.edges[i];
		e.from = c->number[w->numbers[e.from]];
		e.to = c->number[w->numbers[e.to]];
		if (e.reason == REASON_FORCED || e.reason == REASON_WW)
			e.reader = c->number[w->numbers[e.reader]];
		if (e.reason != REASON_SO)
			e.key = key_named(out->history,
			                  w->part->keys[e.key].name);
		out->cycle.edges[i] = e;
	}
}

void result_prediction_part(struct result *r, struct result_part *out,
                            const struct predict_case *of,
                            const struct predicted *p)
{
	assert(p->prediction && of->options && !out->history);
	struct choice c = { .observed = of->observed,
		            .predicted = p->prediction->history,
		            .what = p };
	find_places(&c);
	choose_members(&c);
	choose_keys(&c);
	choose_ops(&c);
	struct trace_part part = { c.members, c.member_count, c.op };
	struct history *h = trace_history(c.predicted, &part, NULL);
	if (trace_has_owns(of->observed))
		h->others = (own_level)(of->options->level + 1);
	out->history = result_keep(r, h);
	place_changes(r, &c, out);
	place_cycle(r, &c, out);
	free(c.place);
	free(c.member);
	free(c.members);
	free(c.number);
	free(c.key);
	free(c.op);
}

/* ---- marks in the part of a witness ---- */

/* The transaction of the part that this one of the observed history is; init is
 * 0 in both. TRACE_NONE if the part does not have it. */
static uint32_t number_in_part(const struct predicted *p, uint32_t observed)
{
	const struct check_witness *w = p->witness;
	for (uint32_t i = 0; i < w->part->transaction_count; i++)
		if (p->prediction->numbers[w->numbers[i]] == observed) return i;
	return TRACE_NONE;
}

/* The event of the reader that reads this key from that writer, or the number
 * of its events. */
static uint32_t event_reading(const struct transaction *x, uint32_t key,
                              uint32_t writer)
{
	uint32_t e = 0;
	while (e < x->event_count &&
	       !(x->events[e].kind == EVENT_READ && x->events[e].key == key &&
	         x->events[e].from == writer))
		e++;
	return e;
}

struct result_changes result_prediction_marks(struct result *r,
                                              const struct trace *observed,
                                              const struct predicted *p)
{
	const struct history *h = p->witness->part;
	const struct prediction *q = p->prediction;
	struct result_changes marks = { room_for_changes(r, q), 0 };
	struct text name = { 0 };
	for (uint32_t i = 0; i < q->changed_count; i++) {
		const struct changed_read *c = &q->changed[i];
		uint32_t reader = number_in_part(p, c->transaction);
		uint32_t writer = number_in_part(p, c->writer);
		if (reader == TRACE_NONE || writer == TRACE_NONE) continue;
		text_clear(&name);
		trace_print_key(&name, observed, observed->ops[c->op].key);
		uint32_t key = key_named(h, text_get(&name));
		uint32_t e =
			event_reading(&h->transactions[reader], key, writer);
		if (e >= h->transactions[reader].event_count) continue;
		marks.items[marks.count++] = (struct result_change){
			.reader = reader,
			.event = e,
			.observed = number_in_part(p, c->observed),
		};
	}
	text_free(&name);
	return marks;
}
